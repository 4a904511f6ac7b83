//! Swift with a fresh base RTT, by hand: intervals, probes, and a path that changes.

use crate::events::{MSS, ack, assert_close, env, segments, us};
use incast_cc::registry::ParamSet;
use incast_cc::swift_rebase::{KIND, Params, SwiftRebase};
use incast_cc::{Config, Controller, Ecn, Pacing, Time};

/// Intervals of a millisecond, 20 us of room.
fn params() -> Params {
    Params { room: Some(us(20.0)), interval: Some(Time::ms(1)), ..Params::default() }
}

fn window(cc: &impl Controller) -> f64 {
    cc.cwnd() / f64::from(MSS)
}

fn base_us(cc: &SwiftRebase) -> f64 {
    let mut found = f64::NAN;
    cc.state(&mut |name, value| {
        if name == "base_rtt_s" {
            found = value * 1e6;
        }
    });
    found
}

#[test]
fn the_base_is_the_smallest_of_this_interval_and_the_last() {
    let mut cc = SwiftRebase::new(&Params { probe: 1.0, ..params() }, &env(MSS, 10.0));
    assert!(base_us(&cc).is_nan());
    let mut ack_at = |at: f64, delay: f64| {
        cc.on_ack(&ack(us(at), 0, us(delay)));
        base_us(&cc)
    };
    assert_close(ack_at(100.0, 60.0), 60.0);
    assert_close(ack_at(900.0, 50.0), 50.0);
    // the second interval still knows the first
    assert_close(ack_at(1000.0, 80.0), 50.0);
    assert_close(ack_at(1999.0, 75.0), 50.0);
    // the third does not
    assert_close(ack_at(2000.0, 90.0), 75.0);
    assert_close(ack_at(3000.0, 95.0), 90.0);
    // intervals end on the clock: 4000 us, not a millisecond after the last ACK that began one
    assert_close(ack_at(4900.0, 99.0), 95.0);
    assert_close(ack_at(5000.0, 97.0), 97.0);
}

#[test]
fn target_is_base_and_room() {
    for (delay, after) in [(69.9, 10.1), (70.0, 10.0), (100.0, 10.0 * (1.0 - 0.8 * 0.3))] {
        let mut cc = SwiftRebase::new(&params(), &env(MSS, 10.0));
        cc.on_ack(&ack(us(100.0), 0, us(50.0)));
        cc.on_ack(&ack(us(200.0), segments(1), us(delay)));
        assert_close(window(&cc), after);
    }
}

#[test]
fn an_interval_begins_with_two_round_trips_at_half_the_window() {
    let mut cc = SwiftRebase::new(&params(), &env(MSS, 10.0));
    cc.on_ack(&ack(us(100.0), segments(1), us(50.0)));
    assert_close(window(&cc), 10.1);
    cc.on_ack(&ack(us(1000.0), segments(1), us(60.0)));
    assert_close(window(&cc), 5.05);
    // it rests until 1120 us: nothing is added, nothing cut
    for at in [1060.0, 1119.9] {
        cc.on_ack(&ack(us(at), segments(1), us(500.0)));
        assert_close(window(&cc), 5.05);
    }
    cc.on_ack(&ack(us(1120.0), segments(1), us(50.0)));
    assert_close(window(&cc), 10.1 + 1.0 / 10.1);
    // a probe below one packet is paced
    let mut cc = SwiftRebase::new(&params(), &env(MSS, 1.0));
    cc.on_ack(&ack(us(100.0), 0, us(50.0)));
    assert_eq!(cc.pacing(), Pacing::None);
    cc.on_ack(&ack(us(1000.0), 0, us(50.0)));
    assert_eq!(cc.pacing(), Pacing::Gap(us(100.0)));
}

#[test]
fn a_probe_of_the_whole_window_is_no_probe() {
    let mut cc = SwiftRebase::new(&Params { probe: 1.0, ..params() }, &env(MSS, 10.0));
    cc.on_ack(&ack(us(100.0), 0, us(50.0)));
    // the ACK that begins the interval grows the window like any other
    cc.on_ack(&ack(us(1000.0), segments(1), us(50.0)));
    assert_close(window(&cc), 10.1);
}

#[test]
fn a_longer_path_is_learnt_within_two_intervals() {
    // 50 us for 3 ms, then 150 us for good; an ACK for one packet every 10 us
    let mut fresh = SwiftRebase::new(&params(), &env(MSS, 10.0));
    let mut config = Config::new("swift").unwrap();
    config.set("target", "min-rtt").unwrap();
    config.set("epsilon", "20us").unwrap();
    let mut ever = config.build(&env(MSS, 10.0));
    let mut at_change = 0.0;
    for i in 0..1000 {
        let at = 10.0 * f64::from(i);
        if at == 3000.0 {
            at_change = window(&fresh);
        }
        let event = ack(us(at), segments(1), us(if at < 3000.0 { 50.0 } else { 150.0 }));
        fresh.on_ack(&event);
        ever.on_ack(&event);
    }
    assert!(at_change > 15.0, "{at_change}");
    assert_close(base_us(&fresh), 150.0);
    assert!(window(&fresh) > 10.0, "{}: it grows again on the new path", window(&fresh));
    assert!(window(&ever) < 0.1, "{}: every delay is over target for good", window(&ever));
}

#[test]
fn bad_values_are_refused() {
    let mut params = Params::default();
    for (key, value) in [("probe", "0"), ("probe", "1.5"), ("probe", "-1"), ("interval", "soon")] {
        assert!(params.set(key, value).is_err(), "{key} = {value}");
    }
    params.set("interval", "0s").unwrap();
    assert_eq!(params.check().unwrap_err().key, "interval");
}

#[test]
fn every_packet_is_acknowledged_and_losses_are_its_own() {
    // sections 3.3 and 3.6: no ACK is delayed, holes in the SACK bitmap cut the window, ECN has no part
    let asked = KIND.profile;
    assert!(asked.ack_every_packet && asked.own_recovery);
    assert_eq!(asked.ecn, Ecn::Off);
}
