//! Swift with ECN: delay and marks together. A design of this project, for a question that an ns-3 study of Swift and
//! DCTCP leaves open (omarghara/DCTCP-SWIFT-YASOMAM, future work: hybrid congestion signals).
//!
//! ```text
//! alpha: moving average of the share of marked data, as DCTCP's
//! signals = "either":  an unmarked ACK under target grows the window
//!                      else, once an RTT:  w *= 1 - min(max(beta (delay - target) / delay, marked alpha / 2), max_mdf)
//! signals = "both":    an ACK under target grows the window
//!                      over target and marked, once an RTT: the same cut;  over target, not marked: nothing
//! ```
//!
//! "either": a mark is an early and local signal of a queue, even if most of the path's delay is unknown; a delay
//! says by how much a queue is too long, while a mark only says that it is. "both": a mark confirms that the delay
//! comes from a queue on the forward path, so that delay of ACKs on a busy reverse path causes no reduction. Marks
//! count for windows of at least one packet: in a queue of thousands of flows every packet is marked, and only delay
//! still distinguishes more from less.
//!
//! Everything else is Swift's ([`crate::swift`]).

use crate::registry::{Kind, ParamSet};
use crate::swift::emulation::Arithmetic;
use crate::swift::sender::{DelaySignal, Family, Judgement};
use crate::swift::target_delay::{self, TargetDelay};
use crate::swift::window::{self, Verdict};
use crate::swift::{endpoint, state_and};
use crate::{Ack, Ecn, Env, Profile};
use alloc::boxed::Box;

choice! {
    /// Signals that cause a decrease.
    Signals {
        /// Delay over target, or a mark.
        Either = "either",
        /// Delay over target, confirmed by a mark.
        Both = "both",
    }
}

params! {
    ..target_delay: target_delay::Params;
    /// Signals that cause a decrease: "either" delay over target or a mark, or "both" together.
    signals: Signals = "either", "", "own choice";
    /// Gain per round trip of the moving average of the marked share.
    g: f64 = "0.0625", "", "RFC 8257 section 4", "a number above 0, at most 1" => |x| *x > 0.0 && *x <= 1.0;
    then ..endpoint: endpoint::Params;
    then ..window: window::Params;
}

/// Description printed by `describe`.
pub static KIND: Kind = Kind {
    name: "swift-ecn",
    title: "Swift with ECN",
    source: "own design, after the future work of omarghara/DCTCP-SWIFT-YASOMAM; Kumar et al., SIGCOMM 2020; RFC 8257",
    what: "Swift that also uses ECN marks: either signal reduces the window, or (signals = \"both\") marks confirm the \
           delay.",
    differences: &[
        "No publication describes it.",
        "alpha is updated with every ACK, by g times the share of the window that the ACK covers; DCTCP updates it \
         once a window.",
        "Without marking queues it is Swift (signals = \"either\"), or reduces only for losses (\"both\").",
    ],
    state: &state_and("alpha", "averaged share of marked data, 0 to 1"),
    profile: Profile { ecn: Ecn::Dctcp, own_recovery: true, ack_every_packet: true, ..Profile::TCP },
    params: Params::PARAMS,
};

/// Delay and marks.
#[derive(Clone, Debug)]
pub struct Hybrid {
    target: TargetDelay,
    marks: Box<Marks>,
}

#[derive(Clone, Debug)]
struct Marks {
    /// Averaged share of marked data.
    alpha: f64,
    /// Gain for each byte of a window of one packet.
    gain: f64,
    signals: Signals,
}

impl DelaySignal for Hybrid {
    const USES_MARKS: bool = true;

    #[inline]
    fn judge(&mut self, ack: &Ack, delay: f64, fcwnd: f64, beta: f64) -> Judgement {
        let marks = &mut *self.marks;
        let gain = (marks.gain * ack.delivered as f64 / fcwnd).min(1.0);
        let mark = if ack.ece { 1.0 } else { 0.0 };
        marks.alpha += gain * (mark - marks.alpha);
        let target = self.target.at(ack, delay, fcwnd);
        let marked = ack.ece && fcwnd >= 1.0;
        let by_delay = Verdict::of(delay, target, beta);
        let verdict = match (by_delay, marks.signals) {
            (Verdict::Cut(excess), _) if marked => Verdict::Cut(excess.max(marks.alpha / 2.0)),
            (Verdict::Cut(_), Signals::Both) if fcwnd >= 1.0 => Verdict::Hold,
            (Verdict::Grow, Signals::Either) if marked => Verdict::Cut(marks.alpha / 2.0),
            _ => by_delay,
        };
        Judgement { verdict, target }
    }

    fn state(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("alpha", self.marks.alpha);
    }
}

/// A sender of Swift with ECN.
pub type SwiftEcn = Family<Hybrid>;

impl SwiftEcn {
    /// A new flow.
    pub fn new(p: &Params, env: &Env) -> SwiftEcn {
        let gain = p.g / f64::from(env.mss);
        let marks = Box::new(Marks { alpha: 0.0, gain, signals: p.signals });
        let rule =
            Hybrid { target: p.target_delay.of_path(p.window.emulation.arithmetic == Arithmetic::Integer, env), marks };
        Family::start(rule, &p.window, Some(&p.endpoint), env)
    }
}
