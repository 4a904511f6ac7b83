"""Damaged and hostile files, read by every command: one sentence, and an end.

Each command reads folders in which one file has one damage. All of them together would be a thousand commands: every
file of a folder meets every damage in some command, and every command meets every file. ``INCAST_CASES=all`` has all.
"""

from __future__ import annotations

import io
import os
import shutil
import signal
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from conftest import Command
from damages import DAMAGES
from incast import Scenario, Store, cli, interrupts
from incast.calls import compare
from incast.errors import IncastError, RunError, ScenarioError
from stored import SHORT, small

READS_RUN = {
    "report": ["report", "run"],
    "view": ["view", "run", "--out", "page.html"],
    "plot": ["plot", "run", "--out", "pictures"],
    "perfetto": ["export", "run", "--perfetto", "trace.json"],
    "pcapng": ["export", "run", "--pcapng", "trace.pcapng"],
}
READS_STORE = {
    "status": ["study", "status", "store"],
    "check": ["study", "status", "store", "--check"],
    "query": ["query", "store", "select * from runs join flows using (run)"],
    "export": ["study", "export", "store", "--out", "rows.csv", "--table", "flows"],
    "export-run": ["study", "export", "store", "--run", "{run}", "--out", "one"],
    "extend": ["study", "extend", "store", "--seeds", "3", "--quiet"],
}
READS_COMPARED = {
    "report": ["report", "compared"],
    "compare": ["compare", "dumbbell", "--cc", "dctcp", "--seeds", "2", *(f"--set={k}={v}" for k, v in SHORT.items()),
                "--out", "compared"],
}  # fmt: skip


TOLD = (IncastError, RunError, ScenarioError, OSError, SystemExit)
"""Errors that the program makes a line of (``commands/exits.py``)."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a run folder, a store, and the folder of a comparison."""
    place = tmp_path_factory.mktemp("damages")
    asked = {
        "measure.trace": [0], "measure.timeline": "auto", "measure.series": {"flows": [0], "ports": "all"},
        "traffic.app": {"kind": "bulk", "size": "20kB"},
    }  # fmt: skip
    Scenario.load("dumbbell").with_(SHORT | asked).run().save(place / "run")
    small(axes={}, seeds=2).run(place / "store")
    compare("dumbbell", controllers=["dctcp"], seeds=1, settings=SHORT, out=place / "compared")
    return place


def files_of(folder: Path) -> list[str]:
    """Name the files of a folder that are read, in their order."""
    found = (path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*")) if path.is_file())
    return [name for name in found if not name.endswith((".lock", ".html", ".png", ".csv")) and "/studies/" not in name]


def tried(app: Any, words: Sequence[str], what: str) -> None:
    """Carry out a command in this process: it ends soon, and well or with an error of which a sentence is made."""

    def late(*_: object) -> None:
        pytest.fail(f"{what}: does not end")

    # a command takes a moment; a busy machine takes long for that
    for stop, timer, seconds in ((signal.SIGPROF, signal.ITIMER_PROF, 30), (signal.SIGALRM, signal.ITIMER_REAL, 300)):
        signal.signal(stop, late)
        signal.setitimer(timer, seconds)
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            app.main(args=list(words), standalone_mode=False, prog_name="incast")
    except TOLD as error:
        assert len(str(error)) < 4000 and str(error).count("\n") < 4, (what, str(error)[:500])
    except Exception as error:
        raise AssertionError(f"{what}: {error!r}") from error
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)


def cases(commands: Sequence[str], number: int) -> Iterator[tuple[str, str]]:
    """Give the pairs of a command and a damage for the file of this number; all of them where that is asked for."""
    for at, damage in enumerate(DAMAGES):
        for place, command in enumerate(commands):
            if os.environ.get("INCAST_CASES") == "all" or (at - 3 * place - number) % len(DAMAGES) == 0:
                yield command, damage


def try_all(folder: str, commands: dict[str, list[str]], made: Path, place: Path) -> None:
    """Damage each file of a folder, and give the folder to commands."""
    app = get_command(cli.program())
    names = files_of(made / folder)
    assert len(names) > 7
    run = Store.at(made / "store").runs["run"][0].as_py()
    for number, name in enumerate(names):
        for command, damage in cases(list(commands), number):
            for path in place.iterdir():
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
            shutil.copytree(made / folder, place / folder)
            DAMAGES[damage](place / folder / name)
            tried(app, [word.format(run=run) for word in commands[command]], f"{command}: {name} {damage}")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give an empty folder in which commands run; what they make of signals is taken back."""
    monkeypatch.chdir(tmp_path)
    stops = (*interrupts.STOPS, signal.SIGALRM, signal.SIGPROF)
    before = {stop: signal.getsignal(stop) for stop in stops}
    yield tmp_path
    for stop, handler in before.items():
        signal.signal(stop, handler)


def test_commands_that_read_a_run_say_what_is_damaged(made: Path, place: Path) -> None:
    try_all("run", READS_RUN, made, place)


def test_commands_that_read_a_store_say_what_is_damaged(made: Path, place: Path) -> None:
    try_all("store", READS_STORE, made, place)


def test_commands_that_read_the_folder_of_a_comparison_say_what_is_damaged(made: Path, place: Path) -> None:
    try_all("compared", READS_COMPARED, made, place)


@pytest.mark.parametrize(
    ("words", "damage", "file"),
    [
        (READS_RUN["report"], "endless", "run/summary.json"),
        (READS_RUN["view"], "nested", "run/manifest.json"),
        (READS_RUN["plot"], "unpacking", "run/flows.parquet"),
        (READS_STORE["query"], "cut", "store/tables/flows/0001-0000.parquet"),
        (READS_STORE["check"], "piped", "store/chunks/0001-0000.parquet"),
    ],
)
def test_the_program_says_it_in_one_line(
    words: list[str], damage: str, file: str, made: Path, incast: Command, tmp_path: Path
) -> None:
    folder = file.partition("/")[0]
    shutil.copytree(made / folder, tmp_path / folder)
    DAMAGES[damage](tmp_path / file)
    answer = incast(*words)
    assert answer.status == 2 or (words[2:3] == ["store"] and answer.status == 1), answer.err
    assert answer.err.startswith("error: ") and answer.err.count("\n") == 1, answer.err
    assert Path(file).name in answer.err
