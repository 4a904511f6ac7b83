"""Jobs in scenarios: keys, formats of their files, files on any topology, warm-up, repeats, jobs alone."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from conftest import Command
from incast import Result, Scenario, ScenarioError, Workload
from incast.runs import described, job_alone

FABRIC = """
controller = "dctcp"
[run]
duration = "50ms"
until = "finished"
[topology]
kind = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 4
link = { rate = "100Gbps", delay = "1us" }
[queue]
kind = "ecn-threshold"
limit = "2MB"
mark = "200kB"
[transport]
delayed_ack = 1
"""
STEP = """num_ranks 2
rank 0 {
a: calc 1000
b: send 100000b to 1 tag 7
b requires a
}
rank 1 {
a: recv 100000b from 0 tag 7
b: calc 2000
b requires a
}
"""
SIMAI = """HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 4
1
a -1 9000 ALLREDUCE 65536 9000 NONE 0 9000 ALLREDUCE 81920 9000
"""


def trace(rank: int) -> bytes:
    """Return an execution trace of an all-reduce of 1 MiB."""
    attributes = b"\x52\x0e\x0a\x09is_cpu_op\xd8\x01\x00\x52\x0d\x0a\x09comm_type\x48\x00"
    attributes += b"\x52\x0f\x0a\x09comm_size\x48\x80\x80\x40"
    number = bytes([8, rank]) if rank else b""
    node = number + b"\x12\x14all_reduce_4npus_1MB\x18\x07" + attributes
    return b"\x07\x0a\x050.0.4" + bytes([len(node)]) + node


def times(result: Result) -> list[float | None]:
    return [row["time_s"] for row in result.jobs.to_pylist()]


def fabric(folder: Path, job: str, more: str = "") -> Scenario:
    """Write a leaf-spine with a job and load it."""
    (folder / "job.toml").write_text(f'{FABRIC}{more}\n[[job]]\nname = "job"\n{job}\n')
    return Scenario.load(folder / "job.toml")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Write the same kind of job in every format."""
    (tmp_path / "step.goal").write_text(STEP)
    Workload.load(tmp_path / "step.goal").write(tmp_path / "step.bin")
    (tmp_path / "rows.txt").write_text(SIMAI)
    (tmp_path / "two.xml").write_text("<algo ngpus='2' nchunksperloop='2'></algo>")
    (tmp_path / "traces").mkdir()
    for rank in range(4):
        (tmp_path / f"traces/all.{rank}.et").write_bytes(trace(rank))
    return tmp_path


def test_a_job_needs_no_traffic_and_stands_beside_some(files: Path) -> None:
    alone = fabric(files, 'workload = "step.goal"')
    entry = '[[traffic]]\nname = "load"\npattern = "permutation"\napp = { kind = "bulk", size = "1MB" }'
    beside = fabric(files, 'workload = "step.goal"\nhosts = [0, 7]', entry)
    result = beside.run()
    assert sorted(result.summary["groups"]) == ["job", "load"]
    assert {row["group"] for row in result.flows.to_pylist()} == {"job", "load"}
    first, second = times(alone.run()), times(result)
    assert first[0] is not None and second[0] is not None and second[0] > first[0] > 11e-6
    assert alone.with_({"job.iterations": 2}).resolved()["job"][0]["iterations"] == 2
    again = Scenario.from_toml(alone.toml(), origin=files)
    assert again.hash == alone.hash and again.resolved() == alone.resolved()
    with pytest.raises(ScenarioError, match=r"job\.iterations: there are no jobs; expected a table \[\[job\]\]"):
        Scenario.load("incast").with_({"job.iterations": 2})
    with pytest.raises(ScenarioError, match=r"expected at least one \[\[traffic\]\] entry or \[\[job\]\]"):
        alone.with_({"job": []}).validate()


def test_every_format_of_a_file_runs(files: Path) -> None:
    """A file with collectives has the time of its messages written as GOAL."""
    assert times(fabric(files, 'workload = "step.bin"').run()) == times(fabric(files, 'workload = "step.goal"').run())
    Workload.load(files / "rows.txt").expanded().write(files / "rows.goal")
    Workload.load(files / "traces/all").expanded().write(files / "traces.goal")
    for name, goal in [("rows.txt", "rows.goal"), ("traces/all", "traces.goal"), ("traces/all.2.et", "traces.goal")]:
        own = fabric(files, f'workload = "{name}"').run()
        assert times(own) == times(fabric(files, f'workload = "{goal}"').run()) != [None]
    assert times(fabric(files, 'workload = "traces"').run()) == times(fabric(files, 'workload = "traces/all"').run())


def test_methods_of_collectives_in_a_file_go_by_pattern(files: Path) -> None:
    ring = fabric(files, 'workload = "traces/all"')
    halving = ring.with_({"job.collectives.all-reduce.algorithm": "halving-doubling"})
    messages = [len(one.run().messages) for one in (ring, halving)]
    assert messages == [4 * 2 * 3, 4 * 2 * 2]
    with pytest.raises(ScenarioError, match=r'job\.collectives\.all-reduce\.algorithm = "rings": expected one of'):
        ring.with_({"job.collectives.all-reduce.algorithm": "rings"})
    with pytest.raises(ScenarioError, match=r"job\.job\.collectives: algorithm pairwise of all-reduce"):
        ring.with_({"job.collectives.all-reduce.algorithm": "pairwise"}).validate()


@pytest.mark.parametrize(
    ("job", "words"),
    [
        ("", r"job\.job\.workload: missing; expected a file of tasks, a collective, or llm"),
        (
            'workload = "step.goal"\ndeps = "data"',
            r"job\.job\.deps: step.goal is GOAL text; expected none",
        ),
        (
            'workload = "step.bin"\ngpus = 4',
            r"job\.job\.gpus: step.bin is GOAL binary; expected none",
        ),
        (
            'workload = "two.xml"',
            r"job\.job\.workload = .two\.xml.: an algorithm of MSCCL has no size; expected the file that incast "
            r"workload convert two\.xml --size 16MiB --out job\.goal writes",
        ),
        ('workload = "traces/all"\ncompat = "simai"', r"job\.job\.compat: traces/all is Chakra traces; expected none"),
        ('workload = "step.goal"\ncollectives = { barrier = {} }', "a key of text of SimAI and Chakra traces"),
        (
            'collective = { kind = "barrier", size = "1B" }\nsizes = "total"',
            "job.job.sizes: the tasks are those of",
        ),
        (
            'workload = "none.goal"',
            r'job\.job\.workload = ".*none\.goal": no such file; file names',
        ),
        ('workload = "."', "is a folder; expected a file of tasks, or a folder with traces PREFIX.RANK.et"),
        ('workload = "builtin:none"', "no file of this name comes with the program"),
        ('workload = "step.goal"\nwarmup = 1', r"job\.job\.warmup = 1: expected less than iterations, 1"),
        ('workload = "step.goal"\niterations = 0', r"job\.job\.iterations = 0: expected a whole number"),
        ('workload = "step.goal"\nsend_done = "matched"', r"job\.job\.send_done = .matched.: expected one of"),
        ('workload = "step.goal"\nplacement = "leaf"', r"job\.job\.placement = .leaf.: expected one of"),
        ('workload = "step.goal"\nclass = 1', r"job\.job\.class"),
        ('workload = "step.goal"\nworklod = 1', r"job\.job\.worklod: unknown key \(did you mean .workload.\?\)"),
    ],
)
def test_wrong_keys_of_a_job_are_told_with_their_place(files: Path, job: str, words: str) -> None:
    def notes() -> None:
        scenario = fabric(files, job)
        scenario.validate()
        raise ScenarioError(" ".join(scenario.notes()))

    with pytest.raises(ScenarioError, match=words):
        notes()


def test_findings_of_the_linter_stop_a_run_or_become_notes(files: Path) -> None:
    small = fabric(files, 'workload = "small.goal"')
    (files / "small.goal").write_text(STEP.replace("100000b", "100b"))
    assert any(note.startswith("job.job.workload: W06 ") for note in small.notes())
    shards = fabric(files, 'workload = "traces/all"').notes()
    assert not any("W0" in note for note in shards)
    (files / "small.goal").write_text(STEP.replace("tag 7", "tag 8", 1))
    with pytest.raises(ScenarioError, match=r'job\.job\.workload = "small\.goal": E05 '):
        small.with_seed(2).validate()


def test_servers_and_rails_of_a_job_are_noted() -> None:
    rails = Scenario.load("allreduce-rails")
    assert not any("W04" in note for note in rails.notes())
    ring = rails.with_({"job.collective": {"kind": "all-reduce", "size": "32MB", "algorithm": "ring"}})
    assert any("W04" in note and "a ring of 32 ranks leaves its rail in 4 hops" in note for note in ring.notes())
    strewn = ring.with_({"job.placement": "random"})
    assert not any("W04" in note for note in strewn.notes()), "no rails"


def test_a_run_keeps_its_traces_together(files: Path, incast: Command) -> None:
    (files / "there").mkdir()
    scenario = fabric(files / "there", f'workload = "{files}/traces/all"')
    assert incast("run", str(files / "there/job.toml"), "--out", "run").status == 0
    copied = Scenario.load(files / "run/scenario.toml")
    assert copied.hash == scenario.hash
    assert len({path.parent for _, path in copied.files()}) == 1 and len(copied.files()) == 4
    assert times(copied.run()) == times(Result.load(files / "run"))
    (files / "traces/all.1.et").write_bytes(trace(2))
    assert scenario.with_seed(2).hash != copied.hash


def test_a_file_runs_on_any_topology(files: Path, incast: Command) -> None:
    words = ("run", "leaf-spine", "--workload", str(files / "step.bin"), "--ranks-to", "by-rack", "--quiet")
    done = incast(*words, "--set", "job.iterations=3", "--out", "run")
    assert done.status == 0, done.err
    result = Result.load(files / "run")
    ranks = [row for row in result.ranks.to_pylist() if row["iteration"] == 0]
    assert (len(result.jobs), len(result.flows), result.summary["run"]["scenario"]) == (3, 1, "leaf-spine")
    assert ranks[0]["host"] == 0 and ranks[1]["host"] > 1, "in another rack"
    own = Scenario.load("leaf-spine").with_workload(files / "step.bin", "by-rack").with_({"job.iterations": 3})
    assert own.hash == Scenario.load(files / "run/scenario.toml").hash
    incast("run", "leaf-spine", "--ranks-to", "packed").refused("--ranks-to packed: expected --workload FILE beside it")
    incast(*words[:4], "--ranks-to", "scattered").refused('expected one of "packed", "by-rack", ')
    checked = incast("validate", "leaf-spine", "--workload", str(files / "step.goal"))
    assert checked.out.startswith("leaf-spine: ok (scenario: ") and "flows: 1)" in checked.out


@pytest.mark.slow("draws the report of four runs")
def test_a_file_is_compared_on_any_topology(files: Path, incast: Command) -> None:
    words = ("--workload", str(files / "step.goal"), "--cc", "dctcp", "--cc", "swift", "--seeds", "2", "--out", "c")
    done = incast("compare", "leaf-spine", *words)
    assert done.status == 0, done.err
    assert "has no effect" not in done.err
    assert "means over 2 seeds job job job" in " ".join(done.out.split())


def test_means_leave_the_warm_up_out() -> None:
    keys = {"job.train.collective.size": "400kB", "job.other.collective.size": "400kB"}
    plain = Scenario.load("two-jobs").with_(keys)
    whole, warm = (one.run() for one in (plain, plain.with_({"job.train.warmup": 1})))
    assert times(whole) == times(warm), "no event moves"
    rows = [row for row in warm.jobs.to_pylist() if row["job"] == "train"]
    assert [row["warmup"] for row in rows] == [1, 0, 0]
    mean = warm.summary["jobs"]["train"]["iteration_mean_s"]
    assert mean == pytest.approx(sum(row["time_s"] for row in rows[1:]) / 2)
    assert warm.summary["jobs"]["train"]["finished"] == 3
    assert warm.summary["jobs"]["other"] == whole.summary["jobs"]["other"]


def test_repeats_of_a_collective_that_differ_are_noted() -> None:
    """The job that begins first has the fabric to itself for part of its first iteration."""
    keys = {"job.train.collective.size": "400kB", "job.other.collective.size": "400kB"}
    scenario = Scenario.load("two-jobs").with_(keys)
    together = [note for note in scenario.run().notes() if "W09" in note]
    assert any(note.startswith("job train: W09: 3 repeats of train take ") for note in together)
    lone = job_alone.alone(scenario, "train").with_({"job.train.warmup": 1, "transport.initial_window": 400})
    assert not any("W09" in note for note in lone.run().notes())


def test_jobs_of_a_scenario_are_isolated_as_explained(tmp_path: Path, incast: Command) -> None:
    keys = ("--set", "job.train.collective.size=400kB", "--set", "job.other.collective.size=400kB")
    done = incast("workload", "isolate", "two-jobs", *keys, "--out", "alone")
    assert done.out.split("\n")[:2] == ["wrote: alone/train.toml", "wrote: alone/other.toml"]
    other = Scenario.load(tmp_path / "alone/other.toml")
    table = tomllib.loads((tmp_path / "alone/other.toml").read_text())
    assert [(job["name"], job["start"]) for job in table["job"]] == [("train", "100ms"), ("other", "100us")]
    whole = Scenario.load("two-jobs").with_(dict.fromkeys((keys[1][:-6], keys[3][:-6]), "400kB"))
    run = other.run()
    assert times(job_alone.alone(whole, "other").run()) == times(run)
    # the run ends with the job, and nothing waits for the one that is off
    assert run.summary["run"]["sim_s"] < 0.1
    assert (run.summary["jobs"]["train"]["iterations"], run.unfinished_jobs()) == (0, [])
    incast("workload", "isolate", "two-jobs", "--job", "third", "--out", "x").refused("expected one of train, other")
    incast("workload", "isolate", "incast", "--out", "x").refused("incast: no jobs; expected a scenario with [[job]]")
    assert not (tmp_path / "x").exists()
    renamed = {"job.train.name": "A b", "job.other.name": "A-b"}
    (tmp_path / "two.toml").write_text(Scenario.load("two-jobs").with_(renamed).toml())
    done = incast("workload", "isolate", "two.toml", "--out", "same")
    assert done.out.split("\n")[:2] == ["wrote: same/A-b.toml", "wrote: same/A-b-2.toml"]


def test_ranks_of_a_file_are_isolated(files: Path, incast: Command) -> None:
    done = incast("workload", "isolate", str(files / "rows.txt"), "--ranks", "1-2", "--out", "two.goal")
    assert done.out.startswith("wrote: two.goal (ranks: 2, ")
    assert "messages with other ranks, which take no time: " in done.err
    assert Workload.load(files / "two.goal").stats()["calc_ps"] == 2 * 4 * 9_000_000
    refused = {"4": "rank 4: expected a rank of the job, 0 to 3", "1,1": "rank 1 twice", "3-1": "expected a range"}
    for ranks, words in refused.items():
        incast("workload", "isolate", str(files / "rows.txt"), "--ranks", ranks, "--out", "x.goal").refused(words)
    incast("workload", "isolate", "rows.txt", "--ranks", "0", "--job", "a", "--out", "x.goal").refused("--job a")


def test_a_scenario_in_words_tells_its_jobs(files: Path) -> None:
    rows = dict(described.described(Scenario.load("two-jobs").resolved()).rows)
    assert rows["Job train"] == "all-reduce of 8 ranks, 8\N{NO-BREAK SPACE}MB, 3 iterations, by-rack"
    assert rows["Job other"].endswith("from 100\N{NO-BREAK SPACE}µs")
    rows = dict(described.described(fabric(files, 'workload = "step.goal"').resolved()).rows)
    assert rows["Job"] == "tasks of step.goal, 1 iteration, packed" and "Traffic" not in rows


def test_controllers_of_jobs_are_those_of_groups() -> None:
    own = Scenario.load("two-jobs").with_({"job.train.controller": "swift"})
    assert own.governing() == ["swift", "dctcp"]
    assert own.with_controller("newreno").governing() == ["newreno"]
    with pytest.raises(ScenarioError, match=r"job\.train\.controller\.g"):
        own.with_controller(".:g=0.1")
    bases = own.with_({"job.other.transport": {"preset": "ns3"}, "job.other.class": 0}).resolved()["job"]
    assert [job.get("transport", {}).get("preset") for job in bases] == [None, "ns3"]


@pytest.mark.slow("runs four pairs")
def test_controllers_of_two_jobs_coexist(incast: Command) -> None:
    keys = [word for job in ("train", "other") for word in ("--set", f"job.{job}.collective.size=100kB")]
    done = incast("coexist", "two-jobs", "--cc", "dctcp", "--cc", "newreno", "--seeds", "1", *keys, "--out", "c")
    assert done.status == 0, done.err
    assert "job.train and job.other differ in start" in done.err
