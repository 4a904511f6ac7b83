//! Keys of EQDS.

use super::rule::{PacketTransport, table};
use crate::text::problem::Report;
use incast_engine::spec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

table! {
    /// EQDS.
    Eqds {
        /// Speculative credit at the start of a flow, in packets; a receiver also grants this much beyond the demand
        /// when no flow asks for credit.
        #[schemars(range(min = 1))]
        window: u32,
        /// Credit rate of a host, as a share of its link's rate.
        #[schemars(extend("exclusiveMinimum" = 0), range(max = 1))]
        pull_rate: f64,
        /// Entropies of a flow, with `routing.kind = "transport"` and `routing.by = "entropy"`: a power of two.
        #[schemars(range(min = 1, max = 32768))]
        entropies: u32,
        /// EQDS as in htsim: more credit than backlog lowers the target, and a flow shorter than its window receives
        /// credit for ever, because a target below zero wraps around; `pull_rate` multiplies the time between
        /// credits, which is that of a packet and 38 bytes; all credit of a flow has one entropy.
        htsim: bool,
    }
}

impl PacketTransport for Eqds {
    fn spec(&self, _mss: u32) -> Option<spec::Protocol> {
        let (window, entropies) = (self.window?, self.entropies?);
        Some(spec::Protocol::Eqds(spec::Eqds { window, pull_rate: self.pull_rate?, entropies, htsim: self.htsim? }))
    }

    fn check(&self, _all: &spec::TransportSpec, at: &mut Report) {
        if self.window == Some(0) {
            at.value("window", 0, "expected at least 1 packet");
        }
        if let Some(rate) = self.pull_rate.filter(|rate| !(*rate > 0.0 && *rate <= 1.0)) {
            at.value("pull_rate", rate, "expected a share above 0 and at most 1");
        }
        if let Some(n) = self.entropies.filter(|n| !n.is_power_of_two() || *n > 1 << 15) {
            at.value("entropies", n, "expected a power of two, 1 to 32768");
        }
    }
}
