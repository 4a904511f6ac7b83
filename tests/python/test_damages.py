"""Damaged and hostile files, read by every command: one sentence, and an end.

Each command reads folders in which one file has one damage. All of them together would be a thousand commands: every
file of a folder meets every damage in some command, and every command meets every file. ``INCAST_CASES=all`` has all.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import Command
from damages import DAMAGES
from damaging import try_all, working_in
from incast import Result, Scenario, Store
from incast.calls import compare
from incast.run_folder import TABLES
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
    "runs": lambda: [Store.at("store").runs.to_pylist(), Store.at("store").damaged()],
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


def test_commands_that_read_a_run_say_what_is_damaged(made: Path, place: Path) -> None:
    try_all(made, "run", READS_RUN, place)


def test_the_package_says_what_is_damaged_in_a_run(made: Path, place: Path) -> None:
    try_all(made, "run", CALLS_RUN, place)


def test_the_package_says_what_is_damaged_in_a_store(made: Path, place: Path) -> None:
    try_all(made, "store", CALLS_STORE, place)


def test_commands_that_read_a_store_say_what_is_damaged(made: Path, place: Path) -> None:
    run = Store.at(made / "store").runs["run"][0].as_py()
    commands = {name: [word.format(run=run) for word in words] for name, words in READS_STORE.items()}
    try_all(made, "store", commands, place)


def test_commands_that_read_the_folder_of_a_comparison_say_what_is_damaged(made: Path, place: Path) -> None:
    try_all(made, "compared", READS_COMPARED, place)


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
