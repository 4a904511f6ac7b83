//! Ports whose explicit queues [serve themselves](crate::port::self_service): where nobody looks on.

use crate::domain::build::Simulation;
use crate::port::Port;
use incast_cc::Time;

impl Simulation<'_> {
    /// Has explicit ports serve themselves that can. Windows are `length` long. Programs, time series, timelines and
    /// traces look on, policies that compare ports, and some [hosts](Self::ports_without_turns).
    pub fn serve_themselves(&mut self, length: Time) {
        let (spec, observe) = (self.net.spec, &self.net.spec.observe);
        let seen = !spec.programs.is_empty() || !observe.trace.is_empty() || observe.monitors();
        let switches = || self.domains.iter().flat_map(|domain| &domain.switches);
        if !seen && spec.pfc().is_none() && spec.cells.is_empty() && switches().all(|switch| switch.is_pure()) {
            self.ports_without_turns().for_each(|port| port.serve_itself(length));
        }
    }

    /// The ports but for those of hosts whose transport hands over a packet as the wire gets free, at the instant at
    /// which their port's transmission ends: which is first is a matter of the order of events.
    pub(super) fn ports_without_turns(&mut self) -> impl Iterator<Item = &mut Port> {
        let spec = self.net.spec;
        let paced = spec.transports.iter().any(|t| t.protocol.waits_for_wire());
        let first = if paced { spec.hosts } else { 0 };
        let ports = self.domains.iter_mut().flat_map(|d| &mut d.nodes.ports);
        ports.filter(move |port| spec.links[port.link.ix()].from >= first)
    }
}
