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
    /// Rack of every node: the number of its switch, or of the one that a host is linked to.
    pub racks: Vec<u32>,
    /// Hosts per pod, numbered pod after pod; 0 without pods.
    pub hosts_per_pod: u32,
    /// GPUs of a server, whose hosts are numbered server after server; 0 without servers.
    pub gpus: u32,
    /// Copies of the fabric, whose hosts are numbered copy after copy; no path joins two. 0: the network is one.
    pub planes: u32,
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
    /// Hosts of one plane, which are the first.
    pub(crate) fn hosts_of_plane(&self) -> u32 {
        self.hosts / self.planes.max(1)
    }

    /// Server of a host; hosts of a NIC in several planes are in one.
    pub(crate) fn server(&self, host: u32) -> Option<u32> {
        (host % self.hosts_of_plane().max(1)).checked_div(self.gpus)
    }

    /// Domain of every node of a run: a rack, or a server, whose GPUs exchange messages in less time than packets take.
    pub(crate) fn domains(&self) -> Vec<u32> {
        if self.gpus == 0 {
            return self.racks.clone();
        }
        let node = |node: u32| self.server(node).filter(|_| node < self.hosts).unwrap_or(node);
        (0..self.names.len() as u32).map(node).collect()
    }

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
