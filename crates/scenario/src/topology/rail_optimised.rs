//! The rail-optimised fabric: GPU k of every server of a segment is on leaf k of the segment, and every leaf is linked
//! to every spine. Wang et al., "Rail-only: a low-cost high-performance network for training LLMs with trillion
//! parameters", arXiv 2307.12169, describe it as what rail-only networks leave out spines of.

use super::link::{Link, LinkChange};
use super::network::{MAX_HOSTS, Network, too_large};
use crate::text::default::number;
use crate::text::problem::{Errors, Problem};
use crate::text::quantity::Rate;
use incast_cc as cc;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Keys of `topology.kind = "rail-optimised"`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct RailOptimised {
    /// Servers.
    #[schemars(range(min = 1))]
    pub servers: u32,
    /// GPUs of a server, each with a NIC of its own: a host, `server0gpu0` ...
    #[schemars(range(min = 1))]
    pub gpus: u32,
    /// Servers of a segment, which are the ports of a leaf to hosts; default: all servers are one segment.
    #[schemars(range(min = 1))]
    pub servers_per_segment: Option<u32>,
    /// Spine switches, of each plane.
    #[schemars(range(min = 1))]
    pub spines: u32,
    /// All links. With several planes the rate is that of a NIC, and its link in a plane has an equal part.
    pub link: Link,
    /// Links between leaves and spines, if different.
    pub spine_link: Option<LinkChange>,
    /// Copies of the fabric. A GPU has a host in each, `p0server0gpu0`, `p1server0gpu0` ..., for jobs; no path joins
    /// two planes.
    #[serde(default = "number::<1>")]
    #[schemars(range(min = 1, max = 8))]
    pub planes: u32,
}

impl RailOptimised {
    /// Common settings of the links: those of a plane.
    pub(super) fn links(&self) -> Link {
        of_plane(&self.link, self.planes)
    }

    /// Number of cables.
    pub(super) fn cables(&self) -> u64 {
        self.rails().cables()
    }

    pub(super) fn build(&self) -> Result<Network, Errors> {
        self.rails().build(&self.links(), &self.links().with(&self.spine_link))
    }

    fn rails(&self) -> Rails {
        let segment = self.servers_per_segment.unwrap_or(self.servers);
        Rails { servers: self.servers, gpus: self.gpus, segment, spines: self.spines, planes: self.planes }
    }
}

/// Largest next-hop table, switches times hosts: 400 MB.
const MAX_ENTRIES: u64 = 100_000_000;

/// Part of a link of a NIC in one of `planes`.
pub(super) fn of_plane(link: &Link, planes: u32) -> Link {
    let part = |Rate(rate): Rate| match rate {
        cc::Rate::INFINITE => Rate(rate),
        cc::Rate(all) => Rate(cc::Rate(all / u64::from(planes.max(1)))),
    };
    Link { rate: part(link.rate), back_rate: link.back_rate.map(part), ..link.clone() }
}

/// Sizes of a fabric of rails.
pub(super) struct Rails {
    pub(super) servers: u32,
    pub(super) gpus: u32,
    /// Servers of a segment.
    pub(super) segment: u32,
    pub(super) spines: u32,
    pub(super) planes: u32,
}

impl Rails {
    /// Leaves of a plane.
    fn leaves(&self) -> u64 {
        u64::from(self.servers.div_ceil(self.segment.max(1))) * u64::from(self.gpus)
    }

    /// Number of cables.
    pub(super) fn cables(&self) -> u64 {
        let hosts = u64::from(self.servers) * u64::from(self.gpus);
        let between = self.leaves().saturating_mul(self.spines.into());
        hosts.saturating_add(between).saturating_mul(self.planes.into())
    }

    pub(super) fn build(&self, link: &Link, spine_link: &Link) -> Result<Network, Errors> {
        let Rails { servers, gpus, segment, spines, planes } = *self;
        let each = u64::from(servers) * u64::from(gpus);
        let hosts = each.saturating_mul(planes.into());
        if hosts > MAX_HOSTS {
            return Err(too_large("topology.servers", servers, hosts));
        }
        let leaves = self.leaves();
        let switches = (leaves + u64::from(spines)) * u64::from(planes);
        if switches.saturating_mul(hosts) > MAX_ENTRIES || self.cables() > 5 * MAX_HOSTS {
            let message = format!(
                "makes {switches} switches and {} links; expected at most {} links, and at most {MAX_ENTRIES} next \
                 hops, one for each switch and host",
                self.cables(),
                5 * MAX_HOSTS
            );
            return Err(Problem::with_value("topology.servers", servers, message).into());
        }
        let (each, hosts, leaves) = (each as u32, hosts as u32, leaves as u32);
        let mut net = Network { hosts, gpus, planes, ..Network::default() };
        let leaf = |plane: u32, segment: u32, gpu: u32| hosts + plane * (leaves + spines) + segment * gpus + gpu;
        let spine = |plane: u32, i: u32| hosts + plane * (leaves + spines) + leaves + i;
        for plane in 0..planes {
            for own in 0..leaves {
                for i in 0..spines {
                    net.join(leaf(plane, 0, own), spine(plane, i), spine_link);
                }
            }
            for host in 0..each {
                let (server, gpu) = (host / gpus, host % gpus);
                net.join(plane * each + host, leaf(plane, server / segment, gpu), link);
            }
        }
        let prefix = |plane: u32| if planes > 1 { format!("p{plane}") } else { String::new() };
        for plane in 0..planes {
            let of = prefix(plane);
            net.names.extend((0..each).map(|host| format!("{of}server{}gpu{}", host / gpus, host % gpus)));
        }
        for plane in 0..planes {
            let of = prefix(plane);
            net.names.extend((0..leaves).map(|i| format!("{of}leaf{i}")));
            net.names.extend((0..spines).map(|i| format!("{of}spine{i}")));
        }
        net.route();
        Ok(net)
    }
}
