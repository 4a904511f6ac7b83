//! Counts of a graph: tasks, bytes, pairs, dependencies, memory.

use crate::graph::{Graph, Kind, Rank};
use incast_cc::{Bytes, Time};
use std::collections::HashMap;

/// Pairs that are named, those with the most bytes.
pub const NAMED: usize = 10;

/// Messages from one rank to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pair {
    /// Sender.
    pub from: u32,
    /// Receiver.
    pub to: u32,
    /// Number of messages.
    pub messages: u64,
    /// Bytes of all of them.
    pub bytes: Bytes,
}

/// Counts of a graph.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Stats {
    /// Ranks.
    pub ranks: u64,
    /// Tasks by kind, in the order of [`Kind::ALL`].
    pub tasks: [u64; 5],
    /// Calculations of all ranks.
    pub calc: Time,
    /// Calculations of the rank with the most.
    pub most_calc: Time,
    /// Bytes by kind, in the order of [`Kind::ALL`]: of sends, of receives, of collectives once for each member.
    pub bytes: [u64; 5],
    /// Size of the smallest and of the largest send.
    pub message: Option<(Bytes, Bytes)>,
    /// Pairs of sender and receiver: connections that a run opens.
    pub connections: u64,
    /// Pairs with the most bytes, the most first.
    pub pairs: Vec<Pair>,
    /// Most receivers of a rank, and most senders to a rank.
    pub degrees: (u64, u64),
    /// Dependencies on ends and on starts.
    pub dependencies: (u64, u64),
    /// Most tasks of one rank of which each waits for the one before.
    pub depth: u64,
    /// Collectives.
    pub collectives: u64,
    /// Memory of the graph.
    pub memory: Bytes,
    /// Memory of the counters of a run, 4 B a task.
    pub run_memory: Bytes,
}

impl Stats {
    /// Number of tasks.
    pub fn total(&self) -> u64 {
        self.tasks.iter().sum()
    }
}

/// Counts a graph. Sums that do not fit stay at 2^64 - 1.
pub fn stats(graph: &Graph) -> Stats {
    let mut found = Stats { ranks: graph.ranks() as u64, memory: graph.memory(), ..Stats::default() };
    let mut pairs: HashMap<(u32, u32), (u64, u64)> = HashMap::new();
    for (rank, tasks) in graph.iter() {
        let mut calc = 0u64;
        for (_, task) in tasks.iter() {
            let kind = task.kind as usize;
            found.tasks[kind] += 1;
            found.bytes[kind] = found.bytes[kind].saturating_add(task.bytes().0);
            calc = calc.saturating_add(task.duration().0);
            if task.kind == Kind::Send {
                let pair = pairs.entry((rank, task.peer)).or_default();
                *pair = (pair.0 + 1, pair.1.saturating_add(task.size));
                let size = task.bytes();
                found.message =
                    Some(found.message.map_or((size, size), |(least, most)| (least.min(size), most.max(size))));
            }
        }
        found.calc = found.calc.saturating_add(Time(calc));
        found.most_calc = found.most_calc.max(Time(calc));
        let (ends, starts) = tasks.edges();
        found.dependencies = (found.dependencies.0 + ends as u64, found.dependencies.1 + starts as u64);
        found.depth = found.depth.max(depth(tasks));
    }
    found.collectives = graph.collectives().len() as u64;
    found.run_memory = Bytes(4 * found.total());
    found.connections = pairs.len() as u64;
    let (mut to, mut from) = (HashMap::new(), HashMap::new());
    for (sender, receiver) in pairs.keys() {
        *to.entry(*sender).or_insert(0u64) += 1;
        *from.entry(*receiver).or_insert(0u64) += 1;
    }
    let most = |degrees: &HashMap<u32, u64>| degrees.values().max().copied().unwrap_or(0);
    found.degrees = (most(&to), most(&from));
    let mut all: Vec<Pair> = pairs
        .into_iter()
        .map(|((from, to), (messages, bytes))| Pair { from, to, messages, bytes: Bytes(bytes) })
        .collect();
    all.sort_unstable_by_key(|pair| (std::cmp::Reverse(pair.bytes), pair.from, pair.to));
    all.truncate(NAMED);
    found.pairs = all;
    found
}

/// Number of tasks of the longest chain; tasks of a cycle do not count.
fn depth(tasks: &Rank) -> u64 {
    let mut left = tasks.all_waits().to_vec();
    let mut level = vec![1u32; left.len()];
    let mut ready: Vec<u32> = (0..left.len() as u32).filter(|i| left[*i as usize] == 0).collect();
    let mut deepest = 0;
    while let Some(task) = ready.pop() {
        let own = level[task as usize];
        deepest = deepest.max(own);
        let (ends, starts) = tasks.successors(task);
        for &later in ends.iter().chain(starts) {
            let i = later as usize;
            level[i] = level[i].max(own.saturating_add(1));
            left[i] -= 1;
            if left[i] == 0 {
                ready.push(later);
            }
        }
    }
    deepest.into()
}
