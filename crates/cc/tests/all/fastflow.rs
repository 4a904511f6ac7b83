//! FastFlow against hand-computed vectors of its four cases, fast increase, wait to decrease and
//! QuickAdapt, on a path of 100 us and 8 Gb/s: 100 packets of 1000 B.

use crate::events::{MSS, ack, assert_close, congestion, env, segments, timeout, us};
use incast_cc::fastflow::{FastFlow, IncreaseOf, KIND, Params};
use incast_cc::registry::ParamSet;
use incast_cc::{Ack, Config, Controller, Ecn, Env, Rate, Time};
use proptest::prelude::*;

fn path() -> Env {
    Env { base_rtt: us(100.0), line_rate: Rate::gbps(8), ..env(MSS, 10.0) }
}

/// A flow whose first mark already counts, with a window of `packets`: losses at time zero take
/// away the rest of the 125 that it starts with.
fn flow(params: &Params, packets: u64) -> FastFlow {
    let mut cc = FastFlow::new(params, &path());
    for _ in packets..125 {
        cc.on_loss(&congestion(Time::ZERO, 0));
    }
    assert_eq!(cc.cwnd(), segments(packets) as f64);
    cc
}

fn at_once() -> Params {
    Params { wtd_threshold: 0.0, ..Params::default() }
}

/// An ACK at 10 us for a packet that took `rtt`.
fn one(rtt: f64, ece: bool) -> Ack {
    Ack { ece, ..ack(us(10.0), segments(1), us(rtt)) }
}

fn after(params: &Params, packets: u64, event: &Ack) -> f64 {
    let mut cc = flow(params, packets);
    cc.on_ack(event);
    cc.cwnd()
}

fn state(cc: &FastFlow, wanted: &str) -> f64 {
    let mut found = None;
    cc.state(&mut |name, value| {
        if name == wanted {
            found = Some(value);
        }
    });
    found.expect("a declared state variable")
}

#[test]
fn a_flow_starts_with_its_largest_window() {
    assert_eq!(FastFlow::new(&Params::default(), &path()).cwnd(), 125_000.0);
    let slow = Params { base_rtt: Some(us(200.0)), ..Params::default() };
    assert_eq!(FastFlow::new(&slow, &path()).cwnd(), 250_000.0);
    // a path that holds less than a packet: 1.25 packets
    let short = Env { base_rtt: us(0.1), ..path() };
    assert_eq!(FastFlow::new(&Params::default(), &short).cwnd(), 1_250.0);
}

#[test]
fn case_1_unmarked_and_early_adds_in_proportion_and_fairly() {
    // 2 (150 - 120) / 120 1000 1000 / 100000 = 5, and 0.25 1000 1000 / 100000 = 2.5
    assert_close(after(&at_once(), 100, &one(120.0, false)), 100_007.5);
    // below the bound of p: 2 0.25 1000 = 500, and 250
    assert_close(after(&at_once(), 1, &one(120.0, false)), 1_750.0);
    // at the bound: 2 (150 - 50) / 50 1000 = 4000 for an ACK of 1000
    assert_close(after(&at_once(), 1, &one(50.0, false)), 2_250.0);
    // no delay at all is as far below the target as can be
    assert_close(after(&at_once(), 1, &one(0.0, false)), 2_250.0);
}

#[test]
fn case_2_unmarked_and_late_adds_fairly() {
    for rtt in [150.0, 151.0, 400.0] {
        assert_close(after(&at_once(), 100, &one(rtt, false)), 100_002.5);
    }
    // a path that takes no time has its target at zero too: 0.1 of a packet for a packet, in a window of one
    let mut cc = FastFlow::new(&Params { fi: 0.1, ..at_once() }, &Env { base_rtt: Time::ZERO, ..path() });
    cc.on_loss(&congestion(Time::ZERO, 0));
    cc.on_ack(&one(0.0, false));
    assert_close(cc.cwnd(), 1_100.0);
}

#[test]
fn case_3_marked_and_early_takes_in_proportion_to_the_window() {
    // 0.8 (100000 / 100000) 1000, and half of that from half the window
    for rtt in [100.0, 149.0, 150.0] {
        assert_close(after(&at_once(), 100, &one(rtt, true)), 99_200.0);
        assert_close(after(&at_once(), 50, &one(rtt, true)), 49_600.0);
    }
}

#[test]
fn case_4_marked_and_late_takes_at_most_what_was_acked() {
    // 2 10 / 160 1000 = 125, and 0.1 1000
    let gentle = Params { fd: 0.1, ..at_once() };
    assert_close(after(&gentle, 100, &one(160.0, true)), 99_775.0);
    // 2 150 / 300 1000 = 1000, and 800: bounded by 1000
    assert_close(after(&at_once(), 100, &one(300.0, true)), 99_000.0);
    assert_close(after(&at_once(), 1, &one(300.0, true)), 1_000.0);
}

#[test]
fn marks_take_nothing_before_their_average_is_above_a_quarter() {
    // 1/8, 15/64 = 0.234, 169/512 = 0.330
    let mut cc = flow(&Params::default(), 100);
    for (average, window) in [(0.125, 100_000.0), (0.234_375, 100_000.0), (0.330_078_125, 99_200.0)] {
        cc.on_ack(&one(120.0, true));
        assert_close(state(&cc, "avg_ecn"), average);
        assert_close(cc.cwnd(), window);
    }
    // at a quarter is not above it: 1/4, 7/16
    let mut cc = flow(&Params { wtd_gain: 0.25, ..Params::default() }, 100);
    for (average, window) in [(0.25, 100_000.0), (0.4375, 99_200.0)] {
        cc.on_ack(&one(120.0, true));
        assert_eq!(state(&cc, "avg_ecn"), average);
        assert_close(cc.cwnd(), window);
    }
}

#[test]
fn a_window_of_good_acks_turns_on_fast_increase_and_a_late_or_marked_one_turns_it_off() {
    for (rtt, ece) in [(101.1, false), (100.0, true)] {
        let mut cc = flow(&Params::default(), 100);
        // what is to be reached is the window at the latest interruption
        cc.on_ack(&one(160.0, true));
        for _ in 0..100 {
            let before = cc.cwnd();
            cc.on_ack(&one(100.9, false));
            assert!(cc.cwnd() - before < 13.0, "cases 1: 9.7 and 2.5 bytes");
        }
        for _ in 0..3 {
            let before = cc.cwnd();
            cc.on_ack(&one(100.9, false));
            assert_close(cc.cwnd() - before, 2_000.0);
        }
        cc.on_ack(&one(rtt, ece));
        let before = cc.cwnd();
        cc.on_ack(&one(100.9, false));
        assert!(cc.cwnd() - before < 13.0, "{rtt} {ece}");
    }
}

#[test]
fn quick_adapt_sets_the_window_to_what_was_delivered_and_ignores_the_marks_of_the_old_one() {
    let mut cc = FastFlow::new(&at_once(), &path());
    let at = |t: f64, ece: bool| Ack { in_flight: segments(60), ..Ack { now: us(t), ..one(160.0, ece) } };
    cc.on_ack(&at(100.0, false)); // counting begins; it ends 150 us later
    for _ in 0..40 {
        cc.on_ack(&at(150.0, false));
    }
    let before = cc.cwnd();
    cc.on_loss(&congestion(us(200.0), segments(60)));
    assert_close(cc.cwnd(), before - 1000.0);
    cc.on_ack(&at(249.9, true));
    assert_eq!(state(&cc, "quick_adapts"), 0.0);
    cc.on_ack(&at(250.0, true));
    assert_eq!((cc.cwnd(), state(&cc, "quick_adapts")), (42_000.0, 1.0));
    // 59 more packets were in flight: neither their marks nor their losses count
    for _ in 0..59 {
        cc.on_loss(&congestion(us(260.0), segments(59)));
        cc.on_ack(&at(260.0, true));
        assert_eq!(cc.cwnd(), 42_000.0);
    }
    cc.on_ack(&at(260.0, true));
    assert!(cc.cwnd() < 42_000.0);
    // at the end of the next round nothing is asked for
    let before = cc.cwnd();
    cc.on_ack(&at(401.0, false));
    assert!(cc.cwnd() > before && state(&cc, "quick_adapts") == 1.0);
}

#[test]
fn unmarked_acks_count_while_marks_are_ignored_but_not_towards_fast_increase() {
    let mut cc = FastFlow::new(&Params::default(), &path());
    let at = |t: f64| Ack { now: us(t), in_flight: segments(60), ..one(120.0, false) };
    cc.on_ack(&at(100.0));
    cc.on_loss(&congestion(us(200.0), segments(60)));
    (0..9).for_each(|_| cc.on_ack(&at(210.0)));
    // ten packets: 10000, and of this ACK 2 0.25 1000 1000 / 10000 = 50 and 25
    cc.on_ack(&at(250.0));
    assert_close(cc.cwnd(), 10_075.0);
}

#[test]
fn a_timeout_is_a_loss_and_the_share_kept_is_a_parameter() {
    let mut cc = FastFlow::new(&Params { qa_scaling: 0.8, ..at_once() }, &path());
    let at = |t: f64, ece: bool| Ack { now: us(t), in_flight: segments(1), ..one(160.0, ece) };
    cc.on_ack(&at(100.0, false));
    (0..9).for_each(|_| cc.on_ack(&at(110.0, false)));
    cc.on_timeout(&timeout(us(200.0), segments(9), 1));
    cc.on_ack(&at(250.0, false));
    // 0.8 10 packets, and the fair increase 0.25 1000 1000 / 8000
    assert_close(cc.cwnd(), 8_031.25);
    // nothing delivered in a round leaves one packet
    cc.on_timeout(&timeout(us(300.0), segments(9), 1));
    cc.on_timeout(&timeout(us(500.0), segments(9), 2));
    assert_eq!(cc.cwnd(), 1_000.0);
}

#[test]
fn the_authors_constants_are_a_form() {
    let mut params = Params::default();
    params.set("form", "spcl").unwrap();
    assert_eq!((params.mi, params.md, params.fi, params.fd, params.k), (2.0, 1.0, 0.02, 0.5, 1.0));
    assert_eq!((params.fi_of, params.max_cwnd), (IncreaseOf::Bdp, 1.5));
    let mut cc = FastFlow::new(&params, &path());
    assert_eq!(cc.cwnd(), 150_000.0);
    // 0.02 100000 1000 / 149000
    cc.on_loss(&congestion(Time::ZERO, 0));
    cc.on_ack(&one(160.0, false));
    assert_close(cc.cwnd(), 149_000.0 + 2_000.0 * 1_000.0 / 149_000.0);
}

#[test]
fn a_duplicate_says_nothing() {
    let mut cc = flow(&at_once(), 100);
    cc.on_ack(&Ack { delivered: 0, ..one(160.0, true) });
    assert_eq!((cc.cwnd(), state(&cc, "avg_ecn")), (100_000.0, 0.0));
}

#[test]
fn bad_parameters_are_refused_with_what_was_expected() {
    let mut config = Config::new("fastflow").unwrap();
    for (key, value, words) in [
        ("target_factor", "1", "expected a number above 1"),
        ("fd", "1.1", "expected a number above 0, at most 1"),
        ("md", "0", "expected a number above 0"),
        ("mi", "-1", "expected a number above 0"),
        ("fi", "0", "expected a number above 0"),
        ("k", "-0.1", "expected a number of at least 0"),
        ("wtd_gain", "0", "expected a number above 0, at most 1"),
        ("wtd_threshold", "1.01", "expected a number from 0 to 1"),
        ("qa_scaling", "1.2", "expected a number above 0, at most 1"),
        ("max_cwnd", "0.9", "expected a number of at least 1"),
    ] {
        assert_eq!(config.set(key, value).unwrap_err().to_string(), words, "{key}");
    }
}

#[test]
fn every_ack_tells_the_mark_of_its_packet_and_losses_are_its_own() {
    let asked = KIND.profile;
    assert_eq!(asked.ecn, Ecn::Dctcp);
    assert!(asked.ack_every_packet && asked.own_recovery);
}

proptest! {
    #[test]
    fn the_window_stays_between_a_packet_and_its_ceiling(
        events in proptest::collection::vec((0u8..4, 1.0f64..1000.0, 0u64..20), 1..300)
    ) {
        let mut cc = FastFlow::new(&Params::default(), &path());
        for (i, (kind, rtt, n)) in events.into_iter().enumerate() {
            let now = us(20.0 * i as f64);
            match kind {
                0 | 1 => cc.on_ack(&Ack { now, ece: kind == 1, ..ack(now, segments(n), us(rtt)) }),
                2 => cc.on_loss(&congestion(now, segments(n))),
                _ => cc.on_timeout(&timeout(now, segments(n), 1)),
            }
            prop_assert!((1_000.0..=125_000.0).contains(&cc.cwnd()));
        }
    }
}

#[test]
fn it_is_no_larger_than_a_controller_may_be() {
    assert!(size_of::<FastFlow>() <= size_of::<incast_cc::swift::Swift>());
}
