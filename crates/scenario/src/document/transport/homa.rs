//! Keys of Homa, and priorities of its unscheduled packets from the sizes of messages.

use super::rule::{PacketTransport, table};
use crate::text::problem::{Problem, Report};
use crate::text::quantity::{Auto, Size, listed};
use incast_engine::spec::{self, App, FlowSpec, QuerySpec, TransportSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

table! {
    /// Homa.
    Homa {
        /// Unscheduled bytes of a message, and bytes in flight of a granted one; a shorter message is all
        /// unscheduled. About the bytes of a round trip.
        unscheduled: Size,
        /// Number of priorities: switches need as many classes in their queues. Control packets have the highest.
        #[schemars(range(min = 1, max = 8))]
        levels: u32,
        /// Number of messages that a host grants at a time, one per sender. `auto`: one per priority not used by
        /// unscheduled packets.
        overcommit: Auto<NonZeroU32>,
        /// Unscheduled packets of a message of at most the first size have the highest priority, and so on; those
        /// above the last size have the next priority. `auto`: from the sizes of the scenario's messages; each
        /// priority gets the same unscheduled bytes, and the number of priorities follows the unscheduled share of
        /// all bytes.
        cutoffs: Auto<Vec<Size>>,
    }
}

impl PacketTransport for Homa {
    fn spec(&self, _mss: u32) -> Option<spec::Protocol> {
        let cutoffs = self.cutoffs.clone()?.given().map(|sizes| sizes.iter().map(|size| size.0.0).collect());
        let overcommit = self.overcommit?.given().map(NonZeroU32::get);
        let levels = self.levels?.min(u8::MAX as u32) as u8;
        Some(spec::Protocol::Homa(spec::Homa { unscheduled: self.unscheduled?.0.0, levels, overcommit, cutoffs }))
    }

    fn check(&self, all: &spec::TransportSpec, at: &mut Report) {
        let Some(all) = all.protocol.of::<spec::Homa>() else { return };
        if let Some(size) = self.unscheduled.filter(|size| size.0.0 == 0) {
            at.text("unscheduled", size, "expected at least 1B: a receiver learns of a message by its first packet");
        }
        let most = spec::Homa::MAX_LEVELS as u32;
        if let Some(levels) = self.levels.filter(|levels| !(1..=most).contains(levels)) {
            at.value("levels", levels, format!("expected 1 to {most}"));
        }
        let cutoffs = all.cutoffs.as_deref().unwrap_or_default();
        let wrong = |at: &mut Report, message: &str| at.value("cutoffs", listed(cutoffs), message);
        if !cutoffs.is_sorted_by(|a, b| a < b) {
            wrong(at, "expected ascending sizes");
        } else if cutoffs.first() == Some(&0) {
            wrong(at, "expected sizes of at least 1B: no message is shorter");
        } else if cutoffs.len() >= all.levels as usize {
            at.key("cutoffs", format!("has {} sizes; expected fewer than levels, {}", cutoffs.len(), all.levels));
        }
    }

    fn derive(
        transports: &mut [TransportSpec],
        flows: &[FlowSpec],
        queries: &[QuerySpec],
        problems: &mut Vec<Problem>,
    ) {
        let Some(homa) = transports.iter().find_map(|t| t.protocol.of::<spec::Homa>()).cloned() else { return };
        let own: Vec<bool> = transports.iter().map(|t| t.protocol.of::<spec::Homa>().is_some()).collect();
        if transports.iter().filter_map(|t| t.protocol.of::<spec::Homa>()).any(|other| *other != homa) {
            let message = "expected one setting for all traffic: a host grants messages of all its flows";
            problems.push(Problem::new("transport.homa", message));
        }
        let cutoffs = homa.cutoffs.clone().unwrap_or_else(|| homa.derive(message_sizes(&own, flows, queries)));
        for t in transports.iter_mut() {
            if let spec::Protocol::Homa(spec::Homa { cutoffs: to, .. }) = &mut t.protocol {
                *to = Some(cutoffs.clone());
            }
        }
    }
}

/// Sizes of messages that have one.
fn message_sizes(own: &[bool], flows: &[FlowSpec], queries: &[QuerySpec]) -> Vec<u64> {
    let of_flow = |f: &FlowSpec| match f.app {
        App::Bulk(bulk) => bulk.size,
        App::ClosedLoop(app) => Some(app.write),
        _ => None,
    };
    let transfers = flows.iter().filter(|f| own[f.transport as usize]).filter_map(of_flow);
    let connections = queries.iter().flat_map(|query| &query.connections);
    let connections = connections.filter(|c| own[flows[c.request as usize].transport as usize]);
    let messages = connections.flat_map(|c| [c.request_size, c.response_size]);
    transfers.chain(messages).collect()
}
