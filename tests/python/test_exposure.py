"""ON seconds inside the measured interval."""

import pyarrow as pa
import pytest

from incast.runs.exposure import on_seconds, seconds


def flows(*starts: float) -> pa.Table:
    return pa.table({"group": ["load"] * len(starts), "start_s": list(starts)})


def scenario(**app: object) -> dict[str, object]:
    return {"traffic": [{"name": "load", "app": app}]}


ON_OFF = {"kind": "on-off", "on": "1s", "off": "1s"}


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [(0.0, 1.0, 1.0), (1.0, 2.0, 0.0), (0.5, 2.5, 1.0), (0.0, 7.0, 4.0), (6.25, 6.75, 0.5)],
)
def test_on_and_off_alternate_from_the_flows_start(start: float, end: float, expected: float) -> None:
    assert on_seconds(scenario(**ON_OFF), flows(0.0), start, end) == pytest.approx(expected)


def test_off_first_shifts_by_one_off_time() -> None:
    assert on_seconds(scenario(**ON_OFF, off_first=True), flows(0.0), 0.0, 2.0) == pytest.approx(1.0)
    assert on_seconds(scenario(**ON_OFF, off_first=True), flows(0.0), 0.0, 1.0) == 0.0


def test_mean_over_flows_that_start_at_different_times() -> None:
    assert on_seconds(scenario(**ON_OFF), flows(0.0, 0.5), 0.0, 1.0) == pytest.approx(0.75)


def test_applications_without_off_time_are_on_from_their_start() -> None:
    assert on_seconds(scenario(kind="bulk"), flows(0.0, 2.0), 1.0, 3.0) == pytest.approx(1.5)


def test_nothing_is_on_after_the_stop() -> None:
    stopping = {"traffic": [{"name": "load", "app": ON_OFF, "stop": "250ms"}]}
    assert on_seconds(stopping, flows(0.0), 0.0, 1.0) == pytest.approx(0.25)
    assert on_seconds(stopping, flows(0.0), 0.5, 1.0) == 0.0


@pytest.mark.parametrize(("text", "value"), [("10us", 1e-5), ("1.5 s", 1.5), ("0", 0.0), ("250ms", 0.25)])
def test_times_read_as_scenarios_write_them(text: str, value: float) -> None:
    assert seconds(text) == pytest.approx(value)
