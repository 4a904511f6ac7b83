//! DCQCN against hand-computed steps of its three timers, at 100 Gb/s: alpha and cuts each 50 us,
//! increases each 55 us, g 1/256, additive steps of 20 Mb/s and hyper steps of 200 Mb/s.

use crate::events::{MSS, ack, assert_close, congestion, env, segments, timeout, us};
use incast_cc::dcqcn::{Dcqcn, KIND, Params};
use incast_cc::median::{self, Feedback};
use incast_cc::registry::ParamSet;
use incast_cc::{Config, Controller, Ecn, Env, Pacing, Rate, Time};

const G: f64 = 1e9;

fn line() -> Env {
    Env { line_rate: Rate::gbps(100), ..env(MSS, 10.0) }
}

fn state(cc: &Dcqcn, wanted: &str) -> f64 {
    let mut found = None;
    cc.state(&mut |name, value| {
        if name == wanted {
            found = Some(value);
        }
    });
    found.expect("a declared state variable")
}

fn rates(cc: &Dcqcn) -> (f64, f64) {
    let Pacing::Rate(rate) = cc.pacing() else { panic!("DCQCN paces") };
    (rate / G, state(cc, "target_rate_bps") / G)
}

/// Lets the timers fire up to `until` us.
fn wait(cc: &mut Dcqcn, until: f64) {
    while cc.wake_at() <= us(until) {
        let at = cc.wake_at();
        cc.on_wake(at);
        assert!(cc.wake_at() > at);
    }
}

/// A flow that had its first CNP at 0: cut at once to half the line's rate.
fn notified(params: &Params) -> Dcqcn {
    let mut cc = Dcqcn::new(params, &line());
    cc.on_cnp(Time::ZERO);
    cc
}

#[test]
fn a_flow_starts_at_the_rate_of_its_line_and_nothing_wakes_it() {
    let mut cc = Dcqcn::new(&Params::default(), &line());
    cc.on_ack(&ack(us(1.0), segments(1), us(10.0)));
    assert_eq!((rates(&cc), cc.cwnd(), cc.wake_at()), ((100.0, 100.0), 1_000_000.0, Time::NEVER));
}

#[test]
fn the_first_cnp_halves_the_rate_at_once() {
    let cc = notified(&Params::default());
    assert_eq!((rates(&cc), state(&cc, "alpha"), cc.wake_at()), ((50.0, 100.0), 1.0, us(55.0)));
}

#[test]
fn without_notifications_alpha_decays_and_the_rate_comes_back_by_halves_then_by_steps() {
    let mut cc = notified(&Params::default());
    wait(&mut cc, 54.9);
    assert_eq!(rates(&cc), (50.0, 100.0));
    // stage 0, before f: half-way
    wait(&mut cc, 55.0);
    assert_close(state(&cc, "alpha"), 255.0 / 256.0);
    assert_eq!(rates(&cc), (75.0, 100.0));
    // stage 1, at f: the target cannot rise above the line
    wait(&mut cc, 110.0);
    assert_eq!(rates(&cc), (87.5, 100.0));
    assert_close(state(&cc, "alpha"), 255.0 / 256.0 * 255.0 / 256.0);
}

#[test]
fn a_second_cut_is_by_alpha_and_lowers_the_target_once_the_rate_has_risen() {
    let mut cc = notified(&Params::default());
    wait(&mut cc, 60.0);
    cc.on_cnp(us(60.0));
    assert_eq!(rates(&cc), (75.0, 100.0), "cuts come at the timer");
    // at 100 us alpha moves first: 255/256 255/256 + 1/256 = 0.99611
    wait(&mut cc, 100.0);
    let alpha = 255.0 / 256.0 * 255.0 / 256.0 + 1.0 / 256.0;
    assert_close(state(&cc, "alpha"), alpha);
    assert_close(rates(&cc).0, 75.0 * (1.0 - alpha / 2.0));
    assert_eq!(rates(&cc).1, 75.0);
    // the increase timer has started anew
    wait(&mut cc, 154.0);
    assert_close(rates(&cc).0, 75.0 * (1.0 - alpha / 2.0));
    wait(&mut cc, 155.0);
    assert_close(rates(&cc).0, (75.0 * (1.0 - alpha / 2.0) + 75.0) / 2.0);
    // at f the target rises by 20 Mb/s, later by 200
    let before = rates(&cc).0;
    wait(&mut cc, 210.0);
    assert_close(rates(&cc).1, 75.02);
    assert_close(rates(&cc).0, (before + 75.02) / 2.0);
    wait(&mut cc, 265.0);
    assert_close(rates(&cc).1, 75.22);
}

#[test]
fn repeated_cuts_keep_the_target_unless_it_is_clamped() {
    for (clamp_target, target) in [(false, 100.0), (true, 50.0)] {
        let mut cc = notified(&Params { clamp_target, ..Params::default() });
        cc.on_cnp(us(20.0));
        wait(&mut cc, 50.0);
        // alpha 255/256 + 1/256
        assert_eq!(state(&cc, "alpha"), 1.0);
        assert_eq!(rates(&cc), (25.0, target));
    }
}

/// A flow that goes by the median of three intervals, at the rate of its line again after its first CNP at 0.
fn by_median() -> Dcqcn {
    let median = median::Params { feedback: Feedback::Median, history_size: 3, ..Params::default().median };
    let mut cc = notified(&Params { median, ..Params::default() });
    assert_eq!(rates(&cc).0, 50.0, "of one interval it is the median");
    wait(&mut cc, 9_990.0);
    assert_eq!(rates(&cc).0, 100.0);
    cc
}

#[test]
fn by_the_median_one_interval_with_a_cnp_cuts_nothing_and_two_cut_an_interval_late() {
    let mut cc = by_median();
    cc.on_cnp(us(10_010.0));
    wait(&mut cc, 10_050.0);
    assert_eq!(rates(&cc).0, 100.0, "one of three");
    let calm = state(&cc, "alpha");
    cc.on_cnp(us(10_060.0));
    wait(&mut cc, 10_100.0);
    let alpha = calm * 255.0 / 256.0 + 1.0 / 256.0;
    assert_close(state(&cc, "alpha"), alpha);
    assert_close(rates(&cc).0, 100.0 * (1.0 - alpha / 2.0));
}

#[test]
fn by_the_median_cuts_go_on_when_the_notifications_have_ended() {
    let mut cc = by_median();
    for at in [10_010.0, 10_060.0, 10_110.0] {
        wait(&mut cc, at);
        cc.on_cnp(us(at));
    }
    wait(&mut cc, 10_150.0);
    let before = rates(&cc).0;
    // 1, 1, 0: another cut; then 1, 0, 0
    wait(&mut cc, 10_200.0);
    let after = rates(&cc).0;
    assert!(after < before, "{after} of {before}");
    wait(&mut cc, 10_250.0);
    assert_eq!(rates(&cc).0, after);
    wait(&mut cc, 10_255.0);
    assert!(rates(&cc).0 > after);
}

#[test]
fn a_median_of_one_interval_is_the_latest() {
    let median = median::Params { feedback: Feedback::Median, history_size: 1, ..Params::default().median };
    let mut one = notified(&Params { median, ..Params::default() });
    let mut latest = notified(&Params::default());
    for at in [20.0, 60.0, 130.0, 160.0, 420.0, 421.0, 5000.0] {
        for cc in [&mut one, &mut latest] {
            wait(cc, at);
            cc.on_cnp(us(at));
        }
        assert_eq!((rates(&one), state(&one, "alpha")), (rates(&latest), state(&latest, "alpha")), "{at}");
    }
}

#[test]
fn the_rate_has_a_floor() {
    let mut cc = notified(&Params { min_rate: 0.4, ..Params::default() });
    cc.on_cnp(us(20.0));
    wait(&mut cc, 50.0);
    assert_eq!(rates(&cc).0, 40.0);
}

#[test]
fn losses_marks_on_acks_and_timeouts_leave_the_rate_alone() {
    let mut cc = Dcqcn::new(&Params::default(), &line());
    cc.on_loss(&congestion(Time::ms(1), segments(10)));
    cc.on_ecn(&congestion(Time::ms(1), segments(10)));
    cc.on_timeout(&timeout(Time::ms(2), segments(10), 3));
    assert_eq!(rates(&cc), (100.0, 100.0));
}

#[test]
fn back_at_the_rate_of_the_line_nothing_wakes_a_flow_and_alpha_has_decayed_all_the_same() {
    let mut cc = notified(&Params::default());
    wait(&mut cc, 10_000.0);
    assert_eq!((rates(&cc), cc.wake_at()), ((100.0, 100.0), Time::NEVER));
    // 1200 updates of alpha later, none of which saw a notification: 255/256^1200
    cc.on_cnp(us(60_010.0));
    assert_close(state(&cc, "alpha"), 0.009_125_531_037_070_107);
    // the timer of cuts has run on: the next is at 60.05 ms
    assert_eq!(cc.wake_at(), us(60_050.0));
    wait(&mut cc, 60_050.0);
    let alpha = 255.0 / 256.0 * 0.009_125_531_037_070_107 + 1.0 / 256.0;
    assert_close(state(&cc, "alpha"), alpha);
    assert_close(rates(&cc).0, 100.0 * (1.0 - alpha / 2.0));
    assert_eq!((rates(&cc).1, cc.wake_at()), (100.0, us(60_105.0)));
}

#[test]
fn a_first_notification_that_only_starts_the_timers_cuts_after_alphas_first_update() {
    let mut params = Params::default();
    params.set("first_cnp", "start").unwrap();
    let mut cc = notified(&params);
    assert_eq!((rates(&cc), cc.wake_at()), ((100.0, 100.0), us(50.0)));
    wait(&mut cc, 50.0);
    assert_close(rates(&cc).0, 100.0 * (1.0 - 255.0 / 512.0));
    assert_eq!((rates(&cc).1, cc.wake_at()), (100.0, us(105.0)));
}

#[test]
fn one_update_of_alpha_counts_a_notification_and_the_others_since_do_not() {
    let mut cc = notified(&Params::default());
    cc.on_cnp(us(20.0));
    wait(&mut cc, 50.0);
    // at 50 us with the notification, at 100 us without
    wait(&mut cc, 105.0);
    assert_close(state(&cc, "alpha"), 255.0 / 256.0);
}

#[test]
fn the_vendors_timers_are_a_form_and_the_interval_is_the_receivers() {
    let mut params = Params::default();
    params.set("form", "vendor").unwrap();
    assert_eq!((params.t_alpha, params.t_dec, params.t_inc), (us(1.0), us(4.0), us(300.0)));
    let mut paper = Params::default();
    paper.set("form", "paper").unwrap();
    assert_eq!((paper.t_alpha, paper.t_inc, paper.f), (us(55.0), us(55.0), 5));
    let mut config = Config::new("dcqcn").unwrap();
    config.set("cnp_interval", "7us").unwrap();
    assert_eq!(config.profile().cnp, Some(us(7.0)));
}

#[test]
fn receivers_of_marked_packets_notify_at_most_once_in_fifty_microseconds() {
    // section 3.1: the notification point; losses are the fabric's and the transport's matter
    let asked = KIND.profile;
    assert_eq!(asked.cnp, Some(us(50.0)));
    assert_eq!(asked.ecn, Ecn::Dctcp);
    assert!(asked.ack_every_packet && asked.own_recovery);
}

#[test]
fn bad_parameters_are_refused_with_what_was_expected() {
    let mut config = Config::new("dcqcn").unwrap();
    for (key, value, words) in [
        ("cnp_interval", "0s", "expected a time above 0"),
        ("t_alpha", "0s", "expected a time above 0"),
        ("t_dec", "0s", "expected a time above 0"),
        ("t_inc", "0s", "expected a time above 0"),
        ("g", "1.5", "expected a number above 0, at most 1"),
        ("r_ai", "0", "expected a number above 0"),
        ("r_hai", "-1", "expected a number above 0"),
        ("min_rate", "0", "expected a number above 0, at most 1"),
        ("max_cwnd", "0", "expected a number of at least 1"),
    ] {
        assert_eq!(config.set(key, value).unwrap_err().to_string(), words, "{key}");
    }
}
