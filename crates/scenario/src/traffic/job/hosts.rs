//! Hosts of the ranks of a job.

use crate::document::job::RankPlacement;
use crate::document::traffic::HostRef;
use crate::text::problem::Problem;
use crate::traffic::flows::Flows;
use crate::traffic::shuffle::shuffled;
use incast_engine::hash::{self, purpose};
use std::collections::BTreeMap;

/// Hosts of the ranks, listed one by one.
pub(super) fn named(list: &[HostRef], ranks: usize, flows: &Flows) -> Result<Vec<u32>, Problem> {
    let (key, all) = (format!("{}.hosts", flows.path), flows.network.hosts);
    if list.len() != ranks {
        let message = format!("{} hosts for {ranks} ranks; expected one for each", list.len());
        return Err(Problem::new(key, message));
    }
    let mut hosts = Vec::with_capacity(ranks);
    for own in list {
        let host = match own {
            HostRef::Number(host) => Some(*host),
            HostRef::Name(name) => flows.node(name),
        };
        let wrong = |message: String| match own {
            HostRef::Number(host) => Problem::with_value(&*key, host, message),
            HostRef::Name(name) => Problem::quoted(&*key, name, message),
        };
        match host.filter(|host| *host < all) {
            None => return Err(wrong(format!("expected a host, 0 to {}, or its name", all.max(1) - 1))),
            Some(host) if hosts.contains(&host) => {
                return Err(wrong("another rank has this host; expected one rank a host".to_owned()));
            }
            Some(host) => hosts.push(host),
        }
    }
    Ok(hosts)
}

/// Refuses more ranks than there are hosts without a job.
pub(super) fn check_hosts(ranks: usize, flows: &Flows) -> Result<(), Problem> {
    let (hosts, taken) = (flows.network.hosts, flows.taken.len());
    if ranks <= hosts as usize - taken {
        return Ok(());
    }
    let others = if taken > 0 { format!(", and earlier jobs have {taken} of them") } else { String::new() };
    let message =
        format!("{ranks} ranks, and there are {hosts} hosts{others}; expected a topology with a host for each rank");
    Err(Problem::new(&flows.path, message))
}

/// Hosts of the ranks, of those that no earlier job has.
pub(super) fn placed(placement: RankPlacement, ranks: usize, entry: u32, flows: &Flows) -> Result<Vec<u32>, Problem> {
    check_hosts(ranks, flows)?;
    let free: Vec<u32> = (0..flows.network.hosts).filter(|host| !flows.taken.contains(host)).collect();
    Ok(match placement {
        RankPlacement::Packed => free[..ranks].to_vec(),
        RankPlacement::Strided => (0..ranks).map(|i| free[i * free.len() / ranks]).collect(),
        RankPlacement::Random => {
            let draw = |i, n| hash::pick(hash::bits(flows.seed, purpose::PLACEMENT, entry as u64, u64::from(i)), n);
            let order = shuffled(free.len() as u32, draw);
            order.into_iter().take(ranks).map(|i| free[i as usize]).collect()
        }
        RankPlacement::ByRack => by_rack(&free, &flows.network.racks).into_iter().take(ranks).collect(),
    })
}

/// The hosts, one of each rack in turn.
fn by_rack(free: &[u32], racks: &[u32]) -> Vec<u32> {
    let mut seen = BTreeMap::new();
    let mut order: Vec<(u32, u32)> = free
        .iter()
        .map(|host| {
            let turn: &mut u32 = seen.entry(racks[*host as usize]).or_default();
            *turn += 1;
            (*turn, *host)
        })
        .collect();
    order.sort_unstable();
    order.into_iter().map(|(_, host)| host).collect()
}
