//! Ends of transmissions at a port with explicit queues: the packet's next step, and space given back to its buffer.

use crate::event::order::Timer;
use crate::event::outbox::{Outbox, Stamp};
use crate::event::packet::{Kind, flag};
use crate::ids::PortIx;
use crate::node::context::{Effects, NodeCtx};
use crate::node::trace::Site;
use crate::port::class_queue::{Dropped, Taken};
use crate::port::explicit::Departed;
use crate::program::Programs;
use incast_record::Happening;

impl<E: Effects> NodeCtx<'_, E> {
    /// Counts packets that waited at a port and were dropped, and removes them from their buffer; or returns them.
    #[inline(always)]
    pub fn count_dropped(&mut self, port: PortIx) {
        if self.ports[port].has_released() {
            self.count_released(port);
        }
    }

    /// See [`NodeCtx::count_dropped`].
    fn count_released(&mut self, port: PortIx) {
        if let Some((packet, Taken { account, held, size })) = self.ports[port].take_freed()
            && let Some(pool) = self.ports[port].pool()
        {
            self.shared.pools[pool].release(&packet, account, held, size);
            account.iter().for_each(|account| self.balance(pool, *account, &packet, true));
        }
        while let Some(Dropped { packet, returns, lost, place }) = self.ports[port].take_dropped() {
            let p = &self.ports[port];
            let (link, pool) = (p.link, p.pool());
            if let (Some(pool), Some(place)) = (pool, place) {
                self.shared.pools[pool].release(&packet, place.account, place.held, place.size);
                place.account.iter().for_each(|account| self.balance(pool, *account, &packet, true));
            }
            if returns {
                self.send_back(&packet);
            } else if !lost {
                self.counts.drop_at(self.now);
                if packet.has(flag::SLOW_PATH) {
                    self.trace(&packet, Happening::Drop, Site::Link(link));
                }
            }
        }
    }

    /// Removes the packet at the head of an explicit queue.
    pub fn end_service(&mut self, port: PortIx) -> Option<Departed> {
        if self.net.pfc.is_some() {
            // packets that waited while the port did not send are accounted for
            self.watch(port);
        }
        let p = &mut self.ports[port];
        let pool = p.pool();
        let shared = pool.map(|i| &mut self.shared.pools[i]);
        let departed = p.depart(self.now, shared, &self.net.interval)?;
        self.count_dropped(port);
        if let (Some(pool), Some(account)) = (pool, departed.account) {
            self.balance(pool, account, &departed.packet, true);
        }
        Some(departed)
    }

    /// Ends a transmission of an explicit queue. `programs` are those of switches.
    pub fn depart(&mut self, port: PortIx, programs: &mut [Option<Box<Programs>>]) {
        if self.ports[port].sends_early() && self.depart_early(port) {
            return;
        }
        let Some(mut departed) = self.end_service(port) else { return self.on_tokens_available(port) };
        let link = self.ports[port].link;
        if let Some(next) = departed.next {
            // departures precede all else of their generation: one that follows at this instant still belongs to it, so
            // that a port without serialization time sends its whole queue within one
            let generation = if next == self.now { self.generation } else { 0 };
            self.out.timer(next, generation, Timer::Departure(link));
        }
        self.send_begun(port);
        if departed.lost {
            return self.counts.happened(self.now);
        }
        if self.ports[port].is_programmed() && !departed.packet.is(Kind::Pause) {
            self.leave_programmed(port, programs, &mut departed);
        }
        if departed.marked && departed.packet.has(flag::SLOW_PATH) {
            self.trace(&departed.packet, Happening::Mark, Site::Link(link));
        }
        let Some(time) = departed.arrives else {
            if departed.packet.is(Kind::Pause) {
                return;
            }
            self.counts.drop_at(self.now);
            if departed.packet.has(flag::SLOW_PATH) {
                self.trace(&departed.packet, Happening::Loss, Site::Link(link));
            }
            return;
        };
        // departures precede arrivals, so without delay the arrival still belongs to this generation
        let stamp = Stamp { time, link, ce: 0 };
        self.out.arrive(&departed.packet, stamp, departed.ext.as_mut(), self.generation);
    }
}
