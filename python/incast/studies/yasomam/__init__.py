"""The study yasomam: DCTCP and three forms of Swift on fat trees of 1 Gb/s links, over numbers of flows."""

from __future__ import annotations

from html import escape

from incast.comparison import Comparison
from incast.studies.yasomam.claims import NEGLIGIBLE_LOSS_PCT, ROLES, Finding, findings, role
from incast.verdict import STYLE, Verdict


def section(comparison: Comparison) -> str:
    """Set a verdict beside each of the study's claims; nothing unless the comparison is the study's.

    It is where it has all of the study's protocols, and a scenario, fabric and number of flows of which a claim speaks.
    """
    if not set(ROLES) <= {role(controller) for controller in comparison.study.controllers}:
        return ""
    found = findings(comparison)
    if all(finding.verdict is Verdict.UNTESTED for finding in found):
        return ""
    rows = [
        f"<tr><td>{escape(finding.where)}</td><td>{escape(finding.statement)}</td>"
        f'<td><b class="verdict {STYLE[finding.verdict]}">{finding.verdict}</b></td><td>{_seen(finding)}</td></tr>'
        for finding in found
    ]
    return f"""<section id="claims"><h2>The claims in words of the study yasomam beside what is seen here</h2>
<p>The comparison follows a student report which measured ns-3's DCTCP against its own Swift on fat trees of 1 Gb/s
links. Its statements are restated here in our words. Verdicts are computed from the runs of this report:
throughput and delay as FlowMonitor has them, loss as the mean over flows (<code>flows.loss_mean_pct</code>: FlowMonitor
would add what is in flight when a run ends, which the study's meter saw arrive), from differences between
controllers under the same seed: <b>holds</b> and <b>does not hold</b> are clear of the noise of the seeds (95&nbsp;%
Student-t interval), <b>undecided</b> is not. "Negligible" loss is read as under {NEGLIGIBLE_LOSS_PCT:g}&nbsp;%.</p>
<p class="note">Not the same experiment: the study averages over ON and OFF seconds and starts its meter with the
connections, this comparison measures after a warm-up; its Swift differs from the published one (a decrease to the
floor at any loss, a minimum window of 2000 bytes, pacing overwritten by the transport), while ours follows the paper;
its three runs used other placements for every protocol.</p>
<div class="wide"><table class="claims"><thead><tr><th>case</th><th>the study says</th><th>here</th>
<th>numbers</th></tr></thead><tbody>{"".join(rows)}</tbody></table></div></section>"""


SHOWN = 3
"""Numbers of a kind beside a verdict before the rest folds away."""


def _seen(finding: Finding) -> str:
    parts = []
    for heading, texts in finding.seen:
        parts.append(f"<p><b>{heading}:</b> {escape('; '.join(texts[:SHOWN]))}.</p>")
        if len(texts) > SHOWN:
            parts.append(
                f"<details><summary>{len(texts) - SHOWN} more</summary>{escape('; '.join(texts[SHOWN:]))}.</details>"
            )
    return "".join(parts)
