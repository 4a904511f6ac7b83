//! Sending endpoint: announces one message after the other, and sends one packet per token.

use super::rules::{CONTROL, PacketTime, TokenRules};
use super::wire::{ToSender, UsedToken};
use crate::event::packet::{Kind, Packet, flag};
use crate::host::nic_queue::Class;
use crate::ids::{FlowId, HostIx};
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use crate::transport::packet::message::first_missing;
use crate::transport::packet::segmentation::MessageRange;
use crate::transport::packet::sender_base::{Outgoing, SenderBase};
use crate::transport::packet::{PacketSender, has_base};
use incast_cc::Time;
use std::collections::{BTreeSet, VecDeque};
use std::marker::PhantomData;

/// Messages whose announcements are repeated at once: 4 kB of requests.
const ASKED_AT_ONCE: usize = 64;

/// Sender of a transport with tokens.
#[derive(Debug)]
pub struct Sender<R> {
    /// Common state of senders.
    pub base: SenderBase,
    /// Messages not known to have arrived; the last may be under way.
    messages: VecDeque<Message>,
    /// Packet after the first of these messages, and after the last.
    first_end: u32,
    end: u32,
    /// Bytes of the last message that are not yet in packets.
    left: u64,
    /// Message that the application has given up.
    cut: Option<MessageRange>,
    /// Usable tokens, by priority, then the first to expire.
    tokens: BTreeSet<Token>,
    /// Missing packets of the last message, according to the latest token.
    missing: u64,
    /// Time at which a packet of the first message was last sent or received.
    last_activity: Time,
    /// Tokens received, expired tokens, and tokens for packets that had arrived or do not come.
    tokens_received: u64,
    expired: u64,
    unused: u64,
    rules: PhantomData<R>,
}

/// Announced message.
#[derive(Clone, Copy, Debug)]
struct Message {
    range: MessageRange,
    /// Set once the receiver has responded to it.
    known: bool,
}

/// Token: the right to send one packet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Token {
    /// Priority, the lowest first.
    priority: u8,
    /// Time of expiry.
    until: Time,
    /// Number among the message's tokens.
    token: u32,
    /// Number of the packet.
    number: u32,
}

impl<R: TokenRules> PacketSender for Sender<R> {
    has_base!(SenderBase);

    fn new(net: &FabricMap, flow: FlowId, host: HostIx) -> Sender<R> {
        Sender {
            base: SenderBase::new(net, flow, host),
            messages: VecDeque::new(),
            first_end: u32::MAX,
            end: 0,
            left: 0,
            cut: None,
            tokens: BTreeSet::new(),
            missing: 0,
            last_activity: Time::ZERO,
            tokens_received: 0,
            expired: 0,
            unused: 0,
            rules: PhantomData,
        }
    }

    fn on_backlog(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        self.begin(ctx);
        while !self.base.waits_for_nic && self.may_send(ctx.now) && self.takes_slot(ctx) {
            self.send(ctx);
            self.begin(ctx);
        }
        self.arm(ctx);
    }

    fn on_packet(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet) {
        let Some(message) = ToSender::decode(p) else { return };
        let next = first_missing(p);
        let about = match message {
            ToSender::Token { number, .. } => number,
            // the last packet of the message
            ToSender::Ack { end, .. } => end.saturating_sub(1),
        };
        self.base.acknowledge(ctx, next);
        self.note_time(ctx.now, about);
        if let Some(message) = self.message_of(about) {
            message.known = true;
        }
        match message {
            ToSender::Ack { sent_at, .. } => sent_at.into_iter().for_each(|at| self.base.sample(ctx, ctx.now - at)),
            ToSender::Token { number, token, missing_priority: (missing, priority), until } => {
                self.on_token(ctx, Token { priority: priority as u8, until, token, number }, missing);
            }
        }
        while self.first_end <= next {
            self.messages.pop_front();
            self.note_first();
            self.last_activity = ctx.now;
        }
        if !self.base.app.is_finished() {
            self.on_backlog(ctx);
        }
    }

    fn on_tx_ready(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if self.may_send(ctx.now) {
            self.send(ctx);
        }
        self.on_backlog(ctx);
    }

    /// Timeout of the first message: asks whether the receiver knows it, or has all of it. In between the receiver
    /// gives tokens.
    fn deadline(&mut self, ctx: &NodeCtx<impl Effects>) -> Time {
        let Some(first) = self.messages.front() else { return Time::NEVER };
        let sent = self.messages.len() > 1 || self.left == 0 && !self.base.outstanding.has_lost();
        let asks = (!first.known || sent) && !self.may_send_first(ctx.now);
        match asks {
            true => self.last_activity.saturating_add(ctx.net.transport(self.base.transport).rto.rto_min),
            false => Time::NEVER,
        }
    }

    /// Repeats the announcements of the first message and of others without a response: at most [`ASKED_AT_ONCE`], as a
    /// link that is down for long leaves thousands.
    fn expire(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        self.base.timed_out(ctx);
        self.last_activity = ctx.now;
        let unanswered = self.messages.iter().enumerate().filter(|(i, message)| *i == 0 || !message.known);
        let ranges: Vec<MessageRange> = unanswered.take(ASKED_AT_ONCE).map(|(_, message)| message.range).collect();
        for range in ranges {
            self.announce(ctx, range, flag::RETX);
        }
    }

    fn observe(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("tokens", self.tokens_received as f64);
        visit("tokens_expired", self.expired as f64);
        visit("tokens_unused", self.unused as f64);
        visit("tokens_held", self.tokens.len() as f64);
    }
}

impl<R: TokenRules> Sender<R> {
    /// Takes the NIC of the host, if it is free; else the sender waits for it, in the order of its token's priority,
    /// then of what is missing.
    fn takes_slot(&mut self, ctx: &mut NodeCtx<impl Effects>) -> bool {
        let priority = self.tokens.first().map_or(0, |token| token.priority);
        self.base.takes_slot(ctx, Some((priority as u64) << 32 | self.missing))
    }

    /// Begins a message with all that has been written since the last one: announces it and makes the initial tokens.
    fn begin(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if self.left > 0 || self.base.outstanding.has_lost() || self.base.app.is_finished() {
            return;
        }
        let size = self.base.app.backlog(ctx.now).min(u32::MAX as u64);
        if size == 0 {
            return self.base.app.wait(ctx);
        }
        let t = ctx.net.transport(self.base.transport);
        let own = R::of(t);
        let range = MessageRange { first: self.base.outstanding.next(), size: size as u32 };
        self.end = range.end(0, t.sizes.mss);
        let packets = self.end - range.first;
        let free = own.free_of(packets);
        let until = own.free_until(ctx.now, free, PacketTime::of(ctx, t, self.base.ip.host));
        self.tokens.extend((0..free).map(|i| Token { priority: 0, until, token: i, number: range.first + i }));
        self.tokens_received += free as u64;
        self.messages.push_back(Message { range, known: false });
        self.note_first();
        (self.left, self.missing) = (size, packets as u64);
        self.announce(ctx, range, 0);
    }

    /// Announces a message and its length.
    fn announce(&mut self, ctx: &mut NodeCtx<impl Effects>, range: MessageRange, flags: u16) {
        let size = ctx.net.transport(self.base.transport).sizes.ack_size;
        let mut packet = self.base.control(ctx, Kind::Rts, range.first, size, 0);
        packet.flags |= flags;
        range.write(&mut packet);
        packet.set_class(CONTROL);
        self.note_time(ctx.now, range.first);
        ctx.emit(self.base.ip.host, Class::Control, &packet);
    }

    fn note_first(&mut self) {
        let mss = self.base.sizes.0;
        self.first_end = self.messages.front().map_or(u32::MAX, |message| message.range.end(0, mss));
    }

    /// Notes the time of a packet sent or received for packet `number`, if that belongs to the first message. The
    /// receiver responds about later messages even if it does not know of the first.
    fn note_time(&mut self, now: Time, number: u32) {
        if number < self.first_end {
            self.last_activity = now;
        }
    }

    /// Message of a packet.
    fn message_of(&mut self, number: u32) -> Option<&mut Message> {
        let later = self.messages.partition_point(|message| message.range.first <= number);
        self.messages.get_mut(later.checked_sub(1)?)
    }

    /// Returns whether a packet may go. Drops tokens that expired or are for received packets.
    fn may_send(&mut self, now: Time) -> bool {
        while let Some(token) = self.tokens.first() {
            if token.until < now {
                self.expired += 1;
            } else if token.number < self.base.outstanding.base() || token.number >= self.end {
                self.unused += 1;
            } else {
                return true;
            }
            self.tokens.pop_first();
        }
        false
    }

    /// Sends the packet of the first token.
    fn send(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        let Some(Token { token, number, .. }) = self.tokens.pop_first() else { return };
        while self.base.outstanding.next() <= number {
            // packets before it, whose tokens were lost or expired, wait for other tokens
            let Some((len, last)) = self.base.app.take_at_most(ctx, self.left) else { return self.give_up(ctx) };
            self.left -= len as u64;
            self.base.outstanding.push_waiting(ctx.now, len, last);
        }
        let Some(sent) = self.base.outstanding.send(ctx.now, number) else { return };
        let Some(&mut Message { range, .. }) = self.message_of(number) else { return };
        let t = ctx.net.transport(self.base.transport);
        let out = Outgoing { number, len: sent.len as u32, again: sent.times > 1, last: sent.last };
        let mut packet = self.base.data(ctx, &out, t.sizes.header + out.len, 0);
        UsedToken(token).write(&mut packet);
        let packets = range.end(0, t.sizes.mss) - range.first;
        packet.set_class(R::of(t).class_of(packets, range.size as u64, t.sizes.mss));
        self.note_time(ctx.now, number);
        ctx.send_in_slot(self.base.ip.host, &packet);
    }

    /// Ends the message with what is in packets, after the application has reset the connection.
    fn give_up(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        self.unused += 1;
        let left = std::mem::take(&mut self.left);
        let Some(Message { range, .. }) = self.messages.back_mut() else { return };
        range.size -= left as u32;
        let range = *range;
        self.cut = Some(range);
        self.end = range.end(0, self.base.sizes.0);
        self.note_first();
        self.announce(ctx, range, flag::RETX);
    }

    fn on_token(&mut self, ctx: &mut NodeCtx<impl Effects>, token: Token, missing: u32) {
        let t = ctx.net.transport(self.base.transport);
        self.tokens_received += 1;
        if token.number >= self.end
            && let Some(range) = self.cut
        {
            // the receiver does not know of the new end
            self.unused += 1;
            return self.announce(ctx, range, flag::RETX);
        }
        self.missing = missing as u64;
        let until = R::of(t).until(ctx.now, token.until, PacketTime::of(ctx, t, self.base.ip.host));
        if !self.tokens.insert(Token { until, ..token }) {
            self.unused += 1;
        }
    }

    /// Returns whether a packet of the first message may go.
    fn may_send_first(&mut self, now: Time) -> bool {
        self.may_send(now) && (self.messages.len() == 1 || self.tokens.iter().any(|t| t.number < self.first_end))
    }
}
