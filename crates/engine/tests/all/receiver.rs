//! What a receiver answers: delayed ACKs, ECN echo, SACK blocks, advertised window, reassembly of
//! fragments. Most of it on a bench, packet by packet; the window and fragments on a network.

use crate::bench::{Bench, Caught};
use crate::net::*;
use incast_cc::{Ecn, Rate, Time};
use incast_engine::spec::*;
use incast_engine::testing::flag;
use incast_record::Happening;

const MS: u64 = 1_000_000_000;

/// A receiver without handshake, segments of 1000 B.
fn plain() -> TransportSpec {
    TransportSpec { handshake: false, mss: 1000, header: 40, ack_size: 40, ..tcp() }
}

fn receiver(transport: TransportSpec) -> Bench {
    Bench::new(wire(Rate::gbps(10), Time::us(1), transport, "newreno", bulk(0, 1, None)))
}

/// Feeds full segments with the marks given; every ACK as (segments it covers, ECE).
fn marks(transport: TransportSpec, marks: &[u8]) -> Vec<(u64, bool)> {
    answers(receiver(transport), marks)
}

fn answers(mut bench: Bench, marks: &[u8]) -> Vec<(u64, bool)> {
    let mut acks = Vec::new();
    for (i, mark) in marks.iter().enumerate() {
        bench.advance(i as u64 * 1_000_000);
        let flags = if *mark == 1 { flag::CE | flag::ECT } else { flag::ECT };
        let sent = bench.data(i as u64 * 1000, 1000, flags);
        acks.extend(sent.iter().map(|a| (a.packet.ack / 1000, a.has(flag::ECE))));
    }
    acks
}

fn dctcp(delayed_ack: u32) -> TransportSpec {
    TransportSpec { ecn: Some(Ecn::Dctcp), delayed_ack, ..plain() }
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
    let linux = TransportSpec { ecn_change_ack: true, ..dctcp(2) };
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
    let mut bench = receiver(TransportSpec { ecn: Some(Ecn::Classic), delayed_ack: 1, ..plain() });
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
    let quiet = TransportSpec { ecn: Some(Ecn::Off), delayed_ack: 1, ..plain() };
    assert_eq!(marks(quiet, &[1, 1]), [(1, false), (2, false)]);
}

#[test]
fn acks_are_delayed_by_count() {
    for m in [1, 2, 4] {
        let acks = marks(TransportSpec { delayed_ack: m, ..plain() }, &[0; 8]);
        let expected: Vec<(u64, bool)> = (1..=8 / m as u64).map(|i| (i * m as u64, false)).collect();
        assert_eq!(acks, expected, "one ACK for {m} segments");
    }
}

#[test]
fn acks_are_delayed_at_most_by_the_timeout() {
    let mut bench = receiver(TransportSpec { delayed_ack: 2, delayed_ack_timeout: Time::ms(40), ..plain() });
    assert!(bench.data(0, 1000, 0).is_empty());
    bench.advance(10 * MS);
    assert_eq!(bench.data(1000, 1000, 0).len(), 1);
    // the timer of the first segment has nothing to do any more
    bench.advance(20 * MS);
    assert!(bench.data(2000, 1000, 0).is_empty());
    let late = bench.advance(200 * MS);
    let found: Vec<(u64, u64)> = late.iter().map(|a| (a.at, a.packet.ack)).collect();
    assert_eq!(found, [(60 * MS, 3000)], "40 ms after the segment that waits");
}

#[test]
fn acks_of_what_lies_beyond_a_hole_are_compressed() {
    const US: u64 = 1_000_000;
    let linux = TransportSpec { delayed_ack: 2, sack_compression: true, ..plain() };
    let mut bench = receiver(linux.clone());
    // segment 0 is missing; one of the others comes every 10 us
    let mut acks = Vec::new();
    for i in 1..=9 {
        acks.extend(bench.advance(i * 10 * US));
        acks.extend(bench.data(i * 1000, 1000, 0));
    }
    acks.extend(bench.advance(1000 * US));
    let found: Vec<(u64, Vec<(u64, u64)>)> = acks.iter().map(|a| (a.at / US, a.blocks())).collect();
    let upto = |at: u64, segments: u64| (at, vec![(1000, (segments + 1) * 1000)]);
    // three at once; the fourth waits 100 us and the twentieth of a round trip unknown here, and takes the others along
    assert_eq!(found, [upto(10, 1), upto(20, 2), upto(30, 3), upto(140, 9)]);
    // the hole is filled: at once, and the count begins anew
    let covered = |sent: Vec<Caught>| sent.iter().map(|a| a.packet.ack / 1000).collect::<Vec<u64>>();
    assert_eq!(covered(bench.data(0, 1000, 0)), [10]);
    for i in [11, 12, 13] {
        assert_eq!(covered(bench.data(i * 1000, 1000, 0)), [10]);
    }
    assert_eq!(covered(bench.data(14_000, 1000, 0)), [0u64; 0]);
    // a second block does not hurry them, a third does
    assert_eq!(covered(bench.data(16_000, 1000, 0)), [0u64; 0]);
    assert_eq!(covered(bench.data(18_000, 1000, 0)), [10], "what waited, without the newest");

    // what fills a part of a hole is acknowledged at once, and is none of the three
    let mut bench = receiver(linux.clone());
    let acks: Vec<usize> = [2, 4, 0, 1, 5, 6, 7, 8].map(|n| bench.data(n * 1000, 1000, 0).len()).to_vec();
    assert_eq!(acks, [1, 1, 1, 1, 1, 1, 1, 0]);

    // 44 wait at most
    let mut bench = receiver(linux);
    let sent: usize = (1..=48).map(|i| bench.data(i * 1000, 1000, 0).len()).sum();
    assert_eq!(sent, 4);
}

#[test]
fn a_connection_starts_with_quick_acks() {
    // Linux: 16 segments one by one, then every second
    let acks = marks(TransportSpec { quickack: 16, delayed_ack: 2, ..plain() }, &[0; 20]);
    let covered: Vec<u64> = acks.iter().map(|a| a.0).collect();
    assert_eq!(covered, (1..=16).chain([18, 20]).collect::<Vec<u64>>());
}

#[test]
fn a_duplicate_begins_quick_acks_anew() {
    let mut bench = receiver(TransportSpec { quickack: 2, delayed_ack: 2, ..plain() });
    let acks: Vec<usize> = [0, 1, 2, 3, 4, 0, 5, 6, 7, 8].map(|n| bench.data(n * 1000, 1000, 0).len()).to_vec();
    // two at once, then every second; the duplicate takes one of two, what follows the other
    assert_eq!(acks, [1, 1, 0, 1, 0, 1, 1, 0, 1, 0]);
}

#[test]
fn compressed_acks_wait_for_a_part_of_the_round_trip() {
    // a twentieth of the handshake's, at most 1 ms, and 100 us
    for (rtt, wait) in [(2, 200), (10, 600), (40, 1100)] {
        let mut bench = receiver(TransportSpec { delayed_ack: 2, sack_compression: true, handshake: true, ..plain() });
        bench.give_receiver(|p| p.flags = flag::SYN);
        bench.advance(rtt * MS);
        (1..=4).for_each(|n| drop(bench.data(n * 1000, 1000, 0)));
        let sent = bench.advance(1000 * MS);
        assert_eq!(sent.iter().map(|a| a.at - rtt * MS).collect::<Vec<_>>(), [wait * 1_000_000], "{rtt} ms");
    }
}

#[test]
fn compressed_acks_of_a_host_go_with_the_first_timer_that_fires() {
    const US: u64 = 1_000_000;
    // two flows to one host, the second with a handshake of `rtt` us; the fourth segment beyond a hole of each
    // waits: the first's from 0, due at 0 and, with the slack, at 100 us, the second's from 60 us
    let late = |rtt: u64, filled: bool| {
        let t = TransportSpec { delayed_ack: 2, sack_compression: true, ..plain() };
        let mut spec = wire(Rate::gbps(10), Time::us(1), t, "newreno", bulk(0, 1, None));
        spec.flows.push(spec.flows[0].clone());
        let mut bench = Bench::new(spec);
        let start = 10_000 * US;
        bench.advance(start - rtt * US);
        bench.give_receiver(|p| (p.flow, p.flags) = (1, flag::SYN));
        bench.advance(start);
        let second = |b: &mut Bench, n: u64| {
            b.give_receiver(|p| (p.flow, p.seq, p.len, p.size, p.flags) = (1, n * 1000, 1000, 1040, flag::DATA))
        };
        (1..=3).for_each(|n| drop(second(&mut bench, n)));
        (1..=4).for_each(|n| drop(bench.data(n * 1000, 1000, 0)));
        bench.advance(start + 60 * US);
        assert!(second(&mut bench, 4).is_empty());
        if filled {
            assert_eq!(second(&mut bench, 0).len(), 1);
        }
        let sent = bench.advance(start + 5000 * US);
        sent.iter().map(|a| (a.packet.flow, (a.at - start) / US)).collect::<Vec<_>>()
    };
    assert_eq!(late(0, false), [(0, 100), (1, 100)], "due at 60 us: it goes along");
    assert_eq!(late(2000, false), [(0, 100), (1, 260)], "due at 160 us: it does not");
    assert_eq!(late(0, true), [(0, 100)], "nothing waits any more");
}

#[test]
fn fragments_of_a_number_that_comes_again_belong_to_the_later_packet() {
    let t = TransportSpec { mtu: 500, ..plain() };
    let fragment = |b: &mut Bench, id: u16, seq: u64, i: u8| {
        let sent = b.give_receiver(|p| {
            (p.seq, p.len, p.flags, p.id, p.aux) = (seq, 1000, flag::DATA, id, i | 1 << 4);
        });
        sent.len()
    };
    // the packet of number 7 loses a fragment; 65,536 packets later its number comes again
    for (lost, again) in [(0, [0, 1]), (1, [0, 1]), (0, [1, 0])] {
        let mut bench = receiver(t.clone());
        assert_eq!(fragment(&mut bench, 7, 0, 1 - lost), 0);
        for id in [20_000, 40_000, 60_000] {
            assert_eq!((fragment(&mut bench, id, 1000, 0), fragment(&mut bench, id, 1000, 1)), (0, 1));
        }
        assert_eq!(again.map(|i| fragment(&mut bench, 7, 2000, i)), [0, 1], "{lost} lost");
    }
    // ... at once, where no other came between
    let mut bench = receiver(t);
    assert_eq!([0, 0, 1].map(|i| fragment(&mut bench, 7, 1000, i)), [0, 0, 1]);
}

#[test]
fn disorder_is_acknowledged_at_once() {
    let mut bench = receiver(TransportSpec { delayed_ack: 2, ..plain() });
    let acks = |sent: Vec<Caught>| sent.iter().map(|a| a.packet.ack).collect::<Vec<u64>>();
    assert_eq!(acks(bench.data(0, 1000, 0)), [0u64; 0]);
    assert_eq!(acks(bench.data(2000, 1000, 0)), [1000], "above a hole");
    assert_eq!(acks(bench.data(5000, 1000, 0)), [1000], "a second hole");
    assert_eq!(acks(bench.data(1000, 1000, 0)), [3000], "a hole closed, another left");
    assert_eq!(acks(bench.data(3000, 1000, 0)), [4000], "part of a hole");
    assert_eq!(acks(bench.data(4000, 1000, 0)), [6000], "the last hole closed");
    assert_eq!(acks(bench.data(6000, 1000, 0)), [0u64; 0], "in order again");
    assert_eq!(acks(bench.data(2000, 1000, 0)), [7000], "a duplicate");
    assert_eq!(bench.record().delivered, 7000);
}

#[test]
fn sack_blocks_come_newest_first() {
    let mut bench = receiver(plain());
    let segment = |b: &mut Bench, n: u64| b.data(n * 1000, 1000, 0)[0].blocks();
    let kb = |blocks: &[(u64, u64)]| blocks.iter().map(|(a, b)| (a * 1000, b * 1000)).collect::<Vec<_>>();
    assert_eq!(segment(&mut bench, 2), kb(&[(2, 3)]));
    assert_eq!(segment(&mut bench, 4), kb(&[(4, 5), (2, 3)]));
    assert_eq!(segment(&mut bench, 8), kb(&[(8, 9), (4, 5), (2, 3)]));
    assert_eq!(segment(&mut bench, 3), kb(&[(2, 5), (8, 9)]), "the block that grew comes first, once");
    assert_eq!(segment(&mut bench, 6), kb(&[(6, 7), (2, 5), (8, 9)]));
    bench.data(0, 1000, 0);
    assert_eq!(segment(&mut bench, 1), kb(&[(6, 7), (8, 9)]), "what the ACK covers is no block");
    assert_eq!(bench.data(5000, 1000, 0)[0].blocks(), kb(&[(8, 9)]));
    assert!(bench.data(7000, 1000, 0)[0].blocks().is_empty());
}

#[test]
fn what_comes_again_is_reported_first() {
    // RFC 2883: a first block below the acknowledgement, or inside the second one
    let mut bench = receiver(TransportSpec { dsack: true, ..plain() });
    bench.data(0, 1000, 0);
    assert_eq!(bench.data(0, 1000, 0)[0].blocks(), [(0, 1000)]);
    assert_eq!(bench.data(2000, 1000, 0)[0].blocks(), [(2000, 3000)], "once");
    bench.data(3000, 1000, 0);
    assert_eq!(bench.data(2000, 1000, 0)[0].blocks(), [(2000, 3000), (2000, 4000)]);
    let mut silent = receiver(plain());
    silent.data(0, 1000, 0);
    assert!(silent.data(0, 1000, 0)[0].blocks().is_empty());
}

#[test]
fn without_sack_there_are_no_blocks() {
    let mut bench = receiver(TransportSpec { sack: false, ..plain() });
    assert!(bench.data(2000, 1000, 0)[0].blocks().is_empty());
}

#[test]
fn an_ack_echoes_the_earliest_time_it_covers() {
    let mut bench = receiver(TransportSpec { delayed_ack: 2, ..plain() });
    let at = |b: &mut Bench, seq, ts| {
        b.give_receiver(|p| {
            (p.seq, p.len, p.size, p.ts, p.flags) = (seq, 1000, 1040, ts, flag::DATA);
        })
    };
    bench.advance(MS);
    at(&mut bench, 0, 100);
    assert_eq!(at(&mut bench, 1000, 200)[0].packet.ts, 100, "delayed: the first of the two");
    assert_eq!(at(&mut bench, 3000, 300)[0].packet.ts, 300);
    assert_eq!(at(&mut bench, 2000, 400)[0].packet.ts, 400, "the retransmission that filled the hole");
}

#[test]
fn the_window_is_the_free_buffer_from_the_next_byte_on() {
    let mut bench = receiver(TransportSpec { receive_buffer: 60_000, delayed_ack: 1, ..plain() });
    let window = |sent: Vec<Caught>| (sent[0].packet.ack, sent[0].packet.wnd);
    assert_eq!(window(bench.data(0, 1000, 0)), (1000, 60_000));
    // what lies beyond a hole lies inside the window: its right edge stays
    assert_eq!(window(bench.data(2000, 1000, 0)), (1000, 60_000));
    assert_eq!(window(bench.data(5000, 1000, 0)), (1000, 60_000));
    assert_eq!(window(bench.data(1000, 1000, 0)), (3000, 60_000), "and moves on with the next byte");
}

#[test]
fn a_window_without_scaling_ends_at_65535() {
    let wide = TransportSpec { receive_buffer: 1 << 20, delayed_ack: 1, ..plain() };
    let mut bench = receiver(TransportSpec { window_scaling: false, ..wide.clone() });
    assert_eq!(bench.data(0, 1000, 0)[0].packet.wnd, 65_535);
    let mut bench = receiver(wide.clone());
    assert_eq!(bench.data(0, 1000, 0)[0].packet.wnd, 1 << 20, "1 MiB in units of 32 B");
    let mut bench = receiver(wide);
    let syn = bench.give_receiver(|p| p.flags = flag::SYN);
    assert!(syn[0].has(flag::SYN | flag::ACK));
    assert_eq!(syn[0].packet.wnd, 65_535, "the window of a SYN-ACK is not scaled");
}

#[test]
fn a_slow_reader_shuts_the_window_and_opens_it_in_steps() {
    // 8 Mb/s are 1000 B a millisecond
    let spec = TransportSpec { receive_buffer: 4000, delayed_ack: 1, ..plain() };
    let slow = FlowSpec { read_rate: Rate::mbps(8), ..bulk(0, 1, None) };
    let mut bench = Bench::new(wire(Rate::gbps(10), Time::us(1), spec, "newreno", slow));
    let windows: Vec<u32> = (0..4).map(|n| bench.data(n * 1000, 1000, 0)[0].packet.wnd).collect();
    assert_eq!(windows, [3000, 2000, 1000, 0]);
    // silly-window avoidance: the edge moves by a whole segment at once
    let updates = bench.advance(5 * MS);
    let found: Vec<(u64, u64, u32)> = updates.iter().map(|a| (a.at / MS, a.packet.ack, a.packet.wnd)).collect();
    assert_eq!(found[0], (1, 4000, 1000), "the first update after one segment was read");
    assert!(found.iter().all(|u| u.2 % 1000 == 0 && u.2 > 0), "{found:?}");
}

#[test]
fn a_shut_window_is_probed_until_it_opens() {
    // The reader takes 1000 B in 400 ms, the persist timer fires after 100 and then 200 ms.
    let spec = TransportSpec {
        receive_buffer: 4000,
        delayed_ack: 1,
        persist_timeout: Time::ms(100),
        rto_min: Time::s(1),
        ..plain()
    };
    let slow = FlowSpec { read_rate: Rate(20_000), ..bulk(0, 1, Some(8000)) };
    let outcome = judged(&wire(Rate::gbps(1), Time::us(10), spec, "newreno", slow));
    let probes: Vec<u64> = events(&outcome, "h0", Happening::Send)
        .iter()
        .filter(|e| e.payload == 0 && !e.flags.contains("SYN"))
        .map(|e| (e.time_ps + MS / 2) / MS)
        .collect();
    assert_eq!(&probes[..2], [100, 300], "probes back off: {probes:?}");
    let flow = &outcome.flows[0];
    assert_eq!((flow.delivered, flow.retransmissions), (8000, 0));
    // 4000 B fill the buffer; the other four segments wait for 400 ms of reading each
    let done = flow.finish_ps.unwrap() / MS;
    assert!((1600..1700).contains(&done), "{done} ms");
}

#[test]
fn fragments_make_one_segment() {
    let mut bench = receiver(TransportSpec { ecn: Some(Ecn::Dctcp), mss: 4000, mtu: 1500, delayed_ack: 1, ..plain() });
    // 4020 B of IP payload: 1480, 1480 and 1060 B
    let fragment = |b: &mut Bench, id: u16, i: u8, ce: bool| {
        b.give_receiver(|p| {
            (p.id, p.seq, p.len, p.size) = (id, id as u64 * 4000, 4000, 1500);
            (p.aux, p.flags) = (i | 2 << 4, flag::DATA | if ce { flag::CE } else { 0 });
        })
    };
    assert!(fragment(&mut bench, 0, 0, true).is_empty() && fragment(&mut bench, 0, 1, true).is_empty());
    let ack = fragment(&mut bench, 0, 2, false);
    assert_eq!(ack[0].packet.ack, 4000);
    assert!(!ack[0].has(flag::ECE), "the ECN field is that of the fragment that completes the segment");
    // interleaved, and out of order
    for (id, i) in [(1, 2), (2, 0), (1, 0), (2, 2)] {
        assert!(fragment(&mut bench, id, i, false).is_empty());
    }
    assert_eq!(fragment(&mut bench, 1, 1, false)[0].packet.ack, 8000);
    let ack = fragment(&mut bench, 2, 1, true);
    assert_eq!(ack[0].packet.ack, 12_000);
    assert!(ack[0].has(flag::ECE));
    assert_eq!(bench.record().arrived, 3);
}

#[test]
fn a_lost_fragment_loses_the_segment() {
    // delayed ACKs would leave the last segment to a timeout
    let transport = TransportSpec { mss: 1460, mtu: 1500, header: 52, handshake: false, delayed_ack: 1, ..tcp() };
    let mut spec = wire(Rate::gbps(1), Time::us(10), transport, "newreno", bulk(0, 1, Some(146_000)));
    // every segment is 1500 + 32 B of fragments; the second fragment of segment 3 is lost
    spec.links[3].loss = Loss::List(vec![5]);
    let outcome = judged(&spec);
    let flow = &outcome.flows[0];
    assert_eq!((flow.sent, flow.arrived, flow.dropped, flow.retransmissions), (101, 100, 1, 1));
    assert_eq!(flow.delivered, 146_000);
    let again: Vec<u64> =
        data_sent(&outcome, "h0").iter().filter(|e| e.flags.contains("RETX")).map(|e| e.seq).collect();
    assert_eq!(again, [2 * 1460, 2 * 1460], "both fragments of it, once");
    let sizes: Vec<u32> = data_sent(&outcome, "h0").iter().take(2).map(|e| e.size).collect();
    assert_eq!(sizes, [1500, 32]);
}

#[test]
fn neither_what_follows_the_size_nor_fin_is_goodput() {
    let goodput = |extra_packets, segments: &[(u64, u16, u16)]| {
        let transport = TransportSpec { extra_packets, fin_with_data: true, ..plain() };
        let mut bench = Bench::new(wire(Rate::gbps(10), Time::us(1), transport, "newreno", bulk(0, 1, Some(2500))));
        let counted = segments.iter().map(|(seq, len, flags)| {
            bench.data(*seq, *len, *flags);
            bench.record().delivered_m
        });
        counted.collect::<Vec<_>>()
    };
    // an extra packet that comes before what it follows
    assert_eq!(goodput(1, &[(0, 1000, 0), (2500, 1000, 0), (1000, 1000, 0), (2000, 500, 0)]), [1000, 1000, 2000, 2500]);
    // FIN on the last segment, in order, beyond a hole, and beyond one by itself
    assert_eq!(goodput(0, &[(0, 1000, 0), (1000, 1000, 0), (2000, 500, flag::FIN)]), [1000, 2000, 2500]);
    assert_eq!(goodput(0, &[(0, 1000, 0), (2000, 500, flag::FIN), (1000, 1000, 0)]), [1000, 1500, 2500]);
    assert_eq!(goodput(0, &[(2500, 0, flag::FIN), (0, 1500, 0), (1500, 1000, 0)]), [0, 1500, 2500]);
}
