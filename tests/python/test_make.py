"""The Makefile: what its targets build and install, by ``make -n``."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from conftest import ROOT

STAMPS = (".created", ".packages", ".packages-dev", ".installed")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Make a folder that is built, as make sees it."""
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / ".venv").mkdir()
    for number, stamp in enumerate(STAMPS):
        (tmp_path / ".venv" / stamp).touch()
        os.utime(tmp_path / ".venv" / stamp, (2e9 + number, 2e9 + number))
    return tmp_path


def would_run(clone: Path, *words: str) -> list[str]:
    """Give the commands of a target; none of them runs."""
    # a make that runs these tests hands its own options on
    own = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "PROFILE")
    clean = {key: value for key, value in os.environ.items() if key not in own}
    done = subprocess.run(["make", "-n", *words], cwd=clone, env=clean, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def profiles(lines: list[str]) -> list[str]:
    return [line.split("--profile ")[1] for line in lines if "maturin develop" in line]


@pytest.mark.parametrize(
    ("target", "profile"), [("build", "quick"), ("docs", "quick"), ("demo", "quick"), ("test-python", "dev")]
)
def test_pip_has_nothing_to_do_where_nothing_that_is_asked_for_changed(clone: Path, target: str, profile: str) -> None:
    lines = would_run(clone, target)
    assert not [line for line in lines if "pip install" in line]
    assert profiles(lines) == [profile]


def test_a_whole_test_compiles_the_engine_once(clone: Path) -> None:
    """One profile of cargo for the package, Rust tests and lints: `dev`, which cargo takes unless one is named."""
    lines = would_run(clone, "test")
    assert set(profiles(lines)) == {"dev"}
    assert not [line for line in lines if "cargo " in line and re.search("--release|--profile", line)]


def test_other_packages_are_installed_where_they_are_asked_for(clone: Path) -> None:
    for name in ("pyproject.toml", "constraints.txt"):
        os.utime(clone / name, (2.1e9, 2.1e9))
        dev = [line for line in would_run(clone, "dev") if "pip install" in line]
        assert [" dev |" in line for line in dev] == [False, True, False], "the last is of the second make"
        assert not [line for line in would_run(clone, "demo") if " dev |" in line]
        os.utime(clone / name, (1e9, 1e9))


def test_speed_is_measured_on_what_a_wheel_has(clone: Path) -> None:
    for target in ("bench", "bench-cells", "bench-store", "bench-view"):
        assert profiles(would_run(clone, target)) == ["release"]
    assert profiles(would_run(clone, "build", "PROFILE=release")) == ["release"]


def test_a_demo_ends_with_its_report_and_what_comes_next(clone: Path) -> None:
    *_, first, view, second, run, plot = would_run(clone, "demo")
    assert first == "echo"
    assert all(f"runs/demo/{name}.html" in view for name in ("report", "view"))
    assert "Next" in second
    assert " run dumbbell " in run and " plot " in plot


def test_every_rust_test_is_part_of_a_binary() -> None:
    """A crate with `test = false` builds no tests of its sources: `tests/all/inside.rs` names those that have some."""
    for crate in sorted((ROOT / "crates").iterdir()):
        manifest = tomllib.loads((crate / "Cargo.toml").read_text(encoding="utf-8"))
        if manifest.get("lib", {}).get("test", True):
            continue
        inside = crate / "tests/all/inside.rs"
        named = re.findall(r'#\[path = "(.*)"\]', inside.read_text(encoding="utf-8")) if inside.is_file() else []
        taken = {(inside.parent / path).resolve() for path in named}
        # a module brings those that it declares
        for module in [path for path in taken if path.name == "mod.rs"]:
            declared = re.findall(r"^(?:pub )?mod (\w+);", module.read_text(encoding="utf-8"), re.MULTILINE)
            taken |= {module.with_name(f"{name}.rs") for name in declared}
        tested = {path for path in (crate / "src").rglob("*.rs") if "#[test]" in path.read_text(encoding="utf-8")}
        assert tested <= taken, f"never run: {sorted(map(str, tested - taken))}"
