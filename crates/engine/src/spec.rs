//! What the engine is asked to simulate: plain data, complete and already validated by whoever
//! built it (the scenario crate; tests).
//!
//! Nodes are numbered hosts first: node `h` for `h < hosts` is host `h`, the rest are switches.
//! A directed link and the port at its sending end share one number. The local ports of a node
//! are its outgoing links in the order of `links`.

pub use crate::port::shared::Threshold;
use incast_cc as cc;
use incast_cc::{Rate, Time};
pub use incast_record::{Near, Sharing};

/// One simulation, complete.
#[derive(Clone, Debug)]
pub struct Spec {
    /// Everything random is keyed by it.
    pub seed: u64,
    /// Simulated end.
    pub duration: Time,
    /// Start of the measured interval.
    pub measure_from: Time,
    /// End of the measured interval (at most `duration`).
    pub measure_to: Time,
    /// Number of hosts; nodes `0..hosts`.
    pub hosts: u32,
    /// Names of all nodes, hosts first: `"h0"`, `"edge3"`.
    pub node_names: Vec<String>,
    /// Domain of every node; any numbering. The engine merges domains joined by links too fast
    /// to separate them.
    pub domain_of: Vec<u32>,
    /// Directed links.
    pub links: Vec<LinkSpec>,
    /// One a switch (node `hosts + i` has `routers[i]`).
    pub routers: Vec<Router>,
    /// How a switch picks among equal-cost next hops.
    pub choice: PathChoice,
    /// ACKs take the path of [`PathChoice::Ecmp`], whatever data does.
    pub acks_by_flow: bool,
    /// Distinct queue settings; links refer to them.
    pub queues: Vec<QueueSpec>,
    /// Distinct transport settings; flows refer to them.
    pub transports: Vec<TransportSpec>,
    /// Distinct controllers; flows refer to them.
    pub controllers: Vec<cc::Config>,
    /// Names of traffic entries; flows refer to them.
    pub groups: Vec<String>,
    /// Flows in order.
    pub flows: Vec<FlowSpec>,
    /// What each host costs its packets, by host; empty where hosts cost nothing.
    pub host_costs: Vec<HostSpec>,
    /// Buffer that the queues of every switch share, beside their own limits; without one each has what its limit says.
    pub buffer: Option<BufferSpec>,
    /// What opens flows that wait for ends of others; flows refer to them.
    pub triggers: Vec<TriggerSpec>,
    /// Queries over two-way connections made of those flows that have [`App::Messages`].
    pub queries: Vec<QuerySpec>,
    /// What to observe besides the per-flow and per-port records.
    pub observe: Observe,
    /// Order of arrivals on different links at equal times.
    pub ties: Ties,
    /// The run ends when everything of a known size has finished ([`App::is_finite`], queries with a count), and the
    /// longest latency of a link later; at `duration` if that comes first.
    pub ends_when_finished: bool,
    /// Where every flow shares switches with elephants, for its record; empty where there are none.
    pub sharing: Vec<Sharing>,
    /// What happens to links for some time, one failure of a link at a time. Ways around are part of the routers
    /// ([`crate::detours::reroute`]).
    pub failures: Vec<Failure>,
}

/// What happens to one directed link for some time.
#[derive(Clone, PartialEq, Debug)]
pub struct Failure {
    /// Link.
    pub link: u32,
    /// Its first instant.
    pub from: Time,
    /// When it is over; [`Time::NEVER`]: it lasts.
    pub until: Time,
    /// What it is.
    pub effect: Effect,
}

impl Failure {
    /// From when until when switches know of it and route around its link; `None`: it is over by then, or they do not
    /// mind it.
    pub fn known(&self) -> Option<(Time, Time)> {
        let Effect::Down { detection } = self.effect else { return None };
        let seen = self.from.saturating_add(detection);
        (seen < self.until).then(|| (seen, self.until.saturating_add(detection)))
    }
}

/// Kinds of failures.
#[derive(Clone, PartialEq, Debug)]
pub enum Effect {
    /// Nothing gets through: a packet is lost if any of its time between the beginning of its transmission and its
    /// arrival lies in the failure. The port goes on sending, so its queue drains into the dead link.
    Down {
        /// Switches route around the link so long after it fails, and over it again so long after it is repaired; a
        /// failure that is over by then they never see.
        detection: Time,
    },
    /// The link works otherwise.
    Degraded {
        /// Its rate, for what is transmitted in the meantime, to the part of a packet.
        rate: Option<Rate>,
        /// Its delay, for packets whose transmission ends in the meantime. None overtakes another.
        delay: Option<Time>,
        /// Probability of a loss, for packets whose transmission begins in the meantime.
        loss: f64,
    },
}

/// Order of equal-time arrivals at one node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ties {
    /// By a hash of (seed, link or flow, time): none is favoured.
    Hash,
    /// By the number of the link, or of the flow whose timer fires (a fixed order, for
    /// comparisons).
    Link,
    /// As a simulator with one list of events has it, where what was entered first comes first (ns-3).
    /// A packet that arrives when another has left comes first where its own transmission began
    /// earlier: the queue still holds both. Of packets that arrive together over links alike, the longer
    /// comes first (its transmission began before); of two alike the one that was set going by what was
    /// entered longer ago: an arrival at an idle port when that packet's own transmission began, the end
    /// of the transmission before when that began ([`turn`](crate::packet::turn)). Two chains of packets
    /// without a pause keep the order they met in. Causes further back are not followed: what is
    /// left is as with [`Ties::Link`]. A port whose departures are events
    /// ([`QueueSpec::is_explicit`]) lets them come first always.
    Scheduled,
}

/// A switch's buffer with dynamic thresholds ([`Pool`](crate::port::shared::Pool)).
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

/// Priority flow control ([`pfc`](crate::port::pfc)): what a class has in the buffer is counted by the link that it
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
    /// What every account has beyond the threshold.
    pub headroom: Headroom,
    /// The neighbour resumes when the share is so far below the threshold, bytes.
    pub margin: u64,
}

/// Room for what still comes over a link while its port hears of the pause.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Headroom {
    /// So many bytes.
    Bytes(u64),
    /// What the link can bring until it has stopped.
    Link,
    /// Three times what it brings in its delay (HPCC's simulator).
    Delays,
}

impl Spec {
    /// The port of `link` keeps explicit queues: for its discipline, or because they share a buffer, or obey pauses.
    pub fn is_explicit(&self, link: &LinkSpec) -> bool {
        self.queues[link.queue as usize].is_explicit() || self.shares_buffer(link) || self.pfc().is_some()
    }

    /// Priority flow control, if switches have it.
    pub fn pfc(&self) -> Option<&PfcSpec> {
        self.buffer.as_ref()?.pfc.as_ref()
    }

    /// The queues of the port of `link` are in a shared buffer.
    pub fn shares_buffer(&self, link: &LinkSpec) -> bool {
        self.buffer.is_some() && link.from >= self.hosts
    }

    /// The host at which an end of a flow is seen.
    pub fn host_of(&self, (flow, done): (u32, Done)) -> u32 {
        let flow = &self.flows[flow as usize];
        match done {
            Done::Sent => flow.src,
            Done::Received => flow.dst,
        }
    }
}

/// What a host costs its packets, each way; `None`: nothing.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct HostSpec {
    /// From the NIC to the stack.
    pub receive: Option<ProcessingSpec>,
    /// From the stack to the NIC.
    pub send: Option<ProcessingSpec>,
}

/// Engines between NIC and stack, one side of a host. A flow's packets of one direction take one of them.
#[derive(Clone, PartialEq, Debug)]
pub struct ProcessingSpec {
    /// Engines that work side by side, 1 to [`EngineId::MOST`](crate::processing::EngineId::MOST).
    pub engines: u32,
    /// Service time of a packet with payload,
    pub packet_time: Time,
    /// of one without,
    pub ack_time: Time,
    /// and what its IP bytes add, at this rate.
    pub rate: Rate,
    /// Packets that an engine holds at most, the one in service included; 0: no limit.
    pub limit: u64,
}

/// A directed link and the port that feeds it.
#[derive(Clone, Debug)]
pub struct LinkSpec {
    /// Sending node.
    pub from: u32,
    /// Receiving node.
    pub to: u32,
    /// Transmission rate.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Time,
    /// Bytes every packet adds on the wire (2 PPP, 38 Ethernet with preamble and gap, 0).
    pub overhead: u32,
    /// Size of the token bucket in bytes, as Linux' `tbf` has it: a packet leaves the queue as
    /// soon as the bucket holds its bytes (overhead included), and takes no further time. 0: a
    /// transmitter, which a packet leaves after its time on the wire.
    pub bucket: u32,
    /// Index into [`Spec::queues`].
    pub queue: u32,
    /// Losses on the wire.
    pub loss: Loss,
    /// Which link of the tree it is, for reports: `"edge3>h6"`.
    pub name: String,
}

impl LinkSpec {
    /// When a packet that has to wait for no other leaves, `size` being its IP bytes.
    pub fn crossing(&self, size: u64) -> Time {
        let wire = self.rate.serialize(size + self.overhead as u64);
        wire.saturating_sub(self.rate.serialize(self.bucket as u64)).saturating_add(self.delay)
    }
}

/// Losses on a link, after transmission.
#[derive(Clone, PartialEq, Debug)]
pub enum Loss {
    /// None.
    None,
    /// Each packet with this probability, independently.
    Packet(f64),
    /// Each byte with this probability: a packet of n wire bytes survives with (1-p)^n.
    Byte(f64),
    /// The packets with these indices (0-based count of packets put on the link), sorted.
    List(Vec<u64>),
}

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
    /// Another router, but for some destinations at some times ([`crate::detours::reroute`]).
    Rerouted(Box<Rerouted>),
}

/// A router that knows ways around failures.
#[derive(Clone, Debug)]
pub struct Rerouted {
    /// What it does otherwise: no [`Router::Rerouted`] again.
    pub base: Router,
    /// When each of `detours` begins to be used, ps, rising; before the first nothing is different.
    pub starts: Vec<u64>,
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
    /// What is routed otherwise at `time` (ps).
    pub fn at(&self, time: u64) -> &[Detour] {
        let now = self.starts.partition_point(|start| *start <= time);
        now.checked_sub(1).map_or(&[], |i| &self.detours[i])
    }

    /// The set of next hops towards host `dst` at `time` (ps), where that is not the base's business.
    pub fn set(&self, dst: u32, time: u64) -> Option<u32> {
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

/// Which of several equal-cost next hops a packet takes.
#[derive(Clone, PartialEq, Debug)]
pub enum PathChoice {
    /// Hash of (flow, direction) salted by seed and switch.
    Ecmp,
    /// Always the first (ns-3's global routing).
    First,
    /// Each packet (IP fragment) takes one at random, uniform at each switch.
    Spray,
    /// Each packet takes one of the shortest paths at random, uniform among the paths.
    SpraySource,
    /// Packets of a flow and direction take its paths in turn, from one drawn for it on: number
    /// [`Packet::id`](crate::packet::Packet::id) takes path `start + id`, so that the turn is out of step once in
    /// 65,536 packets where these are no multiple of the paths.
    RoundRobinSource,
    /// Each switch gives its next hops packets in turn, in an order that is drawn anew after so many
    /// rounds (htsim: 5); 0: never.
    RoundRobin {
        /// Rounds.
        rounds: u32,
    },
    /// Each switch takes one of the ports in the lowest band.
    Adaptive(Adaptive),
    /// Each switch draws two next hops and takes the one whose port holds fewer bytes.
    PowerOfTwo,
    /// A packet of a flow that follows the one before by more than a gap may take another next hop.
    Flowlet(Flowlet),
    /// As [`PathChoice::Ecmp`], but with this probability a packet whose port is in the highest of the
    /// bands that its next hops are in takes one in the lowest, at random (htsim's `ecmp_host_ar`).
    EcmpAdaptive(Adaptive, f64),
    /// Hash of (flow, direction, entropy) salted by seed and switch. The entropy is the sender's to give, travels with
    /// the packet ([`Packet::entropy`](crate::packet::Packet::entropy)), and comes back with the ACK: not under
    /// [`Ties::Scheduled`].
    Entropy(Entropy),
}

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

impl PathChoice {
    /// Packets are given whole paths, not a next hop at every switch.
    pub fn is_by_path(&self) -> bool {
        matches!(self, PathChoice::SpraySource | PathChoice::RoundRobinSource)
    }

    /// Packets of one flow take several paths.
    pub fn spreads(&self) -> bool {
        !matches!(self, PathChoice::Ecmp | PathChoice::First)
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

/// What queues count and when they mark or drop.
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

    /// Packets wait in an explicit queue: asked for, or needed by the discipline. (A fair NIC keeps
    /// queues of its own in front of the port.)
    pub fn is_explicit(&self) -> bool {
        match self.discipline {
            Discipline::EcnAtDeparture { .. } | Discipline::Classes { .. } | Discipline::Trimming(_) => true,
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
    EcnThreshold {
        /// Threshold K.
        mark: Limit,
        /// Drop packets that are not ECN-capable above K (RED hardware) instead of passing them.
        drop_not_ect: bool,
        /// Count what the limit drops as marked too, where it could have been (ns-3's RED marks a
        /// packet before it looks whether there is room).
        count_dropped: bool,
    },
    /// Marks ECN-capable packets at the end of their transmission, if the queue which they leave,
    /// themselves included, exceeds `mark` (htsim's `ECNQueue`).
    EcnAtDeparture {
        /// Threshold K.
        mark: Limit,
    },
    /// RED as ns-3's `RedQueueDisc`.
    Red(Red),
    /// First in, first out; of arrivals with which the queue would exceed `threshold` some are dropped at
    /// random, beyond the limit all (htsim's `RandomQueue`).
    RandomDrop {
        /// Queue, with the arrival, above which an arrival may be dropped.
        threshold: Limit,
        /// Probability that it is.
        probability: f64,
    },
    /// A queue for every traffic class ([`FlowSpec::class`]), each with a discipline and a limit of its own; a
    /// scheduler serves them. The limit of the whole is what adaptive routing compares with, no more.
    Classes {
        /// Whose turn it is.
        scheduler: Scheduler,
        /// The queues, by class: their disciplines and limits, and nothing else of them.
        classes: Vec<QueueSpec>,
    },
    /// Data that does not fit is cut to its header instead of dropped (NDP, SIGCOMM 2017; htsim's `CompositeQueue`).
    /// Headers and all that carries little wait in a queue of their own. The limit is that of the data.
    Trimming(Trimming),
    /// Hosts only: one queue a flow, served round robin, at most `per_flow` packets of a flow
    /// accepted at a time (htsim's fair NIC).
    FairNic {
        /// Packets of one flow in the NIC.
        per_flow: u32,
    },
}

/// Packet trimming.
#[derive(Clone, PartialEq, Debug)]
pub struct Trimming {
    /// Bytes that are left of a packet; what carries no more payload than that goes with the headers uncut.
    pub header: u16,
    /// Largest queue of headers; those beyond it are dropped.
    pub header_limit: Limit,
    /// Headers sent for one data packet, where both wait.
    pub headers_per_data: u32,
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

/// Settings of the reliable transport. Sizes in bytes.
#[derive(Clone, PartialEq, Debug)]
pub struct TransportSpec {
    /// Payload of a full segment.
    pub mss: u32,
    /// IP and transport header of a data segment.
    pub header: u32,
    /// Size of a pure ACK (IP and transport header).
    pub ack_size: u32,
    /// Size of SYN and SYN-ACK segments.
    pub syn_size: u32,
    /// Largest IP packet; larger segments travel as IP fragments. 0: no limit.
    pub mtu: u32,
    /// Open with SYN, SYN-ACK and close with FIN.
    pub handshake: bool,
    /// A flow whose application has closed sends FIN on its last data segment; the receiver
    /// acknowledges it and then sends a FIN of its own, on which no mark is echoed (ns-3). Otherwise
    /// FIN is a segment of its own, answered by one packet.
    pub fin_with_data: bool,
    /// Without a handshake: the flow opens with a SYN of `syn_size` bytes, whose pure ACK lets data
    /// flow and is an ACK of one byte to the controller; no third packet, no FIN (htsim's TCP).
    pub lone_syn: bool,
    /// First retransmission of a SYN after this; doubles.
    pub syn_timeout: Time,
    /// SYN retransmissions before the flow gives up.
    pub syn_retries: u32,
    /// Timeouts in a row before the flow gives up (0: never).
    pub data_retries: u32,
    /// Segments per ACK; 1 acknowledges every segment at once.
    pub delayed_ack: u32,
    /// Longest wait of a delayed ACK.
    pub delayed_ack_timeout: Time,
    /// Segments at the start of a connection that are acknowledged one by one (Linux: 16).
    pub quickack: u32,
    /// A segment that ends a write of the application (PSH) is acknowledged at once.
    pub push_ack: bool,
    /// A segment on which the sender says that it reduced its window (CWR) is acknowledged at once.
    pub cwr_ack: bool,
    /// Linux: the receiver's window starts at the whole segments that fit into 65,535 bytes (65,160 with
    /// segments of 1448) and grows by two with every one that arrives, up to half of the receive buffer.
    /// What makes it grow is acknowledged at once and does not count for `quickack`.
    pub window_growth: bool,
    /// Two-way connections, as Linux has it: a side that sends data within a delayed ACK's time of receiving
    /// some is interactive, and acknowledges nothing at once for `quickack` alone. A delayed ACK that is
    /// sent, a duplicate segment, or a mark (`mark_quickack`) ends that; duplicates, and a silence longer than the
    /// side's own retransmission timeout, begin `quickack` anew.
    pub pingpong: bool,
    /// ... a DCTCP receiver's first mark since the sender's last CWR does so, and two ACKs go at once. Linux 6.1 means
    /// to (__tcp_ecn_check_ce), but its DCTCP module has noted the mark by then, so that nothing happens.
    pub mark_quickack: bool,
    /// ... and how long its ACKs wait follows the times between segments that arrive in order, from half of
    /// `delayed_ack_timeout` up to that, and no longer than its own retransmission timeout where they are long.
    pub adaptive_ack: bool,
    /// An application that an arriving packet wakes writes once everything that arrives at the same instant
    /// has been taken in, as a process runs after the kernel is done with its packets; the first to be woken has
    /// sent a segment by then. Otherwise it writes within the arrival.
    pub wakeup: bool,
    /// Retransmission timers of one host, and delayed ACKs of its two-way connections, that fire on the same
    /// tick do so the last set first, as those in a slot of Linux' timer wheel do; one that is set again for the
    /// same tick keeps its place.
    /// Otherwise in the order of ties.
    pub last_set_first: bool,
    /// Selective acknowledgements.
    pub sack: bool,
    /// Of segments beyond a hole only the first three after the edge has moved are acknowledged at once;
    /// ACKs of the others wait for a twentieth of a round trip (the handshake's; of a two-way connection the
    /// smoothed one; at most 1 ms) and 100 us, or for 44 of them, or until a third SACK block begins; those of a
    /// host that wait for nothing but the 100 us any longer go with the first of them (Linux).
    pub sack_compression: bool,
    /// Duplicate ACKs (or segments SACKed above a hole) that signal a loss.
    pub dupthresh: u32,
    /// Without SACK, under [`Recovery::Linux`]: more duplicates than there are segments to account for are taken
    /// for reordering, and `dupthresh` becomes the number of segments outstanding (at most 300) for good.
    pub reordering: bool,
    /// Bytes that each SACK block adds to an ACK, whose options then end at 40 bytes: three blocks
    /// beside time stamps. 0: an ACK is of `ack_size` whatever it reports, up to four blocks.
    pub sack_block: u32,
    /// How SACKs and duplicates become losses and repairs.
    pub scoreboard: Rules,
    /// What counts as in flight when a loss halves it.
    pub loss_flight: LossFlight,
    /// Window rule during fast recovery.
    pub recovery: Recovery,
    /// A reduction for ECN is spread over a round by PRR instead of taking effect at once.
    pub ecn_by_prr: bool,
    /// An ECN-Echo starts its reduction before anything else of its ACK is looked at, and in any
    /// state: it takes the place of a fast recovery or of the slow start after a timeout, and
    /// until it ends no other begins. Controllers see an ECN-Echo from an ACK that advances until
    /// CWR is sent or an ACK comes without (ns-3).
    pub ecn_preempts: bool,
    /// RFC 3042.
    pub limited_transmit: bool,
    /// A recovery that has no new data to send sends again what SACK neither reports nor proves lost
    /// (RFC 6675 NextSeg rules 3 and 4). Linux does not (since 4.15).
    pub forward_retransmit: bool,
    /// Tail-loss probes (RFC 8985 section 7, as Linux 6.1 has them, net.ipv4.tcp_early_retrans = 3): two smoothed round
    /// trips after the last sending or advancing ACK, and before the retransmission timeout, one segment of new data
    /// goes beyond the window, or the last segment again, so that its ACK tells what of the tail is lost. Only with
    /// `sack`, not under [`Rules::Ns3`].
    pub tail_loss_probe: bool,
    /// With [`Rules::Rack`]: what was overtaken but may be reordered is waited for by a timer (RFC 8985 section 6.2,
    /// step 5). Otherwise the next ACK looks at it again. RACK is Linux' then in four more respects: of an ACK that
    /// acknowledges and SACKs, SACKs are looked at first; segments that are SACKed are counted, not their bytes; the
    /// loss of what a timeout sent again begins a fast recovery; and sent again is what ever was, in the judgement of
    /// ACKs that come too soon and of reordering, not only what was since it was last given up.
    pub reordering_timer: bool,
    /// With [`Rules::Rack`]: once reordering was seen, a reordering window stays at all times, and duplicate SACKs
    /// widen it (RFC 8985 section 6.2, steps 3 and 4). Otherwise reordering is never seen.
    pub adaptive_reordering: bool,
    /// Added to the waits of probes of more than one segment and of RACK's timer (Linux: TCP_TIMEOUT_MIN, 2 ms).
    pub timeout_min: Time,
    /// CWR follows reductions for losses and timeouts too, not only those for ECN-Echo (RFC 3168 section 6.1.2).
    pub cwr_after_loss: bool,
    /// F-RTO (RFC 5682): after a timeout, once an ACK advances, new data goes first; what the ACKs of it say
    /// decides whether the timeout was spurious and is undone.
    pub frto: bool,
    /// A SACK receiver reports what came again (RFC 2883).
    pub dsack: bool,
    /// A reduction is undone when everything that was sent again turns out to have arrived before: duplicate
    /// SACKs report all of it, or an ACK that advances echoes a time stamp older than the first of it
    /// (RFC 3708, RFC 4015).
    pub undo: bool,
    /// Echoed time stamps: every ACK gives an RTT sample (otherwise Karn: one timed segment, or with
    /// [`Rules::Ns3`] each ACK of segments none of which was sent again).
    pub timestamps: bool,
    /// With `timestamps`, and not under [`Rules::Ns3`], RTT samples as Linux takes them: of the segments that
    /// an ACK covers, if none was sent again, otherwise of those that SACK newly reports, and only otherwise
    /// of the time stamp, in whole milliseconds. What SACK reports ends the timer's back-off too, and starts
    /// the timer anew if it was sent before the first outstanding segment was sent last.
    pub segment_rtt: bool,
    /// Tick of the clock that RTT samples and RACK's send times are of; zero is exact. Of time stamps a coarse one
    /// floors samples at 1 us. With `segment_rtt` a divisor of the time stamps' 1 ms. Delivery rates are exact.
    pub timestamp_clock: Time,
    /// How the retransmission timeout follows from the samples.
    pub rto_rule: RtoRule,
    /// Tick of a kernel's timers; zero is exact. Timers then fire on a tick, later than asked for: Linux'
    /// timer wheel, whose slots are 1 tick wide for waits below 63 ticks, 8 below 504, and so on.
    pub timer_tick: Time,
    /// Retransmission timers are looked at in this interval only, from time zero; zero is exact. One that is over
    /// then fires a two-hundredth of what is left until the next look later (htsim: 10 ms).
    pub timer_scan: Time,
    /// What goes again after a timeout, beyond the first segment, is new data under the old sequence numbers: what was
    /// lost there is never sent again, and the flow does not finish (htsim's Swift).
    pub timeout_renumbers: bool,
    /// Floor of the retransmission timeout.
    pub rto_min: Time,
    /// Ceiling.
    pub rto_max: Time,
    /// Timeout before the first RTT sample.
    pub rto_initial: Time,
    /// Clock granularity G of RFC 6298: RTO = srtt + max(G, 4 rttvar).
    pub rto_granularity: Time,
    /// Initial window in segments.
    pub initial_window: f64,
    /// After an idle time of more than one RTO the controller is told, whose rule it then is to lower the window.
    pub idle_restart: bool,
    /// With nothing in flight one segment goes whatever the window. Without, a window below a
    /// segment sends nothing until the retransmission timer fires (ns-3).
    pub least_segment: bool,
    /// Windows grow only while they limit sending.
    pub cwnd_limited: bool,
    /// Send buffer: unacknowledged plus unsent bytes.
    pub send_buffer: u64,
    /// A bulk application's write waits until the send buffer takes all of it (ns-3). Otherwise as
    /// much is taken as there is room for.
    pub whole_writes: bool,
    /// Receive buffer.
    pub receive_buffer: u64,
    /// Window scaling; without it the advertised window ends at 65535.
    pub window_scaling: bool,
    /// Unsent bytes at which a bulk application stops writing until half of them are sent; 0: the send buffer
    /// alone holds it.
    pub notsent_lowat: u64,
    /// Sender silly-window avoidance (RFC 1122 4.2.3.4).
    pub sws_avoidance: bool,
    /// First probe of a zero window after this; doubles up to 60 s.
    pub persist_timeout: Time,
    /// ECN; `None` takes what the controller's profile asks for.
    pub ecn: Option<cc::Ecn>,
    /// DCTCP receiver: acknowledge at once the packet that changes the CE state.
    pub ecn_change_ack: bool,
    /// DCTCP receiver: what the ACK covers that a change of the CE state flushes.
    pub ecn_flush: Flush,
    /// A CE mark counts only on a segment beyond all whose mark counted before, so that no
    /// retransmission below them is echoed (ns-3). The last ACK of the handshake has the number of
    /// the first segment, whose mark counts only if that ACK's did not.
    pub ce_must_advance: bool,
    /// ACKs of what a timeout declared lost are RTT samples too. Without it the next sample is of
    /// a segment sent for the first time after the timeout (ns-3, whose record of what was sent
    /// when is emptied then).
    pub rtt_after_timeout: bool,
    /// Also SYN, ACK, FIN and retransmissions are ECN-capable (ns-3's DCTCP; ECN++).
    pub ect_control: bool,
    /// Pacing.
    pub pacing: PacingSpec,
    /// Segments sent after the flow's bytes that the flow also waits for (htsim sends one
    /// packet more than the size asks for).
    pub extra_packets: u32,
}

impl TransportSpec {
    /// `now` on the clock that times segments, ps.
    #[inline]
    pub fn clock(&self, now: u64) -> u64 {
        match now.checked_rem(self.timestamp_clock.0) {
            Some(rest) => now - rest,
            None => now,
        }
    }
}

/// Window rule during fast recovery, for controllers without a recovery of their own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Recovery {
    /// RFC 6582: inflate by duplicates, deflate by partial ACKs (with SACK: RFC 6675 pipe under
    /// the fixed ssthresh).
    NewReno,
    /// NewReno as htsim's Swift has it: the controller's window goes on moving, and what it is inflated by begins at
    /// nothing, is at most the window itself, and shrinks by what a partial ACK covers, to grow by one segment. Every
    /// partial ACK restarts the retransmission timer. After a timeout the first segment goes alone. With SACK: as
    /// `NewReno`.
    Htsim,
    /// RFC 6937 proportional rate reduction.
    Prr,
    /// Proportional rate reduction as ns-3.43 does it: every duplicate ACK counts one segment
    /// more than it delivers, an ACK that advances counts only when it makes a whole segment with
    /// what earlier ones left over, a partial ACK sends one segment beyond the window, and the
    /// product of delivered bytes and ssthresh has 32 bits.
    PrrNs3,
    /// RFC 6937 as Linux has it: in whole segments, in proportion to the window before the reduction, one
    /// segment more only on ACKs that advance and find nothing new lost; without SACK too, where
    /// a duplicate ACK stands for a segment that arrived.
    Linux,
}

/// How the retransmission timeout follows from RTT samples.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RtoRule {
    /// RFC 6298: max(floor, srtt + max(G, 4 rttvar)).
    Rfc6298,
    /// Linux: srtt + max(floor, 4 mdev), where mdev is the largest mean deviation of the round trip and the
    /// one before it, and falls slowly.
    Linux,
}

/// What the ACK covers that a DCTCP receiver flushes when the CE state changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flush {
    /// All segments waiting for an ACK (DCTCP paper, RFC 8257).
    Pending,
    /// What had arrived before the latest of them, which the next ACK covers with the new state:
    /// ns-3 notes the edge at the arrival of a segment, before it takes it.
    Prior,
}

/// How the scoreboard finds losses, where worlds differ from RFC 6675.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rules {
    /// RFC 6675.
    Rfc6675,
    /// ns-3.43: `dupthresh` SACKed *segments* above make a loss, whatever their size; an ACK that
    /// advances and SACKs counts as a duplicate; losses below the highest SACKed segment only are
    /// repaired, by segments cut anew up to the full size; a retransmission counts once, and as in
    /// flight until it is acknowledged, whatever SACK says of it; without new data all that fits
    /// of what is not proven lost goes; no rescue retransmission; only the first partial ACK restarts the timer.
    Ns3,
    /// RFC 8985 (RACK): a segment is lost when one that was sent after it has arrived; so are lost
    /// retransmissions found. What waits inside the reordering window: see `reordering_timer`.
    Rack,
}

/// Bytes in flight that a controller is told of at a loss.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LossFlight {
    /// All that is outstanding (RFC 5681's FlightSize, less limited transmit's segments).
    Outstanding,
    /// What is believed to be in the network: without what SACKs or duplicates say has left it
    /// and, with SACK, without what is lost (ns-3).
    Pipe,
}

/// Pacing of sent packets.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum PacingSpec {
    /// Only what the controller asks for.
    Controller,
    /// factor * max(cwnd, in flight) / srtt, at most `max`; the initial window is not paced
    /// (ns-3, Linux). What goes in spite of pacing, a fast retransmission, puts nothing off.
    Window {
        /// Factor in slow start.
        slow_start: f64,
        /// Factor afterwards.
        avoidance: f64,
        /// Upper bound.
        max: Rate,
        /// What follows the first segment of a fast recovery or after a timeout waits as if the
        /// rate were `max`.
        restart_at_max: bool,
    },
}

/// One flow.
#[derive(Clone, Debug)]
pub struct FlowSpec {
    /// Sending host.
    pub src: u32,
    /// Receiving host.
    pub dst: u32,
    /// When it opens.
    pub start: Time,
    /// When its application stops; [`Time::NEVER`] for no stop.
    pub stop: Time,
    /// What then happens to accepted bytes.
    pub at_stop: AtStop,
    /// When the receiving application closes; [`Time::NEVER`] for never. Bytes that then wait
    /// beyond a hole reset the flow; otherwise the receiver sends a FIN, and the sender is closed by
    /// the first ACK after its own FIN: later ones are answered by a reset (as in ns-3).
    pub sink_stop: Time,
    /// Index into [`Spec::transports`].
    pub transport: u32,
    /// Index into [`Spec::controllers`].
    pub controller: u32,
    /// Index into [`Spec::groups`].
    pub group: u32,
    /// Traffic class of its data, where ports have queues for classes.
    pub class: u8,
    /// Traffic class of its acknowledgements.
    pub ack_class: u8,
    /// Application.
    pub app: App,
    /// Rate at which the receiving application reads; infinite drains at once.
    pub read_rate: Rate,
    /// Links from source to destination, where the path is prescribed.
    pub path: Option<Vec<u32>>,
    /// Links back.
    pub reverse_path: Option<Vec<u32>>,
    /// What opens it, though not before `start`; without one it opens then.
    pub trigger: Option<Triggered>,
}

/// What opens flows once others have come to their ends; [`crate::triggers`] says where it counts them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TriggerSpec {
    /// Ends of flows that activate it.
    pub activations: Vec<(u32, Done)>,
}

/// The activation of a trigger that opens a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Triggered {
    /// Index into [`Spec::triggers`].
    pub trigger: u32,
    /// So many ends of flows have come then, at least 1.
    pub activation: u32,
}

/// An end of a flow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Done {
    /// The last byte was acknowledged at the source.
    Sent,
    /// The last byte has come to the destination.
    Received,
}

/// After an application's stop time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AtStop {
    /// What the transport accepted is still delivered, then the flow closes.
    Drain,
    /// The flow is reset: nothing more is sent, the receiver is told once.
    Reset,
}

/// What the sending application does.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum App {
    /// One transfer, in writes of `write` bytes as fast as the send buffer takes them; `size`
    /// `None` never ends.
    Bulk {
        /// Bytes.
        size: Option<u64>,
        /// Bytes a write.
        write: u64,
    },
    /// Writes of `write` bytes at `rate` during ON times. A write that does not fit is retried
    /// at the next tick of the rate, as ns-3's OnOffApplication does.
    OnOff {
        /// Application rate.
        rate: Rate,
        /// Length of an ON time.
        on: Time,
        /// Length of an OFF time; zero never pauses (constant rate).
        off: Time,
        /// Bytes a write.
        write: u64,
        /// Start with an OFF time (ns-3 does, after the handshake).
        off_first: bool,
    },
    /// Half of a two-way connection: writes what a [`QuerySpec`] tells it to.
    Messages,
    /// No transport beneath it (UDP): full segments at a constant pace from the flow's start to its stop. Nothing is
    /// acknowledged or sent again, there is no window and no ECN; the controller has no part in it. Where the NIC takes
    /// only so many packets of a flow, the ones beyond are never sent.
    Udp {
        /// Time from one segment to the next, above 0.
        gap: Time,
    },
    /// Keeps writes under way: the next is written `think` after one was acknowledged.
    ClosedLoop {
        /// Bytes a write.
        write: u64,
        /// Writes under way at a time.
        outstanding: u32,
        /// Time between an acknowledgement and the write it allows.
        think: Time,
        /// Writes in all; `None` never ends.
        count: Option<u64>,
    },
}

impl App {
    /// It ends by itself, after so many bytes or writes.
    pub fn is_finite(&self) -> bool {
        matches!(self, App::Bulk { size: Some(_), .. } | App::ClosedLoop { count: Some(_), .. })
    }
}

/// A root that asks its workers over persistent two-way connections, again and again. A query
/// begins with one request on every connection in the same instant, in the order of
/// `connections`; a worker that has a whole request writes its response at once; the query ends
/// when the root has the last byte of the last response.
#[derive(Clone, PartialEq, Debug)]
pub struct QuerySpec {
    /// Index into [`Spec::groups`].
    pub group: u32,
    /// Host that asks: the source of every request flow.
    pub root: u32,
    /// Begin of query 0.
    pub first: Time,
    /// From the end of a query to the begin of the next.
    pub think: Time,
    /// Queries in all; `None` goes on until `stop`.
    pub count: Option<u64>,
    /// No query begins at or after this; [`Time::NEVER`] for no stop.
    pub stop: Time,
    /// Connections.
    pub connections: Vec<ConnectionSpec>,
}

/// A two-way connection, opened by the root: two flows between the same hosts, one each way,
/// under one handshake; acknowledgements ride on the data of the other flow where there is some.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConnectionSpec {
    /// Flow from the root to the worker.
    pub request: u32,
    /// Flow from the worker to the root.
    pub response: u32,
    /// Bytes of a request.
    pub request_size: u64,
    /// Bytes of a response.
    pub response_size: u64,
}

/// What to observe.
#[derive(Clone, Debug, Default)]
pub struct Observe {
    /// Interval at which queue lengths are sampled for percentiles, at every port.
    pub queue_interval: Time,
    /// Flows whose state becomes a time series.
    pub flows: Vec<u32>,
    /// Ports whose queue becomes a time series.
    pub ports: Vec<u32>,
    /// Interval of the series; `None` records every change.
    pub interval: Option<Time>,
    /// Flows whose packets are traced.
    pub trace: Vec<u32>,
}
