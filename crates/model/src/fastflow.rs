//! FastFlow over many paths of which one is slow (theorem 4 of Gerstein, Silberstein and Keslassy, arXiv 2025).
//!
//! With `a = T_s / baseRTT`, a target of 1.5 base round trips, and the bandwidth-delay product BDP in packets, the
//! window grows by A packets a round trip; a slow packet takes one packet, and then the share fd/BDP of what is left:
//!
//! ```text
//! A = (12 - 7 a) / (4 a)          G = 1 - fd / BDP          T_avg = (1 - q) T_s + q T_l
//! W^2 (1 - G^2) + 2 G^2 W - G^2 = 2 A / q
//! X = (A mss / q) / ((G + (1 - G) W) T_avg)
//! ```
//!
//! For q -> 0 that is mss/T_avg sqrt(A (1 + G) / (2 (1 - G))) / sqrt(q). Above about q = A fd / (2 BDP) the one packet
//! outweighs the share, and the window grows like A/q instead: the law is an asymptote, 8 % away at n = 2048 with the
//! defaults.

use crate::declaration::{Model, Parameters, evaluate};
use crate::paths::{self, Steady, is_positive, is_share};
use crate::{Figures, Invalid};

parameters! {
    /// FastFlow, one path in 1/q slow.
    FastFlow gives Steady {
        /// Share of packets on the slow path, 1/n.
        q as "q": Number "" = f64::NAN, "", "a number above 0, at most 1/4" => is_share;
        /// Payload of a packet.
        mss_bytes as "mss": Size "" = 4000.0, "htsim's packets", "a size above 0" => is_positive;
        /// Round-trip time of the other paths, T_s.
        short_rtt_s as "short_rtt": Time "" = 14.4e-6, "footnote 1", "a time above 0" => is_positive;
        /// Round-trip time of the slow path, T_l.
        long_rtt_s as "long_rtt": Time "" = 36e-6, "footnote 1: T_l = 2.5 T_s", "a time above 0" => is_positive;
        /// Short round trips in base round trips, a.
        alpha as "alpha": Number "" = 1.2, "footnote 1", "a number above 1, below 1.5" => |a| a > 1.0 && a < 1.5;
        /// Fair decrease, fd.
        fair_decrease as "fair_decrease": Number "" = 0.8, "footnote 1", "a number above 0, at most 1" =>
            |fd| fd > 0.0 && fd <= 1.0;
        /// Bandwidth-delay product.
        bdp_packets as "bdp": Number "packets" = 36.6, "100 Gb/s, a base round trip of 12 us, packets of 4096 B",
            "a number above 1" => |bdp| bdp > 1.0 && bdp.is_finite();
    }
}

/// What `describe` prints.
pub static MODEL: Model = Model {
    name: "fastflow",
    title: "FastFlow over many paths, one of them slow",
    source: "Gerstein, Silberstein, Keslassy, Making congestion control robust to per-packet load balancing in \
             datacenters, theorem 4",
    what: "Every slow packet takes a packet from the window and then a share of it: throughput tends to 1/sqrt(q) as q \
           falls.",
    assumptions: &[
        paths::ASSUMPTIONS[0],
        paths::ASSUMPTIONS[1],
        paths::ASSUMPTIONS[2],
        paths::ASSUMPTIONS[3],
        paths::ASSUMPTIONS[4],
        "Slow packets are marked and take at least two target round trips, of 1.5 base round trips each.",
        "Marks always take from the window: there is no waiting for a share of 25 % marked packets, as FastFlow has \
         it.",
        "Both decreases are made in full for one slow packet, one after the other. FastFlow as published takes one \
         packet at most for one packet's mark.",
        "Fast increase never begins.",
    ],
    fails: &[
        paths::FAILS[1],
        "FastFlow itself waits until a quarter of its packets are marked: with one path in five or more slow it never \
         decreases at all.",
        "With at most one packet for a mark, the window grows like A/q until something else bounds it.",
    ],
    parameters: FastFlow::PARAMETERS,
    figures: Steady::FIGURES,
    evaluate: evaluate::<FastFlow>,
};

impl FastFlow {
    /// Additive increase a round trip, packets: A.
    pub fn increase(&self) -> f64 {
        (12.0 - 7.0 * self.alpha) / (4.0 * self.alpha)
    }

    /// Share of the window that the fair decrease leaves: G.
    pub fn kept(&self) -> f64 {
        1.0 - self.fair_decrease / self.bdp_packets
    }

    /// The factor before 1/sqrt(q) for q -> 0, where T_avg is T_s.
    pub fn limit(&self) -> f64 {
        let g = self.kept();
        (self.increase() * (1.0 + g) / (2.0 * (1.0 - g))).sqrt()
    }

    fn work_out(&self) -> Result<Steady, Invalid> {
        let (a, g, packets) = (self.increase(), self.kept(), 1.0 / self.q);
        let least = 3.0 * self.short_rtt_s / self.alpha;
        if self.long_rtt_s < least * (1.0 - 1e-9) {
            let least = crate::Quantity::Time.write(least);
            return Err(self.invalid("long_rtt", format!("at least two target round trips, {least}")));
        }
        let (g2, yield_) = (g * g, 2.0 * a * packets);
        let w = (-g2 + (g2 * (1.0 - yield_) + yield_).sqrt()) / (1.0 - g2);
        let lowest = (w - 1.0) * g;
        if lowest < 1.0 {
            return Err(self.invalid("q", "a share so small that the window stays above one packet"));
        }
        let average = (1.0 - self.q) * self.short_rtt_s + self.q * self.long_rtt_s;
        // packets a second: those of a period, over as many average round trips as the window takes to grow back
        let rate = packets * a / ((g + (1.0 - g) * w) * average);
        let mean = rate * self.short_rtt_s;
        Ok(Steady {
            throughput_bps: rate * self.mss_bytes * 8.0,
            mean_window_packets: mean,
            peak_window_packets: w,
            cut: 1.0 - lowest / w,
            round_trips: packets / mean,
            constant: mean * self.q.sqrt(),
        })
    }
}
