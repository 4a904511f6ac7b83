//! Priorities by bytes sent (PIAS), by size, or by what is left: what their sizes may be. Ranks and probes (pFabric):
//! whose they are.

use crate::text::problem::Report;
use incast_engine::spec::{Rank, TransportSpec};

/// Contradictions in the sizes of a transport that has every value.
pub(crate) fn check(all: &TransportSpec, at: &mut Report) {
    for (key, set) in [("rank", all.rank.is_some()), ("probe_after", all.probe_after > 0)] {
        if set && all.protocol.is_driven() {
            at.key(key, format!("is of TCP; expected none with preset = \"{}\"", all.protocol.name()));
        }
    }
    let (sizes, most) = (&all.demotion, TransportSpec::MOST_SIZES);
    if sizes.len() > most {
        let has = sizes.len();
        at.key("demotion", format!("has {has} sizes; expected at most {most}: a packet has one of 8 classes"));
    } else if !sizes.is_sorted_by(|a, b| a < b) {
        at.key("demotion", "expected sizes that rise");
    } else if sizes.first() == Some(&0) {
        at.key("demotion", "expected sizes of at least 1B: nothing goes before the first byte");
    } else if sizes.is_empty() && all.demotion_by != Rank::Sent {
        at.key("demotion_by", "is what the sizes of transport.demotion are compared with; expected demotion, too");
    } else if !sizes.is_empty() && all.protocol.is_driven() {
        let name = all.protocol.name();
        at.key(
            "demotion",
            format!("is of TCP; expected none with preset = \"{name}\", which has its own classes, or none"),
        );
    }
}
