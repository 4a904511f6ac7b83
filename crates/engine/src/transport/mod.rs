//! Transports: what the two endpoints of a flow do. A host calls [`SendEndpoint`] and [`ReceiveEndpoint`] and nothing
//! beyond them; a transport is one variant of each.

pub mod ip;
mod opening;
pub mod ranges;
pub mod reordering;
pub mod tcp;
pub mod timer;
pub mod udp;

use crate::event::order::TimerKind;
use crate::event::packet::{Ext, Packet};
use crate::event::prefetch;
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use crate::spec::App;
use incast_record::{FlowRecord, Recorder};
use timer::Turn;

/// Where the data of a flow comes from.
#[derive(Debug)]
#[allow(clippy::large_enum_variant)] // nearly all are TCP's, and each is reached by every ACK
pub enum SendEndpoint {
    /// TCP.
    Tcp(tcp::sender::Sender),
    /// UDP.
    Udp(udp::Sender),
}

/// Where the data of a flow goes.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)]
pub enum ReceiveEndpoint {
    /// TCP.
    Tcp(tcp::receiver::Receiver),
    /// UDP.
    Udp(udp::Receiver),
}

/// The endpoints of flow `flow`, on domain-local hosts `src` and `dst`.
pub fn endpoints(net: &FabricMap, flow: u32, src: u32, dst: u32) -> (SendEndpoint, ReceiveEndpoint) {
    match net.flow(flow).app {
        App::Udp { gap } => (
            SendEndpoint::Udp(udp::Sender::new(net, flow, src, gap)),
            ReceiveEndpoint::Udp(udp::Receiver::new(net, flow, dst)),
        ),
        _ => (
            SendEndpoint::Tcp(tcp::sender::Sender::new(net, flow, src)),
            ReceiveEndpoint::Tcp(tcp::receiver::Receiver::new(net, flow, dst)),
        ),
    }
}

impl SendEndpoint {
    /// Brings near what a packet for it touches.
    #[inline(always)]
    pub fn prefetch(&self) {
        prefetch::lines(self, 6);
    }

    /// ... and what that refers to.
    #[inline(always)]
    pub fn prefetch_further(&self) {
        if let SendEndpoint::Tcp(sender) = self {
            sender.prefetch_board();
        }
    }

    /// Makes it one direction of a two-way connection: `half` is its host's side; `passive` if the other host opens it.
    pub fn join(&mut self, half: u32, passive: bool) {
        if let SendEndpoint::Tcp(sender) = self {
            sender.join(half, passive);
        }
    }

    /// The trigger that it waits for opens it.
    pub fn open(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        match self {
            SendEndpoint::Tcp(sender) => sender.open(ctx),
            SendEndpoint::Udp(sender) => sender.open(ctx),
        }
    }

    /// A packet for it arrived.
    #[inline(always)]
    pub fn on_packet(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet, ext: Option<&Ext>) {
        if let SendEndpoint::Tcp(sender) = self {
            sender.on_packet(ctx, p, ext);
        }
    }

    /// A packet of its two-way connection arrived: one for it, or one of the flow the other way.
    pub fn on_packet_of_connection(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet, ext: Option<&Ext>) {
        if let SendEndpoint::Tcp(sender) = self {
            sender.on_packet_of_connection(ctx, p, ext);
        }
    }

    /// One of its timers fired.
    #[inline]
    pub fn on_timer(&mut self, ctx: &mut NodeCtx<impl Effects>, kind: TimerKind) {
        match self {
            SendEndpoint::Tcp(sender) => sender.on_timer(ctx, kind),
            SendEndpoint::Udp(sender) => sender.on_timer(ctx, kind),
        }
    }

    /// Its turn has come.
    pub fn on_turn(&mut self, ctx: &mut NodeCtx<impl Effects>, turn: Turn) {
        if let SendEndpoint::Tcp(sender) = self {
            sender.on_turn(ctx, turn);
        }
    }

    /// Its host's application has a message of so many bytes to send.
    pub fn on_message(&mut self, ctx: &mut NodeCtx<impl Effects>, bytes: u64) {
        if let SendEndpoint::Tcp(sender) = self {
            sender.on_message(ctx, bytes);
        }
    }

    /// ... which a packet that arrived woke.
    pub fn on_reply(&mut self, ctx: &mut NodeCtx<impl Effects>, bytes: u64) {
        if let SendEndpoint::Tcp(sender) = self {
            sender.on_reply(ctx, bytes);
        }
    }

    /// The NIC has room again.
    pub fn on_room(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if let SendEndpoint::Tcp(sender) = self {
            sender.pump(ctx);
        }
    }

    /// Where the index of its time series is kept, if it has one.
    #[inline]
    pub fn probe(&mut self) -> &mut Option<u32> {
        match self {
            SendEndpoint::Tcp(sender) => &mut sender.probe,
            SendEndpoint::Udp(sender) => &mut sender.probe,
        }
    }

    /// Shows the state that time series are made of. Sizes in bytes, times in seconds.
    pub fn observe(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        match self {
            SendEndpoint::Tcp(sender) => sender.observe(visit),
            // nothing is ever acknowledged
            SendEndpoint::Udp(_) => visit("acked_bytes", 0.0),
        }
    }

    /// Flow number.
    pub fn flow(&self) -> u32 {
        self.ip().flow
    }

    /// Domain-local host.
    pub fn host(&self) -> u32 {
        self.ip().host
    }

    fn ip(&self) -> &ip::IpSource {
        match self {
            SendEndpoint::Tcp(sender) => &sender.ip,
            SendEndpoint::Udp(sender) => &sender.ip,
        }
    }

    /// Adds what it knows to the flow's record.
    pub fn record(&self, record: &mut FlowRecord) {
        match self {
            SendEndpoint::Tcp(sender) => sender.record(record),
            SendEndpoint::Udp(sender) => sender.record(record),
        }
    }

    /// Records the writes of its application that the end of the run leaves unfinished.
    pub fn record_writes<R: Recorder>(&self, net: &FabricMap, rec: &mut R) {
        if let SendEndpoint::Tcp(sender) = self {
            sender.record_writes(net, rec);
        }
    }
}

impl ReceiveEndpoint {
    /// Brings near what a packet for it touches.
    #[inline(always)]
    pub fn prefetch(&self) {
        prefetch::lines(self, 4);
    }

    /// Makes it one direction of a two-way connection: `half` is its host's side, `size` the bytes of the messages that
    /// arrive. The window it offers.
    pub fn join(&mut self, net: &FabricMap, half: u32, size: u64) -> u32 {
        match self {
            ReceiveEndpoint::Tcp(receiver) => receiver.join(net, half, size),
            ReceiveEndpoint::Udp(_) => 0,
        }
    }

    /// A packet for it arrived.
    #[inline(always)]
    pub fn on_packet(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet, ext: Option<&mut Ext>) {
        match self {
            ReceiveEndpoint::Tcp(receiver) => receiver.on_packet(ctx, p, ext),
            ReceiveEndpoint::Udp(receiver) => receiver.on_packet(ctx, p),
        }
    }

    /// One of its timers fired.
    pub fn on_timer(&mut self, ctx: &mut NodeCtx<impl Effects>, kind: TimerKind) {
        if let ReceiveEndpoint::Tcp(receiver) = self {
            receiver.on_timer(ctx, kind);
        }
    }

    /// Its turn has come.
    pub fn on_turn(&mut self, ctx: &mut NodeCtx<impl Effects>, turn: Turn) {
        if let ReceiveEndpoint::Tcp(receiver) = self {
            receiver.on_turn(ctx, turn);
        }
    }

    /// Takes a whole message that has come, if there is one.
    pub fn take_message(&mut self) -> bool {
        match self {
            ReceiveEndpoint::Tcp(receiver) => receiver.take_message(),
            ReceiveEndpoint::Udp(_) => false,
        }
    }

    /// Domain-local host.
    pub fn host(&self) -> u32 {
        match self {
            ReceiveEndpoint::Tcp(receiver) => receiver.ip.host,
            ReceiveEndpoint::Udp(receiver) => receiver.ip.host,
        }
    }

    /// Adds what it knows to the flow's record.
    pub fn record(&self, record: &mut FlowRecord) {
        match self {
            ReceiveEndpoint::Tcp(receiver) => receiver.record(record),
            ReceiveEndpoint::Udp(receiver) => receiver.record(record),
        }
    }
}
