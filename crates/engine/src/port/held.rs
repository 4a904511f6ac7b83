//! Packets and bytes that a port has accepted and not yet sent, at the instants of a report.
//!
//! A packet is sent at the end of its transmission, a byte when it is put on the wire. So the bytes sent in an interval
//! never exceed the capacity of the link, whatever is in transmission at its ends. Packets of a token bucket take no
//! time and are sent as a whole, and so are those of a radio station when its cell is done with them.

use super::account::{Held, PARTS};
use super::port::Port;
use super::queues::Queues;
use incast_cc::Time;

impl Port {
    /// Accepted and unsent packets at `at`, without later arrivals.
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

    /// Packets of `bytes` bytes as the queue counts them, whose transmissions have not begun.
    fn whole(&self, packets: u32, bytes: u64) -> Held {
        let bytes = bytes + packets as u64 * self.settings.overhead as u64;
        Held { packets: packets as u64, unsent: bytes as u128 * PARTS }
    }

    /// Packet of `size` bytes as the queue counts it, whose transmission lasts from `at` to `end`.
    fn under_way(&self, size: u64, at: Time, end: Time) -> Held {
        let rate = self.settings.rate;
        let whole = self.whole(1, size);
        let rest = match &self.rare.faults {
            Some(faults) => faults.carried(at, end, rate),
            // it begins now: the transmission time is rounded, and may carry less than all by the rate
            None if end - at >= self.settings.serialization(size) => whole.unsent,
            None => (end - at).0 as u128 * rate.0 as u128,
        };
        Held { unsent: rest.min(whole.unsent), ..whole }
    }
}
