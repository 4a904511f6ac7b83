//! Words and tables of queues: marking and trimming.

use crate::text::default::yes;
use crate::text::quantity::Size;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Time at which a packet is marked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MarkAt {
    /// Arrival, with at least K queued.
    #[default]
    Arrival,
    /// Departure, if the queue including the packet exceeds K (htsim).
    Departure,
}

/// Treatment of packets that cannot be marked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NonEct {
    /// Accepted; only the limit drops them.
    #[default]
    Pass,
    /// Dropped, as in RED hardware with equal thresholds.
    Drop,
}

/// Marking of ECN-capable data at the end of its transmission, by the bytes of data left in the queue.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Leaving {
    /// Queue up to which nothing is marked.
    pub min: Size,
    /// Queue above which all data is marked; in between the probability rises from 0 to 1.
    pub max: Size,
    /// Marks at ports to hosts too. (uet-htsim: not with receiver-driven control.)
    #[serde(default = "yes")]
    pub to_hosts: bool,
}

/// Packet that is trimmed if data does not fit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cuts {
    /// The arrival or the last data before it, by a fair draw (NDP, htsim): no flow is always trimmed.
    #[default]
    Either,
    /// The arrival.
    Arrival,
    /// None: the packet that `either` would trim is dropped (uet-htsim without trimming).
    None,
}
