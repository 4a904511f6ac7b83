//! Layout of nodes and ports in domains.

use crate::ids::{DomainId, HostIx, NodeId, NodeIx, PortIx, SwitchIx};
use crate::map::fabric::Place;
use crate::map::groups::Groups;
use crate::map::ideal::Fabric;
use crate::spec::Spec;

/// Layout of nodes and ports in their domains.
pub struct Layout {
    /// By node: its location.
    pub place: Vec<Place>,
    /// By link: the index of its port in the domain.
    pub port_of: Vec<PortIx>,
    /// Nodes of every domain, in order.
    pub nodes: Groups<NodeId>,
    /// Number of ports of every domain.
    pub ports: Vec<u32>,
}

impl Layout {
    /// Places nodes one after the other, so that the ports of a node are adjacent. `domains` gives the domain of each
    /// node, out of `count`.
    pub fn new(spec: &Spec, fabric: &Fabric, domains: &[DomainId], count: usize) -> Layout {
        let mut counts = vec![(0, 0); count];
        let mut ports = vec![0; count];
        let mut port_of = vec![PortIx(0); spec.links.len()];
        let lay_out = |(node, domain): (u32, &DomainId)| {
            for link in fabric.ports(NodeId(node)) {
                port_of[*link] = PortIx(ports[*domain]);
                ports[*domain] += 1;
            }
            let (hosts, switches) = &mut counts[*domain];
            let (number, kind): (&mut u32, fn(u32) -> NodeIx) = match node < spec.hosts {
                true => (hosts, |n| NodeIx::host(HostIx(n))),
                false => (switches, |n| NodeIx::switch(SwitchIx(n))),
            };
            *number += 1;
            Place { domain: *domain, node: kind(*number - 1) }
        };
        let place = (0..).zip(domains).map(lay_out).collect();
        let of = domains.iter().enumerate().map(|(node, domain)| (domain.ix(), NodeId(node as u32)));
        Layout { place, port_of, nodes: Groups::new(count, of), ports }
    }
}
