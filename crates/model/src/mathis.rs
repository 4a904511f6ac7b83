//! TCP under random losses (Mathis, Semke, Mahdavi and Ott, The macroscopic behavior of the TCP congestion avoidance
//! algorithm, ACM CCR 27(3), 1997).
//!
//! One loss in 1/p packets halves a window that grows by one packet per round trip, or by 1/b if an ACK covers b
//! packets:
//!
//! ```text
//! X = mss/RTT C/sqrt(p)          C = sqrt(3 / (2 b))
//! ```

use crate::declaration::{Model, Parameters, evaluate};
use crate::paths::is_positive;
use crate::sawtooth::Sawtooth;
use crate::{Figures, Invalid};

parameters! {
    /// TCP with a loss in 1/p packets.
    Mathis gives Sustained {
        /// Share of packets lost, each loss a congestion event of its own.
        p as "p": Number "" = f64::NAN, "", "a number above 0, below 1" => |p| p > 0.0 && p < 1.0;
        /// Payload of a packet.
        mss_bytes as "mss": Size "" = 1460.0, "Ethernet", "a size above 0" => is_positive;
        /// Round-trip time.
        rtt_s as "rtt": Time "" = 100e-6, "own choice", "a time above 0" => is_positive;
        /// Packets that an ACK covers, b: 2 with delayed ACKs.
        acked as "acked": Number "packets" = 1.0, "an ACK for every packet", "a number of at least 1" =>
            |b| b >= 1.0 && b.is_finite();
    }
}

figures! {
    /// Throughput that TCP sustains.
    Sustained {
        /// Throughput, payload.
        throughput_bps: "bit/s";
        /// Mean window.
        mean_window_packets: "packets";
        /// Window before a loss.
        peak_window_packets: "packets";
        /// Round trips between two losses.
        round_trips: "round trips";
        /// The factor C before 1/sqrt(p).
        constant: "";
    }
}

/// Description printed by `describe`.
pub static MODEL: Model = Model {
    name: "mathis",
    title: "TCP under random losses",
    source: "Mathis, Semke, Mahdavi, Ott, The macroscopic behavior of the TCP congestion avoidance algorithm, ACM CCR \
             27(3), 1997",
    what: "A loss in 1/p packets halves the window: throughput goes like 1/(RTT sqrt(p)).",
    assumptions: &[
        "One flow in congestion avoidance that always has data; neither the receiver nor a link limits it.",
        "Losses are periodic, or random and independent of the window; losses within a round trip count as one.",
        "No timer fires: every loss is repaired by fast retransmit.",
        "Whole packets, and the packets that a recovery sends or holds back, are neglected; the round-trip time is \
         constant.",
    ],
    fails: &[
        "Large p: below four packets of window there are no three duplicate ACKs, and timers take over.",
        "Links that the flow itself fills: then p and RTT follow from the throughput.",
    ],
    parameters: Mathis::PARAMETERS,
    figures: Sustained::FIGURES,
    evaluate: evaluate::<Mathis>,
};

impl Mathis {
    fn work_out(&self) -> Result<Sustained, Invalid> {
        let sawtooth = Sawtooth::new(1.0 / self.acked, 0.5, 1.0 / self.p);
        if sawtooth.peak < 4.0 {
            let most = crate::Quantity::Number.write((8.0 / (48.0 * self.acked) * 1e4).floor() / 1e4);
            let expected = format!("at most {most}: a window below four packets brings no three duplicate ACKs");
            return Err(self.invalid("p", expected));
        }
        let mean = sawtooth.mean();
        Ok(Sustained {
            throughput_bps: mean * self.mss_bytes * 8.0 / self.rtt_s,
            mean_window_packets: mean,
            peak_window_packets: sawtooth.peak,
            round_trips: 1.0 / (self.p * mean),
            constant: mean * self.p.sqrt(),
        })
    }
}
