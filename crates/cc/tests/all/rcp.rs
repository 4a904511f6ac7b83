//! RCP's sender: it always paces at the granted rate.

use crate::events::{MSS, ack, assert_close, congestion, env, segments, timeout, us};
use incast_cc::rcp::{KIND, Params, Rcp};
use incast_cc::{Asks, Config, Controller, Env, Idle, Pacing, Rate, Time};

fn line() -> Env {
    Env { base_rtt: us(20.0), line_rate: Rate::gbps(10), ..env(MSS, 10.0) }
}

fn rate(cc: &Rcp) -> f64 {
    let Pacing::Rate(rate) = cc.pacing() else { panic!("RCP paces") };
    rate
}

#[test]
fn a_sender_paces_at_the_granted_rate_from_the_answer_to_its_syn_on() {
    let mut cc = Rcp::new(&Params::default(), &line());
    assert_close(rate(&cc), 5e8);
    for granted in [4e8, 7e9, 1.3e9] {
        cc.on_rate(granted);
        assert_close(rate(&cc), granted);
        let mut shown = Vec::new();
        cc.state(&mut |name, value| shown.push((name, value)));
        assert_eq!(shown, [("pacing_rate_bps", granted)]);
    }
    // no switch on the path has granted a rate
    cc.on_rate(f64::INFINITY);
    assert_close(rate(&cc), 1e10);
    cc.on_rate(0.0);
    assert_close(rate(&cc), 1e4);
    assert_eq!(cc.cwnd(), 1e6 * f64::from(MSS));
}

#[test]
fn acks_losses_and_timeouts_leave_the_rate_alone() {
    let mut cc = Rcp::new(&Params::default(), &line());
    cc.on_rate(2e9);
    cc.on_ack(&ack(Time::ms(1), segments(1), us(500.0)));
    cc.on_loss(&congestion(Time::ms(1), segments(10)));
    cc.on_timeout(&timeout(Time::ms(2), segments(10), 3));
    assert_close(rate(&cc), 2e9);
}

#[test]
fn after_a_pause_a_flow_begins_anew_but_no_quicker() {
    let mut cc = Rcp::new(&Params::default(), &line());
    cc.on_rate(2e9);
    cc.on_idle(&Idle { now: Time::ms(9), timeouts: 1 });
    assert_close(rate(&cc), 5e8);
    cc.on_rate(1e8);
    cc.on_idle(&Idle { now: Time::ms(19), timeouts: 1 });
    assert_close(rate(&cc), 1e8);
}

#[test]
fn packets_ask_for_rates_and_each_is_acknowledged() {
    let asked = KIND.profile;
    assert!(asked.ack_every_packet && asked.asks == Asks::Rate && asked.own_recovery && !asked.telemetry);
}

#[test]
fn bad_parameters_are_refused_with_what_was_expected() {
    let mut config = Config::new("rcp").unwrap();
    for (key, value, words) in [
        ("initial_rate", "0", "expected a number above 0, at most 1"),
        ("min_rate", "1.01", "expected a number above 0, at most 1"),
        ("max_cwnd", "0.5", "expected a number of at least 1"),
    ] {
        assert_eq!(config.set(key, value).unwrap_err().to_string(), words, "{key}");
    }
    config.set("min_rate", "0.1").unwrap();
    assert_eq!(config.check().unwrap_err().to_string(), "min_rate: expected at most initial_rate");
}
