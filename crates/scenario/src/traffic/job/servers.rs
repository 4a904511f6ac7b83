//! Servers of a job's ranks, and the messages that no network carries.

use super::tasks::{Patterns, messages};
use crate::document::job::{Job, PlaneRule, ScaleUp};
use crate::text::problem::Problem;
use crate::topology::network::Network;
use crate::traffic::flows::Flows;
use incast_engine::spec;
use incast_workload::Graph;
use incast_workload::collective::{Expansion, Methods};
use incast_workload::pxn::{Places, forward};
use std::sync::Arc;

/// Links between ranks of a server: those on hosts of one server of the topology, or else consecutive ranks.
pub(super) fn linked(own: &ScaleUp, job: &Job, hosts: &[u32], flows: &Flows) -> Result<spec::ScaleUp, Problem> {
    let (key, each) = (format!("{}.scale_up.gpus", flows.path), job.ranks_per_host);
    let network = flows.network;
    let servers: Vec<u32> = if network.gpus > 0 {
        let all = network.gpus.saturating_mul(each);
        if let Some(gpus) = own.gpus.filter(|gpus| *gpus != all) {
            let message = format!("a server of the topology has {all} ranks; expected {all}, or none");
            return Err(Problem::with_value(key, gpus, message));
        }
        hosts.iter().map(|host| network.server(*host).unwrap_or(0)).collect()
    } else {
        let gpus = match own.gpus {
            Some(gpus) if !gpus.is_multiple_of(each) => {
                let message = format!("expected a multiple of ranks_per_host, {each}: a host is in one server");
                return Err(Problem::with_value(key, gpus, message));
            }
            Some(gpus) => gpus,
            None if each > 1 => each,
            None => return Err(Problem::new(key, "missing; expected the ranks of a server, at least 2")),
        };
        (0..hosts.len() as u32).map(|rank| rank / gpus).collect()
    };
    Ok(spec::ScaleUp { servers, rate: own.rate.0, delay: own.delay.0 })
}

/// The tasks, with messages to another rail by way of the GPU that is on it. Collectives are expanded.
pub(super) fn by_rails(
    job: &Job,
    (graph, methods): (&Graph, &Methods),
    patterns: Patterns,
    scale_up: Option<&spec::ScaleUp>,
    hosts: &[u32],
    flows: &Flows,
) -> Result<(Expansion, Patterns), Problem> {
    let key = format!("{}.pxn", flows.path);
    let gpus = flows.network.gpus;
    let Some(own) = scale_up.filter(|_| gpus > 0) else {
        let message = "the topology has no servers; expected kind = \"rail-optimised\" or \"rail-only\"";
        return Err(Problem::with_value(key, true, message));
    };
    let rails: Vec<u32> = hosts.iter().map(|host| host % gpus).collect();
    let places = Places { servers: &own.servers, rails: &rails };
    let refused = |found: incast_workload::Refused| Problem::with_value(&*key, true, found.0);
    let forwarded = forward(&messages(job, graph, methods, flows)?, places).map_err(refused)?;
    let mut patterns = patterns;
    let own = patterns.clone();
    for (first, old) in forwarded.tags {
        let before = own.partition_point(|(tag, _)| *tag <= old).checked_sub(1);
        patterns.extend(before.map(|of| (first, own[of].1)));
    }
    let tasks = Expansion::new(Arc::new(forwarded.graph), &Methods::default()).map_err(refused)?;
    Ok((tasks, patterns))
}

/// Further planes of the hosts of a job.
pub(super) fn planes(rule: PlaneRule, hosts: &[u32], network: &Network) -> Option<spec::Planes> {
    let all = network.hosts_of_plane();
    let of_plane = |plane: u32| hosts.iter().map(|host| plane * all + host).collect();
    let further: Vec<Vec<u32>> = (1..network.planes).map(of_plane).collect();
    (!further.is_empty()).then(|| spec::Planes { hosts: further, rule: rule.spec() })
}

/// Refuses messages between ranks of one host without links inside it, and between hosts that no path joins.
/// `channels`: messages over the network.
pub(super) fn check_paths(channels: &[spec::Channels], hosts: &[u32], flows: &Flows) -> Result<(), Problem> {
    let parts = flows.network.parts();
    for spec::Channels { from, to, .. } in channels {
        let ends = [from, to].map(|rank| hosts.get(*rank as usize).copied());
        let [Some(a), Some(b)] = ends else { continue };
        let name = |host: u32| &flows.network.names[host as usize];
        let message = if a == b {
            format!(
                "rank {from} sends to rank {to} on the same host, {}; expected scale_up, whose links take the message",
                name(a)
            )
        } else if parts[a as usize] != parts[b as usize] {
            format!(
                "rank {from} ({}) sends to rank {to} ({}), and no path joins the two; expected ranks of one rail, \
                 of one server with scale_up, or pxn = true",
                name(a),
                name(b)
            )
        } else {
            continue;
        };
        return Err(Problem::new(&flows.path, message));
    }
    Ok(())
}

impl Network {
    /// Part of every node: two nodes of a part are joined by a path.
    fn parts(&self) -> Vec<u32> {
        let mut part: Vec<u32> = (0..self.names.len() as u32).collect();
        fn root(part: &mut [u32], mut node: u32) -> u32 {
            while part[node as usize] != node {
                part[node as usize] = part[part[node as usize] as usize];
                node = part[node as usize];
            }
            node
        }
        for link in &self.links {
            let [a, b] = [link.from, link.to].map(|node| root(&mut part, node));
            part[a.max(b) as usize] = a.min(b);
        }
        (0..part.len() as u32).map(|node| root(&mut part, node)).collect()
    }
}
