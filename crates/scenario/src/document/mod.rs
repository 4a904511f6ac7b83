//! The scenario file as types. Their documentation, defaults and bounds are the schema, the
//! checks, `incast describe` and the manual's tables at once.

pub mod app;
pub mod arrivals;
pub mod buffer;
pub mod credit_shaping;
pub(crate) mod demotion;
pub mod driven;
pub(crate) mod edit;
pub mod failures;
pub mod hosts;
pub mod links;
pub(crate) mod pacing;
pub(crate) mod pattern;
pub mod program;
pub mod queue;
mod queue_fits;
pub mod queue_words;
pub mod roots;
pub mod routing;
pub mod traffic;
pub mod transport;
mod transport_words;
pub mod whole;

use crate::document::buffer::Buffer;
use crate::document::failures::Failure;
use crate::document::hosts::Hosts;
use crate::document::links::SingleLink;
use crate::document::program::Program;
use crate::document::queue::Queue;
use crate::document::routing::Routing;
use crate::document::traffic::Traffic;
use crate::document::transport::Transport;
use crate::text::controller::Controller;
use crate::text::default::microseconds;
use crate::text::quantity::{Auto, Time};
use crate::text::schema::generator;
use crate::text::words::{Word, words};
use crate::topology::Topology;
use incast_engine::spec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;

/// A scenario: everything that decides a run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Incast scenario")]
pub struct Document {
    /// Name; that of the file where there is none.
    pub name: Option<String>,
    /// What it shows, in a sentence.
    pub description: Option<String>,
    /// Controller of every traffic entry that names none.
    pub controller: Option<Controller>,
    /// Length, measured interval, seed.
    pub run: Run,
    /// Hosts, switches and links.
    pub topology: Topology,
    /// Links that differ from all others of their kind, and queues of their ports.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<SingleLink>,
    /// Links that fail, work otherwise for some time, and are repaired.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<Failure>,
    /// Queues of all ports.
    pub queue: Queue,
    /// Buffer of every switch that its queues share; each queue has what its limit says where it is not given.
    pub buffer: Option<Buffer>,
    /// What hosts themselves cost their packets; nothing where it is not given.
    pub hosts: Option<Hosts>,
    /// Programs of switches and hosts; packets meet them in this order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub program: Vec<Program>,
    /// How switches choose among equally short routes.
    #[serde(default)]
    pub routing: Routing,
    /// The reliable transport of all flows.
    #[serde(default)]
    pub transport: Transport,
    /// What is observed besides the records of flows and ports.
    #[serde(default)]
    pub measure: Measure,
    /// Who sends what to whom; at least one entry.
    #[schemars(length(min = 1))]
    pub traffic: Vec<Traffic>,
}

impl Document {
    /// The queues of single links' ports, by their keys.
    fn own_queues(&self) -> impl Iterator<Item = (String, &Queue)> {
        let own = self.links.iter().enumerate();
        own.filter_map(|(i, link)| Some((format!("links.{i}.queue"), link.queue.as_ref()?)))
    }

    /// Fewest classes of ports that have queues for some, and the key of those ports.
    pub(crate) fn fewest_classes(&self) -> Option<(String, usize)> {
        let all = self.queue.all().map(|(key, queue)| (key.to_owned(), queue)).chain(self.own_queues());
        let has = all.filter_map(|(key, queue)| Some((key, queue.classes()?.len())));
        has.filter(|(_, n)| *n > 0).min_by_key(|(_, n)| *n)
    }
}

/// Length of the run, the measured interval, and what makes it repeatable.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// Simulated time of the whole run.
    pub duration: Time,
    /// Time before the measured interval; shorter than `duration`.
    #[serde(default = "microseconds::<0>")]
    pub warmup: Time,
    /// End of the measured interval; the run's end where it is not given.
    pub measure_until: Option<Time>,
    /// When it ends before `duration`: when nothing is left to happen (`idle`), which does not occur with a flow
    /// without end, or when everything of a known size has finished (`finished`).
    #[serde(default)]
    pub until: Until,
    /// Everything random is a function of it: placement, start jitter, ECMP, losses.
    #[serde(default = "one")]
    #[schemars(range(max = 9_223_372_036_854_775_807i64))]
    pub seed: u64,
    /// Which of several arrivals at one instant comes first.
    #[serde(default = "by_hash")]
    pub ties: Word<spec::Ties>,
    /// Nodes simulated together as one unit. It decides the cost of a run, never its result.
    #[serde(default)]
    pub domains: Domains,
    /// Threads of one run; `auto` goes on one or on a core for every 16 domains, whichever is quicker at the time, and
    /// on no more than there are cores. A number is kept from the first event to the last. It decides the time of a
    /// run, never its result, and is no part of what tells scenarios apart.
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
        let most = spec::MOST_THREADS;
        (1..=most).contains(&n).then_some(ThreadCount(n)).ok_or_else(|| format!("{n}: expected 1 to {most} threads"))
    }
}

/// End of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Until {
    /// When nothing is left to happen, which a flow without end never lets be.
    #[default]
    Idle,
    /// As soon as every flow with a size, every closed loop with a count and every series of queries with a count has
    /// finished, and the longest latency of a link later: flows without end, such as UDP, do not keep it going.
    Finished,
}

words! {
    /// Order of arrivals at one node at one instant, and of flows whose timers fire then.
    "Ties" spec::Ties {
        /// By a hash of seed, link or flow, and time: none is favoured.
        "hash" => spec::Ties::Hash,
        /// By the number of the link or flow, always the same: for comparisons with simulators where flows that start
        /// together go on in that order.
        "link" => spec::Ties::Link,
        /// The order of a simulator with one list of events (ns-3): what arrives when another packet has left finds it
        /// still there if its own transmission began earlier, and of arrivals over links alike the one comes first that
        /// was set going by what began longer ago; else as "link". A queue that marks at departure has none of it:
        /// there a departure comes first.
        "scheduled" => spec::Ties::Scheduled,
    }
}

/// Partition of the nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Domains {
    /// A switch with the hosts attached to it is one domain.
    #[default]
    Rack,
    /// Every node is a domain.
    Node,
    /// The whole network is one domain.
    One,
}

/// What is observed.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Measure {
    /// Interval at which every port's queue is sampled for percentiles; `auto` takes a thousandth
    /// of the measured interval, at least 100 ns, at most 1 ms. All ports together have at most 10^10 samples, unless
    /// `auto` has more.
    #[serde(default)]
    pub queue_interval: Auto<Time>,
    /// Timeline of the whole fabric for a viewer: what every port and flow does in each frame of so long. `auto` takes
    /// 1,000 to 2,000 frames however early the run ends, and above 10,000 ports 500 to 1,000 of at least 2 us (fewer
    /// where a connection is given up); without the key there is none.
    #[serde(default)]
    pub timeline: Option<Auto<Time>>,
    /// Time series of chosen flows and ports.
    #[serde(default)]
    pub series: Series,
    /// Numbers of flows whose packets are traced, one line an event.
    #[serde(default)]
    pub trace: Vec<u32>,
    /// Whether packets of ACK directions are counted, for the figures `flowmonitor.entries`: it takes memory and time
    /// for each of them.
    #[serde(default)]
    pub acks: bool,
    /// FlowMonitor's entries take a packet for lost that has not arrived after this time, ns-3's 10 s; unless given one
    /// that a queue or a host drops, or a link loses.
    #[serde(default)]
    pub lost_after: Option<Time>,
    /// What FlowMonitor's entries take a packet for that a radio station gives up as no neighbour answers.
    #[serde(default)]
    pub undeliverable: Word<Undeliverable>,
    /// Number of FlowMonitor's entries that the figures `flowmonitor.entries` are over, in the order of their first
    /// packets, as of scripts that look at as many entries as there are flows; all of them unless given.
    #[serde(default)]
    pub entries: Option<u32>,
}

/// What FlowMonitor takes a packet for of whose neighbour nothing is heard.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Undeliverable {
    /// For lost.
    #[default]
    Lost,
    /// For received.
    Received,
}

words! {
    /// What FlowMonitor's entries take a packet for that a station gives up.
    "Undeliverable" Undeliverable {
        /// For lost.
        "lost" => Undeliverable::Lost,
        /// For received, when it is given up and 48 bytes longer: ns-3's probe follows the packet within the ICMPv6
        /// error that the station sends itself.
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
    /// Names of the channels of radio cells, such as `"air"`, whose busy share becomes a series.
    #[serde(default)]
    pub cells: Vec<String>,
    /// Interval of the samples, or `change` for a sample at every change.
    #[serde(default)]
    pub interval: Interval,
}

/// Ports whose queues become time series.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Ports {
    /// Every port.
    All(All),
    /// Those of these names.
    Named(Vec<String>),
}

impl Ports {
    /// The names given.
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
    /// Every one.
    All,
}

/// When a series is sampled.
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

/// The schema, made once.
pub fn schema() -> &'static serde_json::Value {
    static SCHEMA: OnceLock<serde_json::Value> = OnceLock::new();
    SCHEMA.get_or_init(|| serde_json::Value::from(generator().into_root_schema_for::<Document>()))
}
