//! Specification of a run: plain, complete data, already validated by its builder (the scenario crate; tests).
//!
//! Hosts are numbered first: node `h` for `h < hosts` is host `h`, the other nodes are switches. A directed link and
//! the port at its sending end share a number. The local ports of a node are its outgoing links in the order of
//! `links`.

pub use crate::app::Begin;
pub use crate::app::parameters::*;
use incast_cc::{Config, Time};
use incast_record::store::OpenDisk;
pub use incast_record::{Label, MonitorRule, Name};
use std::collections::BTreeSet;

mod cell;
mod error;
mod host;
mod job;
mod keys;
mod link;
mod memory;
mod program;
mod protocol;
mod queue;
pub(crate) mod refusal;
mod refused_value;
mod routing;
pub mod table;
mod traffic;
mod transport;
mod values;
mod words;

pub use cell::*;
pub use error::*;
pub use host::*;
pub use job::*;
pub use link::*;
pub use memory::memory_of;
pub use program::*;
pub use protocol::*;
pub use queue::*;
pub use refused_value::RefusedValue;
pub use routing::*;
pub use traffic::*;
pub use transport::*;

/// One simulation, complete.
#[derive(Clone, Debug)]
pub struct Spec {
    /// Seed of all random draws.
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
    /// Domain of every node, in any numbering. The engine merges domains that are joined by links with too little
    /// latency.
    pub domain_of: Vec<u32>,
    /// Directed links.
    pub links: Vec<LinkSpec>,
    /// Router of each switch (node `hosts + i` has `routers[i]`).
    pub routers: Vec<Router>,
    /// Selection among equal-cost next hops.
    pub choice: PathChoice,
    /// ACKs use [`PathChoice::Ecmp`], whatever the policy of data.
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
    /// Processing times by host; empty without processing times.
    pub host_costs: Vec<HostSpec>,
    /// Shared buffer of every switch, which applies in addition to the limits of its queues; `None`: the limits alone.
    pub buffer: Option<BufferSpec>,
    /// Triggers that open flows when others end; flows refer to them.
    pub triggers: Vec<TriggerSpec>,
    /// Queries over two-way connections, which consist of flows with [`App::Messages`].
    pub queries: Vec<QuerySpec>,
    /// Jobs. Their connections are flows with [`App::Messages`].
    pub jobs: Vec<JobSpec>,
    /// Observations besides the records of flows and ports.
    pub observe: Observe,
    /// Time at which ports stamp packets that carry telemetry.
    pub stamps: Stamps,
    /// Order of simultaneous arrivals on different links.
    pub ties: Ties,
    /// Number of threads, at most [`MAX_THREADS`]; `None`: one thread, or one core for every [`DOMAINS_A_THREAD`]
    /// domains where that is faster. Results do not depend on it.
    pub threads: Option<u32>,
    /// Number of cores that the run may use if `threads` is `None`; `None`: all cores of the machine.
    pub cores: Option<u32>,
    /// Interval of additional calls to the listener, between events.
    pub progress_every: Option<Time>,
    /// The run ends one longest link latency after everything of a known size has finished ([`App::is_finite`], queries
    /// with a count), or at `duration` if that comes first.
    pub ends_when_finished: bool,
    /// Labels that traffic entries give to flows, for their records.
    pub labels: Vec<Label>,
    /// Failures of links, at most one per link at a time. Detours are part of the routers
    /// ([`crate::map::failover::reroute`]).
    pub failures: Vec<Failure>,
    /// Programs of switches and hosts, in the order in which they process a packet at a node.
    pub programs: Vec<ProgramSpec>,
    /// Radio cells.
    pub cells: Vec<CellSpec>,
}

/// Maximum number of threads of a run.
pub const MAX_THREADS: u32 = 255;
/// Number of domains per thread below which a thread waits for others more than it works.
pub const DOMAINS_A_THREAD: usize = 16;

/// Time at which ports stamp packets that carry telemetry.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Stamps {
    /// At the arrival, with the bytes queued before the packet. The ports of hosts stamp too.
    #[default]
    Arrival,
    /// At the beginning of the transmission, with the bytes that stay behind (Li et al., HPCC, SIGCOMM 2019). Only
    /// ports of switches stamp, and they keep explicit queues.
    Departure,
}

/// Order of simultaneous arrivals at one node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ties {
    /// By a hash of (seed, link or flow, time): no link is favoured.
    Hash,
    /// By the number of the link, or of the flow whose timer fires: a fixed order, for comparisons.
    Link,
    /// By order of insertion into one event list, as in ns-3. A packet that arrives when another departs comes first if
    /// its own transmission began earlier: the queue still holds both. If two packets arrive together over links with
    /// equal parameters, the longer one comes first, because its transmission began earlier. If they also have the same
    /// size, the one with the older cause comes first: for an arrival at an idle port, the cause is the start of the
    /// packet's own transmission; for the end of the previous transmission, the start of that transmission
    /// ([`tie_rank`](crate::event::packet::Packet::tie_rank)). Two chains of back-to-back packets keep the order in
    /// which they met. Older causes are not followed: remaining ties are broken as in [`Ties::Link`]. At a port with
    /// departure events ([`QueueSpec::is_explicit`]) departures always come first.
    Scheduled,
}

/// Congestion control that governs a flow's sending rate.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Governor {
    /// Controller, by number.
    Controller(u32),
    /// Congestion control of the transport, or only the application's rate (`udp`), by name.
    Own(&'static str),
}

impl Spec {
    /// Governor of `flow`.
    pub fn governor(&self, flow: &FlowSpec) -> Governor {
        match self.transports[flow.transport as usize].protocol.facts().control {
            _ if flow.app.datagram_gap().is_some() => Governor::Own("udp"),
            Some(own) => Governor::Own(own),
            None => Governor::Controller(flow.controller),
        }
    }

    /// Distinct governors of all flows: controllers in order, then others by name.
    pub fn governors(&self) -> BTreeSet<Governor> {
        self.flows.iter().map(|flow| self.governor(flow)).collect()
    }

    /// True if the port of `link` keeps explicit queues: for its discipline, a shared buffer, pauses, or a radio cell.
    pub fn is_explicit(&self, link: &LinkSpec) -> bool {
        self.queues[link.queue as usize].is_explicit()
            || self.shares_buffer(link)
            || self.pfc().is_some()
            || link.cell.is_some()
            || self.stamps_departures(link)
    }

    /// True if ports stamp arriving packets.
    pub fn stamps_arrivals(&self) -> bool {
        self.stamps == Stamps::Arrival
    }

    /// True if the port of `link` stamps departing packets.
    pub fn stamps_departures(&self, link: &LinkSpec) -> bool {
        self.stamps == Stamps::Departure && link.from >= self.hosts
    }

    /// Priority flow control, if configured.
    pub fn pfc(&self) -> Option<&PfcSpec> {
        self.buffer.as_ref()?.pfc.as_ref()
    }

    /// True if the port of `link` uses a shared buffer.
    pub fn shares_buffer(&self, link: &LinkSpec) -> bool {
        self.buffer.is_some() && link.from >= self.hosts
    }

    /// True if `node` runs a program.
    pub fn runs_programs(&self, node: u32) -> bool {
        self.programs.iter().any(|p| p.nodes.binary_search(&node).is_ok())
    }

    /// True if a node may send a packet back over its ingress link, by a program or by returning headers.
    pub fn turns_back(&self) -> bool {
        !self.programs.is_empty() || self.queues.iter().any(QueueSpec::returns)
    }

    /// Deliveries to hosts.
    pub fn deliveries(&self) -> Deliveries {
        let programs = (0..self.hosts).any(|host| self.runs_programs(host));
        match (programs || !self.host_costs.is_empty(), self.observe.timeline.is_some() || !self.jobs.is_empty()) {
            (true, _) => Deliveries::Handled,
            (false, true) => Deliveries::Counted,
            (false, false) => Deliveries::Plain,
        }
    }

    /// Host that observes the end of a flow.
    pub fn host_of(&self, (flow, done): (u32, Done)) -> u32 {
        let flow = &self.flows[flow as usize];
        match done {
            Done::Sent => flow.src,
            Done::Received => flow.dst,
        }
    }
}

/// Work of a delivery to a host beyond its endpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Deliveries {
    /// Nothing.
    Plain,
    /// Is counted by frames of a timeline, or moves a job on.
    Counted,
    /// As `Counted`, after programs and processing times of the host.
    Handled,
}

/// Timeline: activity of every port in each frame, from the beginning of the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimelineSpec {
    /// Length of a frame.
    pub every: Time,
    /// Maximum number of frames. When it would be exceeded, frames are merged in pairs.
    pub most: u32,
}

impl TimelineSpec {
    /// Number of frames of a run until `end`.
    pub fn frames_by(&self, end: Time) -> u64 {
        end.0.div_ceil(self.every_by(end).0.max(1)).max(1)
    }

    /// Length of a frame at time `now`.
    pub fn every_by(&self, now: Time) -> Time {
        let mut every = self.every;
        while now.0.div_ceil(every.0.max(1)) > self.most as u64 {
            every = every * 2;
        }
        every
    }
}

/// Default number of bytes of timeline rows kept in memory; the rest is in a file.
pub const TIMELINE_NEAR: u64 = 128_000_000;

/// Observations.
#[derive(Clone, Debug, Default)]
pub struct Observe {
    /// Timeline, if requested.
    pub timeline: Option<TimelineSpec>,
    /// Bytes of timeline rows kept in memory, the rest in a file; default [`TIMELINE_NEAR`].
    pub timeline_near: Option<u64>,
    /// Disk for the rest, instead of the file.
    pub timeline_disk: Option<OpenDisk>,
    /// Sampling interval of the queue length of every port, for percentiles.
    pub queue_interval: Time,
    /// Flows with a time series of their state.
    pub flows: Vec<u32>,
    /// Ports with a time series of their queue.
    pub ports: Vec<u32>,
    /// Cells with a time series of their channel's busy share.
    pub cells: Vec<u32>,
    /// Interval of the series; `None` records every change.
    pub interval: Option<Time>,
    /// Flows whose packets are traced.
    pub trace: Vec<u32>,
    /// Maximum number of pauses recorded with their causes, the first of the run; `None`: none are recorded.
    pub pauses: Option<u32>,
    /// Ranks of jobs whose tasks are recorded; `None`: none.
    pub tasks: Option<TaskRanks>,
    /// True if messages of jobs are not recorded one by one.
    pub drop_messages: bool,
    /// Maximum number of bytes recorded point by point; a run that exceeds it ends with an error. At most `MAX_KEPT`,
    /// which is the default.
    pub max_kept: Option<u64>,
    /// True if packets of ACK directions are counted.
    pub acks: bool,
    /// Rule by which FlowMonitor's entries count packets as received or lost. With a rule other than the default,
    /// packets of data directions are counted too.
    pub monitor: MonitorRule,
    /// Number of FlowMonitor entries that figures cover, in the order of their first packets; `None`: all.
    pub entries: Option<u32>,
}

impl Observe {
    /// Returns whether packets of data directions are counted one by one.
    pub fn monitors_data(&self) -> bool {
        self.monitor != MonitorRule::default()
    }

    /// Returns whether packets are counted one by one.
    pub fn monitors(&self) -> bool {
        self.acks || self.monitors_data()
    }
}
