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
from conftest import ROOT
from incast import FolderError
from incast.view import about, packets, packing, page, reading, sources
from incast.view import framed as framing

SHELL = "<!doctype html><body><!--incast-runs--></body>"


@pytest.fixture(autouse=True)
def shell(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Stand in for the viewer, which is built where Node.js is there."""
    monkeypatch.setattr(page, "viewer", lambda: SHELL)
    yield


def framed(parts: list[bytes], told: dict[str, Any], name: str, frames: int) -> dict[str, np.ndarray[Any, Any]]:
    """Put blocks of rows of frames together again: their frames, ports or flows, and a column, in the table's order."""
    key = "port" if "port" in told["columns"] else "flow"
    got: dict[str, list[np.ndarray[Any, Any]]] = {"frame": [], key: [], name: []}
    for block in range(told["blocks"]):
        own = {one: viewed.unpacked(parts[at + block]) for one, at in told["columns"].items()}
        assert len(own["starts"]) == frames + 1
        got["frame"].append(np.repeat(np.arange(frames), np.diff(own["starts"].astype(np.int64))))
        got[key].append(own[key])
        got[name].append(own[name])
        blocks = np.minimum(own[key] // told["size"], told["blocks"] - 1)
        assert np.all(blocks == block)
    whole = {one: np.concatenate(values) for one, values in got.items()}
    order = np.lexsort((whole[key], whole["frame"]))
    return {one: values[order] for one, values in whole.items()}


def of_page(text: str) -> tuple[list[dict[str, Any]], list[bytes]]:
    (described,) = re.findall(r'id="incast-runs">(.*?)</script>', text)
    parts = re.findall(r'id="incast-\d+">(.*?)</script>', text)
    return json.loads(described)["runs"], [base64.b64decode(part) for part in parts]


@pytest.mark.parametrize("rows", [2**15, 500])
def test_every_figure_of_a_folder_stands_in_the_file_exactly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    monkeypatch.setattr(framing, "ROWS", rows)
    # no column is kept from one block to the next
    monkeypatch.setattr(packing, "KEPT_BYTES", 2**28 if rows > 500 else 1)
    folder = viewed.write(tmp_path / "r")
    (run,), parts = of_page(page.page([folder]))
    for told, name in (("records", "timeline_ports"), ("by_flow", "timeline_flows")):
        table = pq.read_table(folder / f"{name}.parquet")
        assert run[told]["blocks"] == (1 if rows > 500 else {"records": 12, "by_flow": 14}[told])
        for column in table.column_names[2:]:
            got = framed(parts, run[told], column, 200)
            for one, values in got.items():
                assert np.array_equal(values, table[one].to_numpy()), (name, one)
    fct = pq.read_table(folder / "flows.parquet")["fct_s"].to_numpy()
    columns = run["flows"]["columns"]
    assert np.array_equal(viewed.unpacked(parts[columns["fct_s"]]), fct, equal_nan=True)
    assert run["flows"]["rows"] == len(fct)
    series = run["series"]["columns"]
    assert [viewed.texts(parts[series[name]]) for name in ("entity", "name")] == [
        ["flow 1", "flow 1"], ["cwnd_bytes", "rtt_s"]
    ]  # fmt: skip
    assert json.loads(zlib.decompress(parts[run["told"]])) == {"label": "r", "missing": [], "about": {}}
    timeline = (folder / "timeline.json").read_bytes()
    assert zlib.decompress(parts[run["timeline"]]) == timeline


@pytest.mark.parametrize("orders", [packing.ORDER_BYTES, 1])
def test_rows_are_put_in_order_once_however_few_columns_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, orders: int
) -> None:
    monkeypatch.setattr(framing, "ROWS", 500)
    monkeypatch.setattr(packing, "KEPT_BYTES", 1)
    monkeypatch.setattr(packing, "ORDER_BYTES", orders)
    placed: list[str] = []
    place = framing.Framed._place
    monkeypatch.setattr(framing.Framed, "_place", lambda self: placed.append(self._name) or place(self))
    run = sources.Folder(viewed.write(tmp_path / "r"))
    pack = packing.Pack()
    described = reading.described(run, "r", pack)
    tables = {"timeline_ports": described["records"], "timeline_flows": described["by_flow"]}
    # block by block of one column after the other: an order that is larger than all stays until another is asked for
    for told in tables.values():
        for at in told["columns"].values():
            assert told["blocks"] > 10 and all(pack[at + block] for block in range(told["blocks"]))
    assert placed == [*tables]
    # the tables in turn: both orders stay where there is room for both
    firsts = [told["columns"]["starts"] for told in tables.values()]
    for block in range(10):
        assert all(pack[first + block] for first in firsts)
    assert len(placed) == (2 if orders > 1 else 22)


def test_packets_of_a_traced_flow_are_followed_from_event_to_event(tmp_path: Path) -> None:
    folder = viewed.write(tmp_path / "r")
    (run,), parts = of_page(page.page([folder]))
    columns = run["packets"]["columns"]
    assert viewed.unpacked(parts[columns.pop("until_s")]).tolist() == []
    got = {name: viewed.unpacked(parts[at]).tolist() for name, at in columns.items()}
    got |= {name: viewed.texts(parts[columns[name]]) for name in ("flags", "place", "marked")}
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
    def back(part: bytes) -> np.ndarray[Any, Any]:
        return viewed.unpacked(zlib.compress(part))

    for values in ([], [0], [255], [256], [2**16], [2**40, 1]):
        assert np.array_equal(back(packing.whole(np.array(values, np.uint64))), values)
    kinds = [back(packing.whole(np.array([most]))).dtype.str for most in (255, 256, 2**16, 2**32)]
    assert kinds == ["|u1", "<u2", "<u4", "<f8"]
    with pytest.raises(packing.OddError, match="2\\^53"):
        packing.whole(np.array([2**53], np.uint64))
    few = np.array([0.1, np.nan, -0.0, 0.1] * 9)
    part = packing.real(few)
    assert len(part) < 8 * len(few)
    assert back(part).tobytes() == few.tobytes()
    falling = np.array([5, 9, 2, 2], np.uint32)
    assert np.array_equal(back(packing.whole(falling, differences=True)), falling)


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


@pytest.mark.extended(part="python")
def test_what_may_be_missing_is_told_and_what_is_damaged_refused(tmp_path: Path) -> None:
    least = viewed.write(tmp_path / "least", least=True, frames=3)
    (run,), parts = of_page(page.page([least]))
    missing = json.loads(zlib.decompress(parts[run["told"]]))["missing"]
    assert missing == ["flows", "flows over time", "events", "paths of flows"]
    for change, words in (
        ({"version": 2}, "not of version 1"),
        ({"ports": []}, "does not belong to the same run"),
        ({"frames": 2}, "a frame of 2 or more"),
        ({"nodes": []}, "timeline.json is damaged: ports.0.from = 0; there are no nodes: run the scenario again"),
        ({"nodes": 7}, "timeline.json is damaged: nodes = 7; expected a list of tables"),
        ({"frame_s": 0}, "timeline.json is damaged: frame_s = 0; expected a number above 0"),
        ({"start_s": "x"}, 'timeline.json is damaged: start_s = "x"; expected a number'),
        ({"frames": 10**12}, "damaged: frames = 1000000000000; expected a whole number from 1 to 1048576: run"),
        ({"frames": 2.5}, "damaged: frames = 2.5; expected a whole number from 1 to 1048576"),
    ):
        shutil.rmtree(tmp_path / "d", ignore_errors=True)
        shutil.copytree(least, tmp_path / "d")
        timeline = json.loads((least / "timeline.json").read_text()) | change
        (tmp_path / "d/timeline.json").write_text(json.dumps(timeline))
        with pytest.raises(FolderError, match=f"^{re.escape(str(tmp_path / 'd'))}.*{words}"):
            page.page([tmp_path / "d"])
    for table, column in (("timeline_ports", "frame"), ("flows", "src"), ("timeline_paths", "port"), ("trace", "ack")):
        shutil.rmtree(tmp_path / "d")
        path = viewed.write(tmp_path / "d", frames=3) / f"{table}.parquet"
        pq.write_table(pq.read_table(path).drop_columns([column]), path)
        with pytest.raises(FolderError, match=f"{table}.parquet is damaged: it lacks {column}: run"):
            page.page([tmp_path / "d"])
    for table, column, odd, words in (
        ("timeline_ports", "busy", "x", "column busy is of type string, such as 'x'; expected numbers"),
        ("timeline_ports", "busy", "12", "column busy is of type string, such as '12'; expected numbers"),
        ("timeline_ports", "queue_max_bytes", [1], "column queue_max_bytes is of type list.*; expected numbers"),
        (
            "timeline_flows",
            "state",
            "x" * 99,
            f"column state is of type string, such as '{'x' * 39}[.][.][.]; expected",
        ),
        ("timeline_ports", "marks", 2**60, f"column marks has {2**60}; expected less than 2\\^53"),
        ("flows", "retransmissions", 2**60, f"column retransmissions has {2**60}; expected less than 2\\^53"),
        ("samples", "value", "x", "column value is of type string, such as 'x'; expected numbers"),
        ("flows", "fct_s", "x", "column fct_s is of type string, such as 'x'; expected numbers"),
        ("flows", "group", 3, "column group is of type int64, such as 3; expected texts"),
        ("trace", "seq", "x", "column seq is of type string, such as 'x'; expected numbers"),
        ("trace", "flow", 2**40, "an event: "),
    ):
        shutil.rmtree(tmp_path / "d")
        path = viewed.write(tmp_path / "d", frames=3) / f"{table}.parquet"
        rows = pq.read_table(path)
        kind = pa.uint64() if odd == 2**60 else None
        own = rows.set_column(rows.column_names.index(column), column, pa.array([odd] * len(rows), kind))
        pq.write_table(own, path)
        with pytest.raises(
            FolderError, match=f"^{re.escape(str(path))} is damaged: {words}.*: run the scenario again$"
        ):
            page.page([tmp_path / "d"])
    path = viewed.write(tmp_path / "e", least=True, frames=3) / "timeline_ports.parquet"
    rows = pq.read_table(path)
    pq.write_table(rows.drop_columns(["paused", "marks"]), path)
    (run,), parts = of_page(page.page([tmp_path / "e"]))
    assert json.loads(zlib.decompress(parts[run["told"]]))["missing"][-2:] == ["marks", "shares paused"]
    pq.write_table(rows.select(["frame", "port"]), path)
    with pytest.raises(FolderError, match="it has none of queue_max_bytes, "):
        page.page([tmp_path / "e"])
    (least / "timeline_ports.parquet").write_bytes(b"PAR1")
    with pytest.raises(FolderError, match="cannot be read"):
        page.page([least])


@pytest.mark.parametrize(("table", "column", "odd", "words"), [
    ("timeline_ports", "frame", 2**62, "a frame of 3 or more"),
    ("timeline_flows", "flow", 4, "a flow of 4 or more"),
    ("timeline_flows", "flow", -1, "a flow that is not a whole number of at least 0"),
    ("timeline_paths", "flow", 4, "a flow of 4 or more"),
    ("timeline_paths", "port", 96, "a port of 96 or more"),
    ("timeline_paths", "port", None, "column port has no value in row 7"),
    ("timeline_paths", "port", "x", "column port is of type string, such as 'x'; expected numbers"),
    ("flows", "flow", 4, "a flow of 4 or more"),
    ("flows", "src", 36, "a src of 36 or more"),
    ("flows", "dst", 0.5, "a dst that is not a whole number of at least 0"),
    ("timeline_events", "subject", 96, "a port of 96 or more"),
    ("timeline_events", "subject", None, "column subject has no value in row "),
])  # fmt: skip
def test_numbers_that_nothing_has_are_damage(
    tmp_path: Path, table: str, column: str, odd: float | str | None, words: str
) -> None:
    folder = viewed.write(tmp_path / "d", frames=3, flows=4)
    page.page([folder])
    path = folder / f"{table}.parquet"
    rows = pq.read_table(path)
    # one row alone
    values = [*rows[column].to_pylist()[:-1], odd] if not isinstance(odd, str) else [odd] * len(rows)
    if table == "timeline_events":
        values = rows[column].to_pylist()
        values[rows["what"].to_pylist().index("port")] = odd
    pq.write_table(rows.set_column(rows.column_names.index(column), column, pa.array(values)), path)
    with pytest.raises(FolderError, match=re.escape(f"{path} is damaged: {words}")):
        page.page([folder])


@pytest.mark.parametrize("tier", [10**9, -1, 37, 0.5, None, "1", True])
def test_a_tier_that_no_node_can_have_is_refused(tmp_path: Path, tier: float | str | None) -> None:
    folder = viewed.write(tmp_path / "d", least=True, frames=3)
    timeline = json.loads((folder / "timeline.json").read_text())
    assert len(timeline["nodes"]) == 36
    timeline["nodes"][2]["tier"] = tier
    (folder / "timeline.json").write_text(json.dumps(timeline))
    told = f"{folder / 'timeline.json'} is damaged: nodes.2.tier = {json.dumps(tier)}; expected"
    with pytest.raises(FolderError, match=re.escape(f"{told} a whole number from 0 to 36")):
        page.page([folder])


def test_subjects_of_events_are_flows_where_they_are_of_flows(tmp_path: Path) -> None:
    folder = viewed.write(tmp_path / "d", frames=3, flows=4)
    path = folder / "timeline_events.parquet"
    rows = pq.read_table(path)
    assert rows["what"].to_pylist()[0] == "flow"
    # there is such a port
    changed = pa.array([4, *rows["subject"].to_pylist()[1:]])
    pq.write_table(rows.set_column(rows.column_names.index("subject"), "subject", changed), path)
    with pytest.raises(FolderError, match=r"timeline_events.parquet is damaged: a flow of 4 or more"):
        page.page([folder])


@pytest.mark.parametrize(("odd", "words"), [
    (None, "column flow has no value in row "), ("x", "column flow is of type string"),
    (2**32, f"a flow of {2**32}"),
])  # fmt: skip
def test_flows_over_time_without_a_table_of_flows(tmp_path: Path, odd: int | str | None, words: str) -> None:
    folder = viewed.write(tmp_path / "d", frames=3, flows=4)
    (folder / "flows.parquet").unlink()
    (run,), parts = of_page(page.page([folder]))
    assert json.loads(zlib.decompress(parts[run["told"]]))["missing"] == ["flows"]
    assert set(viewed.unpacked(parts[run["by_flow"]["columns"]["flow"]])) == {0, 1, 2, 3}
    path = folder / "timeline_flows.parquet"
    rows = pq.read_table(path)
    values = [*rows["flow"].to_pylist()[:-1], odd] if not isinstance(odd, str) else [odd] * len(rows)
    pq.write_table(rows.set_column(rows.column_names.index("flow"), "flow", pa.array(values)), path)
    with pytest.raises(FolderError, match=re.escape(f"{path} is damaged: {words}")):
        page.page([folder])


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
            assert np.array_equal(viewed.unpacked(parts[run["records"]["columns"][name]]), table[name].to_numpy()), name
        told = json.loads(zlib.decompress(parts[run["told"]]))
        assert told["label"] == "dumbbell, dctcp, seed 1"
        about, summary = told["about"], result.summary
        assert (about["scenario"], about["seed"], about["to_s"]) == ("dumbbell", 1, summary["run"]["measure_to_s"])
        assert about["figures"]["flows.goodput_total_bps"] == summary["flows"]["goodput_total_bps"]
        assert about["description"] in result.toml and f"mss = {about['packet_bytes']}" in result.toml
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


def test_runs_of_one_name_are_told_apart() -> None:
    assert page.labels([Path("/a/x/r"), Path("/a/y/r")]) == ["x/r", "y/r"]


def test_text_columns_are_places_in_a_list() -> None:
    part = zlib.compress(packing.column(pa.chunked_array([["b", None], ["b"]])))
    assert viewed.unpacked(part).tolist() == [0, 1, 0]
    assert viewed.texts(part) == ["b", "", "b"]


@pytest.mark.parametrize(
    ("toml", "summary", "expected"),
    [
        (None, None, {}),
        ("description = 1\n[transport]\nmss = 'x'", '{"run": {"seed": true, "scenario": 2}, "flows": []}', {}),
        ("= damaged", "[", {}),
        (
            "description = 'two'",
            '{"fct": {"count": NaN, "finished": 3}}',
            {"description": "two", "figures": {"fct.finished": 3}},
        ),
    ],
)
def test_what_a_run_does_not_say_of_itself_is_left_out(
    toml: str | None, summary: str | None, expected: dict[str, Any]
) -> None:
    assert about.about(toml, summary) == expected


def test_a_file_has_no_columns_that_nothing_shows() -> None:
    files = (ROOT / "viewer/src/data" / name for name in ("need.ts", "table.ts", "run.ts"))
    read = set(re.findall(r'"(\w+)"', "".join(file.read_text(encoding="utf-8") for file in files)))
    settings: dict[str, Any] = {"run.duration": "2ms", "run.warmup": "0s", "measure.timeline": "auto"}
    settings |= {"measure.trace": [0], "measure.series.flows": [0]}
    made = sources.Made(incast.Scenario.load("dumbbell").with_(settings).run())
    run = reading.described(made, "a run", packing.Pack())
    tables = {name: table["columns"].keys() for name, table in run.items() if isinstance(table, dict)}
    assert tables.keys() == {"ports", "records", "flows", "by_flow", "events", "paths", "series", "packets"}
    assert {name: left for name, columns in tables.items() if (left := columns - read)} == {}
