//! Who sends what to whom: patterns with seeded placement, applications, and flows from a file.
//!
//! Placement is keyed by (seed, number of the traffic entry, draw), never by the controller: under
//! one seed all controllers see the same senders and receivers, so comparisons are paired.

use super::app::App;

use crate::document::arrivals::Arrivals;
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
    /// Name in results and in `--set traffic.NAME.key`; the pattern's where there is none.
    pub name: Option<String>,
    /// Who sends to whom.
    pub pattern: PatternName,
    /// Name of the entry before this one whose flows `elephants` takes.
    pub of: Option<String>,
    /// Which flows `elephants` takes.
    #[serde(default)]
    pub placement: Placement,
    /// Number of hosts that take part in `all-to-all` and `ring-allreduce`: they are drawn, in the order drawn; unless
    /// given all, in the order of their numbers.
    #[schemars(range(min = 2))]
    pub members: Option<u32>,
    /// When the flows of `all-to-all` open.
    #[serde(default)]
    pub order: Order,
    /// Packets of a flow, and its ACKs, take the path that `ecmp` would give them, with any `[routing]`; `false` unless
    /// given, except for `elephants`.
    pub single_path: Option<bool>,
    /// Number of flows. `permutation`: one a host unless given; `pairs`: one a sender unless
    /// given; `file` and `connection-matrix`: as many as the file has unless given, otherwise its first ones;
    /// `poisson`: all that arrive unless given, otherwise the first. 0 of `elephants` alone: a run without them.
    #[schemars(range(min = 0))]
    pub flows: Option<u64>,
    /// Receiver of `hotspot` and `incast`: a host's name or number, `last` or `random`; `last`
    /// unless given.
    pub receiver: Option<HostRef>,
    /// `hotspot`: what becomes of a flow whose sender would be the receiver.
    #[serde(default)]
    pub to_itself: ToItself,
    /// CSV file of the patterns `file` and `matrix`, matrix of `connection-matrix`, or parts of the load of `poisson`,
    /// relative to the scenario file; or `builtin:` and the name of one that comes with the program.
    pub file: Option<String>,
    /// Unit of the starts in the file of the pattern `connection-matrix`; must be given, htsim's programs disagree.
    pub start_unit: Option<StartUnit>,
    /// Load and sizes of the pattern `poisson`.
    pub arrivals: Option<Arrivals>,
    /// Roots and workers of the pattern `partition-aggregate`.
    pub roots: Option<Roots>,
    /// When the first flow opens. Of a file, `start`, `stagger` and `jitter` are added to its times.
    #[serde(default = "microseconds::<0>")]
    pub start: Time,
    /// Time between the openings of one flow and the next.
    #[serde(default = "microseconds::<0>")]
    pub stagger: Time,
    /// Random part of a flow's opening, uniform from 0 to this.
    #[serde(default = "microseconds::<0>")]
    pub jitter: Time,
    /// When the applications stop; never, unless given.
    pub stop: Option<Time>,
    /// What happens at `stop` to bytes the transport has accepted.
    #[serde(default = "drained")]
    pub at_stop: Word<spec::AtStop>,
    /// When the receiving applications close; never, unless given. A flow with bytes beyond a hole
    /// is then reset; otherwise the receiver says FIN, and the sender is closed by the first ACK after its own FIN, as
    /// in ns-3. Not with `query`.
    pub sink_stop: Option<Time>,
    /// By when what each flow moves is to be there, counted from its beginning: a transfer of a size from the opening
    /// of its flow, a closed-loop write from when it is due, the responses to a query from when its requests are.
    /// Tables tell which were missed, and `controller = "d2tcp"` goes by it. Of a file, its column `deadline` comes
    /// first.
    pub deadline: Option<Time>,
    /// Whether all have that deadline, or each draws its own.
    #[serde(default)]
    pub deadline_draw: DeadlineDraw,
    /// Rate at which receiving applications read; `inf` reads at once.
    #[serde(default = "infinite")]
    pub read_rate: Rate,
    /// Traffic class, where ports have queues for classes.
    #[serde(default)]
    pub class: u8,
    /// Traffic class of its acknowledgements; that of its data unless given.
    pub ack_class: Option<u8>,
    /// What sending applications do.
    #[serde(default)]
    pub app: App,
    /// Controller, where it is not the scenario's.
    pub controller: Option<Controller>,
    /// Transport values that differ from `[transport]`; a preset here replaces all of it.
    pub transport: Option<Transport>,
}

fn drained() -> Word<spec::AtStop> {
    Word(spec::AtStop::Drain)
}

/// Who sends to whom.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Pattern")]
pub enum PatternName {
    /// All to one host, the last unless `receiver` says otherwise; flow i comes from host i modulo
    /// the number of hosts, or from the next host where that is the receiver.
    Hotspot,
    /// All to one host drawn by the seed; every sender is drawn among the others, with
    /// replacement.
    RandomHotspot,
    /// Every flow's receiver is drawn, then its sender among the others, with replacement.
    RandomPairs,
    /// Every host sends one flow and receives one, no host to itself, drawn uniformly among all
    /// such assignments; with more flows than hosts, one assignment after another.
    Permutation,
    /// Many senders to one receiver at once: distinct hosts in random order, again from the first
    /// when there are more flows than hosts.
    Incast,
    /// Many roots, each with workers that answer it: `roots` says how many, in which racks, and how many workers are in
    /// the root's rack, in its pod, and elsewhere. The workers of a root are distinct hosts, drawn uniformly.
    PartitionAggregate,
    /// Sender i to receiver i; on a star, source i to the sink. Dumbbell and star only.
    Pairs,
    /// Flows from a CSV file.
    File,
    /// Flows that arrive at random, at a load, with sizes from a table: every host is a Poisson process of its own, and
    /// sends each flow to one of the others with equal probability. `arrivals` has the load and the table.
    Poisson,
    /// A flow for every cell above 0 of a traffic matrix, a CSV file with a row a source, a column a destination and
    /// bytes in the cells.
    Matrix,
    /// Flows from a connection matrix of htsim (`.cm`): `file` names it, `start_unit` is the unit of its starts. A size
    /// of 0 is without end; `prio` is a traffic class.
    ConnectionMatrix,
    /// Some flows of another entry (`of`), turned into flows of this one: same hosts and numbers, but application,
    /// controller, transport and times of this entry, and a single path. `placement` decides which flows.
    Elephants,
    /// Every member sends `app.size` to every other; in round r the i-th sends to the one r places after it.
    AllToAll,
    /// Ring all-reduce of a buffer of `app.size` that every member has. In each of 2 (n - 1) steps every one of n
    /// members sends an n-th of it to the next member: the part that it received in the step before.
    RingAllreduce,
}

/// When flows of an all-to-all open.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// A member begins a round when its flow of the round before is acknowledged.
    #[default]
    Rounds,
    /// All at once.
    AtOnce,
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

/// Which flows become elephants.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// Drawn uniformly.
    #[default]
    Random,
    /// Drawn uniformly until the most affected 1 % of the other flows (rounded up) are as the paper on MSwift reports
    /// them (section IV.B): with 1 elephant they share a leaf with it at one end and nothing at the other, with 2 or 3
    /// a leaf at one end and a pod at the other, with 6 leaves at both ends. Sources are compared with sources,
    /// destinations with destinations.
    Paper,
}

/// How deadlines are drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DeadlineDraw {
    /// Not at all: `deadline` is that of each.
    #[default]
    None,
    /// Exponentially distributed, with `deadline` as their mean.
    Exponential,
}

/// A flow of `hotspot` whose sender would be its receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ToItself {
    /// It comes from the next host.
    #[default]
    NextHost,
    /// It is left out, and there are fewer flows.
    Skip,
}

words! {
    /// After an application's stop.
    "AtStop" spec::AtStop {
        /// They are still delivered, then the flow closes.
        "drain" => spec::AtStop::Drain,
        /// The flow is reset: nothing more is sent.
        "reset" => spec::AtStop::Reset,
    }
}

impl Traffic {
    /// Name in results.
    pub fn name(&self) -> String {
        self.name.clone().unwrap_or_else(|| word_of(&self.pattern))
    }

    /// The key that asks for a traffic class above 0, and the class, or the column of its file that may.
    pub(crate) fn asks_for_class(&self) -> Option<(String, Option<u8>)> {
        match (self.class, self.ack_class, &self.file) {
            (class @ 1.., ..) => Some((format!("traffic.{}.class", self.name()), Some(class))),
            (_, Some(class @ 1..), _) => Some((format!("traffic.{}.ack_class", self.name()), Some(class))),
            (_, _, Some(file)) => Some((format!("{file}: prio"), None)),
            _ => None,
        }
    }

    /// Whether its flows keep to one path.
    pub(crate) fn keeps_one_path(&self) -> bool {
        self.single_path.unwrap_or(self.pattern == PatternName::Elephants)
    }
}
