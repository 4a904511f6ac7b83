//! Assignment of nodes to domains.

use crate::ids::DomainId;
use crate::map::ideal::Fabric;
use crate::map::locality::locality_order;
use crate::spec::{JobSpec, Spec};
use incast_cc::Time;

/// Minimum latency of links between domains.
pub const LATENCY_FLOOR: Time = Time::ns(50);

/// Root of a set of merged domains (union-find).
fn root(parent: &mut [u32], mut i: u32) -> u32 {
    while parent[i as usize] != i {
        parent[i as usize] = parent[parent[i as usize] as usize];
        i = parent[i as usize];
    }
    i
}

/// Merges the sets of two domains.
fn merge(parent: &mut [u32], pair: [u32; 2]) {
    let [a, b] = pair.map(|domain| root(parent, domain));
    parent[a.max(b) as usize] = a.min(b);
}

/// The domain of every node, and the number of domains. Domains joined by a link with too little latency are merged.
/// Nearby domains get close numbers, so that a contiguous range makes a good share for a thread.
pub fn domains(spec: &Spec, fabric: &Fabric, latencies: &[Time]) -> (Vec<DomainId>, usize) {
    let count = spec.domain_of.iter().max().map_or(0, |m| m + 1);
    let mut parent: Vec<u32> = (0..count).collect();
    for (link, _) in spec.links.iter().zip(latencies).filter(|(_, latency)| **latency < LATENCY_FLOOR) {
        merge(&mut parent, [link.from, link.to].map(|node| spec.domain_of[node as usize]));
    }
    // GPUs of a server share its links
    for pair in spec.jobs.iter().flat_map(JobSpec::neighbours) {
        merge(&mut parent, pair.map(|host| spec.domain_of.get(host as usize).copied().unwrap_or(0)));
    }
    let roots: Vec<u32> = spec.domain_of.iter().map(|d| root(&mut parent, *d)).collect();
    let mut sums = vec![(0u64, 0u64); count as usize];
    for (r, at) in roots.iter().zip(locality_order(spec, fabric)) {
        let (sum, nodes) = &mut sums[*r as usize];
        (*sum, *nodes) = (sum.saturating_add(at), *nodes + 1);
    }
    let used = (0..).zip(&sums).filter(|(_, (_, nodes))| *nodes > 0);
    let mut order: Vec<(u64, usize)> = used.map(|(r, (sum, nodes))| (sum / nodes, r)).collect();
    order.sort_unstable();
    let mut number = vec![DomainId(0); sums.len()];
    (0..).zip(&order).for_each(|(d, (_, r))| number[*r] = DomainId(d));
    (roots.iter().map(|r| number[*r as usize]).collect(), order.len())
}
