//! The retransmission timeout: its estimator (RFC 6298), its timer, and its effects.

use super::*;
use incast_engine::testing::{RttEstimator, fires_at};

#[test]
fn a_timeout_goes_back_and_starts_over() {
    for transport in [newreno(20.0), initial_window(20.0)] {
        let (mut bench, _) = sender(transport, "newreno");
        let sent = bench.advance(1000 * MS);
        assert_eq!(segments(&sent), [0], "one segment, at the initial timeout of 1 s");
        assert_eq!(sent[0].at, 1000 * MS);
        assert_eq!((kb(&bench, "cwnd_bytes"), kb(&bench, "ssthresh_bytes")), (1.0, 10.0));
        // slow start through segments that may be lost
        assert_eq!(dup(&mut bench, 1), [-1, -2]);
        assert_eq!(dup(&mut bench, 2), [-3, -4]);
        assert_eq!(kb(&bench, "cwnd_bytes"), 3.0);
        // the receiver had the rest from the start
        assert_eq!(dup(&mut bench, 20), [20, 21, 22, 23]);
    }
}

#[test]
fn after_a_timeout_only_holes_are_sent_again() {
    let (mut bench, _) = sender(initial_window(20.0), "newreno");
    // two SACKs are not enough for fast retransmit
    bench.ack(0, 100 * MS, 0, &[(5000, 7000)]);
    let sent = bench.advance(2000 * MS);
    assert_eq!(segments(&sent)[0], 0);
    let mut sent = Vec::new();
    for n in 1..=5 {
        sent.extend(segments(&bench.ack(n * 1000, 2000 * MS, 0, &[(5000, 7000)])));
    }
    assert_eq!(sent[..8], [-1, -2, -3, -4, -7, -8, -9, -10], "5 and 6 were reported");
}

#[test]
fn timeouts_back_off_and_the_flow_gives_up() {
    let transport = changed!(initial_window(2.0), connection.data_retries = 4, rto.rto_max = Time::s(6));
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
fn from_the_timeout_that_empties_the_window_on_a_flow_is_silent_until_an_ack_comes() {
    let transport = changed!(initial_window(2.0), connection.emptying_timeout = 3, windows.least_segment = false);
    let mut bench = Bench::new(wire(Rate::gbps(100), Time::ms(10), transport, "newreno", bulk(0, 1, None)));
    bench.open();
    let times: Vec<u64> = bench.advance(100_000 * MS).iter().map(|c| c.at / MS).collect();
    assert_eq!(times, [1000, 3000], "the third has no window, and no timer follows it");
    assert_eq!(kb(&bench, "cwnd_bytes"), 0.0);
    // a late ACK: slow start from nothing, and the timer runs again
    assert_eq!(segments(&bench.ack(1000, 0, 0, &[])), [-1]);
    assert_eq!(kb(&bench, "cwnd_bytes"), 1.0);
    // the connection's timeouts count, not consecutive ones
    assert!(bench.advance(200_000 * MS).is_empty());
    assert_eq!(kb(&bench, "cwnd_bytes"), 0.0);
}

#[test]
fn with_a_least_segment_an_emptied_window_still_sends_one_at_each_timeout() {
    let transport = changed!(initial_window(2.0), connection.emptying_timeout = 3, windows.least_segment = true);
    let mut bench = Bench::new(wire(Rate::gbps(100), Time::ms(10), transport, "newreno", bulk(0, 1, None)));
    bench.open();
    let times: Vec<u64> = bench.advance(20_000 * MS).iter().map(|c| c.at / MS).collect();
    assert_eq!(times, [1000, 3000, 7000, 15_000]);
    assert_eq!(kb(&bench, "cwnd_bytes"), 0.0);
}

#[test]
fn the_timeout_has_a_floor() {
    for (floor, rto) in [(Time::ms(200), 200), (Time::ms(1), 60)] {
        let (mut bench, _) = sender(changed!(initial_window(2.0), rto.rto_min = floor), "newreno");
        bench.advance(110 * MS);
        // an RTT of 20 ms: 20 + 4 * 10 = 60 ms without the floor
        bench.ack(1000, 90 * MS, 0, &[]);
        let sent = bench.advance(400 * MS);
        assert_eq!(sent[0].at, (110 + rto) * MS, "floor {floor:?}");
    }
}

#[test]
fn a_new_sample_ends_the_back_off() {
    let transport = changed!(initial_window(1.0), timing.timestamps = false, rto.rto_min = Time::ZERO);
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
    for transport in [initial_window(10.0), newreno(10.0)] {
        let transport = changed!(transport, rto.rto_initial = Time::ms(50), rto.rto_min = Time::ms(50));
        let spec = wire(Rate::mbps(100), Time::ms(25), transport, "newreno", bulk(0, 1, Some(100_000)));
        let outcome = run(&spec);
        let flow = &outcome.flows[0];
        assert_eq!((flow.delivered, flow.dropped, flow.timeouts), (100_000, 0, 1));
        // the segment retransmitted at the timeout, and the go-back over data that ACKs had not covered yet
        assert!((1..=10).contains(&flow.retransmissions), "{}", flow.retransmissions);
        assert_eq!(flow.sent, 100 + flow.retransmissions);
    }
}

#[test]
fn timers_fire_on_slots_of_the_wheel() {
    // (set at, wait, fires at), ms: the next tick after the wait; slots of 8 ticks from 63 ticks on, of 64 from 504 on
    for (now, wait, at) in [
        (0, 10, 11),
        (5, 40, 46),
        (0, 62, 63),
        (0, 63, 64),
        (0, 64, 72),
        (3, 200, 208),
        (0, 503, 504),
        (0, 504, 512),
        (0, 1000, 1024),
        (100, 4032, 4608),
    ] {
        assert_eq!(fires_at(Time::ms(1), Time::ms(now), Time::ms(wait)), Time::ms(at), "set at {now} ms for {wait} ms");
    }
    // fractions of a tick: cut off from the time, rounded up in the wait
    assert_eq!(fires_at(Time::ms(1), Time::us(5500), Time::ms(40) + Time(1)), Time::ms(47));
    assert_eq!(
        fires_at(Time::ZERO, Time(5 * MS + 3), Time::ms(40) + Time(1)),
        Time(45 * MS + 4),
        "exact without a tick"
    );
}

#[test]
fn the_retransmission_timer_fires_on_the_wheel() {
    // the timeout before any sample is 1 s: 1000 ticks, in a slot of 64
    for (timer_tick, at) in [(Time::ms(1), 1024 * MS), (Time::ZERO, 1000 * MS)] {
        let mut bench = sender_at(changed!(linux_prr(1.0), timing.timer_tick = timer_tick), 0);
        assert_eq!(bench.advance(2000 * MS)[0].at, at);
    }
}

/// tcp_rtt_estimator and __tcp_set_rto.
#[test]
fn the_timeout_adds_the_largest_deviation_of_a_round_trip() {
    let spec = changed!(tcp(), timing.rto_rule = RtoRule::Linux, rto.rto_min = Time::ms(200));
    let us = |t: f64| Time((t * 1e6) as u64);
    let mut rtt = RttEstimator::new(&spec);
    // (sample, una, nxt): srtt, mean deviation, timeout; ms
    for (sample, una, nxt, srtt, mdev, rto) in [
        // four deviations of half the RTT are the floor of 200 ms
        (100.0, 1, 10, 100.0, 50.0, 300.0),
        (200.0, 2, 11, 112.5, 62.5, 112.5 + 250.0),
        // below the average it rises an eighth as fast: (92.5 - 62.5) / 4 / 8
        (20.0, 3, 12, 100.9375, 63.4375, 100.9375 + 253.75),
        // a round trip ends: its largest deviation counts, not the latest one
        (100.9375, 11, 20, 100.9375, 47.578125, 100.9375 + 253.75),
        // the next one is smaller: down a quarter of the way to the floor
        (100.9375, 21, 30, 100.9375, 35.68359375, 100.9375 + 240.3125),
    ] {
        rtt.sample(&spec.rto, us(sample * 1e3), una, nxt);
        let expected = (us(srtt * 1e3), us(mdev * 1e3), us(rto * 1e3));
        assert_eq!((rtt.srtt, rtt.rttvar, rtt.rto(&spec)), expected, "after {sample} ms");
    }
    // the floor applies to the deviation: 20 ms give 220, where RFC 6298 has 200
    for (rto_rule, rto) in [(RtoRule::Linux, 220), (RtoRule::Rfc6298, 200)] {
        let t = changed!(spec.clone(), timing.rto_rule = rto_rule);
        let mut rtt = RttEstimator::new(&t);
        rtt.sample(&t.rto, Time::ms(20), 1, 10);
        assert_eq!(rtt.rto(&t), Time::ms(rto));
    }
}

/// tcp_rearm_rto when the first segment is retransmitted.
#[test]
fn a_repair_of_the_first_segment_restarts_the_timer() {
    for (recovery, at) in [(Recovery::Linux, 1100), (Recovery::Prr, 1000)] {
        let mut bench = sender_at(changed!(linux_prr(20.0), loss.recovery = recovery), 100 * MS);
        assert!((2..=4).flat_map(|n| ack_after_100_ms(&mut bench, 0, &[(1, n)])).any(|n| n == 0));
        assert_eq!(bench.advance(2000 * MS)[0].at, at * MS);
    }
}

#[test]
fn a_dead_path_ends_a_flow_after_its_retries() {
    let transport =
        changed!(plain(), connection.data_retries = 3, rto.rto_initial = Time::ms(100), rto.rto_min = Time::ms(100));
    let mut spec = wire(Rate::gbps(1), Time::us(10), transport, "newreno", bulk(0, 1, Some(100_000)));
    spec.links[3].loss = Loss::Packet(1.0);
    let outcome = run(&spec);
    let flow = &outcome.flows[0];
    // the fourth timeout in a row ends it; the ten segments of the first flight and three copies
    assert_eq!((flow.finish_ps, flow.timeouts, flow.retransmissions, flow.sent), (None, 4, 3, 13));
    assert_eq!((flow.dropped, flow.delivered), (13, 0));
}

/// No minimum, no granularity, a first timeout of 1 s.
fn bare() -> TransportSpec {
    changed!(tcp(), rto.rto_min = Time::ZERO, rto.rto_granularity = Time::ZERO, rto.rto_initial = Time::s(1))
}

#[test]
fn rfc_6298_by_hand() {
    let t = bare();
    let mut rtt = RttEstimator::new(&t);
    assert_eq!(rtt.rto(&t), Time::ms(1000), "before any sample");
    rtt.sample(&t.rto, Time::ms(100), 0, 0);
    assert_eq!((rtt.srtt, rtt.rttvar, rtt.rto(&t)), (Time::ms(100), Time::ms(50), Time::ms(300)));
    rtt.sample(&t.rto, Time::ms(200), 0, 0);
    assert_eq!((rtt.srtt, rtt.rttvar, rtt.rto(&t)), (Time::us(112_500), Time::us(62_500), Time::us(362_500)));
    assert_eq!((rtt.latest, rtt.min()), (Time::ms(200), Some(Time::ms(100))));
}

#[test]
fn the_floor_holds() {
    let t = changed!(bare(), rto.rto_min = Time::s(1));
    let mut rtt = RttEstimator::new(&t);
    rtt.sample(&t.rto, Time::ms(100), 0, 0);
    assert_eq!(rtt.rto(&t), Time::ms(1000));
    rtt.sample(&t.rto, Time::ms(3000), 0, 0);
    // srtt 462.5, var .75 * 50 + .25 * 2900 = 762.5
    assert_eq!(rtt.rto(&t), Time::us(462_500 + 4 * 762_500));
}

#[test]
fn vectors_of_ns3() {
    let t = bare();
    let mut rtt = RttEstimator::new(&t);
    for (sample, srtt, var) in [(1000, 1_000_000, 500_000), (1200, 1_025_000, 425_000), (900, 1_009_375, 350_000)] {
        rtt.sample(&t.rto, Time::ms(sample), 0, 0);
        assert_eq!((rtt.srtt, rtt.rttvar), (Time::us(srtt), Time::us(var)), "after {sample} ms");
    }
}

#[test]
fn granularity_bounds_the_variance_term() {
    // RTO = srtt + max(G, 4 rttvar)
    let t = changed!(bare(), rto.rto_granularity = Time::ms(10));
    let mut rtt = RttEstimator::new(&t);
    for _ in 0..200 {
        rtt.sample(&t.rto, Time::ms(20), 0, 0);
    }
    assert_eq!((rtt.srtt, rtt.rto(&t)), (Time::ms(20), Time::ms(30)));
}

#[test]
fn linux_doubles_whole_ticks() {
    let t =
        changed!(bare(), timing.rto_rule = RtoRule::Linux, rto.rto_min = Time::ms(10), timing.timer_tick = Time::ms(1));
    let mut rtt = RttEstimator::new(&t);
    rtt.sample(&t.rto, Time::us(1250), 0, 0);
    assert_eq!(rtt.rto(&t), Time::ms(12), "11.25 ms");
    rtt.back_off();
    assert_eq!(rtt.rto(&t), Time::ms(24), "not 22.5");
}

#[test]
fn timeouts_double_up_to_the_ceiling_and_a_sample_ends_it() {
    let t = changed!(bare(), rto.rto_max = Time::s(60));
    let mut rtt = RttEstimator::new(&t);
    rtt.sample(&t.rto, Time::ms(100), 0, 0);
    for n in 1..=12u32 {
        rtt.back_off();
        assert_eq!(rtt.rto(&t), Time(((300 * MS) << n).min(60_000 * MS)), "after {n} timeouts");
    }
    for _ in 0..1000 {
        rtt.back_off();
    }
    assert_eq!(rtt.rto(&t), Time::ms(60_000), "a thousand timeouts overflow nothing");
    rtt.reset_backoff();
    assert_eq!(rtt.rto(&t), Time::ms(300));
}

#[test]
fn a_coarse_clock_reads_at_least_a_microsecond() {
    // 1500 B at 1 Gb/s over two links of 10 us: less than 1 ms, read by a clock of 1 ms
    let exact = wire(Rate::gbps(1), Time::us(10), tcp(), "newreno", bulk(0, 1, Some(100_000)));
    let mut coarse = exact.clone();
    coarse.transports[0].timing.timestamp_clock = Time::ms(1);
    let (exact, coarse) = (run(&exact), run(&coarse));
    // there: 2 * (12 us + 10 us), back: 2 * (0.416 us + 10 us); the SYN of 56 B is quicker still
    let syn = 2 * (56 * 8000 + 10_000_000) * 2;
    assert_eq!(exact.flows[0].rtt_min_ps, Some(syn));
    assert_eq!(coarse.flows[0].rtt_min_ps, Some(1_000_000));
    let record = &coarse.flows[0];
    // a sample is one microsecond, or a whole tick if the clock ticked in between
    let ticks = (record.rtt_sum_ps - record.rtt_count * 1_000_000) / (MS - 1_000_000);
    assert_eq!(record.rtt_sum_ps, (record.rtt_count - ticks) * 1_000_000 + ticks * MS);
}
