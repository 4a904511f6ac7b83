"""Files of HPCC's family and of htsim become scenarios, and scenarios become their files."""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from conftest import Command
from incast import Scenario
from incast.errors import ScenarioError
from incast.interchange import (
    hpcc_export,
    hpcc_flows,
    hpcc_paths,
    hpcc_scenario,
    hpcc_topology,
    htsim_export,
    htsim_scenario,
    sizes,
)
from incast.interchange.dialects import HPCC
from incast.interchange.hpcc_flows import Flow
from incast.interchange.network import Link, Network
from incast.interchange.translation import Translation
from incast.interchange.words import Words

CONFIG = """\
ENABLE_QCN 1
USE_DYNAMIC_PFC_THRESHOLD 1
PACKET_PAYLOAD_SIZE 1000
TOPOLOGY_FILE mix/topology.txt
FLOW_FILE mix/flow.txt
FCT_OUTPUT_FILE mix/fct.txt
SIMULATOR_STOP_TIME 2.1
CC_MODE 3
RP_TIMER 300
RATE_AI 40Mb/s
MIN_RATE 1000Mb/s
L2_CHUNK_SIZE 4000
L2_ACK_INTERVAL 1
HAS_WIN 1
GLOBAL_T 1
VAR_WIN 1
U_TARGET 0.95
MI_THRESH 0
INT_MULTI 4
MULTI_RATE 0
ACK_HIGH_PRIO 0
LINK_DOWN 0 0 0
KMAX_MAP 2 25000000000 400 100000000000 1600
KMIN_MAP 2 25000000000 100 100000000000 400
PMAX_MAP 2 25000000000 0.2 100000000000 0.2
BUFFER_SIZE 32
"""
TOPOLOGY = """\
6 2 5
0 5
0 1 100Gbps 0.003ms 0
0 2 100Gbps 3us 0
5 3 100Gbps 3000ns 0
5 4 100Gbps 3us 0
0 5 100Gbps 1us 0
"""
FLOWS = """\
3
1 4 3 100 1000000 2.000000000
2 4 3 100 1000000 2.000000000
3 4 3 100 5000 2.00001
"""
FILES = {"config.txt": CONFIG, "topology.txt": TOPOLOGY, "flow.txt": FLOWS}


def write(path: Path, text: str) -> None:
    """Write a text, in which a lone surrogate stands for a byte that is no text."""
    path.write_bytes(text.encode("utf-8", "surrogateescape"))


def translated(folder: Path, changes: Mapping[str, Any] | None = None, **options: Any) -> Translation:
    """Translate a simulation whose files are the usual ones with changes: a text, or pairs to replace."""
    for name, text in FILES.items():
        own = (changes or {}).get(name, text)
        for old, new in own if isinstance(own, list) else []:
            assert old in text
            text = text.replace(old, new, 1)
        (folder / "mix").mkdir(exist_ok=True)
        write(folder / "mix" / name, own if isinstance(own, str) else text)
    return hpcc_scenario.translate(folder / "mix" / "config.txt", **options)


def scenario_of(made: Translation) -> dict[str, Any]:
    return tomllib.loads(made.files["scenario.toml"])


def test_every_key_of_a_configuration_of_hpcc_has_its_place(tmp_path: Path) -> None:
    made = translated(tmp_path)
    scenario = scenario_of(made)
    assert scenario["controller"] == {
        "kind": "hpcc", "form": "authors", "eta": 0.95, "max_stage": 0, "flows": 125.0, "min_cwnd": 0.01,
    }  # fmt: skip
    assert scenario["run"] == {
        "duration": "2100ms",
        "warmup": "2s",
        "until": "finished",
        "tick": "1ns",
        "ties": "scheduled",
    }
    marks = {"kind": "ecn-ramp", "limit": "none", "min": "400kB", "max": "1600kB", "probability": 0.2}
    assert scenario["queue"] == marks | {"host": {"kind": "drop-tail", "limit": "none"}}
    assert scenario["buffer"] == {"size": "32MiB", "count_in_service": False, "pfc": {"headroom": "hpcc"}}
    assert scenario["transport"]["preset"] == "rdma-hpcc"
    assert scenario["transport"]["rdma"] == {
        "base_rtt": "14240ns", "window": "rate", "repair": "go-back-n", "int_multi": 4,
    }  # fmt: skip
    assert scenario["traffic"] == [{"name": "flows", "pattern": "file", "file": "flows.csv"}]
    assert made.files["flows.csv"].splitlines()[1:] == ["2s,h1,h4,1000000", "2s,h2,h4,1000000", "2000010us,h3,h4,5000"]
    assert made.files["fabric.csv"].splitlines()[5:8] == ["switch,s0", "switch,s5", "link,s0,h1,100Gbps,3us"]


def test_keys_without_a_counterpart_and_without_effect_are_named_once_with_their_values(tmp_path: Path) -> None:
    lines = translated(
        tmp_path, {"config.txt": [("ENABLE_QCN 1", "ENABLE_QCN 1 RATE_BOUND 0 RATE_BUOND 1")]}
    ).notes.lines()
    assert lines == [
        "differs: RATE_BOUND 0: packets are paced at the controller's rate here",
        'no counterpart: FCT_OUTPUT_FILE mix/fct.txt, RATE_BUOND (no key (did you mean "RATE_BOUND"?)), 1 (no key)',
        "no effect with hpcc: RP_TIMER 300, L2_CHUNK_SIZE 4000",
    ]


@pytest.mark.parametrize(
    ("header", "dialect", "preset"),
    [
        ("6 2 5", "HPCC", "rdma-hpcc"),
        ("6 2 2 5", "ns3-datacenter", "rdma-ns3-datacenter"),
        ("6 1 0 2 5 H100", "SimAI", "rdma"),
    ],
)
def test_a_dialect_is_known_by_the_first_line(header: str, dialect: str, preset: str, tmp_path: Path) -> None:
    made = translated(tmp_path, {"topology.txt": [("6 2 5", header)]})
    assert made.about.startswith(f"{dialect}: 4 hosts, 2 switches")
    assert scenario_of(made)["transport"]["preset"] == preset


def test_conweave_is_known_by_its_keys_and_has_flows_without_ports(tmp_path: Path) -> None:
    keys = "FLOWGEN_START_TIME 2\nFLOWGEN_STOP_TIME 2.05\nLB_MODE 9\nENABLE_PFC 0\nENABLE_IRN 1\n"
    made = translated(tmp_path, {"config.txt": CONFIG + keys, "flow.txt": "2\n1 4 3 1000000 2\n2 4 3 0 2.000004250\n"})
    scenario = scenario_of(made)
    assert scenario["run"]["duration"] == "12050ms"
    assert scenario["buffer"] == {"size": "32MiB", "count_in_service": False}
    assert scenario["transport"]["rdma"]["repair"] == "selective"
    assert made.files["flows.csv"].splitlines()[2] == "2000004250ns,h2,h4,1"
    assert "differs: LB_MODE 9 (ConWeave): routing.kind = ecmp here" in made.notes.lines()


def test_conweave_is_known_by_its_flows_too(tmp_path: Path) -> None:
    made = translated(tmp_path, {"flow.txt": "1\n1 4 3 1000000 2.000000000\n"})
    assert made.about.startswith("ConWeave: 4 hosts")


def test_nvswitches_are_left_out(tmp_path: Path) -> None:
    made = translated(
        tmp_path,
        {"topology.txt": "5 2 1 1 4 H100\n2 3\n0 2 2880Gbps 25ns 0\n1 2 2880Gbps 25ns 0\n0 3 100Gbps 1us 0\n"
         "1 3 100Gbps 1us 0\n"},
        dialect="simai",
    )  # fmt: skip
    assert "link,h0,s3,100Gbps,1us" in made.files["fabric.csv"]
    assert "s2" not in made.files["fabric.csv"]
    assert scenario_of(made)["traffic"][0]["pattern"] == "ring-allreduce"


def star(hosts: int, rate: int, delay: int) -> Network:
    return Network(list(range(hosts)), [hosts], [Link(host, hosts, rate, delay) for host in range(hosts)])


def leaf_spine(rate: int, up: int, delay: int) -> Network:
    hosts = [Link(host, 32 + host // 8, rate, delay) for host in range(32)]
    ups = [Link(32 + leaf, 36 + spine, up, delay) for leaf in range(4) for spine in range(2)]
    return Network(list(range(32)), list(range(32, 38)), hosts + ups)


@pytest.mark.parametrize(
    ("network", "rtt", "bdp"),
    [
        (star(2, 100 * 10**9, 3000), 12160, 152_000),
        (star(65, 25 * 10**9, 1000), 4640, 14_500),
        (leaf_spine(25 * 10**9, 100 * 10**9, 1000), 8800, 27_500),
        (leaf_spine(100 * 10**9, 400 * 10**9, 1500), 12200, 152_500),
    ],
)
def test_t_is_the_longest_round_trip_without_headers(network: Network, rtt: int, bdp: int) -> None:
    """As HPCC's driver derives it: delays there and back, transmissions of a payload there, each cut to ns."""
    longest = network.longest(1000)
    assert (longest.rtt, longest.bdp) == (rtt, bdp)


def test_paths_are_those_that_hpccs_switches_choose() -> None:
    """Spines of the first flows of two pairs, as a reference run of ns3-datacenter's model has them."""
    assert hpcc_paths.hashed([0x74736574], 0) == 0xBA6BD213  # a published value: MurmurHash3 of "test"
    spines = {(4, 11): [(37, 37), (36, 37), (37, 36)], (31, 23): [(36, 36), (37, 37), (37, 36)]}
    flows = [Flow(*ends, 1000, start) for start in range(3) for ends in spines]
    made = hpcc_paths.with_ways(flows, leaf_spine(10**11, 4 * 10**11, 1500), HPCC)
    found = {ends: [(flow.way[1], flow.way_back[1]) for flow in made[place::2]] for place, ends in enumerate(spines)}
    assert found == spines
    assert hpcc_paths.with_ways(flows, star(32, 10**11, 1500), HPCC) == flows


@pytest.mark.parametrize(
    ("has", "varies", "window"), [("0", "0", "none"), ("0", "1", "none"), ("1", "0", "fixed"), ("1", "1", "rate")]
)
def test_windows_are_words(has: str, varies: str, window: str, tmp_path: Path) -> None:
    made = translated(tmp_path, {"config.txt": [("HAS_WIN 1", f"HAS_WIN {has}"), ("VAR_WIN 1", f"VAR_WIN {varies}")]})
    assert scenario_of(made)["transport"]["rdma"]["window"] == window


@pytest.mark.parametrize(
    ("mode", "keys", "controller"),
    [
        (1, "ALPHA_RESUME_INTERVAL 1 RATE_DECREASE_INTERVAL 4 EWMA_GAIN 0.0625 FAST_RECOVERY_TIMES 1 RATE_HAI 200Mb/s",
         {"kind": "dcqcn", "form": "authors", "t_alpha": "1us", "t_dec": "4us", "t_inc": "300us", "g": 0.0625, "f": 1,
          "r_ai": 0.0004, "r_hai": 0.002, "clamp_target": False, "min_rate": 0.01}),
        (7, "RATE_HAI 200Mb/s", {"kind": "timely", "form": "authors", "delta": 0.0004, "hai": 5.0, "min_rate": 0.01}),
        (8, "EWMA_GAIN 0.0625 DCTCP_RATE_AI 615Mb/s",
         {"kind": "dctcp-rate", "g": 0.0625, "increase": 0.00615, "min_rate": 0.01}),
    ],
)  # fmt: skip
def test_parameters_are_shares_of_the_line_rate(mode: int, keys: str, controller: object, tmp_path: Path) -> None:
    made = translated(tmp_path, {"config.txt": [("CC_MODE 3", f"CC_MODE {mode} {keys}")]})
    assert scenario_of(made)["controller"] == controller


def test_hosts_of_two_rates_have_an_entry_and_a_controller_each(tmp_path: Path) -> None:
    made = translated(tmp_path, {"topology.txt": [("5 3 100Gbps", "5 3 25Gbps")]})
    slow, fast = scenario_of(made)["traffic"]
    assert (slow["name"], fast["name"]) == ("flows-25Gbps", "flows-100Gbps")
    assert slow["controller"]["min_cwnd"] == 4 * fast["controller"]["min_cwnd"] == 0.04


def test_thresholds_follow_the_rates_of_ports(tmp_path: Path) -> None:
    made = translated(tmp_path, {"topology.txt": [("0 5 100Gbps", "0 5 25Gbps")]})
    (links,) = scenario_of(made)["links"]
    assert links["link"] == "s*>s*"
    assert (links["queue"]["min"], links["queue"]["max"]) == ("100kB", "400kB")
    odd = scenario_of(translated(tmp_path, {"topology.txt": [("5 3 100Gbps", "5 3 25Gbps")]}))
    assert [one["link"] for one in odd["links"]] == ["s5>h3"]


def test_what_stands_behind_the_announced_counts_is_not_read(tmp_path: Path) -> None:
    plain = translated(tmp_path)
    words = "9 9 100Gbps 1us 0\n\nFirst line: total node #, switch node #, link #\n"
    told = translated(tmp_path, {"topology.txt": TOPOLOGY + words, "flow.txt": FLOWS + "First line: flow #\n"})
    assert told.files == plain.files


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("topology.txt", "100Gbps 0.003ms", "100Gbp 0.003ms",
         'topology.txt, line 3, column 5: rate = "100Gbp": expected a rate such as 100Gbps, or bit/s without a unit'),
        ("topology.txt", "3000ns 0", "3000nanos 0", 'line 5, column 13: delay = "3000nanos": expected a time'),
        ("topology.txt", "0 5\n", "0 0\n", 'line 2, column 3: switch = "0": expected another switch'),
        ("topology.txt", "0 5\n", "0 6\n", 'line 2, column 3: switch = "6": expected a whole number from 0 to 5'),
        ("topology.txt", "0 1 100Gbps", "0 0 100Gbps", "line 3, column 3: end of a link"),
        ("topology.txt", "0 1 100Gbps", "1 2 100Gbps", "topology.txt: link 1 2 joins two hosts"),
        ("topology.txt", "6 2 5", "6 2", "topology.txt, line 1: 2 words; expected 3 (HPCC, ConWeave"),
        ("topology.txt", "6 2 5", "6 6 5", "topology.txt, line 1, column 1: 6 switches of 6 nodes"),
        ("topology.txt", "6 2 5", "6 2 6", "topology.txt, line 7: the file ends here; expected end of a link"),
        ("flow.txt", "1 4 3 100 1000000", "1 4 3 100 1e6", 'line 2, column 11: bytes = "1e6": expected a whole'),
        ("flow.txt", "1 4 3 100 1000000", "1 4 3 100 4294967296", "line 2, column 11: bytes"),
        ("flow.txt", "1 4 3 100 1000000", "1 4 3 100 0", "expected a whole number from 1 to 4294967295"),
        ("flow.txt", "1 4 3", "0 4 3", 'line 2, column 1: source = "0": expected the number of a host with a link'),
        ("flow.txt", "1 4 3", "4 4 3", 'line 2, column 3: destination = "4": expected another host'),
        ("flow.txt", "1 4 3", "1 4 8", 'line 2, column 5: priority group = "8": expected a whole number from 0 to 7'),
        ("flow.txt", "3\n1", "4\n1", "flow.txt, line 4: the file ends here; expected source"),
        ("config.txt", "CC_MODE 3", "CC_MODE three", 'line 8, column 9: CC_MODE = "three": expected a whole'),
        ("config.txt", "BUFFER_SIZE 32", "BUFFER_SIZE 32.0", 'BUFFER_SIZE = "32.0": expected a whole number'),
        ("config.txt", "BUFFER_SIZE 32", "BUFFER_SIZE 0", "config.txt, line 26, column 1: BUFFER_SIZE 0: expected MiB"),
        ("config.txt", "BUFFER_SIZE 32", "BUFFER_SIZE", "line 26: the file ends here; expected BUFFER_SIZE"),
        ("topology.txt", "0.003ms", "1.003ms", "BUFFER_SIZE 32: expected more than 36 MiB: headrooms of the ports"),
        ("config.txt", "GLOBAL_T 1", "L2_BACK_TO_ZERO 1 L2_CHUNK_SIZE 0 GLOBAL_T 1",
         "L2_CHUNK_SIZE 0: expected bytes above 0 beside L2_BACK_TO_ZERO 1"),
        ("config.txt", "LINK_DOWN 0 0 0", "LINK_DOWN 9 1 4", "LINK_DOWN 9 1 4: expected the ends of a link"),
        ("config.txt", "LINK_DOWN 0 0 0", "LINK_DOWN 9 0 5", "LINK_DOWN 9 0 5: expected a link without which 1 still"),
        ("config.txt", "LINK_DOWN 0 0 0", "LINK_DOWN 9 5 4", "LINK_DOWN 9 5 4: expected a link without which 1 still"),
        ("config.txt", "mix/flow.txt", "mix/flows.txt", "FLOW_FILE mix/flows.txt: expected a file below"),
        ("config.txt", "RATE_AI 40Mb/s", "RATE_AI 0", 'RATE_AI = "0": expected a rate'),
        ("config.txt", "MIN_RATE 1000Mb/s", "MIN_RATE 200Gb/s", "MIN_RATE 200Gb/s: expected less than the rate"),
    ],
)  # fmt: skip
def test_an_error_has_file_line_column_and_what_was_expected(
    name: str, old: str, new: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(ScenarioError, match=re.escape(message)):
        translated(tmp_path, {name: [(old, new)]})


def test_a_link_that_goes_is_a_failure(tmp_path: Path) -> None:
    ring = TOPOLOGY.replace("6 2 5\n0 5", "7 3 7\n0 5 6") + "0 6 100Gbps 1us 0\n6 5 100Gbps 1us 0\n"
    made = translated(tmp_path, {"config.txt": [("LINK_DOWN 0 0 0", "LINK_DOWN 150 0 5")], "topology.txt": ring})
    assert scenario_of(made)["failures"] == [{"link": "s0>s5", "at": "2000150us", "detection": "0s"}]
    again = hpcc_export.translate(written(made, tmp_path / "made"))
    assert "LINK_DOWN 150 0 5\n" in again.files["config.txt"]
    assert again.notes.lines() == []


def test_a_host_without_a_path_is_an_error(tmp_path: Path) -> None:
    cut = TOPOLOGY.replace("6 2 5", "6 2 4").replace("0 5 100Gbps 1us 0\n", "")
    with pytest.raises(ScenarioError, match='line 2, column 3: destination = "4": expected a host with a path from 1'):
        translated(tmp_path, {"topology.txt": cut})


def test_parallel_links_and_second_links_of_hosts_are_left_out_and_said(tmp_path: Path) -> None:
    more = TOPOLOGY.replace("6 2 5", "6 2 7") + "0 5 25Gbps 2us 0\n5 1 100Gbps 3us 0\n"
    made = translated(tmp_path, {"topology.txt": more})
    assert "link,s0,s5,25Gbps,2us" in made.files["fabric.csv"]
    assert "link,s5,h1" not in made.files["fabric.csv"]
    assert sum("left out" in line or "several links" in line for line in made.notes.lines()) == 2


@pytest.mark.parametrize(
    ("text", "table"),
    [
        ("0 0\n10000 15\n30000000 100\n", "size,cumulative\n0,0\n10000,0.15\n30000000,1\n"),
        ("70 0\n70 0.01 3000000 1", "size,cumulative\n70,0\n70,0.01\n3000000,1\n"),
    ],
)
def test_a_distribution_is_a_table_of_sizes(text: str, table: str) -> None:
    assert sizes.table(Words("cdf.txt", text)) == table


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "cdf.txt, line 1, column 1: no sizes"),
        ("0 0\n10 50\n9 100\n", 'cdf.txt, line 3, column 1: bytes = "9": expected at least 10'),
        ("0 0\n10 50\n20 49\n", 'line 3, column 4: cumulative percent = "49": expected at least 50'),
        ("0 0\n10 50\n20 99\n", 'cumulative percent = "99": expected 100 at the end'),
        ("0 0\n10 x\n", 'line 2, column 4: cumulative percent = "x": expected a number from 0 to 100'),
        ("0 0\n10", "line 2: the file ends here; expected cumulative percent"),
    ],
)
def test_a_wrong_distribution_is_an_error_with_its_place(text: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=re.escape(message)):
        sizes.table(Words("cdf.txt", text))


TREE = """\
# three tiers
Nodes 16
Tiers 3
Podsize 4

Tier 0
Downlink_speed_Gbps 100
Radix_Down 2
Radix_Up 2
Downlink_Latency_ns 1000

Tier 1
Downlink_speed_Gbps 100
Radix_Down 2
Radix_Up 2
Downlink_Latency_ns 1000

Tier 2
Downlink_speed_Gbps 100
Radix_Down 4
Downlink_Latency_ns 2000
"""
LEAVES = """\
Nodes 32
Tiers 2
Podsize 32
Tier 0
Downlink_speed_Gbps 100
Radix_Down 8
Radix_Up 2
Downlink_Latency_ns 1000
Switch_Latency_ns 0
Oversubscribed 4
Tier 1
Downlink_speed_Gbps 100
Radix_Down 4
Downlink_Latency_ns 1000
"""
MATRIX = "Nodes 16\nConnections 2\n0->15 id 1 start 0 size 2000000\n3->1 id 2 start 0 size 0\n"


def of_htsim(folder: Path, tree: str | None = TREE, matrix: str | None = MATRIX, unit: str = "") -> Translation:
    """Translate files of htsim."""
    named = {"a.topo": tree, "a.cm": matrix}
    for name, text in named.items():
        if text is not None:
            write(folder / name, text)
    topology, connections = (folder / name if text is not None else None for name, text in named.items())
    return htsim_scenario.translate(topology, connections, unit)


def written(made: Translation, folder: Path) -> Scenario:
    """Write a scenario, and load it."""
    folder.mkdir(exist_ok=True)
    for name, text in made.files.items():
        (folder / name).write_text(text)
    return Scenario.load(folder / "scenario.toml")


@pytest.mark.parametrize(
    ("tree", "topology"),
    [
        (TREE, {"kind": "fat-tree", "k": 4, "link": {"rate": "100Gbps", "delay": "1us"},
                "core_link": {"rate": "100Gbps", "delay": "2us"}}),
        (LEAVES, {"kind": "leaf-spine", "leaves": 4, "spines": 2, "hosts_per_leaf": 8,
                  "link": {"rate": "100Gbps", "delay": "1us"}}),
        (None, {"kind": "fat-tree", "k": 4, "link": {"rate": "100Gbps", "delay": "1us"}}),
    ],
)  # fmt: skip
def test_a_regular_tree_of_htsim_is_a_topology_with_a_name(tree: str | None, topology: object, tmp_path: Path) -> None:
    made = of_htsim(tmp_path, tree)
    assert scenario_of(made)["topology"] == topology
    written(made, tmp_path / "made").validate()


def test_bundles_and_latencies_of_switches_make_a_graph(tmp_path: Path) -> None:
    odd = TREE.replace("Radix_Down 4\n", "Radix_Down 4\nBundle 2\nSwitch_Latency_ns 500\n")
    made = of_htsim(tmp_path, odd)
    lines = made.files["fabric.csv"].splitlines()
    assert sum(line.startswith("link,agg0,core") for line in lines) == 4
    assert "link,agg0,core0,100Gbps,2us,2500ns" in lines
    written(made, tmp_path / "made").validate()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Nodes 16", "Nodes x", 'a.topo, line 2, column 1: Nodes = "x": expected a whole number from 1'),
        ("Nodes 16", "Nodes 15", "Nodes (15) over Podsize (4): expected a whole number"),
        ("Radix_Up 2", "Radix_Upp 2", '"Radix_Upp": expected one of tier, downlink_speed_gbps'),
        ("Tier 1", "Tier 0", "a.topo, line 12, column 1: tier 0 is there twice"),
        ("Radix_Down 4\n", "", "no radix_down of tier 2; expected one"),
        ("Tiers 3\n", "", "no Tiers; expected one before the tiers"),
    ],
)
def test_a_wrong_tree_is_an_error_with_its_place(old: str, new: str, message: str, tmp_path: Path) -> None:
    assert old in TREE
    with pytest.raises(ScenarioError, match=re.escape(message)):
        of_htsim(tmp_path, TREE.replace(old, new, 1))


def test_a_start_other_than_zero_needs_its_unit(tmp_path: Path) -> None:
    later = MATRIX.replace("start 0 size 0", "start 5 size 0")
    with pytest.raises(ScenarioError, match=re.escape("a.cm, line 4: a start other than 0")):
        of_htsim(tmp_path, matrix=later)
    made = of_htsim(tmp_path, matrix=later, unit="us")
    assert scenario_of(made)["traffic"][0]["start_unit"] == "us"
    assert written(made, tmp_path / "made").core.flows()[1][:4] == (3, 1, 5_000_000, None)


def test_a_tree_and_its_connections_come_back_from_htsim_as_they_went(tmp_path: Path) -> None:
    first = written(of_htsim(tmp_path), tmp_path / "first")
    made = htsim_export.translate(first)
    again = of_htsim(tmp_path, made.files["topology.topo"], made.files["connections.cm"])
    assert scenario_of(again)["topology"] == scenario_of(of_htsim(tmp_path))["topology"]
    assert written(again, tmp_path / "again").core.flows() == first.core.flows()


EXPORTED = ("config.txt", "topology.txt", "flow.txt")
ROUND = {
    "config.txt": [
        ("CC_MODE 3", "CC_MODE {mode} ALPHA_RESUME_INTERVAL 2.5 RATE_DECREASE_INTERVAL 4 EWMA_GAIN 0.00390625 "
         "FAST_RECOVERY_TIMES 3 RATE_HAI 120Mb/s CLAMP_TARGET_RATE 1 DCTCP_RATE_AI 615Mb/s"),
        ("VAR_WIN 1", "VAR_WIN 0"),
        ("MI_THRESH 0", "MI_THRESH 5"),
        ("0.2 100000000000 0.2", "0.2 100000000000 0.15"),
    ],
    "topology.txt": [("5 4 100Gbps 3us 0", "5 4 25Gbps 3us 0.001"), ("6 2 5", "6 2 5")],
    "flow.txt": [("2 4 3 100", "2 4 3 200")],
}  # fmt: skip


def test_paths_come_back_too(tmp_path: Path) -> None:
    network = leaf_spine(100 * 10**9, 400 * 10**9, 1500)
    config = [("2 25000000000 400 100000000000 1600", "2 400000000000 6400 100000000000 1600"),
              ("2 25000000000 100 100000000000 400", "2 400000000000 1600 100000000000 400"),
              ("2 25000000000 0.2", "2 400000000000 0.2")]  # fmt: skip
    flows = [Flow(source, source + 8, 1000, 2 * 10**9) for source in range(20)]
    texts = {"topology.txt": hpcc_topology.written(network), "flow.txt": hpcc_flows.written(flows)}
    first = translated(tmp_path, {"config.txt": config} | texts)
    assert "reverse_path" in first.files["flows.csv"]
    made = hpcc_export.translate(written(first, tmp_path / "first"))
    assert made.notes.lines() == []
    again = translated(tmp_path, {name: made.files[name] for name in EXPORTED})
    assert again.files["flows.csv"] == first.files["flows.csv"]
    assert scenario_of(again) == scenario_of(first)
    other = written(first, tmp_path / "first").changed({"traffic.flows.start": "1ns"})
    assert hpcc_export.translate(other).notes.lines() == []


@pytest.mark.parametrize("mode", [1, 3, 7, 8])
def test_a_scenario_comes_back_from_hpccs_files_as_it_went(mode: int, tmp_path: Path) -> None:
    """Export, then import: all that the files can say is the same."""
    changes = {name: [(old, new.format(mode=mode)) for old, new in pairs] for name, pairs in ROUND.items()}
    first = translated(tmp_path, changes)
    made = hpcc_export.translate(written(first, tmp_path / "first"))
    assert made.notes.lines() == []
    again = translated(tmp_path, {name: made.files[name] for name in EXPORTED})
    assert scenario_of(again) == scenario_of(first)
    assert {name: text for name, text in again.files.items() if name != "scenario.toml"} == {
        name: text for name, text in first.files.items() if name != "scenario.toml"
    }


def test_what_hpccs_files_cannot_say_is_said_once(tmp_path: Path) -> None:
    made = hpcc_export.translate(Scenario.load("leaf-spine").changed({"controller": "swift", "routing.kind": "spray"}))
    lines = made.notes.lines()
    assert "differs: controller swift: none there; DCQCN (CC_MODE 1) stands in its place" in lines
    assert "differs: routing.kind is spray: there it is ecmp" in lines
    assert len(lines) == len(set(lines))
    again = translated(tmp_path, {name: made.files[name] for name in EXPORTED})
    assert f"{len(made.files['flow.txt'].splitlines()) - 1} flows" in again.about


WORDS = [
    "0", "1", "-1", "3", "4294967295", "99999999999", "1e400", "1e-400", "nan", "0.5", "100Gbps", "1us", "x", "{", "}",
    "CC_MODE", "LINK_DOWN", "7", "../..", "\0", "\udcff", "é", "9" * 50, "KMIN_MAP 1 100000000000",
]  # fmt: skip
"""Words that replace others, or come between them."""


def damaged(text: str, draw: random.Random) -> str:
    """Change a few words of a file."""
    words = re.findall(r"\S+|\s+", text)
    for _ in range(draw.randint(1, 3)):
        at = draw.randrange(len(words))
        match draw.randrange(6):
            case 0:
                words[at] = draw.choice(WORDS)
            case 1:
                words[at] = ""
            case 2:
                words.insert(at, f" {draw.choice(WORDS)} ")
            case 3:
                words[at], other = words[draw.randrange(len(words))], words[at]
                words[draw.randrange(len(words))] = other
            case 4:
                del words[at:]
                words.append("")
            case 5:
                word = list(words[at])
                word[draw.randrange(len(word)) if word else 0 : 1] = draw.choice("0123456789eE.-+GMk/s ")
                words[at] = "".join(word)
    return "".join(words)


def survives(translate: Callable[[], Translation], folder: Path) -> bool:
    """Check that a translation is refused with words, or gives a scenario that is accepted."""
    try:
        made = translate()
    except ScenarioError as error:
        assert str(error)
        return False
    scenario = written(made, folder)
    if "a.cm" in made.files:  # its errors are those of the scenario, before anything is written
        with suppress(ScenarioError):
            scenario.validate()
    else:
        scenario.validate()
    return True


def fuzz(folder: Path, seed: int, number: int) -> None:
    draw = random.Random(seed)
    accepted = 0
    for _ in range(number):
        match name := draw.choice([*FILES, "a.topo", "a.cm", "cdf.txt"]):
            case "a.topo":
                changed = damaged(TREE, draw)
                accepted += survives(partial(of_htsim, folder, changed, None), folder / "made")
            case "a.cm":
                changed = damaged(MATRIX, draw)
                accepted += survives(partial(of_htsim, folder, TREE, changed), folder / "made")
            case "cdf.txt":
                with suppress(ScenarioError):
                    sizes.table(Words(name, damaged("0 0\n10000 15\n30000000 100\n", draw)))
            case _:
                own = {name: damaged(FILES[name], draw)}
                accepted += survives(partial(translated, folder, own), folder / "made")
    assert 0 < accepted < number


def test_damaged_files_give_an_error_or_a_scenario_that_is_accepted(tmp_path: Path) -> None:
    fuzz(tmp_path, 1, 40)


@pytest.mark.extended(part="python")
@pytest.mark.parametrize("seed", range(4))
def test_many_damaged_files_give_an_error_or_a_scenario_that_is_accepted(seed: int, tmp_path: Path) -> None:
    fuzz(tmp_path, 100 + seed, 2500)


LONE = "3 1 2\n2\n0 2 100Gbps 3000ns 0\n1 2 100Gbps 3000ns 0\n"
SIZES = (
    1, 64, 500, 999, 1000, 1001, 1500, 2000, 5000, 10_000, 14_500, 20_000, 52_000, 100_000, 152_000, 300_000, 1_000_000,
)  # fmt: skip


@pytest.mark.parametrize(
    ("mode", "fct_ns"),
    [
        ("CC_MODE 3", [12028, 12038, 12108, 12188, 12188, 12195, 12235, 12275, 12536, 12971, 13366, 13841, 16625, 20801,
                       25365, 38954, 103532]),
        ("CC_MODE 1 RATE_HAI 200Mb/s EWMA_GAIN 0.00390625",
         [12014, 12024, 12094, 12174, 12174, 12178, 12217, 12257, 12506, 12921, 13296, 13751, 16407, 20391, 24707,
          36991, 95091]),
    ],
)  # fmt: skip
def test_lone_flows_of_imported_files_take_the_time_that_they_take_there(
    mode: str, fct_ns: list[int], tmp_path: Path
) -> None:
    """To the ns: the values are those of ns3-datacenter's model (reference runs of lone flows at 100 Gb/s)."""
    flows = "".join(f"0 1 3 100 {size} {0.005 * place:.3f}\n" for place, size in enumerate(SIZES))
    made = translated(
        tmp_path,
        {
            "config.txt": CONFIG.replace("CC_MODE 3", mode),
            "topology.txt": LONE,
            "flow.txt": f"{len(SIZES)}\n{flows}",
        },
    )
    table = written(made, tmp_path / "made").run().flows
    assert [round(fct * 1e9) for fct in table["fct_s"].to_pylist()] == fct_ns


@pytest.mark.slow("a dozen commands")
def test_the_command_writes_a_folder_that_runs_and_says_what_differs(incast: Command, tmp_path: Path) -> None:
    for name, text in FILES.items():
        write(tmp_path / name, text)
    told = "note: no counterpart: FCT_OUTPUT_FILE mix/fct.txt"
    answer = incast("import", "hpcc", "config.txt", "--check")
    assert answer.status == 0 and answer.out.startswith("would write: config/scenario.toml, config/fabric.csv")
    assert told in answer.err
    assert not (tmp_path / "config").exists()
    answer = incast("import", "hpcc", "config.txt")
    assert answer.out.startswith("wrote: config/scenario.toml, config/fabric.csv, config/flows.csv (HPCC: 4 hosts")
    assert told in answer.err
    assert incast("validate", "config/scenario.toml").status == 0
    incast("import", "hpcc", "config.txt").refused("config exists and is not empty")
    assert incast("export", "config/scenario.toml", "--hpcc", "back", "--quiet").status == 0
    assert sorted(path.name for path in (tmp_path / "back").iterdir()) == sorted([*EXPORTED, "trace.txt"])
    incast("export", "config/scenario.toml").refused("nothing to write: expected --pcapng FILE")
    incast("import", "hpcc", "topology.txt").refused("topology.txt, line 1, column 1: no key of a configuration")
    incast("import", "hpcc", "none.txt").refused("none.txt: No such file or directory")
    write(tmp_path / "cdf.txt", "0 0\n100 100\n")
    assert incast("import", "cdf", "cdf.txt").out == "wrote: cdf.csv\n"
    incast("import", "cdf", "cdf.txt").refused("cdf.csv exists")
    assert incast("import", "cdf", "cdf.txt", "--out", "-", "--quiet").out == (tmp_path / "cdf.csv").read_text()
    incast("import", "htsim").refused("nothing to import: expected --topo FILE or --cm FILE, or both")
