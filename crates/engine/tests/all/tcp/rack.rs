//! RACK: losses by send times, and its timer (RFC 8985); each rule by hand, also from the kernel
//! (net/ipv4/tcp_input.c, tcp_recovery.c; Linux 6.1).

use super::*;
use incast_engine::testing::{Hole, Scoreboard, rack::Reordering};

/// A scoreboard of four segments of 1000 B sent at 0, 1, 2 and 3.
fn rack() -> Scoreboard {
    let mut board = Scoreboard::with_times(true);
    for n in 0..4 {
        board.sent(n * 1000, 1000);
        board.stamp(n * 1000, Time(n), Time(n));
    }
    board
}

/// RFC 8985 section 6.2, step 5.
#[test]
fn what_was_sent_before_something_that_arrived_is_lost_in_time() {
    for (reordering, in_flight, hole) in [
        // segment 2 took 18: of those sent before it, segment 0 is overdue by 2 and segment 1 by 1
        (0, 1000, Some(Hole { seq: 0, len: 1000 })),
        (1, 1000, Some(Hole { seq: 0, len: 1000 })),
        (2, 2000, Some(Hole { seq: 0, len: 1000 })),
        (3, 3000, None),
    ] {
        let mut board = rack();
        board.begin_ack(Time(20), Time(18));
        board.sack(2000, 3000, 0);
        assert_eq!(board.update_lost_by_time(Time(reordering)), hole.is_some());
        assert_eq!((board.pipe(), board.next_hole()), (in_flight, hole), "{reordering} for reordering");
        assert!(!board.update_lost_by_time(Time::ZERO), "without news nothing is lost");
    }
}

#[test]
fn a_retransmission_is_lost_when_something_sent_later_arrives() {
    let mut board = rack();
    board.begin_ack(Time(20), Time(18));
    board.sack(2000, 3000, 0);
    board.update_lost_by_time(Time::ZERO);
    for (seq, at) in [(0, 21), (1000, 22)] {
        board.retransmitted(seq, false);
        board.stamp(seq, Time(at), Time(at));
    }
    // segment 3 was sent before both
    board.begin_ack(Time(30), Time(18));
    board.sack(3000, 4000, 0);
    assert!(!board.update_lost_by_time(Time::ZERO));
    // faster than any round trip: the first copy of segment 1
    let mut early = board.clone();
    early.begin_ack(Time(39), Time(18));
    early.sack(1000, 2000, 0);
    assert!(!early.update_lost_by_time(Time::ZERO));
    // the second copy, sent after that of segment 0
    board.begin_ack(Time(40), Time(18));
    board.sack(1000, 2000, 0);
    assert!(board.update_lost_by_time(Time::ZERO));
    assert_eq!((board.pipe(), board.next_hole()), (0, Some(Hole { seq: 0, len: 1000 })));
}

#[test]
fn a_quarter_of_the_shortest_round_trip_is_left_for_reordering() {
    let first = |scoreboard| {
        let mut bench = sender_at(changed!(linux_prr(10.0), loss.scoreboard = scoreboard), 20 * MS);
        for n in 1..=5u64 {
            assert_eq!(segments(&bench.ack(n * 1000, 0, 0, &[])).len(), 2, "slow start");
        }
        // outstanding: 5 to 9 since 0, 10 to 19 since 20 ms. One SACK of 11 comes
        bench.advance(40 * MS);
        let sent = ack_after_100_ms(&mut bench, 0, &[]);
        assert!(sent.is_empty(), "an old ACK says nothing");
        let sent = segments(&bench.ack(5000, 20 * MS, 0, &[(11_000, 12_000)]));
        (sent, bench)
    };
    let (sent, mut bench) = first(Rules::Rack);
    assert_eq!(sent, [-5], "one SACK tells of five losses");
    // of 15 segments 11 arrived and 5 to 9 are lost, one of them retransmitted. 10 was sent 20 ms ago, like 11: it has
    // 5 ms more
    assert_eq!(kb(&bench, "in_flight_bytes"), 10.0);
    // new losses reduce that
    bench.ack(5000, 20 * MS, 0, &[(11_000, 13_000)]);
    assert_eq!(kb(&bench, "in_flight_bytes"), 8.0);
    assert_eq!(first(Rules::Rfc6675).0, [20], "where three segments have to arrive above: limited transmit");
}

#[test]
fn the_end_of_racks_wait_is_a_loss_to_those_that_recover_by_themselves() {
    for kind in ["bbr", "swift"] {
        let mut bench = controlled(changed!(linux(10.0), loss.tail_loss_probe = false), kind, None);
        answer(&mut bench, 1, &[]);
        at(&mut bench, 21);
        assert!(answer(&mut bench, 1, &[(2, 3)]).iter().all(|n| *n > 0), "{kind}");
        let before = at(&mut bench, 27);
        assert!(before.iter().all(|n| *n > 0), "{kind}: {before:?}");
        let window = bench.state("cwnd_bytes");
        // as soon as pacing allows
        assert!(at(&mut bench, 29).contains(&-1), "{kind}");
        assert!(bench.state("cwnd_bytes") < window, "{kind}: {window}");
    }
}

#[test]
fn what_came_twice_counts_as_delivered_with_undo_alone() {
    // in a recovery, only a duplicate SACK: PRR releases as much as has left the network
    let sent = |undo, asks| {
        let mut bench = overtaken(|t| {
            (t.loss.undo, t.loss.tail_loss_probe, t.loss.adaptive_reordering) = (undo, asks, asks);
        });
        assert_eq!(at(&mut bench, 28), [-1]);
        (0..3).flat_map(|_| ack(&mut bench, 1, &[(0, 1)])).collect::<Vec<i64>>()
    };
    assert!(!sent(true, false).is_empty());
    assert!(!sent(true, true).is_empty());
    for asks in [false, true] {
        assert!(sent(false, asks).is_empty(), "{asks}");
    }
}

/// Ten segments at 0, segment 0 acknowledged at 20 ms, which releases 10 and 11; at 21 ms segment 2 is SACKed.
fn overtaken(change: impl FnOnce(&mut TransportSpec)) -> Bench {
    let mut transport = changed!(linux(10.0), loss.tail_loss_probe = false);
    change(&mut transport);
    let mut bench = probing(transport, None);
    assert_eq!(ack(&mut bench, 1, &[]), [10, 11]);
    at(&mut bench, 21);
    assert_eq!(ack(&mut bench, 1, &[(2, 3)]), [12], "limited transmit");
    bench
}

#[test]
fn what_is_overtaken_is_lost_when_the_reordering_window_is_over() {
    // RFC 8985 section 6.2, step 5: segment 2 took 21 ms, and a quarter of 20 ms is allowed for reordering. Segment 1
    // was sent with it: 5 ms, and 2 ms of the timer
    let mut bench = overtaken(|_| {});
    quiet_until(&mut bench, 28);
    assert!(slow_start(&bench));
    assert_eq!(at(&mut bench, 28), [-1], "one, as PRR begins");
    assert!(!slow_start(&bench));
    let mut bench = overtaken(|t| t.loss.reordering_timer = false);
    assert!(at(&mut bench, 200).is_empty(), "until the timeout, 200 ms after the ACK at 20 ms");
    assert_eq!(at(&mut bench, 220), [-1]);
}

#[test]
fn the_wait_for_what_is_overtaken_is_longer_by_the_least_timeout() {
    for least in [1, 2, 5] {
        let mut bench = overtaken(|t| t.loss.timeout_min = Time::ms(least));
        quiet_until(&mut bench, 26 + least);
        assert_eq!(at(&mut bench, 26 + least), [-1]);
    }
}

#[test]
fn what_is_only_reordered_is_not_sent_again() {
    let mut bench = overtaken(|_| {});
    at(&mut bench, 26);
    let sent = ack(&mut bench, 3, &[]);
    assert!(!sent.is_empty() && sent.iter().all(|n| *n > 0));
    // the timeout continues from the transmission of the new first segment
    quiet_until(&mut bench, 200);
    assert!(slow_start(&bench));
    assert_eq!(at(&mut bench, 200), [-3]);
}

#[test]
fn reordering_that_was_seen_keeps_its_window() {
    // segment 1 came after 2. Then 4, 5 and 6 come before 3: three, which otherwise means a loss
    let second = |adaptive| {
        let mut bench = overtaken(|t| t.loss.adaptive_reordering = adaptive);
        at(&mut bench, 26);
        ack(&mut bench, 3, &[]);
        let sent = ack(&mut bench, 3, &[(4, 7)]);
        (sent.contains(&-3), bench)
    };
    assert!(second(false).0, "at once");
    let (at_once, mut bench) = second(true);
    assert!(!at_once);
    quiet_until(&mut bench, 33);
    assert_eq!(at(&mut bench, 33), [-3], "26 ms, 5 and 2");
}

#[test]
fn duplicate_sacks_widen_the_window_once_a_round_trip_for_sixteen_recoveries() {
    // RFC 8985 section 6.2, step 4
    let mut reordering = Reordering::default();
    reordering.widen(0, 10);
    assert_eq!(reordering.steps, 1, "none was seen");
    reordering.seen = true;
    let steps: Vec<u8> = [(0, 10), (9, 20), (10, 20), (20, 30)]
        .map(|(una, nxt)| {
            reordering.widen(una, nxt);
            reordering.steps
        })
        .to_vec();
    assert_eq!(steps, [2, 2, 3, 4]);
    for _ in 0..15 {
        reordering.recovered();
    }
    assert_eq!(reordering.steps, 4);
    reordering.recovered();
    assert_eq!(reordering.steps, 1);
}

#[test]
fn of_an_ack_that_sacks_too_the_acknowledged_segment_tells_the_round_trip() {
    // tcp_ack processes SACKs first, so that the latest round trip is that of the acknowledged segment: 1, of 60 ms.
    // Segments sent with it are not lost yet, though the SACK of 10 took 40 ms only
    let found = |reordering_timer| {
        let mut bench = probing(
            changed!(linux(10.0), loss.tail_loss_probe = false, loss.reordering_timer = reordering_timer),
            None,
        );
        assert_eq!(ack(&mut bench, 1, &[]), [10, 11]);
        at(&mut bench, 60);
        (ack(&mut bench, 2, &[(10, 11)]), bench)
    };
    assert_eq!(found(false).0[0], -2, "SACKs last: at once");
    let (sent, mut bench) = found(true);
    assert!(sent.iter().all(|n| *n > 0), "{sent:?}");
    quiet_until(&mut bench, 67);
    assert_eq!(at(&mut bench, 67)[0], -2, "5 ms and 2");
}

#[test]
fn what_a_timeout_sent_again_and_is_lost_again_begins_a_fast_recovery() {
    let threshold = |reordering_timer| {
        let transport = changed!(linux(16.0), loss.tail_loss_probe = false, loss.reordering_timer = reordering_timer);
        let mut bench = probing(transport, Some(16));
        ack(&mut bench, 1, &[]);
        assert_eq!(at(&mut bench, 220), [-1]);
        at(&mut bench, 240);
        assert_eq!(ack(&mut bench, 2, &[]), [-2, -3]);
        at(&mut bench, 260);
        let before = bench.state("ssthresh_bytes");
        // 3 has arrived, sent after 2
        assert!(ack(&mut bench, 2, &[(3, 4)]).contains(&-2));
        (before, bench.state("ssthresh_bytes"))
    };
    let (before, after) = threshold(true);
    assert!(after < before, "{before} {after}");
    let (before, after) = threshold(false);
    assert_eq!(before, after);
}
