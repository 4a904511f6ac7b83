//! Checks across a document: consistency of its keys, its network and its flows.

use super::{credits, triggers};
use crate::document::Document;
use crate::document::failures::LinkFailure;
use crate::document::job::By;
use crate::document::links::OwnQueue;
use crate::document::pattern::Pattern;
use crate::document::queue::{Cuts, Queue};
use crate::document::transport::{self, rule::Around};
use crate::text::problem::{Errors, Problem, Report};
use crate::topology::network::Network;
use incast_cc as cc;
use incast_engine::FlowId;
use incast_engine::map::ideal::Fabric;
use incast_engine::map::triggers::Triggers;
use incast_engine::spec::{self, LinkSpec, Spec};
use std::collections::HashMap;
use std::rc::Rc;

/// Tables of a document, with the keys of their kinds.
pub(super) struct Read<'d> {
    pub(super) patterns: Vec<Pattern<'d>>,
    pub(super) failures: Vec<LinkFailure>,
}

/// Reads tables whose keys depend on each other, before there is a network; contradictions between keys go to
/// `problems`.
pub(super) fn keys<'d>(doc: &'d Document, problems: &mut Vec<Problem>) -> Read<'d> {
    let duration = doc.run.duration.0;
    check_run(doc, &mut Report::new("run", problems));
    doc.queue.check(false, &mut Report::new("queue", problems));
    for (i, queue) in doc.links.iter().enumerate().filter_map(|(i, link)| Some((i, link.queue.as_ref()?))) {
        queue.check(true, &mut Report::new(format!("links.{i}.queue"), problems));
    }
    doc.routing.check(&doc.queue, &mut Report::new("routing", problems));
    doc.transport.check(None, &mut Report::new("transport", problems));
    let failures = doc.failures.iter().enumerate();
    let failures =
        failures.filter_map(|(i, f)| f.read(duration, &mut Report::new(format!("failures.{i}"), problems))).collect();
    doc.topology.links().iter().for_each(|(key, link)| link.check(&mut Report::new(*key, problems)));
    let mut patterns = Vec::new();
    for (i, t) in doc.traffic.iter().enumerate() {
        let name = t.name();
        let at = &mut Report::new(format!("traffic.{name}"), problems);
        patterns.extend(t.check(duration, at));
        if let Some(own) = &t.transport {
            own.check(Some(&doc.transport), &mut at.below("transport"));
        }
        for (kind, own) in t.job.iter().filter_map(|job| job.by.as_ref()).flat_map(By::iter) {
            let around = t.transport.as_ref().unwrap_or(&doc.transport);
            own.transport
                .iter()
                .for_each(|own| own.check(Some(around), &mut at.below(format!("job.by.{kind}.transport"))));
        }
        if doc.traffic[..i].iter().any(|other| other.name() == name) {
            let message = "another traffic entry has this name; expected a unique name, as name = \"...\"";
            at.text("name", name, message);
        }
    }
    if doc.traffic.is_empty() {
        problems.push(Problem::new("traffic", "empty; expected at least one [[traffic]] entry"));
    }
    Read { patterns, failures }
}

/// Reports queues and buffers that do not fit the network, or the transports of its flows.
pub(super) fn ports(
    doc: &Document,
    network: &Network,
    own_queues: &[OwnQueue],
    transports: &[spec::TransportSpec],
    problems: &mut Vec<Problem>,
) {
    check_classes(doc, problems);
    check_trimming(doc, network, own_queues, transports, problems);
    let queues = credits::queues(doc, own_queues);
    let around = Around { queues: &queues, choice: &doc.routing.choice(), transports };
    transport::check_network(&around, problems);
    doc.queue.check_transports(transports, &mut Report::new("queue", problems));
    let packet = transports.iter().map(full_packet).max().unwrap_or(0);
    doc.queue.check_packet(packet, &mut Report::new("queue", problems));
    check_bursts(doc, network, packet, problems);
    let buckets = |at_host: bool| network.links.iter().any(|l| l.bucket > 0 && (l.from < network.hosts) == at_host);
    doc.queue.check_buckets(buckets(false), buckets(true), &mut Report::new("queue", problems));
    for own in own_queues {
        let at = &mut Report::new(own.key.as_str(), problems);
        own.queue.check_transports(transports, at);
        own.queue.check_packet(packet, at);
        own.queue.check_buckets(own.links.iter().any(|l| network.links[*l].bucket > 0), false, at);
        if own.at_switches(network) {
            check_at_switches(doc, own, at);
        }
    }
    check_cells(network, transports, problems);
    if let Some(buffer) = &doc.buffer {
        doc.queue.check_shared(&mut Report::new("queue", problems));
        for own in own_queues.iter().filter(|own| own.at_switches(network)) {
            own.queue.check_shared(&mut Report::new(own.key.as_str(), problems));
        }
        buffer.check(&doc.queue, own_queues, network, packet, problems);
    }
}

/// Reports queues that do not trim, where a transport learns from trimmed headers.
fn check_trimming(
    doc: &Document,
    network: &Network,
    own_queues: &[OwnQueue],
    transports: &[spec::TransportSpec],
    problems: &mut Vec<Problem>,
) {
    let Some(facts) = transports.iter().map(|t| t.protocol.facts()).find(|facts| facts.needs_trimming) else { return };
    let name = facts.name;
    let message = format!("expected \"trimming\": {name} learns from trimmed headers which packets to retransmit");
    let at_switches = own_queues.iter().filter(|own| own.at_switches(network)).map(|own| (own.key.clone(), own.queue));
    for (key, queue) in [("queue".to_owned(), &doc.queue)].into_iter().chain(at_switches) {
        match queue {
            Queue::Trimming(trimming) if trimming.cuts == Cuts::None && !facts.works_without_trimming => {
                let message =
                    format!("expected \"either\" or \"arrival\": {name} learns of losses from trimmed headers");
                problems.push(Problem::quoted(format!("{key}.cuts"), "none", message));
            }
            Queue::Trimming(_) => {}
            _ => problems.push(Problem::quoted(format!("{key}.kind"), queue.word(), message.as_str())),
        }
    }
}

/// Reports settings that work on wires but not at a radio station.
pub(super) fn stations(spec: &Spec) -> Result<(), Errors> {
    let mut problems = Vec::new();
    let on_air = |l: &&LinkSpec| l.cell.is_some();
    let cells = !spec.cells.is_empty();
    if cells && spec.pfc().is_some() {
        problems.push(Problem::new("buffer.pfc", "expected none beside radio cells: nothing pauses a channel"));
    }
    let node_on_air = |node: &u32| spec.links.iter().filter(on_air).any(|l| l.from == *node || l.to == *node);
    for (i, own) in spec.programs.iter().enumerate() {
        if let Some(node) = own.nodes.iter().find(|node| node_on_air(node)) {
            let name = &spec.node_names[*node as usize];
            let message = format!("{name} is of a radio cell; expected nodes whose ports are all on wires");
            problems.push(Problem::new(format!("program.{i}.nodes"), message));
        }
    }
    for failure in &spec.failures {
        let link = &spec.links[failure.link as usize];
        if link.cell.is_some() || spec.cells.iter().any(|cell| cell.channel == link.from) {
            let message = format!("{} is of a radio cell; expected links on wires", link.name);
            problems.push(Problem::new("failures", message));
            break;
        }
    }
    Errors::unless_none(problems, ())
}

/// Reports packets too large for a frame or for 6LoWPAN.
fn check_cells(network: &Network, transports: &[spec::TransportSpec], problems: &mut Vec<Problem>) {
    for (cell, t) in network.cells.iter().flat_map(|cell| transports.iter().map(move |t| (cell, t))) {
        let size = t.sizes.mss + t.sizes.header;
        let (most, what) = match &cell.framing.adaptation {
            Some(_) => (spec::MAX_DATAGRAM, "a packet on a link of 6LoWPAN has"),
            None => (cell.framing.payload, "without 6LoWPAN a packet is one frame, which carries"),
        };
        if size > most {
            let message = format!(
                "makes packets of {size} bytes with transport.header, {}; expected at most {}: {what} {most} at most",
                t.sizes.header,
                most.saturating_sub(t.sizes.header)
            );
            problems.push(Problem::with_value("transport.mss", t.sizes.mss, message));
        }
        if cell.framing.adaptation.is_some() && t.sizes.mtu > 0 && t.sizes.mtu < spec::MAX_DATAGRAM {
            let message = format!("expected 0 or at least {}: IPv6 asks for that of every link", spec::MAX_DATAGRAM);
            problems.push(Problem::with_value("transport.mtu", t.sizes.mtu, message));
        }
        if cell.framing.adaptation.is_some() && t.sizes.header < 48 {
            let message = "expected at least 48, IPv6 and UDP; transport.preset = \"ns3-ipv6\" has 72, IPv6 and TCP";
            problems.push(Problem::with_value("transport.header", t.sizes.header, message));
        }
    }
}

/// Reports a queue of some switches' ports that only hosts may have, or that routing cannot read.
fn check_at_switches(doc: &Document, own: &OwnQueue, at: &mut Report) {
    if let Queue::FairNic(_) = own.queue {
        at.text("kind", "fair-nic", "expected at hosts only; switches have no flows of their own");
    }
    if doc.routing.choice().reads_queues()
        && let Some(why) = own.queue.endless(&own.key)
    {
        let message = format!("expected a limit: routing compares ports by shares of it, and {why}");
        at.key("", message);
    }
}

/// Reports token buckets smaller than a full packet.
fn check_bursts(doc: &Document, network: &Network, packet: u64, problems: &mut Vec<Problem>) {
    let too_small = |l: &&LinkSpec| l.bucket > 0 && (l.bucket as u64) < packet + l.overhead as u64;
    let Some(l) = network.links.iter().find(too_small) else { return };
    let kinds = doc.topology.links().into_iter().map(|(key, link)| (format!("{key}.burst"), link.burst));
    let singles = doc.links.iter().enumerate().map(|(i, link)| (format!("links.{i}.burst"), link.burst()));
    let named = kinds.chain(singles).find(|(_, burst)| burst.is_some_and(|b| b.0.0 == l.bucket as u64));
    let key = named.map_or("topology, a link's burst".into(), |(key, _)| key);
    let packet = packet + l.overhead as u64;
    let message = format!("expected at least {packet}B, a full packet with its overhead: it would never leave");
    problems.push(Problem::quoted(key, format_args!("{}B", l.bucket), message));
}

/// Checks the lengths and instants of a run.
fn check_run(doc: &Document, at: &mut Report) {
    let run = &doc.run;
    let (_, end) = run.measured();
    if run.duration.0 == cc::Time::ZERO {
        at.text("duration", run.duration, "expected a time above 0");
    } else if run.warmup >= run.duration {
        at.text("warmup", run.warmup, format!("expected less than run.duration, {}", run.duration));
    } else if end > run.duration.0 || end <= run.warmup.0 {
        let message =
            format!("expected a time after run.warmup, {}, and at most run.duration, {}", run.warmup, run.duration);
        at.text("measure_until", end, message);
    }
}

/// Reports flows that can never open because they wait for each other.
pub(super) fn circles(doc: &Document, spec: &Spec, listed: &HashMap<u32, (Rc<str>, u64)>) -> Result<(), Errors> {
    let at_work = Triggers::new(spec).map_err(|e| Problem::new("traffic", e.to_string()))?;
    let never = triggers::never_open(spec, &at_work, |_| true);
    let Some(f) = triggers::circle(spec, &never) else { return Ok(()) };
    let key = match listed.get(&f) {
        Some((file, line)) => format!("{file}, line {line}"),
        None => format!("traffic.{}, flow {f}", doc.traffic[spec.flows[f as usize].group as usize].name()),
    };
    let message = "waits for itself through other flows; expected flows that wait only for earlier ones";
    Err(Problem::new(key, message).into())
}

/// Reports traffic classes without a queue at ports.
fn check_classes(doc: &Document, out: &mut Vec<Problem>) {
    let Some((key, least)) = doc.fewest_classes() else { return };
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
    let whole = t.sizes.mss as u64 + t.overhead() as u64;
    let segment = if t.sizes.mtu == 0 { whole } else { whole.min(t.sizes.mtu as u64) };
    segment
        .max((t.sizes.ack_size + 4 * t.loss.sack_block) as u64)
        .max(if t.connection.handshake || t.connection.lone_syn { t.sizes.syn_size as u64 } else { 0 })
}

/// Checks that every flow reaches its destination and back, and takes time on the way.
pub(super) fn paths(spec: &Spec) -> Result<(), Errors> {
    let tables = spec.routers.iter().any(|r| matches!(r, spec::Router::Table { .. }));
    // On a regular topology every host is reached, and a path takes time if no link is free.
    let free = |l: &LinkSpec| l.rate == cc::Rate::INFINITE && l.delay == cc::Time::ZERO;
    if !tables && !spec.links.iter().any(free) {
        return Ok(());
    }
    let fabric = Fabric::new(spec);
    let mut problems = Vec::new();
    for (i, f) in (0..).map(FlowId).zip(&spec.flows) {
        let name = |n: u32| &spec.node_names[n as usize];
        let key =
            format!("traffic.{}, flow {} ({} to {})", spec.groups[f.group as usize], i.0, name(f.src), name(f.dst));
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
    Errors::unless_none(problems, ())
}

/// Longest tick of transmission times: the resolution of ns-3's clock.
const LONGEST_TICK: cc::Time = cc::Time::ns(1);

/// Checks the tick of transmission times.
pub(super) fn tick(doc: &Document, network: &Network, problems: &mut Vec<Problem>) {
    let Some(tick) = doc.run.tick else { return };
    let at = &mut Report::new("run", problems);
    if tick.0 > LONGEST_TICK {
        at.text("tick", tick, format!("expected at most {LONGEST_TICK}, the resolution of ns-3's clock"));
    }
    if !network.cells.is_empty() {
        at.text("tick", tick, "expected none beside a radio cell, whose frames have times of their own");
    }
}
