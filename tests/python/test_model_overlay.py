"""Closed forms beside the runs of a study."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Command
from incast import StudyError
from incast.models import model_overlay
from incast.study.api import Study

SET = {"run.duration": "20ms", "run.warmup": "10ms"}


def test_dctcps_queue_and_its_closed_form_are_some_packets_apart(tmp_path: Path, incast: Command) -> None:
    study = Study("dumbbell", axes={"queue.mark": ["20p", "65p", "100p"]}, settings=SET, seeds=2, keep=(), name="marks")
    study.run(tmp_path / "store", workers=1)
    words = ("model", "beside", "store", "--y", "queues.busiest.max_packets", "--plot", "queue.png", "--json")
    answer = incast(*words)
    assert answer.status == 0, answer.err
    told = json.loads(answer.out)
    assert told["queue.mark"] == [20, 65, 100]
    for measured, form in zip(told["measured"], told["dctcp-queue"], strict=True):
        assert form in (22, 67, 102)  # K and a packet a flow
        # 2 packets above it at each threshold: the model's flows are a fluid, and an ACK sends two packets at once
        assert 0 <= measured - form <= 4
    assert (tmp_path / "queue.png").read_bytes().startswith(b"\x89PNG")
    incast("model", "beside", "store", "--y", "flows.jain").refused("no closed form of flows.jain")
    incast("model", "beside", "store").refused("beside expected a store of studies and --y FIGURE")


def test_shares_and_completions_of_bulk_flows_keep_to_their_forms(tmp_path: Path) -> None:
    flows = {"topology.receivers": 4, "topology.senders": 4}
    study = Study("dumbbell", axes={"run.warmup": ["5ms", "10ms"]}, settings=flows | {"run.duration": "20ms"}, keep=())
    found = model_overlay.of(study.run(tmp_path / "share", workers=1), study, "flows.throughput_mean_bps")
    for row in found.rows():
        assert row["measured"] == pytest.approx(row["fair-share"], rel=0.01)
    sizes = {"traffic.app.size": ["20kB", "200kB"]}
    study = Study("dumbbell", axes=sizes, settings=SET | {"run.warmup": "0s"}, keep=())
    found = model_overlay.of(study.run(tmp_path / "fct", workers=1), study, "fct.mean_s")
    for row in found.rows():
        assert row["measured"] >= row["ideal-fct"]
    with pytest.raises(StudyError, match="its assumptions hold in no run"):
        model_overlay.of(study.run(tmp_path / "fct", workers=1), study, "flows.throughput_mean_bps")
    with pytest.raises(StudyError, match=r"axis traffic.flows: expected a numeric axis"):
        model_overlay.of(study.run(tmp_path / "fct", workers=1), study, "fct.mean_s", "traffic.flows")
