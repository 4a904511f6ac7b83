//! Common state of senders that number packets.

use crate::event::order::Timer;
use crate::event::packet::{Kind, Packet, flag};
use crate::ids::{FlowId, HostIx};
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use crate::transport::ip::IpSource;
use crate::transport::opening::Opening;
use crate::transport::packet::app_source::AppSource;
use crate::transport::packet::outstanding::Outstanding;
use crate::transport::timer::Alarm;
use incast_cc::Time;
use incast_record::{FlowRecord, FlowState, Recorder};

/// A packet to be sent.
#[derive(Clone, Copy, Debug)]
pub struct Outgoing {
    /// Number of the packet.
    pub number: u32,
    /// Payload in bytes; 0: a request.
    pub len: u32,
    /// Set if it is a retransmission.
    pub again: bool,
    /// Set if the packet is the last of what was written.
    pub last: bool,
}

/// Common part of these senders.
#[derive(Debug)]
pub struct SenderBase {
    /// The IP layer below.
    pub ip: IpSource,
    /// Index of the transport.
    pub transport: u32,
    /// The application above.
    pub app: AppSource,
    /// Outstanding packets.
    pub outstanding: Outstanding,
    /// Opening of the flow.
    pub opening: Opening,
    /// Set while the flow waits for the NIC of its host.
    pub waits_for_nic: bool,
    /// Payload size and header size of a full packet.
    pub sizes: (u32, u32),
    /// Retransmission timer.
    retransmit: Alarm,
    timeouts: u64,
    rtt_count: u64,
    rtt_sum: Time,
    rtt_min: Option<Time>,
    rtt: Time,
}

impl SenderBase {
    /// Sender of `flow` on domain-local host `host`.
    pub fn new(net: &FabricMap, flow: FlowId, host: HostIx) -> SenderBase {
        let t = net.transport(net.flow(flow).transport);
        let mut ip = IpSource::new(net, flow, host, false);
        if net.duplex(flow).is_some() {
            ip.flags |= flag::DUPLEX;
        }
        SenderBase {
            ip,
            transport: net.flow(flow).transport,
            app: AppSource::new(net, flow),
            outstanding: Outstanding::default(),
            opening: Opening::new(net, flow),
            waits_for_nic: false,
            sizes: (t.sizes.mss, t.sizes.header),
            retransmit: Alarm::default(),
            timeouts: 0,
            rtt_count: 0,
            rtt_sum: Time::ZERO,
            rtt_min: None,
            rtt: Time::ZERO,
        }
    }

    /// Timeout of the oldest packet. If none is outstanding but the sender `works`, timeout of credit that may be lost.
    pub fn deadline(&mut self, ctx: &NodeCtx<impl Effects>, works: bool) -> Time {
        let timeout = ctx.net.transport(self.transport).rto.rto_min;
        match self.outstanding.oldest() {
            Some((at, _)) => at.saturating_add(timeout),
            None if works => ctx.now + timeout,
            None => Time::NEVER,
        }
    }

    /// Sets the retransmission timer, unless it fires before `deadline` anyway.
    pub fn arm(&mut self, ctx: &mut NodeCtx<impl Effects>, deadline: Time) {
        let deadline = deadline.max(ctx.now);
        if self.retransmit.advance(deadline) {
            ctx.timer(deadline, Timer::Retransmit(self.ip.flow));
        }
    }

    /// Returns whether a retransmission timer that fires at `now` is the one set last, and clears it.
    pub fn timer_fires(&mut self, now: Time) -> bool {
        self.retransmit.fires(now)
    }

    /// Takes the NIC of the host, if it is free; else the sender waits for it, before senders with more bytes `left`.
    pub fn takes_slot(&mut self, ctx: &mut NodeCtx<impl Effects>, left: Option<u64>) -> bool {
        let takes = ctx.request_tx_slot(self.ip.host, self.ip.flow, left);
        self.waits_for_nic = !takes;
        takes
    }

    /// Takes the first packet to be retransmitted, or a new one of at most `max` bytes, to be sent now.
    pub fn take(&mut self, ctx: &mut NodeCtx<impl Effects>, max: u64) -> Option<Outgoing> {
        if let Some((number, sent)) = self.outstanding.resend(ctx.now) {
            return Some(Outgoing { number, len: sent.len as u32, again: true, last: sent.last });
        }
        let (len, last) = self.app.take_at_most(ctx, max)?;
        Some(Outgoing { number: self.outstanding.push(ctx.now, len, last), len, again: false, last })
    }

    /// Makes a data packet of `size` bytes.
    pub fn data(&mut self, ctx: &NodeCtx<impl Effects>, out: &Outgoing, size: u32, path: u16) -> Packet {
        let flags = if out.again { flag::RETX } else { 0 } | if out.last { flag::PSH } else { 0 };
        let mut packet = self.ip.packet(ctx, Kind::Numbered, out.number as u64, out.len, flags, size);
        if ctx.net.entropy && self.ip.entropy.is_none() {
            packet.set_entropy(path);
        }
        packet
    }

    /// Makes a control packet for the receiver.
    pub fn control(&mut self, ctx: &NodeCtx<impl Effects>, kind: Kind, number: u32, size: u32, path: u16) -> Packet {
        let mut packet = self.ip.packet(ctx, kind, number as u64, 0, 0, size);
        if ctx.net.entropy && self.ip.entropy.is_none() {
            packet.set_entropy(path);
        }
        packet
    }

    /// Acknowledges all packets before `next`. Returns their bytes.
    pub fn acknowledge(&mut self, ctx: &mut NodeCtx<impl Effects>, next: u32) -> u64 {
        let bytes = self.outstanding.acknowledge_before(next, |_| {});
        if bytes > 0 {
            self.app.on_acked(ctx, bytes);
        }
        bytes
    }

    /// Adds an RTT sample.
    pub fn sample(&mut self, ctx: &NodeCtx<impl Effects>, rtt: Time) {
        self.rtt = rtt;
        self.rtt_min = Some(self.rtt_min.map_or(rtt, |min| min.min(rtt)));
        if ctx.measured() {
            self.rtt_count += 1;
            self.rtt_sum += rtt;
        }
    }

    /// Counts a timeout.
    pub fn timed_out(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        self.timeouts += u64::from(ctx.measured());
        ctx.rec.timeout(self.ip.flow.0, ctx.now.0);
        if let Some(entropy) = &mut self.ip.entropy {
            entropy.timed_out(ctx.now);
        }
    }

    /// Returns whether nothing is outstanding, or left to be sent.
    pub fn is_done(&self) -> bool {
        !self.waits_for_nic
            && self.outstanding.next() == self.outstanding.base()
            && self.app.acked() == self.app.written()
    }

    /// State, once the flow has opened.
    pub fn state(&self) -> Option<FlowState> {
        self.opening.opened()?;
        let (finished, stopped) = self.app.ends();
        Some(if finished.or(stopped).is_some() { FlowState::Done } else { FlowState::Avoidance })
    }

    /// Adds the sender's fields to the flow's record.
    pub fn record(&self, record: &mut FlowRecord) {
        self.ip.record(record);
        self.opening.record(record);
        record.written = self.app.written();
        let (finished, stopped) = self.app.ends();
        record.finish_ps = finished.map(|t| t.0);
        record.stopped_ps = stopped.map(|t| t.0);
        record.timeouts = self.timeouts;
        record.rtt_count = self.rtt_count;
        record.rtt_sum_ps = self.rtt_sum.0;
        record.rtt_min_ps = self.rtt_min.map(|t| t.0);
    }

    /// Visits the state for time series.
    pub fn observe(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("acked_bytes", self.app.acked() as f64);
        visit("in_flight_packets", (self.outstanding.next() - self.outstanding.base()) as f64);
        if self.rtt_min.is_some() {
            visit("rtt_s", self.rtt.as_secs_f64());
        }
    }
}
