//! Parameters of NDP.

use super::facts::Facts;
use crate::spec::keys::keys;
use crate::spec::refused_value::Refusals;
use crate::spec::words::words;

keys! {
    $ ndp_keys
    /// NDP (Handley et al., SIGCOMM 2017).
    ndp: Ndp {
        /// Initial unsolicited window, in packets; htsim's default. Every later packet needs a pull.
        #[schemars(range(min = 1))]
        window: u32,
        /// Pull rate of a host, as a share of its link's rate.
        #[schemars(extend("exclusiveMinimum" = 0), range(max = 1))]
        pull_rate: f64,
        /// Order in which endpoints use their paths, with `routing.kind = "transport"`.
        paths: Walk as Word<Walk>,
        /// NDP as in htsim: no retransmission timer, so a flow whose header is dropped never ends; NACKs wait behind
        /// data in their host; the last packet has full size.
        htsim: bool,
    }
}

words! {
    /// Order in which an endpoint uses its paths.
    Walk {
        /// All paths in a random order, one packet each; then in a new order.
        Permute = "permute",
        /// A random path for each packet.
        Random = "random",
    }
}

impl Ndp {
    /// No value contradicts another.
    pub(super) fn check(&self, _to: &mut Refusals) {}

    /// Facts of the transport.
    pub fn facts(&self) -> Facts {
        Facts { needs_trimming: true, takes_returned_headers: true, has_pulls: true, ..Facts::of("ndp") }
    }
}
