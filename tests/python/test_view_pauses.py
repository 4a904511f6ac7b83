"""Pauses in ``incast view``: a run with a record of them has its rows in the file, any other run nothing of it."""

from __future__ import annotations

import base64
import json
import re
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pause_runs
import viewed
from incast import FolderError, Result
from incast.view import about, packing, page, reading, sources


@pytest.fixture(autouse=True)
def shell(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand in for the viewer, which is built where Node.js is there."""
    monkeypatch.setattr(page, "viewer", lambda: viewed.SHELL)


def paused(folder: Path, **settings: Any) -> Result:
    """Run two switches with a timeline."""
    made = pause_runs.two(folder).changed({"run.duration": "60us", "measure.timeline": "1us"})
    return made.changed(settings).run()


def of_page(text: str) -> tuple[dict[str, Any], list[bytes]]:
    (described,) = re.findall(r'id="incast-runs">(.*?)</script>', text)
    (run,) = json.loads(described)["runs"]
    return run, [base64.b64decode(part) for part in re.findall(r'id="incast-\d+">(.*?)</script>', text)]


def test_the_rows_of_a_record_stand_in_the_file_behind_what_a_page_opens_with(tmp_path: Path) -> None:
    result = paused(tmp_path)
    result.save(tmp_path / "r")
    run, parts = of_page(page.page([tmp_path / "r"]))
    rows = pq.read_table(tmp_path / "r" / "pauses.parquet")
    assert run["pauses"]["rows"] == rows.num_rows > 5
    for column in ("pause", "begin_s", "end_s", "port", "class", "account_bytes", "through", "through_bytes"):
        values = rows[column].cast(pa.float64()).to_numpy()
        assert np.array_equal(viewed.unpacked(parts[run["pauses"]["columns"][column]]), values, equal_nan=True), column
    assert set(viewed.texts(parts[run["pauses"]["columns"]["moment"]])) <= {"request", "end"}
    told = json.loads(zlib.decompress(parts[run["told"]]))
    assert told["about"]["classes"] == {"flows": None} and told["about"]["most_pauses"] == 100_000
    assert {"deadlocked_s", "stopped_s", "sprayed"} <= {
        name for table in ("ports", "flows", "paths") for name in run[table]["columns"]
    }
    pack = packing.Pack()
    described = reading.described(sources.Made(result), "r", pack)
    assert min(described["pauses"]["columns"].values()) >= pack.first
    assert [pack[at] for at in described["pauses"]["columns"].values()] == [
        parts[at] for at in run["pauses"]["columns"].values()
    ]


@pytest.mark.parametrize(
    ("settings", "asked"),
    [({"measure": '{ timeline = "1us" }'}, False), ({"traffic.flows.app.rate": "1%"}, True)],
    ids=["not recorded", "no pause"],
)
def test_a_run_without_recorded_pauses_has_nothing_of_them_in_its_file(
    tmp_path: Path, settings: dict[str, Any], asked: bool
) -> None:
    paused(tmp_path, **settings).save(tmp_path / "r")
    run, parts = of_page(page.page([tmp_path / "r"]))
    assert "pauses" not in run
    names = {name for table in ("ports", "flows", "paths") for name in run[table]["columns"]}
    assert not names & {"deadlocked_s", "stopped_s", "sprayed"}
    assert ("classes" in json.loads(zlib.decompress(parts[run["told"]]))["about"]) == asked


@pytest.mark.parametrize(("column", "value"), [("port", 99), ("through", 99), ("class", 256)])
def test_a_record_with_unknown_ports_or_classes_is_refused(tmp_path: Path, column: str, value: int) -> None:
    paused(tmp_path).save(tmp_path / "r")
    path = tmp_path / "r" / "pauses.parquet"
    rows = pq.read_table(path)
    odd = pa.array([value, *rows[column].to_pylist()[1:]], pa.uint32())
    pq.write_table(rows.set_column(rows.column_names.index(column), column, odd), path)
    with pytest.raises(FolderError, match=rf"pauses.parquet is damaged: a {column} of \d+ or more"):
        page.page([tmp_path / "r"])
    pq.write_table(rows.drop_columns([column]), path)
    with pytest.raises(FolderError, match=rf"pauses.parquet is damaged: it lacks {column}"):
        page.page([tmp_path / "r"])


@pytest.mark.parametrize(
    ("toml", "known"),
    [
        ('[measure]\npauses = 7\n[transport]\n[[traffic]]\nname = "a"\npattern = "pairs"\nclass = 2\n', {"a": 2}),
        ('[measure]\npauses = "auto"\n[[traffic]]\nname = "a"\n', None),
        ("[measure]\npauses = 7\ntraffic = 3\n", None),
        ('[transport]\n[[traffic]]\nname = "a"\npattern = "pairs"\n', None),
    ],
)
def test_classes_of_entries_are_told_where_a_scenario_has_them(toml: str, known: dict[str, int] | None) -> None:
    found = about.about(toml, None)
    assert found.get("classes") == known and found.get("most_pauses") == (7 if known else None)
