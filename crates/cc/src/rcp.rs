//! RCP: the sender's half of the Rate Control Protocol (Dukkipati, Kobayashi, Zhang-Shen and McKeown, IWQoS 2005).
//! The sender paces at the smallest rate granted by the switches on its path to each of their flows; they compute
//! that rate (`docs/programs/rcp.md`).

use crate::paced_rate::{self, PacedRate};
use crate::registry::{Kind, ParamSet};
use crate::{Ack, Asks, Congestion, Controller, Env, Idle, Pacing, Profile, Timeout};

params! {
    ..rate: paced_rate::Params;
}

/// Description printed by `describe`.
pub static KIND: Kind = Kind {
    name: "rcp",
    title: "RCP",
    source: "Dukkipati, Kobayashi, Zhang-Shen, McKeown, Processor Sharing Flows in the Internet, IWQoS 2005; \
             Dukkipati, Rate Control Protocol (RCP), PhD thesis, Stanford 2007",
    what: "Paces at the rate that the switches on its path grant to every flow, starting with the answer to the SYN.",
    differences: &[
        "Packets always request more than any link has; in RCP a sender may request less.",
        "A rate is granted in bytes on the link; the sender scales it by the payload share of a full segment.",
        "Losses and timeouts do not change the rate, and the transport repairs losses: the switches see \
         retransmissions.",
        "After an idle retransmission timeout a flow begins at initial_rate, if the transport restarts after idle \
         times; RCP's sender refreshes its rate once a round trip instead.",
    ],
    state: &[("pacing_rate_bps", "rate, bits per second of payload")],
    profile: Profile { own_recovery: true, ack_every_packet: true, asks: Asks::Rate, ..Profile::TCP },
    params: Params::PARAMS,
};

/// An RCP sender.
#[derive(Clone, Debug)]
pub struct Rcp {
    rate: PacedRate,
    initial: f64,
}

impl Rcp {
    /// A new flow.
    pub fn new(params: &Params, env: &Env) -> Rcp {
        let rate = PacedRate::granted(&params.rate, env);
        Rcp { initial: rate.get(), rate }
    }
}

impl Controller for Rcp {
    fn on_rate(&mut self, granted: f64) {
        self.rate.set(granted);
    }

    fn on_ack(&mut self, _ack: &Ack) {}

    fn on_loss(&mut self, _event: &Congestion) {}

    fn on_timeout(&mut self, _event: &Timeout) {}

    fn on_idle(&mut self, _idle: &Idle) {
        self.rate.set(self.rate.get().min(self.initial));
    }

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
    }
}
