//! Parameters of EQDS.

use super::facts::Facts;

/// EQDS (Olteanu et al., NSDI 2022).
#[derive(Clone, PartialEq, Debug)]
pub struct Eqds {
    /// Initial speculative credit of a flow, in packets, at least 1. A receiver grants up to the same amount ahead of
    /// demand.
    pub window: u32,
    /// Credit rate of a host as a share of its link's rate, above 0 and at most 1.
    pub pull_rate: f64,
    /// Number of entropies per flow, a power of two up to 2^15.
    pub entropies: u32,
    /// htsim's variant of EQDS: pull targets wrap around, the pull interval is 0.99 packet times, all credit of a flow
    /// takes one path.
    pub htsim: bool,
}

impl Eqds {
    /// Facts of the transport.
    pub fn facts(&self) -> Facts {
        Facts { needs_trimming: true, has_pulls: true, ..Facts::of("eqds") }
    }
}
