//! MSwift: LSwift by the median of recent delays, for traffic on many paths at once (Gerstein, Silberstein and
//! Keslassy, arXiv 2025, section III).
//!
//! ```text
//! H     = max(min(alpha W, K), 3), rounded down; W the fabric window in packets
//! delay = median of the last H fabric delays, or of as many as there are ([`crate::median`])
//! ```
//!
//! That delay replaces the latest one in Swift's rule ([`crate::swift`]), both for the comparison and for the size of
//! a decrease. Losses and late packets are LSwift's ([`crate::lswift`]).

use crate::median::{self, Median};
use crate::registry::{Kind, ParamSet};
use crate::swift::emulation::Arithmetic;
use crate::swift::sender::{DelaySignal, Family, Judgement};
use crate::swift::target_delay::{self, TargetDelay};
use crate::swift::variants::patience;
use crate::swift::window::{self, Verdict};
use crate::swift::{STATE, endpoint};
use crate::{Ack, Env, Late, Profile};
use alloc::boxed::Box;

params! {
    ..target_delay: target_delay::Params;
    ..median: median::Params { !feedback; };
    ..patience: patience::Params;
    ..endpoint: endpoint::Params;
    ..window: window::Params;
}

/// Description printed by `describe`.
pub static KIND: Kind = Kind {
    name: "mswift",
    title: "MSwift",
    source: "Gerstein, Silberstein, Keslassy, Making congestion control robust to per-packet load balancing in \
             datacenters, section III",
    what: "LSwift that decides by the median of the last delays: a minority of slow paths does not affect the window.",
    differences: &[
        "The median of an even number is not published (even); the history is rounded down to whole delays.",
        "The window in the history's length is the fabric window in packets.",
        "With target = \"min-rtt\" the smallest delay is that of the medians.",
        "Everything else as for lswift and swift.",
    ],
    state: &[
        ("target_delay_s", "target delay that the median was compared with, seconds"),
        STATE[1],
        STATE[2],
        STATE[3],
        STATE[4],
        ("median_delay_s", "median of the recent fabric delays, seconds"),
    ],
    profile: Profile { own_recovery: true, ack_every_packet: true, late: Some(Late::LSWIFT), ..Profile::TCP },
    params: Params::PARAMS,
};

/// The median of recent delays against the target.
#[derive(Clone, Debug)]
pub struct MedianDelay {
    target: TargetDelay,
    recent: Box<Median>,
}

impl DelaySignal for MedianDelay {
    fn judge(&mut self, ack: &Ack, delay: f64, fcwnd: f64, beta: f64) -> Judgement {
        let median = self.recent.hear(delay, fcwnd);
        let target = self.target.at(ack, median, fcwnd);
        Judgement { verdict: Verdict::of(median, target, beta), target }
    }

    fn state(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("median_delay_s", self.recent.value() * 1e-12);
    }
}

/// An MSwift sender.
pub type MSwift = Family<MedianDelay>;

impl MSwift {
    /// A new flow.
    pub fn new(p: &Params, env: &Env) -> MSwift {
        let rule = MedianDelay {
            target: p.target_delay.of_path(p.window.emulation.arithmetic == Arithmetic::Integer, env),
            recent: Box::new(Median::new(&p.median)),
        };
        Family::start(rule, &p.window, Some(&p.endpoint), env)
    }
}
