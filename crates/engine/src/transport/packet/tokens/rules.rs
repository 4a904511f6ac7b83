//! Rules of transports with tokens that both ends know.

use crate::ids::HostIx;
use crate::node::context::{Effects, NodeCtx};
use crate::spec::TransportSpec;
use incast_cc::Time;
use std::fmt::Debug;

/// Traffic class of requests, tokens and acknowledgements.
pub const CONTROL: u8 = 0;

/// Serialization time of a full packet on a host's link.
#[derive(Clone, Copy, Debug)]
pub struct PacketTime(pub Time);

impl PacketTime {
    /// Packet time of a transport on a host's link.
    pub fn of(ctx: &NodeCtx<impl Effects>, t: &TransportSpec, host: HostIx) -> PacketTime {
        PacketTime(ctx.ports[ctx.hosts[host].port].serialization((t.sizes.mss + t.sizes.header) as u64))
    }

    /// Duration of `packets` packets.
    pub fn times(self, packets: f64) -> Time {
        Time((self.0.0 as f64 * packets).round() as u64).max(Time::ps(1))
    }
}

/// Rules of a transport with tokens: its parameters implement them.
pub trait TokenRules: Debug + Sized + 'static {
    /// Parameters of a transport.
    fn of(t: &TransportSpec) -> &Self;

    /// Initial free tokens of a message of `packets` packets.
    fn free_of(&self, packets: u32) -> u32;

    /// Time of expiry of `free` initial tokens.
    fn free_until(&self, now: Time, free: u32, one: PacketTime) -> Time;

    /// Time of expiry of a token that arrives `now`, given that of the token itself.
    fn until(&self, now: Time, told: Time, one: PacketTime) -> Time;

    /// Class of data packets of a message of so many packets and bytes.
    fn class_of(&self, packets: u32, size: u64, mss: u32) -> u8;
}
