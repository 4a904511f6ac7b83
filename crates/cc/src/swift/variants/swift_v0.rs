//! Swift-v0: Swift before it separated fabric from host delay (Kumar et al., SIGCOMM 2020, section 5.4 and table 4).
//!
//! ```text
//! rtt < target:       w += n ai / w   (n ai below one packet)
//! else, once an RTT:  w *= max(1 - beta (rtt - target) / rtt, 1 - max_mdf)
//! ```
//!
//! One window, the whole round-trip time, one end-to-end target; everything else is Swift's
//! ([`crate::swift`]).

use crate::registry::{Kind, ParamSet};
use crate::swift::sender::{DelaySignal, Family, Judgement};
use crate::swift::target_delay::auto_queue;
use crate::swift::window::{self, Verdict};
use crate::units::ps;
use crate::{Ack, Env, Profile, Time};

params! {
    /// Target of the round-trip time, hosts included; auto is the idle RTT of the flow's path plus ten packet times,
    /// without an allowance for hosts.
    end_to_end_target: Option<Time> = "auto", "", "own choice; the paper's table 4 has 100us, 150us and 200us";
    then ..window: window::Params;
    together { "end_to_end_target": "a time above 0" => |p| p.end_to_end_target != Some(Time::ZERO); }
}

/// Description printed by `describe`.
pub static KIND: Kind = Kind {
    name: "swift-v0",
    title: "Swift-v0",
    source: "Kumar et al., Swift: Delay is Simple and Effective for Congestion Control in the Datacenter, SIGCOMM \
             2020, section 5.4",
    what: "Swift with one window that compares the whole round-trip time, hosts included, with one target.",
    differences: &[
        "The paper does not publish whether its target was scaled by path and flows; here it is one number.",
        "end_to_end_target defaults to a value derived from the fabric, without an allowance for delay in hosts; the \
         published values are those of one testbed.",
        "decrease_clock = \"strict\", and constants that are not published: as for swift.",
    ],
    state: &[
        ("target_delay_s", "end-to-end target, seconds"),
        ("fabric_delay_s", "fabric delay of the latest ACK, seconds (the target is compared with the whole RTT)"),
    ],
    profile: Profile { own_recovery: true, ack_every_packet: true, ..Profile::TCP },
    params: Params::PARAMS,
};

/// Whole round-trip time against one target, ps.
#[derive(Clone, Debug)]
pub struct EndToEnd {
    target: f64,
}

impl DelaySignal for EndToEnd {
    #[inline]
    fn judge(&mut self, ack: &Ack, delay: f64, _fcwnd: f64, beta: f64) -> Judgement {
        let rtt = ack.rtt.map_or(delay, ps);
        Judgement { verdict: Verdict::of(rtt, self.target, beta), target: self.target }
    }
}

/// A Swift-v0 sender.
pub type SwiftV0 = Family<EndToEnd>;

impl SwiftV0 {
    /// A new flow.
    pub fn new(p: &Params, env: &Env) -> SwiftV0 {
        let auto = ps(env.base_rtt) + auto_queue(env);
        let rule = EndToEnd { target: p.end_to_end_target.map_or(auto, ps) };
        Family::start(rule, &p.window, None, env)
    }
}
