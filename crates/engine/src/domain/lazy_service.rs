//! Ports whose explicit queues have [lazy service](crate::port::lazy_service), where they are not observed.

use crate::domain::build::Simulation;
use crate::port::Port;
use incast_cc::Time;

impl Simulation<'_> {
    /// Turns on lazy service at explicit ports where possible. `length`: length of windows. Not if observed by
    /// programs, time series, timelines, traces or policies that compare ports, nor at some
    /// [hosts](Self::ports_without_tx_slots).
    pub fn enable_lazy_service(&mut self, length: Time) {
        let (spec, observe) = (self.net.spec, &self.net.spec.observe);
        let seen = !spec.programs.is_empty() || !observe.trace.is_empty() || observe.monitors();
        let switches = || self.domains.iter().flat_map(|domain| &domain.switches);
        if !seen && spec.pfc().is_none() && spec.cells.is_empty() && switches().all(|switch| switch.is_pure()) {
            self.ports_without_tx_slots().for_each(|port| port.make_lazy(length));
        }
    }

    /// All ports, except those of hosts whose transport hands over a packet when the wire becomes free, at the instant
    /// at which the port's transmission ends. The order of these two depends on the order of events.
    pub(super) fn ports_without_tx_slots(&mut self) -> impl Iterator<Item = &mut Port> {
        let spec = self.net.spec;
        let paced = spec.transports.iter().any(|t| t.protocol.facts().waits_for_nic);
        let first = if paced { spec.hosts } else { 0 };
        let ports = self.domains.iter_mut().flat_map(|d| &mut d.nodes.ports);
        ports.filter(move |port| spec.links[port.link.ix()].from >= first)
    }
}
