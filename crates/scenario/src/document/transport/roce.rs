//! Keys of RoCE.

use super::rule::{PacketTransport, table};
use crate::text::problem::Report;
use incast_engine::spec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

table! {
    /// RoCE.
    Roce {
        /// Largest number of packets in flight. Below it a sender sends at the rate of its link: there is no
        /// congestion control.
        #[schemars(range(min = 1))]
        window: u32,
        /// Every so many packets, one asks for an acknowledgement; so does the last one that may go for now.
        #[schemars(range(min = 1))]
        ack_every: u32,
    }
}

impl PacketTransport for Roce {
    fn spec(&self, _mss: u32) -> Option<spec::Protocol> {
        Some(spec::Protocol::Roce(spec::Roce { window: self.window?, ack_every: self.ack_every? }))
    }

    fn check(&self, _all: &spec::TransportSpec, at: &mut Report) {
        for (key, count) in [("window", self.window), ("ack_every", self.ack_every)] {
            if count == Some(0) {
                at.value(key, 0, "expected at least 1 packet");
            }
        }
    }
}
