"""``make release``: the profile's program is of the compiler's LLVM, and every slice runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from incast import Scenario
from tools import release


def test_every_slice_is_a_scenario_that_runs() -> None:
    for scenario, *settings in release.SLICES:
        changes = dict(setting.split("=", 1) for setting in settings)
        Scenario.load(scenario).with_(changes).validate()


def test_only_a_program_of_the_compilers_llvm_or_a_newer_one_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def program(folder: str, version: str) -> Path:
        path = tmp_path / folder / "llvm-profdata"
        path.parent.mkdir(parents=True)
        path.write_text(f"#!/bin/sh\necho 'LLVM (http://llvm.org/):\n  LLVM version {version}'\n")
        path.chmod(0o755)
        return path

    rustc = {("rustc", "-vV"): "host: x86\nLLVM version: 22.1.2\n", ("rustc", "--print", "sysroot"): f"{tmp_path}\n"}
    real = release.told
    monkeypatch.setattr(release, "told", lambda command: rustc.get(tuple(command)) or real(command))
    old, new = program("old", "14.0.6"), program("new", "22.0.0")
    monkeypatch.setenv("PATH", f"{old.parent}")
    assert release.profdata() is None
    monkeypatch.setenv("PATH", f"{old.parent}:{new.parent}")
    assert release.profdata() == new
    own = program("lib/rustlib/x86/bin", "unknown")
    assert release.profdata() == own
