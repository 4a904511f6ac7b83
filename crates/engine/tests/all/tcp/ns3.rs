//! ns-3.43's transport: the effect of each switch, packet by packet, and all of them together under losses and marks
//! through the reference engine.

use super::*;
use incast_engine::testing::Kind;
use incast_engine::testing::{Hole, Scoreboard, flag};

fn ns3(window: f64) -> TransportSpec {
    changed!(crate::support::ns3(), windows.initial_window = window)
}

/// A sender of an endless transfer at 100 ms, with its first window sent.
fn sender(transport: TransportSpec, kind: &str) -> Bench {
    let mut spec = wire(Rate::gbps(100), Time::ms(10), transport, kind, bulk(0, 1, None));
    spec.controllers = vec![controller(kind, &[("form", "ns3")])];
    let mut bench = Bench::new(spec);
    bench.open();
    bench.advance(100 * MS);
    bench
}

#[test]
fn a_mark_inside_fast_recovery_takes_its_place() {
    for preempts in [true, false] {
        let mut bench = sender(changed!(ns3(20.0), loss.ecn_preempts = preempts), "dctcp");
        for n in 1..=3 {
            ack_of(&mut bench, 0, 0, 0, &[(1, 1 + n)]);
        }
        // alpha is 1 before anything is known: the loss halves
        assert_eq!(kb(&bench, "ssthresh_bytes"), 10.0);
        let in_force = kb(&bench, "cwnd_bytes");
        ack_of(&mut bench, 0, 4, flag::ECE, &[]);
        let expected = if preempts { (in_force * 500.0).floor() / 1000.0 } else { 10.0 };
        assert_eq!(kb(&bench, "ssthresh_bytes"), expected, "half of the window in force, if at all");
    }
}

#[test]
fn a_mark_after_a_timeout_ends_slow_start() {
    for preempts in [true, false] {
        let mut bench = sender(changed!(ns3(8.0), loss.ecn_preempts = preempts), "dctcp");
        bench.advance(1200 * MS);
        // ssthresh is half of 8; the window restarts from one segment
        assert_eq!((kb(&bench, "ssthresh_bytes"), kb(&bench, "cwnd_bytes")), (4.0, 1.0));
        ack_of(&mut bench, 0, 1, flag::ECE, &[]);
        // a reduction from one segment has no floor in ns-3: half a segment. Otherwise the mark has no effect after a
        // timeout
        assert_eq!(kb(&bench, "ssthresh_bytes"), if preempts { 0.5 } else { 4.0 });
    }
}

#[test]
fn a_window_below_a_segment_waits_for_the_timer() {
    for (least_segment, sent_at) in [(true, 100 * MS), (false, 1100 * MS)] {
        let mut bench =
            sender(changed!(ns3(1.0), windows.least_segment = least_segment, loss.ecn_by_prr = false), "dctcp");
        // alpha 1: one marked segment halves a window of one
        let mut sent = ack_of(&mut bench, 0, 1, flag::ECE, &[]).len();
        assert_eq!(kb(&bench, "cwnd_bytes"), 0.5);
        let mut at = bench.now();
        while sent == 0 {
            at += MS;
            sent += bench.advance(at).len();
        }
        assert_eq!(at, sent_at, "least_segment = {least_segment}");
    }
}

#[test]
fn three_sacked_segments_make_a_loss_however_small() {
    for (scoreboard, lost) in [(Rules::Ns3, true), (Rules::Rfc6675, false)] {
        let mut spec =
            wire(Rate::gbps(100), Time::ms(10), changed!(ns3(20.0), loss.scoreboard = scoreboard), "newreno", {
                let app = App::OnOff(OnOff {
                    rate: Rate::gbps(10),
                    on: Time::s(1),
                    off: Time::s(1),
                    write: 100,
                    begin: Begin::Open,
                });
                FlowSpec { app, ..bulk(0, 1, None) }
            });
        spec.controllers = vec![controller("newreno", &[("form", "ns3")])];
        let mut bench = Bench::new(spec);
        bench.open();
        bench.advance(MS / 1000);
        // one block of three segments of 100 B each: not more than two full segments, nor three runs
        let now = bench.now();
        let sent = bench.ack(0, now, 0, &[(100, 400)]);
        assert_eq!(sent.iter().any(|c| c.has(flag::RETX)), lost, "{scoreboard:?}");
    }
}

#[test]
fn a_loss_halves_what_is_outstanding_or_what_is_in_the_network() {
    let threshold = |sack, loss_flight| {
        let recovery = if sack { Recovery::PrrNs3 } else { Recovery::NewReno };
        let transport = changed!(
            ns3(20.0),
            loss.sack = sack,
            loss.loss_flight = loss_flight,
            loss.recovery = recovery,
            loss.limited_transmit = false
        );
        let mut bench = sender(transport, "newreno");
        for n in 1..=3 {
            let arrived = [(1, 1 + n)];
            ack_of(&mut bench, 0, 0, 0, if sack { &arrived } else { &[] });
        }
        kb(&bench, "ssthresh_bytes")
    };
    // of 20 segments three have arrived and one is lost, as SACK reports; duplicates report three arrivals
    assert_eq!([threshold(true, LossFlight::Outstanding), threshold(true, LossFlight::Pipe)], [10.0, 8.0]);
    assert_eq!([threshold(false, LossFlight::Outstanding), threshold(false, LossFlight::Pipe)], [10.0, 8.5]);
}

#[test]
fn a_duplicate_counts_one_segment_more() {
    // 20 in flight, segment 0 lost: RFC 6937 lets one go for two duplicates, ns-3 one for each
    let count = |recovery| {
        let mut bench = sender(changed!(ns3(20.0), loss.recovery = recovery), "newreno");
        let mut sent = Vec::new();
        for n in 1..=9 {
            sent.extend(ack_of(&mut bench, 0, 0, 0, &[(1, 1 + n)]));
        }
        sent
    };
    let (ns3, rfc) = (count(Recovery::PrrNs3), count(Recovery::Prr));
    assert!(ns3.starts_with(&[20, 21, 0]) && rfc.starts_with(&[20, 21, 0]), "{ns3:?} {rfc:?}");
    assert!(ns3.len() > rfc.len(), "{ns3:?} {rfc:?}");
}

#[test]
fn its_rate_reduction_goes_on_under_any_scoreboard() {
    for scoreboard in [Rules::Ns3, Rules::Rfc6675, Rules::Rack] {
        let mut bench = sender(changed!(ns3(20.0), loss.scoreboard = scoreboard), "newreno");
        for n in 1..=5 {
            ack_of(&mut bench, 0, 0, 0, &[(1, 1 + n)]);
        }
        // 20 in flight, segment 0 lost; each further SACK makes room
        let sent: usize = (6..=19).map(|n| ack_of(&mut bench, 0, 0, 0, &[(1, 1 + n)]).len()).sum();
        assert!((7..=15).contains(&sent), "{scoreboard:?}: {sent}");
    }
}

#[test]
fn only_acks_that_make_a_whole_segment_reduce_the_rate() {
    let mut bench = sender(ns3(10.0), "dctcp");
    let half = |bench: &mut Bench, n: u64| {
        let now = bench.now();
        bench.ack(n * 500, now, flag::ECE, &[]);
        bench.state("cwnd_bytes")
    };
    // ssthresh 5000 of 9500 in flight: one segment starts the reduction, and half a segment is no second step
    assert_eq!(half(&mut bench, 1), 10_500.0);
    // a second half makes one: 500 B more delivered, so 2000 * 5000 / 9500 - 1000 = 53 B beyond the 10000 in flight
    assert_eq!(half(&mut bench, 2), 10_053.0);
    assert_eq!(half(&mut bench, 3), 10_053.0, "and the third rests");
}

#[test]
fn a_partial_ack_sends_beyond_the_window() {
    let partial = |scoreboard, recovery| {
        let mut bench = sender(changed!(ns3(20.0), loss.scoreboard = scoreboard, loss.recovery = recovery), "newreno");
        for n in 1..=3 {
            ack_of(&mut bench, 0, 0, 0, &[(1, 1 + n)]);
        }
        // segment 4 is missing too, but nothing above it has been SACKed yet: ns-3 sends it all the same
        ack_of(&mut bench, 0, 4, 0, &[])
    };
    for recovery in [Recovery::PrrNs3, Recovery::NewReno] {
        assert_eq!(partial(Rules::Ns3, recovery)[..1], [22], "new data, since nothing is known to be lost");
    }
    assert_eq!(partial(Rules::Rfc6675, Recovery::NewReno), [0i64; 0], "the window of 10 holds it back");
}

#[test]
fn a_partial_ack_leaves_newrenos_window_and_restarts_the_timer_once() {
    let mut bench = sender(changed!(ns3(20.0), loss.recovery = Recovery::NewReno, rto.rto_min = Time::s(1)), "newreno");
    for n in 1..=3 {
        ack_of(&mut bench, 0, 0, 0, &[(1, 1 + n)]);
    }
    let window = kb(&bench, "cwnd_bytes");
    bench.advance(200 * MS);
    assert!(!ack_of(&mut bench, 0, 4, 0, &[]).is_empty());
    bench.advance(300 * MS);
    ack_of(&mut bench, 0, 5, 0, &[]);
    assert_eq!(kb(&bench, "cwnd_bytes"), window);
    let timeout = bench.advance(1250 * MS);
    assert_eq!(timeout.first().map(|p| p.at), Some(1200 * MS), "a second after the first partial ACK");
}

#[test]
fn marks_count_only_in_order_of_their_segments() {
    let echoes = |ce_must_advance| {
        let transport = changed!(ns3(10.0), marks.ce_must_advance = ce_must_advance);
        let mut bench = receiver_of("dctcp", transport);
        // segment 1 is retransmitted, marked, after segment 2 was marked
        [(0, false), (2, true), (1, true), (3, false), (4, true)].map(|(n, marked)| {
            let ce = if marked { flag::CE | flag::ECT } else { flag::ECT };
            bench.data(n * 1000, 1000, ce).last().is_some_and(|a| a.has(flag::ECE))
        })
    };
    assert_eq!(echoes(true), [false, true, false, false, true]);
    assert_eq!(echoes(false), [false, true, true, false, true]);
}

#[test]
fn a_marked_handshake_uses_up_the_first_segments_mark() {
    let echoes = |ce_must_advance, marked| {
        let transport = changed!(ns3(10.0), marks.ce_must_advance = ce_must_advance);
        let mut bench = receiver_of("dctcp", transport);
        // SYN has the number before; its mark never counts
        bench.give_receiver(Kind::Syn, 0, flag::ECT | flag::CE);
        let ce = if marked { flag::ECT | flag::CE } else { flag::ECT };
        assert!(bench.give_receiver(Kind::Ack, 0, flag::ACK | ce).is_empty());
        [0, 1].map(|n| bench.data(n * 1000, 1000, flag::ECT | flag::CE).last().is_some_and(|a| a.has(flag::ECE)))
    };
    assert_eq!(echoes(true, true), [false, true]);
    assert_eq!(echoes(true, false), [true, true]);
    assert_eq!(echoes(false, true), [true, true]);
}

#[test]
fn a_sink_that_closes_echoes_no_mark() {
    let echoes = |fin_with_data| {
        let transport = changed!(ns3(10.0), connection.fin_with_data = fin_with_data);
        let flow = FlowSpec { sink_stop: Time::ms(50), ..bulk(0, 1, None) };
        let mut bench = Bench::new(wire(Rate::gbps(10), Time::us(1), transport, "dctcp", flow));
        let acked = bench.data(0, 1000, flag::ECT | flag::CE);
        assert!(acked.last().is_some_and(|a| a.has(flag::ECE)));
        let closed = bench.advance(60 * MS);
        let fin = closed.iter().find(|a| a.has(flag::FIN)).expect("the sink closes");
        fin.has(flag::ECE)
    };
    assert!(!echoes(true));
    assert!(echoes(false));
}

#[test]
fn after_a_timeout_samples_wait_for_new_data() {
    let srtt = |rtt_after_timeout| {
        let mut bench = sender(changed!(ns3(2.0), marks.rtt_after_timeout = rtt_after_timeout), "newreno");
        bench.ack(1000, 0, 0, &[]);
        bench.advance(2000 * MS);
        // all outstanding data is acknowledged after 7 ms, then new data
        let mut seen = Vec::new();
        for n in 2..=6 {
            let sent = bench.now();
            bench.advance(sent + 7 * MS);
            bench.ack(n * 1000, sent, 0, &[]);
            seen.push((n, bench.state("rtt_s")));
        }
        seen.iter().find(|(_, rtt)| *rtt < 0.008).map(|(n, _)| *n)
    };
    assert_eq!(srtt(true), Some(2), "the first retransmission's");
    assert_eq!(srtt(false), Some(5), "that of segment 4, the first that did not time out");
}

#[test]
fn after_a_timeout_an_ack_ends_the_back_off_without_a_sample() {
    let mut bench = sender(changed!(ns3(2.0), marks.rtt_after_timeout = false), "newreno");
    bench.ack(1000, 0, 0, &[]);
    assert_eq!(bench.advance(2000 * MS).first().map(|p| p.at), Some(1100 * MS), "a timeout of 1 s");
    bench.ack(2000, 2000 * MS, 0, &[]);
    assert_eq!(bench.advance(9000 * MS).first().map(|p| p.at), Some(3000 * MS), "1 s again, not 2");
}

#[test]
fn a_fast_retransmission_may_space_what_follows_at_the_highest_rate() {
    let gap = |restart_at_max| {
        let pacing = Some(WindowPacing { slow_start: 2.0, avoidance: 1.2, max: Rate::gbps(1), restart_at_max });
        let mut bench = sender(
            changed!(
                ns3(20.0),
                loss.recovery = Recovery::NewReno,
                output.pacing = pacing,
                loss.limited_transmit = false
            ),
            "newreno",
        );
        bench.ack(1000, 0, 0, &[]);
        bench.advance(200 * MS);
        let again = (2..=4).find_map(|n| {
            let sent = ack_of(&mut bench, 0, 1, 0, &[(2, 2 + n)]);
            (sent.first() == Some(&-1)).then(|| bench.now())
        });
        ack_of(&mut bench, 0, 18, 0, &[]);
        let sent = bench.advance(400 * MS);
        sent.first().map(|p| p.at - again.expect("a fast retransmission"))
    };
    // 1000 B at 1 Gb/s; else at the rate of the window before, which srtt makes tens of milliseconds
    assert_eq!(gap(true), Some(8_000_000));
    assert!(gap(false).is_some_and(|gap| gap > MS), "{:?}", gap(false));
}

#[test]
fn a_flush_repeats_the_ack_before_the_latest_segment() {
    let acks = |ecn_flush| {
        let transport = changed!(ns3(10.0), acks.delayed_ack = 2, marks.ecn_flush = ecn_flush);
        let mut bench = receiver_of("dctcp", transport);
        let mut acks = Vec::new();
        for (i, marked) in [false, false, false, true, true].into_iter().enumerate() {
            let ce = if marked { flag::CE | flag::ECT } else { flag::ECT };
            let sent = bench.data(i as u64 * 1000, 1000, ce);
            acks.extend(sent.iter().map(|a| (a.packet.ack / 1000, a.has(flag::ECE))));
        }
        acks
    };
    // the mark of segment 3 comes while segment 2 waits for its ACK
    assert_eq!(acks(Flush::Pending), [(2, false), (3, false), (5, true)]);
    assert_eq!(acks(Flush::Prior), [(2, false), (2, false), (5, true)]);
}

#[test]
fn all_rules_together_are_the_same_in_every_partition() {
    for (kind, recovery) in [("dctcp", Recovery::PrrNs3), ("dctcp", Recovery::NewReno), ("newreno", Recovery::PrrNs3)] {
        let transport = changed!(
            ns3(10.0),
            connection.handshake = true,
            acks.delayed_ack = 2,
            loss.recovery = recovery,
            loss.ecn_by_prr = recovery != Recovery::NewReno,
            windows.send_buffer = 131_072,
            windows.receive_buffer = 131_072,
            // as in ns-3 below the minimum RTO: a window of one segment continues
            acks.delayed_ack_timeout = Time::us(500),
            rto.rto_min = Time::ms(2)
        );
        let mut spec = star(5, Rate::gbps(1), Time::us(10));
        spec.transports = vec![transport];
        spec.controllers = vec![controller(kind, &[("form", "ns3")])];
        let mark = if kind == "dctcp" { 8 } else { 30 };
        spec.queues =
            vec![QueueSpec { device: 4, count_in_service: false, ..queue(ecn_threshold(mark), Limit::Packets(30)) }];
        spec.links[2].loss = Loss::Packet(0.02);
        spec.flows = (0..12).map(|i| bulk(i % 4, 4, Some(150_000))).collect();
        let o = compared(&spec);
        let total = |f: fn(&incast_record::FlowRecord) -> u64| o.flows.iter().map(f).sum::<u64>();
        assert!(total(|f| f.retransmissions) > 20 && total(|f| f.timeouts) > 0, "losses and timeouts happened");
        assert_eq!(total(|f| f.delivered), 12 * 150_000, "and were repaired");
    }
}

/// TcpTxBuffer accepts a write whole or not at all: with 64,000 bytes a write and 131,072 of buffer a third write waits
/// until the first is acknowledged, so less is in flight than the buffer holds.
#[test]
fn writes_wait_until_the_buffer_takes_them_whole() {
    let outstanding = |whole_writes| {
        let transport = changed!(ns3(1000.0), windows.send_buffer = 131_072, windows.whole_writes = whole_writes);
        let mut flow = bulk(0, 1, None);
        flow.app = App::Bulk(Bulk { size: None, write: 64_000 });
        let mut spec = wire(Rate::gbps(1), Time::ms(10), transport, "newreno", flow);
        // shorter than a round trip
        run_for(&mut spec, Time::ms(30));
        let outcome = run(&spec);
        let sent = events(&outcome, "h0", Happening::Send);
        sent.iter().map(|e| e.seq + u64::from(e.payload)).max()
    };
    assert_eq!(outstanding(false), Some(131_072));
    assert_eq!(outstanding(true), Some(128_000));
}

/// A sender of 15 segments of 600 B, and its packets when a SACK reports that the first four are lost and the ten above
/// them arrived.
fn short_segments(scoreboard: Rules) -> (Bench, Vec<Caught>) {
    let app =
        App::OnOff(OnOff { rate: Rate::gbps(10), on: Time::s(1), off: Time::s(1), write: 600, begin: Begin::Open });
    let flow = FlowSpec { app, ..bulk(0, 1, None) };
    let transport = changed!(
        ns3(40.0),
        loss.scoreboard = scoreboard,
        loss.recovery = Recovery::NewReno,
        loss.loss_flight = LossFlight::Outstanding
    );
    let mut spec = wire(Rate::gbps(100), Time::ms(10), transport, "newreno", flow);
    spec.controllers = vec![controller("newreno", &[("form", "ns3")])];
    let mut bench = Bench::new(spec);
    bench.open();
    bench.advance(7_300_000);
    let sent = bench.ack(0, bench.now(), 0, &[(2400, 8400)]);
    (bench, sent)
}

#[test]
fn what_is_sent_again_is_cut_anew() {
    for scoreboard in [Rules::Ns3, Rules::Rfc6675] {
        let (mut bench, sent) = short_segments(scoreboard);
        let now = bench.now();
        let again: Vec<(u64, u16)> =
            sent.iter().filter(|c| c.packet.seq() < 2400).map(|c| (c.packet.seq(), c.packet.len)).collect();
        let expected: &[(u64, u16)] = match scoreboard {
            // a segment absorbs as much as fits of the one behind it
            Rules::Ns3 => &[(0, 1000), (1000, 800), (1800, 600)],
            _ => &[(0, 600), (600, 600), (1200, 600), (1800, 600)],
        };
        assert_eq!(again, expected, "{scoreboard:?}");
        // an ACK in the middle of a merged segment leaves the rest of it outstanding
        bench.ack(600, now, 0, &[]);
        assert_eq!(bench.state("acked_bytes"), 600.0);
        bench.ack(8400, now, 0, &[]);
        assert_eq!(bench.state("acked_bytes"), 8400.0);
    }
}

#[test]
fn acks_grow_with_the_blocks_they_report() {
    let sizes = |sack_block, timestamps| {
        let transport = changed!(ns3(10.0), loss.sack_block = sack_block, timing.timestamps = timestamps);
        let mut bench = receiver(transport);
        // every second segment is missing
        [0, 2, 4, 6, 8, 10].map(|n| {
            let sent = bench.data(n * 1000, 1000, 0);
            (sent[0].packet.size, sent[0].blocks().len())
        })
    };
    assert_eq!(sizes(0, true), [(40, 0), (40, 1), (40, 2), (40, 3), (40, 4), (40, 4)]);
    assert_eq!(sizes(8, true), [(40, 0), (48, 1), (56, 2), (64, 3), (64, 3), (64, 3)], "40 B of options");
    assert_eq!(sizes(8, false)[4..], [(72, 4), (72, 4)], "without time stamps a fourth fits");
}

#[test]
fn a_run_of_arrivals_is_one_block_and_older_blocks_stay() {
    let mut bench = receiver(ns3(10.0));
    let mut last = Vec::new();
    for n in [0, 2, 4, 5, 6, 7, 8, 9] {
        last = bench.data(n * 1000, 1000, 0)[0].blocks();
    }
    assert_eq!(last, [(4000, 10_000), (2000, 3000)]);
    // a segment that fills the gap between two blocks merges them
    assert_eq!(bench.data(3000, 1000, 0)[0].blocks(), [(2000, 10_000)]);
}

#[test]
fn a_sacked_retransmission_stays_in_flight() {
    let sends = |scoreboard| {
        let transport = changed!(ns3(20.0), loss.scoreboard = scoreboard, loss.recovery = Recovery::NewReno);
        let mut bench = sender(transport, "newreno");
        // segments 0 and 1 are lost; SACKs continue until the window lets 1 be retransmitted
        let mut n = 3;
        while !ack_of(&mut bench, 0, 0, 0, &[(2, n)]).contains(&-1) {
            n += 1;
        }
        // 1 arrives, and 0 does not
        ack_of(&mut bench, 0, 0, 0, &[(1, n)])
    };
    assert_eq!(sends(Rules::Rfc6675).len(), 1, "it left the network");
    assert_eq!(sends(Rules::Ns3), [0i64; 0]);
}

#[test]
fn without_new_data_all_that_fits_of_the_unproven_goes() {
    let mut sent = Vec::new();
    let transport = changed!(ns3(20.0), loss.recovery = Recovery::NewReno);
    let mut spec = wire(Rate::gbps(100), Time::ms(10), transport, "dctcp", bulk(0, 1, Some(8000)));
    spec.controllers = vec![controller("dctcp", &[("form", "ns3")])];
    let mut bench = Bench::new(spec);
    bench.open();
    for n in [1, 3, 5] {
        sent = ack_of(&mut bench, 0, 0, 0, &[(n, n + 1)]);
    }
    assert_eq!(sent, [0, -2, -4], "of 8 segments 0 is lost, 2 and 4 may be");
}

#[test]
fn a_duplicates_echo_counts_no_marks() {
    let alpha = |ecn_preempts| {
        let mut bench = sender(changed!(ns3(10.0), loss.ecn_preempts = ecn_preempts), "dctcp");
        ack_of(&mut bench, 0, 1, 0, &[]);
        for n in 3..5 {
            ack_of(&mut bench, 0, 1, flag::ECE, &[(2, n)]);
        }
        ack_of(&mut bench, 0, 10, 0, &[]);
        bench.state("alpha")
    };
    assert_eq!(alpha(true), 15.0 / 16.0, "no ACK that advanced was marked");
    assert!(alpha(false) > 15.0 / 16.0);
}

/// Segments outstanding at a timeout, on a scoreboard as in ns-3 or on that of RFC 6675.
fn timed_out(ns3: bool, segments: u64, len: u32) -> Scoreboard {
    let mut board = if ns3 { Scoreboard::of_ns3(1000) } else { Scoreboard::default() };
    for n in 0..segments {
        board.sent(n * len as u64, len);
    }
    board.timed_out(0, segments * len as u64);
    board
}

/// TcpTxBuffer::MarkHeadAsLost: retransmitted segments count as lost again.
#[test]
fn a_first_segment_that_is_lost_again_counts_as_not_sent_again() {
    let next = |ns3| {
        let mut board = timed_out(ns3, 4, 1000);
        board.retransmitted(0, false);
        assert_eq!(board.pipe(), 1000);
        board.mark_first_lost();
        (board.pipe(), board.next_hole())
    };
    assert_eq!(next(true), (0, Some(Hole { seq: 0, len: 1000 })));
    assert_eq!(next(false), (1000, Some(Hole { seq: 1000, len: 1000 })));
}

/// TcpTxBuffer::MergeItems: after merging a retransmitted segment and one that was not, no part counts as
/// retransmitted.
#[test]
fn gathering_forgets_the_retransmission_of_a_part() {
    let mut board = timed_out(true, 4, 600);
    board.retransmitted(600, false);
    assert_eq!(board.pipe(), 600);
    let hole = board.next_hole().expect("the first segment is lost");
    assert_eq!(board.gather(hole, 1000), Hole { seq: 0, len: 1000 });
    assert_eq!(board.pipe(), 0, "the second segment no longer counts as sent again");
    board.retransmitted(0, false);
    assert_eq!((board.pipe(), board.next_hole()), (1000, Some(Hole { seq: 1000, len: 200 })), "its rest goes again");
}

/// A partial ACK retransmits the first segment unless a retransmission ends a full segment above the acknowledgement
/// (IsRetransmittedDataAcked), wherever the first one ends.
#[test]
fn a_partial_ack_looks_one_full_segment_ahead() {
    let after = |acked| {
        // lost segments are retransmitted, cut to 0-1000, 1000-1800 and 1800-2400
        let (mut bench, again) = short_segments(Rules::Ns3);
        let now = bench.now();
        assert_eq!(again.iter().filter(|c| c.has(flag::RETX)).count(), 3);
        let sent = bench.ack(acked, now, 0, &[]);
        sent.iter().filter(|c| c.has(flag::RETX)).map(|c| (c.packet.seq(), c.packet.len)).collect::<Vec<_>>()
    };
    // nothing ends at 1600: 600-1000 is retransmitted once more, though in flight, with 600 B of the next
    assert_eq!(after(600), [(600, 1000)]);
    // 1800-2400 ends at 2400
    assert_eq!(after(1400), []);
}

#[test]
fn what_is_cut_anew_leaves_the_number_of_fin_alone() {
    let transport = changed!(ns3(10.0), connection.handshake = true, connection.fin_with_data = false);
    let mut spec = wire(Rate::gbps(10), Time::ms(1), transport, "newreno", bulk(0, 1, Some(1500)));
    // after SYN, the handshake's last ACK and the first segment: the second, and FIN
    spec.links[0].loss = Loss::List(vec![3, 4]);
    let outcome = run(&spec);
    let data: Vec<(u64, u32)> = data_sent(&outcome, "h0").iter().map(|e| (e.seq, e.payload)).collect();
    assert_eq!(data, [(0, 1000), (1000, 500), (1000, 500)]);
    assert_eq!(outcome.flows[0].delivered, 1500);
    assert!(outcome.flows[0].finish_ps.is_some());
}
