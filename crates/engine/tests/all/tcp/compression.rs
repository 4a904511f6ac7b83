//! Compressed SACKs of Linux (net/ipv4/tcp_input.c, `__tcp_ack_snd_check`).

use super::*;
use incast_engine::FlowId;
use incast_engine::testing::Kind;

#[test]
fn acks_of_what_lies_beyond_a_hole_are_compressed() {
    let linux = changed!(plain(), acks.delayed_ack = 2, loss.sack_compression = true);
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
    // three at once; the fourth waits 100 us plus a twentieth of the round trip, unknown here, and covers the others
    assert_eq!(found, [upto(10, 1), upto(20, 2), upto(30, 3), upto(140, 9)]);
    // the hole is filled: at once, and the count starts again
    let covered = |sent: Vec<Caught>| sent.iter().map(|a| a.packet.ack / 1000).collect::<Vec<u64>>();
    assert_eq!(covered(bench.data(0, 1000, 0)), [10]);
    for i in [11, 12, 13] {
        assert_eq!(covered(bench.data(i * 1000, 1000, 0)), [10]);
    }
    assert_eq!(covered(bench.data(14_000, 1000, 0)), [0u64; 0]);
    // a second block does not send them early, a third does
    assert_eq!(covered(bench.data(16_000, 1000, 0)), [0u64; 0]);
    assert_eq!(covered(bench.data(18_000, 1000, 0)), [10], "what waited, without the newest");

    // a segment that fills a part of a hole is acknowledged at once, and is none of the three
    let mut bench = receiver(linux.clone());
    let acks: Vec<usize> = [2, 4, 0, 1, 5, 6, 7, 8].map(|n| bench.data(n * 1000, 1000, 0).len()).to_vec();
    assert_eq!(acks, [1, 1, 1, 1, 1, 1, 1, 0]);

    // at most 44 wait
    let mut bench = receiver(linux);
    let sent: usize = (1..=48).map(|i| bench.data(i * 1000, 1000, 0).len()).sum();
    assert_eq!(sent, 4);
}

#[test]
fn compressed_acks_wait_for_a_part_of_the_round_trip() {
    // a twentieth of the handshake's, at most 1 ms, and 100 us
    for (rtt, wait) in [(2, 200), (10, 600), (40, 1100)] {
        let mut bench = receiver(changed!(
            plain(),
            acks.delayed_ack = 2,
            loss.sack_compression = true,
            connection.handshake = true
        ));
        bench.give_receiver(Kind::Syn, 0, 0);
        bench.advance(rtt * MS);
        (1..=4).for_each(|n| drop(bench.data(n * 1000, 1000, 0)));
        let sent = bench.advance(1000 * MS);
        assert_eq!(sent.iter().map(|a| a.at - rtt * MS).collect::<Vec<_>>(), [wait * 1_000_000], "{rtt} ms");
    }
}

#[test]
fn compressed_acks_of_a_host_go_with_the_first_timer_that_fires() {
    // two flows to one host, the second with a handshake of `rtt` us; the fourth segment beyond a hole waits at each:
    // the first flow's from 0, due at 0 and, with the slack, at 100 us, the second's from 60 us
    let late = |rtt: u64, filled: bool| {
        let t = changed!(plain(), acks.delayed_ack = 2, loss.sack_compression = true);
        let mut spec = wire(Rate::gbps(10), Time::us(1), t, "newreno", bulk(0, 1, None));
        spec.flows.push(spec.flows[0].clone());
        let mut bench = Bench::new(spec);
        let start = 10_000 * US;
        bench.advance(start - rtt * US);
        bench.give_receiver(Kind::Syn, 1, 0);
        bench.advance(start);
        let second = |b: &mut Bench, n: u64| b.give_segment(n * 1000, 1000, |p| p.flow = FlowId(1));
        (1..=3).for_each(|n| drop(second(&mut bench, n)));
        (1..=4).for_each(|n| drop(bench.data(n * 1000, 1000, 0)));
        bench.advance(start + 60 * US);
        assert!(second(&mut bench, 4).is_empty());
        if filled {
            assert_eq!(second(&mut bench, 0).len(), 1);
        }
        let sent = bench.advance(start + 5000 * US);
        sent.iter().map(|a| (a.packet.flow.0, (a.at - start) / US)).collect::<Vec<_>>()
    };
    assert_eq!(late(0, false), [(0, 100), (1, 100)], "due at 60 us: it goes along");
    assert_eq!(late(2000, false), [(0, 100), (1, 260)], "due at 160 us: it does not");
    assert_eq!(late(0, true), [(0, 100)], "nothing waits any more");
}
