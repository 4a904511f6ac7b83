//! pHost: times computed by hand, the order of messages at both ends, and exactly-once delivery under any losses.

use crate::support::*;

/// Packets of 1500 bytes with 1460 of payload; the authors' values.
pub fn authors() -> PHost {
    PHost {
        free: Free::Short,
        free_packets: 8,
        gap: 1.0,
        expiry: 1.5,
        window: 8,
        skip: 25.0,
        reissue: 9.0,
        levels: 3,
        large: Some(8 * 1460),
    }
}

fn transport(own: PHost) -> TransportSpec {
    changed!(
        plain(),
        protocol = Protocol::PHost(own),
        sizes.mss = 1460,
        sizes.header = 40,
        sizes.ack_size = 40,
        sizes.mtu = 0,
        connection.handshake = false,
        windows.send_buffer = 1 << 30,
        rto.rto_min = Time::ms(1)
    )
}

/// `spec` with this transport, switches with a priority queue, and flows of the lowest priority.
pub fn with(mut spec: Spec, own: PHost, queue: QueueSpec) -> Spec {
    let hosts = spec.hosts;
    spec.queues = vec![queue, endless_queue()];
    spec.links.iter_mut().filter(|l| l.from < hosts).for_each(|l| l.queue = 1);
    spec.controllers = vec![controller("newreno", &[])];
    spec.flows.iter_mut().for_each(|f| (f.class, f.ack_class) = (own.lowest_level(), 0));
    spec.transports = vec![transport(own)];
    spec
}

pub fn strict(limit: Limit) -> QueueSpec {
    classes(Scheduler::Strict, vec![queue(Discipline::DropTail, limit); 3])
}

/// The queue of the authors' simulations.
pub fn ranked() -> QueueSpec {
    queue(Discipline::Pfabric, Limit::Bytes(36_864))
}

/// Messages between hosts around a switch: (source, destination, start, bytes).
fn messages_of(flows: &[(u32, u32, u64, u64)], own: PHost, delay: Time) -> Spec {
    let mut spec = star(5, Rate::gbps(10), delay);
    let flow = |&(src, dst, start, bytes)| FlowSpec { start: Time(start), ..bulk(src, dst, Some(bytes)) };
    spec.flows = flows.iter().map(flow).collect();
    with(spec, own, strict(Limit::None))
}

/// Arrival time of the last byte of each flow, in ps after its start.
fn received(o: &Outcome) -> Vec<u64> {
    o.flows.iter().map(|f| f.received_ps.unwrap_or(0).saturating_sub(f.start_ps)).collect()
}

fn sum(o: &Outcome, f: fn(&FlowRecord) -> u64) -> u64 {
    o.flows.iter().map(f).sum()
}

/// Time of 40 bytes and of 1500 on the wire, ps; and of both over two links of 1 us.
const SHORT: u64 = 32_000;
const FULL: u64 = 1_200_000;
const SMALL: u64 = 2 * (SHORT + 1_000_000);
const LARGE: u64 = 2 * (FULL + 1_000_000);

#[test]
fn a_short_message_goes_behind_its_request() {
    let alone = |bytes| compared(&messages_of(&[(0, 1, 0, bytes)], authors(), Time::us(1)));
    let o = alone(1460);
    assert_eq!((received(&o), o.flows[0].finish_ps), (vec![SHORT + LARGE], Some(SHORT + LARGE + SMALL)));
    // six packets: no token; a request and an ACK
    let o = alone(6 * 1460);
    assert_eq!((received(&o), o.packets_sent), (vec![SHORT + 5 * FULL + LARGE], 1 + 6 + 1));
    assert_eq!(o.flows[0].timeouts, 0);
}

#[test]
fn a_long_message_has_a_token_a_packet() {
    // the request, then a token every 1.2 us, each of which brings a packet
    let o = compared(&messages_of(&[(0, 1, 0, 20 * 1460)], authors(), Time::us(1)));
    assert_eq!(received(&o), [2 * SMALL + LARGE + 19 * FULL]);
    assert_eq!((o.packets_sent, o.flows[0].retransmissions), (1 + 20 + 20 + 1, 0));
    // the authors' gap leaves room for a header
    let wide = PHost { gap: 1540.0 / 1500.0, ..authors() };
    let o = compared(&messages_of(&[(0, 1, 0, 20 * 1460)], wide, Time::us(1)));
    assert_eq!(received(&o), [2 * SMALL + LARGE + 19 * 1_232_000]);
    // the paper's form: eight packets at once and twelve tokens, each when a packet arrives that leaves seven
    // unanswered. Links of 2 us: the first token reaches the sender 864 ns after its wire becomes free, the ninth goes
    // when that token's packet arrives
    let paper = PHost { free: Free::All, ..authors() };
    let o = compared(&messages_of(&[(0, 1, 0, 20 * 1460)], paper, Time::us(2)));
    let (small, large) = (SMALL + 2_000_000, LARGE + 2_000_000);
    assert_eq!(received(&o), [SHORT + large + 2 * (small + large) + 3 * FULL]);
    assert_eq!((o.packets_sent, o.flows[0].retransmissions), (1 + 20 + 12 + 1, 0));
}

#[test]
fn a_token_that_is_late_dies_and_goes_again() {
    // host 0 always has a TCP packet on its wire: every token waits for at least 1.2 us
    let mut spec = messages_of(&[(0, 1, 0, 20 * 1460), (0, 2, 0, 14_600)], authors(), Time::us(1));
    spec.transports.push(changed!(plain(), windows.initial_window = 1000.0, sizes.mss = 8960, sizes.header = 40));
    spec.flows[1] = FlowSpec { transport: 1, ..bulk(0, 2, Some(400_000)) };
    let o = compared(&spec);
    // 400 kB at once: 322 us, in which all tokens expire
    assert!(received(&o)[0] > 322_000_000 && o.flows[0].retransmissions == 0, "{:?}", o.flows);
    assert_eq!((o.flows[0].delivered, o.flows[0].sent), (20 * 1460, 20));
}

#[test]
fn a_receiver_gives_its_tokens_to_the_shortest_message() {
    let flows = [(0, 4, 0, 200 * 1460), (1, 4, 0, 100 * 1460), (2, 4, 0, 50 * 1460)];
    for queue in [strict(Limit::None), ranked()] {
        let o = compared(&with(messages_of(&flows, authors(), Time::us(1)), authors(), queue));
        let [long, middle, short] = received(&o)[..] else { panic!() };
        // requests meet, and the first to arrive gets one or two tokens before the shortest gets one every 1.2 us
        let alone = |packets: u64| 2 * SMALL + LARGE + (packets - 1) * FULL;
        assert!(short >= alone(50) && short < alone(54), "{short}");
        assert!(middle >= alone(150) && middle < alone(160), "{middle}");
        assert!(long >= alone(350) && long < alone(364), "{long}");
    }
}

#[test]
fn a_sender_gives_its_wire_to_the_message_that_lacks_least() {
    let o = compared(&messages_of(&[(0, 1, 0, 300 * 1460), (0, 2, 20_000_000, 3 * 1460)], authors(), Time::us(1)));
    // the short one waits for the packet in transmission, and its request goes first
    assert!(received(&o)[1] <= SHORT + 3 * FULL + LARGE, "{:?}", received(&o));
    // packets of the long one whose tokens expired meanwhile get new ones
    let alone = 2 * SMALL + LARGE + 299 * FULL;
    assert!(received(&o)[0] > alone && received(&o)[0] < alone + 40_000_000, "{:?}", received(&o));
    assert_eq!(sum(&o, |f| f.retransmissions), 0);
}

#[test]
fn priorities_follow_from_sizes() {
    let own = authors();
    assert_eq!([1, 11_680, 11_681].map(|size| own.class_of(size, 1460)), [1, 1, 2]);
    let flows = [(0, 4, 0, 20 * 1460), (1, 4, 0, 8 * 1460)];
    let o = compared(&messages_of(&flows, own, Time::us(1)));
    let class = |i: usize| o.ports.iter().filter_map(|p| p.classes.get(i)).map(|c| c.packets).sum::<u64>();
    // each over one port of the switch: requests, tokens and ACKs; the eight packets; the twenty
    assert_eq!((class(1), class(2)), (8, 20));
    let auto = PHost { large: None, ..authors() };
    assert_eq!([11_680, 11_681].map(|size| auto.class_of(size, 1460)), [1, 2], "those above the free packets");
    let two = PHost { levels: 2, ..authors() };
    assert_eq!((two.lowest_level(), two.class_of(11_681, 1460)), (1, 1));
}

#[test]
fn every_message_comes_whole_and_once_whatever_is_lost() {
    for seed in seeds(3).map(|seed| seed + 1) {
        for (free, loss, queue) in [
            (Free::Short, 0.02, strict(Limit::Packets(6))),
            (Free::All, 0.02, strict(Limit::None)),
            (Free::Short, 0.2, ranked()),
        ] {
            let mut spec = fat_tree(4, Rate::gbps(100), Time::us(1));
            (spec.choice, spec.seed) = (PathChoice::Spray, seed);
            spec.links.iter_mut().step_by(3).for_each(|l| l.loss = Loss::Packet(loss));
            spec.flows = (0..16).map(|h| bulk(h, (h * 5 + 3) % 16, Some(1 + h as u64 * 17_000))).collect();
            spec.flows.extend((1..9).map(|h| FlowSpec { start: Time::us(h as u64), ..bulk(h, 0, Some(60_000)) }));
            spec.ends_when_finished = true;
            let o = compared(&with(spec, PHost { free, ..authors() }, queue));
            for f in &o.flows {
                assert_eq!(Some(f.delivered), f.size, "{f:?}");
                assert!(f.finish_ps.is_some() && f.received_ps.is_some(), "{f:?}");
            }
            assert!(sum(&o, |f| f.retransmissions) > 0, "something is lost");
            assert!(loss < 0.1 || sum(&o, |f| f.timeouts) > 0, "a request or an ACK is lost");
        }
    }
}

#[test]
fn queries_closed_loops_and_endless_flows_run_over_it() {
    let o = compared(&with(asking(6, 50_000, plain()), authors(), strict(Limit::None)));
    let queries = messages(&o, MessageKind::Query);
    assert_eq!(queries.len(), 3);
    // six responses of 50 kB at 10 Gb/s
    assert!(queries.iter().all(|q| q.finish_ps.is_some_and(|end| end - q.start_ps < 320_000_000)), "{queries:?}");

    let o = closed_loop_beside_endless(messages_of(&[(0, 4, 0, 1), (1, 4, 0, 1)], authors(), Time::us(1)));
    // 1460 of 1500 bytes, less expired tokens
    let rate = (o.flows[0].delivered + o.flows[1].delivered) as f64 * 8.0 / 4e-3;
    assert!(rate > 9.4e9 && rate < 9.74e9, "{rate}");
}

#[test]
fn a_message_that_is_given_up_ends() {
    let mut spec = messages_of(&[(0, 1, 0, 1), (2, 1, 0, 30 * 1460)], authors(), Time::us(1));
    spec.flows[0] = FlowSpec { stop: Time::us(100), at_stop: AtStop::Reset, ..bulk(0, 1, None) };
    spec.flows[0].class = authors().lowest_level();
    run_for(&mut spec, Time::ms(2));
    let o = compared(&spec);
    assert!(o.flows[0].delivered < 90_000 && o.flows[0].delivered > 30_000, "{:?}", o.flows[0]);
    // beside a token for each packet: requests, ACKs, and tokens in flight, each of which has a request and an ACK
    let beside = o.packets_sent - o.flows[0].sent * 2 - o.flows[1].sent * 2;
    assert!(beside < 24, "{beside}");
}

#[test]
fn what_contradicts_itself_is_refused() {
    let told = |change: &dyn Fn(&mut Spec)| {
        let mut spec = messages_of(&[(0, 1, 0, 100)], authors(), Time::us(1));
        change(&mut spec);
        incast_engine::run(&spec, &mut |_| true).unwrap_err().to_string()
    };
    let own = |own: PHost| told(&|s| s.transports = vec![transport(own.clone())]);
    for gap in [0.0, -1.0, f64::INFINITY, f64::NAN] {
        assert!(own(PHost { gap, ..authors() }).contains("phost.gap = "));
    }
    assert!(own(PHost { window: 0, ..authors() }).contains("phost.window = 0: expected at least 1"));
    assert!(own(PHost { large: Some(0), ..authors() }).contains("phost.large = 0: expected at least 1B"));
    assert!(told(&|s| s.transports[0].rto.rto_min = Time::ZERO).contains("repeats requests after it"));
    assert!(told(&|s| s.flows[0].class = 1).contains("expected 2, its lowest class"));
    assert!(told(&|s| s.links[1].rate = Rate::INFINITE).contains("expected a finite rate"));
    let two = |s: &mut Spec| s.queues[0] = classes(Scheduler::Strict, vec![endless_queue(); 2]);
    assert!(told(&two).contains("has 2 classes"));
}

/// A flow writes a packet, which is a message, every 20 us for the time `on`. Its link is down from 90 us to `until`.
fn interrupted(on: Time, until: Time) -> (Outcome, usize) {
    let mut spec = messages_of(&[(0, 1, 0, 1)], authors(), Time::us(1));
    let rate = Rate(1460 * 8 * 50_000);
    spec.flows[0].app = App::OnOff(OnOff { rate, on, off: Time::s(1), write: 1460, begin: Begin::Open });
    let effect = Effect::Down { detection: Time::ZERO };
    spec.failures = vec![Failure { link: 0, from: Time::us(90), until, effect }];
    spec.observe.trace = vec![0];
    run_for(&mut spec, Time::ms(3));
    let o = compared(&spec);
    let lost = o.trace.iter().filter(|e| e.event == Happening::Loss && e.payload == 0).count();
    (o, lost)
}

/// Arrival time of the last packet of a run.
fn last_arrival(o: &Outcome) -> u64 {
    o.trace.iter().filter(|e| e.event == Happening::Receive && e.payload > 0).map(|e| e.time_ps).max().unwrap()
}

#[test]
fn all_messages_that_nobody_has_answered_are_announced_again() {
    // messages of 100, 120 and 140 us; the first was sent 32 ns after its request
    let (o, lost) = interrupted(Time::us(150), Time::us(150));
    let flow = &o.flows[0];
    assert_eq!((lost, flow.timeouts, flow.retransmissions), (3, 1, 3));
    assert_eq!((flow.written, flow.delivered), (7 * 1460, 7 * 1460));
    let again = 100_000_000 + SHORT + 1_000_000_000;
    assert!(last_arrival(&o) > again && last_arrival(&o) < again + 50_000_000, "{}", last_arrival(&o));
}

#[test]
fn a_long_silence_is_ended_by_so_many_requests_at_once() {
    // 125 messages from 100 us to just before 2.6 ms; requests for the 51 so far after 1 ms, for 64 of 101 after 2 ms
    let (o, lost) = interrupted(Time::ms(2) + Time::us(700), Time::ms(2) + Time::us(590));
    assert_eq!((lost, o.flows[0].timeouts), (125 + 51 + 64, 2));
}

#[test]
fn a_message_is_announced_again_while_others_follow() {
    // the message of 100 us; the receiver serves and acknowledges all later ones
    let (o, lost) = interrupted(Time::s(1), Time::us(110));
    let flow = &o.flows[0];
    assert_eq!((lost, flow.timeouts, flow.retransmissions), (1, 1, 1));
    assert_eq!((flow.written, flow.delivered), (149 * 1460, 149 * 1460));
}
