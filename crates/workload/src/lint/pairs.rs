//! Sends and receives: numbers by source, destination and tag (E05), and sizes (E06).
//!
//! Messages of a pair are compared as sets: which send meets which receive is decided by a run. Receives from any
//! source or with any tag take messages that no other receive asks for; sizes are a warning there.

use crate::finding::{Code, Place, Report};
use crate::graph::{ANY, Graph, Kind};
use std::collections::HashMap;

/// Most messages that are compared at once, 32 B each.
const AT_ONCE: u64 = 1 << 22;

/// One end of a message; sorted by destination, source and tag, sends first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct End {
    to: u32,
    from: u32,
    tag: u32,
    receive: bool,
    size: u64,
    /// Task at the end's own rank.
    task: u32,
}

impl End {
    fn key(&self) -> (u32, u32, u32) {
        (self.to, self.from, self.tag)
    }
    /// Place of the task of this end; a receive from any stands at its destination.
    fn place(&self) -> Place {
        Place::Task(if self.receive { self.to } else { self.from }, self.task)
    }
}

/// Compares the ends of all messages.
pub(super) fn check(graph: &Graph, report: &mut Report) {
    let mut counts = vec![0u64; graph.ranks()];
    for (rank, tasks) in graph.iter() {
        for (_, task) in tasks.iter() {
            match task.kind {
                Kind::Send => counts[task.peer as usize] += 1,
                Kind::Recv => counts[rank as usize] += 1,
                _ => {}
            }
        }
    }
    let mut first = 0usize;
    while first < counts.len() {
        let mut sum = 0;
        let part = counts[first..].iter().take_while(|count| {
            sum += **count;
            sum <= AT_ONCE
        });
        let last = first + part.count().max(1);
        let mut ends = ends(graph, first as u32..last as u32);
        ends.sort_unstable();
        for one in ends.chunk_by(|a, b| a.to == b.to) {
            destination(one, report);
        }
        first = last;
    }
}

fn ends(graph: &Graph, destinations: std::ops::Range<u32>) -> Vec<End> {
    let mut found = Vec::new();
    for (rank, tasks) in graph.iter() {
        for (i, task) in tasks.iter() {
            let (to, from, receive) = match task.kind {
                Kind::Send => (task.peer, rank, false),
                Kind::Recv => (rank, task.peer, true),
                _ => continue,
            };
            if destinations.contains(&to) {
                found.push(End { to, from, tag: task.tag, receive, size: task.size, task: i });
            }
        }
    }
    found
}

/// Compares the messages to one rank.
fn destination(ends: &[End], report: &mut Report) {
    let wild: Vec<End> = ends.iter().filter(|e| e.from == ANY || e.tag == ANY).copied().collect();
    let mut spare: Vec<End> = Vec::new();
    for pair in ends.chunk_by(|a, b| a.key() == b.key()) {
        let sends = pair.partition_point(|end| !end.receive);
        let (sends, receives) = pair.split_at(sends);
        if receives.iter().any(|e| e.from == ANY || e.tag == ANY) {
            continue;
        }
        if receives.len() > sends.len() || (wild.is_empty() && receives.len() < sends.len()) {
            disagree(sends, receives, report);
        } else if receives.len() < sends.len() {
            spare.extend(sends.iter().skip(receives.len()));
        } else {
            sizes(sends, receives, wild.is_empty(), report);
        }
    }
    if wild.is_empty() {
        return;
    }
    if wild.len() != spare.len() {
        let (all, left) = (wild.len(), spare.len());
        report.add(Code::E05, wild[0].place(), || {
            let what = format!("receives from any source or with any tag: {all}; messages left for them: {left}");
            (what, "give as many of each".into())
        });
        return;
    }
    // necessary, not sufficient: for each source and each tag, receives that take only these need as many messages
    let fits = |of: fn(&End) -> u32, other: fn(&End) -> u32| {
        let mut left: HashMap<u32, usize> = HashMap::new();
        spare.iter().for_each(|end| *left.entry(of(end)).or_default() += 1);
        let mut bound = wild.iter().filter(|end| of(end) != ANY && other(end) == ANY);
        bound.find(|end| match left.get_mut(&of(end)) {
            Some(left) if *left > 0 => {
                *left -= 1;
                false
            }
            _ => true,
        })
    };
    if let Some(end) = fits(|e| e.from, |e| e.tag).or_else(|| fits(|e| e.tag, |e| e.from)) {
        let what = || "more receives of this source or tag than messages".to_string();
        report.add(Code::E05, end.place(), || (what(), "give as many of each".into()));
    }
    let mut receives = wild;
    receives.sort_unstable_by_key(|end| end.size);
    sizes(&spare, &receives, false, report);
}

fn disagree(sends: &[End], receives: &[End], report: &mut Report) {
    let (most, least) = if sends.len() > receives.len() { (sends, receives) } else { (receives, sends) };
    let end = most[least.len()];
    report.add(Code::E05, end.place(), || {
        let (sent, taken) = (sends.len(), receives.len());
        let what = format!("rank {} to rank {}, tag {}: sends {sent}, receives {taken}", end.from, end.to, end.tag);
        (what, "give each send its receive, with the same tag".into())
    });
}

/// Compares sizes of as many sends and receives; both are sorted by size.
fn sizes(sends: &[End], receives: &[End], certain: bool, report: &mut Report) {
    let mut sent: Vec<u64> = sends.iter().map(|end| end.size).collect();
    sent.sort_unstable();
    let Some((size, end)) = sent.iter().zip(receives).find(|(size, end)| **size != end.size) else { return };
    let texts = || {
        let what = format!("rank {} receives {} B of a message of {size} B", end.to, end.size);
        (what, "give both ends the same size".into())
    };
    if certain {
        report.add(Code::E06, end.place(), texts);
    } else {
        report.warn(Code::E06, end.place(), texts);
    }
}
