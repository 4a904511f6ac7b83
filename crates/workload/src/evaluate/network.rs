//! Network of one latency and one rate.

use super::least;
use crate::graph::Collective;
use incast_cc::{Bytes, Rate, Time};

/// Network of one latency and one rate for all pairs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Network {
    /// Latency of a message.
    pub latency: Time,
    /// Rate of a host.
    pub rate: Rate,
}

impl Network {
    /// Network that takes no time.
    pub const NONE: Network = Network { latency: Time::ZERO, rate: Rate::INFINITE };

    /// Time of a message between two ranks.
    pub fn message(self, bytes: Bytes) -> Time {
        self.latency.saturating_add(self.rate.serialize(bytes.0))
    }

    /// Lower bound of the time of a collective of n members: one latency, and the bytes of [`least::moved`].
    pub fn collective(self, what: &Collective, n: u64) -> Time {
        if n < 2 { Time::ZERO } else { self.message(least::moved(what, n)) }
    }
}
