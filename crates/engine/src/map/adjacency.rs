//! Links by one of their ends.

use crate::ids::{LinkId, NodeId};
use crate::spec::{LinkSpec, Spec};

/// The links of every node, in the order of their numbers: for links that leave it, that of its local ports.
#[derive(Clone, Debug)]
pub struct Adjacency {
    /// Those of node `n`: `links[first[n] .. first[n + 1]]`.
    first: Vec<u32>,
    links: Vec<LinkId>,
}

impl Adjacency {
    /// Links by the node that they leave.
    pub fn outgoing(spec: &Spec) -> Adjacency {
        Adjacency::new(spec, |link| link.from)
    }

    /// Links by the node that they lead to.
    pub fn incoming(spec: &Spec) -> Adjacency {
        Adjacency::new(spec, |link| link.to)
    }

    fn new(spec: &Spec, end: fn(&LinkSpec) -> u32) -> Adjacency {
        let nodes = spec.hosts as usize + spec.routers.len();
        let mut first = vec![0u32; nodes + 1];
        spec.links.iter().for_each(|l| first[end(l) as usize + 1] += 1);
        (0..nodes).for_each(|n| first[n + 1] += first[n]);
        let mut at = first.clone();
        let mut links = vec![LinkId(0); spec.links.len()];
        for (i, link) in (0..).map(LinkId).zip(&spec.links) {
            let place = &mut at[end(link) as usize];
            links[*place as usize] = i;
            *place += 1;
        }
        Adjacency { first, links }
    }

    /// Nodes that there are.
    pub fn nodes(&self) -> usize {
        self.first.len() - 1
    }

    /// Links of a node.
    pub fn of(&self, node: NodeId) -> &[LinkId] {
        &self.links[self.first[node] as usize..self.first[node.ix() + 1] as usize]
    }
}
