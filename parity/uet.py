"""NDP, EQDS and UET: htsim's and uet-htsim's own runs, single flows to the picosecond, and means over seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from incast import Result
from parity.checks import Case, Figure, Mean, Reference, Section
from parity.figures import summary, table
from parity.tolerances import Digits, Exact, Relative, Tolerance


def reference() -> Reference:
    """Return the comparisons of transports that receivers drive."""
    cases, means = list[Case](), list[Mean]()
    for own, mean in seeds():
        cases += own
        means.append(mean)
    return Reference(
        "uet",
        "htsim, transports that receivers drive",
        "Broadcom/csg-htsim, commit 841d9e7 (NDP, EQDS), and ultraethernet/uet-htsim, commit 40ccb05 "
        "(NSCC, RCCC, both): "
        "100 Gb/s, 1 us a link, data packets of 4160 bytes, control packets of 64. The accidents of "
        "htsim are on "
        "(`htsim = true`).",
        (
            Section(
                "uet/star",
                "Incasts at one switch",
                "Up to 31 hosts send 100 packets each, a microsecond after each other. Nothing is "
                "drawn there: the queue always "
                "cuts the arrival. NDP, EQDS and RCCC are to be the same in every figure; 31 senders "
                "of RCCC are 0.02 % off "
                "for a reason not known. NSCC is self-clocked: packets of several hosts meet at one "
                "picosecond, so its mean may "
                "be 1 % off.",
            ),
            Section(
                "uet/tree",
                "Permutations and incasts on a fat tree",
                "Means over five seeds on each side, which draw paths and cuts. The tolerance of a "
                "mean is 1.5 % and half the range of "
                "the seeds there.",
                "ratios",
            ),
            Section("uet/seeds", "The same, seed by seed", "The single runs of these means.", listed=False),
        ),
        (*star(), *cases),
        means=tuple(means),
    )


def uet(control: str, rtt: str, rto: str) -> dict[str, object]:
    """Return the settings of UET under a control."""
    return {
        "transport.preset": "uet",
        "transport.rto_min": rto,
        "transport.uet.control": control,
        "transport.uet.rtt": rtt,
    }


NDP: Mapping[str, object] = {
    "transport.preset": "ndp",
    "transport.ndp.window": 50,
    "transport.ndp.htsim": True,
    "queue.limit": "32768B",
}
EQDS: Mapping[str, object] = {"transport.preset": "eqds", "transport.eqds.htsim": True, "queue.limit": "145600B"}
STAR = ("9351680ps", "78897600ps")
TREE = ("14027520ps", "100862ns")
STAR_UET: Mapping[str, object] = {"queue.limit": "133120B"}
STEP: Mapping[str, object] = {"queue.ecn": {"min": "37440B", "max": "37440B"}}
TRANSPORTS: Mapping[str, tuple[str, Mapping[str, object]]] = {
    "ndp": ("NDP", NDP),
    "eqds": ("EQDS", EQDS),
    "rccc": ("RCCC", {**uet("rccc", *STAR), **STAR_UET}),
    "both": ("NSCC and RCCC", {**uet("both", *STAR), **STAR_UET}),
    "nscc": ("NSCC", {**uet("nscc", *STAR), **STAR_UET, **STEP}),
}
TRIMS: Mapping[tuple[str, int], int] = {
    **{("ndp", n): trims for n, trims in ((1, 0), (2, 81), (3, 132), (8, 386), (31, 1553))},
    **{("eqds", n): trims for n, trims in ((1, 0), (2, 0), (3, 4), (8, 87), (31, 418))},
    **{(kind, n): trims for kind in ("rccc", "both") for n, trims in ((1, 0), (2, 0), (3, 9), (8, 92))},
    ("rccc", 31): 428,
    ("both", 31): 483,
    **{("nscc", n): trims for n, trims in ((1, 0), (2, 0), (3, 24), (8, 123))},
}
"""Cuts there, by transport and senders. NSCC with 31 senders is not compared: see the page on these "
"transports."""


def star() -> Iterator[Case]:
    """Make the cases of incasts at one switch."""
    times: dict[tuple[str, int], list[float]] = {}
    for row in table("uet/star.csv"):
        times.setdefault((row["transport"], int(row["senders"])), []).append(float(row["fct_us"]))
    for (kind, senders), trims in TRIMS.items():
        title, settings = TRANSPORTS[kind]
        theirs = times[kind, senders]
        exact = kind in ("ndp", "eqds") or (kind != "nscc" and senders < 31)
        near: tuple[Tolerance, Tolerance] = (Digits(6), Exact()) if exact else (Relative(0.01), Relative(0.03))
        yield Case(
            f"uet/star/{kind}-{senders}",
            f"{title}, {senders} sender{'s' if senders > 1 else ''}",
            "uet-star.toml",
            {**settings, "traffic.flows": senders},
            (
                Figure("completion time: mean", "us", sum(theirs) / len(theirs), near[0], mean_time),
                Figure("completion time: largest", "us", max(theirs), near[0], ranked(1.0)),
                Figure("cut packets", "", float(trims), near[1], cuts),
            ),
            quick=senders == 3,
            cost_s=0.1,
        )


RUNS: Mapping[str, tuple[str, Mapping[str, object]]] = {
    "perm_k4_2MB": ("permutation of 2 MB, k = 4", {"traffic.file": "../data/uet/perm_k4.cm"}),
    "incast4_k8": ("4 senders of 2 MB, k = 8", {"topology.k": 8, "traffic.file": "../data/uet/incast4.cm"}),
    "incast32_k8": ("32 senders of 450,560 B, k = 8", {"topology.k": 8, "traffic.file": "../data/uet/incast32.cm"}),
}
CONTROLS: Mapping[str, str] = {"NSCC": "nscc", "RCCC": "rccc", "NSCC+RCCC": "both"}
SEEDS = (1, 2, 3, 4, 5)


def settings_of(transport: str, choice: str) -> dict[str, object]:
    """Return the settings of a row of the reference."""
    if transport == "NDP":
        return {**NDP, "transport.ndp.paths": choice, "routing.by": "path"}
    if transport == "EQDS":
        return {**EQDS, "routing.by": "entropy"}
    control = CONTROLS[transport]
    marks = {"min": "37440B", "max": "145600B", "to_hosts": control == "nscc"}
    spread = {"transport.uet.spread": choice, "routing.by": "entropy"}
    return {**uet(control, *TREE), **spread, "queue.limit": "178880B", "queue.ecn": marks}


def seeds() -> Iterator[tuple[tuple[Case, ...], Mean]]:
    """Make the runs of every row, a seed each, and their means."""
    for row in table("uet/runs.csv"):
        title, around = RUNS[row["case"]]
        transport, choice = row["transport"], row["path_choice"]
        name = f"{row['case']}-{transport}-{choice}".lower().replace(" ", "")
        settings = {**settings_of(transport, choice), **around}
        paths = "" if transport == "EQDS" else f", {choice}"
        figures: tuple[tuple[str, Callable[[Result], float | None], float, Tolerance | None], ...] = (
            (
                "completion time: mean",
                mean_time,
                float(row["fct_mean_us"]),
                Relative(0.015 + float(row["mean_halfrange_pct"]) / 100),
            ),
            ("completion time: median", ranked(0.5), float(row["p50_us"]), Relative(0.02)),
            ("completion time: p99", ranked(0.99), float(row["p99_us"]), Relative(0.05)),
            ("cut packets", cuts, float(row["trims"]), Relative(0.25) if float(row["trims"]) > 200 else None),
            ("timeouts", summary("flows.timeouts"), float(row["timeouts"]), None),
        )
        cases = tuple(
            Case(
                f"uet/seeds/{name}-{seed}",
                f"{transport}{paths}, {title}, seed {seed}",
                "uet-tree.toml",
                settings,
                tuple(Figure(figure, unit_of(figure), None, None, ours) for figure, ours, _, _ in figures),
                seed=seed,
                cost_s=0.3,
            )
            for seed in SEEDS
        )
        compared = tuple((figure, unit_of(figure), theirs, near) for figure, _, theirs, near in figures)
        yield cases, Mean(f"uet/tree/{name}", f"{transport}{paths}, {title}", tuple(c.id for c in cases), compared)


def unit_of(figure: str) -> str:
    """Return the unit of a figure."""
    return "us" if figure.startswith("completion") else ""


def times_us(result: Result) -> list[float]:
    """Take the completion times of flows that finished, sorted, in microseconds."""
    return sorted(1e6 * fct for fct in result.flows["fct_s"].to_pylist() if fct is not None)


def mean_time(result: Result) -> float | None:
    """Take the mean completion time in microseconds; none where a flow did not finish."""
    found = times_us(result)
    return sum(found) / len(found) if len(found) == result.flows.num_rows else None


def ranked(part: float) -> Callable[[Result], float | None]:
    """Take the completion time number int(part n) of n sorted ones, or the last."""

    def figure(result: Result) -> float | None:
        found = times_us(result)
        return found[min(int(part * len(found)), len(found) - 1)] if len(found) == result.flows.num_rows else None

    return figure


def cuts(result: Result) -> float | None:
    """Take the packets that ports have cut."""
    return float(sum(result.ports["trimmed"].to_pylist()))
