//! Symmetric routing: an ACK passes the links of its data, in the opposite direction.

use crate::support::*;
use incast_engine::map::failover::reroute;
use proptest::prelude::*;
use std::collections::{BTreeSet, VecDeque};

type Links = BTreeSet<String>;

/// Name of the opposite link.
fn turned(name: &str) -> String {
    let (link, number) = name.split_once('#').map_or((name, String::new()), |(link, n)| (link, format!("#{n}")));
    let (from, to) = link.split_once('>').unwrap();
    format!("{to}>{from}{number}")
}

/// Links used by packets of `flow` in `times`: data, or ACKs.
fn used(o: &Outcome, flow: u32, ack: bool, times: std::ops::Range<u64>) -> Links {
    let put = o.trace.iter().filter(|e| e.flow == flow && (e.payload == 0) == ack && e.place.contains('>'));
    let put = put.filter(|e| matches!(e.event, Happening::Enqueue | Happening::Mark) && times.contains(&e.time_ps));
    put.map(|e| e.place.clone()).collect()
}

/// True if data and ACKs of `flow` passed the same links in `times`, there and back.
fn is_mirrored(o: &Outcome, flow: u32, times: std::ops::Range<u64>) -> bool {
    let (data, acks) = (used(o, flow, false, times.clone()), used(o, flow, true, times));
    assert!(!data.is_empty() && !acks.is_empty(), "flow {flow} says nothing");
    data.iter().map(|l| turned(l)).collect::<Links>() == acks
}

fn traced(mut spec: Spec, choice: PathChoice) -> Spec {
    spec.choice = choice;
    spec.observe.trace = (0..spec.flows.len() as u32).collect();
    spec
}

/// Every host of a fat tree to every other, 4 kB each.
fn all_pairs(seed: u64) -> Spec {
    let mut spec = permutation(PathChoice::Ecmp, 1000, 4000);
    spec.seed = seed;
    let pairs = (0..16).flat_map(|a| (0..16).map(move |b| (a, b))).filter(|(a, b)| a != b);
    spec.flows = pairs.map(|(a, b)| bulk(a, b, Some(4000))).collect();
    spec
}

#[test]
fn acks_pass_the_links_of_their_data_in_a_fat_tree() {
    for seed in [1, 2] {
        let spec = all_pairs(seed);
        let flows = 0..spec.flows.len() as u32;
        let o = run(&traced(spec.clone(), PathChoice::Symmetric));
        assert!(flows.clone().all(|f| is_mirrored(&o, f, 0..u64::MAX)), "seed {seed}");
        // ECMP sends data over the same path, and ACKs over another in three of four cases with several paths
        let ecmp = run(&traced(spec, PathChoice::Ecmp));
        assert!(flows.clone().all(|f| used(&o, f, false, 0..u64::MAX) == used(&ecmp, f, false, 0..u64::MAX)));
        assert!(flows.filter(|f| !is_mirrored(&ecmp, *f, 0..u64::MAX)).count() > 100);
    }
}

/// Host 0 asks hosts of other racks: requests, responses and the ACKs of both share one path there and one back.
#[test]
fn both_flows_of_a_connection_have_one_way() {
    let mut spec = all_pairs(1);
    let workers = [5, 9, 13, 15];
    let messages = |src, dst| FlowSpec { app: App::Messages(Messages), ..bulk(src, dst, None) };
    spec.flows = workers.iter().flat_map(|w| [messages(0, *w), messages(*w, 0)]).collect();
    let connection =
        |i: u32| ConnectionSpec { request: 2 * i, response: 2 * i + 1, request_size: 100, response_size: 50_000 };
    spec.queries = vec![QuerySpec {
        group: 0,
        root: 0,
        first: Time::us(100),
        think: Time::us(5),
        count: Some(2),
        stop: Time::NEVER,
        close: None,
        connections: (0..4).map(connection).collect(),
    }];
    spec.transports[0].connection.handshake = true;
    let one_way = |o: &Outcome, i: u32| {
        let at = |f| [false, true].map(|ack| used(o, f, ack, 0..u64::MAX));
        let all: Links = at(2 * i).into_iter().chain(at(2 * i + 1)).flatten().collect();
        assert!(o.messages.iter().all(|m| m.finish_ps.is_some()));
        // six links there and six back
        all.len() == 12 && all.iter().all(|l| all.contains(&turned(l)))
    };
    let o = compared(&traced(spec.clone(), PathChoice::Symmetric));
    assert!((1..4).all(|i| one_way(&o, i)));
    let o = run(&traced(spec, PathChoice::Ecmp));
    assert!(!(1..4).all(|i| one_way(&o, i)));
}

/// Two links fail and are detected 20 us later; from then on the detours are mirrored too.
#[test]
fn the_mirror_image_follows_the_ways_around_failures() {
    let mut spec = permutation(PathChoice::Symmetric, 100, 2_000_000);
    for (a, b) in [("agg0", "core0"), ("edge5", "agg4")] {
        for name in [format!("{a}>{b}"), format!("{b}>{a}")] {
            let link = spec.links.iter().position(|l| l.name == *name).unwrap() as u32;
            let effect = Effect::Down { detection: Time::us(20) };
            spec.failures.push(Failure { link, from: Time::us(50), until: Time::NEVER, effect });
        }
    }
    reroute(&mut spec);
    let o = compared(&traced(spec.clone(), PathChoice::Symmetric));
    let flows = 0..spec.flows.len() as u32;
    let around = |f: &u32| used(&o, *f, false, 0..40 * US) != used(&o, *f, false, 100 * US..u64::MAX);
    assert!(flows.clone().filter(around).count() >= 2, "the failures met nobody");
    assert!(flows.clone().all(|f| is_mirrored(&o, f, 0..40 * US)));
    assert!(flows.clone().all(|f| is_mirrored(&o, f, 100 * US..u64::MAX)));
    assert!(o.flows.iter().all(|f| f.finish_ps.is_some()));
}

/// Switches joined by `pairs`, with parallel links for repeated pairs, and a host at each of `homes`. Next hops are all
/// those on shortest paths.
fn graph(switches: u32, pairs: &[(u32, u32)], homes: &[u32]) -> Spec {
    let hosts = homes.len() as u32;
    let mut spec = star(hosts, Rate::gbps(10), Time::us(1));
    spec.node_names = (0..hosts).map(|h| format!("h{h}")).chain((0..switches).map(|s| format!("s{s}"))).collect();
    let nodes = spec.node_names.len();
    spec.domain_of = (0..nodes as u32).collect();
    spec.links.clear();
    // a line through all switches, so that all are connected
    let line = (1..switches).map(|s| (s - 1, s));
    let between = line.chain(pairs.iter().map(|(a, b)| (a % switches, b % switches))).filter(|(a, b)| a != b);
    let homes = (0..).zip(homes).map(|(h, s)| (h, hosts + s % switches));
    for (a, b) in between.map(|(a, b)| (hosts + a, hosts + b)).chain(homes) {
        for (from, to) in [(a, b), (b, a)] {
            let number = spec.links.iter().filter(|l| (l.from, l.to) == (from, to)).count() + 1;
            let name = format!("{}>{}", spec.node_names[from as usize], spec.node_names[to as usize]);
            let name = if number > 1 { format!("{name}#{number}") } else { name };
            spec.links.push(link(from, to, Rate::gbps(10), Time::us(1), name));
        }
    }
    let out = |n: u32| spec.links.iter().filter(move |l| l.from == n).map(|l| l.to);
    let mut routers: Vec<(Vec<u32>, Vec<Vec<u32>>)> = vec![(Vec::new(), Vec::new()); switches as usize];
    for dst in 0..hosts {
        let mut far = vec![u32::MAX; nodes];
        far[dst as usize] = 0;
        let mut queue = VecDeque::from([dst]);
        while let Some(n) = queue.pop_front() {
            for m in out(n).filter(|m| *m >= hosts) {
                if far[m as usize] == u32::MAX {
                    far[m as usize] = far[n as usize] + 1;
                    queue.push_back(m);
                }
            }
        }
        for (s, (set, sets)) in (hosts..).zip(&mut routers) {
            let nearer = (0..).zip(out(s)).filter(|(_, m)| far[*m as usize] < far[s as usize]).map(|(p, _)| p);
            set.push(sets.len() as u32);
            sets.push(nearer.collect());
        }
    }
    spec.routers = routers.into_iter().map(|(set, sets)| Router::Table { set, sets }).collect();
    spec.flows = (0..hosts)
        .flat_map(|a| (0..hosts).map(move |b| (a, b)))
        .filter(|(a, b)| a != b)
        .map(|(a, b)| bulk(a, b, Some(3000)))
        .collect();
    spec
}

proptest! {
    #![proptest_config(crate::support::cases(40))]

    #[test]
    fn acks_pass_the_links_of_their_data_in_any_graph(
        switches in 2u32..9,
        pairs in prop::collection::vec((0u32..9, 0u32..9), 0..20),
        homes in prop::collection::vec(0u32..9, 2..5),
        seed: u64,
    ) {
        let spec = Spec { seed, ..graph(switches, &pairs, &homes) };
        let o = compared(&traced(spec.clone(), PathChoice::Symmetric));
        for f in 0..spec.flows.len() as u32 {
            prop_assert!(is_mirrored(&o, f, 0..u64::MAX), "flow {}", f);
        }
    }
}

/// Two links between two switches: an ACK takes the one of its data.
#[test]
fn parallel_links_are_told_apart() {
    let spec = graph(2, &[(0, 1), (0, 1)], &[0, 0, 1, 1]);
    let o = run(&traced(spec.clone(), PathChoice::Symmetric));
    assert!((0..spec.flows.len() as u32).all(|f| is_mirrored(&o, f, 0..u64::MAX)));
    let all: Links = (0..spec.flows.len() as u32).flat_map(|f| used(&o, f, false, 0..u64::MAX)).collect();
    assert!(["s0>s1", "s0>s1#2", "s0>s1#3"].iter().all(|l| all.contains(*l)), "{all:?}");
}
