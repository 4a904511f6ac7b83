//! Receiving endpoint: received packets, and the credit that it asks of its host's pacer.

use super::wire::ToSender;
use super::{QUANTUM, UNACKNOWLEDGED};
use crate::event::packet::{Kind, Packet, flag};
use crate::host::nic_queue::Class;
use crate::ids::{FlowId, HostIx};
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use crate::spec::{Eqds, TransportSpec};
use crate::transport::packet::coalescing::Coalescing;
use crate::transport::packet::credits::{CreditGrant, Credits, List, PullTarget};
use crate::transport::packet::receiver_base::ReceiverBase;
use crate::transport::packet::{HostPacers, PacketReceiver, full, has_base, parameters};
use incast_cc::Time;

/// EQDS receiver. Credit is in quanta.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// Common state of receivers.
    pub base: ReceiverBase,
    /// Credit given, the sender's target, and the demand of packets to be retransmitted.
    credit_granted: u32,
    pull_target: u32,
    rtx_backlog: u32,
    /// Set while the flow is in the active list of its host's pacer.
    active: bool,
    acks: Coalescing,
    /// Entropy of the next credit.
    entropy: u16,
}

impl PacketReceiver for Receiver {
    type Pacer = ();

    has_base!(ReceiverBase);

    fn new(net: &FabricMap, flow: FlowId, host: HostIx) -> Receiver {
        Receiver {
            base: ReceiverBase::new(net, flow, host),
            credit_granted: 0,
            pull_target: 0,
            rtx_backlog: 0,
            active: false,
            acks: Coalescing::default(),
            entropy: 0,
        }
    }

    fn on_packet(&mut self, ctx: &mut NodeCtx<impl Effects>, pacers: &mut HostPacers<()>, p: &Packet) {
        let t = ctx.net.transport(self.base.transport);
        if p.is(Kind::Rts) {
            self.on_rts(ctx, pacers.credits, t, p);
        } else if p.is_trimmed() {
            self.base.count_trimmed(ctx, p);
            self.on_trimmed(ctx, pacers.credits, t, p);
        } else if self.base.ip.is_whole(ctx, p) {
            self.on_data(ctx, pacers.credits, t, p);
        }
    }

    fn grant(&mut self, ctx: &mut NodeCtx<impl Effects>, (): &mut (), list: List) -> Option<CreditGrant> {
        let t = ctx.net.transport(self.base.transport);
        let eqds = parameters::<Eqds>(t);
        if !eqds.htsim && self.base.is_complete() {
            return Some(self.leave(list));
        }
        let quanta = (t.sizes.mss as u64 / QUANTUM).max(1) as u32;
        self.rtx_backlog = self.rtx_backlog.saturating_sub(quanta);
        self.credit_granted = self.credit_granted.wrapping_add(quanta);
        self.base.send(ctx, Class::Fifo, ToSender::Pull { credit: self.credit_granted }.encode(), self.entropy);
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
        let short = self.credit_granted < self.pull_target;
        let next = match list {
            List::Retransmit => (self.rtx_backlog > 0).then_some(List::Retransmit),
            List::Active if short => Some(List::Active),
            List::Active => {
                self.active = false;
                Some(List::Idle)
            }
            List::Idle => {
                let ahead = (self.credit_granted - self.pull_target.min(self.credit_granted)) as u64;
                let window = eqds.window as u64 * full(t);
                (!short && ahead < window / QUANTUM).then_some(List::Idle)
            }
        };
        Some(CreditGrant { gap: Time(gap as u64), next })
    }
}

impl Receiver {
    fn on_data(&mut self, ctx: &mut NodeCtx<impl Effects>, credits: &mut Credits, t: &TransportSpec, p: &Packet) {
        self.raise_pull_target(ctx, credits, PullTarget::read(p).0);
        let (_, due) = self.acks.take(ctx, &mut self.base, t, p, UNACKNOWLEDGED);
        if let Some(from) = due {
            self.acknowledge(ctx, p, from, p.has(flag::CE));
        }
    }

    fn on_trimmed(&mut self, ctx: &mut NodeCtx<impl Effects>, credits: &mut Credits, t: &TransportSpec, p: &Packet) {
        let number = p.seq() as u32;
        if self.base.received.has(number) {
            return self.acknowledge(ctx, p, number, false);
        }
        self.raise_pull_target(ctx, credits, PullTarget::read(p).0);
        self.base.send(ctx, Class::Fifo, ToSender::Nack { number }.encode(), p.entropy());
        self.demand_rtx_credit(ctx, credits, t);
    }

    /// Handles a request for the credit of one packet from a sender without credit.
    fn on_rts(&mut self, ctx: &mut NodeCtx<impl Effects>, credits: &mut Credits, t: &TransportSpec, p: &Packet) {
        let number = p.seq() as u32;
        self.base.note_more();
        self.raise_pull_target(ctx, credits, PullTarget::read(p).0);
        self.demand_rtx_credit(ctx, credits, t);
        self.base.received.insert(number, 0);
        self.acknowledge(ctx, p, number, p.has(flag::CE));
    }

    /// Raises the target: the sender can use credit up to `target`.
    fn raise_pull_target(&mut self, ctx: &mut NodeCtx<impl Effects>, credits: &mut Credits, target: u32) {
        if target <= self.pull_target {
            return;
        }
        self.pull_target = target;
        if self.rtx_backlog == 0 && !self.active {
            self.active = true;
            credits.wait(ctx, self.base.ip.host, List::Active, self.base.flow);
        }
    }

    /// Demands credit for a retransmission.
    fn demand_rtx_credit(&mut self, ctx: &mut NodeCtx<impl Effects>, credits: &mut Credits, t: &TransportSpec) {
        if self.rtx_backlog == 0 {
            credits.wait(ctx, self.base.ip.host, List::Retransmit, self.base.flow);
        }
        self.rtx_backlog += full(t).div_ceil(QUANTUM) as u32;
    }

    /// Sends an ACK with a bitmap from packet `from` on.
    fn acknowledge(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet, from: u32, marked: bool) {
        self.acks.unacknowledged = 0;
        let message = ToSender::Ack { from, map: self.base.received.map(from), marked };
        self.base.send(ctx, Class::Fifo, message.encode(), p.entropy());
    }

    /// Leaves the pacer's list once all that was written has arrived: the remaining demand gets no credit.
    fn leave(&mut self, list: List) -> CreditGrant {
        match list {
            List::Retransmit => self.rtx_backlog = 0,
            List::Active => self.active = false,
            List::Idle => {}
        }
        self.pull_target = self.pull_target.min(self.credit_granted);
        CreditGrant { gap: Time::ZERO, next: None }
    }
}
