"""A run of RDMA beside TCP: what its table, its pictures and its view say of the two."""

from __future__ import annotations

import io
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from incast import Result, Scenario
from incast.pictures.recorded import Frames, NothingToDraw, is_endless
from incast.pictures.run_pictures import Pictures
from incast.report import run_table

RDMA = {"preset": "rdma", "rdma": {"window": "rate"}}
SETTINGS: dict[str, Any] = {"run.duration": "400us", "measure.timeline": "10us"}


@cache
def run(tcp: bool = True) -> Result:
    """Run two flows of a window beside two of a rate alone, or these alone."""
    entry = {"pattern": "hotspot", "receiver": "h0", "app": {"kind": "bulk", "size": "300kB"}}
    rate: dict[str, Any] = {
        "name": "storage",
        "flows": 2,
        "class": 1,
        "controller": {"kind": "dcqcn", "form": "authors"},
    }
    rate["transport"] = RDMA
    web = {"name": "[web]", "flows": 2, "controller": "cubic"}
    entries = [entry | own for own in ([web, rate] if tcp else [rate])]
    return (
        Scenario.load("mixed-rdma-tcp")
        .changed(SETTINGS | {"traffic": entries, "measure.series.flows": [0, 2] if tcp else [0]})
        .run()
    )


def test_windows_that_stand_for_none_are_not_drawn() -> None:
    frames = Frames(run())
    drawn = ~np.isnan(frames.windows).all(axis=1)
    assert drawn.tolist() == [True, True, False, False]
    assert np.nanmax(frames.windows) < 1e6
    picture = Pictures(run()).recorded_windows()
    assert [text.get_text() for text in picture.axes[0].get_legend().get_texts()] == ["flow 0"]
    with pytest.raises(NothingToDraw, match="no recorded flow has a congestion window"):
        Pictures(run(tcp=False)).recorded_windows()


@pytest.mark.parametrize(
    ("windows", "endless"),
    [([1e9, 1e9], True), ([1e9, 2e9], False), ([1e6, 1e6], False), ([], False), ([1e8], True)],
)
def test_a_window_stands_for_none_if_it_is_huge_and_stays_the_same(windows: list[float], endless: bool) -> None:
    assert is_endless(np.array(windows)) == endless


def test_the_table_of_a_run_has_completion_times_of_entries_that_differ_in_their_controllers() -> None:
    def lines(result: Result) -> list[str]:
        text = io.StringIO()
        run_table.show(result, Path("r"), Console(file=text, width=120))
        return [" ".join(re.sub("[^ -~]", " ", line).split()) for line in text.getvalue().splitlines()]

    mixed = lines(run())
    web, storage = mixed.index("[web] (cubic)"), mixed.index("storage (dcqcn:form=authors)")
    assert web < storage and [line.partition(", ")[0] for line in mixed[web + 1 : web + 4]] == [
        "FCT",
        "FCT",
        "slowdown",
    ]
    assert mixed[web + 1] != mixed[storage + 1]
    assert not any("storage" in line for line in lines(run(tcp=False)))
