//! D2TCP: differences from DCTCP, by hand.

use crate::events::{MSS, ack, assert_close, changed, congestion, env, round, segments, timeout, us};
use incast_cc::d2tcp::{D2tcp, KIND, Left, Params};
use incast_cc::dctcp::{self, Dctcp, Loss};
use incast_cc::{Ack, Config, Congestion, Controller, Deadline, Ecn, Idle, Time};
use proptest::prelude::*;

fn state(cc: &D2tcp, name: &str) -> f64 {
    let mut found = f64::NAN;
    cc.state(&mut |key, value| {
        if key == name {
            found = value;
        }
    });
    found
}

/// A sender of this many segments with an average of a quarter.
fn sender(cwnd: f64, change: impl FnOnce(&mut Params)) -> D2tcp {
    let quarter = changed(Params::default(), |p| p.dctcp.initial_alpha = 0.25);
    D2tcp::new(&changed(quarter, change), &env(MSS, cwnd))
}

/// A mark at `now` with smoothed round-trip time `rtt`, both in us.
fn mark(now: f64, rtt: f64) -> Congestion {
    Congestion { srtt: us(rtt), ..congestion(us(now), segments(10)) }
}

fn due(end: u64, at: f64) -> Deadline {
    Deadline { end, at: us(at) }
}

/// W = 100 segments, RTT 75 us: a segment left takes 1 us.
#[test]
fn a_quarter_marked_leaves_75_87_5_or_96_875_of_100_by_the_deadline() {
    for (left, deadline, d, cwnd) in [
        (1000, 500.0, 2.0, 96_875.0),
        (1000, 1000.0, 1.0, 87_500.0),
        (1000, 2000.0, 0.5, 75_000.0),
        // beyond the bounds
        (1000, 100.0, 2.0, 96_875.0),
        (1000, 9000.0, 0.5, 75_000.0),
    ] {
        let mut cc = sender(100.0, |_| ());
        cc.on_deadline(&due(segments(left), deadline));
        cc.on_ecn(&mark(0.0, 75.0));
        assert_close(state(&cc, "urgency"), d);
        assert_close(cc.cwnd(), cwnd);
    }
}

#[test]
fn the_time_that_is_left_counts_from_the_mark() {
    let mut cc = sender(100.0, |_| ());
    cc.on_deadline(&due(segments(1000), 1500.0));
    cc.on_ecn(&mark(500.0, 75.0));
    assert_close(state(&cc, "urgency"), 1.0);
}

#[test]
fn before_the_first_average_the_round_trip_is_the_latest() {
    let mut cc = sender(100.0, |_| ());
    cc.on_deadline(&due(segments(1000), 1000.0));
    cc.on_ecn(&Congestion { srtt: Time::ZERO, rtt: us(90.0), ..mark(0.0, 75.0) });
    assert_close(state(&cc, "urgency"), 1.2);
}

/// B 1 MB, W 20 segments of 1460 B, RTT 250 us: Tc is 11.416 ms.
#[test]
fn a_megabyte_in_ten_milliseconds_is_urgent_by_1_1416_and_in_forty_by_the_least() {
    let urgency = |deadline_us: f64| {
        let mut cc = D2tcp::new(&Params::default(), &env(1460, 20.0));
        cc.on_deadline(&due(1_000_000, deadline_us));
        cc.on_ecn(&mark(0.0, 250.0));
        state(&cc, "urgency")
    };
    assert_close(urgency(10_000.0), 1_000_000.0 * 250e-6 / (0.75 * 29_200.0) / 10e-3);
    assert!((urgency(10_000.0) - 1.1416).abs() < 5e-5);
    assert_eq!(urgency(40_000.0), 0.5);
}

#[test]
fn without_a_deadline_it_is_dctcp() {
    let mut cc = sender(100.0, |_| ());
    cc.on_ecn(&mark(0.0, 75.0));
    assert_close(cc.cwnd(), 87_500.0);
    assert_eq!(state(&cc, "urgency"), 1.0);
}

#[test]
fn once_the_deadline_has_passed_or_nothing_is_left_it_gives_way_by_what_missed_says() {
    for (missed, cwnd) in [(0.5, 75_000.0), (1.0, 87_500.0), (2.0, 96_875.0)] {
        let mut late = sender(100.0, |p| p.missed = missed);
        late.on_deadline(&due(segments(1000), 500.0));
        late.on_ecn(&mark(500.0, 75.0));
        assert_close(late.cwnd(), cwnd);
        let mut all_sent = sender(100.0, |p| p.missed = missed);
        all_sent.on_deadline(&due(segments(10), 500.0));
        let sent = Ack { round: round(0, segments(10)), acked: 0, ..ack(us(10.0), 0, us(75.0)) };
        all_sent.on_ack(&sent);
        all_sent.on_ecn(&mark(10.0, 75.0));
        assert_close(all_sent.cwnd(), cwnd);
    }
}

/// 1200 segments, of which 1000 are not sent and 1100 not acknowledged.
#[test]
fn what_is_left_is_what_was_not_sent_or_what_is_not_acknowledged() {
    for (left, d) in [(Left::Unsent, 1.0), (Left::Unacked, 1.1)] {
        let mut cc = sender(100.0, |p| p.left = left);
        cc.on_deadline(&due(segments(1200), 1000.0));
        cc.on_ack(&Ack { round: round(segments(100), segments(200)), acked: 0, ..ack(Time::ZERO, 0, us(75.0)) });
        cc.on_ecn(&mark(0.0, 75.0));
        assert_close(state(&cc, "urgency"), d);
    }
}

#[test]
fn the_latest_deadline_counts() {
    let mut cc = sender(100.0, |_| ());
    cc.on_deadline(&due(segments(1000), 500.0));
    cc.on_deadline(&due(segments(1000), 2000.0));
    cc.on_ecn(&mark(0.0, 75.0));
    assert_close(cc.cwnd(), 75_000.0);
}

#[test]
fn a_loss_halves_what_is_in_flight_or_cuts_by_the_deadline() {
    let mut halved = sender(100.0, |_| ());
    halved.on_deadline(&due(segments(1000), 500.0));
    halved.on_loss(&congestion(Time::ZERO, segments(60)));
    assert_close(halved.cwnd(), 30_000.0);
    let mut cut = sender(100.0, |p| p.loss = Loss::Alpha);
    cut.on_deadline(&due(segments(1000), 500.0));
    cut.on_loss(&mark(0.0, 75.0));
    assert_close(cut.cwnd(), 96_875.0);
    cut.on_timeout(&timeout(us(10.0), segments(60), 1));
    assert_close(cut.cwnd(), 1_000.0);
}

#[test]
fn it_asks_for_its_deadlines_and_for_dctcps_marks() {
    assert!(KIND.profile.deadlines && KIND.profile.ecn == Ecn::Dctcp && !dctcp::KIND.profile.deadlines);
}

#[test]
fn bad_parameters_are_refused_with_what_was_expected() {
    let mut config = Config::new("d2tcp").unwrap();
    for (key, value, words) in [
        ("least", "0", "expected a number above 0, at most 1"),
        ("most", "0.9", "expected a number of at least 1"),
        ("missed", "11", "expected a number above 0, at most 10"),
        ("left", "all", "expected one of: \"unsent\" \"unacked\""),
        ("form", "linux", "unknown parameter"),
    ] {
        assert_eq!(config.set(key, value).unwrap_err().to_string(), words, "{key}");
    }
}

proptest! {
    /// A flow without a deadline always does what DCTCP does.
    #[test]
    fn no_event_tells_it_from_dctcp_without_a_deadline(
        events in prop::collection::vec((0u8..7, any::<bool>()), 1..80),
    ) {
        let mut ours = D2tcp::new(&Params::default(), &env(MSS, 10.0));
        let mut dctcp = Dctcp::new(&dctcp::Params::default(), &env(MSS, 10.0));
        for (i, (event, marked)) in events.into_iter().enumerate() {
            let now = us(100.0 * (i + 1) as f64);
            for cc in [&mut ours as &mut dyn Controller, &mut dctcp] {
                match event {
                    0 => cc.on_loss(&congestion(now, segments(8))),
                    1 => cc.on_timeout(&timeout(now, segments(4), 1)),
                    2 => cc.on_recovered(now, segments(6)),
                    3 => cc.on_undo(),
                    4 => cc.on_idle(&Idle { now, timeouts: 3 }),
                    _ => {
                        let i = i as u64;
                        let round = round(segments(i), segments(i + 9));
                        cc.on_ack(&Ack { ece: marked, round, ..ack(now, segments(1), us(100.0)) });
                        if marked {
                            cc.on_ecn(&congestion(now, segments(8)));
                        }
                    }
                }
            }
            prop_assert_eq!((ours.cwnd(), ours.ssthresh()), (dctcp.cwnd(), dctcp.ssthresh()));
        }
    }
}
