"""Studies as Python has them: ``incast.Study``, and how a file or a store becomes one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from incast.errors import StudyError
from incast.study.definition import Definition, read
from incast.study.making import make
from incast.study.store import Store


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

    def run(
        self,
        store: str | Path,
        *,
        workers: int = 0,
        **options: Any,
    ) -> Store:
        """Make the runs that the store lacks, and return the store; called again it goes on where it was stopped.

        ``workers`` is how many runs go side by side (0: one a core); other options are those of
        ``incast.study.making.make``. Raises ``StudyError``, ``ScenarioError``,
        ``FolderError``, and what a run raises; finished runs are kept.
        """
        return make(store, self, workers=workers, **options)


def load(path: str | Path) -> Study:
    """Read a study file. Raises ``StudyError`` with file, key, value and what was expected."""
    return read(path, Study)


def of_store(store: Store, name: str | None = None) -> Study:
    """Read a study from a store; its only one unless named. Raises ``StudyError`` where there is no such study."""
    there = store.studies()
    pending = store.pending()
    if pending is not None:
        there = sorted({*there, pending.study})
    if name is None and len(there) != 1:
        told = f"has {len(there)} studies, {', '.join(there)}: name one with --study" if there else "has no study yet"
        raise StudyError(f"{store.folder} {told}")
    name = name or there[0]
    if name not in there:
        raise StudyError(f"{store.folder} has no study {name}: expected one of {', '.join(there) or 'none'}")
    place = store.folder / "studies" / name
    if pending is not None and pending.study == name and not pending.closed:
        place = store.folder / "pending" / "study"
    else:
        store.checked(f"studies/{name}/study.toml")
    return load(place / "study.toml")


def extend(
    store: Store,
    name: str | None = None,
    *,
    seeds: Any = None,
    axes: Mapping[str, Any] | None = None,
    arms: Mapping[str, Any] | None = None,
    samples: int | None = None,
    **options: Any,
) -> Store:
    """Extend a study of a store by seeds, values, arms or samples, and make what is new.

    Takes the options of ``Study.run`` too. Raises ``StudyError`` for an axis or a study that is not there.
    """
    grown = of_store(store, name).extended(seeds=seeds, axes=axes, arms=arms, samples=samples)
    return make(store.folder, grown, **options)
