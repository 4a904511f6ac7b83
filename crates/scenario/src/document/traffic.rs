//! Senders, receivers and data: patterns with seeded placement, applications, and flows from a file.
//!
//! Placement is keyed by (seed, number of the traffic entry, draw), never by the controller: under
//! one seed all controllers see the same senders and receivers, so comparisons are paired.

use super::app::App;

use crate::document::arrivals::Arrivals;
pub use crate::document::job::HostRef;
use crate::document::job::Job;
use crate::document::roots::Roots;
use crate::document::transport::Transport;
use crate::files::connection_matrix::StartUnit;
use crate::text::controller::Controller;
use crate::text::default::{infinite, microseconds};
use crate::text::quantity::{Rate, Time};
use crate::text::words::{Word, word_of, words};
use incast_engine::spec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One traffic entry: a set of flows that share everything but their ends and start times.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Traffic {
    /// Name in results and in `--set traffic.NAME.key`; default: that of the pattern.
    pub name: Option<String>,
    /// Pattern of senders and receivers.
    pub pattern: PatternName,
    /// Name of an earlier entry, whose flows `elephants` takes.
    pub of: Option<String>,
    /// Selection of the flows taken by `elephants`.
    #[serde(default)]
    pub placement: Placement,
    /// Number of hosts that take part in `all-to-all` and `ring-allreduce`: drawn at random, in the order drawn;
    /// default: all, in the order of their numbers.
    #[schemars(range(min = 2))]
    pub members: Option<u32>,
    /// Opening times of the flows of `all-to-all`.
    #[serde(default)]
    pub order: Order,
    /// Sends all packets of a flow, and its ACKs, on the path that `ecmp` would select, with any `[routing]`;
    /// default: `false`, but `true` for `elephants`.
    pub single_path: Option<bool>,
    /// Number of flows. Defaults: `permutation`: one per host; `pairs`: one per sender; `file` and
    /// `connection-matrix`: all of the file; a number takes the first ones; `poisson`: all that arrive; a number
    /// takes the first ones. Only `elephants` may have 0: a run without them.
    #[schemars(range(min = 0))]
    pub flows: Option<u64>,
    /// Receiver of `hotspot` and `incast`: a host's name or number, `last` or `random`; default: `last`.
    pub receiver: Option<HostRef>,
    /// `hotspot`: treatment of a flow whose sender would be the receiver.
    #[serde(default)]
    pub to_itself: ToItself,
    /// CSV file of the patterns `file` and `matrix`, matrix of `connection-matrix`, or parts of the load of
    /// `poisson`, or tasks of `job`, relative to the scenario file; or `builtin:` and the name of one that comes with
    /// the program.
    pub file: Option<String>,
    /// Unit of the starts in the file of the pattern `connection-matrix`; required, because htsim's programs
    /// disagree.
    pub start_unit: Option<StartUnit>,
    /// Load and sizes of the pattern `poisson`.
    pub arrivals: Option<Arrivals>,
    /// Roots and workers of the pattern `partition-aggregate`.
    pub roots: Option<Roots>,
    /// Ranks of the pattern `job`; its tasks are in `file`, GOAL as text, or a collective, or those of a model.
    pub job: Option<Job>,
    /// Opening of the first flow. For files, `start`, `stagger` and `jitter` are added to the times in the file.
    #[serde(default = "microseconds::<0>")]
    pub start: Time,
    /// Time between the openings of one flow and the next.
    #[serde(default = "microseconds::<0>")]
    pub stagger: Time,
    /// Random part of a flow's opening, uniform from 0 to this.
    #[serde(default = "microseconds::<0>")]
    pub jitter: Time,
    /// Stop of the applications; default: never.
    pub stop: Option<Time>,
    /// Treatment at `stop` of bytes the transport has accepted.
    #[serde(default = "drained")]
    pub at_stop: Word<spec::AtStop>,
    /// Closing of the receiving applications; default: never. A flow with bytes beyond a hole is then reset;
    /// otherwise the receiver sends FIN, and the sender is closed by the first ACK after its own FIN, as in ns-3. Not
    /// with `query`.
    pub sink_stop: Option<Time>,
    /// Deadline for the data of each flow, counted from its beginning: for a transfer with a size from the opening of
    /// its flow, for a closed-loop write from its due time, for the responses to a query from the due time of its
    /// requests. Tables show missed deadlines, and `controller = "d2tcp"` uses them. The column `deadline` of a file
    /// takes precedence.
    pub deadline: Option<Time>,
    /// Distribution of deadlines.
    #[serde(default)]
    pub deadline_draw: DeadlineDraw,
    /// Rate at which receiving applications read; `inf` reads at once.
    #[serde(default = "infinite")]
    pub read_rate: Rate,
    /// Traffic class, where ports have queues for classes.
    #[serde(default)]
    pub class: u8,
    /// Traffic class of its acknowledgements; default: that of its data.
    pub ack_class: Option<u8>,
    /// Sending applications.
    #[serde(default)]
    pub app: App,
    /// Controller; default: the scenario's.
    pub controller: Option<Controller>,
    /// Transport values that differ from `[transport]`; a preset here replaces all of it.
    pub transport: Option<Transport>,
}

fn drained() -> Word<spec::AtStop> {
    Word(spec::AtStop::Drain)
}

/// Patterns of senders and receivers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Pattern")]
pub enum PatternName {
    /// All to one host, by default the last; flow i comes from host i modulo the number of hosts, or from the next
    /// host if that is the receiver.
    Hotspot,
    /// All to one host drawn by the seed; every sender is drawn among the others, with
    /// replacement.
    RandomHotspot,
    /// Every flow's receiver is drawn, then its sender among the others, with replacement.
    RandomPairs,
    /// Every host sends one flow and receives one, no host to itself, drawn uniformly among all
    /// such assignments; with more flows than hosts, one assignment after another.
    Permutation,
    /// Many senders to one receiver at once: distinct hosts in random order; with more flows than hosts the order
    /// starts again.
    Incast,
    /// Many roots with workers: `roots` sets their number, their racks, and the numbers of workers in the root's
    /// rack, in its pod, and elsewhere. The workers of a root are distinct hosts, drawn uniformly.
    PartitionAggregate,
    /// Sender i to receiver i; on a star, source i to the sink. Dumbbell and star only.
    Pairs,
    /// Flows from a CSV file.
    File,
    /// Flows that arrive at random, at a load, with sizes from a table: every host is an independent Poisson process,
    /// and sends each flow to one of the others with equal probability. `arrivals` has the load and the table.
    Poisson,
    /// A flow for every cell above 0 of a traffic matrix: a CSV file with a row per source, a column per destination
    /// and bytes in the cells.
    Matrix,
    /// Flows from a connection matrix of htsim (`.cm`): `file` names it, `start_unit` is the unit of its starts. A
    /// size of 0 means endless; `prio` is a traffic class.
    ConnectionMatrix,
    /// Some flows of another entry (`of`), turned into flows of this one: same hosts and numbers, but application,
    /// controller, transport and times of this entry, and a single path. `placement` selects the flows.
    Elephants,
    /// Every member sends `app.size` to every other; in round r the i-th sends to the one r places after it.
    AllToAll,
    /// Ring all-reduce of a buffer of `app.size` at every member. In each of 2 (n - 1) steps every one of n members
    /// sends an n-th of it to the next member: the part that it received in the step before.
    RingAllreduce,
    /// Training job: `file` has the tasks of its ranks (calculations, sends, receives, and what waits for what), `job`
    /// their hosts. Messages go over connections that stay open, one for each pair of ranks; the tables `jobs`,
    /// `ranks` and `messages` have the results.
    Job,
}

/// Opening times of flows of an all-to-all.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Rounds: a member begins a round when its flow of the previous round is acknowledged.
    #[default]
    Rounds,
    /// All at once.
    AtOnce,
}

/// Selection of the flows that become elephants.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// Drawn uniformly.
    #[default]
    Random,
    /// Drawn uniformly until the most affected 1 % of the other flows (rounded up) are as reported in the paper on
    /// MSwift (section IV.B): with 1 elephant they share a leaf with it at one end and nothing at the other, with 2
    /// or 3 a leaf at one end and a pod at the other, with 6 leaves at both ends. Sources are compared with sources,
    /// destinations with destinations.
    Paper,
}

/// Distribution of deadlines.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DeadlineDraw {
    /// None: every flow has `deadline`.
    #[default]
    None,
    /// Exponentially distributed, with `deadline` as their mean.
    Exponential,
}

/// A flow of `hotspot` whose sender would be its receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ToItself {
    /// Sent by the next host.
    #[default]
    NextHost,
    /// Left out; there are fewer flows.
    Skip,
}

words! {
    /// Treatment of accepted bytes after an application's stop.
    "AtStop" spec::AtStop {
        /// Delivers them, then closes the flow.
        "drain" => spec::AtStop::Drain,
        /// Resets the flow: nothing more is sent.
        "reset" => spec::AtStop::Reset,
    }
}

impl Traffic {
    /// Name in results.
    pub fn name(&self) -> String {
        self.name.clone().unwrap_or_else(|| word_of(&self.pattern))
    }

    /// Key that asks for a traffic class above 0, and the class; or the column of its file that may.
    pub(crate) fn asks_for_class(&self) -> Option<(String, Option<u8>)> {
        match (self.class, self.ack_class, &self.file) {
            (class @ 1.., ..) => Some((format!("traffic.{}.class", self.name()), Some(class))),
            (_, Some(class @ 1..), _) => Some((format!("traffic.{}.ack_class", self.name()), Some(class))),
            (_, _, Some(file)) => Some((format!("{file}: prio"), None)),
            _ => None,
        }
    }

    /// True if its flows keep to one path.
    pub(crate) fn keeps_one_path(&self) -> bool {
        self.single_path.unwrap_or(self.pattern == PatternName::Elephants)
    }
}
