//! Interface of transports that number packets: what one needs of the traffic and the network around it.

use crate::document::queue::Queue;
use crate::text::problem::Problem;
use crate::topology::network::Network;
use incast_engine::spec::{FlowSpec, QuerySpec, Spec, TransportSpec};

/// Network in which flows have their transports.
pub(crate) struct Around<'a> {
    pub(crate) network: &'a Network,
    /// All queues of the document, with their keys.
    pub(crate) queues: &'a [(String, &'a Queue)],
    /// True if packets of both directions of a flow take the same links.
    pub(crate) symmetric: bool,
    pub(crate) transports: &'a [TransportSpec],
}

/// Rules of a transport that numbers packets, beyond its keys.
pub(crate) trait PacketTransport {
    /// Derives values that are not given from the traffic.
    fn derive(
        _transports: &mut [TransportSpec],
        _flows: &[FlowSpec],
        _queries: &[QuerySpec],
        _problems: &mut Vec<Problem>,
    ) {
    }

    /// Reports a network that lacks what the transport needs, if a flow has it.
    fn check_network(_around: &Around, _problems: &mut Vec<Problem>) {}

    /// A note on a run, one sentence.
    fn note(_run: &Spec) -> Option<String> {
        None
    }
}
