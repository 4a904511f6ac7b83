"""Means and Student-t intervals."""

from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest

from incast.comparisons.comparison import Comparison, Run
from incast.comparisons.declaration import ComparisonStudy
from incast.comparisons.report_folder import Home
from incast.pictures.style import time_unit
from incast.statistics import Estimate, estimate, nearest_rank


def test_interval_of_three_values_uses_two_degrees_of_freedom() -> None:
    # t(0.975, 2) = 4.302653 (any printed t table); s of 1, 2, 3 is 1.
    found = estimate([1.0, 2.0, 3.0])
    assert found is not None
    assert found.mean == 2.0
    assert found.half_width == pytest.approx(4.302653 / 3**0.5, rel=1e-6)  # the table's digits
    assert found.count == 3


def test_interval_covers_the_true_mean_about_as_often_as_it_says() -> None:
    import numpy as np

    rng = np.random.default_rng(1)
    samples = rng.normal(5.0, 2.0, size=(4000, 3))
    found = [estimate(list(row)) for row in samples]
    covered = sum(e is not None and e.low <= 5.0 <= e.high for e in found) / len(found)
    # Five standard errors of a 95 % proportion over 4000 tries.
    assert abs(covered - 0.95) < 5 * (0.95 * 0.05 / 4000) ** 0.5


def test_one_value_has_no_interval_and_none_has_no_mean() -> None:
    one = estimate([4.0])
    assert one is not None
    assert (one.mean, one.half_width, one.low, one.high) == (4.0, None, 4.0, 4.0)
    assert estimate([]) is None


def test_equal_values_have_no_width() -> None:
    # a tenth three times, added up and divided by three, is not a tenth
    assert estimate([0.1, 0.1, 0.1]) == Estimate(0.1, 0.0, 3)


def test_interval_of_five_values_uses_four_degrees_of_freedom() -> None:
    # t(0.975, 4) = 2.776445; 2, 4, 4, 5, 10 have mean 5 and squares of 9 + 1 + 1 + 0 + 25 = 36, s = 3.
    found = estimate([4.0, 10.0, 2.0, 5.0, 4.0])
    assert found is not None
    assert (found.mean, found.count) == (5.0, 5)
    assert found.half_width == pytest.approx(2.776445 * 3 / 5**0.5, rel=1e-6)
    assert (found.low, found.high) == pytest.approx((5 - 3.724992, 5 + 3.724992), rel=1e-6)


def test_percentiles_are_nearest_ranks() -> None:
    values = [float(i) for i in range(1, 101)]
    assert [nearest_rank(values, p) for p in (1, 7, 50, 99, 100)] == [1, 7, 50, 99, 100]
    assert nearest_rank(values[:99], 99) == 99, "of fewer than 100 the largest"
    assert nearest_rank([*values, 101.0], 99) == 100, "ceil(99.99)"
    assert nearest_rank([3.0, 5.0], 50) == 3
    assert nearest_rank([float(i) for i in range(1, 1001)], Fraction(999, 10)) == 999, "a tenth of a percent"
    assert nearest_rank([3.0], 1) == 3


def no_rows(*_: object) -> pa.Table:
    return pa.table({})


def compared(
    figures: dict[str, list[dict[str, object]]], datagrams: tuple[str, ...] = (), rates: tuple[float, ...] = ()
) -> Comparison:
    """Make a comparison of summaries, a controller's by seed."""
    seeds = len(next(iter(figures.values())))
    study = ComparisonStudy.parse(["permutation"], list(figures), "traffic.flows=4", seeds, [])
    runs = {}
    for case in study.cases():
        summary = figures[case.controller.text][case.seed - 1]
        runs[case] = Run(case, no_rows, summary, {}, "", datagrams, rates)
    return Comparison(study, Home(Path(), Path(), ""), runs)


def test_two_controllers_are_compared_seed_by_seed() -> None:
    """Differences 1, 2, 3, 2, 2 have mean 2 and s = sqrt(2/4); each controller's own values spread far more."""
    left = [11.0, 22.0, 33.0, 42.0, 52.0]
    right = [10.0, 20.0, 30.0, 40.0, 50.0]
    key = "flows.delay_mean_s"
    found = compared(
        {
            name: [{"flows": {"delay_mean_s": value}} for value in values]
            for name, values in (("swift", left), ("dctcp", right))
        }
    )
    difference = found.difference("permutation", "swift", "dctcp", "4", key)
    assert difference is not None and difference.exact
    apart = difference.least
    assert apart is not None
    assert (apart.mean, apart.count) == (2.0, 5)
    assert apart.half_width == pytest.approx(2.776445 * (0.5 / 5) ** 0.5, rel=1e-6)
    reading = found.reading("permutation", "dctcp", "4", key)
    assert reading is not None
    own = reading.least
    assert own is not None
    assert own.half_width == pytest.approx(2.776445 * (1000 / 4 / 5) ** 0.5, rel=1e-6)


def test_figures_of_flows_leave_datagrams_out() -> None:
    """Rates 1, 3 and 4 with 12 of a datagram beside; of one governed entry all is known, of two what adds up."""
    one = {"count": 2, "throughput_mean_bps": 2.0, "jain": 16 / (2 * 10), "timeouts": 5, "delay_mean_s": 0.25}
    two = {"count": 1, "throughput_mean_bps": 4.0, "jain": 1.0, "timeouts": 2, "delay_mean_s": 0.5}
    none = {"count": 0, "throughput_mean_bps": None, "jain": None, "timeouts": 0, "delay_mean_s": None}
    udp = {"count": 1, "throughput_mean_bps": 12.0, "jain": 1.0, "timeouts": 0, "delay_mean_s": 9.0}
    all_ = {"count": 4, "throughput_mean_bps": 5.0, "jain": 0.5, "timeouts": 7, "delay_mean_s": 3.0}

    def of(groups: dict[str, dict[str, float | None]], key: str, datagrams: tuple[str, ...] = ("udp",)) -> float | None:
        summary = {"flows": all_, "groups": {name: {"flows": flows} for name, flows in groups.items()}}
        found = compared({"swift": [summary]}, datagrams, (1.0, 3.0, 4.0))
        return next(iter(found.runs.values())).figure(f"flows.{key}")

    assert of({"one": one, "udp": udp}, "throughput_mean_bps") == 2
    assert of({"one": one, "udp": udp}, "delay_mean_s") == 0.25
    both = {"one": one, "two": two, "udp": udp}
    assert of(both, "throughput_mean_bps") == pytest.approx(8 / 3)
    assert of(both, "jain") == pytest.approx(8**2 / (3 * (1 + 9 + 16)))
    assert of(both, "timeouts") == 7
    assert of(both, "delay_mean_s") is None
    assert of({**both, "none": none}, "timeouts") == 7, "an entry without flows adds nothing"
    for name in ("throughput_mean_bps", "jain", "timeouts", "delay_mean_s"):
        assert of({"one": one, "none": none, "udp": udp}, name) == one[name]
        assert of({"none": none, "udp": udp}, name) is None, "no flow of a governed entry came"
    assert of({"udp": udp}, "jain") is None
    assert of(both, "throughput_mean_bps", ()) == 5, "without datagrams all flows are meant"


def test_an_axis_of_time_has_the_unit_of_its_span() -> None:
    assert [time_unit(span) for span in (2.0, 1.0, 0.5, 1e-3, 9e-4, 0.0)] == [
        *(("s", 1.0), ("s", 1.0), ("ms", 1e3), ("ms", 1e3), ("µs", 1e6), ("µs", 1e6)),
    ]
