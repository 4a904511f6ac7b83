//! Algorithms of collectives, and their parameters.

use crate::text::default::number;
use crate::text::quantity::{Rate, Size};
use crate::text::words::Word;
use incast_workload::Pattern;
use incast_workload::collective::{self, Algorithm, Methods};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Algorithm of a collective, and its parameters.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Method {
    /// Algorithm; default: a ring, for an all-to-all `pairwise`, for a broadcast or a reduce `chain`.
    pub algorithm: Option<Word<Algorithm>>,
    /// Channels, each with its share of the data; of `ring`, `tree`, `chain` and `hierarchical`.
    #[serde(default = "number::<1>")]
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
    #[serde(default = "number::<1>")]
    #[schemars(range(min = 1))]
    pub window: u32,
    /// Members of a server, of `hierarchical`: ranks k g to k g + g - 1.
    #[serde(default = "number::<1>")]
    #[schemars(range(min = 1))]
    pub server: u32,
    /// Order of a ring, each rank once; default: the order of the ranks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<u32>,
}

impl Method {
    /// Algorithm and parameters for the collectives of a pattern.
    pub(crate) fn of(&self, pattern: Pattern) -> collective::Method {
        collective::Method {
            algorithm: self.algorithm.map_or(Algorithm::usual(pattern), |word| word.0),
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

/// Algorithms of the collectives of a file, by pattern.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[serde(rename_all = "kebab-case")]
pub struct Collectives {
    /// Of all-reduces.
    pub all_reduce: Option<Method>,
    /// Of reduce-scatters.
    pub reduce_scatter: Option<Method>,
    /// Of all-gathers.
    pub all_gather: Option<Method>,
    /// Of all-to-alls.
    pub all_to_all: Option<Method>,
    /// Of broadcasts.
    pub broadcast: Option<Method>,
    /// Of reductions at one rank.
    pub reduce: Option<Method>,
    /// Of barriers.
    pub barrier: Option<Method>,
}

impl Collectives {
    /// Methods of all patterns: the usual one where none is given.
    pub(crate) fn methods(&self) -> Methods {
        let mut methods = Methods::default();
        let given = [
            (Pattern::AllReduce, &self.all_reduce),
            (Pattern::ReduceScatter, &self.reduce_scatter),
            (Pattern::AllGather, &self.all_gather),
            (Pattern::AllToAll, &self.all_to_all),
            (Pattern::Broadcast, &self.broadcast),
            (Pattern::Reduce, &self.reduce),
            (Pattern::Barrier, &self.barrier),
        ];
        for (pattern, method) in given {
            if let Some(method) = method {
                methods.choose(pattern, method.of(pattern));
            }
        }
        methods
    }
}
