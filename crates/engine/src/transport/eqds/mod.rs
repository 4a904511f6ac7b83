//! EQDS (Olteanu et al., "An edge-queued datagram service for all datacenter traffic", NSDI 2022).
//!
//! Receivers give credit in quanta of 512 bytes, at the pace at which their link takes the data sent for it. A sender
//! starts with a window of speculative credit. Every packet carries the credit target: up to where the sender could use
//! credit. The first response ends the speculation. Credit is cumulative, so that one credit packet makes up for lost
//! ones before it. Trimmed packets are reported by NACKs; ACKs are coalesced and carry a bitmap. A packet may go on any
//! positive credit.
//!
//! Rules are those of htsim (Broadcom/csg-htsim 841d9e7, `eqds.cpp`). [`Eqds::htsim`] also reproduces its accidents.
//! More credit than backlog asks for a negative number of quanta, which lowers the target. A target below zero wraps
//! around: a flow that ends before it was given the credit beyond its window is given credit for ever. The pace of
//! credit is .99 of the time of a packet and 38 bytes. All credit of a flow takes one path.

mod receiver;
mod sender;
mod wire;

use crate::spec::Eqds;
use crate::transport::packet::check::Check;
pub use receiver::Receiver;
pub use sender::Sender;

/// Size of a quantum, in bytes.
const QUANTUM: u64 = 512;
/// Bytes received since the last ACK at which an ACK is due.
const UNACKNOWLEDGED: u64 = 16_385;

impl Check for Eqds {}
