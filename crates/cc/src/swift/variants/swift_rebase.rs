//! Swift with a refreshed base RTT: the target follows the smallest recent delay, not that of all time. A design of
//! this project, for a question left open by an ns-3 study of Swift and DCTCP (omarghara/DCTCP-SWIFT-YASOMAM, future
//! work: adaptive recalibration of the base RTT).
//!
//! ```text
//! target = smallest delay of this interval and the one before + room
//! an interval begins: for two round trips cwnd is probe times the window, which rests
//! ```
//!
//! Intervals are counted on the clock, not from a flow's start, so that all flows probe at once: otherwise the others
//! would fill the space that one flow leaves. This assumes synchronised host clocks, as data centres have them.
//!
//! The smallest delay of all time is right until the path changes: on a longer path every delay is over target for
//! good. The smallest recent delay forgets the old path within two intervals. But if a queue stands for that long, it
//! counts as part of the path, and the target climbs with it; the probe lets the queue drain and shows the path
//! without it. Everything else is Swift's ([`crate::swift`]).

use crate::registry::{Kind, ParamSet};
use crate::swift::sender::{DelaySignal, Family, Judgement};
use crate::swift::target_delay::auto_queue;
use crate::swift::window::{self, Verdict};
use crate::swift::{endpoint, state_and};
use crate::units::ps;
use crate::{Ack, Env, Profile, Time};

params! {
    /// Margin above the smallest delay; auto is ten packet times.
    room: Option<Time> = "auto", "", "own choice";
    /// Length of an interval; auto is a hundred idle RTTs of the fabric's shortest path.
    interval: Option<Time> = "auto", "", "own choice";
    /// Share of the window used at the beginning of an interval; 1 is no probe.
    probe: f64 = "0.5", "", "own choice; the study proposes none",
        "a number above 0, at most 1" => |x| *x > 0.0 && *x <= 1.0;
    then ..endpoint: endpoint::Params;
    then ..window: window::Params;
    together { "interval": "a time above 0" => |p| p.interval != Some(Time::ZERO); }
}

/// Description printed by `describe`.
pub static KIND: Kind = Kind {
    name: "swift-rebase",
    title: "Swift with a fresh base RTT",
    source: "own design, after the future work of omarghara/DCTCP-SWIFT-YASOMAM; Kumar et al., SIGCOMM 2020",
    what: "Swift with the smallest delay of the last one to two intervals plus a margin as its target, and a short \
           probe at lower speed in each interval.",
    differences: &[
        "No publication describes it; the probe follows BBR's idea of draining the queue to see the path without it.",
        "The target has no scaling by path or flows.",
    ],
    state: &state_and("base_rtt_s", "smallest delay of this interval and the one before, seconds"),
    profile: Profile { own_recovery: true, ack_every_packet: true, ..Profile::TCP },
    params: Params::PARAMS,
};

/// Latest delay against the smallest recent one.
#[derive(Clone, Debug)]
pub struct Fresh {
    room: f64,
    interval: Time,
    probe: f64,
    min_cwnd: f64,
    /// Smallest delay of the previous interval and of this one, ps.
    before: f64,
    smallest: f64,
    interval_end: Time,
    /// End of the probe; zero without one.
    probe_end: Time,
}

impl Fresh {
    fn base(&self) -> f64 {
        self.before.min(self.smallest)
    }

    fn is_probing(&self) -> bool {
        self.probe_end > Time::ZERO
    }
}

impl DelaySignal for Fresh {
    #[inline]
    fn judge(&mut self, ack: &Ack, delay: f64, _fcwnd: f64, beta: f64) -> Judgement {
        if ack.now >= self.interval_end {
            let first = self.interval_end == Time::ZERO;
            let number = ack.now.0.checked_div(self.interval.0).unwrap_or(0);
            (self.before, self.smallest) = (self.smallest, f64::INFINITY);
            self.interval_end = Time((number + 1).saturating_mul(self.interval.0));
            if !first && self.probe < 1.0 {
                self.probe_end = ack.now + Time(2 * ack.rtt.unwrap_or(Time::ZERO).0);
            }
        }
        self.smallest = self.smallest.min(delay);
        if ack.now >= self.probe_end {
            self.probe_end = Time::ZERO;
        }
        let target = self.base() + self.room;
        let verdict = if self.is_probing() { Verdict::Hold } else { Verdict::of(delay, target, beta) };
        Judgement { verdict, target }
    }

    #[inline]
    fn window(&self, w: f64) -> f64 {
        if self.is_probing() { (self.probe * w).max(self.min_cwnd) } else { w }
    }

    fn state(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        let base = self.base();
        visit("base_rtt_s", if base.is_finite() { base * 1e-12 } else { f64::NAN });
    }
}

/// A sender of Swift with a fresh base RTT.
pub type SwiftRebase = Family<Fresh>;

impl SwiftRebase {
    /// A new flow.
    pub fn new(p: &Params, env: &Env) -> SwiftRebase {
        let rule = Fresh {
            room: p.room.map_or(auto_queue(env), ps),
            interval: p.interval.unwrap_or(env.shortest_rtt.saturating_mul(100).max(Time(1))),
            probe: p.probe,
            min_cwnd: p.window.least(),
            before: f64::INFINITY,
            smallest: f64::INFINITY,
            interval_end: Time::ZERO,
            probe_end: Time::ZERO,
        };
        Family::start(rule, &p.window, Some(&p.endpoint), env)
    }
}
