"""Calls of ``incast`` take what a user would give them, and refuse everything else in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import incast
from incast import IncastError, Scenario, ScenarioError, StudyError
from incast.commands import arguments

SHORT = {"run.duration": "2ms", "run.warmup": "1ms"}


class Mine:
    """A controller with a constant window."""

    cwnd = 20_000.0

    def on_ack(self, ack: Any) -> None: ...
    def on_loss(self, event: Any) -> None: ...
    def on_timeout(self, event: Any) -> None: ...


def nowhere() -> Path:
    raise AssertionError("no scenario is written")


COUNT = "expected a number of seeds such as 3 (seeds 1 to 3), or the list [1, 2, 3]"
KEYS = 'expected a key with its values, such as {"traffic.flows": [100, 250]}'
ONE_SCENARIO = "expected a scenario (its name, its path or a Scenario), or a list of them"
ONE_CONTROLLER = 'expected a controller (a text such as "swift:target=min-rtt", or a class), or a list of them'
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"scenarios": 3}, f"scenarios = 3: {ONE_SCENARIO}"),
    ({"scenarios": []}, f"scenarios = []: {ONE_SCENARIO}"),
    ({"scenarios": None}, f"scenarios = None: {ONE_SCENARIO}"),
    ({"scenarios": {"a": 1}}, f"scenarios = {{'a': 1}}: {ONE_SCENARIO}"),
    ({"controllers": 3}, f"controllers = 3: {ONE_CONTROLLER}"),
    ({"controllers": ["dctcp", None]}, f"controllers = ['dctcp', None]: {ONE_CONTROLLER}"),
    ({"controllers": Mine()}, ONE_CONTROLLER),
    ({"controllers": int}, "the class int has no on_ack, on_loss and on_timeout"),
    ({"seeds": 0}, f"seeds = 0: {COUNT}"),
    ({"seeds": True}, f"seeds = True: {COUNT}"),
    ({"seeds": "3"}, f"seeds = '3': {COUNT}"),
    ({"seeds": [3, 7]}, "seeds = [3, 7]: expected a number of seeds"),
    ({"seeds": [3, 7]}, "incast.Study takes any seeds"),
    ({"workers": -1}, "workers = -1: expected a number of parallel runs, or 0 for one per core"),
    ({"workers": 1.5}, "workers = 1.5: expected a number of parallel runs"),
    ({"vary": ["traffic.flows"]}, f"vary = ['traffic.flows']: {KEYS}"),
    ({"vary": {}}, f"vary = {{}}: {KEYS}"),
    ({"vary": {"traffic.flows": []}}, KEYS),
    ({"vary": {"traffic.flows": object()}}, KEYS),
    ({"vary": {"a": 1, "b": 2, "c": 3}}, "vary has 3 keys (a, b, c): a comparison varies one or two; make a study"),
    ({"settings": ["run.duration=1ms"]}, "expected keys with their values, such as"),
    ({"settings": {"run.duration": object()}}, "expected keys with their values, such as"),
    ({"out": 3}, "out = 3: expected the path of a folder"),
    ({"store": " "}, "store = ' ': expected the path of a folder"),
    ({"bins": 3}, 'bins = 3: expected sizes such as "10kB,1MB"'),
    ({"formats": 3}, 'formats = 3: expected image formats such as "png,pdf"'),
    ({"memory_limit": "8GB"}, "memory_limit = '8GB': expected a number of bytes"),
]


@pytest.mark.parametrize(("given", "told"), WRONG)
def test_a_wrong_argument_is_refused_with_its_name_and_what_was_expected(
    given: dict[str, Any], told: str, tmp_path: Path
) -> None:
    call: dict[str, Any] = {"scenarios": "dumbbell", "controllers": "dctcp", "out": tmp_path / "c"}
    with pytest.raises(IncastError) as refused:
        incast.compare(**call | given)
    assert told in str(refused.value)


def test_one_value_stands_for_a_list_of_one_and_numbers_may_be_numpys() -> None:
    assert arguments.varied({"traffic.flows": 4}) == ["traffic.flows=4"]
    assert arguments.varied({"queue.mark": "15p"}) == ["queue.mark=15p"]
    assert arguments.varied({"traffic.flows": np.array([2, 4])}) == ["traffic.flows=2,4"]
    assert arguments.varied({"controller.g": np.float64(0.5)}) == ["controller.g=0.5"]
    assert (arguments.seeds(3), arguments.seeds([1, 2]), arguments.seeds(range(1, 5))) == (3, 2, 4)
    assert arguments.controllers("swift") == ["swift"]
    assert arguments.controllers(["swift", Mine]) == ["swift", f"{__name__}:Mine"]
    assert arguments.scenarios(["dumbbell", Path("a.toml")], nowhere) == ["dumbbell", "a.toml"]


def test_scenarios_are_written_beside_the_results_under_different_names(tmp_path: Path) -> None:
    one = Scenario.load("dumbbell").with_(SHORT)
    other = one.with_({"queue.mark": "20p"})
    paths = arguments.scenarios([one, "dumbbell", other], lambda: tmp_path)
    assert paths[1] == "dumbbell"
    first, second = Scenario.load(paths[0]), Scenario.load(paths[2])
    assert (first, second.hash) == (one, other.hash)
    assert (first.name, second.name) == ("dumbbell", "dumbbell-2")


@pytest.mark.extended(part="python")
def test_a_comparison_takes_scenarios_and_classes(tmp_path: Path) -> None:
    one = Scenario.load("dumbbell").with_(SHORT)
    done = incast.compare(one, ["dctcp", Mine], vary={"traffic.flows": 2}, seeds=[1], out=tmp_path / "c")
    rows = done.table.to_pylist()
    assert [row["controller"] for row in rows] == ["dctcp", f"{__name__}:Mine"]
    mine = one.with_({"traffic.flows": 2}).with_controller(Mine).run(seed=1)
    assert rows[1]["flows.throughput_mean_bps"] == mine.summary["flows"]["throughput_mean_bps"]


def test_every_exception_of_the_package_is_an_incast_error() -> None:
    for name in (name for name in incast.__all__ if name.endswith("Error") or name == "RunStopped"):
        assert issubclass(getattr(incast, name), IncastError), name
    with pytest.raises(IncastError, match="dumbell") as refused:
        Scenario.load("dumbell")
    assert type(refused.value) is ScenarioError
    with pytest.raises(IncastError, match="expected less than run.duration"):
        Scenario.load("dumbbell").with_({"run.duration": "1ms"}).run()
    assert not issubclass(StudyError, ScenarioError)
