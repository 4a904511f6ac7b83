//! NewReno in whole segments, as ns-3.43 and Linux keep its window: hand-computed from
//! `TcpNewReno` (src/internet/model/tcp-congestion-ops.cc) and from Linux' tcp_cong.c, tcp_input.c and
//! tcp_output.c. Windows in bytes, segments of 1000 B.

use crate::events::{MSS, ack, changed, congestion, env, round, segments, timeout, us};
use incast_cc::newreno::{NewReno, Params};
use incast_cc::registry::ParamSet;
use incast_cc::reno_window::{Arithmetic, Avoidance, IdleRule, SlowStart, Timeouts};
use incast_cc::{Ack, Config, Congestion, Controller, Idle, Phase, Timeout};

fn form(name: &str) -> Params {
    let mut params = Params::default();
    params.set("form", name).unwrap();
    params
}

fn reno(params: &Params, initial: f64) -> NewReno {
    NewReno::new(params, &env(MSS, initial))
}

/// An ACK that covers `acked` bytes, of which `delivered` are news.
fn covers(acked: u64, delivered: u64) -> Ack {
    Ack { delivered, ..ack(us(100.0), acked, us(100.0)) }
}

/// In congestion avoidance, with a threshold of two segments and a window of `window`.
fn grown(params: &Params, window: f64) -> NewReno {
    let mut cc = reno(params, 10.0);
    cc.on_timeout(&timeout(us(0.0), segments(4), 1));
    for _ in 0..10_000 {
        if cc.cwnd() >= window * f64::from(MSS) {
            return cc;
        }
        cc.on_ack(&covers(1000, 1000));
    }
    panic!("{} after ten thousand segments", cc.cwnd());
}

#[test]
fn in_ns3_an_ack_counts_the_whole_segments_that_it_makes() {
    let mut cc = reno(&form("ns3"), 10.0);
    // 1500 B are one segment, 500 B stay; with 500 B more they are another; 300 B are none; with 2700 B
    // they are three, of which slow start takes one
    for (bytes, window) in [(1500, 11_000.0), (500, 12_000.0), (300, 12_000.0), (2700, 13_000.0)] {
        cc.on_ack(&covers(bytes, bytes));
        assert_eq!(cc.cwnd(), window, "{bytes} B");
    }
    // half of 13001 B, rounded down
    cc.on_loss(&congestion(us(200.0), 13_001));
    assert_eq!((cc.cwnd(), cc.ssthresh()), (6_500.0, 6_500.0));
    // what ends a recovery counts for all that it covers, SACKed before or not: 1e6 / 6500 = 153.8
    cc.on_recovered(us(300.0), 0);
    cc.on_ack(&covers(13_000, 0));
    assert_eq!(cc.cwnd(), 6_653.0);
    cc.on_ack(&covers(1000, 0));
    assert_eq!(cc.cwnd(), 6_653.0, "and only that");
}

#[test]
fn in_ns3_what_slow_start_leaves_goes_to_avoidance() {
    let mut cc = reno(&form("ns3"), 10.0);
    cc.on_timeout(&timeout(us(0.0), 5_000, 1));
    assert_eq!((cc.cwnd(), cc.ssthresh()), (1_000.0, 2_500.0));
    cc.on_ack(&covers(1000, 1000));
    assert_eq!(cc.cwnd(), 2_000.0);
    // one segment reaches 3000 B, beyond the threshold; the other adds 1e6 / 3000 = 333.3
    cc.on_ack(&covers(2000, 2000));
    assert_eq!(cc.cwnd(), 3_333.0);
    // the real arithmetic of RFC 5681 leaves it at slow start's step
    let mut real = reno(&changed(form("ns3"), |p| p.window.arithmetic = Arithmetic::Real), 10.0);
    real.on_timeout(&timeout(us(0.0), 5_000, 1));
    real.on_ack(&covers(1000, 1000));
    real.on_ack(&covers(2000, 2000));
    assert_eq!(real.cwnd(), 3_000.0);
}

#[test]
fn in_ns3_the_segment_that_slow_start_takes_is_not_counted_again() {
    let mut cc = reno(&form("ns3"), 10.0);
    cc.on_timeout(&timeout(us(0.0), 5_000, 1));
    // one segment each: to 2000 B, to 3000 B, beyond the threshold of 2500 B, and then 1e6 / 3000
    for window in [2_000.0, 3_000.0, 3_333.0] {
        cc.on_ack(&covers(1000, 1000));
        assert_eq!(cc.cwnd(), window);
    }
}

#[test]
fn in_ns3_a_window_that_does_not_limit_sending_stays() {
    let mut cc = reno(&form("ns3"), 10.0);
    for phase in [Phase::Open, Phase::Loss] {
        cc.on_ack(&Ack { cwnd_limited: false, phase, ..covers(1000, 1000) });
        assert_eq!(cc.cwnd(), 10_000.0);
    }
    for phase in [Phase::Cwr, Phase::Recovery] {
        cc.on_ack(&Ack { phase, ..covers(1000, 1000) });
        assert_eq!(cc.cwnd(), 10_000.0);
    }
}

#[test]
fn in_ns3_avoidance_adds_a_byte_at_least() {
    let mut cc = reno(&form("ns3"), 10.0);
    cc.on_loss(&congestion(us(0.0), 4_000_000));
    cc.on_ack(&covers(1000, 1000));
    assert_eq!(cc.cwnd(), 2_000_001.0, "1e6 / 2e6 is half a byte");
}

#[test]
fn every_timeout_or_the_first_or_the_first_outside_a_reduction_lowers_ssthresh() {
    // (which of the row, the transport's state then, bytes in flight): ssthresh after each
    let events = [(1, Phase::Recovery, 20), (2, Phase::Loss, 12), (1, Phase::Cwr, 8), (1, Phase::Open, 6)];
    for (timeouts, after) in [
        (Timeouts::First, [10.0, 10.0, 4.0, 3.0]),
        (Timeouts::Every, [10.0, 6.0, 4.0, 3.0]),
        (Timeouts::Once, [f64::INFINITY, f64::INFINITY, f64::INFINITY, 3.0]),
    ] {
        let mut cc = reno(&changed(Params::default(), |p| p.window.timeouts = timeouts), 20.0);
        for ((consecutive, phase, flight), ssthresh) in events.into_iter().zip(after) {
            cc.on_timeout(&Timeout { phase, ..timeout(us(0.0), segments(flight), consecutive) });
            assert_eq!((cc.cwnd(), cc.ssthresh()), (1_000.0, ssthresh * 1000.0), "{timeouts:?}, {phase:?}");
        }
    }
    assert_eq!((form("ns3").window.timeouts, form("linux").window.timeouts), (Timeouts::Every, Timeouts::Once));
}

#[test]
fn from_the_timeout_that_empties_on_the_window_is_nothing_and_starts_slowly_from_there() {
    let mut cc = reno(&form("ns3"), 20.0);
    for (emptying, windows) in [(0, [1_000.0; 4]), (2, [0.0; 4])] {
        for window in windows {
            cc.on_timeout(&Timeout { emptying, ..timeout(us(0.0), segments(6), 1) });
            assert_eq!((cc.cwnd(), cc.ssthresh()), (window, 3_000.0));
        }
    }
    // those of the connection count, not those in a row
    let mut cc = reno(&form("ns3"), 20.0);
    for window in [1_000.0, 1_000.0, 0.0] {
        cc.on_timeout(&Timeout { emptying: 3, ..timeout(us(0.0), segments(6), 1) });
        assert_eq!(cc.cwnd(), window);
        cc.on_ack(&Ack { phase: Phase::Loss, ..covers(1000, 1000) });
        assert_eq!(cc.cwnd(), window + 1_000.0);
    }
}

#[test]
fn in_linux_growth_counts_segments_that_an_ack_reports() {
    let mut cc = reno(&form("linux"), 10.0);
    // a segment and a half are two; SACK reports three where one is covered; a duplicate counts nothing
    for (acked, delivered, window) in [(1500, 1500, 12_000.0), (1000, 3000, 15_000.0), (0, 1000, 15_000.0)] {
        cc.on_ack(&covers(acked, delivered));
        assert_eq!(cc.cwnd(), window, "{delivered} of {acked} B");
    }
    // a loss halves the window, not the flight: 15 / 2 = 7
    cc.on_loss(&Congestion { window: 15_000.0, ..congestion(us(200.0), 9_000) });
    assert_eq!((cc.cwnd(), cc.ssthresh()), (7_000.0, 7_000.0));
    for n in 1..=7 {
        assert_eq!(cc.cwnd(), 7_000.0, "{n}");
        cc.on_ack(&covers(1000, 1000));
    }
    assert_eq!(cc.cwnd(), 8_000.0, "a window of seven was acknowledged");
    // 18 segments are two windows of eight, and two towards the next
    cc.on_ack(&covers(18_000, 18_000));
    assert_eq!(cc.cwnd(), 10_000.0);
    cc.on_ack(&covers(7_000, 7_000));
    assert_eq!(cc.cwnd(), 10_000.0);
    cc.on_ack(&covers(1_000, 1_000));
    assert_eq!(cc.cwnd(), 11_000.0);
    cc.on_timeout(&Timeout { window: 11_000.0, ..timeout(us(300.0), segments(4), 1) });
    assert_eq!(cc.ssthresh(), 5_000.0, "half of 11 segments, rounded down");
}

#[test]
fn htsim_grows_into_the_room_that_the_window_leaves() {
    let htsim = changed(Params::default(), |p| {
        p.window.avoidance = Avoidance::Room;
        p.window.arithmetic = Arithmetic::Bytes;
    });
    let after = |cwnd: f64, avoidance: bool, change: &dyn Fn(&mut Ack)| {
        let mut cc = reno(&htsim, cwnd);
        if avoidance {
            cc.on_loss(&congestion(us(0.0), (2_000.0 * cwnd) as u64));
        }
        let before = cc.cwnd();
        let mut event = Ack { round: round(1000, 1000), ..covers(1000, 1000) };
        change(&mut event);
        cc.on_ack(&event);
        cc.cwnd() - before
    };
    let nothing = |_: &mut Ack| {};
    // slow start: a segment, what is left of the window, what is left to the threshold
    assert_eq!(after(10.0, false, &nothing), 1_000.0);
    assert_eq!(after(10.0, false, &|ack| ack.round.sent = 10_600), 400.0);
    assert_eq!(after(10.0, false, &|ack| ack.round.sent = 11_600), 0.0, "more in flight than the window");
    let mut cc = reno(&htsim, 10.0);
    cc.on_timeout(&timeout(us(0.0), 5_000, 1));
    for window in [2_000.0, 2_500.0, 2_900.0] {
        // to 2500 B, then 1000 1000 / 2500
        cc.on_ack(&Ack { round: round(1000, 1000), ..covers(1000, 1000) });
        assert_eq!(cc.cwnd(), window);
    }
    // avoidance: the share of a segment, of 400 B, in whole bytes: 1000 1000 / 7000, 400 1000 / 7000
    assert_eq!(after(7.0, true, &nothing), 142.0);
    assert_eq!(after(7.0, true, &|ack| ack.round.sent = 7_600), 57.0);
    // marks do not hold it back; a recovery, an application and a duplicate do
    assert_eq!(after(7.0, true, &|ack| (ack.ece, ack.phase) = (true, Phase::Cwr)), 142.0);
    assert_eq!(after(7.0, true, &|ack| ack.phase = Phase::Recovery), 0.0);
    assert_eq!(after(7.0, true, &|ack| ack.cwnd_limited = false), 0.0);
    assert_eq!(after(7.0, true, &|ack| ack.acked = 0), 0.0);
}

#[test]
fn a_reduction_taken_back_leaves_three_quarters_as_threshold() {
    for (window, ssthresh) in [(11.0, 7_000.0), (16.0, 12_000.0)] {
        let mut cc = grown(&form("linux"), window);
        assert_eq!(cc.ssthresh(), 2_000.0);
        cc.on_loss(&Congestion { window: cc.cwnd(), ..congestion(us(200.0), segments(11)) });
        assert_eq!(cc.cwnd(), f64::floor(window / 2.0) * 1000.0);
        cc.on_undo();
        // 11 / 2 + 11 / 4 = 5 + 2
        assert_eq!((cc.cwnd(), cc.ssthresh()), (window * 1000.0, ssthresh));
    }
    // a threshold above that stays, and so does a window that has grown meanwhile
    let mut cc = reno(&form("linux"), 10.0);
    cc.on_loss(&Congestion { window: 40_000.0, ..congestion(us(0.0), segments(40)) });
    cc.on_loss(&Congestion { window: 20_000.0, ..congestion(us(100.0), segments(20)) });
    (0..30).for_each(|_| cc.on_ack(&covers(10_000, 10_000)));
    let window = cc.cwnd();
    assert!(window > 20_000.0);
    cc.on_undo();
    assert_eq!((cc.cwnd(), cc.ssthresh()), (window, 20_000.0));
}

#[test]
fn an_idle_time_restarts_or_halves_for_each_timeout() {
    let idle = |rule, window, timeouts| {
        let mut cc = grown(&changed(form("linux"), |p| p.window.idle = rule), window);
        cc.on_idle(&Idle { now: us(1e6), timeouts });
        (cc.cwnd() / 1000.0, cc.ssthresh() / 1000.0)
    };
    assert_eq!(idle(IdleRule::Restart, 41.0, 1), (10.0, 2.0), "RFC 5681 forgets the window");
    // tcp_cwnd_restart: 41 / 2 + 41 / 4 = 20 + 10 segments are remembered
    assert_eq!(idle(IdleRule::Decay, 41.0, 1), (20.0, 30.0));
    assert_eq!(idle(IdleRule::Decay, 41.0, 2), (10.0, 30.0));
    assert_eq!(idle(IdleRule::Decay, 41.0, 9), (10.0, 30.0), "not below the initial window");
    assert_eq!(idle(IdleRule::Decay, 6.0, 9), (6.0, 4.0), "nor up to it");
}

#[test]
fn the_ways_up_in_each_arithmetic() {
    use Arithmetic::{Real, Segments as Whole, Whole as Ns3};
    // threshold two segments, window one: an ACK of three segments, then five of one segment each
    for (slow_start_per, avoidance, arithmetic, first, last) in [
        (SlowStart::Ack, Avoidance::Bytes, Real, 2_000.0, 4_000.0),
        // one of three reaches the threshold, two are a window of avoidance
        (SlowStart::Segments, Avoidance::Bytes, Real, 3_000.0, 4_000.0),
        (SlowStart::Segments, Avoidance::Bytes, Whole, 3_000.0, 4_000.0),
        // ns-3 drops what slow start leaves over where it counts segments
        (SlowStart::Segments, Avoidance::Bytes, Ns3, 2_000.0, 4_000.0),
        // and hands on what is left where it counts ACKs: a window of two
        (SlowStart::Ack, Avoidance::Bytes, Ns3, 3_000.0, 4_000.0),
        // 1e6 / 2000 = 500, / 2500 = 400, / 2900 = 344, / 3244 = 308, / 3552 = 281
        (SlowStart::Segments, Avoidance::Ack, Ns3, 2_000.0, 3_833.0),
        // one step for what slow start leaves: 500; then 400, 344, 308, 281, 260
        (SlowStart::Ack, Avoidance::Ack, Ns3, 2_500.0, 4_093.0),
    ] {
        let params = changed(Params::default(), |p| {
            p.window.slow_start_per = slow_start_per;
            p.window.avoidance = avoidance;
            p.window.arithmetic = arithmetic;
        });
        let mut cc = reno(&params, 10.0);
        cc.on_timeout(&timeout(us(0.0), segments(4), 1));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (1_000.0, 2_000.0));
        cc.on_ack(&covers(3000, 3000));
        assert_eq!(cc.cwnd(), first, "{slow_start_per:?}, {avoidance:?}, {arithmetic:?}: three segments at once");
        (0..5).for_each(|_| cc.on_ack(&covers(1000, 1000)));
        assert_eq!(cc.cwnd(), last, "{slow_start_per:?}, {avoidance:?}, {arithmetic:?}");
    }
}

#[test]
fn a_flow_leaves_slow_start_at_the_threshold_that_it_begins_with() {
    for kind in ["newreno", "cubic", "westwood", "westwood-plus", "dctcp", "gcn"] {
        let grown = |threshold: &str| {
            let mut config = Config::new(kind).unwrap();
            config.set("initial_ssthresh", threshold).unwrap();
            assert_eq!(config.check(), Ok(()));
            let mut cc = config.build(&env(MSS, 10.0));
            let first = cc.ssthresh();
            // two segments for each of ten ACKs, of which slow start adds one or both
            (0..10).for_each(|i| cc.on_ack(&ack(us(100.0 + f64::from(i)), segments(2), us(100.0))));
            (first, cc.cwnd())
        };
        let (none, doubled) = grown("none");
        assert!(none == f64::INFINITY && doubled >= 20_000.0, "{kind}");
        let (first, after) = grown("15");
        assert_eq!(first, 15_000.0, "{kind}");
        // at the threshold, then about a segment a window
        assert!((15_000.0..=17_000.0).contains(&after), "{kind}: {after}");
        let mut config = Config::new(kind).unwrap();
        for nonsense in ["0.5", "0", "always"] {
            let refused = config.set("initial_ssthresh", nonsense).unwrap_err().to_string();
            assert_eq!(refused, "expected \"none\" or a number of at least 1", "{kind}");
        }
    }
}
