//! Programs of switches and hosts: code that sees every packet of a node and may change it.
//!
//! A program is a file: its rule is a [`SwitchProgram`], its parameters are in [`spec`](crate::spec::Program). Its
//! state belongs to one node and changes in the order of that node's packets, so that the outcome is the same under any
//! partition into domains. A node without a program pays nothing: its ports are as ever.

mod phantom;
mod rule;
mod sccp;
pub mod table;

use crate::event::packet::{Packet, flag};
use crate::event::series::Series;
use crate::ids::{LinkId, NodeId, PortIx};
use crate::port::Port;
use crate::spec::{self, FlowSpec, Spec, programs};
use incast_cc::Time;
use incast_record::{EntryRecord, Recorder};
pub use rule::{At, SwitchProgram, Verdict};

macro_rules! active {
    ($($(#[$doc:meta])+ $name:ident => $file:ident::$rule:ident,)+) => {
        /// A program of one node, with its state.
        #[derive(Clone, Debug)]
        enum Active {
            $($name($file::$rule),)+
        }

        impl Active {
            /// At a node of so many ports.
            fn new(program: &spec::Program, ports: usize) -> Active {
                match program {
                    $(spec::Program::$name(parameters) => Active::$name($file::$rule::new(parameters, ports)),)+
                }
            }

        }

        impl SwitchProgram for Active {
            #[inline(always)]
            fn ingress(&mut self, at: &At, packet: &mut Packet) -> Verdict {
                match self {
                    $(Active::$name(program) => program.ingress(at, packet),)+
                }
            }

            fn asks_queue(&self) -> bool {
                match self {
                    $(Active::$name(program) => program.asks_queue(),)+
                }
            }

            #[inline(always)]
            fn queued(&mut self, at: &At, packet: &Packet, accepted: bool) {
                match self {
                    $(Active::$name(program) => program.queued(at, packet, accepted),)+
                }
            }

            fn observe(&self, at: &At, port: usize, visit: &mut dyn FnMut(&'static str, f64)) {
                match self {
                    $(Active::$name(program) => program.observe(at, port, visit),)+
                }
            }

            fn placed(&mut self, spec: &Spec, links: &[LinkId]) {
                match self {
                    $(Active::$name(program) => program.placed(spec, links),)+
                }
            }

            fn report(&self, end: Time, visit: &mut dyn FnMut(EntryRecord)) {
                match self {
                    $(Active::$name(program) => program.report(end, visit),)+
                }
            }
        }
    };
}
programs!(active);

/// The programs of one node, in the order in which packets meet them.
#[derive(Clone, Debug)]
pub struct Programs {
    node: NodeId,
    /// Domain-local number of its first port, and how many it has.
    first: PortIx,
    count: usize,
    list: Vec<Active>,
    /// One of them is told what becomes of packets at the queue.
    pub asks_queue: bool,
    /// Time series of ports, by local port.
    series: Vec<(usize, Series)>,
}

impl Programs {
    /// Those of a node whose ports feed `links`, the first of which is `first`; `None` where it runs none.
    pub fn new(spec: &Spec, node: NodeId, first: PortIx, links: &[LinkId]) -> Option<Box<Programs>> {
        let own = spec.programs.iter().filter(|p| p.nodes.binary_search(&node.0).is_ok());
        let mut list: Vec<Active> = own.map(|p| Active::new(&p.program, links.len())).collect();
        list.iter_mut().for_each(|program| program.placed(spec, links));
        let asks_queue = list.iter().any(SwitchProgram::asks_queue);
        (!list.is_empty())
            .then(|| Box::new(Programs { node, first, count: links.len(), list, asks_queue, series: Vec::new() }))
    }

    /// Shows what entries of tables have counted up to `end`.
    pub fn report(&self, spec: &Spec, end: Time, visit: &mut dyn FnMut(EntryRecord)) {
        let own = (0..).zip(&spec.programs).filter(|(_, p)| p.nodes.binary_search(&self.node.0).is_ok());
        for ((program, _), active) in own.zip(&self.list) {
            let node = &spec.node_names[self.node];
            active.report(end, &mut |entry| visit(EntryRecord { node: node.clone(), program, ..entry }));
        }
    }

    /// Makes its state at a port a time series.
    pub fn probe(&mut self, port: PortIx, name: &str) {
        self.series.push((port.ix() - self.first.ix(), Series::new(name)));
    }

    /// What programs see of a packet that comes in by port `ingress` of the domain and is to leave by `egress`.
    fn at<'p>(
        &self,
        now: Time,
        (ports, flows): (&'p [Port], &'p [FlowSpec]),
        ingress: Option<PortIx>,
        egress: Option<PortIx>,
    ) -> At<'p> {
        let local = |port: PortIx| port.ix() - self.first.ix();
        let (ingress, egress) = (ingress.map(local), egress.map(local));
        let ports = &ports[self.first.ix()..][..self.count];
        At { now, node: self.node, ports, flows, ingress, egress }
    }

    /// They see a packet, and may change it: whether it goes on, and by which port.
    pub fn ingress(
        &mut self,
        now: Time,
        view: (&[Port], &[FlowSpec]),
        (ingress, egress): (Option<PortIx>, Option<PortIx>),
        packet: &mut Packet,
    ) -> Result<Option<PortIx>, Refused> {
        let mut at = self.at(now, view, ingress, egress);
        for program in &mut self.list {
            match program.ingress(&at, packet) {
                Verdict::Pass => {}
                Verdict::Drop => return Err(Refused),
                Verdict::To(port) => {
                    assert!(port < self.count, "a program sends a packet to port {port} of {}", self.count);
                    if at.egress != Some(port) {
                        // from here on its prescribed path, if it has one, is not its way
                        packet.flags &= !flag::PATH;
                    }
                    at.egress = Some(port);
                }
            }
        }
        Ok(at.egress.map(|port| self.first.plus(port as u32)))
    }

    /// The queue of port `egress` has taken a packet, or has refused it.
    pub fn queued(
        &mut self,
        now: Time,
        view: (&[Port], &[FlowSpec]),
        (ingress, egress): (Option<PortIx>, PortIx),
        packet: &Packet,
        accepted: bool,
    ) {
        let at = self.at(now, view, ingress, Some(egress));
        self.list.iter_mut().for_each(|program| program.queued(&at, packet, accepted));
    }

    /// Whether anything of its state is observed.
    #[inline]
    pub fn is_observed(&self) -> bool {
        !self.series.is_empty()
    }

    /// Continues time series up to `now`, before something happens (`before`) or after.
    #[cold]
    pub fn observe<R: Recorder>(
        &mut self,
        now: Time,
        view: (&[Port], &[FlowSpec]),
        every: Option<Time>,
        before: bool,
        rec: &mut R,
    ) {
        let at = self.at(now, view, None, None);
        let Programs { list, series, .. } = self;
        for (port, series) in series {
            let mut show = |visit: &mut dyn FnMut(&'static str, f64)| {
                list.iter_mut().for_each(|program| program.observe(&at, *port, visit));
            };
            match before {
                true => series.before(now, every, &mut show, rec),
                false => series.after(now, every, &mut show, rec),
            }
        }
    }
}

/// A program drops the packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Refused;
