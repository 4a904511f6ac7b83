"""The aggregator: it asks all workers at once and reads their responses."""

from __future__ import annotations

import select
import socket
import struct
import time
from contextlib import suppress
from dataclasses import dataclass

from proto.sccp.network import Network, worker_address
from proto.sccp.workers import PORT, request

READ = bytearray(1 << 20)
ABORT = struct.pack("=ii", 1, 0)


@dataclass(frozen=True)
class Times:
    """Instants of a query, on the kernel's monotonic clock."""

    start_ns: int
    """First connect; with persistent connections the first request."""
    request_ns: int
    """First request."""
    end_ns: int
    """Last byte of the last response; end of the time limit if it came first."""
    finished: bool


class Aggregator:
    """The application of the aggregator. Its sockets are in the aggregator's namespace."""

    def __init__(self, network: Network, limit_s: float, ack_at_once: bool) -> None:
        self.network, self.limit_s, self.ack_at_once = network, limit_s, ack_at_once
        self.open: list[socket.socket] = []

    def connect(self, workers: int, gap_s: float = 0.0) -> None:
        """Open a connection to each worker, and wait until all are open."""
        with self.network.inside(self.network.aggregator):
            self.open = [socket.socket() for _ in range(workers)]
        for number, connection in enumerate(self.open):
            connection.setblocking(False)
            if not self.ack_at_once:
                # At a client: the handshake's ACK waits for the first data and rides on it.
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, 1)
            with suppress(BlockingIOError):
                connection.connect((worker_address(number), PORT))
            if gap_s:
                time.sleep(gap_s)
        self.wait_until_open()

    def wait_until_open(self) -> None:
        """Wait until every connection is established."""
        poll = select.epoll()
        waiting = {connection.fileno(): connection for connection in self.open}
        for number in waiting:
            poll.register(number, select.EPOLLOUT)
        end = time.monotonic() + self.limit_s
        while waiting:
            if time.monotonic() > end:
                raise OSError(f"{len(waiting)} connections did not open within {self.limit_s:g} s")
            for number, _ in poll.poll(0.1):
                connection = waiting.pop(number)
                poll.unregister(number)
                if error := connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                    raise OSError(error, "a connection did not open")
        poll.close()

    def query(self, workers: int, response_bytes: int, fresh: bool) -> Times:
        """Ask every worker for a response; with ``fresh``, over connections for this query alone."""
        start = time.monotonic_ns()
        if fresh:
            self.connect(workers)
        asked = time.monotonic_ns()
        words = request(response_bytes, fresh)
        for connection in self.open:
            connection.send(words)
        end = self.read(response_bytes, fresh)
        if fresh or end is None:
            self.close(abort=end is None)
        return Times(start if fresh else asked, asked, end or time.monotonic_ns(), end is not None)

    def read(self, response_bytes: int, ends: bool) -> int | None:
        """Read all responses, up to the ends of the connections with ``ends``; return when the last byte came."""
        poll = select.epoll()
        left = {connection.fileno(): response_bytes for connection in self.open}
        by_number = {connection.fileno(): connection for connection in self.open}
        for number in left:
            poll.register(number, select.EPOLLIN)
        latest = time.monotonic_ns()
        limit = latest + round(self.limit_s * 1e9)
        while left:
            ready = poll.poll(0.1)
            now = time.monotonic_ns()
            if now > limit:
                return None
            for number, _ in ready:
                size = by_number[number].recv_into(READ)
                left[number] -= size
                if size:
                    latest = now
                elif left[number]:
                    raise OSError("a worker ended a connection early")
                if (size == 0) if ends else not left[number]:
                    del left[number]
                    poll.unregister(number)
        poll.close()
        return latest

    def close(self, abort: bool = False) -> None:
        """Close all connections; with ``abort`` by RST."""
        for connection in self.open:
            if abort:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABORT)
            connection.close()
        self.open = []
