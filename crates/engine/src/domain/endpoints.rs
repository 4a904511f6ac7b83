//! Endpoints on the hosts of a domain: their arrivals and their timers.

use crate::domain::closing_connections::ClosingConnection;
use crate::domain::flow_frames::{ReceiverFrames, SenderFrames};
use crate::domain::probe::{FlowProbe, observed, observed_tcp};
use crate::domain::queries::{answered, query_record};
use crate::domain::ranks::DomainJobs;
use crate::event::order::Timer;
use crate::event::packet::{Ext, Packet, flag};
use crate::host::messages::Query;
use crate::host::nic::FairNic;
use crate::ids::{EngineId, FlowId, HostIx, LinkId, Node, NodeId, QueryId, ReceiverIx, SenderIx, Side};
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use crate::program::Programs;
use crate::radio::repeated::RepeatedArrivals;
use crate::spec::TimelineSpec;
use crate::transport::timer::Task;
use crate::transport::{EndTable, Pacers, ReceiveEndpoint, SendEndpoint, nearby, on_pacer};
use incast_cc::Time;
use incast_record::Recorder;
use incast_record::store::Store;

/// Senders, receivers and queries on the hosts of a domain.
#[derive(Debug, Default)]
pub struct Endpoints {
    /// Senders.
    pub senders: EndTable<SendEndpoint>,
    /// Receivers.
    pub receivers: EndTable<ReceiveEndpoint>,
    /// Pacers of the hosts.
    pub pacers: Pacers,
    /// Queries.
    pub queries: Vec<Query>,
    /// Ranks of jobs, if any.
    pub jobs: Option<Box<DomainJobs>>,
    /// True without fast paths: also ends of connections of jobs stay.
    pub(super) plain: bool,
    pub(super) probes: Vec<FlowProbe>,
    /// Frames of receivers, with a timeline.
    pub(super) arrivals: Vec<ReceiverFrames>,
    /// Ends of connections not yet closed, while later ones of the same flows are active.
    #[allow(clippy::vec_box)] // large, and they are taken out of the middle
    pub(super) closing: Vec<Box<ClosingConnection>>,
}

impl Endpoints {
    /// Joins the ends of a two-way connection at one host, where it is TCP's. `tcb`: index of the control block;
    /// `size`: bytes of an arriving message; `passive`: the other host opens it. Returns the offered window.
    pub fn make_duplex(
        &mut self,
        net: &FabricMap,
        (sender, receiver): (SenderIx, ReceiverIx),
        tcb: u32,
        size: u64,
        passive: bool,
    ) -> u32 {
        if let Some(tcp) = self.senders[sender].tcp() {
            tcp.make_duplex(tcb, passive);
        }
        self.receivers[receiver].tcp().map_or(0, |tcp| tcp.make_duplex(net, tcb, size))
    }

    /// Starts a time series of `flow`, whose sender is here.
    pub fn probe(&mut self, net: &FabricMap, flow: FlowId) {
        if self.used_sender(net, flow).is_some() {
            self.probe_of(net.ends[flow].sender).into_iter().for_each(|probe| probe.record_series(flow));
        }
    }

    /// Counts all flows by frames. Their probes come first, one for each sender.
    pub fn frame(&mut self, spec: &TimelineSpec, net: &FabricMap, store: &Store) {
        for sender in (0..self.senders.count_own() as u32).map(SenderIx) {
            let frames = || SenderFrames::new(spec, store);
            self.probe_of(sender).into_iter().for_each(|probe| probe.frames = Some(frames()));
        }
        let size = |receiver: &ReceiveEndpoint| net.flow(receiver.flow()).app.size();
        let frames = |receiver| ReceiverFrames::new(spec, size(receiver), store);
        self.arrivals = self.receivers.iter().map(frames).collect();
    }

    /// Closes the frames of flows at the end of the run.
    pub(super) fn end_frames(&mut self, end: Time, repeated: &RepeatedArrivals) {
        for (probe, sender) in self.probes.iter_mut().zip(self.senders.iter()) {
            probe.frames.iter_mut().for_each(|frames| frames.end(sender, end));
        }
        for (frames, receiver) in self.arrivals.iter_mut().zip(self.receivers.iter()) {
            frames.end(frames.delivered(receiver, repeated), end);
        }
    }

    /// Frames of a receiver, with a timeline.
    pub(super) fn frames_of_receiver(&self, receiver: ReceiverIx) -> Option<&ReceiverFrames> {
        self.arrivals.get(receiver.ix())
    }

    /// Frames of a sender, with a timeline.
    pub(super) fn frames_of_sender(&self, sender: SenderIx) -> Option<&SenderFrames> {
        self.probes.get(sender.ix())?.frames.as_ref()
    }

    fn probe_of(&mut self, sender: SenderIx) -> Option<&mut FlowProbe> {
        let own = self.senders.at_mut(sender.ix())?.probe();
        let place = *own.get_or_insert(self.probes.len() as u32) as usize;
        if place == self.probes.len() {
            self.probes.push(FlowProbe::default());
        }
        self.probes.get_mut(place)
    }

    /// Closes frames before the flow's next connection replaces that of a sender.
    pub(super) fn close_frames(&mut self, sender: SenderIx, now: Time, come: Time) {
        let frames = self.probes.get_mut(sender.ix()).and_then(|probe| probe.frames.as_mut());
        frames.into_iter().for_each(|frames| frames.before(&self.senders[sender], now, come));
    }

    /// Completes time series of flows, and records of messages, at the end of the run.
    pub fn finish<R: Recorder>(&mut self, end: Time, net: &FabricMap, rec: &mut R) {
        for sender in self.senders.iter_mut() {
            if let Some(probe) = *sender.probe() {
                self.probes[probe as usize].before(sender, end, end, net, rec);
            }
            sender.record_writes(net, rec);
        }
        for query in self.queries.iter().filter(|q| q.waiting > 0) {
            rec.message(query_record(query, net, None));
        }
        if let Some(jobs) = &mut self.jobs {
            jobs.finish(end, net, rec);
        }
    }

    /// Prefetches the data that a packet touches when it arrives at its host.
    #[inline(always)]
    pub fn prefetch(&self, packet: &Packet, net: &FabricMap) {
        let ends = net.ends[packet.flow];
        if packet.is_reverse() {
            self.senders.at(ends.sender.ix()).into_iter().for_each(nearby::sender);
        } else {
            self.receivers.at(ends.receiver.ix()).into_iter().for_each(nearby::receiver);
        }
    }

    /// Delivers a packet to the stack of its host, [`NodeCtx::held`] after its arrival at the NIC.
    #[inline(always)]
    pub fn deliver(&mut self, ctx: &mut NodeCtx<impl Effects>, packet: &Packet, ext: Option<&mut Ext>) {
        ctx.counts.delivered += 1;
        if packet.has(flag::DUPLEX) {
            return self.deliver_duplex(ctx, packet, ext);
        }
        let ends = ctx.net.ends[packet.flow];
        if packet.is_reverse() {
            let Some(sender) = self.senders.at_mut(ends.sender.ix()) else { return };
            let pacers = &mut self.pacers;
            observed(&mut self.probes, sender, ctx, |s, ctx| s.on_packet(ctx, pacers, packet, ext.as_deref()));
        } else {
            let Some(receiver) = self.receivers.at_mut(ends.receiver.ix()) else { return };
            receiver.on_packet(ctx, &mut self.pacers, packet, ext);
        }
    }

    /// Delivers a packet where receivers may be counted by frames.
    pub(super) fn deliver_counted(&mut self, ctx: &mut NodeCtx<impl Effects>, packet: &Packet, ext: Option<&mut Ext>) {
        if !self.arrivals.is_empty() && !packet.is_reverse() {
            let receiver = ctx.net.ends[packet.flow].receiver;
            let frames = &mut self.arrivals[receiver.ix()];
            if frames.is_due(ctx.now) {
                let all = frames.delivered(&self.receivers[receiver], &ctx.shared.repeated);
                frames.close(all, ctx.now, ctx.counts.last);
            }
        }
        if ext.as_ref().is_some_and(|ext| ext.again) {
            ctx.shared.repeated.count(packet, ctx.now, &ctx.net.interval);
        }
        if self.jobs.is_none() {
            return self.deliver(ctx, packet, ext);
        }
        if !self.is_there(ctx.net, packet) {
            ctx.counts.delivered += 1;
            return;
        }
        self.deliver(ctx, packet, ext);
        self.job_progress(ctx, packet);
    }

    /// Delivers a packet of a two-way connection.
    #[cold]
    fn deliver_duplex(&mut self, ctx: &mut NodeCtx<impl Effects>, packet: &Packet, ext: Option<&mut Ext>) {
        let net = ctx.net;
        let ends = net.ends[packet.flow];
        let Some(duplex) = net.duplex(packet.flow) else { return };
        if duplex.close.is_some() {
            return self.deliver_per_query(ctx, packet, duplex, ext);
        }
        if packet.is_reverse() {
            let (sender, pacers) = (&mut self.senders[ends.sender], &mut self.pacers);
            return observed(&mut self.probes, sender, ctx, |s, ctx| {
                on_segment(s, ctx, pacers, packet, ext.as_deref())
            });
        }
        // first the acknowledgement, then the data, as a host processes a segment
        let back = net.ends[duplex.other].sender;
        let (sender, pacers) = (&mut self.senders[back], &mut self.pacers);
        observed(&mut self.probes, sender, ctx, |s, ctx| on_segment(s, ctx, pacers, packet, ext.as_deref()));
        self.receivers[ends.receiver].on_packet(ctx, &mut self.pacers, packet, ext);
        while self.receivers[ends.receiver].take_message() {
            if duplex.response {
                let query = &mut self.queries[net.queries[duplex.query] as usize];
                answered(query, ctx);
            } else {
                let size = net.duplex(duplex.other).map_or(0, |j| j.size);
                let sender = &mut self.senders[back];
                observed(&mut self.probes, sender, ctx, |s, ctx| match s.tcp() {
                    Some(tcp) => tcp.on_reply(ctx, size),
                    None => s.on_message(ctx, size),
                });
            }
        }
    }

    /// Starts a query: a request on every connection.
    #[cold]
    pub fn begin_query(&mut self, ctx: &mut NodeCtx<impl Effects>, query: QueryId) {
        let net = ctx.net;
        let spec = &net.spec.queries[query];
        if ctx.now >= spec.stop || spec.count == Some(0) {
            return;
        }
        let query = &mut self.queries[net.queries[query] as usize];
        query.begun = ctx.now;
        query.waiting = spec.connections.len() as u32;
        let number = query.number;
        let reconnects = number > 0 && spec.close.is_some();
        for c in &spec.connections {
            let flow = FlowId(c.request);
            if reconnects {
                self.reconnect(ctx, flow, number);
            }
            let sender = &mut self.senders[net.ends[flow].sender];
            observed(&mut self.probes, sender, ctx, |s, ctx| s.on_message(ctx, c.request_size));
            if reconnects {
                match net.flow(flow).start.saturating_sub(spec.first) {
                    Time::ZERO => observed_tcp(&mut self.probes, sender, ctx, |tcp, ctx| tcp.reopen(ctx)),
                    later => ctx.timer(ctx.now.saturating_add(later), Timer::Start(flow)),
                }
            }
        }
    }

    /// Runs the tasks in the run queue of `flow`'s host: timers, the last one set first, then processes.
    #[cold]
    fn run_queued(&mut self, ctx: &mut NodeCtx<impl Effects>, flow: FlowId) {
        let net = ctx.net;
        let host = net.place[net.flow(flow).src as usize].node.of_host();
        let queue = &mut ctx.hosts[host].run_queue;
        let (mut due, woken) = (std::mem::take(&mut queue.due), std::mem::take(&mut queue.woken));
        due.sort_unstable_by(|a, b| b.cmp(a));
        for (_, flow, delayed_ack) in due {
            if delayed_ack {
                let receiver = net.duplex(flow).map_or(flow, |duplex| duplex.other);
                run(self.receivers.at_mut(net.ends[receiver].receiver.ix()), ctx, Task::Timer);
                self.run_closing(ctx, receiver, true);
                release(&mut self.receivers, ctx, host);
                continue;
            }
            let Some(sender) = self.senders.at_mut(net.ends[flow].sender.ix()) else { continue };
            observed_tcp(&mut self.probes, sender, ctx, |tcp, ctx| tcp.run(ctx, Task::Timer));
            self.run_closing(ctx, flow, false);
        }
        for flow in woken {
            let sender = &mut self.senders[net.ends[flow].sender];
            observed_tcp(&mut self.probes, sender, ctx, |tcp, ctx| tcp.run(ctx, Task::Application));
        }
    }

    /// Called when an engine of a host has finished a packet, which goes to the stack or to the NIC.
    #[cold]
    pub fn processed(&mut self, ctx: &mut NodeCtx<impl Effects>, id: EngineId) {
        let host = ctx.net.place[id.host()].node.of_host();
        let Some(mut held) = ctx.processed(host, id) else { return };
        match id.side() {
            Side::Send => {
                ctx.leave_host(host, held);
                self.watch_service(ctx, host);
            }
            Side::Receive => {
                ctx.held = ctx.now - held.since;
                self.deliver_counted(ctx, &held.packet, held.ext.as_mut());
            }
        }
    }

    /// Ends a transmission at the port of a link, or at a host's fair NIC. `programs` are those of switches.
    #[inline]
    pub fn departure(&mut self, ctx: &mut NodeCtx<impl Effects>, link: LinkId, programs: &mut [Option<Box<Programs>>]) {
        ctx.turn = Some((ctx.generation, Timer::Departure(link)));
        let net = ctx.net;
        let (host, nic) = match net.origins[link].get() {
            Node::Host(host) => (host, ctx.hosts[host].nic.as_mut()),
            Node::Switch(_) => (HostIx(0), None),
        };
        let Some(nic) = nic else { return ctx.depart(net.port_of[link], programs) };
        let flow = nic.departed();
        // Departures precede all else of their generation, so their effects at this instant still belong to it: a NIC
        // without serialization time sends a window of any length within one generation.
        ctx.generation = ctx.generation.saturating_sub(1);
        ctx.serve(host);
        self.watch_service(ctx, host);
        if let Some(flow) = flow {
            let sender = self.senders.at_mut(net.ends[flow].sender.ix());
            let waits = sender.and_then(SendEndpoint::tcp).is_some_and(|tcp| {
                tcp.begin();
                tcp.on_room(ctx);
                tcp.waits_for_room()
            });
            if !self.closing.is_empty() {
                self.nic_room_for_closing(ctx, flow);
            }
            if waits || self.has_closing(flow) {
                ctx.watch_nic(host);
            }
        }
    }

    /// Watches the end of service of the packet that a host's NIC has just taken, if its sender waits for room.
    #[inline]
    fn watch_service(&mut self, ctx: &mut NodeCtx<impl Effects>, host: HostIx) {
        let served = ctx.hosts[host].nic.as_ref().and_then(FairNic::in_service);
        if let Some(flow) = served
            && (self.waits_for_room(ctx.net.ends[flow].sender) || self.has_closing(flow))
        {
            ctx.watch_nic(host);
        }
    }

    /// Returns whether a sender might act when the NIC of its host has sent something.
    #[inline]
    fn waits_for_room(&mut self, sender: SenderIx) -> bool {
        self.senders.at_mut(sender.ix()).and_then(SendEndpoint::tcp).is_some_and(|tcp| tcp.waits_for_room())
    }

    /// Called when a pacer of host `node` is due.
    #[cold]
    pub fn on_pacer(&mut self, ctx: &mut NodeCtx<impl Effects>, node: NodeId) {
        on_pacer(ctx, &mut self.pacers, (&mut self.senders, &mut self.receivers), node);
    }

    /// Disables the prediction of ACKs and segments.
    pub fn disable_fast_paths(&mut self) {
        self.plain = true;
        self.senders.iter_mut().filter_map(SendEndpoint::tcp).for_each(|tcp| tcp.disable_fast_paths());
        self.receivers.iter_mut().filter_map(ReceiveEndpoint::tcp).for_each(|tcp| tcp.disable_fast_paths());
    }

    /// Called when a timer of an endpoint, a query or a host's run queue fires.
    pub fn timer(&mut self, ctx: &mut NodeCtx<impl Effects>, timer: Timer) {
        let net = ctx.net;
        if !self.closing.is_empty() {
            self.timer_of_closing(ctx, timer);
        }
        match timer {
            Timer::Query(query) => self.begin_query(ctx, query),
            Timer::RunQueue(flow) => self.run_queued(ctx, flow),
            Timer::Rank(_)
            | Timer::Calculation(_)
            | Timer::Message(_)
            | Timer::Again(_)
            | Timer::ScaleUpSent(_)
            | Timer::ScaleUpArrived(_)
            | Timer::Closing(_)
            | Timer::Closed(_) => self.job_timer(ctx, timer),
            Timer::Opening(opening) => {
                for flow in net.triggers.flows(opening) {
                    let sender = &mut self.senders[net.ends[*flow].sender];
                    observed(&mut self.probes, sender, ctx, |s, ctx| s.on_timer(ctx, timer));
                }
            }
            Timer::DelayedAck(flow)
            | Timer::Receiver(flow)
            | Timer::WindowUpdate(flow)
            | Timer::SinkStop(flow)
            | Timer::SynAck(flow) => {
                let Some(receiver) = self.receivers.at_mut(net.ends[flow].receiver.ix()) else { return };
                receiver.on_timer(ctx, timer);
                if let Some(host) = receiver.tcp().map(|tcp| tcp.ip.host) {
                    release(&mut self.receivers, ctx, host);
                }
            }
            Timer::Start(flow)
            | Timer::Stop(flow)
            | Timer::Retransmit(flow)
            | Timer::Pace(flow)
            | Timer::Sender(flow)
            | Timer::Wake(flow)
            | Timer::App(flow) => {
                let Some(sender) = self.senders.at_mut(net.ends[flow].sender.ix()) else { return };
                observed(&mut self.probes, sender, ctx, |s, ctx| s.on_timer(ctx, timer));
            }
            _ => {}
        }
    }
}

/// Handles a packet of a two-way connection: of the sender's flow, or of the flow in the other direction.
fn on_segment(
    sender: &mut SendEndpoint,
    ctx: &mut NodeCtx<impl Effects>,
    pacers: &mut Pacers,
    packet: &Packet,
    ext: Option<&Ext>,
) {
    match sender.tcp() {
        Some(tcp) => tcp.on_packet_of_connection(ctx, packet, ext),
        None => sender.on_packet(ctx, pacers, packet, ext),
    }
}

/// Runs a task of the host's run queue.
fn run(receiver: Option<&mut ReceiveEndpoint>, ctx: &mut NodeCtx<impl Effects>, task: Task) {
    if let Some(tcp) = receiver.and_then(ReceiveEndpoint::tcp) {
        tcp.run(ctx, task);
    }
}

/// Sends compressed SACKs that a timer of the host released, in the order of their own timers.
fn release(receivers: &mut EndTable<ReceiveEndpoint>, ctx: &mut NodeCtx<impl Effects>, host: HostIx) {
    if ctx.hosts[host].run_queue.released.is_empty() {
        return;
    }
    let mut released = std::mem::take(&mut ctx.hosts[host].run_queue.released);
    released.sort_unstable();
    for (at, flow) in released {
        run(receivers.at_mut(ctx.net.ends[flow].receiver.ix()), ctx, Task::Compressed(at));
    }
}
