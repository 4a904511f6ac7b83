//! Swift: a window that follows a target delay (Kumar et al., SIGCOMM 2020), its fabric window.
//!
//! ```text
//! target = base_target + hops h + clamp(a_fs / sqrt(fcwnd) + b_fs, 0, fs_range)     section 3.5
//! delay < target:  fcwnd += n ai / fcwnd   (n ai below one packet)
//! else, once an RTT:  fcwnd *= max(1 - beta (delay - target) / delay, 1 - max_mdf)  algorithm 1
//! ```
//!
//! Windows are in packets and real; below one packet the flow is paced at one packet every
//! rtt / fcwnd (section 3.3). There is no slow start.
//!
//! Two things differ on purpose from the letter of the paper, each with its parameter:
//!
//! - Algorithm 1 restarts the decrease timer whenever the window did not grow (`<=`). An ACK over
//!   target that may not decrease yet leaves the window as it was, so while ACKs come more than
//!   once an RTT the timer never runs out and the window freezes. Here it restarts when the
//!   window *fell* (`decrease_clock = "strict"`); `"literal"` is the paper's line.
//! - The published constants belong to 50-100 Gb/s. On a slow or long fabric the idle RTT alone
//!   exceeds any target they allow, so `base_target`, `h` and `fs_range` default to `auto`: the
//!   target on the shortest path is its idle RTT plus ten packets of queue, and each further link
//!   adds the idle RTT of a link. Own choice; absolute values are taken when given.
//!
//! `target = "min-rtt"` takes the smallest delay the flow has seen, plus `epsilon`, in place of
//! the published sum. With an exact clock and `epsilon = 0` that leaves no room to grow: no delay
//! is *below* the smallest one seen, so the increase never happens and the window only falls.
//! Simulators with a coarse time-stamp clock hide this, because there many delays read the same
//! or less than they are. `epsilon = "auto"` allows ten packets of queue.

use crate::registry::{Kind, ParamSet};
use crate::reno_window::AfterTimeout;
use crate::{Ack, Congestion, Controller, Ecn, Env, Pacing, Phase, Profile, Time, Timeout};

choice! {
    /// Where the target delay comes from.
    Target {
        /// Section 3.5: base, topology scaling, flow scaling.
        Published = "published",
        /// `static_target`, whatever the path and the window.
        Static = "static",
        /// The smallest delay this flow has seen, plus `epsilon`.
        MinRtt = "min-rtt",
    }
}

choice! {
    /// What restarts the time to the next decrease.
    DecreaseClock {
        /// The window fell.
        Strict = "strict",
        /// The window did not grow, as algorithm 1 is printed.
        Literal = "literal",
    }
}

choice! {
    /// What the smallest delay of `target = "min-rtt"` is taken of.
    MinOf {
        /// The samples.
        Rtt = "rtt",
        /// The smoothed RTT.
        Srtt = "srtt",
    }
}

choice! {
    /// What the window is counted in.
    Arithmetic {
        /// Real numbers; an ACK counts the bytes it brings.
        Real = "real",
        /// Whole bytes, rounded down; an ACK counts whole segments and leaves the rest to the
        /// next.
        Bytes = "bytes",
        /// Whole bytes and targets of whole picoseconds, rounded down; an ACK counts the bytes it
        /// brings.
        Integer = "integer",
    }
}

choice! {
    /// Whose loss recovery it is.
    Recovery {
        /// Section 3.4: a cut at every newly found loss, and no recovery window.
        Own = "own",
        /// The transport's: the window rests during fast recovery and is ssthresh afterwards,
        /// as NewReno sets it.
        NewReno = "newreno",
    }
}

choice! {
    /// The round-trip time that must pass between decreases.
    Gate {
        /// The latest sample.
        Rtt = "rtt",
        /// The smoothed RTT.
        Srtt = "srtt",
        /// The smoothed RTT before the ACK that is to decrease, in whole picoseconds.
        PriorSrtt = "prior-srtt",
    }
}

choice! {
    /// The window in flow scaling's square root.
    FsWindow {
        /// As it is.
        Real = "real",
        /// Whole packets, rounded down; below one packet the term is `fs_range`.
        Whole = "whole",
    }
}

choice! {
    /// The round-trip time in the pause between packets of a window below one packet.
    PaceBy {
        /// The latest sample.
        Rtt = "rtt",
        /// The smoothed RTT.
        Srtt = "srtt",
    }
}

params! {
    form of {
        /// The code of an ns-3 study of Swift and DCTCP: a target from the smallest smoothed RTT (`epsilon = 1ms` is its
        /// second mode, `target = static` its third), integer factors, windows in bytes between 2000 and 60000 B at its
        /// segments of 1500 B, the printed decrease rule, ns-3's own way out of fast recovery.
        "seed-000" = "omarghara/DCTCP-SWIFT-YASOMAM" {
            target = "min-rtt", min_of = "srtt", arithmetic = "bytes", recovery = "newreno", decrease_clock = "literal",
            ai = "2.0", beta = "4.0", max_mdf = "1.0", min_cwnd = "1.3333333333333333", max_cwnd = "40.0",
            retx_reset_threshold = "3"
        }
        /// The same decisions from the same delays as htsim's Swift, as long as nothing is lost:
        /// its hop count is always zero, its types are integers. The transport around it is
        /// `transport.preset = "htsim"`, the NIC `queue.host.kind = "fair-nic"`.
        "htsim" = "sim/swift.cpp of Broadcom/csg-htsim, commit 841d9e7" {
            base_target = "20us",
            topology_scaling = "false",
            fs_window = "whole",
            arithmetic = "integer",
            gate = "prior-srtt",
            pace_by = "srtt",
            min_cwnd = "0.0025",
        }
    }
    /// Where the target delay comes from: "published" is base_target + hops h + flow scaling,
    /// "static" is static_target, "min-rtt" is the smallest delay the flow has seen plus epsilon.
    target: Target = "published", "", "section 3.5";
    /// Target delay before scaling; auto makes the target on the shortest path its idle RTT plus
    /// ten packet times.
    base_target: Option<Time> = "auto", "", "own choice; the paper uses 25us and 50us at 50-100 Gb/s, htsim 20us";
    /// Topology scaling: target delay for each link of the forward path; auto is the idle RTT
    /// that one more link adds.
    h: Option<Time> = "auto", "", "own choice; not published, htsim 3.053us";
    /// Whether hops h is part of the published target.
    topology_scaling: bool = "true", "", "section 3.5";
    /// Whether the flow term is part of the published target.
    flow_scaling: bool = "true", "", "section 3.5";
    /// Flow scaling: the most it adds to the target; auto is five times base_target, or five
    /// times ten packet times where base_target is auto.
    fs_range: Option<Time> = "auto", "", "htsim: 5 base_target; not published";
    /// Flow scaling: the window at and below which it adds fs_range.
    fs_min_cwnd: f64 = "0.1", "packets", "htsim; not published", "a number above 0" => |x| *x > 0.0;
    /// Flow scaling: the window at and above which it adds nothing.
    fs_max_cwnd: f64 = "100.0", "packets", "htsim; not published", "a number above 0" => |x| *x > 0.0;
    /// Target delay of target = "static".
    static_target: Time = "25ms", "", "fixed target of the ns-3 study omarghara/DCTCP-SWIFT-YASOMAM";
    /// Room that target = "min-rtt" leaves above the smallest delay; auto is ten packet times.
    epsilon: Option<Time> = "0s", "", "omarghara/DCTCP-SWIFT-YASOMAM uses 0 and 1ms; auto is an own choice";
    /// Of what target = "min-rtt" takes the smallest: "rtt" the samples, "srtt" the smoothed RTT.
    min_of: MinOf = "rtt", "", "own choice; omarghara/DCTCP-SWIFT-YASOMAM takes srtt";
    /// The window in the square root of flow scaling: "real", or "whole" packets, rounded down.
    fs_window: FsWindow = "real", "", "section 3.5; htsim divides integers";
    /// Additive increase a round trip.
    ai: f64 = "1.0", "packets", "htsim; not published", "a number above 0" => |x| *x > 0.0;
    /// Multiplicative decrease for each unit of (delay - target) / delay.
    beta: f64 = "0.8", "", "htsim; not published", "a number above 0" => |x| *x > 0.0;
    /// Largest decrease in one round trip, as a share of the window.
    max_mdf: f64 = "0.5", "", "htsim; not published", "a number above 0, at most 1" => |x| *x > 0.0 && *x <= 1.0;
    /// Smallest window.
    min_cwnd: f64 = "0.001", "packets", "section 3.3", "a number above 0" => |x| *x > 0.0;
    /// Largest window.
    max_cwnd: f64 = "1000.0", "packets", "htsim; not published", "a number above 0" => |x| *x > 0.0;
    /// Timeouts in a row after which the window becomes min_cwnd.
    retx_reset_threshold: u32 = "5", "timeouts", "htsim; not published", "a whole number of at least 1" => |n| *n >= 1;
    /// What restarts the time to the next decrease: "strict" a fall of the window, "literal" also
    /// an unchanged window.
    decrease_clock: DecreaseClock = "strict", "", "own choice, htsim does the same; the paper prints the literal form";
    /// The round-trip time that must pass between decreases: "rtt" the latest sample, "srtt" the
    /// smoothed, "prior-srtt" the smoothed before this ACK's sample.
    gate: Gate = "rtt", "", "own choice; the paper does not say which, htsim takes prior-srtt";
    /// The round-trip time that windows below one packet are paced by: "rtt" the latest sample,
    /// "srtt" the smoothed.
    pace_by: PaceBy = "rtt", "", "section 3.3; htsim smooths";
    /// What windows and targets are made of: "real" numbers; whole "bytes", and whole segments an ACK;
    /// or "integer" bytes and picoseconds, all rounded down at every change.
    arithmetic: Arithmetic = "real", "", "own choice; ns-3 counts bytes, htsim has integers";
    /// Loss recovery: "own" cuts at every newly found loss, "newreno" leaves it to the transport: the
    /// window rests during fast recovery and is then half of what was in flight, at least two segments.
    recovery: Recovery = "own", "", "section 3.4; in ns-3 code that leaves TcpNewReno's rule in place, newreno";
    profile => |p, profile| Profile { own_recovery: p.recovery == Recovery::Own, ..profile };
    together {
        "min_cwnd": "at most max_cwnd" => |p| p.min_cwnd <= p.max_cwnd;
        "fs_min_cwnd": "below fs_max_cwnd" => |p| p.fs_min_cwnd < p.fs_max_cwnd;
    }
}

/// What `describe` prints.
pub static KIND: Kind = Kind {
    name: "swift",
    title: "Swift",
    source: "Kumar et al., Swift: Delay is Simple and Effective for Congestion Control in the Datacenter, SIGCOMM 2020",
    what: "Compares each packet's delay with a target that grows with the path and with the number of flows; adds below \
           it, cuts in proportion above it, and paces windows below one packet.",
    differences: &[
        "decrease_clock = \"strict\": the paper's printed line restarts the decrease timer on every ACK that leaves the \
         window unchanged, which freezes the decrease; \"literal\" brings it back.",
        "base_target, h and fs_range default to values derived from the fabric, since the published ones belong to \
         50-100 Gb/s.",
        "Constants the paper does not publish (ai, beta, max_mdf, flow scaling, max_cwnd, retx_reset_threshold) are \
         htsim's.",
        "Fabric window only: the endpoint window and its target are not part of this controller.",
        "Real arithmetic throughout: htsim's windows are whole bytes, and its target moves in steps of whole packets \
         (arithmetic, fs_window; form = \"htsim\").",
        "A cut for a loss happens when the loss is found, as in the paper; htsim cuts when recovery ends.",
    ],
    state: &[
        ("target_delay_s", "target delay that the latest ACK was held against, seconds"),
        ("fabric_delay_s", "fabric delay of the latest ACK, seconds"),
    ],
    profile: Profile { ecn: Ecn::Off, own_recovery: true, ack_every_packet: true },
    params: Params::PARAMS,
};

/// Packets of queue that `auto` targets allow.
const AUTO_QUEUE: f64 = 10.0;

/// A Swift sender. Delays in picoseconds as real numbers (exact below two hours).
#[derive(Clone, Debug)]
pub struct Swift {
    fcwnd: f64,
    /// `fcwnd` in bytes, whole ones where the arithmetic has those.
    cwnd: f64,
    /// Bytes; infinite before the transport's first recovery.
    ssthresh: f64,
    /// Acknowledged bytes that made no whole segment yet.
    rest: f64,
    /// The ACK under way ended the transport's recovery.
    recovered: bool,
    after_timeout: AfterTimeout,
    t_last_decrease: Time,
    retransmit_cnt: u32,
    gate_rtt: Time,
    /// Smoothed RTT in htsim's arithmetic, ps; 0 before the first sample.
    prior_srtt: u64,
    pace_rtt: Time,
    min_delay: f64,
    fabric_delay: f64,
    target_delay: f64,
    target: TargetDelay,
    ai: f64,
    beta: f64,
    max_mdf: f64,
    min_cwnd: f64,
    max_cwnd: f64,
    mss: f64,
    retx_reset_threshold: u32,
    decrease_clock: DecreaseClock,
    gate: Gate,
    min_of: MinOf,
    arithmetic: Arithmetic,
    recovery: Recovery,
    pace_by: PaceBy,
}

/// The target's formula with its constants worked out.
#[derive(Clone, Debug)]
enum TargetDelay {
    Published { base: f64, h: f64, a_fs: f64, b_fs: f64, fs_range: f64, whole: bool },
    Static(f64),
    MinRtt { epsilon: f64 },
}

impl TargetDelay {
    fn new(p: &Params, env: &Env) -> TargetDelay {
        let ps = |time: Time| time.0 as f64;
        let queue = AUTO_QUEUE * ps(env.packet_time);
        match p.target {
            Target::Static => TargetDelay::Static(ps(p.static_target)),
            Target::MinRtt => TargetDelay::MinRtt { epsilon: p.epsilon.map_or(queue, ps) },
            Target::Published => {
                let h = if p.topology_scaling { ps(p.h.unwrap_or(env.hop_rtt)) } else { 0.0 };
                // Solved so that base + hops h on the shortest path is its idle RTT plus the
                // queue; below zero where the links counted by h are slower than the path's.
                let auto = ps(env.shortest_rtt) + queue - f64::from(env.shortest_hops) * h;
                let base = p.base_target.map_or(auto, ps);
                let range =
                    if p.flow_scaling { p.fs_range.map_or(5.0 * p.base_target.map_or(queue, ps), ps) } else { 0.0 };
                let inv_max = 1.0 / libm::sqrt(p.fs_max_cwnd);
                let a_fs = range / (1.0 / libm::sqrt(p.fs_min_cwnd) - inv_max);
                let whole = p.fs_window == FsWindow::Whole;
                TargetDelay::Published { base, h, a_fs, b_fs: -a_fs * inv_max, fs_range: range, whole }
            }
        }
    }

    #[inline]
    fn at(&self, fcwnd: f64, hops: u32, min_delay: f64) -> f64 {
        match *self {
            TargetDelay::Published { base, h, a_fs, b_fs, fs_range, whole } => {
                // a window below one packet is none in whole packets: infinite, then fs_range
                let fcwnd = if whole { libm::floor(fcwnd) } else { fcwnd };
                base + f64::from(hops) * h + (a_fs / libm::sqrt(fcwnd) + b_fs).max(0.0).min(fs_range)
            }
            TargetDelay::Static(target) => target,
            TargetDelay::MinRtt { epsilon } => min_delay + epsilon,
        }
    }
}

impl Swift {
    /// A new flow.
    pub fn new(p: &Params, env: &Env) -> Swift {
        let mss = f64::from(env.mss);
        let fcwnd = (env.initial_window / mss).max(p.min_cwnd).min(p.max_cwnd);
        Swift {
            fcwnd,
            cwnd: if p.arithmetic == Arithmetic::Real { fcwnd * mss } else { libm::round(fcwnd * mss) },
            ssthresh: f64::INFINITY,
            rest: 0.0,
            recovered: false,
            after_timeout: AfterTimeout::default(),
            t_last_decrease: Time::ZERO,
            retransmit_cnt: 0,
            gate_rtt: Time::ZERO,
            prior_srtt: 0,
            pace_rtt: env.shortest_rtt,
            min_delay: f64::INFINITY,
            fabric_delay: f64::NAN,
            target_delay: f64::NAN,
            target: TargetDelay::new(p, env),
            ai: p.ai,
            beta: p.beta,
            max_mdf: p.max_mdf,
            min_cwnd: p.min_cwnd,
            max_cwnd: p.max_cwnd,
            mss,
            retx_reset_threshold: p.retx_reset_threshold,
            decrease_clock: p.decrease_clock,
            gate: p.gate,
            min_of: p.min_of,
            arithmetic: p.arithmetic,
            recovery: p.recovery,
            pace_by: p.pace_by,
        }
    }

    /// Segments that an ACK counts for.
    fn counted(&mut self, ack: &Ack) -> f64 {
        if self.arithmetic != Arithmetic::Bytes {
            return ack.delivered as f64 / self.mss;
        }
        self.rest += ack.delivered as f64;
        let whole = libm::floor(self.rest / self.mss);
        self.rest -= whole * self.mss;
        // what SACK reported during the recovery counts now
        let recovered = core::mem::take(&mut self.recovered).then_some(ack.acked);
        let instead = self.after_timeout.beyond(ack).or(recovered);
        instead.map_or(whole, |bytes| libm::floor(bytes as f64 / self.mss))
    }

    fn can_decrease(&self, now: Time) -> bool {
        now.saturating_sub(self.t_last_decrease) >= self.gate_rtt
    }

    /// NewReno's threshold for `in_flight` bytes (RFC 5681 equation 4).
    fn halve(&mut self, in_flight: u64) {
        if self.recovery == Recovery::NewReno {
            self.ssthresh = (in_flight as f64 / 2.0).max(2.0 * self.mss);
        }
    }

    /// The smoothed RTT before `sample`, which it then takes in: each product rounded down by
    /// itself.
    fn smooth(&mut self, sample: Time) -> Time {
        let prior = self.prior_srtt;
        self.prior_srtt = if prior > 0 { 7 * prior / 8 + sample.0 / 8 } else { sample.0 };
        Time(prior)
    }

    /// The window in bytes is the one in packets.
    fn publish(&mut self) {
        let bytes = self.fcwnd * self.mss;
        self.cwnd = if self.arithmetic == Arithmetic::Real { bytes } else { libm::round(bytes) };
    }

    /// The end of algorithm 1, after every event.
    fn settle(&mut self, before: f64, now: Time) {
        if self.arithmetic != Arithmetic::Real {
            // the quotient of a whole number of bytes may lie a trace below it
            self.fcwnd = libm::floor(self.fcwnd * self.mss + 1e-6) / self.mss;
        }
        self.fcwnd = self.fcwnd.max(self.min_cwnd).min(self.max_cwnd);
        self.publish();
        let restart = match self.decrease_clock {
            DecreaseClock::Strict => self.fcwnd < before,
            DecreaseClock::Literal => self.fcwnd <= before,
        };
        if restart {
            self.t_last_decrease = now;
        }
    }
}

impl Controller for Swift {
    #[inline]
    fn on_ack(&mut self, ack: &Ack) {
        self.retransmit_cnt = 0;
        let (rtt, delay) = match (ack.rtt, ack.fabric_delay) {
            (Some(rtt), Some(delay)) => (rtt, delay),
            // what was measured last still counts
            _ if self.recovery == Recovery::NewReno && ack.acked > 0 && self.fabric_delay > 0.0 => {
                (self.gate_rtt, Time(self.fabric_delay as u64))
            }
            _ => return,
        };
        self.gate_rtt = match self.gate {
            Gate::Rtt => rtt,
            Gate::Srtt => ack.srtt,
            Gate::PriorSrtt => self.smooth(rtt),
        };
        self.pace_rtt = match self.pace_by {
            PaceBy::Rtt => rtt,
            PaceBy::Srtt => ack.srtt,
        };
        let delay = delay.0 as f64;
        let before = self.fcwnd;
        self.fabric_delay = delay;
        self.min_delay = self.min_delay.min(match self.min_of {
            MinOf::Rtt => delay,
            MinOf::Srtt => ack.srtt.0 as f64,
        });
        self.target_delay = self.target.at(self.fcwnd, ack.hops, self.min_delay);
        if self.arithmetic == Arithmetic::Integer {
            self.target_delay = libm::floor(self.target_delay);
        }
        let n = self.counted(ack);
        if self.recovery == Recovery::NewReno && ack.phase == Phase::Recovery {
            return;
        }
        if delay < self.target_delay {
            self.fcwnd += if self.fcwnd >= 1.0 { n * self.ai / self.fcwnd } else { n * self.ai };
        } else if self.can_decrease(ack.now) {
            // At the target the cut is nothing; asked apart, because links without delay make it 0/0.
            let excess = if delay > self.target_delay { (delay - self.target_delay) / delay } else { 0.0 };
            self.fcwnd *= (1.0 - self.beta * excess).max(1.0 - self.max_mdf);
        }
        self.settle(before, ack.now);
    }

    fn on_loss(&mut self, event: &Congestion) {
        let before = self.fcwnd;
        self.retransmit_cnt = 0;
        self.halve(event.in_flight);
        if self.can_decrease(event.now) {
            self.fcwnd *= 1.0 - self.max_mdf;
        }
        self.settle(before, event.now);
    }

    fn on_timeout(&mut self, event: &Timeout) {
        let before = self.fcwnd;
        self.retransmit_cnt += 1;
        self.after_timeout.begin(event);
        if event.consecutive <= 1 {
            self.halve(event.in_flight);
        }
        if self.retransmit_cnt >= self.retx_reset_threshold {
            self.fcwnd = self.min_cwnd;
        } else if self.can_decrease(event.now) {
            self.fcwnd *= 1.0 - self.max_mdf;
        }
        self.settle(before, event.now);
    }

    fn on_recovered(&mut self, _now: Time, _in_flight: u64) {
        if self.recovery == Recovery::NewReno {
            self.fcwnd = self.ssthresh / self.mss;
            self.publish();
            self.recovered = true;
        }
    }

    #[inline]
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    #[inline]
    fn pacing(&self) -> Pacing {
        if self.fcwnd < 1.0 {
            Pacing::Gap(Time(libm::round(self.pace_rtt.0 as f64 / self.fcwnd) as u64))
        } else {
            Pacing::None
        }
    }

    fn state(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("target_delay_s", self.target_delay * 1e-12);
        visit("fabric_delay_s", self.fabric_delay * 1e-12);
    }
}
