//! A graph whose collectives stay one task a member: their tasks are computed when a run asks for them.
//!
//! Tasks of a rank have the numbers of the expanded graph, and so have their tags: a run of either gives the same
//! bytes. The expansion keeps 16 B a member of a collective, and a [`Body`] for each position of collectives of one
//! size.

use super::body::Body;
use super::expand::tags;
use super::method::{Method, Methods};
use crate::graph::{Collective, Graph, Kind, Rank, Refused, Task};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

/// Member of a collective, as a task of its rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Member {
    /// Task of the graph.
    pub task: u32,
    /// Number of its first task.
    pub first: u32,
    /// First tag of its messages.
    tag: u32,
    body: u32,
}

/// Graph with the tasks of its collectives.
#[derive(Debug)]
pub struct Expansion {
    graph: Arc<Graph>,
    methods: Methods,
    /// Members of all ranks, in the order of ranks and tasks, and the first of each rank; empty without collectives.
    members: Vec<Member>,
    first: Vec<u32>,
    bodies: Vec<Body>,
    total: u64,
}

/// Size of a collective: members of the same size at the same position have the same tasks.
type Size<'g> = (u8, u64, u32, Option<&'g [u64]>, u64);

impl Expansion {
    /// Expansion of a graph. Errors: those of [`expand`](super::expand()); more than 2^32 tasks.
    pub fn new(graph: Arc<Graph>, methods: &Methods) -> Result<Expansion, Refused> {
        let none = || (Vec::new(), Vec::new(), Vec::new());
        let ((members, first, bodies), total) = match graph.collectives().is_empty() {
            true => (none(), graph.total()),
            false => Expansion::members(&graph, methods)?,
        };
        if total > u64::from(u32::MAX) {
            let expected = "expected at most 2^32: larger chunks, or fewer ranks";
            return Err(Refused(format!("{total} tasks with those of collectives: {expected}")));
        }
        Ok(Expansion { members, first, bodies, total, methods: methods.clone(), graph })
    }

    /// Members of all ranks, the first of each rank, and bodies; number of all tasks.
    #[allow(clippy::type_complexity)] // what a new expansion consists of
    fn members(graph: &Graph, methods: &Methods) -> Result<((Vec<Member>, Vec<u32>, Vec<Body>), u64), Refused> {
        let tags = tags(graph, methods)?;
        let mut sizes: HashMap<Size<'_>, u32> = HashMap::new();
        let size_of = |what: &'_ Collective, n: u64| (what.pattern as u8, what.bytes.0, what.root, n);
        let mut size_numbers = Vec::with_capacity(graph.collectives().len());
        for what in graph.collectives() {
            let n = graph.group(what.group).len() as u64;
            let (pattern, bytes, root, n) = size_of(what, n);
            let next = sizes.len() as u32;
            size_numbers.push(*sizes.entry((pattern, bytes, root, what.sizes.as_deref(), n)).or_insert(next));
        }
        let mut known: HashMap<(u32, u32), u32> = HashMap::new();
        let (mut members, mut first, mut bodies) = (Vec::new(), vec![0], Vec::new());
        let mut total = 0;
        for (rank, tasks) in graph.iter() {
            let mut more = 0u64;
            for (i, task) in tasks.iter().filter(|(_, task)| task.kind == Kind::Collective) {
                let unknown = || Refused(format!("task {rank}:{i}: collective {} is unknown", task.tag));
                let what = graph.collective(task.tag).ok_or_else(unknown)?;
                let group = graph.group(what.group);
                if group.get(task.peer as usize) != Some(&rank) {
                    let what = format!("task {rank}:{i}: position {} of group {}", task.peer, what.group);
                    return Err(Refused(format!("{what}; expected the position of rank {rank}")));
                }
                let key = (size_numbers[task.tag as usize], task.peer);
                let body = match known.get(&key) {
                    Some(body) => *body,
                    None => {
                        bodies.push(Body::new(what, group.len() as u64, task.peer, methods.of(what.pattern))?);
                        known.insert(key, bodies.len() as u32 - 1);
                        bodies.len() as u32 - 1
                    }
                };
                members.push(Member {
                    task: i,
                    first: (u64::from(i) + more).min(u32::MAX.into()) as u32,
                    tag: tags[task.tag as usize],
                    body,
                });
                more += u64::from(bodies[body as usize].tasks()) - 1;
            }
            total += tasks.tasks() as u64 + more;
            first.push(members.len() as u32);
        }
        Ok(((members, first, bodies), total))
    }

    /// The graph, with collectives as tasks.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Methods of the collectives.
    pub fn methods(&self) -> &Methods {
        &self.methods
    }

    /// Number of tasks of all ranks, those of collectives included.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Tasks of a rank; none of an unknown one.
    pub fn rank(&self, rank: u32) -> Tasks<'_> {
        static NONE: LazyLock<Rank> = LazyLock::new(Rank::default);
        let own = self.graph.rank(rank).unwrap_or(&NONE);
        let range = self.first.get(rank as usize).zip(self.first.get(rank as usize + 1));
        let members = range.and_then(|(from, to)| self.members.get(*from as usize..*to as usize));
        Tasks { all: self, rank: own, members: members.unwrap_or_default() }
    }

    /// Pairs of ranks with messages from the first to the second, in order.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..self.graph.ranks() as u32).flat_map(|rank| {
            let mut to = Vec::new();
            self.messages(rank, |peer, _, _| to.push(peer));
            to.sort_unstable();
            to.dedup();
            to.into_iter().map(move |peer| (rank, peer))
        })
    }

    /// Calls `to` with the ranks to which a rank sends, tags, and numbers of messages; some of them several times.
    pub fn messages(&self, rank: u32, mut to: impl FnMut(u32, u32, u64)) {
        let tasks = self.rank(rank);
        for i in (0..tasks.rank.tasks() as u32).filter(|i| tasks.rank.kind(*i) == Kind::Send) {
            let task = tasks.rank.task(i);
            to(task.peer, task.tag, 1);
        }
        for member in tasks.members {
            let (_, group, order) = tasks.place(member);
            let own = |position: u32, tag: u32, messages| to(group[position as usize], member.tag + tag, messages);
            self.bodies[member.body as usize].receivers(order, own);
        }
    }
}

/// Tasks of a rank, those of collectives included, by number.
#[derive(Clone, Copy, Debug)]
pub struct Tasks<'e> {
    all: &'e Expansion,
    rank: &'e Rank,
    members: &'e [Member],
}

/// Place of a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum At {
    /// Task of the graph.
    Graph(u32),
    /// Task of a collective: the member among those of the rank, and the number in the member.
    Member(usize, u32),
}

impl<'e> Tasks<'e> {
    /// The rank of the graph.
    pub fn rank(self) -> &'e Rank {
        self.rank
    }

    /// Number of tasks.
    pub fn count(self) -> u32 {
        let more = self.members.last().map_or(0, |last| last.first - last.task + self.body(last).tasks() - 1);
        self.rank.tasks() as u32 + more
    }

    fn body(self, member: &Member) -> &'e Body {
        &self.all.bodies[member.body as usize]
    }

    /// A member, by its place among those of the rank.
    pub fn member(self, member: usize) -> &'e Member {
        &self.members[member]
    }

    /// The last task of a member.
    pub fn last(self, member: usize) -> u32 {
        self.body(&self.members[member]).tasks() - 1
    }

    /// Place of a task.
    #[inline]
    pub fn at(self, number: u32) -> At {
        if self.members.is_empty() {
            return At::Graph(number);
        }
        let after = self.members.partition_point(|member| member.first <= number);
        let Some(last) = after.checked_sub(1) else { return At::Graph(number) };
        let member = &self.members[last];
        let (local, tasks) = (number - member.first, self.body(member).tasks());
        if local < tasks { At::Member(last, local) } else { At::Graph(member.task + 1 + local - tasks) }
    }

    /// Number of a task of the graph; of a collective, that of its first task.
    #[inline]
    pub fn number(self, task: u32) -> u32 {
        if self.members.is_empty() {
            return task;
        }
        let before = self.members.partition_point(|member| member.task <= task);
        match before.checked_sub(1).map(|last| &self.members[last]) {
            None => task,
            Some(member) if member.task == task => member.first,
            Some(member) => member.first + self.body(member).tasks() + task - member.task - 1,
        }
    }

    /// Number of the task at a place.
    #[inline]
    pub fn number_at(self, at: At) -> u32 {
        match at {
            At::Graph(task) => self.number(task),
            At::Member(member, local) => self.members[member].first + local,
        }
    }

    /// Collective of a member, its group, and the order of its ring.
    fn place(self, member: &Member) -> (Task, &'e [u32], &'e [u32]) {
        let (own, graph) = (self.rank.task(member.task), &self.all.graph);
        let Some(what) = graph.collective(own.tag) else { return (own, &[], &[]) };
        let method: &Method = self.all.methods.of(what.pattern);
        (own, graph.group(what.group), &method.order)
    }

    /// A task.
    pub fn task(self, number: u32) -> Task {
        self.task_at(self.at(number))
    }

    /// The task at a place.
    pub fn task_at(self, at: At) -> Task {
        match at {
            At::Graph(task) => self.rank.task(task),
            At::Member(member, local) => {
                let member = &self.members[member];
                let (own, group, order) = self.place(member);
                let task = self.body(member).task(local, order);
                let marked = Task { stream: own.stream, ..task };
                match task.kind {
                    Kind::Send | Kind::Recv => Task {
                        nic: own.nic,
                        tag: member.tag + task.tag,
                        peer: group.get(task.peer as usize).copied().unwrap_or(0),
                        ..marked
                    },
                    _ => marked,
                }
            }
        }
    }

    /// Number of ends that a task of a member waits for.
    pub fn waits_inside(self, member: usize, local: u32) -> u32 {
        self.body(&self.members[member]).waits(local)
    }

    /// Calls `next` with each task of a member that waits for the end of another of it.
    pub fn successors_inside(self, member: usize, local: u32, next: impl FnMut(u32)) {
        self.body(&self.members[member]).successors(local, next);
    }

    /// All tasks with their numbers.
    pub fn iter(self) -> impl Iterator<Item = (u32, Task)> + 'e {
        (0..self.count()).map(move |i| (i, self.task(i)))
    }
}
