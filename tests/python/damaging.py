"""Commands that read folders of which one file is damaged: each ends soon, with a sentence, and loses nothing."""

from __future__ import annotations

import io
import os
import shutil
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from damages import DAMAGES
from incast.commands import program
from incast.errors import IncastError, RunError, ScenarioError
from incast.system import interrupts

OF_PACKAGE = (IncastError, RunError, ScenarioError)
TOLD = (*OF_PACKAGE, OSError, SystemExit)
"""Errors that the program makes a line of (``commands/exits.py``)."""
Asked = Sequence[str] | Callable[[], object]
"""A command, or a call of the package."""
EVERY_CASE = os.environ.get("INCAST_CASES") == "all"
NEVER_READ = (".lock", ".html", ".png", ".csv")


@contextmanager
def working_in(place: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Carry out commands in a folder, in this process; what they make of signals is taken back."""
    monkeypatch.chdir(place)
    stops = (*interrupts.STOPS, signal.SIGALRM, signal.SIGPROF)
    before = {stop: signal.getsignal(stop) for stop in stops}
    yield place
    for stop, handler in before.items():
        signal.signal(stop, handler)


def files_of(folder: Path) -> list[str]:
    """Name the files of a folder that are read, in their order; of several run folders in it those of the first."""
    found = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    others = [path.parent for path in found if path.name == "manifest.json"][1:]
    names = [path.relative_to(folder).as_posix() for path in found if path.parent not in others]
    return [name for name in names if not name.endswith(NEVER_READ) and "/studies/" not in name]


def in_store(name: str) -> bool:
    """Return whether a file belongs to a store within a folder, except its head: stores have separate tests."""
    return name.startswith(("runs/", "store/")) and name.endswith(("SHA256SUMS", "runs.parquet", "-0000.parquet"))


def carried_out(asked: Asked) -> None:
    """Carry out a command or a call in this process, whatever it prints."""
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        if callable(asked):
            asked()
        else:
            get_command(program.program()).main(args=list(asked), standalone_mode=False, prog_name="incast")


def tried(asked: Asked, what: str) -> BaseException | None:
    """Carry out a command: it ends soon, and well or with an error of which a sentence is made, which is given."""

    def late(*_: object) -> None:
        pytest.fail(f"{what}: does not end")

    # a command takes a moment; a busy machine takes long for that
    for stop, timer, seconds in ((signal.SIGPROF, signal.ITIMER_PROF, 30), (signal.SIGALRM, signal.ITIMER_REAL, 300)):
        signal.signal(stop, late)
        signal.setitimer(timer, seconds)
    try:
        carried_out(asked)
    except TOLD as error:
        if callable(asked):
            assert isinstance(error, OF_PACKAGE), f"{what}: {error!r}"
        # of a scenario a line a problem
        lines = 22 if isinstance(error, ScenarioError) else 4
        assert len(str(error)) < 4000 and str(error).count("\n") < lines, (what, str(error)[:500])
        return error
    except Exception as error:
        raise AssertionError(f"{what}: {error!r}") from error
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
    return None


def cases(commands: Sequence[str], number: int) -> Iterator[tuple[str, str]]:
    """Give the pairs of a command and a damage for the file of this number; all of them where that is asked for.

    A command reads every second file, and one that is the only one reads all.
    """
    for at, damage in enumerate(DAMAGES):
        for place, command in enumerate(commands):
            own = (at - 3 * place - number) % len(DAMAGES) == 0 and (len(commands) == 1 or (place + number) % 2 == 0)
            if EVERY_CASE or own:
                yield command, damage


def try_all(made: Path, folder: str, commands: Mapping[str, Asked], place: Path, beside: Sequence[str] = ()) -> None:
    """Damage each file of a folder, and give the folder to commands, with others ``beside`` it."""
    names = [name for name in files_of(made / folder) if EVERY_CASE or not in_store(name)]
    assert names
    for number, name in enumerate(names):
        for command, damage in cases(list(commands), number):
            for path in place.iterdir():
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
            for one in (folder, *beside):
                shutil.copytree(made / one, place / one)
            DAMAGES[damage](place / folder / name)
            before = _bytes(place / folder, name)
            error = tried(commands[command], f"{command}: {name} {damage}")
            if error is not None and not isinstance(error, SystemExit):
                after = _bytes(place / folder, name)
                lost = [one for one, data in before.items() if not _kept(one, data, after)]
                assert not lost, f"{command}: {name} {damage}: lost {lost}, and said {error}"


DERIVED = ("SHA256SUMS", "runs.parquet", "points.parquet", "study.toml", "study.json")
"""Files that follow from others, and are written anew; the last two say what was asked for, also what came later."""


def _kept(name: str, data: bytes, after: Mapping[str, bytes]) -> bool:
    """Return whether a file is unchanged or longer; a derived file only has to exist and not be empty."""
    if name.rpartition("/")[2] in DERIVED:
        return bool(after.get(name)) or not data
    return after.get(name, b"").startswith(data)


def _bytes(folder: Path, but: str) -> dict[str, bytes]:
    """Read the results in a folder but for the file that is damaged."""
    found: dict[str, Any] = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*")}
    return {name: path.read_bytes() for name, path in found.items() if name != but and path.is_file()}
