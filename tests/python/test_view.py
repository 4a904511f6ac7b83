"""``incast view``: what stands in the file is what the run folder says, and a folder without a timeline is refused."""

from __future__ import annotations

import base64
import html
import json
import re
import shutil
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import incast
import viewed
from conftest import ROOT, Command
from incast import FolderError
from incast.view import packets, page, reading
from incast.view.packing import Pack

SHELL = "<!doctype html><body><!--incast-runs--></body>"


@pytest.fixture(autouse=True)
def shell(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Stand in for the viewer, which is built where Node.js is there."""
    monkeypatch.setattr(page, "viewer", lambda: SHELL)
    yield


def inflated(parts: list[bytes], at: int) -> bytes:
    return zlib.decompress(parts[at])


def unpacked(parts: list[bytes], one: dict[str, Any]) -> np.ndarray[Any, Any]:
    """Unpack as the browser does."""
    kind = np.dtype(f"<{one['kind'][0]}{int(one['kind'][1:]) // 8}")
    planes = np.frombuffer(inflated(parts, one["at"]), np.uint8).reshape(kind.itemsize, one["length"])
    values = np.ascontiguousarray(planes.T).view(kind).ravel()
    if one["differences"]:
        values = np.cumsum(values, dtype=kind)
    return unpacked(parts, one["of"])[values] if "of" in one else values


def texts(parts: list[bytes], one: dict[str, Any]) -> list[str]:
    words = json.loads(inflated(parts, one["texts"]))
    return [words[place] for place in unpacked(parts, one)]


def of_page(text: str) -> tuple[list[dict[str, Any]], list[bytes]]:
    (described,) = re.findall(r'id="incast-runs">(.*?)</script>', text)
    parts = re.findall(r'id="incast-\d+">(.*?)</script>', text)
    return json.loads(described)["runs"], [base64.b64decode(part) for part in parts]


def test_every_figure_of_a_folder_stands_in_the_file_exactly(tmp_path: Path) -> None:
    folder = viewed.write(tmp_path / "r")
    (run,), parts = of_page(page.page([folder]))
    table = pq.read_table(folder / "timeline_ports.parquet")
    starts = unpacked(parts, run["records"]["starts"])
    frames = np.repeat(np.arange(len(starts) - 1), np.diff(starts.astype(np.int64)))
    assert np.array_equal(frames, table["frame"].to_numpy())
    for name in table.column_names[1:]:
        assert np.array_equal(unpacked(parts, run["records"][name]), table[name].to_numpy()), name
    fct = pq.read_table(folder / "flows.parquet")["fct_s"].to_numpy()
    assert np.array_equal(unpacked(parts, run["flows"]["fct_s"]), fct, equal_nan=True)
    assert [texts(parts, run["series"][name]) for name in ("entity", "name")] == [
        ["flow 1", "flow 1"], ["cwnd_bytes", "rtt_s"]
    ]  # fmt: skip
    assert json.loads(inflated(parts, run["missing"])) == []


def test_packets_of_a_traced_flow_are_followed_from_event_to_event(tmp_path: Path) -> None:
    folder = viewed.write(tmp_path / "r")
    (run,), parts = of_page(page.page([folder]))
    assert run["packets_until_s"] is None
    columns = run["packets"]
    got = {name: unpacked(parts, one).tolist() for name, one in columns.items()}
    got |= {name: texts(parts, columns[name]) for name in ("flags", "place", "marked")}
    rows = [dict(zip(got, row, strict=True)) for row in zip(*got.values(), strict=True)]
    assert {row["flow"] for row in rows} == {viewed.TRACED}
    assert got["sent_s"] == sorted(got["sent_s"])
    data = [row for row in rows if not row["back"]]
    assert [row["end"] for row in data] == [
        packets.DROPPED if i == viewed.DROPPED else packets.LOST if i == viewed.LOST else packets.RECEIVED
        for i in range(30)
    ]
    assert [i for i, row in enumerate(data) if row["marked"] == "e0>h1"] == list(viewed.MARKED)
    dropped, lost, first = data[viewed.DROPPED], data[viewed.LOST], data[0]
    assert (dropped["place"], dropped["hops"], dropped["end_s"]) == ("e0>h1", 1, dropped["sent_s"] + 3e-6)
    assert (lost["place"], lost["hops"]) == ("h0>e0", 0)
    assert (first["hops"], first["place"], first["end_s"]) == (2, "", 1e-4 + 6e-6)
    acks = [row for row in rows if row["back"]]
    assert [row["end"] for row in acks] == [packets.RECEIVED] * 28
    assert sum("ECE" in row["flags"] for row in acks) == len(viewed.MARKED)


def test_copies_of_a_packet_do_not_take_one_anothers_place_and_later_ones_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    timeline = {
        "nodes": [{"name": name, "kind": kind} for name, kind in (("a", "host"), ("s", "switch"), ("b", "host"))],
        "ports": [{"from": 0, "to": 1}, {"from": 1, "to": 2}],
    }
    # the same bytes twice, under way at once: the second is dropped where the first has passed
    lines = [(0, "a", "send"), (0, "a>s", "enqueue"), (1, "a", "send"), (1, "a>s", "enqueue"), (2, "s", "arrive")]
    lines += [(2, "s>b", "enqueue"), (3, "s", "arrive"), (3, "s>b", "drop"), (4, "b", "arrive"), (5, "a", "send")]
    columns: dict[str, Any] = dict(zip(("time_s", "place", "event"), map(list, zip(*lines, strict=True)), strict=True))
    columns["time_s"] = [float(time) for time in columns["time_s"]]
    columns |= {"flow": [0] * 10, "seq": [0] * 10, "ack": [0] * 10, "payload_bytes": [9] * 10, "flags": [""] * 10}
    table, until_s = packets.packets(pa.table(columns), timeline, ["a>s", "s>b"])
    assert table["end"].to_pylist() == [packets.RECEIVED, packets.DROPPED, packets.UNDER_WAY]
    assert table["end_s"].to_pylist()[:2] == [4.0, 3.0]
    assert until_s is None
    monkeypatch.setattr(packets, "MOST", 2)
    table, until_s = packets.packets(pa.table(columns), timeline, ["a>s", "s>b"])
    assert (table.num_rows, until_s) == (2, 5.0)


def test_columns_are_exact_and_narrow() -> None:
    parts: list[bytes] = []
    pack = Pack(parts)
    for values in ([], [0], [255], [256], [2**16], [2**40, 1]):
        one = pack.whole(np.array(values, np.uint64))
        assert np.array_equal(unpacked(parts, one), values)
    assert [pack.whole(np.array([most]))["kind"] for most in (255, 256, 2**16, 2**32)] == ["u8", "u16", "u32", "f64"]
    with pytest.raises(FolderError, match="2\\^53"):
        pack.whole(np.array([2**53], np.uint64))
    few = np.array([0.1, np.nan, -0.0, 0.1] * 9)
    one = pack.real(few)
    assert "of" in one
    assert unpacked(parts, one).tobytes() == few.tobytes()
    falling = np.array([5, 9, 2, 2], np.uint32)
    assert np.array_equal(unpacked(parts, pack.whole(falling, differences=True)), falling)


def test_texts_of_a_run_stand_nowhere_as_markup(tmp_path: Path) -> None:
    named = "</script><img src=x onerror=alert(1)>"
    folder = viewed.write(tmp_path / "<b>", names={0: named}, frames=3, flows=2)
    events = folder / "timeline_events.parquet"
    table = pq.read_table(events)
    pq.write_table(table.append_column("</script><i>", pa.array([0] * table.num_rows)), events)
    text = page.page([folder])
    assert "<img" not in text
    assert "<b>" not in text
    assert "<i>" not in text


def test_a_folder_without_a_timeline_is_refused_with_what_makes_one(incast: Command, tmp_path: Path) -> None:
    incast("run", "dumbbell", "--set", "run.duration=1ms", "--set", "run.warmup=0s", "--quiet", "--out", "r")
    incast("view", "r").refused("timeline.json", "--set measure.timeline=auto")
    incast("view", "nothing").refused("nothing does not exist")


def test_what_may_be_missing_is_told_and_what_is_damaged_refused(tmp_path: Path) -> None:
    least = viewed.write(tmp_path / "least", least=True, frames=3)
    (run,), parts = of_page(page.page([least]))
    assert json.loads(inflated(parts, run["missing"])) == ["flows", "flows over time", "events", "paths of flows"]
    for change, words in (
        ({"version": 2}, "not of version 1"),
        ({"ports": []}, "not of the same run"),
        ({"frames": 2}, "a frame of 2 or more"),
        ({"nodes": []}, "nodes that are not there"),
        ({"frame_s": 0}, "it has no frames"),
    ):
        shutil.rmtree(tmp_path / "d", ignore_errors=True)
        shutil.copytree(least, tmp_path / "d")
        timeline = json.loads((least / "timeline.json").read_text()) | change
        (tmp_path / "d/timeline.json").write_text(json.dumps(timeline))
        with pytest.raises(FolderError, match=words):
            page.page([tmp_path / "d"])
    (least / "timeline_ports.parquet").write_bytes(b"PAR1")
    with pytest.raises(FolderError, match="cannot be read"):
        page.page([least])


def test_a_run_of_python_is_viewed_with_the_figures_that_it_has(tmp_path: Path) -> None:
    asked = {"run.warmup": "0s", "run.duration": "2ms", "measure.timeline": "auto"}
    result = incast.Scenario.load("dumbbell").with_(asked).run()
    view = result.view(result)
    path = view.save(tmp_path / "new" / "view.html")
    text = path.read_text(encoding="utf-8")
    runs, parts = of_page(text)
    table = result.timeline_ports
    for run in runs:
        for name in ("queue_max_bytes", "busy", "marks"):
            assert np.array_equal(unpacked(parts, run["records"][name]), table[name].to_numpy()), name
        label = json.loads(inflated(parts, run["timeline"]))["label"]
        assert label == "dumbbell, dctcp, seed 1"
    # the same of a folder, whose name it has
    result.save(tmp_path / "run")
    assert incast.Result.load(tmp_path / "run").view().html == result.view().html


def test_a_notebook_shows_a_view_in_a_frame_that_reads_nothing_of_it(tmp_path: Path) -> None:
    asked = {"run.warmup": "0s", "run.duration": "1ms", "measure.timeline": "auto"}
    view = incast.Scenario.load("dumbbell").with_(asked).run().view()
    shown = view._repr_html_()
    (sandbox,) = re.findall(r'^<iframe sandbox="([^"]*)"', shown)
    assert "allow-scripts" in sandbox and "allow-same-origin" not in sandbox
    (text,) = re.findall(r'srcdoc="([^"]*)"></iframe>$', shown)
    assert html.unescape(text) == view.html
    assert repr(view) == "<View of 1 run: dumbbell, dctcp, seed 1>"


def test_a_run_of_python_without_a_timeline_says_what_makes_one() -> None:
    asked = {"run.warmup": "0s", "run.duration": "1ms"}
    result = incast.Scenario.load("dumbbell").with_(asked).run()
    with pytest.raises(incast.IncastError, match=r'scenario.with_\(\{"measure.timeline": "auto"\}\)'):
        result.view()


def test_runs_of_one_name_are_told_apart() -> None:
    assert page.labels([Path("/a/x/r"), Path("/a/y/r")]) == ["x/r", "y/r"]


def test_text_columns_are_places_in_a_list() -> None:
    parts: list[bytes] = []
    pack = Pack(parts)
    one = pack.column(pa.chunked_array([["b", None], ["b"]]))
    assert unpacked(parts, one).tolist() == [0, 1, 0]
    assert json.loads(inflated(parts, one["texts"])) == ["b", ""]


def test_a_file_has_no_columns_that_nothing_shows() -> None:
    files = (ROOT / "viewer/src/data" / name for name in ("need.ts", "table.ts", "run.ts"))
    read = set(re.findall(r'"(\w+)"', "".join(file.read_text(encoding="utf-8") for file in files)))
    settings: dict[str, Any] = {"run.duration": "2ms", "run.warmup": "0s", "measure.timeline": "auto"}
    settings |= {"measure.trace": [0], "measure.series.flows": [0]}
    pack = Pack([])
    run = reading.packed(reading.Made(incast.Scenario.load("dumbbell").with_(settings).run()), "a run", pack)
    tables = {name: columns.keys() for name, columns in run.items() if isinstance(columns, dict)}
    assert tables.keys() == {"ports", "records", "flows", "by_flow", "events", "paths", "series", "packets"}
    assert {name: left for name, columns in tables.items() if (left := columns - read)} == {}
