"""Wheels: what CI builds them for, and that a wheel is tried as a user would meet it (``make wheel`` builds one)."""

from __future__ import annotations

import shlex
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from conftest import ROOT
from tools import wheel

WORKFLOW: dict[str, Any] = yaml.safe_load((ROOT / ".github" / "workflows" / "wheels.yml").read_text(encoding="utf-8"))
PINS = {
    line.partition("==")[0].lower().replace("_", "-")
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    if "==" in line
}


def matrix(job: str) -> dict[str, dict[str, str]]:
    """Give what a job is done for, by platform."""
    return {one["platform"]: one for one in WORKFLOW["jobs"][job]["strategy"]["matrix"]["include"]}


def test_wheels_are_built_and_tried_for_linux_and_macos_on_both_architectures() -> None:
    assert set(matrix("build")) == {"linux-x86_64", "linux-aarch64", "macos-x86_64", "macos-arm64"}
    runners = {name: one["runner"] for name, one in matrix("build").items()}
    assert {name: one["runner"] for name, one in matrix("newest-python").items()} == runners


def test_the_workflow_calls_what_there_is() -> None:
    for name, one in matrix("build").items():
        parsed = wheel.arguments().parse_args(shlex.split(one["options"]))
        assert parsed.manylinux == name.startswith("linux")
        assert set(one["packages"].split()) <= PINS
    steps = [step["run"] for job in WORKFLOW["jobs"].values() for step in job["steps"] if "run" in step]
    assert any(run.startswith("make wheel ") for run in steps)
    assert any("tools/wheel.py --only-try" in run for run in steps)
    used = [step.get("uses", "") for step in WORKFLOW["jobs"]["build"]["steps"]]
    assert any(one.startswith("actions/setup-node@") for one in used)


def test_every_package_that_the_project_names_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for extra, packages in {"": project["dependencies"], **project["optional-dependencies"]}.items():
        # Polars is tried where it is at hand
        named = {package.split(">")[0].split("[")[0].lower() for package in packages} - {"polars"}
        assert named <= PINS, extra


def test_a_wheel_whose_command_fails_is_refused_with_what_it_said(tmp_path: Path) -> None:
    broken = tmp_path / "incast-0-py3-none-any.whl"
    broken.write_bytes(b"no wheel")
    with pytest.raises(SystemExit, match=r"pip --python .* install --quiet .*incast-0-py3-none-any.whl: exit status 1"):
        wheel.tried(broken)


def test_without_zig_it_is_said_what_installs_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wheel.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(SystemExit, match="pip install ziglang"):
        wheel.built(True, tmp_path)


def test_a_wheel_without_the_viewer_is_refused_with_what_builds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = tmp_path / "incast-0-py3-none-any.whl"
    page = "incast/view/viewer.html"
    for files, words in (
        ({"incast/__init__.py": ""}, f"has no {page}.*make viewer.*Node.js 20.19"),
        ({page: "<html></html>"}, f"has no {page}"),
        ({page: "<html><!--incast-runs--></html>"}, ""),
    ):
        with zipfile.ZipFile(made, "w") as archive:
            for name, text in files.items():
                archive.writestr(name, text)
        if words:
            with pytest.raises(SystemExit, match=words):
                wheel.refuse_without_viewer(made)
        else:
            wheel.refuse_without_viewer(made)
    made.write_bytes(b"no wheel")
    with pytest.raises(SystemExit, match="is no wheel"):
        wheel.refuse_without_viewer(made)
    # before the build, which takes minutes
    monkeypatch.setattr(wheel, "ROOT", tmp_path)
    monkeypatch.setattr(wheel, "built", lambda *_: pytest.fail("it was built all the same"))
    monkeypatch.setattr("sys.argv", ["wheel.py"])
    with pytest.raises(SystemExit, match=f"python/{page} is not there.*make viewer.*Node.js 20.19"):
        wheel.main()


def test_the_package_names_the_viewer_that_it_carries() -> None:
    carried = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["maturin"]["include"]
    assert {"path": f"python/{wheel.VIEWER}", "format": "wheel"} in carried
