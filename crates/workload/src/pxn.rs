//! Messages to another rail by way of the GPU of the sender's server that is on that rail: PXN of NCCL
//! (NVIDIA/nccl 5067397c, `src/graph/topo.h`, `PATH_PXN`). The first hop takes the links
//! of the server, the second stays on the rail.
//!
//! The GPU in between has a receive and a send for each message, which wait for nothing else. Both hops have tags of
//! their own, so that a message meets the receives that were meant for it.

use crate::graph::{ANY, Builder, Graph, Kind, Rank, RankBuilder, Refused, Task};
use std::collections::{BTreeMap, BTreeSet};

/// Places of the ranks of a job.
#[derive(Clone, Copy, Debug)]
pub struct Places<'a> {
    /// Server of every rank.
    pub servers: &'a [u32],
    /// Rail of every rank, its number in a server.
    pub rails: &'a [u32],
}

/// A graph whose messages to another rail go on from there, and the tags of the messages that do.
#[derive(Clone, Debug)]
pub struct Forwarded {
    /// Tasks.
    pub graph: Graph,
    /// First tag of each run of new tags, ascending, and the tag in whose place they stand.
    pub tags: Vec<(u32, u32)>,
}

/// Message that goes on from another rank of the sender's server.
#[derive(Clone, Copy, Debug)]
struct Detour {
    /// Rank in between.
    by: u32,
    /// Tag of both hops.
    tag: u32,
}

/// Numbers of servers, rails, ranks of a GPU and tags, for tags that differ by all of them.
struct Numbers<'a> {
    places: Places<'a>,
    /// First rank on a rail of a server.
    ranks: BTreeMap<(u32, u32), u32>,
    /// Number of each rank among those of its server and rail, and the most that share these.
    shared: Vec<u32>,
    most: u32,
    /// Servers and rails from 0 on.
    server: BTreeMap<u32, u32>,
    rail: BTreeMap<u32, u32>,
    /// Old tags of these messages, from 0 on, and the first new one.
    tag: BTreeMap<u32, u32>,
    first: u32,
}

impl Numbers<'_> {
    /// The rank by which a message goes, unless it stays on its rail or in its server, or no rank is there.
    fn by(&self, from: u32, to: u32) -> Option<u32> {
        let Places { servers, rails } = self.places;
        let [from, to] = [from as usize, to as usize];
        let crosses = servers.get(from)? != servers.get(to)? && rails.get(from)? != rails.get(to)?;
        let by = self.ranks.get(&(servers[from], rails[to])).copied();
        by.filter(|_| crosses)
    }

    fn detour(&self, from: u32, to: u32, tag: u32) -> Option<Detour> {
        let by = self.by(from, to)?;
        let Places { servers, rails } = self.places;
        // by distance between servers: ranks that differ in their place alone have equal tags
        let count = self.server.len() as u32;
        let [a, b] = [from, to].map(|rank| self.server[&servers[rank as usize]]);
        let distance = (b + count - a) % count;
        let rail = (self.tag.get(&tag)? * count + distance) * self.rail.len() as u32 + self.rail[&rails[from as usize]];
        let [a, b] = [from, to].map(|rank| self.shared[rank as usize]);
        Some(Detour { by, tag: self.first + (rail * self.most + a) * self.most + b })
    }

    /// New tags of an old one.
    fn width(&self) -> u64 {
        self.server.len() as u64 * self.rail.len() as u64 * u64::from(self.most).pow(2)
    }
}

/// Lets messages of `graph` to another rail go by the rank of the sender's server on that rail. Messages without such a
/// rank stay as they are.
///
/// # Errors
/// A receive of such a message takes any source or any tag; the graph has collectives; there are too many tags.
pub fn forward(graph: &Graph, places: Places) -> Result<Forwarded, Refused> {
    let numbers = numbers(graph, places)?;
    // messages by the rank that they go by: sender, receiver, bytes, tag
    let mut passing: Vec<Vec<(u32, u32, Task)>> = vec![Vec::new(); graph.ranks()];
    for (from, rank) in graph.iter() {
        for (_, task) in rank.iter().filter(|(_, task)| task.kind == Kind::Send) {
            if let Some(Detour { by, tag }) = numbers.detour(from, task.peer, task.tag) {
                passing[by as usize].push((from, task.peer, task.tagged(tag)));
            }
        }
    }
    let ranks = graph.iter().map(|(own, rank)| rebuilt(own, rank, &numbers, &passing[own as usize]));
    let graph = Builder::of(ranks.collect::<Result<_, Refused>>()?)?;
    let width = numbers.width() as u32;
    let tags = numbers.tag.iter().map(|(old, number)| (numbers.first + number * width, *old)).collect();
    Ok(Forwarded { graph, tags })
}

/// Numbers for the messages of a graph that leave their rail.
fn numbers<'a>(graph: &Graph, places: Places<'a>) -> Result<Numbers<'a>, Refused> {
    let numbered = |all: &[u32]| all.iter().copied().collect::<BTreeSet<u32>>().into_iter().zip(0..).collect();
    let place = |rank: usize| (places.servers[rank], places.rails[rank]);
    let count = graph.ranks().min(places.servers.len()).min(places.rails.len());
    let mut ranks_at: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    let mut number = |rank: usize| {
        let next = ranks_at.entry(place(rank)).or_default();
        *next += 1;
        *next - 1
    };
    let shared: Vec<u32> = (0..count).map(&mut number).collect();
    let mut numbers = Numbers {
        places,
        most: ranks_at.into_values().max().unwrap_or(1),
        shared,
        ranks: (0..count).rev().map(|rank| (place(rank), rank as u32)).collect(),
        server: numbered(places.servers),
        rail: numbered(places.rails),
        tag: BTreeMap::new(),
        first: 0,
    };
    let (mut last, mut old) = (None, BTreeSet::new());
    let mut receivers = BTreeSet::new();
    for (from, rank) in graph.iter() {
        for (i, task) in rank.iter() {
            match task.kind {
                Kind::Collective => {
                    return Err(Refused(format!("task {i} of rank {from} is a collective; expected its messages")));
                }
                Kind::Send if numbers.by(from, task.peer).is_some() => {
                    old.insert(task.tag);
                    receivers.insert(task.peer);
                }
                _ => {}
            }
            let tag = matches!(task.kind, Kind::Send | Kind::Recv).then_some(task.tag).filter(|tag| *tag != ANY);
            last = last.max(tag);
        }
    }
    for (own, rank) in graph.iter().filter(|(own, _)| receivers.contains(own)) {
        if let Some((i, _)) = rank.iter().find(|(_, task)| task.is_wild()) {
            return Err(Refused(format!(
                "task {i} of rank {own} receives from any rank or with any tag, and messages reach the rank by way of \
                 another; expected a source and a tag"
            )));
        }
    }
    numbers.first = last.map_or(0, |tag: u32| tag.saturating_add(1));
    let needed = (old.len() as u64).saturating_mul(numbers.width());
    if u64::from(numbers.first).saturating_add(needed) >= u64::from(ANY) {
        let text = format!("{needed} more tags after tag {}; expected fewer than {ANY} in all", numbers.first);
        return Err(Refused(text));
    }
    numbers.tag = old.into_iter().zip(0..).collect();
    Ok(numbers)
}

/// A rank whose messages go by others, and that passes on those of others.
fn rebuilt(own: u32, rank: &Rank, numbers: &Numbers, passing: &[(u32, u32, Task)]) -> Result<Rank, Refused> {
    let mut built = RankBuilder::with_capacity(rank.tasks() + 2 * passing.len());
    for (_, task) in rank.iter() {
        let detour = match task.kind {
            Kind::Send => numbers.detour(own, task.peer, task.tag),
            // a message comes from the rank that it goes by
            Kind::Recv if !task.is_wild() => numbers.detour(task.peer, own, task.tag),
            _ => None,
        };
        built.task(detour.map_or(task, |Detour { by, tag }| Task { peer: by, tag, ..task }))?;
    }
    for (i, _) in rank.iter() {
        let (ends, starts) = rank.successors(i);
        ends.iter().try_for_each(|later| built.requires(*later, i))?;
        starts.iter().try_for_each(|later| built.irequires(*later, i))?;
    }
    for (from, to, message) in passing {
        let receive = built.task(Task::recv(message.bytes(), *from).tagged(message.tag))?;
        let send = built.task(Task { peer: *to, ..*message })?;
        built.requires(send, receive)?;
    }
    Ok(built.finish())
}
