//! pHost (Gao et al., "pHost: distributed near-optimal datacenter transport over commodity network fabric", CoNEXT
//! 2015).
//!
//! A sender announces a message by a request. Its receiver gives one token per full-packet time on its host's link, to
//! the message with the fewest missing packets. A token names the packet that it lets go, and expires soon. A sender
//! that leaves tokens unused is skipped for a time. Once all tokens have gone, tokens for missing packets go again. The
//! first packets of a message have tokens from the start.
//!
//! Rules are those of the authors' simulator (NetSys/simulator 179b64e, `ext/capability*`); they have not been checked
//! against the paper's text. Two additions: a lost request or acknowledgement is repeated, and any arrival wakes the
//! receiver. In the simulator control packets are never lost, and a paused receiver checks again only after the pause.

mod message;
mod pacer;
mod receiver;
mod sender;
mod wire;

pub use receiver::Receiver;
pub use sender::Sender;

use crate::ids::HostIx;
use crate::node::context::{Effects, NodeCtx};
use crate::spec::TransportSpec;
use incast_cc::Time;

/// Traffic class of requests, tokens and acknowledgements.
const CONTROL: u8 = 0;

/// Serialization time of a full packet on a host's link.
#[derive(Clone, Copy, Debug)]
struct PacketTime(Time);

impl PacketTime {
    fn of(ctx: &NodeCtx<impl Effects>, t: &TransportSpec, host: HostIx) -> PacketTime {
        PacketTime(ctx.ports[ctx.hosts[host].port].serialization((t.mss + t.header) as u64))
    }

    /// Duration of `packets` packets.
    fn times(self, packets: f64) -> Time {
        Time((self.0.0 as f64 * packets).round() as u64).max(Time::ps(1))
    }
}
