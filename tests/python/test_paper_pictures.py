"""Pictures of papers: intervals, numbers on axes and unfinished flows, drawn as in comparisons."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.container import BarContainer
from matplotlib.figure import Figure as Canvas

from incast import Scenario
from incast.papers import drawing, reading
from incast.papers.definition import Plot, Series
from incast.papers.evaluation import Evaluated
from own_paper import PAPER, SCENARIO


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Canvas]:
    """Collect what is drawn."""
    canvases: list[Canvas] = []
    draw = drawing.draw

    def kept(done: Evaluated) -> dict[str, Canvas]:
        found = draw(done)
        canvases.extend(found.values())
        return found

    monkeypatch.setattr(drawing, "draw", kept)
    return canvases


def evaluated(tmp_path: Path, values: dict[str, list[float]], log: list[str]) -> Evaluated:
    """Make a figure of series whose values at each of three points are given, a seed each."""
    (tmp_path / "paper.toml").write_text(PAPER)
    (tmp_path / "fig1.toml").write_text(SCENARIO)
    paper = reading.load(tmp_path)
    figure = replace(paper.figures["fig1"].at("paper"), seeds=2)
    plot = replace(figure.plots[0], log=log)
    figure = replace(figure, series=[Series(name) for name in values], plots=[plot], published=[])
    measured = {
        (name, point.x, seed): value
        for name, found in values.items()
        for point in figure.points
        for seed, value in enumerate(found, 1)
    }
    return Evaluated(paper, figure, {}, {"delay": measured}, {}, {})


@pytest.mark.parametrize("bars", [False, True])
@pytest.mark.parametrize("log", [["y"], []])
def test_intervals_that_reach_below_the_axis_are_drawn_so(
    tmp_path: Path, drawn: list[Canvas], log: list[str], bars: bool
) -> None:
    done = evaluated(tmp_path, {"Swift": [1.0, 9.0], "DCTCP": [4.0, 4.1]}, log)
    if bars:
        named = [replace(point, x=f"{point.x} flows") for point in done.figure.points]
        values = {(name, f"{x} flows", seed): value for (name, x, seed), value in done.values["delay"].items()}
        done = replace(done, figure=replace(done.figure, points=named), values={"delay": values})
    drawing.draw(done)
    (canvas,) = drawn
    (axes,) = canvas.axes
    assert axes.get_yscale() == ("log" if log else "linear")
    marked = [one for one in axes.lines if one.get_marker() == "v"]
    assert len(marked) == 3, "one a point of the wide series"
    what = "Whiskers" if bars else "Bands"
    first, second = canvas.legends[0].get_title().get_text().splitlines()
    assert first == f"{what}: 95 % intervals of the means over the seeds."
    assert second.startswith("\u25bc at the axis: the 95 % interval")
    assert axes.get_ylim()[1] > 5 + 12.7 * 4, "the upper end is in sight"


def at_two_points(done: Evaluated) -> Evaluated:
    return replace(done, figure=replace(done.figure, points=done.figure.points[:2]))


def test_two_points_are_joined_by_no_line(tmp_path: Path, drawn: list[Canvas]) -> None:
    done = evaluated(tmp_path, {"Swift": [5.0, 9.0]}, [])
    drawing.draw(done)
    drawing.draw(at_two_points(done))
    three, two = (canvas.axes[0] for canvas in drawn)
    assert three.lines[0].get_linestyle() == "-"
    assert two.lines[0].get_linestyle() == "None"
    assert not two.collections, "whiskers, no band"


def test_one_seed_has_no_whiskers(tmp_path: Path, drawn: list[Canvas]) -> None:
    done = evaluated(tmp_path, {"Swift": [5.0]}, [])
    named = [replace(point, x=f"{point.x} flows") for point in done.figure.points]
    values = {(name, f"{x} flows", seed): value for (name, x, seed), value in done.values["delay"].items()}
    drawing.draw(replace(done, figure=replace(done.figure, points=named), values={"delay": values}))
    (bars,) = [one for one in drawn[0].axes[0].containers if isinstance(one, BarContainer)]
    assert bars.errorbar is not None
    _, caps, _ = bars.errorbar.lines
    assert not any(np.isfinite(np.asarray(cap.get_ydata(), dtype=float)).any() for cap in caps)


def test_intervals_of_an_index_end_at_one(tmp_path: Path, drawn: list[Canvas]) -> None:
    done = evaluated(tmp_path, {"Swift": [0.5, 0.99]}, [])
    measures = {"delay": replace(done.figure.measures["delay"], range=(0.0, 1.0))}
    drawing.draw(at_two_points(replace(done, figure=replace(done.figure, measures=measures))))
    (axes,) = drawn[0].axes
    ends = [float(value) for one in axes.lines for value in one.get_ydata()]
    assert max(ends) == 1.0
    assert axes.get_ylim()[1] < 1.1


def test_differences_and_points_alone_are_drawn_beside(tmp_path: Path, drawn: list[Canvas]) -> None:
    done = evaluated(tmp_path, {"Swift": [301.0, 305.0], "DCTCP": [300.0, 303.0]}, [])
    (plot,) = done.figure.plots
    plot = replace(plot, differences_to="DCTCP", zoom=(40.0, 1000.0))
    drawing.draw(replace(done, figure=replace(done.figure, plots=[plot])))
    main, zoom, differences = drawn[0].axes
    assert len(main.lines[0].get_xdata()) == 3
    assert list(zoom.lines[0].get_xdata()) == [40.0, 1000.0]
    assert zoom.get_ylim()[0] > 200, "near the least of the numbers"
    (line,) = [one for one in differences.lines if one.get_label() == "Swift"]
    assert list(line.get_ydata()) == [1.5, 1.5, 1.5], "seed by seed: 1 and 2"


def test_a_series_looks_alike_in_all_pictures_of_a_figure(tmp_path: Path, drawn: list[Canvas]) -> None:
    done = evaluated(tmp_path, {"Swift": [1.0], "HPCC": [2.0], "NDP": [3.0], "Homa": [4.0]}, [])
    (plot,) = done.figure.plots
    some = [
        replace(plot, name="a", series=["Swift", "HPCC", "NDP"]),
        replace(plot, name="b", series=["Swift", "Homa", "NDP"]),
    ]
    drawing.draw(replace(done, figure=replace(done.figure, plots=some, seeds=1)))
    first, second = ({one.get_label(): one.get_color() for one in canvas.axes[0].lines} for canvas in drawn)
    assert first["Swift"] == second["Swift"]
    assert first["NDP"] == second["NDP"]
    assert second["Homa"] not in first.values()
    assert "95 %" not in drawn[0].legends[0].get_title().get_text(), "one seed has no interval"


def test_more_than_eight_series_differ(tmp_path: Path, drawn: list[Canvas]) -> None:
    drawing.draw(evaluated(tmp_path, {f"series {i}": [1.0 + i, 1.1 + i] for i in range(12)}, []))
    (axes,) = drawn[0].axes
    looks = {
        (one.get_color(), one.get_linestyle(), one.get_marker()) for one in axes.lines if one.get_linestyle() != "None"
    }
    assert len(looks) == 12


def test_a_logarithmic_axis_of_a_paper_has_numbers_within_a_decade(tmp_path: Path, drawn: list[Canvas]) -> None:
    drawing.draw(evaluated(tmp_path, {"Swift": [12.0, 12.0], "DCTCP": [17.0, 17.0]}, ["y"]))
    (axes,) = drawn[0].axes
    drawn[0].draw_without_rendering()
    assert len([label for label in axes.get_yticklabels() if label.get_text()]) >= 3


@pytest.mark.parametrize("kind", ["cdf", "ccdf"])
def test_a_distribution_counts_what_did_not_finish(tmp_path: Path, drawn: list[Canvas], kind: str) -> None:
    changes = {"run.duration": "20ms", "queue.limit": "20p", "queue.mark": "20p"}
    result = Scenario.load("incast").with_(changes).run(seed=1)
    result.save(tmp_path / "run")
    finished, count = result.summary["fct"]["finished"], result.summary["fct"]["count"]
    assert 0 < finished < count
    done = evaluated(tmp_path, {"Swift": [1.0]}, [])
    x = done.figure.points[0].x
    plot = Plot("times", kind, "", table="flows", column="fct_s", x_label="FCT", log=["x"])
    figure = replace(done.figure, points=done.figure.points[:1], plots=[plot], seeds=1)
    drawing.draw(replace(done, figure=figure, folders={("Swift", x, 1): tmp_path / "run"}))
    (axes,) = drawn[0].axes
    shares = [float(share) for share in axes.lines[0].get_ydata()]
    if kind == "cdf":
        assert (min(shares), max(shares)) == pytest.approx((1 / count, finished / count))
    else:
        assert (min(shares), max(shares)) == pytest.approx(((count - finished + 1) / count, 1.0))
    assert "unfinished" in (told := drawn[0].legends[0].get_title().get_text()) or "share finished" in told


def test_a_scatter_names_each_series_beside_its_marker(tmp_path: Path, drawn: list[Canvas]) -> None:
    """Measure over measure at one point, with intervals both ways; two markers that lie close have names apart."""
    done = evaluated(tmp_path, {"Swift": [1.0, 1.1], "HPCC": [1.02, 1.08], "NDP": [8.0, 9.0]}, [])
    done.values["rate"] = {key: 10 * value for key, value in done.values["delay"].items()}  # type: ignore[index]
    rate = replace(done.figure.measures["delay"], name="rate", label="Rate")
    plot = Plot("both", "scatter", "", x="delay", y=["rate"], points=[4], log=["x", "y"])
    figure = replace(done.figure, measures={**done.figure.measures, "rate": rate}, plots=[plot], seeds=2)
    drawing.draw(replace(done, figure=figure))
    (canvas,) = drawn
    (axes,) = canvas.axes
    canvas.draw_without_rendering()
    assert [text.get_text() for text in axes.texts] == ["Swift", "HPCC", "NDP"]
    boxes = [text.get_window_extent() for text in axes.texts]
    assert not any(one.overlaps(other) for i, one in enumerate(boxes) for other in boxes[:i])
    markers = [one.lines[0].get_xydata()[0] for one in axes.containers]
    assert [(round(x, 6), round(y, 6)) for x, y in markers] == [(1.05, 10.5), (1.05, 10.5), (8.5, 85.0)]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert "Whiskers: 95 % intervals" in canvas.texts[-1].get_text() + str(canvas.get_supxlabel())


def test_a_timeline_of_a_crowd_draws_flows_of_all_machines(tmp_path: Path, drawn: list[Canvas]) -> None:
    result = Scenario.load(_written(tmp_path)).with_({"traffic.flows": 40}).run(seed=1)
    result.save(tmp_path / "run")
    done = evaluated(tmp_path, {"Swift": [1.0]}, [])
    x = done.figure.points[0].x
    for most, shown in ((20, 20), (12, 12), (100, 40)):
        plot = Plot("time", "timeline", "", bin_s=1e-3, flows=most)
        figure = replace(done.figure, points=done.figure.points[:1], plots=[plot], seeds=1)
        drawing.draw(replace(done, figure=figure, folders={("Swift", x, 1): tmp_path / "run"}))
        (axes,) = drawn[-1].axes
        assert len(axes.lines) == shown
        assert bool(drawn[-1].legends) is (most <= 12), "a crowd has no names"


def _written(folder: Path) -> Path:
    (folder / "crowd.toml").write_text(SCENARIO)
    return folder / "crowd.toml"
