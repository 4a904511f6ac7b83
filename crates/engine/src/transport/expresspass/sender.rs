//! Sending endpoint: asks for credit, sends one packet per credit, and stops the credits.

use super::wire::{Credit, Request, ToSender};
use crate::event::packet::{Kind, Packet, flag};
use crate::ids::{FlowId, HostIx};
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use crate::spec::ExpressPass;
use crate::transport::packet::message::first_missing;
use crate::transport::packet::sender_base::SenderBase;
use crate::transport::packet::{PacketSender, has_base, parameters};
use incast_cc::Time;

/// ExpressPass sender.
#[derive(Debug)]
pub struct Sender {
    /// Common state of senders.
    pub base: SenderBase,
    state: State,
    /// Number of requests, repetitions excluded.
    session: u32,
    /// Time of the last request or stop.
    since: Time,
    /// Set if the request was sent once: its first credit gives an RTT sample.
    once: bool,
    /// Round trip from a request to the first credit.
    rtt: Option<Time>,
    /// Time of the last received packet.
    heard: Time,
    /// Start of the counting period, at most a round trip ago, and credits received since.
    period: Time,
    credits: u32,
    /// Credits received in all, and credits for which there was nothing to send.
    got: u64,
    wasted: u64,
}

/// State of a sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// Nothing to send.
    Idle,
    /// Waits for the first credit.
    Asking,
    /// Receives credits.
    Fed,
    /// Has asked the receiver to stop.
    Stopped,
}

impl PacketSender for Sender {
    has_base!(SenderBase);

    fn new(net: &FabricMap, flow: FlowId, host: HostIx) -> Sender {
        Sender {
            base: SenderBase::new(net, flow, host),
            state: State::Idle,
            session: 0,
            since: Time::ZERO,
            once: false,
            rtt: None,
            heard: Time::ZERO,
            period: Time::ZERO,
            credits: 0,
            got: 0,
            wasted: 0,
        }
    }

    fn on_backlog(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if matches!(self.state, State::Idle | State::Stopped) {
            if self.left(ctx) > 0 {
                self.ask(ctx);
            } else if !self.base.app.is_finished() {
                self.base.app.wait(ctx);
            }
        }
        self.arm(ctx);
    }

    fn on_packet(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet) {
        let Some(message) = ToSender::decode(p) else { return };
        self.heard = ctx.now;
        let next = first_missing(p);
        if self.base.acknowledge(ctx, next) > 0 && matches!(self.state, State::Idle | State::Stopped) {
            // the ACK may let the application write, and no credit may arrive that would check
            self.base.app.wait(ctx);
        }
        match message {
            ToSender::Credit { session, number, sent_at } => self.on_credit(ctx, session, Credit { number, sent_at }),
            ToSender::Nack {} => {
                // go back to the first missing packet
                (next..self.base.outstanding.next()).for_each(|number| {
                    self.base.outstanding.mark_lost(number);
                });
                if self.state == State::Stopped && self.left(ctx) > 0 {
                    self.ask(ctx);
                }
            }
            ToSender::Ack { sent_at } => sent_at.into_iter().for_each(|at| self.base.sample(ctx, ctx.now - at)),
        }
        self.arm(ctx);
    }

    /// Deadline of the current state.
    fn deadline(&mut self, ctx: &NodeCtx<impl Effects>) -> Time {
        let t = ctx.net.transport(self.base.transport);
        let left = self.left(ctx);
        match self.state {
            State::Idle => Time::NEVER,
            State::Asking => self.since.saturating_add(t.rto.rto_min),
            State::Fed => self.heard.saturating_add(t.rto.rto_initial),
            // stopped early, and the credits under way were too few
            State::Stopped if left > 0 => self.since + self.round_trip(ctx) * 2,
            State::Stopped if !self.base.outstanding.is_empty() => {
                self.since + (self.round_trip(ctx) * 2).max(t.rto.rto_min)
            }
            State::Stopped => Time::NEVER,
        }
    }

    fn expire(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        let left = self.left(ctx);
        if self.state != State::Stopped || left == 0 {
            self.base.timed_out(ctx);
        }
        match self.state {
            State::Stopped if left == 0 => self.stop(ctx, true),
            State::Asking => {
                self.once = false;
                self.tell(ctx, flag::RETX);
            }
            _ => self.ask(ctx),
        }
    }

    fn on_stop(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        self.base.app.stop(ctx);
        self.arm(ctx);
    }

    fn observe(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("credits", self.got as f64);
        visit("credits_wasted", self.wasted as f64);
    }
}

impl Sender {
    /// Packets to be sent or retransmitted.
    fn left(&mut self, ctx: &NodeCtx<impl Effects>) -> u32 {
        let new = self.base.app.backlog(ctx.now).div_ceil(self.base.sizes.0 as u64);
        (new + self.base.outstanding.lost() as u64).min(u32::MAX as u64) as u32
    }

    /// Asks for credit in a new session.
    fn ask(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        (self.state, self.once) = (State::Asking, true);
        self.session += 1;
        self.tell(ctx, 0);
    }

    /// Tells the receiver to stop; `again`: repeats it.
    fn stop(&mut self, ctx: &mut NodeCtx<impl Effects>, again: bool) {
        self.state = State::Stopped;
        self.tell(ctx, if again { flag::RETX } else { 0 });
        if !again && !self.base.app.is_finished() {
            self.base.app.wait(ctx);
        }
    }

    /// Sends the request, with the number of packets.
    fn tell(&mut self, ctx: &mut NodeCtx<impl Effects>, flags: u16) {
        self.since = ctx.now;
        let packets = if self.state == State::Stopped { 0 } else { self.left(ctx).max(1) };
        let size = ctx.net.transport(self.base.transport).sizes.ack_size;
        let mut packet = self.base.control(ctx, Kind::Rts, self.base.outstanding.next(), size, 0);
        packet.flags |= flags;
        Request { session: self.session, packets }.write(&mut packet);
        ctx.send(self.base.ip.host, &packet, None);
    }

    /// Sends a packet for a credit: the first to be retransmitted, or a new one. Returns false if there is none.
    fn send(&mut self, ctx: &mut NodeCtx<impl Effects>, credit: Credit) -> bool {
        let Some(out) = self.base.take(ctx, u64::MAX) else { return false };
        let size = self.base.sizes.1 + out.len;
        let mut packet = self.base.data(ctx, &out, size, 0);
        credit.write(&mut packet);
        ctx.send(self.base.ip.host, &packet, None);
        true
    }

    fn on_credit(&mut self, ctx: &mut NodeCtx<impl Effects>, session: u32, credit: Credit) {
        let own = parameters::<ExpressPass>(ctx.net.transport(self.base.transport));
        self.got += 1;
        if self.state == State::Asking && session == self.session {
            if self.once {
                self.rtt = Some(ctx.now - self.since);
            }
            (self.state, self.period, self.credits) = (State::Fed, ctx.now, 0);
        }
        self.credits += 1;
        if !self.send(ctx, credit) {
            self.wasted += 1;
            if self.state != State::Stopped {
                // packets to be retransmitted have been acknowledged
                self.stop(ctx, false);
            } else if ctx.now - self.since >= self.round_trip(ctx) * 2 {
                self.stop(ctx, true);
            }
            return;
        }
        let left = self.left(ctx);
        if left == 0 && self.state != State::Stopped {
            return self.stop(ctx, false);
        }
        if self.state == State::Fed && ctx.now - self.period >= self.round_trip(ctx) {
            if own.early_stop && self.credits >= left {
                self.stop(ctx, false);
            }
            (self.period, self.credits) = (ctx.now, 0);
        }
    }

    /// Measured round trip. Without a sample, as when the request was repeated, the minimum timeout.
    fn round_trip(&self, ctx: &NodeCtx<impl Effects>) -> Time {
        self.rtt.unwrap_or_else(|| ctx.net.transport(self.base.transport).rto.rto_min)
    }
}
