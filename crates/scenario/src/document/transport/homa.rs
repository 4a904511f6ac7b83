//! Priorities of Homa's unscheduled packets from the sizes of messages.

use super::rule::PacketTransport;
use super::tables::Homa;
use incast_engine::spec::{self, App, FlowSpec, QuerySpec, TransportSpec};

impl PacketTransport for Homa {
    fn derive(transports: &mut [TransportSpec], flows: &[FlowSpec], queries: &[QuerySpec]) {
        let Some(homa) = transports.iter().find_map(|t| t.protocol.of::<spec::Homa>()).cloned() else { return };
        let own: Vec<bool> = transports.iter().map(|t| t.protocol.of::<spec::Homa>().is_some()).collect();
        let cutoffs = homa.cutoffs.clone().unwrap_or_else(|| homa.derive(message_sizes(&own, flows, queries)));
        // another setting stays as it is, for the engine to refuse
        for t in transports.iter_mut() {
            if let spec::Protocol::Homa(own) = &mut t.protocol
                && *own == homa
            {
                own.cutoffs = Some(cutoffs.clone());
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
