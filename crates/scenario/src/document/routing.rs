//! Policies that choose among equally short routes.

use crate::document::queue::Queue;
use crate::text::default::{bytes, microseconds, number, thousandths};
use crate::text::problem::Report;
use crate::text::quantity::{Auto, Size, Time};
use crate::text::words::{Word, words};
use incast_cc as cc;
use incast_engine::spec::{self, PathChoice};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Declares the policies, each with its documentation, its keys, `acks` if ACKs may be routed differently from data,
/// and the engine's policy.
macro_rules! policies {
    ($(
        $(#[$doc:meta])+
        $name:ident { $($(#[$about:meta])+ $key:ident: $type:ty,)* } $($acks:ident)? => $choice:expr,
    )+) => {
        /// Choice among equally short routes.
        #[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "kind", rename_all = "kebab-case")]
        pub enum Routing {
            $($(#[$doc])+ $name {
                $($(#[$about])+ $key: $type,)*
                $(
                    /// Routing of ACKs.
                    #[serde(default)]
                    $acks: Acks,
                )?
            },)+
        }

        impl Routing {
            /// True if each flow's ACKs take one path although data does not.
            pub(crate) fn acks_by_flow(&self) -> bool {
                match self {
                    $($(Routing::$name { $acks, .. } => *$acks == Acks::Ecmp,)?)+
                    _ => false,
                }
            }

            /// The engine's policy.
            pub(crate) fn choice(&self) -> PathChoice {
                match self {
                    $(Routing::$name { $($key,)* .. } => $choice,)+
                }
            }
        }
    };
}

policies! {
    /// Per-flow equal-cost multipath: every switch selects by a hash of flow and direction, salted by the seed and
    /// its own number.
    Ecmp {
        /// ACKs take the links of their data in reverse; so do the two flows of a two-way connection. Otherwise each
        /// direction has its own hash.
        #[serde(default)]
        symmetric: bool,
    } => if *symmetric { PathChoice::Symmetric } else { PathChoice::Ecmp },
    /// Always the first of the equal routes, as in ns-3's global routing: in a fat tree only core 0 and the first
    /// aggregation switch of every pod carry traffic between edges.
    FirstPath {} => PathChoice::First,
    /// Random packet spraying: every switch selects a next hop for each packet, uniformly.
    Spray {
        /// Selection of a next hop by a switch.
        #[serde(default)]
        by: SprayBy,
    } acks => match by {
        SprayBy::Counter => PathChoice::Entropy(spec::Entropy::Counter),
        SprayBy::Random => PathChoice::Spray,
    },
    /// A random source route for each packet, uniform among the shortest paths. In a regular tree this equals `spray`;
    /// in a graph a next hop gets packets in proportion to the paths behind it.
    SpraySource {} acks => PathChoice::SpraySource,
    /// ns-3's `RandomEcmpRouting`: every switch selects for each IP packet, fragments and ACKs included. The rule is
    /// that of `spray`.
    Ns3PerPacket {} => PathChoice::Spray,
    /// Next hops or paths in turn.
    RoundRobin {
        /// Place of the packet counter.
        #[serde(default)]
        at: Counter,
        /// At switches: rounds after which the order of the next hops is drawn anew (htsim: 5); 0: never.
        #[serde(default = "number::<5>")]
        rounds: u32,
    } acks => match at {
        Counter::Source => PathChoice::RoundRobinSource,
        Counter::Switch => PathChoice::RoundRobin(*rounds),
    },
    /// Adaptive routing: every switch compares its ports by coarse load bands, and selects for each packet a random
    /// port of the lowest band (htsim).
    Adaptive {
        /// Comparison of ports.
        #[serde(flatten)]
        comparison: Comparison,
    } acks => PathChoice::Adaptive(comparison.spec()),
    /// Power of two choices: every switch draws two next hops for each packet and selects the one with fewer bytes
    /// queued at its port.
    PowerOfTwo {} acks => PathChoice::PowerOfTwo,
    /// Flowlet switching: a packet that follows the previous one of its flow after more than a gap may take another
    /// next hop (LetFlow, CONGA).
    Flowlet {
        /// Shortest pause of a flow at a switch that begins a new flowlet.
        #[serde(default = "microseconds::<10>")]
        gap: Time,
        /// Selection of the next hop of a flowlet. `bands` and `refresh` are for `adaptive`, and refer to queues.
        #[serde(default)]
        by: FlowletBy,
        /// Probability that a flowlet looks for another next hop (htsim: 0.5).
        #[serde(default = "thousandths::<1000>")]
        probability: f64,
        /// With `by = "adaptive"`: readings of ports.
        #[serde(flatten)]
        readings: Readings,
    } acks => PathChoice::Flowlet(spec::Flowlet {
        gap: gap.0,
        by: (*by == FlowletBy::Adaptive).then(|| readings.spec(spec::Gauged::Queue)),
        probability: *probability,
    }),
    /// Flowcells: each 64 KiB of a flow takes the next of its paths (Presto).
    Flowcell {
        /// Bytes of a flowcell.
        #[serde(default = "bytes::<65_536>")]
        cell: Size,
    } acks => PathChoice::Flowcell(cell.0.0),
    /// Adaptive ECMP: some of the packets whose port is in the most loaded band take a port of the least loaded one
    /// (htsim's `ecmp_host_ar`).
    EcmpAdaptive {
        /// Share of the packets for which a switch compares its ports.
        #[serde(default = "thousandths::<500>")]
        probability: f64,
        /// Comparison of ports.
        #[serde(flatten)]
        comparison: Comparison,
    } acks => PathChoice::EcmpAdaptive(comparison.spec(), *probability),
    /// The transport's own choice: endpoints of NDP, EQDS and UET give each packet a path or an entropy.
    Transport {
        /// Kind of the endpoints' choice.
        #[serde(default)]
        by: GivenBy,
    } => match by {
        GivenBy::Path => PathChoice::GivenPath,
        GivenBy::Entropy => PathChoice::Entropy(spec::Entropy::Given),
    },
    /// Recycled entropy packet spraying: senders give every packet an entropy that switches hash, and reuse entropies
    /// returned without a mark.
    Reps {
        /// Number of entropies that a sender remembers.
        #[serde(default = "number::<8>")]
        #[schemars(range(min = 1, max = 1024))]
        ring: u32,
        /// Number of different entropies.
        #[serde(default = "number::<65_536>")]
        #[schemars(range(min = 1, max = 65536))]
        values: u32,
        /// Number of packets with random entropies after a freeze.
        #[serde(default = "number::<16>")]
        explore: u32,
        /// Shortest freeze of the ring after a timeout: packets then take its entropies in turn.
        #[serde(default = "microseconds::<10_000>")]
        freeze: Time,
    } acks => PathChoice::Entropy(spec::Entropy::Recycled(spec::Recycled {
        ring: *ring,
        values: *values,
        explore: *explore,
        freeze: freeze.0,
    })),
}

/// Comparison of ports by a switch.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Comparison {
    /// Load by which ports are compared.
    #[serde(default = "by_queue")]
    by: Word<spec::Gauged>,
    /// Readings of the load.
    #[serde(flatten)]
    readings: Readings,
}

/// Coarse readings of ports; flowlets take them of queues, and only with `by = "adaptive"`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Readings {
    /// Lower ends of the bands above the first, in ascending order: shares of the queue's limit, or of the link's
    /// rate. A port without load is in the first band. `auto`: 0.05, 0.1, 0.2 of the queue, or 0, 0.15, 0.5 of the
    /// rate (htsim).
    #[serde(default)]
    bands: Auto<Vec<f64>>,
    /// Age above which the load is read again; for utilisation, the shortest time over which it is measured. `auto`:
    /// 100 ns, or 30 us (htsim).
    #[serde(default)]
    refresh: Auto<Time>,
}

/// Source of the randomness of spraying.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SprayBy {
    /// A random number for the packet at every switch.
    #[default]
    Random,
    /// A hash of flow, switch and the flow's entropy, which grows by one with every new segment; a retransmission has
    /// the current value, an ACK that of the latest data packet (htsim, in the fork of the MSwift paper).
    Counter,
}

/// Choice of endpoints for their packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GivenBy {
    /// The number of one of the shortest paths, which the packet takes.
    #[default]
    Path,
    /// An entropy, which every switch hashes with flow, direction and its own number.
    Entropy,
}

/// Selection rule of flowlets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlowletBy {
    /// At random (LetFlow).
    #[default]
    Hash,
    /// At random among the ports of the lowest band, if that is below the band of the current port (htsim).
    Adaptive,
}

/// Paths of ACKs if data is spread.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Acks {
    /// As data.
    #[default]
    AsData,
    /// One path per flow, by `ecmp`'s hash.
    Ecmp,
}

/// Place of the packet counter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Counter {
    /// Every flow and direction sends its packets over all its paths in turn, starting with a random one. Exact,
    /// except for one irregularity per 65,536 packets if 65,536 is not a multiple of the number of paths.
    #[default]
    Source,
    /// Every switch sends packets to its next hops in turn, regardless of their flow.
    Switch,
}

words! {
    /// Load by which adaptive routing compares ports.
    "By" spec::Gauged {
        /// Bytes at the port, the packet in transmission whole, as a share of the queue's limit.
        "queue" => spec::Gauged::Queue,
        /// Bytes carried by the link since the last reading, as a share of its rate.
        "utilisation" => spec::Gauged::Utilisation,
    }
}

fn by_queue() -> Word<spec::Gauged> {
    Word(spec::Gauged::Queue)
}

impl Default for Routing {
    fn default() -> Routing {
        Routing::Ecmp { symmetric: false }
    }
}

impl Readings {
    /// Specification for the engine, by the load that is compared.
    fn spec(&self, by: spec::Gauged) -> spec::Adaptive {
        let (usual, old): (&[f64], _) = match by {
            spec::Gauged::Queue => (&[0.05, 0.1, 0.2], cc::Time::ns(100)),
            spec::Gauged::Utilisation => (&[0.0, 0.15, 0.5], cc::Time::us(30)),
        };
        let bands = self.bands.clone().given().unwrap_or_else(|| usual.to_vec());
        spec::Adaptive { by, bands, refresh: self.refresh.given().map_or(old, |t| t.0) }
    }
}

impl Comparison {
    fn spec(&self) -> spec::Adaptive {
        self.readings.spec(self.by.0)
    }
}

/// Largest number of bands.
const MAX_BANDS: usize = 16;

impl Routing {
    /// Notes values without effect; `spec` is built from the scenario.
    pub(crate) fn without_effect(&self, spec: &spec::Spec, found: &mut Vec<String>) {
        match self {
            Routing::RoundRobin { at: Counter::Source, rounds, .. } if *rounds != number::<5>() => {
                found.push(format!("routing.rounds = {rounds} does nothing with at = \"source\""));
            }
            Routing::Adaptive { comparison, .. } | Routing::EcmpAdaptive { comparison, .. }
                if comparison.by.0 == spec::Gauged::Utilisation
                    && spec.links.iter().all(|l| l.from.min(l.to) < spec.hosts || l.rate == cc::Rate::INFINITE) =>
            {
                found.push(
                    "routing.by = \"utilisation\" compares nothing: no link between switches has a finite rate".into(),
                );
            }
            _ => {}
        }
    }

    /// Reports values outside bounds that types do not express.
    pub(crate) fn check(&self, queue: &Queue, at: &mut Report) {
        if let Routing::Flowlet { probability, .. } | Routing::EcmpAdaptive { probability, .. } = self
            && !(0.0..=1.0).contains(probability)
        {
            at.value("probability", probability, "expected a number from 0 to 1");
        }
        if let Routing::Flowcell { cell, .. } = self
            && cell.0.0 == 0
        {
            at.text("cell", cell, "expected at least 1B");
        }
        let (by, Readings { bands, refresh }) = match self {
            Routing::Adaptive { comparison, .. } | Routing::EcmpAdaptive { comparison, .. } => {
                (comparison.by.0, &comparison.readings)
            }
            Routing::Flowlet { by: FlowletBy::Adaptive, readings, .. } => (spec::Gauged::Queue, readings),
            Routing::Flowlet { readings, .. } => {
                let none = |what| format!("{what} are of ports, and by = \"hash\" looks at none; expected \"auto\"");
                if let Auto::Given(bands) = &readings.bands {
                    at.value("bands", format!("{bands:?}"), none("bands"));
                }
                if let Auto::Given(refresh) = readings.refresh {
                    at.text("refresh", refresh, none("readings"));
                }
                return;
            }
            _ => return,
        };
        if let Auto::Given(bands) = bands {
            let rising = bands.windows(2).all(|b| b[0] < b[1]);
            let shares = bands.iter().all(|b| (0.0..=1.0).contains(b));
            if bands.is_empty() || bands.len() > MAX_BANDS || !rising || !shares {
                let message = format!(
                    "expected 1 to {MAX_BANDS} shares from 0 to 1, each above the one before, such as [0.05, 0.1, 0.2]"
                );
                at.value("bands", format!("{bands:?}"), message);
            }
        }
        match (by, queue.endless("queue")) {
            (spec::Gauged::Queue, Some(why)) => {
                // flowlets compare queues only
                let (by, or) = match self {
                    Routing::Flowlet { .. } => ("adaptive", "hash"),
                    _ => ("queue", "utilisation"),
                };
                let message = format!(
                    "bands are shares of the queue's limit, and {why}; expected a limit there, or \"{or}\" here"
                );
                at.text("by", by, message);
            }
            (spec::Gauged::Utilisation, _) if refresh.given().is_some_and(|t| t.0 == cc::Time::ZERO) => {
                at.text("refresh", "0s", "utilisation is measured over this time; expected a time above 0");
            }
            _ => {}
        }
    }
}
