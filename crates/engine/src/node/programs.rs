//! A packet at a node that runs programs.

use crate::event::packet::{Ext, Packet, flag};
use crate::ids::{HostIx, Node, PortIx};
use crate::node::context::{Effects, NodeCtx};
use crate::node::trace::Site;
use crate::program::{Programs, Refused};
use incast_record::Happening;

impl<E: Effects> NodeCtx<'_, E> {
    /// The programs of a node see a packet that came in by port `ingress` and is to leave by `egress`; then the port
    /// that they leave it is offered it.
    pub fn pass_programs(
        &mut self,
        programs: &mut Programs,
        (ingress, egress): (Option<PortIx>, PortIx),
        packet: &Packet,
        ext: Option<&mut Ext>,
    ) {
        let (mut packet, came_marked) = (*packet, packet.has(flag::CE));
        self.observe_programs(programs, true);
        match programs.ingress(self.now, (self.ports, &self.net.spec.flows), (ingress, Some(egress)), &mut packet) {
            Ok(port) => {
                let port = port.unwrap_or(egress);
                let marks = self.ports[port].marks();
                let accepted = self.offer(port, &packet, ext);
                // its queue may have marked it as well
                if accepted && packet.has(flag::CE) && !came_marked && self.ports[port].marks() == marks {
                    self.ports[port].count_mark();
                }
                if programs.asks_queue {
                    programs.queued(self.now, (self.ports, &self.net.spec.flows), (ingress, port), &packet, accepted);
                }
            }
            Err(Refused) => self.refused(&packet, Site::Link(self.ports[egress].link)),
        }
        self.observe_programs(programs, false);
    }

    /// The programs of a host see a packet that has come to it: whether it goes on to the stack.
    #[cold]
    pub fn meet_programs(&mut self, host: HostIx, packet: &mut Packet) -> bool {
        let (port, node) = (self.hosts[host].port, self.hosts[host].node);
        let Some(mut programs) = self.hosts[host].programs.take() else { return true };
        self.observe_programs(&mut programs, true);
        let goes_on =
            programs.ingress(self.now, (self.ports, &self.net.spec.flows), (Some(port), None), packet).is_ok();
        if !goes_on {
            self.refused(packet, Site::Node(node));
        }
        self.observe_programs(&mut programs, false);
        self.hosts[host].programs = Some(programs);
        goes_on
    }

    /// The host that has `port` and runs programs, if it is a host's.
    pub fn programmed_host(&self, port: PortIx) -> Option<HostIx> {
        match self.net.origins[self.ports[port].link].get() {
            Node::Host(host) => Some(host),
            Node::Switch(_) => None,
        }
    }

    /// A program drops a packet.
    fn refused(&mut self, packet: &Packet, site: Site) {
        self.counts.dropped += 1;
        if packet.has(flag::SLOW_PATH) {
            self.trace(packet, Happening::Drop, site);
        }
    }

    #[inline]
    fn observe_programs(&mut self, programs: &mut Programs, before: bool) {
        if programs.is_observed() {
            let view = (&*self.ports, &*self.net.spec.flows);
            programs.observe(self.now, view, self.net.spec.observe.interval, before, self.rec);
        }
    }
}
