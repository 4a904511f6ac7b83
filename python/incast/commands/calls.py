"""Commands of the program as Python functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from incast.batch.plan import slug
from incast.commands import arguments
from incast.commands.compared import Compared
from incast.commands.compared_grid import ComparedGrid
from incast.comparisons import comparison, grid_runs
from incast.comparisons.grid import Grid, declared
from incast.errors import StudyError
from incast.external import consent
from incast.pictures.style import formats_of
from incast.runs.completions import Bins
from incast.runs.scenario import Scenario

ScenarioLike = str | PathLike[str] | Scenario
"""Name, path or object of a scenario."""


def compare(
    scenarios: ScenarioLike | Iterable[ScenarioLike],
    controllers: str | type | Iterable[str | type],
    *,
    vary: Mapping[str, object] | None = None,
    seeds: int | Sequence[int] = 3,
    settings: Mapping[str, object] | None = None,
    out: str | PathLike[str] | None = None,
    workers: int = 0,
    bins: str | Sequence[str] | None = None,
    formats: str | Sequence[str] = "png",
    memory_limit: float | None = None,
    store: str | PathLike[str] | None = None,
    rebuild: bool = False,
    allow_code: bool = False,
    title: str = "",
    note: str = "",
) -> Compared:
    """Compare controllers on the same placements, over one key or two, and over seeds, like ``incast compare``.

    ``scenarios`` is a name, a path or a ``Scenario``, or several of them; a ``Scenario`` is written beside the
    results, into ``scenarios/``. ``controllers`` are texts such as ``"swift:target=min-rtt"``, or classes; ``"."`` is
    the scenario's own controller, ``".:target=min-rtt"`` the same with a change. ``vary`` is one key with its values
    (``{"traffic.flows": [100, 250]}``, or one value), or two keys, whose report has heat maps. ``settings`` are keys
    set in all runs. ``seeds`` is their number (3: the seeds 1 to 3), or the list ``[1, 2, 3]``. ``workers`` runs go in
    parallel (0: one per core). Results go into the folder ``out`` (default: runs/compare-...); existing runs are
    reused. ``store`` is a store of runs that studies share (default: one in the folder); ``rebuild`` repeats its runs
    made by another build of the engine. ``bins`` are size bins of flows, such as ``"10kB,1MB"`` (default: decades).
    ``formats`` are image formats, such as ``"png,pdf"``. Runs that need more than ``memory_limit`` bytes (default: the
    machine's memory) are refused. Classes in ``controllers`` are run; classes that a scenario file names are run only
    with ``allow_code``. ``title`` is the title of the report, ``note`` a text below it.

    Raises ``ScenarioError``, ``StudyError``, ``FolderError``, or the ``RunError`` of a run; each is an ``IncastError``.
    """
    place, shared = arguments.path("out", out), arguments.path("store", store)
    names = arguments.scenarios(scenarios, lambda: (place or Path("runs") / "x").parent / arguments.KEPT)
    governing, count = arguments.controllers(controllers), arguments.seeds(seeds)
    varied, set_ = arguments.varied(vary), arguments.settings(settings)
    at_once = arguments.count("workers", workers)
    limit = arguments.number("memory_limit", memory_limit, "a number of bytes")
    edges = None if bins is None else arguments.words("bins", bins, 'sizes such as "10kB,1MB"')
    heading, remark = arguments.text("title", title).strip(), arguments.text("note", note).strip()
    with consent.reading("", allow_code):
        study = replace(declared(names, governing, varied, count, set_), heading=heading, remark=remark)
        parted = None if edges is None else Bins.parse(edges)
        kinds = formats_of(arguments.words("formats", formats, 'image formats such as "png,pdf"'))
        folder = Path("runs") / slug(study.folder_name()[-120:]) if place is None else place
        make: dict[str, Any] = {"store": shared, "workers": at_once, "rebuild": rebuild, "memory_limit": limit}
        if isinstance(study, Grid):
            if parted is not None:
                raise StudyError("bins: not allowed with two keys in vary, whose report has heat maps")
            return ComparedGrid(*grid_runs.carry_out(study, folder, **make), kinds)
        done = comparison.carry_out(study, folder, **make)
    done.bins = parted
    return Compared(done, kinds)
