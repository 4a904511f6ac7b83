//! Westwood+ against hand-computed vectors. Its packets against ns-3's: `crates/engine/tests/all/vectors.rs`.

use crate::events::{MSS, ack, assert_close, changed, congestion, env, segments, timeout, us};
use incast_cc::bandwidth::Filter;
use incast_cc::registry::ParamSet;
use incast_cc::westwood_plus::{Params, WestwoodPlus};
use incast_cc::{Ack, Controller, Time};

fn bandwidth(cc: &WestwoodPlus) -> f64 {
    let mut found = f64::NAN;
    cc.state(&mut |name, value| {
        if name == "bandwidth_bps" {
            found = value;
        }
    });
    found
}

fn ms(n: u64) -> Time {
    Time::ms(n)
}

/// Ten ACKs of a segment, 10 ms apart, in each round trip of 100 ms.
fn round(cc: &mut impl Controller, number: u64) {
    for i in 0..10 {
        cc.on_ack(&Ack { cwnd_limited: false, ..ack(ms(100 * number + 10 * i), segments(1), ms(100)) });
    }
}

#[test]
fn a_round_trip_is_a_sample_however_its_acks_are_bunched() {
    let bunched = changed(Params::default(), |p| p.westwood.filter = Filter::None);
    let mut cc = WestwoodPlus::new(&bunched, &env(MSS, 10.0));
    cc.on_ack(&ack(ms(0), segments(1), ms(100)));
    for now in [1, 2, 3, 4, 5, 6, 7, 8, 9] {
        cc.on_ack(&ack(ms(now), segments(1), ms(100)));
        assert_eq!(bandwidth(&cc), 0.0);
    }
    cc.on_ack(&ack(ms(100), segments(1), ms(100)));
    assert_close(bandwidth(&cc), 800e3);
}

#[test]
fn the_average_keeps_nine_tenths() {
    let mut cc = WestwoodPlus::new(&Params::default(), &env(MSS, 10.0));
    round(&mut cc, 0);
    round(&mut cc, 1);
    assert_close(bandwidth(&cc), 80e3);
    round(&mut cc, 2);
    assert_close(bandwidth(&cc), 0.9 * 80e3 + 80e3);
    for number in 3..400 {
        round(&mut cc, number);
    }
    cc.on_loss(&congestion(ms(40_000), segments(20)));
    assert!((cc.cwnd() - 10_000.0).abs() < 1.0 && cc.cwnd() == cc.ssthresh(), "{}", cc.cwnd());
}

#[test]
fn ns3_samples_a_smoothed_round_trip_from_the_first_ack_after_the_sample_before() {
    let mut params = Params::default();
    params.set("form", "ns3").unwrap();
    params.set("filter", "none").unwrap();
    let mut cc = WestwoodPlus::new(&params, &env(MSS, 10.0));
    // begins at 0, ends at 100 ms, and the ACK of that instant is the next's first
    round(&mut cc, 0);
    assert_eq!(bandwidth(&cc), 0.0);
    cc.on_ack(&ack(ms(100), segments(1), ms(100)));
    assert_eq!(bandwidth(&cc), 800e3);
    // a timeout long after brings the sample that has ended by then: one segment in its 100 ms
    cc.on_timeout(&timeout(us(500_000.0), segments(10), 1));
    assert_eq!(bandwidth(&cc), 80e3);
    assert_eq!((cc.cwnd(), cc.ssthresh()), (1_000.0, 2_000.0));
}

#[test]
fn ns3_takes_40_then_116() {
    let mut params = Params::default();
    params.set("form", "ns3").unwrap();
    let mut cc = WestwoodPlus::new(&params, &env(MSS, 10.0));
    round(&mut cc, 0);
    round(&mut cc, 1);
    // whole bits per second: a tenth of 400,000 falls short of 40,000 by what 0.9 lacks
    assert_eq!(bandwidth(&cc), f64::floor(400e3 * (1.0 - 0.9)));
    round(&mut cc, 2);
    assert!((bandwidth(&cc) - 116e3).abs() <= 3.0, "{}", bandwidth(&cc));
    for number in 3..400 {
        round(&mut cc, number);
    }
    assert!((bandwidth(&cc) - 800e3).abs() <= 20.0, "{}", bandwidth(&cc));
    cc.on_loss(&congestion(ms(40_000), segments(20)));
    assert!((9_999.0..=10_000.0).contains(&cc.ssthresh()), "{}", cc.ssthresh());
}
