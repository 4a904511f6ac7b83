//! Policies that choose among equally short routes.

use crate::problem::Problem;
use crate::quantity::{Auto, Time};
use crate::queue::Queue;
use incast_cc as cc;
use incast_engine::spec::{self, PathChoice};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Choice among equally short routes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Routing {
    /// Per-flow equal-cost multipath: every switch picks by a hash of flow and direction, salted
    /// by the seed and its own number.
    Ecmp {},
    /// Always the first of the equal routes, as ns-3's global routing does: in a fat tree only
    /// core 0 and the first aggregation switch of every pod carry traffic between edges.
    FirstPath {},
    /// Random packet spraying: every switch picks for each packet, uniformly among its next hops.
    Spray {
        /// What ACKs do.
        #[serde(default)]
        acks: Acks,
    },
    /// A random source route for each packet, uniform among the shortest paths. In a regular tree that is what `spray`
    /// does; in a graph a next hop is taken the more often the more paths go on from it.
    SpraySource {
        /// What ACKs do.
        #[serde(default)]
        acks: Acks,
    },
    /// ns-3's `RandomEcmpRouting`: every switch picks for each IP packet, fragments and ACKs included. The rule is that
    /// of `spray`.
    Ns3PerPacket {},
    /// Next hops or paths in turn.
    RoundRobin {
        /// Who counts.
        #[serde(default)]
        at: Counter,
        /// At switches: rounds after which the order of the next hops is drawn anew (htsim: 5); 0 never does.
        #[serde(default = "five")]
        rounds: u32,
        /// What ACKs do.
        #[serde(default)]
        acks: Acks,
    },
    /// Adaptive routing: every switch compares its ports by coarse bands, and picks for each packet one in the lowest,
    /// at random (htsim).
    Adaptive {
        /// What ports are compared by.
        #[serde(default)]
        by: By,
        /// Lower ends of the bands above the first, rising: shares of the queue's limit, or of the link's rate. A port
        /// with nothing is in the first band. `auto`: 0.05, 0.1, 0.2 of the queue, or 0, 0.15, 0.5 of the rate (htsim).
        #[serde(default)]
        bands: Auto<Vec<f64>>,
        /// Age above which a reading is taken anew; of utilisation, the least time it is measured over. `auto`: 100 ns,
        /// or 30 us (htsim).
        #[serde(default)]
        refresh: Auto<Time>,
        /// What ACKs do.
        #[serde(default)]
        acks: Acks,
    },
    /// Power of two choices: every switch draws two next hops for each packet and takes the one whose port holds
    /// fewer bytes.
    PowerOfTwo {
        /// What ACKs do.
        #[serde(default)]
        acks: Acks,
    },
}

/// Paths of ACKs where data is spread.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Acks {
    /// As data.
    #[default]
    AsData,
    /// One path a flow, by `ecmp`'s hash.
    Ecmp,
}

/// Who takes turns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Counter {
    /// Every flow and direction sends its packets over all its paths in turn, from a path drawn for it on. Exact; only
    /// where 65,536 is no multiple of its paths the turn is out of step once in so many packets.
    #[default]
    Source,
    /// Every switch gives its next hops packets in turn, whatever flow they belong to.
    Switch,
}

/// What adaptive routing compares ports by.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum By {
    /// What a port holds, the packet in transmission whole, as a share of the queue's limit.
    #[default]
    Queue,
    /// What its link has carried since the last reading, as a share of its rate.
    Utilisation,
}

impl Default for Routing {
    fn default() -> Routing {
        Routing::Ecmp {}
    }
}

fn five() -> u32 {
    5
}

/// Bands that are told apart at most.
const MOST_BANDS: usize = 16;

impl Routing {
    fn acks(&self) -> Acks {
        match self {
            Routing::Ecmp {} | Routing::FirstPath {} | Routing::Ns3PerPacket {} => Acks::AsData,
            Routing::Spray { acks }
            | Routing::SpraySource { acks }
            | Routing::RoundRobin { acks, .. }
            | Routing::Adaptive { acks, .. }
            | Routing::PowerOfTwo { acks } => *acks,
        }
    }

    /// ACKs take one path a flow although data does not.
    pub(crate) fn acks_by_flow(&self) -> bool {
        self.acks() == Acks::Ecmp
    }

    /// The engine's policy.
    pub(crate) fn choice(&self) -> PathChoice {
        match self {
            Routing::Ecmp {} => PathChoice::Ecmp,
            Routing::FirstPath {} => PathChoice::First,
            Routing::Spray { .. } | Routing::Ns3PerPacket {} => PathChoice::Spray,
            Routing::SpraySource { .. } => PathChoice::SpraySource,
            Routing::RoundRobin { at: Counter::Source, .. } => PathChoice::RoundRobinSource,
            Routing::RoundRobin { at: Counter::Switch, rounds, .. } => PathChoice::RoundRobin { rounds: *rounds },
            Routing::PowerOfTwo { .. } => PathChoice::PowerOfTwo,
            Routing::Adaptive { by, bands, refresh, .. } => {
                let (by, usual, old): (_, &[f64], _) = match by {
                    By::Queue => (spec::Gauged::Queue, &[0.05, 0.1, 0.2], cc::Time::ns(100)),
                    By::Utilisation => (spec::Gauged::Utilisation, &[0.0, 0.15, 0.5], cc::Time::us(30)),
                };
                let bands = bands.clone().given().unwrap_or_else(|| usual.to_vec());
                PathChoice::Adaptive(spec::Adaptive { by, bands, refresh: refresh.given().map_or(old, |t| t.0) })
            }
        }
    }

    /// Bounds that types do not give.
    pub(crate) fn check(&self, queue: &Queue, out: &mut Vec<Problem>) {
        let Routing::Adaptive { by, bands, refresh, .. } = self else { return };
        if let Auto::Given(bands) = bands {
            let rising = bands.windows(2).all(|b| b[0] < b[1]);
            let shares = bands.iter().all(|b| (0.0..=1.0).contains(b));
            if bands.is_empty() || bands.len() > MOST_BANDS || !rising || !shares {
                let message = format!(
                    "expected 1 to {MOST_BANDS} shares from 0 to 1, each above the one before, such as [0.05, 0.1, 0.2]"
                );
                out.push(Problem::with_value("routing.bands", format!("{bands:?}"), message));
            }
        }
        match by {
            By::Queue if queue.is_endless() => {
                let message = "bands are shares of the queue's limit, and queue.limit is \"none\"; expected a limit \
                               there, or \"utilisation\" here";
                out.push(Problem::with_value("routing.by", "\"queue\"", message));
            }
            By::Utilisation if refresh.given().is_some_and(|t| t.0 == cc::Time::ZERO) => {
                let message = "utilisation is measured over this time; expected a time above 0";
                out.push(Problem::with_value("routing.refresh", "\"0s\"", message));
            }
            _ => {}
        }
    }
}
