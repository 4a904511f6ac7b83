//! The window offered by the peer: segments that change it (RFC 9293 3.10.7.4), and data beyond a window that shrank
//! (3.8.6).

use super::*;
use incast_engine::testing::{Kind, QueryId, Timer};

const RULES: [WindowUpdate; 3] = [WindowUpdate::News, WindowUpdate::Rfc9293, WindowUpdate::Linux];

/// Ten segments of congestion window, with or without a handshake.
fn rule(window_update: WindowUpdate, handshake: bool) -> TransportSpec {
    changed!(initial_window(10.0), windows.window_update = window_update, connection.handshake = handshake)
}

/// One worker, host 1, and its root, host 0: requests of 1000 B on flow 0, responses of 10 kB on flow 1.
fn two_way(window_update: WindowUpdate, handshake: bool) -> Bench {
    let mut spec = asking(1, 10_000, rule(window_update, handshake));
    spec.queries[0].connections[0].request_size = 1000;
    Bench::new(spec)
}

/// A flow and the link on which its data arrives: requests at the worker, responses at the root.
const REQUESTS: (u32, u32) = (0, 3);
const RESPONSES: (u32, u32) = (1, 2);

fn data(sent: &[Caught]) -> usize {
    sent.iter().filter(|c| c.packet.len > 0).count()
}

#[test]
fn an_ack_without_news_shrinks_the_window_but_not_under_linux() {
    let next_write_goes = |window_update| {
        let app = App::ClosedLoop(ClosedLoop { write: 1000, outstanding: 1, think: Time::ms(5), count: None });
        let flow = FlowSpec { app, ..bulk(0, 1, None) };
        let mut bench = bench(rule(window_update, false), "newreno", flow);
        assert_eq!(lengths(&bench.open()), [1000]);
        bench.advance(MS);
        bench.give_sender(Kind::Ack, 1000, 0, 4000);
        // the same ACK again, with another window
        bench.give_sender(Kind::Ack, 1000, 0, 400);
        data(&bench.advance(7 * MS))
    };
    assert_eq!(RULES.map(next_write_goes), [0, 0, 1]);
}

#[test]
fn nothing_new_goes_beyond_a_window_that_shrank_and_linux_repairs_nothing_there() {
    let again = |window_update| {
        let mut bench = bench(rule(window_update, true), "newreno", bulk(0, 1, None));
        bench.open();
        assert_eq!(segments(&bench.give_sender(Kind::Syn, 0, 0, 4000)), [0, 1, 2, 3]);
        // the first has arrived; the window has room for one of the other three
        assert!(bench.give_sender(Kind::Ack, 1000, 0, 1000).is_empty());
        let timeout = bench.advance(250 * MS);
        assert_eq!(segments(&timeout), [-1], "the first outstanding segment goes again");
        let repairs = segments(&bench.give_sender(Kind::Ack, 2000, 0, 1000));
        // a window update counts for all unsent data
        bench.advance(251 * MS);
        let new = segments(&bench.give_sender(Kind::Ack, 4000, 0, 2000));
        assert_eq!(new, [4, 5]);
        repairs
    };
    assert_eq!(RULES.map(again), [vec![-2, -3], vec![-2, -3], vec![-2]]);
}

#[test]
fn the_first_outstanding_segment_probes_a_window_that_shrank_to_nothing() {
    for window_update in RULES {
        let mut bench = bench(rule(window_update, true), "newreno", bulk(0, 1, None));
        bench.open();
        bench.give_sender(Kind::Syn, 0, 0, 2000);
        bench.give_sender(Kind::Ack, 1000, 0, 0);
        let sent = bench.advance(1000 * MS);
        assert!(segments(&sent).iter().all(|s| *s == -1) && !sent.is_empty(), "{window_update:?}: {sent:?}");
    }
}

/// The handshake's last ACK and the request have one SEQ: Linux takes the window of the first alone.
#[test]
fn the_request_changes_the_window_of_the_handshake_but_not_under_linux() {
    let burst = |window_update| {
        let mut bench = two_way(window_update, true);
        let answer = bench.duplex(Kind::Syn, REQUESTS, (0, 0), |p| p.flags &= !flag::ACK);
        assert!(answer[0].packet.is(Kind::Syn) && answer[0].packet.wnd > 0);
        bench.duplex(Kind::Ack, REQUESTS, (0, 0), |p| p.wnd = 5000);
        data(&bench.duplex(Kind::Data, REQUESTS, (0, 1000), |p| p.wnd = 2000))
    };
    assert_eq!(RULES.map(burst), [5, 2, 5]);
}

#[test]
fn data_that_acknowledges_nothing_new_shrinks_the_window() {
    let request_goes = |window_update| {
        let mut bench = two_way(window_update, true);
        bench.open();
        bench.duplex_answer(Kind::Syn, (0, 2), (0, 4000), 0);
        bench.duplex(Kind::Data, RESPONSES, (0, 1000), |p| p.wnd = 400);
        data(&bench.fire(Timer::Query(QueryId(0))))
    };
    // the window of the SYN-ACK has room for the request
    assert_eq!(RULES.map(request_goes), [1, 0, 0]);
}

#[test]
fn a_segment_that_was_overtaken_does_not_change_the_window() {
    let request_goes = |window_update| {
        let mut bench = two_way(window_update, false);
        bench.open();
        // a pure ACK behind two segments of the response: both rules use its number, one more than its SEQ
        bench.duplex_answer(Kind::Ack, (0, 2), (0, 400), 2001);
        bench.duplex(Kind::Data, RESPONSES, (1000, 1000), |p| p.wnd = 9000);
        data(&bench.fire(Timer::Query(QueryId(0))))
    };
    assert_eq!(RULES.map(request_goes), [1, 0, 0]);
}

#[test]
fn pure_acks_of_two_way_connections_say_their_number_only_where_it_counts() {
    for window_update in RULES {
        let mut bench = two_way(window_update, false);
        let sent = bench.duplex(Kind::Data, REQUESTS, (0, 1000), |_| ());
        let ack = sent.iter().find(|c| c.packet.is(Kind::Ack)).unwrap();
        let number = ack.ext.as_ref().map(|ext| ext.number);
        assert_eq!(number, (window_update != WindowUpdate::News).then_some(1), "{window_update:?}");
    }
}

/// Segments of 1448 B; the handshake offers a window of `wnd`.
fn offered(wnd: u32, change: impl FnOnce(&mut TransportSpec)) -> (Bench, Vec<u16>) {
    let mut t = changed!(initial_window(10.0), sizes.mss = 1448, sizes.header = 52, connection.handshake = true);
    (t.windows.whole_segments, t.windows.persist_timeout) = (true, Time::ms(200));
    change(&mut t);
    let mut bench = bench(t, "newreno", bulk(0, 1, None));
    bench.open();
    let sent = lengths(&bench.give_sender(Kind::Syn, 0, 0, wnd));
    // the ACK of the handshake
    (bench, sent[1..].to_vec())
}

#[test]
fn half_the_largest_window_is_worth_using() {
    // the largest window that the receiver offers is below a segment
    let (mut bench, sent) = offered(600, |t| t.windows.whole_segments = false);
    assert_eq!(sent, [600]);
    assert_eq!(lengths(&bench.give_sender(Kind::Ack, 600, 0, 600)), [600], "without waiting for the persist timer");
}

/// Linux 6.1, measured: 427 of 1875 bytes stay unused.
#[test]
fn a_segment_goes_whole_or_not_at_all() {
    let (mut bench, sent) = offered(1875, |_| ());
    assert_eq!(sent, [1448]);
    assert_eq!(lengths(&bench.give_sender(Kind::Ack, 1448, 0, 1875)), [1448]);
    // half of the largest window does not release a segment either
    assert!(bench.give_sender(Kind::Ack, 2896, 0, 1000).is_empty());
    assert_eq!(offered(1875, |t| (t.windows.whole_segments, t.windows.sws_avoidance) = (false, false)).1, [1448, 427]);
    // the end of a write counts as whole
    let mut t =
        changed!(initial_window(10.0), sizes.mss = 1448, windows.whole_segments = true, connection.handshake = true);
    t.windows.persist_timeout = Time::ms(200);
    let mut bench = super::bench(t, "newreno", bulk(0, 1, Some(1848)));
    bench.open();
    assert_eq!(lengths(&bench.give_sender(Kind::Syn, 0, 0, 1850)), [0, 1448, 400, 0], "and FIN");
}

/// Linux 6.1, measured: the probe has the window's bytes, the rest of its segment follows on its ACK, and this repeats
/// every 208 ms with timers of 1 ms.
#[test]
fn a_window_below_a_segment_takes_one_a_persist_timeout() {
    let (mut bench, sent) = offered(937, |t| t.timing.timer_tick = Time::ms(1));
    assert!(sent.is_empty());
    let mut probes = Vec::new();
    for n in 0..4 {
        let seq = 1448 * n;
        let now = bench.now();
        let probe = bench.advance(now + 210 * MS);
        assert_eq!((lengths(&probe), probe[0].packet.seq()), (vec![937], seq));
        assert_eq!(lengths(&bench.give_sender(Kind::Ack, seq + 937, 0, 937)), [511]);
        assert!(bench.give_sender(Kind::Ack, seq + 1448, 0, 937).is_empty());
        probes.push((probe[0].at - now) / MS);
    }
    assert!(probes.iter().all(|ms| (200..=208).contains(ms)), "{probes:?}");
}

#[test]
fn the_rest_of_a_split_segment_waits_for_room_too() {
    let (mut bench, _) = offered(300, |_| ());
    assert_eq!(lengths(&bench.advance(201 * MS)), [300]);
    assert!(bench.give_sender(Kind::Ack, 300, 0, 300).is_empty(), "1148 B are left of it");
    assert_eq!(lengths(&bench.give_sender(Kind::Ack, 300, 0, 1200)), [1148]);
    assert_eq!(lengths(&bench.give_sender(Kind::Ack, 1448, 0, 2900)), [1448, 1448]);
}

/// Linux (tcp_write_wakeup, tcp_fragment): probes cut pieces off one segment of 1448 B, whose end is kept.
#[test]
fn a_segment_longer_than_two_windows_keeps_its_end_over_several_probes() {
    let (mut bench, _) = offered(500, |_| ());
    for number in 0..2 {
        let first = 1448 * number;
        for part in [500, 1000] {
            let now = bench.now();
            let probe = bench.advance(now + 201 * MS);
            assert_eq!((lengths(&probe), probe[0].packet.seq()), (vec![500], first + part - 500));
            let on_ack = lengths(&bench.give_sender(Kind::Ack, first + part, 0, 500));
            assert_eq!(on_ack, if part == 500 { vec![] } else { vec![448] }, "948 B are left, then 448");
        }
        assert!(bench.give_sender(Kind::Ack, first + 1448, 0, 500).is_empty());
    }
}

#[test]
fn the_rest_of_a_split_segment_is_a_segment_of_its_own_in_a_window_that_opens() {
    let (mut bench, _) = offered(500, |_| ());
    bench.advance(201 * MS);
    assert_eq!(lengths(&bench.give_sender(Kind::Ack, 500, 0, 4000)), [948, 1448, 1448]);
    // the last segment of a write is split at its own end
    let mut t =
        changed!(initial_window(10.0), sizes.mss = 1448, windows.whole_segments = true, connection.handshake = true);
    t.windows.persist_timeout = Time::ms(200);
    let mut bench = super::bench(t, "newreno", bulk(0, 1, Some(1100)));
    bench.open();
    bench.give_sender(Kind::Syn, 0, 0, 500);
    assert_eq!(lengths(&bench.advance(201 * MS)), [500]);
    assert!(bench.give_sender(Kind::Ack, 500, 0, 500).is_empty());
    assert_eq!(lengths(&bench.advance(402 * MS)), [500]);
    assert_eq!(lengths(&bench.give_sender(Kind::Ack, 1000, 0, 500)), [100, 0], "and FIN");
}

/// Linux 6.1, measured: connection i of 20 that open one after another sees 37500 / (i + 1) bytes.
#[test]
fn the_handshakes_window_bounds_segments_to_half_of_it() {
    let bounded = |wnd| {
        let (bench, sent) = offered(wnd, |t| t.windows.half_window_mss = true);
        assert_eq!(bench.state("cwnd_bytes"), 10.0 * sent[0] as f64, "ten segments of that size");
        sent[0]
    };
    let measured = [1442, 1339, 1250, 1171, 1102, 1041, 986, 937];
    assert_eq!([12, 13, 14, 15, 16, 17, 18, 19].map(|i| bounded(37_500 / (i + 1))), measured);
    assert_eq!([bounded(37_500), bounded(37_500 / 12)], [1448, 1448]);
    assert_eq!(bounded(37_500 / 40), 468);
    // windows of up to 536 bytes are used whole; segments do not fall below 68 bytes with the IP header
    assert_eq!([bounded(537), bounded(536), bounded(93)], [268, 536, 93]);
    // unchanged when the window grows
    let (mut bench, _) = offered(937, |t| t.windows.half_window_mss = true);
    assert_eq!(lengths(&bench.give_sender(Kind::Ack, 936, 0, 60_000))[..2], [468, 468]);
    // a window that later shrinks below a segment does not bound it: the persist timer handles that
    let (mut bench, _) = offered(3000, |t| t.windows.half_window_mss = true);
    assert!(bench.give_sender(Kind::Ack, 2896, 0, 937).is_empty());
}

#[test]
fn a_worker_bounds_its_segments_by_the_handshakes_last_ack() {
    let mut t = rule(WindowUpdate::Linux, true);
    (t.windows.half_window_mss, t.sizes.mss) = (true, 1448);
    let mut bench = Bench::new(asking(1, 10_000, t));
    bench.duplex(Kind::Syn, REQUESTS, (0, 0), |p| p.flags &= !flag::ACK);
    bench.duplex(Kind::Ack, REQUESTS, (0, 0), |p| p.wnd = 937);
    let sent = bench.duplex(Kind::Data, REQUESTS, (0, 100), |p| p.wnd = 400);
    let data: Vec<u16> = lengths(&sent).into_iter().filter(|len| *len > 0).collect();
    assert_eq!(data, [468, 468]);
}

#[test]
fn queries_over_lossy_links_run_under_every_rule() {
    for window_update in RULES {
        let linux = window_update == WindowUpdate::Linux;
        let t = changed!(
            tcp(),
            windows.window_update = window_update,
            windows.whole_segments = linux,
            windows.half_window_mss = linux,
            acks.push_half_window = linux,
            acks.read_ack = linux,
            acks.pingpong = linux,
            acks.quickack = 16
        );
        let mut spec = asking(3, 30_000, t);
        spec.links.iter_mut().for_each(|l| l.loss = Loss::Packet(0.05));
        spec.queries[0].count = Some(5);
        run_for(&mut spec, Time::s(60));
        let o = compared(&spec);
        assert_eq!(messages(&o, MessageKind::Query).iter().filter(|q| q.finish_ps.is_some()).count(), 5);
    }
}

/// A window of one segment of 33,000 bytes is 32,960 in the units of 64 of a buffer of 4 MB.
#[test]
fn a_window_rounded_below_a_segment_is_offered() {
    let mut t = changed!(initial_window(10.0), sizes.mss = 33_000, sizes.header = 52, connection.handshake = true);
    t.sizes.mtu = 33_052;
    (t.windows.whole_segments, t.windows.persist_timeout) = (true, Time::ms(200));
    (t.windows.receive_buffer, t.acks.window_growth) = (4_000_000, true);
    let flow = bulk(0, 1, Some(500_000));
    let outcome = run(&wire(Rate::gbps(1), Time::ms(1), t, "newreno", flow));
    assert_eq!(outcome.flows[0].delivered, 500_000);
}
