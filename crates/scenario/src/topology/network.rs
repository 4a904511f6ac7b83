//! A network: nodes, links and next hops, as every topology makes one.

use crate::text::problem::{Errors, Problem};
use incast_cc as cc;
use incast_engine::spec::{Loss, Router};

/// Most hosts a scenario may have.
pub const MAX_HOSTS: u64 = 1 << 20;

/// A network before queues, flows and a seed.
#[derive(Clone, Debug, Default)]
pub struct Network {
    /// Nodes `0..hosts` are hosts.
    pub hosts: u32,
    /// Names of all nodes, hosts first.
    pub names: Vec<String>,
    /// Rack of every node: the number of the switch that makes it.
    pub racks: Vec<u32>,
    /// Hosts of a pod, numbered one pod after another; 0 where the topology has no pods.
    pub hosts_per_pod: u32,
    /// Directed links, each followed by its reverse.
    pub links: Vec<DirectedLink>,
    /// One a switch.
    pub routers: Vec<Router>,
    /// Sender i of the pattern `pairs` sends to the host named here; empty where the topology
    /// has no sides.
    pub sides: Option<(u32, u32)>,
}

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct DirectedLink {
    /// Sending node.
    pub from: u32,
    /// Receiving node.
    pub to: u32,
    /// Rate.
    pub rate: cc::Rate,
    /// Propagation delay.
    pub delay: cc::Time,
    /// Bytes added to every packet on the wire.
    pub overhead: u32,
    /// Bytes of the token bucket; 0 for none.
    pub bucket: u32,
    /// Losses.
    pub loss: Loss,
}

/// Too many hosts, in words.
pub(super) fn too_large(key: &str, value: impl std::fmt::Display, hosts: u64) -> Errors {
    Problem::with_value(key, value, format!("makes {hosts} hosts; expected at most {MAX_HOSTS} in all")).into()
}
