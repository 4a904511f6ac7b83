"""Classes of packages: a store has a copy of the whole package, and needs the original no more."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from conftest import QUICK, Command
from incast import Store
from incast.batch.workers import Threads
from incast.study.api import extend
from stored import SHORT, small

PACKAGE = {
    "__init__.py": "",
    "deep/__init__.py": "from laboratory.steps import STEP\n",
    "deep/mine.py": (
        "from laboratory import deep\n"
        "from ..base import Base\n"
        "class Mine(Base):\n"
        "    def __init__(self, more=0): self.cwnd = 14480.0 * deep.STEP + more\n"
        "    def on_ack(self, ack):\n"
        "        from ..late import nothing\n"
        "        from laboratory.late import nothing\n"
    ),
    "base.py": ("class Base:\n    def on_loss(self, event): pass\n    def on_timeout(self, event): pass\n"),
    "late.py": "nothing = 0\n",
    "steps.py": "STEP = 1\n",
}


def written(folder: Path) -> Path:
    """Write the package, and return its folder."""
    top = folder / "laboratory"
    for name, text in PACKAGE.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)
    return top


def test_a_store_goes_on_with_its_copy_of_a_package(tmp_path: Path) -> None:
    top = written(tmp_path)
    study = small(axes={}, settings=SHORT | {"controller": "laboratory/deep/mine.py:Mine"}, seeds=1, origin=tmp_path)
    made = study.run(tmp_path / "s", hire=Threads)
    copies = {
        path.name: path.read_text() for path in (tmp_path / "s/files").rglob("*.py") if path.name != "__init__.py"
    }
    assert copies == {Path(name).name: text for name, text in PACKAGE.items() if "__init__" not in name}
    shutil.rmtree(top)
    grown = extend(made, seeds=2, hire=Threads)
    assert grown.runs["controller"].to_pylist() == ["laboratory/deep/mine.py:Mine"] * 2
    assert grown.damaged() == []


@pytest.mark.extended(part="python")
def test_the_package_of_a_class_is_copied(tmp_path: Path, incast: Command) -> None:
    top = written(tmp_path)
    (tmp_path / "study.toml").write_text(
        "scenario = 'dumbbell'\nseeds = 1\n[set]\nrun.duration = '2ms'\nrun.warmup = '0s'\n"
        "[arms]\nmine = 'laboratory/deep/mine.py:Mine'\nmore = 'laboratory/deep/mine.py:Mine:more=1448'\n"
        "dctcp = 'dctcp'\n"
    )
    words = ("study", "run", "study.toml", "--allow-code", "--workers", "1", "--store")
    for step in (1, 2):  # the second of another package, in the same process and in the same store
        (top / "steps.py").write_text(f"STEP = {step}\n")
        assert incast(*words, "s").status == 0
        assert incast(*words, f"alone{step}").status == 0
    assert len(Store.at(tmp_path / "s").known()) == 2 + 2 + 1, "a module that the class imports makes a difference"
    rows = {step: Store.at(tmp_path / f"alone{step}").runs.to_pylist() for step in (1, 2)}
    sent = {step: [row["flows.throughput_mean_bps"] for row in found] for step, found in rows.items()}
    assert sent[1][0] < sent[1][1] < sent[2][0] < sent[2][1] and sent[1][2] == sent[2][2]
    assert [row["controller"] for row in rows[1]] == ["laboratory/deep/mine.py:Mine"] * 2 + ["dctcp"]

    shutil.rmtree(top)
    (tmp_path / "study.toml").unlink()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "s").rename(tmp_path / "elsewhere/s")
    grown = incast("study", "extend", "elsewhere/s", "--seeds", "2", "--workers", "1", "--allow-code")
    assert grown.status == 0, grown.err
    assert "3 points, 2 seeds, 6 runs" in grown.out
    late = {row["seed"]: row for row in Store.at(tmp_path / "elsewhere/s").runs.to_pylist() if row["arm"] == "mine"}
    assert late[1]["flows.throughput_mean_bps"] == sent[2][0], "the rows of the package as it was last"
    assert Store.at(tmp_path / "elsewhere/s").damaged() == []


@pytest.mark.extended(part="python")
def test_a_package_too_large_to_copy_is_refused(tmp_path: Path, incast: Command) -> None:
    top = written(tmp_path)
    with (top / "weights.bin").open("wb") as file:
        file.truncate(17_000_000)
    (tmp_path / "study.toml").write_text(
        "scenario = 'dumbbell'\nset.run.duration = '1ms'\nset.run.warmup = '0s'\n"
        "axes.traffic.flows = [1, 2]\nset.controller = 'laboratory/deep/mine.py:Mine'\n"
    )
    words = ("study", "run", "study.toml", "--allow-code", "--workers", "1", "--store")
    incast(*words, "s").refused("laboratory has more than 16 MB", "a file of its own")
    # results that lie in the folder of work are no part of it
    (top / "weights.bin").unlink()
    (top / "runs").mkdir()
    (top / "runs/store.json").write_text("{}")
    with (top / "runs/big.bin").open("wb") as file:
        file.truncate(17_000_000)
    assert incast(*words, "t").status == 0
    assert not list((tmp_path / "t").rglob("big.bin"))


FAILING = """
class Raises:
    def init(self, env):
        self.cwnd = 14600
    def on_ack(self, ack):
        raise ValueError("no idea")
    def on_loss(self, event): pass
    def on_timeout(self, event): pass


class NoNumber(Raises):
    def on_ack(self, ack):
        self.cwnd = float("nan")
"""


@pytest.mark.parametrize(("place", "file"), [("own.py", "own.py"), ("kit/own.py", "kit/own.py")])
def test_an_error_in_a_copied_class_names_the_file_of_the_user(
    incast: Command, tmp_path: Path, place: str, file: str
) -> None:
    (tmp_path / "kit").mkdir()
    (tmp_path / "kit/__init__.py").touch()
    (tmp_path / file).write_text(FAILING)
    words = ["compare", "dumbbell", "--cc", "dctcp", "--seeds", "1", *QUICK, "--workers", "1", "--out", "c", "--cc"]
    # the second time what was asked for is there already
    for _ in range(2):
        answer = incast(*words, f"{place}:Raises")
        assert answer.status == 1
        assert f"error: {place}:Raises failed in flow" in answer.err
        assert f'File "{tmp_path.resolve() / file}", line 6, in on_ack' in answer.err
        assert "files/" not in answer.err


def test_an_error_without_a_traceback_of_its_own_is_told_once(incast: Command, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(FAILING)
    for words in (["compare", "--cc", "own.py:NoNumber"], ["run", "--set", "controller=own.py:NoNumber"]):
        answer = incast(*words, "dumbbell", *QUICK, "--out", words[0], "-q")
        assert answer.status == 1
        assert answer.err.count("cwnd is NaN") == 1
