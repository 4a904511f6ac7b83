//! A domain whose ports and flows are counted by the frames of a timeline.

use crate::domain::Domain;
use crate::domain::endpoints::Endpoints;
use crate::event::packet::Packet;
use crate::event::prefetch;
use crate::ids::{Node, NodeIx};
use crate::map::fabric::FabricMap;
use crate::port::Port;
use crate::spec::TimelineSpec;
use crate::switch::route::Planned;
use incast_cc::Time;

impl Domain {
    /// Its ports and flows count by frames, too.
    pub(super) fn frame(&mut self, spec: &TimelineSpec) {
        self.nodes.ports.iter_mut().for_each(|port| port.frame(spec));
        self.endpoints.frame(spec);
    }

    /// Brings near what packets touch that close frames as they arrive, each at a time and a node, and planned to go on
    /// so: all are looked at twice, because frames are referred to by what is not near either.
    pub fn prefetch_frames<'p>(
        &self,
        coming: impl Iterator<Item = (Time, Planned, (&'p Packet, NodeIx))> + Clone,
        net: &FabricMap,
    ) {
        for (time, planned, (packet, node)) in coming.clone() {
            if let Some(port) = self.port_of(planned, node) {
                port.prefetch_account(time);
            }
            if matches!(node.get(), Node::Host(_)) {
                self.endpoints.prefetch_frames(packet, net);
            }
        }
        for (time, planned, (_, node)) in coming {
            if let Some(port) = self.port_of(planned, node) {
                port.prefetch_frames(time);
            }
        }
    }

    /// The port that a packet takes at a node, or that answers take.
    fn port_of(&self, planned: Planned, node: NodeIx) -> Option<&Port> {
        let own = || match node.get() {
            Node::Host(host) => Some(&self.nodes.ports[self.nodes.hosts[host].port]),
            Node::Switch(_) => None,
        };
        self.nodes.ports.get(planned.ix()).or_else(own)
    }
}

impl Endpoints {
    /// Brings near the frames of the end that a packet is for.
    fn prefetch_frames(&self, packet: &Packet, net: &FabricMap) {
        let ends = net.ends[packet.flow];
        match packet.is_reverse() {
            true => self.probes.get(ends.sender.ix()).into_iter().for_each(|probe| prefetch::lines(probe, 4)),
            false => self.arrivals.get(ends.receiver.ix()).into_iter().for_each(|frames| prefetch::lines(frames, 3)),
        }
    }
}
