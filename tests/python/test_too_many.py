"""Studies of more runs than anybody means: refused by their numbers, before a point is made."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from incast import Study, StudyError
from incast.study import axes
from stored import SHORT

LONG = [f"{number}ns" for number in range(1, 2001)]
"""Values of which four axes have 16 billions of points."""


def refused(monkeypatch: pytest.MonkeyPatch, words: str, **more: Any) -> None:
    """Check that a study is refused, and that nothing was drawn or multiplied for it."""

    def drawn(*_: object, **__: object) -> Any:
        pytest.fail("a point was made")

    monkeypatch.setattr(itertools, "product", drawn)
    monkeypatch.setattr(axes, "_hypercube", drawn)
    with pytest.raises(StudyError, match=words):
        Study("dumbbell", **({"settings": SHORT, "seeds": 1} | more)).points()


def test_a_grid_is_multiplied_out_before_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = ("transport.rto_min", "transport.rto_max", "traffic.jitter", "traffic.stagger")
    words = "more than 1,000,000 runs: expected fewer than 4,000,000 points or more, each under 2 seeds"
    refused(monkeypatch, words, axes=dict.fromkeys(keys, LONG), seeds=2)
    arms = {name: {"controller": "dctcp", "controller.g": number} for number, name in ((0.1, "a"), (0.2, "b"))}
    refused(monkeypatch, "more than 1,000,000 runs", axes={keys[0]: LONG}, arms=arms, seeds=300)


def test_ranges_samples_and_seeds_have_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    many = 10**10
    own = {"from": 0.01, "to": 1}
    for word in ("steps", "samples"):
        told = rf"controller.g.{word} = {many}: expected a whole number from [12] to 1,000,000"
        refused(monkeypatch, told, axes={"controller.g": own | {word: many}})
    for design in ("random", "lhs"):
        told = f"samples = {many}: expected a whole number from 1 to 1,000,000"
        refused(monkeypatch, told, axes={"controller.g": own}, design=design, samples=many)
        refused(monkeypatch, "samples = ", axes={"controller.g": own}, design=design, samples=[900_000, 900_000])
        told = "more than 1,000,000 runs: expected fewer than 900,000 points or more, each under 2 seeds"
        refused(monkeypatch, told, axes={"controller.g": own}, design=design, samples=900_000, seeds=2)
    refused(monkeypatch, f"seeds = {many}: expected a whole number from 1", seeds=many)
    zipped = dict.fromkeys(("transport.rto_min", "traffic.jitter"), LONG)
    refused(monkeypatch, "more than 1,000,000 runs", axes=zipped, design="zip", seeds=1000)


def test_a_sample_of_a_sensitivity_is_counted_before_it_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    sensitivity = pytest.importorskip("incast.tuning.sensitivity")
    study = Study("dumbbell", settings=SHORT, axes={"controller.g": {"from": 0.01, "to": 1}}, seeds=2)
    for method, samples, points in (("morris", 400_000, 800_000), ("sobol", 2**18, 786_432)):
        others = {"sensitivity": {"method": method, "figures": ["flows.jain"], "samples": samples}}
        with pytest.raises(
            StudyError, match=f"samples = {samples}: {points:,} points of 2 seeds are {2 * points:,} runs"
        ):
            sensitivity.Analysis.of(_with(study, others))


def _with(study: Study, others: dict[str, Any]) -> Study:
    """Give the study with the tables that other commands read."""
    object.__setattr__(study, "others", others)
    return study
