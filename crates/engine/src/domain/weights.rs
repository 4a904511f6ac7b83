//! Estimated cost of domains, by which they are distributed to threads.

use crate::domain::build::Simulation;
use crate::spec::FlowSpec;

impl Simulation<'_> {
    /// Estimated work of each domain, in passages of a packet through a port.
    ///
    /// Assumes that packets and acknowledgements of flows pass `PASSAGES` ports of switches, evenly. The ends of a flow
    /// cost as much as `SENDER` and `RECEIVER` passages (instructions under callgrind).
    pub fn weights(&self) -> Vec<u64> {
        const PASSAGES: u64 = 8;
        const SENDER: u64 = 5;
        const RECEIVER: u64 = 3;
        /// Maximum number of packets of a flow. Also counted for endless flows and those that do not finish in the run.
        const MAX: u64 = 1_000;
        let (spec, place) = (self.net.spec, &self.net.place);
        let packets = |flow: &FlowSpec| flow.app.size().map_or(MAX, |size| (size / 1024).clamp(1, MAX));
        let ports = spec.links.iter().filter(|l| l.from >= spec.hosts).count().max(1) as u64;
        let passages = spec.flows.iter().map(packets).sum::<u64>() * PASSAGES / ports + 1;
        let mut weights: Vec<u64> = self.domains.iter().map(|d| d.nodes.ports.len() as u64 * passages).collect();
        for flow in &spec.flows {
            weights[place[flow.src as usize].domain.ix()] += SENDER * packets(flow);
            weights[place[flow.dst as usize].domain.ix()] += RECEIVER * packets(flow);
        }
        weights
    }
}
