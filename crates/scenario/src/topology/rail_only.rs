//! The rail-only fabric: GPU k of every server is on switch k, and nothing joins the switches. Wang et al., arXiv
//! 2307.12169.

use super::link::Link;
use super::network::Network;
use super::rail_optimised::{Rails, of_plane};
use crate::text::default::number;
use crate::text::problem::Errors;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Keys of `topology.kind = "rail-only"`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct RailOnly {
    /// Servers.
    #[schemars(range(min = 1))]
    pub servers: u32,
    /// GPUs of a server, each with a NIC of its own: a host, `server0gpu0` ...
    #[schemars(range(min = 1))]
    pub gpus: u32,
    /// All links. With several planes the rate is that of a NIC, and its link in a plane has an equal part.
    pub link: Link,
    /// Copies of the fabric. A GPU has a host in each, `p0server0gpu0`, `p1server0gpu0` ..., for jobs; no path joins
    /// two planes.
    #[serde(default = "number::<1>")]
    #[schemars(range(min = 1, max = 8))]
    pub planes: u32,
}

impl RailOnly {
    /// Common settings of the links: those of a plane.
    pub(super) fn links(&self) -> Link {
        of_plane(&self.link, self.planes)
    }

    /// Number of cables.
    pub(super) fn cables(&self) -> u64 {
        self.rails().cables()
    }

    pub(super) fn build(&self) -> Result<Network, Errors> {
        self.rails().build(&self.links(), &self.links())
    }

    fn rails(&self) -> Rails {
        Rails { servers: self.servers, gpus: self.gpus, segment: self.servers, spines: 0, planes: self.planes }
    }
}
