//! Pacing: release times of segments by a window or a rate.

use super::*;

#[test]
fn pacing_holds_back_new_data_but_nothing_that_goes_again() {
    // 10 goes at 20 ms, and 100 kb/s let nothing else go before 100 ms (tcp_write_xmit checks pacing,
    // __tcp_retransmit_skb does not)
    let max = Rate(100_000);
    let pacing = Some(WindowPacing { slow_start: 2.0, avoidance: 1.2, max, restart_at_max: false });
    let paced = |segments| {
        let mut bench = probing(changed!(linux(10.0), output.pacing = pacing.clone()), segments);
        assert_eq!(ack(&mut bench, 1, &[]), [10]);
        bench
    };
    let mut bench = paced(Some(11));
    quiet_until(&mut bench, 62);
    assert_eq!(at(&mut bench, 62), [-10]);
    let mut bench = paced(None);
    quiet_until(&mut bench, 100);
    assert_eq!(at(&mut bench, 100), [11]);
}

#[test]
fn a_paced_window_leaves_evenly() {
    // factor 1: a window of 20 segments over a round trip of 20 ms is one a millisecond
    let pacing = Some(WindowPacing { slow_start: 1.0, avoidance: 1.0, max: Rate::INFINITE, restart_at_max: false });
    let transport =
        changed!(plain(), output.pacing = pacing, windows.receive_buffer = 20_000, windows.initial_window = 20.0);
    let mut spec = wire(Rate::gbps(10), Time::ms(5), transport, "newreno", bulk(0, 1, Some(2_000_000)));
    run_for(&mut spec, Time::ms(300));
    let outcome = run(&spec);
    let times: Vec<u64> = data_sent(&outcome, "h0").iter().map(|e| e.time_ps).filter(|t| *t > 0).collect();
    let gaps: Vec<u64> = times.windows(2).map(|w| w[1] - w[0]).collect();
    // the window exceeds 20 segments only by growth, the receiver's window holds it at 20
    let smallest = *gaps.iter().min().unwrap();
    assert!(gaps.len() > 100 && smallest > 0, "no two packets at one instant: {gaps:?}");
}

#[test]
fn pacing_spaces_packets_by_factor_and_ceiling() {
    // srtt 20 ms, cwnd 10 kB: 4 Mb/s; factor 2 makes it 8, 1000 B a millisecond; at most 5 Mb/s
    // 1.6 ms
    for (max, gap) in [(Rate::INFINITE, MS), (Rate::mbps(5), 1_600_000_000)] {
        let pacing = Some(WindowPacing { slow_start: 2.0, avoidance: 2.0, max, restart_at_max: false });
        let transport =
            changed!(plain(), output.pacing = pacing, windows.initial_window = 1.0, windows.cwnd_limited = true);
        let mut bench = bench(transport, "newreno", bulk(0, 1, None));
        bench.open();
        bench.advance(20 * MS);
        // one sample of 20 ms, then the window is opened by ACKs of one segment each
        let mut sent = bench.ack(1000, 0, 0, &[]);
        for n in 2..=10u64 {
            let (now, next) = (bench.now(), bench.now() + 20 * MS);
            sent = bench.ack(n * 1000, now - 20 * MS, 0, &[]);
            sent.extend(bench.advance(next));
            let window = bench.state("cwnd_bytes");
            let times: Vec<u64> = sent.iter().map(|c| c.at).collect();
            let expected = ((20 * MS) as f64 * 1000.0 / (2.0 * window)).max(if gap == MS { 0.0 } else { gap as f64 });
            for pair in times.windows(2) {
                // a picosecond of rounding
                assert!((pair[1] - pair[0]) as f64 + 1.0 >= expected, "{times:?}, {expected}");
            }
        }
        assert!(!sent.is_empty());
    }
}

/// TcpSocketBase::UpdatePacingRate.
#[test]
fn pacing_takes_avoidances_factor_from_half_of_ssthresh_on() {
    // a timeout halves the window of `initial_window` segments to ssthresh; the ACK of all leaves a window of two
    for (initial_window, gap) in [(20.0, 5), (6.0, 10)] {
        let pacing = Some(WindowPacing { slow_start: 2.0, avoidance: 1.0, max: Rate::INFINITE, restart_at_max: false });
        let transport = changed!(
            plain(),
            output.pacing = pacing,
            windows.initial_window = initial_window,
            rto.rto_initial = Time::s(1)
        );
        let mut bench = bench(transport, "newreno", bulk(0, 1, None));
        bench.open();
        bench.advance(1020 * MS);
        let mut sent = bench.ack(initial_window as u64 * 1000, 1000 * MS, 0, &[]);
        assert_eq!(bench.state("cwnd_bytes"), 2000.0);
        sent.extend(bench.advance(1030 * MS));
        // 1000 B at 2000 B, or twice that, per round trip of 20 ms
        assert_eq!(sent.iter().map(|c| c.at - 1020 * MS).collect::<Vec<_>>(), [0, gap * MS], "{initial_window}");
    }
}

#[test]
fn below_one_packet_a_window_is_a_gap() {
    // Swift at a quarter of a packet: one packet, then rtt / cwnd = 4 round trips of silence, and its own ACK releases
    // nothing earlier
    let transport =
        changed!(htsim(), windows.initial_window = 0.25, rto.rto_initial = Time::s(10), rto.rto_min = Time::s(10));
    let mut spec = wire(Rate::gbps(100), Time::us(10), transport, "swift", bulk(0, 1, Some(400_000)));
    // the window stays: any delay is above the target, and the reduction is always zero
    spec.controllers = vec![controller("swift", &[("max_cwnd", "0.25"), ("min_cwnd", "0.25")])];
    let outcome = compared(&spec);
    let times: Vec<u64> = data_sent(&outcome, "h0").iter().map(|e| e.time_ps).collect();
    assert_eq!(times.len(), 101);
    // an idle round trip: 4000 B and 40 B over two links of 10 us each way
    let rtt = 2 * (320_000 + 10_000_000) + 2 * (3_200 + 10_000_000);
    for pair in times[1..].windows(2) {
        assert_eq!(pair[1] - pair[0], 4 * rtt);
    }
}

#[test]
fn a_rate_of_windows_a_round_trip_spares_the_initial_window() {
    let pacing = Some(WindowPacing { slow_start: 2.0, avoidance: 1.2, max: Rate::INFINITE, restart_at_max: false });
    let transport = changed!(plain(), windows.initial_window = 4.0, output.pacing = pacing);
    let mut bench = bench(transport, "newreno", bulk(0, 1, None));
    let first = bench.open();
    assert_eq!(first.len(), 4, "the initial window leaves at once");
    bench.advance(10 * MS);
    // four ACKs open the window to 8 segments: one leaves with the first, the others are paced
    for n in 1..=4 {
        bench.ack(n * 1000, 0, 0, &[]);
    }
    let paced: Vec<u64> = bench.advance(20 * MS).iter().map(|p| p.packet.sent_at().0).collect();
    assert_eq!(paced.len(), 7);
    // 1000 B at twice 8000 B per round trip of 10 ms
    assert!(paced.windows(2).all(|w| w[1] - w[0] == 10 * MS / 16), "{paced:?}");
}

#[test]
fn a_rate_of_the_controller_spaces_what_it_sends() {
    // DCQCN begins at line rate: 1000 B at 100 Gb/s
    let mut bench = bench(initial_window(100.0), "dcqcn", bulk(0, 1, None));
    let mut sent = bench.open();
    sent.extend(bench.advance(US));
    let gaps: Vec<u64> = sent.windows(2).map(|w| w[1].at - w[0].at).collect();
    assert_eq!(gaps, [80_000; 12]);
}
