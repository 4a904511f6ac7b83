//! htsim's connection matrices (`.cm`): a count of nodes, a count of connections, and one line per connection.
//!
//! The numbers after `start` have no unit, and htsim's programs read them differently (`main_swift` in microseconds,
//! `main_eqds` in picoseconds), so the user of a file gives the unit.
//!
//! Triggers are htsim's (`trigger.cpp`): a connection activates one when it is done at its sender or at its receiver,
//! and may have one instead of a start. A oneshot starts its connections at the first activation, a multishot one of
//! them per activation, in the order of the file, a barrier all of them at the activation of a given number.
//!
//! A failure removes a link from an aggregation switch to a core switch for the whole run
//! (`FatTreeTopology::add_failed_link`). Priorities (`prio`, the lower the better) are traffic classes here; in htsim
//! only receivers of NDP have any.

use crate::text::problem::{Errors, Problem};
use crate::text::words::word_of;
use incast_cc as cc;
use incast_engine::spec::{Done, Triggered};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// Most bytes of one flow: the counters need space for a send buffer beyond.
pub(crate) const MAX_BYTES: u64 = u64::MAX / 2;

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
    /// Bytes; `None` (0 in the file) means endless.
    pub(crate) size: Option<u64>,
    /// Traffic class, if given.
    pub(crate) class: Option<u8>,
    /// Line of the file.
    pub(crate) line: usize,
    pub(crate) id: Option<u64>,
    /// Trigger that starts it, by its order in the matrix, and the activation.
    pub(crate) started_by: Option<Triggered>,
    /// Trigger that starts it, and those that it activates, by their ids.
    pub(crate) trigger: Option<u64>,
    pub(crate) activates: [Option<u64>; 2],
}

/// Rule by which a trigger starts connections.
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

/// A failing link, by the number of its aggregation switch and the number of the link there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Failed {
    pub(crate) switch: u32,
    pub(crate) link: u32,
    pub(crate) line: usize,
}

/// Content of a file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Matrix {
    pub(crate) connections: Vec<Connection>,
    /// For each trigger that starts connections, the flows whose ends activate it, by their order in the file.
    pub(crate) triggers: Vec<Vec<(u32, Done)>>,
    pub(crate) failures: Vec<Failed>,
}

/// Problem with a word of a line.
pub(crate) fn wrong(name: &str, line: usize, word: &str, message: impl Into<String>) -> Problem {
    Problem::with_value(format!("{name}, line {line}"), word, message)
}

/// Reads a matrix for a network of `hosts` hosts.
pub(crate) fn read(name: &str, text: &str, unit: StartUnit, hosts: u32) -> Result<Matrix, Errors> {
    let mut counts: Counts = [None; 4];
    let mut matrix = Matrix::default();
    let mut ids: HashMap<u64, usize> = HashMap::new();
    let mut triggers: BTreeMap<u64, Trigger> = BTreeMap::new();
    let mut problems = Vec::new();
    for (line, content) in (1..).zip(text.lines()) {
        let words: Vec<&str> = content.split_whitespace().collect();
        let Some(first) = words.first().filter(|w| !w.starts_with('#')) else { continue };
        let read = if let Some(which) = HEADERS.iter().position(|k| k == first) {
            let number = if let [_, n] = words[..] { n.parse::<u64>().ok() } else { None };
            match (number, counts[which]) {
                (None, _) => Err((content.trim().to_owned(), format!("expected {first} and a whole number"))),
                (_, Some((other, _))) => {
                    Err((content.trim().to_owned(), format!("line {other} has {first}; expected one such line")))
                }
                (Some(n), None) => {
                    counts[which] = Some((line, n));
                    Ok(())
                }
            }
        } else if first.contains("->") {
            connection(&words, line, unit, hosts).and_then(|c| {
                let id = c.id;
                matrix.connections.push(c);
                match id.and_then(|id| ids.insert(id, line)) {
                    Some(other) => fail(
                        &format!("id {}", id.unwrap_or(0)),
                        format!("the connection on line {other} has this id; expected a unique one"),
                    ),
                    None => Ok(()),
                }
            })
        } else if *first == "trigger" {
            trigger(&words, line).and_then(|(id, trigger)| match triggers.insert(id, trigger) {
                Some(other) => {
                    fail(&format!("id {id}"), format!("line {} has this trigger; expected a unique id", other.line))
                }
                None => Ok(()),
            })
        } else if *first == "failure" {
            failure(&words, line).map(|f| matrix.failures.push(f))
        } else {
            let message = "expected Nodes, Connections, Triggers, Failures, a trigger, a failure, or a connection such \
                           as 0->15 start 0 size 2000000";
            fail(first, message)
        };
        if let Err((word, message)) = read {
            problems.push(wrong(name, line, &word, message));
        }
    }
    check_counts(name, hosts, &counts, (&matrix, triggers.len()), &mut problems);
    if problems.is_empty() {
        resolve(name, &mut matrix, &triggers, &mut problems);
    }
    if problems.is_empty() && matrix.connections.is_empty() {
        problems.push(Problem::new(name, "the file has no connections; expected at least one"));
    }
    Errors::unless_none(problems, matrix)
}

/// Lines and numbers of the counts, by [`HEADERS`].
type Counts = [Option<(usize, u64)>; 4];

/// Reports counts that are missing, or differ from what the file has.
fn check_counts(
    name: &str,
    hosts: u32,
    counts: &Counts,
    (matrix, triggers): (&Matrix, usize),
    problems: &mut Vec<Problem>,
) {
    // an unreadable line may be the missing one
    let whole = problems.is_empty();
    for (which, count) in HEADERS[..2].iter().zip(counts) {
        if whole && count.is_none() {
            problems.push(Problem::new(name, format!("no line {which}; expected {which} and a whole number")));
        }
    }
    if let [Some((line, nodes)), ..] = *counts {
        if nodes > u64::from(hosts) {
            let message = format!("expected at most {hosts}, the hosts of the topology");
            problems.push(wrong(name, line, &format!("Nodes {nodes}"), message));
        }
        for c in matrix.connections.iter().filter(|c| u64::from(c.src.max(c.dst)) >= nodes) {
            let message = match nodes.checked_sub(1) {
                Some(last) => format!("expected numbers of hosts from 0 to {last}, by Nodes {nodes} on line {line}"),
                None => format!("expected no connection, by Nodes 0 on line {line}"),
            };
            problems.push(wrong(name, c.line, &format!("{}->{}", c.src, c.dst), message));
        }
    }
    for (at, has) in [(1, matrix.connections.len()), (2, triggers), (3, matrix.failures.len())] {
        let (line, n) = counts[at].unwrap_or((1, if at > 1 { 0 } else { has as u64 }));
        if whole && n != has as u64 {
            let header = HEADERS[at];
            let message = format!("expected {header} {has}, as many as the file has");
            problems.push(match counts[at] {
                Some(_) => wrong(name, line, &format!("{header} {n}"), message),
                None => Problem::new(name, format!("no line {header}; {message}")),
            });
        }
    }
}

/// Words before counts.
const HEADERS: [&str; 4] = ["Nodes", "Connections", "Triggers", "Failures"];

/// The wrong word, and the reason.
type Wrong = (String, String);

fn fail<T>(word: &str, message: impl Into<String>) -> Result<T, Wrong> {
    Err((word.to_owned(), message.into()))
}

/// Stores a value of a line, unless the line had one already.
fn once<T>(place: &mut Option<T>, word: &str, value: T) -> Result<(), Wrong> {
    match place.replace(value) {
        Some(_) => fail(word, format!("expected one {} on a line", word.split(' ').next().unwrap_or(word))),
        None => Ok(()),
    }
}

/// Reads the whole number in `word`, which is a key and a value.
fn whole(word: &str, value: &str, least: u64, most: u64, what: &str) -> Result<u64, Wrong> {
    match value.parse::<u64>().ok().filter(|n| (least..=most).contains(n)) {
        Some(n) => Ok(n),
        None => fail(word, format!("expected {what}, a whole number from {least} to {most}")),
    }
}

/// A line such as `failure switch_type AGG switch_id 0 link_id 1`.
fn failure(words: &[&str], line: usize) -> Result<Failed, Wrong> {
    let (mut kind, mut switch, mut link) = (None, None, None);
    for pair in words[1..].chunks(2) {
        let &[key, value] = pair else { return fail(pair[0], format!("expected a value after {}", pair[0])) };
        let word = format!("{key} {value}");
        let number = |what| whole(&word, value, 0, u64::from(u32::MAX), what).map(|n| n as u32);
        match (key, value) {
            ("switch_type", "AGG") => once(&mut kind, &word, ())?,
            ("switch_type", _) => {
                return fail(&word, "expected AGG: in htsim links between AGG and CORE switches fail");
            }
            ("switch_id", _) => once(&mut switch, &word, number("an aggregation switch")?)?,
            ("link_id", _) => once(&mut link, &word, number("one of the switch's links to core switches")?)?,
            _ => return fail(key, "expected one of switch_type, switch_id, link_id"),
        }
    }
    match (kind, switch, link) {
        (Some(()), Some(switch), Some(link)) => Ok(Failed { switch, link, line }),
        (None, ..) => fail("failure", "no switch_type; expected switch_type AGG"),
        (_, None, _) => fail("failure", "no switch_id; expected switch_id and a whole number from 0"),
        _ => fail("failure", "no link_id; expected link_id and a whole number from 0"),
    }
}

/// A line such as `trigger id 1 barrier count 4`.
fn trigger(words: &[&str], line: usize) -> Result<(u64, Trigger), Wrong> {
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
                let pair = format!("{word} {value}");
                let what = if *word == "id" { "the id of the trigger" } else { "activations" };
                let number = whole(&pair, value, 1, u64::from(u32::MAX), what)?;
                match *word {
                    "id" => once(&mut id, &pair, number)?,
                    _ => once(&mut count, &pair, number as u32)?,
                }
            }
            _ => return fail(word, "expected one of id, count, oneshot, multishot, barrier"),
        }
    }
    match (id, kind, count) {
        (None, ..) => fail("trigger", "no id; expected id and a whole number from 1"),
        (_, None, _) => fail("trigger", "no kind; expected oneshot, multishot or barrier"),
        (_, Some(Kind::Barrier), None) => fail("barrier", "no count; expected count and a whole number from 1"),
        (_, Some(Kind::Oneshot | Kind::Multishot), Some(count)) => {
            fail(&format!("count {count}"), "expected none: only a barrier has a count")
        }
        (Some(id), Some(kind), count) => Ok((id, Trigger { kind, count, line })),
    }
}

/// Sets, for every connection started by a trigger, the activation that starts it.
fn resolve(name: &str, matrix: &mut Matrix, triggers: &BTreeMap<u64, Trigger>, problems: &mut Vec<Problem>) {
    const KEYS: [&str; 2] = ["send_done_trigger", "recv_done_trigger"];
    let number: HashMap<u64, usize> = triggers.keys().copied().zip(0..).collect();
    matrix.triggers = vec![Vec::new(); triggers.len()];
    for (i, c) in (0u32..).zip(&matrix.connections) {
        let referred = [("trigger", c.trigger), (KEYS[0], c.activates[0]), (KEYS[1], c.activates[1])];
        for (key, id) in referred.into_iter().filter_map(|(key, id)| Some((key, id?))) {
            if !triggers.contains_key(&id) {
                let message = "no line of the file has this trigger; expected one, such as trigger id 1 oneshot";
                problems.push(wrong(name, c.line, &format!("{key} {id}"), message));
            }
        }
        for (id, done) in c.activates.into_iter().zip([Done::Sent, Done::Received]) {
            if let Some(trigger) = id.and_then(|id| number.get(&id)) {
                matrix.triggers[*trigger].push((i, done));
            }
        }
    }
    let mut started: HashMap<u64, u32> = HashMap::new();
    for c in &mut matrix.connections {
        let Some((id, trigger)) = c.trigger.and_then(|id| Some((id, triggers.get(&id)?))) else { continue };
        let turn = started.entry(id).or_insert(0);
        *turn += 1;
        let activation = match trigger.kind {
            Kind::Oneshot => 1,
            Kind::Multishot => *turn,
            Kind::Barrier => trigger.count.unwrap_or(1),
        };
        let has = matrix.triggers[number[&id]].len();
        if activation as usize > has {
            let message = format!(
                "never starts: it needs activation {activation} of its trigger, on line {}, but connections cause only \
                 {has}",
                trigger.line,
            );
            problems.push(wrong(name, c.line, &format!("trigger {id}"), message));
        }
        c.started_by = Some(Triggered { trigger: number[&id] as u32, activation });
    }
}

/// A line such as `7->5 id 1 start 0 size 2000000`.
fn connection(words: &[&str], line: usize, unit: StartUnit, hosts: u32) -> Result<Connection, Wrong> {
    let (from, to) = words[0].split_once("->").unwrap_or_default();
    let host = |text: &str| text.parse::<u32>().ok().filter(|h| *h < hosts);
    let (Some(src), Some(dst)) = (host(from), host(to)) else {
        return fail(words[0], format!("expected numbers of hosts from 0 to {}, such as 0->1", hosts - 1));
    };
    if src == dst {
        return fail(words[0], "expected another host than the source");
    }
    let (mut start, mut size, mut id, mut class, mut trigger) = (None, None, None, None, None);
    let mut activates = [None; 2];
    for pair in words[1..].chunks(2) {
        let &[key, value] = pair else { return fail(pair[0], format!("expected a number after {}", pair[0])) };
        let word = format!("{key} {value}");
        let id_of = |what| whole(&word, value, 1, u64::MAX, what);
        match key {
            "start" => {
                let last = (i64::MAX as f64 / unit.picoseconds()).floor();
                let number = value.parse::<f64>().ok().filter(|n| (0.0..last).contains(n));
                let Some(number) = number else {
                    return fail(&word, format!("expected a number from 0 to {last}, in {}", word_of(&unit)));
                };
                once(&mut start, &word, cc::Time((number * unit.picoseconds()).round() as u64))?;
            }
            "size" => {
                let bytes = whole(&word, value, 0, MAX_BYTES, "bytes (0 means endless)")?;
                once(&mut size, &word, bytes)?;
            }
            "id" => once(&mut id, &word, id_of("the id of the connection")?)?,
            "prio" => once(&mut class, &word, whole(&word, value, 0, 255, "a traffic class")? as u8)?,
            "trigger" => once(&mut trigger, &word, id_of("the id of a trigger")?)?,
            "send_done_trigger" => once(&mut activates[0], &word, id_of("the id of a trigger")?)?,
            "recv_done_trigger" => once(&mut activates[1], &word, id_of("the id of a trigger")?)?,
            _ => {
                return fail(
                    key,
                    "expected one of id, start, size, prio, trigger, send_done_trigger, recv_done_trigger",
                );
            }
        }
    }
    match (start, trigger, size) {
        (None, None, _) => fail(words[0], "no start; expected start and a number, or trigger and an id"),
        (Some(_), Some(_), _) => fail(words[0], "start and trigger; expected one of the two"),
        (.., None) => fail(words[0], "no size; expected size and whole bytes"),
        (start, _, Some(n)) => {
            let (start, size) = (start.unwrap_or(cc::Time::ZERO), (n > 0).then_some(n));
            Ok(Connection { src, dst, start, size, class, line, id, started_by: None, trigger, activates })
        }
    }
}
