//! Members of a collective that is one task a member: each ends when the data that it needs can be there.
//!
//! A member of an all-reduce, a reduce-scatter, an all-gather, an all-to-all or a barrier needs data of all others, one
//! of a broadcast that of the root, the root of a reduce that of all. With sizes of pairs, a member needs those that
//! have something for it. A sender that nobody keeps waiting ends with its start.

use super::least;
use super::network::Network;
use crate::graph::{Collective, Pattern};
use incast_cc::{Bytes, Time};
use std::collections::BTreeSet;

/// Rank and task of a member.
type Task = (u32, u32);

/// End of a member, and the other member whose start decided it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct End {
    pub task: Task,
    pub time: Time,
    pub cause: Option<Task>,
}

/// Start of a member.
#[derive(Clone, Copy, Debug)]
struct Start {
    time: Time,
    task: Task,
}

/// Members of a collective that have started.
pub(super) struct Gathering {
    /// Members.
    n: u64,
    joined: u64,
    /// Members without an end.
    waiting: Vec<Task>,
    /// The first two starts, and the last one.
    first: Option<Start>,
    second: Option<Start>,
    last: Option<Start>,
    root: Option<Start>,
    /// By position, of a collective with sizes of pairs.
    pairs: Vec<Pair>,
}

/// Member of a collective with sizes of pairs.
#[derive(Clone, Copy, Debug)]
struct Pair {
    start: Option<Start>,
    /// Itself and those that have data for it, without those that have started.
    missing: usize,
}

impl Gathering {
    pub fn new(what: &Collective, n: u64) -> Gathering {
        let sources = |to| (0..n).filter(|from| *from != to && least::pair(what, n, *from, to) > 0).count();
        let count = if what.sizes.is_some() { n } else { 0 };
        let pairs = (0..count).map(|to| Pair { start: None, missing: 1 + sources(to) }).collect();
        Gathering { n, joined: 0, waiting: Vec::new(), first: None, second: None, last: None, root: None, pairs }
    }

    /// Time at which some member ends at the earliest, and the first member: of the bytes of [`least::moved`] none
    /// leaves before the first start. `None` until all members have started.
    pub fn late(&self, what: &Collective, network: Network) -> Option<(Time, Task)> {
        let first = self.first.filter(|_| self.joined == self.n)?;
        Some((first.time.saturating_add(network.collective(what, self.n)), first.task))
    }

    /// Returns whether all members have started and have an end.
    pub fn is_over(&self) -> bool {
        self.joined == self.n && self.waiting.is_empty()
    }

    /// Members that have started and not ended.
    pub fn waiting(&self) -> &[Task] {
        &self.waiting
    }

    /// Lets the member at a position start; returns those that have an end now.
    pub fn join(&mut self, what: &Collective, network: Network, time: Time, own: (u64, Task)) -> Vec<End> {
        let (position, task) = own;
        let own = self.start(time, task);
        let is_root = position == u64::from(what.root);
        let ends = match what.pattern {
            Pattern::Broadcast => self.broadcast(own, is_root, network.message(what.bytes)),
            Pattern::Reduce => self.reduce(own, is_root, network.message(what.bytes)),
            _ if what.sizes.is_some() => self.exchange(own, position, what, network),
            _ => {
                let last = network.message(least::from_last(what, self.n));
                self.all(own, last, network.message(least::received(what, self.n)))
            }
        };
        self.last = Some(own);
        ends
    }

    /// Lets a member start where members wait for each other: all end some time after the last start.
    pub fn join_all(&mut self, what: &Collective, network: Network, time: Time, task: Task) -> Vec<End> {
        let own = self.start(time, task);
        self.waiting.push(task);
        if self.joined < self.n {
            return Vec::new();
        }
        let end = time.saturating_add(network.collective(what, self.n));
        let of = |member| End { task: member, time: end, cause: (member != own.task).then_some(own.task) };
        std::mem::take(&mut self.waiting).into_iter().map(of).collect()
    }

    fn start(&mut self, time: Time, task: Task) -> Start {
        let own = Start { time, task };
        self.joined += 1;
        match self.first {
            None => self.first = Some(own),
            Some(_) => self.second = self.second.or(Some(own)),
        }
        own
    }

    /// Each member needs data of all others: some time after the last of them, and `received` after the first of them.
    fn all(&mut self, own: Start, after_last: Time, received: Time) -> Vec<End> {
        self.waiting.push(own.task);
        if self.joined < self.n {
            return Vec::new();
        }
        let (first, second, before) = (self.first, self.second, self.last);
        let of = |task: Task| {
            let last = if task == own.task { before } else { Some(own) };
            let first = if first.is_some_and(|first| first.task == task) { second } else { first };
            own.ends(task, &[(last, after_last), (first, received)])
        };
        std::mem::take(&mut self.waiting).into_iter().map(of).collect()
    }

    fn broadcast(&mut self, own: Start, is_root: bool, message: Time) -> Vec<End> {
        if is_root {
            self.root = Some(own);
            let others = std::mem::take(&mut self.waiting);
            let mut ends: Vec<End> = others.into_iter().map(|task| own.ends(task, &[(Some(own), message)])).collect();
            ends.push(own.ends(own.task, &[]));
            return ends;
        }
        if self.root.is_none() {
            self.waiting.push(own.task);
            return Vec::new();
        }
        vec![own.ends(own.task, &[(self.root, message)])]
    }

    fn reduce(&mut self, own: Start, is_root: bool, message: Time) -> Vec<End> {
        let mut ends = Vec::new();
        if is_root {
            self.root = Some(own);
            self.waiting.push(own.task);
        } else {
            ends.push(own.ends(own.task, &[]));
        }
        if let Some(root) = self.root.filter(|_| self.joined == self.n) {
            self.waiting.clear();
            let last = if is_root { self.last } else { Some(own) };
            ends.push(own.ends(root.task, &[(last, message)]));
        }
        ends
    }

    fn exchange(&mut self, own: Start, position: u64, what: &Collective, network: Network) -> Vec<End> {
        self.waiting.push(own.task);
        let n = self.n;
        if let Some(pair) = self.pairs.get_mut(position as usize) {
            pair.start = Some(own);
        }
        let mut ends = Vec::new();
        for to in 0..n {
            if to == position || least::pair(what, n, position, to) > 0 {
                let pair = &mut self.pairs[to as usize];
                pair.missing = pair.missing.saturating_sub(1);
                if let Some(member) = pair.start.filter(|_| pair.missing == 0) {
                    let message = |from: u64| network.message(Bytes(least::pair(what, n, from, to)));
                    let has = |from: &u64| *from != to && least::pair(what, n, *from, to) > 0;
                    let start = |from: u64| self.pairs[from as usize].start;
                    let mut causes: Vec<_> = (0..n).filter(has).map(|from| (start(from), message(from))).collect();
                    let first = causes.iter().filter_map(|(start, _)| *start).min_by_key(|start| start.time);
                    causes.push((first, network.message(least::own(what, n, to).1)));
                    ends.push(own.ends(member.task, &causes));
                }
            }
        }
        let ended: BTreeSet<Task> = ends.iter().map(|end| end.task).collect();
        self.waiting.retain(|task| !ended.contains(task));
        ends
    }
}

impl Start {
    /// End of a member, not before this start, which is the latest, and some time after each of others.
    fn ends(self, task: Task, after: &[(Option<Start>, Time)]) -> End {
        let mut end = End { task, time: self.time, cause: (task != self.task).then_some(self.task) };
        for (start, span) in after {
            let Some(start) = start else { continue };
            let time = start.time.saturating_add(*span);
            if time > end.time {
                end = End { task, time, cause: Some(start.task) };
            }
        }
        end
    }
}
