//! theta-PowerTCP: PowerTCP ([`crate::powertcp`]) by round-trip times only, without support of switches (Addanki,
//! Michel and Schmid, NSDI 2022, algorithm 2).
//!
//! ```text
//! each ACK:           G = (1 + (rtt - rtt') / dt) rtt / tau        ' : the ACK before;  dt: between the two
//!                     Gs by G and dt, as in power.rs
//! once a round trip:  cwnd by Gs, as in power.rs
//! ```
//!
//! A round-trip time that falls as quickly as time passes would make the power negative: the first factor is at least
//! zero, and the smoothed power at least `min_power`, as in the authors' Linux port.

use crate::power::{self, PowerWindow};
use crate::registry::{Kind, ParamSet};
use crate::{Ack, Congestion, Controller, Env, Pacing, Profile, Timeout};

choice! {
    /// Time of an update of the window.
    Update {
        /// Once a round trip.
        Rtt = "rtt",
        /// At every ACK, from the window at the beginning of the round trip.
        Ack = "ack",
    }
}

choice! {
    /// Base round-trip time in the formula of the power.
    Tau {
        /// `base_rtt` of the path.
        Path = "path",
        /// The smallest RTT that the flow has seen, at most `base_rtt`; the window is the rate times it.
        Seen = "seen",
    }
}

params! {
    form of {
        /// The published simulator, which is not algorithm 2: a step at every ACK, of weight 0.7, a target power of
        /// 1.05, round trips that count as falling by half of the time at most, the smallest round-trip time seen as
        /// the base. Its first sample compares with memory that nobody has set: zeros here.
        "authors-ns3" = "inet-tub/ns3-datacenter, commit 6ddb4a4, rdma-hw.cc" {
            update = "ack", tau = "seen", gamma = "0.7", target = "1.05", min_gradient = "0.5", blend = "start",
            from_zero = "true", beta = "150", min_cwnd = "0.004"
        }
        /// The Linux port's average, which starts with the first measured power.
        "linux" = "inet-tub/powertcp-linux, commit c96ea9d, powertcp.c" {
            first_raw = "true"
        }
    }
    /// Time of an update of the window: once an "rtt", or at every "ack".
    update: Update = "rtt", "", "algorithm 2; the authors' ns-3 code has ack";
    /// Base round-trip time of a power: that of the "path", or the smallest "seen".
    tau: Tau = "path", "", "algorithm 2; the authors' ns-3 code has seen";
    /// Smallest factor of the gradient in a power.
    min_gradient: f64 = "0.0", "", "own choice; the authors' ns-3 code has 0.5", "a number from 0 to 1" =>
        |x| (0.0..=1.0).contains(x);
    then ..power: power::Params { !from; };
}

/// Description printed by `describe`.
pub static KIND: Kind = Kind {
    name: "theta-powertcp",
    title: "theta-PowerTCP",
    source: "Addanki, Michel, Schmid, PowerTCP: Pushing the Performance Limits of Datacenter Networks, NSDI 2022, \
             section 3 and algorithm 2; inet-tub/ns3-datacenter and inet-tub/powertcp-linux",
    what: "Divides its window once a round trip by a power computed from the round-trip time and its gradient.",
    differences: &[
        "A round-trip time that falls faster than time passes counts as power 0, and smoothed power is at least \
         min_power: algorithm 2 would divide by a negative one.",
        "The window is at most rate times tau (max_cwnd): without a bound it grows without end while a NIC is idle.",
        "tau is the idle round trip of the flow's own path; the paper has one for all, the longest.",
        "Round-trip times are those of the fabric, without hosts.",
        "Losses and timeouts do not change the window, and the transport repairs losses: the paper names no reaction.",
    ],
    state: &power::STATE,
    profile: Profile { own_recovery: true, ack_every_packet: true, ..Profile::TCP },
    params: Params::PARAMS,
};

/// A theta-PowerTCP sender.
#[derive(Clone, Debug)]
pub struct ThetaPowertcp {
    window: PowerWindow,
    /// Count of bytes sent that ends the current round trip.
    update_end: u64,
    /// Time and RTT of the previous ACK, ps.
    before: Option<(f64, f64)>,
    least_rtt: f64,
    min_gradient: f64,
    every_ack: bool,
    tau: Tau,
}

impl ThetaPowertcp {
    /// A new flow.
    pub fn new(params: &Params, env: &Env) -> ThetaPowertcp {
        ThetaPowertcp {
            window: PowerWindow::new(&params.power, env),
            update_end: 0,
            before: params.power.from_zero.then_some((0.0, 0.0)),
            least_rtt: f64::INFINITY,
            min_gradient: params.min_gradient,
            every_ack: params.update == Update::Ack,
            tau: params.tau,
        }
    }
}

impl ThetaPowertcp {
    /// Smallest round-trip time so far, that of the path included, ps.
    fn base(&self) -> f64 {
        self.least_rtt.min(self.window.tau).max(1.0)
    }
}

impl Controller for ThetaPowertcp {
    /// Procedure newAck.
    fn on_ack(&mut self, ack: &Ack) {
        let Some(rtt) = ack.fabric_delay else { return };
        let (now, rtt) = (ack.now.0 as f64, rtt.0 as f64);
        self.least_rtt = self.least_rtt.min(rtt);
        let tau = if self.tau == Tau::Path { self.window.tau } else { self.base() };
        let Some((then, rtt_then)) = self.before else {
            self.before = Some((now, rtt));
            self.update_end = ack.round.sent;
            return;
        };
        let dt = now - then;
        // ACKs of one instant have no gradient
        if dt > 0.0 {
            let power = (1.0 + (rtt - rtt_then) / dt).max(self.min_gradient) * rtt / tau;
            self.window.smooth_over(power, dt, tau);
            self.before = Some((now, rtt));
        }
        if self.every_ack || ack.round.is_past(self.update_end) {
            self.window.step();
        }
        if ack.round.is_past(self.update_end) {
            self.window.remember();
            self.update_end = ack.round.sent;
        }
    }

    fn on_loss(&mut self, _event: &Congestion) {}

    fn on_timeout(&mut self, _event: &Timeout) {}

    #[inline]
    fn cwnd(&self) -> f64 {
        match self.tau {
            Tau::Path => self.window.cwnd(),
            // the rate is the window's over the path's base: a shorter one makes the window smaller
            Tau::Seen => self.window.cwnd() * self.base() / self.window.tau,
        }
    }

    #[inline]
    fn pacing(&self) -> Pacing {
        self.window.pacing()
    }

    fn state(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        self.window.state(visit);
    }
}
