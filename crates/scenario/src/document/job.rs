//! Training jobs in a scenario: where ranks are, how often they run through their tasks, which of them are slow.

use crate::document::job_llm::Llm;
use crate::document::method::{Collectives, Method};
use crate::document::transport::Transport;
use crate::text::controller::Controller;
use crate::text::default::microseconds;
use crate::text::problem::Report;
use crate::text::quantity::{Rate, Size, Time};
use crate::text::words::{Word, words};
use incast_engine::spec;
use incast_workload::Pattern;
use incast_workload::collective::Algorithm;
use incast_workload::files::{self, Format};
use incast_workload::{chakra, simai};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Training job: tasks of ranks, one rank a host. Messages go over connections that stay open, one for each pair of
/// ranks; the tables `jobs`, `ranks` and `messages` have the results.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Job {
    /// Name in results and in `--set job.NAME.key`; default: `job`.
    pub name: Option<String>,
    /// Beginning of its first iteration.
    #[serde(default = "microseconds::<0>")]
    pub start: Time,
    /// Controller; default: the scenario's.
    pub controller: Option<Controller>,
    /// Transport values that differ from `[transport]`; a preset here replaces all of it.
    pub transport: Option<Transport>,
    /// Traffic class, where ports have queues for classes.
    #[serde(default)]
    pub class: u8,
    /// Traffic class of its acknowledgements; default: that of its data.
    pub ack_class: Option<u8>,
    /// File with the tasks of an iteration, relative to the scenario file: GOAL (text or binary), text of SimAI and
    /// AICB, or Chakra execution traces, by their prefix or folder. The content tells the format.
    pub workload: Option<String>,
    /// GPUs of a file of SimAI that names no number.
    #[schemars(range(min = 1))]
    pub gpus: Option<u64>,
    /// Rules for a file of SimAI; default: as it says.
    pub compat: Option<Compat>,
    /// Sizes of all-gathers in Chakra traces; default: `shard`, with a note.
    pub sizes: Option<Sizes>,
    /// Dependencies of Chakra traces.
    #[serde(default)]
    pub deps: Deps,
    /// Algorithms of the collectives of a file, by pattern.
    pub collectives: Option<Collectives>,
    /// Collective that an iteration consists of; or `workload`.
    pub collective: Option<Collective>,
    /// Training of a transformer, from the numbers of its model; default: the tasks are in `workload`.
    pub llm: Option<Llm>,
    /// Hosts of the ranks, of those that no earlier job has.
    #[serde(default)]
    pub placement: RankPlacement,
    /// Hosts of the ranks in their order, by number or name; default: by `placement`.
    pub hosts: Option<Vec<HostRef>>,
    /// Ranks of a host, which share its link: ranks k g to k g + g - 1. Messages between them take the links of
    /// `scale_up`.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1024))]
    pub ranks_per_host: u32,
    /// Number of iterations. A rank begins the next when it has ended all tasks of one.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub iterations: u32,
    /// First iterations, which means leave out: connections open in them, and windows grow.
    #[serde(default)]
    pub warmup: u32,
    /// End of a send.
    #[serde(default)]
    pub send_done: SendDone,
    /// Links between the GPUs of a server; default: all messages take the network.
    pub scale_up: Option<ScaleUp>,
    /// Sends messages to another rail over `scale_up` to the GPU of the server on that rail, which passes them on
    /// (NCCL's PXN); of topologies with servers.
    #[serde(default)]
    pub pxn: bool,
    /// Messages and the planes of a topology with several.
    #[serde(default)]
    pub planes: PlaneRule,
    /// Ranks whose calculations take longer, or shorter.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slow: Vec<Slow>,
    /// Connections from one rank to another, which messages take in turn: queue pairs. There are no more of them than
    /// messages.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1024))]
    pub qps: u32,
    /// Life of a connection.
    #[serde(default)]
    pub connections: Life,
    /// Controllers, transports and classes by kind of message.
    pub by: Option<By>,
}

/// Most connections of a kind from one rank to another.
const MOST_QPS: u32 = 1024;

fn one() -> u32 {
    1
}

/// Collective of all ranks: what an iteration consists of.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Collective {
    /// Pattern of the data.
    pub kind: Word<Pattern>,
    /// Total: the data of a member before a reduction, the gathered data after an all-gather, the data that a member
    /// sends in an all-to-all, its own part included.
    pub size: Size,
    /// Number of ranks; default: one for each of `hosts`, or each host without a job.
    #[schemars(range(min = 2))]
    pub ranks: Option<u32>,
    /// Exponent s of Zipf's law for the receivers of an all-to-all, as tokens choose experts: the k-th most popular
    /// rank receives a share in proportion to 1/k^s of every member's data, its own part included. The seed draws
    /// which rank that is. Default: equal parts.
    #[schemars(range(min = 0))]
    pub skew: Option<f64>,
    /// Algorithm and its parameters.
    #[serde(flatten)]
    pub method: Method,
}

/// Rules for a file of SimAI.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Compat {
    /// SimAI's run on ns-3: one pipeline stage, and forward collectives of 1 to 4,095 B have 4,096 B.
    Simai,
}

/// Meaning of a size of an all-gather.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sizes {
    /// Data of a member.
    Shard,
    /// Gathered data.
    Total,
}

/// Dependencies of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Deps {
    /// On data and on control.
    #[default]
    Both,
    /// On data alone, as the feeder of Chakra has it.
    Data,
}

words! {
    /// Pattern of a collective.
    "CollectiveKind" Pattern {
        /// Sum of all members' data, at all members.
        "all-reduce" => Pattern::AllReduce,
        /// Sum of all members' data, a part at each member.
        "reduce-scatter" => Pattern::ReduceScatter,
        /// Data of all members, at all members.
        "all-gather" => Pattern::AllGather,
        /// A part of each member's data to each other member.
        "all-to-all" => Pattern::AllToAll,
        /// Data of rank 0, at all members.
        "broadcast" => Pattern::Broadcast,
        /// Sum of all members' data, at rank 0.
        "reduce" => Pattern::Reduce,
        /// No data: nobody goes on before all have come.
        "barrier" => Pattern::Barrier,
    }
}

words! {
    /// Algorithm of a collective.
    "CollectiveAlgorithm" Algorithm {
        /// Parts go round a ring: n-1 steps to reduce, n-1 to gather.
        "ring" => Algorithm::Ring,
        /// Double binary tree: half of the data up and down each tree, in chunks (NCCL).
        "tree" => Algorithm::Tree,
        /// Recursive halving to reduce, recursive doubling to gather; n is a power of two.
        "halving-doubling" => Algorithm::HalvingDoubling,
        /// Exchanges at distances 1, 2, 4 ...; n is a power of two.
        "recursive-doubling" => Algorithm::RecursiveDoubling,
        /// Reduce-scatter in each server, all-reduce along each rail, all-gather in each server.
        "hierarchical" => Algorithm::Hierarchical,
        /// From member to member, in chunks.
        "chain" => Algorithm::Chain,
        /// Binomial tree from the root, or to it.
        "binomial" => Algorithm::Binomial,
        /// n-1 rounds; in round i to the member i further.
        "pairwise" => Algorithm::Pairwise,
        /// As pairwise, with the distances in NCCL's order.
        "nccl-grouped" => Algorithm::NcclGrouped,
        /// All messages at once.
        "at-once" => Algorithm::AtOnce,
        /// Rounds as pairwise, `window` of them under way.
        "windowed" => Algorithm::Windowed,
        /// Rounds without data, of a barrier.
        "dissemination" => Algorithm::Dissemination,
    }
}

/// A host by number or name.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum HostRef {
    /// Number.
    Number(u32),
    /// Name, `last` or `random`.
    Name(String),
}

/// Ranks of jobs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum TaskRanks {
    /// All ranks.
    All(AllRanks),
    /// Some ranks.
    Of(Vec<RankRange>),
}

/// The word `"all"`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum AllRanks {
    /// All of them.
    All,
}

impl Default for TaskRanks {
    fn default() -> TaskRanks {
        TaskRanks::Of(Vec::new())
    }
}

/// A rank by number, or ranks from one to another, such as `"8-15"`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum RankRange {
    /// Number.
    Rank(u32),
    /// First and last rank.
    Ranks(String),
}

impl RankRange {
    /// First and last rank; the error is the text that is no range.
    pub fn ends(&self) -> Result<(u32, u32), String> {
        let ends = match self {
            RankRange::Rank(rank) => Some((*rank, *rank)),
            RankRange::Ranks(words) => words.split_once('-').and_then(|(first, last)| {
                let ends = (first.trim().parse().ok()?, last.trim().parse().ok()?);
                (ends.0 <= ends.1).then_some(ends)
            }),
        };
        ends.ok_or_else(|| match self {
            RankRange::Rank(rank) => rank.to_string(),
            RankRange::Ranks(words) => words.clone(),
        })
    }
}

/// Links between the GPUs of a server. A message starts when the sender's way out and the receiver's way in are free,
/// holds both for its bytes at the rate, and arrives a delay later.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct ScaleUp {
    /// Ranks of a server, which are ranks k g to k g + g - 1; default: those of a host. Of a topology with servers:
    /// ranks on hosts of one server, and the default is all.
    #[schemars(range(min = 2))]
    pub gpus: Option<u32>,
    /// Rate of a rank, in each direction.
    pub rate: Rate,
    /// Delay of a message.
    pub delay: Time,
}

/// Messages and planes: which of them a message takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PlaneRule {
    /// One plane for each message in turn.
    #[default]
    ByMessage,
    /// All planes: each has an equal part of a message, which has arrived when all parts have.
    Split,
}

impl PlaneRule {
    /// The rule for the engine.
    pub(crate) fn spec(self) -> spec::PlaneRule {
        match self {
            PlaneRule::ByMessage => spec::PlaneRule::ByMessage,
            PlaneRule::Split => spec::PlaneRule::Split,
        }
    }
}

/// Ranks with other calculation times.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Slow {
    /// Ranks.
    #[schemars(length(min = 1))]
    pub ranks: Vec<u32>,
    /// Factor of their calculation times.
    #[schemars(range(min = 0))]
    pub calc: f64,
}

/// End of a send.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SendDone {
    /// With the acknowledgement of its last byte. A transport that delays acknowledgements delays it too.
    #[default]
    Acked,
    /// At once: its bytes are handed to the connection.
    Written,
}

impl SendDone {
    /// The rule for the engine.
    pub(crate) fn spec(self) -> spec::SendDone {
        match self {
            SendDone::Acked => spec::SendDone::Acked,
            SendDone::Written => spec::SendDone::Written,
        }
    }
}

/// Hosts of the ranks of a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RankPlacement {
    /// In the order of the hosts: racks, or servers, are filled one after the other.
    #[default]
    Packed,
    /// One in each rack in turn: of a topology with servers, on each leaf in turn.
    ByRack,
    /// One in each server in turn.
    ByServer,
    /// At equal distances in the order of the hosts.
    Strided,
    /// Drawn at random.
    Random,
    /// Servers drawn at random, and filled one after the other.
    RandomServers,
}

/// Life of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Life {
    /// All messages of the job: it keeps its window and its estimate of the RTT.
    #[default]
    Job,
    /// One message: each has a connection of its own, which begins as new.
    Message,
}

/// Settings of messages by what they belong to. Kinds with different settings have connections of their own.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub struct By {
    /// Sends outside collectives.
    pub send: Option<Settings>,
    /// Messages of all-reduces.
    pub all_reduce: Option<Settings>,
    /// Messages of reduce-scatters.
    pub reduce_scatter: Option<Settings>,
    /// Messages of all-gathers.
    pub all_gather: Option<Settings>,
    /// Messages of all-to-alls.
    pub all_to_all: Option<Settings>,
    /// Messages of broadcasts.
    pub broadcast: Option<Settings>,
    /// Messages of reduces.
    pub reduce: Option<Settings>,
    /// Messages of barriers.
    pub barrier: Option<Settings>,
}

impl By {
    /// Settings of the messages of a pattern.
    pub(crate) fn pattern(&self, pattern: Pattern) -> Option<&Settings> {
        match pattern {
            Pattern::AllReduce => self.all_reduce.as_ref(),
            Pattern::ReduceScatter => self.reduce_scatter.as_ref(),
            Pattern::AllGather => self.all_gather.as_ref(),
            Pattern::AllToAll => self.all_to_all.as_ref(),
            Pattern::Broadcast => self.broadcast.as_ref(),
            Pattern::Reduce => self.reduce.as_ref(),
            Pattern::Barrier => self.barrier.as_ref(),
        }
    }

    /// All settings, by the name of what the messages belong to.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'static str, &Settings)> {
        let patterns = Pattern::ALL.into_iter().map(|pattern| (pattern.name(), self.pattern(pattern)));
        let all = std::iter::once(("send", self.send.as_ref())).chain(patterns);
        all.filter_map(|(name, settings)| Some((name, settings?)))
    }
}

/// Settings of some messages of a job; a key that is missing leaves what the job has.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Settings {
    /// Controller.
    pub controller: Option<Controller>,
    /// Transport values that differ from those of the job; a preset here replaces all of them.
    pub transport: Option<Transport>,
    /// Traffic class, where ports have queues for classes.
    pub class: Option<u8>,
    /// Traffic class of acknowledgements; default: that of the data.
    pub ack_class: Option<u8>,
}

impl Job {
    /// Name in results.
    pub fn name(&self) -> String {
        self.name.clone().unwrap_or_else(|| "job".to_owned())
    }

    /// Given keys that only files of some formats use, with these.
    pub(crate) fn of_files(&self) -> Vec<(&'static str, &'static [Format])> {
        const SIMAI: &[Format] = &[Format::SimAi];
        const CHAKRA: &[Format] = &[Format::Chakra];
        const BOTH: &[Format] = &[Format::SimAi, Format::Chakra];
        let keys = [
            ("gpus", self.gpus.is_some(), SIMAI),
            ("compat", self.compat.is_some(), SIMAI),
            ("sizes", self.sizes.is_some(), CHAKRA),
            ("deps", self.deps != Deps::Both, CHAKRA),
            ("collectives", self.collectives.is_some(), BOTH),
        ];
        keys.into_iter().filter(|(_, given, _)| *given).map(|(key, _, formats)| (key, formats)).collect()
    }

    /// Facts that its file does not say.
    pub(crate) fn reading(&self) -> files::Options {
        files::Options {
            format: None,
            simai: simai::Options { gpus: self.gpus, as_simai: self.compat == Some(Compat::Simai) },
            traces: chakra::Options {
                totals: self.sizes.map(|sizes| sizes == Sizes::Total),
                data_only: self.deps == Deps::Data,
            },
            msccl: Default::default(),
        }
    }

    /// Reports what says twice where the tasks come from, or does not say it.
    fn check_source(&self, at: &mut Report) {
        let given = [
            ("workload", self.workload.is_some()),
            ("collective", self.collective.is_some()),
            ("llm", self.llm.is_some()),
        ];
        let mut given = given.into_iter().filter(|(_, given)| *given).map(|(key, _)| key);
        match (given.next(), given.next()) {
            (None, _) => at.key("workload", "missing; expected a file of tasks, a collective, or llm"),
            (Some("workload"), Some(other)) => {
                let file = self.workload.as_deref().unwrap_or_default();
                at.text("workload", file, format!("the tasks are those of {other}; expected one of both"));
            }
            (Some(one), Some(other)) => at.key(other, format!("the tasks are those of {one}; expected one of both")),
            (Some("workload"), None) => {}
            (Some(one), None) => {
                // a model has collectives of several patterns
                let own = |key: &&str| one != "llm" || *key != "collectives";
                for key in self.of_files().into_iter().map(|(key, _)| key).filter(own) {
                    at.key(key, format!("the tasks are those of {one}; expected none without workload"));
                }
            }
        }
    }

    /// Reports values that are invalid for any network and any file.
    pub(crate) fn check(&self, at: &mut Report) {
        self.check_source(at);
        if !(1..=1_000_000).contains(&self.iterations) {
            at.value("iterations", self.iterations, "expected 1 to 1000000");
        }
        if self.warmup >= self.iterations {
            at.value("warmup", self.warmup, format!("expected less than iterations, {}", self.iterations));
        }
        if let Some(skew) = self.collective.as_ref().and_then(|own| own.skew)
            && !(skew.is_finite() && skew >= 0.0)
        {
            at.value("collective.skew", skew, "expected a number >= 0");
        }
        if !(1..=1024).contains(&self.ranks_per_host) {
            at.value("ranks_per_host", self.ranks_per_host, "expected 1 to 1024");
        }
        if let Some(gpus) = self.scale_up.as_ref().and_then(|own| own.gpus).filter(|gpus| *gpus < 2) {
            at.value("scale_up.gpus", gpus, "expected at least 2 ranks of a server");
        }
        if let Some(own) = self.scale_up.as_ref().filter(|own| own.rate.0.0 == 0) {
            at.text("scale_up.rate", own.rate, "expected a rate above 0");
        }
        if self.pxn && self.scale_up.is_none() {
            at.value("pxn", true, "expected with scale_up, whose links take messages to the GPU on the other rail");
        }
        if !(1..=MOST_QPS).contains(&self.qps) {
            at.value("qps", self.qps, format!("expected 1 to {MOST_QPS}"));
        }
        if self.qps > 1 && self.connections == Life::Message {
            at.value("qps", self.qps, "each message has a connection of its own; expected none");
        }
        if let Some(llm) = &self.llm {
            llm.check(&mut at.below("llm"));
        }
        for (i, slow) in self.slow.iter().enumerate() {
            if !(slow.calc.is_finite() && slow.calc >= 0.0) {
                at.value(format!("slow.{i}.calc"), slow.calc, "expected a number >= 0: so many times as long");
            }
            if slow.ranks.is_empty() {
                at.key(format!("slow.{i}.ranks"), "missing; expected numbers of ranks, from 0");
            }
        }
    }
}
