//! Elephants: their selection, the places that other flows share with them, and their behaviour in a run.

use incast_engine::spec::{App, Bulk, PathChoice, Spec, Udp};
use incast_scenario::Scenario;
use std::collections::BTreeSet;

fn scenario(seed: u64, sets: &[(&str, &str)]) -> Scenario {
    let mut s = Scenario::load("permutation-elephants").unwrap().with_seed(seed);
    for (k, v) in sets {
        s.set(k, v).unwrap();
    }
    s
}

fn built(seed: u64, elephants: u32) -> Spec {
    scenario(seed, &[("traffic.elephants.flows", &elephants.to_string())]).build().unwrap()
}

/// Distances from an end of a flow to that of an elephant, as numbered by labels.
const NONE: u32 = 0;
const POD: u32 = 1;
const LEAF: u32 = 2;

/// Places shared by each flow at its source and at its destination.
fn shared(spec: &Spec) -> impl Iterator<Item = (u32, u32)> {
    let [source, destination] = &spec.labels[..] else { panic!("a label for each end") };
    assert_eq!([source.name, destination.name], ["shared_source", "shared_destination"]);
    assert!([source, destination].iter().all(|label| label.values == ["none", "pod", "leaf"]));
    assert!([source, destination].iter().all(|label| label.of.len() == spec.flows.len()));
    source.of.iter().copied().zip(destination.of.iter().copied())
}

/// Places shared by the most affected 1 % of the flows, the nearer end first.
fn most_affected(spec: &Spec) -> Vec<(u32, u32)> {
    let others = spec.flows.iter().zip(shared(spec)).filter(|(f, _)| f.group == 0);
    let mut ranks: Vec<_> = others.map(|(_, (a, b))| (a.max(b), a.min(b))).collect();
    ranks.sort_unstable_by(|a, b| b.cmp(a));
    ranks.truncate(ranks.len().div_ceil(100));
    ranks
}

#[test]
fn the_most_affected_flows_are_those_of_the_paper() {
    let wanted = [(1, (LEAF, NONE)), (2, (LEAF, POD)), (3, (LEAF, POD)), (6, (LEAF, LEAF))];
    for (n, class) in wanted {
        for seed in 1..=20 {
            let spec = built(seed, n);
            let found = most_affected(&spec);
            assert_eq!(found.len(), 3, "1 % of some 245 flows, rounded up");
            assert_eq!(found[2], class, "{n} elephants, seed {seed}");
        }
    }
}

#[test]
fn the_other_flows_are_those_of_the_permutation_alone() {
    let ends = |spec: &Spec| spec.flows.iter().map(|f| (f.src, f.dst)).collect::<Vec<_>>();
    let mut alone = scenario(5, &[]);
    alone.set("traffic.elephants.placement", "random").unwrap();
    let [one, six] = [1, 6].map(|n| built(5, n));
    assert_eq!(ends(&one), ends(&six));
    assert_eq!(ends(&alone.build().unwrap()), ends(&six));
    assert_eq!(six.flows.iter().filter(|f| f.group == 1).count(), 6);
    for flow in six.flows.iter().filter(|f| f.group == 0) {
        assert!(matches!(flow.app, App::Bulk(Bulk { size: Some(2_000_000), .. })) && flow.path.is_none());
    }
    let chosen =
        |seed| (0u32..).zip(&built(seed, 3).flows).filter(|(_, f)| f.group == 1).map(|(i, _)| i).collect::<Vec<_>>();
    let distinct: BTreeSet<Vec<u32>> = (1..=20).map(chosen).collect();
    assert!(distinct.len() >= 19, "seeds draw others: {distinct:?}");
}

#[test]
fn sharing_is_that_of_the_drawn_elephants() {
    let spec = built(3, 3);
    let elephants: Vec<_> = spec.flows.iter().filter(|f| f.group == 1).map(|f| (f.src, f.dst)).collect();
    let near = |a: u32, b: u32| match (a / 5 == b / 5, a / 25 == b / 25) {
        (true, _) => LEAF,
        (_, true) => POD,
        _ => NONE,
    };
    for (flow, found) in spec.flows.iter().zip(shared(&spec)) {
        let others = || elephants.iter().filter(|e| **e != (flow.src, flow.dst));
        let source = others().map(|e| near(e.0, flow.src)).max().unwrap();
        let destination = others().map(|e| near(e.1, flow.dst)).max().unwrap();
        assert_eq!(found, (source, destination), "{} to {}", flow.src, flow.dst);
    }
}

#[test]
fn elephants_keep_to_one_path_and_half_of_the_line() {
    let spec = built(1, 2);
    assert_eq!(spec.choice, PathChoice::Spray);
    for flow in spec.flows.iter().filter(|f| f.group == 1) {
        let path = flow.path.as_ref().unwrap();
        assert_eq!(spec.links[path[0] as usize].from, flow.src);
        assert_eq!(spec.links[*path.last().unwrap() as usize].to, flow.dst);
        // packets of 4000 bytes, headers included, over 100 Gb/s: 320 ns each
        assert_eq!(flow.app, App::Udp(Udp { gap: incast_cc::Time::ns(640), random: false }));
    }
    // under ECMP all paths are single ones
    let spec = scenario(1, &[("routing.kind", "ecmp")]).build().unwrap();
    assert!(spec.flows.iter().all(|f| f.path.is_none()));
    let spec = scenario(1, &[("traffic.elephants.single_path", "false"), ("traffic.permutation.single_path", "true")]);
    assert!(spec.build().unwrap().flows.iter().all(|f| f.path.is_some() == (f.group == 0)));
}

#[test]
fn elephants_may_be_flows_of_any_controller() {
    let mut s =
        scenario(1, &[("traffic.elephants.app", "{ kind = \"bulk\" }"), ("traffic.elephants.controller", "swift")]);
    s.set("traffic.elephants.start", "3us").unwrap();
    let spec = s.build().unwrap();
    for flow in &spec.flows {
        let elephant = flow.group == 1;
        assert_eq!(spec.controllers[flow.controller as usize].kind().name, if elephant { "swift" } else { "mswift" });
        assert_eq!(flow.start == incast_cc::Time::us(3), elephant);
        assert_eq!(flow.path.is_some() && flow.reverse_path.is_some(), elephant);
    }
}

#[test]
fn a_run_ends_when_the_permutation_is_done() {
    let s = scenario(
        1,
        &[("topology.k", "4"), ("traffic.elephants.placement", "random"), ("traffic.elephants.flows", "2")],
    );
    let spec = s.build().unwrap();
    let o = incast_engine::run(&spec, &mut |_| true).unwrap();
    let last = o.flows.iter().filter(|f| f.group == 0).map(|f| f.finish_ps.unwrap()).max().unwrap();
    assert!(o.end_ps > last && o.end_ps < last + 2_000_000, "the longest link takes 1 us and a little");
    for flow in o.flows.iter().filter(|f| f.group == 1) {
        let packets = last / 640_000;
        assert!(flow.sent.abs_diff(packets) <= 3, "half of the line rate to the end: {} of {packets}", flow.sent);
        assert_eq!(o.controllers[flow.controller as usize], "udp");
    }
    assert_eq!(o.packets_sent, o.packets_delivered + o.packets_dropped + o.packets_in_flight);
}

#[test]
fn none_of_them_is_a_run_without() {
    for placement in ["paper", "random"] {
        let s = scenario(3, &[("traffic.elephants.flows", "0"), ("traffic.elephants.placement", placement)]);
        let (spec, with) = (s.build().unwrap(), built(3, 1));
        assert!(spec.flows.len() == with.flows.len() && spec.flows.iter().all(|f| f.group == 0));
        assert!(shared(&spec).all(|places| places == (NONE, NONE)));
        let same =
            spec.flows.iter().zip(&with.flows).filter(|(a, b)| (a.src, a.dst, a.start) == (b.src, b.dst, b.start));
        assert_eq!(same.count(), spec.flows.len(), "the same flows as with elephants");
        assert_eq!(s.notes().unwrap(), [""; 0]);
    }
}
