//! DCTCP over many paths of which one is slow (theorem 2 of Gerstein, Silberstein and Keslassy, arXiv 2025).
//!
//! If the slow path's queue is below the marking threshold, nothing is marked and DCTCP is TCP ([`crate::tcp`]).
//! Otherwise marks reduce the window too, and TCP's throughput is an upper bound.

use crate::declaration::{Model, Parameters, evaluate};
use crate::paths::{self, is_positive, is_share};
use crate::tcp::Tcp;
use crate::{Figures, Invalid};

parameters! {
    /// DCTCP, one path in 1/q slow.
    Dctcp gives Bound {
        /// Share of packets on the slow path, 1/n.
        q as "q": Number "" = f64::NAN, "", "a number above 0, at most 1/4" => is_share;
        /// Payload of a packet.
        mss_bytes as "mss": Size "" = 4000.0, "htsim's packets", "a size above 0" => is_positive;
        /// Round-trip time of the other paths, T_s.
        short_rtt_s as "short_rtt": Time "" = 14e-6, "section IV-A", "a time above 0" => is_positive;
        /// Round-trip time of the slow path, T_l.
        long_rtt_s as "long_rtt": Time "" = 28e-6, "section IV-A: T_l = 2 T_s", "a time above 0" => is_positive;
        /// Queue above which a port marks.
        threshold_packets as "threshold": Number "packets" = 65.0, "DCTCP's paper, for 10 Gb/s",
            "a number of at least 0" => |k| k >= 0.0;
        /// Rate of the slow path's links, which converts the threshold into time.
        rate_bps as "rate": Rate "" = 100e9, "section IV", "a rate above 0" => is_positive;
    }
}

figures! {
    /// Steady state of TCP, as a bound for DCTCP.
    Bound {
        /// Throughput, payload; an upper bound if slow packets are marked.
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
        /// 1 if slow packets are marked and all figures are upper bounds, otherwise 0.
        is_upper_bound: "";
    }
}

/// Description printed by `describe`.
pub static MODEL: Model = Model {
    name: "dctcp",
    title: "DCTCP over many paths, one of them slow",
    source: "Gerstein, Silberstein, Keslassy, Making congestion control robust to per-packet load balancing in \
             datacenters, theorem 2",
    what: "TCP's throughput if slow packets are not marked; an upper bound if they are.",
    assumptions: &[
        paths::ASSUMPTIONS[0],
        paths::ASSUMPTIONS[1],
        paths::ASSUMPTIONS[2],
        paths::ASSUMPTIONS[3],
        paths::ASSUMPTIONS[4],
        crate::tcp::OVERTAKEN,
        "The slow path's extra delay is a queue at the rate of its links.",
    ],
    fails: &[paths::FAILS[0], paths::FAILS[1], crate::tcp::MISTAKE],
    parameters: Dctcp::PARAMETERS,
    figures: Bound::FIGURES,
    evaluate: evaluate::<Dctcp>,
};

impl Dctcp {
    /// True if slow packets are marked: their queue is above the threshold.
    pub fn marks(&self) -> bool {
        let queue = (self.long_rtt_s - self.short_rtt_s) * self.rate_bps / (8.0 * self.mss_bytes);
        queue > self.threshold_packets
    }

    fn work_out(&self) -> Result<Bound, Invalid> {
        let Dctcp { q, mss_bytes, short_rtt_s, long_rtt_s, .. } = *self;
        let tcp = Tcp { q, mss_bytes, short_rtt_s, long_rtt_s }.solve()?;
        Ok(Bound {
            throughput_bps: tcp.throughput_bps,
            mean_window_packets: tcp.mean_window_packets,
            peak_window_packets: tcp.peak_window_packets,
            cut: tcp.cut,
            round_trips: tcp.round_trips,
            constant: tcp.constant,
            is_upper_bound: f64::from(u8::from(self.marks())),
        })
    }
}
