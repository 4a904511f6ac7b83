//! Parts of transports that number packets, not bytes: [`Packet::seq`] is a packet number. A transport implements
//! [`PacketSender`] and [`PacketReceiver`]; what it does not need has a default.

pub mod app_source;
pub mod check;
pub mod coalescing;
pub mod credits;
pub mod entropies;
pub mod message;
pub mod outstanding;
pub mod paths;
pub mod received;
pub mod receiver_base;
pub mod segmentation;
pub mod sender_base;
pub mod tokens;

use crate::event::metadata::Metadata;
use crate::event::order::Timer;
use crate::event::packet::Packet;
use crate::ids::{FlowId, HostIx};
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use crate::spec::{Protocol, TransportSpec};
use credits::{CreditGrant, Credits, List};
use incast_cc::Time;
use receiver_base::ReceiverBase;
use sender_base::SenderBase;
use std::fmt::Debug;

/// Parameters of the transport that an endpoint belongs to.
pub fn parameters<'a, T>(t: &'a TransportSpec) -> &'a T
where
    &'a T: TryFrom<&'a Protocol>,
{
    match t.protocol.of() {
        Some(own) => own,
        None => unreachable!("an endpoint is built for the transport of its flow"),
    }
}

/// Size of a full packet, in bytes.
pub fn full(t: &TransportSpec) -> u64 {
    (t.sizes.mss + t.sizes.header) as u64
}

/// Sender of a transport that numbers packets.
pub trait PacketSender: Sized {
    /// Sender of flow `flow` on domain-local host `host`.
    fn new(net: &FabricMap, flow: FlowId, host: HostIx) -> Self;
    /// Common state of senders.
    fn base(&self) -> &SenderBase;
    /// See [`PacketSender::base`].
    fn base_mut(&mut self) -> &mut SenderBase;

    /// Called when the flow opens.
    fn open(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        self.base_mut().app.open(ctx);
        self.on_backlog(ctx);
    }

    /// Called when the application may have written.
    fn on_backlog(&mut self, ctx: &mut NodeCtx<impl Effects>);

    /// Handles a packet of the receiver, or a returned one.
    fn on_packet(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet);

    /// Takes what an answer returns from ports and switches, before [`PacketSender::on_packet`].
    fn on_metadata(&mut self, _ctx: &mut NodeCtx<impl Effects>, _metadata: &Metadata) {}

    /// Called when the NIC is free for this sender, which has waited for it.
    fn on_tx_ready(&mut self, _ctx: &mut NodeCtx<impl Effects>) {}

    /// Time of the next timeout; [`Time::NEVER`]: none.
    fn deadline(&mut self, ctx: &NodeCtx<impl Effects>) -> Time;

    /// Handles a timeout.
    fn expire(&mut self, _ctx: &mut NodeCtx<impl Effects>) {}

    /// Sets the retransmission timer for the next timeout.
    fn arm(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        let deadline = self.deadline(ctx);
        self.base_mut().arm(ctx, deadline);
    }

    /// Handles the retransmission timer.
    fn on_retransmission_timer(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if self.deadline(ctx) <= ctx.now {
            self.expire(ctx);
        }
        self.arm(ctx);
    }

    /// Handles [`Timer::Sender`], set by the transport for itself.
    fn on_own_timer(&mut self, _ctx: &mut NodeCtx<impl Effects>) {}

    /// Called when the application stops.
    fn on_stop(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        self.base_mut().app.stop(ctx);
    }

    /// Handles one of the flow's timers, or its trigger.
    fn on_timer(&mut self, ctx: &mut NodeCtx<impl Effects>, timer: Timer) {
        let (now, base) = (ctx.now, self.base_mut());
        match timer {
            Timer::Start(_) if base.opening.starts(now) => self.open(ctx),
            Timer::Opening(_) if base.opening.triggered(now) => self.open(ctx),
            Timer::Retransmit(_) if base.timer_fires(now) => self.on_retransmission_timer(ctx),
            Timer::App(_) if base.app.timer_fires(now) => self.on_backlog(ctx),
            Timer::Stop(_) => self.on_stop(ctx),
            Timer::Sender(_) => self.on_own_timer(ctx),
            _ => {}
        }
    }

    /// Congestion window, if the flow has one.
    fn window(&self) -> Option<u64> {
        None
    }

    /// Returns whether the sender would do nothing more by itself: all is acknowledged, and no timer is set again.
    /// False also if that is unknown.
    fn is_at_rest(&self) -> bool {
        false
    }

    /// Visits the state for time series, beyond that of all senders.
    fn observe(&self, _visit: &mut dyn FnMut(&'static str, f64)) {}
}

/// Receiver of a transport that numbers packets.
pub trait PacketReceiver: Sized {
    /// State that a host keeps for all its flows of this transport.
    type Pacer: Debug + Default;

    /// True for the one transport before whose pacer that of credit is served.
    const AFTER_CREDIT: bool = false;

    /// Receiver of flow `flow` on domain-local host `host`.
    fn new(net: &FabricMap, flow: FlowId, host: HostIx) -> Self;
    /// Common state of receivers.
    fn base(&self) -> &ReceiverBase;
    /// See [`PacketReceiver::base`].
    fn base_mut(&mut self) -> &mut ReceiverBase;

    /// Handles a packet for a sender on `host`, before the sender does.
    fn on_answer(_ctx: &mut NodeCtx<impl Effects>, _pacer: &mut Self::Pacer, _host: HostIx, _p: &Packet) {}

    /// Takes what ports and switches have left on a packet, before [`PacketReceiver::on_packet`].
    #[allow(clippy::boxed_local, reason = "a receiver that returns it keeps the box")]
    fn on_metadata(&mut self, _metadata: Box<Metadata>) {}

    /// Handles a packet, complete or trimmed.
    fn on_packet(&mut self, ctx: &mut NodeCtx<impl Effects>, host: &mut HostPacers<Self::Pacer>, p: &Packet);

    /// Returns whether the receiver would do nothing more by itself: it answers packets only, and owes no answer. False
    /// also if that is unknown.
    fn is_at_rest(&self) -> bool {
        false
    }

    /// Handles [`Timer::Receiver`], set by the transport for itself.
    fn on_timer(&mut self, _ctx: &mut NodeCtx<impl Effects>) {}

    /// Called when a pacer of the host is due, perhaps another one: [`Timer::Pacer`].
    fn on_pacer(
        _ctx: &mut NodeCtx<impl Effects>,
        _pacer: &mut Self::Pacer,
        _host: HostIx,
        _receivers: &mut impl Receivers<Self>,
    ) {
    }

    /// Gives credit on behalf of the host's credit pacer, which serves `list`.
    fn grant(
        &mut self,
        _ctx: &mut NodeCtx<impl Effects>,
        _pacer: &mut Self::Pacer,
        _list: List,
    ) -> Option<CreditGrant> {
        None
    }
}

/// Pacers of a host, as a receiver sees them.
pub struct HostPacers<'h, P> {
    /// Pacer of its transport.
    pub own: &'h mut P,
    /// Pacer of credit, shared by the transports that give credit.
    pub credits: &'h mut Credits,
}

/// Receivers of a transport on the hosts of a domain, and what all senders have.
pub trait Receivers<R> {
    /// Receiver of a flow.
    fn of(&mut self, flow: FlowId) -> Option<&mut R>;
    /// Common state of the sender of a flow.
    fn sender(&mut self, flow: FlowId) -> Option<&mut SenderBase>;
}

/// Implements access to the common state of an endpoint, its field `base`.
macro_rules! has_base {
    ($base:ty) => {
        fn base(&self) -> &$base {
            &self.base
        }

        fn base_mut(&mut self) -> &mut $base {
            &mut self.base
        }
    };
}
pub(super) use has_base;
