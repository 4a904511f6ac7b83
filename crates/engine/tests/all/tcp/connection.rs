//! The handshake, its retries, and the end of a flow.

use super::*;
use incast_engine::testing::Connection;
use incast_engine::testing::Kind;

#[test]
fn a_lost_handshake_is_repeated() {
    for (what, link) in [("SYN", 3), ("SYN-ACK", 2)] {
        let transport = changed!(tcp(), connection.syn_timeout = Time::s(3));
        let mut spec = wire(Rate::gbps(1), Time::us(10), transport, "newreno", bulk(0, 1, Some(10_000)));
        spec.links[link].loss = Loss::List(vec![0]);
        let outcome = run(&spec);
        let flow = &outcome.flows[0];
        let finish = flow.finish_ps.unwrap();
        assert!(finish > 3000 * MS && finish < 3001 * MS, "{what} lost: {finish}");
        assert_eq!((flow.delivered, flow.timeouts, flow.retransmissions), (10_000, 0, 0));
        // the handshake that took 3 s is no RTT sample
        assert!(flow.rtt_min_ps.unwrap() < MS);
    }
    // both: 3 s, then 6 more
    let mut spec = wire(Rate::gbps(1), Time::us(10), tcp(), "newreno", bulk(0, 1, Some(10_000)));
    spec.links[3].loss = Loss::List(vec![0]);
    spec.links[2].loss = Loss::List(vec![0]);
    let finish = run(&spec).flows[0].finish_ps.unwrap();
    assert!(finish > 9000 * MS && finish < 9001 * MS, "{finish}");
}

#[test]
fn a_syn_ack_without_an_answer_is_repeated() {
    let transport = changed!(tcp(), connection.syn_timeout = Time::s(3), connection.syn_ack_retries = 5);
    let mut spec = wire(Rate::gbps(1), Time::us(10), transport, "newreno", bulk(0, 1, Some(10_000)));
    spec.observe.trace = vec![0];
    run_for(&mut spec, Time::s(300));
    // the first SYN arrives, and nothing else: six SYN-ACKs, each after twice the previous interval
    spec.links[3].loss = Loss::List((1..2000).collect());
    let outcome = compared(&spec);
    let sent = |place| -> Vec<u64> {
        events(&outcome, place, Happening::Send).iter().map(|e| e.time_ps / (1000 * MS)).collect()
    };
    assert_eq!(sent("h1"), [0, 3, 9, 21, 45, 93]);
    // repeated SYNs are answered too, and count
    spec.links[3].loss = Loss::List((2..2000).collect());
    spec.links[2].loss = Loss::List((0..20).collect());
    let outcome = compared(&spec);
    let answers = events(&outcome, "h1", Happening::Send).len();
    assert_eq!(answers, 6);
}

/// ns-3's `EstimateRtt` and `ProcessOptionTimestamp`: the time stamp of the first SYN is echoed, and used.
#[test]
fn a_repeated_handshake_is_a_sample_to_ns3() {
    for (scoreboard, sampled) in [(Rules::Ns3, true), (Rules::Rfc6675, false)] {
        let transport = changed!(
            tcp(),
            connection.syn_timeout = Time::s(3),
            connection.syn_ack_retries = 5,
            timing.timestamps = true,
            loss.scoreboard = scoreboard
        );
        let mut spec = wire(Rate::gbps(1), Time::us(10), transport, "newreno", bulk(0, 1, Some(10_000)));
        spec.links[2].loss = Loss::List(vec![0]);
        spec.observe.flows = vec![0];
        let outcome = compared(&spec);
        let samples = series(&outcome, "flow 0", "rtt_s");
        assert_eq!(samples[0].1 > 3.0, sampled, "{samples:?}");
        assert_eq!(outcome.flows[0].delivered, 10_000);
    }
}

#[test]
fn an_unanswered_connection_is_given_up() {
    let transport = changed!(tcp(), connection.syn_timeout = Time::s(1), connection.syn_retries = 3);
    let mut bench = bench(transport, "newreno", bulk(0, 1, Some(10_000)));
    assert!(bench.open()[0].packet.is(Kind::Syn));
    let again: Vec<u64> = bench.advance(1_000_000 * MS).iter().map(|c| c.at / MS).collect();
    assert_eq!(again, [1000, 3000, 7000]);
    assert_eq!(bench.sender().connection, Connection::Dead);
}

#[test]
fn a_flow_that_starts_late_starts_late() {
    let flow = FlowSpec { start: Time::ms(7), ..bulk(0, 1, Some(1000)) };
    let outcome = run(&wire(Rate::gbps(1), Time::us(10), tcp(), "newreno", flow));
    assert_eq!(events(&outcome, "h0", Happening::Send)[0].time_ps, 7 * MS);
    assert_eq!(outcome.flows[0].start_ps, 7 * MS);
}

/// htsim's TcpSrc: the SYN is a packet of one byte, its ACK one of any kind.
#[test]
fn a_lone_syn_is_a_byte_and_its_ack_opens_the_window() {
    let transport = changed!(htsim(), connection.lone_syn = true, sizes.syn_size = 1, output.extra_packets = 0);
    let mut spec = wire(Rate::gbps(10), Time::us(1), transport, "dctcp", bulk(0, 1, Some(40_000)));
    spec.controllers = vec![controller("dctcp", &[("form", "htsim")])];
    spec.observe.flows = vec![0];
    let o = compared(&spec);
    let sent = |place| -> Vec<(u64, u32, u32)> {
        events(&o, place, Happening::Send).iter().take(3).map(|e| (e.time_ps, e.size, e.payload)).collect()
    };
    // 1 B crosses two links of 10 Gb/s and 1 us in 2001.6 ns, 40 B in 2064 ns: then data, no third packet
    let round = 2_001_600 + 2_064_000;
    assert_eq!(sent("h0"), [(0, 1, 0), (round, 4000, 4000), (round, 4000, 4000)]);
    assert_eq!(sent("h1")[0], (2_001_600, 40, 0), "a pure ACK, as that of data");
    // an RTT sample, and one byte to the controller: 4000 * 4000 / 60000 = 266.7 B of growth
    assert_eq!(o.flows[0].rtt_min_ps, Some(round));
    let windows = series(&o, "flow 0", "cwnd_bytes");
    assert_eq!((windows[0].1, windows.iter().find(|w| w.1 > 60_000.0).copied()), (60_000.0, Some((round, 60_266.0))));
    // ten segments, a SYN, eleven ACKs: nobody closes
    assert_eq!((o.flows[0].delivered, o.packets_sent), (40_000, 1 + 10 + 11));
}

#[test]
fn neither_what_follows_the_size_nor_fin_is_goodput() {
    let goodput = |extra_packets, segments: &[(u64, u16, u16)]| {
        let transport = changed!(plain(), output.extra_packets = extra_packets, connection.fin_with_data = true);
        let mut bench = Bench::new(wire(Rate::gbps(10), Time::us(1), transport, "newreno", bulk(0, 1, Some(2500))));
        let counted = segments.iter().map(|(seq, len, flags)| {
            bench.data(*seq, *len, *flags);
            bench.record().delivered_m
        });
        counted.collect::<Vec<_>>()
    };
    // an extra packet that arrives before the data in front of it
    assert_eq!(goodput(1, &[(0, 1000, 0), (2500, 1000, 0), (1000, 1000, 0), (2000, 500, 0)]), [1000, 1000, 2000, 2500]);
    // FIN on the last segment, in order, beyond a hole, and in its own packet beyond a hole
    assert_eq!(goodput(0, &[(0, 1000, 0), (1000, 1000, 0), (2000, 500, flag::FIN)]), [1000, 2000, 2500]);
    assert_eq!(goodput(0, &[(0, 1000, 0), (2000, 500, flag::FIN), (1000, 1000, 0)]), [1000, 1500, 2500]);
    assert_eq!(goodput(0, &[(2500, 0, flag::FIN), (0, 1500, 0), (1500, 1000, 0)]), [0, 1500, 2500]);
}

#[test]
fn a_lost_last_ack_of_the_handshake_costs_nothing() {
    let finish = |lost: Loss| {
        let mut spec = wire(Rate::gbps(1), Time::us(10), tcp(), "newreno", bulk(0, 1, Some(10_000)));
        spec.links[3].loss = lost;
        let flow = run(&spec).flows[0].clone();
        (flow.finish_ps, flow.retransmissions, flow.timeouts)
    };
    // after the SYN; the data behind it opens the receiver
    assert_eq!(finish(Loss::List(vec![1])), finish(Loss::None));
}

#[test]
fn a_reset_ends_a_sender() {
    let mut bench = sender_at(changed!(initial_window(4.0), connection.handshake = true), 0);
    bench.give_sender(Kind::Syn, 0, 0, 1 << 29);
    assert_eq!(bench.sender().connection, Connection::Open);
    bench.give_sender(Kind::Rst, 0, 0, 1 << 29);
    assert_eq!(bench.sender().connection, Connection::Dead);
    assert!(bench.advance(100_000 * MS).is_empty(), "no timer sends anything");
}
