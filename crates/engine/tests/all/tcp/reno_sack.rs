//! Without SACK: segments that Linux counts as SACKed for duplicates (tcp_add_reno_sack).

use super::*;

#[test]
fn more_duplicates_than_segments_are_taken_for_reordering() {
    // eight segments are out: eight duplicates are one too many
    let duplicates = |reordering: bool| {
        let t = changed!(
            initial_window(8.0),
            loss.recovery = Recovery::Linux,
            loss.sack = false,
            loss.reordering = reordering
        );
        let (mut bench, _) = sender(changed!(t, windows.send_buffer = 8000), "newreno");
        let acks = [0; 8].into_iter().chain([8, 9, 9, 9, 9]);
        acks.flat_map(|ack| dup(&mut bench, ack)).filter(|segment| *segment <= 0).collect::<Vec<_>>()
    };
    assert_eq!(duplicates(false), [0, -9], "three duplicates each");
    assert_eq!(duplicates(true), [0], "from now on it takes eight");
}

/// tcp_add_reno_sack and tcp_remove_reno_sacks.
#[test]
fn without_sack_a_duplicate_stands_for_a_segment() {
    let mut bench = sender_at(changed!(linux_prr(20.0), loss.sack = false), 100 * MS);
    let sent: Vec<_> = (1..=5).map(|_| ack_after_100_ms(&mut bench, 0, &[])).collect();
    assert_eq!(sent, [vec![20], vec![21], vec![0], vec![], vec![22]]);
    // segment 0 was retransmitted and arrived, and all up to 4 had arrived: four of the five duplicates. It is one more
    // segment, 10 * 4 / 20 = 2 are out
    assert_eq!(ack_after_100_ms(&mut bench, 5, &[]), [0i64; 0]);
    assert_eq!(ack_after_100_ms(&mut bench, 5, &[]), [-5], "segment 5 was lost too");
    // RFC 6582 repairs at once
    let mut reno = sender_at(changed!(linux_prr(20.0), loss.sack = false, loss.recovery = Recovery::NewReno), 100 * MS);
    (1..=5).for_each(|_| drop(ack_after_100_ms(&mut reno, 0, &[])));
    assert_eq!(ack_after_100_ms(&mut reno, 5, &[])[..1], [-5]);
}

/// tcp_try_undo_recovery without SACK, RFC 6582: no new data until more is acknowledged.
#[test]
fn without_sack_duplicates_of_repaired_data_start_nothing() {
    let mut bench = sender_at(changed!(linux_prr(20.0), loss.sack = false), 100 * MS);
    (0..3).for_each(|_| drop(ack_after_100_ms(&mut bench, 0, &[])));
    assert_eq!(kb(&bench, "ssthresh_bytes"), 10.0);
    // all that was outstanding, 22 segments, and echoes of segments sent twice
    for _ in 0..6 {
        assert!(ack_after_100_ms(&mut bench, 22, &[]).iter().all(|n| *n > 0), "new data at most");
    }
    assert_eq!(kb(&bench, "ssthresh_bytes"), 10.0);
}
