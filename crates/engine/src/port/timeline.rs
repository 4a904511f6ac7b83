//! Port with a timeline: its account is also kept by [`frames`](super::frames).

use super::account::Events;
use super::frames::{Frames, Noted, Totals};
use super::port::Port;
use super::queues::Queues;
use super::ring::Slot;
use crate::event::prefetch;
use crate::spec::TimelineSpec;
use incast_cc::Time;
use incast_record::PortFrame;
use incast_record::packed::FrameSeries;
use incast_record::store::Store;

impl Port {
    /// Adds an account by frames.
    pub fn frame(&mut self, spec: &TimelineSpec, store: &Store) {
        let frames = Frames::new(spec, self.next_advance, store, self.is_explicit());
        self.next_advance = self.next_advance.min(frames.next());
        self.rare.frames = Some(Box::new(frames));
    }

    /// Prefetches the memory that a packet at `time` uses if it advances the account.
    #[inline]
    pub fn prefetch_account(&self, time: Time) {
        if time >= self.next_advance {
            prefetch::lines(&self.rare.frames, 1);
            if !self.is_plain() {
                prefetch::lines(&*self.rare, 1);
            }
        }
    }

    /// Prefetches the frames, if a packet at `time` may close one.
    #[inline]
    pub fn prefetch_frames(&self, time: Time) {
        if time >= self.next_advance {
            self.rare.frames.iter().for_each(|frames| prefetch::lines(&**frames, 3));
        }
    }

    /// Notes an event at `time` in its frames.
    #[inline]
    pub(super) fn note(&mut self, time: Time, what: Noted) {
        if let Some(frames) = &mut self.rare.frames {
            frames.note(time, what);
        }
    }

    /// Advances account and frames to `now`, in order of time.
    #[cold]
    pub(super) fn advance_frames(&mut self, now: Time, mut advance_account_at: impl FnMut(&mut Port)) {
        // usually a frame of a FIFO port is over, and nothing else is due
        while !self.is_explicit()
            && let Some(frames) = &self.rare.frames
            && let Some(at) = frames.is_plainly_due(now)
        {
            let (totals, held) = self.totals_of_fifo(at);
            if let Some(frames) = &mut self.rare.frames {
                let idle = (self.free_at <= at && !self.has_ahead).then_some(now);
                frames.close_plainly(totals, self.count.max_bytes, held, idle);
                (self.count.max_bytes, self.next_advance) = (0, frames.account_next.min(frames.next()));
            }
            if self.next_advance > now {
                return;
            }
        }
        if let Some(frames) = &self.rare.frames {
            self.next_advance = frames.account_next;
        }
        while let Some(frames) = &mut self.rare.frames {
            let due = frames.due(now);
            if due <= now && due <= self.next_advance {
                self.close_frame(due, now);
            } else if self.next_advance <= now {
                advance_account_at(self);
            } else {
                break;
            }
        }
        if let Some(frames) = &mut self.rare.frames {
            frames.account_next = self.next_advance;
            self.next_advance = self.next_advance.min(frames.next());
        }
    }

    /// Closes the frame that ends at `at`, without arrivals from then to `now`.
    fn close_frame(&mut self, at: Time, now: Time) {
        let (totals, held) = self.totals(at);
        let (mut since, mut idle) = (None, held == 0);
        if let Some(queues) = self.explicit_queues() {
            since = queues.pausing.since;
            idle = idle
                && queues.unpaid(at, self.station().is_some()) == Time::ZERO
                && since.is_none()
                && queues.filling().0 == 0;
        } else {
            idle = idle && self.free_at <= at && !self.has_ahead;
        }
        let max = self.count.max_bytes;
        if let Some(frames) = &mut self.rare.frames {
            frames.close(at, totals, max, since, idle.then_some(now));
            frames.max = held;
            self.count.max_bytes = 0;
        }
    }

    /// Restarts the maximum queue at the start of the measured interval.
    pub(super) fn begin_frames_account(&mut self) {
        if let Some(frames) = &mut self.rare.frames {
            frames.max = frames.max.max(self.count.max_bytes);
            frames.max_before = 0;
        }
    }

    /// Frames of a run that ends at `end`, after the account was advanced to it.
    pub fn take_frames(&mut self, end: Time) -> FrameSeries<PortFrame> {
        if self.rare.frames.is_none() {
            return FrameSeries::default();
        }
        let (totals, _) = self.totals(end);
        let since = self.rare.queues.as_ref().and_then(|queues| queues.pausing.since);
        let max = self.count.max_bytes;
        let Some(mut frames) = self.rare.frames.take() else { return FrameSeries::default() };
        let rows = frames.end(end, totals, max, since);
        self.count.max_bytes = frames.max_before;
        rows
    }

    /// Explicit queues, if any. The check touches only the port itself.
    #[inline]
    fn explicit_queues(&self) -> Option<&Queues> {
        if self.is_explicit() { self.rare.queues.as_deref() } else { None }
    }

    /// For a FIFO queue: the part of the integral already counted for the time after `at`, in byte ps, and the bytes in
    /// the queue at `at`.
    #[inline(always)]
    fn rest(&mut self, at: Time) -> (u128, u64) {
        let device_queue = self.settings.device_queue;
        if !self.settings.scheduled {
            // departed packets need no check
            self.ring.drain(at, &mut self.bytes_out);
        }
        let (mut sum, mut held, mut before) = (0, 0, self.bytes_out);
        let mut ahead = at;
        for i in 0..self.ring.len {
            let Slot { departure, bytes_to } = self.slot(i);
            let leaves = match device_queue {
                0 => departure,
                1 => ahead,
                device_queue => i.checked_sub(device_queue).map_or(at, |j| self.slot(j).departure),
            };
            let (size, rest) = (bytes_to - before, leaves.saturating_sub(at));
            (before, ahead) = (bytes_to, departure);
            sum += rest.0 as u128 * size as u128;
            held += if rest > Time::ZERO { size } else { 0 };
        }
        (sum, held)
    }

    /// Counters at `at`, without later arrivals, and the bytes in its queue at that time.
    fn totals(&mut self, at: Time) -> (Totals, u64) {
        let station = self.station().is_some();
        if self.is_explicit()
            && let Some(queues) = &mut self.rare.queues
        {
            queues.advance(at, self.settings.device_queue, &mut self.count);
            let (held, owed) = (queues.counted_bytes(), queues.unpaid(at, station));
            return (self.totals_with(self.count.times().1, owed), held);
        }
        self.totals_of_fifo(at)
    }

    /// [`Port::totals`] for a FIFO queue.
    #[inline(always)]
    fn totals_of_fifo(&mut self, at: Time) -> (Totals, u64) {
        if self.has_ahead {
            return self.totals_behind(at);
        }
        if self.free_at <= at {
            return (self.totals_with(self.count.times().1, Time::ZERO), 0);
        }
        let (rest, held) = self.rest(at);
        (self.totals_with(self.count.times().1 - rest, self.free_at - at), held)
    }

    /// [`Port::totals_of_fifo`] with packets in front of the port.
    #[cold]
    fn totals_behind(&mut self, at: Time) -> (Totals, u64) {
        let (ahead, mut count) = (self.ahead(), self.count);
        let (rest, held) = self.rest(at);
        let next = if self.settings.device_queue > 0 && self.free_at <= at { ahead.next } else { 0 };
        ahead.pass(at, &mut count);
        let held = held + ahead.bytes - next;
        (self.totals_with(count.times().1 - rest, self.free_at.saturating_sub(at)), held)
    }

    /// True if there are no separately counted events.
    #[inline(always)]
    fn is_plain(&self) -> bool {
        self.settings.ps_per_byte != 0 && !self.settings.lossy && !self.has_features() && !self.dropped
    }

    /// Counters with this integral of the queue and this remaining transmission time.
    #[inline(always)]
    fn totals_with(&self, byte_time: u128, owed: Time) -> Totals {
        // usually there are none, and no distant memory is read
        let events = if self.is_plain() { Events::default() } else { self.rare.events };
        let bytes = (self.bytes_in + self.count.packets * self.settings.overhead as u64).wrapping_sub(events.cut_bytes);
        let busy = bytes.wrapping_mul(self.settings.ps_per_byte).wrapping_add(events.odd_busy);
        let lost = (events.drops + events.losses) as u32;
        let busy = busy.wrapping_sub(owed.0);
        Totals { byte_time, busy, marks: self.count.marks, lost }
    }
}
