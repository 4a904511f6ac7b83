"""``incast view --serve``: the page by a local server, for runs too large for one file.

The server only offers the page and its numbered parts, each made on the first request, and cached. No request names a
file. Addresses begin with a random token, unknown to pages of other sites. A request must have this machine as its
host, which blocks DNS rebinding.
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
"""Allowed hosts of a request; the port may be that of a tunnel."""
ADDRESS = re.compile(r"/([^/?#]*)/?(.*)", re.DOTALL)
PARTS = re.compile(r"parts/(0|[1-9][0-9]{0,8})-(0|[1-9][0-9]{0,8})")
"""Range of parts; in the answer each begins with its length as u32."""
QUIET_S = 60
"""Idle time after which a connection is closed."""
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Spool:
    """Parts of a page, each made once and cached in an anonymous temporary file.

    Parts that do not fit the disk are made on every request.
    """

    def __init__(self, pack: Pack) -> None:
        self._pack = pack
        # unbuffered: a buffer would retry a failed write later
        self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
        self._end = 0
        self._places: dict[int, tuple[int, int]] = {}
        self._turn = threading.Lock()

    def __len__(self) -> int:
        """Return the number of parts, made or not."""
        return len(self._pack)

    def __getitem__(self, at: int) -> bytes:
        """Return a part; raises ``IndexError`` beyond the last, and exceptions of reading its run."""
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
        """Write a part, then register its place; if the write fails the file keeps its length."""
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
        """Close the file."""
        with self._turn:
            self._file.close()


class Server(socketserver.ThreadingTCPServer):
    """Server at 127.0.0.1; port 0: any free port. Raises ``FolderError`` if the port is taken."""

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

    def show(self, runs: Sequence[Path], names: Sequence[str] | None = None) -> None:
        """Set the runs to serve, before the first request; raises ``FolderError`` like the page."""
        text, pack = page.served(runs, names)
        self.parts.close()
        self.text, self.parts = text.encode(), Spool(pack)

    def server_close(self) -> None:
        """Stop listening, and release the runs."""
        super().server_close()
        self.parts.close()

    @property
    def address(self) -> str:
        """Address of the page."""
        return f"http://{LOCAL}:{self.server_address[1]}/{self.token}/"

    def opening(self) -> str:
        """Make a one-time address of the page, since other users can see command lines."""
        with self._turn:
            self._opening = secrets.token_urlsafe(24)
            return f"http://{LOCAL}:{self.server_address[1]}/{self._opening}/"

    def opens(self, token: str) -> bool:
        """Return whether a token is that of the one-time address, and invalidate it."""
        with self._turn:
            found = self._opening is not None and same(token, self._opening)
            if found:
                self._opening = None
            return found

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore closed connections."""
        if not isinstance(sys.exception(), (ConnectionError, TimeoutError)):
            super().handle_error(request, client_address)


def same(one: str, other: str) -> bool:
    """Compare two tokens in constant time."""
    return hmac.compare_digest(one.encode("utf-8", "surrogatepass"), other.encode())


class _Request(BaseHTTPRequestHandler):
    """Handler of a request."""

    server: Server
    protocol_version = "HTTP/1.1"
    timeout = QUIET_S

    def do_GET(self) -> None:
        """Answer a request."""
        found = ADDRESS.fullmatch(self.path)
        token, rest = found.groups() if found else ("", "")
        if not self._is_local():
            self._refuse(HTTPStatus.FORBIDDEN, "expected 127.0.0.1 or localhost as the host")
        elif same(token, self.server.token):
            self._answer(rest)
        elif self.command == "GET" and not rest and self.server.opens(token):
            self._send(HTTPStatus.FOUND, "text/plain", [], {"Location": self.server.address})
        else:
            self._refuse(HTTPStatus.FORBIDDEN, "expected the address printed by incast view --serve")

    do_HEAD = do_POST = do_PUT = do_DELETE = do_OPTIONS = do_PATCH = do_GET  # noqa: N815

    def _answer(self, rest: str) -> None:
        """Answer an authorised request with the page or some of its parts."""
        asked = PARTS.fullmatch(rest)
        first, last = (int(at) for at in asked.groups()) if asked else (0, -1)
        if self.command not in ("GET", "HEAD"):
            self._refuse(HTTPStatus.METHOD_NOT_ALLOWED, "expected GET", {"Allow": "GET, HEAD"})
        elif not rest and self.path.endswith("/"):
            self._send(HTTPStatus.OK, "text/html; charset=utf-8", [self.server.text])
        elif first <= last < len(self.server.parts):
            self._send_parts(first, last)
        else:
            self._refuse(HTTPStatus.NOT_FOUND, "not found")

    def _send_parts(self, first: int, last: int) -> None:
        try:
            parts = [self.server.parts[at] for at in range(first, last + 1)]
        except (IncastError, OSError) as error:
            self._refuse(HTTPStatus.INTERNAL_SERVER_ERROR, str(error))
            return
        framed = (data for part in parts for data in (struct.pack("<I", len(part)), part))
        self._send(HTTPStatus.OK, "application/octet-stream", list(framed))

    def _is_local(self) -> bool:
        hosts = self.headers.get_all("Host") or []
        return len(hosts) == 1 and HOST.fullmatch(hosts[0].strip()) is not None

    def _refuse(self, status: HTTPStatus, words: str, more: dict[str, str] | None = None) -> None:
        self.close_connection = True  # a body may follow, which is not read
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
        """Answer an invalid request."""
        self._refuse(HTTPStatus(code), message or HTTPStatus(code).phrase)

    def version_string(self) -> str:
        """Return the name without versions."""
        return "incast"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Log nothing: addresses contain the token."""
