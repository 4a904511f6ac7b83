//! IP layer of a transport: numbers packets, fragments what exceeds the MTU, reassembles, and counts in both
//! directions.

use crate::event::packet::{Ext, Kind, Packet, flag};
use crate::ids::{FlowId, HostIx, NodeId};
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use crate::node::trace::Site;
use crate::spec::Sizes;
use crate::switch::policy::entropy::Source;
use incast_cc::Time;
use incast_record::{FlowRecord, Happening, Recorder};
use std::mem::offset_of;

/// IP header, which every fragment repeats (RFC 791 without options).
const HEADER: u32 = 20;

/// IP layer at the source of a flow: puts packets on the host's NIC.
#[derive(Default, Debug)]
pub struct IpSource {
    /// Flow number.
    pub flow: FlowId,
    /// Domain-local host.
    pub host: HostIx,
    /// Index of the probe observing this flow, if any.
    pub probe: Option<u32>,
    dst: NodeId,
    /// Flags of every packet.
    pub flags: u16,
    /// IP packets so far; fragments share a number.
    pub packets: u32,
    /// Retransmitted segments, measured.
    retransmissions: u32,
    /// Source of the packets' entropies, if they have any.
    pub entropy: Option<Box<Source>>,
    /// Data segments sent, and those inside the measured interval.
    sent: u64,
    sent_m: u64,
    /// IP packets sent, measured, and the time of the first of them; [`Time::NEVER`] before.
    packets_m: u64,
    first_tx: Time,
}

impl IpSource {
    /// Source that has sent nothing. `telemetry`: ports stamp its packets.
    pub fn new(net: &FabricMap, flow: FlowId, host: HostIx, telemetry: bool) -> IpSource {
        let spec = net.flow(flow);
        let observe = &net.spec.observe;
        let traced = telemetry || observe.monitors_data() || observe.trace.contains(&flow.0);
        IpSource {
            flow,
            host,
            dst: NodeId(spec.dst),
            flags: if spec.path.is_some() { flag::PATH } else { 0 } | if traced { flag::SLOW_PATH } else { 0 },
            entropy: Source::new(net.spec, flow),
            first_tx: Time::NEVER,
            ..IpSource::default()
        }
    }

    /// Makes and counts the next packet: `len` bytes of payload from `seq` on, `size` with headers.
    #[inline(always)]
    pub fn packet(
        &mut self,
        ctx: &NodeCtx<impl Effects>,
        kind: Kind,
        seq: u64,
        len: u32,
        flags: u16,
        size: u32,
    ) -> Packet {
        let measured = ctx.measured();
        let mut flags = flags | self.flags;
        if measured {
            flags |= flag::MEASURED;
            self.packets_m += 1;
            self.first_tx = self.first_tx.min(ctx.now);
        }
        if len > 0 {
            self.sent += 1;
            self.sent_m += measured as u64;
            self.retransmissions += (measured && flags & flag::RETX != 0) as u32;
        }
        let mut packet = Packet::forward(kind, self.flow, self.dst, seq, len, ctx.now);
        packet.id = self.packets as u16;
        packet.size = size as u16;
        packet.flags = flags;
        match &mut self.entropy {
            Some(entropy) => packet.set_entropy(entropy.take(len > 0 && flags & flag::RETX == 0)),
            None => packet.set_cause(ctx.cause),
        }
        self.packets = self.packets.wrapping_add(1);
        packet
    }

    /// Hands a packet, or its fragments, to the host's NIC.
    #[inline(always)]
    pub fn send(&self, ctx: &mut NodeCtx<impl Effects>, sizes: &Sizes, packet: &Packet, ext: Option<&mut Ext>) {
        let size = packet.size as u32;
        if sizes.mtu == 0 || size <= sizes.mtu {
            return ctx.send(self.host, packet, ext);
        }
        // fragment payloads are multiples of 8 bytes (RFC 791)
        let per = (sizes.mtu - HEADER) / 8 * 8;
        let payload = size - HEADER;
        let last = payload.div_ceil(per) - 1;
        for i in 0..=last {
            let part = per.min(payload - i * per);
            ctx.send(self.host, &packet.fragment(i, last, part + HEADER), ext.as_deref().cloned().as_mut());
        }
    }

    /// Adds the source's counters to the flow's record.
    pub fn record(&self, record: &mut FlowRecord) {
        record.sent = self.sent;
        record.sent_m = self.sent_m;
        record.retransmissions = self.retransmissions as u64;
        record.fm_tx_packets = self.packets_m;
        record.fm_first_tx_ps = (self.first_tx != Time::NEVER).then_some(self.first_tx.0);
    }
}

#[derive(Clone, Copy, Debug)]
struct Partial {
    id: u16,
    seen: u16,
}

/// IP layer at the destination of a flow: takes arriving packets. The counters of every packet come first.
#[derive(Clone, Default, Debug)]
#[repr(C)]
pub struct IpSink {
    /// Domain-local host.
    pub host: HostIx,
    group: u32,
    /// Data segments received, duplicates included.
    pub arrived: u64,
    /// Data segments received that were sent inside the measured interval.
    arrived_m: u64,
    /// One-way delays of `arrived_m`, and the largest.
    delay_sum: Time,
    delay_max: Time,
    /// IP packets received that were sent inside the interval, after reassembly; their bytes, their delays, and the
    /// arrival time of the last.
    packets: u64,
    bytes: u64,
    packet_delay_sum: Time,
    last_rx: Option<Time>,
    /// Segments of `arrived_m` with a CE mark.
    marked: u64,
    /// Headers of trimmed segments received, sent inside the measured interval.
    trimmed: u64,
    /// Packets with missing fragments.
    partial: Vec<Partial>,
    /// Offsets of sequence and acknowledgement numbers on the wire from the receiver's own.
    pub ahead: (u64, u64),
}

impl IpSink {
    /// Size of the counters of every packet, in bytes.
    pub const HOT: usize = offset_of!(IpSink, marked);

    /// Sink that has received nothing.
    pub fn new(net: &FabricMap, flow: FlowId, host: HostIx) -> IpSink {
        IpSink { host, group: net.flow(flow).group, ..IpSink::default() }
    }

    /// Returns whether a packet is complete; traces it then.
    #[inline]
    pub fn is_whole(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet) -> bool {
        if p.part().1 > 0 && !self.reassembled(p) {
            return false;
        }
        self.trace(ctx, p);
        true
    }

    #[inline]
    fn trace(&self, ctx: &mut NodeCtx<impl Effects>, p: &Packet) {
        if p.has(flag::SLOW_PATH) {
            let node = ctx.hosts[self.host].node;
            let mut p = *p;
            p.shift(self.ahead.0, if p.has(flag::ACK) { self.ahead.1 } else { 0 });
            ctx.trace(&p, Happening::Receive, Site::Node(node));
        }
    }

    /// Notes a fragment; returns true when the segment is complete. The segment takes the ECN field of the fragment
    /// that completes it.
    fn reassembled(&mut self, p: &Packet) -> bool {
        let (number, last) = p.part();
        let bit = 1u16 << number;
        let all = ((1u32 << (last + 1)) - 1) as u16;
        match self.partial.iter().position(|f| f.id == p.id) {
            // a repeated fragment belongs to a later packet with the same number
            Some(i) if self.partial[i].seen & bit != 0 => self.partial[i].seen = bit,
            Some(i) => {
                self.partial[i].seen |= bit;
                if self.partial[i].seen == all {
                    self.partial.remove(i);
                    return true;
                }
            }
            None => {
                // drop incomplete packets before their number is reused, and the oldest of too many
                self.partial.retain(|f| (p.id.wrapping_sub(f.id) as i16).unsigned_abs() < 1 << 14);
                if self.partial.len() >= 64 {
                    self.partial.remove(0);
                }
                self.partial.push(Partial { id: p.id, seen: bit });
            }
        }
        false
    }

    /// Counts a complete packet.
    #[inline(always)]
    pub fn count(&mut self, ctx: &mut NodeCtx<impl Effects>, sizes: &Sizes, p: &Packet) {
        let delay = ctx.now - p.sent_at();
        if p.has(flag::MEASURED) {
            self.packets += 1;
            self.bytes += if p.part().1 > 0 { (sizes.header + p.len as u32) as u64 } else { p.size as u64 };
            self.packet_delay_sum += delay;
            self.last_rx = Some(ctx.now);
        }
        if p.len > 0 {
            self.arrived += 1;
            if p.has(flag::MEASURED) {
                self.arrived_m += 1;
                if p.has(flag::CE) {
                    self.marked += 1;
                }
                self.delay_sum += delay;
                self.delay_max = self.delay_max.max(delay);
                ctx.rec.delay(self.group, delay.0);
            }
        }
    }

    /// Counts the header of a trimmed segment.
    pub fn count_trimmed(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet) {
        self.trimmed += p.has(flag::MEASURED) as u64;
        self.trace(ctx, p);
    }

    /// Adds the sink's counters to the flow's record.
    pub fn record(&self, record: &mut FlowRecord) {
        record.arrived = self.arrived;
        record.arrived_m = self.arrived_m;
        record.marked = self.marked;
        record.trimmed = self.trimmed;
        record.delay_sum_ps = self.delay_sum.0;
        record.delay_max_ps = self.delay_max.0;
        record.fm_rx_bytes = self.bytes;
        record.fm_rx_packets = self.packets;
        record.fm_delay_sum_ps = self.packet_delay_sum.0;
        record.fm_last_rx_ps = self.last_rx.map(|t| t.0);
    }
}
