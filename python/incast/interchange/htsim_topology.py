"""Topology files of htsim (``.topo``): fat trees of two or three tiers, by their keys."""

from __future__ import annotations

from dataclasses import dataclass, field

from incast.errors import ScenarioError
from incast.interchange.words import UINT, Words, shown
from incast.system.output import nearest

MOST_HOSTS = 1 << 20
MOST_LINKS = 4_000_000
HEAD = ("nodes", "tiers", "podsize")
KEYS = {
    "downlink_speed_gbps": 10**6,
    "radix_up": 10**6,
    "radix_down": 10**6,
    "oversubscribed": 10**6,
    "bundle": 10**3,
    "switch_latency_ns": UINT,
    "downlink_latency_ns": UINT,
}
"""Keys of a tier, with the largest value of each."""


@dataclass
class Tier:
    """A tier of switches, and its links downwards."""

    values: dict[str, int] = field(default_factory=dict)

    def __getitem__(self, key: str) -> int:
        return self.values.get(key, 1 if key in ("oversubscribed", "bundle") else 0)

    @property
    def bps(self) -> int:
        """Rate of a link downwards."""
        return self["downlink_speed_gbps"] * 10**9


@dataclass
class Tree:
    """A fat tree, as the counts of its switches."""

    hosts: int
    pods: int
    tors: int
    """ToR switches of a pod."""
    aggs: int
    """Aggregation switches of a pod; with two tiers, of the whole."""
    cores: int
    tiers: list[Tier]


def read(words: Words) -> Tree:
    """Read a topology: a key and a value a line, ``#`` for remarks."""
    head: dict[str, int] = {}
    tiers: dict[int, Tier] = {}
    current: Tier | None = None
    at = 0
    for line in words.text.split("\n"):
        content, begin = line.strip().split(), at
        at += len(line) + 1
        if not content or content[0].startswith("#"):
            continue
        key = content[0].lower()
        expected = [*HEAD, "tier"] if current is None else ["tier", *KEYS]
        if key not in expected:
            hint = nearest(key, expected)
            raise words.error(begin, f'"{shown(content[0])}": expected one of {", ".join(expected)}{hint}')
        value = _value(words, begin, content, key)
        if key == "tier":
            if value in tiers:
                raise words.error(begin, f"tier {value} is there twice")
            current = tiers.setdefault(value, Tier())
        elif (head if current is None else current.values).setdefault(key, value) != value:
            raise words.error(begin, f"{key} is there twice")
    return _tree(words, head, tiers)


def _value(words: Words, begin: int, content: list[str], key: str) -> int:
    most = {"nodes": MOST_HOSTS, "podsize": MOST_HOSTS, "tiers": 3, "tier": 2}.get(key) or KEYS[key]
    least = {"tiers": 2, "tier": 0, "switch_latency_ns": 0}.get(key, 1)
    word = content[1] if len(content) > 1 else ""
    if not (word.isascii() and word.isdecimal() and len(word) < 12 and least <= int(word) <= most):
        message = f'{content[0]} = "{shown(word)}": expected a whole number from {least} to {most}'
        raise words.error(begin, message)
    return int(word)


def _tree(words: Words, head: dict[str, int], tiers: dict[int, Tier]) -> Tree:
    """Derive the counts of switches, as htsim does."""
    for key in HEAD:
        if key not in head:
            raise ScenarioError(f"{words.name}: no {key.capitalize()}; expected one before the tiers")
    count = head["tiers"]
    for number in range(count):
        needed = ["downlink_speed_gbps", "downlink_latency_ns", "radix_down", *(["radix_up"] * (number < count - 1))]
        if missing := [key for key in needed if number not in tiers or key not in tiers[number].values]:
            raise ScenarioError(f"{words.name}: no {missing[0]} of tier {number}; expected one")
    own = [tiers[number] for number in range(count)]
    hosts, pods = head["nodes"], _over(words, head["nodes"], head["podsize"], "Nodes", "Podsize")
    tors = _over(words, head["podsize"], own[0]["radix_down"], "Podsize", "Radix_Down of tier 0")
    ups = _over(
        words, hosts * own[0].bps, own[1].bps * own[0]["oversubscribed"], "the hosts' rate", "the rate of an uplink"
    )
    aggs = _over(words, ups, pods * own[1]["radix_down"], "uplinks of ToR switches", "downlinks of a pod")
    cores = 0
    if count == 3:
        tops = _over(
            words, ups * own[1].bps, own[2].bps * own[1]["oversubscribed"], "the rate of the ToR switches' uplinks",
            "the rate of a core link",
        )  # fmt: skip
        cores = _over(words, tops, own[2]["radix_down"], "core links", "Radix_Down of tier 2")
    elif pods > 1:
        raise ScenarioError(f"{words.name}: Podsize {head['podsize']}: expected {hosts}, all hosts, with two tiers")
    links = hosts + tors * pods * aggs * own[1]["bundle"] + (cores * pods * own[2]["bundle"] if count == 3 else 0)
    if max(links, aggs * pods, cores) > MOST_LINKS:
        raise ScenarioError(f"{words.name}: {links} links; expected at most {MOST_LINKS}")
    return Tree(hosts, pods, tors, aggs, cores, own)


def _over(words: Words, all_of_them: int, each: int, what: str, by: str) -> int:
    number, rest = divmod(all_of_them, each)
    if rest or not number:
        raise ScenarioError(f"{words.name}: {what} ({all_of_them}) over {by} ({each}): expected a whole number above 0")
    return number


def is_regular(tree: Tree) -> bool:
    """Return whether the tree is a k-ary fat tree, or every leaf has one link to every spine, without delays inside."""
    if any(tier["bundle"] > 1 or tier["switch_latency_ns"] for tier in tree.tiers):
        return False
    half = tree.tiers[0]["radix_down"]
    if len(tree.tiers) == 2:
        return True
    return (tree.pods, tree.tors, tree.aggs, tree.cores) == (2 * half, half, half, half * half)
