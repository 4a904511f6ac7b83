//! The fabric map: facts that every domain reads and none writes.

use crate::event::interval::Interval;
use crate::event::order::Order;
use crate::event::packet::Packet;
use crate::host::messages::Duplex;
use crate::ids::{DomainId, FlowId, NodeIx, PortIx, ReceiverIx, SenderIx};
use crate::map::cells::CellMap;
use crate::map::jobs::Jobs;
use crate::map::mirror::Mirror;
use crate::map::paths::Numbered;
use crate::map::per_flow::PerFlow;
use crate::map::pfc::Pfc;
use crate::map::triggers::Triggers;
use crate::spec::{Deliveries, FlowSpec, Spec, TransportSpec};
use incast_cc::{Env, Time};

/// Location of a node.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Domain.
    pub domain: DomainId,
    /// Index of the node in that domain.
    pub node: NodeIx,
}

/// Locations of the two ends of a flow.
#[derive(Clone, Copy, Default, Debug)]
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
    /// Salt of the ECMP hashes.
    pub ecmp_salt: u64,
    /// Measured interval.
    pub interval: Interval,
    /// Location of every node.
    pub place: Vec<Place>,
    /// Location of the far end of every link.
    pub links: Vec<Place>,
    /// Node that every link leaves, in its domain.
    pub origins: Vec<NodeIx>,
    /// Domain-local port number of every link.
    pub port_of: Vec<PortIx>,
    /// Ends of every flow.
    pub ends: Vec<Ends>,
    /// Controller environment of every flow.
    pub envs: PerFlow<Env>,
    /// Role of every flow in a two-way connection. Empty where there is none.
    pub duplexes: Vec<Option<Duplex>>,
    /// True if hosts delay their packets.
    pub hosts_cost: bool,
    /// By link: the port that feeds the opposite link, at the node that it leads to. Empty where no node runs a program
    /// or returns headers.
    pub back: Vec<Option<PortIx>>,
    /// Deliveries to hosts.
    pub deliveries: Deliveries,
    /// Packets have entropies ([`PathChoice::has_entropy`](crate::spec::PathChoice::has_entropy)).
    pub entropy: bool,
    /// Priority flow control, if switches have it.
    pub pfc: Option<Pfc>,
    /// Triggers of waiting flows.
    pub triggers: Triggers,
    /// Longest latency of a link: the delay of messages from other hosts. No engine window is ever longer.
    pub max_latency: Time,
    /// Shortest latency of a link: the earliest arrival of a packet after its transmission.
    pub quickest: Time,
    /// Index of every query in its root's domain.
    pub queries: Vec<u32>,
    /// Numbering of paths.
    pub paths: Numbered,
    /// Jobs.
    pub jobs: Jobs,
    /// Stations of radio cells.
    pub cells: Vec<CellMap>,
    /// Reverse paths, with symmetric routing.
    pub mirror: Option<Mirror>,
}

impl FabricMap<'_> {
    /// Transport settings `i`.
    #[inline]
    pub fn transport(&self, i: u32) -> &TransportSpec {
        &self.spec.transports[i as usize]
    }

    /// The role of `flow` in a two-way connection.
    #[inline]
    pub fn duplex(&self, flow: FlowId) -> Option<Duplex> {
        self.duplexes.get(flow.ix()).copied().flatten()
    }

    /// Traffic class of a packet.
    #[inline]
    pub fn class(&self, packet: &Packet) -> u8 {
        packet.own_class().unwrap_or_else(|| {
            let flow = self.flow(packet.flow);
            if packet.is_reverse() { flow.ack_class } else { flow.class }
        })
    }

    /// Specification of a flow.
    #[inline]
    pub fn flow(&self, flow: FlowId) -> &FlowSpec {
        &self.spec.flows[flow]
    }
}
