//! Queues, disciplines, shared buffers and priority flow control.

use super::LinkSpec;

/// A switch's buffer with dynamic thresholds ([`Pool`](crate::port::buffer::Pool)).
#[derive(Clone, PartialEq, Debug)]
pub struct BufferSpec {
    /// Bytes of the whole.
    pub size: u64,
    /// A queue takes an arrival while its shared part is below this times what is free.
    pub alpha: f64,
    /// Bytes that every queue has for itself.
    pub reserve: u64,
    /// Priority flow control; without it what does not fit is dropped.
    pub pfc: Option<PfcSpec>,
}

/// Priority flow control ([`pfc`](crate::node::pfc)): what a class has in the buffer is counted by the link that it
/// came over, and the neighbour there pauses.
#[derive(Clone, PartialEq, Debug)]
pub struct PfcSpec {
    /// By class, of which all ports have as many: it is paused rather than dropped, and not under the dynamic
    /// thresholds and reserves of its queues.
    pub lossless: Vec<bool>,
    /// Up to where an account fills the shared part; `None`: an eighth of what is free for links that are no quicker
    /// than the median host's, twice that for every doubling of the rate, all at most.
    pub threshold: Option<Threshold>,
    /// Bytes that every account has for itself.
    pub reserve: u64,
    /// The headroom of every account beyond the threshold.
    pub headroom: Headroom,
    /// The neighbour resumes when the share is so far below the threshold, bytes.
    pub margin: u64,
}

/// Room for packets that still come over a link until its port has received the pause.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Headroom {
    /// So many bytes.
    Bytes(u64),
    /// The bytes that the link can bring until it has stopped.
    Link,
    /// Three times what it brings in its delay (HPCC's simulator).
    Delays,
}

/// The queue of a port: what it counts, and when it marks or drops.
#[derive(Clone, PartialEq, Debug)]
pub struct QueueSpec {
    /// Discipline.
    pub discipline: Discipline,
    /// Largest queue, as the discipline counts it.
    pub limit: Limit,
    /// Packets in a device queue below the discipline, invisible to it (ns-3: 100); 0 for none.
    pub device: u32,
    /// The packet being transmitted counts as queued (htsim) or not (ns-3, Linux).
    pub count_in_service: bool,
    /// Byte counts, limits and thresholds include the link's overhead (Linux counts the 14-byte
    /// Ethernet header).
    pub count_overhead: bool,
    /// Packets wait in an explicit queue and leave by an event of their own, although the
    /// discipline could settle everything at their arrival: slower, with the same result.
    pub explicit: bool,
}

impl QueueSpec {
    /// Its classes, where it has some.
    pub fn classes(&self) -> &[QueueSpec] {
        match &self.discipline {
            Discipline::Classes { classes, .. } => classes,
            _ => &[],
        }
    }

    /// Queues that its port has.
    pub fn count(&self) -> usize {
        if let Discipline::Trimming(_) = self.discipline { 2 } else { self.classes().len().max(1) }
    }

    /// How fast its credits go, where it has a class for them.
    pub fn credits(&self) -> Option<&CreditShaping> {
        match &self.discipline {
            Discipline::Classes { scheduler: Scheduler::Credits(shaping), .. } => Some(shaping),
            _ => None,
        }
    }

    /// It has the two queues of one that trims, and drops what it would cut.
    pub fn drops_uncut(&self) -> bool {
        matches!(&self.discipline, Discipline::Trimming(trimming) if trimming.drops)
    }

    /// It sends headers without room back to their senders.
    pub fn returns(&self) -> bool {
        matches!(&self.discipline, Discipline::Trimming(trimming) if trimming.returns)
    }

    /// Bytes of its link's overhead that it counts.
    pub fn framing(&self, link: &LinkSpec) -> u32 {
        if self.count_overhead { link.overhead } else { 0 }
    }

    /// Packets wait in an explicit queue: asked for, or needed by the discipline. (A fair NIC keeps
    /// queues of its own in front of the port.)
    pub fn is_explicit(&self) -> bool {
        match self.discipline {
            Discipline::EcnAtDeparture(_) | Discipline::Classes { .. } => true,
            Discipline::Trimming(_) | Discipline::Pfabric => true,
            Discipline::FairNic { .. } => false,
            _ => self.explicit,
        }
    }
}

/// A limit in packets or in bytes.
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
    /// Marks ECN-capable packets at the end of their transmission, if the queue which they leave,
    /// themselves included, exceeds `mark` (htsim's `ECNQueue`).
    EcnAtDeparture(EcnAtDeparture),
    /// RED as ns-3's `RedQueueDisc`.
    Red(Red),
    /// First in, first out; of arrivals with which the queue would exceed `threshold` some are dropped at
    /// random, beyond the limit all (htsim's `RandomQueue`).
    RandomDrop(RandomDrop),
    /// A queue for every traffic class ([`class`](super::FlowSpec::class) of a flow), each with a discipline and a
    /// limit of its own; a scheduler serves them. The limit of the whole serves adaptive routing alone.
    Classes {
        /// Whose turn it is.
        scheduler: Scheduler,
        /// The queues, by class: their disciplines and limits, and nothing else of them.
        classes: Vec<QueueSpec>,
        /// What holds for all of them together.
        whole: Whole,
    },
    /// The queue of data of a port that trims, where it marks.
    EcnRamp(EcnRamp),
    /// Data that does not fit is cut to its header instead of dropped (NDP, SIGCOMM 2017; htsim's `CompositeQueue`).
    /// Headers and all that carries little wait in a queue of their own. The limit is that of the data.
    Trimming(Trimming),
    /// The flow that has the packet of least [`Rank`](super::Rank) is served, its packets in order; what has the
    /// greatest is dropped where there is no room (pFabric, SIGCOMM 2013).
    Pfabric,
    /// Hosts only: one queue a flow, served round robin, at most `per_flow` packets of a flow
    /// accepted at a time (htsim's fair NIC).
    FairNic {
        /// Packets of one flow in the NIC.
        per_flow: u32,
    },
}

/// A port's queues of all classes together, beside what each decides by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Whole {
    /// ECN-capable arrivals that find this much queued are marked.
    pub mark: Limit,
    /// Arrivals that do not fit are dropped.
    pub limit: Limit,
}

impl Whole {
    /// Nothing holds.
    pub const NONE: Whole = Whole { mark: Limit::None, limit: Limit::None };
}

/// Threshold marking at the arrival.
#[derive(Clone, PartialEq, Debug)]
pub struct EcnThreshold {
    /// Threshold K.
    pub mark: Limit,
    /// Drop packets that are not ECN-capable above K (RED hardware) instead of passing them.
    pub drop_not_ect: bool,
    /// Count what the limit drops as marked too, where it could have been (ns-3's RED marks a
    /// packet before it looks whether there is room).
    pub count_dropped: bool,
}

/// Threshold marking at the departure.
#[derive(Clone, PartialEq, Debug)]
pub struct EcnAtDeparture {
    /// Threshold K.
    pub mark: Limit,
}

/// Random drops close to the limit.
#[derive(Clone, PartialEq, Debug)]
pub struct RandomDrop {
    /// Queue, with the arrival, above which an arrival may be dropped.
    pub threshold: Limit,
    /// Probability that it is.
    pub probability: f64,
}

/// Packet trimming.
#[derive(Clone, PartialEq, Debug)]
pub struct Trimming {
    /// Bytes that are left of a packet; what carries no more payload than that goes with the headers uncut.
    pub header: u16,
    /// Largest queue of headers; those beyond it are dropped, or go back.
    pub header_limit: Limit,
    /// Headers sent for one data packet, where both wait.
    pub headers_per_data: u32,
    /// Data is marked as it leaves.
    pub ecn: Option<EcnRamp>,
    /// A draw decides whether the arrival is cut or what came last before it; else it is the arrival always.
    pub draws: bool,
    /// Nothing is cut: the packet that would be is dropped.
    pub drops: bool,
    /// Headers of senders that take them back go back to them, where there is no room for them.
    pub returns: bool,
}

/// Marks at the end of a transmission, by what a packet leaves behind: none up to `min` bytes, all above `max`, and
/// between them with a probability that rises from 0 to 1 (htsim's `CompositeQueue`).
#[derive(Clone, PartialEq, Debug, Default)]
pub struct EcnRamp {
    /// Bytes up to which nothing is marked.
    pub min: u64,
    /// Bytes above which everything is.
    pub max: u64,
    /// What its random numbers are keyed by: the seed of the run, and the link. Ports fill it in.
    pub key: (u64, u64),
}

/// In which order a port serves its classes.
#[derive(Clone, PartialEq, Debug)]
pub enum Scheduler {
    /// The lowest class that has something; a packet in transmission is not interrupted.
    Strict,
    /// Deficit round robin (Shreedhar and Varghese, SIGCOMM 1995): class i may send so many bytes a round.
    Weighted {
        /// Quantum of each class, at least 1 B.
        quanta: Vec<u32>,
    },
    /// As [`Scheduler::Strict`], but class 0, which is for credits, goes only as fast as a token bucket lets it
    /// (ExpressPass, SIGCOMM 2017).
    Credits(CreditShaping),
}

/// How fast the credits of a port go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CreditShaping {
    /// IP bytes of a credit, the mean where they differ, and of the packet that it lets go the other way. Credits have
    /// so much of the link that what they let go has the rest there, what the link adds to both counted.
    pub credit: u32,
    /// See `credit`.
    pub packet: u32,
    /// Credits that go at once after a time without, at least 1.
    pub burst: u32,
}

/// RED's parameters, named as in ns-3. Thresholds in packets, or bytes if the limit is in bytes.
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
    /// Probability rises from max_p to 1 between max_th and 2 max_th.
    pub gentle: bool,
    /// Spread drops: none until count * p reaches 1.
    pub wait: bool,
    /// Mark ECN-capable packets instead of dropping early.
    pub use_ecn: bool,
    /// Above the upper threshold drop even what could be marked.
    pub use_hard_drop: bool,
}

/// Up to where an account fills the shared part.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Threshold {
    /// This times what is free.
    Dynamic(f64),
    /// Bytes, as far as there are any free.
    Fixed(u64),
}
