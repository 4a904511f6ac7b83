//! The interface of a queue discipline: its questions and answers.

use crate::spec::Limit;
use incast_cc::{Rate, Time};
use std::fmt::Debug;

/// The decision about a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Queued.
    Accept,
    /// Queued with CE set.
    Mark,
    /// Refused.
    Drop,
}

/// Facts of an arrival which a discipline may use.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Now.
    pub now: Time,
    /// Packets queued before it.
    pub packets: u64,
    /// Bytes queued before it.
    pub bytes: u64,
    /// Its size, bytes.
    pub size: u64,
    /// It is ECN-capable.
    pub ect: bool,
}

impl Arrival {
    /// No packet has more bytes, its frame included.
    const MOST_BYTES: u64 = 1 << 17;

    /// The longest packet, at an empty queue.
    pub(in crate::port) const LONGEST_INTO_EMPTY: Arrival =
        Arrival { now: Time::ZERO, packets: 0, bytes: 0, size: Arrival::MOST_BYTES, ect: true };

    /// It finds that the queue has reached `limit`.
    #[inline(always)]
    pub fn finds(&self, limit: Limit) -> bool {
        match limit {
            Limit::Packets(n) => self.packets >= n,
            Limit::Bytes(n) => self.bytes >= n,
            Limit::None => false,
        }
    }

    /// The queue would exceed `limit` with it.
    #[inline(always)]
    pub fn exceeds(&self, limit: Limit) -> bool {
        match limit {
            Limit::Packets(n) => self.packets >= n,
            Limit::Bytes(n) => self.bytes + self.size > n,
            Limit::None => false,
        }
    }
}

/// Facts of a packet that waited in an explicit queue and leaves it.
#[derive(Clone, Copy, Debug)]
#[allow(dead_code, reason = "a discipline that looks at the delay in the queue asks for times and size")]
pub struct Departure {
    /// Now.
    pub now: Time,
    /// When it came.
    pub since: Time,
    /// Packets in the queue, itself included.
    pub packets: u64,
    /// Bytes in the queue, itself included.
    pub bytes: u64,
    /// Its size, bytes.
    pub size: u64,
    /// It is ECN-capable.
    pub ect: bool,
}

/// Where a queue is.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Rate of the link.
    pub rate: Rate,
    /// Seed of the run.
    pub seed: u64,
    /// The entity of its random numbers: the link, and the class above it.
    pub entity: u64,
}

/// A queue discipline at one queue: its parameters, and the state that it keeps. A queue discipline is told what it
/// counts ([`QueueSpec`](crate::spec::QueueSpec)) and when, and knows nothing of ports.
pub trait QueueDiscipline: Debug {
    /// Decides about an arrival.
    fn admit(&mut self, arrival: &Arrival, place: &Place) -> Verdict;

    /// An arrival was refused unasked: a buffer that the queue shares had no room for it.
    fn refused(&mut self) {}

    /// Whether an arrival that it dropped counts as marked.
    fn counts_as_marked(&self, _arrival: &Arrival) -> bool {
        false
    }

    /// Decides about a packet at the head of an explicit queue whose transmission may begin.
    fn at_head(&mut self, _head: &Departure) -> Verdict {
        Verdict::Accept
    }

    /// Whether it marks a packet whose transmission ends, in an explicit queue.
    fn at_departure(&mut self, _departure: &Departure) -> bool {
        false
    }

    /// The queue, as it counts it, is empty at `now`. (A FIFO port says so at an arrival, of the instant at which
    /// the queue will be if nothing else comes.)
    fn empty(&mut self, _now: Time) {}
}
