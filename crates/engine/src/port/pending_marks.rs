//! Pending marks of a FIFO port ([`late_marking`](super::late_marking)).

use crate::event::packet::{Packet, flag};
use crate::spec::Limit;
use incast_cc::Time;
use std::collections::VecDeque;

/// Place of a packet that is not ECN-capable.
const NOT_ECT: u32 = u32::MAX;

/// Packets that a port may mark, and packets to be marked.
#[derive(Clone, Debug)]
pub(super) struct PendingMarks {
    /// Threshold K.
    threshold: Limit,
    /// Places of packets in the buckets of their engine windows, oldest first, from packet number `first` on.
    places: VecDeque<u32>,
    first: u64,
    /// Departure times and places of packets to be marked.
    pub marked: Vec<(Time, u32)>,
    /// Number of marks in the measured interval.
    pub count: u64,
}

impl PendingMarks {
    /// No pending marks.
    pub(super) fn new(threshold: Limit) -> PendingMarks {
        PendingMarks { threshold, places: VecDeque::new(), first: 0, marked: Vec::new(), count: 0 }
    }

    /// True if a queue of this length marks the next departure.
    pub(super) fn exceeded(&self, packets: u32, bytes: u64) -> bool {
        match self.threshold {
            Limit::Packets(n) => packets as u64 > n,
            Limit::Bytes(n) => bytes > n,
            Limit::None => false,
        }
    }

    /// Records the `place` of the first packet without one; `head` is the number of the first packet in the port.
    pub(super) fn place(&mut self, head: u64, packet: &Packet, place: usize) {
        while self.first < head && self.places.pop_front().is_some() {
            self.first += 1;
        }
        if self.places.is_empty() {
            self.first = head;
        }
        self.places.push_back(if packet.has(flag::ECT) { place as u32 } else { NOT_ECT });
    }

    /// Changes the place of packet `number`, if it has one.
    pub(super) fn move_to(&mut self, number: u64, place: usize) {
        let at = number.checked_sub(self.first).and_then(|i| self.places.get_mut(i as usize));
        at.into_iter().filter(|at| **at != NOT_ECT).for_each(|at| *at = place as u32);
    }

    /// Marks packet `number`, which left at `departure`, if it is ECN-capable. Returns whether it is.
    pub(super) fn mark(&mut self, number: u64, departure: Time, measured: bool) -> bool {
        let place = self.places[(number - self.first) as usize];
        if place != NOT_ECT {
            self.marked.push((departure, place));
            self.count += measured as u64;
        }
        place != NOT_ECT
    }
}
