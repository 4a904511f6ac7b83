"""Training jobs: scenarios, results, and times of htsim and by hand."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from conftest import Command
from incast import Result, Scenario, ScenarioError
from incast.comparisons.comparison import load
from incast.runs import job_alone

ROOT = Path(__file__).parents[2]
TREE = """
controller = "newreno"
[run]
duration = "50ms"
until = "finished"
[topology]
kind = "fat-tree"
k = 4
link = { rate = "100Gbps", delay = "1us" }
[queue]
kind = "trimming"
limit = "1MB"
[transport]
preset = "uet"
[[job]]
workload = "job.goal"
"""


def goal(ranks: dict[int, list[str]], of: int = 16) -> str:
    """Return GOAL text of ``of`` ranks with these lines."""
    parts = ["\n".join([f"rank {i} {{", *ranks.get(i, []), "}"]) for i in range(of)]
    return "\n".join([f"num_ranks {of}", *parts, ""])


ONE = goal({0: ["s: send 1048576b to 15"], 15: ["r: recv 1048576b from 0"]})


def scenario(folder: Path, tasks: str = ONE, text: str = TREE) -> Scenario:
    """Write a scenario with its tasks and load it."""
    (folder / "job.goal").write_text(tasks)
    (folder / "job.toml").write_text(text)
    return Scenario.load(folder / "job.toml")


def ends(result: Result) -> dict[int, float | None]:
    """Return the times at which ranks with tasks end, in ns."""
    rows = result.ranks.to_pylist()
    return {row["rank"]: row["finish_s"] and round(row["finish_s"] * 1e9, 2) for row in rows if row["tasks"]}


@pytest.mark.parametrize(("rate", "acked"), [("100Gbps", 98891.52), ("200Gbps", 55445.76), ("400Gbps", 33722.88)])
def test_a_message_takes_the_time_of_htsim(tmp_path: Path, rate: str, acked: float) -> None:
    """Htsim (spcl/HTSIM 8a33f33, UET, k = 4): 98,892, 55,446 and 33,723 ns to the last acknowledgement."""
    found = ends(scenario(tmp_path).with_({"topology.link.rate": rate}).run())
    packets = 256 + 5  # five store-and-forward hops after the first
    byte_ns = 8 / float(rate.removesuffix("Gbps"))
    assert found[15] == pytest.approx(packets * 4160 * byte_ns + 6000, abs=0.01)
    assert found[0] == pytest.approx(acked, abs=0.01)
    assert found[0] == pytest.approx(packets * 4160 * byte_ns + 12000 + 6 * 64 * byte_ns, abs=0.01)


def test_messages_to_and_fro_follow_each_other(tmp_path: Path) -> None:
    """Eight messages of 92,860.8 ns; the reply waits for the acknowledgement ahead of it at the NIC, 64 B."""
    here = [f"s{i}: send 1048576b to 15 tag {i}" for i in range(4)]
    here += [f"r{i}: recv 1048576b from 15 tag {i}" for i in range(4)] + [f"s{i + 1} requires r{i}" for i in range(3)]
    there = [f"r{i}: recv 1048576b from 0 tag {i}" for i in range(4)]
    there += [f"s{i}: send 1048576b to 0 tag {i}" for i in range(4)] + [f"s{i} requires r{i}" for i in range(4)]
    found = ends(scenario(tmp_path, goal({0: here, 15: there})).run())
    assert found[0] == pytest.approx(8 * 92860.8 + 7 * 5.12, abs=0.01)


def test_a_job_that_cannot_end_says_what_it_waits_for(incast: Command, tmp_path: Path) -> None:
    tasks = goal({0: ["s: send 1000b to 15 tag 3"], 15: ["r: recv 1000b from 0 tag 3"]})
    scenario(tmp_path, tasks)
    done = incast("run", "job.toml", "--set", "run.duration=3us", "--out", "run")
    assert done.status == 1
    assert "job job: iteration 0 has not ended: rank 15, task 0: a message of rank 0 with tag 3" in done.err
    assert (tmp_path / "run/ranks.parquet").is_file()


RAILS = """
controller = "dctcp"
[run]
duration = "20ms"
until = "finished"
[topology]
kind = "rail-optimised"
servers = 4
gpus = 2
spines = 2
link = { rate = "100Gbps", delay = "1us" }
[queue]
kind = "ecn-threshold"
limit = "4MB"
mark = "200kB"
[transport]
delayed_ack = 1
rto_min = "500us"
[[job]]
name = "train"
collective = { kind = "all-reduce", size = "1MB", algorithm = "hierarchical", server = 2 }
scale_up = { rate = "1Tbps", delay = "500ns" }
[[failures]]
nic = "server1gpu0"
at = "20us"
detection = "1us"
"""


def test_a_job_whose_rank_lost_its_nic_says_what_it_waits_for(incast: Command, tmp_path: Path) -> None:
    (tmp_path / "rails.toml").write_text(RAILS)
    done = incast("run", "rails.toml", "--out", "run")
    assert done.status == 1
    # a rank of the rail of rank 2, server1gpu0, waits for the one before it
    waits = "job train: iteration 0 has not ended: rank [0246], task [0-9]+: a message of rank [0246]"
    assert re.search(waits, done.err), done.err
    repaired = incast("run", "rails.toml", "--set", 'failures.0.until="40us"', "--out", "repaired")
    assert repaired.status == 0, repaired.err


@pytest.mark.parametrize(
    ("tasks", "words"),
    [
        (goal({0: ["s: send 10b to 15"]}), "E05"),
        (goal({0: ["s: send 10b to 99"]}), "E04"),
        (goal({0: ["a: calc 1", "b: calc 1", "a requires b", "b requires a"]}), "E01"),
        (goal({0: ["s: sends 10b to 15"]}), "E00 line 3"),
        ("num_ranks 0\n", "rank"),
        (goal({0: ["c: calc 5"]}, 17), "17 ranks, and there are 16 hosts"),
    ],
)
def test_files_with_mistakes_are_refused(tmp_path: Path, tasks: str, words: str) -> None:
    with pytest.raises(ScenarioError, match=words):
        scenario(tmp_path, tasks).run()


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"job.train.workload": "x.goal"}, "the tasks are those of collective"),
        ({"job.train.iterations": 0}, "job.train.iterations = 0"),
        ({"job.train.collective.ranks": 17}, "17 ranks, and there are 16 hosts"),
        ({"job.train.collective.ranks": 1}, "expected a whole number >= 2"),
        ({"job.train.collective.size": "0B"}, "expected at least 1 B"),
        ({"job.train.collective.skew": 1}, "all-reduce has no receivers to choose"),
        ({"job.train.collective.skew": -1}, "expected a number >= 0"),
        ({"job.train.collective.algorithm": "pairwise"}, "algorithm pairwise of all-reduce"),
        ({"job.train.collective.chunk": "0B"}, "chunk = 0B"),
        (
            {"job.train.collective.chunk": "1B", "job.train.collective.size": "1GB"},
            "tasks of a member of a collective: more than 2147483647",
        ),
        (
            {"job.train.collective.chunk": "1B", "job.train.collective.size": "200MB"},
            "expected at most 2\\^32: larger chunks",
        ),
        ({"job.train.hosts": [1, 2]}, "2 hosts for 8 ranks"),
        ({"job.train.hosts": [1, 2, 3, 4, 5, 6, 7, 7]}, "another rank has this host"),
        ({"job.train.hosts": [1, 2, 3, 4, 5, 6, 7, 16]}, "expected a host, 0 to 15"),
        ({"job.train.slow": [{"ranks": [8], "calc": 2}]}, "expected ranks of the job, 0 to 7"),
        ({"job.train.slow": [{"ranks": [], "calc": 2}]}, "numbers of ranks"),
        ({"job.train.slow": [{"ranks": [1], "calc": -1}]}, "expected a number >= 0"),
        ({"job.train.stop": "1ms"}, "job.train.stop: unknown key"),
        ({"job.third.iterations": 1}, "job.third.iterations: there are 2 jobs; expected job.train.KEY"),
        ({"job.iterations": 1}, "job.iterations: there are 2 jobs"),
        ({"job.0.iterations": 1}, "entries of job go by name"),
        ({"job.other.name": "train"}, "another job or traffic entry has this name"),
    ],
)
def test_wrong_keys_are_refused_with_what_is_expected(keys: dict[str, object], words: str) -> None:
    with pytest.raises(ScenarioError, match=words):
        Scenario.load("two-jobs").with_(keys).validate()


def test_placements_take_hosts_that_no_earlier_job_has() -> None:
    two = Scenario.load("two-jobs").with_({"run.duration": "1us"})
    for placement, first, second in [
        ("by-rack", [0, 4, 8, 12, 1, 5, 9, 13], [2, 6, 10, 14, 3, 7, 11, 15]),
        ("packed", list(range(8)), [8, 12, 9, 13, 10, 14, 11, 15]),
        ("strided", list(range(0, 16, 2)), [1, 5, 9, 13, 3, 7, 11, 15]),
    ]:
        ranks = two.with_({"job.train.placement": placement}).run().ranks.to_pylist()
        hosts = {job: [row["host"] for row in ranks if row["job"] == job] for job in ("train", "other")}
        assert hosts["train"] == first
        assert hosts["other"] in ([], second)  # it begins at 100 us
    one, same, other = (
        two.with_({"job.train.placement": "random"}).with_seed(seed).run().ranks.to_pylist() for seed in (1, 1, 2)
    )
    assert one == same
    assert [row["host"] for row in one] != [row["host"] for row in other]


def test_collectives_have_a_table_and_a_part_of_the_summary(incast: Command, tmp_path: Path) -> None:
    keys = {"job.train.collective.size": "400kB", "job.train.iterations": 2, "measure.messages": False}
    done = Scenario.load("allreduce-rails").with_(keys).run()
    rows, jobs = done.collectives.to_pylist(), done.jobs.to_pylist()
    assert len(rows) == len(jobs) == 2
    assert not done.messages.num_rows
    for row, job in zip(rows, jobs, strict=True):
        assert (row["pattern"], row["members"], row["bytes"]) == ("all-reduce", job["ranks"], 400_000)
        assert (row["first_start_s"], row["last_finish_s"]) == (job["start_s"], job["finish_s"])
        assert row["busbw_Bps"] * row["time_s"] == pytest.approx(job["busbw_Bps"] * job["time_s"])
        assert row["time_s"] == pytest.approx(job["span_s"])
        assert row["time_s"] == pytest.approx(row["skew_s"] + row["after_last_start_s"])
        assert 0 < row["slowest_message_s"] < row["time_s"]
    own = done.summary["collectives"]["train"]["all-reduce"]
    assert own["count"] == own["finished"] == 2
    assert own["time_mean_s"] == pytest.approx(sum(row["time_s"] for row in rows) / 2)
    words = [f"--set={key}={'false' if value is False else value}" for key, value in keys.items()]
    shown = incast("run", "allreduce-rails", *words, "--out", str(tmp_path / "run"))
    assert "all-reduce" in shown.out
    assert (tmp_path / "run/collectives.parquet").is_file()


SMALL = {"job.train.collective.size": "400kB", "job.other.collective.size": "400kB"}


def test_no_job_is_faster_than_its_bound() -> None:
    for algorithm in ("ring", "tree", "halving-doubling", "recursive-doubling"):
        keys = {f"job.{job}.collective.algorithm": algorithm for job in ("train", "other")}
        rows = Scenario.load("two-jobs").with_({**SMALL, **keys}).run().jobs.to_pylist()
        assert len(rows) == 6
        for row in rows:
            assert 0.05 < row["efficiency"] <= 1
            assert row["busbw_Bps"] == pytest.approx(row["algbw_Bps"] * 2 * 7 / 8)
            assert row["algbw_Bps"] == pytest.approx(400_000 / row["time_s"])


def test_summary_and_tables_agree() -> None:
    result = Scenario.load("two-jobs").with_(SMALL).run()
    rows = [row for row in result.jobs.to_pylist() if row["job"] == "train"]
    figures = result.summary["jobs"]["train"]
    assert figures["iterations"] == figures["finished"] == len(rows) == 3
    assert figures["iteration_mean_s"] == pytest.approx(sum(row["time_s"] for row in rows) / 3)
    ranks = [row for row in result.ranks.to_pylist() if row["job"] == "train"]
    for row in ranks:
        spent = row["compute_s"] + row["exposed_s"] + row["idle_s"]
        assert spent == pytest.approx(row["finish_s"] - row["start_s"])
    # 2 (n - 1) steps of an 8th each, of 8 ranks, 3 times
    messages = [row for row in result.messages.to_pylist() if row["job"] == "train"]
    assert (len(messages), {row["bytes"] for row in messages}) == (3 * 8 * 14, {50_000})
    assert len(result.flows) == 16


def test_a_straggler_delays_the_job_by_its_calculation(tmp_path: Path) -> None:
    tasks = goal({0: ["c: calc 10000", "s: send 4096b to 15", "s requires c"], 15: ["r: recv 4096b from 0"]})
    usual = ends(scenario(tmp_path, tasks).run())[15]
    slow = ends(scenario(tmp_path, tasks).with_({"job.job.slow": [{"ranks": [0], "calc": 3}]}).run())[15]
    assert usual is not None and slow is not None
    assert slow - usual == pytest.approx(20000, abs=0.01)


@pytest.mark.slow("draws the report of four runs")
def test_a_comparison_answers_in_the_time_of_an_iteration(incast: Command, tmp_path: Path) -> None:
    keys = [word for key, value in SMALL.items() for word in ("--set", f"{key}={value}")]
    words = ("compare", "two-jobs", "--cc", "dctcp", "--cc", "swift", "--seeds", "3")
    done = incast(*words, *keys, "--out", "c")
    assert done.status == 0, done.err
    assert "iteration time of train" in " ".join(done.out.split())
    assert "highest throughput" not in " ".join(done.out.split()).partition("means over")[0]
    comparison = load(tmp_path / "c")
    case = next(iter(comparison.runs))
    assert comparison.runs[case].figure("jobs.train.iteration_mean_s") is not None
    assert (tmp_path / "c/job-0-iteration.png").is_file()


@pytest.mark.slow("draws the report of four runs")
def test_jobs_that_do_not_end_are_not_called_best(incast: Command, tmp_path: Path) -> None:
    keys = [word for key, value in SMALL.items() for word in ("--set", f"{key}={value}")]
    done = incast("compare", "two-jobs", "--cc", "dctcp", "--cc", "swift", "--seeds", "2", *keys, "--set",
                  "job.train.iterations=1000", "--set", "run.duration=400us", "--out", "c")  # fmt: skip
    words = " ".join(done.out.split())
    assert "of iterations did not finish" in words and "Iteration times are those of the others." in words, done.out
    assert "*" not in words.partition("means over")[2].partition("* marks")[0], done.out


@pytest.mark.slow("runs three jobs, two of them again alone")
def test_jobs_are_held_against_themselves_alone(incast: Command) -> None:
    keys = [word for key, value in SMALL.items() for word in ("--set", f"{key}={value}")]
    assert incast("run", "two-jobs", *keys, "--out", "both").status == 0
    done = incast("explain", "jobs", "both", "--json")
    found = json.loads(done.out)
    train, other = found["jobs"]
    # the one that begins later meets the other in all of its iterations
    assert 1 < train["slowdown"] < other["slowdown"]
    assert 0.5 < found["jain"] < 1
    assert "Jain's index over the slowdowns" in incast("explain", "jobs", "both").out
    incast("run", "incast", "--out", "none")
    incast("explain", "jobs", "none").refused("none has no training jobs")


def test_a_job_alone_has_the_hosts_of_the_run() -> None:
    both = Scenario.load("two-jobs").with_({**SMALL, "job.other.start": "0s", "run.duration": "10us"})
    result = both.run()
    lone = job_alone.alone(both, "other").run()
    hosts = [row["host"] for row in result.ranks.to_pylist() if row["job"] == "other"]
    assert [row["host"] for row in lone.ranks.to_pylist()] == hosts == [2, 6, 10, 14, 3, 7, 11, 15]
    with pytest.raises(ScenarioError, match="expected one of train, other"):
        job_alone.alone(both, "third")


@pytest.mark.parametrize(
    ("preset", "keys"),
    [
        ("linux", {"transport.delayed_ack": 1}),
        ("rdma", {"controller": "dcqcn"}),
        ("roce", {}),
        ("homa", {}),
        ("ndp", {"queue.kind": "trimming"}),
        ("eqds", {"queue.kind": "trimming"}),
    ],
)
def test_any_transport_carries_the_messages(preset: str, keys: dict[str, object]) -> None:
    text = (ROOT / "scenarios/two-jobs.toml").read_text().replace("delayed_ack = 1", f'preset = "{preset}"')
    if "queue.kind" in keys:
        text = text.replace('kind = "ecn-threshold"', 'kind = "trimming"').replace('mark = "200kB"\n', "")
    rest = {key: value for key, value in keys.items() if key != "queue.kind"}
    result = Scenario.from_toml(text, name="jobs").with_({**SMALL, **rest}).run()
    assert result.unfinished_jobs() == []
    assert all(row["efficiency"] <= 1 for row in result.jobs.to_pylist())


def test_delayed_acknowledgements_of_sends_are_noted() -> None:
    delayed = Scenario.load("two-jobs").with_({"transport.delayed_ack": 2})
    assert any("job.train.send_done" in note for note in delayed.notes())
    written = {f"job.{job}.send_done": "written" for job in ("train", "other")}
    assert not any("send_done" in note for note in delayed.with_(written).notes())


def test_experts_are_as_popular_as_zipf_has_it() -> None:
    small = Scenario.load("moe-alltoall").with_({"job.train.collective.size": "100kB", "job.train.iterations": 1})
    received: dict[tuple[str, int], dict[int, int]] = {}
    for controller, seed in (("dctcp", 1), ("newreno", 1), ("dctcp", 2)):
        sums = dict.fromkeys(range(16), 0)
        for row in small.with_({"controller": controller}).run(seed=seed).messages.to_pylist():
            sums[row["to"]] += row["bytes"]
        received[controller, seed] = sums
    assert received["dctcp", 1] == received["newreno", 1] != received["dctcp", 2]
    weights = [k**-0.8 for k in range(1, 17)]
    expected = [15 * 100_000 * weight / sum(weights) for weight in weights]
    for sums in received.values():
        assert sorted(sums.values(), reverse=True) == pytest.approx(expected, abs=15)


def test_a_barrier_has_no_bytes_and_takes_time(tmp_path: Path) -> None:
    text = TREE.replace('workload = "job.goal"', 'collective = { kind = "barrier", size = "0B" }')
    result = scenario(tmp_path, text=text).run()
    (row,) = result.jobs.to_pylist()
    # four rounds over up to six links of 1 us
    assert 4 * 2e-6 < row["time_s"] < 4 * 8e-6 and row["busbw_Bps"] is None and row["efficiency"] < 1
    assert {own["bytes"] for own in result.messages.to_pylist()} == {0}
