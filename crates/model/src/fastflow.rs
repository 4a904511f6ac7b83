//! FastFlow over many paths of which one is slow (theorem 4 of Gerstein, Silberstein and Keslassy, arXiv 2025).
//!
//! With `a = T_s / baseRTT`, a target of t base round trips, and the bandwidth-delay product BDP in packets, the
//! window grows by A packets per round trip; a slow packet removes S packets, and then the share fd/BDP of the rest:
//!
//! ```text
//! A = mi (t - a) / a + fi         G = 1 - fd / BDP          T_avg = (1 - q) T_s + q T_l
//! S = md (T_l - t baseRTT) / T_l, at most 1
//! W^2 (1 - G^2) + 2 S G^2 W - S^2 G^2 = 2 A / q
//! X = (A mss / q) / ((S G + (1 - G) W) T_avg)
//! ```
//!
//! The theorem has the paper's t = 1.5, mi = md = 2 and fi = 1/4, so that A = (12 - 7 a) / (4 a), and S = 1.
//!
//! For q -> 0 that is mss/T_avg sqrt(A (1 + G) / (2 (1 - G))) / sqrt(q). Above about q = A fd / (2 S^2 BDP) the S
//! packets outweigh the share, and the window grows like A / (S q) instead: the law is an asymptote, 8 % away at n =
//! 2048 with the defaults.

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
        alpha as "alpha": Number "" = 1.2, "footnote 1", "a number above 1, below target_factor" =>
            |a| a > 1.0 && a.is_finite();
        /// Target round-trip time in base round trips, t.
        target_factor as "target_factor": Number "" = 1.5, "footnote 1", "a number above 1" =>
            |t| t > 1.0 && t.is_finite();
        /// Multiplicative increase, for each unit of (target - rtt) / rtt.
        mi as "mi": Number "" = 2.0, "footnote 1", "a number above 0" => is_positive;
        /// Multiplicative decrease, for each unit of (rtt - target) / rtt.
        md as "md": Number "" = 2.0, "footnote 1", "a number above 0" => is_positive;
        /// Fair increase per round trip.
        fi as "fi": Number "packets" = 0.25, "footnote 1", "a number above 0" => is_positive;
        /// Fair decrease: the share of the marked bytes subtracted from a window of one bandwidth-delay product.
        fd as "fd": Number "" = 0.8, "footnote 1", "a number above 0, at most 1" => |fd| fd > 0.0 && fd <= 1.0;
        /// Bandwidth-delay product.
        bdp_packets as "bdp": Number "packets" = 36.6, "100 Gb/s, a base round trip of 12 us, packets of 4096 B",
            "a number above 1" => |bdp| bdp > 1.0 && bdp.is_finite();
    }
}

/// Description printed by `describe`.
pub static MODEL: Model = Model {
    name: "fastflow",
    title: "FastFlow over many paths, one of them slow",
    source: "Gerstein, Silberstein, Keslassy, Making congestion control robust to per-packet load balancing in \
             datacenters, theorem 4",
    what: "Every slow packet removes a packet from the window and then a share of it: throughput tends to 1/sqrt(q) as \
           q falls.",
    assumptions: &[
        paths::ASSUMPTIONS[0],
        paths::ASSUMPTIONS[1],
        paths::ASSUMPTIONS[2],
        paths::ASSUMPTIONS[3],
        paths::ASSUMPTIONS[4],
        "Only slow packets are marked. In the theorem they take so long (with its md of 2, two target round trips) \
         that each reduces the window by a whole packet; with a smaller T_l, by md (T_l - target) / T_l of one.",
        "Every mark reduces the window; FastFlow itself waits for a share of 25 % marked packets.",
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
    /// Additive increase per round trip, packets: A.
    pub fn increase(&self) -> f64 {
        self.mi * (self.target_factor - self.alpha) / self.alpha + self.fi
    }

    /// Target round-trip time, s.
    fn target_s(&self) -> f64 {
        self.target_factor * self.short_rtt_s / self.alpha
    }

    /// Packets removed by the delay of a slow packet: S.
    pub fn taken(&self) -> f64 {
        (self.md * (self.long_rtt_s - self.target_s()) / self.long_rtt_s).min(1.0)
    }

    /// Share of the window left by the fair decrease: G.
    pub fn kept(&self) -> f64 {
        1.0 - self.fd / self.bdp_packets
    }

    /// The factor before 1/sqrt(q) for q -> 0, where T_avg is T_s.
    pub fn limit(&self) -> f64 {
        let g = self.kept();
        (self.increase() * (1.0 + g) / (2.0 * (1.0 - g))).sqrt()
    }

    fn work_out(&self) -> Result<Steady, Invalid> {
        if self.alpha >= self.target_factor {
            return Err(self.invalid("alpha", format!("below target_factor, {}", self.target_factor)));
        }
        let target = self.target_s();
        if self.long_rtt_s <= target {
            let target = crate::Quantity::Time.write(target);
            return Err(self.invalid("long_rtt", format!("above the target round trip, {target}")));
        }
        let (a, s, g, packets) = (self.increase(), self.taken(), self.kept(), 1.0 / self.q);
        let (g2, yield_) = (g * g, 2.0 * a * packets);
        let w = (-s * g2 + (s * s * g2 + (1.0 - g2) * yield_).sqrt()) / (1.0 - g2);
        let lowest = (w - s) * g;
        if lowest < 1.0 {
            return Err(self.invalid("q", "a share so small that the window stays above one packet"));
        }
        let average = (1.0 - self.q) * self.short_rtt_s + self.q * self.long_rtt_s;
        // packets per second: those of a period, over the average round trips in which the window grows back
        let rate = packets * a / ((s * g + (1.0 - g) * w) * average);
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
