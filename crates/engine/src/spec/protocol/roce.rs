//! Parameters of RoCE.

use super::facts::Facts;

/// RoCEv2's reliable connection with go-back-N (InfiniBand Architecture Specification, volume 1, section 9.7).
#[derive(Clone, PartialEq, Debug)]
pub struct Roce {
    /// Maximum number of packets in flight, at least 1.
    pub window: u32,
    /// Number of packets after which one asks for an acknowledgement, at least 1.
    pub ack_every: u32,
}

impl Roce {
    /// Facts of the transport.
    pub fn facts(&self) -> Facts {
        Facts::of("roce")
    }
}
