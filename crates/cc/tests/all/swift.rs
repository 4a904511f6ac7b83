//! Swift against hand-computed vectors of its equations (section 3.5 and algorithm 1), with the
//! constants of htsim where the paper publishes none.

use crate::events::{MSS, ack, assert_close, assert_printed, changed, congestion, env, segments, timeout, us};
use incast_cc::swift::emulation::{Counts, DecreaseClock, Gate};
use incast_cc::swift::target_delay::Target;
use incast_cc::swift::{KIND, Params, Swift};
use incast_cc::{Ack, Config, Controller, Ecn, Env, Pacing, Time};
use proptest::prelude::*;

/// A target that stays where it is put.
pub fn fixed(target_us: f64) -> Params {
    changed(Params::default(), |p| {
        p.target_delay.target = Target::Static;
        p.target_delay.static_target = us(target_us);
    })
}

/// htsim's published target: base 20 us, 3.0534 us a link, flow scaling up to `fs_range`.
pub fn published(fs_range_us: f64, flow_scaling: bool) -> Params {
    changed(Params::default(), |p| {
        p.target_delay.base_target = Some(us(20.0));
        p.target_delay.h = Some(us(20.0 / 6.55));
        p.target_delay.fs_range = Some(us(fs_range_us));
        p.target_delay.flow_scaling = flow_scaling;
    })
}

pub fn window(cc: &Swift) -> f64 {
    cc.cwnd() / f64::from(MSS)
}

pub fn state(cc: &Swift, wanted: &str) -> f64 {
    let mut found = None;
    cc.state(&mut |name, value| {
        if name == wanted {
            found = Some(value);
        }
    });
    found.expect("a declared state variable")
}

/// Target delay in microseconds that a flow with window `w` over `hops` links is held to.
pub fn target_us(params: &Params, env_: &Env, w: f64, hops: u32) -> f64 {
    let mut cc = Swift::new(params, &Env { initial_window: w * f64::from(MSS), ..*env_ });
    let mut event = ack(Time::ms(1), segments(1), us(10.0));
    event.hops = hops;
    cc.on_ack(&event);
    state(&cc, "target_delay_s") * 1e6
}

#[test]
fn vector_1_additive_increase() {
    for (w, packets, after) in [(10.0, 1, 10.1), (10.0, 4, 10.4), (1.25, 1, 2.05), (1.0, 1, 2.0), (0.5, 1, 1.5)] {
        let mut cc = Swift::new(&fixed(40.0), &env(MSS, w));
        cc.on_ack(&ack(Time::ms(1), segments(packets), us(30.0)));
        assert_close(window(&cc), after);
    }
}

/// N flows that share a capacity C with a round trip T have C T / (N packet) each.
#[test]
fn vector_7_five_thousand_flows_share_a_link_at_a_thirtieth_of_a_packet_each() {
    let (flows, capacity, rtt, packet) = (5000.0, 50e9, us(110.0), 4000);
    let w = capacity * rtt.as_secs_f64() / (flows * f64::from(packet) * 8.0);
    assert_printed(w, 0.034, 1e-3);
    // at its target the window rests, and the pauses it makes leave the link exactly full: 110 / 0.034375 us
    let mut cc = Swift::new(&fixed(110.0), &env(packet, w));
    cc.on_ack(&ack(Time::ms(1), u64::from(packet), rtt));
    assert_close(cc.cwnd(), 137.5);
    assert_eq!(cc.pacing(), Pacing::Gap(Time::us(3200)));
    assert_close(flows * f64::from(packet) * 8.0 / Time::us(3200).as_secs_f64(), capacity);
}

#[test]
fn ai_counts_above_and_below_one_packet() {
    for (w, packets, after) in [(10.0, 1, 10.3), (10.0, 4, 11.2), (0.5, 1, 3.5), (0.5, 2, 6.5)] {
        let mut cc = Swift::new(&changed(fixed(40.0), |p| p.window.ai = 3.0), &env(MSS, w));
        cc.on_ack(&ack(Time::ms(1), segments(packets), us(30.0)));
        assert_close(window(&cc), after);
    }
}

#[test]
fn a_path_without_any_delay_is_at_its_smallest() {
    // a delay of zero against a target of zero: congestion, by nothing
    let mut cc = Swift::new(&changed(Params::default(), |p| p.target_delay.target = Target::MinRtt), &env(MSS, 10.0));
    cc.on_ack(&ack(Time::ms(1), segments(1), Time::ZERO));
    assert_eq!(window(&cc), 10.0);
}

#[test]
fn increase_counts_what_arrived_also_out_of_order_and_parts_of_packets() {
    let mut cc = Swift::new(&fixed(40.0), &env(MSS, 10.0));
    let mut event = ack(Time::ms(1), 0, us(30.0));
    event.delivered = 500;
    cc.on_ack(&event);
    assert_close(window(&cc), 10.05);
}

#[test]
fn vector_2_multiplicative_decrease_and_its_bound() {
    for (delay, after) in [(50.0, 16.8), (400.0, 10.0), (40.0, 20.0)] {
        let mut cc = Swift::new(&fixed(40.0), &env(MSS, 20.0));
        cc.on_ack(&ack(Time::ms(1), segments(1), us(delay)));
        assert_close(window(&cc), after);
    }
    // The bound binds from (delay - target) / delay = 0.625, delay = 2.667 targets.
    for (delay, bound) in [(106.6, false), (106.7, true)] {
        let mut cc = Swift::new(&fixed(40.0), &env(MSS, 20.0));
        cc.on_ack(&ack(Time::ms(1), segments(1), us(delay)));
        assert_eq!(window(&cc) == 10.0, bound);
    }
}

#[test]
fn vector_3_target_delay_with_flow_and_topology_scaling() {
    let env = env(MSS, 1.0);
    for (w, term) in [
        (0.05, 100.0),
        (0.1, 100.0),
        (0.25, 62.045),
        (1.0, 29.390),
        (4.0, 13.062),
        (9.0, 7.620),
        (25.0, 3.266),
        (100.0, 0.0),
        (300.0, 0.0),
    ] {
        assert_printed(target_us(&published(100.0, true), &env, w, 0) - 20.0, term, 1e-3);
    }
    for (hops, target) in [(2, 26.107), (4, 32.214), (6, 38.321)] {
        assert_printed(target_us(&published(100.0, false), &env, 1.0, hops), target, 1e-3);
    }
    // Printed as the sum of two rounded terms, 38.321 + 29.390: off by half a unit of each.
    assert_printed(target_us(&published(100.0, true), &env, 1.0, 6), 67.711, 2e-3);
    let flat = changed(published(100.0, false), |p| p.target_delay.topology_scaling = false);
    assert_close(target_us(&flat, &env, 1.0, 6), 20.0);
}

#[test]
fn vector_4_half_the_range_halves_the_flow_term() {
    // a_fs 16.3277 us and b_fs -1.63277 us, each printed to six digits.
    let env = env(MSS, 1.0);
    let term = |w: f64| target_us(&published(50.0, true), &env, w, 0) - 20.0;
    assert_printed(term(1.0), 16.3277 - 1.63277, 1.1e-4);
    assert_printed(term(4.0), 16.3277 / 2.0 - 1.63277, 0.6e-4);
}

#[test]
fn vector_5_below_one_packet_the_flow_is_paced() {
    let mut cc = Swift::new(&changed(fixed(40.0), |p| p.window.beta = 1e-9), &env(MSS, 0.25));
    cc.on_ack(&ack(Time::ms(1), segments(1), us(100.0)));
    let Pacing::Gap(gap) = cc.pacing() else { panic!("a window of a quarter packet is paced") };
    // beta 1e-9 moves the window by less than 1e-9 of itself.
    assert!((gap.as_us_f64() - 400.0).abs() < 1e-6, "{gap}");
    assert_eq!(Swift::new(&fixed(40.0), &env(MSS, 1.0)).pacing(), Pacing::None);
}

#[test]
fn vector_5_one_decrease_each_round_trip() {
    let mut cc = Swift::new(&fixed(50.0), &env(MSS, 20.0));
    cc.on_ack(&ack(us(1000.0), segments(1), us(100.0)));
    assert_close(window(&cc), 12.0);
    cc.on_ack(&ack(us(1040.0), segments(1), us(100.0)));
    assert_close(window(&cc), 12.0);
    cc.on_ack(&ack(us(1100.0), segments(1), us(100.0)));
    assert_close(window(&cc), 7.2);
}

#[test]
fn the_gate_is_the_latest_sample_or_the_smoothed_rtt() {
    for (gate, decreases) in [(Gate::Rtt, true), (Gate::Srtt, false)] {
        let mut cc = Swift::new(&changed(fixed(50.0), |p| p.window.emulation.gate = gate), &env(MSS, 20.0));
        let mut event = ack(us(1000.0), segments(1), us(100.0));
        event.srtt = us(200.0);
        cc.on_ack(&event);
        let before = window(&cc);
        event.now = us(1150.0);
        cc.on_ack(&event);
        assert_eq!(window(&cc) < before, decreases, "{gate:?}");
    }
}

#[test]
fn without_a_gate_every_ack_above_target_cuts_and_losses_stay_a_round_trip_apart() {
    // (100 - 50) / 100 times beta takes two fifths
    let mut cc = Swift::new(&changed(fixed(50.0), |p| p.window.emulation.gate = Gate::None), &env(MSS, 100.0));
    for (i, after) in [60.0, 36.0, 21.6].into_iter().enumerate() {
        cc.on_ack(&ack(us(1000.0 + i as f64), segments(1), us(100.0)));
        assert_close(window(&cc), after);
    }
    cc.on_loss(&congestion(us(1100.0), segments(20)));
    assert_close(window(&cc), 21.6);
    cc.on_loss(&congestion(us(1102.0), segments(20)));
    assert_close(window(&cc), 10.8);
}

#[test]
fn increase_counts_what_is_delivered_or_what_the_cumulative_ack_moves_by() {
    for (counts, after_duplicate, after_hole) in [(Counts::Delivered, 10.1, 10.1), (Counts::Cumulative, 10.0, 10.4)] {
        let mut cc = Swift::new(&changed(fixed(40.0), |p| p.window.emulation.counts = counts), &env(MSS, 10.0));
        let mut event = ack(Time::ms(1), segments(1), us(30.0));
        event.acked = 0;
        cc.on_ack(&event);
        assert_close(window(&cc), after_duplicate);
        let mut cc = Swift::new(&changed(fixed(40.0), |p| p.window.emulation.counts = counts), &env(MSS, 10.0));
        event.acked = segments(4);
        cc.on_ack(&event);
        assert_close(window(&cc), after_hole);
    }
}

#[test]
fn vector_6_five_timeouts_in_a_row_reset_the_window() {
    let mut cc = Swift::new(&fixed(40.0), &env(MSS, 8.0));
    for (i, after) in [4.0, 2.0, 1.0, 0.5, 0.001].into_iter().enumerate() {
        cc.on_timeout(&timeout(us(1000.0 * (i + 1) as f64), segments(8), i as u32 + 1));
        assert_close(window(&cc), after);
    }
}

#[test]
fn an_ack_or_a_fast_retransmit_ends_the_row_of_timeouts() {
    let end_by_ack: fn(&mut Swift) = |cc| cc.on_ack(&ack(us(4_500.0), 0, us(40.0)));
    let end_by_loss: fn(&mut Swift) = |cc| cc.on_loss(&congestion(us(4_500.0), segments(1)));
    for end in [end_by_ack, end_by_loss] {
        let mut cc = Swift::new(&fixed(40.0), &env(MSS, 800.0));
        for i in 1..=4 {
            cc.on_timeout(&timeout(us(1000.0 * f64::from(i)), segments(8), i));
        }
        end(&mut cc);
        cc.on_timeout(&timeout(us(6_000.0), segments(8), 1));
        assert!(window(&cc) > 1.0, "{} after a first timeout", window(&cc));
    }
}

#[test]
fn losses_cut_by_max_mdf_once_a_round_trip() {
    let mut cc = Swift::new(&fixed(200.0), &env(MSS, 20.0));
    cc.on_ack(&ack(us(1000.0), 0, us(100.0)));
    cc.on_loss(&congestion(us(1000.0), segments(20)));
    assert_close(window(&cc), 10.0);
    cc.on_loss(&congestion(us(1050.0), segments(20)));
    assert_close(window(&cc), 10.0);
    cc.on_timeout(&timeout(us(1099.0), segments(20), 1));
    assert_close(window(&cc), 10.0);
    cc.on_loss(&congestion(us(1100.0), segments(20)));
    assert_close(window(&cc), 5.0);
}

/// A delay of twice the target, ten ACKs each RTT for twenty RTTs, from a window of 50.
fn overloaded(decrease_clock: DecreaseClock) -> (u32, f64) {
    let mut cc =
        Swift::new(&changed(fixed(50.0), |p| p.window.emulation.decrease_clock = decrease_clock), &env(MSS, 50.0));
    let mut cuts = 0;
    for i in 0..200 {
        let before = window(&cc);
        cc.on_ack(&ack(us(1000.0 + 10.0 * f64::from(i)), segments(1), us(100.0)));
        cuts += u32::from(window(&cc) < before);
    }
    (cuts, window(&cc))
}

#[test]
fn the_literal_clock_freezes_the_decrease() {
    let (cuts, w) = overloaded(DecreaseClock::Strict);
    assert_eq!(cuts, 20);
    assert_printed(w, 0.0018, 1e-4);
    let (cuts, w) = overloaded(DecreaseClock::Literal);
    assert_eq!(cuts, 1);
    assert_close(w, 30.0);
}

#[test]
fn auto_allows_ten_packets_over_the_idle_rtt_of_any_path() {
    let plain = changed(Params::default(), |p| p.target_delay.flow_scaling = false);
    // 65 us over two links, 32.5 us for each further one, packets of 12 us.
    for hops in [2, 4, 6] {
        assert_close(target_us(&plain, &env(MSS, 1.0), 1.0, hops), 32.5 * f64::from(hops) + 120.0);
    }
    // Fast host links below slow core links: base_target itself is below zero.
    let uneven = Env { shortest_rtt: us(10.0), hop_rtt: us(500.0), ..env(MSS, 1.0) };
    assert_close(target_us(&plain, &uneven, 1.0, 2), 130.0);
    assert_close(target_us(&plain, &uneven, 1.0, 4), 1130.0);
    // Either of the two given: the other still solves for the shortest path.
    let h = changed(plain, |p| p.target_delay.h = Some(us(3.0)));
    assert_close(target_us(&h, &env(MSS, 1.0), 1.0, 6), 65.0 + 120.0 + 4.0 * 3.0);
    let base = changed(plain, |p| p.target_delay.base_target = Some(us(25.0)));
    assert_close(target_us(&base, &env(MSS, 1.0), 1.0, 6), 25.0 + 6.0 * 32.5);
    let flat = changed(plain, |p| p.target_delay.topology_scaling = false);
    assert_close(target_us(&flat, &env(MSS, 1.0), 1.0, 6), 65.0 + 120.0);
}

#[test]
fn auto_flow_scaling_follows_the_base_target() {
    let at = |params: &Params| {
        let at = |w| target_us(params, &env(MSS, 1.0), w, 0);
        at(0.1) - at(100.0)
    };
    assert_close(at(&Params::default()), 5.0 * 120.0);
    assert_close(at(&changed(Params::default(), |p| p.target_delay.base_target = Some(us(25.0)))), 125.0);
}

#[test]
fn static_target_has_no_scaling() {
    for (w, hops) in [(0.1, 2), (100.0, 6)] {
        assert_close(target_us(&fixed(40.0), &env(MSS, 1.0), w, hops), 40.0);
    }
}

#[test]
fn with_an_exact_clock_min_rtt_only_falls() {
    let min_rtt = changed(Params::default(), |p| p.target_delay.target = Target::MinRtt);
    let run = |params: &Params| {
        let mut cc = Swift::new(params, &env(MSS, 10.0));
        let mut highest = window(&cc);
        // Delays that fall, stay and rise: every one of them at or above the smallest so far.
        for (i, delay) in [90.0, 80.0, 70.0, 70.0, 75.0, 70.0, 100.0, 70.0].into_iter().enumerate() {
            cc.on_ack(&ack(us(1000.0 * (i + 1) as f64), segments(1), us(delay)));
            highest = highest.max(window(&cc));
        }
        (highest, window(&cc), state(&cc, "target_delay_s") * 1e6)
    };
    let (highest, last, target) = run(&min_rtt);
    assert_eq!(highest, 10.0);
    assert!(last < 10.0);
    assert_close(target, 70.0);

    let (highest, _, target) = run(&changed(min_rtt, |p| p.target_delay.epsilon = Some(us(20.0))));
    assert!(highest > 10.0);
    assert_close(target, 90.0);
    let (_, _, target) = run(&changed(min_rtt, |p| p.target_delay.epsilon = None));
    assert_close(target, 70.0 + 120.0);
}

#[test]
fn an_ack_without_a_sample_decides_nothing() {
    let mut cc = Swift::new(&fixed(40.0), &env(MSS, 10.0));
    let mut event = ack(Time::ms(1), segments(1), us(30.0));
    (event.rtt, event.fabric_delay) = (None, None);
    cc.on_ack(&event);
    assert_eq!(window(&cc), 10.0);
    assert!(state(&cc, "fabric_delay_s").is_nan(), "not known yet");
}

#[test]
fn the_fabric_delay_is_held_against_the_target_and_the_rtt_gates() {
    let mut cc = Swift::new(&fixed(40.0), &env(MSS, 10.0));
    let mut event = ack(Time::ms(1), segments(1), us(90.0));
    event.fabric_delay = Some(us(30.0));
    cc.on_ack(&event);
    assert_close(window(&cc), 10.1);
    assert_close(state(&cc, "fabric_delay_s") * 1e6, 30.0);
}

proptest! {
    /// min_cwnd <= w <= max_cwnd, and a gap between packets wherever w is below one, whatever
    /// happens in whatever order.
    #[test]
    fn the_window_stays_within_its_bounds(
        events in proptest::collection::vec((0u8..8, 0u64..50_000, 0u64..1_000_000_000, 0u32..8), 1..300),
        literal: bool, target in 0u8..3, w in 0.0001f64..5000.0,
    ) {
        let params = changed(Params::default(), |p| {
            p.target_delay.target = [Target::Published, Target::Static, Target::MinRtt][usize::from(target)];
            p.window.emulation.decrease_clock = if literal { DecreaseClock::Literal } else { DecreaseClock::Strict };
        });
        let mut cc = Swift::new(&params, &env(MSS, w));
        let mut now = Time::ZERO;
        for (what, bytes, delay, hops) in events {
            now += Time(delay);
            match what {
                0 => cc.on_loss(&congestion(now, bytes)),
                1 => cc.on_timeout(&timeout(now, bytes, 1)),
                _ => cc.on_ack(&Ack { hops, ..ack(now, bytes, Time(delay)) }),
            }
            prop_assert!((0.001..=1000.0).contains(&window(&cc)), "{}", window(&cc));
            match cc.pacing() {
                Pacing::None => prop_assert!(window(&cc) >= 1.0),
                Pacing::Gap(gap) => prop_assert!(window(&cc) < 1.0 && gap < Time::NEVER),
                Pacing::Rate(_) => prop_assert!(false, "Swift has no rate"),
            }
        }
    }
}

#[test]
fn the_former_name_of_a_form_stands_for_it() {
    let named = |form| {
        let mut config = Config::new("swift").unwrap();
        config.set("form", form).unwrap();
        config
    };
    assert_eq!(named("seed-000"), named("yasomam"));
    assert_eq!(named("seed-000").to_string(), "swift:form=yasomam");
    let shown = KIND.params[0].expected;
    assert!(!shown.contains("seed") && !KIND.params[0].choices.contains(&"seed-000"), "{shown}");
}

#[test]
fn every_packet_is_acknowledged_and_losses_are_its_own() {
    // sections 3.3 and 3.6: no ACK is delayed, holes in the SACK bitmap cut the window, ECN has no part
    let asked = KIND.profile;
    assert!(asked.ack_every_packet && asked.own_recovery);
    assert_eq!(asked.ecn, Ecn::Off);
}
