//! The link that leads back where a link came from.

use crate::ids::{LinkId, PortIx};
use crate::spec::{LinkSpec, Spec};
use std::collections::BTreeMap;

/// By link: the port that feeds the link back, in the domain of the node that it leads to. Of several links between two
/// nodes the first of one direction belongs to the first of the other.
pub fn ports(spec: &Spec, port_of: &[PortIx]) -> Vec<Option<PortIx>> {
    let mut between: BTreeMap<(u32, u32), Vec<LinkId>> = BTreeMap::new();
    let mut place = Vec::with_capacity(spec.links.len());
    for (l, link) in (0..).map(LinkId).zip(&spec.links) {
        let same = between.entry((link.from, link.to)).or_default();
        place.push(same.len());
        same.push(l);
    }
    let back = |(link, place): (&LinkSpec, usize)| {
        let link = between.get(&(link.to, link.from))?.get(place)?;
        Some(port_of[*link])
    };
    spec.links.iter().zip(place).map(back).collect()
}
