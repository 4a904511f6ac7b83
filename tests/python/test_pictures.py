"""Pictures of one run: formats, what ends with its flow, and what has nothing to show."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conftest import Command, left_in
from incast import FolderError, Result, Scenario
from incast.pictures import PICTURES, draw
from incast.style import FORMATS

SHORT = {"run.duration": "2ms", "run.warmup": "0s", "measure.series.flows": [0, 1], "measure.series.ports": "all"}


def of(changes: dict[str, Any]) -> Result:
    return Scenario.load("dumbbell").with_(SHORT | changes).run()


@pytest.mark.slow("pictures of every kind in three formats")
def test_the_pictures_of_a_run_come_in_every_format(incast: Command, tmp_path: Path) -> None:
    of({}).save(tmp_path / "r")
    done = incast("plot", "r", "--out", "p", "--format", "png,svg,pdf")
    assert done.status == 0, done.err
    names = [name for name in PICTURES if name != "fct"]  # flows without an end
    assert left_in(tmp_path / "p") == sorted(f"{name}.{kind}" for name in names for kind in FORMATS)
    assert (tmp_path / "p/windows.svg").read_text().startswith("<?xml")
    first = {path.name: path.read_bytes() for path in (tmp_path / "p").iterdir()}
    draw(Result.load(tmp_path / "r"), tmp_path / "p", FORMATS)
    assert {path.name: path.read_bytes() for path in (tmp_path / "p").iterdir()} == first
    incast("plot", "r", "--format", "gif").refused('--format "gif"')


def test_windows_of_a_run_end_with_their_flow() -> None:
    changes = SHORT | {"run.duration": "5ms", "measure.series.flows": [0, 4], "traffic.a.app.size": "100kB"}
    result = Scenario.load("coexistence").with_(changes).run()
    end_s = result.flows["finish_s"].to_pylist()[0]
    assert end_s < 4e-3, "flow 0 is done before the run is"
    (axes,) = result.plot.windows().axes
    ends = {str(line.get_label()): max(line.get_xdata()) for line in axes.lines}
    assert ends["flow 0"] == pytest.approx(1e3 * end_s)
    assert ends["flow 4"] == pytest.approx(5), "a flow without an end goes on"
    assert "2 flows" in axes.get_title(loc="left")


def test_a_run_has_no_picture_of_zeros_or_of_one_number(tmp_path: Path) -> None:
    datagrams = {"measure.series.flows": [0], "traffic.flows": 1, "traffic.app": {"kind": "udp", "rate": "1Mbps"}}
    files, reasons = draw(of(datagrams | {"measure.series.interval": "100us"}), tmp_path)
    told = dict(reason.split(": ", 1) for reason in reasons)
    assert (files, left_in(tmp_path), set(told)) == ([], [], {f"no {name}" for name in PICTURES})
    assert told["no queues"] == told["no heat-map"] == "queue_packets is always 0: nothing to draw"
    assert told["no windows"] == "the run recorded no value of cwnd_bytes: nothing to draw"
    assert told["no throughput"].startswith("only one flow has a value of throughput_bps, ")
    with pytest.raises(FolderError, match="throughput_bps is always 0"):
        of({"traffic.start": "1999us"}).plot.throughput()
    with pytest.raises(FolderError, match="run it with --set measure.series.ports=all"):
        of({"measure.series.ports": []}).plot.queues()
