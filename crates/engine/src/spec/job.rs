//! Training jobs: graphs of tasks on hosts, and the connections of their messages.

use incast_cc::{Rate, Time};
use incast_record::{CollectiveFacts, JobRecord};
use incast_workload::Collective;
use incast_workload::collective::{Expansion, bus_factor};
use std::sync::Arc;

/// Job.
#[derive(Clone, Debug)]
pub struct JobSpec {
    /// Index into [`Spec::groups`](super::Spec::groups).
    pub group: u32,
    /// Tasks of all ranks. Collectives are one task a member, whose tasks begin when it starts.
    pub tasks: Arc<Expansion>,
    /// Host of every rank. A host has one rank of a job at most.
    pub hosts: Vec<u32>,
    /// Start.
    pub start: Time,
    /// Number of times that every rank runs through its tasks, at least 1. A rank begins the next iteration when it has
    /// ended one.
    pub iterations: u32,
    /// End of a send.
    pub send_done: SendDone,
    /// Links between ranks of one server; `None`: all messages take the network.
    pub scale_up: Option<ScaleUp>,
    /// Calculations of a rank take so many times as long; ranks that are missing take the time of the graph.
    pub slow: Vec<(u32, f64)>,
    /// Bytes of the collective that an iteration consists of, and bytes over the busiest link for each of these;
    /// `None`: other tasks.
    pub collective: Option<(u64, f64)>,
    /// Lower bound of the time of an iteration; `None`: unknown.
    pub bound: Option<Time>,
    /// Lower bounds of the times of the collectives, by index; missing or `None`: unknown.
    pub bounds: Vec<Option<Time>>,
    /// Connections, one for every pair of ranks with messages from the first to the second, in the order of the pairs.
    pub connections: Vec<JobConnection>,
}

/// End of a send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SendDone {
    /// Acknowledgement of the last byte.
    Acked,
    /// Writing of the last byte, which is at once: a connection takes any number of messages.
    Written,
}

/// Links between the GPUs of a server: ranks k g to k g + g - 1 of g GPUs. A message between two of them starts when
/// the sender's way out and the receiver's way in are both free, in the order in which messages are sent. It holds
/// both for its bytes at the rate, and arrives a delay later.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScaleUp {
    /// Ranks of a server, at least 2.
    pub gpus: u32,
    /// Rate of a rank, in each direction.
    pub rate: Rate,
    /// Delay of a message.
    pub delay: Time,
}

/// Connection of two ranks: a flow with [`App::Messages`](super::App::Messages), which stays open for all messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct JobConnection {
    /// Sending rank.
    pub from: u32,
    /// Receiving rank.
    pub to: u32,
    /// Flow.
    pub flow: u32,
}

impl JobSpec {
    /// Facts for the results; `groups` are the names of traffic entries.
    pub(crate) fn record(&self, groups: &[String]) -> JobRecord {
        JobRecord {
            name: groups[self.group as usize].clone(),
            collective: self.collective,
            bound_ps: self.bound.map(|bound| bound.0),
            collectives: self.facts(),
        }
    }

    fn facts(&self) -> Vec<CollectiveFacts> {
        let (graph, methods) = (self.tasks.graph(), self.tasks.methods());
        let own = |(i, what): (usize, &Collective)| {
            let members = graph.group(what.group).len() as u32;
            CollectiveFacts {
                pattern: what.pattern.name(),
                algorithm: methods.of(what.pattern).algorithm.name(),
                group: what.group,
                members,
                bytes: what.bytes.0,
                bus_factor: bus_factor(what.pattern, members.into()),
                bound_ps: self.bounds.get(i).copied().flatten().map(|bound| bound.0),
            }
        };
        graph.collectives().iter().enumerate().map(own).collect()
    }

    /// Pairs of hosts that are neighbours in a server.
    pub(crate) fn neighbours(&self) -> impl Iterator<Item = [u32; 2]> {
        let gpus = self.scale_up.map_or(1, |own| own.gpus.max(1) as usize);
        self.hosts.chunks(gpus).flat_map(|server| server.windows(2).map(|pair| [pair[0], pair[1]]))
    }

    /// Returns whether two ranks are of one server.
    pub fn is_inside(scale_up: Option<ScaleUp>, from: u32, to: u32) -> bool {
        scale_up.is_some_and(|own| own.gpus > 0 && from / own.gpus == to / own.gpus)
    }

    /// Pairs of ranks with messages over the network from the first to the second, in order.
    pub fn pairs(tasks: &Expansion, scale_up: Option<ScaleUp>) -> Vec<(u32, u32)> {
        tasks.pairs().filter(|(from, to)| !JobSpec::is_inside(scale_up, *from, *to)).collect()
    }
}
