//! Proportional rate reduction (RFC 6937), and its form in Linux.

use super::*;

#[test]
fn sack_repairs_proportionally() {
    // 20 in flight, segment 0 lost, 19 ACKs with SACK. RFC 6937: while pipe exceeds ssthresh, after
    // D delivered segments max(1, floor(D * ssthresh / RecoverFS)) have been sent.
    let (mut bench, _) = sender(initial_window(20.0), "newreno");
    let mut sack = |n: u64| {
        let sent = bench.ack(0, 100 * MS, 0, &[(1000, (n + 1) * 1000)]);
        (segments(&sent), bench.state("in_flight_bytes"), bench.state("ssthresh_bytes"))
    };
    assert_eq!(sack(1).0, [20], "limited transmit");
    assert_eq!(sack(2).0, [21]);
    let (sent, _, ssthresh) = sack(3);
    assert_eq!((sent, ssthresh), (vec![0], 10_000.0));
    let mut total = 1;
    for delivered in 2..=13 {
        let (sent, pipe, _) = sack(delivered + 2);
        total += sent.len() as u64;
        assert!(pipe > 10_000.0, "proportional part");
        // RecoverFS is 22: the two of limited transmit are outstanding too
        assert_eq!(total, (delivered * 10 / 22).max(1), "after {delivered} delivered");
    }
    for delivered in 14..=17 {
        let (sent, pipe, _) = sack(delivered + 2);
        assert_eq!((sent.len(), pipe), (usize::from(delivered > 14), 10_000.0), "then packet conservation");
    }
    bench.ack(22_000, 100 * MS, 0, &[]);
    assert_eq!(bench.state("cwnd_bytes"), 10_100.0, "ssthresh at the end, and the growth of one ACK");
}

#[test]
fn prr_lets_one_segment_out_at_entry_and_grows_below_ssthresh() {
    // All but four of 20 are lost: pipe falls far below ssthresh at once, and PRR's reduction bound releases the
    // delivered data plus one segment per ACK (RFC 6937 section 3).
    let (mut bench, _) = sender(initial_window(20.0), "newreno");
    let mut cwnd = 0.0;
    let mut sack = |n: u64| segments(&bench.ack(0, 100 * MS, 0, &[(16_000, (16 + n) * 1000)]));
    assert_eq!(sack(1), [20]);
    assert_eq!(sack(2), [21]);
    assert_eq!(sack(3), [0, -1], "the first hole, and one more by the slow-start part");
    assert_eq!(sack(4), [-2, -3]);
    for n in 0..4u64 {
        // the retransmissions arrive one by one
        let sent = segments(&bench.ack((n + 1) * 1000, 100 * MS, 0, &[(16_000, 20_000)]));
        assert_eq!(sent.len(), 2, "one delivered, one more: {sent:?}");
        assert!(sent.iter().all(|s| *s < 0), "holes before new data");
        assert!(bench.state("cwnd_bytes") >= cwnd, "the window never falls");
        cwnd = bench.state("cwnd_bytes");
    }
}

/// tcp_cwnd_reduction, in proportion to the previous window.
#[test]
fn the_rate_falls_by_segments_of_the_window() {
    let run = |recovery| {
        let mut bench = sender_at(changed!(linux_prr(20.0), loss.recovery = recovery), 100 * MS);
        // 20 in flight, segment 0 lost; limited transmit adds two
        (1..=13).map(|n| ack_after_100_ms(&mut bench, 0, &[(1, 1 + n)])).collect::<Vec<_>>()
    };
    let sent = run(Recovery::Linux);
    assert_eq!(sent[..3], [vec![20], vec![21], vec![0]]);
    // after D segments ceil(10 D / 20) have gone: every second ACK releases one
    assert_eq!(sent[3..8], [vec![], vec![22], vec![], vec![23], vec![]]);
    // in proportion to the window, not to the 22 in flight, which would hold the sixth back
    assert_eq!(sent[8..], [vec![24], vec![], vec![25], vec![], vec![26]]);
    // RFC 6937 uses 22 in flight and bytes: 5 * 10 / 22 = 2.3 segments with the fifth
    assert_eq!(run(Recovery::Prr)[3..8], [vec![], vec![], vec![], vec![22], vec![]]);
}

#[test]
fn below_the_threshold_only_progress_without_losses_grows() {
    let after = |recovery, n, sack: &[(u64, u64)]| {
        let transport = changed!(linux_prr(20.0), loss.recovery = recovery, loss.limited_transmit = false);
        let mut bench = sender_at(transport, 100 * MS);
        let mut sent = Vec::new();
        for n in 11..=13 {
            sent = ack_after_100_ms(&mut bench, 0, &[(10, n)]);
        }
        // ten lost, three arrived, seven in flight; the threshold is ten
        (sent.len(), ack_after_100_ms(&mut bench, n, sack))
    };
    // a duplicate releases the data it delivers; with RFC 6937 one segment more
    assert_eq!(after(Recovery::Linux, 0, &[(10, 14)]), (1, vec![-1]));
    assert_eq!(after(Recovery::Prr, 0, &[(10, 14)]), (2, vec![-2, -3]));
    // so does an ACK that advances: three delivered, one out, and one more
    assert_eq!(after(Recovery::Linux, 1, &[(10, 14)]), (1, vec![-1, -2, -3]));
    // except with new losses: 13 to 16. Five delivered, one out
    assert_eq!(after(Recovery::Linux, 1, &[(17, 20), (10, 13)]), (1, vec![-1, -2, -3, -4]));
}

#[test]
fn the_first_retransmission_goes_whatever_is_in_flight() {
    let mut bench = sender_at(changed!(linux_prr(20.0), loss.limited_transmit = false), 100 * MS);
    // seven lost, three arrived: the ten in flight are all that the threshold allows
    let sent: Vec<_> = (8..=10).map(|n| ack_after_100_ms(&mut bench, 0, &[(7, n)])).collect();
    assert_eq!(sent, [vec![], vec![], vec![0]]);
    let sent: Vec<_> = (11..=13).map(|n| ack_after_100_ms(&mut bench, 0, &[(7, n)])).collect();
    assert_eq!(sent, [vec![], vec![-1], vec![-2]], "then, below it, one for each that arrives");
}
