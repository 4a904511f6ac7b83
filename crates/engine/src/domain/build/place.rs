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

/// The domain of every node, and the domains, still empty: those which a link is too quick to separate are one.
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
    // number the merged domains in order of their first node
    let mut number = vec![None; count as usize];
    let mut domains: Vec<Domain> = Vec::new();
    let mut place = Vec::with_capacity(spec.domain_of.len());
    for merged in &spec.domain_of {
        let r = root(&mut parent, *merged) as usize;
        let domain = *number[r].get_or_insert_with(|| {
            domains.push(Domain::default());
            DomainId(domains.len() as u32 - 1)
        });
        place.push(Place { domain, node: NodeIx::host(HostIx(0)) });
    }
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
