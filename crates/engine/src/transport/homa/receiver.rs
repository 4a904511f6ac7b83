//! Receiving endpoint: received and missing parts of messages, and requests to resend.

use super::pacer::{Message, Scheduled};
use super::wire::ToSender;
use crate::event::order::Timer;
use crate::event::packet::{Kind, Packet, flag};
use crate::host::nic_queue::Class;
use crate::ids::{FlowId, HostIx};
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use crate::spec::Homa;
use crate::transport::packet::receiver_base::ReceiverBase;
use crate::transport::packet::segmentation::{MessageRange, Rank};
use crate::transport::packet::{HostPacers, PacketReceiver, Receivers, has_base, parameters};
use incast_cc::Time;
use std::collections::BTreeMap;

/// Homa receiver.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// Common state of receivers.
    pub base: ReceiverBase,
    src: u32,
    /// Latest message; its received bytes, its granted bytes, and the packet after the granted ones.
    range: MessageRange,
    received: u64,
    granted: u64,
    granted_end: u32,
    /// Start of the latest message.
    since: Option<Time>,
    /// Ends (packet after the last) of incomplete messages, and the time at which each last received something.
    ends: BTreeMap<u32, Time>,
    /// Time of the event that checks for missing packets.
    at: Time,
}

impl PacketReceiver for Receiver {
    type Pacer = Scheduled;
    // credit after pulls and before grants
    const AFTER_CREDIT: bool = true;

    has_base!(ReceiverBase);

    fn new(net: &FabricMap, flow: FlowId, host: HostIx) -> Receiver {
        Receiver {
            base: ReceiverBase::new(net, flow, host),
            src: net.flow(flow).src,
            range: MessageRange::default(),
            received: 0,
            granted: 0,
            granted_end: 0,
            since: None,
            ends: BTreeMap::new(),
            at: Time::NEVER,
        }
    }

    fn on_packet(&mut self, ctx: &mut NodeCtx<impl Effects>, pacers: &mut HostPacers<Scheduled>, p: &Packet) {
        if p.is(Kind::Probe) {
            self.note_message(ctx, MessageRange::read(p));
            self.on_probe(ctx, p.seq() as u32);
        } else if p.is_trimmed() {
            self.base.ip.count_trimmed(ctx, p);
            self.note_message(ctx, MessageRange::read(p));
        } else if self.base.ip.is_whole(ctx, p) {
            self.note_message(ctx, MessageRange::read(p));
            self.on_data(ctx, p);
        }
        self.wait_for_grants(ctx, pacers.own);
        self.arm(ctx);
    }

    fn on_timer(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if self.at != ctx.now {
            return;
        }
        self.at = Time::NEVER;
        if self.deadline(ctx) <= ctx.now {
            if let Some(mut first) = self.ends.first_entry() {
                first.insert(ctx.now);
            }
            self.request_resend(ctx);
        }
        self.arm(ctx);
    }

    fn on_pacer(
        ctx: &mut NodeCtx<impl Effects>,
        scheduled: &mut Scheduled,
        _host: HostIx,
        receivers: &mut impl Receivers<Receiver>,
    ) {
        if !scheduled.is_due(ctx.now) {
            return;
        }
        let Some(homa) = ctx.net.spec.transports.iter().find_map(|t| t.protocol.of::<Homa>()) else { return };
        loop {
            let active = scheduled.active(homa.overcommit());
            let mut ended = false;
            for (rank, flow) in active.iter().enumerate() {
                let level = homa.level_of_rank(rank, active.len());
                if receivers.of(*flow).is_none_or(|receiver| receiver.grant_up(ctx, level)) {
                    scheduled.set(*flow, None);
                    ended = true;
                }
            }
            scheduled.keep(active);
            if !ended {
                return;
            }
        }
    }
}

impl Receiver {
    /// Updates the messages from the message description in every packet.
    fn note_message(&mut self, ctx: &NodeCtx<impl Effects>, range: MessageRange) {
        let t = ctx.net.transport(self.base.transport);
        let unscheduled = parameters::<Homa>(t).unscheduled;
        let end = range.end(unscheduled, t.sizes.mss);
        let is_new = self.since.is_none() || range.first > self.range.first;
        if is_new {
            if range.first > self.base.received.next() {
                self.ends.entry(range.first).or_insert(ctx.now);
            }
            (self.since, self.received) = (Some(ctx.now), 0);
        } else if range.first < self.range.first || range.size >= self.range.size {
            // ends of unknown messages are unknown; this one may be complete
            let is_incomplete = end > self.base.received.next();
            if let Some((_, heard)) = self.ends.range_mut(end..).next().filter(|_| is_incomplete) {
                *heard = ctx.now;
            }
            return;
        } else {
            // the sender has given up the rest
            self.ends.remove(&self.range.end(unscheduled, t.sizes.mss));
        }
        self.range = range;
        self.granted = if is_new { unscheduled.min(range.size as u64) } else { range.size as u64 };
        self.granted_end = range.granted_end(self.granted, unscheduled, t.sizes.mss);
        if end > self.base.received.next() {
            self.ends.insert(end, ctx.now);
        }
    }

    fn on_data(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet) {
        let t = ctx.net.transport(self.base.transport);
        if !self.base.take(ctx, t, p) {
            return;
        }
        if p.seq() as u32 >= self.range.first {
            self.received += p.len as u64;
        }
        let next = self.base.received.next();
        if self.ends.first_key_value().is_some_and(|(end, _)| *end <= next) {
            self.ends = self.ends.split_off(&(next + 1));
            let sent_at = (!p.has(flag::RETX)).then(|| p.sent_at());
            self.send(ctx, ToSender::Ack { sent_at });
        }
    }

    /// Responds to a sender that asks what has arrived and has sent packets up to `sent`.
    fn on_probe(&mut self, ctx: &mut NodeCtx<impl Effects>, sent: u32) {
        self.send(ctx, ToSender::Ack { sent_at: None });
        if self.base.received.next() < sent.min(self.granted_end) {
            self.request_resend(ctx);
        }
    }

    fn send(&mut self, ctx: &mut NodeCtx<impl Effects>, message: ToSender) {
        self.base.send(ctx, Class::Control, message.encode(), 0);
    }

    /// Adds the message to its host's waiting messages, or removes it.
    fn wait_for_grants(&mut self, ctx: &mut NodeCtx<impl Effects>, scheduled: &mut Scheduled) {
        let (size, host) = (self.range.size as u64, self.base.ip.host);
        let message = (self.granted < size).then(|| {
            let rank = Rank { left: size - self.received, since: self.since.unwrap_or(ctx.now), flow: self.base.flow };
            Message { rank, src: self.src }
        });
        scheduled.wait(ctx, host, self.base.flow, message);
    }

    /// Grants at priority `level`, so that as many bytes as are unscheduled are outstanding. Returns whether the whole
    /// message is granted.
    fn grant_up(&mut self, ctx: &mut NodeCtx<impl Effects>, level: u8) -> bool {
        let t = ctx.net.transport(self.base.transport);
        let (unscheduled, size) = (parameters::<Homa>(t).unscheduled, self.range.size as u64);
        let bytes = (self.received + unscheduled.max(t.sizes.mss as u64)).min(size);
        let granted_end = self.range.granted_end(bytes, unscheduled, t.sizes.mss);
        if granted_end > self.granted_end {
            // a grant restarts the timeout of the latest message
            (self.granted_end, self.granted) = (granted_end, bytes);
            if let Some(mut latest) = self.ends.last_entry() {
                latest.insert(ctx.now);
            }
            self.send(ctx, ToSender::Grant { end: granted_end, level });
            self.arm(ctx);
        }
        self.granted >= size
    }

    /// Asks to resend the first missing packets among the granted ones.
    fn request_resend(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        let from = self.base.received.next();
        let to = (from..self.granted_end).find(|number| self.base.received.has(*number)).unwrap_or(self.granted_end);
        self.send(ctx, ToSender::Resend { from, to });
    }

    /// Timeout of the first incomplete message, whatever arrives of others.
    fn deadline(&self, ctx: &NodeCtx<impl Effects>) -> Time {
        match self.ends.first_key_value() {
            Some((_, heard)) if self.base.received.next() < self.granted_end => {
                heard.saturating_add(ctx.net.transport(self.base.transport).rto.rto_min)
            }
            _ => Time::NEVER,
        }
    }

    fn arm(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        let deadline = self.deadline(ctx).max(ctx.now);
        if deadline < self.at {
            self.at = deadline;
            ctx.timer(deadline, Timer::Receiver(self.base.flow));
        }
    }
}
