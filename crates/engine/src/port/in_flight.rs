//! Packets in flight over the link of a port: losses, arrival times, and places in buckets.

use super::port::Port;
use crate::event::packet::Packet;
use crate::hash;
use incast_cc::Time;

impl Port {
    /// Returns whether the wire loses the last accepted packet, of `size` bytes as the queue counts it; counts the
    /// loss.
    pub(super) fn loses_latest(&mut self, size: u64) -> bool {
        let lost = self.settings.loses(self.rare.seed, self.link, self.count.packets - 1, size);
        self.rare.events.losses += lost as u64;
        lost
    }

    /// Arrival time of `packet`, number `index`, whose transmission lasts from `start` to `end`; `None`: lost to a
    /// failure.
    pub(super) fn arrival_of(&mut self, packet: &Packet, start: Time, end: Time, index: u64) -> Option<Time> {
        let (link, seed) = (self.link.0 as u64, self.rare.seed);
        let Some(faults) = &mut self.rare.faults else { return Some(end + self.settings.delay) };
        let draw = || hash::uniform(seed, hash::purpose::FAILURE, link, index);
        let arrives = faults.arrival(start, end, self.settings.delay, draw);
        faults.note_crossing(packet.flow, start, end, arrives.is_none());
        arrives
    }

    /// Records the `place` of the oldest sent packet without one in the bucket of its engine window, if the port [marks
    /// later](super::late_marking).
    pub fn placed(&mut self, packet: &Packet, place: usize) {
        let head = self.head();
        // an empty packet may have left at once
        if self.ring.len > 0
            && let Some(marks) = &mut self.rare.pending_marks
        {
            marks.place(head, packet, place);
        }
    }
}
