//! Transports: what the two endpoints of a flow do. A host calls [`SendEndpoint`] and [`ReceiveEndpoint`] and nothing
//! beyond them; a transport is one variant of each.

pub mod driven;
pub mod ip;
mod opening;
pub mod ranges;
pub mod reordering;
pub mod tcp;
pub mod timer;
pub mod udp;
mod writes;

use crate::app::parameters::App;
use crate::event::order::Timer;
use crate::event::packet::{Ext, Packet};
use crate::event::prefetch;
use crate::host::driven::{Granted, List, Pull};
use crate::host::messages::NO_SIDE;
use crate::ids::{FlowId, HostIx};
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use incast_record::{FlowRecord, FlowState, Recorder};
use timer::Task;

/// Where the data of a flow comes from.
#[derive(Debug)]
#[allow(clippy::large_enum_variant)] // nearly all are TCP's, and each is reached by every ACK
pub enum SendEndpoint {
    /// TCP.
    Tcp(tcp::sender::Sender),
    /// Any other. Of two variants, what a TCP packet calls is found by one comparison: a third cost it 1.2
    /// instructions a hop.
    Other(OtherSender),
}

/// A sender that is not TCP's.
#[derive(Debug)]
pub enum OtherSender {
    /// UDP.
    Udp(udp::Sender),
    /// A transport that receivers drive.
    Driven(Box<driven::Sender>),
}

/// Where the data of a flow goes.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)]
pub enum ReceiveEndpoint {
    /// TCP.
    Tcp(tcp::receiver::Receiver),
    /// Any other.
    Other(OtherReceiver),
}

/// A receiver that is not TCP's.
#[derive(Clone, Debug)]
pub enum OtherReceiver {
    /// UDP.
    Udp(udp::Receiver),
    /// A transport that receivers drive.
    Driven(Box<driven::Receiver>),
}

/// Methods of an endpoint that TCP's method of the same name answers, and after the arrow the answer of UDP and of
/// transports that receivers drive, apart where these differ.
macro_rules! forward {
    (@ $other:expr) => { $other };
    (@ $other:expr, $own:expr) => { $own };
    ($other_kind:ident, $udp:ident, $driven:ident: $(
        $(#[$note:meta])* fn $name:ident(&mut self $(, $arg:ident: $kind:ty)*) $(-> $out:ty)?
            => $other:expr $(, $own:expr)?;
    )*) => {$(
        $(#[$note])*
        #[allow(unused_variables)]
        pub fn $name(&mut self $(, $arg: $kind)*) $(-> $out)? {
            match self {
                Self::Tcp(tcp) => tcp.$name($($arg),*),
                Self::Other($other_kind::Udp($udp)) => $other,
                Self::Other($other_kind::Driven($driven)) => forward!(@ $other $(, $own)?),
            }
        }
    )*};
}

impl SendEndpoint {
    /// That of flow `flow`, on domain-local host `host`.
    pub fn new(net: &FabricMap, flow: FlowId, host: HostIx) -> SendEndpoint {
        match net.flow(flow).app {
            App::Udp(app) => SendEndpoint::Other(OtherSender::Udp(udp::Sender::new(net, flow, host, app))),
            _ => match driven::Sender::new(net, flow, host) {
                Some(sender) => SendEndpoint::Other(OtherSender::Driven(Box::new(sender))),
                None => SendEndpoint::Tcp(tcp::sender::Sender::new(net, flow, host)),
            },
        }
    }

    forward! { OtherSender, udp, driven:
        /// Makes it one direction of a two-way connection: `side` is its host's; `passive` if the other host opens
        /// it.
        fn make_duplex(&mut self, side: u32, passive: bool) => (), driven.make_duplex();
        /// The trigger that it waits for opens it.
        fn open(&mut self, ctx: &mut NodeCtx<impl Effects>) => udp.open(ctx), driven.open(ctx);
        /// A packet for it arrived.
        #[inline(always)]
        fn on_packet(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet, ext: Option<&Ext>)
            => (), driven.on_packet(ctx, p);
        /// A packet of its two-way connection arrived: one for it, or one of the flow the other way.
        fn on_packet_of_connection(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet, ext: Option<&Ext>)
            => (), driven.on_packet(ctx, p);
        /// One of its timers fired.
        #[inline]
        fn on_timer(&mut self, ctx: &mut NodeCtx<impl Effects>, timer: Timer)
            => udp.on_timer(ctx, timer), driven.on_timer(ctx, timer);
        /// A task of its host's run queue is its own.
        fn run(&mut self, ctx: &mut NodeCtx<impl Effects>, task: Task) => ();
        /// Its host's application has a message of so many bytes to send,
        fn on_message(&mut self, ctx: &mut NodeCtx<impl Effects>, bytes: u64) => (), driven.on_message(ctx, bytes);
        /// ... which a packet that arrived woke.
        fn on_reply(&mut self, ctx: &mut NodeCtx<impl Effects>, bytes: u64) => (), driven.on_message(ctx, bytes);
        /// ACKs are not predicted from now on.
        fn spell_out(&mut self) => ();
        /// An event of it begins.
        #[inline(always)]
        fn begin(&mut self) => ();
        /// Whether it might act if its host's NIC told it that it has sent something.
        #[inline(always)]
        fn waits_for_room(&mut self) -> bool => false;
        /// The NIC has room again: it sends what it may.
        fn on_room(&mut self, ctx: &mut NodeCtx<impl Effects>) => ();
        /// Its host's side of a two-way connection.
        fn side(&mut self) -> u32 => NO_SIDE;
        /// Its next connection opens.
        fn reopen(&mut self, ctx: &mut NodeCtx<impl Effects>) => ();
        /// The next message is the last of the connection.
        fn close_after(&mut self) => ();
        /// Its application closes the connection,
        fn close(&mut self, ctx: &mut NodeCtx<impl Effects>) => ();
        /// ... or resets it.
        fn abort(&mut self, ctx: &mut NodeCtx<impl Effects>) => ();
        /// A packet of a connection came that is gone: it answers with a reset.
        fn refuse(&mut self, ctx: &mut NodeCtx<impl Effects>) => ();
        /// Nothing of the connection is left to send.
        fn is_over(&mut self) -> bool => true;
        /// The connection was reset, or given up.
        fn is_dead(&mut self) -> bool => false;
        /// Records the writes of its application that the end of the run leaves unfinished.
        fn record_writes(&mut self, net: &FabricMap, rec: &mut impl Recorder) => (), driven.record_writes(net, rec);
    }

    /// The next connection of its flow takes its place. The one that was.
    pub fn renew(&mut self, net: &FabricMap) -> Option<SendEndpoint> {
        match self {
            SendEndpoint::Tcp(sender) => Some(SendEndpoint::Tcp(sender.renew(net))),
            _ => None,
        }
    }

    /// It is its turn at its host's wire.
    pub fn on_turn(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if let SendEndpoint::Other(OtherSender::Driven(sender)) = self {
            sender.on_turn(ctx);
        }
    }

    /// Exchanges with another connection of its flow what these share.
    pub fn lend(&mut self, to: &mut SendEndpoint) {
        if let (SendEndpoint::Tcp(from), SendEndpoint::Tcp(to)) = (self, to) {
            from.lend(to);
        }
    }

    /// Brings near what a packet for it touches. Which kind it is would be a read: nearly all are TCP's.
    #[inline(always)]
    pub fn prefetch(&self) {
        for (first, lines) in tcp::sender::HOT {
            prefetch::lines_from(self, first, lines);
        }
    }

    /// ... and what that refers to.
    #[inline(always)]
    pub fn prefetch_further(&self) {
        if let SendEndpoint::Tcp(sender) = self {
            sender.prefetch_board();
        }
    }

    /// Brings near what [`SendEndpoint::standing`] reads.
    #[inline]
    pub fn prefetch_standing(&self) {
        tcp::sender::STANDING.into_iter().for_each(|at| prefetch::lines_from(self, at, 1));
    }

    /// Where the index of its time series is kept, if it has one.
    #[inline]
    pub fn probe(&mut self) -> &mut Option<u32> {
        match self {
            SendEndpoint::Tcp(sender) => &mut sender.probe,
            SendEndpoint::Other(OtherSender::Udp(sender)) => &mut sender.probe,
            SendEndpoint::Other(OtherSender::Driven(sender)) => sender.probe(),
        }
    }

    /// Shows the state that time series are made of. Sizes in bytes, times in seconds.
    pub fn observe(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        match self {
            SendEndpoint::Tcp(sender) => sender.observe(visit),
            // nothing is ever acknowledged
            SendEndpoint::Other(OtherSender::Udp(_)) => visit("acked_bytes", 0.0),
            SendEndpoint::Other(OtherSender::Driven(sender)) => sender.observe(visit),
        }
    }

    /// Window and state, once it has opened.
    pub fn standing(&self) -> Option<(Option<u64>, FlowState)> {
        match self {
            SendEndpoint::Tcp(sender) => sender.standing(),
            SendEndpoint::Other(OtherSender::Udp(sender)) => sender.standing(),
            SendEndpoint::Other(OtherSender::Driven(sender)) => sender.standing(),
        }
    }

    /// Its flow and its domain-local host.
    pub fn ip(&self) -> &ip::IpSource {
        match self {
            SendEndpoint::Tcp(sender) => &sender.ip,
            SendEndpoint::Other(OtherSender::Udp(sender)) => &sender.ip,
            SendEndpoint::Other(OtherSender::Driven(sender)) => sender.ip(),
        }
    }

    /// Adds what it knows to the flow's record.
    pub fn record(&self, record: &mut FlowRecord) {
        match self {
            SendEndpoint::Tcp(sender) => sender.record(record),
            SendEndpoint::Other(OtherSender::Udp(sender)) => sender.record(record),
            SendEndpoint::Other(OtherSender::Driven(sender)) => sender.record(record),
        }
    }
}

impl ReceiveEndpoint {
    /// That of flow `flow`, on domain-local host `host`.
    pub fn new(net: &FabricMap, flow: FlowId, host: HostIx) -> ReceiveEndpoint {
        match net.flow(flow).app.datagram_gap() {
            Some(_) => ReceiveEndpoint::Other(OtherReceiver::Udp(udp::Receiver::new(net, flow, host))),
            None => match driven::Receiver::new(net, flow, host) {
                Some(receiver) => ReceiveEndpoint::Other(OtherReceiver::Driven(Box::new(receiver))),
                None => ReceiveEndpoint::Tcp(tcp::receiver::Receiver::new(net, flow, host)),
            },
        }
    }

    forward! { OtherReceiver, udp, driven:
        /// Makes it one direction of a two-way connection: `side` is its host's, `size` the bytes of the messages
        /// that arrive. The window it offers.
        fn make_duplex(&mut self, net: &FabricMap, side: u32, size: u64) -> u32 => 0, {
            driven.make_duplex(size);
            0
        };
        /// Segments are not predicted from now on.
        fn spell_out(&mut self) => ();
        /// A packet for it arrived.
        #[inline(always)]
        fn on_packet(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet, ext: Option<&mut Ext>)
            => udp.on_packet(ctx, p), driven.on_packet(ctx, p);
        /// One of its timers fired.
        fn on_timer(&mut self, ctx: &mut NodeCtx<impl Effects>, timer: Timer) => (), driven.on_timer(ctx);
        /// A task of its host's run queue is its own.
        fn run(&mut self, ctx: &mut NodeCtx<impl Effects>, task: Task) => ();
        /// Takes a whole message that has come, if there is one.
        fn take_message(&mut self) -> bool => false, driven.take_message();
        /// The peer has closed, and all before that has come.
        fn has_ended(&mut self) -> bool => true;
        /// Its application has reset the connection.
        fn abandon(&mut self) => ();
        /// Takes a packet of a connection that is gone, whose numbers are so far `ahead` on the wire. Whether the peer
        /// waits for an answer.
        fn take_late(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet, ahead: (u64, u64)) -> bool => false;
        /// What comes again of a connection that is gone is acknowledged, up to `ack`.
        fn answer_late(&mut self, ctx: &mut NodeCtx<impl Effects>, ack: u64) => ();
    }

    /// The next connection of its flow takes its place, whose numbers are so far `ahead` on the wire. The one that was,
    /// and the window that is offered now.
    pub fn renew(&mut self, net: &FabricMap, ahead: (u64, u64)) -> Option<(ReceiveEndpoint, u32)> {
        match self {
            ReceiveEndpoint::Tcp(receiver) => {
                let (last, wnd) = receiver.renew(net, ahead);
                Some((ReceiveEndpoint::Tcp(last), wnd))
            }
            _ => None,
        }
    }

    /// Exchanges with another connection of its flow what these share.
    pub fn lend(&mut self, to: &mut ReceiveEndpoint) {
        if let (ReceiveEndpoint::Tcp(from), ReceiveEndpoint::Tcp(to)) = (self, to) {
            from.lend(to);
        }
    }

    /// Brings near what a packet for it touches.
    #[inline(always)]
    pub fn prefetch(&self) {
        prefetch::lines(self, tcp::receiver::HOT);
    }

    /// ... and what [`ReceiveEndpoint::delivered`] reads.
    #[inline]
    pub fn prefetch_delivered(&self) {
        tcp::receiver::DELIVERED.into_iter().for_each(|at| prefetch::lines_from(self, at, 1));
    }

    /// Its host's pacer has come to it in a list: it gives credit.
    pub fn grant(&mut self, ctx: &mut NodeCtx<impl Effects>, list: List) -> Option<Granted> {
        match self {
            ReceiveEndpoint::Other(OtherReceiver::Driven(receiver)) => receiver.grant(ctx, list),
            _ => None,
        }
    }

    /// Its message is among those of its host that are granted, at priority `level`. Whether all of it is granted now.
    pub fn grant_up(&mut self, ctx: &mut NodeCtx<impl Effects>, level: u8) -> bool {
        match self {
            ReceiveEndpoint::Other(OtherReceiver::Driven(receiver)) => receiver.grant_up(ctx, level),
            _ => true,
        }
    }

    /// Its host gives its message a token.
    pub fn give_token(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if let ReceiveEndpoint::Other(OtherReceiver::Driven(receiver)) = self {
            receiver.give_token(ctx);
        }
    }

    /// A pull of it is due.
    pub fn pull(&mut self, ctx: &mut NodeCtx<impl Effects>, pull: &Pull) {
        if let ReceiveEndpoint::Other(OtherReceiver::Driven(receiver)) = self {
            receiver.pull(ctx, pull);
        }
    }

    /// Application bytes delivered in order, by all connections of the flow; of datagrams, all that came.
    pub fn delivered(&self) -> u64 {
        match self {
            ReceiveEndpoint::Tcp(receiver) => receiver.delivered_in_all(),
            ReceiveEndpoint::Other(OtherReceiver::Udp(receiver)) => receiver.delivered(),
            ReceiveEndpoint::Other(OtherReceiver::Driven(receiver)) => receiver.delivered(),
        }
    }

    /// Its flow.
    pub fn flow(&self) -> FlowId {
        match self {
            ReceiveEndpoint::Tcp(receiver) => receiver.flow,
            ReceiveEndpoint::Other(OtherReceiver::Udp(receiver)) => receiver.flow,
            ReceiveEndpoint::Other(OtherReceiver::Driven(receiver)) => receiver.flow(),
        }
    }

    /// Domain-local host.
    pub fn host(&self) -> HostIx {
        match self {
            ReceiveEndpoint::Tcp(receiver) => receiver.ip.host,
            ReceiveEndpoint::Other(OtherReceiver::Udp(receiver)) => receiver.ip.host,
            ReceiveEndpoint::Other(OtherReceiver::Driven(receiver)) => receiver.host(),
        }
    }

    /// Adds what it knows to the flow's record.
    pub fn record(&self, record: &mut FlowRecord) {
        match self {
            ReceiveEndpoint::Tcp(receiver) => receiver.record(record),
            ReceiveEndpoint::Other(OtherReceiver::Udp(receiver)) => receiver.record(record),
            ReceiveEndpoint::Other(OtherReceiver::Driven(receiver)) => receiver.record(record),
        }
    }
}
