//! PowerTCP against hand-computed steps of algorithm 1, at 25 Gb/s and a base round trip of 30 us: 93750 B on the way,
//! and steps of 9375 B.

use crate::events::{MSS, ack, assert_close, congestion, env, round, segments, timeout, us};
use incast_cc::power;
use incast_cc::powertcp::{KIND, Params, Powertcp};
use incast_cc::registry::ParamSet;
use incast_cc::{Ack, Bytes, Config, Controller, Env, Hop, Pacing, Rate, Time};
use proptest::prelude::*;

const BDP: u64 = 93_750;

fn path() -> Env {
    Env { base_rtt: us(30.0), line_rate: Rate::mbps(25_000), ..env(MSS, 10.0) }
}

fn hop(at: f64, sent: u64, queue: u64) -> Hop {
    Hop { time: us(at), tx_bytes: Bytes(sent), queue: Bytes(queue), rate: Rate::mbps(25_000) }
}

fn ack_with(cc: &mut Powertcp, una: u64, nxt: u64, hops: &[Hop]) {
    cc.on_telemetry(hops);
    cc.on_ack(&Ack { round: round(segments(una), segments(nxt)), ..ack(Time::ms(1), segments(1), us(30.0)) });
}

fn state(cc: &Powertcp, wanted: &str) -> f64 {
    let mut found = None;
    cc.state(&mut |name, value| {
        if name == wanted {
            found = Some(value);
        }
    });
    found.expect("a declared state variable")
}

fn sender(change: impl FnOnce(&mut power::Params)) -> Powertcp {
    let mut params = Params::default();
    change(&mut params.power);
    Powertcp::new(&params, &path())
}

/// A sender without a bound at 50000 B, now and a round trip ago, that is told of its link by `last`, 30 us after
/// `first`: the sample replaces the average.
fn at_50000(params: &Params, first: Hop, last: Hop) -> Powertcp {
    let mut env = path();
    // tau stays; the line begins at 50000 B in 30 us, and beta stays 9375 B
    env.line_rate = Rate(13_333_333_333);
    let mut cc = Powertcp::new(params, &env);
    ack_with(&mut cc, 1, 100, &[first]);
    ack_with(&mut cc, 2, 100, &[last]);
    cc
}

fn unbounded() -> Params {
    let mut params = Params::default();
    params.power.max_cwnd = None;
    // 2500 Mb/s for 30 us
    params.power.beta = Some(2500.0);
    params
}

#[test]
fn a_flow_starts_with_what_its_line_sends_in_a_round_trip_and_is_paced_by_it() {
    let mut cc = sender(|_| ());
    assert_eq!(cc.cwnd(), 93_750.0);
    assert_eq!(cc.pacing(), Pacing::Rate(25e9));
    ack_with(&mut cc, 1, 100, &[hop(0.0, 0, 0)]);
    assert_eq!((cc.cwnd(), state(&cc, "power")), (93_750.0, 1.0));
}

#[test]
fn a_step_divides_by_the_power_of_the_link() {
    // the line's rate is a third of a bit per second short of 50000 B in 30 us
    let near = |value: f64, reference: f64| assert!((value - reference).abs() < 1e-3, "{value} is not {reference}");
    // full, no queue: G 1
    near(at_50000(&unbounded(), hop(0.0, 0, 0), hop(30.0, BDP, 0)).cwnd(), 58_437.5);
    // full, a queue of one product that stands: G 2
    near(at_50000(&unbounded(), hop(0.0, 0, BDP), hop(30.0, BDP, BDP)).cwnd(), 35_937.5);
    // twice the rate comes, and the queue was empty when it began: lambda 2b, and q is BDP at its end: G 4
    let cc = at_50000(&unbounded(), hop(0.0, 0, 0), hop(30.0, BDP, BDP));
    near(cc.cwnd(), 0.9 * (50_000.0 / 4.0 + 9375.0) + 5000.0);
    // half used: G 0.5
    let cc = at_50000(&unbounded(), hop(0.0, 0, 0), hop(30.0, BDP / 2, 0));
    near(cc.cwnd(), 103_437.5);
    near(state(&cc, "power"), 0.5);
}

#[test]
fn arrivals_count_however_they_divide_into_queue_and_transmitted_bytes() {
    for (sent, queue) in [(BDP, 0), (BDP - 1000, 1000)] {
        let cc = at_50000(&unbounded(), hop(0.0, 0, 0), hop(30.0, sent, queue));
        assert_close(state(&cc, "power"), 1.0 + queue as f64 / BDP as f64);
    }
    // a queue that drains is no negative arrival
    let cc = at_50000(&unbounded(), hop(0.0, 0, 3 * BDP), hop(30.0, BDP, BDP));
    assert_close(state(&cc, "power"), 0.01);
}

#[test]
fn a_shorter_look_counts_for_less_and_a_longer_one_not_for_more() {
    let mut cc = sender(|p| p.max_cwnd = None);
    ack_with(&mut cc, 1, 100, &[hop(0.0, 0, BDP)]);
    // G 2 over 3 us: 1.1
    ack_with(&mut cc, 2, 100, &[hop(3.0, BDP / 10, BDP)]);
    assert_close(state(&cc, "power"), 1.1);
    assert_close(cc.cwnd(), 0.9 * (93_750.0 / 1.1 + 9375.0) + 9375.0);
    ack_with(&mut cc, 3, 100, &[hop(63.0, BDP / 10 + 3 * BDP, 0)]);
    assert_close(state(&cc, "power"), 1.0);
    // no time has passed: nothing to measure
    ack_with(&mut cc, 4, 100, &[hop(63.0, 9 * BDP, 9 * BDP)]);
    assert_close(state(&cc, "power"), 1.0);
}

#[test]
fn the_link_of_most_power_counts_with_its_own_interval_and_rate() {
    let slow = |at, sent, queue| Hop { rate: Rate::mbps(2500), ..hop(at, sent, queue) };
    let mut cc = sender(|_| ());
    ack_with(&mut cc, 1, 100, &[hop(0.0, 0, 0), slow(0.0, 0, 9375), hop(0.0, 0, 0)]);
    // raw power of the first is the higher by far; normalised 0.9 against 2
    ack_with(&mut cc, 2, 100, &[hop(60.0, 168_750, 0), slow(30.0, 9375, 9375), hop(15.0, 0, 0)]);
    assert_close(state(&cc, "power"), 2.0);
    // of links of equal power the first counts
    let mut cc = sender(|_| ());
    ack_with(&mut cc, 1, 100, &[hop(0.0, 0, 0), hop(0.0, 0, 0)]);
    ack_with(&mut cc, 2, 100, &[hop(12.0, BDP / 5, 0), hop(30.0, BDP / 2, 0)]);
    assert_close(state(&cc, "power"), 0.8);
}

/// Every 30 us, with a queue of one product: the power is 2.
fn steps_of_power_2(cc: &mut Powertcp, acks: &[(u64, u64, f64)]) {
    let mut window = 93_750.0;
    ack_with(cc, 1, 100, &[hop(0.0, 0, BDP)]);
    for (i, (una, nxt, old)) in (1u64..).zip(acks) {
        ack_with(cc, *una, *nxt, &[hop(30.0 * i as f64, i * BDP, BDP)]);
        window = 0.9 * (old / 2.0 + 9375.0) + 0.1 * window;
        assert_close(cc.cwnd(), window);
    }
}

#[test]
fn steps_start_from_the_window_with_which_the_acknowledged_packet_was_sent() {
    let (first, second) = (60_000.0, 56_625.0);
    // 0.9 (93750 / 2 + 9375) + 9375, and the same with a tenth of that
    assert_close(first, 0.9 * 56_250.0 + 9_375.0);
    assert_close(second, 0.9 * 56_250.0 + 0.1 * first);
    let acks = [
        (2, 100, 93_750.0),
        // what was sent before the first step
        (100, 200, 93_750.0),
        // and after it, up to the second
        (101, 250, first),
        (200, 250, first),
        (201, 300, second),
        // nothing new: what was sent last counts
        (201, 300, second),
    ];
    steps_of_power_2(&mut sender(|_| ()), &acks);
    // one ACK for all that was sent between two steps
    steps_of_power_2(&mut sender(|_| ()), &[(2, 100, 93_750.0), (100, 200, 93_750.0), (200, 250, first)]);
}

#[test]
fn steps_may_start_from_the_window_at_the_beginning_of_the_round_trip() {
    // 60000 and 56625 B before: 0.9 (93750 / 2 + 9375) + 0.1 of the step before
    let third = 0.9 * 56_250.0 + 0.1 * 56_625.0;
    let acks = [(2, 100, 93_750.0), (100, 200, 93_750.0), (101, 200, 93_750.0), (102, 200, third)];
    steps_of_power_2(&mut sender(|p| p.from = power::From::Round), &acks);
}

#[test]
fn a_window_stands_where_its_queue_is_the_sum_of_steps() {
    // appendix A: N flows hold N beta in the queue, each with (q + b tau) / N
    for (flows, window) in [(2u64, 56_250.0), (10, 18_750.0), (40, 11_718.75)] {
        let queue = flows * BDP / 10;
        let mut cc = sender(|_| ());
        for i in 0..2000 {
            ack_with(&mut cc, 100 * i + 1, 100 * i + 100, &[hop(30.0 * i as f64, i * BDP, queue)]);
        }
        assert!((cc.cwnd() - window).abs() < 1e-6 * window, "{flows}: {} is not {window}", cc.cwnd());
    }
}

#[test]
fn the_authors_simulator_steps_from_the_rate_of_the_round_trip_and_counts_half_a_link_at_least() {
    let mut params = Params::default();
    params.set("form", "authors-ns3").unwrap();
    params.set("from_zero", "false").unwrap();
    let mut cc = Powertcp::new(&params, &path());
    ack_with(&mut cc, 1, 100, &[hop(0.0, 0, BDP)]);
    // G 2; 150 Mb/s for 30 us are 562.5 B
    ack_with(&mut cc, 2, 100, &[hop(30.0, BDP, BDP)]);
    let first = 0.9 * (93_750.0 * 0.95 / 2.0 + 562.5) + 9375.0;
    assert_close(cc.cwnd(), first);
    // the same round trip; an idle link counts as half used
    ack_with(&mut cc, 3, 100, &[hop(60.0, BDP, 0)]);
    assert_close(state(&cc, "power"), 0.5);
    assert_close(cc.cwnd(), f64::min(0.9 * (93_750.0 * 0.95 / 0.5 + 562.5) + 9375.0, 93_750.0));
    // the next round trip starts from the rate in force; zeros stand for the first sample's memory
    let mut params = Params::default();
    params.set("form", "authors-ns3").unwrap();
    let mut cc = Powertcp::new(&params, &path());
    ack_with(&mut cc, 1, 100, &[hop(30.0, BDP, BDP)]);
    assert_close(state(&cc, "power"), 4.0);
    // at least 100 Mb/s of 25 Gb/s
    let mut params = Params::default();
    params.set("form", "authors-ns3").unwrap();
    params.set("beta", "1").unwrap();
    let mut cc = Powertcp::new(&params, &path());
    for i in 0..100u32 {
        let una = 1000 * u64::from(i);
        ack_with(&mut cc, una + 4, una + 100, &[hop(30.0 * f64::from(i), BDP * u64::from(i), 1000 * BDP)]);
    }
    assert_close(cc.cwnd(), 375.0);
}

#[test]
fn the_first_power_of_the_linux_port_is_taken_as_it_is() {
    let mut params = Params::default();
    params.set("form", "linux").unwrap();
    let mut cc = Powertcp::new(&params, &path());
    ack_with(&mut cc, 1, 100, &[hop(0.0, 0, BDP)]);
    ack_with(&mut cc, 2, 100, &[hop(3.0, BDP / 10, BDP)]);
    assert_close(state(&cc, "power"), 2.0);
    ack_with(&mut cc, 3, 100, &[hop(6.0, BDP / 5, 0)]);
    // drained by a BDP in 3 us: nothing came
    assert_close(state(&cc, "power"), 1.8);
}

#[test]
fn the_window_stays_between_its_bounds() {
    let mut cc = sender(|p| p.max_cwnd = Some(1.5));
    ack_with(&mut cc, 1, 100, &[hop(0.0, 0, 0)]);
    ack_with(&mut cc, 2, 100, &[hop(30.0, 0, 0)]);
    assert_close(state(&cc, "power"), 0.01);
    assert_close(cc.cwnd(), 140_625.0);
    let mut cc = sender(|p| (p.min_cwnd, p.flows) = (0.25, 1e9));
    ack_with(&mut cc, 1, 100, &[hop(0.0, 0, 0)]);
    ack_with(&mut cc, 2, 100, &[hop(30.0, BDP, 1000 * BDP)]);
    assert_close(cc.cwnd(), 23_437.5);
}

#[test]
fn acks_without_stamps_and_another_path_change_nothing() {
    let mut cc = sender(|_| ());
    ack_with(&mut cc, 1, 100, &[hop(0.0, 0, BDP)]);
    ack_with(&mut cc, 2, 100, &[hop(30.0, BDP, BDP)]);
    let window = cc.cwnd();
    cc.on_ack(&Ack { round: round(segments(101), segments(200)), ..ack(Time::ms(1), segments(1), us(10.0)) });
    ack_with(&mut cc, 101, 200, &[hop(60.0, 0, 0), hop(60.0, 0, 0)]);
    cc.on_loss(&congestion(Time::ms(1), segments(10)));
    cc.on_timeout(&timeout(Time::ms(2), segments(10), 3));
    assert_close(cc.cwnd(), window);
}

#[test]
fn bad_parameters_are_refused_with_what_was_expected() {
    let mut config = Config::new("powertcp").unwrap();
    for (key, value, words) in [
        ("gamma", "0", "expected a number above 0, at most 1"),
        ("gamma", "1.01", "expected a number above 0, at most 1"),
        ("flows", "0", "expected a number above 0"),
        ("beta", "0", "expected \"none\" or a number above 0"),
        ("min_power", "0", "expected a number above 0, at most 1"),
        ("target", "0", "expected a number above 0"),
        ("max_cwnd", "0", "expected \"none\" or a number above 0"),
        ("min_cwnd", "1", "expected a number above 0, below 1"),
        ("min_arrivals", "1.01", "expected a number from 0 to 1"),
        ("from", "new", "expected one of: \"sent\" \"round\" \"current\""),
    ] {
        assert_eq!(config.set(key, value).unwrap_err().to_string(), words, "{key}");
    }
    config.set("max_cwnd", "0.0001").unwrap();
    assert_eq!(config.check().unwrap_err().to_string(), "min_cwnd: expected at most max_cwnd");
}

#[test]
fn every_packet_is_acknowledged_with_the_stamps_it_brought() {
    let asked = KIND.profile;
    assert!(asked.ack_every_packet && asked.telemetry && asked.own_recovery);
}

proptest! {
    #[test]
    fn whatever_the_stamps_the_window_is_between_its_bounds(
        stamps in proptest::collection::vec((0u64..50_000, 0u64..1_000_000, 0u64..10_000_000), 1..100)
    ) {
        let mut cc = sender(|_| ());
        for (i, (time, sent, queue)) in stamps.into_iter().enumerate() {
            ack_with(&mut cc, 10 * i as u64, 10 * i as u64 + 9, &[hop(time as f64 / 100.0, sent, queue)]);
            prop_assert!((93.75..=93_750.0).contains(&cc.cwnd()));
        }
    }
}
