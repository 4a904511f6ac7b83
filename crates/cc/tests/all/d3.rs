//! D3's sender: what it asks for, by hand. What switches allocate: `crates/engine/src/program/d3.rs`.

use crate::events::{MSS, ack, assert_close, changed, env, round, us};
use incast_cc::d3::{D3, KIND, Params};
use incast_cc::{Ack, Asks, Controller, Deadline, Idle, Pacing, Time};

#[test]
fn it_asks_for_what_is_left_over_the_time_that_is_left() {
    let mut cc = D3::new(&Params::default(), &env(MSS, 10.0));
    assert_eq!(cc.wants(Time::ZERO), 0.0, "no deadline");
    cc.on_deadline(&Deadline { end: 1_000_000, at: Time::ms(10) });
    assert_eq!(cc.wants(Time::ZERO), 800e6, "1 MB in 10 ms");
    cc.on_rate(400e6);
    cc.on_ack(&Ack { round: round(200_000, 505_000), ..ack(Time::us(2_000), 1000, us(100.0)) });
    // 495 kB are left, 5 kB of which go in the round trip at work; 8 ms less two round trips
    assert_close(cc.wants(Time::ms(2)) / 1e6, 490_000.0 * 8.0 / 7_800.0);
    // less than two round trips: all of the time
    assert_close(cc.wants(Time::us(9_900)) / 1e6, 490_000.0 * 8.0 / 100.0);
    assert_eq!(cc.wants(Time::ms(10)), 0.0, "too late");
    cc.on_ack(&Ack { round: round(200_000, 1_000_000), ..ack(Time::ms(3), 1000, us(100.0)) });
    assert_eq!(cc.wants(Time::ms(3)), 0.0, "all is sent");
}

#[test]
fn it_paces_at_what_is_allocated() {
    let mut cc = D3::new(&Params::default(), &env(MSS, 10.0));
    assert_eq!(cc.pacing(), Pacing::Rate(50e6), "a twentieth of 1 Gb/s");
    cc.on_rate(300e6);
    assert_eq!(cc.pacing(), Pacing::Rate(300e6));
    cc.on_rate(f64::INFINITY);
    assert_eq!(cc.pacing(), Pacing::Rate(1e9));
    cc.on_rate(0.0);
    assert_eq!(cc.pacing(), Pacing::Rate(1e3));
    cc.on_rate(1e9);
    cc.on_idle(&Idle { now: Time::ms(1), timeouts: 1 });
    assert_eq!(cc.pacing(), Pacing::Rate(50e6));
    let small = changed(Params::default(), |p| p.max_cwnd = 4.0);
    assert_eq!(D3::new(&small, &env(MSS, 10.0)).cwnd(), 4000.0);
}

#[test]
fn its_packets_ask_for_rates_and_it_is_told_deadlines() {
    let asked = KIND.profile;
    assert!(asked.asks == Asks::Rate && asked.deadlines && asked.ack_every_packet && asked.own_recovery);
}
