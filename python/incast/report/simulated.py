"""Cards beside the answers that say what was simulated: the drawing of the fabric, and a list of terms."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from incast.pictures.fabric import fabric
from incast.report.merging import kind, ranged
from incast.runs.described import Described
from incast.system.output import counted


def screen(answer: str, cards: str, notes: Sequence[str]) -> str:
    """Return the parts below a header: the answer, beside it what was simulated, and notes on the runs."""
    told = "".join(f"<li>{escape(text)}.</li>" for text in notes)
    return f'<div class="first">{answer}<div>{cards}</div></div>' + (f'<ul class="told">{told}</ul>' if told else "")


def together(found: Sequence[Described]) -> list[tuple[str, str]]:
    """Return the terms of several runs of a scenario, except controllers: numbers that differ are ranges."""
    by_term: dict[str, list[str]] = {}
    for one in found:
        for term, text in one.rows:
            by_term.setdefault(term, []).append(text)
    return [(term, _merged(texts)) for term, texts in by_term.items() if term != "Controller"]


def _merged(texts: Sequence[str]) -> str:
    """Write texts as one, with ranges: those that differ in more than numbers one after the other."""
    by_kind: dict[str, list[str]] = {}
    for text in texts:
        by_kind.setdefault(kind(text), []).append(text)
    return " | ".join(map(ranged, by_kind.values()))


def seeds_text(seeds: Sequence[int]) -> str:
    """Name seeds: seed 1, seeds 1 to 5, or their number."""
    if len(seeds) == 1:
        return f"seed {seeds[0]}"
    least, most = min(seeds), max(seeds)
    return f"seeds {least} to {most}" if most - least == len(seeds) - 1 else counted(len(seeds), "seed")


def card(found: Described, name: str, heading: str, changed: bool, first: bool) -> str:
    """Return the card of a scenario: drawing, own description, and what was simulated.

    ``heading`` ends the title, ``changed`` says that the description is of the scenario without changes, and the
    ``first`` card is the one that links lead to.
    """
    but = " (without the changes below)" if changed else ""
    said = f"<p>{escape(f'{name}: {found.description}{but}' if found.description else name)}</p>"
    rows = "".join(f"<dt>{escape(term)}</dt><dd>{escape(text)}</dd>" for term, text in found.rows)
    anchor = ' id="simulated"' if first else ""
    body = f"<h2>What was simulated{escape(heading)}</h2>{said}{fabric(found.tiers)}<dl>{rows}</dl>"
    return f'<section{anchor} class="card simulated">{body}</section>'
