//! Receiver-driven transports: grants of the receiver decide when data goes. Each transport is a folder; shared parts
//! are files here. Packets are numbered, not bytes: [`Packet::seq`] is a packet number.

mod app_source;
mod entropies;
mod eqds;
mod expresspass;
mod homa;
mod ndp;
mod outstanding;
mod paths;
mod phost;
mod received;
mod receiver_base;
mod segmentation;
mod sender_base;
mod uet;

use crate::event::order::Timer;
use crate::event::packet::Packet;
use crate::host::receiver_driven::{CreditGrant, List, Pull};
use crate::ids::{FlowId, HostIx};
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use crate::spec::Protocol;
use crate::transport::ip::IpSource;
use incast_record::{FlowRecord, FlowState, Recorder};
use receiver_base::ReceiverBase;
use sender_base::SenderBase;

/// Calls a method of a sender or a receiver of any of these transports.
macro_rules! dispatch {
    ($self:expr, $end:ident => $call:expr) => {
        match $self {
            Self::Ndp($end) => $call,
            Self::Eqds($end) => $call,
            Self::Uet($end) => $call,
            Self::Homa($end) => $call,
            Self::ExpressPass($end) => $call,
            Self::PHost($end) => $call,
        }
    };
}

/// Sender of a receiver-driven transport.
#[derive(Debug)]
pub enum Sender {
    /// NDP.
    Ndp(ndp::Sender),
    /// EQDS.
    Eqds(eqds::Sender),
    /// UET.
    Uet(uet::Sender),
    /// Homa.
    Homa(homa::Sender),
    /// ExpressPass.
    ExpressPass(expresspass::Sender),
    /// pHost.
    PHost(phost::Sender),
}

/// Receiver of a receiver-driven transport.
#[derive(Clone, Debug)]
pub enum Receiver {
    /// NDP.
    Ndp(ndp::Receiver),
    /// EQDS.
    Eqds(eqds::Receiver),
    /// UET.
    Uet(uet::Receiver),
    /// Homa.
    Homa(homa::Receiver),
    /// ExpressPass.
    ExpressPass(expresspass::Receiver),
    /// pHost.
    PHost(phost::Receiver),
}

impl Sender {
    /// Sender of flow `flow` on domain-local host `host`, if its transport is receiver-driven.
    pub fn new(net: &FabricMap, flow: FlowId, host: HostIx) -> Option<Sender> {
        match net.transport(net.flow(flow).transport).protocol {
            Protocol::Tcp => None,
            Protocol::Ndp(_) => Some(Sender::Ndp(ndp::Sender::new(net, flow, host))),
            Protocol::Eqds(_) => Some(Sender::Eqds(eqds::Sender::new(net, flow, host))),
            Protocol::Uet(_) => Some(Sender::Uet(uet::Sender::new(net, flow, host))),
            Protocol::Homa(_) => Some(Sender::Homa(homa::Sender::new(net, flow, host))),
            Protocol::ExpressPass(_) => Some(Sender::ExpressPass(expresspass::Sender::new(net, flow, host))),
            Protocol::PHost(_) => Some(Sender::PHost(phost::Sender::new(net, flow, host))),
        }
    }

    fn base(&self) -> &SenderBase {
        dispatch!(self, end => &end.base)
    }

    fn base_mut(&mut self) -> &mut SenderBase {
        dispatch!(self, end => &mut end.base)
    }

    /// Makes the flow one direction of a two-way connection.
    pub fn make_duplex(&mut self) {
        self.base_mut().make_duplex();
    }

    /// Opens the flow on its trigger, unless its start time lies ahead.
    pub fn open(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if self.base_mut().opening.triggered(ctx.now) {
            dispatch!(self, end => end.open(ctx));
        }
    }

    /// Handles a packet.
    pub fn on_packet(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet) {
        if p.is_reverse() {
            dispatch!(self, end => end.on_packet(ctx, p));
        }
    }

    /// Handles one of the flow's timers.
    pub fn on_timer(&mut self, ctx: &mut NodeCtx<impl Effects>, timer: Timer) {
        match timer {
            Timer::Start(_) if self.base_mut().opening.starts(ctx.now) => dispatch!(self, end => end.open(ctx)),
            Timer::Start(_) => {}
            _ => dispatch!(self, end => end.on_timer(ctx, timer)),
        }
    }

    /// Sends a message of the host's application.
    pub fn on_message(&mut self, ctx: &mut NodeCtx<impl Effects>, bytes: u64) {
        self.base_mut().app.on_message(bytes);
        dispatch!(self, end => end.on_backlog(ctx));
    }

    /// Called when the NIC is free for this sender.
    pub fn on_tx_ready(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        match self {
            Sender::Ndp(_) | Sender::ExpressPass(_) => {}
            Sender::Eqds(end) => {
                end.on_tx_ready(ctx);
            }
            Sender::Uet(end) => end.on_tx_ready(ctx),
            Sender::Homa(end) => end.on_tx_ready(ctx),
            Sender::PHost(end) => end.on_tx_ready(ctx),
        }
    }

    /// Index of the flow's probe.
    pub fn probe(&mut self) -> &mut Option<u32> {
        &mut self.base_mut().probe
    }

    /// IP layer of the sender.
    pub fn ip(&self) -> &IpSource {
        &self.base().ip
    }

    /// Visits the state for time series.
    pub fn observe(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        dispatch!(self, end => end.observe(visit));
    }

    /// Window and state, once the flow has opened.
    pub fn snapshot(&self) -> Option<(Option<u64>, FlowState)> {
        self.base().opening.opened()?;
        let window = if let Sender::Uet(end) = self { end.window() } else { None };
        let (finished, stopped) = self.base().app.ends();
        let state = if finished.or(stopped).is_some() { FlowState::Done } else { FlowState::Avoidance };
        Some((window, state))
    }

    /// Adds the sender's fields to the flow's record.
    pub fn record(&self, record: &mut FlowRecord) {
        dispatch!(self, end => end.record(record));
    }

    /// Records the writes that are unfinished at the end of the run.
    pub fn record_writes(&self, net: &FabricMap, rec: &mut impl Recorder) {
        self.base().app.record_writes(net, rec);
    }
}

impl Receiver {
    /// Receiver of flow `flow` on domain-local host `host`, if its transport is receiver-driven.
    pub fn new(net: &FabricMap, flow: FlowId, host: HostIx) -> Option<Receiver> {
        match net.transport(net.flow(flow).transport).protocol {
            Protocol::Tcp => None,
            Protocol::Ndp(_) => Some(Receiver::Ndp(ndp::Receiver::new(net, flow, host))),
            Protocol::Eqds(_) => Some(Receiver::Eqds(eqds::Receiver::new(net, flow, host))),
            Protocol::Uet(_) => Some(Receiver::Uet(uet::Receiver::new(net, flow, host))),
            Protocol::Homa(_) => Some(Receiver::Homa(homa::Receiver::new(net, flow, host))),
            Protocol::ExpressPass(_) => Some(Receiver::ExpressPass(expresspass::Receiver::new(net, flow, host))),
            Protocol::PHost(_) => Some(Receiver::PHost(phost::Receiver::new(net, flow, host))),
        }
    }

    fn base(&self) -> &ReceiverBase {
        dispatch!(self, end => &end.base)
    }

    fn base_mut(&mut self) -> &mut ReceiverBase {
        dispatch!(self, end => &mut end.base)
    }

    /// Makes the flow one direction of a two-way connection, whose messages have `size` bytes.
    pub fn make_duplex(&mut self, size: u64) {
        self.base_mut().make_duplex(size);
    }

    /// Takes a complete message, if one has arrived.
    pub fn take_message(&mut self) -> bool {
        self.base_mut().take_message()
    }

    /// Handles a packet.
    pub fn on_packet(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet) {
        dispatch!(self, end => end.on_packet(ctx, p));
    }

    /// Handles one of the flow's timers.
    pub fn on_timer(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        match self {
            Receiver::Homa(end) => end.on_timer(ctx),
            Receiver::ExpressPass(end) => end.on_timer(ctx),
            _ => {}
        }
    }

    /// Grants the flow's message at priority `level`. Returns whether the whole message is granted.
    pub fn grant_up(&mut self, ctx: &mut NodeCtx<impl Effects>, level: u8) -> bool {
        match self {
            Receiver::Homa(end) => end.grant_up(ctx, level),
            _ => true,
        }
    }

    /// Gives a token of the host to the flow's message.
    pub fn give_token(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if let Receiver::PHost(end) = self {
            end.give_token(ctx);
        }
    }

    /// Sends a pull that is due.
    pub fn pull(&mut self, ctx: &mut NodeCtx<impl Effects>, pull: &Pull) {
        if let Receiver::Ndp(end) = self {
            end.pull(ctx, pull);
        }
    }

    /// Gives credit on behalf of the host's pacer, which serves `list`.
    pub fn grant(&mut self, ctx: &mut NodeCtx<impl Effects>, list: List) -> Option<CreditGrant> {
        match self {
            Receiver::Ndp(_) | Receiver::Homa(_) | Receiver::ExpressPass(_) | Receiver::PHost(_) => None,
            Receiver::Eqds(end) => Some(end.grant(ctx, list)),
            Receiver::Uet(end) => Some(end.grant(ctx, list)),
        }
    }

    /// Flow of the receiver.
    pub fn flow(&self) -> FlowId {
        self.base().flow
    }

    /// Domain-local host.
    pub fn host(&self) -> HostIx {
        self.base().ip.host
    }

    /// Bytes received in order.
    pub fn delivered(&self) -> u64 {
        self.base().delivered()
    }

    /// Adds the receiver's fields to the flow's record.
    pub fn record(&self, record: &mut FlowRecord) {
        self.base().record(record);
    }
}
