"""Pauses of priority flow control explained: from a victim to the port that began it, and rings that never end."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pause_vectors
from conftest import Command
from incast import FolderError, IncastError, Result, Scenario
from incast.pauses import explained, record, telling, tree
from incast.pictures import deadlock, run_pictures
from pause_runs import CLASSES, TEXT, chain, ring, scenario, two


def read(result: Result) -> record.Record:
    known = record.of(result)
    assert known is not None
    return known


def down(known: record.Record, branch: tree.Branch) -> list[str]:
    """Names of the ports from a branch down, each the one for which the one above waited most."""
    names = [known.names[branch.port]]
    return names + (down(known, branch.branches[0]) if branch.branches else [])


def victim(known: record.Record) -> explained.Explanation:
    found = explained.victim(known)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("made", "flow", "path"),
    [(two, 2, ["h2>a", "a>b", "b>h3"]), (chain, 3, ["h4>a", "a>b", "b>c", "c>h3"])],
    ids=["two switches", "three switches"],
)
def test_the_tree_leads_from_a_victim_to_the_port_that_began_it(
    tmp_path: Path, made: object, flow: int, path: list[str]
) -> None:
    known = read(made(tmp_path).run())  # type: ignore[operator]
    found = victim(known)
    assert found.flow is not None and found.flow.number == flow and not found.crosses
    assert down(known, found.branches[0]) == path
    assert found.root is not None and known.names[found.root] == path[-1]
    assert found.arrivals is not None and found.arrivals.times == 5
    # times of roots and rings, and of what is left out, make up the whole
    assert sum(branch.waited_s for branch in found.branches) == pytest.approx(found.waited_s, rel=1e-9)
    assert 0.95 * found.waited_s < sum(found.roots.values()) <= found.waited_s * (1 + 1e-9)
    said = telling.sentence(known, found)
    assert f"the pauses began at {path[-1]}, which it does not cross" in said and "5 times its rate" in said


def test_a_flow_is_paused_as_long_as_some_port_of_its_path(tmp_path: Path) -> None:
    known = read(two(tmp_path).run())
    flow = explained.flow_of(known, 2)
    instants = [flow.start_s + (flow.end_s - flow.start_s) * (i + 0.5) / 20_000 for i in range(20_000)]
    spans = [(p.begin_s, p.end_s) for paused in known.of_flow(flow) for p in known.pauses[paused]]
    held = sum(any(begin <= at < end for begin, end in spans) for at in instants) / 20_000
    assert victim(known).waited_s == pytest.approx(held * (flow.end_s - flow.start_s), rel=2e-3)


def test_the_pauses_of_a_port_are_those_of_its_row(tmp_path: Path) -> None:
    result = chain(tmp_path).run()
    known = read(result)
    for row in result.ports.to_pylist():
        found = explained.of_port(known, explained.port_of(known, row["port"]))
        assert found.waited_s == pytest.approx(row["paused_s"], abs=1e-12)
        told = list(telling.lines(known, found))
        assert told == [f"The port {row['port']} was not paused."] or row["pauses"] > 0
        assert not row["pauses"] or f"The port {row['port']} was paused for " in told[0]


def test_pauses_of_another_class_do_not_hold_up_a_flow() -> None:
    known = read(Scenario.from_toml(CLASSES, name="classes").run())
    found = [explained.of_flow(known, flow) for flow in known.flows]
    assert {one.flow.entry for one in found if one.flow and one.waited_s > 0} == {"low"}
    told = list(telling.lines(known, found[0]))
    assert told[0].endswith(
        ", which it crosses itself: 5 flows from 3 hosts, whose links bring up to 3 times its rate."
    )
    # both share the host's port, and only one of its classes is paused
    assert known.classes[known.names.index("s0>left")] == [1]
    assert list(telling.lines(known, found[-1])) == ["The path of flow 4 (high, s2 to r2) was not paused."]


def test_links_of_sprayed_flows_are_those_into_the_switch() -> None:
    topology = """kind = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 4
link = { rate = "10Gbps", delay = "1us" }
"""
    head, _, rest = CLASSES.partition('kind = "dumbbell"')
    text = f"{head}{topology}{rest.partition('[queue]')[1]}{rest.partition('[queue]')[2]}"
    text = text.partition('[[traffic]]\nname = "high"')[0].replace("100kB", "300kB")
    text = text.replace('"r0"', '"h0"').replace("flows = 2", "flows = 7")
    known = read(Scenario.from_toml(f'{text}\n[routing]\nkind = "spray"\n', name="sprayed").run())
    found = explained.of_flow(known, explained.flow_of(known, 6))
    # links of three hosts at its switch and of two spines; six hosts send
    assert found.root is not None and known.names[found.root] == "leaf0>h0"
    assert found.arrivals == tree.Arrivals(flows=7, hosts=6, bring_bps=5e10, times=5)


def test_a_deadlock_is_told_as_a_ring(tmp_path: Path) -> None:
    known = read(ring(tmp_path).run())
    found = victim(known)
    names = [[known.names[port] for port in own] for own in found.rings]
    assert names == [["s0>s1", "s1>s2", "s2>s3", "s3>s4", "s4>s0"]]
    told = list(telling.lines(known, found))
    assert "wait for one another in a ring, a deadlock that never ends" in told[0]
    ring_told = told[told.index("deadlock, each port waits for the next:") + 1 :]
    assert [line[2:4] for line in ring_told] == ["┌▸", "│ ", "│ ", "│ ", "└─"]
    assert ring_told[-1] == "  └─ s4>s0, paused since 37.9 µs; 12 kB from it wait for s0>s1"
    assert any(branch.is_ring for top in found.branches for branch in top.all())
    document = json.loads(telling.as_json(known, found))
    assert [len(own) for own in document["deadlocks"]] == [5] and document["tree"][0]["causes"]


def test_a_deadlock_is_drawn_where_there_is_one(
    tmp_path: Path, incast: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_pictures, "PICTURES", {})
    dead = ring(tmp_path).run()
    dead.save(tmp_path / "run")
    assert run_pictures.draw(dead, tmp_path / "run") == (["deadlock.png"], [])
    figure = dead.plot("deadlock")
    words = [text.get_text() for text in figure.axes[0].texts]
    assert words[::2] == ["s0", "s1", "s2", "s3", "s4"] and set(words[1::2]) == {"12 kB\nsince 37.9 µs"}
    assert figure.get_suptitle() == "Deadlock since 37.9 µs: 5 ports in a ring"
    assert "incast plot run draws the ring" in incast("report", "run").out
    result = two(tmp_path).run()
    with pytest.raises(IncastError, match="the run has no ring of ports: no port is paused for good"):
        result.plot("deadlock")
    assert run_pictures.draw(result, tmp_path) == ([], [])
    unknown = ring(tmp_path).changed({"measure": "{}"}).run()
    with pytest.raises(IncastError, match=r"its ports recorded no pauses \(measure.pauses\)"):
        unknown.plot("deadlock")


@pytest.mark.parametrize("count", [1, 2, 3, 12, 40])
def test_the_arrows_of_a_ring_go_once_round_and_leave_room_for_its_switches(count: int) -> None:
    found = deadlock.arcs(count)
    assert len(found) == count and all(arc.begin < arc.middle < arc.end for arc in found)
    gaps = [after.begin - arc.end for arc, after in itertools.pairwise([*found, deadlock.Arc(360 + found[0].begin, 0)])]
    assert min(gaps) > 0 and sum(gaps) + sum(arc.end - arc.begin for arc in found) == pytest.approx(360)


def test_a_record_that_ends_before_a_deadlock_says_so(tmp_path: Path) -> None:
    known = read(ring(tmp_path).changed({"measure.pauses": 3}).run())
    found = victim(known)
    assert not found.rings and known.is_cut
    assert list(telling.lines(known, found))[-1] == "deadlock: 10 ports paused for good, after the last recorded pause"


def test_threads_and_domains_give_the_same_rows(tmp_path: Path) -> None:
    made = chain(tmp_path)
    whole = made.run().pauses
    assert len(whole) > 20
    for settings in ({"run.threads": 4, "run.domains": "node"}, {"run.domains": "one"}):
        assert made.changed(settings).run().pauses == whole


def test_a_limit_keeps_the_first_pauses_and_a_note_says_so(tmp_path: Path) -> None:
    made = chain(tmp_path)
    whole = made.run()
    some = made.changed({"measure.pauses": 7}).run()
    assert some.pauses.to_pylist() == [row for row in whole.pauses.to_pylist() if row["pause"] < 7]
    assert any("pauses.parquet has the first 7 pauses, up to " in note for note in some.notes())
    assert not any("pauses.parquet" in note for note in whole.notes())
    assert some.summary == whole.summary


HOSTILE = "</td><b onload=alert(1)>'\u0007\"&"


def test_odd_names_stay_text(tmp_path: Path, incast: Command) -> None:
    hosts = [(f"{name}{HOSTILE}", f"a{HOSTILE}") for name in ("h0", "h1")]
    hosts += [(f"h2{HOSTILE}", f"b{HOSTILE}")]
    made = scenario(tmp_path, hosts, [(f"a{HOSTILE}", f"b{HOSTILE}", "2Gbps")], [])
    flows = "".join(f"0s,{host},2\n" for host in (0, 1))
    (tmp_path / "flows.csv").write_text(f"start,source,destination\n{flows}")
    result = made.run()
    result.save(tmp_path / "run")
    answer = incast("explain", "pauses", "run")
    assert answer.status == 0, answer.err
    assert "\u0007" not in answer.out and "\\u{7}" in answer.out and "onload" in answer.out
    known = read(result)
    name = known.names[victim(known).branches[0].port]
    assert json.loads(incast("explain", "pauses", "run", "--json").out)["tree"][0]["port"] == name
    assert incast("explain", "pauses", "run", "--port", name).status == 0


def test_the_command_and_the_report_of_a_run_print_the_tree(tmp_path: Path, incast: Command) -> None:
    made = two(tmp_path)
    made.run().save(tmp_path / "run")
    answer = incast("explain", "pauses", "run")
    assert answer.status == 0 and answer.out.startswith("The path of flow 2 (flows, h2 to h4) was paused for ")
    assert "b held up to " in answer.out and "not paused itself, congested by its own arrivals" in answer.out
    assert answer.out.splitlines()[0] in incast("report", "run").out


def test_the_command_explains_a_flow_or_a_port_that_is_there(tmp_path: Path, incast: Command) -> None:
    two(tmp_path).run().save(tmp_path / "run")
    assert incast("explain", "pauses", "run", "--flow", "0").out.startswith("The path of flow 0 (flows, h0 to h3)")
    assert incast("explain", "pauses", "run", "--port", "a>b").out.startswith("The port a>b was paused for ")
    incast("explain", "pauses", "run", "--flow", "3").refused("--flow 3: no such flow opened; expected a number from 0")
    incast("explain", "pauses", "run", "--port", "a>c").refused('--port "a>c": no such port (did you mean "a>')
    incast("explain", "pauses", "run", "--flow", "0", "--port", "a>b").refused("expected one of them")


def test_the_command_says_why_there_is_nothing_to_explain(tmp_path: Path, incast: Command) -> None:
    made = two(tmp_path)
    plain = made.changed({"measure": "{}"})
    plain.run().save(tmp_path / "plain")
    incast("explain", "pauses", "plain").refused(
        "plain has no pauses.parquet: the run counted ", "incast run plain/scenario.toml --set measure.pauses=auto"
    )
    idle = made.changed({"traffic.flows.app.rate": "1%"})
    idle.run().save(tmp_path / "idle")
    assert incast("explain", "pauses", "idle").out == "No port was paused in this run.\n"
    Scenario.load("dumbbell").changed({"run.duration": "5ms", "run.warmup": "0s"}).run().save(tmp_path / "none")
    assert "no priority flow control" in incast("explain", "pauses", "none").out


@pytest.mark.parametrize(("column", "value"), [("through", 99), ("port", 99)])
def test_a_damaged_record_is_refused(tmp_path: Path, column: str, value: int) -> None:
    two(tmp_path).run().save(tmp_path / "run")
    path = tmp_path / "run" / "pauses.parquet"
    rows = pq.read_table(path)
    odd = pa.array([value, *rows[column].to_pylist()[1:]], rows.schema.field(column).type)
    pq.write_table(rows.set_column(rows.column_names.index(column), column, odd), path)
    with pytest.raises(FolderError, match=r"pauses.parquet is damaged: port 99, where ports.parquet has 12"):
        record.of(Result.load(tmp_path / "run"))


def test_a_record_without_flow_control_is_noted() -> None:
    notes = Scenario.load("dumbbell").changed({"measure.pauses": "auto"}).notes()
    assert "measure.pauses does nothing: without buffer.pfc no port is paused (docs/queues/pfc.md)" in notes


def test_a_check_of_a_scenario_tells_of_little_headroom(tmp_path: Path, incast: Command) -> None:
    two(tmp_path)
    little = TEXT.replace("pfc = {}", 'pfc = { headroom = "1kB" }')
    (tmp_path / "pauses.toml").write_text(little)
    answer = incast("validate", "pauses.toml")
    assert answer.status == 0 and answer.out == "pauses.toml: ok (scenario: 5 hosts, flows: 3)\n"
    assert answer.err.startswith('note: buffer.pfc.headroom = "1kB" is less than ')
    assert "note: pauses.toml: buffer.pfc.headroom" in incast("validate", "pauses.toml", "dumbbell").err


VECTORS = json.loads(pause_vectors.FILE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", VECTORS, ids=[case["name"] for case in VECTORS])
def test_the_vectors_that_the_viewer_shares_are_those_of_their_runs(tmp_path: Path, case: dict[str, object]) -> None:
    assert json.loads(json.dumps(pause_vectors.case_of(str(case["name"]), tmp_path))) == case
