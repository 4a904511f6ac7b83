//! TCP over many paths of which one is slow (theorem 1 of Gerstein, Silberstein and Keslassy, arXiv 2025).
//!
//! Three packets overtake a slow one, which therefore counts as lost and halves the window: the sawtooth of
//! [`crate::mathis`] with one loss in n packets and the short round-trip time,
//!
//! ```text
//! X = mss/T_s sqrt(3/2) / sqrt(q)
//! ```
//!
//! The paper prints 1.22 for sqrt(3/2) = 1.2247.

use crate::declaration::{Model, Parameters, evaluate};
use crate::paths::{self, Steady, is_positive, is_share};
use crate::sawtooth::Sawtooth;
use crate::{Figures, Invalid};

parameters! {
    /// TCP, one path in 1/q slow.
    Tcp gives Steady {
        /// Share of packets on the slow path, 1/n.
        q as "q": Number "" = f64::NAN, "", "a number above 0, at most 1/4" => is_share;
        /// Payload of a packet.
        mss_bytes as "mss": Size "" = 4000.0, "htsim's packets", "a size above 0" => is_positive;
        /// Round-trip time of the other paths, T_s.
        short_rtt_s as "short_rtt": Time "" = 14e-6, "section IV-A", "a time above 0" => is_positive;
        /// Round-trip time of the slow path, T_l; only checked to be long enough.
        long_rtt_s as "long_rtt": Time "" = 28e-6, "section IV-A: T_l = 2 T_s", "a time above 0" => is_positive;
    }
}

/// Condition under which a slow packet counts as a loss.
pub(crate) const OVERTAKEN: &str =
    "At least three packets overtake a slow one; falls within a round trip count as one.";
/// Condition under which it does not.
pub(crate) const MISTAKE: &str =
    "A sender that learns of its mistake (duplicate SACKs, undo) or adapts its threshold to reordering does better.";

/// Description printed by `describe`.
pub static MODEL: Model = Model {
    name: "tcp",
    title: "TCP over many paths, one of them slow",
    source: "Gerstein, Silberstein, Keslassy, Making congestion control robust to per-packet load balancing in \
             datacenters, theorem 1",
    what: "Every slow packet is overtaken, taken for lost, and halves the window: throughput goes like 1/sqrt(q).",
    assumptions: &[
        paths::ASSUMPTIONS[0],
        paths::ASSUMPTIONS[1],
        paths::ASSUMPTIONS[2],
        paths::ASSUMPTIONS[3],
        paths::ASSUMPTIONS[4],
        OVERTAKEN,
    ],
    fails: &[
        paths::FAILS[0],
        paths::FAILS[1],
        "A recovery takes a round trip in which the window does not grow, and halves whole packets: NewReno's mean \
         window is one and a half to two packets smaller, 13 % at n = 121, 5 % at 1024 and below 3 % at 2048.",
        MISTAKE,
    ],
    parameters: Tcp::PARAMETERS,
    figures: Steady::FIGURES,
    evaluate: evaluate::<Tcp>,
};

impl Tcp {
    fn work_out(&self) -> Result<Steady, Invalid> {
        let steady = Steady::of(Sawtooth::new(1.0, 0.5, 1.0 / self.q), self.q, self.mss_bytes, self.short_rtt_s);
        match steady.overtaken(self.short_rtt_s, self.long_rtt_s) {
            Ok(()) => Ok(steady),
            Err(expected) => Err(self.invalid("long_rtt", expected)),
        }
    }
}
