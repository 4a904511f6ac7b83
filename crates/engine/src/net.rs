//! What every domain may read and none may write: the map of the network.

use crate::messages::Join;
use crate::order::Order;
use crate::port::Interval;
use crate::spec::{FlowSpec, PathChoice, Router, Spec, TransportSpec};
use incast_cc::Env;

/// Bit of [`Hop::node`] that says the node is a host.
pub const HOST: u32 = 1 << 31;

/// The far end of a link.
#[derive(Clone, Copy, Debug)]
pub struct Hop {
    /// Domain of the receiving node.
    pub domain: u32,
    /// The node's index in its domain's list of switches, or of hosts with [`HOST`] set.
    pub node: u32,
}

/// Where the two ends of a flow live.
#[derive(Clone, Copy, Debug)]
pub struct Ends {
    /// Domain of the sender.
    pub sender_domain: u32,
    /// Index in that domain.
    pub sender: u32,
    /// Domain of the receiver.
    pub receiver_domain: u32,
    /// Index in that domain.
    pub receiver: u32,
}

/// The map.
pub struct Net<'a> {
    /// What was asked for.
    pub spec: &'a Spec,
    /// Tie-breaking.
    pub order: Order,
    /// Measured interval.
    pub interval: Interval,
    /// Where every node lives.
    pub place: Vec<Hop>,
    /// Far end of every link.
    pub links: Vec<Hop>,
    /// Domain-local port number of every link.
    pub port_of: Vec<u32>,
    /// Ends of every flow.
    pub ends: Vec<Ends>,
    /// Controller environment of every flow.
    pub envs: Vec<Env>,
    /// Part of every flow in a two-way connection; empty where there is none.
    pub joins: Vec<Option<Join>>,
    /// Hosts cost their packets something.
    pub hosts_cost: bool,
    /// Index of every query in its root's domain.
    pub queries: Vec<u32>,
}

impl Net<'_> {
    /// Transport settings `i`.
    #[inline]
    pub fn transport(&self, i: u32) -> &TransportSpec {
        &self.spec.transports[i as usize]
    }

    /// The part of flow `i` in a two-way connection.
    #[inline]
    pub fn join(&self, i: u32) -> Option<Join> {
        self.joins.get(i as usize).copied().flatten()
    }

    /// Flow `i` as asked for.
    #[inline]
    pub fn flow(&self, i: u32) -> &FlowSpec {
        &self.spec.flows[i as usize]
    }
}

/// A switch's forwarding state.
#[derive(Clone, Debug)]
pub struct Switch {
    /// Node number.
    pub node: u32,
    /// Domain-local number of its local port 0.
    pub first_port: u32,
    router: Router,
}

impl Switch {
    /// Switch `node`.
    pub fn new(node: u32, first_port: u32, router: Router) -> Switch {
        Switch { node, first_port, router }
    }

    /// Domain-local port towards `dst` for a packet of `flow`; `None` if unreachable.
    #[inline(always)]
    pub fn route(&self, net: &Net, dst: u32, flow: u32, reverse: bool) -> Option<u32> {
        let pick = |n: u32| match net.spec.choice {
            _ if n == 1 => 0,
            PathChoice::First => 0,
            PathChoice::Ecmp => {
                let h = crate::hash::ecmp(net.spec.seed, flow, reverse, self.node);
                (((h >> 32) * n as u64) >> 32) as u32
            }
        };
        let local = match &self.router {
            Router::Tree { first, span, stride, down, up, ups } => {
                let below = dst.wrapping_sub(*first);
                if below < *span {
                    down + if *stride == 1 { below } else { below / stride }
                } else if *ups == 0 {
                    return None;
                } else {
                    up + pick(*ups)
                }
            }
            Router::Table { set, sets } => {
                let ports = &sets[set[dst as usize] as usize];
                if ports.is_empty() {
                    return None;
                }
                ports[pick(ports.len() as u32) as usize]
            }
        };
        Some(self.first_port + local)
    }
}
