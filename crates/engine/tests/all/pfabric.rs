//! pFabric (SIGCOMM 2013): queues ordered by the ranks of packets, the ranks themselves, and silence after timeouts.
//! Numbers are computed by hand.

use crate::support::fifo::{ALWAYS, link, packet, recorded};
use crate::support::*;
use incast_engine::testing::{Offered, Packet, Port, QueryId, Timer};
use incast_engine::{FlowId, LinkId};
use proptest::prelude::*;

/// Full segments: 1460 bytes and 40 of headers.
const MSS: u64 = 1460;

fn by_rank(limit: Limit) -> QueueSpec {
    queue(Discipline::Pfabric, limit)
}

/// A packet of a flow, with a rank.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ranked(u32, u32, u64);

impl Ranked {
    /// The packet, identified by `number`.
    fn packet(self, number: u16) -> Packet {
        let mut packet = packet(self.2, false);
        (packet.flow, packet.id) = (FlowId(self.0), number);
        packet.set_rank(self.1, &mut None);
        packet
    }
}

/// Sends these packets at once to a port at 10 Gb/s, behind one of flow 99 in transmission. Returns their numbers in
/// the order in which they leave, and the drops.
fn leaving(queue: &QueueSpec, packets: &[Ranked]) -> (Vec<u16>, u64) {
    let mut port = Port::new(&link(Rate::gbps(10), 0), queue, LinkId(0), 1, &ALWAYS);
    let first = Ranked(99, 0, 1500).packet(u16::MAX);
    let offer = |port: &mut Port, packet: &Packet| port.offer(Time::ZERO, packet, None, 0, None, &ALWAYS);
    let Offered::Waits { ends, .. } = offer(&mut port, &first) else { panic!("an idle port sends") };
    for (number, ranked) in (0..).zip(packets) {
        offer(&mut port, &ranked.packet(number));
    }
    let left = fifo::drain(&mut port, ends, &ALWAYS);
    let record = recorded(&mut port, Time(1 << 40), &ALWAYS);
    // all packets that left were transmitted, at 800 ps a byte
    let bytes: u64 = left.iter().map(|p| p.size as u64).sum();
    assert_eq!((record.bytes, record.busy_ps), (bytes, bytes * 800), "{record:?}");
    (left.iter().map(|p| p.id).filter(|id| *id != u16::MAX).collect(), record.drops)
}

#[test]
fn the_flow_with_the_least_rank_is_served_its_packets_in_order() {
    // A1 of rank 30, B1 of 5, A2 of 28, B2 of 4: B2 is the least, so B goes, in order; then A
    let full = |flow, rank| Ranked(flow, rank, 1500);
    let four = [full(0, 30), full(1, 5), full(0, 28), full(1, 4)];
    assert_eq!(leaving(&by_rank(Limit::None), &four), (vec![1, 3, 0, 2], 0));
    // a falling rank advances earlier packets of its flow: A1 goes because of A3, and B between A2 and A4
    let five = [full(0, 30), full(0, 20), full(1, 10), full(0, 9), full(0, 11)];
    assert_eq!(leaving(&by_rank(Limit::None), &five), (vec![0, 1, 3, 2, 4], 0));
    // of equal ranks the first; 0 is the rank of everything but data
    let equal = [full(0, 7), full(1, 7), full(2, 0)];
    assert_eq!(leaving(&by_rank(Limit::None), &equal), (vec![2, 0, 1], 0));
}

#[test]
fn an_arrival_takes_the_place_of_the_greatest_rank() {
    let full = |flow, rank| Ranked(flow, rank, 1500);
    // room for three including the one in transmission: C has rank 90; D of 95 is dropped, D of 80 takes its place
    let queue = by_rank(Limit::Packets(3));
    assert_eq!(leaving(&queue, &[full(0, 10), full(2, 90), full(3, 95)]), (vec![0, 1], 1));
    assert_eq!(leaving(&queue, &[full(0, 10), full(2, 90), full(3, 80)]), (vec![0, 2], 1));
    // of equal ranks the newest is dropped: the arrival, or the last one in the queue
    assert_eq!(leaving(&queue, &[full(0, 90), full(2, 90), full(3, 90)]), (vec![0, 1], 1));
    assert_eq!(leaving(&queue, &[full(0, 90), full(2, 90), full(3, 80)]), (vec![2, 0], 1));
    // never the packet in transmission, whatever its rank
    assert_eq!(leaving(&by_rank(Limit::Packets(1)), &[full(0, 0)]), (vec![], 1));
    // without counting it there is room for one more
    let unseen = QueueSpec { count_in_service: false, ..by_rank(Limit::Packets(1)) };
    assert_eq!(leaving(&unseen, &[full(0, 10), full(1, 5), full(2, 7)]), (vec![1], 2));
}

#[test]
fn by_bytes_as_many_go_as_make_room_or_none() {
    // 3000 B, 1500 of them in transmission: two of 600 and one of 100 wait
    let queue = by_rank(Limit::Bytes(3000));
    let waiting = [Ranked(0, 50, 600), Ranked(1, 60, 600), Ranked(2, 70, 100)];
    let with = |last| leaving(&queue, &[&waiting[..], &[last]].concat());
    // 300 fit once those of rank 70 and 60 are gone; 200 fit at once
    assert_eq!(with(Ranked(3, 40, 200)), (vec![3, 0, 1, 2], 0));
    assert_eq!(with(Ranked(3, 40, 300)), (vec![3, 0, 1], 1));
    assert_eq!(with(Ranked(3, 40, 400)), (vec![3, 0], 2));
    assert_eq!(with(Ranked(3, 40, 1500)), (vec![3], 3));
    // rank 55: only 700 bytes could be freed, too few for 1000: none is dropped
    assert_eq!(with(Ranked(3, 55, 1000)), (vec![0, 1, 2], 1));
}

/// The same as a plain list of waiting packets, (number, packet), in the order of arrival.
struct Naive {
    room: usize,
    waiting: Vec<(u16, Ranked)>,
    drops: u64,
}

impl Naive {
    fn arrive(&mut self, number: u16, packet: Ranked) {
        self.waiting.push((number, packet));
        if self.waiting.len() > self.room {
            let worst = self.waiting.iter().enumerate().max_by_key(|(i, w)| (w.1.1, *i)).unwrap().0;
            self.waiting.remove(worst);
            self.drops += 1;
        }
    }

    fn depart(&mut self) -> Option<u16> {
        let least = self.waiting.iter().map(|w| w.1.1).min()?;
        let flow = self.waiting.iter().find(|w| w.1.1 == least)?.1.0;
        let first = self.waiting.iter().position(|w| w.1.0 == flow)?;
        Some(self.waiting.remove(first).0)
    }
}

proptest! {
    #![proptest_config(crate::support::cases(400))]

    // full packets at 10 Gb/s take 1.2 us; between arrivals one to three of them may leave
    #[test]
    fn a_port_does_as_a_list_does(
        room in 1usize..12,
        arrivals in prop::collection::vec((0u32..4, 0u32..9, prop::sample::select(vec![0u64, 0, 1, 3])), 1..60),
    ) {
        let queue = QueueSpec { count_in_service: false, ..by_rank(Limit::Packets(room as u64)) };
        let mut port = Port::new(&link(Rate::gbps(10), 0), &queue, LinkId(0), 1, &ALWAYS);
        let mut naive = Naive { room, waiting: Vec::new(), drops: 0 };
        let (mut now, mut ends, mut under_way) = (Time::ZERO, None, None);
        let (mut left, mut expected) = (Vec::new(), Vec::new());
        for (number, (flow, rank, gap)) in (0..).zip(arrivals) {
            let until = now + Time::ns(1200) * gap + Time::ns(1);
            while let Some(end) = ends.filter(|end| *end <= until) {
                let departed = port.depart(end, None, &ALWAYS).unwrap();
                left.push(departed.packet.id);
                ends = departed.next;
                expected.extend(under_way.take());
                under_way = naive.depart();
            }
            now = until;
            let ranked = Ranked(flow, rank, 1500);
            let offered = port.offer(now, &ranked.packet(number), None, 0, None, &ALWAYS);
            while port.take_dropped().is_some() {}
            match offered {
                Offered::Waits { ends: Some(end), .. } => (ends, under_way) = (Some(end), Some(number)),
                _ => naive.arrive(number, ranked),
            }
        }
        left.extend(fifo::drain(&mut port, ends, &ALWAYS).iter().map(|p| p.id));
        expected.extend(under_way);
        expected.extend(std::iter::from_fn(|| naive.depart()));
        prop_assert_eq!(left, expected);
        prop_assert_eq!(recorded(&mut port, Time(1 << 40), &ALWAYS).drops, naive.drops);
    }
}

/// The minimal rate control at 10 Gb/s with the values of the authors' simulations: 12 segments, 45 us, no duplicates.
fn minimal() -> TransportSpec {
    changed!(
        plain(),
        output.rank = Some(Rank::Remaining),
        output.probe_after = 5,
        sizes.mss = MSS as u32,
        sizes.mtu = 0,
        loss.dupthresh = 1_000_000,
        loss.limited_transmit = false,
        rto.rto_min = Time::us(45),
        rto.rto_max = Time::us(45),
        rto.rto_initial = Time::us(45),
        windows.initial_window = 12.0,
        windows.receive_buffer = 15 * MSS
    )
}

/// A sender of this application.
fn sender(transport: TransportSpec, app: App) -> Bench {
    let flow = FlowSpec { app, ..bulk(0, 1, None) };
    Bench::new(wire(Rate::gbps(10), Time::us(1), transport, "newreno", flow))
}

fn transfer(size: u64) -> App {
    App::Bulk(Bulk { size: Some(size), write: 65_160 })
}

fn ranks(sent: &[Caught]) -> Vec<(u64, u32)> {
    sent.iter().map(|c| (c.packet.seq() / MSS, c.packet.rank(c.ext.as_ref()))).collect()
}

#[test]
fn a_rank_is_what_is_neither_acknowledged_nor_sacked() {
    // 20 segments: none of the first twelve is acknowledged when they leave
    let mut bench = sender(minimal(), transfer(20 * MSS));
    let sent = bench.open();
    let all = 20 * MSS as u32;
    assert_eq!(ranks(&sent), (0..12).map(|i| (i, all)).collect::<Vec<_>>());
    // two acknowledged by one ACK: a window of 13 takes three more, with 18 segments left
    let ts = sent[0].at;
    let sent = bench.ack(2 * MSS, ts, 0, &[]);
    assert_eq!(ranks(&sent), (12..15).map(|i| (i, 18 * MSS as u32)).collect::<Vec<_>>());
    // three of those SACKed and one more acknowledged: 14 are left, and five go into the window of 14
    let sent = bench.ack(3 * MSS, ts, 0, &[(12 * MSS, 15 * MSS)]);
    assert_eq!(ranks(&sent), (15..20).map(|i| (i, 14 * MSS as u32)).collect::<Vec<_>>());
}

#[test]
fn other_ranks_are_the_size_and_what_went_before() {
    let first = |rank, app| {
        let transport = changed!(minimal(), output.rank = Some(rank), windows.initial_window = 3.0);
        ranks(&sender(transport, app).open()).into_iter().map(|r| r.1).collect::<Vec<_>>()
    };
    let mss = MSS as u32;
    assert_eq!(first(Rank::Size, transfer(4 * MSS)), [4 * mss; 3]);
    assert_eq!(first(Rank::Sent, transfer(4 * MSS)), [0, mss, 2 * mss]);
    // without an end: the maximum; the bytes sent before are known
    let endless = App::Bulk(Bulk { size: None, write: 65_160 });
    assert_eq!(first(Rank::Remaining, endless), [u32::MAX; 3]);
    assert_eq!(first(Rank::Size, endless), [u32::MAX; 3]);
    assert_eq!(first(Rank::Sent, endless), [0, mss, 2 * mss]);
    // more than 32 bits hold
    assert_eq!(first(Rank::Remaining, transfer(1 << 40)), [u32::MAX; 3]);
    // writes of two segments are transfers of their own
    let writes = App::ClosedLoop(ClosedLoop { write: 2 * MSS, outstanding: 2, think: Time::ZERO, count: Some(2) });
    assert_eq!(first(Rank::Remaining, writes), [2 * mss; 3]);
    assert_eq!(first(Rank::Sent, writes), [0, mss, 0]);
}

#[test]
fn data_of_two_way_connections_has_ranks_too() {
    let mut spec = asking(1, 5 * MSS, minimal());
    spec.queues = vec![by_rank(Limit::Packets(24))];
    spec.queries[0].first = Time::ZERO;
    let mut bench = Bench::new(spec);
    let mut seen = Vec::new();
    let mut sent = bench.open();
    sent.extend(bench.fire(Timer::Query(QueryId(0))));
    bench.resend(sent);
    for caught in bench.relay(200 * US, US, |_, _| {}) {
        if caught.packet.len > 0 && caught.packet.flow == FlowId(1) {
            seen.push(caught.packet.rank(caught.ext.as_ref()));
        }
    }
    // three responses of five segments, none of which is acknowledged when they leave
    assert_eq!(seen, [5 * MSS as u32; 15]);
}

#[test]
fn a_timeout_is_fixed_and_a_window_begins_at_one_segment() {
    let mut bench = sender(minimal(), transfer(10 * MSS));
    assert_eq!(bench.open().len(), 10);
    for i in 1..=4 {
        // one segment is retransmitted after 45 us, and after 45 us more
        let sent = bench.advance(i * 45 * US);
        assert_eq!(ranks(&sent), [(0, 10 * MSS as u32)], "timeout {i}");
        assert_eq!(bench.state("cwnd_bytes"), MSS as f64);
    }
    assert_eq!(bench.state("ssthresh_bytes"), 5.0 * MSS as f64, "half of what was outstanding");
    // slow start: the first one acknowledged, two go
    let sent = bench.ack(MSS, 180 * US, 0, &[]);
    assert_eq!(ranks(&sent), [(1, 9 * MSS as u32), (2, 9 * MSS as u32)]);
}

#[test]
fn after_five_timeouts_headers_go_until_one_is_answered() {
    let mut bench = sender(minimal(), transfer(10 * MSS));
    bench.open();
    assert_eq!(bench.advance(4 * 45 * US).iter().filter(|c| c.packet.len > 0).count(), 4);
    for i in 5..=9 {
        let sent = bench.advance(i * 45 * US);
        let [probe] = &sent[..] else { panic!("one packet at timeout {i}: {sent:?}") };
        // a header, with the rank of the segment that it stands for
        assert_eq!((probe.at, probe.packet.len, probe.packet.size), (i * 45 * US, 0, 40));
        assert_eq!(probe.packet.rank(None), 10 * MSS as u32);
    }
    // the answer acknowledges nothing: the first segment is retransmitted, and may be lost four more times
    let sent = bench.ack(0, 9 * 45 * US, 0, &[]);
    assert_eq!(ranks(&sent), [(0, 10 * MSS as u32)]);
    let rest = bench.advance(14 * 45 * US);
    let lens: Vec<u16> = rest.iter().map(|c| c.packet.len).collect();
    assert_eq!(lens, [1460, 1460, 1460, 1460, 0]);
    // an ACK of data ends it, too
    let sent = bench.ack(MSS, 14 * 45 * US, 0, &[]);
    assert_eq!(ranks(&sent).first(), Some(&(1, 9 * MSS as u32)));
    assert_eq!(bench.record().timeouts, 14);
}

#[test]
fn a_receiver_answers_a_probe_at_once() {
    let mut bench = sender(minimal(), transfer(10 * MSS));
    bench.open();
    assert_eq!(bench.data(0, MSS as u16, 0)[0].packet.ack, MSS);
    let answers = bench.give_segment(MSS, 0, |p| p.len = 0);
    assert_eq!((answers.len(), answers[0].packet.ack), (1, MSS));
}

/// `n` senders of these sizes to the last host of a star at 10 Gb/s whose ports hold 24 packets.
fn incast(sizes: &[u64], queue: QueueSpec, transport: TransportSpec) -> Spec {
    let n = sizes.len() as u32;
    let mut spec = star(n + 1, Rate::gbps(10), Time::us(1));
    spec.queues = vec![queue];
    spec.transports = vec![transport];
    spec.controllers = vec![controller("newreno", &[])];
    spec.flows = (0..n).zip(sizes).map(|(h, size)| bulk(h, n, Some(*size))).collect();
    spec
}

#[test]
fn transfers_end_in_the_order_of_their_sizes() {
    let sizes = [300, 60, 200, 100, 150, 20].map(|segments| segments * MSS);
    let o = compared(&incast(&sizes, by_rank(Limit::Packets(24)), minimal()));
    let ends: Vec<u64> = o.flows.iter().map(|f| f.finish_ps.expect("all end")).collect();
    let mut order: Vec<usize> = (0..6).collect();
    order.sort_by_key(|i| ends[*i]);
    assert_eq!(order, [5, 1, 3, 4, 2, 0]);
    // the shortest is as fast as alone, except for packets in transmission before it
    let alone = run(&incast(&sizes[5..], by_rank(Limit::Packets(24)), minimal())).flows[0].finish_ps.unwrap();
    assert!(ends[5] < alone + 3 * 1_200_000, "{} {alone}", ends[5]);
    // and the link is hardly ever idle: 830 packets of 1500 B and 40 B less of each header
    let all: u64 = sizes.iter().sum::<u64>() / MSS * 1_200_000;
    assert!(ends[0] < all + all / 10, "{} {all}", ends[0]);
    assert!(o.ports.iter().map(|p| p.drops).sum::<u64>() > 0);
}

#[test]
fn an_incast_beyond_the_buffer_ends_and_its_senders_fall_silent() {
    // 60 senders of 12 segments find 24 places: the last ones wait in silence
    let sizes: Vec<u64> = (0..60).map(|i| (12 + i % 7) * MSS).collect();
    let spec = incast(&sizes, by_rank(Limit::Packets(24)), minimal());
    let o = compared(&spec);
    assert!(o.flows.iter().all(|f| Some(f.delivered) == f.size && f.finish_ps.is_some()));
    assert!(o.flows.iter().any(|f| f.timeouts > 5), "some timeouts follow one another");
    // headers alone spare the ports packets that would be dropped again
    let mut loud = spec.clone();
    loud.transports[0].output.probe_after = 0;
    let wasted = |o: &Outcome| o.flows.iter().map(|f| f.retransmissions).sum::<u64>();
    assert!(wasted(&o) < wasted(&run(&loud)), "{} {}", wasted(&o), wasted(&run(&loud)));
}

#[test]
fn headers_in_silence_are_not_in_the_gap_between_packets() {
    // Poseidon takes the time of a packet's own fragments for a queue: its gap doubles with each, beyond every timeout.
    // The lost packet goes when the gap is over, whatever went as headers meanwhile.
    let transport = changed!(
        minimal(),
        output.rank = None,
        output.probe_after = 1,
        sizes.mss = 3000,
        sizes.mtu = 1500,
        windows.initial_window = 1.0,
        windows.receive_buffer = 4000,
        rto.rto_min = Time::ms(1),
        rto.rto_max = Time::ms(2)
    );
    let mut spec = wire(Rate::mbps(100), Time::us(50), transport, "poseidon", bulk(0, 1, Some(8 * 3000)));
    let lost = 5;
    spec.links[0].loss = Loss::List(vec![lost * 3]);
    run_for(&mut spec, Time::s(20));
    let o = compared(&spec);
    let flow = &o.flows[0];
    assert!(flow.finish_ps.is_some() && flow.retransmissions == 1, "{flow:?}");
    // a packet is three fragments
    let sent: Vec<u64> = data_sent(&o, "h0").iter().step_by(3).map(|e| e.time_ps).collect();
    let headers = events(&o, "h0", Happening::Send).iter().filter(|e| e.payload == 0).count();
    let gap = Time(sent[lost as usize + 1] - sent[lost as usize]);
    assert!(headers > 1 && gap > Time::ms(20), "{headers} headers within {gap}");
}

#[test]
fn what_does_not_go_with_ranks_is_refused() {
    let spec = incast(&[MSS], by_rank(Limit::Packets(24)), minimal());
    let refused = |spec: &Spec| incast_engine::run(spec, &mut |_| true).unwrap_err().to_string();
    let mut other = spec.clone();
    other.queues[0].device = 1;
    assert!(refused(&other).contains("does not support a device queue or a shared buffer"));
    let mut other = spec.clone();
    other.buffer =
        Some(BufferSpec { size: 1 << 20, alpha: 1.0, reserve: 0, count_in_service: true, egress: None, pfc: None });
    assert!(refused(&other).contains("does not support a device queue or a shared buffer"));
    let mut other = spec.clone();
    other.links[0].bucket = 3000;
    assert!(refused(&other).contains("an explicit queue does not support a token bucket"));
    let mut other = spec.clone();
    other.queues[0] = classes(Scheduler::Strict, vec![by_rank(Limit::None)]);
    assert!(refused(&other).contains("not by rank"));
}
