//! Transports whose receivers give a token a packet. A sender announces a message by a request, and sends a packet for
//! each token, which names it. A receiver serves the messages of a flow one after the other. A transport says, by
//! [`TokenRules`], which packets have tokens from the start, how long tokens live, and when a host gives them.

pub mod receiver;
pub mod sender;
pub mod served;
pub mod wire;

use crate::event::packet::Packet;
use crate::ids::HostIx;
use crate::node::context::{Effects, NodeCtx};
use crate::spec::refusal::{invalid, refuse_link};
use crate::spec::{LinkSpec, Protocol, RunError, Spec, TransportSpec};
use crate::transport::packet::Receivers;
use crate::transport::packet::check::{check_classes, flows_of};
use incast_cc::{Rate, Time};
use receiver::Receiver;
use std::fmt::Debug;

/// Traffic class of requests, tokens and acknowledgements.
pub const CONTROL: u8 = 0;

/// Serialization time of a full packet on a host's link.
#[derive(Clone, Copy, Debug)]
pub struct PacketTime(pub Time);

impl PacketTime {
    /// Packet time of a transport on a host's link.
    pub fn of(ctx: &NodeCtx<impl Effects>, t: &TransportSpec, host: HostIx) -> PacketTime {
        PacketTime(ctx.ports[ctx.hosts[host].port].serialization((t.mss + t.header) as u64))
    }

    /// Duration of `packets` packets.
    pub fn times(self, packets: f64) -> Time {
        Time((self.0.0 as f64 * packets).round() as u64).max(Time::ps(1))
    }
}

/// Rules of a transport with tokens: its parameters implement them.
pub trait TokenRules: Debug + Sized + 'static {
    /// State that a host keeps for all its flows of this transport.
    type Pacer: Debug + Default;

    /// Parameters of a transport.
    fn of(t: &TransportSpec) -> &Self;

    /// Initial free tokens of a message of `packets` packets.
    fn free_of(&self, packets: u32) -> u32;

    /// Time of expiry of `free` initial tokens.
    fn free_until(&self, now: Time, free: u32, one: PacketTime) -> Time;

    /// Time of expiry of a token that arrives `now`, given that of the token itself.
    fn until(&self, now: Time, told: Time, one: PacketTime) -> Time;

    /// Class of data packets of a message of so many packets and bytes.
    fn class_of(&self, packets: u32, size: u64) -> u8;

    /// Time after which tokens for missing packets are reissued, if all `free` tokens were initial.
    fn reissue_of_free(&self, free: u32) -> f64;

    /// Time after the last token at which tokens for missing packets are reissued.
    fn reissue(&self) -> f64;

    /// Called when the service of a message begins, of which `free` packets had initial tokens.
    fn begin(&self, _pacer: &mut Self::Pacer, _free: u32) {}

    /// Called when the served message of a flow has changed.
    fn wait(receiver: &Receiver<Self>, ctx: &mut NodeCtx<impl Effects>, pacer: &mut Self::Pacer);

    /// Handles a packet for a sender on `host`, before the sender does.
    fn on_answer(_ctx: &mut NodeCtx<impl Effects>, _pacer: &mut Self::Pacer, _host: HostIx, _p: &Packet) {}

    /// Handles a packet of a sender beside requests and data.
    fn on_control(_receiver: &Receiver<Self>, _ctx: &mut NodeCtx<impl Effects>, _pacer: &mut Self::Pacer, _p: &Packet) {
    }

    /// Called when a pacer of the host is due, perhaps another one.
    fn on_pacer(
        ctx: &mut NodeCtx<impl Effects>,
        pacer: &mut Self::Pacer,
        host: HostIx,
        receivers: &mut impl Receivers<Receiver<Self>>,
    );
}

/// Checks what all transports with tokens need: a time to repeat requests after, classes, and a time for a packet.
pub fn check<'s, T: PartialEq>(spec: &'s Spec, t: &TransportSpec, own: &'s T) -> Result<(), RunError>
where
    &'s T: TryFrom<&'s Protocol>,
{
    let name = t.protocol.name();
    if t.rto_min == Time::ZERO {
        return invalid(format!(
            "{name} with an rto_min of 0, expected a time above 0: requests are repeated after it"
        ));
    }
    check_classes(spec, &t.protocol, flows_of(spec, own))?;
    let ends = |l: &&LinkSpec| flows_of(spec, own).any(|f| l.from == f.src || l.from == f.dst);
    match spec.links.iter().filter(|l| l.rate == Rate::INFINITE).find(ends) {
        Some(link) => refuse_link(
            spec,
            link,
            format!(
                "link {}: {name} at a host with infinite rate, expected a rate: a host sends one token per packet time",
                link.name
            ),
        ),
        None => Ok(()),
    }
}
