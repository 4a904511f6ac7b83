"""Means and Student-t intervals."""

import pytest

from incast.statistics import Estimate, estimate


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
