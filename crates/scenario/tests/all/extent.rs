//! Size of a run before it runs.

use incast_engine::{Progress, run};
use incast_scenario::Scenario;
use incast_scenario::build::extent::Extent;

fn loaded(name: &str, sets: &[(&str, &str)]) -> Scenario {
    let mut scenario = Scenario::load(name).unwrap();
    sets.iter().for_each(|(key, value)| scenario.set(key, value).unwrap());
    scenario
}

#[test]
fn hosts_switches_ports_and_flows_are_counted() {
    let found = loaded("leaf-spine", &[]).extent().unwrap();
    // 4 leaves of 16 hosts, 4 spines; a cable is two ports
    assert_eq!((found.hosts, found.switches, found.ports, found.flows), (64, 8, 2 * (64 + 16), 128));
    assert_eq!((found.host_rate_bps, found.duration_s), (10e9, 0.1));
}

/// Where few packets are lost, to a factor of two.
#[test]
fn hops_are_estimated_without_a_run() {
    for (name, sets) in [
        ("permutation", &[("topology.k", "4")][..]),
        ("incast", &[]),
        ("star", &[]),
        ("dumbbell", &[("run.warmup", "0s"), ("run.duration", "10ms")]),
        ("websearch", &[("traffic.arrivals.until", "1ms"), ("traffic.arrivals.load", "20%")]),
        ("pfc-incast", &[]),
        ("three-tier-incast", &[]),
    ] {
        let spec = loaded(name, sets).build().unwrap();
        let estimated = Extent::of(&spec).hops.unwrap();
        let hops = run(&spec, &mut |_: Progress| true).unwrap().hops;
        let ratio = estimated / hops as f64;
        assert!((0.5..=2.0).contains(&ratio), "{name}: {estimated} estimated, {hops} in the run");
    }
}

/// A flow of four segments over two links, there and back, with SYN, SYN-ACK, FIN and its ACK.
#[test]
fn the_hops_of_one_flow_are_counted_by_hand() {
    let sets = [("topology.sources", "1"), ("traffic.flows", "1"), ("traffic.app.size", "5792B")];
    let found = loaded("incast", &sets).extent().unwrap();
    assert_eq!(found.hops, Some((4.0 + 2.0) * 4.0));
}

#[test]
fn hops_of_radio_cells_are_not_estimated() {
    assert_eq!(loaded("wireless-cell", &[]).extent().unwrap().hops, None);
}
