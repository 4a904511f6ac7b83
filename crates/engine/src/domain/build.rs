//! Lays out a [`Spec`]: merges domains, places nodes, ports and flow ends, and gathers the
//! outcome at the end.

use crate::RunError;
use crate::domain::Domain;
use crate::domain::deadlock::deadlocked;
use crate::event::ids::{HostIx, NodeIx, PortIx, SwitchIx};
use crate::event::interval::Interval;
use crate::event::order::{Order, Timer, TimerKind};
use crate::event::packet::{Packet, STAMPS, flag};
use crate::host::messages::{Half, Join, Query};
use crate::host::nic::FairNic;
use crate::host::processing::{EngineId, Processing, Side};
use crate::map::fabric::{Ends, FabricMap, Place};
use crate::map::ideal::Fabric;
use crate::map::paths::Numbered;
use crate::map::pfc::Pfc;
use crate::map::triggers::Triggers;
use crate::node::io::{Host, Turns};
use crate::port::buffer::Pool;
use crate::port::faults::Faults;
use crate::port::{Port, Settings};
use crate::spec::{App, Discipline, ProcessingSpec, QueueSpec, Rules, Spec, Ties, TransportSpec};
use crate::switch::Switch;
use crate::transport::endpoints;
use incast_cc::Time;
use incast_record::{Collector, FlowRecord, MessageKind, Outcome, PortRecord, Role};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Links quicker than this do not separate domains.
pub const LATENCY_FLOOR_PS: u64 = 50_000;

/// Length of windows where no latency gives one: a single domain, and no delay anywhere.
pub const LONGEST_WITHOUT_DELAY_PS: u64 = 10_000_000;

/// The map and the domains of a run.
pub struct World<'a> {
    /// The map.
    pub net: FabricMap<'a>,
    /// The domains.
    pub domains: Vec<Domain>,
    /// Smallest latency between domains, ps; `None` with a single domain.
    pub lookahead: Option<u64>,
    /// How many flows and queries have a known size.
    finite: u64,
}

/// Smallest time from a packet's leaving one end of link `l` to its arrival at the other.
fn latency(spec: &Spec, l: usize, faults: &BTreeMap<u32, Faults>, smallest: u64) -> u64 {
    let quickest = faults.get(&(l as u32)).map(|f| f.quickest(&spec.links[l]));
    let link = quickest.as_ref().unwrap_or(&spec.links[l]);
    if spec.is_explicit(link) {
        // the arrival is decided when the packet leaves the queue
        return link.delay.0;
    }
    link.crossing(smallest).0
}

fn root(parent: &mut [u32], mut i: u32) -> u32 {
    while parent[i as usize] != i {
        parent[i as usize] = parent[parent[i as usize] as usize];
        i = parent[i as usize];
    }
    i
}

/// The part of every flow in a two-way connection.
fn joins(spec: &Spec) -> Result<Vec<Option<Join>>, RunError> {
    if spec.queries.is_empty() {
        return match spec.flows.iter().position(|f| f.app == App::Messages) {
            Some(f) => Err(RunError::Invalid(format!("flow {f} carries messages but belongs to no query"))),
            None => Ok(Vec::new()),
        };
    }
    let mut joins = vec![None; spec.flows.len()];
    for (q, query) in (0u32..).zip(&spec.queries) {
        for c in &query.connections {
            let ends = |f: u32| spec.flows.get(f as usize).map(|f| (f.src, f.dst, f.transport));
            let fit = matches!(
                (ends(c.request), ends(c.response)),
                (Some((a, b, t)), Some((d, e, u))) if a == query.root && (a, b, t) == (e, d, u)
            );
            if !fit || c.request_size == 0 || c.response_size == 0 {
                return Err(RunError::Invalid(format!(
                    "flows {} and {} are no two-way connection of host {}: expected one from it and one back, the \
                     same transport, and sizes of at least 1 byte",
                    c.request, c.response, query.root
                )));
            }
            for (flow, other, response, size) in
                [(c.request, c.response, false, c.request_size), (c.response, c.request, true, c.response_size)]
            {
                let join = &mut joins[flow as usize];
                if join.is_some() || spec.flows[flow as usize].app != App::Messages {
                    return Err(RunError::Invalid(format!(
                        "flow {flow} is part of two connections, or sends more than messages"
                    )));
                }
                *join = Some(Join { other, query: q, response, size });
            }
        }
    }
    match (spec.flows.iter().zip(&joins)).position(|(f, j)| f.app == App::Messages && j.is_none()) {
        Some(f) => Err(RunError::Invalid(format!("flow {f} carries messages but belongs to no query"))),
        None => Ok(joins),
    }
}

/// Controllers that govern flows, and by their number in `spec` the one there: flows of datagrams have none, and come
/// under `udp`, the last.
fn governing(spec: &Spec) -> (Vec<String>, Vec<u32>) {
    let mut governs = vec![false; spec.controllers.len()];
    let mut datagrams = false;
    for flow in &spec.flows {
        match flow.app {
            App::Udp { .. } => datagrams = true,
            _ => governs[flow.controller as usize] = true,
        }
    }
    let mut names = Vec::new();
    let mut number = Vec::with_capacity(governs.len());
    for (config, governs) in spec.controllers.iter().zip(governs) {
        number.push(names.len() as u32);
        names.extend(governs.then(|| config.to_string()));
    }
    names.extend(datagrams.then(|| "udp".to_owned()));
    (names, number)
}

/// Gives every query and write the timeouts that its flows had while it was under way.
fn count_timeouts(net: &FabricMap, collector: &mut Collector, end: u64) {
    // a query is known by its root's connections, a write by its flow
    let owner = |flow: u32| match net.join(flow) {
        Some(join) => (MessageKind::Query, join.query),
        None => (MessageKind::Write, flow),
    };
    let mut by_owner: BTreeMap<(MessageKind, u32), Vec<u64>> = BTreeMap::new();
    for (flow, time) in &collector.timeouts {
        by_owner.entry(owner(*flow)).or_default().push(*time);
    }
    by_owner.values_mut().for_each(|times| times.sort_unstable());
    for message in &mut collector.messages {
        let Some(times) = by_owner.get(&owner(message.flow)) else { continue };
        let before = |t: u64| times.partition_point(|at| *at < t) as u64;
        message.timeouts = before(message.finish_ps.unwrap_or(end)) - before(message.start_ps);
    }
}

impl<'a> World<'a> {
    /// Builds everything that `spec` describes.
    pub fn new(spec: &'a Spec) -> Result<World<'a>, RunError> {
        let nodes = spec.node_names.len();
        let invalid = |text: String| Err(RunError::Invalid(text));
        if spec.domain_of.len() != nodes || spec.hosts as usize + spec.routers.len() != nodes {
            return invalid(format!(
                "{nodes} node names, {} domain entries, {} hosts and {} routers do not fit together",
                spec.domain_of.len(),
                spec.hosts,
                spec.routers.len()
            ));
        }
        for t in &spec.transports {
            if t.mss == 0 || t.mss + t.header > 65_535 || (t.mtu > 0 && t.mtu < 68) {
                return invalid(format!("a segment of {} + {} bytes cannot travel", t.mss, t.header));
            }
            if t.mtu > 0 && (t.mss + t.header).div_ceil((t.mtu - 20) / 8 * 8) > 16 {
                return invalid(format!("a segment of {} bytes makes more than 16 fragments", t.mss + t.header));
            }
        }

        if spec.ties == Ties::Scheduled && spec.choice.has_entropy() {
            return invalid("packets have room for an entropy or for what scheduled ties ask, not for both".into());
        }
        if !spec.host_costs.is_empty() && spec.host_costs.len() != spec.hosts as usize {
            return invalid(format!("costs of {} hosts are given for {}", spec.host_costs.len(), spec.hosts));
        }
        let sides = spec.host_costs.iter().flat_map(|h| [&h.receive, &h.send]).flatten();
        if let Some(costs) = { sides }.find(|c| !(1..=EngineId::MOST).contains(&c.engines)) {
            return invalid(format!("a host has {} engines a side, expected 1 to {}", costs.engines, EngineId::MOST));
        }
        for link in &spec.links {
            let queue = &spec.queues[link.queue as usize];
            if spec.is_explicit(link) && link.bucket > 0 {
                return invalid(format!("link {}: an explicit queue takes no token bucket", link.name));
            }
            if let Discipline::Trimming(_) = queue.discipline {
                if queue.device > 0 {
                    return invalid(format!("link {}: a queue that trims has no device queue below it", link.name));
                }
                let whole = |t: &TransportSpec| t.mtu == 0 || t.mss + t.header <= t.mtu;
                let fit = |t: &TransportSpec| whole(t) && t.sack && t.scoreboard != Rules::Ns3;
                if !spec.transports.iter().all(fit) {
                    return invalid(format!(
                        "link {}: a queue trims segments, so transports must not fragment them, and must know by SACK \
                         which are missing (and not by ns-3's scoreboard)",
                        link.name
                    ));
                }
            }
            let classes = queue.classes();
            if !classes.is_empty() && queue.device > 0 {
                return invalid(format!("link {}: classes have no device queue below them", link.name));
            }
            if classes.iter().any(|c| !c.classes().is_empty() || matches!(c.discipline, Discipline::FairNic { .. })) {
                return invalid(format!("link {}: a class is one queue, without classes of its own", link.name));
            }
            if matches!(queue.discipline, Discipline::Classes { .. }) {
                let most = spec.flows.iter().map(|f| f.class.max(f.ack_class) as usize).max().unwrap_or(0);
                if most >= classes.len() {
                    let has = classes.len();
                    return invalid(format!("link {}: has {has} classes, and flows are of class {most}", link.name));
                }
            }
        }

        let faults = Faults::of_links(spec).map_err(RunError::Invalid)?;
        let (pfc, mut accounts) = match spec.pfc() {
            Some(pfc) => {
                let (pfc, accounts) = Pfc::new(spec, pfc).map_err(RunError::Invalid)?;
                (Some(pfc), accounts)
            }
            None => (None, vec![Vec::new(); nodes]),
        };

        // merge domains which a link is too quick to separate
        let smallest =
            spec.transports.iter().flat_map(|t| [t.ack_size, t.syn_size, t.header + 1]).min().unwrap_or(1).clamp(1, 20)
                as u64;
        let count = spec.domain_of.iter().max().map_or(0, |m| m + 1);
        let mut parent: Vec<u32> = (0..count).collect();
        for (l, link) in spec.links.iter().enumerate() {
            if latency(spec, l, &faults, smallest) < LATENCY_FLOOR_PS {
                let a = root(&mut parent, spec.domain_of[link.from as usize]);
                let b = root(&mut parent, spec.domain_of[link.to as usize]);
                parent[a.max(b) as usize] = a.min(b);
            }
        }
        // number the merged domains in order of their first node
        let mut number = vec![u32::MAX; count as usize];
        let mut domains: Vec<Domain> = Vec::new();
        let mut place = Vec::with_capacity(nodes);
        for node in 0..nodes as u32 {
            let r = root(&mut parent, spec.domain_of[node as usize]) as usize;
            if number[r] == u32::MAX {
                number[r] = domains.len() as u32;
                domains.push(Domain::default());
            }
            place.push(Place { domain: number[r], node: NodeIx::host(HostIx(0)) });
        }

        let interval = Interval {
            from: spec.measure_from.0,
            to: spec.measure_to.0.min(spec.duration.0),
            every: spec.observe.queue_interval.0.max(1),
        };
        // ports, node by node, so that a node's ports are neighbours
        let mut outgoing = vec![Vec::new(); nodes];
        for (l, link) in spec.links.iter().enumerate() {
            outgoing[link.from as usize].push(l as u32);
        }
        let mut known: Vec<Arc<Settings>> = Vec::new();
        let mut port_of = vec![0u32; spec.links.len()];
        for node in 0..nodes as u32 {
            let domain = &mut domains[place[node as usize].domain as usize];
            let first = domain.ports.len() as u32;
            for l in &outgoing[node as usize] {
                let link = &spec.links[*l as usize];
                port_of[*l as usize] = domain.ports.len() as u32;
                let queue = &spec.queues[link.queue as usize];
                let shares = spec.shares_buffer(link);
                let queue = &QueueSpec { explicit: spec.is_explicit(link), ..queue.clone() };
                let settings = Settings::new(link, queue, spec.ties);
                let settings = known.iter().find(|c| ***c == settings).cloned().unwrap_or_else(|| {
                    known.push(Arc::new(settings));
                    known[known.len() - 1].clone()
                });
                let mut port = Port::with(settings, queue, *l, spec.seed, &interval);
                if shares {
                    port.share(domain.pools.len() as u32);
                }
                if let Some(faults) = faults.get(l) {
                    port.fail(faults.clone());
                }
                if let (Some(pfc), Some(spec)) = (&pfc, spec.pfc())
                    && let Some(silence) = pfc.silence(*l, Time::ZERO)
                {
                    port.keep_silent(silence, spec);
                }
                domain.ports.push(port);
            }
            if let Some(buffer) = spec.buffer.as_ref().filter(|_| node >= spec.hosts) {
                let lossless = buffer.pfc.iter().flat_map(|p| &p.lossless).filter(|l| **l).count() as u64;
                let queues = |l: &u32| spec.queues[spec.links[*l as usize].queue as usize].count() as u64 - lossless;
                let queues = outgoing[node as usize].iter().map(queues).sum();
                let accounts = std::mem::take(&mut accounts[node as usize]);
                let own = accounts.iter().map(|a| a.reserve.saturating_add(a.headroom)).fold(0, u64::saturating_add);
                let pool = Pool::new(buffer.size, buffer.alpha, buffer.reserve, queues);
                let Some(pool) = pool.and_then(|pool| pool.with_accounts(accounts)) else {
                    let name = &spec.node_names[node as usize];
                    let (size, reserve) = (buffer.size, buffer.reserve);
                    let own = if own > 0 { format!(", and {own} B of reserves and headrooms,") } else { String::new() };
                    return invalid(format!(
                        "switch {name}: {queues} queues with {reserve} B each for themselves{own} are more than the \
                         {size} B that they share"
                    ));
                };
                domain.pools.push(pool);
            }
            if node < spec.hosts {
                let [link] = outgoing[node as usize][..] else {
                    return invalid(format!(
                        "host {} has {} outgoing links, expected exactly one",
                        spec.node_names[node as usize],
                        outgoing[node as usize].len()
                    ));
                };
                let nic = match spec.queues[spec.links[link as usize].queue as usize].discipline {
                    Discipline::FairNic { per_flow } => Some(FairNic::new(per_flow)),
                    _ => None,
                };
                place[node as usize].node = NodeIx::host(HostIx(domain.hosts.len() as u32));
                let costs = spec.host_costs.get(node as usize).cloned().unwrap_or_default();
                let engines = |costs: Option<ProcessingSpec>| costs.map(|c| Box::new(Processing::new(&c)));
                let (receive, send) = (engines(costs.receive), engines(costs.send));
                domain.hosts.push(Host { node, port: first, nic, receive, send, turns: Turns::default() });
            } else {
                place[node as usize].node = NodeIx::switch(SwitchIx(domain.switches.len() as u32));
                domain.switches.push(Switch::new(spec, node, PortIx(first), &outgoing[node as usize]));
            }
        }
        let links = spec.links.iter().map(|l| place[l.to as usize]).collect();
        let origins = spec.links.iter().map(|l| place[l.from as usize].node).collect();
        let lookahead = spec
            .links
            .iter()
            .enumerate()
            .filter(|(_, l)| place[l.from as usize].domain != place[l.to as usize].domain)
            .map(|(i, _)| latency(spec, i, &faults, smallest))
            .min();

        // where no link has a delay and all is one domain, windows are as long as this
        let least = if spec.links.iter().all(|l| l.delay == Time::ZERO) { LONGEST_WITHOUT_DELAY_PS } else { 1000 };
        // whatever the queue: explicit ones give the same outcome
        let longest = spec.links.iter().map(|l| l.crossing(smallest).0).fold(least, u64::max);
        let finite = spec.flows.iter().filter(|f| f.app.is_finite()).count()
            + spec.queries.iter().filter(|q| q.count.is_some_and(|n| n > 0)).count();

        let fabric = Fabric::new(spec);
        for (f, flow) in spec.flows.iter().enumerate() {
            if let App::Udp { gap: Time::ZERO } = flow.app {
                return invalid(format!("flow {f}: datagrams without time between them"));
            }
            let controller = &spec.controllers[flow.controller as usize];
            let asks = !matches!(flow.app, App::Udp { .. });
            if asks && controller.profile().telemetry && fabric.path(f, false).len() > STAMPS {
                return invalid(format!(
                    "flow {f}: ports stamp the packets of {}, which hold {STAMPS} stamps, and its path crosses {} \
                     ports",
                    controller.kind().name,
                    fabric.path(f, false).len()
                ));
            }
        }
        let envs = (0..spec.flows.len()).map(|f| fabric.env(f)).collect();
        let order = Order { seed: spec.seed, ties: spec.ties };
        let joins = joins(spec)?;
        let triggers = Triggers::new(spec)?;
        let queries = Vec::new();
        let mut net = FabricMap {
            spec,
            order,
            interval,
            place,
            links,
            origins,
            port_of,
            ends: Vec::new(),
            envs,
            joins,
            triggers,
            relay: Time(longest),
            queries,
            paths: Numbered::new(spec),
            hosts_cost: !spec.host_costs.is_empty(),
            entropy: spec.choice.has_entropy(),
            pfc,
        };
        for f in 0..spec.flows.len() as u32 {
            let flow = net.flow(f);
            let (src, dst) = (net.place[flow.src as usize], net.place[flow.dst as usize]);
            let (s, r) = endpoints(&net, f, src.node.of_host().0, dst.node.of_host().0);
            let senders = &mut domains[src.domain as usize].senders;
            let sender = senders.len() as u32;
            senders.push(s);
            let receivers = &mut domains[dst.domain as usize].receivers;
            let receiver = receivers.len() as u32;
            receivers.push(r);
            net.ends.push(Ends { sender_domain: src.domain, sender, receiver_domain: dst.domain, receiver });
        }
        for (q, query) in spec.queries.iter().enumerate() {
            let domain = &mut domains[net.place[query.root as usize].domain as usize];
            net.queries.push(domain.queries.len() as u32);
            domain.queries.push(Query { spec: q as u32, number: 0, waiting: 0, begun: 0 });
            for c in &query.connections {
                let (request, response) = (net.ends[c.request as usize], net.ends[c.response as usize]);
                let root = &mut domains[request.sender_domain as usize];
                let half = root.halves.len() as u32;
                let wnd = root.receivers[response.receiver as usize].join(&net, half, c.response_size);
                root.senders[request.sender as usize].join(half, false);
                // without a handshake the root's first packet opens the worker's side
                let open = !net.transport(net.flow(c.request).transport).handshake;
                root.halves.push(Half { wnd, open, ..Half::default() });
                let worker = &mut domains[response.sender_domain as usize];
                let half = worker.halves.len() as u32;
                let wnd = worker.receivers[request.receiver as usize].join(&net, half, c.request_size);
                worker.senders[response.sender as usize].join(half, true);
                worker.halves.push(Half { wnd, ..Half::default() });
            }
        }
        for trigger in &mut net.triggers.list {
            let activations = &mut domains[net.place[trigger.home as usize].domain as usize].activations;
            trigger.count = activations.len() as u32;
            activations.push(0);
        }
        for f in &spec.observe.flows {
            let ends = net.ends[*f as usize];
            domains[ends.sender_domain as usize].probe(ends.sender);
        }
        for l in &spec.observe.ports {
            let at = net.place[spec.links[*l as usize].from as usize];
            domains[at.domain as usize].ports[net.port_of[*l as usize] as usize].probe();
        }
        Ok(World { net, domains, lookahead, finite: finite as u64 })
    }

    /// What is pending as a run begins: domain, time in ps, and timer.
    pub fn first_timers(&self) -> impl Iterator<Item = (u32, u64, Timer)> {
        let (spec, place) = (self.net.spec, &self.net.place);
        let timer = |kind, entity: usize| Timer { kind, entity: entity as u32 };
        let flows = spec.flows.iter().zip(&self.net.ends).enumerate();
        let flows = flows.map(move |(f, (flow, at))| (at.sender_domain, flow.start.0, timer(TimerKind::Start, f)));
        let queries = spec.queries.iter().enumerate();
        let queries = queries
            .map(move |(q, query)| (place[query.root as usize].domain, query.first.0, timer(TimerKind::Query, q)));
        let transitions = self.net.pfc.iter().flat_map(|pfc| pfc.first_transitions());
        let transitions = transitions.map(move |(link, time)| {
            (place[spec.links[link as usize].from as usize].domain, time.0, timer(TimerKind::Transition, link as usize))
        });
        flows.chain(queries).chain(transitions)
    }

    /// How many flows and queries of a known size finish before the run ends, where it does so then; else more than
    /// can.
    pub fn last_to_finish(&self) -> u64 {
        if self.net.spec.ends_when_finished && self.finite > 0 { self.finite } else { u64::MAX }
    }

    /// When the run ends, ps, the last of them having finished at `at`.
    pub fn end_after(&self, at: u64) -> u64 {
        at.saturating_add(self.net.relay.0).min(self.net.spec.duration.0)
    }

    /// The outcome at `end`, given what is still under way in buckets and queues outside the domains.
    pub fn outcome(
        mut self,
        collector: Collector,
        in_flight: impl Iterator<Item = Packet>,
        end: u64,
        idle: bool,
    ) -> Outcome {
        let spec = self.net.spec;
        let mut collector = collector;
        let last = self.domains.iter().map(|d| d.tally.last).max().unwrap_or(0);
        // at a FIFO port no event ends what a failure takes: it is left to happen all the same
        let doomed = self.domains.iter().flat_map(|d| &d.ports).filter(|p| p.fails()).filter_map(Port::last_doomed);
        let last = doomed.fold(last, u64::max);
        let idle = idle && last < end;
        // a run with nothing left to happen ends with what happened last, unless it is ports that wait for one another
        let stalled = idle && self.domains.iter().flat_map(|d| &d.ports).any(Port::is_stalled);
        let over = idle && !stalled;
        let end = if over { last } else { end };
        let to = self.net.interval.to.min(end).max(self.net.interval.from);
        let interval = Interval { to, ..self.net.interval };
        for d in &mut self.domains {
            d.finish(end, &self.net, &mut collector);
        }
        if !over {
            collector.trace.retain(|event| event.time_ps < end);
        }
        // segments under way, each once whatever its fragments
        let mut segments: BTreeSet<(u32, u64, u64, bool)> = BTreeSet::new();
        let mut packets = 0;
        let mut note = |p: &Packet| {
            if p.is_pause_frame() {
                return;
            }
            packets += 1;
            if p.len > 0 {
                segments.insert((p.flow, p.seq, p.ts, p.has(flag::MEASURED)));
            }
        };
        in_flight.for_each(|p| note(&p));
        let mut spared = 0;
        for port in self.domains.iter_mut().flat_map(|d| &mut d.ports).filter(|p| !over && p.fails()) {
            for packet in port.spares(end, &self.net.interval) {
                note(&packet);
                spared += 1;
            }
        }
        for d in &self.domains {
            d.ports.iter().for_each(|p| p.far().chain(p.waiting()).for_each(&mut note));
            for host in &d.hosts {
                host.nic.iter().for_each(|nic| nic.waiting().for_each(&mut note));
                [&host.receive, &host.send].into_iter().flatten().for_each(|e| e.waiting().for_each(&mut note));
            }
        }
        let mut under_way = vec![(0u64, 0u64); spec.flows.len()];
        for (flow, _, _, measured) in segments {
            under_way[flow as usize].0 += 1;
            under_way[flow as usize].1 += measured as u64;
        }

        let fabric = Fabric::new(spec);
        let (controllers, number) = governing(spec);
        let flows = spec.flows.iter().enumerate().map(|(f, flow)| {
            let ends = self.net.ends[f];
            let sender = &self.domains[ends.sender_domain as usize].senders[ends.sender as usize];
            let receiver = &self.domains[ends.receiver_domain as usize].receivers[ends.receiver as usize];
            let ideal = fabric.ideal(f);
            let size = match flow.app {
                App::Bulk { size, .. } => size,
                App::OnOff { .. } | App::Messages | App::ClosedLoop { .. } | App::Udp { .. } => None,
            };
            let mut record = FlowRecord {
                flow: f as u32,
                group: flow.group,
                controller: match flow.app {
                    App::Udp { .. } => controllers.len() as u32 - 1,
                    _ => number[flow.controller as usize],
                },
                datagrams: matches!(flow.app, App::Udp { .. }),
                sharing: spec.sharing.get(f).copied().unwrap_or_default(),
                role: match self.net.join(f as u32) {
                    None => Role::Data,
                    Some(join) if join.response => Role::Response,
                    Some(_) => Role::Request,
                },
                src: flow.src,
                dst: flow.dst,
                start_ps: flow.start.0,
                size,
                ideal_fct_ps: ideal.ideal_fct.map(|t| t.0),
                idle_rtt_ps: ideal.idle_rtt.0,
                hops: ideal.hops,
                // drops in hosts are counted by the collector
                ..FlowRecord::default()
            };
            sender.record(&mut record);
            receiver.record(&mut record);
            let most = size.unwrap_or(u64::MAX);
            record.written = record.written.min(most);
            record.delivered = record.delivered.min(most);
            record.dropped = (record.sent - record.arrived).saturating_sub(under_way[f].0);
            record.dropped_m = (record.sent_m - record.arrived_m).saturating_sub(under_way[f].1);
            record
        });
        let flows: Vec<FlowRecord> = flows.collect();
        let stuck = deadlocked(&self.net, &self.domains);
        let ports = (0..spec.links.len())
            .map(|l| {
                let at = self.net.place[spec.links[l].from as usize];
                let port = &mut self.domains[at.domain as usize].ports[self.net.port_of[l] as usize];
                let record = port.record(&spec.links[l].name, end, &interval);
                PortRecord { deadlocked_ps: stuck.get(&(l as u32)).copied(), ..record }
            })
            .collect();
        let mut engines = Vec::new();
        for node in 0..(if self.net.hosts_cost { spec.hosts as usize } else { 0 }) {
            let at = self.net.place[node];
            let host = &mut self.domains[at.domain as usize].hosts[at.node.of_host().ix()];
            for (side, own) in [(Side::Receive, &mut host.receive), (Side::Send, &mut host.send)] {
                engines.extend(own.iter_mut().flat_map(|e| e.records(&spec.node_names[node], side, end, &interval)));
            }
        }
        let sum = |f: fn(&crate::node::io::Tally) -> u64| self.domains.iter().map(|d| f(&d.tally)).sum();
        let mut outcome = Outcome {
            seed: spec.seed,
            end_ps: end,
            measure_from_ps: interval.from,
            measure_to_ps: interval.to,
            queue_samples: interval.samples(),
            hops: sum(|t| t.hops),
            packets_sent: sum(|t| t.sent),
            packets_delivered: sum(|t| t.delivered),
            packets_dropped: sum(|t| t.dropped) - spared,
            packets_in_flight: packets,
            groups: spec.groups.clone(),
            controllers,
            flows,
            ports,
            engines,
            ..Outcome::default()
        };
        count_timeouts(&self.net, &mut collector, end);
        collector.finish(&mut outcome);
        outcome
    }
}
