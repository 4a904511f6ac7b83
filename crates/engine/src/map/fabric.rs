//! The fabric map: what every domain may read and none may write.

use crate::event::interval::Interval;
use crate::event::order::Order;
use crate::event::packet::Packet;
use crate::host::messages::Duplex;
use crate::ids::{DomainId, FlowId, NodeIx, PortIx, ReceiverIx, SenderIx};
use crate::map::cells::CellMap;
use crate::map::mirror::Mirror;
use crate::map::paths::Numbered;
use crate::map::pfc::Pfc;
use crate::map::triggers::Triggers;
use crate::spec::{FlowSpec, Spec, TransportSpec};
use incast_cc::{Env, Time};

/// Where a node lives.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Domain.
    pub domain: DomainId,
    /// The node in that domain.
    pub node: NodeIx,
}

/// Where the two ends of a flow live.
#[derive(Clone, Copy, Debug)]
pub struct Ends {
    /// Domain of the sender.
    pub sender_domain: DomainId,
    /// Index in that domain.
    pub sender: SenderIx,
    /// Domain of the receiver.
    pub receiver_domain: DomainId,
    /// Index in that domain.
    pub receiver: ReceiverIx,
}

/// The fabric map.
pub struct FabricMap<'a> {
    /// The specification.
    pub spec: &'a Spec,
    /// Tie-breaking.
    pub order: Order,
    /// Of the hashes of ECMP.
    pub ecmp_salt: u64,
    /// Measured interval.
    pub interval: Interval,
    /// Where every node lives.
    pub place: Vec<Place>,
    /// Far end of every link.
    pub links: Vec<Place>,
    /// Node that every link leaves, in its domain.
    pub origins: Vec<NodeIx>,
    /// Domain-local port number of every link.
    pub port_of: Vec<PortIx>,
    /// Ends of every flow.
    pub ends: Vec<Ends>,
    /// Controller environment of every flow.
    pub envs: Vec<Env>,
    /// Part of every flow in a two-way connection; empty where there is none.
    pub duplexes: Vec<Option<Duplex>>,
    /// Hosts cost their packets something.
    pub hosts_cost: bool,
    /// By link: the port that feeds the link back, at the node that it leads to; empty where no node runs a program or
    /// sends headers back.
    pub back: Vec<Option<PortIx>>,
    /// Hosts run programs or cost their packets something, or what they get is counted by frames.
    pub hosts_differ: bool,
    /// Packets have entropies ([`PathChoice::has_entropy`](crate::spec::PathChoice::has_entropy)).
    pub entropy: bool,
    /// Priority flow control, if switches have it.
    pub pfc: Option<Pfc>,
    /// Triggers of flows that wait.
    pub triggers: Triggers,
    /// Longest latency of a link: messages from other hosts take so long. No engine window is longer, whatever
    /// the domains.
    pub relay: Time,
    /// Shortest latency of a link: what is sent over one arrives so much later, or later.
    pub quickest: Time,
    /// Index of every query in its root's domain.
    pub queries: Vec<u32>,
    /// Numbers of paths.
    pub paths: Numbered,
    /// Where the stations of radio cells are.
    pub cells: Vec<CellMap>,
    /// Ways backwards, where routing is symmetric.
    pub mirror: Option<Mirror>,
}

impl FabricMap<'_> {
    /// Transport settings `i`.
    #[inline]
    pub fn transport(&self, i: u32) -> &TransportSpec {
        &self.spec.transports[i as usize]
    }

    /// The part of `flow` in a two-way connection.
    #[inline]
    pub fn duplex(&self, flow: FlowId) -> Option<Duplex> {
        self.duplexes.get(flow.ix()).copied().flatten()
    }

    /// Whether, in windows of `length`, ports of switches share nothing but what domains say
    /// ([`Domain::is_separable`](crate::domain::Domain::is_separable)): nothing that happens inside a domain comes to
    /// one of them in the same window, and nobody sees in which order packets pass them.
    pub fn has_separable_ports(&self, length: Time) -> bool {
        let observe = &self.spec.observe;
        !observe.monitors() && observe.trace.is_empty() && self.quickest >= length
    }

    /// Traffic class of a packet.
    #[inline]
    pub fn class(&self, packet: &Packet) -> u8 {
        packet.own_class().unwrap_or_else(|| {
            let flow = self.flow(packet.flow);
            if packet.is_reverse() { flow.ack_class } else { flow.class }
        })
    }

    /// A flow as asked for.
    #[inline]
    pub fn flow(&self, flow: FlowId) -> &FlowSpec {
        &self.spec.flows[flow]
    }
}
