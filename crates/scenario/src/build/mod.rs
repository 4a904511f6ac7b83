//! Builds the engine's specification from a checked document.

pub mod bounds;
mod checks;
mod credits;
pub mod extent;
mod failures;
mod jobs;
pub mod layout;
mod mirror;
mod observe;
mod pauses;
mod priorities;
mod ranks;
pub(crate) mod refusals;
mod state_limit;
mod triggers;
pub(crate) mod warnings;

use crate::document::failures::LinkFailure;
use crate::document::group::Group;
use crate::document::links;
use crate::document::pattern::Pattern;
use crate::document::program;
use crate::document::queue::Queue;
use crate::document::transport;
use crate::document::{Document, Domains, Until};
use crate::files::Beside;
use crate::text::problem::{Errors, Problem};
use crate::topology::network::{MAX_PORTS, Network};
use crate::traffic::elephants;
use crate::traffic::flows::{Flows, number_of};
use incast_engine::map::ideal::Fabric;
use incast_engine::spec::{self, Discipline, LinkSpec, QueueSpec, Spec, Stamps, memory_of};
use incast_engine::{FlowId, LinkId, RunError};
use std::collections::HashMap;
use std::rc::Rc;

/// Results of building a document.
pub(crate) struct Built {
    /// The specification for the engine.
    pub(crate) spec: Spec,
    /// Failures of the document, then those of its files.
    pub(crate) failures: Vec<LinkFailure>,
    /// Index among them of each failure of `spec`.
    pub(crate) failing: Vec<usize>,
    /// Notes on files of jobs, in sentences.
    pub(crate) notes: Vec<String>,
}

/// Reason why there is nothing to run.
pub(crate) enum Refused {
    /// The document is wrong.
    Wrong(Errors),
    /// A run takes more memory than allowed: at least this many bytes.
    Memory(u64),
}

impl From<Errors> for Refused {
    fn from(errors: Errors) -> Refused {
        Refused::Wrong(errors)
    }
}

/// Checks a document and builds it; `beside` has its files.
pub(crate) fn build(doc: &Document, beside: &Beside) -> Result<Built, Errors> {
    within(doc, beside, u64::MAX).map_err(|refused| match refused {
        Refused::Wrong(errors) => errors,
        Refused::Memory(_) => unreachable!("no run takes more than all bytes"),
    })
}

/// As [`build`], unless a run takes more than `most` bytes. Ports are counted before the network is built, and flows
/// before their entry creates them.
pub(crate) fn within(doc: &Document, beside: &Beside, most: u64) -> Result<Built, Refused> {
    let mut problems = Vec::new();
    let checks::Read { patterns, mut failures } = checks::keys(doc, &mut problems);
    let ports = doc.topology.ports().filter(|ports| *ports <= MAX_PORTS);
    refuse_above(most, memory_of(ports.unwrap_or(0), 0))?;
    let mut network = match doc.topology.build(beside) {
        Ok(network) => network,
        Err(Errors(more)) => {
            problems.extend(more);
            return Err(Errors(problems).into());
        }
    };
    checks::tick(doc, &network, &mut problems);
    let own_queues = links::apply(&doc.links, &mut network, &mut problems);
    let mut flows = Flows::new(doc, &network, beside, most);
    if problems.is_empty() {
        add_groups(doc, patterns, &mut flows, &mut problems);
    }
    refuse_above(most, flows.memory)?;
    failures.append(&mut flows.failures);
    let Flows { controllers, mut transports, mut flows, triggers, listed, queries, jobs, notes, .. } = flows;
    transport::derive(&mut transports, &flows, &queries);
    priorities::classify(doc, &transports, &mut flows, &mut problems);
    credits::classify(doc, &own_queues, &mut flows, &mut problems);
    checks::ports(doc, &network, &own_queues, &transports, &mut problems);
    let programs = program::programs(&doc.program, &network, &transports, &mut problems);
    let host_costs = doc.hosts.as_ref().map_or(Vec::new(), |hosts| hosts.spec(&network, &mut problems));
    let known = problems.is_empty().then_some(flows.len());
    let observe = observe::observe(doc, &network, known, &mut problems);
    Errors::unless_none(problems, ())?;

    let (measure_from, measure_to) = doc.run.measured();
    let labels = elephants::labels(&doc.traffic, &network, &flows);
    let queues = queues(doc, &own_queues, &mut network);
    let tick = doc.run.tick.map_or(incast_cc::Time::ZERO, |tick| tick.0);
    network.links.iter_mut().for_each(|link| link.tick = tick);
    // the ports of a fabric for RDMA stamp departures, as the papers of its controllers have it
    let stamped = |f: &spec::FlowSpec| {
        transports[f.transport as usize].protocol.of::<spec::Rdma>().is_some()
            && controllers[f.controller as usize].profile().telemetry
    };
    let stamps = if flows.iter().any(stamped) { Stamps::Departure } else { Stamps::Arrival };
    let spec = Spec {
        seed: doc.run.seed,
        duration: doc.run.duration.0,
        measure_from,
        measure_to,
        hosts: network.hosts,
        domain_of: match doc.run.domains {
            Domains::Rack => network.domains(),
            Domains::Node => (0..network.names.len() as u32).collect(),
            Domains::One => vec![0; network.names.len()],
        },
        node_names: network.names,
        links: network.links,
        routers: network.routers,
        choice: doc.routing.choice(),
        acks_by_flow: doc.routing.acks_by_flow(),
        queues,
        transports,
        controllers,
        groups: doc.groups().map(Group::name).collect(),
        flows,
        triggers,
        queries,
        jobs: jobs::bounded(jobs, &failures),
        buffer: doc.buffer.as_ref().map(|buffer| buffer.spec(&doc.queue)),
        observe,
        host_costs,
        stamps,
        ties: doc.run.ties.0,
        threads: doc.run.threads.given().map(|n| n.0),
        cores: None,
        progress_every: None,
        ends_when_finished: doc.run.until == Until::Finished,
        labels,
        failures: Vec::new(),
        programs,
        cells: network.cells,
    };
    Ok(Built { notes, ..complete(doc, spec, &listed, failures)? })
}

/// Adds the flows of traffic entries, in the order of their patterns, then those of jobs.
fn add_groups(doc: &Document, patterns: Vec<Pattern>, flows: &mut Flows, problems: &mut Vec<Problem>) {
    let mut patterns = patterns.into_iter();
    for (number, group) in (0u32..).zip(doc.groups()) {
        flows.path = group.path();
        let added = match group {
            Group::Traffic(t) => patterns.next().map_or(Ok(()), |pattern| t.add(pattern, number, flows)),
            Group::Job(job) => job.add(number, flows),
        };
        if let Err(Errors(more)) = added {
            problems.extend(more);
        }
    }
}

/// Queues of the ports, to which the network's links then refer.
fn queues(doc: &Document, own_queues: &[links::OwnQueue], network: &mut Network) -> Vec<QueueSpec> {
    let (hosts, links) = (network.hosts, &mut network.links);
    let mut queues = vec![doc.queue.spec()];
    let host_queue = doc.queue.host().map_or(0, |q| number_of(&mut queues, q.spec()));
    links.iter_mut().filter(|l| l.from < hosts).for_each(|l| l.queue = host_queue);
    without_marks_to_hosts(&doc.queue, &mut queues, links, hosts);
    for own in own_queues {
        let queue = number_of(&mut queues, own.queue.spec());
        own.links.iter().for_each(|l| links[*l].queue = queue);
    }
    without_returns_from_hosts(&mut queues, links, hosts);
    queues
}

/// Completes a specification by paths and failures, and checks it as a whole.
fn complete(
    doc: &Document,
    mut spec: Spec,
    listed: &HashMap<u32, (Rc<str>, u64)>,
    failures: Vec<LinkFailure>,
) -> Result<Built, Refused> {
    checks::circles(&spec, listed)?;
    keep_to_one_path(doc, &mut spec);
    mirror::given_paths(&mut spec)?;
    checks::paths(&spec)?;
    let mut problems = Vec::new();
    program::check_run(&doc.program, &spec, &mut problems);
    observe::check_tasks(&spec, &mut problems);
    Errors::unless_none(problems, ())?;
    let failing = failures::apply(&failures, &mut spec)?;
    checks::stations(&spec)?;
    doc.buffer.as_ref().map_or(Ok(()), |buffer| buffer.check_links(&spec)).map_err(Errors::from)?;
    incast_engine::check(&spec).map_err(|refusal| refused(doc, &spec, refusal))?;
    observe::begin_with_long_frames(&mut spec);
    Ok(Built { spec, failures, failing, notes: Vec::new() })
}

/// Error for a specification that the engine refuses although the checks here passed.
fn refused(doc: &Document, spec: &Spec, refusal: RunError) -> Errors {
    match refusal {
        RunError::Refused(about, text) => refusals::problem(doc, spec, about, text).into(),
        other => Problem::new("scenario", other.to_string()).into(),
    }
}

fn refuse_above(most: u64, memory: u64) -> Result<(), Refused> {
    if memory > most { Err(Refused::Memory(memory)) } else { Ok(()) }
}

/// Gives ports of switches to hosts a queue without marks, if the trimming queue says so.
fn without_marks_to_hosts(queue: &Queue, queues: &mut Vec<QueueSpec>, links: &mut [LinkSpec], hosts: u32) {
    let Queue::Trimming(trimming) = queue else { return };
    if trimming.ecn.is_none_or(|ecn| ecn.to_hosts) {
        return;
    }
    let mut own = queues[0].clone();
    if let Discipline::Trimming(cut) = &mut own.discipline {
        cut.ecn = None;
    }
    let own = number_of(queues, own);
    links.iter_mut().filter(|l| l.from >= hosts && l.to < hosts).for_each(|l| l.queue = own);
}

/// Gives ports of hosts a queue that returns no headers: the sender would retransmit at once, for ever.
fn without_returns_from_hosts(queues: &mut Vec<QueueSpec>, links: &mut [LinkSpec], hosts: u32) {
    for link in links.iter_mut().filter(|l| l.from < hosts) {
        let mut own = queues[link.queue as usize].clone();
        if let Discipline::Trimming(cut) = &mut own.discipline
            && cut.returns
        {
            cut.returns = false;
            link.queue = number_of(queues, own);
        }
    }
}

/// Gives flows that keep to one path the path of ECMP, if switches spread packets.
fn keep_to_one_path(doc: &Document, spec: &mut Spec) {
    let keeps: Vec<bool> = doc.groups().map(Group::keeps_one_path).collect();
    if !spec.choice.spreads() || !keeps.contains(&true) {
        return;
    }
    let fabric = Fabric::new(spec);
    let paths: Vec<_> = (0..)
        .map(FlowId)
        .zip(&spec.flows)
        .filter(|(_, f)| keeps[f.group as usize])
        .map(|(i, _)| (i, fabric.path(i, false), fabric.path(i, true)))
        .collect();
    let numbers = |path: Vec<LinkId>| path.into_iter().map(u32::from).collect();
    // a flow without a path is refused elsewhere
    for (i, there, back) in paths.into_iter().filter(|(_, there, back)| !there.is_empty() && !back.is_empty()) {
        let flow = &mut spec.flows[i];
        flow.path.get_or_insert_with(|| numbers(there));
        flow.reverse_path.get_or_insert_with(|| numbers(back));
    }
}
