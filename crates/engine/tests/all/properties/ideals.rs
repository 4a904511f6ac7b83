//! No flow is faster than its ideal: on graphs with unequal paths, rates and buckets, under every routing policy, with
//! writes and buffers of any size.

use super::networks::{pick, policy};
use crate::support::*;
use incast_engine::FlowId;
use incast_engine::map::{failover, ideal};
use proptest::prelude::*;
use std::collections::VecDeque;

/// A graph of `hosts` hosts, host h at switch `at[h]`, and links between switches, in both directions. Routes are all
/// shortest paths, in links.
pub fn graph(at: &[u32], switches: u32, between: &[(u32, u32)]) -> Spec {
    let hosts = at.len() as u32;
    let mut spec = star(2, Rate::gbps(10), Time::us(1));
    let ends: Vec<(u32, u32)> = (0..hosts)
        .zip(at)
        .map(|(h, s)| (h, hosts + s))
        .chain(between.iter().map(|(a, b)| (hosts + a, hosts + b)))
        .flat_map(|(a, b)| [(a, b), (b, a)])
        .collect();
    let names: Vec<String> =
        (0..hosts).map(|h| format!("h{h}")).chain((0..switches).map(|s| format!("s{s}"))).collect();
    rewire(&mut spec, &names.iter().map(String::as_str).collect::<Vec<_>>(), &ends);
    spec.hosts = hosts;
    spec.domain_of = (0..hosts + switches).collect();
    let far = |to: u32| {
        let mut far = vec![u32::MAX; (hosts + switches) as usize];
        far[to as usize] = 0;
        let mut queue = VecDeque::from([to]);
        while let Some(node) = queue.pop_front() {
            for (from, _) in ends.iter().filter(|(_, to)| *to == node) {
                if far[*from as usize] == u32::MAX {
                    far[*from as usize] = far[node as usize] + 1;
                    queue.push_back(*from);
                }
            }
        }
        far
    };
    let far: Vec<Vec<u32>> = (0..hosts).map(far).collect();
    let table = |node: u32| {
        let own: Vec<u32> = ends.iter().filter(|(from, _)| *from == node).map(|(_, to)| *to).collect();
        let nearer = |far: &Vec<u32>| {
            let nearer = |p: &u32| {
                let (end, here) = (far[own[*p as usize] as usize], far[node as usize]);
                // hosts do not forward
                end < here && (own[*p as usize] >= hosts || end == 0)
            };
            (0..own.len() as u32).filter(nearer).collect()
        };
        Router::Table { set: (0..hosts).collect(), sets: far.iter().map(nearer).collect() }
    };
    spec.routers = (hosts..hosts + switches).map(table).collect();
    spec
}

/// Properties of a link: its rate, delay, bucket and overhead.
type Draw = (Rate, u64, u32, u32);

fn links() -> impl Strategy<Value = Vec<Draw>> {
    let rate = pick(&[Rate::mbps(100), Rate::gbps(1), Rate::gbps(1), Rate::gbps(10), Rate(30_000_007), Rate::gbps(40)]);
    let link = (rate, pick(&[0u64, 1, 1, 20]), pick(&[0u32, 0, 0, 3_000, 100_000]), pick(&[0u32, 38]));
    prop::collection::vec(link, 24)
}

fn sizes() -> impl Strategy<Value = (u64, u64)> {
    let size = prop_oneof![1u64..3_000, 3_000u64..200_000, pick(&[1_448u64, 14_480, 64_000, 144_800])];
    let write = prop_oneof![pick(&[1_448u64, 64_000, 1 << 30]), 1u64..5_000];
    (size, write)
}

/// Transports that differ in segmentation.
fn transports() -> impl Strategy<Value = TransportSpec> {
    let sizes = (pick(&[536u32, 1_448, 4_096, 9_000]), pick(&[0u32, 1_500]), pick(&[1.0f64, 10.0, 1e6]));
    let buffers = (pick(&[10_000u64, 65_000, 1 << 30]), pick(&[5_000u64, 131_072, 1 << 28]), pick(&[0u64, 0, 20_000]));
    (sizes, buffers, any::<[bool; 10]>(), 0u32..2).prop_map(|(sizes, buffers, on, extra_packets)| {
        changed!(
            tcp(),
            sizes.mss = sizes.0,
            sizes.mtu = sizes.1,
            windows.initial_window = sizes.2,
            windows.send_buffer = buffers.0,
            windows.receive_buffer = buffers.1.max(sizes.0 as u64),
            windows.notsent_lowat = buffers.2,
            connection.handshake = on[0],
            connection.lone_syn = !on[0] && on[1],
            connection.fin_with_data = on[2],
            windows.sws_avoidance = on[3],
            windows.whole_segments = on[4],
            windows.half_window_mss = on[5],
            acks.window_growth = on[6],
            windows.window_scaling = on[7],
            loss.sack = on[8],
            acks.delayed_ack = 1 + u32::from(on[9]),
            output.extra_packets = extra_packets
        )
    })
}

/// Flows one after the other, each alone, on a graph with different links.
fn graphs() -> impl Strategy<Value = Spec> {
    let shape = (2u32..6, prop::collection::vec((0u32..6, 0u32..6), 1..9), any::<[u8; 3]>());
    let fails = prop::option::of((any::<u8>(), any::<bool>(), pick(&[0u64, 300])));
    (any::<u64>(), shape, links(), sizes(), (transports(), 0u32..4), any::<u8>(), fails).prop_map(
        |(seed, (switches, extra, at), links, (size, write), (transport, controller), choice, fails)| {
            let mut between: Vec<(u32, u32)> = (1..switches).map(|s| (s / 2, s)).collect();
            between.extend(extra.iter().map(|(a, b)| (a % switches, b % switches)).filter(|(a, b)| a != b));
            between.sort_unstable();
            between.dedup_by_key(|(a, b)| (*a.min(b), *a.max(b)));
            let at: Vec<u32> = at.iter().map(|s| u32::from(*s) % switches).collect();
            let mut spec = graph(&at, switches, &between);
            spec.seed = seed;
            spec.choice = policy(choice, Ties::Hash);
            spec.acks_by_flow = choice & 128 != 0;
            spec.queues = vec![endless_queue()];
            for (link, (rate, delay, bucket, overhead)) in spec.links.iter_mut().zip(links.iter().cycle()) {
                (link.rate, link.delay, link.bucket, link.overhead) = (*rate, Time::us(*delay), *bucket, *overhead);
                // a queue counts waiting bytes, and a bucket passes packets up to its size
                link.bucket = if *bucket > 0 { (*bucket).max(transport.sizes.mss + 200) } else { 0 };
            }
            spec.transports = vec![transport];
            spec.controllers = ["newreno", "swift", "dctcp", "hpcc"][controller as usize..][..1]
                .iter()
                .map(|name| Config::new(name).unwrap())
                .collect();
            let flow = |i: u64| FlowSpec {
                start: Time::ms(200 * i),
                app: App::Bulk(Bulk { size: Some(size), write }),
                ..bulk(i as u32 % 2, 2, Some(size))
            };
            spec.flows = (0..6).map(flow).collect();
            run_for(&mut spec, Time::ms(1_200));
            if let Some((link, down, detection)) = fails {
                let link = u32::from(link) % spec.links.len() as u32;
                let own = &spec.links[link as usize];
                // a link that is down, or one that is faster for some time
                let rate = (own.bucket == 0).then_some(Rate::gbps(80));
                let effect = match down && own.from >= spec.hosts && own.to >= spec.hosts {
                    true => Effect::Down { detection: Time::us(detection) },
                    false => Effect::Degraded { rate, delay: Some(Time::ns(100)), loss: 0.0 },
                };
                spec.failures = vec![Failure { link, from: Time::ms(300), until: Time::ms(900), effect }];
                failover::reroute(&mut spec);
                if failover::stranded(&spec).is_some() {
                    spec.failures.clear();
                    spec.routers.iter_mut().for_each(|r| *r = r.base().clone());
                }
            }
            spec
        },
    )
}

proptest! {
    #![proptest_config(cases(800))]

    #[test]
    fn no_lone_flow_is_faster_than_its_ideal(spec in graphs()) {
        for flow in &run(&spec).flows {
            if let Some(finish) = flow.finish_ps {
                let (took, ideal) = (finish - flow.start_ps, flow.ideal_fct_ps.unwrap());
                prop_assert!(took >= ideal, "flow {}: {} before {}", flow.flow, took, ideal);
            }
        }
    }

    /// One path, writes of whole segments, a large window, and a single ACK, which is not delayed: nothing slows the
    /// flow.
    #[test]
    fn a_lone_flow_that_no_window_limits_takes_its_ideal_time(
        spec in graphs(), segments in 1u64..60, rest in 0u64..1_448
    ) {
        let mut spec = spec;
        spec.choice = PathChoice::Ecmp;
        spec.failures.clear();
        spec.routers.iter_mut().for_each(|r| *r = r.base().clone());
        let one_ack = changed!(plain(), acks.delayed_ack = 10_000, acks.push_ack = true);
        spec.transports = vec![changed!(one_ack, windows.initial_window = 1e6, sizes.mtu = 0)];
        spec.controllers = vec![Config::new("newreno").unwrap()];
        let app = App::Bulk(Bulk { size: Some(segments * 1_000 + rest), write: 5_000 });
        spec.flows.iter_mut().for_each(|f| f.app = app);
        for flow in &run(&spec).flows {
            prop_assert_eq!(flow.finish_ps.map(|t| t - flow.start_ps), flow.ideal_fct_ps, "flow {}", flow.flow);
        }
    }
}

/// Hosts a and b at the switches s and t, joined by x and y: 1 Gb/s by x, 10 Gb/s by y.
fn diamond() -> Spec {
    let mut spec = graph(&[0, 1], 4, &[(0, 2), (2, 1), (0, 3), (3, 1)]);
    for link in spec.links.iter_mut().filter(|l| l.from == 4 || l.to == 4) {
        link.rate = Rate::gbps(1);
    }
    spec.transports = vec![changed!(plain(), windows.initial_window = 1e6)];
    spec.controllers = vec![Config::new("newreno").unwrap()];
    spec.queues = vec![endless_queue()];
    spec
}

/// By hand, for a packet of 1040 B and three links of 10 Gb/s and 1 us each way: 4 * (0.832 + 1) us, and 4 * (0.032 +
/// 1) us for the ACK of 40 B.
#[test]
fn the_ideal_under_spraying_is_that_of_the_quickest_path() {
    let entropy = Recycled { ring: 8, values: 1 << 16, explore: 8, freeze: Time::ms(1) };
    let spraying = [
        PathChoice::Spray,
        PathChoice::SpraySource,
        PathChoice::RoundRobinSource,
        PathChoice::Flowcell(20_000),
        PathChoice::RoundRobin(5),
        PathChoice::PowerOfTwo,
        PathChoice::Entropy(Entropy::Counter),
        PathChoice::Entropy(Entropy::Recycled(entropy)),
    ];
    for choice in spraying {
        let mut spec = diamond();
        spec.choice = choice.clone();
        let flow = |i: u64| FlowSpec { start: Time::us(100 * i), ..bulk(0, 1, Some(1_000)) };
        spec.flows = (0..100).map(flow).collect();
        run_for(&mut spec, Time::ms(20));
        let flows = run(&spec).flows;
        let ideal = Some(4 * (832_000 + US) + 4 * (32_000 + US));
        assert!(flows.iter().all(|f| f.ideal_fct_ps == ideal), "{choice:?}: {:?}", flows[0]);
        // the idle round trip, as reported to controllers, is also that of the quickest path
        assert!(flows.iter().all(|f| Some(f.idle_rtt_ps) == ideal));
        let fastest = flows.iter().filter_map(|f| Some(f.finish_ps? - f.start_ps)).min();
        assert_eq!(fastest, ideal, "{choice:?}: some packet goes the quickest way, and its ACK too");
    }
}

/// A flow on a fixed path has the ideal of that path.
#[test]
fn the_ideal_of_one_path_is_its_own() {
    let mut spec = diamond();
    spec.flows = (0..20).map(|_| bulk(0, 1, Some(1_000))).collect();
    let fabric = ideal::Fabric::new(&spec);
    let mut seen: Vec<u64> = (0..20).map(|f| fabric.ideal(FlowId(f)).ideal_fct.unwrap().0).collect();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), 4, "{seen:?}: two ways there, and two back");
}

/// A write smaller than a segment leaves as a segment: 4 kB in writes of 1448 B, over two links of 10 Gb/s and 1 us,
/// arrive after 2 us and the time of 1448 B and 4000 B. The ACK of 40 B takes 2 us and 64 ns.
#[test]
fn the_ideal_of_small_writes_is_that_of_small_segments() {
    let mut spec = star(2, Rate::gbps(10), Time::us(1));
    spec.transports = vec![changed!(htsim(), sizes.mss = 4_096, output.extra_packets = 0)];
    spec.flows = vec![FlowSpec { app: App::Bulk(Bulk { size: Some(4_000), write: 1_448 }), ..bulk(0, 1, None) }];
    let flow = &run(&spec).flows[0];
    let took = 2 * US + 800 * (1_448 + 4_000) + 2 * US + 2 * 32_000;
    assert_eq!(flow.finish_ps, Some(took), "headers are none: nothing is lost by smaller segments");
    assert_eq!(flow.ideal_fct_ps, Some(took));
}

/// Bytes with saved-up tokens pass a bucket at once, under spraying too: 64 kB into a link of 1 Gb/s with a bucket of
/// 100 kB take the time of the first link, 10 Gb/s.
#[test]
fn the_ideal_knows_buckets_under_every_routing() {
    for choice in [PathChoice::Ecmp, PathChoice::Spray, PathChoice::PowerOfTwo] {
        let mut spec = star(2, Rate::gbps(10), Time::us(1));
        spec.choice = choice;
        spec.links[3].rate = Rate::gbps(1);
        spec.links[3].bucket = 100_000;
        spec.queues = vec![endless_queue()];
        spec.transports = vec![changed!(htsim(), output.extra_packets = 0, windows.initial_window = 100.0)];
        spec.flows = vec![bulk(0, 1, Some(64_000))];
        let flow = &run(&spec).flows[0];
        let took = 800 * 64_000 + 2 * US + 32_000 + 2 * US + 32_000;
        assert_eq!((flow.finish_ps, flow.ideal_fct_ps), (Some(took), Some(took)), "{:?}", spec.choice);
    }
}
