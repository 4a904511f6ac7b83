//! DCQCN: a rate cut by congestion notification packets and raised by a timer (Zhu et al., Congestion
//! Control for Large-Scale RDMA Deployments, SIGCOMM 2015, section 5).
//!
//! The receiver of marked data sends notifications (CNPs), at most one each `cnp_interval`. With the
//! rate `R`, the target `R_T` and the estimate `alpha` of the congestion:
//!
//! ```text
//! each t_alpha:  alpha = (1 - g) alpha + g   if a CNP came, else (1 - g) alpha
//! each t_dec, if a CNP came:  R_T = R,  R *= 1 - alpha / 2,  stage = 0, the increase timer starts anew
//! each t_inc:  stage > f:  R_T += r_hai;  stage = f: R_T += r_ai;  then R = (R + R_T) / 2, stage += 1
//! ```
//!
//! A flow begins at the line rate. At its first CNP `alpha` is 1, and the first two timers begin. Timers are kept as
//! the instants at which they fire; only instants with an effect wake the controller.
//!
//! With `feedback = "median"` an interval of `t_alpha` counts as one with a CNP if most of the last `history_size`
//! intervals do ([`crate::median`]), for `alpha` and for each instant of `t_dec`.

use crate::median::{self, Median};
use crate::paced_rate::PacedRate;
use crate::registry::{Kind, ParamSet};
use crate::{Ack, Congestion, Controller, Ecn, Env, Pacing, Profile, Time, Timeout};
use alloc::boxed::Box;

choice! {
    /// Effect of the first notification.
    FirstCnp {
        /// Cuts the rate.
        Cut = "cut",
        /// Starts the timers; the first cut happens t_dec later.
        Start = "start",
    }
}

params! {
    form of {
        /// The paper's timers and stages.
        "paper" = "Zhu et al., SIGCOMM 2015, sections 5.1 to 5.3" { t_alpha = "55us", f = "5" }
        /// The simulator of HPCC's authors as its run script sets it at 100 Gb/s: the vendor's timers, rates of at
        /// least 1 Gb/s, no window.
        "authors" = "run.py of alibaba-edu/High-Precision-Congestion-Control" {
            t_alpha = "1us", t_dec = "4us", t_inc = "300us", first_cnp = "start", min_rate = "0.01",
            max_cwnd = "1000000.0"
        }
        /// The timers of a NIC vendor.
        "vendor" = "run.py of alibaba-edu/High-Precision-Congestion-Control" {
            t_alpha = "1us", t_dec = "4us", t_inc = "300us", first_cnp = "start"
        }
    }
    /// Shortest time between a receiver's notifications of one flow.
    cnp_interval: Time = "50us", "", "section 5.1", "a time above 0" => |t| *t > Time::ZERO;
    /// Gain of the estimate alpha.
    g: f64 = "0.00390625", "", "1/256: section 5.3", "a number above 0, at most 1" => |x| *x > 0.0 && *x <= 1.0;
    /// Time between updates of alpha.
    t_alpha: Time = "50us", "", "dcqcn_paper in run.py of HPCC's authors; the paper 55us", "a time above 0" =>
        |t| *t > Time::ZERO;
    /// Shortest time between reductions.
    t_dec: Time = "50us", "", "dcqcn_paper in run.py of HPCC's authors", "a time above 0" => |t| *t > Time::ZERO;
    /// Time between increases.
    t_inc: Time = "55us", "", "section 5.3", "a time above 0" => |t| *t > Time::ZERO;
    /// Number of increases after a reduction that only go half-way back to the target.
    f: u32 = "1", "increases", "simulator of HPCC's authors; the paper 5";
    /// Additive increase of the target.
    r_ai: f64 = "0.0002", "of the line rate", "run.py of HPCC's authors: 5 Mb/s at 25 Gb/s", "a number above 0" =>
        |x| *x > 0.0;
    /// Hyper increase of the target.
    r_hai: f64 = "0.002", "of the line rate", "run.py of HPCC's authors: 50 Mb/s at 25 Gb/s", "a number above 0" =>
        |x| *x > 0.0;
    /// Effect of a flow's first notification: "cut" reduces the rate at once, as every notification does in the
    /// paper; "start" starts the timers, with the first reduction t_dec later.
    first_cnp: FirstCnp = "cut", "", "section 5.1; simulator of HPCC's authors: start";
    /// Lowers the target too, at a reduction before the first increase since the last reduction.
    clamp_target: bool = "false", "", "simulator of HPCC's authors";
    /// Smallest rate.
    min_rate: f64 = "0.001", "of the line rate", "simulator of HPCC's authors: 100 Mb/s at 100 Gb/s",
        "a number above 0, at most 1" => |x| *x > 0.0 && *x <= 1.0;
    /// Largest number of packets in flight.
    max_cwnd: f64 = "1000.0", "packets", "own choice; the paper has no window", "a number of at least 1" =>
        |x| *x >= 1.0;
    then ..median: median::Params {
        !history; !history_alpha; !history_min; !history_max; !even;
        history = "constant", "own choice: a rate has no window";
    };
    profile => |p, profile| Profile { cnp: Some(p.cnp_interval), ..profile };
}

/// Description printed by `describe`.
pub static KIND: Kind = Kind {
    name: "dcqcn",
    title: "DCQCN",
    source: "Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015, section 5; the authors of \
             HPCC's simulator, alibaba-edu/High-Precision-Congestion-Control (mode 1)",
    what: "Receivers of marked data send notification packets; the more frequent they are, the more the sender reduces \
           its paced rate; a timer raises it again.",
    differences: &[
        "The rate rises only by the timer; the paper's additional byte counter (10 MB) is left out, as in the \
         simulator of HPCC's authors.",
        "Later reductions wait for a timer of t_dec that runs from the first notification, as in that simulator; in \
         the paper each notification reduces the rate, and there is at most one in 50 us.",
        "Notifications travel like ACKs, in the same queues; the paper gives them a separate priority.",
        "Rates are shares of the line's. Over TCP they count payload; over rdma headers too, as in that simulator.",
        "feedback = \"median\" tests whether most of the last intervals of t_alpha had a notification, a variant that \
         Gerstein et al. (arXiv 2025, section V) expect to be harmful.",
        "Losses and timeouts do not change the rate: the paper's fabric is lossless, and the transport repairs losses.",
    ],
    state: &[
        ("pacing_rate_bps", "rate, bits per second of payload"),
        ("target_rate_bps", "target of the rate, bits per second"),
        ("alpha", "estimate of congestion at the latest notification, cut or increase, 0 to 1"),
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
    rate: PacedRate,
    target: f64,
    alpha: f64,
    stage: u32,
    /// A CNP arrived since alpha's latest update.
    seen: bool,
    /// Times at which alpha's timer and the reduction timer last fired, as far as followed; none before the first
    /// CNP.
    updated: Option<Time>,
    looked: Time,
    /// Times of the next reduction and the next increase; never if none is due.
    next_cut: Time,
    next_increase: Time,
    p: Params,
    median: Option<Box<Median>>,
}

/// Latest of the instants `from`, `from + every`, ... that is not after `now`, and its index.
fn latest(from: Time, every: Time, now: Time) -> (Time, u64) {
    let fired = (now.0 - from.0) / every.0;
    (Time(from.0 + fired * every.0), fired)
}

impl Dcqcn {
    /// A new flow.
    pub fn new(params: &Params, env: &Env) -> Dcqcn {
        let rate = PacedRate::new(1.0, params.min_rate, params.max_cwnd, env);
        Dcqcn {
            target: rate.line(),
            rate,
            alpha: 1.0,
            stage: 0,
            seen: false,
            updated: None,
            looked: Time::ZERO,
            next_cut: Time::NEVER,
            next_increase: Time::NEVER,
            p: *params,
            median: params.median.filter(),
        }
    }

    /// Updates alpha up to `now`: one update with the CNPs seen, the others without.
    fn update_alpha(&mut self, now: Time) {
        let Some(updated) = self.updated else { return };
        let (at, fired) = latest(updated, self.p.t_alpha, now);
        if fired > 0 {
            let seen = core::mem::take(&mut self.seen);
            // once the whole history is without a CNP, so are all following intervals
            let single = self.median.as_ref().map_or(1, |_| u64::from(self.p.median.history_size) + 1).min(fired);
            for i in 0..single {
                let mut marked = seen && i == 0;
                if let Some(median) = &mut self.median {
                    marked = median.hear_mark(marked, 0.0);
                }
                self.alpha = (1.0 - self.p.g) * self.alpha + self.p.g * f64::from(u8::from(marked));
            }
            self.alpha *= libm::pow(1.0 - self.p.g, (fired - single) as f64);
            self.updated = Some(at);
        }
    }

    fn cut(&mut self, now: Time) {
        if self.p.clamp_target || self.stage > 0 || self.next_increase == Time::NEVER {
            self.target = self.rate.get();
        }
        self.rate.set(self.rate.get() * (1.0 - self.alpha / 2.0));
        self.stage = 0;
        self.next_increase = now.saturating_add(self.p.t_inc);
    }

    fn increase(&mut self, now: Time) {
        if self.stage >= self.p.f {
            let step = if self.stage == self.p.f { self.p.r_ai } else { self.p.r_hai };
            self.target = (self.target + step * self.rate.line()).min(self.rate.line());
        }
        let before = self.rate.get();
        self.rate.set((before + self.target) / 2.0);
        self.stage = self.stage.saturating_add(1);
        // at the line rate further increases have no effect
        let rests = self.rate.get() == before && self.target == self.rate.line();
        self.next_increase = if rests { Time::NEVER } else { now.saturating_add(self.p.t_inc) };
    }
}

impl Controller for Dcqcn {
    fn on_ack(&mut self, _ack: &Ack) {}

    fn on_cnp(&mut self, now: Time) {
        if self.updated.is_none() {
            (self.updated, self.looked) = (Some(now), now);
            if let Some(median) = &mut self.median {
                median.hear_mark(true, 0.0);
            }
            match self.p.first_cnp {
                FirstCnp::Cut => self.cut(now),
                FirstCnp::Start => self.next_cut = now.saturating_add(self.p.t_dec),
            }
            return;
        }
        self.update_alpha(now);
        self.seen = true;
        if self.next_cut == Time::NEVER {
            self.looked = latest(self.looked, self.p.t_dec, now).0;
            self.next_cut = self.looked.saturating_add(self.p.t_dec);
        }
    }

    fn wake_at(&self) -> Time {
        self.next_cut.min(self.next_increase)
    }

    fn on_wake(&mut self, now: Time) {
        self.update_alpha(now);
        if self.next_cut <= now {
            (self.looked, self.next_cut) = (now, Time::NEVER);
            match &self.median {
                None => self.cut(now),
                // even without another CNP, the next instant is a reduction
                Some(median) if median.is_marked() => {
                    self.next_cut = now.saturating_add(self.p.t_dec);
                    self.cut(now);
                }
                Some(_) => {}
            }
        }
        if self.next_increase <= now {
            self.increase(now);
        }
    }

    fn on_loss(&mut self, _event: &Congestion) {}

    /// Marks are reported by the receiver's notifications, not by its ACKs.
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
        visit("target_rate_bps", self.target);
        visit("alpha", self.alpha);
    }
}
