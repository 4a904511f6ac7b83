//! HPCC: a window that keeps the bytes in flight on each link just below its capacity, by telemetry of the links (Li
//! et al., HPCC: High Precision Congestion Control, SIGCOMM 2019, algorithm 1).
//!
//! Every port stamps time `ts`, transmitted bytes `tx`, queue `q` and rate `B` on a data packet, and the
//! ACK brings the stamps back. With `T` the base round-trip time, for each ACK:
//!
//! ```text
//! each link:  u_i = min(q, q') / (B T) + (tx - tx') / (ts - ts') / B       (' : the ACK before)
//! u = max u_i,  tau = min(its ts - ts', T),   U = (1 - tau / T) U + tau / T u
//! U >= eta, or after max_stage additive steps:  W = Wc / (U / eta) + W_AI
//! otherwise:                                    W = Wc + W_AI
//! ```
//!
//! `Wc`, the window that the steps start from, becomes `W` once a round trip. The sender also paces at
//! `W / T`.

use crate::registry::{Kind, ParamSet};
use crate::stamps::Stamps;
use crate::{Ack, Congestion, Controller, Env, Hop, Pacing, Profile, Time, Timeout};
use alloc::boxed::Box;

params! {
    form of {
        /// The simulator of HPCC's authors as its run script sets it at 100 Gb/s: no additive steps between divisions,
        /// an increase of 40 Mb/s, rates of at least 1 Gb/s.
        "authors" = "run.py of alibaba-edu/High-Precision-Congestion-Control" {
            max_stage = "0", flows = "125.0", min_cwnd = "0.01"
        }
    }
    /// Target utilisation.
    eta: f64 = "0.95", "", "section 5.1", "a number above 0, at most 1" => |x| *x > 0.0 && *x <= 1.0;
    /// Number of additive steps after which the window is set by the utilisation again.
    max_stage: u32 = "5", "steps", "section 5.1; its authors' ns-3 run script has 0";
    /// Base round-trip time T; auto is the idle round-trip time of the flow's path.
    base_rtt: Option<Time> = "auto", "", "own choice: the paper takes the longest of the fabric for all";
    /// Number of flows on a link for which the additive step is computed: W_AI is the share 1 - eta of the initial
    /// window, divided by this number.
    flows: f64 = "100.0", "flows", "section 3.3's rule; 100 gives the 80 bytes of section 5.1 at 100 Gb/s and 13 us",
        "a number above 0" => |x| *x > 0.0;
    /// Smallest window, as a share of the initial one.
    min_cwnd: f64 = "0.001", "of rate times T", "authors' simulator: 100 Mb/s at 100 Gb/s",
        "a number above 0, below 1" =>
        |x| *x > 0.0 && *x < 1.0;
    together {
        "base_rtt": "above 0" => |p| p.base_rtt != Some(Time::ZERO);
    }
}

/// Description printed by `describe`.
pub static KIND: Kind = Kind {
    name: "hpcc",
    title: "HPCC",
    source: "Li et al., HPCC: High Precision Congestion Control, SIGCOMM 2019, section 3 and algorithm 1; the authors' \
             simulator, alibaba-edu/High-Precision-Congestion-Control (mode 3)",
    what: "Sets the window so that the bytes in flight on the busiest link, by telemetry of ports, stay slightly below \
           its rate times a round trip.",
    differences: &[
        "Over TCP a port stamps a packet at its arrival, with the bytes queued before it, and the NIC's port stamps \
         too. Over the transport rdma ports of switches alone stamp, at the departure, as the paper's do.",
        "Over TCP stamps do not enlarge packets; the paper's take up to 42 bytes, as over rdma.",
        "Up to six ports stamp a packet, and a flow of a longer path is refused. On two-way connections pure ACKs \
         return the stamps.",
        "T is the idle round trip of the flow's own path; the paper has one T for all.",
        "Losses and timeouts do not change the window: the paper's fabric is lossless, and the transport repairs \
         losses.",
        "The window is at most its initial value, rate times T: the authors' simulator bounds the rate by the line's.",
    ],
    state: &[
        ("utilisation", "estimate U of the busiest link, 1 is rate times T in flight"),
        ("reference_bytes", "window Wc that the steps of this round trip start from, bytes"),
    ],
    profile: Profile { own_recovery: true, ack_every_packet: true, telemetry: true, ..Profile::TCP },
    params: Params::PARAMS,
};

/// An HPCC sender. Windows in bytes, times in picoseconds as real numbers.
#[derive(Clone, Debug)]
pub struct Hpcc {
    cwnd: f64,
    reference: f64,
    utilisation: f64,
    stage: u32,
    /// Count of bytes sent that ends the current round trip.
    update_end: u64,
    stamps: Box<Stamps>,
    base_rtt: f64,
    initial: f64,
    least: f64,
    step: f64,
    eta: f64,
    max_stage: u32,
}

impl Hpcc {
    /// A new flow.
    pub fn new(params: &Params, env: &Env) -> Hpcc {
        let base_rtt = params.base_rtt.unwrap_or(env.base_rtt).0.max(1) as f64;
        let initial = (env.line_rate.as_f64() * base_rtt / 8e12).max(f64::from(env.mss));
        Hpcc {
            cwnd: initial,
            reference: initial,
            utilisation: 1.0,
            stage: 0,
            update_end: 0,
            stamps: Box::default(),
            base_rtt,
            initial,
            least: params.min_cwnd * initial,
            step: initial * (1.0 - params.eta) / params.flows,
            eta: params.eta,
            max_stage: params.max_stage,
        }
    }

    /// Function MeasureInflight: false while there is no previous stamp to compare with.
    fn measure(&mut self) -> bool {
        let base_rtt = self.base_rtt;
        let busiest = self.stamps.busiest(|was, is, tau, rate| {
            let sent = is.tx_bytes.0.saturating_sub(was.tx_bytes.0) as f64;
            is.queue.0.min(was.queue.0) as f64 / (rate * base_rtt) + sent / tau / rate
        });
        if let Some((u, tau)) = busiest {
            let share = tau.min(self.base_rtt) / self.base_rtt;
            self.utilisation = (1.0 - share) * self.utilisation + share * u;
        }
        busiest.is_some()
    }

    /// Function ComputeWind.
    fn compute(&mut self, update: bool) {
        let divides = self.utilisation >= self.eta || self.stage >= self.max_stage;
        let window = self.step
            + if divides {
                self.reference / (self.utilisation.max(f64::MIN_POSITIVE) / self.eta)
            } else {
                self.reference
            };
        self.cwnd = window.min(self.initial).max(self.least);
        if update {
            self.stage = if divides { 0 } else { self.stage + 1 };
            self.reference = self.cwnd;
        }
    }
}

impl Controller for Hpcc {
    fn on_telemetry(&mut self, hops: &[Hop]) {
        self.stamps.hear(hops);
    }

    /// Procedure NewAck.
    fn on_ack(&mut self, ack: &Ack) {
        if !self.stamps.are_fresh() {
            return;
        }
        if self.measure() {
            let update = ack.round.is_past(self.update_end);
            self.compute(update);
            if update {
                self.update_end = ack.round.sent;
            }
        } else if self.update_end == 0 {
            // the reference stands until data sent after the first stamps is acknowledged
            self.update_end = ack.round.sent;
        }
        self.stamps.turn();
    }

    fn on_loss(&mut self, _event: &Congestion) {}

    fn on_timeout(&mut self, _event: &Timeout) {}

    #[inline]
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    #[inline]
    fn pacing(&self) -> Pacing {
        Pacing::Rate(self.cwnd * 8e12 / self.base_rtt)
    }

    fn state(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("utilisation", self.utilisation);
        visit("reference_bytes", self.reference);
    }
}
