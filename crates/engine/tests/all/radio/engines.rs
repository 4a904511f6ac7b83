//! Cells under the engine of windows and under the reference engine.

use super::{circle, discovering, framing, raw};
use crate::support::*;
use incast_cc::Time;

/// Transport of ns-3 over IPv6, as far as relevant here.
pub fn transport() -> TransportSpec {
    changed!(
        htsim(),
        sizes.mss = 536,
        sizes.header = 72,
        sizes.ack_size = 72,
        sizes.syn_size = 76,
        connection.handshake = true,
        acks.delayed_ack = 2,
        loss.sack_block = 8,
        rto.rto_min = Time::s(1),
        rto.rto_initial = Time::s(1),
        connection.syn_timeout = Time::s(3),
        windows.initial_window = 10.0,
        windows.least_segment = false,
        windows.send_buffer = 1 << 17,
        windows.receive_buffer = 1 << 17
    )
}

/// Puts a link of a station to its channel, or the opposite one, on the air.
pub fn on_air(link: &mut LinkSpec, cell: Option<u32>) {
    link.rate = if cell.is_some() { Rate::bps(250_000) } else { Rate::INFINITE };
    (link.delay, link.cell) = (Time::ZERO, cell);
}

/// Hosts 1 to `senders` send `size` bytes each to host 0.
pub fn cell(senders: u32, size: Option<u64>) -> Spec {
    let n = senders + 1;
    let mut spec = star(n, Rate::bps(250_000), Time::ZERO);
    spec.links.iter_mut().for_each(|l| on_air(l, (l.to == n).then_some(0)));
    spec.queues = vec![endless_queue()];
    spec.cells = vec![CellSpec { framing: framing(), ..circle(senders) }];
    spec.transports = vec![transport()];
    spec.controllers = vec![controller("newreno", &[])];
    spec.flows = (1..n).map(|h| bulk(h, 0, size)).collect();
    spec.observe.queue_interval = Time::ms(100);
    run_for(&mut spec, Time::s(20));
    spec
}

#[test]
fn a_cell_is_the_same_under_both_engines() {
    let mut spec = cell(4, None);
    (spec.observe.cells, spec.observe.interval) = (vec![0], Some(Time::ms(300)));
    let outcome = compared(&spec);
    // 67 rows of 20 s, the last one of 0.2 s
    let rows: Vec<f64> = outcome.samples.iter().filter(|s| s.name == "channel_busy").map(|s| s.value).collect();
    let busy = rows[..66].iter().sum::<f64>() * 0.3 + rows[66] * 0.2;
    assert!(rows.len() == 67 && (busy * 1e12 - outcome.radios[0].channel_busy_ps as f64).abs() < 1e3, "{busy}");
    // a SYN that does not get through is retried after 3, 6, 12 s
    assert!(outcome.flows.iter().filter(|f| f.delivered > 0).count() >= 3, "{:?}", outcome.flows);
    assert!(outcome.ports.iter().any(|p| p.losses > 0), "nothing was lost");
    let lost: u64 = outcome.radios.iter().map(|r| r.counts.lost).sum();
    assert_eq!(lost, outcome.ports.iter().map(|p| p.losses).sum::<u64>());
}

#[test]
fn datagrams_and_floods_are_the_same_under_both_engines() {
    for mesh in [None, Some(MeshSpec { hops: 3, remembered: 10, jitter_ms: 9 })] {
        let mut spec = cell(6, None);
        let adaptation = framing().adaptation.map(|a| AdaptationSpec { mesh, ..a });
        spec.cells[0].framing = FramingSpec { adaptation, ..framing() };
        // a line of stations, each of which hears the next two
        spec.cells[0].stations.iter_mut().enumerate().for_each(|(i, s)| s.at = (35.0 * i as f64, 0.0));
        for flow in &mut spec.flows {
            flow.app = App::Udp(Udp { gap: Time::ms(400), random: false });
        }
        spec.transports[0] = changed!(transport(), sizes.mss = 100, sizes.header = 48);
        run_for(&mut spec, Time::s(10));
        let outcome = compared(&spec);
        let reached = outcome.flows.iter().filter(|f| f.delivered > 0).count();
        // without flooding no packet arrives from beyond the range
        assert_eq!(reached, if mesh.is_some() { 6 } else { 2 }, "{mesh:?}");
    }
}

#[test]
fn neighbours_are_found_alike_under_both_engines() {
    for mesh in [None, Some(MeshSpec { hops: 4, remembered: 10, jitter_ms: 9 })] {
        let mut spec = cell(4, None);
        spec.cells[0].framing =
            FramingSpec { adaptation: framing().adaptation.map(|a| AdaptationSpec { mesh, ..a }), ..framing() };
        spec.cells[0] = discovering(spec.cells[0].clone());
        if let Some(discovery) = spec.cells[0].framing.adaptation.as_mut().and_then(|a| a.discovery.as_mut()) {
            (discovery.addresses, discovery.router_solicitations, discovery.reachable) = (2, 5, Time::s(2));
        }
        spec.cells[0].stations.iter_mut().enumerate().for_each(|(i, s)| s.at = (35.0 * i as f64, 0.0));
        spec.transports[0] = changed!(transport(), sizes.mss = 100);
        spec.observe.acks = true;
        spec.observe.monitor = MonitorRule { lost_after_ps: Some(Time::s(10).0), undeliverable_received: true };
        run_for(&mut spec, Time::s(30));
        let outcome = compared(&spec);
        assert!(outcome.radios.iter().all(|r| r.counts.discovery >= 7), "{:?}", outcome.radios);
        // SYNs from stations out of range return after 4 s
        let back = outcome.flows.iter().filter(|f| f.fm_rx_packets > 0 && f.delivered == 0).collect::<Vec<_>>();
        assert!(mesh.is_some() || !back.is_empty());
        assert!(mesh.is_some() || back.iter().all(|f| f.fm_delay_sum_ps % Time::s(4).0 == 0), "{back:?}");
    }
}

#[test]
fn readings_of_the_standard_are_the_same_under_both_engines() {
    for errors in [Errors::Sinr, Errors::Overlap, Errors::None] {
        let mut spec = cell(5, Some(4_000));
        let own = &mut spec.cells[0];
        own.phy = PhySpec { errors, assessment: Assessment::Window, ..own.phy };
        own.mac = MacSpec { foreign_acks_fail: false, duplicates_rejected: true, reception_restarts: false, ..own.mac };
        own.propagation = Propagation::LogDistance { reference: 46.6777, exponent: 3.0, shadowing: 4.0 };
        spec.ends_when_finished = true;
        let outcome = compared(&spec);
        assert!(outcome.flows.iter().any(|f| f.delivered == 4_000));
        assert_eq!(outcome.radios.iter().map(|r| r.counts.foreign_acks).sum::<u64>(), 0);
    }
}

/// Hosts a, b, c in a cell, a server on a wire, and a gateway between them.
fn behind_a_gateway(own: impl FnOnce(CellSpec) -> CellSpec) -> Spec {
    // hosts 0 to 2 are stations, host 3 is on a wire; node 4 is the channel, 5 the gateway
    let mut spec = star(4, Rate::mbps(1), Time::ms(1));
    rewire(
        &mut spec,
        &["a", "b", "c", "server", "air", "gateway"],
        &[(0, 4), (4, 0), (1, 4), (4, 1), (2, 4), (4, 2), (5, 4), (4, 5), (5, 3), (3, 5)],
    );
    spec.links[..8].iter_mut().for_each(|l| on_air(l, (l.to == 4).then_some(0)));
    spec.queues = vec![endless_queue()];
    let places = [(10.0, 0.0), (-10.0, 0.0), (0.0, 10.0)];
    let stations = (0..3).zip(places).map(|(node, at)| StationSpec { node, at, routes: false });
    let gateway = StationSpec { node: 5, at: (0.0, 0.0), routes: true };
    let stations = stations.chain([gateway]).collect();
    spec.cells = vec![own(CellSpec { channel: 4, stations, ..circle(3) })];
    let table = |ports: [u32; 4]| Router::Table { set: ports.to_vec(), sets: (0..4).map(|p| vec![p]).collect() };
    // ports of the channel: a, b, c, gateway; of the gateway: channel, server
    spec.routers = vec![table([0, 1, 2, 3]), table([0, 0, 0, 1])];
    spec.domain_of = vec![0, 0, 0, 1, 0, 0];
    spec.flows = (0..3).map(|h| bulk(h, 3, Some(1_000))).collect();
    spec.flows.push(bulk(3, 0, Some(1_000)));
    spec
}

#[test]
fn a_raw_cell_behind_wires_is_the_same_under_both_engines() {
    let mut spec = behind_a_gateway(raw);
    spec.transports = vec![changed!(htsim(), sizes.mss = 40, sizes.header = 60)];
    spec.transports[0].rto.rto_min = Time::s(1);
    run_for(&mut spec, Time::s(20));
    let outcome = compared(&spec);
    assert!(outcome.flows.iter().all(|f| f.delivered == 1_000), "{:?}", outcome.flows);
}

#[test]
fn a_gateway_forwards_a_packet_once_and_solicits_no_routers() {
    let seeds = (1..=4).map(|seed| {
        let mut spec = behind_a_gateway(|cell| discovering(CellSpec { framing: framing(), ..cell }));
        if let Some(discovery) = spec.cells[0].framing.adaptation.as_mut().and_then(|a| a.discovery.as_mut()) {
            (discovery.addresses, discovery.router_solicitations) = (0, 2);
        }
        spec.transports = vec![changed!(transport(), sizes.mss = 40)];
        let both = (0..3).flat_map(|h| [bulk(h, 3, None), bulk(3, h, None)]);
        let app = App::Udp(Udp { gap: Time::ms(20), random: true });
        spec.flows = both.map(|flow| FlowSpec { app, ..flow }).collect();
        spec.seed = seed;
        run_for(&mut spec, Time::s(10));
        // the engines are compared once; the gateway is checked under four seeds
        let outcome = if seed == 1 { compared(&spec) } else { run(&spec) };
        let gateway = outcome.radios.iter().find(|r| r.station == "gateway").expect("a station");
        let others = outcome.radios.iter().filter(|r| r.station != "gateway");
        assert!(others.map(|r| r.counts.discovery).min() > Some(1) && gateway.counts.discovery > 0);
        let up = outcome.flows.iter().filter(|f| f.dst == 3);
        let arrived = up.map(|f| f.arrived).sum::<u64>();
        let wire = outcome.ports.iter().find(|p| p.rate_bps == 1_000_000 && p.packets == arrived);
        assert!(wire.is_some(), "{arrived} of {:?}", outcome.ports);
        gateway.counts.duplicates
    });
    assert!(seeds.sum::<u64>() > 0);
}
