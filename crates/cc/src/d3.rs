//! D3: the sender's half of Deadline-Driven Delivery (Wilson, Ballani, Karagiannis and Rowstron, SIGCOMM 2011). The
//! sender asks the switches on its path for the rate that meets its deadline, and paces at the smallest rate that
//! they allocate (`docs/programs/d3.md`).

use crate::paced_rate::{self, PacedRate};
use crate::registry::{Kind, ParamSet};
use crate::{Ack, Asks, Congestion, Controller, Deadline, Env, Idle, Pacing, Profile, Time, Timeout};

params! {
    ..rate: paced_rate::Params;
}

/// Description printed by `describe`.
pub static KIND: Kind = Kind {
    name: "d3",
    title: "D3",
    source: "Wilson, Ballani, Karagiannis, Rowstron, Better never than late: Meeting deadlines in datacenter networks, \
             SIGCOMM 2011, section 4",
    what: "Requests from switches the rate that meets its deadline, and paces at the allocated rate.",
    differences: &[
        "Every packet carries a request, and a switch allocates anew once a round trip; in D3 one packet per round \
         trip carries one.",
        "A flow with only a base rate sends a full packet now and then; D3 sends a header without data.",
        "No flow gives up because its link can no longer meet its deadline (D3's quenching): it requests no rate then, \
         and gets its fair share.",
        "No flow requests more than its link's rate.",
        "The SYN requests a fair share: the transport reports a deadline once the connection is open.",
    ],
    state: &[("pacing_rate_bps", "rate, bits per second of payload"), ("wants_bps", "rate last asked for")],
    profile: Profile { own_recovery: true, ack_every_packet: true, asks: Asks::Rate, deadlines: true, ..Profile::TCP },
    params: Params::PARAMS,
};

/// A D3 sender.
#[derive(Clone, Debug)]
pub struct D3 {
    rate: PacedRate,
    initial: f64,
    /// Payload rate of the host's own link, bits per second.
    most: f64,
    deadline: Option<Deadline>,
    sent: u64,
    now: Time,
    srtt: Time,
}

impl D3 {
    /// A new flow.
    pub fn new(params: &Params, env: &Env) -> D3 {
        let rate = PacedRate::granted(&params.rate, env);
        let packet = env.line_packet_time;
        let most = if packet > Time::ZERO { f64::from(env.mss) * 8.0 / packet.as_secs_f64() } else { rate.line() };
        D3 { initial: rate.get(), rate, most, deadline: None, sent: 0, now: Time::ZERO, srtt: Time::ZERO }
    }
}

impl Controller for D3 {
    fn on_rate(&mut self, granted: f64) {
        self.rate.set(granted);
    }

    fn on_ack(&mut self, ack: &Ack) {
        (self.sent, self.now, self.srtt) = (ack.round.sent, ack.now, ack.srtt);
    }

    fn on_deadline(&mut self, deadline: &Deadline) {
        self.deadline = Some(*deadline);
    }

    /// Section 4.1: r = s / d at the beginning; later the bytes left after the current round trip over the time left
    /// minus two round trips. Zero if the deadline has passed, if nothing is left, or if the link cannot carry it in
    /// time.
    fn wants(&self, now: Time) -> f64 {
        let Some(Deadline { end, at }) = self.deadline.filter(|due| due.at > now && due.end > self.sent) else {
            return 0.0;
        };
        let left = ((end - self.sent) as f64 * 8.0 - self.rate.get() * self.srtt.as_secs_f64()).max(0.0);
        let time = at - now;
        if left / time.as_secs_f64() > self.most {
            return 0.0;
        }
        let safe = time.saturating_sub(self.srtt + self.srtt);
        let time = if safe > Time::ZERO { safe } else { time };
        (left / time.as_secs_f64()).min(self.most)
    }

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
        visit("wants_bps", self.wants(self.now));
    }
}
