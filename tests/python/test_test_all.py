"""``tools/test_all.py``: which parts run in the time that is there, and what is said at the end."""

from __future__ import annotations

import re
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from conftest import ROOT
from tools import test_all
from tools.test_all import Done, Part

REPORT = """<testsuites><testsuite>
<testcase name="a"/><testcase name="b"><failure message="no"/></testcase>
<testcase name="c"><skipped message="needs ray: why"/></testcase>
<testcase name="d"><skipped message="needs ray: why"/></testcase>
</testsuite></testsuites>"""
CARGO = """
test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.1s
test result: FAILED. 30 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.1s
"""


def printing(name: str, text: str, minutes: float = 0.1) -> Part:
    """Make a part that runs a text of Python."""
    return Part(name, "a part", (sys.executable, "-S", "-c", text), minutes)


def test_every_test_that_is_marked_has_a_part_and_every_part_a_test() -> None:
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "tests/python").glob("test_*.py")]
    marked = {
        name for text in texts for name in re.findall(r'^[^"\n]*mark\.extended\(part="(\w+)"\)', text, re.MULTILINE)
    }
    of_pytest = {part.name for part in test_all.PARTS if any("extended" in word for word in part.words)}
    assert of_pytest <= marked <= {part.name for part in test_all.PARTS}


def test_a_part_that_would_not_be_done_in_time_is_left_out_and_named() -> None:
    part = printing("long", "", 6)
    assert test_all.left_out(part, None) == ""
    assert test_all.left_out(part, time.monotonic() + 400) == ""
    done = test_all.carried_out(part, time.monotonic() + 130)
    assert (done.outcome, done.took_s) == ("left out: takes some 6 minutes, and 2 were left", 0)


def test_a_part_that_is_not_done_in_time_is_ended() -> None:
    begun = time.monotonic()
    done = test_all.carried_out(printing("long", "import time\ntime.sleep(60)", 0), begun + 0.1)
    assert done.outcome == "ended: no time was left"
    assert time.monotonic() - begun < 50


@pytest.mark.extended(part="python")
def test_a_part_that_is_ended_has_the_failures_until_then(tmp_path: Path) -> None:
    """An interrupt comes first, by which pytest writes its report."""
    text = "trap 'echo test a ... FAILED; exit 2' INT; while :; do sleep 0.05; done"
    done = test_all.carried_out(Part("cut", "a part", ("sh", "-c", text), 0), time.monotonic() + 2)
    assert (done.outcome, done.counts) == ("FAILED (exit status 2)", "1 failed")
    assert test_all.outcome_of(-15, "3 passed", cut=True) == "ended: no time was left"
    (tmp_path / "cut.xml").write_text(REPORT[:60])
    assert not test_all.is_whole(tmp_path / "cut.xml") and not test_all.is_whole(tmp_path / "none.xml")


def test_parts_pass_or_fail_by_their_exit_status(capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = printing("good", "print('done')"), printing("bad", "raise SystemExit(3)")
    assert [test_all.carried_out(part, None).outcome for part in (good, bad)] == ["passed", "FAILED (exit status 3)"]
    assert "\n==== good: a part\ndone\n" in capsys.readouterr().out


def test_counts_and_reasons_are_read(tmp_path: Path) -> None:
    (tmp_path / "report.xml").write_text(REPORT)
    assert test_all.of_pytest(tmp_path / "report.xml") == (
        "1 passed, 1 failed, 2 skipped",
        Counter({"needs ray: why": 2}),
    )
    assert test_all.of_cargo(CARGO) == "42 passed, 2 failed, 1 ignored"
    assert test_all.of_cargo("nothing of tests") == ""
    assert test_all.of_cargo("test a::b ... ok\ntest a::c ... FAILED\n") == "1 failed"


def test_the_end_says_what_ran_for_how_long_and_what_was_skipped_and_why() -> None:
    parts = [Part(name, "", (), 1) for name in ("one", "two", "three")]
    done = [
        Done(parts[0], "passed", 90, "3 passed, 2 skipped", Counter({"needs ray": 2})),
        Done(parts[1], "FAILED (exit status 1)", 30),
        Done(parts[2], "left out: takes some 1 minutes, and 0 were left"),
    ]
    assert test_all.summary(done).splitlines()[2:] == [
        "one     1.5 min  passed (3 passed, 2 skipped)",
        "                 skipped 2: needs ray",
        "two     0.5 min  FAILED (exit status 1)",
        "three            left out: takes some 1 minutes, and 0 were left",
        "2 of 3 parts ran, 2.0 minutes in all",
        "failed: two",
    ]


def test_parts_are_chosen_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert test_all.main(["--list", "ray", "papers"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["papers", "ray"]
    with pytest.raises(SystemExit):
        test_all.main(["rays"])
    assert "no part rays: expected python, papers" in capsys.readouterr().err
