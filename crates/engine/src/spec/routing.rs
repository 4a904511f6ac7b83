//! Routes and routing policies.

use incast_cc::Time;

/// Next hops of a switch, by destination host.
#[derive(Clone, Debug)]
pub enum Router {
    /// Switch of a regular tree: hosts `first .. first + span` lie below, `stride` hosts per port from local port
    /// `down` on; packets to all other hosts go up by any of `ups` local ports from `up` on.
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
        /// Set index by destination host.
        set: Vec<u32>,
        /// Distinct sets; an empty set means unreachable.
        sets: Vec<Vec<u32>>,
    },
    /// Router with detours for some destinations at some times ([`crate::map::failover::reroute`]).
    Rerouted(Box<Rerouted>),
}

/// Router with detours around failures.
#[derive(Clone, Debug)]
pub struct Rerouted {
    /// Router without failures; never [`Router::Rerouted`].
    pub base: Router,
    /// Start times of `detours`, rising; before the first, the base router applies.
    pub starts: Vec<Time>,
    /// Rerouted destinations from each start time on, in ascending order.
    pub detours: Vec<Vec<Detour>>,
    /// Next hops of detours, as local ports in order; empty: unreachable.
    pub sets: Vec<Vec<u32>>,
}

/// Rerouted range of hosts.
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
    /// Detours in use at `time`.
    pub fn at(&self, time: Time) -> &[Detour] {
        let now = self.starts.partition_point(|start| *start <= time);
        now.checked_sub(1).map_or(&[], |i| &self.detours[i])
    }

    /// Set of next hops towards host `dst` at `time`, if a detour applies.
    pub fn set(&self, dst: u32, time: Time) -> Option<u32> {
        let detours = self.at(time);
        let detour = detours.get(detours.partition_point(|d| d.last < dst))?;
        (detour.first <= dst).then_some(detour.set)
    }
}

impl Router {
    /// Router without failures.
    pub fn base(&self) -> &Router {
        match self {
            Router::Rerouted(rerouted) => &rerouted.base,
            router => router,
        }
    }
}

/// List of routing policies, passed to the macro `$to`: each with its parameters and its rule in
/// [`policy`](crate::switch::policy).
macro_rules! policies {
    ($to:ident) => {
        $to! {
            /// Hash of (flow, direction) salted by seed and switch.
            Ecmp => ecmp::Ecmp,
            /// `Ecmp` with symmetric paths: both directions use the same cables, and so do the two flows of a
            /// connection.
            Symmetric => symmetric::Symmetric,
            /// Always the first next hop (ns-3's global routing).
            First => first_path::FirstPath,
            /// Random next hop per packet (IP fragment), uniform at each switch.
            Spray => spray::Spray,
            /// Random path per packet, uniform among the shortest paths.
            SpraySource => spray_source::SpraySource,
            /// Round robin over the paths of a flow and direction, starting at a random path: packet
            /// [`Packet::id`](crate::event::packet::Packet::id) takes path `start + id`. If 65,536 is not a multiple of
            /// the number of paths, the order breaks once in 65,536 packets.
            RoundRobinSource => round_robin_source::RoundRobinSource,
            /// Flowcells (Presto): a flow moves to its next path after every `cell` bytes, starting at a random path.
            Flowcell(cell: u64) => flowcell::Flowcell,
            /// Path chosen by the endpoint: the packet's entropy modulo the number of paths.
            GivenPath => given_path::GivenPath,
            /// Round robin over the next hops at each switch, in an order that is redrawn after `rounds` rounds (htsim:
            /// 5); 0: never.
            RoundRobin(rounds: u32) => round_robin::RoundRobin,
            /// Port in the lowest band, chosen at each switch.
            Adaptive(bands: Adaptive) => adaptive::Adaptive,
            /// Power of two choices: each switch draws two next hops and takes the one whose port holds fewer bytes.
            PowerOfTwo => power_of_two::PowerOfTwo,
            /// Flowlets: a packet that follows the previous one of its flow by more than a gap may take another next
            /// hop.
            Flowlet(flowlet: Flowlet) => flowlet::Flowlet,
            /// `Ecmp` with adaptive rerouting: a packet whose port is in the highest occupied band of its next hops
            /// takes, with this probability, a random one in the lowest band (htsim's `ecmp_host_ar`).
            EcmpAdaptive(bands: Adaptive, probability: f64) => ecmp_adaptive::EcmpAdaptive,
            /// Hash of (flow, direction, entropy) salted by seed and switch. The sender sets the entropy, which travels
            /// with the packet ([`Packet::entropy`](crate::event::packet::Packet::entropy)) and returns with the ACK.
            /// Not supported under [`Ties::Scheduled`](super::Ties::Scheduled).
            Entropy(source: Entropy) => entropy::Entropy,
        }
    };
}
pub(crate) use policies;

macro_rules! choices {
    ($($(#[$doc:meta])+ $name:ident $(($($key:ident: $type:ty),+))? => $file:ident::$rule:ident,)+) => {
        /// Selection among equal-cost next hops.
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
    /// Pause after which a new flowlet begins.
    pub gap: Time,
    /// Criterion of the new next hop. `None`: random (LetFlow). Otherwise a random port of the lowest band, if that
    /// band is below the current port's.
    pub by: Option<Adaptive>,
    /// Probability that a flowlet looks for another next hop.
    pub probability: f64,
}

/// Source of the entropies of data packets.
#[derive(Clone, PartialEq, Debug)]
pub enum Entropy {
    /// Counter per flow with a random start, incremented after each first transmission of a segment. Retransmissions
    /// use its current value.
    Counter,
    /// Recycled entropies (REPS).
    Recycled(Recycled),
    /// Set by the transport's own rule.
    Given,
}

/// REPS (Bonato et al., arXiv 2407.21625).
#[derive(Clone, PartialEq, Debug)]
pub struct Recycled {
    /// Size of the sender's ring of values, at least 1.
    pub ring: u32,
    /// Number of entropy values, 1 to 65,536.
    pub values: u32,
    /// Number of packets with random values after a freeze ends.
    pub explore: u32,
    /// Minimum time for which a timeout freezes the ring.
    pub freeze: Time,
}

/// Properties of a policy that other code needs.
impl PathChoice {
    /// True if packets follow precomputed paths instead of a next hop chosen at every switch.
    pub fn is_by_path(&self) -> bool {
        use PathChoice::{Flowcell, GivenPath, RoundRobinSource, SpraySource};
        matches!(self, SpraySource | RoundRobinSource | Flowcell(_) | GivenPath)
    }

    /// True if packets of one flow use several paths.
    pub fn spreads(&self) -> bool {
        !matches!(self, PathChoice::Ecmp | PathChoice::Symmetric | PathChoice::First)
    }

    /// True if both directions of a flow use the same links.
    pub fn is_symmetric(&self) -> bool {
        matches!(self, PathChoice::Symmetric)
    }

    /// True if all packets take the first next hop.
    pub fn takes_first(&self) -> bool {
        matches!(self, PathChoice::First)
    }

    /// True if switches compare queues as shares of their limits.
    pub fn reads_queues(&self) -> bool {
        match self {
            PathChoice::Adaptive(by) | PathChoice::EcmpAdaptive(by, _) => by.by == Gauged::Queue,
            PathChoice::Flowlet(flowlet) => flowlet.by.is_some(),
            _ => false,
        }
    }

    /// True if senders set the entropies of packets, which switches hash.
    pub fn has_entropy(&self) -> bool {
        matches!(self, PathChoice::Entropy(_) | PathChoice::GivenPath)
    }
}

/// Adaptive routing of htsim's fat-tree switch.
#[derive(Clone, PartialEq, Debug)]
pub struct Adaptive {
    /// Metric by which ports are compared.
    pub by: Gauged,
    /// Lower bounds of the bands above the first, rising, as shares of the queue limit or of the link's rate. Without a
    /// limit or rate a port is in the first band.
    pub bands: Vec<f64>,
    /// Maximum age of a reading. Utilisation is measured from one reading to the next.
    pub refresh: Time,
}

/// Metric of adaptive routing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gauged {
    /// Bytes at the port relative to the queue's limit; the packet in transmission counts in full.
    Queue,
    /// Bytes carried since the last reading relative to the link's rate.
    Utilisation,
}
