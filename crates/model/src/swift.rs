//! Swift over many paths of which one is slow (theorem 3 of Gerstein, Silberstein and Keslassy, arXiv 2025).
//!
//! A slow packet leaves a hole among the selective acknowledgements and counts as lost, and the window falls by
//! `max_mdf`. It grows by `ai` per round trip, because the short round trip is below the target:
//!
//! ```text
//! X = mss/T_s sqrt((1/max_mdf - 1/2) ai) / sqrt(q)
//! ```
//!
//! TCP's throughput with max_mdf 0.5 and ai 1.

use crate::declaration::{Model, Parameters, evaluate};
use crate::paths::{self, Steady, is_positive, is_share};
use crate::sawtooth::Sawtooth;
use crate::{Figures, Invalid};

parameters! {
    /// Swift, one path in 1/q slow.
    Swift gives Steady {
        /// Share of packets on the slow path, 1/n.
        q as "q": Number "" = f64::NAN, "", "a number above 0, at most 1/4" => is_share;
        /// Payload of a packet.
        mss_bytes as "mss": Size "" = 4000.0, "htsim's packets", "a size above 0" => is_positive;
        /// Round-trip time of the other paths, T_s.
        short_rtt_s as "short_rtt": Time "" = 14e-6, "section IV-A", "a time above 0" => is_positive;
        /// Round-trip time of the slow path, T_l; only checked to be long enough.
        long_rtt_s as "long_rtt": Time "" = 28e-6, "section IV-A: T_l = 2 T_s", "a time above 0" => is_positive;
        /// Additive increase per round trip.
        ai as "ai": Number "packets" = 1.0, "footnote 1: htsim", "a number above 0" => is_positive;
        /// Share of the window removed by a loss.
        max_mdf as "max_mdf": Number "" = 0.5, "footnote 1: htsim", "a number above 0, at most 1" =>
            |d| d > 0.0 && d <= 1.0;
    }
}

/// Description printed by `describe`.
pub static MODEL: Model = Model {
    name: "swift",
    title: "Swift over many paths, one of them slow",
    source: "Gerstein, Silberstein, Keslassy, Making congestion control robust to per-packet load balancing in \
             datacenters, theorem 3",
    what: "Every slow packet is overtaken, taken for lost, and takes max_mdf of the window: throughput goes like \
           1/sqrt(q).",
    assumptions: &[
        paths::ASSUMPTIONS[0],
        paths::ASSUMPTIONS[1],
        paths::ASSUMPTIONS[2],
        paths::ASSUMPTIONS[3],
        paths::ASSUMPTIONS[4],
        "At least three packets overtake a slow one, and the ACK of the slow one comes within a round trip of that \
         fall, so that its delay does not make the window fall again.",
        "The short round trip is below the target delay, hosts delay nothing, and the window stays above one packet.",
    ],
    fails: &[paths::FAILS[0], paths::FAILS[1]],
    parameters: Swift::PARAMETERS,
    figures: Steady::FIGURES,
    evaluate: evaluate::<Swift>,
};

impl Swift {
    fn work_out(&self) -> Result<Steady, Invalid> {
        let sawtooth = Sawtooth::new(self.ai, self.max_mdf, 1.0 / self.q);
        if sawtooth.lowest() < 1.0 {
            let expected = "a window that stays at one packet or more after a fall: less of it, or a smaller q";
            return Err(self.invalid("max_mdf", expected));
        }
        let steady = Steady::of(sawtooth, self.q, self.mss_bytes, self.short_rtt_s);
        match steady.overtaken(self.short_rtt_s, self.long_rtt_s) {
            Ok(()) => Ok(steady),
            Err(expected) => Err(self.invalid("long_rtt", expected)),
        }
    }
}
