//! HPCC against hand-computed steps of algorithm 1, at 100 Gb/s and a base round trip of 10 us: an
//! initial window of 125000 B, and additive steps of 62.5 B.

use crate::events::{MSS, ack, assert_close, congestion, env, round, segments, timeout, us};
use incast_cc::hpcc::{Hpcc, KIND, Params};
use incast_cc::{Ack, Bytes, Config, Controller, Env, Hop, Pacing, Rate, Time};
use proptest::prelude::*;

fn path() -> Env {
    Env { base_rtt: us(10.0), line_rate: Rate::gbps(100), ..env(MSS, 10.0) }
}

/// Stamp of a link at 100 Gb/s: bytes sent by `at` us, and bytes queued there.
fn hop(at: f64, sent: u64, queue: u64) -> Hop {
    Hop { time: us(at), tx_bytes: Bytes(sent), queue: Bytes(queue), rate: Rate::gbps(100) }
}

/// An ACK for the packet before `una`, with `nxt` bytes sent, that carries these stamps.
fn ack_with(cc: &mut Hpcc, una: u64, nxt: u64, hops: &[Hop]) {
    cc.on_telemetry(hops);
    cc.on_ack(&Ack { round: round(segments(una), segments(nxt)), ..ack(Time::ms(1), segments(1), us(10.0)) });
}

fn state(cc: &Hpcc, wanted: &str) -> f64 {
    let mut found = None;
    cc.state(&mut |name, value| {
        if name == wanted {
            found = Some(value);
        }
    });
    found.expect("a declared state variable")
}

/// A flow whose link was found at 1.9: it has half its window and one step, 62562.5 B.
fn halved(params: &Params) -> Hpcc {
    let mut cc = Hpcc::new(params, &path());
    ack_with(&mut cc, 1, 1, &[hop(0.0, 0, 125_000)]);
    // (125000 / 125000) + 112500 B in 10 us of 125000
    ack_with(&mut cc, 2, 100, &[hop(10.0, 112_500, 125_000)]);
    cc
}

#[test]
fn a_flow_starts_with_what_its_line_sends_in_a_round_trip_and_is_paced_by_it() {
    let mut cc = Hpcc::new(&Params::default(), &path());
    assert_eq!((cc.cwnd(), cc.pacing()), (125_000.0, Pacing::Rate(1e11)));
    // the first stamps have nothing to be compared with
    ack_with(&mut cc, 1, 100, &[hop(0.0, 0, 125_000)]);
    assert_eq!((cc.cwnd(), state(&cc, "utilisation")), (125_000.0, 1.0));
}

#[test]
fn a_link_above_eta_divides_the_window() {
    let cc = halved(&Params::default());
    assert_close(state(&cc, "utilisation"), 1.9);
    // 125000 / (1.9 / 0.95) + 125000 0.05 / 100
    assert_close(cc.cwnd(), 62_562.5);
    assert_eq!(cc.pacing(), Pacing::Rate(62_562.5 * 8e5));
    assert_close(state(&cc, "reference_bytes"), 62_562.5);
}

#[test]
fn the_reference_stands_until_data_sent_after_the_first_stamps_is_acknowledged() {
    let mut cc = Hpcc::new(&Params::default(), &path());
    ack_with(&mut cc, 1, 100, &[hop(0.0, 0, 125_000)]);
    ack_with(&mut cc, 2, 100, &[hop(10.0, 112_500, 125_000)]);
    assert_close(cc.cwnd(), 62_562.5);
    assert_close(state(&cc, "reference_bytes"), 125_000.0);
    // procedure NewAck: an ACK beyond the last byte sent by then begins the next; one up to it does not
    ack_with(&mut cc, 100, 200, &[hop(20.0, 225_000, 125_000)]);
    assert_close(state(&cc, "reference_bytes"), 125_000.0);
    // the same look again, a round trip later: the window is the same, and now the reference too
    ack_with(&mut cc, 101, 200, &[hop(30.0, 337_500, 125_000)]);
    assert_close(cc.cwnd(), 62_562.5);
    assert_close(state(&cc, "reference_bytes"), 62_562.5);
}

#[test]
fn a_shorter_look_counts_for_less_and_the_shorter_queue_counts() {
    let mut cc = halved(&Params::default());
    // 12500 / 125000 + 31250 / 62500 = 0.6 in 5 us: U = 1.9 / 2 + 0.6 / 2 = 1.25
    ack_with(&mut cc, 50, 100, &[hop(15.0, 143_750, 12_500)]);
    assert_close(state(&cc, "utilisation"), 1.25);
    assert_close(cc.cwnd(), 62_562.5 / (1.25 / 0.95) + 62.5);
    // the reference stays within a round trip, so windows do not compound
    assert_close(state(&cc, "reference_bytes"), 62_562.5);
    ack_with(&mut cc, 51, 100, &[hop(15.0, 143_750, 12_500)]);
    assert_close(cc.cwnd(), 62_562.5 / (1.25 / 0.95) + 62.5);
    // an interval above T counts as T
    ack_with(&mut cc, 52, 100, &[hop(35.0, 143_750 + 125_000, 0)]);
    assert_close(state(&cc, "utilisation"), 0.5);
}

#[test]
fn the_busiest_link_counts_at_its_own_rate() {
    let mut cc = Hpcc::new(&Params::default(), &path());
    let slow = |at, sent, queue| Hop { rate: Rate::gbps(10), ..hop(at, sent, queue) };
    ack_with(&mut cc, 1, 100, &[hop(0.0, 0, 0), slow(0.0, 0, 1_250), hop(0.0, 0, 0)]);
    // 0.8, then 1250 / 12500 + 11250 / 12500 = 1.0, then 0.2
    ack_with(&mut cc, 2, 100, &[hop(10.0, 100_000, 0), slow(10.0, 11_250, 2_000), hop(10.0, 25_000, 0)]);
    assert_close(state(&cc, "utilisation"), 1.0);
}

#[test]
fn of_links_equally_busy_the_first_counts() {
    // algorithm 1 keeps the interval of a link whose utilisation is above those before: 0.4 in 10 us, not in 5
    for (first, second, utilisation) in [(10.0, 5.0, 0.4), (5.0, 10.0, 0.5 + 0.5 * 0.4)] {
        let mut cc = Hpcc::new(&Params::default(), &path());
        ack_with(&mut cc, 1, 100, &[hop(0.0, 0, 0), hop(0.0, 0, 0)]);
        let at = |tau: f64| hop(tau, (5_000.0 * tau) as u64, 0);
        ack_with(&mut cc, 2, 100, &[at(first), at(second)]);
        assert_close(state(&cc, "utilisation"), utilisation);
    }
}

#[test]
fn below_eta_the_window_steps_up_and_after_five_steps_is_set_by_the_utilisation() {
    let mut cc = halved(&Params::default());
    let mut window = 62_562.5;
    for step in 1..=5u64 {
        // 0.5 of the rate and no queue; each ACK begins a new round trip
        ack_with(
            &mut cc,
            100 * step + 1,
            100 * step + 100,
            &[hop(10.0 + 10.0 * step as f64, 112_500 + 62_500 * step, 0)],
        );
        window += 62.5;
        assert_close(state(&cc, "utilisation"), 0.5);
        assert_close(cc.cwnd(), window);
    }
    // 62875 / (0.5 / 0.95) + 62.5
    ack_with(&mut cc, 601, 700, &[hop(70.0, 112_500 + 62_500 * 6, 0)]);
    assert_close(cc.cwnd(), 62_875.0 / (0.5 / 0.95) + 62.5);
    // and the count begins anew
    ack_with(&mut cc, 701, 800, &[hop(80.0, 112_500 + 62_500 * 7, 0)]);
    assert_close(cc.cwnd(), 62_875.0 / (0.5 / 0.95) + 125.0);
    // within a round trip no step is counted
    let mut cc = halved(&Params { max_stage: 1, ..Params::default() });
    for packet in 3..20u64 {
        ack_with(&mut cc, packet, 100, &[hop(10.0 * packet as f64, 112_500 + 62_500 * packet, 0)]);
        assert_close(cc.cwnd(), 62_625.0);
    }
}

#[test]
fn the_window_stays_between_its_least_and_its_first() {
    let mut cc = halved(&Params { max_stage: 0, ..Params::default() });
    ack_with(&mut cc, 101, 200, &[hop(20.0, 112_500, 0)]);
    assert_eq!(cc.cwnd(), 125_000.0, "an idle link");
    let mut cc = halved(&Params { min_cwnd: 0.25, ..Params::default() });
    ack_with(&mut cc, 101, 200, &[hop(20.0, 112_500 + 125_000, 125_000_000)]);
    assert_eq!(cc.cwnd(), 31_250.0);
}

#[test]
fn acks_without_stamps_and_another_path_change_nothing() {
    let mut cc = halved(&Params::default());
    cc.on_ack(&Ack { round: round(segments(101), segments(200)), ..ack(Time::ms(1), segments(1), us(10.0)) });
    assert_close(cc.cwnd(), 62_562.5);
    ack_with(&mut cc, 101, 200, &[hop(20.0, 0, 0), hop(20.0, 0, 0)]);
    assert_close(cc.cwnd(), 62_562.5);
    ack_with(&mut cc, 102, 200, &[hop(30.0, 62_500, 0), hop(30.0, 0, 0)]);
    assert_close(state(&cc, "utilisation"), 0.5);
}

#[test]
fn losses_and_timeouts_leave_the_window_alone() {
    let mut cc = halved(&Params::default());
    cc.on_loss(&congestion(Time::ms(1), segments(10)));
    cc.on_timeout(&timeout(Time::ms(2), segments(10), 3));
    assert_close(cc.cwnd(), 62_562.5);
}

#[test]
fn bad_parameters_are_refused_with_what_was_expected() {
    let mut config = Config::new("hpcc").unwrap();
    assert!(config.profile().telemetry);
    for (key, value, words) in [
        ("eta", "0", "expected a number above 0, at most 1"),
        ("eta", "1.01", "expected a number above 0, at most 1"),
        ("flows", "0", "expected a number above 0"),
        ("min_cwnd", "1", "expected a number above 0, below 1"),
        ("max_stage", "-1", "expected a whole number"),
    ] {
        assert_eq!(config.set(key, value).unwrap_err().to_string(), words, "{key}");
    }
    config.set("base_rtt", "0s").unwrap();
    assert_eq!(config.check().unwrap_err().to_string(), "base_rtt: expected above 0");
}

#[test]
fn every_packet_is_acknowledged_with_the_stamps_it_brought() {
    // section 3.1: each ACK carries the stamps of its packet; losses leave the window alone
    let asked = KIND.profile;
    assert!(asked.ack_every_packet && asked.telemetry && asked.own_recovery);
}

proptest! {
    #[test]
    fn whatever_the_stamps_the_window_is_between_its_bounds(
        stamps in proptest::collection::vec((0u64..50_000, 0u64..1_000_000, 0u64..10_000_000), 1..100)
    ) {
        let mut cc = Hpcc::new(&Params::default(), &path());
        for (i, (time, sent, queue)) in stamps.into_iter().enumerate() {
            ack_with(&mut cc, 10 * i as u64, 10 * i as u64 + 9, &[hop(time as f64 / 100.0, sent, queue)]);
            prop_assert!((125.0..=125_000.0).contains(&cc.cwnd()));
        }
    }
}
