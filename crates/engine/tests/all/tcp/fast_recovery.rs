//! Fast retransmit and fast recovery (RFC 5681, RFC 6582).

use super::*;

#[test]
fn the_third_duplicate_halves_and_inflates() {
    // flight 20, three duplicates: ssthresh 10, cwnd 13 (RFC 5681 section 3.2)
    let (mut bench, sent) = sender(newreno(20.0), "newreno");
    assert_eq!(segments(&sent), (0..20).collect::<Vec<i64>>());
    assert_eq!(dup(&mut bench, 0), [20], "limited transmit");
    assert_eq!(dup(&mut bench, 0), [21]);
    assert_eq!(kb(&bench, "cwnd_bytes"), 20.0, "which leaves the window alone");
    assert_eq!(dup(&mut bench, 0), [0], "the retransmission of segment 0");
    assert_eq!((kb(&bench, "ssthresh_bytes"), kb(&bench, "cwnd_bytes")), (10.0, 13.0));
    // every further duplicate inflates by one; new segments go when it exceeds the 22 in flight
    let more: Vec<Vec<i64>> = (0..11).map(|_| dup(&mut bench, 0)).collect();
    assert!(more[..9].iter().all(|s| s.is_empty()), "{more:?}");
    assert_eq!(more[9..], [vec![22], vec![23]]);
    assert_eq!(kb(&bench, "cwnd_bytes"), 24.0);
    // the full ACK deflates to ssthresh, and then counts as any other: + mss * mss / cwnd
    dup(&mut bench, 22);
    assert_eq!(kb(&bench, "cwnd_bytes"), 10.1);
}

#[test]
fn a_partial_ack_repairs_one_hole() {
    // RFC 6582: segments 0 and 5 of 20 are lost
    let (mut bench, _) = sender(changed!(newreno(20.0), loss.limited_transmit = false), "newreno");
    for _ in 0..18 {
        dup(&mut bench, 0);
    }
    // cwnd = 10 + 18, and 8 new segments were sent in exchange: 28 in flight
    assert_eq!(kb(&bench, "cwnd_bytes"), 28.0);
    let sent = bench.ack(5000, 100 * MS, 0, &[]);
    // deflated by 5, plus one: 24; 23 are in flight, so one new segment goes too
    assert_eq!(segments(&sent), [-5, 28]);
    assert_eq!(kb(&bench, "cwnd_bytes"), 24.0);
    bench.ack(20_000, 100 * MS, 0, &[]);
    assert_eq!(kb(&bench, "cwnd_bytes"), 10.1, "all that was outstanding is acknowledged: recovery is over");
}

#[test]
fn duplicates_of_old_data_start_no_second_recovery() {
    let (mut bench, _) = sender(newreno(20.0), "newreno");
    for _ in 0..3 {
        dup(&mut bench, 0);
    }
    dup(&mut bench, 22);
    let after = kb(&bench, "ssthresh_bytes");
    // the ACK does not cover more than `recover`: these are echoes of segments sent twice
    for _ in 0..5 {
        assert!(dup(&mut bench, 22).iter().all(|s| *s > 0));
    }
    assert_eq!(kb(&bench, "ssthresh_bytes"), after);
}

#[test]
fn sack_under_the_classic_rule_keeps_pipe_below_ssthresh() {
    // RFC 6675: after entry nothing goes until pipe falls below ssthresh
    let (mut bench, _) = sender(changed!(initial_window(20.0), loss.recovery = Recovery::NewReno), "newreno");
    let mut sent_at = Vec::new();
    for n in 1..=19u64 {
        let sent = segments(&bench.ack(0, 100 * MS, 0, &[(1000, (n + 1) * 1000)]));
        if n > 3 && !sent.is_empty() {
            sent_at.push(n);
            assert!(bench.state("in_flight_bytes") <= 10_000.0);
        }
    }
    // 22 sent, 1 lost, 1 sent again: pipe = 22 - n; it is 10 at n = 12
    assert_eq!(sent_at.first(), Some(&13), "{sent_at:?}");
    assert_eq!(sent_at.len(), 7, "then one for one");
}

#[test]
fn newreno_repairs_one_hole_a_round_trip() {
    let outcome = transfer(newreno(40.0), 200, &[3, 7, 11]);
    assert_eq!(counts(&outcome.flows[0]), (3, 0, 3));
    let again = again(&outcome);
    assert_eq!(again.iter().map(|a| a.1).collect::<Vec<u64>>(), [3, 7, 11]);
    for pair in again.windows(2) {
        assert!(pair[1].0 - pair[0].0 >= 20 * MS, "{again:?}");
    }
}

#[test]
fn the_loss_of_what_recovery_sent_is_a_new_event() {
    // segment 0 of 20 is lost; recovery sends new data, of which one segment is lost too. When the full ACK of the
    // first episode arrives, that loss starts a second one and halves again.
    let (mut bench, _) = sender(initial_window(20.0), "newreno");
    let mut sent = Vec::new();
    for n in 2..=19u64 {
        sent.extend(segments(&bench.ack(0, 100 * MS, 0, &[(1000, (n + 1) * 1000)])));
    }
    let new: Vec<u64> = sent.into_iter().filter(|s| *s >= 20).map(|s| s as u64).collect();
    let (lost, last) = (new[3], new[new.len() - 1]);
    let before = bench.state("ssthresh_bytes");
    for n in lost + 1..=last {
        bench.ack(0, 100 * MS, 0, &[((lost + 1) * 1000, (n + 1) * 1000), (1000, lost * 1000)]);
    }
    assert_eq!(bench.state("ssthresh_bytes"), before, "one reduction an episode");
    bench.ack(lost * 1000, 100 * MS, 0, &[((lost + 1) * 1000, (last + 1) * 1000)]);
    let after = bench.state("ssthresh_bytes");
    assert!(after < 0.75 * before, "ssthresh {before} -> {after}");
}
