//! Ranks of data (pFabric) and ports that use them: notes if one is without the other.

use crate::document::Document;
use incast_engine::spec::{Discipline, LinkSpec, Spec, TransportSpec};

/// Notes on ranks that no port uses, and on ports without ranked packets.
pub(super) fn without_effect(doc: &Document, spec: &Spec) -> Vec<String> {
    let by_rank = |l: &&LinkSpec| spec.queues[l.queue as usize].discipline == Discipline::Pfabric;
    let (going, rest): (Vec<_>, Vec<_>) = spec.links.iter().filter(|l| l.from >= spec.hosts).partition(by_rank);
    let ranked = |group: u32| {
        let mut own = spec.flows.iter().filter(|f| f.group == group);
        let has_rank = |t: &TransportSpec| t.output.rank.is_some() || t.protocol.facts().has_ranks;
        own.all(|f| f.app.datagram_gap().is_none() && has_rank(&spec.transports[f.transport as usize]))
    };
    let entries = (0..).zip(doc.groups());
    let (with, without): (Vec<_>, Vec<_>) =
        entries.map(|(i, t)| (ranked(i), t.path())).partition(|(ranked, _)| *ranked);
    let mut found = Vec::new();
    if let (false, Some(_)) = (with.is_empty(), spec.transports.iter().find(|t| t.output.rank.is_some()))
        && !rest.is_empty()
    {
        found.push(format!(
            "transport.rank does nothing at {} ports of switches, whose queues do not use ranks \
             (docs/queues/pfabric.md)",
            rest.len()
        ));
    }
    if let (Some(first), Some((_, path))) = (going.first(), without.first()) {
        found.push(format!(
            "{path}: its packets have no rank (transport.rank), and are served before all ranked ones at {} \
             ports of switches, the first of them {} (docs/queues/pfabric.md)",
            going.len(),
            first.name
        ));
    }
    found
}
