//! Routes and routing policies.

use incast_cc::Time;

/// Next hops of a switch, by destination host.
#[derive(Clone, Debug)]
pub enum Router {
    /// A regular tree: hosts `first .. first + span` lie below, `stride` hosts a port from local
    /// port `down` on; everything else goes up by any of `ups` local ports from `up` on.
    Tree {
        /// First host below.
        first: u32,
        /// Number of hosts below.
        span: u32,
        /// Hosts below each down port.
        stride: u32,
        /// Local port of the first host below.
        down: u32,
        /// First local up port.
        up: u32,
        /// Number of up ports (0 at a root).
        ups: u32,
    },
    /// Next-hop sets: `set[dst]` indexes `sets`, each a list of local ports in order.
    Table {
        /// Per destination host.
        set: Vec<u32>,
        /// Distinct sets; an empty one means unreachable.
        sets: Vec<Vec<u32>>,
    },
    /// Another router, but for some destinations at some times ([`crate::map::failover::reroute`]).
    Rerouted(Box<Rerouted>),
}

/// A router that knows ways around failures.
#[derive(Clone, Debug)]
pub struct Rerouted {
    /// What it does otherwise: no [`Router::Rerouted`] again.
    pub base: Router,
    /// When each of `detours` begins to be used, rising; before the first nothing is different.
    pub starts: Vec<Time>,
    /// Destinations that are routed otherwise, rising.
    pub detours: Vec<Vec<Detour>>,
    /// Next hops of detours, as local ports in order; empty: there is no way.
    pub sets: Vec<Vec<u32>>,
}

/// Hosts that are routed otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Detour {
    /// First host.
    pub first: u32,
    /// Last host.
    pub last: u32,
    /// Index into [`Rerouted::sets`].
    pub set: u32,
}

impl Rerouted {
    /// What is routed otherwise at `time`.
    pub fn at(&self, time: Time) -> &[Detour] {
        let now = self.starts.partition_point(|start| *start <= time);
        now.checked_sub(1).map_or(&[], |i| &self.detours[i])
    }

    /// The set of next hops towards host `dst` at `time`, where that is not the base's business.
    pub fn set(&self, dst: u32, time: Time) -> Option<u32> {
        let detours = self.at(time);
        let detour = detours.get(detours.partition_point(|d| d.last < dst))?;
        (detour.first <= dst).then_some(detour.set)
    }
}

impl Router {
    /// What it does where nothing has failed.
    pub fn base(&self) -> &Router {
        match self {
            Router::Rerouted(rerouted) => &rerouted.base,
            router => router,
        }
    }
}

/// The list of routing policies, given to the macro `$to`: each with the parameters that it has, and with its rule in
/// [`policy`](crate::switch::policy).
macro_rules! policies {
    ($to:ident) => {
        $to! {
            /// Hash of (flow, direction) salted by seed and switch.
            Ecmp => ecmp::Ecmp,
            /// As `Ecmp`, but what goes back passes the links of what comes, the other way; the two flows of a
            /// connection have one way.
            Symmetric => symmetric::Symmetric,
            /// Always the first (ns-3's global routing).
            First => first_path::FirstPath,
            /// Each packet (IP fragment) takes one at random, uniform at each switch.
            Spray => spray::Spray,
            /// Each packet takes one of the shortest paths at random, uniform among the paths.
            SpraySource => spray_source::SpraySource,
            /// Packets of a flow and direction take its paths in turn, from one drawn for it on: number
            /// [`Packet::id`](crate::event::packet::Packet::id) takes path `start + id`, so that the turn is out of
            /// step once in 65,536 packets where these are no multiple of the paths.
            RoundRobinSource => round_robin_source::RoundRobinSource,
            /// Each so many bytes of a flow take the next of its paths, from one drawn for it on (Presto).
            Flowcell(cell: u64) => flowcell::Flowcell,
            /// A packet takes the path of the number that its endpoint gives it: its entropy, counted over and over
            /// again.
            GivenPath => given_path::GivenPath,
            /// Each switch gives its next hops packets in turn, in an order that is drawn anew after so many
            /// rounds (htsim: 5); 0: never.
            RoundRobin(rounds: u32) => round_robin::RoundRobin,
            /// Each switch takes one of the ports in the lowest band.
            Adaptive(bands: Adaptive) => adaptive::Adaptive,
            /// Each switch draws two next hops and takes the one whose port holds fewer bytes.
            PowerOfTwo => power_of_two::PowerOfTwo,
            /// A packet of a flow that follows the one before by more than a gap may take another next hop.
            Flowlet(flowlet: Flowlet) => flowlet::Flowlet,
            /// As `Ecmp`, but with this probability a packet whose port is in the highest of the
            /// bands that its next hops are in takes one in the lowest, at random (htsim's `ecmp_host_ar`).
            EcmpAdaptive(bands: Adaptive, probability: f64) => ecmp_adaptive::EcmpAdaptive,
            /// Hash of (flow, direction, entropy) salted by seed and switch. The entropy is the sender's to give,
            /// travels with the packet ([`Packet::entropy`](crate::event::packet::Packet::entropy)), and comes back
            /// with the ACK: not under [`Ties::Scheduled`](super::Ties::Scheduled).
            Entropy(source: Entropy) => entropy::Entropy,
        }
    };
}
pub(crate) use policies;

macro_rules! choices {
    ($($(#[$doc:meta])+ $name:ident $(($($key:ident: $type:ty),+))? => $file:ident::$rule:ident,)+) => {
        /// Which of several equal-cost next hops a packet takes.
        #[derive(Clone, PartialEq, Debug)]
        pub enum PathChoice {
            $($(#[$doc])+ $name $(($($type),+))?,)+
        }
    };
}
policies!(choices);

/// Flowlet switching.
#[derive(Clone, PartialEq, Debug)]
pub struct Flowlet {
    /// A longer pause begins a flowlet.
    pub gap: Time,
    /// By what the next hop is chosen anew: `None` at random (LetFlow); else one of the lowest band at random, which
    /// must be a lower band than that of the port it has.
    pub by: Option<Adaptive>,
    /// A flowlet looks for another next hop with this probability only.
    pub probability: f64,
}

/// Where the entropies of data packets come from.
#[derive(Clone, PartialEq, Debug)]
pub enum Entropy {
    /// A counter of each flow, from a value drawn for it on: it goes up after each segment that is sent for the first
    /// time. What is sent again has its value as it is.
    Counter,
    /// Recycled entropies (REPS).
    Recycled(Recycled),
    /// Endpoints of transports that have rules of their own.
    Given,
}

/// REPS (Bonato et al., arXiv 2407.21625).
#[derive(Clone, PartialEq, Debug)]
pub struct Recycled {
    /// Values that a sender remembers, at least 1.
    pub ring: u32,
    /// Values that there are, 1 to 65,536.
    pub values: u32,
    /// Packets that take random values once a freeze ends.
    pub explore: u32,
    /// For how long a timeout freezes the ring, at least.
    pub freeze: Time,
}

/// What others ask of a policy. The answers serve for most of them.
impl PathChoice {
    /// Packets are given whole paths, not a next hop at every switch.
    pub fn is_by_path(&self) -> bool {
        use PathChoice::{Flowcell, GivenPath, RoundRobinSource, SpraySource};
        matches!(self, SpraySource | RoundRobinSource | Flowcell(_) | GivenPath)
    }

    /// Packets of one flow take several paths.
    pub fn spreads(&self) -> bool {
        !matches!(self, PathChoice::Ecmp | PathChoice::Symmetric | PathChoice::First)
    }

    /// Packets there and back pass the same links.
    pub fn is_symmetric(&self) -> bool {
        matches!(self, PathChoice::Symmetric)
    }

    /// All packets take the first next hop.
    pub fn takes_first(&self) -> bool {
        matches!(self, PathChoice::First)
    }

    /// Switches compare queues by shares of their limits.
    pub fn reads_queues(&self) -> bool {
        match self {
            PathChoice::Adaptive(by) | PathChoice::EcmpAdaptive(by, _) => by.by == Gauged::Queue,
            PathChoice::Flowlet(flowlet) => flowlet.by.is_some(),
            _ => false,
        }
    }

    /// Senders give packets entropies, which switches hash.
    pub fn has_entropy(&self) -> bool {
        matches!(self, PathChoice::Entropy(_) | PathChoice::GivenPath)
    }
}

/// Adaptive routing as htsim's fat-tree switch has it.
#[derive(Clone, PartialEq, Debug)]
pub struct Adaptive {
    /// What ports are compared by.
    pub by: Gauged,
    /// Lower ends of the bands above the first, rising, as shares of the queue limit or of the link's rate. A
    /// share of nothing is in the first band.
    pub bands: Vec<f64>,
    /// A reading serves until it is older than this. Utilisation is measured from one reading to the next.
    pub refresh: Time,
}

/// What adaptive routing compares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gauged {
    /// What the port holds, the packet in transmission whole, against the queue's limit.
    Queue,
    /// What the link has carried since the last reading, against its rate.
    Utilisation,
}
