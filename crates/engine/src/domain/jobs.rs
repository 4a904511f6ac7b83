//! Jobs on the hosts of a domain: acts of ranks become timers and bytes of connections, and the other way round.

use crate::domain::endpoints::Endpoints;
use crate::domain::probe::observed;
use crate::domain::ranks::{part_record, record};
use crate::event::order::{Key, Timer};
use crate::event::outbox::Outbox;
use crate::event::packet::Packet;
use crate::ids::{FlowId, RankId, StreamId, TaskId};
use crate::job::{Act, Arrived, RankState};
use crate::node::context::{Effects, NodeCtx};
use crate::spec::ScaleUp;
use incast_cc::Time;
use incast_record::{Recorder, TransferRecord};
use incast_workload::Task;
use incast_workload::collective::Tasks;

/// Bytes of a connection that a message takes: one without bytes is a packet all the same.
fn on_wire(bytes: u64) -> u64 {
    bytes.max(1)
}

impl Endpoints {
    /// Handles a timer of a job.
    #[cold]
    pub(super) fn job_timer(&mut self, ctx: &mut NodeCtx<impl Effects>, timer: Timer) {
        match timer {
            Timer::Rank(rank) => self.tell(ctx, rank, |state, tasks, now, acts| state.begin(tasks, now, acts)),
            Timer::Calculation(stream) => self.calculated(ctx, stream),
            Timer::Message(task) => self.is_coming(ctx, task),
            Timer::ScaleUpSent(task) => {
                let (rank, task) = ctx.net.jobs.of_task(task);
                self.tell(ctx, rank, |state, tasks, now, acts| state.sent(tasks, task, now, acts));
            }
            Timer::ScaleUpArrived(task) => self.arrived_inside(ctx, task),
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
        incoming.bytes += on_wire(sent.size);
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
            self.receive(ctx, connection.to, (from, own, sent), (start, Some(connection.flow)));
        }
    }

    /// Gives the message of task `own` of rank `from`, written at `start`, to rank `to`; `flow` is that of its
    /// connection, if any.
    fn receive(
        &mut self,
        ctx: &mut NodeCtx<impl Effects>,
        to: RankId,
        (from, own, sent): (RankId, u32, Task),
        (start, flow): (Time, Option<FlowId>),
    ) {
        let net = ctx.net;
        let (sender, receiver) = (&net.jobs.ranks[from], &net.jobs.ranks[to]);
        if !net.spec.observe.drop_messages {
            ctx.rec.transfer(TransferRecord {
                job: sender.job,
                from: sender.rank,
                to: receiver.rank,
                task: own,
                tag: sent.tag,
                bytes: sent.size,
                start_ps: start.0,
                finish_ps: ctx.now.0,
                flow: flow.map(|flow| flow.0),
            });
        }
        let message = Arrived { from: sender.rank, tag: sent.tag, took: ctx.now.saturating_sub(start) };
        self.tell(ctx, to, |state, tasks, now, acts| state.arrived(tasks, message, now, acts));
    }

    /// Tells a rank what has happened, and does what it says.
    fn tell<E: Effects>(
        &mut self,
        ctx: &mut NodeCtx<E>,
        rank: RankId,
        happened: impl FnOnce(&mut RankState, Tasks<'_>, Time, &mut Vec<Act>),
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
                Act::Send { task, own } => self.send_message(ctx, rank, (task, own)),
                Act::Leave(part) => ctx.rec.part(part_record(net, rank, part, Some(ctx.now))),
                Act::Done => self.end_iteration(ctx, rank, &mut acts),
            }
        }
        acts.clear();
        if let Some(jobs) = &mut self.jobs {
            jobs.acts = acts;
        }
    }

    /// Sends the message of a task over the links of its server.
    fn send_inside(
        &mut self,
        ctx: &mut NodeCtx<impl Effects>,
        (rank, to): (RankId, RankId),
        task: u32,
        (bytes, links): (u64, ScaleUp),
    ) {
        let net = ctx.net;
        let Some(jobs) = &mut self.jobs else { return };
        let [out, into] = [rank, to].map(|rank| net.jobs.ranks[rank].local as usize);
        let begins = ctx.now.max(jobs.inside[out].out_free).max(jobs.inside[into].into_free);
        let left = begins.saturating_add(links.rate.serialize(bytes));
        jobs.inside[out].out_free = left;
        jobs.inside[into].into_free = left;
        jobs.rank(&net.jobs, to).coming(ctx.now);
        let number = net.jobs.task(rank, task);
        jobs.inside[into].coming.push_back((number, ctx.now));
        ctx.timer(left, Timer::ScaleUpSent(number));
        ctx.timer(left.saturating_add(links.delay), Timer::ScaleUpArrived(number));
    }

    /// Takes a message that has arrived over the links of a server.
    fn arrived_inside(&mut self, ctx: &mut NodeCtx<impl Effects>, task: TaskId) {
        let net = ctx.net;
        let (from, own) = net.jobs.of_task(task);
        let sent = net.jobs.tasks(net.spec, from).task(own);
        let (Some(jobs), Some((to, _))) = (&mut self.jobs, net.jobs.inside(net.spec, from, sent.peer)) else { return };
        let start = jobs.inside[net.jobs.ranks[to].local as usize].take(task).unwrap_or(ctx.now);
        self.receive(ctx, to, (from, own, sent), (start, None));
    }

    /// Writes the message of a task to its connection, which opens with the first.
    fn send_message(&mut self, ctx: &mut NodeCtx<impl Effects>, rank: RankId, (task, sent): (u32, Task)) {
        let net = ctx.net;
        if let Some((to, links)) = net.jobs.inside(net.spec, rank, sent.peer) {
            return self.send_inside(ctx, (rank, to), task, (sent.size, links));
        }
        let (Some(jobs), Some(number)) = (&mut self.jobs, net.jobs.to(rank, sent.peer)) else { return };
        let connection = &net.jobs.connections[number as usize];
        let outgoing = &mut jobs.outgoing[connection.outgoing as usize];
        let (flow, written) = (connection.flow, outgoing.written);
        let bytes = on_wire(sent.size);
        outgoing.bytes += bytes;
        outgoing.messages.push_back((task, outgoing.bytes));
        outgoing.written = written.wrapping_add(1);
        let key = Key::message(ctx.now.saturating_add(connection.latency), flow, written);
        let to = net.jobs.ranks[connection.to].host;
        let here = net.place[net.jobs.ranks[rank].host].domain == net.place[to].domain;
        ctx.out.announce((!here).then_some(to), key, Timer::Message(net.jobs.task(rank, task)));
        self.write(ctx, flow, bytes, written == 0);
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
