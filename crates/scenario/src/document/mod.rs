//! Types of the scenario file. Their documentation, defaults and bounds are at once the schema, the checks, `incast
//! describe` and the manual's tables.

pub mod app;
pub mod arrivals;
pub mod buffer;
pub mod credit_shaping;
pub mod ecn_ramp;
pub(crate) mod edit;
pub mod failures;
pub(crate) mod group;
pub mod hosts;
pub mod job;
pub mod job_llm;
pub mod links;
pub mod method;
pub(crate) mod pattern;
pub mod program;
pub mod queue;
mod queue_fits;
pub mod queue_words;
pub mod red;
pub mod roots;
pub mod routing;
pub(crate) mod spelling;
pub mod traffic;
pub mod transport;
pub mod whole;

use crate::document::buffer::Buffer;
use crate::document::failures::Failure;
use crate::document::hosts::Hosts;
use crate::document::job::Job;
use crate::document::links::SingleLink;
use crate::document::program::Program;
use crate::document::queue::Queue;
use crate::document::routing::Routing;
use crate::document::traffic::Traffic;
use crate::document::transport::Transport;
use crate::text::controller::Controller;
use crate::text::default::microseconds;
use crate::text::quantity::{Auto, Time};
use crate::text::root_schema::root;
use crate::text::words::{Word, words};
use crate::topology::Topology;
use incast_engine::spec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;

/// A scenario: everything that determines a run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Incast scenario")]
pub struct Document {
    /// Name; default: the name of the file.
    pub name: Option<String>,
    /// Description, in a sentence.
    pub description: Option<String>,
    /// Controller of every traffic entry and every job without one.
    pub controller: Option<Controller>,
    /// Length, measured interval, seed.
    pub run: Run,
    /// Hosts, switches and links.
    pub topology: Topology,
    /// Links that differ from the others of their kind, and queues of their ports.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<SingleLink>,
    /// Links that fail or degrade for some time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<Failure>,
    /// Queues of all ports.
    pub queue: Queue,
    /// Buffer shared by the queues of every switch; default: each queue has its own limit.
    pub buffer: Option<Buffer>,
    /// Processing times of hosts; default: none.
    pub hosts: Option<Hosts>,
    /// Programs of switches and hosts; packets pass them in this order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub program: Vec<Program>,
    /// Choice of switches among equally short routes.
    #[serde(default)]
    pub routing: Routing,
    /// The reliable transport of all flows.
    #[serde(default)]
    pub transport: Transport,
    /// Observations besides the records of flows and ports.
    #[serde(default)]
    pub measure: Measure,
    /// Senders, receivers and data; at least one entry, or a job.
    #[serde(default)]
    pub traffic: Vec<Traffic>,
    /// Training jobs: tasks of ranks, and the hosts of these.
    #[serde(default, rename = "job", skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<Job>,
}

impl Document {
    /// Queues of single links' ports, with their keys.
    fn own_queues(&self) -> impl Iterator<Item = (String, &Queue)> {
        let own = self.links.iter().enumerate();
        own.filter_map(|(i, link)| Some((format!("links.{i}.queue"), link.queue.as_ref()?)))
    }

    /// Smallest number of classes among ports with several, and the key of those ports.
    pub(crate) fn fewest_classes(&self) -> Option<(String, usize)> {
        let all = self.queue.all().map(|(key, queue)| (key.to_owned(), queue)).chain(self.own_queues());
        let has = all.filter_map(|(key, queue)| Some((key, queue.classes()?.len())));
        has.filter(|(_, n)| *n > 0).min_by_key(|(_, n)| *n)
    }
}

/// Length of the run, the measured interval, and the settings that make a run repeatable.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// Simulated time of the whole run.
    pub duration: Time,
    /// Time before the measured interval; shorter than `duration`.
    #[serde(default = "microseconds::<0>")]
    pub warmup: Time,
    /// End of the measured interval; default: the run's end.
    pub measure_until: Option<Time>,
    /// Condition for an end before `duration`: `idle`, no event is left, which never happens with an endless flow;
    /// `finished`, everything with a known size has finished.
    #[serde(default)]
    pub until: Until,
    /// Seed of everything random: placement, start jitter, ECMP, losses.
    #[serde(default = "one")]
    #[schemars(range(max = 9_223_372_036_854_775_807i64))]
    pub seed: u64,
    /// Order of simultaneous arrivals.
    #[serde(default = "by_hash")]
    pub ties: Word<spec::Ties>,
    /// Transmission times are cut to multiples of it, as the clock of ns-3 does with `1ns`; default: exact.
    pub tick: Option<Time>,
    /// Partition of the nodes into units simulated together. Affects the cost of a run, never its result.
    #[serde(default)]
    pub domains: Domains,
    /// Threads of a run. `auto` uses one core, or one for every 16 domains, whichever is faster at the time, and
    /// never more than available. A number is kept from the first event to the last. Affects the duration of a run,
    /// never its result, and is no part of a scenario's identity.
    #[serde(default, skip_serializing_if = "Auto::is_auto")]
    #[schemars(extend("default" = "auto"))]
    pub threads: Auto<ThreadCount>,
}

impl Run {
    /// The measured interval.
    pub(crate) fn measured(&self) -> (incast_cc::Time, incast_cc::Time) {
        (self.warmup.0, self.measure_until.unwrap_or(self.duration).0)
    }
}

fn by_hash() -> Word<spec::Ties> {
    Word(spec::Ties::Hash)
}

fn one() -> u64 {
    1
}

/// A number of threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "u32")]
#[schemars(!try_from)]
pub struct ThreadCount(#[schemars(range(min = 1, max = 255))] pub u32);

impl TryFrom<u32> for ThreadCount {
    type Error = String;
    fn try_from(n: u32) -> Result<ThreadCount, String> {
        let most = spec::MAX_THREADS;
        (1..=most).contains(&n).then_some(ThreadCount(n)).ok_or_else(|| format!("{n}: expected 1 to {most} threads"))
    }
}

/// Condition for the end of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Until {
    /// No event is left, which never happens with an endless flow.
    #[default]
    Idle,
    /// Every flow with a size, every closed loop with a count and every series of queries with a count has finished,
    /// plus the longest latency of a link. Endless flows, such as UDP, do not delay the end.
    Finished,
}

words! {
    /// Order of simultaneous arrivals at one node, and of flows whose timers fire at the same time.
    "Ties" spec::Ties {
        /// By a hash of seed, link or flow, and time: no link or flow is favoured.
        "hash" => spec::Ties::Hash,
        /// By the number of the link or flow, always the same: for comparisons with simulators in which flows that
        /// start together continue in that order.
        "link" => spec::Ties::Link,
        /// The order of a simulator with one list of events (ns-3). An arrival at the instant of a departure finds
        /// the departing packet still there if the arrival's transmission began earlier. Of simultaneous arrivals
        /// over equal links, the one whose chain of events began earlier comes first; else as "link". With a queue
        /// that marks at departure, departures come first.
        "scheduled" => spec::Ties::Scheduled,
    }
}

/// Partition of the nodes into domains.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Domains {
    /// A switch with the hosts attached to it is one domain; of a topology with servers, the hosts of a server are.
    #[default]
    Rack,
    /// Every node is a domain.
    Node,
    /// The whole network is one domain.
    One,
}

/// Observations.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Measure {
    /// Interval between samples of every port's queue, for percentiles; `auto`: a thousandth of the measured
    /// interval, at least 100 ns, at most 1 ms. All ports together have at most 10^10 samples, unless `auto` has
    /// more.
    #[serde(default)]
    pub queue_interval: Auto<Time>,
    /// Frame length of the timeline, which records every port and flow in each frame for the viewer. `auto`: 1,000 to
    /// 2,000 frames, however early the run ends, and above 10,000 ports 500 to 1,000 of at least 2 us (fewer if a
    /// connection is given up). Default: no timeline.
    #[serde(default)]
    pub timeline: Option<Auto<Time>>,
    /// Most pauses of priority flow control that are recorded with their causes, the first of the run, for `incast
    /// explain pauses`; `auto`: 100,000. Default: none.
    #[serde(default)]
    pub pauses: Option<Auto<PauseCount>>,
    /// Ranks of jobs whose tasks are recorded, for lanes of ranks over time: `"all"`, or numbers and ranges such as
    /// `[0, "8-15"]`, of every job. Default: none.
    #[serde(default)]
    pub tasks: job::TaskRanks,
    /// Time series of chosen flows and ports.
    #[serde(default)]
    pub series: Series,
    /// Numbers of flows whose packets are traced, one line per event.
    #[serde(default)]
    pub trace: Vec<u32>,
    /// Lists every message of a job in `messages.parquet`, at 64 bytes of memory each. Default: true.
    #[serde(default)]
    pub messages: Option<bool>,
    /// Counts packets of ACK directions, for the figures `flowmonitor.entries`. Costs memory and time for each
    /// packet.
    #[serde(default)]
    pub acks: bool,
    /// Age at which FlowMonitor's entries count a packet as lost; ns-3 has 10 s. Default: a packet is lost when a
    /// queue or a host drops it, or a link loses it.
    #[serde(default)]
    pub lost_after: Option<Time>,
    /// Status in FlowMonitor's entries of a packet that a radio station gives up because no neighbour answers.
    #[serde(default)]
    pub undeliverable: Word<Undeliverable>,
    /// Number of FlowMonitor's entries covered by the figures `flowmonitor.entries`, in the order of their first
    /// packets, as in scripts that read as many entries as there are flows; default: all.
    #[serde(default)]
    pub entries: Option<u32>,
}

/// A number of recorded pauses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "u32")]
#[schemars(!try_from)]
pub struct PauseCount(#[schemars(range(min = 1, max = 1_000_000))] pub u32);

impl TryFrom<u32> for PauseCount {
    type Error = String;
    fn try_from(n: u32) -> Result<PauseCount, String> {
        let known = (1..=1_000_000).contains(&n);
        known.then_some(PauseCount(n)).ok_or_else(|| format!("{n}: expected 1 to 1000000 pauses"))
    }
}

/// FlowMonitor's status of a packet whose neighbour does not answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Undeliverable {
    /// Lost.
    #[default]
    Lost,
    /// Received.
    Received,
}

words! {
    /// Status in FlowMonitor's entries of a packet that a station gives up.
    "Undeliverable" Undeliverable {
        /// Lost.
        "lost" => Undeliverable::Lost,
        /// Received at that time, 48 bytes longer: ns-3's probe follows the packet inside the ICMPv6 error that the
        /// station sends to itself.
        "received" => Undeliverable::Received,
    }
}

/// Time series: cwnd, ssthresh, RTT, the controller's own state; queue lengths.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// Numbers of flows.
    #[serde(default)]
    pub flows: Vec<u32>,
    /// Names of ports, such as `"edge3>h6"`, or `"all"`.
    #[serde(default)]
    pub ports: Ports,
    /// Names of the channels of radio cells, such as `"air"`; their busy share becomes a series.
    #[serde(default)]
    pub cells: Vec<String>,
    /// Interval between samples, or `change` for a sample at every change.
    #[serde(default)]
    pub interval: Interval,
}

/// Ports whose queues become time series.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Ports {
    /// Every port.
    All(All),
    /// Ports of these names.
    Named(Vec<String>),
}

impl Ports {
    /// Names, if given.
    pub fn named(&self) -> &[String] {
        match self {
            Ports::All(_) => &[],
            Ports::Named(names) => names,
        }
    }
}

impl Default for Ports {
    fn default() -> Ports {
        Ports::Named(Vec::new())
    }
}

/// The word `"all"`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum All {
    /// All of them.
    All,
}

/// Times of the samples of a series.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Interval {
    /// At every change.
    Change(Change),
    /// At fixed times.
    Every(Time),
}

/// The word `"change"`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum Change {
    /// At every change.
    Change,
}

impl Default for Interval {
    fn default() -> Interval {
        Interval::Change(Change::Change)
    }
}

/// Schema, created once.
pub fn schema() -> &'static serde_json::Value {
    static SCHEMA: OnceLock<serde_json::Value> = OnceLock::new();
    SCHEMA.get_or_init(root::<Document>)
}
