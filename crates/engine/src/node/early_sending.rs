//! A packet at a port that [sends early](crate::port::early_sending), and the ends of its transmissions.

use crate::event::order::{Key, Timer};
use crate::event::outbox::{Outbox, Stamp};
use crate::event::packet::{Ext, NO_TIE_RANK, Packet};
use crate::ids::PortIx;
use crate::node::context::{Effects, NodeCtx};
use crate::port::buffer::SharedBuffer;
use crate::port::early_sending::Step;

impl<E: Effects> NodeCtx<'_, E> {
    /// Offers a packet to such a port. Returns whether its queue has accepted it.
    pub fn transmit_early(&mut self, port: PortIx, packet: &Packet, ext: Option<&mut Ext>) -> bool {
        if self.net.pfc.is_some() {
            self.counts.happened(self.now);
        }
        let leaves_after = !self.settle_unnoted(port);
        let mut packet = *packet;
        if !self.net.entropy {
            packet.set_tie_rank(NO_TIE_RANK);
        }
        let p = &mut self.ports[port];
        let (link, pool) = (p.link, p.pool());
        // the flow is far away in memory: it is read only if its class matters
        let class = if p.has_classes() { self.net.class(&packet) } else { 0 };
        let account = pool.and(self.net.pfc.as_ref()).and_then(|pfc| pfc.account(packet.link, class));
        let buffer = pool.map(|i| SharedBuffer { pool: &mut self.shared.pools[i], account });
        let Step { dropped, passed, ends, left } =
            p.take_early(self.now, (&mut packet, ext), class, buffer, &self.net.interval, self.out);
        if dropped {
            self.counts.drop_at(self.now);
            return false;
        }
        self.counts.hops += 1;
        if passed {
            return true;
        }
        match ends {
            // a host's next packet comes before the departure of its last: nothing else acts on the port in between
            Some(_) if leaves_after => {
                self.depart_early(port);
            }
            Some(ends) => self.timer(ends, Timer::Departure(link)),
            None => {}
        }
        if let Some(pool) = pool {
            self.balance_left(port, left);
            if let Some(account) = account
                && self.shared.pools[pool].is_tight(account, &packet)
            {
                self.balance(pool, account, &packet, false);
            }
        }
        true
    }

    /// Ends a transmission of such a port if it is over and its end is no event. Returns false if the end is still to
    /// come in the order of this instant.
    #[inline(always)]
    fn settle_unnoted(&mut self, port: PortIx) -> bool {
        let Some(ends) = self.ports[port].unnoted_end(self.now) else { return true };
        let over = ends < self.now || self.follows_departure(port);
        if over {
            self.ports[port].end_unnoted(&self.net.interval);
        }
        over
    }

    /// Brings a port that may send early up to date, before a pause frame acts on it.
    pub fn settle_early(&mut self, port: PortIx) {
        if self.ports[port].sends_early() && !self.settle_unnoted(port) {
            self.note_end(port);
        }
    }

    /// Makes the end of the current transmission of such a port an event, as something waits for it.
    pub fn note_end(&mut self, port: PortIx) {
        let p = &mut self.ports[port];
        if let Some(ends) = p.note_end() {
            // no transmission takes no time: its end is not of a later generation
            self.out.timer(ends, 0, Timer::Departure(p.link));
        }
    }

    /// Returns whether this event comes after the departure of `port` at this instant.
    #[cold]
    fn follows_departure(&self, port: PortIx) -> bool {
        let Some((generation, turn)) = self.turn else { return true };
        let key = |generation, timer| Key::timer(self.net.order, self.now, generation, timer);
        key(generation, turn) > key(0, Timer::Departure(self.ports[port].link))
    }

    /// Ends a transmission of such a port, whose end is an event. Returns false if a pause frame ends.
    pub fn depart_early(&mut self, port: PortIx) -> bool {
        if self.net.pfc.is_some() {
            self.counts.happened(self.now);
        }
        let p = &mut self.ports[port];
        let (link, pool) = (p.link, p.pool());
        let shared = pool.map(|i| &mut self.shared.pools[i]);
        let step = p.depart_early(self.now, shared, &self.net.interval, self.out);
        let Some(Step { ends, left, .. }) = step else { return false };
        if let Some(ends) = ends {
            let generation = if ends == self.now { self.generation } else { 0 };
            self.out.timer(ends, generation, Timer::Departure(link));
        }
        self.balance_left(port, left);
        true
    }

    /// Resumes the neighbour of an account that a packet of such a port has left, if necessary.
    #[inline(always)]
    fn balance_left(&mut self, port: PortIx, left: Option<u32>) {
        let p = &self.ports[port];
        if let Some(account) = left
            && let Some((pool, packet)) = p.pool().zip(p.left().copied())
        {
            self.balance(pool, account, &packet, true);
        }
    }

    /// Sends on the packet whose transmission such a port has begun after a pause or a pause frame.
    pub fn send_begun(&mut self, port: PortIx) {
        let p = &mut self.ports[port];
        if let Some((packet, mut ext, time)) = p.take_begun() {
            let stamp = Stamp { time, link: p.link, ce: 0 };
            self.out.arrive(&packet, stamp, ext.as_mut(), 0);
        }
    }
}
