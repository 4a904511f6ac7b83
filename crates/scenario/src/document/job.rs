//! Training jobs in a scenario: where ranks are, how often they run through their tasks, which of them are slow.

use crate::text::problem::Report;
use incast_engine::spec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Job of the pattern `job`: tasks of ranks, one rank a host.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Job {
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
    /// Ranks whose calculations take longer, or shorter.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slow: Vec<Slow>,
}

fn one() -> u32 {
    1
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
