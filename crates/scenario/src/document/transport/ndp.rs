//! Keys of NDP.

use super::rule::{PacketTransport, table};
use crate::text::problem::Report;
use crate::text::words::{Word, words};
use incast_engine::spec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

table! {
    /// NDP.
    Ndp {
        /// Initial unsolicited window, in packets; htsim's default. Every later packet needs a pull.
        #[schemars(range(min = 1))]
        window: u32,
        /// Pull rate of a host, as a share of its link's rate.
        #[schemars(extend("exclusiveMinimum" = 0), range(max = 1))]
        pull_rate: f64,
        /// Order in which endpoints use their paths, with `routing.kind = "transport"`.
        paths: Word<spec::Walk>,
        /// NDP as in htsim: no retransmission timer, so a flow whose header is dropped never ends; NACKs wait behind
        /// data in their host; the last packet has full size.
        htsim: bool,
    }
}

words! {
    /// Order in which an endpoint uses its paths.
    "Walk" spec::Walk {
        /// All paths in a random order, one packet each; then in a new order.
        "permute" => spec::Walk::Permute,
        /// A random path for each packet.
        "random" => spec::Walk::Random,
    }
}

impl PacketTransport for Ndp {
    fn spec(&self, _mss: u32) -> Option<spec::Protocol> {
        Some(spec::Protocol::Ndp(spec::Ndp {
            window: self.window?,
            pull_rate: self.pull_rate?,
            walk: self.paths?.0,
            htsim: self.htsim?,
        }))
    }

    fn check(&self, _all: &spec::TransportSpec, at: &mut Report) {
        if self.window == Some(0) {
            at.value("window", 0, "expected at least 1 packet");
        }
        if let Some(rate) = self.pull_rate.filter(|rate| !(*rate > 0.0 && *rate <= 1.0)) {
            at.value("pull_rate", rate, "expected a share above 0 and at most 1");
        }
    }
}
