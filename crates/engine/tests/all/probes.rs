//! Tail-loss probes and RACK's timer: each rule by hand, from RFC 8985 and the kernel (net/ipv4/tcp_output.c,
//! tcp_input.c, tcp_recovery.c, tcp_timer.c; Linux 6.1).

use crate::bench::{Bench, Caught};
use crate::net::*;
use incast_cc::{Rate, Time};
use incast_engine::spec::*;
use incast_engine::testing::{flag, rack::Reordering};
use incast_record::{FlowRecord, Outcome};

const MS: u64 = 1_000_000_000;

/// Linux as it comes, but for segments of 1000 B, exact timers and no handshake; a timeout of 200 ms.
fn linux(window: f64) -> TransportSpec {
    TransportSpec {
        handshake: false,
        mss: 1000,
        header: 40,
        ack_size: 40,
        delayed_ack: 1,
        initial_window: window,
        send_buffer: 1 << 30,
        receive_buffer: 1 << 29,
        rto_initial: Time::s(1),
        rto_min: Time::ms(200),
        recovery: Recovery::Linux,
        forward_retransmit: false,
        scoreboard: Rules::Rack,
        segment_rtt: true,
        dsack: true,
        undo: true,
        tail_loss_probe: true,
        reordering_timer: true,
        adaptive_reordering: true,
        timeout_min: Time::ms(2),
        ..tcp()
    }
}

/// A sender that sent its first window at 0; it has `segments`, or no end of them. The clock stands at 20 ms.
fn sender(transport: TransportSpec, segments: Option<u64>) -> Bench {
    controlled(transport, "newreno", segments)
}

fn controlled(transport: TransportSpec, kind: &str, segments: Option<u64>) -> Bench {
    let mut spec = wire(Rate::gbps(100), Time::ms(10), transport, kind, bulk(0, 1, segments.map(|n| n * 1000)));
    if matches!(kind, "swift" | "lswift") {
        // delay is to bring no decrease of its own
        spec.controllers = vec![controller(kind, &[("base_target", "10s")])];
    }
    let mut bench = Bench::new(spec);
    bench.open();
    bench.advance(20 * MS);
    bench
}

/// Segment numbers of what was sent; negative for what went again.
fn numbers(sent: &[Caught]) -> Vec<i64> {
    let number = |c: &Caught| (c.packet.seq / 1000) as i64 * if c.has(flag::RETX) { -1 } else { 1 };
    sent.iter().filter(|c| c.packet.len > 0).map(number).collect()
}

/// An ACK up to segment `n` with blocks of segments, now.
fn ack(bench: &mut Bench, n: u64, blocks: &[(u64, u64)]) -> Vec<i64> {
    let blocks: Vec<(u64, u64)> = blocks.iter().map(|(a, b)| (a * 1000, b * 1000)).collect();
    let now = bench.now();
    numbers(&bench.ack(n * 1000, now, 0, &blocks))
}

/// The same, of what was sent 20 ms ago: these controllers' round trips are the time stamps'.
fn answer(bench: &mut Bench, n: u64, blocks: &[(u64, u64)]) -> Vec<i64> {
    let blocks: Vec<(u64, u64)> = blocks.iter().map(|(a, b)| (a * 1000, b * 1000)).collect();
    let then = bench.now() - 20 * MS;
    numbers(&bench.ack(n * 1000, then, 0, &blocks))
}

/// The same with so many bytes of window left beyond it.
fn ack_with_window(bench: &mut Bench, n: u64, window: u32) -> Vec<i64> {
    let then = bench.now() - 20 * MS;
    numbers(&bench.give_sender(|p| (p.ack, p.ts, p.wnd) = (n * 1000, then, window)))
}

fn at(bench: &mut Bench, ms: u64) -> Vec<i64> {
    numbers(&bench.advance(ms * MS))
}

/// Nothing goes before `ms`.
fn quiet_until(bench: &mut Bench, ms: u64) {
    assert_eq!(numbers(&bench.advance(ms * MS - 1)), [0i64; 0], "before {ms} ms");
}

fn slow_start(bench: &Bench) -> bool {
    bench.state("ssthresh_bytes").is_infinite()
}

// ---- when, and what --------------------------------------------------------------------------------

#[test]
fn the_last_segment_goes_again_after_two_round_trips() {
    // an RTT of 20 ms: 2 srtt + 2 ms after the ACK
    let mut bench = sender(linux(10.0), Some(10));
    assert!(ack(&mut bench, 1, &[]).is_empty());
    quiet_until(&mut bench, 62);
    assert_eq!(at(&mut bench, 62), [-9]);
    assert_eq!(bench.state("in_flight_bytes"), 9000.0, "it is in flight once, as far as is known");
    // and then the retransmission timeout, counted from the probe, takes its place: srtt + 200 ms at the least
    quiet_until(&mut bench, 262);
    assert_eq!(at(&mut bench, 262), [-1]);
    // without probes the timeout comes 200 ms after the ACK
    let mut bench = sender(TransportSpec { tail_loss_probe: false, ..linux(10.0) }, Some(10));
    ack(&mut bench, 1, &[]);
    quiet_until(&mut bench, 220);
    assert_eq!(at(&mut bench, 220), [-1]);
}

#[test]
fn every_ack_and_every_new_segment_puts_the_probe_off() {
    let mut bench = sender(linux(10.0), Some(12));
    assert_eq!(ack(&mut bench, 1, &[]), [10, 11]);
    at(&mut bench, 30);
    // 30 ms: srtt is 7/8 of 20 ms and 1/8 of 30, 21.25 ms; 30 + 42.5 + 2
    ack(&mut bench, 2, &[]);
    quiet_until(&mut bench, 74);
    assert_eq!(at(&mut bench, 75), [-11]);
}

/// A sender whose application writes a segment every `every` ms until `until` ms; its round trips take 20 ms, and it
/// has the ACK of the first segment only. What was sent before.
fn writing(every: u64, until: u64) -> Bench {
    let app = App::OnOff {
        rate: Rate(8_000_000 / every),
        on: Time::ms(until),
        off: Time::s(10),
        write: 1000,
        off_first: false,
    };
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
    // segments at 10, 20 ... 60 ms, the ACK at 30: it alone would bring the probe at 72
    let mut bench = writing(10, 65);
    assert_eq!(at(&mut bench, 60), [3, 4, 5]);
    quiet_until(&mut bench, 102);
    assert_eq!(at(&mut bench, 102), [-5]);
}

#[test]
fn what_is_written_puts_the_probe_off_no_further_than_the_timeout() {
    // segments at 25, 50 ... 225 ms, the ACK at 45. Each puts the probe off by 42 ms; but the timeout, 200 ms after 1
    // was sent, comes at 250
    let mut bench = writing(25, 240);
    assert_eq!(at(&mut bench, 225), [1, 2, 3, 4, 5, 6, 7, 8]);
    quiet_until(&mut bench, 250);
    assert_eq!(at(&mut bench, 250), [-8]);
    assert!(slow_start(&bench), "a probe, no timeout");
}

#[test]
fn pacing_holds_back_new_data_but_nothing_that_goes_again() {
    // 10 goes at 20 ms, and 100 kb/s let nothing else go before 100 ms (tcp_write_xmit asks for that,
    // __tcp_retransmit_skb does not)
    let max = Rate(100_000);
    let pacing = PacingSpec::Window { slow_start: 2.0, avoidance: 1.2, max, restart_at_max: false };
    let paced = |segments| {
        let mut bench = sender(TransportSpec { pacing, ..linux(10.0) }, segments);
        assert_eq!(ack(&mut bench, 1, &[]), [10]);
        bench
    };
    let mut bench = paced(Some(11));
    quiet_until(&mut bench, 62);
    assert_eq!(at(&mut bench, 62), [-10]);
    let mut bench = paced(None);
    quiet_until(&mut bench, 100);
    assert_eq!(at(&mut bench, 100), [11]);
}

#[test]
fn a_single_segment_may_be_waiting_for_a_delayed_ack() {
    // 2 srtt + 200 ms would be 260 ms, but the timeout comes first: the probe takes its turn
    let mut bench = sender(linux(10.0), Some(10));
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
    let mut bench = sender(linux(10.0), Some(10));
    quiet_until(&mut bench, 1000);
    assert_eq!(at(&mut bench, 1000), [-9]);
    quiet_until(&mut bench, 2000);
    assert_eq!(at(&mut bench, 2000), [0]);
}

#[test]
fn new_data_goes_first_whatever_the_window() {
    let mut bench = sender(linux(10.0), None);
    assert_eq!(ack(&mut bench, 1, &[]), [10, 11]);
    assert_eq!(bench.state("cwnd_bytes"), bench.state("in_flight_bytes"), "the window is full");
    quiet_until(&mut bench, 62);
    assert_eq!(at(&mut bench, 62), [12]);
    // one at a time: the rest is the timeout's
    quiet_until(&mut bench, 262);
    assert_eq!(at(&mut bench, 262), [-1]);
}

#[test]
fn where_the_receiver_takes_no_more_the_last_segment_goes() {
    let mut bench = sender(linux(10.0), None);
    assert_eq!(ack_with_window(&mut bench, 1, 11_000), [10, 11]);
    assert_eq!(at(&mut bench, 62), [-11]);
}

#[test]
fn no_probe_goes_where_sacks_or_repairs_are_under_way() {
    // one segment of ten is SACKed: Linux' state is Disorder, and only the timeout is left
    let probes = |block: &[(u64, u64)]| {
        let mut bench = sender(TransportSpec { reordering_timer: false, ..linux(10.0) }, Some(10));
        ack(&mut bench, 1, block);
        at(&mut bench, 150)
    };
    assert_eq!(probes(&[]), [-9]);
    assert!(probes(&[(9, 10)]).iter().all(|n| *n != -9), "{:?}", probes(&[(9, 10)]));
    // without SACK none goes
    let mut bench = sender(TransportSpec { sack: false, ..linux(10.0) }, Some(10));
    ack(&mut bench, 1, &[]);
    assert!(at(&mut bench, 150).is_empty());
}

// ---- what it finds ---------------------------------------------------------------------------------

/// A transfer of 30 segments of 1000 B at 100 Mb/s and an idle RTT of 20.3 ms, which loses the packets listed.
fn transfer(transport: TransportSpec, lost: &[u64]) -> Outcome {
    transfer_of("newreno", transport, lost)
}

fn transfer_of(kind: &str, transport: TransportSpec, lost: &[u64]) -> Outcome {
    let mut spec = wire(Rate::mbps(100), Time::ms(5), transport, kind, bulk(0, 1, Some(30_000)));
    spec.links[3].loss = Loss::List(lost.to_vec());
    judged(&spec)
}

fn again(o: &Outcome) -> Vec<u64> {
    data_sent(o, "h0").into_iter().filter(|e| e.flags.contains("RETX")).map(|e| e.seq / 1000).collect()
}

fn counts(f: &FlowRecord) -> (u64, u64) {
    (f.retransmissions, f.timeouts)
}

#[test]
fn a_lost_tail_is_repaired_without_a_timeout() {
    let outcome = transfer(linux(40.0), &[27, 28, 29]);
    let flow = &outcome.flows[0];
    assert_eq!((again(&outcome), counts(flow)), (vec![29, 27, 28], (3, 0)));
    // 23 ms to the last ACK, 43 to the probe, a round trip for it and, as PRR begins, one for each repair
    assert!(flow.finish_ps.unwrap() < 130 * MS, "{:?}", flow.finish_ps);
    let outcome = transfer(TransportSpec { tail_loss_probe: false, ..linux(40.0) }, &[27, 28, 29]);
    assert_eq!(outcome.flows[0].timeouts, 1);
    assert!(outcome.flows[0].finish_ps.unwrap() > 220 * MS);
    // the last one alone: the probe repairs it, and its ACK ends the flow
    let outcome = transfer(linux(40.0), &[29]);
    assert_eq!((again(&outcome), counts(&outcome.flows[0])), (vec![29], (1, 0)));
    // a probe that is lost itself leaves it to the timeout
    let outcome = transfer(linux(40.0), &[29, 30]);
    assert_eq!((again(&outcome), counts(&outcome.flows[0])), (vec![29, 29], (2, 1)));
}

/// Segments 0 to 11 were sent, and the last of them went again as a probe, since the receiver's window was full; the
/// window is open again, and 100 ms have passed.
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
    // RFC 8985 section 7.4.2: all up to the probe is acknowledged and nothing says that it came twice
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
    // with an ACK that advances beyond the probe; a duplicate SACK of something else says nothing of it
    for (twice, reduces) in [((11, 12), false), ((10, 11), true)] {
        let mut bench = probed();
        ack(&mut bench, 12, &[]);
        ack(&mut bench, 13, &[twice]);
        assert_eq!(slow_start(&bench), !reduces, "{twice:?}");
    }
    // a receiver without duplicate SACKs: a mere duplicate
    let mut bench = probed();
    ack(&mut bench, 12, &[]);
    ack(&mut bench, 12, &[]);
    bench.advance(120 * MS);
    ack(&mut bench, 14, &[]);
    assert!(slow_start(&bench));
}

#[test]
fn a_probe_of_new_data_that_arrives_reduces_nothing() {
    let mut bench = sender(linux(10.0), None);
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
    // tcp_init_undo counts a probe under way: 1 to 10 count as lost, and 1 goes again
    let mut bench = probed();
    assert_eq!(ack(&mut bench, 1, &[(11, 12)]), [-1]);
    assert!(!slow_start(&bench), "a fast recovery");
    ack(&mut bench, 12, &[(1, 2)]);
    assert!(!slow_start(&bench), "1 came twice, but of the probe nothing is known yet");
    ack(&mut bench, 12, &[(11, 12)]);
    assert!(slow_start(&bench), "all that went again came twice: nothing was lost");
}

// ---- controllers that recover by themselves --------------------------------------------------------

#[test]
fn probes_repair_the_tails_of_those_that_recover_by_themselves() {
    for kind in ["bbr", "swift"] {
        let outcome = transfer_of(kind, linux(40.0), &[27, 28, 29]);
        let mut repaired = again(&outcome);
        assert_eq!(repaired[0], 29, "{kind}: the probe");
        repaired.sort_unstable();
        assert_eq!((repaired, counts(&outcome.flows[0])), (vec![27, 28, 29], (3, 0)), "{kind}");
        let outcome = transfer_of(kind, TransportSpec { tail_loss_probe: false, ..linux(40.0) }, &[27, 28, 29]);
        assert_eq!(outcome.flows[0].timeouts, 1, "{kind}");
    }
}

#[test]
fn a_loss_that_a_probe_repaired_is_one_to_delays_family_alone() {
    // whether the ACK beyond the probe cuts the window, where the probe came twice and where it repaired a loss
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
    // one segment is no run of late ones
    assert_eq!(cuts("lswift"), [false, false]);
}

#[test]
fn the_end_of_racks_wait_is_a_loss_to_those_that_recover_by_themselves() {
    for kind in ["bbr", "swift"] {
        let mut bench = controlled(TransportSpec { tail_loss_probe: false, ..linux(10.0) }, kind, None);
        answer(&mut bench, 1, &[]);
        at(&mut bench, 21);
        assert!(answer(&mut bench, 1, &[(2, 3)]).iter().all(|n| *n > 0), "{kind}");
        let before = at(&mut bench, 27);
        assert!(before.iter().all(|n| *n > 0), "{kind}: {before:?}");
        let window = bench.state("cwnd_bytes");
        // as soon as its pacing lets it
        assert!(at(&mut bench, 29).contains(&-1), "{kind}");
        assert!(bench.state("cwnd_bytes") < window, "{kind}: {window}");
    }
}

#[test]
fn delivery_rates_are_of_exact_times() {
    // 20 ms take no tick or one on a clock of 50 ms
    let bandwidth = |timestamp_clock| {
        let mut bench = controlled(TransportSpec { timestamp_clock, ..linux(10.0) }, "bbr", None);
        answer(&mut bench, 5, &[]);
        bench.advance(40 * MS);
        answer(&mut bench, 10, &[]);
        bench.advance(60 * MS);
        answer(&mut bench, 15, &[]);
        bench.state("bandwidth_bps")
    };
    let exact = bandwidth(Time::ZERO);
    assert!(exact > 0.0);
    for tick in [Time::us(7), Time::ms(1), Time::ms(50)] {
        assert_eq!(bandwidth(tick), exact, "{tick}");
    }
}

#[test]
fn what_came_twice_counts_as_delivered_with_undo_alone() {
    // in a recovery, a duplicate SACK and nothing else: PRR lets out what has left the network
    let sent = |undo, asks| {
        let mut bench = overtaken(|t| (t.undo, t.tail_loss_probe, t.adaptive_reordering) = (undo, asks, asks));
        assert_eq!(at(&mut bench, 28), [-1]);
        (0..3).flat_map(|_| ack(&mut bench, 1, &[(0, 1)])).collect::<Vec<i64>>()
    };
    assert!(!sent(true, false).is_empty());
    assert!(!sent(true, true).is_empty());
    for asks in [false, true] {
        assert!(sent(false, asks).is_empty(), "{asks}");
    }
}

// ---- RACK's timer ----------------------------------------------------------------------------------

/// Ten segments at 0, 0 acknowledged at 20 ms, which sends 10 and 11; at 21 ms segment 2 is reported.
fn overtaken(change: impl FnOnce(&mut TransportSpec)) -> Bench {
    let mut transport = TransportSpec { tail_loss_probe: false, ..linux(10.0) };
    change(&mut transport);
    let mut bench = sender(transport, None);
    assert_eq!(ack(&mut bench, 1, &[]), [10, 11]);
    at(&mut bench, 21);
    assert_eq!(ack(&mut bench, 1, &[(2, 3)]), [12], "limited transmit");
    bench
}

#[test]
fn what_is_overtaken_is_lost_when_the_reordering_window_is_over() {
    // RFC 8985 section 6.2, step 5: segment 2 took 21 ms, and a quarter of 20 ms is left for reordering. Segment 1 was
    // sent with it: 5 ms, and 2 ms of the timer's
    let mut bench = overtaken(|_| {});
    quiet_until(&mut bench, 28);
    assert!(slow_start(&bench));
    assert_eq!(at(&mut bench, 28), [-1], "one, as PRR begins");
    assert!(!slow_start(&bench));
    let mut bench = overtaken(|t| t.reordering_timer = false);
    assert!(at(&mut bench, 200).is_empty(), "until the timeout, 200 ms after the ACK at 20 ms");
    assert_eq!(at(&mut bench, 220), [-1]);
}

#[test]
fn what_is_only_reordered_is_not_sent_again() {
    let mut bench = overtaken(|_| {});
    at(&mut bench, 26);
    let sent = ack(&mut bench, 3, &[]);
    assert!(!sent.is_empty() && sent.iter().all(|n| *n > 0));
    // the timeout goes on from the sending of what is now the first segment
    quiet_until(&mut bench, 200);
    assert!(slow_start(&bench));
    assert_eq!(at(&mut bench, 200), [-3]);
}

#[test]
fn reordering_that_was_seen_keeps_its_window() {
    // segment 1 came after 2. Then 4, 5 and 6 come before 3: three, which otherwise means a loss
    let second = |adaptive| {
        let mut bench = overtaken(|t| t.adaptive_reordering = adaptive);
        at(&mut bench, 26);
        ack(&mut bench, 3, &[]);
        let sent = ack(&mut bench, 3, &[(4, 7)]);
        (sent.contains(&-3), bench)
    };
    assert!(second(false).0, "at once");
    let (at_once, mut bench) = second(true);
    assert!(!at_once);
    quiet_until(&mut bench, 33);
    assert_eq!(at(&mut bench, 33), [-3], "26 ms, 5 and 2");
}

#[test]
fn duplicate_sacks_widen_the_window_once_a_round_trip_for_sixteen_recoveries() {
    // RFC 8985 section 6.2, step 4
    let mut reordering = Reordering::default();
    reordering.widen(0, 10);
    assert_eq!(reordering.steps, 1, "none was seen");
    reordering.seen = true;
    let steps: Vec<u8> = [(0, 10), (9, 20), (10, 20), (20, 30)]
        .map(|(una, nxt)| {
            reordering.widen(una, nxt);
            reordering.steps
        })
        .to_vec();
    assert_eq!(steps, [2, 2, 3, 4]);
    for _ in 0..15 {
        reordering.recovered();
    }
    assert_eq!(reordering.steps, 4);
    reordering.recovered();
    assert_eq!(reordering.steps, 1);
}

#[test]
fn of_an_ack_that_sacks_too_the_acknowledged_segment_tells_the_round_trip() {
    // tcp_ack looks at SACKs first, so that the latest round trip is that of what is acknowledged: 1, of 60 ms. What
    // was sent with it is not lost yet, though the SACK of 10 took 40 ms only
    let found = |reordering_timer| {
        let mut bench = sender(TransportSpec { tail_loss_probe: false, reordering_timer, ..linux(10.0) }, None);
        assert_eq!(ack(&mut bench, 1, &[]), [10, 11]);
        at(&mut bench, 60);
        (ack(&mut bench, 2, &[(10, 11)]), bench)
    };
    assert_eq!(found(false).0[0], -2, "SACKs last: at once");
    let (sent, mut bench) = found(true);
    assert!(sent.iter().all(|n| *n > 0), "{sent:?}");
    quiet_until(&mut bench, 67);
    assert_eq!(at(&mut bench, 67)[0], -2, "5 ms and 2");
}

#[test]
fn what_a_timeout_sent_again_and_is_lost_again_begins_a_fast_recovery() {
    let threshold = |reordering_timer| {
        let transport = TransportSpec { tail_loss_probe: false, reordering_timer, ..linux(16.0) };
        let mut bench = sender(transport, Some(16));
        ack(&mut bench, 1, &[]);
        assert_eq!(at(&mut bench, 220), [-1]);
        at(&mut bench, 240);
        assert_eq!(ack(&mut bench, 2, &[]), [-2, -3]);
        at(&mut bench, 260);
        let before = bench.state("ssthresh_bytes");
        // 3 has come, sent after 2
        assert!(ack(&mut bench, 2, &[(3, 4)]).contains(&-2));
        (before, bench.state("ssthresh_bytes"))
    };
    let (before, after) = threshold(true);
    assert!(after < before, "{before} {after}");
    let (before, after) = threshold(false);
    assert_eq!(before, after);
}

// ---- what goes with it in a kernel -----------------------------------------------------------------

#[test]
fn cwr_follows_reductions_for_losses_too() {
    // RFC 3168 section 6.1.2: the first new data after the reduction
    for (cwr_after_loss, expected) in [(true, 1), (false, 0)] {
        let mut bench = controlled(TransportSpec { cwr_after_loss, ..linux(10.0) }, "dctcp", None);
        let mut sent = bench.ack(1000, 0, 0, &[(4000, 8000)]);
        for n in 9..=16u64 {
            bench.advance((20 + n) * MS);
            sent.extend(bench.ack(1000, 0, 0, &[(4000, n * 1000)]));
        }
        let said: Vec<&Caught> = sent.iter().filter(|c| c.has(flag::CWR)).collect();
        assert!(sent.iter().any(|c| c.has(flag::RETX)) && sent.iter().any(|c| !c.has(flag::RETX)));
        assert_eq!(said.len(), expected, "{:?}", numbers(&sent));
        assert!(said.iter().all(|c| !c.has(flag::RETX)));
    }
}

#[test]
fn segments_are_timed_in_whole_ticks() {
    let rtt = |timestamp_clock| {
        let mut bench = sender(TransportSpec { timestamp_clock, ..linux(10.0) }, None);
        bench.advance(20 * MS + 700_000);
        ack(&mut bench, 1, &[]);
        bench.state("rtt_s")
    };
    assert_eq!(rtt(Time::us(1)), 0.02);
    assert_eq!(rtt(Time::ZERO), 0.0200007);
}
