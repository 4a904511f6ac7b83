"""Python interface of studies: ``incast.Study``, made directly, from a file, or from a store."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from contextlib import suppress
from html import escape
from pathlib import Path
from typing import Any

from incast.batch.store import Store
from incast.errors import StudyError
from incast.external import consent
from incast.runs.scenario import text_of
from incast.study.axes import Axis
from incast.study.companions import name_in
from incast.study.definition import Definition, read
from incast.study.planning import make


class Study(Definition):
    """Axes, arms and seeds over scenarios.

    >>> import incast
    >>> study = incast.Study("dumbbell", axes={"controller.g": [0.1, 0.2]}, seeds=2)
    >>> len(study.points()), len(study)
    (2, 4)

    ``scenario`` is a name, a path or a ``Scenario``, or a list of these. ``axes`` gives a key's values as a list, or a
    range: ``{"from": 0.01, "to": 1, "steps": 5, "scale": "log"}``. ``arms`` gives settings by name. ``seeds`` is a
    number n (seeds 1 to n) or a list. Raises ``StudyError`` with what was expected.
    """

    def _check(self) -> None:
        super()._check()
        if not self.file:  # classes in a call are allowed, like those on a command line
            arms = self.arms.values()
            layers = [self.settings, *(arm.settings for arm in arms)]
            layers += [{axis.key: value} for axis in self._all_axes() for value in axis.values]
            consent.grant(*map(self._located, layers))

    def _all_axes(self) -> list[Axis]:
        return [*self.axes, *(axis for arm in self.arms.values() for axis in arm.axes)]

    def __repr__(self) -> str:
        counts = {"axis": len(self.axes), "arm": len(self.arms), "seed": len(self.seeds)}
        plural = {"axis": "axes", "arm": "arms", "seed": "seeds"}
        parts = [f"{count} {word if count == 1 else plural[word]}" for word, count in counts.items() if count]
        return f"<Study {self.name}: {', '.join(parts)}>"

    def _repr_html_(self) -> str:
        rows = [("scenario", ", ".join(map(str, self.scenario)))]
        rows += [(axis.key, self._shown(axis)) for axis in self.axes]
        for name, arm in self.arms.items():
            rows.append((f"arm {name}", ", ".join(f"{key}={text_of(value)}" for key, value in arm.settings.items())))
            rows += [(f"arm {name}: {axis.key}", self._shown(axis)) for axis in arm.axes]
        rows += [(key, text_of(value)) for key, value in self.settings.items()]
        rows.append(("seeds", ", ".join(map(str, self.seeds))))
        # a study for tuning has ranges without steps, and no number of runs
        with suppress(StudyError):
            rows.append(("runs", f"{len(self):,}"))
        cells = "".join(f"<tr><th>{escape(key)}</th><td>{escape(text)}</td></tr>" for key, text in rows)
        return f"<table><caption>Study {escape(self.name)}</caption><tbody>{cells}</tbody></table>"

    def _shown(self, axis: Axis) -> str:
        """Format the values of an axis, or the ends of a range."""
        drawn = axis.range is not None and axis.range.steps is None and axis.range.samples is None
        found = (axis.pick(0.0), axis.pick(1.0)) if drawn else axis.listed(self.design_seed)
        return (" to " if drawn else ", ").join(text_of(value) for value in found)

    def run(
        self,
        store: str | Path,
        *,
        workers: int = 0,
        **options: Any,
    ) -> Store:
        """Make the runs that the store lacks, and return the store; the same call resumes a stopped study.

        ``workers`` is the number of parallel runs (0: one per core); other options are those of
        ``incast.study.planning.make``. Raises ``StudyError``, ``ScenarioError``, ``FolderError``, and exceptions of
        runs; finished runs are kept.
        """
        return make(store, self, workers=workers, **options)


def load(path: str | Path, *, allow_code: bool = False) -> Study:
    """Read a study file. Raises ``StudyError`` with file, key, value and what was expected.

    Controller classes that the file or its scenarios name are programs. Without ``allow_code`` they are refused.
    """
    return read(path, Study, allow_code)


def of_store(store: Store, name: str | None = None, *, allow_code: bool = False) -> Study:
    """Read a study from a store (default: its only one). Raises ``StudyError`` if it does not exist."""
    name, pending = name_in(store, name), store.pending()
    place = store.folder / "studies" / name
    if pending is not None and pending.study == name and not pending.closed:
        place = store.folder / "pending" / "study"
    else:
        store.checked(f"studies/{name}/study.toml")
    try:
        return load(place / "study.toml", allow_code=allow_code)
    except StudyError as error:
        own = f"incast study run FILE --store {shlex.quote(str(store.folder))} --rebuild"
        error.add_note(f"{own}, with the study's own file, writes it again")
        raise


def extend(
    store: Store,
    name: str | None = None,
    *,
    seeds: Any = None,
    axes: Mapping[str, Any] | None = None,
    arms: Mapping[str, Any] | None = None,
    samples: int | None = None,
    allow_code: bool = False,
    **options: Any,
) -> Store:
    """Extend a study of a store by seeds, values, arms or samples, and make the new runs.

    ``allow_code`` allows classes with copies in the store; classes in ``axes`` and ``arms`` are always allowed. Also
    takes the options of ``Study.run``. Raises ``StudyError`` for an unknown axis or study.
    """
    grown = of_store(store, name, allow_code=allow_code).extended(seeds=seeds, axes=axes, arms=arms, samples=samples)
    return make(store.folder, grown, **options)
