//! Packets and bytes that a port has accepted and not yet sent, at the instants at which a report asks for them.
//!
//! A packet is sent when its transmission ends, a byte as it goes onto the wire. So bytes sent in an interval are at
//! most what the link carries in it, whatever is under way at its ends. What passes a token bucket takes no time: its
//! packets are sent whole, and so are those of a radio station, once its cell is done with them.

use super::account::{Held, PARTS};
use super::port::Port;
use super::queues::Queues;
use incast_cc::Time;

impl Port {
    /// What it holds at `at`, nothing having come since.
    pub(super) fn held(&self, at: Time) -> Held {
        match &self.rare.queues {
            Some(queues) => self.held_in_queues(queues, at),
            None => self.held_in_ring(at),
        }
    }

    fn held_in_ring(&self, at: Time) -> Held {
        let (packets, bytes) = self.in_ring(at);
        if packets == 0 {
            return Held::default();
        }
        if self.settings.bucket > Time::ZERO {
            return self.whole(packets, bytes);
        }
        let first = self.slot(self.ring.len - packets);
        let behind = self.bytes_in - first.bytes_to;
        self.whole(packets - 1, behind) + self.under_way(bytes - behind, at, first.departure)
    }

    fn held_in_queues(&self, queues: &Queues, at: Time) -> Held {
        let (packets, bytes) = queues.queued;
        let mut held = self.whole(packets, bytes);
        let cell = self.station().is_some();
        for service in queues.services(at, cell) {
            held += match cell {
                true => self.whole(1, service.size),
                false => self.under_way(service.size, at.max(service.began), service.ends),
            };
        }
        held
    }

    /// Packets of so many bytes, as the queue counts them, none of which has begun.
    fn whole(&self, packets: u32, bytes: u64) -> Held {
        let bytes = bytes + packets as u64 * self.settings.overhead as u64;
        Held { packets: packets as u64, unsent: bytes as u128 * PARTS }
    }

    /// A packet of `size` bytes, as the queue counts it, whose transmission goes on from `at` to `end`.
    fn under_way(&self, size: u64, at: Time, end: Time) -> Held {
        let rate = self.settings.rate;
        let rest = match &self.rare.faults {
            Some(faults) => faults.carried(at, end, rate),
            None => (end - at).0 as u128 * rate.0 as u128,
        };
        let whole = self.whole(1, size);
        Held { unsent: rest.min(whole.unsent), ..whole }
    }
}
