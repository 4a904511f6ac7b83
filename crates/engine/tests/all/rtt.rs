//! The RTT estimator and the retransmission timeout: vectors of RFC 6298 and of ns-3's
//! `rtt-estimator` suite, back-off, and a coarse time-stamp clock.

use crate::net::*;
use incast_cc::{Rate, Time};
use incast_engine::spec::*;
use incast_engine::testing::RttEstimator;

const MS: u64 = 1_000_000_000;

/// No floor, no granularity, a first timeout of 1 s.
fn bare() -> TransportSpec {
    TransportSpec { rto_min: Time::ZERO, rto_granularity: Time::ZERO, rto_initial: Time::s(1), ..tcp() }
}

#[test]
fn rfc_6298_by_hand() {
    let mut rtt = RttEstimator::new(&bare());
    assert_eq!(rtt.rto(), 1000 * MS, "before any sample");
    rtt.sample(100 * MS, 0, 0);
    assert_eq!((rtt.srtt, rtt.rttvar, rtt.rto()), (100 * MS, 50 * MS, 300 * MS));
    rtt.sample(200 * MS, 0, 0);
    assert_eq!((rtt.srtt, rtt.rttvar, rtt.rto()), (112_500_000_000, 62_500_000_000, 362_500_000_000));
    assert_eq!((rtt.latest, rtt.min), (200 * MS, Some(100 * MS)));
}

#[test]
fn the_floor_holds() {
    let mut rtt = RttEstimator::new(&TransportSpec { rto_min: Time::s(1), ..bare() });
    rtt.sample(100 * MS, 0, 0);
    assert_eq!(rtt.rto(), 1000 * MS);
    rtt.sample(3000 * MS, 0, 0);
    // srtt 462.5, var .75 * 50 + .25 * 2900 = 762.5
    assert_eq!(rtt.rto(), 462_500_000_000 + 4 * 762_500_000_000);
}

#[test]
fn vectors_of_ns3() {
    let mut rtt = RttEstimator::new(&bare());
    for (sample, srtt, var) in
        [(1000, 1000 * MS, 500 * MS), (1200, 1025 * MS, 425 * MS), (900, 1_009_375_000_000, 350 * MS)]
    {
        rtt.sample(sample * MS, 0, 0);
        assert_eq!((rtt.srtt, rtt.rttvar), (srtt, var), "after {sample} ms");
    }
}

#[test]
fn granularity_bounds_the_variance_term() {
    // RTO = srtt + max(G, 4 rttvar)
    let mut rtt = RttEstimator::new(&TransportSpec { rto_granularity: Time::ms(10), ..bare() });
    for _ in 0..200 {
        rtt.sample(20 * MS, 0, 0);
    }
    assert_eq!((rtt.srtt, rtt.rto()), (20 * MS, 30 * MS));
}

#[test]
fn linux_doubles_whole_ticks() {
    let t = TransportSpec { rto_rule: RtoRule::Linux, rto_min: Time::ms(10), timer_tick: Time::ms(1), ..bare() };
    let mut rtt = RttEstimator::new(&t);
    rtt.sample(MS + MS / 4, 0, 0);
    assert_eq!(rtt.rto(), 12 * MS, "11.25 ms");
    rtt.back_off();
    assert_eq!(rtt.rto(), 24 * MS, "not 22.5");
}

#[test]
fn timeouts_double_up_to_the_ceiling_and_a_sample_ends_it() {
    let mut rtt = RttEstimator::new(&TransportSpec { rto_max: Time::s(60), ..bare() });
    rtt.sample(100 * MS, 0, 0);
    for n in 1..=12u32 {
        rtt.back_off();
        assert_eq!(rtt.rto(), ((300 * MS) << n).min(60_000 * MS), "after {n} timeouts");
    }
    for _ in 0..1000 {
        rtt.back_off();
    }
    assert_eq!(rtt.rto(), 60_000 * MS, "a thousand timeouts overflow nothing");
    rtt.reset_backoff();
    assert_eq!(rtt.rto(), 300 * MS);
}

#[test]
fn a_coarse_clock_reads_at_least_a_microsecond() {
    // 1500 B at 1 Gb/s over two links of 10 us: less than 1 ms, read by a clock of 1 ms
    let exact = wire(Rate::gbps(1), Time::us(10), tcp(), "newreno", bulk(0, 1, Some(100_000)));
    let mut coarse = exact.clone();
    coarse.transports[0].timestamp_clock = Time::ms(1);
    let (exact, coarse) = (judged(&exact), judged(&coarse));
    // there: 2 * (12 us + 10 us), back: 2 * (0.416 us + 10 us); the SYN of 56 B is quicker still
    let syn = 2 * (56 * 8000 + 10_000_000) * 2;
    assert_eq!(exact.flows[0].rtt_min_ps, Some(syn));
    assert_eq!(coarse.flows[0].rtt_min_ps, Some(1_000_000));
    let record = &coarse.flows[0];
    // a sample is one microsecond, or one whole tick where the clock ticked in between
    let ticks = (record.rtt_sum_ps - record.rtt_count * 1_000_000) / (MS - 1_000_000);
    assert_eq!(record.rtt_sum_ps, (record.rtt_count - ticks) * 1_000_000 + ticks * MS);
}
