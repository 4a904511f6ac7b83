"""Kinds of pictures: each in one call, in the size of a screen or of a paper's column, with the numbers of the runs."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.figure import Figure

import incast as api
from conftest import Command
from incast import FolderError, IncastError, Result, Scenario, StudyError
from incast.commands import drawing, subjects
from incast.commands.calls import Compared
from incast.commands.subjects import Asked
from incast.pictures import by_flow, kinds, over_time
from incast.pictures.looks import LOOKS, file_of, look_of
from incast.pictures.recorded import Frames, NothingToDraw
from incast.report import compared_plots, comparison_page
from incast.runs import repeated
from incast.runs.completions import Completions

SHORT = {"run.duration": "3ms", "run.warmup": "0s"}
WEB = {"run.duration": "2ms", "traffic.arrivals.until": "1ms"}
PAPER = look_of("paper")


@pytest.fixture(scope="module")
def run() -> Result:
    """Make a run of two flows with a timeline."""
    return Scenario.load("dumbbell").with_(SHORT | {"measure.timeline": "auto"}).run()


@pytest.fixture(scope="module")
def sized() -> Result:
    """Make a run of flows of many sizes, of which the largest do not finish."""
    return Scenario.load("websearch").with_(WEB | {"measure.timeline": "auto"}).run()


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Compared:
    """Make a comparison of two controllers at two values under two seeds."""
    out = tmp_path_factory.mktemp("compared") / "c"
    vary = {"queue.mark": ["15p", "65p"]}
    return api.compare("websearch", ["dctcp", "swift"], vary=vary, seeds=2, settings=WEB, out=out)


def axes_of(figure: Figure) -> dict[str, np.ndarray]:
    """Return the y values of the named lines of a picture's first panel."""
    lines = figure.axes[0].lines
    return {str(line.get_label()): np.asarray(line.get_ydata()) for line in lines if line.get_label()[0] != "_"}


@pytest.mark.slow("twelve pictures in three looks")
@pytest.mark.parametrize("style", LOOKS)
def test_every_kind_has_the_width_of_its_look_and_text_of_its_size(run: Result, sized: Result, style: str) -> None:
    look = look_of(style)
    small = {f"job.{job}.collective.size": "80kB" for job in ("train", "other")}
    others = {
        "shares": Scenario.load("coexistence").with_(SHORT).run(),
        "lanes": Scenario.load("two-jobs").with_({"measure.tasks": "all", **small}).run(),
    }
    for kind in kinds.KINDS:
        one = others.get(kind, sized if kind in ("fct", "slowdown") else run)
        figure = kinds.draw(kind, [("a", one)], look)
        assert figure.get_figwidth() == look.width, kind
        titles = [axes.get_title(loc="left") for axes in figure.axes]
        assert any(titles) == look.titled, kind
        figure.savefig(Path("/dev/null"), format="svg")
        sizes = {text.get_fontsize() for axes in figure.axes for text in axes.get_xticklabels()}
        assert sizes <= {look.points - 1}, kind


def test_files_of_a_paper_have_their_fonts_inside(run: Result, tmp_path: Path) -> None:
    figure = kinds.draw("rates", [("a", run)], PAPER)
    figure.savefig(tmp_path / "a.pdf")
    data = (tmp_path / "a.pdf").read_bytes()
    assert b"/FontFile2" in data
    assert b"/Subtype /Type3" not in data
    figure.savefig(tmp_path / "a.svg")
    assert "<text" not in (tmp_path / "a.svg").read_text(encoding="utf-8")


def test_rates_and_fairness_are_those_of_the_timeline(run: Result) -> None:
    lines = axes_of(kinds.draw("rates", [("a", run)], PAPER))
    assert list(lines) == ["flow 0", "flow 1"]
    frames = Frames(run, over_time.RATE_STEPS)
    rates = frames.delivered[1] * 8e-9 / np.diff(frames.edges)
    assert np.allclose(lines["flow 1"][:-1], rates[:-1]), "the last step is short"
    (index,) = axes_of(kinds.draw("fairness", [("a", run)], PAPER)).values()
    frames = Frames(run, over_time.FAIR_STEPS)
    one, two = frames.delivered[:, 30]
    assert index[30] == pytest.approx((one + two) ** 2 / (2 * (one**2 + two**2)))


def test_a_queue_is_that_of_the_busiest_port_and_its_distribution_that_of_the_time(run: Result) -> None:
    (mean,) = axes_of(kinds.draw("queue", [("a", run)], PAPER)).values()
    busiest = run.summary["queues"]["busiest"]["port"]
    row = run.ports["port"].to_pylist().index(busiest)
    assert 1e3 * float(np.mean(mean)) == pytest.approx(run.ports["queue_mean_bytes"].to_pylist()[row], rel=0.01)
    figure = kinds.draw("queue-cdf", [("a", run)], PAPER)
    (line,) = figure.axes[0].lines
    median = float(np.interp(0.5, line.get_ydata(), line.get_xdata()))
    steps = Frames(run, over_time.FINE_STEPS).queue()
    assert steps is not None
    assert 1e3 * median == pytest.approx(float(np.median(steps.mean)), rel=0.05)


def test_a_distribution_of_completion_times_ends_at_the_share_that_finished(sized: Result) -> None:
    (own,) = by_flow.completions_of(sized).values()
    lines = axes_of(kinds.draw("fct", [("a", sized)], PAPER))
    numbers = by_flow.SIZES.of(own.sizes)
    assert {by_flow.SHORT[number] for number in numbers} == {name.partition(":")[0] for name in lines}
    unfinished = 0
    for name, shares in lines.items():
        mask = numbers == by_flow.SHORT.index(name.partition(":")[0])
        finished, count = int(own.finished[mask].sum()), int(mask.sum())
        assert (shares[-1] if len(shares) else 0) == pytest.approx(finished / count)
        assert (f": {finished} of {count} finished" in name) == (finished < count)
        unfinished += finished < count
    assert unfinished


def made_up(times: list[float], finished: list[bool]) -> Completions:
    sizes, count = np.full(len(times), 5e3), len(times)
    own = np.array(times), np.array(finished), np.ones(count)
    return Completions(("web",), np.zeros(count, np.int64), sizes, *own)


def test_a_slowdown_that_unfinished_flows_could_raise_stands_alone() -> None:
    figure = by_flow.slowdown(
        {"a": {1: made_up([2, 3], [True, True])}, "b": {1: made_up([2, 3], [True, False])}}, PAPER, ""
    )
    lines = {line.get_label(): line.get_ydata() for line in figure.axes[0].lines if line.get_linestyle() == "-"}
    assert list(lines["a"]) == [3]
    drawn = [line for line in figure.axes[0].lines if line.get_linestyle() == "None" and len(line.get_ydata())]
    assert [list(line.get_ydata()) for line in drawn] == [[3]], "the p99 of b is at least 3"


def test_a_size_map_marks_bounds() -> None:
    groups = {"1": {1: made_up([2, 3], [True, True])}, "2": {1: made_up([2, 3], [True, False])}}
    figure = by_flow.size_map({"a": groups}, PAPER, "key")
    assert [text.get_text() for text in figure.axes[0].texts if re.search(r"\d", text.get_text())] == ["3", "≥3"]


def test_shares_are_those_of_the_goodput() -> None:
    changes = SHORT | {"traffic.a.controller": "dctcp", "traffic.b.controller": "cubic"}
    run = Scenario.load("coexistence").with_(changes).run()
    figure = kinds.draw("shares", [("both", run)], PAPER)
    widths = [bar.get_width() for bar in figure.axes[0].patches]
    rates = {"dctcp": 0.0, "cubic": 0.0}
    for row in run.flows.to_pylist():
        rates[row["controller"]] += row["throughput_bps"] or 0
    assert widths == pytest.approx([100 * rate / sum(rates.values()) for rate in rates.values()])
    with pytest.raises(NothingToDraw, match="incast coexist"):
        kinds.draw("shares", [("one", Scenario.load("dumbbell").with_(SHORT).run())], PAPER)


def test_throughput_and_delay_have_the_intervals_of_the_comparison(compared: Compared) -> None:
    done = compared.comparison
    figure = compared.plot.throughput_delay(style="paper")
    line = next(line for line in figure.axes[0].lines if line.get_label() == "swift")
    found = [done.reading("websearch", "swift", value, "flows.throughput_mean_bps") for value in ("15p", "65p")]
    means = [one.least.mean for one in found if one is not None and one.least is not None]
    factor = {"Mb/s": 1e6, "Gb/s": 1e9}[figure.axes[0].get_ylabel()[-5:-1]]
    assert [factor * y for y in line.get_ydata()] == pytest.approx(means)
    whisker = next(one for one in figure.axes[0].lines if one.get_color() == line.get_color() and one is not line)
    assert whisker.get_label().startswith("_")


def test_a_comparison_has_pictures_of_its_runs_over_time_and_over_its_seeds(compared: Compared) -> None:
    assert list(axes_of(compared.plot.queue(style="paper"))) == ["dctcp", "swift"]
    assert list(axes_of(compared.plot.queue(controllers="swift", value="15p"))) == ["swift"]
    assert [text.get_text() for text in compared.plot.fct().legends[0].get_texts()] == ["dctcp", "swift"]
    assert "slowdown()" in repr(compared.plot)
    with pytest.raises(StudyError, match="value 9: queue.mark has 15p, 65p"):
        compared.plot.slowdown(value=9)
    with pytest.raises(StudyError, match="style = 'papr': expected one of screen, paper, paper-wide"):
        compared.plot.slowdown("papr")
    with pytest.raises(StudyError, match="seed 2: this picture is over all seeds"):
        compared.plot.slowdown(seed=2)


def test_a_result_repeats_itself_for_a_picture_over_time() -> None:
    plain = Scenario.load("dumbbell").with_(SHORT).run()
    assert plain.timeline_json is None
    assert list(axes_of(plain.plot.windows(style="paper"))) == ["flow 0", "flow 1"]
    assert plain.plot.queues().axes
    assert "throughput()" in repr(plain.plot)
    assert repeated.in_memory(plain) is repeated.in_memory(plain)


@pytest.mark.extended(part="python")
def test_the_program_draws_a_kind_of_anything(incast: Command, compared: Compared, tmp_path: Path) -> None:
    Scenario.load("dumbbell").with_(SHORT).run().save(tmp_path / "r")
    done = incast("plot", "r", "--kind", "rates", "--style", "paper")
    assert (done.status, done.out) == (0, "pictures: r/rates-paper.pdf\n"), done.err
    assert "repeats 1 run with a timeline" in done.err
    folder = compared.folder
    done = incast("plot", str(folder), "--kind", "slowdown", "--out", "p", "--format", "png,svg")
    assert (done.status, done.out) == (0, "pictures: p/slowdown-screen.png p/slowdown-screen.svg\n"), done.err
    done = incast("plot", str(folder), "--kind", "delay-cdf", "--controller", "swift", "--value", "65p", "--out", "p")
    assert (done.status, done.out) == (0, "pictures: p/delay-cdf-swift-65p-screen.png\n"), done.err
    report = (folder / "throughput.png").read_bytes() if (folder / "throughput.png").exists() else b""
    for words, told in (
        (["r", "--kind", "rate"], "expected one of fct, slowdown"),
        (["r", "--kind", "rate"], 'did you mean "rates"?'),
        (["r", "--kind", "rates", "--style", "papre"], 'did you mean "paper"?'),
        (["r", "--style", "paper"], "--style: needs --kind too"),
        ([str(folder)], "is no run folder: expected one, or --kind too"),
        (["r", "--kind", "size-map"], "expected the folder of a comparison"),
        (["r", "--kind", "fct"], "no run has a finite flow: nothing to draw"),
        (["r", "--kind", "queue", "--seed", "2"], "--seed: r is one run"),
    ):
        incast("plot", *words).refused(told)
    assert report == ((folder / "throughput.png").read_bytes() if report else b"")


def test_the_program_names_every_kind() -> None:
    assert set(subjects.KINDS) == {*kinds.KINDS, *compared_plots.KINDS}
    assert {*kinds.OVER_TIME} < {*kinds.KINDS}


def test_a_run_without_data_for_a_kind_says_so() -> None:
    run = Scenario.load("dumbbell").with_(SHORT).run()
    for kind in ("fct", "slowdown"):
        with pytest.raises(FolderError, match="no run has a finite flow"):
            kinds.draw(kind, [("a", run)], PAPER)
    with pytest.raises(IncastError, match="the run has no timeline"):
        kinds.draw("queue", [("a", run)], PAPER)
    assert isinstance(run.flows.arrow, pa.Table)


@pytest.mark.slow("a comparison, its pictures, and its report again")
def test_a_report_leaves_pictures_of_choices_where_they_are(tmp_path: Path) -> None:
    done = api.compare("dumbbell", "cubic", settings=SHORT, out=tmp_path / "c")
    asked = Asked(("cubic",))
    drawing.draw([str(done.folder)], "delay-cdf", look_of("screen"), asked, None, "png", 1, True)
    comparison_page.write(done.comparison, ["svg"])
    there = {path.name for path in done.folder.iterdir()}
    assert {"delay-cdf-cubic-screen.png", "over-time.svg"} <= there
    assert "over-time.png" not in there, "a picture of the earlier report"


def test_names_of_pictures_say_whether_a_report_has_made_them() -> None:
    choices = ("", "cubic", "p99", "p99-cubic", "15p", "mean")
    chosen = [file_of(kind, choice, look) for kind in subjects.KINDS for choice in choices for look in LOOKS.values()]
    assert not [name for name in chosen if comparison_page.is_picture(name)]
    reports = [
        "throughput",
        "pauses",
        "over-time",
        "slowdown-p99",
        "slowdown-cdf",
        "slowdown-mean-websearch-background",
    ]
    assert all(map(comparison_page.is_picture, reports))
    assert not comparison_page.is_picture("queue-of-mine")
