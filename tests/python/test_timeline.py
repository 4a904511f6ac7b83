"""The timeline of a run: what every port does in each frame."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import incast

FILES = ("timeline_ports.parquet", "timeline_flows.parquet", "timeline.json")


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
    from incast.view.reading import packed

    scenario().run().save(tmp_path / "run")
    seen = packed(tmp_path / "run", "run", Pack())
    assert seen["by_flow"] is not None


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


def test_frames_of_a_given_length_keep_it() -> None:
    # so many ps times 2^32 - 1 frames is beyond 64 bits, and little above 0 within them
    result = scenario(**{"run.duration": "20ms", "measure.timeline": "4294967298ps"}).run()
    told = json.loads(result.timeline_json or "")
    assert (told["frame_s"], told["frames"]) == (4294967298e-12, 5)
