//! Requests of packets to the switches on their path, and the answers. Switches count bytes on links, controllers bytes
//! of payload.

use super::Sender;
use crate::event::metadata::{BoltSignal, Metadata, RateGrant, Signal, Signals, WindowGrant};
use crate::event::packet::{Ext, Packet};
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use incast_cc::{Asks, Backlog, Controller, Feedback, Rate, Time};

impl Sender {
    /// Adds the controller's request to a packet.
    #[cold]
    pub(super) fn ask(&mut self, ctx: &NodeCtx<impl Effects>, packet: &Packet, seq: u64, ext: &mut Ext) {
        let asks = match self.profile.asks {
            Asks::Nothing => return,
            Asks::Rate => {
                let (payload, full) = self.full_segment(ctx);
                let wants = self.cc.wants(ctx.now) * full / payload;
                Signal::Rate(RateGrant { rate: f64::INFINITY, rtt: self.rtt.srtt, wants })
            }
            Asks::Window => Signal::Window(self.demand(ctx)),
            Asks::Bolt if packet.len == 0 => return,
            Asks::Bolt => Signal::Bolt(self.bolt_signal(ctx.net, seq, packet.len)),
        };
        let metadata = ext.metadata.get_or_insert_with(|| Box::new(Metadata::Signals(Signals::default())));
        metadata.signals().asks = Some(asks);
    }

    /// Reports the answer of the switches on an ACK to the controller.
    pub(super) fn on_signal(&mut self, ctx: &NodeCtx<impl Effects>, sent: Time, answer: Signal) {
        let (payload, full) = self.full_segment(ctx);
        match answer {
            Signal::Rate(granted) => self.cc.on_rate(granted.rate * payload / full),
            Signal::Window(demand) => {
                self.cc.on_feedback(&Feedback { change: demand.change * payload / full, rtt: demand.rtt });
            }
            Signal::Bolt(bolt) => {
                if bolt.congested && !bolt.notified {
                    let packets = bolt.queue as f64 / full;
                    self.cc.on_backlog(&Backlog { now: ctx.now, sent, packets, rate: bolt.rate });
                }
                self.cc.on_bolt_grant(bolt.increase);
            }
        }
    }

    /// Change of the window to ask for: each packet of a window asks for its part of the spare capacity of the host's
    /// link.
    fn demand(&self, ctx: &NodeCtx<impl Effects>) -> WindowGrant {
        let (rtt, (payload, full)) = (self.rtt.srtt, self.full_segment(ctx));
        let cwnd = self.cc.cwnd() * full / payload;
        let change = match ctx.ports[ctx.hosts[self.ip.host].port].rate() {
            _ if rtt == Time::ZERO => 0.0,
            Rate::INFINITE => f64::INFINITY,
            line => (line.as_f64() / 8.0 - cwnd / rtt.as_secs_f64()) * (full / cwnd).min(1.0),
        };
        WindowGrant { rtt, cwnd, change }
    }

    /// Reports the queue length that a port has sent to the controller.
    #[cold]
    pub(super) fn on_backlog_report(&mut self, ctx: &NodeCtx<impl Effects>, p: &Packet) {
        let (queue, rate) = p.reported_queue();
        let packets = queue as f64 / self.full_segment(ctx).1;
        self.cc.on_backlog(&Backlog { now: ctx.now, sent: p.echo(), packets, rate });
    }

    /// Bolt signal of `len` bytes from `seq` on.
    fn bolt_signal(&mut self, net: &FabricMap, seq: u64, len: u16) -> BoltSignal {
        let unit = self.unit(net);
        let begin = seq - seq % unit;
        let end = begin.saturating_add(unit).min(self.app.end().unwrap_or(u64::MAX));
        let first = self.snd.una <= begin;
        let last = end < u64::MAX && seq as f64 + self.cc.cwnd().max(len as f64) >= end as f64;
        BoltSignal::new(first, last)
    }

    /// Bytes of a full segment: its payload, and its size on the host's link with headers and framing.
    fn full_segment(&self, ctx: &NodeCtx<impl Effects>) -> (f64, f64) {
        let t = ctx.net.transport(self.transport);
        let framing = ctx.ports[ctx.hosts[self.ip.host].port].framing();
        (self.mss as f64, (self.mss + t.sizes.header + framing) as f64)
    }
}
