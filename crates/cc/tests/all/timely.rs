//! TIMELY against hand-computed steps of algorithm 1, at 10 Gb/s with the paper's thresholds: t_low
//! 50 us, t_high 500 us, min_rtt 20 us, delta 10 Mb/s.

use crate::events::{MSS, ack, assert_close, congestion, env, round, segments, timeout, us};
use incast_cc::registry::ParamSet;
use incast_cc::timely::{KIND, Params, Timely};
use incast_cc::{Ack, Config, Controller, Env, Pacing, Rate, Time};
use proptest::prelude::*;

const G: f64 = 1e9;

fn line() -> Env {
    Env { base_rtt: us(20.0), line_rate: Rate::gbps(10), ..env(MSS, 10.0) }
}

fn rate(cc: &Timely) -> f64 {
    let Pacing::Rate(rate) = cc.pacing() else { panic!("TIMELY paces") };
    rate
}

/// Half the line's rate, and the RTTs of completion events in turn; the first only sets the start.
fn after(params: &Params, rtts: &[f64]) -> f64 {
    let mut cc = Timely::new(&Params { initial_rate: 0.5, ..*params }, &line());
    for (i, rtt) in rtts.iter().enumerate() {
        cc.on_ack(&event(i as u64, *rtt));
    }
    rate(&cc)
}

/// The first ACK of data sent after the event before.
fn event(i: u64, rtt: f64) -> Ack {
    Ack { round: round(segments(10 * i + 1), segments(10 * i + 10)), ..ack(Time::ms(1 + i), segments(10), us(rtt)) }
}

#[test]
fn thresholds_are_the_papers_in_proportion_to_the_idle_round_trip() {
    let mut form = Params::default();
    form.set("form", "paper").unwrap();
    form.set("completion", "rtt").unwrap();
    for rtts in [[100.0, 49.9], [30.0, 60.0], [500.0, 501.0], [500.0, 400.0]] {
        assert_eq!(after(&form, &rtts), after(&Params::default(), &rtts), "{rtts:?}");
    }
}

#[test]
fn a_flow_starts_at_the_rate_of_its_line_and_the_first_rtt_has_no_gradient() {
    let mut cc = Timely::new(&Params::default(), &line());
    assert_eq!((rate(&cc), cc.cwnd()), (10.0 * G, 1_000_000.0));
    cc.on_ack(&event(0, 600.0));
    assert_eq!(rate(&cc), 10.0 * G);
}

#[test]
fn below_t_low_the_rate_rises_whatever_the_gradient() {
    assert_close(after(&Params::default(), &[20.0, 49.9]) / G, 5.01);
    assert_close(after(&Params::default(), &[20.0, 30.0, 40.0, 49.0]) / G, 5.03);
}

#[test]
fn above_t_high_the_rate_falls_whatever_the_gradient() {
    // 1 - 0.8 (1 - 500 / 1000)
    assert_close(after(&Params::default(), &[2000.0, 1000.0]) / G, 3.0);
    // 1 - 0.8 (1 - 500 / 625)
    assert_close(after(&Params::default(), &[600.0, 625.0]) / G, 4.2);
}

#[test]
fn between_the_thresholds_the_rate_falls_in_proportion_to_the_gradient() {
    // rtt_diff 0.875 2, gradient 0.0875, factor 0.93
    assert_close(after(&Params::default(), &[100.0, 102.0]) / G, 4.65);
    // then 0.125 1.75 + 0.875 4 = 3.71875 us, gradient 0.1859375, factor 0.85125
    assert_close(after(&Params::default(), &[100.0, 102.0, 106.0]) / G, 4.65 * 0.85125);
    // a gradient of 1.75 would make the factor negative: the smallest rate, 10 Mb/s
    assert_close(after(&Params::default(), &[100.0, 140.0]) / G, 0.01);
    // at the thresholds themselves the gradient decides
    assert_close(after(&Params::default(), &[48.0, 50.0]) / G, 4.65);
    assert_close(after(&Params::default(), &[498.0, 500.0]) / G, 4.65);
}

#[test]
fn its_trace_tells_rate_and_gradient() {
    let mut cc = Timely::new(&Params { initial_rate: 0.5, ..Params::default() }, &line());
    cc.on_ack(&event(0, 100.0));
    cc.on_ack(&event(1, 102.0));
    let mut seen = vec![];
    cc.state(&mut |name, value| seen.push((name, value)));
    assert_eq!(seen.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["pacing_rate_bps", "gradient"]);
    assert_close(seen[0].1 / G, 4.65);
    assert_close(seen[1].1, 0.0875);
}

#[test]
fn without_a_rising_rtt_the_rate_rises_and_from_the_fifth_event_on_five_times_as_fast() {
    let steady = [100.0; 8];
    for (events, gained) in [(2, 1.0), (3, 2.0), (5, 4.0), (6, 9.0), (7, 14.0), (8, 19.0)] {
        assert_close(after(&Params::default(), &steady[..events]) / G, 5.0 + 0.01 * gained);
    }
    // one that rises begins the count anew: 4 steps, a factor of 0.93, then steps of one
    let broken = [100.0, 100.0, 100.0, 100.0, 100.0, 102.0, 90.0, 90.0];
    assert_close(after(&Params::default(), &broken) / G, 5.04 * 0.93 + 0.02);
    assert_close(after(&Params { hai_threshold: 2, ..Params::default() }, &steady[..3]) / G, 5.06);
    assert_close(after(&Params { hai_threshold: 2, hai: 3.0, ..Params::default() }, &steady[..3]) / G, 5.04);
}

#[test]
fn the_rate_stays_between_its_floor_and_the_line() {
    assert_eq!(after(&Params { delta: 1.0, ..Params::default() }, &[30.0, 30.0, 30.0]), 10.0 * G);
    let floor = Params { min_rate: 0.25, ..Params::default() };
    assert_eq!(after(&floor, &[100.0, 140.0]), 2.5 * G);
}

#[test]
fn a_completion_event_is_a_round_trip_or_a_segment() {
    // ACKs of what was outstanding at the latest event are none
    let mut cc = Timely::new(&Params { initial_rate: 0.5, ..Params::default() }, &line());
    cc.on_ack(&event(0, 30.0));
    for una in 2..=10 {
        cc.on_ack(&Ack { round: round(segments(una), segments(10)), ..event(0, 40.0) });
    }
    assert_eq!(rate(&cc), 5.0 * G);
    cc.on_ack(&event(1, 40.0));
    assert_close(rate(&cc) / G, 5.01);

    let mut params = Params { initial_rate: 0.5, segment: 3000, ..Params::default() };
    params.set("completion", "segment").unwrap();
    let mut cc = Timely::new(&params, &line());
    for packet in 0..12 {
        cc.on_ack(&Ack { round: round(1, segments(2)), ..ack(Time::ms(packet), segments(1), us(30.0)) });
    }
    // four segments of three packets, the first of which has no gradient yet
    assert_close(rate(&cc) / G, 5.03);
}

#[test]
fn the_rtt_is_the_fabrics() {
    let mut cc = Timely::new(&Params { initial_rate: 0.5, ..Params::default() }, &line());
    cc.on_ack(&event(0, 30.0));
    cc.on_ack(&Ack { rtt: Some(us(900.0)), ..event(1, 40.0) });
    assert_close(rate(&cc) / G, 5.01);
    cc.on_ack(&Ack { fabric_delay: None, ..event(2, 900.0) });
    assert_close(rate(&cc) / G, 5.01);
}

#[test]
fn losses_and_timeouts_leave_the_rate_alone() {
    let mut cc = Timely::new(&Params::default(), &line());
    cc.on_loss(&congestion(Time::ms(1), segments(10)));
    cc.on_timeout(&timeout(Time::ms(2), segments(10), 3));
    assert_eq!((rate(&cc), cc.cwnd()), (10.0 * G, 1_000_000.0));
}

#[test]
fn every_packet_is_acknowledged_and_losses_leave_the_rate_alone() {
    // completion events need the RTT of each segment; the transport repairs losses on its own
    let asked = KIND.profile;
    assert!(asked.ack_every_packet && asked.own_recovery);
}

#[test]
fn bad_parameters_are_refused_with_what_was_expected() {
    let mut config = Config::new("timely").unwrap();
    for (key, value, words) in [
        ("alpha", "0", "expected a number above 0, at most 1"),
        ("beta", "1.1", "expected a number above 0, at most 1"),
        ("delta", "0", "expected a number above 0, at most 1"),
        ("min_rate", "2", "expected a number above 0, at most 1"),
        ("initial_rate", "0", "expected a number above 0, at most 1"),
        ("hai_threshold", "0", "expected a whole number of at least 1"),
        ("hai", "0.5", "expected a number of at least 1"),
        ("segment", "0", "expected a whole number of at least 1"),
        ("max_cwnd", "0.5", "expected a number of at least 1"),
    ] {
        assert_eq!(config.set(key, value).unwrap_err().to_string(), words, "{key}");
    }
    for (settings, words) in [
        (&[("min_rate", "0.5"), ("initial_rate", "0.4")][..], "min_rate: expected at most initial_rate"),
        (&[("t_low", "3us"), ("t_high", "3us")], "t_low: expected below t_high"),
        (&[("min_rtt", "0s")], "min_rtt: expected above 0"),
    ] {
        let mut config = Config::new("timely").unwrap();
        settings.iter().for_each(|(key, value)| config.set(key, value).unwrap());
        assert_eq!(config.check().unwrap_err().to_string(), words);
    }
}

proptest! {
    #[test]
    fn the_rate_is_never_outside_its_bounds(rtts in proptest::collection::vec(1.0f64..3000.0, 1..100)) {
        let mut cc = Timely::new(&Params::default(), &line());
        for (i, rtt) in rtts.into_iter().enumerate() {
            cc.on_ack(&event(i as u64, rtt));
            prop_assert!((0.01 * G..=10.0 * G).contains(&rate(&cc)));
        }
    }
}
