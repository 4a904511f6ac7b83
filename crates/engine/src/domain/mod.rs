//! A domain: the nodes simulated together, with all their state.

pub mod build;
mod deadlock;

use crate::event::ids::{Node, PortIx};
use crate::event::order::{Timer, TimerKind};
use crate::event::outbox::{Instant, Outbox};
use crate::event::packet::{Ext, Packet, flag};
use crate::event::prefetch;
use crate::host::messages::{Half, Query};
use crate::host::nic::FairNic;
use crate::host::processing::{EngineId, Side};
use crate::map::fabric::FabricMap;
use crate::node::io::{Host, Io, Reach, Tally, observe_port, pass};
use crate::port::Port;
use crate::port::buffer::Pool;
use crate::switch::Switch;
use crate::switch::route::{Planned, Route};
use crate::transport::{ReceiveEndpoint, SendEndpoint, Turn};
use incast_record::{Happening, MessageKind, MessageRecord, Recorder, Sample};
use std::sync::Arc;

/// Time series of one flow.
#[derive(Clone, Debug)]
struct FlowProbe {
    entity: Arc<str>,
    /// Next instant, in interval mode.
    next: u64,
    last_acked: f64,
    /// Last values, in every-change mode.
    last: Vec<(&'static str, f64)>,
}

/// Nodes simulated as one unit.
#[derive(Debug, Default)]
pub struct Domain {
    /// Ports of all its nodes; those of one node are neighbours, in link order.
    pub ports: Vec<Port>,
    /// Its switches.
    pub switches: Vec<Switch>,
    /// Its hosts.
    pub hosts: Vec<Host>,
    /// Senders on its hosts.
    pub senders: Vec<SendEndpoint>,
    /// Receivers on its hosts.
    pub receivers: Vec<ReceiveEndpoint>,
    /// Shared buffers of its switches, where they have some.
    pub pools: Vec<Pool>,
    /// Sides of two-way connections on its hosts.
    pub halves: Vec<Half>,
    /// Queries of its hosts.
    pub queries: Vec<Query>,
    /// How often each of the triggers that its hosts count has been activated.
    pub activations: Vec<u32>,
    probes: Vec<FlowProbe>,
    /// Counts.
    pub tally: Tally,
}

/// Splits a domain into the state machine at work and the world it acts on.
macro_rules! io {
    ($domain:ident, $at:ident, $reach:ident, $cause:expr) => {
        Io {
            cause: $cause,
            held: 0,
            now: $at.time,
            generation: $at.generation,
            net: $reach.net,
            out: $reach.out,
            rec: $reach.rec,
            ports: &mut $domain.ports,
            hosts: &mut $domain.hosts,
            pools: &mut $domain.pools,
            halves: &mut $domain.halves,
            tally: &mut $domain.tally,
        }
    };
}

impl Domain {
    /// Starts a time series of the flow of local sender `sender`.
    pub fn probe(&mut self, sender: u32) {
        let s = &mut self.senders[sender as usize];
        *s.probe() = Some(self.probes.len() as u32);
        self.probes.push(FlowProbe {
            entity: format!("flow {}", s.flow()).into(),
            next: 0,
            last_acked: 0.0,
            last: Vec::new(),
        });
    }

    /// Brings near what every visit touches.
    #[inline]
    pub fn prefetch(&self) {
        prefetch::lines(self.switches.as_slice(), 2);
    }

    /// Looks ahead at a packet that will arrive in the open window: brings its state near, and says where it goes as
    /// far as that is known already.
    #[inline(always)]
    pub fn plan(&mut self, packet: &Packet, net: &FabricMap) -> Planned {
        let switch = match net.links[packet.link as usize].node.get() {
            Node::Host(host) => {
                let ends = net.ends[packet.flow as usize];
                if packet.has(flag::REVERSE) {
                    self.senders[ends.sender as usize].prefetch();
                } else {
                    self.receivers[ends.receiver as usize].prefetch();
                }
                prefetch::lines(&self.hosts[host.ix()], 4);
                return Planned::DELIVER;
            }
            Node::Switch(switch) => &mut self.switches[switch.ix()],
        };
        let planned = if packet.has(flag::PATH) { prescribed(net, packet) } else { switch.plan(net, packet) };
        match self.ports.get(planned.ix()) {
            Some(port) => prefetch::lines(port, 2),
            None if planned == Planned::CHOOSE => switch.prefetch(&self.ports, packet.dst),
            None => {}
        }
        planned
    }

    /// Looks at what [`Domain::plan`] asked for, and brings near what that refers to.
    #[inline(always)]
    pub fn look_further(&self, packet: &Packet, planned: Planned, net: &FabricMap) {
        if let Some(port) = self.ports.get(planned.ix()) {
            return port.prefetch_queue();
        }
        if let Node::Host(host) = net.links[packet.link as usize].node.get() {
            if packet.has(flag::REVERSE) {
                self.senders[net.ends[packet.flow as usize].sender as usize].prefetch_further();
            }
            let host = &self.hosts[host.ix()];
            prefetch::lines(&self.ports[host.port as usize], 2);
            host.nic.iter().for_each(FairNic::prefetch);
        }
    }

    /// A packet arrived at the far end of its link; `planned` is what [`Domain::plan`] said.
    #[inline(always)]
    pub fn arrival<O: Outbox, R: Recorder>(
        &mut self,
        at: Instant,
        packet: &Packet,
        ext: Option<&mut Ext>,
        planned: Planned,
        reach: Reach<O, R>,
    ) {
        self.tally.last = self.tally.last.max(at.time);
        match self.ports.get_mut(planned.ix()) {
            Some(port) if !port.is_unusual() && !packet.has(flag::TRACED) => {
                pass(port, at, packet, ext, &reach.net.interval, &mut self.tally, reach.out);
            }
            _ => self.deliver(at, packet, ext, planned, reach),
        }
    }

    /// An arrival that is more than a hop: at a host, traced, or without a route.
    #[inline(never)]
    fn deliver<O: Outbox, R: Recorder>(
        &mut self,
        at: Instant,
        packet: &Packet,
        ext: Option<&mut Ext>,
        planned: Planned,
        reach: Reach<O, R>,
    ) {
        let net = reach.net;
        let mut planned = planned;
        if planned == Planned::CHOOSE
            && let Node::Switch(switch) = net.links[packet.link as usize].node.get()
        {
            planned = Planned::port(self.switches[switch.ix()].choose(net, &self.ports, packet));
        }
        let mut io = io!(self, at, reach, packet.size);
        if packet.has(flag::TRACED) {
            if packet.is_pause_frame() {
                return io.obey(packet);
            }
            let node = net.spec.links[packet.link as usize].to;
            io.trace(packet, Happening::Arrive, false, node);
        }
        match planned.route() {
            Route::Deliver => {}
            Route::Port(port) => return io.transmit(port.0, packet, ext),
            Route::Choose | Route::None => {
                io.tally.dropped += 1;
                return;
            }
        }
        if net.hosts_cost {
            let host = net.links[packet.link as usize].node.of_host().0;
            if io.hosts[host as usize].receive.is_some() {
                return io.process(host, Side::Receive, packet, ext);
            }
        }
        self.take_in(at, packet, ext, 0, packet.size, reach);
    }

    /// The stack of a host takes a packet in, `held` ps after its arrival at the NIC.
    #[inline(always)]
    fn take_in<O: Outbox, R: Recorder>(
        &mut self,
        at: Instant,
        packet: &Packet,
        ext: Option<&mut Ext>,
        held: u64,
        cause: u16,
        reach: Reach<O, R>,
    ) {
        let (now, net) = (at.time, reach.net);
        if packet.has(flag::JOINED) {
            self.tally.delivered += 1;
            return self.deliver_joined(at, packet, ext, held, cause, reach);
        }
        let mut io = io!(self, at, reach, cause);
        io.held = held;
        io.tally.delivered += 1;
        let ends = net.ends[packet.flow as usize];
        if packet.has(flag::REVERSE) {
            let sender = &mut self.senders[ends.sender as usize];
            observed(&mut self.probes, sender, now, &mut io, |s, io| s.on_packet(io, packet, ext.as_deref()));
        } else {
            self.receivers[ends.receiver as usize].on_packet(&mut io, packet, ext);
        }
    }

    /// A packet of a two-way connection, or a datagram, reached its host.
    #[cold]
    fn deliver_joined<O: Outbox, R: Recorder>(
        &mut self,
        at: Instant,
        packet: &Packet,
        ext: Option<&mut Ext>,
        held: u64,
        cause: u16,
        reach: Reach<O, R>,
    ) {
        let net = reach.net;
        let ends = net.ends[packet.flow as usize];
        let (now, mut io) = (at.time, io!(self, at, reach, cause));
        io.held = held;
        let Some(join) = net.join(packet.flow) else { return };
        if packet.has(flag::REVERSE) {
            let sender = &mut self.senders[ends.sender as usize];
            let act = |s: &mut SendEndpoint, io: &mut Io<O, R>| s.on_packet_of_connection(io, packet, ext.as_deref());
            return observed(&mut self.probes, sender, now, &mut io, act);
        }
        // the acknowledgement first, then the data, as a host reads a segment
        let back = net.ends[join.other as usize].sender as usize;
        let sender = &mut self.senders[back];
        observed(&mut self.probes, sender, now, &mut io, |s, io| s.on_packet_of_connection(io, packet, ext.as_deref()));
        self.receivers[ends.receiver as usize].on_packet(&mut io, packet, ext);
        while self.receivers[ends.receiver as usize].take_message() {
            if join.response {
                let query = &mut self.queries[net.queries[join.query as usize] as usize];
                answered(query, &mut io);
            } else {
                let size = net.join(join.other).map_or(0, |j| j.size);
                let sender = &mut self.senders[back];
                observed(&mut self.probes, sender, now, &mut io, |s, io| s.on_reply(io, size));
            }
        }
    }

    /// A query begins: a request on every connection.
    #[cold]
    fn begin_query<O: Outbox, R: Recorder>(&mut self, at: Instant, entity: u32, reach: Reach<O, R>) {
        let net = reach.net;
        let spec = &net.spec.queries[entity as usize];
        if at.time >= spec.stop.0 || spec.count == Some(0) {
            return;
        }
        let query = &mut self.queries[net.queries[entity as usize] as usize];
        query.begun = at.time;
        query.waiting = spec.connections.len() as u32;
        let (now, mut io) = (at.time, io!(self, at, reach, u16::MAX));
        for c in &spec.connections {
            let sender = &mut self.senders[net.ends[c.request as usize].sender as usize];
            observed(&mut self.probes, sender, now, &mut io, |s, io| s.on_message(io, c.request_size));
        }
    }

    /// What waits on the host of flow `entity` takes its turn: timers, the last set first, then processes.
    #[cold]
    fn take_turns<O: Outbox, R: Recorder>(&mut self, at: Instant, entity: u32, reach: Reach<O, R>) {
        let net = reach.net;
        let host = self.senders[net.ends[entity as usize].sender as usize].host();
        let (now, mut io) = (at.time, io!(self, at, reach, u16::MAX));
        let turns = &mut io.hosts[host as usize].turns;
        let (mut due, woken) = (std::mem::take(&mut turns.due), std::mem::take(&mut turns.woken));
        due.sort_unstable_by(|a, b| b.cmp(a));
        for (_, flow, delayed_ack) in due {
            if delayed_ack {
                let receiver = net.join(flow).map_or(flow, |join| join.other);
                self.receivers[net.ends[receiver as usize].receiver as usize].on_turn(&mut io, Turn::Timer);
                release(&mut self.receivers, &mut io, host);
                continue;
            }
            let sender = &mut self.senders[net.ends[flow as usize].sender as usize];
            observed(&mut self.probes, sender, now, &mut io, |s, io| s.on_turn(io, Turn::Timer));
        }
        for flow in woken {
            let sender = &mut self.senders[net.ends[flow as usize].sender as usize];
            observed(&mut self.probes, sender, now, &mut io, |s, io| s.on_turn(io, Turn::Application));
        }
    }

    /// An engine of a host is done with a packet: the stack takes it, or the NIC.
    #[cold]
    fn processed<O: Outbox, R: Recorder>(&mut self, at: Instant, id: EngineId, reach: Reach<O, R>) {
        let host = reach.net.place[id.host as usize].node.of_host().0;
        let mut io = io!(self, at, reach, u16::MAX);
        let Some(mut held) = io.processed(host, id) else { return };
        match id.side {
            Side::Send => io.leave_host(host, held),
            Side::Receive => {
                let took = at.time - held.since;
                self.take_in(at, &held.packet, held.ext.as_mut(), took, u16::MAX, reach);
            }
        }
    }

    /// A timer fired (all kinds but [`TimerKind::Far`]).
    pub fn timer<O: Outbox, R: Recorder>(&mut self, at: Instant, timer: Timer, reach: Reach<O, R>) {
        if timer.kind == TimerKind::Query {
            return self.begin_query(at, timer.entity, reach);
        }
        if timer.kind == TimerKind::Turn {
            return self.take_turns(at, timer.entity, reach);
        }
        if timer.kind == TimerKind::Process {
            return self.processed(at, EngineId::of(timer.entity), reach);
        }
        let (now, net) = (at.time, reach.net);
        let mut io = io!(self, at, reach, u16::MAX);
        if timer.kind == TimerKind::Activation {
            let count = &mut self.activations[net.triggers.list[timer.entity as usize].count as usize];
            *count += 1;
            return io.activated(timer.entity, *count);
        }
        if timer.kind == TimerKind::Opening {
            for flow in net.triggers.flows(timer.entity) {
                let sender = &mut self.senders[net.ends[*flow as usize].sender as usize];
                observed(&mut self.probes, sender, now, &mut io, |s, io| s.open(io));
            }
            return;
        }
        let ends = match timer.kind {
            TimerKind::Departure => {
                let origin = net.origins[timer.entity as usize].get();
                let (host, nic) = match origin {
                    Node::Host(host) => (host.0, io.hosts[host.ix()].nic.as_mut()),
                    Node::Switch(_) => (0, None),
                };
                let Some(nic) = nic else { return io.depart(net.port_of[timer.entity as usize]) };
                let flow = nic.departed();
                // Departures precede all else of their generation, so what one causes at this instant is
                // still of it: a NIC without serialization sends a window of any length within one.
                io.generation = io.generation.saturating_sub(1);
                io.serve(host);
                if let Some(flow) = flow {
                    self.senders[net.ends[flow as usize].sender as usize].on_room(&mut io);
                }
                return;
            }
            TimerKind::Transition => return io.transition(timer.entity),
            _ => net.ends[timer.entity as usize],
        };
        match timer.kind {
            TimerKind::DelayedAck | TimerKind::WindowUpdate | TimerKind::SinkStop => {
                let receiver = &mut self.receivers[ends.receiver as usize];
                receiver.on_timer(&mut io, timer.kind);
                let host = receiver.host();
                release(&mut self.receivers, &mut io, host);
            }
            _ => {
                let sender = &mut self.senders[ends.sender as usize];
                observed(&mut self.probes, sender, now, &mut io, |s, io| s.on_timer(io, timer.kind));
            }
        }
    }

    /// Completes the time series at the end of the run.
    pub fn finish<R: Recorder>(&mut self, end: u64, net: &FabricMap, rec: &mut R) {
        for sender in &mut self.senders {
            if let Some(probe) = *sender.probe() {
                self.probes[probe as usize].before(sender, end, net, rec);
            }
            sender.record_writes(net, rec);
        }
        for query in self.queries.iter().filter(|q| q.waiting > 0) {
            rec.message(query_record(query, net, None));
        }
        // departures at the very end are not part of the run, whichever way a port keeps its queue
        let until = if net.spec.observe.interval.is_some() { end } else { end.saturating_sub(1) };
        for port in self.ports.iter_mut().filter(|p| p.is_probed()) {
            observe_port(port, until, net, rec);
        }
    }
}

/// Lets a sender act, and its time series, if it has one, see before and after.
#[inline(always)]
fn observed<O: Outbox, R: Recorder>(
    probes: &mut [FlowProbe],
    sender: &mut SendEndpoint,
    now: u64,
    io: &mut Io<O, R>,
    act: impl FnOnce(&mut SendEndpoint, &mut Io<O, R>),
) {
    let net = io.net;
    match *sender.probe() {
        Some(probe) => {
            let probe = &mut probes[probe as usize];
            probe.before(sender, now, net, io.rec);
            act(sender, io);
            probe.after(sender, now, net, io.rec);
        }
        None => act(sender, io),
    }
}

/// Compressed SACKs that a timer of the host took along go out, in the order of their own timers.
fn release<O: Outbox, R: Recorder>(receivers: &mut [ReceiveEndpoint], io: &mut Io<O, R>, host: u32) {
    if io.hosts[host as usize].turns.released.is_empty() {
        return;
    }
    let mut released = std::mem::take(&mut io.hosts[host as usize].turns.released);
    released.sort_unstable();
    for (at, flow) in released {
        receivers[io.net.ends[flow as usize].receiver as usize].on_turn(io, Turn::Compressed(at));
    }
}

/// A response is complete; with the last one the query is, and the next begins after a think time.
fn answered<O: Outbox, R: Recorder>(query: &mut Query, io: &mut Io<O, R>) {
    query.waiting -= 1;
    if query.waiting > 0 {
        return;
    }
    io.rec.message(query_record(query, io.net, Some(io.now)));
    let spec = &io.net.spec.queries[query.spec as usize];
    query.number += 1;
    if spec.count == Some(query.number) {
        io.rec.finish(io.now);
    }
    let next = io.now.saturating_add(spec.think.0);
    if spec.count.is_none_or(|count| query.number < count) && next < spec.stop.0 {
        io.timer(next, TimerKind::Query, query.spec);
    }
}

fn query_record(query: &Query, net: &FabricMap, finish_ps: Option<u64>) -> MessageRecord {
    let spec = &net.spec.queries[query.spec as usize];
    MessageRecord {
        kind: MessageKind::Query,
        group: spec.group,
        host: spec.root,
        flow: spec.connections.first().map_or(0, |c| c.response),
        number: query.number,
        workers: spec.connections.len() as u32,
        bytes: spec.connections.iter().map(|c| c.response_size).sum(),
        start_ps: query.begun,
        finish_ps,
        timeouts: 0,
    }
}

/// The port that a flow's prescribed path takes next.
fn prescribed(net: &FabricMap, packet: &Packet) -> Planned {
    let flow = net.flow(packet.flow);
    let path = if packet.has(flag::REVERSE) { flow.reverse_path.as_ref() } else { flow.path.as_ref() };
    let link = path.and_then(|path| path.get(packet.hop as usize));
    link.map_or(Planned::NONE, |link| Planned::port(PortIx(net.port_of[*link as usize])))
}

impl FlowProbe {
    /// Interval mode: values hold until the next event, so every instant before it shows the
    /// state as it is now.
    #[cold]
    fn before<R: Recorder>(&mut self, sender: &SendEndpoint, now: u64, net: &FabricMap, rec: &mut R) {
        let Some(every) = net.spec.observe.interval else { return };
        while self.next < now {
            let time_ps = self.next;
            sender.observe(&mut |name, value| {
                if name == "acked_bytes" {
                    let rate = (value - self.last_acked) * 8.0 / every.as_secs_f64();
                    self.last_acked = value;
                    rec.sample(Sample { entity: self.entity.clone(), name: "rate_bps", time_ps, value: rate });
                }
                rec.sample(Sample { entity: self.entity.clone(), name, time_ps, value });
            });
            self.next += every.0.max(1);
        }
    }

    /// Every-change mode: reports what differs from the last report.
    #[cold]
    fn after<R: Recorder>(&mut self, sender: &SendEndpoint, now: u64, net: &FabricMap, rec: &mut R) {
        if net.spec.observe.interval.is_some() {
            return;
        }
        sender.observe(&mut |name, value| {
            let known = self.last.iter_mut().find(|(n, _)| *n == name);
            match known {
                Some((_, last)) if *last == value => return,
                Some((_, last)) => *last = value,
                None => self.last.push((name, value)),
            }
            rec.sample(Sample { entity: self.entity.clone(), name, time_ps: now, value });
        });
    }
}
