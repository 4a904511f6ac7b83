//! Policies that choose among equal next hops: measured on fat trees, and each rule by itself.

use crate::support::*;
use std::collections::{BTreeMap, BTreeSet};

fn adaptive(by: Gauged, bands: &[f64], refresh: Time) -> PathChoice {
    PathChoice::Adaptive(Adaptive { by, bands: bands.to_vec(), refresh })
}

fn htsim_bands() -> PathChoice {
    adaptive(Gauged::Queue, &[0.05, 0.1, 0.2], Time::ns(100))
}

pub fn policies() -> Vec<PathChoice> {
    vec![
        PathChoice::Ecmp,
        PathChoice::Symmetric,
        PathChoice::First,
        PathChoice::Spray,
        PathChoice::SpraySource,
        PathChoice::RoundRobinSource,
        PathChoice::Flowcell(65_536),
        PathChoice::RoundRobin(5),
        PathChoice::RoundRobin(0),
        htsim_bands(),
        adaptive(Gauged::Utilisation, &[0.0, 0.15, 0.5], Time::us(30)),
        PathChoice::PowerOfTwo,
        flowlet(10, None),
        flowlet(1, Some((0.05, Time::ns(100)))),
        ecmp_adaptive(0.5),
        PathChoice::Entropy(Entropy::Counter),
        reps(),
    ]
}

fn flowlet(gap: u64, band: Option<(f64, Time)>) -> PathChoice {
    let by = band.map(|(band, refresh)| Adaptive { by: Gauged::Queue, bands: vec![band], refresh });
    PathChoice::Flowlet(Flowlet { gap: Time::us(gap), by, probability: 1.0 })
}

fn ecmp_adaptive(probability: f64) -> PathChoice {
    PathChoice::EcmpAdaptive(Adaptive { by: Gauged::Queue, bands: vec![0.001], refresh: Time::ZERO }, probability)
}

fn reps() -> PathChoice {
    PathChoice::Entropy(Entropy::Recycled(Recycled { ring: 8, values: 1 << 16, explore: 16, freeze: Time::ms(10) }))
}

/// The same fabric, with next hops in tables.
fn with_tables(spec: &Spec) -> Spec {
    let table = |router: &Router| {
        let Router::Tree { first, span, stride, down, up, ups } = router.clone() else { return router.clone() };
        let mut sets: Vec<Vec<u32>> = vec![(up..up + ups).collect()];
        let mut set = vec![0; spec.hosts as usize];
        for below in 0..span {
            let port = vec![down + below / stride];
            let at = sets.iter().position(|s| *s == port).unwrap_or_else(|| {
                sets.push(port);
                sets.len() - 1
            });
            set[(first + below) as usize] = at as u32;
        }
        Router::Table { set, sets }
    };
    Spec { routers: spec.routers.iter().map(table).collect(), ..spec.clone() }
}

/// A permutation with queues that overflow at times, everything traced.
fn permutation(choice: PathChoice) -> Spec {
    let mut spec = crate::support::permutation(choice, 12, 300_000);
    spec.observe.trace = (0..16).collect();
    spec
}

/// Packets of the traced flows' data on each link, by the link's name.
fn counts(o: &Outcome, flow: u32, ack: bool) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for e in o.trace.iter().filter(|e| e.flow == flow && (e.payload == 0) == ack) {
        if e.place.contains('>') && matches!(e.event, Happening::Enqueue | Happening::Mark) {
            *counts.entry(e.place.clone()).or_default() += 1;
        }
    }
    counts
}

#[test]
fn every_policy_is_the_same_under_every_partition() {
    for choice in policies() {
        let mut spec = permutation(choice.clone());
        spec.observe.trace.clear();
        spec.flows.iter_mut().for_each(|f| f.app = App::Bulk(Bulk { size: Some(100_000), write: 65_160 }));
        let regular = compared(&spec);
        assert!(regular.flows.iter().all(|f| f.finish_ps.is_some()), "{choice:?}");
        let tables = compared(&with_tables(&spec));
        assert_eq!(format!("{:?}", regular.flows), format!("{:?}", tables.flows), "{choice:?}");
        spec.acks_by_flow = true;
        compared(&spec);
    }
}

/// Inter-pod packets cross six links, packets within a pod four, within a rack two: never more.
#[test]
fn no_packet_leaves_the_shortest_paths() {
    for choice in policies() {
        for spec in [permutation(choice.clone()), with_tables(&permutation(choice.clone()))] {
            let o = run(&spec);
            for (f, flow) in (0..).zip(&spec.flows) {
                let links = if flow.src / 2 == flow.dst / 2 {
                    2
                } else if flow.src / 4 == flow.dst / 4 {
                    4
                } else {
                    6
                };
                for ack in [false, true] {
                    let at: BTreeSet<String> = counts(&o, f, ack).into_keys().collect();
                    let (src, dst) = if ack { (flow.dst, flow.src) } else { (flow.src, flow.dst) };
                    let pods = [src / 4, dst / 4];
                    for link in &at {
                        let number = |kind: &str| {
                            let (_, rest) = link.split_once(kind)?;
                            rest.split('>').next()?.parse::<u32>().ok()
                        };
                        assert!(
                            number("agg").is_none_or(|a| links > 2 && pods.contains(&(a / 2))),
                            "{choice:?} {link}"
                        );
                        assert!(number("core").is_none() || links == 6, "{choice:?} {link}");
                        assert!(number("edge").is_none_or(|e| [src / 2, dst / 2].contains(&e)), "{choice:?} {link}");
                        assert!(number("h").is_none_or(|h| [src, dst].contains(&h)), "{choice:?} {link}");
                    }
                }
            }
        }
    }
}

/// A flow between pods, alone. Its counts: uplinks of its edge switch, of its pod, and paths through cores.
fn alone(choice: PathChoice, packets: u64) -> (Outcome, Spec) {
    let mut spec = permutation(choice);
    spec.queues = vec![drop_tail(10_000)];
    spec.flows = vec![bulk(0, 15, Some(packets * 4000))];
    spec.observe.trace = vec![0];
    (run(&spec), spec)
}

fn uplinks(o: &Outcome, from: &str, to: &str, ack: bool) -> Vec<u64> {
    let counts = counts(o, 0, ack);
    counts.iter().filter(|(name, _)| name.starts_with(from) && name.contains(to)).map(|(_, n)| *n).collect()
}

/// Chi-square over the four paths, three degrees of freedom: 16.3 is its 99.9 % quantile.
fn assert_uniform(counts: &[u64], bins: usize) {
    assert_eq!(counts.len(), bins, "{counts:?}");
    let expected = counts.iter().sum::<u64>() as f64 / bins as f64;
    let chi: f64 = counts.iter().map(|c| (*c as f64 - expected).powi(2) / expected).sum();
    assert!(chi < 16.3, "chi-square {chi} of {counts:?}");
}

#[test]
fn spraying_is_uniform_over_paths() {
    for choice in [PathChoice::Spray, PathChoice::SpraySource] {
        let (o, mut spec) = alone(choice, 4000);
        for ack in [false, true] {
            assert_uniform(&uplinks(&o, if ack { "edge7" } else { "edge0" }, "agg", ack), 2);
            assert_uniform(&uplinks(&o, "agg", "core", ack), 4);
        }
        spec = with_tables(&spec);
        assert_uniform(&uplinks(&run(&spec), "agg", "core", false), 4);
        spec.seed += 1;
        assert_ne!(uplinks(&run(&spec), "agg", "core", false), uplinks(&o, "agg", "core", false));
        // ACKs by flow: one path
        spec.acks_by_flow = true;
        assert_eq!(uplinks(&run(&spec), "agg", "core", true).len(), 1);
    }
}

/// Successive packets use all four paths before any is repeated, at the source and at switches.
#[test]
fn a_round_robin_is_exact() {
    for choice in [PathChoice::RoundRobinSource, PathChoice::RoundRobin(0), PathChoice::RoundRobin(5)] {
        let (o, spec) = alone(choice.clone(), 999);
        let tables = run(&with_tables(&spec));
        for o in [&o, &tables] {
            let at_edge = uplinks(o, "edge0", "agg", false);
            assert_eq!(at_edge, [500, 500], "{choice:?}");
            assert_eq!(uplinks(o, "agg", "core", false), [250, 250, 250, 250], "{choice:?}");
        }
    }
    // every four packets use each path once
    let (o, _) = alone(PathChoice::RoundRobinSource, 999);
    let crossed: Vec<(u64, &str)> = (o.trace.iter())
        .filter(|e| e.payload > 0 && e.event == Happening::Enqueue && e.place.contains(">core"))
        .map(|e| (e.seq, e.place.as_str()))
        .collect();
    let by_packet: BTreeMap<u64, &str> = crossed.into_iter().collect();
    let places: Vec<&str> = by_packet.into_values().collect();
    for four in places.windows(4) {
        assert_eq!(four.iter().collect::<BTreeSet<_>>().len(), 4, "{four:?}");
    }
}

/// Presto: 64 KiB of a flow take one path, the next 64 KiB the next, through all four before any is repeated. ACKs have
/// one path.
#[test]
fn flowcells_take_the_paths_in_turn() {
    let places = |cell: u64, tables: bool| -> Vec<(u64, String)> {
        let (mut o, spec) = alone(PathChoice::Flowcell(cell), 164);
        if tables {
            o = run(&with_tables(&spec));
        }
        assert_eq!(uplinks(&o, "edge7", "agg", true).len(), 1);
        let crossed =
            o.trace.iter().filter(|e| e.payload > 0 && e.event == Happening::Enqueue && e.place.contains(">core"));
        let by_packet: BTreeMap<u64, String> = crossed.map(|e| (e.seq, e.place.clone())).collect();
        by_packet.into_iter().collect()
    };
    for tables in [false, true] {
        // packets of 4000 B: the flowcell of the first byte counts
        let crossed = places(65_536, tables);
        let of = |cell: u64| crossed.iter().filter(move |(seq, _)| seq / 65_536 == cell).map(|own| own.1.as_str());
        let paths: Vec<&str> = (0..10).map(|cell| of(cell).next().unwrap()).collect();
        for (cell, path) in (0..).zip(&paths) {
            assert!(of(cell).all(|place| place == *path), "cell {cell}");
        }
        for four in paths.windows(4) {
            assert_eq!(four.iter().collect::<BTreeSet<_>>().len(), 4, "{four:?}");
        }
        assert!(places(1 << 30, tables).iter().all(|own| own.1 == paths[0]), "a flow of one cell keeps its path");
    }
}

/// A round-robin source uses every path of a graph that is not a tree equally often: three paths, two of which share a
/// next hop.
#[test]
fn whole_paths_count_where_next_hops_differ() {
    // h0 - s0, s0 - {a, b}, a - {c, d}, b - e, {c, d, e} - t, t - h1; all links both ways
    let names = ["h0", "h1", "s", "a", "b", "c", "d", "e", "t"];
    let pairs = [(0, 2), (2, 3), (2, 4), (3, 5), (3, 6), (4, 7), (5, 8), (6, 8), (7, 8), (8, 1)];
    let mut spec = star(2, Rate::gbps(10), Time::us(1));
    let sample = spec.links[0].clone();
    spec.links.clear();
    for (a, b) in pairs.into_iter().flat_map(|(a, b)| [(a, b), (b, a)]) {
        let name = format!("{}>{}", names[a as usize], names[b as usize]);
        spec.links.push(LinkSpec { from: a, to: b, name: name.into(), ..sample.clone() });
    }
    let port =
        |from: u32, to: u32| spec.links.iter().filter(|l| l.from == from).position(|l| l.to == to).unwrap() as u32;
    let table = |node: u32, back: &[u32], on: &[u32]| Router::Table {
        set: vec![0, 1],
        sets: vec![back.iter().map(|n| port(node, *n)).collect(), on.iter().map(|n| port(node, *n)).collect()],
    };
    let routers = vec![
        table(2, &[0], &[3, 4]),
        table(3, &[2], &[5, 6]),
        table(4, &[2], &[7]),
        table(5, &[3], &[8]),
        table(6, &[3], &[8]),
        table(7, &[4], &[8]),
        table(8, &[5, 6, 7], &[1]),
    ];
    spec.routers = routers;
    spec.node_names = names.iter().map(|n| n.to_string()).collect();
    spec.domain_of = (0..9).collect();
    spec.queues = vec![drop_tail(10_000)];
    spec.flows = vec![bulk(0, 1, Some(2999 * 4000))];
    spec.transports[0].loss.dupthresh = 100;
    spec.observe.trace = vec![0];
    let at = |spec: &Spec, name: &str| counts(&run(spec), 0, false)[name];
    spec.choice = PathChoice::RoundRobinSource;
    assert_eq!([at(&spec, "s>a"), at(&spec, "a>c"), at(&spec, "a>d"), at(&spec, "s>b")], [2000, 1000, 1000, 1000]);
    // five standard deviations of 3000 draws with 2/3 are 129, with 1/2 137
    spec.choice = PathChoice::SpraySource;
    assert!(at(&spec, "s>a").abs_diff(2000) < 129);
    spec.choice = PathChoice::Spray;
    assert!(at(&spec, "s>a").abs_diff(1500) < 137);
}

/// Two flows of one rack meet at its two uplinks: the second takes the empty port, so no queue ever holds more than
/// two.
#[test]
fn adaptive_routing_takes_the_empty_port() {
    for choice in [adaptive(Gauged::Queue, &[0.001], Time::ZERO), PathChoice::PowerOfTwo] {
        let mut spec = permutation(choice.clone());
        spec.queues = vec![drop_tail(1000)];
        spec.flows = vec![bulk(0, 8, Some(4_000_000)), bulk(1, 12, Some(4_000_000))];
        let o = run(&spec);
        let most = |o: &Outcome| {
            let up = o.ports.iter().filter(|p| p.name.starts_with("edge0>agg") || p.name.contains(">core"));
            up.map(|p| p.queue_max_packets).max().unwrap()
        };
        // two flows of line rate on two ports of line rate: one packet in transmission, one that arrived a moment too
        // early
        assert!(most(&o) <= 2, "{choice:?}: {}", most(&o));
        spec.choice = PathChoice::First;
        assert!(most(&run(&spec)) > 5, "both on one port");
        spec.choice = PathChoice::Spray;
        assert!(most(&run(&spec)) > 3);
    }
}

/// Stale readings mislead: two flows at line rate need both uplinks, and readings that never expire send both to one
/// half of the time.
#[test]
fn readings_serve_until_they_are_old() {
    let most = |refresh: Time| {
        let mut spec = permutation(adaptive(Gauged::Queue, &[0.001], refresh));
        spec.queues = vec![drop_tail(1000)];
        spec.flows = vec![bulk(0, 8, Some(4_000_000)), bulk(1, 12, Some(4_000_000))];
        let up = run(&spec).ports.into_iter().filter(|p| p.name.starts_with("edge0>agg"));
        up.map(|p| p.queue_max_packets).max().unwrap()
    };
    assert!(most(Time::ZERO) <= 2);
    assert!(most(Time::s(1)) > 3);
}

/// Explicit queues are read like FIFO ports.
#[test]
fn explicit_queues_give_the_same_choices() {
    for choice in
        [htsim_bands(), adaptive(Gauged::Utilisation, &[0.0, 0.15, 0.5], Time::us(30)), PathChoice::PowerOfTwo]
    {
        let mut spec = permutation(choice);
        let fifo = compared(&spec);
        spec.queues[0].explicit = true;
        let explicit = compared(&spec);
        assert_eq!(format!("{:?}", fifo.flows), format!("{:?}", explicit.flows));
    }
}

/// A flow that sends in two bursts, 500 us apart: the packets of each burst share a path, and the two paths differ if
/// the gap is shorter than the pause.
#[test]
fn flowlets_begin_after_the_gap() {
    let bursts = |choice: &PathChoice, seed: u64| -> Vec<Vec<u64>> {
        let (_, mut spec) = alone(choice.clone(), 1);
        spec.seed = seed;
        spec.flows[0].app =
            App::ClosedLoop(ClosedLoop { write: 40_000, outstanding: 1, think: Time::us(500), count: Some(2) });
        let o = compared(&spec);
        let paths = ["edge0>agg0", "edge0>agg1"];
        let of = |number: u64, path: &str| {
            let burst = o.trace.iter().filter(|e| e.payload > 0 && e.event == Happening::Enqueue && e.place == path);
            burst.filter(|e| e.seq / 40_000 == number).count() as u64
        };
        (0..2).map(|burst| paths.iter().map(|p| of(burst, p)).collect()).collect()
    };
    let whole = |counts: &[u64]| counts.contains(&10) && counts.contains(&0);
    let mut moved = 0;
    for seed in 0..20 {
        for choice in [flowlet(100, None), flowlet(1000, None), flowlet(100, Some((0.05, Time::ZERO)))] {
            let b = bursts(&choice, seed);
            assert!(whole(&b[0]) && whole(&b[1]), "{choice:?}: {b:?}");
            match &choice {
                PathChoice::Flowlet(Flowlet { gap, by: None, .. }) if *gap == Time::us(100) => {
                    moved += u64::from(b[0] != b[1]);
                }
                // no pause, or no port better than an idle one
                _ => assert_eq!(b[0], b[1], "{choice:?}"),
            }
        }
    }
    assert!((3..18).contains(&moved), "one of two ports at random: {moved} of 20");
}

/// Two flows at line rate whose hashes meet at an uplink: the one that flowlets move to the empty port stays there, and
/// packets that leave the full port form no queue.
#[test]
fn who_may_leave_a_full_port_does() {
    let most = |choice: PathChoice, seed: u64| {
        let mut spec = permutation(choice);
        spec.seed = seed;
        spec.queues = vec![drop_tail(1000)];
        spec.flows = vec![bulk(0, 8, Some(2_000_000)), bulk(1, 12, Some(2_000_000))];
        let up = run(&spec).ports.into_iter().filter(|p| p.name.starts_with("edge0>agg"));
        up.map(|p| p.queue_max_packets).max().unwrap()
    };
    let meets = (0..20).find(|seed| most(PathChoice::Ecmp, *seed) > 5).expect("two flows on two ports");
    assert!(most(ecmp_adaptive(1.0), meets) <= 2);
    // half of the packets choose by load: series to the wrong port are short
    assert!(most(ecmp_adaptive(0.5), meets) < most(PathChoice::Ecmp, meets) / 2);
    assert_eq!(most(ecmp_adaptive(0.0), meets), most(PathChoice::Ecmp, meets));
}

/// The path of every data packet, and of the ACK that returns its entropy. A counter spreads packets evenly, and REPS
/// reuses paths that worked.
#[test]
fn entropy_values_choose_paths_at_every_switch() {
    for choice in [PathChoice::Entropy(Entropy::Counter), reps()] {
        let (o, mut spec) = alone(choice.clone(), 4000);
        for ack in [false, true] {
            let at_edge = uplinks(&o, if ack { "edge7" } else { "edge0" }, "agg", ack);
            assert_eq!(at_edge.len(), 2, "{choice:?}");
            assert_eq!(uplinks(&o, "agg", "core", ack).len(), 4, "{choice:?}");
        }
        if let PathChoice::Entropy(Entropy::Counter) = choice {
            assert_uniform(&uplinks(&o, "agg", "core", false), 4);
        }
        // one entropy, one path
        if let PathChoice::Entropy(Entropy::Recycled(rule)) = &mut spec.choice {
            rule.values = 1;
            assert_eq!(uplinks(&run(&spec), "agg", "core", false).len(), 1);
        }
    }
}

/// Marks keep REPS away from a path: a queue that marks all its packets is hardly used after the first round trip.
#[test]
fn marked_values_are_not_used_again() {
    let (_, mut spec) = alone(reps(), 4000);
    spec.controllers = vec![controller("dctcp", &[])];
    let mark = |k| QueueSpec { discipline: ecn_threshold(k), ..drop_tail(10_000) };
    spec.queues = vec![mark(5000), mark(0)];
    for link in spec.links.iter_mut().filter(|l| l.name == "edge0>agg0") {
        link.queue = 1;
    }
    let o = compared(&spec);
    let counts = counts(&o, 0, false);
    let (marked, other) = (counts["edge0>agg0"], counts["edge0>agg1"]);
    assert!(marked * 4 < other, "{marked} marked, {other} not");
    spec.choice = PathChoice::Spray;
    let spread = self::counts(&run(&spec), 0, false);
    assert!(spread["edge0>agg0"] * 3 > spread["edge0>agg1"], "sprayed evenly: {spread:?}");
}
