"""The report of a comparison: one HTML file that needs nothing else, and its pictures beside it."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path

from rich.console import Console

from incast import _core, result, studies, tables
from incast.comparison import Comparison, Run, aggregate_json
from incast.figures import COMPLETION_FIGURES, Figure, axis_name, draw_all, figures_of
from incast.folders import write_whole
from incast.output import counted
from incast.run_folder import read_table
from incast.statistics import Estimate, nearest_rank
from incast.study.comparing import Controller
from incast.tables import Column


def write(comparison: Comparison) -> Path:
    """Write ``report.html``, its PNGs and ``comparison.json`` into the comparison's folder."""
    pictures = draw_all(comparison)
    for name, png in pictures.items():
        write_whole(comparison.folder / f"{name}.png", png)
    if "over-time" not in pictures:
        # One of an earlier report does not belong to this one.
        (comparison.folder / "over-time.png").unlink(missing_ok=True)
    for figure in COMPLETION_FIGURES:
        if figure.name not in pictures:
            (comparison.folder / f"{figure.name}.png").unlink(missing_ok=True)
    shown = [figure.key for figure in figures_of(comparison)]
    write_whole(comparison.folder / "comparison.json", aggregate_json(comparison, shown))
    page = comparison.folder / "report.html"
    write_whole(page, html(comparison, pictures))
    return page


def number(estimate: Estimate | None, scale: float = 1.0) -> str:
    """Write a mean with its interval, at a precision that fits."""
    if estimate is None:
        return "–"
    text = rounded(estimate.mean * scale)
    if estimate.half_width is not None:
        text += f" ± {rounded(estimate.half_width * scale, 2)}"
    return text


def rounded(value: float, significant: int = 3) -> str:
    """Write a number with as many digits as it deserves: whole ones are not rounded, only tiny ones have exponents."""
    if value == 0:
        return "0"
    text = f"{value:.{significant}g}"
    if abs(value) >= 1000 or (abs(value) >= 1 and "e" in text):
        return f"{value:,.0f}"
    return text if "e" not in text else f"{value:.1e}"


def print_table(comparison: Comparison, console: Console, paired: bool = False) -> None:
    """Print the means to a terminal, a table a scenario; or how they differ from the first controller's."""
    study = comparison.study
    first = study.controllers[0]
    shown = study.controllers[1:] if paired else study.controllers
    for scenario, name in zip(study.scenarios, study.scenario_names(), strict=True):
        figures = figures_of(comparison, scenario)
        seeds = f"{study.seeds} seed{'s' * (study.seeds > 1)}"
        what = f"less {first.label} under the same seed, means and 95 % intervals over" if paired else "means over"
        points = [(value, controller) for value in study.values for controller in shown]

        tables.show(
            console,
            f"{name}: {what} {seeds}",
            [
                Column(
                    ".".join(study.key.split(".")[1:][-2:]) or study.key,
                    [value if controller == shown[0] else "" for value, controller in points],
                ),
                Column("controller", [controller.label for _, controller in points], "left"),
            ],
            [
                Column(figure.short, [_cell(comparison, scenario, *point, figure, paired) for point in points])
                for figure in figures
            ],
            range(len(shown) - 1, len(points), len(shown)),
        )
        for told in [*without_datagrams(comparison, scenario), *([] if paired else unfinished(comparison, scenario))]:
            console.print(told, highlight=False, soft_wrap=True)


def _cell(
    comparison: Comparison, scenario: str, value: str, controller: Controller, figure: Figure, paired: bool
) -> str:
    """Write a mean, or with its interval how it differs from the first controller's."""
    if paired:
        first = comparison.study.controllers[0]
        found = comparison.difference(scenario, controller.text, first.text, value, figure.key)
        return number(found, figure.scale)
    found = comparison.estimate(scenario, controller.text, value, figure.key)
    return "–" if found is None else rounded(found.mean * figure.scale)


def unfinished(comparison: Comparison, scenario: str) -> list[str]:
    """Say of which points not all queries or writes finished: their figures are over those that did."""
    told = []
    study = comparison.study
    for value in study.values:
        for controller in study.controllers:
            for what, (finished, count) in comparison.began(scenario, controller.text, value).items():
                if finished < count:
                    where = f"{study.key} = {value}, {controller.label}"
                    told.append(f"{where}: {result.unfinished(what, finished, count)}")
    return told


def without_datagrams(comparison: Comparison, scenario: str) -> list[str]:
    """Say which flows stand in no figure of flows: no controller governs what they send."""
    entries = comparison.datagrams(scenario)
    if not entries:
        return []
    return [f"figures of flows are without {' and '.join(entries)}: datagrams at a rate of their own"]


def html(comparison: Comparison, pictures: dict[str, bytes]) -> str:
    """Make the page."""
    study = comparison.study
    figures = figures_of(comparison)
    first = next(iter(comparison.runs.values()))
    parts = [
        f"<header><h1>{escape(study.title)}</h1>{_lead(comparison)}</header>",
        _headline(comparison),
        "<section><h2>Figures</h2>",
        '<p class="note">Lines are means over the seeds, bands their 95&nbsp;% Student-t intervals. '
        "Controllers meet the same placements under one seed, so a difference between two lines is "
        "surer than their bands suggest.</p>",
    ]
    for figure in figures:
        caption = f"{escape(figure.title)} against {escape(axis_name(study.key).lower())}; {figure.better} is better."
        parts.append(embedded(pictures[figure.name], figure.name, caption))
    if "over-time" in pictures:
        case = comparison.series[0].case
        parts.append(
            embedded(
                pictures["over-time"],
                "over-time",
                f"Congestion windows of {_first_flows(comparison)} and the queue at the busiest port over time: "
                f"{escape(case.scenario)}, {escape(study.key)} = {escape(case.value)}, seed {case.seed}; "
                "the warm-up is grey.",
            )
        )
    elif comparison.series_gap:
        parts.append(f'<p class="note">No picture over time: {escape(comparison.series_gap)}.</p>')
    parts += [
        "</section>",
        *studies.sections(comparison),
        _numbers(comparison),
        _differences(comparison),
        _sharing(comparison),
        _definitions(comparison, first),
        _again(comparison, first),
    ]
    return document(study.title, parts)


def document(title: str, parts: Sequence[str]) -> str:
    """Put the parts of a page into a document that needs nothing else."""
    style = files("incast").joinpath("report.css").read_text(encoding="utf-8")
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Incast: {escape(title)}</title>\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>{style}</style></head>\n<body><main>\n" + "\n".join(parts) + "\n</main></body></html>\n"
    )


def _first_flows(comparison: Comparison) -> str:
    *first, last = comparison.series[0].flows
    return f"flows {', '.join(map(str, first))} and {last}" if first else f"flow {last}"


def scaled(value: float, digits: int = 3) -> str:
    """Write a count or an amount with the prefix that keeps it readable: 950, 2.31 thousand, 4.1 million."""
    for size, word in [(1e9, " billion"), (1e6, " million"), (1e3, " thousand")]:
        if abs(value) >= size:
            return f"{rounded(value / size, digits)}{word}"
    return f"{value:.{digits}g}"


def duration(value: float) -> str:
    """Write an amount of time in the unit that suits it."""
    for size, unit in [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs")]:
        if value >= size:
            return f"{rounded(value / size)} {unit}"
    return f"{value * 1e9:.3g} ns" if value else "0 s"


def _lead(comparison: Comparison) -> str:
    study = comparison.study
    return (
        f'<p class="lead">{counted(len(study.controllers), "controller")}, {counted(len(study.values), "value")} of '
        f"<code>{escape(study.key)}</code>, {counted(study.seeds, 'seed')}: {counted(len(comparison.runs), 'run')}, "
        f"{scaled(comparison.hops)} hops (packets passing ports) in {duration(comparison.cpu_s)} of CPU time.</p>"
    )


def _headline(comparison: Comparison) -> str:
    """Tables of means; the best of each figure stands out."""
    study = comparison.study
    parts = ["<section><h2>At a glance</h2>"]
    for scenario, name in zip(study.scenarios, study.scenario_names(), strict=True):
        figures = figures_of(comparison, scenario)
        value = study.values[-1]
        head = "".join(f"<th>{escape(figure.label)}</th>" for figure in figures)
        found = {
            (c.text, f.key): comparison.estimate(scenario, c.text, value, f.key)
            for c in study.controllers
            for f in figures
        }
        rows = []
        for c in study.controllers:
            cells = []
            for f in figures:
                column = [e.mean for other in study.controllers if (e := found[other.text, f.key]) is not None]
                e = found[c.text, f.key]
                best = e is not None and e.mean == (max(column) if f.better == "higher" else min(column))
                cells.append(f"<td{' class=best' if best else ''}>{number(e, f.scale)}</td>")
            rows.append(f"<tr><th>{escape(c.label)}</th>{''.join(cells)}</tr>")
        parts.append(
            f"<h3>{escape(name)}, {escape(axis_name(study.key).lower())}: {escape(value)}</h3>"
            f'<div class="wide"><table><thead><tr><th>controller</th>{head}</tr></thead>'
            f"<tbody>{''.join(rows)}</tbody></table></div>"
        )
        told = [*without_datagrams(comparison, scenario), *unfinished(comparison, scenario)]
        parts += [f'<p class="note">{escape(text)}.</p>' for text in told]
    parts.append(
        f'<p class="note">Means ± half the 95&nbsp;% interval over {counted(study.seeds, "seed")}; the best mean of a '
        "column is bold. "
        "Every other point is under <a href=#numbers>All numbers</a>.</p></section>"
    )
    return "\n".join(parts)


def embedded(png: bytes, name: str, caption: str) -> str:
    """Put a picture into the page; the caption is HTML already."""
    data = base64.b64encode(png).decode("ascii")
    return (
        f'<figure><img src="data:image/png;base64,{data}" alt="{caption}">'
        f"<figcaption>{caption} <span>{name}.png</span></figcaption></figure>"
    )


def _numbers(comparison: Comparison) -> str:
    study = comparison.study
    parts = [
        '<section id="numbers"><h2>All numbers</h2>',
        '<p class="note">What stands behind each point: its runs, the hops simulated in them, and the ON seconds of '
        "the applications inside the measured interval (mean over flows, added up over runs).</p>",
    ]
    for scenario, name in zip(study.scenarios, study.scenario_names(), strict=True):
        figures = figures_of(comparison, scenario)
        head = "".join(f"<th>{escape(figure.label)}</th>" for figure in figures)
        rows = []
        for value in study.values:
            for i, controller in enumerate(study.controllers):
                runs = comparison.point(scenario, controller.text, value)
                cells = "".join(
                    f"<td>{number(comparison.estimate(scenario, controller.text, value, f.key), f.scale)}</td>"
                    for f in figures
                )
                hops = sum(int(run.summary["run"]["hops"]) for run in runs)
                on_s = sum(run.on_s for run in runs)
                start = f"<th rowspan={len(study.controllers)}>{escape(value)}</th>" if i == 0 else ""
                rows.append(
                    f"<tr{' class=first' if i == 0 else ''}>{start}<th>{escape(controller.label)}</th>{cells}"
                    f"<td>{len(runs)}</td><td>{scaled(hops)}</td><td>{on_s:.3g}</td></tr>"
                )
        parts.append(
            f"<h3>{escape(name)}</h3><div class=wide><table><thead><tr><th>{escape(axis_name(study.key))}</th>"
            f"<th>controller</th>{head}<th>runs</th><th>hops</th><th>ON seconds</th></tr></thead>"
            f"<tbody>{''.join(rows)}</tbody></table></div>"
        )
    return "\n".join(parts) + "</section>"


def _differences(comparison: Comparison) -> str:
    """Tell by how much every controller differs from the first one, seed by seed."""
    study = comparison.study
    first = study.controllers[0]
    if len(study.controllers) < 2 or study.seeds < 2:
        return ""
    parts = [
        f'<section id="differences"><h2>Less {escape(first.label)}</h2>',
        f'<p class="note">Every controller meets the placements of {escape(first.label)} under each seed: figures less '
        "its own under the same seed, means and 95&nbsp;% intervals of these differences. What is clear of zero is "
        "bold; of cells where there is no difference about one in twenty is, by chance.</p>",
    ]
    for scenario, name in zip(study.scenarios, study.scenario_names(), strict=True):
        figures = figures_of(comparison, scenario)
        head = "".join(f"<th>{escape(figure.label)}</th>" for figure in figures)
        rows = []
        for value in study.values:
            for i, controller in enumerate(study.controllers[1:]):
                cells = ""
                for figure in figures:
                    found = comparison.difference(scenario, controller.text, first.text, value, figure.key)
                    text = number(found, figure.scale)
                    clear = found is not None and (found.low > 0 or found.high < 0)
                    cells += f"<td>{f'<b>{text}</b>' if clear else text}</td>"
                start = f"<th rowspan={len(study.controllers) - 1}>{escape(value)}</th>" if i == 0 else ""
                rows.append(
                    f"<tr{' class=first' if i == 0 else ''}>{start}<th>{escape(controller.label)}</th>{cells}</tr>"
                )
        parts.append(
            f"<h3>{escape(name)}</h3><div class=wide><table><thead><tr><th>{escape(axis_name(study.key))}</th>"
            f"<th>controller</th>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
        )
    return "\n".join(parts) + "</section>"


CLASSES = ("leaf", "pod", "none")
"""How near an elephant is to an end of a flow, the nearest first."""
LISTED = 1000
"""Flows that the page lists one by one."""


def _sharing(comparison: Comparison) -> str:
    """Tell how flows fare by the elephants near their ends, where there are any, and which flow is near which."""
    study = comparison.study
    value = study.values[-1]
    parts = []
    for scenario, name in zip(study.scenarios, study.scenario_names(), strict=True):
        found = {
            controller.label: [near_elephants(run) for run in comparison.point(scenario, controller.text, value)]
            for controller in study.controllers
        }
        if not any(flows for runs in found.values() for flows in runs):
            continue
        rows = []
        for place in sorted({flow.place for runs in found.values() for flows in runs for flow in flows}, key=_nearness):
            for i, (label, runs) in enumerate(found.items()):
                times = sorted(flow.fct_s for flows in runs for flow in flows if flow.place == place and flow.fct_s)
                count = sum(flow.place == place for flows in runs for flow in flows)
                start = "".join(f"<th rowspan={len(found)}>{near}</th>" for near in place) if i == 0 else ""
                cells = (
                    str(count),
                    str(len(times)),
                    rounded(1e6 * sum(times) / len(times)) if times else "–",
                    rounded(1e6 * nearest_rank(times, 99)) if times else "–",
                )
                rows.append(
                    f"<tr{' class=first' if i == 0 else ''}>{start}<th>{escape(label)}</th>"
                    + "".join(f"<td>{cell}</td>" for cell in cells)
                    + "</tr>"
                )
        flows = next(flows for runs in found.values() for flows in runs if flows)
        each = "".join(
            f"<tr><td>{flow.number}</td><td>{flow.source}</td><td>{flow.destination}</td>"
            f"<td>{flow.place[0]}</td><td>{flow.place[1]}</td></tr>"
            for flow in flows[:LISTED]
        )
        listed = "Every flow" if len(flows) <= LISTED else f"The first {LISTED:,} of {len(flows):,} flows"
        seed = next(run.case.seed for run in comparison.point(scenario, study.controllers[0].text, value))
        parts.append(
            f"<h3>{escape(name)}, {escape(axis_name(study.key).lower())}: {escape(value)}</h3><div class=wide><table>"
            "<thead><tr><th>at the source</th><th>at the destination</th><th>controller</th><th>flows</th>"
            "<th>finished</th><th>mean FCT (us)</th><th>p99 FCT (us)</th></tr></thead>"
            f"<tbody>{''.join(rows)}</tbody></table></div>"
            f"<details><summary>{listed} under seed {seed} (all are in flows.parquet)</summary>"
            "<div class=wide><table><thead><tr><th>flow</th><th>source host</th><th>destination host</th>"
            "<th>at the source</th><th>at the destination</th></tr></thead>"
            f"<tbody>{each}</tbody></table></div></details>"
        )
    if not parts:
        return ""
    return (
        '<section id="sharing"><h2>Flows by what they share with elephants</h2><p class="note">The nearest source of '
        "an elephant to a flow's source, and the nearest destination to its destination: on its leaf, in its pod, or "
        "neither; over all seeds, without the elephants. Percentiles are nearest ranks of the flows that finished.</p>"
        + "".join(parts)
        + "</section>"
    )


@dataclass(frozen=True)
class Near:
    """A flow, and how near elephants are to its ends."""

    number: int
    source: int
    destination: int
    place: tuple[str, str]
    fct_s: float | None


def _nearness(place: tuple[str, str]) -> tuple[int, ...]:
    return tuple(CLASSES.index(near) for near in place)


def near_elephants(run: Run) -> list[Near]:
    """Return the flows of a run that are no elephants; none where there are no elephants."""
    if not run.elephants:
        return []
    names = ["flow", "src", "dst", "shared_source", "shared_destination", "fct_s", "group"]
    columns = (column.to_pylist() for column in read_table(run.folder, "flows", names).columns)
    return [
        Near(flow, src, dst, (source, destination), fct)
        for flow, src, dst, source, destination, fct, group in zip(*columns, strict=True)
        if group not in run.elephants
    ]


def _definitions(comparison: Comparison, run: Run) -> str:
    """Show the definitions that the summary carries, of the figures in the report."""
    definitions, units = run.summary["definitions"], run.summary["units"]
    keys = [f.key for f in figures_of(comparison)]
    keys += [key for key in definitions if key.startswith(("flows.loss_mean", "flowmonitor.", "queues.busiest."))]
    rows = "".join(
        f"<tr><td><code>{escape(key)}</code></td><td>{escape(units.get(key, ''))}</td>"
        f"<td>{escape(definitions[key])}</td></tr>"
        for key in keys
    )
    return f"""<section><h2>Definitions</h2>
<div class="wide"><table class="claims">
<thead><tr><th>figure</th><th>unit in the files</th><th>definition</th></tr></thead>
<tbody>{rows}
<tr><td>band, ±</td><td></td><td>Half width of the two-sided 95&nbsp;% confidence interval of the mean over seeds:
t(0.975, n−1) · s/√n, with s the sample standard deviation and n = {comparison.study.seeds} seeds; of differences to
another controller, of the n differences under one seed each.</td></tr>
<tr><td>percentile</td><td></td><td>By nearest rank: of n values in ascending order the one of rank ceil(p n). It is
taken in every run, and then the mean over the seeds.</td></tr>
<tr><td>hop</td><td>packets</td><td>One packet passing one port; data packets and ACKs both count.</td></tr>
<tr><td>ON second</td><td>s</td><td>A second in which a flow's application has data to send, inside the measured
interval.</td></tr>
</tbody></table></div></section>"""


def _again(comparison: Comparison, run: Run) -> str:
    command = comparison.study.command(str(comparison.folder))
    figures = run.summary["run"]
    return f"""<section><h2>Make it again</h2>
<pre><code>{escape(command)}</code></pre>
<p>Incast {escape(_core.__version__)}, engine build <code>{escape(run.manifest["engine"])}</code>. A run
simulates {figures["sim_s"]:g}&nbsp;s and measures from {figures["measure_from_s"]:g}&nbsp;s to
{figures["measure_to_s"]:g}&nbsp;s. Every run lies in its own folder under <code>runs/</code>, with its resolved
scenario: <code>incast run scenario.toml</code> repeats it byte for byte. The means above are in
<code>comparison.json</code>.</p></section>"""
