//! Swift-v0: Swift's rule on the whole round-trip time.

use crate::events::{MSS, ack, assert_close, changed, congestion, env, segments, timeout, us};
use incast_cc::registry::ParamSet;
use incast_cc::swift_v0::{KIND, Params, SwiftV0};
use incast_cc::{Ack, Controller, Ecn, Pacing, Time};

fn sender(target_us: f64, w: f64) -> SwiftV0 {
    SwiftV0::new(&Params { end_to_end_target: Some(us(target_us)), ..Params::default() }, &env(MSS, w))
}

fn window(cc: &SwiftV0) -> f64 {
    cc.cwnd() / f64::from(MSS)
}

/// A round trip that `endpoint` microseconds of were spent in hosts.
fn split(at: f64, fabric: f64, endpoint: f64) -> Ack {
    let whole = ack(us(at), segments(1), us(fabric + endpoint));
    Ack { fabric_delay: Some(us(fabric)), endpoint_delay: Some(us(endpoint)), ..whole }
}

#[test]
fn the_round_trip_counts_wherever_it_was_spent() {
    for (fabric, endpoint) in [(120.0, 30.0), (30.0, 120.0), (150.0, 0.0)] {
        // 150 us against 100 us: 1 - 0.8 / 3
        let mut cc = sender(100.0, 15.0);
        cc.on_ack(&split(1000.0, fabric, endpoint));
        assert_close(window(&cc), 15.0 * (1.0 - 0.8 / 3.0));
        // and 99 us are below
        let mut cc = sender(100.0, 10.0);
        cc.on_ack(&split(1000.0, fabric * 0.66, endpoint * 0.66));
        assert_close(window(&cc), 10.1);
    }
}

#[test]
fn swifts_vectors_hold_for_it() {
    for (w, packets, after) in [(10.0, 1, 10.1), (10.0, 4, 10.4), (0.5, 1, 1.5)] {
        let mut cc = sender(40.0, w);
        cc.on_ack(&ack(Time::ms(1), segments(packets), us(30.0)));
        assert_close(window(&cc), after);
    }
    for (delay, after) in [(50.0, 16.8), (400.0, 10.0), (40.0, 20.0)] {
        let mut cc = sender(40.0, 20.0);
        cc.on_ack(&ack(Time::ms(1), segments(1), us(delay)));
        assert_close(window(&cc), after);
    }
    let mut cc = sender(40.0, 8.0);
    for (i, after) in [4.0, 2.0, 1.0, 0.5, 0.001].into_iter().enumerate() {
        cc.on_timeout(&timeout(us(1000.0 * (i + 1) as f64), segments(8), i as u32 + 1));
        assert_close(window(&cc), after);
    }
}

#[test]
fn the_target_has_no_scaling() {
    // the same cut at any window and over any number of links
    for (w, hops) in [(0.01, 2), (10.0, 6), (500.0, 2)] {
        let mut cc = sender(100.0, w);
        cc.on_ack(&Ack { hops, ..ack(Time::ms(1), 0, us(200.0)) });
        assert_close(window(&cc), 0.6 * w);
    }
}

#[test]
fn auto_is_the_idle_rtt_of_the_path_and_ten_packets() {
    // 65 us idle and ten packets of 12 us: at 185 us no more growth
    for (rtt, grows) in [(184.9, true), (185.0, false)] {
        let mut cc = SwiftV0::new(&Params::default(), &env(MSS, 10.0));
        cc.on_ack(&ack(Time::ms(1), segments(1), us(rtt)));
        assert_eq!(window(&cc) > 10.0, grows, "{rtt}");
    }
}

#[test]
fn losses_and_windows_below_one_are_swifts() {
    let mut cc = sender(100.0, 0.8);
    cc.on_loss(&congestion(Time::ms(1), segments(1)));
    assert_close(window(&cc), 0.4);
    assert_eq!(cc.pacing(), Pacing::Gap(us(65.0 / 0.4)));
    let mut cc = SwiftV0::new(&changed(Params::default(), |p| p.window.below_one = false), &env(MSS, 2.0));
    (1..=4).for_each(|n| cc.on_timeout(&timeout(Time::ms(n), segments(1), n as u32)));
    assert_close(window(&cc), 1.0);
    let mut params = Params::default();
    assert!(params.set("end_to_end_target", "-1us").is_err() && params.set("ai", "0").is_err());
}

#[test]
fn every_packet_is_acknowledged_and_losses_are_its_own() {
    // sections 3.3 and 3.6: no ACK is delayed, holes in the SACK bitmap cut the window, ECN has no part
    let asked = KIND.profile;
    assert!(asked.ack_every_packet && asked.own_recovery);
    assert_eq!(asked.ecn, Ecn::Off);
}
