"""The timeline of a run: what every port does in each frame."""

from __future__ import annotations

import json
import math
import re
import zlib
from itertools import pairwise
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import incast
from conftest import Command
from incast.runs.scenario import ROW_BYTES, ROW_S

FILES = (*(f"timeline_{part}.parquet" for part in ("ports", "flows", "events", "paths")), "timeline.json")


def scenario(**changes: object) -> incast.Scenario:
    asked = {"run.warmup": "0s", "run.duration": "4ms", "measure.timeline": "auto", **changes}
    return incast.Scenario.load("dumbbell").with_(asked)


def test_a_run_has_no_timeline_unless_one_is_asked_for(tmp_path: Path) -> None:
    scenario().run().save(tmp_path / "on")
    plain = incast.Scenario.load("dumbbell").with_({"run.warmup": "0s", "run.duration": "4ms"})
    plain.run().save(tmp_path / "off")
    assert all((tmp_path / "on" / name).exists() for name in FILES)
    assert not any((tmp_path / "off" / name).exists() for name in FILES)
    for name in ("summary.json", "ports.parquet", "flows.parquet"):
        assert (tmp_path / "on" / name).read_bytes() == (tmp_path / "off" / name).read_bytes()


@pytest.mark.parametrize("transport", ["ndp", "homa"])
def test_a_timeline_changes_nothing_at_hosts_whose_packets_wait_for_their_wire(tmp_path: Path, transport: str) -> None:
    # a host's next packet comes at the instant at which the one before has left its port
    one = '{ kind = "drop-tail", limit = "1p" }'
    priorities = f'kind = "strict-priority"\nclasses = [{", ".join([one] * 8)}]'
    queue = 'kind = "trimming"\nlimit = "1p"' if transport == "ndp" else priorities
    text = f"""
controller = "newreno"
run = {{ duration = "1ms" }}
transport = {{ preset = "{transport}" }}
traffic = [{{ name = "x", pattern = "pairs", flows = 2, app = {{ kind = "bulk", size = "300kB" }} }}]
[queue]
count_in_service = true
{queue}
[topology]
kind = "star"
sources = 2
source_link = {{ rate = "10Gbps", delay = "1us" }}
sink_link = {{ rate = "10Gbps", delay = "1us" }}
"""
    off = incast.Scenario.from_toml(text)
    off.run().save(tmp_path / "off")
    off.with_({"measure.timeline": "auto"}).run().save(tmp_path / "on")
    for name in ("summary.json", "ports.parquet", "flows.parquet"):
        assert (tmp_path / "on" / name).read_bytes() == (tmp_path / "off" / name).read_bytes()


def test_frames_add_up_to_what_ports_say_of_the_whole_run(tmp_path: Path) -> None:
    # the queue is too small: packets are dropped; all that is measured is the whole run
    scenario(queue={"kind": "drop-tail", "limit": "60p"}, controller="newreno").run().save(tmp_path / "run")
    frames = pq.read_table(tmp_path / "run" / "timeline_ports.parquet")
    told = json.loads((tmp_path / "run" / "timeline.json").read_text())
    assert 1000 <= told["frames"] <= 2000
    assert pc.max(frames["frame"]).as_py() < told["frames"]
    sums = {row["port"]: row for row in frames.group_by("port").aggregate(
        [("drops", "sum"), ("marks", "sum"), ("busy", "sum"), ("queue_max_bytes", "max")]
    ).to_pylist()}  # fmt: skip
    ports = pq.read_table(tmp_path / "run" / "ports.parquet").to_pylist()
    assert sum(port["lost_total"] for port in ports) > 0
    for number, port in enumerate(ports):
        row = sums.get(number, {"drops_sum": 0, "marks_sum": 0, "busy_sum": 0, "queue_max_bytes_max": 0})
        assert row["drops_sum"] == port["lost_total"]
        assert row["marks_sum"] == port["marks"]
        assert row["queue_max_bytes_max"] == port["queue_max_bytes"]
        # frames have one length, but for the last: that of half a frame moves the mean by 1 in 2,000
        assert row["busy_sum"] / told["frames"] == pytest.approx(port["utilisation"], abs=1e-3)


def test_frames_of_flows_add_up_to_what_each_got(tmp_path: Path) -> None:
    scenario(queue={"kind": "drop-tail", "limit": "60p"}, controller="newreno").run().save(tmp_path / "run")
    frames = pq.read_table(tmp_path / "run" / "timeline_flows.parquet")
    told = json.loads((tmp_path / "run" / "timeline.json").read_text())
    assert pc.max(frames["frame"]).as_py() < told["frames"]
    sums = {row["flow"]: row["delivered_bytes_sum"]
            for row in frames.group_by("flow").aggregate([("delivered_bytes", "sum")]).to_pylist()}  # fmt: skip
    flows = pq.read_table(tmp_path / "run" / "flows.parquet").to_pylist()
    assert {flow["flow"]: flow["delivered_bytes"] for flow in flows} == sums
    # losses end slow start
    assert {0, 1, 2} <= set(frames["state"].to_pylist()) <= {0, 1, 2, 3, 4}
    assert frames["cwnd_bytes"].null_count == 0


def test_a_view_has_flows_over_time(tmp_path: Path) -> None:
    from incast.view.packing import Pack
    from incast.view.reading import described
    from incast.view.sources import Folder

    scenario().run().save(tmp_path / "run")
    pack = Pack()
    seen = described(Folder(tmp_path / "run"), "run", pack)
    assert all(seen[part] is not None for part in ("by_flow", "events", "paths"))
    told = json.loads(zlib.decompress(pack[seen["told"]]))
    assert (told["label"], told["missing"]) == ("run", [])


def events(result: incast.Result, kind: str) -> list[tuple[float, int, str]]:
    rows = result.timeline_events.to_pylist()
    return [(row["time_s"], row["subject"], row["what"]) for row in rows if row["kind"] == kind]


def test_events_of_flows_are_those_of_their_records() -> None:
    small = {"kind": "drop-tail", "limit": "4p"}
    result = incast.Scenario.load("incast").with_({"measure.timeline": "auto", "queue": small}).run()
    flows = result.flows.to_pylist()
    assert [flow for _, flow, what in events(result, "flow-start") if what == "flow"] == [row["flow"] for row in flows]
    ends = sorted((row["finish_s"], row["flow"]) for row in flows if row["finish_s"] is not None)
    assert [(time, flow) for time, flow, _ in events(result, "flow-end")] == ends
    assert len(events(result, "timeout")) == sum(row["timeouts"] for row in flows) > 0
    queries = [row["start_s"] for row in result.queries.to_pylist()]
    assert [time for time, _, _ in events(result, "query")] == sorted(queries)
    times = result.timeline_events["time_s"].to_pylist()
    assert times == sorted(times)


def test_failures_and_repairs_are_events_of_their_ports() -> None:
    result = incast.Scenario.load("link-failure").with_({"measure.timeline": "auto"}).run()
    ports = result.ports["port"].to_pylist()
    told = {kind: [(time, ports[port], what) for time, port, what in events(result, kind)]
            for kind in ("failure", "repair")}  # fmt: skip
    names = [name for _, name, _ in told["failure"]]
    assert len(names) > 0 and all(what == "port" for _, _, what in told["failure"])
    # both ways of a link fail together
    assert {tuple(reversed(name.split(">"))) for name in names} == {tuple(name.split(">")) for name in names}
    assert sorted(name for _, name, _ in told["repair"]) == sorted(names)
    assert all(failed < repaired for (failed, *_), (repaired, *_) in zip(told["failure"], told["repair"], strict=True))


def test_a_storm_is_there_while_pauses_spread_over_a_switch() -> None:
    result = incast.Scenario.load("pfc-incast").with_({"measure.timeline": "auto"}).run()
    begins, ends = events(result, "pause-storm"), events(result, "pause-storm-end")
    assert len(begins) == len(ends) > 0
    told = json.loads(result.timeline_json or "")
    frame_s, ports = told["frame_s"], told["ports"]
    paused: dict[int, set[int]] = {}
    for row in result.timeline_ports.to_pylist():
        if row["paused"] > 0:
            paused.setdefault(row["frame"], set()).add(row["port"])
    spread = {frame for frame, held in paused.items()
              if {ports[port]["from"] for port in held} & {ports[port]["to"] for port in held}}  # fmt: skip
    storms = [(round(one / frame_s), round(two / frame_s)) for (one, *_), (two, *_) in zip(begins, ends, strict=True)]
    assert spread == {frame for frame in spread for one, two in storms if one <= frame < two}
    assert all(one in spread and two - 1 in spread for one, two in storms)
    assert all(two[0] - one[1] >= 10 for one, two in pairwise(storms))
    assert all(what == "port" and port in paused[round(time / frame_s)] for time, port, what in begins)


def test_no_port_is_paused_for_longer_than_a_frame_lasts() -> None:
    result = incast.Scenario.load("pfc-incast").with_({"measure.timeline": "auto", "run.warmup": "0s"}).run()
    frame_s = json.loads(result.timeline_json or "")["frame_s"]
    frames = result.timeline_ports
    assert pc.max(frames["paused"]).as_py() == 1
    sums = {row["port"]: row["paused_sum"] * frame_s
            for row in frames.group_by("port").aggregate([("paused", "sum")]).to_pylist()}  # fmt: skip
    for number, paused_s in enumerate(result.ports["paused_s"].to_pylist()):
        assert sums.get(number, 0) == pytest.approx(paused_s, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("choice", ["ecmp", "spray"])
def test_paths_are_those_that_packets_take(choice: str) -> None:
    asked = {"measure.timeline": "10us", "measure.trace": [0, 1, 2], "run.duration": "200us"}
    result = incast.Scenario.load("permutation").with_({**asked, "routing": {"kind": choice}}).run()
    names = result.ports["port"].to_pylist()
    seen = {row["flow"]: [] for row in result.trace.to_pylist()}  # type: dict[int, list[str]]
    for row in result.trace.to_pylist():
        if row["payload_bytes"] > 0 and row["event"] in ("enqueue", "mark") and row["place"] not in seen[row["flow"]]:
            seen[row["flow"]].append(row["place"])
    paths = result.timeline_paths.to_pylist()
    for flow, places in seen.items():
        own = [row for row in paths if row["flow"] == flow]
        assert [row["position"] for row in own] == sorted(row["position"] for row in own)
        if choice == "ecmp":
            assert [names[row["port"]] for row in own] == places
            assert not any(row["sprayed"] for row in own)
        else:
            # so many packets take each of 16 ways
            assert {names[row["port"]] for row in own} == set(places)
            ends = (own[0]["position"], own[-1]["position"])
            assert all(bool(row["sprayed"]) == (row["position"] not in ends) for row in own)


def test_the_network_is_told_in_the_order_of_ports() -> None:
    result = scenario().run()
    assert result.timeline_json is not None
    told = json.loads(result.timeline_json)
    names = [node["name"] for node in told["nodes"]]
    links = [f"{names[port['from']]}>{names[port['to']]}" for port in told["ports"]]
    assert links == result.ports["port"].to_pylist()
    assert {node["name"]: node["tier"] for node in told["nodes"]} == {
        "s0": 0, "s1": 0, "r0": 0, "r1": 0, "left": 1, "right": 1,
    }  # fmt: skip
    tree = incast.Scenario.load("permutation").with_({"run.duration": "100us", "measure.timeline": "10us"}).run()
    told = json.loads(tree.timeline_json or "")
    assert {node["kind"]: node["tier"] for node in told["nodes"] if node["tier"] != 2} == {"host": 0, "switch": 3}
    assert {node["pod"] for node in told["nodes"] if node["tier"] < 3} == set(range(8))
    assert told["frames"] == 10


@pytest.mark.parametrize("threads", [2, 3])
def test_a_timeline_is_the_same_with_any_number_of_threads(tmp_path: Path, threads: int) -> None:
    asked = incast.Scenario.load("incast").with_({"measure.timeline": "auto", "run.domains": "node"})
    for count in (1, threads):
        asked.with_({"run.threads": count}).run().save(tmp_path / str(count))
    for name in FILES:
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / str(threads) / name).read_bytes()


def test_the_memory_that_is_announced_counts_a_timeline() -> None:
    with_frames = incast.Scenario.load("permutation").with_({"measure.timeline": "10us", "run.duration": "1ms"})
    plain = incast.Scenario.load("permutation").with_({"run.duration": "1ms"})
    more = with_frames.refuse_above(math.inf, "a run") - plain.refuse_above(math.inf, "a run")
    # 100 frames of 768 ports and 128 flows, 8 bytes a row
    assert more == 100 * (768 + 128) * 8


def test_frames_of_a_given_length_keep_it() -> None:
    # so many ps times 2^32 - 1 frames is beyond 64 bits, and little above 0 within them
    result = scenario(**{"run.duration": "20ms", "measure.timeline": "4294967298ps"}).run()
    told = json.loads(result.timeline_json or "")
    assert (told["frame_s"], told["frames"]) == (4294967298e-12, 5)


def test_the_cost_of_a_timeline_is_told_before_the_run(incast: Command) -> None:
    words = ("run", "dumbbell", "--set", "run.duration=4ms", "--set", "run.warmup=0s", "--out")
    timed = ("--set", "measure.timeline=auto")
    told = r"timeline: up to about [\d.]+ [kM]?B on disk and [\d.]+ [mµ]?s of CPU time\n"
    assert re.search(told, incast(*words, "told", *timed).err)
    assert "timeline" not in incast(*words, "quiet", *timed, "--quiet").err
    assert "timeline" not in incast(*words, "without").err


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("dumbbell", {"run.duration": "20ms", "run.warmup": "0s"}),
        ("incast", {}),
        ("permutation", {"traffic.app.size": "100kB", "run.duration": "1ms"}),
    ],
)
def test_the_told_cost_is_a_bound_and_not_far_above(name: str, changes: dict[str, object]) -> None:
    timed = incast.Scenario.load(name).with_({**changes, "measure.timeline": "auto"})
    result = timed.run()
    rows = result.timeline_ports.num_rows + result.timeline_flows.num_rows
    disk, cpu_s = timed.timeline_cost()
    assert rows <= disk / ROW_BYTES <= 40 * rows
    assert cpu_s == disk / ROW_BYTES * ROW_S
    assert incast.Scenario.load(name).timeline_cost() == (0, 0)
