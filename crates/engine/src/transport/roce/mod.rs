//! RoCEv2's reliable connection with go-back-N (InfiniBand Architecture Specification, volume 1, section 9.7: reliable
//! service).
//!
//! A receiver takes packets in their order alone. The first one beyond a gap is answered by a NACK, the others are
//! discarded until the missing packet arrives. On a NACK, and when nothing was acknowledged for the timeout, the sender
//! goes back to the first missing packet and sends everything from there again. Some packets ask for an
//! acknowledgement, which covers all before it.
//!
//! Differences: the bytes of an application are one stream, without verbs, memory registration or receive queues that
//! run empty. A window of packets stands for the limits of a NIC, which sends at the rate of its link below it:
//! there is no congestion control. Timeouts repeat for ever, as with an unlimited number of retries.

mod receiver;
mod sender;
mod wire;

use crate::spec::Roce;
use crate::transport::packet::check::Check;
pub use receiver::Receiver;
pub use sender::Sender;

impl Check for Roce {}
