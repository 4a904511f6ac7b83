//! D3's sender: its requests, computed by hand. Allocations of switches: `crates/engine/src/program/d3.rs`.

use crate::events::{MSS, ack, assert_close, changed, env, round, us};
use incast_cc::d3::{D3, Params};
use incast_cc::{Ack, Controller, Deadline, Env, Idle, Pacing, Time};

/// 1 Gb/s, of which 961.5 Mb/s are payload.
fn line() -> Env {
    Env { line_packet_time: us(8.32), ..env(MSS, 10.0) }
}

#[test]
fn it_asks_for_what_is_left_over_the_time_that_is_left() {
    let mut cc = D3::new(&Params::default(), &line());
    assert_eq!(cc.wants(Time::ZERO), 0.0, "no deadline");
    cc.on_deadline(&Deadline { end: 1_000_000, at: Time::ms(10) });
    assert_eq!(cc.wants(Time::ZERO), 800e6, "1 MB in 10 ms");
    cc.on_rate(400e6);
    cc.on_ack(&Ack { round: round(200_000, 505_000), ..ack(Time::us(2_000), 1000, us(100.0)) });
    // 495 kB are left, 5 kB of which go in the round trip at work; 8 ms less two round trips
    assert_close(cc.wants(Time::ms(2)) / 1e6, 490_000.0 * 8.0 / 7_800.0);
    assert_eq!(cc.wants(Time::us(9_900)), 0.0, "the link carries 12 kB in 100 us");
    assert_eq!(cc.wants(Time::ms(10)), 0.0, "too late");
    cc.on_ack(&Ack { round: round(200_000, 1_000_000), ..ack(Time::ms(3), 1000, us(100.0)) });
    assert_eq!(cc.wants(Time::ms(3)), 0.0, "all is sent");
}

#[test]
fn near_the_deadline_it_asks_for_what_its_link_carries_at_most() {
    let mut cc = D3::new(&Params::default(), &line());
    cc.on_deadline(&Deadline { end: 100_000, at: Time::ms(10) });
    cc.on_ack(&Ack { round: round(0, 90_000), ..ack(Time::us(9_000), 1000, us(100.0)) });
    let left = 10_000.0 * 8.0 - 50e6 * 100e-6;
    // less than two round trips: all of the time
    assert_close(cc.wants(Time::us(9_850)) / 1e6, left / 150.0);
    assert_close(cc.wants(Time::us(9_750)) / 1e6, 961.538_461_538);
    assert_close(cc.wants(Time::us(9_700)) / 1e6, left / 100.0);
    let soonest = Time::ms(10) - Time::from_secs_f64(left / 961.538e6);
    assert!(cc.wants(soonest) > 0.0, "it can just be met");
    assert_eq!(cc.wants(soonest + Time::us(1)), 0.0, "and no longer");
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
    let small = changed(Params::default(), |p| p.rate.max_cwnd = 4.0);
    assert_eq!(D3::new(&small, &env(MSS, 10.0)).cwnd(), 4000.0);
}
