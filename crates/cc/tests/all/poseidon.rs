//! Poseidon against hand-computed steps at 100 Gb/s: p 40 us, k 2 us, m 1/4, rates from 1 to 100 Gb/s.

use crate::events::{MSS, ack, assert_printed, congestion, env, segments, timeout, us};
use incast_cc::median::{self, Feedback};
use incast_cc::poseidon::{KIND, Params, Poseidon};
use incast_cc::{Ack, Bytes, Config, Controller, Env, Hop, Pacing, Rate, Time};
use proptest::prelude::*;

/// A path of 25 packets of 1000 B at 100 Gb/s.
fn path() -> Env {
    Env { base_rtt: us(2.0), line_rate: Rate::gbps(100), ..env(MSS, 10.0) }
}

fn sender(change: impl FnOnce(&mut Params)) -> Poseidon {
    let mut params = Params::default();
    change(&mut params);
    Poseidon::new(&params, &path())
}

fn packets(cc: &Poseidon) -> f64 {
    cc.cwnd() / f64::from(MSS)
}

/// A port at 100 Gb/s whose queue takes so many microseconds.
fn hop(wait_us: f64) -> Hop {
    Hop { time: us(1.0), tx_bytes: Bytes(0), queue: Bytes((wait_us * 12_500.0) as u64), rate: Rate::gbps(100) }
}

fn ack_with(cc: &mut Poseidon, at: Time, n: u64, rtt_us: f64, hops: &[Hop]) {
    cc.on_telemetry(hops);
    cc.on_ack(&ack(at, segments(n), us(rtt_us)));
}

fn state(cc: &Poseidon, wanted: &str) -> f64 {
    let mut found = None;
    cc.state(&mut |name, value| {
        if name == wanted {
            found = Some(value);
        }
    });
    found.expect("a declared state variable")
}

#[test]
fn a_flow_starts_with_what_its_line_sends_in_a_round_trip() {
    let cc = sender(|_| ());
    assert_eq!((packets(&cc), cc.pacing()), (25.0, Pacing::None));
}

#[test]
fn the_target_falls_with_the_logarithm_of_the_rate() {
    // 25 packets in 2, 4, 20 and 200 us: 100, 50, 10 and 1 Gb/s; and a tenth of the least rate goes on along the line
    for (rtt, target) in [(2.0, 2.0), (4.0, 8.0206), (20.0, 22.0), (200.0, 42.0), (2000.0, 62.0)] {
        let mut cc = sender(|_| ());
        ack_with(&mut cc, Time::ms(1), 0, rtt, &[hop(0.0)]);
        assert_printed(state(&cc, "target_delay_s") * 1e6, target, 1e-4);
    }
    // rates of another fabric: 10 Gb/s is the largest, a thousandth of it the least
    for (rtt, target) in [(20.0, 2.0), (200.0, 2.0 + 40.0 / 3.0)] {
        let mut cc = sender(|p| (p.max_rate, p.rate_range) = (Some(10_000.0), 1000.0));
        ack_with(&mut cc, Time::ms(1), 0, rtt, &[hop(0.0)]);
        assert_printed(state(&cc, "target_delay_s") * 1e6, target, 1e-4);
    }
}

#[test]
fn below_target_a_round_trip_of_acks_multiplies_the_window() {
    // 10 us below: exp(10 / 40 ln 100 / 4) = 1.33352
    let mut cc = sender(|_| ());
    ack_with(&mut cc, Time::ms(1), 1, 20.0, &[hop(12.0)]);
    assert_printed(packets(&cc), 25.33352, 1e-5);
    // four packets at once
    let mut cc = sender(|_| ());
    ack_with(&mut cc, Time::ms(1), 4, 20.0, &[hop(12.0)]);
    assert_printed(packets(&cc), 26.33408, 1e-4);
    // at the target neither more nor less
    let mut cc = sender(|_| ());
    ack_with(&mut cc, Time::ms(1), 1, 2.0, &[hop(2.0)]);
    assert_printed(packets(&cc), 25.0, 1e-5);
}

#[test]
fn below_one_packet_an_ack_raises_the_window_by_its_share_and_packets_are_paced() {
    let mut cc = sender(|_| ());
    // five timeouts in a row: the smallest window
    for n in 1..=5 {
        cc.on_timeout(&timeout(us(1000.0 * f64::from(n)), segments(8), n));
    }
    assert_printed(packets(&cc), 0.001, 1e-9);
    // 0.001 packets in 0.8 us are 10 Mb/s: T is 82 us, and 72 us of wait leave 10
    ack_with(&mut cc, Time::ms(9), 1, 0.8, &[hop(72.0)]);
    assert_printed(packets(&cc), 0.00133352, 1e-8);
    let Pacing::Gap(gap) = cc.pacing() else { panic!("{:?}", cc.pacing()) };
    assert_printed(gap.as_us_f64(), 0.8 / 0.00133352, 1e-2);
    // 2.5 at most
    ack_with(&mut cc, Time::ms(9), 1, 0.8, &[hop(0.0)]);
    assert_printed(packets(&cc), 0.0033338, 1e-7);
    let mut free = sender(|p| p.max_factor = None);
    // 40 us below a target of 42: exp(40 / 40 ln 100 / 4) = 3.16228
    ack_with(&mut free, Time::ms(1), 1, 200.0, &[hop(2.0)]);
    assert_printed(packets(&free), 27.16228, 1e-5);
}

#[test]
fn above_target_the_window_is_cut_once_a_round_trip_and_never_by_more_than_half() {
    let mut cc = sender(|_| ());
    // 20 us above: 0.56234
    ack_with(&mut cc, us(1000.0), 1, 20.0, &[hop(42.0)]);
    assert_printed(packets(&cc), 14.0585, 1e-4);
    ack_with(&mut cc, us(1019.0), 1, 20.0, &[hop(42.0)]);
    assert_printed(packets(&cc), 14.0585, 1e-4);
    // exp(-400 / 40 ln 100 / 4) is 1e-5
    ack_with(&mut cc, us(1020.0), 1, 20.0, &[hop(422.0)]);
    assert_printed(packets(&cc), 7.02926, 1e-4);
    // an increase need not wait
    ack_with(&mut cc, us(1021.0), 1, 20.0, &[hop(0.0)]);
    assert!(packets(&cc) > 7.1);
}

#[test]
fn by_the_median_one_congested_path_of_four_cuts_nothing_and_three_do() {
    let waits = |of: fn(u64) -> f64, feedback: Feedback| {
        let mut cc = sender(|p| p.median = median::Params { feedback, ..Default::default() });
        for i in 0..40 {
            // nothing is acknowledged: the window can only fall
            ack_with(&mut cc, us(1000.0 + 5.0 * i as f64), 0, 20.0, &[hop(of(i))]);
        }
        packets(&cc)
    };
    let one_of_four = |i| if i % 4 == 3 { 42.0 } else { 2.0 };
    let three_of_four = |i| if i % 4 == 3 { 2.0 } else { 42.0 };
    assert!(waits(one_of_four, Feedback::Latest) < 10.0);
    assert_eq!(waits(one_of_four, Feedback::Median), 25.0);
    assert!(waits(three_of_four, Feedback::Median) < 10.0);
}

#[test]
fn the_median_of_the_waits_sizes_the_cut() {
    // 62, 42, 42 us: 20 us above a target of 22, as by one wait of 42: 0.56234; a window of 25 has a history of ten
    let mut cc = sender(|p| p.median.feedback = Feedback::Median);
    for (at, wait) in [(990.0, 0.0), (991.0, 62.0), (992.0, 42.0)] {
        cc.on_telemetry(&[hop(wait)]);
        cc.on_ack(&ack(us(at), 0, us(20.0)));
    }
    // 0, 62, 42, 42: the lower of the middle is 42; the first cut was of 0, 42, 62, also by 42
    assert_printed(packets(&cc), 14.0585, 1e-4);
    assert_printed(state(&cc, "hop_delay_s") * 1e6, 42.0, 1e-9);
}

#[test]
fn the_hop_of_the_longest_wait_counts_and_not_their_sum() {
    let slow = Hop { rate: Rate::gbps(10), ..hop(1.2) };
    for hops in [&[hop(12.0)][..], &[hop(11.0), hop(12.0), hop(11.5)], &[hop(11.0), slow], &[slow, hop(0.0)]] {
        let mut cc = sender(|_| ());
        ack_with(&mut cc, Time::ms(1), 1, 20.0, hops);
        assert_printed(state(&cc, "hop_delay_s") * 1e6, 12.0, 1e-9);
        assert_printed(packets(&cc), 25.33352, 1e-5);
    }
}

#[test]
fn acks_without_stamps_change_nothing() {
    let mut cc = sender(|_| ());
    ack_with(&mut cc, us(1000.0), 1, 20.0, &[hop(42.0)]);
    let window = cc.cwnd();
    cc.on_ack(&ack(us(5000.0), segments(3), us(20.0)));
    cc.on_telemetry(&[hop(0.0)]);
    cc.on_ack(&Ack { rtt: None, ..ack(us(6000.0), segments(3), us(20.0)) });
    assert_eq!(cc.cwnd(), window);
}

#[test]
fn losses_are_swifts() {
    let mut cc = sender(|_| ());
    cc.on_loss(&congestion(Time::ms(1), segments(20)));
    assert_eq!(packets(&cc), 12.5);
    cc.on_timeout(&timeout(Time::ms(2), segments(10), 1));
    assert_eq!(packets(&cc), 6.25);
    cc.on_ecn(&congestion(Time::ms(3), segments(10)));
    assert_eq!(packets(&cc), 3.125);
}

#[test]
fn flows_of_one_hop_rest_where_each_has_its_share_and_faster_ones_yield() {
    // n flows at C / n want the same wait, 2 + 40 ln n / ln 100; one beside its share moves towards it
    for (n, wait) in [(1.0, 2.0), (2.0, 8.0206), (10.0, 22.0), (100.0, 42.0)] {
        let moved = |share: f64| {
            let mut cc = sender(|_| ());
            ack_with(&mut cc, Time::ms(1), 1, 2.0 * n / share, &[hop(wait)]);
            packets(&cc) - 25.0
        };
        assert!(moved(0.9) > 0.0 && moved(1.1) < 0.0 && moved(1.0).abs() < 1e-2, "{n}: {}", moved(1.0));
    }
}

#[test]
fn bad_parameters_are_refused_with_what_was_expected() {
    let mut config = Config::new("poseidon").unwrap();
    for (key, value, words) in [
        ("p", "0s", "expected a time above 0 with a unit, such as \"40us\""),
        ("k", "2", "expected a time with a unit, such as \"25us\""),
        ("m", "0", "expected a number above 0"),
        ("max_rate", "0", "expected \"none\" or a number above 0"),
        ("rate_range", "1", "expected a number above 1"),
        ("max_factor", "1", "expected \"none\" or a number above 1"),
        ("max_mdf", "1.5", "expected a number above 0, at most 1"),
        ("ai", "1", "unknown parameter"),
    ] {
        assert_eq!(config.set(key, value).unwrap_err().to_string(), words, "{key}");
    }
}

#[test]
fn every_packet_is_acknowledged_with_the_stamps_it_brought() {
    let asked = KIND.profile;
    assert!(asked.ack_every_packet && asked.telemetry && asked.own_recovery);
}

proptest! {
    #[test]
    fn whatever_the_stamps_the_window_is_between_its_bounds(
        m in 0.01f64..1e6,
        stamps in proptest::collection::vec((0u64..4, 0u64..100_000, 0.0f64..1e4), 1..100)
    ) {
        let mut cc = sender(|p| (p.m, p.max_factor) = (m, None));
        let mut at = Time::ZERO;
        for (n, rtt, wait) in stamps {
            at += Time::us(10);
            ack_with(&mut cc, at, n, rtt as f64 / 10.0, &[hop(wait)]);
            prop_assert!((0.99..=1_000_000.1).contains(&cc.cwnd()), "{}", cc.cwnd());
        }
    }
}
