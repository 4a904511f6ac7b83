//! Jobs on the hosts of a domain: acts of ranks become timers and bytes of connections, and the other way round.

use crate::domain::endpoints::Endpoints;
use crate::domain::probe::observed;
use crate::domain::ranks::{Coming, Ordered, Parts, Written, next_carriers, part_record, record};
use crate::event::order::{Key, Timer};
use crate::event::outbox::Outbox;
use crate::event::packet::Packet;
use crate::ids::{FlowId, RankId, StreamId, TaskId};
use crate::job::{Act, Arrived, RankState};
use crate::map::fabric::FabricMap;
use crate::map::jobs::Connection;
use crate::node::context::{Effects, NodeCtx};
use crate::spec::ScaleUp;
use crate::transport::{ReceiveEndpoint, SendEndpoint};
use incast_cc::Time;
use incast_record::{Recorder, TransferRecord};
use incast_workload::Task;
use incast_workload::collective::Tasks;

impl Endpoints {
    /// Handles a timer of a job.
    #[cold]
    pub(super) fn job_timer(&mut self, ctx: &mut NodeCtx<impl Effects>, timer: Timer) {
        match timer {
            Timer::Rank(rank) if ctx.net.jobs.begins(ctx.net.spec, rank) == ctx.now => {
                self.tell(ctx, rank, |state, tasks, now, acts| state.begin(tasks, now, acts));
            }
            Timer::Rank(rank) => self.leave_planes(ctx, rank),
            Timer::Again(task) => self.is_coming_again(ctx, task),
            Timer::Calculation(stream) => self.calculated(ctx, stream),
            Timer::Message(task) => self.is_coming(ctx, task),
            Timer::ScaleUpSent(task) => {
                let (rank, task) = ctx.net.jobs.of_task(task);
                self.tell(ctx, rank, |state, tasks, now, acts| state.sent(tasks, task, now, acts));
            }
            Timer::ScaleUpArrived(task) => self.arrived_inside(ctx, task),
            Timer::Closing(flow) => self.on_end(ctx, flow, false),
            Timer::Closed(flow) => self.on_end(ctx, flow, true),
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
        let (rank, _, sent) = sent_by(net, task);
        let (Some(jobs), Some(number)) = (&mut self.jobs, net.jobs.pair(rank, sent.peer)) else { return };
        let pair = &net.jobs.pairs[number as usize];
        let kind = net.jobs.kind(net.spec, rank, sent.tag);
        let bytes = on_a_connection(sent.size);
        let (own, start) = (&mut jobs.incoming[pair.incoming()], ctx.now - pair.latency);
        let (carriers, place) = next_carriers(&net.jobs, pair, kind, own, (bytes, start));
        for (connection, bytes) in carriers.parts(bytes) {
            own[pair.place(connection)].push(Coming { task, number: place, end: bytes, start, whole: false });
        }
        if pair.connections().len() > 1 {
            let ordered = Ordered::new(task, carriers, start, sent.tag);
            jobs.in_order.entry(number).or_default().push(place, ordered);
        }
        if pair.planes.may_fail {
            jobs.latest.insert(task, (place, carriers.any()));
        }
        jobs.rank(&net.jobs, pair.to).coming(ctx.now);
        for (connection, _) in carriers.parts(bytes) {
            self.take_messages(ctx, connection);
        }
    }

    /// Notes that the message of a task is coming again, whole, over another plane.
    fn is_coming_again(&mut self, ctx: &mut NodeCtx<impl Effects>, task: TaskId) {
        let net = ctx.net;
        let (rank, _, sent) = sent_by(net, task);
        let (Some(jobs), Some(pair)) = (&mut self.jobs, net.jobs.pair(rank, sent.peer)) else { return };
        let pair = &net.jobs.pairs[pair as usize];
        let start = ctx.now - pair.latency;
        let Some((number, before)) = jobs.latest.get(&task).copied() else { return };
        let Some(connection) = net.jobs.instead(pair, before, start) else { return };
        let own = &mut jobs.incoming[pair.incoming()][pair.place(connection)];
        own.push(Coming { task, number, end: on_a_connection(sent.size), start, whole: true });
        self.take_messages(ctx, connection);
    }

    /// Sends messages of a rank again that are under way in a plane of which routing learns now that it has no path.
    fn leave_planes(&mut self, ctx: &mut NodeCtx<impl Effects>, rank: RankId) {
        let (net, now) = (ctx.net, ctx.now);
        let first = net.jobs.pairs.partition_point(|pair| pair.from < rank);
        let own = net.jobs.pairs[first..].iter().take_while(|pair| pair.from == rank);
        for (number, pair) in (first as u32..).zip(own).filter(|(_, pair)| pair.planes.may_fail) {
            for connection in pair.connections().filter(|c| net.jobs.fails(*c, now)) {
                let (Some(jobs), Some(other)) = (&mut self.jobs, net.jobs.instead(pair, connection, now)) else {
                    continue;
                };
                let messages = std::mem::take(&mut jobs.outgoing[pair.outgoing()][pair.place(connection)].messages);
                for written in messages {
                    let Some(jobs) = &mut self.jobs else { return };
                    let Some(parts) = jobs.parts.get_mut(&(number, written.number)) else { continue };
                    // another part has sent the whole message again
                    if std::mem::replace(&mut parts.again, true) && !written.whole {
                        continue;
                    }
                    let task = net.jobs.task(rank, written.task);
                    self.announce(ctx, number, written.number, Timer::Again(task));
                    let bytes = on_a_connection(net.jobs.tasks(net.spec, rank).task(written.task).size);
                    self.write_part(ctx, other, Written { whole: true, ..written }, bytes);
                }
            }
        }
    }

    /// Takes account of a packet of a connection that has just been delivered.
    pub(super) fn job_progress(&mut self, ctx: &mut NodeCtx<impl Effects>, packet: &Packet) {
        let Some(number) = ctx.net.jobs.of_flow(packet.flow) else { return };
        let pair = &ctx.net.jobs.pairs[ctx.net.jobs.connections[number as usize].pair as usize];
        let Some(jobs) = &mut self.jobs else { return };
        if packet.is_reverse() {
            jobs.outgoing[pair.outgoing()][pair.place(number)].arrived += 1;
            self.end_sends(ctx, number);
            self.end_connection(ctx, number);
        } else {
            jobs.incoming[pair.incoming()][pair.place(number)].arrived += 1;
            self.take_messages(ctx, number);
            self.close_receiver(ctx, number);
        }
    }

    /// Ends the sends of a connection whose last bytes are acknowledged.
    fn end_sends(&mut self, ctx: &mut NodeCtx<impl Effects>, number: u32) {
        let net = ctx.net;
        let Connection { pair: of, flow, .. } = net.jobs.connections[number as usize];
        let pair = &net.jobs.pairs[of as usize];
        let acked = self.senders.at(net.ends[flow].sender.ix()).map_or(0, SendEndpoint::acked);
        loop {
            let Some(jobs) = &mut self.jobs else { return };
            let outgoing = &mut jobs.outgoing[pair.outgoing()][pair.place(number)];
            let Some(written) = outgoing.messages.pop_front_if(|own| own.end <= acked) else { break };
            if pair.planes.count == 1 || jobs.is_acked((of, written.number), written.whole) {
                let task = written.task;
                self.tell(ctx, pair.from, |state, tasks, now, acts| state.sent(tasks, task, now, acts));
            }
        }
    }

    /// Takes the messages of a connection whose last bytes have arrived.
    fn take_messages(&mut self, ctx: &mut NodeCtx<impl Effects>, number: u32) {
        let net = ctx.net;
        let Connection { pair: of, flow, .. } = net.jobs.connections[number as usize];
        let pair = &net.jobs.pairs[of as usize];
        let delivered = self.receivers.at(net.ends[flow].receiver.ix()).map_or(0, ReceiveEndpoint::delivered);
        loop {
            let Some(jobs) = &mut self.jobs else { return };
            let incoming = &mut jobs.incoming[pair.incoming()][pair.place(number)];
            let Some(come) = incoming.messages.pop_front_if(|come| come.end <= delivered) else { return };
            if pair.connections().len() == 1 {
                let times = (come.start, come.start + pair.latency, Some(flow));
                self.receive(ctx, pair.to, sent_by(net, come.task), times);
                continue;
            }
            let (mut arrived, mut others) = (Vec::new(), jobs.in_order.remove(&of).unwrap_or_default());
            others.complete((come.number, come.whole), |own| arrived.push(own));
            if !others.is_empty() {
                jobs.in_order.insert(of, others);
            }
            for Ordered { task, connection, start, .. } in arrived {
                let flow = net.jobs.connections[connection as usize].flow;
                self.receive(ctx, pair.to, sent_by(net, task), (start, start + pair.latency, Some(flow)));
            }
        }
    }

    /// Gives the message of task `own` of rank `from`, written at `start` and under way since `since`, to rank `to`;
    /// `flow` is that of its connection, if any.
    fn receive(
        &mut self,
        ctx: &mut NodeCtx<impl Effects>,
        to: RankId,
        (from, own, sent): (RankId, u32, Task),
        (start, since, flow): (Time, Time, Option<FlowId>),
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
        let took = ctx.now.saturating_sub(start);
        let message = Arrived { from: sender.rank, tag: sent.tag, task: own, since, took };
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
        ctx.counts.happened(ctx.now);
        let mut acts = std::mem::take(&mut jobs.acts);
        let state = jobs.rank(&net.jobs, rank);
        happened(state, tasks, ctx.now, &mut acts);
        if let Some(times) = &mut state.times {
            times.known().for_each(|task| ctx.rec.task(task));
        }
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
        (bytes, links): (u64, &ScaleUp),
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
        let (from, own, sent) = sent_by(net, task);
        let (Some(jobs), Some((to, _))) = (&mut self.jobs, net.jobs.inside(net.spec, from, sent.peer)) else { return };
        let start = jobs.inside[net.jobs.ranks[to].local as usize].take(task).unwrap_or(ctx.now);
        self.receive(ctx, to, (from, own, sent), (start, start, None));
    }

    /// Writes the message of a task to its connection, which opens with the first.
    fn send_message(&mut self, ctx: &mut NodeCtx<impl Effects>, rank: RankId, (task, sent): (u32, Task)) {
        let net = ctx.net;
        if let Some((to, links)) = net.jobs.inside(net.spec, rank, sent.peer) {
            return self.send_inside(ctx, (rank, to), task, (sent.size, links));
        }
        let (Some(jobs), Some(of)) = (&mut self.jobs, net.jobs.pair(rank, sent.peer)) else { return };
        let pair = &net.jobs.pairs[of as usize];
        let kind = net.jobs.kind(net.spec, rank, sent.tag);
        let own = &mut jobs.outgoing[pair.outgoing()];
        let bytes = on_a_connection(sent.size);
        let (carriers, number) = next_carriers(&net.jobs, pair, kind, own, (bytes, ctx.now));
        if pair.planes.count > 1 {
            jobs.parts.insert((of, number), Parts { left: carriers.count(), again: false });
        }
        self.announce(ctx, of, number, Timer::Message(net.jobs.task(rank, task)));
        for (connection, bytes) in carriers.parts(bytes) {
            self.write_part(ctx, connection, Written { task, number, end: 0, whole: false }, bytes);
        }
    }

    /// Tells the receiver of a pair that message `number` is coming.
    fn announce(&mut self, ctx: &mut NodeCtx<impl Effects>, pair: u32, number: u32, timer: Timer) {
        let net = ctx.net;
        let pair = &net.jobs.pairs[pair as usize];
        // the messages of a pair keep their order, whatever their connections
        let first = net.jobs.connections[pair.connections().start as usize].flow;
        let key = Key::message(ctx.now.saturating_add(pair.latency), first, number);
        let [from, to] = [pair.from, pair.to].map(|rank| net.jobs.ranks[rank].host);
        let here = net.place[from].domain == net.place[to].domain;
        ctx.out.announce((!here).then_some(to), key, timer);
    }

    /// Writes a message, or a part of one, to a connection.
    fn write_part(&mut self, ctx: &mut NodeCtx<impl Effects>, number: u32, written: Written, bytes: u64) {
        let net = ctx.net;
        let connection = &net.jobs.connections[number as usize];
        let pair = &net.jobs.pairs[connection.pair as usize];
        let Some(jobs) = &mut self.jobs else { return };
        let outgoing = &mut jobs.outgoing[pair.outgoing()][pair.place(number)];
        outgoing.bytes += bytes;
        outgoing.messages.push_back(Written { end: outgoing.bytes, ..written });
        outgoing.written += 1;
        let opens = !std::mem::replace(&mut outgoing.is_open, true);
        self.write(ctx, connection.flow, bytes, opens);
    }

    fn write(&mut self, ctx: &mut NodeCtx<impl Effects>, flow: FlowId, bytes: u64, opens: bool) {
        let net = ctx.net;
        if self.used_sender(net, flow).is_none() {
            return;
        }
        let Some(sender) = self.senders.at_mut(net.ends[flow].sender.ix()) else { return };
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

/// Rank of a sending task, its number there, and the task.
fn sent_by(net: &FabricMap, task: TaskId) -> (RankId, u32, Task) {
    let (rank, own) = net.jobs.of_task(task);
    (rank, own, net.jobs.tasks(net.spec, rank).task(own))
}

/// Bytes of a connection that a message takes: an empty one takes a byte, as in LogGOPSim, and so arrives in a packet.
fn on_a_connection(size: u64) -> u64 {
    size.max(1)
}
