//! Explicit queues that serve themselves, without events.
//!
//! Where every decision about a packet falls at its arrival or at the beginning of its transmission, and nobody looks
//! on, nothing happens at the end of a transmission but that the next begins. What an event would do then is done when
//! the port is next needed: at an arrival, or at the end of the window if something waits, which is soon enough because
//! the link's delay is as long as a window. A packet is sent on as its transmission begins; one that finds the port at
//! rest never lies in a queue. The steps are those of the events, at the same instants and in the same order, so
//! results are the same: the reference engine has the events.

use super::class_queue::Waiting;
use super::explicit::Offered;
use super::port::{Port, Rare, unusual};
use super::queues::{Admission, Queues, Service};
use super::scheduler::Scheduler;
use super::settings::Settings;
use crate::event::interval::Interval;
use crate::event::outbox::{Outbox, Stamp};
use crate::event::packet::{Ext, Packet, flag};
use crate::ids::LinkId;
use crate::port::discipline::Verdict;
use incast_cc::Time;
use std::mem::take;

impl Port {
    /// Has an explicit port serve itself that can; windows are `length` long.
    pub fn serve_itself(&mut self, length: Time) {
        let settings = &*self.settings;
        let Some(queues) = &self.rare.queues else { return };
        let plain = self.unusual == unusual::EXPLICIT && self.pool().is_none() && self.station().is_none();
        let plain = plain && self.rare.frames.is_none() && !settings.lossy && settings.bucket == Time::ZERO;
        // an empty packet takes no time where its frame adds nothing: the queue then lets it pass
        let takes_time = settings.serialization(1) > Time::ZERO;
        let known = settings.below <= 1 && queues.classes.iter().all(|class| class.decides_at_arrivals());
        if plain && takes_time && known && settings.delay >= length {
            self.unusual |= unusual::SERVES_ITSELF;
            self.free_at = Time::NEVER;
        }
    }

    /// Its explicit queues serve themselves.
    #[inline(always)]
    pub fn serves_itself(&self) -> bool {
        self.unusual & unusual::SERVES_ITSELF != 0
    }

    /// Does what is to be done up to `now`: [`Port::free_at`] says when something is, [`Time::NEVER`] where nothing.
    #[inline(always)]
    pub fn serve(&mut self, now: Time, interval: &Interval, out: &mut impl Outbox) {
        while self.free_at <= now {
            self.step(self.free_at, interval, out);
        }
    }

    /// A transmission ends `now`, or there are tokens for a credit: the next begins.
    fn step(&mut self, now: Time, interval: &Interval, out: &mut impl Outbox) {
        self.end_service(now, interval);
        let Some(queues) = &mut self.rare.queues else { return };
        self.free_at = queues.begin_next(now, self.link, &self.settings, out);
    }

    /// The transmission under way ends `now`, if one is.
    #[inline(always)]
    fn end_service(&mut self, now: Time, interval: &Interval) {
        if self.next_roll < now {
            // as events would leave it: what is due before this finds the queues as they were
            self.roll(now - Time::ps(1), interval);
        }
        let below = self.settings.below;
        let Some(queues) = &mut self.rare.queues else { return };
        if queues.counts_some(below) {
            queues.spend(now, below, &mut self.count);
        }
        if below == 0
            && let Some(Service { class, .. }) = queues.service
        {
            queues.spend_of(class, now, below);
        }
        queues.finish(now, below);
    }

    /// The run ends at `end`, before which a transmission may have ended that nothing waited for.
    pub(super) fn end_own_service(&mut self, end: Time, interval: &Interval) {
        if self.serves_itself() && self.free_at < end {
            self.end_service(self.free_at, interval);
            self.free_at = Time::NEVER;
        }
    }

    /// Does what is to be done before the end of a window, at `stop`. When it is to be visited again, if it is.
    pub fn visit(&mut self, stop: Time, interval: &Interval, out: &mut impl Outbox) -> Option<Time> {
        if self.rare.queues.as_ref()?.listed >= stop {
            // it was listed for an earlier window since, or is listed for a later one by now
            return None;
        }
        self.serve(stop - Time::ps(1), interval, out);
        let queues = self.rare.queues.as_mut()?;
        queues.listed = if queues.waits() { self.free_at } else { Time::NEVER };
        (queues.listed < Time::NEVER).then_some(queues.listed)
    }

    /// Takes `packet`, of traffic class `class`, at `now`, and sends on what may go.
    #[inline]
    pub fn take_in(
        &mut self,
        now: Time,
        packet: &Packet,
        ext: Option<&mut Ext>,
        class: u8,
        interval: &Interval,
        out: &mut impl Outbox,
    ) -> Offered {
        self.serve(now, interval, out);
        if now >= self.next_roll {
            self.roll(now, interval);
        }
        let (settings, rare) = (&*self.settings, &mut *self.rare);
        let Rare { queues: Some(queues), events, .. } = rare else { return Offered::Dropped };
        let mut admission = queues.admit(queues.queue_of(packet, class), packet, now, settings, None);
        if admission.verdict == Verdict::Drop {
            // what is cut, and what gives way, counts no longer
            queues.advance(now, settings.below, &mut self.count);
            admission = match queues.goes_by_rank() {
                true => queues.displace(admission, packet, ext.as_deref(), settings, events),
                false => queues.trim(admission, packet, settings, None, events, interval),
            };
        }
        let Admission { class, size, arrival, verdict, cut } = admission;
        let queue = &mut queues.classes[class];
        if verdict == Verdict::Drop {
            events.drops += 1;
            self.count.marks += queue.drop(&arrival) as u32;
            return Offered::Dropped;
        }
        let marked = verdict == Verdict::Mark;
        self.count.marks += marked as u32;
        queue.accept(size, marked);
        let wire = settings.serialization(size);
        if settings.ps_per_byte == 0 {
            events.odd_busy += wire.0;
        }
        self.bytes_in += size;
        self.count.packets += 1;
        let offered = Offered::Waits { ends: None, marked, lost: false };
        let ce = if marked { flag::CE } else { 0 };
        if wire == Time::ZERO && queues.here.0 == 0 {
            queues.classes[class].empty(now);
            out.arrive(packet, Stamp { time: now + settings.delay, link: self.link, ce }, ext, 0);
            return offered;
        }
        if cut.is_none() && queues.serves_at_once(class, now, wire) {
            if settings.below == 0 {
                queues.spend(now, 0, &mut self.count);
                queues.spend_of(class, now, 0);
            }
            queues.enter(class, size);
            queues.start(class, size, now, wire, settings.below);
            self.free_at = now + wire;
            if settings.below == 0 {
                self.count.holds(1, size);
                queues.classes[class].holds(1, size);
            }
            out.arrive(packet, Stamp { time: now + wire + settings.delay, link: self.link, ce }, ext, 0);
            return offered;
        }
        let mut packet = *packet;
        cut.into_iter().for_each(|header| packet.cut(header));
        packet.flags |= ce;
        let (below, ext) = (settings.below, ext.map(|ext| Box::new(take(ext))));
        let counted = queues.counted(below);
        queues.spend(now, below, &mut self.count);
        queues.spend_of(class, now, below);
        let (index, rank) = (self.count.packets - 1, queues.rank_of(&packet, ext.as_deref()));
        let waiting = Waiting { packet, ext, size, wire, lost: false, since: now, index, account: None, rank };
        queues.push(class, waiting, below);
        if queues.service.is_none() {
            self.free_at = queues.begin_next(now, self.link, settings, out);
        }
        let after = queues.counted(below);
        if after > counted {
            self.count.holds(after, queues.counted_bytes());
        }
        let (packets, bytes) = queues.counted_of(class, below);
        queues.classes[class].holds(packets, bytes);
        // a credit may wait for tokens, and data that came later goes before it
        if queues.waits() && self.free_at < queues.listed {
            queues.listed = self.free_at;
            out.serve(self.link, self.free_at);
        }
        offered
    }
}

impl Queues {
    /// The discipline counts some packet, by the account.
    #[inline(always)]
    fn counts_some(&self, below: u32) -> bool {
        self.packets > below.min(self.service.is_some() as u32)
    }

    /// Something waits.
    #[inline(always)]
    fn waits(&self) -> bool {
        self.here.0 > self.service.is_some() as u32
    }

    /// Whether a packet of `class` that takes `wire` goes at once: nothing else is here. It then takes its tokens.
    #[inline(always)]
    fn serves_at_once(&mut self, class: usize, now: Time, wire: Time) -> bool {
        if self.here.0 > 0 {
            return false;
        }
        match &mut self.scheduler {
            Scheduler::Strict | Scheduler::Headers { .. } | Scheduler::LeastRank => true,
            Scheduler::Credits(tokens) => class > 0 || tokens.take(now, wire),
            Scheduler::Weighted(_) => false,
        }
    }

    /// A packet is here.
    #[inline(always)]
    fn enter(&mut self, class: usize, size: u64) {
        self.here.0 += 1;
        self.here.1 += size;
        self.packets += 1;
        self.bytes += size;
        self.classes[class].enter(size);
    }

    /// The transmission of a packet begins, which is here.
    #[inline(always)]
    fn start(&mut self, class: usize, size: u64, now: Time, wire: Time, below: u32) {
        self.service = Some(Service { size, class, began: now, ends: now + wire, arrives: None });
        if below > 0 {
            self.bytes_below = size;
            let queue = &mut self.classes[class];
            if queue.here.0 == 1 {
                queue.empty(now);
            }
        }
    }

    /// The transmission under way ends `now`, if one is: its packet is here no longer.
    #[inline(always)]
    fn finish(&mut self, now: Time, below: u32) {
        let Some(Service { size, class, .. }) = self.service.take() else { return };
        self.bytes_below = 0;
        self.here.0 -= 1;
        self.here.1 -= size;
        self.packets -= 1;
        self.bytes -= size;
        let several = self.classes.len() > 1;
        let queue = &mut self.classes[class];
        queue.leave(size);
        if queue.here.0 == 0 && (below == 0 || several) {
            queue.empty(now);
        }
    }

    /// Begins a transmission at `now`, if something may go, and sends its packet on. When there is something to do
    /// again.
    #[inline(always)]
    fn begin_next(&mut self, now: Time, link: LinkId, settings: &Settings, out: &mut impl Outbox) -> Time {
        // queues that take turns lose what is left of them when nothing waits, and so are asked
        if self.here.0 == 0 && !matches!(self.scheduler, Scheduler::Weighted(_)) {
            return Time::NEVER;
        }
        let Some(class) = self.scheduler.next(&mut self.classes, now) else { return Time::NEVER };
        let Some(Waiting { packet, ext, size, wire, .. }) =
            self.classes.get_mut(class).and_then(|class| class.queue.front_mut())
        else {
            let Scheduler::Credits(tokens) = &self.scheduler else { return Time::NEVER };
            return tokens.enough_at;
        };
        let (size, wire) = (*size, *wire);
        out.arrive(packet, Stamp { time: now + wire + settings.delay, link, ce: 0 }, ext.as_deref_mut(), 0);
        self.spend_of(class, now, settings.below);
        self.classes[class].queue.pop_front();
        self.work -= wire;
        self.start(class, size, now, wire, settings.below);
        now + wire
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Discipline, Limit, LinkSpec, Loss, QueueSpec, Scheduler, Whole};
    use incast_cc::Rate;

    #[test]
    fn ports_serve_themselves_where_all_is_decided_by_the_beginning_of_a_transmission() {
        let one = |discipline| QueueSpec {
            discipline,
            limit: Limit::Packets(10),
            device: 0,
            count_in_service: false,
            count_overhead: false,
            explicit: false,
        };
        let classes = |classes| Discipline::Classes { scheduler: Scheduler::Strict, classes, whole: Whole::NONE };
        let interval = Interval { from: Time::ZERO, to: Time::ms(1), every: Time::us(1) };
        let serves = |queue: QueueSpec, loss, bucket| {
            let (rate, delay, name) = (Rate::gbps(10), Time::us(1), "a>b".into());
            let link = LinkSpec { from: 0, to: 1, rate, delay, overhead: 0, bucket, queue: 0, loss, cell: None, name };
            let serves = |length| {
                let mut port = Port::new(&link, &queue, LinkId(0), 1, &interval);
                port.serve_itself(length);
                port.serves_itself()
            };
            // no window may be longer than the link's delay
            assert!(!serves(Time::us(1) + Time::ps(1)));
            serves(Time::us(1))
        };
        let two = || one(classes(vec![one(Discipline::DropTail), one(Discipline::DropTail)]));
        assert!(serves(two(), Loss::None, 0) && serves(one(Discipline::Pfabric), Loss::None, 0));
        // arithmetic serves a FIFO queue; losses, buckets and device queues have events
        assert!(!serves(one(Discipline::DropTail), Loss::None, 0));
        assert!(!serves(two(), Loss::Packet(0.1), 0) && !serves(two(), Loss::None, 3000));
        assert!(!serves(QueueSpec { device: 1, ..one(Discipline::Pfabric) }, Loss::None, 0));
    }
}
