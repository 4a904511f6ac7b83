//! LSwift: Swift that tolerates reordering (Gerstein, Silberstein and Keslassy, arXiv 2025, section III), the
//! baseline of MSwift.
//!
//! The window's equations are Swift's ([`crate::swift`]): a delay of the latest ACK above target reduces it as
//! before. The difference is the meaning of a hole in the sequence, which follows LTCP's variant for unordered
//! delivery (Zhang, Zhang and Huang, Computer Communications 62, 2015):
//!
//! ```text
//! late: at least dupthresh packets sent after it were acknowledged, and it was not
//! a late packet alone: no cut, no retransmission; sent again once it was late for lazy_wait
//! late_trigger consecutive late packets: sent again, and w *= 1 - max_mdf (once an RTT)
//! ```
//!
//! The transport keeps that count ([`Late`]); this file sets its numbers.

use crate::registry::{Kind, ParamSet};
use crate::swift::emulation::Arithmetic;
use crate::swift::sender::{DelaySignal, Family, Judgement, Latest};
use crate::swift::variants::patience;
use crate::swift::{STATE, endpoint, target_delay, window};
use crate::{Ack, Env, Late, Profile};

params! {
    ..target_delay: target_delay::Params;
    ..patience: patience::Params;
    ..endpoint: endpoint::Params;
    ..window: window::Params;
}

/// Description printed by `describe`.
pub static KIND: Kind = Kind {
    name: "lswift",
    title: "LSwift",
    source: "Gerstein, Silberstein, Keslassy, Making congestion control robust to per-packet load balancing in \
             datacenters, section III; Zhang, Zhang, Huang, Improving datacenter throughput and robustness with Lazy \
             TCP over packet spraying, Computer Communications 62, 2015",
    what: "Swift that waits for overtaken packets: only a run of consecutive late packets counts as a loss.",
    differences: &[
        "The conditions and length of the wait in LTCP's variant are not public: lazy_wait and the reading of \
         \"successive delayed packets\" as consecutive sequence numbers are own choices.",
        "The trigger concerns only reordering; delays above target reduce the window as in Swift. In a public \
         reimplementation the trigger gates these reductions too, and then one slow path in a round robin never causes \
         one.",
        "Everything else as for swift.",
    ],
    state: &STATE,
    profile: Profile { own_recovery: true, ack_every_packet: true, late: Some(Late::LSWIFT), ..Profile::TCP },
    params: Params::PARAMS,
};

/// Swift's rule; LSwift's own part is in the transport.
#[derive(Clone, Debug)]
pub struct LatestToo(Latest);

impl DelaySignal for LatestToo {
    #[inline]
    fn judge(&mut self, ack: &Ack, delay: f64, fcwnd: f64, beta: f64) -> Judgement {
        self.0.judge(ack, delay, fcwnd, beta)
    }
}

/// An LSwift sender.
pub type LSwift = Family<LatestToo>;

impl LSwift {
    /// A new flow.
    pub fn new(p: &Params, env: &Env) -> LSwift {
        let rule = LatestToo(Latest {
            target: p.target_delay.of_path(p.window.emulation.arithmetic == Arithmetic::Integer, env),
        });
        Family::start(rule, &p.window, Some(&p.endpoint), env)
    }
}
