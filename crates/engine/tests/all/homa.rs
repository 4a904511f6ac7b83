//! Homa: times computed by hand, the order of messages at both ends, and laws that hold on any network.

use crate::support::*;

/// Packets of 1500 bytes with 1472 of payload; the unscheduled bytes of the authors' study.
pub fn homa(change: impl FnOnce(&mut Homa)) -> TransportSpec {
    let mut own = Homa { unscheduled: 9328, levels: 8, overcommit: None, cutoffs: None };
    change(&mut own);
    changed!(
        plain(),
        protocol = Protocol::Homa(own),
        sizes.mss = 1472,
        sizes.header = 28,
        sizes.ack_size = 64,
        sizes.mtu = 0,
        connection.handshake = false,
        windows.send_buffer = 1 << 30,
        rto.rto_min = Time::ms(1),
        rto.rto_initial = Time::ms(10)
    )
}

/// `spec` with this transport, switches with 8 strict priorities, and flows of the lowest.
pub fn with(mut spec: Spec, transport: TransportSpec, limit: Limit) -> Spec {
    let class = queue(Discipline::DropTail, limit);
    let lowest = transport.protocol.of::<Homa>().map_or(0, |homa| homa.levels - 1);
    spec.transports = vec![transport];
    spec.queues = vec![classes(Scheduler::Strict, vec![class; 8]), endless_queue()];
    let hosts = spec.hosts;
    spec.links.iter_mut().filter(|l| l.from < hosts).for_each(|l| l.queue = 1);
    spec.controllers = vec![controller("newreno", &[])];
    spec.flows.iter_mut().for_each(|f| f.class = lowest);
    spec
}

/// Messages between hosts around a switch: (source, destination, start, bytes).
fn messages_of(flows: &[(u32, u32, u64, u64)], transport: TransportSpec) -> Spec {
    let mut spec = star(5, Rate::gbps(10), Time::us(1));
    let flow = |&(src, dst, start, bytes)| FlowSpec { start: Time(start), ..bulk(src, dst, Some(bytes)) };
    spec.flows = flows.iter().map(flow).collect();
    with(spec, transport, Limit::None)
}

/// Arrival time of the last byte of each flow, in ps after its start.
fn received(o: &Outcome) -> Vec<u64> {
    o.flows.iter().map(|f| f.received_ps.unwrap_or(0).saturating_sub(f.start_ps)).collect()
}

fn sum(o: &Outcome, f: fn(&FlowRecord) -> u64) -> u64 {
    o.flows.iter().map(f).sum()
}

#[test]
fn a_message_alone_takes_the_time_of_its_bytes() {
    // 128 bytes twice at 0.8 ns, and two links
    let o = compared(&messages_of(&[(0, 1, 0, 100)], homa(|_| ())));
    assert_eq!(received(&o), [2 * 102_400 + 2_000_000]);
    // the ACK: 64 bytes twice, and two links
    assert_eq!(o.flows[0].finish_ps, Some(2_204_800 + 2 * 51_200 + 2_000_000));
    // 22 packets: 30000 bytes and 22 headers leave the host back to back; the last one, of 92 bytes, waits at the
    // switch for the previous one
    let o = compared(&messages_of(&[(0, 1, 0, 30_000)], homa(|_| ())));
    let sent = (30_000 + 22 * 28) * 800;
    assert_eq!(received(&o), [sent - 73_600 + 1_000_000 + 1_200_000 + 73_600 + 1_000_000]);
    assert_eq!((o.flows[0].sent, o.flows[0].delivered), (22, 30_000));
    // 14 grants, the last of two packets, and an ACK
    assert_eq!(o.packets_sent, 22 + 14 + 1);
}

#[test]
fn a_sender_gives_its_wire_to_the_shortest_message() {
    let all = homa(|homa| homa.unscheduled = 1 << 20);
    let o = compared(&messages_of(&[(0, 1, 0, 100_000), (0, 2, 1_000_000, 3_000)], all));
    // the wire is free at 1.2 us; then 1500, 1500 and 84 bytes, of which the last one waits at the switch
    let last = 1_200_000 + 2 * 1_200_000 + 1_000_000 + 1_200_000 + 67_200 + 1_000_000;
    assert_eq!(received(&o)[1], last - 1_000_000);
    // the long one ends later by those 3084 bytes, and by the wait of its last packet for the previous one at the
    // switch
    let packets = 100_000_u64.div_ceil(1472);
    let rest = 100_000 - (packets - 1) * 1472 + 28;
    let sent = (100_000 + packets * 28 + 3_084) * 800;
    assert_eq!(received(&o)[0], sent - rest * 800 + 1_000_000 + 1_200_000 + rest * 800 + 1_000_000);
}

#[test]
fn a_receiver_grants_the_shortest_message_first() {
    let ends = |overcommit| {
        let transport = homa(|homa| homa.overcommit = Some(overcommit));
        received(&compared(&messages_of(&[(0, 4, 0, 200_000), (1, 4, 0, 100_000), (2, 4, 0, 50_000)], transport)))
    };
    for overcommit in [1, 2, 7] {
        let [long, middle, short] = ends(overcommit)[..] else { panic!() };
        assert!(short < middle && middle < long, "{overcommit}: {short} {middle} {long}");
        // 350 kB and headers at 10 Gb/s are 285.4 us
        assert!(long > 285_400_000 && long < 300_000_000, "{long}");
        // waits at most for the unscheduled bytes of the others
        assert!(short < (50_000 + 20_000) * 820 + 8_000_000, "{short}");
    }
}

#[test]
fn priorities_follow_from_sizes() {
    let own = Homa { unscheduled: 9328, levels: 8, overcommit: None, cutoffs: Some(vec![100, 1000]) };
    assert_eq!([1, 100, 101, 1000, 1001].map(|size| own.level_of(size)), [0, 0, 1, 1, 2]);
    // granted messages use the lowest levels, and share the first one left by unscheduled packets
    assert_eq!([(0, 1), (0, 2), (1, 2), (0, 5), (0, 7)].map(|(i, of)| own.level_of_rank(i, of)), [7, 6, 7, 3, 3]);
    assert_eq!(own.overcommit(), 5);
    // all bytes unscheduled: seven levels of 704 bytes, of which the first size alone has less
    let sizes = |counts: &[(u64, usize)]| counts.iter().flat_map(|(s, n)| vec![*s; *n]).collect::<Vec<u64>>();
    assert_eq!(own.derive((1..=7).map(|i| 700 + i).collect()), [702, 703, 704, 705, 706]);
    // an eighth unscheduled: one level, without a cutoff
    assert!(own.derive(vec![9328 * 8; 5]).is_empty());
    // 33328 of 84000 bytes unscheduled: three levels of 11109 bytes
    assert_eq!(own.derive(sizes(&[(1000, 12), (2000, 6), (60_000, 1)])), [1000, 2000]);
    assert!(own.derive(Vec::new()).is_empty() && own.derive(vec![500; 9]).is_empty());
}

#[test]
fn every_message_comes_whole_and_once_whatever_is_lost() {
    for seed in seeds(3).map(|seed| seed + 1) {
        for (limit, unscheduled) in [(Limit::None, 9328), (Limit::Packets(6), 9328), (Limit::Packets(6), 1)] {
            let mut spec = fat_tree(4, Rate::gbps(100), Time::us(1));
            (spec.choice, spec.seed) = (PathChoice::Spray, seed);
            spec.links.iter_mut().step_by(3).for_each(|l| l.loss = Loss::Packet(0.02));
            spec.flows = (0..16).map(|h| bulk(h, (h * 5 + 3) % 16, Some(1 + h as u64 * 17_000))).collect();
            spec.flows.extend((1..9).map(|h| FlowSpec { start: Time::us(h as u64), ..bulk(h, 0, Some(60_000)) }));
            spec.ends_when_finished = true;
            let cutoffs = Some(vec![20_000, 70_000]);
            let transport = homa(|homa| (homa.unscheduled, homa.cutoffs) = (unscheduled, cutoffs));
            let o = compared(&with(spec, transport, limit));
            for f in &o.flows {
                assert_eq!(Some(f.delivered), f.size, "{f:?}");
                assert!(f.finish_ps.is_some() && f.received_ps.is_some(), "{f:?}");
            }
            assert!(sum(&o, |f| f.retransmissions) > 0, "something is lost");
        }
    }
}

#[test]
fn what_a_message_lacks_is_asked_for_while_others_come() {
    // a packet every 20 us: the one at 100 us is lost, and requested 1 ms after the next one has revealed it
    let mut spec = messages_of(&[(0, 1, 0, 1)], homa(|_| ()));
    let rate = Rate(1472 * 8 * 50_000);
    let app = OnOff { rate, on: Time::s(1), off: Time::ZERO, write: 1472, begin: Begin::Open };
    spec.flows[0].app = App::OnOff(app);
    let effect = Effect::Down { detection: Time::ZERO };
    spec.failures = vec![Failure { link: 0, from: Time::us(90), until: Time::us(110), effect }];
    spec.observe.trace = vec![0];
    run_for(&mut spec, Time::ms(3));
    let o = compared(&spec);
    let flow = &o.flows[0];
    assert_eq!((flow.retransmissions, flow.written, flow.delivered), (1, 149 * 1472, 149 * 1472));
    let again = o.trace.iter().find(|e| e.flags.contains("RETX") && e.event == Happening::Receive).unwrap().time_ps;
    assert!(again > 1_120_000_000 && again < 1_140_000_000, "{again}");
}

#[test]
fn the_next_message_does_not_put_off_what_the_one_before_it_lacks() {
    // two packets every 800 us: the second of the first message is lost, and requested 1 ms after the first one arrived
    let mut spec = messages_of(&[(0, 1, 0, 1)], homa(|_| ()));
    let rate = Rate(2 * 1472 * 8 * 1250);
    let app = OnOff { rate, on: Time::s(1), off: Time::ZERO, write: 2 * 1472, begin: Begin::Open };
    spec.flows[0].app = App::OnOff(app);
    let effect = Effect::Down { detection: Time::ZERO };
    spec.failures = vec![Failure { link: 0, from: Time::ns(802_300), until: Time::us(820), effect }];
    spec.observe.trace = vec![0];
    run_for(&mut spec, Time::ms(3));
    let o = compared(&spec);
    let flow = &o.flows[0];
    assert_eq!((flow.retransmissions, flow.written, flow.delivered), (1, 6 * 1472, 6 * 1472));
    let again = o.trace.iter().find(|e| e.flags.contains("RETX") && e.event == Happening::Receive).unwrap().time_ps;
    assert!(again > 1_800_000_000 && again < 1_830_000_000, "{again}");
}

#[test]
fn queries_closed_loops_and_endless_flows_run_over_it() {
    let transport = homa(|_| ());
    let spec = asking(6, 50_000, transport.clone());
    let o = compared(&with(spec, transport.clone(), Limit::None));
    let queries = messages(&o, MessageKind::Query);
    assert_eq!(queries.len(), 3);
    // six responses of 50 kB at 10 Gb/s
    assert!(queries.iter().all(|q| q.finish_ps.is_some_and(|end| end - q.start_ps < 300_000_000)), "{queries:?}");

    let o = closed_loop_beside_endless(messages_of(&[(0, 4, 0, 1), (1, 4, 0, 1)], transport));
    // 1472 of 1500 bytes, less the share of the closed loop
    let rate = (o.flows[0].delivered + o.flows[1].delivered) as f64 * 8.0 / 4e-3;
    assert!(rate > 9.5e9 && rate < 9.82e9, "{rate}");
}

#[test]
fn what_contradicts_itself_is_refused() {
    let told = |change: &dyn Fn(&mut Spec)| {
        let mut spec = messages_of(&[(0, 1, 0, 100)], homa(|_| ()));
        change(&mut spec);
        incast_engine::run(&spec, &mut |_| true).unwrap_err().to_string()
    };
    let own = |change: fn(&mut Homa)| told(&|s| s.transports = vec![homa(change)]);
    assert!(own(|homa| homa.unscheduled = 0).contains("homa.unscheduled = 0: expected at least 1B"));
    assert!(own(|homa| homa.levels = 9).contains("homa.levels = 9: expected"));
    assert!(own(|homa| homa.cutoffs = Some(vec![5, 5])).contains("homa.cutoffs = [5, 5]: expected ascending sizes"));
    assert!(told(&|s| s.flows[0].class = 3).contains("expected 7, its lowest class"));
    assert!(
        told(&|s| s.transports.push(homa(|homa| homa.levels = 7)))
            .contains("expected one setting for all traffic: a host")
    );
    let four = |s: &mut Spec| s.queues[0] = classes(Scheduler::Strict, vec![endless_queue(); 4]);
    assert!(told(&four).contains("has 4 classes"));
}
