//! NDP (Handley et al., "Re-architecting datacenter networks and stacks for low latency and high performance", SIGCOMM
//! 2017).
//!
//! A flow begins with a window of packets that nobody has asked for; every later packet waits for a pull of its
//! receiver. Switches cut what they have no room for to its header, so that the receiver knows at once what to ask for
//! again. Each packet that arrives, whole or cut, is answered by an ACK or a NACK and earns the flow a pull; all pulls
//! of a host leave at the pace at which its link can bring what they ask for. Pulls are counted, so that one makes up
//! for those before it that were lost.
//!
//! Rules are those of htsim (Broadcom/csg-htsim 841d9e7, `ndp.cpp`): round robin of pulls by flow, pace of 99 % of the
//! link, the pull on an ACK where none waits. Beyond that there is a timer, of which htsim has the rules and does not
//! compile them in: without it a lost header stalls its flow.

mod receiver;
mod sender;

pub use receiver::Receiver;
pub use sender::Sender;

use crate::spec::{Ndp, Protocol, TransportSpec};

/// The parameters of a transport that is NDP.
fn parameters(t: &TransportSpec) -> &Ndp {
    match &t.protocol {
        Protocol::Ndp(ndp) => ndp,
        _ => unreachable!("endpoints of NDP are made for transports that are NDP"),
    }
}
