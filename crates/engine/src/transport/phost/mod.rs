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

use crate::ids::HostIx;
use crate::node::context::{Effects, NodeCtx};
use crate::spec::refusal::{invalid, refuse_link};
use crate::spec::{LinkSpec, PHost, RunError, Spec, TransportSpec};
use crate::transport::packet::check::{Check, check_classes, flows_of};
use incast_cc::{Rate, Time};
pub use receiver::Receiver;
pub use sender::Sender;

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

impl Check for PHost {
    fn check(&self, spec: &Spec, t: &TransportSpec) -> Result<(), RunError> {
        let time = |x: f64| x.is_finite() && x > 0.0;
        let times = [self.gap, self.expiry, self.skip, self.reissue];
        if !times.into_iter().all(time) || self.window == 0 || self.large == Some(0) {
            return invalid(format!(
                "phost with times of {times:?} packets (expected above 0), a window of {} tokens (expected at least \
                 1) and large messages above {:?} bytes (expected above 0)",
                self.window, self.large
            ));
        }
        if t.rto_min == Time::ZERO {
            return invalid(
                "phost with an rto_min of 0, expected a time above 0: requests are repeated after it".to_owned(),
            );
        }
        check_classes(spec, &t.protocol, flows_of(spec, self))?;
        let ends = |l: &&LinkSpec| flows_of(spec, self).any(|f| l.from == f.src || l.from == f.dst);
        match spec.links.iter().filter(|l| l.rate == Rate::INFINITE).find(ends) {
            Some(link) => refuse_link(
                spec,
                link,
                format!(
                    "link {}: phost at a host with infinite rate, expected a rate: a host sends one token per packet \
                     time",
                    link.name
                ),
            ),
            None => Ok(()),
        }
    }
}
