"""Commands of the program as Python functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from incast.batch.plan import slug
from incast.comparisons import comparison
from incast.comparisons.comparison import Comparison, slowdowns_of
from incast.comparisons.declaration import ComparisonStudy
from incast.errors import IncastError, StudyError
from incast.external import consent
from incast.pictures.style import formats_of
from incast.report import comparison_page
from incast.report.figures import figures_of
from incast.runs.completions import STATISTICS, Bins
from incast.runs.result import COMPLETIONS, Result, needed
from incast.runs.scenario import text_of
from incast.system.folders import write_named
from incast.view import chosen
from incast.view.notebook import View

if TYPE_CHECKING:
    import pandas
    import polars


class Picture:
    """A picture as PNG: notebooks show it, ``save`` writes it."""

    def __init__(self, png: bytes) -> None:
        self.png = png

    def _repr_png_(self) -> bytes:
        return self.png

    def __repr__(self) -> str:
        return f"<Picture of {len(self.png):,} bytes>"

    def save(self, path: str | Path) -> None:
        """Write the picture: whole, through a link, or to a pipe or device. Raises ``FolderError`` elsewhere."""
        write_named(Path(path), self.png)


class Compared:
    """Results of a comparison: one row per run, one mean and interval per point, and pictures."""

    def __init__(self, done: Comparison, formats: Sequence[str] = ("png",)) -> None:
        self.comparison = done
        page = comparison_page.write(done, formats)
        self.report = page.path
        """The page with everything, ``report.html``."""
        self._pictures = page.pictures

    @property
    def folder(self) -> Path:
        """Folder with the report, the pictures and all runs."""
        return self.comparison.folder

    @cached_property
    def table(self) -> pa.Table:
        """One row a run: scenario, controller, value of the varied key, seed, and the report's figures in SI units.

        Completion times cover finished flows only: ``fct.finished`` of ``fct.count`` (likewise for queries and writes).
        """
        study, rows = self.comparison.study, []
        there = {part for run in self.comparison.runs.values() for part in COMPLETIONS if run.figure(f"{part}.count")}
        counts = [f"{part}.{name}" for part in COMPLETIONS if part in there for name in ("finished", "count")]
        for case, run in self.comparison.runs.items():
            row: dict[str, object] = {"scenario": case.scenario, "controller": case.controller.text}
            row |= {study.key: case.value, "seed": case.seed}
            row |= {figure.key: run.figure(figure.key) for figure in figures_of(self.comparison)}
            rows.append(row | {key: run.figure(key) for key in counts})
        return pa.Table.from_pylist(rows)

    @cached_property
    def slowdowns(self) -> pa.Table:
        """Slowdowns by size, where flows have several: one row a scenario, controller, value, entry, bin and statistic.

        ``at_least`` and ``at_most`` are means over the seeds of the bounds that unfinished flows leave, equal where the
        statistic is known; ``at_most`` is missing where there is no upper bound. ``finished`` of ``count`` flows did.
        """
        study, rows = self.comparison.study, []
        for scenario, value, c in product(study.scenarios, study.values, study.controllers):
            place = {"scenario": scenario, "controller": c.text, study.key: value}
            for found in slowdowns_of(self.comparison, scenario, c.text, value):
                band = {name: found[name] for name in ("entry", "from_bytes", "below_bytes", "finished", "count")}
                for statistic in STATISTICS:
                    ends = {end: None if one is None else one["mean"] for end, one in found[statistic].items()}
                    rows.append(place | band | {"statistic": statistic} | ends)
        return pa.Table.from_pylist(rows)

    def to_pandas(self) -> pandas.DataFrame:
        """Return the table as a pandas frame (needs the package ``pandas``)."""
        needed("pandas", "pandas")
        return self.table.to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """Return the table as a Polars frame (needs the package ``polars``)."""
        frame: polars.DataFrame = needed("polars", "polars").from_arrow(self.table)
        return frame

    def pictures(self) -> list[str]:
        """Names of the pictures: ``throughput``, ``delay-p99`` and so on."""
        return sorted(self._pictures)

    def picture(self, name: str) -> Picture:
        """Return a picture of the report; raises ``IncastError`` where there is none of the name."""
        if name not in self.pictures():
            raise IncastError(f'no picture "{name}"; expected one of {", ".join(self.pictures())}')
        return Picture(self._pictures[name])

    def view(self) -> View:
        """View runs over time, one per controller: the runs that the report draws over time.

        Raises ``IncastError`` for runs without a timeline.
        """
        done = self.comparison
        if done.view_gap:
            raise IncastError(f"no view over time: {done.view_gap}")
        if not (self.folder / chosen.PAGE).is_file():
            how = 'compare with settings={"measure.timeline": "auto"}'
            raise IncastError(f"no view over time: these runs have no timeline: {how}")
        names = done.study.viewed()
        return View([(name, Result.load(place)) for name, place in chosen.places(self.folder, names).items()])

    def __repr__(self) -> str:
        return f"<Compared {self.comparison.study.title}: {len(self.comparison.runs)} runs in {self.folder}>"

    def _repr_html_(self) -> str:
        return comparison_page.table_of(self.comparison)


def compare(
    scenarios: str | Sequence[str],
    controllers: Iterable[str],
    *,
    vary: Mapping[str, Sequence[object]] | None = None,
    seeds: int = 3,
    settings: Mapping[str, object] | None = None,
    out: str | Path | None = None,
    workers: int = 0,
    bins: str | None = None,
    formats: str = "png",
    memory_limit: float | None = None,
    store: str | Path | None = None,
    rebuild: bool = False,
    allow_code: bool = False,
) -> Compared:
    """Compare controllers on the same placements, over the values of one key and over seeds, like ``incast compare``.

    ``scenarios`` are names of built-in scenarios or paths, ``controllers`` texts such as ``"swift:target=min-rtt"``;
    ``"."`` is the scenario's own controller, ``".:target=min-rtt"`` the same with a change.
    ``vary`` is one key with its values, ``settings`` are keys set in all runs. ``workers`` runs go in parallel (0: one
    per core). Results go into the folder ``out`` (default: runs/compare-...); existing runs are reused. ``store`` is a
    store of runs that studies share (default: one in the folder); ``rebuild`` repeats its runs made by another build of
    the engine. ``bins`` are size bins of flows, such as ``"10kB,1MB"`` (default: decades). ``formats`` are image
    formats, such as ``"png,pdf"``. Runs that need more than ``memory_limit`` bytes (default: the machine's memory) are
    refused. Classes in ``controllers`` are run; classes that a scenario file names are run only with ``allow_code``.

    Raises ``ScenarioError``, ``StudyError``, ``FolderError``, or the ``RunError`` of a run.
    """
    names = [scenarios] if isinstance(scenarios, str) else list(scenarios)
    varied = [f"{key}={','.join(text_of(value) for value in values)}" for key, values in (vary or {}).items()]
    if len(varied) > 1:
        raise StudyError(f"vary has {len(varied)} keys: a comparison varies one")
    set_ = [(key, text_of(value)) for key, value in (settings or {}).items()]
    with consent.reading("", allow_code):
        study = ComparisonStudy.parse(names, list(controllers), varied[0] if varied else None, seeds, set_)
        parted, kinds = None if bins is None else Bins.parse(bins), formats_of(formats)
        folder = Path("runs") / slug(study.folder_name()[-120:]) if out is None else Path(out)
        done = comparison.carry_out(
            study,
            folder,
            store=None if store is None else Path(store),
            workers=workers,
            rebuild=rebuild,
            memory_limit=memory_limit,
        )
    done.bins = parted
    return Compared(done, kinds)
