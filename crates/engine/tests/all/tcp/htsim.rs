//! htsim's Swift: its recovery, timers and timeouts.

use super::*;

/// Swift with a reduction at the end of a recovery, in htsim's transport; the target is far above the round trips of
/// the bench.
pub fn htsims(window: f64, change: impl FnOnce(&mut TransportSpec)) -> Bench {
    htsims_on(PathChoice::Ecmp, window, change)
}

fn htsims_on(choice: PathChoice, window: f64, change: impl FnOnce(&mut TransportSpec)) -> Bench {
    let mut transport = changed!(
        newreno(window),
        loss.recovery = Recovery::Htsim,
        loss.limited_transmit = false,
        rto.rto_min = Time::us(100),
        rto.rto_initial = Time::ms(1000)
    );
    change(&mut transport);
    let mut spec = wire(Rate::gbps(100), Time::ms(10), transport, "swift", bulk(0, 1, Some(100_000)));
    spec.controllers = vec![controller("swift", &[("target", "static"), ("recovery", "at-exit"), ("max_mdf", "0.5")])];
    spec.choice = choice;
    let mut bench = Bench::new(spec);
    bench.open();
    bench.advance(100 * MS);
    bench
}

pub fn ack_htsim(bench: &mut Bench, ack: u64) -> Vec<i64> {
    let then = bench.now() - 10 * MS;
    segments(&bench.ack(ack * 1000, then, 0, &[]))
}

#[test]
fn htsims_inflation_stands_on_the_window_and_begins_at_nothing() {
    let mut bench = htsims(20.0, |_| {});
    assert!(ack_htsim(&mut bench, 0).is_empty() && ack_htsim(&mut bench, 0).is_empty());
    assert_eq!(ack_htsim(&mut bench, 0), [0], "the third duplicate sends the first segment again");
    assert_eq!(kb(&bench, "cwnd_bytes"), 20.0, "no cut, and no inflation by three");
    // 20 are in flight: each further duplicate inflates by one and releases one
    assert_eq!(ack_htsim(&mut bench, 0), [20]);
    assert_eq!(kb(&bench, "cwnd_bytes"), 21.0);
    // at most by the window itself
    (0..30).for_each(|_| _ = ack_htsim(&mut bench, 0));
    assert_eq!(kb(&bench, "cwnd_bytes"), 40.0);
    // a partial ACK of 10 sends the next hole, deflates by 10 and inflates by one; the window grew by 10/20
    assert_eq!(ack_htsim(&mut bench, 10)[..1], [-10]);
    assert!((kb(&bench, "cwnd_bytes") - (20.5 + 11.0)).abs() < 1e-9);
    // the ACK of all that was outstanding ends it: normal growth, then the reduction
    let window = 20.5 + 10.0 / 20.5;
    ack_htsim(&mut bench, 20);
    assert!((kb(&bench, "cwnd_bytes") - window / 2.0).abs() < 1e-9, "{}", kb(&bench, "cwnd_bytes"));
}

#[test]
fn htsims_inflation_may_survive_a_timeout() {
    for (survives, after) in [(true, 30.0), (false, 10.0)] {
        let mut bench = htsims(20.0, |t| t.emulation.inflation_survives_timeout = survives);
        (0..40).for_each(|_| _ = ack_htsim(&mut bench, 0));
        assert_eq!(kb(&bench, "cwnd_bytes"), 40.0, "twice the window");
        assert_eq!(segments(&bench.advance(1010 * MS)), [0], "the timer: the first segment alone");
        assert_eq!(kb(&bench, "cwnd_bytes"), after, "half of the window, and what duplicates added");
    }
}

#[test]
fn a_reduction_for_ecn_ends_an_inflation_that_survived_a_timeout() {
    let window = |survives: bool| {
        let transport = changed!(
            newreno(20.0),
            loss.recovery = Recovery::Htsim,
            emulation.inflation_survives_timeout = survives,
            marks.ecn = Some(Ecn::Classic),
            loss.limited_transmit = false
        );
        let (mut bench, _) = sender(transport, "newreno");
        // a recovery without inflation, ended by a timeout
        (0..3).for_each(|_| _ = dup(&mut bench, 0));
        bench.advance(3000 * MS);
        let sent = dup(&mut bench, 20);
        let window = bench.state("cwnd_bytes");
        ack_of(&mut bench, 0, 21, flag::ECE, &[]);
        let reduced = bench.state("cwnd_bytes");
        // the reduction ends with the ACK of data sent after it
        let next = *sent.last().unwrap() as u64 + 1;
        let sent = dup(&mut bench, next);
        dup(&mut bench, *sent.last().unwrap() as u64 + 1);
        (window, reduced, bench.state("cwnd_bytes"))
    };
    let (before, reduced, after) = window(true);
    assert!(reduced <= before && after > reduced, "{before} {reduced} {after}");
    assert_eq!((before, reduced, after), window(false), "no inflation: the windows are the controller's");
}

#[test]
fn duplicates_may_give_round_trips_and_end_the_back_off() {
    // the first timeout, of 1 s, comes before any sample and doubles. A duplicate then gives a sample of 10 ms: srtt
    // 10, rttvar 5
    for (samples, next) in [(true, 40), (false, 1990)] {
        let mut bench = htsims(20.0, |t| t.emulation.duplicate_rtt = samples);
        assert_eq!(segments(&bench.advance(1010 * MS)), [0]);
        ack_htsim(&mut bench, 0);
        // the running timer stays as it was set; the next one has the new length
        assert_eq!(segments(&bench.advance(3010 * MS)), [0], "{samples}: two seconds later");
        ack_htsim(&mut bench, 0);
        let again = bench.advance(3000 * MS + 2 * next * MS);
        assert_eq!(again.is_empty(), !samples, "{samples}: 80 ms later, not 4 s");
    }
}

#[test]
fn the_recovery_point_may_go_back_with_go_back_n() {
    // 20 are out when the first timer fires; the ACK of two lets some be retransmitted before the second fires
    for (back, enters) in [(true, true), (false, false)] {
        let mut bench = htsims(4.0, |t| t.emulation.go_back_n_point = back);
        bench.advance(1010 * MS);
        ack_htsim(&mut bench, 1);
        bench.advance(2000 * MS);
        ack_htsim(&mut bench, 2);
        (0..2).for_each(|_| _ = ack_htsim(&mut bench, 2));
        assert_eq!(ack_htsim(&mut bench, 2) == [-2], enters, "{back}: three duplicates begin a fast recovery");
    }
}

#[test]
fn what_goes_again_after_a_timeout_may_take_new_paths() {
    for (new_path, values) in [(true, [0, 0, 1, 2]), (false, [0, 0, 0, 0])] {
        let choice = PathChoice::Entropy(Entropy::Counter);
        let mut bench = htsims_on(choice, 20.0, |t| t.emulation.go_back_n_new_path = new_path);
        let mut again = bench.advance(2000 * MS);
        let then = bench.now() - 10 * MS;
        again.extend(bench.ack(1000, then, 0, &[]));
        again.extend(bench.ack(3000, then, 0, &[]));
        let first = again[0].packet.entropy();
        let found: Vec<u16> = again.iter().map(|c| c.packet.entropy() - first).collect();
        assert_eq!(found[..4], values, "{new_path}: the first goes with the current value, the rest count on");
    }
}

#[test]
fn htsims_timer_starts_anew_with_every_partial_ack() {
    // partial ACKs at 100 and 112 ms, timeouts of 25 and 22 ms. RFC 6582's timer runs from the first of them
    for (recovery, silent) in [(Recovery::Htsim, true), (Recovery::NewReno, false)] {
        let mut bench = htsims(20.0, |t| t.loss.recovery = recovery);
        ack_htsim(&mut bench, 1);
        (0..3).for_each(|_| _ = ack_htsim(&mut bench, 1));
        assert_eq!(ack_htsim(&mut bench, 5)[..1], [-5]);
        assert!(bench.advance(112 * MS).is_empty());
        assert_eq!(ack_htsim(&mut bench, 8)[..1], [-8]);
        assert_eq!(bench.advance(130 * MS).is_empty(), silent, "{recovery:?}");
    }
}

#[test]
fn htsims_timers_are_looked_at_every_ten_milliseconds() {
    // one sample of 10 ms at 100 ms: srtt 10, rttvar 5, timeout 30 ms, set to 130 ms; the next check is the one at 140
    // ms, and a two-hundredth of nothing later
    for (scan, at) in [(Time::ZERO, 130 * MS), (Time::ms(10), 140 * MS), (Time::ms(7), 133 * MS + 4 * MS / 200)] {
        let mut bench = htsims(20.0, |t| t.timing.timer_scan = scan);
        ack_htsim(&mut bench, 1);
        assert!(bench.advance(at - 1).is_empty(), "{scan}");
        assert_eq!(segments(&bench.advance(at)), [-1], "{scan}: the first segment alone");
    }
}

#[test]
fn after_a_timeout_the_window_goes_again_once_the_first_is_acknowledged() {
    let mut bench = htsims(20.0, |_| {});
    ack_htsim(&mut bench, 1);
    bench.advance(130 * MS);
    assert_eq!(ack_htsim(&mut bench, 2)[..3], [-2, -3, -4]);
    // with segments that arrived before: none of these is retransmitted
    let mut bench = htsims(20.0, |_| {});
    ack_htsim(&mut bench, 1);
    bench.advance(130 * MS);
    assert!(ack_htsim(&mut bench, 21).iter().all(|number| *number > 0));
}
