//! Receiving endpoint: acknowledges packets in order, and reports gaps.

use super::wire::ToSender;
use crate::event::metadata::Metadata;
use crate::event::packet::{Ext, Packet, flag};
use crate::ids::{FlowId, HostIx};
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use crate::spec::{Rdma, Repair};
use crate::transport::packet::receiver_base::ReceiverBase;
use crate::transport::packet::{HostPacers, PacketReceiver, has_base, parameters};
use incast_cc::Time;

/// Bytes of an ACK without telemetry: headers of link (14), IP (20), and 12 of its own.
const ACK_HEADERS: u32 = 46;

/// RDMA receiver.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// Common state of receivers.
    pub base: ReceiverBase,
    /// Telemetry of the packet that arrives.
    metadata: Option<Box<Metadata>>,
    /// Bytes of an answer.
    answer: u16,
    /// Packets in order since the last acknowledgement.
    unacknowledged: u32,
    /// Gap reported last, and the time from which it is reported again.
    reported: Option<(u32, Time)>,
    /// Shortest time between notification packets, and the time from which the next may go.
    interval: Option<Time>,
    notifies_from: Time,
    /// Flags of answers.
    flags: u16,
    /// Packets of a chunk: acknowledgements cover whole chunks. 1: every packet is one.
    chunk: u32,
}

impl PacketReceiver for Receiver {
    type Pacer = ();

    has_base!(ReceiverBase);

    fn new(net: &FabricMap, flow: FlowId, host: HostIx) -> Receiver {
        let base = ReceiverBase::new(net, flow, host);
        let t = net.transport(base.transport);
        let own = parameters::<Rdma>(t);
        let profile = net.spec.controllers[net.flow(flow).controller as usize].profile();
        let metadata = own.metadata(profile.telemetry);
        Receiver {
            base,
            metadata: None,
            answer: t.sizes.ack_size.max(ACK_HEADERS + metadata) as u16,
            unacknowledged: 0,
            reported: None,
            interval: profile.cnp.filter(|_| own.cnp_packets),
            notifies_from: Time::ZERO,
            flags: if t.marks.ect_control { flag::ECT } else { 0 },
            chunk: match own.repair {
                Repair::GoBackChunk => (own.chunk / t.sizes.mss.max(1) as u64).clamp(1, u32::MAX as u64) as u32,
                _ => 1,
            },
        }
    }

    fn is_at_rest(&self) -> bool {
        self.unacknowledged == 0
    }

    fn on_metadata(&mut self, metadata: Box<Metadata>) {
        self.metadata = Some(metadata);
    }

    fn on_packet(&mut self, ctx: &mut NodeCtx<impl Effects>, _: &mut HostPacers<()>, p: &Packet) {
        let metadata = self.metadata.take();
        if p.is_trimmed() {
            // a NIC without trimming drops a truncated packet
            return self.base.ip.count_trimmed(ctx, p);
        }
        if !self.base.ip.is_whole(ctx, p) {
            return;
        }
        let t = ctx.net.transport(self.base.transport);
        let own = parameters::<Rdma>(t);
        let marked = p.has(flag::CE);
        if marked && self.interval.is_some() {
            self.notify(ctx);
        }
        let (sent_at, hops) = (p.sent_at(), p.hop as u32);
        let marked = marked && !own.cnp_packets;
        let ack = ToSender::Ack { sent_at, hops, marked };
        let (number, expected) = (p.seq() as u32, self.base.next());
        if number < expected {
            self.base.ip.count(ctx, &t.sizes, p);
            if own.duplicate_acks {
                self.answer(ctx, ack, metadata);
            }
            return;
        }
        if number > expected {
            if own.repair == Repair::Selective {
                self.base.take(ctx, t, p);
            } else {
                self.base.ip.count(ctx, &t.sizes, p);
                if self.reported.is_some_and(|(gap, from)| gap == expected && ctx.now < from) {
                    return;
                }
                self.reported = Some((expected, ctx.now.saturating_add(own.nack_interval)));
            }
            return self.answer(ctx, ToSender::Nack { number, sent_at, hops, marked }, metadata);
        }
        self.base.take(ctx, t, p);
        self.unacknowledged += 1;
        if self.unacknowledged >= own.ack_every || p.has(flag::PSH) || marked || self.base.next() > number + 1 {
            self.answer(ctx, ack, metadata);
        }
    }
}

impl Receiver {
    /// Sends a message with the telemetry of the packet that caused it.
    fn answer(&mut self, ctx: &mut NodeCtx<impl Effects>, message: ToSender, metadata: Option<Box<Metadata>>) {
        self.unacknowledged = 0;
        let mut packet = self.base.packet(ctx, message.encode(), 0);
        packet.size = self.answer;
        packet.flags |= self.flags;
        let next = self.base.next();
        if self.chunk > 1 && !self.base.is_complete() {
            packet.ack = packet.ack & !(u32::MAX as u64) | (next - next % self.chunk) as u64;
        }
        let ext = metadata.map(|metadata| Box::new(Ext { metadata: Some(metadata), ..Ext::default() }));
        ctx.emit_control(self.base.ip.host, &packet, ext);
    }

    /// Sends a notification packet, unless the last one is too recent.
    fn notify(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if ctx.now < self.notifies_from {
            return;
        }
        self.notifies_from = ctx.now.saturating_add(self.interval.unwrap_or_default());
        let packet = self.base.packet(ctx, ToSender::Cnp {}.encode(), 0);
        ctx.emit_control(self.base.ip.host, &packet, None);
    }
}
