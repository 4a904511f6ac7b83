//! Packets in hosts: waiting, losses, and the delays reported to controllers.

use crate::support::*;

/// One engine with these times for a packet and for an ACK.
fn engine(packet_time: Time, ack_time: Time) -> ProcessingSpec {
    ProcessingSpec { engines: 1, packet_time, ack_time, rate: Rate::INFINITE, limit: 0 }
}

/// Segments of 1000 B in 1040, an ACK of 40 B for each segment, no handshake. Host 0 sends `size` bytes to host 1 over
/// 10 Gb/s links of 1 us, with Swift. `costs`: processing in hosts.
fn costly(size: u64, costs: [HostSpec; 2]) -> Spec {
    let mut spec = wire(Rate::gbps(10), Time::us(1), plain(), "swift", bulk(0, 1, Some(size)));
    spec.host_costs = costs.to_vec();
    spec.observe.flows = vec![0];
    spec
}

fn receiving(costs: ProcessingSpec) -> HostSpec {
    HostSpec { receive: Some(costs), send: None }
}

#[test]
fn delays_are_told_apart_by_where_they_arise() {
    // 1040 B take 832 ns on each of two links, 40 B 32 ns: 2.832 us there after 832 ns, and 2.064 us back
    let fabric = 2 * 832_000 + 2 * US + 2 * 32_000 + 2 * US;
    let none = HostSpec::default();
    let delays = |costs: [HostSpec; 2]| {
        let o = run(&costly(1000, costs));
        let last = |name| series(&o, "flow 0", name).last().map(|(_, s)| (s * 1e12).round() as u64).unwrap();
        (last("rtt_s"), last("fabric_delay_s"))
    };
    assert_eq!(delays([none.clone(), none.clone()]), (fabric, fabric));
    // the receiver takes 3 us for the segment, the sender 500 ns for its ACK
    let (there, here) = (engine(Time::us(3), Time::ZERO), engine(Time::us(9), Time::ns(500)));
    assert_eq!(delays([none.clone(), receiving(there.clone())]), (fabric + 3 * US, fabric));
    assert_eq!(delays([receiving(here.clone()), receiving(there)]), (fabric + 3 * US + 500_000, fabric));
    // sender processing before the NIC is not part of the round trip; receiver processing of the ACK counts as host
    // delay
    let send = |costs| HostSpec { receive: None, send: Some(costs) };
    assert_eq!(delays([send(here.clone()), send(here)]), (fabric + 500_000, fabric));
}

#[test]
fn an_engine_serves_one_packet_after_another_by_its_costs() {
    // 100 ns a packet and 10 Gb/s: 932 ns for 1040 B, more than the 832 ns between two arrivals
    let costs = ProcessingSpec { rate: Rate::gbps(10), ..engine(Time::ns(100), Time::ZERO) };
    let mut spec = costly(10_000, [HostSpec::default(), receiving(costs)]);
    spec.transports[0].windows.initial_window = 10.0;
    let o = compared(&spec);
    let flow = &o.flows[0];
    assert_eq!(flow.received_ps, Some(2 * US + 2 * 832_000 + 10 * 932_000));
    let [rx] = &o.engines[..] else { panic!("{:?}", o.engines) };
    assert_eq!((rx.name.as_str(), rx.packets, rx.drops, rx.busy_ps), ("h1.rx0", 10, 0, 10 * 932_000));
    // the tenth came 9 x 832 ns after the first and waited for nine before it
    assert_eq!(rx.wait_max_ps, 10 * 932_000 - 9 * 832_000);
    assert_eq!(rx.queue_max_packets, 2);
    let waits: u64 = (0..10).map(|i| (i + 1) * 932_000 - i * 832_000).sum();
    assert_eq!(rx.wait_sum_ps, waits);
    let span = (spec.measure_to.0.min(o.end_ps) - spec.measure_from.0) as f64;
    assert!((rx.queue_mean_packets * span - waits as f64).abs() < 1.0, "Little's law");
}

#[test]
fn what_an_engine_has_no_room_for_is_lost_at_the_host() {
    let costs = ProcessingSpec { limit: 4, ..engine(Time::us(10), Time::ZERO) };
    let mut spec = costly(5_000, [HostSpec::default(), receiving(costs)]);
    spec.transports[0].windows.initial_window = 10.0;
    let o = run(&spec);
    let flow = &o.flows[0];
    // the first is still in service when the fifth comes
    assert_eq!((flow.host_dropped_m, o.engines[0].queue_max_packets), (1, 4));
    assert_eq!((flow.dropped, o.engines[0].drops), (1, 1), "the network lost none");
    assert_eq!(o.ports.iter().map(|p| p.drops + p.losses).sum::<u64>(), 0);
    assert_eq!((flow.delivered, flow.retransmissions), (5_000, 1), "what was lost goes again");
}

#[test]
fn flows_spread_over_the_engines_of_a_host_and_keep_theirs() {
    let costs = ProcessingSpec { engines: 4, ..engine(Time::us(1), Time::us(1)) };
    let mut spec = costly(20_000, [receiving(costs.clone()), receiving(costs)]);
    spec.observe.flows.clear();
    spec.observe.trace.clear();
    spec.flows = (0..64).map(|_| spec.flows[0].clone()).collect();
    let o = run(&spec);
    assert_eq!(o.engines.iter().map(|e| e.name.as_str()).collect::<Vec<_>>()[3..5], ["h0.rx3", "h1.rx0"]);
    for host in o.engines.chunks(4) {
        // 64 flows of 20 packets
        assert_eq!(host.iter().map(|e| e.packets).sum::<u64>(), 64 * 20);
        assert!(host.iter().all(|e| e.packets % 20 == 0 && e.packets >= 20 * 6), "{host:?}");
    }
    assert!(o.flows.iter().all(|f| f.retransmissions == 0), "one flow's packets stay in order");
}

#[test]
fn both_ways_of_a_connection_pass_the_engines() {
    // queries, fragments, losses at hosts and switches: as in the reference engine
    let t = changed!(plain(), sizes.mtu = 600, rto.rto_min = Time::ms(1), rto.rto_initial = Time::ms(1));
    let costs = HostSpec {
        receive: Some(ProcessingSpec { engines: 2, limit: 12, ..engine(Time::ns(700), Time::ns(200)) }),
        send: Some(ProcessingSpec { engines: 3, rate: Rate::gbps(20), ..engine(Time::ns(100), Time::ns(100)) }),
    };
    let mut spec = star(5, Rate::gbps(10), Time::us(1));
    spec.transports = vec![t];
    spec.controllers = vec![controller("swift", &[]), controller("newreno", &[])];
    let one_way = |src, dst| FlowSpec { app: App::Messages(Messages), ..bulk(src, dst, None) };
    spec.flows = (1..5).flat_map(|w| [one_way(0, w), one_way(w, 0)]).collect();
    spec.flows.extend((1..5).map(|w| FlowSpec { controller: 1, ..bulk(w, 0, Some(200_000)) }));
    spec.queries = vec![QuerySpec {
        group: 0,
        root: 0,
        first: Time::us(10),
        think: Time::us(5),
        count: Some(5),
        stop: Time::NEVER,
        close: None,
        connections: (0..4)
            .map(|i| ConnectionSpec { request: 2 * i, response: 2 * i + 1, request_size: 100, response_size: 30_000 })
            .collect(),
    }];
    spec.queues = vec![drop_tail(30)];
    spec.host_costs = vec![costs; 5];
    let o = compared(&spec);
    assert!(o.flows.iter().any(|f| f.host_dropped_m > 0));
    assert!(o.messages.iter().all(|m| m.finish_ps.is_some()), "{:?}", o.messages);
    assert!(o.flows[8..].iter().all(|f| f.finish_ps.is_some()));
}

#[test]
fn hosts_without_costs_change_nothing() {
    let plain = costly(50_000, [HostSpec::default(), HostSpec::default()]);
    let mut free = plain.clone();
    free.host_costs = vec![receiving(engine(Time::ZERO, Time::ZERO)); 2];
    let (a, b) = (run(&Spec { host_costs: Vec::new(), ..plain.clone() }), run(&plain));
    let flows = |o: &incast_record::Outcome| format!("{:?}", o.flows);
    assert_eq!(flows(&a), flows(&b));
    assert_eq!(flows(&a), flows(&run(&free)), "engines that take no time");
    let wrong = Spec { host_costs: vec![HostSpec::default()], ..plain.clone() };
    let told = incast_engine::run(&wrong, &mut |_| true).unwrap_err().to_string();
    assert_eq!(told, "processing times of 1 hosts, expected 2");
    let none = ProcessingSpec { engines: 0, ..engine(Time::ZERO, Time::ZERO) };
    let wrong = Spec { host_costs: vec![receiving(none); 2], ..plain };
    let told = incast_engine::run(&wrong, &mut |_| true).unwrap_err().to_string();
    assert_eq!(told, "0 engines per direction of a host, expected 1 to 64");
}
