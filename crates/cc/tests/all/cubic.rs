//! CUBIC against hand-computed vectors of RFC 9438, HyStart's two signs, and Linux' integers as its code computes
//! them.

use crate::events::{MSS, ack, assert_close, changed, congestion, env, round, segments, timeout, us};
use incast_cc::cubic::{Cubic, Params};
use incast_cc::registry::ParamSet;
use incast_cc::reno_window::Halve;
use incast_cc::{Ack, Congestion, Controller, Idle, Phase, Time};
use proptest::prelude::*;

fn plain() -> Params {
    Params { hystart: false, ..Params::default() }
}

fn linux() -> Params {
    let mut params = Params::default();
    params.set("form", "linux").unwrap();
    params
}

fn state(cc: &Cubic, wanted: &str) -> f64 {
    let mut found = f64::NAN;
    cc.state(&mut |name, value| {
        if name == wanted {
            found = value;
        }
    });
    found
}

fn cwnd(cc: &Cubic) -> f64 {
    cc.cwnd() / f64::from(MSS)
}

/// The ACK of one segment at `now` seconds, of round trips of 100 ms.
fn one(now: f64) -> Ack {
    Ack { round: round(segments(1), 10_000_000), ..ack(us(now * 1e6), segments(1), us(100e3)) }
}

/// A flow that has just lost at a window of 100 segments, all in flight.
fn lost_at_100(params: Params) -> Cubic {
    let mut cc = Cubic::new(&params, &env(MSS, 100.0));
    cc.on_loss(&congestion(us(0.0), segments(100)));
    cc
}

#[test]
fn a_loss_at_100_leaves_70_and_the_curve_is_back_after_4_217_seconds() {
    let mut cc = lost_at_100(plain());
    assert_eq!((cwnd(&cc), cc.ssthresh()), (70.0, 70_000.0));
    cc.on_ack(&one(1.0));
    assert!((state(&cc, "k_s") - 4.217).abs() < 0.0005, "{}", state(&cc, "k_s"));
    assert_eq!(state(&cc, "w_max_bytes"), 100_000.0);
}

#[test]
fn each_ack_takes_its_share_of_the_way_to_the_curve_a_round_trip_ahead() {
    let mut cc = lost_at_100(Params { reno_friendly: false, ..plain() });
    let k = f64::cbrt(75.0);
    let curve = |t: f64| 0.4 * (t - k).powi(3) + 100.0;
    cc.on_ack(&one(1.0));
    let first = 70.0 + (curve(0.1) - 70.0) / 70.0;
    assert_close(cwnd(&cc), first);
    cc.on_ack(&one(1.05));
    // without a smoothed round trip the sample's
    let mut fresh = lost_at_100(Params { reno_friendly: false, ..plain() });
    fresh.on_ack(&Ack { srtt: Time::ZERO, ..one(1.0) });
    assert_close(cwnd(&fresh), first);
    let second = first + (curve(0.15) - first) / first;
    assert_close(cwnd(&cc), second);
    // an ACK of two segments counts twice
    cc.on_ack(&Ack { acked: segments(2), delivered: segments(2), ..one(1.06) });
    assert_close(cwnd(&cc), second + 2.0 * (curve(0.16) - second) / second);
}

#[test]
fn the_target_is_at_most_half_more_than_the_window_and_never_less() {
    let mut cc = lost_at_100(Params { reno_friendly: false, ..plain() });
    cc.on_ack(&one(1.0));
    let before = cwnd(&cc);
    // ten seconds on the curve is at 177 segments
    cc.on_ack(&one(11.0));
    assert_close(cwnd(&cc), before + 0.5);
    // an ACK of very many segments does not pass the target
    let before = cwnd(&cc);
    cc.on_ack(&Ack { acked: segments(1000), delivered: segments(1000), ..one(11.0) });
    assert_close(cwnd(&cc), 1.5 * before);
    // where the curve is below the window, the window stays
    let mut cc = lost_at_100(Params { reno_friendly: false, ..plain() });
    cc.on_ack(&one(1.0));
    let before = cwnd(&cc);
    cc.on_ack(&Ack { srtt: us(1.0), ..one(1.0) });
    assert_eq!(cwnd(&cc), before);
}

#[test]
fn below_renos_window_it_is_renos_window() {
    // round trips of 1 ms: the curve has hardly begun when Reno's estimate has grown by alpha a window
    let mut cc = lost_at_100(plain());
    let quick = |now: f64| Ack { srtt: us(1e3), rtt: Some(us(1e3)), ..one(now) };
    let alpha = 3.0 * 0.3 / 1.7;
    assert!((alpha - 0.5294f64).abs() < 0.00005);
    let mut estimate = 70.0;
    for i in 0..700 {
        estimate += alpha / cwnd(&cc);
        cc.on_ack(&quick(1.0 + 1e-5 * f64::from(i)));
        assert!(cwnd(&cc) >= estimate - 1e-9);
    }
    assert!((cwnd(&cc) - estimate).abs() < 0.5, "{} {estimate}", cwnd(&cc));
    // without the estimate the curve alone has not moved by a segment
    let mut alone = lost_at_100(Params { reno_friendly: false, ..plain() });
    for i in 0..700 {
        alone.on_ack(&quick(1.0 + 1e-5 * f64::from(i)));
    }
    assert!(cwnd(&alone) < 71.0, "{}", cwnd(&alone));
}

#[test]
fn renos_estimate_grows_by_a_whole_segment_from_where_it_lost() {
    let mut cc = Cubic::new(&plain(), &env(MSS, 10.0));
    cc.on_loss(&congestion(us(0.0), segments(10)));
    let quick = |now: f64| Ack { srtt: us(10.0), rtt: Some(us(10.0)), ..one(now) };
    let mut windows = vec![];
    for i in 0..100 {
        let before = cwnd(&cc);
        cc.on_ack(&quick(1.0 + 1e-6 * f64::from(i)));
        windows.push((before, cwnd(&cc) - before));
    }
    let slow = windows.iter().find(|(window, _)| *window < 9.0 && *window > 7.5).unwrap();
    let fast = windows.iter().find(|(window, _)| *window > 10.1).unwrap();
    assert_close(slow.1 * slow.0, 0.9 / 1.7);
    assert_close(fast.1 * fast.0, 1.0);
}

#[test]
fn renos_estimate_that_begins_where_the_window_lost_grows_by_whole_segments_at_once() {
    // a loss at 70 segments with 100 in flight leaves 70: section 4.3, W_est is not below cwnd_prior
    let mut cc = Cubic::new(&plain(), &env(MSS, 70.0));
    cc.on_loss(&Congestion { window: 70_000.0, ..congestion(us(0.0), segments(100)) });
    assert_eq!(cwnd(&cc), 70.0);
    cc.on_ack(&Ack { acked: segments(2), delivered: segments(2), ..one(1.0) });
    assert_close(cwnd(&cc), 70.0 + 2.0 / 70.0);
}

#[test]
fn where_curve_and_estimate_are_equal_the_curve_decides() {
    // section 4.3: W_cubic(t) < W_est is Reno's region. Both begin at 64 segments; after one segment the estimate is
    // 64 + 1/64 = 4097/64, and 4097 more add 64; the curve has come to the same in a second
    let params = Params { c: 4097.0 / 64.0, ..plain() };
    let mut cc = Cubic::new(&Params { beta: 0.5, ..params }, &env(MSS, 64.0));
    cc.on_loss(&Congestion { window: 64_000.0, ..congestion(us(0.0), segments(128)) });
    cc.on_ack(&one(1.0));
    assert_eq!(cwnd(&cc), 4097.0 / 64.0);
    cc.on_ack(&Ack { acked: segments(4097), delivered: segments(4097), ..one(2.0) });
    assert_close(cwnd(&cc), 1.5 * 4097.0 / 64.0);
}

#[test]
fn a_mark_is_answered_as_a_loss() {
    // RFC 9438 section 4.6: a packet loss or ECN-Echo
    let mut cc = Cubic::new(&plain(), &env(MSS, 100.0));
    cc.on_ecn(&congestion(us(0.0), segments(100)));
    assert_eq!((cwnd(&cc), state(&cc, "w_max_bytes")), (70.0, 100_000.0));
}

#[test]
fn a_window_that_shrinks_from_loss_to_loss_aims_lower() {
    let second = |params: Params| {
        let mut cc = lost_at_100(params);
        cc.on_loss(&congestion(us(1e6), segments(70)));
        state(&cc, "w_max_bytes")
    };
    assert_close(second(plain()), 1.7 / 2.0 * 70_000.0);
    assert_eq!(second(Params { fast_convergence: false, ..plain() }), 70_000.0);
    // one as large or larger does not
    for window in [100, 120] {
        let mut cc = lost_at_100(plain());
        cc.on_loss(&congestion(us(1e6), segments(window)));
        assert_eq!(state(&cc, "w_max_bytes"), segments(window) as f64);
    }
}

#[test]
fn a_loss_cuts_what_is_in_flight_or_linux_the_window() {
    let event = |flight, window| {
        let mut event = congestion(us(0.0), segments(flight));
        event.window = segments(window) as f64;
        event
    };
    for (params, left) in [(plain(), 28.0), (linux(), 70.0)] {
        let mut cc = Cubic::new(&params, &env(MSS, 100.0));
        cc.on_loss(&event(40, 100));
        assert_close(cwnd(&cc), left);
        assert_eq!(state(&cc, "w_max_bytes"), 100_000.0);
    }
    let mut cc = Cubic::new(&plain(), &env(MSS, 2.0));
    cc.on_loss(&event(2, 2));
    assert_eq!(cwnd(&cc), 2.0, "two segments at least");
}

#[test]
fn after_a_timeout_the_curve_starts_at_its_own_window() {
    let mut cc = lost_at_100(plain());
    cc.on_timeout(&timeout(us(1e6), segments(70), 1));
    assert_eq!((cwnd(&cc), cc.ssthresh()), (1.0, 49_000.0));
    for i in 0..48 {
        cc.on_ack(&Ack { phase: Phase::Loss, ..one(2.0 + 1e-3 * f64::from(i)) });
    }
    assert_eq!((cwnd(&cc), state(&cc, "k_s")), (49.0, 0.0), "slow start up to ssthresh");
    cc.on_ack(&one(3.0));
    assert_eq!((state(&cc, "k_s"), state(&cc, "w_max_bytes")), (0.0, 0.0));
    assert!(cwnd(&cc) > 49.0);
    // the second timeout of the same data lowers nothing
    cc.on_timeout(&timeout(us(4e6), segments(1), 2));
    assert_eq!(cc.ssthresh(), 49_000.0);
}

#[test]
fn a_mistaken_loss_gives_back_window_and_curve() {
    let mut cc = lost_at_100(plain());
    for i in 0..50 {
        cc.on_ack(&one(1.0 + 0.01 * f64::from(i)));
    }
    let before = (cc.cwnd(), cc.ssthresh(), state(&cc, "w_max_bytes"), state(&cc, "k_s"));
    cc.on_loss(&congestion(us(1.6e6), segments(50)));
    assert_ne!((cc.cwnd(), state(&cc, "k_s")), (before.0, before.3));
    cc.on_undo();
    assert_eq!((cc.cwnd(), state(&cc, "w_max_bytes"), state(&cc, "k_s")), (before.0, before.2, before.3));
    assert!(cc.ssthresh() >= before.1);
    // Linux keeps the curve of the loss
    let mut cc = lost_at_100(linux());
    cc.on_loss(&congestion(us(1e6), segments(70)));
    cc.on_undo();
    assert_eq!(state(&cc, "w_max_bytes"), 59_000.0);
}

#[test]
fn time_without_data_in_flight_is_no_time_of_the_curve() {
    let at_rest = |pause: f64| {
        let mut cc = lost_at_100(Params { reno_friendly: false, ..plain() });
        for i in 0..100 {
            cc.on_ack(&one(1.0 + 0.01 * f64::from(i)));
        }
        // the last ACK of what was sent, and the first of what is sent `pause` seconds later
        cc.on_ack(&Ack { round: round(500, 500), ..one(2.0) });
        let before = cwnd(&cc);
        cc.on_ack(&one(2.1 + pause));
        cwnd(&cc) - before
    };
    assert_close(at_rest(0.0), at_rest(3.0));
    assert!(at_rest(3.0) > 0.0);
}

/// bictcp_cwnd_event: the curve is delayed by the time without sending, but not into the future.
#[test]
fn linux_moves_the_curve_by_the_time_since_the_latest_data_was_sent() {
    let windows = |pause: f64, all_acked: bool| {
        let mut cc = lost_at_100(linux());
        cc.on_ack(&one(1.0));
        // the last ACK of what was sent, if it is, and what is sent `pause` seconds later
        let una = if all_acked { 10_000_000 } else { 0 };
        cc.on_ack(&Ack { round: round(una, 10_000_000), ..one(1.5) });
        let start = cwnd(&cc);
        let mut grown = vec![];
        for _ in 0..40 {
            cc.on_ack(&one(1.6 + pause));
            grown.push(cwnd(&cc) - start);
        }
        grown
    };
    assert_eq!(windows(0.0, true), windows(3.0, true));
    // half a second on the curve and a round trip: 100 - 18 segments, so 70 / 12 = 5 ACKs each, two of which had been
    assert_eq!(windows(0.0, true)[39], 8.0);
    assert_ne!(windows(0.0, false), windows(3.0, false), "the curve runs on while data is in flight");
    // the ACK that begins the curve leaves nothing in flight, of data sent 100 ms before; the next, 3 s later, comes
    // after 50 ms: 1 s and 3050 ms would be in the future
    let mut cc = lost_at_100(linux());
    cc.on_ack(&Ack { round: round(10_000_000, 10_000_000), ..one(1.0) });
    cc.on_ack(&Ack { rtt: Some(us(50e3)), ..one(4.0) });
    let mut fresh = lost_at_100(linux());
    fresh.on_ack(&one(4.0));
    fresh.on_ack(&one(4.0));
    (0..60).for_each(|_| [&mut cc, &mut fresh].into_iter().for_each(|cc| cc.on_ack(&one(4.0))));
    assert_eq!(cwnd(&cc), cwnd(&fresh));
}

#[test]
fn idle_times_restart_or_decay() {
    let mut cc = Cubic::new(&plain(), &env(MSS, 10.0));
    for i in 0..30 {
        cc.on_ack(&one(0.1 + 1e-4 * f64::from(i)));
    }
    assert_eq!(cwnd(&cc), 40.0, "slow start");
    cc.on_idle(&Idle { now: Time::s(2), timeouts: 1 });
    assert_eq!(cwnd(&cc), 10.0);
}

/// ACKs of a segment `gap` us apart from `start`, `rtt` each; the window at which slow start ended.
fn slow_start(params: Params, gap: f64, rtt: impl Fn(u32) -> f64, acks: u32) -> Option<f64> {
    let mut cc = Cubic::new(&params, &env(MSS, 10.0));
    let mut acked = 0;
    for i in 0..acks {
        acked += segments(1);
        let now = us(1000.0 + gap * f64::from(i));
        let rtt = us(rtt(i));
        let una = acked;
        cc.on_ack(&Ack { round: round(una, una + cc.cwnd() as u64), srtt: rtt, ..ack(now, segments(1), rtt) });
        if cc.ssthresh().is_finite() {
            return Some(cc.ssthresh() / f64::from(MSS));
        }
    }
    None
}

#[test]
fn a_train_of_acks_for_half_a_round_trip_ends_slow_start() {
    // ACKs each 10 us, round trips of 500 us
    let strict = Params { hystart_cushion: 0.0, ..Params::default() };
    let found = slow_start(strict, 10.0, |_| 500.0, 400).expect("a train");
    // rounds begin with ACK 1, 12 and 34, of which the third is longer than 250 us: ACK 60 is 260 us later
    assert_eq!(found, 10.0 + 59.0);
    // the cushion delays it: 262144 B at two windows a round trip
    let cushioned = slow_start(Params::default(), 10.0, |_| 500.0, 400).expect("a longer train");
    assert!(cushioned > found, "{cushioned}");
    // a pause of more than 2 ms is no train
    assert_eq!(slow_start(strict, 2_010.0, |_| 500.0, 400), None);
    assert_eq!(slow_start(Params { hystart: false, ..strict }, 10.0, |_| 500.0, 400), None);
    // nor is a small window's
    let low = Params { hystart_low_window: 1000.0, ..strict };
    assert_eq!(slow_start(low, 10.0, |_| 500.0, 400), None);
}

/// A flow in slow start with a given window, and ACKs that acknowledge nothing: (us, round trip in us, una). True if
/// slow start ended with the last of them, and not before.
fn found_by_the_last(params: Params, window: f64, acks: &[(f64, f64, u64)]) -> bool {
    let mut cc = Cubic::new(&params, &env(MSS, window));
    for (i, &(now, rtt, una)) in acks.iter().enumerate() {
        assert!(cc.ssthresh().is_infinite(), "ACK {i}");
        cc.on_ack(&Ack { round: round(una, una + 1000), ..ack(us(now), 0, us(rtt)) });
    }
    cc.ssthresh().is_finite()
}

// hystart_update of Linux' tcp_cubic.c, at its edges.

#[test]
fn a_train_is_longer_than_half_a_round_trip_from_sixteen_segments_on() {
    let strict = Params { hystart_cushion: 0.0, ..Params::default() };
    let train = |window, gap| found_by_the_last(strict, window, &[(0.0, 500.0, 1), (gap, 500.0, 1)]);
    assert!(!train(16.0, 250.0) && train(16.0, 251.0));
    assert!(!train(15.0, 251.0));
    // ACKs 2 ms apart are of one train
    assert!(train(16.0, 2_000.0) && !train(16.0, 2_001.0));
    // the train goes on from ACK to ACK: 2 ms and 2 ms of 5 ms, from the first of the round
    let acks = [(0.0, 8_000.0, 1), (2_000.0, 8_000.0, 1), (4_000.0, 8_000.0, 1), (4_001.0, 8_000.0, 1)];
    assert!(found_by_the_last(strict, 16.0, &acks));
    // a new round begins with the ACK beyond what was sent when the latest began
    for (una, found) in [(1_001, true), (1_002, false)] {
        assert_eq!(
            found_by_the_last(strict, 16.0, &[(0.0, 500.0, 1), (200.0, 500.0, una), (300.0, 500.0, una)]),
            found
        );
    }
}

#[test]
fn the_cushion_is_its_bytes_at_two_windows_a_round_trip_and_at_most_a_millisecond() {
    // 262144 500 / 200000 = 655 us: (500 + 655) / 2 = 577; at 20 segments 3276 us, so 1000: (500 + 1000) / 2 = 750
    for (window, longest) in [(100.0, 577.0), (20.0, 750.0)] {
        for (after, found) in [(longest, false), (longest + 1.0, true)] {
            let acks = [(0.0, 500.0, 1), (100.0, 500.0, 1), (after, 500.0, 1)];
            assert_eq!(found_by_the_last(Params::default(), window, &acks), found, "{window}: {after}");
        }
    }
}

#[test]
fn the_least_of_nine_round_trips_of_a_round_is_held_against_the_shortest() {
    // ACKs 3 ms apart: no train. 40 ms and an eighth
    let least = |n: u64, rtt: f64, odd: f64| {
        let mut acks = vec![(0.0, 40_000.0, 1)];
        acks.extend((1..=n).map(|i| (3_000.0 * i as f64, if i == 1 { odd } else { rtt }, 2_000)));
        found_by_the_last(Params::default(), 20.0, &acks)
    };
    assert!(!least(8, 45_001.0, 45_001.0) && least(9, 45_001.0, 45_001.0));
    assert!(!least(9, 45_000.0, 45_000.0));
    assert!(!least(9, 60_000.0, 45_000.0), "one short one");
}

#[test]
fn a_train_at_the_threshold_is_no_slow_start_and_leaves_hystart_for_the_next() {
    let mut cc = Cubic::new(&Params { hystart_cushion: 0.0, ..Params::default() }, &env(MSS, 20.0));
    cc.on_loss(&congestion(us(0.0), segments(40)));
    assert_eq!((cwnd(&cc), cc.ssthresh()), (28.0, 28_000.0));
    // ACKs each 10 us that acknowledge nothing
    let train = |cc: &mut Cubic, start: f64, acked: u64| {
        for i in 0..60 {
            let now = us(start + 10.0 * f64::from(i));
            cc.on_ack(&Ack { round: round(1, 1_000_000), ..ack(now, acked, us(500.0)) });
        }
    };
    train(&mut cc, 2e6, 0);
    cc.on_idle(&Idle { now: Time::s(3), timeouts: 1 });
    assert_eq!((cwnd(&cc), cc.ssthresh()), (20.0, 28_000.0));
    train(&mut cc, 3e6, 0);
    assert_eq!(cc.ssthresh(), 20_000.0, "the train of the new slow start is found");
}

#[test]
fn slow_start_is_found_to_end_once() {
    let mut cc = Cubic::new(&Params { hystart_cushion: 0.0, ..Params::default() }, &env(MSS, 10.0));
    let play = |cc: &mut Cubic, start: f64, acks: u32, acked: u64| {
        for i in 0..acks {
            let now = us(start + 10.0 * f64::from(i));
            cc.on_ack(&Ack { round: round(1, 1_000_000), ..ack(now, acked, us(500.0)) });
        }
    };
    play(&mut cc, 1e6, 20, segments(1));
    play(&mut cc, 1e6 + 200.0, 10, 0);
    assert_eq!((cwnd(&cc), cc.ssthresh()), (30.0, 30_000.0));
    // after an idle time up to that threshold again, whatever trains say
    cc.on_idle(&Idle { now: Time::s(2), timeouts: 1 });
    play(&mut cc, 2e6, 10, segments(1));
    play(&mut cc, 2e6 + 100.0, 50, 0);
    assert_eq!((cwnd(&cc), cc.ssthresh()), (20.0, 30_000.0));
}

#[test]
fn round_trips_that_grow_end_slow_start() {
    // 40 ms, then an eighth and a little more; ACKs 3 ms apart are no train
    let grown = |by: f64| slow_start(Params::default(), 3_000.0, |i| 40_000.0 + if i < 40 { 0.0 } else { by }, 400);
    assert_eq!(grown(4_900.0), None);
    assert!(grown(5_100.0).is_some());
    // at least 4 ms, at most 16 ms, whatever an eighth is
    let short = |by: f64| slow_start(Params::default(), 3_000.0, |i| 800.0 + if i < 40 { 0.0 } else { by }, 400);
    assert_eq!((short(3_900.0), short(4_100.0).is_some()), (None, true));
    let long = |by: f64| slow_start(Params::default(), 3_000.0, |i| 800_000.0 + if i < 40 { 0.0 } else { by }, 400);
    assert_eq!((long(15_900.0), long(16_100.0).is_some()), (None, true));
    // one slow round trip among quick ones is none
    let one = slow_start(Params::default(), 3_000.0, |i| 40_000.0 + if i == 50 { 9e4 } else { 0.0 }, 400);
    assert_eq!(one, None);
}

#[test]
fn linux_computes_the_curve_in_ticks() {
    // HZ = 1000, a round trip of 100 ms, an ACK a segment; windows as tcp_cubic.c's steps give them
    let mut cc = Cubic::new(&linux(), &env(MSS, 100.0));
    cc.on_ack(&Ack { phase: Phase::Cwr, ..one(0.1) });
    cc.on_loss(&congestion(us(0.2e6), segments(100)));
    assert_eq!(cwnd(&cc), 70.0);
    let mut windows = vec![];
    for round in 0..100u32 {
        let window = cwnd(&cc) as u32;
        for i in 0..window {
            let tick = 1000 + 100 * round + 100 * i / window;
            cc.on_ack(&one(f64::from(tick) * 1e-3 + 1e-6));
        }
        windows.push(cwnd(&cc));
    }
    assert_eq!(state(&cc, "k_s"), 4317.0 / 1024.0, "the cube root of 75 seconds is 4.2172");
    let at: [f64; 11] = [0, 9, 19, 29, 39, 49, 59, 69, 79, 89, 99].map(|round| windows[round]);
    // Linux' root of 75, 4316, is one 1024th of a second short of ours, which moves two of these by a segment
    let linux = [73.0, 87.0, 97.0, 100.0, 100.0, 100.0, 102.0, 109.0, 122.0, 144.0, 177.0];
    assert_eq!(at, [72.0, 87.0, 97.0, 100.0, 100.0, 100.0, 102.0, 109.0, 121.0, 144.0, 177.0]);
    assert!(at.iter().zip(linux).all(|(ours, theirs): (&f64, f64)| (ours - theirs).abs() <= 1.0));
}

/// Linux' form on a curve that takes seconds for a segment, lost at 40 segments with a window of 40 left: its plateau.
fn flat() -> Cubic {
    let params = Params { c: 0.001, hystart: false, cut_of: Halve::Flight, ..linux() };
    let mut cc = Cubic::new(&params, &env(MSS, 40.0));
    cc.on_loss(&Congestion { window: 40_000.0, ..congestion(us(0.0), segments(58)) });
    assert_eq!(cwnd(&cc), 40.0);
    cc
}

/// ACKs of a segment each in one tick.
fn at_tick(cc: &mut Cubic, tick: u64, acks: u32) -> f64 {
    (0..acks).for_each(|_| {
        cc.on_ack(&Ack { round: round(segments(1), 10_000_000), ..ack(Time::ms(tick), segments(1), us(100e3)) })
    });
    cwnd(cc)
}

#[test]
fn linux_counts_a_segment_of_renos_for_each_cwnd_15_8() {
    // 8 (1024 + 717) / 3 / (1024 - 717) = 15, so 75 segments are to be acknowledged at 40; more than that makes one.
    // The curve asks for 100 40 ACKs; it is looked at when the window has moved or a 32nd of a second has passed
    for (acks, after) in [(75, 40.0), (76, 41.0)] {
        let mut cc = flat();
        at_tick(&mut cc, 1000, acks - 2);
        assert_eq!(at_tick(&mut cc, 1031, 1), 40.0);
        assert_eq!(at_tick(&mut cc, 1032, 1), after, "{acks} segments");
    }
    // 150 make one and leave 75: Reno is where the window comes to, and at 41 segments 76 are no segment, but 77 are
    for (later, after) in [(0, 41.0), (1, 42.0)] {
        let mut cc = flat();
        at_tick(&mut cc, 1000, 149);
        assert_eq!(at_tick(&mut cc, 1032, 1), 41.0);
        at_tick(&mut cc, 1033, later);
        // 41 ACKs a segment now, two or three of which have been
        assert_eq!(at_tick(&mut cc, 1065, 38), 41.0);
        assert_eq!(at_tick(&mut cc, 1065, 2 - later), after, "{later}");
    }
    // 151 make two: 40 / 2 ACKs a segment
    let mut cc = flat();
    at_tick(&mut cc, 1000, 150);
    assert_eq!(at_tick(&mut cc, 1032, 1), 41.0, "more than 20 were counted");
    assert_eq!(at_tick(&mut cc, 1032, 18), 41.0);
    assert_eq!(at_tick(&mut cc, 1032, 1), 42.0, "20 since");
    // at 42 Reno is not ahead any more, but nothing looks at the curve in the same tick
    assert_eq!(at_tick(&mut cc, 1032, 19), 42.0);
    assert_eq!(at_tick(&mut cc, 1032, 1), 43.0);
    // in the next it is: 100 43 ACKs
    assert_eq!(at_tick(&mut cc, 1033, 1), 43.0);
    assert_eq!(at_tick(&mut cc, 1033, 30), 43.0);
    // and without the estimate nothing moves
    let params = Params { c: 0.001, hystart: false, cut_of: Halve::Flight, reno_friendly: false, ..linux() };
    let mut cc = Cubic::new(&params, &env(MSS, 40.0));
    cc.on_loss(&Congestion { window: 40_000.0, ..congestion(us(0.0), segments(58)) });
    at_tick(&mut cc, 1000, 150);
    assert_eq!(at_tick(&mut cc, 1032, 100), 40.0);
}

#[test]
fn cube_roots_are_within_half_a_percent_of_linux() {
    // K in 1024ths of a second for a curve of so many segments, as Linux 6.1 computes it
    for (distance, k) in [(1, 1388), (2, 1750), (3, 2003), (10, 2991), (30, 4316), (100, 6451), (1000, 13897)] {
        let window = (2u64..).find(|window| window - window * 717 / 1024 == distance).unwrap();
        let mut cc = Cubic::new(&changed(linux(), |p| p.window.floor = 1.0), &env(MSS, window as f64));
        cc.on_loss(&congestion(us(0.0), segments(window)));
        cc.on_ack(&one(1.0));
        let ours = state(&cc, "k_s") * 1024.0;
        assert!((ours / f64::from(k) - 1.0).abs() < 0.005, "{distance} segments: {ours}");
        assert!((ours - 1024.0 * (distance as f64 / 0.4).cbrt()).abs() < 6.0, "{distance} segments: {ours}");
    }
}

#[test]
fn linux_adds_a_twentieth_a_round_trip_before_the_first_loss() {
    let mut cc = Cubic::new(&Params { hystart_cushion: 0.0, reno_friendly: false, ..linux() }, &env(MSS, 100.0));
    // a train ends slow start at once: the first round begins with the first ACK, 60 ms later it is found
    cc.on_ack(&Ack { round: round(1, 10_000_000), ..one(0.1) });
    for i in 1..=60 {
        cc.on_ack(&Ack { round: round(1, 10_000_000), acked: 0, delivered: 0, ..one(0.1 + 1e-3 * f64::from(i)) });
    }
    let start = cwnd(&cc);
    assert_eq!(cc.ssthresh(), start * f64::from(MSS));
    for i in 0..20 {
        assert_eq!(cwnd(&cc), start, "{i}");
        cc.on_ack(&one(0.2));
    }
    assert_eq!(cwnd(&cc), start + 1.0);
}

#[test]
fn linux_takes_the_shortest_round_trip_after_the_first_second_of_a_curve() {
    let mut cc = lost_at_100(linux());
    cc.on_ack(&one(1.0));
    assert_close(state(&cc, "min_rtt_s"), 0.1);
    let shorter = |now: f64| Ack { rtt: Some(us(50e3)), ..one(now) };
    cc.on_ack(&shorter(1.999));
    assert_close(state(&cc, "min_rtt_s"), 0.1);
    cc.on_ack(&shorter(2.0));
    assert_close(state(&cc, "min_rtt_s"), 0.05);
    cc.on_timeout(&timeout(us(3e6), segments(10), 1));
    assert!(state(&cc, "min_rtt_s").is_nan(), "a timeout forgets it");
}

#[test]
fn bounds_of_the_delay_are_held_against_one_another() {
    let mut params = Params::default();
    params.set("hystart_delay_min", "20ms").unwrap();
    assert_eq!(params.check().unwrap_err().to_string(), "hystart_delay_min: expected at most hystart_delay_max");
    assert!(params.set("tick", "0s").is_err() && params.set("tick", "1001ms").is_err());
    assert!(params.set("beta", "1").is_err() && params.set("c", "0").is_err());
}

proptest! {
    /// For any parameters and clock, growth is at most three segments for each acknowledged one (Reno's estimate at a
    /// tiny beta; Linux: half of one) and a loss never grows the window.
    #[test]
    fn growth_is_bounded_and_losses_shrink(
        gaps in proptest::collection::vec((0u64..2_000_000, 1u64..4, 0u8..40), 1..300),
        ticks: bool, c in 0.001f64..100.0, beta in 0.01f64..0.99, tick_us in 1u64..20_000,
    ) {
        let form = if ticks { linux() } else { plain() };
        let params = changed(form, |p| {
            p.c = c;
            p.beta = beta;
            p.tick = Time::us(tick_us);
            p.hystart = false;
            p.window.floor = 1.0;
        });
        let mut cc = Cubic::new(&params, &env(MSS, 10.0));
        cc.on_loss(&congestion(us(0.0), segments(10)));
        let mut now = Time::ms(1);
        let (mut left, mut acked_since) = (cwnd(&cc), 0.0);
        for (gap, acked, what) in gaps {
            now += Time::us(gap);
            let before = cwnd(&cc);
            match what {
                0 => {
                    cc.on_loss(&congestion(now, cc.cwnd() as u64));
                    prop_assert!(cwnd(&cc) <= before.max(1.0));
                    (left, acked_since) = (cwnd(&cc), 0.0);
                }
                _ => {
                    cc.on_ack(&Ack { round: round(segments(acked), u64::MAX), ..ack(now, segments(acked), us(100.0)) });
                    acked_since += acked as f64;
                    let most = left + acked_since * if ticks { 0.5 } else { 3.0 } + 1.0;
                    prop_assert!(cwnd(&cc) >= before && cwnd(&cc) <= most, "{before} {} {most}", cwnd(&cc));
                }
            }
            if ticks {
                prop_assert_eq!(cwnd(&cc).fract(), 0.0);
            }
        }
    }
}
