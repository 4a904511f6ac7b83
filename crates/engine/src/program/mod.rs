//! Programs of switches and hosts: code that sees every packet of a node and may change it.
//!
//! A program is one file with its rule, a [`SwitchProgram`]; its parameters are in [`spec`](crate::spec::Program). Its
//! state belongs to one node and changes in the order of that node's packets, so that results are the same under any
//! partition into domains. A node without a program has no extra cost.

mod bolt;
mod d3;
mod idle;
mod pacer;
mod packet;
mod phantom;
mod qjump;
mod rcp;
mod rule;
mod sccp;
pub mod table;
mod xcp;

use crate::event::packet::{Ext, Packet};
use crate::event::series::Series;
use crate::ids::{LinkId, NodeId, PortIx};
use crate::port::Port;
use crate::spec::{self, Spec, programs};
use incast_cc::Time;
use incast_record::{EntryRecord, Recorder};
pub use rule::{At, Connections, Direction, Sending, SideEffects, SwitchProgram, Verdict};
use std::collections::VecDeque;

macro_rules! active {
    ($($(#[$doc:meta])+ $name:ident => $file:ident::$rule:ident,)+) => {
        /// Program of one node, with its state.
        #[derive(Clone, Debug)]
        enum Active {
            $($name($file::$rule),)+
        }

        impl Active {
            /// Program of a node with this number of ports.
            fn new(program: &spec::Program, ports: usize) -> Active {
                match program {
                    $(spec::Program::$name(parameters) => Active::$name($file::$rule::new(parameters, ports)),)+
                }
            }
        }

        /// Evaluates an expression for the program of any kind.
        macro_rules! each {
            ($active:expr, $program:ident => $answer:expr) => {
                match $active {
                    $(Active::$name($program) => $answer,)+
                }
            };
        }
    };
}
programs!(active);

/// Programs of one node, in processing order.
#[derive(Clone, Debug)]
pub struct Programs {
    node: NodeId,
    /// Domain-local number of its first port, and the number of its ports.
    first: PortIx,
    count: usize,
    list: Vec<Active>,
    /// True if a program observes whether the queue accepts packets.
    pub asks_queue: bool,
    /// True if a program processes departing packets.
    pub asks_egress: bool,
    /// True if a program has a timer.
    has_timer: bool,
    /// Time for which the timer is set.
    armed: Time,
    /// Packets sent by programs, each with the number of the first program that processes it.
    sends: VecDeque<(usize, Sending)>,
    /// Buffer for packets that one program sends.
    scratch: Vec<Sending>,
    /// Time series of ports, by local port.
    series: Vec<(usize, Series)>,
}

/// Progress of a packet through the programs of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// All programs have processed it: it leaves by this port, or goes to the node's own stack.
    Passed(Option<PortIx>),
    /// A program sends packets, which go first: see [`Programs::take_sent`]. The packet continues at the program of
    /// this number.
    Sends(usize, Option<PortIx>),
    /// A program holds the packet.
    Kept,
    /// A program drops the packet.
    Dropped,
}

impl Programs {
    /// Programs of a node whose ports feed `links`, starting with port `first`; `None` without programs.
    pub fn new(spec: &Spec, node: NodeId, first: PortIx, links: &[LinkId]) -> Option<Box<Programs>> {
        let own = spec.programs.iter().filter(|p| p.nodes.binary_search(&node.0).is_ok());
        let mut list: Vec<Active> = own.map(|p| Active::new(&p.program, links.len())).collect();
        if list.is_empty() {
            return None;
        }
        list.iter_mut().for_each(|active| each!(active, program => program.placed(spec, links)));
        Some(Box::new(Programs {
            node,
            first,
            count: links.len(),
            asks_queue: list.iter().any(|active| each!(active, program => program.asks_queue())),
            asks_egress: list.iter().any(|active| each!(active, program => program.asks_egress())),
            has_timer: list.iter().any(|active| each!(active, program => program.has_timer())),
            armed: Time::NEVER,
            sends: VecDeque::new(),
            scratch: Vec::new(),
            series: Vec::new(),
            list,
        }))
    }

    /// Records the state at a port as a time series.
    pub fn probe(&mut self, port: PortIx, name: &str) {
        self.series.push((port.ix() - self.first.ix(), Series::new(name)));
    }

    /// Port of the domain with number `local` at the node.
    fn port(&self, local: usize) -> PortIx {
        assert!(local < self.count, "a program sends a packet to port {local} of {}", self.count);
        self.first.plus(local as u32)
    }

    /// True if no program is affected by a packet that arrived by port `ingress` of the domain, neither now nor at its
    /// queue.
    #[inline]
    pub fn ignore(&self, ingress: Option<PortIx>, packet: &Packet) -> bool {
        let local = ingress.map(|port| port.ix() - self.first.ix());
        !self.asks_queue && self.list.iter().all(|active| each!(active, program => program.ignores(local, packet)))
    }

    /// Passes a packet that arrived by port `ingress` of the domain and will leave by `egress` through the programs
    /// from number `from` on, which may change it.
    pub fn ingress(
        &mut self,
        place: &Place,
        (ingress, egress): (Option<PortIx>, Option<PortIx>),
        from: usize,
        packet: &mut Packet,
        mut ext: Option<&mut Ext>,
    ) -> Step {
        let mut at = place.at(self.node, (self.first, self.count), ingress, egress);
        let last = self.list.len();
        for i in from..last {
            let mut effects = SideEffects::new(ext.as_deref_mut(), &mut self.scratch);
            match each!(&mut self.list[i], program => program.ingress(&at, packet, &mut effects)) {
                Verdict::Pass => {}
                Verdict::Drop => return self.stop(i, Step::Dropped),
                Verdict::Keep => return self.stop(i, Step::Kept),
                Verdict::To(port) => {
                    if at.egress != Some(port) {
                        packet.leave_path();
                    }
                    at.egress = Some(port);
                }
            }
            if !self.scratch.is_empty() {
                let egress = at.egress.map(|port| self.port(port));
                return self.stop(i, Step::Sends(i + 1, egress));
            }
        }
        Step::Passed(at.egress.map(|port| self.port(port)))
    }

    /// Stops after program `i`: packets that it sends go to the later programs.
    fn stop(&mut self, i: usize, step: Step) -> Step {
        self.sends.extend(self.scratch.drain(..).map(|sending| (i + 1, sending)));
        step
    }

    /// Next packet sent by a program, and the number of the first program that processes it.
    pub fn take_sent(&mut self) -> Option<(usize, Sending)> {
        self.sends.pop_front()
    }

    /// Ingress and egress port of a packet, as the domain numbers them.
    pub fn ports_of(&self, sending: &Sending) -> (Option<PortIx>, Option<PortIx>) {
        (sending.ingress.map(|port| self.port(port)), sending.egress.map(|port| self.port(port)))
    }

    /// Notifies programs that the queue of port `egress` has accepted or refused a packet.
    pub fn queued(
        &mut self,
        place: &Place,
        (ingress, egress): (Option<PortIx>, PortIx),
        packet: &Packet,
        accepted: bool,
    ) {
        let at = place.at(self.node, (self.first, self.count), ingress, Some(egress));
        self.list.iter_mut().for_each(|active| each!(active, program => program.queued(&at, packet, accepted)));
    }

    /// Passes a packet through the programs at the end of its transmission at port `egress`.
    pub fn egress(&mut self, place: &Place, egress: PortIx, packet: &mut Packet, mut ext: Option<&mut Ext>) {
        let at = place.at(self.node, (self.first, self.count), None, Some(egress));
        for active in &mut self.list {
            each!(active, program => program.egress(&at, packet, ext.as_deref_mut()));
        }
    }

    /// Handles the timer, unless it has been set again since.
    pub fn timer(&mut self, place: &Place) {
        if place.now != self.armed {
            return;
        }
        self.armed = Time::NEVER;
        let at = place.at(self.node, (self.first, self.count), None, None);
        for i in 0..self.list.len() {
            if each!(&self.list[i], program => program.due()) <= place.now {
                let mut effects = SideEffects::new(None, &mut self.scratch);
                each!(&mut self.list[i], program => program.timer(&at, &mut effects));
                self.stop(i, Step::Kept);
            }
        }
    }

    /// Time for which the timer must be set, if it changes.
    #[inline]
    pub fn rearms(&mut self, now: Time) -> Option<Time> {
        if !self.has_timer {
            return None;
        }
        let due = self.list.iter().map(|active| each!(active, program => program.due())).min().unwrap_or(Time::NEVER);
        let due = due.max(now);
        (due < self.armed).then(|| {
            self.armed = due;
            due
        })
    }

    /// Node of the programs.
    pub fn node(&self) -> NodeId {
        self.node
    }

    /// Visits the packets that programs hold.
    pub fn kept(&self, visit: &mut dyn FnMut(&Packet)) {
        self.list.iter().for_each(|active| each!(active, program => program.kept(visit)));
    }

    /// Visits the counts of table entries up to `end`.
    pub fn report(&self, spec: &Spec, end: Time, visit: &mut dyn FnMut(EntryRecord)) {
        let own = (0..).zip(&spec.programs).filter(|(_, p)| p.nodes.binary_search(&self.node.0).is_ok());
        for ((program, _), active) in own.zip(&self.list) {
            let node = &spec.node_names[self.node];
            let mut with_node = |entry| visit(EntryRecord { node: node.clone(), program, ..entry });
            each!(active, rule => rule.report(end, &mut with_node));
        }
    }

    /// Returns whether time series or a timer need work before and after a packet.
    #[inline]
    pub fn is_attended(&self) -> bool {
        self.has_timer || self.is_observed()
    }

    /// Returns whether its state is recorded in time series.
    #[inline]
    pub fn is_observed(&self) -> bool {
        !self.series.is_empty()
    }

    /// Continues time series up to now, before an event (`before`) or after it.
    #[cold]
    pub fn observe<R: Recorder>(&mut self, place: &Place, every: Option<Time>, before: bool, rec: &mut R) {
        let at = place.at(self.node, (self.first, self.count), None, None);
        let Programs { list, series, .. } = self;
        for (port, series) in series {
            let mut show = |visit: &mut dyn FnMut(&'static str, f64)| {
                list.iter_mut().for_each(|active| each!(active, program => program.observe(&at, *port, visit)));
            };
            match before {
                true => series.before(place.now, every, &mut show, rec),
                false => series.after(place.now, every, &mut show, rec),
            }
        }
    }
}

/// Time and place at which programs run.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// Now.
    pub now: Time,
    /// Ports of the domain.
    pub ports: &'a [Port],
    /// Map of packets to connections.
    pub connections: &'a dyn Connections,
}

impl<'a> Place<'a> {
    /// Context of the programs at a node with first port `first`, for a packet that arrives by port `ingress` of the
    /// domain and will leave by `egress`.
    fn at(
        &self,
        node: NodeId,
        (first, count): (PortIx, usize),
        ingress: Option<PortIx>,
        egress: Option<PortIx>,
    ) -> At<'a> {
        let local = |port: PortIx| port.ix() - first.ix();
        let (ingress, egress) = (ingress.map(local), egress.map(local));
        At {
            now: self.now,
            node,
            ports: &self.ports[first.ix()..][..count],
            ingress,
            egress,
            connections: self.connections,
        }
    }
}
