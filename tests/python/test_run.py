"""``incast run``: the run folder, what decides its bytes, and how it ends early."""

from __future__ import annotations

import errno
import json
import os
import resource
import shlex
import signal
import subprocess
import time
from itertools import groupby
from pathlib import Path

import pyarrow as pa
import pytest

from conftest import QUICK, Command, command, environment, left_in
from incast import FolderError, IncastError, Result, RunStopped, Scenario, WriteError
from incast.system.folders import new_folder, write_together
from incast.writing.numbers import duration, said

FILES = ["flows.parquet", "manifest.json", "ports.parquet", "samples.parquet", "scenario.toml", "summary.json"]
SHAPE = {
    "run": {"scenario", "seed", "sim_s", "hops", "version"},
    "flows": {
        *("count", "finished", "throughput_mean_bps", "goodput_total_bps", "delay_mean_s", "delay_p99_s"),
        *("rtt_mean_s", "rtt_p99_s", "loss_mean_pct", "loss_total_pct", "delivery_pct", "jain"),
        *("retransmissions", "timeouts"),
    },
    "fct": {"mean_s", "p50_s", "p95_s", "p99_s", "max_s", "slowdown_mean", "slowdown_p99"},
    "queues": {"drops", "marks", "busiest"},
    "groups": set(),
    "flowmonitor": {"throughput_kibps", "delay_s", "loss_pct"},
}


def quick(name: str = "dumbbell") -> Scenario:
    return Scenario.load(name).with_({"run.duration": "30ms", "run.warmup": "10ms"})


def test_run_folder_has_its_files_and_the_summary_its_shape(incast: Command, tmp_path: Path) -> None:
    answer = incast("run", "dumbbell", *QUICK, "--out", "result")
    assert answer.status == 0, answer.err
    assert answer.err == ""  # progress is for terminals
    assert "throughput per flow" in answer.out
    assert left_in(tmp_path) == ["result"]
    assert left_in(tmp_path / "result") == FILES
    summary = json.loads((tmp_path / "result/summary.json").read_text())
    for part, figures in SHAPE.items():
        assert figures <= summary[part].keys()
    assert "cost" not in summary
    manifest = json.loads((tmp_path / "result/manifest.json").read_text())
    assert manifest["cost"].keys() == {
        "wall_s",
        "cpu_s",
        "hops_per_cpu_s",
        "peak_rss_bytes",
        "threads",
        "threads_cpu_s",
    }
    assert manifest["seed"] == summary["run"]["seed"]


@pytest.mark.extended(part="python")
def test_a_run_at_a_terminal_names_the_next_commands(incast: Command, tmp_path: Path) -> None:
    """Each of them is tried as it stands there; rich takes anything for a terminal where a variable says so."""
    words = command(["run", "dumbbell", *QUICK, "--out", "a b"])
    terminal = environment() | {"TTY_COMPATIBLE": "1"}
    told = subprocess.run(words, cwd=tmp_path, env=terminal, capture_output=True, text=True, check=True).stderr
    lines = [shlex.split(line) for line in told.partition("next: ")[2].splitlines()]
    named = [list(group) for line in lines for cut, group in groupby(line, "&&".__eq__) if not cut]
    assert [line[:2] for line in named] == [["incast", "plot"], ["incast", "run"], ["incast", "view"]]
    for one in named:
        assert incast(*one[1:]).status == 0
    assert "over-time.png" in left_in(tmp_path / "a b")
    assert "view.html" in left_in(tmp_path / "a b-timed")


def test_json_is_the_summary_with_its_cost(incast: Command, tmp_path: Path) -> None:
    answer = incast("run", "dumbbell", *QUICK, "--out", "result", "--json")
    printed = json.loads(answer.out)
    assert printed.pop("cost")["cpu_s"] > 0
    assert printed == json.loads((tmp_path / "result/summary.json").read_text())


QUERIES = ["run", "linux-incast", "--set", "run.duration=600ms"]
WRITES = 'traffic.app={kind="closed-loop",write="20kB",count=5}'


def printed_rows(text: str) -> dict[str, str]:
    """Read the table of a run."""
    cells = [line.strip("│").split("│") for line in text.splitlines() if line.startswith("│")]
    return {name.strip(): value.strip() for name, value in cells}


def test_queries_are_in_the_table_of_a_run_and_of_its_report(incast: Command, tmp_path: Path) -> None:
    ran = incast(*QUERIES, "--out", "r")
    assert ran.status == 0, ran.err
    queries = Result.load(tmp_path / "r").summary["queries"]
    finished, count = queries["finished"], queries["count"]
    assert 1 < finished < count
    rows = printed_rows(ran.out)
    assert (rows["queries"], rows["with a timeout"]) == (str(count), str(queries["with_timeout"]))
    for name, key in (("mean", "mean_at_least_s"), ("max", "p99_at_least_s")):
        assert rows[f"completion time, {name}"] == f"≥ {said(duration(queries[key]))}"
    assert (
        f"\n{finished} of {count} queries finished; figures that the others could still change are bounds\n" in ran.out
    )
    assert "writes" not in ran.out
    assert incast("report", "r").out == ran.out


def test_of_queries_none_of_which_finished_there_are_bounds_alone(incast: Command) -> None:
    ran = incast(*QUERIES, "--set", "run.duration=301ms", "--out", "r")
    assert ran.status == 0, ran.err
    assert "\n0 of 1 queries finished\n" in ran.out
    rows = printed_rows(ran.out)
    assert all(rows[f"completion time, {name}"].startswith("≥ ") for name in ("mean", "max"))
    assert "with a timeout" not in ran.out


def test_writes_are_in_the_table_of_a_run(incast: Command, tmp_path: Path) -> None:
    ran = incast("run", "dumbbell", *QUICK, "--set", WRITES, "--out", "r")
    assert ran.status == 0, ran.err
    writes = Result.load(tmp_path / "r").summary["writes"]
    assert writes["finished"] == writes["count"] == 10
    rows = printed_rows(ran.out)
    assert rows["writes"] == "10"
    assert rows["completion time, max"] == said(duration(writes["p99_s"])), "p99 of 10 is the largest"
    assert "completion time, p99" not in rows
    assert " of 10 " not in ran.out
    assert "queries" not in ran.out


def test_default_folder_names_scenario_seed_and_hash(incast: Command, tmp_path: Path) -> None:
    assert incast("run", "dumbbell", *QUICK, "--seed", "7", "--quiet").status == 0
    (name,) = left_in(tmp_path / "runs")
    stem, seed, digest = name.rsplit("-", 2)
    assert (stem, seed) == ("dumbbell", "7")
    assert int(digest, 16) >= 0


def test_the_default_folder_is_one_of_runs_whatever_the_scenario_is_called(incast: Command, tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "scenarios" / "dumbbell.toml").read_text()
    (tmp_path / "own.toml").write_text(f'name = "../../{"far/" * 60}"\n{text}')
    assert incast("run", "own.toml", *QUICK).status == 0
    (folder,) = (tmp_path / "runs").iterdir()
    assert "/" not in folder.name and len(folder.name) <= 120


def test_same_seed_same_bytes_and_other_seed_other_bytes(incast: Command, tmp_path: Path) -> None:
    for name, seed in [("a", "1"), ("b", "1"), ("c", "2")]:
        assert incast("run", "random-hotspot", *QUICK, "--seed", seed, "--out", name, "--quiet").status == 0
    for file in FILES:
        if file != "manifest.json":
            a, b, c = ((tmp_path / name / file).read_bytes() for name in "abc")
            assert a == b, file
    assert (tmp_path / "a/summary.json").read_bytes() != (tmp_path / "c/summary.json").read_bytes()


def test_the_resolved_scenario_repeats_the_run(incast: Command, tmp_path: Path) -> None:
    assert incast("run", "random-pairs", *QUICK, "--seed", "5", "--out", "a", "--quiet").status == 0
    assert incast("run", "a/scenario.toml", "--out", "b", "--quiet").status == 0
    for file in FILES:
        if file != "manifest.json":
            assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes(), file


def test_python_gives_the_same_as_the_command_line(incast: Command, tmp_path: Path) -> None:
    assert incast("run", "dumbbell", *QUICK, "--seed", "3", "--out", "a", "--quiet").status == 0
    here, there = quick().run(seed=3), Result.load(tmp_path / "a")
    assert here.summary_json == there.summary_json
    assert here.toml == there.toml
    assert here.flows.equals(there.flows)
    assert here.ports.equals(there.ports)


def test_tables_carry_units_and_definitions(tmp_path: Path) -> None:
    quick().run().save(tmp_path / "r")
    for table in (quick().run().flows, Result.load(tmp_path / "r").flows):
        field = table.schema.field("throughput_bps")
        assert field.metadata[b"unit"] == b"bit/s"
        assert b"measured" in field.metadata[b"definition"]


def test_flows_add_up_to_the_summary() -> None:
    result = quick().run()
    flows = result.flows
    assert flows.num_rows == result.summary["flows"]["count"]
    sent, dropped = sum(flows["sent_packets"].to_pylist()), sum(flows["dropped"].to_pylist())
    assert sent > 0
    assert result.summary["flows"]["loss_total_pct"] == pytest.approx(100 * dropped / sent)


def test_progress_counts_up_and_can_stop_a_run() -> None:
    seen: list[float] = []

    def stop(now_s: float, end_s: float, hops: int) -> bool:
        seen.append(now_s)
        return len(seen) < 2

    with pytest.raises(RunStopped):
        Scenario.load("random-pairs").with_({"run.duration": "100s"}).run(progress=stop)
    assert len(seen) == 2
    assert 0 < seen[0] < seen[1] < 100


def test_an_error_in_the_progress_callback_comes_out_of_the_run() -> None:
    def broken(*_: object) -> bool:
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        Scenario.load("random-pairs").with_({"run.duration": "100s"}).run(progress=broken)


def test_runs_in_threads_go_on_side_by_side_with_python() -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(quick("random-pairs").run, seed) for seed in (1, 2)]
        found = [future.result().summary_json for future in both]
    assert found == [quick("random-pairs").run(seed).summary_json for seed in (1, 2)]


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_the_program_and_leaves_nothing(tmp_path: Path, stop: signal.Signals) -> None:
    words = command(["run", "random-pairs", "--set", "run.duration=1000s", "--out", "result"])
    process = subprocess.Popen(
        words, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    while not left_in(tmp_path):  # the folder aside appears just before the engine starts
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    time.sleep(0.5)
    process.send_signal(stop)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 128 + stop, (out, err)
    assert "interrupted" in err
    assert "restart with: incast run random-pairs --set run.duration=1000s --out result" in err
    assert "Traceback" not in err
    assert left_in(tmp_path) == []


def test_full_disk_ends_with_status_1_and_leaves_nothing(incast: Command, tmp_path: Path) -> None:
    def small_files_only() -> None:
        # The kernel refuses to write past 2 kB a file, in the middle of one: as a full disk does.
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))

    answer = incast("run", "random-pairs", *QUICK, "--out", "result", preexec=small_files_only)
    answer.failed(1, "cannot write the results", "no half-written result")
    assert left_in(tmp_path) == []


def test_no_space_left_removes_what_was_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    done = quick().run()
    monkeypatch.setattr("pyarrow.parquet.write_table", full)
    told = f"cannot write {tmp_path}/result/flows.parquet: No space left on device; no half-written"
    with pytest.raises(WriteError, match=told):
        done.save(tmp_path / "result")
    assert left_in(tmp_path) == []


def test_files_that_belong_together_stay_what_they_were_on_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_together(tmp_path, {"a.html": "before", "b.png": b"before"})
    sync = os.fsync

    def full(descriptor: int) -> None:
        if "b.png" in str(Path(f"/proc/self/fd/{descriptor}").readlink()):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(descriptor)

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(IncastError, match=f"cannot write {tmp_path}/b.png: No space left on device") as refused:
        write_together(tmp_path, {"a.html": "after", "b.png": b"after"})
    assert isinstance(refused.value, OSError) and refused.value.errno == errno.ENOSPC
    assert left_in(tmp_path) == ["a.html", "b.png"]
    assert (tmp_path / "a.html").read_text() == "before"


def test_a_folder_filled_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    target = tmp_path / "result"
    with pytest.raises(FolderError, match="not empty"), new_folder(target) as aside:
        (aside / "mine").touch()
        target.mkdir()
        (target / "theirs").touch()
    assert left_in(tmp_path) == ["result"]
    assert left_in(target) == ["theirs"]


def test_an_empty_folder_may_be_given(incast: Command, tmp_path: Path) -> None:
    (tmp_path / "result").mkdir()
    assert incast("run", "dumbbell", *QUICK, "--out", "result", "--quiet").status == 0
    assert left_in(tmp_path / "result") == FILES


def test_the_same_run_again_is_told_apart_from_a_strange_folder(incast: Command, tmp_path: Path) -> None:
    assert incast("run", "dumbbell", *QUICK, "--quiet").status == 0
    (name,) = left_in(tmp_path / "runs")
    assert "this run is already in" in incast("run", "dumbbell", *QUICK).err
    incast("run", "dumbbell", *QUICK, "--seed", "9", "--out", f"runs/{name}").refused("not empty")


def test_report_of_a_run_prints_its_table_again(incast: Command, tmp_path: Path) -> None:
    first = incast("run", "dumbbell", *QUICK, "--out", "r")
    again = incast("report", "r")
    assert (again.status, again.out) == (0, first.out)


def test_a_link_to_an_empty_folder_is_filled_where_it_leads(incast: Command, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to("there")
    assert incast("run", "dumbbell", *QUICK, "--out", "link", "--quiet").status == 0
    assert (tmp_path / "link").is_symlink()
    assert left_in(tmp_path / "there") == FILES


def test_damaged_and_missing_files_of_a_run_folder(tmp_path: Path) -> None:
    quick().run().save(tmp_path / "r")
    (tmp_path / "r/flows.parquet").write_bytes(b"PAR1 no table")
    (tmp_path / "r/ports.parquet").unlink()
    result = Result.load(tmp_path / "r")
    with pytest.raises(FolderError, match="flows.parquet cannot be read"):
        _ = result.flows
    with pytest.raises(FolderError, match="no ports.parquet"):
        _ = result.ports
    whole = (tmp_path / "r/summary.json").read_text()
    (tmp_path / "r/summary.json").write_text("{")
    with pytest.raises(FolderError, match="summary.json is damaged"):
        Result.load(tmp_path / "r")
    for no_summary in ("[]", "{}", '{"flows": {}}', '{"run": 3}'):
        (tmp_path / "r/summary.json").write_text(no_summary)
        with pytest.raises(FolderError, match=r"summary.json is damaged: it lacks .*: run the scenario again"):
            Result.load(tmp_path / "r")
    (tmp_path / "r/summary.json").write_text(whole)
    (tmp_path / "r/manifest.json").write_text('{"format": 1}')
    with pytest.raises(FolderError, match=r"manifest.json lacks hash, seed, engine, cost: run the scenario again"):
        Result.load(tmp_path / "r")


def test_scenarios_are_equal_when_they_resolve_to_the_same() -> None:
    assert quick() == quick()
    assert len({quick(), quick(), quick().with_seed(9)}) == 2
    assert quick() != quick().with_({"traffic.flows": 1})
    assert quick() != "dumbbell"


def test_load_takes_names_and_paths_only() -> None:
    with pytest.raises(TypeError, match="not int"):
        Scenario.load(3)  # type: ignore[arg-type]


@pytest.mark.extended(part="python")
def test_a_form_beside_the_transport_of_another_reference_is_noted(incast: Command) -> None:
    short = ["--set", "run.duration=1ms", "--set", "run.warmup=0s"]
    told = 'note: controller.form = "yasomam" belongs beside transport.preset = "ns3", here it is "linux"'
    changed = ["--set", "controller=swift:form=yasomam"]
    answer = incast("run", "dumbbell", *short, *changed, "--out", "told")
    assert answer.status == 0
    assert answer.err.count("note: ") == 1
    assert told in answer.err
    answer = incast("run", "dumbbell", *short, *changed, "--out", "quiet", "--quiet")
    assert told in answer.err
    assert answer.out == ""
    answer = incast(
        "compare", "dumbbell", *short, "--cc", "swift:form=yasomam", "--vary", "traffic.flows=1,2", "--out", "c"
    )
    assert answer.status == 0
    assert answer.err.count("note: ") == 1
    assert told in answer.err


def test_the_order_of_settings_does_not_matter() -> None:
    changes = {
        "controller.g": 0.5,
        "transport.mss": 1448,
        "controller.form": "linux",
        "transport.preset": "htsim",
        "controller.kind": "dctcp",
        "controller": "swift:form=htsim",
    }
    there, back = (Scenario.load("hotspot").with_(dict(sets)) for sets in (changes.items(), reversed(changes.items())))
    assert there == back
    resolved = there.resolved()
    assert resolved["transport"]["mss"] == 1448
    assert (resolved["controller"]["form"], resolved["controller"]["g"]) == ("linux", 0.5)


def test_flows_that_never_start_are_noted(incast: Command) -> None:
    late = ["--set", "run.duration=1ms", "--set", "run.warmup=0s", "--set", "traffic.start=2s"]
    for words in (["run", "dumbbell"], ["compare", "dumbbell", "--cc", "dctcp", "--vary", "traffic.flows=2"]):
        answer = incast(*words, *late, "--out", words[0], "--quiet")
        assert answer.status == 0, answer.err
        assert answer.err.count("starts: the first would open at 2s, and the run ends at run.duration, 1ms") == 1


def test_ports_that_wait_for_each_other_are_named() -> None:
    names = ["a>b", "b>c", "c>a", "h0>a", "h1>b", "h2>c"]
    ports = pa.table({"port": names, "deadlocked_s": [2e-6, 1e-6, 3e-6, 4e-6, 5e-6, None]})
    summary = json.dumps({"queues": {"deadlocked": 5}, "fct": {"finished": 0, "count": 0}})
    assert Result({}, "traffic = []", summary, {"ports": ports}.__getitem__).notes() == [
        "priority flow control ended in a deadlock: these ports stay paused forever: b>c (since 1 µs), "
        "a>b (since 2 µs), c>a (since 3 µs), h0>a (since 4 µs) and 1 more"
    ]
    # also of folders that an earlier version left
    for queues in ({"deadlocked": 0}, {}):
        assert (
            Result(
                {},
                "traffic = []",
                json.dumps({"queues": queues, "fct": {"finished": 0, "count": 0}}),
                {"ports": ports}.__getitem__,
            ).notes()
            == []
        )


def test_pauses_and_datagrams_among_the_figures_are_told(incast: Command, tmp_path: Path) -> None:
    small = ["--set", "traffic.incast.app.size=100kB", "--set", "run.duration=200us"]
    answer = incast("run", "pfc-incast", *small, "--out", "r")
    assert answer.status == 0, answer.err
    assert "the totals include the datagrams of victim, which have no RTT and no completion time" in answer.err
    queues = json.loads((tmp_path / "r/summary.json").read_text())["queues"]
    assert queues["pauses"] > 0
    shown = {row.split("│")[1].strip(): row.split("│")[2].strip() for row in answer.out.splitlines() if "│" in row}
    assert shown["pauses by flow control"] == f"{queues['pauses']:,d}"
    assert shown["time paused, all ports"] == said(duration(queues["paused_s"]))
    # thousands are no powers of ten
    assert "e+" not in answer.out
    answer = incast("run", "dumbbell", "--set", "run.duration=20ms", "--set", "run.warmup=5ms", "--out", "d")
    assert "pauses" not in answer.out
    assert "datagrams" not in answer.err
