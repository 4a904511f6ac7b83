"""``incast view --serve``: the page by a server of this machine alone, for runs too large for one file.

What can be asked for is known before the first request: the page, and parts of it by their numbers, each of which is
made when it is asked for first, and kept. No request names a file.
An address begins with a random token, which a browser's pages of other sites do not know; and a request must name this
machine as its host, so that a name of the web that is made to mean 127.0.0.1 reaches nothing (DNS rebinding).
"""

from __future__ import annotations

import hmac
import re
import secrets
import socketserver
import struct
import sys
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

from incast.errors import FolderError, IncastError
from incast.view import page
from incast.view.packing import Pack

LOCAL = "127.0.0.1"
HOST = re.compile(r"(?:127\.0\.0\.1|localhost)(?::\d{1,5})?", re.IGNORECASE)
"""Who asks names this machine; the port may be that of a tunnel."""
ADDRESS = re.compile(r"/([^/?#]*)/?(.*)", re.DOTALL)
PARTS = re.compile(r"parts/(0|[1-9][0-9]{0,8})-(0|[1-9][0-9]{0,8})")
"""Parts from one to another; in the answer each begins with its length, as u32."""
QUIET_S = 60
"""A connection without a request for so long is closed."""
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Spool:
    """Parts of a page. Each is made once, and kept in a file without a name, which is gone with the process.

    What the disk has no room for is not kept, and made each time.
    """

    def __init__(self, pack: Pack) -> None:
        self._pack = pack
        # without a buffer, which would keep what could not be written and write it again later
        self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
        self._end = 0
        self._places: dict[int, tuple[int, int]] = {}
        self._turn = threading.Lock()

    def __len__(self) -> int:
        """How many there are, made or not."""
        return len(self._pack)

    def __getitem__(self, at: int) -> bytes:
        """Read a part, or make it; raises ``IndexError`` beyond the last, and what reading its run raises."""
        with self._turn:
            if at in self._places:
                start, size = self._places[at]
                self._file.seek(start)
                kept = self._file.read(size)
                if len(kept) == size:
                    return kept
        part = self._pack[at]
        with self._turn:
            if at not in self._places:
                self._keep(at, part)
        return part

    def _keep(self, at: int, part: bytes) -> None:
        """Write a part, and then say where it is; where it cannot be written whole the file ends as before."""
        left = memoryview(part)
        try:
            self._file.seek(self._end)
            while left:
                left = left[self._file.write(left) :]
        except OSError:
            with suppress(OSError):
                self._file.truncate(self._end)
            return
        self._places[at] = self._end, len(part)
        self._end += len(part)

    def close(self) -> None:
        """Give the file back."""
        with self._turn:
            self._file.close()


class Server(socketserver.ThreadingTCPServer):
    """Answers at 127.0.0.1; port 0 is any that is free. Raises ``FolderError`` where the port is taken."""

    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False

    def __init__(self, port: int = 0) -> None:
        self.text, self.parts = b"", Spool(Pack())
        self.token = secrets.token_urlsafe(24)
        self._opening: str | None = None
        self._turn = threading.Lock()
        try:
            super().__init__((LOCAL, port), _Request)
        except OSError as error:
            self.parts.close()
            raise FolderError(f"--port {port}: cannot listen there ({error.strerror}): give another") from None

    def show(self, runs: Sequence[Path]) -> None:
        """Say what is served, before the first request is answered; raises ``FolderError`` as the page does."""
        text, pack = page.served(runs)
        self.parts.close()
        self.text, self.parts = text.encode(), Spool(pack)

    def server_close(self) -> None:
        """Stop listening, and forget the runs."""
        super().server_close()
        self.parts.close()

    @property
    def address(self) -> str:
        """Where the page is."""
        return f"http://{LOCAL}:{self.server_address[1]}/{self.token}/"

    def opening(self) -> str:
        """Make an address that leads to the page once: others of this machine see what a browser is called with."""
        with self._turn:
            self._opening = secrets.token_urlsafe(24)
            return f"http://{LOCAL}:{self.server_address[1]}/{self._opening}/"

    def opens(self, token: str) -> bool:
        """Whether it is the token of the address that leads to the page once; from now on it is not."""
        with self._turn:
            found = self._opening is not None and same(token, self._opening)
            if found:
                self._opening = None
            return found

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a browser that has gone."""
        if not isinstance(sys.exception(), (ConnectionError, TimeoutError)):
            super().handle_error(request, client_address)


def same(one: str, other: str) -> bool:
    """Whether two tokens are the same, in a time that does not tell how far they are."""
    return hmac.compare_digest(one.encode("utf-8", "surrogatepass"), other.encode())


class _Request(BaseHTTPRequestHandler):
    """A request."""

    server: Server
    protocol_version = "HTTP/1.1"
    timeout = QUIET_S

    def do_GET(self) -> None:
        """Answer."""
        found = ADDRESS.fullmatch(self.path)
        token, rest = found.groups() if found else ("", "")
        if not self._is_local():
            self._refuse(HTTPStatus.FORBIDDEN, "expected 127.0.0.1 or localhost as the host")
        elif same(token, self.server.token):
            self._answer(rest)
        elif self.command == "GET" and not rest and self.server.opens(token):
            self._send(HTTPStatus.FOUND, "text/plain", [], {"Location": self.server.address})
        else:
            self._refuse(HTTPStatus.FORBIDDEN, "expected the address that incast view --serve has printed")

    do_HEAD = do_POST = do_PUT = do_DELETE = do_OPTIONS = do_PATCH = do_GET  # noqa: N815

    def _answer(self, rest: str) -> None:
        """Answer who knows the token with the page or some of its parts."""
        asked = PARTS.fullmatch(rest)
        first, last = (int(at) for at in asked.groups()) if asked else (0, -1)
        if self.command not in ("GET", "HEAD"):
            self._refuse(HTTPStatus.METHOD_NOT_ALLOWED, "expected GET", {"Allow": "GET, HEAD"})
        elif not rest and self.path.endswith("/"):
            self._send(HTTPStatus.OK, "text/html; charset=utf-8", [self.server.text])
        elif first <= last < len(self.server.parts):
            self._send_parts(first, last)
        else:
            self._refuse(HTTPStatus.NOT_FOUND, "nothing is there")

    def _send_parts(self, first: int, last: int) -> None:
        try:
            parts = [self.server.parts[at] for at in range(first, last + 1)]
        except (IncastError, OSError) as error:
            self._refuse(HTTPStatus.INTERNAL_SERVER_ERROR, str(error))
            return
        told = (data for part in parts for data in (struct.pack("<I", len(part)), part))
        self._send(HTTPStatus.OK, "application/octet-stream", list(told))

    def _is_local(self) -> bool:
        hosts = self.headers.get_all("Host") or []
        return len(hosts) == 1 and HOST.fullmatch(hosts[0].strip()) is not None

    def _refuse(self, status: HTTPStatus, words: str, more: dict[str, str] | None = None) -> None:
        self.close_connection = True  # a body may follow, which nobody reads
        self._send(status, "text/plain; charset=utf-8", [f"{words}\n".encode()], more)

    def _send(self, status: HTTPStatus, kind: str, data: Sequence[bytes], more: dict[str, str] | None = None) -> None:
        self.send_response(status)
        own = {"Content-Type": kind, "Content-Length": str(sum(map(len, data)))} | HEADERS | (more or {})
        for name, value in own.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            for part in data:
                self.wfile.write(part)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:  # noqa: ARG002
        """Answer what is no request."""
        self._refuse(HTTPStatus(code), message or HTTPStatus(code).phrase)

    def version_string(self) -> str:
        """Say no more than who it is."""
        return "incast"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Write nothing: addresses hold the token."""
