//! The send buffer: space for an application's writes, and the ends of its writes.

use super::*;
use incast_engine::testing::{AppState, Start};
use std::collections::VecDeque;

#[test]
fn segments_say_where_a_write_ends() {
    let pushed = |push_ack, notsent_lowat, size| {
        let transport = changed!(linux_prr(10.0), acks.push_ack = push_ack, windows.notsent_lowat = notsent_lowat);
        let flow = FlowSpec { app: App::Bulk(Bulk { size, write: 3000 }), ..bulk(0, 1, None) };
        let mut bench = Bench::new(wire(Rate::gbps(100), Time::ms(10), transport, "newreno", flow));
        let sent = bench.open();
        sent.iter().filter(|c| c.has(flag::PSH)).map(|c| c.packet.seq() / 1000).collect::<Vec<_>>()
    };
    assert_eq!(pushed(true, 0, Some(5500)), [5], "the flow's last");
    assert_eq!(pushed(true, 100_000, None), [2, 5, 8], "and, where the application wakes to write, each write's");
    assert_eq!(pushed(false, 100_000, Some(5500)), [0; 0]);
}

/// ns-3's BulkSendApplication: totBytes is maxBytes, which is 0.
#[test]
fn a_flow_whose_writes_never_fit_opens_and_closes() {
    for (write, whole_writes, sent) in [(20_001, true, 0), (20_000, true, 20_000), (20_001, false, 20_000)] {
        let transport = changed!(plain(), windows.send_buffer = 20_000, windows.whole_writes = whole_writes);
        let flow = FlowSpec { app: App::Bulk(Bulk { size: None, write }), ..bulk(0, 1, None) };
        let mut spec = wire(Rate::gbps(1), Time::us(10), transport, "newreno", flow);
        run_for(&mut spec, Time::ms(20));
        let outcome = run(&spec);
        let flow = &outcome.flows[0];
        assert_eq!((flow.delivered >= sent, flow.delivered == 0), (true, sent == 0), "{write}, {whole_writes}");
    }
}

/// sk_stream_write_space and tcp_notsent_lowat.
#[test]
fn an_application_writes_until_so_much_is_unsent() {
    let t = changed!(linux_prr(10.0), windows.notsent_lowat = 10_000, acks.push_ack = true);
    let mut app = AppState::new(App::Bulk(Bulk { size: None, write: 3000 }), Start::ENDLESS);
    let mut ends = VecDeque::new();
    app.top_up(1 << 20, 0, t.windows.notsent_lowat, t.sizes.mss, Some(&mut ends));
    assert_eq!(Vec::from(ends.clone()), [3000, 6000, 9000, 10_000], "the last write is cut");
    // woken once less than half of it is unsent
    assert_eq!([app.wants(5000, 10_000), app.wants(5001, 10_000)], [false, true]);
    app.top_up(1 << 20, 5000, t.windows.notsent_lowat, t.sizes.mss, Some(&mut ends));
    assert_eq!(app.written, 10_000);
    // 15,500 is the limit; a segment once begun is written as a whole
    app.top_up(1 << 20, 5500, t.windows.notsent_lowat, t.sizes.mss, Some(&mut ends));
    assert_eq!((app.written, ends.back().copied()), (16_000, Some(16_000)));
    // limited by the send buffer too
    app.top_up(2000, 15_000, t.windows.notsent_lowat, t.sizes.mss, Some(&mut ends));
    assert_eq!(app.written, 18_000);
}

#[test]
fn a_sender_keeps_little_unsent() {
    let written = |notsent_lowat| {
        let mut bench = sender_at(
            changed!(linux_prr(10.0), windows.notsent_lowat = notsent_lowat, windows.send_buffer = 500_000),
            0,
        );
        bench.advance(MS);
        let first = bench.record().written;
        (1..=4).for_each(|n| drop(bench.ack(n * 1000, 0, 0, &[])));
        bench.advance(2 * MS);
        (first, bench.record().written)
    };
    // of the first write of 65,160 B ten segments are sent, and 18 after four ACKs in slow start: 47,160 B are unsent.
    // The next write fills up to 100 kB plus a begun segment
    assert_eq!(written(94_000), (65_160, 65_160));
    assert_eq!(written(100_000), (65_160, 118_160));
    assert_eq!(written(0).0, 500_000, "the send buffer alone");
}

#[test]
fn the_send_buffer_bounds_what_is_in_flight() {
    assert_eq!(most_in_flight(changed!(plain(), windows.send_buffer = 8000)).0, 8000.0);
}
