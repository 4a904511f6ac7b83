"""Table of a run's figures on a terminal."""

from __future__ import annotations

import shlex
from collections.abc import Collection
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from incast.pauses import explained, record, telling
from incast.report import job_table
from incast.runs.result import ENOUGH, MESSAGES, Result, high_of, links_of, unfinished
from incast.system import output
from incast.writing.numbers import duration, percent, quantity, said, scaled

MOST_SIZES = 8
"""Most kinds and sizes of collectives of a job that are shown."""


def show(result: Result, folder: Path, console: Console) -> None:
    """Print the figures of the run in a folder."""
    summary, cost = result.summary, result.cost
    of_run = summary["run"]
    began = {what: summary[what] for what in MESSAGES if summary.get(what, {}).get("count")}
    length = said(duration(of_run["sim_s"]))
    table = _Figures(f"{output.escaped(of_run['scenario'])}, seed {of_run['seed']}: {length} simulated")
    jobs = summary.get("jobs", {})
    for name, figures in jobs.items():
        table.add_job(name, figures)
        patterns = summary.get("collectives", {}).get(name, {})
        for pattern in list(patterns)[:MOST_SIZES]:
            table.add_collectives(pattern, patterns[pattern])
        if len(patterns) > MOST_SIZES:
            table.add_row(f"  {len(patterns) - MOST_SIZES} more sizes", "collectives.parquet")
    table.add_flows(summary["flows"], summary["fct"], connections=bool(jobs) and _only(result, jobs))
    for name, fct in _apart(result).items():
        table.add_row(Text(name), "")
        table.add_completions(fct, "  ")
    if summary.get("crossed_failure", {}).get("links"):
        table.add_crossed(summary["crossed_failure"])
    for what, figures in began.items():
        table.add_messages(what, figures)
    table.add_queues(summary["queues"])
    table.add_hosts(summary["hosts"]["busiest"], summary["flows"])
    table.add_section()
    table.add("hops", of_run["hops"])
    table.add("wall time", cost["wall_s"], "s")
    if cost["hops_per_cpu_s"] is not None:
        table.add_row("speed", f"{said(scaled(cost['hops_per_cpu_s']))} hops per CPU s")
    console.print(table)
    job_table.show(result, console)
    for what, figures in began.items():
        if figures["finished"] < figures["count"]:
            console.print(unfinished(what, figures["finished"], figures["count"]), highlight=False, soft_wrap=True)
    if summary.get("jobs"):
        console.print(_lanes(result, folder), highlight=False, markup=False, soft_wrap=True)
    for line in _pauses(result, folder):
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    console.print(f"results: {folder}", highlight=False, soft_wrap=True)


def _only(result: Result, groups: Collection[str]) -> bool:
    """Return whether all flows are of these traffic entries."""
    return all(name in groups or not part["flows"]["count"] for name, part in result.summary["groups"].items())


def _apart(result: Result) -> dict[str, dict[str, Any]]:
    """Return the completion times of traffic entries by name, if several have some and differ in their controllers."""
    timed = {name: part["fct"] for name, part in result.summary["groups"].items() if part["fct"]["count"]}
    if len(timed) < 2:
        return {}
    with result.reading():
        pairs = result.flows.select(["group", "controller"]).to_pylist()
    controllers = dict.fromkeys((row["group"], row["controller"]) for row in pairs if row["controller"])
    named = {name: [own for group, own in controllers if group == name] for name in timed}
    if len({tuple(own) for own in named.values()}) < 2:
        return {}
    return {f"{output.escaped(name)} ({', '.join(named[name])})": fct for name, fct in timed.items()}


LINES = 12
"""Most lines about pauses."""


def _pauses(result: Result, folder: Path) -> list[str]:
    """Say who paused whom and why, if the run recorded it."""
    known = record.of(result)
    found = None if known is None else explained.victim(known)
    if known is None or found is None:
        return []
    told = list(telling.lines(known, found))
    name = shlex.quote(str(folder))
    more = [f"... (incast explain pauses {name} has all)"] if len(told) > LINES else []
    more += [f"... (incast plot {name} draws the ring)"] if found.rings else []
    return ["", *told[:LINES], *more, ""]


def _lanes(result: Result, folder: Path) -> str:
    """Say how to see what each rank did."""
    again = "" if result.tasks.num_rows else ", repeating the run"
    return f"incast plot {shlex.quote(str(folder))} --kind lanes draws what each rank does over time{again}"


class _Figures(Table):
    """One row per figure; missing figures have none."""

    def __init__(self, title: str) -> None:
        super().__init__(title=title, title_justify="left", show_header=False)
        self.add_column()
        self.add_column(justify="right")

    def add(self, name: str, value: float | None, unit: str = "", scale: float = 1.0, sign: str = "") -> None:
        if value is not None:
            self.add_row(name, sign + said(quantity(value * scale, unit)))

    def add_flows(self, flows: dict[str, Any], fct: dict[str, Any], *, connections: bool) -> None:
        """Add the figures of flows; ``connections`` of jobs have no end and no fair share."""
        if connections:
            self.add("connections", flows["count"])
        else:
            self.add("flows", flows["count"])
            self.add("finished", flows["finished"])
        if fct["finished"] < fct["count"]:
            self.add("  of those with a size", 100 * fct["finished"] / fct["count"], "%")
        if not connections:
            self.add("throughput per flow", flows["throughput_mean_bps"], "b/s")
        self.add("goodput, total", flows["goodput_total_bps"], "b/s")
        self.add("one-way delay, mean", flows["delay_mean_s"], "s")
        self.add("one-way delay, p99", flows["delay_p99_s"], "s")
        self.add("loss", flows["loss_total_pct"], "%")
        if not connections:
            self.add("Jain's index", flows["jain"])
        self.add("retransmissions", flows["retransmissions"])
        self.add("timeouts", flows["timeouts"])
        self.add_completions(fct)
        self.add("deadlines missed", fct.get("deadlines_missed_pct"), "%")

    def add_completions(self, fct: dict[str, Any], indent: str = "") -> None:
        self.add_bound(f"{indent}FCT, mean", fct, "mean{}_s", "s")
        self.add_bound(f"{indent}FCT, {high_of(fct)}", fct, "p99{}_s", "s")
        self.add_bound(f"{indent}slowdown, {high_of(fct)}", fct, "slowdown_p99{}")

    def add_bound(self, name: str, part: dict[str, Any], key: str, unit: str = "") -> None:
        """Add a figure over all that began; with unfinished ones its lower bound."""
        if part["finished"] == part["count"]:
            self.add(name, part[key.format("")], unit)
        elif key.format("_at_least") in part:
            self.add(name, part[key.format("_at_least")], unit, sign="≥ ")
        else:  # runs of earlier versions have no bounds
            of = f"of the {said(percent(part['finished'] / part['count']))} that finished"
            self.add(f"{name} {of}", part[key.format("")], unit)

    def add_crossed(self, crossed: dict[str, Any]) -> None:
        """Add the flows that crossed a failure."""
        fct = crossed["fct"]
        self.add(f"flows over {links_of(crossed['links'].split(', '))}", crossed["flows"]["count"])
        if fct["count"]:
            self.add("  did not finish", fct["count"] - fct["finished"])
            self.add_completions(fct, "  ")

    def add_messages(self, what: str, figures: dict[str, Any]) -> None:
        self.add(what, figures["count"])
        self.add("  finished", figures["finished"])
        self.add_bound("  completion time, mean", figures, "mean{}_s", "s")
        self.add_bound(f"  completion time, {high_of(figures)}", figures, "p99{}_s", "s")
        self.add("  deadlines missed", figures.get("deadlines_missed_pct"), "%")
        self.add("  with a timeout", figures["with_timeout"] if figures["finished"] else None)

    def add_job(self, name: str, figures: dict[str, Any]) -> None:
        self.add_row(Text(f"job {name}"), "")
        self.add("  iterations", figures["iterations"])
        self.add("  finished", figures["finished"])
        for what, key in (
            ("iteration time, mean", "iteration_mean_s"),
            ("iteration time, longest", "iteration_max_s"),
            ("compute", "compute_mean_s"),
            ("exposed communication", "exposed_mean_s"),
            ("idle", "idle_mean_s"),
        ):
            self.add(f"  {what}", figures[key], "s")
        self.add("  bus bandwidth, mean", figures["busbw_mean_Bps"], "GB/s", 1e-9)
        self.add("  lower bound / iteration time", figures["efficiency_mean"], "%", 100)

    def add_collectives(self, pattern: str, figures: dict[str, Any]) -> None:
        self.add(f"  {pattern}", figures["count"], "collectives")
        for what, key, unit, scale in (
            ("time, mean", "time_mean_s", "s", 1),
            ("bus bandwidth, mean", "busbw_mean_Bps", "GB/s", 1e-9),
            ("of the bound", "efficiency_mean", "%", 100),
            ("last start after the first", "skew_mean_s", "s", 1),
        ):
            self.add(f"    {what}", figures[key], unit, scale)

    def add_queues(self, queues: dict[str, Any]) -> None:
        busiest = queues["busiest"]
        if busiest and busiest["port"]:
            self.add_row("busiest port", busiest["port"])
            self.add("  queue, mean", busiest["mean_packets"], "packets")
            # a short run has few samples; runs of earlier versions lack the number
            samples = queues.get("samples", ENOUGH)
            what = "p99" if samples >= ENOUGH else f"largest of {output.counted(samples, 'sample')}"
            self.add(f"  queue, {what}", busiest["p99_packets"], "packets")
            self.add("  utilisation", busiest["utilisation"], "%", 100)
        if queues["pauses"]:
            self.add("pauses by flow control", queues["pauses"])
            self.add("  time paused, all ports", queues["paused_s"], "s")

    def add_hosts(self, engine: dict[str, Any], flows: dict[str, Any]) -> None:
        if engine["engine"]:
            self.add("loss at hosts", flows["host_loss_total_pct"], "%")
            self.add_row("busiest host engine", engine["engine"])
            self.add("  queue, mean", engine["mean_packets"], "packets")
            self.add("  wait, mean", engine["wait_mean_s"], "s")
            self.add("  utilisation", engine["utilisation"], "%", 100)
