"""Texts of numbers: the shared table of cases, spreads, intervals and bounds."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from conftest import ROOT
from incast.statistics import Estimate
from incast.writing.numbers import (
    SPACE,
    between,
    duration,
    measured,
    number,
    percent,
    quantity,
    rounded,
    said,
    scaled,
    spread,
    with_interval,
)

LINES = (ROOT / "tests" / "numbers.txt").read_text(encoding="utf-8").splitlines()
CASES = [line.split("\t") for line in LINES if not line.startswith("#")]


@pytest.mark.parametrize(("value", "unit", "figures", "text"), CASES)
def test_quantities_read_as_the_table_says(value: str, unit: str, figures: str, text: str) -> None:
    shown = quantity(float(value), unit, int(figures))
    assert said(shown) == text
    assert " " not in shown, "a line never breaks inside a quantity"


@pytest.mark.parametrize(
    ("mean", "half", "text"),
    [
        (1.444, 0.14, "1.44 ± 0.14"),
        (153, 30, "150 ± 30"),
        (84.3, 339, "100 ± 300"),
        (24.23, 0.29, "24.23 ± 0.29"),
        (-0.11, 0.12, "−0.11 ± 0.12"),
        (0, 1.2, "0.0 ± 1.2"),
        (3, 2.96, "3 ± 3"),
        (3, 0.96, "3.0 ± 1.0"),
        (35, 0, "35"),
        (20_876.4, 1_296.4, "20,900 ± 1,300"),
        (55.61, 2.345, "55.6 ± 2.3"),
        (0.481, 2.8e-5, "0.481"),
        (1e-6, 2e-7, "(1.00 ± 0.20) × 10⁻⁶"),
    ],
)
def test_a_spread_has_one_figure_or_two_and_the_mean_ends_there(mean: float, half: float, text: str) -> None:
    assert said(spread(mean, half)) == text


def test_a_mean_of_one_seed_has_no_spread_and_a_missing_one_is_a_dash() -> None:
    assert number(Estimate(35.0, None, 1)) == "35"
    assert number(None) == "–"
    assert said(number(Estimate(0.0026, 0.0009, 3), tiny=True)) == "< 0.01"
    assert said(measured(Estimate(0.0102, 0.0005, 5), "s")) == "10.2 ± 0.5 ms"


def test_bounds_are_never_rounded_inwards() -> None:
    assert said(between(3.296, math.inf)) == "≥ 3.29"
    assert said(between(-math.inf, 3.291)) == "≤ 3.30"
    assert between(1.2345, 2.341) == "1.23 to 2.35"
    assert between(-3.456, -1.0) == "−3.46 to −1"
    assert between(-math.inf, math.inf) == "open"
    assert between(2.5, 2.5) == "2.5"


def test_intervals_share_the_places_of_their_mean() -> None:
    assert with_interval(12.65, 11.7, 13.6) == ("12.7", "[11.7, 13.6]")
    assert with_interval(3.05, 0.1, 6.0) == ("3.0", "[0.1, 6.0]"), "an end above 0 does not read 0"
    assert with_interval(80.034, 80.021, 80.047) == ("80.0", ""), "as its mean says"
    assert with_interval(24, 24, 24) == ("24", "")


def test_shares_durations_and_counts() -> None:
    assert [said(percent(share)) for share in (1, 0.63, 0.99999, 0.00001)] == ["100 %", "63 %", "> 99.9 %", "< 0.01 %"]
    assert [said(duration(one)) for one in (0, 0.005, 95, 150, 7300, 200000)] == (
        ["0 s", "5 ms", "95 s", "2.5 min", "2.03 h", "2.31 days"]
    )
    assert [said(scaled(one)) for one in (950, 2312, 4.1e6)] == ["950", "2.31 thousand", "4.1 million"]
    assert said(rounded(1.5259e-5)) == "1.53 × 10⁻⁵"
    assert rounded(0.00390625) == "0.00391"
    assert rounded(math.nan) == "–"


@given(st.floats(1e-9, 1e14), st.sampled_from(["s", "B", "b/s", "packets", ""]))
@settings(deadline=None)
def test_a_quantity_read_back_is_within_half_a_unit_of_its_last_figure(value: float, unit: str) -> None:
    text = quantity(value, unit)
    if text.startswith("<"):
        assert value < 0.01
        return
    found = re.fullmatch(rf"([\d.,]+)(?:{SPACE}×{SPACE}10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))?(?:{SPACE}([TGMkmµn]?){unit})?", text)
    assert found is not None, text
    factor = {"T": 1e12, "G": 1e9, "M": 1e6, "k": 1e3, "m": 1e-3, "µ": 1e-6, "n": 1e-9}.get(found[3] or "", 1.0)
    if found[2]:
        factor *= 10.0 ** int(found[2].translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")))
    read = float(found[1].replace(",", "")) * factor
    assert read == pytest.approx(value, rel=0.0051)


@given(st.floats(-1e6, 1e6), st.floats(1e-9, 1e6))
@example(1e-5, 1e-9)
@settings(deadline=None)
def test_a_spread_reads_back_as_mean_and_half_width(mean: float, half: float) -> None:
    text = said(spread(mean, half))
    assert ("±" in text) == ("(" in text) or "×" not in text
    inner, _, power = text.replace("(", "").replace(")", "").partition(" × 10")
    factor = 10.0 ** int(power.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))) if power else 1.0
    first, *rest = (float(part.replace("−", "-").replace(",", "")) * factor for part in inner.split(" ± "))
    if not rest:
        assert first == pytest.approx(mean, rel=1e-3)
        return
    (second,) = rest
    assert second == pytest.approx(half, rel=0.17), "one figure from 3 on, two below"
    assert abs(first - mean) <= 0.51 * half
