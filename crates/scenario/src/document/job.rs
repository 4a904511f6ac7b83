//! Training jobs in a scenario: where ranks are, how often they run through their tasks, which of them are slow.

use crate::text::problem::Report;
use crate::text::quantity::{Rate, Size, Time};
use crate::text::words::{Word, words};
use incast_engine::spec;
use incast_workload::Pattern;
use incast_workload::collective::{Algorithm, Method};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Job of the pattern `job`: tasks of ranks, one rank a host.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Job {
    /// Collective that an iteration consists of; default: the tasks are in `file`.
    pub collective: Option<Collective>,
    /// Hosts of the ranks, of those that no earlier job has.
    #[serde(default)]
    pub placement: RankPlacement,
    /// Hosts of the ranks in their order, by number or name; default: by `placement`.
    pub hosts: Option<Vec<HostRef>>,
    /// Number of iterations. A rank begins the next when it has ended all tasks of one.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub iterations: u32,
    /// End of a send.
    #[serde(default)]
    pub send_done: SendDone,
    /// Links between the GPUs of a server; default: all messages take the network.
    pub scale_up: Option<ScaleUp>,
    /// Ranks whose calculations take longer, or shorter.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slow: Vec<Slow>,
}

impl Default for Job {
    fn default() -> Job {
        let (collective, hosts, scale_up, slow) = (None, None, None, Vec::new());
        let (placement, send_done) = (RankPlacement::default(), SendDone::default());
        Job { collective, placement, hosts, iterations: one(), send_done, scale_up, slow }
    }
}

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
    /// Number of ranks; default: one for each host without a job.
    #[schemars(range(min = 2))]
    pub ranks: Option<u32>,
    /// Algorithm; default: a ring, for an all-to-all `pairwise`, for a broadcast or a reduce `chain`.
    pub algorithm: Option<Word<Algorithm>>,
    /// Channels, each with its share of the data; of `ring`, `tree`, `chain` and `hierarchical`.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1024))]
    pub channels: u32,
    /// Largest part of a step of a ring, or piece of a tree or chain; default: a share is one piece.
    pub chunk: Option<Size>,
    /// Messages of a connection that have started and not ended, of the same algorithms; 0: any number.
    #[serde(default)]
    pub credits: u32,
    /// Rate of a reduction of received data, which then takes a calculation; default: no time.
    pub reduce: Option<Rate>,
    /// Rounds under way of `windowed`.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub window: u32,
    /// Members of a server, of `hierarchical`: ranks k g to k g + g - 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub server: u32,
    /// Order of a ring, each rank once; default: the order of the ranks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<u32>,
}

impl Collective {
    /// Pattern, algorithm and parameters.
    pub(crate) fn method(&self) -> Method {
        let algorithm = self.algorithm.map_or(Algorithm::usual(self.kind.0), |word| word.0);
        Method {
            algorithm,
            channels: self.channels,
            chunk: self.chunk.map(|chunk| chunk.0),
            credits: self.credits,
            reduce: self.reduce.map(|rate| rate.0),
            window: self.window,
            server: self.server,
            order: self.order.clone(),
        }
    }
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
    /// Ranks of a server: ranks k g to k g + g - 1.
    #[schemars(range(min = 2))]
    pub gpus: u32,
    /// Rate of a rank, in each direction.
    pub rate: Rate,
    /// Delay of a message.
    pub delay: Time,
}

impl ScaleUp {
    /// The links for the engine.
    pub(crate) fn spec(&self) -> spec::ScaleUp {
        spec::ScaleUp { gpus: self.gpus, rate: self.rate.0, delay: self.delay.0 }
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
    /// In the order of the hosts: racks are filled one after the other.
    #[default]
    Packed,
    /// One in each rack in turn.
    ByRack,
    /// At equal distances in the order of the hosts.
    Strided,
    /// Drawn at random.
    Random,
}

impl Job {
    /// Reports values that are invalid for any network and any file.
    pub(crate) fn check(&self, at: &mut Report) {
        if !(1..=1_000_000).contains(&self.iterations) {
            at.value("iterations", self.iterations, "expected 1 to 1000000");
        }
        if let Some(own) = self.scale_up.as_ref().filter(|own| own.gpus < 2) {
            at.value("scale_up.gpus", own.gpus, "expected at least 2 ranks of a server");
        }
        if let Some(own) = self.scale_up.as_ref().filter(|own| own.rate.0.0 == 0) {
            at.text("scale_up.rate", own.rate, "expected a rate above 0");
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
