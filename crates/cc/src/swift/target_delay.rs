//! The target of the fabric delay (section 3.5).
//!
//! ```text
//! target = base_target + hops h + clamp(a_fs / sqrt(fcwnd) + b_fs, 0, fs_range)
//! a_fs   = fs_range / (1 / sqrt(fs_min_cwnd) - 1 / sqrt(fs_max_cwnd)),   b_fs = -a_fs / sqrt(fs_max_cwnd)
//! ```

use crate::units::ps;
use crate::{Ack, Env, Time};

choice! {
    /// Origin of the target delay.
    Target {
        /// Section 3.5: base, topology scaling, flow scaling.
        Published = "published",
        /// `static_target`, independent of path and window.
        Static = "static",
        /// The smallest delay this flow has seen, plus `epsilon`.
        MinRtt = "min-rtt",
    }
}

choice! {
    /// Delays whose minimum is used by `target = "min-rtt"`.
    MinOf {
        /// The samples.
        Rtt = "rtt",
        /// The smoothed RTT.
        Srtt = "srtt",
    }
}

choice! {
    /// Window in the square root of flow scaling.
    FsWindow {
        /// The window itself.
        Real = "real",
        /// Whole packets, rounded down; below one packet the term is `fs_range`.
        Whole = "whole",
    }
}

params! {
    /// Origin of the target delay: "published" is base_target + hops h + flow scaling, "static" is static_target,
    /// "min-rtt" is the smallest delay the flow has seen plus epsilon.
    target: Target = "published", "", "section 3.5";
    /// Target delay before scaling; auto makes the target on the shortest path its idle RTT plus
    /// ten packet times.
    base_target: Option<Time> = "auto", "",
        "own choice; the paper uses 25us and 50us at 50-100 Gb/s, htsim 20us";
    /// Topology scaling: target delay for each link of the forward path; auto is the idle RTT
    /// that one more link adds.
    h: Option<Time> = "auto", "", "own choice; not published, htsim 3.053us";
    /// Includes hops h in the published target.
    topology_scaling: bool = "true", "", "section 3.5";
    /// Includes the flow term in the published target.
    flow_scaling: bool = "true", "", "section 3.5";
    /// Flow scaling: the most it adds to the target; auto is five times base_target, or five times ten packet times
    /// if base_target is auto.
    fs_range: Option<Time> = "auto", "", "htsim: 5 base_target; not published";
    /// Flow scaling: the window at and below which it adds fs_range.
    fs_min_cwnd: f64 = "0.1", "packets", "htsim; not published", "a number above 0" => |x| *x > 0.0;
    /// Flow scaling: the window at and above which it adds nothing.
    fs_max_cwnd: f64 = "100.0", "packets", "htsim; not published", "a number above 0" => |x| *x > 0.0;
    /// Target delay of target = "static"; at 0 every delay is above it, as in one part of the study.
    static_target: Time = "25ms", "", "fixed target of the ns-3 study omarghara/DCTCP-SWIFT-YASOMAM";
    /// Margin of target = "min-rtt" above the smallest delay; auto is ten packet times.
    epsilon: Option<Time> = "0s", "", "omarghara/DCTCP-SWIFT-YASOMAM uses 0 and 1ms; auto is an own choice";
    /// Delays whose minimum is used by target = "min-rtt": "rtt" the samples, "srtt" the smoothed RTT.
    min_of: MinOf = "rtt", "", "own choice; omarghara/DCTCP-SWIFT-YASOMAM takes srtt";
    /// Window in the square root of flow scaling: "real", or "whole" packets, rounded down.
    fs_window: FsWindow = "real", "", "section 3.5; htsim divides integers";
    together {
        "fs_min_cwnd": "below fs_max_cwnd" => |p| p.fs_min_cwnd < p.fs_max_cwnd;
        "base_target": "a time above 0" => |p| p.base_target != Some(Time::ZERO);
    }
}

/// Packets of queue that `auto` targets allow.
const AUTO_QUEUE: f64 = 10.0;

/// Ten packets of queue at the slowest link, ps.
pub(super) fn auto_queue(env: &Env) -> f64 {
    AUTO_QUEUE * ps(env.packet_time)
}

impl Params {
    /// Target delay with these parameters, in whole picoseconds if `whole`.
    pub(super) fn of_path(&self, whole: bool, env: &Env) -> TargetDelay {
        let queue = auto_queue(env);
        match self.target {
            Target::Static => return TargetDelay::Static(ps(self.static_target)),
            Target::MinRtt => {
                let epsilon = self.epsilon.map_or(queue, ps);
                return TargetDelay::MinRtt { epsilon, min_delay: f64::INFINITY, min_of: self.min_of };
            }
            Target::Published => {}
        }
        let h = if self.topology_scaling { ps(self.h.unwrap_or(env.hop_rtt)) } else { 0.0 };
        // Solved so that base + hops h on the shortest path is its idle RTT plus the queue; below zero if the links
        // counted by h are slower than the path's.
        let auto = ps(env.shortest_rtt) + queue - f64::from(env.shortest_hops) * h;
        let base = self.base_target.map_or(auto, ps);
        let auto_range = 5.0 * self.base_target.map_or(queue, ps);
        let fs_range = if self.flow_scaling { self.fs_range.map_or(auto_range, ps) } else { 0.0 };
        let inv_max = 1.0 / libm::sqrt(self.fs_max_cwnd);
        let a_fs = fs_range / (1.0 / libm::sqrt(self.fs_min_cwnd) - inv_max);
        let packets = self.fs_window == FsWindow::Whole;
        TargetDelay::Published { base, h, a_fs, b_fs: -a_fs * inv_max, fs_range, packets, whole }
    }
}

/// Formula of the target with computed constants, ps.
#[derive(Clone, Debug)]
pub(super) enum TargetDelay {
    /// Section 3.5; the window in whole packets if `packets`, the target in whole picoseconds if `whole`.
    Published { base: f64, h: f64, a_fs: f64, b_fs: f64, fs_range: f64, packets: bool, whole: bool },
    /// A constant.
    Static(f64),
    /// The smallest delay so far plus epsilon.
    MinRtt { epsilon: f64, min_delay: f64, min_of: MinOf },
}

impl TargetDelay {
    /// Target for `delay` of `ack` with a window of `fcwnd` packets.
    #[inline(always)]
    pub(super) fn at(&mut self, ack: &Ack, delay: f64, fcwnd: f64) -> f64 {
        match self {
            TargetDelay::Published { base, h, a_fs, b_fs, fs_range, packets, whole } => {
                // a window below one packet is 0 whole packets: the term is infinite, then fs_range
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
