//! Classes of packets by the bytes sent before them (PIAS), counted by hand.

use crate::support::*;

/// Full segments of the authors' simulations: 1460 bytes and 40 of headers.
const MSS: u64 = 1460;
/// The authors' sizes for web search and data mining at a load of 0.8, in segments (HKUST-SING/PIAS-NS2,
/// run_pias_dctcp.py and run_pias_vl2.py).
const WEB_SEARCH: [u64; 7] = [909, 1329, 1648, 1960, 2143, 2337, 2484];
const DATA_MINING: [u64; 7] = [745, 1083, 1391, 13_689, 14_936, 21_149, 27_245];

/// A transport that acknowledges every segment, with classes by `sizes`.
fn pias(sizes: &[u64]) -> TransportSpec {
    changed!(plain(), output.demotion = sizes.to_vec(), sizes.mss = MSS as u32, sizes.mtu = 0)
}

fn segments(of: [u64; 7]) -> Vec<u64> {
    of.iter().map(|n| n * MSS).collect()
}

/// A star at 10 Gb/s whose queues have one class more than there are sizes, in strict priority, each with the same
/// limit.
fn priorities(hosts: u32, transport: TransportSpec, limit: Limit) -> Spec {
    let mut spec = star(hosts, Rate::gbps(10), Time::us(1));
    let class = queue(ecn_threshold(65), limit);
    spec.queues = vec![classes(Scheduler::Strict, vec![class; transport.output.demotion.len() + 1])];
    spec.transports = vec![transport];
    spec.controllers = vec![controller("dctcp", &[])];
    spec
}

/// A flow whose last bytes have the lowest class, and whose ACKs the highest.
fn flow(spec: &Spec, src: u32, dst: u32, size: u64) -> FlowSpec {
    FlowSpec { class: spec.transports[0].output.demotion.len() as u8, ..bulk(src, dst, Some(size)) }
}

/// Packets of each class at the port named `port`.
fn packets(o: &Outcome, port: &str) -> Vec<u64> {
    let port = o.ports.iter().find(|p| &*p.name == port).unwrap();
    port.classes.iter().map(|class| class.packets).collect()
}

/// Packets of each class that a transfer of `size` bytes alone sends.
fn sent(sizes: [u64; 7], size: u64) -> Vec<u64> {
    let mut spec = priorities(2, pias(&segments(sizes)), Limit::None);
    spec.flows = vec![flow(&spec, 0, 1, size)];
    let o = compared(&spec);
    assert_eq!(packets(&o, "s>h1"), packets(&o, "h0>s"), "every port of the way has the same classes");
    assert_eq!((o.flows[0].delivered, o.flows[0].retransmissions), (size, 0));
    // the ACKs of all of them have the highest class
    let back = packets(&o, "s>h0");
    assert_eq!(back, [vec![packets(&o, "h0>s").iter().sum()], vec![0; 7]].concat());
    packets(&o, "h0>s")
}

#[test]
fn a_transfer_falls_a_class_with_every_size_that_it_exceeds() {
    // 3 MB are 2055 segments; the first byte after 909 * 1460 = 1327140 has class 1, those after 1960 * 1460 class 4
    assert_eq!(sent(WEB_SEARCH, 3_000_000), [909, 420, 319, 312, 95, 0, 0, 0]);
    // the last byte of a class is the one at its size; one byte more is a packet of the next class
    assert_eq!(sent(WEB_SEARCH, 1_327_140), [909, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(sent(WEB_SEARCH, 1_327_141), [909, 1, 0, 0, 0, 0, 0, 0]);
    // 685 segments are below the first size of both, 745 * 1460 = 1087700 of the second
    assert_eq!(sent(WEB_SEARCH, 1_000_000), [685, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(sent(DATA_MINING, 1_000_000), [685, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(sent(DATA_MINING, 3_000_000), [745, 338, 308, 664, 0, 0, 0, 0]);
    // bytes beyond the last size have the lowest class: 4 MB are 2740 segments
    assert_eq!(sent(WEB_SEARCH, 4_000_000), [909, 420, 319, 312, 183, 194, 147, 256]);
}

#[test]
fn a_segment_has_the_class_of_its_first_byte() {
    let mut spec = priorities(2, pias(&[1, 2_000, 2_920]), Limit::None);
    spec.flows = vec![flow(&spec, 0, 1, 5 * MSS)];
    // segments begin at 0, 1460, 2920, 4380, 5840: below 1, below 2000, and beyond 2920
    assert_eq!(packets(&compared(&spec), "h0>s"), [1, 1, 0, 3]);
}

#[test]
fn syn_and_fin_have_the_class_of_what_goes_before_them() {
    let transport = changed!(pias(&[2 * MSS, 4 * MSS]), connection.handshake = true);
    // the SYN, the ACK of the SYN-ACK and the first two segments; FIN belongs to the last segment and takes a number,
    // after which the last ACK goes
    for (segments, expected) in [(2, [4 + 1, 1, 0]), (3, [4, 1 + 2, 0]), (5, [4, 2, 1 + 2])] {
        let mut spec = priorities(2, transport.clone(), Limit::None);
        spec.flows = vec![flow(&spec, 0, 1, segments * MSS)];
        assert_eq!(packets(&compared(&spec), "h0>s"), expected, "{segments} segments");
    }
}

#[test]
fn writes_and_responses_begin_anew() {
    // ten writes of five segments each: two above the size, three below
    let mut spec = priorities(2, pias(&[2 * MSS]), Limit::None);
    let app = ClosedLoop { write: 5 * MSS, outstanding: 1, think: Time::us(10), count: Some(10) };
    spec.flows = vec![FlowSpec { app: App::ClosedLoop(app), class: 1, ..bulk(0, 1, None) }];
    assert_eq!(packets(&compared(&spec), "h0>s"), [20, 30]);

    // three queries to two workers: a request of 100 bytes, a response of five segments
    let mut spec = asking(2, 5 * MSS, pias(&[2 * MSS]));
    spec.queues = vec![classes(Scheduler::Strict, vec![endless_queue(); 2])];
    spec.flows.iter_mut().for_each(|f| f.class = 1);
    let o = compared(&spec);
    assert_eq!(messages(&o, MessageKind::Query).iter().filter(|m| m.finish_ps.is_some()).count(), 3);
    // ACKs of requests may ride on responses, those of responses have the highest class
    let up = packets(&o, "h1>s");
    assert_eq!(up[1], 3 * 3, "{up:?}");
    assert!((6..=9).contains(&up[0]), "{up:?}");
}

/// A sender of 20 kB in packets of 1000 bytes, six of them at first.
fn six_at_first(demotion: [u64; 2], by: Rank) -> Bench {
    let transport =
        changed!(plain(), output.demotion = demotion.to_vec(), output.demotion_by = by, windows.initial_window = 6.0);
    let mut spec = wire(Rate::gbps(10), Time::us(1), transport, "newreno", bulk(0, 1, Some(20_000)));
    spec.queues = vec![endless_queue(), classes(Scheduler::Strict, vec![endless_queue(); 3])];
    spec.links[2..].iter_mut().for_each(|l| l.queue = 1);
    spec.flows[0].class = 2;
    Bench::new(spec)
}

/// Start and class of each packet.
fn class(sent: &[Caught]) -> Vec<(u64, u8)> {
    sent.iter().map(|c| (c.packet.seq(), c.packet.own_class().unwrap_or(2))).collect()
}

#[test]
fn by_size_all_packets_have_one_class_and_by_what_is_left_they_rise() {
    let classes = |demotion, by| {
        let mut bench = six_at_first(demotion, by);
        let first = bench.open();
        let next = bench.ack(1_000, first[0].at, 0, &[]);
        assert_eq!((first.len(), class(&next)[0].0), (6, 6_000));
        let of = |sent: &[Caught]| class(sent).iter().map(|c| c.1).collect::<Vec<_>>();
        (of(&first), of(&next)[0])
    };
    // 20 kB are below 20,001 and not below 20,000
    assert_eq!(classes([20_000, 20_001], Rank::Size), (vec![1; 6], 1));
    assert_eq!(classes([20_001, 30_000], Rank::Size), (vec![0; 6], 0));
    assert_eq!(classes([1_000, 20_000], Rank::Size), (vec![2; 6], 2));
    // nothing is acknowledged when the first six leave, and 19 kB are left when the seventh does
    assert_eq!(classes([19_001, 20_001], Rank::Remaining), (vec![1; 6], 0));
    assert_eq!(classes([19_000, 20_000], Rank::Remaining), (vec![2; 6], 1));
}

#[test]
fn what_goes_again_has_the_class_of_its_place() {
    let mut bench = six_at_first([1_000, 3_000], Rank::Sent);
    let sent = bench.open();
    assert_eq!(class(&sent), [(0, 0), (1_000, 1), (2_000, 1), (3_000, 2), (4_000, 2), (5_000, 2)]);
    // without answers the first is retransmitted
    let again = bench.advance(sent[0].at + 1_100 * MS);
    assert_eq!(class(&again)[0], (0, 0), "{again:?}");
    // the second is missing: its retransmission has the same class
    let ts = again[0].at;
    let sent = bench.ack(1_000, ts, 0, &[]);
    assert_eq!(class(&sent)[0], (1_000, 1), "{sent:?}");
}

#[test]
fn short_transfers_pass_long_ones_of_which_nobody_said_how_long_they_are() {
    // four senders of 5 MB each fill the port of h5; 20 kB come at 3 ms, when all of them are in the lowest class
    let all = |sizes: &[u64]| {
        let mut spec = priorities(6, pias(sizes), Limit::Packets(240));
        spec.flows = (0..4).map(|src| flow(&spec, src, 5, 5_000_000)).collect();
        spec.flows.push(FlowSpec { start: Time::ms(3), ..flow(&spec, 4, 5, 20_000) });
        let o = compared(&spec);
        assert!(o.flows.iter().all(|f| Some(f.delivered) == f.size), "{:?}", o.flows);
        let short = &o.flows[4];
        (short.finish_ps.unwrap() - short.start_ps, o.flows.iter().filter_map(|f| f.finish_ps).max().unwrap())
    };
    // 14 segments of 1460 and 40 bytes: an initial window of ten, the other four a round trip of 7 us later; each waits
    // for at most one packet of a lower class, 1.2 us
    let alone = 14 * 1_200_000 + 2 * 7_000_000;
    let (first, end) = all(&[100_000, 1_000_000]);
    assert!(first < alone + 2 * 1_200_000, "{first}");
    // among equals it waits for the queue that DCTCP leaves, and the link is equally busy in both
    let (among, same) = all(&[]);
    assert!(among > 2 * first, "{among} {first}");
    assert!(end.abs_diff(same) < same / 100, "{end} {same}");
}

#[test]
fn sizes_that_do_not_rise_are_refused() {
    for sizes in [vec![0], vec![5, 5], vec![5, 4], (1..=8).collect()] {
        let mut spec = priorities(2, pias(&[]), Limit::None);
        spec.transports[0].output.demotion = sizes;
        let error = incast_engine::run(&spec, &mut |_| true).unwrap_err().to_string();
        assert!(error.contains("demotion = ["), "{error}");
    }
    let mut spec = priorities(2, pias(&[1_000]), Limit::None);
    spec.flows = vec![FlowSpec { class: 2, ..bulk(0, 1, Some(1)) }];
    let error = incast_engine::run(&spec, &mut |_| true).unwrap_err().to_string();
    assert!(error.contains("has 2 classes, but flows use class 2"), "{error}");
}
