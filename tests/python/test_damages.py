"""Damaged and hostile files, read by every command: one sentence, and an end.

Each command reads folders in which one file has one damage. All of them together would be a thousand commands: each
file is read by every second command, with another damage by each. ``make test-all`` has all (``INCAST_CASES=all``).
"""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from conftest import Command
from damages import DAMAGES
from damaging import carried_out, try_all, working_in
from incast import FolderError, Result, Scenario, Store
from incast.commands.calls import compare
from incast.pictures import run_pictures
from incast.report import run_table
from incast.runs import run_notes
from incast.runs.run_folder import TABLES
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
CALLS_RUN = {
    "tables": lambda: [getattr(Result.load("run"), name) for name in TABLES],
    "notes": lambda: [Result.load("run", whole=True).notes(), Result.load("run")._repr_html_()],
    "plot": lambda: [getattr(Result.load("run").plot, name)() for name in ("throughput", "fct", "windows", "heat_map")],
    "view": lambda: Result.load("run").view().html,
    "sql": lambda: Result.load("run").sql("select * from flows join samples on true"),
}
CALLS_STORE = {
    "tables": lambda: [Store.at("store").table(name) for name in Store.at("store").tables()],
    "runs": lambda: [Store.at("store").runs.num_rows],
}
READS_COMPARED = {
    "report": ["report", "compared"],
    "compare": ["compare", "dumbbell", "--cc", "dctcp", "--seeds", "2", *(f"--set={k}={v}" for k, v in SHORT.items()),
                "--out", "compared"],
}  # fmt: skip


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


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give an empty folder in which commands run."""
    with working_in(tmp_path, monkeypatch):
        yield tmp_path


@pytest.mark.extended(part="python")
def test_commands_that_read_a_run_say_what_is_damaged(made: Path, place: Path) -> None:
    try_all(made, "run", READS_RUN, place)


@pytest.mark.slow("a damage of every kind in every file")
def test_the_package_says_what_is_damaged_in_a_run(made: Path, place: Path) -> None:
    try_all(made, "run", CALLS_RUN, place)


@pytest.mark.slow("with all cases a damage of every kind in every file")
def test_the_package_says_what_is_damaged_in_a_store(made: Path, place: Path) -> None:
    try_all(made, "store", CALLS_STORE, place)


@pytest.mark.extended(part="python")
def test_commands_that_read_a_store_say_what_is_damaged(made: Path, place: Path) -> None:
    run = Store.at(made / "store").runs["run"][0].as_py()
    commands = {name: [word.format(run=run) for word in words] for name, words in READS_STORE.items()}
    try_all(made, "store", commands, place)


@pytest.mark.extended(part="python")
def test_commands_that_read_the_folder_of_a_comparison_say_what_is_damaged(made: Path, place: Path) -> None:
    try_all(made, "compared", READS_COMPARED, place)


def test_an_error_of_drawing_is_none_of_a_file(made: Path, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(made / "run", place / "run")

    def wrong(*_: object) -> None:
        raise ValueError("a mistake")

    for of, name, words, expected in (
        (run_pictures, "dress", READS_RUN["plot"], ValueError),
        (run_pictures, "refuse_zeros", READS_RUN["plot"], FolderError),
        (run_table, "show", READS_RUN["report"], ValueError),
        (run_notes, "reasons", READS_RUN["report"], FolderError),
    ):
        with monkeypatch.context() as changed, pytest.raises(expected, match="a mistake"):
            changed.setattr(of, name, wrong)
            carried_out(words)


def test_a_summary_without_one_of_its_figures_is_told_or_shown(made: Path, place: Path) -> None:
    shutil.copytree(made / "run", place / "run")
    path = place / "run/summary.json"
    whole = path.read_text()
    told = 0
    for part in ("flows", "fct", "queues", "queues.busiest", "hosts", "hosts.busiest"):
        first, _, inner = part.partition(".")
        for key in json.loads(whole)[first][inner] if inner else json.loads(whole)[first]:
            summary = json.loads(whole)
            del (summary[first][inner] if inner else summary[first])[key]
            path.write_text(json.dumps(summary))
            try:
                run_table.show(Result.load(place / "run"), place, Console(file=io.StringIO()))
            except FolderError as error:
                assert f"{part}.{key}" in str(error)
                told += 1
    assert told > 15


@pytest.mark.parametrize(
    ("words", "damage", "file"),
    [
        (READS_RUN["report"], "endless", "run/summary.json"),
        (READS_RUN["view"], "nested", "run/manifest.json"),
        pytest.param(READS_RUN["plot"], "unpacking", "run/flows.parquet", marks=pytest.mark.extended(part="python")),
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
