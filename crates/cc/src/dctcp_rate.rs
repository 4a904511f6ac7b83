//! DCTCP by a rate: DCTCP's estimate and cut, applied to the rate of an RDMA NIC (simulator of HPCC's authors, mode 8).
//!
//! With the rate `R`, the estimate `alpha` and the marks of ACKs:
//!
//! ```text
//! once a round trip:  alpha = (1 - g) alpha + g min(1, marked / packets)
//! first mark outside a reduction:  R *= 1 - alpha / 2;  the reduction lasts until all data sent so far is acknowledged
//! once a round trip, outside a reduction:  R += increase
//! ```

use crate::paced_rate::PacedRate;
use crate::registry::{Kind, ParamSet};
use crate::{Ack, Congestion, Controller, Ecn, Env, Pacing, Profile, Timeout};

params! {
    /// Gain of the estimate alpha.
    g: f64 = "0.0625", "", "1/16: run.py of HPCC's authors", "a number above 0, at most 1" => |x| *x > 0.0 && *x <= 1.0;
    /// Increase a round trip.
    increase: f64 = "0.00615", "of the line rate", "run.py of HPCC's authors: 615 Mb/s at 100 Gb/s",
        "a number above 0, at most 1" => |x| *x > 0.0 && *x <= 1.0;
    /// Smallest rate.
    min_rate: f64 = "0.01", "of the line rate", "run.py of HPCC's authors: 1 Gb/s at 100 Gb/s",
        "a number above 0, at most 1" => |x| *x > 0.0 && *x <= 1.0;
    /// Largest number of packets in flight, where the transport takes the controller's window.
    max_cwnd: f64 = "1000.0", "packets", "own choice; the simulator's window is the transport's",
        "a number of at least 1" => |x| *x >= 1.0;
}

/// Description printed by `describe`.
pub static KIND: Kind = Kind {
    name: "dctcp-rate",
    title: "DCTCP by a rate",
    source: "Simulator of HPCC's authors, alibaba-edu/High-Precision-Congestion-Control (mode 8); Alizadeh et al., \
             Data Center TCP, SIGCOMM 2010, section 3.1, for the estimate",
    what: "DCTCP's estimate of the marked share reduces a paced rate, which rises by a constant once a round trip.",
    differences: &[
        "Rates are shares of the line's; the simulator cuts them to whole bits per second.",
        "A round trip ends with the first ACK beyond what had been sent when it began, as in the simulator. With \
         go-back-N, data sent again does not count as sent.",
    ],
    state: &[("pacing_rate_bps", "rate, bits per second"), ("alpha", "estimate of the marked share, 0 to 1")],
    profile: Profile { ecn: Ecn::Dctcp, own_recovery: true, ack_every_packet: true, ..Profile::TCP },
    params: Params::PARAMS,
};

/// A sender. Rates in bits per second.
#[derive(Clone, Debug)]
pub struct DctcpRate {
    rate: PacedRate,
    alpha: f64,
    /// Marked ACKs of this round trip, and its packets.
    marked: u32,
    packets: u64,
    /// Count of bytes sent that ends the round trip, and the reduction if one is under way.
    round_end: u64,
    reduces_to: Option<u64>,
    mss: u64,
    p: Params,
}

impl DctcpRate {
    /// A new flow, at the line rate.
    pub fn new(params: &Params, env: &Env) -> DctcpRate {
        DctcpRate {
            rate: PacedRate::new(1.0, params.min_rate, params.max_cwnd, env),
            alpha: 1.0,
            marked: 0,
            packets: 1,
            round_end: 0,
            reduces_to: None,
            mss: u64::from(env.mss.max(1)),
            p: *params,
        }
    }
}

impl Controller for DctcpRate {
    fn on_ack(&mut self, ack: &Ack) {
        self.marked += u32::from(ack.ece);
        let ends = ack.round.is_past(self.round_end);
        if ends {
            let first = self.round_end == 0;
            if !first {
                let share = (f64::from(self.marked) / self.packets as f64).min(1.0);
                self.alpha = (1.0 - self.p.g) * self.alpha + self.p.g * share;
                self.marked = 0;
            }
            let flight = if first { ack.round.sent } else { ack.round.sent.saturating_sub(ack.round.acked) };
            self.packets = flight / self.mss + 1;
            self.round_end = ack.round.sent;
        }
        if self.reduces_to.is_some_and(|end| ack.round.is_past(end)) {
            self.reduces_to = None;
        }
        if ack.ece && self.reduces_to.is_none() {
            self.rate.set(self.rate.get() * (1.0 - self.alpha / 2.0));
            self.reduces_to = Some(ack.round.sent);
        }
        if self.reduces_to.is_none() && ends {
            self.rate.set(self.rate.get() + self.p.increase * self.rate.line());
        }
    }

    fn on_loss(&mut self, _event: &Congestion) {}

    /// Marks are seen by every ACK.
    fn on_ecn(&mut self, _event: &Congestion) {}

    fn on_timeout(&mut self, _event: &Timeout) {}

    #[inline]
    fn cwnd(&self) -> f64 {
        self.rate.cwnd()
    }

    #[inline]
    fn pacing(&self) -> Pacing {
        self.rate.pacing()
    }

    fn state(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("pacing_rate_bps", self.rate.get());
        visit("alpha", self.alpha);
    }
}
