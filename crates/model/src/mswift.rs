//! MSwift over many paths of which one is slow: the median of the last delays is a fast one, so the window is never
//! reduced.
//!
//! MSwift (Gerstein, Silberstein and Keslassy, arXiv 2025, section III) compares the median of its last `H =
//! max(min(alpha W, K), 3)` delays with the target. Of H delays in a round robin over n paths at most `ceil(H/n)` are
//! slow. With n of at least three the (lower) median is therefore a fast delay for every H from three up: the window
//! grows to its largest, and by Little's law
//!
//! ```text
//! X = min(max_cwnd mss / T_avg, rate)          T_avg = (1 - q) T_s + q T_l
//! ```
//!
//! The paper has no theorem on MSwift; this is derived from its rule. With random paths a median is slow if more than
//! half of H delays are; the probability, a binomial tail, is a figure too.

use crate::declaration::{Model, Parameters, evaluate};
use crate::paths::{self, is_positive};
use crate::{Figures, Invalid};

parameters! {
    /// MSwift, one path in 1/q slow.
    MSwift gives Unmoved {
        /// Share of packets on the slow path, 1/n.
        q as "q": Number "" = f64::NAN, "", "a number above 0, at most 1/3: with more slow packets the median of three \
            delays may be slow" => |q| q > 0.0 && q <= 1.0 / 3.0 + 1e-9;
        /// Payload of a packet.
        mss_bytes as "mss": Size "" = 4000.0, "htsim's packets", "a size above 0" => is_positive;
        /// Round-trip time of the other paths, T_s.
        short_rtt_s as "short_rtt": Time "" = 14e-6, "section IV-A", "a time above 0" => is_positive;
        /// Round-trip time of the slow path, T_l.
        long_rtt_s as "long_rtt": Time "" = 28e-6, "section IV-A: T_l = 2 T_s", "a time above 0" => is_positive;
        /// Largest window.
        max_cwnd as "max_cwnd": Number "packets" = 1000.0, "htsim", "a number above 0" => is_positive;
        /// Rate of the sending link, of payload; or inf.
        rate_bps as "rate": Rate "" = 100e9, "section IV", "a rate above 0" => |r| r > 0.0;
        /// Number of delays in the median, H.
        history as "history": Number "delays" = 10.0, "section IV: K", "a whole number from 3 to 10000" =>
            |h| (3.0..=1e4).contains(&h) && h.fract() == 0.0;
    }
}

figures! {
    /// Steady state of MSwift, without reductions.
    Unmoved {
        /// Throughput, payload.
        throughput_bps: "bit/s";
        /// Mean window: throughput in packets a short round trip.
        mean_window_packets: "packets";
        /// Mean round-trip time over the paths.
        mean_rtt_s: "s";
        /// Largest number of slow delays in the history, in a round robin.
        slow_in_history: "delays";
        /// Share of medians that are slow if every packet takes a random path.
        random_slow_medians: "";
    }
}

/// Description printed by `describe`.
pub static MODEL: Model = Model {
    name: "mswift",
    title: "MSwift over many paths, one of them slow",
    source: "Gerstein, Silberstein, Keslassy, Making congestion control robust to per-packet load balancing in \
             datacenters, section III; derived from the rule, the paper has no theorem",
    what: "The median delay is a fast one, so the window never falls: its bound or the link's rate is the throughput.",
    assumptions: &[
        paths::ASSUMPTIONS[0],
        paths::ASSUMPTIONS[1],
        "Short round trips are below the target; hosts delay nothing.",
        "The median of an even number of delays is the lower of the two in the middle.",
    ],
    fails: &[
        "Random instead of round-robin spraying: some medians are slow (random_slow_medians) and make the window fall.",
        "Packets that leave in bursts: the slow ACKs of a burst come back together, and are the majority of a history.",
        "More than one slow path in three.",
    ],
    parameters: MSwift::PARAMETERS,
    figures: Unmoved::FIGURES,
    evaluate: evaluate::<MSwift>,
};

impl MSwift {
    /// Probability that at most `most` of H independent packets are fast, by the binomial distribution.
    fn few_fast(&self, most: u32) -> f64 {
        let (h, odds) = (self.history, (1.0 - self.q) / self.q);
        // starts with i = 0 fast packets; logarithms avoid underflow for a history of thousands
        let mut term = h * self.q.ln();
        let mut sum = term.exp();
        for i in 1..=most {
            let i = f64::from(i);
            term += ((h - i + 1.0) / i * odds).ln();
            sum += term.exp();
        }
        sum.min(1.0)
    }

    fn work_out(&self) -> Result<Unmoved, Invalid> {
        let average = (1.0 - self.q) * self.short_rtt_s + self.q * self.long_rtt_s;
        let throughput = (self.max_cwnd * self.mss_bytes * 8.0 / average).min(self.rate_bps);
        Ok(Unmoved {
            throughput_bps: throughput,
            mean_window_packets: throughput * self.short_rtt_s / (8.0 * self.mss_bytes),
            mean_rtt_s: average,
            slow_in_history: (self.history * self.q - 1e-9).ceil().max(1.0),
            // the lower median is slow if at most (H - 1)/2 delays are fast
            random_slow_medians: self.few_fast((self.history as u32 - 1) / 2),
        })
    }
}
