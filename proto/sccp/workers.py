"""The workers: one process that answers for all of them, with a listening socket in each namespace.

A request is ``REQUEST`` bytes: size of the response, and whether the connection ends with it. The response is one
write; where the connection ends, so is its FIN, which rides on the last segment.
"""

from __future__ import annotations

import os
import select
import socket
import struct
import traceback
from collections.abc import Sequence

from proto.sccp import kernel
from proto.sccp.network import worker_address

PORT = 5001
REQUEST = 100
HEAD = struct.Struct("!QB")


def request(response_bytes: int, ends: bool) -> bytes:
    """Write a request."""
    return HEAD.pack(response_bytes, ends).ljust(REQUEST, b"\0")


class Workers:
    """The process of the workers; it is killed when this one ends."""

    def __init__(self, namespaces: Sequence[int], home: int) -> None:
        listeners = []
        for number, namespace in enumerate(namespaces):
            kernel.enter(namespace)
            listener = socket.socket()
            listener.setblocking(False)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((worker_address(number), PORT))
            listener.listen(64)
            listeners.append(listener)
        kernel.enter(home)
        parent = os.getpid()
        self.process = os.fork()
        if self.process == 0:
            try:
                kernel.die_with_parent(parent)
                Server(listeners).serve()
            except KeyboardInterrupt:
                pass
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(1)
        for listener in listeners:
            listener.close()

    def close(self) -> None:
        """End the process."""
        os.kill(self.process, 9)
        os.waitpid(self.process, 0)


class Server:
    """Answers requests of all workers."""

    def __init__(self, listeners: Sequence[socket.socket]) -> None:
        self.poll = select.epoll()
        self.listeners = {listener.fileno(): listener for listener in listeners}
        for number in self.listeners:
            self.poll.register(number, select.EPOLLIN)
        self.open: dict[int, tuple[socket.socket, bytearray]] = {}
        self.unsent: dict[int, tuple[memoryview, bool]] = {}
        self.zeros = bytes(1 << 20)

    def serve(self) -> None:
        """Answer for ever."""
        while True:
            for number, _ in self.poll.poll():
                if number in self.listeners:
                    self.accept(self.listeners[number])
                elif number in self.unsent:
                    self.send(number)
                else:
                    self.read(number)

    def accept(self, listener: socket.socket) -> None:
        """Take a connection."""
        connection, _ = listener.accept()
        connection.setblocking(False)
        self.open[connection.fileno()] = (connection, bytearray())
        self.poll.register(connection.fileno(), select.EPOLLIN)
        self.read(connection.fileno())

    def read(self, number: int) -> None:
        """Read what has come of a request, and answer it when it is whole."""
        connection, held = self.open[number]
        try:
            data = connection.recv(REQUEST - len(held))
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.forget(number)
            return
        held += data
        if len(held) == REQUEST:
            size, ends = HEAD.unpack_from(held)
            held.clear()
            if size > len(self.zeros):
                self.zeros = bytes(size)
            self.unsent[number] = (memoryview(self.zeros)[:size], bool(ends))
            self.send(number)

    def send(self, number: int) -> None:
        """Write what is left of a response; it waits for room where the socket's buffer is full."""
        connection, (data, ends) = self.open[number][0], self.unsent[number]
        try:
            # The kernel holds the end back for the shutdown, so that the FIN has data to ride on.
            sent = connection.send(data, socket.MSG_MORE if ends else 0)
        except BlockingIOError:
            sent = 0
        except OSError:
            self.forget(number)
            return
        if sent < len(data):
            self.unsent[number] = (data[sent:], ends)
            self.poll.modify(number, select.EPOLLOUT)
            return
        del self.unsent[number]
        if ends:
            connection.shutdown(socket.SHUT_WR)
        self.poll.modify(number, select.EPOLLIN)

    def forget(self, number: int) -> None:
        """Close a connection."""
        connection, _ = self.open.pop(number)
        self.unsent.pop(number, None)
        self.poll.unregister(number)
        connection.close()
