"""Titles of figures and parameters in words."""

from __future__ import annotations

import pytest

from incast.pictures import titles
from incast.runs.scenario import Scenario


@pytest.mark.parametrize(
    ("key", "title"),
    [
        ("fct.slowdown_p99", "p99 slowdown"),
        ("fct.slowdown_mean", "mean slowdown"),
        ("fct.mean_s", "mean flow completion time"),
        ("flows.rtt_p99_s", "p99 RTT"),
        ("flows.goodput_total_bps", "total goodput"),
        ("flows.jain", "Jain's index"),
        ("queries.with_timeout", "with timeout of queries"),
        ("queues.drops", "drops of all queues"),
        ("queues.busiest.mean_packets", "mean queue at the busiest port"),
        ("groups.web.flows.goodput_total_bps", "total goodput of web"),
    ],
)
def test_a_figure_has_a_title(key: str, title: str) -> None:
    assert titles.figure(key) == title


def test_parameters_are_named_by_their_last_word() -> None:
    assert titles.parameter("controller.base_target") == "base target"
    assert titles.parameter("queue.mark") == "mark (queue)"


def test_no_two_figures_of_a_summary_share_a_title() -> None:
    summary = Scenario.load("dumbbell").changed({"run.duration": "1us", "run.warmup": "0s"}).run().summary
    keys = list(summary["units"])
    found = [titles.figure(key) for key in keys]
    assert all(found)
    twice = {title: [key for key in keys if titles.figure(key) == title] for title in found if found.count(title) > 1}
    assert twice == {}
