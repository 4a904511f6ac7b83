"""A small paper of one's own: a figure with runs, a plot of each kind, and claims of which one cannot be judged."""

from __future__ import annotations

SCENARIO = """
controller = "swift"
[run]
duration = "20ms"
warmup = "5ms"
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

PAPER = """
title = "A small study"
source = "Nobody et al., 2026"
about = "Nothing is assumed."

[figures.fig1]
title = "Delay over flows"
where = "figure 1"
shows = "Delay."
scenario = "fig1.toml"
seeds = 2
x = "Number of flows"
points = [{ x = 4, set = { "traffic.flows" = 4 } }, { x = 40, set = { "traffic.flows" = 40 } }]
series = [{ name = "Swift" }, { name = "DCTCP", set = { controller = "dctcp" } }]
published = [{ series = "DCTCP", x = 40, measure = "delay", value = 500.0 }]

[figures.fig1.scale.paper]
seeds = 3
points = [
    { x = 4, set = { "traffic.flows" = 4 } },
    { x = 40, set = { "traffic.flows" = 40 } },
    { x = 1000, set = { "traffic.flows" = 1000 } },
]

[figures.fig1.measures]
delay = { of = "flows.delay_mean_s", scale = 1e6, label = "Mean delay", unit = "us" }

[[figures.fig1.plots]]
name = "delay"
kind = "line"
y = ["delay"]
caption = "Delay over flows."

[[figures.fig1.plots]]
name = "rates"
kind = "cdf"
column = "throughput_bps"
table = "flows"
x_label = "Rate"
caption = "Rates."

[[figures.fig1.claims]]
says = "Delay grows with the flows"
where = "section 1"
each_seed = true
holds = "rising(delay('DCTCP', [4, 40])) and delay('Swift', 4) > 0"

[[figures.fig1.claims]]
says = "DCTCP's delay is a second"
where = "section 2"
holds = "delay('DCTCP', 40) >= 1e6"
found = "It never was."

[[figures.fig1.claims]]
says = "At 1,000 flows too"
where = "section 3"
holds = "delay('DCTCP', 1000) > 0"
"""

WORKED_OUT = (
    PAPER.partition("points =")[0]
    + '''points = [{ x = 4 }, { x = 8, scenario = "more.toml" }]
series = [
    { name = "Swift" },
    { name = "the same", set = { controller = "swift" } },
    { name = "worked out", values = { delay = "2 * x" } },
]

[figures.fig1.measures]
delay = { of = "flows.delay_mean_s", scale = 1e6, label = "Mean delay", unit = "us" }
rate = { table = "writes", column = "bytes", over = "completion_s", reduce = "mean", label = "Rate of a write" }

[[figures.fig1.plots]]
name = "delay"
kind = "line"
y = ["delay"]
series = ["Swift", "worked out"]
caption = "Delay over flows."

[[figures.fig1.plots]]
name = "tail"
kind = "ccdf"
table = "writes"
column = "completion_s"
where = { group = "load" }
points = [8]
log = ["y"]
x_label = "Completion time"
caption = "Tail."

[[figures.fig1.claims]]
says = "Twice the flows"
where = "section 1"
each_seed = true
holds = """
delay('worked out', 4) == 8 and delay('worked out', 8) == 16 and max(ratios(rate('Swift'), rate('the same'))) == 1"""

[[figures.fig1.claims]]
says = "What is worked out has no rate of writes"
where = "section 1"
holds = "rate('worked out', 4) > 0"

[figures.fig2]
title = "A line"
where = "figure 2"
shows = "No runs."
seeds = 1
x = "x"
points = [{ x = 1 }, { x = 3 }]
series = [{ name = "line", values = { y = "3 * x" } }]
measures = { y = { label = "y" } }
plots = [{ name = "y", kind = "line", y = ["y"], log = ["x"], caption = "y" }]
claims = [{ says = "A line", where = "everywhere", holds = "slope(x(), y('line')) > 0.999" }]
'''
)

BY_FLOW = (
    PAPER.partition("points =")[0]
    + '''settings = { "measure.series.flows" = [0, 2], "measure.series.interval" = "1ms" }
points = [{ x = "all" }, { x = "flow 0", where = { flow = "0" } }, { x = "flow 3", where = { flow = "3" } }]
series = [{ name = "Swift" }, { name = "DCTCP", set = { controller = "dctcp" } }]
published = [
    { series = "DCTCP", x = "flow 0", measure = "sent", value = 500.0 },
    { series = "DCTCP", x = "flow 3", measure = "sent", value = 500.0 },
]

[figures.fig1.measures]
flows = { table = "flows", column = "flow", reduce = "count", label = "Flows" }
sent = { table = "flows", column = "sent_packets", where = { group = "load" }, reduce = "sum", label = "Segments" }

[[figures.fig1.plots]]
name = "windows"
kind = "samples"
where = { name = "cwnd_bytes", time_s = "> 0.01" }
points = ["all"]
scale = 1e-3
y_label = "Window (kB)"
fill = true
curves = [{ label = "tooth", of = "5 + (x - 0.01) % 0.005" }]
caption = "Windows."

[[figures.fig1.plots]]
name = "bars"
kind = "rows"
as = "bars"
table = "flows"
points = ["all"]
column = "sent_packets"
x_label = "Flow"
y_label = "Segments"
caption = "Segments of each flow."

[[figures.fig1.plots]]
name = "dots"
kind = "rows"
as = "dots"
table = "flows"
series = ["Swift"]
points = ["all"]
column = "sent_packets"
x_column = "throughput_bps"
x_scale = 1e-6
x_label = "Throughput (Mb/s)"
y_label = "Segments"
log = ["y"]
caption = "Segments over throughput."

[[figures.fig1.claims]]
says = "A point may be a flow"
where = "section 1"
each_seed = true
holds = """
flows('Swift', 'all') == 4 and flows('Swift', 'flow 3') == 1
and count(0 < sent(s, at) for s in ['Swift', 'DCTCP'] for at in ['flow 0', 'flow 3']) == 4
and all(sent(s, 'flow 0') + sent(s, 'flow 3') < sent(s, 'all') for s in ['Swift', 'DCTCP'])"""
'''
)
"""A figure whose points are flows, with pictures of time series and of rows."""
