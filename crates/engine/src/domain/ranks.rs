//! Ranks of jobs on the hosts of a domain, and the domain's ends of their connections.

use crate::ids::{DomainId, RankId, TaskId};
use crate::job::{Account, Act, Part, RankState};
use crate::map::fabric::FabricMap;
use crate::map::jobs::Jobs;
use crate::spec::SendDone;
use incast_cc::Time;
use incast_record::{PartRecord, RankRecord, Recorder};
use std::cmp::Reverse;
use std::collections::VecDeque;

/// Messages of a connection that are written and not yet acknowledged.
#[derive(Clone, Default, Debug)]
pub(super) struct Outgoing {
    /// Sending tasks, with the byte after each message.
    pub messages: VecDeque<(u32, u64)>,
    /// Bytes and messages written.
    pub bytes: u64,
    /// See `bytes`.
    pub written: u32,
}

/// Messages of a connection that are coming.
#[derive(Clone, Default, Debug)]
pub(super) struct Incoming {
    /// Sending tasks, with the byte after each message, and the time at which it was written.
    pub messages: VecDeque<(TaskId, u64, Time)>,
    /// Bytes of all messages so far.
    pub bytes: u64,
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
            let state = RankState::new(jobs.tasks(spec, rank).rank(), factor, job.send_done == SendDone::Written);
            jobs.ranks[rank].local = here.ranks.len() as u32;
            here.ranks.push((rank, state));
            here.inside.push(Inside::default());
        });
    }
    for i in 0..jobs.connections.len() {
        let (from, to) = (jobs.connections[i].from, jobs.connections[i].to);
        let ends = [domain(from, &jobs), domain(to, &jobs)];
        let connection = &mut jobs.connections[i];
        with(ends[0], &mut |sending| {
            connection.outgoing = sending.outgoing.len() as u32;
            sending.outgoing.push(Outgoing::default());
        });
        with(ends[1], &mut |receiving| {
            connection.incoming = receiving.incoming.len() as u32;
            receiving.incoming.push(Incoming::default());
        });
    }
    net.jobs = jobs;
}

impl DomainJobs {
    /// State of a rank of this domain.
    pub(super) fn rank(&mut self, jobs: &Jobs, rank: RankId) -> &mut RankState {
        &mut self.ranks[jobs.ranks[rank].local as usize].1
    }

    /// Records the iterations that are unfinished at `end`.
    pub fn finish(&mut self, end: Time, net: &FabricMap, rec: &mut impl Recorder) {
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
