"""Pictures of one run: formats, what ends with its flow, and what has nothing to show."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conftest import Command, left_in
from incast import FolderError, Result, Scenario
from incast.pictures import run_pictures
from incast.pictures.recorded import busiest_first
from incast.pictures.run_pictures import PICTURES, _rate_unit, draw
from incast.pictures.style import FORMATS

HOOKS = ("on_ack", "on_loss", "on_timeout")
SHORT = {"run.duration": "2ms", "run.warmup": "0s", "measure.series.flows": [0, 1], "measure.series.ports": "all"}


def of(changes: dict[str, Any]) -> Result:
    return Scenario.load("dumbbell").with_(SHORT | changes).run()


@pytest.mark.extended(part="python")
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


def test_a_few_flows_are_drawn_over_time_whether_or_not_the_run_has_a_timeline(tmp_path: Path) -> None:
    """The README's first run: two equal flows, whose distribution would be one vertical line."""
    plain = Scenario.load("dumbbell").with_({"run.duration": "20ms", "run.warmup": "5ms"})
    timed = plain.with_({"measure.timeline": "auto"}).run()
    plain.run().save(tmp_path / "r")
    files, reasons = draw(Result.load(tmp_path / "r"), tmp_path / "r")
    assert files == ["over-time.png"]
    assert not (tmp_path / "r/timeline.json").exists(), "the run stays as it is"
    assert reasons[0] == "no throughput: throughput_bps of the 2 flows differs by less than 1 %"
    draw(timed, tmp_path)
    assert (tmp_path / "over-time.png").read_bytes() == (tmp_path / "r/over-time.png").read_bytes()
    rates, windows, queue = timed.plot.over_time().axes
    assert [text.get_text() for text in rates.get_legend().get_texts()] == ["flow 0", "flow 1"]
    sums = sum(patch.get_data().values for patch in rates.patches if hasattr(patch, "get_data"))
    assert 9.3 < sums[-5:].mean() < 9.5, "Gb/s of both on a link of 10"
    assert queue.get_title(loc="left") == "Port left>right"
    assert queue.get_xlabel() and not windows.get_xlabel()


def test_many_flows_are_drawn_over_time_by_their_total_and_their_spread() -> None:
    few, many = (of({"traffic.flows": flows}) for flows in (8, 9))
    rates, windows, *_ = many.plot.over_time().axes
    assert [text.get_text() for text in rates.get_legend().get_texts()] == ["all flows together"]
    assert [text.get_text() for text in windows.get_legend().get_texts()] == ["middle 80 % of the flows", "median"]
    assert "9 flows" in rates.get_title(loc="left")
    assert len(few.plot.over_time().axes[0].get_legend().get_texts()) == 8


def test_very_many_flows_and_long_runs_are_not_repeated_for_a_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_pictures, "MOST_FLOWS", 1)
    with pytest.raises(FolderError, match="the run has 2 flows, expected 1 to 1"):
        of({"traffic.flows": 2}).plot.over_time()
    monkeypatch.undo()
    long = of({})
    long.manifest["cost"]["cpu_s"] = 1000.0
    with pytest.raises(FolderError, match=r"took 1000 CPU s: run it with --set measure\.timeline=auto"):
        long.plot.over_time()
    manifest, tables = long.manifest | {"cost": {"cpu_s": 1.0}}, {"flows": long.flows.arrow}
    other = Result(manifest, long.toml, '{"flows": {}}', tables.__getitem__, source=long.source)
    with pytest.raises(FolderError, match="repeating the run gives other figures"):
        other.plot.over_time()


def test_a_run_that_cannot_be_repeated_has_its_other_pictures(tmp_path: Path) -> None:
    """A run folder that was sent, without its class or files, is drawn, and no program of it runs."""
    (tmp_path / "list.csv").write_text("start,source,destination\n" + "0s,s0,r0\n" * 2)
    (tmp_path / "own.py").write_text("class Own:\n" + "".join(f"    def {name}(self, _): pass\n" for name in HOOKS))
    listed = {"traffic.pattern": "file", "traffic.file": str(tmp_path / "list.csv")}
    for name, changes, reason in [
        ("listed", listed, "cannot be repeated"),
        ("own", {"controller": f"{tmp_path}/own.py:Own"}, "repeating it would run the class"),
    ]:
        apart = {"traffic.stagger": "500us", "measure.series.flows": [], "measure.series.ports": []}
        of(changes | apart).save(tmp_path / name)
        for copy in [*(tmp_path / name).rglob("list.csv"), *(tmp_path / name).rglob("own.py")]:
            copy.unlink()
        files, reasons = draw(Result.load(tmp_path / name), tmp_path / name)
        assert files == ["throughput.png"]
        assert reason in reasons[0] and reasons[0].endswith("run it with --set measure.timeline=auto")


@pytest.mark.parametrize(
    ("most", "unit"), [(2e8, "Gb/s"), (99e6, "Mb/s"), (100.0, "kb/s"), (99.0, "b/s"), (0.01, "b/s")]
)
def test_rates_have_a_unit_that_fits(most: float, unit: str) -> None:
    assert _rate_unit(most)[1] == unit


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
    over_time = ["over-time.png"]  # the rate of the datagrams
    others = {f"no {name}" for name in PICTURES if name != "over-time"}
    assert (files, left_in(tmp_path), set(told)) == (over_time, over_time, others)
    assert told["no queues"] == told["no heat-map"] == "queue_packets is always 0: nothing to draw"
    assert told["no windows"] == "the run recorded no value of cwnd_bytes: nothing to draw"
    assert told["no throughput"].startswith("only one flow has a value of throughput_bps, ")
    with pytest.raises(FolderError, match="throughput_bps is always 0"):
        of({"traffic.start": "1999us"}).plot.throughput()


def test_rows_of_a_heat_map_begin_with_the_busiest_port_and_order_equal_ones_by_number() -> None:
    most = {"leaf10>h1": 3.0, "leaf2>h1": 3.0, "9": 0.0, "a": 0.0, "spine0>leaf0": 7.0}
    assert busiest_first(most) == ["spine0>leaf0", "leaf2>h1", "leaf10>h1", "9", "a"]
