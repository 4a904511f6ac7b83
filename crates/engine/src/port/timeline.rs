//! A port with a timeline: its account is rolled by [`frames`](super::frames), too.

use super::account::Events;
use super::frames::{Frames, Noted, Totals};
use super::port::Port;
use crate::event::prefetch;
use crate::spec::TimelineSpec;
use incast_cc::Time;
use incast_record::PortFrame;
use incast_record::packed::Lane;

impl Port {
    /// Counts by frames, too.
    pub fn frame(&mut self, spec: &TimelineSpec) {
        let frames = Frames::new(spec, self.next_roll);
        self.next_roll = self.next_roll.min(frames.next());
        self.rare.frames = Some(Box::new(frames));
    }

    /// Brings near what a packet at `time` touches if it has the account rolled,
    #[inline]
    pub fn prefetch_account(&self, time: Time) {
        if time >= self.next_roll {
            prefetch::lines(&*self.rare, 1);
        }
    }

    /// ... and what that refers to, if it closes a frame.
    #[inline]
    pub fn prefetch_frames(&self, time: Time) {
        if time >= self.next_roll {
            self.rare.frames.iter().for_each(|frames| prefetch::lines(&**frames, 3));
        }
    }

    /// Notes for its frames what happens at `time`.
    #[inline]
    pub(super) fn note(&mut self, time: Time, what: Noted) {
        if let Some(frames) = &mut self.rare.frames {
            frames.note(time, what);
        }
    }

    /// Rolls account and frames to `now`, in the order of time.
    #[cold]
    pub(super) fn roll_frames(&mut self, now: Time, mut roll_account: impl FnMut(&mut Port)) {
        if let Some(frames) = &self.rare.frames {
            self.next_roll = frames.account_next;
        }
        while let Some(frames) = &mut self.rare.frames {
            let due = frames.due(now);
            if due <= now && due <= self.next_roll {
                self.close_frame(due, now);
            } else if self.next_roll <= now {
                roll_account(self);
            } else {
                break;
            }
        }
        if let Some(frames) = &mut self.rare.frames {
            frames.account_next = self.next_roll;
            self.next_roll = self.next_roll.min(frames.next());
        }
    }

    /// Closes the frame that ends at `at`; nothing arrives from then to `now`.
    fn close_frame(&mut self, at: Time, now: Time) {
        let (totals, held) = self.totals(at);
        let since = self.rare.queues.as_ref().and_then(|queues| queues.pausing.since);
        let idle = held == 0 && self.owed(at) == Time::ZERO && since.is_none();
        let idle = idle && self.rare.queues.as_ref().is_none_or(|queues| queues.filling().0 == 0);
        let max = self.count.max_bytes;
        if let Some(frames) = &mut self.rare.frames {
            frames.close(at, totals, max, since, idle.then_some(now));
            frames.max = held;
            self.count.max_bytes = 0;
        }
    }

    /// The account of the measured interval begins: its greatest queue is one of its own.
    pub(super) fn begin_frames_account(&mut self) {
        if let Some(frames) = &mut self.rare.frames {
            frames.max = frames.max.max(self.count.max_bytes);
            frames.max_before = 0;
        }
    }

    /// The frames of a run that ends at `end`, to which the account is rolled.
    pub fn take_frames(&mut self, end: Time) -> Lane<PortFrame> {
        if self.rare.frames.is_none() {
            return Lane::default();
        }
        let (totals, _) = self.totals(end);
        let since = self.rare.queues.as_ref().and_then(|queues| queues.pausing.since);
        let max = self.count.max_bytes;
        let Some(mut frames) = self.rare.frames.take() else { return Lane::default() };
        let rows = frames.end(end, totals, max, since);
        self.count.max_bytes = frames.max_before;
        rows
    }

    /// What it has counted by `at`, nothing having arrived since, and the bytes that its queue counts then.
    fn totals(&mut self, at: Time) -> (Totals, u64) {
        let below = self.settings.below;
        let (mut byte_time, mut held) = (self.count.byte_time, 0);
        if let Some(queues) = &mut self.rare.queues {
            queues.advance(at, below, &mut self.count);
            (byte_time, held) = (self.count.byte_time, queues.counted_bytes());
        } else {
            let mut before = self.bytes_out;
            for i in 0..self.ring.len {
                let bytes_to = self.slot(i).bytes_to;
                let size = bytes_to - before;
                before = bytes_to;
                let leaves = match i.checked_sub(below) {
                    None => at,
                    Some(_) if below == 0 => self.slot(i).departure,
                    Some(j) => self.slot(j).departure,
                };
                let rest = leaves.saturating_sub(at);
                byte_time -= rest.0 as u128 * size as u128;
                held += if rest > Time::ZERO { size } else { 0 };
            }
        }
        // mostly there are none, and nothing need be read that lies further away
        let plain = self.settings.ps_per_byte != 0 && !self.settings.lossy && !self.is_unusual() && !self.dropped;
        let events = if plain { Events::default() } else { self.rare.events };
        let bytes = (self.bytes_in + self.count.packets * self.settings.overhead as u64).wrapping_sub(events.cut_bytes);
        let busy = bytes.wrapping_mul(self.settings.ps_per_byte).wrapping_add(events.odd_busy);
        let lost = (events.drops + events.losses) as u32;
        let busy = busy.wrapping_sub(self.owed(at).0);
        (Totals { byte_time, busy, marks: self.count.marks, lost }, held)
    }
}
