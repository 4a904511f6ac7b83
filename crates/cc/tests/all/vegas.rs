//! Vegas against vectors computed by hand.

use crate::events::{MSS, Pipe, ack, assert_close, changed, congestion, env, round, segments, timeout, us};
use incast_cc::registry::ParamSet;
use incast_cc::vegas::{Params, Vegas};
use incast_cc::{Ack, Controller, Phase};
use proptest::prelude::*;

fn pipe(params: &Params, window: f64) -> Pipe<Vegas> {
    Pipe::new(Vegas::new(params, &env(MSS, window)))
}

fn form(name: &str) -> Params {
    changed(Params::default(), |p| p.set("form", name).unwrap())
}

fn avoiding(params: Params, window: f64) -> Pipe<Vegas> {
    pipe(&changed(params, |p| p.window.initial_ssthresh = Some(window)), window)
}

#[test]
fn a_window_grows_below_two_segments_in_queues_and_shrinks_above_four() {
    let mut pipe = avoiding(Params::default(), 10.0);
    assert_eq!(pipe.trip(|_| 100.0), 10.0, "the first round trip compares nothing");
    assert_eq!(pipe.trip(|_| 100.0), 11.0);
    assert_eq!(pipe.trip(|_| 120.0), 12.0, "11 (1 - 100/120) = 1.83 segments wait");
    assert_close(pipe.state("diff_segments"), 11.0 / 6.0);
    assert_eq!(pipe.trip(|_| 125.0), 12.0, "2.4 wait");
    assert_eq!(pipe.trip(|_| 200.0), 11.0, "6 wait");
    assert!(!pipe.cc.in_slow_start());
    assert_close(pipe.state("base_rtt_s"), 100e-6);
}

#[test]
fn slow_start_doubles_every_second_round_trip_until_more_than_one_segment_waits() {
    let mut pipe = pipe(&Params::default(), 2.0);
    let windows: Vec<f64> = (0..6).map(|_| pipe.trip(|_| 100.0)).collect();
    assert_eq!(windows, [4.0, 4.0, 8.0, 8.0, 16.0, 16.0]);
    assert!(pipe.cc.in_slow_start());
    assert_eq!(pipe.trip(|_| 110.0), 16.0, "1.45 wait: slow start is over and the window as it is");
    assert_eq!(pipe.cc.ssthresh(), 16_000.0);
    assert_eq!(pipe.trip(|_| 110.0), 17.0, "fewer than 2 wait");
}

#[test]
fn only_the_fixed_round_trip_of_slow_start_ends_it() {
    let mut pipe = pipe(&Params::default(), 8.0);
    assert_eq!(pipe.trip(|_| 100.0), 16.0);
    assert_eq!(pipe.trip(|_| 200.0), 16.0, "the round trip that doubled ends here, and 8 would wait");
    assert!(pipe.cc.in_slow_start());
    pipe.trip(|_| 200.0);
    assert!(!pipe.cc.in_slow_start());
}

#[test]
fn linux_doubles_each_round_trip_and_leaves_slow_start_with_what_fits_and_one() {
    let mut pipe = pipe(&form("linux"), 10.0);
    assert_eq!(pipe.trip(|_| 100.0), 20.0);
    assert_eq!(pipe.trip(|_| 100.0), 40.0);
    assert_eq!(pipe.trip(|_| 125.0), 80.0, "the shortest of the round trip is still 100 us");
    assert_eq!(pipe.trip(|_| 125.0), 65.0, "80 * 100/125 + 1");
    assert_eq!(pipe.cc.ssthresh(), 65_000.0);
    assert_eq!(pipe.trip(|_| 125.0), 64.0, "65 * 25/100 = 16 wait");
    assert_eq!(pipe.state("diff_segments"), 16.0);
}

#[test]
fn forms_count_what_waits_in_their_own_ways() {
    // 10 segments at 115 us of 100: 1.30 by the rates, 10 - 8 in ns-3's whole segments, 1.5 down to 1 in Linux'
    let still = |p: &mut Params| (p.alpha, p.beta) = (1e-9, 100.0);
    for (params, diff) in [(Params::default(), 10.0 * 15.0 / 115.0), (form("ns3"), 2.0), (form("linux"), 1.0)] {
        let mut pipe = avoiding(changed(params, still), 10.0);
        let first = Ack { round: round(0, segments(10)), acked: 0, ..ack(us(100.0), 0, us(100.0)) };
        pipe.cc.on_ack(&first);
        pipe.trip(|_| 115.0);
        pipe.trip(|_| 115.0);
        assert_close(pipe.state("diff_segments"), diff);
        assert_eq!(pipe.cwnd(), 10.0);
    }
}

#[test]
fn fewer_than_three_samples_are_reno() {
    let mut pipe = avoiding(form("linux"), 2.0);
    let windows: Vec<f64> = (0..5).map(|_| pipe.trip(|_| 100.0)).collect();
    // one ACK a round trip counts towards a window of two segments; from the fifth on there are three samples
    assert_eq!(windows, [2.0, 2.0, 3.0, 3.0, 4.0]);
}

#[test]
fn losses_leave_three_quarters_half_or_a_segment_less() {
    let lose = |params: &Params, threshold: Option<f64>| {
        let mut cc = Vegas::new(&changed(*params, |p| p.window.initial_ssthresh = threshold), &env(MSS, 20.0));
        cc.on_loss(&congestion(us(100.0), segments(20)));
        cc.cwnd() / f64::from(MSS)
    };
    assert_eq!(lose(&Params::default(), None), 15.0);
    assert_eq!(lose(&form("linux"), None), 10.0);
    assert_eq!(lose(&form("ns3"), None), 19.0);
    assert_eq!(lose(&form("ns3"), Some(16.0)), 16.0);
    let mut cc = Vegas::new(&Params::default(), &env(MSS, 20.0));
    cc.on_timeout(&timeout(us(100.0), segments(20), 1));
    assert_eq!((cc.cwnd(), cc.ssthresh()), (1_000.0, 15_000.0));
    cc.on_undo();
    assert_eq!(cc.cwnd(), 20_000.0);
}

#[test]
fn a_comparison_leaves_a_threshold_of_three_quarters_in_the_numbers_of_its_form() {
    // 7 segments: Linux has (7 >> 1) + (7 >> 2), ns-3 3 * 7000 / 4 bytes
    for (form_, threshold) in [("linux", 4_000.0), ("ns3", 5_250.0), ("standard", 5_250.0)] {
        let still = changed(form(form_), |p| {
            (p.alpha, p.beta, p.window.initial_ssthresh) = (1e-9, 100.0, Some(2.0));
        });
        let mut pipe = pipe(&still, 7.0);
        let first = Ack { round: round(0, segments(7)), acked: 0, ..ack(us(100.0), 0, us(100.0)) };
        pipe.cc.on_ack(&first);
        pipe.trip(|_| 125.0);
        pipe.trip(|_| 125.0);
        assert_eq!((pipe.cwnd(), pipe.cc.ssthresh()), (7.0, threshold), "{form_}");
    }
}

#[test]
fn a_recovery_begins_the_round_trip_anew() {
    let mut pipe = avoiding(Params::default(), 10.0);
    pipe.trip(|_| 100.0);
    pipe.cc.on_ack(&Ack { phase: Phase::Recovery, ..ack(us(100.0), segments(1), us(400.0)) });
    assert_eq!(pipe.trip(|_| 400.0), 10.0, "7.5 wait, and nothing is compared");
    assert_eq!(pipe.trip(|_| 400.0), 9.0);
}

#[test]
fn linux_forgets_the_shortest_round_trip_when_nothing_is_in_flight() {
    for (params, base) in [(Params::default(), 100e-6), (form("linux"), 200e-6)] {
        let mut pipe = avoiding(params, 10.0);
        pipe.trip(|_| 100.0);
        pipe.cc.on_ack(&Ack { round: round(pipe.sent, pipe.sent), ..ack(us(100.0), segments(1), us(100.0)) });
        pipe.trip(|_| 200.0);
        assert_close(pipe.state("base_rtt_s"), base);
    }
}

#[test]
fn nothing_grows_while_the_application_limits() {
    let mut pipe = avoiding(Params::default(), 10.0);
    pipe.trip(|_| 100.0);
    for i in 0..3 {
        let (acked, sent) = (pipe.acked + segments(11 * (i + 1)), pipe.sent + segments(11 * (i + 1)));
        let event = Ack { round: round(acked, sent), cwnd_limited: false, ..ack(us(100.0), segments(1), us(100.0)) };
        pipe.cc.on_ack(&event);
        assert_eq!(pipe.cwnd(), 10.0);
    }
}

proptest! {
    /// In avoidance a round trip moves the window by a segment at most, and never below the floor.
    #[test]
    fn a_round_trip_is_worth_a_segment(rtts in proptest::collection::vec(50.0..1000.0f64, 1..60), which in 0..3usize) {
        let params = [Params::default(), form("linux"), form("ns3")][which];
        let mut pipe = avoiding(params, 10.0);
        // with round_ends = "at" a round trip is a packet shorter than the window: now and then two end in one trip
        let most = if which == 2 { 2.0 } else { 1.0 };
        let mut before = pipe.cwnd();
        for rtt in rtts {
            let now = pipe.trip(|_| rtt);
            prop_assert!((now - before).abs() <= most && now >= 2.0, "{before} to {now}");
            before = now;
        }
    }
}
