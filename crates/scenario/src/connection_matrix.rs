//! htsim's connection matrices (`.cm`): a count of nodes, a count of connections, and a line a connection.
//!
//! The numbers behind `start` have no unit, and htsim's programs read them differently (`main_swift` in microseconds,
//! `main_eqds` in picoseconds), so whoever uses a file says which it is.

use crate::problem::Problem;
use incast_cc as cc;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Connection {
    pub(crate) src: u32,
    pub(crate) dst: u32,
    pub(crate) start: cc::Time,
    /// Bytes; `None` (0 in the file) is without end.
    pub(crate) size: Option<u64>,
    /// Line of the file.
    pub(crate) line: usize,
}

/// A problem with a word of a line.
fn wrong(name: &str, line: usize, word: &str, message: impl Into<String>) -> Problem {
    Problem::with_value(format!("{name}, line {line}"), word, message)
}

/// Reads a matrix for a network of `hosts` hosts.
pub(crate) fn read(name: &str, text: &str, unit: StartUnit, hosts: u32) -> Result<Vec<Connection>, Vec<Problem>> {
    let mut counts: [Option<(usize, u64)>; 2] = [None, None];
    let mut found = Vec::new();
    let mut problems = Vec::new();
    for (line, content) in (1..).zip(text.lines()) {
        let words: Vec<&str> = content.split_whitespace().collect();
        let Some(first) = words.first().filter(|w| !w.starts_with('#')) else { continue };
        let header = ["Nodes", "Connections"].iter().position(|k| k == first);
        let of_triggers = ["Triggers", "Failures"].contains(first);
        if header.is_some() || of_triggers {
            let count = words.get(1).and_then(|w| w.parse::<u64>().ok());
            match (count, header) {
                (None, _) => {
                    problems.push(wrong(name, line, content.trim(), format!("expected a whole number after {first}")));
                }
                (Some(0), None) => {}
                (Some(_), None) => problems.push(unsupported(name, line, content.trim(), first)),
                (Some(n), Some(which)) => counts[which] = Some((line, n)),
            }
        } else if first.contains("->") {
            match connection(&words, line, unit, hosts) {
                Ok(c) => found.push(c),
                Err((word, message)) => problems.push(wrong(name, line, &word, message)),
            }
        } else if ["trigger", "failure"].contains(first) {
            problems.push(unsupported(name, line, content.trim(), first));
        } else {
            let message = "expected Nodes, Connections, or a connection such as 0->15 start 0 size 2000000";
            problems.push(wrong(name, line, first, message));
        }
    }
    // a line that could not be read may be the one that is not there
    let whole = problems.is_empty();
    for (which, count) in ["Nodes", "Connections"].iter().zip(&counts) {
        if whole && count.is_none() {
            problems.push(Problem::new(name, format!("no line {which}; expected {which} and a whole number")));
        }
    }
    if let [Some((line, nodes)), _] = counts
        && nodes > u64::from(hosts)
    {
        let message = format!("expected at most {hosts}, the hosts of the topology");
        problems.push(wrong(name, line, &format!("Nodes {nodes}"), message));
    }
    if let [_, Some((line, n))] = counts
        && problems.is_empty()
        && n != found.len() as u64
    {
        let message = format!("expected Connections {}, as many as the file has", found.len());
        problems.push(wrong(name, line, &format!("Connections {n}"), message));
    }
    if problems.is_empty() && found.is_empty() {
        problems.push(Problem::new(name, "the file has no connections; expected at least one"));
    }
    if problems.is_empty() { Ok(found) } else { Err(problems) }
}

fn unsupported(name: &str, line: usize, content: &str, what: &str) -> Problem {
    let message = if what.to_lowercase().starts_with("trigger") {
        "triggers are not simulated: every connection needs a start of its own"
    } else {
        "failures are not read from a connection matrix"
    };
    wrong(name, line, content, message)
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
    let (mut start, mut size) = (None, None);
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
                let message = "triggers are not simulated: every connection needs a start of its own";
                return fail(&pair, message.to_owned());
            }
            "prio" => return fail(&pair, "priorities are not simulated; expected none".to_owned()),
            _ => return fail(key, "expected one of id, start, size".to_owned()),
        }
    }
    match (start, size) {
        (None, _) => fail(words[0], "no start; expected start and a number".to_owned()),
        (_, None) => fail(words[0], "no size; expected size and whole bytes".to_owned()),
        (Some(start), Some(n)) => Ok(Connection { src, dst, start, size: (n > 0).then_some(n), line }),
    }
}
