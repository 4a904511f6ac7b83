//! Queues, disciplines, shared buffers and priority flow control.

use super::LinkSpec;
use super::words::words;

/// Shared buffer of a switch with dynamic thresholds ([`Pool`](crate::port::buffer::Pool)).
#[derive(Clone, PartialEq, Debug)]
pub struct BufferSpec {
    /// Total size, in bytes.
    pub size: u64,
    /// Dynamic threshold: a queue accepts an arrival while its shared part is below `alpha` times the free space.
    pub alpha: f64,
    /// Bytes reserved for every queue.
    pub reserve: u64,
    /// A packet occupies the buffer until the end of its transmission; otherwise until its beginning.
    pub count_in_service: bool,
    /// Bytes of lossless packets beyond which arrivals are dropped, whatever their accounts have left; `None`: no
    /// limit.
    pub egress: Option<u64>,
    /// Priority flow control; `None`: packets that do not fit are dropped.
    pub pfc: Option<PfcSpec>,
}

/// Priority flow control ([`pfc`](crate::node::pfc)): buffered bytes are counted per class and ingress link, and the
/// neighbour at that link is paused.
#[derive(Clone, PartialEq, Debug)]
pub struct PfcSpec {
    /// Lossless classes: paused instead of dropped, and exempt from the dynamic thresholds and reserves of their
    /// queues. All ports have the same number of classes.
    pub lossless: Vec<bool>,
    /// Pause threshold of an account in the shared part; `None`: an eighth of the free space for links not faster than
    /// the median host link, doubled for every doubling of the rate, at most all of it.
    pub threshold: Option<Threshold>,
    /// Bytes reserved for every account.
    pub reserve: u64,
    /// Headroom of every account above the threshold.
    pub headroom: Headroom,
    /// Resume margin: the neighbour resumes when the account is this far below the threshold, in bytes.
    pub margin: u64,
    /// Rule of pauses.
    pub rule: PfcRule,
    /// Reserves and headrooms are added to the buffer's size, not taken out of it.
    pub on_top: bool,
}

words! {
    /// Rule by which a switch pauses its neighbours.
    PfcRule {
        /// A pause when the headroom is in use, or the share has reached the threshold (HPCC's simulator).
        Hpcc = "hpcc",
        /// A pause when the headroom is in use. While it is, arrivals go there whatever the threshold. The neighbour
        /// resumes also when the account has less than 1248 bytes (ns3-datacenter).
        Ns3Datacenter = "ns3-datacenter",
    }
}

impl PfcRule {
    /// Bytes of an account below which its neighbour resumes, whatever the threshold.
    pub(crate) fn resumes_below(self) -> u64 {
        match self {
            PfcRule::Hpcc => 0,
            PfcRule::Ns3Datacenter => 1248,
        }
    }
}

/// Headroom: space for packets that still arrive over a link after a pause is sent.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Headroom {
    /// Fixed number of bytes.
    Bytes(u64),
    /// Bytes that can arrive over the link until it has stopped.
    Link,
    /// Three times the bytes that arrive in the link's delay (HPCC's simulator).
    Delays,
}

/// Queue of a port: its discipline, limit, and way of counting.
#[derive(Clone, PartialEq, Debug)]
pub struct QueueSpec {
    /// Discipline.
    pub discipline: Discipline,
    /// Maximum queue length, as the discipline counts it.
    pub limit: Limit,
    /// Size of the device queue below the discipline, in packets, which the discipline does not see (ns-3: 100); 0: no
    /// device queue.
    pub device: u32,
    /// The packet being transmitted counts as queued (htsim) or not (ns-3, Linux).
    pub count_in_service: bool,
    /// Byte counts, limits and thresholds include the link's overhead (Linux counts the 14-byte
    /// Ethernet header).
    pub count_overhead: bool,
    /// Packets wait in an explicit queue and leave by departure events, although the discipline could decide everything
    /// at their arrival: slower, with the same result.
    pub explicit: bool,
}

impl QueueSpec {
    /// Queues of the traffic classes; empty without classes.
    pub fn classes(&self) -> &[QueueSpec] {
        match &self.discipline {
            Discipline::Classes { classes, .. } => classes,
            _ => &[],
        }
    }

    /// Number of queues of its port.
    pub fn count(&self) -> usize {
        if let Discipline::Trimming(_) = self.discipline { 2 } else { self.classes().len().max(1) }
    }

    /// Shaping of the credit class, if it has one.
    pub fn credits(&self) -> Option<&CreditShaping> {
        match &self.discipline {
            Discipline::Classes { scheduler: Scheduler::Credits(shaping), .. } => Some(shaping),
            _ => None,
        }
    }

    /// True if it has the two queues of a trimming port, but drops packets instead of trimming them.
    pub fn drops_uncut(&self) -> bool {
        matches!(&self.discipline, Discipline::Trimming(trimming) if trimming.drops)
    }

    /// True if it returns headers that do not fit to their senders.
    pub fn returns(&self) -> bool {
        matches!(&self.discipline, Discipline::Trimming(trimming) if trimming.returns)
    }

    /// Bytes of link overhead that it counts per packet.
    pub fn framing(&self, link: &LinkSpec) -> u32 {
        if self.count_overhead { link.overhead } else { 0 }
    }

    /// True if packets wait in an explicit queue, because it is requested or the discipline needs it. (A fair NIC keeps
    /// queues of its own in front of the port.)
    pub fn is_explicit(&self) -> bool {
        match self.discipline {
            Discipline::EcnAtDeparture(_) | Discipline::EcnRamp(_) | Discipline::Classes { .. } => true,
            Discipline::Trimming(_) | Discipline::Pfabric => true,
            Discipline::FairNic { .. } => false,
            _ => self.explicit,
        }
    }
}

/// Limit in packets or in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// Packets.
    Packets(u64),
    /// Bytes: IP bytes, and the link's overhead if [`QueueSpec::count_overhead`] says so.
    Bytes(u64),
    /// No limit.
    None,
}

/// Queue disciplines.
#[derive(Clone, PartialEq, Debug)]
pub enum Discipline {
    /// First in, first out; arrivals beyond the limit are dropped.
    DropTail,
    /// Marks ECN-capable arrivals that find at least `mark` queued.
    EcnThreshold(EcnThreshold),
    /// Marks ECN-capable packets at the end of their transmission if the queue including the packet exceeds `mark`
    /// (htsim's `ECNQueue`).
    EcnAtDeparture(EcnAtDeparture),
    /// RED of ns-3 (`RedQueueDisc`).
    Red(Red),
    /// First in, first out. An arrival with which the queue would exceed `threshold` is dropped at random, one beyond
    /// the limit always (htsim's `RandomQueue`).
    RandomDrop(RandomDrop),
    /// One queue per traffic class ([`class`](super::FlowSpec::class) of a flow), each with its own discipline and
    /// limit, served by a scheduler. The limit of the outer [`QueueSpec`] is used by adaptive routing only.
    Classes {
        /// Service order of the classes.
        scheduler: Scheduler,
        /// Queues by class. Only their disciplines and limits apply.
        classes: Vec<QueueSpec>,
        /// Aggregate limit and marking threshold over all classes.
        aggregate: Aggregate,
    },
    /// Marks ECN-capable packets at their departure, between two thresholds at random; also the data queue of a
    /// trimming port.
    EcnRamp(EcnRamp),
    /// Packet trimming: data that does not fit is trimmed to its header instead of dropped (NDP, SIGCOMM 2017; htsim's
    /// `CompositeQueue`). Headers and packets with little payload wait in a separate queue. The limit applies to the
    /// data queue.
    Trimming(Trimming),
    /// pFabric (SIGCOMM 2013): serves the flow of the packet with the lowest [`Rank`](super::Rank), its packets in
    /// order. If there is no room, the packet with the highest rank is dropped.
    Pfabric,
    /// Hosts only: one queue per flow, served round robin, with at most `per_flow` packets of a flow in the NIC
    /// (htsim's fair NIC).
    FairNic {
        /// Maximum number of packets of one flow in the NIC.
        per_flow: u32,
    },
}

/// Aggregate limit and marking threshold of a port over the queues of all classes, in addition to their own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Aggregate {
    /// Queue length from which on ECN-capable arrivals are marked.
    pub mark: Limit,
    /// Limit beyond which arrivals are dropped.
    pub limit: Limit,
}

impl Aggregate {
    /// No marking and no limit.
    pub const NONE: Aggregate = Aggregate { mark: Limit::None, limit: Limit::None };
}

/// Threshold marking at arrival.
#[derive(Clone, PartialEq, Debug)]
pub struct EcnThreshold {
    /// Threshold K.
    pub mark: Limit,
    /// Drop packets above K that are not ECN-capable (RED hardware) instead of accepting them.
    pub drop_not_ect: bool,
    /// Count ECN-capable packets that the limit drops as marked too (ns-3's RED marks a packet before it checks the
    /// limit).
    pub count_dropped: bool,
}

/// Threshold marking at departure.
#[derive(Clone, PartialEq, Debug)]
pub struct EcnAtDeparture {
    /// Threshold K.
    pub mark: Limit,
}

/// Random drops close to the limit.
#[derive(Clone, PartialEq, Debug)]
pub struct RandomDrop {
    /// Queue length, including the arrival, above which it may be dropped.
    pub threshold: Limit,
    /// Probability of the drop.
    pub probability: f64,
}

/// Packet trimming.
#[derive(Clone, PartialEq, Debug)]
pub struct Trimming {
    /// Size of a trimmed packet, in bytes. Packets with no more payload than this are queued with the headers,
    /// untrimmed.
    pub header: u16,
    /// Maximum header queue; headers beyond it are dropped or returned.
    pub header_limit: Limit,
    /// Headers sent per data packet while both wait.
    pub headers_per_data: u32,
    /// Marking of data at departure.
    pub ecn: Option<EcnRamp>,
    /// Draw at random whether the arrival or the last queued packet is trimmed; otherwise always the arrival.
    pub draws: bool,
    /// Drop packets instead of trimming them.
    pub drops: bool,
    /// Return headers that do not fit to their senders, if the sender accepts returned headers.
    pub returns: bool,
}

/// Marking by the queue that a departing packet leaves behind: never up to `min` bytes, always above `max`, and between
/// them with a probability that rises from 0 to `probability` (htsim's `CompositeQueue`; switches of DCQCN, section
/// 5.1).
#[derive(Clone, PartialEq, Debug)]
pub struct EcnRamp {
    /// Queue length up to which no packet is marked, in bytes.
    pub min: u64,
    /// Queue length above which every packet is marked, in bytes.
    pub max: u64,
    /// Probability of a mark just below `max`.
    pub probability: f64,
    /// Decides when the transmission begins, not when it ends.
    pub at_start: bool,
    /// Key of its random numbers: the seed of the run and the link, set by ports.
    pub key: (u64, u64),
}

/// Service order of the classes of a port.
#[derive(Clone, PartialEq, Debug)]
pub enum Scheduler {
    /// Strict priority, the lowest class first; a transmission is not preempted.
    Strict,
    /// Deficit round robin (Shreedhar and Varghese, SIGCOMM 1995).
    Weighted {
        /// Quantum of each class, in bytes per round, at least 1.
        quanta: Vec<u32>,
    },
    /// [`Scheduler::Strict`] with a token bucket for class 0, which carries credits (ExpressPass, SIGCOMM 2017).
    Credits(CreditShaping),
}

/// Rate limit for the credits of a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CreditShaping {
    /// Mean size of a credit, in IP bytes. Credits get the share of the link that leaves the rest of the reverse
    /// direction to the packets they trigger; link overhead counts for both.
    pub credit: u32,
    /// Size of the packet that a credit triggers in the reverse direction, in IP bytes.
    pub packet: u32,
    /// Credit burst after an idle time, at least 1.
    pub burst: u32,
}

/// RED parameters, named as in ns-3. Thresholds are in packets, or in bytes if the limit is in bytes.
#[derive(Clone, PartialEq, Debug)]
pub struct Red {
    /// Lower threshold on the average queue.
    pub min_th: f64,
    /// Upper threshold.
    pub max_th: f64,
    /// Averaging weight; 0 derives 1 - exp(-1/C) from the link's packet rate.
    pub qw: f64,
    /// Inverse of the marking probability at `max_th`.
    pub l_interm: f64,
    /// Mean packet size in bytes, for idle times and for byte mode.
    pub mean_pkt_size: u32,
    /// Gentle mode: the probability rises from max_p to 1 between max_th and 2 max_th.
    pub gentle: bool,
    /// Spread drops: none until count * p reaches 1.
    pub wait: bool,
    /// Mark ECN-capable packets instead of dropping early.
    pub use_ecn: bool,
    /// Drop even ECN-capable packets above the upper threshold.
    pub use_hard_drop: bool,
}

/// Pause threshold of an account in the shared part.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Threshold {
    /// Multiple of the free space.
    Dynamic(f64),
    /// Fixed number of bytes, at most the free space.
    Fixed(u64),
}
