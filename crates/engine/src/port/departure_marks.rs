//! Marks at departures of a FIFO port: decided when a packet has left, and set where it waits for its arrival.
//!
//! [`Discipline::EcnAtDeparture`](crate::spec::Discipline) marks by the queue that a packet leaves. Its departure time
//! is known at the arrival ([`fifo`](super::fifo)), and that queue with the next arrival, or when the window of the
//! departure is over. By then the packet lies in the bucket of a later window, because the link's delay is as long as
//! a window; the port knows its place there. Only a queue above the threshold marks: a port that has one is settled
//! when the next window opens, any other is not visited. In an [explicit](super::explicit) queue each departure is an
//! event; the reference engine has it so.

use super::frames::Noted;
use super::pending_marks::PendingMarks;
use super::port::{Port, unusual};
use crate::event::interval::Interval;
use crate::event::packet::Packet;
use crate::port::discipline::ActiveDiscipline;
use crate::spec::Limit;
use incast_cc::Time;

impl Port {
    /// Turns a port that marks at departures and is plain otherwise into a FIFO port that marks later. Windows are
    /// `length` long, and a packet lies in a bucket from `near` before its arrival on.
    pub fn mark_later(&mut self, length: Time, near: Time) {
        let settings = &*self.settings;
        let ActiveDiscipline::EcnAtDeparture(discipline) = &settings.discipline else { return };
        let threshold = discipline.threshold();
        // an empty packet that finds nothing before it leaves at once
        let waits = settings.rate.serialize(1) > Time::ZERO && threshold != Limit::Packets(0);
        let plain = self.unusual == unusual::EXPLICIT && self.pool().is_none() && settings.bucket == Time::ZERO;
        if waits && plain && !settings.lossy && (length..near).contains(&settings.delay) {
            self.rare.pending_marks = Some(Box::new(PendingMarks::new(threshold)));
            self.rare.queues = None;
            self.unusual = unusual::MARKS_LATER;
        }
    }

    /// Marks at departures are set later.
    #[inline]
    pub fn marks_later(&self) -> bool {
        self.unusual & unusual::MARKS_LATER != 0
    }

    /// Its queue is above the threshold, by what is known.
    fn is_above(&self) -> bool {
        let (packets, bytes) = (self.ring.len, self.bytes_in - self.bytes_out);
        self.rare.pending_marks.as_ref().is_some_and(|marks| marks.exceeded(packets, bytes))
    }

    /// Whether it is to be settled when the next window opens because of the packet that it got last.
    #[inline]
    pub fn becomes_due(&mut self) -> bool {
        let becomes = self.unusual & unusual::DUE == 0 && self.is_above();
        self.unusual |= if becomes { unusual::DUE } else { 0 };
        becomes
    }

    /// Number of the first packet in the port, or of the next to come.
    pub(super) fn head(&self) -> u64 {
        self.count.packets - self.ring.len as u64
    }

    /// Settles what left by `now`, if some of it may be marked.
    #[inline]
    pub fn settle_due(&mut self, now: Time, interval: &Interval) {
        if self.unusual & unusual::DUE != 0 {
            self.settle(now, interval);
        }
    }

    /// Decides the marks of what left by `now`, nothing having come since the last packet, and lets it leave.
    fn settle(&mut self, now: Time, interval: &Interval) {
        let (head, latest) = (self.head(), self.latest());
        let Some(marks) = &mut self.rare.pending_marks else { return };
        let mut before = self.bytes_out;
        for i in 0..self.ring.len {
            let slot = if i + 1 == self.ring.len { latest } else { self.ring.at(i) };
            // the queue becomes shorter with each that leaves
            if slot.departure > now || !marks.exceeded(self.ring.len - i, self.bytes_in - before) {
                break;
            }
            before = slot.bytes_to;
            let marked = marks.mark(head + i as u64, slot.departure, interval.holds(slot.departure));
            if marked && let Some(frames) = &mut self.rare.frames {
                frames.note(slot.departure, Noted::Mark);
            }
        }
        if now >= self.next_roll {
            self.roll(now, interval);
        }
        self.drain(now);
    }

    /// Settles the port, which is due, as a window opens at `now`: `set` marks the packet that arrives at a time and
    /// lies at a place in its bucket. Whether the port is due again when the next window opens.
    pub fn set_marks(&mut self, now: Time, interval: &Interval, mut set: impl FnMut(Time, usize)) -> bool {
        self.settle(now, interval);
        self.set_decided(&mut set);
        let due = self.is_above();
        self.unusual ^= if due { 0 } else { unusual::DUE };
        due
    }

    /// Sets the marks that are decided, as [`Port::set_marks`].
    pub fn set_decided(&mut self, mut set: impl FnMut(Time, usize)) {
        let delay = self.settings.delay;
        let marked = self.rare.pending_marks.iter_mut().flat_map(|marks| marks.marked.drain(..));
        marked.for_each(|(departure, place)| set(departure + delay, place as usize));
    }

    /// A packet that was sent, and has not arrived, lies at another `place` from now on. No decided mark is left.
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
