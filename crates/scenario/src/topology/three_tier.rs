//! The three-tier tree: cores, aggregation switches, a ToR switch per rack. Its defaults are the tree of SCCP's
//! simulations: 480 servers at 1 Gb/s below ten ToR switches, two aggregation switches and a core, 10 Gb/s above the
//! racks, 20 us per link.

use super::link::{ErrorUnit, Link, LinkChange};
use super::network::{MAX_HOSTS, Network, too_large};
use crate::text::default::number;
use crate::text::problem::{Errors, Problem};
use crate::text::quantity::{Rate, Time};
use incast_cc as cc;
use incast_engine::spec::Router;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Keys of `topology.kind = "three-tier"`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct ThreeTier {
    /// Core switches; each is linked to every aggregation switch.
    #[serde(default = "number::<1>")]
    #[schemars(range(min = 1))]
    pub cores: u32,
    /// Aggregation switches.
    #[serde(default = "number::<2>")]
    #[schemars(range(min = 1))]
    pub aggregations: u32,
    /// Total number of racks, each with a ToR switch: a multiple of `aggregations`.
    #[serde(default = "number::<10>")]
    #[schemars(range(min = 1))]
    pub racks: u32,
    /// Servers per rack.
    #[serde(default = "number::<48>")]
    #[schemars(range(min = 1))]
    pub servers_per_rack: u32,
    /// All links, if different from 10 Gb/s and 20 us.
    pub link: Option<LinkChange>,
    /// Links between servers and ToR switches, if different; the default of their rate is 1 Gb/s.
    pub server_link: Option<LinkChange>,
    /// Links between ToR and aggregation switches, if different.
    pub rack_link: Option<LinkChange>,
    /// Links between aggregation and core switches, if different.
    pub core_link: Option<LinkChange>,
}

fn fast() -> Link {
    Link {
        rate: Rate(cc::Rate::gbps(10)),
        delay: Time(cc::Time::us(20)),
        overhead: 0,
        burst: None,
        back_rate: None,
        back_delay: None,
        error_rate: 0.0,
        back_error_rate: None,
        error_unit: ErrorUnit::Packet,
        lose: Vec::new(),
    }
}

/// Most links between aggregation and core switches; as many as four links per host of the largest network.
const MAX_BETWEEN: u64 = 4 * MAX_HOSTS;

impl ThreeTier {
    /// Common settings of the links.
    pub(super) fn all_links(&self) -> Link {
        fast().with(&self.link)
    }

    /// Links of servers.
    pub(super) fn server_links(&self) -> Link {
        Link { rate: Rate(cc::Rate::gbps(1)), ..self.all_links() }.with(&self.server_link)
    }

    pub(super) fn build(&self) -> Result<Network, Errors> {
        let (cores, aggs, racks, n) = (self.cores, self.aggregations, self.racks, self.servers_per_rack);
        let hosts = racks as u64 * n as u64;
        if hosts > MAX_HOSTS {
            return Err(too_large("topology.racks", racks, hosts));
        }
        if !racks.is_multiple_of(aggs) {
            let message = format!("expected a multiple of aggregations, {aggs}: each has the same number of racks");
            return Err(Problem::with_value("topology.racks", racks, message).into());
        }
        let between = cores as u64 * aggs as u64;
        if between > MAX_BETWEEN {
            let message =
                format!("makes {between} links between aggregation and core switches; expected at most {MAX_BETWEEN}");
            return Err(Problem::with_value("topology.cores", cores, message).into());
        }
        let hosts = hosts as u32;
        let below = racks / aggs;
        let tor = |rack: u32| hosts + rack;
        let agg = |i: u32| hosts + racks + i;
        let core = |i: u32| hosts + racks + aggs + i;
        let mut net = Network { hosts, hosts_per_pod: below * n, ..Network::default() };
        let (all, server_link) = (self.all_links(), self.server_links());
        let (rack_link, core_link) = (all.with(&self.rack_link), all.with(&self.core_link));
        // Resulting order of the local ports: aggregation up to the cores, then racks; ToR up, then servers; core one
        // per aggregation switch.
        for a in 0..aggs {
            for c in 0..cores {
                net.join(agg(a), core(c), &core_link);
            }
        }
        for rack in 0..racks {
            net.join(tor(rack), agg(rack / below), &rack_link);
        }
        for server in 0..hosts {
            net.join(server, tor(server / n), &server_link);
        }
        let named = |prefix: &str, n: u32| (0..n).map(|i| format!("{prefix}{i}")).collect::<Vec<_>>();
        net.names = [named("h", hosts), named("tor", racks), named("agg", aggs), named("core", cores)].concat();
        net.racks = (0..hosts).map(|h| h / n).chain(0..racks + aggs + cores).collect();
        let tree = |first, span, stride, down, ups| Router::Tree { first, span, stride, down, up: 0, ups };
        let tors = (0..racks).map(|r| tree(r * n, n, 1, 1, 1));
        let aggregations = (0..aggs).map(|a| tree(a * below * n, below * n, n, cores, cores));
        let roots = (0..cores).map(|_| tree(0, hosts, below * n, 0, 0));
        net.routers = tors.chain(aggregations).chain(roots).collect();
        Ok(net)
    }
}
