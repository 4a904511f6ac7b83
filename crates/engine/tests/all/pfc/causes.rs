//! Records of pauses: who asked, and at which egress ports the bytes waited.

use super::*;
use std::collections::{BTreeMap, BTreeSet};

/// Switches a, b and c in a row. Hosts 0 and 1 at a and 2 at b send to host 3 at c; host 4 at a sends to host 5 at b,
/// over a link that it shares with them.
fn chain() -> Spec {
    let mut spec = endless(star(6, Rate::gbps(10), Time::us(1)), Time::us(400));
    let ends = [
        [(0, 6), (6, 0)],
        [(1, 6), (6, 1)],
        [(4, 6), (6, 4)],
        [(2, 7), (7, 2)],
        [(5, 7), (7, 5)],
        [(3, 8), (8, 3)],
        [(6, 7), (7, 6)],
        [(7, 8), (8, 7)],
    ];
    rewire(&mut spec, &["h0", "h1", "h2", "h3", "h4", "h5", "a", "b", "c"], ends.as_flattened());
    spec.domain_of = vec![0, 0, 1, 2, 0, 1, 0, 1, 2];
    let slow = |l: &&mut LinkSpec| l.name == "c>h3";
    spec.links.iter_mut().filter(slow).for_each(|l| l.rate = Rate::gbps(2));
    let table =
        |set: [u32; 6], ports: u32| Router::Table { set: set.to_vec(), sets: (0..ports).map(|p| vec![p]).collect() };
    // local ports in the order of links: a: h0 h1 h4 b; b: h2 h5 a c; c: h3 b
    spec.routers = vec![table([0, 1, 3, 3, 2, 3], 4), table([2, 2, 0, 3, 2, 1], 4), table([1, 1, 1, 0, 1, 1], 2)];
    spec.transports = vec![changed!(htsim(), sizes.mss = 1000)];
    let rate = Rate::gbps(3);
    spec.flows = [(0, 3), (1, 3), (2, 3), (4, 5)].map(|(src, dst)| flood(src, dst, 1000, rate)).to_vec();
    spec.buffer = with(pfc(), 100_000);
    spec.observe.pauses = Some(u32::MAX);
    spec
}

/// Egress ports by paused port, and the switches that asked.
fn causes(spec: &Spec, o: &Outcome) -> BTreeMap<String, (BTreeSet<String>, String)> {
    let name = |port: u32| spec.links[port as usize].name.to_string();
    let mut found: BTreeMap<String, (BTreeSet<String>, String)> = BTreeMap::new();
    for row in o.pauses.rows.iter().filter(|row| !row.at_end) {
        let of = found.entry(name(row.key.port)).or_default();
        of.0.insert(name(row.waiting.port));
        of.1 = o.pauses.nodes[row.node as usize].clone();
    }
    found
}

#[test]
fn a_pause_names_the_port_that_began_it_along_a_chain() {
    let spec = chain();
    let o = compared(&spec);
    let found = causes(&spec, &o);
    let of = |port: &str| (found[port].0.iter().map(String::as_str).collect::<Vec<_>>(), found[port].1.as_str());
    assert_eq!(of("b>c"), (vec!["c>h3"], "c"));
    assert_eq!(of("h2>b"), (vec!["b>c"], "b"));
    assert_eq!(of("h0>a"), (vec!["a>b"], "a"));
    // the victim waits for a port that it does not pass
    assert_eq!(of("h4>a"), (vec!["a>b"], "a"));
    assert!(of("a>b").0.contains(&"b>c"), "{found:?}");
    // the port that began it is not paused itself
    assert!(!found.contains_key("c>h3"));
    assert_eq!(o.paths.iter().filter(|own| own.flow == 3).count(), 3, "flows have paths for the tree");
    let first = o.pauses.rows[0];
    assert!(first.bytes >= first.threshold || first.headroom > 0, "{first:?}");
}

#[test]
fn what_is_recorded_does_not_depend_on_threads_and_changes_nothing_else() {
    let spec = chain();
    let of = |threads: u32, pauses: Option<u32>| {
        let mut spec = Spec { threads: Some(threads), ..spec.clone() };
        spec.observe.pauses = pauses;
        run(&spec)
    };
    let whole = of(1, Some(u32::MAX));
    assert_eq!(format!("{whole:?}"), format!("{:?}", of(3, Some(u32::MAX))));
    let none = of(1, None);
    let bare = |o: Outcome| format!("{:?}", Outcome { pauses: Default::default(), paths: Vec::new(), ..o });
    assert_eq!(bare(none), bare(of(3, Some(7))));
}

/// A limit keeps the first pauses of the whole run, whatever the threads.
#[test]
fn a_limit_keeps_the_first_pauses() {
    let mut spec = chain();
    let whole = run(&spec).pauses.rows;
    assert!(whole.last().unwrap().pause > 30, "{:?}", whole.last());
    for most in [1, 7, 20] {
        spec.observe.pauses = Some(most);
        let first: Vec<_> = whole.iter().filter(|row| row.pause < most).copied().collect();
        for threads in [1, 3] {
            let o = run(&Spec { threads: Some(threads), ..spec.clone() });
            assert_eq!(o.pauses.rows, first, "{most}, {threads}");
        }
        assert_eq!(compared(&spec).pauses.rows, first);
    }
}
