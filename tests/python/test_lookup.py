"""Names, descriptions, papers and searches as calls: the same as the commands, printed as they are to be read."""

from __future__ import annotations

from pathlib import Path

import pytest

import incast
from incast import IncastError
from incast.system.listing import Listing, Words


def test_scenarios_and_controllers_are_lists_that_print_as_tables() -> None:
    for listed, one in ((incast.scenarios(), "dumbbell"), (incast.controllers(), "swift")):
        assert isinstance(listed, Listing)
        assert one in listed
        line = next(line for line in repr(listed).splitlines() if line.startswith(f"{one} "))
        assert line.endswith(listed.summaries[one])
        assert f"<tr><th>{one}</th><td>" in listed._repr_html_()
    assert incast.controllers.Controller.__name__ == "Controller"


def test_a_description_prints_as_its_text() -> None:
    told = incast.describe("swift")
    assert isinstance(told, Words)
    assert repr(told) == str(told).rstrip("\n")
    assert "flow_scaling" in told
    assert "flow_scaling" not in incast.describe("swift", "transports")
    assert "Fairness of 5,000 flows" in incast.describe("swift/fig21", "paper")


def test_a_paper_has_figures_and_a_figure_scenarios_to_change() -> None:
    assert "swift/fig21" in incast.paper("swift").figures
    figure = incast.paper("swift/fig21")
    scenario = figure.scenario("first")
    assert scenario.with_({"traffic.flows": 100}).hash != scenario.hash
    assert "figure 21" in repr(figure)


def test_the_figure_of_a_paper_is_run_and_its_claims_are_a_table(
    paper: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = incast.paper(f"{paper}/fig1").run(out="done", seeds=1, workers=1)
    assert done.report == Path("done/report.html")
    assert done.report.is_file()
    rows = done.claims.to_pylist()
    assert rows
    assert {row["figure"] for row in rows} == {"fig1"}
    assert all(f"fig1: {row['verdict']}: {row['claim']}" in repr(done) for row in rows)


def test_a_search_returns_its_best_values(tmp_path: Path) -> None:
    settings = {"run.duration": "2ms", "run.warmup": "0s"}
    study = incast.Study("dumbbell", axes={"controller.g": {"from": 0.01, "to": 1}}, settings=settings)
    done = incast.tune(study, 2, minimise="flows.delay_mean_s", workers=1, out=tmp_path / "t")
    assert 0.01 <= float(done.best["controller.g"]) <= 1
    assert done.scenario().resolved()["controller"]["g"] == pytest.approx(done.best["controller.g"])
    assert repr(done).startswith(f"chosen: controller.g = {done.best['controller.g']}")
    assert "flows.delay_mean_s" in done._repr_html_()


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: incast.paper(3), "name = 3: expected a text"),
        (lambda: incast.paper("swfit"), 'did you mean "swift"?'),
        (lambda: incast.paper("swift").scenario(), "paper = 'swift': expected one of its figures, such as swift/fig4"),
        (lambda: incast.paper("swift/fig21").run(scale="big"), "scale = 'big': expected one of small, paper"),
        (lambda: incast.paper("swift/fig21").run(workers=-1), "workers = -1: expected a number of parallel runs"),
        (lambda: incast.describe(["swift"]), "name = ['swift']: expected a text"),
        (lambda: incast.describe("dumbell"), 'did you mean "dumbbell"?'),
        (lambda: incast.tune(3), "study = 3: expected a study file, or a Study"),
        (lambda: incast.tune("a.toml", 0), "budget = 0: expected a number of parameter sets"),
        (lambda: incast.tune("a.toml", workers=None), "workers = None: expected a number of parallel runs"),
    ],
)
def test_a_wrong_argument_is_refused_in_words(call: object, told: str) -> None:
    with pytest.raises(IncastError) as refused:
        call()  # type: ignore[operator]
    assert told in str(refused.value)
