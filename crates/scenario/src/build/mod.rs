//! From a checked document to what the engine simulates.

pub mod bounds;
mod triggers;
pub(crate) mod warnings;

use crate::document::failures::{self, Failure};
use crate::document::traffic::{MAX_FLOWS, Pattern, Traffic};
use crate::document::transport::Transport;
use crate::document::{Document, Domains, Interval, Ties, Until};
use crate::text::controller::Controller;
use crate::text::problem::{Errors, Problem};
use crate::topology::{DirectedLink, Network, single};
use crate::traffic::elephants::Herd;
use incast_cc as cc;
use incast_engine::map::ideal::Fabric;
use incast_engine::map::triggers::Triggers;
use incast_engine::spec::{self, LinkSpec, Spec};
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

/// Flows under construction, and what they refer to.
pub(crate) struct Flows<'a> {
    pub(crate) network: &'a Network,
    /// Fewest classes of ports that have queues for some, and the key of those ports.
    pub(crate) classes: Option<(&'static str, usize)>,
    /// Failures that files of traffic have.
    pub(crate) failures: Vec<Failure>,
    /// Nodes by name.
    pub(crate) names: HashMap<&'a str, u32>,
    links: HashMap<(u32, u32), u32>,
    pub(crate) dir: &'a Path,
    pub(crate) seed: u64,
    /// Length of the run.
    pub(crate) duration: cc::Time,
    /// Key path of the entry at work.
    pub(crate) path: String,
    /// All entries.
    pub(crate) entries: &'a [Traffic],
    default_controller: Option<&'a Controller>,
    default_transport: Transport,
    controllers: Vec<cc::Config>,
    transports: Vec<spec::TransportSpec>,
    flows: Vec<spec::FlowSpec>,
    triggers: Vec<spec::TriggerSpec>,
    /// File and line of flows that wait, where they have one.
    listed: HashMap<u32, (Rc<str>, u64)>,
    queries: Vec<spec::QuerySpec>,
    /// Flows announced so far.
    announced: u64,
}

impl Flows<'_> {
    /// Announces `n` more flows.
    pub(crate) fn reserve(&mut self, n: u64) -> Result<(), Problem> {
        self.announced = self.announced.saturating_add(n);
        if self.announced > MAX_FLOWS {
            let message = format!(
                "expected at most {MAX_FLOWS} flows in all: the state and the record of a flow take about a kilobyte"
            );
            return Err(Problem::with_value(format!("{}.flows", self.path), n, message));
        }
        self.flows.reserve(n as usize);
        Ok(())
    }

    /// Adds a flow; its number.
    pub(crate) fn push(&mut self, flow: spec::FlowSpec) -> u32 {
        self.flows.push(flow);
        self.flows.len() as u32 - 1
    }

    /// Number of flows so far.
    pub(crate) fn len(&self) -> u32 {
        self.flows.len() as u32
    }

    /// Whether flow `number` waits for others.
    pub(crate) fn waits(&self, number: u32) -> bool {
        self.flows[number as usize].trigger.is_some()
    }

    /// Number that the next trigger will have.
    pub(crate) fn first_trigger(&self) -> u32 {
        self.triggers.len() as u32
    }

    /// Adds a trigger; its number.
    pub(crate) fn add_trigger(&mut self, activations: Vec<(u32, spec::Done)>) -> u32 {
        self.triggers.push(spec::TriggerSpec { activations });
        self.triggers.len() as u32 - 1
    }

    /// Says where flow `number` is listed.
    pub(crate) fn list(&mut self, number: u32, file: &Rc<str>, line: u64) {
        self.listed.insert(number, (file.clone(), line));
    }

    /// Puts `flow` in the place of flow `number`.
    pub(crate) fn replace(&mut self, number: u32, flow: spec::FlowSpec) {
        self.flows[number as usize] = flow;
    }

    /// Source and destination of flow `number`.
    pub(crate) fn ends(&self, number: u32) -> (u32, u32) {
        let flow = &self.flows[number as usize];
        (flow.src, flow.dst)
    }

    /// Numbers of the flows of entry number `group`.
    pub(crate) fn of_group(&self, group: u32) -> impl Iterator<Item = u32> {
        (0u32..).zip(&self.flows).filter(move |(_, f)| f.group == group).map(|(i, _)| i)
    }

    pub(crate) fn add_query(&mut self, query: spec::QuerySpec) {
        self.queries.push(query);
    }

    /// Number of a controller: the entry's own, or the scenario's.
    pub(crate) fn controller(&mut self, own: Option<&Controller>) -> Result<u32, Problem> {
        let Some(Controller(config)) = own.or(self.default_controller) else {
            let message =
                "missing; expected a controller such as \"dctcp\", here or at the top of the scenario for all entries";
            return Err(Problem::new(format!("{}.controller", self.path), message));
        };
        Ok(number_of(&mut self.controllers, config.clone()))
    }

    /// Number of a controller for flows that none governs: the scenario's, or any.
    pub(crate) fn any_controller(&mut self) -> u32 {
        let config = self.default_controller.map(|c| c.0.clone()).or_else(|| cc::Config::new("newreno"));
        config.map_or(0, |config| number_of(&mut self.controllers, config))
    }

    /// Number of the transport settings of flows under a controller.
    pub(crate) fn transport(&mut self, own: Option<&Transport>, controller: u32) -> u32 {
        let profile = self.controllers[controller as usize].profile();
        let settings = match own {
            Some(t) => t.over(&self.default_transport).spec(&profile),
            None => self.default_transport.spec(&profile),
        };
        number_of(&mut self.transports, settings)
    }

    /// Transport settings by number.
    pub(crate) fn settings(&self, transport: u32) -> &spec::TransportSpec {
        &self.transports[transport as usize]
    }

    pub(crate) fn link_between(&self, from: u32, to: u32) -> Option<u32> {
        self.links.get(&(from, to)).copied()
    }
}

/// Place of `item` in `list`, where it is put if it is not there yet.
fn number_of<T: PartialEq>(list: &mut Vec<T>, item: T) -> u32 {
    let at = list.iter().position(|x| *x == item).unwrap_or_else(|| {
        list.push(item);
        list.len() - 1
    });
    at as u32
}

/// What a document builds.
pub(crate) struct Built {
    /// What the engine simulates.
    pub(crate) spec: Spec,
    /// Entry of `failures` that each failure of `spec` is of; those of files come after all entries of the document.
    pub(crate) failing: Vec<usize>,
}

pub(crate) fn build(doc: &Document, dir: &Path) -> Result<Built, Errors> {
    let mut problems = Vec::new();
    let (measure_from, measure_to) = check_run(doc, &mut problems);
    doc.queue.check("queue", false, &mut problems);
    doc.routing.check(&doc.queue, doc.run.ties, &mut problems);
    doc.transport.check("transport", &mut problems);
    for (entry, failure) in doc.failures.iter().enumerate() {
        failure.check(entry, doc.run.duration.0, &mut problems);
    }
    let links = doc.topology.links();
    links.iter().for_each(|(key, link)| link.check(key, &mut problems));
    for (i, t) in doc.traffic.iter().enumerate() {
        let name = t.name();
        t.check(&format!("traffic.{name}"), doc.run.duration.0, &mut problems);
        if doc.traffic[..i].iter().any(|other| other.name() == name) {
            let message = "another traffic entry has this name; expected a name of its own, as name = \"...\"";
            problems.push(Problem::with_value(format!("traffic.{name}.name"), format!("\"{name}\""), message));
        }
    }
    if doc.traffic.is_empty() {
        problems.push(Problem::new("traffic", "empty; expected at least one [[traffic]] entry"));
    }
    let mut network = match doc.topology.build(dir) {
        Ok(network) => network,
        Err(more) => {
            problems.extend(more);
            return Err(Errors(problems));
        }
    };
    let link_names = link_names(&network);
    single::apply(&doc.links, &mut network, &link_names, &mut problems);
    let mut flows = Flows {
        network: &network,
        classes: classes(doc),
        failures: doc.failures.clone(),
        names: network.names.iter().map(String::as_str).zip(0..).collect(),
        links: HashMap::new(),
        dir,
        seed: doc.run.seed,
        duration: doc.run.duration.0,
        path: String::new(),
        entries: &doc.traffic,
        default_controller: doc.controller.as_ref(),
        default_transport: doc.transport.resolved(),
        controllers: Vec::new(),
        transports: Vec::new(),
        flows: Vec::new(),
        triggers: Vec::new(),
        listed: HashMap::new(),
        queries: Vec::new(),
        announced: 0,
    };
    for (i, l) in (0u32..).zip(&network.links) {
        flows.links.entry((l.from, l.to)).or_insert(i);
    }
    if problems.is_empty() {
        for (entry, t) in (0u32..).zip(&doc.traffic) {
            flows.path = format!("traffic.{}", t.name());
            if let Err(more) = t.add(entry, &mut flows) {
                problems.extend(more);
            }
        }
    }
    let Flows { controllers, transports, flows, failures, triggers, listed, queries, .. } = flows;
    check_classes(doc, &mut problems);
    doc.queue.check_transports("queue", &transports, &mut problems);
    if let Some(packet) = transports.iter().map(full_packet).max() {
        doc.queue.check_packet("queue", packet, &mut problems);
    }
    let packet = transports.iter().map(full_packet).max().unwrap_or(0);
    let too_small = |l: &&DirectedLink| l.bucket > 0 && (l.bucket as u64) < packet + l.overhead as u64;
    if let Some(l) = network.links.iter().find(too_small) {
        let kinds = links.iter().map(|(key, link)| (format!("{key}.burst"), link.burst));
        let singles = doc.links.iter().enumerate().map(|(i, link)| (format!("links.{i}.burst"), link.burst()));
        let named = kinds.chain(singles).find(|(_, burst)| burst.is_some_and(|b| b.0.0 == l.bucket as u64));
        let key = named.map_or("topology, a link's burst".into(), |(key, _)| key);
        let packet = packet + l.overhead as u64;
        let message = format!("expected at least {packet}B, a full packet with its overhead: it would never leave");
        problems.push(Problem::with_value(key, format!("\"{}B\"", l.bucket), message));
    }
    let buckets = |at_host: bool| network.links.iter().any(|l| l.bucket > 0 && (l.from < network.hosts) == at_host);
    doc.queue.check_buckets("queue", buckets(false), buckets(true), &mut problems);
    if let Some(buffer) = &doc.buffer {
        buffer.check(&doc.queue, &network, packet, &mut problems);
    }
    let host_costs = doc.hosts.as_ref().map_or(Vec::new(), |hosts| hosts.spec(&network, &mut problems));
    let observe = observe(
        doc,
        &link_names,
        flows.len(),
        measure_to.saturating_sub(measure_from),
        problems.is_empty(),
        &mut problems,
    );
    if !problems.is_empty() {
        return Err(Errors(problems));
    }

    let sharing = sharing(doc, &network, &flows);
    let mut queues = vec![doc.queue.spec()];
    let host_queue = doc.queue.host().map_or(0, |q| number_of(&mut queues, q.spec()));
    let links = network.links.into_iter().zip(link_names).map(|(l, name)| LinkSpec {
        from: l.from,
        to: l.to,
        rate: l.rate,
        delay: l.delay,
        overhead: l.overhead,
        bucket: l.bucket,
        queue: if l.from < network.hosts { host_queue } else { 0 },
        loss: l.loss,
        name,
    });
    let links: Vec<LinkSpec> = links.collect();
    let mut spec = Spec {
        seed: doc.run.seed,
        duration: doc.run.duration.0,
        measure_from,
        measure_to,
        hosts: network.hosts,
        domain_of: match doc.run.domains {
            Domains::Rack => network.racks,
            Domains::Node => (0..network.names.len() as u32).collect(),
            Domains::One => vec![0; network.names.len()],
        },
        node_names: network.names,
        links,
        routers: network.routers,
        choice: doc.routing.choice(),
        acks_by_flow: doc.routing.acks_by_flow(),
        queues,
        transports,
        controllers,
        groups: doc.traffic.iter().map(|t| t.name()).collect(),
        flows,
        triggers,
        queries,
        buffer: doc.buffer.as_ref().map(|buffer| buffer.spec(&doc.queue)),
        observe,
        host_costs,
        ties: match doc.run.ties {
            Ties::Hash => spec::Ties::Hash,
            Ties::Link => spec::Ties::Link,
            Ties::Scheduled => spec::Ties::Scheduled,
        },
        ends_when_finished: doc.run.until == Until::Finished,
        sharing,
        failures: Vec::new(),
    };
    check_circles(doc, &spec, &listed)?;
    keep_to_one_path(doc, &mut spec);
    check_paths(&spec)?;
    let failing = failures::apply(&failures, &mut spec).map_err(Errors)?;
    doc.buffer.as_ref().map_or(Ok(()), |buffer| buffer.check_links(&spec))?;
    Ok(Built { spec, failing })
}

/// Flows that can never open, as what they wait for waits for them in turn.
fn check_circles(doc: &Document, spec: &Spec, listed: &HashMap<u32, (Rc<str>, u64)>) -> Result<(), Errors> {
    let at_work = Triggers::new(spec).map_err(|e| Problem::new("traffic", e.to_string()))?;
    let never = triggers::never_open(spec, &at_work, |_| true);
    let Some(f) = triggers::circle(spec, &never) else { return Ok(()) };
    let key = match listed.get(&f) {
        Some((file, line)) => format!("{file}, line {line}"),
        None => format!("traffic.{}, flow {f}", doc.traffic[spec.flows[f as usize].group as usize].name()),
    };
    let message = "waits for itself by way of what it waits for; expected flows that wait for earlier ones alone";
    Err(Problem::new(key, message).into())
}

/// What every flow shares with elephants; empty where there are none.
fn sharing(doc: &Document, network: &Network, flows: &[spec::FlowSpec]) -> Vec<spec::Sharing> {
    let is_one = |f: &spec::FlowSpec| doc.traffic[f.group as usize].pattern == Pattern::Elephants;
    if !doc.traffic.iter().any(|t| t.pattern == Pattern::Elephants) {
        return Vec::new();
    }
    let ends = |f: &spec::FlowSpec| (f.src, f.dst);
    let herd = Herd::new(network, flows.iter().filter(|f| is_one(f)).map(ends));
    flows.iter().map(|f| herd.sharing(network, ends(f), is_one(f))).collect()
}

/// Gives the flows that are to keep to one path, where switches spread packets, the one that ECMP would.
fn keep_to_one_path(doc: &Document, spec: &mut Spec) {
    let keeps: Vec<bool> = doc.traffic.iter().map(|t| t.keeps_one_path()).collect();
    if !spec.choice.spreads() || !keeps.contains(&true) {
        return;
    }
    let fabric = Fabric::new(spec);
    let paths: Vec<_> = (spec.flows.iter().enumerate())
        .filter(|(_, f)| keeps[f.group as usize])
        .map(|(i, _)| (i, fabric.path(i, false), fabric.path(i, true)))
        .collect();
    // without a path there is nothing to keep to: the flow is refused for that
    for (i, there, back) in paths.into_iter().filter(|(_, there, back)| !there.is_empty() && !back.is_empty()) {
        let flow = &mut spec.flows[i];
        flow.path.get_or_insert(there);
        flow.reverse_path.get_or_insert(back);
    }
}

/// Fewest classes of ports that have queues for some, and the key of those ports.
pub(crate) fn classes(doc: &Document) -> Option<(&'static str, usize)> {
    let queues = [("queue", Some(&doc.queue)), ("queue.host", doc.queue.host())];
    let has = queues.into_iter().filter_map(|(key, q)| Some((key, q?.classes().len())));
    has.filter(|(_, n)| *n > 0).min_by_key(|(_, n)| *n)
}

/// Traffic classes that ports have no queue for.
fn check_classes(doc: &Document, out: &mut Vec<Problem>) {
    let Some((key, least)) = classes(doc) else { return };
    for t in &doc.traffic {
        let classes = [("class", Some(t.class)), ("ack_class", t.ack_class)];
        for (name, class) in classes.into_iter().filter_map(|(name, c)| Some((name, c?))) {
            if class as usize >= least {
                let message = format!("expected 0 to {}, the classes of {key}", least - 1);
                out.push(Problem::with_value(format!("traffic.{}.{name}", t.name()), class, message));
            }
        }
    }
}

/// Largest IP packet of a transport, in bytes.
fn full_packet(t: &spec::TransportSpec) -> u64 {
    let whole = t.mss as u64 + t.header as u64;
    let segment = if t.mtu == 0 { whole } else { whole.min(t.mtu as u64) };
    segment.max((t.ack_size + 4 * t.sack_block) as u64).max(if t.handshake || t.lone_syn {
        t.syn_size as u64
    } else {
        0
    })
}

/// Most values of all time series at fixed intervals: about 1.2 GB in memory.
const MAX_SAMPLES: u64 = 50_000_000;
/// Values of one flow at one instant: window, threshold, RTT and the controller's state.
const VALUES_PER_FLOW: u64 = 8;

fn check_run(doc: &Document, problems: &mut Vec<Problem>) -> (cc::Time, cc::Time) {
    let run = &doc.run;
    let quoted = |t: cc::Time| format!("\"{t}\"");
    let end = run.measure_until.unwrap_or(run.duration).0;
    if run.duration.0 == cc::Time::ZERO {
        problems.push(Problem::with_value("run.duration", quoted(run.duration.0), "expected a time above 0"));
    } else if run.warmup >= run.duration {
        let message = format!("expected less than run.duration, {}", run.duration);
        problems.push(Problem::with_value("run.warmup", quoted(run.warmup.0), message));
    } else if end > run.duration.0 || end <= run.warmup.0 {
        let message =
            format!("expected a time after run.warmup, {}, and at most run.duration, {}", run.warmup, run.duration);
        problems.push(Problem::with_value("run.measure_until", quoted(end), message));
    }
    (run.warmup.0, end)
}

/// `from>to`; links between the same two nodes after the first carry their number.
fn link_names(network: &Network) -> Vec<String> {
    let mut seen: HashMap<(u32, u32), u32> = HashMap::new();
    let name = |n: u32| &network.names[n as usize];
    network
        .links
        .iter()
        .map(|l| {
            let n = seen.entry((l.from, l.to)).or_insert(0);
            *n += 1;
            let base = format!("{}>{}", name(l.from), name(l.to));
            if *n == 1 { base } else { format!("{base}#{n}") }
        })
        .collect()
}

fn observe(
    doc: &Document,
    links: &[String],
    flows: usize,
    measured: cc::Time,
    flows_known: bool,
    problems: &mut Vec<Problem>,
) -> spec::Observe {
    let m = &doc.measure;
    for (key, list) in [("measure.series.flows", &m.series.flows), ("measure.trace", &m.trace)] {
        for f in list.iter().filter(|f| flows_known && **f as usize >= flows) {
            problems.push(Problem::with_value(key, f, format!("expected numbers of flows, from 0 to {}", flows - 1)));
        }
    }
    let by_name: HashMap<&str, u32> = links.iter().map(String::as_str).zip(0..).collect();
    let mut ports = Vec::new();
    for name in &m.series.ports {
        match by_name.get(name.as_str()) {
            Some(port) => ports.push(*port),
            None => {
                let message = format!("no such port; expected names such as \"{}\"", links[0]);
                let p = Problem::with_value("measure.series.ports", format!("\"{name}\""), message);
                problems.push(p.suggest(name, links.iter().take(10_000).map(String::as_str)));
            }
        }
    }
    let mut positive = |key: &str, t: cc::Time| {
        if t == cc::Time::ZERO {
            problems.push(Problem::with_value(key, "\"0s\"", "expected a time above 0"));
        }
        t
    };
    let auto = cc::Time((measured.0 / 1000).clamp(cc::Time::ns(100).0, cc::Time::ms(1).0));
    let queue_interval = m.queue_interval.given().map_or(auto, |t| positive("measure.queue_interval", t.0));
    let interval = match m.series.interval {
        Interval::Change(_) => None,
        Interval::Every(t) => Some(positive("measure.series.interval", t.0)),
    };
    if let Some(every) = interval.filter(|t| *t > cc::Time::ZERO) {
        let series = VALUES_PER_FLOW * m.series.flows.len() as u64 + m.series.ports.len() as u64;
        let smallest = (doc.run.duration.0.0 as u128 * series as u128).div_ceil(MAX_SAMPLES as u128) as u64;
        if every.0 < smallest {
            let message = format!(
                "expected at least {} for {} flows and {} ports over {}: all series together have at most \
                 {MAX_SAMPLES} values",
                cc::Time(smallest),
                m.series.flows.len(),
                m.series.ports.len(),
                doc.run.duration,
            );
            problems.push(Problem::with_value("measure.series.interval", format!("\"{every}\""), message));
        }
    }
    spec::Observe { queue_interval, flows: m.series.flows.clone(), ports, interval, trace: m.trace.clone() }
}

/// Every flow reaches its destination and back, and takes time on the way.
fn check_paths(spec: &Spec) -> Result<(), Errors> {
    let tables = spec.routers.iter().any(|r| matches!(r, spec::Router::Table { .. }));
    // On a regular topology every host is reached, and time passes if no link is free.
    let free = |l: &LinkSpec| l.rate == cc::Rate::INFINITE && l.delay == cc::Time::ZERO;
    if !tables && !spec.links.iter().any(free) {
        return Ok(());
    }
    let fabric = Fabric::new(spec);
    let mut problems = Vec::new();
    for (i, f) in spec.flows.iter().enumerate() {
        let name = |n: u32| &spec.node_names[n as usize];
        let key = format!("traffic.{}, flow {i} ({} to {})", spec.groups[f.group as usize], name(f.src), name(f.dst));
        if fabric.path(i, false).is_empty() || fabric.path(i, true).is_empty() {
            problems.push(Problem::new(key, "no path joins the two hosts"));
        } else if fabric.ideal(i).idle_rtt == cc::Time::ZERO {
            let message = "its whole path takes no time, there and back; expected a finite rate or a delay above 0 on \
                           at least one link of it";
            problems.push(Problem::new(key, message));
        }
        if problems.len() > Errors::SHOWN {
            break;
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(Errors(problems)) }
}
