//! ECN: echoes of a receiver (RFC 3168, DCTCP), and reactions of a sender.

use super::*;

#[test]
fn two_marks_in_a_window_reduce_it_once() {
    // ns-3's tcp-ecn case: segments of 500 B, CE on two packets of a window, down to two segments
    let transport = changed!(initial_window(4.0), sizes.mss = 500, marks.ecn = Some(Ecn::Classic));
    let (mut bench, sent) = sender(transport, "newreno");
    assert_eq!(sent.len(), 4);
    assert!(sent.iter().all(|c| c.has(flag::ECT)));
    let mut ack = |n: u64, flags| bench.ack(n * 500, 100 * MS, flags, &[]);
    assert!(ack(1, flag::ECE).is_empty());
    assert!(ack(2, flag::ECE).is_empty(), "two segments are still in flight");
    let sent = ack(3, flag::ECE);
    assert_eq!(segments_of(&sent, 500), [4]);
    assert!(sent[0].has(flag::CWR), "the first new segment tells the receiver");
    let sent = ack(4, flag::ECE);
    assert_eq!(segments_of(&sent, 500), [5]);
    assert!(!sent[0].has(flag::CWR), "once");
    assert_eq!((bench.state("cwnd_bytes"), bench.state("ssthresh_bytes")), (1000.0, 1000.0));
}

#[test]
fn classic_ecn_leaves_retransmissions_and_acks_unmarked() {
    // RFC 3168 6.1.4, 6.1.5: only first transmissions of data are ECN-capable, whatever DCTCP would do
    let transport = changed!(
        initial_window(10.0),
        marks.ecn = Some(Ecn::Classic),
        marks.ect_control = true,
        connection.handshake = true
    );
    let mut spec = wire(Rate::gbps(1), Time::us(10), transport.clone(), "newreno", bulk(0, 1, Some(20_000)));
    // SYN, ACK, then data: the fourth packet is a data segment
    spec.links[0].loss = Loss::List(vec![3]);
    let outcome = run(&spec);
    let sent = || outcome.trace.iter().filter(|e| e.event == incast_record::Happening::Send);
    assert!(sent().any(|e| e.flags.contains("RETX")), "a segment was sent again");
    for e in sent() {
        let first = e.payload > 0 && !e.flags.contains("RETX");
        assert_eq!(e.flags.contains("ECT"), first, "{e:?}");
    }
    // ns-3's DCTCP: everything is ECN-capable
    let everything =
        changed!(transport, marks.ecn = Some(Ecn::Dctcp), marks.ect_control = true, connection.handshake = true);
    let outcome = run(&wire(Rate::gbps(1), Time::us(10), everything, "dctcp", bulk(0, 1, Some(20_000))));
    let sent = outcome.trace.iter().filter(|e| e.event == incast_record::Happening::Send);
    assert!(sent.clone().any(|e| e.flags.contains("SYN|ACK")) && sent.clone().any(|e| e.flags.contains("FIN")));
    assert!(sent.clone().all(|e| e.flags.contains("ECT")), "{:?}", sent.collect::<Vec<_>>());
}

#[test]
fn a_reduction_for_ecn_can_be_spread_over_a_round() {
    let transport = changed!(
        initial_window(20.0),
        marks.ecn = Some(Ecn::Dctcp),
        loss.ecn_by_prr = true,
        windows.cwnd_limited = false
    );
    let (mut bench, _) = sender(transport, "dctcp");
    let mut windows = Vec::new();
    for n in 1..=20u64 {
        bench.ack(n * 1000, 100 * MS, if n == 1 { flag::ECE } else { 0 }, &[]);
        windows.push(bench.state("cwnd_bytes") / 1000.0);
    }
    // alpha is near 1: a halving, one segment for two ACKs instead of at once
    assert!(windows[0] >= 19.0, "{windows:?}");
    // bytes owed but fewer than a segment wait for the next ACK, so two steps may come at once
    assert!(windows.windows(2).all(|w| w[1] <= w[0] && w[0] - w[1] < 2.0), "{windows:?}");
    let target = bench.state("ssthresh_bytes") / 1000.0;
    assert!((windows[19] - target).abs() <= 1.0, "{target}: {windows:?}");
    let at_once = changed!(initial_window(20.0), marks.ecn = Some(Ecn::Dctcp));
    let (mut bench, _) = sender(at_once, "dctcp");
    bench.ack(1000, 100 * MS, flag::ECE, &[]);
    assert_eq!(bench.state("cwnd_bytes"), bench.state("ssthresh_bytes"));
}

/// tcp_enter_recovery: a reduction in progress continues.
#[test]
fn a_loss_during_an_ecn_reduction_starts_no_other() {
    let transport = changed!(linux_prr(20.0), marks.ecn = Some(Ecn::Classic), loss.ecn_by_prr = true);
    let mut bench = sender_at(transport, 100 * MS);
    let echoed = segments(&bench.ack(1000, 0, flag::ECE, &[]));
    let sent: Vec<_> = (3..=6).map(|n| ack_after_100_ms(&mut bench, 1, &[(2, n)])).collect();
    // half of the 19 in flight: 9 of 20. After D segments ceil(9 D / 20) have gone, including the repair
    assert_eq!((echoed, sent), (vec![20], vec![vec![], vec![21], vec![], vec![-1]]));
}

#[test]
fn cwr_follows_reductions_for_losses_too() {
    // RFC 3168 section 6.1.2: the first new data after the reduction
    for (cwr_after_loss, expected) in [(true, 1), (false, 0)] {
        let mut bench = controlled(changed!(linux(10.0), loss.cwr_after_loss = cwr_after_loss), "dctcp", None);
        let mut sent = bench.ack(1000, 0, 0, &[(4000, 8000)]);
        for n in 9..=16u64 {
            bench.advance((20 + n) * MS);
            sent.extend(bench.ack(1000, 0, 0, &[(4000, n * 1000)]));
        }
        let said: Vec<&Caught> = sent.iter().filter(|c| c.has(flag::CWR)).collect();
        assert!(sent.iter().any(|c| c.has(flag::RETX)) && sent.iter().any(|c| !c.has(flag::RETX)));
        assert_eq!(said.len(), expected, "{:?}", segments(&sent));
        assert!(said.iter().all(|c| !c.has(flag::RETX)));
    }
}

#[test]
fn dctcp_tells_marks_run_by_run() {
    // Alizadeh et al. figure 10, m = 2: nothing is pending when packets 3 and 5 change the state
    assert_eq!(marks(dctcp(2), &[0, 0, 1, 1, 0]), [(2, false), (4, true)]);
    // packet 2 changes it with packet 1 pending
    assert_eq!(marks(dctcp(2), &[0, 1]), [(1, false)]);
    assert_eq!(marks(dctcp(2), &[0, 1, 1, 0, 0]), [(1, false), (3, true), (5, false)]);
    assert_eq!(marks(dctcp(2), &[1, 0, 1]), [(1, true), (2, false)]);
}

#[test]
fn dctcp_without_delay_copies_the_mark() {
    assert_eq!(marks(dctcp(1), &[0, 1, 0, 0]), [(1, false), (2, true), (3, false), (4, false)]);
}

#[test]
fn dctcp_may_acknowledge_the_change_at_once() {
    let linux = changed!(dctcp(2), marks.ecn_change_ack = true);
    // packet 2 flushes packet 1, then is acknowledged itself
    assert_eq!(marks(linux.clone(), &[0, 1]), [(1, false), (2, true)]);
    assert_eq!(marks(linux, &[0, 0, 1, 1, 0]), [(2, false), (3, true), (4, true), (5, false)]);
}

#[test]
fn gcn_acknowledges_marked_data_at_once_and_delays_the_rest() {
    let of = |kind, parameters| {
        let mut spec = wire(Rate::gbps(10), Time::us(1), dctcp(2), kind, bulk(0, 1, None));
        spec.controllers = vec![controller(kind, parameters)];
        answers(Bench::new(spec), &[0, 0, 1, 1, 1, 0, 1, 0, 0])
    };
    let delayed = [(2, false), (4, true), (5, true), (6, false), (7, true), (9, false)];
    assert_eq!(of("dctcp", &[]), delayed);
    let at_once = [(2, false), (3, true), (4, true), (5, true), (6, false), (7, true), (9, false)];
    assert_eq!(of("gcn", &[]), at_once);
    assert_eq!(of("gcn", &[("ack_marked", "false")]), delayed);
}

#[test]
fn dctcp_needs_no_cwr() {
    let mut bench = receiver(dctcp(1));
    assert!(bench.data(0, 1000, flag::CE)[0].has(flag::ECE), "one marked packet");
    assert!(!bench.data(1000, 1000, 0)[0].has(flag::ECE), "and no other ACK tells of it");
    assert!(bench.data(2000, 1000, flag::CE | flag::CWR)[0].has(flag::ECE), "CWR clears nothing");
}

#[test]
fn classic_ecn_echoes_until_cwr() {
    let mut bench = receiver(changed!(plain(), marks.ecn = Some(Ecn::Classic), acks.delayed_ack = 1));
    let mut ece = |seq: u64, flags| bench.data(seq * 1000, 1000, flags)[0].has(flag::ECE);
    assert!(!ece(0, 0));
    assert!(ece(1, flag::CE));
    assert!(ece(2, 0) && ece(3, 0), "unmarked packets leave the latch");
    assert!(!ece(4, flag::CWR));
    assert!(!ece(5, 0));
    assert!(ece(6, flag::CWR | flag::CE), "a mark on the packet with CWR starts over");
}

#[test]
fn without_ecn_marks_are_ignored() {
    let quiet = changed!(plain(), marks.ecn = Some(Ecn::Off), acks.delayed_ack = 1);
    assert_eq!(marks(quiet, &[1, 1]), [(1, false), (2, false)]);
}

/// __tcp_ecn_check_ce: the marked segment and the next are acknowledged at once; until CWR arrives, later marks are
/// not.
#[test]
fn the_first_mark_since_cwr_brings_two_acks_at_once() {
    let acks = |classic_quickack, ecn| {
        let transport =
            changed!(plain(), marks.ecn = Some(ecn), acks.classic_quickack = classic_quickack, acks.delayed_ack = 2);
        let mut bench = bench(transport, "newreno", bulk(0, 1, None));
        let marks = [0, flag::CE, 0, 0, flag::CE, 0, flag::CWR, flag::CE, 0];
        let data = |(n, flags): (u64, u16)| bench.data(n * 1000, 1000, flag::ECT | flags).len();
        (0..).zip(marks).map(data).collect::<Vec<_>>()
    };
    // the first waits for the second; then 1 2 | 3 | 4 5 | 6 7 | 8 | 9
    assert_eq!(acks(true, Ecn::Classic), [0, 1, 1, 0, 1, 0, 1, 1, 1]);
    assert_eq!(acks(false, Ecn::Classic), [0, 1, 0, 1, 0, 1, 0, 1, 0]);
    // DCTCP acknowledges at changes of the mark instead
    assert_eq!(acks(true, Ecn::Dctcp), acks(false, Ecn::Dctcp));
}

/// __tcp_ecn_check_ce: such a segment was probably retransmitted. Segments received before are not checked.
#[test]
fn a_segment_without_ect_after_one_with_it_brings_two_acks_at_once() {
    let acks = |classic_quickack, arrivals: &[(u64, u16)]| {
        let transport = changed!(
            plain(),
            marks.ecn = Some(Ecn::Classic),
            acks.classic_quickack = classic_quickack,
            acks.delayed_ack = 2
        );
        let mut bench = bench(transport, "newreno", bulk(0, 1, None));
        let data = |(n, flags): &(u64, u16)| bench.data(n * 1000, 1000, *flags).len();
        arrivals.iter().map(data).collect::<Vec<_>>()
    };
    let ect = flag::ECT;
    let resent = [(0, ect), (1, 0), (2, ect), (3, ect), (4, ect)];
    assert_eq!(acks(true, &resent), [0, 1, 1, 0, 1], "segment 1 and the next");
    assert_eq!(acks(false, &resent), [0, 1, 0, 1, 0]);
    assert_eq!(acks(true, &[(0, 0), (1, 0), (2, 0), (3, 0)]), [0, 1, 0, 1], "the peer sends all of it so");
    // the copy is acknowledged like every duplicate, and triggers nothing more
    for copy in [0, flag::CE] {
        assert_eq!(acks(true, &[(0, ect), (1, ect), (1, copy), (2, ect), (3, ect)]), [0, 1, 1, 0, 1]);
    }
    // a mark on the copy leaves the next mark the first
    let marked = [(0, ect), (1, ect), (1, flag::CE), (2, ect | flag::CE), (3, ect), (4, ect)];
    assert_eq!(acks(true, &marked), [0, 1, 1, 1, 1, 0]);
}

/// tcp_ecn_fallback: the flags of the first SYN that arrives count.
#[test]
fn a_syn_that_is_sent_again_opens_a_connection_without_ecn() {
    let capable = |ecn_fallback, controller, lost: Option<usize>| {
        let transport = changed!(tcp(), acks.ecn_fallback = ecn_fallback, connection.syn_timeout = Time::s(1));
        let mut spec = wire(Rate::gbps(1), Time::us(10), transport, controller, bulk(0, 1, Some(20_000)));
        spec.transports[0].marks.ecn = Some(Ecn::Classic);
        if let Some(link) = lost {
            spec.links[link].loss = Loss::List(vec![0]);
        }
        let outcome = compared(&spec);
        assert_eq!(outcome.flows[0].delivered, 20_000);
        events(&outcome, "h0", Happening::Send).iter().any(|e| e.flags.contains("ECT"))
    };
    for controller in ["newreno", "dctcp"] {
        assert!(capable(true, controller, None));
        assert!(!capable(true, controller, Some(3)), "SYN lost: the second asks for nothing");
        assert!(capable(true, controller, Some(2)), "SYN-ACK lost: the first SYN has asked");
        assert!(capable(false, controller, Some(3)), "without fallback the second asks too");
    }
}

/// tcp_enter_loss: a timeout of the SYN is a loss, and is followed by CWR if the connection has ECN all the same.
#[test]
fn after_a_syn_that_timed_out_the_first_data_carries_cwr() {
    let cwr = |cwr_after_loss, lost: Option<usize>| -> Vec<usize> {
        let transport = changed!(
            tcp(),
            loss.cwr_after_loss = cwr_after_loss,
            acks.ecn_fallback = true,
            connection.syn_timeout = Time::s(1)
        );
        let mut spec = wire(Rate::gbps(1), Time::us(10), transport, "newreno", bulk(0, 1, Some(20_000)));
        spec.transports[0].marks.ecn = Some(Ecn::Classic);
        if let Some(link) = lost {
            spec.links[link].loss = Loss::List(vec![0]);
        }
        let sent = compared(&spec);
        data_sent(&sent, "h0").iter().enumerate().filter(|(_, e)| e.flags.contains("CWR")).map(|(i, _)| i).collect()
    };
    let none: Vec<usize> = vec![];
    assert_eq!(cwr(true, Some(2)), [0], "SYN-ACK lost: ECN stays");
    assert_eq!(cwr(false, Some(2)), none);
    assert_eq!(cwr(true, Some(3)), none, "SYN lost: no ECN");
    assert_eq!(cwr(true, None), none);
}

/// __tcp_ecn_check_ce is not reached by segments received before.
#[test]
fn a_mark_on_a_copy_is_not_echoed_by_linux() {
    for (classic_quickack, echoed) in [(true, false), (false, true)] {
        let transport = changed!(
            plain(),
            marks.ecn = Some(Ecn::Classic),
            acks.classic_quickack = classic_quickack,
            acks.delayed_ack = 1
        );
        let mut bench = bench(transport, "newreno", bulk(0, 1, None));
        bench.data(0, 1000, flag::ECT);
        assert_eq!(bench.data(0, 1000, flag::ECT | flag::CE)[0].has(flag::ECE), echoed);
    }
}
