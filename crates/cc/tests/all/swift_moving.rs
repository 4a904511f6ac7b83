//! Swift with a moving target, by hand.

use crate::events::{MSS, ack, assert_close, changed, env, segments, us};
use incast_cc::registry::ParamSet;
use incast_cc::swift::target_delay::Target;
use incast_cc::swift_moving::{KIND, Params, SwiftMoving};
use incast_cc::{Ack, Config, Controller, Ecn, Time};
use proptest::prelude::*;

/// Tight at 40 us, loose at 100 us.
fn sender(w: f64) -> SwiftMoving {
    let tight = changed(Params::default(), |p| {
        p.target_delay.target = Target::Static;
        p.target_delay.static_target = us(40.0);
    });
    SwiftMoving::new(&Params { loose_target: Some(us(100.0)), ..tight }, &env(MSS, w))
}

fn state(cc: &SwiftMoving, wanted: &str) -> f64 {
    let mut found = None;
    cc.state(&mut |name, value| {
        if name == wanted {
            found = Some(value);
        }
    });
    found.expect("a declared state variable")
}

/// An ACK that brings nothing, and where that leaves the target: looseness, and microseconds.
fn ack_at(cc: &mut SwiftMoving, at: f64, rtt: f64) -> (f64, f64) {
    cc.on_ack(&ack(us(at), 0, us(rtt)));
    (state(cc, "looseness"), state(cc, "target_delay_s") * 1e6)
}

#[test]
fn a_round_trip_above_tight_halves_the_looseness_and_one_below_adds_a_sixteenth() {
    let mut cc = sender(10.0);
    // the first round trip is the first ACK: 30 us, below tight
    assert_eq!(ack_at(&mut cc, 1000.0, 30.0).0, 1.0);
    // the next ends at 1030 us: its delays are 60 and 50 us, above tight
    let (x, target) = ack_at(&mut cc, 1010.0, 60.0);
    assert_eq!(x, 1.0);
    assert_close(target, 100.0);
    let (x, target) = ack_at(&mut cc, 1030.0, 50.0);
    assert_close(x, 0.5);
    assert_close(target, 70.0);
    // one short queue in a round trip of 50 us is enough
    ack_at(&mut cc, 1040.0, 39.0);
    ack_at(&mut cc, 1050.0, 90.0);
    let (x, target) = ack_at(&mut cc, 1080.0, 90.0);
    assert_close(x, 0.5 + 0.5 / 16.0);
    assert_close(target, 40.0 + 60.0 * 0.53125);
}

#[test]
fn the_target_between_the_two_decides() {
    // loose: 90 us grow the window
    let mut cc = sender(10.0);
    cc.on_ack(&ack(us(1000.0), segments(1), us(90.0)));
    let w = cc.cwnd() / f64::from(MSS);
    // the smallest delay of the first round trip was 90 us: x = 1/2, the target 70 us, and 90 us cut
    assert_close(w, 10.0 * (1.0 - 0.8 * 20.0 / 90.0));
    let mut cc = sender(10.0);
    ack_at(&mut cc, 1000.0, 30.0);
    cc.on_ack(&ack(us(1010.0), segments(1), us(90.0)));
    assert_close(cc.cwnd() / f64::from(MSS), 10.1);
}

#[test]
fn a_standing_queue_makes_it_swift() {
    // thirty round trips at 60 us: what is left of the room is 60 us / 2^30
    let mut cc = sender(10.0);
    for i in 0..30 {
        ack_at(&mut cc, 1000.0 + 60.0 * f64::from(i), 60.0);
    }
    assert!((state(&cc, "target_delay_s") * 1e6 - 40.0).abs() < 1e-6);
}

#[test]
fn a_loose_target_below_the_tight_one_is_no_target() {
    let params = Params { loose_target: Some(us(1.0)), ..Params::default() };
    let mut moving = SwiftMoving::new(&params, &env(MSS, 10.0));
    let mut swift = Config::new("swift").unwrap().build(&env(MSS, 10.0));
    for i in 0..50 {
        let event = ack(us(1000.0 + 7.0 * f64::from(i)), segments(1), us(200.0 + f64::from(i % 5) * 40.0));
        moving.on_ack(&event);
        swift.on_ack(&event);
        assert_eq!(moving.cwnd().to_bits(), swift.cwnd().to_bits());
    }
}

#[test]
fn bad_values_are_refused() {
    let mut params = Params::default();
    for (key, value) in [("loosen", "0"), ("loosen", "1.1"), ("tighten", "0"), ("tighten", "-0.5"), ("tighten", "2")] {
        assert!(params.set(key, value).is_err(), "{key} = {value}");
    }
}

proptest! {
    /// The target stays between tight and loose.
    #[test]
    fn the_target_stays_between_the_two(delays in proptest::collection::vec((1u64..300, 1u64..300), 1..200)) {
        let mut cc = sender(10.0);
        let mut now = Time::ZERO;
        for (gap, delay) in delays {
            now += Time::us(gap);
            cc.on_ack(&Ack { ..ack(now, segments(1), Time::us(delay)) });
            let target = state(&cc, "target_delay_s") * 1e6;
            prop_assert!((40.0 - 1e-9..=100.0 + 1e-9).contains(&target), "{}", target);
        }
    }
}

#[test]
fn every_packet_is_acknowledged_and_losses_are_its_own() {
    // sections 3.3 and 3.6: no ACK is delayed, holes in the SACK bitmap cut the window, ECN has no part
    let asked = KIND.profile;
    assert!(asked.ack_every_packet && asked.own_recovery);
    assert_eq!(asked.ecn, Ecn::Off);
}
