//! Common state of receivers that number packets, and the packets that they send back.

use crate::event::packet::{Kind, Packet, flag};
use crate::host::nic_queue::Class;
use crate::ids::{FlowId, HostIx, NodeId};
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use crate::spec::{Done, TransportSpec};
use crate::transport::ip::IpSink;
use crate::transport::packet::message::Encoded;
use crate::transport::packet::received::Received;
use crate::transport::reordering::Reordering;
use incast_cc::Time;
use incast_record::FlowRecord;

/// Common part of these receivers: received packets, the peer to answer, records.
#[derive(Clone, Debug)]
pub struct ReceiverBase {
    /// Flow.
    pub flow: FlowId,
    /// The IP layer below.
    pub ip: IpSink,
    /// Index of the transport.
    pub transport: u32,
    /// Received packets.
    pub received: Received,
    /// Packet after the last written byte, once known.
    end: Option<u32>,
    /// Data packet after the newest that has arrived, complete or trimmed.
    newest: u32,
    src: NodeId,
    flags: u16,
    packets: u32,
    size: u64,
    delivered_m: u64,
    complete: Option<Time>,
    reordering: Option<Box<Reordering>>,
    max_out_of_order: u64,
    /// End of the current message, and message size, on a two-way connection.
    message_end: u64,
    message_size: u64,
}

impl ReceiverBase {
    /// Receiver of `flow` on domain-local host `host`.
    pub fn new(net: &FabricMap, flow: FlowId, host: HostIx) -> ReceiverBase {
        let spec = net.flow(flow);
        let observe = &net.spec.observe;
        let traced = observe.acks || observe.trace.contains(&flow.0);
        let path = if spec.reverse_path.is_some() { flag::PATH } else { 0 };
        let message = net.duplex(flow).map(|duplex| duplex.size);
        let duplex = if message.is_some() { flag::DUPLEX } else { 0 };
        ReceiverBase {
            flow,
            ip: IpSink::new(net, flow, host),
            transport: spec.transport,
            received: Received::default(),
            end: None,
            newest: 0,
            src: NodeId(spec.src),
            flags: path | duplex | if traced { flag::SLOW_PATH } else { 0 },
            packets: 0,
            size: spec.app.size().unwrap_or(u64::MAX),
            delivered_m: 0,
            complete: None,
            reordering: None,
            max_out_of_order: 0,
            message_end: message.unwrap_or(u64::MAX),
            message_size: message.unwrap_or(0),
        }
    }

    /// Takes a complete message, if one has arrived.
    pub fn take_message(&mut self) -> bool {
        let complete = self.received.delivered() >= self.message_end;
        if complete {
            self.message_end += self.message_size;
        }
        complete
    }

    /// Takes in a complete data packet. Returns whether it is the first with its number.
    pub fn take(&mut self, ctx: &mut NodeCtx<impl Effects>, t: &TransportSpec, p: &Packet) -> bool {
        self.ip.count(ctx, &t.sizes, p);
        let number = p.seq() as u32;
        self.note_end(p);
        self.note_order(p, number);
        if !self.received.insert(number, p.len) {
            return false;
        }
        if ctx.measured() {
            self.delivered_m += p.len as u64;
            self.max_out_of_order = self.max_out_of_order.max(self.received.out_of_order_bytes());
        }
        if let Some(reordering) = &mut self.reordering {
            reordering.reached(self.received.next() as u64, self.received.out_of_order() > 0);
        }
        if self.complete.is_none() && self.received.delivered() >= self.size {
            self.complete = Some(ctx.now);
            ctx.announce(self.flow, Done::Received);
        }
        true
    }

    /// Notes a packet that is late or overtakes others.
    fn note_order(&mut self, p: &Packet, number: u32) {
        let (end, next, top) = (number as u64 + 1, self.received.next() as u64, self.received.top() as u64);
        if end > top && number as u64 > next {
            self.reordering.get_or_insert_default().overtake(end, self.ip.arrived);
        } else if end < top && p.has(flag::MEASURED) && !p.has(flag::RETX) {
            self.reordering.get_or_insert_default().late(end, self.ip.arrived, next);
        }
    }

    /// Notes the PSH flag of a data packet, complete or trimmed: it marks the end of what has been written so far.
    fn note_end(&mut self, p: &Packet) {
        let number = p.seq() as u32;
        if number >= self.newest {
            self.newest = number + 1;
            self.end = p.has(flag::PSH).then_some(number + 1);
        }
    }

    /// Notes that the sender has more data than has arrived.
    pub fn note_more(&mut self) {
        self.end = None;
    }

    /// Counts a trimmed data packet, and notes whether it is the last of what has been written.
    pub fn count_trimmed(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet) {
        self.ip.count_trimmed(ctx, p);
        self.note_end(p);
    }

    /// First missing packet.
    pub fn next(&self) -> u32 {
        self.received.next()
    }

    /// Returns whether all that has been written so far has arrived.
    pub fn is_complete(&self) -> bool {
        self.end.is_some_and(|end| self.received.next() >= end)
    }

    /// Sends a message to the sender, by its host's NIC queue.
    pub fn send(&mut self, ctx: &mut NodeCtx<impl Effects>, class: Class, message: Encoded, path: u16) {
        let packet = self.packet(ctx, message, path);
        ctx.emit(self.ip.host, class, &packet);
    }

    /// Makes a packet for the sender.
    pub fn packet(&mut self, ctx: &NodeCtx<impl Effects>, message: Encoded, path: u16) -> Packet {
        let t = ctx.net.transport(self.transport);
        let Encoded { kind, flags, .. } = message;
        let mut packet = Packet::answer(kind, self.flow, self.src, message.words(self.next()));
        packet.id = self.packets as u16;
        self.packets = self.packets.wrapping_add(1);
        packet.size = t.sizes.ack_size as u16;
        packet.flags |= self.flags | flags;
        if kind == Kind::Pull && ctx.net.flow(self.flow).pull_path.is_some() {
            packet.flags |= flag::PATH;
        }
        if ctx.net.entropy {
            packet.set_entropy(path)
        } else {
            packet.set_cause(ctx.cause)
        }
        packet
    }

    /// Packets to the sender so far.
    pub fn packets(&self) -> u32 {
        self.packets
    }

    /// Adds the receiver's fields to the flow's record.
    pub fn record(&self, record: &mut FlowRecord) {
        self.ip.record(record);
        record.delivered = self.received.delivered();
        record.delivered_m = self.delivered_m;
        record.received_ps = self.complete.map(|t| t.0);
        record.reordering_buffer = self.max_out_of_order;
        if let Some(order) = &self.reordering {
            record.late = order.late;
            record.extents = order.extents;
            record.extent_sum = order.extent_sum;
            record.extent_max = order.extent_max;
        }
    }
}
