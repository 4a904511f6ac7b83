//! EQDS (Olteanu et al., "An edge-queued datagram service for all datacenter traffic", NSDI 2022).
//!
//! Receivers hand out credit, in quanta of 512 bytes, as fast as their link takes what it lets go. A sender begins with
//! a window of speculative credit, and says in every packet up to where it could use credit; the first answer ends the
//! speculation. Credit is counted, so that one packet of it makes up for those before it that were lost. Cut packets
//! are told by NACKs; ACKs are coalesced and report by a bitmap. A packet may go on any positive credit.
//!
//! Rules are those of htsim (Broadcom/csg-htsim 841d9e7, `eqds.cpp`). What is an accident there is [`Eqds::htsim`]:
//! more credit than backlog asks for a negative number of quanta, which lowers the target. A target below zero wraps
//! around: a flow that ends before it was given what its window had beyond it is given credit for ever. The pace of
//! credit is .99 of the time of a packet and 38 bytes. All credit of a flow takes one path.

mod receiver;
mod sender;

pub use receiver::Receiver;
pub use sender::Sender;

use crate::spec::{Eqds, Protocol, TransportSpec};

/// Bytes of a quantum.
const QUANTUM: u64 = 512;
/// Packets that ACKs report beyond what has come in order.
const MAP: u32 = 64;
/// An ACK is due when more bytes than this have come since the last.
const UNACKNOWLEDGED: u64 = 16_384;

/// The parameters of a transport that is EQDS.
fn parameters(t: &TransportSpec) -> &Eqds {
    match &t.protocol {
        Protocol::Eqds(eqds) => eqds,
        _ => unreachable!("endpoints of EQDS are made for transports that are EQDS"),
    }
}

/// Bytes of a full packet.
fn full(t: &TransportSpec) -> u64 {
    (t.mss + t.header) as u64
}
