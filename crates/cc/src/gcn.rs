//! GCN: Google's variant of DCTCP, with which Swift's paper compares (Kumar et al., SIGCOMM 2020, section 4.1).
//!
//! The paper says two things of it: the current share of marked data, not an average, determines the reduction, and
//! receivers do not delay the ACKs of marked data. Everything else is [`crate::dctcp`]'s.

use crate::dctcp::{self, Dctcp, Loss};
use crate::registry::{Kind, ParamSet};
use crate::reno_window;
use crate::{Controller, Ecn, Env, Profile};

mod acks {
    params! {
        /// Makes receivers acknowledge marked data at once.
        ack_marked: bool = "true", "", "Swift's paper, section 4.1";
    }
}

params! {
    /// Smallest window after a reduction.
    floor: f64 = "2.0", "segments", "as DCTCP in Linux; the paper says nothing", "a number of at least 0"
        => |x| *x >= 0.0;
    /// Reaction to a packet loss: "halve" as conventional TCP does, or "alpha" by the share of marks.
    loss: Loss = "halve", "", "RFC 8257 section 3.5";
    then ..window: reno_window::Params {
        !floor; !arithmetic; !timeouts; !idle;
        slow_start_per = "segments", "Linux and ns-3, for DCTCP";
        avoidance = "bytes", "Linux and ns-3, for DCTCP; htsim has room";
    };
    then ..acks: acks::Params;
    profile => |p, profile| Profile { ack_marked_at_once: p.acks.ack_marked, ..profile };
}

/// Description printed by `describe`.
pub static KIND: Kind = Kind {
    name: "gcn",
    title: "GCN",
    source: "Kumar et al., Swift: Delay is simple and effective for congestion control in the datacenter, SIGCOMM \
             2020, section 4.1; all else DCTCP's, RFC 8257",
    what: "DCTCP that reduces by the share of marks of the latest round trip instead of an average; marked data is \
           acknowledged at once.",
    differences: &[
        "The paper only names the current mark rate. Here it is the marked share of DCTCP's latest complete \
         observation window, and the first mark after a reduction reduces the window by half of this share, as in \
         DCTCP with a gain of 1.",
        "Growth, floor and the reaction to losses are DCTCP's, since the paper names none.",
    ],
    state: &[("alpha", "share of marked bytes in the latest complete round trip, 0 to 1")],
    profile: Profile { ecn: Ecn::Dctcp, ack_marked_at_once: true, ..Profile::TCP },
    params: Params::PARAMS,
};

/// A GCN sender.
#[derive(Clone, Debug)]
pub struct Gcn(Dctcp);

impl Gcn {
    /// A new flow.
    pub fn new(params: &Params, env: &Env) -> Gcn {
        // an average with gain 1 is the latest share
        let latest = dctcp::Params { g: 1.0, initial_alpha: 0.0, loss: params.loss, ..dctcp::Params::default() };
        let window = reno_window::Params { floor: params.floor, ..params.window };
        Gcn(Dctcp::new(&dctcp::Params { window, ..latest }, env))
    }
}

impl Controller for Gcn {
    forward! { Gcn(cc) => cc }
}
