"""Skeleton of a report: one self-contained HTML document, its contents, and pictures inside it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path

from incast.report import glossary

PAGE = "report.html"
BIG = 480
"""Width in pixels above which a picture scrolls on a phone instead of shrinking."""

_SECTION = re.compile(r'<section id="([\w-]+)"[^>]*>\s*<h2>(.*?)</h2>')


@dataclass(frozen=True)
class Page:
    """A report that was written."""

    path: Path
    pictures: dict[str, bytes]
    """Pictures as PNG, whatever formats they were written in."""


def document(title: str, parts: Sequence[str], beside: str = "", top: str = "") -> str:
    """Assemble the parts of a page into a self-contained document; the header is the first part.

    ``beside`` is HTML beside the page, such as its contents, ``top`` that of the first screen, below the header.
    """
    style, script = (
        files("incast.report").joinpath(f"report.{kind}").read_text(encoding="utf-8") for kind in ("css", "js")
    )
    header = f'<div class="top">{glossary.linked(parts[0])}{top}</div>'
    body = "\n".join([header, *parts[1:], glossary.section()])
    aside = f'<aside class="beside"><div>{beside}</div></aside>' if beside else ""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Incast: {escape(title)}</title>\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<style>{style}</style></head>\n<body><div class="page{"" if beside else " plain"}">{aside}'
        f"<main>\n{body}\n</main></div>\n<script>{script}</script></body></html>\n"
    )


def contents(parts: Sequence[str]) -> str:
    """Make the list of sections, with links: those of the parts that have an identifier and a heading."""
    found = [one for part in parts for one in _SECTION.findall(part)]
    items = "".join(f'<li><a href="#{anchor}">{heading}</a></li>' for anchor, heading in found)
    return f'<nav aria-label="Contents"><p class="label">Contents</p><ol class="contents">{items}</ol></nav>'


def drawn(picture: str, name: str, caption: str, formats: Sequence[str] = ("png",)) -> str:
    """Embed a picture that is an element, with the names of its files; the caption is HTML."""
    width = re.search(r'<svg [^>]*?width="(\d+)"', picture)
    look = " class=big" * (width is not None and int(width[1]) > BIG)
    for tag, label in (("<svg ", "aria-label"), ("<img ", "alt")):
        if picture.startswith(tag):
            picture = picture.replace(tag, f'{tag}{label}="{caption}" ', 1)
    names = escape(" ".join(f"{name}.{kind}" for kind in formats))
    return f"<figure{look}>{picture}<figcaption>{caption} <span>{names}</span></figcaption></figure>"
