//! Interface of transports that number packets: what one needs of the traffic and the network around it.

use crate::document::queue::Queue;
use crate::text::problem::Problem;
use incast_engine::spec::{FlowSpec, PathChoice, QuerySpec, Spec, TransportSpec};

/// Network in which flows have their transports.
pub(crate) struct Around<'a> {
    /// All queues of the document, with their keys.
    pub(crate) queues: &'a [(String, &'a Queue)],
    pub(crate) choice: &'a PathChoice,
    pub(crate) transports: &'a [TransportSpec],
}

/// Rules of a transport that numbers packets, beyond its keys.
pub(crate) trait PacketTransport {
    /// Derives values that are not given from the traffic.
    fn derive(_transports: &mut [TransportSpec], _flows: &[FlowSpec], _queries: &[QuerySpec]) {}

    /// Reports a network that lacks what the transport needs, if a flow has it.
    fn check_network(_around: &Around, _problems: &mut Vec<Problem>) {}

    /// A note on a run, one sentence.
    fn note(_run: &Spec) -> Option<String> {
        None
    }
}
