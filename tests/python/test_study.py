"""The words of a comparison."""

import json
from dataclasses import replace

import pytest

from incast import StudyError
from incast.comparisons.declaration import ComparisonStudy, Controller


def test_label_names_what_the_value_does_not() -> None:
    controller = Controller("swift:target=min-rtt,epsilon=100us,beta=0.8,literal=true")
    assert controller.kind == "swift"
    assert controller.parameters["epsilon"] == "100us"
    assert controller.label == "swift min-rtt epsilon=100us beta=0.8 literal=true"
    assert Controller("swift:target=static,static_target=25ms").label == "swift static_target=25ms"


@pytest.mark.parametrize("text", ["", ":", "swift:", "swift:target", "swift:target=", "swift:a=1,,b=2", "a b"])
def test_malformed_controllers_are_refused_with_an_example(text: str) -> None:
    with pytest.raises(StudyError, match="swift:target=min-rtt,epsilon=100us"):
        Controller(text)


@pytest.mark.parametrize("vary", ["traffic.flows", "=1,2", "traffic.flows=", "traffic.flows=,"])
def test_malformed_vary_is_refused_with_an_example(vary: str) -> None:
    with pytest.raises(StudyError, match="traffic.flows=100,250,650"):
        ComparisonStudy.parse(["dumbbell"], ["dctcp"], vary, 1, [])


def test_a_thing_given_twice_is_refused() -> None:
    with pytest.raises(StudyError, match="--cc dctcp is given twice"):
        ComparisonStudy.parse(["dumbbell"], ["dctcp", "dctcp"], "traffic.flows=1", 1, [])
    with pytest.raises(StudyError, match="--vary value 5 is given twice"):
        ComparisonStudy.parse(["dumbbell"], ["dctcp"], "traffic.flows=5,5", 1, [])


def test_study_survives_its_file_and_its_command_line() -> None:
    study = ComparisonStudy.parse(
        ["dumbbell", "star"],
        ["dctcp", "swift:target=static,static_target=25ms"],
        "traffic.flows=1,2",
        2,
        [("a.b", "c d")],
    )
    named = replace(study, names=("dumbbell", "star"))  # as a folder has it
    read = ComparisonStudy.from_data(json.loads(named.json(store="runs")))
    assert (read, read.scenario_names()) == (study, ["dumbbell", "star"])
    assert study.command("runs/x") == (
        "incast compare dumbbell star --cc dctcp --cc swift:target=static,static_target=25ms "
        "--vary traffic.flows=1,2 --seeds 2 --set 'a.b=c d' --out runs/x"
    )
    assert len(list(study.cases())) == 2 * 2 * 2 * 2


@pytest.mark.parametrize(
    ("values", "listed"),
    [
        ("1, 2,,3", ("1", "2", "3")),
        ("{ a = 1, b = [2, 3] },{ a = 2 }", ("{ a = 1, b = [2, 3] }", "{ a = 2 }")),
        ("\"a,b\",'c,d'", ('"a,b"', "'c,d'")),
        (r'"a\",b",c', (r'"a\",b"', "c")),
    ],
)
def test_commas_inside_quotes_and_brackets_part_nothing(values: str, listed: tuple[str, ...]) -> None:
    study = ComparisonStudy.parse(["dumbbell"], ["dctcp"], f"topology.link={values}", 1, [])
    assert study.values == listed


@pytest.mark.parametrize("values", ["{ a = 1,2", "[1,2", '"a,b', "1],2", "{1]"])
def test_an_open_quote_or_bracket_is_refused(values: str) -> None:
    with pytest.raises(StudyError, match="not closed"):
        ComparisonStudy.parse(["dumbbell"], ["dctcp"], f"topology.link={values}", 1, [])
