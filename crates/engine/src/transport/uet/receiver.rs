//! Receiving endpoint: coalesced ACKs, NACKs, and pulls from the host's pacer under RCCC.

use super::pacer::{CoreRate, Fate};
use super::wire::ToSender;
use super::{FIRST_PULL, QUANTUM, pull_quanta};
use crate::event::packet::{Kind, Packet, flag};
use crate::host::nic_queue::Class;
use crate::ids::{FlowId, HostIx};
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use crate::spec::{TransportSpec, Uet};
use crate::transport::packet::coalescing::{Coalescing, map_from};
use crate::transport::packet::credits::{CreditGrant, Credits, List, PullTarget};
use crate::transport::packet::receiver_base::ReceiverBase;
use crate::transport::packet::{HostPacers, PacketReceiver, full, has_base, parameters};
use crate::transport::uet::nscc::largest_window;
use incast_cc::Time;

/// Number of entropies of pulls.
const PULL_ENTROPIES: u16 = 128;
/// Quanta whose time an empty grant takes.
const EMPTY: u32 = 4;

/// Returns whether a packet was trimmed at the last hop, where another path would not help.
fn trimmed_at_last_hop(p: &Packet) -> bool {
    p.trimmed_after().is_some_and(|links| links + 1 == p.hop as u32)
}

/// UET receiver. Credit is in quanta.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// Common state of receivers.
    pub base: ReceiverBase,
    /// Credit given, the sender's target, and the demand of trimmed packets.
    credit_granted: u32,
    pull_target: u32,
    rtx_backlog: u32,
    /// Set while the flow is in the active list of its host's pacer.
    active: bool,
    /// First-time bytes received, modulo 2^32.
    received_bytes: u32,
    acks: Coalescing,
    /// Entropy of the last pull.
    entropy: u16,
    /// Round-trip time of the fabric.
    rtt: Time,
    /// Largest window of a sender, in bytes.
    window: u64,
}

impl PacketReceiver for Receiver {
    type Pacer = CoreRate;

    has_base!(ReceiverBase);

    fn new(net: &FabricMap, flow: FlowId, host: HostIx) -> Receiver {
        let uet = parameters::<Uet>(net.transport(net.flow(flow).transport));
        let env = net.envs.env(flow);
        let rtt = uet.rtt.unwrap_or(env.base_rtt);
        Receiver {
            base: ReceiverBase::new(net, flow, host),
            credit_granted: FIRST_PULL,
            pull_target: FIRST_PULL,
            rtx_backlog: 0,
            active: false,
            received_bytes: 0,
            acks: Coalescing::default(),
            entropy: 0,
            rtt,
            window: largest_window(rtt, env.line_rate) as u64,
        }
    }

    fn on_packet(&mut self, ctx: &mut NodeCtx<impl Effects>, pacers: &mut HostPacers<CoreRate>, p: &Packet) {
        let t = ctx.net.transport(self.base.transport);
        self.count(ctx, pacers.own, t, p);
        let credits = &mut *pacers.credits;
        match p.kind() {
            Kind::Rts => self.on_rts(ctx, credits, t, p),
            Kind::Probe => {
                let from = map_from(&self.base, p.seq() as u32);
                self.acknowledge(ctx, p, from);
            }
            _ if p.is_trimmed() => {
                self.base.count_trimmed(ctx, p);
                self.on_trimmed(ctx, credits, t, p);
            }
            _ if self.base.ip.is_whole(ctx, p) => self.on_data(ctx, credits, t, p),
            _ => {}
        }
    }

    fn grant(&mut self, ctx: &mut NodeCtx<impl Effects>, core: &mut CoreRate, list: List) -> Option<CreditGrant> {
        let t = ctx.net.transport(self.base.transport);
        if !parameters::<Uet>(t).htsim && self.base.is_complete() {
            return Some(self.leave(list));
        }
        let max = pull_quanta(t);
        let quanta = match list {
            List::Idle => max,
            _ => max.min(self.pull_target.saturating_sub(self.credit_granted).max(self.rtx_backlog)),
        };
        self.credit_granted += quanta;
        self.rtx_backlog = self.rtx_backlog.saturating_sub(quanta);
        self.entropy = (self.entropy + 1) % PULL_ENTROPIES;
        self.base.send(ctx, Class::Fifo, ToSender::Pull { credit: self.credit_granted }.encode(), self.entropy);
        let port = &ctx.ports[ctx.hosts[self.base.ip.host].port];
        // with the link's overhead of each packet that the credit pays for
        let wire = port.serialization(full(t)).0 as f64 * QUANTUM as f64 / full(t) as f64;
        let quantum = (wire / parameters::<Uet>(t).pull_rate) as u64;
        let quantum = match parameters::<Uet>(t).oversubscription == 1.0 {
            true => quantum,
            false => {
                self.bring_up(ctx, core, t);
                (quantum as f64 / core.rate()) as u64
            }
        };
        let gap = Time(quantum * if quanta == 0 { EMPTY } else { quanta } as u64);
        let short = self.credit_granted < self.pull_target || self.rtx_backlog > 0;
        let next = match list {
            List::Idle => {
                let ahead = self.credit_granted.saturating_sub(self.pull_target) as u64;
                (!short && ahead < self.window / QUANTUM).then_some(List::Idle)
            }
            _ if short => Some(List::Active),
            _ => {
                self.active = false;
                Some(List::Idle)
            }
        };
        // a grant is at least a quantum, however small packets are
        debug_assert!(quanta as u64 * QUANTUM <= (super::PULL * full(t)).max(QUANTUM));
        Some(CreditGrant { gap, next })
    }
}

impl Receiver {
    /// Counts the fate of a packet in the core, if the host's credit depends on it.
    fn count(&self, ctx: &NodeCtx<impl Effects>, core: &mut CoreRate, t: &TransportSpec, p: &Packet) {
        if parameters::<Uet>(t).oversubscription == 1.0 {
            return;
        }
        let fate = match p.is_trimmed() {
            true if trimmed_at_last_hop(p) => Fate::TrimmedAtLastHop,
            true => Fate::TrimmedInCore,
            false if p.has(flag::CE) => Fate::Marked,
            false => Fate::Good,
        };
        self.bring_up(ctx, core, t);
        core.count(fate);
    }

    /// Brings the credit rate of the host up to now.
    fn bring_up(&self, ctx: &NodeCtx<impl Effects>, core: &mut CoreRate, t: &TransportSpec) {
        let place = (ctx.net.spec.seed, ctx.hosts[self.base.ip.host].node);
        core.pass(place, ctx.now, self.rtt, parameters::<Uet>(t).oversubscription);
    }

    fn on_data(&mut self, ctx: &mut NodeCtx<impl Effects>, credits: &mut Credits, t: &TransportSpec, p: &Packet) {
        self.raise_pull_target(ctx, credits, t, PullTarget::read(p).0);
        let (is_new, due) = self.acks.take(ctx, &mut self.base, t, p, parameters::<Uet>(t).ack_bytes);
        if is_new {
            self.received_bytes = self.received_bytes.wrapping_add(p.size as u32);
        }
        if let Some(from) = due {
            self.acknowledge(ctx, p, from);
        }
    }

    fn on_trimmed(&mut self, ctx: &mut NodeCtx<impl Effects>, credits: &mut Credits, t: &TransportSpec, p: &Packet) {
        let number = p.seq() as u32;
        if self.base.received.has(number) {
            let from = map_from(&self.base, number);
            return self.acknowledge(ctx, p, from);
        }
        self.raise_pull_target(ctx, credits, t, PullTarget::read(p).0);
        let message = ToSender::Nack {
            number,
            received: self.received_bytes,
            marked: p.has(flag::CE),
            at_last_hop: trimmed_at_last_hop(p),
        };
        self.base.send(ctx, Class::Fifo, message.encode(), p.entropy());
        if !parameters::<Uet>(t).htsim {
            // the target in the packet assumed that it would arrive
            self.rtx_backlog += full(t).div_ceil(QUANTUM) as u32;
        }
        self.join(ctx, credits, t);
    }

    /// Handles a request for credit.
    fn on_rts(&mut self, ctx: &mut NodeCtx<impl Effects>, credits: &mut Credits, t: &TransportSpec, p: &Packet) {
        let number = p.seq() as u32;
        self.base.note_more();
        self.raise_pull_target(ctx, credits, t, PullTarget::read(p).0);
        self.join(ctx, credits, t);
        self.base.received.insert(number, 0);
        self.acknowledge(ctx, p, number);
    }

    /// Raises the target: the sender can use credit up to `target`.
    fn raise_pull_target(
        &mut self,
        ctx: &mut NodeCtx<impl Effects>,
        credits: &mut Credits,
        t: &TransportSpec,
        target: u32,
    ) {
        if parameters::<Uet>(t).credit() && target > self.pull_target {
            self.pull_target = target;
            self.join(ctx, credits, t);
        }
    }

    /// Joins the active flows of the host's pacer.
    fn join(&mut self, ctx: &mut NodeCtx<impl Effects>, credits: &mut Credits, t: &TransportSpec) {
        if parameters::<Uet>(t).credit() && !self.active {
            self.active = true;
            credits.wait(ctx, self.base.ip.host, List::Active, self.base.flow);
        }
    }

    /// Sends an ACK with a bitmap from packet `from` on.
    fn acknowledge(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet, from: u32) {
        let received = &self.base.received;
        let message = ToSender::Ack {
            from,
            map: received.map(from),
            received: self.received_bytes,
            answers: (p.seq() as u32, received.out_of_order()),
            marked: p.has(flag::CE) && !p.is_trimmed(),
            again: p.has(flag::RETX),
            probe: p.is(Kind::Probe),
        };
        self.base.send(ctx, Class::Fifo, message.encode(), p.entropy());
    }

    /// Leaves the pacer's list once all that was written has arrived: the remaining demand gets no credit.
    fn leave(&mut self, list: List) -> CreditGrant {
        if list == List::Active {
            (self.active, self.rtx_backlog) = (false, 0);
        }
        self.pull_target = self.pull_target.min(self.credit_granted);
        CreditGrant { gap: Time::ZERO, next: None }
    }
}
