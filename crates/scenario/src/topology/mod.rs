//! Topologies, one file each: keys, and the conversion to nodes, links and next hops. A new one is a file, a `mod`
//! line and a variant of [`Topology`] with its arms.

pub mod cell;
pub mod dumbbell;
pub mod fat_tree;
pub mod graph;
pub mod leaf_spine;
pub mod link;
pub mod network;
pub mod rail_only;
pub mod rail_optimised;
pub mod star;
pub mod three_tier;

use crate::files::Beside;
use crate::text::problem::Errors;
use link::{Link, LinkChange};
use network::Network;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Hosts, switches and the links between them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Topology {
    /// Three-tier fat tree of switches with k ports: k pods, k^3/4 hosts, full bisection bandwidth if all links are
    /// equal.
    FatTree(fat_tree::FatTree),
    /// Senders on one switch, receivers on another, one bottleneck link between the two.
    Dumbbell(dumbbell::Dumbbell),
    /// Sources and one sink on one switch, the gateway; the sink's link is the bottleneck.
    Star(star::Star),
    /// Two tiers: every leaf switch is linked to every spine switch.
    LeafSpine(leaf_spine::LeafSpine),
    /// Three tiers of switches: a ToR switch per rack, each linked to one aggregation switch, and each of these to
    /// every core.
    ThreeTier(three_tier::ThreeTier),
    /// GPU k of every server of a segment is on leaf switch k of the segment; every leaf is linked to every spine.
    RailOptimised(rail_optimised::RailOptimised),
    /// GPU k of every server is on switch k, and nothing joins the switches.
    RailOnly(rail_only::RailOnly),
    /// Radio cells of IEEE 802.15.4: stations that share a channel, alone or behind gateways to servers on wires.
    Cell(cell::Cell),
    /// Any shape, from a file that lists nodes and links; routes are the shortest in links.
    Graph(graph::Graph),
}

impl Topology {
    /// All kinds of links, with their keys; those of a graph's file are not included.
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
            Topology::ThreeTier(t) => {
                let tiers = [("topology.rack_link", &t.rack_link), ("topology.core_link", &t.core_link)];
                let mut links = changed(&t.all_links(), &tiers);
                links.extend(t.server_link.is_some().then(|| ("topology.server_link", t.server_links())));
                links
            }
            Topology::Dumbbell(t) => vec![
                ("topology.access_link", t.access_link.clone()),
                ("topology.bottleneck_link", t.bottleneck_link.clone()),
            ],
            Topology::Star(t) => {
                vec![("topology.source_link", t.source_link.clone()), ("topology.sink_link", t.sink_link.clone())]
            }
            Topology::RailOptimised(t) => changed(&t.links(), &[("topology.spine_link", &t.spine_link)]),
            Topology::RailOnly(t) => vec![("topology.link", t.links())],
            Topology::Cell(t) => t.wires(),
            Topology::Graph(_) => Vec::new(),
        }
    }

    /// Number of ports, two per cable, if the keys alone determine it: known before anything is built.
    pub fn ports(&self) -> Option<u64> {
        let times = |factors: &[u32]| factors.iter().fold(1u64, |all, n| all.saturating_mul((*n).into()));
        let cables = match self {
            // three tiers of cables, each with one per host
            Topology::FatTree(t) => times(&[t.k, t.k / 2, t.k / 2, 3]),
            Topology::Dumbbell(t) => u64::from(t.senders) + u64::from(t.receivers) + 1,
            Topology::Star(t) => u64::from(t.sources) + 1,
            Topology::LeafSpine(t) => times(&[t.leaves, t.spines]).saturating_add(times(&[t.leaves, t.hosts_per_leaf])),
            Topology::ThreeTier(t) => times(&[t.cores, t.aggregations])
                .saturating_add(t.racks.into())
                .saturating_add(times(&[t.racks, t.servers_per_rack])),
            Topology::RailOptimised(t) => t.cables(),
            Topology::RailOnly(t) => t.cables(),
            Topology::Cell(_) | Topology::Graph(_) => return None,
        };
        Some(cables.saturating_mul(2))
    }

    /// Builds nodes, links and next hops. `beside` has its files.
    pub fn build(&self, beside: &Beside) -> Result<Network, Errors> {
        let mut network = match self {
            Topology::FatTree(t) => t.build(),
            Topology::Dumbbell(t) => t.build(),
            Topology::Star(t) => t.build(),
            Topology::LeafSpine(t) => t.build(),
            Topology::ThreeTier(t) => t.build(),
            Topology::RailOptimised(t) => t.build(),
            Topology::RailOnly(t) => t.build(),
            Topology::Cell(t) => t.build(beside),
            Topology::Graph(t) => t.build(beside),
        }?;
        network.name_links();
        Ok(network)
    }
}
