//! Receiver-driven transports.

use incast_cc::Time;

/// The transport of a flow.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Protocol {
    /// TCP.
    #[default]
    Tcp,
    /// NDP.
    Ndp(Ndp),
    /// EQDS.
    Eqds(Eqds),
    /// UET.
    Uet(Uet),
    /// Homa.
    Homa(Homa),
    /// ExpressPass.
    ExpressPass(ExpressPass),
    /// pHost.
    PHost(PHost),
}

impl Protocol {
    /// Name in messages.
    pub fn name(&self) -> &'static str {
        match self {
            Protocol::Tcp => "tcp",
            Protocol::Ndp(_) => "ndp",
            Protocol::Eqds(_) => "eqds",
            Protocol::Uet(_) => "uet",
            Protocol::Homa(_) => "homa",
            Protocol::ExpressPass(_) => "expresspass",
            Protocol::PHost(_) => "phost",
        }
    }

    /// Name of the built-in congestion control; `None`: a controller governs the flows.
    pub fn control(&self) -> Option<&'static str> {
        match self {
            Protocol::Tcp => None,
            Protocol::Uet(Uet { window: true, credit: true, .. }) => Some("nscc+rccc"),
            Protocol::Uet(Uet { credit: true, .. }) => Some("rccc"),
            Protocol::Uet(_) => Some("nscc"),
            own => Some(own.name()),
        }
    }

    /// Share of data at a host NIC while control packets also wait: one packet in this many (EQDS: 20 to 1; UET: 10 to
    /// 1).
    pub fn data_slot_period(&self) -> u32 {
        if let Protocol::Uet(_) = self { 11 } else { 21 }
    }

    /// Parameters of Homa, if selected.
    pub fn homa(&self) -> Option<&Homa> {
        if let Protocol::Homa(homa) = self { Some(homa) } else { None }
    }

    /// Parameters of UET, if selected.
    pub fn uet(&self) -> Option<&Uet> {
        if let Protocol::Uet(uet) = self { Some(uet) } else { None }
    }

    /// Parameters of ExpressPass, if selected.
    pub fn expresspass(&self) -> Option<&ExpressPass> {
        if let Protocol::ExpressPass(own) = self { Some(own) } else { None }
    }

    /// Parameters of pHost, if selected.
    pub fn phost(&self) -> Option<&PHost> {
        if let Protocol::PHost(own) = self { Some(own) } else { None }
    }

    /// True for every protocol except TCP.
    pub fn is_receiver_driven(&self) -> bool {
        !matches!(self, Protocol::Tcp)
    }

    /// True if senders wait for the NIC of their host and send when it becomes free.
    pub fn waits_for_nic(&self) -> bool {
        !matches!(self, Protocol::Tcp | Protocol::ExpressPass(_))
    }

    /// True if the protocol also works at trimming queues that drop instead of trimming.
    pub fn works_without_trimming(&self) -> bool {
        matches!(self, Protocol::Uet(_))
    }

    /// True if the protocol detects losses by the headers of trimmed packets.
    pub fn needs_trimming(&self) -> bool {
        match self {
            Protocol::Tcp | Protocol::Homa(_) | Protocol::ExpressPass(_) | Protocol::PHost(_) => false,
            Protocol::Ndp(_) | Protocol::Eqds(_) | Protocol::Uet(_) => true,
        }
    }
}

/// NDP (Handley et al., SIGCOMM 2017).
#[derive(Clone, PartialEq, Debug)]
pub struct Ndp {
    /// Initial unsolicited window, in packets, at least 1.
    pub window: u32,
    /// Pull rate of a host as a share of its link's rate, above 0 and at most 1.
    pub pull_rate: f64,
    /// Path selection per packet.
    pub walk: Walk,
    /// htsim's variant of NDP: no timer, NACKs queue behind data at the host, the last packet has full size.
    pub htsim: bool,
}

/// EQDS (Olteanu et al., NSDI 2022).
#[derive(Clone, PartialEq, Debug)]
pub struct Eqds {
    /// Initial speculative credit of a flow, in packets, at least 1. A receiver grants up to the same amount ahead of
    /// demand.
    pub window: u32,
    /// Credit rate of a host as a share of its link's rate, above 0 and at most 1.
    pub pull_rate: f64,
    /// Number of entropies per flow, a power of two up to 2^15.
    pub entropies: u32,
    /// htsim's variant of EQDS: pull targets wrap around, the pull interval is 0.99 packet times, all credit of a flow
    /// takes one path.
    pub htsim: bool,
}

/// UET (Ultra Ethernet).
#[derive(Clone, PartialEq, Debug)]
pub struct Uet {
    /// NSCC: window-based control at the sender.
    pub window: bool,
    /// RCCC: credit-based control at the receiver. At least one of `window` and `credit` is set.
    pub credit: bool,
    /// Round-trip time of the fabric; `None`: the unloaded round-trip time of each pair of hosts.
    pub rtt: Option<Time>,
    /// Queueing delay target of NSCC; `None`: three quarters of `rtt`, or `rtt` where queues do not trim.
    pub target_delay: Option<Time>,
    /// Credit rate of a host as a share of its link's rate, above 0 and at most 1.
    pub pull_rate: f64,
    /// Number of received bytes after which an ACK is due.
    pub ack_bytes: u64,
    /// Entropy selection per packet.
    pub spread: Spread,
    /// Number of entropies per flow, a power of two up to 2^15.
    pub entropies: u32,
    /// With `credit`: ratio of host capacity to core capacity, at least 1. Above 1, hosts lower their credit rate when
    /// the core trims or marks packets.
    pub oversubscription: f64,
    /// SLEEK, with `window`: loss detection by out-of-order arrivals and by probes.
    pub sleek: bool,
    /// uet-htsim's variant of UET: trimmed packets request no credit, requests repeat the last pull target, and flows
    /// whose demand is met still receive credit.
    pub htsim: bool,
}

impl Uet {
    /// Minimum round-trip time of a fabric with an oversubscribed core: hosts adapt once per 1.5 round trips.
    pub const MIN_RTT: Time = Time::ns(100);
}

/// Homa (Montazeri et al., SIGCOMM 2018). Level 0 is the highest priority. A level is a traffic class.
#[derive(Clone, PartialEq, Debug)]
pub struct Homa {
    /// Unscheduled bytes of a message, at least 1. A granted message has the same number of bytes in flight.
    pub unscheduled: u64,
    /// Number of priorities, 1 to 8. The class of a flow is the lowest priority; packets without a priority of their
    /// own use it.
    pub levels: u8,
    /// Degree of overcommitment: number of messages a host grants at a time; `None`: one per priority that unscheduled
    /// packets do not use.
    pub overcommit: Option<u32>,
    /// Message sizes up to which unscheduled packets have priority 0, 1, ...; larger messages use the next priority.
    /// Rising, and fewer than `levels`. `None`: all have priority 0.
    pub cutoffs: Option<Vec<u64>>,
}

impl Homa {
    /// Maximum number of levels that a program or a transport can assign to packets.
    pub const MAX_LEVELS: u8 = 8;

    fn cutoffs(&self) -> &[u64] {
        self.cutoffs.as_deref().unwrap_or_default()
    }

    /// Priority of unscheduled packets of a message of `size` bytes.
    pub fn level_of(&self, size: u64) -> u8 {
        self.cutoffs().partition_point(|cutoff| *cutoff < size) as u8
    }

    /// First priority of scheduled packets: the one after the unscheduled priorities, or the lowest one.
    fn first_scheduled(&self) -> usize {
        (self.cutoffs().len() + 1).min(self.levels as usize - 1)
    }

    /// Number of messages a host grants at a time.
    pub fn overcommit(&self) -> usize {
        self.overcommit.map_or(self.levels as usize - self.first_scheduled(), |n| n as usize)
    }

    /// Priority of scheduled packets of message `rank` of `active` granted messages. The lowest levels are used first,
    /// so that a new message gets a higher one.
    pub fn level_of_rank(&self, rank: usize, active: usize) -> u8 {
        (self.levels as usize).saturating_sub(active - rank).max(self.first_scheduled()) as u8
    }

    /// Cutoffs derived from message sizes. The share of unscheduled levels equals the share of unscheduled bytes, with
    /// at least one level and at most `levels` - 1. Each of these levels carries the same number of unscheduled bytes.
    pub fn derive(&self, mut sizes: Vec<u64>) -> Vec<u64> {
        sizes.sort_unstable();
        let unasked = |size: u64| size.min(self.unscheduled) as u128;
        let bytes: u128 = sizes.iter().map(|size| *size as u128).sum();
        let all: u128 = sizes.iter().map(|size| unasked(*size)).sum();
        let levels = self.levels as u128;
        // halves are rounded up
        let share = if bytes == 0 { 1 } else { (2 * levels * all + bytes) / (2 * bytes) };
        let count = share.min(levels.saturating_sub(1)).max(1);
        let (mut cutoffs, mut sum) = (Vec::new(), 0);
        for size in &sizes {
            sum += unasked(*size);
            let reached = sum * count >= all * (cutoffs.len() as u128 + 1);
            let last = Some(size) == sizes.last() || cutoffs.len() as u128 + 1 >= count;
            if reached && !last && cutoffs.last() != Some(size) {
                cutoffs.push(*size);
            }
        }
        cutoffs
    }
}

/// ExpressPass (Cho et al., "Credit-scheduled delay-bounded congestion control for datacenters", SIGCOMM 2017). Credits
/// have class 0 and all other packets class 1; flows and ports on their paths have these two classes.
#[derive(Clone, PartialEq, Debug)]
pub struct ExpressPass {
    /// Size of a credit, in IP bytes, drawn uniformly from this inclusive range.
    pub credit: (u32, u32),
    /// Initial credit rate of a receiver as a share of the maximum credit rate, above 0 and at most 1.
    pub alpha: f64,
    /// Request size, in packets, below which the initial credit rate is reduced in proportion.
    pub ramp: u32,
    /// Credit feedback rule.
    pub feedback: Feedback,
    /// Target credit loss. [`Feedback::Code`] multiplies it by the unused share of the maximum rate;
    /// [`Feedback::Paper`] uses it as is.
    pub target_loss: f64,
    /// Initial weight of a rate increase.
    pub weight: f64,
    /// Minimum weight of a rate increase.
    pub min_weight: f64,
    /// Jitter of the credit interval as a share of the interval.
    pub jitter: f64,
    /// Early stop: a sender stops requesting credits once a round trip has brought as many credits as it has packets
    /// left.
    pub early_stop: bool,
}

impl ExpressPass {
    /// Mean size of a credit, in IP bytes.
    pub fn mean_credit(&self) -> u32 {
        (self.credit.0 + self.credit.1) / 2
    }
}

/// Credit feedback rule: response of a receiver's credit rate to credit losses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Feedback {
    /// Authors' simulator (kaist-ina/ns2-xpass f4e38bc).
    Code,
    /// Paper, as quoted by other sources.
    Paper,
}

/// pHost (Gao et al., CoNEXT 2015). Requests, tokens and acknowledgements have class 0, data has class 1, and data of
/// large messages class 2. The unit of time is the transmission time of a full packet on the host's link.
#[derive(Clone, PartialEq, Debug)]
pub struct PHost {
    /// Messages with initial free tokens.
    pub free: Free,
    /// Maximum number of initial free tokens per message.
    pub free_packets: u32,
    /// Interval between tokens of a host, above 0.
    pub gap: f64,
    /// Lifetime of a token at the sender, above 0.
    pub expiry: f64,
    /// Maximum number of outstanding tokens per message, at least 1.
    pub window: u32,
    /// Time after its last token for which a message with `window` outstanding tokens receives none, above 0.
    pub skip: f64,
    /// Time after the last token at which tokens for missing packets are reissued, above 0.
    pub reissue: f64,
    /// Message size, in bytes, above which data has class 2; `None`: no data has class 2.
    pub large: Option<u64>,
}

impl PHost {
    /// Maximum of counts in packets and of times in packet times.
    pub const MAX_PACKETS: u32 = 65_535;

    /// Initial free tokens of a message of `packets` packets.
    pub fn free_of(&self, packets: u32) -> u32 {
        match self.free {
            Free::Short if packets > self.free_packets => 0,
            _ => packets.min(self.free_packets),
        }
    }

    /// Class of data packets of a message of `size` bytes.
    pub fn class_of(&self, size: u64) -> u8 {
        if self.large.is_some_and(|large| size > large) { 2 } else { 1 }
    }

    /// Lowest class of all packets.
    pub fn lowest_class(&self) -> u8 {
        if self.large.is_some() { 2 } else { 1 }
    }
}

/// Messages of pHost with initial free tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Free {
    /// Messages that need no other tokens, as in the authors' simulator (NetSys/simulator 179b64e).
    Short,
    /// All messages, for their first packets, as other sources quote the paper.
    All,
}

/// Entropy selection of a UET sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spread {
    /// Round robin over all entropies.
    Oblivious,
    /// Round robin over all entropies; entropies with marks, trims or losses are skipped for a time.
    Bitmap,
    /// Recycled entropies (REPS): a ring of entropies returned without a mark, each used once.
    Reps,
    /// Entropies returned without a mark, each used once in order; without any, as `Bitmap`.
    Mixed,
}

/// Path selection of an endpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Walk {
    /// One packet on each path in random order, then again in a new order.
    Permute,
    /// Random path for every packet.
    Random,
}
