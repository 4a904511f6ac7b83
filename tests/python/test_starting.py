"""From nothing to a run: files that `incast new` writes, checks without a run, and what the program says by itself."""

from __future__ import annotations

import io
import json
import re
import shlex
import statistics
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from conftest import ROOT, Command, command, environment, left_in
from incast import Scenario, _core
from incast.batch import runner
from incast.batch.runner import Status
from incast.commands import doctor, new, overview, progress
from incast.commands.program import program
from incast.runs import lines, size
from incast.templates.study import study_file

SMALL = ("--leaf-spine", "2x2", "--hosts", "8", "--rate", "10G")
FABRICS: dict[str, tuple[str, ...]] = {
    "leaf-spine": (*SMALL, "--traffic", "websearch", "--load", "60%"),
    "other sizes": (*SMALL, "--traffic", "homa-w3", "--load", "0.5"),
    "permutation": ("--fat-tree", "4", "--rate", "25G", "--traffic", "permutation"),
    "fat tree": ("--fat-tree", "4", "--hosts", "16", "--load", "20%"),
    "dumbbell": ("--dumbbell", "3", "--rate", "10 Gbps"),
    "incast": ("--incast", "8", "--rate", "400G"),
    "default": (),
}


@pytest.mark.parametrize("words", FABRICS.values(), ids=FABRICS)
def test_a_new_scenario_runs_as_it_is(incast: Command, tmp_path: Path, words: tuple[str, ...]) -> None:
    made = incast("new", "scenario", *words)
    assert (made.status, made.out) == (0, "wrote: scenario.toml, scenario.schema.json\n"), made.err
    assert incast("validate", "scenario.toml").status == 0
    text = (tmp_path / "scenario.toml").read_text()
    assert text.startswith("#:schema ./scenario.schema.json\n")
    assert max(map(len, text.splitlines())) <= 120
    settings = ("--set", "run.duration=100us", "--set", "run.warmup=0s")
    if "poisson" in text:
        settings += ("--set", "traffic.arrivals.until=50us", "--set", "run.measure_until=50us")
    ran = incast("run", "scenario.toml", *settings, "--out", "first")
    assert ran.status == 0, ran.err
    assert (tmp_path / "first" / "summary.json").is_file()


def test_a_new_scenario_is_the_fabric_that_was_asked_for(incast: Command, tmp_path: Path) -> None:
    words = ("--leaf-spine", "20x5", "--hosts", "400", "--rate", "100G", "--traffic", "websearch", "--load", "60%")
    incast("new", "scenario", *words, "--out", "ls.toml")
    scenario = Scenario.load(tmp_path / "ls.toml")
    resolved = scenario.resolved()
    topology, arrivals = resolved["topology"], resolved["traffic"][0]["arrivals"]
    assert (topology["leaves"], topology["spines"], topology["hosts_per_leaf"]) == (20, 5, 20)
    assert (topology["link"]["rate"], arrivals["load"], arrivals["sizes"]) == ("100Gbps", 0.6, "builtin:websearch")
    found = size.of(scenario)
    assert (found.hosts, found.host_rate_bps, found.ports) == (400, 100e9, 2 * (400 + 100))
    # the file has the values as the program writes them, and the command that makes it again
    text = (tmp_path / "ls.toml").read_text()
    assert 'rate = "100Gbps"' in text and "load = 0.6," in text
    command = re.search(r"Made by: incast (.*)", text)
    assert command is not None
    incast(*command[1].split(), "--out", "again.toml")
    assert (tmp_path / "again.toml").read_text() == text.replace("ls.toml", "again.toml")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--leaf-spine", "20by5"], '--leaf-spine "20by5": expected leaves x spines, such as 20x5'),
        (["--leaf-spine", "0x5"], "expected leaves x spines"),
        (["--leaf-spine", "3x2", "--hosts", "10"], "--hosts 10: expected a multiple of the 3 leaves"),
        (["--fat-tree", "5"], "--fat-tree 5: expected an even number >= 2"),
        (["--fat-tree", "4", "--hosts", "17"], "--hosts 17: a fat tree with k = 4 has 16 hosts"),
        (["--fat-tree", "4", "--incast", "3"], "--fat-tree and --incast: expected one of"),
        (["--dumbbell", "2", "--hosts", "4"], "expected no --hosts"),
        (["--incast", "2", "--load", "60%"], "--load: only with --leaf-spine or --fat-tree"),
        (["--traffic", "websaerch"], '(did you mean "websearch"?)'),
        (["--traffic", "permutation", "--load", "60%"], "expected no --load"),
        (["--load", "60x%"], 'arrivals.load = "60x%": expected a number'),
        (["--load", "1100%"], "arrivals.load = 11: expected a number above 0, at most 10"),
        (["--load", "0%"], "--load 0%: expected more than 0"),
        (["--load", "-5%"], "--load -5%: expected more than 0"),
        (["--rate", "100X"], '--rate "100X": expected a rate with a unit'),
        (["--rate", "10G\\"], '--rate "10G\\": expected a rate with a unit'),
        (["--rate", "inf"], "--rate inf: expected a finite rate"),
    ],
)
def test_fabrics_that_cannot_be_are_refused(incast: Command, tmp_path: Path, words: list[str], expected: str) -> None:
    incast("new", "scenario", *words).refused(expected)
    assert left_in(tmp_path) == []


def test_a_load_above_one_is_noted(incast: Command) -> None:
    assert "note: --load 120%: more bytes arrive than" in incast("new", "scenario", *SMALL, "--load", "120%").err
    assert "note" not in incast("new", "scenario", *SMALL, "--load", "100%", "--out", "full.toml").err


@pytest.mark.slow("a third of a second of 32 hosts at 10 Gb/s")
def test_a_new_scenario_carries_its_load_in_the_measured_interval(incast: Command, tmp_path: Path) -> None:
    words = ("--leaf-spine", "4x2", "--hosts", "32", "--rate", "10G", "--traffic", "websearch", "--load", "60%")
    incast("new", "scenario", *words)
    result = Scenario.load(tmp_path / "scenario.toml").run()
    assert result.summary["fct"]["finished"] == result.summary["fct"]["count"], "no flow is cut short"
    ports = result.ports.to_pylist()
    for loaded in (re.compile(r"h\d+>leaf\d"), re.compile(r"leaf\d>h\d+")):
        used = [port["utilisation"] for port in ports if loaded.fullmatch(port["port"])]
        assert len(used) == 32
        assert statistics.fmean(used) == pytest.approx(0.6, rel=0.1), "random flows: their sizes sum up to this"
    # a flow has other hosts of its leaf as receivers too
    used = [port["utilisation"] for port in ports if "spine" in port["port"]]
    assert statistics.fmean(used) == pytest.approx(0.6 * 24 / 31, rel=0.1)


@pytest.mark.slow("four commands, and the scenarios they write")
def test_the_times_of_a_new_scenario_follow_its_flows(incast: Command, tmp_path: Path) -> None:
    def times(*words: str) -> list[str]:
        (tmp_path / "scenario.toml").unlink(missing_ok=True)
        incast("new", "scenario", *words)
        resolved = Scenario.load(tmp_path / "scenario.toml").resolved()
        assert resolved["traffic"][0]["arrivals"]["until"] == resolved["run"]["measure_until"]
        return [resolved["run"][key] for key in ("warmup", "measure_until")]

    assert times(*SMALL, "--load", "60%") == ["100ms", "300ms"]
    assert times(*SMALL[:-1], "100G", "--load", "60%") == ["10ms", "30ms"]
    assert times(*SMALL, "--traffic", "homa-w1", "--load", "60%") == ["100us", "300us"]
    assert "carried in part" not in (tmp_path / "scenario.toml").read_text()
    many = ("--leaf-spine", "4x4", "--hosts", "128", "--rate", "10G")
    times(*many, "--traffic", "datamining", "--load", "80%")
    assert "too short for these sizes: the load is carried in part" in (tmp_path / "scenario.toml").read_text()


def test_arrivals_too_short_for_their_load_are_noted(incast: Command, tmp_path: Path) -> None:
    """Fixed sizes: a flow of 1.25 MB takes 1 ms at 10 Gb/s."""
    incast("new", "scenario", *SMALL, "--load", "20%")
    text = (tmp_path / "scenario.toml").read_text()
    assert "# Large flows last for long: " in text
    (tmp_path / "sizes.csv").write_text("size,cumulative\n1250000,0\n1250001,1\n")
    whole = {"run.warmup": "0s", "run.measure_until": "1s", "traffic.arrivals.sizes": "sizes.csv"}
    scenario = Scenario.load(tmp_path / "scenario.toml").with_(whole)
    short = scenario.with_({"traffic.arrivals.until": "1ms"}).run()
    noted = re.search(r"carried a load of about ([\d.]+) and not 0.2", " ".join(short.notes()))
    assert noted is not None
    rows = short.flows.to_pylist()
    before = [row["size_bytes"] * min(1, (1e-3 - row["start_s"]) / row["fct_s"]) for row in rows]
    assert float(noted[1]) == pytest.approx(0.2 * sum(before) / sum(row["size_bytes"] for row in rows), rel=0.05)
    long = scenario.with_({"traffic.arrivals.until": "10ms"})
    assert not any("carried a load" in note for note in long.run().notes())
    # the load builds up in 2 ms: what is measured after that has it, and what is measured from the start has not
    late = {"run.warmup": "3ms", "run.measure_until": "10ms", "run.duration": "10ms"}
    assert not any("carried a load" in note for note in long.with_(late).run().notes())
    ends = dict.fromkeys(("traffic.arrivals.until", "run.measure_until", "run.duration"), "3ms")
    (note,) = (one for one in scenario.with_(ends).run().notes() if "carried a load" in one)
    assert (
        "from 0 s to 3 ms" in note and "a byte's flow lasts at least 1" in note and "arrivals end with the run" in note
    )


@pytest.mark.parametrize("kind", ["scenario", "study", "controller", "paper"])
def test_nothing_is_overwritten(incast: Command, tmp_path: Path, kind: str) -> None:
    incast("new", "scenario", *SMALL)
    if kind != "scenario":
        assert incast("new", kind).status == 0
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert any(word in incast("new", kind).err for word in ("exists: give another --out", "exists and is not empty"))
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}


def test_a_scenario_goes_to_standard_output_without_a_schema(incast: Command, tmp_path: Path) -> None:
    made = incast("new", "scenario", *SMALL, "--out", "/dev/stdout")
    Scenario.from_toml(made.out).validate()
    assert "#:schema" not in made.out
    assert left_in(tmp_path) == []


def test_a_new_study_is_checked_and_estimated(incast: Command, tmp_path: Path) -> None:
    incast("new", "scenario", *SMALL)
    incast("new", "study", "scenario.toml", "--out", "grid.toml")
    study = tomllib.loads((tmp_path / "grid.toml").read_text())
    assert study["scenario"] == "scenario.toml"
    axes = study["axes"]
    assert axes["queue"]["mark"] == ["16p", "65p", "260p"]
    assert axes["traffic"]["arrivals"]["load"] == [0.4, 0.6, 0.8]
    assert incast("validate", "grid.toml").out == "grid.toml: ok (study: 9 points, 27 runs)\n"
    text = (tmp_path / "scenario.toml").read_text()
    (tmp_path / "scenario.toml").write_text(text.replace("100ms", "2ms").replace("300ms", "5ms"))
    assert "27 new" in incast("study", "run", "grid.toml", "--dry-run").out


@pytest.mark.parametrize(
    ("file", "name"),
    [("my study.toml", "my-study"), ("it's.toml", "it-s"), ('a"b.toml', "a-b"), ("-x.toml", "x"), ("a\nb.toml", "a-b")],
)
def test_a_new_study_of_any_file_name_is_a_study(file: str, name: str) -> None:
    text = study_file(Scenario.load("hotspot"), f"{file}.toml", Path(file).stem, file)
    found = tomllib.loads(text)
    assert (found["name"], found["scenario"]) == (name, f"{file}.toml")
    assert "incast study run -" not in text


def test_a_study_of_a_scenario_with_any_file_name_runs(incast: Command, tmp_path: Path) -> None:
    (tmp_path / 'my "own".toml').write_text(Scenario.load("hotspot").toml())
    assert incast("new", "study", 'my "own".toml').status == 0
    assert incast("validate", "study.toml").out == "study.toml: ok (study: 3 points, 9 runs)\n"


def test_a_study_needs_a_scenario_with_something_to_vary(incast: Command, tmp_path: Path) -> None:
    incast("new", "study").refused("scenario.toml: no such file", "incast new scenario")
    incast("new", "study", "wireless-cell").refused("neither a threshold (queue.mark) nor a load")
    (tmp_path / "sub").mkdir()
    incast("new", "scenario", *SMALL)
    assert incast("new", "study", "--out", "sub/study.toml").status == 0
    assert tomllib.loads((tmp_path / "sub/study.toml").read_text())["scenario"] == "../scenario.toml"
    assert incast("validate", "sub/study.toml").status == 0


def test_a_new_controller_runs(incast: Command, tmp_path: Path) -> None:
    assert incast("new", "controller").out == "wrote: mine.py\n"
    short = ("--set", "run.duration=2ms", "--set", "run.warmup=0s")
    assert incast("run", "dumbbell", "--set", "controller=mine.py:Mine", *short, "--out", "m").status == 0
    assert json.loads((tmp_path / "m/summary.json").read_text())["flows"]["goodput_total_bps"] > 1e9
    incast("new", "controller", "Fair", "--out", "lab.py")
    assert incast("run", "dumbbell", "--set", "controller=lab.py:Fair:b=0.5", *short, "--out", "f").status == 0
    incast("new", "controller", "not-a-name").refused("expected a name of a Python class")


def test_a_new_paper_is_shown_and_checked(incast: Command, tmp_path: Path) -> None:
    assert incast("new", "paper", "small").out == "wrote: small/paper.toml, small/fig1.toml\n"
    assert "DCTCP's delay grows" in incast("paper", "show", "./small/fig1").out
    assert incast("validate", "small").out == "small: ok (paper: 1 figure, 12 runs)\n"


def test_a_dry_run_tells_the_size_and_runs_nothing(incast: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("raise SystemExit('it ran')\nclass Mine: pass\n")
    for words in (["incast"], ["incast", "--set", "controller=mine.py:Mine"], ["incast", "--quiet"]):
        answer = incast("run", *words, "--dry-run")
        assert answer.status == 0, answer.err
        told = answer.out.replace("\u00a0", " ")
        assert "fabric: 41 hosts with links of 1 Gb/s, 1 switch, 82 ports" in told
        assert re.search(r"^hops: about .* of CPU time$", told, re.MULTILINE)
        assert "memory: about" in answer.out
    assert left_in(tmp_path) == ["mine.py"]
    incast("run", "incast", "--dry-run", "--memory-limit", "1kB").refused("incast needs about")
    size = json.loads(incast("run", "incast", "--dry-run", "--json").out)
    assert (size["hosts"], size["ports"], size["host_rate_bps"], size["scenario"]) == (41, 82, 1e9, "incast")
    assert size["estimates"]["hops"] > 0 and size["estimates"]["memory_bytes"] > 0 and size["notes"] == []


def test_files_are_told_apart_and_errors_have_their_lines(incast: Command, tmp_path: Path) -> None:
    incast("new", "scenario", *SMALL)
    good = (tmp_path / "scenario.toml").read_text()
    bad = good.replace('mark = "65p"', 'mark = "65x"').replace("pattern =", "patern =")
    (tmp_path / "bad.toml").write_text(bad)
    (tmp_path / "broken.toml").write_text("[run\n")
    (tmp_path / "study.toml").write_text('scenario = "dumbbell"\n\n[axes]\nqueue.mrk = ["1p"]\n')
    answer = incast("validate", "scenario.toml", "bad.toml", "broken.toml", "study.toml", "nothing.toml", "dumbbell")
    assert answer.status == 1
    assert answer.out == (
        "scenario.toml: ok (scenario: 8 hosts, flows: "
        + f"{size.of(Scenario.load(tmp_path / 'scenario.toml')).flows:,}"
        ")\ndumbbell: ok (scenario: 4 hosts, flows: 2)\n"
    )
    rows = bad.splitlines()
    for row, words in ((next(i for i, r in enumerate(rows, 1) if "65x" in r), 'queue.mark = "65x": expected'),):
        assert f"error: bad.toml:{row}: {words}" in answer.err
    row = next(i for i, r in enumerate(rows, 1) if "patern" in r)
    assert f'error: bad.toml:{row}: traffic.websearch.patern: unknown key (did you mean "pattern"?)' in answer.err
    assert "error: broken.toml: TOML parse error at line 1" in answer.err
    assert "queue.mrk" in answer.err
    assert "error: nothing.toml: no such file" in answer.err
    assert "Traceback" not in answer.err


def test_validate_runs_no_code(incast: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("raise SystemExit('it ran')\nclass Mine: pass\n")
    incast("new", "scenario", *SMALL)
    text = (tmp_path / "scenario.toml").read_text()
    (tmp_path / "own.toml").write_text(text.replace('controller = "dctcp"', 'controller = "mine.py:Mine"'))
    assert incast("validate", "own.toml").status == 0


TOML = """\
name = "x"
run = { duration = "1ms" }
[queue]
kind = "red"   # [not a table]
[[traffic]]
name = "a"
flows = 1
[[traffic]]
pattern = "incast"
app = { kind = "bulk" }
[traffic.transport]
mss = 1
[[links]]
link = "a>b"
"""


@pytest.mark.parametrize(
    ("key", "line"),
    [
        ("name", 1), ("run.duration", 2), ("queue.kind", 4), ("queue.lmit", 3), ("traffic.a.flows", 7),
        ("traffic.incast.app.size", 10), ("traffic.incast.flows", 8), ("links.0.link", 14), ("links.link", 14),
        ("topology.k", None),
    ],
)  # fmt: skip
def test_lines_of_keys(key: str, line: int | None) -> None:
    assert lines.line_of(TOML, key) == line


@pytest.mark.extended(part="python")
def test_new_files_at_a_terminal_are_followed_by_the_next_commands(incast: Command, tmp_path: Path) -> None:
    terminal = environment() | {"TTY_COMPATIBLE": "1"}
    for words, count in ((["scenario", *SMALL], 3), (["controller"], 2)):
        for quiet in ([], ["--quiet", "--out", "other"]):
            done = command(["new", *words, *quiet])
            told = subprocess.run(done, cwd=tmp_path, env=terminal, capture_output=True, text=True, check=True).stderr
            lines = told.partition("next: ")[2].splitlines()
            assert len(lines) == (0 if quiet else count), told
            (tmp_path / "other").unlink(missing_ok=True)
    assert incast("validate", "scenario.toml").err == ""  # nobody is at a terminal
    for line in ("validate scenario.toml", "run scenario.toml --dry-run"):
        assert incast(*line.split()).status == 0


@pytest.mark.parametrize("file", ["-x.toml", "my file.toml", "it's.toml"])
def test_next_commands_name_a_new_file_of_any_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, file: str) -> None:
    """Words of a shell, none of which is taken for an option."""
    told: list[str] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(new, "next_steps", lambda _, *commands: told.extend(commands))
    new.scenario(dumbbell=2, out_=Path(file), quiet=True)
    new.study("websearch", out_=Path(f"{file}.s"), quiet=True)
    new.controller("Mine", out_=Path(f"{file}.py"), quiet=True)
    options = {"--dry-run", "--set", "--cc"}
    for line in [
        *told,
        *re.findall(r"incast (?:validate|run|study run) [^;\n]*?(?=[;.] |\.?$)", Path(file).read_text()),
    ]:
        words = set(shlex.split(line))
        assert {word for word in words if word.startswith("-")} <= options, line
        paths = [Path(word.removeprefix("controller=").removesuffix(":Mine")) for word in words]
        assert any(path.is_file() for path in paths), line
    assert len(told) == 7


def test_phases_of_a_comparison_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE_S", 0.0)
    file = io.StringIO()
    with progress.of_batch(Console(file=file, force_terminal=True, width=100), quiet=False) as show:
        show(Status(total=2, finished=1))
        runner.phase({"show": show}, "time series, runs")["show"](Status(total=2, finished=1))
    assert "runs" in file.getvalue() and "time series, runs" in file.getvalue()
    assert runner.phase({"workers": 2}, "time series, runs") == {"workers": 2}


def test_the_program_alone_says_what_it_does(incast: Command) -> None:
    answer = incast()
    assert (answer.status, answer.err) == (0, "")
    assert max(map(len, answer.out.splitlines())) <= 80
    named = {word for _, commands in overview.GROUPS for names, _ in commands for word in names.split(", ")}
    registered = [one.name or one.callback.__name__ for one in program().registered_commands if one.callback]
    groups = [one.name for one in program().registered_groups]
    assert named == {*registered, *groups}
    assert len(overview.EXAMPLES) == 4
    assert incast("-V").out == incast("--version").out


def test_examples_of_the_program_are_commands(incast: Command, tmp_path: Path) -> None:
    (_, new), *_ = overview.EXAMPLES
    assert incast(*new.split()[1:]).status == 0
    assert (tmp_path / "scenario.toml").is_file()
    for _, words_ in overview.EXAMPLES[1:]:
        _, *words = words_.split()
        assert incast(*words[:2], "--help").status == 0 or incast(words[0], "--help").status == 0


@pytest.mark.extended(part="python")
def test_kinds_are_counted_and_scenarios_have_sizes(incast: Command) -> None:
    counts = dict(line.split() for line in incast("list").out.splitlines()[:-1])
    assert counts["scenarios"] == str(len(_core.list_kind("scenarios")))
    assert {"papers", "models"} < counts.keys()
    listed: list[dict[str, Any]] = json.loads(incast("list", "scenarios", "--json").out)
    assert {one["name"] for one in listed} == {name for name, _ in _core.list_kind("scenarios")}
    of_incast = next(one for one in listed if one["name"] == "incast")
    assert (of_incast["hosts"], of_incast["flows"], of_incast["group"]) == (41, 40, "star: one switch")
    groups = [one["group"] for one in listed]
    assert groups == sorted(groups, key=groups.index)
    text = incast("list", "scenarios").out
    for one in listed:
        assert re.search(rf"^  {one['name']} +{one['hosts']:,} ", text, re.MULTILINE), one["name"]
    for kind in ("controllers", "papers"):
        assert all({"name", "what"} == set(one) for one in json.loads(incast("list", kind, "--json").out))


def test_the_doctor_finds_the_program_and_what_it_needs(incast: Command) -> None:
    answer = incast("doctor")
    assert answer.status == 0, answer.out
    for word in (_core.__version__, "digest", "cores", "memory", "disk of this folder", "pyarrow", "viewer", "tshark"):
        assert word in answer.out
    assert "broken" not in answer.out
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert tuple(re.split(r"[<>=]", text)[0] for text in declared["dependencies"]) == doctor.NEEDED
    extras = {
        name: text for name, texts in declared["optional-dependencies"].items() for text in texts if name != "dev"
    }
    assert {extra for extra, _ in doctor.EXTRAS.values()} <= extras.keys()


def test_the_nearest_name_comes_before_a_list_that_is_cut(incast: Command) -> None:
    for words in (["run", "leafspine"], ["run", "dumbbell", "--set", "controller=swfit"], ["list", "scenarois"]):
        message = incast(*words).err
        assert "did you mean" in message and message.index("did you mean") < message.index(", ")
    assert "and 29 more (incast list scenarios names all)" in incast("run", "nowhere").err
