//! Where the events of a domain put their effects while its window is open: buckets, or the domain's own queue.

use crate::event::order::{Key, Timer};
use crate::event::outbox::{Instant, Outbox, Overflow, Stamp};
use crate::event::packet::{Ext, Packet};
use crate::ids::{LinkId, NodeId};
use crate::map::fabric::FabricMap;
use crate::port::Port;
use crate::run::buckets::{Buckets, Due, NEAR};
use crate::run::queues::{Queue, Slot};
use incast_cc::Time;
use std::mem::take;

/// The outbox of one domain while its window is open.
pub struct Out<'a, 'n> {
    /// The fabric map.
    pub net: &'a FabricMap<'n>,
    /// Takes packets that leave the domain.
    pub buckets: &'a mut Buckets,
    /// The domain's own queue.
    pub queue: &'a mut Queue,
}

impl Out<'_, '_> {
    /// Whether an arrival from the bucket comes before the domain's own next event at the same
    /// time. On one link what waited in the bucket left before what was sent inside the window.
    #[cold]
    pub fn precedes(&self, packet: &Packet) -> bool {
        let key = Key::arrival(self.buckets.order, packet, 0, 0);
        self.queue.peek().is_none_or(|own| (key.gen_phase, key.tie, key.entity) <= (own.gen_phase, own.tie, own.entity))
    }

    /// When the domain's own next event is due, that beside its queue included.
    #[inline]
    pub fn next_alone(&self) -> Time {
        let aside = self.buckets.alone.aside.as_ref().map_or(Time::NEVER, |(at, _)| at.time);
        self.queue.next().min(aside)
    }

    /// Takes the domain's own next event, be it beside its queue.
    #[inline]
    pub fn pop_alone(&mut self) -> Option<(Instant, Slot)> {
        if let Some((at, timer)) = self.buckets.alone.aside
            && at.time <= self.queue.next()
            && (at.time < self.queue.next() || self.queue.peek().is_none_or(|own| self.key(at, timer) < *own))
        {
            self.buckets.alone.aside = None;
            return Some((at, Slot::Timer(timer)));
        }
        let (key, what) = self.queue.pop()?;
        Some((Instant { time: key.time, generation: key.generation() }, what))
    }

    /// A timer may lie beside the queue from now on, or goes into the queue.
    pub fn hold_aside(&mut self, holds: bool) {
        self.buckets.alone.holds = holds;
        if !holds && let Some((at, timer)) = self.buckets.alone.aside.take() {
            self.queue.timer(self.key(at, timer), timer);
        }
    }

    fn key(&self, at: Instant, timer: Timer) -> Key {
        Key::timer(self.buckets.order, at.time, at.generation, timer)
    }

    /// Plans to move the packets in the overflow queue of the port of `link`, the first of
    /// which arrives at `time`: half the near windows before that is due.
    fn wake_overflow(&mut self, time: Time, link: LinkId) {
        let wake = time - self.buckets.length * (NEAR / 2);
        self.timer(wake, 0, Timer::Overflow(link));
    }

    /// An arrival `ahead` windows from the open one that is no business of a near window's bucket: in the
    /// open window itself, or beyond the near windows.
    #[inline(never)]
    fn arrive_elsewhere(
        &mut self,
        packet: &Packet,
        stamp: Stamp,
        ext: Option<&mut Ext>,
        generation: u16,
        port: &mut impl Overflow,
        due: Option<Due>,
    ) {
        if due.is_some_and(|due| due.ahead == 0) {
            let mut packet = *packet;
            stamp.on(&mut packet);
            return self.local_arrival(packet, ext.map(take), generation);
        }
        if !port.overflows() {
            self.wake_overflow(stamp.time, stamp.link);
        }
        stamp.on(port.push_overflow(packet, ext, &mut self.buckets.chunks));
    }

    fn local_arrival(&mut self, packet: Packet, ext: Option<Ext>, generation: u16) {
        let order = self.buckets.order;
        self.queue.arrival(packet, ext, |packet, n| Key::arrival(order, packet, generation, n));
    }
}

impl Outbox for Out<'_, '_> {
    #[inline(always)]
    fn arrive(
        &mut self,
        packet: &Packet,
        stamp: Stamp,
        ext: Option<&mut Ext>,
        generation: u16,
        port: &mut impl Overflow,
    ) {
        match self.buckets.due(stamp.time) {
            Some(due) if due.ahead > 0 && !port.overflows() => {
                let (place, copy) = self.buckets.push(self.net.links[stamp.link], due, stamp.link, packet, ext);
                stamp.on(copy);
                port.placed(packet, place);
            }
            due => self.arrive_elsewhere(packet, stamp, ext, generation, port, due),
        }
    }

    #[inline]
    fn timer(&mut self, time: Time, generation: u16, timer: Timer) {
        let key = Key::timer(self.buckets.order, time, generation, timer);
        self.queue.timer(key, timer);
    }

    fn post(&mut self, to: NodeId, time: Time, message: Timer) {
        let key = Key::timer(self.buckets.order, time, 0, message);
        self.buckets.post(self.net.place[to].domain, key, message);
    }

    fn settle(&mut self, link: LinkId) {
        self.buckets.due.push(link);
    }

    fn undisturbed(&self) -> Time {
        self.next_alone().min(self.buckets.undisturbed())
    }

    fn cell_timer(&mut self, time: Time, generation: u16, timer: Timer) {
        let alone = &mut self.buckets.alone;
        if alone.holds && alone.aside.is_none() {
            alone.aside = Some((Instant { time, generation }, timer));
        } else {
            self.timer(time, generation, timer);
        }
    }

    fn go_on(&mut self, time: Time) {
        self.buckets.go_on(time);
    }
}

/// Moves what has come near from a port's overflow queue into the buckets.
pub fn move_near(port: &mut Port, out: &mut Out) {
    let horizon = out.buckets.start + out.buckets.length * NEAR;
    let mut chunks = take(&mut out.buckets.chunks);
    port.take_overflow(horizon, &mut chunks, |packet, ext| match out.buckets.due(packet.time) {
        Some(due) if due.ahead > 0 => out.buckets.push(out.net.links[packet.link], due, packet.link, packet, ext).0,
        _ => {
            out.local_arrival(*packet, ext.map(take), 0);
            usize::MAX
        }
    });
    out.buckets.chunks = chunks;
    let first = port.overflow().next().map(|p| p.time);
    if let Some(time) = first {
        out.wake_overflow(time, port.link);
    }
}
