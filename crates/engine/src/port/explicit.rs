//! Explicit queues: packets wait in the port itself and leave by a Departure event.
//!
//! A FIFO port decides everything at a packet's arrival. Later decisions, such as marking at the end of a transmission
//! or priorities between classes, need the packet to be still in the port. Here packets wait in real queues, one per
//! class ([`class_queue`](super::class_queue)), and a scheduler chooses the next. One event per packet ends its
//! transmission, and only then is its arrival at the far end known, so the lookahead of such a link is its delay alone.
//! The account is the same as a FIFO port's: tests check that both give the same bytes wherever both apply.

use super::buffer::{Pool, SharedBuffer};
use super::class_queue::{Dropped, Taken, Waiting};
use super::frames::Noted;
use super::port::{Port, Rare};
use super::queues::{Admission, Service};
use super::tokens::TransmitterTask;
use crate::event::interval::Interval;
use crate::event::metadata::{Metadata, PortStamp};
use crate::event::packet::{Ext, Packet, flag};
use crate::ids::PoolIx;
use crate::port::discipline::{Departure, Verdict};
use crate::spec::{LinkSpec, Spec};
use incast_cc::Time;

/// Result of offering a packet to an explicit queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Offered {
    /// Refused.
    Dropped,
    /// Refused, and returned to its sender.
    Returned,
    /// Queued.
    Waits {
        /// End of its transmission, if the transmitter was idle.
        ends: Option<Time>,
        /// True if the queue set CE.
        marked: bool,
        /// True if the wire will lose it.
        lost: bool,
    },
    /// Transmitted in zero time.
    Passed {
        /// True if the queue set CE.
        marked: bool,
        /// True if the wire lost it.
        lost: bool,
        /// Arrival time.
        arrives: Time,
    },
}

/// End of a transmission.
#[derive(Clone, Debug)]
pub struct Departed {
    /// Departed packet, with CE set if the queue marked it.
    pub packet: Packet,
    /// Extension of the packet.
    pub ext: Option<Ext>,
    /// True if it is lost on the wire.
    pub lost: bool,
    /// True if it was marked at departure.
    pub marked: bool,
    /// Arrival time; `None`: lost to a failure of the link.
    pub arrives: Option<Time>,
    /// End of the next transmission, which begins now.
    pub next: Option<Time>,
    /// PFC account of a shared buffer that it leaves; `None`: it counted for its queue.
    pub account: Option<u32>,
}

impl Port {
    /// True if it has several class queues.
    pub fn has_classes(&self) -> bool {
        self.rare.queues.as_ref().is_some_and(|q| q.has_classes())
    }

    /// Packets in explicit queues that will arrive.
    pub fn waiting(&self) -> impl Iterator<Item = &Packet> {
        self.rare.queues.iter().flat_map(|q| q.waiting())
    }

    /// Offers `packet`, of traffic class `class`, to the explicit queues at `now`; `buffer` is its space in a shared
    /// buffer, if any. If `ends` is set, the caller calls [`Port::depart`] at that time.
    pub fn offer(
        &mut self,
        now: Time,
        packet: &Packet,
        ext: Option<&mut Ext>,
        class: u8,
        buffer: Option<SharedBuffer>,
        interval: &Interval,
    ) -> Offered {
        if now >= self.next_advance {
            self.advance_account(now, interval);
        }
        self.advance(now);
        let mut buffer = buffer;
        let (settings, rare) = (&*self.settings, &mut *self.rare);
        let Rare { queues: Some(queues), events, .. } = rare else { return Offered::Dropped };
        let mut admission = queues.admit(queues.queue_of(packet, || class), packet, now, settings, buffer.as_ref());
        if admission.verdict == Verdict::Drop {
            admission = match queues.goes_by_rank() {
                true => queues.displace(admission, packet, ext.as_deref(), settings, events),
                false => queues.trim(admission, packet, settings, buffer.as_mut(), events, interval),
            };
        }
        let Admission { class, size, arrival, verdict, cut } = admission;
        let mut packet = *packet;
        cut.into_iter().for_each(|header| packet.trim(header));
        if verdict == Verdict::Drop {
            if queues.trim.as_mut().is_some_and(|trim| trim.sends_back(&packet, now, interval)) {
                return Offered::Returned;
            }
            events.drops += 1;
            self.count.marks += queues.classes[class].drop(&arrival) as u32;
            return Offered::Dropped;
        }
        let queue = &mut queues.classes[class];
        let mut marked = verdict == Verdict::Mark;
        self.count.marks += marked as u32;
        queue.accept(size, marked);
        let idle = queues.filling().0 == 0;
        let wire = if idle && self.fails() { self.wire_from(now, size) } else { self.settings.serialization(size) };
        if self.settings.ps_per_byte == 0 {
            self.rare.events.odd_busy += wire.0;
        }
        self.bytes_in += size;
        self.count.packets += 1;
        let mut lost = self.settings.lossy && self.loses_latest(size);
        let index = self.count.packets - 1;
        let passes = wire == Time::ZERO && self.rare.queues.as_ref().is_some_and(|q| q.lets_pass(class, now));
        let mut arrives = now + self.settings.delay;
        if passes && self.fails() && !lost {
            match self.arrival_of(&packet, now, now, index) {
                Some(time) => arrives = time,
                None => lost = self.loses_to_failure(now, interval),
            }
        }
        let device_queue = self.settings.device_queue;
        let Some(queues) = &mut self.rare.queues else { return Offered::Dropped };
        let queue = &mut queues.classes[class];
        if passes {
            let departure = Departure { now, since: now, packets: 1, bytes: size, size, ect: packet.has(flag::ECT) };
            let leaves_marked = queue.marks_departure(&departure, interval.holds(now));
            queue.empty(now);
            if leaves_marked {
                marked = true;
                self.note(now, Noted::Mark);
            }
            return Offered::Passed { marked, lost, arrives };
        }
        packet.flags |= if marked { flag::CE } else { 0 };
        let account = buffer.as_ref().and_then(|buffer| buffer.account);
        if let Some(buffer) = &mut buffer {
            buffer.take(&packet, queues.here_of(class).1, size);
        }
        let counted = queues.counted(device_queue);
        let ext = ext.map(|ext| queues.keep(ext));
        let rank = queues.rank_of(&packet, ext.as_deref());
        queues.push(class, Waiting { packet, ext, size, wire, lost, since: now, index, account, rank }, device_queue);
        let ends = if queues.is_idle() { self.begin(now, interval) } else { None };
        let Some(queues) = &mut self.rare.queues else { return Offered::Dropped };
        let after = queues.counted(device_queue);
        if after > counted {
            self.count.holds(after, queues.counted_bytes());
        }
        let (packets, bytes) = queues.counted_of(class, device_queue);
        queues.classes[class].holds(packets, bytes);
        Offered::Waits { ends, marked, lost }
    }

    /// True if [`Port::take_freed`] or [`Port::take_dropped`] has something.
    #[inline(always)]
    pub fn has_released(&self) -> bool {
        self.rare.queues.as_ref().is_some_and(|queues| queues.freed.is_some() || !queues.dropped.is_empty())
    }

    /// Packet whose transmission has begun since the last call, and the space that it gives back.
    pub fn take_freed(&mut self) -> Option<(Packet, Taken)> {
        let queues = self.rare.queues.as_mut()?;
        let taken = queues.freed.take()?;
        Some((queues.served.as_ref()?.packet, taken))
    }

    /// Next packet that waited and was dropped since the last call.
    pub fn take_dropped(&mut self) -> Option<Dropped> {
        self.rare.queues.as_mut()?.dropped.pop()
    }

    /// Hands the packet at the head of its queue to a radio cell: packet, extension, and arrival time at this port. The
    /// cell decides whether it is delivered.
    pub fn hand_over(&mut self) -> Option<(Packet, Option<Ext>, Time)> {
        let Waiting { packet, ext, lost, since, .. } = self.rare.queues.as_mut()?.served.as_mut()?;
        *lost = true;
        Some((*packet, ext.take().map(|ext| *ext), *since))
    }

    /// Counts the loss at `now` of a packet handed to the cell.
    pub fn count_loss(&mut self, now: Time) {
        self.rare.events.losses += 1;
        if let Some(frames) = &mut self.rare.frames {
            frames.note_counted_loss(now);
        }
    }

    /// Accounts for the end of the cell's work on this station's packet at `now`: the port was busy for this time,
    /// whatever the transmission time on a wire.
    pub fn done_by_cell(&mut self, now: Time) {
        if let Some((began, wire)) = self.rare.queues.as_ref().and_then(|queues| queues.served()) {
            let odd = &mut self.rare.events.odd_busy;
            *odd = odd.wrapping_add((now - began).0).wrapping_sub(wire.0);
        }
    }

    /// Ends the current transmission at `now`; `None` if the event was only for tokens.
    pub fn depart(&mut self, now: Time, pool: Option<&mut Pool>, interval: &Interval) -> Option<Departed> {
        let device_queue = self.settings.device_queue;
        let queues = self.rare.queues.as_mut()?;
        if queues.task.is_pending() {
            match queues.handle_task(now) {
                TransmitterTask::Nothing => {}
                TransmitterTask::Frame(frame, began) => return Some(self.depart_frame(frame, began, now, interval)),
                TransmitterTask::Tokens(_) => return None,
            }
        }
        let marked = queues.marks_departure(now, interval.holds(now));
        if marked && let Some(frames) = &mut self.rare.frames {
            frames.note(now, Noted::Mark);
        }
        let freed = queues.frees_early;
        let (Service { class, arrives, .. }, waiting) = queues.end(now, device_queue)?;
        let Waiting { mut packet, ext, size, lost, account, .. } = waiting;
        packet.flags |= if marked { flag::CE } else { 0 };
        if let Some(pool) = pool.filter(|_| !freed) {
            pool.release(&packet, account, queues.classes[class].queued.1, size);
        }
        let arrives = if self.fails() { arrives } else { Some(now + self.settings.delay) };
        if arrives.is_none() && !lost {
            self.loses_to_failure(now, interval);
        }
        let next = self.begin(now, interval);
        let ext = ext.and_then(|ext| Some(self.rare.queues.as_mut()?.give(ext)));
        Some(Departed { packet, ext, lost, marked, arrives, next, account })
    }

    /// Begins a transmission at `now`, if possible. Returns its end, or the time at which there are tokens for a
    /// waiting credit.
    pub(super) fn begin(&mut self, now: Time, interval: &Interval) -> Option<Time> {
        let queues = self.rare.queues.as_mut()?;
        if let Some(frame) = queues.frames.pop_front() {
            queues.task = TransmitterTask::Frame(frame, now);
            return Some(now + self.frame_wire(now));
        }
        loop {
            let ends = self.rare.queues.as_mut()?.begin(now, self.settings.device_queue)?;
            if !self.drops_head(now, interval) {
                self.rare.queues.as_mut()?.end_is_event = true;
                self.stamp_departure(now);
                self.free_early();
                return if self.fails() { self.begin_failing(now, ends) } else { Some(ends) };
            }
        }
    }

    /// Sets the rules of departures, and the buffer that queues share, for the port of `link` in a run. `pool`: the
    /// buffer of its switch.
    pub fn set_rules(&mut self, run: &Spec, link: &LinkSpec, pool: PoolIx) {
        if run.shares_buffer(link) {
            self.share(pool);
        }
        let Some(queues) = &mut self.rare.queues else { return };
        queues.stamps = run.stamps_departures(link);
        let early = run.buffer.as_ref().is_some_and(|buffer| !buffer.count_in_service);
        queues.frees_early = early && run.shares_buffer(link);
    }

    /// Gives back the space of the packet whose transmission begins, if that is the rule.
    fn free_early(&mut self) {
        let Some(queues) = self.rare.queues.as_mut().filter(|queues| queues.frees_early) else { return };
        let (Some(service), Some(waiting)) = (&queues.service, &mut queues.served) else { return };
        let held = queues.classes[service.class].queued.1;
        queues.freed = Some(Taken { account: waiting.account.take(), held, size: waiting.size });
    }

    /// Stamps the packet whose transmission begins at `now`.
    fn stamp_departure(&mut self, now: Time) {
        let cut = self.rare.events.cut_bytes;
        let Some(queues) = self.rare.queues.as_mut().filter(|queues| queues.stamps) else { return };
        let behind = queues.queued.1;
        let Some(Waiting { packet, ext: Some(ext), size, .. }) = &mut queues.served else { return };
        if let Some(Metadata::Stamps(telemetry)) = ext.metadata.as_deref_mut().filter(|_| !packet.is_reverse()) {
            let sent = self.bytes_in.saturating_sub(cut + behind + *size);
            let queue = behind.min(u32::MAX as u64) as u32;
            telemetry.push(PortStamp { time: now, sent, queue, link: self.link });
        }
    }

    /// Asks the discipline about the packet whose transmission begins at `now`. Returns whether it is dropped; then it
    /// leaves in zero time.
    fn drops_head(&mut self, now: Time, interval: &Interval) -> bool {
        let Some(queues) = &mut self.rare.queues else { return false };
        let verdict = queues.at_head(now, interval.holds(now));
        if verdict == Verdict::Mark {
            self.note(now, Noted::Mark);
        }
        if verdict != Verdict::Drop {
            return false;
        }
        if now >= self.next_advance {
            self.advance_account(now, interval);
        }
        let (settings, rare) = (&*self.settings, &mut *self.rare);
        let Rare { queues: Some(queues), events, .. } = rare else { return false };
        let Some((Service { class, .. }, waiting)) = queues.end(now, settings.device_queue) else { return false };
        let Waiting { packet, size, wire, lost, account, .. } = waiting;
        // a packet that the wire will lose was counted as lost when it was accepted
        let counted = !lost as u64;
        events.drops += counted;
        events.withdrawn += 1;
        events.cut_bytes += size + settings.overhead as u64;
        if settings.ps_per_byte == 0 {
            events.odd_busy = events.odd_busy.wrapping_sub(wire.0);
        }
        let queue = &mut queues.classes[class];
        queue.count.drops += counted;
        let place = Some(Taken { account, held: queue.queued.1, size });
        queues.dropped.push(Dropped { packet, returns: false, lost, place });
        true
    }

    /// Applies failures of the link to the transmission that begins at `now` and would end at `ends`. Returns its end.
    #[cold]
    fn begin_failing(&mut self, now: Time, ends: Time) -> Option<Time> {
        let Some(Waiting { packet, size, wire, index, lost, .. }) = self.rare.queues.as_ref()?.served else {
            return Some(ends);
        };
        let takes = self.wire_from(now, size);
        // a packet that the wire loses does not delay the following ones
        let arrives = if lost { None } else { self.arrival_of(&packet, now, now + takes, index) };
        if self.settings.ps_per_byte == 0 {
            self.rare.events.odd_busy = self.rare.events.odd_busy + takes.0 - wire.0;
        }
        let service = self.rare.queues.as_mut()?.service.as_mut()?;
        (service.ends, service.arrives) = (now + takes, arrives);
        Some(now + takes)
    }

    /// Counts the loss to a failure of a packet whose transmission ends at `end`.
    fn loses_to_failure(&mut self, end: Time, interval: &Interval) -> bool {
        self.rare.faults.iter_mut().for_each(|f| f.lose(end, interval));
        self.note(end, Noted::Loss);
        true
    }
}
