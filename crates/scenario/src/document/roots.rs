//! Roots of partition and aggregate in a scenario: their number, their racks, and the distance of their workers.

use crate::text::problem::Report;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Roots of the pattern `partition-aggregate`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Roots {
    /// Number of roots: one in each rack in turn, the first hosts of a rack first.
    #[schemars(range(min = 1))]
    pub count: u32,
    /// Number of racks with roots, the first ones; default: all.
    #[schemars(range(min = 1))]
    pub racks: Option<u32>,
    /// Workers of a root in its own rack.
    #[serde(default)]
    pub in_rack: u32,
    /// Workers of a root in the other racks of its pod.
    #[serde(default)]
    pub in_pod: u32,
    /// Workers of a root in other pods; without pods, in other racks.
    #[serde(default)]
    pub elsewhere: u32,
}

impl Roots {
    /// Workers of a root.
    pub(crate) fn workers(&self) -> u64 {
        self.in_rack as u64 + self.in_pod as u64 + self.elsewhere as u64
    }

    /// Reports values that are invalid for any network.
    pub(crate) fn check(&self, at: &mut Report) {
        if self.count == 0 {
            at.value("count", 0, "expected a whole number >= 1");
        }
        if self.racks == Some(0) {
            at.value("racks", 0, "expected a whole number >= 1");
        }
        if self.workers() == 0 {
            at.key("in_rack", "missing; expected workers in one of in_rack, in_pod and elsewhere");
        }
    }
}
