"""Controllers that a user writes in Python."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, get_args, get_type_hints

import pytest

from conftest import ROOT, Command, command, environment
from incast import ControllerError, Result, Scenario, ScenarioError, controllers
from incast.comparisons.declaration import Controller

PAGE = (ROOT / "docs/controllers/python.md").read_text(encoding="utf-8")
AIMD, SWIFT = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
SHORT = {"run.duration": "20ms", "run.warmup": "1ms"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder, and leave no modules of it behind."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    known = set(sys.modules)
    yield tmp_path  # type: ignore[misc]
    for name in set(sys.modules) - known:
        del sys.modules[name]


def wrote(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return name


def ran(controller: str | type, name: str = "two-senders", **changes: Any) -> Result:
    return Scenario.load(name).with_(SHORT | changes).with_controller(controller).run()


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("two-senders", {}),
        ("permutation", {"run.duration": "1ms", "run.warmup": "0s", "traffic.app.size": "300kB"}),
        # windows below one packet, losses and timeouts
        (
            "random-hotspot",
            {
                "run.duration": "40ms",
                "traffic.flows": 60,
                "queue.limit": "12p",
                "queue.mark": "12p",
                "transport.rto_min": "1ms",
            },
        ),
    ],
)
def test_the_example_gives_the_bytes_of_the_built_in_swift(folder: Path, name: str, changes: dict[str, Any]) -> None:
    own = wrote(folder, "mine.py", SWIFT)
    ours, theirs = (ran(cc, name, **changes) for cc in (f"{own}:SwiftFabric", "swift"))
    for table in ("flows", "ports"):
        mine, other = getattr(ours, table), getattr(theirs, table)
        assert mine.num_rows > 1
        for column in mine.column_names:
            assert column == "controller" or mine[column].equals(other[column]), column
    if name == "random-hotspot":
        assert ours.summary["flows"]["timeouts"] > 0
        assert ours.summary["flows"]["retransmissions"] > 0


def test_a_class_is_named_by_a_file_a_file_of_a_package_or_itself(folder: Path) -> None:
    wrote(folder, "aimd.py", AIMD)
    by_file = ran("aimd.py:Aimd:a=2,b=0.7")
    (folder / "lab/deep").mkdir(parents=True)
    for name in ("lab/__init__.py", "lab/deep/__init__.py"):
        wrote(folder, name, "")
    wrote(folder, "lab/base.py", AIMD)
    for number, imported in enumerate(("from ..base import Aimd", "from lab.base import Aimd", "import lab.base")):
        text = f"{imported}\nclass Own({'lab.base.Aimd' if number == 2 else 'Aimd'}): pass\n"
        in_package = ran(f"{wrote(folder, f'lab/deep/mine{number}.py', text)}:Own:a=2,b=0.7")
        assert by_file.flows["delivered_bytes"].equals(in_package.flows["delivered_bytes"]), imported
    assert by_file.flows["controller"].to_pylist() == ["aimd.py:Aimd:a=2,b=0.7"] * 2
    assert ran("aimd.py:Aimd").flows["delivered_bytes"] != by_file.flows["delivered_bytes"]
    taken, *_ = [m for m in sys.modules.values() if getattr(m, "__file__", "") == str(folder / "aimd.py")]
    by_class = ran(taken.Aimd)
    assert by_class.flows["delivered_bytes"].equals(ran("aimd.py:Aimd").flows["delivered_bytes"])


def test_it_runs_beside_built_in_ones_and_shows_its_state(folder: Path) -> None:
    own = wrote(folder, "aimd.py", AIMD)
    entry = {"name": "own", "pattern": "file", "file": "flows.csv"}
    wrote(folder, "flows.csv", f"start,source,destination,size,controller\n0s,0,2,1MB,{own}:Aimd\n0s,1,2,1MB,dctcp\n")
    text = f"""
[run]
duration = "2s"
[topology]
kind = "star"
sources = 2
source_link = {{ rate = "1Gbps", delay = "10us" }}
sink_link = {{ rate = "1Gbps", delay = "10us" }}
[queue]
kind = "drop-tail"
limit = "8p"
[measure.series]
flows = [0]
[[traffic]]
name = "{entry["name"]}"
pattern = "file"
file = "flows.csv"
"""
    result = Scenario.from_toml(text, origin=folder).run()
    assert result.flows["controller"].to_pylist() == [f"{own}:Aimd", "dctcp"]
    assert result.summary["flows"]["finished"] == 2
    rows = zip(result.samples["name"].to_pylist(), result.samples["value"].to_pylist(), strict=True)
    assert max(value for name, value in rows if name == "cuts") >= 1


def test_threads_that_it_keeps_a_run_from_are_noted() -> None:
    """Objects of a Python controller may share state, so the run has one thread."""
    scenario = Scenario.load("two-senders").with_(SHORT).with_controller(Counting)
    assert not [note for note in scenario.notes() if "threads" in note]
    (note,) = [note for note in scenario.with_({"run.threads": 4}).notes() if "threads" in note]
    assert note.startswith("run.threads = 4 does nothing") and "the run has one thread" in note
    assert scenario.with_({"run.threads": 4}).run().cost["threads"] == 1


class Counting:
    """Notes the calls that an object gets."""

    calls: ClassVar[list[tuple[str, int]]] = []
    ack_every_packet = True

    def init(self, env: controllers.Env) -> None:
        assert (env.mss, env.base_rtt_ps > 0, env.line_rate_bps) == (1448, True, 10e9)
        self.flow = env.flow

    def note(self, name: str) -> None:
        if self.flow == 0:
            self.calls.append((name, int(self.cwnd)))  # type: ignore[attr-defined]

    def on_ack(self, ack: controllers.Ack) -> None:
        assert ack.fabric_delay_ps == ack.rtt_ps
        assert ack.endpoint_delay_ps == (0 if ack.rtt_ps else None)
        self.note("ack")

    def on_loss(self, event: controllers.Congestion) -> None:
        assert event.srtt_ps and event.consecutive == 0
        self.cwnd = 10.0 * 1448
        self.note("loss")

    def on_timeout(self, event: controllers.Congestion) -> None:
        assert event.srtt_ps is None and event.consecutive >= 1
        self.note("timeout")

    def on_recovered(self, now_ps: int) -> None:
        assert now_ps > 0
        self.note("recovered")


CROWDED = {
    "queue.limit": "30p",
    "queue.mark": "30p",
    "queue.device": 0,
    "queue.host": {"kind": "drop-tail", "limit": "1000p"},
    "transport.initial_window": 50,
}


def test_calls_come_in_the_order_of_the_simulation_and_repeat() -> None:
    found = []
    for _ in range(2):
        Counting.calls = []
        ran(Counting, **CROWDED)
        found.append(Counting.calls)
    names = [name for name, _ in found[0]]
    assert {"ack", "loss", "recovered"} <= set(names)
    assert names.index("loss") < names.index("recovered")
    assert found[0] == found[1]
    # until then the window stays the initial one
    windows = [window for _, window in found[0]]
    cut = names.index("loss")
    assert (set(windows[:cut]), set(windows[cut:])) == ({50 * 1448}, {10 * 1448})


class Following(Counting):
    """Counts the bytes lost, and the round trips by the two counts that an ACK has of the flow."""

    flows: ClassVar[list[Following]] = []

    def init(self, env: controllers.Env) -> None:
        self.lost, self.rounds, self.end, self.acked = 0, 0, 0, 0
        self.flow = env.flow
        self.flows.append(self)

    def on_ack(self, ack: controllers.Ack) -> None:
        assert self.acked + ack.acked == ack.round_acked <= ack.round_sent
        assert (ack.una, ack.nxt) == (ack.round_acked, ack.round_sent)
        self.lost += ack.lost_bytes
        self.acked = ack.round_acked
        if ack.round_acked > self.end:
            self.rounds, self.end = self.rounds + 1, ack.round_sent


def test_an_acknowledgement_tells_what_was_lost_and_how_far_the_flow_is() -> None:
    Following.flows = []
    result = ran(Following, **CROWDED, **{"run.warmup": "0s"})
    # the other flow loses a retransmission and waits for its timeout
    cc = next(cc for cc in Following.flows if cc.flow == 0)
    flow = result.flows.to_pylist()[0]
    # what was lost was sent again, segment by segment; the last of a write may be a short one
    assert flow["retransmissions"] > 10
    assert 1448 * (flow["retransmissions"] - 1) < cc.lost <= 1448 * flow["retransmissions"]
    # a round trip lasts from the ACK that begins it to the first for something sent after it
    assert cc.rounds == pytest.approx(0.02 / flow["rtt_mean_s"], rel=0.02)


class Told(Counting):
    """Keeps what each call tells it."""

    objects: ClassVar[list[Any]] = []

    def init(self, env: controllers.Env) -> None:
        super().init(env)
        self.objects.append(env)

    def on_ack(self, ack: controllers.Ack) -> None:
        self.objects.append(ack)

    def on_loss(self, event: controllers.Congestion) -> None:
        super().on_loss(event)
        self.objects.append(event)

    def on_timeout(self, event: controllers.Congestion) -> None:
        self.objects.append(event)


@pytest.mark.parametrize(("name", "older"), [("Env", ()), ("Ack", ("una", "nxt")), ("Congestion", ())])
def test_a_call_tells_what_its_protocol_and_the_page_say(name: str, older: tuple[str, ...]) -> None:
    hints = get_type_hints(getattr(controllers, name))
    row = re.search(rf"^\| `{'event' if name == 'Congestion' else name.lower()}` \| `([\w ]+)`", PAGE, re.MULTILINE)
    assert row is not None
    assert row[1].split() == [attribute for attribute in hints if attribute not in older]
    Told.objects = []
    ran(Told, **CROWDED, **{"transport.rto_min": "1ms", "transport.timestamps": False})
    objects = [told for told in Told.objects if type(told).__name__ == name]
    assert all({attribute for attribute in dir(told) if attribute[0] != "_"} == set(hints) for told in objects)
    for attribute, hint in hints.items():
        assert {type(getattr(told, attribute)) for told in objects} == set(get_args(hint) or (hint,)), attribute


def failing(what: Callable[[Any], None]) -> type:
    class Failing:
        def on_ack(self, ack: controllers.Ack) -> None:
            if ack.now_ps > 5_000_000_000:
                what(self)

        def on_loss(self, event: controllers.Congestion) -> None: ...

        def on_timeout(self, event: controllers.Congestion) -> None: ...

    return Failing


def test_an_exception_stops_the_run_with_its_cause_its_flow_and_its_time() -> None:
    def fail(_: Any) -> None:
        raise ValueError("no idea")

    with pytest.raises(
        ControllerError, match=r"Failing failed in flow [01] at 500\d\.\d{4} us: ValueError: no idea"
    ) as error:
        ran(failing(fail))
    cause = error.value.__cause__
    assert isinstance(cause, ValueError)
    assert cause.__traceback__ is not None
    with pytest.raises(ControllerError) as again:
        ran(failing(fail))
    assert str(again.value) == str(error.value)
    # whichever part of the fabric is simulated first: the error is the first in simulated time
    for domains in ("node", "one"):
        with pytest.raises(ControllerError) as other:
            ran(failing(fail), **{"run.domains": domains})
        assert str(other.value) == str(error.value), domains


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("cwnd", -1.0, "cwnd is -1; expected a number of bytes above 0"),
        ("cwnd", float("nan"), "cwnd is NaN; expected a number of bytes above 0"),
        ("cwnd", "many", "TypeError"),
        ("pacing_rate_bps", -5.0, "pacing_rate_bps is -5; expected a number above 0, or None for no pacing"),
        ("pacing_rate_bps", 0.0, "pacing_rate_bps is 0; expected a number above 0, or None for no pacing"),
        ("pacing_gap_ps", float("inf"), "pacing_gap_ps is inf; expected a number of at least 0"),
    ],
)
def test_what_an_object_leaves_must_be_a_window(name: str, value: object, message: str) -> None:
    with pytest.raises(ControllerError, match=re.escape(message)):
        ran(failing(lambda own: setattr(own, name, value)))


def test_a_traced_attribute_must_be_there_and_a_number() -> None:
    for state, value, message in (("alfa", 0.5, "has no attribute 'alfa'"), ("alpha", "much", "TypeError")):
        traced = failing(lambda _: None)
        traced.state, traced.alpha = (state,), value  # type: ignore[attr-defined]
        with pytest.raises(ControllerError, match=message):
            ran(traced)
    traced.alpha = None  # type: ignore[attr-defined]
    assert ran(traced).summary["flows"]["count"] == 2, "not known yet"


def test_pacing_holds_packets_back() -> None:
    class Paced:
        cwnd = 200_000.0
        own_recovery = True
        ack_every_packet = True

        def on_ack(self, ack: controllers.Ack) -> None: ...

        def on_loss(self, event: controllers.Congestion) -> None: ...

        def on_timeout(self, event: controllers.Congestion) -> None: ...

    def rate() -> float:
        found = ran(Paced).summary["flows"]["throughput_mean_bps"]
        assert isinstance(found, float)
        return found

    free = rate()
    Paced.pacing_rate_bps = 1e9  # type: ignore[attr-defined]
    assert rate() == pytest.approx(1e9, rel=0.01)
    Paced.pacing_rate_bps = None  # type: ignore[attr-defined]
    Paced.pacing_gap_ps = 100_000_000  # type: ignore[attr-defined]
    assert rate() == pytest.approx(1448 * 8 / 100e-6, rel=0.01)
    assert free > 4e9


@pytest.mark.parametrize(
    ("controller", "message"),
    [
        ("half.py:Half", "the class Half has no on_loss and on_timeout; expected on_ack, on_loss and on_timeout"),
        ("half.py:Nope", "half.py has no Nope; expected a class of that name"),
        ("half.py:word", "word of half.py is not a class"),
        ("half.py:Odd", "Odd.ecn = 'yes': expected off, classic or dctcp"),
        ("half.py:Text", "Text.state = 'alpha': expected names of attributes"),
        ("half.py:Whole:q=3", "got an unexpected keyword argument 'q'; the parameters are arguments of Whole.__init__"),
        ("half.py:Whole:", "expected key=value after the colon, or no colon"),
        ("missing.py:Whole", "no file"),
        ("missing:Whole", "no module missing of an installed package; expected a file such as missing.py"),
        ("broken.py:Whole", "SyntaxError"),
    ],
)
def test_mistakes_name_what_was_expected(folder: Path, controller: str, message: str) -> None:
    wrote(folder, "broken.py", "def x(:\n")
    wrote(
        folder,
        "half.py",
        """
word = 3
class Half:
    def on_ack(self, ack): pass
class Whole(Half):
    def on_loss(self, event): pass
    def on_timeout(self, event): pass
class Odd(Whole):
    ecn = "yes"
class Text(Whole):
    state = "alpha"
""",
    )
    with pytest.raises(ScenarioError, match=re.escape(message)):
        Scenario.load("two-senders").with_controller(controller)


def test_a_resolved_scenario_is_refused_with_other_code(folder: Path) -> None:
    wrote(folder, "aimd.py", AIMD)
    scenario = Scenario.load("two-senders").with_(SHORT).with_controller("aimd.py:Aimd:a=2")
    text, digest = scenario.toml(), scenario.hash
    assert Scenario.from_toml(text, origin=folder).run().summary_json == scenario.run().summary_json
    wrote(folder, "aimd.py", AIMD.replace("b=0.5", "b=0.6"))
    assert scenario.hash != digest
    with pytest.raises(
        ScenarioError, match=r"controller.source = \"[0-9a-f]{16}\": the code of aimd.py:Aimd has changed"
    ):
        Scenario.from_toml(text, origin=folder).validate()


@pytest.mark.extended(part="python")
def test_the_program_takes_it_too(folder: Path, incast: Command) -> None:
    wrote(folder, "aimd.py", AIMD)
    sets = [word for key, value in SHORT.items() for word in ("--set", f"{key}={value}")]
    done = incast(
        "compare",
        "hotspot",
        "--cc",
        "dctcp",
        "--cc",
        "aimd.py:Aimd:a=2,b=0.7",
        "--vary",
        "traffic.flows=4",
        *sets,
        "--out",
        "r",
        cwd=folder,
    )
    assert done.status == 0, done.err
    assert "Aimd a=2 b=0.7" in done.out
    told = incast("describe", "controller", "aimd.py:Aimd", cwd=folder)
    assert "Adds `a` segments a round trip" in told.out
    assert "  b=0.5" in told.out
    wrote(folder, "bad.py", AIMD.replace("self.cuts += 1", "self.cuts += 1 / 0"))
    done = incast(
        "run",
        "two-senders",
        "--set",
        "controller=bad.py:Aimd",
        "--set",
        "queue.limit=9p",
        "--set",
        "queue.mark=9p",
        *sets,
        "--out",
        "b",
        cwd=folder,
    )
    assert done.status == 1
    assert 'bad.py", line' in done.err
    assert "ZeroDivisionError" in done.err
    assert "error: bad.py:Aimd failed in flow" in done.err
    assert not (folder / "b").exists()


def test_names_and_parameters_are_told_apart() -> None:
    own = Controller("lib/mine.py:My:gain=2,word=tight")
    assert (own.kind, own.parameters, own.label) == (
        "lib/mine.py:My",
        {"gain": "2", "word": "tight"},
        "My gain=2 tight",
    )
    assert Controller("a.b:C").label == "C"
    assert Controller("swift:target=min-rtt").kind == "swift"
    assert [controllers.value(text) for text in ("2", "0.5", "true", "1us")] == [2, 0.5, True, "1us"]


def test_a_class_typed_in_has_a_fingerprint_of_its_code() -> None:
    def typed(gain: str) -> type:
        space: dict[str, Any] = {"__name__": "typed_in"}
        exec(f"class Typed:\n on_loss = on_timeout = on_ack = lambda self, event: {gain}\n", space)
        found: type = space["Typed"]
        return found

    def fingerprint(controller: type) -> str:
        return controllers.find(controllers.register(controller), [])[1]

    assert fingerprint(typed("1")) == fingerprint(typed("1")) != fingerprint(typed("2"))
    with pytest.raises(ScenarioError, match="expected a class"):
        controllers.register(typed("1")())


ENDLESS = """
class Endless:
    def on_ack(self, ack):
        open("working", "w").close()
        while True:
            pass

    def on_loss(self, event):
        pass

    on_timeout = on_loss
"""


@pytest.mark.slow("a process of its own, which loads the program")
@pytest.mark.parametrize(
    "words",
    [
        ("run", "two-senders", "--set", "controller=endless.py:Endless", "--out", "r"),
        pytest.param(
            ("compare", "two-senders", "--cc", "endless.py:Endless", "--cc", "dctcp", "--seeds", "1", "--out", "r"),
            marks=pytest.mark.extended(part="python"),
        ),
    ],
)
def test_ctrl_c_ends_a_run_whose_class_does_not_come_back(folder: Path, words: tuple[str, ...]) -> None:
    wrote(folder, "endless.py", ENDLESS)
    with subprocess.Popen(
        command(words), cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as program:
        for _ in range(600):
            if (folder / "working").exists():
                break
            time.sleep(0.1)
        program.send_signal(signal.SIGINT)
        _, told = program.communicate(timeout=60)
    assert program.returncode == 130, told
    again = "resume" if words[0] == "compare" else "restart"
    said = f"error: interrupted; no half-written result was left behind\n{again} with: incast {' '.join(words)}"
    assert told.strip().endswith(said), told
    assert "Traceback" not in told


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("import nosuchmodule", "line 1, in <module>"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
    ],
)
def test_what_fails_while_it_is_imported_comes_with_its_traceback(folder: Path, body: str, message: str) -> None:
    wrote(folder, "broken.py", body)
    with pytest.raises(ScenarioError, match=r"(?s)broken.py cannot be imported.*Traceback.*broken.py") as told:
        ran("broken.py:C")
    assert message in str(told.value)
    assert "importlib" not in str(told.value)


def test_methods_that_do_nothing_when_called_are_refused() -> None:
    class Later:
        async def on_ack(self, ack: Any) -> None: ...

        def on_loss(self, event: Any) -> None: ...

        on_timeout = on_loss

    with pytest.raises(ScenarioError, match="Later.on_ack does nothing when called: expected a plain method"):
        controllers.register(Later)

    class Wordy:
        own_recovery = "no"

        def on_ack(self, ack: Any) -> None: ...

        on_loss = on_timeout = on_ack

    with pytest.raises(ScenarioError, match="own_recovery = 'no': expected True or False"):
        controllers.register(Wordy)


def test_a_class_that_ends_the_program_is_a_class_that_fails(folder: Path, incast: Command) -> None:
    wrote(
        folder,
        "leaves.py",
        "import sys\nclass Leaves:\n def on_ack(self, ack): sys.exit()\n on_loss = on_timeout = on_ack\n",
    )
    for words in (
        ["run", "two-senders", "--set", "controller=leaves.py:Leaves", "--out", "r"],
        ["compare", "two-senders", "--cc", "leaves.py:Leaves", "--seeds", "1", "--out", "c"],
    ):
        answer = incast(*words, cwd=folder)
        assert answer.status == 1, (answer.out, answer.err)
        assert "leaves.py:Leaves failed in flow" in answer.err
        assert "SystemExit" in answer.err
    assert not (folder / "r").exists()
    wrote(folder, "gone.py", "import sys\nsys.exit()\n")
    answer = incast("run", "two-senders", "--set", "controller=gone.py:C", cwd=folder)
    assert (answer.status, answer.out) == (2, ""), answer.err
    assert "gone.py cannot be imported" in answer.err
    assert "SystemExit" in answer.err


def test_a_window_that_has_grown_without_a_bound_is_refused(folder: Path) -> None:
    class Endless:
        def on_ack(self, ack: Any) -> None:
            self.cwnd = 1e300 * ack.acked

        on_loss = on_timeout = on_ack

    with pytest.raises(ControllerError, match=r"cwnd is .*; expected a number of bytes above 0 and at most 1e15"):
        Scenario.load("two-senders").with_controller(Endless).run()
