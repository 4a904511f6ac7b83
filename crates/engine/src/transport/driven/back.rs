//! What a receiver that drives its sender sends back.

use crate::event::packet::{Answer, Kind, Packet, flag};
use crate::host::driven::Class;
use crate::ids::{FlowId, NodeId};
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use crate::spec::{Done, TransportSpec};
use crate::transport::driven::arrived::Arrived;
use crate::transport::ip::IpSink;
use crate::transport::reordering::Reordering;
use incast_cc::Time;
use incast_record::FlowRecord;

/// The part of a receiver that all such transports have: what has come, who is told, what is recorded.
#[derive(Clone, Debug)]
pub struct Receiving {
    /// Flow.
    pub flow: FlowId,
    /// The IP layer below.
    pub ip: IpSink,
    /// Index of its transport.
    pub transport: u32,
    /// Packets that have come.
    pub arrived: Arrived,
    /// The packet after the last of what has been written, once that is known.
    end: Option<u32>,
    /// The data packet after the newest that has come, whole or cut.
    newest: u32,
    src: NodeId,
    flags: u16,
    packets: u32,
    size: u64,
    delivered_m: u64,
    complete: Option<Time>,
    reordering: Option<Box<Reordering>>,
    most_kept: u64,
    /// Bytes after the message under way, and of a message, on a two-way connection.
    message_end: u64,
    message_size: u64,
}

impl Receiving {
    /// That of `flow`, whose sink is `ip`.
    pub fn new(net: &FabricMap, flow: FlowId, ip: IpSink) -> Receiving {
        let spec = net.flow(flow);
        let observe = &net.spec.observe;
        let traced = observe.acks || observe.trace.contains(&flow.0);
        let path = if spec.reverse_path.is_some() { flag::PATH } else { 0 };
        Receiving {
            flow,
            ip,
            transport: spec.transport,
            arrived: Arrived::default(),
            end: None,
            newest: 0,
            src: NodeId(spec.src),
            flags: path | if traced { flag::SLOW_PATH } else { 0 },
            packets: 0,
            size: spec.app.size().unwrap_or(u64::MAX),
            delivered_m: 0,
            complete: None,
            reordering: None,
            most_kept: 0,
            message_end: u64::MAX,
            message_size: 0,
        }
    }

    /// Makes it one direction of a two-way connection, whose messages have `size` bytes.
    pub fn make_duplex(&mut self, size: u64) {
        (self.message_end, self.message_size) = (size, size);
        self.flags |= flag::DUPLEX;
    }

    /// Takes a whole message that has come, if there is one.
    pub fn take_message(&mut self) -> bool {
        let whole = self.arrived.delivered() >= self.message_end;
        if whole {
            self.message_end += self.message_size;
        }
        whole
    }

    /// Takes in a data packet that has come whole. Whether it is the first of its number.
    pub fn take(&mut self, ctx: &mut NodeCtx<impl Effects>, t: &TransportSpec, p: &Packet) -> bool {
        self.ip.count(ctx, t, p);
        let number = p.seq() as u32;
        self.note_end(p);
        self.note_order(p, number);
        if !self.arrived.insert(number, p.len) {
            return false;
        }
        if ctx.measured() {
            self.delivered_m += p.len as u64;
            self.most_kept = self.most_kept.max(self.arrived.kept());
        }
        if let Some(reordering) = &mut self.reordering {
            reordering.reached(self.arrived.next() as u64, self.arrived.early() > 0);
        }
        if self.complete.is_none() && self.arrived.delivered() >= self.size {
            self.complete = Some(ctx.now);
            ctx.announce(self.flow, Done::Received);
        }
        true
    }

    /// A packet is late, or overtakes others.
    fn note_order(&mut self, p: &Packet, number: u32) {
        let (end, next, top) = (number as u64 + 1, self.arrived.next() as u64, self.arrived.top() as u64);
        if end > top && number as u64 > next {
            self.reordering.get_or_insert_default().overtake(end, self.ip.arrived);
        } else if end < top && p.has(flag::MEASURED) && !p.has(flag::RETX) {
            self.reordering.get_or_insert_default().late(end, self.ip.arrived, next);
        }
    }

    /// A data packet has come, whole or cut: it may say where what has been written ends, or that more has been.
    pub fn note_end(&mut self, p: &Packet) {
        let number = p.seq() as u32;
        if number >= self.newest {
            self.newest = number + 1;
            self.end = p.has(flag::PSH).then_some(number + 1);
        }
    }

    /// The sender has more than has come.
    pub fn note_more(&mut self) {
        self.end = None;
    }

    /// All that has been written so far is here.
    pub fn is_complete(&self) -> bool {
        self.end.is_some_and(|end| self.arrived.next() >= end)
    }

    /// Sends an answer.
    pub fn answer(&mut self, ctx: &mut NodeCtx<impl Effects>, class: Class, answer: (Kind, u16, Answer), path: u16) {
        let packet = self.packet(ctx, answer, path);
        ctx.emit(self.ip.host, class, &packet);
    }

    /// An answer to be sent.
    pub fn packet(&mut self, ctx: &NodeCtx<impl Effects>, answer: (Kind, u16, Answer), path: u16) -> Packet {
        let t = ctx.net.transport(self.transport);
        let (kind, flags, answer) = answer;
        let mut packet = Packet::answer(kind, self.flow, self.src, &answer);
        packet.id = self.packets as u16;
        self.packets = self.packets.wrapping_add(1);
        packet.size = t.ack_size as u16;
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

    /// Bytes that have come in order.
    pub fn delivered(&self) -> u64 {
        self.arrived.delivered()
    }

    /// Adds what it knows to the flow's record.
    pub fn record(&self, record: &mut FlowRecord) {
        self.ip.record(record);
        record.delivered = self.arrived.delivered();
        record.delivered_m = self.delivered_m;
        record.received_ps = self.complete.map(|t| t.0);
        record.reordering_buffer = self.most_kept;
        if let Some(order) = &self.reordering {
            record.late = order.late;
            record.extents = order.extents;
            record.extent_sum = order.extent_sum;
            record.extent_max = order.extent_max;
        }
    }
}
