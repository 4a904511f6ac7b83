//! Undo of a needless reduction (RFC 4015, tcp_try_undo_recovery).

use super::*;
use incast_engine::testing::Scoreboard;

#[test]
fn a_timeout_is_undone_when_all_that_was_sent_again_had_arrived() {
    // the receiver had segment 0 (RFC 2883), whose ACK was late
    let late = |bench: &mut Bench, ts: u64| {
        bench.ack(1000, ts, 0, &[(0, 1000)]);
        (kb(bench, "cwnd_bytes"), kb(bench, "ssthresh_bytes"))
    };
    let (window, threshold) = late(&mut timed_out(|t| t.loss.undo = true), 1000 * MS);
    assert!(window >= 20.0 && threshold == f64::INFINITY, "{window} {threshold}");
    assert_eq!(late(&mut timed_out(|_| {}), 1000 * MS).1, 10.0, "without undo");
    // no DSACK, but a time stamp from before the timeout (RFC 4015)
    let mut bench = timed_out(|t| t.loss.undo = true);
    bench.ack(1000, 0, 0, &[]);
    assert!(kb(&bench, "cwnd_bytes") >= 20.0);
    // ignored without time stamps
    let mut bench = timed_out(|t| (t.loss.undo, t.timing.timestamps) = (true, false));
    bench.ack(1000, 0, 0, &[]);
    assert_eq!(kb(&bench, "ssthresh_bytes"), 10.0);
    // two were retransmitted, one of them needlessly
    let mut bench = timed_out(|t| t.loss.undo = true);
    bench.advance(3000 * MS);
    assert_eq!(late(&mut bench, 3000 * MS).1, 10.0);
    // with a mark the reduction was due, and the next one follows
    let mut bench = timed_out(|t| (t.loss.undo, t.marks.ecn) = (true, Some(Ecn::Classic)));
    bench.ack(1000, 1000 * MS, flag::ECE, &[(0, 1000)]);
    assert!(kb(&bench, "ssthresh_bytes") <= 10.0);
}

#[test]
fn a_recovery_is_undone_too() {
    let mut bench = sender(changed!(initial_window(20.0), loss.undo = true), "newreno").0;
    for n in 1..=3 {
        bench.ack(0, 100 * MS, 0, &[(1000, (n + 1) * 1000)]);
    }
    assert_eq!(kb(&bench, "ssthresh_bytes"), 10.0);
    bench.ack(19_000, 100 * MS, 0, &[(0, 1000)]);
    assert_eq!((kb(&bench, "ssthresh_bytes"), kb(&bench, "cwnd_bytes") >= 20.0), (f64::INFINITY, true));
}

/// A sender that may undo, with segments 5 and 6 of 20 lost and retransmitted. `flags`: flags of an ACK that reported
/// the losses.
fn repairing(change: impl FnOnce(&mut TransportSpec), flags: u16) -> Bench {
    let mut transport = changed!(linux_prr(20.0), loss.undo = true, loss.limited_transmit = false);
    change(&mut transport);
    let mut bench = sender_at(transport, 100 * MS);
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
    // both arrived twice: 6 while 5 was missing, inside the block beyond it
    assert_eq!(after((6000, 7000), (5000, 6000)), f64::INFINITY);
    // outside of it the first block is new data
    assert!(after((15_000, 16_000), (5000, 6000)) < 13.0);
    // a segment from before the reduction does not count
    assert!(after((6000, 7000), (3000, 4000)) < 13.0);
}

#[test]
fn a_reduction_that_a_mark_called_for_stays() {
    for (flags, undone) in [(0, true), (flag::ECE, false)] {
        let mut bench = repairing(|t| t.marks.ecn = Some(Ecn::Classic), flags);
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
