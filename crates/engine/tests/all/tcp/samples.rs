//! RTT samples: their segments and their clock (Karn, RFC 7323).

use super::*;

#[test]
fn samples_are_of_segments_where_send_times_are_kept() {
    let bench = |segment_rtt: bool| {
        let t = changed!(
            initial_window(20.0),
            loss.recovery = Recovery::Linux,
            timing.rto_rule = RtoRule::Linux,
            timing.segment_rtt = segment_rtt
        );
        let (mut bench, _) = sender(t, "newreno");
        bench.advance(110 * MS);
        bench.ack(2000, 0, 0, &[]);
        bench
    };
    let rtt = |bench: &Bench| (bench.state("rtt_s") * 1e3).round();
    // the window was sent at 0; an ACK at 110 ms echoes a time stamp of 105 ms, of any segment
    let mut by_segments = bench(true);
    assert_eq!(rtt(&by_segments), 110.0);
    by_segments.advance(120 * MS);
    by_segments.ack(2000, 105 * MS, 0, &[(3000, 4000)]);
    assert_eq!(rtt(&by_segments), 120.0, "SACK reports a segment that was sent once");
    let mut by_stamps = bench(false);
    by_stamps.advance(120 * MS);
    by_stamps.ack(2000, 105 * MS, 0, &[(3000, 4000)]);
    assert_eq!(rtt(&by_stamps), 110.0, "duplicates are no samples");
    // the minimum round trip is that of the last segment covered by an ACK, the smoothed one that of the first
    let mut paced = bench(true);
    paced.advance(130 * MS);
    paced.ack(19_000, 0, 0, &[]);
    paced.advance(200 * MS);
    // segment 19 was sent at 0, segment 20 at 110 ms
    paced.ack(21_000, 0, 0, &[]);
    assert_eq!(rtt(&paced), 200.0);
    assert_eq!(paced.record().rtt_min_ps, Some(90 * MS));
    // retransmitted segments are timed by the time stamp, in whole milliseconds and at least one
    for n in 4..8 {
        by_segments.ack(2000, 105 * MS, 0, &[(3000, n * 1000)]);
    }
    by_segments.advance(120 * MS + MS / 2);
    by_segments.ack(3000, 120 * MS, 0, &[]);
    assert_eq!(rtt(&by_segments), 1.0);
}

#[test]
fn karn_ignores_what_was_sent_twice() {
    let transport = changed!(initial_window(1.0), timing.timestamps = false, rto.rto_min = Time::ZERO);
    let (mut bench, _) = sender(transport, "newreno");
    // RTT of 100 ms: rto = 100 + 4 * 50 = 300 ms
    assert_eq!(segments(&bench.ack(1000, 0, 0, &[])), [1, 2]);
    assert!((bench.state("srtt_s") - 0.1).abs() < 1e-12);
    let sent = bench.advance(400 * MS);
    assert_eq!((segments(&sent), sent[0].at), (vec![-1], 400 * MS));
    // the ACK may belong to either copy: no sample, and the doubled timeout stays
    bench.advance(410 * MS);
    let sent = bench.ack(2000, 0, 0, &[]);
    assert_eq!(segments(&sent), [-2, 3]);
    assert!((bench.state("srtt_s") - 0.1).abs() < 1e-12);
    let sent = bench.advance(2000 * MS);
    assert_eq!(sent[0].at, (410 + 600) * MS, "300 ms doubled, from the ACK on");
}

#[test]
fn delivery_rates_are_of_exact_times() {
    // samples of round trips are in ticks
    let bandwidth = |timestamp_clock| {
        let mut bench = controlled(changed!(linux(10.0), timing.timestamp_clock = timestamp_clock), "bbr", None);
        answer(&mut bench, 5, &[]);
        bench.advance(40 * MS);
        answer(&mut bench, 10, &[]);
        bench.advance(60 * MS);
        answer(&mut bench, 15, &[]);
        bench.state("bandwidth_bps")
    };
    let exact = bandwidth(Time::ZERO);
    assert!(exact > 0.0);
    for tick in [Time::us(8), Time::us(500), Time::ms(1)] {
        assert_eq!(bandwidth(tick), exact, "{tick}");
    }
}

#[test]
fn segments_are_timed_in_whole_ticks() {
    let rtt = |timestamp_clock| {
        let mut bench = probing(changed!(linux(10.0), timing.timestamp_clock = timestamp_clock), None);
        bench.advance(20 * MS + 700_000);
        ack(&mut bench, 1, &[]);
        bench.state("rtt_s")
    };
    assert_eq!(rtt(Time::us(1)), 0.02);
    assert_eq!(rtt(Time::ZERO), 0.0200007);
}

#[test]
fn without_time_stamps_one_segment_at_a_time_is_timed() {
    for timestamps in [true, false] {
        let transport = changed!(plain(), timing.timestamps = timestamps);
        let outcome = run(&wire(Rate::gbps(10), Time::ms(5), transport, "newreno", bulk(0, 1, Some(100_000))));
        let flow = &outcome.flows[0];
        // four round trips: 10, 20, 40, 30 segments
        assert_eq!(flow.rtt_count, if timestamps { 100 } else { 4 });
        assert!(flow.rtt_min_ps.unwrap() >= 20 * MS);
    }
}

#[test]
fn without_time_stamps_ns3_times_each_segment_that_went_once() {
    let timed = |lost: &[u64]| {
        let ns3 = changed!(plain(), timing.timestamps = false, acks.delayed_ack = 1, loss.scoreboard = Rules::Ns3);
        let mut spec = wire(Rate::gbps(10), Time::ms(5), ns3, "newreno", bulk(0, 1, Some(100_000)));
        let last = spec.links.len() - 1;
        spec.links[last].loss = Loss::List(lost.to_vec());
        let outcome = run(&spec);
        let flow = &outcome.flows[0];
        assert!(flow.rtt_min_ps.unwrap() >= 20 * MS && flow.delivered == 100_000);
        flow.rtt_count
    };
    assert_eq!(timed(&[]), 100, "an ACK each");
    // the first of the third flight is lost: neither duplicates nor the ACK that fills the hole are samples, i.e. none
    // for that segment, the 39 behind it and two of limited transmit
    assert_eq!(timed(&[30]), 100 - 42);
}
