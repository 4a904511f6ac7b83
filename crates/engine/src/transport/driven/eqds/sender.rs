//! The sending endpoint: packets go on credit.

use super::{QUANTUM, full, parameters};
use crate::event::order::Timer;
use crate::event::packet::{Kind, Packet, flag};
use crate::host::driven::Class;
use crate::ids::{FlowId, HostIx};
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use crate::spec::TransportSpec;
use crate::transport::driven::entropies::Entropies;
use crate::transport::driven::front::Sending;
use incast_cc::Time;
use incast_record::FlowRecord;

/// A sender. Credit in bytes; it may end below zero.
#[derive(Debug)]
pub struct Sender {
    /// What every sender has.
    pub base: Sending,
    entropies: Entropies,
    /// Credit that the receiver gave, and what it began with.
    pulled: i64,
    speculative: i64,
    speculating: bool,
    /// The latest new packet was the last of what had been written.
    ended: bool,
    /// Credit that the receiver has given so far, and could be used, in quanta.
    given: u32,
    target: u32,
    /// It waits for its turn at the host's wire.
    waits: bool,
    /// When it asked for credit last.
    asked: Option<Time>,
    /// The number of that question.
    question: Option<u32>,
}

impl Sender {
    /// The sender of flow `flow` on domain-local host `host`.
    pub fn new(net: &FabricMap, flow: FlowId, host: HostIx) -> Sender {
        let eqds = parameters(net.transport(net.flow(flow).transport));
        Sender {
            base: Sending::new(net, flow, host),
            entropies: Entropies::new(net.spec.seed, flow, eqds.entropies, 1, false),
            pulled: 0,
            speculative: 0,
            speculating: false,
            ended: false,
            given: 0,
            target: 0,
            waits: false,
            asked: None,
            question: None,
        }
    }

    /// The flow opens.
    pub fn open(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        let t = ctx.net.transport(self.base.transport);
        self.speculative = parameters(t).window as i64 * full(t) as i64;
        self.speculating = true;
        self.base.feed.open(ctx);
        while self.pump(ctx) {}
        self.arm(ctx);
    }

    fn credit(&self) -> i64 {
        self.pulled + self.speculative
    }

    fn has_work(&mut self, now: Time) -> bool {
        self.base.sent.has_lost() || self.base.feed.backlog(now) > 0
    }

    /// Sends a packet if it may, which it says, or waits for its turn at the wire.
    fn pump(&mut self, ctx: &mut NodeCtx<impl Effects>) -> bool {
        if self.waits || !self.has_work(ctx.now) || self.credit() <= 0 {
            return false;
        }
        self.waits = !ctx.asks_for_wire(self.base.ip.host, self.base.ip.flow);
        !self.waits && self.send(ctx)
    }

    /// It is its turn at the wire. Whether it sends.
    pub fn on_turn(&mut self, ctx: &mut NodeCtx<impl Effects>) -> bool {
        self.waits = false;
        if self.credit() <= 0 || !self.has_work(ctx.now) || !self.send(ctx) {
            return false;
        }
        self.pump(ctx);
        true
    }

    /// Spends credit on a packet. Without pulled credit nothing goes once the speculation is over, but what is left of
    /// it shrinks, so that the target advances.
    fn spend(&mut self, size: i64) -> bool {
        if self.pulled > 0 {
            self.pulled -= size;
            return true;
        }
        self.speculative -= size;
        self.speculating
    }

    /// Sends the first packet that is to be sent again, or a new one. Whether credit lets it.
    fn send(&mut self, ctx: &mut NodeCtx<impl Effects>) -> bool {
        let t = ctx.net.transport(self.base.transport);
        let again = self.base.sent.first_lost();
        let len = match again {
            Some(sent) => sent.len as u64,
            None => self.base.feed.backlog(ctx.now).min(t.mss as u64),
        };
        if !self.spend((t.header as u64 + len) as i64) {
            return false;
        }
        let (number, len, flags, last) = match self.base.sent.resend(ctx.now) {
            Some((number, sent)) => (number, sent.len as u32, flag::RETX, sent.last),
            None => match self.base.feed.take(ctx) {
                Some((len, last)) => {
                    self.ended = last;
                    (self.base.sent.push(ctx.now, len, last), len, 0, last)
                }
                None => return false,
            },
        };
        let backlog = self.backlog(ctx.now, t);
        if again.is_none() {
            self.aim(t, backlog);
        }
        let flags = flags | if last { flag::PSH } else { 0 };
        let entropy = self.entropies.take();
        if len == 0 {
            // a request for credit that was lost
            self.emit_rts(ctx, number, entropy);
            return true;
        }
        let mut packet = self.base.data(ctx, number, len, flags, t.header + len, entropy);
        packet.ack = self.target as u64;
        packet.ask_for_ack(backlog == 0 || self.pulled < 0 || again.is_some());
        ctx.launch(self.base.ip.host, &packet);
        self.arm(ctx);
        true
    }

    /// Bytes that wait, with their headers.
    fn backlog(&mut self, now: Time, t: &TransportSpec) -> u64 {
        let bytes = self.base.feed.backlog(now);
        bytes + bytes.div_ceil(t.mss as u64) * t.header as u64
    }

    /// Up to where it could use credit.
    fn aim(&mut self, t: &TransportSpec, backlog: u64) {
        let eqds = parameters(t);
        let most = eqds.window as u64 * full(t);
        let mut needs = backlog.min(most) as i64 - self.credit();
        if !eqds.htsim && self.speculating && backlog > 0 {
            // the answer that ends the speculation may come before the rest has gone
            needs = needs.max(full(t) as i64);
        }
        self.target = if eqds.htsim {
            // rounds towards zero, and adds in 64 bits: below nothing it is a huge one
            let target = self.given as i64 + (needs + QUANTUM as i64 - 1) / QUANTUM as i64;
            u32::try_from(target).unwrap_or(u32::MAX / 2)
        } else {
            self.given.wrapping_add((needs.max(0) as u64).div_ceil(QUANTUM) as u32)
        };
    }

    /// An answer or credit arrived.
    pub fn on_packet(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet) {
        let answer = p.answered();
        self.base.acknowledge(ctx, answer.next);
        match p.kind() {
            Kind::Ack => {
                for i in (0..64).filter(|i| answer.map >> i & 1 > 0) {
                    if let Some(sent) = self.base.sent.arrived(answer.number + i)
                        && sent.times == 1
                    {
                        self.base.sample(ctx, ctx.now - sent.at);
                    }
                }
                if p.has(flag::ECE) {
                    self.entropies.penalise(p.entropy(), 1);
                }
            }
            Kind::Nack => {
                self.base.sent.lose(answer.number);
                self.pump(ctx);
                self.entropies.penalise(p.entropy(), 1);
            }
            Kind::Pull => {
                let more = answer.count.wrapping_sub(self.given) as i32;
                if more > 0 {
                    self.given = answer.count;
                    self.pulled += more as i64 * QUANTUM as i64;
                }
            }
            _ => return,
        }
        self.stop_speculating(ctx);
        if !self.base.feed.is_finished() {
            self.begin_anew(ctx);
            self.pump(ctx);
        }
        self.arm(ctx);
    }

    /// The first answer has come. What is left of the speculative credit is of no use, and is not to be taken for any.
    fn stop_speculating(&mut self, ctx: &NodeCtx<impl Effects>) {
        self.speculating = false;
        if !parameters(ctx.net.transport(self.base.transport)).htsim {
            self.speculative = self.speculative.min(0);
        }
    }

    /// One of its timers fired.
    pub fn on_timer(&mut self, ctx: &mut NodeCtx<impl Effects>, timer: Timer) {
        match timer {
            Timer::Retransmit(_) if self.base.rings(ctx.now) => self.expire(ctx),
            Timer::App(_) if self.base.feed.wakes(ctx.now) => self.on_backlog(ctx),
            Timer::Stop(_) => self.base.feed.stop(ctx),
            _ => {}
        }
    }

    /// The application may have written.
    pub fn on_backlog(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        self.begin_anew(ctx);
        while self.pump(ctx) {}
        self.arm(ctx);
    }

    /// All that was written before has arrived, and there is more: it speculates again.
    fn begin_anew(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if self.ended && self.base.sent.is_empty() && self.base.feed.backlog(ctx.now) > 0 {
            let t = ctx.net.transport(self.base.transport);
            let window = parameters(t).window as i64 * full(t) as i64;
            self.pulled = self.pulled.max(0);
            (self.ended, self.speculating, self.speculative) = (false, true, (window - self.pulled).max(0));
        }
    }

    fn arm(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if self.base.feed.backlog(ctx.now) == 0 {
            self.base.feed.wait(ctx);
        }
        let works = self.has_work(ctx.now);
        let deadline = self.base.deadline(ctx, works);
        self.base.arm(ctx, deadline);
    }

    /// The oldest packet has been away for too long: it goes again, or the receiver is asked for credit.
    #[cold]
    fn expire(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        let timeout = ctx.net.transport(self.base.transport).rto_min;
        let others = self.base.sent.has_lost();
        match self.base.sent.oldest() {
            Some((at, number)) if at + timeout <= ctx.now => {
                self.base.timed_out(ctx);
                self.base.sent.lose(number);
                self.pump(ctx);
            }
            Some(_) => return self.arm(ctx),
            None => {
                // what is left of the speculation moves nothing
                self.speculative = self.speculative.min(0);
                self.pump(ctx);
            }
        }
        if self.has_work(ctx.now) && !self.waits && (others || self.credit() <= 0) {
            self.rts(ctx);
        }
        self.arm(ctx);
    }

    /// Asks for credit, at most once a timeout, and with one question at a time: one without an answer is asked again.
    fn rts(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        let t = ctx.net.transport(self.base.transport);
        if self.asked.is_some_and(|asked| ctx.now - asked < t.rto_min) {
            return;
        }
        if !parameters(t).htsim {
            let backlog = self.backlog(ctx.now, t);
            self.aim(t, backlog);
        }
        let last = self.question.filter(|_| !parameters(t).htsim);
        let Some((number, _)) = self.base.sent.ask(ctx.now, last) else { return };
        self.question = Some(number);
        let entropy = self.entropies.take();
        self.emit_rts(ctx, number, entropy);
    }

    fn emit_rts(&mut self, ctx: &mut NodeCtx<impl Effects>, number: u32, entropy: u16) {
        let t = ctx.net.transport(self.base.transport);
        self.asked = Some(ctx.now);
        let mut packet = self.base.control(ctx, Kind::Rts, number, t.ack_size, entropy);
        packet.ack = self.target as u64;
        ctx.emit(self.base.ip.host, Class::Fifo, &packet);
        self.arm(ctx);
    }

    /// Adds what it knows to the flow's record.
    pub fn record(&self, record: &mut FlowRecord) {
        self.base.record(record);
    }

    /// Shows the state that time series are made of.
    pub fn observe(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        self.base.observe(visit);
        visit("credit_bytes", self.credit() as f64);
    }
}
