"""Damaged folders of pairs, searches, sensitivities and papers, and of what asks for them: one sentence, and an end."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from damaging import carried_out, try_all, working_in
from incast import Scenario
from incast.runs.run_folder import read_entries
from own_paper import PAPER, SCENARIO
from stored import SHORT

SET = [f"--set={key}={value}" for key, value in SHORT.items()]
ONE = ["--workers", "1", "--quiet"]
COEXIST = ["coexist", "--cc", "dctcp", *SET, "--seeds", "1", "--out", "pairs", *ONE]
TUNE, SENSITIVITY = (
    [command, "asked/study.toml", "--out", folder, *ONE]
    for command, folder in (("tune", "search"), ("sensitivity", "sensitivity"))
)
RUN_PAPER = ["paper", "run", "asked/paper", "--out", "paper", *ONE]
REPORT_PAPER = ["paper", "report", "asked/paper", "--out", "paper", "--quiet"]

STUDY = """
scenario = "scenario.toml"
keep = []
[set]
"run.duration" = "200us"
"run.warmup" = "0s"
[axes]
"queue.mark" = { from = "2p", to = "100p", whole = true }
"transport.initial_window" = { from = 2, to = 20, whole = true }
[tune]
minimise = "queues.busiest.mean_packets"
budget = 4
seeds = 1
held_out = 2
allow_idle = true
[sensitivity]
figures = ["queues.busiest.mean_packets"]
samples = 2
allow_idle = true
"""
FLOWS = "start,source,destination,size\n" + "".join(f"0s,{i},4,100kB\n" for i in range(4))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make what is asked for, and a folder of results of each kind."""
    place = tmp_path_factory.mktemp("damages")
    (place / "asked/paper").mkdir(parents=True)
    (place / "asked/study.toml").write_text(STUDY)
    (place / "asked/flows").write_text(FLOWS)
    listed = 'pattern = "file"\nfile = "flows"\n'
    text = SCENARIO.replace('pattern = "pairs"\nflows = 4\njitter = "100us"\n', listed)
    (place / "asked/scenario.toml").write_text(text[: text.index("app =")])
    (place / "asked/paper/paper.toml").write_text(PAPER.replace("seeds = 2", "seeds = 1"))
    (place / "asked/paper/fig1.toml").write_text(SCENARIO.replace("20ms", "1ms").replace("5ms", "0s"))
    with contextlib.chdir(place):
        for words in ([*COEXIST, "--cc", "swift"], TUNE, SENSITIVITY, RUN_PAPER):
            carried_out(words)
    return place


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give an empty folder in which commands run."""
    with working_in(tmp_path, monkeypatch):
        yield tmp_path


@pytest.mark.slow("a search, a paper or a report is made again for each damage")
@pytest.mark.parametrize(
    ("folder", "commands"),
    [
        ("pairs", [["report", "pairs"], [*COEXIST, "--cc", "swift"]]),
        ("search", [TUNE]),
        ("sensitivity", [SENSITIVITY]),
        ("paper", [REPORT_PAPER, RUN_PAPER]),
        ("asked", [["run", "asked/scenario.toml", "--out", "new"], TUNE, ["paper", "list", "asked/paper"], RUN_PAPER]),
    ],
)
def test_every_command_says_what_is_damaged(
    folder: str, commands: Sequence[Sequence[str]], made: Path, place: Path
) -> None:
    """Each takes some seconds: a search, a paper or a report is made again for each damage."""
    beside = [] if folder == "asked" else ["asked"]
    try_all(made, folder, {" ".join(words[:3]): words for words in commands}, place, beside)


@pytest.mark.parametrize(("old", "new", "key"), [('"4ms"', '"soon"', "rdma.timeout"), ('"4ms"', "4", "rdma.timeout")])
def test_a_time_of_rdma_in_a_resolved_scenario_is_a_time(old: str, new: str, key: str) -> None:
    toml = Scenario.load("dumbbell").with_({"transport.preset": "rdma", "controller": "dcqcn"}).toml()
    assert read_entries(toml)
    damaged = toml.replace(f"timeout = {old}", f"timeout = {new}")
    assert damaged != toml
    with pytest.raises(ValueError, match=f"transport.{key}: "):
        read_entries(damaged)
