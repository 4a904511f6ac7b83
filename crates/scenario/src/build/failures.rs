//! Failures in a network: the failing links, the routes around them, and pairs left without a path.

use super::state_limit::too_many_states;
use crate::document::failures::{LinkFailure, Links};
use crate::document::group::path_of;
use crate::text::problem::{Errors, Problem};
use crate::text::quantity::Rate;
use incast_cc::Time;
use incast_engine::hash::{bits, purpose};
use incast_engine::map::failover::{reroute, stranded};
use incast_engine::spec::{self, Effect, LinkSpec, Spec};
use std::collections::BTreeSet;

/// Largest memory for whole paths in all states of the network together, in bytes.
const MAX_STATES: u64 = 4_000_000_000;

/// Adds the failures of a document to the specification, and the routes around them; returns for each failure of
/// `spec` its entry of `failures`.
pub(crate) fn apply(failures: &[LinkFailure], spec: &mut Spec) -> Result<Vec<usize>, Errors> {
    if failures.is_empty() {
        return Ok(Vec::new());
    }
    let mut problems = Vec::new();
    let mut entry_of = Vec::new();
    for (entry, failure) in failures.iter().enumerate() {
        match failed(entry, failure, spec, |place| &failures[entry_of[place]]) {
            Ok(links) => {
                // the directions of a link are adjacent
                for link in links.into_iter().flat_map(|l| [l, l ^ 1]) {
                    let (from, until, effect) = (failure.at, failure.until, failure.effect.clone());
                    spec.failures.push(spec::Failure { link, from, until, effect });
                    entry_of.push(entry);
                }
            }
            Err(problem) => problems.push(problem),
        }
    }
    Errors::unless_none(problems, ())?;
    reroute(spec);
    if let Some(problem) = too_many_states(failures, spec, MAX_STATES) {
        return Err(problem.into());
    }
    if let Some(lost) = stranded(spec) {
        let flow = &spec.flows[lost.flow];
        let entry = entry_of[lost.failure];
        let name = |host: u32| &spec.node_names[host as usize];
        let message = format!(
            "leaves no path between {} and {} from {} on, where flow {} of {} may have traffic; expected a \
             path, or a flow that stops before or starts after",
            name(flow.src),
            name(flow.dst),
            lost.from,
            lost.flow.0,
            path_of(spec, flow.group),
        );
        return Err(failures[entry].wrong_links(entry, message).into());
    }
    Ok(entry_of)
}

/// A note on a failure, number `entry` of its scenario, that leaves all its links unchanged; `entry_of` has the entry
/// of each failure of `spec`.
pub(crate) fn changes_nothing(failure: &LinkFailure, entry: usize, spec: &Spec, entry_of: &[usize]) -> Option<String> {
    let Effect::Degraded { rate, delay, loss } = failure.effect else { return None };
    let own = spec.failures.iter().zip(entry_of).filter(|(_, of)| **of == entry);
    let links: Vec<&LinkSpec> = own.map(|(f, _)| &spec.links[f.link as usize]).collect();
    let same = |l: &LinkSpec| rate.is_none_or(|r| r == l.rate) && delay.is_none_or(|d| d == l.delay) && loss == 0.0;
    if !links.iter().all(|l| same(l)) {
        return None;
    }
    let changes: Vec<String> = failure.changes.iter().map(|(key, value)| format!("{key} = {value}")).collect();
    let forward = &*links.first()?.name;
    let first = if let Links::One(link) = &failure.links { link } else { forward };
    // a link has two directions
    let which = match links.len() / 2 {
        1 => format!("{first} is"),
        2 => format!("{first} and the other one are"),
        n => format!("{first} and the {} others are", n - 1),
    };
    Some(format!("failures.{entry} ({}) changes nothing: {which} the same without it", changes.join(", ")))
}

/// Notes on links that go down during the run: switches that reroute at once, and timers that outlast the run.
pub(crate) fn notes(failures: &[LinkFailure], spec: &Spec) -> Vec<String> {
    let down = |f: &&LinkFailure| matches!(f.effect, Effect::Down { .. }) && f.at > Time::ZERO;
    let mut found = Vec::new();
    if let Some(first) = failures.iter().filter(down).map(|f| f.at).min() {
        found.extend(outlasting(spec, first));
    }
    for (entry, failure) in failures.iter().enumerate().filter(|(_, f)| down(f)) {
        if failure.effect == (Effect::Down { detection: Time::ZERO }) {
            found.push(format!(
                "failures.{entry}: switches reroute at the instant of the failure (detection = 0s), which no network \
                 does; the figures are an upper bound"
            ));
        }
    }
    found
}

/// Warning if finite flows cannot repair a loss to a failure at `at` before the run ends.
fn outlasting(spec: &Spec, at: Time) -> Option<String> {
    let left = spec.duration.saturating_sub(at);
    let flows = spec.flows.iter().filter(|f| f.app.size().is_some() && f.app.datagram_gap().is_none());
    let waits = |transport: u32| {
        let t = &spec.transports[transport as usize];
        let (key, timeout) = t.timeout();
        let last = (timeout >= left && !t.loss.tail_loss_probe)
            .then(|| format!("its last packets waits for transport.{key} = {timeout}"));
        let syn = (t.connection.handshake && t.connection.syn_timeout >= left)
            .then(|| format!("its SYN waits for transport.syn_timeout = {}", t.connection.syn_timeout));
        [last, syn].into_iter().flatten().collect::<Vec<_>>()
    };
    let transports: BTreeSet<u32> = flows.map(|f| f.transport).collect();
    let never = |t: &&u32| spec.transports[**t as usize].timeout().1 == Time::ZERO;
    if let Some(t) = transports.iter().find(never) {
        let key = spec.transports[*t as usize].timeout().0;
        return Some(format!(
            "warning: a flow that loses its last packets to a failure never ends: transport.{key} = 0s, and nothing \
             else repeats them"
        ));
    }
    let waits = transports.into_iter().map(waits).find(|waits| !waits.is_empty())?;
    Some(format!(
        "warning: the run ends {left} after the first failure: a flow that loses {}, and cannot finish; expected a \
         longer run.duration or shorter timers",
        waits.join(", one that loses ")
    ))
}

/// Kind of a node: its name without the number.
fn kind(spec: &Spec, node: u32) -> &str {
    spec.node_names[node as usize].trim_end_matches(|c: char| c.is_ascii_digit())
}

/// True if a link joins nodes of these kinds, in either order.
fn joins(spec: &Spec, link: u32, [a, b]: &[String; 2]) -> bool {
    let link = &spec.links[link as usize];
    let ends = [kind(spec, link.from), kind(spec, link.to)];
    ends == [a.as_str(), b.as_str()] || ends == [b.as_str(), a.as_str()]
}

/// Nodes of this name: a node, the hosts of a server, or those of a GPU in all planes (`p0`, `p1` ...).
fn nodes(spec: &Spec, name: &str, nic: bool) -> Vec<u32> {
    let is = |node: &&str| {
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let plane = |own: &str| own.strip_suffix(name).and_then(|p| p.strip_prefix('p')).is_some_and(digits);
        let gpu = |own: &str| match own.rsplit_once("gpu") {
            Some((server, gpu)) => digits(gpu) && (server == name || plane(server)),
            None => false,
        };
        *node == name || plane(node) || !nic && gpu(node)
    };
    let all = if nic { spec.hosts as usize } else { spec.node_names.len() };
    let named = (0u32..).zip(spec.node_names[..all].iter().map(String::as_str));
    named.filter(|(_, node)| is(node)).map(|(node, _)| node).collect()
}

/// Forward directions of the links of nodes.
fn links_of(spec: &Spec, nodes: &[u32]) -> Vec<u32> {
    let own = |l: &u32| {
        let link = &spec.links[*l as usize];
        nodes.contains(&link.from) || nodes.contains(&link.to)
    };
    (0..spec.links.len() as u32).step_by(2).filter(own).collect()
}

/// Forward directions of the failing links; `of` has the failure of each failure of `spec`.
fn failed<'f>(
    entry: usize,
    failure: &LinkFailure,
    spec: &Spec,
    of: impl Fn(usize) -> &'f LinkFailure,
) -> Result<Vec<u32>, Problem> {
    let at_that_time = |link: u32| {
        let meets = |f: &spec::Failure| f.link | 1 == link | 1 && f.from < failure.until && failure.at < f.until;
        spec.failures.iter().position(meets)
    };
    let wrong = |link: u32| {
        let Effect::Degraded { rate: Some(rate), .. } = failure.effect else { return None };
        let link = &spec.links[link as usize];
        let message = format!("expected none for {}, whose token bucket fills at its own rate", link.name);
        (link.bucket > 0).then(|| Problem::quoted(format!("failures.{entry}.rate"), Rate(rate), message))
    };
    let named = |message: String| failure.wrong_links(entry, message);
    let names = || spec.links.iter().map(|l| &*l.name);
    let links = match &failure.links {
        Links::One(link) | Links::Listed(link, _) => {
            let number = names().zip(0u32..).find(|(name, _)| name == link);
            let Some((_, number)) = number else {
                let problem = named(format!("no such link; expected a name such as \"{}\"", spec.links[0].name));
                return Err(problem.suggest(link, names().take(10_000)));
            };
            if let Some(other) = at_that_time(number) {
                return Err(named(failure.meets(of(other))));
            }
            vec![number & !1]
        }
        Links::Node(name) | Links::Nic(name) => {
            let nic = matches!(failure.links, Links::Nic(_));
            let links = links_of(spec, &nodes(spec, name, nic));
            if links.is_empty() {
                let message = match nic {
                    true => format!("no such host; expected a name such as \"{}\"", spec.node_names[0]),
                    false => "no such node with links; expected the name of a switch, a host or a server".to_owned(),
                };
                let known = spec.node_names.iter().take(if nic { spec.hosts as usize } else { 10_000 });
                return Err(named(message).suggest(name, known.take(10_000).map(String::as_str)));
            }
            if let Some((link, other)) = links.iter().find_map(|l| Some((l, at_that_time(*l)?))) {
                let message = format!("{}: {}", spec.links[*link as usize].name, failure.meets(of(other)));
                return Err(named(message));
            }
            links
        }
        Links::Between(kinds, share) => {
            let forward = || (0..spec.links.len() as u32).step_by(2);
            let all: Vec<u32> = forward().filter(|l| joins(spec, *l, kinds)).collect();
            if all.is_empty() {
                let ends = |l: u32| [kind(spec, spec.links[l as usize].from), kind(spec, spec.links[l as usize].to)];
                let kinds: BTreeSet<[&str; 2]> = forward().map(ends).collect();
                let kinds = kinds.into_iter().take(20).map(|[a, b]| format!("[\"{a}\", \"{b}\"]"));
                let kinds = kinds.collect::<Vec<_>>().join(", ");
                return Err(named(format!("no link joins such nodes; expected one of {kinds}")));
            }
            let count = (share * all.len() as f64).round() as usize;
            let mut free: Vec<u32> = all.iter().copied().filter(|l| at_that_time(*l).is_none()).collect();
            if count == 0 || count > free.len() {
                let message = format!(
                    "makes {count} of {} links, of which {} do not fail at that time already; expected at least one, \
                     and no more than these",
                    all.len(),
                    free.len()
                );
                return Err(Problem::with_value(format!("failures.{entry}.share"), share, message));
            }
            free.sort_by_key(|l| bits(spec.seed, purpose::FAILURE, (entry as u64) << 32 | *l as u64, u64::MAX));
            free.truncate(count);
            free.sort_unstable();
            free
        }
    };
    match links.iter().flat_map(|l| [*l, *l ^ 1]).find_map(wrong) {
        Some(problem) => Err(problem),
        None => Ok(links),
    }
}
