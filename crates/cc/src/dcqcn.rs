//! DCQCN: a rate cut by congestion notification packets and raised by a timer (Zhu et al., Congestion
//! Control for Large-Scale RDMA Deployments, SIGCOMM 2015, section 5).
//!
//! The receiver of marked data sends notifications (CNPs), at most one each `cnp_interval`. With the
//! rate `R`, the target `R_T` and the estimate `alpha` of how congested it is:
//!
//! ```text
//! each t_alpha:  alpha = (1 - g) alpha + g   if a CNP came, else (1 - g) alpha
//! each t_dec, if a CNP came:  R_T = R,  R *= 1 - alpha / 2,  stage = 0, the increase timer starts anew
//! each t_inc:  stage > f:  R_T += r_hai;  stage = f: R_T += r_ai;  then R = (R + R_T) / 2, stage += 1
//! ```
//!
//! A flow begins at the line rate, with `alpha` of 1 at its first CNP.

use crate::registry::{Kind, ParamSet};
use crate::{Ack, Congestion, Controller, Ecn, Env, Pacing, Profile, Time, Timeout};

params! {
    form of {
        /// The timers of a NIC vendor.
        "vendor" = "run.py of alibaba-edu/High-Precision-Congestion-Control" {
            t_alpha = "1us", t_dec = "4us", t_inc = "300us"
        }
    }
    /// Shortest time between a receiver's notifications of one flow.
    cnp_interval: Time = "50us", "", "section 5.1", "a time above 0" => |t| *t > Time::ZERO;
    /// Gain of the estimate alpha.
    g: f64 = "0.00390625", "", "1/256: section 5.3", "a number above 0, at most 1" => |x| *x > 0.0 && *x <= 1.0;
    /// Time between updates of alpha.
    t_alpha: Time = "50us", "", "dcqcn_paper in run.py of HPCC's authors; the paper 55us", "a time above 0" =>
        |t| *t > Time::ZERO;
    /// Shortest time between cuts.
    t_dec: Time = "50us", "", "dcqcn_paper in run.py of HPCC's authors", "a time above 0" => |t| *t > Time::ZERO;
    /// Time between increases.
    t_inc: Time = "55us", "", "section 5.3", "a time above 0" => |t| *t > Time::ZERO;
    /// Increases after a cut that only go half-way back to the target.
    f: u32 = "1", "increases", "simulator of HPCC's authors; the paper 5";
    /// Additive increase of the target.
    r_ai: f64 = "0.0002", "of the line rate", "run.py of HPCC's authors: 5 Mb/s at 25 Gb/s", "a number above 0" =>
        |x| *x > 0.0;
    /// Hyper increase of the target.
    r_hai: f64 = "0.002", "of the line rate", "run.py of HPCC's authors: 50 Mb/s at 25 Gb/s", "a number above 0" =>
        |x| *x > 0.0;
    /// Whether a cut before the first increase since the last cut lowers the target as well.
    clamp_target: bool = "false", "", "simulator of HPCC's authors";
    /// Smallest rate.
    min_rate: f64 = "0.001", "of the line rate", "simulator of HPCC's authors: 100 Mb/s at 100 Gb/s",
        "a number above 0, at most 1" => |x| *x > 0.0 && *x <= 1.0;
    /// Most that may be in flight.
    max_cwnd: f64 = "1000.0", "packets", "own choice; the paper has no window", "a number of at least 1" =>
        |x| *x >= 1.0;
    profile => |p, profile| Profile { cnp: Some(p.cnp_interval), ..profile };
}

/// What `describe` prints.
pub static KIND: Kind = Kind {
    name: "dcqcn",
    title: "DCQCN",
    source: "Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015, section 5; the authors of \
             HPCC's simulator, alibaba-edu/High-Precision-Congestion-Control (mode 1)",
    what: "Receivers of marked data send notification packets; the sender cuts its paced rate by how often they \
           come, and a timer raises it again.",
    differences: &[
        "The rate rises by the timer alone; the paper's byte counter beside it (10 MB) is left out, as in the \
         simulator of \
         HPCC's authors.",
        "Notifications travel like ACKs, in the same queues; the paper gives them a priority of their own.",
        "Rates are shares of the line's and count payload.",
        "Losses and timeouts leave the rate alone: the paper's fabric is lossless, and the transport repairs them.",
    ],
    state: &[
        ("pacing_rate_bps", "rate, bits per second of payload"),
        ("target_rate_bps", "target of the rate, bits per second"),
        ("alpha", "estimate of congestion, 0 to 1"),
    ],
    profile: Profile {
        ecn: Ecn::Dctcp,
        own_recovery: true,
        ack_every_packet: true,
        cnp: Some(Time::us(50)),
        ..Profile::TCP
    },
    params: Params::PARAMS,
};

/// A DCQCN sender. Rates in bits per second.
#[derive(Clone, Debug)]
pub struct Dcqcn {
    rate: f64,
    target: f64,
    alpha: f64,
    stage: u32,
    /// A CNP came since alpha was last brought up to date, and since the latest look at a cut.
    seen_by_alpha: bool,
    seen_by_cut: bool,
    /// When the timers fire; never before the first CNP.
    next_alpha: Time,
    next_cut: Time,
    next_increase: Time,
    cwnd: f64,
    line_rate: f64,
    p: Params,
}

/// Rate that stands for a line without one, bits per second.
const UNLIMITED: f64 = 1e15;

impl Dcqcn {
    /// A new flow.
    pub fn new(params: &Params, env: &Env) -> Dcqcn {
        let line_rate = env.line_rate.as_f64().min(UNLIMITED);
        Dcqcn {
            rate: line_rate,
            target: line_rate,
            alpha: 1.0,
            stage: 0,
            seen_by_alpha: false,
            seen_by_cut: false,
            next_alpha: Time::NEVER,
            next_cut: Time::NEVER,
            next_increase: Time::NEVER,
            cwnd: params.max_cwnd * f64::from(env.mss),
            line_rate,
            p: *params,
        }
    }

    /// A look at whether a CNP calls for a cut.
    fn cut(&mut self, now: Time) {
        self.next_cut = now.saturating_add(self.p.t_dec);
        if core::mem::take(&mut self.seen_by_cut) {
            if self.p.clamp_target || self.stage > 0 || self.next_increase == Time::NEVER {
                self.target = self.rate;
            }
            self.rate = (self.rate * (1.0 - self.alpha / 2.0)).max(self.p.min_rate * self.line_rate);
            self.stage = 0;
            self.next_increase = now.saturating_add(self.p.t_inc);
        }
    }

    fn increase(&mut self, now: Time) {
        self.next_increase = now.saturating_add(self.p.t_inc);
        if self.stage >= self.p.f {
            let step = if self.stage == self.p.f { self.p.r_ai } else { self.p.r_hai };
            self.target = (self.target + step * self.line_rate).min(self.line_rate);
        }
        self.rate = (self.rate + self.target) / 2.0;
        self.stage = self.stage.saturating_add(1);
    }
}

impl Controller for Dcqcn {
    fn on_ack(&mut self, _ack: &Ack) {}

    fn on_cnp(&mut self, now: Time) {
        self.seen_by_cut = true;
        if self.next_alpha == Time::NEVER {
            self.next_alpha = now.saturating_add(self.p.t_alpha);
            self.cut(now);
        } else {
            self.seen_by_alpha = true;
        }
    }

    fn wake_at(&self) -> Time {
        self.next_alpha.min(self.next_cut).min(self.next_increase)
    }

    fn on_wake(&mut self, now: Time) {
        if self.next_alpha <= now {
            self.next_alpha = now.saturating_add(self.p.t_alpha);
            let seen = f64::from(u8::from(core::mem::take(&mut self.seen_by_alpha)));
            self.alpha = (1.0 - self.p.g) * self.alpha + self.p.g * seen;
        }
        if self.next_cut <= now {
            self.cut(now);
        }
        if self.next_increase <= now {
            self.increase(now);
        }
    }

    fn on_loss(&mut self, _event: &Congestion) {}

    /// What the receiver saw comes by its notifications.
    fn on_ecn(&mut self, _event: &Congestion) {}

    fn on_timeout(&mut self, _event: &Timeout) {}

    #[inline]
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    #[inline]
    fn pacing(&self) -> Pacing {
        Pacing::Rate(self.rate)
    }

    fn state(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("pacing_rate_bps", self.rate);
        visit("target_rate_bps", self.target);
        visit("alpha", self.alpha);
    }
}
