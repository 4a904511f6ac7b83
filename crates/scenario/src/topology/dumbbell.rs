//! The dumbbell: senders, a switch, one link, a switch, receivers.

use super::link::Link;
use super::network::{MAX_HOSTS, Network, too_large};
use crate::text::problem::{Errors, Problem};
use crate::text::quantity::Time;
use incast_engine::spec::Router;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Keys of `topology.kind = "dumbbell"`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Dumbbell {
    /// Hosts on the left switch, `s0`, `s1` ...
    #[schemars(range(min = 1))]
    pub senders: u32,
    /// Hosts on the right switch, `r0`, `r1` ...
    #[schemars(range(min = 1))]
    pub receivers: u32,
    /// Links between hosts and their switch.
    pub access_link: Link,
    /// Link between the two switches; forward is from senders to receivers.
    pub bottleneck_link: Link,
    /// Propagation delay of each sender's access link, if they differ; one per sender.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sender_delays: Vec<Time>,
}

impl Dumbbell {
    pub(super) fn build(&self) -> Result<Network, Errors> {
        let (s, r) = (self.senders, self.receivers);
        let hosts = s as u64 + r as u64;
        if hosts > MAX_HOSTS {
            return Err(too_large("topology.senders", s, hosts));
        }
        if !self.sender_delays.is_empty() && self.sender_delays.len() != s as usize {
            let message = format!("expected {s} delays, one a sender");
            return Err(Problem::with_value(
                "topology.sender_delays",
                format!("{} delays", self.sender_delays.len()),
                message,
            )
            .into());
        }
        let hosts = hosts as u32;
        let (left, right) = (hosts, hosts + 1);
        let mut net = Network { hosts, sides: Some((s, r)), ..Network::default() };
        net.join(left, right, &self.bottleneck_link);
        for i in 0..s {
            let mut link = self.access_link.clone();
            if let Some(delay) = self.sender_delays.get(i as usize) {
                (link.delay, link.back_delay) = (*delay, None);
            }
            net.join(i, left, &link);
        }
        for i in s..hosts {
            net.join(right, i, &self.access_link);
        }
        net.names = (0..s).map(|i| format!("s{i}")).chain((0..r).map(|i| format!("r{i}"))).collect();
        net.names.extend(["left".to_owned(), "right".to_owned()]);
        net.racks = (0..hosts).map(|h| u32::from(h >= s)).chain([0, 1]).collect();
        net.routers = vec![
            Router::Tree { first: 0, span: s, stride: 1, down: 1, up: 0, ups: 1 },
            Router::Tree { first: s, span: r, stride: 1, down: 1, up: 0, ups: 1 },
        ];
        Ok(net)
    }
}
