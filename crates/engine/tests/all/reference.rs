//! The engine of windows against the naive one, byte for byte: every partition and every order of domains, in hard
//! cases: losses, timers, equal times, deep queues, links without latency.

use crate::support::*;

#[test]
fn one_flow_meets_the_closed_form() {
    // htsim: 501 packets of 4000 B at 100 Gb/s over two 1 us links, 40 B ACKs: 164.6464 us
    let mut spec = star(2, Rate::gbps(100), Time::us(1));
    spec.flows = vec![bulk(0, 1, Some(2_000_000))];
    let outcome = compared(&spec);
    assert_eq!(outcome.flows[0].finish_ps, Some(164_646_400));
    assert_eq!(outcome.flows[0].ideal_fct_ps, Some(164_646_400));
}

#[test]
fn linux_hosts_over_links_that_take_no_time() {
    // everything happens at the instants at which a token bucket releases a packet and at which its ACK returns
    let cases = [
        (true, Rules::Rack, true),
        (true, Rules::Rack, false),
        (true, Rules::Rfc6675, false),
        (false, Rules::Rfc6675, false),
    ];
    for (sack, scoreboard, default) in cases {
        let mut spec = star(3, Rate::INFINITE, Time::ZERO);
        spec.links.iter_mut().for_each(|l| l.overhead = 14);
        // s>h2 is the bottleneck, h2>s the way back
        spec.links[5] = LinkSpec { rate: Rate::gbps(1), bucket: 1600, queue: 1, ..spec.links[5].clone() };
        spec.links[2].delay = Time::us(100);
        spec.queues = vec![drop_tail(10_000), QueueSpec { count_overhead: true, ..marking(25, 12) }];
        spec.transports = vec![changed!(
            tcp(),
            loss.recovery = Recovery::Linux,
            loss.ecn_by_prr = true,
            marks.ecn_change_ack = true,
            windows.cwnd_limited = true,
            loss.sack = sack,
            loss.scoreboard = scoreboard,
            loss.tail_loss_probe = default,
            loss.reordering_timer = default,
            loss.adaptive_reordering = default,
            loss.cwr_after_loss = default,
            timing.timestamp_clock = if default { Time::us(1) } else { Time::ZERO },
            loss.forward_retransmit = false,
            loss.frto = true,
            timing.segment_rtt = true,
            loss.reordering = true,
            loss.dsack = true,
            loss.undo = true,
            acks.window_growth = true,
            acks.push_ack = true,
            acks.cwr_ack = true,
            loss.sack_compression = true,
            windows.notsent_lowat = 262_144,
            acks.quickack = 16,
            timing.rto_rule = RtoRule::Linux,
            rto.rto_min = Time::ms(4),
            timing.timer_tick = Time::ms(1),
            windows.send_buffer = 1 << 22,
            windows.receive_buffer = 1 << 18
        )];
        spec.controllers = vec![controller("dctcp", &[("form", "linux")]), controller("newreno", &[("form", "linux")])];
        spec.flows = (0..4)
            .map(|i| FlowSpec { controller: i % 2, start: Time::us(10 * i as u64), ..bulk(i % 2, 2, None) })
            .collect();
        run_for(&mut spec, Time::ms(60));
        let o = compared(&spec);
        let port = &o.ports[5];
        assert!(port.drops > 0 && port.marks > 0 && o.flows.iter().all(|f| f.delivered > 300_000));
    }
}

#[test]
fn permutation_on_a_fat_tree() {
    let mut spec = fat_tree(4, Rate::gbps(100), Time::us(1));
    spec.flows = (0..16).map(|h| bulk(h, (h + 5) % 16, Some(400_000))).collect();
    let outcome = compared(&spec);
    assert!(outcome.flows.iter().all(|f| f.finish_ps.is_some()));
}

#[test]
fn synchronised_senders_and_losses() {
    // all start at 0 towards one host, over queues of 8 packets: equal times at every port, drops, fast retransmits,
    // timeouts
    let mut spec = fat_tree(4, Rate::gbps(10), Time::us(1));
    // Swift needs an ACK for every packet
    spec.transports = vec![tcp(), changed!(tcp(), acks.delayed_ack = 1)];
    spec.queues = vec![drop_tail(8)];
    spec.controllers = vec![controller("newreno", &[]), controller("dctcp", &[]), controller("swift", &[])];
    spec.flows =
        (0..15).map(|h| FlowSpec { controller: h % 3, transport: h % 3 / 2, ..bulk(h, 15, Some(300_000)) }).collect();
    run_for(&mut spec, Time::ms(200));
    let outcome = compared(&spec);
    let sum = |f: fn(&incast_record::FlowRecord) -> u64| outcome.flows.iter().map(f).sum::<u64>();
    assert!(sum(|f| f.dropped) > 100, "drops: {}", sum(|f| f.dropped));
    assert!(sum(|f| f.timeouts) > 0 && sum(|f| f.retransmissions) > sum(|f| f.timeouts));
    let stuck = outcome.flows.iter().find(|f| f.finish_ps.is_none());
    assert!(stuck.is_none(), "all flows recover, but {stuck:?}");
    assert!(outcome.flows.iter().all(|f| f.delivered == 300_000));
}

#[test]
fn the_tcp_family_shares_a_marking_queue() {
    let mut spec = fat_tree(4, Rate::gbps(10), Time::us(1));
    spec.queues = vec![marking(12, 6)];
    let kinds: [(&str, &[(&str, &str)]); 6] = [
        ("cubic", &[]),
        ("cubic", &[("form", "linux")]),
        ("westwood", &[("tau", "1ms")]),
        ("westwood", &[("form", "linux")]),
        ("westwood-plus", &[]),
        ("gcn", &[]),
    ];
    spec.controllers = kinds.iter().map(|(kind, parameters)| controller(kind, parameters)).collect();
    spec.flows = (0..15).map(|h| FlowSpec { controller: h % 6, ..bulk(h, 15, Some(300_000)) }).collect();
    run_for(&mut spec, Time::ms(400));
    let outcome = compared(&spec);
    assert!(outcome.ports.iter().map(|p| p.drops).sum::<u64>() > 100);
    assert!(outcome.ports.iter().map(|p| p.marks).sum::<u64>() > 0);
    assert!(outcome.flows.iter().all(|f| f.delivered == 300_000));
}

#[test]
fn deep_queues_reach_far_windows() {
    // 2,666 packets at 1 Gb/s are 32 ms, three thousand windows of 10 us
    let mut spec = fat_tree(4, Rate::gbps(1), Time::us(10));
    spec.transports = vec![changed!(tcp(), windows.send_buffer = 1 << 22, windows.receive_buffer = 1 << 22)];
    spec.queues = vec![QueueSpec { count_in_service: false, ..drop_tail(2666) }];
    spec.controllers = vec![controller("newreno", &[])];
    spec.flows = (0..14).map(|h| bulk(h, 15, None)).collect();
    spec.duration = Time::ms(300);
    spec.measure_from = Time::ms(50);
    spec.measure_to = Time::ms(250);
    let outcome = compared(&spec);
    let deepest = outcome.ports.iter().map(|p| p.queue_max_packets).max();
    assert_eq!(deepest, Some(2666), "the queue fills to its limit");
    assert!(outcome.ports.iter().map(|p| p.drops).sum::<u64>() > 0);
}

#[test]
fn links_without_latency() {
    // hosts on wires of infinite rate and no delay; only the bottleneck takes time
    let mut spec = star(5, Rate::INFINITE, Time::ZERO);
    let last = spec.links.len() - 1;
    spec.links[last].rate = Rate::gbps(1);
    spec.links[4].delay = Time::us(100);
    spec.transports = vec![tcp()];
    spec.queues = vec![marking(1000, 20)];
    spec.controllers = vec![controller("dctcp", &[])];
    spec.flows = (0..4).map(|h| bulk(h, 4, None)).collect();
    run_for(&mut spec, Time::ms(50));
    let outcome = compared(&spec);
    let goodput: u64 = outcome.flows.iter().map(|f| f.delivered).sum();
    // 1448 of 1500 bytes are payload; the first RTTs and the last queue are missing
    let line = 1e9 / 8.0 * 0.05 * 1448.0 / 1500.0;
    assert!(goodput as f64 > 0.98 * line && goodput as f64 <= line, "{goodput} of {line}");
}

#[test]
fn wire_losses_timers_and_applications() {
    let mut spec = star(6, Rate::mbps(100), Time::us(50));
    for link in &mut spec.links[..5] {
        link.loss = Loss::Packet(0.02);
    }
    spec.links[6].loss = Loss::List(vec![3, 4, 9]);
    spec.transports = vec![
        tcp(),
        changed!(
            tcp(),
            loss.sack = false,
            loss.recovery = Recovery::NewReno,
            acks.delayed_ack = 1,
            timing.timestamps = false
        ),
        changed!(tcp(), sizes.mss = 3000, windows.receive_buffer = 20_000),
    ];
    spec.controllers = vec![controller("newreno", &[]), controller("swift", &[]), controller("dctcp", &[])];
    let on_off =
        App::OnOff(OnOff { rate: Rate::mbps(40), on: Time::ms(20), off: Time::ms(15), write: 1000, begin: Begin::Off });
    spec.flows = vec![
        FlowSpec { app: on_off, stop: Time::ms(300), ..bulk(0, 5, None) },
        FlowSpec { transport: 1, ..bulk(1, 5, Some(500_000)) },
        FlowSpec { transport: 2, controller: 2, ..bulk(2, 5, Some(300_000)) },
        FlowSpec { controller: 1, start: Time::ms(3), ..bulk(3, 0, Some(200_000)) },
        FlowSpec { stop: Time::ms(100), at_stop: AtStop::Reset, ..bulk(4, 5, None) },
        FlowSpec { transport: 2, read_rate: Rate::mbps(8), ..bulk(5, 1, Some(100_000)) },
    ];
    run_for(&mut spec, Time::ms(2000));
    spec.observe.flows = vec![0, 3];
    spec.observe.ports = vec![11];
    spec.observe.trace = vec![2];
    let outcome = compared(&spec);
    for f in [0, 1, 2, 3, 5] {
        let flow = &outcome.flows[f];
        assert!(flow.finish_ps.is_some(), "flow {f}: {flow:?}");
        assert_eq!(flow.delivered, flow.written);
    }
    assert!(outcome.flows[4].finish_ps.is_none());
    assert!(outcome.flows.iter().any(|f| f.timeouts > 0));
    assert!(!outcome.samples.is_empty() && !outcome.trace.is_empty());
    spec.observe.interval = Some(Time::ms(1));
    compared(&spec);
}

#[test]
fn fair_nic_and_explicit_paths() {
    let mut spec = fat_tree(4, Rate::gbps(100), Time::us(1));
    spec.queues.push(queue(Discipline::FairNic { per_flow: 3 }, Limit::None));
    for link in spec.links.iter_mut().filter(|l| l.from < 16) {
        link.queue = 1;
    }
    spec.flows = (0..32).map(|i| bulk(i % 16, (i * 7 + 3) % 16, Some(200_000))).filter(|f| f.src != f.dst).collect();
    let name = |n: &str| spec.links.iter().position(|l| l.name == n).unwrap() as u32;
    spec.flows[0].dst = 15;
    let path = ["h0>edge0", "edge0>agg1", "agg1>core3", "core3>agg7", "agg7>edge7", "edge7>h15"].map(name);
    spec.flows[0].path = Some(path.to_vec());
    let outcome = compared(&spec);
    assert!(outcome.flows.iter().all(|f| f.finish_ps.is_some()));
    assert!(outcome.ports[path[2] as usize].packets >= 50);
}

/// All hosts send to one, so that its port marks at departures: equal times at every port.
fn marking_at_departures(delay: Time, mark: Limit) -> Spec {
    let mut spec = fat_tree(4, Rate::gbps(10), delay);
    spec.transports = vec![changed!(htsim(), connection.lone_syn = true, sizes.syn_size = 1)];
    spec.queues = vec![queue(Discipline::EcnAtDeparture(EcnAtDeparture { mark }), Limit::Bytes(400_000))];
    spec.controllers = vec![controller("dctcp", &[("form", "htsim")])];
    spec.flows = (0..15).map(|h| bulk(h, 15, Some(400_000))).collect();
    spec
}

#[test]
fn marks_at_departures() {
    let mut spec = marking_at_departures(Time::us(1), Limit::Bytes(60_000));
    let unseen = compared(&spec);
    assert!(unseen.flows.iter().all(|f| f.finish_ps.is_some()));
    let marked: u64 = unseen.flows.iter().map(|f| f.marked).sum();
    let marks: u64 = unseen.ports.iter().map(|p| p.marks).sum();
    assert!(marks > marked && marked > 500, "{marked} packets, some at two queues: {marks} marks");
    // departures are events at a watched port, and at every port with a traced flow
    spec.observe.ports = (0..spec.links.len() as u32).filter(|l| l % 3 != 0).collect();
    let watched = compared(&spec);
    assert_eq!(format!("{:?}{:?}", watched.flows, watched.ports), format!("{:?}{:?}", unseen.flows, unseen.ports));
    spec.observe.trace = vec![3];
    let traced = compared(&spec);
    assert_eq!(format!("{:?}{:?}", traced.flows, traced.ports), format!("{:?}{:?}", unseen.flows, unseen.ports));
}

/// A packet that arrives at the instant of a departure does not count in the departing packet's queue, at the start of
/// a window or within one. Packets that wait for windows far ahead are marked, too.
#[test]
fn marks_at_departures_hold_to_the_instant() {
    // a packet takes 3.2 us on a wire: so many ports of one rate begin and end packets at the same time
    for delay in [1_600_000, 3_200_000, 6_400_000, 250_000, 3_199_999] {
        for mark in
            [Limit::Packets(1), Limit::Packets(2), Limit::Packets(14), Limit::Bytes(4_000), Limit::Bytes(60_000)]
        {
            let mut spec = marking_at_departures(Time(delay), mark);
            spec.observe.queue_interval = Time::ns(3_200);
            run_for(&mut spec, Time::us(900));
            let outcome = compared(&spec);
            assert!(outcome.ports.iter().any(|p| p.marks > 50), "{delay} ps, {mark:?}");
        }
    }
}

/// Packets leave a port a picosecond after a window opens, and one arrives as that window opens.
#[test]
fn marks_at_departures_count_what_came_just_before() {
    let mut spec = star(3, Rate::gbps(10), Time::us(1));
    spec.transports = vec![changed!(htsim(), sizes.mss = 1250, windows.initial_window = 60.0)];
    spec.queues = vec![queue(Discipline::EcnAtDeparture(EcnAtDeparture { mark: Limit::Packets(10) }), Limit::None)];
    spec.controllers = vec![controller("dctcp", &[])];
    // a packet takes as long on the wire as a window lasts
    spec.links[1].delay = Time::us(1) + Time::ps(1);
    spec.flows = vec![bulk(1, 2, Some(37_500)), FlowSpec { start: Time::us(1), ..bulk(0, 2, Some(37_500)) }];
    let outcome = compared(&spec);
    // 31 packets each, the last one a FIN without bytes: the first 9 and the last 10 leave a queue of at most 10
    assert_eq!((outcome.ports[5].queue_max_packets, outcome.ports[5].marks), (32, 43));
}

#[test]
fn seeds_differ_and_repeat() {
    let mut spec = star(4, Rate::mbps(100), Time::us(50));
    spec.links[0].loss = Loss::Packet(0.05);
    spec.transports = vec![tcp()];
    spec.controllers = vec![controller("newreno", &[])];
    spec.flows = (0..3).map(|h| bulk(h, 3, Some(400_000))).collect();
    let run = |seed| {
        let s = Spec { seed, ..spec.clone() };
        format!("{:?}", incast_engine::run(&s, &mut |_| true).unwrap().flows)
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn endless_work_at_one_instant_is_an_error() {
    let mut spec = star(2, Rate::INFINITE, Time::ZERO);
    spec.flows = vec![bulk(0, 1, None)];
    let error = incast_engine::run(&spec, &mut |_| true).unwrap_err();
    assert!(error.to_string().contains("never lets time pass"), "{error}");
}

#[test]
fn a_long_window_leaves_a_nic_without_serialization_at_one_instant() {
    let mut spec = star(2, Rate::INFINITE, Time::us(100));
    spec.queues = vec![drop_tail(100_000), queue(Discipline::FairNic { per_flow: 3 }, Limit::None)];
    spec.links.iter_mut().filter(|l| l.from < 2).for_each(|l| l.queue = 1);
    let packets = 60_000;
    spec.transports = vec![changed!(htsim(), windows.initial_window = packets as f64 + 10.0)];
    spec.controllers = vec![controller("newreno", &[])];
    spec.flows = vec![bulk(0, 1, Some(4000 * packets))];
    let outcome = compared(&spec);
    assert_eq!(outcome.flows[0].delivered, 4000 * packets);
    // both ways over two links each, and no other wait
    assert_eq!(outcome.flows[0].finish_ps, Some(4 * Time::us(100).0));
}

#[test]
fn a_chain_that_a_timer_began_comes_before_an_older_one() {
    // host 1 begins when host 0 sends its second packet
    let met = |ties| {
        let mut spec = star(3, Rate::gbps(1), Time::us(100));
        spec.ties = ties;
        spec.transports = vec![changed!(tcp(), connection.handshake = false)];
        spec.controllers = vec![controller("newreno", &[])];
        let late = FlowSpec { start: Time(1_500 * 8_000), ..bulk(1, 2, Some(2 * 1448)) };
        spec.flows = vec![bulk(0, 2, Some(3 * 1448)), late];
        spec.observe.trace = vec![0, 1];
        let o = compared(&spec);
        let mut at_sink = events(&o, "h2", Happening::Arrive);
        at_sink.retain(|e| e.payload > 0);
        at_sink.iter().map(|e| e.flow).take(5).collect::<Vec<u32>>()
    };
    assert_eq!(met(Ties::Link), [0, 0, 1, 0, 1]);
    assert_eq!(met(Ties::Scheduled), [0, 1, 0, 1, 0]);
}

/// The time series of queues.
fn series(o: &Outcome) -> Vec<(u64, u64)> {
    o.samples.iter().filter(|s| s.name == "queue_packets").map(|s| (s.time_ps, s.value as u64)).collect()
}

#[test]
fn what_leaves_at_an_instant_is_still_there_for_what_began_earlier() {
    // one host sends at 10 Gb/s through a port of 1 Gb/s: at every departure another packet arrives
    let again = |ties, delay| {
        let mut spec = star(2, Rate::gbps(10), delay);
        spec.links[3].rate = Rate::gbps(1);
        spec.ties = ties;
        spec.queues = vec![drop_tail(100), QueueSpec { count_in_service: false, ..drop_tail(4) }];
        spec.links[3].queue = 1;
        spec.transports = vec![changed!(tcp(), windows.initial_window = 40.0, connection.handshake = false)];
        spec.controllers = vec![Config::new("newreno").unwrap()];
        spec.flows = vec![bulk(0, 1, Some(40 * 1448))];
        spec.observe.trace = vec![0];
        // observers: a series at every change, samples at all these instants
        let mut looks = |ports, queue_interval| {
            (spec.observe.ports, spec.observe.queue_interval) = (ports, queue_interval);
            let o = compared(&spec);
            let dropped = events(&o, "s>h1", Happening::Drop);
            let dropped = dropped.iter().map(|e| e.seq / 1448).take(6).collect::<Vec<u64>>();
            (dropped, series(&o))
        };
        let (dropped, none) = looks(vec![], Time::ms(1));
        assert_eq!((looks(vec![], Time::ns(1)).0, none.len()), (dropped.clone(), 0));
        let (seen, series) = looks(vec![3], Time::ms(1));
        assert_eq!(seen, dropped);
        // each departure and each accepted arrival changes it, except where both are at one instant
        assert!(series.len() > 20 && series.is_sorted_by_key(|s| s.0), "{series:?}");
        assert!(series.windows(2).all(|w| w[0].1.abs_diff(w[1].1) == 1), "{series:?}");
        assert_eq!(series.last().map(|s| s.1), Some(0), "all has left");
        dropped
    };
    // over a long wire every arrival began before the departing packet did: the port is full for packet 10, as the
    // first leaves, and not for the next; with the departure first it has room for 10
    let long = Time::us(96);
    assert_eq!(again(Ties::Scheduled, long), [5, 6, 7, 8, 9, 10]);
    assert_eq!(again(Ties::Link, long), [5, 6, 7, 8, 9, 11]);
    // without latency a departure began before an arrival did: no change
    assert_eq!(again(Ties::Scheduled, Time::ZERO), again(Ties::Link, Time::ZERO));
}
