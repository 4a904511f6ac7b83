//! Datagrams: constant pace, no acknowledgements, no retransmissions. They do not keep a run going.

use crate::support::*;

/// A full packet every 8 us over 1 Gb/s, where it takes 4 us.
fn udp(src: u32, dst: u32) -> FlowSpec {
    FlowSpec { app: App::Udp(Udp { gap: Time::us(8), random: false }), ..bulk(src, dst, None) }
}

/// 500-byte packets with headers: 4 us on a link.
fn small() -> TransportSpec {
    changed!(htsim(), sizes.mss = 460, sizes.header = 40)
}

#[test]
fn a_packet_every_gap_and_nothing_back() {
    let mut spec = wire(Rate::gbps(1), Time::us(1), small(), "swift", udp(0, 1));
    run_for(&mut spec, Time::ms(1));
    let o = compared(&spec);
    let sent: Vec<u64> = data_sent(&o, "h0").iter().map(|e| e.time_ps).collect();
    // 0, 8 us ... 992 us; the run ends at 1 ms
    assert_eq!(sent, (0..125).map(|i| i * 8_000_000).collect::<Vec<_>>());
    let received = events(&o, "h1", Happening::Receive);
    assert!(received.iter().zip(&sent).all(|(r, s)| r.time_ps == s + 10_000_000), "two links of 4 us and 1 us each");
    let flow = &o.flows[0];
    // the packets of 984 and 992 us have not arrived
    assert_eq!((flow.sent, flow.arrived, flow.dropped, flow.delivered), (125, 124, 0, 124 * 460));
    assert_eq!(o.packets_sent, 125, "nobody answers");
    assert_eq!((flow.finish_ps, flow.size, flow.rtt_count), (None, None, 0));
    assert_eq!(o.controllers, ["udp"], "no controller governs anything");
    assert!(flow.controller == 0 && flow.datagrams);
    assert!(o.trace.iter().all(|e| !e.flags.contains("ECT")), "Swift's ECN is none of its business: {:?}", o.trace[0]);
}

#[test]
fn from_start_to_stop() {
    let flow = FlowSpec { start: Time::us(100), stop: Time::us(140), ..udp(0, 1) };
    let mut spec = wire(Rate::gbps(1), Time::us(1), small(), "dctcp", flow);
    spec.duration = Time::ms(1);
    let o = run(&spec);
    let sent: Vec<u64> = data_sent(&o, "h0").iter().map(|e| e.time_ps / 1_000_000).collect();
    assert_eq!(sent, [100, 108, 116, 124, 132], "none at the stop itself");
    assert_eq!(o.end_ps, 142_000_000, "with nothing left to happen the run ends");
}

#[test]
fn what_is_lost_stays_lost() {
    let mut spec = wire(Rate::gbps(1), Time::us(1), small(), "swift", udp(0, 1));
    run_for(&mut spec, Time::ms(1));
    spec.links[0].loss = Loss::List(vec![3, 4, 50]);
    let o = run(&spec);
    let flow = &o.flows[0];
    assert_eq!((flow.sent, flow.arrived, flow.dropped, flow.retransmissions), (125, 121, 3, 0));
    assert_eq!(flow.delivered, 121 * 460, "what comes counts, in spite of the holes");
    assert_eq!(flow.delivered_m, flow.delivered);
}

#[test]
fn a_segment_in_fragments_arrives_whole_or_not() {
    let transport = changed!(htsim(), sizes.mss = 3000, sizes.header = 28, sizes.mtu = 1500);
    let flow = FlowSpec { app: App::Udp(Udp { gap: Time::us(50), random: false }), ..bulk(0, 1, None) };
    let mut spec = wire(Rate::gbps(1), Time::us(1), transport, "swift", flow);
    run_for(&mut spec, Time::ms(1));
    // three fragments a segment: one of the second segment's
    spec.links[0].loss = Loss::List(vec![4]);
    let o = run(&spec);
    assert_eq!((o.flows[0].sent, o.flows[0].arrived, o.flows[0].dropped), (20, 19, 1));
    assert_eq!(o.flows[0].delivered, 19 * 3000);
}

#[test]
fn a_nic_that_is_full_takes_none() {
    // four flows of half the line rate each: a NIC of two packets a flow sends what the line takes
    let mut spec = wire(Rate::gbps(1), Time::us(1), small(), "swift", udp(0, 1));
    spec.flows = vec![udp(0, 1); 4];
    run_for(&mut spec, Time::ms(1));
    spec.queues.push(queue(Discipline::FairNic { per_flow: 2 }, Limit::None));
    spec.links[0].queue = 1;
    let o = compared(&spec);
    let sent: u64 = o.flows.iter().map(|f| f.sent).sum();
    // 250 packets fit on the line; eight wait
    assert!((250..=258).contains(&sent), "{sent}");
    assert!(o.flows.iter().all(|f| f.sent.abs_diff(sent / 4) <= 2 && f.dropped == 0));
}

#[test]
fn a_run_ends_when_all_that_has_a_size_is_done() {
    let mut spec = star(4, Rate::gbps(1), Time::us(1));
    spec.transports = vec![changed!(small(), output.extra_packets = 0)];
    spec.flows = vec![udp(0, 1), bulk(2, 3, Some(46_000)), bulk(2, 1, None)];
    spec.observe.trace = vec![0];
    let never = run(&spec);
    assert_eq!(never.end_ps, spec.duration.0);
    spec.ends_when_finished = true;
    let o = compared(&spec);
    let finish = o.flows[1].finish_ps.unwrap();
    assert_eq!(Some(finish), never.flows[1].finish_ps);
    // a link's longest latency: 1 us, and the smallest packet's 20 bytes
    assert_eq!(o.end_ps, finish + 1_160_000);
    assert_eq!(o.measure_to_ps, o.end_ps);
    let last = data_sent(&o, "h0").last().unwrap().time_ps;
    assert!(last < o.end_ps && last + 8_000_000 >= o.end_ps, "elephants go on to the end: {last}");
    // all of it without delays, in one domain and in many
    spec.links.iter_mut().for_each(|l| l.delay = Time::ZERO);
    let o = compared(&spec);
    assert_eq!(o.end_ps, o.flows[1].finish_ps.unwrap() + 10_000_000);
    // without a flow that could finish, the run goes on
    spec.flows.remove(1);
    assert_eq!(run(&spec).end_ps, spec.duration.0);
}

#[test]
fn controllers_are_those_of_flows() {
    let mut spec = wire(Rate::gbps(1), Time::us(1), small(), "swift", bulk(0, 1, Some(4600)));
    spec.controllers = vec![controller("newreno", &[]), controller("swift", &[]), controller("dctcp", &[])];
    let of = |controller, flow: FlowSpec| FlowSpec { controller, ..flow };
    spec.flows = vec![of(0, udp(0, 1)), of(2, bulk(0, 1, Some(4600))), of(1, bulk(0, 1, Some(460)))];
    spec.duration = Time::ms(1);
    let o = run(&spec);
    let named = o.flows.iter().map(|f| o.controllers[f.controller as usize].as_str());
    assert_eq!((named.collect::<Vec<_>>(), o.controllers.len()), (vec!["udp", "dctcp", "swift"], 3));
}
