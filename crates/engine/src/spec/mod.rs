//! The specification of a run: plain data, complete and already validated by whoever
//! built it (the scenario crate; tests).
//!
//! Nodes are numbered hosts first: node `h` for `h < hosts` is host `h`, the rest are switches.
//! A directed link and the port at its sending end share one number. The local ports of a node
//! are its outgoing links in the order of `links`.

pub use crate::app::Begin;
pub use crate::app::parameters::*;
use incast_cc::{Config, Time};
pub use incast_record::{Label, MonitorRule, Name};
use std::collections::BTreeSet;

mod cell;
mod driven;
mod error;
mod host;
mod link;
mod memory;
mod program;
mod queue;
mod routing;
pub mod table;
mod traffic;
mod transport;

pub use cell::*;
pub use driven::*;
pub use error::*;
pub use host::*;
pub use link::*;
pub use memory::memory_of;
pub use program::*;
pub use queue::*;
pub use routing::*;
pub use traffic::*;
pub use transport::*;

/// One simulation, complete.
#[derive(Clone, Debug)]
pub struct Spec {
    /// Everything random is keyed by it.
    pub seed: u64,
    /// Simulated end.
    pub duration: Time,
    /// Start of the measured interval.
    pub measure_from: Time,
    /// End of the measured interval (at most `duration`).
    pub measure_to: Time,
    /// Number of hosts; nodes `0..hosts`.
    pub hosts: u32,
    /// Names of all nodes, hosts first: `"h0"`, `"edge3"`.
    pub node_names: Vec<String>,
    /// Domain of every node; any numbering. The engine merges domains joined by links too fast
    /// to separate them.
    pub domain_of: Vec<u32>,
    /// Directed links.
    pub links: Vec<LinkSpec>,
    /// One a switch (node `hosts + i` has `routers[i]`).
    pub routers: Vec<Router>,
    /// How a switch picks among equal-cost next hops.
    pub choice: PathChoice,
    /// ACKs take the path of [`PathChoice::Ecmp`], whatever data does.
    pub acks_by_flow: bool,
    /// Distinct queue settings; links refer to them.
    pub queues: Vec<QueueSpec>,
    /// Distinct transport settings; flows refer to them.
    pub transports: Vec<TransportSpec>,
    /// Distinct controllers; flows refer to them.
    pub controllers: Vec<Config>,
    /// Names of traffic entries; flows refer to them.
    pub groups: Vec<String>,
    /// Flows in order.
    pub flows: Vec<FlowSpec>,
    /// The time that packets take in each host, by host; empty where they take none.
    pub host_costs: Vec<HostSpec>,
    /// Buffer that the queues of every switch share, beside their own limits; without one each has what its limit says.
    pub buffer: Option<BufferSpec>,
    /// Triggers of flows that wait for the ends of others; flows refer to them.
    pub triggers: Vec<TriggerSpec>,
    /// Queries over two-way connections made of those flows that have [`App::Messages`].
    pub queries: Vec<QuerySpec>,
    /// Observations besides the records of flows and ports.
    pub observe: Observe,
    /// Order of arrivals on different links at equal times.
    pub ties: Ties,
    /// Threads of the run, at most [`MOST_THREADS`]; `None` takes one, or a core for every [`DOMAINS_A_THREAD`] domains
    /// where that is quicker. No result depends on it.
    pub threads: Option<u32>,
    /// Cores that the run may take where the number of threads is not given; `None`: those of the machine.
    pub cores: Option<u32>,
    /// The listener is told at the end of each such interval, between the events, beside the times at which it is told
    /// anyway.
    pub told_every: Option<Time>,
    /// The run ends when everything of a known size has finished ([`App::is_finite`], queries with a count), and the
    /// longest latency of a link later; at `duration` if that comes first.
    pub ends_when_finished: bool,
    /// What the traffic says of its flows, for their records.
    pub labels: Vec<Label>,
    /// Failures of links, one failure of a link at a time. Ways around are part of the routers
    /// ([`crate::map::failover::reroute`]).
    pub failures: Vec<Failure>,
    /// Programs of switches and hosts, in the order in which packets meet them at a node.
    pub programs: Vec<ProgramSpec>,
    /// Radio cells.
    pub cells: Vec<CellSpec>,
}

/// Threads of a run at most.
pub const MOST_THREADS: u32 = 255;
/// With fewer domains to each a thread waits for others more than it works.
pub const DOMAINS_A_THREAD: usize = 16;

/// Order of equal-time arrivals at one node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ties {
    /// By a hash of (seed, link or flow, time): none is favoured.
    Hash,
    /// By the number of the link, or of the flow whose timer fires (a fixed order, for
    /// comparisons).
    Link,
    /// As a simulator with one list of events has it, where what was entered first comes first (ns-3).
    /// A packet that arrives when another has left comes first where its own transmission began
    /// earlier: the queue still holds both. Of packets that arrive together over links alike, the longer
    /// comes first (its transmission began before); of two alike the one that was set going by what was
    /// entered longer ago: an arrival at an idle port when that packet's own transmission began, the end
    /// of the transmission before when that began ([`tie_rank`](crate::event::packet::Packet::tie_rank)).
    /// Two chains of packets without a pause keep the order they met in. Causes further back are not followed: what is
    /// left is as with [`Ties::Link`]. A port whose departures are events
    /// ([`QueueSpec::is_explicit`]) lets them come first always.
    Scheduled,
}

/// What decides how fast a flow sends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Governor {
    /// A controller, by its number.
    Controller(u32),
    /// The transport's own control, or nothing but the application's rate (`udp`), by name.
    Own(&'static str),
}

impl Spec {
    /// What governs `flow`.
    pub fn governor(&self, flow: &FlowSpec) -> Governor {
        match self.transports[flow.transport as usize].protocol.control() {
            _ if flow.app.datagram_gap().is_some() => Governor::Own("udp"),
            Some(own) => Governor::Own(own),
            None => Governor::Controller(flow.controller),
        }
    }

    /// What governs flows, each once: controllers in their order, then all else by name.
    pub fn governors(&self) -> BTreeSet<Governor> {
        self.flows.iter().map(|flow| self.governor(flow)).collect()
    }

    /// The port of `link` keeps explicit queues: for its discipline, or because they share a buffer, or obey pauses.
    pub fn is_explicit(&self, link: &LinkSpec) -> bool {
        self.queues[link.queue as usize].is_explicit()
            || self.shares_buffer(link)
            || self.pfc().is_some()
            || link.cell.is_some()
    }

    /// Priority flow control, if switches have it.
    pub fn pfc(&self) -> Option<&PfcSpec> {
        self.buffer.as_ref()?.pfc.as_ref()
    }

    /// The queues of the port of `link` are in a shared buffer.
    pub fn shares_buffer(&self, link: &LinkSpec) -> bool {
        self.buffer.is_some() && link.from >= self.hosts
    }

    /// Node `node` runs a program.
    pub fn runs_programs(&self, node: u32) -> bool {
        self.programs.iter().any(|p| p.nodes.binary_search(&node).is_ok())
    }

    /// Nodes may send by the link that a packet came over: they run programs, or send headers back.
    pub fn turns_back(&self) -> bool {
        !self.programs.is_empty() || self.queues.iter().any(QueueSpec::returns)
    }

    /// Hosts run programs or cost their packets something, or what they get is counted by frames.
    pub fn hosts_differ(&self) -> bool {
        let programs = || (0..self.hosts).any(|host| self.runs_programs(host));
        !self.host_costs.is_empty() || self.observe.timeline.is_some() || programs()
    }

    /// The host at which an end of a flow is seen.
    pub fn host_of(&self, (flow, done): (u32, Done)) -> u32 {
        let flow = &self.flows[flow as usize];
        match done {
            Done::Sent => flow.src,
            Done::Received => flow.dst,
        }
    }
}

/// A timeline: what every port does in each frame of the run, from its beginning on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimelineSpec {
    /// Length of a frame.
    pub every: Time,
    /// Frames at most: there are half as many, twice as long, whenever there would be more.
    pub most: u32,
}

impl TimelineSpec {
    /// Frames of a run that comes to `end`.
    pub fn frames_by(&self, end: Time) -> u64 {
        end.0.div_ceil(self.every_by(end).0.max(1)).max(1)
    }

    /// Length of a frame in a run that has come to `now`.
    pub fn every_by(&self, now: Time) -> Time {
        let mut every = self.every;
        while now.0.div_ceil(every.0.max(1)) > self.most as u64 {
            every = every * 2;
        }
        every
    }
}

/// Bytes of the rows of a run's timeline that lie in memory, unless it asks for others; what is more lies in a file.
pub const TIMELINE_NEAR: u64 = 128_000_000;

/// Observations.
#[derive(Clone, Debug, Default)]
pub struct Observe {
    /// The timeline, if there is one.
    pub timeline: Option<TimelineSpec>,
    /// Bytes of its rows that lie in memory, the others in a file; `TIMELINE_NEAR` unless given.
    pub timeline_near: Option<u64>,
    /// Interval at which queue lengths are sampled for percentiles, at every port.
    pub queue_interval: Time,
    /// Flows whose state becomes a time series.
    pub flows: Vec<u32>,
    /// Ports whose queue becomes a time series.
    pub ports: Vec<u32>,
    /// Cells whose channel's busy share becomes a time series.
    pub cells: Vec<u32>,
    /// Interval of the series; `None` records every change.
    pub interval: Option<Time>,
    /// Flows whose packets are traced.
    pub trace: Vec<u32>,
    /// Bytes of what is recorded point by point, above which a run ends with an error; at most
    /// `MOST_KEPT`, and that unless given.
    pub most_kept: Option<u64>,
    /// Packets of ACK directions are counted.
    pub acks: bool,
    /// Which packets FlowMonitor's entries take for received and lost; unless that is by what happens to them, packets
    /// of data directions are counted too.
    pub monitor: MonitorRule,
    /// Figures of FlowMonitor's entries are over so many of them, in the order of their first packets; `None`: all.
    pub entries: Option<u32>,
}

impl Observe {
    /// Whether packets of data directions are counted one by one.
    pub fn monitors_data(&self) -> bool {
        self.monitor != MonitorRule::default()
    }

    /// Whether packets are counted one by one.
    pub fn monitors(&self) -> bool {
        self.acks || self.monitors_data()
    }
}
