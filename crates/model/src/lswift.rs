//! LSwift, Swift that tolerates reordering, over many paths of which one is slow (theorem 5 of Gerstein, Silberstein
//! and Keslassy, arXiv 2025).
//!
//! The paper proves the order 1/sqrt(q) by perturbation and prints no equations; these follow from Swift's algorithm.
//! A slow ACK is above the target and removes the share `d` of the window `W`, and the target falls as the window
//! grows (flow scaling). With B the target without that term:
//!
//! ```text
//! (a)  t(W) = B + clamp(a_fs / sqrt(W) + b_fs, 0, fs_range)
//! (b)  d(W) = min(max_mdf, beta (T_l - t(W)) / T_l)                   where t(W) < T_l, else 0
//! (c)  W^2 - (1 - d)^2 W^2 = 2 ai (1/q - 1)                           the slow packet adds nothing
//! (d)  X = mss/T_s W (1 - d/2)
//! ```
//!
//! d does not fall with W, so the left side of (c) rises and has one root. Bisection finds it until the two bounds
//! are within 1e-13 of one another, relatively. For q -> 0 the window is above fs_max_cwnd, t = B, and the law is
//! that of theorem 3 with d in place of max_mdf.

use crate::declaration::{Model, Parameters, evaluate};
use crate::paths::{self, is_positive, is_share};
use crate::sawtooth::Sawtooth;
use crate::{Figures, Invalid};

parameters! {
    /// LSwift, one path in 1/q slow.
    LSwift gives Coupled {
        /// Share of packets on the slow path, 1/n.
        q as "q": Number "" = f64::NAN, "", "a number above 0, at most 1/4" => is_share;
        /// Payload of a packet.
        mss_bytes as "mss": Size "" = 4000.0, "htsim's packets", "a size above 0" => is_positive;
        /// Round-trip time of the other paths, T_s.
        short_rtt_s as "short_rtt": Time "" = 14e-6, "section IV-A", "a time above 0" => is_positive;
        /// Round-trip time of the slow path, T_l.
        long_rtt_s as "long_rtt": Time "" = 28e-6, "section IV-A: T_l = 2 T_s", "a time above 0" => is_positive;
        /// Target delay without flow scaling: base_target plus the term of the hops, B.
        target_s as "target": Time "" = 15.8e-6, "section IV", "a time above 0" => is_positive;
        /// Additive increase per round trip.
        ai as "ai": Number "packets" = 1.0, "footnote 1: htsim", "a number above 0" => is_positive;
        /// Decrease for each unit of (delay - target) / delay.
        beta as "beta": Number "" = 0.8, "footnote 1: htsim", "a number above 0" => is_positive;
        /// Largest share of the window removed by one ACK.
        max_mdf as "max_mdf": Number "" = 0.5, "footnote 1: htsim", "a number above 0, below 1" =>
            |d| d > 0.0 && d < 1.0;
        /// Flow scaling: the most it adds to the target; 0 is none.
        fs_range_s as "fs_range": Time "" = 100e-6, "footnote 1: htsim, 5 times 20 us", "a time" =>
            |range| range >= 0.0 && range.is_finite();
        /// Flow scaling: the window at and below which it adds fs_range.
        fs_min_cwnd as "fs_min_cwnd": Number "packets" = 0.1, "footnote 1: htsim", "a number above 0" => is_positive;
        /// Flow scaling: the window at and above which it adds nothing.
        fs_max_cwnd as "fs_max_cwnd": Number "packets" = 100.0, "footnote 1: htsim", "a number above 0" =>
            is_positive;
    }
}

figures! {
    /// The steady state of LSwift.
    Coupled {
        /// Throughput, payload.
        throughput_bps: "bit/s";
        /// Mean window: throughput in packets a short round trip.
        mean_window_packets: "packets";
        /// Window before a reduction.
        peak_window_packets: "packets";
        /// Share of the window removed by a reduction.
        cut: "";
        /// Short round trips between two reductions.
        round_trips: "round trips";
        /// The factor before 1/sqrt(q): throughput, in packets a short round trip, times sqrt(q).
        constant: "";
        /// Target delay at the window before a reduction.
        target_s: "s";
        /// Throughput by first-order perturbation: the target is computed once from the window of the target B.
        perturbed_bps: "bit/s";
    }
}

/// Description printed by `describe`.
pub static MODEL: Model = Model {
    name: "lswift",
    title: "Reordering-resilient Swift (LSwift) over many paths, one of them slow",
    source: "Gerstein, Silberstein, Keslassy, Making congestion control robust to per-packet load balancing in \
             datacenters, theorem 5; equations derived from Swift's algorithm (Kumar et al., SIGCOMM 2020)",
    what: "Every slow ACK is above the target and makes the window fall, although reordering does not: throughput goes \
           like 1/sqrt(q) once more, with a larger factor.",
    assumptions: &[
        paths::ASSUMPTIONS[0],
        paths::ASSUMPTIONS[1],
        paths::ASSUMPTIONS[2],
        paths::ASSUMPTIONS[3],
        paths::ASSUMPTIONS[4],
        "Short round trips are below the target, long ones above it; hosts delay nothing.",
        "A window of less than 1/q packets, so that falls are at least a round trip apart and none is held back.",
    ],
    fails: &[
        paths::FAILS[0],
        paths::FAILS[1],
        "Swift with the gate of its latest RTT reduces a window again only a long round trip after the last \
         reduction: with round_trips below long_rtt / short_rtt it skips slow ACKs, and its window is larger.",
    ],
    parameters: LSwift::PARAMETERS,
    figures: Coupled::FIGURES,
    evaluate: evaluate::<LSwift>,
};

impl LSwift {
    /// (a): target delay at a window of `w` packets, seconds.
    pub fn target_at(&self, w: f64) -> f64 {
        let lowest = 1.0 / self.fs_max_cwnd.sqrt();
        let a_fs = self.fs_range_s / (1.0 / self.fs_min_cwnd.sqrt() - lowest);
        self.target_s + (a_fs * (1.0 / w.sqrt() - lowest)).clamp(0.0, self.fs_range_s)
    }

    /// (b): share of a window of `w` packets removed by a slow ACK.
    pub fn cut_at(&self, w: f64) -> f64 {
        (self.beta * (self.long_rtt_s - self.target_at(w)) / self.long_rtt_s).clamp(0.0, self.max_mdf)
    }

    /// The factor before 1/sqrt(q) for q -> 0.
    pub fn limit(&self) -> f64 {
        let d = self.cut_at(f64::INFINITY);
        ((1.0 / d - 0.5) * self.ai).sqrt()
    }

    /// The sawtooth by perturbation: starts with the target B and recomputes the target from the window `steps`
    /// times. `None` if an intermediate window has a target above the slow delay.
    pub fn perturbed(&self, steps: u32) -> Option<Sawtooth> {
        let mut sawtooth = self.sawtooth(self.cut_at(f64::INFINITY));
        for _ in 0..steps {
            let cut = self.cut_at(sawtooth.peak);
            if cut <= 0.0 {
                return None;
            }
            sawtooth = self.sawtooth(cut);
        }
        Some(sawtooth)
    }

    /// Equation (c) with this reduction.
    fn sawtooth(&self, cut: f64) -> Sawtooth {
        Sawtooth::new(self.ai, cut, 1.0 / self.q - 1.0)
    }

    /// Root of (c).
    fn root(&self) -> f64 {
        let growth = 2.0 * self.ai * (1.0 / self.q - 1.0);
        let missing = |w: f64| {
            let d = self.cut_at(w);
            w * w * d * (2.0 - d) < growth
        };
        let (mut low, mut high) = (0.0, 1.0);
        while missing(high) {
            (low, high) = (high, 2.0 * high);
        }
        while high - low > 1e-13 * high {
            let middle = (low + high) / 2.0;
            if middle <= low || middle >= high {
                break;
            }
            if missing(middle) { low = middle } else { high = middle }
        }
        high
    }

    fn work_out(&self) -> Result<Coupled, Invalid> {
        if self.fs_min_cwnd >= self.fs_max_cwnd {
            return Err(self.invalid("fs_min_cwnd", "below fs_max_cwnd"));
        }
        if self.short_rtt_s >= self.target_s {
            return Err(self.invalid("target", "above short_rtt: otherwise every path is slow to Swift"));
        }
        if self.target_s >= self.long_rtt_s {
            let expected = "below long_rtt: a delay below the target makes no window fall, and nothing collapses";
            return Err(self.invalid("target", expected));
        }
        let peak = self.root();
        if peak * self.q >= 1.0 {
            let expected =
                "a share so small that less than 1/q packets are in flight: here a fall comes each round trip";
            return Err(self.invalid("q", expected));
        }
        let steady =
            paths::Steady::of(Sawtooth { peak, cut: self.cut_at(peak) }, self.q, self.mss_bytes, self.short_rtt_s);
        let in_bps = self.mss_bytes * 8.0 / self.short_rtt_s;
        Ok(Coupled {
            throughput_bps: steady.throughput_bps,
            mean_window_packets: steady.mean_window_packets,
            peak_window_packets: peak,
            cut: steady.cut,
            round_trips: steady.round_trips,
            constant: steady.constant,
            target_s: self.target_at(peak),
            perturbed_bps: self.perturbed(1).map_or(f64::NAN, |sawtooth| sawtooth.mean() * in_bps),
        })
    }
}
