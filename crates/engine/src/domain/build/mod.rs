//! Builds the simulation of a [`Spec`]: validates it, places nodes in domains, builds ports, hosts and switches, and
//! attaches flows to their ends.

mod endpoints;
mod place;
mod ports;

use crate::domain::Domain;
use crate::event::interval::Interval;
use crate::event::order::{Order, Timer};
use crate::hash;
use crate::ids::{CellId, DomainId, FlowId, QueryId};
use crate::map::back;
use crate::map::cells;
use crate::map::duplexes;
use crate::map::fabric::FabricMap;
use crate::map::ideal::{Fabric, FlowIdeal};
use crate::map::jobs::Jobs;
use crate::map::latency;
use crate::map::layout::Layout;
use crate::map::mirror::Mirror;
use crate::map::paths::Numbered;
use crate::map::per_flow::{self, PerFlow};
use crate::map::pfc::Pfc;
use crate::map::triggers::Triggers;
use crate::port::faults::Faults;
use crate::spec::{About, DOMAINS_A_THREAD, MAX_THREADS, RunError, Spec};
use crate::threads::cores;
use crate::threads::progress::{Monitor, Step};
use crate::threads::thread_pool::ThreadPool;
use crate::validate;
use incast_cc::Time;
use ports::{Maker, Parts};
use std::ops::Range;
use std::sync::Arc;

/// Length of windows if no latency gives one: a single domain without any delay.
pub const LONGEST_WITHOUT_DELAY: Time = Time::us(10);

/// A run, ready to start: the fabric map and the domains.
pub struct Simulation<'a> {
    /// The fabric map.
    pub net: FabricMap<'a>,
    /// The domains.
    pub domains: Vec<Domain>,
    /// Smallest latency between domains; `None` with a single domain.
    pub lookahead: Option<Time>,
    /// Number of flows and queries of known size.
    finite: u64,
    /// Ideal figures of every flow on the empty network.
    pub(super) ideals: PerFlow<FlowIdeal>,
    /// Threads for set-up and outcome.
    pub thread_pool: Arc<ThreadPool>,
}

// shares of the time with a million flows and 220,000 hosts
const DOMAINS: Step = (0.1, 0.25);
const FACTS: Step = (0.25, 0.5);
const ENDS: Step = (0.5, 1.0);

/// Number of threads for a run with `domains` domains.
fn threads(spec: &Spec, domains: usize) -> usize {
    let auto = || spec.cores.map_or_else(cores, |n| n as usize).min(domains / DOMAINS_A_THREAD);
    spec.threads.map_or_else(auto, |n| n as usize).clamp(1, MAX_THREADS as usize)
}

impl<'a> Simulation<'a> {
    /// Builds everything that `spec` describes.
    pub fn new(spec: &'a Spec) -> Result<Simulation<'a>, RunError> {
        Simulation::monitored(spec, &mut Monitor::new(&mut |_| true, spec.duration))
    }

    /// Builds everything that `spec` describes. The monitor may stop it.
    pub fn monitored(spec: &'a Spec, monitor: &mut Monitor) -> Result<Simulation<'a>, RunError> {
        validate::check(spec)?;
        let faults = Faults::of_links(spec).map_err(|text| RunError::Refused(About::Failures, text))?;
        let pfc = spec.pfc().map(|pfc| Pfc::new(spec, pfc)).transpose();
        let (pfc, accounts) = pfc.map_err(|text| RunError::Refused(About::Buffer, text))?.unzip();
        let fabric = Fabric::new(spec);
        let smallest = latency::smallest_packet(spec);
        let latencies = latency::latencies(spec, &faults, smallest);
        let (domain_of, count) = place::domains(spec, &fabric, &latencies);
        let thread_pool = Arc::new(ThreadPool::new(threads(spec, count)));
        let interval = Interval {
            from: spec.measure_from,
            to: spec.measure_to.min(spec.duration),
            every: spec.observe.queue_interval.max(Time::ps(1)),
        };
        let layout = Layout::new(spec, &fabric, &domain_of, count);
        let parts = Parts {
            spec,
            fabric: &fabric,
            layout: &layout,
            interval: &interval,
            faults: &faults,
            pfc: pfc.as_ref(),
            accounts: accounts.as_deref().unwrap_or_default(),
        };
        let made = thread_pool.list_monitored(count, &mut monitor.step(DOMAINS), |range| {
            let mut maker = Maker::new(&parts);
            range.map(|d| maker.domain(d)).collect()
        });
        let made = made.ok_or(RunError::Stopped)?;
        if let Some((_, error)) = made.iter().filter_map(|d| d.as_ref().err()).min_by_key(|(node, _)| *node) {
            return Err(error.clone());
        }
        let mut domains: Vec<Domain> = made.into_iter().flatten().collect();
        validate::check_flows(spec, &fabric)?;
        let facts = |range: Range<usize>| range.map(|f| fabric.facts(FlowId(f as u32))).collect();
        let facts =
            thread_pool.list_monitored(spec.flows.len(), &mut monitor.step(FACTS), facts).ok_or(RunError::Stopped)?;
        let (envs, ideals) = per_flow::of(spec, facts);
        // length of windows for a single domain without any delay
        let min = if spec.links.iter().all(|l| l.delay == Time::ZERO) { LONGEST_WITHOUT_DELAY } else { Time::ns(1) };
        let Layout { place, port_of, .. } = layout;
        let cells = cells::of(spec, &port_of, |node| place[node as usize].domain);
        let mut net = FabricMap {
            spec,
            order: Order { seed: spec.seed, ties: spec.ties },
            ecmp_salt: hash::ecmp_salt(spec.seed),
            interval,
            links: spec.links.iter().map(|l| place[l.to as usize]).collect(),
            origins: spec.links.iter().map(|l| place[l.from as usize].node).collect(),
            place,
            ends: Vec::new(),
            envs,
            duplexes: duplexes::of(spec)?,
            triggers: Triggers::new(spec)?,
            jobs: Jobs::new(spec, &latencies)?,
            // the same for any queue: explicit queues give the same outcome
            max_latency: spec.links.iter().map(|l| l.crossing(smallest)).fold(min, Time::max),
            quickest: latencies.iter().copied().min().unwrap_or(Time::NEVER),
            queries: Vec::new(),
            paths: Numbered::new(spec),
            back: if spec.turns_back() { back::ports(spec, &port_of) } else { Vec::new() },
            port_of,
            mirror: Mirror::new(spec),
            cells,
            hosts_cost: !spec.host_costs.is_empty(),
            deliveries: spec.deliveries(),
            entropy: spec.choice.has_entropy(),
            pfc,
        };
        endpoints::flows(&mut net, &mut domains, &thread_pool, &mut monitor.step(ENDS)).ok_or(RunError::Stopped)?;
        if !per_flow::keeps_envs(spec) {
            net.envs = PerFlow::default();
        }
        endpoints::queries(&mut net, &mut domains);
        endpoints::counts_and_probes(&mut net, &mut domains);
        let finite = spec.flows.iter().filter(|f| f.app.is_finite()).count()
            + spec.queries.iter().filter(|q| q.count.is_some_and(|n| n > 0)).count()
            + net.jobs.ranks.iter().filter(|rank| spec.jobs[rank.job as usize].start < spec.duration).count();
        let lookahead = latency::lookahead(spec, &net.place, &latencies);
        if !monitor.set_up(1.0) {
            return Err(RunError::Stopped);
        }
        Ok(Simulation { net, domains, lookahead, finite: finite as u64, ideals, thread_pool })
    }

    /// Timers pending at the start of a run: domain, time and timer.
    pub fn first_timers(&self) -> impl Iterator<Item = (DomainId, Time, Timer)> {
        let (spec, place) = (self.net.spec, &self.net.place);
        // the first message opens a connection of a job
        let flows = (0..).zip(spec.flows.iter().zip(&self.net.ends));
        let flows = flows
            .filter(|(f, _)| self.net.jobs.of_flow(FlowId(*f)).is_none())
            .map(move |(f, (flow, at))| (at.sender_domain, flow.start, Timer::Start(FlowId(f))));
        let queries = (0..).zip(&spec.queries);
        let queries =
            queries.map(move |(q, query)| (place[query.root as usize].domain, query.first, Timer::Query(QueryId(q))));
        let transitions = self.net.pfc.iter().flat_map(|pfc| pfc.first_transitions());
        let transitions = transitions
            .map(move |(link, time)| (place[spec.links[link].from as usize].domain, time, Timer::Transition(link)));
        let cells = (0..).zip(&self.net.cells).map(|(number, cell)| {
            let own = &self.domains[cell.domain].nodes.shared.cells[cell.local as usize];
            (cell.domain, own.next(), Timer::Cell(CellId(number)))
        });
        let cells = cells.filter(|(_, at, _)| *at != Time::NEVER);
        let ranks = self.net.jobs.timers(spec).map(|(host, at, timer)| (place[host].domain, at, timer));
        flows.chain(queries).chain(ranks).chain(transitions).chain(cells)
    }

    /// Number of flows and queries of known size after which the run ends, if it ends then. Otherwise `u64::MAX`.
    pub fn last_to_finish(&self) -> u64 {
        if self.net.spec.ends_when_finished && self.finite > 0 { self.finite } else { u64::MAX }
    }
}
