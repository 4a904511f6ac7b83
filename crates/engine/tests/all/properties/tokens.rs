//! pHost and dcPIM in any network: engines agree, packets and tokens are conserved, data comes once and whole.

use super::networks::*;
use super::numbered::{data_comes_once, nothing_is_lost_unseen};
use crate::support::*;
use incast_engine::map::ideal::Fabric;
use incast_engine::{FlowId, spec::Protocol};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn phost() -> impl Strategy<Value = Protocol> {
    let times = (pick(&[1.0, 1.027, 2.5]), pick(&[0.4, 1.5, 20.0]), pick(&[3.0, 25.0]), pick(&[2.0, 9.0, 40.0]));
    let large = pick(&[None, Some(1), Some(12_000)]);
    let counts = (pick(&[0u32, 1, 8, 30]), 1u32..40);
    (pick(&[Free::Short, Free::All]), counts, times, large).prop_map(
        |(free, (free_packets, window), (gap, expiry, skip, reissue), large)| {
            let levels = if large.is_some() { 3 } else { 2 };
            Protocol::PHost(PHost { free, free_packets, gap, expiry, window, skip, reissue, levels, large })
        },
    )
}

/// The length of rounds follows from the network.
fn dcpim() -> impl Strategy<Value = Protocol> {
    let phases = (1u32..6, pick(&[1u32, 3, 4, 16]), pick(&[1.01, 1.3, 4.0]), pick(&[1.0, 1.25, 3.0]));
    let counts = (pick(&[0u32, 1, 8, 30]), 0u32..4, 1u32..40, 2u8..8);
    let times = (pick(&[3.0, 20.9]), pick(&[2.0, 19.0]));
    (phases, counts, times).prop_map(|((rounds, channels, beta, alpha), counts, (window_timeout, reissue))| {
        let (short_packets, shortest_first, window, levels) = counts;
        let control_rtt = Time::ns(1);
        Protocol::DcPim(DcPim {
            rounds,
            channels,
            control_rtt,
            beta,
            alpha,
            short_packets,
            shortest_first,
            window,
            window_timeout,
            reissue,
            levels,
        })
    })
}

fn endpoints() -> impl Strategy<Value = Protocol> {
    prop_oneof![phost(), dcpim()]
}

/// Service of packets at ports.
#[derive(Clone, Copy, Debug)]
enum Ports {
    /// As in the random network.
    Drawn,
    /// By class.
    Strict(u64),
    /// By rank.
    Ranked(u64),
}

fn ports() -> impl Strategy<Value = Ports> {
    prop_oneof![Just(Ports::Drawn), (1u64..30).prop_map(Ports::Strict), (3_000u64..60_000).prop_map(Ports::Ranked)]
}

/// Sets rounds that are a little longer than a round trip of control packets over any path.
fn set_rounds(spec: &mut Spec, own: &DcPim) {
    let fabric = Fabric::new(spec);
    let size = spec.transports[0].sizes.ack_size as u64;
    let crossing = |flow, reverse| {
        let links = fabric.path(flow, reverse);
        links.iter().map(|link| spec.links[*link].crossing(size).0).sum::<u64>()
    };
    let flows = (0..spec.flows.len() as u32).map(FlowId);
    let longest = flows.flat_map(|flow| [false, true].map(|reverse| crossing(flow, reverse))).max();
    let own = DcPim { control_rtt: Time(2 * longest.unwrap_or(0) + 1_000), ..own.clone() };
    drop(fabric);
    for t in spec.transports.iter_mut().filter(|t| t.protocol.of::<DcPim>().is_some()) {
        t.protocol = Protocol::DcPim(own.clone());
    }
}

/// Makes two of three transports this one.
fn with_tokens(spec: &mut Spec, own: &Protocol, ports: Ports, slow: bool) {
    for t in &mut spec.transports {
        (t.connection.handshake, t.connection.lone_syn, t.output.rank, t.sizes.mtu) = (false, false, None, 0);
        (t.output.demotion, t.output.demotion_by, t.output.probe_after) = (Vec::new(), Rank::Sent, 0);
    }
    for t in &mut spec.transports[..2] {
        t.protocol = own.clone();
        (t.sizes.ack_size, t.output.extra_packets) = (64, 0);
        t.rto.rto_min = if slow { Time::ms(5) } else { Time::us(200) };
    }
    let (mss, header) = (spec.transports[0].sizes.mss, spec.transports[0].sizes.header);
    if own.of::<DcPim>().is_some() {
        (spec.transports[1].sizes.mss, spec.transports[1].sizes.header) = (mss, header);
    }
    let lowest = own.facts().lowest_class.unwrap_or(0);
    for flow in &mut spec.flows {
        let receiver_driven = spec.transports[flow.transport as usize].protocol == *own;
        (flow.class, flow.ack_class) =
            if receiver_driven && flow.app.datagram_gap().is_none() { (lowest, 0) } else { (0, 0) };
    }
    for port in &mut spec.queues {
        match ports {
            Ports::Strict(n) => *port = classes(Scheduler::Strict, vec![drop_tail(n); lowest as usize + 1]),
            Ports::Ranked(bytes) => {
                *port = QueueSpec { count_in_service: slow, ..queue(Discipline::Pfabric, Limit::Bytes(bytes)) }
            }
            Ports::Drawn if matches!(port.discipline, Discipline::FairNic { .. }) => *port = drop_tail(20),
            Ports::Drawn => only_first_class(port),
        }
        port.device = 0;
    }
    spec.links.iter_mut().for_each(|l| l.bucket = 0);
    spec.links.iter_mut().filter(|l| l.rate == Rate::INFINITE).for_each(|l| l.rate = Rate::gbps(1));
    let shared = !matches!(ports, Ports::Ranked(_));
    spec.buffer = spec.buffer.take().filter(|_| shared).map(|buffer| BufferSpec { pfc: None, ..buffer });
    spec.host_costs.clear();
    spec.programs.clear();
    spec.queries.iter_mut().for_each(|q| q.close = None);
    spec.observe.trace = (0..spec.flows.len() as u32).collect();
    spec.observe.flows = (0..spec.flows.len() as u32).collect();
    // a sample at every change: the last is what a sender has at the end
    spec.observe.interval = None;
    if let Protocol::DcPim(own) = own {
        set_rounds(spec, own);
    }
}

/// No packet goes without a token, and tokens follow the paths of packets, are used, expired, or held.
fn conserved(spec: &Spec, own: &Protocol, o: &Outcome) -> Result<(), TestCaseError> {
    prop_assert_eq!(o.packets_sent, o.packets_delivered + o.packets_dropped + o.packets_in_flight);
    let mut last = BTreeMap::new();
    for s in &o.samples {
        last.insert((s.entity.to_string(), s.name), s.value as u64);
    }
    let (mut sent, mut came, mut gone) = (0, 0, 0);
    for (f, flow) in (0..).zip(&spec.flows) {
        let receiver_driven = spec.transports[flow.transport as usize].protocol.name() == own.name();
        if !receiver_driven || flow.app.datagram_gap().is_some() {
            continue;
        }
        let (source, sink) = (&spec.node_names[flow.src as usize], &spec.node_names[flow.dst as usize]);
        let (mut tokens, mut packets) = (0u64, 0u64);
        for e in o.trace.iter().filter(|e| e.flow == f) {
            // a token, or a request
            let asks = e.payload == 0 && !e.flags.contains("ACK");
            match e.event {
                Happening::Send if asks => sent += 1,
                Happening::Drop | Happening::Loss if asks => gone += 1,
                Happening::Arrive if asks && e.place == *source => {
                    came += 1;
                    tokens += 1;
                }
                Happening::Arrive if asks && e.place == *sink => came += 1,
                Happening::Send if e.payload > 0 => packets += 1,
                _ => {}
            }
        }
        let told = |name| last.get(&(format!("flow {f}"), name)).copied().unwrap_or(0);
        let (had, held) = (told("tokens"), told("tokens_held"));
        prop_assert_eq!(had, packets + told("tokens_expired") + told("tokens_unused") + held, "flow {}", f);
        // requests and acceptances come beside tokens where hosts match
        prop_assert!(had >= tokens || own.of::<DcPim>().is_some(), "flow {}: {} had, {} came", f, had, tokens);
        data_comes_once(f, flow, o)?;
    }
    nothing_is_lost_unseen(o, sent, came, gone)
}

proptest! {
    #![proptest_config(crate::support::cases(12))]

    #[test]
    fn tokens_are_conserved_and_data_comes_once_in_any_network(
        spec in networks(), own in endpoints(), ports in ports(), slow: bool,
    ) {
        let mut spec = spec;
        with_tokens(&mut spec, &own, ports, slow);
        spec.observe.ports = vec![0, spec.links.len() as u32 - 1];
        let outcome = compared_seen_and_unseen(&spec);
        conserved(&spec, &own, &outcome)?;
    }
}

proptest! {
    #![proptest_config(crate::support::cases(200))]

    #[test]
    fn the_laws_of_tokens_hold_on_any_network(spec in networks(), own in endpoints(), ports in ports(), slow: bool) {
        let mut spec = spec;
        with_tokens(&mut spec, &own, ports, slow);
        conserved(&spec, &own, &run(&spec))?;
    }
}
