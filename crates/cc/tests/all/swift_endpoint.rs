//! Swift's endpoint window (section 3.3) beside the fabric window.

use crate::events::{MSS, ack, assert_close, changed, congestion, env, segments, timeout, us};
use crate::swift::{fixed, state, window};
use incast_cc::registry::ParamSet;
use incast_cc::swift::{Params, Swift};
use incast_cc::{Ack, Controller, Pacing, Time};

/// An ACK whose round trip of `fabric` and `endpoint` microseconds ends at `at`.
fn split(at: f64, fabric: f64, endpoint: f64) -> Ack {
    let whole = ack(us(at), segments(1), us(fabric + endpoint));
    Ack { fabric_delay: Some(us(fabric)), endpoint_delay: Some(us(endpoint)), ..whole }
}

/// A static fabric target of 40 us, an endpoint target of 100 us followed at once.
fn both_windows() -> Params {
    changed(fixed(40.0), |p| {
        p.endpoint.endpoint_target = us(100.0);
        p.endpoint.endpoint_gain = 1.0;
        p.endpoint.ceiling = 1e9;
    })
}

#[test]
fn the_smaller_of_the_two_windows_counts() {
    // the fabric is far below its target, the host twice above: 10 * (1 - 0.8 * 0.5) = 6
    let mut cc = Swift::new(&both_windows(), &env(MSS, 10.0));
    cc.on_ack(&split(1000.0, 20.0, 200.0));
    assert_close(window(&cc), 6.0);
    assert_close(state(&cc, "fcwnd_packets"), 10.1);
    assert_close(state(&cc, "ecwnd_packets"), 6.0);
    // the other way round
    let mut cc = Swift::new(&both_windows(), &env(MSS, 10.0));
    cc.on_ack(&split(1000.0, 80.0, 20.0));
    assert_close(window(&cc), 6.0);
    assert_close(state(&cc, "ecwnd_packets"), 10.1);
}

#[test]
fn each_window_has_its_own_time_of_the_last_decrease() {
    let mut cc = Swift::new(&both_windows(), &env(MSS, 10.0));
    cc.on_ack(&split(1000.0, 80.0, 20.0));
    assert_close(state(&cc, "fcwnd_packets"), 6.0);
    // 50 us later the fabric window may not fall again, the endpoint window may
    cc.on_ack(&split(1050.0, 80.0, 200.0));
    assert_close(state(&cc, "fcwnd_packets"), 6.0);
    assert_close(state(&cc, "ecwnd_packets"), 10.1 * 0.6);
    // a loss cuts both, as far as each may
    cc.on_loss(&congestion(us(1400.0), segments(5)));
    assert_close(state(&cc, "fcwnd_packets"), 3.0);
    assert_close(state(&cc, "ecwnd_packets"), 10.1 * 0.3);
    (1..=5).for_each(|n| cc.on_timeout(&timeout(us(1400.0), segments(5), n)));
    assert_close(state(&cc, "fcwnd_packets"), 0.001);
    assert_close(state(&cc, "ecwnd_packets"), 0.001);
}

#[test]
fn the_endpoint_delay_is_a_moving_average() {
    let mut cc = Swift::new(&changed(both_windows(), |p| p.endpoint.endpoint_gain = 0.125), &env(MSS, 10.0));
    // the first delay starts it; 40 + (840 - 40) / 8 = 140, over the target of 100: 1 - 0.8 * 40 / 140
    cc.on_ack(&split(1000.0, 20.0, 40.0));
    assert_close(state(&cc, "endpoint_delay_s") * 1e6, 40.0);
    let before = state(&cc, "ecwnd_packets");
    cc.on_ack(&split(3000.0, 20.0, 840.0));
    assert_close(state(&cc, "endpoint_delay_s") * 1e6, 140.0);
    assert_close(state(&cc, "ecwnd_packets"), before * (1.0 - 0.8 * 40.0 / 140.0));
}

#[test]
fn the_larger_window_is_held_near_the_smaller() {
    let mut cc = Swift::new(&changed(both_windows(), |p| p.endpoint.ceiling = 2.0), &env(MSS, 10.0));
    // the fabric alone is congested; 1000 / 100 round trips
    (0..10).for_each(|i| cc.on_ack(&split(1000.0 + 400.0 * f64::from(i), 300.0, 50.0)));
    let (f, e) = (state(&cc, "fcwnd_packets"), state(&cc, "ecwnd_packets"));
    assert!(f < 0.1, "{f}");
    assert_close(e, 2.0 * f);
    // that is no decrease: the endpoint window may still fall when its turn comes
    cc.on_ack(&split(4700.0, 300.0, 1000.0));
    assert_close(state(&cc, "ecwnd_packets"), e * 0.5);
}

#[test]
fn a_window_that_hosts_hold_down_holds_the_fabrics_near() {
    let mut cc = Swift::new(&changed(both_windows(), |p| p.endpoint.ceiling = 3.0), &env(MSS, 10.0));
    // the host alone is congested: 10 (1 - 0.8 0.5) = 6, then 3, then 1.5, and three times that
    for (at, delay, endpoint, fabric) in
        [(1000.0, 200.0, 6.0, 10.1), (1500.0, 400.0, 3.0, 9.0), (2000.0, 400.0, 1.5, 4.5)]
    {
        cc.on_ack(&split(at, 20.0, delay));
        assert_close(state(&cc, "ecwnd_packets"), endpoint);
        assert_close(state(&cc, "fcwnd_packets"), fabric);
    }
}

#[test]
fn without_a_delay_in_hosts_there_is_no_endpoint_window() {
    let mut cc = Swift::new(&both_windows(), &env(MSS, 10.0));
    cc.on_ack(&ack(Time::ms(1), segments(1), us(30.0)));
    assert!(state(&cc, "ecwnd_packets").is_nan() && state(&cc, "endpoint_delay_s").is_nan());
    // a fabric decrease and then a loss half a round trip later leave the fabric window alone
    cc.on_ack(&ack(us(2000.0), segments(1), us(80.0)));
    let w = window(&cc);
    cc.on_loss(&congestion(us(2040.0), segments(5)));
    assert_eq!(window(&cc), w);
}

#[test]
fn decomposition_of_the_paper() {
    // t1..t6 = 0, 10, 14, 16, 26, 31: rtt 31, in hosts (16 - 10) + (31 - 26) = 11, fabric 20
    let mut cc = Swift::new(&both_windows(), &env(MSS, 10.0));
    cc.on_ack(&split(1000.0, 20.0, 11.0));
    assert_close(state(&cc, "fabric_delay_s") * 1e6, 20.0);
    assert_close(state(&cc, "endpoint_delay_s") * 1e6, 11.0);
    assert_close(window(&cc), 10.1);
}

#[test]
fn without_windows_below_one_packet_one_is_the_smallest() {
    let mut cc = Swift::new(&changed(both_windows(), |p| p.window.below_one = false), &env(MSS, 4.0));
    (0..10).for_each(|i| cc.on_ack(&split(1000.0 * f64::from(i + 1), 400.0, 900.0)));
    assert_close(window(&cc), 1.0);
    assert_eq!(cc.pacing(), Pacing::None);
    (1..=5).for_each(|n| cc.on_timeout(&timeout(Time::ms(100), segments(1), n)));
    assert_close(window(&cc), 1.0);
    let bad = changed(both_windows(), |p| {
        p.window.below_one = false;
        p.window.max_cwnd = 0.5;
    });
    assert_eq!(bad.check().unwrap_err().key, "max_cwnd");
}
