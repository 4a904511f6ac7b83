//! Account of a port by timeline frames: equal intervals from the beginning of the run.
//!
//! A frame is closed from the port's counters when the account is advanced beyond its end. Events without an arrival
//! (pauses, marks and losses at departure) are noted with their own time, so that rows do not depend on when a frame is
//! closed.

use crate::port::frame_clock::FrameClock;
use crate::spec::TimelineSpec;
use incast_cc::Time;
use incast_record::PortFrame;
use incast_record::packed::FrameSeries;
use incast_record::store::Store;

/// Counters of a port at the end of a frame.
#[derive(Clone, Copy, Default, Debug)]
#[repr(C)]
pub(super) struct Totals {
    /// Integral of the queue, in byte ps.
    pub byte_time: u128,
    /// Transmission time, in ps modulo 2^64.
    pub busy: u64,
    pub marks: u32,
    /// Losses and drops, modulo 2^32.
    pub lost: u32,
}

/// Frames of a port. The struct fills three cache lines.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Frames {
    /// Counters at the start of the open frame.
    from: Totals,
    /// Clock of the open frame.
    clock: FrameClock,
    /// Time of the next advance of the account without frames.
    pub account_next: Time,
    /// Largest queue of the open frame before the account restarted, and of the account before the open frame.
    pub max: u64,
    pub max_before: u64,
    /// Pauses, marks and losses noted with their own time; most ports have none.
    noted_events: Option<Box<NotedEvents>>,
    /// Closed frames.
    rows: FrameSeries<PortFrame>,
}

/// Events noted in frames before they are closed.
#[derive(Default, Debug)]
struct NotedEvents {
    /// End of the last closed frame. After a merge of frames it may lie within the open frame.
    closed: Time,
    /// Partially known frames in order, including the open one.
    noted: Vec<PortFrame>,
}

impl NotedEvents {
    fn at(&mut self, frame: u32) -> &mut PortFrame {
        let noted = &mut self.noted;
        let place = noted.partition_point(|row| row.frame < frame);
        if noted.get(place).is_none_or(|row| row.frame != frame) {
            noted.insert(place, PortFrame { frame, ..PortFrame::default() });
        }
        &mut noted[place]
    }

    /// Merges frames in pairs.
    fn coarsen(&mut self) {
        self.noted.iter_mut().for_each(|row| row.frame /= 2);
        self.noted.dedup_by(|later, row| {
            let one = later.frame == row.frame;
            if one {
                row.add(later);
            }
            one
        });
    }
}

/// Kind of a noted event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Noted {
    /// Mark at departure.
    Mark,
    /// Loss of an accepted packet.
    Loss,
    /// Start of a pause.
    Pause,
}

impl Frames {
    /// Frames at the start; the account is advanced next at `account_next`. `pauses`: the port can be paused.
    pub(super) fn new(spec: &TimelineSpec, account_next: Time, store: &Store, pauses: bool) -> Frames {
        Frames {
            clock: FrameClock::new(spec),
            account_next,
            from: Totals::default(),
            max: 0,
            max_before: 0,
            noted_events: pauses.then(Box::default),
            rows: FrameSeries::stored(store),
        }
    }

    /// End of the open frame.
    pub(super) fn next(&self) -> Time {
        self.clock.next
    }

    /// Notes an event at `time`, which is not before the open frame.
    pub(super) fn note(&mut self, time: Time, what: Noted) {
        let row = self.noted_at(self.clock.at(time));
        match what {
            Noted::Mark => row.marks += 1,
            Noted::Loss => row.drops += 1,
            Noted::Pause => row.pauses += 1,
        }
    }

    /// Removes a noted loss at `time`.
    pub(super) fn take_back_loss(&mut self, time: Time) {
        self.noted_at(self.clock.at(time)).drops -= 1;
    }

    /// Notes a loss at `now` that the account has already counted, maybe in an earlier frame.
    pub(super) fn note_counted_loss(&mut self, now: Time) {
        self.from.lost = self.from.lost.wrapping_add(1);
        self.note(now, Noted::Loss);
    }

    /// Notes a pause from `since` to `now`; closed frames already include it.
    pub(super) fn note_paused(&mut self, since: Time, now: Time) {
        let mut from = since.max(self.noted_events.as_ref().map_or(Time::ZERO, |noted_events| noted_events.closed));
        while from < now {
            let frame = self.clock.at(from);
            let until = now.min(self.clock.start(frame + 1));
            self.noted_at(frame).paused_ps += (until - from).0;
            from = until;
        }
    }

    fn noted_at(&mut self, frame: u32) -> &mut PortFrame {
        self.noted_events.get_or_insert_default().at(frame)
    }

    /// Appends a row, unless it is empty.
    #[inline(always)]
    fn push(rows: &mut FrameSeries<PortFrame>, row: &PortFrame) {
        if !row.is_empty() {
            rows.push(row);
        }
    }

    /// End of the open frame, after lengthening frames for a run that has reached `now`.
    #[inline]
    pub(super) fn due(&mut self, now: Time) -> Time {
        let Frames { clock, rows, noted_events, .. } = self;
        clock.lengthen(now, || {
            rows.coarsen();
            noted_events.iter_mut().for_each(|noted_events| noted_events.coarsen());
        });
        clock.next
    }

    /// Row of the open frame by the port's counters, with largest queue `max`.
    #[inline(always)]
    fn row(&self, totals: &Totals, max: u64) -> PortFrame {
        let busy = totals.busy.wrapping_sub(self.from.busy);
        PortFrame {
            frame: self.clock.open(),
            queue_max_bytes: max.max(self.max),
            byte_time: totals.byte_time.saturating_sub(self.from.byte_time),
            busy_ps: if (busy as i64) < 0 { 0 } else { busy },
            marks: totals.marks - self.from.marks,
            drops: totals.lost.wrapping_sub(self.from.lost),
            ..PortFrame::default()
        }
    }

    /// End of the open frame, if it is over at `now`, nothing else is due first, and no event is noted.
    #[inline]
    pub(super) fn is_plainly_due(&self, now: Time) -> Option<Time> {
        let at = self.clock.next;
        let plain = at <= now && now < self.account_next && self.noted_events.is_none() && !self.clock.is_short(now);
        plain.then_some(at)
    }

    /// [`Frames::close`] for a frame that [is plainly due](Frames::is_plainly_due); `held` bytes are in the queue.
    #[inline(always)]
    pub(super) fn close_plainly(&mut self, totals: Totals, max: u64, held: u64, idle_until: Option<Time>) {
        let row = self.row(&totals, max);
        let frame = row.frame;
        Frames::push(&mut self.rows, &row);
        (self.from, self.max, self.max_before) = (totals, held, self.max_before.max(max));
        self.clock.go_to(idle_until.map_or(frame + 1, |now| self.clock.at(now).max(frame + 1)));
    }

    /// Closes the open frame with the counters at its end `at` and the largest queue `max`. `since`: start of a current
    /// pause. `idle_until`: the port is empty until then, so the frames before that time are closed, too.
    pub(super) fn close(&mut self, at: Time, totals: Totals, max: u64, since: Option<Time>, idle_until: Option<Time>) {
        let mut row = self.row(&totals, max);
        let frame = row.frame;
        let mut noted = None;
        if let Some(noted_events) = &mut self.noted_events {
            row.paused_ps = since.map_or(0, |since| at.saturating_sub(since.max(noted_events.closed)).0);
            let due = noted_events.noted.partition_point(|noted| noted.frame <= frame);
            noted_events.noted.drain(..due).for_each(|noted| row.add(&noted));
            noted_events.closed = at;
            noted = noted_events.noted.first().map(|noted| noted.frame);
        }
        Frames::push(&mut self.rows, &row);
        (self.from, self.max) = (totals, 0);
        self.max_before = self.max_before.max(max);
        let following = idle_until.map_or(frame + 1, |now| {
            let now = self.clock.at(now);
            noted.map_or(now, |noted| noted.min(now)).max(frame + 1)
        });
        self.clock.go_to(following);
    }

    /// Rows of a run that ends at `end`, with the final counters.
    pub(super) fn end(&mut self, end: Time, totals: Totals, max: u64, since: Option<Time>) -> FrameSeries<PortFrame> {
        self.due(end);
        let last = self.clock.last(end);
        self.close(end, totals, max, since, None);
        let mut rows = self.rows.take();
        // events exactly at the end belong to the last frame
        if rows.last().is_some_and(|frame| frame > last) {
            let beyond = rows.take();
            beyond.all_rows().for_each(|row| rows.push(&PortFrame { frame: row.frame.min(last), ..row }));
        }
        for row in self.noted_events.take().into_iter().flat_map(|noted_events| noted_events.noted) {
            Frames::push(&mut rows, &PortFrame { frame: row.frame.min(last), ..row });
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::Frames;
    use std::mem::offset_of;

    #[test]
    fn what_the_end_of_a_frame_touches_is_small() {
        assert!(offset_of!(Frames, rows) <= 96, "{} bytes", offset_of!(Frames, rows));
        assert!(size_of::<Frames>() <= 192, "{} bytes", size_of::<Frames>());
    }
}
