//! Interface of transports that number packets: a table of keys each, and what it needs of the network around it.

use crate::document::pacing::Pacing;
use crate::document::queue::Queue;
use crate::text::problem::{Problem, Report};
use crate::text::quantity::{Auto, Size, Time};
use crate::text::words::{Word, Words};
use crate::topology::network::Network;
use incast_engine::spec::{FlowSpec, PacingSpec, Protocol, QuerySpec, Spec, TransportSpec};
use std::num::NonZeroU32;

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

/// Type of a key in scenarios: the engine's, or the one after `as`.
macro_rules! written {
    ($type:ty) => {
        $type
    };
    ($type:ty as $written:ty) => {
        $written
    };
}
pub(crate) use written;

/// Value of a key as a user writes it, for the engine.
pub(crate) trait Written<T>: Clone {
    /// Value for the engine.
    fn value(self) -> T;

    /// Value for the engine of a key that is not given.
    fn missing() -> Option<T> {
        None
    }
}

/// Value of a key for the engine; `None` if it is missing.
pub(crate) fn value<T, W: Written<T>>(given: &Option<W>) -> Option<T> {
    given.clone().map_or_else(W::missing, |given| Some(given.value()))
}

/// Declares how values of keys become values of the engine.
macro_rules! values {
    ($($written:ty => $type:ty: |$given:ident| $value:expr;)+) => {
        $(impl Written<$type> for $written {
            fn value(self) -> $type {
                let $given = self;
                $value
            }
        })+
    };
}

values! {
    bool => bool: |flag| flag;
    u32 => u32: |n| n;
    f64 => f64: |x| x;
    Size => u64: |size| size.0.0;
    Time => incast_cc::Time: |time| time.0;
    Pacing => PacingSpec: |pacing| pacing.into();
    // 0 stands for `auto`, until the controller is known
    Auto<NonZeroU32> => u32: |n| n.given().map_or(0, NonZeroU32::get);
}

impl<T: Words> Written<T> for Word<T> {
    fn value(self) -> T {
        self.0
    }
}

impl Written<Vec<u64>> for Vec<Size> {
    fn value(self) -> Vec<u64> {
        self.into_iter().map(|size| size.0.0).collect()
    }

    fn missing() -> Option<Vec<u64>> {
        Some(Vec::new())
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
