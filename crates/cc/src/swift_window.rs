//! What the family of Swift shares (Kumar et al., SIGCOMM 2020): the window with its decrease rule, bounds and
//! timer, the target delay, the endpoint window, pacing below one packet, and the answers to losses and timeouts.
//!
//! ```text
//! target = base_target + hops h + clamp(a_fs / sqrt(fcwnd) + b_fs, 0, fs_range)     section 3.5
//! delay < target:  w += n ai / w   (n ai below one packet)
//! else, once an RTT:  w *= max(1 - beta (delay - target) / delay, 1 - max_mdf)      algorithm 1
//! ```
//!
//! A member of the family is a [`Rule`]: what it makes of an ACK's delay. Everything else is [`Family`]'s, and
//! the parameters which that needs are declared once, in the macros of this file.

use crate::reno_window::AfterTimeout;
use crate::{Ack, Congestion, Controller, Env, Pacing, Phase, Time, Timeout};
use alloc::boxed::Box;

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
        /// The transport's, during which delays go on moving the window; the cut for the loss comes at
        /// its end (htsim).
        AtExit = "at-exit",
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
        /// None: every ACK may decrease. Losses stay a latest sample apart.
        None = "none",
    }
}

choice! {
    /// The packets that additive increase counts.
    Counts {
        /// Every packet when an ACK first reports it, be it by SACK.
        Delivered = "delivered",
        /// What the cumulative ACK moves by, at the delay of the ACK that moves it.
        Cumulative = "cumulative",
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

/// Declares parameters as `params!` does: `{ form of ... } { rows } { profile => ...; } { rules of together }`, each
/// group possibly empty, and the rows of every window of the family.
macro_rules! swift_window_params {
    ({ $($form:tt)* } { $($rows:tt)* } { $($profile:tt)* } { $($rules:tt)* }) => {
        params! {
            $($form)*
            $($rows)*
            /// Additive increase a round trip.
            ai: f64 = "1.0", "packets", "htsim; not published", "a number above 0" => |x| *x > 0.0;
            /// Multiplicative decrease for each unit of (delay - target) / delay.
            beta: f64 = "0.8", "", "htsim; not published", "a number above 0" => |x| *x > 0.0;
            /// Largest decrease in one round trip, as a share of the window.
            max_mdf: f64 = "0.5", "", "htsim; not published",
                "a number above 0, at most 1" => |x| *x > 0.0 && *x <= 1.0;
            /// Smallest window.
            min_cwnd: f64 = "0.001", "packets", "section 3.3", "a number above 0" => |x| *x > 0.0;
            /// Largest window.
            max_cwnd: f64 = "1000.0", "packets", "htsim; not published", "a number above 0" => |x| *x > 0.0;
            /// Whether windows fall below one packet, and are then paced; otherwise one packet is the smallest.
            below_one: bool = "true", "", "section 3.3; table 3 of the paper has both";
            /// Timeouts in a row after which the window becomes min_cwnd.
            retx_reset_threshold: u32 = "5", "timeouts", "htsim; not published",
                "a whole number of at least 1" => |n| *n >= 1;
            /// What restarts the time to the next decrease: "strict" a fall of the window, "literal" also
            /// an unchanged window.
            decrease_clock: $crate::swift_window::DecreaseClock = "strict", "",
                "own choice, htsim does the same; the paper prints the literal form";
            /// The round-trip time that must pass between decreases: "rtt" the latest sample, "srtt" the
            /// smoothed, "prior-srtt" the smoothed before this ACK's sample; "none": every ACK may decrease, losses
            /// stay one sample apart.
            gate: $crate::swift_window::Gate = "rtt", "",
                "own choice; the paper does not say which, htsim takes prior-srtt";
            /// The packets that additive increase counts: those "delivered", each when an ACK first reports it, be it
            /// by SACK; or as the "cumulative" ACK moves, all that it moves by at the delay of the ACK that moves it.
            counts: $crate::swift_window::Counts = "delivered", "", "own choice; htsim, without SACK, cumulative";
            /// The round-trip time that windows below one packet are paced by: "rtt" the latest sample,
            /// "srtt" the smoothed.
            pace_by: $crate::swift_window::PaceBy = "rtt", "", "section 3.3; htsim smooths";
            /// What windows and targets are made of: "real" numbers; whole "bytes", and whole segments an ACK;
            /// or "integer" bytes and picoseconds, all rounded down at every change.
            arithmetic: $crate::swift_window::Arithmetic = "real", "",
                "own choice; ns-3 counts bytes, htsim has integers";
            $($profile)*
            together {
                "min_cwnd": "at most max_cwnd" => |p| p.min_cwnd <= p.max_cwnd;
                "max_cwnd": "at least 1 with below_one = false" => |p| p.below_one || p.max_cwnd >= 1.0;
                "counts": "delivered with arithmetic = bytes, which has a count of its own" =>
                    |p| p.counts == $crate::swift_window::Counts::Delivered
                        || p.arithmetic != $crate::swift_window::Arithmetic::Bytes;
                $($rules)*
            }
        }

        impl Params {
            /// The constants of a window with these parameters, and the timeouts that reset it.
            fn window(&self, env: &$crate::Env) -> ($crate::swift_window::Constants, u32) {
                let constants = $crate::swift_window::Constants {
                    ai: self.ai,
                    beta: self.beta,
                    max_mdf: self.max_mdf,
                    min_cwnd: if self.below_one { self.min_cwnd } else { self.min_cwnd.max(1.0) },
                    max_cwnd: self.max_cwnd,
                    mss: f64::from(env.mss),
                    decrease_clock: self.decrease_clock,
                    gate: self.gate,
                    counts: self.counts,
                    pace_by: self.pace_by,
                    arithmetic: self.arithmetic,
                    recovery: $crate::swift_window::Recovery::Own,
                };
                (constants, self.retx_reset_threshold)
            }
        }
    };
}

/// The same, with an endpoint window beside.
macro_rules! swift_endpoint_params {
    ({ $($form:tt)* } { $($rows:tt)* } { $($profile:tt)* } { $($rules:tt)* }) => {
        swift_window_params! {
            { $($form)* }
            {
                $($rows)*
                /// Target of the endpoint delay, smoothed, that the endpoint window is held to.
                endpoint_target: $crate::Time = "100us", "", "section 5.4, table 4",
                    "a time above 0 with a unit, such as \"100us\"" => |t| *t > $crate::Time::ZERO;
                /// Gain of the moving average of the endpoint delay.
                endpoint_gain: f64 = "0.125", "", "own choice, that of RFC 6298's smoothed RTT; not published",
                    "a number above 0, at most 1" => |x| *x > 0.0 && *x <= 1.0;
                /// Of the fabric and the endpoint window the larger is at most so many times the smaller.
                ceiling: f64 = "2.0", "", "own choice; section 3.3 has a ceiling and does not publish it",
                    "a number of at least 1" => |x| *x >= 1.0;
            }
            { $($profile)* }
            { $($rules)* }
        }

        impl Params {
            /// The endpoint window with these parameters, before anything was seen.
            fn endpoint(&self) -> $crate::swift_window::Endpoint {
                $crate::swift_window::Endpoint::new(self.endpoint_target, self.endpoint_gain, self.ceiling)
            }
        }
    };
}

/// The same, and the target delay of the fabric window.
macro_rules! swift_params {
    ({ $($form:tt)* } { $($rows:tt)* } { $($profile:tt)* } { $($rules:tt)* }) => {
        swift_endpoint_params! {
            { $($form)* }
            {
                /// Where the target delay comes from: "published" is base_target + hops h + flow scaling,
                /// "static" is static_target, "min-rtt" is the smallest delay the flow has seen plus epsilon.
                target: $crate::swift_window::Target = "published", "", "section 3.5";
                /// Target delay before scaling; auto makes the target on the shortest path its idle RTT plus
                /// ten packet times.
                base_target: Option<$crate::Time> = "auto", "",
                    "own choice; the paper uses 25us and 50us at 50-100 Gb/s, htsim 20us";
                /// Topology scaling: target delay for each link of the forward path; auto is the idle RTT
                /// that one more link adds.
                h: Option<$crate::Time> = "auto", "", "own choice; not published, htsim 3.053us";
                /// Whether hops h is part of the published target.
                topology_scaling: bool = "true", "", "section 3.5";
                /// Whether the flow term is part of the published target.
                flow_scaling: bool = "true", "", "section 3.5";
                /// Flow scaling: the most it adds to the target; auto is five times base_target, or five
                /// times ten packet times where base_target is auto.
                fs_range: Option<$crate::Time> = "auto", "", "htsim: 5 base_target; not published";
                /// Flow scaling: the window at and below which it adds fs_range.
                fs_min_cwnd: f64 = "0.1", "packets", "htsim; not published", "a number above 0" => |x| *x > 0.0;
                /// Flow scaling: the window at and above which it adds nothing.
                fs_max_cwnd: f64 = "100.0", "packets", "htsim; not published", "a number above 0" => |x| *x > 0.0;
                /// Target delay of target = "static"; at 0 every delay is above it, a point of the study's.
                static_target: $crate::Time = "25ms", "",
                    "fixed target of the ns-3 study omarghara/DCTCP-SWIFT-YASOMAM";
                /// Room that target = "min-rtt" leaves above the smallest delay; auto is ten packet times.
                epsilon: Option<$crate::Time> = "0s", "",
                    "omarghara/DCTCP-SWIFT-YASOMAM uses 0 and 1ms; auto is an own choice";
                /// Of what target = "min-rtt" takes the smallest: "rtt" the samples, "srtt" the smoothed RTT.
                min_of: $crate::swift_window::MinOf = "rtt", "", "own choice; omarghara/DCTCP-SWIFT-YASOMAM takes srtt";
                /// The window in the square root of flow scaling: "real", or "whole" packets, rounded down.
                fs_window: $crate::swift_window::FsWindow = "real", "", "section 3.5; htsim divides integers";
                $($rows)*
            }
            { $($profile)* }
            {
                "fs_min_cwnd": "below fs_max_cwnd" => |p| p.fs_min_cwnd < p.fs_max_cwnd;
                "base_target": "a time above 0" => |p| p.base_target != Some($crate::Time::ZERO);
                $($rules)*
            }
        }

        impl Params {
            /// The target delay with these parameters.
            fn target_delay(&self, env: &$crate::Env) -> $crate::swift_window::TargetDelay {
                use $crate::swift_window::{Scaling, Target, TargetDelay};
                let whole = self.arithmetic == $crate::swift_window::Arithmetic::Integer;
                match self.target {
                    Target::Static => TargetDelay::fixed(self.static_target),
                    Target::MinRtt => TargetDelay::smallest(self.epsilon, self.min_of, env),
                    Target::Published => TargetDelay::published(
                        &Scaling {
                            base_target: self.base_target,
                            h: self.h,
                            topology: self.topology_scaling,
                            flow: self.flow_scaling,
                            fs_range: self.fs_range,
                            fs_min_cwnd: self.fs_min_cwnd,
                            fs_max_cwnd: self.fs_max_cwnd,
                            fs_window: self.fs_window,
                        },
                        whole,
                        env,
                    ),
                }
            }
        }
    };
}

/// The same, with LSwift's patience: `{ rows } { rules of together }`.
macro_rules! swift_late_params {
    ({ $($rows:tt)* } { $($rules:tt)* }) => {
        swift_params! {
            {}
            {
                $($rows)*
                /// Consecutive late packets that count as a loss: they are sent again and the window is cut.
                late_trigger: u32 = "5", "packets", "Gerstein et al. section III; LTCP has 2",
                    "a whole number of at least 1" => |n| *n >= 1;
                /// How long a late packet is waited for until it is sent again, without a cut; auto is one smoothed
                /// RTT. The retransmission timeout ends the wait at the latest.
                lazy_wait: Option<$crate::Time> = "auto", "", "own choice; not public";
            }
            {
                profile => |p, profile| $crate::Profile {
                    late: Some($crate::Late { trigger: p.late_trigger, wait: p.lazy_wait }),
                    ..profile
                };
            }
            { $($rules)* }
        }
    };
}

/// Packets of queue that `auto` targets allow.
pub(crate) const AUTO_QUEUE: f64 = 10.0;

/// A time in picoseconds, as a real number (exact below two hours).
#[inline]
pub(crate) fn ps(time: Time) -> f64 {
    time.0 as f64
}

/// Ten packets of queue at the slowest link, ps.
pub(crate) fn auto_queue(env: &Env) -> f64 {
    AUTO_QUEUE * ps(env.packet_time)
}

/// The parameters of the published target.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scaling {
    pub(crate) base_target: Option<Time>,
    pub(crate) h: Option<Time>,
    pub(crate) topology: bool,
    pub(crate) flow: bool,
    pub(crate) fs_range: Option<Time>,
    pub(crate) fs_min_cwnd: f64,
    pub(crate) fs_max_cwnd: f64,
    pub(crate) fs_window: FsWindow,
}

/// The target's formula with its constants worked out, ps.
#[derive(Clone, Debug)]
pub(crate) enum TargetDelay {
    /// Section 3.5; the window in whole packets if `packets`, the target in whole picoseconds if `whole`.
    Published { base: f64, h: f64, a_fs: f64, b_fs: f64, fs_range: f64, packets: bool, whole: bool },
    /// One number.
    Static(f64),
    /// The smallest delay so far, and so much more.
    MinRtt { epsilon: f64, min_delay: f64, min_of: MinOf },
}

impl TargetDelay {
    /// One number.
    pub(crate) fn fixed(target: Time) -> TargetDelay {
        TargetDelay::Static(ps(target))
    }

    /// The smallest delay seen, and so much more.
    pub(crate) fn smallest(epsilon: Option<Time>, min_of: MinOf, env: &Env) -> TargetDelay {
        let epsilon = epsilon.map_or(auto_queue(env), ps);
        TargetDelay::MinRtt { epsilon, min_delay: f64::INFINITY, min_of }
    }

    /// Section 3.5.
    pub(crate) fn published(p: &Scaling, whole: bool, env: &Env) -> TargetDelay {
        let queue = auto_queue(env);
        let h = if p.topology { ps(p.h.unwrap_or(env.hop_rtt)) } else { 0.0 };
        // Solved so that base + hops h on the shortest path is its idle RTT plus the
        // queue; below zero where the links counted by h are slower than the path's.
        let auto = ps(env.shortest_rtt) + queue - f64::from(env.shortest_hops) * h;
        let base = p.base_target.map_or(auto, ps);
        let fs_range = if p.flow { p.fs_range.map_or(5.0 * p.base_target.map_or(queue, ps), ps) } else { 0.0 };
        let inv_max = 1.0 / libm::sqrt(p.fs_max_cwnd);
        let a_fs = fs_range / (1.0 / libm::sqrt(p.fs_min_cwnd) - inv_max);
        let packets = p.fs_window == FsWindow::Whole;
        TargetDelay::Published { base, h, a_fs, b_fs: -a_fs * inv_max, fs_range, packets, whole }
    }

    /// The target that `delay` of `ack` is held to with a window of `fcwnd` packets.
    #[inline(always)]
    pub(crate) fn at(&mut self, ack: &Ack, delay: f64, fcwnd: f64) -> f64 {
        match self {
            TargetDelay::Published { base, h, a_fs, b_fs, fs_range, packets, whole } => {
                // a window below one packet is none in whole packets: infinite, then fs_range
                let fcwnd = if *packets { libm::floor(fcwnd) } else { fcwnd };
                let target =
                    *base + f64::from(ack.hops) * *h + (*a_fs / libm::sqrt(fcwnd) + *b_fs).max(0.0).min(*fs_range);
                if *whole { libm::floor(target) } else { target }
            }
            TargetDelay::Static(target) => *target,
            TargetDelay::MinRtt { epsilon, min_delay, min_of } => {
                *min_delay = min_delay.min(match min_of {
                    MinOf::Rtt => delay,
                    MinOf::Srtt => ps(ack.srtt),
                });
                *min_delay + *epsilon
            }
        }
    }
}

/// The constants of a window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Constants {
    pub(crate) ai: f64,
    pub(crate) beta: f64,
    pub(crate) max_mdf: f64,
    pub(crate) min_cwnd: f64,
    pub(crate) max_cwnd: f64,
    pub(crate) mss: f64,
    pub(crate) decrease_clock: DecreaseClock,
    pub(crate) gate: Gate,
    pub(crate) counts: Counts,
    pub(crate) pace_by: PaceBy,
    pub(crate) arithmetic: Arithmetic,
    pub(crate) recovery: Recovery,
}

/// What a delay asks of a window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Verdict {
    /// Additive increase.
    Grow,
    /// A decrease by this share of the window, as far as max_mdf allows, if the last was an RTT ago.
    Cut(f64),
    /// Neither.
    Hold,
}

impl Verdict {
    /// Algorithm 1: `delay` against `target`, in the same unit.
    #[inline]
    pub(crate) fn of(delay: f64, target: f64, beta: f64) -> Verdict {
        if delay < target {
            return Verdict::Grow;
        }
        // At the target the cut is nothing; asked apart, because links without delay make it 0/0.
        let excess = if delay > target { (delay - target) / delay } else { 0.0 };
        Verdict::Cut(beta * excess)
    }
}

/// An event to a window: its time, the RTT that must lie between decreases, and whether a fall counts as one.
#[derive(Clone, Copy, Debug)]
struct Moment {
    now: Time,
    rtt: Time,
    restarts: bool,
}

/// A window in packets, and when it fell last.
#[derive(Clone, Copy, Debug)]
struct Window {
    w: f64,
    t_last_decrease: Time,
}

impl Window {
    fn can_decrease(&self, at: Moment) -> bool {
        at.now.saturating_sub(self.t_last_decrease) >= at.rtt
    }

    /// Algorithm 1 on an ACK for `n` packets.
    #[inline(always)]
    fn on_ack<const PLAIN: bool>(&mut self, c: &Constants, verdict: Verdict, n: f64, at: Moment) {
        let before = self.w;
        match verdict {
            Verdict::Grow => self.w += if self.w >= 1.0 { n * c.ai / self.w } else { n * c.ai },
            Verdict::Cut(s) if self.can_decrease(at) => {
                self.w *= (1.0 - s).max(1.0 - c.max_mdf);
            }
            _ => {}
        }
        self.settle::<PLAIN>(c, before, at);
    }

    /// Algorithm 1 on a loss.
    fn on_loss(&mut self, c: &Constants, at: Moment) {
        let before = self.w;
        if self.can_decrease(at) {
            self.w *= 1.0 - c.max_mdf;
        }
        self.settle::<false>(c, before, at);
    }

    /// The threshold-th timeout in a row.
    fn reset(&mut self, c: &Constants, at: Moment) {
        let before = self.w;
        self.w = c.min_cwnd;
        self.settle::<false>(c, before, at);
    }

    /// The end of algorithm 1, after every event.
    #[inline(always)]
    fn settle<const PLAIN: bool>(&mut self, c: &Constants, before: f64, at: Moment) {
        if !PLAIN && c.arithmetic != Arithmetic::Real {
            // the quotient of a whole number of bytes may lie a trace below it
            self.w = libm::floor(self.w * c.mss + 1e-6) / c.mss;
        }
        self.w = self.w.max(c.min_cwnd).min(c.max_cwnd);
        let unchanged = !PLAIN && c.decrease_clock == DecreaseClock::Literal && self.w == before;
        if (self.w < before || unchanged) && (PLAIN || at.restarts) {
            self.t_last_decrease = at.now;
        }
    }
}

/// The endpoint window: algorithm 1 on a moving average of the endpoint delay (section 3.3).
///
/// It begins with the first endpoint delay above zero: where hosts are not modelled there is none, and
/// the fabric window is the window.
#[derive(Clone, Debug)]
pub struct Endpoint {
    target: f64,
    gain: f64,
    ceiling: f64,
    /// Moving average, ps; not a number before the first delay.
    delay: f64,
    ecwnd: Window,
}

impl Endpoint {
    /// An endpoint window before the first delay.
    pub(crate) fn new(target: Time, gain: f64, ceiling: f64) -> Endpoint {
        let ecwnd = Window { w: f64::INFINITY, t_last_decrease: Time::ZERO };
        Endpoint { target: ps(target), gain, ceiling, delay: f64::NAN, ecwnd }
    }

    fn is_idle(&self) -> bool {
        self.delay.is_nan()
    }

    /// A delay above zero; `fcwnd` is what the window begins with.
    fn on_ack(&mut self, c: &Constants, sample: f64, n: f64, at: Moment, fcwnd: f64) {
        if self.is_idle() {
            self.delay = sample;
            self.ecwnd.w = fcwnd;
        } else {
            self.delay += self.gain * (sample - self.delay);
        }
        let verdict = Verdict::of(self.delay, self.target, c.beta);
        self.ecwnd.on_ack::<false>(c, verdict, n, at);
    }

    /// The larger of the two windows is held near the smaller; no decrease in the timer's sense. Returns the
    /// endpoint window.
    fn cap(&mut self, fcwnd: &mut f64) -> f64 {
        *fcwnd = fcwnd.min(self.ceiling * self.ecwnd.w);
        self.ecwnd.w = self.ecwnd.w.min(self.ceiling * *fcwnd);
        self.ecwnd.w
    }
}

/// What a member of the family makes of the delays it sees.
pub trait Rule {
    /// Judges an ACK: `delay` is its fabric delay in picoseconds, `fcwnd` the window in packets, `beta` the
    /// decrease constant. The delay and the target that decided go to the trace.
    fn judge(&mut self, ack: &Ack, delay: f64, fcwnd: f64, beta: f64) -> Judgement;
    /// Marks are part of the judgement; otherwise the first of a window is answered as a loss.
    const HEARS_MARKS: bool = false;
    /// The window to send by, of the one that the equations give, packets.
    #[inline]
    fn window(&self, w: f64) -> f64 {
        w
    }
    /// State worth tracing beyond the family's.
    fn state(&self, _visit: &mut dyn FnMut(&'static str, f64)) {}
}

/// A verdict with the delays behind it, ps.
#[derive(Clone, Copy, Debug)]
pub struct Judgement {
    /// What is asked of the window.
    pub verdict: Verdict,
    /// Target that the delay was held against.
    pub target: f64,
}

/// Swift's rule: the delay of the ACK at work against the target.
#[derive(Clone, Debug)]
pub struct Latest {
    pub(crate) target: TargetDelay,
}

impl Rule for Latest {
    #[inline(always)]
    fn judge(&mut self, ack: &Ack, delay: f64, fcwnd: f64, beta: f64) -> Judgement {
        let target = self.target.at(ack, delay, fcwnd);
        Judgement { verdict: Verdict::of(delay, target, beta), target }
    }
}

/// State that only some hosts, forms and events need.
#[derive(Clone, Debug)]
struct Rare {
    endpoint: Option<Endpoint>,
    /// Acknowledged bytes that made no whole segment yet.
    rest: f64,
    after_timeout: AfterTimeout,
    retransmit_cnt: u32,
    retx_reset_threshold: u32,
    /// Bytes; infinite before the transport's first recovery.
    ssthresh: f64,
    /// Smoothed RTT in htsim's arithmetic, ps; 0 before the first sample.
    srtt: u64,
}

/// A sender of the family. Delays in picoseconds as real numbers (exact below two hours).
// in this order for every rule, so that what asks any controller for its window finds it at one place
#[repr(C)]
#[derive(Clone, Debug)]
pub struct Family<R> {
    fcwnd: Window,
    /// The endpoint window, packets; infinite where there is none.
    ecwnd: f64,
    /// The window to send by, bytes, whole ones where the arithmetic has those.
    cwnd: f64,
    gate_rtt: Time,
    pace_rtt: Time,
    fabric_delay: f64,
    target_delay: f64,
    c: Constants,
    /// The choices of the standard form.
    plain: bool,
    /// A timeout was the latest event.
    timed_out: bool,
    /// The ACK under way ended the transport's recovery.
    recovered: bool,
    rare: Box<Rare>,
    rule: R,
}

impl<R: Rule> Family<R> {
    /// A new flow; `retx_reset_threshold` timeouts in a row make the window the smallest.
    pub(crate) fn start(rule: R, (c, threshold): (Constants, u32), endpoint: Option<Endpoint>, env: &Env) -> Family<R> {
        let w = (env.initial_window / c.mss).max(c.min_cwnd).min(c.max_cwnd);
        let rare = Rare {
            endpoint,
            rest: 0.0,
            after_timeout: AfterTimeout::default(),
            retransmit_cnt: 0,
            retx_reset_threshold: threshold,
            ssthresh: f64::INFINITY,
            srtt: 0,
        };
        let mut family = Family {
            fcwnd: Window { w, t_last_decrease: Time::ZERO },
            ecwnd: f64::INFINITY,
            cwnd: 0.0,
            gate_rtt: Time::ZERO,
            pace_rtt: env.shortest_rtt,
            fabric_delay: f64::NAN,
            target_delay: f64::NAN,
            c,
            plain: c.arithmetic == Arithmetic::Real
                && c.decrease_clock == DecreaseClock::Strict
                && c.gate == Gate::Rtt
                && c.counts == Counts::Delivered
                && c.pace_by == PaceBy::Rtt
                && c.recovery == Recovery::Own,
            timed_out: false,
            recovered: false,
            rule,
            rare: Box::new(rare),
        };
        family.publish();
        family
    }

    /// The window to send by, packets: the smaller of the two.
    #[inline]
    fn w(&self) -> f64 {
        self.rule.window(self.fcwnd.w.min(self.ecwnd))
    }

    /// Segments that an ACK counts for, in whole bytes and segments.
    fn counted_whole(&mut self, ack: &Ack) -> f64 {
        let Rare { rest, after_timeout, .. } = &mut *self.rare;
        *rest += ack.delivered as f64;
        let whole = libm::floor(*rest / self.c.mss);
        *rest -= whole * self.c.mss;
        // what SACK reported during the recovery counts now
        let ends = self.c.recovery == Recovery::NewReno && core::mem::take(&mut self.recovered);
        let recovered = ends.then_some(ack.acked);
        let instead = after_timeout.beyond(ack).or(recovered);
        instead.map_or(whole, |bytes| libm::floor(bytes as f64 / self.c.mss))
    }

    /// NewReno's threshold for `in_flight` bytes (RFC 5681 equation 4).
    fn halve(&mut self, in_flight: u64) {
        if self.c.recovery == Recovery::NewReno {
            self.rare.ssthresh = (in_flight as f64 / 2.0).max(2.0 * self.c.mss);
        }
    }

    /// The smoothed RTT before `sample`, which it then takes in: each product rounded down by
    /// itself.
    fn smooth(&mut self, sample: Time) -> Time {
        let prior = self.rare.srtt;
        self.rare.srtt = if prior > 0 { 7 * prior / 8 + sample.0 / 8 } else { sample.0 };
        Time(prior)
    }

    /// The pause that a window below one packet makes.
    #[cold]
    fn gap(&self) -> Pacing {
        Pacing::Gap(Time(libm::round(ps(self.pace_rtt) / self.w()) as u64))
    }

    /// The same in bytes.
    #[inline]
    fn publish(&mut self) {
        let bytes = self.w() * self.c.mss;
        self.cwnd = if self.c.arithmetic == Arithmetic::Real { bytes } else { libm::round(bytes) };
    }

    /// A loss or a timeout reaches the endpoint window too.
    fn endpoint_loss(&mut self, at: Moment, reset: bool) {
        let Some(endpoint) = self.rare.endpoint.as_mut().filter(|endpoint| !endpoint.is_idle()) else { return };
        if reset {
            endpoint.ecwnd.reset(&self.c, at);
        } else {
            endpoint.ecwnd.on_loss(&self.c, at);
        }
        self.ecwnd = endpoint.cap(&mut self.fcwnd.w);
    }

    /// The endpoint delay of an ACK; `fcwnd` is the fabric window before it.
    fn endpoint_ack(&mut self, sample: f64, n: f64, at: Moment, fcwnd: f64) {
        if let Some(endpoint) = &mut self.rare.endpoint {
            endpoint.on_ack(&self.c, sample, n, at, fcwnd);
            self.ecwnd = endpoint.cap(&mut self.fcwnd.w);
        }
    }
}

impl<R: Rule> Family<R> {
    /// An ACK. `PLAIN` stands for the choices of the standard form, which ACK after ACK need not be looked up
    /// again: real arithmetic, the strict clock, gate and pacing by the latest RTT, the paper's recovery.
    #[inline(always)]
    fn heard<const PLAIN: bool>(&mut self, ack: &Ack) {
        if self.timed_out {
            self.timed_out = false;
            self.rare.retransmit_cnt = 0;
        }
        let (rtt, delay) = match (ack.rtt, ack.fabric_delay) {
            (Some(rtt), Some(delay)) => (rtt, delay),
            // what was measured last still counts
            _ if !PLAIN && self.c.recovery == Recovery::NewReno && ack.acked > 0 && !self.fabric_delay.is_nan() => {
                (self.gate_rtt, Time(self.fabric_delay as u64))
            }
            _ => return,
        };
        (self.gate_rtt, self.pace_rtt) = (rtt, rtt);
        if !PLAIN {
            self.choose_rtts(rtt, ack.srtt);
        }
        let delay = ps(delay);
        self.fabric_delay = delay;
        let fcwnd = self.fcwnd.w;
        let Judgement { verdict, target } = self.rule.judge(ack, delay, fcwnd, self.c.beta);
        self.target_delay = target;
        let mut at = Moment { now: ack.now, rtt: self.gate_rtt, restarts: true };
        let mut n = ack.delivered as f64 / self.c.mss;
        let mut exit_cut = false;
        if !PLAIN {
            if self.c.gate == Gate::None {
                at.rtt = Time::ZERO;
            }
            if self.c.counts == Counts::Cumulative {
                n = ack.acked as f64 / self.c.mss;
            }
            if self.c.arithmetic == Arithmetic::Bytes {
                n = self.counted_whole(ack);
            }
            match self.c.recovery {
                Recovery::NewReno if ack.phase == Phase::Recovery => return,
                Recovery::AtExit => {
                    // htsim's duplicates during a recovery leave the time of the last decrease alone
                    at.restarts = ack.acked > 0 || ack.phase != Phase::Recovery;
                    exit_cut = core::mem::take(&mut self.recovered) && self.fcwnd.can_decrease(at);
                }
                _ => {}
            }
        }
        self.fcwnd.on_ack::<PLAIN>(&self.c, verdict, n, at);
        if !PLAIN && exit_cut {
            // for the loss, after what the delay asked for
            self.fcwnd.w *= 1.0 - self.c.max_mdf;
            self.fcwnd.settle::<false>(&self.c, f64::INFINITY, at);
        }
        if let Some(sample) = ack.endpoint_delay
            && sample.0 > 0
        {
            self.endpoint_ack(ps(sample), n, at, fcwnd);
        }
        self.cwnd = self.w() * self.c.mss;
        if !PLAIN {
            self.publish();
        }
    }

    /// The same for other forms.
    #[inline(never)]
    fn heard_otherwise(&mut self, ack: &Ack) {
        self.heard::<false>(ack);
    }

    fn choose_rtts(&mut self, rtt: Time, srtt: Time) {
        self.gate_rtt = match self.c.gate {
            Gate::Rtt | Gate::None => rtt,
            Gate::Srtt => srtt,
            Gate::PriorSrtt => self.smooth(rtt),
        };
        self.pace_rtt = match self.c.pace_by {
            PaceBy::Rtt => rtt,
            PaceBy::Srtt => srtt,
        };
    }
}

impl<R: Rule> Controller for Family<R> {
    #[inline]
    fn on_ack(&mut self, ack: &Ack) {
        if self.plain {
            self.heard::<true>(ack);
        } else {
            self.heard_otherwise(ack);
        }
    }

    fn on_loss(&mut self, event: &Congestion) {
        self.rare.retransmit_cnt = 0;
        self.halve(event.in_flight);
        if self.c.recovery == Recovery::AtExit {
            return;
        }
        let at = Moment { now: event.now, rtt: self.gate_rtt, restarts: true };
        self.fcwnd.on_loss(&self.c, at);
        self.endpoint_loss(at, false);
        self.publish();
    }

    fn on_ecn(&mut self, event: &Congestion) {
        if !R::HEARS_MARKS {
            self.on_loss(event);
        }
    }

    fn on_timeout(&mut self, event: &Timeout) {
        self.timed_out = true;
        self.rare.retransmit_cnt += 1;
        self.rare.after_timeout.begin(event);
        if event.consecutive <= 1 {
            self.halve(event.in_flight);
        }
        if self.c.gate == Gate::PriorSrtt {
            self.gate_rtt = Time(self.rare.srtt);
        }
        let reset = self.rare.retransmit_cnt >= self.rare.retx_reset_threshold;
        // htsim leaves the time of the last decrease alone
        let restarts = self.c.recovery != Recovery::AtExit;
        let at = Moment { now: event.now, rtt: self.gate_rtt, restarts };
        if reset {
            self.fcwnd.reset(&self.c, at);
        } else {
            self.fcwnd.on_loss(&self.c, at);
        }
        self.endpoint_loss(at, reset);
        self.publish();
    }

    fn on_recovered(&mut self, _now: Time, _in_flight: u64) {
        match self.c.recovery {
            Recovery::Own => {}
            Recovery::NewReno => {
                self.fcwnd.w = self.rare.ssthresh / self.c.mss;
                self.publish();
                self.recovered = true;
            }
            Recovery::AtExit => self.recovered = true,
        }
    }

    #[inline]
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    #[inline]
    fn ssthresh(&self) -> f64 {
        if self.plain { f64::INFINITY } else { self.rare.ssthresh }
    }

    #[inline]
    fn pacing(&self) -> Pacing {
        if self.w() < 1.0 { self.gap() } else { Pacing::None }
    }

    fn state(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("target_delay_s", self.target_delay * 1e-12);
        visit("fabric_delay_s", self.fabric_delay * 1e-12);
        if let Some(endpoint) = &self.rare.endpoint {
            let begun = !endpoint.is_idle();
            visit("fcwnd_packets", self.fcwnd.w);
            visit("ecwnd_packets", if begun { endpoint.ecwnd.w } else { f64::NAN });
            visit("endpoint_delay_s", endpoint.delay * 1e-12);
        }
        self.rule.state(visit);
    }
}
