//! Leaf and spine, with a stated oversubscription.

use super::link::{Link, LinkChange};
use super::network::{MAX_HOSTS, Network, too_large};
use crate::text::problem::{Errors, Problem};
use crate::text::quantity::Rate;
use incast_cc as cc;
use incast_engine::spec::Router;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Keys of `topology.kind = "leaf-spine"`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct LeafSpine {
    /// Leaf switches.
    #[schemars(range(min = 1))]
    pub leaves: u32,
    /// Spine switches.
    #[schemars(range(min = 1))]
    pub spines: u32,
    /// Hosts on every leaf.
    #[schemars(range(min = 1))]
    pub hosts_per_leaf: u32,
    /// All links.
    pub link: Link,
    /// Links between leaves and spines, if different.
    pub spine_link: Option<LinkChange>,
    /// Host capacity of a leaf over its spine capacity: sets the rate of the spine links to `hosts_per_leaf *
    /// link.rate / (spines * oversubscription)`.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub oversubscription: Option<f64>,
}

/// Most links between leaves and spines; as many as four links per host of the largest network.
const MAX_BETWEEN: u64 = 4 * MAX_HOSTS;

impl LeafSpine {
    pub(super) fn build(&self) -> Result<Network, Errors> {
        let (l, s, n) = (self.leaves, self.spines, self.hosts_per_leaf);
        let hosts = l as u64 * n as u64;
        if hosts > MAX_HOSTS {
            return Err(too_large("topology.leaves", l, hosts));
        }
        let between = l as u64 * s as u64;
        if between > MAX_BETWEEN {
            let message = format!("makes {between} links between leaves and spines; expected at most {MAX_BETWEEN}");
            return Err(Problem::with_value("topology.spines", s, message).into());
        }
        let hosts = hosts as u32;
        let mut spine_link = self.link.with(&self.spine_link);
        if let Some(ratio) = self.oversubscription {
            spine_link.rate = self.spine_rate(ratio)?;
        }
        let mut net = Network { hosts, ..Network::default() };
        for leaf in 0..l {
            for spine in 0..s {
                net.join(hosts + leaf, hosts + l + spine, &spine_link);
            }
        }
        for host in 0..hosts {
            net.join(host, hosts + host / n, &self.link);
        }
        let named = |prefix: &str, n: u32| (0..n).map(|i| format!("{prefix}{i}")).collect::<Vec<_>>();
        net.names = [named("h", hosts), named("leaf", l), named("spine", s)].concat();
        net.racks = (0..hosts).map(|h| h / n).chain(0..l + s).collect();
        let leaves = (0..l).map(|i| Router::Tree { first: i * n, span: n, stride: 1, down: s, up: 0, ups: s });
        let spines = (0..s).map(|_| Router::Tree { first: 0, span: hosts, stride: n, down: 0, up: 0, ups: 0 });
        net.routers = leaves.chain(spines).collect();
        Ok(net)
    }

    fn spine_rate(&self, ratio: f64) -> Result<Rate, Errors> {
        let wrong = |message: String| Err(Problem::with_value("topology.oversubscription", ratio, message).into());
        if let Some(rate) = self.spine_link.as_ref().and_then(|c| c.rate) {
            return wrong(format!("already decided by spine_link.rate = \"{rate}\"; give one of the two"));
        }
        if self.link.rate.0 == cc::Rate::INFINITE {
            return wrong("expected hosts' links with a finite rate".into());
        }
        let rate = (self.hosts_per_leaf as f64 * self.link.rate.0.as_f64() / (self.spines as f64 * ratio)).round();
        if !(1.0..1e18).contains(&rate) {
            return wrong(format!("makes spine links of {rate} bit/s; expected at least 1 bit/s and at most 10^18"));
        }
        Ok(Rate(cc::Rate(rate as u64)))
    }
}
