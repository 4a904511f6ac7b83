//! The queue of DCTCP in its steady state (Alizadeh et al., Data Center TCP (DCTCP), SIGCOMM 2010, sections 3.3 and
//! 3.4).
//!
//! N synchronised flows of one bottleneck of C packets a second cut their windows by alpha/2 when the queue passes K:
//!
//! ```text
//! W* = (C RTT + K) / N                                    the window at which the queue is K
//! alpha^2 (1 - alpha/4) = (2 W* + 1) / (W* + 1)^2         alpha ~ sqrt(2 / W*)
//! Q_max = K + N
//! A     = N (W* + 1) alpha / 2    ~ sqrt(2 N (C RTT + K)) / 2
//! Q_min = Q_max - A
//! T_C   = (W* + 1) alpha / 2      ~ sqrt(2 (C RTT + K) / N) / 2      in round trips
//! ```
//!
//! The queue never runs empty, for any N, if K > C RTT / 7 (from the approximation; the worst N is (C RTT + K) / 8).
//! alpha spans a period of oscillation if g < 1.386 / sqrt(2 (C RTT + K)).
//!
//! alpha's equation has one root in (0, 1], found by bisection until the bounds are 1e-15 apart.

use crate::declaration::{Model, Parameters, evaluate};
use crate::paths::is_positive;
use crate::{Figures, Invalid};

parameters! {
    /// DCTCP flows through one bottleneck.
    DctcpQueue gives Oscillation {
        /// Rate of the bottleneck, C, in bits.
        rate_bps as "rate": Rate "" = 10e9, "sections 3.3 and 4", "a rate above 0" => is_positive;
        /// Packet on the wire.
        packet_bytes as "packet": Size "" = 1500.0, "section 3.3", "a size above 0" => is_positive;
        /// Round-trip time without the queue.
        rtt_s as "rtt": Time "" = 100e-6, "figure 12", "a time above 0" => is_positive;
        /// Flows, N.
        flows as "flows": Number "" = f64::NAN, "", "a number of at least 1" => |n| n >= 1.0 && n.is_finite();
        /// Marking threshold, K.
        threshold_packets as "threshold": Number "packets" = 40.0, "figure 12", "a number of at least 0" =>
            |k| k >= 0.0 && k.is_finite();
    }
}

figures! {
    /// The oscillation of queue and windows.
    Oscillation {
        /// Largest queue.
        queue_max_packets: "packets";
        /// Smallest queue; below 0 if the link idles.
        queue_min_packets: "packets";
        /// Amplitude of the queue.
        amplitude_packets: "packets";
        /// Period of the oscillation, in round trips.
        period_round_trips: "round trips";
        /// Period of the oscillation.
        period_s: "s";
        /// Share of marked packets.
        alpha: "";
        /// Window at which the queue is K.
        critical_window_packets: "packets";
        /// Smallest queue by the approximation sqrt(2/W*) of alpha.
        approximate_queue_min_packets: "packets";
        /// Amplitude by the same approximation.
        approximate_amplitude_packets: "packets";
        /// Period by the same approximation, in round trips.
        approximate_period_round_trips: "round trips";
        /// Threshold above which the queue never runs empty, for any number of flows.
        least_threshold_packets: "packets";
        /// Gain below which alpha spans a period.
        most_gain: "";
    }
}

/// Description printed by `describe`.
pub static MODEL: Model = Model {
    name: "dctcp-queue",
    title: "The queue of DCTCP",
    source: "Alizadeh et al., Data Center TCP (DCTCP), SIGCOMM 2010, sections 3.3 and 3.4",
    what: "Size, amplitude and period of the queue that synchronised DCTCP flows keep around the marking threshold.",
    assumptions: &[
        "N long flows through one bottleneck, alike and synchronised, with the same round-trip time.",
        "The switch marks every packet that arrives above K; senders react a round trip later.",
        "alpha has settled: it is the share of packets marked in a period.",
        "The queue's share of the round-trip time is neglected.",
    ],
    fails: &[
        "Many flows: with windows of few packets flows are not synchronised any more, and the queue varies less (the \
         paper's figure 12 at N = 40).",
        "Hosts that send bursts: K needs room for them too (the paper takes 65 at 10 Gb/s, not 12).",
    ],
    parameters: DctcpQueue::PARAMETERS,
    figures: Oscillation::FIGURES,
    evaluate: evaluate::<DctcpQueue>,
};

impl DctcpQueue {
    /// Bandwidth-delay product without a queue, in packets: C RTT.
    pub fn pipe(&self) -> f64 {
        self.rate_bps * self.rtt_s / (8.0 * self.packet_bytes)
    }

    fn work_out(&self) -> Result<Oscillation, Invalid> {
        let (n, k) = (self.flows, self.threshold_packets);
        let held = self.pipe() + k;
        let w = held / n;
        if w < 1.0 {
            let most = crate::Quantity::Number.write(held.floor());
            return Err(self.invalid("flows", format!("at most {most}: a window of at least one packet each")));
        }
        let alpha = settled_alpha(w);
        let amplitude = n * (w + 1.0) * alpha / 2.0;
        let period = (w + 1.0) * alpha / 2.0;
        let approximate = (2.0 * n * held).sqrt() / 2.0;
        Ok(Oscillation {
            queue_max_packets: k + n,
            queue_min_packets: k + n - amplitude,
            amplitude_packets: amplitude,
            period_round_trips: period,
            period_s: period * self.rtt_s,
            alpha,
            critical_window_packets: w,
            approximate_queue_min_packets: k + n - approximate,
            approximate_amplitude_packets: approximate,
            approximate_period_round_trips: (2.0 * held / n).sqrt() / 2.0,
            least_threshold_packets: self.pipe() / 7.0,
            most_gain: 1.386 / (2.0 * held).sqrt(),
        })
    }
}

/// The root of alpha^2 (1 - alpha/4) = (2 w + 1) / (w + 1)^2 in (0, 1], for `w` of at least 1.
fn settled_alpha(w: f64) -> f64 {
    let marked = (2.0 * w + 1.0) / ((w + 1.0) * (w + 1.0));
    let (mut low, mut high) = (0.0, 1.0);
    while high - low > 1e-15 {
        let middle = (low + high) / 2.0;
        if middle <= low || middle >= high {
            break;
        }
        if middle * middle * (1.0 - middle / 4.0) < marked { low = middle } else { high = middle }
    }
    high
}
