//! The link in the opposite direction of a link.

use crate::ids::{LinkId, PortIx};
use crate::spec::{LinkSpec, Spec};
use std::collections::HashMap;

/// The opposite direction of every link. Parallel links between two nodes are paired in order.
pub fn links(spec: &Spec) -> Vec<Option<LinkId>> {
    let mut between: HashMap<(u32, u32), Vec<LinkId>> = HashMap::new();
    let mut places = Vec::with_capacity(spec.links.len());
    for (l, link) in (0..).map(LinkId).zip(&spec.links) {
        let links = between.entry((link.from, link.to)).or_default();
        places.push(links.len());
        links.push(l);
    }
    let other = |(link, place): (&LinkSpec, &usize)| between.get(&(link.to, link.from))?.get(*place).copied();
    spec.links.iter().zip(&places).map(other).collect()
}

/// By link: the port that feeds its opposite direction, in the domain of the node that it leads to.
pub fn ports(spec: &Spec, port_of: &[PortIx]) -> Vec<Option<PortIx>> {
    links(spec).into_iter().map(|link| Some(port_of[link?])).collect()
}
