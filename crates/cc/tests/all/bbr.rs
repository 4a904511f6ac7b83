//! BBR against hand-computed steps of its model, its modes and its targets: 1000 B packets, an RTT of
//! 100 us, and delivery rates in bytes over round trips.

use crate::events::{MSS, ack, assert_close, congestion, env, segments, timeout, us};
use incast_cc::bbr::{Bbr, KIND, Params};
use incast_cc::{Ack, Bytes, Config, Controller, Delivery, Env, Pacing, Phase, Time};

fn state(cc: &Bbr, wanted: &str) -> f64 {
    let mut found = None;
    cc.state(&mut |name, value| {
        if name == wanted {
            found = Some(value);
        }
    });
    found.expect("a declared state variable")
}

fn rate(cc: &Bbr) -> f64 {
    let Pacing::Rate(rate) = cc.pacing() else { panic!("BBR paces") };
    rate
}

/// A path that delivers a number of packets in 100 us, one round trip after another.
struct Path {
    cc: Bbr,
    now: f64,
    total: u64,
}

impl Path {
    fn new(params: &Params) -> Path {
        Path { cc: Bbr::new(params, &env(MSS, 10.0)), now: 0.0, total: 0 }
    }

    /// A sample of `packets` in 100 us, the first of a round trip.
    fn sample(&mut self, packets: u64, app_limited: bool) {
        let prior = self.total;
        self.total += segments(packets);
        self.cc.on_delivery(&Delivery {
            delivered: Bytes(segments(packets)),
            interval: us(100.0),
            prior,
            total: self.total,
            app_limited,
        });
    }

    /// A round trip that delivers `packets`, reported by one ACK, with `in_flight` before it.
    fn round(&mut self, packets: u64, in_flight: u64) {
        self.now += 100.0;
        self.sample(packets, false);
        self.acks(packets, in_flight, 100.0);
    }

    /// An ACK for `packets` after a round trip of `rtt`, with `in_flight` before it.
    fn acks(&mut self, packets: u64, in_flight: u64, rtt: f64) {
        self.cc.on_ack(&Ack { in_flight: segments(in_flight), ..ack(us(self.now), segments(packets), us(rtt)) });
    }

    fn mode(&self) -> f64 {
        state(&self.cc, "mode")
    }

    fn gain(&self) -> f64 {
        state(&self.cc, "pacing_gain")
    }

    /// Runs to the phase of PROBE_BW that probes.
    fn raised() -> Path {
        let mut path = Path::probing();
        for _ in 0..9 {
            if path.gain() == 1.25 {
                return path;
            }
            path.now += 1.0;
            path.round(100, 200);
        }
        panic!("no probe in eight phases");
    }

    /// Runs to PROBE_BW: four round trips at 100 packets, and one with little in flight.
    fn probing() -> Path {
        let mut path = Path::new(&Params::default());
        (0..4).for_each(|_| path.round(100, 300));
        path.round(100, 150);
        assert_eq!(state(&path.cc, "mode"), 2.0);
        path
    }
}

#[test]
fn a_flow_starts_at_two_over_ln_two_times_its_initial_window_in_a_millisecond() {
    let cc = Bbr::new(&Params::default(), &env(MSS, 10.0));
    assert_close(rate(&cc), 2.885 * 80_000.0 / 1e-3);
    assert_eq!((cc.cwnd(), state(&cc, "bandwidth_bps")), (10_000.0, 0.0));
    // the first smoothed RTT replaces the initial millisecond
    let mut cc = cc;
    cc.on_ack(&ack(us(100.0), 0, us(100.0)));
    assert_close(rate(&cc), 2.885 * 80_000.0 / 100e-6);
}

#[test]
fn startup_ends_when_three_rounds_brought_less_than_a_quarter_more() {
    let mut path = Path::new(&Params::default());
    for packets in [10, 20, 40, 80] {
        path.round(packets, 2 * packets);
        assert_eq!(state(&path.cc, "mode"), 0.0);
        assert_close(state(&path.cc, "bandwidth_bps"), packets as f64 * 80e6);
    }
    assert_close(rate(&path.cc), 2.885 * 0.99 * 6.4e9);
    // 99 is less than 1.25 80
    for mode in [0.0, 0.0, 1.0] {
        path.round(99, 400);
        assert_eq!(state(&path.cc, "mode"), mode);
    }
    assert_close(rate(&path.cc), 0.99 * 7.92e9 / 2.885);
    // drained when one bandwidth-delay product, 99 packets, is left in flight
    path.round(99, 199);
    assert_eq!(state(&path.cc, "mode"), 1.0);
    path.round(99, 198);
    assert_eq!(state(&path.cc, "mode"), 2.0);
}

#[test]
fn probe_bw_goes_through_eight_phases_of_a_round_trip_and_keeps_two_products_in_flight() {
    let mut path = Path::probing();
    let mut gains = Vec::new();
    for _ in 0..40 {
        path.now += 1.0;
        path.round(100, 200);
        gains.push(state(&path.cc, "pacing_gain"));
        assert_close(rate(&path.cc), gains[gains.len() - 1] * 0.99 * 8e9);
    }
    let first = gains.iter().position(|gain| *gain == 1.25).expect("a probe");
    assert_eq!(gains[first..first + 9], [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.25]);
    assert_close(path.cc.cwnd(), 200_000.0);
}

#[test]
fn the_largest_rate_of_ten_rounds_counts() {
    let mut path = Path::probing();
    path.round(120, 200);
    for _ in 0..10 {
        path.round(90, 200);
        assert_close(state(&path.cc, "bandwidth_bps"), 9.6e9);
    }
    path.round(90, 200);
    assert_close(state(&path.cc, "bandwidth_bps"), 7.2e9);
}

#[test]
fn a_rate_that_the_application_limited_counts_only_where_it_is_the_largest() {
    let mut path = Path::probing();
    for (packets, bandwidth) in [(10, 8e9), (110, 8.8e9)] {
        path.sample(packets, true);
        assert_close(state(&path.cc, "bandwidth_bps"), bandwidth);
    }
    // what took no time is no rate
    path.cc.on_delivery(&Delivery {
        delivered: Bytes(1_000),
        interval: Time::ZERO,
        prior: path.total,
        total: path.total + 1_000,
        app_limited: false,
    });
    assert_close(state(&path.cc, "bandwidth_bps"), 8.8e9);
}

/// Largest rate after each round trip, in packets. A round trip of rate 0 is one limited by the application.
fn largest(bw_rounds: u32, rates: &[u64]) -> Vec<u64> {
    let mut path = Path::new(&Params { bw_rounds, ..Params::default() });
    let after = |rate: &u64| {
        path.sample((*rate).max(1), *rate == 0);
        (state(&path.cc, "bandwidth_bps") / 80e6).round() as u64
    };
    rates.iter().map(after).collect()
}

/// Repeats each value the given number of times.
fn runs(runs: &[(u64, usize)]) -> Vec<u64> {
    runs.iter().flat_map(|&(value, times)| std::iter::repeat_n(value, times)).collect()
}

// The filter is Linux' (lib/win_minmax.c, after Kathleen Nichols): it keeps the best three, each later than the one
// before.

#[test]
fn the_second_and_third_largest_rate_take_over_when_their_turn_comes() {
    // 100 of round 1 counts to round 11, 90 of round 5 to round 15, 75 of round 8 to round 18
    let rates = runs(&[(100, 1), (80, 3), (90, 1), (70, 2), (75, 1), (60, 11)]);
    assert_eq!(largest(10, &rates), runs(&[(100, 11), (90, 4), (75, 3), (60, 1)]));
    // a value as large as the largest is the new largest, for ten rounds more
    let rates = runs(&[(100, 1), (60, 4), (100, 1), (50, 12)]);
    assert_eq!(largest(10, &rates), runs(&[(100, 16), (50, 2)]));
}

#[test]
fn a_second_is_sought_after_a_quarter_of_the_window_and_a_third_after_half() {
    // 90 is two rounds after the largest, a quarter of ten rounded down, and forgotten; 50, 47 and 42 are of rounds 4,
    // 7 and 12
    let rates: Vec<u64> = [100, 60, 90].into_iter().chain((36..=50).rev()).collect();
    assert_eq!(largest(10, &rates), runs(&[(100, 11), (50, 3), (47, 3), (42, 1)]));
    // 85 is five rounds after the largest, not more than half: the third is the 40 of round 7
    let rates: Vec<u64> = [100, 60, 60, 90, 50, 85].into_iter().chain((32..=40).rev()).collect();
    assert_eq!(largest(10, &rates), runs(&[(100, 11), (90, 3), (40, 1)]));
    // of eight rounds a quarter is two and a half four: 59 of round 4 and 57 of round 6
    let rates: Vec<u64> = [100, 90].into_iter().chain((50..=60).rev()).collect();
    assert_eq!(largest(8, &rates), runs(&[(100, 9), (59, 3), (57, 1)]));
}

#[test]
fn rates_age_while_the_application_limits_sending() {
    // ten rounds later the largest still counts, eleven rounds later nothing does that was before
    for (limited, after) in [(9, 100), (10, 50)] {
        assert_eq!(largest(10, &runs(&[(100, 1), (0, limited), (50, 1)])).last(), Some(&after));
    }
    // 100, 90 and 40 of rounds 1, 4 and 7: in round 14 the second counts, in round 16 it is too old too
    for (limited, after) in [(6, 90), (8, 40)] {
        let rates = [vec![100, 60, 60, 90, 50, 45, 40], vec![0; limited], vec![30]].concat();
        assert_eq!(largest(10, &rates).last(), Some(&after));
    }
}

#[test]
fn a_round_trip_ends_with_an_ack_for_what_was_sent_after_it_began() {
    // a flow that finds no more: STARTUP ends with the third such round trip
    let ended = |prior: &[u64]| {
        let mut path = Path::new(&Params::default());
        path.round(100, 300);
        for &prior in prior {
            path.cc.on_delivery(&Delivery {
                delivered: Bytes(100_000),
                interval: us(100.0),
                prior,
                total: path.total + 1,
                app_limited: false,
            });
        }
        path.acks(1, 300, 100.0);
        path.mode() == 1.0
    };
    assert!(!ended(&[99_999; 5]), "all sent in the first round trip");
    assert!(!ended(&[100_000; 5]), "the second, which lasts until 100001");
    assert!(!ended(&[100_000, 100_001]));
    assert!(ended(&[100_000, 100_001, 100_001]));
}

#[test]
fn a_quarter_more_is_growth_and_limited_round_trips_prove_nothing() {
    let play = |rounds: &[(u64, bool)]| {
        let mut path = Path::new(&Params::default());
        for &(packets, limited) in rounds {
            path.sample(packets, limited);
            path.acks(packets, 1000, 100.0);
        }
        path.mode()
    };
    // 64 packets, twice no more, and 80 are just a quarter more: the count begins anew
    let start = [(64, false), (64, false), (64, false), (80, false)];
    assert_eq!(play(&[&start[..], &[(80, false); 2]].concat()), 0.0);
    assert_eq!(play(&[&start[..], &[(80, false); 3]].concat()), 1.0);
    // 79 are less than that
    assert_eq!(play(&[&start[..3], &[(79, false)]].concat()), 1.0);
    assert_eq!(play(&[(64, false), (64, true), (64, true), (64, true), (64, true)]), 0.0);
}

#[test]
fn drain_paces_at_the_inverse_of_startups_gain_under_startups_window() {
    let mut path = Path::new(&Params::default());
    (0..4).for_each(|_| path.round(100, 400));
    assert_eq!(path.mode(), 1.0);
    assert_close(path.gain(), 1.0 / 2.885);
    // 10 + 3 100 packets were acknowledged in STARTUP, 2.885 100 is the bound
    assert_close(path.cc.cwnd(), 288_500.0);
    (0..3).for_each(|_| path.round(100, 400));
    assert_close(path.cc.cwnd(), 288_500.0);
}

#[test]
fn a_phase_lasts_longer_than_rtprop() {
    let mut path = Path::raised();
    // rounds of exactly rtprop: two of them are longer
    let gains: Vec<f64> = (0..8)
        .map(|_| {
            path.round(100, 200);
            path.gain()
        })
        .collect();
    assert_eq!(gains, [1.25, 0.75, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0]);
}

#[test]
fn a_probe_goes_on_until_it_has_filled_the_path_or_lost() {
    // 1.25 products are 125 packets in flight
    let mut path = Path::raised();
    for _ in 0..5 {
        path.now += 1.0;
        path.round(100, 124);
        assert_eq!(path.gain(), 1.25);
    }
    path.round(100, 125);
    assert_eq!(path.gain(), 0.75);
    let mut path = Path::raised();
    path.cc.on_loss(&congestion(us(path.now), segments(100)));
    path.now += 50.0;
    path.acks(1, 100, 100.0);
    assert_eq!(path.gain(), 1.25, "not before a round trip has passed");
    path.cc.on_loss(&congestion(us(path.now), segments(100)));
    path.now += 50.1;
    path.acks(1, 100, 100.0);
    assert_eq!(path.gain(), 0.75);
}

#[test]
fn the_phase_that_drains_ends_as_soon_as_one_product_is_in_flight() {
    let mut path = Path::raised();
    path.now += 1.0;
    path.round(100, 200);
    assert_eq!(path.gain(), 0.75);
    for (in_flight, gain) in [(101, 0.75), (100, 1.0)] {
        path.now += 1.0;
        path.acks(1, in_flight, 100.0);
        assert_eq!(path.gain(), gain, "{in_flight}");
    }
}

#[test]
fn the_smallest_rtt_is_found_and_kept_for_ten_seconds() {
    let mut path = Path::probing();
    let rtprop = |path: &mut Path, at: f64, rtt: f64| {
        path.now = at;
        path.acks(1, 200, rtt);
        state(&path.cc, "rtprop_s") * 1e6
    };
    assert!(state(&Bbr::new(&Params::default(), &env(MSS, 10.0)), "rtprop_s").is_nan());
    assert_close(rtprop(&mut path, 1_000.0, 120.0), 100.0);
    assert_close(rtprop(&mut path, 2_000.0, 90.0), 90.0);
    // as small as the smallest is as good: its ten seconds begin anew
    assert_close(rtprop(&mut path, 1_000_000.0, 90.0), 90.0);
    assert_close(rtprop(&mut path, 11_000_000.0, 95.0), 90.0);
    assert_eq!(path.mode(), 2.0, "ten seconds are not more than ten seconds");
    assert_close(rtprop(&mut path, 11_000_000.1, 95.0), 95.0);
    assert_eq!((path.mode(), path.gain()), (3.0, 1.0));
}

#[test]
fn probe_rtt_lasts_from_four_packets_in_flight_for_its_time_and_a_round_trip() {
    let mut path = Path::raised();
    let window = path.cc.cwnd();
    let begin = path.now + 10_000_001.0;
    path.now = begin;
    path.acks(1, 200, 100.0);
    assert_eq!((path.mode(), path.cc.cwnd()), (3.0, 4_000.0));
    // five packets are left, then four
    path.now += 50.0;
    path.acks(1, 6, 100.0);
    let from = path.now + 50.0;
    path.now = from;
    path.acks(1, 5, 100.0);
    // a round trip passes, but not the time; the time passes
    path.now = from + 100_000.0;
    path.round(4, 8);
    for (after, mode) in [(200_000.0, 3.0), (200_000.1, 2.0)] {
        path.now = from + after;
        path.acks(1, 5, 100.0);
        assert_eq!(path.mode(), mode);
    }
    assert_eq!(path.cc.cwnd(), window);
    // for the next ten seconds rtprop is fresh
    path.now = from + 10_200_000.1;
    path.acks(1, 200, 110.0);
    assert_eq!(path.mode(), 2.0);
    path.now += 0.1;
    path.acks(1, 200, 110.0);
    assert_eq!(path.mode(), 3.0);
    // the time passes, but no round trip
    path.acks(1, 5, 110.0);
    path.now += 300_000.0;
    path.acks(1, 5, 110.0);
    assert_eq!(path.mode(), 3.0);
    path.sample(4, false);
    path.acks(4, 8, 110.0);
    assert_eq!(path.mode(), 2.0);
}

#[test]
fn a_flow_that_had_not_filled_the_path_goes_back_to_startup() {
    let mut path = Path::new(&Params { probe_rtt: us(0.0), ..Params::default() });
    path.round(10, 20);
    path.now += 10_000_001.0;
    path.round(20, 24);
    assert_eq!((path.mode(), path.cc.cwnd()), (3.0, 4_000.0));
    path.round(4, 8);
    assert_eq!(path.mode(), 0.0);
    assert_close(path.gain(), 2.885);
    // 20 packets as before it, and the four acknowledged now
    assert_close(path.cc.cwnd(), 24_000.0);
}

#[test]
fn the_pacing_rate_only_rises_until_the_path_is_full_and_is_never_nothing() {
    let mut path = Path::new(&Params { bw_rounds: 1, ..Params::default() });
    // without a smoothed RTT the guess is not zero
    let guess = rate(&path.cc);
    path.cc.on_ack(&Ack { rtt: None, srtt: Time::ZERO, ..ack(us(0.0), 0, us(100.0)) });
    assert_eq!(rate(&path.cc), guess);
    path.acks(1, 10, 100.0);
    let first = rate(&path.cc);
    assert_close(first, 2.885 * 80_000.0 / 100e-6);
    // nine packets a round trip are less than the ten it began with, eleven are more
    path.round(9, 30);
    assert_close(rate(&path.cc), first);
    path.round(11, 30);
    assert_close(rate(&path.cc), 2.885 * 0.99 * 11.0 * 80e6);
    // only the first smoothed RTT is a guess of the path's
    path.now += 1.0;
    path.acks(0, 10, 10.0);
    assert_close(rate(&path.cc), 2.885 * 0.99 * 11.0 * 80e6);
    (0..3).for_each(|_| path.round(11, 300));
    assert_eq!(path.mode(), 1.0);
    assert_close(rate(&path.cc), 0.99 * 11.0 * 80e6 / 2.885);
    (0..5).for_each(|_| path.round(5, 300));
    assert_close(rate(&path.cc), 0.99 * 5.0 * 80e6 / 2.885);
    (0..20).for_each(|_| path.round(0, 300));
    assert!(rate(&path.cc) > 0.0);
}

#[test]
fn in_startup_the_window_grows_by_what_is_acknowledged_up_to_its_gain() {
    let mut path = Path::new(&Params::default());
    // one packet in 100 us: the bound, 2.885 packets, is below the window, but until as much as the initial window has
    // been delivered it grows; all in the first round trip
    for n in 1..=12 {
        path.total += segments(1);
        path.cc.on_delivery(&Delivery {
            delivered: Bytes(segments(1)),
            interval: us(100.0),
            prior: 0,
            total: path.total,
            app_limited: false,
        });
        path.now += 100.0;
        path.acks(1, 10, 100.0);
        assert_close(path.cc.cwnd(), 10_000.0 + 1_000.0 * f64::from(n.min(9)));
    }
    // ten packets: the bound is 28.85 packets, and the ACK that crosses it counts whole
    path.round(10, 20);
    assert_close(path.cc.cwnd(), 29_000.0);
    path.round(10, 20);
    assert_close(path.cc.cwnd(), 29_000.0);
    // an ACK for nothing
    path.acks(0, 20, 100.0);
    assert_close(path.cc.cwnd(), 29_000.0);
}

#[test]
fn in_startup_a_window_at_its_bound_stays() {
    // twice ten packets
    let mut path = Path::new(&Params { high_gain: 2.0, ..Params::default() });
    for _ in 0..2 {
        path.round(10, 20);
        assert_eq!(path.cc.cwnd(), 20_000.0);
    }
}

#[test]
fn the_window_goes_to_its_target_and_not_below_four_packets() {
    let mut path = Path::probing();
    (0..10).for_each(|_| path.round(100, 200));
    assert_close(path.cc.cwnd(), 200_000.0);
    // half the RTT: half the product, at once
    path.now += 1.0;
    path.acks(1, 200, 50.0);
    assert_close(path.cc.cwnd(), 100_000.0);
    // and a packet for a packet upwards
    path.sample(110, false);
    path.acks(1, 200, 50.0);
    assert_close(path.cc.cwnd(), 101_000.0);
    path.now += 1.0;
    path.acks(1, 200, 1.0);
    assert_eq!(path.cc.cwnd(), 4_000.0);
}

#[test]
fn only_the_first_loss_of_a_round_trip_bounds_the_window() {
    let mut path = Path::probing();
    (0..10).for_each(|_| path.round(100, 200));
    let lose = |path: &mut Path, in_flight| {
        path.cc.on_loss(&congestion(us(path.now), segments(in_flight)));
        path.cc.cwnd()
    };
    assert_eq!(lose(&mut path, 250), 200_000.0, "a loss does not raise it");
    path.round(100, 200);
    assert_eq!(lose(&mut path, 150), 150_000.0);
    assert_eq!(lose(&mut path, 100), 150_000.0);
    // what is in flight and acknowledged may be sent again: 170 packets before the ACK, of the round trip still
    path.now += 10.0;
    path.acks(1, 170, 100.0);
    assert_eq!(path.cc.cwnd(), 170_000.0);
    // a sample of the same round trip changes nothing, one of the next brings the window back
    path.cc.on_delivery(&Delivery {
        delivered: Bytes(10_000),
        interval: us(100.0),
        prior: path.total - 1,
        total: path.total,
        app_limited: false,
    });
    path.acks(1, 150, 100.0);
    assert_eq!(path.cc.cwnd(), 170_000.0);
    path.round(100, 100);
    assert_close(path.cc.cwnd(), 200_000.0);
    assert_eq!(lose(&mut path, 2), 4_000.0);
    // nor is there a bound to find while four packets probe the round trip
    path.now += 10_000_100.0;
    path.round(100, 150);
    assert_eq!((path.mode(), lose(&mut path, 3)), (3.0, 4_000.0));
}

#[test]
fn a_window_is_not_brought_back_above_its_target() {
    let mut path = Path::probing();
    (0..10).for_each(|_| path.round(100, 200));
    path.cc.on_timeout(&timeout(us(path.now), segments(150), 1));
    path.cc.on_timeout(&timeout(us(path.now), segments(150), 2));
    // an ACK for nothing leaves the one packet
    path.acks(0, 20, 100.0);
    assert_eq!(path.cc.cwnd(), 1_000.0);
    // meanwhile the path has become shorter: twice 50 packets
    path.acks(1, 20, 50.0);
    assert_close(path.cc.cwnd(), 100_000.0);
    // before that a probe of the round trip does not bring it back either
    let mut path = Path::probing();
    (0..10).for_each(|_| path.round(100, 200));
    path.cc.on_timeout(&timeout(us(path.now), segments(150), 1));
    path.now += 10_000_100.0;
    path.acks(1, 20, 100.0);
    assert_eq!((path.mode(), path.cc.cwnd()), (3.0, 4_000.0));
}

#[test]
fn a_timeout_in_startup_asks_anew_whether_the_path_is_full() {
    let mut path = Path::new(&Params::default());
    (0..3).for_each(|_| path.round(100, 1000));
    path.cc.on_timeout(&timeout(us(path.now), segments(150), 1));
    // two of three round trips had brought nothing more; now the rate counts as new, and three more are to come
    (0..3).for_each(|_| path.round(100, 1000));
    assert_eq!(path.mode(), 0.0);
    path.round(100, 1000);
    assert_eq!(path.mode(), 1.0);
}

#[test]
fn losses_are_its_own_and_delivery_is_sampled() {
    let asked = KIND.profile;
    assert!(asked.own_recovery && asked.delivery);
    // version 1 ignores marks
    let mut path = Path::probing();
    let window = path.cc.cwnd();
    path.cc.on_ecn(&congestion(us(path.now), segments(10)));
    assert_eq!(path.cc.cwnd(), window);
}

#[test]
fn an_old_rtprop_is_measured_anew_with_four_packets_in_flight() {
    let mut path = Path::probing();
    let window = path.cc.cwnd();
    path.now += 10_000_100.0;
    path.round(100, 200);
    assert_eq!((state(&path.cc, "mode"), path.cc.cwnd()), (3.0, 4_000.0));
    // what is in flight falls to four packets, and stays there for 200 ms and a round trip
    path.round(4, 8);
    path.now += 199_000.0;
    path.round(4, 8);
    assert_eq!((state(&path.cc, "mode"), path.cc.cwnd()), (3.0, 4_000.0));
    path.now += 1_100.0;
    path.round(4, 8);
    assert_eq!(state(&path.cc, "mode"), 2.0);
    assert!(path.cc.cwnd() >= window);
}

#[test]
fn a_loss_bounds_the_window_by_the_flight_for_a_round_and_a_timeout_leaves_a_packet() {
    let mut path = Path::probing();
    (0..10).for_each(|_| path.round(100, 200));
    assert_close(path.cc.cwnd(), 200_000.0);
    path.cc.on_loss(&congestion(us(path.now), segments(150)));
    assert_eq!(path.cc.cwnd(), 150_000.0);
    path.round(100, 100);
    assert_close(path.cc.cwnd(), 200_000.0);
    path.cc.on_timeout(&timeout(us(path.now), segments(150), 1));
    assert_eq!(path.cc.cwnd(), 1_000.0);
    // what was lost is sent again under a window that grows by what arrives, from four packets up
    let acked = |path: &mut Path, phase| {
        let now = us(path.now);
        path.cc.on_ack(&Ack { phase, in_flight: segments(2), ..ack(now, segments(1), us(100.0)) });
        path.cc.cwnd()
    };
    assert_eq!([(); 3].map(|()| acked(&mut path, Phase::Loss)), [4_000.0, 5_000.0, 6_000.0]);
    // and with the last of it the window is what it was
    assert_close(acked(&mut path, Phase::Open), 200_000.0);
}

#[test]
fn a_long_probe_of_the_round_trip_leaves_the_bandwidth_alone() {
    let mut path = Path::probing();
    path.now += 10_000_100.0;
    path.round(100, 200);
    // 200 ms are 2000 round trips of four packets, far more than the ten whose largest rate counts
    let rounds = (0..3000).take_while(|_| {
        path.round(4, 8);
        assert_close(state(&path.cc, "bandwidth_bps"), 8e9);
        state(&path.cc, "mode") == 3.0
    });
    assert_eq!(rounds.count(), 2_001, "the first of them begins the 200 ms, and they are to be exceeded");
    // the packets sent before its end tell no more than they, those sent from then on do
    let end = path.total;
    for (prior, bandwidth) in [(end - 1, 8e9), (end, 3.2e8)] {
        path.total += segments(4);
        path.cc.on_delivery(&Delivery {
            delivered: Bytes(segments(4)),
            interval: us(100.0),
            prior,
            total: path.total,
            app_limited: false,
        });
        assert_close(state(&path.cc, "bandwidth_bps"), bandwidth);
    }
    assert_close(path.cc.cwnd(), 200_000.0);
}

#[test]
fn flows_that_begin_to_probe_at_one_instant_are_in_different_phases() {
    let first = |flow: u32| {
        let mut path = Path { cc: Bbr::new(&Params::default(), &Env { flow, ..env(MSS, 10.0) }), now: 0.0, total: 0 };
        (0..4).for_each(|_| path.round(100, 300));
        path.round(100, 150);
        (0..9)
            .find(|_| {
                path.now += 1.0;
                path.round(100, 200);
                state(&path.cc, "pacing_gain") == 1.25
            })
            .expect("a probe within eight phases")
    };
    let found: std::collections::BTreeSet<u32> = (0..20).map(first).collect();
    assert!(found.len() >= 5, "{found:?}");
}

#[test]
fn bad_parameters_are_refused_with_what_was_expected() {
    let mut config = Config::new("bbr").unwrap();
    assert!(config.profile().delivery);
    for (key, value, words) in [
        ("high_gain", "1", "expected a number above 1"),
        ("cwnd_gain", "0.9", "expected a number of at least 1"),
        ("probe_gain", "2", "expected a number above 1, below 2"),
        ("bw_rounds", "0", "expected a whole number of at least 1"),
        ("rtt_window", "0s", "expected a time above 0"),
        ("min_cwnd", "0", "expected a number of at least 1"),
        ("margin", "1", "expected a number of at least 0, below 1"),
    ] {
        assert_eq!(config.set(key, value).unwrap_err().to_string(), words, "{key}");
    }
}
