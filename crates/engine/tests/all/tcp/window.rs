//! The receiver's window: its size, silly-window avoidance, the persist timer (RFC 1122, RFC 9293).

use super::*;
use incast_engine::testing::Kind;
use proptest::prelude::*;

#[test]
fn an_offered_window_grows_by_two_segments_with_each_that_arrives() {
    let transport =
        changed!(linux_prr(1.0), acks.window_growth = true, windows.receive_buffer = 200_000, acks.quickack = 2);
    let mut bench = receiver(transport.clone());
    let offered: Vec<Option<u32>> =
        (0..24).map(|n| bench.data(n * 1000, 1000, 0).first().map(|a| a.packet.wnd)).collect();
    // from 65 whole segments of a window field without scaling up to half of the buffer: 18 segments, each
    // acknowledged, and after them the first two of `quickack`
    let growing: Vec<Option<u32>> = (1..=18).map(|n| Some((65_000 + 2000 * n).min(100_000))).collect();
    assert_eq!(offered[..18], growing);
    assert_eq!(offered[18..], [Some(100_000), Some(100_000), None, Some(100_000), None, Some(100_000)]);
    // data beyond a hole makes it grow too, with SACK
    for (sack, wnd) in [(true, 69_000), (false, 67_000)] {
        let mut bench = receiver(changed!(transport.clone(), loss.sack = sack));
        bench.data(0, 1000, 0);
        assert_eq!(bench.data(5000, 1000, 0)[0].packet.wnd, wnd, "sack = {sack}");
    }
    let mut whole = receiver(changed!(transport, acks.window_growth = false, acks.quickack = 0));
    assert!(whole.data(0, 1000, 0).is_empty());
    assert_eq!(whole.data(1000, 1000, 0)[0].packet.wnd, 200_000);
}

#[test]
fn a_growing_window_begins_with_whole_segments() {
    for (mss, wnd) in [(1000, 65_000), (1448, 65_160), (9000, 63_000)] {
        let t = changed!(
            linux_prr(1.0),
            acks.window_growth = true,
            sizes.mss = mss,
            connection.handshake = true,
            windows.receive_buffer = 1 << 20
        );
        let mut bench = receiver(t);
        let answer = bench.give_receiver(Kind::Syn, 0, 0);
        assert_eq!(answer[0].packet.wnd, wnd / 32 * 32, "in units of the window's scale");
    }
}

#[test]
fn the_receive_window_bounds_what_is_in_flight() {
    let (most, outcome) = most_in_flight(changed!(plain(), windows.receive_buffer = 9500));
    // the last 500 B are less than a segment and less than half the window
    assert_eq!(most, 9000.0);
    // 9 segments a round trip of 4 ms and 8.64 us
    let rtt = 4.0 * MS as f64 + 8.64e6 * 2.0;
    let finish = outcome.flows[0].finish_ps.unwrap() as f64;
    assert!((finish / (500.0 / 9.0 * rtt) - 1.0).abs() < 0.02, "{finish}");
}

#[test]
fn small_segments_wait_for_a_window_worth_using() {
    // the window opens byte by byte, 250 B at a time, with a maximum of 2000 B
    let run = |sws_avoidance| {
        let transport = changed!(
            plain(),
            windows.sws_avoidance = sws_avoidance,
            windows.initial_window = 2.0,
            windows.receive_buffer = 2000
        );
        let mut bench = bench(transport, "newreno", bulk(0, 1, None));
        let mut sent = lengths(&bench.open());
        bench.advance(50 * MS);
        for n in 1..=40u64 {
            let ack = (n * 250).min(2000);
            let wnd = (2000 + n * 250 - ack) as u32;
            sent.extend(lengths(&bench.give_sender(Kind::Ack, ack, 0, wnd.min(2000))));
        }
        sent
    };
    let avoiding = run(true);
    assert_eq!(avoiding[..2], [1000, 1000]);
    assert!(avoiding.iter().all(|l| *l >= 1000), "{avoiding:?}");
    let silly = run(false);
    assert!(silly.contains(&250), "{silly:?}");
}

#[test]
fn a_stalled_small_segment_goes_with_the_persist_timer() {
    // 300 B of window do not count once 2000 B have been offered
    let transport = changed!(plain(), windows.receive_buffer = 2000, windows.persist_timeout = Time::ms(500));
    let mut bench = bench(transport, "newreno", bulk(0, 1, None));
    assert_eq!(lengths(&bench.open()), [1000, 1000]);
    bench.advance(40 * MS);
    assert!(bench.give_sender(Kind::Ack, 2000, 0, 300).is_empty());
    let sent = bench.advance(600 * MS);
    assert_eq!((lengths(&sent), sent[0].at), (vec![300], 540 * MS));
}

#[test]
fn probes_of_a_shut_window_double_up_to_a_minute() {
    let transport = changed!(plain(), windows.receive_buffer = 2000, windows.persist_timeout = Time::s(6));
    let mut bench = bench(transport, "newreno", bulk(0, 1, None));
    bench.open();
    bench.advance(40 * MS);
    bench.give_sender(Kind::Ack, 2000, 0, 0);
    let mut probes = Vec::new();
    while bench.now() < 300_000 * MS {
        let next = bench.now() + 100 * MS;
        for probe in bench.advance(next) {
            assert_eq!((probe.packet.seq(), probe.packet.len), (1999, 0), "an old byte");
            probes.push((probe.at - 40 * MS) / MS);
            // the receiver answers without a change
            assert!(bench.give_sender(Kind::Ack, 2000, 0, 0).is_empty());
        }
    }
    assert_eq!(probes, [6000, 18_000, 42_000, 90_000, 150_000, 210_000, 270_000]);
    let sent = bench.give_sender(Kind::Ack, 2000, 0, 2000);
    assert_eq!(lengths(&sent), [1000, 1000], "the window opens");
    assert_eq!(bench.state("rtt_s"), 0.04, "probes are no RTT samples");
}

proptest! {
    #![proptest_config(crate::support::cases(40))]

    #[test]
    fn silly_windows_never_form(
        buffer in 1500u64..12_000, mbps in 1u64..40, size in 1u64..60_000, write in 100u64..5000,
    ) {
        let transport = changed!(plain(), windows.receive_buffer = buffer, windows.persist_timeout = Time::ms(30));
        let app = App::Bulk(Bulk { size: Some(size), write });
        let flow = FlowSpec { app, read_rate: Rate::mbps(mbps), ..bulk(0, 1, None) };
        let outcome = run(&wire(Rate::gbps(1), Time::us(50), transport, "newreno", flow));
        prop_assert_eq!(outcome.flows[0].delivered, size);
        // a segment is full, or half the largest window, or the end of a write
        let least = 1000.min(buffer / 2);
        for e in data_sent(&outcome, "h0") {
            let end = e.seq + e.payload as u64;
            prop_assert!(e.payload as u64 >= least || end == size || end % write == 0, "{:?}", e);
        }
    }
}

#[test]
fn the_window_is_the_free_buffer_from_the_next_byte_on() {
    let mut bench = receiver(changed!(plain(), windows.receive_buffer = 60_000, acks.delayed_ack = 1));
    let window = |sent: Vec<Caught>| (sent[0].packet.ack, sent[0].packet.wnd);
    assert_eq!(window(bench.data(0, 1000, 0)), (1000, 60_000));
    // data beyond a hole lies inside the window: its right edge stays
    assert_eq!(window(bench.data(2000, 1000, 0)), (1000, 60_000));
    assert_eq!(window(bench.data(5000, 1000, 0)), (1000, 60_000));
    assert_eq!(window(bench.data(1000, 1000, 0)), (3000, 60_000), "and moves on with the next byte");
}

#[test]
fn a_window_without_scaling_ends_at_65535() {
    let wide = changed!(plain(), windows.receive_buffer = 1 << 20, acks.delayed_ack = 1);
    let mut bench = receiver(changed!(wide.clone(), windows.window_scaling = false));
    assert_eq!(bench.data(0, 1000, 0)[0].packet.wnd, 65_535);
    let mut bench = receiver(wide.clone());
    assert_eq!(bench.data(0, 1000, 0)[0].packet.wnd, 1 << 20, "1 MiB in units of 32 B");
    let mut bench = receiver(wide);
    let syn = bench.give_receiver(Kind::Syn, 0, 0);
    assert!(syn[0].packet.is(Kind::Syn) && syn[0].has(flag::ACK));
    assert_eq!(syn[0].packet.wnd, 65_535, "the window of a SYN-ACK is not scaled");
}

#[test]
fn a_slow_reader_shuts_the_window_and_opens_it_in_steps() {
    // 8 Mb/s are 1000 B a millisecond
    let spec = changed!(plain(), windows.receive_buffer = 4000, acks.delayed_ack = 1);
    let slow = FlowSpec { read_rate: Rate::mbps(8), ..bulk(0, 1, None) };
    let mut bench = Bench::new(wire(Rate::gbps(10), Time::us(1), spec, "newreno", slow));
    let windows: Vec<u32> = (0..4).map(|n| bench.data(n * 1000, 1000, 0)[0].packet.wnd).collect();
    assert_eq!(windows, [3000, 2000, 1000, 0]);
    // silly-window avoidance: the edge moves by a whole segment at once
    let updates = bench.advance(5 * MS);
    let found: Vec<(u64, u64, u32)> = updates.iter().map(|a| (a.at / MS, a.packet.ack, a.packet.wnd)).collect();
    assert_eq!(found[0], (1, 4000, 1000), "the first update after one segment was read");
    assert!(found.iter().all(|u| u.2 % 1000 == 0 && u.2 > 0), "{found:?}");
}

#[test]
fn a_shut_window_is_probed_until_it_opens() {
    // The reader takes 1000 B in 400 ms, the persist timer fires after 100 and then 200 ms.
    let spec = changed!(
        plain(),
        windows.receive_buffer = 4000,
        acks.delayed_ack = 1,
        windows.persist_timeout = Time::ms(100),
        rto.rto_min = Time::s(1)
    );
    let slow = FlowSpec { read_rate: Rate(20_000), ..bulk(0, 1, Some(8000)) };
    let outcome = compared(&wire(Rate::gbps(1), Time::us(10), spec, "newreno", slow));
    let probes: Vec<u64> = events(&outcome, "h0", Happening::Send)
        .iter()
        .filter(|e| e.payload == 0 && !e.flags.contains("SYN"))
        .map(|e| (e.time_ps + MS / 2) / MS)
        .collect();
    assert_eq!(&probes[..2], [100, 300], "probes back off: {probes:?}");
    let flow = &outcome.flows[0];
    assert_eq!((flow.delivered, flow.retransmissions), (8000, 0));
    // 4000 B fill the buffer; the other four segments wait for 400 ms of reading each
    let done = flow.finish_ps.unwrap() / MS;
    assert!((1600..1700).contains(&done), "{done} ms");
}
