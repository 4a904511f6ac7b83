//! F-RTO: detection of spurious timeouts (RFC 5682).

use super::*;
use incast_engine::testing::Kind;

#[test]
fn after_a_timeout_new_data_tells_whether_it_was_real() {
    // RFC 5682, 3.1: the second segment out is new. SACKs of it prove that the rest is lost.
    let mut bench = timed_out(|t| t.loss.frto = true);
    assert_eq!(dup(&mut bench, 1), [20, 21], "not -1, -2");
    let sent = bench.ack(1000, 1000 * MS, 0, &[(20_000, 21_000)]);
    assert_eq!(segments(&sent), [-1]);
    let sent = bench.ack(1000, 1000 * MS, 0, &[(20_000, 22_000)]);
    assert_eq!(segments(&sent), [-2]);
    assert_eq!(dup(&mut bench, 2), [-3, -4], "and slow start goes on");
    // an ACK of segments sent only once proves that nothing was lost
    let mut bench = timed_out(|t| t.loss.frto = true);
    dup(&mut bench, 1);
    assert!(dup(&mut bench, 10).iter().all(|s| *s > 0), "nothing more is sent again");
    assert!(kb(&bench, "cwnd_bytes") >= 20.0 && kb(&bench, "ssthresh_bytes") >= 20.0, "the window is back");
    // without SACK, duplicates prove the loss
    let mut bench = timed_out(|t| (t.loss.frto, t.loss.sack) = (true, false));
    assert_eq!(dup(&mut bench, 1), [20, 21]);
    assert_eq!(dup(&mut bench, 1), [-1], "the duplicate has made room for one");
}

#[test]
fn an_ack_of_what_went_again_tells_nothing_of_the_rest_without_sack() {
    // segment 0 was retransmitted; that the ACK covers 1 to 9 as well may be due to the first copies or to no loss at
    // all: only SACK can tell (RFC 5682 section 3)
    let mut bench = timed_out(|t| (t.loss.frto, t.loss.sack) = (true, false));
    assert_eq!(dup(&mut bench, 10), [20, 21], "new data, and the losses stay");
    assert_eq!(kb(&bench, "ssthresh_bytes"), 10.0);
    let mut bench = timed_out(|t| t.loss.frto = true);
    dup(&mut bench, 10);
    assert_eq!(kb(&bench, "ssthresh_bytes"), f64::INFINITY, "with SACK it was spurious");
}

#[test]
fn frto_needs_new_data_and_a_first_timeout() {
    let bench = |written: u64| {
        let transport = changed!(initial_window(20.0), loss.recovery = Recovery::Linux, loss.frto = true);
        let mut bench =
            Bench::new(wire(Rate::gbps(100), Time::ms(10), transport, "newreno", bulk(0, 1, Some(written))));
        bench.open();
        bench.advance(1000 * MS);
        bench
    };
    assert_eq!(dup(&mut bench(20_000), 1), [-1, -2], "nothing is left to send");
    // a timeout during the repair of the first one is no first timeout
    let mut again = bench(200_000);
    again.ack(1000, 1000 * MS, 0, &[]);
    again.ack(1000, 1000 * MS, 0, &[(20_000, 21_000)]);
    assert_eq!(segments(&again.advance(1250 * MS)), [-1]);
    assert_eq!(dup(&mut again, 2), [-2, -3]);
}

#[test]
fn frto_needs_a_window_for_new_data() {
    // RFC 5682 section 2.1, step 2b: with a receiver window no larger than the outstanding data, slow start repairs
    for (window, sent) in [(21_000, [20, 21]), (19_000, [-1, -2])] {
        let mut bench = timed_out(|t| t.loss.frto = true);
        let now = bench.now();
        let found = bench.give_sender(Kind::Ack, 1000, now, window);
        assert_eq!(segments(&found), sent, "{window} B beyond segment 0");
    }
}
