//! Explicit ports that send a packet on as its transmission begins.
//!
//! If all is decided by the beginning of a transmission, the packet's arrival is known then. The end only lets the next
//! transmission begin, and is an event only if something waits for it: packets, a pause frame, or a shared buffer that
//! counts packets in service. Unlike under [lazy service](super::lazy_service), beginnings keep their instants, so that
//! these ports may act on others: they share buffers, pause neighbours, and mark and stamp packets as they leave. The
//! account is that of lazy service.

use super::buffer::{Pool, SharedBuffer};
use super::class_queue::Waiting;
use super::port::{Port, Rare, feature};
use super::queues::{Queues, Service};
use super::scheduler::Scheduler;
use super::settings::Settings;
use crate::event::interval::Interval;
use crate::event::metadata::{Metadata, PortStamp};
use crate::event::outbox::{Outbox, Stamp};
use crate::event::packet::{Ext, Packet, flag};
use crate::event::prefetch;
use crate::ids::LinkId;
use crate::port::discipline::{Departure, Verdict};
use incast_cc::Time;
use std::collections::VecDeque;

/// Result of a packet's arrival at such a port, or of the end of a transmission.
#[derive(Clone, Copy, Debug, Default)]
pub struct Step {
    /// True if the arrival was refused.
    pub dropped: bool,
    /// True if the arrival took no time, and no space in the shared buffer.
    pub passed: bool,
    /// End of a transmission that is to be an event from now on.
    pub ends: Option<Time>,
    /// Account of the shared buffer that [a packet](Port::left) has left, if its neighbour is paused.
    pub left: Option<u32>,
}

/// Facts about a port, for the marks and stamps of its packets.
#[derive(Clone, Copy)]
struct Sender<'a> {
    settings: &'a Settings,
    link: LinkId,
    /// Bytes accepted so far, without those of packets that were cut.
    accepted: u64,
    interval: &'a Interval,
}

impl Port {
    /// Turns on early sending at an explicit port that [fits](crate::fast_paths::FastPath::EarlySending).
    pub fn make_early(&mut self) {
        let shares = self.pool().is_some();
        let Some(queues) = &mut self.rare.queues else { return };
        queues.ends_are_events = shares && !queues.frees_early;
        self.features |= feature::EARLY;
    }

    /// True if it sends packets on as their transmissions begin.
    #[inline(always)]
    pub fn sends_early(&self) -> bool {
        self.features & feature::EARLY == feature::EARLY
    }

    /// End of a transmission that is over by `now`, if it is no event.
    #[inline(always)]
    pub fn unnoted_end(&self, now: Time) -> Option<Time> {
        let queues = self.rare.queues.as_ref()?;
        let service = queues.service.as_ref().filter(|_| !queues.end_is_event)?;
        (service.ends <= now).then_some(service.ends)
    }

    /// Ends the transmission whose [end is no event](Port::unnoted_end).
    #[inline(always)]
    pub fn end_unnoted(&mut self, interval: &Interval) {
        let Some(queues) = &mut self.rare.queues else { return };
        let Some(Service { ends, .. }) = queues.service else { return };
        // weighted queues lose their deficits when nothing waits
        let turns = matches!(queues.scheduler, Scheduler::Weighted(_));
        self.end_service(ends, interval);
        if turns && let Some(queues) = &mut self.rare.queues {
            queues.scheduler.next(&mut queues.classes, ends);
        }
    }

    /// Makes the end of the current transmission an event, as something waits for it. Returns its time if it was none.
    #[inline(always)]
    pub fn note_end(&mut self) -> Option<Time> {
        let queues = self.rare.queues.as_mut()?;
        let service = queues.service.as_ref().filter(|_| !queues.end_is_event)?;
        queues.end_is_event = true;
        Some(service.ends)
    }

    /// Ends the run at `end`: a transmission that was over before.
    pub(super) fn end_last_unnoted(&mut self, end: Time, interval: &Interval) {
        if self.sends_early() && self.unnoted_end(end.saturating_sub(Time::ps(1))).is_some() {
            self.end_unnoted(interval);
        }
    }

    /// Takes the packet whose transmission has begun [by events](Port::begin) and is not sent yet, with its extension
    /// and its arrival time.
    pub fn take_begun(&mut self) -> Option<(Packet, Option<Ext>, Time)> {
        let delay = self.settings.delay;
        let queues = self.rare.queues.as_mut().filter(|_| self.features & feature::EARLY == feature::EARLY)?;
        let ends = queues.service.as_ref()?.ends;
        let waiting = queues.served.as_mut().filter(|waiting| !waiting.lost)?;
        waiting.lost = true;
        let (packet, ext) = (waiting.packet, waiting.ext.take());
        if !queues.ends_are_events {
            queues.served = None;
        }
        let ext = ext.map(|ext| queues.give(ext));
        Some((packet, ext, ends + delay))
    }

    /// Packet of the account in [`Step::left`].
    pub fn left(&self) -> Option<&Packet> {
        self.rare.queues.as_ref().map(|queues| &queues.left)
    }

    /// Takes a packet with its extension, of traffic class `class`, at `now`, and sends it on if its transmission
    /// begins. `buffer` is its space in a shared buffer, if any.
    #[inline(always)]
    pub fn take_early(
        &mut self,
        now: Time,
        (packet, ext): (&mut Packet, Option<&mut Ext>),
        class: u8,
        buffer: Option<SharedBuffer>,
        interval: &Interval,
        out: &mut impl Outbox,
    ) -> Step {
        if now >= self.next_advance {
            self.advance_account(now, interval);
        }
        let mut buffer = buffer;
        let (settings, rare) = (&*self.settings, &mut *self.rare);
        let Rare { queues: Some(queues), events, .. } = rare else { return Step::default() };
        let class = queues.queue_of(packet, || class);
        let size = packet.size as u64 + settings.framing as u64;
        let space = buffer.as_ref().map(|buffer| buffer.space(packet, queues.here_of(class).1, size));
        let admission = queues.admit_unless(space == Some(None), class, packet, now, settings);
        if admission.verdict == Verdict::Drop {
            events.drops += 1;
            self.count.marks += queues.classes[class].drop(&admission.arrival) as u32;
            return Step { dropped: true, ..Step::default() };
        }
        let marked = admission.verdict == Verdict::Mark;
        self.count.marks += marked as u32;
        packet.flags |= if marked { flag::CE } else { 0 };
        queues.classes[class].accept(size, marked);
        let wire = settings.serialization(size);
        events.odd_busy += if settings.ps_per_byte == 0 { wire.0 } else { 0 };
        self.bytes_in += size;
        self.count.packets += 1;
        let device_queue = settings.device_queue;
        queues.account(now, device_queue, &mut self.count);
        queues.account_of(class, now, device_queue);
        if wire == Time::ZERO && queues.lets_pass(class, now) {
            queues.classes[class].empty(now);
            out.arrive(packet, Stamp { time: now + settings.delay, link: self.link, ce: 0 }, ext, 0);
            return Step { passed: true, ..Step::default() };
        }
        let account = buffer.as_ref().and_then(|buffer| buffer.account);
        if let (Some(buffer), Some(Some(space))) = (&mut buffer, space) {
            buffer.fill(packet, space);
        }
        let sender = Sender { settings, link: self.link, accepted: self.bytes_in - events.cut_bytes, interval };
        if queues.queued.0 == 0 && queues.sends_at_once(class, now) {
            let waits = Departure { now, since: now, packets: 1, bytes: size, size, ect: packet.has(flag::ECT) };
            let mut ext = ext;
            queues.decide_at_start(class, &waits, packet, ext.as_deref_mut(), &sender);
            if device_queue == 0 {
                self.count.holds(1, size);
                queues.classes[class].holds(1, size);
            }
            queues.start(class, size, now, wire, device_queue);
            let stamp = Stamp { time: now + wire + settings.delay, link: self.link, ce: 0 };
            out.arrive(packet, stamp, ext, 0);
            let mut step = Step::default();
            queues.end_is_event = queues.ends_are_events;
            if queues.ends_are_events {
                queues.keep_served(packet, size, account);
                step.ends = Some(now + wire);
            } else if let Some(buffer) = buffer {
                step.left = queues.gives_back(buffer.pool, packet, account, 0, size);
            }
            return step;
        }
        let before = queues.seen(device_queue).0;
        let ext = ext.map(|ext| queues.keep(ext));
        let (packet, index, rank) = (*packet, 0, 0);
        queues.join(class, Waiting { packet, ext, size, wire, lost: false, since: now, index, account, rank });
        let mut step = Step::default();
        if queues.is_idle() {
            step = queues.begin_early(now, &sender, buffer.map(|buffer| buffer.pool), out);
        } else if !queues.end_is_event
            && let Some(service) = &queues.service
        {
            queues.end_is_event = true;
            step.ends = Some(service.ends);
        }
        let (packets, bytes) = queues.seen(device_queue);
        if packets > before {
            self.count.holds(packets, bytes);
        }
        let (packets, bytes) = queues.seen_of(class, device_queue);
        queues.classes[class].holds(packets, bytes);
        step
    }

    /// Ends the transmission whose end is an event `now`, and begins the next one, or a pause frame. `None` if it is a
    /// pause frame that ends.
    #[inline(always)]
    pub fn depart_early(
        &mut self,
        now: Time,
        pool: Option<&mut Pool>,
        interval: &Interval,
        out: &mut impl Outbox,
    ) -> Option<Step> {
        let queues = self.rare.queues.as_ref()?;
        if queues.task.is_frame() {
            return None;
        }
        let class = queues.service.as_ref().map_or(0, |service| service.class);
        let (mut pool, mut left) = (pool, None);
        self.end_service(now, interval);
        let (settings, rare) = (&*self.settings, &mut *self.rare);
        let Rare { queues: Some(queues), events, .. } = rare else { return None };
        if queues.ends_are_events
            && let Some(Waiting { packet, account, size, .. }) = queues.served.take()
            && let Some(pool) = &mut pool
        {
            left = queues.gives_back(pool, &packet, account, queues.classes[class].queued.1, size);
        }
        if !queues.frames.is_empty() {
            return Some(Step { ends: self.begin(now, interval), left, ..Step::default() });
        }
        let sender = Sender { settings, link: self.link, accepted: self.bytes_in - events.cut_bytes, interval };
        let step = queues.begin_early(now, &sender, pool, out);
        Some(Step { left: left.or(step.left), ..step })
    }
}

/// Prefetches what the next beginnings read: packets, their extensions, and telemetry, each a step before it is read.
#[inline(always)]
fn look_ahead(queue: &VecDeque<Waiting>) {
    let ext = |i: usize| queue.get(i).and_then(|waiting| waiting.ext.as_deref());
    queue.get(2).into_iter().for_each(|waiting| prefetch::lines(waiting, 2));
    ext(1).into_iter().for_each(|ext| prefetch::lines(ext, 1));
    ext(0).and_then(|ext| ext.metadata.as_deref()).into_iter().for_each(|metadata| prefetch::lines(metadata, 3));
}

impl Queues {
    /// Returns whether a packet of `class` that arrives while nothing waits is sent at once.
    #[inline(always)]
    fn sends_at_once(&self, class: usize, now: Time) -> bool {
        self.is_idle() && !self.classes[class].pausing.holds(now) && !matches!(self.scheduler, Scheduler::Weighted(_))
    }

    /// Decides about the packet of `class` whose transmission begins: marks and stamps it.
    #[inline(always)]
    fn decide_at_start(
        &mut self,
        class: usize,
        waits: &Departure,
        packet: &mut Packet,
        ext: Option<&mut Ext>,
        sender: &Sender,
    ) {
        let queue = &mut self.classes[class];
        if queue.decides_at_starts && queue.at_head(waits) == Verdict::Mark {
            packet.flags |= flag::CE;
            queue.departing_marks += sender.interval.holds(waits.now) as u64;
        }
        if self.stamps
            && let Some(Metadata::Stamps(telemetry)) = ext.and_then(|ext| ext.metadata.as_deref_mut())
            && !packet.is_reverse()
        {
            let behind = self.queued.1;
            let sent = sender.accepted.saturating_sub(behind + waits.size);
            let queue = behind.min(u32::MAX as u64) as u32;
            telemetry.push(PortStamp { time: waits.now, sent, queue, link: sender.link });
        }
    }

    /// Keeps the packet in service, whose space in the shared buffer is its until the end.
    fn keep_served(&mut self, packet: &Packet, size: u64, account: Option<u32>) {
        let (packet, wire, since, index, rank) = (*packet, Time::ZERO, Time::ZERO, 0, 0);
        self.served = Some(Waiting { packet, ext: None, size, wire, lost: true, since, index, account, rank });
    }

    /// Gives back the space of a packet, whose queue holds `held` bytes without it: [`Step::left`].
    #[inline(always)]
    fn gives_back(
        &mut self,
        pool: &mut Pool,
        packet: &Packet,
        account: Option<u32>,
        held: u64,
        size: u64,
    ) -> Option<u32> {
        let left = pool.returns(packet, account, held, size);
        if left.is_some() {
            self.left = *packet;
        }
        left
    }

    /// Begins a transmission at `now`, if possible, and sends its packet on.
    fn begin_early(&mut self, now: Time, sender: &Sender, pool: Option<&mut Pool>, out: &mut impl Outbox) -> Step {
        let mut step = Step::default();
        if self.queued.0 == 0 && !matches!(self.scheduler, Scheduler::Weighted(_)) {
            return step;
        }
        let Some(class) = self.scheduler.next(&mut self.classes, now) else { return step };
        let Sender { settings, link, .. } = *sender;
        self.account_of(class, now, settings.device_queue);
        let queue = &mut self.classes[class];
        let here = queue.queued;
        let Some(waiting) = queue.queue.pop_front() else { return step };
        let Waiting { mut packet, mut ext, size, wire, since, account, .. } = waiting;
        queue.leave(size);
        look_ahead(&queue.queue);
        let held = queue.queued.1;
        self.queued.0 -= 1;
        self.queued.1 -= size;
        self.work -= wire;
        let ect = packet.has(flag::ECT);
        let waits = Departure { now, since, packets: here.0 as u64, bytes: here.1, size, ect };
        self.decide_at_start(class, &waits, &mut packet, ext.as_deref_mut(), sender);
        self.start(class, size, now, wire, settings.device_queue);
        let stamp = Stamp { time: now + wire + settings.delay, link, ce: 0 };
        out.arrive(&packet, stamp, ext.as_deref_mut(), 0);
        if let Some(ext) = ext {
            self.spare(ext);
        }
        if self.ends_are_events {
            self.keep_served(&packet, size, account);
        } else if let Some(pool) = pool {
            step.left = self.gives_back(pool, &packet, account, held, size);
        }
        self.end_is_event = self.ends_are_events || self.queued.0 > 0;
        step.ends = self.end_is_event.then_some(now + wire);
        step
    }
}
