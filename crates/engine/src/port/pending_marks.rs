//! Marks that a FIFO port has still to set ([`departure_marks`](super::departure_marks)).

use crate::event::packet::{Packet, flag};
use crate::spec::Limit;
use incast_cc::Time;
use std::collections::VecDeque;

/// The place of a packet that no queue marks.
const NOT_ECT: u32 = u32::MAX;

/// The packets of a port that it may mark, and those that it will.
#[derive(Clone, Debug)]
pub(super) struct PendingMarks {
    /// Threshold K.
    threshold: Limit,
    /// Places of packets in the buckets of their windows, oldest first, from packet number `first` on.
    places: VecDeque<u32>,
    first: u64,
    /// Departures and places of packets that are to be marked.
    pub marked: Vec<(Time, u32)>,
    /// Marks inside the measured interval.
    pub count: u64,
}

impl PendingMarks {
    /// None yet.
    pub(super) fn new(threshold: Limit) -> PendingMarks {
        PendingMarks { threshold, places: VecDeque::new(), first: 0, marked: Vec::new(), count: 0 }
    }

    /// A queue of so many packets and bytes marks the next packet that leaves.
    pub(super) fn exceeded(&self, packets: u32, bytes: u64) -> bool {
        match self.threshold {
            Limit::Packets(n) => packets as u64 > n,
            Limit::Bytes(n) => bytes > n,
            Limit::None => false,
        }
    }

    /// The first packet without a place lies at `place`; `head` is the number of the first one in the port.
    pub(super) fn place(&mut self, head: u64, packet: &Packet, place: usize) {
        while self.first < head && self.places.pop_front().is_some() {
            self.first += 1;
        }
        if self.places.is_empty() {
            self.first = head;
        }
        self.places.push_back(if packet.has(flag::ECT) { place as u32 } else { NOT_ECT });
    }

    /// Packet `number` lies at `place` from now on, if it has had a place.
    pub(super) fn move_to(&mut self, number: u64, place: usize) {
        let at = number.checked_sub(self.first).and_then(|i| self.places.get_mut(i as usize));
        at.into_iter().filter(|at| **at != NOT_ECT).for_each(|at| *at = place as u32);
    }

    /// Packet `number` left at `departure` and is to be marked, if it is ECN-capable; whether it is.
    pub(super) fn mark(&mut self, number: u64, departure: Time, measured: bool) -> bool {
        let place = self.places[(number - self.first) as usize];
        if place != NOT_ECT {
            self.marked.push((departure, place));
            self.count += measured as u64;
        }
        place != NOT_ECT
    }
}
