//! XCP's sender: its window changes by what switches allow.

use crate::events::{MSS, ack, assert_close, changed, congestion, env, segments, timeout, us};
use incast_cc::xcp::{KIND, Params, RttOf, Xcp};
use incast_cc::{Ack, Asks, Config, Controller, Feedback, Idle, Time};

fn sender(rtt_of: RttOf) -> Xcp {
    Xcp::new(&changed(Params::default(), |p| p.rtt_of = rtt_of), &env(MSS, 10.0))
}

fn feedback(change: f64, rtt: f64) -> Feedback {
    Feedback { change, rtt: us(rtt) }
}

fn acked(srtt: f64) -> Ack {
    Ack { srtt: us(srtt), ..ack(Time::ms(1), segments(1), us(srtt)) }
}

#[test]
fn the_window_changes_by_the_allowed_rate_times_the_round_trip_that_the_packet_told() {
    let mut cc = sender(RttOf::Packet);
    assert_close(cc.cwnd(), 10_000.0);
    // 2e7 bytes a second over 100 us
    cc.on_feedback(&feedback(2e7, 100.0));
    assert_close(cc.cwnd(), 12_000.0);
    cc.on_ack(&acked(200.0));
    cc.on_feedback(&feedback(-5e7, 100.0));
    assert_close(cc.cwnd(), 7_000.0);
    let mut shown = Vec::new();
    cc.state(&mut |name, value| shown.push((name, value)));
    assert_eq!(shown, [("feedback_bytes", -5_000.0)]);
    // a packet that was sent before the first round trip was measured
    cc.on_feedback(&feedback(1e12, 0.0));
    assert_close(cc.cwnd(), 7_000.0);
}

#[test]
fn as_in_ns_2_the_round_trip_is_that_of_the_ack() {
    let mut cc = sender(RttOf::Ack);
    cc.on_feedback(&feedback(2e7, 100.0));
    assert_close(cc.cwnd(), 10_000.0);
    // it waits for an ACK that comes with a round trip
    cc.on_ack(&acked(0.0));
    assert_close(cc.cwnd(), 10_000.0);
    cc.on_ack(&acked(150.0));
    assert_close(cc.cwnd(), 13_000.0);
    cc.on_ack(&acked(150.0));
    assert_close(cc.cwnd(), 13_000.0);
}

#[test]
fn the_window_stays_between_its_bounds() {
    let mut cc = sender(RttOf::Packet);
    cc.on_feedback(&feedback(-1e9, 100.0));
    assert_close(cc.cwnd(), 1_000.0);
    cc.on_feedback(&feedback(f64::INFINITY, 100.0));
    assert_close(cc.cwnd(), 1e9);
}

#[test]
fn losses_halve_the_window_and_timeouts_leave_a_packet() {
    let mut cc = sender(RttOf::Packet);
    cc.on_loss(&congestion(Time::ms(1), segments(10)));
    assert_close(cc.cwnd(), 5_000.0);
    cc.on_timeout(&timeout(Time::ms(2), segments(5), 1));
    assert_close(cc.cwnd(), 1_000.0);
    cc.on_feedback(&feedback(2e8, 100.0));
    cc.on_idle(&Idle { now: Time::ms(9), timeouts: 1 });
    assert_close(cc.cwnd(), 10_000.0);
    cc.on_loss(&congestion(Time::ms(10), segments(10)));
    cc.on_idle(&Idle { now: Time::ms(19), timeouts: 1 });
    assert_close(cc.cwnd(), 5_000.0);
}

#[test]
fn packets_ask_for_changes_of_windows_and_each_is_acknowledged() {
    let asked = KIND.profile;
    assert!(asked.ack_every_packet && asked.asks == Asks::Window && !asked.own_recovery && !asked.telemetry);
}

#[test]
fn bad_parameters_are_refused_with_what_was_expected() {
    let mut config = Config::new("xcp").unwrap();
    for (key, value, words) in [
        ("min_cwnd", "0", "expected a number above 0"),
        ("max_cwnd", "0.5", "expected a number of at least 1"),
        ("rtt_of", "none", "expected one of: \"packet\" \"ack\""),
    ] {
        assert_eq!(config.set(key, value).unwrap_err().to_string(), words, "{key}");
    }
    config.set("min_cwnd", "9e6").unwrap();
    assert_eq!(config.check().unwrap_err().to_string(), "min_cwnd: expected at most max_cwnd");
}
