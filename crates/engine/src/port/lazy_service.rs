//! Explicit queues that have lazy service, without departure events.
//!
//! If every decision about a packet is made at its arrival or at the start of its transmission, and the port is not
//! observed, the end of a transmission only starts the next one. This work is done when the port is next needed: at an
//! arrival, or at the end of the engine window if packets wait, which is early enough because the link's delay is at
//! least one window. A packet is sent on when its transmission begins; an arrival at an idle port never enters a queue.
//! The steps are those of the events, at the same instants and in the same order, so results are the same as in the
//! reference engine, which has the events.

use super::account::Counters;
use super::class_queue::{IdleAdmission, Waiting};
use super::port::{Port, Rare, feature};
use super::queues::{Admission, Queues, Service};
use super::scheduler::Scheduler;
use super::settings::Settings;
use crate::event::interval::Interval;
use crate::event::outbox::{Outbox, Stamp};
use crate::event::packet::{Ext, Packet, flag};
use crate::ids::LinkId;
use crate::port::discipline::Verdict;
use crate::spec::Aggregate;
use incast_cc::Time;
use std::mem::take;

impl Port {
    /// Turns on lazy service at an explicit port that [fits](crate::fast_paths::FastPath::LazyService).
    pub fn make_lazy(&mut self) {
        let exact = self.settings.ps_per_byte != 0;
        let Some(queues) = &mut self.rare.queues else { return };
        queues.settle_idle_admission(exact);
        self.features |= feature::LAZY;
        self.free_at = Time::NEVER;
    }

    /// True if its explicit queues have lazy service.
    #[inline(always)]
    pub fn is_lazy(&self) -> bool {
        self.features & feature::LAZY != 0
    }

    /// Does all due work up to `now`. [`Port::free_at`] is the time of the next work, [`Time::NEVER`] if none.
    #[inline(always)]
    pub fn serve(&mut self, now: Time, interval: &Interval, out: &mut impl Outbox) {
        while self.free_at <= now {
            self.step(self.free_at, interval, out);
        }
    }

    /// Ends a transmission at `now`, or a wait for tokens, and begins the next transmission.
    fn step(&mut self, now: Time, interval: &Interval, out: &mut impl Outbox) {
        self.end_service(now, interval);
        let Some(queues) = &mut self.rare.queues else { return };
        self.free_at = queues.begin_next(now, self.link, &self.settings, out);
    }

    /// Ends the current transmission at `now`, if any.
    #[inline(always)]
    pub(super) fn end_service(&mut self, now: Time, interval: &Interval) {
        if self.next_advance < now {
            // as with events: earlier due work finds the queues as they were
            self.advance_account(now - Time::ps(1), interval);
        }
        let device_queue = self.settings.device_queue;
        let Some(queues) = &mut self.rare.queues else { return };
        queues.account(now, device_queue, &mut self.count);
        if device_queue == 0
            && let Some(Service { class, .. }) = queues.service
        {
            queues.account_of(class, now, device_queue);
        }
        queues.finish(now, device_queue);
    }

    /// Ends the run at `end`: ends a transmission that finished before and after which nothing waited.
    pub(super) fn end_own_service(&mut self, end: Time, interval: &Interval) {
        if self.is_lazy() && self.free_at < end {
            self.end_service(self.free_at, interval);
            self.free_at = Time::NEVER;
        }
    }

    /// Does all due work before the end of an engine window at `stop`. Returns the time of the next visit, if any.
    pub fn visit(&mut self, stop: Time, interval: &Interval, out: &mut impl Outbox) -> Option<Time> {
        if self.rare.queues.as_ref()?.listed >= stop {
            // it was listed for an earlier window, or is now listed for a later one
            return None;
        }
        self.serve(stop - Time::ps(1), interval, out);
        let queues = self.rare.queues.as_mut()?;
        queues.listed = if queues.queued.0 > 0 { self.free_at } else { Time::NEVER };
        (queues.listed < Time::NEVER).then_some(queues.listed)
    }

    /// Takes `packet` at `now`, and sends on what can be sent; `class` returns its traffic class. Returns whether a
    /// queue has accepted it, and the number of dropped packets.
    #[inline(always)]
    pub fn take_in(
        &mut self,
        now: Time,
        packet: &Packet,
        ext: Option<&mut Ext>,
        class: impl FnOnce() -> u8,
        interval: &Interval,
        out: &mut impl Outbox,
    ) -> (bool, u64) {
        let Some(queues) = &mut self.rare.queues else { return (false, 0) };
        let class = queues.queue_of(packet, class);
        let rests = queues.queued.0 == 0 && (self.free_at <= now || queues.service.is_none());
        if rests && now < self.next_advance && queues.admits_when_idle(class, now, packet, &self.settings) {
            self.pass_when_idle(now, packet, ext, class, out);
            return (true, 0);
        }
        self.take_otherwise(now, packet, ext, class, interval, out)
    }

    /// Takes a packet of queue `class` at an idle port, where at most a finished transmission is left.
    #[inline(always)]
    fn pass_when_idle(
        &mut self,
        now: Time,
        packet: &Packet,
        ext: Option<&mut Ext>,
        class: usize,
        out: &mut impl Outbox,
    ) {
        let settings = &*self.settings;
        let Some(queues) = &mut self.rare.queues else { return };
        let size = packet.size as u64 + settings.framing as u64;
        let ends = now + settings.serialization(size);
        if settings.device_queue == 0 {
            if let Some(Service { class, ends, .. }) = queues.service {
                queues.account(ends, 0, &mut self.count);
                queues.account_of(class, ends, 0);
            }
            queues.known_to = now;
            queues.classes[class].known_to = now;
            self.count.holds(1, size);
            queues.classes[class].holds(1, size);
        } else {
            queues.device_bytes = size;
        }
        queues.service = Some(Service { size, class, began: now, ends, arrives: None });
        queues.classes[class].accept(size, false);
        self.free_at = ends;
        self.bytes_in += size;
        self.count.packets += 1;
        out.arrive(packet, Stamp { time: ends + settings.delay, link: self.link, ce: 0 }, ext, 0);
    }

    /// Takes any packet in any state of the port.
    fn take_otherwise(
        &mut self,
        now: Time,
        packet: &Packet,
        ext: Option<&mut Ext>,
        class: usize,
        interval: &Interval,
        out: &mut impl Outbox,
    ) -> (bool, u64) {
        self.serve(now, interval, out);
        if now >= self.next_advance {
            self.advance_account(now, interval);
        }
        let Some(queues) = &mut self.rare.queues else { return (false, 0) };
        let admission = queues.admit(class, packet, now, &self.settings, None);
        let (mut class, mut size, mut marked) = (class, admission.size, admission.verdict == Verdict::Mark);
        let (mut cut, mut dropped) = (None, 0);
        if admission.verdict == Verdict::Drop {
            let (admitted, lost) = self.make_room(now, admission, packet, ext.as_deref(), interval);
            let Some(admitted) = admitted else { return (false, lost) };
            (class, size, marked) = (admitted.class, admitted.size, admitted.verdict == Verdict::Mark);
            (cut, dropped) = (admitted.cut, lost);
        }
        let (settings, rare) = (&*self.settings, &mut *self.rare);
        let Rare { queues: Some(queues), events, .. } = rare else { return (false, 0) };
        self.count.marks += marked as u32;
        queues.classes[class].accept(size, marked);
        let wire = settings.serialization(size);
        if settings.ps_per_byte == 0 {
            events.odd_busy += wire.0;
        }
        self.bytes_in += size;
        self.count.packets += 1;
        let ce = if marked { flag::CE } else { 0 };
        if wire == Time::ZERO && queues.filling().0 == 0 {
            queues.classes[class].empty(now);
            out.arrive(packet, Stamp { time: now + settings.delay, link: self.link, ce }, ext, 0);
            return (true, dropped);
        }
        let device_queue = settings.device_queue;
        if cut.is_none() && queues.serves_at_once(class, now, wire) {
            if device_queue == 0 {
                queues.account(now, 0, &mut self.count);
                queues.account_of(class, now, 0);
                self.count.holds(1, size);
                queues.classes[class].holds(1, size);
            }
            queues.start(class, size, now, wire, device_queue);
            self.free_at = now + wire;
            out.arrive(packet, Stamp { time: now + wire + settings.delay, link: self.link, ce }, ext, 0);
            return (true, dropped);
        }
        queues.account(now, device_queue, &mut self.count);
        queues.account_of(class, now, device_queue);
        let before = queues.seen(device_queue).0;
        let rank = queues.rank_of(packet, ext.as_deref());
        let ext = ext.map(|ext| Box::new(take(ext)));
        let mut packet = *packet;
        packet.flags |= ce;
        if let Some(header) = cut {
            packet.trim(header);
        }
        let index = self.count.packets - 1;
        let waiting = Waiting { packet, ext, size, wire, lost: false, since: now, index, account: None, rank };
        queues.join(class, waiting);
        if queues.service.is_none() {
            self.free_at = queues.begin_next(now, self.link, settings, out);
        }
        let (packets, bytes) = queues.seen(device_queue);
        if packets > before {
            self.count.holds(packets, bytes);
        }
        let (packets, bytes) = queues.seen_of(class, device_queue);
        queues.classes[class].holds(packets, bytes);
        // a credit may wait for tokens, and later data overtakes it
        if queues.queued.0 > 0 && self.free_at < queues.listed {
            queues.listed = self.free_at;
            out.serve(self.link, self.free_at);
        }
        (true, dropped)
    }

    /// Makes room for a refused packet: drops or trims a waiting packet, or trims the refused one. Returns the new
    /// admission, `None` if the packet is dropped, and the number of dropped packets.
    #[cold]
    #[inline(never)]
    fn make_room(
        &mut self,
        now: Time,
        refused: Admission,
        packet: &Packet,
        ext: Option<&Ext>,
        interval: &Interval,
    ) -> (Option<Admission>, u64) {
        let (settings, rare) = (&*self.settings, &mut *self.rare);
        let Rare { queues: Some(queues), events, .. } = rare else { return (None, 0) };
        // trimmed and replaced packets no longer count
        queues.advance(now, settings.device_queue, &mut self.count);
        let admission = match queues.goes_by_rank() {
            true => queues.displace(refused, packet, ext, settings, events),
            false => queues.trim(refused, packet, settings, None, events, interval),
        };
        let dropped = queues.dropped.drain(..).filter(|dropped| !dropped.lost).count() as u64;
        if admission.verdict == Verdict::Drop {
            events.drops += 1;
            self.count.marks += queues.classes[admission.class].drop(&admission.arrival) as u32;
            return (None, dropped + 1);
        }
        (Some(admission), dropped)
    }
}

impl Queues {
    /// Lets stateless queues accept arrivals at an idle port without asking the discipline, if it would accept them
    /// unmarked anyway.
    fn settle_idle_admission(&mut self, exact: bool) {
        let stateless = self.classes.iter().all(|class| !class.has_state());
        let turns = matches!(self.scheduler, Scheduler::Weighted(_));
        let aggregate = self.aggregate.unwrap_or(Aggregate::NONE);
        for (i, class) in self.classes.iter_mut().enumerate().filter(|_| exact && stateless && !turns) {
            class.when_idle = match &self.scheduler {
                _ if !class.takes_into_empty(&aggregate) => IdleAdmission::Asks,
                Scheduler::Credits(_) if i == 0 => IdleAdmission::TakesTokens,
                _ => IdleAdmission::Takes,
            };
        }
    }

    /// Returns whether queue `class` accepts `packet`, which arrives at an idle port at `now`, without asking the
    /// discipline.
    #[inline(always)]
    fn admits_when_idle(&mut self, class: usize, now: Time, packet: &Packet, settings: &Settings) -> bool {
        match (self.classes[class].when_idle, &mut self.scheduler) {
            (IdleAdmission::Takes, _) => true,
            (IdleAdmission::TakesTokens, Scheduler::Credits(tokens)) => {
                tokens.take(now, settings.serialization(packet.size as u64 + settings.framing as u64))
            }
            _ => false,
        }
    }

    /// Packets and bytes that the disciplines count, by the account, which includes all departures.
    #[inline(always)]
    pub(super) fn seen(&self, device_queue: u32) -> (u32, u64) {
        if device_queue > 0 { self.queued } else { self.filling() }
    }

    /// [`Queues::seen`] for queue `class`.
    #[inline(always)]
    pub(super) fn seen_of(&self, class: usize, device_queue: u32) -> (u32, u64) {
        if device_queue > 0 { self.classes[class].queued } else { self.here_of(class) }
    }

    /// Adds the time up to `until`, in which nothing changes, to the account.
    #[inline(always)]
    pub(super) fn account(&mut self, until: Time, device_queue: u32, count: &mut Counters) {
        let span = until - self.known_to;
        let (packets, bytes) = self.seen(device_queue);
        self.known_to = until;
        if packets > 0 {
            count.add_queue(span, packets, bytes);
        }
    }

    /// Adds the time up to `until`, in which nothing changes in `class`, to its account.
    #[inline(always)]
    pub(super) fn account_of(&mut self, class: usize, until: Time, device_queue: u32) {
        if self.classes.len() > 1 {
            let seen = self.seen_of(class, device_queue);
            self.classes[class].pass(until, seen);
        }
    }

    /// Returns whether a packet of `class` with transmission time `wire` is sent at once, because the port is empty;
    /// then takes its tokens.
    #[inline(always)]
    fn serves_at_once(&mut self, class: usize, now: Time, wire: Time) -> bool {
        if self.filling().0 > 0 {
            return false;
        }
        match &mut self.scheduler {
            Scheduler::Strict | Scheduler::Headers { .. } | Scheduler::LeastRank => true,
            Scheduler::Credits(tokens) => class > 0 || tokens.take(now, wire),
            Scheduler::Weighted(_) => false,
        }
    }

    /// Appends a waiting packet to queue `class`.
    #[inline(always)]
    pub(super) fn join(&mut self, class: usize, waiting: Waiting) {
        self.work += waiting.wire;
        self.queued.0 += 1;
        self.queued.1 += waiting.size;
        self.classes[class].push(waiting);
    }

    /// Begins the transmission of a packet that is no longer in the queue.
    #[inline(always)]
    pub(super) fn start(&mut self, class: usize, size: u64, now: Time, wire: Time, device_queue: u32) {
        self.service = Some(Service { size, class, began: now, ends: now + wire, arrives: None });
        if device_queue > 0 {
            self.device_bytes = size;
            let queue = &mut self.classes[class];
            if queue.queued.0 == 0 {
                queue.empty(now);
            }
        }
    }

    /// Ends the current transmission at `now`, if any: its packet has left.
    #[inline(always)]
    fn finish(&mut self, now: Time, device_queue: u32) {
        let Some(Service { class, .. }) = self.service.take() else { return };
        self.device_bytes = 0;
        let several = self.classes.len() > 1;
        let queue = &mut self.classes[class];
        if queue.queued.0 == 0 && (device_queue == 0 || several) {
            queue.empty(now);
        }
    }

    /// Begins a transmission at `now`, if possible, and sends its packet on. Returns the time of the next work.
    #[inline(always)]
    fn begin_next(&mut self, now: Time, link: LinkId, settings: &Settings, out: &mut impl Outbox) -> Time {
        // weighted queues lose their deficits when nothing waits, and so are asked
        if self.queued.0 == 0 && !matches!(self.scheduler, Scheduler::Weighted(_)) {
            return Time::NEVER;
        }
        let Some(class) = self.scheduler.next(&mut self.classes, now) else { return Time::NEVER };
        let device_queue = settings.device_queue;
        let Some(queue) = self.classes.get_mut(class) else {
            let Scheduler::Credits(tokens) = &self.scheduler else { return Time::NEVER };
            return tokens.enough_at;
        };
        let Some(Waiting { packet, ext, size, wire, .. }) = queue.queue.front_mut() else { return Time::NEVER };
        let (size, wire) = (*size, *wire);
        out.arrive(packet, Stamp { time: now + wire + settings.delay, link, ce: 0 }, ext.as_deref_mut(), 0);
        self.account_of(class, now, device_queue);
        let queue = &mut self.classes[class];
        queue.queue.pop_front();
        queue.leave(size);
        self.queued.0 -= 1;
        self.queued.1 -= size;
        self.work -= wire;
        self.start(class, size, now, wire, device_queue);
        now + wire
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fast_paths::FastPath;
    use crate::spec::{Aggregate, Discipline, Limit, LinkSpec, Loss, QueueSpec, Scheduler};
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
        let classes =
            |classes| Discipline::Classes { scheduler: Scheduler::Strict, classes, aggregate: Aggregate::NONE };
        let interval = Interval { from: Time::ZERO, to: Time::ms(1), every: Time::us(1) };
        let serves = |queue: QueueSpec, loss, bucket| {
            let (rate, delay, name) = (Rate::gbps(10), Time::us(1), "a>b".into());
            let tick = Time::ZERO;
            let (from, to) = (0, 1);
            let link = LinkSpec { from, to, rate, delay, tick, overhead: 0, bucket, queue: 0, loss, cell: None, name };
            let serves = |length| {
                let mut port = Port::new(&link, &queue, LinkId(0), 1, &interval);
                if FastPath::LazyService.fits(port.features(length, Time::NEVER, 1)) {
                    port.make_lazy();
                }
                port.is_lazy()
            };
            // no engine window may be longer than the link's delay
            assert!(!serves(Time::us(1) + Time::ps(1)));
            serves(Time::us(1))
        };
        let two = || one(classes(vec![one(Discipline::DropTail), one(Discipline::DropTail)]));
        assert!(serves(two(), Loss::None, 0) && serves(one(Discipline::Pfabric), Loss::None, 0));
        // a FIFO queue needs no service; losses, buckets and device queues need events
        assert!(!serves(one(Discipline::DropTail), Loss::None, 0));
        assert!(!serves(two(), Loss::Packet(0.1), 0) && !serves(two(), Loss::None, 3000));
        assert!(!serves(QueueSpec { device: 1, ..one(Discipline::Pfabric) }, Loss::None, 0));
    }
}
