//! A packet at a node that runs programs.

use crate::event::order::Timer;
use crate::event::outbox::{Outbox, Stamp};
use crate::event::packet::{Ext, Packet, flag};
use crate::ids::{HostIx, Node, NodeId, PortIx};
use crate::node::context::{Effects, NodeCtx};
use crate::node::trace::Site;
use crate::port::explicit::Departed;
use crate::program::{Place, Programs, Sending, Step};
use incast_record::Happening;

impl<E: Effects> NodeCtx<'_, E> {
    /// Offers a packet to a port that is observed or has an explicit queue, or one that is traced or stamped, or one
    /// from the stack of a host that runs programs.
    #[cold]
    pub(super) fn transmit_with_features(&mut self, port: PortIx, packet: &Packet, ext: Option<&mut Ext>) {
        let mut ext = ext;
        let act = |ctx: &mut Self, programs: &mut Programs| {
            ctx.pass_programs(programs, (None, port), packet, ext.as_deref_mut());
        };
        if self.ports[port].is_programmed()
            && let Some(host) = self.programmed_host(port)
            && self.with_programs_of_host(host, act).is_some()
        {
            return;
        }
        self.offer_with_features(port, packet, ext);
    }

    /// Passes a packet that arrived by port `ingress` and is to leave by `egress` through the programs of a node. Then
    /// offers it to the port that they choose.
    pub fn pass_programs(
        &mut self,
        programs: &mut Programs,
        way: (Option<PortIx>, PortIx),
        packet: &Packet,
        ext: Option<&mut Ext>,
    ) {
        if !programs.is_attended() {
            if programs.ignore(way.0, packet) {
                self.offer(way.1, packet, ext);
                return;
            }
            return self.pass_from(programs, 0, way, packet, ext);
        }
        self.observe_programs(programs, true);
        self.pass_from(programs, 0, way, packet, ext);
        self.settle_programs(programs);
    }

    /// Passes a packet through the programs from number `from` on.
    fn pass_from(
        &mut self,
        programs: &mut Programs,
        from: usize,
        (ingress, egress): (Option<PortIx>, PortIx),
        packet: &Packet,
        mut ext: Option<&mut Ext>,
    ) {
        let (mut packet, came_marked) = (*packet, packet.has(flag::CE));
        let (mut from, mut egress) = (from, egress);
        loop {
            let place = Place { now: self.now, ports: self.ports, connections: self.net };
            match programs.ingress(&place, (ingress, Some(egress)), from, &mut packet, ext.as_deref_mut()) {
                Step::Passed(port) => {
                    egress = port.unwrap_or(egress);
                    break;
                }
                Step::Sends(next, port) => {
                    (from, egress) = (next, port.unwrap_or(egress));
                    self.send_of_programs(programs);
                }
                Step::Kept => return self.send_of_programs(programs),
                Step::Dropped => {
                    self.refused(&packet, Site::Link(self.ports[egress].link));
                    return self.send_of_programs(programs);
                }
            }
        }
        let marks = self.ports[egress].marks();
        let accepted = self.offer(egress, &packet, ext);
        // the queue may have marked the packet as well
        if accepted && packet.has(flag::CE) && !came_marked && self.ports[egress].marks() == marks {
            self.ports[egress].count_mark();
        }
        if programs.asks_queue {
            let place = Place { now: self.now, ports: self.ports, connections: self.net };
            programs.queued(&place, (ingress, egress), &packet, accepted);
        }
    }

    /// Sends the packets that programs have emitted.
    #[cold]
    fn send_of_programs(&mut self, programs: &mut Programs) {
        while let Some((from, sending)) = programs.take_sent() {
            let (ingress, egress) = programs.ports_of(&sending);
            let Sending { packet, mut ext, made, .. } = sending;
            self.counts.sent += made as u64;
            match egress {
                Some(egress) => self.pass_from(programs, from, (ingress, egress), &packet, ext.as_mut()),
                None if made => self.deliver_to_stack(&packet),
                None => self.refused(&packet, Site::Node(programs.node())),
            }
        }
    }

    /// Delivers a packet that a host's program has made for the host's own stack, without delay.
    fn deliver_to_stack(&mut self, packet: &Packet) {
        let stamp = Stamp { time: self.now, link: packet.link, ce: 0 };
        self.out.arrive(packet, stamp, None, self.generation.saturating_add(1));
    }

    /// Runs `act` on the programs of a node, if any. `switches` are those of switches.
    fn with_programs(
        &mut self,
        node: Node,
        switches: &mut [Option<Box<Programs>>],
        act: impl FnOnce(&mut Self, &mut Programs),
    ) {
        match node {
            Node::Host(host) => {
                self.with_programs_of_host(host, act);
            }
            Node::Switch(switch) => {
                if let Some(programs) = switches.get_mut(switch.ix()).and_then(|own| own.as_deref_mut()) {
                    act(self, programs);
                }
            }
        }
    }

    /// Runs `act` on the programs of a host. `None` if it has none, or they are running already.
    pub fn with_programs_of_host<T>(
        &mut self,
        host: HostIx,
        act: impl FnOnce(&mut Self, &mut Programs) -> T,
    ) -> Option<T> {
        let mut programs = self.hosts[host].programs.take()?;
        let done = act(self, &mut programs);
        self.hosts[host].programs = Some(programs);
        Some(done)
    }

    /// Called when the timer of a node's programs fires. `switches` are those of switches.
    #[cold]
    pub fn time_programs(&mut self, node: NodeId, switches: &mut [Option<Box<Programs>>]) {
        self.with_programs(self.net.place[node].node.get(), switches, |ctx, programs| ctx.fire(programs));
    }

    /// Fires the timer of `programs`.
    fn fire(&mut self, programs: &mut Programs) {
        self.observe_programs(programs, true);
        programs.timer(&Place { now: self.now, ports: self.ports, connections: self.net });
        self.send_of_programs(programs);
        self.settle_programs(programs);
    }

    /// Passes an arriving packet through the programs of a host. Returns whether it goes on to the stack.
    #[cold]
    pub fn pass_host_programs(&mut self, host: HostIx, packet: &mut Packet, ext: Option<&mut Ext>) -> bool {
        let way = (Some(self.hosts[host].port), None);
        self.with_programs_of_host(host, |ctx, programs| ctx.pass_stack_programs(programs, way, packet, ext))
            .unwrap_or(true)
    }

    /// Passes a packet for their node's own stack through programs. Returns whether it goes on.
    fn pass_stack_programs(
        &mut self,
        programs: &mut Programs,
        way: (Option<PortIx>, Option<PortIx>),
        packet: &mut Packet,
        mut ext: Option<&mut Ext>,
    ) -> bool {
        self.observe_programs(programs, true);
        let mut from = 0;
        let goes_on = loop {
            let place = Place { now: self.now, ports: self.ports, connections: self.net };
            match programs.ingress(&place, way, from, packet, ext.as_deref_mut()) {
                Step::Passed(_) => break true,
                Step::Kept => break false,
                Step::Dropped => {
                    self.refused(packet, Site::Node(programs.node()));
                    break false;
                }
                Step::Sends(next, _) => from = next,
            }
            self.send_of_programs(programs);
        };
        self.send_of_programs(programs);
        self.settle_programs(programs);
        goes_on
    }

    /// Passes a packet through programs at the end of its transmission at port `egress`, which has an explicit queue.
    fn leave_programs(&mut self, programs: &mut Programs, egress: PortIx, packet: &mut Packet, ext: Option<&mut Ext>) {
        if !programs.asks_egress {
            return;
        }
        self.observe_programs(programs, true);
        let came_marked = packet.has(flag::CE);
        programs.egress(&Place { now: self.now, ports: self.ports, connections: self.net }, egress, packet, ext);
        if packet.has(flag::CE) && !came_marked {
            self.ports[egress].count_mark();
        }
        self.settle_programs(programs);
    }

    /// Passes a departing packet through the programs of the node of `port`, if any. `switches` are those of switches.
    #[cold]
    pub fn leave_programmed(&mut self, port: PortIx, switches: &mut [Option<Box<Programs>>], departed: &mut Departed) {
        let Departed { packet, ext, .. } = departed;
        let node = self.net.origins[self.ports[port].link].get();
        self.with_programs(node, switches, |ctx, programs| ctx.leave_programs(programs, port, packet, ext.as_mut()));
    }

    /// Host that has `port`, if the node is a host.
    pub fn programmed_host(&self, port: PortIx) -> Option<HostIx> {
        match self.net.origins[self.ports[port].link].get() {
            Node::Host(host) => Some(host),
            Node::Switch(_) => None,
        }
    }

    /// Counts and traces a packet dropped by a program.
    fn refused(&mut self, packet: &Packet, site: Site) {
        self.counts.drop_at(self.now);
        if packet.has(flag::SLOW_PATH) {
            self.trace(packet, Happening::Drop, site);
        }
    }

    /// Called after programs have acted: sets their timer and continues time series.
    #[inline]
    fn settle_programs(&mut self, programs: &mut Programs) {
        if let Some(due) = programs.rearms(self.now) {
            self.timer(due, Timer::Program(programs.node()));
        }
        self.observe_programs(programs, false);
    }

    #[inline]
    fn observe_programs(&mut self, programs: &mut Programs, before: bool) {
        if programs.is_observed() {
            let place = Place { now: self.now, ports: self.ports, connections: self.net };
            programs.observe(&place, self.net.spec.observe.interval, before, self.rec);
        }
    }
}
