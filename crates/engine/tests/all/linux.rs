//! Linux' transport: what each of its switches does, packet by packet. By hand from the kernel's rules
//! (net/ipv4/tcp_input.c, tcp_recovery.c, tcp_output.c, tcp_timer.c; kernel/time/timer.c; Linux 6.1).

use crate::bench::{Bench, Caught};
use crate::net::*;
use incast_cc::{Ecn, Rate, Time};
use incast_engine::spec::*;
use incast_engine::testing::{AppState, Hole, RttEstimator, Scoreboard, fires_at, flag};
use std::collections::VecDeque;

const MS: u64 = 1_000_000_000;

/// Segments of 1000 B without a handshake, Linux' rate reduction.
fn linux(window: f64) -> TransportSpec {
    TransportSpec {
        handshake: false,
        mss: 1000,
        header: 40,
        ack_size: 40,
        initial_window: window,
        send_buffer: 1 << 30,
        receive_buffer: 1 << 29,
        rto_min: Time::ms(200),
        recovery: Recovery::Linux,
        forward_retransmit: false,
        ..tcp()
    }
}

/// A sender of an endless transfer that sent its first window at 0; the clock stands at `at`.
fn sender(transport: TransportSpec, at: u64) -> Bench {
    let mut bench = Bench::new(wire(Rate::gbps(100), Time::ms(10), transport, "newreno", bulk(0, 1, None)));
    bench.open();
    bench.advance(at);
    bench
}

fn receiver(transport: TransportSpec) -> Bench {
    Bench::new(wire(Rate::gbps(10), Time::us(1), transport, "newreno", bulk(0, 1, None)))
}

/// Segment numbers of what was sent; negative for retransmissions.
fn segments(sent: &[Caught]) -> Vec<i64> {
    let number = |c: &Caught| (c.packet.seq / 1000) as i64 * if c.has(flag::RETX) { -1 } else { 1 };
    sent.iter().filter(|c| c.packet.len > 0).map(number).collect()
}

/// An ACK up to segment `n` of what was sent 100 ms ago, with blocks of segments.
fn ack(bench: &mut Bench, n: u64, sack: &[(u64, u64)]) -> Vec<i64> {
    let echoed = bench.now().saturating_sub(100 * MS);
    let sack: Vec<(u64, u64)> = sack.iter().map(|(a, b)| (a * 1000, b * 1000)).collect();
    segments(&bench.ack(n * 1000, echoed, 0, &sack))
}

fn kb(bench: &Bench, name: &str) -> f64 {
    bench.state(name) / 1000.0
}

// ---- timers ------------------------------------------------------------------------------------

#[test]
fn timers_fire_on_slots_of_the_wheel() {
    // (set at, wait, fires at), ms: the next tick beyond the wait; slots of 8 ticks from 63 ticks on, of 64
    // from 504 on
    for (now, wait, at) in [
        (0, 10, 11),
        (5, 40, 46),
        (0, 62, 63),
        (0, 63, 64),
        (0, 64, 72),
        (3, 200, 208),
        (0, 503, 504),
        (0, 504, 512),
        (0, 1000, 1024),
        (100, 4032, 4608),
    ] {
        assert_eq!(fires_at(MS, now * MS, wait * MS), at * MS, "set at {now} ms for {wait} ms");
    }
    // parts of a tick: of the time they are cut off, of the wait they count whole
    assert_eq!(fires_at(MS, 5 * MS + MS / 2, 40 * MS + 1), 47 * MS);
    assert_eq!(fires_at(0, 5 * MS + 3, 40 * MS + 1), 45 * MS + 4, "exact without a tick");
}

#[test]
fn the_retransmission_timer_fires_on_the_wheel() {
    // the timeout before any sample is 1 s: 1000 ticks, in a slot of 64
    for (timer_tick, at) in [(Time::ms(1), 1024 * MS), (Time::ZERO, 1000 * MS)] {
        let mut bench = sender(TransportSpec { timer_tick, ..linux(1.0) }, 0);
        assert_eq!(bench.advance(2000 * MS)[0].at, at);
    }
}

#[test]
fn the_delayed_ack_fires_on_the_wheel() {
    for (timer_tick, at) in [(Time::ms(1), 46), (Time::ZERO, 45)] {
        let delayed_ack_timeout = Time::ms(40);
        let mut bench = receiver(TransportSpec { timer_tick, delayed_ack_timeout, ..linux(1.0) });
        bench.advance(5 * MS);
        assert!(bench.data(0, 1000, 0).is_empty());
        assert_eq!(bench.advance(100 * MS)[0].at, at * MS);
    }
}

/// tcp_rtt_estimator and __tcp_set_rto.
#[test]
fn the_timeout_adds_the_largest_deviation_of_a_round_trip() {
    let spec = TransportSpec { rto_rule: RtoRule::Linux, rto_min: Time::ms(200), ..tcp() };
    let us = |t: f64| (t * 1e6) as u64;
    let mut rtt = RttEstimator::new(&spec);
    // (sample, una, nxt): srtt, mean deviation, timeout; ms
    for (sample, una, nxt, srtt, mdev, rto) in [
        // four deviations of half the RTT are the floor of 200 ms
        (100.0, 1, 10, 100.0, 50.0, 300.0),
        (200.0, 2, 11, 112.5, 62.5, 112.5 + 250.0),
        // below the average it rises an eighth as fast: (92.5 - 62.5) / 4 / 8
        (20.0, 3, 12, 100.9375, 63.4375, 100.9375 + 253.75),
        // a round trip ends: its largest deviation counts, whatever the latest one
        (100.9375, 11, 20, 100.9375, 47.578125, 100.9375 + 253.75),
        // the next falls short of it: down a quarter of the way to the floor
        (100.9375, 21, 30, 100.9375, 35.68359375, 100.9375 + 240.3125),
    ] {
        rtt.sample(us(sample * 1e3), una, nxt);
        let expected = (us(srtt * 1e3), us(mdev * 1e3), us(rto * 1e3));
        assert_eq!((rtt.srtt, rtt.rttvar, rtt.rto()), expected, "after {sample} ms");
    }
    // the floor is one of the deviation: 20 ms give 220, where RFC 6298 has 200
    for (rto_rule, rto) in [(RtoRule::Linux, 220), (RtoRule::Rfc6298, 200)] {
        let mut rtt = RttEstimator::new(&TransportSpec { rto_rule, ..spec.clone() });
        rtt.sample(20 * MS, 1, 10);
        assert_eq!(rtt.rto(), rto * MS);
    }
}

// ---- losses by send times ----------------------------------------------------------------------

/// A scoreboard of four segments of 1000 B sent at 0, 1, 2 and 3.
fn rack() -> Scoreboard {
    let mut board = Scoreboard::with_times(true);
    for n in 0..4 {
        board.sent(n * 1000, 1000);
        board.stamp(n * 1000, n, n);
    }
    board
}

/// RFC 8985 section 6.2, step 5.
#[test]
fn what_was_sent_before_something_that_arrived_is_lost_in_time() {
    for (reordering, in_flight, hole) in [
        // segment 2 took 18: of what was sent before it, segment 0 is overdue by 2 and segment 1 by 1
        (0, 1000, Some(Hole { seq: 0, len: 1000 })),
        (1, 1000, Some(Hole { seq: 0, len: 1000 })),
        (2, 2000, Some(Hole { seq: 0, len: 1000 })),
        (3, 3000, None),
    ] {
        let mut board = rack();
        board.begin_ack(20, 18);
        board.sack(2000, 3000, 0);
        assert_eq!(board.update_lost_by_time(reordering), hole.is_some());
        assert_eq!((board.pipe(), board.next_hole()), (in_flight, hole), "{reordering} for reordering");
        assert!(!board.update_lost_by_time(0), "without news nothing is lost");
    }
}

#[test]
fn a_retransmission_is_lost_when_something_sent_later_arrives() {
    let mut board = rack();
    board.begin_ack(20, 18);
    board.sack(2000, 3000, 0);
    board.update_lost_by_time(0);
    for (seq, at) in [(0, 21), (1000, 22)] {
        board.retransmitted(seq, false);
        board.stamp(seq, at, at);
    }
    // segment 3 was sent before both
    board.begin_ack(30, 18);
    board.sack(3000, 4000, 0);
    assert!(!board.update_lost_by_time(0));
    // quicker than any round trip: the first copy of segment 1
    let mut early = board.clone();
    early.begin_ack(39, 18);
    early.sack(1000, 2000, 0);
    assert!(!early.update_lost_by_time(0));
    // the second copy, sent after that of segment 0
    board.begin_ack(40, 18);
    board.sack(1000, 2000, 0);
    assert!(board.update_lost_by_time(0));
    assert_eq!((board.pipe(), board.next_hole()), (0, Some(Hole { seq: 0, len: 1000 })));
}

#[test]
fn a_quarter_of_the_shortest_round_trip_is_left_for_reordering() {
    let first = |scoreboard| {
        let mut bench = sender(TransportSpec { scoreboard, ..linux(10.0) }, 20 * MS);
        for n in 1..=5u64 {
            assert_eq!(segments(&bench.ack(n * 1000, 0, 0, &[])).len(), 2, "slow start");
        }
        // outstanding: 5 to 9 since 0, 10 to 19 since 20 ms. One SACK of 11 comes
        bench.advance(40 * MS);
        let sent = ack(&mut bench, 0, &[]);
        assert!(sent.is_empty(), "an old ACK says nothing");
        let sent = segments(&bench.ack(5000, 20 * MS, 0, &[(11_000, 12_000)]));
        (sent, bench)
    };
    let (sent, mut bench) = first(Rules::Rack);
    assert_eq!(sent, [-5], "one SACK tells of five losses");
    // of 15 segments 11 arrived and 5 to 9 are lost, one of them under way again. 10 was sent 20 ms ago, as
    // 11 was: it has 5 ms more
    assert_eq!(kb(&bench, "in_flight_bytes"), 10.0);
    // which losses take away
    bench.ack(5000, 20 * MS, 0, &[(11_000, 13_000)]);
    assert_eq!(kb(&bench, "in_flight_bytes"), 8.0);
    assert_eq!(first(Rules::Rfc6675).0, [20], "where three segments have to arrive above: limited transmit");
}

// ---- proportional rate reduction -----------------------------------------------------------------

/// tcp_cwnd_reduction, in proportion to the window before.
#[test]
fn the_rate_falls_by_segments_of_the_window() {
    let run = |recovery| {
        let mut bench = sender(TransportSpec { recovery, ..linux(20.0) }, 100 * MS);
        // 20 in flight, segment 0 lost; limited transmit adds two
        (1..=13).map(|n| ack(&mut bench, 0, &[(1, 1 + n)])).collect::<Vec<_>>()
    };
    let sent = run(Recovery::Linux);
    assert_eq!(sent[..3], [vec![20], vec![21], vec![0]]);
    // after D segments ceil(10 D / 20) have gone: every second ACK lets one out
    assert_eq!(sent[3..8], [vec![], vec![22], vec![], vec![23], vec![]]);
    // ... of the window, not of the 22 that were in flight: those would hold the sixth back
    assert_eq!(sent[8..], [vec![24], vec![], vec![25], vec![], vec![26]]);
    // RFC 6937 takes 22 in flight and bytes: 5 * 10 / 22 = 2.3 segments with the fifth
    assert_eq!(run(Recovery::Prr)[3..8], [vec![], vec![], vec![], vec![22], vec![]]);
}

#[test]
fn below_the_threshold_only_progress_without_losses_grows() {
    let after = |recovery, n, sack: &[(u64, u64)]| {
        let transport = TransportSpec { recovery, limited_transmit: false, ..linux(20.0) };
        let mut bench = sender(transport, 100 * MS);
        let mut sent = Vec::new();
        for n in 11..=13 {
            sent = ack(&mut bench, 0, &[(10, n)]);
        }
        // ten lost, three arrived, seven in flight; the threshold is ten
        (sent.len(), ack(&mut bench, n, sack))
    };
    // a duplicate lets out what it delivers; RFC 6937 one more
    assert_eq!(after(Recovery::Linux, 0, &[(10, 14)]), (1, vec![-1]));
    assert_eq!(after(Recovery::Prr, 0, &[(10, 14)]), (2, vec![-2, -3]));
    // one that advances too: three delivered, one out, and one more
    assert_eq!(after(Recovery::Linux, 1, &[(10, 14)]), (1, vec![-1, -2, -3]));
    // ... unless it tells of new losses: 13 to 16. Five delivered, one out
    assert_eq!(after(Recovery::Linux, 1, &[(17, 20), (10, 13)]), (1, vec![-1, -2, -3, -4]));
}

/// tcp_add_reno_sack and tcp_remove_reno_sacks.
#[test]
fn without_sack_a_duplicate_stands_for_a_segment() {
    let mut bench = sender(TransportSpec { sack: false, ..linux(20.0) }, 100 * MS);
    let sent: Vec<_> = (1..=5).map(|_| ack(&mut bench, 0, &[])).collect();
    assert_eq!(sent, [vec![20], vec![21], vec![0], vec![], vec![22]]);
    // segment 0 arrived again, and up to 4 all had: four of the five duplicates. It is one more
    // segment, 10 * 4 / 20 = 2 are out
    assert_eq!(ack(&mut bench, 5, &[]), [0i64; 0]);
    assert_eq!(ack(&mut bench, 5, &[]), [-5], "segment 5 was lost too");
    // RFC 6582 repairs at once
    let mut reno = sender(TransportSpec { sack: false, recovery: Recovery::NewReno, ..linux(20.0) }, 100 * MS);
    (1..=5).for_each(|_| drop(ack(&mut reno, 0, &[])));
    assert_eq!(ack(&mut reno, 5, &[])[..1], [-5]);
}

#[test]
fn the_first_retransmission_goes_whatever_is_in_flight() {
    let mut bench = sender(TransportSpec { limited_transmit: false, ..linux(20.0) }, 100 * MS);
    // seven lost, three arrived: the ten in flight are all that the threshold allows
    let sent: Vec<_> = (8..=10).map(|n| ack(&mut bench, 0, &[(7, n)])).collect();
    assert_eq!(sent, [vec![], vec![], vec![0]]);
    let sent: Vec<_> = (11..=13).map(|n| ack(&mut bench, 0, &[(7, n)])).collect();
    assert_eq!(sent, [vec![], vec![-1], vec![-2]], "then, below it, one for each that arrives");
}

/// tcp_enter_recovery: a reduction that is under way goes on.
#[test]
fn a_loss_during_an_ecn_reduction_starts_no_other() {
    let transport = TransportSpec { ecn: Some(Ecn::Classic), ecn_by_prr: true, ..linux(20.0) };
    let mut bench = sender(transport, 100 * MS);
    let echoed = segments(&bench.ack(1000, 0, flag::ECE, &[]));
    let sent: Vec<_> = (3..=6).map(|n| ack(&mut bench, 1, &[(2, n)])).collect();
    // half of the 19 in flight: 9 of 20. After D segments ceil(9 D / 20) have gone, the repair among them
    assert_eq!((echoed, sent), (vec![20], vec![vec![], vec![21], vec![], vec![-1]]));
}

/// tcp_try_undo_recovery without SACK, RFC 6582: nothing new until more is acknowledged.
#[test]
fn without_sack_duplicates_of_repaired_data_start_nothing() {
    let mut bench = sender(TransportSpec { sack: false, ..linux(20.0) }, 100 * MS);
    (0..3).for_each(|_| drop(ack(&mut bench, 0, &[])));
    assert_eq!(kb(&bench, "ssthresh_bytes"), 10.0);
    // all that was outstanding, 22 segments, and echoes of what was sent twice
    for _ in 0..6 {
        assert!(ack(&mut bench, 22, &[]).iter().all(|n| *n > 0), "new data at most");
    }
    assert_eq!(kb(&bench, "ssthresh_bytes"), 10.0);
}

/// tcp_rearm_rto with the retransmission of the first segment.
#[test]
fn a_repair_of_the_first_segment_restarts_the_timer() {
    for (recovery, at) in [(Recovery::Linux, 1100), (Recovery::Prr, 1000)] {
        let mut bench = sender(TransportSpec { recovery, ..linux(20.0) }, 100 * MS);
        assert!((2..=4).flat_map(|n| ack(&mut bench, 0, &[(1, n)])).any(|n| n == 0));
        assert_eq!(bench.advance(2000 * MS)[0].at, at * MS);
    }
}

// ---- undo ----------------------------------------------------------------------------------------

/// A sender that may undo, whose segments 5 and 6 of 20 are lost and on their way again; `flags` are of the
/// ACK that told so.
fn repairing(change: impl FnOnce(&mut TransportSpec), flags: u16) -> Bench {
    let mut transport = TransportSpec { undo: true, limited_transmit: false, ..linux(20.0) };
    change(&mut transport);
    let mut bench = sender(transport, 100 * MS);
    bench.ack(5000, 0, 0, &[]);
    let mut again = Vec::new();
    for n in 8..=14 {
        let flags = if n == 10 { flags } else { 0 };
        let sent = bench.ack(5000, 100 * MS, flags, &[(7000, n * 1000)]);
        again.extend(segments(&sent).into_iter().filter(|n| *n < 0));
    }
    assert_eq!(again, [-5, -6]);
    assert!(kb(&bench, "ssthresh_bytes") < 13.0);
    bench
}

#[test]
fn a_duplicate_inside_the_second_block_counts_one_below_the_reduction_does_not() {
    let after = |first: (u64, u64), second: (u64, u64)| {
        let mut bench = repairing(|_| (), 0);
        bench.ack(5000, 100 * MS, 0, &[first, (6000, 14_000)]);
        bench.ack(14_000, 100 * MS, 0, &[second]);
        kb(&bench, "ssthresh_bytes")
    };
    // both came twice: 6 while 5 was missing, inside the block of what lies beyond it
    assert_eq!(after((6000, 7000), (5000, 6000)), f64::INFINITY);
    // outside of it the first block is news
    assert!(after((15_000, 16_000), (5000, 6000)) < 13.0);
    // something from before the reduction says nothing of it
    assert!(after((6000, 7000), (3000, 4000)) < 13.0);
}

#[test]
fn a_reduction_that_a_mark_called_for_stays() {
    for (flags, undone) in [(0, true), (flag::ECE, false)] {
        let mut bench = repairing(|t| t.ecn = Some(Ecn::Classic), flags);
        bench.ack(5000, 100 * MS, 0, &[(6000, 7000), (6000, 14_000)]);
        bench.ack(14_000, 100 * MS, 0, &[(5000, 6000)]);
        assert_eq!(kb(&bench, "ssthresh_bytes") == f64::INFINITY, undone);
    }
}

#[test]
fn what_is_not_lost_after_all_is_in_flight_in_all_its_copies() {
    let mut board = Scoreboard::default();
    (0..4).for_each(|n| board.sent(n * 1000, 1000));
    board.timed_out(0, 4000);
    board.retransmitted(0, false);
    assert_eq!(board.pipe(), 1000);
    board.nothing_is_lost(0);
    assert_eq!((board.pipe(), board.next_hole()), (5000, None));
}

// ---- acknowledgements --------------------------------------------------------------------------

#[test]
fn the_end_of_a_write_and_cwr_are_acknowledged_at_once() {
    for (flags, push_ack, cwr_ack, acks) in [
        (flag::PSH, true, false, 1),
        (flag::PSH, false, true, 0),
        (flag::CWR, false, true, 1),
        (flag::CWR, true, false, 0),
        (0, true, true, 0),
    ] {
        let mut bench = receiver(TransportSpec { push_ack, cwr_ack, ..linux(1.0) });
        assert_eq!(bench.data(0, 1000, flags).len(), acks, "{push_ack}, {cwr_ack}");
    }
    // not where a hole stays: there every segment is acknowledged, this one as any
    let mut bench = receiver(TransportSpec { push_ack: true, sack_compression: true, ..linux(1.0) });
    (1..=4).for_each(|n| drop(bench.data(n * 1000, 1000, 0)));
    assert!(bench.data(5000, 1000, flag::PSH).is_empty());
}

#[test]
fn segments_say_where_a_write_ends() {
    let pushed = |push_ack, notsent_lowat, size| {
        let transport = TransportSpec { push_ack, notsent_lowat, ..linux(10.0) };
        let flow = FlowSpec { app: App::Bulk { size, write: 3000 }, ..bulk(0, 1, None) };
        let mut bench = Bench::new(wire(Rate::gbps(100), Time::ms(10), transport, "newreno", flow));
        let sent = bench.open();
        sent.iter().filter(|c| c.has(flag::PSH)).map(|c| c.packet.seq / 1000).collect::<Vec<_>>()
    };
    assert_eq!(pushed(true, 0, Some(5500)), [5], "the flow's last");
    assert_eq!(pushed(true, 100_000, None), [2, 5, 8], "and, where the application wakes to write, each write's");
    assert_eq!(pushed(false, 100_000, Some(5500)), [0; 0]);
}

#[test]
fn an_offered_window_grows_by_two_segments_with_each_that_arrives() {
    let transport = TransportSpec { window_growth: true, receive_buffer: 200_000, quickack: 2, ..linux(1.0) };
    let mut bench = receiver(transport.clone());
    let offered: Vec<Option<u32>> =
        (0..24).map(|n| bench.data(n * 1000, 1000, 0).first().map(|a| a.packet.wnd)).collect();
    // from 65 whole segments of a window field without scaling up to half of the buffer: 18 segments, each
    // acknowledged, and after them the first two of `quickack`
    let growing: Vec<Option<u32>> = (1..=18).map(|n| Some((65_000 + 2000 * n).min(100_000))).collect();
    assert_eq!(offered[..18], growing);
    assert_eq!(offered[18..], [Some(100_000), Some(100_000), None, Some(100_000), None, Some(100_000)]);
    // what lies beyond a hole makes it grow too, with SACK
    for (sack, wnd) in [(true, 69_000), (false, 67_000)] {
        let mut bench = receiver(TransportSpec { sack, ..transport.clone() });
        bench.data(0, 1000, 0);
        assert_eq!(bench.data(5000, 1000, 0)[0].packet.wnd, wnd, "sack = {sack}");
    }
    let mut whole = receiver(TransportSpec { window_growth: false, quickack: 0, ..transport });
    assert!(whole.data(0, 1000, 0).is_empty());
    assert_eq!(whole.data(1000, 1000, 0)[0].packet.wnd, 200_000);
}

#[test]
fn a_growing_window_begins_with_whole_segments() {
    for (mss, wnd) in [(1000, 65_000), (1448, 65_160), (9000, 63_000)] {
        let t = TransportSpec { window_growth: true, mss, handshake: true, receive_buffer: 1 << 20, ..linux(1.0) };
        let mut bench = receiver(t);
        let answer = bench.give_receiver(|p| p.flags = flag::SYN);
        assert_eq!(answer[0].packet.wnd, wnd / 32 * 32, "in units of the window's scale");
    }
}

// ---- writes ------------------------------------------------------------------------------------

/// sk_stream_write_space and tcp_notsent_lowat.
#[test]
fn an_application_writes_until_so_much_is_unsent() {
    let t = TransportSpec { notsent_lowat: 10_000, push_ack: true, ..linux(10.0) };
    let mut app = AppState::new(App::Bulk { size: None, write: 3000 }, Time::NEVER, 0);
    let mut ends = VecDeque::new();
    app.top_up(1 << 20, 0, &t, &mut ends);
    assert_eq!(Vec::from(ends.clone()), [3000, 6000, 9000, 10_000], "the last write is cut");
    // woken once less than half of it is unsent
    assert_eq!([app.wants(5000, &t), app.wants(5001, &t)], [false, true]);
    app.top_up(1 << 20, 5000, &t, &mut ends);
    assert_eq!(app.written, 10_000);
    // 15,500 are full; a segment that is begun is written whole
    app.top_up(1 << 20, 5500, &t, &mut ends);
    assert_eq!((app.written, ends.back().copied()), (16_000, Some(16_000)));
    // the send buffer holds it too
    app.top_up(2000, 15_000, &t, &mut ends);
    assert_eq!(app.written, 18_000);
}

#[test]
fn a_sender_keeps_little_unsent() {
    let written = |notsent_lowat| {
        let mut bench = sender(TransportSpec { notsent_lowat, send_buffer: 500_000, ..linux(10.0) }, 0);
        bench.advance(MS);
        let first = bench.record().written;
        (1..=4).for_each(|n| drop(bench.ack(n * 1000, 0, 0, &[])));
        bench.advance(2 * MS);
        (first, bench.record().written)
    };
    // of the first write of 65,160 B ten segments are sent, and 18 after four ACKs in slow start: 47,160 B
    // are unsent. The next write fills it up to 100 kB and a begun segment
    assert_eq!(written(94_000), (65_160, 65_160));
    assert_eq!(written(100_000), (65_160, 118_160));
    assert_eq!(written(0).0, 500_000, "the send buffer alone");
}
