"""Interface for notebooks: comparisons as a call, short texts, tables as frames, scenarios from standard input."""

from __future__ import annotations

import inspect
import pydoc
import subprocess
from pathlib import Path
from typing import Any

import pytest

import incast
from conftest import ROOT, command, environment
from incast import IncastError, StudyError

SHORT = {"run.duration": "10ms", "run.warmup": "2ms"}


@pytest.mark.slow("a comparison with six pictures")
def test_a_comparison_is_a_call_with_a_row_a_run_and_the_pictures_of_its_report(tmp_path: Path) -> None:
    out = tmp_path / "c"
    done = incast.compare(
        "dumbbell", ["dctcp", "swift"], vary={"traffic.flows": [2, 4]}, seeds=2, settings=SHORT, out=out
    )
    rows = done.table.to_pylist()
    assert sorted((row["controller"], row["traffic.flows"], row["seed"]) for row in rows) == [
        (controller, value, seed) for controller in ("dctcp", "swift") for value in ("2", "4") for seed in (1, 2)
    ]
    one = incast.Scenario.load("dumbbell").with_(SHORT | {"traffic.flows": 4}).with_controller("swift").run(seed=2)
    (row,) = (row for row in rows if (row["controller"], row["traffic.flows"], row["seed"]) == ("swift", "4", 2))
    assert row["flows.throughput_mean_bps"] == one.summary["flows"]["throughput_mean_bps"]
    assert done.picture("throughput")._repr_png_() == (out / "throughput.png").read_bytes()
    assert "dctcp" in done._repr_html_()
    assert len(repr(done)) < 300
    assert done.to_pandas().shape[0] == 8
    with pytest.raises(IncastError, match='no picture "speed"'):
        done.picture("speed")
    names = done.pictures()
    other = incast.compare(
        "dumbbell",
        ["dctcp", "swift"],
        vary={"traffic.flows": [2, 4]},
        seeds=2,
        settings=SHORT,
        out=out,
        formats="svg,pdf",
    )
    assert other.pictures() == names
    assert other.picture("throughput").png == done.picture("throughput").png
    for name in names:
        assert [(out / f"{name}.{kind}").exists() for kind in ("png", "svg", "pdf")] == [False, True, True], name
    for wrong, words in (
        (lambda: done.best(None), "figure = None: expected one of flows.throughput_mean_bps"),  # type: ignore[arg-type]
        (lambda: done.best("flows.jain", 3), "scenario 3: expected one of dumbbell"),  # type: ignore[arg-type]
        (lambda: done.figures("nope"), "scenario nope: expected one of dumbbell"),
        (lambda: done.view(3), "controllers = 3: expected the text of a controller, or a list"),  # type: ignore[arg-type]
        (lambda: done.view("swift", object()), "value = <object .*>: expected one of the varied key's"),
        (lambda: done.plot("nope"), "no picture 'nope'; expected one of delay_cdf, "),
        (lambda: done.plot("fct", port="x"), "fct: no choice port; expected controllers, value, seed or scenario"),
    ):
        with pytest.raises(IncastError, match=words):
            wrong()


@pytest.mark.slow("a comparison over two keys with its report")
def test_a_call_takes_two_varied_keys_a_title_and_a_note_as_the_command_does(tmp_path: Path) -> None:
    vary = {"traffic.flows": [2, 4], "queue.mark": ["5p", "65p"]}
    call: dict[str, Any] = {"vary": vary, "seeds": 1, "settings": SHORT, "title": "Which K?", "note": "<Asked>"}
    done = incast.compare("dumbbell", ["dctcp", "swift"], out=tmp_path / "c", **call)
    rows = done.table.select(["scenario", "controller", "traffic.flows", "queue.mark", "seed"]).to_pylist()
    assert len(rows) == 8
    assert {"scenario": "dumbbell", "controller": "swift", "traffic.flows": 4, "queue.mark": "5p", "seed": 1} in rows
    page = done.report.read_text(encoding="utf-8")
    assert "<h1>Which K?</h1>" in page and "&lt;Asked&gt;" in page
    assert "--vary traffic.flows=2,4 --vary queue.mark=5p,65p" in page
    assert done.pictures() == sorted(path.stem for path in (tmp_path / "c").glob("*.png"))
    assert done.figures().keys() <= set(done.table.column_names) and "<li class=" in done._repr_html_()
    for refused in (lambda: done.best("flows.jain"), lambda: done.plot, lambda: done.slowdowns):
        with pytest.raises(StudyError, match="not of a comparison over two keys .*answer"):
            refused()
    members = dict(inspect.getmembers(done))
    assert "table" in members and not {"plot", "slowdowns"} & members.keys()
    assert not hasattr(done, "plot") and getattr(done, "slowdowns", None) is None
    with pytest.raises(StudyError, match="bins: not allowed with two keys in vary"):
        incast.compare("dumbbell", ["dctcp", "swift"], out=tmp_path / "c", bins="10kB", **call)
    with pytest.raises(StudyError, match="vary has 3 keys .*: a comparison varies one or two"):
        incast.compare("dumbbell", ["dctcp"], vary={**vary, "run.duration": "1ms"}, out=tmp_path / "d")


def test_a_result_is_short_in_a_notebook_and_its_tables_answer_queries() -> None:
    result = incast.Scenario.load("dumbbell").with_(SHORT).run()
    assert len(repr(result)) < 200
    assert "<table>" in result._repr_html_()
    (count,) = result.sql("select count(*) as n from flows").column("n").to_pylist()
    assert count == result.flows.num_rows
    with pytest.raises(IncastError, match="the query cannot be answered"):
        result.sql("select nothing from nowhere")


def test_an_unknown_picture_of_a_result_is_refused_with_the_known_ones() -> None:
    result = incast.Scenario.load("dumbbell").with_(SHORT).run()
    for name, near in (("nope", ""), ("queus", r" \(did you mean")):
        with pytest.raises(IncastError, match=f"no picture '{name}'{near}.*; expected one of deadlock, delay_cdf, "):
            result.plot(name)
        with pytest.raises(AttributeError, match=f"no picture '{name}'{near}.*; expected one of "):
            getattr(result.plot, name)
    assert result.plot("queue-cdf").axes and not hasattr(result.plot, "_nothing")


def test_help_of_a_result_shows_no_arguments_of_the_package_itself() -> None:
    text = pydoc.render_doc(incast.Result, renderer=pydoc.plaintext)
    assert "__signature__" not in text and "summary_json: " not in text
    assert str(inspect.signature(incast.Result)) == "()"


def test_a_study_and_its_store_are_short_in_a_notebook(tmp_path: Path) -> None:
    axes = {"controller.g": {"from": 0.1, "to": 1, "steps": 2}}
    arms = {"low": {"queue.mark": "5p"}, "high": {"queue.mark": "9p", "controller": "dctcp:alpha_window=reached"}}
    settings = {"run.duration": "1ms", "run.warmup": "0s"}
    study = incast.Study("dumbbell", axes=axes, arms=arms, settings=settings)
    assert repr(study) == "<Study study: 1 axis, 2 arms, 1 seed>"
    shown = study._repr_html_()
    rows = {"controller.g": "0.1, 1.0", "arm low": "queue.mark=5p", "run.duration": "1ms", "seeds": "1", "runs": "4"}
    for key, text in rows.items():
        assert f"<tr><th>{key}</th><td>{text}</td></tr>" in shown, shown
    assert repr(study.run(tmp_path / "store")) == f"<Store {tmp_path / 'store'}: 4 runs of study>"
    assert repr(incast.Store.make(tmp_path / "empty")).endswith("0 runs of no study>")
    to_be_tuned = incast.Study("dumbbell", axes={"controller.g": {"from": 0.1, "to": 1}})
    assert "<td>0.1 to 1.0</td>" in to_be_tuned._repr_html_()
    assert "runs" not in to_be_tuned._repr_html_()


def test_a_picture_of_a_result_is_one_in_a_notebook_that_never_loaded_pyplot() -> None:
    figure = incast.Scenario.load("dumbbell").with_(SHORT).run().plot.throughput()
    png, size = figure._repr_png_()  # type: ignore[attr-defined]
    assert png.startswith(b"\x89PNG")
    assert 300 < size["width"] < 1000


def test_a_scenario_may_come_from_standard_input(tmp_path: Path) -> None:
    text = (ROOT / "scenarios" / "dumbbell.toml").read_text()
    words = ["run", "-", "--set", "run.duration=10ms", "--set", "run.warmup=2ms", "--json", "--out", "r"]
    done = subprocess.run(
        command(words), cwd=tmp_path, env=environment(), input=text, capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr
    from_name = incast.Scenario.load("dumbbell").with_(SHORT)
    read = incast.Result.load(tmp_path / "r")
    assert (read.manifest["hash"], read.summary["flows"]) == (from_name.hash, from_name.run().summary["flows"])
