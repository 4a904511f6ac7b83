//! pHost (Gao et al., "pHost: distributed near-optimal datacenter transport over commodity network fabric", CoNEXT
//! 2015).
//!
//! A sender announces a message by a request. Its receiver gives tokens, one in the time of a full packet on its
//! host's link, to the message that lacks the fewest packets; each lets one packet go, which it names, and dies soon
//! if it is not used. A sender that leaves tokens unanswered is passed over for a time. Tokens for what is
//! missing go again once all have gone; the first packets of a message have tokens from the start.
//!
//! Rules are those of the authors' simulator (NetSys/simulator 179b64e, `ext/capability*`), not held against the
//! paper's text. Beyond it a request or an acknowledgement that is lost goes again, and what arrives wakes its
//! receiver: there nothing that controls is lost, and a paused receiver looks again only after the pause.

mod message;
mod receiver;
mod sender;

pub use receiver::Receiver;
pub use sender::Sender;

use crate::event::packet::Packet;
use crate::ids::HostIx;
use crate::node::context::{Effects, NodeCtx};
use crate::spec::{PHost, Protocol, TransportSpec};
use incast_cc::Time;

/// The class of requests, tokens and acknowledgements.
const CONTROL: u8 = 0;

/// The parameters of a transport that is pHost.
fn parameters(t: &TransportSpec) -> &PHost {
    match &t.protocol {
        Protocol::PHost(own) => own,
        _ => unreachable!("endpoints of pHost are made for transports that are pHost"),
    }
}

/// The time of a full packet on the link of a host.
#[derive(Clone, Copy, Debug)]
struct PacketTime(Time);

impl PacketTime {
    fn of(ctx: &NodeCtx<impl Effects>, t: &TransportSpec, host: HostIx) -> PacketTime {
        PacketTime(ctx.ports[ctx.hosts[host].port].serialization((t.mss + t.header) as u64))
    }

    /// So many of them.
    fn times(self, packets: f64) -> Time {
        Time((self.0.0 as f64 * packets).round() as u64).max(Time::ps(1))
    }
}

/// The token for which a packet of data goes, by its number among those of the message, as the packet says.
fn tell_token(packet: &mut Packet, token: u32) {
    packet.wnd = token;
}

/// See [`tell_token`].
fn token_of(packet: &Packet) -> u32 {
    packet.wnd
}
