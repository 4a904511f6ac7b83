//! Sending endpoint: packets go on credit.

use super::QUANTUM;
use super::wire::ToSender;
use crate::event::packet::{Kind, Packet};
use crate::host::nic_queue::Class;
use crate::ids::{FlowId, HostIx};
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use crate::spec::{Eqds, TransportSpec};
use crate::transport::packet::credits::PullTarget;
use crate::transport::packet::entropies::Entropies;
use crate::transport::packet::message::first_missing;
use crate::transport::packet::sender_base::SenderBase;
use crate::transport::packet::{PacketSender, full, has_base, parameters};
use incast_cc::Time;

/// EQDS sender. Credit is in bytes and may fall below zero.
#[derive(Debug)]
pub struct Sender {
    /// Common state of senders.
    pub base: SenderBase,
    entropies: Entropies,
    /// Remaining credit from the receiver, and remaining speculative credit.
    pulled: i64,
    speculative: i64,
    speculating: bool,
    /// Set if the latest new packet was the last of what had been written.
    ended: bool,
    /// Cumulative credit from the receiver, and the credit target, in quanta.
    credit_granted: u32,
    pull_target: u32,
    /// Time of the last request for credit.
    requested_at: Option<Time>,
    /// Number of the outstanding request.
    request: Option<u32>,
}

impl PacketSender for Sender {
    has_base!(SenderBase);

    fn new(net: &FabricMap, flow: FlowId, host: HostIx) -> Sender {
        let eqds = parameters::<Eqds>(net.transport(net.flow(flow).transport));
        Sender {
            base: SenderBase::new(net, flow, host),
            entropies: Entropies::new(net.spec.seed, flow, eqds.entropies, 1, false),
            pulled: 0,
            speculative: 0,
            speculating: false,
            ended: false,
            credit_granted: 0,
            pull_target: 0,
            requested_at: None,
            request: None,
        }
    }

    fn open(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        let t = ctx.net.transport(self.base.transport);
        self.speculative = parameters::<Eqds>(t).window as i64 * full(t) as i64;
        self.speculating = true;
        self.base.app.open(ctx);
        while self.pump(ctx) {}
        self.arm(ctx);
    }

    fn on_backlog(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        self.begin_anew(ctx);
        while self.pump(ctx) {}
        self.arm(ctx);
    }

    fn on_packet(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet) {
        let Some(message) = ToSender::decode(p) else { return };
        self.base.acknowledge(ctx, first_missing(p));
        match message {
            ToSender::Ack { from, map, marked } => {
                for i in (0..64).filter(|i| map >> i & 1 > 0) {
                    if let Some(sent) = self.base.outstanding.mark_arrived(from + i)
                        && sent.times == 1
                    {
                        self.base.sample(ctx, ctx.now - sent.at);
                    }
                }
                if marked {
                    self.entropies.penalise(p.entropy(), 1);
                }
            }
            ToSender::Nack { number } => {
                self.base.outstanding.mark_lost(number);
                self.pump(ctx);
                self.entropies.penalise(p.entropy(), 1);
            }
            ToSender::Pull { credit } => {
                let more = credit.wrapping_sub(self.credit_granted) as i32;
                if more > 0 {
                    self.credit_granted = credit;
                    self.pulled += more as i64 * QUANTUM as i64;
                }
            }
        }
        self.stop_speculating(ctx);
        if !self.base.app.is_finished() {
            self.begin_anew(ctx);
            self.pump(ctx);
        }
        self.arm(ctx);
    }

    fn on_tx_ready(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if self.credit() > 0 && self.has_work(ctx.now) && self.send(ctx) {
            self.pump(ctx);
        }
    }

    fn deadline(&mut self, ctx: &NodeCtx<impl Effects>) -> Time {
        let works = self.has_work(ctx.now);
        self.base.deadline(ctx, works)
    }

    fn arm(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if self.base.app.backlog(ctx.now) == 0 {
            self.base.app.wait(ctx);
        }
        let deadline = self.deadline(ctx);
        self.base.arm(ctx, deadline);
    }

    /// Handles a timeout of the oldest packet: retransmits it, or asks the receiver for credit.
    #[cold]
    fn on_retransmission_timer(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        let timeout = ctx.net.transport(self.base.transport).rto.rto_min;
        let others = self.base.outstanding.has_lost();
        match self.base.outstanding.oldest() {
            Some((at, number)) if at + timeout <= ctx.now => {
                self.base.timed_out(ctx);
                self.base.outstanding.mark_lost(number);
                self.pump(ctx);
            }
            Some(_) => return self.arm(ctx),
            None => {
                // the rest of the speculative credit moves nothing
                self.speculative = self.speculative.min(0);
                self.pump(ctx);
            }
        }
        if self.has_work(ctx.now) && !self.base.waits_for_nic && (others || self.credit() <= 0) {
            self.request_credit(ctx);
        }
        self.arm(ctx);
    }

    fn observe(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("credit_bytes", self.credit() as f64);
    }
}

impl Sender {
    fn credit(&self) -> i64 {
        self.pulled + self.speculative
    }

    fn has_work(&mut self, now: Time) -> bool {
        self.base.outstanding.has_lost() || self.base.app.backlog(now) > 0
    }

    /// Sends a packet if credit and the NIC allow it, and returns true; may queue for the NIC.
    fn pump(&mut self, ctx: &mut NodeCtx<impl Effects>) -> bool {
        if self.base.waits_for_nic || !self.has_work(ctx.now) || self.credit() <= 0 {
            return false;
        }
        self.base.takes_slot(ctx, None) && self.send(ctx)
    }

    /// Spends credit on a packet. Returns false without pulled credit after the speculation; the speculative credit
    /// still shrinks, so that the target advances.
    fn spend(&mut self, size: i64) -> bool {
        if self.pulled > 0 {
            self.pulled -= size;
            return true;
        }
        self.speculative -= size;
        self.speculating
    }

    /// Sends the first packet to be retransmitted, or a new one. Returns false if credit forbids it.
    fn send(&mut self, ctx: &mut NodeCtx<impl Effects>) -> bool {
        let t = ctx.net.transport(self.base.transport);
        let len = match self.base.outstanding.first_lost() {
            Some(sent) => sent.len as u64,
            None => self.base.app.backlog(ctx.now).min(t.sizes.mss as u64),
        };
        if !self.spend((t.sizes.header as u64 + len) as i64) {
            return false;
        }
        let Some(out) = self.base.take(ctx, u64::MAX) else { return false };
        let backlog = self.backlog(ctx.now, t);
        if !out.again {
            self.ended = out.last;
            self.set_pull_target(t, backlog);
        }
        let entropy = self.entropies.take();
        if out.len == 0 {
            // a lost request for credit
            self.emit_request(ctx, out.number, entropy);
            return true;
        }
        let mut packet = self.base.data(ctx, &out, t.sizes.header + out.len, entropy);
        PullTarget(self.pull_target).write(&mut packet);
        packet.ask_for_ack(backlog == 0 || self.pulled < 0 || out.again);
        ctx.send_in_slot(self.base.ip.host, &packet);
        self.arm(ctx);
        true
    }

    /// Waiting bytes, with headers.
    fn backlog(&mut self, now: Time, t: &TransportSpec) -> u64 {
        let bytes = self.base.app.backlog(now);
        bytes + bytes.div_ceil(t.sizes.mss as u64) * t.sizes.header as u64
    }

    /// Sets the credit target.
    fn set_pull_target(&mut self, t: &TransportSpec, backlog: u64) {
        let eqds = parameters::<Eqds>(t);
        let max = eqds.window as u64 * full(t);
        let mut needs = backlog.min(max) as i64 - self.credit();
        if !eqds.htsim && self.speculating && backlog > 0 {
            // the response that ends the speculation may arrive before the rest has gone
            needs = needs.max(full(t) as i64);
        }
        self.pull_target = if eqds.htsim {
            // htsim rounds towards zero and adds in 64 bits: a negative target becomes a huge one
            let target = self.credit_granted as i64 + (needs + QUANTUM as i64 - 1) / QUANTUM as i64;
            u32::try_from(target).unwrap_or(u32::MAX / 2)
        } else {
            self.credit_granted.wrapping_add((needs.max(0) as u64).div_ceil(QUANTUM) as u32)
        };
    }

    /// Ends the speculation at the first response. The remaining speculative credit is void.
    fn stop_speculating(&mut self, ctx: &NodeCtx<impl Effects>) {
        self.speculating = false;
        if !parameters::<Eqds>(ctx.net.transport(self.base.transport)).htsim {
            self.speculative = self.speculative.min(0);
        }
    }

    /// Speculates again if all earlier data has arrived and there is more.
    fn begin_anew(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if self.ended && self.base.outstanding.is_empty() && self.base.app.backlog(ctx.now) > 0 {
            let t = ctx.net.transport(self.base.transport);
            let window = parameters::<Eqds>(t).window as i64 * full(t) as i64;
            self.pulled = self.pulled.max(0);
            (self.ended, self.speculating, self.speculative) = (false, true, (window - self.pulled).max(0));
        }
    }

    /// Asks for credit, at most once per timeout. A request without a response is repeated before another is made.
    fn request_credit(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        let t = ctx.net.transport(self.base.transport);
        if self.requested_at.is_some_and(|asked| ctx.now - asked < t.rto.rto_min) {
            return;
        }
        if !parameters::<Eqds>(t).htsim {
            let backlog = self.backlog(ctx.now, t);
            self.set_pull_target(t, backlog);
        }
        let last = self.request.filter(|_| !parameters::<Eqds>(t).htsim);
        let Some((number, _)) = self.base.outstanding.send_request(ctx.now, last) else { return };
        self.request = Some(number);
        let entropy = self.entropies.take();
        self.emit_request(ctx, number, entropy);
    }

    fn emit_request(&mut self, ctx: &mut NodeCtx<impl Effects>, number: u32, entropy: u16) {
        let t = ctx.net.transport(self.base.transport);
        self.requested_at = Some(ctx.now);
        let mut packet = self.base.control(ctx, Kind::Rts, number, t.sizes.ack_size, entropy);
        PullTarget(self.pull_target).write(&mut packet);
        ctx.emit(self.base.ip.host, Class::Fifo, &packet);
        self.arm(ctx);
    }
}
