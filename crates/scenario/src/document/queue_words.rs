//! Words and tables of queues: when they mark, what they cut.

use crate::text::default::yes;
use crate::text::quantity::Size;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When a packet is marked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MarkAt {
    /// It arrives and finds at least K queued.
    #[default]
    Arrival,
    /// It leaves, and the queue that it leaves, itself included, exceeds K (htsim).
    Departure,
}

/// Packets that cannot be marked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NonEct {
    /// They pass; only the limit drops them.
    #[default]
    Pass,
    /// They are dropped, as RED hardware with equal thresholds does.
    Drop,
}

/// Marks of ECN-capable data at the end of its transmission, by the bytes of data that it leaves behind.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Leaving {
    /// Up to this nothing is marked.
    pub min: Size,
    /// Above this everything is; between the two with a probability that rises from 0 to 1.
    pub max: Size,
    /// Ports that lead to hosts mark too. (uet-htsim: not where the receiver controls.)
    #[serde(default = "yes")]
    pub to_hosts: bool,
}

/// What is cut where data does not fit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cuts {
    /// The arrival or what came last before it, by a fair draw (NDP, htsim): no flow is cut always.
    #[default]
    Either,
    /// The arrival.
    Arrival,
    /// Nothing: what `either` would cut is dropped (uet-htsim without trimming).
    None,
}
