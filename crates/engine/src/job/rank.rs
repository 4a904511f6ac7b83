//! One rank: its tasks, the streams of its calculations, and its receives.
//!
//! Source of the rules: GOAL as LogGOPSim has it (spcl/LogGOPSim 76451de), without its network. A task starts when all
//! that it waits for has ended, or started. Calculations of one stream exclude each other, in the order in which they
//! became ready, and at one instant in the order of their numbers. A receive takes the earliest message that has
//! arrived with its source and tag, and a message the receive that was posted first.

use super::account::Account;
use super::times::{Arrived, TaskTimes};
use incast_cc::Time;
use incast_workload::matching::Mailbox;
use incast_workload::{Kind, Rank};
use std::collections::VecDeque;
use std::mem::take;

/// Next act of a rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Act {
    /// A calculation on `stream` ends at `until`.
    Calculate {
        /// Stream.
        stream: u8,
        /// End.
        until: Time,
    },
    /// The message of a task sets out.
    Send {
        /// The sending task.
        task: u32,
    },
    /// All tasks of the iteration have ended.
    Done,
}

/// Calculations of one stream.
#[derive(Clone, Default, Debug)]
struct Stream {
    /// Task under way.
    busy: Option<u32>,
    /// Ready tasks, in order.
    ready: VecDeque<u32>,
}

/// State of a rank.
#[derive(Debug)]
pub struct RankState {
    /// Number that every task still waits for.
    waits: Vec<u32>,
    /// Tasks that have not ended.
    left: u32,
    /// Iterations that have ended.
    pub ended: u32,
    streams: Vec<Stream>,
    /// Receives and messages that wait for each other.
    mailbox: Mailbox<u32>,
    /// Tasks that are ready and not started.
    ready: Vec<u32>,
    /// Calculations take so many times as long.
    factor: f64,
    /// True if a send ends when it is written.
    written: bool,
    /// Start of the iteration.
    pub begun: Time,
    /// Time by what the rank does, in this iteration.
    pub account: Account,
    /// Times of the tasks, where they are recorded.
    pub times: Option<Box<TaskTimes>>,
}

impl RankState {
    /// State before the job begins. Calculations take `factor` times as long as the graph says; a send ends when it is
    /// `written`, or else acknowledged.
    pub fn new(rank: &Rank, factor: f64, written: bool) -> RankState {
        let streams = rank.iter().filter(|(_, task)| task.kind == Kind::Calc).map(|(_, task)| task.stream as usize + 1);
        let streams = vec![Stream::default(); streams.max().unwrap_or(0)];
        RankState {
            waits: Vec::new(),
            left: 0,
            ended: 0,
            streams,
            mailbox: Mailbox::new(rank.is_wild()),
            ready: Vec::new(),
            factor,
            written,
            begun: Time::ZERO,
            account: Account::default(),
            times: None,
        }
    }

    /// Begins an iteration at `now`.
    pub fn begin(&mut self, rank: &Rank, now: Time, acts: &mut Vec<Act>) {
        self.begun = now;
        self.account.begin(now);
        let iteration = self.ended;
        self.note(|times| times.begin(iteration));
        self.waits.clear();
        self.waits.extend_from_slice(rank.all_waits());
        self.left = rank.tasks() as u32;
        self.ready.extend((0..self.left).filter(|i| rank.waits(*i) == 0));
        if self.left == 0 {
            self.end_iteration(now, acts);
        }
        self.go_on(rank, now, acts);
    }

    /// The calculation of `stream` ends at `now`.
    pub fn calculated(&mut self, rank: &Rank, stream: u8, now: Time, acts: &mut Vec<Act>) {
        let Some(task) = self.streams.get_mut(stream as usize).and_then(|stream| stream.busy.take()) else { return };
        self.account.calculates(now, false);
        self.end(rank, task, now, acts);
        self.go_on(rank, now, acts);
    }

    /// The last byte of the message of `task` is acknowledged at `now`.
    pub fn sent(&mut self, rank: &Rank, task: u32, now: Time, acts: &mut Vec<Act>) {
        self.account.communicates(now, false);
        self.note(|times| times.acknowledged(task, now));
        if !self.written {
            self.end(rank, task, now, acts);
            self.go_on(rank, now, acts);
        }
    }

    /// The first byte of a message to this rank may arrive from `now` on.
    pub fn coming(&mut self, now: Time) {
        self.account.communicates(now, true);
    }

    /// The last byte of a message has arrived at `now`.
    pub fn arrived(&mut self, rank: &Rank, message: Arrived, now: Time, acts: &mut Vec<Act>) {
        self.account.communicates(now, false);
        let number = self.times.as_mut().map_or(0, |times| times.arrived(message, now));
        if let Some(task) = self.mailbox.arrive((message.from, message.tag), number) {
            self.note(|times| times.met(task, number));
            self.end(rank, task, now, acts);
            self.go_on(rank, now, acts);
        }
    }

    /// True if an iteration is under way.
    pub fn is_busy(&self) -> bool {
        self.left > 0
    }

    /// Tasks that have not ended.
    pub fn left(&self) -> u32 {
        self.left
    }

    /// First receive that waits for its message.
    pub fn waiting(&self) -> Option<u32> {
        self.mailbox.left().0.first().copied()
    }

    /// Starts what is ready, and what becomes ready by that at this instant.
    fn go_on(&mut self, rank: &Rank, now: Time, acts: &mut Vec<Act>) {
        loop {
            let mut ready = take(&mut self.ready);
            ready.sort_unstable();
            ready.drain(..).for_each(|task| self.start(rank, task, now, acts));
            if self.ready.is_empty() {
                self.ready = ready;
            }
            (0..self.streams.len()).for_each(|stream| self.serve(rank, stream, now, acts));
            if self.ready.is_empty() {
                return;
            }
        }
    }

    fn start(&mut self, rank: &Rank, task: u32, now: Time, acts: &mut Vec<Act>) {
        let own = rank.task(task);
        self.note(|times| times.ready(task, own, now));
        match own.kind {
            Kind::Calc => self.streams[own.stream as usize].ready.push_back(task),
            Kind::Send => {
                self.release(rank.successors(task).1);
                self.account.communicates(now, true);
                acts.push(Act::Send { task });
                if self.written {
                    self.end(rank, task, now, acts);
                }
            }
            Kind::Recv => {
                self.release(rank.successors(task).1);
                if let Some(message) = self.mailbox.post((own.peer, own.tag), task) {
                    self.note(|times| times.met(task, message));
                    self.end(rank, task, now, acts);
                }
            }
            Kind::Nop | Kind::Collective => {
                self.release(rank.successors(task).1);
                self.end(rank, task, now, acts);
            }
        }
    }

    /// Begins the next calculation of a stream that is free.
    fn serve(&mut self, rank: &Rank, stream: usize, now: Time, acts: &mut Vec<Act>) {
        while self.streams[stream].busy.is_none() {
            let Some(task) = self.streams[stream].ready.pop_front() else { return };
            self.release(rank.successors(task).1);
            self.note(|times| times.starts(task, now));
            let duration = self.takes(rank.task(task).duration());
            if duration == Time::ZERO {
                self.end(rank, task, now, acts);
                continue;
            }
            self.streams[stream].busy = Some(task);
            self.account.calculates(now, true);
            acts.push(Act::Calculate { stream: stream as u8, until: now.saturating_add(duration) });
        }
    }

    /// Notes a time, where they are recorded.
    fn note(&mut self, what: impl FnOnce(&mut TaskTimes)) {
        if let Some(times) = &mut self.times {
            what(times);
        }
    }

    fn takes(&self, duration: Time) -> Time {
        if self.factor == 1.0 { duration } else { Time((duration.0 as f64 * self.factor).round() as u64) }
    }

    fn end(&mut self, rank: &Rank, task: u32, now: Time, acts: &mut Vec<Act>) {
        self.note(|times| times.ended(task, now));
        self.release(rank.successors(task).0);
        self.left -= 1;
        if self.left == 0 {
            self.end_iteration(now, acts);
        }
    }

    fn end_iteration(&mut self, now: Time, acts: &mut Vec<Act>) {
        self.account.advance(now);
        self.ended += 1;
        acts.push(Act::Done);
    }

    /// Counts down what `tasks` wait for.
    fn release(&mut self, tasks: &[u32]) {
        for task in tasks {
            let waits = &mut self.waits[*task as usize];
            *waits -= 1;
            if *waits == 0 {
                self.ready.push(*task);
            }
        }
    }
}
