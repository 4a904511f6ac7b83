//! Domains whose ports and flows are counted by the frames of a timeline.

use crate::domain::Domain;
use crate::domain::endpoints::Endpoints;
use crate::event::packet::Packet;
use crate::event::prefetch;
use crate::ids::{Node, NodeIx, PortIx};
use crate::map::fabric::FabricMap;
use crate::port::Port;
use crate::spec::{TIMELINE_NEAR, TimelineSpec};
use crate::switch::route::Planned;
use crate::transport::nearby;
use incast_cc::Time;
use incast_record::store::{Store, StoreBudget};
use std::sync::Arc;

/// Counts the ports and flows of all domains by frames, with a timeline.
pub(super) fn frame(domains: &mut [Domain], net: &FabricMap) {
    let observe = &net.spec.observe;
    if let Some(timeline) = &observe.timeline {
        let near = observe.timeline_near.unwrap_or(TIMELINE_NEAR);
        let room = observe.timeline_disk.map_or_else(|| StoreBudget::new(near), |disk| StoreBudget::on(near, disk));
        domains.iter_mut().for_each(|domain| domain.frame(timeline, net, &room));
    }
}

/// Application bytes delivered at the receivers in the frames that are over at `now`, where these are all domains of a
/// run with a timeline.
#[cold]
pub fn delivered_by(now: Time, domains: &[Domain], net: &FabricMap) -> Option<u64> {
    let spec = &net.spec;
    let delivered = |Domain { endpoints, nodes, .. }: &Domain| {
        let each = endpoints.arrivals.iter().zip(endpoints.receivers.iter());
        each.map(|(frames, receiver)| frames.delivered_by(now, receiver, &nodes.shared.repeated)).sum::<u64>()
    };
    (spec.observe.timeline.is_some() && spec.threads == Some(1)).then(|| domains.iter().map(delivered).sum())
}

impl Domain {
    /// Counts the ports and flows of the domain by frames.
    fn frame(&mut self, spec: &TimelineSpec, net: &FabricMap, room: &Arc<StoreBudget>) {
        let store = Store::new(room);
        self.framed = true;
        self.nodes.ports.iter_mut().for_each(|port| port.frame(spec, &store));
        self.endpoints.frame(spec, net, &store);
    }

    /// Prefetches the data of packets that close frames as they arrive, given their times, planned ports and nodes. In
    /// two passes, because the references to frames must be prefetched first.
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
        for (time, planned, (packet, node)) in coming {
            if let Some(port) = self.port_of(planned, node) {
                port.prefetch_frames(time);
            }
            if matches!(node.get(), Node::Host(_)) {
                self.endpoints.prefetch_ends(packet, time, net);
            }
        }
    }

    /// Prefetches the data that these ports touch if they close frames by `end`. Their accounts are near already.
    #[inline(always)]
    pub fn prefetch_frames_at<'p>(&self, ports: impl IntoIterator<Item = &'p PortIx>, end: Time) {
        ports.into_iter().for_each(|port| self.nodes.ports[*port].prefetch_frames(end));
    }

    /// Port that a packet takes at a node, or that its answers take.
    fn port_of(&self, planned: Planned, node: NodeIx) -> Option<&Port> {
        let own = || match node.get() {
            Node::Host(host) => Some(&self.nodes.ports[self.nodes.hosts[host].port]),
            Node::Switch(_) => None,
        };
        self.nodes.ports.get(planned.ix()).or_else(own)
    }
}

impl Endpoints {
    /// Prefetches the end that a packet is for, if it closes a frame at `time`.
    fn prefetch_ends(&self, packet: &Packet, time: Time, net: &FabricMap) {
        let ends = net.ends[packet.flow];
        if packet.is_reverse() {
            let probe = self.probes.get(ends.sender.ix());
            if probe.and_then(|probe| probe.frames.as_ref()).is_some_and(|frames| frames.is_due(time)) {
                nearby::snapshot(&self.senders[ends.sender]);
            }
        } else if self.arrivals.get(ends.receiver.ix()).is_some_and(|frames| frames.is_due(time)) {
            nearby::delivered(&self.receivers[ends.receiver]);
        }
    }

    /// Prefetches the frames of the end that a packet is for.
    fn prefetch_frames(&self, packet: &Packet, net: &FabricMap) {
        let ends = net.ends[packet.flow];
        match packet.is_reverse() {
            true => self.probes.get(ends.sender.ix()).into_iter().for_each(|probe| prefetch::lines(probe, 3)),
            false => self.arrivals.get(ends.receiver.ix()).into_iter().for_each(|frames| prefetch::lines(frames, 3)),
        }
    }
}
