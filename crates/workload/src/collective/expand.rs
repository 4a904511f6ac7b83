//! Collectives of a graph become the messages of their algorithms.

use super::chain::{self, Chain};
use super::exchange;
use super::member::{Member, Setting};
use super::method::{Algorithm, Method, Methods};
use super::parts::{Parts, share};
use super::ring::{self, Around, Ring};
use super::tree;
use crate::graph::{ANY, Builder, Collective, Graph, Kind, Pattern, Rank, RankBuilder, Ranks, Refused};
use incast_cc::Bytes;

/// Most tasks of an expanded graph.
pub const MOST_TASKS: u64 = 1 << 30;
/// Memory of a task with its dependencies, about.
const TASK_BYTES: f64 = 34.0;

/// Graph of one collective of ranks 0 to n-1, not expanded.
pub fn alone(what: &Collective, n: u32) -> Result<Graph, Refused> {
    let mut job = Builder::new(n.into())?;
    let group = job.group((0..n).collect::<Vec<u32>>());
    let index = job.collective(Collective { group, ..what.clone() });
    for rank in 0..n {
        job.task(rank, crate::graph::Task::collective(index, rank, what.bytes))?;
    }
    Ok(job.finish())
}

/// Messages of one collective of ranks 0 to n-1. Errors: those of [`expand`], before any memory is taken.
pub fn messages(what: &Collective, n: u32, methods: &Methods) -> Result<Graph, Refused> {
    let sum = f64::from(n) * check_one(what, n.into(), methods.of(what.pattern))?;
    check_sum(sum)?;
    expand(&alone(what, n)?, methods)
}

/// Replaces each collective by the tasks of its algorithm, between two points: tasks that waited for the collective
/// wait for the second. Errors: a method that does not fit; more than [`MOST_TASKS`] tasks, with the memory they take;
/// a receive of any tag, which would take the messages of a collective.
pub fn expand(graph: &Graph, methods: &Methods) -> Result<Graph, Refused> {
    if graph.collectives().is_empty() {
        return Ok(graph.clone());
    }
    let tags = tags(graph, methods)?;
    check_size(graph, methods)?;
    let mut ranks = Ranks::new(graph.ranks() as u64);
    for (rank, tasks) in graph.iter() {
        ranks.push(expand_rank(graph, methods, &tags, (rank, tasks))?);
    }
    Ok(ranks.finish())
}

/// First tag of the messages of each collective, in [`expand`]: above all tags of the graph. Errors: a receive of any
/// tag; more tags than there are.
pub fn tags(graph: &Graph, methods: &Methods) -> Result<Vec<u32>, Refused> {
    let mut next = 0u64;
    for (rank, tasks) in graph.iter() {
        for (i, task) in tasks.iter().filter(|(_, task)| matches!(task.kind, Kind::Send | Kind::Recv)) {
            if task.tag == ANY {
                let expected = "expected a tag: the receive would take messages of a collective";
                return Err(Refused(format!("task {rank}:{i}: a receive of any tag; {expected}")));
            }
            next = next.max(u64::from(task.tag) + 1);
        }
    }
    let mut tags = Vec::with_capacity(graph.collectives().len());
    for collective in graph.collectives() {
        tags.push(next.min(u64::from(ANY)) as u32);
        // two trees a channel
        next += 2 * u64::from(methods.of(collective.pattern).channels);
    }
    if next >= u64::from(ANY) {
        return Err(Refused(format!("tags up to {next}: expected fewer collectives, or smaller tags")));
    }
    Ok(tags)
}

fn check_size(graph: &Graph, methods: &Methods) -> Result<(), Refused> {
    let mut sum = graph.total() as f64;
    for collective in graph.collectives() {
        let n = graph.group(collective.group).len() as u64;
        sum += n as f64 * check_one(collective, n, methods.of(collective.pattern))?;
    }
    check_sum(sum)
}

/// Number of tasks of a collective of `n` members once expanded, about. Errors: a method that does not fit.
pub fn expanded_tasks(what: &Collective, n: u64, method: &Method) -> Result<f64, Refused> {
    Ok(n as f64 * check_one(what, n, method)?)
}

/// Refuses a method that does not fit a collective; returns the number of tasks of a member, about.
pub(super) fn check_one(what: &Collective, n: u64, method: &Method) -> Result<f64, Refused> {
    method.check(what.pattern, n)?;
    if u64::from(what.root) >= n.max(1) {
        return Err(Refused(format!("root = {}: expected a position below {n}", what.root)));
    }
    if what.sizes.as_ref().is_some_and(|sizes| sizes.len() as u64 != n.saturating_mul(n)) {
        let pairs = n.saturating_mul(n);
        return Err(Refused(format!("sizes of an all-to-all of {n}: expected {pairs} numbers, n rows of n")));
    }
    Ok(tasks_of(what, method, n))
}

fn check_sum(sum: f64) -> Result<(), Refused> {
    if sum > MOST_TASKS as f64 {
        let need = sum * TASK_BYTES / 1e9;
        let what = format!("an expansion of {sum:.0} tasks, which takes {need:.0} GB");
        return Err(Refused(format!("{what}; expected at most {MOST_TASKS}: larger chunks, or fewer members")));
    }
    Ok(())
}

/// Number of tasks of a member, about; reductions by calculations are one more each.
fn tasks_of(what: &Collective, method: &Method, n: u64) -> f64 {
    let (bytes, chunk) = (what.bytes.0, method.chunk.map(|c| c.0));
    let pieces = |share: u64| share.div_ceil(chunk.unwrap_or(u64::MAX)).max(1) as f64;
    let rings = |n: u64, bytes: u64, steps: u64| Parts::new(n, bytes, chunk).loops() as f64 * steps as f64 * 3.0;
    let (channels, first) = (f64::from(method.channels), share(bytes, method.channels, 0));
    let rounds = f64::from(n.max(1).ilog2() + 1);
    2.0 + match method.algorithm {
        Algorithm::Ring => channels * rings(n, first, 2 * n),
        Algorithm::Hierarchical => {
            let servers = n / u64::from(method.server.max(1));
            channels
                * (rings(method.server.into(), first, 2 * u64::from(method.server)) + rings(servers, first, servers))
        }
        Algorithm::Tree => channels * pieces(first) * 8.0,
        Algorithm::Chain => channels * pieces(first) * 3.0,
        Algorithm::HalvingDoubling | Algorithm::RecursiveDoubling | Algorithm::Binomial | Algorithm::Dissemination => {
            6.0 * rounds
        }
        _ => 2.0 * n as f64,
    }
}

fn expand_rank(graph: &Graph, methods: &Methods, tags: &[u32], (rank, tasks): (u32, &Rank)) -> Result<Rank, Refused> {
    let mut made = RankBuilder::default();
    // first and last task of what each task becomes
    let mut ends = Vec::with_capacity(tasks.tasks());
    for (i, task) in tasks.iter() {
        if task.kind != Kind::Collective {
            let new = made.task(task)?;
            ends.push((new, new));
            continue;
        }
        let unknown = || Refused(format!("task {rank}:{i}: collective {} is unknown", task.tag));
        let what = graph.collective(task.tag).ok_or_else(unknown)?;
        let (method, group) = (methods.of(what.pattern), graph.group(what.group));
        if group.get(task.peer as usize) != Some(&rank) {
            let what = format!("task {rank}:{i}: position {} of group {}", task.peer, what.group);
            return Err(Refused(format!("{what}; expected the position of rank {rank}")));
        }
        let tag = tags.get(task.tag as usize).copied().ok_or_else(unknown)?;
        ends.push(add_member(
            &mut made,
            what,
            method,
            (group, task.peer),
            Place { tag, stream: task.stream, nic: task.nic },
        )?);
    }
    for (earlier, (first, last)) in ends.iter().enumerate() {
        let (after_end, after_start) = tasks.successors(earlier as u32);
        for later in after_end {
            made.requires(ends[*later as usize].0, *last)?;
        }
        for later in after_start {
            made.irequires(ends[*later as usize].0, *first)?;
        }
    }
    Ok(made.finish())
}

/// Marks of the tasks of a member.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Place {
    /// First tag of its messages: one for each channel, two for each of a tree.
    pub tag: u32,
    /// Stream of its tasks.
    pub stream: u8,
    /// NIC of its messages.
    pub nic: u8,
}

/// Tasks of one member of a collective by itself, for a run that expands a collective when it starts: the first is the
/// point at which it begins, the last the point at which it has ended. Errors: those of [`expand`], and an unknown
/// position.
pub fn member(what: &Collective, group: &[u32], position: u32, method: &Method, place: Place) -> Result<Rank, Refused> {
    check_sum(check_one(what, group.len() as u64, method)?)?;
    if position as usize >= group.len() {
        return Err(Refused(format!("position {position}: expected one below {}", group.len())));
    }
    let mut made = RankBuilder::default();
    add_member(&mut made, what, method, (group, position), place)?;
    Ok(made.finish())
}

/// Adds the tasks of a member; returns its first and its last.
fn add_member(
    made: &mut RankBuilder,
    what: &Collective,
    method: &Method,
    (group, position): (&[u32], u32),
    Place { tag, stream, nic }: Place,
) -> Result<(u32, u32), Refused> {
    // members in the order of the ring, and the own place there
    let order: Vec<u32> = method.order.iter().filter_map(|p| group.get(*p as usize).copied()).collect();
    let is_ordered = order.len() == group.len();
    let place_of = |position: u32| match is_ordered {
        true => method.order.iter().position(|p| *p == position).unwrap_or(0) as u64,
        false => position.into(),
    };
    let ranks = if is_ordered { &order[..] } else { group };
    let (reduce, credits) = (method.reduce, method.credits);
    let setting = Setting { ranks, position: place_of(position), tag, stream, nic, reduce, credits };
    let mut member = Member::begin(made, setting)?;
    let root = place_of(what.root) as u32;
    add(&mut member, &Collective { root, ..what.clone() }, method, group.len() as u64)?;
    member.end()
}

/// Adds the tasks of a member.
fn add(m: &mut Member, what: &Collective, method: &Method, n: u64) -> Result<(), Refused> {
    let (pattern, bytes, chunk) = (what.pattern, what.bytes.0, method.chunk.map(|Bytes(chunk)| chunk));
    let channels = (0..method.channels).map(|channel| (channel, share(bytes, method.channels, channel)));
    match method.algorithm {
        _ if n < 2 => {}
        Algorithm::Ring => {
            let all: Vec<u64> = (0..n).collect();
            for (channel, share) in channels {
                if let Some(ring) = Ring::new(pattern, n, share, chunk) {
                    let around = Around { ring: &all, at: m.position as usize, channel, after: None };
                    ring::add(m, &ring, &around)?;
                }
            }
        }
        Algorithm::Hierarchical => {
            for (channel, share) in channels {
                hierarchical(m, (n, u64::from(method.server)), (channel, share, chunk))?;
            }
        }
        Algorithm::Tree => {
            for (channel, share) in channels {
                tree::add(m, n, share, chunk, channel)?;
            }
        }
        Algorithm::Chain => {
            for (channel, share) in channels {
                chain::add(m, pattern, &Chain { n, root: what.root.into(), share, chunk, channel })?;
            }
        }
        Algorithm::HalvingDoubling => exchange::halving_doubling(m, pattern, n, bytes)?,
        Algorithm::RecursiveDoubling => exchange::recursive_doubling(m, pattern, n, bytes)?,
        Algorithm::Binomial => exchange::binomial(m, pattern, n, bytes, what.root.into())?,
        Algorithm::Dissemination => exchange::dissemination(m, n)?,
        _ => exchange::all_to_all(m, what, method, n)?,
    }
    Ok(())
}

/// Reduce-scatter in the server, all-reduce of the own part along the rail, all-gather in the server.
fn hierarchical(
    m: &mut Member,
    (n, g): (u64, u64),
    (channel, share, chunk): (u32, u64, Option<u64>),
) -> Result<(), Refused> {
    let (server, place) = (m.position / g, m.position % g);
    let inside: Vec<u64> = (0..g).map(|k| server * g + k).collect();
    let rail: Vec<u64> = (0..n / g).map(|s| s * g + place).collect();
    // one loop inside, so that each member has one part to take along its rail
    let part = Parts::new(g, share, None).part(0, place);
    let mut last = None;
    for (pattern, ring, at, bytes, chunk) in [
        (Pattern::ReduceScatter, &inside, place, share, None),
        (Pattern::AllReduce, &rail, server, part, chunk),
        (Pattern::AllGather, &inside, place, share, None),
    ] {
        if let Some(sizes) = Ring::new(pattern, ring.len() as u64, bytes, chunk) {
            last = ring::add(m, &sizes, &Around { ring, at: at as usize, channel, after: last })?;
        }
    }
    Ok(())
}
