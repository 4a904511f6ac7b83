//! D2TCP: DCTCP with a reduction that depends on the deadline (Vamanan, Hasan and Vijaykumar, SIGCOMM 2012, section
//! 3).
//!
//! With `B` the remaining bytes, `W` the window and `D` the remaining time,
//!
//! ```text
//! Tc = B RTT / (3/4 W)      the time that a sawtooth of DCTCP takes for what is left
//! d  = Tc / D               how urgent that is, between 1/2 and 2
//! p  = alpha^d              the gamma correction: alpha is DCTCP's average, at most 1
//! cwnd = cwnd (1 - p/2)
//! ```
//!
//! A flow with a near deadline (d above 1) reduces less than DCTCP, one with a far deadline more; without a deadline
//! d is 1, and the flow is DCTCP's. Everything else is [`crate::dctcp`]'s.

use crate::dctcp::{self, Dctcp, Loss};
use crate::registry::{Kind, ParamSet};
use crate::{Ack, Congestion, Controller, Deadline, Ecn, Env, Idle, Profile, Time, Timeout};

choice! {
    /// The remaining bytes of data with a deadline.
    Left {
        /// Bytes not sent yet.
        Unsent = "unsent",
        /// Bytes not acknowledged yet.
        Unacked = "unacked",
    }
}

params! {
    /// Smallest d, used for a far deadline.
    least: f64 = "0.5", "", "section 3.2 (second-hand); FujiZ/ns-3, d2tcp-socket.cc", "a number above 0, at most 1"
        => |x| *x > 0.0 && *x <= 1.0;
    /// Largest d, used for a near deadline.
    most: f64 = "2.0", "", "section 3.2 (second-hand); FujiZ/ns-3, d2tcp-socket.cc", "a number of at least 1"
        => |x| *x >= 1.0;
    /// d once the deadline has passed, or nothing is left: 0.5 yields to flows that can still meet theirs; 1 is
    /// DCTCP, 2 the limit of the rule as the deadline nears.
    missed: f64 = "0.5", "", "FujiZ/ns-3, d2tcp-socket.cc; the paper's text was not at hand",
        "a number above 0, at most 10" => |x| *x > 0.0 && *x <= 10.0;
    /// Remaining bytes: those "unsent" or those "unacked".
    left: Left = "unsent", "", "FujiZ/ns-3, d2tcp-socket.cc, counts what was sent";
    /// Reaction to a packet loss: "halve" as conventional TCP does, or "alpha" by p, as to marks.
    loss: Loss = "halve", "", "RFC 8257 section 3.5; FujiZ/ns-3 has alpha";
    then ..dctcp: dctcp::Params {
        !form; !loss; !round; !cut_at; !alpha; !alpha_window; !cut_of; !halve; !arithmetic; !timeouts; !idle;
    };
}

/// Description printed by `describe`.
pub static KIND: Kind = Kind {
    name: "d2tcp",
    title: "D2TCP",
    source: "Vamanan, Hasan, Vijaykumar, Deadline-Aware Datacenter TCP (D2TCP), SIGCOMM 2012, section 3; all else \
             DCTCP's, RFC 8257",
    what: "DCTCP that reduces less the nearer its deadline: the exponent of the share of marks is the urgency of the \
           flow.",
    differences: &[
        "The paper's text was not at hand: the rule is as second-hand summaries and a public ns-3 module (FujiZ/ns-3) \
         agree on it.",
        "The behaviour after a missed deadline is that module's; the paper reportedly lets d grow first and gives up \
         later (missed).",
        "A loss halves the window as in RFC 8257; the module reduces by p (loss).",
        "The round-trip time is the smoothed one.",
        "Growth, floor and timeouts are DCTCP's as in Linux.",
    ],
    state: &[
        ("alpha", "averaged share of marked bytes, 0 to 1"),
        ("urgency", "d of the latest reduction; not a number before the first"),
    ],
    profile: Profile { ecn: Ecn::Dctcp, deadlines: true, ..Profile::TCP },
    params: Params::PARAMS,
};

/// A D2TCP sender.
#[derive(Clone, Debug)]
pub struct D2tcp {
    dctcp: Dctcp,
    deadline: Option<Deadline>,
    /// Bytes sent, or acknowledged, so far.
    done: u64,
    urgency: f64,
    least: f64,
    most: f64,
    missed: f64,
    left: Left,
}

impl D2tcp {
    /// A new flow.
    pub fn new(params: &Params, env: &Env) -> D2tcp {
        let Params { least, most, missed, left, loss, dctcp } = *params;
        let dctcp = Dctcp::new(&dctcp::Params { loss, ..dctcp }, env);
        D2tcp { dctcp, deadline: None, done: 0, urgency: f64::NAN, least, most, missed, left }
    }

    /// d at `now`.
    fn urgency(&self, now: Time, rtt: Time) -> f64 {
        let Some(Deadline { end, at }) = self.deadline else { return 1.0 };
        if at <= now || end <= self.done {
            return self.missed;
        }
        let left = (end - self.done) as f64;
        let needed = left * rtt.as_secs_f64() / (0.75 * self.dctcp.window());
        (needed / (at - now).as_secs_f64()).max(self.least).min(self.most)
    }

    /// p at `now`.
    fn penalty(&mut self, now: Time, srtt: Time, rtt: Time) -> f64 {
        self.urgency = self.urgency(now, if srtt > Time::ZERO { srtt } else { rtt });
        libm::pow(self.dctcp.alpha(), self.urgency)
    }
}

impl Controller for D2tcp {
    fn on_ack(&mut self, ack: &Ack) {
        self.done = match self.left {
            Left::Unsent => ack.round.sent,
            Left::Unacked => ack.round.acked,
        };
        self.dctcp.on_ack(ack);
    }

    fn on_deadline(&mut self, deadline: &Deadline) {
        self.deadline = Some(*deadline);
    }

    fn on_loss(&mut self, event: &Congestion) {
        let p = self.penalty(event.now, event.srtt, event.rtt);
        self.dctcp.lose(event, p);
    }

    fn heeds_mark(&self) -> bool {
        self.dctcp.heeds_mark()
    }

    fn on_ecn(&mut self, event: &Congestion) {
        let p = self.penalty(event.now, event.srtt, event.rtt);
        self.dctcp.mark(event, p);
    }

    fn on_timeout(&mut self, event: &Timeout) {
        let p = self.penalty(event.now, Time::ZERO, event.rtt);
        self.dctcp.time_out(event, p);
    }

    fn on_recovered(&mut self, now: Time, in_flight: u64) {
        self.dctcp.on_recovered(now, in_flight);
    }

    fn on_undo(&mut self) {
        self.dctcp.on_undo();
    }

    fn on_idle(&mut self, idle: &Idle) {
        self.dctcp.on_idle(idle);
    }

    fn cwnd(&self) -> f64 {
        self.dctcp.cwnd()
    }

    fn ssthresh(&self) -> f64 {
        self.dctcp.ssthresh()
    }

    fn in_slow_start(&self) -> bool {
        self.dctcp.in_slow_start()
    }

    fn state(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        self.dctcp.state(visit);
        visit("urgency", self.urgency);
    }
}
