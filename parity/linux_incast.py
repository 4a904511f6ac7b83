"""The TCP of Linux 6.1.192, measured under User Mode Linux in virtual time: queries to many workers."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from types import MappingProxyType

from incast import Result
from parity.checks import Case, Figure, Reference, Section
from parity.figures import summary, table
from parity.tolerances import Absolute, Relative


def reference() -> Reference:
    """Return Linux's comparisons of incast queries."""
    return Reference(
        "linux-incast",
        "Linux, incast",
        "Same set-up as above: one root asks n workers for 1 MB in all, 20 times, on persistent connections and "
        "through 128 KiB of buffer; RTT 100 us, tail-loss probes and RACK off except in the last table. A query "
        "without a timeout takes about 8.5 ms; if a worker loses the end of its response, the query takes a timeout "
        "longer. If none or all of the 20 queries have a timeout, their mean is compared; otherwise their number and "
        "the median.",
        (
            Section("linux-incast/cla", "Selective acknowledgements, three duplicates", picture="ratios"),
            Section("linux-incast/nosack", "Without selective acknowledgements", picture="ratios"),
            Section(
                "linux-incast/chaotic",
                "At the edge of the collapse",
                "NewReno, a smallest timeout of 200 ms, with 10 workers, and with 40 under the kernel's own loss "
                "detection: the reference calls both chaotic (a think time that is longer by 0.4 ms changes how many "
                "of its own queries have a timeout). Shown, not compared.",
            ),
            Section(
                "linux-incast/def",
                "As the kernel comes: RACK and tail-loss probes",
                '`transport.preset = "linux-default"`. Probes repair losses at the end without a timeout, so with up '
                "to 20 workers there is none. The median is compared, and the number of queries with a timeout.",
                picture="ratios",
            ),
        ),
        (
            *(cell(row) for row in table("linux/incast.csv")),
            *(default_cell(row) for row in table("linux/incast-default.csv")),
        ),
    )


NAMES = {"reno": "NewReno", "dctcp": "DCTCP"}
CONTROLLERS: Mapping[str, Mapping[str, object]] = MappingProxyType(
    {
        "reno": {"controller": "newreno:form=linux", "queue.kind": "drop-tail"},
        "dctcp": {"controller": "dctcp:form=linux"},
    }
)


def workers_timeouts(result: Result) -> float:
    """Count the timeouts of response flows: the reference counts those of the workers' host."""
    columns = (result.flows[name].to_pylist() for name in ("role", "timeouts"))
    return float(sum(timeouts for role, timeouts in zip(*columns, strict=True) if role == "response"))


def is_chaotic(row: Mapping[str, str]) -> bool:
    """Return whether the reference excludes the cell as a target."""
    return (row["controller"], row["workers"], row["rto_min_ms"], row["sack"]) == ("reno", "10", "200", "yes")


def settings_of(row: Mapping[str, str]) -> dict[str, object]:
    """Return the settings of a cell, on top of the built-in scenario."""
    settings: dict[str, object] = {
        **CONTROLLERS[row["controller"]],
        "traffic.flows": int(row["workers"]),
        "transport.rto_min": f"{row['rto_min_ms']}ms",
        "traffic.app.think": f"{row['think_us']}us",
    }
    if row.get("sack") == "no":
        settings["transport.sack"] = False
    return settings


def title_of(row: Mapping[str, str]) -> str:
    """Return the title of a cell on the page."""
    think = "" if row["think_us"] == "1000" else f", {int(row['think_us']) / 1000:g} ms of think time"
    return f"{NAMES[row['controller']]}, {row['workers']} workers, RTO at least {row['rto_min_ms']} ms{think}"


def cell(row: Mapping[str, str]) -> Case:
    """Make the case of a measured cell."""
    chaotic = is_chaotic(row)
    section = "chaotic" if chaotic else "cla" if row["sack"] == "yes" else "nosack"
    met, queries = int(row["queries_with_timeout"]), int(row["queries"])
    by_mean = not chaotic and met in (0, queries)
    by_count = not chaotic and not by_mean
    return Case(
        f"linux-incast/{section}/{row['controller']}-n{row['workers']}-rto{row['rto_min_ms']}-think{row['think_us']}",
        title_of(row),
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


def median_ms(result: Result) -> float | None:
    """Return the median of the completion times: of an even number the mean of the two in the middle."""
    finished = [time for time in result.queries["completion_s"].to_pylist() if time is not None]
    return 1e3 * statistics.median(finished) if finished else None


def default_cell(row: Mapping[str, str]) -> Case:
    """Make the case of a cell that was measured with the kernel's own loss detection."""
    chaotic = (row["controller"], row["workers"], row["rto_min_ms"]) == ("reno", "40", "200")
    section = "chaotic" if chaotic else "def"
    default = "-default" if chaotic else ""
    return Case(
        f"linux-incast/{section}/{row['controller']}-n{row['workers']}-rto{row['rto_min_ms']}"
        f"-think{row['think_us']}{default}",
        title_of(row),
        "linux-incast",
        {**settings_of(row), "transport.preset": "linux-default"},
        (
            Figure(
                "median completion time",
                "ms",
                float(row["qct_median_ms"]),
                None if chaotic else Relative(0.15),
                median_ms,
            ),
            Figure(
                "queries with a timeout",
                "queries",
                int(row["queries_with_timeout"]),
                None if chaotic else Absolute(2),
                summary("queries.with_timeout"),
            ),
            Figure("mean completion time", "ms", float(row["qct_mean_ms"]), None, summary("queries.mean_s", 1e3)),
            Figure("timeouts of the workers", "", int(row["timeouts"]), None, workers_timeouts),
        ),
        quick=(row["workers"], row["think_us"]) in {("20", "1000"), ("80", "1000")} and row["rto_min_ms"] == "200",
        cost_s=0.05,
    )
