//! A network: nodes, links and next hops, as built by every topology.

use crate::text::problem::{Errors, Problem};
use incast_engine::spec::{CellSpec, LinkSpec, Router};

/// Most hosts a scenario may have.
pub const MAX_HOSTS: u64 = 1 << 20;
/// More ports than the keys of any topology may create; a larger request is refused by its hosts or links.
pub const MAX_PORTS: u64 = 10 * MAX_HOSTS;

/// A network before queues, flows and a seed.
#[derive(Clone, Debug, Default)]
pub struct Network {
    /// Nodes `0..hosts` are hosts.
    pub hosts: u32,
    /// Names of all nodes, hosts first.
    pub names: Vec<String>,
    /// Rack of every node: the number of its switch.
    pub racks: Vec<u32>,
    /// Hosts per pod, numbered pod after pod; 0 without pods.
    pub hosts_per_pod: u32,
    /// Directed links, each followed by its reverse. Their queues are not known yet.
    pub links: Vec<LinkSpec>,
    /// One per switch.
    pub routers: Vec<Router>,
    /// Sender i of the pattern `pairs` sends to the host named here; empty if the topology has no sides.
    pub sides: Option<(u32, u32)>,
    /// Radio cells.
    pub cells: Vec<CellSpec>,
}

impl Network {
    /// Names the links `from>to`; further links between the same two nodes have a number.
    pub(super) fn name_links(&mut self) {
        let mut by_sender: Vec<u32> = (0..self.links.len() as u32).collect();
        by_sender.sort_by_key(|l| self.links[*l as usize].from);
        // for each node, the last node with a link to it, and the number of these links
        let mut seen = vec![(u32::MAX, 0); self.names.len()];
        let mut name = String::new();
        for l in by_sender {
            let link = &mut self.links[l as usize];
            let (from, number) = &mut seen[link.to as usize];
            *number = if *from == link.from { *number + 1 } else { 1 };
            *from = link.from;
            name.clear();
            name.extend([&self.names[link.from as usize], ">", &self.names[link.to as usize]]);
            if *number > 1 {
                name += &format!("#{number}");
            }
            link.name = name.as_str().into();
        }
    }
}

/// Error for too many hosts.
pub(super) fn too_large(key: &str, value: impl std::fmt::Display, hosts: u64) -> Errors {
    Problem::with_value(key, value, format!("makes {hosts} hosts; expected at most {MAX_HOSTS} in all")).into()
}
