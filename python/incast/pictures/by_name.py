"""Pictures that are asked for by name: ``plot.queue()``, or ``plot("queue")``."""

from __future__ import annotations

from typing import Any, NoReturn

from incast.errors import IncastError
from incast.system.output import nearest


class ByName:
    """Object with a method a picture; an unknown name is refused with the known ones."""

    def __call__(self, name: str, *style: str, **choice: object) -> Any:
        """Draw the picture of a name, such as ``"heat-map"``."""
        known = dir(self)
        method = name.replace("-", "_") if isinstance(name, str) else ""
        if method not in known:
            raise IncastError(self._unknown(name))
        return getattr(self, method)(*style, **choice)

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(self._unknown(name))

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.startswith(("_", "recorded_"))]

    def _unknown(self, name: object) -> str:
        known = dir(self)
        near = nearest(name, known) if isinstance(name, str) else ""
        return f"no picture {name!r}{near}; expected one of {', '.join(known)}"

    def _listed(self) -> str:
        """Return a line a picture: its name, and what it shows."""
        rows = [(name, str(getattr(type(self), name).__doc__).partition("\n")[0]) for name in dir(self)]
        return "\n".join(f"  {f'{name}()':<20}{words}" for name, words in rows)
