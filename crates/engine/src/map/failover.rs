//! Detours around failed links: next hops of a switch that change while routing knows of failures.
//!
//! Routes stay shortest in links over the remaining network, in any topology. One breadth-first search runs for every
//! switch with hosts and every set of dead links, and only the differences from the existing router are kept. So
//! regular trees keep their arithmetic, and a failure costs memory only where it matters. Nothing is kept per pair of
//! hosts.

use crate::ids::{FlowId, LinkId, NodeId};
use crate::map::adjacency::Adjacency;
use crate::map::paths::hops;
use crate::spec::{Detour, Rerouted, Router, Spec};
use incast_cc::Time;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Start time, and links between switches that routing avoids from then on.
type AvoidedLinks = (Time, BTreeSet<LinkId>);

/// First and last of a range of hosts, and the ports that lead to them.
type RangeRoute = (u32, u32, Vec<u32>);

/// Adds detours around the failures of `spec` to its routers. Call once, after the failures are complete.
pub fn reroute(spec: &mut Spec) {
    let states = states(spec);
    let mut found: BTreeMap<&BTreeSet<LinkId>, Vec<Vec<RangeRoute>>> = BTreeMap::new();
    let map = Map { hosts: spec.hosts, outgoing: Adjacency::outgoing(spec), incoming: Adjacency::incoming(spec) };
    for (_, dead) in &states {
        found.entry(dead).or_insert_with(|| map.differences(spec, dead));
    }
    for (s, router) in spec.routers.iter_mut().enumerate() {
        let (mut starts, mut detours, mut sets) = (Vec::new(), Vec::<Vec<Detour>>::new(), Vec::<Vec<u32>>::new());
        for (start, dead) in &states {
            let mut now: Vec<Detour> = Vec::new();
            for (first, last, ports) in &found[dead][s] {
                let known = sets.iter().position(|set| set == ports).unwrap_or_else(|| {
                    sets.push(ports.clone());
                    sets.len() - 1
                });
                let set = known as u32;
                match now.last_mut() {
                    Some(before) if before.set == set && before.last + 1 == *first => before.last = *last,
                    _ => now.push(Detour { first: *first, last: *last, set }),
                }
            }
            if detours.last().map_or(!now.is_empty(), |before| *before != now) {
                starts.push(*start);
                detours.push(now);
            }
        }
        if !starts.is_empty() {
            let base = router.base().clone();
            *router = Router::Rerouted(Box::new(Rerouted { base, starts, detours, sets }));
        }
    }
}

/// The links that routing avoids, by time. Only links between switches, since a host has no other path.
fn states(spec: &Spec) -> Vec<AvoidedLinks> {
    let mut changes: BTreeMap<Time, Vec<(LinkId, bool)>> = BTreeMap::new();
    for failure in &spec.failures {
        let link = &spec.links[failure.link as usize];
        let Some((from, until)) = failure.known() else { continue };
        if link.from < spec.hosts || link.to < spec.hosts {
            continue;
        }
        changes.entry(from).or_default().push((LinkId(failure.link), true));
        changes.entry(until).or_default().push((LinkId(failure.link), false));
    }
    // known failures of a link less known repairs: one may be seen before the repair of the previous one
    let mut known: BTreeMap<LinkId, i32> = BTreeMap::new();
    let mut states = Vec::new();
    for (time, changes) in changes {
        for (link, fails) in changes {
            *known.entry(link).or_insert(0) += if fails { 1 } else { -1 };
        }
        known.retain(|_, failures| *failures > 0);
        states.push((time, known.keys().copied().collect()));
    }
    states
}

/// Links by node.
struct Map {
    hosts: u32,
    outgoing: Adjacency,
    incoming: Adjacency,
}

impl Map {
    /// For every switch, in rising order: the ranges of hosts that it reaches by other ports without the links `dead`,
    /// and those ports.
    fn differences(&self, spec: &Spec, dead: &BTreeSet<LinkId>) -> Vec<Vec<RangeRoute>> {
        let mut differences = vec![Vec::new(); spec.routers.len()];
        if dead.is_empty() {
            return differences;
        }
        let mut is_dead = vec![false; spec.links.len()];
        dead.iter().for_each(|l| is_dead[*l] = true);
        // a dead link's switch, and its port there
        let cut: Vec<(u32, u32)> = dead.iter().filter_map(|l| self.cut(spec, *l)).collect();
        let mut far = vec![u32::MAX; self.outgoing.nodes()];
        for gate in (self.hosts..far.len() as u32).map(NodeId) {
            let mut below: Vec<u32> = self.outgoing.of(gate).iter().map(|l| spec.links[*l].to).collect();
            below.retain(|n| *n < self.hosts);
            below.sort_unstable();
            let Some(first) = below.first().copied() else { continue };
            let uses =
                |(s, port): &(u32, u32)| hops(&spec.routers[*s as usize], NodeId(first)).iter().any(|p| p == *port);
            if !cut.iter().any(uses) {
                continue;
            }
            let runs: Vec<(u32, u32)> = below.chunk_by(|a, b| a + 1 == *b).map(|r| (r[0], r[r.len() - 1])).collect();
            self.distances(spec, gate, &is_dead, &mut far);
            for (s, own) in (0u32..).zip(&mut differences) {
                let node = NodeId(self.hosts + s);
                if node == gate {
                    continue;
                }
                let distance = far[node];
                let nearer = |l: &LinkId| {
                    let to = spec.links[*l].to;
                    to >= self.hosts && !is_dead[*l] && far[to as usize] < distance
                };
                let ports = || (0u32..).zip(self.outgoing.of(node)).filter(|(_, l)| nearer(l)).map(|(p, _)| p);
                if !ports().eq(hops(&spec.routers[s as usize], NodeId(first)).iter()) {
                    let ports: Vec<u32> = ports().collect();
                    own.extend(runs.iter().map(|(first, last)| (*first, *last, ports.clone())));
                }
            }
        }
        // gates come in the order of their numbers, not necessarily of their hosts
        differences.iter_mut().for_each(|own| own.sort_unstable_by_key(|(first, ..)| *first));
        differences
    }

    /// The switch that sends over link `l`, by its index among routers, and its port.
    fn cut(&self, spec: &Spec, l: LinkId) -> Option<(u32, u32)> {
        let from = spec.links[l].from;
        let port = self.outgoing.of(NodeId(from)).iter().position(|other| *other == l)?;
        Some((from.checked_sub(self.hosts)?, port as u32))
    }

    /// Distance in links from every switch to `gate`, at most; [`u32::MAX`]: unreachable.
    fn distances(&self, spec: &Spec, gate: NodeId, is_dead: &[bool], far: &mut [u32]) {
        far.fill(u32::MAX);
        far[gate] = 0;
        let mut queue = VecDeque::from([gate]);
        while let Some(node) = queue.pop_front() {
            for l in self.incoming.of(node).iter().filter(|l| !is_dead[**l]) {
                let from = spec.links[*l].from;
                if from >= self.hosts && far[from as usize] == u32::MAX {
                    far[from as usize] = far[node] + 1;
                    queue.push_back(NodeId(from));
                }
            }
        }
    }
}

/// A flow that has traffic while its destination is unreachable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stranded {
    /// Number of the flow.
    pub flow: FlowId,
    /// Time from which its destination is unreachable.
    pub from: Time,
    /// A failure that causes it: index into [`Spec::failures`].
    pub failure: usize,
}

/// The first flow whose destination is unreachable, with detours, at some time between its start and its stop. Flows
/// with prescribed paths are not checked: they lose their packets. Neither are connections of jobs: their messages wait
/// for the repair, and a job that does not end says so.
pub fn stranded(spec: &Spec) -> Option<Stranded> {
    if spec.failures.is_empty() {
        return None;
    }
    let cuts = Cuts::new(spec);
    let of_jobs: BTreeSet<u32> = spec.jobs.iter().flat_map(|job| &job.connections).map(|c| c.flow).collect();
    for (f, flow) in (0..).map(FlowId).zip(&spec.flows).filter(|(f, _)| !of_jobs.contains(&f.0)) {
        let stop = flow.stop.min(spec.duration);
        for (given, src, dst) in [(&flow.path, flow.src, flow.dst), (&flow.reverse_path, flow.dst, flow.src)] {
            if given.is_some() {
                continue;
            }
            let meets = |(from, until, _): &(Time, Time, usize)| *from < stop && *until > flow.start;
            if let Some((from, _, failure)) = cuts.of(src, dst).into_iter().find(meets) {
                return Some(Stranded { flow: f, from, failure });
            }
        }
    }
    None
}

/// Hosts that are unreachable for some time.
pub(crate) struct Cuts<'s> {
    spec: &'s Spec,
    /// First switch of every host.
    gate: Vec<u32>,
    /// Hosts that routing knows to be cut off, and their intervals, with a failure that causes each.
    cut: BTreeMap<u32, Vec<(Time, Time, usize)>>,
}

impl<'s> Cuts<'s> {
    /// Cuts by the failures of `spec`, whose routers have their detours.
    pub fn new(spec: &'s Spec) -> Cuts<'s> {
        let mut gate = vec![0; spec.hosts as usize];
        for link in spec.links.iter().filter(|link| link.from < spec.hosts) {
            gate[link.from as usize] = link.to;
        }
        let mut cut: BTreeMap<u32, Vec<(Time, Time, usize)>> = BTreeMap::new();
        for (i, failure) in spec.failures.iter().enumerate() {
            let link = &spec.links[failure.link as usize];
            let Some((from, until)) = failure.known() else { continue };
            for host in [link.from, link.to].into_iter().filter(|n| *n < spec.hosts) {
                cut.entry(host).or_default().push((from, until, i));
            }
        }
        Cuts { spec, gate, cut }
    }

    /// Intervals in which routing knows of no path from one host to another, with a failure that causes each.
    pub fn of(&self, src: u32, dst: u32) -> Vec<(Time, Time, usize)> {
        let mut found: Vec<_> = [src, dst].iter().filter_map(|host| self.cut.get(host)).flatten().copied().collect();
        let first = self.gate[src as usize].checked_sub(self.spec.hosts).map(|s| &self.spec.routers[s as usize]);
        let Some(Router::Rerouted(router)) = first else { return found };
        for (i, start) in router.starts.iter().enumerate() {
            let end = router.starts.get(i + 1).copied().unwrap_or(Time::NEVER);
            if router.set(dst, *start).is_some_and(|set| router.sets[set as usize].is_empty()) {
                found.push((*start, end, latest_seen(self.spec, *start)));
            }
        }
        found
    }
}

/// The failure that routing has learned of last, by `time`.
fn latest_seen(spec: &Spec, time: Time) -> usize {
    let known = spec.failures.iter().enumerate().filter_map(|(i, f)| Some((f.known()?.0, i)));
    known.filter(|(from, _)| *from <= time).max().map_or(0, |(_, i)| i)
}
