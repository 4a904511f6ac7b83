//! Limited transmit (RFC 3042).

use super::*;

#[test]
fn without_limited_transmit_two_duplicates_send_nothing() {
    let (mut bench, _) = sender(changed!(newreno(20.0), loss.limited_transmit = false), "newreno");
    assert!(dup(&mut bench, 0).is_empty() && dup(&mut bench, 0).is_empty());
    assert_eq!(dup(&mut bench, 0), [0]);
    assert_eq!((kb(&bench, "ssthresh_bytes"), kb(&bench, "cwnd_bytes")), (10.0, 13.0));
}

#[test]
fn limited_transmit_ends_with_the_second_duplicate() {
    let (mut bench, _) = sender(changed!(newreno(20.0), loss.dupthresh = 5), "newreno");
    let sent: Vec<Vec<i64>> = (0..5).map(|_| dup(&mut bench, 0)).collect();
    assert_eq!(sent, [vec![20], vec![21], vec![], vec![], vec![0]]);
}

#[test]
fn with_sack_the_first_two_duplicates_send_new_data_too() {
    for (limited_transmit, expected) in [(true, [vec![20], vec![21], vec![0]]), (false, [vec![], vec![], vec![0]])] {
        let (mut bench, _) =
            sender(changed!(initial_window(20.0), loss.limited_transmit = limited_transmit), "newreno");
        let sent = [2, 3, 4].map(|n| ack(&mut bench, 0, &[(1, n)]));
        assert_eq!(sent, expected, "what SACK took out of the network makes no other room");
        assert_eq!(kb(&bench, "ssthresh_bytes"), 10.0, "nor does it count to the flight that is halved");
    }
}
