//! Checks across a document: what its keys, its network and its flows say of each other.

use super::triggers;
use crate::document::Document;
use crate::text::problem::{Errors, Problem};
use crate::topology::network::{DirectedLink, Network};
use incast_cc as cc;
use incast_engine::map::ideal::Fabric;
use incast_engine::map::triggers::Triggers;
use incast_engine::spec::{self, LinkSpec, Spec};
use std::collections::HashMap;
use std::rc::Rc;

/// Contradictions between keys, found before there is a network.
pub(super) fn keys(doc: &Document, problems: &mut Vec<Problem>) {
    check_run(doc, problems);
    doc.queue.check("queue", false, problems);
    check_ties(doc, problems);
    doc.routing.check(&doc.queue, problems);
    doc.transport.check("transport", problems);
    for (entry, failure) in doc.failures.iter().enumerate() {
        failure.check(entry, doc.run.duration.0, problems);
    }
    doc.topology.links().iter().for_each(|(key, link)| link.check(key, problems));
    for (i, t) in doc.traffic.iter().enumerate() {
        let name = t.name();
        t.check(&format!("traffic.{name}"), doc.run.duration.0, problems);
        if doc.traffic[..i].iter().any(|other| other.name() == name) {
            let message = "another traffic entry has this name; expected a name of its own, as name = \"...\"";
            problems.push(Problem::with_value(format!("traffic.{name}.name"), format!("\"{name}\""), message));
        }
    }
    if doc.traffic.is_empty() {
        problems.push(Problem::new("traffic", "empty; expected at least one [[traffic]] entry"));
    }
}

/// Queues and buffers that do not fit the network, or the transports of its flows.
pub(super) fn ports(
    doc: &Document,
    network: &Network,
    transports: &[spec::TransportSpec],
    problems: &mut Vec<Problem>,
) {
    check_classes(doc, problems);
    doc.queue.check_transports("queue", transports, problems);
    if let Some(packet) = transports.iter().map(full_packet).max() {
        doc.queue.check_packet("queue", packet, problems);
    }
    let packet = transports.iter().map(full_packet).max().unwrap_or(0);
    check_bursts(doc, network, packet, problems);
    let buckets = |at_host: bool| network.links.iter().any(|l| l.bucket > 0 && (l.from < network.hosts) == at_host);
    doc.queue.check_buckets("queue", buckets(false), buckets(true), problems);
    if let Some(buffer) = &doc.buffer {
        buffer.check(&doc.queue, network, packet, problems);
    }
}

/// Token buckets that hold less than a full packet.
fn check_bursts(doc: &Document, network: &Network, packet: u64, problems: &mut Vec<Problem>) {
    let too_small = |l: &&DirectedLink| l.bucket > 0 && (l.bucket as u64) < packet + l.overhead as u64;
    let Some(l) = network.links.iter().find(too_small) else { return };
    let kinds = doc.topology.links().into_iter().map(|(key, link)| (format!("{key}.burst"), link.burst));
    let singles = doc.links.iter().enumerate().map(|(i, link)| (format!("links.{i}.burst"), link.burst()));
    let named = kinds.chain(singles).find(|(_, burst)| burst.is_some_and(|b| b.0.0 == l.bucket as u64));
    let key = named.map_or("topology, a link's burst".into(), |(key, _)| key);
    let packet = packet + l.overhead as u64;
    let message = format!("expected at least {packet}B, a full packet with its overhead: it would never leave");
    problems.push(Problem::with_value(key, format!("\"{}B\"", l.bucket), message));
}

/// The lengths and instants of a run.
fn check_run(doc: &Document, problems: &mut Vec<Problem>) {
    let run = &doc.run;
    let quoted = |t: cc::Time| format!("\"{t}\"");
    let (_, end) = run.measured();
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
}

/// An order of ties that asks of packets what they do not carry.
fn check_ties(doc: &Document, problems: &mut Vec<Problem>) {
    if doc.run.ties.0 == spec::Ties::Scheduled && matches!(doc.routing.choice(), spec::PathChoice::Entropy(_)) {
        let message = "packets carry what scheduled ties ask in place of their entropies; expected \"hash\" or \
                           \"link\" with this routing";
        problems.push(Problem::with_value("run.ties", "\"scheduled\"", message));
    }
}

/// Flows that can never open, as what they wait for waits for them in turn.
pub(super) fn circles(doc: &Document, spec: &Spec, listed: &HashMap<u32, (Rc<str>, u64)>) -> Result<(), Errors> {
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

/// Traffic classes that ports have no queue for.
fn check_classes(doc: &Document, out: &mut Vec<Problem>) {
    let Some((key, least)) = doc.queue.fewest_classes() else { return };
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

/// Every flow reaches its destination and back, and takes time on the way.
pub(super) fn paths(spec: &Spec) -> Result<(), Errors> {
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
