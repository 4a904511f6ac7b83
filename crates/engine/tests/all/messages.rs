//! Two-way connections, queries and closed-loop writes, by hand-computed times.

use crate::support::*;
use incast_engine::testing::{QueryId, Tcb, Timer};

/// Full segments are 1500 B, 1.2 us at 10 Gb/s; pure ACKs 52 B, 41.6 ns.
fn opened() -> TransportSpec {
    changed!(tcp(), connection.handshake = false)
}

#[test]
fn a_query_takes_the_request_and_the_response_over_the_path() {
    let o = compared(&asking(1, 14_480, opened()));
    // request: 152 B cross two links, 2 x (121.6 ns + 1 us); response: 10 segments pipelined,
    // 10 x 1.2 us, then 1.2 us and 2 us more over the second link
    let took = 2_243_200 + 15_200_000;
    let queries = messages(&o, MessageKind::Query);
    assert_eq!(queries.len(), 3);
    let mut start = 10_000_000;
    for (i, q) in queries.iter().enumerate() {
        assert_eq!((q.number, q.host, q.workers, q.bytes), (i as u64, 0, 1, 14_480));
        assert_eq!((q.start_ps, q.finish_ps), (start, Some(start + took)), "query {i}");
        start += took + 5_000_000;
    }
    assert_eq!([o.flows[0].role, o.flows[1].role], [Role::Request, Role::Response]);
    assert_eq!([o.flows[0].delivered, o.flows[1].delivered], [300, 43_440]);
    assert_eq!([o.flows[0].sent, o.flows[1].sent], [3, 30], "segments");
    // the response acknowledges the request; the root sends one delayed ACK for every two segments
    assert_eq!(o.packets_sent, 3 + 30 + 15);
}

#[test]
fn stamps_of_ports_come_back_on_two_way_connections_too() {
    let mut spec = asking(4, 2_000_000, changed!(opened(), acks.delayed_ack = 1));
    spec.controllers = vec![controller("hpcc", &[])];
    run(&Spec { duration: Time::us(400), ..spec.clone() });
    let o = run(&spec);
    assert!(messages(&o, MessageKind::Query).iter().all(|q| q.finish_ps.is_some()));
    // without stamps every worker would keep the window of its start, a bandwidth-delay product, and three of the
    // four would wait
    let queue = o.ports.iter().map(|p| p.queue_mean_packets).fold(0.0, f64::max);
    assert!(queue < 1.5, "{queue}");
}

#[test]
fn one_handshake_opens_both_ways() {
    let mut spec = asking(1, 1000, changed!(tcp(), acks.delayed_ack_timeout = Time::us(1)));
    spec.observe.trace = vec![0, 1];
    let o = run(&spec);
    let sent = |place: &str| -> Vec<String> {
        let sent = events(&o, place, Happening::Send).into_iter().filter(|e| e.time_ps < 20_000_000);
        sent.map(|e| format!("{} {} {}", e.flow, e.flags, e.payload)).collect()
    };
    // SYN, ACK, request, and after 1 us without more data the delayed ACK of the response
    assert_eq!(sent("h0"), ["0 SYN 0", "0 ACK 0", "0 ACK 100", "1 ACK 0"]);
    assert_eq!(sent("h1"), ["0 SYN|ACK 0", "1 ACK 1000"]);
    // the worker's first RTT sample is of its SYN-ACK: 56 B there, 52 B back, 4 us of links
    let watched = Spec { observe: Observe { flows: vec![1], ..spec.observe.clone() }, ..spec };
    let o = run(&watched);
    let rtt = series(&o, "flow 1", "rtt_s")[0].1;
    assert!((rtt - (4e-6 + 2.0 * (44.8e-9 + 41.6e-9))).abs() < 1e-15, "{rtt}");
}

#[test]
fn a_query_ends_with_its_slowest_worker() {
    // four responses of one segment meet at the root's link: 1.2 us each after the first
    let o = run(&asking(4, 1448, opened()));
    let q = messages(&o, MessageKind::Query)[0];
    // requests leave one after the other, 121.6 ns apart; the responses arrive 121.6 ns apart and
    // queue for 1.2 us each
    let first = 2_243_200 + 2_400_000 + 2_000_000;
    assert_eq!(q.finish_ps, Some(10_000_000 + first + 3 * 1_200_000));
    assert_eq!((q.workers, q.bytes), (4, 4 * 1448));
}

#[test]
fn an_early_query_waits_for_its_connections() {
    let mut spec = asking(1, 1000, tcp());
    spec.queries[0].first = Time::ZERO;
    let o = run(&spec);
    let q = messages(&o, MessageKind::Query)[0];
    // SYN and SYN-ACK of 56 B each way, then the root's ACK (41.6 ns on its link) ahead of the request
    let handshake = 2 * (2 * 44_800 + 2_000_000);
    let exchange = 41_600 + 2_243_200 + 2 * 841_600 + 2_000_000;
    assert_eq!((q.start_ps, q.finish_ps), (0, Some(handshake + exchange)));
    assert!(o.flows.iter().all(|f| !f.unopened), "both flows of a connection open");
    // also without a handshake; a flow that starts after the end stays unopened
    let mut spec = asking(1, 1000, opened());
    assert!(run(&spec).flows.iter().all(|f| !f.unopened));
    spec.flows.iter_mut().for_each(|f| f.start = spec.duration);
    assert!(run(&spec).flows.iter().all(|f| f.unopened));
}

#[test]
fn a_stop_leaves_the_query_under_way_unfinished_and_begins_no_other() {
    let mut spec = asking(1, 14_480, opened());
    spec.queries[0].count = None;
    // the second request is still on its way
    spec.queries[0].stop = Time::us(33);
    for f in &mut spec.flows {
        f.stop = Time::us(33);
        f.at_stop = AtStop::Reset;
    }
    let o = run(&spec);
    let queries = messages(&o, MessageKind::Query);
    assert_eq!(queries.iter().map(|q| q.finish_ps.is_some()).collect::<Vec<_>>(), [true, false]);
}

#[test]
fn queries_over_full_queues_count_their_timeouts() {
    // 15 workers of a fat tree answer at once into 8 packets of queue
    let mut spec = fat_tree(4, Rate::gbps(10), Time::us(1));
    let fabric = spec.clone();
    spec = asking(15, 60_000, changed!(tcp(), timing.timestamps = true));
    spec = Spec {
        hosts: fabric.hosts,
        node_names: fabric.node_names,
        domain_of: fabric.domain_of,
        links: fabric.links,
        routers: fabric.routers,
        ..spec
    };
    spec.controllers = vec![controller("newreno", &[]), controller("dctcp", &[])];
    for (i, f) in spec.flows.iter_mut().enumerate() {
        f.controller = (i as u32 / 2) % 2;
        f.start = Time::us(i as u64 / 2);
    }
    spec.queries[0].first = Time::ms(1);
    spec.queues = vec![drop_tail(8)];
    run_for(&mut spec, Time::ms(300));
    let o = run(&spec);
    let queries = messages(&o, MessageKind::Query);
    assert!(queries.len() == 3 && queries.iter().all(|q| q.finish_ps.is_some()), "{queries:?}");
    let timeouts: u64 = queries.iter().map(|q| q.timeouts).sum();
    assert!(timeouts > 0);
    assert!(timeouts <= o.flows.iter().map(|f| f.timeouts).sum());
    for q in queries {
        // the minimum timeout is 10 ms: nothing else takes that long
        let took = q.finish_ps.unwrap() - q.start_ps;
        assert_eq!(q.timeouts > 0, took > 10_000_000_000, "{q:?}");
    }
    for f in &o.flows {
        assert_eq!(f.delivered, if f.role == Role::Request { 300 } else { 180_000 });
    }
}

#[test]
fn lost_requests_and_acknowledgements_are_repaired() {
    // links lose every twentieth packet: both flows recover, including ACKs carried by data
    let mut spec = asking(3, 30_000, changed!(tcp(), acks.quickack = 16));
    spec.links.iter_mut().for_each(|l| l.loss = Loss::Packet(0.05));
    spec.queries[0].count = Some(20);
    run_for(&mut spec, Time::s(60));
    let o = compared(&spec);
    let done = messages(&o, MessageKind::Query).iter().filter(|q| q.finish_ps.is_some()).count();
    assert_eq!(done, 20);
    assert!(o.flows.iter().any(|f| f.role == Role::Request && f.retransmissions > 0));
}

#[test]
fn data_echoes_the_time_stamp_that_the_last_acknowledgement_echoed() {
    // the worker's acknowledgement of the second request is lost, and the response, which follows a think time after
    // the previous one, makes up for it: the round trip is still the path's
    let mut spec = asking(1, 1000, changed!(opened(), acks.quickack = 16));
    spec.queries[0].think = Time::us(500);
    let up = spec.links.iter().position(|l| l.from == 1).unwrap();
    // the worker sends ACK, response and so on
    spec.links[up].loss = Loss::List(vec![2]);
    spec.observe.flows = vec![0];
    let o = run(&spec);
    assert_eq!((o.flows[0].retransmissions, o.flows[1].retransmissions), (0, 0));
    // request there (152 B), and back an ACK of 52 B, or the response (1052 B) that leaves behind it
    let pure = 4e-6 + 2.0 * (121.6e-9 + 41.6e-9);
    let late = 4e-6 + 2.0 * (121.6e-9 + 841.6e-9) + 41.6e-9;
    let samples = series(&o, "flow 0", "rtt_s");
    assert_eq!(samples.len(), 3);
    for (got, want) in samples.iter().zip([pure, late, pure]) {
        assert!((got.1 - want).abs() < 1e-15, "{samples:?}");
    }
}

#[test]
fn two_way_connections_without_sack_or_time_stamps_recover_too() {
    let bare = changed!(tcp(), loss.sack = false, timing.timestamps = false, loss.recovery = Recovery::NewReno);
    let mut spec = asking(3, 30_000, bare);
    spec.links.iter_mut().for_each(|l| l.loss = Loss::Packet(0.03));
    run_for(&mut spec, Time::s(60));
    let o = run(&spec);
    assert_eq!(messages(&o, MessageKind::Query).iter().filter(|q| q.finish_ps.is_some()).count(), 3);
}

#[test]
fn a_closed_loop_writes_again_a_think_time_after_the_acknowledgement() {
    let app = App::ClosedLoop(ClosedLoop { write: 14_480, outstanding: 1, think: Time::us(3), count: Some(4) });
    let mut spec = wire(Rate::gbps(10), Time::us(1), opened(), "newreno", FlowSpec { app, ..bulk(0, 1, None) });
    spec.duration = Time::ms(1);
    let o = run(&spec);
    // ten segments over two links, and the last ACK back
    let took = 15_200_000 + 2_083_200;
    let writes = messages(&o, MessageKind::Write);
    assert_eq!(writes.len(), 4);
    for (i, w) in writes.iter().enumerate() {
        let start = i as u64 * (took + 3_000_000);
        assert_eq!((w.number, w.bytes, w.start_ps, w.finish_ps), (i as u64, 14_480, start, Some(start + took)));
    }
    assert_eq!(o.flows[0].delivered, 4 * 14_480);
}

#[test]
fn a_closed_loop_keeps_its_number_of_writes_under_way() {
    // two writes of one segment: the ACK of the two (delayed, one per two) completes both at once
    let app = App::ClosedLoop(ClosedLoop { write: 1448, outstanding: 2, think: Time::ZERO, count: None });
    let mut spec = wire(Rate::gbps(10), Time::us(1), opened(), "newreno", FlowSpec { app, ..bulk(0, 1, None) });
    spec.duration = Time::us(50);
    let o = compared(&spec);
    let round = 3 * 1_200_000 + 2_000_000 + 2_083_200;
    let writes = messages(&o, MessageKind::Write);
    for (i, w) in writes.iter().enumerate() {
        let start = i as u64 / 2 * round;
        let finish = Some(start + round).filter(|f| *f < 50_000_000);
        assert_eq!((w.number, w.start_ps, w.finish_ps), (i as u64, start, finish));
    }
    assert_eq!(writes.len(), 14, "six rounds done, the seventh under way");
}

#[test]
fn messages_larger_than_the_send_buffer_go_out_as_it_drains() {
    let mut spec = asking(1, 500_000, changed!(opened(), windows.send_buffer = 20_000));
    spec.duration = Time::ms(20);
    let o = run(&spec);
    assert_eq!(messages(&o, MessageKind::Query).iter().filter(|q| q.finish_ps.is_some()).count(), 3);
    let app = App::ClosedLoop(ClosedLoop { write: 100_000, outstanding: 3, think: Time::ZERO, count: Some(9) });
    let small = changed!(tcp(), windows.send_buffer = 20_000);
    let mut spec = wire(Rate::gbps(10), Time::us(1), small, "newreno", FlowSpec { app, ..bulk(0, 1, None) });
    spec.duration = Time::ms(20);
    let o = run(&spec);
    assert_eq!(messages(&o, MessageKind::Write).iter().filter(|w| w.finish_ps.is_some()).count(), 9);
    assert_eq!(o.flows[0].delivered, 900_000);
}

#[test]
fn what_is_no_connection_is_refused() {
    let refused = |edit: fn(&mut Spec), words: &str| {
        let mut spec = asking(2, 1000, opened());
        edit(&mut spec);
        let error = incast_engine::run(&spec, &mut |_| true).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    };
    refused(|s| s.queries.clear(), "flow 0 carries messages but belongs to no query");
    refused(|s| s.queries[0].connections.truncate(1), "flow 2 carries messages but belongs to no query");
    refused(|s| s.queries[0].root = 1, "no two-way connection of host 1");
    refused(|s| s.queries[0].connections[0].response_size = 0, "sizes of at least 1 byte");
    refused(|s| s.queries[0].connections[1] = s.queries[0].connections[0], "part of two connections");
    refused(|s| s.flows[1].app = App::Bulk(Bulk { size: None, write: 1 }), "sends more than messages");
}

/// (flow, payload) of packets that reach host `place`, in order.
fn arrivals(o: &Outcome, place: &str) -> Vec<(u32, u32)> {
    events(o, place, Happening::Arrive).iter().map(|e| (e.flow, e.payload)).collect()
}

#[test]
fn a_process_begins_at_once_and_arrivals_interrupt_it() {
    // four requests reach host 1 at one instant, in the order of their connections; its transmissions take time on the
    // way back. The first response has begun when the others arrive.
    let order = |wakeup| {
        let mut spec = asking(1, 1448, changed!(opened(), acks.wakeup = wakeup, acks.delayed_ack = 1));
        spec.links[0].rate = Rate::INFINITE;
        spec.links[3].rate = Rate::INFINITE;
        spec.flows = (0..4).flat_map(|_| [one_way(0, 1, Time::ZERO), one_way(1, 0, Time::ZERO)]).collect();
        spec.queries[0].count = Some(1);
        let connection = spec.queries[0].connections[0];
        spec.queries[0].connections =
            (0..4).map(|i| ConnectionSpec { request: 2 * i, response: 2 * i + 1, ..connection }).collect();
        spec.observe.trace = (0..8).collect();
        let mut order = arrivals(&compared(&spec), "h0");
        order.truncate(8);
        order
    };
    let (acks, data) = (|i: u32| (2 * i, 0), |i: u32| (2 * i + 1, 1448));
    let begun = [acks(0), data(0)].into_iter();
    assert_eq!(order(true), begun.chain((1..4).map(acks)).chain((1..4).map(data)).collect::<Vec<_>>());
    assert_eq!(order(false), (0..4).flat_map(|i| [acks(i), data(i)]).collect::<Vec<_>>());
}

#[test]
fn timers_of_a_tick_fire_the_last_set_first() {
    // the first segments of three flows are lost; their timers were set 1 us apart
    let order = |last_set_first| {
        let timers = changed!(opened(), timing.timer_tick = Time::ms(1), rto.rto_initial = Time::ms(10));
        let t = changed!(timers, acks.last_set_first = last_set_first, acks.delayed_ack = 1);
        let mut spec = wire(Rate::gbps(10), Time::us(1), t, "newreno", bulk(0, 1, Some(1000)));
        spec.flows = (0..3).map(|i| FlowSpec { start: Time::us(10 + i), ..bulk(0, 1, Some(1000)) }).collect();
        spec.links[3].loss = Loss::List(vec![0, 1, 2]);
        spec.ties = Ties::Link;
        spec.observe.trace = (0..3).collect();
        let o = compared(&spec);
        assert_eq!(o.flows.iter().map(|f| f.timeouts).collect::<Vec<_>>(), [1; 3]);
        arrivals(&o, "h1").iter().map(|a| a.0).collect::<Vec<_>>()
    };
    assert_eq!(order(true), [2, 1, 0]);
    assert_eq!(order(false), [0, 1, 2]);
}

/// Times at which `place` sent pure ACKs, ps.
fn pure_acks(o: &Outcome, place: &str) -> Vec<u64> {
    let sent = events(o, place, Happening::Send).into_iter();
    sent.filter(|e| e.payload == 0 && e.flags.contains("ACK")).map(|e| e.time_ps).collect()
}

/// A worker that answers with 1000 B, and delayed ACKs of 1 ms. Returns the delays of the root's pure ACKs after each
/// of three queries, and the number of the worker's.
fn interactive(change: impl FnOnce(&mut Spec)) -> (Vec<u64>, usize) {
    let t = changed!(opened(), acks.pingpong = true, acks.quickack = 16, acks.delayed_ack_timeout = Time::ms(1));
    let mut spec = asking(1, 1000, t);
    spec.observe.trace = vec![0, 1];
    spec.duration = Time::s(1);
    change(&mut spec);
    let o = run(&spec);
    let ends: Vec<u64> = messages(&o, MessageKind::Query).iter().map(|q| q.finish_ps.unwrap()).collect();
    let after = |ack: &u64| ack - ends.iter().rev().find(|end| *end <= ack).unwrap();
    (pure_acks(&o, "h0").iter().map(after).collect(), pure_acks(&o, "h1").len())
}

const DELAYED: u64 = 1_000_000_000;

#[test]
fn interactive_sides_acknowledge_on_what_they_send() {
    // with `quickack` alone each segment is acknowledged at once
    assert_eq!(interactive(|s| s.transports[0].acks.pingpong = false), (vec![0; 3], 3));
    // as often as `quickack` says: data without an owed ACK does not count
    let two = |s: &mut Spec| (s.transports[0].acks.pingpong, s.transports[0].acks.quickack) = (false, 2);
    assert_eq!(interactive(two), (vec![0, 0, DELAYED], 2));
    // interactive once they have answered: the worker with its first response, the root with its second request. The
    // last response is acknowledged by the timer
    assert_eq!(interactive(|_| ()), (vec![0, DELAYED], 1));
    // a root that thinks for longer than the delayed ACK timeout answers nobody
    assert_eq!(interactive(|s| s.queries[0].think = Time::ms(2)), (vec![0; 3], 1));
}

#[test]
fn marks_silences_and_delayed_acks_end_the_interactive_mode() {
    // every packet to the worker is marked, and each carries CWR for the previous one: the worker acknowledges all of
    // them at once, without a quick ACK left
    let marked = |kind: &'static str, mark_quickack| {
        interactive(move |s| {
            s.transports[0].acks.quickack = 0;
            s.transports[0].acks.mark_quickack = mark_quickack;
            s.controllers = vec![controller(kind, &[])];
            let mark = Limit::Packets(0);
            let discipline = Discipline::EcnThreshold(EcnThreshold { mark, drop_not_ect: false, count_dropped: false });
            s.queues.push(QueueSpec { discipline, ..drop_tail(100) });
            s.links[3].queue = 1;
        })
    };
    assert_eq!(marked("dctcp", true), (vec![DELAYED], 3));
    assert_eq!(marked("dctcp", false), (vec![DELAYED], 0), "as a kernel whose DCTCP has noted the mark before");
    assert_eq!(marked("newreno", true), (vec![DELAYED], 0), "without ECN nothing is at once");
    // the root's quick ACK is for the first response; a silence longer than the timeout of 10 ms allows another
    let silence = |think| {
        interactive(move |s| {
            s.transports[0].acks.quickack = 1;
            s.queries[0].think = think;
        })
    };
    assert_eq!(silence(Time::ms(30)), (vec![0; 3], 1));
    assert_eq!(silence(Time::ms(5)), (vec![0, DELAYED, DELAYED], 1));
    // a segment takes 1.2 ms, longer than its ACK is delayed: the first of the second response is acknowledged
    // by the timer, and the two others at once
    let t = changed!(opened(), acks.pingpong = true, acks.quickack = 16, acks.delayed_ack_timeout = Time::ms(1));
    let mut spec = asking(1, 3 * 1448, t);
    spec.links.iter_mut().for_each(|l| l.rate = Rate::mbps(10));
    spec.queries[0].count = Some(2);
    spec.observe.trace = vec![0, 1];
    let o = run(&spec);
    let end = messages(&o, MessageKind::Query)[1].finish_ps.unwrap();
    let acks: Vec<i64> = pure_acks(&o, "h0")[3..].iter().map(|at| *at as i64 - end as i64).collect();
    assert_eq!(acks, [-1_400_000_000, -1_200_000_000, 0]);
}

#[test]
fn delayed_acks_of_a_tick_go_the_last_set_first() {
    // responses of one segment arrive 1.2 us apart; nothing follows, so their ACKs wait for the same tick
    let order = |last_set_first| {
        let t = changed!(
            opened(),
            acks.last_set_first = last_set_first,
            timing.timer_tick = Time::ms(1),
            acks.delayed_ack_timeout = Time::ms(40)
        );
        let mut spec = asking(3, 1448, t);
        spec.queries[0].count = Some(1);
        spec.ties = Ties::Link;
        spec.observe.trace = (0..6).collect();
        let o = compared(&spec);
        let acks = events(&o, "s", Happening::Arrive).into_iter().filter(|e| e.payload == 0 && e.ack == 1448);
        acks.map(|e| (e.flow, e.time_ps / 1_000_000_000)).collect::<Vec<_>>()
    };
    assert_eq!(order(true), [(5, 41), (3, 41), (1, 41)]);
    assert_eq!(order(false), [(1, 41), (3, 41), (5, 41)]);
}

#[test]
fn how_long_an_ack_waits_follows_the_times_between_segments() {
    let t = changed!(
        opened(),
        acks.adaptive_ack = true,
        timing.timer_tick = Time::ms(1),
        acks.delayed_ack_timeout = Time::ms(40)
    );
    let mut side = Tcb { rto: Time::ms(23), rto_before: Time::ms(14), ..Tcb::default() };
    assert!(side.on_data(&t, Time::ZERO, true), "the first data");
    assert_eq!(side.ack_wait(&t.acks), Time::ms(40));
    assert!(!side.on_data(&t, Time::ms(20) + Time(1), true));
    assert_eq!(side.ack_wait(&t.acks), Time::ms(40), "no pause: half of it and half of 40 ms");
    // a pause of 21 ms: no longer than the timeout, which an ACK carried by the data changes only afterwards
    side.on_data(&t, Time::ms(41), true);
    assert_eq!(side.ack_wait(&t.acks), Time::ms(14));
    side.on_data(&t, Time::ms(41), true);
    assert_eq!(side.ack_wait(&t.acks), Time::ms(27), "back towards 40 ms");
    side.on_data(&t, Time::ms(62), false);
    assert_eq!(side.ack_wait(&t.acks), Time::ms(23));
    // an ACK that waited in vain waits longer the next time, or ends the interactive mode
    side.on_data(&t, Time::ms(63), false);
    side.miss(&t);
    assert_eq!(side.ack_wait(&t.acks), Time::ms(23), "twice 31 ms, and no longer than the timeout");
    side.pingpong = true;
    side.miss(&t);
    assert_eq!((side.ack_wait(&t.acks), side.pingpong), (Time::ms(40), false));
    assert!(side.on_data(&t, Time::ms(104), true), "a silence beyond the timeout begins anew");
    assert_eq!(side.ack_wait(&changed!(t.acks.clone(), adaptive_ack = false)), Time::ms(40));
    // data sent within that wait answers the received data, however long the wait has become
    let side = Tcb { data_at: Some(Time::ZERO), ack_wait: Time::ms(55), ..Tcb::default() };
    assert!(side.answers(&t.acks, Time::ms(50)) && !side.answers(&t.acks, Time::ms(55)));
    assert!(!side.answers(&changed!(t.acks, adaptive_ack = false), Time::ms(50)));
}

#[test]
fn a_worker_that_has_sent_nothing_delays_its_acks_as_any_other() {
    const MS: u64 = 1_000_000_000;
    let acks = |adaptive_ack| {
        let t = changed!(
            opened(),
            acks.adaptive_ack = adaptive_ack,
            acks.pingpong = true,
            timing.timer_tick = Time::ms(1),
            acks.delayed_ack = 100,
            acks.delayed_ack_timeout = Time::ms(40)
        );
        let mut bench = Bench::new(asking(1, 1000, t));
        let mut acks = Vec::new();
        for (i, at) in [0, 30, 60, 75].into_iter().enumerate() {
            acks.extend(bench.advance(at * MS));
            acks.extend(bench.duplex_data(0, 3, 10 * i as u64, 10));
        }
        acks.extend(bench.advance(1000 * MS));
        acks.iter().map(|a| (a.at / MS, a.packet.ack)).collect::<Vec<_>>()
    };
    // the segment at 30 ms finds an ACK due at 41 ms, a quarter of the wait from now: both go. The pause before the one
    // at 60 ms makes the wait longer, and the worker's timeout of 1 s does not make it shorter
    assert_eq!(acks(true), [(30, 20), (101, 40)]);
    assert_eq!(acks(false), [(41, 20), (101, 40)]);
}

#[test]
fn data_carries_what_compressed_sacks_would_report() {
    let t = changed!(opened(), loss.sack_compression = true, acks.delayed_ack = 2);
    let mut bench = Bench::new(asking(1, 20_000, t));
    bench.open();
    // the response's first segment is missing: three ACKs at once, the fourth waits
    let acks: Vec<usize> = (1..=4).map(|n| bench.duplex_data(1, 2, n * 1000, 1000).len()).collect();
    assert_eq!(acks, [1, 1, 1, 0]);
    let request = bench.fire(Timer::Query(QueryId(0)));
    assert_eq!(request[0].blocks(), [(1000, 5000)]);
    // the fourth is reported: the next one starts its own wait, and nothing is sent for the first
    bench.advance(50 * US);
    assert!(bench.duplex_data(1, 2, 5000, 1000).is_empty());
    let late = bench.advance(5000 * US);
    let found = |late: &[Caught]| late.iter().filter(|a| a.packet.len == 0).map(|a| a.at / US).collect::<Vec<_>>();
    assert_eq!(found(&late), [150]);
    assert_eq!(late[0].blocks(), [(1000, 6000)]);
}

#[test]
fn linux_hosts_ask_each_other_through_a_small_buffer() {
    // all rules of Linux, with losses, timeouts and ACKs at equal instants
    for sack in [true, false] {
        let t = changed!(
            tcp(),
            loss.recovery = Recovery::Linux,
            loss.sack = sack,
            loss.forward_retransmit = false,
            loss.frto = true,
            loss.dsack = true,
            loss.undo = true,
            timing.segment_rtt = true,
            loss.reordering = true,
            acks.pingpong = true,
            acks.adaptive_ack = true,
            acks.wakeup = true,
            acks.last_set_first = true,
            acks.window_growth = true,
            acks.push_ack = true,
            loss.sack_compression = true,
            acks.quickack = 16,
            windows.cwnd_limited = true,
            windows.idle_restart = true,
            timing.rto_rule = RtoRule::Linux,
            rto.rto_min = Time::ms(4),
            timing.timer_tick = Time::ms(1),
            acks.delayed_ack_timeout = Time::ms(40)
        );
        let mut spec = asking(6, 40_000, t);
        spec.links.iter_mut().for_each(|l| (l.rate, l.delay) = (Rate::INFINITE, Time::ZERO));
        // the root's link is the bottleneck, its opposite link has the delay
        let queue = spec.queues.len() as u32;
        spec.queues.push(drop_tail(30));
        spec.links[7] = LinkSpec { rate: Rate::gbps(1), bucket: 1600, queue, ..spec.links[7].clone() };
        spec.links[0].delay = Time::us(100);
        let o = compared(&spec);
        let sum = |what: fn(&FlowRecord) -> u64| o.flows.iter().map(what).sum::<u64>();
        assert!(sum(|f| f.timeouts) > 0, "sack {sack}: {} dropped", sum(|f| f.dropped));
        assert!(sum(|f| f.retransmissions) > sum(|f| f.timeouts), "sack {sack}");
        assert!(messages(&o, MessageKind::Query).iter().all(|q| q.finish_ps.is_some()));
    }
}
