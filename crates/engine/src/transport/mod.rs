//! Transports: the two endpoints of a flow. A host calls [`SendEndpoint`] and [`ReceiveEndpoint`] and nothing beyond
//! them; a transport is one variant of each.

pub mod ip;
mod opening;
pub mod ranges;
pub mod receiver_driven;
pub mod reordering;
pub mod tcp;
pub mod timer;
pub mod udp;
mod writes;

use crate::app::parameters::App;
use crate::event::order::Timer;
use crate::event::packet::{Ext, Packet};
use crate::event::prefetch;
use crate::host::messages::NO_TCB;
use crate::host::receiver_driven::{CreditGrant, List, Pull};
use crate::ids::{FlowId, HostIx};
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use incast_record::{FlowRecord, FlowState, Recorder};
use timer::Task;

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

/// Sender of another transport than TCP.
#[derive(Debug)]
pub enum OtherSender {
    /// UDP.
    Udp(udp::Sender),
    /// Receiver-driven transport.
    ReceiverDriven(Box<receiver_driven::Sender>),
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

/// Receiver of another transport than TCP.
#[derive(Clone, Debug)]
pub enum OtherReceiver {
    /// UDP.
    Udp(udp::Receiver),
    /// Receiver-driven transport.
    ReceiverDriven(Box<receiver_driven::Receiver>),
}

/// Methods of an endpoint: TCP's method of the same name, and after the arrow the result for UDP and for
/// receiver-driven transports, separately if they differ.
macro_rules! forward {
    (@ $other:expr) => { $other };
    (@ $other:expr, $own:expr) => { $own };
    ($other_kind:ident, $udp:ident, $end:ident: $(
        $(#[$note:meta])* fn $name:ident(&mut self $(, $arg:ident: $kind:ty)*) $(-> $out:ty)?
            => $other:expr $(, $own:expr)?;
    )*) => {$(
        $(#[$note])*
        #[allow(unused_variables)]
        pub fn $name(&mut self $(, $arg: $kind)*) $(-> $out)? {
            match self {
                Self::Tcp(tcp) => tcp.$name($($arg),*),
                Self::Other($other_kind::Udp($udp)) => $other,
                Self::Other($other_kind::ReceiverDriven($end)) => forward!(@ $other $(, $own)?),
            }
        }
    )*};
}

impl SendEndpoint {
    /// Sender of flow `flow` on domain-local host `host`.
    pub fn new(net: &FabricMap, flow: FlowId, host: HostIx) -> SendEndpoint {
        match net.flow(flow).app {
            App::Udp(app) => SendEndpoint::Other(OtherSender::Udp(udp::Sender::new(net, flow, host, app))),
            _ => match receiver_driven::Sender::new(net, flow, host) {
                Some(sender) => SendEndpoint::Other(OtherSender::ReceiverDriven(Box::new(sender))),
                None => SendEndpoint::Tcp(tcp::sender::Sender::new(net, flow, host)),
            },
        }
    }

    forward! { OtherSender, udp, end:
        /// Makes the flow one direction of a two-way connection. `tcb`: index of the control block; `passive`: the
        /// other host opens it.
        fn make_duplex(&mut self, tcb: u32, passive: bool) => (), end.make_duplex();
        /// Opens the flow on its trigger.
        fn open(&mut self, ctx: &mut NodeCtx<impl Effects>) => udp.open(ctx), end.open(ctx);
        /// Handles a packet.
        #[inline(always)]
        fn on_packet(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet, ext: Option<&Ext>)
            => (), end.on_packet(ctx, p);
        /// Handles a packet of the two-way connection: of this flow, or of the flow in the other direction.
        fn on_packet_of_connection(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet, ext: Option<&Ext>)
            => (), end.on_packet(ctx, p);
        /// Handles one of the flow's timers.
        #[inline]
        fn on_timer(&mut self, ctx: &mut NodeCtx<impl Effects>, timer: Timer)
            => udp.on_timer(ctx, timer), end.on_timer(ctx, timer);
        /// Runs a task of the host's run queue.
        fn run(&mut self, ctx: &mut NodeCtx<impl Effects>, task: Task) => ();
        /// Sends a message of the host's application.
        fn on_message(&mut self, ctx: &mut NodeCtx<impl Effects>, bytes: u64) => (), end.on_message(ctx, bytes);
        /// Sends a message of the application, woken by an arrived packet.
        fn on_reply(&mut self, ctx: &mut NodeCtx<impl Effects>, bytes: u64) => (), end.on_message(ctx, bytes);
        /// Turns off the prediction of ACKs.
        fn disable_fast_paths(&mut self) => ();
        /// Begins an event of the flow.
        #[inline(always)]
        fn begin(&mut self) => ();
        /// Returns whether the sender might act when the host's NIC has sent something.
        #[inline(always)]
        fn waits_for_room(&mut self) -> bool => false;
        /// Sends what it may, as the NIC has room again.
        fn on_room(&mut self, ctx: &mut NodeCtx<impl Effects>) => ();
        /// Index of the control block of a two-way connection.
        fn tcb(&mut self) -> u32 => NO_TCB;
        /// Opens the next connection of the flow.
        fn reopen(&mut self, ctx: &mut NodeCtx<impl Effects>) => ();
        /// Makes the next message the last of the connection.
        fn close_after(&mut self) => ();
        /// Closes the connection, for the application.
        fn close(&mut self, ctx: &mut NodeCtx<impl Effects>) => ();
        /// Resets the connection, for the application.
        fn abort(&mut self, ctx: &mut NodeCtx<impl Effects>) => ();
        /// Answers a packet of a former connection with a reset.
        fn refuse(&mut self, ctx: &mut NodeCtx<impl Effects>) => ();
        /// Returns whether the connection has nothing left to send.
        fn is_over(&mut self) -> bool => true;
        /// Returns whether the connection was reset or given up.
        fn is_dead(&mut self) -> bool => false;
        /// Records the writes that are unfinished at the end of the run.
        fn record_writes(&mut self, net: &FabricMap, rec: &mut impl Recorder) => (), end.record_writes(net, rec);
    }

    /// Replaces the connection by the next one of the flow. Returns the former one.
    pub fn reconnect(&mut self, net: &FabricMap) -> Option<SendEndpoint> {
        match self {
            SendEndpoint::Tcp(sender) => Some(SendEndpoint::Tcp(sender.reconnect(net))),
            _ => None,
        }
    }

    /// Called when the NIC is free for this sender.
    pub fn on_tx_ready(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if let SendEndpoint::Other(OtherSender::ReceiverDriven(sender)) = self {
            sender.on_tx_ready(ctx);
        }
    }

    /// Exchanges the state that connections of a flow share with another of them.
    pub fn swap_shared(&mut self, to: &mut SendEndpoint) {
        if let (SendEndpoint::Tcp(from), SendEndpoint::Tcp(to)) = (self, to) {
            from.swap_shared(to);
        }
    }

    /// Prefetches what a packet touches. TCP's layout is assumed: reading the variant would touch memory, and nearly
    /// all endpoints are TCP's.
    #[inline(always)]
    pub fn prefetch(&self) {
        for (first, lines) in tcp::sender::HOT {
            prefetch::lines_from(self, first, lines);
        }
    }

    /// Prefetches what the endpoint refers to.
    #[inline(always)]
    pub fn prefetch_further(&self) {
        if let SendEndpoint::Tcp(sender) = self {
            sender.prefetch_board();
        }
    }

    /// Prefetches what [`SendEndpoint::snapshot`] reads.
    #[inline]
    pub fn prefetch_snapshot(&self) {
        tcp::sender::SNAPSHOT.into_iter().for_each(|at| prefetch::lines_from(self, at, 1));
    }

    /// Index of the flow's time series, if it has one.
    #[inline]
    pub fn probe(&mut self) -> &mut Option<u32> {
        match self {
            SendEndpoint::Tcp(sender) => &mut sender.probe,
            SendEndpoint::Other(OtherSender::Udp(sender)) => &mut sender.probe,
            SendEndpoint::Other(OtherSender::ReceiverDriven(sender)) => sender.probe(),
        }
    }

    /// Visits the state for time series: sizes in bytes, times in seconds.
    pub fn observe(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        match self {
            SendEndpoint::Tcp(sender) => sender.observe(visit),
            // UDP data is never acknowledged
            SendEndpoint::Other(OtherSender::Udp(_)) => visit("acked_bytes", 0.0),
            SendEndpoint::Other(OtherSender::ReceiverDriven(sender)) => sender.observe(visit),
        }
    }

    /// Window and state, once the flow has opened.
    pub fn snapshot(&self) -> Option<(Option<u64>, FlowState)> {
        match self {
            SendEndpoint::Tcp(sender) => sender.snapshot(),
            SendEndpoint::Other(OtherSender::Udp(sender)) => sender.snapshot(),
            SendEndpoint::Other(OtherSender::ReceiverDriven(sender)) => sender.snapshot(),
        }
    }

    /// IP layer: flow and domain-local host.
    pub fn ip(&self) -> &ip::IpSource {
        match self {
            SendEndpoint::Tcp(sender) => &sender.ip,
            SendEndpoint::Other(OtherSender::Udp(sender)) => &sender.ip,
            SendEndpoint::Other(OtherSender::ReceiverDriven(sender)) => sender.ip(),
        }
    }

    /// Adds the sender's fields to the flow's record.
    pub fn record(&self, record: &mut FlowRecord) {
        match self {
            SendEndpoint::Tcp(sender) => sender.record(record),
            SendEndpoint::Other(OtherSender::Udp(sender)) => sender.record(record),
            SendEndpoint::Other(OtherSender::ReceiverDriven(sender)) => sender.record(record),
        }
    }
}

impl ReceiveEndpoint {
    /// Receiver of flow `flow` on domain-local host `host`.
    pub fn new(net: &FabricMap, flow: FlowId, host: HostIx) -> ReceiveEndpoint {
        match net.flow(flow).app.datagram_gap() {
            Some(_) => ReceiveEndpoint::Other(OtherReceiver::Udp(udp::Receiver::new(net, flow, host))),
            None => match receiver_driven::Receiver::new(net, flow, host) {
                Some(receiver) => ReceiveEndpoint::Other(OtherReceiver::ReceiverDriven(Box::new(receiver))),
                None => ReceiveEndpoint::Tcp(tcp::receiver::Receiver::new(net, flow, host)),
            },
        }
    }

    forward! { OtherReceiver, udp, end:
        /// Makes the flow one direction of a two-way connection. `tcb`: index of the control block; `size`: bytes of an
        /// arriving message. Returns the offered window.
        fn make_duplex(&mut self, net: &FabricMap, tcb: u32, size: u64) -> u32 => 0, {
            end.make_duplex(size);
            0
        };
        /// Turns off the prediction of segments.
        fn disable_fast_paths(&mut self) => ();
        /// Handles a packet.
        #[inline(always)]
        fn on_packet(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet, ext: Option<&mut Ext>)
            => udp.on_packet(ctx, p), end.on_packet(ctx, p);
        /// Handles one of the flow's timers.
        fn on_timer(&mut self, ctx: &mut NodeCtx<impl Effects>, timer: Timer) => (), end.on_timer(ctx);
        /// Runs a task of the host's run queue.
        fn run(&mut self, ctx: &mut NodeCtx<impl Effects>, task: Task) => ();
        /// Takes a complete message, if one has arrived.
        fn take_message(&mut self) -> bool => false, end.take_message();
        /// Returns whether the peer has closed and all before that has arrived.
        fn has_ended(&mut self) -> bool => true;
        /// Notes that the application has reset the connection.
        fn abandon(&mut self) => ();
        /// Takes a packet of a former connection, whose numbers on the wire are offset by `ahead`. Returns whether the
        /// peer waits for an answer.
        fn take_late(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet, ahead: (u64, u64)) -> bool => false;
        /// Acknowledges retransmissions of a former connection, up to `ack`.
        fn answer_late(&mut self, ctx: &mut NodeCtx<impl Effects>, ack: u64) => ();
    }

    /// Replaces the connection by the next one of the flow, whose numbers on the wire are offset by `ahead`. Returns
    /// the former one, and the window offered now.
    pub fn reconnect(&mut self, net: &FabricMap, ahead: (u64, u64)) -> Option<(ReceiveEndpoint, u32)> {
        match self {
            ReceiveEndpoint::Tcp(receiver) => {
                let (last, wnd) = receiver.reconnect(net, ahead);
                Some((ReceiveEndpoint::Tcp(last), wnd))
            }
            _ => None,
        }
    }

    /// Exchanges the state that connections of a flow share with another of them.
    pub fn swap_shared(&mut self, to: &mut ReceiveEndpoint) {
        if let (ReceiveEndpoint::Tcp(from), ReceiveEndpoint::Tcp(to)) = (self, to) {
            from.swap_shared(to);
        }
    }

    /// Prefetches what a packet touches.
    #[inline(always)]
    pub fn prefetch(&self) {
        prefetch::lines(self, tcp::receiver::HOT);
    }

    /// Prefetches what [`ReceiveEndpoint::delivered`] reads.
    #[inline]
    pub fn prefetch_delivered(&self) {
        tcp::receiver::DELIVERED.into_iter().for_each(|at| prefetch::lines_from(self, at, 1));
    }

    /// Gives credit on behalf of the host's pacer, which serves `list`.
    pub fn grant(&mut self, ctx: &mut NodeCtx<impl Effects>, list: List) -> Option<CreditGrant> {
        match self {
            ReceiveEndpoint::Other(OtherReceiver::ReceiverDriven(receiver)) => receiver.grant(ctx, list),
            _ => None,
        }
    }

    /// Grants the flow's message at priority `level`. Returns whether the whole message is granted.
    pub fn grant_up(&mut self, ctx: &mut NodeCtx<impl Effects>, level: u8) -> bool {
        match self {
            ReceiveEndpoint::Other(OtherReceiver::ReceiverDriven(receiver)) => receiver.grant_up(ctx, level),
            _ => true,
        }
    }

    /// Gives a token of the host to the flow's message.
    pub fn give_token(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if let ReceiveEndpoint::Other(OtherReceiver::ReceiverDriven(receiver)) = self {
            receiver.give_token(ctx);
        }
    }

    /// Sends a pull that is due.
    pub fn pull(&mut self, ctx: &mut NodeCtx<impl Effects>, pull: &Pull) {
        if let ReceiveEndpoint::Other(OtherReceiver::ReceiverDriven(receiver)) = self {
            receiver.pull(ctx, pull);
        }
    }

    /// Application bytes delivered in order, by all connections of the flow; for datagrams, all received bytes.
    pub fn delivered(&self) -> u64 {
        match self {
            ReceiveEndpoint::Tcp(receiver) => receiver.delivered_in_all(),
            ReceiveEndpoint::Other(OtherReceiver::Udp(receiver)) => receiver.delivered(),
            ReceiveEndpoint::Other(OtherReceiver::ReceiverDriven(receiver)) => receiver.delivered(),
        }
    }

    /// Flow of the receiver.
    pub fn flow(&self) -> FlowId {
        match self {
            ReceiveEndpoint::Tcp(receiver) => receiver.flow,
            ReceiveEndpoint::Other(OtherReceiver::Udp(receiver)) => receiver.flow,
            ReceiveEndpoint::Other(OtherReceiver::ReceiverDriven(receiver)) => receiver.flow(),
        }
    }

    /// Domain-local host.
    pub fn host(&self) -> HostIx {
        match self {
            ReceiveEndpoint::Tcp(receiver) => receiver.ip.host,
            ReceiveEndpoint::Other(OtherReceiver::Udp(receiver)) => receiver.ip.host,
            ReceiveEndpoint::Other(OtherReceiver::ReceiverDriven(receiver)) => receiver.host(),
        }
    }

    /// Adds what it knows to the flow's record.
    pub fn record(&self, record: &mut FlowRecord) {
        match self {
            ReceiveEndpoint::Tcp(receiver) => receiver.record(record),
            ReceiveEndpoint::Other(OtherReceiver::Udp(receiver)) => receiver.record(record),
            ReceiveEndpoint::Other(OtherReceiver::ReceiverDriven(receiver)) => receiver.record(record),
        }
    }
}
