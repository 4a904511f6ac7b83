"""Studies in stores: points, what is made and what is not made again, kills, and what the commands say."""

from __future__ import annotations

import io
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import incast as package
from conftest import Command, command, environment
from incast import FolderError, ScenarioError, Store, StudyError
from incast.batch import record
from incast.batch.journal import Journal
from incast.batch.runner import Status
from incast.batch.workers import Answer, Processes, Threads
from incast.commands import progress
from incast.comparisons.declaration import ComparisonStudy
from incast.study import estimate, planning
from incast.study.api import extend, load
from incast.study.axes import Axis, in_base_unit, read_axis
from incast.study.axes import points as points_of
from incast.study.definition import Point
from incast.system.folders import put_first
from stored import contents, small

FILE = """
name = "red-or-swift"
scenario = "dumbbell"
seeds = 2

[set]
run.duration = "1ms"
run.warmup = "0s"

[axes]
topology.senders = [2, 3]

[arms.dctcp-red]
controller = "dctcp"
queue = { kind = "red", limit = "250p", min_th = "20p", max_th = "60p" }

[arms.swift-tail]
controller = "swift:target=min-rtt"
queue.kind = "drop-tail"
queue.limit = "250p"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Write a study file."""
    path = tmp_path / "study.toml"
    path.write_text(FILE)
    return path


# Points


def test_a_file_has_points_by_arm_and_axis(file: Path) -> None:
    study = load(file)
    assert [str(point) for point in study.points()] == [
        *(f"dumbbell, {arm}, topology.senders = {n}" for arm in ("dctcp-red", "swift-tail") for n in (2, 3))
    ]
    assert len(study) == 8
    red = study.scenario_of(study.points()[0]).resolved()
    assert (red["controller"]["kind"], red["queue"]["kind"], red["topology"]["senders"]) == ("dctcp", "red", 2)


def test_a_study_survives_its_text(file: Path) -> None:
    study = load(file)
    (file.parent / "again.toml").write_text(study.toml())
    again = load(file.parent / "again.toml")
    assert again.points() == study.points()
    assert again.toml() == study.toml()
    spread = small(axes={"controller.g": {"from": 0.01, "to": 1, "scale": "log"}}, design="lhs", samples=3)
    (file.parent / "spread.toml").write_text(spread.toml())
    assert load(file.parent / "spread.toml").points() == spread.points()


@pytest.mark.parametrize(
    ("given", "values"),
    [
        ({"from": 0.01, "to": 1, "steps": 3, "scale": "log"}, (0.01, 0.1, 1.0)),
        ({"from": 0, "to": 1, "steps": 5}, (0.0, 0.25, 0.5, 0.75, 1.0)),
        ({"from": "10us", "to": "1ms", "steps": 3, "scale": "log"}, ("10us", "100us", "1000us")),
        ({"from": "1Gbps", "to": "4Gbps", "steps": 2}, ("1Gbps", "4Gbps")),
        ({"from": 1, "to": 10, "steps": 4, "scale": "log", "whole": True}, (1, 2, 5, 10)),
        ({"from": "20p", "to": "60p", "steps": 2, "whole": True}, ("20p", "60p")),
        # a whole number of bytes, picoseconds, packets
        ({"from": "15kB", "to": "600kB", "steps": 3, "scale": "log"}, ("15kB", "94.868kB", "600kB")),
        ({"from": "1KiB", "to": "2KiB", "steps": 4}, ("1KiB", "1365B", "1707B", "2KiB")),
        ({"from": "0.01ns", "to": "0.02ns", "steps": 4}, ("0.01ns", "0.013ns", "0.017ns", "0.02ns")),
        ({"from": "20p", "to": "61p", "steps": 3}, ("20p", "40p", "61p")),
        ([1, "a", True], (1, "a", True)),
        ({"values": [3, 4]}, (3, 4)),
    ],
)
def test_an_axis_lists_its_values(given: Any, values: tuple[Any, ...]) -> None:
    assert read_axis("key", given, []).listed(1) == values


def test_a_declared_range_is_that_of_the_parameter() -> None:
    found = read_axis("controller.g", {"range": "declared", "steps": 2}, ["dctcp"])
    assert found.listed(1) == (0.01, 1.0)
    assert read_axis("controller.initial_alpha", {"range": "declared", "steps": 2}, ["dctcp"]).listed(1) == (0.0, 1.0)
    with pytest.raises(StudyError, match="which has no two ends"):
        read_axis("controller.floor", {"range": "declared", "steps": 2}, ["dctcp"])
    with pytest.raises(StudyError, match='dctcp has no parameter gg \\(did you mean "g"'):
        read_axis("controller.gg", {"range": "declared", "steps": 2}, ["dctcp"])


@pytest.mark.parametrize("design", ["random", "lhs"])
def test_more_samples_keep_the_points_that_are_there(design: str) -> None:
    axes = [read_axis("a", {"from": 0, "to": 1}, []), read_axis("b", [1, 2, 3], [])]
    few = list(points_of(axes, design, (8,), 1))
    assert list(points_of(axes, design, (8, 4), 1))[:8] == few
    assert list(points_of(axes, design, (8,), 2)) != few


def test_a_latin_hypercube_has_one_point_in_each_part_of_each_axis() -> None:
    axes = [read_axis(key, {"from": 0, "to": 1}, []) for key in "ab"]
    found = list(points_of(axes, "lhs", (10,), 1))
    for key in "ab":
        assert sorted(int(float(point[key]) * 10 - 1e-9) for point in found) == list(range(10))


def test_zip_takes_values_side_by_side() -> None:
    axes = [Axis("a", (1, 2)), Axis("b", (3, 4))]
    assert list(points_of(axes, "zip", (), 1)) == [{"a": 1, "b": 3}, {"a": 2, "b": 4}]
    with pytest.raises(StudyError, match="a has 2, b has 1"):
        list(points_of([axes[0], Axis("b", (3,))], "zip", (), 1))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[axes]\ntraffic.flwos = [1]", ["traffic.flwos: unknown key", "point dumbbell"]),
        (
            "[axes]\nqueue.kind = { from = 'red', to = 'tail', steps = 2 }",
            ["axis queue.kind.from", "the values of a range must have an order"],
        ),
        ("[axes]\ncontroller.g = { from = 1, to = 0.1, steps = 2 }", ["expected from below to"]),
        ("[axes]\ncontroller.g = { from = 0, to = 1, steps = 2, scale = 'log' }", ["above 0"]),
        ("[axes]\ncontroller.g = { from = 0.1, to = 1 }", ["expected steps = N"]),
        ("[axes]\ntopology.access_link.delay = { from = '1us', to = '1Gbps', steps = 2 }", ["units of the same kind"]),
        ("[axes]\ncontroller.g = { frm = 0.1, to = 1 }", ['frm: unknown key (did you mean "from"?)']),
        ("[axes]\ncontroller.g = []", ["a list of at least one value"]),
        ("[axes]\ncontroller.g = [0.1, 0.1]", ["given twice"]),
        ("[axes]\nrun.seed = [1]", ["use seeds"]),
        ("[axes]\ncontroller.g = [2]", ["controller.g = 2", "at most 1"]),
        ("[axes]\nrun.duration = ['100ms', '100000us']", ["run.duration: 100ms and 100000us are equivalent"]),
        ("[arms.a]", ["arms.a changes nothing"]),
        ("[arms.a]\nrun.until = 'idle'", ["arms.a changes nothing in dumbbell"]),
        ("[arms.a]\ncontroller.g = 0.5\n[arms.b]\ncontroller.g = 0.5", ["arms a and b are the same"]),
        ("[set]\ncontroller.g = 0.5\n[axes]\ncontroller.g = [1]", ["set has it too"]),
        ("sedes = 3", ['sedes: unknown key (did you mean "seeds"?)']),
        ("seeds = 0", ["seeds = 0"]),
        ("design = 'gird'", ['did you mean "grid"?']),
        ("design = 'lhs'", ["samples"]),
        ("keep = ['flow']", ['did you mean "flows"?']),
        ("name = 'a/b'", ["name = 'a/b'"]),
    ],
)
def test_bad_studies_are_refused_with_the_key_and_what_was_expected(
    incast: Command, tmp_path: Path, text: str, words: list[str]
) -> None:
    (tmp_path / "bad.toml").write_text(f"scenario = 'dumbbell'\n{text}\n")
    incast("study", "run", "bad.toml", "--store", "s", "--quiet").refused(*words)
    assert not (tmp_path / "s" / "pending").exists()


# Stores


def test_nothing_is_made_twice(tmp_path: Path) -> None:
    """Not by the same study again, by one that grows, nor by another study with the same runs."""
    store = small().run(tmp_path / "s")
    assert store.runs.num_rows == 4
    before = contents(tmp_path / "s")
    small().run(tmp_path / "s")
    assert contents(tmp_path / "s") == before
    store = extend(store, seeds=3)
    store = extend(store, axes={"controller.g": [0.7]})
    store = extend(store, axes={"controller.g": [0.7]})
    assert (store.runs.num_rows, len(store.known()), store.chunks()) == (9, 9, ["0001-0000", "0002-0000", "0003-0000"])
    planning.make(tmp_path / "s", small(name="other", axes={"controller.g": [0.5]}))
    assert (store.runs.num_rows, len(store.known())) == (11, 9)
    rows = store.runs.to_pylist()
    assert {(row["study"], row["controller.g"], row["seed"]) for row in rows if row["study"] == "other"} == {
        ("other", 0.5, 1),
        ("other", 0.5, 2),
    }
    assert store.damaged() == []


def test_rows_have_keys_controller_and_the_figures_of_the_run(file: Path) -> None:
    store = load(file).run(file.parent / "s")
    rows = store.runs.to_pylist()
    assert len(rows) == 8
    for row in rows:
        scenario = load(file).scenario_of(Point("dumbbell", row["arm"], {"topology.senders": row["topology.senders"]}))
        alone = scenario.run(seed=row["seed"])
        assert row["flows.throughput_mean_bps"] == alone.summary["flows"]["throughput_mean_bps"]
        assert row["queues.busiest.port"] == alone.summary["queues"]["busiest"]["port"]
        flows = store.table("flows").to_pylist()
        own = [one for one in flows if one["run"] == row["run"]]
        assert [one["throughput_bps"] for one in own] == alone.flows["throughput_bps"].to_pylist()
    assert {(row["arm"], row["controller"], row["queue.kind"]) for row in rows} == {
        ("dctcp-red", "dctcp", "red"),
        ("swift-tail", "swift", "drop-tail"),
    }
    field = store.runs.schema.field("flows.delay_p99_s")
    assert field.metadata[b"unit"] == b"s"


@pytest.mark.parametrize(
    ("keys", "governing"),
    [
        ({"transport.preset": "uet"}, "nscc"),
        ({"transport.preset": "uet", "transport.uet.control": "rccc"}, "rccc"),
        ({"transport.preset": "ndp"}, "ndp"),
        ({"transport.preset": "eqds"}, "eqds"),
        ({"transport.preset": "swift"}, "swift"),
    ],
)
def test_what_governs_is_the_transports_own_control_where_it_has_one(
    tmp_path: Path, keys: dict[str, str], governing: str
) -> None:
    short = {"run.duration": "100us", "run.warmup": "0s"}
    study = package.Study("incast-trimming", arms={"own": keys}, settings=short, keep=("flows",), seeds=1)
    store = study.run(tmp_path / "s")
    assert set(store.runs["controller"].to_pylist()) == {governing}
    assert {one.partition(":")[0] for one in store.table("flows")["controller"].to_pylist()} == {governing}


def test_values_with_units_have_numbers_beside_them(tmp_path: Path) -> None:
    axes = {"topology.sink_link.rate": ["1Gbps", "500Mbps"], "queue.limit": ["64kB", "100p", "none"]}
    short = {"run.duration": "25us", "run.warmup": "0s", "queue.mark": "20p"}
    study = package.Study("incast", arms={"one": {"traffic.app.size": "3KiB"}}, axes=axes, settings=short, seeds=1)
    store = study.run(tmp_path / "s")
    rows = store.runs.to_pylist()
    assert {(row["topology.sink_link.rate"], row["topology.sink_link.rate_bps"]) for row in rows} == {
        ("1Gbps", 1e9),
        ("500Mbps", 5e8),
    }
    assert {(row["queue.limit"], row["queue.limit_bytes"], row["queue.limit_packets"]) for row in rows} == {
        ("64kB", 64e3, None),
        ("100p", None, 100.0),
        ("none", None, None),
    }
    assert {row["traffic.app.size_bytes"] for row in rows} == {3072.0}
    field = store.runs.schema.field("topology.sink_link.rate_bps")
    assert field.metadata == {b"unit": b"bit/s", b"definition": b"topology.sink_link.rate as a number."}
    names = store.runs.column_names
    assert names.index("queue.limit_bytes") == names.index("queue.limit") + 1


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("25us", ("s", 25e-6)),
        ("0.1ms", ("s", 1e-4)),
        ("10Gbps", ("bps", 1e10)),
        ("1_500B", ("bytes", 1500.0)),
        ("2MiB", ("bytes", 2.0**21)),
        ("8p", ("packets", 8.0)),
        ("8", None),
        ("10%", None),
        ("dctcp", None),
        ("1.2.3s", None),
        (8, None),
    ],
)
def test_a_text_with_a_unit_is_a_number_in_its_base_unit(text: object, number: tuple[str, float] | None) -> None:
    assert in_base_unit(text) == number


@pytest.mark.slow("processes that load the program")
def test_threads_and_processes_make_the_same_bytes(tmp_path: Path) -> None:
    small().run(tmp_path / "one", workers=1)
    small().run(tmp_path / "two", workers=2)
    small().run(tmp_path / "three", workers=2, hire=Processes)
    assert contents(tmp_path / "one") == contents(tmp_path / "two") == contents(tmp_path / "three")


def test_points_of_ones_own_come_to_the_rows_that_are_there(tmp_path: Path) -> None:
    study = small()
    planning.make(tmp_path / "s", study, points=[Point("dumbbell", "", {"controller.g": 0.3})], seeds=[1])
    store = planning.make(tmp_path / "s", study, points=[Point("dumbbell", "", {"controller.g": 0.4})], seeds=[1, 7])
    assert [(row["controller.g"], row["seed"]) for row in store.runs.to_pylist()] == [(0.3, 1), (0.4, 1), (0.4, 7)]


def test_a_run_that_fails_loses_nothing_that_was_made(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "class Mine:\n"
        "    def __init__(self, bad=False): self.cwnd, self.bad = 14480.0, bad\n"
        "    def on_ack(self, ack):\n"
        "        if self.bad: raise ValueError('as asked')\n"
        "    def on_loss(self, event): pass\n"
        "    def on_timeout(self, event): pass\n"
    )
    study = small(axes={"controller": ["mine.py:Mine", "mine.py:Mine:bad=true"]}, origin=tmp_path)
    with pytest.raises(package.ControllerError, match="as asked") as caught:
        study.run(tmp_path / "s", workers=1)
    assert "seed 1" in caught.value.__notes__[0]
    good = small(axes={"controller": ["mine.py:Mine"]}, origin=tmp_path)
    store = good.run(tmp_path / "s", workers=1)
    assert store.runs["controller"].to_pylist() == ["mine.py:Mine"] * 2
    assert store.chunks() == ["0001-0000"]  # made before the failure


def test_a_torn_journal_is_cut_off_behind_its_last_whole_record(tmp_path: Path) -> None:
    scenario = small().scenario_of(small().points()[0])
    records = [record.make(record.Task(name, scenario.toml(), "dumbbell", 1), tmp_path, ("flows",)) for name in "ab"]
    journal = Journal(tmp_path / "j.bin")
    for one in records:
        journal.append(one)
    journal.close()
    whole = journal.path.read_bytes()
    for cut in (len(whole) - 1, len(records[0]) + 3, len(records[0]) - 1, 0):
        journal.path.write_bytes(whole[:cut])
        torn = Journal(journal.path)
        kept = [run for run, _ in torn.runs()]
        assert kept == (["a"] if cut >= len(records[0]) else [])
        for one in records[len(kept) :]:
            torn.append(one)
        torn.close()
        assert journal.path.read_bytes() == whole


@pytest.mark.extended(part="python")
def test_a_store_goes_on_without_what_it_was_made_from(tmp_path: Path) -> None:
    """Scenario, its list of flows, and a class are copied; the originals are then gone, and the store elsewhere."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "mine.py").write_text(
        "class Mine:\n"
        "    def __init__(self): self.cwnd = 14480.0\n"
        "    def on_ack(self, ack): pass\n"
        "    def on_loss(self, event): pass\n"
        "    def on_timeout(self, event): pass\n"
    )
    (home / "list.csv").write_text("start,source,destination,size\n0us,0,2,100kB\n100us,1,3,50kB\n")
    (home / "sizes.csv").write_text("size,cumulative\n2000,1\n")
    (home / "own.toml").write_text(
        "[run]\nduration = '2ms'\n[topology]\nkind = 'dumbbell'\nsenders = 2\nreceivers = 2\n"
        "access_link = { rate = '1Gbps', delay = '1us' }\nbottleneck_link = { rate = '1Gbps', delay = '1us' }\n"
        "[queue]\nkind = 'drop-tail'\nlimit = '100p'\n[controller]\nkind = 'dctcp'\n"
        "[[traffic]]\nname = 'list'\npattern = 'file'\nfile = 'list.csv'\n"
        "[[traffic]]\nname = 'open'\npattern = 'poisson'\narrivals = { load = 0.1, sizes = 'sizes.csv' }\n"
    )
    (home / "study.toml").write_text(
        "scenario = 'own.toml'\nseeds = 1\n[arms]\nmine = 'mine.py:Mine'\ndctcp = 'dctcp'\n"
    )
    load(home / "study.toml", allow_code=True).run(home / "s")
    shutil.move(home / "s", tmp_path / "moved")
    shutil.rmtree(home)
    store = extend(Store.at(tmp_path / "moved"), seeds=2)
    assert store.runs.num_rows == 4
    assert store.runs["controller"].to_pylist() == ["mine.py:Mine"] * 2 + ["dctcp"] * 2
    assert store.damaged() == []
    assert len(store.known()) == 4


def test_a_range_that_lacks_whole_is_told_of_it(tmp_path: Path, incast: Command) -> None:
    axes = "design = 'random'\nsamples = 3\nscenario = 'incast'\n[axes]\n'traffic.flows' = { from = 1, to = 8 }\n"
    (tmp_path / "s.toml").write_text(axes)
    incast("study", "run", "s.toml", "--store", "s").refused(
        "expected a whole number", "whole = true in the range of traffic.flows rounds its values"
    )


# Kills


def kill_at_random(words: list[str], folder: Path, moments: random.Random, longest: float) -> int:
    """Run a command until it comes to its end, killing it a few times at random moments; say how often it was."""
    kills = 0
    most = moments.randint(1, 6)
    while True:
        process = subprocess.Popen(
            command(words), cwd=folder, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        try:
            _, said = process.communicate(timeout=moments.uniform(0.3, longest) if kills < most else None)
        except subprocess.TimeoutExpired:
            os.kill(process.pid, signal.SIGKILL)
            process.communicate()
            kills += 1
            continue
        assert process.returncode == 0, said
        return kills


KILLS = int(os.environ.get("INCAST_KILLS", "3"))
"""Kills in all; `make kills` sets 200, and `make test-all` 30."""


@pytest.mark.extended(part="kills")
def test_kills_at_random_moments_leave_the_same_bytes(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(FILE.replace("seeds = 2", "seeds = 30").replace('"1ms"', '"4ms"'))
    steps = [
        ["study", "run", "study.toml", "--store", "STORE", "--quiet"],
        ["study", "extend", "STORE", "--seeds", "40", "--axis", "topology.senders=4", "--quiet"],
    ]
    longest = 0.0
    for step in steps:
        began = time.monotonic()
        whole = [word.replace("STORE", "whole") for word in step]
        subprocess.run(command(whole), cwd=tmp_path, env=environment(), check=True, capture_output=True)
        longest = max(longest, time.monotonic() - began)
    moments = random.Random(7)
    kills = 0
    while kills < KILLS:
        shutil.rmtree(tmp_path / "killed", ignore_errors=True)
        for step in steps:
            words = [word.replace("STORE", "killed") for word in step]
            kills += kill_at_random(words, tmp_path, moments, longest)
        assert contents(tmp_path / "killed") == contents(tmp_path / "whole"), kills
        assert Store.at(tmp_path / "killed").damaged() == []
    print(f"{kills} kills")


def test_large_runs_make_chunks_of_fewer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the tables of many of them are not in memory at once; and the rows are the same."""
    whole = small().run(tmp_path / "whole")
    scenario = small().scenario_of(small().points()[0])
    monkeypatch.setattr(planning, "CHUNK_BYTES", 3 * scenario.memory())
    parted = small().run(tmp_path / "parted")
    assert [parted.read(f"chunks/{name}.parquet").num_rows for name in parted.chunks()] == [3, 1]
    assert parted.runs.equals(whole.runs)
    assert parted.table("flows").equals(whole.table("flows"))


def test_two_programs_in_one_store_do_not_meet(tmp_path: Path, incast: Command) -> None:
    store = small().run(tmp_path / "s")
    with store.alone():
        incast("study", "extend", "s", "--seeds", "3", "--quiet").refused("in use: another program")
        assert incast("study", "status", "s").status == 0


# Comparisons


def test_a_comparison_as_a_study_has_the_same_runs(tmp_path: Path, incast: Command) -> None:
    words = [
        "dumbbell",
        "--cc",
        "dctcp",
        "--cc",
        "swift:target=min-rtt",
        "--vary",
        "topology.senders=2,3",
        "--seeds",
        "2",
    ]
    settings = [("run.duration", "2ms"), ("run.warmup", "0s")]
    given = [word for key, value in settings for word in ("--set", f"{key}={value}")]
    assert "study: c.toml" in incast("compare", *words, *given, "--as-study", "c.toml").out
    study = load(tmp_path / "c.toml")
    compared = ComparisonStudy.parse(["dumbbell"], [words[2], words[4]], words[6], 2, settings)
    hashes = {(compared.scenario(case).hash, case.seed) for case in compared.cases()}
    assert {(study.scenario_of(point).hash, seed) for point in study.points() for seed in study.seeds} == hashes
    incast("compare", *words, *given, "--as-study", "c.toml").refused("c.toml exists")


# Slurm

SBATCH = """#!/bin/bash
# stands in for sbatch --wait: runs the parts of an array one after the other; of those that KILL names, the first is
# killed before it has begun, the others in the middle, or not at all on a fast machine
[ "$1" = --wait ] || exit 64
last=$(sed -n 's/^#SBATCH --array=0-//p' "$2")
grep -q '^#SBATCH --time=9$' "$2" || exit 65
for i in $(seq 0 "$last"); do
  limit=1000; first=0.01; for k in $KILL; do [ "$k" = "$i" ] && limit=$first; first=0.7; done
  SLURM_ARRAY_TASK_ID=$i timeout -s KILL $limit bash "$2"
done
"""


@pytest.mark.extended(part="python")
def test_an_array_job_is_gone_on_with_where_parts_of_it_were_killed(
    tmp_path: Path, incast: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "study.toml").write_text(FILE.replace("seeds = 2", "seeds = 20").replace('"1ms"', '"20ms"'))
    words = ["study", "run", "study.toml", "--store", "s", "--on", "slurm", "--slurm", "--time=9", "--quiet"]
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    (tmp_path / "sbatch").write_text(SBATCH)
    (tmp_path / "sbatch").chmod(0o755)
    monkeypatch.setenv("KILL", "1 2")
    incast(*words).failed(1, "of 80 runs were not made by the array job", "the same command submits the others")
    assert (tmp_path / "s" / "pending" / "slurm.sh").exists()
    made = json.loads(incast("study", "status", "s", "--json").out)["pending"]["made"]
    assert 0 < made < 80
    monkeypatch.setenv("KILL", "")
    assert incast(*words).status == 0
    load(tmp_path / "study.toml").run(tmp_path / "here")
    assert contents(tmp_path / "s") == contents(tmp_path / "here")


def test_without_slurm_the_script_is_said(file: Path, incast: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(file.parent))
    answer = incast("study", "run", "study.toml", "--store", "s", "--on", "slurm")
    answer.refused("sbatch not found", "slurm.sh")
    assert "#SBATCH --array=0-0" in (file.parent / "s" / "pending" / "slurm.sh").read_text()


# Before a big one


def test_a_dry_run_says_what_it_takes_and_makes_nothing(file: Path, incast: Command) -> None:
    said = incast("study", "run", "study.toml", "--store", "s", "--dry-run").out
    assert "runs: 8 new, 0 existing (4 points)" in said
    for word in ("hops: about", "CPU time: about", "memory: about", "disk: about", "measured: 6 of the runs"):
        assert word in said
    assert not (file.parent / "s").exists()
    store = load(file).run(file.parent / "s")
    hops = sum(store.runs["run.hops"].to_pylist()) / 8
    told = estimate.of(load(file), file.parent / "other").tried
    # the points of a study differ: six of eight are near the mean of all
    assert sum(one.hops for one in told) / len(told) == pytest.approx(hops, rel=0.3)
    assert "runs: 0 new, 8 existing" in incast("study", "run", "study.toml", "--store", "s", "--dry-run").out


def test_a_long_run_is_tried_for_a_second_and_scaled_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimate, "TRIED_S", 0.2)
    long = small(axes={}, seeds=1, settings={"run.duration": "100s", "run.warmup": "0s"})
    (told,) = estimate.of(long, tmp_path / "s").tried
    short = small(axes={}, seeds=1, settings={"run.duration": "100ms", "run.warmup": "0s"})
    (whole,) = estimate.of(short, tmp_path / "s").tried
    # hops a second of simulated time are the same but for the start
    assert told.hops == pytest.approx(1000 * whole.hops, rel=0.1)
    assert told.disk is not None


@pytest.mark.slow("a study and a run")
def test_what_takes_more_memory_than_there_is_is_refused(file: Path, incast: Command) -> None:
    incast("study", "run", "study.toml", "--store", "s", "--memory-limit", "1kB", "--quiet").refused(
        "needs about", "1 kB is available", "--memory-limit none"
    )
    assert not (file.parent / "s").exists()
    assert incast("study", "run", "study.toml", "--store", "s", "--memory-limit", "none", "--quiet").status == 0
    incast("run", "dumbbell", "--memory-limit", "1kB").refused("dumbbell needs about", "1 kB is available")
    assert incast("run", "dumbbell", "--memory-limit", "99999999TB", "--out", "much", "--quiet").status == 0
    incast("run", "dumbbell", "--memory-limit", "lots").refused('--memory-limit "lots": expected a size such as "8GB"')


@pytest.mark.extended(part="python")
def test_a_full_disk_is_an_error_and_loses_nothing(file: Path, incast: Command) -> None:
    def small_files() -> None:
        # no file above 300 kB can be written: the journal is full before the study's end
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    file.write_text(FILE.replace("seeds = 2", "seeds = 20"))
    answer = incast("study", "run", "study.toml", "--store", "s", "--quiet", preexec=small_files)
    answer.failed(1, "cannot write")
    assert 0 < json.loads(incast("study", "status", "s", "--json").out)["pending"]["made"] < 80
    assert incast("study", "run", "study.toml", "--store", "s", "--quiet").status == 0
    load(file).run(file.parent / "here")
    assert contents(file.parent / "s") == contents(file.parent / "here")


# Commands


@pytest.mark.slow("a dozen commands")
def test_the_commands_of_a_study(file: Path, incast: Command) -> None:
    assert "red-or-swift: 4 points, 2 seeds, 8 runs" in incast("study", "run", "study.toml", "--store", "s").out
    grown = incast("study", "extend", "s", "--seeds", "1,2,9", "--arm", "reno:controller=newreno")
    assert "6 points, 3 seeds, 18 runs" in grown.out
    assert "all files have their checksums" in incast("study", "status", "s", "--check").out
    assert json.loads(incast("study", "status", "s", "--json").out)["runs"] == 18
    assert "18 rows" in incast("study", "export", "s", "--out", "runs.csv").out
    assert len((file.parent / "runs.csv").read_text().splitlines()) == 19
    incast("study", "export", "s", "--out", "runs.csv").refused("runs.csv exists")
    incast("study", "export", "s", "--out", "x.parquet", "--table", "flow").refused('did you mean "flows"?')
    incast("study", "extend", "s", "--axis", "queue.limit=1p").refused("the study has no such axis", "topology.senders")
    incast("study", "extend", "s").refused("nothing to extend by")
    incast("study", "extend", "s", "--arm", "reno:controller=cubic").refused("arm reno exists with other keys")
    incast("study", "run", "none.toml").refused("no file none.toml")


def test_a_query_sees_runs_and_tables(file: Path, incast: Command) -> None:
    pytest.importorskip("duckdb", reason="queries need duckdb: pip install incast[query]")
    load(file).run(file.parent / "s")
    sql = "SELECT arm, count(*) AS n FROM runs JOIN flows USING (run) GROUP BY arm ORDER BY arm"
    assert json.loads(incast("query", "s", sql, "--json").out) == [
        {"arm": "dctcp-red", "n": 10},
        {"arm": "swift-tail", "n": 10},
    ]
    assert incast("query", "s", sql, "--csv").out.splitlines()[0] == '"arm","n"'
    incast("query", "s", "SELECT nothing FROM runs").refused("query:", "nothing")


def test_an_unknown_key_names_the_point() -> None:
    with pytest.raises(ScenarioError) as caught:
        small(axes={"queue.nothing": [1]}).scenario_of(small(axes={"queue.nothing": [1]}).points()[0])
    assert "point dumbbell" in caught.value.__notes__[0]


def test_threads_stop_when_they_are_told(tmp_path: Path) -> None:
    long = package.Scenario.load("dumbbell").with_({"run.duration": "1000s"})
    crew = Threads(1, tmp_path, ())
    answer = crew.submit([record.Task("x", long.toml(), "dumbbell", 1)])
    crew.close()
    assert isinstance(answer.result().error, package.RunStopped)


def test_threads_tell_how_far_the_runs_under_way_have_come(tmp_path: Path) -> None:
    long = package.Scenario.load("dumbbell").with_({"run.duration": "1000s"})
    crew, status = Threads(1, tmp_path, ()), Status(total=1)
    crew.submit([record.Task("x", long.toml(), "dumbbell", 1)])
    deadline = time.monotonic() + 60
    while not status.hops and time.monotonic() < deadline:
        time.sleep(0.02)
        crew.tell(status)
    assert status.hops > 0 and 0 < status.under_way["x"] < 1
    crew.close()
    crew.tell(status)
    assert status.under_way == {}


def test_heavy_runs_begin_first(tmp_path: Path) -> None:
    begun: list[str] = []

    class Listed(Threads):
        def submit(self, tasks: Sequence[record.Task]) -> Future[Answer]:
            begun.extend(f"{task.name} {task.toml.count('flows = 50')}" for task in tasks)
            return super().submit(tasks)

    small(axes={"traffic.flows": [1, 50, 2]}).run(tmp_path / "s", workers=1, hire=Listed)
    assert begun[:2] == ["dumbbell 1"] * 2 and begun[2:] == ["dumbbell 0"] * 4


def test_nothing_to_make_is_whole_on_a_terminal() -> None:
    """As where a study finds all its runs in the store."""
    screen = Console(file=io.StringIO(), force_terminal=True)
    with progress.of_batch(screen, quiet=False) as show:
        show(Status())


def test_the_first_file_of_a_folder_is_written_once_and_nothing_else_is_taken_for_it(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    folder.mkdir()
    (folder / ".store.json.partial-1").write_text("{")  # of a program that was killed
    put_first(folder / "store.json", "{}\n", "holds something else")
    put_first(folder / "store.json", "[]\n", "holds something else")
    assert contents(folder) == {"store.json": b"{}\n"}
    other = tmp_path / "other"
    other.mkdir()
    (other / "notes.txt").write_text("mine")
    with pytest.raises(FolderError, match="other holds something else"):
        put_first(other / "store.json", "{}\n", "holds something else")
    assert contents(other) == {"notes.txt": b"mine"}


def test_chunks_beyond_four_digits_stay_in_order(tmp_path: Path) -> None:
    store = Store.make(tmp_path / "s")
    (store.folder / "chunks").mkdir(exist_ok=True)
    names = ["9999-0000", "10000-0000", "10000-0001", "0001-0000"]
    for name in names:
        (store.folder / "chunks" / f"{name}.parquet").write_bytes(b"")
    assert store.chunks() == ["0001-0000", "9999-0000", "10000-0000", "10000-0001"]
