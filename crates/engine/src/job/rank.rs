//! One rank: its tasks, the streams of its calculations, and its receives.
//!
//! Source of the rules: GOAL as LogGOPSim has it (spcl/LogGOPSim 76451de), without its network. A task starts when all
//! that it waits for has ended, or started. Calculations of one stream exclude each other, in the order in which they
//! became ready, and at one instant in the order of their numbers. A receive takes the earliest message that has
//! arrived with its source and tag, and a message the receive that was posted first.
//!
//! A collective is one task of the rank until it starts. Then its tasks begin, which are computed one by one
//! ([`Tasks`]); what the rank keeps of them is what waits for several ends and has had some of them.

use super::account::Account;
use super::times::{Arrived, TaskTimes};
use incast_cc::Time;
use incast_workload::collective::{At, Tasks};
use incast_workload::matching::{Mailbox, Quick};
use incast_workload::{Kind, Rank, Task};
use std::cmp::Reverse;
use std::collections::{HashMap, VecDeque};
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
        /// Number of the sending task.
        task: u32,
        /// The sending task.
        own: Task,
    },
    /// The rank's part in a collective ends.
    Leave(Part),
    /// All tasks of the iteration have ended.
    Done,
}

/// Part of a rank in a collective that is under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    /// Number among the collectives of the rank.
    pub member: usize,
    /// Number of the iteration, from 0.
    pub iteration: u32,
    /// Start.
    pub start: Time,
    /// Longest time of a message received in it, and its sender, the lowest of several.
    pub longest: Option<(Time, Reverse<u32>)>,
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
    /// Number that every task of the graph still waits for.
    waits: Vec<u32>,
    /// Numbers that tasks of collectives still wait for, where these are fewer than at the start.
    partly: HashMap<u32, u32, Quick>,
    /// Collectives under way.
    pub parts: Vec<Part>,
    /// Tasks that have not ended.
    left: u32,
    /// Iterations that have ended.
    pub ended: u32,
    streams: Vec<Stream>,
    /// Receives by task, and messages by the time that they took, or by number where times are recorded, which wait
    /// for each other.
    mailbox: Mailbox<u64>,
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
        let calculates = |kind| matches!(kind, Kind::Calc | Kind::Collective);
        let streams = rank.iter().filter(|(_, task)| calculates(task.kind)).map(|(_, task)| task.stream as usize + 1);
        let streams = vec![Stream::default(); streams.max().unwrap_or(0)];
        RankState {
            waits: Vec::new(),
            partly: HashMap::default(),
            parts: Vec::new(),
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
    pub fn begin(&mut self, tasks: Tasks<'_>, now: Time, acts: &mut Vec<Act>) {
        let rank = tasks.rank();
        self.begun = now;
        self.account.begin(now);
        let iteration = self.ended;
        self.note(|times| times.begin(iteration));
        self.waits.clear();
        self.waits.extend_from_slice(rank.all_waits());
        self.left = tasks.count();
        self.ready.extend((0..rank.tasks() as u32).filter(|i| rank.waits(*i) == 0).map(|i| tasks.number(i)));
        if self.left == 0 {
            self.end_iteration(now, acts);
        }
        self.go_on(tasks, now, acts);
    }

    /// The calculation of `stream` ends at `now`.
    pub fn calculated(&mut self, tasks: Tasks<'_>, stream: u8, now: Time, acts: &mut Vec<Act>) {
        let Some(task) = self.streams.get_mut(stream as usize).and_then(|stream| stream.busy.take()) else { return };
        self.account.calculates(now, false);
        self.end(tasks, tasks.at(task), now, acts);
        self.go_on(tasks, now, acts);
    }

    /// The last byte of the message of `task` is acknowledged at `now`.
    pub fn sent(&mut self, tasks: Tasks<'_>, task: u32, now: Time, acts: &mut Vec<Act>) {
        self.account.communicates(now, false);
        self.note(|times| times.acknowledged(task, now));
        if !self.written {
            self.end(tasks, tasks.at(task), now, acts);
            self.go_on(tasks, now, acts);
        }
    }

    /// The first byte of a message to this rank may arrive from `now` on.
    pub fn coming(&mut self, now: Time) {
        self.account.communicates(now, true);
    }

    /// The last byte of a message has arrived at `now`.
    pub fn arrived(&mut self, tasks: Tasks<'_>, message: Arrived, now: Time, acts: &mut Vec<Act>) {
        self.account.communicates(now, false);
        let number = self.times.as_mut().map(|times| u64::from(times.arrived(message, now)));
        let waits = number.unwrap_or(message.took.0);
        if let Some(task) = self.mailbox.arrive((message.from, message.tag), waits) {
            let task = task as u32;
            let at = tasks.at(task);
            let took = self.met(task, waits);
            self.received(at, took, message.from);
            self.end(tasks, at, now, acts);
            self.go_on(tasks, now, acts);
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
        self.mailbox.left().0.first().map(|task| *task as u32)
    }

    /// Starts what is ready, and what becomes ready by that at this instant.
    fn go_on(&mut self, tasks: Tasks<'_>, now: Time, acts: &mut Vec<Act>) {
        loop {
            let mut ready = take(&mut self.ready);
            ready.sort_unstable();
            ready.drain(..).for_each(|task| self.start(tasks, task, now, acts));
            if self.ready.is_empty() {
                self.ready = ready;
            }
            (0..self.streams.len()).for_each(|stream| self.serve(tasks, stream, now, acts));
            if self.ready.is_empty() {
                return;
            }
        }
    }

    fn start(&mut self, tasks: Tasks<'_>, task: u32, now: Time, acts: &mut Vec<Act>) {
        let at = tasks.at(task);
        let own = tasks.task_at(at);
        self.note(|times| times.ready(task, own, now));
        match own.kind {
            Kind::Calc => self.streams[own.stream as usize].ready.push_back(task),
            Kind::Send => {
                self.started(tasks, at);
                self.account.communicates(now, true);
                acts.push(Act::Send { task, own });
                if self.written {
                    self.end(tasks, at, now, acts);
                }
            }
            Kind::Recv => {
                self.started(tasks, at);
                if let Some(message) = self.mailbox.post((own.peer, own.tag), task.into()) {
                    let took = self.met(task, message);
                    self.received(at, took, own.peer);
                    self.end(tasks, at, now, acts);
                }
            }
            Kind::Nop | Kind::Collective => {
                self.started(tasks, at);
                if let At::Member(member, 0) = at {
                    self.parts.push(Part { member, iteration: self.ended, start: now, longest: None });
                }
                self.end(tasks, at, now, acts);
            }
        }
    }

    /// Begins the next calculation of a stream that is free.
    fn serve(&mut self, tasks: Tasks<'_>, stream: usize, now: Time, acts: &mut Vec<Act>) {
        while self.streams[stream].busy.is_none() {
            let Some(task) = self.streams[stream].ready.pop_front() else { return };
            let at = tasks.at(task);
            self.started(tasks, at);
            self.note(|times| times.starts(task, now));
            let duration = self.takes(tasks.task_at(at).duration());
            if duration == Time::ZERO {
                self.end(tasks, at, now, acts);
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

    /// Notes that a receive takes a message, as the mailbox has it; returns the time that the message took.
    fn met(&mut self, task: u32, message: u64) -> Time {
        self.times.as_mut().map_or(Time(message), |times| times.met(task, message as u32))
    }

    /// Notes a message that a receive has taken.
    fn received(&mut self, at: At, took: Time, from: u32) {
        if let At::Member(member, _) = at
            && let Some(part) = self.parts.iter_mut().find(|part| part.member == member)
        {
            part.longest = part.longest.max(Some((took, Reverse(from))));
        }
    }

    /// Counts down what waits for the start of a task.
    fn started(&mut self, tasks: Tasks<'_>, at: At) {
        match at {
            At::Graph(task) => self.release(tasks, tasks.rank().successors(task).1),
            At::Member(member, 0) => self.release(tasks, tasks.rank().successors(tasks.member(member).task).1),
            At::Member(..) => {}
        }
    }

    fn end(&mut self, tasks: Tasks<'_>, at: At, now: Time, acts: &mut Vec<Act>) {
        self.note(|times| times.ended(tasks.number_at(at), now));
        match at {
            At::Graph(task) => self.release(tasks, tasks.rank().successors(task).0),
            At::Member(member, local) if local == tasks.last(member) => self.leave(tasks, member, acts),
            At::Member(member, local) => {
                tasks.successors_inside(member, local, |next| self.release_inside(tasks, member, next));
            }
        }
        self.left -= 1;
        if self.left == 0 {
            self.end_iteration(now, acts);
        }
    }

    /// Ends the part in a collective.
    fn leave(&mut self, tasks: Tasks<'_>, member: usize, acts: &mut Vec<Act>) {
        self.release(tasks, tasks.rank().successors(tasks.member(member).task).0);
        if let Some(i) = self.parts.iter().position(|part| part.member == member) {
            acts.push(Act::Leave(self.parts.remove(i)));
        }
    }

    fn end_iteration(&mut self, now: Time, acts: &mut Vec<Act>) {
        self.account.advance(now);
        self.ended += 1;
        acts.push(Act::Done);
    }

    /// Counts down what tasks of the graph wait for.
    fn release(&mut self, tasks: Tasks<'_>, later: &[u32]) {
        for task in later {
            let waits = &mut self.waits[*task as usize];
            *waits -= 1;
            if *waits == 0 {
                self.ready.push(tasks.number(*task));
            }
        }
    }

    /// Counts down what a task of a collective waits for.
    fn release_inside(&mut self, tasks: Tasks<'_>, member: usize, local: u32) {
        let number = tasks.member(member).first + local;
        let all = tasks.waits_inside(member, local);
        if all > 1 {
            let left = self.partly.entry(number).or_insert(all);
            *left -= 1;
            if *left > 0 {
                return;
            }
            self.partly.remove(&number);
        }
        self.ready.push(number);
    }
}
