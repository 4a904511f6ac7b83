//! A packet at a port: the port's decision, and the packet's next step.

use crate::event::interval::Interval;
use crate::event::metadata::Metadata;
use crate::event::order::Timer;
use crate::event::outbox::{Instant, Outbox, Stamp};
use crate::event::packet::{Ext, NO_TIE_RANK, Packet, flag};
use crate::ids::PortIx;
use crate::node::context::{Counts, Effects, NodeCtx};
use crate::node::late_marking::pass_marking_late;
use crate::node::lazy_service::pass_lazily;
use crate::port::buffer::SharedBuffer;
use crate::port::explicit::Offered;
use crate::port::{Port, Sent};

/// Passes a packet through a FIFO port that is not observed: the work of a hop. Inlined into the loop of a window.
#[inline(always)]
pub fn pass<O: Outbox>(
    port: &mut Port,
    at: Instant,
    packet: &Packet,
    ext: Option<&mut Ext>,
    interval: &Interval,
    counts: &mut Counts,
    out: &mut O,
) {
    let sent = port.enqueue(at.time, packet, interval);
    send_on(port, at, packet, ext, sent, counts, out);
}

/// Counts a port's decision on a packet, and sends the packet on.
#[inline(always)]
fn send_on<O: Outbox>(
    port: &mut Port,
    at: Instant,
    packet: &Packet,
    ext: Option<&mut Ext>,
    sent: Sent,
    counts: &mut Counts,
    out: &mut O,
) {
    match sent {
        Sent::Arrives { time, marked } => {
            counts.hops += 1;
            let generation = if time == at.time { at.generation.saturating_add(1) } else { 0 };
            let stamp = Stamp { time, link: port.link, ce: (marked as u16) * flag::CE };
            out.arrive(packet, stamp, ext, generation);
        }
        Sent::Lost { .. } => {
            counts.hops += 1;
            counts.drop_at(at.time);
        }
        Sent::Dropped => counts.drop_at(at.time),
    }
}

impl<E: Effects> NodeCtx<'_, E> {
    /// Offers `packet` to domain-local port `port`.
    #[inline(always)]
    pub fn transmit(&mut self, port: PortIx, packet: &Packet, ext: Option<&mut Ext>) {
        let p = &mut self.ports[port];
        if p.has_features() || packet.has(flag::SLOW_PATH) {
            if p.is_lazy() && !packet.has(flag::SLOW_PATH) {
                pass_lazily(p, self.now, packet, ext, self.net, self.counts, self.out);
                return;
            }
            if p.sends_early() && !packet.has(flag::SLOW_PATH) {
                self.transmit_early(port, packet, ext);
                return;
            }
            return self.transmit_with_features(port, packet, ext);
        }
        let at = Instant { time: self.now, generation: self.generation };
        pass(p, at, packet, ext, &self.net.interval, self.counts, self.out);
    }

    /// Records a port's decision on `packet`, also in the trace.
    fn sent(&mut self, port: PortIx, packet: &Packet, ext: Option<&mut Ext>, sent: Sent) {
        let p = &mut self.ports[port];
        if packet.has(flag::SLOW_PATH) {
            let link = p.link;
            self.trace_sent(packet, sent, link);
        }
        let at = Instant { time: self.now, generation: self.generation };
        send_on(&mut self.ports[port], at, packet, ext, sent, self.counts, self.out);
    }

    /// Offers a packet to port `port`, after the programs of its node. Returns whether its queue has accepted it.
    pub fn offer(&mut self, port: PortIx, packet: &Packet, ext: Option<&mut Ext>) -> bool {
        let p = &mut self.ports[port];
        if !p.is_plain_but_programmed() || packet.has(flag::SLOW_PATH) {
            return self.offer_with_features(port, packet, ext);
        }
        let sent = p.enqueue(self.now, packet, &self.net.interval);
        let at = Instant { time: self.now, generation: self.generation };
        send_on(p, at, packet, ext, sent, self.counts, self.out);
        sent != Sent::Dropped
    }

    /// Offers a packet to a port that is observed or has an explicit queue, or one that is traced or stamped. Returns
    /// whether its queue has accepted it.
    pub(super) fn offer_with_features(&mut self, port: PortIx, packet: &Packet, ext: Option<&mut Ext>) -> bool {
        let now = self.now;
        self.watch(port);
        let p = &mut self.ports[port];
        if p.is_lazy() {
            p.serve(now, &self.net.interval, self.out);
        }
        let (mut packet, mut ext) = (*packet, ext);
        if !packet.is_reverse()
            && self.net.spec.stamps_arrivals()
            && let Some(Metadata::Stamps(telemetry)) = ext.as_deref_mut().and_then(|ext| ext.metadata.as_deref_mut())
        {
            telemetry.push(p.stamp(now));
        }
        if p.is_lazy() {
            return pass_lazily(p, now, &packet, ext, self.net, self.counts, self.out);
        }
        if p.sends_early() {
            return self.transmit_early(port, &packet, ext);
        }
        if p.marks_late() {
            let at = Instant { time: now, generation: self.generation };
            pass_marking_late(p, at, &packet, ext, &self.net.interval, self.counts, self.out);
            return true;
        }
        if !p.is_explicit() {
            let interval = &self.net.interval;
            let sent = match p.fails() {
                true => p.enqueue_failing(now, &packet, interval),
                false => p.enqueue(now, &packet, interval),
            };
            p.took();
            if !self.net.entropy {
                packet.set_tie_rank(if sent == Sent::Dropped { NO_TIE_RANK } else { p.tie_rank(&packet) });
            }
            self.watch(port);
            self.sent(port, &packet, ext, sent);
            return sent != Sent::Dropped;
        }
        if !self.net.entropy {
            packet.set_tie_rank(NO_TIE_RANK);
        }
        let packet = &packet;
        // the flow is far away in memory: it is read only if its class matters
        let class = if p.has_classes() { self.net.class(packet) } else { 0 };
        let pool = p.pool();
        let account = pool.and(self.net.pfc.as_ref()).and_then(|pfc| pfc.account(packet.link, class));
        let buffer = pool.map(|i| SharedBuffer { pool: &mut self.shared.pools[i], account });
        let offered = p.offer(now, packet, ext.as_deref_mut(), class, buffer, &self.net.interval);
        let link = p.link;
        self.count_dropped(port);
        self.watch(port);
        match offered {
            Offered::Dropped => {
                self.sent(port, packet, ext, Sent::Dropped);
                return false;
            }
            Offered::Returned => {
                self.send_back(packet);
                return false;
            }
            Offered::Passed { lost: true, .. } => self.sent(port, packet, ext, Sent::Lost { at: now }),
            Offered::Passed { marked, arrives, .. } => {
                self.sent(port, packet, ext, Sent::Arrives { time: arrives, marked });
            }
            Offered::Waits { ends, marked, lost } => {
                if packet.has(flag::SLOW_PATH) {
                    let sent = if lost { Sent::Lost { at: now } } else { Sent::Arrives { time: now, marked } };
                    self.trace_sent(packet, sent, link);
                }
                self.counts.hops += 1;
                self.counts.dropped += lost as u64;
                match ends {
                    Some(_) if self.ports[port].station().is_some() => self.acquire(port),
                    Some(ends) => self.timer(ends, Timer::Departure(link)),
                    None => {}
                }
                // a refused packet requests no pause: an empty account would never end it
                if let (Some(pool), Some(account)) = (pool, account) {
                    self.balance(pool, account, packet, false);
                }
            }
        }
        true
    }
}
