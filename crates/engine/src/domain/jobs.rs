//! Jobs on the hosts of a domain: what ranks do becomes timers and bytes of connections, and the other way round.

use crate::domain::endpoints::Endpoints;
use crate::domain::probe::observed;
use crate::event::order::{Key, Timer};
use crate::event::outbox::Outbox;
use crate::event::packet::Packet;
use crate::ids::{FlowId, RankId, StreamId, TaskId};
use crate::job::{Account, Act, Arrived, RankState};
use crate::map::fabric::FabricMap;
use crate::map::jobs::Jobs;
use crate::node::context::{Effects, NodeCtx};
use incast_cc::Time;
use incast_record::{RankRecord, Recorder, TransferRecord};
use std::collections::VecDeque;

/// Messages of a connection that are written and not yet acknowledged.
#[derive(Clone, Default, Debug)]
struct Outgoing {
    /// Sending tasks, with the byte after each message.
    messages: VecDeque<(u32, u64)>,
    /// Bytes and messages written.
    bytes: u64,
    written: u32,
}

/// Messages of a connection that are coming.
#[derive(Clone, Default, Debug)]
struct Incoming {
    /// Sending tasks, with the byte after each message, and the time at which it was written.
    messages: VecDeque<(TaskId, u64, Time)>,
    /// Bytes of all messages so far.
    bytes: u64,
}

/// Ranks of a domain, and its ends of their connections.
#[derive(Debug, Default)]
pub struct DomainJobs {
    ranks: Vec<(RankId, RankState)>,
    outgoing: Vec<Outgoing>,
    incoming: Vec<Incoming>,
    /// Memory reused from event to event.
    acts: Vec<Act>,
}

/// Puts the ranks of all jobs into the domains of their hosts.
pub fn place(net: &mut FabricMap, domains: &mut [super::Domain]) {
    let (spec, mut jobs) = (net.spec, std::mem::take(&mut net.jobs));
    let of = |rank: RankId, jobs: &Jobs| net.place[jobs.ranks[rank].host].domain;
    for rank in (0..jobs.ranks.len() as u32).map(RankId) {
        let (job, own) = (jobs.ranks[rank].job as usize, jobs.ranks[rank].rank);
        let slow = spec.jobs[job].slow.iter().find(|(rank, _)| *rank == own);
        let state = RankState::new(jobs.tasks(spec, rank), slow.map_or(1.0, |(_, factor)| *factor));
        let here = domains[of(rank, &jobs)].endpoints.jobs.get_or_insert_default();
        jobs.ranks[rank].local = here.ranks.len() as u32;
        here.ranks.push((rank, state));
    }
    for i in 0..jobs.connections.len() {
        let (from, to) = (jobs.connections[i].from, jobs.connections[i].to);
        let sending = domains[of(from, &jobs)].endpoints.jobs.get_or_insert_default();
        let outgoing = sending.outgoing.len() as u32;
        sending.outgoing.push(Outgoing::default());
        let receiving = domains[of(to, &jobs)].endpoints.jobs.get_or_insert_default();
        (jobs.connections[i].outgoing, jobs.connections[i].incoming) = (outgoing, receiving.incoming.len() as u32);
        receiving.incoming.push(Incoming::default());
    }
    net.jobs = jobs;
}

impl DomainJobs {
    fn rank(&mut self, jobs: &Jobs, rank: RankId) -> &mut RankState {
        &mut self.ranks[jobs.ranks[rank].local as usize].1
    }

    /// Records the iterations that are unfinished at `end`.
    pub fn finish(&mut self, end: Time, net: &FabricMap, rec: &mut impl Recorder) {
        for (rank, state) in self.ranks.iter_mut().filter(|(_, state)| state.is_busy()) {
            state.account.advance(end);
            rec.rank(record(net, *rank, state, None));
        }
    }
}

impl Endpoints {
    /// Handles a timer of a job.
    #[cold]
    pub(super) fn job_timer(&mut self, ctx: &mut NodeCtx<impl Effects>, timer: Timer) {
        match timer {
            Timer::Rank(rank) => self.tell(ctx, rank, |state, tasks, now, acts| state.begin(tasks, now, acts)),
            Timer::Calculation(stream) => self.calculated(ctx, stream),
            Timer::Message(task) => self.is_coming(ctx, task),
            _ => {}
        }
    }

    fn calculated(&mut self, ctx: &mut NodeCtx<impl Effects>, stream: StreamId) {
        let (rank, stream) = ctx.net.jobs.of_stream(stream);
        self.tell(ctx, rank, |state, tasks, now, acts| state.calculated(tasks, stream, now, acts));
    }

    /// Notes that the message of a task is coming.
    fn is_coming(&mut self, ctx: &mut NodeCtx<impl Effects>, task: TaskId) {
        let net = ctx.net;
        let (rank, own) = net.jobs.of_task(task);
        let sent = net.jobs.tasks(net.spec, rank).task(own);
        let (Some(jobs), Some(number)) = (&mut self.jobs, net.jobs.to(rank, sent.peer)) else { return };
        let connection = &net.jobs.connections[number as usize];
        let incoming = &mut jobs.incoming[connection.incoming as usize];
        incoming.bytes += sent.size;
        incoming.messages.push_back((task, incoming.bytes, ctx.now - connection.latency));
        jobs.rank(&net.jobs, connection.to).coming(ctx.now);
        self.take_messages(ctx, number);
    }

    /// Takes account of a packet of a connection that has just been delivered.
    pub(super) fn job_progress(&mut self, ctx: &mut NodeCtx<impl Effects>, packet: &Packet) {
        let Some(number) = ctx.net.jobs.of_flow(packet.flow) else { return };
        match packet.is_reverse() {
            true => self.end_sends(ctx, number),
            false => self.take_messages(ctx, number),
        }
    }

    /// Ends the sends of a connection whose last bytes are acknowledged.
    fn end_sends(&mut self, ctx: &mut NodeCtx<impl Effects>, number: u32) {
        let connection = ctx.net.jobs.connections[number as usize];
        let acked = self.senders[ctx.net.ends[connection.flow].sender].acked();
        loop {
            let Some(jobs) = &mut self.jobs else { return };
            let outgoing = &mut jobs.outgoing[connection.outgoing as usize];
            let Some((task, _)) = outgoing.messages.pop_front_if(|(_, end)| *end <= acked) else { return };
            self.tell(ctx, connection.from, |state, tasks, now, acts| state.sent(tasks, task, now, acts));
        }
    }

    /// Takes the messages of a connection whose last bytes have arrived.
    fn take_messages(&mut self, ctx: &mut NodeCtx<impl Effects>, number: u32) {
        let net = ctx.net;
        let connection = net.jobs.connections[number as usize];
        let delivered = self.receivers[net.ends[connection.flow].receiver].delivered();
        loop {
            let Some(jobs) = &mut self.jobs else { return };
            let incoming = &mut jobs.incoming[connection.incoming as usize];
            let Some((task, _, start)) = incoming.messages.pop_front_if(|(_, end, _)| *end <= delivered) else {
                return;
            };
            let (from, own) = net.jobs.of_task(task);
            let sent = net.jobs.tasks(net.spec, from).task(own);
            let (sender, receiver) = (&net.jobs.ranks[from], &net.jobs.ranks[connection.to]);
            ctx.rec.transfer(TransferRecord {
                job: sender.job,
                from: sender.rank,
                to: receiver.rank,
                task: own,
                tag: sent.tag,
                bytes: sent.size,
                start_ps: start.0,
                finish_ps: ctx.now.0,
                flow: connection.flow.0,
            });
            let message = Arrived { from: sender.rank, tag: sent.tag };
            self.tell(ctx, connection.to, |state, tasks, now, acts| state.arrived(tasks, message, now, acts));
        }
    }

    /// Tells a rank what has happened, and does what it says.
    fn tell<E: Effects>(
        &mut self,
        ctx: &mut NodeCtx<E>,
        rank: RankId,
        happened: impl FnOnce(&mut RankState, &incast_workload::Rank, Time, &mut Vec<Act>),
    ) {
        let net = ctx.net;
        let tasks = net.jobs.tasks(net.spec, rank);
        let Some(jobs) = &mut self.jobs else { return };
        let mut acts = std::mem::take(&mut jobs.acts);
        happened(jobs.rank(&net.jobs, rank), tasks, ctx.now, &mut acts);
        let mut i = 0;
        while let Some(act) = acts.get(i).copied() {
            i += 1;
            match act {
                Act::Calculate { stream, until } => {
                    ctx.timer(until, Timer::Calculation(net.jobs.stream(rank, stream)));
                }
                Act::Send { task } => self.send_message(ctx, rank, task),
                Act::Done => self.end_iteration(ctx, rank, &mut acts),
            }
        }
        acts.clear();
        if let Some(jobs) = &mut self.jobs {
            jobs.acts = acts;
        }
    }

    /// Writes the message of a task to its connection, which opens with the first.
    fn send_message(&mut self, ctx: &mut NodeCtx<impl Effects>, rank: RankId, task: u32) {
        let net = ctx.net;
        let sent = net.jobs.tasks(net.spec, rank).task(task);
        let (Some(jobs), Some(number)) = (&mut self.jobs, net.jobs.to(rank, sent.peer)) else { return };
        let connection = &net.jobs.connections[number as usize];
        let outgoing = &mut jobs.outgoing[connection.outgoing as usize];
        let (flow, written) = (connection.flow, outgoing.written);
        outgoing.bytes += sent.size;
        outgoing.messages.push_back((task, outgoing.bytes));
        outgoing.written = written.wrapping_add(1);
        let key = Key::message(ctx.now.saturating_add(connection.latency), flow, written);
        let to = net.jobs.ranks[connection.to].host;
        let here = net.place[net.jobs.ranks[rank].host].domain == net.place[to].domain;
        ctx.out.announce((!here).then_some(to), key, Timer::Message(net.jobs.task(rank, task)));
        self.write(ctx, flow, sent.size, written == 0);
    }

    fn write(&mut self, ctx: &mut NodeCtx<impl Effects>, flow: FlowId, bytes: u64, opens: bool) {
        let sender = &mut self.senders[ctx.net.ends[flow].sender];
        observed(&mut self.probes, sender, ctx, |sender, ctx| {
            if opens {
                sender.on_timer(ctx, Timer::Start(flow));
            }
            sender.on_message(ctx, bytes);
        });
    }

    /// Records an iteration of a rank, and begins the next.
    fn end_iteration(&mut self, ctx: &mut NodeCtx<impl Effects>, rank: RankId, acts: &mut Vec<Act>) {
        let net = ctx.net;
        let Some(jobs) = &mut self.jobs else { return };
        let state = jobs.rank(&net.jobs, rank);
        ctx.rec.rank(record(net, rank, state, Some(ctx.now)));
        if state.ended < net.spec.jobs[net.jobs.ranks[rank].job as usize].iterations {
            state.begin(net.jobs.tasks(net.spec, rank), ctx.now, acts);
        } else {
            ctx.rec.finish(ctx.now.0);
        }
    }
}

/// Record of an iteration of a rank that ended at `finish`, or is unfinished at the end of the run.
fn record(net: &FabricMap, rank: RankId, state: &RankState, finish: Option<Time>) -> RankRecord {
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
        tasks: tasks.tasks() as u32,
        left: state.left(),
        waits_for: if finish.is_none() { waits() } else { None },
    }
}
