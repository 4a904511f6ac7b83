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

use crate::spec::refusal::invalid;
use crate::spec::{About, Discipline, LinkSpec, RunError, Spec, TransportSpec, Uet};
use crate::transport::packet::check::Check;
pub use receiver::Receiver;
pub use sender::Sender;

/// Size of a credit quantum, in bytes.
const QUANTUM: u64 = 256;
/// Credit of one pull, in full segments.
const PULL: u64 = 4;
/// First pull number, so that a target may lie below.
const FIRST_PULL: u32 = 100_000_000;

/// Quanta of one pull.
fn pull_quanta(t: &TransportSpec) -> u32 {
    (PULL * t.sizes.mss as u64 / QUANTUM).max(1) as u32
}

impl Check for Uet {
    fn check(&self, spec: &Spec, _t: &TransportSpec) -> Result<(), RunError> {
        let cuts = |link: &LinkSpec| {
            let queue = &spec.queues[link.queue as usize];
            self.sleek && matches!(queue.discipline, Discipline::Trimming(_)) && !queue.drops_uncut()
        };
        if let Some(link) = (0..).zip(&spec.links).find_map(|(number, link)| cuts(link).then_some(number)) {
            let text = "expected \"none\" with transport.uet.sleek: trimmed packets are reported by NACKs".to_owned();
            return Err(RunError::Refused(About::Cuts(link), text));
        }
        let ratio = self.oversubscription;
        let others = spec.transports.iter().filter_map(|t| t.protocol.of::<Uet>()).map(|other| other.oversubscription);
        if let Some(other) = others.filter(|_| ratio > 1.0).find(|other| *other > 1.0 && *other != ratio) {
            return invalid(format!(
                "uet with oversubscription {ratio} and {other}, expected one ratio above 1: a host has one credit \
                 rate for all its flows"
            ));
        }
        Ok(())
    }
}
