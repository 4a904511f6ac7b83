//! Parameters of RoCE.

use super::facts::Facts;
use crate::spec::keys::keys;
use crate::spec::refused_value::Refusals;

keys! {
    $ roce_keys
    /// RoCEv2's reliable connection with go-back-N (InfiniBand Architecture Specification, volume 1, section 9.7).
    roce: Roce {
        /// Largest number of packets in flight. Below it a sender sends at the rate of its link: there is no
        /// congestion control.
        #[schemars(range(min = 1))]
        window: u32,
        /// Every so many packets, one asks for an acknowledgement; so does the last one that may go for now.
        #[schemars(range(min = 1))]
        ack_every: u32,
    }
}

impl Roce {
    /// No value contradicts another.
    pub(super) fn check(&self, _to: &mut Refusals) {}

    /// Facts of the transport.
    pub fn facts(&self) -> Facts {
        Facts::of("roce")
    }
}
