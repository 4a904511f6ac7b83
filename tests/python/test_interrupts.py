"""Ctrl-C: within a second anywhere, with the status 130 and the line that goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import command, environment, left_in
from incast import RunStopped, Scenario
from incast.system import folders
from incast.system.folders import new_folder

ZERO_COST = {
    "run.duration": "1s",
    "run.warmup": "0s",
    "topology.source_link.rate": "inf",
    "topology.sink_link.rate": "inf",
    "traffic.app": {"kind": "closed-loop", "write": "1B", "outstanding": 1_000_000},
}
"""Writes that cost nothing: an engine window of 10 us holds ten millions of them."""


def test_whoever_waits_for_a_run_is_asked_by_the_clock_where_hops_are_slow() -> None:
    told: list[int] = []

    def progress(now_s: float, end_s: float, hops: int) -> bool:
        told.append(hops)
        return len(told) < 3

    with pytest.raises(RunStopped):
        Scenario.load("star").with_(ZERO_COST).run(progress=progress)
    # a hop takes some 20 us of real time here: by hops alone it is asked every 400,000, which are eight seconds
    assert told[-1] - told[0] < 200_000


def test_whoever_waits_for_a_run_sees_its_set_up_and_ends_it() -> None:
    # it is asked by the clock: how many flows take long enough depends on the machine
    for flows in (200_000, 800_000, 3_200_000):
        parts: list[float] = []
        begun: list[float] = []

        def set_up(part: float, parts: list[float] = parts) -> bool:
            parts.append(part)
            return len(parts) < 2

        def progress(now_s: float, end_s: float, hops: int, begun: list[float] = begun) -> bool:
            begun.append(now_s)
            return False

        with pytest.raises(RunStopped):
            Scenario.load("random-pairs").with_({"traffic.flows": flows}).run(progress=progress, set_up=set_up)
        assert not (begun and len(parts) == 2), "a run that was ended in its set-up has begun"
        if len(parts) == 2:
            assert 0 < parts[0] < parts[1] < 1
            return
    pytest.fail("the set-up of 3.2 million flows was over before it asked twice")


STUCK = """
import sys, time, os
from pathlib import Path
from incast.system import interrupts
from incast.system.folders import new_folder

def stuck(*_):
    with new_folder(Path("r")) as aside:
        (aside / "half").write_text("written")
        Path("working").write_text("")
        while True:
            try:
                time.sleep(0.1)
            except KeyboardInterrupt:
                pass  # as compiled code that takes no notice

import incast.commands.run as run
run.Scenario.load = stuck
from incast.cli import main
main()
"""


def wait_for(program: subprocess.Popen[Any], happens: Callable[[], object]) -> None:
    """Wait for what a program does, two minutes at most, or until it has ended."""
    for _ in range(2400):
        if happens() or program.poll() is not None:
            return
        time.sleep(0.05)


def heard() -> None:
    """Let a program hear that its terminal was closed, also where these tests were begun to outlive theirs."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_work_that_takes_no_notice_of_ctrl_c_is_ended_and_leaves_nothing(tmp_path: Path, stop: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", STUCK, "run", "star"],
        cwd=tmp_path,
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heard,
    ) as program:
        wait_for(program, (tmp_path / "working").exists)
        program.send_signal(stop)
        _, told = program.communicate(timeout=60)
    assert program.returncode == 128 + stop, told
    assert told == ("error: interrupted; no half-written result was left behind\nrestart with: incast run star\n")
    assert left_in(tmp_path) == ["working"]


def test_a_closed_terminal_ends_a_run_and_leaves_nothing(tmp_path: Path) -> None:
    words = ["run", "dumbbell", "--set", "run.duration=5000s", "--out", "a"]
    with subprocess.Popen(
        command(words), cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, text=True, preexec_fn=heard
    ) as program:
        wait_for(program, lambda: list(tmp_path.glob(".a.partial-*")))
        program.send_signal(signal.SIGHUP)
        _, told = program.communicate(timeout=60)
    assert program.returncode == 129, told
    assert told.startswith("error: interrupted; no half-written result was left behind\n")
    assert left_in(tmp_path) == []


def test_a_program_that_was_begun_to_outlive_its_terminal_goes_on() -> None:
    told = "import signal\nfrom incast.system.interrupts import loading\nwith loading(): pass\n"
    told += (
        "print(signal.getsignal(signal.SIGHUP) == signal.SIG_IGN, signal.getsignal(signal.SIGTERM) == signal.SIG_IGN)"
    )
    done = subprocess.run(
        [sys.executable, "-c", told], env=environment(), capture_output=True, text=True, check=True,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )  # fmt: skip
    assert done.stdout == "True False\n"


@pytest.mark.slow("a process of its own, which loads the program")
def test_ctrl_c_in_a_comparison_tells_how_to_go_on(tmp_path: Path) -> None:
    words = ["compare", "random-pairs", "--cc", "dctcp", "--seeds", "1", "--set", "run.duration=1000s", "--out", "a b"]
    with subprocess.Popen(
        command(words), cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, text=True
    ) as program:
        wait_for(program, (tmp_path / "a b" / "runs").exists)
        program.send_signal(signal.SIGINT)
        _, told = program.communicate(timeout=60)
    assert program.returncode == 130, told
    assert told.endswith(
        "resume with: incast compare random-pairs --cc dctcp --seeds 1 --set run.duration=1000s --out 'a b'\n"
    )
    assert not list((tmp_path / "a b").rglob(".*.partial-*"))


WAITS = """
import sys, time
from pathlib import Path
from incast.system.folders import new_folder
with new_folder(Path("out")) as aside:
    (aside / "half").write_text("of it")
    print(aside.name, flush=True)
    time.sleep(600)
"""


def test_what_a_killed_program_left_of_a_folder_is_cleared_and_nothing_of_a_living_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    other = tmp_path / ".out.partial-0123abcd"  # of another machine, or an earlier version
    other.mkdir()
    (tmp_path / ".out2.partial-0123abcd").mkdir()
    words = [sys.executable, "-c", WAITS]
    with (
        subprocess.Popen(words, env=environment(), stdout=subprocess.PIPE, text=True) as killed,
        subprocess.Popen(words, env=environment(), stdout=subprocess.PIPE, text=True) as living,
    ):
        try:
            assert killed.stdout and living.stdout
            names = [program.stdout.readline().strip() for program in (killed, living)]
            kept = [".out.partial-0123abcd", ".out2.partial-0123abcd"]
            assert left_in(tmp_path) == sorted([*kept, *names])
            killed.kill()
            killed.wait()
            with new_folder(Path("out2")):
                assert names[0] in left_in(tmp_path), "of another folder"
            with pytest.raises(ZeroDivisionError), new_folder(Path("out")) as aside:
                assert left_in(tmp_path) == sorted([*kept, names[1], aside.name, "out2"])
                _ = 1 / 0
            assert left_in(tmp_path) == sorted([*kept, names[1], "out2"])
            assert (tmp_path / names[1] / "half").read_text() == "of it"
        finally:
            killed.kill()
            living.kill()


@pytest.mark.parametrize("opened_first", [True, False])
def test_a_folder_that_another_program_clears_before_it_is_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened_first: bool
) -> None:
    cleared: list[Path] = []
    opened = os.open

    def open_late(path: Path, *more: Any, **named: Any) -> int:
        clear = not cleared and ".out.partial-" in str(path)
        if clear:
            cleared.append(path)
        if clear and not opened_first:
            path.rmdir()
        descriptor = opened(path, *more, **named)
        if clear and opened_first:
            path.rmdir()
        return descriptor

    monkeypatch.setattr(os, "open", open_late)
    with new_folder(tmp_path / "out") as aside:
        assert cleared and aside not in cleared
        assert left_in(tmp_path) == [aside.name]
    assert left_in(tmp_path) == ["out"]


def test_what_another_machine_of_the_same_name_or_an_earlier_boot_left_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "BOOT", tmp_path / "boot")
    left = set()
    for boot in ("", "one", "two"):
        if boot:
            (tmp_path / "boot").write_text(boot)
        with pytest.raises(ZeroDivisionError), new_folder(tmp_path / "out") as aside:
            prefix = aside.name[: aside.name.rindex("-")]
            _ = 1 / 0
        left.add(f"{prefix}-01234567")
        (tmp_path / f"{prefix}-01234567").mkdir()
    assert len(left) == 3
    assert left_in(tmp_path) == sorted([*left, "boot"])
    with new_folder(tmp_path / "out"):
        pass
    assert left_in(tmp_path) == sorted([*left - {f"{prefix}-01234567"}, "boot", "out"])


@pytest.mark.extended(part="python")
def test_a_run_after_one_that_was_killed_leaves_its_folder_alone(tmp_path: Path) -> None:
    words = ["run", "random-pairs", "--out", "a", "--set", "run.warmup=0s", "--set", "run.duration=1000s"]
    with subprocess.Popen(command(words), cwd=tmp_path, env=environment(), stderr=subprocess.DEVNULL) as program:
        wait_for(program, lambda: left_in(tmp_path))
        program.kill()
    assert len(left_in(tmp_path)) == 1
    subprocess.run(command([*words[:-1], "run.duration=20us"]), cwd=tmp_path, env=environment(), check=True)
    assert left_in(tmp_path) == ["a"]
