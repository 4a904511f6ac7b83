"""``tools/same_bytes.py`` runs what there is, and sees a byte that moved."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from incast import Scenario, ScenarioError
from incast.commands import kinds
from tools import same_bytes


def listed(what: str) -> set[str]:
    """Give the names of what there is of a kind."""
    return {name for name, _ in kinds.listing(what)}


def test_every_controller_scenario_form_and_routing_policy_has_a_case() -> None:
    assert set(same_bytes.CONTROLLERS) == listed("controllers")
    assert set(same_bytes.SCENARIOS) == listed("scenarios")
    for controller in same_bytes.CONTROLLERS:
        text = " ".join(kinds.description("controller", controller).split())
        found = re.search(r"form = standard .*?Expected: one of: (.*?)\.", text)
        forms = set(re.findall(r'"([\w-]+)"', found[1])) - {"standard"} if found else set()
        # yasomam runs under its former name, seed-000, which builds before the new one know as well
        assert set(same_bytes.FORMS.get(controller, "").split()) >= forms - {"yasomam"}, controller
    assert set(same_bytes.ROUTING) == choices("routing.kind")


def choices(key: str) -> set[str]:
    """Give the words that a key takes, as its error lists them."""
    with pytest.raises(ScenarioError) as said:
        Scenario.load("dumbbell").with_({key: "no-such-thing"}).validate()
    return set(re.findall(r'"([\w-]+)"', str(said.value).partition("expected")[2]))


def folder(path: Path, marks: int, column: list[int]) -> Path:
    """Write what a run may have left."""
    path.mkdir()
    (path / "summary.json").write_text(json.dumps({"flows": {"marks": marks, "drops": 1}}))
    (path / "manifest.json").write_text(path.name)
    pq.write_table(pa.table({"flow": [0, 1], "bytes": column}), path / "flows.parquet")
    return path


def test_what_differs_is_named(tmp_path: Path) -> None:
    before, after = folder(tmp_path / "before", 3, [1, 2]), folder(tmp_path / "after", 4, [1, 3])
    assert same_bytes.compared(before, before) == []
    (after / "more.csv").write_text("")
    assert same_bytes.compared(before, after) == [
        "more.csv: only after",
        "flows.parquet: columns bytes",
        "summary.json: 1 figures (flows.marks: 3 -> 4)",
    ]


def test_a_case_that_only_one_build_refuses_differs(tmp_path: Path) -> None:
    assert same_bytes.compared("error: one", "error: one") == []
    assert same_bytes.compared("error: one", tmp_path) == ["before: error: one\n    after: ran"]
