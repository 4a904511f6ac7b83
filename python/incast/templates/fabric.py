"""Scenario file of a fabric: hosts, rate and traffic in a few words become a commented file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from incast import _core
from incast.errors import ScenarioError
from incast.runs.scenario import Scenario, toml_value
from incast.system.output import nearest
from incast.writing.names import as_commented_word

FILLS = 4
"""Warm-up, as a multiple of the mean time that a byte's flow lasts at the load; arrivals last three times as long."""

DRAWN = 20_000
"""Flows that are drawn to learn how long they last, at least."""

MOST_HOPS = 1e9
"""Hops of a run, at most: two minutes of CPU time. A load of flows that last for longer is carried in part."""

NO_FLOW = "no flow arrives by"
"""Part of the message about arrivals that end too soon."""

LONGEST_US = 3_000_000
"""Duration of a run that ends by itself, at least."""

PERMUTATION = "permutation"
INDENT = 27
"""Column of the comments; that of a longer line stands above it."""


@dataclass(frozen=True)
class Fabric:
    """A fabric, and its traffic, as a user asks for them."""

    kind: str
    """Kind of the topology: ``leaf-spine``, ``fat-tree``, ``dumbbell`` or ``star``."""
    keys: Sequence[tuple[str, str, str]]
    """Keys of the topology with their values and comments."""
    about: str
    hosts: int
    option: str
    """The options of the command that choose the topology."""
    rate: str = "100Gbps"
    traffic: str = ""
    load: str = "0.6"
    """As a value of TOML."""
    warmup_us: int = 1
    """Time in which the load builds up; arrivals last three times as long."""
    builds_up: bool = True
    """False if that takes longer, and more hops than a first run should have."""

    @property
    def has_load(self) -> bool:
        """Return whether flows arrive at a load."""
        return self.kind in ("leaf-spine", "fat-tree") and self.traffic != PERMUTATION


def leaf_spine(text: str, hosts: int | None) -> Fabric:
    """Make a fabric of ``LEAVESxSPINES`` switches, such as ``20x5`` (default: 16 hosts on every leaf)."""
    option = f'--leaf-spine "{text}"'
    leaves, x, spines = text.partition("x")
    if not (x and leaves.isdecimal() and spines.isdecimal() and int(leaves) and int(spines)):
        raise ScenarioError(f"{option}: expected leaves x spines, such as 20x5")
    hosts = 16 * int(leaves) if hosts is None else hosts
    if hosts % int(leaves):
        raise ScenarioError(f"--hosts {hosts}: expected a multiple of the {leaves} leaves of {option}")
    each = hosts // int(leaves)
    keys = [
        ("leaves", leaves, "switches with hosts"),
        ("spines", spines, "switches that join the leaves"),
        ("hosts_per_leaf", str(each), ""),
        (
            "link",
            _link("500ns"),
            "rate; delay of the cable one way; bytes that each packet adds on the wire: preamble, gap, CRC",
        ),
        ("oversubscription", "1.0", "hosts' rate over spine links' rate of a leaf: 2.0 halves the spine links"),
    ]
    return Fabric(
        "leaf-spine",
        keys,
        f"{leaves} leaves of {each} hosts, {spines} spines",
        hosts,
        f"--leaf-spine {text} --hosts {hosts}",
    )


def fat_tree(k: int, hosts: int | None) -> Fabric:
    """Make a fat tree of switches with ``k`` ports; raises ``ScenarioError`` for another number of hosts."""
    if k % 2 or k < 2:
        raise ScenarioError(f"--fat-tree {k}: expected an even number >= 2")
    own = k**3 // 4
    if hosts not in (None, own):
        raise ScenarioError(f"--hosts {hosts}: a fat tree with k = {k} has {own} hosts; expected no --hosts")
    keys = [
        ("k", str(k), f"ports of a switch; k^3/4 = {own} hosts"),
        (
            "link",
            _link("500ns"),
            "rate; delay of the cable one way; bytes that each packet adds on the wire: preamble, gap, CRC",
        ),
    ]
    return Fabric("fat-tree", keys, f"fat tree with k = {k}, {own} hosts", own, f"--fat-tree {k}")


def dumbbell(pairs: int) -> Fabric:
    """Make a dumbbell: this number of senders and receivers, one link between their switches."""
    keys = [
        ("senders", str(pairs), ""),
        ("receivers", str(pairs), ""),
        ("access_link", _link("1us"), "links of the hosts"),
        ("bottleneck_link", _link("1us"), "the link that all flows share"),
    ]
    return Fabric("dumbbell", keys, f"{pairs} senders share one link", 2 * pairs, f"--dumbbell {pairs}")


def incast(senders: int) -> Fabric:
    """Make a star: this number of senders answers one receiver at once."""
    keys = [
        ("sources", str(senders), "hosts that answer"),
        ("source_link", _link("1us"), "links of these hosts"),
        ("sink_link", _link("1us"), "link of the host that asks"),
    ]
    return Fabric("star", keys, f"{senders} hosts answer one at once", senders + 1, f"--incast {senders}")


def _link(delay: str) -> str:
    return f'{{ rate = "RATE", delay = "{delay}", overhead = 38 }}'


def refuse_unknown(traffic: str) -> None:
    """Raise ``ScenarioError`` unless the traffic is a table of sizes, or a permutation."""
    known = [PERMUTATION, *(name for name, _ in _core.list_kind("sizes"))]
    if traffic not in known:
        near = nearest(traffic, known)
        raise ScenarioError(
            f'--traffic "{traffic}": no such traffic{near}; expected {PERMUTATION}, or a table of flow sizes '
            "(incast list sizes names all)"
        )


def scenario_file(asked: Fabric, file: str) -> str:
    """Return the text of a scenario file that runs as it is; ``file`` is its name.

    Raises ``ScenarioError`` with what was expected.
    """
    tried = Scenario.from_toml(_text(asked, file))
    resolved = tried.resolved()
    links = [value for key, value in resolved["topology"].items() if key.endswith("link")]
    asked = replace(asked, rate=links[0]["rate"])
    if asked.has_load:
        load = resolved["traffic"][0]["arrivals"]["load"]
        warmup_us, builds_up = _warmup_us(tried, load)
        asked = replace(asked, load=f"{load:g}", warmup_us=warmup_us, builds_up=builds_up)
    text = _text(asked, file)
    Scenario.from_toml(text).validate()
    return text


def _warmup_us(tried: Scenario, load: float) -> tuple[int, bool]:
    """Return a time in microseconds, 1, 2 or 5 of a power of ten, and whether a load builds up in it.

    A flow has about ``1 - load`` of its link, so it lasts as much longer than alone.
    """
    until_us, drawn = 1, tried
    while (flows := _flows(drawn)) < DRAWN:
        until_us *= 10 if flows < DRAWN / 10 else 2
        until = f"{until_us}us"
        drawn = tried.changed({"run.duration": until, "traffic.arrivals.until": until, "run.warmup": "0s"})
    with drawn.looked_at():
        alone_s, hops = np.asarray(_core.model_bounds(drawn.core)["ideal_fct_s"]), drawn.core.extent()["hops"]
    lasts_s = float((alone_s**2).sum() / alone_s.sum()) / max(1 - load, 0.1)
    least_us, most_us = max(FILLS * lasts_s * 1e6, 1.0), max(until_us * MOST_HOPS / hops / 3, 1.0)
    power = 10 ** math.floor(math.log10(least_us))
    wanted = next(step * power for step in (1, 2, 5, 10) if step * power >= least_us)
    if wanted <= most_us:
        return wanted, True
    power = 10 ** math.floor(math.log10(most_us))
    return max(step * power for step in (1, 2, 5) if step * power <= most_us), False


def _flows(scenario: Scenario) -> int:
    """Return the number of flows that arrive; 0 where the scenario is refused since none does."""
    try:
        flows: int = scenario.core.extent()["flows"]
    except ScenarioError as error:
        if NO_FLOW not in str(error):
            raise
        return 0
    return flows


def _time(us: int) -> str:
    """Write whole microseconds in the largest unit of which they are a whole number."""
    number, unit = next((us // size, unit) for size, unit in ((10**6, "s"), (1000, "ms"), (1, "us")) if us % size == 0)
    return f"{number}{unit}"


def _text(asked: Fabric, file: str) -> str:
    keys = [_line(key, value.replace('"RATE"', toml_value(asked.rate)), comment) for key, value, comment in asked.keys]
    flows, end = _traffic(asked)
    return _SCENARIO.format(
        about=f"{asked.about}, links of {asked.rate}",
        command=_command(asked),
        file=as_commented_word(file),
        kind=asked.kind,
        keys="\n".join(keys),
        run=end,
        traffic=flows,
    )


def _command(asked: Fabric) -> str:
    """Return the command that makes the file."""
    traffic = f" --traffic {asked.traffic}" if asked.traffic else ""
    load = f" --load {asked.load}" if asked.has_load else ""
    return f"incast new scenario {asked.option} --rate {asked.rate}{traffic}{load}"


def _line(key: str, value: str, comment: str) -> str:
    line = f"{key} = {value}"
    if len(line) > INDENT and comment:
        return f"# {comment}\n{line}"
    return f"{line:<{INDENT}} # {comment}" if comment else line


def _traffic(asked: Fabric) -> tuple[str, str]:
    """Return the text of the traffic, and that of the run's length."""
    to_the_end = [
        _line("duration", '"3s"', "simulated time at most (s, ms, us, ns): the run ends when all flows have"),
        _line("seed", "1", "of everything random; incast compare makes several"),
    ]
    if asked.has_load:
        sizes = asked.traffic or "websearch"
        warmup, until = _time(asked.warmup_us), _time(3 * asked.warmup_us)
        longest = _time(max(30 * asked.warmup_us, LONGEST_US))
        builds_up = (
            "the load builds up" if asked.builds_up else "too short for these sizes: the load is carried in part"
        )
        to_the_end = [
            _line(
                "duration", f'"{longest}"', "simulated time at most (s, ms, us, ns): the run ends when all flows have"
            ),
            _line("warmup", f'"{warmup}"', f"{builds_up}; left out of rates, queues and losses"),
            _line("measure_until", f'"{until}"', "end of what these figures measure, and of arrivals"),
            to_the_end[-1],
        ]
        entry = [
            _line("name", f'"{sizes}"', "name in results"),
            _line("pattern", '"poisson"', "flows arrive at random, from every host to every other"),
            f'arrivals = {{ load = {asked.load}, load_of = "wire", sizes = "builtin:{sizes}", until = "{until}" }}',
            '# load: share of the hosts\' links, 0.6 or "60%"; sizes: incast list sizes; until: end of arrivals',
            "# Large flows last for long: a higher load, or larger flows, need later times in [run] and here.",
            "# Flows still going at the end of arrivals finish in a network that empties; completion times are of all.",
        ]
    elif asked.kind == "dumbbell":
        to_the_end = [
            _line("duration", '"20ms"', "simulated time (s, ms, us, ns)"),
            _line("warmup", '"5ms"', "left out of the figures"),
            to_the_end[-1],
        ]
        entry = [_line("name", '"bulk"', "name in results"), _line("pattern", '"pairs"', "sender i to receiver i")]
        entry.append(_line("app", '{ kind = "bulk" }', 'endless; with size = "1MB" a transfer that ends'))
    elif asked.kind == "star":
        entry = [
            _line("name", '"answers"', "name in results"),
            _line("pattern", '"incast"', "all to one"),
            _line("receiver", '"sink"', ""),
            _line("flows", str(asked.hosts - 1), "one a sender"),
            _line("app", '{ kind = "bulk", size = "64kB" }', "bytes of an answer (B, kB, MB)"),
        ]
    else:
        entry = [
            _line("name", f'"{PERMUTATION}"', "name in results"),
            _line("pattern", f'"{PERMUTATION}"', "every host sends one flow and receives one"),
            _line("app", '{ kind = "bulk", size = "1MB" }', "bytes of a flow (B, kB, MB)"),
        ]
    return "\n".join(entry), "\n".join(to_the_end)


_SCENARIO = """\
# {about}.
# Made by: {command}
#
# Change any value, then: incast validate {file}; incast run {file} --dry-run; incast run {file}.
# All keys: incast list tables, incast describe table run.

description = "{about}"
controller = "dctcp"        # or "swift:target=min-rtt"; names: incast list controllers

[run]
{run}

[topology]                  # incast describe topology {kind}; page topologies/{kind}
kind = "{kind}"
{keys}

[queue]                     # of every port. incast describe queue ecn-threshold; page queues/ecn-threshold
kind = "ecn-threshold"
limit = "1000p"             # packets (p) or bytes (kB, MB)
mark = "65p"                # K: packets are marked from this queue on. Page how-to/choose-k

[transport]                 # incast describe transport linux; page transport
preset = "linux"

[[traffic]]                 # incast list traffic; page traffic
{traffic}
"""
