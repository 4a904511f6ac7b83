"""Mistakes: every one gets a message in the user's words, exit status 2, and leaves nothing."""

from __future__ import annotations

import io
import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import QUICK, Command, command, environment, left_in
from incast import FolderError, Result
from incast.commands.options import without_effect
from incast.comparisons.comparison import load
from incast.comparisons.declaration import ComparisonStudy
from incast.report import tables
from incast.runs.scenario import Scenario
from incast.system.output import Screen


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("topology.kk=4", ["topology.kk", "topology.k"]),
        ("tranport.mss=1000", ["tranport", "transport"]),
        ("run.duration=3", ["run.duration", "3", "10us"]),
        ("run.duration=3Gbps", ["run.duration", "3Gbps"]),
        ("topology.k=5", ["topology.k", "5", "even"]),
        ("topology.k=0", ["topology.k", "0"]),
        ("topology.link.rate=0", ["topology.link.rate", "0"]),
        ("topology.link.rate=-1Gbps", ["topology.link.rate", "-1Gbps"]),
        ("traffic.flows=99999999999", ["traffic.load.flows", "99999999999", "4000000"]),
        ("traffic.controller.kind=swfit", ["swfit", "swift"]),
        ("queue.kind=red-ish", ["red-ish"]),
        ("topology", ["--set", "KEY=VALUE"]),
        ("=4", ["--set", "KEY=VALUE"]),
    ],
)
def test_wrong_settings_name_key_value_and_expectation(
    incast: Command, tmp_path: Path, setting: str, words: list[str]
) -> None:
    incast("run", "random-hotspot", "--set", setting).refused(*words)
    assert left_in(tmp_path) == []


def test_misspelt_scenario_gets_a_suggestion(incast: Command) -> None:
    incast("run", "random-hotspt").refused("random-hotspt", "random-hotspot")


def test_missing_scenario_file(incast: Command) -> None:
    incast("run", "nowhere/mine.toml").refused("nowhere/mine.toml")


def test_scenario_that_is_not_toml(incast: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("[run\nduration = 1\n")
    incast("run", "mine.toml").refused("mine", "line 1", "]")


def test_bad_line_of_a_flow_file(incast: Command, tmp_path: Path) -> None:
    (tmp_path / "flows.csv").write_text(
        "start,source,destination,size,controller\n0s,0,1,10kB,dctcp\n0s,0,one,10kB,dctcp\n"
    )
    (tmp_path / "mine.toml").write_text(
        '[run]\nduration = "10ms"\n'
        '[topology]\nkind = "fat-tree"\nk = 4\nlink = { rate = "1Gbps", delay = "10us" }\n'
        '[queue]\nkind = "drop-tail"\nlimit = "100p"\n'
        '[[traffic]]\nname = "load"\npattern = "file"\nfile = "flows.csv"\n'
    )
    incast("run", "mine.toml").refused("flows.csv", "line 3", "one")


def test_results_are_never_overwritten(incast: Command, tmp_path: Path) -> None:
    (tmp_path / "result").mkdir()
    (tmp_path / "result/thesis.tex").write_text("years of work")
    incast("run", "dumbbell", *QUICK, "--out", "result").refused("result", "not empty", "--out")
    assert left_in(tmp_path / "result") == ["thesis.tex"]
    assert left_in(tmp_path) == ["result"]


def test_a_file_in_the_way(incast: Command, tmp_path: Path) -> None:
    (tmp_path / "result").write_text("")
    incast("run", "dumbbell", *QUICK, "--out", "result").refused("result", "file")
    incast("run", "dumbbell", *QUICK, "--out", "result/below").refused("result/below")


@pytest.mark.parametrize(
    "words", [["run", "dumbbell"], ["compare", "dumbbell", "--cc", "dctcp", "--vary", "run.warmup=0s"]]
)
def test_a_link_to_nowhere_is_refused_before_the_run(incast: Command, tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "link").symlink_to("nowhere")
    incast(*words, "--set", "run.duration=1000s", "--out", "link").refused("link", "nowhere")
    (tmp_path / "file").write_text("")
    incast(*words, "--set", "run.duration=1000s", "--out", "file/below").refused("file/below")
    assert left_in(tmp_path) == ["file", "link"]


def test_unwritable_output_is_found_before_the_run(incast: Command) -> None:
    # /proc takes no folders, not even from root.
    incast("run", "random-pairs", "--set", "run.duration=1000s", "--out", "/proc/result").refused("/proc/result")


COMPARE = ["compare", "dumbbell", "--cc", "dctcp", "--vary"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["compare", "dumbbell", "--cc", "swift:target", "--vary", "traffic.flows=1"], ["swift:target"]),
        (["compare", "dumbbell", "--cc", "dctcp", "--vary", "traffic.flows"], ["--vary", "traffic.flows=100"]),
        (["compare", "dumbbell", "--cc", "dctpc", "--vary", "traffic.flows=1"], ["dctpc", "dctcp"]),
        (
            ["compare", "dumbbell", "--cc", "dctcp", "--cc", "dctcp:g=0.0625"],
            ["--cc dctcp and --cc dctcp:g=0.0625 are the same controller", "give one of them"],
        ),
        (
            ["coexist", "--cc", "dctcp:g=0.0625", "--cc", "swift", "--cc", "dctcp"],
            ["--cc dctcp:g=0.0625 and --cc dctcp are the same controller"],
        ),
        (["compare", "dumbbell", "--cc", "dctcp", "--bins", f"1{'0' * 400}kB"], ["--bins", "at most 1000000000 GB"]),
        (["compare", "dumbbell", "--cc", "swift:bta=1", "--vary", "traffic.flows=1"], ["bta", "beta"]),
        (["compare", "dumbbell", "--cc", "dctcp", "--vary", "traffic.flws=1"], ["traffic.flws", "flows"]),
        (["compare", "dumbbell", "--cc", "dctcp", "--vary", "traffic.flows=1,x"], ["traffic.flows", "x"]),
        (["compare", "dumbbell", "--cc", "dctcp", "--vary", "traffic.flows=1", "--seeds", "0"], ["--seeds"]),
        (["report", "nowhere"], ["nowhere does not exist"]),
        (["report", "nowhere", "--quiet"], ["nowhere does not exist"]),
        (["report", "."], ["manifest.json", "study.json", "the folder of a run or a comparison"]),
        (["run", "dumbbell", "traffic.flows=1"], ["traffic.flows=1: expected --set traffic.flows=1"]),
        (["run", "dumbbell", "star"], ["star: expected a single scenario, already given as dumbbell"]),
        ([*COMPARE, "run.seed=1,2"], ["--vary run.seed", "use --seeds"]),
        ([*COMPARE, "controller=dctcp,swift"], ["--vary controller", "use --cc"]),
        ([*COMPARE, "traffic.controller.kind=dctcp,swift"], ["use --cc"]),
        ([*COMPARE, "traffic.flows=1", "--set", "controller=swift"], ["--set controller", "use --cc"]),
        ([*COMPARE, "traffic.flows=1", "--set", "run.seed=3"], ["--set run.seed", "use --seeds"]),
        ([*COMPARE, "traffic.flows=1", "--vary", "traffic.flows=2"], ["--vary traffic.flows is given twice"]),
        ([*COMPARE, "run.duration=60ms,60000us"], ["--vary run.duration: 60ms and 60000us are the same", "give one"]),
        (
            [*COMPARE, "traffic.flows=1,2", "--seeds", "60000"],
            ["60,000 seeds of 2 points", "expected at most 100,000"],
        ),
        ([*COMPARE, "traffic.flows=1", "--out", ""], ['--out ""', "folder"]),
        (["run", "dumbbell", "--out", ""], ['--out ""', "folder"]),
        (["run", "dumbbell", "--out", "."], ['"."', "folder"]),
        (["list", "controlers"], ["controlers", "controllers"]),
        (["describe", "controller", "swfit"], ["swfit", "swift"]),
        (["describe", "contoller", "swift"], ["contoller", "controller"]),
        (["describe", "cubik"], ["cubik: unknown name", 'did you mean "cubic"?']),
        (["describe", "controller"], ["controller: this is a kind", "incast list controller"]),
        (["describe", "queues"], ["queues: this is a kind", "incast list queues"]),
        (["describe", "controller", "swift", "cubic"], ["controller swift cubic: expected", "KIND NAME"]),
        (["run", "/dev/zero"], ["/dev/zero: has 67.2 MB or more; expected at most"]),
        (["run", "dumbbell", "--set", "transport.mss=65535"], ["transport.mss = 65535", "at most 65483"]),
        (
            ["run", "dumbbell", "--set", "transport.mtu=68", "--set", "transport.mss=9000"],
            ["transport.mtu", "at most 16"],
        ),
        (["compare", "dumbbell", "./builtin.toml", "--cc", "dctcp"], ["./builtin.toml: no such file"]),
        (["rnu", "dumbbell"], ["rnu"]),
        (["run", "dumbbell", "--sed", "1"], ["--sed"]),
        (["run", "dumbbell", "--seed", "-1"], ["--seed"]),
        (["run"], ["SCENARIO"]),
    ],
)
def test_wrong_words_on_the_command_line(
    incast: Command, tmp_path: Path, words: list[str], expected: list[str]
) -> None:
    incast(*words).refused(*expected)
    assert left_in(tmp_path) == []


@pytest.mark.parametrize("text", [":x:", "[red]x[/red]", ":smile: [/]", "\\[x]"])
def test_words_of_the_user_are_repeated_as_they_are(incast: Command, text: str) -> None:
    incast("run", text).refused(f"error: {text}: no ")
    incast("describe", text, "swift").refused(f"error: {text}: no such kind")
    incast("run", "dumbbell", "--set", text).refused(f'error: --set "{text}": expected')


def test_control_characters_of_names_are_shown_and_not_obeyed(incast: Command, tmp_path: Path) -> None:
    text = Scenario.load("dumbbell").with_({"run.duration": "1ms", "run.warmup": "0s"}).toml()
    named = text.replace('name = "dumbbell"', 'name = "a\\u001b[31mred\\nb"', 1)
    (tmp_path / "own.toml").write_text(named if named != text else f'name = "a\\u001b[31mred\\nb"\n{text}')
    done = incast("run", "own.toml", "--out", "r")
    assert done.status == 0, done.err
    assert done.out.splitlines()[0].startswith(r"a\u{1b}[31mred\nb, seed 1: ")
    assert "\x1b" not in done.out + done.err
    answer = incast("run", "x\x1b[31m")
    answer.refused(r"error: x\u{1b}[31m: no ")
    assert "\x1b" not in answer.err


def test_a_setting_that_spells_an_emoji_is_repeated_as_it_is(incast: Command) -> None:
    incast("run", "dumbbell", "--set", "controller=:x:").refused('":x:"')


def test_folders_that_do_not_exist_are_told_from_those_of_something_else(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for read in (Result.load, load):
        with pytest.raises(FolderError, match="nowhere does not exist"):
            read(tmp_path / "nowhere")
        with pytest.raises(FolderError, match="empty has no "):
            read(tmp_path / "empty")


@pytest.mark.parametrize("text", ["x", "{}", "[]", '{"format": 1}', '{"format": 2}', '{"format": 9}'])
def test_a_damaged_study_is_told_with_its_file_and_the_way_out(incast: Command, tmp_path: Path, text: str) -> None:
    (tmp_path / "c").mkdir()
    (tmp_path / "c/study.json").write_text(text)
    told = ("c/study.json", "give another --out, or remove c first")
    incast("report", "c").refused(*told)
    incast("compare", "dumbbell", "--cc", "dctcp", "--vary", "traffic.flows=1", "--out", "c").refused(*told)


def test_another_comparison_in_the_folder_is_not_mixed_up(incast: Command, tmp_path: Path) -> None:
    (tmp_path / "c").mkdir()
    (tmp_path / "c/note.txt").write_text("mine")
    words = ["compare", "dumbbell", "--cc", "dctcp", "--vary", "traffic.flows=1", "--out", "c"]
    incast(*words).refused("c exists and is not empty")
    assert left_in(tmp_path / "c") == ["note.txt"]


@pytest.mark.parametrize(
    "words",
    [
        ["schema"],
        ["--help"],
        ["list", "scenarios"],
        ["run", "dumbbell", *QUICK, "--out", "r"],
        ["run", "dumbbell", *QUICK, "--out", "r", "--json"],
    ],
)
def test_a_reader_who_has_gone_is_no_error(tmp_path: Path, words: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        command(words), cwd=tmp_path, env=environment(), stdout=writer, stderr=subprocess.PIPE, text=True
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")
    if words[0] == "run":
        assert left_in(tmp_path / "r")  # saved before anything is printed


@pytest.mark.parametrize("json", [[], ["--json"]])
def test_a_full_standard_output_is_told_with_the_place_of_the_results(tmp_path: Path, json: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command(["run", "dumbbell", *QUICK, "--out", "r", *json]),
            cwd=tmp_path,
            env=environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 1
    assert done.stderr == (
        "error: cannot write to the standard output: No space left on device; the results are complete in r\n"
    )
    assert "summary.json" in left_in(tmp_path / "r")


@pytest.mark.parametrize("stop", ["SIGINT", "SIGTERM"])
def test_ctrl_c_while_modules_load(tmp_path: Path, stop: str) -> None:
    program = f"""
import os, signal, sys
class Finder:
    def find_spec(self, name, *_):
        if name == "incast.commands":
            os.kill(os.getpid(), signal.{stop})
sys.meta_path.insert(0, Finder())
from incast.cli import main
main()
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (128 + signal.Signals[stop], "")
    assert done.stderr == "error: interrupted; no half-written result was left behind\n"


def test_asking_for_a_list_loads_neither_tables_nor_plots() -> None:
    program = "import sys; from incast.commands.program import program; program(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "incast.commands.run" in done.stdout.split()
    assert not {"pyarrow", "matplotlib", "scipy"} & set(done.stdout.split())


@pytest.mark.slow("a process of its own, which loads the program")
def test_a_comparison_that_is_refused_loads_neither_tables_nor_plots(tmp_path: Path) -> None:
    program = """
import sys
from incast.cli import main
try:
    main()
finally:
    print(*sorted({"pyarrow", "matplotlib", "scipy"} & set(sys.modules)))
"""
    for words in (["nowhere"], ["dumbbell", "--vary", "traffic.flws=1"], ["dumbbell", "--set", "run.duration=0s"]):
        done = subprocess.run(
            [sys.executable, "-c", program, "compare", *words, "--cc", "dctcp"],
            cwd=tmp_path,
            env=environment(),
            capture_output=True,
            text=True,
        )
        assert (done.returncode, done.stdout.strip()) == (2, ""), (words, done.stdout, done.stderr)


def test_settings_that_do_nothing_are_told_and_no_others(incast: Command) -> None:
    base = Scenario.load("dumbbell")

    def told(*given: tuple[str, str]) -> list[str]:
        return list(without_effect(given, *[lambda kept: [base.with_(dict(kept))]] * 2))

    nothing, again = (
        "has no effect: other options override it",
        "has no effect: a later --set of the key replaces it",
    )
    assert told(("queue.mark", "65p")) == [], "a default that is written out"
    assert told(("queue.mark", "66p"), ("run.seed", "2"), ("run.threads", "2"), ("measure.trace", "[0]")) == []
    assert told(("queue.mark", "9p"), ("queue.mark", "8p")) == [f"--set queue.mark=9p {again}"]
    # either of two that say the same may be left out, not both
    assert told(("traffic.flows", "9"), ("traffic.bulk.flows", "9")) == [f"--set traffic.flows=9 {nothing}"]
    # what others need, and what changes only beside others
    assert told(("queue.kind", "red"), ("queue.min_th", "9p"), ("queue.max_th", "30p")) == []
    assert told(("transport.preset", "linux"), ("transport.preset", "ns3"), ("transport.mss", "1448")) == [
        f"--set transport.preset=linux {again}",
    ]
    study = ComparisonStudy.parse(["dumbbell"], ["dctcp"], "traffic.flows=2,3", 1, [("traffic.flows", "9")])
    assert [point.resolved()["traffic"][0]["flows"] for point in study.points()] == [2, 3]
    words = ("--vary", "traffic.flows=2,3", "--bins", "x", "--set", "traffic.flows=9", "--set", "queue.mark=66p")
    answer = incast("compare", "dumbbell", "--cc", "dctcp", *words)
    answer.refused(f"note: --set traffic.flows=9 {nothing}\n")
    assert "queue.mark" not in answer.err
    # without a key the one point is the duration that is set
    alone = ("--set", "run.duration=5ms", "--set", "run.warmup=0s", "--bins", "x")
    for scenarios in (["dumbbell"], ["dumbbell", "incast"]):
        answer = incast("compare", *scenarios, "--cc", "dctcp", *alone)
        answer.refused('error: --bins "x"')
        assert nothing not in answer.err


def test_equal_scenarios_are_refused_before_any_run(incast: Command, tmp_path: Path) -> None:
    scenario = Scenario.load("dumbbell").with_({"run.duration": "1ms", "run.warmup": "0s"})
    for name in ("a", "b"):
        (tmp_path / f"{name}.toml").write_text(scenario.toml().replace('name = "dumbbell"', f'name = "{name}"'))
    incast("compare", "a.toml", "b.toml", "--cc", "dctcp").refused("a.toml and b.toml are the same scenario")
    assert left_in(tmp_path) == ["a.toml", "b.toml"]


@pytest.mark.extended(part="python")
def test_a_name_in_letters_that_the_terminal_lacks_is_shown(tmp_path: Path) -> None:
    text = Scenario.load("dumbbell").with_({"run.duration": "1ms", "run.warmup": "0s"}).toml()
    (tmp_path / "own.toml").write_text(text.replace('name = "dumbbell"', 'name = "größe→"', 1), encoding="utf-8")
    ascii_only = environment() | {"PYTHONIOENCODING": "ascii"}
    for words in (["run", "own.toml", "--out", "r"], ["run", "own.toml", "--out", "r2", "--json"]):
        done = subprocess.run(command(words), cwd=tmp_path, env=ascii_only, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
        assert r"gr\xf6\xdfe" in done.stdout or r"gr\u00f6\u00dfe" in done.stdout, done.stdout


def test_signs_that_a_terminal_lacks_are_written_in_letters_that_it_has() -> None:
    ascii_only = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="incast.signs")
    screen = Screen()
    screen.file = ascii_only
    tables.show(screen, "p99", [tables.Column("who ◆", ["swift ◆", "größe"])], [tables.Column("a", ["≥ 3 ± 1", "–"])])
    ascii_only.write("describe: 3 µs ≤ x → y\n")
    ascii_only.flush()
    lines = ascii_only.buffer.getvalue().decode("ascii").splitlines()  # type: ignore[attr-defined]
    assert lines[-1] == "describe: 3 us <= x -> y"
    assert "swift <>" in lines[-4]
    assert r"gr\xf6\xdfe" in lines[-3]
    assert lines[-4].index(">= 3 +- 1") + len(">= 3 +- 1") == lines[-3].rstrip().index("-", 10) + 1, "aligned"


@pytest.mark.slow("a process of its own, which loads the program")
def test_a_backend_of_matplotlib_that_is_not_there_is_nothing_to_the_program(tmp_path: Path) -> None:
    words = ["model", "dctcp", "--q", "0.01:0.1:log3", "--plot", "curve.png", "--quiet"]
    done = subprocess.run(
        command(words), cwd=tmp_path, env=environment() | {"MPLBACKEND": "nonsense"}, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (b"\xb0\xff\x00[run]", "-: the standard input is not a text (UTF-8); expected a scenario"),
        (None, "-: the standard input has more than 64 MiB; expected a scenario"),
        (b"", "run: missing"),
        (b"a\x00b", "stdin: TOML parse error"),
    ],
)
def test_a_standard_input_that_is_no_scenario_is_refused(tmp_path: Path, given: bytes | None, words: str) -> None:
    with Path("/dev/zero").open("rb") as endless:
        source = {"stdin": endless} if given is None else {"input": given}
        done = subprocess.run(
            command(["run", "-"]), cwd=tmp_path, env=environment(), capture_output=True, timeout=60, **source
        )
    err = done.stderr.decode()
    assert (done.returncode, done.stdout, "Traceback" in err) == (2, b"", False), err
    assert words in err
    assert left_in(tmp_path) == []


def test_a_report_refuses_options_that_its_folder_has_no_use_for(incast: Command, tmp_path: Path) -> None:
    Scenario.load("dumbbell").with_({"run.duration": "1ms", "run.warmup": "0s"}).run().save(tmp_path / "r")
    told = "only for the folder of a comparison, and r has one run"
    incast("report", "r", "--bins", "nonsense").refused(f"--bins: {told}")
    incast("report", "r", "--paired", "--format", "svg").refused(f"--paired and --format: {told}")
    assert incast("report", "r").status == 0
    (tmp_path / "p").mkdir()
    (tmp_path / "p/coexistence.json").write_text("{}")
    incast("report", "p", "--bins", "1kB").refused("--bins: only for the folder of a comparison", "pairs")


@pytest.mark.parametrize(
    ("file", "keys", "value", "told"),
    [
        ("summary.json", ("flows", "count"), "many", 'flows.count = "many": expected a number'),
        ("summary.json", ("run", "sim_s"), [1], "run.sim_s = [1]: expected a number"),
        ("summary.json", ("run", "scenario"), 3, "run.scenario = 3: expected a text"),
        ("manifest.json", ("cost", "wall_s"), "long", 'cost.wall_s = "long": expected a number'),
        ("manifest.json", ("cost",), "nothing", "cost.wall_s = null: expected a number"),
    ],
)
def test_texts_in_the_place_of_numbers_are_told(
    incast: Command, tmp_path: Path, file: str, keys: tuple[str, ...], value: object, told: str
) -> None:
    Scenario.load("dumbbell").with_({"run.duration": "1ms", "run.warmup": "0s"}).run().save(tmp_path / "r")
    data = json.loads((tmp_path / "r" / file).read_text())
    part = data
    for key in keys[:-1]:
        part = part[key]
    part[keys[-1]] = value
    (tmp_path / "r" / file).write_text(json.dumps(data))
    incast("report", "r").refused(f"{file}", "is damaged", told)


def test_a_run_that_is_there_is_shown_and_not_made_again(incast: Command, tmp_path: Path) -> None:
    made = incast("run", "dumbbell", *QUICK)
    (folder,) = (tmp_path / "runs").iterdir()
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    again = incast("run", "dumbbell", *QUICK)
    assert (again.status, again.out) == (0, made.out)
    assert again.err == f"note: this run is already in runs/{folder.name}: nothing was simulated\n"
    assert json.loads(incast("run", "dumbbell", *QUICK, "--json").out)["run"]["seed"] == 1
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == before
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(manifest | {"engine": "0123456789abcdef"}))
    incast("run", "dumbbell", *QUICK).refused("made by another build of the engine", "--out")


def test_a_folder_that_is_none_of_those_wanted_is_told(incast: Command, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    incast("plot", "nowhere").refused("nowhere does not exist: expected a run folder")
    incast("plot", "dumbbell").refused("dumbbell is no run folder", "--kind")
    told = incast("validate", "empty")
    assert told.status == 1 and "empty: a folder without paper.toml; expected a scenario, a study" in told.err
    (tmp_path / "empty/tune.json").write_text("{}")
    incast("report", "empty").refused("empty has the results of a search", "its report is empty/report.html")
    incast("new", "scenario", "--rate", "1bps").refused("--rate 1bps: expected at least 1kbps")
    assert left_in(tmp_path) == ["empty"]


def test_a_file_is_no_run_folder(incast: Command, tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text("")
    incast("plot", "x.toml").refused("x.toml is a file: expected a run folder")
    incast("report", "x.toml").refused("x.toml is a file: expected the folder of a run or a comparison")
    for words in (["study", "status", "x.toml"], ["query", "x.toml", "select 1"]):
        incast(*words).refused("x.toml is a file: expected a folder made by incast study run")
    (tmp_path / "p").mkdir()
    (tmp_path / "p/paper.json").write_text("{}")
    incast("report", "p").refused("p has the results of a paper: incast paper report NAME --out p writes its report")


@pytest.mark.extended(part="python")
def test_the_folder_of_a_report_stands_for_its_store(incast: Command, tmp_path: Path) -> None:
    own = ("compare", "dumbbell", "--set", "run.duration=1ms", "--set", "run.warmup=0s", "--seeds", "1", "-q", "--cc")
    assert incast(*own, "dctcp", "--out", "one").status == 0
    assert incast(*own, "swift", "--out", "two", "--store", "one").status == 0
    assert json.loads((tmp_path / "two/study.json").read_text())["store"] == "../one/runs"


@pytest.mark.parametrize(
    "arguments",
    [("compare", "-", "--cc", "dctcp", "--cc", "swift"), ("coexist", "-", "--cc", "dctcp", "--cc", "swift")],
)
def test_only_run_reads_the_standard_input(incast: Command, arguments: tuple[str, ...]) -> None:
    incast(*arguments).refused("-: only incast run reads a scenario from the standard input")


REPORTS = {
    "compare": ["compare", "dumbbell", "--cc", "dctcp", "--cc", "newreno", "--seeds", "1", *QUICK],
    "coexist": ["coexist", "--cc", "dctcp", "--cc", "newreno", "--seeds", "1", *QUICK],
    "paper": ["paper", "run", "./small"],
}


@pytest.mark.slow("a report that is written again, with its pictures")
@pytest.mark.parametrize(
    "kind",
    ["coexist", *(pytest.param(kind, marks=pytest.mark.extended(part="python")) for kind in ("compare", "paper"))],
)
def test_a_report_that_the_disk_has_no_room_for_leaves_the_earlier_one(
    incast: Command, tmp_path: Path, paper: Path, kind: str
) -> None:
    assert paper.name == "small"
    words = [*REPORTS[kind], "--out", "r"]
    assert incast(*words).status == 0
    place = tmp_path / "r"
    names = left_in(place)
    files = [path for path in place.iterdir() if path.suffix in (".png", ".html", ".json", ".csv", ".parquet")]
    # room for every file but the largest, the page or a picture
    room = max(path.stat().st_size for path in files) - 1
    for path in place.glob("*.png"):
        path.write_bytes(b"the earlier one")
    before = {path.name: path.read_bytes() for path in files}

    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    incast(*words, preexec=full).failed(1, "cannot write the results", "no half-written result was left behind")
    assert left_in(place) == names
    assert {path.name: path.read_bytes() for path in files} == before


@pytest.mark.parametrize("kind", ["compare", "coexist"])
@pytest.mark.parametrize("store", [[], ["--store", "s"]])
def test_a_report_that_is_refused_leaves_nothing(incast: Command, tmp_path: Path, kind: str, store: list[str]) -> None:
    words = [*REPORTS[kind], "--out", "r", *store]
    incast(*words, "--memory-limit", "1kB").refused("needs about", "1 kB is available")
    assert left_in(tmp_path) == []
    (tmp_path / "r").mkdir()
    incast(*words, "--memory-limit", "1kB").refused("needs about")
    assert left_in(tmp_path) == ["r"]
    assert left_in(tmp_path / "r") == []


@pytest.mark.extended(part="python")
def test_a_comparison_that_is_refused_more_runs_stays_what_it_was(incast: Command, tmp_path: Path) -> None:
    words = [*REPORTS["compare"], "--out", "r"]
    assert incast(*words, "--quiet").status == 0
    before = {path: path.read_bytes() for path in (tmp_path / "r").rglob("*") if path.is_file()}
    incast(*words, "--cc", "swift", "--memory-limit", "1kB").refused("needs about", "1 kB is available")
    assert {path: path.read_bytes() for path in (tmp_path / "r").rglob("*") if path.is_file()} == before
    assert incast("report", "r", "--quiet").status == 0


def test_a_report_does_not_lie_in_the_store_that_it_shares(incast: Command, tmp_path: Path) -> None:
    for kind in ("compare", "coexist"):
        incast(*REPORTS[kind], "--out", "xx", "--store", "./xx").refused("--out xx and --store xx are the same folder")
        incast(*REPORTS[kind], "--out", "xx/r", "--store", "xx").refused("the report would be inside the store")
    assert left_in(tmp_path) == []


def test_a_run_that_lacks_a_table_has_no_pictures(incast: Command, tmp_path: Path) -> None:
    assert incast("run", "dumbbell", *QUICK, "--out", "r", "--quiet").status == 0
    (tmp_path / "r/flows.parquet").unlink()
    incast("plot", "r").refused("r has no flows.parquet: not a whole run folder")
