//! Westwood against hand-computed vectors: the samples of a steady stream, what the filters make of them, what a
//! loss makes of the estimate.

use crate::events::{MSS, ack, assert_close, congestion, env, round, segments, timeout, us};
use incast_cc::bandwidth::{Filter, MinOf, Sampling};
use incast_cc::registry::ParamSet;
use incast_cc::westwood::{AtLoss, Params, Westwood};
use incast_cc::{Ack, Controller, Idle, Phase, Time, Timeout};
use proptest::prelude::*;

fn form(name: &str) -> Params {
    let mut params = Params::default();
    params.set("form", name).unwrap();
    params
}

fn state(cc: &Westwood, wanted: &str) -> f64 {
    let mut found = f64::NAN;
    cc.state(&mut |name, value| {
        if name == wanted {
            found = value;
        }
    });
    found
}

fn bandwidth(cc: &Westwood) -> f64 {
    state(cc, "bandwidth_bps")
}

fn ms(n: f64) -> Time {
    us(n * 1e3)
}

/// An ACK of one segment every 10 ms, 800 kb/s, of which round trips of 100 ms tell.
fn stream(cc: &mut Westwood, acks: u64) {
    for i in 0..acks {
        cc.on_ack(&ack(ms(10.0 * (i + 1) as f64), segments(1), ms(100.0)));
    }
}

#[test]
fn each_ack_is_a_sample() {
    let mut cc = Westwood::new(&Params { filter: Filter::None, ..Params::default() }, &env(MSS, 10.0));
    cc.on_ack(&ack(ms(10.0), segments(1), ms(100.0)));
    assert_eq!(bandwidth(&cc), 0.0, "the first begins the first sample");
    cc.on_ack(&ack(ms(20.0), segments(1), ms(100.0)));
    assert_close(bandwidth(&cc), 800e3);
    cc.on_ack(&ack(ms(25.0), segments(2), ms(100.0)));
    assert_close(bandwidth(&cc), 3.2e6);
    // a duplicate that SACK explains counts, one that says nothing does not
    cc.on_ack(&Ack { acked: 0, ..ack(ms(35.0), segments(1), ms(100.0)) });
    assert_close(bandwidth(&cc), 800e3);
    cc.on_ack(&ack(ms(45.0), 0, ms(100.0)));
    cc.on_ack(&ack(ms(55.0), segments(1), ms(100.0)));
    assert_close(bandwidth(&cc), 400e3);
}

#[test]
fn what_comes_at_one_instant_is_one_sample_with_the_next() {
    let mut cc = Westwood::new(&Params { filter: Filter::None, ..Params::default() }, &env(MSS, 10.0));
    for now in [10.0, 20.0, 20.0, 30.0] {
        cc.on_ack(&ack(ms(now), segments(1), ms(100.0)));
    }
    assert_close(bandwidth(&cc), 1.6e6);
}

#[test]
fn tustin_with_a_constant_coefficient_goes_40_then_116() {
    // ten segments of 1000 B per 100 ms for ever: samples of 800 kb/s
    let params = Params { filter: Filter::Tustin, sampling: Sampling::Rtt, ..Params::default() };
    let mut cc = Westwood::new(&params, &env(MSS, 10.0));
    cc.on_ack(&ack(ms(0.0), 0, ms(100.0)));
    for (now, expected) in [(100.0, 40e3), (200.0, 116e3), (300.0, 184.4e3)] {
        cc.on_ack(&ack(ms(now), segments(10), ms(100.0)));
        assert_close(bandwidth(&cc), expected);
    }
    for i in 4..400 {
        cc.on_ack(&ack(ms(100.0 * f64::from(i)), segments(10), ms(100.0)));
    }
    assert!((bandwidth(&cc) - 800e3).abs() < 1.0, "{}", bandwidth(&cc));
    cc.on_loss(&congestion(ms(4e4), segments(20)));
    assert!((cc.ssthresh() - 10_000.0).abs() < 1.0, "800 kb/s for 100 ms: {}", cc.ssthresh());
}

#[test]
fn tustin_with_the_samples_intervals() {
    // tau 500 ms, intervals of 10 ms: a coefficient of 990/1010
    let mut cc = Westwood::new(&Params::default(), &env(MSS, 10.0));
    stream(&mut cc, 2);
    let first = (1.0 - 99.0 / 101.0) * 400e3;
    assert_close(bandwidth(&cc), first);
    cc.on_ack(&ack(ms(30.0), segments(1), ms(100.0)));
    assert_close(bandwidth(&cc), 99.0 / 101.0 * first + 2.0 / 101.0 * 800e3);
}

#[test]
fn silence_counts_as_samples_of_zero() {
    let quick = Params { tau: ms(20.0), ..Params::default() };
    let mut cc = Westwood::new(&quick, &env(MSS, 10.0));
    stream(&mut cc, 200);
    let before = bandwidth(&cc);
    assert!((before - 800e3).abs() < 1.0);
    // 25 ms: two zeros of tau/2 = 10 ms each (coefficient 30/50), then 8 kb in 25 ms, 5 ms later (35/45)
    cc.on_ack(&ack(ms(2025.0), segments(1), ms(100.0)));
    let zero = 0.6 * before + 0.4 * before / 2.0;
    let zeros = 0.6 * zero;
    assert!((bandwidth(&cc) - (7.0 / 9.0 * zeros + 2.0 / 9.0 * 160e3)).abs() < 1.0, "{}", bandwidth(&cc));
    // an hour leaves nothing
    cc.on_ack(&ack(Time::s(3600), segments(1), ms(100.0)));
    assert!(bandwidth(&cc) < 1e3);
}

#[test]
fn a_loss_bounds_the_window_by_the_bandwidth_for_the_shortest_round_trip() {
    let params = Params { filter: Filter::None, ..Params::default() };
    let after = |window: f64, rtts: [f64; 3]| {
        let mut cc = Westwood::new(&params, &env(MSS, window));
        for (i, rtt) in rtts.iter().enumerate() {
            cc.on_ack(&Ack { cwnd_limited: false, ..ack(ms(10.0 * (i + 1) as f64), segments(1), ms(*rtt)) });
        }
        cc.on_loss(&congestion(ms(30.0), segments(20)));
        (cc.cwnd(), cc.ssthresh())
    };
    assert_eq!(after(20.0, [100.0, 120.0, 150.0]), (10_000.0, 10_000.0));
    assert_eq!(after(20.0, [120.0, 50.0, 150.0]), (5_000.0, 5_000.0));
    assert_eq!(after(4.0, [100.0, 120.0, 150.0]), (4_000.0, 10_000.0), "a smaller window stays");
    assert_eq!(after(20.0, [5.0, 5.0, 5.0]), (2_000.0, 2_000.0), "two segments at least");
}

#[test]
fn what_the_bandwidth_carries_is_a_real_number() {
    let mut cc = Westwood::new(&Params { filter: Filter::None, ..Params::default() }, &env(MSS, 20.0));
    for i in 1..=2 {
        cc.on_ack(&ack(ms(10.0 * f64::from(i)), segments(1), ms(100.003)));
    }
    // 800 kb/s for 100.003 ms
    cc.on_loss(&congestion(ms(30.0), segments(20)));
    assert_close(cc.ssthresh(), 10_000.3);
}

#[test]
fn a_smoothed_round_trip_that_is_not_known_is_not_the_shortest() {
    let mut cc = Westwood::new(&Params { min_of: MinOf::Srtt, ..Params::default() }, &env(MSS, 20.0));
    cc.on_ack(&Ack { srtt: Time::ZERO, ..ack(ms(10.0), segments(1), ms(100.0)) });
    assert!(state(&cc, "min_rtt_s").is_nan());
    cc.on_ack(&Ack { srtt: ms(80.0), ..ack(ms(20.0), segments(1), ms(100.0)) });
    assert_close(state(&cc, "min_rtt_s"), 0.08);
}

#[test]
fn linux_samples_nothing_before_a_round_trip_is_known() {
    let mut cc = Westwood::new(&form("linux"), &env(MSS, 100.0));
    // half a second without a sample of the RTT; then one, and a window of 51 ms
    for now in (0..500).step_by(10) {
        cc.on_ack(&Ack { rtt: None, ..ack(Time::ms(now), segments(1), ms(1.0)) });
        assert_eq!(bandwidth(&cc), 0.0);
    }
    cc.on_ack(&ack(Time::ms(500), segments(1), ms(1.0)));
    assert_eq!(bandwidth(&cc), 0.0);
    cc.on_ack(&ack(Time::ms(501), segments(1), ms(1.0)));
    // 50 segments in 501 ticks, 99 whole bytes a tick
    assert_eq!(bandwidth(&cc), 99.0 * 8000.0);
}

#[test]
fn nothing_known_leaves_two_segments() {
    let mut cc = Westwood::new(&Params::default(), &env(MSS, 10.0));
    cc.on_loss(&congestion(ms(1.0), segments(10)));
    assert_eq!((cc.cwnd(), cc.ssthresh()), (2_000.0, 2_000.0));
    assert!(state(&cc, "min_rtt_s").is_nan());
}

#[test]
fn a_timeout_starts_over_up_to_the_bandwidth() {
    let mut cc = Westwood::new(&Params { filter: Filter::None, ..Params::default() }, &env(MSS, 20.0));
    stream(&mut cc, 3);
    cc.on_timeout(&timeout(ms(500.0), segments(20), 1));
    assert_eq!((cc.cwnd(), cc.ssthresh()), (1_000.0, 10_000.0));
    // the second timeout of the same data takes nothing
    cc.on_timeout(&timeout(ms(1500.0), segments(1), 2));
    assert_eq!(cc.ssthresh(), 10_000.0);
    assert_close(state(&cc, "min_rtt_s"), 0.1);
}

#[test]
fn set_raises_a_window_that_the_bandwidth_allows() {
    let params = Params { filter: Filter::None, at_loss: AtLoss::Set, ..Params::default() };
    let mut cc = Westwood::new(&params, &env(MSS, 4.0));
    for i in 1..=3 {
        cc.on_ack(&Ack { cwnd_limited: false, ..ack(ms(10.0 * f64::from(i)), segments(1), ms(100.0)) });
    }
    cc.on_loss(&congestion(ms(30.0), segments(4)));
    assert_eq!((cc.cwnd(), cc.ssthresh()), (10_000.0, 10_000.0));
}

#[test]
fn the_shortest_round_trip_may_be_the_smoothed_one() {
    let params = Params { filter: Filter::None, min_of: MinOf::Srtt, ..Params::default() };
    let mut cc = Westwood::new(&params, &env(MSS, 20.0));
    for i in 1..=3 {
        cc.on_ack(&Ack { srtt: ms(80.0), ..ack(ms(10.0 * f64::from(i)), segments(1), ms(20.0)) });
    }
    cc.on_ecn(&congestion(ms(30.0), segments(20)));
    assert_eq!(cc.ssthresh(), 8_000.0);
}

#[test]
fn ns3_counts_whole_segments_from_the_start_of_the_run() {
    let mut cc = Westwood::new(&form("ns3"), &env(MSS, 20.0));
    // the first interval begins at 0: 8000 bit in 30 ms are 266,666 whole bit/s, a tenth of half of that 13,333
    cc.on_ack(&ack(ms(30.0), segments(1), ms(100.0)));
    assert_eq!(bandwidth(&cc), 13_333.0);
    // a duplicate counts as a segment, what is short of one waits
    cc.on_ack(&ack(ms(40.0), 0, ms(100.0)));
    let mean = f64::floor((800_000.0 + 266_666.0) / 2.0);
    assert_eq!(bandwidth(&cc), f64::floor(13_333.0 * 0.9) + f64::floor(mean * (1.0 - 0.9)));
}

#[test]
fn ns3_counts_what_lies_beyond_a_timeouts_losses_unless_a_mark_ended_their_repair() {
    let after = |una, phase| {
        let mut cc = Westwood::new(&form("ns3"), &env(MSS, 20.0));
        cc.on_timeout(&Timeout { sent: 10_000, ..timeout(ms(1.0), segments(10), 1) });
        cc.on_ack(&Ack { round: round(una, segments(10)), phase, ..ack(ms(40.0), segments(5), ms(100.0)) });
        bandwidth(&cc)
    };
    // one segment beyond: 200 kb/s, a tenth of half of that; five: 1 Mb/s
    assert_eq!(after(11_000, Phase::Open), f64::floor(100e3 * (1.0 - 0.9)));
    assert_eq!(after(11_000, Phase::Cwr), f64::floor(500e3 * (1.0 - 0.9)));
}

#[test]
fn ns3_35_counts_the_whole_advance_while_it_repairs_and_keeps_real_rates() {
    // five segments covered, four of which SACK had reported: 40 ms from the beginning
    for (name, bits) in [("ns3", 8e3), ("ns3-35", 40e3)] {
        let mut cc = Westwood::new(&form(name), &env(MSS, 20.0));
        cc.on_timeout(&Timeout { sent: 10_000, ..timeout(ms(1.0), segments(10), 1) });
        let repairs = Ack { round: round(5_000, segments(10)), phase: Phase::Loss, ..ack(ms(40.0), 5_000, ms(100.0)) };
        cc.on_ack(&Ack { delivered: 1_000, ..repairs });
        // whole bits per second are rounded down at every step
        let near = |expected: f64| assert!((0.0..3.0).contains(&(expected - bandwidth(&cc) + 1e-6)), "{name}");
        near(bits / 0.04 / 2.0 * (1.0 - 0.9));
        // where nothing is repaired both count what is delivered
        let open = Ack { round: round(15_000, segments(30)), ..ack(ms(80.0), 5_000, ms(100.0)) };
        let before = bandwidth(&cc);
        cc.on_ack(&Ack { delivered: 1_000, ..open });
        let beyond = 5.0 * 8e3 / 0.04; // the ACK that ends the repair: all beyond its losses
        let expected = 0.9 * before + (1.0 - 0.9) * (beyond + bits / 0.04) / 2.0;
        assert!((0.0..3.0).contains(&(expected - bandwidth(&cc) + 1e-6)), "{name}");
    }
    let mut cc = Westwood::new(&form("ns3-35"), &env(MSS, 20.0));
    cc.on_ack(&ack(ms(30.0), segments(1), ms(100.0)));
    assert_close(bandwidth(&cc), 8e3 / 0.03 / 2.0 * (1.0 - 0.9));
}

/// HZ = 1000: a segment of 1448 B each 12.112 us, round trips of 1.3 ms: 119,551 whole bytes a tick.
#[test]
fn linux_samples_more_than_fifty_ticks_and_sets_the_window_when_the_recovery_ends() {
    let mss = 1448;
    let mut cc = Westwood::new(&form("linux"), &env(mss, 150.0));
    let rtt = us(1300.0);
    let per_ack = u64::from(mss);
    let mut now = Time::ms(7);
    let mut first_sample = None;
    while now < Time::ms(200) {
        cc.on_ack(&Ack { cwnd_limited: false, ..ack(now, per_ack, rtt) });
        if bandwidth(&cc) > 0.0 && first_sample.is_none() {
            first_sample = Some(now);
            // what came in the 51 ticks: bytes of the ACKs after the first, before this one
            let bytes = (Time::ms(51).0 / us(12.112).0) * per_ack;
            assert_eq!(bandwidth(&cc), (bytes / 51) as f64 * 8000.0);
        }
        now += us(12.112);
    }
    assert_eq!(first_sample.map(|at| at.0 / Time::ms(1).0), Some(58), "more than 50 ticks after the first ACK");
    assert_eq!(state(&cc, "min_rtt_s"), 0.002, "1.3 ms are two ticks");
    cc.on_loss(&congestion(now, 150 * per_ack));
    assert_eq!(cc.cwnd(), 75.0 * f64::from(mss), "half");
    cc.on_recovered(now, 75 * per_ack);
    // 119.5 kB a tick for two ticks are 165 segments
    assert_eq!((cc.cwnd(), cc.ssthresh()), (165.0 * f64::from(mss), 165.0 * f64::from(mss)));
    // a timeout forgets the shortest round trip
    cc.on_timeout(&timeout(now, 100 * per_ack, 1));
    assert_eq!((cc.cwnd(), cc.ssthresh()), (f64::from(mss), 165.0 * f64::from(mss)));
    assert!(state(&cc, "min_rtt_s").is_nan());
    // one that lowers nothing does not
    cc.on_ack(&ack(now, per_ack, rtt));
    cc.on_ack(&ack(now, per_ack, rtt));
    cc.on_timeout(&timeout(now, 100 * per_ack, 2));
    assert_eq!(state(&cc, "min_rtt_s"), 0.002);
}

#[test]
fn linux_averages_twice_by_eighths() {
    let mut cc = Westwood::new(&form("linux"), &env(MSS, 100.0));
    let mut expect = |windows: &[(u64, f64)]| {
        // an ACK of so many bytes at each millisecond
        for (i, (bytes, expected)) in windows.iter().enumerate() {
            let start = 51 * i as u64;
            for tick in 0..51 {
                cc.on_ack(&Ack { cwnd_limited: false, ..ack(Time::ms(start + tick), *bytes, ms(1.0)) });
            }
            assert_eq!(bandwidth(&cc) / 8000.0, *expected, "window {i}");
        }
    };
    // the first ACK of all is counted nowhere, that of a window's end in the next: 50 ACKs of 51,000 B in 51 ticks,
    // then 50 of 102,000 and one of 51,000 ...
    expect(&[(51_000, 0.0), (102_000, 50_000.0)]);
    // (50,000 of the first window; the second: 102,000 whole, as each of its 51 ACKs says)
    cc.on_ack(&Ack { cwnd_limited: false, ..ack(Time::ms(102), 0, ms(1.0)) });
    let first = f64::floor((7.0 * 50_000.0 + 102_000.0) / 8.0);
    assert_eq!(bandwidth(&cc) / 8000.0, f64::floor((7.0 * 50_000.0 + first) / 8.0));
}

#[test]
fn linux_takes_a_sample_whole_only_where_both_averages_are_nothing() {
    let mut cc = Westwood::new(&form("linux"), &env(MSS, 100.0));
    let mut window = 0;
    let mut end_of_window = |bytes: u64| {
        // what is reported at its beginning, and an empty ACK at its end
        cc.on_ack(&ack(Time::ms(51 * window), 0, ms(1.0)));
        cc.on_ack(&ack(Time::ms(51 * window + 1), bytes, ms(1.0)));
        window += 1;
        cc.on_ack(&ack(Time::ms(51 * window), 0, ms(1.0)));
        bandwidth(&cc) / 8000.0
    };
    assert_eq!(end_of_window(510), 10.0);
    // of nothing the first average goes to 8, 7, 6, 5, 4, 3, 2, 1, 0, the second follows
    for second in [9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0] {
        assert_eq!(end_of_window(0), second);
    }
    // 100 / 8 = 12, (7 1 + 12) / 8 = 2
    assert_eq!(end_of_window(5_100), 2.0);
}

#[test]
fn a_mark_is_no_recovery_of_whole_segments_but_ends_like_one_for_linux() {
    let mut cc = Westwood::new(&form("linux"), &env(MSS, 100.0));
    cc.on_ecn(&congestion(ms(5.0), segments(100)));
    assert_eq!(cc.cwnd(), 50_000.0);
    cc.on_recovered(ms(6.0), segments(50));
    assert_eq!(cc.cwnd(), 2_000.0, "nothing is known of the bandwidth");
}

#[test]
fn a_mistaken_loss_gives_the_window_back() {
    let mut cc = Westwood::new(&Params { filter: Filter::None, ..Params::default() }, &env(MSS, 20.0));
    stream(&mut cc, 3);
    let (cwnd, now) = (cc.cwnd(), ms(30.0));
    cc.on_loss(&congestion(now, segments(20)));
    assert!(cc.cwnd() < cwnd);
    cc.on_undo();
    assert_eq!(cc.cwnd(), cwnd);
    cc.on_idle(&Idle { now, timeouts: 1 });
    assert_eq!(cc.cwnd(), 20_000.0, "and idle times restart from the initial window");
}

proptest! {
    /// The estimate is never more than the largest rate of any interval, whatever the filter.
    #[test]
    fn no_filter_exceeds_what_was_sampled(
        gaps in proptest::collection::vec(1u64..200_000, 1..100), which in 0usize..5, tick_us in 1u64..5000,
    ) {
        let filter = [Filter::Interval, Filter::Tustin, Filter::FirstOrder, Filter::Eighths, Filter::None][which];
        let params = Params { filter, tick: Time::us(tick_us), ..Params::default() };
        let mut cc = Westwood::new(&params, &env(MSS, 10.0));
        let mut now = Time::ZERO;
        cc.on_ack(&ack(now, segments(1), ms(1.0)));
        let mut most = 0f64;
        for gap in gaps {
            now += Time::us(gap);
            most = most.max(8.0 * f64::from(MSS) / (gap as f64 * 1e-6));
            cc.on_ack(&Ack { phase: Phase::Cwr, ..ack(now, segments(1), ms(1.0)) });
            prop_assert!((0.0..=most * (1.0 + 1e-9)).contains(&bandwidth(&cc)), "{} of {most}", bandwidth(&cc));
        }
    }
}
