"""Terms of reports and tables for their readers, the same as on ``docs/glossary.md``."""

from __future__ import annotations

from html import escape

TERMS = {
    "best": (
        "The best controller of a column: told apart from every other controller, with at least 99 % of its flows "
        "finished, and dominated by no other. Except for throughput and completion "
        "times, its throughput is at least 90 % of the highest. Marked in bold, or with * on a terminal."
    ),
    "bound": (
        "A figure that unfinished flows leave open, as an interval or as ≥ with the share that finished. The "
        "lower bound lets every unfinished flow end with the run, the upper bound lets it never end."
    ),
    "censored": (
        "A flow that is still running when the run ends. The completion time is unknown, and at least the time "
        "the flow has run."
    ),
    "finished": (
        "Share of flows, queries or writes that began and completed within the run. Shown where it is below 100 %."
    ),
    "held out": "Seeds that a search never saw, kept to test the values it chose.",
    "hop": "One packet passing one port. ACKs count too. The unit of simulation speed.",
    "ideal": (
        "Completion time of a flow that has the network to itself: same size, path and headers, no other traffic, "
        "no queue."
    ),
    "interval": (
        "95 % Student-t confidence interval of a mean over seeds, written as ± or as a band. One seed has none. "
        "Of 20 intervals of differences that are zero, about one excludes zero by chance."
    ),
    "Jain's index": "Fairness of shares from 1/n (one flow has everything) to 1 (all shares are equal).",
    "K": (
        "Marking threshold of a queue (queue.mark): an ECN-capable packet that finds K or more in the queue is marked."
    ),
    "measured interval": "From the end of the warm-up to the end of the run. Figures count what happens within it.",
    "non-dominated": (
        "No other controller is at least as good in throughput, p99 delay and share finished, and clearly better "
        "in one of them. Marked ◆. A percentage beside ◆ is the share of the highest throughput, where that is below "
        "90 %."
    ),
    "not seen": (
        "Verdict of a search on the seeds that it held out: the interval of the difference from the defaults includes "
        "zero, so these seeds show no difference."
    ),
    "paired": (
        "Compared under the same seed, so with the same flows, places and start times. A paired difference is "
        "computed seed by seed, and its interval is usually narrower than two separate intervals suggest."
    ),
    "percentile": (
        "p99 is the value that 99 % of the values do not exceed, by nearest rank, taken in each run and averaged "
        "over the seeds."
    ),
    "queue": "Packets that wait at a port, or their bytes. The busiest port is the one with the largest mean queue.",
    "seed": "Number that decides everything random in a run. The same scenario and seed give the same bytes.",
    "slowdown": "Completion time of a flow divided by its ideal one. 1 is perfect; 3 means three times as long.",
    "throughput": (
        "Payload delivered per second. Throughput per flow: over the measured interval. Throughput per active flow: "
        "over each flow's own time in it, for flows that end. Both are means over the flows."
    ),
    "told apart": (
        "The 95 % interval of the paired difference of two readings excludes zero, and the difference is at least 1 % "
        "of the larger one."
    ),
    "trade-off": "Two controllers of which each is told apart as better in some figure.",
    "undecided": "Two readings that are not told apart, or one seed only. More seeds may decide.",
    "warm-up": "Time at the start of a run that figures leave out (run.warmup). Completion times include it.",
}
"""Definitions by term, in the order of the alphabet."""


MARKS = {"◆": "non-dominated", "<>": "non-dominated", "±": "interval", "≥": "bound", "≤": "bound", "*": "best"}
"""Terms by the marks that stand for them."""


def term(name: str) -> tuple[str, str] | None:
    """Return a term, given by itself or by its mark, and its definition."""
    own = MARKS.get(name, name)
    return (own, TERMS[own]) if own in TERMS else None


def linked(header: str) -> str:
    """Add a link to the glossary to the header of a report."""
    return header.replace("</header>", '<p class="note"><a href="#glossary">What the terms mean</a></p></header>')


def section() -> str:
    """Make the section of a report that explains its terms."""
    rows = "".join(f"<dt><b>{escape(term)}</b></dt><dd>{escape(meaning)}</dd>" for term, meaning in TERMS.items())
    return (
        "<section><h2>Glossary</h2><details><summary>Terms of this report</summary>"
        f'<dl class="note" id="glossary">{rows}</dl></details></section>'
    )
