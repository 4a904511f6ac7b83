//! Training jobs: graphs of tasks on hosts, and the connections of their messages.

use incast_cc::{Rate, Time};
use incast_record::{CollectiveFacts, JobRecord};
use incast_workload::Collective;
use incast_workload::collective::{Expansion, bus_factor};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Job.
#[derive(Clone, Debug)]
pub struct JobSpec {
    /// Index into [`Spec::groups`](super::Spec::groups).
    pub group: u32,
    /// Tasks of all ranks. Collectives are one task a member, whose tasks begin when it starts.
    pub tasks: Arc<Expansion>,
    /// Host of every rank. Ranks that share a host do not use its link between them.
    pub hosts: Vec<u32>,
    /// Further planes of the network; `None`: ranks have one host.
    pub planes: Option<Planes>,
    /// Start.
    pub start: Time,
    /// Number of times that every rank runs through its tasks, at least 1. A rank begins the next iteration when it has
    /// ended one.
    pub iterations: u32,
    /// First iterations, which means in the results leave out.
    pub warmup: u32,
    /// End of a send.
    pub send_done: SendDone,
    /// Links between ranks of one server; `None`: all messages take the network.
    pub scale_up: Option<ScaleUp>,
    /// Calculations of a rank take so many times as long; ranks that are missing take the time of the graph.
    pub slow: Vec<(u32, f64)>,
    /// Bytes of the collective that an iteration consists of, and bytes over the busiest link for each of these;
    /// `None`: other tasks.
    pub collective: Option<(u64, f64)>,
    /// Lower bound of the time of an iteration, and its part that holds of each even where iterations overlap; `None`:
    /// unknown.
    pub bound: Option<[Time; 2]>,
    /// Lower bounds of the times of the collectives, by index; missing or `None`: unknown.
    pub bounds: Vec<Option<Time>>,
    /// Kinds of messages, whose connections differ: first tag of each range of tags and its kind, ascending. Smaller
    /// tags are of kind 0.
    pub kinds: Vec<(u32, u8)>,
    /// Number of connections of a kind from one rank to another.
    pub opens: Opens,
    /// Connections: for every pair of ranks and kind as many as [`JobSpec::channels`] says, in that order.
    pub connections: Vec<JobConnection>,
}

/// Planes of a network: no path joins two. A rank has a host in each, and connections to another rank in all of them.
/// While routing knows of a failure that leaves no path in a plane, messages take the others, and those that are under
/// way there go again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Planes {
    /// Hosts of the ranks in the second plane and each further.
    pub hosts: Vec<Vec<u32>>,
    /// Planes that a message takes.
    pub rule: PlaneRule,
}

/// Planes that a message takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PlaneRule {
    /// One for each message in turn.
    ByMessage,
    /// All of them: each has an equal part of the message, which has arrived when all parts have.
    Split,
}

/// Most planes.
pub const MOST_PLANES: usize = 8;

/// Number of connections of a kind from one rank to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Opens {
    /// At most so many, at least 1, which stay open: messages take them in turn, in the order in which they are sent.
    Kept(u32),
    /// One for each message.
    Each,
}

/// Messages of one kind from one rank to another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Channels {
    /// Sending rank.
    pub from: u32,
    /// Receiving rank.
    pub to: u32,
    /// Kind.
    pub kind: u8,
    /// Number of connections, at least 1.
    pub count: u64,
    /// Number of messages.
    pub messages: u64,
}

impl Channels {
    /// Number of messages of each connection, if all take turns; too many are as [`u32::MAX`].
    pub(crate) fn messages_each(&self) -> impl Iterator<Item = u32> + use<> {
        let Channels { count, messages, .. } = *self;
        (0..count).map(move |i| u32::try_from((messages.saturating_sub(i)).div_ceil(count)).unwrap_or(u32::MAX))
    }
}

/// End of a send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SendDone {
    /// Acknowledgement of the last byte.
    Acked,
    /// Writing of the last byte, which is at once: a connection takes any number of messages.
    Written,
}

/// Ranks of every job whose tasks are recorded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TaskRanks {
    /// All ranks.
    All,
    /// Ranks from the first to the last of each pair.
    Of(Vec<(u32, u32)>),
}

impl TaskRanks {
    /// Returns whether a rank is among them.
    pub fn has(&self, rank: u32) -> bool {
        match self {
            TaskRanks::All => true,
            TaskRanks::Of(ranges) => ranges.iter().any(|(first, last)| (*first..=*last).contains(&rank)),
        }
    }
}

/// Links between the GPUs of a server. A message between two of them starts when the sender's way out and the
/// receiver's way in are both free, in the order in which messages are sent. It holds both for its bytes at the rate,
/// and arrives a delay later.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScaleUp {
    /// Server of every rank.
    pub servers: Vec<u32>,
    /// Rate of a rank, in each direction.
    pub rate: Rate,
    /// Delay of a message.
    pub delay: Time,
}

/// Connection from one rank to another: a flow with [`App::Messages`](super::App::Messages), which stays open for all
/// its messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct JobConnection {
    /// Sending rank.
    pub from: u32,
    /// Receiving rank.
    pub to: u32,
    /// Kind of its messages.
    pub kind: u8,
    /// Flow.
    pub flow: u32,
}

impl JobSpec {
    /// Facts for the results of a run of `duration`; `groups` are the names of traffic entries.
    pub(crate) fn record(&self, groups: &[String], duration: Time) -> JobRecord {
        JobRecord {
            name: groups[self.group as usize].clone(),
            collective: self.collective,
            ranks: self.tasks.graph().ranks() as u32,
            iterations: if self.start < duration { self.iterations } else { 0 },
            start_ps: self.start.0,
            bound_ps: self.bound.map(|[whole, _]| whole.0),
            work_ps: self.bound.map(|[_, work]| work.0),
            warmup: self.warmup,
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

    /// Number of planes.
    pub fn count_planes(&self) -> u32 {
        self.planes.as_ref().map_or(1, |own| 1 + own.hosts.len() as u32)
    }

    /// Host of a rank in a plane.
    pub fn host(&self, rank: u32, plane: u32) -> Option<u32> {
        let hosts = match plane.checked_sub(1) {
            None => &self.hosts,
            Some(further) => self.planes.as_ref()?.hosts.get(further as usize)?,
        };
        hosts.get(rank as usize).copied()
    }

    /// Pairs of hosts that belong together: each host of a server, and the first of the server; hosts of a rank.
    pub(crate) fn neighbours(&self) -> Vec<[u32; 2]> {
        let mut first = BTreeMap::new();
        let of_server = |(server, host): (&u32, &u32)| [*first.entry(*server).or_insert(*host), *host];
        let servers = self.scale_up.iter().flat_map(|own| own.servers.iter().zip(&self.hosts));
        let mut pairs: Vec<[u32; 2]> = servers.map(of_server).collect();
        for plane in self.planes.iter().flat_map(|own| &own.hosts) {
            pairs.extend(self.hosts.iter().zip(plane).map(|(own, other)| [*own, *other]));
        }
        pairs
    }

    /// Returns whether two ranks are of one server.
    pub fn is_inside(scale_up: Option<&ScaleUp>, from: u32, to: u32) -> bool {
        let server = |own: &ScaleUp, rank: u32| own.servers.get(rank as usize).copied();
        scale_up.is_some_and(|own| server(own, from).is_some_and(|of| server(own, to) == Some(of)))
    }

    /// Kind of the messages with a tag.
    pub fn kind(&self, tag: u32) -> u8 {
        let after = self.kinds.partition_point(|(first, _)| *first <= tag);
        after.checked_sub(1).map_or(0, |range| self.kinds[range].1)
    }

    /// Pairs of ranks with messages over the network from the first to the second, by kind, in order. A kind has no
    /// more connections than messages.
    pub fn channels(&self) -> Vec<Channels> {
        let sends = |from: u32| {
            let mut messages = BTreeMap::<(u32, u8), u64>::new();
            self.tasks.messages(from, |to, tag, count| {
                if count > 0 && !JobSpec::is_inside(self.scale_up.as_ref(), from, to) {
                    *messages.entry((to, self.kind(tag))).or_default() += count;
                }
            });
            messages.into_iter().map(move |((to, kind), count)| {
                let messages = count * u64::from(self.iterations);
                let count = match self.opens {
                    Opens::Kept(most) => messages.min(most.into()) * u64::from(self.count_planes()),
                    Opens::Each => messages,
                };
                Channels { from, to, kind, count, messages }
            })
        };
        (0..self.tasks.graph().ranks() as u32).flat_map(sends).collect()
    }
}
