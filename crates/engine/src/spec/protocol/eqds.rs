//! Parameters of EQDS.

use super::facts::Facts;
use crate::spec::keys::keys;
use crate::spec::refused_value::Refusals;

keys! {
    $ eqds_keys
    /// EQDS (Olteanu et al., NSDI 2022).
    eqds: Eqds {
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

impl Eqds {
    /// Refuses values that contradict each other.
    pub(super) fn check(&self, to: &mut Refusals) {
        to.entropies(self.entropies);
    }

    /// Facts of the transport.
    pub fn facts(&self) -> Facts {
        Facts { needs_trimming: true, has_pulls: true, ..Facts::of("eqds") }
    }
}
