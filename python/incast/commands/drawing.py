"""Pictures of ``incast plot``: all of a run, or one of a kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from incast import _core
from incast.batch.plan import slug
from incast.batch.store import Store
from incast.commands import finding, progress, study_reports
from incast.commands.options import err
from incast.commands.subjects import KINDS, OF_COMPARISON, Asked, teller
from incast.comparisons import coexistence, comparison
from incast.errors import FolderError, StudyError
from incast.pictures import gallery, kinds, looks, run_pictures
from incast.pictures.looks import Look, Picture, look_of
from incast.pictures.style import formats_of
from incast.report import compared_plots, study_page
from incast.runs.result import Result
from incast.study import companions
from incast.system.files import held
from incast.system.folders import refuse_odd_name
from incast.view import timelines

__all__ = ["Drawn", "draw", "draw_all", "look_of"]


@dataclass(frozen=True)
class Drawn:
    """Files of pictures, and the reasons for missing ones."""

    folder: Path
    files: Sequence[str]
    reasons: Sequence[str] = ()


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Write pictures into the folder in this block; raises ``FolderError`` if that fails."""
    refuse_odd_name(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise FolderError(f"cannot write pictures to {folder}: {error.strerror}") from None


def draw_all(text: str, study: str | None, folder: Path | None, format_: str, quiet: bool) -> Drawn:
    """Draw all pictures that a run has data for, or those of a study of a store."""
    kind, formats = finding.kind_of(text), formats_of(format_)
    if kind == "store":
        store = Store.at(Path(text))
        name = companions.name_in(store, study)
        folder = folder or study_reports.folder_of(store, name)
        with _writing(folder), progress.of_wait(err, "pictures", quiet):
            return Drawn(folder, *study_page.draw(study_reports.of(store, name), folder, formats))
    if study is not None:
        raise FolderError(f"--study {study}: only for a store of studies, and {text} is none")
    if Path(text).is_file():
        raise FolderError(f"{text} is a file: expected a run folder, or --kind too, one of {', '.join(KINDS)}")
    known = Path(text).exists() or kind != "scenario" or text in (name for name, _ in _core.list_kind("scenarios"))
    if not known:
        raise FolderError(f"{text} does not exist: expected a run folder, or --kind too, one of {', '.join(KINDS)}")
    if kind != "run":
        raise StudyError(f"{text} is no run folder: expected one, or --kind too, one of {', '.join(KINDS)}")
    result = Result.load(text)
    folder = folder or Path(text)
    with _writing(folder), progress.of_wait(err, "pictures", quiet):
        return Drawn(folder, *run_pictures.draw(result, folder, formats))


def draw(
    texts: Sequence[str],
    kind: str,
    look: Look,
    asked: Asked,
    folder: Path | None,
    format_: str | None,
    workers: int,
    quiet: bool,
) -> Drawn:
    """Draw a picture of a kind."""
    formats = formats_of(format_ or look.format)
    picture, home = _picture(texts, kind, look, asked, workers, quiet)
    folder = folder or home
    # another choice is another picture
    name = looks.file_of(kind, slug("-".join(words))[:100] if (words := asked.words()) else "", look)
    with _writing(folder):
        gallery.write(folder, gallery.draw({name: picture}, formats), formats)
    return Drawn(folder, [f"{name}.{one}" for one in formats])


def _picture(
    runs: Sequence[str], kind: str, look: Look, asked: Asked, workers: int, quiet: bool
) -> tuple[Picture, Path]:
    """Draw a kind of picture; return it with the default folder of its files."""
    tell = teller("plot", quiet)
    what, folder = finding.kind_of(runs[0]), Path(runs[0])
    if len(runs) == 1 and what == "comparison":
        asked.refuse(runs[0], "a comparison", OF_COMPARISON)
        with held(folder):
            done = comparison.load(folder)
        return compared_plots.draw(kind, done, finding.choice_of(asked), look, tell), folder
    if len(runs) == 1 and what == "pairs" and kind == "shares":
        asked.refuse(runs[0], "pairs of controllers, which are all drawn")
        with held(folder):
            pairs, found, _ = coexistence.load(folder)
        return compared_plots.draw_shares(pairs, found, look), folder
    if kind not in kinds.KINDS:
        raise StudyError(f"--kind {kind}: expected the folder of a comparison, and {runs[0]} is none")
    there = finding.find_all(runs, asked)
    if there.told:
        tell(f"draws {there.told}")
    recorded = [one.result for one in there.wanted]
    if all(run is not None and kinds.is_recorded(kind, run) for run in recorded):
        shown = [(one.label, run) for one, run in zip(there.wanted, recorded, strict=True) if run is not None]
        return kinds.draw(kind, shown, look), there.page.parent
    with progress.of_batch(err, quiet) as show, timelines.made(there.wanted, tell, workers=workers, show=show) as made:
        return kinds.draw(kind, [(name, Result.load(place)) for name, place in made], look), there.page.parent
