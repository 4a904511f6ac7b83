//! Numbers of shortest paths, for policies that choose among whole paths rather than next hops.

use crate::spec::{Router, Spec};

/// Where every local port leads, and how many shortest paths join every switch to every host that a flow has.
///
/// A path of number `p` among the `n` from a node begins with the next hop in whose share `p` lies: next hops
/// in their order have as many numbers as paths go on from them, and what is left of `p` counts those.
#[derive(Clone, Debug)]
pub struct Paths {
    /// When these are the shortest, ps.
    time: u64,
    hosts: u32,
    /// Far ends of the local ports of node `n`: `ends[first[n] .. first[n + 1]]`.
    first: Vec<u32>,
    ends: Vec<u32>,
    /// Paths from switch `s` to host `h`: `count[s * hosts + h]`, at most [`Paths::MOST`].
    count: Vec<u32>,
}

impl Paths {
    /// More paths than this are not told apart.
    pub const MOST: u32 = 1 << 20;
    const UNKNOWN: u32 = u32::MAX;

    /// Counts the paths of `spec` to the ends of its flows, as they are at `time` (ps).
    pub fn new(spec: &Spec, time: u64) -> Paths {
        let nodes = spec.hosts as usize + spec.routers.len();
        let mut first = vec![0u32; nodes + 1];
        spec.links.iter().for_each(|l| first[l.from as usize + 1] += 1);
        for n in 0..nodes {
            first[n + 1] += first[n];
        }
        let mut at = first.clone();
        let mut ends = vec![0u32; spec.links.len()];
        for link in &spec.links {
            let place = &mut at[link.from as usize];
            ends[*place as usize] = link.to;
            *place += 1;
        }
        let count = vec![Paths::UNKNOWN; spec.routers.len() * spec.hosts as usize];
        let mut paths = Paths { time, hosts: spec.hosts, first, ends, count };
        for f in &spec.flows {
            for host in [f.src, f.dst] {
                (spec.hosts..nodes as u32).for_each(|node| _ = paths.find(spec, node, host));
            }
        }
        paths
    }

    fn end(&self, node: u32, port: u32) -> u32 {
        self.ends[(self.first[node as usize] + port) as usize]
    }

    fn find(&mut self, spec: &Spec, node: u32, dst: u32) -> u32 {
        if node < spec.hosts {
            return u32::from(node == dst);
        }
        let at = (node - spec.hosts) as usize * self.hosts as usize + dst as usize;
        if self.count[at] == Paths::UNKNOWN {
            // a table that leads in circles has no paths there
            self.count[at] = 0;
            let ports: Vec<u32> = hops_at(&spec.routers[(node - spec.hosts) as usize], dst, self.time).iter().collect();
            let sum: u64 = ports.iter().map(|p| self.find(spec, self.end(node, *p), dst) as u64).sum();
            self.count[at] = sum.min(Paths::MOST as u64) as u32;
        }
        self.count[at]
    }

    /// Shortest paths from `node` to host `dst`.
    pub fn count(&self, node: u32, dst: u32) -> u32 {
        match node.checked_sub(self.hosts) {
            None => u32::from(node == dst),
            Some(s) => self.count[s as usize * self.hosts as usize + dst as usize],
        }
    }

    /// Which of the next hops `hops` of `node` path number `path` takes, and its number among those from there.
    pub fn step(&self, node: u32, dst: u32, hops: Hops, path: u32) -> (u32, u32) {
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

    /// Which of its next hops the switch `node` gives a packet from `src` to `dst` that follows path number
    /// `path`, counted from the first switch and over again.
    pub fn follow(&self, spec: &Spec, node: u32, src: u32, dst: u32, path: u64) -> u32 {
        let mut at = self.end(src, 0);
        let mut rest = (path % self.count(at, dst).max(1) as u64) as u32;
        for _ in 0..=spec.routers.len() {
            let Some(router) = at.checked_sub(self.hosts).and_then(|s| spec.routers.get(s as usize)) else { break };
            let ports = hops_at(router, dst, self.time);
            let (i, further) = self.step(at, dst, ports, rest);
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
    /// So many from the first on.
    Run(u32, u32),
    /// These.
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

    /// There is none.
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

/// Next hops of a switch towards host `dst` at `time` (ps).
#[inline]
pub fn hops_at(router: &Router, dst: u32, time: u64) -> Hops<'_> {
    if let Router::Rerouted(rerouted) = router
        && let Some(set) = rerouted.set(dst, time)
    {
        return Hops::List(&rerouted.sets[set as usize]);
    }
    hops(router, dst)
}

/// Next hops of a switch towards host `dst` where nothing has failed.
#[inline]
pub fn hops(router: &Router, dst: u32) -> Hops<'_> {
    match router {
        Router::Rerouted(rerouted) => hops(&rerouted.base, dst),
        Router::Tree { first, span, stride, down, up, ups } => {
            let below = dst.wrapping_sub(*first);
            if below < *span { Hops::Run(down + below / stride, 1) } else { Hops::Run(*up, *ups) }
        }
        Router::Table { set, sets } => Hops::List(&sets[set[dst as usize] as usize]),
    }
}

/// By what number the index of a round robin is divided at every switch of a regular tree, so that successive
/// packets go through all paths: by the number of choices that switches below have.
pub fn divisors(spec: &Spec) -> Vec<u32> {
    let mut divisors = vec![0u32; spec.routers.len()];
    let mut ends: Vec<Vec<u32>> = vec![Vec::new(); spec.hosts as usize + spec.routers.len()];
    spec.links.iter().for_each(|l| ends[l.from as usize].push(l.to));
    let mut level: Vec<u32> = ends[..spec.hosts as usize].iter().flatten().copied().collect();
    level.retain(|n| *n >= spec.hosts);
    let mut divisor = 1;
    while !level.is_empty() {
        level.sort_unstable();
        level.dedup();
        let mut above = Vec::new();
        let mut choices = 1;
        for node in &level {
            let s = (node - spec.hosts) as usize;
            divisors[s] = divisor;
            if let Router::Tree { up, ups, .. } = &spec.routers[s] {
                choices = choices.max(*ups);
                above.extend((*up..up + ups).filter_map(|p| ends[*node as usize].get(p as usize)));
            }
        }
        above.retain(|n| *n >= spec.hosts && divisors[(n - spec.hosts) as usize] == 0);
        divisor = divisor.saturating_mul(choices);
        level = above;
    }
    divisors.iter().map(|d| (*d).max(1)).collect()
}
