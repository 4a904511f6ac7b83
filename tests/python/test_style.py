"""The look of pictures: numbers on every axis, series that differ, one rule for x axes, intervals below zero."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incast import StudyError
from incast.comparisons.comparison import Band, Comparison, Run
from incast.comparisons.declaration import ComparisonStudy
from incast.comparisons.picked import Choice
from incast.comparisons.report_folder import Home
from incast.pictures import by_flow, style
from incast.pictures.interval_plot import Footnote, Points, draw_points, fit_a_log_axis, y_axis
from incast.pictures.looks import look_of
from incast.pictures.style import FORMATS, abreast, log_ticks, new_canvas, numbered_log, picture_bytes, places
from incast.report import compared_plots, slowdowns
from incast.report.figures import FIGURES, _series_panels, lines_of, nothing_to_see, plot
from incast.runs.completions import STATISTICS, Bins, Reading, Sizes


@given(st.floats(1e-6, 1e6), st.floats(1.02, 1e6))
def test_a_log_axis_always_has_numbers(low: float, ratio: float) -> None:
    ticks = log_ticks(low, low * ratio)
    assert len(ticks) >= 2, (low, ratio)
    assert all(low * (1 - 1e-9) <= tick <= low * ratio * (1 + 1e-9) for tick in ticks)
    assert ticks == sorted(ticks)
    assert len({style.plain(tick) for tick in ticks}) == len(ticks), "labels differ"


def test_numbers_within_a_decade_are_on_the_axis() -> None:
    canvas = new_canvas(4, 3)
    axes = canvas.subplots()
    axes.plot([0, 1], [12.1, 17.9])
    numbered_log(axes)
    canvas.draw_without_rendering()
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert len([text for text in labels if text]) >= 3, labels


def test_the_first_64_series_differ() -> None:
    looks = {(one["color"], one["linestyle"], one["marker"]) for one in map(style.line, range(64))}
    assert len(looks) == 64
    without = {(one["color"], one["linestyle"]) for one in (style.line(i, marker=False) for i in range(64))}
    assert len(without) == 64, "lines without markers differ too"


def test_one_rule_places_values_on_an_x_axis() -> None:
    assert places(["10p", "300p", "30p"]).at == (10, 300, 30)
    assert places(["10p", "300p", "30p"]).order == [0, 2, 1]
    assert places(["10p", "300p"]).log
    assert places(["10us", "1ms"]).at == pytest.approx((1e-5, 1e-3))
    assert not places(["100", "200"]).log
    assert not places(["0", "200"]).log
    for values in (["10p", "10kB"], ["a", "10"], ["true", "false"]):
        assert not places(values).numeric
        assert places(values).at == (0, 1)


@pytest.mark.parametrize("log", [True, False])
def test_an_interval_that_reaches_below_the_axis_is_marked_and_told(log: bool) -> None:
    axes = new_canvas(4, 3).subplots()
    footnote = Footnote()
    wide = Reading({1: 1.0, 2: 9.0}, {1: 1.0, 2: 9.0})
    lines = [Points("wide", 0, [1.0, 2.0], [wide, wide])]
    assert fit_a_log_axis(lines)
    seen = draw_points(axes, lines, 1.0, footnote, log)
    assert wide.least is not None
    assert wide.least.low < 0
    y_axis([axes], seen, log)
    assert (axes.get_yscale(), axes.get_ylim()[0] > 0) == (("log", True) if log else ("linear", False))
    assert "reaches zero or below" in footnote.note()
    assert len([one for one in axes.lines if one.get_marker() == "v"]) == 2
    assert not Footnote().note()


def test_the_upper_end_of_what_is_open_is_in_sight() -> None:
    axes = new_canvas(4, 3).subplots()
    one = Reading({1: 1.0, 2: 1.0}, {1: 50.0, 2: 50.0}, 99, 100)
    y_axis([axes], draw_points(axes, [Points("open", 0, [1.0], [one])], 1.0, Footnote(), True), True)
    assert axes.get_ylim()[1] > 50


def test_unfinished_points_are_hollow_and_say_their_share() -> None:
    axes = new_canvas(4, 3).subplots()
    footnote = Footnote()
    open_ = Reading({1: 1.0, 2: 2.0}, {1: float("inf"), 2: float("inf")}, 117, 560)
    draw_points(axes, [Points("few", 0, [1.0], [open_])], 1.0, footnote, False)
    assert footnote.unfinished
    assert any("20.9\N{NO-BREAK SPACE}%" in text.get_text() for text in axes.texts)
    assert any(one.get_markerfacecolor() == "white" for one in axes.lines)


def compared(
    values: dict[str, list[float]], key: str, scenarios: dict[str, float] | None = None, vary: str = "traffic.flows=4"
) -> Comparison:
    """Make a comparison of one figure, controllers' values by seed; in each scenario so many times as large."""
    part, name = key.split(".")
    seeds = len(next(iter(values.values())))
    factors = scenarios or {"permutation": 1.0}
    study = ComparisonStudy.parse(list(factors), list(values), vary, seeds, [])
    runs = {
        case: Run(
            case,
            lambda *_: pa.table({}),
            {part: {name: values[case.controller.text][case.seed - 1] * factors[case.scenario]}},
            {},
            "",
        )
        for case in study.cases()
    }
    return Comparison(study, Home(Path(), Path(), ""), runs)


def test_more_than_eight_controllers_have_a_panel_each_and_every_scenario_its_own_axis() -> None:
    names = ["swift", "dctcp", "newreno", "cubic", "bbr", "timely", "dcqcn", "hpcc", "lswift"]
    throughput = FIGURES[0]
    values = {name: [1e9 + i, 1e9 - i] for i, name in enumerate(names)}
    scenarios = {"permutation": 1.0, "random-pairs": 1e-3}
    canvas = plot(compared(values, throughput.key, scenarios, "traffic.flows=4,8"), throughput)
    assert [axes.get_title(loc="left") for axes in canvas.axes] == [
        f"{scenario}: {name}" for scenario in scenarios for name in names
    ]
    for axes, mean in zip(canvas.axes, [1e3] * 9 + [1.0] * 9, strict=True):
        low, high = axes.get_ylim()
        assert low < mean < high, axes.get_title(loc="left")
    assert canvas._supxlabel.get_text().startswith("Each scenario has a y axis of its own.")  # type: ignore[attr-defined]


def test_there_is_no_picture_of_zeros_or_of_one_dot() -> None:
    loss = next(figure for figure in FIGURES if figure.name == "loss")
    assert nothing_to_see(compared({"swift": [0.0, 0.0], "dctcp": [0.0, 0.0]}, loss.key), loss) == "0 in all runs"
    assert nothing_to_see(compared({"swift": [1.0, 2.0]}, loss.key), loss) is not None
    assert nothing_to_see(compared({"swift": [0.0, 0.0], "dctcp": [0.0, 1.0]}, loss.key), loss) is None


def by_size(values: list[str], bands: dict[str, list[str]]) -> Comparison:
    """Make a comparison of slowdowns of one controller; of each band at the values of the key where it has flows."""
    comparison = compared({"swift": [1.0]}, "flows.jain", vary=f"traffic.flows={','.join(values)}")
    sizes = Sizes(("e",), 1.0, 10.0)
    comparison.runs = {case: replace(run, sizes=sizes) for case, run in comparison.runs.items()}
    for value in values:
        comparison._completed["permutation", "swift", value, "fct"] = {
            (Band("e", i, label), statistic): Reading({1: 2.0}, {1: 2.0}, 1, 1)
            for i, (label, at) in enumerate(bands.items())
            if value in at
            for statistic in STATISTICS
        }
    comparison.bins = Bins(tuple(float(i) for i in range(1, len(bands))))
    return comparison


def test_slowdowns_of_one_dot_have_no_picture_and_a_sentence() -> None:
    one = by_size(["4"], {"all sizes": ["4"]})
    one.bins = Bins((100.0,))
    one._completed["permutation", "swift", "4", "fct"] = {
        (Band("e", 0, "below 100 B"), statistic): Reading({1: 2.0}, {1: 2.0}, 1, 1) for statistic in STATISTICS
    }
    drawn = slowdowns.draw(one)
    assert not drawn.pictures
    assert drawn.left_out.pop("slowdown-cdf") == "a single flow"
    assert drawn.left_out == {f"slowdown-{name}": slowdowns.ALONE for name in STATISTICS}
    several = slowdowns.draw(by_size(["4", "8"], {"below 1 B": ["4"], "from 1 B": ["4", "8"]}))
    assert [axes.get_title(loc="left") for axes in several.pictures["slowdown-p99"].axes] == [
        "from 1 B: 1 flows, all finished"
    ]
    assert several.left_out["slowdown-p99, below 1 B"] == slowdowns.ALONE


@pytest.mark.parametrize("vary", [["4"], ["4", "8"]])
def test_slowdowns_of_two_scenarios_have_the_same_y_axis(vary: list[str]) -> None:
    scenarios = {"permutation": 2.0, "random-pairs": 40.0}
    two = compared({"swift": [1.0]}, "flows.jain", dict.fromkeys(scenarios, 1.0), f"traffic.flows={','.join(vary)}")
    two.runs = {case: replace(run, sizes=Sizes(("e",), 1.0, 10.0)) for case, run in two.runs.items()}
    two.bins = bins = Bins((5.0,))
    for (scenario, worst), value in product(scenarios.items(), vary):
        readings = {label: Reading({1: v}, {1: v}, 1, 1) for label, v in zip(bins.labels, (1.5, worst), strict=True)}
        two._completed[scenario, "swift", value, "fct"] = {
            (Band("e", i, label), statistic): reading
            for i, (label, reading) in enumerate(readings.items())
            for statistic in STATISTICS
        }
    drawn = slowdowns.draw(two).pictures
    panels = [axes for name in scenarios for axes in drawn[f"slowdown-p99-{name}-e"].axes]
    assert len({axes.get_ylim() for axes in panels}) == 1 and len({axes.get_yscale() for axes in panels}) == 1
    assert panels[0].get_ylim()[1] > 40


def test_pictures_of_many_panels_are_no_wider_than_a_page() -> None:
    canvas, windows, queues = _series_panels(10)
    assert canvas.get_figwidth() * canvas.get_dpi() < 2000
    assert (len(windows), len(queues), len(canvas.axes)) == (10, 10, 20)
    windows[7].set_ylim(1, 77)
    queues[2].set_xlim(0, 5)
    assert all(axes.get_ylim() == (1, 77) for axes in windows)
    assert all(axes.get_xlim() == (0, 5) for axes in canvas.axes)
    assert queues[0].get_ylim() != (1, 77)
    throughput = FIGURES[0]
    scenarios = {f"{name}": 1.0 for name in ("permutation", "dumbbell", "random-pairs", "hotspot", "star")}
    canvas = plot(compared({"swift": [1.0, 2.0]}, throughput.key, scenarios, "traffic.flows=4,8"), throughput)
    assert canvas.get_figwidth() * canvas.get_dpi() < 2400
    assert len(canvas.axes) == 5
    assert [abreast(n, 4) for n in (1, 4, 5, 8, 9, 10)] == [1, 4, 3, 4, 3, 4]


def test_controllers_stand_side_by_side_where_there_is_one_value() -> None:
    loss = next(figure for figure in FIGURES if figure.name == "loss")
    canvas = plot(compared({"swift": [1.0, 2.0], "dctcp": [0.5, 1.0]}, loss.key), loss)
    (axes,) = canvas.axes
    assert [label.get_text() for label in axes.get_xticklabels()] == ["swift", "dctcp"]


def test_a_key_of_one_value_is_named_on_no_axis_and_at_no_point(monkeypatch: pytest.MonkeyPatch) -> None:
    done = compared({"swift": [1.0, 2.0], "dctcp": [0.5, 1.0]}, "flows.loss_total_pct")
    loss = next(figure for figure in FIGURES if figure.key == "flows.loss_total_pct")
    lines = lines_of(done, "permutation", places(done.study.values), loss)
    assert [points.tips[0].partition(":")[0] for points in lines] == ["swift", "dctcp"]
    monkeypatch.setattr(by_flow, "size_map", lambda panels, _, label: (panels, label))
    panels, label = compared_plots.draw("size-map", done, Choice(), look_of("screen"), lambda _: None)  # type: ignore[misc]
    assert (list(panels), label) == ([done.study.title], "")
    assert list(panels[done.study.title]) == ["swift", "dctcp"], "controllers are beside one another"


def test_pictures_are_the_same_bytes_in_every_format() -> None:
    def drawn() -> dict[str, bytes]:
        canvas = new_canvas(3, 2)
        canvas.subplots().plot([1, 2], [3, 4], label="a")
        return {kind: picture_bytes(canvas, kind) for kind in FORMATS}

    assert drawn() == drawn()
    assert style.formats_of("pdf, png") == ("pdf", "png")
    with pytest.raises(StudyError, match="gif"):
        style.formats_of("gif")
