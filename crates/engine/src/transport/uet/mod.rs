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
use crate::spec::{Discipline, QueueSpec, RunError, Spec, TransportSpec, Uet};
use crate::transport::packet::check::{Check, are_entropies, is_share};
use incast_cc::Time;
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
        let cuts = |queue: &QueueSpec| matches!(queue.discipline, Discipline::Trimming(_)) && !queue.drops_uncut();
        if self.sleek && spec.queues.iter().any(cuts) {
            return invalid(
                "SLEEK needs switches that drop instead of trimming: with trimming, NACKs report losses".to_owned(),
            );
        }
        if !self.window && !self.credit {
            return invalid("uet without NSCC and without RCCC, expected one of them, or both".into());
        }
        let ratio = self.oversubscription;
        if !(ratio >= 1.0 && ratio.is_finite()) || ratio > 1.0 && !self.credit {
            return invalid(format!(
                "uet {} credit, with oversubscription {ratio}, expected a finite number of at least 1, and 1 without \
                 credit",
                if self.credit { "with" } else { "without" }
            ));
        }
        let others = spec.transports.iter().filter_map(|t| t.protocol.of::<Uet>()).map(|other| other.oversubscription);
        if let Some(other) = others.filter(|_| ratio > 1.0).find(|other| *other > 1.0 && *other != ratio) {
            return invalid(format!(
                "uet with oversubscription {ratio} and {other}, expected one ratio above 1: a host has one credit \
                 rate for all its flows"
            ));
        }
        if ratio > 1.0 && self.rtt.is_some_and(|rtt| rtt < Uet::MIN_RTT) {
            return invalid(format!(
                "uet with oversubscription {ratio} and a round-trip time of {:?}, expected at least {}",
                self.rtt,
                Uet::MIN_RTT
            ));
        }
        let times = self.rtt != Some(Time::ZERO) && self.target_delay != Some(Time::ZERO);
        if is_share(self.pull_rate) && times && self.ack_bytes > 0 && are_entropies(self.entropies) {
            return Ok(());
        }
        invalid(format!(
            "uet with a credit rate of {} (expected above 0 and at most 1), an ACK after {} B (expected at least 1), \
             {} entropies (expected a power of two up to 32768), a round-trip time of {:?} and a target delay of {:?} \
             (expected above 0)",
            self.pull_rate, self.ack_bytes, self.entropies, self.rtt, self.target_delay
        ))
    }
}
