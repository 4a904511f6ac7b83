//! Whole paths: those prescribed for flows, and numbers of shortest paths, for policies that choose whole paths rather
//! than next hops.

use crate::event::packet::{Kind, Packet};
use crate::ids::NodeId;
use crate::spec::{Detour, FlowSpec, Router, Spec};
use incast_cc::Time;

/// Links of the path prescribed for a packet of `flow`, if any.
pub fn given<'a>(flow: &'a FlowSpec, packet: &Packet) -> Option<&'a [u32]> {
    let path = match packet.is_reverse() {
        false => &flow.path,
        true if flow.pull_path.is_some() && packet.is(Kind::Pull) => &flow.pull_path,
        true => &flow.reverse_path,
    };
    path.as_deref()
}

/// Numbering of paths, where packets take whole paths.
#[derive(Clone, Debug)]
pub enum Numbered {
    /// None: switches choose next hops.
    Not,
    /// By arithmetic, in a regular tree: [`divisors`] and the first upward neighbour of every node.
    Regular(Vec<u32>, Vec<NodeId>),
    /// By counting.
    Counted(Timetable),
}

impl Numbered {
    /// The numbering that the policy and the routers of `spec` need.
    pub fn new(spec: &Spec) -> Numbered {
        if !spec.choice.is_by_path() {
            Numbered::Not
        } else if spec.routers.iter().all(|r| matches!(r, Router::Tree { .. })) {
            Numbered::Regular(divisors(spec), above(spec))
        } else {
            Numbered::Counted(Timetable::new(spec))
        }
    }

    /// Number of shortest paths from host `src` to host `dst` at the start; 1 where paths are not numbered.
    pub fn between(&self, spec: &Spec, src: u32, dst: u32) -> u32 {
        match self {
            Numbered::Not => 1,
            Numbered::Counted(paths) => {
                let paths = paths.at(Time::ZERO);
                paths.count(paths.end(NodeId(src), 0), NodeId(dst)).max(1)
            }
            Numbered::Regular(_, above) => {
                let (mut at, mut count) = (above[src as usize], 1u32);
                while let Some(Router::Tree { first, span, ups, .. }) = spec.routers.get((at.0 - spec.hosts) as usize)
                    && dst.wrapping_sub(*first) >= *span
                    && *ups > 0
                {
                    count = count.saturating_mul(*ups);
                    at = above[at];
                }
                count
            }
        }
    }
}

/// The [`Paths`] of a network at all times.
#[derive(Clone, Debug)]
pub struct Timetable {
    /// Start times (rising) and the index into `paths` that is valid from then on.
    states: Vec<(Time, usize)>,
    paths: Vec<Paths>,
}

impl Timetable {
    /// Counts the paths to the ends of `spec`'s flows, once for each state of the network.
    pub fn new(spec: &Spec) -> Timetable {
        let (states, firsts) = states(spec);
        Timetable { states, paths: firsts.into_iter().map(|time| Paths::new(spec, time)).collect() }
    }

    /// Paths valid at `time`.
    pub fn at(&self, time: Time) -> &Paths {
        let before = self.states.partition_point(|(start, _)| *start <= time);
        &self.paths[self.states[before.saturating_sub(1)].1]
    }

    /// Size in memory for `spec`, in bytes.
    pub fn size(spec: &Spec) -> u64 {
        states(spec).1.len() as u64 * spec.routers.len() as u64 * spec.hosts as u64 * size_of::<u32>() as u64
    }
}

/// Times at which routes change, from 0 on, each with the number of the state that begins, and the first time of each
/// state. A link that fails repeatedly makes two states.
fn states(spec: &Spec) -> (Vec<(Time, usize)>, Vec<Time>) {
    let rerouted = || spec.routers.iter().filter_map(|r| if let Router::Rerouted(r) = r { Some(r) } else { None });
    let mut starts = vec![Time::ZERO];
    rerouted().for_each(|r| starts.extend(&r.starts));
    starts.sort_unstable();
    starts.dedup();
    let mut known: Vec<Vec<&[Detour]>> = Vec::new();
    let (mut numbered, mut firsts) = (Vec::new(), Vec::new());
    for start in starts {
        let detours: Vec<&[Detour]> = rerouted().map(|r| r.at(start)).collect();
        let number = known.iter().position(|state| *state == detours).unwrap_or(known.len());
        if number == known.len() {
            known.push(detours);
            firsts.push(start);
        }
        numbered.push((start, number));
    }
    (numbered, firsts)
}

/// Far end of every local port, and number of shortest paths from every switch to every host with a flow.
///
/// Paths from a node are numbered in two ways. [`Paths::step`] gives each next hop, in order, a contiguous range of
/// numbers, one per path behind it. [`Paths::step_round_robin`] deals the numbers out among the next hops in turn, as
/// long as they have paths left. If all next hops have equally many paths behind them, the first matches the draw of a
/// switch that knows only its next hops, and the second matches [`divisors`].
#[derive(Clone, Debug)]
pub struct Paths {
    /// Time at which these are the shortest paths.
    time: Time,
    hosts: u32,
    /// Far ends of the local ports of every node.
    ends: Vec<Vec<NodeId>>,
    /// Paths from switch `s` to host `h`: `count[s * hosts + h]`, at most [`Paths::MAX`].
    count: Vec<u32>,
}

impl Paths {
    /// Upper bound of a count: further paths are not distinguished.
    pub const MAX: u32 = 1 << 20;
    const UNKNOWN: u32 = u32::MAX;

    /// Counts the paths of `spec` to the ends of its flows, as they are at `time`.
    pub fn new(spec: &Spec, time: Time) -> Paths {
        let nodes = spec.hosts as usize + spec.routers.len();
        let count = vec![Paths::UNKNOWN; spec.routers.len() * spec.hosts as usize];
        let mut paths = Paths { time, hosts: spec.hosts, ends: far_ends(spec), count };
        for f in &spec.flows {
            for host in [f.src, f.dst].map(NodeId) {
                (spec.hosts..nodes as u32).for_each(|node| _ = paths.find(spec, NodeId(node), host));
            }
        }
        paths
    }

    pub(crate) fn end(&self, node: NodeId, port: u32) -> NodeId {
        self.ends[node][port as usize]
    }

    fn find(&mut self, spec: &Spec, node: NodeId, dst: NodeId) -> u32 {
        if node.0 < spec.hosts {
            return u32::from(node == dst);
        }
        let s = (node.0 - spec.hosts) as usize;
        let at = s * self.hosts as usize + dst.ix();
        if self.count[at] == Paths::UNKNOWN {
            // a routing table with a loop has no paths there
            self.count[at] = 0;
            let ports: Vec<u32> = hops_at(&spec.routers[s], dst, self.time).iter().collect();
            let sum: u64 = ports.iter().map(|p| self.find(spec, self.end(node, *p), dst) as u64).sum();
            self.count[at] = sum.min(Paths::MAX as u64) as u32;
        }
        self.count[at]
    }

    /// Shortest paths from `node` to host `dst`.
    pub fn count(&self, node: NodeId, dst: NodeId) -> u32 {
        match node.0.checked_sub(self.hosts) {
            None => u32::from(node == dst),
            Some(s) => self.count[s as usize * self.hosts as usize + dst.ix()],
        }
    }

    /// Index of the next hop of `node` that path number `path` takes, and the path's number from there on.
    pub fn step(&self, node: NodeId, dst: NodeId, hops: Hops, path: u32) -> (u32, u32) {
        let mut rest = path;
        for (i, port) in (0..).zip(hops.iter()) {
            let share = self.count(self.end(node, port), dst);
            if rest < share {
                return (i, rest);
            }
            rest -= share;
        }
        (0, 0)
    }

    /// [`Paths::step`] with the other numbering.
    fn step_round_robin(&self, node: NodeId, dst: NodeId, hops: Hops, path: u32) -> (u32, u32) {
        let shares: Vec<u32> = hops.iter().map(|port| self.count(self.end(node, port), dst)).collect();
        let (mut rest, mut dealt) = (path, 0);
        // the same next hops have paths left in every round, until one runs out
        while let Some(min) = shares.iter().copied().filter(|share| *share > dealt).min() {
            let mut left = (0u32..).zip(&shares).filter(|(_, share)| **share > dealt);
            let n = left.clone().count() as u32;
            if rest / n < min - dealt {
                return left.nth((rest % n) as usize).map_or((0, 0), |(i, _)| (i, dealt + rest / n));
            }
            rest -= n * (min - dealt);
            dealt = min;
        }
        (0, 0)
    }

    /// Index of the next hop at switch `node` for a packet from `src` to `dst` on path number `path`
    /// ([`Paths::step_round_robin`]). Numbers count from the first switch and wrap around.
    pub fn follow(&self, spec: &Spec, node: NodeId, src: NodeId, dst: NodeId, path: u64) -> u32 {
        let mut at = self.end(src, 0);
        let mut rest = (path % self.count(at, dst).max(1) as u64) as u32;
        for _ in 0..=spec.routers.len() {
            let Some(router) = at.0.checked_sub(self.hosts).and_then(|s| spec.routers.get(s as usize)) else { break };
            let ports = hops_at(router, dst, self.time);
            let (i, further) = self.step_round_robin(at, dst, ports, rest);
            if at == node || ports.is_empty() {
                return i;
            }
            (at, rest) = (self.end(at, ports.get(i)), further);
        }
        0
    }
}

/// Equal next hops, as local ports.
#[derive(Clone, Copy, Debug)]
pub enum Hops<'a> {
    /// A number of consecutive ports: the first, and the number.
    Run(u32, u32),
    /// Ports of a list.
    List(&'a [u32]),
}

impl Hops<'_> {
    /// Number of next hops.
    #[inline]
    pub fn len(&self) -> u32 {
        match self {
            Hops::Run(_, n) => *n,
            Hops::List(list) => list.len() as u32,
        }
    }

    /// True if there is no next hop.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Local port of next hop `i`.
    #[inline]
    pub fn get(&self, i: u32) -> u32 {
        match self {
            Hops::Run(first, _) => first + i,
            Hops::List(list) => list[i as usize],
        }
    }

    /// All local ports, in order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.len()).map(|i| self.get(i))
    }
}

/// Next hops of a switch towards host `dst` at `time`.
#[inline]
pub fn hops_at(router: &Router, dst: NodeId, time: Time) -> Hops<'_> {
    if let Router::Rerouted(rerouted) = router
        && let Some(set) = rerouted.set(dst.0, time)
    {
        return Hops::List(&rerouted.sets[set as usize]);
    }
    hops(router, dst)
}

/// Next hops of a switch towards host `dst` without failures.
#[inline]
pub fn hops(router: &Router, dst: NodeId) -> Hops<'_> {
    match router {
        Router::Rerouted(rerouted) => hops(&rerouted.base, dst),
        Router::Tree { first, span, stride, down, up, ups } => {
            let below = dst.0.wrapping_sub(*first);
            if below < *span { Hops::Run(down + below / stride, 1) } else { Hops::Run(*up, *ups) }
        }
        Router::Table { set, sets } => Hops::List(&sets[set[dst] as usize]),
    }
}

/// Number of the set of next hops towards host `dst` at `time`, among the sets of the switch.
pub fn set_at(router: &Router, dst: NodeId, time: Time) -> u32 {
    let own = |router: &Router| match router {
        Router::Table { set, .. } => set[dst],
        _ => 0,
    };
    let Router::Rerouted(rerouted) = router else { return own(router) };
    // sets of detours after those of the base
    let sets = if let Router::Table { sets, .. } = &rerouted.base { sets.len() as u32 } else { 1 };
    rerouted.set(dst.0, time).map_or(own(&rerouted.base), |set| sets + set)
}

/// Far ends of the local ports of every node, by node and port.
fn far_ends(spec: &Spec) -> Vec<Vec<NodeId>> {
    let mut ends = vec![Vec::new(); spec.hosts as usize + spec.routers.len()];
    spec.links.iter().for_each(|l| ends[l.from as usize].push(NodeId(l.to)));
    ends
}

/// The first upward neighbour of every node of a regular tree. A node at the top is its own.
fn above(spec: &Spec) -> Vec<NodeId> {
    let ends = far_ends(spec);
    let up = |node: usize| match spec.routers.get(node.wrapping_sub(spec.hosts as usize)) {
        Some(Router::Tree { up, ups, .. }) if *ups == 0 => *up as usize + ends[node].len(),
        Some(Router::Tree { up, .. }) => *up as usize,
        _ => 0,
    };
    (0..ends.len()).map(|node| ends[node].get(up(node)).copied().unwrap_or(NodeId(node as u32))).collect()
}

/// Divisor of the round-robin index at every switch of a regular tree, so that successive packets go through all paths:
/// the number of choices of the switches below.
pub fn divisors(spec: &Spec) -> Vec<u32> {
    let mut divisors = vec![0u32; spec.routers.len()];
    let ends = far_ends(spec);
    let mut level: Vec<NodeId> = ends[..spec.hosts as usize].iter().flatten().copied().collect();
    level.retain(|n| n.0 >= spec.hosts);
    let mut divisor = 1;
    while !level.is_empty() {
        level.sort_unstable();
        level.dedup();
        let mut above = Vec::new();
        let mut choices = 1;
        for node in &level {
            let s = (node.0 - spec.hosts) as usize;
            divisors[s] = divisor;
            if let Router::Tree { up, ups, .. } = &spec.routers[s] {
                choices = choices.max(*ups);
                above.extend((*up..up + ups).filter_map(|p| ends[*node].get(p as usize)));
            }
        }
        above.retain(|n: &NodeId| n.0 >= spec.hosts && divisors[(n.0 - spec.hosts) as usize] == 0);
        divisor = divisor.saturating_mul(choices);
        level = above;
    }
    divisors.iter().map(|d| (*d).max(1)).collect()
}
