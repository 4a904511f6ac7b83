"""``incast view --serve``: what the server hands out, and to whom."""

from __future__ import annotations

import http.client
import json
import os
import re
import resource
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import urllib.parse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import viewed
from conftest import Command
from incast.errors import FolderError
from incast.runs import run_folder
from incast.view import framed, packing, page, reading, serving, sources
from incast.view.kept import Kept
from incast.view.packing import Pack

EVERYONE = pytest.mark.parametrize("host", ["127.0.0.1:{port}", "localhost:{port}", "127.0.0.1", "LOCALHOST:7"])


@pytest.fixture(autouse=True)
def shell(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Stand in for the viewer, which is built where Node.js is there."""
    monkeypatch.setattr(page, "viewer", lambda: viewed.SHELL)
    yield


@pytest.fixture
def server(tmp_path: Path) -> Iterator[serving.Server]:
    """Serve two runs, with a secret beside them."""
    (tmp_path / "secret").write_text("nobody is to read this")
    runs = [viewed.write(tmp_path / name, frames=3, flows=4, seed=seed) for seed, name in enumerate("ab")]
    (runs[0] / "link").symlink_to(tmp_path / "secret")
    with serving.Server() as made:
        made.show(runs)
        thread = threading.Thread(target=made.serve_forever, args=(0.01,))
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def ask(
    server: serving.Server, path: str, method: str = "GET", host: str | None = None, body: bytes | None = None
) -> tuple[int, bytes, dict[str, str]]:
    """Ask for a path as it stands, with nothing made tidy."""
    port = server.server_address[1]
    head = f"{method} {path} HTTP/1.1\r\nHost: {f'127.0.0.1:{port}' if host is None else host}\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(f"{head}Content-Length: {len(body or b'')}\r\n\r\n".encode("latin-1") + (body or b""))
        answer = http.client.HTTPResponse(connection, method=method)
        answer.begin()
        return answer.status, answer.read(), dict(answer.getheaders())


def unique_names(data: bytes) -> list[bytes]:
    """Give the parts of an answer, each of which begins with its length."""
    found = []
    while data:
        until = 4 + int.from_bytes(data[:4], "little")
        found.append(data[4:until])
        data = data[until:]
    return found


def test_the_page_and_the_columns_of_its_runs_are_served(server: serving.Server, tmp_path: Path) -> None:
    status, text, headers = ask(server, f"/{server.token}/")
    assert status == 200
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    (told,) = re.findall(r'id="incast-runs">(.*?)</script>', text.decode())
    told = json.loads(told)
    assert told["served"] is True
    assert len(told["runs"]) == 2
    for name, run in zip("ab", told["runs"], strict=True):
        at = run["records"]["columns"]["queue_max_bytes"]
        status, data, headers = ask(server, f"/{server.token}/parts/{at}-{at + 1}")
        assert (status, headers["Content-Type"]) == (200, "application/octet-stream")
        table = pq.read_table(tmp_path / name / "timeline_ports.parquet")
        for column, part in zip(("queue_max_bytes", "queue_mean_bytes"), unique_names(data), strict=True):
            assert np.array_equal(viewed.unpacked(part), table[column].to_numpy())


def test_parts_are_made_when_they_are_asked_for_and_once(
    server: serving.Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[tuple[str, str]] = []
    table = sources.Folder.table

    def reading(self: sources.Folder, name: str, columns: list[str]) -> pa.Table:
        read.append((name, *columns))
        return table(self, name, columns)

    monkeypatch.setattr(sources.Folder, "table", reading)
    runs = runs_of(server)
    assert read == []
    busy = runs[0]["records"]["columns"]["busy"]
    answers = [ask(server, f"/{server.token}/parts/{busy}-{busy}") for _ in range(2)]
    assert [status for status, _, _ in answers] == [200, 200]
    assert answers[0][1] == answers[1][1]
    assert read == [("timeline_ports", name) for name in ("frame", "port", "busy")]


def test_what_was_asked_for_last_is_kept_up_to_so_many_bytes() -> None:
    made: list[str] = []

    def of(key: str) -> bytes:
        return kept.of(key, lambda: made.append(key) or key.encode() * (60 if key == "x" else 4), len)

    kept = Kept(12)
    assert [of(key) for key in "abc"] == [b"aaaa", b"bbbb", b"cccc"]
    assert (kept.bytes, made) == (12, ["a", "b", "c"])
    # a is younger than b now
    of("a")
    of("d")
    assert (kept.bytes, made) == (12, ["a", "b", "c", "d"])
    [of(key) for key in "acd"]
    assert made == ["a", "b", "c", "d"]
    of("b")
    assert (kept.bytes, made) == (12, ["a", "b", "c", "d", "b"])
    # what is larger than all is kept alone, until something else is asked for
    assert [of("x"), of("x")] == [b"x" * 60] * 2
    assert (kept.bytes, made[5:]) == (60, ["x"])
    of("b")
    assert (kept.bytes, made[5:]) == (4, ["x", "b"])


def test_samples_and_packets_that_are_packed_stay_within_bounds(
    server: serving.Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed: list[str] = []
    for name in ("_series", "_packets"):
        make = getattr(reading, name)
        monkeypatch.setattr(reading, name, lambda *of, name=name, make=make: packed.append(name) or make(*of))

    def ask_all() -> list[bytes]:
        server.show([tmp_path / "a", tmp_path / "b"])
        firsts = [run[kind]["columns"] for run in runs_of(server) for kind in ("series", "packets")]
        answers = [part(server, at) for columns in firsts for at in columns.values()]
        assert {status for status, _ in answers} == {200}
        return [data for _, data in answers]

    before = ask_all()
    assert packed == ["_series", "_packets"] * 2
    largest = server.parts._pack.kept.bytes
    monkeypatch.setattr(packing, "KEPT_BYTES", largest - 1)
    assert ask_all() == before
    # each is packed once: its columns are asked for one after the other, and then it makes room
    assert packed == ["_series", "_packets"] * 4
    assert 0 < server.parts._pack.kept.bytes < largest


@pytest.mark.parametrize("lost", ["removed", "replaced", "damaged"])
def test_a_folder_that_is_lost_meanwhile_is_told_of_and_what_was_asked_for_before_stays(
    server: serving.Server, tmp_path: Path, lost: str
) -> None:
    first, second = (run["records"]["columns"] for run in runs_of(server))
    path = tmp_path / "a" / "timeline_ports.parquet"
    before = part(server, first["busy"])
    assert before[0] == 200
    if lost == "damaged":
        path.write_bytes(path.read_bytes()[:-9])
    else:
        shutil.rmtree(tmp_path / "a")
    if lost == "replaced":
        viewed.write(tmp_path / "a", frames=3, flows=4, seed=9)
    why = "can no longer be read: No such file or directory" if lost == "removed" else (
        "has been replaced by that of another run: run incast view again"
    )  # fmt: skip
    assert part(server, first["queue_max_bytes"]) == (500, f"{path} {why}\n".encode())
    assert part(server, first["busy"]) == before
    # the other run goes on
    assert part(server, second["drops"])[0] == 200


def test_what_is_damaged_is_told_of_when_it_is_read(server: serving.Server, tmp_path: Path) -> None:
    path = tmp_path / "a" / "timeline_ports.parquet"
    rows = pq.read_table(path)
    for damage, words in (
        (lambda: pq.write_table(rows.take(list(range(rows.num_rows))[::-1]), path), "its frames are not in order"),
        (lambda: pq.write_table(rows.set_column(1, "port", pa.array([99] * rows.num_rows)), path), "a port of 96"),
        (lambda: path.write_bytes(path.read_bytes()[:50] + b"x" * 500 + path.read_bytes()[550:]), "cannot be read"),
    ):
        damage()
        server.show([tmp_path / "a"])
        status, data = part(server, runs_of(server)[0]["records"]["columns"]["starts"])
        assert (status, words in data.decode()) == (500, True), data


def test_a_folder_that_is_replaced_while_a_table_is_read_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = sources.Folder(viewed.write(tmp_path / "a", frames=3, flows=4))
    run.table("flows", ["flow"])
    read = run_folder.read_table

    def late(folder: Path, name: str, columns: list[str]) -> pa.Table:
        shutil.rmtree(folder)
        viewed.write(folder, frames=3, flows=4, seed=9)
        return read(folder, name, columns)

    monkeypatch.setattr(run_folder, "read_table", late)
    with pytest.raises(FolderError, match="has been replaced by that of another run: run incast view again"):
        run.table("flows", ["flow"])


@pytest.mark.parametrize("name", ["timeline_ports", "timeline_flows"])
def test_frames_ports_and_flows_may_be_whole_numbers_of_any_type(
    server: serving.Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(framed, "ROWS", 5)
    key, value, part_of = ("port", "busy", "records") if name == "timeline_ports" else ("flow", "state", "by_flow")
    path = tmp_path / "a" / f"{name}.parquet"
    rows = pq.read_table(path)

    def shown() -> list[tuple[int, bytes]]:
        server.show([tmp_path / "a"])
        told = runs_of(server)[0][part_of]
        assert told["blocks"] > 1
        firsts = [told["columns"][column] for column in ("starts", key, value)]
        return [part(server, first + block) for first in firsts for block in range(told["blocks"])]

    def write(kind: pa.DataType, change: Callable[[Any], Any] = lambda old: old) -> None:
        changed = rows
        for column in ("frame", key):
            at = changed.column_names.index(column)
            own = pa.array(change(rows[column].to_numpy().astype(np.float64))).cast(kind)
            changed = changed.set_column(at, column, own)
        pq.write_table(changed, path)

    before = shown()
    assert {status for status, _ in before} == {200}
    for kind in (pa.int64(), pa.int32(), pa.uint8(), pa.uint64(), pa.float64(), pa.float32()):
        write(kind)
        assert shown() == before, kind
    odd = b"is damaged: a frame that is not a whole number of at least 0"
    for change, told in (
        (lambda old: old - 1, odd),
        (lambda old: old + 0.5, odd),
        (lambda old: np.where(old == old[-1], np.nan, old), b"is damaged: column frame has the value nan"),
    ):
        write(pa.float64(), change)
        status, words = shown()[0]
        assert (status, told in words) == (500, True), words


@pytest.mark.parametrize(
    "fault", [ValueError("odd"), IndexError("odd"), MemoryError(), TypeError(), FolderError("odd")]
)
def test_a_part_that_cannot_be_made_is_told_of(server: serving.Server, fault: Exception) -> None:
    def make() -> bytes:
        raise fault

    pack = Pack()
    pack.place = "runs/one"
    pack.add(make)
    pack.add(lambda: b"another")
    server.parts.close()
    server.parts = serving.Spool(pack)
    status, words = part(server, 0)
    told = "odd" if isinstance(fault, FolderError) else f"a table of runs/one cannot be shown: {fault!r}"
    assert (status, words.decode()) == (500, f"{told}\n")
    assert part(server, 1) == (200, struct.pack("<I", len(pack[1])) + pack[1])


def test_what_a_full_disk_has_no_room_for_is_served_and_not_kept() -> None:
    made: list[int] = []
    data = [os.urandom(size) for size in (5000, 4000, 900, 4000)]
    pack = Pack()
    for at, own in enumerate(data):
        pack.add(lambda at=at, own=own: made.append(at) or own)
    whole = list(pack)
    made.clear()
    spool = serving.Spool(pack)
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (7000, old[1]))
    try:
        full = [spool[at] for at in (0, 1, 1, 2, 1, 0, 2)]
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
    assert full == [whole[at] for at in (0, 1, 1, 2, 1, 0, 2)]
    assert made == [0, 1, 1, 2, 1]
    # there is room again
    assert [spool[at] for at in (3, 1, 0, 1, 2, 3)] == [whole[at] for at in (3, 1, 0, 1, 2, 3)]
    assert made == [0, 1, 1, 2, 1, 3, 1]
    assert os.fstat(spool._file.fileno()).st_size == sum(map(len, whole))
    spool.close()


def test_a_run_is_viewed_where_pandas_is_not_there(tmp_path: Path) -> None:
    viewed.write(tmp_path / "r", frames=3, flows=4)
    program = """
import sys
class Without:
    def find_spec(name, path, target=None):
        if name == "pandas":
            raise ModuleNotFoundError(name=name)
sys.meta_path.insert(0, Without)
from pathlib import Path
from incast.view import packing, reading, sources
pack = packing.Pack()
run = reading.described(sources.Folder(Path("r")), "r", pack)
series = [pack[at] for at in run["series"]["columns"].values()]
print(len(series), len(list(pack)) == len(pack))
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "5 True\n"), done.stderr


def part(server: serving.Server, at: int) -> tuple[int, bytes]:
    """Ask for one part."""
    return ask(server, f"/{server.token}/parts/{at}-{at}")[:2]


def runs_of(server: serving.Server) -> list[dict[str, Any]]:
    """Read what the page says of its runs."""
    (told,) = re.findall(r'id="incast-runs">(.*?)</script>', ask(server, f"/{server.token}/")[1].decode())
    runs: list[dict[str, Any]] = json.loads(told)["runs"]
    return runs


def test_a_served_page_may_ask_its_own_server_and_a_file_nobody(server: serving.Server, tmp_path: Path) -> None:
    _, text, headers = ask(server, f"/{server.token}/")
    assert "default-src 'none'; connect-src 'self'; script-src" in text.decode()
    assert headers["Content-Security-Policy"] == "frame-ancestors 'none'"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cache-Control"] == "no-store"
    assert "connect-src" not in page.page([tmp_path / "a"])


def test_every_request_needs_the_token(server: serving.Server) -> None:
    token = server.token
    turned = token[:-1] + ("A" if token[-1] != "A" else "B")
    for wrong in ("", turned, token[:-1], token + "A", token.swapcase(), "\xe9", "%s", "%2e%2e" + token):
        for rest in ("", "parts/0-0"):
            status, data, _ = ask(server, f"/{wrong}/{rest}")
            assert (status, b"incast-runs" in data) == (403, False), wrong
    for path in ("/", "/parts/0-0", "/favicon.ico", f"/parts/0-0?token={token}", f"//{token}x/", "*"):
        assert ask(server, path)[0] == 403, path
    with serving.Server() as other:
        assert other.token != token


def test_no_address_names_a_file(server: serving.Server, tmp_path: Path) -> None:
    outside = f"{tmp_path}/secret"
    for rest in (
        *("parts", "parts/", "parts/-1", "parts/0", "parts/0-01", "parts/0-0x0", "parts/0-999999", "parts/9-" * 9),
        *("parts/1-0", "parts/0-0-0", "parts/0--1", "parts/999999-999999", f"parts/0-{10**9}"),
        *("../secret", "parts/../../secret", "a/manifest.json", "a/link", "manifest.json", "link", outside),
        *("%2e%2e/secret", "..%2fsecret", "%2e%2e%2fsecret", "parts/%30-0", "parts/0-0%00", "parts/0-0/"),
        *("parts/0-0?", "#", "..\\secret", f"/{outside}", f"file://{outside}", "parts/\xb2-\xb2"),
    ):
        status, data, _ = ask(server, f"/{server.token}/{rest}")
        assert (status, b"nobody" in data) == (404, False), rest
    for path in (outside, f"http://127.0.0.1/{server.token}/", f"/../{server.token}/", f"/{server.token}"):
        status, data, _ = ask(server, path)
        assert (status in (403, 404), b"incast-runs" in data) == (True, False), path


@EVERYONE
def test_this_machine_is_answered_by_its_names(server: serving.Server, host: str) -> None:
    assert ask(server, f"/{server.token}/", host=host.format(port=server.server_address[1]))[0] == 200


@pytest.mark.parametrize(
    "host",
    ["", "evil.example", "evil.example:{port}", "127.0.0.1.evil.example", "localhost@evil", "0.0.0.0:{port}", "[::1]"],
)
def test_a_name_of_the_web_reaches_nothing(server: serving.Server, host: str) -> None:
    for path in (f"/{server.token}/", f"/{server.token}/parts/0-0"):
        status, data, _ = ask(server, path, host=host.format(port=server.server_address[1]))
        assert (status, b"incast-runs" in data) == (403, False)


def test_a_request_without_a_host_or_with_two_is_refused(server: serving.Server) -> None:
    hosts = ("", "Host: localhost\r\nHost: evil.example\r\n")
    for told in hosts:
        with socket.create_connection(server.server_address[:2]) as connection:
            connection.sendall(f"GET /{server.token}/ HTTP/1.0\r\n{told}\r\n".encode())
            assert connection.makefile("rb").readline().split()[1] == b"403"


def test_only_reading_is_allowed(server: serving.Server) -> None:
    status, data, headers = ask(server, f"/{server.token}/", "HEAD")
    assert (status, data) == (200, b"")
    assert int(headers["Content-Length"]) == len(server.text)
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
        status, _, headers = ask(server, f"/{server.token}/", method, body=b"x=1")
        assert (status, headers["Allow"]) == (405, "GET, HEAD")
        assert not any(name.startswith("Access-Control") for name in headers)
        assert ask(server, "/", method)[0] == 403
    assert ask(server, f"/{server.token}/", "BREW")[0] == 501


def test_it_listens_at_this_machine_alone_and_goes_on_when_a_browser_leaves(server: serving.Server) -> None:
    assert server.server_address[0] == "127.0.0.1"
    with socket.create_connection(server.server_address[:2]) as connection:
        connection.sendall(b"GET /")
    with socket.create_connection(server.server_address[:2]) as connection:
        connection.sendall(b"\x16\x03\x01 no request\r\n\r\n")
        assert b"incast-runs" not in connection.makefile("rb").read()
    assert ask(server, f"/{server.token}/parts/0-0")[0] == 200


def test_what_a_browser_is_called_with_opens_the_page_once(server: serving.Server) -> None:
    path = urllib.parse.urlsplit(server.opening()).path
    assert server.token not in path
    assert ask(server, path, host="evil.example")[0] == 403
    assert ask(server, f"{path}parts/0-0")[0] == 403
    status, _, headers = ask(server, path)
    assert (status, headers["Location"]) == (302, server.address)
    assert ask(server, path)[0] == 403


def test_a_port_that_is_taken_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(FolderError, match=f"--port {port}: .*give another"):
            serving.Server(port)


def test_options_that_contradict_each_other_are_refused(incast: Command, tmp_path: Path) -> None:
    viewed.write(tmp_path / "r", frames=3, flows=2)
    incast("view", "r", "--serve", "--out", "x.html").refused("--serve")
    incast("view", "r", "--port", "8000").refused("--port 8000", "--serve")
    incast("view", "nothing", "--serve").refused("nothing: no file and no built-in scenario of this name")


@pytest.mark.parametrize(("stop", "status"), [(signal.SIGINT, 0), (signal.SIGTERM, 143)])
def test_it_ends_by_ctrl_c(tmp_path: Path, stop: signal.Signals, status: int) -> None:
    viewed.write(tmp_path / "r", frames=3, flows=2)
    # the built viewer may not be there
    begin = f"from incast.view import page; page.viewer = lambda: {viewed.SHELL!r}; from incast.cli import main; main()"
    words = [sys.executable, "-c", begin, "view", "r", "--serve", "--open", "--quiet"]
    browser = tmp_path / "browser"
    browser.write_text('#!/bin/sh\necho "$1" > opened\n')
    browser.chmod(0o755)
    with subprocess.Popen(
        words, cwd=tmp_path, env=os.environ | {"BROWSER": str(browser)}, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    ) as program:  # fmt: skip
        assert program.stdout is not None
        line = program.stdout.readline()
        address = urllib.parse.urlsplit(re.findall(r"http://\S+", line)[0])
        connection = http.client.HTTPConnection(address.netloc, timeout=30)
        connection.request("GET", address.path)
        assert b"incast-runs" in connection.getresponse().read()
        connection.close()
        os.kill(program.pid, stop)
        said = program.communicate(timeout=30)
    assert program.returncode == status, said
    assert said[1] == "" or status
    assert sorted(path.name for path in tmp_path.iterdir()) == ["browser", "opened", "r"]
    opened = urllib.parse.urlsplit((tmp_path / "opened").read_text().strip())
    assert opened.netloc == address.netloc
    assert opened.path != address.path
