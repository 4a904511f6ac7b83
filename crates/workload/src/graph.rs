//! Graph of a job: per rank the tasks as a structure of arrays, and as compressed rows the tasks that wait for each.
//!
//! A task waits for the ends of the tasks it `requires` and for the starts of those it `irequires` (names of GOAL,
//! spcl/LogGOPSim 76451de). A dependency given twice counts twice, in the row and in the number the task waits for.
//! Nothing here looks for cycles: tasks of a cycle never start, and the linter names them.
//!
//! Memory is 27 B a task, 4 B a dependency, and 4 B a task of ranks with a dependency on a start. Ranks that differ in
//! their place alone, as those of a ring, share their arrays: peers are kept relative to the rank.

use incast_cc::{Bytes, Time};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// Any source, or any tag, of a [`Kind::Recv`].
pub const ANY: u32 = u32::MAX;

/// Most ranks of a job.
pub const MOST_RANKS: u64 = 1 << 22;
/// Most tasks of a rank, and most dependencies of a rank of either kind.
pub const MOST_TASKS: u64 = (1 << 31) - 1;

/// Kind of a task.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Kind {
    /// Calculation: takes a duration of its stream.
    Calc,
    /// Message to a peer.
    Send,
    /// Message from a peer, or from [`ANY`].
    Recv,
    /// Part of one member in a collective.
    Collective,
    /// No work: a point that others wait for.
    Nop,
}

impl Kind {
    /// All kinds, in the order of their numbers.
    pub const ALL: [Kind; 5] = [Kind::Calc, Kind::Send, Kind::Recv, Kind::Collective, Kind::Nop];

    /// Name of the kind.
    pub const fn name(self) -> &'static str {
        ["calc", "send", "recv", "collective", "nop"][self as usize]
    }
}

/// One task of a rank.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Task {
    /// Kind, which says what the other fields mean.
    pub kind: Kind,
    /// Stream of the rank (`cpu` of GOAL): calculations of one stream exclude each other.
    pub stream: u8,
    /// NIC of the rank.
    pub nic: u8,
    /// Rank at the other end of a send or a receive, [`ANY`] for a receive from any; position in the group for a
    /// collective.
    pub peer: u32,
    /// Tag of a message, [`ANY`] for a receive of any; index of a collective ([`Graph::collective`]).
    pub tag: u32,
    /// Bytes of a message or a collective; picoseconds of a calculation.
    pub size: u64,
}

impl Task {
    const fn new(kind: Kind, size: u64, peer: u32) -> Task {
        Task { kind, stream: 0, nic: 0, peer, tag: 0, size }
    }

    /// Calculation of this duration.
    pub const fn calc(duration: Time) -> Task {
        Task::new(Kind::Calc, duration.0, 0)
    }
    /// Message to rank `to`.
    pub const fn send(bytes: Bytes, to: u32) -> Task {
        Task::new(Kind::Send, bytes.0, to)
    }
    /// Message from rank `from`, or [`ANY`].
    pub const fn recv(bytes: Bytes, from: u32) -> Task {
        Task::new(Kind::Recv, bytes.0, from)
    }
    /// Part of the member at `position` in the collective with this index.
    pub const fn collective(index: u32, position: u32, bytes: Bytes) -> Task {
        Task { tag: index, ..Task::new(Kind::Collective, bytes.0, position) }
    }
    /// Point without work.
    pub const fn nop() -> Task {
        Task::new(Kind::Nop, 0, 0)
    }
    /// The task with this tag.
    pub const fn tagged(self, tag: u32) -> Task {
        Task { tag, ..self }
    }
    /// The task on this stream.
    pub const fn on_stream(self, stream: u8) -> Task {
        Task { stream, ..self }
    }
    /// The task at this NIC.
    pub const fn at_nic(self, nic: u8) -> Task {
        Task { nic, ..self }
    }
    /// Returns whether a receive takes any source or any tag.
    pub const fn is_wild(self) -> bool {
        matches!(self.kind, Kind::Recv) && (self.peer == ANY || self.tag == ANY)
    }
    /// Duration of a calculation; zero for others.
    pub const fn duration(self) -> Time {
        if matches!(self.kind, Kind::Calc) { Time(self.size) } else { Time::ZERO }
    }
    /// Size of a message or a collective; zero for others.
    pub const fn bytes(self) -> Bytes {
        if matches!(self.kind, Kind::Send | Kind::Recv | Kind::Collective) { Bytes(self.size) } else { Bytes(0) }
    }
}

/// Pattern of a collective: what becomes of the data of its members.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Pattern {
    /// Sum of all members' data, at all members.
    AllReduce,
    /// Sum of all members' data, a part at each member.
    ReduceScatter,
    /// Data of all members, at all members.
    AllGather,
    /// A part of each member's data to each other member.
    AllToAll,
    /// Data of the root, at all members.
    Broadcast,
    /// Sum of all members' data, at the root.
    Reduce,
    /// No data: nobody goes on before all have come.
    Barrier,
}

impl Pattern {
    /// All patterns.
    pub const ALL: [Pattern; 7] = [
        Pattern::AllReduce,
        Pattern::ReduceScatter,
        Pattern::AllGather,
        Pattern::AllToAll,
        Pattern::Broadcast,
        Pattern::Reduce,
        Pattern::Barrier,
    ];

    /// Name of the pattern.
    pub const fn name(self) -> &'static str {
        ["all-reduce", "reduce-scatter", "all-gather", "all-to-all", "broadcast", "reduce", "barrier"][self as usize]
    }
    /// The pattern of this name.
    pub fn named(name: &str) -> Option<Pattern> {
        Pattern::ALL.into_iter().find(|p| p.name() == name)
    }
}

/// A collective of a job: each member of the group has one task with its index.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Collective {
    /// Pattern of the data.
    pub pattern: Pattern,
    /// Group of the members: index for [`Graph::group`]. The order of the group is the order of a ring.
    pub group: u32,
    /// Total S: data of a member before a reduction, gathered data after an all-gather, data that a member sends in an
    /// all-to-all, its own part included.
    pub bytes: Bytes,
    /// Position of the root in the group, of a broadcast or a reduce.
    pub root: u32,
    /// Bytes of each pair of an all-to-all with sizes of its own, n rows of a sender's n parts by position.
    pub sizes: Option<Arc<[u64]>>,
}

impl Collective {
    /// Collective of a group with this total; the root is at position 0.
    pub fn new(pattern: Pattern, group: u32, bytes: Bytes) -> Collective {
        Collective { pattern, group, bytes, root: 0, sizes: None }
    }
}

/// Refusal of a graph: the text says what was wrong and what was expected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refused(pub String);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
impl std::error::Error for Refused {}

/// Successors of the tasks of a rank as compressed rows; no offsets where there are no edges.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
struct Rows {
    first: Box<[u32]>,
    edges: Box<[u32]>,
}

impl Rows {
    /// Rows of pairs (earlier, later), each row in the order of the pairs.
    fn of(tasks: usize, pairs: &[(u32, u32)]) -> Rows {
        if pairs.is_empty() {
            return Rows::default();
        }
        let mut first = vec![0u32; tasks + 1];
        for &(earlier, _) in pairs {
            first[earlier as usize + 1] += 1;
        }
        let mut sum = 0;
        for count in &mut first {
            sum += *count;
            *count = sum;
        }
        let mut edges = vec![0u32; pairs.len()];
        for &(earlier, later) in pairs {
            edges[first[earlier as usize] as usize] = later;
            first[earlier as usize] += 1;
        }
        // each offset has moved to the end of its row
        first.copy_within(0..tasks, 1);
        first[0] = 0;
        Rows { first: first.into(), edges: edges.into() }
    }

    #[inline]
    fn row(&self, task: u32) -> &[u32] {
        let i = task as usize;
        match (self.first.get(i), self.first.get(i + 1)) {
            (Some(&from), Some(&to)) => self.edges.get(from as usize..to as usize).unwrap_or(&[]),
            _ => &[],
        }
    }

    fn memory(&self) -> usize {
        4 * (self.first.len() + self.edges.len())
    }
}

/// Arrays of the tasks of a rank. Ranks whose peers lie at the same distances share them.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
struct Body {
    kind: Box<[Kind]>,
    stream: Box<[u8]>,
    nic: Box<[u8]>,
    peer: Box<[u32]>,
    tag: Box<[u32]>,
    size: Box<[u64]>,
    waits: Box<[u32]>,
    ends: Rows,
    starts: Rows,
}

impl Body {
    fn memory(&self) -> u64 {
        let fixed = 3 + 2 * 4 + 8 + 4;
        (self.kind.len() * fixed + self.ends.memory() + self.starts.memory()) as u64
    }

    /// Places of the peers of messages.
    fn peers(&mut self) -> impl Iterator<Item = &mut u32> {
        let messages = self.kind.iter().map(|kind| matches!(kind, Kind::Send | Kind::Recv));
        self.peer.iter_mut().zip(messages).filter(|(peer, message)| *message && **peer != ANY).map(|(peer, _)| peer)
    }
}

/// Tasks of one rank and their order. Methods take an index below [`Rank::tasks`]; any other has no successors, waits
/// for nothing and is a [`Kind::Nop`].
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Rank {
    body: Arc<Body>,
    /// Number that is added to peers, modulo the number of ranks; both 0 where peers stand as they are.
    shift: u32,
    ranks: u32,
}

impl Rank {
    /// Number of tasks.
    #[inline]
    pub fn tasks(&self) -> usize {
        self.body.kind.len()
    }
    /// A task, assembled from the arrays.
    #[inline]
    pub fn task(&self, i: u32) -> Task {
        let (i, body) = (i as usize, &*self.body);
        let Some(&kind) = body.kind.get(i) else { return Task::nop() };
        let mut peer = body.peer[i];
        if self.ranks > 0 && matches!(kind, Kind::Send | Kind::Recv) && peer != ANY {
            peer += self.shift;
            if peer >= self.ranks {
                peer -= self.ranks;
            }
        }
        Task { kind, stream: body.stream[i], nic: body.nic[i], peer, tag: body.tag[i], size: body.size[i] }
    }
    /// Kind of a task, read alone.
    #[inline]
    pub fn kind(&self, i: u32) -> Kind {
        self.body.kind.get(i as usize).copied().unwrap_or(Kind::Nop)
    }
    /// Tasks that wait for this one: for its end, for its start.
    #[inline]
    pub fn successors(&self, i: u32) -> (&[u32], &[u32]) {
        (self.body.ends.row(i), self.body.starts.row(i))
    }
    /// Number of ends and starts that a task waits for.
    #[inline]
    pub fn waits(&self, i: u32) -> u32 {
        self.body.waits.get(i as usize).copied().unwrap_or(0)
    }
    /// Numbers that the tasks wait for, one a task: what a run counts down.
    #[inline]
    pub fn all_waits(&self) -> &[u32] {
        &self.body.waits
    }
    /// Number of dependencies: on ends, on starts.
    pub fn edges(&self) -> (usize, usize) {
        (self.body.ends.edges.len(), self.body.starts.edges.len())
    }
    /// Returns whether a receive takes any source or any tag.
    pub fn is_wild(&self) -> bool {
        self.iter().any(|(_, task)| task.is_wild())
    }
    /// All tasks with their indices.
    pub fn iter(&self) -> impl Iterator<Item = (u32, Task)> + '_ {
        (0..self.tasks() as u32).map(|i| (i, self.task(i)))
    }
    /// Memory of the arrays, which other ranks may share.
    pub fn memory(&self) -> Bytes {
        Bytes(self.body.memory())
    }
}

/// Ranks of a job, one after the other: equal arrays are kept once.
#[derive(Default, Debug)]
pub(crate) struct Ranks {
    of: u32,
    done: Vec<Rank>,
    bodies: HashMap<u64, Vec<Arc<Body>>>,
}

impl Ranks {
    /// No ranks yet, of so many.
    pub fn new(of: u64) -> Ranks {
        Ranks { of: of.min(MOST_RANKS) as u32, ..Ranks::default() }
    }

    /// Adds the next rank.
    pub fn push(&mut self, rank: Rank) {
        let (shift, ranks) = (self.done.len() as u32, self.of);
        let mut body = Arc::unwrap_or_clone(rank.body);
        if rank.ranks > 0 {
            body.peers().for_each(|peer| *peer = (*peer + rank.shift) % rank.ranks);
        }
        // a peer that is no rank stays as it is, with all others of its rank
        let relative = shift < ranks && body.peers().all(|peer| *peer < ranks);
        if relative {
            body.peers().for_each(|peer| *peer = if *peer >= shift { *peer - shift } else { *peer + ranks - shift });
        }
        let mut hasher = DefaultHasher::new();
        body.hash(&mut hasher);
        let known = self.bodies.entry(hasher.finish()).or_default();
        let body = match known.iter().find(|one| ***one == body) {
            Some(one) => one.clone(),
            None => {
                let one = Arc::new(body);
                known.push(one.clone());
                one
            }
        };
        let (shift, ranks) = if relative { (shift, ranks) } else { (0, 0) };
        self.done.push(Rank { body, shift, ranks });
    }

    /// The graph.
    pub fn finish(self) -> Graph {
        Graph { ranks: self.done, ..Graph::default() }
    }
}

/// Tasks of one rank as they are added.
#[derive(Clone, Default, Debug)]
pub struct RankBuilder {
    kind: Vec<Kind>,
    stream: Vec<u8>,
    nic: Vec<u8>,
    peer: Vec<u32>,
    tag: Vec<u32>,
    size: Vec<u64>,
    waits: Vec<u32>,
    ends: Vec<(u32, u32)>,
    starts: Vec<(u32, u32)>,
}

impl RankBuilder {
    /// A rank of about so many tasks.
    pub fn with_capacity(tasks: usize) -> RankBuilder {
        RankBuilder {
            kind: Vec::with_capacity(tasks),
            stream: Vec::with_capacity(tasks),
            nic: Vec::with_capacity(tasks),
            peer: Vec::with_capacity(tasks),
            tag: Vec::with_capacity(tasks),
            size: Vec::with_capacity(tasks),
            waits: Vec::with_capacity(tasks),
            ..RankBuilder::default()
        }
    }

    /// Number of tasks so far.
    pub fn tasks(&self) -> usize {
        self.kind.len()
    }

    /// Adds a task; returns its index. Errors: the rank has [`MOST_TASKS`].
    pub fn task(&mut self, task: Task) -> Result<u32, Refused> {
        let index = self.kind.len();
        if index as u64 >= MOST_TASKS {
            return Err(Refused(format!("tasks of a rank: more than {MOST_TASKS}; expected at most that many")));
        }
        self.kind.push(task.kind);
        self.stream.push(task.stream);
        self.nic.push(task.nic);
        self.peer.push(task.peer);
        self.tag.push(task.tag);
        self.size.push(task.size);
        self.waits.push(0);
        Ok(index as u32)
    }

    /// Makes `later` wait for the end of `earlier`. Errors: a task that is not there; too many dependencies.
    pub fn requires(&mut self, later: u32, earlier: u32) -> Result<(), Refused> {
        self.check(later, earlier, self.ends.len())?;
        self.ends.push((earlier, later));
        Ok(())
    }

    /// Makes `later` wait for the start of `earlier`. Errors: a task that is not there; too many dependencies.
    pub fn irequires(&mut self, later: u32, earlier: u32) -> Result<(), Refused> {
        self.check(later, earlier, self.starts.len())?;
        self.starts.push((earlier, later));
        Ok(())
    }

    fn check(&mut self, later: u32, earlier: u32, edges: usize) -> Result<(), Refused> {
        let tasks = self.kind.len();
        for task in [later, earlier] {
            if task as usize >= tasks {
                return Err(Refused(format!("dependency on task {task}: the rank has {tasks} tasks, from 0")));
            }
        }
        if edges as u64 >= MOST_TASKS {
            return Err(Refused(format!("dependencies of a rank: more than {MOST_TASKS}; expected at most that many")));
        }
        // two kinds of at most 2^32 - 2 each: a task with more than u32 holds is refused too
        let waits = &mut self.waits[later as usize];
        *waits =
            waits.checked_add(1).ok_or_else(|| Refused(format!("dependencies of task {later}: more than 2^32")))?;
        Ok(())
    }

    /// The rank, with its arrays cut to size.
    pub fn finish(self) -> Rank {
        let tasks = self.kind.len();
        let ends = Rows::of(tasks, &self.ends);
        drop(self.ends);
        let starts = Rows::of(tasks, &self.starts);
        let body = Body {
            kind: self.kind.into(),
            stream: self.stream.into(),
            nic: self.nic.into(),
            peer: self.peer.into(),
            tag: self.tag.into(),
            size: self.size.into(),
            waits: self.waits.into(),
            ends,
            starts,
        };
        Rank { body: Arc::new(body), shift: 0, ranks: 0 }
    }
}

/// Tasks of all ranks of a job. An index outside is an empty rank, or a task as [`Rank`] says.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Graph {
    ranks: Vec<Rank>,
    groups: Vec<Box<[u32]>>,
    collectives: Vec<Collective>,
}

impl Graph {
    /// Number of ranks.
    pub fn ranks(&self) -> usize {
        self.ranks.len()
    }
    /// The tasks of one rank: what a run keeps at hand for its host.
    pub fn rank(&self, rank: u32) -> Option<&Rank> {
        self.ranks.get(rank as usize)
    }
    /// Number of tasks of a rank.
    pub fn tasks(&self, rank: u32) -> usize {
        self.rank(rank).map_or(0, Rank::tasks)
    }
    /// Number of tasks of all ranks.
    pub fn total(&self) -> u64 {
        self.ranks.iter().map(|r| r.tasks() as u64).sum()
    }
    /// A task of a rank.
    #[inline]
    pub fn task(&self, rank: u32, i: u32) -> Task {
        self.rank(rank).map_or(Task::nop(), |r| r.task(i))
    }
    /// Tasks that wait for this one: for its end, for its start.
    #[inline]
    pub fn successors(&self, rank: u32, i: u32) -> (&[u32], &[u32]) {
        self.rank(rank).map_or((&[], &[]), |r| r.successors(i))
    }
    /// Number of ends and starts that a task waits for.
    #[inline]
    pub fn waits(&self, rank: u32, i: u32) -> u32 {
        self.rank(rank).map_or(0, |r| r.waits(i))
    }
    /// All ranks in order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Rank)> {
        self.ranks.iter().enumerate().map(|(i, r)| (i as u32, r))
    }
    /// A collective by the `tag` of its tasks.
    pub fn collective(&self, index: u32) -> Option<&Collective> {
        self.collectives.get(index as usize)
    }
    /// All collectives in the order of their indices.
    pub fn collectives(&self) -> &[Collective] {
        &self.collectives
    }
    /// Ranks of a group, by position; empty for an unknown group.
    pub fn group(&self, group: u32) -> &[u32] {
        self.groups.get(group as usize).map_or(&[], |g| g)
    }
    /// Memory of the arrays of all ranks; arrays that ranks share count once.
    pub fn memory(&self) -> Bytes {
        let mut seen = HashSet::new();
        let mut own = |rank: &Rank| match seen.insert(Arc::as_ptr(&rank.body)) {
            true => rank.memory().0 + size_of::<Body>() as u64,
            false => 0,
        };
        Bytes(self.ranks.iter().map(&mut own).sum::<u64>() + (self.ranks.len() * size_of::<Rank>()) as u64)
    }
}

/// Builder of a [`Graph`]: tasks and dependencies in any order of ranks.
#[derive(Clone, Default, Debug)]
pub struct Builder {
    ranks: Vec<RankBuilder>,
    rest: Graph,
}

impl Builder {
    /// A job of so many ranks. Errors: more than [`MOST_RANKS`], with the memory they would need.
    pub fn new(ranks: u64) -> Result<Builder, Refused> {
        if ranks > MOST_RANKS {
            let need = ranks as f64 * size_of::<Rank>() as f64 / 1e9;
            return Err(Refused(format!(
                "ranks = {ranks}: expected at most {MOST_RANKS}; empty ones take {need:.0} GB"
            )));
        }
        Ok(Builder { ranks: vec![RankBuilder::default(); ranks as usize], rest: Graph::default() })
    }

    /// A job of ranks that are built already, as a reader of files makes them one after the other. Errors: more than
    /// [`MOST_RANKS`].
    pub fn of(ranks: Vec<Rank>) -> Result<Graph, Refused> {
        if ranks.len() as u64 > MOST_RANKS {
            return Err(Refused(format!("ranks = {}: expected at most {MOST_RANKS}", ranks.len())));
        }
        let mut all = Ranks::new(ranks.len() as u64);
        ranks.into_iter().for_each(|rank| all.push(rank));
        Ok(all.finish())
    }

    fn rank(&mut self, rank: u32) -> Result<&mut RankBuilder, Refused> {
        let ranks = self.ranks.len();
        self.ranks.get_mut(rank as usize).ok_or_else(|| Refused(format!("rank {rank}: the job has {ranks}, from 0")))
    }
    /// Adds a task to a rank; returns its index there.
    pub fn task(&mut self, rank: u32, task: Task) -> Result<u32, Refused> {
        self.rank(rank)?.task(task)
    }
    /// Number of tasks of a rank so far.
    pub fn tasks(&self, rank: u32) -> usize {
        self.ranks.get(rank as usize).map_or(0, RankBuilder::tasks)
    }
    /// Makes `later` wait for the end of `earlier`, both of this rank.
    pub fn requires(&mut self, rank: u32, later: u32, earlier: u32) -> Result<(), Refused> {
        self.rank(rank)?.requires(later, earlier)
    }
    /// Makes `later` wait for the start of `earlier`, both of this rank.
    pub fn irequires(&mut self, rank: u32, later: u32, earlier: u32) -> Result<(), Refused> {
        self.rank(rank)?.irequires(later, earlier)
    }
    /// Adds a group of ranks; returns its index. The linter names groups that are empty or have unknown ranks.
    pub fn group(&mut self, ranks: impl Into<Box<[u32]>>) -> u32 {
        self.rest.groups.push(ranks.into());
        (self.rest.groups.len() - 1) as u32
    }
    /// Ranks of a group so far, by position; empty for an unknown group.
    pub fn members(&self, group: u32) -> &[u32] {
        self.rest.group(group)
    }
    /// Adds a collective; returns its index, for [`Task::collective`].
    pub fn collective(&mut self, collective: Collective) -> u32 {
        self.rest.collectives.push(collective);
        (self.rest.collectives.len() - 1) as u32
    }
    /// The graph.
    pub fn finish(self) -> Graph {
        let mut all = Ranks::new(self.ranks.len() as u64);
        self.ranks.into_iter().for_each(|rank| all.push(rank.finish()));
        Graph { ranks: all.done, ..self.rest }
    }
}
