"""Record of a run's pauses: its intervals, causes and paths, as read from the tables."""

from __future__ import annotations

import tomllib
from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from incast.errors import FolderError
from incast.runs.groups import groups
from incast.runs.result import MOST_PAUSES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from incast.runs.result import Result

Paused = tuple[int, int]
"""A port, by its row in ports.parquet, and a traffic class."""


@dataclass(frozen=True)
class Pause:
    """One pause: when the port stood still, and where the bytes waited that caused it."""

    asked_s: float
    begin_s: float
    end_s: float
    """Time at which the port goes on, or the end of the run."""
    node: str
    """Switch that asked."""
    held: int
    """Bytes from the port that the switch held then."""
    threshold: int
    """Bytes from which it asks."""
    waits: dict[int, int]
    """Bytes of these at each egress port of the switch."""


@dataclass(frozen=True)
class Flow:
    """A flow, its path and its life."""

    number: int
    entry: str
    start_s: float
    end_s: float
    path: tuple[int, ...]
    """Ports that all its data passes, from the sender on."""
    some: tuple[int, ...]
    """Ports that a part of its data passes."""
    class_: int | None
    """Traffic class; ``None`` if its packets may have several."""


@dataclass
class Record:
    """Pauses, ports and flows of a run."""

    end_s: float
    names: list[str]
    rates: list[float | None]
    """Rates of the ports in bit/s; ``None``: no limit."""
    pauses: dict[Paused, list[Pause]]
    """Pauses by port and class, in order of their begin."""
    flows: list[Flow]
    asked: int
    """Pauses recorded, with those that never took effect."""
    limit: int
    """Most pauses that the run records."""
    stuck: dict[int, float] = field(default_factory=dict)
    """Ports in a deadlock at the end, and since when."""
    standing: dict[Paused, dict[int, int]] = field(default_factory=dict)
    """Bytes at egress ports for which a pause stands at the end."""

    @property
    def is_cut(self) -> bool:
        """True if the run may have had more pauses than it recorded."""
        return self.asked >= self.limit

    def held_for(self, port: int, beyond: int) -> int:
        """Return the bytes from a port that wait for another one at the end of the run."""
        return sum(waits.get(beyond, 0) for (own, _), waits in self.standing.items() if own == port)

    @cached_property
    def through(self) -> dict[int, list[Flow]]:
        """Flows by the ports that they pass."""
        found: dict[int, list[Flow]] = defaultdict(list)
        for flow in self.flows:
            for port in (*flow.path, *flow.some):
                found[port].append(flow)
        return found

    def of_flow(self, flow: Flow) -> Iterator[Paused]:
        """Yield the paused ports and classes on the path of a flow, from the sender on."""
        for port in flow.path:
            for class_ in self.classes.get(port, ()):
                if flow.class_ in (None, class_):
                    yield port, class_

    @cached_property
    def backlog(self) -> dict[Paused, int]:
        """Bytes that wait at ports in the worst case: the most of every account that was paused for them."""
        found: dict[Paused, int] = defaultdict(int)
        for (_, class_), pauses in self.pauses.items():
            most: dict[int, int] = {}
            for pause in pauses:
                for port, held in pause.waits.items():
                    most[port] = max(most.get(port, 0), held)
            for port, held in most.items():
                found[port, class_] += held
        return found

    @cached_property
    def lengthened(self) -> dict[Paused, list[Pause]]:
        """Pauses with the time after each in which the port sends what had waited meanwhile."""
        found = {}
        for paused, pauses in self.pauses.items():
            rate = self.rates[paused[0]]
            rest_s = 8 * self.backlog.get(paused, 0) / rate if rate else 0.0
            ends = [*(pause.begin_s for pause in pauses[1:]), self.end_s]
            longer = [max(pause.end_s, min(pause.end_s + rest_s, end)) for pause, end in zip(pauses, ends, strict=True)]
            found[paused] = [replace(pause, end_s=end_s) for pause, end_s in zip(pauses, longer, strict=True)]
        return found

    @cached_property
    def _sums(self) -> dict[Paused, tuple[list[float], list[float]]]:
        """Begins of pauses, and the paused time before each."""
        return {
            paused: ([p.begin_s for p in pauses], [0.0, *accumulate(p.end_s - p.begin_s for p in pauses)])
            for paused, pauses in self.pauses.items()
        }

    def paused_s(self, paused: Paused, begin_s: float, end_s: float) -> float:
        """Return the time for which a port was paused in an interval."""
        return self._paused_before(paused, end_s) - self._paused_before(paused, begin_s)

    def _paused_before(self, paused: Paused, at_s: float) -> float:
        begins, sums = self._sums[paused]
        last = bisect_right(begins, at_s) - 1
        if last < 0:
            return 0.0
        return sums[last] + min(at_s, self.pauses[paused][last].end_s) - begins[last]

    @cached_property
    def classes(self) -> dict[int, list[int]]:
        """Paused classes of every paused port."""
        found: dict[int, list[int]] = defaultdict(list)
        for port, class_ in self.pauses:
            found[port].append(class_)
        return found


def of(run: Result) -> Record | None:
    """Read the pauses of a run; ``None`` if it recorded none. Raises ``FolderError`` if a table is damaged."""
    with run.reading():
        return _read(run) if len(run.pauses) else None


def _read(run: Result) -> Record:
    rows = run.pauses.to_pylist()
    ports = run.ports.select(["port", "rate_bps", "deadlocked_s"]).to_pylist()
    end_s = run.summary["run"]["sim_s"]
    asked: dict[int, dict[str, Any]] = {}
    waits: dict[int, dict[int, int]] = defaultdict(dict)
    standing: dict[Paused, dict[int, int]] = defaultdict(dict)
    for row in rows:
        for port in (row["port"], row["through"]):
            if not 0 <= port < len(ports):
                raise FolderError(f"pauses.parquet is damaged: port {port}, where ports.parquet has {len(ports)}")
        if row["moment"] == "end":
            standing[row["port"], row["class"]][row["through"]] = row["through_bytes"]
        else:
            asked[row["pause"]] = row
            waits[row["pause"]][row["through"]] = row["through_bytes"]
    pauses: dict[Paused, list[Pause]] = defaultdict(list)
    for number, row in asked.items():
        if row["begin_s"] is not None:
            until = end_s if row["end_s"] is None else row["end_s"]
            known = (row["node"], row["account_bytes"], row["threshold_bytes"])
            pause = Pause(row["asked_s"], row["begin_s"], until, *known, waits[number])
            pauses[row["port"], row["class"]].append(pause)
    for own in pauses.values():
        own.sort(key=lambda pause: pause.begin_s)
    scenario = tomllib.loads(run.toml)
    return Record(
        end_s,
        [row["port"] for row in ports],
        [row["rate_bps"] for row in ports],
        dict(pauses),
        list(_flows(run, scenario, len(ports), end_s)),
        len(asked),
        limit_of(scenario),
        {port: row["deadlocked_s"] for port, row in enumerate(ports) if row["deadlocked_s"] is not None},
        dict(standing),
    )


def _flows(run: Result, scenario: dict[str, Any], ports: int, end_s: float) -> Iterator[Flow]:
    """Yield the flows that opened."""
    paths: dict[tuple[int, bool], list[int]] = defaultdict(list)
    for row in run.timeline_paths.to_pylist():
        if not 0 <= row["port"] < ports:
            raise FolderError(f"timeline_paths.parquet is damaged: port {row['port']}, where there are {ports}")
        paths[row["flow"], bool(row["sprayed"])].append(row["port"])
    classes = classes_of(scenario)
    columns = ["flow", "group", "start_s", "finish_s", "stopped_s", "throughput_bps"]
    for row in run.flows.select(columns).to_pylist():
        ends = [at for at in (row["finish_s"], row["stopped_s"]) if at is not None]
        until = min([*ends, end_s])
        if row["start_s"] < until:
            path, some = (tuple(paths.get((row["flow"], sprayed), ())) for sprayed in (False, True))
            yield Flow(row["flow"], row["group"], row["start_s"], until, path, some, classes.get(row["group"]))


def limit_of(scenario: dict[str, Any]) -> int:
    """Return the most pauses that a run of a resolved scenario records."""
    limit = scenario.get("measure", {}).get("pauses")
    return limit if isinstance(limit, int) else MOST_PAUSES


def classes_of(scenario: dict[str, Any]) -> dict[str, int | None]:
    """Return the traffic class of each entry's and job's packets; ``None`` if they may have several."""
    return {entry["name"]: _class_of(entry, scenario["transport"]) for _, entry in groups(scenario)}


def _class_of(entry: dict[str, Any], transport: dict[str, Any]) -> int | None:
    """Return the traffic class of an entry's packets; ``None`` if they may have several."""
    own = {**transport, **entry.get("transport", {})}
    levels = any("levels" in part for part in own.values() if isinstance(part, dict))
    return None if entry.get("pattern") == "file" or levels or own.get("demotion") else int(entry.get("class", 0))
