//! A domain: the nodes simulated together, with all their state.

pub mod build;
mod closing_connections;
mod crossings;
mod deadlock;
pub mod endpoints;
mod fast_paths;
mod flow_frames;
mod jobs;
mod late_ends;
pub mod late_marking;
mod nic_slots;
mod outcome;
mod probe;
mod programs;
mod queries;
mod ranks;
mod reconnect;
pub mod timeline;
mod timeline_events;
mod weights;

use crate::domain::endpoints::Endpoints;
use crate::event::order::Timer;
use crate::event::outbox::Instant;
use crate::event::packet::{Ext, Kind, Packet, flag};
use crate::event::prefetch;
use crate::host::nic::FairNic;
use crate::ids::{Node, NodeId, NodeIx, PortIx};
use crate::map::fabric::FabricMap;
use crate::map::paths::given;
use crate::node::context::{Effects, Env, Nodes};
use crate::node::late_marking::pass_marking_late;
use crate::node::lazy_service::pass_lazily;
use crate::node::trace::{Site, observe_cell, observe_port};
use crate::node::transmit::pass;
use crate::port::Port;
use crate::program::Programs;
use crate::switch::Switch;
use crate::switch::route::{Planned, Route};
use crate::transport::nearby;
use incast_cc::Time;
use incast_record::{Happening, Recorder};

/// Nodes simulated as one unit.
#[derive(Debug, Default)]
pub struct Domain {
    /// State of the nodes that the context of an event borrows.
    pub nodes: Nodes,
    /// Switches of the domain.
    pub switches: Vec<Switch>,
    /// Programs of each switch, if any node of the run has some.
    pub programs: Vec<Option<Box<Programs>>>,
    /// Senders, receivers and queries on the hosts.
    pub endpoints: Endpoints,
    /// Number of activations of each trigger counted by the hosts of the domain.
    pub activations: Vec<u32>,
    /// True if packets of a window may pass [port by port](crate::fast_paths::FastPath::ByPort).
    pub separable: bool,
    /// True if ports and flows are counted by the frames of a timeline.
    pub framed: bool,
}

impl Domain {
    /// Prefetches the data that every visit touches.
    #[inline]
    pub fn prefetch(&self) {
        prefetch::lines(self.switches.as_slice(), 2);
    }

    /// Disables fast paths, which give the same results: header prediction, idle ports without a look at their rings,
    /// and a fair NIC without an event at the end of each transmission.
    pub fn disable_fast_paths(&mut self) {
        self.endpoints.disable_fast_paths();
        self.nodes.ports.iter_mut().for_each(Port::disable_fast_paths);
        self.nodes.hosts.iter_mut().filter_map(|host| host.nic.as_mut()).for_each(FairNic::disable_fast_paths);
    }

    /// Next port of a packet from `node`, as far as known before its arrival there.
    #[inline(always)]
    pub fn plan(&mut self, packet: &Packet, node: NodeIx, net: &FabricMap) -> Planned {
        match node.get() {
            Node::Host(_) => Planned::DELIVER,
            Node::Switch(_) if packet.has(flag::PATH) => prescribed(net, packet),
            Node::Switch(switch) => self.switches[switch].plan(net, packet),
        }
    }

    /// Prefetches the data that a packet touches when it arrives at `node`, given its `planned` next port.
    #[inline(always)]
    pub fn prefetch_for(&self, packet: &Packet, node: NodeIx, planned: Planned, net: &FabricMap) {
        if let Some(port) = self.nodes.ports.get(planned.ix()) {
            return prefetch::lines(port, 2);
        }
        match node.get() {
            Node::Host(host) => {
                self.endpoints.prefetch(packet, net);
                prefetch::lines(&self.nodes.hosts[host], 2);
            }
            Node::Switch(switch) => self.switches[switch].prefetch(&self.nodes.ports, packet.dst),
        }
    }

    /// Reads the data that [`Domain::prefetch_for`] prefetched, and prefetches the data it refers to. `packet` returns
    /// the packet and the node of its arrival.
    #[inline(always)]
    pub fn prefetch_further<'p>(
        &self,
        planned: Planned,
        net: &FabricMap,
        packet: impl FnOnce() -> (&'p Packet, NodeIx),
    ) {
        if let Some(port) = self.nodes.ports.get(planned.ix()) {
            prefetch::item(&net.links, port.link.ix());
            return port.prefetch_queue();
        }
        let (packet, node) = packet();
        if let Node::Host(host) = node.get() {
            if packet.is_reverse() {
                self.endpoints.senders.at(net.ends[packet.flow].sender.ix()).into_iter().for_each(nearby::board);
            }
            let host = &self.nodes.hosts[host];
            prefetch::lines(&self.nodes.ports[host.port], 2);
            host.nic.iter().for_each(FairNic::prefetch);
        }
    }

    /// Handles the arrival of a packet at the far end of its link. `planned`: result of [`Domain::plan`].
    #[inline(always)]
    pub fn arrival(
        &mut self,
        at: Instant,
        packet: &Packet,
        ext: Option<&mut Ext>,
        planned: Planned,
        env: Env<impl Effects>,
    ) {
        self.nodes.counts.happened(at.time);
        match self.nodes.ports.get_mut(planned.ix()) {
            Some(port) if !port.has_features() && !packet.has(flag::SLOW_PATH) => {
                pass(port, at, packet, ext, &env.net.interval, &mut self.nodes.counts, env.out);
            }
            Some(port) if port.is_lazy() && !packet.has(flag::SLOW_PATH) => {
                pass_lazily(port, at.time, packet, ext, env.net, &mut self.nodes.counts, env.out);
            }
            Some(port) if port.marks_late() && !packet.has(flag::SLOW_PATH) => {
                pass_marking_late(port, at, packet, ext, &env.net.interval, &mut self.nodes.counts, env.out);
            }
            Some(port) if port.sends_early() && !packet.has(flag::SLOW_PATH) => {
                self.nodes.ctx(at, packet.size, env).transmit_early(PortIx(planned.ix() as u32), packet, ext);
            }
            _ => self.deliver(at, packet, ext, planned, env),
        }
    }

    /// Handles an arrival that is more than a hop: at a host, traced, or without a route.
    #[inline(never)]
    fn deliver(
        &mut self,
        at: Instant,
        packet: &Packet,
        ext: Option<&mut Ext>,
        planned: Planned,
        env: Env<impl Effects>,
    ) {
        let net = env.net;
        let mut planned = planned;
        if planned == Planned::CHOOSE
            && let Node::Switch(switch) = net.links[packet.link].node.get()
        {
            planned = Planned::port(self.switches[switch].choose(net, &self.nodes.ports, packet));
        }
        let mut ctx = self.nodes.ctx(at, packet.size, env);
        if packet.has(flag::SLOW_PATH) {
            if packet.is(Kind::Pause) {
                return ctx.obey(packet);
            }
            let node = net.spec.links[packet.link].to;
            ctx.trace(packet, Happening::Arrive, Site::Node(NodeId(node)));
        }
        match planned.route() {
            Route::Deliver => {}
            Route::Port(port) => {
                if ctx.ports[port].is_programmed()
                    && let Node::Switch(switch) = net.links[packet.link].node.get()
                    && let Some(Some(programs)) = self.programs.get_mut(switch.ix())
                {
                    return ctx.pass_programs(programs, (net.back[packet.link.ix()], port), packet, ext);
                }
                return ctx.transmit(port, packet, ext);
            }
            Route::Choose | Route::None => return ctx.counts.drop_at(at.time),
        }
        self.endpoints.arrived(&mut ctx, packet, ext);
    }

    /// Called when a timer fires.
    pub fn timer(&mut self, at: Instant, timer: Timer, env: Env<impl Effects>) {
        let net = env.net;
        let mut ctx = self.nodes.ctx(at, u16::MAX, env);
        match timer {
            Timer::Departure(link) => self.endpoints.departure(&mut ctx, link, &mut self.programs),
            Timer::Transition(link) => ctx.transition(link),
            Timer::Process(engine) => self.endpoints.processed(&mut ctx, engine),
            Timer::Program(node) => ctx.time_programs(node, &mut self.programs),
            Timer::Cell(cell) => ctx.advance_cell(cell),
            Timer::NicSlot(node) => self.endpoints.on_nic_slot(&mut ctx, node),
            Timer::Pacer(node) => self.endpoints.on_pacer(&mut ctx, node),
            Timer::Activation(trigger) => {
                let count = &mut self.activations[net.triggers.list[trigger].count as usize];
                *count += 1;
                ctx.activated(trigger, *count);
            }
            _ => self.endpoints.timer(&mut ctx, timer),
        }
    }

    /// Completes the time series at the end of the run.
    pub fn finish<R: Recorder>(&mut self, end: Time, net: &FabricMap, rec: &mut R) {
        self.endpoints.finish(end, net, rec);
        // departures at the very end are not part of the run, however a port keeps its queue
        let before = end.saturating_sub(Time::ps(1));
        for port in self.nodes.ports.iter_mut().filter(|p| p.is_probed()) {
            let whole = net.spec.observe.interval.is_some() || port.orders_departures();
            observe_port(port, if whole { end } else { before }, net, rec);
        }
        for cell in &mut self.nodes.shared.cells {
            observe_cell(cell, end, net, rec);
        }
        self.finish_programs(end, net, rec);
    }
}

/// Next port on a flow's prescribed path.
fn prescribed(net: &FabricMap, packet: &Packet) -> Planned {
    let link = given(net.flow(packet.flow), packet).and_then(|path| path.get(packet.hop as usize));
    link.map_or(Planned::NONE, |link| Planned::port(net.port_of[*link as usize]))
}
