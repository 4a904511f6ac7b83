//! Flows that open when others have come to their ends: at once on the same host, a link's latency later elsewhere.
mod net;

use incast_cc::{Rate, Time};
use incast_engine::spec::*;
use incast_record::Outcome;
use net::*;

/// Four hosts around a switch; every flow has ten segments.
fn hosts(flows: Vec<FlowSpec>) -> Spec {
    let mut spec = star(4, Rate::gbps(1), Time::us(1));
    spec.transports = vec![TransportSpec { mss: 460, header: 40, extra_packets: 0, ..htsim() }];
    spec.flows = flows;
    spec
}

fn flow(src: u32, dst: u32) -> FlowSpec {
    bulk(src, dst, Some(4600))
}

fn after(flow: FlowSpec, count: u32, of: &[(u32, Done)]) -> FlowSpec {
    FlowSpec { after: Some(Box::new(After { count, of: of.to_vec() })), ..flow }
}

/// When the flows opened, ps.
fn opened(o: &Outcome) -> Vec<u64> {
    o.flows.iter().map(|f| f.start_ps).collect()
}

/// The longest latency of a link, the smallest packet's 20 bytes and 1 us.
const RELAY: u64 = 1_160_000;

#[test]
fn at_its_own_host_a_flow_follows_at_once() {
    let o = judged(&hosts(vec![
        flow(0, 1),
        after(flow(0, 2), 1, &[(0, Done::Sent)]),
        after(flow(1, 3), 1, &[(0, Done::Received)]),
    ]));
    let first = &o.flows[0];
    assert_eq!(opened(&o)[1..], [first.finish_ps.unwrap(), first.received_ps.unwrap()]);
    assert!(o.flows.iter().all(|f| f.finish_ps.is_some()));
    // completion times count from when a flow opened
    assert!(o.flows[2].finish_ps.unwrap() - o.flows[2].start_ps < 2 * (first.finish_ps.unwrap() - first.start_ps));
}

#[test]
fn other_hosts_hear_of_it_a_latency_later() {
    let o = judged(&hosts(vec![
        flow(0, 1),
        after(flow(2, 3), 1, &[(0, Done::Sent)]),
        after(flow(0, 3), 1, &[(0, Done::Received)]),
    ]));
    let first = &o.flows[0];
    assert_eq!(opened(&o)[1..], [first.finish_ps.unwrap() + RELAY, first.received_ps.unwrap() + RELAY]);
}

#[test]
fn so_many_of_several() {
    let ends = [(0, Done::Sent), (1, Done::Sent), (2, Done::Sent)];
    let long = bulk(0, 2, Some(46_000));
    let nth = |count| after(flow(0, 3), count, &ends);
    let o = judged(&hosts(vec![flow(0, 1), flow(0, 1), long, nth(1), nth(2), nth(3)]));
    let mut finished: Vec<u64> = o.flows[..3].iter().map(|f| f.finish_ps.unwrap()).collect();
    finished.sort_unstable();
    assert_eq!(opened(&o)[3..], finished[..]);
}

#[test]
fn its_start_is_the_earliest() {
    let waits = |start| FlowSpec { start, ..after(flow(0, 2), 1, &[(0, Done::Sent)]) };
    let o = judged(&hosts(vec![flow(0, 1), waits(Time::us(20)), waits(Time::ms(1))]));
    assert_eq!(opened(&o)[1..], [o.flows[0].finish_ps.unwrap(), Time::ms(1).0]);
}

#[test]
fn who_waits_for_what_never_ends_does_not_open() {
    let o = judged(&hosts(vec![bulk(0, 1, None), after(flow(2, 3), 1, &[(0, Done::Sent)]), flow(2, 1)]));
    assert_eq!((o.flows[1].sent, o.flows[1].finish_ps), (0, None));
    // in a circle nobody does, and nothing is left to happen
    let circle = |of| after(flow(0, 1), 1, &[(of, Done::Sent)]);
    let o = judged(&hosts(vec![circle(1), circle(0)]));
    assert_eq!((o.packets_sent, o.end_ps), (0, 0));
}

#[test]
fn a_ring_goes_round() {
    // what a host has received of step s it passes on as step s + 1
    let n = 4;
    let flows = (0..3 * n).map(|i| {
        let (step, h) = (i / n, i % n);
        let step_flow = flow(h, (h + 1) % n);
        if step == 0 { step_flow } else { after(step_flow, 1, &[((step - 1) * n + (h + n - 1) % n, Done::Received)]) }
    });
    let o = judged(&hosts(flows.collect()));
    for i in n..3 * n {
        let before = (i / n - 1) * n + (i % n + n - 1) % n;
        assert_eq!(Some(o.flows[i as usize].start_ps), o.flows[before as usize].received_ps, "flow {i}");
    }
}
