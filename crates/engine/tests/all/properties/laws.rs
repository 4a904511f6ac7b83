//! Laws of every run, in any network.

use crate::support::*;
use incast_engine::FlowId;
use incast_engine::map::ideal;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Time of the first transmission of each segment, by flow and number.
type Sent = BTreeMap<(u32, u64), u64>;

/// Connection of segment `seq` of a flow, and the number of its first byte. Connections opened for each query have
/// three numbers more than bytes.
fn of_connection(spec: &Spec, flow: u32, seq: u64) -> (u64, u64) {
    let renewed = spec.queries.iter().filter(|q| q.close.is_some()).flat_map(|q| &q.connections);
    let mut sizes = renewed.flat_map(|c| [(c.request, c.request_size), (c.response, c.response_size)]);
    sizes.find(|(f, _)| *f == flow).map_or((0, 0), |(_, size)| {
        let number = (seq + 1) / (size + 3);
        (number, number * (size + 3))
    })
}

/// Laws of every flow of a run with a packet trace and series of every change.
pub fn laws(spec: &Spec, outcome: &Outcome) -> Result<(), TestCaseError> {
    let mut sent: Sent = BTreeMap::new();
    for e in outcome.trace.iter().filter(|e| e.payload > 0 && e.event == Happening::Send) {
        let first = sent.entry((e.flow, e.seq)).or_insert(e.time_ps);
        *first = e.time_ps.min(*first);
    }
    totals(spec, outcome)?;
    in_order(spec, outcome, &sent)?;
    datagrams(spec, outcome)?;
    late(spec, outcome, &sent)?;
    windows(spec, outcome)
}

/// Counters of a flow are consistent, and no flow ends before its ideal.
fn totals(spec: &Spec, outcome: &Outcome) -> Result<(), TestCaseError> {
    for (f, flow) in outcome.flows.iter().enumerate() {
        prop_assert!(flow.delivered <= flow.written, "flow {}: {:?}", f, flow);
        prop_assert!(flow.arrived + flow.dropped <= flow.sent, "flow {}: {:?}", f, flow);
        prop_assert!(flow.delivered_m <= flow.written, "flow {}: more than all, {:?}", f, flow);
        let per_segment = spec.transports[spec.flows[f].transport as usize].sizes.mss as u64;
        prop_assert!(flow.delivered <= flow.arrived * per_segment, "more bytes than segments carried");
        if let (Some(finish), Some(received), Some(size)) = (flow.finish_ps, flow.received_ps, flow.size) {
            prop_assert!(received <= finish);
            prop_assert!(flow.delivered == size || spec.flows[f].stop != Time::NEVER);
            // under any routes, writes and windows
            if flow.delivered == size {
                let ideal = flow.ideal_fct_ps.unwrap();
                prop_assert!(finish - flow.start_ps >= ideal, "flow {}: {} before {}", f, finish, ideal);
                let ideal = flow.ideal_delivery_ps.unwrap();
                prop_assert!(received - flow.start_ps >= ideal, "flow {}: {} there before {}", f, received, ideal);
            }
        }
    }
    Ok(())
}

/// In order, each byte once: data held by receivers after every segment, from the trace alone.
fn in_order(spec: &Spec, outcome: &Outcome, sent: &Sent) -> Result<(), TestCaseError> {
    let mut held: BTreeMap<u32, u64> = BTreeMap::new();
    let mut beyond: BTreeMap<u32, Vec<(u64, u64)>> = BTreeMap::new();
    // around a failure packets take any of the shortest paths
    let choice = if spec.failures.is_empty() { spec.choice.clone() } else { PathChoice::Spray };
    let around = Spec { choice, ..spec.clone() };
    let fabric = ideal::Fabric::new(&around);
    let ways: Vec<_> = (0..spec.flows.len() as u32).map(|f| fabric.shares(FlowId(f), false)).collect();
    for (f, way) in ways.iter().enumerate() {
        // all packets that leave the source reach the destination, however they are split on the way
        let arrives: f64 = way.iter().filter(|(l, _)| spec.links[*l].to == spec.flows[f].dst).map(|w| w.1).sum();
        prop_assert!((arrives - 1.0).abs() < 1e-9, "flow {}: {}", f, arrives);
    }
    for e in &outcome.trace {
        if e.payload == 0 || e.event != Happening::Receive {
            continue;
        }
        // no copy arrives before the time it needs on the empty network
        let mut reached: BTreeMap<u32, u64> = [(spec.flows[e.flow as usize].src, 0)].into();
        for link in ways[e.flow as usize].iter().map(|(l, _)| &spec.links[*l]) {
            let time = reached[&link.from] + link.crossing(e.size as u64).0;
            let first = reached.entry(link.to).or_insert(time);
            *first = time.min(*first);
        }
        let smallest = reached[&spec.flows[e.flow as usize].dst];
        let first = sent.get(&(e.flow, e.seq)).copied();
        prop_assert!(first.is_some_and(|t| e.time_ps >= t + smallest), "early: {:?}, sent {:?}", e, first);
        let next = held.entry(e.flow).or_insert(0);
        let list = beyond.entry(e.flow).or_default();
        let byte = e.seq - 3 * of_connection(spec, e.flow, e.seq).0;
        list.push((byte, byte + e.payload as u64));
        list.sort_unstable();
        for (start, end) in list.iter() {
            if *start <= *next {
                *next = (*next).max(*end);
            }
        }
        list.retain(|r| r.1 > *next);
    }
    for flow in &outcome.flows {
        // a reset or closed receiver counts later packets but accepts none
        let ends = &spec.flows[flow.flow as usize];
        let reliable = !matches!(ends.app, App::Udp(_));
        if reliable && ends.at_stop == AtStop::Drain && ends.sink_stop == Time::NEVER {
            // extra packets carry none of the application's bytes
            let held = held.get(&flow.flow).copied().unwrap_or(0).min(flow.size.unwrap_or(u64::MAX));
            prop_assert_eq!(flow.delivered, held, "flow {}", flow.flow);
        }
    }
    Ok(())
}

fn datagrams(spec: &Spec, outcome: &Outcome) -> Result<(), TestCaseError> {
    for flow in outcome.flows.iter().filter(|f| matches!(spec.flows[f.flow as usize].app, App::Udp(_))) {
        let mss = spec.transports[spec.flows[flow.flow as usize].transport as usize].sizes.mss as u64;
        prop_assert_eq!(flow.delivered, flow.arrived * mss, "datagrams are delivered as they come");
        prop_assert_eq!(flow.written, flow.sent * mss);
        prop_assert_eq!((flow.retransmissions, flow.timeouts, flow.rtt_count), (0, 0, 0));
        prop_assert_eq!(flow.finish_ps, None);
    }
    Ok(())
}

/// Late packets, their extents and the buffer they need, from the trace alone.
fn late(spec: &Spec, outcome: &Outcome, sent: &Sent) -> Result<(), TestCaseError> {
    for flow in &outcome.flows {
        let ends = &spec.flows[flow.flow as usize];
        if matches!(ends.app, App::Udp(_)) || ends.at_stop == AtStop::Reset || ends.sink_stop != Time::NEVER {
            continue;
        }
        if spec.queries.iter().any(|q| {
            q.close == Some(Close::Reset) && q.connections.iter().any(|c| [c.request, c.response].contains(&flow.flow))
        }) {
            continue;
        }
        let (mut late, mut extents, mut all_came) = (0, Vec::new(), BTreeMap::<u64, Vec<(u64, u64, u64)>>::new());
        let mut arrived = 0;
        let mut nexts = BTreeMap::<u64, u64>::new();
        for e in outcome.trace.iter().filter(|e| e.flow == flow.flow && e.event == Happening::Receive) {
            let fin = u64::from(e.flags.contains("FIN"));
            // an ACK of the flow's own direction carries neither data nor FIN, and the other direction does not count
            if e.payload as u64 + fin == 0 || e.flags.contains("SYN") || e.place != spec.node_names[flow.dst as usize] {
                continue;
            }
            arrived += u64::from(e.payload > 0);
            let end = e.seq + e.payload as u64 + fin;
            let (connection, base) = of_connection(spec, e.flow, e.seq);
            let came = all_came.entry(connection).or_default();
            let next = nexts.entry(connection).or_insert(base);
            let first = came.iter().find(|(_, other, _)| *other > end);
            let sent_at = sent.get(&(e.flow, e.seq)).copied().unwrap_or(0);
            let measured = (spec.measure_from.0..spec.measure_to.0).contains(&sent_at);
            if let (Some((.., number)), true) = (first, e.payload > 0 && measured && !e.flags.contains("RETX")) {
                late += 1;
                if end > *next {
                    extents.push(arrived - number);
                }
            }
            came.push((e.seq, end, arrived));
            let mut list: Vec<(u64, u64)> = came.iter().map(|c| (c.0, c.1)).collect();
            list.sort_unstable();
            for (start, end) in list {
                *next = if start <= *next { end.max(*next) } else { *next };
            }
        }
        prop_assert_eq!(flow.late, late, "flow {}", flow.flow);
        prop_assert_eq!(flow.extent_max, extents.iter().max().copied().unwrap_or(0), "flow {}", flow.flow);
        prop_assert_eq!(flow.extents, extents.len() as u64, "flow {}", flow.flow);
        prop_assert_eq!(flow.extent_sum, extents.iter().sum::<u64>(), "flow {}", flow.flow);
        prop_assert!(flow.extents <= late && flow.extent_max <= flow.arrived);
    }
    Ok(())
}

/// Segments limited to half of a window that a program has rewritten may be as small as a byte.
fn has_short_segments(spec: &Spec, transport: &TransportSpec) -> bool {
    transport.windows.half_window_mss && !spec.programs.is_empty()
}

/// Windows stay within their bounds.
fn windows(spec: &Spec, outcome: &Outcome) -> Result<(), TestCaseError> {
    for s in outcome.samples.iter().filter(|s| s.name == "cwnd_bytes") {
        let f: usize = s.entity.trim_start_matches("flow ").parse().unwrap();
        let transport = &spec.transports[spec.flows[f].transport as usize];
        let least = if has_short_segments(spec, transport) { 1 } else { transport.sizes.mss };
        let (mss, least) = (transport.sizes.mss as f64, least as f64);
        let name = spec.controllers[spec.flows[f].controller as usize].kind().name;
        let swift = name.contains("swift");
        let (low, high) = if swift { (0.001 * least, 1000.0 * mss) } else { (0.0, f64::INFINITY) };
        // rates alone govern these two
        let paced = ["timely", "dcqcn"].contains(&name);
        prop_assert!(s.value >= low && s.value <= high && (s.value.is_finite() || paced), "{:?}", s);
    }
    Ok(())
}
