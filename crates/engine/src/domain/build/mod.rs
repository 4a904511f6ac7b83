//! Builds what a [`Spec`] describes: has it checked, places nodes in domains, lays out ports, hosts and switches, and
//! puts flows at their ends.

mod endpoints;
mod place;
mod ports;

use crate::domain::Domain;
use crate::event::interval::Interval;
use crate::event::order::{Order, Timer};
use crate::ids::{DomainId, FlowId, QueryId};
use crate::map::duplexes;
use crate::map::fabric::FabricMap;
use crate::map::ideal::Fabric;
use crate::map::paths::Numbered;
use crate::map::pfc::Pfc;
use crate::map::triggers::Triggers;
use crate::port::faults::Faults;
use crate::spec::{FlowSpec, RunError, Spec};
use crate::validate;
use incast_cc::Time;
use ports::Layout;

/// Length of windows where no latency gives one: a single domain, and no delay anywhere.
pub const LONGEST_WITHOUT_DELAY: Time = Time::us(10);

/// A run, ready to begin: the fabric map and the domains.
pub struct Simulation<'a> {
    /// The fabric map.
    pub net: FabricMap<'a>,
    /// The domains.
    pub domains: Vec<Domain>,
    /// Smallest latency between domains; `None` with a single domain.
    pub lookahead: Option<Time>,
    /// How many flows and queries have a known size.
    finite: u64,
}

impl<'a> Simulation<'a> {
    /// Builds everything that `spec` describes.
    pub fn new(spec: &'a Spec) -> Result<Simulation<'a>, RunError> {
        validate::check(spec)?;
        let faults = Faults::of_links(spec).map_err(RunError::Invalid)?;
        let (pfc, accounts) = match spec.pfc() {
            Some(pfc) => {
                let (pfc, accounts) = Pfc::new(spec, pfc).map_err(RunError::Invalid)?;
                (Some(pfc), accounts)
            }
            None => (None, vec![Vec::new(); spec.node_names.len()]),
        };
        let smallest = place::smallest_packet(spec);
        let (mut place, mut domains) = place::domains(spec, &faults, smallest);
        let interval = Interval {
            from: spec.measure_from,
            to: spec.measure_to.min(spec.duration),
            every: spec.observe.queue_interval.max(Time::ps(1)),
        };
        let mut layout = Layout::new(spec, &interval, &faults, pfc.as_ref(), accounts);
        layout.nodes(&mut place, &mut domains)?;
        let port_of = layout.port_of;
        let lookahead = place::lookahead(spec, &place, &faults, smallest);

        // where no link has a delay and all is one domain, windows are as long as this
        let least = if spec.links.iter().all(|l| l.delay == Time::ZERO) { LONGEST_WITHOUT_DELAY } else { Time::ns(1) };
        let fabric = Fabric::new(spec);
        validate::check_flows(spec, &fabric)?;
        let mut net = FabricMap {
            spec,
            order: Order { seed: spec.seed, ties: spec.ties },
            interval,
            links: spec.links.iter().map(|l| place[l.to as usize]).collect(),
            origins: spec.links.iter().map(|l| place[l.from as usize].node).collect(),
            place,
            port_of,
            ends: Vec::new(),
            envs: (0..spec.flows.len() as u32).map(|f| fabric.env(FlowId(f))).collect(),
            duplexes: duplexes::of(spec)?,
            triggers: Triggers::new(spec)?,
            // whatever the queue: explicit ones give the same outcome
            relay: spec.links.iter().map(|l| l.crossing(smallest)).fold(least, Time::max),
            queries: Vec::new(),
            paths: Numbered::new(spec),
            hosts_cost: !spec.host_costs.is_empty(),
            entropy: spec.choice.has_entropy(),
            pfc,
        };
        endpoints::flows(&mut net, &mut domains);
        endpoints::queries(&mut net, &mut domains);
        endpoints::counts_and_probes(&mut net, &mut domains);
        let finite = spec.flows.iter().filter(|f| f.app.is_finite()).count()
            + spec.queries.iter().filter(|q| q.count.is_some_and(|n| n > 0)).count();
        Ok(Simulation { net, domains, lookahead, finite: finite as u64 })
    }

    /// Timers that are pending as a run begins: domain, time and timer.
    pub fn first_timers(&self) -> impl Iterator<Item = (DomainId, Time, Timer)> {
        let (spec, place) = (self.net.spec, &self.net.place);
        let flows = (0..).zip(spec.flows.iter().zip(&self.net.ends));
        let flows = flows.map(move |(f, (flow, at))| (at.sender_domain, flow.start, Timer::Start(FlowId(f))));
        let queries = (0..).zip(&spec.queries);
        let queries =
            queries.map(move |(q, query)| (place[query.root as usize].domain, query.first, Timer::Query(QueryId(q))));
        let transitions = self.net.pfc.iter().flat_map(|pfc| pfc.first_transitions());
        let transitions = transitions
            .map(move |(link, time)| (place[spec.links[link].from as usize].domain, time, Timer::Transition(link)));
        flows.chain(queries).chain(transitions)
    }

    /// The work of each domain, roughly, in passages of a packet through a port.
    ///
    /// Flows' packets and their acknowledgements are taken to pass `PASSAGES` ports of switches, evenly. The ends of
    /// a flow take as much as `SENDER` and `RECEIVER` of these passages (instructions under callgrind).
    pub fn weights(&self) -> Vec<u64> {
        const PASSAGES: u64 = 8;
        const SENDER: u64 = 5;
        const RECEIVER: u64 = 3;
        /// Packets of a flow at most: what does not end, or not within the run, counts as much.
        const MOST: u64 = 1_000;
        let (spec, place) = (self.net.spec, &self.net.place);
        let packets = |flow: &FlowSpec| flow.app.size().map_or(MOST, |size| (size / 1024).clamp(1, MOST));
        let ports = spec.links.iter().filter(|l| l.from >= spec.hosts).count().max(1) as u64;
        let passages = spec.flows.iter().map(packets).sum::<u64>() * PASSAGES / ports + 1;
        let mut weights: Vec<u64> = self.domains.iter().map(|d| d.nodes.ports.len() as u64 * passages).collect();
        for flow in &spec.flows {
            weights[place[flow.src as usize].domain.ix()] += SENDER * packets(flow);
            weights[place[flow.dst as usize].domain.ix()] += RECEIVER * packets(flow);
        }
        weights
    }

    /// How many flows and queries of a known size finish before the run ends, where it does so then; else more than
    /// can.
    pub fn last_to_finish(&self) -> u64 {
        if self.net.spec.ends_when_finished && self.finite > 0 { self.finite } else { u64::MAX }
    }
}
