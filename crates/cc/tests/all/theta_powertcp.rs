//! theta-PowerTCP against hand-computed steps of algorithm 2, at 25 Gb/s and a base round trip of 30 us: 93750 B on the
//! way, and steps of 9375 B.

use crate::events::{MSS, ack, assert_close, congestion, env, round, segments, timeout, us};
use incast_cc::registry::ParamSet;
use incast_cc::theta_powertcp::{KIND, Params, ThetaPowertcp};
use incast_cc::{Ack, Config, Controller, Env, Pacing, Rate, Time};
use proptest::prelude::*;

fn path() -> Env {
    Env { base_rtt: us(30.0), line_rate: Rate::mbps(25_000), ..env(MSS, 10.0) }
}

fn sender() -> ThetaPowertcp {
    ThetaPowertcp::new(&Params::default(), &path())
}

/// An ACK at `at` us which saw `rtt` us, of the packet before `una`.
fn acked(cc: &mut ThetaPowertcp, at: f64, rtt: f64, una: u64, nxt: u64) {
    cc.on_ack(&Ack { round: round(segments(una), segments(nxt)), ..ack(us(at), segments(1), us(rtt)) });
}

fn power(cc: &ThetaPowertcp) -> f64 {
    let mut found = f64::NAN;
    cc.state(&mut |name, value| {
        if name == "power" {
            found = value;
        }
    });
    found
}

#[test]
fn power_is_the_round_trip_time_times_how_it_grows() {
    let mut cc = sender();
    assert_eq!((cc.cwnd(), cc.pacing()), (93_750.0, Pacing::Rate(25e9)));
    acked(&mut cc, 100.0, 40.0, 1, 100);
    // 45 after 40 in 30 us: (1 + 1/6) 1.5
    acked(&mut cc, 130.0, 45.0, 2, 110);
    assert_close(power(&cc), 1.75);
    // half a base round trip at the base, flat after a fall of 15 in 15: power 0, half of it
    acked(&mut cc, 145.0, 30.0, 3, 110);
    assert_close(power(&cc), 0.875);
    // a fall quicker than time is no less
    acked(&mut cc, 148.0, 20.0, 4, 110);
    assert_close(power(&cc), 0.9 * 0.875);
    // no time between: nothing
    acked(&mut cc, 148.0, 200.0, 5, 110);
    assert_close(power(&cc), 0.9 * 0.875);
    // a long look counts as tau: (1 + 40 / 60) 2
    acked(&mut cc, 208.0, 60.0, 6, 110);
    assert_close(power(&cc), (1.0 + 40.0 / 60.0) * 2.0);
}

#[test]
fn the_window_is_set_once_a_round_trip_by_the_power_averaged_over_it() {
    let mut cc = sender();
    acked(&mut cc, 100.0, 40.0, 1, 100);
    acked(&mut cc, 130.0, 45.0, 100, 190);
    assert_eq!(cc.cwnd(), 93_750.0, "nothing sent after the first ACK is acknowledged");
    // flat at 45 for 15 us: 1.5 of 1.75 to one half
    acked(&mut cc, 145.0, 45.0, 101, 200);
    let expected = 0.9 * (93_750.0 / 1.625 + 9375.0) + 9375.0;
    assert_close(cc.cwnd(), expected);
    assert_eq!(cc.pacing(), Pacing::Rate(expected * 8e12 / 3e7));
    acked(&mut cc, 175.0, 90.0, 200, 290);
    assert_close(cc.cwnd(), expected);
    acked(&mut cc, 205.0, 45.0, 201, 300);
    // the RTT fell by 45 in 30 us: the power is at its least, and the window at its most
    assert_close(cc.cwnd(), 93_750.0);
}

#[test]
fn at_the_base_round_trip_a_window_grows_by_its_step() {
    // 50000 B of 93750: G 1.75 gives 0.9 (50000 / 1.75 + 9375) + 5000
    let mut params = Params::default();
    params.power.max_cwnd = None;
    params.power.beta = Some(2500.0);
    let path = Env { line_rate: Rate(13_333_333_334), ..path() };
    let mut cc = ThetaPowertcp::new(&params, &path);
    acked(&mut cc, 100.0, 40.0, 1, 100);
    acked(&mut cc, 130.0, 45.0, 101, 200);
    assert!((cc.cwnd() - 39_151.785_7).abs() < 1e-2, "{}", cc.cwnd());
    let mut cc = ThetaPowertcp::new(&params, &path);
    acked(&mut cc, 100.0, 30.0, 1, 100);
    acked(&mut cc, 130.0, 30.0, 101, 200);
    assert!((cc.cwnd() - 58_437.5).abs() < 1e-2, "{}", cc.cwnd());
}

#[test]
fn the_authors_simulator_steps_at_every_ack_by_the_least_rtt_seen() {
    let mut params = Params::default();
    params.set("form", "authors-ns3").unwrap();
    params.set("from_zero", "false").unwrap();
    let mut cc = ThetaPowertcp::new(&params, &path());
    acked(&mut cc, 100.0, 40.0, 1, 100);
    assert_eq!(cc.cwnd(), 93_750.0);
    // grown by 5 in 20 us, and 45 of the path's 30 us, over 20 of 30 us
    acked(&mut cc, 120.0, 45.0, 2, 100);
    let g = 1.0 / 3.0 + 2.0 / 3.0 * 1.25 * 1.5;
    assert_close(power(&cc), g);
    let first = 0.7 * (93_750.0 * 1.05 / g + 562.5) + 0.3 * 93_750.0;
    assert_close(cc.cwnd(), first);
    // the same round trip: the step starts from the same window; a fall counts by half at most
    acked(&mut cc, 150.0, 3.0, 3, 100);
    assert_close(power(&cc), 0.5);
    // a shorter round trip makes the window shorter, at the same rate
    assert_close(cc.cwnd(), 93_750.0 * 3.0 / 30.0);
}

#[test]
fn the_first_power_of_the_linux_port_is_taken_as_it_is() {
    let mut params = Params::default();
    params.set("form", "linux").unwrap();
    let mut cc = ThetaPowertcp::new(&params, &path());
    acked(&mut cc, 100.0, 60.0, 1, 100);
    acked(&mut cc, 103.0, 60.0, 2, 100);
    assert_close(power(&cc), 2.0);
}

#[test]
fn losses_timeouts_and_acks_without_an_rtt_leave_the_window_alone() {
    let mut cc = sender();
    acked(&mut cc, 100.0, 40.0, 1, 100);
    acked(&mut cc, 130.0, 45.0, 101, 200);
    let window = cc.cwnd();
    cc.on_loss(&congestion(Time::ms(1), segments(10)));
    cc.on_timeout(&timeout(Time::ms(2), segments(10), 3));
    cc.on_ack(&Ack { fabric_delay: None, ..ack(Time::ms(3), segments(500), us(10.0)) });
    assert_close(cc.cwnd(), window);
}

#[test]
fn bad_parameters_are_refused_with_what_was_expected() {
    let mut config = Config::new("theta-powertcp").unwrap();
    for (key, value, words) in [
        ("update", "never", "expected one of: \"rtt\" \"ack\""),
        ("tau", "least", "expected one of: \"path\" \"seen\""),
        ("min_power", "0", "expected a number above 0, at most 1"),
    ] {
        assert_eq!(config.set(key, value).unwrap_err().to_string(), words, "{key}");
    }
    config.set("from", "old").unwrap_err();
    let asked = KIND.profile;
    assert!(asked.ack_every_packet && !asked.telemetry && asked.own_recovery);
}

proptest! {
    #[test]
    fn whatever_the_delays_the_window_is_between_its_bounds(
        acks in proptest::collection::vec((0u64..50_000, 0u64..100_000), 1..100)
    ) {
        let mut cc = sender();
        let mut now = 0;
        for (i, (gap, rtt)) in acks.into_iter().enumerate() {
            now += gap;
            acked(&mut cc, now as f64 / 100.0, rtt as f64 / 100.0, 10 * i as u64, 10 * i as u64 + 9);
            prop_assert!((93.75..=93_750.0).contains(&cc.cwnd()));
        }
    }
}
