//! Connections that each query opens and closes for itself: packets on the wire, fresh state, lost handshakes and FINs,
//! and packets that arrive after their connection is gone.

use crate::support::*;
use incast_engine::testing::{Kind, QueryId, Timer, flag};

const CLOSES: [Close; 3] = [Close::Worker, Close::Root, Close::Reset];

/// Like `asking`, with separate connections for each query, the first one at the start. All flows are traced.
fn asking_anew(workers: u32, response: u64, transport: TransportSpec, close: Close) -> Spec {
    let mut spec = asking(workers, response, transport);
    (spec.queries[0].first, spec.queries[0].close) = (Time::ZERO, Some(close));
    spec.observe.trace = (0..2 * workers).collect();
    spec
}

/// Number of packets with `flag` sent by host `place`.
fn sent(o: &Outcome, place: &str, flag: &str) -> usize {
    let has = |e: &&&PacketEvent| e.flags.split('|').any(|f| f == flag);
    events(o, place, Happening::Send).iter().filter(has).count()
}

/// Completion times of the queries, all of which are answered.
fn took(o: &Outcome) -> Vec<u64> {
    messages(o, MessageKind::Query).iter().map(|q| q.finish_ps.unwrap() - q.start_ps).collect()
}

#[test]
fn each_query_opens_and_closes_its_connection() {
    // FIN as a segment of its own, and on the last data
    for fin_with_data in [false, true] {
        for close in [Close::Worker, Close::Root] {
            let mut spec = asking_anew(1, 1000, changed!(tcp(), connection.fin_with_data = fin_with_data), close);
            spec.queries[0].think = Time::us(20);
            let o = compared(&spec);
            for place in ["h0", "h1"] {
                let found = ["SYN", "FIN", "RST"].map(|flag| sent(&o, place, flag));
                assert_eq!(found, [3, 3, 0], "{place} closes {close:?}, FIN with data: {fin_with_data}");
            }
            assert_eq!([o.flows[0].retransmissions, o.flows[1].retransmissions], [0, 0]);
            let fins = events(&o, "h1", Happening::Send).into_iter().filter(|e| e.flags.contains("FIN"));
            let with_data = fin_with_data && close == Close::Worker;
            assert!(fins.clone().all(|e| (e.payload > 0) == with_data), "{:?}", fins.collect::<Vec<_>>());
        }
    }
}

/// Linux: `write()` and `shutdown()`. FIN is carried by the last data if the window has kept some back.
#[test]
fn fin_follows_a_write_that_was_sent_at_once() {
    for (response, close_after_write, with_data) in [(4000, false, true), (4000, true, false), (30_000, true, true)] {
        let t = changed!(
            tcp(),
            connection.fin_with_data = true,
            connection.close_after_write = close_after_write,
            windows.initial_window = 10.0
        );
        let o = compared(&asking_anew(2, response, t, Close::Worker));
        took(&o);
        for worker in ["h1", "h2"] {
            let fins = events(&o, worker, Happening::Send).into_iter().filter(|e| e.flags.contains("FIN"));
            let payloads: Vec<bool> = fins.map(|e| e.payload > 0).collect();
            assert_eq!(payloads, [with_data; 3], "{response} bytes, closed behind the write: {close_after_write}");
        }
        assert!(o.flows.iter().all(|f| f.retransmissions == 0));
    }
    // lost FINs are retransmitted
    let t = changed!(
        tcp(),
        connection.fin_with_data = true,
        connection.close_after_write = true,
        windows.initial_window = 10.0
    );
    let mut spec = asking_anew(3, 9000, t, Close::Worker);
    spec.links.iter_mut().for_each(|l| l.loss = Loss::Packet(0.05));
    run_for(&mut spec, Time::s(60));
    let o = compared(&spec);
    took(&o);
    let lost = events(&o, "h1", Happening::Send).into_iter().filter(|e| e.flags.contains("FIN")).count();
    assert!(o.flows.iter().map(|f| f.retransmissions).sum::<u64>() > 0 && lost >= 3);
}

#[test]
fn every_connection_is_as_fresh_as_the_first() {
    let o = compared(&asking_anew(1, 1000, tcp(), Close::Worker));
    // SYN and SYN-ACK of 56 B each way, then the root's ACK (41.6 ns on its link) ahead of the request
    let handshake = 2 * (2 * 44_800 + 2_000_000);
    let exchange = 41_600 + 2_243_200 + 2 * 841_600 + 2_000_000;
    assert_eq!(took(&o), [handshake + exchange; 3]);
    // 40 segments take at least two windows of slow start: a grown window is not kept
    let slow = |close| {
        let mut spec = asking(1, 40 * 1448, tcp());
        spec.links.iter_mut().for_each(|l| l.delay = Time::us(50));
        spec.queries[0].close = close;
        spec.flows.iter_mut().for_each(|f| f.start = spec.queries[0].first);
        took(&compared(&spec))
    };
    let anew = slow(Some(Close::Worker));
    assert!(anew.iter().all(|t| *t == anew[0]), "{anew:?}");
    let persistent = slow(None);
    assert!(persistent[2] < persistent[0] - 300_000_000, "{persistent:?}");
}

#[test]
fn a_flow_sums_up_its_connections() {
    for close in CLOSES {
        let o = run(&asking_anew(2, 20_000, tcp(), close));
        for f in &o.flows {
            let bytes = if f.role == Role::Request { 300 } else { 60_000 };
            assert_eq!((f.delivered, f.delivered_m, f.written), (bytes, bytes, bytes), "{close:?}");
            assert_eq!((f.finish_ps, f.received_ps, f.start_ps), (None, None, 0));
        }
    }
}

#[test]
fn a_reset_needs_one_packet_and_no_fin() {
    let mut spec = asking_anew(1, 1000, tcp(), Close::Reset);
    spec.queries[0].think = Time::us(20);
    let o = compared(&spec);
    assert_eq!(["SYN", "FIN", "RST"].map(|flag| sent(&o, "h0", flag)), [3, 0, 3]);
    assert_eq!(["SYN", "FIN", "RST"].map(|flag| sent(&o, "h1", flag)), [3, 0, 0]);
}

/// A query every 50 us; packet `n` of the root or the worker is lost. Also returns the number of SYN, FIN and RST that
/// each sent.
fn lossy(close: Close, place: u32, n: u64) -> (Outcome, [[usize; 3]; 2]) {
    let t = changed!(tcp(), connection.syn_timeout = Time::ms(3), rto.rto_initial = Time::ms(10));
    let mut spec = asking_anew(1, 1000, t, close);
    let up = spec.links.iter().position(|l| l.from == place).unwrap();
    spec.links[up].loss = Loss::List(vec![n]);
    spec.queries[0].think = Time::us(50);
    spec.queries[0].count = Some(4);
    run_for(&mut spec, Time::ms(200));
    let o = compared(&spec);
    assert_eq!(took(&o).len(), 4);
    let found = ["h0", "h1"].map(|place| ["SYN", "FIN", "RST"].map(|flag| sent(&o, place, flag)));
    (o, found)
}

#[test]
fn a_lost_syn_or_syn_ack_is_repeated() {
    for place in [0, 1] {
        let (o, found) = lossy(Close::Worker, place, 0);
        // the second SYN is answered, and so was the first if it arrived
        assert_eq!(found, [[5, 4, 0], [4 + place as usize, 4, 0]]);
        let took = took(&o);
        assert!(took[0] > 3 * MS && took[1..].iter().all(|t| *t < MS), "{took:?}");
    }
}

/// The same, with the loss of the first packet that `wanted` selects.
fn lossy_of(close: Close, place: u32, wanted: impl Fn(&PacketEvent) -> bool) -> (Outcome, [[usize; 3]; 2]) {
    let is_lost = |o: &Outcome| o.trace.iter().any(|e| e.event == Happening::Loss && wanted(e));
    (0..20).map(|n| lossy(close, place, n)).find(|(o, _)| is_lost(o)).expect("a packet of that kind")
}

#[test]
fn a_lost_fin_goes_again_beside_the_next_connections() {
    for close in [Close::Worker, Close::Root] {
        for place in [0, 1] {
            let of = format!("h{place}");
            let (o, found) = lossy_of(close, place, |e| e.flags.contains("FIN"));
            assert_eq!(found[place as usize], [4, 5, 0], "{close:?}, {of}");
            assert_eq!(found[1 - place as usize], [4, 4, 0], "{close:?}, {of}");
            // no query waits for it
            assert!(took(&o).iter().all(|t| *t < MS), "{:?}", took(&o));
            let mut fins = events(&o, &of, Happening::Send).into_iter().filter(|e| e.flags.contains("FIN"));
            assert!(fins.next_back().unwrap().time_ps > 9 * MS, "after a timeout, when the last query is over");
        }
    }
}

#[test]
fn a_lost_ack_of_a_fin_is_answered_by_a_connection_that_is_gone() {
    for (close, place) in [(Close::Worker, 1), (Close::Root, 0)] {
        // the side that closes first sends the last ACK, one more than the other's bytes and FIN
        let last = if place == 0 { (1, 1001) } else { (0, 101) };
        let (o, found) = lossy_of(close, place, |e| (e.flow, e.ack) == last && e.flags == "ACK");
        assert_eq!(found[1 - place as usize], [4, 5, 0], "{close:?}: the FIN goes again");
        assert_eq!(found[place as usize], [4, 4, 0], "{close:?}");
        assert!(took(&o).iter().all(|t| *t < MS));
        // answered once: nobody sends anything after that
        let after = |place| events(&o, place, Happening::Send).iter().filter(|e| e.time_ps > 9 * MS).count();
        assert_eq!([after("h0"), after("h1")], [1, 1]);
    }
}

#[test]
fn a_lost_reset_is_repeated_for_what_comes_again() {
    // the root's ACK of the response is never sent: the reset acknowledges it, and the worker retransmits after a
    // timeout
    let (o, found) = lossy_of(Close::Reset, 0, |e| e.flags.contains("RST"));
    assert_eq!(found, [[4, 0, 5], [4, 0, 0]]);
    assert_eq!(o.flows[1].retransmissions, 1);
}

#[test]
fn connections_open_as_long_after_the_query_as_their_flows_start() {
    let mut spec = asking_anew(3, 1000, tcp(), Close::Worker);
    spec.queries[0].think = Time::ms(1);
    for (i, f) in spec.flows.iter_mut().enumerate() {
        f.start = Time::us(7 * (i as u64 / 2));
    }
    let o = compared(&spec);
    let begun: Vec<u64> = messages(&o, MessageKind::Query).iter().map(|q| q.start_ps).collect();
    let syns = events(&o, "h0", Happening::Send).into_iter().filter(|e| e.flags == "SYN");
    let after: Vec<_> = syns.enumerate().map(|(i, e)| (e.time_ps - begun[i / 3]) / US).collect();
    assert_eq!(after, [0, 7, 14].repeat(3));
}

#[test]
fn packets_of_an_earlier_connection_leave_the_later_one_alone() {
    let (requests, responses) = ((0, 3), (1, 2));
    let mut spec = asking_anew(1, 1000, tcp(), Close::Worker);
    spec.queries[0].think = Time::ms(1);
    let mut bench = Bench::new(spec);
    bench.open();
    bench.duplex_answer(Kind::Syn, (0, 2), (0, 60_000), 0);
    bench.fire(Timer::Query(QueryId(0)));
    bench.duplex_answer(Kind::Ack, (0, 2), (100, 60_000), 0);
    let last = |p: &mut incast_engine::testing::Packet| (p.flags, p.ack) = (p.flags | flag::FIN, 100);
    let sent = bench.duplex(Kind::Data, responses, (0, 1000), last);
    // the root acknowledges the FIN, closes, and learns that its own has arrived
    assert!(sent[0].packet.ack == 1001 && sent[1].has(flag::FIN) && sent.len() == 2, "{sent:?}");
    assert!(bench.duplex_answer(Kind::Ack, (0, 2), (101, 60_000), 0).is_empty());
    let syn = bench.advance(MS);
    // numbers continue after those of the first connection: request and response, SYN, FIN and its ACK
    assert!(syn[0].packet.is(Kind::Syn) && syn[0].packet.seq() == 103, "{syn:?}");
    // late packets of the first connection are answered with its own numbers, and have no other effect
    let late = bench.duplex(Kind::Data, responses, (0, 1000), last);
    assert_eq!((late.len(), late[0].packet.ack, late[0].packet.is(Kind::Ack)), (1, 1001, true));
    assert!(bench.duplex_answer(Kind::Ack, (0, 2), (101, 1), 0).is_empty());
    assert!(bench.duplex_answer(Kind::Syn, (0, 2), (0, 1), 0).is_empty());
    assert!(bench.duplex(Kind::Data, requests, (103, 50), |_| ()).is_empty(), "nor at a worker that has no SYN");
    let opened = bench.duplex_answer(Kind::Syn, (0, 2), (103, 60_000), 0);
    let found: Vec<_> = opened.iter().map(|c| (c.packet.seq(), c.packet.len)).collect();
    assert_eq!(found, [(103, 0), (103, 100)], "ACK and request");
}

#[test]
fn queries_over_lossy_links_close_all_their_connections() {
    for close in CLOSES {
        for fin_with_data in [false, true] {
            let t = changed!(
                tcp(),
                acks.quickack = 16,
                connection.fin_with_data = fin_with_data,
                connection.syn_timeout = Time::ms(20)
            );
            let mut spec = asking_anew(3, 30_000, t, close);
            spec.links.iter_mut().for_each(|l| l.loss = Loss::Packet(0.05));
            spec.queries[0].count = Some(20);
            spec.observe.trace.clear();
            run_for(&mut spec, Time::s(60));
            let o = compared(&spec);
            assert_eq!(took(&o).len(), 20);
            for f in &o.flows {
                assert_eq!(f.delivered, if f.role == Role::Request { 2000 } else { 600_000 });
            }
        }
    }
}

#[test]
fn a_connection_a_query_needs_a_handshake() {
    let spec = asking_anew(1, 1000, changed!(tcp(), connection.handshake = false), Close::Worker);
    let error = incast_engine::run(&spec, &mut |_| true).unwrap_err().to_string();
    assert!(error.contains("needs a transport with a handshake"), "{error}");
}

#[test]
fn a_stop_lets_the_query_under_way_close() {
    let mut spec = asking_anew(1, 1000, tcp(), Close::Worker);
    spec.queries[0].count = None;
    spec.queries[0].stop = Time::us(30);
    spec.flows.iter_mut().for_each(|f| f.stop = Time::us(30));
    let o = compared(&spec);
    assert!(messages(&o, MessageKind::Query).iter().all(|q| q.finish_ps.is_some()));
    let queries = messages(&o, MessageKind::Query).len();
    assert!(queries > 1);
    assert_eq!(["h0", "h1"].map(|place| sent(&o, place, "FIN")), [queries; 2]);
}
