"""Workloads made by the rules of AICB's generator: the same bytes."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from incast import Workload
from parity import aicb


def sha256(text: str) -> str:
    """Return the SHA-256 of a text in hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def test_gpt_13b_has_the_bytes_of_the_generator() -> None:
    """The digest is that of iQua/days, tests/fixtures/aicb/b4-gpt13b-w128-tp8-pp2-gbs8.txt, made by AICB 23eec3c."""
    text = aicb.training(aicb.GPT_13B)
    assert len(text) == 6040
    assert sha256(text) == "8268ee8380f9105452428a283713a1e3451fe054635da212aaf9131c09c8a68f"


@pytest.mark.parametrize(
    ("collective", "digest"),
    [
        ("ALLREDUCE", "7344a4fa10583433162bc9eb81bfc9ea20ce40b1d44d4fc031f945a84048c856"),
        ("ALLGATHER", "abd0350d8f13d135f542e8b062e6624598bee68582b597c0f51efa80d367a3f6"),
        ("ALLTOALL", "2f07b7fe2d7642fee4c5437c1fcd5b15c7cb20c1b682d1a1ff878bc8565ea865"),
    ],
)
def test_micro_tests_have_the_bytes_of_their_files(collective: str, digest: str) -> None:
    """The digests are those of aliyun/aicb 23eec3c, workload/simAI/micro_test."""
    assert sha256(aicb.micro(collective)) == digest


def test_bytes_of_a_gpt_175b_row_are_twice_its_activations() -> None:
    """Two bytes, a sequence of 2,048 and 12,288 hidden values: 50,331,648 B."""
    model = replace(aicb.GPT_13B, layers=96, hidden=12288, sequence=2048)
    assert "attention_column\t-1\t1\tALLGATHER\t50331648\t" in aicb.training(model)


def test_what_the_generator_writes_is_read(tmp_path: Path) -> None:
    model = replace(aicb.GPT_13B, world=32, global_batch=4, layers=4, hidden=256, sequence=128)
    file = tmp_path / "small.txt"
    file.write_text(aicb.training(model))
    job = Workload.load(file, as_simai=True)
    assert job.ranks == 32
    # two micro-batches of four rows a layer and two behind them; before and behind all 1, 3 and 4, and the gradients
    assert job.stats()["tasks_by_kind"]["collective"] == 32 * (1 + 2 * (4 * 2 + 2) + 3 + 4 + 1)
    (tmp_path / "micro.txt").write_text(aicb.micro("ALLREDUCE", most=16384))
    assert Workload.load(tmp_path / "micro.txt", gpus=4).stats()["tasks_by_kind"]["collective"] == 4 * 3


def test_the_program_writes_what_was_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert aicb.main([]) == 0
    assert capsys.readouterr().out == aicb.training(aicb.GPT_13B)
    assert aicb.main(["--set", "layers=4", "--set", "world=32"]) == 0
    assert capsys.readouterr().out == aicb.training(replace(aicb.GPT_13B, layers=4, world=32))
    assert aicb.main(["--micro", "ALLREDUCE"]) == 0
    assert capsys.readouterr().out == aicb.micro("ALLREDUCE")
    assert aicb.main(["--set", "depth=4"]) == 2
    assert "expected KEY=NUMBER with one of world, tp" in capsys.readouterr().err
