//! CUBIC: a window that grows with the cube of the time since the latest loss (RFC 9438), with HyStart as in Linux
//! (Ha and Rhee, Computer Networks 55, 2011).
//!
//! Windows are in segments here, as in the RFC's equations. [`Real`] is the RFC's curve, [`Ticks`] Linux' integers.
//! Slow start and the reductions are shared with NewReno ([`crate::reno_window`]).

use crate::registry::{Kind, ParamSet};
use crate::reno_window::{self, Arithmetic, Avoidance, Halve, RenoWindow, by_window};
use crate::{Ack, Congestion, Controller, Env, Profile, Time, Timeout};
use alloc::boxed::Box;

choice! {
    /// Computation of the curve.
    Curve {
        /// RFC 9438's equations in real numbers, at every ACK.
        Real = "real",
        /// Linux: whole segments and ticks, at most one update a tick.
        Ticks = "ticks",
    }
}

params! {
    form of {
        /// Whole segments and ticks; a loss reduces the whole window, not the bytes in flight.
        "linux" = "Linux 6.1, net/ipv4/tcp_cubic.c" {
            curve = "ticks", cut_of = "cwnd", slow_start_per = "segments", timeouts = "once", idle = "decay"
        }
    }
    /// Steepness of the curve.
    c: f64 = "0.4", "segments/s^3", "RFC 9438 section 5.1", "a number above 0" => |x| *x > 0.0;
    /// Share of the window that a loss leaves.
    beta: f64 = "0.7", "", "RFC 9438 section 4.6", "a number above 0, below 1" => |x| *x > 0.0 && *x < 1.0;
    /// Fast convergence: a flow whose window is smaller at each loss aims below the window at which it lost.
    fast_convergence: bool = "true", "", "RFC 9438 section 4.7";
    /// Keeps the window at least as large as Reno's.
    reno_friendly: bool = "true", "", "RFC 9438 section 4.3";
    /// Computation of the curve: "real" by the RFC's equations at every ACK, "ticks" as in Linux, in whole segments,
    /// 1024ths of a second and at most once a tick; c and beta are then rounded to 1024ths (c to tens), and a
    /// spurious loss restores the window but not the curve.
    curve: Curve = "real", "", "RFC 9438 section 4.2; Linux has ticks";
    /// Clock of the curve "ticks".
    tick: Time = "1ms", "", "Linux with HZ = 1000",
        "a time above 0, at most 1s" => |x| *x > Time::ZERO && *x <= Time::s(1);
    /// Quantity that a loss multiplies by beta: the bytes in "flight", or "cwnd".
    cut_of: Halve = "flight", "", "RFC 9438 section 4.6; Linux has cwnd";
    /// Ends slow start when a train of ACKs is longer than half a round trip, or when round trips grow.
    hystart: bool = "true", "", "Linux";
    /// Smallest window at which HyStart may end slow start.
    hystart_low_window: f64 = "16.0", "segments", "Ha and Rhee 2011, section 3; Linux", "a number of at least 0"
        => |x| *x >= 0.0;
    /// Longest pause in a train of ACKs.
    hystart_ack_delta: Time = "2ms", "", "Ha and Rhee 2011, section 3; Linux";
    /// Bytes of a burst by which the train of ACKs may be longer, at the rate of two windows a round trip; at most 1
    /// ms.
    hystart_cushion: f64 = "262144.0", "bytes", "Linux: four segments of offload", "a number of at least 0"
        => |x| *x >= 0.0;
    /// Samples of a round trip before its shortest one is compared with the shortest of all.
    hystart_samples: u32 = "8", "", "Ha and Rhee 2011, section 3; Linux";
    /// Smallest growth of the round trip that ends slow start; an eighth of the shortest round trip if that lies
    /// between this value and hystart_delay_max.
    hystart_delay_min: Time = "4ms", "", "Ha and Rhee 2011, section 3; Linux";
    /// Largest growth of the round trip that does not end slow start.
    hystart_delay_max: Time = "16ms", "", "Ha and Rhee 2011, section 3; Linux";
    then ..window: reno_window::Params {
        !avoidance; !arithmetic;
        floor = "2.0", "RFC 9438 section 4.6", "a number of at least 1" => |x| *x >= 1.0;
        timeouts = "first", "RFC 5681 section 3.1; Linux once";
    };
    together {
        "hystart_delay_min": "at most hystart_delay_max" => |p| p.hystart_delay_min <= p.hystart_delay_max;
    }
}

/// Description printed by `describe`.
pub static KIND: Kind = Kind {
    name: "cubic",
    title: "CUBIC",
    source: "RFC 9438; HyStart: Ha and Rhee, Taming the elephants: New TCP slow start, Computer Networks 55, 2011",
    what: "Loss-based: after a loss the window keeps seven tenths, grows fast, then slowly near the window of the \
           loss, then fast again, by a cubic function of time; never slower than Reno.",
    differences: &[
        "An ACK counts for the segments that it covers, so that delayed ACKs do not slow the curve down; the RFC \
         counts ACKs there and segments in the Reno estimate, Linux segments in both.",
        "Slow start ends as in Linux' HyStart, not by the HyStart++ of RFC 9406 that the RFC suggests; its clock is in \
         microseconds.",
        "The time of the curve excludes times without data in flight, and includes times in which the application or \
         the receiver limits sending, as in Linux (RFC 9438 section 5.8 excludes them).",
        "The threshold of an ACK train is halved whether the transport paces or not; Linux does not halve it if it \
         paces.",
        "A mark leaves at least floor segments, as a loss does; the RFC allows one.",
        "With curve = \"ticks\" K is a rounded cube root; Linux computes its own from a table, at most half a percent \
         off, which moves windows by a segment here and there.",
        "Fast recovery itself belongs to the transport (transport.recovery).",
    ],
    state: &[
        ("w_max_bytes", "window at the latest loss, after fast convergence; 0 before the first"),
        ("k_s", "time from the start of the curve to w_max, seconds"),
        ("min_rtt_s", "shortest round trip known to HyStart, seconds"),
    ],
    profile: Profile::TCP,
    params: Params::PARAMS,
};

/// A CUBIC sender.
#[derive(Clone, Debug)]
pub struct Cubic {
    window: RenoWindow,
    /// Rest of the state, boxed: an ACK in slow start needs little of it.
    rest: Box<Rest>,
}

#[derive(Clone, Debug)]
struct Rest {
    params: Params,
    /// Window at the latest loss, in segments; 0 without one.
    w_max: f64,
    real: Real,
    ticks: Ticks,
    hystart: HyStart,
    /// Sending time of the segment whose ACK left nothing outstanding, and arrival time of that ACK.
    emptied: Option<(Time, Time)>,
    /// State to return to if the latest loss was spurious.
    before: (f64, Real),
}

impl Cubic {
    /// A new flow.
    pub fn new(params: &Params, env: &Env) -> Cubic {
        let arithmetic = match params.curve {
            Curve::Real => Arithmetic::Real,
            Curve::Ticks => Arithmetic::Segments,
        };
        let rules = reno_window::Params { avoidance: Avoidance::Bytes, arithmetic, ..params.window };
        Cubic {
            window: RenoWindow::new(env, rules, params.cut_of),
            rest: Box::new(Rest {
                params: *params,
                w_max: 0.0,
                real: Real::default(),
                ticks: Ticks::new(params),
                hystart: HyStart::default(),
                emptied: None,
                before: (0.0, Real::default()),
            }),
        }
    }

    /// Sections 4.6 and 4.7: returns the window after a loss, in bytes.
    fn lose(&mut self, in_flight: u64, in_force: f64) -> f64 {
        let rest = &mut *self.rest;
        let beta = match rest.params.curve {
            Curve::Real => rest.params.beta,
            Curve::Ticks => f64::from(rest.ticks.beta) / 1024.0,
        };
        rest.before = (rest.w_max, rest.real);
        let cwnd = in_force / self.window.mss;
        let shrinks = cwnd < rest.w_max && rest.params.fast_convergence;
        rest.w_max = if shrinks { cwnd * (1.0 + beta) / 2.0 } else { cwnd };
        if rest.params.curve == Curve::Ticks {
            rest.w_max = libm::floor(rest.w_max);
        }
        rest.real = Real { prior: cwnd, ..Real::default() };
        rest.ticks.epoch = None;
        self.window.cut_of(in_flight, in_force) * beta
    }
}

impl Controller for Cubic {
    fn on_ack(&mut self, ack: &Ack) {
        let rest = &mut *self.rest;
        let sent = ack.now.saturating_sub(ack.rtt.unwrap_or(ack.srtt));
        if let Some((last_sent, acked)) = rest.emptied.take() {
            rest.real.pause(sent.saturating_sub(acked));
            rest.ticks.pause(sent.saturating_sub(last_sent), ack.now);
        }
        if ack.round.acked == ack.round.sent {
            rest.emptied = Some((sent, ack.now));
        }
        if let Some(rtt) = ack.rtt
            && !rest.just_lost(ack.now)
        {
            let in_slow_start = self.window.cwnd < self.window.ssthresh;
            if rest.hystart.sample(&rest.params, ack, rtt, in_slow_start, self.window.cwnd, self.window.mss) {
                self.window.end_slow_start();
            }
        }
        rest.hystart.srtt = ack.srtt;
        let left = self.window.slow_start(ack);
        if left <= 0.0 {
            return;
        }
        let mss = self.window.mss;
        let (cwnd, acked) = (self.window.cwnd / mss, left / mss);
        match rest.params.curve {
            Curve::Real => {
                let rtt = if ack.srtt > Time::ZERO { ack.srtt } else { ack.rtt.unwrap_or(Time::ZERO) };
                self.window.cwnd = rest.real.window(&rest.params, ack.now, rtt, rest.w_max, cwnd, acked) * mss;
            }
            Curve::Ticks => {
                let (w_max, shortest) = (rest.w_max as u32, rest.hystart.shortest);
                let per = rest.ticks.update(&rest.params, ack.now, shortest, w_max, cwnd as u32, acked as u32);
                self.window.count(left, f64::from(per) * mss);
            }
        }
    }

    fn on_loss(&mut self, event: &Congestion) {
        let left = self.lose(event.in_flight, event.window);
        self.window.reduce(left);
    }

    /// Section 4.8: the next curve starts at its own window.
    fn on_timeout(&mut self, event: &Timeout) {
        let left = self.lose(event.in_flight, event.window);
        self.window.restart(event, left);
        let rest = &mut *self.rest;
        rest.w_max = 0.0;
        rest.ticks = Ticks::new(&rest.params);
        rest.hystart.restart(event);
    }

    /// Section 4.9.
    fn on_undo(&mut self) {
        self.window.undo();
        let rest = &mut *self.rest;
        if rest.params.curve == Curve::Real {
            (rest.w_max, rest.real) = rest.before;
        }
    }

    by_window!();

    fn state(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        let rest = &*self.rest;
        visit("w_max_bytes", rest.w_max * self.window.mss);
        visit(
            "k_s",
            match rest.params.curve {
                Curve::Real => rest.real.k,
                Curve::Ticks => f64::from(rest.ticks.k) / 1024.0,
            },
        );
        let shortest = rest.hystart.shortest;
        visit("min_rtt_s", if shortest == 0 { f64::NAN } else { Time::us(u64::from(shortest)).as_secs_f64() });
    }
}

impl Rest {
    /// Linux takes no round trips in the first second of a curve.
    fn just_lost(&self, now: Time) -> bool {
        let began = match self.params.curve {
            Curve::Real => self.real.epoch,
            Curve::Ticks => self.ticks.epoch.map(|epoch| Time(u64::from(epoch) * self.params.tick.0)),
        };
        let now = match self.params.curve {
            Curve::Real => now,
            Curve::Ticks => Time(now.0 / self.params.tick.0 * self.params.tick.0),
        };
        began.is_some_and(|began| now.saturating_sub(began) < Time::s(1))
    }
}

/// Sections 4.2 to 4.5 in real numbers.
#[derive(Clone, Copy, Default, Debug)]
struct Real {
    /// Start of the curve.
    epoch: Option<Time>,
    /// Time to the plateau, seconds, and its window.
    k: f64,
    plateau: f64,
    /// Window that Reno would have.
    w_est: f64,
    /// Window at the latest loss, before fast convergence.
    prior: f64,
}

impl Real {
    /// The window after an ACK of `acked` segments in avoidance.
    fn window(&mut self, params: &Params, now: Time, rtt: Time, w_max: f64, cwnd: f64, acked: f64) -> f64 {
        let epoch = match self.epoch {
            Some(epoch) => epoch,
            None => {
                self.plateau = w_max.max(cwnd);
                self.k = libm::cbrt((self.plateau - cwnd) / params.c);
                self.w_est = cwnd;
                self.epoch = Some(now);
                now
            }
        };
        let curve = |time: Time| {
            let t = time.saturating_sub(epoch).as_secs_f64() - self.k;
            params.c * t * t * t + self.plateau
        };
        if params.reno_friendly {
            let beta = params.beta;
            let alpha = if self.w_est < self.prior { 3.0 * (1.0 - beta) / (1.0 + beta) } else { 1.0 };
            self.w_est += alpha * acked / cwnd;
            if curve(now) < self.w_est {
                return self.w_est.max(cwnd);
            }
        }
        let target = curve(now.saturating_add(rtt)).clamp(cwnd, 1.5 * cwnd);
        (cwnd + (target - cwnd) / cwnd * acked).min(target)
    }

    /// Excludes an idle time from the curve.
    fn pause(&mut self, idle: Time) {
        self.epoch = self.epoch.map(|epoch| epoch.saturating_add(idle));
    }
}

/// The curve as Linux computes it: times in ticks, those of the curve in 1024ths of a second.
#[derive(Clone, Debug)]
struct Ticks {
    /// Segments to be acknowledged for one more of the window.
    per: u32,
    /// Window and tick of the latest update.
    last_cwnd: u32,
    last: u32,
    /// Start of the curve, tick.
    epoch: Option<u32>,
    /// 1024ths of a second.
    k: u32,
    plateau: u32,
    /// Window that Reno would have, and the segments counted towards its next one.
    reno: u32,
    acked: u32,
    /// c and beta in 1024ths, c for a round trip of 100 ms.
    c: u32,
    beta: u32,
    /// Ticks per second.
    hz: u32,
}

impl Ticks {
    fn new(params: &Params) -> Ticks {
        Ticks {
            per: 0,
            last_cwnd: 0,
            last: 0,
            epoch: None,
            k: 0,
            plateau: 0,
            reno: 0,
            acked: 0,
            c: (libm::round(params.c * 102.4) as u32).max(1).saturating_mul(10),
            beta: (libm::round(params.beta * 1024.0) as u32).clamp(1, 1023),
            hz: (Time::s(1).0 / params.tick.0) as u32,
        }
    }

    /// An ACK of `acked` segments in avoidance; `shortest` round trip in microseconds.
    fn update(&mut self, params: &Params, now: Time, shortest: u32, w_max: u32, cwnd: u32, acked: u32) -> u32 {
        let tick = (now.0 / params.tick.0) as u32;
        self.acked += acked;
        if self.last_cwnd == cwnd && tick.wrapping_sub(self.last) <= self.hz / 32 {
            return self.per;
        }
        if self.epoch.is_none() || tick != self.last {
            (self.last_cwnd, self.last) = (cwnd, tick);
            self.per = self.along_the_curve(params, tick, shortest, w_max, cwnd, acked);
        }
        if params.reno_friendly {
            let each = (cwnd * (8 * (1024 + self.beta) / 3 / (1024 - self.beta)) / 8).max(1);
            let grown = self.acked.saturating_sub(1) / each;
            self.acked -= grown * each;
            self.reno += grown;
            if self.reno > cwnd {
                self.per = self.per.min(cwnd / (self.reno - cwnd));
            }
        }
        self.per = self.per.max(2);
        self.per
    }

    fn along_the_curve(&mut self, params: &Params, tick: u32, shortest: u32, w_max: u32, cwnd: u32, acked: u32) -> u32 {
        let epoch = match self.epoch {
            Some(epoch) => epoch,
            None => {
                self.epoch = Some(tick);
                (self.acked, self.reno) = (acked, cwnd);
                self.plateau = w_max.max(cwnd);
                let distance = u64::from(self.plateau - cwnd);
                self.k = cube_root(((1 << 40) / u64::from(self.c)).saturating_mul(distance));
                tick
            }
        };
        let rtt = Time::us(u64::from(shortest)).0.div_ceil(params.tick.0);
        let t = (u64::from(tick.wrapping_sub(epoch)) + rtt) * 1024 / u64::from(self.hz);
        let k = u64::from(self.k);
        let off = u128::from(t.abs_diff(k));
        let moved = ((u128::from(self.c) * off * off * off) >> 40).min(u128::from(u32::MAX)) as u32;
        let target = if t < k { self.plateau.saturating_sub(moved) } else { self.plateau.saturating_add(moved) };
        let per = if target > cwnd { cwnd / (target - cwnd) } else { cwnd.saturating_mul(100) };
        // before the first loss nothing is known of the path
        if w_max == 0 { per.min(20) } else { per }
    }

    /// Handles an idle time, of which the latest data was in flight for a part.
    fn pause(&mut self, idle: Time, now: Time) {
        let ticks = Time::s(1).0 / u64::from(self.hz);
        self.epoch = self.epoch.map(|epoch| (epoch + (idle.0 / ticks) as u32).min((now.0 / ticks) as u32));
    }
}

/// The nearest whole number to the cube root; Linux' own, by a table and a step of Newton's iteration, is within half
/// a percent of it.
fn cube_root(number: u64) -> u32 {
    libm::round(libm::cbrt(number as f64)) as u32
}

/// End of slow start before a loss. Microseconds, as in Linux.
#[derive(Clone, Copy, Default, Debug)]
struct HyStart {
    /// True if HyStart has ended slow start.
    found: bool,
    /// Start of the round, and the count of bytes sent that ends it.
    round: u32,
    end: u64,
    /// The latest ACK of the train.
    train: u32,
    /// Shortest round trip of the round, and its number of samples.
    least: u32,
    samples: u32,
    /// Shortest round trip of all; 0 before the first.
    shortest: u32,
    /// Smoothed RTT after the previous ACK.
    srtt: Time,
}

fn micros(time: Time) -> u32 {
    (time.0 / Time::us(1).0) as u32
}

impl HyStart {
    /// Adds a sample of the round trip; true if slow start ends with it.
    fn sample(&mut self, params: &Params, ack: &Ack, rtt: Time, in_slow_start: bool, cwnd: f64, mss: f64) -> bool {
        let rtt = micros(rtt).max(1);
        if self.shortest == 0 || rtt < self.shortest {
            self.shortest = rtt;
        }
        if self.found || !in_slow_start || !params.hystart {
            return false;
        }
        let now = micros(ack.now);
        if ack.round.is_past(self.end) {
            self.begin_round(now, ack.round.sent);
        }
        if cwnd < params.hystart_low_window * mss {
            return false;
        }
        if now.wrapping_sub(self.train) <= micros(params.hystart_ack_delta) {
            self.train = now;
            let cushion = params.hystart_cushion * self.srtt.as_us_f64() / (2.0 * cwnd);
            let longest = (self.shortest + libm::floor(cushion).min(1000.0) as u32) / 2;
            self.found = now.wrapping_sub(self.round) > longest;
        }
        self.least = self.least.min(rtt);
        if self.samples < params.hystart_samples {
            self.samples += 1;
        } else {
            let growth = (self.shortest / 8).clamp(micros(params.hystart_delay_min), micros(params.hystart_delay_max));
            self.found |= self.least > self.shortest + growth;
        }
        self.found
    }

    fn begin_round(&mut self, now: u32, end: u64) {
        (self.round, self.train, self.end) = (now, now, end);
        (self.least, self.samples) = (u32::MAX, 0);
    }

    /// Starts anew after a timeout.
    fn restart(&mut self, event: &Timeout) {
        (self.found, self.shortest) = (false, 0);
        self.begin_round(micros(event.now), event.sent);
    }
}
