//! Swift as other programs have it, against hand-computed vectors: two ns-3 studies, and htsim.

use crate::events::{MSS, ack, assert_close, assert_printed, changed, congestion, env, round, segments, timeout, us};
use crate::swift::{fixed, target_us, window};
use incast_cc::registry::ParamSet;
use incast_cc::swift::emulation::cse322::Bounds;
use incast_cc::swift::emulation::{Arithmetic, Gate, PaceBy, Recovery};
use incast_cc::swift::target_delay::{FsWindow, Target};
use incast_cc::swift::{Params, Swift};
use incast_cc::{Ack, Cc, Config, Controller, Pacing, Phase, TcpAck, Time, Timeout};

/// Swift as the ns-3 study has it, at its segments of 1500 B.
fn study(set: &[(&str, &str)]) -> Cc {
    let mut config = Config::new("swift").unwrap();
    config.set("form", "yasomam").unwrap();
    set.iter().for_each(|(key, value)| config.set(key, value).unwrap());
    assert!(!config.profile().own_recovery, "the transport recovers");
    config.build(&env(1500, 10.0))
}

#[test]
fn the_study_counts_whole_segments_and_bytes() {
    let mut cc = study(&[("target", "static")]);
    let at = |cc: &mut Cc, bytes: u64| {
        cc.on_ack(&ack(Time::ms(1), bytes, us(1000.0)));
        cc.cwnd()
    };
    assert_eq!(at(&mut cc, 1500), 15_300.0, "10 + 2/10 segments");
    assert_eq!(at(&mut cc, 1500), 15_594.0, "10.2 + 2/10.2 = 10.39608 segments are 15594.1 B");
    assert_eq!(at(&mut cc, 1000), 15_594.0, "no whole segment yet");
    assert_eq!(at(&mut cc, 1000), 15_882.0, "now there is: 10.396 + 2/10.396 = 10.58838, 15882.6 B");
    (0..2000).for_each(|_| _ = at(&mut cc, 1500));
    assert_eq!(cc.cwnd(), 60_000.0);
}

#[test]
fn the_study_freezes_at_its_smallest_smoothed_rtt() {
    let mut cc = study(&[]);
    let mut now = Time::ms(3000);
    let mut step = |cc: &mut Cc, gap: f64, rtt: f64, srtt: f64| {
        now += us(gap);
        cc.on_ack(&Ack { srtt: us(srtt), ..ack(now, 1500, us(rtt)) });
        cc.cwnd()
    };
    // samples of a 1 ms clock: the base is 1 us, and no sample is below it
    (0..100).for_each(|_| assert_eq!(step(&mut cc, 12.6, 1.0, 1.0), 15_000.0));
    // 1 ms samples ask for 1 - 4 * 999/1000 < 0 of the window, but the time to the next decrease starts
    // anew with every ACK
    (0..100).for_each(|_| assert_eq!(step(&mut cc, 12.6, 1000.0, 2.0), 15_000.0));
    // until a gap of a whole sample lets it through
    assert_eq!(step(&mut cc, 1000.0, 1000.0, 2.0), 2000.0);
    // the second mode leaves 1 ms above the smallest
    let mut second = study(&[("epsilon", "1ms")]);
    assert_eq!(step(&mut second, 12.6, 1.0, 1.0), 15_300.0);
    assert_eq!(step(&mut second, 12.6, 1000.0, 126.0), 15_594.0, "the base stays 1 us");
}

#[test]
fn the_study_leaves_recovery_as_newreno_does() {
    let mut cc = study(&[]);
    let at = Time::ms(3000);
    cc.on_ack(&Ack { srtt: us(1.0), ..ack(at, 1500, us(1.0)) });
    cc.on_loss(&congestion(at + us(1.0), 9000));
    assert_eq!(cc.cwnd(), 2000.0, "one sample has passed: everything goes, down to the floor");
    cc.on_ack(&Ack { phase: Phase::Recovery, srtt: us(1.0), ..ack(at + us(400.0), 1500, us(0.5)) });
    assert_eq!(cc.cwnd(), 2000.0, "the window rests");
    cc.on_recovered(at + us(500.0), 1500);
    assert_eq!(cc.cwnd(), 4500.0, "half of what was in flight");
    let mut tiny = study(&[]);
    tiny.on_loss(&congestion(at, 3000));
    tiny.on_recovered(at, 0);
    assert_eq!(tiny.cwnd(), 3000.0, "at least two segments");
    // the third timeout in a row takes the floor whatever the clock says
    let mut cc = study(&[]);
    cc.on_ack(&Ack { srtt: us(1.0), ..ack(at, 1500, us(1.0)) });
    cc.on_ack(&Ack { srtt: us(1.0), ..ack(at + us(1.0), 1500, us(10_000.0)) });
    (1..=2).for_each(|n| {
        cc.on_timeout(&timeout(at + us(2.0), 9000, n));
        assert_eq!(cc.cwnd(), 15_000.0, "no sample has passed");
    });
    cc.on_timeout(&timeout(at, 9000, 3));
    assert_eq!(cc.cwnd(), 2000.0);
    // the ACK that ends the repair counts what lies beyond it, unless a mark has ended it
    let repaired = |una, phase| {
        let mut cc = study(&[("target", "static")]);
        cc.on_timeout(&Timeout { sent: 9_000, ..timeout(at, 9_000, 3) });
        cc.on_ack(&Ack { round: round(una, 18_000), phase, ..ack(at + us(1000.0), 9_000, us(1000.0)) });
        cc.cwnd()
    };
    for (una, phase, window) in [
        (9_000, Phase::Open, 2_000.0),
        (10_500, Phase::Open, 4_250.0), // one: 4/3 + 2 / (4/3) segments
        (10_500, Phase::Cwr, 15_500.0), // six: 4/3 + 12 / (4/3)
        (6_000, Phase::Loss, 15_500.0),
    ] {
        assert_eq!(repaired(una, phase), window, "{una}, {phase:?}");
    }
}

#[test]
fn in_the_study_the_first_timeout_of_a_row_sets_the_threshold() {
    // RFC 5681 equation (4): half of what was in flight, and what is sent again does not count
    let mut cc = study(&[("target", "static")]);
    for (consecutive, in_flight, threshold) in [(1, 9000, 4500.0), (2, 6000, 4500.0), (1, 7000, 3500.0)] {
        cc.on_timeout(&timeout(Time::ms(3000), in_flight, consecutive));
        assert_eq!(cc.ssthresh(), threshold);
    }
}

#[test]
fn in_the_study_the_ack_that_ends_a_recovery_counts_what_it_covers() {
    let mut cc = study(&[("target", "static")]);
    let at = Time::ms(3000);
    cc.on_loss(&congestion(at, 9000));
    cc.on_recovered(at + us(100.0), 0);
    assert_eq!(cc.cwnd(), 4500.0);
    // SACK has reported three of its four segments before: 3 + 4 2 / 3 segments
    cc.on_ack(&Ack { delivered: 1500, ..ack(at + us(100.0), 6000, us(1000.0)) });
    assert_eq!(cc.cwnd(), 8500.0);
    // and the next what it delivers: 17 / 3 + 2 3 / 17 segments are 9029.4 B
    cc.on_ack(&ack(at + us(200.0), 1500, us(1000.0)));
    assert_eq!(cc.cwnd(), 9029.0);
}

#[test]
fn in_the_study_what_was_measured_last_counts_for_an_ack_without_a_sample() {
    let silent = |acked| Ack { rtt: None, fabric_delay: None, delivered: 1500, ..ack(Time::ms(2), acked, us(1000.0)) };
    let mut cc = study(&[("target", "static")]);
    cc.on_ack(&silent(1500));
    assert_eq!(cc.cwnd(), 15_000.0, "nothing was measured yet");
    cc.on_ack(&ack(Time::ms(1), 1500, us(1000.0)));
    assert_eq!(cc.cwnd(), 15_300.0);
    cc.on_ack(&silent(1500));
    assert_eq!(cc.cwnd(), 15_594.0, "10.2 + 2/10.2 segments");
    cc.on_ack(&silent(0));
    assert_eq!(cc.cwnd(), 15_594.0, "a duplicate is no new acknowledgement");
    // htsim has a sample with every ACK, and so have the forms that count as it does
    let mut cc = Swift::new(&changed(htsim(), |p| p.target_delay.target = Target::Static), &env(MSS, 10.0));
    cc.on_ack(&ack(Time::ms(1), 1000, us(1000.0)));
    let before = cc.cwnd();
    cc.on_ack(&silent(1000));
    assert_eq!(cc.cwnd(), before);
}

/// Swift of the form cse322-text, at segments of `mss` bytes and an initial window of `window` of them.
fn cse322(mss: u32, window: f64) -> Cc {
    let mut config = Config::new("swift").unwrap();
    config.set("form", "cse322-text").unwrap();
    config.check().unwrap();
    assert!(!config.profile().own_recovery, "the transport recovers");
    config.build(&env(mss, window))
}

/// The same past its slow start: a loss of `in_flight` bytes set ssthresh, the window is `window` segments.
fn cse322_in_avoidance(window: u64) -> Cc {
    let mut cc = cse322(500, 40.0);
    cc.on_loss(&congestion(Time::ms(1), window * 1000));
    cc.on_recovered(Time::ms(2), 0);
    assert_eq!((cc.cwnd(), cc.ssthresh()), (window as f64 * 500.0, window as f64 * 500.0));
    cc
}

#[test]
fn cse322_bounds_its_window_by_the_segments_nearest_to_500_and_20000_bytes() {
    for (mss, least, most) in [(500, 500.0, 20_000.0), (536, 536.0, 19_832.0), (1024, 1024.0, 20_480.0)] {
        assert_eq!(cse322(mss, 100.0).cwnd(), most, "{mss}");
        let mut cc = cse322(mss, 10.0);
        (1..=4).for_each(|n| cc.on_timeout(&timeout(Time::ms(n), 5000, n as u32)));
        assert_eq!(cc.cwnd(), least, "{mss}");
    }
}

#[test]
fn cse322_starts_slowly_as_newreno_whatever_the_delay() {
    let mut cc = cse322(500, 10.0);
    let mut at = |bytes: u64| {
        cc.on_ack(&ack(Time::ms(1), bytes, us(5000.0)));
        cc.cwnd()
    };
    assert_eq!(at(500), 5500.0, "a segment an ACK");
    assert_eq!(at(1000), 6000.0, "also an ACK of two");
    assert_eq!(at(300), 6000.0, "no whole segment yet");
    (0..100).for_each(|_| _ = at(500));
    assert_eq!(at(500), 20_000.0);
}

#[test]
fn cse322_grows_below_25_us_by_whole_quotients_of_two() {
    // two segments: 2 + 2/2 acked; three and more: 2/3 is 0
    for (window, acked, after) in [(2, 500, 1500.0), (2, 1500, 2500.0), (3, 1500, 1500.0), (20, 5000, 10_000.0)] {
        let mut cc = cse322_in_avoidance(window);
        cc.on_ack(&ack(Time::ms(3), 0, us(24.0)));
        cc.on_ack(&Ack { delivered: acked, ..ack(Time::ms(3), acked, us(24.0)) });
        assert_eq!(cc.cwnd(), after, "{window}");
    }
    // one segment is below any ssthresh: NewReno's step to the threshold of two, then 2/2 for what is left
    let mut cc = cse322_in_avoidance(2);
    cc.on_timeout(&timeout(Time::ms(9), 1000, 1));
    assert_eq!((cc.cwnd(), cc.ssthresh()), (500.0, 1000.0));
    cc.on_ack(&ack(Time::ms(10), 500, us(24.0)));
    assert_eq!(cc.cwnd(), 1000.0);
    cc.on_ack(&ack(Time::ms(11), 500, us(24.0)));
    assert_eq!(cc.cwnd(), 1500.0);
}

#[test]
fn cse322_falls_to_one_segment_beyond_33_us() {
    // 1 - 4 (d - 25) / d: 1 at 25 us, 4/7 at 28, 1/3 at 30, nothing from 33.3 us on
    for (delay, after) in [(25.0, 10_000.0), (28.0, 5714.0), (30.0, 3333.0), (34.0, 500.0), (1e4, 500.0)] {
        let mut cc = cse322_in_avoidance(20);
        cc.on_ack(&ack(Time::ms(30), 500, us(delay)));
        assert_eq!(cc.cwnd(), after, "{delay} us");
    }
    // and begins again below ssthresh
    let mut cc = cse322_in_avoidance(20);
    cc.on_ack(&ack(Time::ms(30), 500, us(5000.0)));
    cc.on_ack(&ack(Time::ms(31), 500, us(5000.0)));
    assert_eq!(cc.cwnd(), 1000.0);
}

#[test]
fn cse322_freezes_while_acks_come_more_than_once_a_round_trip() {
    let mut cc = cse322_in_avoidance(20);
    let mut at = |now: f64| {
        cc.on_ack(&ack(us(now), 500, us(5000.0)));
        cc.cwnd()
    };
    // the loss at 1 ms left the time of the last decrease there: 4 ms are less than a sample
    assert_eq!(at(5000.0), 10_000.0);
    (1..100).for_each(|i| assert_eq!(at(5000.0 + 4000.0 * f64::from(i)), 10_000.0));
    assert_eq!(at(406_000.0), 500.0, "a gap of a sample lets it through");
}

#[test]
fn cse322_takes_the_least_window_beyond_three_timeouts_in_a_row() {
    let mut cc = cse322_in_avoidance(20);
    // 1 - gamma leaves nothing, clamped; within a sample of the last decrease it may not be
    cc.on_ack(&ack(us(2500.0), 500, us(50_000.0)));
    for n in 1..=3 {
        cc.on_timeout(&timeout(us(3000.0), 9000, n));
        assert_eq!(cc.cwnd(), 10_000.0, "{n}");
    }
    cc.on_timeout(&timeout(us(3000.0), 9000, 4));
    assert_eq!(cc.cwnd(), 500.0);
    assert_eq!(cc.ssthresh(), 4500.0, "half of what was in flight at the first");
    assert_eq!(cc.pacing(), Pacing::None);
}

/// Swift from the report's code: segments of 340 B, ten of them, a target of 25 ms unless set.
fn by_cycles(set: &[(&str, &str)]) -> Cc {
    let mut config = Config::new("swift").unwrap();
    config.set("form", "cse322").unwrap();
    set.iter().for_each(|(key, value)| config.set(key, value).unwrap());
    config.check().unwrap();
    assert!(!config.profile().own_recovery, "the transport recovers");
    config.build(&env(340, 10.0))
}

/// An ACK of `segments` more up to segment `una`, of 340 B each, where the segment sent last ended `ahead` further.
fn of_cycle(at_ms: u64, una: u64, segments: u64, ahead: u64, rtt_ms: u64) -> Ack {
    let sent = 340 * (una + ahead);
    Ack {
        srtt: Time::ms(rtt_ms),
        round: round(340 * una, sent),
        tcp: TcpAck { sent_to: sent },
        ..ack(Time::ms(at_ms), 340 * segments, Time::ms(rtt_ms))
    }
}

#[test]
fn cse322_empties_its_window_once_the_first_slow_start_has_ended() {
    // a loss at 20 segments: ssthresh one segment below, 19 of them
    let mut cc = by_cycles(&[]);
    (1..=10).for_each(|i| cc.on_ack(&of_cycle(90 + i, i, 1, 10, 90)));
    assert_eq!((cc.cwnd(), cc.ssthresh()), (20.0 * 340.0, f64::INFINITY), "NewReno's slow start within cycles");
    cc.on_loss(&congestion(Time::ms(101), 6800));
    assert_eq!((cc.cwnd(), cc.ssthresh()), (19.0 * 340.0, 19.0 * 340.0));
    cc.on_recovered(Time::ms(200), 0);
    // a cycle begins as the state is open again and ends with the ACK of segment 41; in it nothing grows at ssthresh
    (0..4).for_each(|i| cc.on_ack(&of_cycle(200 + i, 30 + i, 1, 11 - i, 90)));
    assert_eq!(cc.cwnd(), 6460.0);
    cc.on_ack(&of_cycle(290, 41, 1, 10, 90));
    assert_eq!(cc.cwnd(), 0.0, "1 - 4 (90 - 25) / 90 is below nothing, whose bytes are left");
    assert_eq!(cc.pacing(), Pacing::None);
    // with a target above the base the same ACK grows it by 2 bytes a segment, and ssthresh stays
    let mut high = by_cycles(&[("static_target", "120ms")]);
    high.on_loss(&congestion(Time::ms(101), 6800));
    high.on_recovered(Time::ms(200), 0);
    let before = high.cwnd();
    (0..4).for_each(|i| high.on_ack(&of_cycle(200 + i, 30 + i, 1, 11 - i, 90)));
    high.on_ack(&of_cycle(290, 41, 2, 10, 90));
    assert_eq!((high.cwnd(), high.ssthresh()), (before + 4.0, before));
}

#[test]
fn cse322_needs_three_samples_and_a_round_trip_since_the_beginning() {
    let ended = |cc: &mut Cc, samples: u64, at: u64| {
        cc.on_loss(&congestion(Time::ms(1), 3400));
        cc.on_recovered(Time::ms(2), 0);
        // the first begins the cycle, and is no sample of it
        (1..=samples).for_each(|i| cc.on_ack(&of_cycle(at, i, 1, 5 - i, 90)));
        cc.on_ack(&of_cycle(at, 5, 1, 5, 90));
        cc.cwnd()
    };
    let nine = 9.0 * 340.0;
    assert_eq!(ended(&mut by_cycles(&[]), 3, 100), 0.0);
    assert_eq!(ended(&mut by_cycles(&[]), 2, 100), nine + 37.0, "two samples: NewReno, 340 * 340 / 3060 whole bytes");
    assert_eq!(ended(&mut by_cycles(&[]), 3, 89), nine, "it may not decrease within the first 90 ms");
}

#[test]
fn cse322_subtracts_without_a_sign_and_empties_at_timeouts_that_are_told_to() {
    let emptying = |at, consecutive| Timeout { emptying: 4, ..timeout(Time::ms(at), 3400, consecutive) };
    let mut cc = by_cycles(&[]);
    for n in 1..=3 {
        cc.on_timeout(&emptying(10 * n, n as u32));
        assert_eq!(cc.cwnd(), 340.0, "{n}");
    }
    // the first left nine segments; then a window of one wraps round, and ssthresh has its floor of two at most
    assert_eq!(cc.ssthresh(), 680.0);
    cc.on_timeout(&emptying(40, 4));
    assert_eq!((cc.cwnd(), cc.ssthresh()), (0.0, 680.0), "an empty window leaves ssthresh alone");
    // an ACK counts anew
    let mut cc = by_cycles(&[]);
    for n in 1..=5 {
        cc.on_timeout(&emptying(10 * n, 1));
        cc.on_ack(&Ack { phase: Phase::Loss, ..of_cycle(10 * n + 5, n, 1, 5, 90) });
    }
    assert_eq!(cc.cwnd(), 680.0);
    // once a round trip has passed every timeout does; the transport as it comes has one segment
    for (emptying, left) in [(4, 0.0), (0, 340.0)] {
        let mut cc = by_cycles(&[]);
        cc.on_ack(&of_cycle(100, 1, 1, 9, 90));
        cc.on_timeout(&Timeout { emptying, ..timeout(Time::ms(200), 3400, 1) });
        assert_eq!(cc.cwnd(), left);
    }
}

#[test]
fn each_choice_of_another_form_can_be_made_alone() {
    // slow start before the paper's increase: a packet an ACK at any delay
    let slow = changed(fixed(40.0), |p| (p.recovery, p.slow_start) = (Recovery::NewReno, true));
    let mut cc = Swift::new(&slow, &env(MSS, 4.0));
    cc.on_ack(&ack(Time::ms(1), segments(1), us(1000.0)));
    assert_eq!(cc.cwnd(), 5000.0);
    let alone = changed(fixed(40.0), |p| p.slow_start = true);
    assert_eq!(alone.check().unwrap_err().key, "slow_start");
    let alone = changed(fixed(40.0), |p| p.cycles = true);
    assert_eq!(alone.check().unwrap_err().key, "cycles");
    // 3 + 1/3 packets, in whole quotients 3
    let whole = changed(fixed(40.0), |p| p.window.emulation.arithmetic = Arithmetic::Segments);
    let mut cc = Swift::new(&whole, &env(MSS, 3.0));
    cc.on_ack(&ack(Time::ms(1), segments(1), us(30.0)));
    assert_eq!(cc.cwnd(), 3000.0);
    // 2500 B are three packets, 2400 B two
    for (bytes, most) in [(2500.0, 3000.0), (2400.0, 2000.0)] {
        let bounded = changed(fixed(40.0), |p| (p.bounds, p.window.max_cwnd) = (Bounds::Bytes, bytes));
        assert_eq!(Swift::new(&bounded, &env(MSS, 10.0)).cwnd(), most);
    }
    // 15000 + 1000 1000 / 15000
    let whole = changed(fixed(40.0), |p| p.window.emulation.arithmetic = Arithmetic::Integer);
    let mut cc = Swift::new(&whole, &env(MSS, 15.0));
    cc.on_ack(&ack(Time::ms(1), segments(1), us(30.0)));
    assert_eq!(cc.cwnd(), 15_066.0);
    // 40 us of smoothed RTT, at half a packet
    let mut cc = Swift::new(&changed(fixed(40.0), |p| p.window.emulation.pace_by = PaceBy::Srtt), &env(MSS, 0.5));
    cc.on_ack(&Ack { srtt: us(40.0), ..ack(us(100.0), 0, us(20.0)) });
    assert_eq!(cc.pacing(), Pacing::Gap(us(80.0)));
}

fn htsim() -> Params {
    let mut params = Params::default();
    params.set("form", "htsim").unwrap();
    params
}

#[test]
fn htsim_counts_whole_bytes() {
    // 15000 + 1000 * 1000 / 15000 = 15066.67, then 15066 + 66.37, and half of 15132 at a delay far over
    // target; the real window keeps the fractions.
    let real = changed(htsim(), |p| p.window.emulation.arithmetic = Arithmetic::Real);
    for (params, after) in [(htsim(), [15_066.0, 15_132.0, 7_566.0]), (real, [15_066.666_667, 15_133.038, 7_566.519])] {
        let mut cc = Swift::new(&params, &env(MSS, 15.0));
        for (i, (delay, want)) in [10.0, 10.0, 1000.0].into_iter().zip(after).enumerate() {
            cc.on_ack(&ack(us(100.0 + i as f64), segments(1), us(delay)));
            assert_printed(cc.cwnd(), want, 1e-3);
        }
    }
}

#[test]
fn htsim_takes_the_root_of_whole_packets() {
    // 20 us, no topology term over six links, and a_fs / sqrt(w) + b_fs with a_fs = 32.6554, b_fs =
    // -3.26554: w = 3.9 counts as 3, below one packet the term is fs_range.
    for (w, floored, real) in
        [(3.0, 35.588, 35.588), (3.9, 35.588, 33.270), (1.0, 49.390, 49.390), (0.99, 120.0, 49.554)]
    {
        assert_printed(target_us(&htsim(), &env(MSS, 15.0), w, 6), floored, 1e-3);
        let params = changed(htsim(), |p| p.target_delay.fs_window = FsWindow::Real);
        assert_printed(target_us(&params, &env(MSS, 15.0), w, 6), real, 1e-3);
    }
    // in integer arithmetic the target has no part of a picosecond
    let target = target_us(&htsim(), &env(MSS, 15.0), 3.0, 6) * 1e6;
    assert!((target - target.round()).abs() < 1e-6, "{target} ps");
}

#[test]
fn htsim_gates_by_the_smoothed_rtt_before_the_ack() {
    // Every sample is over target. The first may cut at once (no RTT is known), at 200 us. Then srtt is
    // 200 us; a sample of 1000 us at 300 us makes it 7/8 200 + 1/8 1000 = 300 us. At 450 us, after a
    // sample of 200 us, 250 us have passed: enough for the latest sample, too little for 300 us, which
    // the sample has just pulled down to 287.5 us.
    for (gate, cuts) in [(Gate::PriorSrtt, [1, 1, 1, 2]), (Gate::Rtt, [1, 1, 2, 2])] {
        let mut cc = Swift::new(&changed(htsim(), |p| p.window.emulation.gate = gate), &env(MSS, 64.0));
        let mut seen = 0;
        for ((now, sample), want) in
            [(200.0, 200.0), (300.0, 1000.0), (450.0, 200.0), (490.0, 200.0)].into_iter().zip(cuts)
        {
            let before = cc.cwnd();
            cc.on_ack(&ack(us(now), segments(1), us(sample)));
            seen += u32::from(cc.cwnd() < before);
            assert_eq!(seen, want, "{gate:?} at {now} us");
        }
    }
}

#[test]
fn htsim_smooths_by_eighths_each_rounded_down() {
    let cut = |samples: &[(u64, u64)]| {
        let params = changed(fixed(0.0), |p| {
            p.target_delay.static_target = Time(1);
            p.window.emulation.gate = Gate::PriorSrtt;
        });
        let mut cc = Swift::new(&params, &env(MSS, 64.0));
        let mut before = cc.cwnd();
        for &(now, sample) in samples {
            before = cc.cwnd();
            cc.on_ack(&ack(Time(now), 0, Time(sample)));
        }
        cc.cwnd() < before
    };
    // 200 us, then 7/8 200 + 1/8 1000 = 300 us since the cut at 200 us
    let us = 1_000_000;
    assert!(!cut(&[(200 * us, 200 * us), (300 * us, 1000 * us), (499 * us, 1000 * us)]));
    assert!(cut(&[(200 * us, 200 * us), (300 * us, 1000 * us), (500 * us, 1000 * us)]));
    // 12 ps, then 7 12 / 8 = 10 and 12 / 8 = 1
    assert!(!cut(&[(100, 12), (101, 12), (110, 12)]));
    assert!(cut(&[(100, 12), (101, 12), (111, 12)]));
}

#[test]
fn htsim_paces_by_the_smoothed_rtt() {
    let mut cc = Swift::new(&htsim(), &env(MSS, 0.5));
    let event = Ack { srtt: us(40.0), ..ack(us(100.0), 0, us(20.0)) };
    cc.on_ack(&event);
    assert_eq!(cc.pacing(), Pacing::Gap(us(80.0)));
    let mut cc = Swift::new(&changed(htsim(), |p| p.window.emulation.pace_by = PaceBy::Rtt), &env(MSS, 0.5));
    cc.on_ack(&event);
    assert_eq!(cc.pacing(), Pacing::Gap(us(40.0)));
}

/// Recovery as htsim has it, real windows and the latest RTT otherwise.
fn at_exit() -> Params {
    Params { recovery: Recovery::AtExit, ..fixed(50.0) }
}

#[test]
fn htsim_cuts_for_a_loss_when_recovery_ends() {
    let mut cc = Swift::new(&at_exit(), &env(MSS, 20.0));
    cc.on_loss(&congestion(us(1000.0), segments(20)));
    assert_close(window(&cc), 20.0);
    // during the recovery delays go on moving it
    cc.on_ack(&Ack { phase: Phase::Recovery, ..ack(us(1010.0), segments(2), us(30.0)) });
    assert_close(window(&cc), 20.1);
    // the ACK that ends it first asks for 0.6 of the window, its delay being twice the target
    cc.on_recovered(us(1200.0), 0);
    cc.on_ack(&ack(us(1200.0), segments(1), us(100.0)));
    assert_close(window(&cc), 20.1 * 0.6 * 0.5);
    // and the time to the next decrease starts then
    cc.on_ack(&ack(us(1290.0), segments(1), us(100.0)));
    assert_close(window(&cc), 20.1 * 0.6 * 0.5);
    assert!(
        !Config::new("swift")
            .map(|mut config| (config.set("recovery", "at-exit"), config).1)
            .unwrap()
            .profile()
            .own_recovery
    );
}

#[test]
fn htsim_skips_the_cut_where_a_decrease_has_just_been() {
    let mut cc = Swift::new(&at_exit(), &env(MSS, 20.0));
    cc.on_ack(&ack(us(1000.0), segments(1), us(100.0)));
    assert_close(window(&cc), 12.0);
    cc.on_loss(&congestion(us(1010.0), segments(20)));
    cc.on_recovered(us(1050.0), 0);
    cc.on_ack(&ack(us(1050.0), 0, us(100.0)));
    assert_close(window(&cc), 12.0);
}

#[test]
fn htsims_duplicates_in_recovery_may_cut_again_and_again() {
    let mut cc = Swift::new(&at_exit(), &env(MSS, 20.0));
    let duplicate = Ack { acked: 0, delivered: 0, phase: Phase::Recovery, ..ack(us(1000.0), 0, us(100.0)) };
    cc.on_ack(&duplicate);
    cc.on_ack(&Ack { now: us(1001.0), ..duplicate });
    assert_close(window(&cc), 20.0 * 0.36);
    // duplicates outside a recovery, and what a recovery newly acknowledges, start the clock like any ACK
    for (acked, phase) in [(0, Phase::Open), (1000, Phase::Recovery), (1000, Phase::Open)] {
        let mut cc = Swift::new(&at_exit(), &env(MSS, 20.0));
        let event = Ack { acked, phase, ..duplicate };
        cc.on_ack(&event);
        cc.on_ack(&Ack { now: us(1001.0), ..event });
        assert_close(window(&cc), 20.0 * 0.6);
    }
    // nor does a timeout's cut count for the clock
    let mut cc = Swift::new(&at_exit(), &env(MSS, 20.0));
    cc.on_timeout(&timeout(us(1000.0), segments(20), 1));
    cc.on_ack(&ack(us(1001.0), 0, us(100.0)));
    assert_close(window(&cc), 20.0 * 0.5 * 0.6);
}
