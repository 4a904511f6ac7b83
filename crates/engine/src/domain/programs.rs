//! Programs of the nodes of a domain.

use crate::domain::Domain;
use crate::domain::endpoints::Endpoints;
use crate::event::packet::{Ext, Kind, Packet};
use crate::ids::{Node, NodeIx, Side};
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use crate::program::{Place, Programs};
use crate::spec::Deliveries;
use incast_cc::Time;
use incast_record::Recorder;

impl Domain {
    /// Programs of a node, if any.
    pub fn programs(&mut self, node: NodeIx) -> Option<&mut Programs> {
        match node.get() {
            Node::Host(host) => self.nodes.hosts[host].programs.as_deref_mut(),
            Node::Switch(switch) => self.programs.get_mut(switch.ix())?.as_deref_mut(),
        }
    }

    /// All programs.
    pub(super) fn all_programs(&self) -> impl Iterator<Item = &Programs> {
        let hosts = self.nodes.hosts.iter().filter_map(|host| host.programs.as_deref());
        hosts.chain(self.programs.iter().filter_map(|programs| programs.as_deref()))
    }

    /// Completes the time series of programs at the end of the run.
    pub(super) fn finish_programs<R: Recorder>(&mut self, end: Time, net: &FabricMap, rec: &mut R) {
        let hosts = self.nodes.hosts.iter_mut().filter_map(|host| host.programs.as_deref_mut());
        let switches = self.programs.iter_mut().filter_map(|programs| programs.as_deref_mut());
        for programs in hosts.chain(switches).filter(|programs| programs.is_observed()) {
            let place = Place { now: end, ports: &self.nodes.ports, connections: net };
            programs.observe(&place, net.spec.observe.interval, true, rec);
        }
    }
}

impl Endpoints {
    /// Takes in a packet that has arrived at its host.
    #[inline(always)]
    pub(super) fn arrived(&mut self, ctx: &mut NodeCtx<impl Effects>, packet: &Packet, ext: Option<&mut Ext>) {
        match ctx.net.deliveries {
            Deliveries::Plain => self.deliver(ctx, packet, ext),
            Deliveries::Counted => self.deliver_counted(ctx, packet, ext),
            Deliveries::Handled => self.deliver_otherwise(ctx, packet, ext),
        }
    }

    /// Handles an arrival at a host where hosts run programs or delay their packets.
    #[cold]
    pub(super) fn deliver_otherwise(
        &mut self,
        ctx: &mut NodeCtx<impl Effects>,
        packet: &Packet,
        mut ext: Option<&mut Ext>,
    ) {
        let host = ctx.net.links[packet.link].node.of_host();
        let mut packet = *packet;
        if ctx.hosts[host].programs.is_some() && !ctx.pass_host_programs(host, &mut packet, ext.as_deref_mut()) {
            return;
        }
        if packet.is(Kind::Idle) {
            ctx.counts.delivered += 1;
            return;
        }
        if ctx.hosts[host].receive.is_some() {
            return ctx.process(host, Side::Receive, &packet, ext);
        }
        self.deliver_counted(ctx, &packet, ext);
    }
}
