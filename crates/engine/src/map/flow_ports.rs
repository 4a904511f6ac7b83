//! Ports on the paths of flows, for a timeline.

use crate::ids::{FlowId, LinkId};
use crate::map::ideal::Fabric;
use crate::spec::Spec;
use crate::threads::thread_pool::ThreadPool;
use incast_record::PathPort;
use std::collections::BTreeMap;

/// Maximum number of rows. Above it, flows with several paths list only the ports that all their packets pass.
const MAX_ROWS: usize = 2_000_000;

/// The ports that the data of each flow passes without failures, by (flow, position, port).
pub fn ports_of_flows(spec: &Spec, fabric: &Fabric, thread_pool: &ThreadPool) -> Vec<PathPort> {
    let flows: Vec<FlowId> = (0..spec.flows.len() as u32).map(FlowId).collect();
    // flows with spread packets have about as many ports each: a sample is enough
    let some = flows.iter().step_by(flows.len() / 16 + 1);
    let ports: usize = some.clone().map(|flow| fabric.shares(*flow, false).len()).sum();
    let whole = ports.saturating_mul(flows.len()) <= MAX_ROWS.saturating_mul(some.count());
    let lists =
        thread_pool.list(flows.len(), |range| flows[range].iter().map(|f| ports_of(spec, fabric, *f, whole)).collect());
    lists.into_iter().flatten().collect()
}

/// Ports of one flow. Unless `whole`, a flow with several paths lists only the ports that all its packets pass.
fn ports_of(spec: &Spec, fabric: &Fabric, flow: FlowId, whole: bool) -> Vec<PathPort> {
    let several = spec.choice.spreads() && spec.flows[flow].path.is_none();
    let mut shares: BTreeMap<LinkId, (u32, f64)> = BTreeMap::new();
    // number of links before a node
    let mut before: BTreeMap<u32, u32> = [(spec.flows[flow].src, 0)].into();
    for (link, share) in fabric.shares(flow, false) {
        let ends = &spec.links[link];
        let position = before.get(&ends.from).copied().unwrap_or(0);
        before.entry(ends.to).or_insert(position + 1);
        shares.entry(link).or_insert((position, 0.0)).1 += share;
    }
    let port = |(link, (position, share)): (LinkId, (u32, f64))| PathPort {
        flow: flow.0,
        port: link.0,
        position,
        // a sum of equal parts may be a little off
        sprayed: several && share < 1.0 - 1e-9,
    };
    let mut ports: Vec<PathPort> = shares.into_iter().map(port).filter(|port| whole || !port.sprayed).collect();
    ports.sort_unstable_by_key(|port| (port.position, port.port));
    ports
}
