//! Paths that packets of a flow may take, and the quickest of them on the empty network.
//!
//! A switch offers a packet some of its ports: one if the flow keeps to a path, all next hops if packets spread, those
//! of all times if routing knows of failures, and any port if a table may redirect packets. A link whose properties
//! change over time counts at its quickest.

use crate::hash;
use crate::ids::{FlowId, LinkId, NodeId};
use crate::map::adjacency::Adjacency;
use crate::map::mirror::Mirror;
use crate::map::paths::{Hops, hops, hops_at};
use crate::port::faults::Faults;
use crate::spec::table::{Action, Entry};
use crate::spec::{LinkSpec, Program, Router, Spec};
use incast_cc::Time;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Influences on paths besides routing.
#[derive(Clone, Debug)]
pub struct Ways {
    /// Links at their quickest, if that differs from the specification.
    quick: Option<Vec<LinkSpec>>,
    /// Times at which routes change, from 0 on.
    times: Vec<Time>,
    /// By node: true if a table may redirect packets. Empty if none may.
    redirects: Vec<bool>,
    /// True if all shortest paths between two hosts take the same time.
    even: bool,
    /// By host: the only link that leads to it.
    last: Vec<Option<LinkId>>,
}

/// A flow and a direction (true: reverse) whose paths are searched.
pub type FlowDirection = (FlowId, bool);

impl Ways {
    /// The paths of `spec`.
    pub fn new(spec: &Spec, outgoing: &Adjacency) -> Ways {
        let redirects = redirecting(spec);
        let mut times = vec![Time::ZERO];
        for router in &spec.routers {
            if let Router::Rerouted(rerouted) = router {
                times.extend(&rerouted.starts);
            }
        }
        times.sort_unstable();
        times.dedup();
        let mut last = vec![None; spec.hosts as usize];
        let mut several = vec![false; spec.hosts as usize];
        for (l, link) in (0u32..).map(LinkId).zip(&spec.links).filter(|(_, link)| link.to < spec.hosts) {
            several[link.to as usize] |= last[link.to as usize].replace(l).is_some();
        }
        last.iter_mut().zip(several).filter(|(_, several)| *several).for_each(|(last, _)| *last = None);
        let quick = quickest(spec);
        let even = quick.is_none() && times.len() == 1 && redirects.is_empty() && is_even(spec, outgoing);
        Ways { quick, times, redirects, even, last }
    }

    /// Links at their quickest.
    pub fn links<'s>(&'s self, spec: &'s Spec) -> &'s [LinkSpec] {
        self.quick.as_deref().unwrap_or(&spec.links)
    }

    /// The only link that leads to a host.
    pub fn last(&self, host: NodeId) -> Option<LinkId> {
        self.last.get(host.ix()).copied().flatten()
    }

    /// True if all shortest paths between two hosts take the same time, at all times.
    pub fn is_even(&self) -> bool {
        self.even
    }

    /// True if routes never change, and no table redirects packets.
    pub fn is_fixed(&self) -> bool {
        self.times.len() == 1 && self.redirects.is_empty()
    }

    fn redirects(&self, node: NodeId) -> bool {
        self.redirects.get(node.ix()).is_some_and(|redirects| *redirects)
    }
}

/// Exits of each node that packets of a flow may take.
pub struct Exits<'s> {
    /// Specification of the network.
    pub spec: &'s Spec,
    /// Links by node.
    pub outgoing: &'s Adjacency,
    /// Symmetric routing.
    pub mirror: Option<&'s Mirror>,
    /// Influences besides routing. `None`: nothing fails and no table redirects.
    pub ways: Option<&'s Ways>,
    /// The flow and direction.
    pub flow_direction: FlowDirection,
}

impl Exits<'_> {
    fn path(&self) -> Option<&[u32]> {
        let (flow, back) = self.flow_direction;
        let flow = &self.spec.flows[flow];
        if back { flow.reverse_path.as_deref() } else { flow.path.as_deref() }
    }

    /// True if packets take all next hops.
    pub fn spreads(&self) -> bool {
        self.spec.choice.spreads() && !(self.flow_direction.1 && self.spec.acks_by_flow) && self.path().is_none()
    }

    /// Destination of the packets.
    pub fn to(&self) -> NodeId {
        let flow = &self.spec.flows[self.flow_direction.0];
        NodeId(if self.flow_direction.1 { flow.src } else { flow.dst })
    }

    /// Links by which the packets may leave a switch.
    fn of(&self, node: NodeId, links: &mut Vec<LinkId>) {
        links.clear();
        let ports = self.outgoing.of(node);
        let Some(router) = node.0.checked_sub(self.spec.hosts).and_then(|s| self.spec.routers.get(s as usize)) else {
            return;
        };
        if self.ways.is_some_and(|ways| ways.redirects(node)) {
            links.extend(ports);
            return;
        }
        if let Some(path) = self.path() {
            links.extend(path.iter().copied().map(LinkId).filter(|l| self.spec.links[*l].from == node.0));
            if self.ways.is_none_or(|ways| ways.redirects.is_empty()) {
                return;
            }
        }
        let spreads = self.spec.choice.spreads() && !(self.flow_direction.1 && self.spec.acks_by_flow);
        let mut add = |hops: Hops, time: Option<Time>| match spreads {
            true => links.extend(hops.iter().filter_map(|p| ports.get(p as usize))),
            false => self.picks(node, hops, time, |i| links.extend(ports.get(hops.get(i) as usize))),
        };
        match (router, self.ways) {
            (Router::Rerouted(rerouted), Some(ways)) => {
                // symmetric routes change with those of other switches
                let own = if self.mirror.is_some() { &ways.times } else { &rerouted.starts };
                let flow = &self.spec.flows[self.flow_direction.0];
                // spread packets are looked up once for all flows, so at all times
                let seen = |i: usize| {
                    let until = own.get(i + 1).copied().unwrap_or(Time::NEVER);
                    spreads || until > flow.start && own[i] < self.spec.duration
                };
                if spreads || own.first().is_none_or(|first| *first > flow.start) {
                    add(hops(router, self.to()), Some(Time::ZERO));
                }
                (0..own.len()).filter(|i| seen(*i)).for_each(|i| add(hops_at(router, self.to(), own[i]), Some(own[i])));
            }
            (_, Some(ways)) if self.mirror.is_some() => {
                ways.times.iter().for_each(|time| add(hops(router, self.to()), Some(*time)));
            }
            _ => add(hops(router, self.to()), None),
        }
        links.sort_unstable();
        links.dedup();
    }

    /// The next hops, of several, that a flow on a single path may have at some time.
    fn picks(&self, node: NodeId, hops: Hops, time: Option<Time>, mut pick: impl FnMut(u32)) {
        let (flow, back) = self.flow_direction;
        match hops.len() {
            0 => {}
            1 => pick(0),
            _ if self.spec.choice.takes_first() => pick(0),
            n => {
                let mirror = self.mirror.filter(|_| !(back && self.spec.acks_by_flow));
                if let Some(mirror) = mirror {
                    pick(mirror.choose(self.spec, node, self.flow_direction, hops, time));
                }
                // symmetric routing: the packet may be in flight while routes change
                if mirror.is_none() || self.ways.is_some_and(|ways| ways.times.len() > 1) {
                    pick(hash::pick(hash::ecmp(self.spec.seed, flow, back, node), n));
                }
            }
        }
    }

    /// True if no packet may leave this path.
    pub fn keep_to(&self, path: &[LinkId]) -> bool {
        let mut links = Vec::new();
        path.windows(2).all(|two| {
            self.of(NodeId(self.spec.links[two[0]].to), &mut links);
            links == [two[1]]
        })
    }

    /// The quickest path from a node to the packet's destination, and its time. `takes`: time of a link.
    pub fn quickest(&self, from: NodeId, takes: impl Fn(LinkId) -> Time) -> Option<(Time, Vec<LinkId>)> {
        let to = self.to();
        if from == to {
            return Some((Time::ZERO, Vec::new()));
        }
        let switches = self.spec.routers.len();
        let mut times = vec![Time::NEVER; switches];
        let mut via = vec![None; switches];
        let place = |node: u32| (node - self.spec.hosts) as usize;
        let (mut best, mut last) = (Time::NEVER, None);
        let mut queue = BinaryHeap::from([Reverse((Time::ZERO, from.0))]);
        *times.get_mut(from.0.checked_sub(self.spec.hosts)? as usize)? = Time::ZERO;
        let mut links = Vec::new();
        while let Some(Reverse((time, node))) = queue.pop() {
            if time > times[place(node)] {
                continue;
            }
            if time >= best {
                break;
            }
            self.of(NodeId(node), &mut links);
            for &l in &links {
                let end = self.spec.links[l].to;
                let arrival = time.saturating_add(takes(l));
                if end == to.0 && arrival < best {
                    (best, last) = (arrival, Some(l));
                } else if end >= self.spec.hosts && arrival < times[place(end)] {
                    (times[place(end)], via[place(end)]) = (arrival, Some(l));
                    queue.push(Reverse((arrival, end)));
                }
            }
        }
        let mut way = vec![last?];
        while let Some(l) =
            self.spec.links[way[way.len() - 1]].from.checked_sub(self.spec.hosts).and_then(|s| via[s as usize])
        {
            way.push(l);
        }
        way.reverse();
        Some((best, way))
    }
}

/// All links at their quickest, if at least one can be quicker at some time.
fn quickest(spec: &Spec) -> Option<Vec<LinkSpec>> {
    let faults: BTreeMap<u32, Faults> = Faults::of_links(spec).ok()?;
    let mut links = None;
    for (l, faults) in faults {
        let own = &spec.links[l as usize];
        let quick = faults.quickest(own);
        if (quick.rate, quick.delay) != (own.rate, own.delay) {
            links.get_or_insert_with(|| spec.links.clone())[l as usize] = quick;
        }
    }
    links
}

/// By node: true if a table may redirect packets. Empty if none may.
fn redirecting(spec: &Spec) -> Vec<bool> {
    let redirects = |entry: &Entry| entry.actions.iter().any(|a| matches!(a, Action::Back | Action::Output(_)));
    let mut nodes = Vec::new();
    for own in &spec.programs {
        let Program::Table(table) = &own.program else { continue };
        let installed = table.controller.iter().flat_map(|controller| controller.install.iter()).map(|of| &of.entry);
        if table.stages.iter().flat_map(|stage| &stage.entries).chain(installed).any(redirects) {
            nodes.resize(spec.hosts as usize + spec.routers.len(), false);
            own.nodes.iter().for_each(|node| nodes[*node as usize] = true);
        }
    }
    nodes
}

/// True if links between switches are the same wherever switches have a choice: all of them, or, in a tree, all that
/// lead up from a level and all that lead down to it. False does not mean that paths differ.
fn is_even(spec: &Spec, outgoing: &Adjacency) -> bool {
    let same = |a: &LinkSpec, b: &LinkSpec| {
        (a.rate, a.delay, a.overhead, a.bucket, a.cell) == (b.rate, b.delay, b.overhead, b.bucket, b.cell)
    };
    let between = || spec.links.iter().filter(|l| l.from >= spec.hosts && l.to >= spec.hosts);
    let wires = between().all(|l| l.cell.is_none());
    if wires && between().zip(between().skip(1)).all(|(a, b)| same(a, b)) {
        return true;
    }
    let Some(levels) = levels(spec, outgoing).filter(|_| wires) else { return false };
    let level = |node: u32| levels[(node - spec.hosts) as usize];
    let mut kinds: BTreeMap<(u32, u32), &LinkSpec> = BTreeMap::new();
    between().all(|l| same(l, kinds.entry((level(l.from), level(l.to))).or_insert(l)))
}

/// The level of every switch of a tree: 1 above hosts. `None` if a router is not a tree's, or a link leads neither one
/// level up nor one level down.
fn levels(spec: &Spec, outgoing: &Adjacency) -> Option<Vec<u32>> {
    let mut levels = vec![0; spec.routers.len()];
    let mut below: Vec<u32> = spec.links.iter().filter(|l| l.from < spec.hosts).map(|l| l.to).collect();
    for level in 1.. {
        below.retain(|node| *node >= spec.hosts);
        below.sort_unstable();
        below.dedup();
        let mut above = Vec::new();
        for node in below {
            let s = (node - spec.hosts) as usize;
            let Router::Tree { up, ups, .. } = &spec.routers[s] else { return None };
            if levels[s] != 0 {
                return None;
            }
            levels[s] = level;
            let ports = outgoing.of(NodeId(node));
            above.extend((*up..up + ups).filter_map(|p| ports.get(p as usize)).map(|l| spec.links[*l].to));
        }
        if above.is_empty() {
            break;
        }
        below = above;
    }
    let apart = |l: &LinkSpec| {
        let level = |node: u32| -> u32 { node.checked_sub(spec.hosts).map_or(0, |s| levels[s as usize]) };
        level(l.from).abs_diff(level(l.to)) == 1
    };
    (!levels.contains(&0) && spec.links.iter().all(apart)).then_some(levels)
}
