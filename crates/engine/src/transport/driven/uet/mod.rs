//! The transport of Ultra Ethernet (UET) with its two congestion controls, one at a time or together: NSCC, a window of
//! the sender's from delays and marks, and RCCC, credit of the receiver's.
//!
//! Rules are those of uet-htsim (ultraethernet/uet-htsim 40ccb05, `uec.cpp` and `uec_mp.cpp`). Differences: sums of
//! NSCC's increases have 64 bits, where 32 wrap around near 800 Gb/s; with REPS, a timeout without trimming freezes the
//! ring as one with it does, where the program there ends.

mod nscc;
mod receiver;
mod sender;
mod sleek;
mod spread;

pub use receiver::Receiver;
pub use sender::Sender;

use crate::spec::{Protocol, TransportSpec, Uet};

/// Bytes of a quantum of credit.
const QUANTUM: u64 = 256;
/// Credit of one pull, in full segments.
const PULL: u64 = 4;
/// Numbers of pulls begin there, so that a target may lie below.
const FIRST_PULL: u32 = 100_000_000;
/// Packets that ACKs report beyond what has come in order.
const MAP: u32 = 64;

/// The parameters of a transport that is UET.
fn parameters(t: &TransportSpec) -> &Uet {
    match &t.protocol {
        Protocol::Uet(uet) => uet,
        _ => unreachable!("endpoints of UET are made for transports that are UET"),
    }
}

/// Bytes of a full packet.
fn full(t: &TransportSpec) -> u64 {
    (t.mss + t.header) as u64
}

/// Quanta of one pull.
fn pull_quanta(t: &TransportSpec) -> u32 {
    (PULL * t.mss as u64 / QUANTUM).max(1) as u32
}
