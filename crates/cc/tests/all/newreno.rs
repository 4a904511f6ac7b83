//! NewReno against hand-computed vectors of RFC 5681 and RFC 6582 and the unit vectors of
//! ns-3.43's `linux-reno` and `tcp-ecn` suites.

use crate::events::{MSS, ack, assert_close, changed, congestion, env, segments, timeout, us};
use incast_cc::newreno::{NewReno, Params, Recovered};
use incast_cc::reno_window::{Avoidance, SlowStart};
use incast_cc::{Controller, Idle, Phase, Time};
use proptest::prelude::*;

fn linux() -> Params {
    changed(Params::default(), |p| {
        p.window.slow_start_per = SlowStart::Segments;
        p.window.avoidance = Avoidance::Bytes;
    })
}

fn cwnd_segments(cc: &NewReno, mss: u32) -> f64 {
    cc.cwnd() / f64::from(mss)
}

/// Acknowledges `n` segments, `per_ack` at a time.
fn acknowledge(cc: &mut NewReno, n: u64, per_ack: u64, mss: u32) {
    let mut left = n;
    while left > 0 {
        let now = left.min(per_ack);
        cc.on_ack(&ack(us(100.0), now * u64::from(mss), us(100.0)));
        left -= now;
    }
}

#[test]
fn slow_start_adds_at_most_a_segment_for_each_ack() {
    let mut cc = NewReno::new(&Params::default(), &env(MSS, 10.0));
    cc.on_ack(&ack(us(100.0), 2 * segments(1), us(100.0)));
    assert_eq!(cc.cwnd(), 11_000.0);
    cc.on_ack(&ack(us(100.0), 300, us(100.0)));
    assert_eq!(cc.cwnd(), 11_300.0);
}

#[test]
fn congestion_avoidance_adds_a_segment_each_window() {
    let mut cc = NewReno::new(&Params::default(), &env(MSS, 10.0));
    cc.on_loss(&congestion(us(0.0), segments(20)));
    cc.on_ack(&ack(us(100.0), segments(1), us(100.0)));
    assert_close(cc.cwnd(), 10_100.0);
}

#[test]
fn twenty_segments_in_flight_leave_ten() {
    let mut cc = NewReno::new(&Params::default(), &env(MSS, 20.0));
    cc.on_loss(&congestion(us(0.0), segments(20)));
    assert_eq!((cc.ssthresh(), cc.cwnd()), (10_000.0, 10_000.0));
}

#[test]
fn no_reduction_goes_below_two_segments() {
    let mut cc = NewReno::new(&Params::default(), &env(MSS, 3.0));
    cc.on_loss(&congestion(us(0.0), segments(3)));
    assert_eq!(cc.cwnd(), 2_000.0);
    let mut cc = NewReno::new(&changed(Params::default(), |p| p.window.floor = 1.0), &env(MSS, 3.0));
    cc.on_loss(&congestion(us(0.0), segments(1)));
    assert_eq!(cc.cwnd(), 1_000.0);
}

#[test]
fn linux_reno_slow_start_of_ns3_ends_at_nine_segments() {
    for mss in [524, 1500] {
        for delayed in [1, 2] {
            let mut cc = NewReno::new(&linux(), &env(mss, 2.0));
            acknowledge(&mut cc, 7, delayed, mss);
            assert_eq!(cwnd_segments(&cc, mss), 9.0, "mss {mss}, an ACK for {delayed}");
        }
    }
}

#[test]
fn linux_reno_avoidance_of_ns3_ends_at_four_segments() {
    for (mss, bytes) in [(524, 2096.0), (1500, 6000.0)] {
        for delayed in [1, 2] {
            let mut cc = NewReno::new(&linux(), &env(mss, 1.0));
            cc.on_timeout(&timeout(us(0.0), 0, 1)); // the shortest way to ssthresh = 2, cwnd = 1
            assert_eq!((cc.ssthresh(), cc.cwnd()), (2.0 * f64::from(mss), f64::from(mss)));
            acknowledge(&mut cc, 1, 1, mss); // the single segment of the first window
            acknowledge(&mut cc, 5, delayed, mss);
            assert_eq!(cc.cwnd(), bytes, "mss {mss}, an ACK for {delayed}");
        }
    }
}

#[test]
fn segments_beyond_ssthresh_count_towards_avoidance() {
    let mut cc = NewReno::new(&linux(), &env(MSS, 10.0));
    cc.on_timeout(&timeout(us(0.0), segments(8), 1)); // ssthresh 4, cwnd 1
    acknowledge(&mut cc, 4, 4, MSS); // three reach ssthresh, one is left over
    assert_eq!(cc.cwnd(), 4_000.0);
    acknowledge(&mut cc, 2, 2, MSS);
    assert_eq!(cc.cwnd(), 4_000.0, "three of a window of four");
    acknowledge(&mut cc, 1, 1, MSS);
    assert_eq!(cc.cwnd(), 5_000.0);
}

#[test]
fn an_ecn_echo_halves_to_no_less_than_two_segments() {
    let mut cc = NewReno::new(&Params::default(), &env(500, 3.0));
    let mut marked = ack(us(100.0), 500, us(100.0));
    marked.ece = true;
    cc.on_ack(&marked);
    assert_eq!(cc.cwnd(), 1_500.0, "no growth on the marked ACK itself");
    cc.on_ecn(&congestion(us(100.0), 1_500));
    assert_eq!(cc.cwnd(), 1_000.0);
    // The second mark of the window: the transport is in CWR and asks for no second reduction.
    marked.phase = Phase::Cwr;
    cc.on_ack(&marked);
    assert_eq!(cc.cwnd(), 1_000.0);
}

#[test]
fn the_window_grows_only_where_it_may() {
    for (phase, limited, ece, grows) in [
        (Phase::Open, true, false, true),
        (Phase::Loss, true, false, true),
        (Phase::Loss, true, true, true),
        (Phase::Open, true, true, false),
        (Phase::Open, false, false, false),
        (Phase::Cwr, true, false, false),
        (Phase::Recovery, true, false, false),
    ] {
        let mut cc = NewReno::new(&Params::default(), &env(MSS, 4.0));
        let mut event = ack(us(100.0), segments(1), us(100.0));
        (event.phase, event.cwnd_limited, event.ece) = (phase, limited, ece);
        cc.on_ack(&event);
        assert_eq!(cc.cwnd() > 4_000.0, grows, "{phase:?}, limited {limited}, ece {ece}");
    }
    let mut cc = NewReno::new(&Params::default(), &env(MSS, 4.0));
    cc.on_ack(&ack(us(100.0), 0, us(100.0)));
    assert_eq!(cc.cwnd(), 4_000.0, "a duplicate ACK");
}

#[test]
fn a_repeated_timeout_leaves_ssthresh_alone() {
    let mut cc = NewReno::new(&Params::default(), &env(MSS, 20.0));
    cc.on_timeout(&timeout(us(0.0), segments(20), 1));
    assert_eq!((cc.ssthresh(), cc.cwnd()), (10_000.0, 1_000.0));
    cc.on_timeout(&timeout(us(1e6), segments(1), 2));
    assert_eq!((cc.ssthresh(), cc.cwnd()), (10_000.0, 1_000.0));
}

#[test]
fn after_recovery_the_window_is_ssthresh_or_what_is_in_flight_and_one_segment() {
    let after = |recovered, in_flight| {
        let mut cc = NewReno::new(&Params { recovered, ..Params::default() }, &env(MSS, 20.0));
        cc.on_loss(&congestion(us(0.0), segments(20)));
        cc.on_recovered(us(200.0), in_flight);
        cc.cwnd()
    };
    assert_eq!(after(Recovered::Ssthresh, segments(4)), 10_000.0);
    assert_eq!(after(Recovered::Flight, segments(4)), 5_000.0);
    assert_eq!(after(Recovered::Flight, 0), 2_000.0);
    assert_eq!(after(Recovered::Flight, segments(30)), 10_000.0);
}

#[test]
fn bytes_counted_in_a_larger_window_do_not_open_a_smaller_one() {
    let mut cc = NewReno::new(
        &changed(linux(), |p| {
            p.recovered = Recovered::Flight;
            p.window.floor = 2.0;
        }),
        &env(MSS, 20.0),
    );
    cc.on_loss(&congestion(us(0.0), segments(20)));
    acknowledge(&mut cc, 9, 1, MSS); // nine of the ten that add a segment
    cc.on_recovered(us(200.0), 0); // two segments, in slow start up to ten
    acknowledge(&mut cc, 1, 1, MSS);
    assert_eq!(cc.cwnd(), 3_000.0);
}

#[test]
fn a_reduction_begins_the_count_of_a_window_anew() {
    let mut cc = NewReno::new(&linux(), &env(MSS, 20.0));
    cc.on_loss(&congestion(us(0.0), segments(20)));
    acknowledge(&mut cc, 9, 1, MSS); // nine of ten
    cc.on_loss(&congestion(us(100.0), segments(10)));
    acknowledge(&mut cc, 4, 1, MSS);
    assert_eq!(cc.cwnd(), 5_000.0, "four of five");
    acknowledge(&mut cc, 1, 1, MSS);
    assert_eq!(cc.cwnd(), 6_000.0);
}

#[test]
fn an_idle_time_leaves_a_window_that_is_the_initial_one_and_its_count() {
    let mut cc = NewReno::new(&linux(), &env(MSS, 10.0));
    cc.on_loss(&congestion(us(0.0), segments(20)));
    acknowledge(&mut cc, 9, 1, MSS);
    cc.on_idle(&Idle { now: us(1e6), timeouts: 1 });
    acknowledge(&mut cc, 1, 1, MSS);
    assert_eq!(cc.cwnd(), 11_000.0);
}

#[test]
fn the_end_of_an_ecn_reduction_is_not_the_end_of_a_recovery() {
    let mut cc = NewReno::new(&Params { recovered: Recovered::Flight, ..Params::default() }, &env(MSS, 20.0));
    cc.on_ecn(&congestion(us(0.0), segments(20)));
    cc.on_recovered(us(200.0), segments(1));
    assert_eq!(cc.cwnd(), 10_000.0);

    // Nor is it the end of a recovery that a timeout cut short.
    cc.on_loss(&congestion(us(300.0), segments(20)));
    cc.on_timeout(&timeout(us(400.0), segments(20), 1));
    cc.on_ecn(&congestion(us(500.0), segments(20)));
    cc.on_recovered(us(600.0), segments(1));
    assert_eq!(cc.cwnd(), 10_000.0);
}

#[test]
fn a_mistaken_reduction_is_taken_back_and_an_idle_time_restarts() {
    let mut cc = NewReno::new(&Params::default(), &env(MSS, 20.0));
    cc.on_loss(&congestion(us(0.0), segments(20)));
    assert_eq!(cc.cwnd(), 10_000.0);
    cc.on_undo();
    assert_eq!(cc.cwnd(), 20_000.0);
    // RFC 5681 section 4.1: RW = min(IW, cwnd)
    acknowledge(&mut cc, 5, 1, MSS);
    assert_eq!(cc.cwnd(), 25_000.0);
    cc.on_idle(&Idle { now: us(1e6), timeouts: 1 });
    assert_eq!(cc.cwnd(), 20_000.0);
}

#[derive(Clone, Debug)]
enum Event {
    Ack(u32, bool),
    Loss(u32),
    Ecn(u32),
    Timeout(u32, u32),
    Recovered(u32),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        6 => (0u32..100_000, any::<bool>()).prop_map(|(acked, ece)| Event::Ack(acked, ece)),
        1 => (0u32..1_000_000).prop_map(Event::Loss),
        1 => (0u32..1_000_000).prop_map(Event::Ecn),
        1 => ((0u32..1_000_000), 1u32..4).prop_map(|(flight, n)| Event::Timeout(flight, n)),
        1 => (0u32..1_000_000).prop_map(Event::Recovered),
    ]
}

proptest! {
    /// At least a segment, ssthresh at least the floor, and no ACK adds more than it acknowledges
    /// and one segment.
    #[test]
    fn the_window_stays_within_its_bounds(
        events in proptest::collection::vec(event(), 1..200), per_segment: bool, bytes: bool, flight: bool,
    ) {
        let params = changed(Params::default(), |p| {
            p.window.slow_start_per = if per_segment { SlowStart::Segments } else { SlowStart::Ack };
            p.window.avoidance = if bytes { Avoidance::Bytes } else { Avoidance::Ack };
            p.recovered = if flight { Recovered::Flight } else { Recovered::Ssthresh };
        });
        let mut cc = NewReno::new(&params, &env(MSS, 10.0));
        for event in events {
            let before = cc.cwnd();
            match event {
                Event::Ack(acked, ece) => {
                    let mut event = ack(Time::ms(1), u64::from(acked), us(100.0));
                    event.ece = ece;
                    cc.on_ack(&event);
                    prop_assert!(cc.cwnd() >= before);
                    prop_assert!(cc.cwnd() <= before + f64::from(acked) + f64::from(MSS));
                }
                Event::Loss(flight) => cc.on_loss(&congestion(Time::ms(1), u64::from(flight))),
                Event::Ecn(flight) => cc.on_ecn(&congestion(Time::ms(1), u64::from(flight))),
                Event::Timeout(flight, n) => {
                    cc.on_timeout(&timeout(Time::ms(1), u64::from(flight), n));
                    prop_assert_eq!(cc.cwnd(), f64::from(MSS));
                }
                Event::Recovered(flight) => {
                    cc.on_recovered(Time::ms(1), u64::from(flight));
                    prop_assert!(cc.cwnd() <= before);
                }
            }
            prop_assert!(cc.cwnd() >= f64::from(MSS) && cc.cwnd().is_finite());
            prop_assert!(cc.ssthresh() >= 2.0 * f64::from(MSS));
        }
    }
}
