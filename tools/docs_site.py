"""Hooks of ``mkdocs.yml``: pages that lie elsewhere than in ``docs/``, and links that fit there too.

Pages are written for a reader of the repository: their links are paths between its files. In the site a link to the
README leads to the home page, pages outside ``docs/`` stand at the top, and a link to a file that is no page becomes
plain text. A link to nothing is a warning, which fails the strict build. A notebook is a page with what its cells show;
the notebook itself lies beside it. ``extra`` of ``mkdocs.yml`` has the weights of pages in the search, and the wide
pages.
"""

from __future__ import annotations

import json
import logging
import posixpath
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(Path(__file__).resolve().parent), str(ROOT)]

import docs_lab  # noqa: E402  (a hook is loaded by its path)

HOME = "README.md"
LOG = logging.getLogger("mkdocs.hooks.docs_site")

LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s#]*)(#[^)\s]*)?\)")
ITEM = re.compile(r"([-*]|\d+\.) ")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of the navigation that ``docs/`` does not have."""
    wanted = set(re.findall(r"[\w./-]+\.md", repr(config.nav)))
    for uri in sorted(wanted - set(files.src_uris)):
        source = ROOT / uri
        notebook = (ROOT / "docs" / uri).with_suffix(".ipynb")
        if source.exists():
            files.append(File.generated(config, uri, content=source.read_text(encoding="utf-8")))
        elif notebook.exists():
            files.append(File.generated(config, uri, content=of_notebook(notebook)))
    return files


def of_notebook(path: Path) -> str:
    """Write a notebook as Markdown: its texts, its code, and below each cell what it shows."""
    parts = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        parts += [shown(output) for output in cell.get("outputs", [])]
    return "\n\n".join([*parts, f"This tutorial as a notebook: [{path.name}]({path.name})."])


def shown(output: dict[str, Any]) -> str:
    """Write an output of a cell: a picture, a table, or text."""
    data = output.get("data", {})
    if "image/png" in data:
        width = output["metadata"].get("image/png", {}).get("width")
        size = f' width="{width}"' if width else ""
        return f'<img alt="What the cell shows"{size} src="data:image/png;base64,{"".join(data["image/png"]).strip()}">'
    if "text/html" in data:
        # frames of pandas have a style of their own
        return re.sub(r"<style.*?</style>\s*|\n\s*(?=\n)", "", "".join(data["text/html"]), flags=re.DOTALL)
    return f"```text\n{''.join(output.get('text') or data['text/plain']).rstrip()}\n```"


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files, **_: object) -> str:
    """Fit links and lists, outside the blocks of code; give the page its width, and its weight in the search."""
    uri = page.file.src_uri
    if listed(uri, config.extra.get("wide", [])):
        page.meta["hide"] = ["toc"]
    found = weight(uri, config.extra.get("search", {}))
    if found is not None:
        page.meta["search"] = {"boost": found} if found else {"exclude": True}
    kept = Path(page.file.abs_src_path or "").is_relative_to(ROOT / "docs") or uri.startswith("notebooks/")
    source = posixpath.join("docs", uri) if kept else uri
    parts = re.split(r"(^```.*?^```$)", docs_lab.with_lab(markdown, uri), flags=re.MULTILINE | re.DOTALL)
    return "".join(part if part.startswith("```") else spaced(linked(part, source, uri, files)) for part in parts)


def weight(uri: str, weights: dict[str, float]) -> float | None:
    """Return the weight of a page: its own, or that of its folder."""
    return weights.get(uri, weights.get(f"{posixpath.dirname(uri)}/"))


def listed(uri: str, pages: list[str]) -> bool:
    """Return whether a list names a page or its folder."""
    return uri in pages or f"{posixpath.dirname(uri)}/" in pages


def linked(text: str, source: str, uri: str, files: Files) -> str:
    """Turn links between files of the repository into links between pages."""

    def fitted(match: re.Match[str]) -> str:
        image, words, target, anchor = match[1], match[2], match[3], match[4] or ""
        if not target or "://" in target:
            return match[0]
        words = LINK.sub(fitted, words)
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        there = "index.md" if path == HOME else path.removeprefix("docs/")
        if there.endswith(".ipynb") and there != uri.replace(".md", ".ipynb"):
            there = there.replace(".ipynb", ".md")
        if there in files.src_uris:
            return f"{image}[{words}]({posixpath.relpath(there, posixpath.dirname(uri) or '.')}{anchor})"
        if not (ROOT / path).exists():
            LOG.warning("%s links to %s, which does not exist", source, target)
        return words

    return LINK.sub(fitted, text)


def spaced(text: str) -> str:
    """Set an empty line before a list that follows a paragraph, as Python's Markdown wants it."""
    lines: list[str] = []
    for line in text.split("\n"):
        before = lines[-1] if lines else ""
        if ITEM.match(line) and before.strip() and not ITEM.match(before) and not before.startswith(" "):
            lines.append("")
        lines.append(line)
    return "\n".join(lines)
