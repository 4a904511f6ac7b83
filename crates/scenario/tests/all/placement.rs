//! Sources and destinations of flows, under a seed.

use incast_engine::spec::{App, FlowSpec, OnOff, Spec};
use incast_scenario::Scenario;
use std::collections::BTreeSet;

fn spec(name: &str, seed: u64, sets: &[(&str, &str)]) -> Spec {
    let mut s = Scenario::load(name).unwrap().with_seed(seed);
    for (k, v) in sets {
        s.set(k, v).unwrap();
    }
    s.build().unwrap()
}

fn ends(spec: &Spec) -> Vec<(u32, u32)> {
    spec.flows.iter().map(|f| (f.src, f.dst)).collect()
}

#[test]
fn hotspot_is_ns3_mode_0_but_for_the_receiver_itself() {
    let flows = ends(&spec("hotspot", 1, &[("traffic.flows", "40")]));
    for (i, (src, dst)) in flows.into_iter().enumerate() {
        assert_eq!(dst, 15);
        assert_eq!(src as usize, if i % 16 == 15 { 0 } else { i % 16 });
    }
    let flows = ends(&spec("hotspot", 1, &[("traffic.flows", "20"), ("traffic.receiver", "h3")]));
    assert_eq!(flows[2..5], [(2, 3), (4, 3), (4, 3)]);
}

#[test]
fn random_hotspot() {
    let mut receivers = BTreeSet::new();
    for seed in 0..64 {
        let flows = ends(&spec("random-hotspot", seed, &[]));
        let to = flows[0].1;
        assert!(flows.iter().all(|(s, d)| *d == to && *s != to && *s < 16));
        // 100 draws among 15 leave one out with probability 15 * (14/15)^100 = 1.5 %; all but two
        // being drawn fails far below one in 10^4.
        assert!(flows.iter().map(|f| f.0).collect::<BTreeSet<_>>().len() >= 13);
        receivers.insert(to);
    }
    // 64 draws among 16: 13 or more distinct values but for one in 10^3; the seeds are fixed.
    assert!(receivers.len() >= 13, "{receivers:?}");
}

#[test]
fn random_pairs_are_uniform() {
    let flows = ends(&spec("random-pairs", 3, &[("traffic.flows", "24000")]));
    let mut counts = [[0u32; 16]; 16];
    for (s, d) in flows {
        counts[s as usize][d as usize] += 1;
    }
    let mut chi = 0.0;
    for (s, row) in counts.iter().enumerate() {
        assert_eq!(row[s], 0, "no flow to oneself");
        chi += row
            .iter()
            .enumerate()
            .filter(|(d, _)| *d != s)
            .map(|(_, n)| (*n as f64 - 100.0).powi(2) / 100.0)
            .sum::<f64>();
    }
    // chi-square with 239 degrees of freedom: its 99.9 % quantile is 312.
    assert!(chi < 312.0, "{chi}");
}

#[test]
fn permutations_have_no_fixed_point() {
    let mut distinct = BTreeSet::new();
    for seed in 0..50 {
        let flows = ends(&spec("permutation", seed, &[("topology.k", "4")]));
        assert_eq!(flows.iter().map(|f| f.0).collect::<Vec<_>>(), (0..16).collect::<Vec<_>>());
        assert_eq!(flows.iter().map(|f| f.1).collect::<BTreeSet<_>>(), (0..16).collect());
        assert!(flows.iter().all(|(s, d)| s != d));
        distinct.insert(flows);
    }
    assert_eq!(distinct.len(), 50);
    // More flows than hosts: one permutation after another, and not the same one.
    let flows = ends(&spec("permutation", 1, &[("topology.k", "4"), ("traffic.flows", "40")]));
    assert_eq!(flows[16..32].iter().map(|f| f.1).collect::<BTreeSet<_>>(), (0..16).collect());
    assert_ne!(flows[..16], flows[16..32]);
}

#[test]
fn the_smallest_permutation() {
    // Two hosts have one permutation without fixed point.
    assert_eq!(ends(&spec("permutation", 5, &[("topology.k", "2")])), [(0, 1), (1, 0)]);
}

#[test]
fn incast_senders_are_distinct_while_there_are_hosts() {
    let flows = ends(&spec("incast", 4, &[]));
    assert!(flows.iter().all(|f| f.1 == 40), "the sink is the last host");
    assert_eq!(flows.iter().map(|f| f.0).collect::<BTreeSet<_>>(), (0..40).collect());
    let flows = ends(&spec("incast", 4, &[("traffic.flows", "100"), ("traffic.receiver", "source7")]));
    assert!(flows.iter().all(|f| f.1 == 7 && f.0 != 7));
    assert_eq!(flows[..40], flows[40..80]);
    assert_eq!(flows[..40].iter().map(|f| f.0).collect::<BTreeSet<_>>().len(), 40);
}

#[test]
fn pairs() {
    assert_eq!(ends(&spec("dumbbell", 1, &[])), [(0, 2), (1, 3)]);
    assert_eq!(ends(&spec("dumbbell", 1, &[("topology.receivers", "1")])), [(0, 2), (1, 2)]);
    assert_eq!(ends(&spec("two-senders", 1, &[])), [(0, 2), (1, 2)]);
}

#[test]
fn placement_follows_the_seed_and_nothing_else() {
    for name in ["random-hotspot", "random-pairs", "permutation", "incast"] {
        let one = ends(&spec(name, 1, &[]));
        assert_eq!(one, ends(&spec(name, 1, &[])), "{name}: same seed");
        assert_ne!(one, ends(&spec(name, 2, &[])), "{name}: other seed");
        for controller in ["newreno", "swift:target=static", "dctcp"] {
            let other = spec(
                name,
                1,
                &[("controller", controller), ("routing.kind", "first-path"), ("transport.preset", "swift")],
            );
            assert_eq!(one, ends(&other), "{name}: {controller}");
        }
        // A longer run begins with the flows of a shorter one.
        if name == "random-hotspot" || name == "random-pairs" {
            assert_eq!(one, ends(&spec(name, 1, &[("traffic.flows", "300")]))[..one.len()]);
        }
    }
}

#[test]
fn starts() {
    let starts = |s: &Spec| s.flows.iter().map(|f| f.start.0).collect::<Vec<_>>();
    let s = spec("hotspot", 1, &[("traffic.flows", "4"), ("traffic.start", "1us"), ("traffic.stagger", "3us")]);
    assert_eq!(starts(&s), [1_000_000, 4_000_000, 7_000_000, 10_000_000]);
    // a file's flows too: these all have 0 s there
    let listed =
        |seed, sets: &[_]| starts(&spec("ns3-random-pairs", seed, &[&[("traffic.flows", "3")], sets].concat()));
    assert_eq!(listed(1, &[]), [2_000_000_000_000; 3]);
    assert_eq!(listed(1, &[("traffic.stagger", "1ns")]), [2_000_000_000_000, 2_000_000_001_000, 2_000_000_002_000]);
    let late = listed(1, &[("traffic.jitter", "1us")]);
    assert!(late.iter().all(|t| (2_000_000_000_000..2_000_001_000_000).contains(t)) && late[0] != late[1]);
    assert_ne!(late, listed(2, &[("traffic.jitter", "1us")]));
    let jittered = |seed| starts(&spec("hotspot", seed, &[("traffic.flows", "1000"), ("traffic.jitter", "1ms")]));
    let s = jittered(1);
    assert_eq!(s, jittered(1));
    assert_ne!(s, jittered(2));
    assert!(s.iter().all(|t| *t < 1_000_000_000));
    // The mean of 1000 uniform numbers has a standard deviation of 0.0091; five of them.
    let mean = s.iter().sum::<u64>() as f64 / 1000.0 / 1e9;
    assert!((mean - 0.5).abs() < 0.046, "{mean}");
}

#[test]
fn entries_keep_their_own_controller_and_transport() {
    let text = incast_scenario::files::builtin::text("random-pairs").unwrap().to_owned()
        + "controller = \"swift\"\ntransport = { mss = 1000 }\nat_stop = \"reset\"\nstop = \"2s\"\n\
           read_rate = \"1Gbps\"\n\
           [[traffic]]\npattern = \"incast\"\nflows = 3\ntransport = { preset = \"htsim\" }\n\
           app = { kind = \"cbr\", rate = \"1Mbps\" }\n";
    let s = Scenario::from_toml(&text, std::path::Path::new("."), "two").unwrap();
    let spec = s.build().unwrap();
    assert_eq!(spec.groups, ["load", "incast"]);
    let of = |f: &FlowSpec| {
        let t = &spec.transports[f.transport as usize];
        (spec.controllers[f.controller as usize].kind().name, t.sizes.mss, t.acks.delayed_ack, t.connection.handshake)
    };
    assert_eq!(of(&spec.flows[0]), ("swift", 1000, 1, true));
    assert_eq!(of(&spec.flows[100]), ("dctcp", 4000, 1, false));
    assert_eq!(spec.flows[0].stop.to_string(), "2s");
    assert_eq!(spec.flows[100].stop, incast_cc::Time::NEVER);
    assert!(matches!(spec.flows[100].app, App::OnOff(OnOff { off: incast_cc::Time::ZERO, write: 1000, .. })));
    // Two entries of one pattern draw differently, for their places in the list differ.
    let all = s.with_controller("newreno").unwrap().build().unwrap();
    assert_eq!(all.controllers.len(), 1);
    assert_eq!(ends(&all), ends(&spec));
}

#[test]
fn a_file_gives_its_first_flows_and_no_more_than_it_has() {
    let first = |n| ends(&spec("ns3-random-pairs", 1, &[("traffic.flows", n)]));
    assert_eq!(first("3").len(), 3);
    assert_eq!(first("3"), first("50")[..3]);
    let mut s = Scenario::load("ns3-random-pairs").unwrap();
    s.set("traffic.flows", "1000000").unwrap();
    let error = s.build().unwrap_err().to_string();
    assert!(error.contains("traffic.load.flows = 1000000: the file has"), "{error}");
}

#[test]
fn flows_of_a_hotspot_to_itself_come_from_the_next_host_or_not_at_all() {
    let senders = |rule| {
        let flows = ends(&spec("ns3-hotspot", 1, &[("traffic.flows", "33"), ("traffic.to_itself", rule)]));
        flows.into_iter().map(|(src, _)| src).collect::<Vec<_>>()
    };
    let all = (0..33).map(|i| i % 16);
    assert_eq!(senders("skip"), all.clone().filter(|h| *h != 15).collect::<Vec<_>>());
    assert_eq!(senders("next-host"), all.map(|h| if h == 15 { 0 } else { h }).collect::<Vec<_>>());

    let mut s = Scenario::load("ns3-hotspot").unwrap();
    s.set("traffic.flows", "1").unwrap();
    s.set("traffic.receiver", "h0").unwrap();
    let error = s.build().unwrap_err().to_string();
    assert!(error.contains("traffic.load.to_itself = \"skip\": no flow is left"), "{error}");
}

#[test]
fn a_file_that_does_not_come_with_the_program_is_refused() {
    let mut s = Scenario::load("ns3-random-pairs").unwrap();
    s.set("traffic.file", "builtin:ns3-random-pair").unwrap();
    let error = s.build().unwrap_err().to_string();
    assert!(error.contains("traffic.load.file = \"builtin:ns3-random-pair\""), "{error}");
    assert!(error.contains("did you mean \"ns3-random-pairs\""), "{error}");
    assert!(s.files().unwrap().is_empty());
}

#[test]
fn workers_of_a_root_are_as_near_as_asked_for() {
    // ten racks of 48 servers, five racks an aggregation switch
    let built = |seed, roots: &str| {
        let sets =
            [("traffic", format!("[{{ name = \"q\", pattern = \"partition-aggregate\", roots = {{ {roots} }} }}]"))];
        spec("three-tier-incast", seed, &sets.each_ref().map(|(key, value)| (*key, value.as_str())))
    };
    let flows = ends(&built(1, "count = 12, racks = 5, in_rack = 47, in_pod = 35, elsewhere = 8"));
    assert_eq!(flows.len(), 12 * 90);
    for (i, of_root) in (0..).zip(flows.chunks(90)) {
        let root = of_root[0].1;
        assert_eq!(root, i % 5 * 48 + i / 5, "root {i} is in rack {i} modulo 5");
        assert!(of_root.iter().all(|(_, to)| *to == root));
        let workers: BTreeSet<u32> = of_root.iter().map(|(from, _)| *from).collect();
        assert!(workers.len() == 90 && !workers.contains(&root), "distinct hosts, none the root itself");
        let count = |is: &dyn Fn(u32) -> bool| workers.iter().filter(|h| is(**h)).count();
        assert_eq!(count(&|h| h / 48 == root / 48), 47);
        assert_eq!(count(&|h| h / 48 != root / 48 && h / 240 == root / 240), 35);
        assert_eq!(count(&|h| h / 240 != root / 240), 8);
    }
    let fewer = "count = 7, racks = 5, in_rack = 47, in_pod = 35, elsewhere = 4";
    let (few, more) = (ends(&built(1, fewer)), flows.chunks(90).take(7).flat_map(|of_root| &of_root[..86]));
    assert!(few.iter().eq(more), "more roots and more workers leave the others where they are");
    assert_ne!(few, ends(&built(2, fewer)));
    // 35 of 192: by 200 seeds a host of the pod is left out of root 0 with probability (157/192)^200 < 10^-17
    let seen: BTreeSet<u32> =
        (0..200).flat_map(|seed| ends(&built(seed, "count = 1, in_pod = 35"))).map(|(from, _)| from).collect();
    assert_eq!(seen, (48..240).collect());
}

#[test]
fn without_pods_workers_are_in_the_rack_or_elsewhere() {
    let roots = "{ pattern = \"partition-aggregate\", roots = { count = 8, in_rack = 3, elsewhere = 5 } }";
    let spec = spec("leaf-spine", 1, &[("traffic", &format!("[{roots}]"))]);
    let rack = |h: u32| h / 16;
    for of_root in ends(&spec).chunks(8) {
        let root = of_root[0].1;
        assert_eq!(of_root.iter().map(|(from, _)| rack(*from) == rack(root)).filter(|same| *same).count(), 3);
        assert_eq!(of_root.iter().map(|(from, _)| *from).collect::<BTreeSet<_>>().len(), 8);
    }
}
