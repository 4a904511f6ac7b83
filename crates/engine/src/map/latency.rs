//! Minimum latencies of links, and the lookahead between domains that follows from them.

use crate::map::fabric::Place;
use crate::port::faults::Faults;
use crate::spec::{LinkSpec, Spec};
use incast_cc::Time;
use std::collections::BTreeMap;

/// Size of the smallest packet, bytes.
pub fn smallest_packet(spec: &Spec) -> u64 {
    let sizes = spec.transports.iter().flat_map(|t| [t.sizes.ack_size, t.sizes.syn_size, t.sizes.header + 1]);
    sizes.min().unwrap_or(1).clamp(1, 20) as u64
}

/// By link: the minimum time from a packet's start of transmission at one end to its arrival at the other.
pub fn latencies(spec: &Spec, faults: &BTreeMap<u32, Faults>, smallest: u64) -> Vec<Time> {
    let latency = |(l, link): (u32, &LinkSpec)| {
        let quickest = faults.get(&l).map(|f| f.quickest(link));
        let link = quickest.as_ref().unwrap_or(link);
        // an explicit queue decides the arrival when the packet leaves it
        if spec.is_explicit(link) { link.delay } else { link.crossing(smallest) }
    };
    (0..).zip(&spec.links).map(latency).collect()
}

/// The smallest latency between domains; `None` with a single domain.
pub fn lookahead(spec: &Spec, place: &[Place], latencies: &[Time]) -> Option<Time> {
    let apart = |l: &LinkSpec| place[l.from as usize].domain != place[l.to as usize].domain;
    spec.links.iter().zip(latencies).filter(|(l, _)| apart(l)).map(|(_, latency)| *latency).min()
}
