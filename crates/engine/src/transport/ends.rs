//! Endpoints of flows: what a host calls.

use crate::app::parameters::App;
use crate::event::order::Timer;
use crate::event::packet::{Ext, Packet};
use crate::ids::{FlowId, HostIx};
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use crate::transport::other::{OtherReceiver, OtherSender, Pacers};
use crate::transport::{tcp, udp};
use incast_record::{FlowRecord, FlowState, Recorder};

/// Sending endpoint of a flow.
#[derive(Debug)]
#[allow(clippy::large_enum_variant)] // nearly all are TCP's, and each is reached by every ACK
pub enum SendEndpoint {
    /// TCP.
    Tcp(tcp::sender::Sender),
    /// Any other. With two variants, one comparison finds the method of a TCP packet; a third variant cost 1.2
    /// instructions per hop.
    Other(OtherSender),
}

/// Receiving endpoint of a flow.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)]
pub enum ReceiveEndpoint {
    /// TCP.
    Tcp(tcp::receiver::Receiver),
    /// Any other.
    Other(OtherReceiver),
}

/// Calls a method of an endpoint of either kind.
macro_rules! either {
    ($self:expr, $end:ident => $call:expr) => {
        match $self {
            Self::Tcp($end) => $call,
            Self::Other($end) => $call,
        }
    };
}

impl SendEndpoint {
    /// Sender of flow `flow` on domain-local host `host`.
    pub fn new(net: &FabricMap, flow: FlowId, host: HostIx) -> SendEndpoint {
        let udp = |app| OtherSender::Udp(udp::Sender::new(net, flow, host, app));
        let other = match net.flow(flow).app {
            App::Udp(app) => Some(udp(app)),
            _ => OtherSender::by_packets(net, flow, host),
        };
        let tcp = || SendEndpoint::Tcp(tcp::sender::Sender::new(net, flow, host));
        other.map_or_else(tcp, SendEndpoint::Other)
    }

    /// TCP sender, for what TCP alone has: connections that close, run queues, room at a fair NIC, prediction.
    #[inline(always)]
    pub fn tcp(&mut self) -> Option<&mut tcp::sender::Sender> {
        if let SendEndpoint::Tcp(tcp) = self { Some(tcp) } else { None }
    }

    /// Handles a packet. `pacers`: those of the domain's hosts.
    #[inline(always)]
    pub fn on_packet(&mut self, ctx: &mut NodeCtx<impl Effects>, pacers: &mut Pacers, p: &Packet, ext: Option<&Ext>) {
        match self {
            Self::Tcp(tcp) => tcp.on_packet(ctx, p, ext),
            Self::Other(other) => other.on_packet(ctx, pacers, p, ext),
        }
    }

    /// Handles one of the flow's timers, or [`Timer::Opening`], its trigger.
    #[inline]
    pub fn on_timer(&mut self, ctx: &mut NodeCtx<impl Effects>, timer: Timer) {
        either!(self, end => end.on_timer(ctx, timer));
    }

    /// Sends a message of the host's application.
    pub fn on_message(&mut self, ctx: &mut NodeCtx<impl Effects>, bytes: u64) {
        either!(self, end => end.on_message(ctx, bytes));
    }

    /// Bytes of the application that are acknowledged in order.
    pub fn acked(&self) -> u64 {
        match self {
            Self::Tcp(tcp) => tcp.acked(),
            Self::Other(other) => other.acked(),
        }
    }

    /// IP packets so far; fragments are one.
    pub fn packets(&self) -> u32 {
        match self {
            Self::Tcp(tcp) => tcp.ip.packets,
            Self::Other(other) => other.packets(),
        }
    }

    /// Returns whether the sender would do nothing more by itself. Nothing observes it then.
    pub fn is_at_rest(&self) -> bool {
        either!(self, end => end.is_at_rest())
    }

    /// Called when the NIC is free for this sender, which has waited for it.
    pub fn on_tx_ready(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if let Self::Other(other) = self {
            other.on_tx_ready(ctx);
        }
    }

    /// Index of the flow's time series, if it has one.
    #[inline]
    pub fn probe(&mut self) -> &mut Option<u32> {
        match self {
            Self::Tcp(tcp) => &mut tcp.ip.probe,
            Self::Other(other) => other.probe(),
        }
    }

    /// Visits the state for time series: sizes in bytes, times in seconds.
    pub fn observe(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        either!(self, end => end.observe(visit));
    }

    /// Window and state, once the flow has opened.
    pub fn snapshot(&self) -> Option<(Option<u64>, FlowState)> {
        either!(self, end => end.snapshot())
    }

    /// Adds the sender's fields to the flow's record.
    pub fn record(&self, record: &mut FlowRecord) {
        either!(self, end => end.record(record));
    }

    /// Records the writes that are unfinished at the end of the run.
    pub fn record_writes(&self, net: &FabricMap, rec: &mut impl Recorder) {
        either!(self, end => end.record_writes(net, rec));
    }
}

impl ReceiveEndpoint {
    /// Receiver of flow `flow` on domain-local host `host`.
    pub fn new(net: &FabricMap, flow: FlowId, host: HostIx) -> ReceiveEndpoint {
        let udp = || OtherReceiver::Udp(udp::Receiver::new(net, flow, host));
        let other = match net.flow(flow).app.datagram_gap() {
            Some(_) => Some(udp()),
            None => OtherReceiver::by_packets(net, flow, host),
        };
        let tcp = || ReceiveEndpoint::Tcp(tcp::receiver::Receiver::new(net, flow, host));
        other.map_or_else(tcp, ReceiveEndpoint::Other)
    }

    /// TCP receiver, for what TCP alone has.
    #[inline(always)]
    pub fn tcp(&mut self) -> Option<&mut tcp::receiver::Receiver> {
        if let ReceiveEndpoint::Tcp(tcp) = self { Some(tcp) } else { None }
    }

    /// Handles a packet. `pacers`: those of the domain's hosts.
    #[inline(always)]
    pub fn on_packet(
        &mut self,
        ctx: &mut NodeCtx<impl Effects>,
        pacers: &mut Pacers,
        p: &Packet,
        ext: Option<&mut Ext>,
    ) {
        match self {
            Self::Tcp(tcp) => tcp.on_packet(ctx, p, ext),
            Self::Other(other) => other.on_packet(ctx, pacers, p, ext),
        }
    }

    /// Handles one of the flow's timers.
    pub fn on_timer(&mut self, ctx: &mut NodeCtx<impl Effects>, timer: Timer) {
        match self {
            Self::Tcp(tcp) => tcp.on_timer(ctx, timer),
            Self::Other(other) => other.on_timer(ctx),
        }
    }

    /// Takes a complete message, if one has arrived.
    pub fn take_message(&mut self) -> bool {
        either!(self, end => end.take_message())
    }

    /// Application bytes delivered in order, by all connections of the flow; for datagrams, all received bytes.
    pub fn delivered(&self) -> u64 {
        match self {
            Self::Tcp(tcp) => tcp.delivered_in_all(),
            Self::Other(other) => other.delivered(),
        }
    }

    /// Packets to the sender so far.
    pub fn packets(&self) -> u32 {
        either!(self, end => end.packets())
    }

    /// Returns whether the receiver would do nothing more by itself.
    pub fn is_at_rest(&self) -> bool {
        either!(self, end => end.is_at_rest())
    }

    /// Flow of the receiver.
    pub fn flow(&self) -> FlowId {
        match self {
            Self::Tcp(tcp) => tcp.flow,
            Self::Other(other) => other.flow(),
        }
    }

    /// Adds the receiver's fields to the flow's record.
    pub fn record(&self, record: &mut FlowRecord) {
        either!(self, end => end.record(record));
    }
}
