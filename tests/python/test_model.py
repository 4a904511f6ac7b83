"""``incast model`` and ``incast.model``: the models' numbers, tables, files and pictures, and what is refused."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path

import numpy as np
import pytest

import incast as package
from conftest import Command, left_in
from incast import ModelError, Scenario, model
from incast.papers import expression
from incast.papers.expression import ExpressionError

# Theorem 5 on the paper's fat trees: window before a fall, cut, target in us, mean window.
FIGURE_5 = [
    (9, 8.41, 0.1202, 23.79, 7.91),
    (25, 12.25, 0.1753, 21.86, 11.18),
    (64, 17.89, 0.2213, 20.25, 15.91),
    (121, 23.45, 0.2492, 19.28, 20.53),
]


def test_scalars_give_floats_and_arrays_arrays() -> None:
    one = model.swift(q=0.01)
    assert isinstance(one["throughput_bps"], float)
    assert one["mean_window_packets"] == pytest.approx(math.sqrt(150), rel=1e-12)
    some = model.swift(q=np.array([[0.01, 0.02], [0.04, 0.05]]), ai=1)
    assert some["throughput_bps"].shape == (2, 2)
    assert some["throughput_bps"][0, 0] == one["throughput_bps"]
    grid = model.swift(q=[[0.01], [0.02]], short_rtt=[10e-6, 14e-6, 20e-6])
    assert grid["cut"].shape == (2, 3)
    assert package.model is model


@pytest.mark.parametrize(("n", "peak", "cut", "target", "mean"), FIGURE_5)
def test_the_numbers_are_the_compiled_models(n: int, peak: float, cut: float, target: float, mean: float) -> None:
    found = model.lswift(q=1 / n)
    assert found["peak_window_packets"] == pytest.approx(peak, abs=0.005)
    assert found["cut"] == pytest.approx(cut, abs=5e-5)
    assert found["target_s"] * 1e6 == pytest.approx(target, abs=0.005)
    assert found["mean_window_packets"] == pytest.approx(mean, abs=0.005)


def test_every_model_has_a_function_and_texts_are_quantities() -> None:
    required = {"mathis": {"p": 0.001}, "dctcp-queue": {"flows": 2}, "astra": {}}
    for name in model.names():
        given = required.get(name, {"q": 0.01})
        found = getattr(model, name.replace("-", "_"))(**given)
        assert found == model.evaluate(name, **given)
        assert list(found) == [figure.name for figure in model.find(name).figures]
    by_text = model.dctcp(q="0.01", mss="4kB", short_rtt="14us", long_rtt="28us", rate="100Gbps")
    assert by_text == model.dctcp(q=0.01)
    assert model.mswift(q=0.01, rate="inf", max_cwnd=1000)["throughput_bps"] > 1e12


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("reno", {"q": 0.1}, "reno: no such model; expected one of mathis, tcp"),
        ("fair-shar", {"q": 0.1}, "fair-shar: no such model (did you mean"),
        ("swift", {}, "q must be given: expected a number above 0, at most 1/4"),
        ("swift", {"q": 0.5}, "q = 0.5: expected"),
        ("swift", {"q": [0.01, 0.5]}, "q = 0.5: expected"),
        ("swift", {"q": math.nan}, "q = nan: expected"),
        ("swift", {"q": "a hundredth"}, 'q = "a hundredth": expected a number'),
        ("swift", {"q": 0.01, "short_rtt": "14"}, 'short_rtt = "14": expected a time with a unit'),
        ("swift", {"q": 0.01, "short_rtt": "14kB"}, "expected a time with a unit"),
        ("swift", {"q": 0.01, "beta": 1}, "swift has no parameter beta: expected one of q, mss"),
        ("swift", {"q": 0.01, "ai": None}, "ai must be given"),
        ("swift", {"q": 0.01, "ai": {}}, "ai = {}: expected a number above 0"),
        ("swift", {"q": [0.01, 0.02], "ai": [1, 2, 3]}, "expected arrays of one shape"),
        ("lswift", {"q": 0.01, "target": "30us"}, "target = 30us: expected below long_rtt"),
    ],
)
def test_what_a_model_is_not_valid_for_is_refused(name: str, given: dict[str, object], words: str) -> None:
    with pytest.raises(ModelError) as caught:
        model.evaluate(name, **given)  # type: ignore[arg-type]
    assert words in str(caught.value)


def test_bounds_of_a_scenarios_flows() -> None:
    scenario = Scenario.load("two-senders")
    shares = model.fair_share(scenario)
    assert shares["src"] == ["source0", "source1"]
    # 1448 of 1502 bytes, half of 10 Gb/s
    np.testing.assert_allclose(shares["fair_share_bps"], 5e9 * 1448 / 1502, rtol=1e-9)
    permutation = Scenario.load("permutation")
    ideal = model.ideal_fct(permutation)
    result = permutation.with_({"run.duration": "1us"}).run().flows
    np.testing.assert_array_equal(ideal["ideal_fct_s"], result["ideal_fct_s"].to_numpy())
    assert (model.fair_share(permutation)["edge_share_bps"] == pytest.approx(100e9)) is True


def test_one_point_is_told_with_its_meaning(incast: Command) -> None:
    answer = incast("model", "swift", "--q", "0.01")
    assert answer.status == 0, answer.err
    for words in ["12.2474 packets", "27.9942 Gb/s", "Window before a reduction"]:
        assert words in answer.out


def test_ranges_make_a_table_and_files_in_si_units(incast: Command, tmp_path: Path) -> None:
    ranges = ("--q", "0.001:0.05:log5", "--long-rtt=22us,28us")
    answer = incast("model", "lswift", *ranges, "--out", "a.csv", "--plot", "a.svg")
    assert answer.status == 0, answer.err
    rows = list(csv.DictReader(io.StringIO((tmp_path / "a.csv").read_text())))
    assert len(rows) == 10
    assert [float(row["q"]) for row in rows[::2]] == pytest.approx(list(np.geomspace(0.001, 0.05, 5)))
    for row in rows:
        one = model.lswift(q=float(row["q"]), long_rtt=float(row["long_rtt"]))
        assert float(row["throughput_bps"]) == one["throughput_bps"]
    picture = (tmp_path / "a.svg").read_text()
    assert "<svg" in picture
    told = incast("model", "lswift", *ranges, "--json", "--out", "a.json", "--plot", "b.svg")
    assert told.out == (tmp_path / "a.json").read_text()
    assert json.loads(told.out)["q"] == [float(row["q"]) for row in rows]
    assert (tmp_path / "b.svg").read_text() == picture, "the same numbers, the same bytes"


def test_measured_points_are_drawn_over_the_curve(incast: Command, tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("label,q,mean_window_packets\nswift,0.01,12.5\nswift,0.02,8.1\nother,0.01,9\n")
    words = ("model", "swift", "--q", "0.005:0.05:log9", "--y", "mean_window_packets", "--quiet")
    assert incast(*words, "--plot", "without.svg").out == ""
    assert incast(*words, "--plot", "with.svg", "--points", "m.csv").status == 0
    without, drawn = ((tmp_path / name).read_text() for name in ("without.svg", "with.svg"))
    assert drawn.count("<use") >= without.count("<use") + 3


def test_scenarios_flows_on_the_command_line(incast: Command, tmp_path: Path) -> None:
    answer = incast("model", "fair-share", "permutation", "--set", "topology.k=4", "--out", "a.csv")
    assert answer.status == 0, answer.err
    assert len((tmp_path / "a.csv").read_text().splitlines()) == 17
    told = json.loads(incast("model", "ideal-fct", "random-pairs", "--json").out)
    assert set(told["ideal_fct_s"]) == {None}, "flows without a size"
    assert min(told["idle_rtt_s"]) > 0


def test_help_lists_and_descriptions(incast: Command) -> None:
    assert "Usage" in incast("model").out
    assert "Usage" in incast("model", "--help").out
    told = incast("model", "mswift", "--help").out
    assert told == incast("describe", "model", "mswift").out
    for words in ["--max-cwnd = 1000 packets", "random_slow_medians", "Limits"]:
        assert words in told
    names = [line.split()[0] for line in incast("model", "list").out.splitlines()]
    assert names == [name for name, _ in model.listing()] == [*model.names(), "ideal-fct", "fair-share"]
    assert "Max-min" in incast("describe", "model", "fair-share").out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["swfit", "--q", "0.1"], ["swfit", "expected one of", "swift"]),
        (["swift"], ["q must be given"]),
        (["swift", "0.01"], ["0.01", "--q"]),
        (["swift", "--q"], ["--q: expected a value"]),
        (["swift", "--q", "--ai", "1"], ["--q: expected a value"]),
        (["swift", "--q", "-1"], ["q = -1"]),
        (["swift", "--q", "0.01", "--q=0.02"], ["given twice"]),
        (["swift", "--q", "0.1:0.2"], ['"0.1:0.2"', "0.001:0.1:log20"]),
        (["swift", "--q", "0.1:0.2:log1"], ["from 2 to 1,000,000"]),
        (["swift", "--q", "0.1:0.2:log20000000"], ["from 2 to 1,000,000"]),
        (["swift", "--q", "0:0.2:log9"], ["above 0"]),
        (["swift", "--q", "nan"], ["q = nan: expected a number above 0"]),
        (["mswft"], ["expected one of", "fair-share", 'did you mean "mswift"?']),
        (["fairshare"], ['did you mean "fair-share"?']),
        (["ideal-fc"], ['did you mean "ideal-fct"?']),
        (["swift", "--q", "0.01:0.2:log9", "--ai", "1:2:lin900000"], ["points", "1,000,000"]),
        (["swift", "--q", "0.01", "--short-rtt", "14"], ['"14"', "time with a unit"]),
        (["swift", "--q", "0.01", "--beta", "1"], ["no parameter beta"]),
        (["swift", "--q", "0.01", "--plot", "a.svg"], ["range for its x axis"]),
        (["swift", "--q", "0.01,0.02", "--plot", "a.gif"], ["a.gif", ".svg"]),
        (["swift", "--q", "0.01,0.02", "--out", "a.txt"], ["a.txt", ".csv"]),
        (["swift", "--q", "0.01,0.02", "--out", "no/a.csv"], ["no/a.csv", "does not exist"]),
        (["swift", "--q", "0.01,0.02", "--plot", "a.svg", "--y", "rtt"], ["has no figure rtt", "throughput_bps"]),
        (["swift", "--q", "0.01,0.02", "--plot", "a.svg", "--points", "no.csv"], ["no.csv"]),
        (["swift", "--q", "0.01", "--y", "cut"], ["--plot"]),
        (["swift", "--q", "0.01", "--set", "a=b"], ["--set", "--q"]),
        (["fair-share"], ["scenario"]),
        (["fair-share", "permutation", "--plot", "a.svg"], ["draws no picture"]),
        (["fair-share", "permuation"], ["permuation", "permutation"]),
    ],
)
def test_mistakes_are_told_and_leave_nothing(
    incast: Command, tmp_path: Path, words: list[str], told: list[str]
) -> None:
    incast("model", *words).refused(*told)
    assert left_in(tmp_path) == []


def test_files_are_never_overwritten_and_points_are_held_against_the_axes(incast: Command, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("q,cut\n0.01,high\n")
    incast("model", "swift", "--q", "0.01", "--out", "a.csv").refused("a.csv exists")
    draw = ("model", "swift", "--q", "0.01,0.02", "--plot", "a.svg", "--points", "a.csv")
    incast(*draw).refused("a.csv", "no column throughput_bps")
    incast(*draw, "--y", "cut").refused("a.csv, line 2", "high")
    assert left_in(tmp_path) == ["a.csv"]


def test_papers_may_call_models() -> None:
    def value(text: str) -> object:
        return expression.evaluate(expression.parse(text, (), ("x",)), {}, {"x": 100.0})

    assert value("model('swift', 'mean_window_packets', 'q', 1 / x)") == pytest.approx(math.sqrt(150))
    assert value("within(model('lswift', 'cut', 'q', 1 / x, 'long_rtt', '28us'), 0.2411, 0.001)") is True
    for wrong in ["model('swift', 'rtt', 'q', 0.01)", "model('swift', 'cut', 'q')", "model('swift', 'cut', 'q', 1)"]:
        with pytest.raises(ExpressionError, match="model: "):
            value(wrong)
