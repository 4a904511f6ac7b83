"""``incast workload`` and ``incast.Workload``: files of jobs, findings, counts, bounds, conversions, collectives."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

import incast as package
from conftest import Command
from incast import ScenarioError, Workload
from incast.workloads.job import Method

STEP = """num_ranks 2
rank 0 {
a: calc 1000
b: send 1000000b to 1 tag 7
b requires a
}
rank 1 {
a: recv 1000000b from 0 tag 7
b: calc 2000
b requires a
}
"""
SIMAI = """HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 4
1
a -1 9 ALLREDUCE 4096 9 NONE 0 9 ALLREDUCE 8192 9
"""


@pytest.fixture
def step(tmp_path: Path) -> Path:
    """Write a job of a calculation, a message and another calculation."""
    (tmp_path / "step.goal").write_text(STEP)
    return tmp_path / "step.goal"


def test_a_job_has_counts_and_a_bound(step: Path) -> None:
    job = Workload.load(step)
    counts = job.stats()
    assert (job.ranks, job.tasks, counts["tasks_by_kind"]) == (2, 4, {"calc": 2, "send": 1, "recv": 1})
    assert counts["pairs"] == [{"from": 0, "to": 1, "messages": 1, "bytes": 1_000_000}]
    assert (counts["path_ps"], counts["path_tasks"], counts["path_messages"]) == (84_000_000, 4, 1)
    assert job.stats(latency="2us")["path_ps"] == 85_000_000
    assert job.lint() == []
    found = job.bound(latency="1us", rate="100Gbps")
    assert (found["bound_ps"], found["cause"]) == (84_000_000, "path")
    assert job.bound(latency=1e-6, rate=100e9) == found
    assert job.bound(rate="1Gbps")["bound_ps"] == 8_004_000_000


def test_files_go_to_binary_and_back(step: Path, tmp_path: Path, incast: Command) -> None:
    assert incast("workload", "convert", str(step), "--out", "step.bin").out == "wrote: step.bin (ranks: 2, tasks: 4)\n"
    assert incast("workload", "convert", "step.bin", "--out", "back.goal", "--quiet").out == ""
    back = (tmp_path / "back.goal").read_text()
    assert "l1: send 1000000b to 1 tag 7\nl1 requires l0\n" in back
    incast("workload", "convert", "step.bin", "--out", "back.goal").refused("back.goal exists: give another --out")
    incast("workload", "convert", "step.bin", "--out", "back.txt").refused(
        "expected a name that ends with .goal or .bin"
    )
    assert (tmp_path / "back.goal").read_text() == back


def test_the_golden_bytes_of_goal_binary(tmp_path: Path) -> None:
    text = STEP.replace("calc 1000", "calc 100 cpu 1").replace("1000000b to 1 tag 7", "8b to 1 tag 7 cpu 0 nic 2")
    text = text.replace("1000000b", "8b").replace("calc 2000\nb requires a", "calc 5\nb irequires a")
    (tmp_path / "golden.goal").write_text(text)
    Workload.load(tmp_path / "golden.goal").write(tmp_path / "golden.bin")
    digest = hashlib.sha256((tmp_path / "golden.bin").read_bytes()).hexdigest()
    assert digest == "9f79ceae8711b16cb5938c098f86bd18c06a841b8414d530edcc0fc809956433"


def test_findings_have_places_and_errors_stop(step: Path, incast: Command) -> None:
    wrong = step.with_name("wrong.goal")
    wrong.write_text(STEP.replace("from 0 tag 7", "from 0 tag 8"))
    answer = incast("workload", "lint", str(step), str(wrong))
    assert answer.status == 1
    assert f"{step}: ok, findings: 0\n" in answer.out
    assert "wrong.goal, 0:1: error E05: rank 0 to rank 1, tag 7: sends 1, receives 0" in answer.out
    assert answer.out.endswith("wrong.goal: not sound, findings: 2\n")
    data = json.loads(incast("workload", "lint", str(wrong), "--json").out)
    assert data[0]["counts"] == {"E05": 2}
    assert data[0]["findings"][0]["place"] == "0:1"
    assert [one.code for one in Workload.load(wrong).lint()] == ["E05", "E05"]


def test_many_findings_of_a_code_are_counted(tmp_path: Path, incast: Command) -> None:
    (tmp_path / "many.goal").write_text("num_ranks 1\nrank 0 {\n" + "send 9b to 5\n" * 40 + "}\n")
    answer = incast("workload", "lint", "many.goal")
    assert answer.out.splitlines()[-2:] == ["many.goal: 24 more of E04", "many.goal: not sound, findings: 40"]


def test_warnings_leave_the_status_at_zero_and_follow_options(step: Path, incast: Command) -> None:
    few = incast("workload", "lint", str(step), "--gpus", "8", "--packet", "2MB")
    assert (few.status, "W04: 2 ranks, 8 GPUs" in few.out, "W06: of 1 messages 1 are below" in few.out) == (
        0,
        True,
        True,
    )
    assert "E10: a message of 1000000 B" in incast("workload", "lint", str(step), "--most", "999999B").out


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "line 1, column 1: the file ends here"),
        ("num_ranks 1\nrank 0 {\na: work\n}\n", 'line 3, column 4: "work"'),
        ("num_ranks 99999999999\n", "which takes"),
    ],
)
def test_a_file_with_an_error_is_refused_with_its_place(text: str, words: str, tmp_path: Path, incast: Command) -> None:
    (tmp_path / "job.goal").write_text(text)
    for command in (["stats"], ["bound"], ["convert", "--out", "new.bin"], ["expand", "--out", "new.bin"]):
        incast("workload", *command, "job.goal").refused("error: job.goal, line ", words)
    with pytest.raises(ScenarioError, match="job.goal, line"):
        Workload.load(tmp_path / "job.goal")
    assert not (tmp_path / "new.bin").exists()


def test_what_is_no_file_is_refused(tmp_path: Path, incast: Command) -> None:
    incast("workload", "stats", "none").refused("none, job: none: No such file or directory")
    incast("workload", "stats", ".").refused("no plain file")
    incast("workload", "stats", "none", "--format", "xml").refused('format "xml": expected goal, bin, simai, chakra')


def test_a_workload_of_simai_expands(tmp_path: Path, incast: Command) -> None:
    (tmp_path / "gpt.txt").write_text(SIMAI)
    job = Workload.load(tmp_path / "gpt.txt", gpus=8)
    assert (job.ranks, job.stats()["collectives"], job.lint()) == (8, 6, [])
    tree = {"all-reduce": Method(algorithm="tree")}
    assert job.expanded(tree).stats()["bytes_by_kind"]["send"] == 2 * 3 * 2 * 4096 + 4 * 2 * 8192
    with pytest.raises(ScenarioError, match="GOAL has no collectives"):
        job.write(tmp_path / "gpt.bin")
    stages = tmp_path / "stages.txt"
    stages.write_text(SIMAI.replace(": 4\n", ": 2 pp: 2\n").replace("4096", "100"))
    assert incast("workload", "stats", "stages.txt", "--gpus", "8", "--as-simai").status == 0
    assert Workload.load(stages, gpus=8, as_simai=True).stats()["bytes_by_kind"] == {"collective": 8 * (4096 + 8192)}
    words = ["--gpus", "8", "--set", "all-reduce.algorithm=tree", "--set", "all-reduce.chunk=1kB", "--out"]
    assert incast("workload", "expand", "gpt.txt", *words, "gpt.bin").status == 0
    assert incast("workload", "lint", "gpt.bin").status == 0
    assert incast("workload", "convert", "gpt.txt", "--out", "plain.bin", "--gpus", "8").status == 0
    incast("workload", "expand", "gpt.bin", "--out", "again.bin").refused("gpt.bin: no collectives")
    incast("workload", "expand", "gpt.txt", "--out", "x.bin", "--set", "all-reduce").refused(
        "expected COLLECTIVE.KEY=VALUE"
    )
    incast("workload", "expand", "gpt.txt", "--out", "x.bin", "--set", "sum.chunk=1kB").refused(
        'collective "sum": expected'
    )


def test_execution_traces_are_read_by_prefix(tmp_path: Path, incast: Command) -> None:
    attributes = b"\x52\x0e\x0a\x09is_cpu_op\xd8\x01\x00\x52\x0d\x0a\x09comm_type\x48\x02"
    attributes += b"\x52\x0f\x0a\x09comm_size\x48\x80\x80\x40"
    for rank in range(4):
        number = bytes([8, rank]) if rank else b""
        node = number + b"\x12\x14all_gather_4npus_1MB\x18\x07" + attributes
        (tmp_path / f"trace.{rank}.et").write_bytes(b"\x07\x0a\x050.0.4" + bytes([len(node)]) + node)
    answer = incast("workload", "lint", "trace")
    assert (answer.status, answer.out.count("warning W05")) == (0, 1)
    assert incast("workload", "convert", "trace", "--out", "trace.bin", "--all-gather", "total").status == 0
    assert Workload.load(tmp_path / "trace.bin").stats()["bytes_by_kind"]["send"] == 4 * 3 * 2**18
    assert "W05" not in incast("workload", "lint", "trace", "--all-gather", "shard").out
    sizes = [Workload.load(tmp_path / "trace.2.et", totals=totals).stats()["bytes_by_kind"] for totals in (False, True)]
    assert sizes == [{"collective": 4 * 4 * 2**20}, {"collective": 4 * 2**20}]
    incast("workload", "lint", "trace", "--all-gather", "half").refused('--all-gather "half": expected shard or total')


def test_an_algorithm_of_msccl_takes_the_size_of_its_buffer(tmp_path: Path, incast: Command) -> None:
    """A broadcast of two chunks from GPU 0."""
    (tmp_path / "two.xml").write_text(
        "<algo ngpus='2' nchunksperloop='2'><gpu id='0'><tb id='0' send='1' recv='-1' chan='1'>"
        "<step s='0' type='s' cnt='1'/><step s='1' type='s' cnt='1'/></tb></gpu>"
        "<gpu id='1'><tb id='0' send='-1' recv='0' chan='1'>"
        "<step s='0' type='r' cnt='1'/><step s='1' type='r' cnt='1'/></tb></gpu></algo>"
    )
    assert "--size 16MiB" in incast("workload", "lint", "two.xml").out
    done = incast("workload", "convert", "two.xml", "--size", "3kB", "--out", "two.goal")
    assert done.status == 0, done.err
    sends = "l0: send 1500b to 1 tag 1\nl1: send 1500b to 1 tag 1\nl1 irequires l0\n"
    assert sends in (tmp_path / "two.goal").read_text()
    for words in (["isolate", "two.xml", "--ranks", "0-1"], ["expand", "two.xml"], ["stats", "two.xml"]):
        out = [] if words[0] == "stats" else ["--out", f"{words[0]}.goal"]
        incast("workload", *words, *out).refused("--size 16MiB of incast workload")
    done = incast("workload", "isolate", "two.xml", "--ranks", "0-1", "--size", "3kB", "--out", "both.goal")
    assert done.status == 0, done.err
    assert (tmp_path / "both.goal").read_text() == (tmp_path / "two.goal").read_text()
    incast("workload", "expand", "two.xml", "--size", "3kB", "--out", "x.goal").refused("two.xml: no collectives")
    job = Workload.load(tmp_path / "two.xml", size=3000)
    assert job.stats()["bytes_by_kind"]["send"] == 3000


def test_a_collective_has_its_ideal_time(incast: Command, tmp_path: Path) -> None:
    asked = ["workload", "collective", "all-reduce", "n=16", "size=16MiB", "--latency", "1us", "--rate", "100Gbps"]
    found = json.loads(incast(*asked, "--json", "--out", "ring.bin").out)
    assert found["ideal_ps"] == found["bound_ps"] == 30 * (1_000_000 + 83_886_080)
    assert found["bus_factor"] == 1.875
    assert Workload.load(tmp_path / "ring.bin").tasks == 16 * 62
    for words in (["algorithm=tree"], ["channels=2", "chunk=64kB"]):
        assert "no formula" in incast(*asked, *words).out
    for words in (["chunk=64kB"], ["reduce=8Gbps"]):
        found = json.loads(incast(*asked, *words, "--json").out)
        assert found["ideal_ps"] == found["bound_ps"] > 30 * (1_000_000 + 83_886_080)
    incast(*asked[:-1], "0bps").refused("rate = 0bps: expected a rate above 0")
    barrier = incast("workload", "collective", "barrier", "n=8")
    assert "ideal time             3 µs" in barrier.out


@pytest.mark.parametrize(
    ("words", "refused"),
    [
        (["sum", "n=4", "size=1kB"], 'collective "sum": expected all-reduce'),
        (["all-reduce", "n=x", "size=1kB"], 'n = "x": expected a whole number'),
        (["all-reduce", "n=4"], 'size = "": expected a size with a unit'),
        (["all-reduce", "n=4", "size=1kB", "tree"], '"tree": expected KEY=VALUE'),
        (["all-reduce", "n=4", "size=1kB", "rings=2"], 'key "rings": expected n, size, root, algorithm'),
        (["all-reduce", "n=4", "size=1kB", "algorithm=star"], 'algorithm "star": expected ring'),
        (["all-reduce", "n=6", "size=1kB", "algorithm=halving-doubling"], "n = 6: expected a power of two"),
        (["broadcast", "n=4", "size=1kB", "root=4"], "root = 4: expected a position below n = 4"),
        (["all-reduce", "n=4000", "size=1000GB", "chunk=1B"], "which takes"),
        (["all-reduce", "n=4", "size=1kB", "order=0,1,1,2"], "order: expected each position from 0 to 3 once"),
    ],
)
def test_a_collective_that_does_not_fit_is_refused(words: list[str], refused: str, incast: Command) -> None:
    incast("workload", "collective", *words).refused(refused)


def test_arguments_of_python_are_held_to_their_kinds() -> None:
    for n in (-1, 2**40, True, "4"):
        with pytest.raises(ScenarioError, match="n = .*: expected a whole number"):
            package.collective("all-reduce", n, "1kB")  # type: ignore[arg-type]
    with pytest.raises(ScenarioError, match='parameter "rings": expected one of algorithm'):
        package.collective("all-reduce", 4, "1kB", rings=2)
    with pytest.raises(ScenarioError, match="chunk: expected no parameters beside method"):
        package.collective("all-reduce", 4, 1, method=Method(), chunk="1B")
    with pytest.raises(ScenarioError, match="sizes: expected 2 rows of 2 bytes each"):
        package.collective("all-to-all", 2, sizes=[[0, 1, 4], [0]])
    with pytest.raises(ScenarioError, match="size = -1: expected a size of at least 0"):
        package.collective("all-reduce", 4, -1)
    job = package.collective("all-to-all", 4, 4096, algorithm="windowed", window=2)
    with pytest.raises(ScenarioError, match="latency = 1e\\+300"):
        job.bound(latency=1e300)


def test_loggops_has_the_times_of_loggopsim_and_of_its_copy() -> None:
    # dissemination of 16: four rounds of o + L + o, and g in the copy
    barrier = package.collective("barrier", n=16)
    assert barrier.loggops() == 22_000_000
    assert barrier.loggops(rules="htsim") == 26_000_000
    one = package.collective("broadcast", 2, "1MiB")
    asked = {"latency": "3700ns", "overhead": "200ns", "gap": "5ns", "gap_per_byte_ns": 0.08, "eager": 0}
    assert one.loggops(**asked, rules="htsim") == 87_991_000
    with pytest.raises(ScenarioError, match='rules = "ns3": expected loggopsim or htsim'):
        one.loggops(rules="ns3")
    with pytest.raises(ScenarioError, match="G = -1: expected a number of at least 0"):
        one.loggops(gap_per_byte_ns=-1)


def test_loggops_needs_messages_and_an_end(tmp_path: Path, incast: Command) -> None:
    (tmp_path / "gpt.txt").write_text(SIMAI)
    with pytest.raises(ScenarioError, match="LogGOPS has no collectives"):
        Workload.load(tmp_path / "gpt.txt", gpus=8).loggops()
    (tmp_path / "never.goal").write_text("num_ranks 1\nrank 0 {\nrecv 1b from 0\n}\n")
    never = Workload.load(tmp_path / "never.goal")
    with pytest.raises(ScenarioError, match="tasks that never end: 1 of 1"):
        never.loggops()
    assert never.stats()["path_ps"] is None
    assert "critical path          none: tasks never end" in incast("workload", "stats", "never.goal").out


def test_an_all_to_all_may_have_sizes_of_its_own() -> None:
    job = package.collective("all-to-all", 2, sizes=[[7, 100], [300, 7]])
    assert job.stats()["pairs"][0] == {"from": 1, "to": 0, "messages": 1, "bytes": 300}
    with pytest.raises(ScenarioError, match="sizes: expected 2 rows of 2 bytes each"):
        package.collective("all-to-all", 2, sizes=[[1, 2]])
    with pytest.raises(ScenarioError, match="sizes of all-reduce: expected all-to-all"):
        package.collective("all-reduce", 2, sizes=[[1, 2], [3, 4]])
    with pytest.raises(ScenarioError, match="sizes = -1: expected a whole number"):
        package.collective("all-to-all", 1, sizes=[[-1]])
