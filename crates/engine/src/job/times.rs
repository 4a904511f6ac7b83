//! Times of the tasks of a rank, where they are recorded.

use incast_cc::Time;
use incast_record::{TaskKind, TaskRecord};
use incast_workload::{ANY, Kind, Task};
use std::collections::BTreeMap;

/// Message that has arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrived {
    /// Rank that sent it.
    pub from: u32,
    /// Tag.
    pub tag: u32,
    /// Task of the sender.
    pub task: u32,
    /// Earliest time at which its first byte could arrive.
    pub since: Time,
    /// Time from its start to the arrival of its last byte.
    pub took: Time,
}

/// A message that has arrived, and when.
#[derive(Clone, Copy, Debug)]
struct Met {
    message: Arrived,
    at: Time,
}

/// Times of the tasks of one rank.
#[derive(Debug)]
pub struct TaskTimes {
    job: u32,
    rank: u32,
    iteration: u32,
    /// Tasks of the iteration that are ready and have not ended.
    open: BTreeMap<u32, TaskRecord>,
    /// Sends that have ended and whose messages are under way, in the order of their starts.
    under_way: Vec<TaskRecord>,
    /// Messages that no receive has taken, by number.
    arrived: BTreeMap<u32, Met>,
    /// Number of the next message.
    next: u32,
    /// Tasks of which all is known.
    known: Vec<TaskRecord>,
}

impl TaskTimes {
    /// Times of a rank of a job.
    pub fn new(job: u32, rank: u32) -> TaskTimes {
        TaskTimes {
            job,
            rank,
            iteration: 0,
            open: BTreeMap::new(),
            under_way: Vec::new(),
            arrived: BTreeMap::new(),
            next: 0,
            known: Vec::new(),
        }
    }

    /// The rank begins an iteration.
    pub(super) fn begin(&mut self, iteration: u32) {
        self.iteration = iteration;
    }

    /// All that a task waits for has happened; a calculation waits for its stream.
    pub(super) fn ready(&mut self, number: u32, task: Task, now: Time) {
        let kind = match task.kind {
            Kind::Calc => TaskKind::Calc,
            Kind::Send => TaskKind::Send,
            Kind::Recv => TaskKind::Recv,
            Kind::Collective => TaskKind::Collective,
            Kind::Nop => return,
        };
        let has_message = matches!(kind, TaskKind::Send | TaskKind::Recv);
        let known = |own: u32| Some(own).filter(|own| has_message && *own != ANY);
        let record = TaskRecord {
            job: self.job,
            rank: self.rank,
            iteration: self.iteration,
            task: number,
            kind,
            stream: u32::from(task.stream),
            peer: known(task.peer),
            peer_task: None,
            tag: known(task.tag),
            bytes: task.bytes().0,
            ready_ps: now.0,
            start_ps: (kind != TaskKind::Calc).then_some(now.0),
            finish_ps: None,
            message_start_ps: (kind == TaskKind::Send).then_some(now.0),
            message_finish_ps: None,
        };
        self.open.insert(number, record);
    }

    /// A calculation begins.
    pub(super) fn starts(&mut self, task: u32, now: Time) {
        if let Some(record) = self.open.get_mut(&task) {
            record.start_ps = Some(now.0);
        }
    }

    /// A task ends.
    pub(super) fn ended(&mut self, task: u32, now: Time) {
        let Some(record) = self.open.remove(&task) else { return };
        let record = TaskRecord { finish_ps: Some(now.0), ..record };
        let goes_on = record.kind == TaskKind::Send && record.message_finish_ps.is_none();
        if goes_on { self.under_way.push(record) } else { self.known.push(record) }
    }

    /// The last byte of a message is acknowledged.
    pub(super) fn acknowledged(&mut self, task: u32, now: Time) {
        // of the messages of one task the earliest is acknowledged first
        if let Some(i) = self.under_way.iter().position(|record| record.task == task) {
            let record = self.under_way.remove(i);
            self.known.push(TaskRecord { message_finish_ps: Some(now.0), ..record });
        } else if let Some(record) = self.open.get_mut(&task) {
            record.message_finish_ps = Some(now.0);
        }
    }

    /// Numbers a message that has arrived.
    pub(super) fn arrived(&mut self, message: Arrived, now: Time) -> u32 {
        let number = self.next;
        self.next = number.wrapping_add(1);
        self.arrived.insert(number, Met { message, at: now });
        number
    }

    /// A receive takes a message; returns the time that it took.
    pub(super) fn met(&mut self, task: u32, message: u32) -> Time {
        let Some(Met { message, at }) = self.arrived.remove(&message) else { return Time::ZERO };
        if let Some(record) = self.open.get_mut(&task) {
            record.peer = Some(message.from);
            record.peer_task = Some(message.task);
            record.tag = Some(message.tag);
            record.message_start_ps = Some(message.since.0);
            record.message_finish_ps = Some(at.0);
        }
        message.took
    }

    /// Takes the tasks of which all is known.
    pub fn known(&mut self) -> impl Iterator<Item = TaskRecord> {
        self.known.drain(..)
    }

    /// Takes all tasks at the end of the run.
    pub fn rest(&mut self) -> impl Iterator<Item = TaskRecord> {
        let open = std::mem::take(&mut self.open).into_values();
        self.known.drain(..).chain(self.under_way.drain(..)).chain(open)
    }
}
