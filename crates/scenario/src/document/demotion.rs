//! Priorities by bytes sent (PIAS), by size, or by remaining bytes: rules for their sizes. Rules for ranks and probes
//! (pFabric), and for further packets (htsim).

use crate::text::problem::Report;
use crate::text::quantity::listed;
use crate::text::words::Word;
use incast_engine::spec::{Rank, TransportSpec};

/// Reports contradictions in the sizes of a transport that has every value.
pub(crate) fn check(all: &TransportSpec, at: &mut Report) {
    let of_tcp = |what: &str| format!("applies to TCP only; expected {what} with preset = \"{}\"", all.protocol.name());
    if all.output.rank.is_some() && all.protocol.numbers_packets() {
        at.text("rank", Word(all.output.rank).word(), of_tcp("\"none\""));
    }
    if all.output.probe_after > 0 && all.protocol.numbers_packets() {
        at.value("probe_after", all.output.probe_after, of_tcp("0"));
    }
    if all.output.extra_packets > 0 && all.protocol.numbers_packets() {
        at.value("extra_packets", all.output.extra_packets, of_tcp("0"));
    }
    let (sizes, most) = (&all.output.demotion, TransportSpec::MAX_SIZES);
    let wrong = |at: &mut Report, message: &str| at.value("demotion", listed(sizes), message);
    if sizes.len() > most {
        let has = sizes.len();
        at.key("demotion", format!("has {has} sizes; expected at most {most}: a packet has one of 8 classes"));
    } else if !sizes.is_sorted_by(|a, b| a < b) {
        wrong(at, "expected ascending sizes");
    } else if sizes.first() == Some(&0) {
        wrong(at, "expected sizes of at least 1B: nothing goes before the first byte");
    } else if sizes.is_empty() && all.output.demotion_by != Rank::Sent {
        let message = "is compared with the sizes of transport.demotion; expected demotion, too";
        at.text("demotion_by", Word(all.output.demotion_by).word(), message);
    } else if !sizes.is_empty() && all.protocol.numbers_packets() {
        wrong(at, &format!("{}, which has classes of its own or none", of_tcp("no sizes")));
    }
}
