//! Deadlocks of priority flow control, found at the end of a run.

use crate::domain::Domain;
use crate::ids::LinkId;
use crate::map::fabric::FabricMap;
use crate::port::buffer::Pool;
use incast_cc::Time;
use std::collections::BTreeMap;

/// Place of a packet: link of its port, and its class unless it is being transmitted.
type Place = (LinkId, Option<u8>);

/// Ports with a deadlocked class, and the start of the pause: all packets in the class's account at the other end wait
/// at such ports. Pauses that the other end has ended by now, or requested anew since, do not count.
pub fn deadlocked(net: &FabricMap, domains: &[Domain]) -> BTreeMap<LinkId, Time> {
    let Some(pfc) = &net.pfc else { return BTreeMap::new() };
    let ports = || domains.iter().flat_map(|d| &d.nodes.ports);
    let mut buffers: BTreeMap<u32, &Pool> = BTreeMap::new();
    for domain in domains {
        let own = domain.nodes.ports.iter().filter_map(|p| Some((net.spec.links[p.link].from, p.pool()?)));
        buffers.extend(own.map(|(switch, pool)| (switch, &domain.nodes.shared.pools[pool])));
    }
    let asked = |link: LinkId, class: u8| buffers.get(&net.spec.links[link].to)?.paused(pfc.account(link, class)?);
    let stalled = ports().flat_map(|p| p.stalled().map(|(class, since, at)| (p.link, class, since, at)));
    let stalled = stalled.filter(|(link, class, _, at)| asked(*link, *class) == Some(*at));
    let mut stalled: BTreeMap<(LinkId, u8), Time> = stalled.map(|(l, class, since, _)| ((l, class), since)).collect();
    // ports at which the packets of an account wait, by link and class
    let mut waits: BTreeMap<(u32, u32), Vec<Place>> = BTreeMap::new();
    for port in ports() {
        let switch = net.spec.links[port.link].from;
        for (class, account) in port.on_accounts() {
            let at = waits.entry((switch, account)).or_default();
            if at.last() != Some(&(port.link, class)) {
                at.push((port.link, class));
            }
        }
    }
    loop {
        let stuck = |link: LinkId, class: u8| {
            let account = pfc.account(link, class).map(|a| (net.spec.links[link].to, a));
            let at = account.and_then(|account| waits.get(&account));
            at.is_some_and(|at| at.iter().all(|(l, c)| c.is_some_and(|c| stalled.contains_key(&(*l, c)))))
        };
        let left: BTreeMap<(LinkId, u8), Time> =
            stalled.iter().filter(|((l, c), _)| stuck(*l, *c)).map(|(k, since)| (*k, *since)).collect();
        if left.len() == stalled.len() {
            break;
        }
        stalled = left;
    }
    let mut first = BTreeMap::new();
    for ((link, _), since) in stalled {
        let known = first.entry(link).or_insert(since);
        *known = since.min(*known);
    }
    first
}
