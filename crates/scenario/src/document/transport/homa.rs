//! Priorities of Homa's unscheduled packets from the sizes of messages.

use super::rule::PacketTransport;
use super::tables::Homa;
use crate::text::problem::Problem;
use incast_engine::spec::{self, App, FlowSpec, QuerySpec, TransportSpec};

impl PacketTransport for Homa {
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
