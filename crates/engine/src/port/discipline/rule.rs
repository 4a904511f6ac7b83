//! Interface of a queue discipline.

use crate::spec::Limit;
use incast_cc::{Rate, Time};
use std::fmt::Debug;

/// Decision about a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Queued.
    Accept,
    /// Queued with CE set.
    Mark,
    /// Refused.
    Drop,
}

/// Facts about an arrival that a discipline may use.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Now.
    pub now: Time,
    /// Queued packets before the arrival.
    pub packets: u64,
    /// Queued bytes before the arrival.
    pub bytes: u64,
    /// Size of the packet, in bytes.
    pub size: u64,
    /// True if the packet is ECN-capable.
    pub ect: bool,
}

impl Arrival {
    /// Upper bound of a packet's size including its frame, in bytes.
    const MAX_BYTES: u64 = 1 << 17;

    /// Largest packet at an empty queue.
    pub(in crate::port) const LONGEST_INTO_EMPTY: Arrival =
        Arrival { now: Time::ZERO, packets: 0, bytes: 0, size: Arrival::MAX_BYTES, ect: true };

    /// True if the queue has reached `limit` before the arrival.
    #[inline(always)]
    pub fn finds(&self, limit: Limit) -> bool {
        match limit {
            Limit::Packets(n) => self.packets >= n,
            Limit::Bytes(n) => self.bytes >= n,
            Limit::None => false,
        }
    }

    /// True if the queue would exceed `limit` with the arrival.
    #[inline(always)]
    pub fn exceeds(&self, limit: Limit) -> bool {
        match limit {
            Limit::Packets(n) => self.packets >= n,
            Limit::Bytes(n) => self.bytes + self.size > n,
            Limit::None => false,
        }
    }
}

/// Facts about a packet that leaves an explicit queue.
#[derive(Clone, Copy, Debug)]
#[allow(dead_code, reason = "a discipline that looks at the delay in the queue asks for times and size")]
pub struct Departure {
    /// Now.
    pub now: Time,
    /// Arrival time of the packet.
    pub since: Time,
    /// Packets in the queue, including this one.
    pub packets: u64,
    /// Bytes in the queue, including this packet.
    pub bytes: u64,
    /// Size of the packet, in bytes.
    pub size: u64,
    /// True if the packet is ECN-capable.
    pub ect: bool,
}

/// Location of a queue.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Rate of the link.
    pub rate: Rate,
    /// Seed of the run.
    pub seed: u64,
    /// Entity of its random numbers: the link in the lower bits, the class above.
    pub entity: u64,
}

/// Queue discipline at one queue: its parameters and state. The caller passes the queue length, counted as in
/// [`QueueSpec`](crate::spec::QueueSpec), and the time; a discipline knows nothing of ports.
pub trait QueueDiscipline: Debug {
    /// Decides about an arrival.
    fn admit(&mut self, arrival: &Arrival, place: &Place) -> Verdict;

    /// Notifies of an arrival refused by a full shared buffer, without a decision of the discipline.
    fn refused(&mut self) {}

    /// Returns whether a dropped arrival counts as marked.
    fn counts_as_marked(&self, _arrival: &Arrival) -> bool {
        false
    }

    /// Decides about a packet at the head of an explicit queue whose transmission may begin.
    fn at_head(&mut self, _head: &Departure) -> Verdict {
        Verdict::Accept
    }

    /// Returns whether it marks a packet at the end of its transmission, in an explicit queue.
    fn at_departure(&mut self, _departure: &Departure) -> bool {
        false
    }

    /// Notifies that the queue, as the discipline counts it, is empty at `now`. A FIFO port calls this at each arrival,
    /// with the time at which the queue will be empty if nothing else arrives.
    fn empty(&mut self, _now: Time) {}
}
