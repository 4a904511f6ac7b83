//! A domain: the nodes simulated together, with all their state.

pub mod build;
mod deadlock;
mod outcome;
mod probe;
mod queries;

use crate::domain::probe::{FlowProbe, observed};
use crate::domain::queries::answered;
use crate::event::ids::{Node, PortIx};
use crate::event::order::{Timer, TimerKind};
use crate::event::outbox::{Instant, Outbox};
use crate::event::packet::{Ext, Packet, flag};
use crate::event::prefetch;
use crate::host::messages::Query;
use crate::host::nic::FairNic;
use crate::host::processing::{EngineId, Side};
use crate::map::fabric::FabricMap;
use crate::node::context::{Env, NodeCtx, Nodes};
use crate::node::transmit::pass;
use crate::switch::Switch;
use crate::switch::route::{Planned, Route};
use crate::transport::{ReceiveEndpoint, SendEndpoint, Turn};
use incast_record::{Happening, Recorder};

/// Nodes simulated as one unit.
#[derive(Debug, Default)]
pub struct Domain {
    /// State of its nodes that the context of an event borrows.
    pub nodes: Nodes,
    /// Its switches.
    pub switches: Vec<Switch>,
    /// Senders, receivers and queries on its hosts.
    pub endpoints: Endpoints,
    /// How often each of the triggers that its hosts count has been activated.
    pub activations: Vec<u32>,
}

impl Domain {
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
                self.endpoints.prefetch(packet, net);
                prefetch::lines(&self.nodes.hosts[host.ix()], 4);
                return Planned::DELIVER;
            }
            Node::Switch(switch) => &mut self.switches[switch.ix()],
        };
        let planned = if packet.has(flag::PATH) { prescribed(net, packet) } else { switch.plan(net, packet) };
        match self.nodes.ports.get(planned.ix()) {
            Some(port) => prefetch::lines(port, 2),
            None if planned == Planned::CHOOSE => switch.prefetch(&self.nodes.ports, packet.dst),
            None => {}
        }
        planned
    }

    /// Looks at what [`Domain::plan`] asked for, and brings near what that refers to.
    #[inline(always)]
    pub fn look_further(&self, packet: &Packet, planned: Planned, net: &FabricMap) {
        if let Some(port) = self.nodes.ports.get(planned.ix()) {
            return port.prefetch_queue();
        }
        if let Node::Host(host) = net.links[packet.link as usize].node.get() {
            if packet.has(flag::REVERSE) {
                self.endpoints.senders[net.ends[packet.flow as usize].sender as usize].prefetch_further();
            }
            let host = &self.nodes.hosts[host.ix()];
            prefetch::lines(&self.nodes.ports[host.port as usize], 2);
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
        env: Env<O, R>,
    ) {
        self.nodes.counts.last = self.nodes.counts.last.max(at.time);
        match self.nodes.ports.get_mut(planned.ix()) {
            Some(port) if !port.is_unusual() && !packet.has(flag::TRACED) => {
                pass(port, at, packet, ext, &env.net.interval, &mut self.nodes.counts, env.out);
            }
            _ => self.deliver(at, packet, ext, planned, env),
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
        env: Env<O, R>,
    ) {
        let net = env.net;
        let mut planned = planned;
        if planned == Planned::CHOOSE
            && let Node::Switch(switch) = net.links[packet.link as usize].node.get()
        {
            planned = Planned::port(self.switches[switch.ix()].choose(net, &self.nodes.ports, packet));
        }
        let mut ctx = self.nodes.ctx(at, packet.size, env);
        if packet.has(flag::TRACED) {
            if packet.is_pause_frame() {
                return ctx.obey(packet);
            }
            let node = net.spec.links[packet.link as usize].to;
            ctx.trace(packet, Happening::Arrive, false, node);
        }
        match planned.route() {
            Route::Deliver => {}
            Route::Port(port) => return ctx.transmit(port.0, packet, ext),
            Route::Choose | Route::None => {
                ctx.counts.dropped += 1;
                return;
            }
        }
        if net.hosts_cost {
            let host = net.links[packet.link as usize].node.of_host().0;
            if ctx.hosts[host as usize].receive.is_some() {
                return ctx.process(host, Side::Receive, packet, ext);
            }
        }
        self.endpoints.take_in(&mut ctx, packet, ext);
    }

    /// A timer fired (all kinds but [`TimerKind::Far`]).
    pub fn timer<O: Outbox, R: Recorder>(&mut self, at: Instant, timer: Timer, env: Env<O, R>) {
        let net = env.net;
        let mut ctx = self.nodes.ctx(at, u16::MAX, env);
        match timer.kind {
            TimerKind::Departure => self.endpoints.departure(&mut ctx, timer.entity),
            TimerKind::Transition => ctx.transition(timer.entity),
            TimerKind::Process => self.endpoints.processed(&mut ctx, EngineId::of(timer.entity)),
            TimerKind::Activation => {
                let count = &mut self.activations[net.triggers.list[timer.entity as usize].count as usize];
                *count += 1;
                ctx.activated(timer.entity, *count);
            }
            _ => self.endpoints.timer(&mut ctx, timer),
        }
    }
}

/// Senders, receivers and queries on the hosts of a domain.
#[derive(Debug, Default)]
pub struct Endpoints {
    /// Senders.
    pub senders: Vec<SendEndpoint>,
    /// Receivers.
    pub receivers: Vec<ReceiveEndpoint>,
    /// Queries.
    pub queries: Vec<Query>,
    probes: Vec<FlowProbe>,
}

impl Endpoints {
    /// Brings near what a packet that arrives at its host will touch.
    #[inline(always)]
    fn prefetch(&self, packet: &Packet, net: &FabricMap) {
        let ends = net.ends[packet.flow as usize];
        if packet.has(flag::REVERSE) {
            self.senders[ends.sender as usize].prefetch();
        } else {
            self.receivers[ends.receiver as usize].prefetch();
        }
    }

    /// The stack of a host takes a packet in, [`NodeCtx::held`] after its arrival at the NIC.
    #[inline(always)]
    fn take_in<O: Outbox, R: Recorder>(&mut self, ctx: &mut NodeCtx<O, R>, packet: &Packet, ext: Option<&mut Ext>) {
        ctx.counts.delivered += 1;
        if packet.has(flag::JOINED) {
            return self.deliver_joined(ctx, packet, ext);
        }
        let ends = ctx.net.ends[packet.flow as usize];
        if packet.has(flag::REVERSE) {
            let sender = &mut self.senders[ends.sender as usize];
            observed(&mut self.probes, sender, ctx, |s, ctx| s.on_packet(ctx, packet, ext.as_deref()));
        } else {
            self.receivers[ends.receiver as usize].on_packet(ctx, packet, ext);
        }
    }

    /// A packet of a two-way connection, or a datagram, reached its host.
    #[cold]
    fn deliver_joined<O: Outbox, R: Recorder>(
        &mut self,
        ctx: &mut NodeCtx<O, R>,
        packet: &Packet,
        ext: Option<&mut Ext>,
    ) {
        let net = ctx.net;
        let ends = net.ends[packet.flow as usize];
        let Some(join) = net.join(packet.flow) else { return };
        if packet.has(flag::REVERSE) {
            let sender = &mut self.senders[ends.sender as usize];
            let act =
                |s: &mut SendEndpoint, ctx: &mut NodeCtx<O, R>| s.on_packet_of_connection(ctx, packet, ext.as_deref());
            return observed(&mut self.probes, sender, ctx, act);
        }
        // the acknowledgement first, then the data, as a host reads a segment
        let back = net.ends[join.other as usize].sender as usize;
        let sender = &mut self.senders[back];
        observed(&mut self.probes, sender, ctx, |s, ctx| s.on_packet_of_connection(ctx, packet, ext.as_deref()));
        self.receivers[ends.receiver as usize].on_packet(ctx, packet, ext);
        while self.receivers[ends.receiver as usize].take_message() {
            if join.response {
                let query = &mut self.queries[net.queries[join.query as usize] as usize];
                answered(query, ctx);
            } else {
                let size = net.join(join.other).map_or(0, |j| j.size);
                let sender = &mut self.senders[back];
                observed(&mut self.probes, sender, ctx, |s, ctx| s.on_reply(ctx, size));
            }
        }
    }

    /// What waits on the host of flow `entity` takes its turn: timers, the last set first, then processes.
    #[cold]
    fn take_turns<O: Outbox, R: Recorder>(&mut self, ctx: &mut NodeCtx<O, R>, entity: u32) {
        let net = ctx.net;
        let host = self.senders[net.ends[entity as usize].sender as usize].host();
        let turns = &mut ctx.hosts[host as usize].turns;
        let (mut due, woken) = (std::mem::take(&mut turns.due), std::mem::take(&mut turns.woken));
        due.sort_unstable_by(|a, b| b.cmp(a));
        for (_, flow, delayed_ack) in due {
            if delayed_ack {
                let receiver = net.join(flow).map_or(flow, |join| join.other);
                self.receivers[net.ends[receiver as usize].receiver as usize].on_turn(ctx, Turn::Timer);
                release(&mut self.receivers, ctx, host);
                continue;
            }
            let sender = &mut self.senders[net.ends[flow as usize].sender as usize];
            observed(&mut self.probes, sender, ctx, |s, ctx| s.on_turn(ctx, Turn::Timer));
        }
        for flow in woken {
            let sender = &mut self.senders[net.ends[flow as usize].sender as usize];
            observed(&mut self.probes, sender, ctx, |s, ctx| s.on_turn(ctx, Turn::Application));
        }
    }

    /// An engine of a host is done with a packet: the stack takes it, or the NIC.
    #[cold]
    fn processed<O: Outbox, R: Recorder>(&mut self, ctx: &mut NodeCtx<O, R>, id: EngineId) {
        let host = ctx.net.place[id.host as usize].node.of_host().0;
        let Some(mut held) = ctx.processed(host, id) else { return };
        match id.side {
            Side::Send => ctx.leave_host(host, held),
            Side::Receive => {
                ctx.held = ctx.now - held.since;
                self.take_in(ctx, &held.packet, held.ext.as_mut());
            }
        }
    }

    /// The port of a link, or a host's fair NIC, ends a transmission.
    #[inline]
    fn departure<O: Outbox, R: Recorder>(&mut self, ctx: &mut NodeCtx<O, R>, link: u32) {
        let net = ctx.net;
        let (host, nic) = match net.origins[link as usize].get() {
            Node::Host(host) => (host.0, ctx.hosts[host.ix()].nic.as_mut()),
            Node::Switch(_) => (0, None),
        };
        let Some(nic) = nic else { return ctx.depart(net.port_of[link as usize]) };
        let flow = nic.departed();
        // Departures precede all else of their generation, so what one causes at this instant is
        // still of it: a NIC without serialization sends a window of any length within one.
        ctx.generation = ctx.generation.saturating_sub(1);
        ctx.serve(host);
        if let Some(flow) = flow {
            self.senders[net.ends[flow as usize].sender as usize].on_room(ctx);
        }
    }

    /// A timer of an endpoint, a query or a host's run queue fired.
    fn timer<O: Outbox, R: Recorder>(&mut self, ctx: &mut NodeCtx<O, R>, timer: Timer) {
        let net = ctx.net;
        match timer.kind {
            TimerKind::Query => self.begin_query(ctx, timer.entity),
            TimerKind::Turn => self.take_turns(ctx, timer.entity),
            TimerKind::Opening => {
                for flow in net.triggers.flows(timer.entity) {
                    let sender = &mut self.senders[net.ends[*flow as usize].sender as usize];
                    observed(&mut self.probes, sender, ctx, |s, ctx| s.open(ctx));
                }
            }
            TimerKind::DelayedAck | TimerKind::WindowUpdate | TimerKind::SinkStop => {
                let receiver = &mut self.receivers[net.ends[timer.entity as usize].receiver as usize];
                receiver.on_timer(ctx, timer.kind);
                let host = receiver.host();
                release(&mut self.receivers, ctx, host);
            }
            kind => {
                let sender = &mut self.senders[net.ends[timer.entity as usize].sender as usize];
                observed(&mut self.probes, sender, ctx, |s, ctx| s.on_timer(ctx, kind));
            }
        }
    }
}

/// Compressed SACKs that a timer of the host took along go out, in the order of their own timers.
fn release<O: Outbox, R: Recorder>(receivers: &mut [ReceiveEndpoint], ctx: &mut NodeCtx<O, R>, host: u32) {
    if ctx.hosts[host as usize].turns.released.is_empty() {
        return;
    }
    let mut released = std::mem::take(&mut ctx.hosts[host as usize].turns.released);
    released.sort_unstable();
    for (at, flow) in released {
        receivers[ctx.net.ends[flow as usize].receiver as usize].on_turn(ctx, Turn::Compressed(at));
    }
}

/// The port that a flow's prescribed path takes next.
fn prescribed(net: &FabricMap, packet: &Packet) -> Planned {
    let flow = net.flow(packet.flow);
    let path = if packet.has(flag::REVERSE) { flow.reverse_path.as_ref() } else { flow.path.as_ref() };
    let link = path.and_then(|path| path.get(packet.hop as usize));
    link.map_or(Planned::NONE, |link| Planned::port(PortIx(net.port_of[*link as usize])))
}
