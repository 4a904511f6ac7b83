"""Folder of a paper: a figure with a claim, on a scenario of its own."""

from __future__ import annotations

from collections.abc import Mapping

from incast.writing.names import as_commented_word


def paper_files(folder: str) -> Mapping[str, str]:
    """Return the texts of a paper's files by name."""
    return {"paper.toml": _PAPER.replace("FOLDER", as_commented_word(folder)), "fig1.toml": _FIGURE}


_PAPER = """\
# A paper: figures as runs, claims as conditions with a verdict. Page papers/adding has every key.
#
# Parts: incast paper show FOLDER/fig1. Run it: incast paper run FOLDER. It ends in a report with verdicts.

title = "A paper of my own"
source = "Author et al., 2026"
about = "What was measured, and what is assumed for all figures."

[figures.fig1]
title = "Delay over the number of flows"
where = "figure 1, section 5"              # place in the paper
shows = "What the figure is about, in a sentence or two."
scenario = "fig1.toml"                     # beside this file
seeds = 3                                  # seeds 1 to 3 at every point
x = "Number of flows"                      # label of the x axis
assumptions = ["Buffers of 1 MB; the paper does not say."]
points = [                                 # the x axis: a number or a name, and the keys set there
    { x = 2, set = { "traffic.flows" = 2 } },
    { x = 4, set = { "traffic.flows" = 4 } },
]
series = [                                 # the lines, and the keys set for each
    { name = "Swift", set = { controller = "swift" } },
    { name = "DCTCP", set = { controller = "dctcp" } },
]
# Numbers that the paper printed, drawn as diamonds:
# published = [{ series = "DCTCP", x = 4, measure = "delay", value = 100.0 }]

[figures.fig1.measures]                    # numbers of a run: keys of its summary.json (page results)
delay = { of = "flows.delay_mean_s", scale = 1e6, label = "Mean delay", unit = "us" }

[[figures.fig1.plots]]
name = "delay"
kind = "line"
y = ["delay"]
caption = "Mean delay over the number of flows."

[[figures.fig1.claims]]                    # a sentence of the paper, and the condition under which it holds
says = "DCTCP's delay grows with the number of flows"
where = "section 5"
holds = "rising(delay('DCTCP'))"
"""

_FIGURE = """\
# Scenario of figure 1. Keys: incast list tables, incast describe table run.

controller = "swift"

[run]
duration = "10ms"           # simulated time
warmup = "2ms"              # left out of the figures

[topology]
kind = "star"
sources = 4
source_link = { rate = "10Gbps", delay = "2us" }
sink_link = { rate = "10Gbps", delay = "2us" }

[queue]
kind = "ecn-threshold"
limit = "1MB"
mark = "65p"

[transport]
preset = "swift"

[[traffic]]
name = "load"
pattern = "pairs"
flows = 4
jitter = "100us"
app = { kind = "closed-loop", write = "64kB" }
"""
