//! NDP (Handley et al., "Re-architecting datacenter networks and stacks for low latency and high performance", SIGCOMM
//! 2017).
//!
//! A flow begins with a window of unsolicited packets; every later packet waits for a pull of its receiver. Switches
//! trim packets that do not fit to their headers, so that the receiver knows at once what to ask for again. Each
//! arriving packet, complete or trimmed, is answered by an ACK or a NACK and earns the flow a pull. All pulls of a host
//! are paced at the rate at which its link can receive the pulled packets. Pulls are cumulative, so that one makes up
//! for lost ones before it.
//!
//! Rules are those of htsim (Broadcom/csg-htsim 841d9e7, `ndp.cpp`): round robin of pulls by flow, a pace of 99 % of
//! the link, the pull on an ACK if none waits. A retransmission timer is added; htsim has its rules but does not
//! compile them in. Without it a lost header stalls its flow.

mod pacer;
mod receiver;
mod sender;
mod wire;

use crate::spec::Ndp;
use crate::transport::packet::check::Check;
pub use receiver::Receiver;
pub use sender::Sender;

impl Check for Ndp {}
