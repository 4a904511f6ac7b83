//! htsim's connection matrices (`.cm`): a count of nodes, a count of connections, and a line a connection.
//!
//! The numbers behind `start` have no unit, and htsim's programs read them differently (`main_swift` in microseconds,
//! `main_eqds` in picoseconds), so whoever uses a file says which it is.
//!
//! Triggers are htsim's (`trigger.cpp`): a connection activates one when it is done at its sender or at its receiver, and
//! starts with one in place of a start. A oneshot starts its connections at the first activation, a multishot one of
//! them an activation, in the order of the file, a barrier all of them at the activation of a number.

use crate::build::Flows;
use crate::problem::Problem;
use crate::traffic::{App, Bulk, Traffic, check_two_hosts};
use incast_cc as cc;
use incast_engine::spec::{self, Done};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Unit of the starts in a connection matrix.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StartUnit {
    /// Picoseconds.
    Ps,
    /// Nanoseconds.
    Ns,
    /// Microseconds.
    Us,
}

impl StartUnit {
    const fn picoseconds(self) -> f64 {
        match self {
            StartUnit::Ps => 1.0,
            StartUnit::Ns => 1e3,
            StartUnit::Us => 1e6,
        }
    }
}

/// A connection of a matrix.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Connection {
    pub(crate) src: u32,
    pub(crate) dst: u32,
    pub(crate) start: cc::Time,
    /// Bytes; `None` (0 in the file) is without end.
    pub(crate) size: Option<u64>,
    /// Line of the file.
    pub(crate) line: usize,
    /// So many of these ends of connections, by their order in the file, start it.
    pub(crate) after: Option<(u32, Vec<(u32, Done)>)>,
    /// The trigger that starts it, and those that it activates.
    trigger: Option<u64>,
    activates: [Option<u64>; 2],
}

/// How a trigger starts connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Oneshot,
    Multishot,
    Barrier,
}

/// A trigger of a matrix.
#[derive(Clone, Copy, Debug)]
struct Trigger {
    kind: Kind,
    count: Option<u32>,
    line: usize,
}

/// A problem with a word of a line.
fn wrong(name: &str, line: usize, word: &str, message: impl Into<String>) -> Problem {
    Problem::with_value(format!("{name}, line {line}"), word, message)
}

/// Reads a matrix for a network of `hosts` hosts.
pub(crate) fn read(name: &str, text: &str, unit: StartUnit, hosts: u32) -> Result<Vec<Connection>, Vec<Problem>> {
    let mut counts: [Option<(usize, u64)>; 3] = [None; 3];
    let mut found = Vec::new();
    let mut triggers: BTreeMap<u64, Trigger> = BTreeMap::new();
    let mut problems = Vec::new();
    for (line, content) in (1..).zip(text.lines()) {
        let words: Vec<&str> = content.split_whitespace().collect();
        let Some(first) = words.first().filter(|w| !w.starts_with('#')) else { continue };
        let header = HEADERS.iter().position(|k| k == first);
        if header.is_some() || *first == "Failures" {
            let count = words.get(1).and_then(|w| w.parse::<u64>().ok());
            match (count, header) {
                (None, _) => {
                    problems.push(wrong(name, line, content.trim(), format!("expected a whole number after {first}")));
                }
                (Some(0), None) => {}
                (Some(_), None) => problems.push(wrong(name, line, content.trim(), FAILURES)),
                (Some(n), Some(which)) => counts[which] = Some((line, n)),
            }
        } else if first.contains("->") {
            match connection(&words, line, unit, hosts) {
                Ok(c) => found.push(c),
                Err((word, message)) => problems.push(wrong(name, line, &word, message)),
            }
        } else if *first == "trigger" {
            match trigger(&words, line) {
                Ok((id, trigger)) => match triggers.insert(id, trigger) {
                    None => {}
                    Some(other) => {
                        let message = format!("line {} has this trigger; expected an id of its own", other.line);
                        problems.push(wrong(name, line, &format!("id {id}"), message));
                    }
                },
                Err((word, message)) => problems.push(wrong(name, line, &word, message)),
            }
        } else if *first == "failure" {
            problems.push(wrong(name, line, content.trim(), FAILURES));
        } else {
            let message =
                "expected Nodes, Connections, Triggers, a trigger, or a connection such as 0->15 start 0 size 2000000";
            problems.push(wrong(name, line, first, message));
        }
    }
    // a line that could not be read may be the one that is not there
    let whole = problems.is_empty();
    for (which, count) in HEADERS[..2].iter().zip(&counts) {
        if whole && count.is_none() {
            problems.push(Problem::new(name, format!("no line {which}; expected {which} and a whole number")));
        }
    }
    if let [Some((line, nodes)), ..] = counts
        && nodes > u64::from(hosts)
    {
        let message = format!("expected at most {hosts}, the hosts of the topology");
        problems.push(wrong(name, line, &format!("Nodes {nodes}"), message));
    }
    for (at, has) in [(1, found.len()), (2, triggers.len())] {
        let (line, n) = counts[at].unwrap_or((1, if at == 2 { 0 } else { has as u64 }));
        if whole && n != has as u64 {
            let header = HEADERS[at];
            let message = format!("expected {header} {has}, as many as the file has");
            problems.push(match counts[at] {
                Some(_) => wrong(name, line, &format!("{header} {n}"), message),
                None => Problem::new(name, format!("no line {header}; {message}")),
            });
        }
    }
    if problems.is_empty() {
        resolve(name, &mut found, &triggers, &mut problems);
    }
    if problems.is_empty() && found.is_empty() {
        problems.push(Problem::new(name, "the file has no connections; expected at least one"));
    }
    if problems.is_empty() { Ok(found) } else { Err(problems) }
}

/// Lines that say how many of a kind there are.
const HEADERS: [&str; 3] = ["Nodes", "Connections", "Triggers"];

const FAILURES: &str = "failures are not read from a connection matrix";

/// A line such as `trigger id 1 barrier count 4`; the word that is wrong, and why.
fn trigger(words: &[&str], line: usize) -> Result<(u64, Trigger), (String, String)> {
    let fail = |word: &str, message: &str| Err((word.to_owned(), message.to_owned()));
    let (mut id, mut kind, mut count) = (None, None, None);
    let mut rest = words[1..].iter();
    while let Some(word) = rest.next() {
        let named = match *word {
            "oneshot" => Some(Kind::Oneshot),
            "multishot" => Some(Kind::Multishot),
            "barrier" => Some(Kind::Barrier),
            _ => None,
        };
        match *word {
            _ if named.is_some() && kind.is_some() => return fail(word, "expected one kind of a trigger"),
            _ if named.is_some() => kind = named,
            "id" | "count" => {
                let value = rest.next().unwrap_or(&"");
                let number = value.parse::<u32>().ok().filter(|n| *n > 0);
                let Some(number) = number else {
                    return fail(&format!("{word} {value}"), "expected a whole number from 1");
                };
                if *word == "id" {
                    id = Some(u64::from(number));
                } else {
                    count = Some(number);
                }
            }
            _ => return fail(word, "expected one of id, count, oneshot, multishot, barrier"),
        }
    }
    match (id, kind, count) {
        (None, ..) => fail("trigger", "no id; expected id and a whole number from 1"),
        (_, None, _) => fail("trigger", "no kind; expected oneshot, multishot or barrier"),
        (_, Some(Kind::Barrier), None) => fail("barrier", "no count; expected count and a whole number from 1"),
        (Some(id), Some(kind), count) => Ok((id, Trigger { kind, count, line })),
    }
}

/// Gives every connection that a trigger starts what it waits for.
fn resolve(name: &str, found: &mut [Connection], triggers: &BTreeMap<u64, Trigger>, problems: &mut Vec<Problem>) {
    const KEYS: [&str; 2] = ["send_done_trigger", "recv_done_trigger"];
    let mut activations: BTreeMap<u64, Vec<(u32, Done)>> = BTreeMap::new();
    for (i, c) in (0u32..).zip(found.iter()) {
        let referred = [("trigger", c.trigger), (KEYS[0], c.activates[0]), (KEYS[1], c.activates[1])];
        for (key, id) in referred.into_iter().filter_map(|(key, id)| Some((key, id?))) {
            if !triggers.contains_key(&id) {
                let message = "no line of the file has this trigger; expected one, such as trigger id 1 oneshot";
                problems.push(wrong(name, c.line, &format!("{key} {id}"), message));
            }
        }
        for (id, done) in c.activates.into_iter().zip([Done::Sent, Done::Received]) {
            if let Some(id) = id {
                activations.entry(id).or_default().push((i, done));
            }
        }
    }
    let mut started: BTreeMap<u64, u32> = BTreeMap::new();
    for c in found.iter_mut() {
        let Some((id, trigger)) = c.trigger.and_then(|id| Some((id, triggers.get(&id)?))) else { continue };
        let of = activations.get(&id).cloned().unwrap_or_default();
        let turn = started.entry(id).or_insert(0);
        *turn += 1;
        let count = match trigger.kind {
            Kind::Oneshot => 1,
            Kind::Multishot => *turn,
            Kind::Barrier => trigger.count.unwrap_or(1),
        };
        if count as usize > of.len() {
            let message = format!(
                "never starts: it takes activation {count} of its trigger, on line {}, and connections make {}",
                trigger.line,
                of.len()
            );
            problems.push(wrong(name, c.line, &format!("trigger {id}"), message));
        }
        c.after = Some((count, of));
    }
}

/// A line such as `7->5 id 1 start 0 size 2000000`; the word that is wrong, and why.
fn connection(words: &[&str], line: usize, unit: StartUnit, hosts: u32) -> Result<Connection, (String, String)> {
    let fail = |word: &str, message: String| Err((word.to_owned(), message));
    let (from, to) = words[0].split_once("->").unwrap_or_default();
    let host = |text: &str| text.parse::<u32>().ok().filter(|h| *h < hosts);
    let (Some(src), Some(dst)) = (host(from), host(to)) else {
        return fail(words[0], format!("expected numbers of hosts from 0 to {}, such as 0->1", hosts - 1));
    };
    if src == dst {
        return fail(words[0], "expected another host than the source".to_owned());
    }
    let (mut start, mut size, mut trigger, mut activates) = (None, None, None, [None; 2]);
    let mut rest = words[1..].iter();
    while let Some(key) = rest.next() {
        let Some(value) = rest.next() else {
            return fail(key, format!("expected a number after {key}"));
        };
        let pair = format!("{key} {value}");
        match *key {
            "start" => {
                let number =
                    value.parse::<f64>().ok().filter(|n| *n >= 0.0 && n * unit.picoseconds() < i64::MAX as f64);
                let Some(number) = number else { return fail(&pair, "expected a number from 0".to_owned()) };
                start = Some(cc::Time((number * unit.picoseconds()).round() as u64));
            }
            "size" => match value.parse::<u64>().ok().filter(|n| *n <= i64::MAX as u64) {
                Some(n) => size = Some(n),
                None => return fail(&pair, "expected whole bytes; 0 is without end".to_owned()),
            },
            // names of flows serve triggers alone
            "id" => match value.parse::<u64>() {
                Ok(1..) => {}
                _ => return fail(&pair, "expected a whole number from 1".to_owned()),
            },
            "trigger" | "send_done_trigger" | "recv_done_trigger" => {
                let Some(id) = value.parse::<u64>().ok().filter(|id| *id > 0) else {
                    return fail(&pair, "expected the id of a trigger, a whole number from 1".to_owned());
                };
                match *key {
                    "trigger" => trigger = Some(id),
                    "send_done_trigger" => activates[0] = Some(id),
                    _ => activates[1] = Some(id),
                }
            }
            "prio" => return fail(&pair, "priorities are not simulated; expected none".to_owned()),
            _ => {
                return fail(
                    key,
                    "expected one of id, start, size, trigger, send_done_trigger, recv_done_trigger".to_owned(),
                );
            }
        }
    }
    match (start, trigger, size) {
        (None, None, _) => fail(words[0], "no start; expected start and a number, or trigger and an id".to_owned()),
        (Some(_), Some(_), _) => fail(words[0], "start and trigger; expected one of the two".to_owned()),
        (.., None) => fail(words[0], "no size; expected size and whole bytes".to_owned()),
        (start, _, Some(n)) => {
            let (start, size) = (start.unwrap_or(cc::Time::ZERO), (n > 0).then_some(n));
            Ok(Connection { src, dst, start, size, line, after: None, trigger, activates })
        }
    }
}

impl Traffic {
    /// Flows of a connection matrix; the entry's start, stagger and jitter are added to their own.
    pub(crate) fn add_matrix(&self, unit: StartUnit, entry: u32, flows: &mut Flows) -> Result<(), Vec<Problem>> {
        check_two_hosts(flows).map_err(|p| vec![p])?;
        let name = self.file.clone().unwrap_or_default();
        let text = crate::read_named(&format!("{}.file", flows.path), flows.dir, &name).map_err(|p| vec![p])?;
        let mut found = read(&name, &text, unit, flows.network.hosts)?;
        let has = found.len() as u64;
        if let Some(n) = self.flows.filter(|n| *n > has) {
            let message = format!("the file has {has} connections; expected at most as many");
            return Err(vec![Problem::with_value(format!("{}.flows", flows.path), n, message)]);
        }
        if let Some(n) = self.flows.filter(|n| *n < has && found.iter().any(|c| c.after.is_some())) {
            let message = format!("connections wait for each other; expected all {has} of them");
            return Err(vec![Problem::with_value(format!("{}.flows", flows.path), n, message)]);
        }
        found.truncate(self.flows.map_or(usize::MAX, |n| n as usize));
        let first = flows.len();
        flows.reserve(found.len() as u64).map_err(|p| vec![p])?;
        let controller = flows.controller(self.controller.as_ref()).map_err(|p| vec![p])?;
        let transport = flows.transport(self.transport.as_ref(), controller);
        let App::Bulk(Bulk { write, .. }) = &self.app else { return Ok(()) };
        for (i, c) in (0u64..).zip(&found) {
            let start = c.start.saturating_add(self.opening(entry, i, flows.seed));
            if let Some(stop) = self.stop.filter(|s| s.0 <= start) {
                let message =
                    format!("the connection on line {} of {name} opens at {start}; expected a later stop", c.line);
                return Err(vec![Problem::with_value(format!("{}.stop", flows.path), format!("\"{stop}\""), message)]);
            }
            let app = spec::App::Bulk { size: c.size, write: write.0.0 };
            let after = c.after.as_ref().map(|(count, of)| {
                let of = of.iter().map(|(flow, done)| (first + flow, *done)).collect();
                Box::new(spec::After { count: *count, of })
            });
            let flow = spec::FlowSpec { app, after, ..self.flow(c.src, c.dst, start, transport, controller, entry) };
            self.check_write(&flow, flows).map_err(|p| vec![p])?;
            flows.push(flow);
        }
        Ok(())
    }
}
