//! Hosts of the ranks of a job.

use crate::document::job::{Job, RankPlacement};
use crate::document::traffic::HostRef;
use crate::text::problem::Problem;
use crate::traffic::flows::Flows;
use crate::traffic::shuffle::shuffled;
use incast_engine::hash::{self, purpose};
use std::collections::BTreeMap;

/// Ranks of a server; `None` without links between them.
pub(super) fn gpus_of(job: &Job, flows: &Flows) -> Option<u32> {
    let own = job.scale_up.as_ref()?;
    let each = job.ranks_per_host;
    Some(match flows.network.gpus {
        0 => own.gpus.unwrap_or(each),
        gpus => gpus.saturating_mul(each),
    })
}

/// Hosts of `ranks` ranks of a job.
pub(super) fn of_ranks(job: &Job, ranks: usize, entry: u32, flows: &Flows) -> Result<Vec<u32>, Problem> {
    let each = job.ranks_per_host.max(1) as usize;
    let count = ranks.div_ceil(each);
    let on = if each > 1 { format!("{ranks} ranks on {count} hosts") } else { format!("{ranks} ranks") };
    let hosts = match &job.hosts {
        Some(hosts) => named(hosts, (count, &on), flows)?,
        None => placed(job.placement, (count, &on), entry, flows)?,
    };
    Ok((0..ranks).map(|rank| hosts[rank / each]).collect())
}

/// Hosts, listed one by one, `count` of them for these `ranks`.
fn named(list: &[HostRef], (count, ranks): (usize, &str), flows: &Flows) -> Result<Vec<u32>, Problem> {
    let (key, all) = (format!("{}.hosts", flows.path), flows.network.hosts_of_plane());
    if list.len() != count {
        let message = format!("{} hosts for {ranks}; expected one for each", list.len());
        return Err(Problem::new(key, message));
    }
    let mut hosts = Vec::with_capacity(count);
    for own in list {
        let host = match own {
            HostRef::Number(host) => Some(*host),
            // the first plane stands for all
            HostRef::Name(name) => flows.node(name).or_else(|| flows.node(&format!("p0{name}"))),
        };
        let wrong = |message: String| match own {
            HostRef::Number(host) => Problem::with_value(&*key, host, message),
            HostRef::Name(name) => Problem::quoted(&*key, name, message),
        };
        match host.filter(|host| *host < all) {
            None => return Err(wrong(format!("expected a host, 0 to {}, or its name", all.max(1) - 1))),
            Some(host) if hosts.contains(&host) => {
                return Err(wrong("another rank has this host; expected each host once".to_owned()));
            }
            Some(host) => hosts.push(host),
        }
    }
    Ok(hosts)
}

/// Refuses more hosts, for these `ranks`, than there are without a job.
pub(super) fn check_hosts(count: usize, ranks: &str, flows: &Flows) -> Result<(), Problem> {
    let (all, taken) = (flows.network.hosts_of_plane(), flows.taken.len());
    if count <= all as usize - taken {
        return Ok(());
    }
    let others = if taken > 0 { format!(", and earlier jobs have {taken} of them") } else { String::new() };
    let message = format!(
        "{ranks}, and there are {all} hosts{others}; expected a topology with a host for each rank, or more ranks on a \
         host"
    );
    Err(Problem::new(&flows.path, message))
}

/// Hosts of those that no earlier job has, `count` of them for these `ranks`.
fn placed(
    placement: RankPlacement,
    (count, ranks): (usize, &str),
    entry: u32,
    flows: &Flows,
) -> Result<Vec<u32>, Problem> {
    let network = flows.network;
    let all = network.hosts_of_plane();
    let free: Vec<u32> = (0..all).filter(|host| !flows.taken.contains(host)).collect();
    check_hosts(count, ranks, flows)?;
    if matches!(placement, RankPlacement::ByServer | RankPlacement::RandomServers) && network.gpus == 0 {
        let message = "the topology has no servers; expected kind = \"rail-optimised\" or \"rail-only\"";
        return Err(Problem::new(format!("{}.placement", flows.path), message));
    }
    let server = |host: &u32| network.server(*host).unwrap_or(0);
    let draw = |i, n| hash::pick(hash::bits(flows.seed, purpose::PLACEMENT, entry as u64, u64::from(i)), n);
    Ok(match placement {
        RankPlacement::Packed => free[..count].to_vec(),
        RankPlacement::Strided => (0..count).map(|i| free[i * free.len() / count]).collect(),
        RankPlacement::Random => {
            let order = shuffled(free.len() as u32, draw);
            order.into_iter().take(count).map(|i| free[i as usize]).collect()
        }
        RankPlacement::ByRack => in_turn(&free, |host| network.racks[*host as usize])[..count].to_vec(),
        RankPlacement::ByServer => in_turn(&free, server)[..count].to_vec(),
        RankPlacement::RandomServers => {
            let order = shuffled(all.div_ceil(network.gpus.max(1)), draw);
            let mut turns = vec![0; order.len()];
            (0u32..).zip(order).for_each(|(turn, own)| turns[own as usize] = turn);
            let mut hosts = free;
            hosts.sort_by_key(|host| turns[server(host) as usize]);
            hosts[..count].to_vec()
        }
    })
}

/// The hosts, one of each part in turn.
fn in_turn(free: &[u32], part: impl Fn(&u32) -> u32) -> Vec<u32> {
    let mut seen = BTreeMap::new();
    let mut order: Vec<(u32, u32)> = free
        .iter()
        .map(|host| {
            let turn: &mut u32 = seen.entry(part(host)).or_default();
            *turn += 1;
            (*turn, *host)
        })
        .collect();
    order.sort_unstable();
    order.into_iter().map(|(_, host)| host).collect()
}
