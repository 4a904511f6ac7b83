"""Drawing of a fabric as SVG: a row of nodes for each tier, lowest tier at the bottom, and its links."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from html import escape

from incast.runs.described import Tier

WIDTH, ROW = 384, 48
"""Width of the drawing, and height of a tier, in user units."""
DRAWN = 20
"""Most nodes of a tier that are drawn; the text beside it has their number."""
LEFT, RIGHT = 6, 190
"""Ends of a row of nodes; names of tiers begin after it."""


def fabric(tiers: Sequence[Tier]) -> str:
    """Draw a fabric as an SVG element; empty without tiers."""
    if not tiers:
        return ""
    height = ROW * len(tiers)
    rows = [height - ROW * i - ROW // 2 for i in range(len(tiers))]
    lines = [
        f'<path d="M{_x(below, i):.1f} {rows[t] - 5}L{_x(above, j):.1f} {rows[t + 1] + 5}"/>'
        for t, (below, above) in enumerate(itertools.pairwise(tiers))
        for i, j in _linked(below, above)
    ]
    nodes = []
    for t, tier in enumerate(tiers):
        look = ' fill="var(--ground,#fff)" stroke="var(--soft,#505a68)"' if _is_end(tiers, t) else ""
        nodes += [f'<rect x="{_x(tier, i) - 4:.1f}" y="{rows[t] - 4}" width="8" height="8" rx="1.5"{look}/>'
                  for i in range(_drawn(tier))]  # fmt: skip
    words = [
        f'<text x="{RIGHT + 14}" y="{rows[t]}" class="t-ink">{tier.count:,} {escape(tier.name)}</text>'
        f'<text x="{RIGHT + 14}" y="{rows[t] + 13}">{escape(tier.link)}</text>'
        for t, tier in enumerate(tiers)
    ]
    told = ", ".join(f"{tier.count:,} {tier.name}" for tier in tiers)
    return (
        f'<svg class="fabric" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="Fabric: {escape(told)}">'
        f'<g stroke="var(--edge,#808995)" stroke-width="0.6" opacity="0.7">{"".join(lines)}</g>'
        f'<g fill="var(--ink,#161b22)">{"".join(nodes)}</g>{"".join(words)}</svg>'
    )


def _drawn(tier: Tier) -> int:
    return min(tier.count, DRAWN)


def _is_end(tiers: Sequence[Tier], place: int) -> bool:
    """Return whether a tier has hosts: the lowest, and the highest of a fabric that hosts end on both sides."""
    return place == 0 or not tiers[place].name.endswith(("switch", "switches"))


def _x(tier: Tier, i: int) -> float:
    """Place a node: rows have the same width, a single node is in the middle."""
    return LEFT + (RIGHT - LEFT) * (i + 0.5) / _drawn(tier)


def _linked(below: Tier, above: Tier) -> list[tuple[int, int]]:
    """Return the links between two tiers by the numbers of the nodes drawn."""
    groups = min(below.groups, _drawn(below), _drawn(above))

    def part(i: int) -> int:
        return i % groups if below.across else i * groups // _drawn(below)

    return [
        (i, j) for i in range(_drawn(below)) for j in range(_drawn(above)) if part(i) == j * groups // _drawn(above)
    ]
