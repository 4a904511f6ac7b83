//! PowerTCP: a window that follows the power of the busiest link, the product of its current and its voltage, by
//! telemetry of the links (Addanki, Michel and Schmid, NSDI 2022, algorithm 1).
//!
//! Every port stamps time `t`, transmitted bytes `tx`, queue `q` and rate `b` on a data packet, and the ACK brings the
//! stamps back. With `tau` the base round-trip time, for each ACK:
//!
//! ```text
//! each link:  dt = t - t',  lambda = (q - q' + tx - tx') / dt       (' : the ACK before)
//!             G = lambda (q + b tau) / (b b tau)
//! Gs, cwnd:   by the largest G and its dt, as in power.rs
//! ```
//!
//! `lambda` is the rate at which bytes arrive at the port. It is the same whether stamps are taken at the arrival of
//! a packet, as here, or when it is chosen for transmission, as in the paper; queue and transmitted bytes alone are
//! not.
//!
//! Lines 19 to 21 of the printed algorithm compare a link's raw power with the normalised one, and keep the raw: here
//! all are normalised.

use crate::power::{self, PowerWindow};
use crate::registry::{Kind, ParamSet};
use crate::stamps::Stamps;
use crate::{Ack, Congestion, Controller, Env, Hop, Pacing, Profile, Timeout};
use alloc::boxed::Box;

params! {
    form of {
        /// The published simulator, which is not algorithm 1: at each ACK a step of the rate at the beginning of the
        /// round trip, arrivals counted as at least half the link's rate, a target power of 0.95, beta of 150 Mb/s,
        /// rates of at least 100 Mb/s at 25 Gb/s. Its first sample compares with memory that nobody has set: zeros
        /// here.
        "authors-ns3" = "inet-tub/ns3-datacenter, commit 6ddb4a4, rdma-hw.cc" {
            from = "round", blend = "start", from_zero = "true", min_arrivals = "0.5", target = "0.95", beta = "150",
            min_cwnd = "0.004"
        }
        /// The Linux port's average, which starts with the first measured power, and its window, remembered once a
        /// round trip. The page lists its other differences, for beta and changes of the path.
        "linux" = "inet-tub/powertcp-linux, commit c96ea9d, powertcp.c" {
            first_raw = "true", from = "round"
        }
    }
    /// Smallest rate of arrivals assumed for a link, as a share of its rate.
    min_arrivals: f64 = "0.0", "of the link's rate", "algorithm 1, which has none; the authors' ns-3 code has 0.5",
        "a number from 0 to 1" => |x| *x >= 0.0 && *x <= 1.0;
    then ..power: power::Params;
}

/// Description printed by `describe`.
pub static KIND: Kind = Kind {
    name: "powertcp",
    title: "PowerTCP",
    source: "Addanki, Michel, Schmid, PowerTCP: Pushing the Performance Limits of Datacenter Networks, NSDI 2022, \
             section 3 and algorithm 1; inet-tub/ns3-datacenter and inet-tub/powertcp-linux",
    what: "Divides its window by the power of the busiest link, arrival rate times the sum of queue and \
           bandwidth-delay product, by telemetry of ports.",
    differences: &[
        "Power is normalised before links are compared; the printed algorithm compares raw power with normalised one \
         (lines 19 to 21).",
        "The window is at most rate times tau (max_cwnd): without a bound it doubles while a link is half used.",
        "A port stamps a packet at its arrival; the paper's stamp when it is chosen for transmission. The NIC's port \
         stamps too.",
        "tau is the idle round trip of the flow's own path; the paper has one for all, the longest.",
        "Smoothed power is at least min_power, as in the authors' Linux port; the paper has no lower bound.",
        "Up to six ports stamp a packet, and a flow of a longer path is refused. Stamps do not enlarge packets. On \
         two-way connections pure ACKs return the stamps.",
        "Losses and timeouts do not change the window, and the transport repairs losses: the paper names no reaction.",
    ],
    state: &power::STATE,
    profile: Profile { own_recovery: true, ack_every_packet: true, telemetry: true, ..Profile::TCP },
    params: Params::PARAMS,
};

/// A PowerTCP sender.
#[derive(Clone, Debug)]
pub struct Powertcp {
    window: PowerWindow,
    /// Count of bytes sent that ends the current round trip.
    update_end: u64,
    stamps: Box<Stamps>,
    min_arrivals: f64,
}

impl Powertcp {
    /// A new flow.
    pub fn new(params: &Params, env: &Env) -> Powertcp {
        Powertcp {
            window: PowerWindow::new(&params.power, env),
            update_end: 0,
            stamps: Box::new(Stamps::new(params.power.from_zero)),
            min_arrivals: params.min_arrivals,
        }
    }

    /// Function normPower: false while there is no previous stamp to compare with.
    fn measure(&mut self) -> bool {
        let (tau, least) = (self.window.tau, self.min_arrivals);
        let most = self.stamps.busiest(|was, is, dt, rate| {
            let came = (is.tx_bytes.0 + is.queue.0).saturating_sub(was.tx_bytes.0 + was.queue.0) as f64;
            let current = (came / dt).max(least * rate) / rate;
            current * (1.0 + is.queue.0 as f64 / (rate * tau))
        });
        if let Some((power, dt)) = most {
            self.window.smooth(power, dt);
        }
        most.is_some()
    }
}

impl Controller for Powertcp {
    fn on_telemetry(&mut self, hops: &[Hop]) {
        self.stamps.hear(hops);
    }

    /// Procedure newAck.
    fn on_ack(&mut self, ack: &Ack) {
        if !self.stamps.are_fresh() {
            return;
        }
        let from_sent = self.window.steps_from_sent();
        if self.measure() {
            if from_sent {
                self.window.look_up(ack.round.acked);
            }
            self.window.step();
            if from_sent {
                self.window.note(ack.round.sent);
            } else if ack.round.is_past(self.update_end) {
                self.window.remember();
                self.update_end = ack.round.sent;
            }
        } else if self.update_end == 0 {
            // the first round trip lasts until data sent after the first stamps is acknowledged
            self.update_end = ack.round.sent;
        }
        self.stamps.turn();
    }

    fn on_loss(&mut self, _event: &Congestion) {}

    fn on_timeout(&mut self, _event: &Timeout) {}

    #[inline]
    fn cwnd(&self) -> f64 {
        self.window.cwnd()
    }

    #[inline]
    fn pacing(&self) -> Pacing {
        self.window.pacing()
    }

    fn state(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        self.window.state(visit);
    }
}
