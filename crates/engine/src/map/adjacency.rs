//! Links of a node, outgoing or incoming.

use crate::ids::{LinkId, NodeId};
use crate::map::groups::Groups;
use crate::spec::{LinkSpec, Spec};

/// The links of every node, in the order of their numbers. For outgoing links that is the order of local ports.
#[derive(Clone, Debug)]
pub struct Adjacency(Groups<LinkId>);

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
        let number = |(l, link): (usize, &LinkSpec)| (end(link) as usize, LinkId(l as u32));
        Adjacency(Groups::new(nodes, spec.links.iter().enumerate().map(number)))
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.0.len()
    }

    /// Links of a node.
    pub fn of(&self, node: NodeId) -> &[LinkId] {
        self.0.of(node.ix())
    }
}
