"""The viewer in headless Chromium: ``viewer/e2e`` drives it, on files made here."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import incast
import pause_runs
import viewed
from conftest import ROOT
from incast.view import framed, levels, page, serving
from incast.writing import numbers
from tools import viewer_pictures

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
MARKUP = '<img src=x onerror="window.hurt=1"><b>h0</b>'
QUIET = 40
ALIKE, UNLIKE = 5.0, 10.0
"""Most that a picture differs from its kept one, of 255, and least that two pictures differ: letters and curves are
drawn a little otherwise on another system."""


def there() -> None:
    """Skip where there is no browser."""
    if shutil.which("npm") is None or not (ROOT / "viewer/node_modules").is_dir():
        pytest.skip("the viewer is not tried in a browser: Node.js is not there, or make viewer has not been run")
    if CHROMIUM is None:
        pytest.skip("the viewer is not tried in a browser: Chromium is not installed (apt-get install chromium)")


@pytest.mark.extended(part="browser")
def test_the_viewer_works_in_a_browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there()
    # so that the rows of small runs are in several blocks
    monkeypatch.setattr(framed, "ROWS", 1000)
    small = viewed.write(tmp_path / "small")
    markup = viewed.write(tmp_path / "markup", names={0: MARKUP}, frames=5, flows=4)
    least = viewed.write(tmp_path / "least", least=True, frames=5)
    large = viewed.write(tmp_path / "large", k=42, frames=40, share=0.02, least=True)
    for name, runs in (("small", [small]), ("markup", [markup]), ("least", [least]), ("large", [large])):
        page.write(runs, tmp_path / f"{name}.html")
    page.write([small, markup], tmp_path / "two.html")
    page.write([quiet(tmp_path / "quiet")], tmp_path / "quiet.html")
    page.write([without(tmp_path / "some", "queue_max_bytes", "paused")], tmp_path / "some.html")
    (tmp_path / "ring").mkdir()
    ring = pause_runs.ring(tmp_path / "ring").changed({"run.duration": "60us", "measure.timeline": "1us"})
    ring.run().save(tmp_path / "pauses")
    page.write([tmp_path / "pauses"], tmp_path / "pauses.html")
    small_jobs = {f"job.{job}.collective.size": "400kB" for job in ("train", "other")}
    jobs = incast.Scenario.load("two-jobs").with_({"measure.timeline": "auto", "measure.tasks": "all", **small_jobs})
    jobs.run().save(tmp_path / "jobs")
    page.write([tmp_path / "jobs"], tmp_path / "jobs.html")
    gone = viewed.write(tmp_path / "gone", frames=5, flows=4)
    seen = incast.Scenario.load("dumbbell").with_(
        {"run.duration": "4ms", "run.warmup": "0s", "measure.timeline": "auto"}
    )
    notebook = f"<!doctype html><title>notebook</title>{seen.run().view()._repr_html_()}"
    (tmp_path / "notebook.html").write_text(notebook, encoding="utf-8")
    (tmp_path / "told.json").write_text(json.dumps(told(small)))
    with serving.Server() as server, serving.Server() as other, serving.Server() as pooled:
        server.show([small, markup])
        other.show([gone])
        with monkeypatch.context() as few:
            few.setattr(levels, "LEAST_ROWS", 1)
            pooled.show([small])
            page.write([small], tmp_path / "pooled.html")
        servers = (server, other, pooled)
        threads = [threading.Thread(target=one.serve_forever) for one in servers]
        for thread in threads:
            thread.start()
        told_to = {"INCAST_VIEW_FILES": str(tmp_path), "INCAST_VIEW_SERVED": server.address, "NO_COLOR": "1"}
        told_to |= {"INCAST_VIEW_GONE": other.address, "INCAST_VIEW_POOLED": pooled.address}
        done = subprocess.run(
            ["npm", "run", "e2e"], cwd=ROOT / "viewer", capture_output=True, text=True,
            env=os.environ | told_to | {"INCAST_CHROMIUM": CHROMIUM or ""},
        )  # fmt: skip
        for one in servers:
            one.shutdown()
        for thread in threads:
            thread.join()
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.extended(part="browser")
def test_pictures_of_the_documentation_are_what_the_viewer_shows(tmp_path: Path) -> None:
    there()
    kept = ROOT / "docs" / "images" / "viewer"
    # the others take large files: make viewer-pictures makes all
    quick = tuple(picture for picture in viewer_pictures.PICTURES if picture.name in ("incast", "pfc"))
    made = viewer_pictures.make(quick, tmp_path)
    for name, path in made.items():
        assert viewer_pictures.difference(path, kept / f"{name}.png") < ALIKE, name
        for other in made.keys() - {name}:
            assert viewer_pictures.difference(path, kept / f"{other}.png") > UNLIKE
    assert {path.stem for path in kept.glob("*.png")} == {picture.name for picture in viewer_pictures.PICTURES}


def without(folder: Path, *columns: str) -> Path:
    """Write a folder whose ports have no such figures."""
    viewed.write(folder, frames=5, flows=4)
    path = folder / "timeline_ports.parquet"
    pq.write_table(pq.read_table(path).drop_columns(list(columns)), path)
    return folder


def quiet(folder: Path) -> Path:
    """Write a folder whose ports from ``QUIET`` on have nothing recorded."""
    viewed.write(folder, frames=5, flows=4)
    path = folder / "timeline_ports.parquet"
    table = pq.read_table(path)
    pq.write_table(table.filter(pc.less(table["port"], QUIET)), path)
    return folder


def told(folder: Path) -> dict[str, object]:
    """Read from the tables what the viewer is to say: the worst port, the frame of its largest queue, and more."""
    ports = pq.read_table(folder / "timeline_ports.parquet")
    queue = ports["queue_max_bytes"].to_numpy()
    row = int(np.argmax(queue))
    port = int(ports["port"][row].as_py())
    slowdown = pq.read_table(folder / "flows.parquet")["slowdown"].to_numpy()
    mean = ports["queue_mean_bytes"][row].as_py()
    port_name = pq.read_table(folder / "ports.parquet")["port"][port].as_py()
    return {
        "port": port,
        "name": port_name,
        "frame": ports["frame"][row].as_py(),
        "way": way(port_name),
        "queue_max_bytes": numbers.quantity(float(queue[row]), "B"),
        "queue_mean_bytes": numbers.quantity(mean, "B"),
        "hovered": of_port(ports, 0, ports["frame"][row].as_py()),
        "next_s": 2.5e-4,
        "slowest": int(np.nanargmax(slowdown)),
        "quiet": QUIET,
        "least": int(np.nanargmin(slowdown)),
        "markup": way(f"{MARKUP}>e0"),
        "traced": {
            "flow": viewed.TRACED,
            "words": "30 of data, 1 retransmitted, 28 without data, 3 marked, 2 lost",
            "lost_frame": int((1e-4 + viewed.LOST * 2e-5) / viewed.FRAME_S + 1e-6),
        },
        "stretch": of_stretch(folder, ports, 50, 100),
    }


def of_port(ports: pa.Table, port: int, frame: int) -> dict[str, str]:
    """Read from the table what the viewer says of a port in a frame."""
    own = ports.filter(pc.and_(pc.equal(ports["frame"], frame), pc.equal(ports["port"], port))).to_pylist()
    row = own[0] if own else {"queue_max_bytes": 0, "queue_mean_bytes": 0, "busy": 0}
    return {
        "queue_max_bytes": numbers.quantity(float(row["queue_max_bytes"]), "B"),
        "queue_mean_bytes": numbers.quantity(float(row["queue_mean_bytes"]), "B"),
        "busy": numbers.quantity(100 * float(row["busy"]), "%"),
    }


def way(name: str) -> str:
    """Write the name of a port as the viewer does."""
    return "\u00a0→\u00a0".join(name.rsplit(">", 1))


def of_stretch(folder: Path, ports: pa.Table, first: int, last: int) -> dict[str, str]:
    """Read from the tables what happened in frames, the last not included."""
    own = ports.filter(pc.and_(pc.greater_equal(ports["frame"], first), pc.less(ports["frame"], last)))
    flows = pq.read_table(folder / "timeline_flows.parquet")
    flows = flows.filter(pc.and_(pc.greater_equal(flows["frame"], first), pc.less(flows["frame"], last)))
    worst = own["port"][int(np.argmax(own["queue_max_bytes"].to_numpy()))].as_py()
    return {
        "marks": f"{pc.sum(own['marks']).as_py():,d}",
        "drops": f"{pc.sum(own['drops']).as_py():,d}",
        "delivered_bytes": numbers.quantity(float(pc.sum(flows["delivered_bytes"]).as_py()), "B"),
        "worst": way(pq.read_table(folder / "ports.parquet")["port"][worst].as_py()),
    }
