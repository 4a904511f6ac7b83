"""Notes on what HPCC's files lack, or cannot say."""

from __future__ import annotations

from pathlib import Path

import pytest

from incast import Scenario
from incast.errors import ScenarioError
from incast.interchange import hpcc_export
from test_interchange import CONFIG, TOPOLOGY, scenario_of, translated


def test_what_hpccs_files_have_one_value_for_is_said() -> None:
    scenario = Scenario.load("mixed-rdma-tcp").changed(
        {"traffic.storage.transport.rdma.ack_every": 4, "buffer.pfc.reserve": "0B"}
    )
    made = hpcc_export.translate(scenario)
    lines = made.notes.lines()
    for told in (
        "transports linux, rdma: all flows have rdma there",
        "transport.rdma.ack_every is 4: there it is 1",
        "transport.rdma.timeout is 4ms: there it is 0s",
        "buffer.pfc.reserve is 0B: there it is 4096B",
        "queue weighted: there is one class, with the marks of the first class that marks",
    ):
        assert f"differs: {told}" in lines
    # the window of the storage flows, and the marks of their class
    for line in ("HAS_WIN 1", "VAR_WIN 1", "ENABLE_QCN 1", "KMIN_MAP 2 100000000000 100 400000000000 100"):
        assert f"{line}\n" in made.files["config.txt"]


def test_dcqcn_without_thresholds_marks_as_their_optimised_build_does(tmp_path: Path) -> None:
    maps = [(line + "\n", "") for line in CONFIG.splitlines() if line.startswith(("KMIN", "KMAX", "PMAX"))]
    made = translated(tmp_path, {"config.txt": [*maps, ("CC_MODE 3", "CC_MODE 1")]})
    assert scenario_of(made)["queue"]["kind"] == "ecn-ramp"
    assert any("no thresholds of 100Gbps in KMIN_MAP" in line for line in made.notes.lines())


def test_a_byte_order_mark_is_no_part_of_a_word(tmp_path: Path) -> None:
    plain = translated(tmp_path)
    marked = translated(tmp_path, {"config.txt": "\ufeff" + CONFIG, "topology.txt": "\ufeff" + TOPOLOGY})
    assert (marked.files, marked.notes.lines()) == (plain.files, plain.notes.lines())


def test_words_that_are_no_keys_are_counted_after_the_first(tmp_path: Path) -> None:
    words = " ".join(f"word{number}" for number in range(5000))
    absent = translated(tmp_path, {"config.txt": CONFIG + words}).notes.absent
    assert absent[-1] == "4980 further words (no keys)" and len(absent) < 40
    with pytest.raises(ScenarioError, match=r"config.txt, line 1, column 1: no key of a configuration"):
        translated(tmp_path, {"config.txt": words})
