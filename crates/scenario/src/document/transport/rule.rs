//! Interface of transports that number packets: a table of keys each, and what it needs of the network around it.

use crate::document::queue::Queue;
use crate::text::problem::{Problem, Report};
use crate::topology::network::Network;
use incast_engine::spec::{FlowSpec, Protocol, QuerySpec, Spec, TransportSpec};

/// Network in which flows have their transports.
pub(crate) struct Around<'a> {
    pub(crate) network: &'a Network,
    /// All queues of the document, with their keys.
    pub(crate) queues: &'a [(String, &'a Queue)],
    /// True if packets of both directions of a flow take the same links.
    pub(crate) symmetric: bool,
    pub(crate) transports: &'a [TransportSpec],
}

/// Table of keys of a transport that numbers packets.
pub(crate) trait PacketTransport {
    /// Transport for the engine, with `mss` bytes in a full packet; `None` if a value is missing.
    fn spec(&self, mss: u32) -> Option<Protocol>;

    /// Reports values outside bounds that types do not express; `all` has every value.
    fn check(&self, _all: &TransportSpec, _at: &mut Report) {}

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

/// Declares the table of a transport: optional keys, and the merge with default values.
macro_rules! table {
    ($(#[$about:meta])+ $name:ident { $($(#[$doc:meta])+ $key:ident: $type:ty,)+ }) => {
        $(#[$about])+
        #[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
        #[schemars(inline)]
        pub struct $name {
            $($(#[$doc])+ #[serde(skip_serializing_if = "Option::is_none")] pub $key: Option<$type>,)+
        }

        impl $name {
            /// Returns these values, with missing ones from `base`.
            pub(crate) fn or(&self, base: &$name) -> $name {
                $name { $($key: Clone::clone(&self.$key).or_else(|| Clone::clone(&base.$key))),+ }
            }
        }
    };
}
pub(crate) use table;

/// Merges the first with the second; `or` joins two.
pub(crate) fn joined<T: Clone>(own: &Option<T>, base: &Option<T>, or: impl Fn(&T, &T) -> T) -> Option<T> {
    match (own, base) {
        (Some(own), Some(base)) => Some(or(own, base)),
        _ => own.clone().or_else(|| base.clone()),
    }
}
