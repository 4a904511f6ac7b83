//! Receiving endpoint: received packets, and the credit that it asks of its host's pacer.

use super::{MAP, QUANTUM, UNACKNOWLEDGED, full, parameters};
use crate::event::packet::{Answer, Kind, Packet, flag};
use crate::host::driven::{Class, Granted, List};
use crate::ids::{FlowId, HostIx};
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use crate::spec::TransportSpec;
use crate::transport::driven::back::Receiving;
use crate::transport::ip::IpSink;
use incast_cc::Time;

/// EQDS receiver. Credit is in quanta.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// Common state of receivers.
    pub base: Receiving,
    /// Credit given, the sender's target, and the demand of packets to be retransmitted.
    given: u32,
    target: u32,
    again: u32,
    /// Set while the flow is in the active list of its host's pacer.
    active: bool,
    /// Bytes received since the last ACK.
    since: u64,
    /// Set if an ACK is requested once no packet is missing.
    asked: bool,
    /// Set once something has arrived.
    begun: bool,
    /// Entropy of the next credit.
    entropy: u16,
}

impl Receiver {
    /// Receiver of flow `flow` on domain-local host `host`.
    pub fn new(net: &FabricMap, flow: FlowId, host: HostIx) -> Receiver {
        Receiver {
            base: Receiving::new(net, flow, IpSink::new(net, flow, host)),
            given: 0,
            target: 0,
            again: 0,
            active: false,
            since: 0,
            asked: false,
            begun: false,
            entropy: 0,
        }
    }

    /// Handles a packet, complete or trimmed.
    pub fn on_packet(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet) {
        let t = ctx.net.transport(self.base.transport);
        if p.is(Kind::Rts) {
            self.on_rts(ctx, t, p);
        } else if p.is_trimmed() {
            self.base.ip.count_trimmed(ctx, p);
            self.base.note_end(p);
            self.on_trimmed(ctx, t, p);
        } else if self.base.ip.is_whole(ctx, p) {
            self.on_data(ctx, t, p);
        }
    }

    fn on_data(&mut self, ctx: &mut NodeCtx<impl Effects>, t: &TransportSpec, p: &Packet) {
        let (number, marked, asks) = (p.seq() as u32, p.has(flag::CE), p.asks_for_ack());
        self.since += p.size as u64;
        self.aim(ctx, p.ack as u32);
        let before = self.base.arrived.next();
        if !self.base.take(ctx, t, p) {
            let from = if marked { number } else { self.map_from(number) };
            return self.acknowledge(ctx, p, from, marked);
        }
        let mut now = marked || asks || !self.begun;
        self.begun = true;
        self.asked |= asks;
        now |= self.since > UNACKNOWLEDGED;
        if self.base.arrived.next() > before && self.base.arrived.early() == 0 && self.asked {
            (now, self.asked) = (true, false);
        }
        if now {
            let from = if marked || asks { number } else { self.map_from(number) };
            self.acknowledge(ctx, p, from, marked);
        }
    }

    fn on_trimmed(&mut self, ctx: &mut NodeCtx<impl Effects>, t: &TransportSpec, p: &Packet) {
        let number = p.seq() as u32;
        if self.base.arrived.has(number) {
            return self.acknowledge(ctx, p, number, false);
        }
        self.aim(ctx, p.ack as u32);
        let answer = Answer { number, next: self.base.arrived.next(), ..Answer::default() };
        self.base.answer(ctx, Class::Fifo, (Kind::Nack, 0, answer), p.entropy());
        self.ask_again(ctx, t);
    }

    /// Handles a request for the credit of one packet from a sender without credit.
    fn on_rts(&mut self, ctx: &mut NodeCtx<impl Effects>, t: &TransportSpec, p: &Packet) {
        let number = p.seq() as u32;
        self.base.note_more();
        self.aim(ctx, p.ack as u32);
        self.ask_again(ctx, t);
        self.base.arrived.insert(number, 0);
        self.acknowledge(ctx, p, number, p.has(flag::CE));
    }

    /// Raises the target: the sender can use credit up to `target`.
    fn aim(&mut self, ctx: &mut NodeCtx<impl Effects>, target: u32) {
        if target <= self.target {
            return;
        }
        self.target = target;
        if self.again == 0 && !self.active {
            self.active = true;
            ctx.wait_for_credit(self.base.ip.host, List::Active, self.base.flow);
        }
    }

    /// Demands credit for a retransmission.
    fn ask_again(&mut self, ctx: &mut NodeCtx<impl Effects>, t: &TransportSpec) {
        if self.again == 0 {
            ctx.wait_for_credit(self.base.ip.host, List::Again, self.base.flow);
        }
        self.again += full(t).div_ceil(QUANTUM) as u32;
    }

    fn map_from(&self, number: u32) -> u32 {
        number.saturating_sub(MAP - 1).max(self.base.arrived.next() + 1)
    }

    /// Sends an ACK with a bitmap from packet `from` on.
    fn acknowledge(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet, from: u32, marked: bool) {
        self.since = 0;
        let arrived = &self.base.arrived;
        let answer = Answer { next: arrived.next(), number: from, map: arrived.map(from), ..Answer::default() };
        let flags = if marked { flag::ECE } else { 0 };
        self.base.answer(ctx, Class::Fifo, (Kind::Ack, flags, answer), p.entropy());
    }

    /// Gives credit on behalf of the host's pacer, which serves `list`.
    pub fn grant(&mut self, ctx: &mut NodeCtx<impl Effects>, list: List) -> Granted {
        let t = ctx.net.transport(self.base.transport);
        let eqds = parameters(t);
        if !eqds.htsim && self.base.is_complete() {
            return self.leave(list);
        }
        let quanta = (t.mss as u64 / QUANTUM).max(1) as u32;
        self.again = self.again.saturating_sub(quanta);
        self.given = self.given.wrapping_add(quanta);
        let answer = Answer { count: self.given, next: self.base.arrived.next(), ..Answer::default() };
        self.base.answer(ctx, Class::Fifo, (Kind::Pull, 0, answer), self.entropy);
        if !eqds.htsim {
            self.entropy = (self.entropy + 1) % eqds.entropies as u16;
        }
        let port = &ctx.ports[ctx.hosts[self.base.ip.host].port];
        let gap = match eqds.htsim {
            // time of a packet with its Ethernet overhead
            true => port.serialization(full(t) + 38).0 as f64 * eqds.pull_rate,
            // time of the packets that the credit pays for, with the link's overhead
            false => {
                let packets = (quanta as u64 * QUANTUM) as f64 / full(t) as f64;
                port.serialization(full(t)).0 as f64 * packets / eqds.pull_rate
            }
        };
        let short = self.given < self.target;
        let next = match list {
            List::Again => (self.again > 0).then_some(List::Again),
            List::Active if short => Some(List::Active),
            List::Active => {
                self.active = false;
                Some(List::Idle)
            }
            List::Idle => {
                let ahead = (self.given - self.target.min(self.given)) as u64;
                let window = eqds.window as u64 * full(t);
                (!short && ahead < window / QUANTUM).then_some(List::Idle)
            }
        };
        Granted { gap: Time(gap as u64), next }
    }

    /// Leaves the pacer's list once all that was written has arrived: the remaining demand gets no credit.
    fn leave(&mut self, list: List) -> Granted {
        match list {
            List::Again => self.again = 0,
            List::Active => self.active = false,
            List::Idle => {}
        }
        self.target = self.target.min(self.given);
        Granted { gap: Time::ZERO, next: None }
    }
}
