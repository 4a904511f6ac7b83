//! Transport of Ultra Ethernet (UET) with its two congestion controls, alone or together: NSCC, a sender window from
//! delays and marks, and RCCC, receiver credit.
//!
//! Rules are those of uet-htsim (ultraethernet/uet-htsim 40ccb05, `uec.cpp` and `uec_mp.cpp`). Differences: sums of
//! NSCC's increases have 64 bits, since 32 wrap around near 800 Gb/s. With REPS, a timeout without trimming freezes the
//! ring as a timeout with trimming does; uet-htsim aborts there.

mod nscc;
mod pacer;
mod receiver;
mod sender;
mod sleek;
mod spread;
mod wire;

pub use receiver::Receiver;
pub use sender::Sender;

use crate::spec::TransportSpec;

/// Size of a credit quantum, in bytes.
const QUANTUM: u64 = 256;
/// Credit of one pull, in full segments.
const PULL: u64 = 4;
/// First pull number, so that a target may lie below.
const FIRST_PULL: u32 = 100_000_000;
/// Packets that the bitmap of an ACK covers.
const MAP: u32 = 64;

/// Size of a full packet, in bytes.
fn full(t: &TransportSpec) -> u64 {
    (t.mss + t.header) as u64
}

/// Quanta of one pull.
fn pull_quanta(t: &TransportSpec) -> u32 {
    (PULL * t.mss as u64 / QUANTUM).max(1) as u32
}
