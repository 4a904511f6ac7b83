//! Tail-loss probes (RFC 8985 section 7); each rule by hand, also from the kernel (net/ipv4/tcp_output.c,
//! tcp_input.c, tcp_timer.c; Linux 6.1).

use super::*;
use incast_engine::testing::Kind;

/// Delivers an ACK as [`ack`] does, with `window` bytes of window beyond it.
fn ack_with_window(bench: &mut Bench, n: u64, window: u32) -> Vec<i64> {
    let then = bench.now() - 20 * MS;
    segments(&bench.give_sender(Kind::Ack, n * 1000, then, window))
}

#[test]
fn the_last_segment_goes_again_after_two_round_trips() {
    // an RTT of 20 ms: 2 srtt + 2 ms after the ACK
    let mut bench = probing(linux(10.0), Some(10));
    assert!(ack(&mut bench, 1, &[]).is_empty());
    quiet_until(&mut bench, 62);
    assert_eq!(at(&mut bench, 62), [-9]);
    assert_eq!(bench.state("in_flight_bytes"), 9000.0, "it is in flight once, as far as is known");
    // after that the retransmission timeout, counted from the probe, takes over: at least srtt + 200 ms
    quiet_until(&mut bench, 262);
    assert_eq!(at(&mut bench, 262), [-1]);
    // without probes the timeout comes 200 ms after the ACK
    let mut bench = probing(changed!(linux(10.0), loss.tail_loss_probe = false), Some(10));
    ack(&mut bench, 1, &[]);
    quiet_until(&mut bench, 220);
    assert_eq!(at(&mut bench, 220), [-1]);
}

#[test]
fn a_probe_of_several_segments_waits_the_least_timeout_beyond_two_round_trips() {
    for least in [1, 2, 5] {
        let mut bench = probing(changed!(linux(10.0), loss.timeout_min = Time::ms(least)), Some(10));
        ack(&mut bench, 1, &[]);
        quiet_until(&mut bench, 60 + least);
        assert_eq!(at(&mut bench, 60 + least), [-9]);
    }
}

#[test]
fn every_ack_and_every_new_segment_puts_the_probe_off() {
    let mut bench = probing(linux(10.0), Some(12));
    assert_eq!(ack(&mut bench, 1, &[]), [10, 11]);
    at(&mut bench, 30);
    // 30 ms: srtt is 7/8 of 20 ms and 1/8 of 30, 21.25 ms; 30 + 42.5 + 2
    ack(&mut bench, 2, &[]);
    quiet_until(&mut bench, 74);
    assert_eq!(at(&mut bench, 75), [-11]);
}

/// A sender whose application writes a segment every `every` ms until `until` ms, with round trips of 20 ms and an ACK
/// of the first segment only.
fn writing(every: u64, until: u64) -> Bench {
    let app = App::OnOff(OnOff {
        rate: Rate(8_000_000 / every),
        on: Time::ms(until),
        off: Time::s(10),
        write: 1000,
        begin: Begin::Open,
    });
    let mut bench =
        Bench::new(wire(Rate::gbps(100), Time::ms(10), linux(10.0), "newreno", FlowSpec { app, ..bulk(0, 1, None) }));
    bench.open();
    assert_eq!(at(&mut bench, every), [0]);
    at(&mut bench, every + 20);
    ack(&mut bench, 1, &[]);
    bench
}

#[test]
fn what_is_written_without_an_ack_puts_the_probe_off() {
    // segments at 10, 20 ... 60 ms, the ACK at 30: the probe would follow at 72
    let mut bench = writing(10, 65);
    assert_eq!(at(&mut bench, 60), [3, 4, 5]);
    quiet_until(&mut bench, 102);
    assert_eq!(at(&mut bench, 102), [-5]);
}

#[test]
fn what_is_written_puts_the_probe_off_no_further_than_the_timeout() {
    // segments at 25, 50 ... 225 ms, the ACK at 45. Each postpones the probe by 42 ms; but the timeout, 200 ms after
    // segment 1 was sent, fires at 250
    let mut bench = writing(25, 240);
    assert_eq!(at(&mut bench, 225), [1, 2, 3, 4, 5, 6, 7, 8]);
    quiet_until(&mut bench, 250);
    assert_eq!(at(&mut bench, 250), [-8]);
    assert!(slow_start(&bench), "a probe, no timeout");
}

#[test]
fn a_single_segment_may_be_waiting_for_a_delayed_ack() {
    // 2 srtt + 200 ms would be 260 ms, but the timeout comes first: the probe replaces it
    let mut bench = probing(linux(10.0), Some(10));
    ack(&mut bench, 9, &[]);
    quiet_until(&mut bench, 220);
    assert_eq!(at(&mut bench, 220), [-9]);
    assert!(slow_start(&bench), "a probe, no timeout");
    quiet_until(&mut bench, 420);
    assert_eq!(at(&mut bench, 420), [-9]);
    assert!(!slow_start(&bench), "the timeout");
}

#[test]
fn before_the_first_sample_the_probe_waits_for_the_first_timeout() {
    let mut bench = probing(linux(10.0), Some(10));
    quiet_until(&mut bench, 1000);
    assert_eq!(at(&mut bench, 1000), [-9]);
    quiet_until(&mut bench, 2000);
    assert_eq!(at(&mut bench, 2000), [0]);
}

#[test]
fn new_data_goes_first_whatever_the_window() {
    let mut bench = probing(linux(10.0), None);
    assert_eq!(ack(&mut bench, 1, &[]), [10, 11]);
    assert_eq!(bench.state("cwnd_bytes"), bench.state("in_flight_bytes"), "the window is full");
    quiet_until(&mut bench, 62);
    assert_eq!(at(&mut bench, 62), [12]);
    // one at a time: the rest is left to the timeout
    quiet_until(&mut bench, 262);
    assert_eq!(at(&mut bench, 262), [-1]);
}

#[test]
fn where_the_receiver_takes_no_more_the_last_segment_goes() {
    let mut bench = probing(linux(10.0), None);
    assert_eq!(ack_with_window(&mut bench, 1, 11_000), [10, 11]);
    assert_eq!(at(&mut bench, 62), [-11]);
}

#[test]
fn no_probe_goes_where_sacks_or_repairs_are_under_way() {
    // one segment of ten is SACKed: Linux is in state Disorder, and only the timeout is left
    let probes = |block: &[(u64, u64)]| {
        let mut bench = probing(changed!(linux(10.0), loss.reordering_timer = false), Some(10));
        ack(&mut bench, 1, block);
        at(&mut bench, 150)
    };
    assert_eq!(probes(&[]), [-9]);
    assert!(probes(&[(9, 10)]).iter().all(|n| *n != -9), "{:?}", probes(&[(9, 10)]));
    // no probe without SACK
    let mut bench = probing(changed!(linux(10.0), loss.sack = false), Some(10));
    ack(&mut bench, 1, &[]);
    assert!(at(&mut bench, 150).is_empty());
}

fn again(o: &Outcome) -> Vec<u64> {
    data_sent(o, "h0").into_iter().filter(|e| e.flags.contains("RETX")).map(|e| e.seq / 1000).collect()
}

fn counts(f: &FlowRecord) -> (u64, u64) {
    (f.retransmissions, f.timeouts)
}

#[test]
fn a_lost_tail_is_repaired_without_a_timeout() {
    let outcome = transfer(linux(40.0), 30, &[27, 28, 29]);
    let flow = &outcome.flows[0];
    assert_eq!((again(&outcome), counts(flow)), (vec![29, 27, 28], (3, 0)));
    // 23 ms to the last ACK, 43 to the probe, a round trip for it and, as PRR begins, one for each repair
    assert!(flow.finish_ps.unwrap() < 130 * MS, "{:?}", flow.finish_ps);
    let outcome = transfer(changed!(linux(40.0), loss.tail_loss_probe = false), 30, &[27, 28, 29]);
    assert_eq!(outcome.flows[0].timeouts, 1);
    assert!(outcome.flows[0].finish_ps.unwrap() > 220 * MS);
    // only the last one: the probe repairs it, and its ACK ends the flow
    let outcome = transfer(linux(40.0), 30, &[29]);
    assert_eq!((again(&outcome), counts(&outcome.flows[0])), (vec![29], (1, 0)));
    // a lost probe leaves it to the timeout
    let outcome = transfer(linux(40.0), 30, &[29, 30]);
    assert_eq!((again(&outcome), counts(&outcome.flows[0])), (vec![29, 29], (2, 1)));
}

/// A sender of segments 0 to 11, whose last one was retransmitted as a probe because the receiver's window was full.
/// The window is open again, and 100 ms have passed.
fn probed() -> Bench {
    probed_of("newreno", 11)
}

/// The same up to segment `last`.
fn probed_of(kind: &str, last: u64) -> Bench {
    let mut bench = controlled(linux(10.0), kind, None);
    ack_with_window(&mut bench, 1, last as u32 * 1000);
    assert_eq!(at(&mut bench, 70).last(), Some(&-(last as i64)));
    at(&mut bench, 100);
    bench
}

#[test]
fn a_loss_that_a_probe_repaired_reduces_the_window() {
    // RFC 8985 section 7.4.2: everything up to the probe is acknowledged and nothing shows that it arrived twice
    let mut bench = probed();
    assert!(!ack(&mut bench, 12, &[]).is_empty());
    assert!(slow_start(&bench), "it may still turn out to have come twice");
    bench.advance(120 * MS);
    ack(&mut bench, 13, &[]);
    assert!(!slow_start(&bench), "the next ACK says nothing of it: there was a loss");
    let after = bench.state("ssthresh_bytes");
    ack(&mut bench, 14, &[]);
    assert_eq!(bench.state("ssthresh_bytes"), after, "once");
}

#[test]
fn a_probe_that_came_twice_reduces_nothing() {
    // the ACK of the original, then the duplicate SACK of the probe
    let mut bench = probed();
    ack(&mut bench, 12, &[]);
    ack(&mut bench, 12, &[(11, 12)]);
    bench.advance(120 * MS);
    ack(&mut bench, 14, &[]);
    assert!(slow_start(&bench));
    // with an ACK beyond the probe; a duplicate SACK of another segment does not count
    for (twice, reduces) in [((11, 12), false), ((10, 11), true)] {
        let mut bench = probed();
        ack(&mut bench, 12, &[]);
        ack(&mut bench, 13, &[twice]);
        assert_eq!(slow_start(&bench), !reduces, "{twice:?}");
    }
    // a receiver without duplicate SACKs: a plain duplicate
    let mut bench = probed();
    ack(&mut bench, 12, &[]);
    ack(&mut bench, 12, &[]);
    bench.advance(120 * MS);
    ack(&mut bench, 14, &[]);
    assert!(slow_start(&bench));
}

#[test]
fn a_probe_of_new_data_that_arrives_reduces_nothing() {
    let mut bench = probing(linux(10.0), None);
    ack(&mut bench, 1, &[]);
    assert_eq!(at(&mut bench, 62), [12]);
    at(&mut bench, 82);
    ack(&mut bench, 13, &[]);
    bench.advance(102 * MS);
    ack(&mut bench, 15, &[]);
    assert!(slow_start(&bench));
}

#[test]
fn a_recovery_is_undone_when_its_probe_came_twice_too() {
    // tcp_init_undo counts a probe in flight: 1 to 10 count as lost, and 1 is retransmitted
    let mut bench = probed();
    assert_eq!(ack(&mut bench, 1, &[(11, 12)]), [-1]);
    assert!(!slow_start(&bench), "a fast recovery");
    ack(&mut bench, 12, &[(1, 2)]);
    assert!(!slow_start(&bench), "1 came twice, but of the probe nothing is known yet");
    ack(&mut bench, 12, &[(11, 12)]);
    assert!(slow_start(&bench), "all that went again came twice: nothing was lost");
}

#[test]
fn probes_repair_the_tails_of_those_that_recover_by_themselves() {
    for kind in ["bbr", "swift"] {
        let outcome = transfer_of(kind, linux(40.0), 30, &[27, 28, 29]);
        let mut repaired = again(&outcome);
        assert_eq!(repaired[0], 29, "{kind}: the probe");
        repaired.sort_unstable();
        assert_eq!((repaired, counts(&outcome.flows[0])), (vec![27, 28, 29], (3, 0)), "{kind}");
        let outcome = transfer_of(kind, changed!(linux(40.0), loss.tail_loss_probe = false), 30, &[27, 28, 29]);
        assert_eq!(outcome.flows[0].timeouts, 1, "{kind}");
    }
}

#[test]
fn a_loss_that_a_probe_repaired_is_one_to_delays_family_alone() {
    // true if the ACK beyond the probe reduces the window, when the probe arrived twice and when it repaired a loss
    let cuts = |kind: &str| {
        [true, false].map(|twice| {
            let mut bench = probed_of(kind, 10);
            answer(&mut bench, 11, &[]);
            if twice {
                answer(&mut bench, 11, &[(10, 11)]);
            }
            bench.advance(130 * MS);
            let before = bench.state("cwnd_bytes");
            answer(&mut bench, 12, &[]);
            bench.state("cwnd_bytes") < before
        })
    };
    // Linux: tcp_end_cwnd_reduction and bbr_set_cwnd_to_recover_or_restore leave the window alone
    assert_eq!(cuts("bbr"), [false, false]);
    assert_eq!(cuts("swift"), [false, true]);
    // one segment is not a run of late ones
    assert_eq!(cuts("lswift"), [false, false]);
}
