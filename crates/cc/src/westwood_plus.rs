//! TCP Westwood+: Westwood with one sample of the bandwidth a round trip (Grieco and Mascolo, Computer
//! Communication Review 34(2), 2004).
//!
//! Bunched ACKs make Westwood's sample of each ACK too large; they do not affect the bytes of a whole round trip.
//! Everything else is [`crate::westwood`]'s.

use crate::registry::{Kind, ParamSet};
use crate::westwood::{self, Westwood};
use crate::{Controller, Env, Profile};

params! {
    form of {
        /// Whole bytes, segments and bits per second; a sample lasts a smoothed round trip, and the shortest round
        /// trip is a smoothed one.
        "ns3" = "ns-3.43, TcpWestwoodPlus (src/internet/model/tcp-westwood-plus.cc)" {
            sampling = "scheduled", filter = "tustin", min_of = "srtt", arithmetic = "whole"
        }
    }
    ..westwood: westwood::Params {
        !form;
        sampling = "rtt", "paper, section 3; ns-3 has scheduled, Linux ticks";
        filter = "first-order", "paper, section 3; ns-3 has tustin and none, Linux eighths";
        at_loss = "set", "paper, section 3; Westwood has bound, Linux recovered";
        floor = "2.0", "paper, section 3";
    };
}

/// Description printed by `describe`.
pub static KIND: Kind = Kind {
    name: "westwood-plus",
    title: "Westwood+",
    source: "Grieco and Mascolo, Performance evaluation and comparison of Westwood+, New Reno, and Vegas TCP \
             congestion control, Computer Communication Review 34(2), 2004, section 3",
    what: "Westwood with one bandwidth sample per round trip, which bunched ACKs do not inflate.",
    differences: &[
        "A sample lasts from an ACK to the first one that arrives at least the latest round-trip time later.",
        "Bytes that SACK reports count when they are reported.",
        "Linux calls its Westwood+ westwood, and so does the form here: westwood:form=linux.",
        "Fast recovery itself belongs to the transport (transport.recovery).",
    ],
    state: westwood::KIND.state,
    profile: Profile::TCP,
    params: Params::PARAMS,
};

/// A Westwood+ sender.
#[derive(Clone, Debug)]
pub struct WestwoodPlus(Westwood);

impl WestwoodPlus {
    /// A new flow.
    pub fn new(params: &Params, env: &Env) -> WestwoodPlus {
        WestwoodPlus(Westwood::new(&params.westwood, env))
    }
}

impl Controller for WestwoodPlus {
    forward! { WestwoodPlus(cc) => cc }
}
