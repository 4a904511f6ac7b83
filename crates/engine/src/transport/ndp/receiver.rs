//! Receiving endpoint: answers every packet and pulls others.

use super::pacer::{Pull, Pulls};
use super::wire::ToSender;
use crate::event::packet::Packet;
use crate::host::nic_queue::Class;
use crate::ids::{FlowId, HostIx};
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use crate::spec::Ndp;
use crate::transport::packet::paths::Paths;
use crate::transport::packet::receiver_base::ReceiverBase;
use crate::transport::packet::{HostPacers, PacketReceiver, Receivers, has_base, parameters};
use incast_cc::Time;

/// NDP receiver.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// Common state of receivers.
    pub base: ReceiverBase,
    paths: Paths,
    /// Cumulative number of packets pulled, beyond the initial window.
    pulls: u32,
}

impl PacketReceiver for Receiver {
    type Pacer = Pulls;

    has_base!(ReceiverBase);

    fn new(net: &FabricMap, flow: FlowId, host: HostIx) -> Receiver {
        let spec = net.flow(flow);
        let ndp = parameters::<Ndp>(net.transport(spec.transport));
        let count = net.paths.between(net.spec, spec.dst, spec.src);
        Receiver {
            base: ReceiverBase::new(net, flow, host),
            paths: Paths::new(net.spec.seed, flow, true, count, ndp.paths),
            pulls: 0,
        }
    }

    fn on_packet(&mut self, ctx: &mut NodeCtx<impl Effects>, pacers: &mut HostPacers<Pulls>, p: &Packet) {
        let t = ctx.net.transport(self.base.transport);
        let ndp = parameters::<Ndp>(t);
        let number = p.seq() as u32;
        let cut = p.is_trimmed();
        if cut {
            self.base.count_trimmed(ctx, p);
        } else {
            if !self.base.ip.is_whole(ctx, p) {
                return;
            }
            self.base.take(ctx, t, p);
        }
        // a trimmed duplicate is acknowledged
        let nack = cut && !self.base.received.has(number);
        self.pulls = self.pulls.wrapping_add(1);
        let host = self.base.ip.host;
        let path = self.paths.take();
        let wire = ctx.ports[ctx.hosts[host].port].serialization((t.sizes.mss + t.sizes.header) as u64);
        let gap = Time((wire.0 as f64 / ndp.pull_rate) as u64);
        let pull = Pull { flow: self.base.flow, count: self.pulls, path };
        let is_pull = pacers.own.goes_now(ctx, host, gap, pull);
        let (sent_at, pulls) = (p.sent_at(), self.pulls);
        let message = match nack {
            true => ToSender::Nack { number, sent_at, pulls, is_pull },
            false => ToSender::Ack { number, sent_at, pulls, is_pull },
        };
        let class = if nack && ndp.htsim { Class::Data } else { Class::Control };
        self.base.send(ctx, class, message.encode(), path);
        if self.base.is_complete() {
            let released = pacers.own.release(self.base.flow);
            self.pulls = self.pulls.wrapping_sub(released as u32);
        }
    }

    fn on_pacer(
        ctx: &mut NodeCtx<impl Effects>,
        pulls: &mut Pulls,
        host: HostIx,
        receivers: &mut impl Receivers<Receiver>,
    ) {
        if let Some(pull) = pulls.due(ctx, host)
            && let Some(receiver) = receivers.of(pull.flow)
        {
            receiver.pull(ctx, &pull);
        }
    }
}

impl Receiver {
    /// Sends a pull that is due.
    fn pull(&mut self, ctx: &mut NodeCtx<impl Effects>, pull: &Pull) {
        self.base.send(ctx, Class::Control, ToSender::Pull { pulls: pull.count }.encode(), pull.path);
    }
}
