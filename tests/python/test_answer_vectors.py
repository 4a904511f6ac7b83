"""The vectors that answers in Python and in the viewer share: each text is what its inputs give."""

from __future__ import annotations

import json
import re

import pytest

import answer_vectors

DATA = json.loads(answer_vectors.FILE.read_text(encoding="utf-8"))

SENTENCES = (
    "^Nothing was delivered in the measured interval of any run",
    r"^\w+ and \w+ have the same figures",
    r"^[\w, ]+, \w+ and \w+ have the same figures",
    r"of flows did not finish: \d",
    r"of flows did not finish \(",
    r"of flows did not finish, in the worst of \d cases",
    "of queries did not finish",
    "of iterations did not finish.* Iteration times are those of the others",
    "^Runs of .* are too short for timeouts.* never opened",
    "^Runs of .* are too short for timeouts.* silent until the end",
    "^One seed has no interval",
    r"^\w+ sends only .* an almost idle network",
    r"^\w+ leads \w+ in \d of \d figures",
    r"^\w+ leads all others in \d of \d figures: .* than \w+",
    r"^\w+ leads .* in the only figure",
    "^[^:]* leads [^:]*, with .* of the highest throughput: ",
    r"^\w+ and \w+: a trade-off",
    "more figures?[.;]",
    "Within 1 %: ",
    "times as high",
    r"a factor of [\d.]+ \[",
    "a factor of ≥ ",
    "points (lower|higher)",
    r"at least [\d.]+ % (lower|higher) \[≥ ",
    "^[^:]* for the (lowest|highest) .* is not told apart",
    r"^[^:]* for the (lowest|highest) .*; \w+ is [^;]* than \w+",
    "more in the table",
    r"^\w+ carries little, with .* That is no lead",
    r"^Undecided, \w+ against \w+: ",
    r"^Undecided: .* against .*: ",
    r"About \d+ more seeds? would tell \w+ from \w+, ",
    r"About \d+ more seeds? would tell \w+ from \w+ in ",
    "would need more than 100 seeds",
    "^Unfinished transfers leave open who is better in ",
    "^Bounds only at every point: .* more figure",
    "^Too few transfers for p99: ",
    r"^Too few transfers for p99\.9: ",
    "^No difference of 1 % in ",
    "^Nothing to compare",
)
"""Sentences that the cases reach, as patterns."""


@pytest.mark.parametrize("part", ["quantiles", "numbers", "measures", "facts"])
def test_the_texts_of_the_file_are_those_of_its_inputs(part: str) -> None:
    assert DATA[part] == json.loads(json.dumps(answer_vectors.computed(DATA, part)))


@pytest.mark.parametrize("place", range(len(DATA["runs"])))
def test_the_answers_and_cells_of_runs_are_those_of_their_figures(place: int) -> None:
    own = DATA["runs"][place : place + 1]
    assert own == json.loads(json.dumps(answer_vectors.computed({"runs": own}, "runs")))


def test_the_cases_reach_every_sentence() -> None:
    texts = [
        f"{lead}{rest}".replace("\xa0", " ") for one in DATA["facts"] + DATA["runs"] for _, lead, rest in one["answers"]
    ]
    missing = [sentence for sentence in SENTENCES if not any(re.search(sentence, text) for text in texts)]
    assert not missing


def test_the_tables_have_every_kind_of_cell() -> None:
    rows = [row for one in DATA["runs"] for row in one["table"]["rows"]]
    cells = [cell for row in rows for cell in row[2:]]
    marks = [mark for _, mark, *_ in rows]
    texts = " ".join(text for text, *_ in cells)
    assert all(sign in texts for sign in ("±", "≥", "–", " to "))
    assert {"", "◆"} < {*marks} and any(mark.endswith("%") for mark in marks)
    assert any(best for *_, best in cells) and any(share for _, share, _ in cells)
