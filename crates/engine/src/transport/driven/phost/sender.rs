//! The sending endpoint: messages one after the other, each announced, and a packet for each token.

use super::{CONTROL, PacketTime, parameters, tell_token};
use crate::event::order::Timer;
use crate::event::packet::{Answer, Kind, Packet, flag};
use crate::host::driven::Class;
use crate::ids::{FlowId, HostIx};
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use crate::transport::driven::front::Sending;
use crate::transport::driven::plan::Plan;
use incast_cc::Time;
use incast_record::FlowRecord;
use std::collections::{BTreeSet, VecDeque};

/// Messages that are announced again at once: 4 kB of requests.
const ASKED_AT_ONCE: usize = 64;

/// A sender.
#[derive(Debug)]
pub struct Sender {
    /// What every sender has.
    pub base: Sending,
    /// Messages that have not arrived as far as is known; the last may be under way.
    messages: VecDeque<Message>,
    /// The packet after the first of these, and after the last.
    first_end: u32,
    end: u32,
    /// Bytes of the last that are not cut into packets yet.
    left: u64,
    /// The message that its application has given up.
    cut: Option<Plan>,
    /// Tokens that may be used: those that die first come first.
    tokens: BTreeSet<Token>,
    /// Packets that the receiver lacks of the last message, as the latest token says.
    lacks: u64,
    /// It waits for its turn at the host's wire.
    waits: bool,
    /// When something of the first message was sent or heard last.
    quiet: Time,
    /// Tokens it has had, those that died, and those that were for what had arrived or does not come.
    got: u64,
    expired: u64,
    unused: u64,
}

/// A message that has been announced.
#[derive(Clone, Copy, Debug)]
struct Message {
    plan: Plan,
    /// The receiver has said something of it.
    known: bool,
}

/// A packet may go.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Token {
    /// It may still then.
    until: Time,
    /// Its number among the message's.
    token: u32,
    /// The packet.
    number: u32,
}

impl Sender {
    /// The sender of flow `flow` on domain-local host `host`.
    pub fn new(net: &FabricMap, flow: FlowId, host: HostIx) -> Sender {
        Sender {
            base: Sending::new(net, flow, host),
            messages: VecDeque::new(),
            first_end: u32::MAX,
            end: 0,
            left: 0,
            cut: None,
            tokens: BTreeSet::new(),
            lacks: 0,
            waits: false,
            quiet: Time::ZERO,
            got: 0,
            expired: 0,
            unused: 0,
        }
    }

    /// The flow opens.
    pub fn open(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        self.base.feed.open(ctx);
        self.pump(ctx);
    }

    /// The application may have written.
    pub fn on_backlog(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        self.pump(ctx);
    }

    /// What has been written since the last message was sent is the next: it is announced, and its first packets have
    /// tokens.
    fn begin(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if self.left > 0 || self.base.sent.has_lost() || self.base.feed.is_finished() {
            return;
        }
        let size = self.base.feed.backlog(ctx.now).min(u32::MAX as u64);
        if size == 0 {
            return self.base.feed.wait(ctx);
        }
        let t = ctx.net.transport(self.base.transport);
        let own = parameters(t);
        let plan = Plan { first: self.base.sent.next(), size: size as u32 };
        self.end = plan.end(0, t.mss);
        let packets = self.end - plan.first;
        let free = own.free_of(packets);
        let until = ctx.now.saturating_add(PacketTime::of(ctx, t, self.base.ip.host).times(free as f64 + own.expiry));
        self.tokens.extend((0..free).map(|i| Token { until, token: i, number: plan.first + i }));
        self.got += free as u64;
        self.messages.push_back(Message { plan, known: false });
        self.note_first();
        (self.left, self.lacks) = (size, packets as u64);
        self.announce(ctx, plan, 0);
    }

    /// Says how long a message is.
    fn announce(&mut self, ctx: &mut NodeCtx<impl Effects>, plan: Plan, flags: u16) {
        let size = ctx.net.transport(self.base.transport).ack_size;
        let mut packet = self.base.control(ctx, Kind::Rts, plan.first, size, 0);
        packet.flags |= flags;
        packet.ack = plan.told();
        packet.set_class(CONTROL);
        self.note_time(ctx.now, plan.first);
        ctx.emit(self.base.ip.host, Class::Control, &packet);
    }

    fn note_first(&mut self) {
        let mss = self.base.sizes.0;
        self.first_end = self.messages.front().map_or(u32::MAX, |message| message.plan.end(0, mss));
    }

    /// Something of packet `number` or its message is sent or heard. The receiver speaks of later messages even where
    /// it does not know of the first.
    fn note_time(&mut self, now: Time, number: u32) {
        if number < self.first_end {
            self.quiet = now;
        }
    }

    /// The message that a packet is of.
    fn message_of(&mut self, number: u32) -> Option<&mut Message> {
        let later = self.messages.partition_point(|message| message.plan.first <= number);
        self.messages.get_mut(later.checked_sub(1)?)
    }

    /// A packet may go. Tokens that died, or are for what has arrived, are thrown away.
    fn may_send(&mut self, now: Time) -> bool {
        while let Some(token) = self.tokens.first() {
            if token.until < now {
                self.expired += 1;
            } else if token.number < self.base.sent.base() || token.number >= self.end {
                self.unused += 1;
            } else {
                return true;
            }
            self.tokens.pop_first();
        }
        false
    }

    /// Sends what may go while the wire is free, or waits for its turn there.
    fn pump(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        self.begin(ctx);
        let (host, flow) = (self.base.ip.host, self.base.ip.flow);
        while !self.waits && self.may_send(ctx.now) {
            self.waits = !ctx.asks_for_wire_by(host, flow, self.lacks);
            if !self.waits {
                self.send(ctx);
                self.begin(ctx);
            }
        }
        self.arm(ctx);
    }

    /// It is its turn at the wire.
    pub fn on_turn(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        self.waits = false;
        if self.may_send(ctx.now) {
            self.send(ctx);
        }
        self.pump(ctx);
    }

    /// Sends the packet of the first token.
    fn send(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        let Some(Token { token, number, .. }) = self.tokens.pop_first() else { return };
        while self.base.sent.next() <= number {
            // those before it, whose tokens were lost or died, wait for others
            let Some((len, last)) = self.base.feed.take_at_most(ctx, self.left) else { return self.give_up(ctx) };
            self.left -= len as u64;
            self.base.sent.wait(ctx.now, len, last);
        }
        let Some(sent) = self.base.sent.send(ctx.now, number) else { return };
        let Some(&mut Message { plan, .. }) = self.message_of(number) else { return };
        let t = ctx.net.transport(self.base.transport);
        let again = if sent.times > 1 { flag::RETX } else { 0 };
        let flags = again | if sent.last { flag::PSH } else { 0 };
        let len = sent.len as u32;
        let mut packet = self.base.data(ctx, number, len, flags, t.header + len, 0);
        tell_token(&mut packet, token);
        packet.set_class(parameters(t).class_of(plan.size as u64));
        self.note_time(ctx.now, number);
        ctx.launch(self.base.ip.host, &packet);
    }

    /// The application has reset the connection: the message ends with what has been cut into packets.
    fn give_up(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        self.unused += 1;
        let left = std::mem::take(&mut self.left);
        let Some(Message { plan, .. }) = self.messages.back_mut() else { return };
        plan.size -= left as u32;
        let plan = *plan;
        self.cut = Some(plan);
        self.end = plan.end(0, self.base.sizes.0);
        self.note_first();
        self.announce(ctx, plan, flag::RETX);
    }

    /// A token or an acknowledgement arrived.
    pub fn on_packet(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet) {
        let answer = p.answered();
        self.base.acknowledge(ctx, answer.next);
        // a token says which packet, an acknowledgement which is after the message
        let about = if p.is(Kind::Pull) { answer.number } else { answer.number.saturating_sub(1) };
        self.note_time(ctx.now, about);
        if let Some(message) = self.message_of(about) {
            message.known = true;
        }
        match p.kind() {
            Kind::Ack if answer.echo > 0 => self.base.sample(ctx, ctx.now - Time(answer.echo)),
            Kind::Pull => self.on_token(ctx, &answer),
            _ => {}
        }
        while self.first_end <= answer.next {
            self.messages.pop_front();
            self.note_first();
            self.quiet = ctx.now;
        }
        if !self.base.feed.is_finished() {
            self.pump(ctx);
        }
    }

    fn on_token(&mut self, ctx: &mut NodeCtx<impl Effects>, answer: &Answer) {
        let t = ctx.net.transport(self.base.transport);
        self.got += 1;
        if answer.number >= self.end
            && let Some(plan) = self.cut
        {
            // the receiver has not heard that there is no more
            self.unused += 1;
            return self.announce(ctx, plan, flag::RETX);
        }
        self.lacks = answer.map;
        let life = PacketTime::of(ctx, t, self.base.ip.host).times(parameters(t).expiry);
        let until = ctx.now.saturating_add(life);
        if !self.tokens.insert(Token { until, token: answer.count, number: answer.number }) {
            self.unused += 1;
        }
    }

    /// One of its timers fired.
    pub fn on_timer(&mut self, ctx: &mut NodeCtx<impl Effects>, timer: Timer) {
        match timer {
            Timer::Retransmit(_) if self.base.rings(ctx.now) => {
                if self.deadline(ctx) <= ctx.now {
                    self.ask(ctx);
                }
                self.arm(ctx);
            }
            Timer::App(_) if self.base.feed.wakes(ctx.now) => self.pump(ctx),
            Timer::Stop(_) => self.base.feed.stop(ctx),
            _ => {}
        }
    }

    /// Announces once more the first message, and others that nobody has answered: so many at most, as a link that is
    /// down for long leaves thousands.
    fn ask(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        self.base.timed_out(ctx);
        self.quiet = ctx.now;
        let unanswered = self.messages.iter().enumerate().filter(|(i, message)| *i == 0 || !message.known);
        let plans: Vec<Plan> = unanswered.take(ASKED_AT_ONCE).map(|(_, message)| message.plan).collect();
        for plan in plans {
            self.announce(ctx, plan, flag::RETX);
        }
    }

    /// When it has heard nothing of the first message for long: whether the receiver knows of it, or has all of it. In
    /// between it is the receiver that gives tokens.
    fn deadline(&mut self, ctx: &NodeCtx<impl Effects>) -> Time {
        let Some(first) = self.messages.front() else { return Time::NEVER };
        let sent = self.messages.len() > 1 || self.left == 0 && !self.base.sent.has_lost();
        let asks = (!first.known || sent) && !self.may_send_first(ctx.now);
        match asks {
            true => self.quiet.saturating_add(ctx.net.transport(self.base.transport).rto_min),
            false => Time::NEVER,
        }
    }

    /// A packet of the first message may go.
    fn may_send_first(&mut self, now: Time) -> bool {
        self.may_send(now) && (self.messages.len() == 1 || self.tokens.iter().any(|t| t.number < self.first_end))
    }

    fn arm(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        let deadline = self.deadline(ctx);
        self.base.arm(ctx, deadline);
    }

    /// Adds what it knows to the flow's record.
    pub fn record(&self, record: &mut FlowRecord) {
        self.base.record(record);
    }

    /// Shows the state that time series are made of.
    pub fn observe(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        self.base.observe(visit);
        visit("tokens", self.got as f64);
        visit("tokens_expired", self.expired as f64);
        visit("tokens_unused", self.unused as f64);
        visit("tokens_held", self.tokens.len() as f64);
    }
}
