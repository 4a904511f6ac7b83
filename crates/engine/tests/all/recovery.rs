//! Loss recovery: fast retransmit, NewReno, SACK, PRR, timeouts, limited transmit, reductions for
//! ECN; the scoreboard and the sets of ranges against plain models.

use crate::bench::{Bench, Caught};
use crate::net::*;
use incast_cc::{Ecn, Rate, Time};
use incast_engine::spec::*;
use incast_engine::testing::{Ranges, Scoreboard, flag};
use incast_record::{FlowRecord, Outcome};
use proptest::prelude::*;
use std::collections::BTreeSet;

const MS: u64 = 1_000_000_000;

/// Segments of 1000 B, no handshake, an initial window of `window` segments.
fn plain(window: f64) -> TransportSpec {
    TransportSpec {
        handshake: false,
        mss: 1000,
        header: 40,
        ack_size: 40,
        delayed_ack: 1,
        initial_window: window,
        send_buffer: 1 << 30,
        receive_buffer: 1 << 29,
        rto_initial: Time::s(1),
        rto_min: Time::ms(200),
        ..tcp()
    }
}

fn newreno(window: f64) -> TransportSpec {
    TransportSpec { sack: false, recovery: Recovery::NewReno, ..plain(window) }
}

/// A sender of an endless transfer that has just sent its first window; the clock stands at
/// 100 ms.
fn sender(transport: TransportSpec, kind: &str) -> (Bench, Vec<Caught>) {
    let mut bench = Bench::new(wire(Rate::gbps(100), Time::ms(10), transport, kind, bulk(0, 1, None)));
    let sent = bench.open();
    bench.advance(100 * MS);
    (bench, sent)
}

/// Segment numbers of what was sent; negative for retransmissions.
fn segments(sent: &[Caught], mss: u64) -> Vec<i64> {
    let number = |c: &Caught| (c.packet.seq / mss) as i64 * if c.has(flag::RETX) { -1 } else { 1 };
    sent.iter().filter(|c| c.packet.len > 0).map(number).collect()
}

fn dup(bench: &mut Bench, ack: u64) -> Vec<i64> {
    let now = bench.now();
    segments(&bench.ack(ack * 1000, now, 0, &[]), 1000)
}

fn kb(bench: &Bench, name: &str) -> f64 {
    bench.state(name) / 1000.0
}

// ---- NewReno without SACK ----------------------------------------------------------------------

#[test]
fn the_third_duplicate_halves_and_inflates() {
    // flight 20, three duplicates: ssthresh 10, cwnd 13 (RFC 5681 section 3.2)
    let (mut bench, sent) = sender(newreno(20.0), "newreno");
    assert_eq!(segments(&sent, 1000), (0..20).collect::<Vec<i64>>());
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
fn without_limited_transmit_two_duplicates_send_nothing() {
    let (mut bench, _) = sender(TransportSpec { limited_transmit: false, ..newreno(20.0) }, "newreno");
    assert!(dup(&mut bench, 0).is_empty() && dup(&mut bench, 0).is_empty());
    assert_eq!(dup(&mut bench, 0), [0]);
    assert_eq!((kb(&bench, "ssthresh_bytes"), kb(&bench, "cwnd_bytes")), (10.0, 13.0));
}

#[test]
fn limited_transmit_ends_with_the_second_duplicate() {
    let (mut bench, _) = sender(TransportSpec { dupthresh: 5, ..newreno(20.0) }, "newreno");
    let sent: Vec<Vec<i64>> = (0..5).map(|_| dup(&mut bench, 0)).collect();
    assert_eq!(sent, [vec![20], vec![21], vec![], vec![], vec![0]]);
}

#[test]
fn a_partial_ack_repairs_one_hole() {
    // RFC 6582: segments 0 and 5 are lost of 20
    let (mut bench, _) = sender(TransportSpec { limited_transmit: false, ..newreno(20.0) }, "newreno");
    for _ in 0..18 {
        dup(&mut bench, 0);
    }
    // cwnd = 10 + 18, and 8 new segments were sent in exchange: 28 in flight
    assert_eq!(kb(&bench, "cwnd_bytes"), 28.0);
    let sent = bench.ack(5000, 100 * MS, 0, &[]);
    // deflated by 5, plus one: 24; 23 are in flight, so one new segment goes too
    assert_eq!(segments(&sent, 1000), [-5, 28]);
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
    // the ACK does not cover more than `recover`: these are echoes of what was sent twice
    for _ in 0..5 {
        assert!(dup(&mut bench, 22).iter().all(|s| *s > 0));
    }
    assert_eq!(kb(&bench, "ssthresh_bytes"), after);
}

// ---- SACK --------------------------------------------------------------------------------------

#[test]
fn sack_repairs_proportionally() {
    // 20 in flight, segment 0 lost, 19 ACKs with SACK. RFC 6937: while pipe exceeds ssthresh, after
    // D delivered segments max(1, floor(D * ssthresh / RecoverFS)) have been sent.
    let (mut bench, _) = sender(plain(20.0), "newreno");
    let mut sack = |n: u64| {
        let sent = bench.ack(0, 100 * MS, 0, &[(1000, (n + 1) * 1000)]);
        (segments(&sent, 1000), bench.state("in_flight_bytes"), bench.state("ssthresh_bytes"))
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
    // All but four of 20 are lost: pipe falls far below ssthresh at once, and PRR's reduction
    // bound lets out what is delivered plus one segment per ACK (RFC 6937 section 3).
    let (mut bench, _) = sender(plain(20.0), "newreno");
    let mut cwnd = 0.0;
    let mut sack = |n: u64| segments(&bench.ack(0, 100 * MS, 0, &[(16_000, (16 + n) * 1000)]), 1000);
    assert_eq!(sack(1), [20]);
    assert_eq!(sack(2), [21]);
    assert_eq!(sack(3), [0, -1], "the first hole, and one more by the slow-start part");
    assert_eq!(sack(4), [-2, -3]);
    for n in 0..4u64 {
        // the retransmissions arrive one by one
        let sent = segments(&bench.ack((n + 1) * 1000, 100 * MS, 0, &[(16_000, 20_000)]), 1000);
        assert_eq!(sent.len(), 2, "one delivered, one more: {sent:?}");
        assert!(sent.iter().all(|s| *s < 0), "holes before new data");
        assert!(bench.state("cwnd_bytes") >= cwnd, "the window never falls");
        cwnd = bench.state("cwnd_bytes");
    }
}

#[test]
fn sack_under_the_classic_rule_keeps_pipe_below_ssthresh() {
    // RFC 6675: after entry nothing goes until pipe falls below ssthresh
    let (mut bench, _) = sender(TransportSpec { recovery: Recovery::NewReno, ..plain(20.0) }, "newreno");
    let mut sent_at = Vec::new();
    for n in 1..=19u64 {
        let sent = segments(&bench.ack(0, 100 * MS, 0, &[(1000, (n + 1) * 1000)]), 1000);
        if n > 3 && !sent.is_empty() {
            sent_at.push(n);
            assert!(bench.state("in_flight_bytes") <= 10_000.0);
        }
    }
    // 22 sent, 1 lost, 1 sent again: pipe = 22 - n; it is 10 at n = 12
    assert_eq!(sent_at.first(), Some(&13), "{sent_at:?}");
    assert_eq!(sent_at.len(), 7, "then one for one");
}

/// A transfer of `segments` segments of 1000 B at 100 Mb/s and an idle RTT of 20.3 ms, which
/// loses the data packets listed.
fn transfer(transport: TransportSpec, segments: u64, lost: &[u64]) -> Outcome {
    let mut spec = wire(Rate::mbps(100), Time::ms(5), transport, "newreno", bulk(0, 1, Some(segments * 1000)));
    spec.links[3].loss = Loss::List(lost.to_vec());
    judged(&spec)
}

fn again(o: &Outcome) -> Vec<(u64, u64)> {
    let sent = data_sent(o, "h0").into_iter().filter(|e| e.flags.contains("RETX"));
    sent.map(|e| (e.time_ps, e.seq / 1000)).collect()
}

fn counts(f: &FlowRecord) -> (u64, u64, u64) {
    (f.retransmissions, f.timeouts, f.dropped)
}

#[test]
fn sack_repairs_many_holes_in_one_round_trip() {
    let outcome = transfer(plain(40.0), 200, &[3, 7, 11, 20, 21, 30]);
    assert_eq!(counts(&outcome.flows[0]), (6, 0, 6));
    let again = again(&outcome);
    assert_eq!(again.iter().map(|a| a.1).collect::<Vec<u64>>(), [3, 7, 11, 20, 21, 30]);
    assert!(again[5].0 - again[0].0 < 20 * MS, "{again:?}");
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
fn a_lost_tail_is_rescued() {
    // Segments 20 and 29 of 30 are lost. Nothing follows the last one to prove its loss; recovery
    // of segment 20 sends the highest outstanding segment once more (RFC 6675 NextSeg rule 4).
    let outcome = transfer(plain(40.0), 30, &[20, 29]);
    let flow = &outcome.flows[0];
    assert_eq!(counts(flow), (2, 0, 2));
    assert_eq!(again(&outcome).iter().map(|a| a.1).collect::<Vec<u64>>(), [20, 29]);
    assert!(flow.finish_ps.unwrap() < 60 * MS, "within three round trips: {:?}", flow.finish_ps);
    // as it does where nothing goes on suspicion: 29 waits for the timer
    let outcome = transfer(TransportSpec { forward_retransmit: false, ..plain(40.0) }, 30, &[20, 29]);
    assert_eq!(counts(&outcome.flows[0]), (2, 1, 2));
    assert_eq!(again(&outcome).iter().map(|a| a.1).collect::<Vec<u64>>(), [20, 29]);
    // without SACK the tail needs a timeout
    let outcome = transfer(newreno(40.0), 30, &[29]);
    assert_eq!(counts(&outcome.flows[0]), (1, 1, 1));
}

#[test]
fn a_retransmission_lost_again_needs_a_timeout() {
    // data packets 0..40 are sent; packet 42 or so is the retransmission of segment 5: lose every
    // packet which it may be, so find out first
    let first = transfer(plain(40.0), 200, &[5]);
    let index = data_sent(&first, "h0").iter().position(|e| e.flags.contains("RETX")).unwrap() as u64;
    let outcome = transfer(plain(40.0), 200, &[5, index]);
    let flow = &outcome.flows[0];
    assert_eq!(flow.delivered, 200_000);
    assert_eq!((flow.timeouts, flow.dropped), (1, 2));
}

#[test]
fn a_large_window_recovers_in_linear_time() {
    // 5,000 segments in flight, every tenth lost
    let mut spec = wire(Rate::gbps(10), Time::ms(5), plain(5000.0), "newreno", bulk(0, 1, Some(20_000_000)));
    spec.links[3].loss = Loss::List((0..5000).step_by(10).collect());
    spec.observe.trace.clear();
    let began = std::time::Instant::now();
    let outcome = run(&spec);
    let took = began.elapsed();
    assert_eq!(counts(&outcome.flows[0]), (500, 0, 500));
    assert_eq!(outcome.flows[0].delivered, 20_000_000);
    // 80,000 hops are some 10 ms of work; a walk over the window for each of 5,000 ACKs would be
    // 25 million steps more, twice that for a walk over the holes. A second is generous.
    assert!(took.as_secs_f64() < 1.0, "{took:?}");
}

// ---- timeouts ----------------------------------------------------------------------------------

#[test]
fn a_timeout_goes_back_and_starts_over() {
    for transport in [newreno(20.0), plain(20.0)] {
        let (mut bench, _) = sender(transport, "newreno");
        let sent = bench.advance(1000 * MS);
        assert_eq!(segments(&sent, 1000), [0], "one segment, at the initial timeout of 1 s");
        assert_eq!(sent[0].at, 1000 * MS);
        assert_eq!((kb(&bench, "cwnd_bytes"), kb(&bench, "ssthresh_bytes")), (1.0, 10.0));
        // slow start through what may be lost
        assert_eq!(dup(&mut bench, 1), [-1, -2]);
        assert_eq!(dup(&mut bench, 2), [-3, -4]);
        assert_eq!(kb(&bench, "cwnd_bytes"), 3.0);
        // the receiver had the rest all along
        assert_eq!(dup(&mut bench, 20), [20, 21, 22, 23]);
    }
}

#[test]
fn after_a_timeout_only_holes_are_sent_again() {
    let (mut bench, _) = sender(plain(20.0), "newreno");
    // two SACKs are not enough for fast retransmit
    bench.ack(0, 100 * MS, 0, &[(5000, 7000)]);
    let sent = bench.advance(2000 * MS);
    assert_eq!(segments(&sent, 1000)[0], 0);
    let mut sent = Vec::new();
    for n in 1..=5 {
        sent.extend(segments(&bench.ack(n * 1000, 2000 * MS, 0, &[(5000, 7000)]), 1000));
    }
    assert_eq!(sent[..8], [-1, -2, -3, -4, -7, -8, -9, -10], "5 and 6 were reported");
}

/// A sender under Linux' rules whose first timeout has just sent segment 0 again, at 1 s.
fn timed_out(change: impl FnOnce(&mut TransportSpec)) -> Bench {
    let mut transport = TransportSpec { recovery: Recovery::Linux, ..plain(20.0) };
    change(&mut transport);
    let (mut bench, _) = sender(transport, "newreno");
    assert_eq!(segments(&bench.advance(1000 * MS), 1000), [0]);
    assert_eq!((kb(&bench, "cwnd_bytes"), kb(&bench, "ssthresh_bytes")), (1.0, 10.0));
    bench
}

#[test]
fn after_a_timeout_new_data_tells_whether_it_was_real() {
    // RFC 5682, 3.1: the second segment out is new. SACKs of it prove that the rest is lost.
    let mut bench = timed_out(|t| t.frto = true);
    assert_eq!(dup(&mut bench, 1), [20, 21], "not -1, -2");
    let sent = bench.ack(1000, 1000 * MS, 0, &[(20_000, 21_000)]);
    assert_eq!(segments(&sent, 1000), [-1]);
    let sent = bench.ack(1000, 1000 * MS, 0, &[(20_000, 22_000)]);
    assert_eq!(segments(&sent, 1000), [-2]);
    assert_eq!(dup(&mut bench, 2), [-3, -4], "and slow start goes on");
    // an ACK of what was sent once only proves that nothing was lost
    let mut bench = timed_out(|t| t.frto = true);
    dup(&mut bench, 1);
    assert!(dup(&mut bench, 10).iter().all(|s| *s > 0), "nothing more is sent again");
    assert!(kb(&bench, "cwnd_bytes") >= 20.0 && kb(&bench, "ssthresh_bytes") >= 20.0, "the window is back");
    // without SACK, duplicates prove the loss
    let mut bench = timed_out(|t| (t.frto, t.sack) = (true, false));
    assert_eq!(dup(&mut bench, 1), [20, 21]);
    assert_eq!(dup(&mut bench, 1), [-1], "the duplicate has made room for one");
}

#[test]
fn an_ack_of_what_went_again_tells_nothing_of_the_rest_without_sack() {
    // segment 0 went again; that the ACK covers 1 to 9 as well may be due to the first copies or to nothing
    // at all: only SACK tells (RFC 5682 section 3)
    let mut bench = timed_out(|t| (t.frto, t.sack) = (true, false));
    assert_eq!(dup(&mut bench, 10), [20, 21], "new data, and the losses stay");
    assert_eq!(kb(&bench, "ssthresh_bytes"), 10.0);
    let mut bench = timed_out(|t| t.frto = true);
    dup(&mut bench, 10);
    assert_eq!(kb(&bench, "ssthresh_bytes"), f64::INFINITY, "with SACK it was spurious");
}

#[test]
fn more_duplicates_than_segments_are_taken_for_reordering() {
    // eight segments are out: eight duplicates are one too many
    let duplicates = |reordering: bool| {
        let t = TransportSpec { recovery: Recovery::Linux, sack: false, reordering, ..plain(8.0) };
        let (mut bench, _) = sender(TransportSpec { send_buffer: 8000, ..t }, "newreno");
        let acks = [0; 8].into_iter().chain([8, 9, 9, 9, 9]);
        acks.flat_map(|ack| dup(&mut bench, ack)).filter(|segment| *segment <= 0).collect::<Vec<_>>()
    };
    assert_eq!(duplicates(false), [0, -9], "three duplicates each");
    assert_eq!(duplicates(true), [0], "from now on it takes eight");
}

#[test]
fn samples_are_of_segments_where_send_times_are_kept() {
    let bench = |segment_rtt: bool| {
        let t = TransportSpec { recovery: Recovery::Linux, rto_rule: RtoRule::Linux, segment_rtt, ..plain(20.0) };
        let (mut bench, _) = sender(t, "newreno");
        bench.advance(110 * MS);
        bench.ack(2000, 0, 0, &[]);
        bench
    };
    let rtt = |bench: &Bench| (bench.state("rtt_s") * 1e3).round();
    // the window was sent at 0; an ACK at 110 ms echoes a time stamp of 105 ms, whatever that is of
    let mut by_segments = bench(true);
    assert_eq!(rtt(&by_segments), 110.0);
    by_segments.advance(120 * MS);
    by_segments.ack(2000, 105 * MS, 0, &[(3000, 4000)]);
    assert_eq!(rtt(&by_segments), 120.0, "SACK reports a segment that was sent once");
    let mut by_stamps = bench(false);
    by_stamps.advance(120 * MS);
    by_stamps.ack(2000, 105 * MS, 0, &[(3000, 4000)]);
    assert_eq!(rtt(&by_stamps), 110.0, "duplicates are no samples");
    // the quickest round trip is of the last segment that an ACK covers, the smoothed one of the first
    let mut paced = bench(true);
    paced.advance(130 * MS);
    paced.ack(19_000, 0, 0, &[]);
    paced.advance(200 * MS);
    // segment 19 was sent at 0, segment 20 at 110 ms
    paced.ack(21_000, 0, 0, &[]);
    assert_eq!(rtt(&paced), 200.0);
    assert_eq!(paced.record().rtt_min_ps, Some(90 * MS));
    // what was sent again is timed by the time stamp, in whole milliseconds and at least one
    for n in 4..8 {
        by_segments.ack(2000, 105 * MS, 0, &[(3000, n * 1000)]);
    }
    by_segments.advance(120 * MS + MS / 2);
    by_segments.ack(3000, 120 * MS, 0, &[]);
    assert_eq!(rtt(&by_segments), 1.0);
}

#[test]
fn frto_needs_new_data_and_a_first_timeout() {
    let bench = |written: u64| {
        let transport = TransportSpec { recovery: Recovery::Linux, frto: true, ..plain(20.0) };
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
    assert_eq!(segments(&again.advance(1250 * MS), 1000), [-1]);
    assert_eq!(dup(&mut again, 2), [-2, -3]);
}

#[test]
fn a_timeout_is_undone_when_all_that_was_sent_again_had_arrived() {
    // the receiver had segment 0 (RFC 2883), whose ACK was late
    let late = |bench: &mut Bench, ts: u64| {
        bench.ack(1000, ts, 0, &[(0, 1000)]);
        (kb(bench, "cwnd_bytes"), kb(bench, "ssthresh_bytes"))
    };
    let (window, threshold) = late(&mut timed_out(|t| t.undo = true), 1000 * MS);
    assert!(window >= 20.0 && threshold == f64::INFINITY, "{window} {threshold}");
    assert_eq!(late(&mut timed_out(|_| {}), 1000 * MS).1, 10.0, "without undo");
    // no report, but a time stamp from before the timeout (RFC 4015)
    let mut bench = timed_out(|t| t.undo = true);
    bench.ack(1000, 0, 0, &[]);
    assert!(kb(&bench, "cwnd_bytes") >= 20.0);
    // ... which nobody reads where there are none
    let mut bench = timed_out(|t| (t.undo, t.timestamps) = (true, false));
    bench.ack(1000, 0, 0, &[]);
    assert_eq!(kb(&bench, "ssthresh_bytes"), 10.0);
    // two were sent again, one of them in vain
    let mut bench = timed_out(|t| t.undo = true);
    bench.advance(3000 * MS);
    assert_eq!(late(&mut bench, 3000 * MS).1, 10.0);
    // with a mark the reduction was due, and the next one follows
    let mut bench = timed_out(|t| (t.undo, t.ecn) = (true, Some(Ecn::Classic)));
    bench.ack(1000, 1000 * MS, flag::ECE, &[(0, 1000)]);
    assert!(kb(&bench, "ssthresh_bytes") <= 10.0);
}

#[test]
fn a_recovery_is_undone_too() {
    let mut bench = sender(TransportSpec { undo: true, ..plain(20.0) }, "newreno").0;
    for n in 1..=3 {
        bench.ack(0, 100 * MS, 0, &[(1000, (n + 1) * 1000)]);
    }
    assert_eq!(kb(&bench, "ssthresh_bytes"), 10.0);
    bench.ack(19_000, 100 * MS, 0, &[(0, 1000)]);
    assert_eq!((kb(&bench, "ssthresh_bytes"), kb(&bench, "cwnd_bytes") >= 20.0), (f64::INFINITY, true));
}

#[test]
fn timeouts_back_off_and_the_flow_gives_up() {
    let transport = TransportSpec { data_retries: 4, rto_max: Time::s(6), ..plain(2.0) };
    let mut bench = Bench::new(wire(Rate::gbps(100), Time::ms(10), transport, "newreno", bulk(0, 1, None)));
    bench.open();
    let sent = bench.advance(100_000 * MS);
    let times: Vec<u64> = sent.iter().map(|c| c.at / MS).collect();
    // 1, 2, 4 s, then the ceiling of 6 s; the fifth timeout in a row is one too many
    assert_eq!(times, [1000, 3000, 7000, 13_000]);
    assert_eq!(bench.sender().connection, incast_engine::testing::Connection::Dead);
    assert_eq!(kb(&bench, "ssthresh_bytes"), 2.0, "repeated timeouts leave ssthresh alone");
}

#[test]
fn the_timeout_has_a_floor() {
    for (floor, rto) in [(Time::ms(200), 200), (Time::ms(1), 60)] {
        let (mut bench, _) = sender(TransportSpec { rto_min: floor, ..plain(2.0) }, "newreno");
        bench.advance(110 * MS);
        // an RTT of 20 ms: 20 + 4 * 10 = 60 ms without the floor
        bench.ack(1000, 90 * MS, 0, &[]);
        let sent = bench.advance(400 * MS);
        assert_eq!(sent[0].at, (110 + rto) * MS, "floor {floor:?}");
    }
}

#[test]
fn karn_ignores_what_was_sent_twice() {
    let transport = TransportSpec { timestamps: false, rto_min: Time::ZERO, ..plain(1.0) };
    let (mut bench, _) = sender(transport, "newreno");
    // RTT of 100 ms: rto = 100 + 4 * 50 = 300 ms
    assert_eq!(segments(&bench.ack(1000, 0, 0, &[]), 1000), [1, 2]);
    assert!((bench.state("srtt_s") - 0.1).abs() < 1e-12);
    let sent = bench.advance(400 * MS);
    assert_eq!((segments(&sent, 1000), sent[0].at), (vec![-1], 400 * MS));
    // the ACK may belong to either copy: no sample, and the doubled timeout stays
    bench.advance(410 * MS);
    let sent = bench.ack(2000, 0, 0, &[]);
    assert_eq!(segments(&sent, 1000), [-2, 3]);
    assert!((bench.state("srtt_s") - 0.1).abs() < 1e-12);
    let sent = bench.advance(2000 * MS);
    assert_eq!(sent[0].at, (410 + 600) * MS, "300 ms doubled, from the ACK on");
}

#[test]
fn a_new_sample_ends_the_back_off() {
    let transport = TransportSpec { timestamps: false, rto_min: Time::ZERO, ..plain(1.0) };
    let (mut bench, _) = sender(transport, "newreno");
    bench.ack(1000, 0, 0, &[]);
    bench.advance(400 * MS);
    bench.ack(3000, 0, 0, &[]);
    // segments 3 and 4 went at 400 ms, once: their ACK at 450 ms is a sample of 50 ms
    bench.advance(450 * MS);
    bench.ack(4000, 0, 0, &[]);
    // srtt = 93.75, var = .75 * 50 + .25 * 50 = 50: rto 293.75
    assert!((bench.state("srtt_s") - 0.09375).abs() < 1e-12);
    let sent = bench.advance(2000 * MS);
    assert_eq!(sent[0].at, 450 * MS + 293_750_000_000);
}

#[test]
fn a_timeout_that_comes_too_early_costs_only_duplicates() {
    // a first timeout of 50 ms on a path of 100 ms; nothing is lost
    for transport in [plain(10.0), newreno(10.0)] {
        let transport = TransportSpec { rto_initial: Time::ms(50), rto_min: Time::ms(50), ..transport };
        let spec = wire(Rate::mbps(100), Time::ms(25), transport, "newreno", bulk(0, 1, Some(100_000)));
        let outcome = judged(&spec);
        let flow = &outcome.flows[0];
        assert_eq!((flow.delivered, flow.dropped, flow.timeouts), (100_000, 0, 1));
        // the segment sent at the timeout, and the go-back over what the ACKs had not covered yet
        assert!((1..=10).contains(&flow.retransmissions), "{}", flow.retransmissions);
        assert_eq!(flow.sent, 100 + flow.retransmissions);
    }
}

// ---- ECN ---------------------------------------------------------------------------------------

#[test]
fn two_marks_in_a_window_reduce_it_once() {
    // ns-3's tcp-ecn case: segments of 500 B, CE on two packets of a window, down to two segments
    let transport = TransportSpec { mss: 500, ecn: Some(Ecn::Classic), ..plain(4.0) };
    let (mut bench, sent) = sender(transport, "newreno");
    assert_eq!(sent.len(), 4);
    assert!(sent.iter().all(|c| c.has(flag::ECT)));
    let mut ack = |n: u64, flags| bench.ack(n * 500, 100 * MS, flags, &[]);
    assert!(ack(1, flag::ECE).is_empty());
    assert!(ack(2, flag::ECE).is_empty(), "two segments are still in flight");
    let sent = ack(3, flag::ECE);
    assert_eq!(segments(&sent, 500), [4]);
    assert!(sent[0].has(flag::CWR), "the first new segment tells the receiver");
    let sent = ack(4, flag::ECE);
    assert_eq!(segments(&sent, 500), [5]);
    assert!(!sent[0].has(flag::CWR), "once");
    assert_eq!((bench.state("cwnd_bytes"), bench.state("ssthresh_bytes")), (1000.0, 1000.0));
}

#[test]
fn classic_ecn_leaves_retransmissions_and_acks_unmarked() {
    // RFC 3168 6.1.4, 6.1.5: only data sent for the first time is ECN-capable, whatever DCTCP would do
    let transport = TransportSpec { ecn: Some(Ecn::Classic), ect_control: true, handshake: true, ..plain(10.0) };
    let mut spec = wire(Rate::gbps(1), Time::us(10), transport.clone(), "newreno", bulk(0, 1, Some(20_000)));
    // SYN, ACK, then data: the fourth packet is a data segment
    spec.links[0].loss = Loss::List(vec![3]);
    let outcome = judged(&spec);
    let sent = || outcome.trace.iter().filter(|e| e.event == incast_record::Happening::Send);
    assert!(sent().any(|e| e.flags.contains("RETX")), "a segment was sent again");
    for e in sent() {
        let first = e.payload > 0 && !e.flags.contains("RETX");
        assert_eq!(e.flags.contains("ECT"), first, "{e:?}");
    }
    // ns-3's DCTCP: everything is ECN-capable
    let everything = TransportSpec { ecn: Some(Ecn::Dctcp), ect_control: true, handshake: true, ..transport };
    let outcome = judged(&wire(Rate::gbps(1), Time::us(10), everything, "dctcp", bulk(0, 1, Some(20_000))));
    let sent = outcome.trace.iter().filter(|e| e.event == incast_record::Happening::Send);
    assert!(sent.clone().any(|e| e.flags.contains("SYN|ACK")) && sent.clone().any(|e| e.flags.contains("FIN")));
    assert!(sent.clone().all(|e| e.flags.contains("ECT")), "{:?}", sent.collect::<Vec<_>>());
}

#[test]
fn a_reduction_for_ecn_can_be_spread_over_a_round() {
    let transport = TransportSpec { ecn: Some(Ecn::Dctcp), ecn_by_prr: true, cwnd_limited: false, ..plain(20.0) };
    let (mut bench, _) = sender(transport, "dctcp");
    let mut windows = Vec::new();
    for n in 1..=20u64 {
        bench.ack(n * 1000, 100 * MS, if n == 1 { flag::ECE } else { 0 }, &[]);
        windows.push(bench.state("cwnd_bytes") / 1000.0);
    }
    // alpha is near 1: a halving, one segment for two ACKs instead of at once
    assert!(windows[0] >= 19.0, "{windows:?}");
    // bytes owed but fewer than a segment wait for the next ACK, so two steps may come at once
    assert!(windows.windows(2).all(|w| w[1] <= w[0] && w[0] - w[1] < 2.0), "{windows:?}");
    let target = bench.state("ssthresh_bytes") / 1000.0;
    assert!((windows[19] - target).abs() <= 1.0, "{target}: {windows:?}");
    let at_once = TransportSpec { ecn: Some(Ecn::Dctcp), ..plain(20.0) };
    let (mut bench, _) = sender(at_once, "dctcp");
    bench.ack(1000, 100 * MS, flag::ECE, &[]);
    assert_eq!(bench.state("cwnd_bytes"), bench.state("ssthresh_bytes"));
}

// ---- models ------------------------------------------------------------------------------------

#[derive(Clone, Debug)]
enum RangeOp {
    Add(u64, u64),
    Cut(u64),
}

fn range_ops() -> impl Strategy<Value = Vec<RangeOp>> {
    let op = prop_oneof![
        5 => (0u64..200, 1u64..30).prop_map(|(a, n)| RangeOp::Add(a, a + n)),
        1 => (0u64..200).prop_map(RangeOp::Cut),
    ];
    prop::collection::vec(op, 1..60)
}

#[derive(Clone, Debug)]
enum BoardOp {
    Send(u32),
    Ack(usize),
    Sack(usize, usize),
    Detect,
    Retransmit,
    Suspect,
    Timeout,
}

fn board_ops() -> impl Strategy<Value = Vec<BoardOp>> {
    let op = prop_oneof![
        6 => prop_oneof![Just(1000u32), 1u32..1001].prop_map(BoardOp::Send),
        2 => (0usize..4).prop_map(BoardOp::Ack),
        5 => (0usize..30, 1usize..6).prop_map(|(a, n)| BoardOp::Sack(a, n)),
        4 => Just(BoardOp::Detect),
        4 => Just(BoardOp::Retransmit),
        1 => Just(BoardOp::Suspect),
        1 => Just(BoardOp::Timeout),
    ];
    prop::collection::vec(op, 1..150)
}

/// A segment of the plain scoreboard.
#[derive(Clone, Debug)]
struct Plain {
    seq: u64,
    len: u64,
    sacked: bool,
    lost: bool,
    again: bool,
}

impl Plain {
    /// RFC 6675 SetPipe: a copy counts unless it was SACKed; the original also not once lost.
    fn pipe(&self) -> u64 {
        if self.sacked { 0 } else { self.len * (u64::from(!self.lost) + u64::from(self.again)) }
    }
    fn hole(&self) -> bool {
        self.lost && !self.sacked && !self.again
    }
}

proptest! {
    #![proptest_config(crate::draws::cases(500))]

    #[test]
    fn ranges_are_a_set_of_bytes(ops in range_ops()) {
        let mut ranges = Ranges::default();
        let mut bytes: BTreeSet<u64> = BTreeSet::new();
        for op in ops {
            match op {
                RangeOp::Add(a, b) => {
                    let mut fresh = Vec::new();
                    let (low, high) = ranges.add(a, b, |x, y| fresh.extend(x..y));
                    let expected: Vec<u64> = (a..b).filter(|x| !bytes.contains(x)).collect();
                    prop_assert_eq!(fresh, expected);
                    bytes.extend(a..b);
                    prop_assert!((low..high).all(|x| bytes.contains(&x)) && low <= a && high >= b);
                }
                RangeOp::Cut(edge) => {
                    ranges.cut_below(edge);
                    bytes.retain(|x| *x >= edge);
                }
            }
            let held: Vec<u64> = ranges.as_slice().iter().flat_map(|(a, b)| *a..*b).collect();
            prop_assert_eq!(&held, &bytes.iter().copied().collect::<Vec<u64>>());
            prop_assert!(ranges.as_slice().windows(2).all(|w| w[0].1 < w[1].0), "disjoint and not touching");
            prop_assert_eq!(ranges.bytes(), bytes.len() as u64);
            prop_assert_eq!(ranges.bytes_below(100), bytes.range(..100).count() as u64);
            prop_assert_eq!(ranges.is_empty(), bytes.is_empty());
            for at in 0..240 {
                prop_assert_eq!(ranges.find(at).is_some(), bytes.contains(&at));
            }
            let first = ranges.as_slice().first().map_or(0, |r| r.0);
            let reach = (first..).find(|x| !bytes.contains(x)).unwrap();
            prop_assert_eq!(ranges.reach_from(first), reach.max(first));
        }
    }

    #[test]
    fn the_scoreboard_is_rfc_6675(ops in board_ops()) {
        let (dupthresh, mss) = (3u32, 1000u32);
        let mut board = Scoreboard::default();
        let mut plain: Vec<Plain> = Vec::new();
        let (mut una, mut nxt) = (0u64, 0u64);
        for op in ops {
            match op {
                BoardOp::Send(len) => {
                    board.sent(nxt, len);
                    plain.push(Plain { seq: nxt, len: len as u64, sacked: false, lost: false, again: false });
                    nxt += len as u64;
                }
                BoardOp::Ack(n) => {
                    let gone: Vec<Plain> = plain.drain(..n.min(plain.len())).collect();
                    una += gone.iter().map(|s| s.len).sum::<u64>();
                    let delivered = gone.iter().filter(|s| !s.sacked).map(|s| s.len).sum::<u64>();
                    prop_assert_eq!(board.acked(una), (delivered, gone.iter().any(|s| s.again)));
                }
                BoardOp::Sack(first, n) => {
                    if first >= plain.len() {
                        continue;
                    }
                    let last = (first + n - 1).min(plain.len() - 1);
                    let (start, end) = (plain[first].seq, plain[last].seq + plain[last].len);
                    let mut fresh = 0;
                    for s in plain[first..=last].iter_mut().filter(|s| !s.sacked) {
                        s.sacked = true;
                        fresh += s.len;
                    }
                    prop_assert_eq!(board.sack(start, end, una), fresh);
                }
                BoardOp::Detect => {
                    let mut found = false;
                    for i in 0..plain.len() {
                        let above = &plain[i + 1..];
                        let bytes: u64 = above.iter().filter(|s| s.sacked).map(|s| s.len).sum();
                        let runs = (0..above.len())
                            .filter(|j| above[*j].sacked && (*j == 0 || !above[j - 1].sacked))
                            .count();
                        let is_lost = runs as u32 >= dupthresh || bytes > ((dupthresh - 1) * mss) as u64;
                        if is_lost && !plain[i].sacked && !plain[i].lost {
                            plain[i].lost = true;
                            found |= !plain[i].again;
                        }
                    }
                    prop_assert_eq!(board.update_lost(dupthresh, mss), found);
                }
                BoardOp::Retransmit => {
                    let hole = plain.iter().position(Plain::hole);
                    let got = board.next_hole();
                    prop_assert_eq!(got.map(|h| (h.seq, h.len as u64)), hole.map(|i| (plain[i].seq, plain[i].len)));
                    if let Some(i) = hole {
                        plain[i].again = true;
                        board.retransmitted(plain[i].seq, false);
                    }
                }
                BoardOp::Suspect => {
                    // rule 3: the first unsacked segment below the highest SACKed one, not lost
                    let Some(top) = plain.iter().rposition(|s| s.sacked) else { continue };
                    let first = plain[..top].iter().position(|s| !s.sacked && !s.lost && !s.again);
                    let got = board.next_unproven();
                    if plain.iter().any(Plain::hole) {
                        continue;
                    }
                    prop_assert_eq!(got.map(|h| h.seq), first.map(|i| plain[i].seq));
                    if let Some(i) = first {
                        plain[i].again = true;
                        board.retransmitted(plain[i].seq, false);
                    }
                }
                BoardOp::Timeout => {
                    for s in &mut plain {
                        s.again = false;
                        s.lost = !s.sacked;
                    }
                    board.timed_out(una, nxt);
                }
            }
            prop_assert_eq!(board.pipe(), plain.iter().map(Plain::pipe).sum::<u64>());
            prop_assert_eq!(board.is_empty(), plain.is_empty());
            prop_assert_eq!(board.sacked_bytes(), plain.iter().filter(|s| s.sacked).map(|s| s.len).sum::<u64>());
            prop_assert_eq!(board.next_hole().is_some(), plain.iter().any(Plain::hole));
        }
    }
}

#[test]
fn the_loss_of_what_recovery_sent_is_a_new_event() {
    // segment 0 of 20 is lost; recovery sends new data, of which one segment is lost too. When the
    // full ACK of the first episode arrives, that loss starts a second one and halves again.
    let (mut bench, _) = sender(plain(20.0), "newreno");
    let mut sent = Vec::new();
    for n in 2..=19u64 {
        sent.extend(segments(&bench.ack(0, 100 * MS, 0, &[(1000, (n + 1) * 1000)]), 1000));
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

// ---- htsim's Swift ------------------------------------------------------------------------------

/// Swift whose cut comes when a recovery ends, in htsim's transport; a target far above the round trips of the bench.
fn htsims(window: f64, change: impl FnOnce(&mut TransportSpec)) -> Bench {
    htsims_on(PathChoice::Ecmp, window, change)
}

fn htsims_on(choice: PathChoice, window: f64, change: impl FnOnce(&mut TransportSpec)) -> Bench {
    let mut transport = TransportSpec {
        recovery: Recovery::Htsim,
        limited_transmit: false,
        rto_min: Time::us(100),
        rto_initial: Time::ms(1000),
        ..newreno(window)
    };
    change(&mut transport);
    let mut spec = wire(Rate::gbps(100), Time::ms(10), transport, "swift", bulk(0, 1, Some(100_000)));
    spec.controllers = vec![controller("swift", &[("target", "static"), ("recovery", "at-exit"), ("max_mdf", "0.5")])];
    spec.choice = choice;
    let mut bench = Bench::new(spec);
    bench.open();
    bench.advance(100 * MS);
    bench
}

fn ack_htsim(bench: &mut Bench, ack: u64) -> Vec<i64> {
    let then = bench.now() - 10 * MS;
    segments(&bench.ack(ack * 1000, then, 0, &[]), 1000)
}

#[test]
fn htsims_inflation_stands_on_the_window_and_begins_at_nothing() {
    let mut bench = htsims(20.0, |_| {});
    assert!(ack_htsim(&mut bench, 0).is_empty() && ack_htsim(&mut bench, 0).is_empty());
    assert_eq!(ack_htsim(&mut bench, 0), [0], "the third duplicate sends the first segment again");
    assert_eq!(kb(&bench, "cwnd_bytes"), 20.0, "no cut, and no inflation by three");
    // 20 are in flight: each further duplicate inflates by one and lets one go
    assert_eq!(ack_htsim(&mut bench, 0), [20]);
    assert_eq!(kb(&bench, "cwnd_bytes"), 21.0);
    // at most by the window itself
    (0..30).for_each(|_| _ = ack_htsim(&mut bench, 0));
    assert_eq!(kb(&bench, "cwnd_bytes"), 40.0);
    // a partial ACK of 10 sends the next hole, deflates by 10 and inflates by one; the window grew by 10/20
    assert_eq!(ack_htsim(&mut bench, 10)[..1], [-10]);
    assert!((kb(&bench, "cwnd_bytes") - (20.5 + 11.0)).abs() < 1e-9);
    // the ACK of all that was outstanding ends it: growth of its own, then the cut
    let window = 20.5 + 10.0 / 20.5;
    ack_htsim(&mut bench, 20);
    assert!((kb(&bench, "cwnd_bytes") - window / 2.0).abs() < 1e-9, "{}", kb(&bench, "cwnd_bytes"));
}

#[test]
fn htsims_inflation_may_survive_a_timeout() {
    for (survives, after) in [(true, 30.0), (false, 10.0)] {
        let mut bench = htsims(20.0, |t| t.inflation_survives_timeout = survives);
        (0..40).for_each(|_| _ = ack_htsim(&mut bench, 0));
        assert_eq!(kb(&bench, "cwnd_bytes"), 40.0, "twice the window");
        assert_eq!(segments(&bench.advance(1010 * MS), 1000), [0], "the timer: the first segment alone");
        assert_eq!(kb(&bench, "cwnd_bytes"), after, "half of the window, and what duplicates added");
    }
}

#[test]
fn what_goes_again_after_a_timeout_may_take_new_paths() {
    for (new_path, values) in [(true, [0, 0, 1, 2]), (false, [0, 0, 0, 0])] {
        let mut bench = htsims_on(PathChoice::Entropy(Entropy::Counter), 20.0, |t| t.go_back_n_new_path = new_path);
        let mut again = bench.advance(2000 * MS);
        let then = bench.now() - 10 * MS;
        again.extend(bench.ack(1000, then, 0, &[]));
        again.extend(bench.ack(3000, then, 0, &[]));
        let first = again[0].packet.entropy();
        let found: Vec<u16> = again.iter().map(|c| c.packet.entropy() - first).collect();
        assert_eq!(found[..4], values, "{new_path}: the first goes with the current value, the rest count on");
    }
}

#[test]
fn htsims_timer_starts_anew_with_every_partial_ack() {
    // partial ACKs at 100 and 112 ms, timeouts of 25 and 22 ms. RFC 6582's runs from the first of them
    for (recovery, silent) in [(Recovery::Htsim, true), (Recovery::NewReno, false)] {
        let mut bench = htsims(20.0, |t| t.recovery = recovery);
        ack_htsim(&mut bench, 1);
        (0..3).for_each(|_| _ = ack_htsim(&mut bench, 1));
        assert_eq!(ack_htsim(&mut bench, 5)[..1], [-5]);
        assert!(bench.advance(112 * MS).is_empty());
        assert_eq!(ack_htsim(&mut bench, 8)[..1], [-8]);
        assert_eq!(bench.advance(130 * MS).is_empty(), silent, "{recovery:?}");
    }
}

#[test]
fn htsims_timers_are_looked_at_every_ten_milliseconds() {
    // one sample of 10 ms at 100 ms: srtt 10, rttvar 5, timeout 30 ms, set to 130 ms; the next look after that is the
    // one at 140 ms, and a two-hundredth of nothing later
    for (scan, at) in [(Time::ZERO, 130 * MS), (Time::ms(10), 140 * MS), (Time::ms(7), 133 * MS + 4 * MS / 200)] {
        let mut bench = htsims(20.0, |t| t.timer_scan = scan);
        ack_htsim(&mut bench, 1);
        assert!(bench.advance(at - 1).is_empty(), "{scan}");
        assert_eq!(segments(&bench.advance(at), 1000), [-1], "{scan}: the first segment alone");
    }
}

#[test]
fn after_a_timeout_the_window_goes_again_once_the_first_is_acknowledged() {
    let mut bench = htsims(20.0, |_| {});
    ack_htsim(&mut bench, 1);
    bench.advance(130 * MS);
    assert_eq!(ack_htsim(&mut bench, 2)[..3], [-2, -3, -4]);
    // with what arrived before: nothing of it goes again
    let mut bench = htsims(20.0, |_| {});
    ack_htsim(&mut bench, 1);
    bench.advance(130 * MS);
    assert!(ack_htsim(&mut bench, 21).iter().all(|number| *number > 0));
}

#[test]
fn htsims_renumbering_hangs_a_flow_that_lost_more_than_the_first() {
    // a flow of 100 segments; `arrived`: how far the ACK of the segment sent again reaches
    let finishes = |renumbers: bool, arrived: u64| {
        let mut bench = htsims(20.0, |t| t.timeout_renumbers = renumbers);
        ack_htsim(&mut bench, 1);
        bench.advance(130 * MS);
        let mut last = 0;
        let mut edge = arrived;
        while edge != last {
            last = edge;
            let sent = ack_htsim(&mut bench, edge);
            edge = sent.iter().map(|number| number.unsigned_abs() + 1).max().unwrap_or(edge);
        }
        let timers = bench.advance(bench.now() + 60_000 * MS);
        assert!(timers.is_empty(), "and is silent");
        (edge, bench.record().finish_ps.is_some())
    };
    assert_eq!(finishes(false, 2), (100, true));
    assert_eq!(finishes(true, 21), (100, true), "nothing but the first was lost");
    // 19 or 20 segments went again as new data: the sequence ends so much earlier
    let (edge, finished) = finishes(true, 2);
    assert!(!finished && edge < 85, "{edge}");
}
