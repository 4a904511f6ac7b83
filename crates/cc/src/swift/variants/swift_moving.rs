//! Swift with a moving target: loose for bursts, tight under standing queues. A design of this project, for a
//! question left open by an ns-3 study of Swift and DCTCP (omarghara/DCTCP-SWIFT-YASOMAM, future work: dynamic target
//! delay). The study used a large static target, which did well under light congestion, and the smallest RTT as the
//! target, which did well under heavy congestion, and asks for a way between them.
//!
//! ```text
//! tight  = the target of Swift's rules (section 3.5, or the smallest RTT with target = "min-rtt")
//! target = tight + x max(loose_target - tight, 0),   0 <= x <= 1
//! at the end of a round trip:
//!   its smallest delay was at most tight:  x += loosen (1 - x)
//!   otherwise:                             x *= 1 - tighten
//! ```
//!
//! Congestion means a standing queue: one that has not been short for a whole round trip, as CoDel distinguishes bad
//! queues from good ones (Nichols and Jacobson, 2012). All flows of a queue see it alike, so they move their targets
//! together. (A target that follows a flow's own reductions was tried first: the flow reduced more often gets the
//! tighter target and is reduced again; eight flows ended with a fairness index of 0.13.) Everything else is Swift's
//! ([`crate::swift`]).

use crate::registry::{Kind, ParamSet};
use crate::swift::emulation::Arithmetic;
use crate::swift::sender::{DelaySignal, Family, Judgement};
use crate::swift::target_delay::{self, TargetDelay, auto_queue};
use crate::swift::window::{self, Verdict};
use crate::swift::{endpoint, state_and};
use crate::units::ps;
use crate::{Ack, Env, Profile, Time};
use alloc::boxed::Box;

params! {
    ..target_delay: target_delay::Params;
    /// The loose target; auto is the idle RTT of the flow's path plus fifty packet times.
    loose_target: Option<Time> = "auto", "", "own choice; the study has 25ms";
    /// Share of the distance to the loose target by which a round trip without a standing queue raises the target.
    loosen: f64 = "0.0625", "", "own choice", "a number above 0, at most 1" => |x| *x > 0.0 && *x <= 1.0;
    /// Share of the distance to the tight target by which a round trip with a standing queue lowers the target.
    tighten: f64 = "0.5", "", "own choice", "a number above 0, at most 1" => |x| *x > 0.0 && *x <= 1.0;
    then ..endpoint: endpoint::Params;
    then ..window: window::Params;
    together { "loose_target": "a time above 0" => |p| p.loose_target != Some(Time::ZERO); }
}

/// Description printed by `describe`.
pub static KIND: Kind = Kind {
    name: "swift-moving",
    title: "Swift with a moving target",
    source: "own design, after the future work of omarghara/DCTCP-SWIFT-YASOMAM; Kumar et al., SIGCOMM 2020",
    what: "Swift with a loose target until a queue stands for a round trip; then the target moves to Swift's tight \
           one.",
    differences: &[
        "No publication describes it.",
        "The study's two targets are target = \"min-rtt\" and loose_target = \"25ms\"; the defaults are Swift's own \
         target and fifty packets of queue.",
    ],
    state: &state_and("looseness", "position of the target between tight, 0, and loose, 1"),
    profile: Profile { own_recovery: true, ack_every_packet: true, ..Profile::TCP },
    params: Params::PARAMS,
};

/// Latest delay against a moving target.
#[derive(Clone, Debug)]
pub struct Moving {
    tight: TargetDelay,
    between: Box<Between>,
}

#[derive(Clone, Debug)]
struct Between {
    loose: f64,
    loosen: f64,
    tighten: f64,
    /// Position of the target: 0 is tight, 1 is loose.
    x: f64,
    /// Smallest delay of the current round trip, ps, and the end of that round trip.
    smallest: f64,
    round_end: Time,
}

impl DelaySignal for Moving {
    #[inline]
    fn judge(&mut self, ack: &Ack, delay: f64, fcwnd: f64, beta: f64) -> Judgement {
        let tight = self.tight.at(ack, delay, fcwnd);
        let between = &mut *self.between;
        between.smallest = between.smallest.min(delay);
        if ack.now >= between.round_end {
            if between.smallest <= tight {
                between.x += between.loosen * (1.0 - between.x);
            } else {
                between.x *= 1.0 - between.tighten;
            }
            between.smallest = f64::INFINITY;
            between.round_end = ack.now + ack.rtt.unwrap_or(Time::ZERO);
        }
        let target = tight + between.x * (between.loose - tight).max(0.0);
        Judgement { verdict: Verdict::of(delay, target, beta), target }
    }

    fn state(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("looseness", self.between.x);
    }
}

/// A sender of Swift with a moving target.
pub type SwiftMoving = Family<Moving>;

impl SwiftMoving {
    /// A new flow, loose until it sees a standing queue.
    pub fn new(p: &Params, env: &Env) -> SwiftMoving {
        let between = Between {
            loose: p.loose_target.map_or(ps(env.base_rtt) + 5.0 * auto_queue(env), ps),
            loosen: p.loosen,
            tighten: p.tighten,
            x: 1.0,
            smallest: f64::INFINITY,
            round_end: Time::ZERO,
        };
        let rule = Moving {
            tight: p.target_delay.of_path(p.window.emulation.arithmetic == Arithmetic::Integer, env),
            between: Box::new(between),
        };
        Family::start(rule, &p.window, Some(&p.endpoint), env)
    }
}
