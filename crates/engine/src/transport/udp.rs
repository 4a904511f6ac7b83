//! UDP: full segments at their own pace, neither acknowledged nor retransmitted.

use super::ip::{IpSink, IpSource};
use super::opening::Opening;
use crate::app::parameters::Udp;
use crate::event::order::Timer;
use crate::event::packet::{Kind, Packet};
use crate::hash::{purpose, uniform};
use crate::ids::{FlowId, HostIx};
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use incast_cc::Time;
use incast_record::{FlowRecord, FlowState};

/// UDP sender.
#[derive(Debug)]
pub struct Sender {
    pub(super) ip: IpSource,
    transport: u32,
    /// Time between datagrams; the mean if `random`.
    gap: Time,
    random: bool,
    /// Number of times drawn so far.
    drawn: u64,
    written: u64,
    opening: Opening,
}

impl Sender {
    /// Sender of flow `flow` on domain-local host `host`.
    pub fn new(net: &FabricMap, flow: FlowId, host: HostIx, Udp { gap, random }: Udp) -> Sender {
        Sender {
            ip: IpSource::new(net, flow, host, false),
            transport: net.flow(flow).transport,
            gap: gap.max(Time::ps(1)),
            random,
            drawn: 0,
            written: 0,
            opening: Opening::new(net, flow),
        }
    }

    /// Handles the start timer, the trigger, or the timer of a datagram.
    pub fn on_timer(&mut self, ctx: &mut NodeCtx<impl Effects>, timer: Timer) {
        let sends = match timer {
            Timer::App(_) => true,
            Timer::Start(_) => self.opening.starts(ctx.now),
            Timer::Opening(_) => self.opening.triggered(ctx.now),
            _ => false,
        };
        if sends {
            self.send(ctx);
        }
    }

    /// Sends a full segment, if the NIC takes it, and the next one a gap later.
    fn send(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        let stop = ctx.net.flow(self.ip.flow).stop;
        if ctx.now >= stop {
            return;
        }
        if ctx.has_room(self.ip.host, self.ip.flow) {
            let t = ctx.net.transport(self.transport);
            let packet =
                self.ip.packet(ctx, Kind::Datagram, self.written, t.sizes.mss, 0, t.sizes.header + t.sizes.mss);
            self.written += t.sizes.mss as u64;
            self.ip.send(ctx, &t.sizes, &packet, None);
        }
        let next = ctx.now.saturating_add(self.next_gap(ctx.net));
        if next < stop {
            ctx.timer(next, Timer::App(self.ip.flow));
        }
    }

    /// Time to the next datagram.
    fn next_gap(&mut self, net: &FabricMap) -> Time {
        if !self.random {
            return self.gap;
        }
        self.drawn += 1;
        let drawn = uniform(net.spec.seed, purpose::APPLICATION, self.ip.flow.0 as u64, self.drawn);
        let gap = self.gap.0 as f64 * -libm::log(1.0 - drawn);
        Time((gap as u64).max(1))
    }

    /// Window (none) and state, once the flow has opened.
    pub fn snapshot(&self) -> Option<(Option<u64>, FlowState)> {
        self.opening.opened().map(|_| (None, FlowState::Avoidance))
    }

    /// Adds the sender's fields to the flow's record.
    pub fn record(&self, record: &mut FlowRecord) {
        self.ip.record(record);
        self.opening.record(record);
        record.written = self.written;
    }
}

/// UDP receiver.
#[derive(Clone, Debug)]
pub struct Receiver {
    pub(super) flow: FlowId,
    pub(super) ip: IpSink,
    transport: u32,
    delivered: u64,
    /// Bytes delivered inside the measured interval.
    delivered_m: u64,
}

impl Receiver {
    /// Receiver of flow `flow` on domain-local host `host`.
    pub fn new(net: &FabricMap, flow: FlowId, host: HostIx) -> Receiver {
        let transport = net.flow(flow).transport;
        Receiver { flow, ip: IpSink::new(net, flow, host), transport, delivered: 0, delivered_m: 0 }
    }

    /// Handles a datagram: its bytes are delivered, whatever arrived before.
    #[cold]
    pub fn on_packet(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet) {
        if p.is_trimmed() {
            return self.ip.count_trimmed(ctx, p);
        }
        if !self.ip.is_whole(ctx, p) {
            return;
        }
        self.ip.count(ctx, &ctx.net.transport(self.transport).sizes, p);
        self.delivered += p.len as u64;
        if ctx.measured() {
            self.delivered_m += p.len as u64;
        }
    }

    /// Bytes received.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Adds the receiver's fields to the flow's record.
    pub fn record(&self, record: &mut FlowRecord) {
        self.ip.record(record);
        record.delivered = self.delivered;
        record.delivered_m = self.delivered_m;
    }
}
