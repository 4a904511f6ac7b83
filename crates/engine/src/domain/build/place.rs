//! Which nodes are simulated together, and how far apart domains are.

use crate::domain::Domain;
use crate::ids::{DomainId, HostIx, NodeIx};
use crate::map::fabric::Place;
use crate::port::faults::Faults;
use crate::spec::Spec;
use incast_cc::Time;
use std::collections::BTreeMap;

/// Links quicker than this do not separate domains.
pub const LATENCY_FLOOR: Time = Time::ns(50);

/// Size of the smallest packet, bytes.
pub fn smallest_packet(spec: &Spec) -> u64 {
    let sizes = spec.transports.iter().flat_map(|t| [t.ack_size, t.syn_size, t.header + 1]);
    sizes.min().unwrap_or(1).clamp(1, 20) as u64
}

/// Smallest time from a packet's leaving one end of link `l` to its arrival at the other.
fn latency(spec: &Spec, l: usize, faults: &BTreeMap<u32, Faults>, smallest: u64) -> Time {
    let quickest = faults.get(&(l as u32)).map(|f| f.quickest(&spec.links[l]));
    let link = quickest.as_ref().unwrap_or(&spec.links[l]);
    if spec.is_explicit(link) {
        // the arrival is decided when the packet leaves the queue
        return link.delay;
    }
    link.crossing(smallest)
}

/// The root of a set of domains that are merged.
fn root(parent: &mut [u32], mut i: u32) -> u32 {
    while parent[i as usize] != i {
        parent[i as usize] = parent[parent[i as usize] as usize];
        i = parent[i as usize];
    }
    i
}

/// Where every node is among the hosts, in 16ths of a host: the mean of the neighbours that are one link nearer to
/// hosts than itself. Nodes that serve the same hosts are near one another.
fn whereabouts(spec: &Spec) -> Vec<u64> {
    let mut at: Vec<Option<u64>> =
        (0..spec.node_names.len() as u64).map(|n| (n < spec.hosts as u64).then_some(n << 4)).collect();
    loop {
        let mut next: BTreeMap<usize, (u64, u64)> = BTreeMap::new();
        for link in &spec.links {
            if let (Some(near), None) = (at[link.from as usize], at[link.to as usize]) {
                let (sum, count) = next.entry(link.to as usize).or_default();
                (*sum, *count) = (*sum + near, *count + 1);
            }
        }
        if next.is_empty() {
            return at.into_iter().map(|at| at.unwrap_or(u64::MAX)).collect();
        }
        next.into_iter().for_each(|(node, (sum, count))| at[node] = Some(sum / count));
    }
}

/// The domain of every node, and the domains, still empty: those which a link is too quick to separate are one. Domains
/// that are near one another have near numbers, so that a run of them makes a good share for a thread.
pub fn domains(spec: &Spec, faults: &BTreeMap<u32, Faults>, smallest: u64) -> (Vec<Place>, Vec<Domain>) {
    let count = spec.domain_of.iter().max().map_or(0, |m| m + 1);
    let mut parent: Vec<u32> = (0..count).collect();
    for (l, link) in spec.links.iter().enumerate() {
        if latency(spec, l, faults, smallest) < LATENCY_FLOOR {
            let a = root(&mut parent, spec.domain_of[link.from as usize]);
            let b = root(&mut parent, spec.domain_of[link.to as usize]);
            parent[a.max(b) as usize] = a.min(b);
        }
    }
    let roots: Vec<u32> = spec.domain_of.iter().map(|d| root(&mut parent, *d)).collect();
    let mut sums = vec![(0u64, 0u64); count as usize];
    for (r, at) in roots.iter().zip(whereabouts(spec)) {
        let (sum, nodes) = &mut sums[*r as usize];
        (*sum, *nodes) = (sum.saturating_add(at), *nodes + 1);
    }
    let used = (0..).zip(&sums).filter(|(_, (_, nodes))| *nodes > 0);
    let mut order: Vec<(u64, usize)> = used.map(|(r, (sum, nodes))| (sum / nodes, r)).collect();
    order.sort_unstable();
    let mut number = vec![0; sums.len()];
    (0..).zip(&order).for_each(|(d, (_, r))| number[*r] = d);
    let domain = |r: &u32| Place { domain: DomainId(number[*r as usize]), node: NodeIx::host(HostIx(0)) };
    let place = roots.iter().map(domain).collect();
    let domains = order.iter().map(|_| Domain::default()).collect();
    (place, domains)
}

/// The smallest latency between domains; `None` with a single domain.
pub fn lookahead(spec: &Spec, place: &[Place], faults: &BTreeMap<u32, Faults>, smallest: u64) -> Option<Time> {
    spec.links
        .iter()
        .enumerate()
        .filter(|(_, l)| place[l.from as usize].domain != place[l.to as usize].domain)
        .map(|(i, _)| latency(spec, i, faults, smallest))
        .min()
}
