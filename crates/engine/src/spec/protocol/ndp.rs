//! Parameters of NDP.

use super::facts::Facts;

/// NDP (Handley et al., SIGCOMM 2017).
#[derive(Clone, PartialEq, Debug)]
pub struct Ndp {
    /// Initial unsolicited window, in packets, at least 1.
    pub window: u32,
    /// Pull rate of a host as a share of its link's rate, above 0 and at most 1.
    pub pull_rate: f64,
    /// Path selection per packet.
    pub walk: Walk,
    /// htsim's variant of NDP: no timer, NACKs queue behind data at the host, the last packet has full size.
    pub htsim: bool,
}

/// Path selection of an endpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Walk {
    /// One packet on each path in random order, then again in a new order.
    Permute,
    /// Random path for every packet.
    Random,
}

impl Ndp {
    /// Facts of the transport.
    pub fn facts(&self) -> Facts {
        Facts { needs_trimming: true, takes_returned_headers: true, has_pulls: true, ..Facts::of("ndp") }
    }
}
