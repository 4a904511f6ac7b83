//! Destination of a domain's packets and timers while its window is open: buckets, or the domain's own queue.

use crate::event::order::{Key, Timer};
use crate::event::outbox::{Instant, Outbox, Stamp};
use crate::event::packet::{Ext, Packet};
use crate::ids::{LinkId, NodeId};
use crate::map::fabric::FabricMap;
use crate::run::buckets::{Buckets, Due};
use crate::run::queues::Queue;
use incast_cc::Time;
use std::mem::take;

/// The outbox of one domain while its window is open.
pub struct Out<'a, 'n> {
    /// The fabric map.
    pub net: &'a FabricMap<'n>,
    /// Buckets for packets that leave the domain.
    pub buckets: &'a mut Buckets,
    /// The domain's own queue.
    pub queue: &'a mut Queue,
}

impl Out<'_, '_> {
    /// True if an arrival from the bucket precedes the domain's own next event at the same time. On one link, packets
    /// from the bucket were sent before those sent inside the window.
    #[cold]
    pub fn precedes(&self, packet: &Packet) -> bool {
        let key = Key::arrival(self.buckets.order, packet, 0, 0);
        self.queue.peek().is_none_or(|own| (key.gen_phase, key.tie, key.entity) <= (own.gen_phase, own.tie, own.entity))
    }

    /// Time of the domain's own next event, including the timer outside its queue.
    #[inline]
    pub fn next_alone(&self) -> Time {
        let deferred = self.buckets.solo.deferred.as_ref().map_or(Time::NEVER, |(at, _)| at.time);
        self.queue.next().min(deferred)
    }

    /// Takes the timer outside the queue, if it is the domain's own next event.
    #[inline]
    pub fn take_deferred(&mut self) -> Option<(Instant, Timer)> {
        let (at, timer) = self.buckets.solo.deferred?;
        let first = at.time < self.queue.next()
            || at.time == self.queue.next() && self.queue.peek().is_none_or(|own| self.key(at, timer) < *own);
        if first { self.buckets.solo.deferred.take() } else { None }
    }

    /// Sets whether a timer may be kept outside the queue. If not, moves it into the queue.
    pub fn hold_deferred(&mut self, holds: bool) {
        self.buckets.solo.holds = holds;
        if !holds && let Some((at, timer)) = self.buckets.solo.deferred.take() {
            self.queue.timer(self.key(at, timer), timer);
        }
    }

    fn key(&self, at: Instant, timer: Timer) -> Key {
        Key::timer(self.buckets.order, at.time, at.generation, timer)
    }

    /// An arrival that belongs in no bucket of a near window: in the open window itself, or beyond the near windows.
    #[inline(never)]
    fn arrive_elsewhere(
        &mut self,
        packet: &Packet,
        stamp: Stamp,
        ext: Option<&mut Ext>,
        generation: u16,
        due: Option<Due>,
    ) -> Option<usize> {
        if due.is_some() {
            let mut copy = *packet;
            stamp.on(&mut copy, packet);
            self.local_arrival(copy, ext.map(take), generation);
        } else {
            let copy = self.buckets.push_far(self.net.links[stamp.link], stamp.time, stamp.link, packet, ext);
            stamp.on(copy, packet);
        }
        None
    }

    fn local_arrival(&mut self, packet: Packet, ext: Option<Ext>, generation: u16) {
        let order = self.buckets.order;
        self.queue.arrival(packet, ext, |packet, n| Key::arrival(order, packet, generation, n));
    }
}

impl Outbox for Out<'_, '_> {
    #[inline(always)]
    fn arrive(&mut self, packet: &Packet, stamp: Stamp, ext: Option<&mut Ext>, generation: u16) -> Option<usize> {
        match self.buckets.due(stamp.time) {
            Some(due) if due.ahead > 0 => {
                let (place, copy) = self.buckets.push(self.net.links[stamp.link], due, stamp.link, packet, ext);
                stamp.on(copy, packet);
                Some(place)
            }
            due => self.arrive_elsewhere(packet, stamp, ext, generation, due),
        }
    }

    #[inline]
    fn timer(&mut self, time: Time, generation: u16, timer: Timer) {
        let key = Key::timer(self.buckets.order, time, generation, timer);
        self.queue.timer(key, timer);
    }

    fn send_message(&mut self, to: NodeId, time: Time, message: Timer) {
        let key = Key::timer(self.buckets.order, time, 0, message);
        self.buckets.push_message(self.net.place[to].domain, key, message);
    }

    fn announce(&mut self, to: Option<NodeId>, key: Key, message: Timer) {
        match to {
            Some(to) => self.buckets.push_message(self.net.place[to].domain, key, message),
            None => self.queue.timer(key, message),
        }
    }

    fn settle(&mut self, link: LinkId) {
        self.buckets.due.push(link);
    }

    fn serve(&mut self, link: LinkId, time: Time) {
        self.buckets.visit(link, time, 0);
    }

    fn undisturbed(&self) -> Time {
        self.next_alone().min(self.buckets.undisturbed())
    }

    fn cell_timer(&mut self, time: Time, generation: u16, timer: Timer) {
        let solo = &mut self.buckets.solo;
        if solo.holds && solo.deferred.is_none() {
            solo.deferred = Some((Instant { time, generation }, timer));
        } else {
            self.timer(time, generation, timer);
        }
    }

    fn go_on(&mut self, time: Time) {
        self.buckets.go_on(time);
    }
}
