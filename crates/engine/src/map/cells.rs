//! Stations of radio cells.

use crate::event::packet::{Packet, flag};
use crate::hash;
use crate::ids::{DomainId, LinkId, NodeId, PortIx};
use crate::map::paths::{given, hops, hops_at};
use crate::spec::{Router, Spec};

/// A radio cell in its domain.
#[derive(Clone, Debug)]
pub struct CellMap {
    /// Domain of the cell.
    pub domain: DomainId,
    /// Number of the cell in its domain.
    pub local: u32,
    /// The node that represents its channel.
    channel: NodeId,
    /// By station: the port towards the channel.
    pub up: Vec<PortIx>,
    /// By station: the port from the channel.
    pub down: Vec<PortIx>,
    /// By local port of the channel: the station.
    station: Vec<u16>,
    /// By destination: the station, where one path leads there at all times.
    only: Vec<Option<u16>>,
}

/// The cells of a run.
pub fn of(spec: &Spec, port_of: &[PortIx], domain: impl Fn(u32) -> DomainId) -> Vec<CellMap> {
    let mut before = Vec::new();
    let cells = spec.cells.iter().map(|cell| {
        let domain = domain(cell.channel);
        let local = before.iter().filter(|d| **d == domain).count() as u32;
        before.push(domain);
        let own = |from: u32, to: u32| spec.links.iter().position(|l| (l.from, l.to) == (from, to));
        let port = |from: u32, to: u32| own(from, to).map_or(PortIx::default(), |l| port_of[l]);
        let nodes = || cell.stations.iter().map(|s| s.node);
        let from_channel = spec.links.iter().filter(|l| l.from == cell.channel);
        let number = |to: u32| nodes().position(|node| node == to).unwrap_or_default() as u16;
        let station: Vec<u16> = from_channel.map(|l| number(l.to)).collect();
        let router = &spec.routers[(cell.channel - spec.hosts) as usize];
        let only = |dst: u32| {
            let hops = hops(router, NodeId(dst));
            let one = hops.len() == 1 && !matches!(router, Router::Rerouted(_));
            one.then(|| station[hops.get(0) as usize])
        };
        CellMap {
            domain,
            local,
            channel: NodeId(cell.channel),
            up: nodes().map(|node| port(node, cell.channel)).collect(),
            down: nodes().map(|node| port(cell.channel, node)).collect(),
            only: (0..spec.hosts).map(only).collect(),
            station,
        }
    });
    cells.collect()
}

impl CellMap {
    /// The station next on the path of a packet at the channel's node; `None`: unreachable. `salt` is that of ECMP.
    pub fn next(&self, spec: &Spec, salt: u64, port_of: &[PortIx], packet: &Packet) -> Option<u16> {
        if !packet.has(flag::PATH)
            && let Some(Some(station)) = self.only.get(packet.dst.ix())
        {
            return Some(*station);
        }
        if packet.has(flag::PATH) {
            let path = given(&spec.flows[packet.flow], packet)?;
            let down = port_of[LinkId(*path.get(packet.hop as usize + 1)?)];
            return self.down.iter().position(|port| *port == down).map(|station| station as u16);
        }
        let router = &spec.routers[(self.channel.0 - spec.hosts) as usize];
        let hops = hops_at(router, packet.dst, packet.time);
        let chosen = match hops.len() {
            0 => return None,
            _ if spec.choice.takes_first() => 0,
            n => hash::pick(hash::ecmp_salted(salt, packet.flow, packet.is_reverse(), self.channel), n),
        };
        Some(self.station[hops.get(chosen) as usize])
    }
}
