//! One flow over `n` paths in round robin, one of them slow: the setting of theorems 1 to 5 of Gerstein, Silberstein
//! and Keslassy, Making congestion control robust to per-packet load balancing in datacenters, arXiv 2025, section II.
//!
//! A slow packet returns after `long_rtt`, any other after `short_rtt`, and q = 1/n of the packets are slow. Each
//! slow packet reduces the window, so a window lives for 1/q packets, and its mean goes like 1/sqrt(q).

use crate::sawtooth::Sawtooth;

/// Assumptions of all models of this setting.
pub const ASSUMPTIONS: [&str; 5] = [
    "One flow that always has data, full packets, an ACK each; no packet is lost, no timer fires.",
    "Packets take the paths in turn; delays are constant.",
    "Neither the receiver nor the network card limits the flow.",
    "1/q is large against the window: several round trips pass between two falls (round_trips).",
    "Whole packets, and the packets that a recovery sends or holds back, are neglected.",
];

/// Conditions under which each of them fails.
pub const FAILS: [&str; 2] = [
    "Below about 100 paths windows are so small that whole packets matter: by some percent, up or down.",
    "Random instead of round-robin spraying: measured with Swift and LSwift the exponent stays and the factor is 5 to \
     20 % larger.",
];

/// Condition on the share of slow packets.
pub(crate) const fn is_share(q: f64) -> bool {
    // with fewer than four paths no three packets can overtake one
    q > 0.0 && q <= 0.25
}

/// A number that an equation can divide by.
pub(crate) const fn is_positive(x: f64) -> bool {
    x > 0.0 && x.is_finite()
}

figures! {
    /// The steady state of a flow over many paths.
    Steady {
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
    }
}

impl Steady {
    /// Steady state of a sawtooth with a reduction every 1/q packets; the mean window is that of `short_rtt_s`.
    pub(crate) fn of(sawtooth: Sawtooth, q: f64, mss_bytes: f64, short_rtt_s: f64) -> Steady {
        let mean = sawtooth.mean();
        Steady {
            throughput_bps: mean * mss_bytes * 8.0 / short_rtt_s,
            mean_window_packets: mean,
            peak_window_packets: sawtooth.peak,
            cut: sawtooth.cut,
            round_trips: 1.0 / (q * mean),
            constant: mean * q.sqrt(),
        }
    }

    /// Checks that three packets overtake a slow one, so that it counts as lost; the error gives the smallest
    /// long_rtt.
    pub(crate) fn overtaken(&self, short_rtt_s: f64, long_rtt_s: f64) -> Result<(), String> {
        let least = short_rtt_s * (1.0 + 3.0 / self.mean_window_packets);
        if long_rtt_s >= least * (1.0 - 1e-9) {
            return Ok(());
        }
        let least = crate::Quantity::Time.write((least * 1e9).ceil() / 1e9);
        Err(format!("at least {least}, for three packets of the mean window to overtake a slow one"))
    }
}
