//! The star: sources, a gateway, a sink.

use super::link::Link;
use super::network::{MAX_HOSTS, Network, too_large};
use crate::text::problem::Errors;
use incast_engine::spec::Router;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Keys of `topology.kind = "star"`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Star {
    /// Hosts `source0`, `source1` ...
    #[schemars(range(min = 1))]
    pub sources: u32,
    /// Links from the sources to the gateway.
    pub source_link: Link,
    /// Link from the gateway to the sink.
    pub sink_link: Link,
}

impl Star {
    pub(super) fn build(&self) -> Result<Network, Errors> {
        let n = self.sources;
        if n as u64 >= MAX_HOSTS {
            return Err(too_large("topology.sources", n, n as u64 + 1));
        }
        let gateway = n + 1;
        let mut net = Network { hosts: n + 1, sides: Some((n, 1)), ..Network::default() };
        for i in 0..n {
            net.join(i, gateway, &self.source_link);
        }
        net.join(gateway, n, &self.sink_link);
        net.names = (0..n).map(|i| format!("source{i}")).chain(["sink".to_owned(), "gateway".to_owned()]).collect();
        net.racks = vec![0; n as usize + 2];
        net.routers = vec![Router::Tree { first: 0, span: n + 1, stride: 1, down: 0, up: 0, ups: 0 }];
        Ok(net)
    }
}
