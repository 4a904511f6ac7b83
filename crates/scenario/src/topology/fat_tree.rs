//! The k-ary fat tree of Al-Fares et al. (SIGCOMM 2008), numbered as in the ns-3 fat-tree scripts: with h = k/2, core
//! i*h + j joins aggregation switch i of every pod, aggregation switch pod*h + i joins every edge switch of its pod,
//! and host edge*h + i belongs to its edge switch.

use super::link::{Link, LinkChange};
use super::network::{MAX_HOSTS, Network, too_large};
use crate::text::problem::Errors;
use incast_engine::spec::Router;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Keys of `topology.kind = "fat-tree"`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct FatTree {
    /// Ports of every switch.
    #[schemars(range(min = 2), extend("multipleOf" = 2))]
    pub k: u32,
    /// All links.
    pub link: Link,
    /// Links between hosts and edge switches, if different.
    pub host_link: Option<LinkChange>,
    /// Links between edge and aggregation switches, if different.
    pub edge_link: Option<LinkChange>,
    /// Links between aggregation and core switches, if different.
    pub core_link: Option<LinkChange>,
}

impl FatTree {
    pub(super) fn build(&self) -> Result<Network, Errors> {
        let hosts = (self.k as u64).saturating_pow(3) / 4;
        if hosts > MAX_HOSTS {
            return Err(too_large("topology.k", self.k, hosts));
        }
        let (k, h) = (self.k, self.k / 2);
        let hosts = hosts as u32;
        let edge = |pod: u32, j: u32| hosts + pod * h + j;
        let agg = |pod: u32, i: u32| hosts + k * h + pod * h + i;
        let core = |i: u32, j: u32| hosts + 2 * k * h + i * h + j;
        let links = Vec::with_capacity(6 * k as usize * (h * h) as usize);
        let mut net = Network { hosts, hosts_per_pod: h * h, links, ..Network::default() };
        let host_links = self.link.with(&self.host_link);
        let edge_links = self.link.with(&self.edge_link);
        let core_links = self.link.with(&self.core_link);
        // Resulting order of the local ports: edge 0..h up, then hosts; aggregation 0..h up, then down; core one per
        // pod.
        for (pod, i, j) in triples(k, h, h) {
            net.join(agg(pod, i), core(i, j), &core_links);
        }
        for (pod, i, j) in triples(k, h, h) {
            net.join(edge(pod, j), agg(pod, i), &edge_links);
        }
        for (pod, j, i) in triples(k, h, h) {
            net.join((pod * h + j) * h + i, edge(pod, j), &host_links);
        }
        let named = |prefix: &str, n: u32| (0..n).map(|i| format!("{prefix}{i}")).collect::<Vec<_>>();
        net.names = [named("h", hosts), named("edge", k * h), named("agg", k * h), named("core", h * h)].concat();
        net.racks = (0..hosts).map(|host| host / h).chain(0..2 * k * h + h * h).collect();
        let edges = (0..k * h).map(|e| Router::Tree { first: e * h, span: h, stride: 1, down: h, up: 0, ups: h });
        let aggs =
            (0..k * h).map(|a| Router::Tree { first: a / h * h * h, span: h * h, stride: h, down: h, up: 0, ups: h });
        let cores = (0..h * h).map(|_| Router::Tree { first: 0, span: hosts, stride: h * h, down: 0, up: 0, ups: 0 });
        net.routers = edges.chain(aggs).chain(cores).collect();
        Ok(net)
    }
}

fn triples(a: u32, b: u32, c: u32) -> impl Iterator<Item = (u32, u32, u32)> {
    (0..a).flat_map(move |x| (0..b).flat_map(move |y| (0..c).map(move |z| (x, y, z))))
}
