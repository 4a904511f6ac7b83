//! DCTCP against hand-computed vectors of its paper and RFC 8257, and the unit vector of ns-3.43's
//! `tcp-dctcp` suite.

use crate::events::{MSS, ack, assert_close, assert_printed, changed, congestion, env, round, segments, timeout, us};
use incast_cc::dctcp::{Dctcp, KIND, Loss, Params};
use incast_cc::median::{self, Feedback, History};
use incast_cc::newreno::{self, NewReno};
use incast_cc::registry::ParamSet;
use incast_cc::reno_window::{Arithmetic, Avoidance, SlowStart};
use incast_cc::{Ack, Congestion, Controller, Ecn, Idle, Phase, TcpAck, Timeout};
use proptest::prelude::*;

fn alpha(cc: &Dctcp) -> f64 {
    let mut alpha = f64::NAN;
    cc.state(&mut |name, value| {
        if name == "alpha" {
            alpha = value;
        }
    });
    alpha
}

/// The ACK of the `i`-th packet (from 1) of a flow that keeps nine packets in flight behind it:
/// every observation window then holds ten ACKs, and the first one only the first.
fn nth_ack(i: u64, ece: bool) -> Ack {
    let mut event = ack(us(100.0 * i as f64), segments(1), us(100.0));
    (event.round, event.ece) = (round(segments(i), segments(i + 9)), ece);
    event
}

#[test]
fn without_marks_alpha_decays_by_a_sixteenth_each_window() {
    let mut cc = Dctcp::new(&Params::default(), &env(MSS, 10.0));
    let mut after = vec![alpha(&cc)];
    for i in 1..=191 {
        cc.on_ack(&nth_ack(i, false));
        if i % 10 == 1 {
            after.push(alpha(&cc));
        }
    }
    assert_eq!(after.len(), 21);
    assert_eq!(after[0], 1.0);
    for (window, printed) in [(1, 0.9375), (5, 0.7242), (10, 0.5245), (11, 0.4917), (20, 0.2751)] {
        assert_printed(after[window], printed, 1e-4);
    }
}

#[test]
fn three_marked_packets_of_ten_pull_alpha_from_a_half_to_0_4875() {
    // 0.5 is what the first, unmarked ACK leaves of 8/15.
    let mut cc = Dctcp::new(&Params { initial_alpha: 8.0 / 15.0, ..Params::default() }, &env(MSS, 10.0));
    cc.on_ack(&nth_ack(1, false));
    assert_close(alpha(&cc), 0.5);
    for i in 2..=11 {
        assert_close(alpha(&cc), 0.5);
        cc.on_ack(&nth_ack(i, i <= 4));
    }
    assert_close(alpha(&cc), 0.4875);
}

#[test]
fn selectively_acknowledged_bytes_do_not_count() {
    // A duplicate ACK with news by SACK only, marked among unmarked ACKs and the other way round.
    for (ece, share) in [(true, 0.0), (false, 1.0)] {
        let mut cc = Dctcp::new(&Params { initial_alpha: 0.0, ..Params::default() }, &env(MSS, 10.0));
        cc.on_ack(&nth_ack(1, false));
        let mut sacked = nth_ack(1, ece);
        (sacked.acked, sacked.delivered) = (0, segments(1));
        cc.on_ack(&sacked);
        for i in 2..=11 {
            cc.on_ack(&nth_ack(i, !ece));
        }
        assert_eq!(alpha(&cc), share / 16.0);
    }
}

#[test]
fn a_window_of_100_with_alpha_a_fifth_becomes_90() {
    let mut cc = Dctcp::new(&Params { initial_alpha: 0.2, ..Params::default() }, &env(MSS, 100.0));
    cc.on_ecn(&congestion(us(100.0), segments(100)));
    assert_close(cc.cwnd(), 90_000.0);
    assert_eq!(cc.ssthresh(), cc.cwnd(), "slow start is over");
}

#[test]
fn alpha_moves_before_the_cut_and_the_marked_ack_does_not_grow_the_window() {
    let mut cc = Dctcp::new(&Params { initial_alpha: 0.0, ..Params::default() }, &env(MSS, 32.0));
    cc.on_ack(&nth_ack(1, true));
    assert_eq!((alpha(&cc), cc.cwnd()), (1.0 / 16.0, 32_000.0));
    cc.on_ecn(&congestion(us(100.0), segments(32)));
    assert_eq!(cc.cwnd(), 31_000.0);
    let mut next = nth_ack(2, false);
    next.phase = Phase::Cwr;
    cc.on_ack(&next);
    assert_eq!(cc.cwnd(), 31_000.0, "no growth while the cut is under way");
}

/// A history of three marks, and no average to begin with.
fn by_median() -> Params {
    let median = median::Params {
        feedback: Feedback::Median,
        history: History::Constant,
        history_size: 3,
        ..Default::default()
    };
    Params { initial_alpha: 0.0, median, ..Params::default() }
}

#[test]
fn by_the_median_a_minority_of_marks_is_none() {
    // windows of ten ACKs: after the first, marks on every third do not count, and the window grows as without
    let grown = |params: Params, marks: fn(u64) -> bool| {
        let mut cc = Dctcp::new(&params, &env(MSS, 10.0));
        let heeded = (1..=61).filter(|i| {
            cc.on_ack(&nth_ack(*i, marks(*i)));
            marks(*i) && cc.heeds_mark()
        });
        let heeded = heeded.count();
        (heeded, alpha(&cc), cc.cwnd())
    };
    let unmarked = grown(by_median(), |_| false);
    assert_eq!(grown(by_median(), |i| i % 3 == 0), unmarked);
    let latest = Params { initial_alpha: 0.0, ..Params::default() };
    let (heeded, average, cwnd) = grown(latest, |i| i % 3 == 0);
    assert!(heeded == 20 && average > 0.05 && cwnd < unmarked.2, "{heeded} {average} {cwnd}");
}

#[test]
fn by_the_median_a_majority_marks_every_ack() {
    // two of three, from the second ACK on: marked, unmarked ones too; F of the last window is 1
    let mut cc = Dctcp::new(&by_median(), &env(MSS, 10.0));
    for i in 1..=11 {
        let marked = i % 3 != 0;
        cc.on_ack(&nth_ack(i, marked));
        assert!(cc.heeds_mark(), "{i}");
    }
    // the ACK that ended the first window was its own median, then ten of ten
    let after = |alpha: f64| alpha * 15.0 / 16.0 + 1.0 / 16.0;
    assert_close(alpha(&cc), after(after(0.0)));
    assert_eq!(cc.cwnd(), segments(10) as f64, "marked ACKs do not grow the window");
    // and three unmarked ones in a row end that
    for i in 12..=13 {
        cc.on_ack(&nth_ack(i, false));
    }
    assert!(!cc.heeds_mark());
}

#[test]
fn receivers_echo_each_mark_and_the_transport_recovers() {
    // RFC 8257 section 3.2, and 3.5: losses as conventional TCP
    assert_eq!(KIND.profile.ecn, Ecn::Dctcp);
    assert!(!KIND.profile.own_recovery && !KIND.profile.ack_every_packet);
}

#[test]
fn no_cut_goes_below_the_floor() {
    for floor in [1.0, 2.0] {
        let mut cc = Dctcp::new(&changed(Params::default(), |p| p.window.floor = floor), &env(MSS, 2.0));
        for _ in 0..3 {
            cc.on_ecn(&congestion(us(100.0), segments(2)));
        }
        assert_eq!(cc.cwnd(), floor * f64::from(MSS));
    }
}

#[test]
fn a_loss_halves_the_flight_unless_alpha_is_asked_for() {
    let after = |loss| {
        let mut cc = Dctcp::new(&Params { initial_alpha: 0.2, loss, ..Params::default() }, &env(MSS, 100.0));
        cc.on_loss(&congestion(us(100.0), segments(60)));
        cc.cwnd()
    };
    assert_eq!(after(Loss::Halve), 30_000.0);
    assert_close(after(Loss::Alpha), 90_000.0);
}

#[test]
fn a_timeout_restarts_from_one_segment() {
    for (loss, ssthresh) in [(Loss::Halve, 30_000.0), (Loss::Alpha, 90_000.0)] {
        let mut cc = Dctcp::new(&Params { initial_alpha: 0.2, loss, ..Params::default() }, &env(MSS, 100.0));
        cc.on_timeout(&timeout(us(100.0), segments(60), 1));
        assert_eq!(cc.cwnd(), 1_000.0);
        assert_close(cc.ssthresh(), ssthresh);
    }
}

#[test]
fn slow_start_equals_linux_reno() {
    let reno = changed(newreno::Params::default(), |p| {
        p.window.slow_start_per = SlowStart::Segments;
        p.window.avoidance = Avoidance::Bytes;
    });
    let mut dctcp = Dctcp::new(&Params::default(), &env(1446, 8.0));
    let mut reno = NewReno::new(&reno, &env(1446, 8.0));
    fn drive(cc: &mut impl Controller) -> f64 {
        // A timeout with 11568 B in flight and one ACK lead to cwnd 2892, ssthresh 5784.
        cc.on_timeout(&timeout(us(0.0), 11_568, 1));
        cc.on_ack(&ack(us(100.0), 1446, us(100.0)));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (2_892.0, 5_784.0));
        cc.on_ack(&ack(us(200.0), 2 * 1446, us(100.0)));
        cc.cwnd()
    }
    assert_eq!(drive(&mut dctcp), 5_784.0);
    assert_eq!(drive(&mut reno), 5_784.0);
}

proptest! {
    /// alpha is a share, and an ECN cut takes at most half and never adds.
    #[test]
    fn alpha_is_a_share_and_cuts_take_at_most_half(
        marks in proptest::collection::vec((any::<bool>(), 1u64..5), 1..400), g in 0.001f64..=1.0,
    ) {
        let mut cc = Dctcp::new(&Params { g, ..Params::default() }, &env(MSS, 50.0));
        let mut una = 0;
        for (i, (ece, n)) in marks.into_iter().enumerate() {
            una += segments(n);
            let mut event = ack(us(100.0), segments(n), us(100.0));
            (event.round, event.ece) = (round(una, una + segments(9)), ece);
            cc.on_ack(&event);
            prop_assert!((0.0..=1.0).contains(&alpha(&cc)));
            if ece && i % 10 == 0 {
                let before = cc.cwnd();
                cc.on_ecn(&congestion(us(100.0), segments(9)));
                prop_assert!(cc.cwnd() <= before && cc.cwnd() >= (before / 2.0).max(2_000.0));
            }
        }
    }
}

fn htsim() -> Params {
    let mut params = Params::default();
    params.set("form", "htsim").unwrap();
    params
}

/// An ACK of htsim's flow: `una` and `nxt` after it, before anything is sent in reply.
fn htsim_ack(una: u64, nxt: u64, ece: bool) -> Ack {
    Ack { round: round(una, nxt), ece, ..ack(us(100.0), segments(1), us(100.0)) }
}

#[test]
fn htsim_grows_into_the_room_of_the_window() {
    // No slow start from 15 segments. The SYN's ACK finds nothing in flight: min(1000, 15000) * 1000 /
    // 15000 = 66.67. Then 15 segments fly; the ACK of the first leaves room for 1000 + 66 bytes: 1000 *
    // 1000 / 15066 = 66.37. With 800 bytes of room 800 * 1000 / 15132 = 52.87; with none left, none, and
    // after a window above it neither, marked or not.
    let mut cc = Dctcp::new(&htsim(), &env(MSS, 15.0));
    assert_eq!((cc.cwnd(), cc.ssthresh()), (15_000.0, 15_000.0));
    let acks = [(0, 0, 15_066.0), (1_000, 15_000, 15_132.0), (2_000, 16_332, 15_184.0), (3_000, 18_200, 15_184.0)];
    for (una, nxt, after) in acks {
        cc.on_ack(&htsim_ack(una, nxt, false));
        assert_eq!(cc.cwnd(), after, "una {una}");
    }
    let real = changed(htsim(), |p| p.window.arithmetic = Arithmetic::Real);
    let mut cc = Dctcp::new(&real, &env(MSS, 15.0));
    cc.on_ack(&htsim_ack(0, 0, false));
    assert_close(cc.cwnd(), 15_000.0 + 1e6 / 15_000.0);
}

#[test]
fn htsim_cuts_at_every_update_of_alpha() {
    // The first round is two ACKs: half of them marked, alpha = 1/32, 15066 * (1 - 1/64) = 14830.6; that
    // ACK then grows the window by 1000 * 1000 / 14830 = 67.43. The next round has as many ACKs as the
    // window had segments after the cut, 15; without a mark alpha falls to 15/512 and cuts all the same.
    let mut cc = Dctcp::new(&htsim(), &env(MSS, 15.0));
    cc.on_ack(&htsim_ack(0, 0, true));
    assert_eq!((alpha(&cc), cc.cwnd()), (0.0, 15_066.0));
    cc.on_ecn(&congestion(us(100.0), segments(15)));
    assert_eq!(cc.cwnd(), 15_066.0, "a mark alone cuts nothing");
    cc.on_ack(&htsim_ack(0, 0, false));
    assert_eq!((alpha(&cc), cc.cwnd(), cc.ssthresh()), (1.0 / 32.0, 14_897.0, 14_830.0));
    let full = htsim_ack(0, 20_000, false);
    for _ in 0..14 {
        cc.on_ack(&full);
        assert_eq!(cc.cwnd(), 14_897.0, "the round lasts 15 ACKs");
    }
    cc.on_ack(&full);
    assert_eq!((alpha(&cc), cc.cwnd()), (15.0 / 512.0, (14_897.0 * (1.0 - 15.0 / 1024.0_f64)).floor()));
}

#[test]
fn without_a_mark_htsims_rounds_leave_slow_start_alone() {
    let mut cc = Dctcp::new(&Params { slow_start: true, ..htsim() }, &env(MSS, 4.0));
    for i in 1..=10 {
        cc.on_ack(&htsim_ack(0, 0, false));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (4_000.0 + 1_000.0 * f64::from(i), f64::INFINITY));
    }
}

#[test]
fn htsim_does_not_cut_before_the_first_mark_nor_below_one_segment() {
    let mut cc = Dctcp::new(&htsim(), &env(MSS, 15.0));
    let full = |ece| htsim_ack(0, 20_000, ece);
    (0..100).for_each(|_| cc.on_ack(&full(false)));
    assert_eq!((alpha(&cc), cc.cwnd()), (0.0, 15_000.0));
    (0..1000).for_each(|_| cc.on_ack(&full(true)));
    assert_eq!(cc.cwnd(), 1_000.0);
}

fn form(name: &str) -> Params {
    let mut params = Params::default();
    params.set("form", name).unwrap();
    params
}

/// An ACK up to `una`, of `acked` bytes, all of them news; what was sent last ends at `sent_to`.
fn up_to(una: u64, acked: u64, sent_to: u64, ece: bool) -> Ack {
    Ack { round: round(una, sent_to), tcp: TcpAck { sent_to }, ece, ..ack(us(100.0), acked, us(100.0)) }
}

/// TcpSocketBase::ProcessAck in CA_LOSS.
#[test]
fn ns3_counts_what_lies_beyond_the_losses_where_their_repair_ends() {
    let repaired = |una, phase| {
        let mut cc = Dctcp::new(&form("ns3"), &env(MSS, 10.0));
        let lost = Timeout { window: 40_000.0, sent: 10_000, ..timeout(us(0.0), segments(1), 1) };
        cc.on_timeout(&lost);
        cc.on_ack(&Ack { phase: Phase::Loss, ..up_to(2_000, 2_000, 2_000, false) });
        assert_eq!(cc.cwnd(), 3_000.0);
        // eight segments and more arrive by this ACK
        cc.on_ack(&Ack { phase, ..up_to(una, una - 2_000, una, false) });
        let ended = cc.cwnd();
        cc.on_ack(&up_to(una + 1_000, 1_000, una + 1_000, false));
        [ended, cc.cwnd()]
    };
    assert_eq!(repaired(10_000, Phase::Open), [3_000.0, 4_000.0], "no byte beyond");
    assert_eq!(repaired(12_500, Phase::Open), [5_000.0, 6_000.0], "two whole segments");
    assert_eq!(repaired(10_000, Phase::Cwr), [3_000.0, 4_000.0], "a mark ended it");
}

/// TcpDctcp::PktsAcked.
#[test]
fn ns3_counts_whole_segments_up_to_what_was_sent_last() {
    let mut cc = Dctcp::new(&form("ns3"), &env(MSS, 10.0));
    // one segment and a half: one counts, and the window of data ends at what was sent last
    cc.on_ack(&up_to(1_500, 1_500, 10_000, false));
    // a duplicate is a segment, and so is a partial ACK, however much it covers
    cc.on_ack(&Ack { acked: 0, ..up_to(1_500, 0, 12_000, true) });
    cc.on_ack(&Ack { phase: Phase::Recovery, ..up_to(5_500, 4_000, 12_000, false) });
    assert_eq!(alpha(&cc), 1.0);
    // the half segment is a whole one with 500 B more, of 4500: 5; the end is reached, not passed. One
    // segment of 1 + 1 + 1 + 5 was marked
    cc.on_ack(&up_to(10_000, 4_500, 13_000, false));
    assert_close(alpha(&cc), 15.0 / 16.0 + 1.0 / 16.0 / 8.0);
    // the next one ends where a retransmission ended that was sent last, below what is outstanding
    cc.on_ack(&Ack { round: round(13_000, 20_000), ..up_to(13_000, 3_000, 15_000, true) });
    let before = alpha(&cc);
    assert_close(before, 15.0 / 16.0 * (15.0 / 16.0 + 1.0 / 128.0) + 1.0 / 16.0);
    cc.on_ack(&up_to(15_000, 2_000, 21_000, false));
    assert_close(alpha(&cc), 15.0 / 16.0 * before);
}

/// TcpDctcp::GetSsThresh and TcpLinuxReno, which it derives from.
#[test]
fn ns3_cuts_the_window_in_force_to_whole_bytes_without_a_floor() {
    let mut cc = Dctcp::new(&form("ns3"), &env(MSS, 10.0));
    // alpha is 1
    cc.on_ecn(&Congestion { window: 12_345.0, ..congestion(us(0.0), segments(4)) });
    assert_eq!((cc.cwnd(), cc.ssthresh()), (6_172.0, 6_172.0));
    // a window of six whole segments; five do not fill it, the sixth does
    cc.on_ack(&up_to(5_000, 5_000, 90_000, false));
    assert_eq!(cc.cwnd(), 6_172.0);
    cc.on_ack(&up_to(6_000, 1_000, 90_000, false));
    assert_eq!(cc.cwnd(), 7_172.0);
    // five of seven, then a cut to three and a half: the count outlives it, and is a window now
    cc.on_ack(&up_to(11_000, 5_000, 90_000, false));
    cc.on_loss(&Congestion { window: 7_172.0, ..congestion(us(0.0), segments(4)) });
    assert_eq!(cc.cwnd(), 3_586.0, "alpha answers a loss too");
    cc.on_ack(&up_to(12_000, 1_000, 90_000, false));
    assert_eq!(cc.cwnd(), 4_586.0);
    // every timeout cuts again, and no floor holds
    for (consecutive, window, ssthresh) in [(1, 4_586.0, 2_293.0), (2, 1_000.0, 500.0)] {
        cc.on_timeout(&Timeout { window, ..timeout(us(0.0), segments(1), consecutive) });
        assert_eq!((cc.cwnd(), cc.ssthresh()), (1_000.0, ssthresh));
    }
    let mut slow = Dctcp::new(&form("ns3"), &env(MSS, 10.0));
    slow.on_timeout(&Timeout { window: 8_000.0, ..timeout(us(0.0), segments(1), 1) });
    // seven segments end slow start at the threshold; what is left over counts for nothing
    slow.on_ack(&up_to(7_000, 7_000, 90_000, false));
    assert_eq!(slow.cwnd(), 4_000.0);
    slow.on_ack(&up_to(10_000, 3_000, 90_000, false));
    assert_eq!(slow.cwnd(), 4_000.0, "three of four");
}

#[test]
fn in_ns3_the_ack_that_ends_a_recovery_counts_what_it_covers() {
    let after = |cut: fn(&mut Dctcp)| {
        let mut cc = Dctcp::new(&form("ns3"), &env(MSS, 10.0));
        cut(&mut cc);
        assert_eq!(cc.cwnd(), 5_000.0);
        cc.on_recovered(us(300.0), 0);
        // five segments that SACK has reported before are a window of five
        cc.on_ack(&Ack { delivered: 0, ..up_to(5_000, 5_000, 90_000, false) });
        cc.cwnd()
    };
    assert_eq!(after(|cc| cc.on_loss(&congestion(us(200.0), 10_000))), 6_000.0);
    assert_eq!(after(|cc| cc.on_ecn(&congestion(us(200.0), 10_000))), 5_000.0, "a mark's reduction is none");
}

#[test]
fn an_idle_time_restarts() {
    let mut cc = Dctcp::new(&Params::default(), &env(MSS, 10.0));
    (1..=5).for_each(|i| cc.on_ack(&nth_ack(i, false)));
    assert_eq!(cc.cwnd(), 15_000.0);
    cc.on_idle(&Idle { now: us(1e6), timeouts: 1 });
    assert_eq!(cc.cwnd(), 10_000.0);
}

/// dctcp_update_alpha of Linux' net/ipv4/tcp_dctcp.c.
#[test]
fn linux_averages_in_1024ths() {
    let mut cc = Dctcp::new(&form("linux"), &env(MSS, 10.0));
    // nothing was outstanding when the first window began: it ends with the first ACK
    cc.on_ack(&up_to(1_000, 1_000, 10_000, false));
    assert_eq!(alpha(&cc) * 1024.0, 960.0);
    // ten segments a window, so many of them marked. What goes is alpha / 16, what comes 64 F, both
    // rounded down: 844 - 52 + 64 * 3 / 10 = 844 - 52 + 19
    let mut una = 1_000;
    for (end, marked, after) in
        [(10_000, 0, 900.0), (20_000, 0, 844.0), (30_000, 3, 811.0), (40_000, 10, 825.0), (50_000, 1, 780.0)]
    {
        let before = alpha(&cc);
        let first = una;
        while una < end {
            assert_eq!(alpha(&cc), before, "the window ends with the ACK that reaches its end");
            una += 1_000;
            cc.on_ack(&up_to(una, 1_000, end + 10_000, una - first <= marked * 1_000));
        }
        assert_eq!(alpha(&cc) * 1024.0, after, "window to {end}");
    }
    // where nothing is outstanding every ACK ends a window, a duplicate one without data: 780 - 48
    cc.on_ack(&up_to(60_000, 10_000, 60_000, false));
    let before = alpha(&cc) * 1024.0;
    assert_eq!(before, 780.0 - 48.0);
    cc.on_ack(&up_to(60_000, 0, 60_000, false));
    assert_eq!(alpha(&cc) * 1024.0, before - 45.0);
    // an average below 16 has no sixteenth: all of it goes
    let mut last = Dctcp::new(&Params { initial_alpha: 15.0 / 1024.0, ..form("linux") }, &env(MSS, 10.0));
    last.on_ack(&up_to(1_000, 1_000, 10_000, false));
    assert_eq!(alpha(&last), 0.0);
    let mut real = Dctcp::new(&Params { initial_alpha: 15.0 / 1024.0, ..Params::default() }, &env(MSS, 10.0));
    real.on_ack(&up_to(1_000, 1_000, 10_000, false));
    assert_close(alpha(&real), 15.0 / 1024.0 * 15.0 / 16.0);
}

#[test]
fn linux_takes_whole_segments_and_halves_the_window_at_a_loss() {
    let cut = |share: f64, window: f64| {
        let params = Params { initial_alpha: share / 1024.0, ..form("linux") };
        let mut cc = Dctcp::new(&params, &env(MSS, window));
        cc.on_ecn(&congestion(us(0.0), segments(3)));
        cc.cwnd() / 1000.0
    };
    // 15 * 900 / 2048 = 6.6; 15 * 136 / 2048 = 0.996; 2048 / 15 = 136.5
    assert_eq!([cut(900.0, 15.0), cut(136.0, 15.0), cut(137.0, 15.0), cut(1024.0, 3.0)], [9.0, 15.0, 14.0, 2.0]);
    let mut cc = Dctcp::new(&form("linux"), &env(MSS, 15.0));
    cc.on_loss(&Congestion { window: 15_000.0, ..congestion(us(0.0), segments(4)) });
    assert_eq!(cc.cwnd(), 7_000.0);
    cc.on_undo();
    assert_eq!(cc.cwnd(), 15_000.0);
    cc.on_timeout(&Timeout { phase: Phase::Cwr, ..timeout(us(0.0), segments(4), 1) });
    assert_eq!((cc.cwnd(), cc.ssthresh()), (1_000.0, f64::INFINITY), "it had been reduced already");
}
