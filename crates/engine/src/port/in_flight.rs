//! Packets in flight over the link of a port: which are lost, and when the others arrive. Near their arrival they lie
//! in the buckets of windows, before that in the port's overflow queue.

use super::port::{Port, Rare};
use crate::event::outbox::{Chunks, Overflow};
use crate::event::packet::{Ext, Packet};
use crate::hash;
use incast_cc::Time;

impl Port {
    /// Whether the wire loses the packet accepted last, of `size` bytes as the queue counts it; counts it.
    pub(super) fn loses_latest(&mut self, size: u64) -> bool {
        let lost = self.settings.loses(self.rare.seed, self.link, self.count.packets - 1, size);
        self.rare.events.losses += lost as u64;
        lost
    }

    /// When packet number `index` arrives whose transmission lasts from `start` to `end`; `None`: a failure has it.
    pub(super) fn arrival_of(&mut self, start: Time, end: Time, index: u64) -> Option<Time> {
        let (link, seed) = (self.link.0 as u64, self.rare.seed);
        let Some(faults) = &mut self.rare.faults else { return Some(end + self.settings.delay) };
        let draw = || hash::uniform(seed, hash::purpose::FAILURE, link, index);
        faults.arrival(start, end, self.settings.delay, draw)
    }

    /// Packets of the overflow queue, oldest first.
    pub fn overflow(&self) -> impl Iterator<Item = &Packet> {
        self.rare.overflow.iter()
    }

    /// Takes those that arrive before `time`, in order; `take` says at which place in its bucket a packet lies now.
    pub fn take_overflow(
        &mut self,
        time: Time,
        chunks: &mut Chunks,
        mut take: impl FnMut(&Packet, Option<&mut Ext>) -> usize,
    ) {
        let head = self.head();
        let Rare { overflow, pending_marks, .. } = &mut *self.rare;
        overflow.take_before(time, chunks, |packet, ext| {
            let place = take(packet, ext);
            if let Some(marks) = pending_marks {
                marks.place(head, packet, place);
            }
        });
        self.overflows = !self.rare.overflow.is_empty();
    }
}

impl Overflow for Port {
    #[inline]
    fn overflows(&self) -> bool {
        self.overflows
    }

    #[inline]
    fn push_overflow(&mut self, packet: &Packet, ext: Option<&mut Ext>, chunks: &mut Chunks) -> &mut Packet {
        self.overflows = true;
        self.rare.overflow.push(packet, ext, chunks)
    }
}

/// A port that [marks later](super::departure_marks): it has to know where packets lie.
pub struct MarksLater<'a>(pub &'a mut Port);

impl Overflow for MarksLater<'_> {
    #[inline]
    fn overflows(&self) -> bool {
        self.0.overflows
    }

    fn push_overflow(&mut self, packet: &Packet, ext: Option<&mut Ext>, chunks: &mut Chunks) -> &mut Packet {
        self.0.push_overflow(packet, ext, chunks)
    }

    #[inline]
    fn placed(&mut self, packet: &Packet, place: usize) {
        let head = self.0.head();
        // an empty packet may have left at once
        if self.0.ring.len > 0
            && let Some(marks) = &mut self.0.rare.pending_marks
        {
            marks.place(head, packet, place);
        }
    }
}
