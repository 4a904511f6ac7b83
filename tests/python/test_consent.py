"""Code that files name: nothing runs it unasked, whoever sent the file."""

from __future__ import annotations

import ast
import io
import os
import pty
import re
import select
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from rich.console import Console

from conftest import QUICK, ROOT, Command, command, environment
from incast import IncastError, Scenario, ScenarioError, Study, StudyError, evaluate, model
from incast.batch import slurm
from incast.batch.store import Store
from incast.commands import progress
from incast.external import consent, own_code
from incast.learn.episode import Episode
from incast.study import api, inputs

CLASS = """
import os
with open(os.path.join({place!r}, "RAN"), "a") as file:
    file.write("ran\\n")


class Mine:
    def on_ack(self, ack): pass
    def on_loss(self, event): pass
    def on_timeout(self, event): pass
"""
SHORT = "[set]\nrun.duration = '2ms'\nrun.warmup = '0s'\n"
REFUSED = "is a program that would run with your rights"


@pytest.fixture
def ran(tmp_path: Path) -> Callable[[], bool]:
    """Write a class that leaves a mark when it is imported; say whether it has, and take the mark away."""
    (tmp_path / "evil.py").write_text(CLASS.format(place=str(tmp_path)))
    dumbbell = Scenario.load("dumbbell").with_({"run.duration": "2ms", "run.warmup": "0s"}).toml()
    head, _, _ = dumbbell.partition("\n[controller]")
    assert head != dumbbell
    plain = "\n".join(line for line in dumbbell.splitlines() if not line.startswith('name = "dumbbell"'))
    tables = plain.split("\n[")
    kept = [one for one in tables if not one.startswith(("controller]", "traffic.controller]"))]
    (tmp_path / "x.toml").write_text('controller = "evil.py:Mine"\n' + "\n[".join(kept) + "\n")
    (tmp_path / "study.toml").write_text(
        f"scenario = 'dumbbell'\n{SHORT}[arms]\nmine = 'evil.py:Mine'\ndctcp = 'dctcp'\n"
    )

    def mark() -> bool:
        there = (tmp_path / "RAN").exists()
        (tmp_path / "RAN").unlink(missing_ok=True)
        return there

    return mark


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin without what earlier tests have allowed in this process."""
    monkeypatch.setattr(consent, "_state", consent._State())


@pytest.mark.slow("runs and comparisons of a class, each by processes of its own")
def test_a_class_that_a_scenario_names_is_refused_without_a_terminal(
    incast: Command, tmp_path: Path, ran: Callable[[], bool]
) -> None:
    answer = incast("run", "x.toml", "--out", "r")
    answer.refused(
        'controller = "evil.py:Mine"', f"class Mine of {tmp_path.resolve()}/evil.py", "x.toml", "--allow-code"
    )
    assert REFUSED in answer.err and not ran() and not (tmp_path / "r").exists()
    assert answer.err.count("\n") == 1, "one sentence"
    for words in (("compare", "x.toml", "--cc", "dctcp"), ("coexist", "x.toml", "--cc", "dctcp", "--cc", "swift")):
        incast(*words, "--out", words[0]).refused(REFUSED, "evil.py")
    assert not ran()


def test_with_the_flag_it_runs_and_is_told_once(incast: Command, ran: Callable[[], bool]) -> None:
    answer = incast("run", "x.toml", "--out", "r", "--allow-code")
    assert answer.status == 0, answer.err
    assert answer.err.count("note: runs code: class Mine of") == 1 and "which x.toml (controller) names" in answer.err
    assert ran()
    assert incast("report", "r").status == 0 and not ran()


@pytest.mark.slow("runs and comparisons of a class, each by processes of its own")
def test_a_class_on_the_command_line_runs_as_it_is(incast: Command, ran: Callable[[], bool], tmp_path: Path) -> None:
    short = ("--set", "run.duration=2ms", "--set", "run.warmup=0s")
    for value in ("evil.py:Mine", '{kind="evil.py:Mine"}', f"{tmp_path}/evil.py:Mine"):
        answer = incast("run", "dumbbell", *short, "--set", f"controller={value}", "--out", "r")
        assert (answer.status, "runs code" in answer.err) == (0, False), answer.err
        assert ran()
        shutil.rmtree(tmp_path / "r")
    one = ("--cc", "evil.py:Mine", "--seeds", "1", "--workers", "1")
    assert incast("compare", "dumbbell", *short, *one, "--out", "c", "-q").status == 0
    assert ran()
    assert incast("report", "c", "-q").status == 0 and not ran(), "a report of what was sent runs nothing"
    # in the place of a class that the scenario names, which nobody is asked for
    (tmp_path / "mine.py").write_text((tmp_path / "evil.py").read_text())
    (tmp_path / "evil.py").write_text("raise SystemExit")
    assert incast("run", "x.toml", *short, "--set", "controller=mine.py:Mine", "--out", "again").status == 0
    assert ran()
    incast("run", "x.toml", *short, "--out", "other").refused("x.toml (controller) names", REFUSED)


def test_a_study_asks_and_only_estimates_without(incast: Command, ran: Callable[[], bool], tmp_path: Path) -> None:
    for words in (("study", "run", "study.toml"), ("study", "run", "study.toml", "--on", "threads")):
        incast(*words, "--store", "s").refused("evil.py", REFUSED, "study.toml")
    assert not (tmp_path / "s").exists() and not ran()
    dry = incast("study", "run", "study.toml", "--store", "s", "--dry-run")
    assert dry.status == 0 and not ran()
    assert "runs: 2 new" in dry.out and "not tried: runs of evil.py:Mine" in dry.out
    assert "measured: 1 of the runs" in dry.out, "the arm that is no class is tried"
    allowed = incast("study", "run", "study.toml", "--store", "s", "--dry-run", "--allow-code")
    assert "measured: 2 of the runs" in allowed.out and "not tried" not in allowed.out and ran()


@pytest.mark.slow("runs and comparisons of a class, each by processes of its own")
@pytest.mark.parametrize("on", ["threads", pytest.param("processes", marks=pytest.mark.extended(part="python"))])
def test_a_store_that_was_sent_is_read_and_not_run(
    incast: Command, ran: Callable[[], bool], tmp_path: Path, on: str
) -> None:
    assert incast("study", "run", "study.toml", "--store", "s", "--allow-code", "--on", on).status == 0
    assert ran(), "workers have the permission of their program"
    (tmp_path / "evil.py").unlink()
    (run,) = {row["run"] for row in Store.at(tmp_path / "s").runs.to_pylist() if row["arm"] == "mine"}
    reading = (
        ("study", "status", "s", "--check"),
        ("study", "export", "s", "--out", "runs.csv"),
        ("study", "export", "s", "--run", run, "--out", "one"),
        ("query", "s", "SELECT arm, count(*) FROM runs GROUP BY arm"),
        ("report", "one"),
        ("plot", "one"),
    )
    for words in reading if on == "threads" else ():
        assert incast(*words).status == 0, words
        assert not ran(), words
    # its copy is asked for again by whoever extends the store
    incast("study", "extend", "s", "--seeds", "2").refused("files/", "evil.py", REFUSED, "studies/study/study.toml")
    assert not ran()
    grown = incast("study", "extend", "s", "--seeds", "2", "--allow-code", "--on", on)
    assert grown.status == 0 and ran() and "4 runs" in grown.out


def test_what_a_store_has_still_to_make_is_asked_for_too(
    incast: Command, ran: Callable[[], bool], tmp_path: Path
) -> None:
    """A batch that was asked for elsewhere names classes by scenarios of its own."""
    (tmp_path / "small.toml").write_text(f"scenario = 'dumbbell'\nseeds = 30\n{SHORT}[arms]\nmine = 'evil.py:Mine'\n")
    answer = incast("study", "run", "small.toml", "--store", "s", "--allow-code", "--on", "slurm")
    assert "sbatch not found" in answer.err
    assert (tmp_path / "s/pending").exists() and ran()
    incast("study", "run", "small.toml", "--store", "s").refused(REFUSED)
    part = ("study", "work", "s", "--part", "0", "--of", "30")
    assert REFUSED in incast(*part).err and not ran()
    script = (tmp_path / "s/pending/slurm.sh").read_text()
    words = shlex.split(script)
    assert incast(*part, "--allowed", words[words.index("--allowed") + 1]).status == 0 and ran()


def test_parts_of_an_array_get_digests_and_import_nothing_from_where_they_are_submitted(tmp_path: Path) -> None:
    consent.allow_everything()
    text = slurm.script(tmp_path, 2)
    assert " -P -m incast study work " in text and "--allowed '*' --part" in text


@pytest.mark.extended(part="python")
def test_workers_import_nothing_from_the_working_directory(
    incast: Command, ran: Callable[[], bool], tmp_path: Path
) -> None:
    for name in ("json", "numpy", "signal"):
        (tmp_path / f"{name}.py").write_text(CLASS.format(place=str(tmp_path)))
    (tmp_path / "plain.toml").write_text(f"scenario = 'dumbbell'\n{SHORT}")
    program = [Path(sys.executable).with_name("incast"), "study", "run", "plain.toml", "--on", "processes"]
    done = subprocess.run([*program, "--store", "s"], cwd=tmp_path, env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not ran()


@pytest.mark.extended(part="python")
def test_pictures_follow_no_settings_of_the_working_directory(incast: Command, tmp_path: Path) -> None:
    """Texts by TeX would call a program for each; a program of its own, since the others have Matplotlib loaded."""
    assert incast("run", "dumbbell", *QUICK, "--out", "r", "-q").status == 0
    (tmp_path / "matplotlibrc").write_text("text.usetex: True\nfigure.facecolor: black\n")
    (tmp_path / "latex").write_text(f"#!/bin/sh\ntouch '{tmp_path}/RAN'\n")
    (tmp_path / "latex").chmod(0o755)
    env = environment() | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(command(["plot", "r"]), cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "RAN").exists()


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("this:s", "no module this of an installed package; expected a file such as this.py"),
        ("antigravity:Mine", "no module antigravity"),
        ("os.path:join", "no module os"),
        ("evil:Mine", "no module evil of an installed package; expected a file such as evil.py"),
        ("lab.mine:Mine", "expected a file such as lab/mine.py"),
        ("numpy.nothing:Mine", "no module numpy.nothing; expected one of the package numpy"),
        ("__main__:Mine", "no module __main__"),
    ],
)
def test_modules_are_those_of_installed_packages(
    tmp_path: Path, ran: Callable[[], bool], monkeypatch: pytest.MonkeyPatch, name: str, told: str
) -> None:
    (tmp_path / "lab").mkdir()
    for file in ("__init__.py", "mine.py"):
        (tmp_path / "lab" / file).write_text(CLASS.format(place=str(tmp_path)))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend("")
    consent.allow_everything()
    with pytest.raises(ScenarioError, match=f"controller = .*{told}"):
        Scenario.load("dumbbell").with_({"controller": name})
    assert "antigravity" not in sys.modules and "this" not in sys.modules and not ran()


def test_a_distribution_that_lies_in_the_working_directory_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab/__init__.py").touch()
    (tmp_path / "lab-1.dist-info").mkdir()
    (tmp_path / "lab-1.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: lab\nVersion: 1\n")
    (tmp_path / "lab-1.dist-info/top_level.txt").write_text("lab\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ScenarioError, match="no module lab of an installed package"):
        own_code.locate("lab")


def test_a_module_of_an_installed_package_is_found_and_asked_for() -> None:
    assert own_code.locate("incast.learn.episode").file == ROOT / "python/incast/learn/episode.py"
    assert own_code.locate("numpy").package is not None
    text = Scenario.load("two-senders").with_({"run.duration": "1ms", "run.warmup": "0s"}).toml()
    assert "dctcp" in text
    named = text.replace('kind = "dctcp"', 'kind = "typer.main:Typer"')
    assert named != text
    with pytest.raises(ScenarioError, match=REFUSED):
        Scenario.from_toml(named)


def test_python_asks_for_a_word_where_a_file_is_read(
    tmp_path: Path, ran: Callable[[], bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for read in (
        lambda: Scenario.load("x.toml"),
        lambda: Scenario.from_toml((tmp_path / "x.toml").read_text()),
        lambda: api.load("study.toml").run("s"),
        lambda: Study("x.toml", axes={"traffic.flows": [1]}),
    ):
        with pytest.raises(ScenarioError, match=REFUSED):
            read()
    assert not ran() and not (tmp_path / "s").exists()
    # what is changed of a scenario that was allowed is the same code
    scenario = Scenario.load("x.toml", allow_code=True)
    assert ran()
    assert scenario.with_seed(2).with_({"run.duration": "1ms"}).run().summary["run"]["seed"] == 2


@pytest.mark.slow("runs and comparisons of a class, each by processes of its own")
def test_a_call_names_a_class_as_a_command_line_does(
    tmp_path: Path, ran: Callable[[], bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Scenario.load("dumbbell").with_controller("evil.py:Mine")
    assert ran()
    monkeypatch.setattr(consent, "_state", consent._State())
    study = Study("dumbbell", arms={"mine": "evil.py:Mine"}, settings={"run.duration": "1ms", "run.warmup": "0s"})
    study.run("s", workers=1)
    assert len(Store.at("s").known()) == 1
    monkeypatch.setattr(consent, "_state", consent._State())
    with pytest.raises(ScenarioError, match=REFUSED):
        api.extend(Store.at("s"), seeds=2)
    assert len(Store.at("s").known()) == 1
    api.extend(Store.at("s"), seeds=2, allow_code=True)
    assert len(Store.at("s").known()) == 2


def test_permission_is_for_the_code_and_not_for_its_name(
    tmp_path: Path, ran: Callable[[], bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Scenario.load("x.toml", allow_code=True)
    Scenario.load("x.toml")
    (tmp_path / "evil.py").write_text((tmp_path / "evil.py").read_text() + "changed = True\n")
    with pytest.raises(ScenarioError, match=REFUSED):
        Scenario.load("x.toml")


def test_a_compiled_file_beside_the_source_is_not_what_was_allowed(
    tmp_path: Path, ran: Callable[[], bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python takes a file of ``__pycache__`` for the source whose time and size it names."""
    import py_compile

    (tmp_path / "lab").mkdir()
    (tmp_path / "lab/__init__.py").touch()
    bad, mine = CLASS.format(place=str(tmp_path)), tmp_path / "lab/mine.py"
    base = "class Base:\n" + "".join(f"    def {name}(self, _): pass\n" for name in ("on_ack", "on_loss", "on_timeout"))
    good = {"base.py": base, "mine.py": "from .base import Base\nclass Mine(Base): pass\n"}
    for name, text in good.items():
        path = tmp_path / "lab" / name
        size = max(len(text), len(bad))
        path.write_text(bad.ljust(size, "\n"))
        os.utime(path, (1e9, 1e9))
        py_compile.compile(str(path))
        path.write_text(text.ljust(size, "\n"))
        os.utime(path, (1e9, 1e9))
    monkeypatch.chdir(tmp_path)
    Scenario.load("dumbbell").with_controller(f"{mine}:Mine")
    assert not ran()


def test_a_flow_list_names_a_class_too(incast: Command, tmp_path: Path, ran: Callable[[], bool]) -> None:
    (tmp_path / "flows.csv").write_text("start,source,destination,size,controller\n0s,0,2,10kB,evil.py:Mine\n")
    (tmp_path / "list.toml").write_text(
        re.sub(r"(?ms)^\[\[traffic\]\].*", "", (tmp_path / "x.toml").read_text()).replace("evil.py:Mine", "dctcp")
        + "[[traffic]]\npattern = 'file'\nfile = 'flows.csv'\napp = { kind = 'bulk' }\n"
    )
    incast("run", "list.toml").refused("evil.py", REFUSED)
    assert not ran()
    assert incast("run", "list.toml", "--allow-code").status == 0 and ran()
    assert Scenario.load(tmp_path / "list.toml").name == "list", "the list is read when the run is built"


LISTED: dict[str, Callable[[Scenario], object]] = {
    "hash": lambda one: one.hash,
    "threads": lambda one: one.threads,
    "timeline_cost": Scenario.timeline_cost,
    "without_timeline": Scenario.without_timeline,
    "memory": Scenario.memory,
    "toml": Scenario.toml,
    "resolved": Scenario.resolved,
    "validate": Scenario.validate,
    "governing": Scenario.governing,
    "notes": Scenario.notes,
    "with_seed": lambda one: one.with_seed(2).validate(),
    "with_": lambda one: one.with_({"run.duration": "1ms"}).validate(),
    "run": Scenario.run,
    "evaluate": lambda one: evaluate(one, [1, 2], workers=2),
    "ideal_fct": model.ideal_fct,
    "fair_share": model.fair_share,
    "episode": lambda one: Episode(one, step_s=1.0).advance(),
}
"""Whatever looks at a scenario: the list that it names is read by each anew."""


@pytest.mark.parametrize("what", LISTED)
def test_what_was_allowed_once_is_allowed_to_all_that_looks_at_the_scenario(
    tmp_path: Path, ran: Callable[[], bool], monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    (tmp_path / "flows.csv").write_text("start,source,destination,size,controller\n0s,0,2,10kB,evil.py:Mine\n")
    (tmp_path / "list.toml").write_text(
        re.sub(r"(?ms)^\[\[traffic\]\].*", "", (tmp_path / "x.toml").read_text()).replace("evil.py:Mine", "dctcp")
        + "[[traffic]]\npattern = 'file'\nfile = 'flows.csv'\napp = { kind = 'bulk' }\n"
    )
    monkeypatch.chdir(tmp_path)
    LISTED[what](Scenario.load("list.toml", allow_code=True))
    monkeypatch.setattr(consent, "_state", consent._State())
    if what in ("governing", "validate", "run", "ideal_fct", "episode"):
        with pytest.raises(ScenarioError, match=REFUSED):
            LISTED[what](Scenario.load("list.toml"))


@pytest.mark.extended(part="python")
def test_a_paper_asks_and_its_report_does_not(incast: Command, paper: Path, ran: Callable[[], bool]) -> None:
    text = (paper / "fig1.toml").read_text()
    (paper / "fig1.toml").write_text(re.sub(r"(?m)^controller = .*", 'controller = "evil.py:Mine"', text))
    (paper / "fig1.toml").write_text((paper / "fig1.toml").read_text().replace('"20ms"', '"7ms"'))
    words = ("./small", "--seeds", "1", "--out", "p")
    incast("paper", "run", *words).refused("evil.py", REFUSED, "fig1.toml")
    assert incast("paper", "list", "./small").status == 0 and not ran()
    assert incast("paper", "run", *words, "--allow-code").status == 0 and ran()
    answer = incast("paper", "report", *words)
    assert answer.status == 0 and "not tried" not in answer.err and not ran()


def test_a_tuning_file_asks(incast: Command, tmp_path: Path, ran: Callable[[], bool]) -> None:
    for name, what in (("tune", "objectives = { 'flows.jain' = 'max' }"), ("sensitivity", "figures = ['flows.jain']")):
        (tmp_path / f"{name}.toml").write_text(
            "scenario = 'x.toml'\nseeds = 2\n[axes]\n'queue.limit' = { from = 10, to = 20, whole = true }\n"
            f"[{name}]\n{what}\n"
        )
        incast(name, f"{name}.toml").refused("evil.py", REFUSED)
    assert not ran()


@pytest.mark.slow("runs and comparisons of a class, each by processes of its own")
def test_what_makes_no_runs_looks_at_no_class(incast: Command, ran: Callable[[], bool]) -> None:
    """A closed form of a scenario needs none, and its report is that of runs that are there."""
    assert incast("model", "fair-share", "x.toml").status == 0 and not ran()
    short = ("--seeds", "1", "--cc", "dctcp", "--cc", "swift", "-q", "--out", "c")
    assert incast("compare", "x.toml", *short, "--allow-code").status == 0 and ran()
    assert incast("report", "c", "-q").status == 0 and not ran()


def asked_at_a_terminal(words: list[str], cwd: Path, said: str) -> tuple[int, str]:
    """Run a command whose input and errors are a terminal; say something when it asks."""
    child, here = pty.openpty()
    process = subprocess.Popen(command(words), cwd=cwd, env=environment(), preexec_fn=lambda: os.login_tty(here))
    os.close(here)
    told, until = b"", time.monotonic() + 60
    while time.monotonic() < until:
        if select.select([child], [], [], 0.1)[0]:
            try:
                told += os.read(child, 65536)
            except OSError:
                break
            if b"[y/N]" in told and said:
                os.write(child, said.encode())
                said = ""
        elif process.poll() is not None:
            break
    status = process.wait(timeout=60)
    os.close(child)
    return status, told.decode()


@pytest.mark.parametrize(("said", "status"), [("y\n", 0), ("\n", 2), ("\x03", 130)])
def test_a_terminal_is_asked_and_the_answer_is_no_unless_it_is_yes(
    tmp_path: Path, ran: Callable[[], bool], said: str, status: int
) -> None:
    """Two processes with the program's whole start."""
    found, told = asked_at_a_terminal(["run", "x.toml", "--out", "r"], tmp_path, said)
    assert found == status, told
    assert f"class Mine of {tmp_path.resolve()}/evil.py, which x.toml (controller) names" in " ".join(told.split())
    assert told.count("[y/N]") == 1
    assert ran() == (status == 0) == (tmp_path / "r").exists()


GRANTS = {
    "runs/scenario.py": {"with_", "with_controller"},
    "comparisons/coexistence.py": {"parse"},
    "commands/kinds.py": {"description"},
    "comparisons/declaration.py": {"parse"},
    "comparisons/grid.py": {"of"},
    "study/definition.py": {"extended"},
    "study/api.py": {"_check"},
    "commands/options.py": {"settings", "allow"},
    "commands/paper.py": {"changed"},
    "commands/study.py": {"work", "_grown"},
    "batch/__main__.py": {"main"},
    "batch/rays.py": {"__init__"},
    "study/inputs.py": {"_controller_kept"},
    "external/consent.py": {"grant"},
}
"""Functions that give permission: to what a command line or a call names, to a worker, and to a copy."""
PERMISSIONS = {"grant", "allow", "allow_everything", "inherit"}
IMPORTS = {
    "__init__.py": {"__getattr__"},
    "runs/result.py": {"needed"},
    "controllers.py": {"_imported", "_by_itself", "_of_package"},
}
"""Functions that import a module whose name they are told: of this package, or behind the permission."""
FROM_FILES = {"commands/run.py", "commands/model.py", "learn/environments.py"}
"""Files that change a scenario by words of a command line or a call; others have words of files."""


@pytest.mark.slow("reads every file of the package")
def test_there_is_one_way_to_import_what_a_file_names() -> None:
    """New code that imports by name, unpickles, or gives permission needs a review: this list has the known places."""
    names = {"import_module", "__import__", "exec_module", "module_from_spec", "run_path", "run_module", "load_module"}
    for path in sorted((ROOT / "python/incast").rglob("*.py")):
        place = path.relative_to(ROOT / "python/incast").as_posix()
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for one in ast.walk(tree):
            modules = [one.module or ""] if isinstance(one, ast.ImportFrom) else []
            modules += [alias.name for alias in one.names] if isinstance(one, ast.Import) else []
            assert not {"pickle", "shelve", "marshal", "dill", "cloudpickle", "runpy", "yaml"} & set(modules), place
        for owner, call in _calls(tree):
            called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
            if called in names:
                assert owner in IMPORTS.get(place, ()), (place, owner)
            bare = isinstance(call.func, ast.Name) and called in ("eval", "exec", "compile")
            assert not bare, (place, owner)
            of_consent = isinstance(call.func, ast.Attribute) and getattr(call.func.value, "id", "") == "consent"
            if called == "grant" or (called in PERMISSIONS and (of_consent or place == "external/consent.py")):
                assert owner in GRANTS.get(place, ()), (place, owner)
            if called in ("with_", "with_controller") and place != "runs/scenario.py":
                assert place in FROM_FILES, f"{place}: {owner}: what a file says is applied by changed()"
        if place != "external/consent.py":
            touched = {one.attr for one in ast.walk(tree) if isinstance(one, ast.Attribute)}
            assert not {"_state", "_allowing", "EVERYTHING"} & touched, place
            imports = [one.module for one in ast.walk(tree) if isinstance(one, ast.ImportFrom)]
            from_it = "incast.external.consent" in imports
            assert not from_it, f"{place}: functions of consent are called by its name, which is looked for here"


def _calls(tree: ast.AST, owner: str = "") -> Iterator[tuple[str, ast.Call]]:
    """Give all calls, each with the function in which it stands; none where it stands in none."""
    for one in ast.iter_child_nodes(tree):
        if isinstance(one, ast.Call):
            yield owner, one
        named = isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))
        yield from _calls(one, one.name if named else owner)


PROMISE = (
    "\n    def on_ack(self, ack): pass\n    def on_loss(self, event): pass\n    def on_timeout(self, event): pass\n"
)


def lab(folder: Path) -> Path:
    """Write a package of a module and a class that needs it."""
    (folder / "lab").mkdir()
    (folder / "lab/__init__.py").touch()
    (folder / "lab/base.py").write_text(f"class Base:{PROMISE}")
    (folder / "lab/mine.py").write_text("from .base import Base\nclass Mine(Base): pass\n")
    return folder / "lab"


@pytest.mark.parametrize("changed", ["mine.py", "lab/mine.py", "lab/base.py", "lab/new.py"])
def test_a_file_that_changes_after_the_question_is_not_run(
    tmp_path: Path, ran: Callable[[], bool], monkeypatch: pytest.MonkeyPatch, changed: str
) -> None:
    """Whoever sent the file may replace it while the user reads the question; its time and size stay."""
    monkeypatch.chdir(tmp_path)
    lab(tmp_path)
    (tmp_path / "mine.py").write_text(f"class Mine:{PROMISE}")
    bad = (tmp_path / "evil.py").read_text() + ("class Base(Mine): pass\n" if "base" in changed else "")
    target = tmp_path / changed
    if changed == "lab/new.py":
        (tmp_path / "lab/mine.py").write_text(
            "try:\n    from .new import Mine\nexcept ImportError:\n    from .base import Base as Mine\n"
        )
    elif len(bad) > target.stat().st_size:
        target.write_text(target.read_text().ljust(len(bad), "\n"))
    name = changed if changed == "mine.py" else "lab/mine.py"
    own_code.locate(name)

    def answers(_: str) -> bool:
        told = target.stat() if target.exists() else None
        target.write_text(bad)
        if told is not None:
            target.write_text(bad.ljust(told.st_size, "\n"))
            os.utime(target, ns=(told.st_atime_ns, told.st_mtime_ns))
        return True

    consent.asks(answers, lambda _: None)
    text = (tmp_path / "x.toml").read_text().replace("evil.py:Mine", f"{name}:Mine")
    with pytest.raises(ScenarioError, match=r"has changed since it was allowed|does not belong to the package"):
        Scenario.from_toml(text)
    assert not ran()


def test_a_copy_that_is_not_what_was_asked_for_is_not_run(
    tmp_path: Path, ran: Callable[[], bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lab(tmp_path)
    (tmp_path / "mine.py").write_text(f"class Mine:{PROMISE}")
    for name in ("mine.py", "lab/mine.py"):
        store = Store.make(tmp_path / f"store-{len(name)}")
        own = consent.permit

        def permit(code: own_code.Code, *words: str, file: str = name, asked: Callable[..., bool] = own) -> bool:
            found = asked(code, *words)
            (tmp_path / file).write_text((tmp_path / "evil.py").read_text())
            return found

        monkeypatch.setattr(consent, "permit", permit)
        consent.allow(own_code.locate(name))
        with pytest.raises(StudyError, match="changed while it was copied: run the command again"):
            inputs._controller_kept(store, f"{name}:Mine", tmp_path)
        monkeypatch.setattr(consent, "permit", own)
    assert not ran()


def test_a_package_ends_where_a_store_or_a_link_begins(
    tmp_path: Path, ran: Callable[[], bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store in a folder of work is no part of the code: it was asked for again after each study."""
    monkeypatch.chdir(tmp_path)
    before = own_code.locate(str(lab(tmp_path) / "mine.py"))
    (tmp_path / "elsewhere").mkdir()
    shutil.copy(tmp_path / "evil.py", tmp_path / "elsewhere/evil.py")
    Store.make(tmp_path / "lab/results")
    (tmp_path / "lab/results/files").mkdir()
    shutil.copy(tmp_path / "evil.py", tmp_path / "lab/results/files/evil.py")
    (tmp_path / "lab/link").symlink_to(tmp_path / "elsewhere")
    assert own_code.locate("lab/mine.py").digest == before.digest
    for module in (".results.files.evil", ".link.evil"):
        (tmp_path / "lab/mine.py").write_text(f"from {module} import Mine\n")
        with pytest.raises(ScenarioError, match=r"evil.py does not belong to the package"):
            Scenario.load("dumbbell").with_controller("lab/mine.py:Mine")
    assert not ran()


@pytest.mark.parametrize("kind", ["pipe", "endless", "huge", "many"])
@pytest.mark.parametrize("place", ["mine.py", "lab/other.py"])
def test_code_is_read_within_bounds_before_anybody_has_allowed_it(
    incast: Command, tmp_path: Path, ran: Callable[[], bool], kind: str, place: str
) -> None:
    """A file that was sent has no size that one may trust; a pipe would be waited for."""
    lab(tmp_path)
    path = tmp_path / place
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "endless":
            path.symlink_to("/dev/zero")
        case "huge":
            path.touch()
            os.truncate(path, 100 << 30)
        case "many":
            for number in range(own_code.MOST_MODULES if place != "mine.py" else 0):
                (tmp_path / f"lab/m{number}.py").touch()
    name = "mine.py" if place == "mine.py" else "lab/mine.py"
    (tmp_path / "x.toml").write_text((tmp_path / "x.toml").read_text().replace("evil.py", name))
    (tmp_path / "study.toml").write_text(f"scenario = 'dumbbell'\n{SHORT}[arms]\nmine = '{name}:Mine'\n")
    told = {"huge": "16.8 MB", "many": "2,000 modules"}.get(kind, "expected a plain file")
    expected = "no file" if place == "mine.py" and kind != "huge" else told
    incast("run", "x.toml", "--out", "r").refused(expected, "mine.py" if place == "mine.py" else "lab")
    answer = incast("study", "run", "study.toml", "--dry-run", "--store", "s")
    assert answer.status == 2 and "Traceback" not in answer.err, (answer.status, answer.out, answer.err)
    assert not (tmp_path / "s").exists() and not ran()


def test_a_question_is_a_sentence(ran: Callable[[], bool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.chdir(tmp_path)
    consent.asks(lambda what: bool(asked.append(what)), lambda _: None)
    code = own_code.locate("evil.py")
    with pytest.raises(ScenarioError, match=r"evil\.py is a program that would run"):
        consent.permit(code, "evil.py:Mine", "controller")
    with pytest.raises(ScenarioError, match=r"which x\.toml \(controller\) names, is a program"):
        Scenario.load("x.toml")
    assert [what[-1] for what in asked[:2]] == ["y", ","]


def test_a_worker_asks_nobody(ran: Callable[[], bool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A part of an array may have a terminal: who submitted it was asked."""
    from incast.commands import options, study

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(options, "allow", lambda _: consent.asks(lambda _: True, lambda _: None))
    monkeypatch.setattr(study, "allow", options.allow)
    with pytest.raises(IncastError):
        study.work(tmp_path / "no store", 0, 1)
    with pytest.raises(ScenarioError, match=REFUSED):
        Scenario.load("x.toml")
    assert consent._state.ask is None and not ran()


def test_a_question_takes_away_what_shows_that_work_is_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bar would be drawn over it while the user reads."""
    told = io.StringIO()
    console = Console(file=told, force_terminal=True, width=80)
    monkeypatch.setattr(progress, "PATIENCE_S", 0.0)
    with progress.of_wait(console, "reading", quiet=False):
        until = time.monotonic() + 5
        while "reading" not in told.getvalue() and time.monotonic() < until:
            time.sleep(0.01)
        progress.clear()
        there = told.getvalue()
        time.sleep(0.3)  # a bar is drawn ten times a second
        assert told.getvalue() == there
    assert "reading" in there
