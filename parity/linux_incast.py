"""The TCP of Linux 6.1.192, measured under User Mode Linux in virtual time: queries to many workers."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from incast import Result
from parity.checks import Case, Figure, Section, World
from parity.figures import summary, table
from parity.tolerances import Absolute, Relative


def world() -> World:
    """Return Linux's comparisons of incast queries."""
    return World(
        "linux-incast",
        "Linux, incast",
        "Same set-up as above: one root asks n workers for 1 MB in all, 20 times, on persistent connections and "
        "through 128 KiB of buffer; RTT 100 us, tail-loss probes and RACK off. A query that meets no timeout takes "
        "about 8.5 ms; it takes a timeout more where one of the workers loses the end of its answer. Where none or all "
        "of the 20 meet one their mean is judged, otherwise how many do, and the median.",
        (
            Section("linux-incast/cla", "Selective acknowledgements, three duplicates", picture="ratios"),
            Section("linux-incast/nosack", "Without selective acknowledgements", picture="ratios"),
            Section(
                "linux-incast/chaotic",
                "At the edge of the collapse",
                "NewReno, 10 workers, a smallest timeout of 200 ms: the reference calls it chaotic (a think time "
                "that is longer by 0.4 ms changes how many of its own queries meet a timeout). Shown, not judged.",
            ),
        ),
        tuple(cell(row) for row in table("linux/incast.csv")),
    )


NAMES = {"reno": "NewReno", "dctcp": "DCTCP"}
CONTROLLERS: Mapping[str, Mapping[str, object]] = MappingProxyType(
    {
        "reno": {"controller": "newreno:form=linux", "queue.kind": "drop-tail"},
        "dctcp": {"controller": "dctcp:form=linux"},
    }
)


def workers_timeouts(result: Result) -> float:
    """Count the timeouts of what carries responses: the reference counts those of the workers' host."""
    columns = (result.flows[name].to_pylist() for name in ("role", "timeouts"))
    return float(sum(timeouts for role, timeouts in zip(*columns, strict=True) if role == "response"))


def is_chaotic(row: Mapping[str, str]) -> bool:
    """Whether the reference says that the cell is no target."""
    return (row["controller"], row["workers"], row["rto_min_ms"], row["sack"]) == ("reno", "10", "200", "yes")


def settings_of(row: Mapping[str, str]) -> dict[str, object]:
    """Return what a cell changes of the built-in scenario."""
    settings: dict[str, object] = {
        **CONTROLLERS[row["controller"]],
        "traffic.flows": int(row["workers"]),
        "transport.rto_min": f"{row['rto_min_ms']}ms",
        "traffic.app.think": f"{row['think_us']}us",
    }
    if row["sack"] == "no":
        settings["transport.sack"] = False
    return settings


def cell(row: Mapping[str, str]) -> Case:
    """Make the case of a measured cell."""
    chaotic = is_chaotic(row)
    section = "chaotic" if chaotic else "cla" if row["sack"] == "yes" else "nosack"
    think = "" if row["think_us"] == "1000" else f", {int(row['think_us']) / 1000:g} ms of think time"
    met, queries = int(row["queries_with_timeout"]), int(row["queries"])
    by_mean = not chaotic and met in (0, queries)
    by_count = not chaotic and not by_mean
    return Case(
        f"linux-incast/{section}/{row['controller']}-n{row['workers']}-rto{row['rto_min_ms']}-think{row['think_us']}",
        f"{NAMES[row['controller']]}, {row['workers']} workers, RTO at least {row['rto_min_ms']} ms{think}",
        "linux-incast",
        settings_of(row),
        (
            Figure(
                "mean completion time",
                "ms",
                float(row["qct_mean_ms"]),
                Relative(0.10) if by_mean else None,
                summary("queries.mean_s", 1e3),
            ),
            Figure(
                "median completion time",
                "ms",
                float(row["qct_median_ms"]),
                Relative(0.15) if by_count else None,
                summary("queries.p50_s", 1e3),
            ),
            Figure(
                "queries with a timeout",
                "queries",
                met,
                Absolute(4) if by_count else None,
                summary("queries.with_timeout"),
            ),
            Figure("timeouts of the workers", "", int(row["timeouts"]), None, workers_timeouts),
        ),
        quick=(row["controller"], row["workers"], row["think_us"]) in {("dctcp", "20", "1000"), ("reno", "5", "1000")},
        cost_s=0.05,
    )
