//! MSwift against hand-computed steps, and the round-robin argument of its paper. The median is tested in `median.rs`.

use crate::events::{MSS, ack, assert_close, changed, congestion, env, segments, timeout, us};
use incast_cc::median::{self, History};
use incast_cc::mswift::{KIND, MSwift, Params};
use incast_cc::swift::target_delay::Target;
use incast_cc::{Ack, Config, Controller, Late, Time};
use proptest::prelude::*;

/// A static target in microseconds.
fn fixed(target_us: f64) -> Params {
    changed(Params::default(), |p| {
        p.target_delay.target = Target::Static;
        p.target_delay.static_target = us(target_us);
    })
}

fn window(cc: &MSwift) -> f64 {
    cc.cwnd() / f64::from(MSS)
}

fn median_us(cc: &MSwift) -> f64 {
    let mut found = f64::NAN;
    cc.state(&mut |name, value| {
        if name == "median_delay_s" {
            found = value * 1e6;
        }
    });
    found
}

#[test]
fn vector_a_smaller_window_keeps_the_newest() {
    // ten delays at a window of 30, the newest four of them 50 us; then the window is cut to 8
    let mut cc = MSwift::new(
        &changed(fixed(45.0), |p| {
            p.window.max_mdf = 1.0;
            p.window.beta = 1.0;
        }),
        &env(MSS, 30.0),
    );
    let at = |i: usize| us(1000.0 + i as f64);
    for (i, delay) in [20.0, 20.0, 20.0, 20.0, 20.0, 20.0, 50.0, 50.0, 50.0, 50.0].into_iter().enumerate() {
        cc.on_ack(&ack(at(i), 0, us(delay)));
    }
    assert_close(median_us(&cc), 20.0);
    assert_close(window(&cc), 30.0);
    cc.on_loss(&congestion(us(5000.0), segments(30)));
    assert_close(window(&cc), 0.001);
    // H = 3 now: two of the 50 us and the new one, where six of 20 us would still rule
    cc.on_ack(&ack(us(5010.0), 0, us(20.0)));
    assert_close(median_us(&cc), 50.0);
}

#[test]
fn the_median_decides_and_sizes_the_cut() {
    // constant history of three; delays 100, 30, 60 us against 40 us: the median of all is 60 us
    let median = median::Params { history: History::Constant, history_size: 3, ..Default::default() };
    let params = Params { median, ..fixed(40.0) };
    let mut cc = MSwift::new(&params, &env(MSS, 20.0));
    cc.on_ack(&ack(us(1000.0), 0, us(100.0)));
    assert_close(window(&cc), 20.0 * 0.52);
    let w = window(&cc);
    cc.on_ack(&ack(us(1050.0), segments(1), us(30.0)));
    assert_close(window(&cc), w + 1.0 / w);
    let w = window(&cc);
    cc.on_ack(&ack(us(1200.0), segments(1), us(60.0)));
    assert_close(window(&cc), w * (1.0 - 0.8 * 20.0 / 60.0));
}

/// Cuts in 3000 ACKs of a flow over `n` paths in turn, one of them slow: 28 us against 14 us and a target of 20 us.
fn cuts_in_round_robin(config: &Config, n: usize, w: f64) -> u32 {
    let mut cc = config.build(&env(MSS, w));
    let mut cuts = 0;
    for i in 0..3000usize {
        let delay = if i % n == n - 1 { 28.0 } else { 14.0 };
        let before = cc.cwnd();
        cc.on_ack(&ack(us(1000.0 + i as f64), 0, us(delay)));
        cuts += u32::from(cc.cwnd() < before);
    }
    cuts
}

fn at_target_20(kind: &str, set: &[(&str, &str)]) -> Config {
    let mut config = Config::new(kind).unwrap();
    config.set("target", "static").unwrap();
    config.set("static_target", "20us").unwrap();
    for (key, value) in set {
        config.set(key, value).unwrap();
    }
    config
}

#[test]
fn one_slow_path_of_three_or_more_never_cuts() {
    // at most ceil(H / n) slow delays among H: under half, but for H = 4 and n = 3, where it is exactly half
    for n in [3, 4, 9, 25] {
        for w in [2.0, 8.0, 12.0, 30.0] {
            assert_eq!(cuts_in_round_robin(&at_target_20("mswift", &[]), n, w), 0, "{n} paths, window {w}");
            assert!(cuts_in_round_robin(&at_target_20("lswift", &[]), n, w) > 0, "LSwift goes by the latest");
        }
    }
    let mean = at_target_20("mswift", &[("even", "mean")]);
    assert!(cuts_in_round_robin(&mean, 3, 8.0) > 0, "the mean of 14 and 28 us is over target");
    assert_eq!(cuts_in_round_robin(&mean, 4, 8.0), 0);
}

proptest! {
    /// With a history of one the window is LSwift's, to the bit.
    #[test]
    fn a_history_of_one_is_lswift(
        events in proptest::collection::vec((0u8..8, 0u64..50_000, 0u64..400_000_000), 1..200),
    ) {
        let mut one = Config::new("mswift").unwrap();
        one.set("history", "constant").unwrap();
        one.set("history_size", "1").unwrap();
        let (mut lswift, mut mswift) =
            (Config::new("lswift").unwrap().build(&env(MSS, 10.0)), one.build(&env(MSS, 10.0)));
        let mut now = Time::ZERO;
        for (what, bytes, delay) in events {
            now += Time(delay / 4);
            let play = |cc: &mut incast_cc::Cc| match what {
                0 => cc.on_loss(&congestion(now, bytes)),
                1 => cc.on_timeout(&timeout(now, bytes, 1)),
                _ => cc.on_ack(&Ack { hops: 2, ..ack(now, bytes, Time(delay)) }),
            };
            play(&mut lswift);
            play(&mut mswift);
            prop_assert_eq!(lswift.cwnd().to_bits(), mswift.cwnd().to_bits());
        }
    }
}

#[test]
fn late_packets_are_lswifts() {
    assert_eq!(Config::new("mswift").unwrap().profile().late, Some(Late::LSWIFT));
}

#[test]
fn the_median_is_no_option() {
    assert!(Config::new("mswift").unwrap().set("feedback", "latest").is_err());
}

#[test]
fn every_packet_is_acknowledged_and_losses_are_its_own() {
    // as Swift has it; the wait for late packets is LSwift's: five in a row
    let asked = KIND.profile;
    assert!(asked.ack_every_packet && asked.own_recovery);
    assert_eq!(asked.late, Some(Late { trigger: 5, wait: None }));
}
