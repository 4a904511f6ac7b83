"""The engine as WebAssembly: the same bytes as the installed one, and the lab page in a browser."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import numpy as np
import pytest

import incast
from conftest import ROOT
from incast import _core
from incast.commands.lab import lab as opened
from incast.papers import reading
from incast.view import lab

MOST_HOPS = 4e6
"""Hops of a built-in scenario that is tried: some seconds in a browser."""
DRAWN = int(os.environ.get("INCAST_WEB_CASES", "200"))
ENGINE = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "wasm32-unknown-unknown/web/incast_web.wasm"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
ASSERTS = _core.HAS_ASSERTIONS


def there() -> None:
    """Build the page; skip where that cannot be done."""
    if shutil.which("npm") is None or shutil.which("rustup") is None:
        pytest.skip("the lab is not built: Node.js or rustup is not there")
    done = subprocess.run(["make", "lab"], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode and "rust-std" in done.stderr and "download" in done.stderr:
        pytest.skip("the lab is not built: rustup could not fetch the target wasm32-unknown-unknown")
    assert done.returncode == 0, done.stderr


def cases(folder: Path) -> list[dict[str, Any]]:
    """Return built-in scenarios that are small, and drawn ones."""
    found: list[dict[str, Any]] = []
    for name, _ in _core.list_kind("scenarios"):
        hops = _core.Scenario.load(name).extent()["hops"]
        if hops is None or hops <= MOST_HOPS:
            found.append({"name": name})
    small = {"dumbbell": "20ms", "permutation": "2ms", "wireless-cell": "20s"}
    found += [
        {"name": name, "set": [["run.warmup", "0s"], ["run.duration", length], ["measure.timeline", "auto"]]}
        for name, length in small.items()
    ]
    command = ["cargo", "run", "--quiet", "--profile", "test", "-p", "incast-fuzz", "--"]
    subprocess.run([*command, "--texts", str(folder), "--count", str(DRAWN)], cwd=ROOT, check=True)
    found += [
        {"name": "drawn", "text": (folder / f"{number}.toml").read_text(encoding="utf-8"), "seed": number + 1}
        for number in range(DRAWN)
    ]
    return [*found, *with_files()]


def with_files() -> Iterator[dict[str, Any]]:
    """Yield small figures of papers whose scenarios name files: the page has their texts."""
    offered = json.loads((ROOT / "viewer" / "src" / "lab" / "figures.json").read_text(encoding="utf-8"))
    for paper in offered["papers"]:
        for figure in paper["figures"]:
            if "files" in figure:
                case = {"name": figure["name"], "text": offered["texts"][figure["text"]], "set": figure["set"]}
                case["origin"] = str(reading.home() / paper["name"])
                hops = prepared(case).extent()["hops"]
                if hops is not None and hops <= MOST_HOPS:
                    yield case | {"files": {name: offered["texts"][at] for name, at in figure["files"]}}


def prepared(case: dict[str, Any]) -> Any:
    """Make the scenario of a case with the installed engine."""
    text, name = case.get("text"), case["name"]
    load = _core.Scenario.load
    scenario = load(name) if text is None else _core.Scenario.from_toml(text, Path(case.get("origin", ".")), name)
    for key, value in case.get("set", []):
        scenario = scenario.set(key, value)
    return scenario.with_seed(case["seed"]) if "seed" in case else scenario


def native(case: dict[str, Any]) -> dict[str, Any]:
    """Run a case by the installed engine."""
    try:
        result = _core.run(prepared(case), None, 1)
    except (_core.ScenarioError, _core.RunError) as error:
        return {"refused": str(error)}
    names = [name for name, *_ in _tables(result)]
    return {
        "summary": result.summary_json(),
        "timeline": result.timeline_json(),
        "tables": {name: digest(result.table(name)) for name in names},
    }


def _tables(result: Any) -> list[tuple[str]]:
    """Return the names of the tables, which the error of a wrong one lists."""
    with pytest.raises(ValueError, match="expected") as caught:
        result.table("none")
    return [(name,) for name in str(caught.value).partition("expected ")[2].split(", ")]


def digest(columns: list[tuple[Any, ...]]) -> str:
    """Hash a table as ``viewer/wasm/tables.test.ts`` does."""
    found = hashlib.sha256()
    for name, unit, doc, values, valid, names in columns:
        texts = values if isinstance(values, list) else None
        if names is not None:
            texts = [names[code] for code in values]
        kind = "text" if texts is not None else {"uint64": "u64", "uint32": "u32", "float64": "f64"}[str(values.dtype)]
        found.update(f"{name}\n{unit}\n{doc}\n{kind}\n{len(values)}\n".encode())
        found.update("\n".join(texts).encode() if texts is not None else np.ascontiguousarray(values).tobytes())
        if valid is not None:
            found.update(np.asarray(valid).astype(np.uint8).tobytes())
    return found.hexdigest()


@pytest.mark.extended(part="web")
def test_the_engine_in_a_browser_gives_the_same_bytes(tmp_path: Path) -> None:
    there()
    wanted = cases(tmp_path / "drawn")
    (tmp_path / "cases.json").write_text(json.dumps(wanted), encoding="utf-8")
    environment = os.environ | {
        "INCAST_ENGINE": str(ENGINE),
        "INCAST_CASES": str(tmp_path / "cases.json"),
        "INCAST_DIGESTS": str(tmp_path / "digests.json"),
    }
    command = ["npx", "vitest", "run", "--dir", "wasm", "tables"]
    done = subprocess.run(command, cwd=ROOT / "viewer", env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    digests = json.loads((tmp_path / "digests.json").read_text(encoding="utf-8"))
    assert len(digests) == len(wanted) > DRAWN
    assert sum("files" in case for case in wanted) > 5
    ran = 0
    for case, found in zip(wanted, digests, strict=True):
        expected = native(case)
        assert found.keys() == expected.keys(), (case, found, expected)
        if "refused" not in expected:
            ran += 1
            assert found == expected, case
    assert ran > 0.9 * len(wanted), f"{ran} of {len(wanted)} ran"


@pytest.mark.extended(part="web")
def test_the_engine_in_node() -> None:
    there()
    command = ["npx", "vitest", "run", "--dir", "wasm"]
    environment = os.environ | {"INCAST_ENGINE": str(ENGINE)}
    done = subprocess.run(command, cwd=ROOT / "viewer", env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.extended(part="web")
def test_a_class_in_javascript_and_its_export_give_the_same_figures(tmp_path: Path) -> None:
    there()
    environment = os.environ | {"INCAST_ENGINE": str(ENGINE), "INCAST_EXPORT": str(tmp_path / "export.json")}
    command = ["npx", "vitest", "run", "--dir", "wasm", "export"]
    done = subprocess.run(command, cwd=ROOT / "viewer", env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((tmp_path / "export.json").read_text(encoding="utf-8"))
    (tmp_path / "mine.py").write_text(found["python"], encoding="utf-8")
    scenario = incast.Scenario.load("two-senders").with_(dict(found["set"]))
    result = scenario.with_controller(f"{tmp_path / 'mine.py'}:Mine").run()
    theirs = json.loads(found["summary"])
    assert theirs["queues"]["marks"] > 0  # its windows were cut
    assert result.summary["flows"] == theirs["flows"]


@pytest.mark.extended(part="web")
def test_the_lab_in_a_browser() -> None:
    there()
    if CHROMIUM is None:
        pytest.skip("the viewer is not tried in a browser: Chromium is not installed (apt-get install chromium)")
    environment = os.environ | {"INCAST_CHROMIUM": CHROMIUM, "INCAST_LAB": lab.place().as_uri()}
    command = ["npx", "vitest", "run", "--dir", "lab-e2e", "--testTimeout", "240000", "--hookTimeout", "120000"]
    done = subprocess.run(command, cwd=ROOT / "viewer", env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_addresses_hold_the_experiment() -> None:
    text = "[run]\nduration = '1ms'\n" * 20
    found = lab.address("mine", [("queue.mark", "20p")], ["dctcp", "swift:target=min-rtt"], 3, text)
    assert found.startswith("s=mine&set=queue.mark%3D20p&cc=dctcp&cc=swift%3Atarget%3Dmin-rtt&seeds=3&text=")
    assert len(found) < 200
    files = lab.address("mine", text=text, texts=[("net work.toml", text)]).split("&")
    assert files[-1] == f"file=net+work.toml+{lab.packed(text)}"


def test_an_address_holds_files_that_have_room(tmp_path: Path) -> None:
    contents = {"binary": b"\xff\x00", "empty": b"", "large": b"x" * 150_000, "more": b"x" * 50_001}
    contents |= {"huge": b"x" * 300_000, "rest": b"\r" * 50_000, "ring.0.et": b""}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    os.mkfifo(tmp_path / "pipe")
    texts, left_out = lab.held(
        [(name, tmp_path / name) for name in [*contents, "pipe", "none", "../up", "a\nb", "x" * 401]], tmp_path
    )
    assert texts == [(name, contents[name].decode()) for name in ("empty", "large", "rest")]
    assert left_out["binary"] == "it is not a text file (UTF-8)"
    assert left_out["more"] == "an address holds 32 files of 200 kB together"
    assert left_out["ring.0.et"] == "a page reads no execution traces"
    assert left_out["none"] == "No such file or directory"
    assert left_out["../up"] == "it is outside the scenario's folder"
    unnamed = {"a\nb", "x" * 401}
    assert {left_out[name] for name in unnamed} == {"no address holds a file of this name"}
    assert set(left_out) == {"binary", "more", "ring.0.et", "none", "huge", "pipe", "../up", *unnamed}
    (tmp_path / "one").touch()
    assert len(lab.held([(str(number), tmp_path / "one") for number in range(40)], tmp_path)[0]) == lab.MOST_FILES


def test_the_command_brings_the_files_of_a_scenario(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(lab, "place", lambda: tmp_path / "lab.html")
    paper = reading.home() / "sccp"
    for name in ("fig2.toml", "fig2-network.toml", "fig2-flow.csv", "fig2-others.csv"):
        shutil.copy(paper / name, tmp_path)
    opened(str(tmp_path / "fig2.toml"), print_=True)
    told = capfd.readouterr()
    assert told.err == ""
    parts = parse_qs(told.out.strip().partition("#")[2])
    names = [name.split()[0] for name in parts["file"]]
    assert names == ["fig2-flow.csv", "fig2-network.toml", "fig2-others.csv"]
    assert parts["file"][0].split()[1] == lab.packed((paper / "fig2-flow.csv").read_text(encoding="utf-8"))
    (tmp_path / "other.csv").write_bytes(b"start,source,destination\n" + b"#" * 200_001)
    opened(str(tmp_path / "fig2.toml"), set_=["traffic.others.file=other.csv"], print_=True)
    told = capfd.readouterr()
    assert told.err.startswith("note: the page lacks other.csv: ")
    assert len(parse_qs(told.out.strip().partition("#")[2])["file"]) == 2
    with pytest.raises(incast.errors.ScenarioError, match="a controller twice"):
        opened("dumbbell", cc=["dctcp", "dctcp"], print_=True)
    (tmp_path / "long.toml").write_text((tmp_path / "fig2.toml").read_text() + "#" * lab.MOST_TEXT)
    with pytest.raises(incast.errors.ScenarioError, match="an address holds 200,000"):
        opened(str(tmp_path / "long.toml"), print_=True)
    (tmp_path / "websearch").write_bytes(b"\xff")
    drawn = '\n[[traffic]]\nname = "drawn"\npattern = "poisson"\narrivals = { load = 0.1, sizes = "websearch" }\n'
    (tmp_path / "drawn.toml").write_text((tmp_path / "fig2.toml").read_text() + drawn)
    with pytest.raises(incast.errors.ScenarioError, match="the page would take the program's table"):
        opened(str(tmp_path / "drawn.toml"), print_=True)
