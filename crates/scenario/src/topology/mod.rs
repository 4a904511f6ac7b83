//! Topologies. One file each: its keys, and how it becomes nodes, links and next hops. A new one
//! is a file, a `mod` line and a variant of [`Topology`] with its arms.

pub mod dumbbell;
pub mod fat_tree;
pub mod graph;
pub mod leaf_spine;
pub mod single;
pub mod star;

use crate::text::problem::Problem;
use crate::text::quantity::{Rate, Size, Time};
use incast_cc as cc;
use incast_engine::spec::{Loss, Router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Most hosts a scenario may have.
pub const MAX_HOSTS: u64 = 1 << 20;

/// Longest time that a token bucket may take to fill, half of what a time can hold: the engine adds it
/// to the time of a run.
const LONGEST_FILL: cc::Time = cc::Time::s(9_000_000);

/// Hosts, switches and the links between them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[expect(clippy::large_enum_variant, reason = "there is one of it in a scenario")]
pub enum Topology {
    /// Three-tier fat tree of switches with k ports: k pods, k^3/4 hosts, full bisection
    /// bandwidth where all links are equal.
    FatTree(fat_tree::FatTree),
    /// Senders on one switch, receivers on another, one bottleneck link between the two.
    Dumbbell(dumbbell::Dumbbell),
    /// Sources and one sink on one switch, the gateway; the sink's link is the bottleneck.
    Star(star::Star),
    /// Two tiers: every leaf switch is linked to every spine switch.
    LeafSpine(leaf_spine::LeafSpine),
    /// Any shape, from a file that lists nodes and links; routes are the shortest in links.
    Graph(graph::Graph),
}

/// A network before queues, flows and a seed.
#[derive(Clone, Debug, Default)]
pub struct Network {
    /// Nodes `0..hosts` are hosts.
    pub hosts: u32,
    /// Names of all nodes, hosts first.
    pub names: Vec<String>,
    /// Rack of every node: the number of the switch that makes it.
    pub racks: Vec<u32>,
    /// Hosts of a pod, numbered one pod after another; 0 where the topology has no pods.
    pub hosts_per_pod: u32,
    /// Directed links, each followed by its reverse.
    pub links: Vec<DirectedLink>,
    /// One a switch.
    pub routers: Vec<Router>,
    /// Sender i of the pattern `pairs` sends to the host named here; empty where the topology
    /// has no sides.
    pub sides: Option<(u32, u32)>,
}

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct DirectedLink {
    /// Sending node.
    pub from: u32,
    /// Receiving node.
    pub to: u32,
    /// Rate.
    pub rate: cc::Rate,
    /// Propagation delay.
    pub delay: cc::Time,
    /// Bytes added to every packet on the wire.
    pub overhead: u32,
    /// Bytes of the token bucket; 0 for none.
    pub bucket: u32,
    /// Losses.
    pub loss: Loss,
}

impl Network {
    /// Links `a` and `b`; forward is the direction from `a` to `b`.
    pub fn join(&mut self, a: u32, b: u32, link: &Link) {
        self.links.extend(link.directions(a, b));
    }
}

impl Topology {
    /// Every kind of link there is, by its key; those of a graph's file are not among them.
    pub fn links(&self) -> Vec<(&'static str, Link)> {
        let changed = |link: &Link, changes: &[(&'static str, &Option<LinkChange>)]| {
            let own = changes.iter().filter(|(_, change)| change.is_some());
            let own = own.map(|(key, change)| (*key, link.with(change)));
            [("topology.link", link.clone())].into_iter().chain(own).collect()
        };
        match self {
            Topology::FatTree(t) => changed(
                &t.link,
                &[
                    ("topology.host_link", &t.host_link),
                    ("topology.edge_link", &t.edge_link),
                    ("topology.core_link", &t.core_link),
                ],
            ),
            Topology::LeafSpine(t) => changed(&t.link, &[("topology.spine_link", &t.spine_link)]),
            Topology::Dumbbell(t) => vec![
                ("topology.access_link", t.access_link.clone()),
                ("topology.bottleneck_link", t.bottleneck_link.clone()),
            ],
            Topology::Star(t) => {
                vec![("topology.source_link", t.source_link.clone()), ("topology.sink_link", t.sink_link.clone())]
            }
            Topology::Graph(_) => Vec::new(),
        }
    }

    /// Nodes, links and next hops. `dir` is where relative file names start.
    pub fn build(&self, dir: &Path) -> Result<Network, Vec<Problem>> {
        match self {
            Topology::FatTree(t) => t.build(),
            Topology::Dumbbell(t) => t.build(),
            Topology::Star(t) => t.build(),
            Topology::LeafSpine(t) => t.build(),
            Topology::Graph(t) => t.build(dir),
        }
    }
}

/// A link, both directions. "Forward" is away from senders: from hosts towards the core in a fat
/// tree or leaf-spine, from the first-named node in a graph file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Link {
    /// Rate; `inf` serializes in no time.
    pub rate: Rate,
    /// Propagation delay; 0 is allowed.
    pub delay: Time,
    /// Bytes every packet adds on the wire: 2 for ns-3's point-to-point links, 38 for Ethernet
    /// with preamble and gap.
    #[serde(default)]
    pub overhead: u32,
    /// Size of a token bucket in front of the link, Linux' `tbf`: a packet leaves the queue as
    /// soon as the bucket holds its bytes and arrives after the delay alone. At least a full packet
    /// with its overhead. Without, or with 0B: a transmitter, in which a packet spends its time on the wire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<Size>,
    /// Rate of the other direction, where it differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub back_rate: Option<Rate>,
    /// Propagation delay of the other direction, where it differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub back_delay: Option<Time>,
    /// Probability of a loss on the link, either direction, per packet or byte.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub error_rate: f64,
    /// What `error_rate` counts.
    #[serde(default)]
    pub error_unit: ErrorUnit,
    /// Packets lost for certain, forward only: 0 is the first that is put on the link.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(inner(range(max = 9_223_372_036_854_775_807i64)))]
    pub lose: Vec<u64>,
}

/// Unit of an error rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorUnit {
    /// Every packet is lost with the same probability.
    #[default]
    Packet,
    /// A packet of n bytes on the wire survives with probability (1 - p)^n.
    Byte,
}

/// A tier's link where it differs from `link`: only the keys that differ.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct LinkChange {
    /// Rate; `inf` serializes in no time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Propagation delay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<Time>,
    /// Bytes every packet adds on the wire.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overhead: Option<u32>,
    /// Size of a token bucket in front of the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst: Option<Size>,
    /// Rate of the other direction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub back_rate: Option<Rate>,
    /// Propagation delay of the other direction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub back_delay: Option<Time>,
    /// Probability of a loss on the link, either direction.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub error_rate: Option<f64>,
    /// What `error_rate` counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_unit: Option<ErrorUnit>,
    /// Packets lost for certain, forward only.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(inner(range(max = 9_223_372_036_854_775_807i64)))]
    pub lose: Option<Vec<u64>>,
}

impl Link {
    /// Contradictions between keys.
    pub fn check(&self, path: &str, out: &mut Vec<Problem>) {
        let infinite = |rate: Rate| rate.0 == cc::Rate::INFINITE;
        if let Some(burst) = self.burst.filter(|b| b.0.0 > 0)
            && infinite(self.rate)
            && self.back_rate.is_none_or(infinite)
        {
            let message = "expected none with rate = \"inf\": a token bucket fills at the link's rate";
            out.push(Problem::with_value(format!("{path}.burst"), format!("\"{burst}\""), message));
        }
        let rates = [("rate", self.rate), ("back_rate", self.back_rate.unwrap_or(self.rate))];
        if let Some(burst) = self.burst {
            let fills_late = |rate: Rate| rate.0.serialize(burst.0.0) > LONGEST_FILL;
            let wrong = if burst.0.0 > u32::MAX as u64 {
                Some(format!("expected at most {}B", u32::MAX))
            } else {
                rates.into_iter().find(|(_, rate)| fills_late(*rate)).map(|(key, rate)| {
                    format!(
                        "expected less with {key} = \"{rate}\": the bucket would take more than {LONGEST_FILL} to fill"
                    )
                })
            };
            out.extend(wrong.map(|m| Problem::with_value(format!("{path}.burst"), format!("\"{burst}\""), m)));
        }
        if self.error_rate > 0.0 && !self.lose.is_empty() {
            let message = "expected 0 with lose: a link loses either by rate or what that list names; error_rate = 0 \
                           leaves the list, lose = [] the rate";
            out.push(Problem::with_value(format!("{path}.error_rate"), self.error_rate, message));
        }
    }

    /// Both directions of this link between two nodes, forward, from `a` to `b`, first.
    fn directions(&self, a: u32, b: u32) -> [DirectedLink; 2] {
        let loss = |list: &[u64]| match self.error_unit {
            _ if !list.is_empty() => {
                let mut list = list.to_vec();
                list.sort_unstable();
                list.dedup();
                Loss::List(list)
            }
            _ if self.error_rate == 0.0 => Loss::None,
            ErrorUnit::Packet => Loss::Packet(self.error_rate),
            ErrorUnit::Byte => Loss::Byte(self.error_rate),
        };
        // `check` refuses what does not fit
        let bucket = self.burst.map_or(0, |b| u32::try_from(b.0.0).unwrap_or(u32::MAX));
        let direction = |from: u32, to: u32, rate: Rate, delay: Time, loss: Loss| DirectedLink {
            from,
            to,
            rate: rate.0,
            delay: delay.0,
            overhead: self.overhead,
            bucket,
            loss,
        };
        let (back_rate, back_delay) = (self.back_rate.unwrap_or(self.rate), self.back_delay.unwrap_or(self.delay));
        [direction(a, b, self.rate, self.delay, loss(&self.lose)), direction(b, a, back_rate, back_delay, loss(&[]))]
    }

    /// This link with the changes of a tier.
    pub fn with(&self, change: &Option<LinkChange>) -> Link {
        let Some(c) = change else { return self.clone() };
        Link {
            rate: c.rate.unwrap_or(self.rate),
            delay: c.delay.unwrap_or(self.delay),
            overhead: c.overhead.unwrap_or(self.overhead),
            burst: c.burst.or(self.burst),
            back_rate: c.back_rate.or(self.back_rate),
            back_delay: c.back_delay.or(self.back_delay),
            error_rate: c.error_rate.unwrap_or(self.error_rate),
            error_unit: c.error_unit.unwrap_or(self.error_unit),
            lose: c.lose.clone().unwrap_or_else(|| self.lose.clone()),
        }
    }
}

/// Too many hosts, in words.
fn too_large(key: &str, value: impl std::fmt::Display, hosts: u64) -> Vec<Problem> {
    vec![Problem::with_value(key, value, format!("makes {hosts} hosts; expected at most {MAX_HOSTS} in all"))]
}
