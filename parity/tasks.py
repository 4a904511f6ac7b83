"""Tasks of the runs of ``training``, written as GOAL text when a comparison needs them.

htsim's runs of GOAL files (spcl/HTSIM 8a33f33, ``htsim/sim/logsim-interface.cpp``) have two rules that no network has.
With ``rules`` the tasks say them: a receive ends when its sender has the last ACK, so that a calculation as long as the
ACK's way follows it; and a NIC takes its next message 0.04 ns a byte after the one before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from os import getpid
from os.path import relpath
from pathlib import Path
from tempfile import TemporaryDirectory

from incast import Workload
from parity import aicb
from parity.figures import SCENARIOS

FOLDER = Path(__file__).resolve().parent.parent / ".cache" / "parity" / "jobs"
"""Files that are made; none of them is kept."""
HOSTS = 16
MIB = 1 << 20
PACKET, PAYLOAD = 4160, 4096
"""Bytes of a packet of htsim's, and of its data."""
BYTE_NS = 0.04
"""Time of a byte at a NIC, whatever its rate."""
Lines = dict[int, list[str]]
"""Statements by rank."""


def file(name: str, text: str) -> str:
    """Write a file unless it is there; return its name for a scenario of ``parity/scenarios``."""
    path = FOLDER / name
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        FOLDER.mkdir(parents=True, exist_ok=True)
        aside = path.with_name(f".{name}.{getpid()}")
        aside.write_text(text, encoding="utf-8")
        aside.replace(path)
    return Path(relpath(path, SCENARIOS)).as_posix()


def goal(lines: Lines, ranks: int = HOSTS) -> str:
    """Return GOAL text."""
    parts = ["\n".join([f"rank {i} {{", *lines.get(i, []), "}"]) for i in range(ranks)]
    return "\n".join([f"num_ranks {ranks}", *parts, ""])


def links(a: int, b: int) -> int:
    """Return the links between two hosts of a fat tree of k = 4."""
    return 2 if a // 2 == b // 2 else 4 if a // 4 == b // 4 else 6


def back_ns(a: int, b: int) -> int:
    """Return the time of an ACK's way, ns: 1 us a link, and 3 ns for its 64 bytes."""
    return 1003 * links(a, b)


def pace_ns(size: int) -> int:
    """Return the time after which a NIC of htsim's takes its next message, ns; it counts a packet too many."""
    return int((-(-size // PAYLOAD) + 1) * PACKET * BYTE_NS)


def receive(lines: list[str], name: str, size: int, ends: tuple[int, int], tag: int, *, rules: bool) -> str:
    """Add a receive at the second of two hosts; return the label of the task that ends it."""
    lines.append(f"{name}: recv {size}b from {ends[0]} tag {tag}")
    if not rules:
        return name
    lines += [f"a{name}: calc {back_ns(*ends)} cpu 3", f"a{name} requires {name}"]
    return f"a{name}"


def paced(lines: list[str], name: str, before: str, size: int) -> None:
    """Let a send wait for the NIC, which has taken another before."""
    lines += [f"p{name}: calc {pace_ns(size)} cpu 2", f"p{name} irequires {before}", f"{name} requires p{name}"]


def one(*, rules: bool) -> Lines:
    """Make one message of 1 MiB over six links."""
    there = list[str]()
    receive(there, "r", MIB, (0, 15), 0, rules=rules)
    return {0: [f"s: send {MIB}b to 15 tag 0"], 15: there}


def calculations(*, rules: bool) -> Lines:
    """Make a calculation, 4 KiB and a calculation."""
    there = list[str]()
    ended = receive(there, "r", PAYLOAD, (0, 15), 0, rules=rules)
    here = ["a: calc 1000", f"s: send {PAYLOAD}b to 15 tag 0", "s requires a"]
    return {0: here, 15: [*there, "b: calc 500", f"b requires {ended}"]}


def ping_pong(*, rules: bool) -> Lines:
    """Make eight messages of 1 MiB to and fro."""
    here, there = list[str](), list[str]()
    for i in range(4):
        here.append(f"s{i}: send {MIB}b to 15 tag {i}")
        got = receive(there, f"r{i}", MIB, (0, 15), i, rules=rules)
        there += [f"s{i}: send {MIB}b to 0 tag {i}", f"s{i} requires {got}"]
        back = receive(here, f"r{i}", MIB, (15, 0), i, rules=rules)
        here += [f"s{i + 1} requires {back}"] if i < 3 else []
    return {0: here, 15: there}


def two(*, rules: bool) -> Lines:
    """Make two messages of 10 MiB from one host to two others."""
    size = 10 * MIB
    here = [f"s: send {size}b to 14 tag 0", f"t: send {size}b to 15 tag 0"]
    if rules:
        paced(here, "t", "s", size)
    lines: Lines = {0: here, 14: [], 15: []}
    for host in (14, 15):
        receive(lines[host], "r", size, (0, host), 0, rules=rules)
    return lines


def incast(*, rules: bool) -> Lines:
    """Make messages of 1 MiB from all hosts to the first."""
    here = list[str]()
    for i in range(1, HOSTS):
        receive(here, f"r{i}", MIB, (i, 0), 0, rules=rules)
    return {0: here, **{i: [f"s: send {MIB}b to 0 tag 0"] for i in range(1, HOSTS)}}


def ring(n: int, *, rules: bool) -> Lines:
    """Make an all-reduce of n MiB by a ring of n hosts."""
    lines: Lines = {}
    for r in range(n):
        own, ended = list[str](), ""
        for s in range(2 * (n - 1)):
            own.append(f"s{s}: send {MIB}b to {(r + 1) % n} tag {s}")
            if ended:
                own.append(f"s{s} requires {ended}")
                if rules:
                    paced(own, f"s{s}", f"s{s - 1}", MIB)
            ended = receive(own, f"r{s}", MIB, ((r - 1) % n, r), s, rules=rules)
        lines[r] = own
    return lines


def all_to_all(*, rounds: bool, rules: bool) -> Lines:
    """Make an all-to-all of 1 MiB a pair, at once or in rounds that wait for both messages of the one before."""
    lines: Lines = {}
    for r in range(HOSTS):
        own, ended = list[str](), ""
        for s in range(1, HOSTS):
            own.append(f"s{s}: send {MIB}b to {(r + s) % HOSTS} tag 0")
            if rounds and ended:
                own += [f"s{s} requires {ended}", f"s{s} requires s{s - 1}"]
            if rules and s > 1:
                paced(own, f"s{s}", f"s{s - 1}", MIB)
            ended = receive(own, f"r{s}", MIB, ((r - s) % HOSTS, r), 0, rules=rules)
        lines[r] = own
    return lines


MADE: Mapping[str, Callable[[bool], Lines]] = {
    "one": lambda rules: one(rules=rules),
    "calculations": lambda rules: calculations(rules=rules),
    "ping-pong": lambda rules: ping_pong(rules=rules),
    "two": lambda rules: two(rules=rules),
    "ring-8": lambda rules: ring(8, rules=rules),
    "ring-16": lambda rules: ring(16, rules=rules),
    "at-once": lambda rules: all_to_all(rounds=False, rules=rules),
    "rounds": lambda rules: all_to_all(rounds=True, rules=rules),
    "incast": lambda rules: incast(rules=rules),
}
"""Tasks of htsim's runs, by name."""


def htsim(name: str, *, rules: bool = False) -> str:
    """Return the file with the tasks of a run of htsim's, with its rules or without."""
    return file(f"{name}{'-rules' if rules else ''}.goal", goal(MADE[name](rules)))


@cache
def gpt_13b(*, server: bool = False) -> str:
    """Return the file with an iteration of GPT-13B by rings, as SimAI runs it: of all servers, or of one by itself."""
    model = aicb.SERVER if server else aicb.GPT_13B
    return file(f"gpt-13b{'-server' if server else ''}.goal", iteration(aicb.training(model)))


def iteration(workload: str) -> str:
    """Return a workload of AICB as GOAL text, with SimAI's rules."""
    with TemporaryDirectory() as folder:
        source, made = Path(folder) / "workload.txt", Path(folder) / "workload.goal"
        source.write_text(workload, encoding="utf-8")
        Workload.load(source, as_simai=True).expanded().write(made)
        return made.read_text(encoding="utf-8")
