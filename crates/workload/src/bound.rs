//! Lower bound of the time of a job: no network whose hosts have this latency and rate is faster.
//!
//! The bound is the largest of three: the critical path, with each message alone on the network; the bytes that the
//! busiest host sends or receives, over its rate; the calculations of the busiest stream.

use crate::evaluate::delay::{Network, Rules, SendDone, run};
use crate::evaluate::least;
use crate::graph::{Graph, Kind, Refused};
use incast_cc::{Bytes, Time};

/// Lower bound with its parts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bound {
    /// Time of the critical path.
    pub path: Time,
    /// True if the path is a bound. With receives from any source or with any tag it is none: what arrives first
    /// decides the path.
    pub path_bounds: bool,
    /// Number of tasks on it.
    pub path_tasks: u64,
    /// Number of messages and collectives on it.
    pub path_messages: u64,
    /// Calculations on it.
    pub path_calc: Time,
    /// Time of the bytes of the busiest host.
    pub host: Time,
    /// Rank of the busiest host.
    pub host_rank: u32,
    /// Bytes that it sends, or receives if these are more.
    pub host_bytes: Bytes,
    /// Time of the calculations of the busiest stream.
    pub stream: Time,
    /// Rank of the busiest stream.
    pub stream_rank: u32,
}

impl Bound {
    /// The bound.
    pub fn time(&self) -> Time {
        let path = if self.path_bounds { self.path } else { Time::ZERO };
        path.max(self.work())
    }
    /// Part of the bound that holds of each of several iterations even where they overlap.
    pub fn work(&self) -> Time {
        self.host.max(self.stream)
    }
    /// Part that is the bound: `path`, `host` or `stream`.
    pub fn cause(&self) -> &'static str {
        match self.time() {
            time if self.path_bounds && time == self.path => "path",
            time if time == self.host => "host",
            _ => "stream",
        }
    }
}

/// Bound of a graph. Errors: tasks that never end, so that the job has no time.
pub fn bound(graph: &Graph, network: Network) -> Result<Bound, Refused> {
    let run = run(graph, Rules { network, send_done: SendDone::Written, streams: false, path: true });
    if !run.outcome.is_whole() {
        let left = run.outcome.tasks - run.outcome.ended;
        return Err(Refused(format!("tasks that never end: {left} of {}; the linter names them", run.outcome.tasks)));
    }
    let tasks = run.path.iter().map(|(rank, task)| graph.task(*rank, *task));
    let path_messages = tasks.filter(|task| matches!(task.kind, Kind::Send | Kind::Collective)).count() as u64;
    let (bytes, host_rank) = most(bytes_of_hosts(graph).into_iter().map(|(sent, received)| sent.max(received)));
    let (calc, stream_rank) = most(graph.iter().map(|(_, rank)| {
        let mut streams = [0u64; 256];
        for (_, task) in rank.iter().filter(|(_, task)| task.kind == Kind::Calc) {
            let sum = &mut streams[usize::from(task.stream)];
            *sum = sum.saturating_add(task.size);
        }
        streams.into_iter().max().unwrap_or(0)
    }));
    Ok(Bound {
        path: run.outcome.end,
        path_bounds: !graph.iter().any(|(_, rank)| rank.is_wild()),
        path_tasks: run.path.len() as u64,
        path_messages,
        path_calc: run.path_calc,
        host: network.rate.serialize(bytes),
        host_rank,
        host_bytes: Bytes(bytes),
        stream: Time(calc),
        stream_rank,
    })
}

/// The largest number, with the first rank that has it.
fn most(numbers: impl Iterator<Item = u64>) -> (u64, u32) {
    let mut best = (0, 0);
    for (rank, number) in (0..).zip(numbers) {
        if number > best.0 {
            best = (number, rank);
        }
    }
    best
}

/// Bytes that each host sends and receives; messages to itself do not count.
fn bytes_of_hosts(graph: &Graph) -> Vec<(u64, u64)> {
    let mut bytes = vec![(0u64, 0u64); graph.ranks()];
    for (rank, tasks) in graph.iter() {
        for (_, task) in tasks.iter() {
            match task.kind {
                Kind::Send if task.peer != rank => {
                    let sent = &mut bytes[rank as usize].0;
                    *sent = sent.saturating_add(task.size);
                    if let Some((_, received)) = bytes.get_mut(task.peer as usize) {
                        *received = received.saturating_add(task.size);
                    }
                }
                Kind::Collective => {
                    let Some(what) = graph.collective(task.tag) else { continue };
                    let n = graph.group(what.group).len() as u64;
                    let (sends, receives) = least::own(what, n, task.peer.into());
                    let own = &mut bytes[rank as usize];
                    *own = (own.0.saturating_add(sends.0), own.1.saturating_add(receives.0));
                }
                _ => {}
            }
        }
    }
    bytes
}
