//! Notes on radio cells: stations out of range, and controllers made for links with one sender.

use incast_cc::Config;
use incast_engine::spec::{App, CellSpec, Propagation, Protocol, Spec};

/// Signal-to-noise ratio from which on a frame is received, dB.
const FOLLOWED_FROM: f64 = -5.0;

/// Cells with stations that cannot reach the first one, the sink or the gateway.
pub(crate) fn out_of_range(spec: &Spec) -> impl Iterator<Item = String> {
    spec.cells.iter().filter_map(move |cell| {
        let range = range(cell)?;
        let mesh = cell.framing.adaptation.as_ref().and_then(|a| a.mesh);
        let sources = cell.stations.len() - 1;
        let apart = sources - reached(cell, range, mesh.map_or(1, |mesh| mesh.hops as usize + 1));
        let first = &spec.node_names[cell.stations[0].node as usize];
        let how = if mesh.is_some() { ", over others too" } else { "" };
        (apart > 0).then(|| {
            format!(
                "{apart} of {sources} sources of {} are out of range of {first}{how}: a signal reaches {range:.0} m. \
                 Their packets never arrive, and they count as flows without throughput",
                spec.node_names[cell.channel as usize]
            )
        })
    })
}

/// Controllers that begin at the rate of their host's link and do not react to losses, in cells shared by several
/// stations: their results show a channel lost to collisions.
pub(crate) fn at_line_rate(spec: &Spec) -> impl Iterator<Item = String> {
    let mut noted: Vec<(usize, u32)> = Vec::new();
    spec.flows.iter().filter_map(move |flow| {
        let sends = |cell: &CellSpec| cell.stations.iter().any(|station| station.node == flow.src);
        let number = spec.cells.iter().position(sends)?;
        let controller = &spec.controllers[flow.controller as usize];
        let rates = matches!(controller, Config::Timely(_) | Config::Dcqcn(_));
        let over_tcp = spec.transports[flow.transport as usize].protocol == Protocol::Tcp;
        if !rates || !over_tcp || matches!(flow.app, App::Udp(_)) || noted.contains(&(number, flow.controller)) {
            return None;
        }
        noted.push((number, flow.controller));
        Some(format!(
            "{controller} begins at the rate of its link, which {} stations of {} share, and does not react to losses: \
             expect nearly all its packets to collide or wait",
            spec.cells[number].stations.len(),
            spec.node_names[spec.cells[number].channel as usize]
        ))
    })
}

/// Range of signals, metres; `None` if it differs by pair.
fn range(cell: &CellSpec) -> Option<f64> {
    match cell.propagation {
        Propagation::Range(range) => Some(range),
        Propagation::LogDistance { shadowing, .. } if shadowing > 0.0 => None,
        Propagation::LogDistance { reference, exponent, .. } => {
            let spare = cell.phy.power - (cell.phy.noise + FOLLOWED_FROM) - reference;
            Some(libm::pow(10.0, spare / (10.0 * exponent)))
        }
    }
}

/// Number of stations that reach the first one over at most this many hops.
fn reached(cell: &CellSpec, range: f64, hops: usize) -> usize {
    let mut left: Vec<(f64, f64)> = cell.stations.iter().skip(1).map(|s| s.at).collect();
    let mut edge = vec![cell.stations[0].at];
    let all = left.len();
    for _ in 0..hops {
        let near = |at: &(f64, f64)| edge.iter().any(|e| libm::hypot(at.0 - e.0, at.1 - e.1) <= range);
        let (next, rest): (Vec<_>, Vec<_>) = left.into_iter().partition(near);
        (edge, left) = (next, rest);
    }
    all - left.len()
}
