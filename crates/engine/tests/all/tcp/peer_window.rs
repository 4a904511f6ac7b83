//! The window that the peer offers: which segments change it (RFC 9293 3.10.7.4), and what goes beyond one that shrank
//! (3.8.6).

use super::*;
use incast_engine::testing::{Kind, QueryId, Timer};

const RULES: [WindowUpdate; 3] = [WindowUpdate::News, WindowUpdate::Rfc9293, WindowUpdate::Linux];

/// Ten segments of congestion window, after a handshake or without one.
fn rule(window_update: WindowUpdate, handshake: bool) -> TransportSpec {
    TransportSpec { window_update, handshake, ..initial_window(10.0) }
}

/// One worker, host 1, and its root, host 0: requests of 1000 B on flow 0, responses of 10 kB on flow 1.
fn two_way(window_update: WindowUpdate, handshake: bool) -> Bench {
    let mut spec = asking(1, 10_000, rule(window_update, handshake));
    spec.queries[0].connections[0].request_size = 1000;
    Bench::new(spec)
}

/// Flow and the link on which its data arrives: requests at the worker, responses at the root.
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
        // the first has arrived; of the three others the window has room for one
        assert!(bench.give_sender(Kind::Ack, 1000, 0, 1000).is_empty());
        let timeout = bench.advance(250 * MS);
        assert_eq!(segments(&timeout), [-1], "the first outstanding segment goes again");
        let repairs = segments(&bench.give_sender(Kind::Ack, 2000, 0, 1000));
        // what opens the window is for all that has not gone
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
        // a pure ACK behind two segments of the response: both rules look at its number, one more than its SEQ
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

#[test]
fn queries_over_lossy_links_run_under_every_rule() {
    for window_update in RULES {
        let t = TransportSpec { window_update, quickack: 16, ..tcp() };
        let mut spec = asking(3, 30_000, t);
        spec.links.iter_mut().for_each(|l| l.loss = Loss::Packet(0.05));
        spec.queries[0].count = Some(5);
        run_for(&mut spec, Time::s(60));
        let o = compared(&spec);
        assert_eq!(messages(&o, MessageKind::Query).iter().filter(|q| q.finish_ps.is_some()).count(), 5);
    }
}
