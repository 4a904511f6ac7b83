"""Tracks of ranks of jobs in a trace for Perfetto: iterations, calculations and messages, and arrows between messages.

A job is a process. A rank has tracks for its iterations, the streams of its calculations, what it sends and what it
receives. Slices of a track do not overlap: messages that are under way at once have further tracks. A slice of a
message is the time in which it is under way at the rank, and an arrow leads from that of its sender to that of its
receiver.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from incast.errors import FolderError

if TYPE_CHECKING:
    from incast.runs.result import Result

FIRST = 10
"""Process of the first job."""
MOST_TASKS = 500_000
"""Most tasks of a trace: the viewer becomes slow with more."""
TRACKS = ("iterations", "calc", "send", "recv", "collective")
"""Kinds of tracks of a rank, in the order in which they stand."""
LEAST_US = 1e-6
"""A picosecond, in microseconds."""

Event = dict[str, Any]


class _Tracks:
    """Tracks of a job: numbers of threads, and where each is free."""

    def __init__(self, process: int) -> None:
        self.process = process
        self.free: dict[tuple[int, str], list[float]] = {}
        self.named: list[Event] = []
        self.numbers: dict[tuple[int, str, int], int] = {}

    def of(self, rank: int, track: str, start: float, end: float) -> int:
        """Return the thread of a slice: the first track of the rank that is free from ``start`` on."""
        ends = self.free.setdefault((rank, track), [])
        place = next((i for i, until in enumerate(ends) if until <= start), len(ends))
        if place == len(ends):
            ends.append(end)
        ends[place] = end
        key = rank, track, place
        if key not in self.numbers:
            self.numbers[key] = len(self.numbers) + 1
            words = f"rank {rank} {track}" + (f" {place + 1}" if place else "")
            kind = TRACKS.index(track.split(" ")[0])
            order = (rank * len(TRACKS) + kind) * 1000 + place
            for name, args in (("thread_name", {"name": words}), ("thread_sort_index", {"sort_index": order})):
                thread = {"pid": self.process, "tid": self.numbers[key]}
                self.named.append({"ph": "M", "name": name, **thread, "args": args})
        return self.numbers[key]


def events(result: Result) -> Iterator[Event]:
    """Yield the events of all recorded ranks; raises ``FolderError`` if there are too many tasks."""
    if not result.tasks.num_rows:
        return
    if result.tasks.num_rows > MOST_TASKS:
        raise FolderError(
            f"the run recorded {result.tasks.num_rows:,} tasks, and a trace holds at most {MOST_TASKS:,}: record those "
            'of some ranks, such as measure.tasks=["0-7"]'
        )
    end_s = float(result.summary["run"]["sim_s"])
    tasks, ranks = result.tasks.to_pylist(), result.ranks.to_pylist()
    for number, job in enumerate(result.summary["jobs"]):
        process = FIRST + number
        own = [row for row in tasks if row["job"] == job]
        if not own:
            continue
        yield {"ph": "M", "name": "process_name", "pid": process, "args": {"name": f"job {job}"}}
        tracks = _Tracks(process)
        recorded = {row["rank"] for row in own}
        iterations = [row for row in ranks if row["job"] == job and row["rank"] in recorded]
        slices = [*(_iteration(row, end_s) for row in iterations), *(_task(row, end_s) for row in own)]
        placed = list(_placed(sorted(slices, key=lambda one: (one[0], one[1])), tracks))
        yield from tracks.named
        yield from (event for event, _ in placed)
        yield from _arrows([(event, row) for event, row in placed if row is not None], process)


Slice = tuple[float, float, int, str, str, Event, Event | None]
"""Start, end, rank, track, name, arguments, and the row of a task."""


def _iteration(row: Event, end_s: float) -> Slice:
    shown = ("compute_s", "exposed_s", "idle_s", "communication_s", "host")
    end = end_s if row["finish_s"] is None else row["finish_s"]
    args = {name: row[name] for name in shown}
    return row["start_s"], end, row["rank"], "iterations", f"iteration {row['iteration']}", args, None


def _task(row: Event, end_s: float) -> Slice:
    shown = ("task", "iteration", "peer", "tag", "bytes", "ready_s", "start_s", "finish_s")
    args = {name: row[name] for name in shown if row[name] is not None}
    start, end = row["start_s"], row["finish_s"]
    if row["kind"] in ("send", "recv") and row["message_start_s"] is not None:
        start, end = row["message_start_s"], row["message_finish_s"]
    start = row["ready_s"] if start is None else start
    track = f"calc stream {row['stream']}" if row["kind"] == "calc" and row["stream"] else row["kind"]
    peer = "any rank" if row["peer"] is None else f"rank {row['peer']}"
    ways = {"send": f"send to {peer}", "recv": f"recv from {peer}"}
    name = str(ways.get(row["kind"], row["kind"]))
    return start, end_s if end is None else end, row["rank"], track, name, args, row


def _placed(slices: list[Slice], tracks: _Tracks) -> Iterator[tuple[Event, Event | None]]:
    for start, end, rank, track, name, args, row in slices:
        thread = tracks.of(rank, track, start, end)
        begin = us(start)
        category = "iteration" if row is None else row["kind"]
        where = {"pid": tracks.process, "tid": thread, "ts": begin, "dur": round(us(end) - begin, 6)}
        yield {"ph": "X", "name": name, "cat": category, **where, "args": args}, row


def _arrows(placed: list[tuple[Event, Event]], process: int) -> Iterator[Event]:
    """Yield the two ends of the arrow of each message whose sending and receiving tasks are recorded.

    The messages of one task arrive in the order in which they are sent.
    """
    sends: dict[tuple[int, int], list[Event]] = {}
    for event, row in placed:
        if row["kind"] == "send":
            sends.setdefault((row["rank"], row["task"]), []).append(event)
    received = [(event, row) for event, row in placed if row["kind"] == "recv" and row["peer_task"] is not None]
    received.sort(key=lambda one: one[1]["message_finish_s"])
    taken: dict[tuple[int, int], int] = {}
    number = 0
    for event, row in received:
        key = row["peer"], row["peer_task"]
        place = taken.get(key, 0)
        taken[key] = place + 1
        if place >= len(sends.get(key, ())):
            continue
        number += 1
        send, name = sends[key][place], {"name": "message", "cat": "message", "id": process * 10**9 + number}
        yield {"ph": "s", **name, "pid": process, "tid": send["tid"], "ts": send["ts"]}
        # an arrow ends inside the slice
        ts = round(event["ts"] + max(0.0, event["dur"] - LEAST_US), 6)
        yield {"ph": "f", "bp": "e", **name, "pid": process, "tid": event["tid"], "ts": ts}


def us(time_s: float) -> float:
    """Return a time in microseconds: times are whole picoseconds, which are six digits."""
    return round(time_s * 1e6, 6)
