//! Marks at departure of a FIFO port: decided after a packet has left, and set where it waits for its arrival.
//!
//! [`Discipline::EcnAtDeparture`](crate::spec::Discipline) marks by the queue at the departure. The departure time is
//! known at the arrival ([`fifo`](super::fifo)); the queue at that time is known with the next arrival, or at the end
//! of the engine window of the departure. By then the packet lies in the bucket of a later window, because the link's
//! delay is at least one window; the port knows its place there. Only a queue above the threshold marks: such a port is
//! settled when the next window opens, others are not visited. In an [explicit](super::explicit) queue, and in the
//! reference engine, each departure is an event.

use super::frames::Noted;
use super::pending_marks::PendingMarks;
use super::port::{Port, feature};
use crate::event::interval::Interval;
use crate::event::packet::Packet;
use crate::port::discipline::ActiveDiscipline;
use incast_cc::Time;

impl Port {
    /// Turns a port with marks at departure that [fits](crate::fast_paths::FastPath::LateMarking) into a FIFO port that
    /// marks later.
    pub fn mark_later(&mut self) {
        let ActiveDiscipline::EcnAtDeparture(discipline) = &self.settings.discipline else { return };
        self.rare.pending_marks = Some(Box::new(PendingMarks::new(discipline.threshold())));
        self.rare.queues = None;
        self.features = feature::MARKS_LATE;
    }

    /// True if marks at departure are set later.
    #[inline]
    pub fn marks_late(&self) -> bool {
        self.features & feature::MARKS_LATE != 0
    }

    /// True if its queue is above the threshold, as far as known.
    fn is_above(&self) -> bool {
        let (packets, bytes) = (self.ring.len, self.bytes_in - self.bytes_out);
        self.rare.pending_marks.as_ref().is_some_and(|marks| marks.exceeded(packets, bytes))
    }

    /// Returns whether the last packet makes it due for settling when the next window opens.
    #[inline]
    pub fn becomes_due(&mut self) -> bool {
        let becomes = self.features & feature::DUE == 0 && self.is_above();
        self.features |= if becomes { feature::DUE } else { 0 };
        becomes
    }

    /// Number of the first packet in the port, or of the next arrival.
    pub(super) fn head(&self) -> u64 {
        self.count.packets - self.ring.len as u64
    }

    /// Settles departures up to `now`, if some may be marked.
    #[inline]
    pub fn settle_due(&mut self, now: Time, interval: &Interval) {
        if self.features & feature::DUE != 0 {
            self.settle(now, interval);
        }
    }

    /// Decides the marks of departures up to `now` and removes them, without arrivals since the last packet.
    fn settle(&mut self, now: Time, interval: &Interval) {
        let (head, latest) = (self.head(), self.latest());
        let Some(marks) = &mut self.rare.pending_marks else { return };
        let mut before = self.bytes_out;
        for i in 0..self.ring.len {
            let slot = if i + 1 == self.ring.len { latest } else { self.ring.at(i) };
            // the queue becomes shorter with each departure
            if slot.departure > now || !marks.exceeded(self.ring.len - i, self.bytes_in - before) {
                break;
            }
            before = slot.bytes_to;
            let marked = marks.mark(head + i as u64, slot.departure, interval.holds(slot.departure));
            if marked && let Some(frames) = &mut self.rare.frames {
                frames.note(slot.departure, Noted::Mark);
            }
        }
        if now >= self.next_advance {
            self.advance_account(now, interval);
        }
        self.drain(now);
    }

    /// Settles the port, which is due, when a window opens at `now`: `set` marks the packet with an arrival time and a
    /// place in its bucket. Returns whether the port is due again when the next window opens.
    pub fn set_marks(&mut self, now: Time, interval: &Interval, mut set: impl FnMut(Time, usize)) -> bool {
        self.settle(now, interval);
        self.set_decided(&mut set);
        let due = self.is_above();
        self.features ^= if due { 0 } else { feature::DUE };
        due
    }

    /// Sets the decided marks, as [`Port::set_marks`] does.
    pub fn set_decided(&mut self, mut set: impl FnMut(Time, usize)) {
        let delay = self.settings.delay;
        let marked = self.rare.pending_marks.iter_mut().flat_map(|marks| marks.marked.drain(..));
        marked.for_each(|(departure, place)| set(departure + delay, place as usize));
    }

    /// Updates the `place` of a packet in flight. No decided mark may be left.
    pub fn moved(&mut self, packet: &Packet, place: usize) {
        let (mut at, mut end) = (0, self.ring.len);
        let departure = packet.time - self.settings.delay;
        while at < end {
            let middle = at + (end - at) / 2;
            (at, end) = if self.slot(middle).departure < departure { (middle + 1, end) } else { (at, middle) };
        }
        if at == self.ring.len || self.slot(at).departure != departure {
            return;
        }
        let number = self.head() + at as u64;
        self.rare.pending_marks.iter_mut().for_each(|marks| marks.move_to(number, place));
    }
}
