"""The documentation as a site: the strict build passes, asks nobody for anything, and fails where a link is broken."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT
from incast import _core
from tools import docs_lab


def built(config: Path, site: Path) -> subprocess.CompletedProcess[str]:
    """Build a site."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", config, "--site-dir", site]
    env = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)


@pytest.mark.slow("the whole site is built")
def test_the_site_has_every_page_with_a_search_and_needs_no_other_host(tmp_path: Path) -> None:
    done = built(ROOT / "mkdocs.yml", tmp_path)
    assert done.returncode == 0, done.stderr
    pages = {path.relative_to(ROOT / "docs").with_suffix("") for path in (ROOT / "docs").rglob("*.md")}
    made = {path.relative_to(tmp_path).with_suffix("") for path in tmp_path.rglob("*.html")}
    assert pages <= made
    found = json.loads((tmp_path / "search" / "search_index.json").read_text(encoding="utf-8"))["docs"]
    listed = {entry["location"].partition("#")[0].removesuffix(".html") for entry in found}
    left_out = {str(p) for p in pages if p.parts[0] in ("fidelity", "mutants")}
    assert listed & {*left_out, "CHANGELOG"} == set()
    assert listed >= {str(p) for p in pages} - left_out
    boosts = {entry["location"]: entry.get("boost", 1) for entry in found}
    assert boosts["index.html"] > boosts["how-to/choose-k.html"] > boosts["queues/red.html"] == 1
    for page in tmp_path.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert not re.findall(r"<(?:script|link|img|iframe)[^>]*(?:src|href)=[\"']?(?:https?:)?//", text), page
    notebooks = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
    assert notebooks
    for notebook in notebooks:
        text = (tmp_path / "notebooks" / f"{notebook.stem}.html").read_text(encoding="utf-8")
        shown = notebook.read_text(encoding="utf-8").count('"image/png": "')
        assert text.count("data:image/png;base64,") == shown
        assert (tmp_path / "notebooks" / notebook.name).read_bytes() == notebook.read_bytes()
    first = (tmp_path / "notebooks" / "first-run.html").read_text(encoding="utf-8")
    assert 'href="own-controller.html"' in first
    assert 'href="../scenario.html"' in first


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("# Title\n\n[gone](gone.md)\n", "gone.md, which does not exist"),
        ("# Title\n\n[gone](other.md#no-such-part)\n", "no-such-part"),
        ("# Title\n\n```text\n[a link](of-no-kind.md)\n```\n", ""),
    ],
)
def test_a_link_to_nothing_fails_the_build(text: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text(text, encoding="utf-8")
    (tmp_path / "docs" / "other.md").write_text("# Other\n", encoding="utf-8")
    config = tmp_path / "mkdocs.yml"
    nav = "nav: [index.md, other.md]\nhooks: [" + str(ROOT / "tools" / "docs_site.py") + "]\n"
    config.write_text(f"INHERIT: {ROOT / 'mkdocs.yml'}\ndocs_dir: docs\n{nav}", encoding="utf-8")
    done = built(config, tmp_path / "site")
    assert (done.returncode != 0) == bool(told), done.stderr
    assert told in done.stderr


@pytest.mark.parametrize("kind", ["controllers", "queues"])
def test_pages_of_controllers_and_queues_open_in_the_lab(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INCAST_LAB", "1")
    names = [name for name, _ in _core.list_kind(kind)]
    without = [name for name in names if "md-button" not in docs_lab.with_lab("", f"{kind}/{name}.md")]
    assert names
    assert without == []
