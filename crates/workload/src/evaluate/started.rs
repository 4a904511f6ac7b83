//! Counters of the tasks of a run, and what a run leaves.

use crate::graph::Graph;
use incast_cc::Time;

/// Tasks that a run names among those that never ended.
pub(super) const NAMED: usize = 16;

/// Result of a run.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Outcome {
    /// Time at which the last task ends.
    pub end: Time,
    /// Tasks that ended.
    pub ended: u64,
    /// Tasks of the graph.
    pub tasks: u64,
    /// Tasks that started and did not end, at most 16 of each kind.
    pub stuck: Vec<Stuck>,
}

impl Outcome {
    /// Returns whether all tasks ended.
    pub fn is_whole(&self) -> bool {
        self.ended == self.tasks
    }
}

/// A task that started and never ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Stuck {
    /// A receive, by rank and task, without a message.
    Recv(u32, u32),
    /// A send, by rank and task, whose message nobody took.
    Send(u32, u32),
    /// A collective, by rank and task, that other members did not join.
    Collective(u32, u32),
}

/// Dependencies that tasks still wait for.
pub(super) struct Waits {
    left: Vec<Vec<u32>>,
}

impl Waits {
    pub fn new(graph: &Graph) -> Waits {
        Waits { left: graph.iter().map(|(_, rank)| rank.all_waits().to_vec()).collect() }
    }

    /// Counts the end of a task, or its start, for those that wait for it; calls `ready` for each that waits for
    /// nothing more.
    #[inline]
    pub fn count(&mut self, rank: u32, successors: &[u32], mut ready: impl FnMut(u32)) {
        let left = &mut self.left[rank as usize];
        for &task in successors {
            let waits = &mut left[task as usize];
            *waits -= 1;
            if *waits == 0 {
                ready(task);
            }
        }
    }
}
