//! Ranks of jobs on the hosts of a domain, and the domain's ends of their connections.

use crate::ids::{DomainId, RankId, TaskId};
use crate::job::{Account, Act, Part, RankState, TaskTimes};
use crate::map::fabric::FabricMap;
use crate::map::jobs::{Jobs, Pair};
use crate::map::planes::Carriers;
use crate::spec::SendDone;
use incast_cc::Time;
use incast_record::{PartRecord, RankRecord, Recorder};
use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};

/// Messages of a connection that are written and not yet acknowledged.
#[derive(Clone, Default, Debug)]
pub(super) struct Outgoing {
    /// Messages, in order.
    pub messages: VecDeque<Written>,
    /// Bytes of all messages so far.
    pub bytes: u64,
    /// True once it is open.
    pub is_open: bool,
    /// Turns that messages take.
    pub turns: Turns,
    /// Number of messages so far.
    pub written: u32,
    /// Packets of the receiver that have arrived.
    pub arrived: u32,
    /// End of the connection.
    pub closing: Closing,
}

/// End of a connection, as a host knows it.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) enum Closing {
    /// Messages may follow.
    #[default]
    No,
    /// The sender's host has told the receiver's how many packets there were.
    Told,
    /// The receiver is gone, and the sender's host knows how many packets it has sent.
    Answered,
    /// This end is gone.
    Gone,
}

/// Messages of a connection that are coming.
#[derive(Clone, Default, Debug)]
pub(super) struct Incoming {
    /// Messages that are coming, in order.
    pub messages: VecDeque<Coming>,
    /// Bytes of all messages so far.
    pub bytes: u64,
    /// Turns that messages take.
    pub turns: Turns,
    /// Packets of the sender that have arrived.
    pub arrived: u32,
    /// End of the connection.
    pub closing: Closing,
}

impl Incoming {
    /// Adds a message whose `end` is its number of bytes.
    pub fn push(&mut self, coming: Coming) {
        self.bytes += coming.end;
        self.messages.push_back(Coming { end: self.bytes, ..coming });
    }
}

/// Message that is written, or a part of one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Written {
    /// Sending task.
    pub task: u32,
    /// Number among the messages of its pair.
    pub number: u32,
    /// Byte of the connection after it.
    pub end: u64,
    /// True if it goes again, whole, over another plane.
    pub whole: bool,
}

/// Parts of a message of several planes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts {
    /// Number of parts that are not acknowledged.
    pub left: u32,
    /// True if the message goes again.
    pub again: bool,
}

/// Message that is coming, or a part of one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coming {
    /// Sending task.
    pub task: TaskId,
    /// Number among the messages of its pair.
    pub number: u32,
    /// Byte of the connection after it.
    pub end: u64,
    /// Time at which it was written.
    pub start: Time,
    /// True if it comes again, whole, over another plane.
    pub whole: bool,
}

/// Messages so far: of a kind of a pair, at the first connection of that kind, and of the pair, at its first.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Turns {
    of_kind: u32,
    of_pair: u32,
}

/// One side of a connection.
pub(super) trait Side {
    /// Turns that messages take.
    fn turns(&mut self) -> &mut Turns;
}

impl Side for Outgoing {
    fn turns(&mut self) -> &mut Turns {
        &mut self.turns
    }
}

impl Side for Incoming {
    fn turns(&mut self) -> &mut Turns {
        &mut self.turns
    }
}

/// Connections that the next message of `kind` of a pair takes, of so many bytes and sent at this time, and the
/// message's number in the pair. Both sides take turns in the order in which messages are sent. `own` is one side of
/// the pair's connections.
pub(super) fn next_carriers(
    jobs: &Jobs,
    pair: &Pair,
    kind: u8,
    own: &mut [impl Side],
    sent: (u64, Time),
) -> (Carriers, u32) {
    let (first, of_kind) = (pair.connections().start, jobs.of_kind(pair, kind));
    let turn = &mut own[(of_kind.start - first) as usize].turns().of_kind;
    let carriers = jobs.carriers(pair, kind, *turn, sent);
    *turn = turn.wrapping_add(1);
    let number = &mut own[0].turns().of_pair;
    *number = number.wrapping_add(1);
    (carriers, number.wrapping_sub(1))
}

/// Messages of a pair with several connections that are coming, in the order in which they were sent. One counts as
/// arrived when its last byte has come, and all earlier ones with its tag have.
#[derive(Default, Debug)]
pub(super) struct InOrder {
    /// Number of the first.
    first: u32,
    messages: VecDeque<Ordered>,
    /// Numbers of those that have not arrived, by tag.
    waiting: BTreeMap<u32, VecDeque<u32>>,
}

/// One of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ordered {
    /// Sending task.
    pub task: TaskId,
    /// Connection.
    pub connection: u32,
    /// Time at which it was written.
    pub start: Time,
    tag: u32,
    /// Number of parts that are coming.
    parts: u32,
    state: State,
}

impl Ordered {
    /// Message of a task.
    pub fn new(task: TaskId, carriers: Carriers, start: Time, tag: u32) -> Ordered {
        Ordered { task, connection: carriers.any(), start, tag, parts: carriers.count(), state: State::Coming }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Coming,
    Complete,
    Arrived,
}

impl InOrder {
    /// Adds message `number`.
    pub fn push(&mut self, number: u32, ordered: Ordered) {
        if self.messages.is_empty() {
            self.first = number;
        }
        self.waiting.entry(ordered.tag).or_default().push_back(number);
        self.messages.push_back(ordered);
    }

    /// Notes that the last byte of a part of message `number` has come, or of the whole. `arrived` takes the messages
    /// that arrive by that.
    pub fn complete(&mut self, (number, whole): (u32, bool), mut arrived: impl FnMut(Ordered)) {
        let at = number.wrapping_sub(self.first) as usize;
        let Some(own) = self.messages.get_mut(at) else { return };
        own.parts = if whole { 0 } else { own.parts.saturating_sub(1) };
        if own.parts > 0 || own.state != State::Coming {
            return;
        }
        own.state = State::Complete;
        let tag = own.tag;
        let waiting = self.waiting.entry(tag).or_default();
        while let Some(number) = waiting.front() {
            let at = number.wrapping_sub(self.first) as usize;
            let Some(own) = self.messages.get_mut(at).filter(|own| own.state == State::Complete) else { break };
            own.state = State::Arrived;
            arrived(*own);
            waiting.pop_front();
        }
        if waiting.is_empty() {
            self.waiting.remove(&tag);
        }
        while self.messages.pop_front_if(|own| own.state == State::Arrived).is_some() {
            self.first = self.first.wrapping_add(1);
        }
    }

    /// True if nothing is coming.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }
}

/// Links of a rank to its server.
#[derive(Clone, Default, Debug)]
pub(super) struct Inside {
    /// Times from which on the ways out and in are free.
    pub out_free: Time,
    /// See `out_free`.
    pub into_free: Time,
    /// Messages that are coming, with the times at which they were sent, in the order of arrival, or nearly: those
    /// without bytes may arrive together.
    pub coming: VecDeque<(TaskId, Time)>,
}

impl Inside {
    /// Takes out a message that has arrived; returns the time at which it was sent.
    pub fn take(&mut self, task: TaskId) -> Option<Time> {
        let at = self.coming.iter().position(|(own, _)| *own == task)?;
        self.coming.remove(at).map(|(_, sent)| sent)
    }
}

/// Ranks of a domain, and its ends of their connections.
#[derive(Debug, Default)]
pub struct DomainJobs {
    ranks: Vec<(RankId, RankState)>,
    /// Links to a server, by rank.
    pub(super) inside: Vec<Inside>,
    pub(super) outgoing: Vec<Outgoing>,
    pub(super) incoming: Vec<Incoming>,
    /// Order of the messages that are coming, by pair of several connections.
    pub(super) in_order: BTreeMap<u32, InOrder>,
    /// Parts of messages that are not acknowledged, by pair of several planes and number.
    pub(super) parts: BTreeMap<(u32, u32), Parts>,
    /// Latest message of each task from a rank whose planes may fail: its number, and one of its connections.
    pub(super) latest: BTreeMap<TaskId, (u32, u32)>,
    /// Memory reused from event to event.
    pub(super) acts: Vec<Act>,
}

/// Puts the ranks of all jobs into the domains of their hosts; `with` lets a function change the jobs of a domain.
pub fn place(net: &mut FabricMap, mut with: impl FnMut(DomainId, &mut dyn FnMut(&mut DomainJobs))) {
    let (spec, mut jobs) = (net.spec, std::mem::take(&mut net.jobs));
    let domain = |rank: RankId, jobs: &Jobs| net.place[jobs.ranks[rank].host].domain;
    for rank in (0..jobs.ranks.len() as u32).map(RankId) {
        let (job, own) = (&spec.jobs[jobs.ranks[rank].job as usize], jobs.ranks[rank].rank);
        let slow = job.slow.iter().find(|(rank, _)| *rank == own);
        let factor = slow.map_or(1.0, |(_, factor)| *factor);
        let at = domain(rank, &jobs);
        with(at, &mut |here| {
            let tasks = jobs.tasks(spec, rank).rank();
            let mut state = RankState::new(tasks, factor, job.send_done == SendDone::Written);
            let asked = spec.observe.tasks.as_ref().is_some_and(|tasks| tasks.has(own));
            state.times = asked.then(|| Box::new(TaskTimes::new(jobs.ranks[rank].job, own)));
            jobs.ranks[rank].local = here.ranks.len() as u32;
            here.ranks.push((rank, state));
            here.inside.push(Inside::default());
        });
    }
    for i in 0..jobs.pairs.len() {
        let (from, to) = (jobs.pairs[i].from, jobs.pairs[i].to);
        let ends = [domain(from, &jobs), domain(to, &jobs)];
        let pair = &mut jobs.pairs[i];
        let count = pair.connections().len();
        with(ends[0], &mut |sending| {
            pair.outgoing = sending.outgoing.len() as u32;
            sending.outgoing.extend(std::iter::repeat_n(Outgoing::default(), count));
        });
        with(ends[1], &mut |receiving| {
            pair.incoming = receiving.incoming.len() as u32;
            receiving.incoming.extend(std::iter::repeat_n(Incoming::default(), count));
        });
    }
    net.jobs = jobs;
}

impl DomainJobs {
    /// State of a rank of this domain.
    pub(super) fn rank(&mut self, jobs: &Jobs, rank: RankId) -> &mut RankState {
        &mut self.ranks[jobs.ranks[rank].local as usize].1
    }

    /// Notes the acknowledgement of a part of a message, or of the whole; returns whether the message is acknowledged
    /// by that.
    pub(super) fn is_acked(&mut self, message: (u32, u32), whole: bool) -> bool {
        let Some(parts) = self.parts.get_mut(&message) else { return false };
        parts.left = if whole { 0 } else { parts.left.saturating_sub(1) };
        let done = parts.left == 0;
        if done {
            self.parts.remove(&message);
        }
        done
    }

    /// Records the iterations and tasks that are unfinished at `end`.
    pub fn finish(&mut self, end: Time, net: &FabricMap, rec: &mut impl Recorder) {
        for times in self.ranks.iter_mut().filter_map(|(_, state)| state.times.as_mut()) {
            times.rest().for_each(|task| rec.task(task));
        }
        for (rank, state) in self.ranks.iter_mut().filter(|(_, state)| state.is_busy()) {
            state.account.advance(end);
            rec.rank(record(net, *rank, state, None));
            state.parts.iter().for_each(|part| rec.part(part_record(net, *rank, *part, None)));
        }
    }
}

/// Record of an iteration of a rank that ended at `finish`, or is unfinished at the end of the run.
pub(super) fn record(net: &FabricMap, rank: RankId, state: &RankState, finish: Option<Time>) -> RankRecord {
    let (place, tasks) = (&net.jobs.ranks[rank], net.jobs.tasks(net.spec, rank));
    let Account { compute, exposed, idle, communication, .. } = state.account;
    let waits = || {
        let task = state.waiting()?;
        let waits = tasks.task(task);
        let any = |number: u32| if number == incast_workload::ANY { "any".to_owned() } else { number.to_string() };
        Some(format!("task {task}: a message of rank {} with tag {}", any(waits.peer), any(waits.tag)))
    };
    RankRecord {
        job: place.job,
        rank: place.rank,
        host: place.host.0,
        iteration: state.ended - finish.is_some() as u32,
        start_ps: state.begun.0,
        finish_ps: finish.map(|at| at.0),
        compute_ps: compute.0,
        exposed_ps: exposed.0,
        idle_ps: idle.0,
        communication_ps: communication.0,
        tasks: tasks.count(),
        left: state.left(),
        waits_for: if finish.is_none() { waits() } else { None },
    }
}

/// Record of a rank's part in a collective that ended at `finish`, or is unfinished at the end of the run.
pub(super) fn part_record(net: &FabricMap, rank: RankId, part: Part, finish: Option<Time>) -> PartRecord {
    let (place, tasks) = (&net.jobs.ranks[rank], net.jobs.tasks(net.spec, rank));
    PartRecord {
        job: place.job,
        iteration: part.iteration,
        collective: tasks.rank().task(tasks.member(part.member).task).tag,
        rank: place.rank,
        start_ps: part.start.0,
        finish_ps: finish.map(|at| at.0),
        longest: part.longest.map(|(took, Reverse(from))| (took.0, from)),
    }
}
