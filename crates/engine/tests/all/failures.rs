//! Links that fail, degrade for some time, and are repaired: losses and arrivals computed by hand, and detours.

use crate::routing::policies;
use crate::support::*;
use incast_engine::NodeId;
use incast_engine::hash;
use incast_engine::map::failover::{Stranded, reroute, stranded};
use incast_engine::map::paths::{Timetable, hops_at};
use std::collections::VecDeque;

/// Twelve packets of 4000 bytes, back to back from 0 on, over 10 Gb/s (3.2 us each) and 1 us. The effect lasts from 10
/// us to 20 us.
fn twelve(effect: Effect, explicit: bool) -> Spec {
    let mut spec = wire(Rate::gbps(10), Time::us(1), htsim(), "swift", bulk(0, 1, Some(11 * 4000)));
    spec.transports[0].windows.initial_window = 20.0;
    spec.queues[0].explicit = explicit;
    spec.failures = vec![Failure { link: 0, from: Time::us(10), until: Time::us(20), effect }];
    spec
}

/// Arrival times of packets at the switch, in tens of nanoseconds, with their numbers. Lost packets are absent.
fn arrivals(o: &Outcome) -> Vec<(u64, u64)> {
    let mut first: Vec<(u64, u64)> = Vec::new();
    for e in o.trace.iter().filter(|e| e.place == "s" && e.event == Happening::Arrive && e.payload > 0) {
        let number = e.seq / 4000;
        if !e.flags.contains("RETX") && first.iter().all(|(n, _)| *n != number) {
            assert_eq!(e.time_ps % 10_000, 0);
            first.push((number, e.time_ps / 10_000));
        }
    }
    first
}

/// Packet i is on the link from 3.2 i to 3.2 (i + 1) + 1 us. Packets on the link at 10 us, and those that begin before
/// 20 us, are lost.
#[test]
fn what_meets_a_failure_is_lost() {
    let down = Effect::Down { detection: Time::ZERO };
    for explicit in [false, true] {
        let o = compared(&twelve(down.clone(), explicit));
        let expected: Vec<(u64, u64)> = [0, 1, 7, 8, 9, 10, 11].into_iter().map(|i| (i, 320 * i + 420)).collect();
        assert_eq!(arrivals(&o), expected);
        let lost: Vec<u64> = (o.trace.iter())
            .filter(|e| e.place == "h0>s" && e.event == Happening::Loss && !e.flags.contains("RETX"))
            .map(|e| e.seq / 4000)
            .collect();
        assert_eq!(lost, [2, 3, 4, 5, 6]);
        let port = o.ports.iter().find(|p| p.name == "h0>s").unwrap();
        assert_eq!((port.losses, port.drops), (5, 0));
        assert!(o.flows[0].finish_ps.is_some(), "what was lost goes again");
    }
}

/// Packets certain to be lost long before their transmissions end do not make the frames of flows longer than the run
/// needs.
#[test]
fn frames_go_by_what_has_happened() {
    let mut spec = twelve(Effect::Down { detection: Time::ZERO }, false);
    spec.failures[0].until = Time::NEVER;
    spec.observe.trace.clear();
    // the last of them would end at 38.4 us
    run_for(&mut spec, Time::us(20));
    spec.observe.timeline = Some(TimelineSpec { every: Time::us(1), most: 20 });
    let o = compared(&spec);
    assert_eq!((o.frame_ps, o.end_ps), (Some(US), 20 * US));
    let given: Vec<u32> = o.flow_frames.rows().filter(|row| row.delivered_bytes > 0).map(|row| row.frame).collect();
    assert_eq!(given.len(), 2, "a frame each for the two that arrive: {given:?}");
}

/// Packets 3 to 6 of the five that are lost end their transmission at 12.8, 16, 19.2 and 22.4 us. They count at the end
/// of their transmission, with or without a later event at the port.
#[test]
fn a_loss_counts_to_the_interval_in_which_its_transmission_ends() {
    for explicit in [false, true] {
        let losses = |from: u64, to: u64| {
            let mut spec = twelve(Effect::Down { detection: Time::ZERO }, explicit);
            (spec.measure_from, spec.measure_to) = (Time(from), Time(to));
            // without retransmissions
            spec.flows[0].stop = Time::us(1);
            spec.transports[0].loss.dupthresh = 100;
            let o = run(&spec);
            o.ports.iter().find(|p| p.name == "h0>s").unwrap().losses
        };
        assert_eq!(losses(0, 16_000_000), 2, "2 and 3, explicit: {explicit}");
        assert_eq!(losses(16_000_000, 22_400_000), 2, "4 and 5, explicit: {explicit}");
        assert_eq!(losses(22_400_000, 40_000_000), 1, "6, explicit: {explicit}");
    }
}

#[test]
fn the_edges_of_a_failure_are_exact() {
    let from_until = |from: u64, until: u64| {
        let mut spec = twelve(Effect::Down { detection: Time::ZERO }, false);
        (spec.failures[0].from, spec.failures[0].until) = (Time(from), Time(until));
        arrivals(&run(&spec)).into_iter().map(|(i, _)| i).collect::<Vec<u64>>()
    };
    // packet 1 arrives at 7.4 us, packet 6 begins at 19.2 us
    assert_eq!(from_until(7_400_000, 19_200_000), [0, 1, 6, 7, 8, 9, 10, 11]);
    assert_eq!(from_until(7_399_999, 19_200_000), [0, 6, 7, 8, 9, 10, 11]);
    assert_eq!(from_until(7_400_000, 19_200_001), [0, 1, 7, 8, 9, 10, 11]);
}

/// Packet 3 begins at 9.6 us: 0.4 us at 10 Gb/s, 10 us at 2.5 Gb/s, and the last 3000 bits at 10 Gb/s again.
#[test]
fn another_rate_counts_to_the_part_of_a_packet() {
    for explicit in [false, true] {
        let slow = Effect::Degraded { rate: Some(Rate::mbps(2500)), delay: None, loss: 0.0 };
        let o = run(&twelve(slow, explicit));
        let expected: Vec<(u64, u64)> =
            (0..12).map(|i| (i, if i < 3 { 320 * i + 420 } else { 2130 + 320 * (i - 3) })).collect();
        assert_eq!(arrivals(&o), expected);
        // all of it was time on the wire
        let port = o.ports.iter().find(|p| p.name == "h0>s").unwrap();
        assert_eq!(port.busy_ps, 20_300_000 + 8 * 3_200_000);
        // faster, up to infinite rate: a transmission in progress ends at once, and so do the rest
        let quick = Effect::Degraded { rate: Some(Rate::INFINITE), delay: None, loss: 0.0 };
        let o = run(&twelve(quick, explicit));
        let expected: Vec<(u64, u64)> = (0..12).map(|i| (i, if i < 3 { 320 * i + 420 } else { 1100 })).collect();
        assert_eq!(arrivals(&o), expected);
    }
}

/// Packets 3, 4 and 5 end inside the failure. Packet 6 ends at 22.4 us and would arrive before packet 5.
#[test]
fn another_delay_lets_none_overtake() {
    for explicit in [false, true] {
        let far = Effect::Degraded { rate: None, delay: Some(Time::us(5)), loss: 0.0 };
        let o = compared(&twelve(far, explicit));
        let expected = [420, 740, 1060, 1780, 2100, 2420, 2420, 2660, 2980, 3300, 3620, 3940];
        assert_eq!(arrivals(&o), (0..).zip(expected).collect::<Vec<_>>());
        // shorter, below the usual lookahead
        let near = Effect::Degraded { rate: None, delay: Some(Time::ns(60)), loss: 0.0 };
        let o = compared(&twelve(near, explicit));
        let expected: Vec<(u64, u64)> =
            (0..12).map(|i| (i, 320 * (i + 1) + if (3..6).contains(&i) { 6 } else { 100 })).collect();
        assert_eq!(arrivals(&o), expected);
    }
}

/// Packet 5 would arrive at 24.2 us, but is lost on the wire: packet 6 comes as early as it can.
#[test]
fn what_the_wire_loses_holds_nothing_back() {
    for explicit in [false, true] {
        let mut spec = twelve(Effect::Degraded { rate: None, delay: Some(Time::us(5)), loss: 0.0 }, explicit);
        spec.links[0].loss = Loss::List(vec![5]);
        let expected = [(4, 2100), (6, 2340), (7, 2660)];
        let found: Vec<(u64, u64)> = arrivals(&run(&spec)).into_iter().filter(|(i, _)| (4..8).contains(i)).collect();
        assert_eq!(found, expected, "explicit: {explicit}");
    }
}

#[test]
fn a_degraded_link_loses_what_begins_on_it() {
    let lossy = |loss| Effect::Degraded { rate: None, delay: None, loss };
    let number = |o: &Outcome| arrivals(o).into_iter().map(|(i, _)| i).collect::<Vec<u64>>();
    assert_eq!(number(&run(&twelve(lossy(1.0), false))), [0, 1, 2, 3, 7, 8, 9, 10, 11]);
    assert_eq!(number(&run(&twelve(lossy(0.0), false))).len(), 12);
    // five standard deviations of 2000 draws with 0.3 are 103
    let mut spec = twelve(lossy(0.3), false);
    spec.flows[0].app = App::Bulk(Bulk { size: Some(2000 * 4000), write: 65_160 });
    spec.failures[0].until = Time::NEVER;
    let o = run(&spec);
    let port = o.ports.iter().find(|p| p.name == "h0>s").unwrap();
    assert!((port.losses as f64 / port.packets as f64 - 0.3).abs() < 0.05, "{} of {}", port.losses, port.packets);
}

#[test]
fn impossible_failures_are_refused() {
    let refused = |change: &dyn Fn(&mut Spec)| {
        let mut spec = twelve(Effect::Down { detection: Time::ZERO }, false);
        change(&mut spec);
        incast_engine::run(&spec, &mut |_| true).unwrap_err().to_string()
    };
    let said = refused(&|s| s.failures[0].until = s.failures[0].from);
    assert!(said.contains("a failure of link h0>s ends before it begins"), "{said}");
    let said = refused(&|s| s.failures.push(s.failures[0].clone()));
    assert!(said.contains("two failures of link h0>s overlap"), "{said}");
    assert!(refused(&|s| s.failures[0].link = 99).contains("a failure of link 99"));
    let rate = |rate| Effect::Degraded { rate: Some(rate), delay: None, loss: 0.0 };
    assert!(refused(&|s| s.failures[0].effect = rate(Rate(0))).contains("a rate of 0"));
    let bucket = refused(&|s| {
        s.failures[0].effect = rate(Rate::gbps(1));
        s.links[0].bucket = 10_000;
    });
    assert!(bucket.contains("token bucket"), "{bucket}");
}

fn link(spec: &Spec, name: &str) -> u32 {
    spec.links.iter().position(|l| l.name == name).unwrap() as u32
}

/// Fails a link permanently, in both directions.
fn cut(spec: &mut Spec, a: &str, b: &str, from: Time, detection: Time) {
    for name in [format!("{a}>{b}"), format!("{b}>{a}")] {
        let link = link(spec, &name);
        spec.failures.push(Failure { link, from, until: Time::NEVER, effect: Effect::Down { detection } });
    }
}

fn permutation(choice: PathChoice) -> Spec {
    crate::support::permutation(choice, 30, 400_000)
}

/// A core link and an edge link fail under load and are detected 20 us later. Every flow still ends, and further
/// packets are lost only until then.
#[test]
fn every_policy_goes_around() {
    for choice in policies() {
        let mut spec = permutation(choice.clone());
        cut(&mut spec, "agg0", "core0", Time::us(10), Time::us(20));
        cut(&mut spec, "edge5", "agg4", Time::us(15), Time::us(20));
        reroute(&mut spec);
        let o = compared(&spec);
        assert!(o.flows.iter().all(|f| f.finish_ps.is_some()), "{choice:?}");
        let lost: u64 = o.ports.iter().map(|p| p.losses).sum();
        assert!(lost > 0, "{choice:?}");
        for name in ["agg0>core0", "core0>agg0", "edge5>agg4", "agg4>edge5"] {
            let port = o.ports.iter().find(|p| p.name == name).unwrap();
            // 35 us of a link at 100 Gb/s carry 109 packets with payload: all flows together have 1600
            assert!(port.packets < 200, "{choice:?} {name}: {} packets", port.packets);
        }
        // with immediate detection from the start, nothing is lost
        spec.routers = permutation(choice.clone()).routers;
        for failure in &mut spec.failures {
            failure.from = Time::ZERO;
            failure.effect = Effect::Down { detection: Time::ZERO };
        }
        reroute(&mut spec);
        let o = compared(&spec);
        assert_eq!(o.ports.iter().map(|p| p.losses).sum::<u64>(), 0, "{choice:?}");
        assert!(o.flows.iter().all(|f| f.finish_ps.is_some()), "{choice:?}");
    }
}

/// A failure changes nothing before its detection, under any policy.
#[test]
fn a_failure_to_come_changes_nothing() {
    for choice in policies() {
        let mut spec = permutation(choice.clone());
        spec.observe.trace = (0..16).collect();
        let whole = run(&spec);
        cut(&mut spec, "agg0", "core0", Time::us(20), Time::ZERO);
        reroute(&mut spec);
        let failing = run(&spec);
        let before = |o: &Outcome| {
            let events = o.trace.iter().filter(|e| e.time_ps < Time::us(20).0 && e.event != Happening::Loss);
            events.map(|e| format!("{e:?}")).collect::<Vec<_>>()
        };
        let (whole, failing) = (before(&whole), before(&failing));
        assert!(whole.len() > 1000, "{choice:?}: {} events", whole.len());
        assert!(whole == failing, "{choice:?}: {:?}", whole.iter().zip(&failing).find(|(a, b)| a != b));
    }
}

/// A link that flaps makes two states of the network, however often.
#[test]
fn states_are_counted_once() {
    let mut spec = permutation(PathChoice::SpraySource);
    let bytes = |spec: &Spec| Timetable::size(spec) / (20 * 16 * 4);
    assert_eq!(bytes(&spec), 1);
    for i in 0..50 {
        for name in ["agg0>core0", "core0>agg0"] {
            let (from, until) = (Time::us(10 * i + 2), Time::us(10 * i + 7));
            let effect = Effect::Down { detection: Time::us(1) };
            spec.failures.push(Failure { link: link(&spec, name), from, until, effect });
        }
    }
    let mut flapping = spec.clone();
    reroute(&mut flapping);
    assert_eq!(bytes(&flapping), 2);
    run(&flapping);
    cut(&mut spec, "edge5", "agg4", Time::us(15), Time::us(20));
    reroute(&mut spec);
    assert_eq!(bytes(&spec), 4);
}

/// Three paths are left, two of them by the second uplink of the edge: a source route takes each path equally often, a
/// switch each uplink.
#[test]
fn what_is_left_is_shared_out_evenly() {
    let share = |choice: PathChoice| {
        let mut spec = permutation(choice);
        spec.queues = vec![drop_tail(10_000)];
        spec.flows = vec![bulk(0, 15, Some(3000 * 4000))];
        cut(&mut spec, "agg0", "core0", Time::ZERO, Time::ZERO);
        reroute(&mut spec);
        let o = run(&spec);
        let packets = |name: &str| o.ports.iter().find(|p| p.name == name).unwrap().packets as f64;
        let (first, second) = (packets("edge0>agg0"), packets("edge0>agg1"));
        first / (first + second)
    };
    // five standard deviations of 3000 draws are 0.045
    assert!((share(PathChoice::Spray) - 0.5).abs() < 0.045);
    assert!((share(PathChoice::SpraySource) - 1.0 / 3.0).abs() < 0.045);
    assert!((share(PathChoice::RoundRobinSource) - 1.0 / 3.0).abs() < 0.001);
    assert!((share(PathChoice::RoundRobin(5)) - 0.5).abs() < 0.001);
}

/// A repair is detected after the same delay, and a failure shorter than that never.
#[test]
fn repairs_are_used_and_short_failures_are_not_seen() {
    let o = |length: u64| {
        let mut spec = permutation(PathChoice::Spray);
        spec.flows = vec![bulk(0, 15, None)];
        spec.observe.trace = vec![0];
        spec.duration = Time::us(300);
        for name in ["agg0>core0", "core0>agg0"] {
            let (from, until) = (Time::us(50), Time::us(50 + length));
            let effect = Effect::Down { detection: Time::us(40) };
            spec.failures.push(Failure { link: link(&spec, name), from, until, effect });
        }
        reroute(&mut spec);
        (run(&spec), spec)
    };
    let (long, _) = o(100);
    let times: Vec<u64> = events(&long, "agg0>core0", Happening::Enqueue).iter().map(|e| e.time_ps).collect();
    let us = |t: u64| t * 1_000_000;
    assert!(times.iter().any(|t| *t < us(50)) && times.iter().any(|t| (us(50)..us(90)).contains(t)));
    assert!(!times.iter().any(|t| (us(90)..us(190)).contains(t)), "not while it is known to be dead");
    assert!(times.iter().any(|t| *t >= us(190)));
    let (_, short) = o(40);
    assert!(short.routers.iter().all(|r| !matches!(r, Router::Rerouted(_))));
}

/// A link fails again, and that is detected before its repair is: it is not used in between.
#[test]
fn a_repair_seen_late_hides_no_failure_seen_before() {
    let mut spec = permutation(PathChoice::Ecmp);
    for name in ["agg0>core0", "core0>agg0"] {
        for (from, until, detection) in [(10, 20, 5), (21, 40, 1)] {
            let effect = Effect::Down { detection: Time::us(detection) };
            let (from, until) = (Time::us(from), Time::us(until));
            spec.failures.push(Failure { link: link(&spec, name), from, until, effect });
        }
    }
    reroute(&mut spec);
    let agg0 = spec.node_names.iter().position(|n| n == "agg0").unwrap();
    let ways = |us: u64| hops_at(&spec.routers[agg0 - spec.hosts as usize], NodeId(15), Time::us(us)).len();
    let found: Vec<u32> = [14, 15, 22, 25, 40, 41].into_iter().map(ways).collect();
    assert_eq!(found, [2, 1, 1, 1, 1, 2]);
}

/// Next hops towards every host are those on shortest paths over the remaining links, as found by brute force.
#[test]
fn detours_are_the_shortest() {
    for round in 0..60 {
        let mut spec = fat_tree(4, Rate::gbps(100), Time::us(1));
        let pairs: Vec<(u32, u32)> =
            (spec.links.iter().map(|l| (l.from, l.to))).filter(|(a, b)| a < b && *a >= spec.hosts).collect();
        let dead: Vec<(u32, u32)> = (0..1 + round % 12)
            .map(|i| pairs[hash::pick(hash::bits(7, 0, round, i), pairs.len() as u32) as usize])
            .collect();
        let is_dead = |l: &LinkSpec| dead.contains(&(l.from, l.to)) || dead.contains(&(l.to, l.from));
        for (link, _) in (0..).zip(&spec.links).filter(|(_, l)| is_dead(l)) {
            let effect = Effect::Down { detection: Time::ZERO };
            spec.failures.push(Failure { link, from: Time::us(1), until: Time::us(9), effect });
        }
        let whole = spec.clone();
        reroute(&mut spec);
        let nodes = spec.node_names.len() as u32;
        for dst in 0..spec.hosts {
            let mut far = vec![u32::MAX; nodes as usize];
            far[dst as usize] = 0;
            let mut queue = VecDeque::from([dst]);
            while let Some(node) = queue.pop_front() {
                for l in spec.links.iter().filter(|l| l.to == node && !is_dead(l)) {
                    if l.from >= spec.hosts && far[l.from as usize] == u32::MAX {
                        far[l.from as usize] = far[node as usize] + 1;
                        queue.push_back(l.from);
                    }
                }
            }
            for s in spec.hosts..nodes {
                let out = spec.links.iter().filter(|l| l.from == s);
                let shortest: Vec<u32> = (0u32..)
                    .zip(out)
                    .filter(|(_, l)| !is_dead(l) && far[l.to as usize] < far[s as usize])
                    .map(|(port, _)| port)
                    .collect();
                let router = &spec.routers[(s - spec.hosts) as usize];
                let at = |time| hops_at(router, NodeId(dst), Time(time)).iter().collect::<Vec<u32>>();
                assert_eq!(at(1_000_000), shortest, "{} to h{dst} without {dead:?}", spec.node_names[s as usize]);
                let base: Vec<u32> =
                    hops_at(&whole.routers[(s - spec.hosts) as usize], NodeId(dst), Time::ZERO).iter().collect();
                assert_eq!((at(999_999), at(9_000_000)), (base.clone(), base), "before and after");
            }
        }
    }
}

#[test]
fn flows_without_a_way_are_named() {
    let mut spec = permutation(PathChoice::Ecmp);
    spec.flows = vec![bulk(4, 8, Some(1000)), bulk(0, 15, Some(1000))];
    cut(&mut spec, "edge0", "agg0", Time::us(5), Time::us(1));
    cut(&mut spec, "edge0", "agg1", Time::us(7), Time::us(1));
    let mut both = spec.clone();
    reroute(&mut both);
    let of = |spec: &Spec| stranded(spec).map(|Stranded { flow, from, failure }| (flow.0, from, failure / 2));
    assert_eq!(of(&both), Some((1, Time::us(8), 1)));
    // done by then, started after a repair, or prescribed: none of them
    both.flows[1].stop = Time::us(8);
    assert_eq!(of(&both), None);
    spec.failures.iter_mut().for_each(|f| f.until = Time::us(20));
    reroute(&mut spec);
    spec.flows[1].start = Time::us(21);
    assert_eq!(of(&spec), None);
    spec.flows[1].start = Time::us(20);
    assert_eq!(of(&spec), Some((1, Time::us(8), 1)));
    // a host's own link
    spec.flows.truncate(1);
    cut(&mut spec, "h8", "edge4", Time::us(3), Time::us(2));
    assert_eq!(of(&spec), Some((0, Time::us(5), 2)));
}

/// A FIFO port, which settles everything at an arrival by arithmetic, and an explicit queue, which acts event by event,
/// agree.
#[test]
fn explicit_queues_lose_the_same() {
    let mut spec = permutation(PathChoice::Spray);
    cut(&mut spec, "agg0", "core0", Time::us(10), Time::us(20));
    let slow = Effect::Degraded { rate: Some(Rate::gbps(7)), delay: Some(Time::us(3)), loss: 0.01 };
    let edge = link(&spec, "edge3>agg2");
    spec.failures.push(Failure { link: edge, from: Time::us(12), until: Time::us(40), effect: slow });
    reroute(&mut spec);
    let fifo = run(&spec);
    spec.queues[0].explicit = true;
    let explicit = run(&spec);
    assert!(fifo.ports.iter().map(|p| p.losses).sum::<u64>() > 10);
    assert_eq!(format!("{:?}", fifo.flows), format!("{:?}", explicit.flows));
    assert_eq!(format!("{:?}", fifo.ports), format!("{:?}", explicit.ports));
}

/// At any end of the run: packets that a failure will drop are in flight until their transmission ends, losses by an
/// error rate count from the start, and the end of a run precedes a departure at the same instant.
#[test]
fn the_end_of_a_run_finds_the_same_lost_and_under_way() {
    let both = |spec: &Spec| {
        [false, true].map(|explicit| {
            let mut spec = spec.clone();
            spec.queues[0].explicit = explicit;
            compared(&spec)
        })
    };
    let down = Effect::Down { detection: Time::ZERO };
    let lossy = Effect::Degraded { rate: Some(Rate::gbps(5)), delay: None, loss: 0.6 };
    let mut lost_later = 0;
    for (effect, error_rate) in [(down.clone(), 0.0), (lossy.clone(), 0.0), (down, 0.3), (lossy, 0.3)] {
        // departures are at multiples of 3.2 us, unless degraded
        for step in 0..48 {
            let mut spec = twelve(effect.clone(), false);
            run_for(&mut spec, Time(8_000_000 + 800_000 * step));
            spec.links[0].loss = if error_rate > 0.0 { Loss::Packet(error_rate) } else { Loss::None };
            let [fifo, explicit] = both(&spec);
            let told = |o: &Outcome| format!("{:?} {:?} {:?}", o.flows, o.ports, o.trace);
            assert_eq!(told(&fifo), told(&explicit), "{effect:?} {error_rate} {}", spec.duration);
            let of = |o: &Outcome| [o.packets_sent, o.packets_delivered, o.packets_dropped, o.packets_in_flight];
            assert_eq!(of(&fifo), of(&explicit), "{effect:?} {error_rate} {}", spec.duration);
            lost_later += u64::from(fifo.packets_in_flight > 1);
        }
    }
    assert!(lost_later > 20, "{lost_later}");
}

/// Twenty datagrams, 3.2 us each, on a link that fails permanently at 10 us: the third has been sent by 9.6 us and is
/// on its way, so two arrive. The last is lost at 64 us, and nothing is left to happen then. If the run ends at 50 us,
/// 13 are lost by then, the fifteenth at 48 us, and five are in flight.
#[test]
fn a_run_that_is_over_ends_with_the_last_loss_to_a_failure() {
    for explicit in [false, true] {
        let mut spec = twelve(Effect::Down { detection: Time::ZERO }, explicit);
        spec.failures[0].until = Time::NEVER;
        spec.flows[0].app = App::Udp(Udp { gap: Time::us(1), random: false });
        spec.flows[0].stop = Time::us(20);
        for (duration, end, lost, under_way) in
            [(Time::ms(1), Time::us(64), 18, 0), (Time::us(50), Time::us(50), 13, 5)]
        {
            (spec.duration, spec.measure_to) = (duration, duration);
            let o = compared(&spec);
            assert_eq!((o.end_ps, o.flows[0].arrived, o.packets_in_flight), (end.0, 2, under_way));
            let port = o.ports.iter().find(|p| p.name == "h0>s").unwrap();
            let told = events(&o, "h0>s", Happening::Loss);
            assert_eq!((port.losses, told.len()), (lost, lost as usize));
            assert!(told.iter().all(|e| e.time_ps >= 9_600_000 && (e.time_ps - 9_600_000) % 3_200_000 == 0));
        }
    }
}

/// A link without serialization time that is slow for a while: all queued packets leave at one instant, however many.
#[test]
fn any_number_of_packets_may_leave_at_one_instant() {
    let slow = Effect::Degraded { rate: Some(Rate(1_000_000)), delay: None, loss: 0.0 };
    let sent = |gap: Time, run: fn(&Spec) -> Outcome| {
        [false, true].map(|explicit| {
            let mut spec = twelve(slow.clone(), explicit);
            spec.links[0].rate = Rate::INFINITE;
            spec.queues[0].limit = Limit::Packets(100_000);
            spec.flows[0].app = App::Udp(Udp { gap, random: false });
            spec.flows[0].stop = Time::us(60);
            spec.observe.trace.clear();
            (spec.failures[0].from, spec.failures[0].until) = (Time::ZERO, Time::us(100));
            spec.links[2].rate = Rate::INFINITE;
            run(&spec)
        })
    };
    for ([fifo, explicit], packets) in [(sent(Time::ns(1), run), 60_000), (sent(Time::ns(20), compared), 3_000)] {
        assert_eq!(fifo.flows[0].arrived, packets);
        assert_eq!(format!("{:?} {:?}", fifo.flows, fifo.ports), format!("{:?} {:?}", explicit.flows, explicit.ports));
    }
}

/// Numbers of the flows that crossed a failure.
fn crossed(o: &Outcome) -> Vec<u32> {
    o.flows.iter().filter(|f| f.crossed_failure).map(|f| f.flow).collect()
}

/// A hashed flow whose path leads over a dead link has crossed the failure if it was under way then, even if switches
/// reroute at once and nothing is lost; a flow that begins later, or has ended, has not.
#[test]
fn flows_on_a_link_that_dies_have_crossed_the_failure() {
    for detection in [Time::ZERO, Time::us(20)] {
        let mut spec = permutation(PathChoice::Ecmp);
        let whole = run(&spec);
        assert_eq!((crossed(&whole), whole.failed_links.len()), (vec![], 0));
        cut(&mut spec, "agg0", "core0", Time::us(10), detection);
        let over = |flow: usize| {
            let fabric = incast_engine::map::ideal::Fabric::new(&spec);
            let dead: Vec<u32> = spec.failures.iter().map(|f| f.link).collect();
            [false, true]
                .iter()
                .any(|back| fabric.path(incast_engine::FlowId(flow as u32), *back).iter().any(|l| dead.contains(&l.0)))
        };
        let expected: Vec<u32> = (0..spec.flows.len()).filter(|f| over(*f)).map(|f| f as u32).collect();
        assert!(!expected.is_empty() && expected.len() < spec.flows.len(), "{expected:?}");
        let mut later = spec.clone();
        reroute(&mut spec);
        let o = compared(&spec);
        assert_eq!(crossed(&o), expected, "detection {detection}");
        assert_eq!(o.failed_links, ["agg0>core0"]);
        // flows that begin after switches know of the failure never meet it
        later.flows.iter_mut().for_each(|f| f.start = Time::us(40));
        reroute(&mut later);
        assert_eq!(crossed(&compared(&later)), [0; 0], "detection {detection}");
    }
}

/// A sprayed flow has crossed a failure if it lost a packet to it: none if switches avoid the link from the start.
#[test]
fn sprayed_flows_have_crossed_a_failure_if_they_lost_a_packet_to_it() {
    let mut spec = permutation(PathChoice::Spray);
    spec.observe.trace = (0..spec.flows.len() as u32).collect();
    cut(&mut spec, "agg0", "core0", Time::us(10), Time::us(20));
    let mut from_the_start = spec.clone();
    reroute(&mut spec);
    let o = compared(&spec);
    let lost = |e: &&PacketEvent| e.event == Happening::Loss && ["agg0>core0", "core0>agg0"].contains(&&*e.place);
    let expected: std::collections::BTreeSet<u32> = o.trace.iter().filter(lost).map(|e| e.flow).collect();
    assert!(expected.len() > 2 && expected.len() < spec.flows.len(), "{expected:?}");
    assert_eq!(crossed(&o), expected.into_iter().collect::<Vec<_>>());
    for failure in &mut from_the_start.failures {
        (failure.from, failure.effect) = (Time::ZERO, Effect::Down { detection: Time::ZERO });
    }
    reroute(&mut from_the_start);
    assert_eq!(crossed(&run(&from_the_start)), [0; 0]);
}

/// A flow has crossed a degraded link if one of its packets was in transmission meanwhile: here it is slow for the
/// second flow only.
#[test]
fn flows_on_a_degraded_link_have_crossed_it() {
    let slow = Effect::Degraded { rate: None, delay: Some(Time::us(2)), loss: 0.0 };
    for explicit in [false, true] {
        let mut spec = twelve(slow.clone(), explicit);
        spec.flows.push(spec.flows[0].clone());
        spec.flows[1].start = Time::us(100);
        (spec.failures[0].from, spec.failures[0].until) = (Time::us(90), Time::us(103));
        let o = compared(&spec);
        assert!(o.flows[0].finish_ps.unwrap() < Time::us(90).0);
        assert_eq!(crossed(&o), [1]);
    }
}
