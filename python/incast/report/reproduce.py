"""Last section of a report: the command that makes it, the scenarios that were run, and the files beside the page.

A report is one file that people send: it holds the text of its scenarios, and small tables of data.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from incast.comparisons.declaration import ComparisonStudy
from incast.comparisons.report_folder import POINTS_FILE, Home
from incast.runs.named_files import FILES
from incast.system import files

SMALL = 64 << 10
"""Most bytes of data that a page holds itself."""
LONGEST = 256 << 10
"""Most characters of a scenario on a page: the nodes of a large graph fill megabytes."""


@dataclass(frozen=True)
class Ran:
    """A scenario as one of the runs had it."""

    name: str
    toml: str
    """Text with every default."""
    of: str
    """Words on the run: its controller, values and seed."""


def section(command: str, body: str, ran: Sequence[Ran] = (), others: Sequence[str] = ()) -> str:
    """Return the section; ``body`` is HTML below the command, ``others`` what the other runs have instead."""
    apart = f" Other runs have {'; '.join(others)}." if others else ""
    texts = "".join(_folded(one, apart) for one in ran)
    return (
        f'<section id="reproduce"><h2>Reproduce</h2><pre class="copy"><code>{escape(command)}</code></pre>'
        f"{texts}<p>{body}</p></section>"
    )


def text_of(title: str, text: str, note: str = "") -> str:
    """Return a folded text that can be copied."""
    told = f'<p class="note">{escape(note)}</p>' if note else ""
    code = f'<pre class="copy"><code>{escape(text)}</code></pre>'
    return f"<details><summary>{escape(title)}</summary>{told}{code}</details>"


def others(study: ComparisonStudy) -> list[str]:
    """Return the words on what the runs of a comparison have that its first run has not."""
    lineups = [" beside ".join(one.text for one in lineup) for lineup in study.lineups]
    found = [f"controller {' or '.join(lineups[1:])}"] if len(lineups) > 1 else []
    found += [f"{key} = {' or '.join(values[1:])}" for key, values in study.varied if len(values) > 1]
    return found + ([f"seed {' or '.join(map(str, range(2, study.seeds + 1)))}"] if study.seeds > 1 else [])


def ran_in(study: ComparisonStudy, home: Home, called: Sequence[str]) -> list[Ran]:
    """Return each scenario of a comparison as its first run had it; ``called`` are their names."""
    points = files.read_table(home.folder / POINTS_FILE).select(["scenario", "arm", "values", "toml"]).to_pylist()
    tomls = {(row["scenario"], row["arm"], row["values"]): row["toml"] for row in points}
    given = ", ".join(f"{key} = {value}" for key, value in study.settings)
    found, names = [], dict(zip(study.scenarios, called, strict=True))
    for case in study.first_cases():
        if case.scenario in names:
            words = [f"controller {' beside '.join(case.texts)}"]
            words += [f"{key} = {value}" for key, value in study.at(case.value).items()]
            of = ", ".join([*words, "seed 1"]) + (f" ({given} set for all runs)" if given else "")
            found.append(Ran(names.pop(case.scenario), tomls[study.place(case)[:3]], of))
    return found


def _folded(ran: Ran, apart: str) -> str:
    if len(ran.toml) > LONGEST:
        long = f"{ran.name}: its text has {len(ran.toml):,} characters, and is in the folder of a run alone."
        return f'<p class="note">{escape(long)}</p>'
    named = f" Files below {FILES}/ are in the folder of a run." if f"{FILES}/" in ran.toml else ""
    note = f"As run with {ran.of}; every default is written out.{apart}{named}"
    return text_of(f"Scenario {ran.name}: the text of a run", ran.toml, note)


def beside(name: str, data: str | None = None) -> str:
    """Return the link to a file beside the page, as HTML: small ``data`` are in the page, others are said to be out."""
    content = (data or "").encode()
    if data is None or len(content) > SMALL:
        return f'<a href="{escape(name)}">{escape(name)}</a> (a file of its own, beside this page)'
    link = f"data:application/octet-stream;base64,{base64.b64encode(content).decode('ascii')}"
    return f'<a href="{link}" download="{escape(name)}">{escape(name)}</a>'
