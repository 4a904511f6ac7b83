//! Transports in which what receivers grant decides when data goes.

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
    /// Its name in messages.
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

    /// The congestion control of its own, by which its flows send; `None`: a controller governs them.
    pub fn control(&self) -> Option<&'static str> {
        match self {
            Protocol::Tcp => None,
            Protocol::Uet(Uet { window: true, credit: true, .. }) => Some("nscc+rccc"),
            Protocol::Uet(Uet { credit: true, .. }) => Some("rccc"),
            Protocol::Uet(_) => Some("nscc"),
            own => Some(own.name()),
        }
    }

    /// Of so many turns at a host's wire data has one where control packets wait too (EQDS: 20 to 1; UET: 10 to 1).
    pub fn turns(&self) -> u32 {
        if let Protocol::Uet(_) = self { 11 } else { 21 }
    }

    /// Its parameters, if it is Homa.
    pub fn homa(&self) -> Option<&Homa> {
        if let Protocol::Homa(homa) = self { Some(homa) } else { None }
    }

    /// Its parameters, if it is UET.
    pub fn uet(&self) -> Option<&Uet> {
        if let Protocol::Uet(uet) = self { Some(uet) } else { None }
    }

    /// Its parameters, if it is ExpressPass.
    pub fn expresspass(&self) -> Option<&ExpressPass> {
        if let Protocol::ExpressPass(own) = self { Some(own) } else { None }
    }

    /// Its parameters, if it is pHost.
    pub fn phost(&self) -> Option<&PHost> {
        if let Protocol::PHost(own) = self { Some(own) } else { None }
    }

    /// It is not TCP.
    pub fn is_driven(&self) -> bool {
        !matches!(self, Protocol::Tcp)
    }

    /// Its senders wait for the wire of their host, and have it as it gets free.
    pub fn waits_for_wire(&self) -> bool {
        !matches!(self, Protocol::Tcp | Protocol::ExpressPass(_))
    }

    /// It works at queues of its kind, too, that drop what they would cut.
    pub fn lives_without_cuts(&self) -> bool {
        matches!(self, Protocol::Uet(_))
    }

    /// It learns of losses by the headers of trimmed packets.
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
    /// Packets that go unasked when a flow begins, at least 1.
    pub window: u32,
    /// Pulls of a host come at this share of its link's rate, above 0 and at most 1.
    pub pull_rate: f64,
    /// Which path a packet takes.
    pub walk: Walk,
    /// NDP as htsim has it: no timer, NACKs behind data in the host's queue, the last packet of full size.
    pub htsim: bool,
}

/// EQDS (Olteanu et al., NSDI 2022).
#[derive(Clone, PartialEq, Debug)]
pub struct Eqds {
    /// Packets of speculative credit that a flow begins with, at least 1; a receiver keeps as much ahead.
    pub window: u32,
    /// Credit of a host comes at this share of its link's rate, above 0 and at most 1.
    pub pull_rate: f64,
    /// Entropies of a flow, a power of two up to 2^15.
    pub entropies: u32,
    /// EQDS as htsim has it: targets that wrap around, .99 of the time of a packet, all credit of a flow on one path.
    pub htsim: bool,
}

/// UET (Ultra Ethernet).
#[derive(Clone, PartialEq, Debug)]
pub struct Uet {
    /// NSCC: a window of the sender's.
    pub window: bool,
    /// RCCC: credit of the receiver's. One of the two is on, or both.
    pub credit: bool,
    /// Round-trip time of the fabric; `None`: that of each pair of hosts on the empty network.
    pub rtt: Option<Time>,
    /// Target of NSCC's queueing delay; `None`: three quarters of `rtt`, and all of it where nothing is cut.
    pub target_delay: Option<Time>,
    /// Credit of a host comes at this share of its link's rate, above 0 and at most 1.
    pub pull_rate: f64,
    /// An ACK is due when so many bytes have come since the last.
    pub ack_bytes: u64,
    /// Which entropies packets have.
    pub spread: Spread,
    /// Entropies of a flow, a power of two up to 2^15.
    pub entropies: u32,
    /// With `credit`: the capacity of hosts over that of the core, at least 1. Above 1, hosts lower the rate of their
    /// credit for what the core cuts and marks.
    pub oversubscription: f64,
    /// SLEEK, with `window`: losses are known by what is out of order, and by probes.
    pub sleek: bool,
    /// UET as uet-htsim has it: cut packets ask for no credit, requests repeat the last target, and flows that have all
    /// they wanted are given credit beyond it.
    pub htsim: bool,
}

impl Uet {
    /// The shortest round-trip time of a fabric whose core is oversubscribed: hosts adapt once in 1.5 of them.
    pub const LEAST_RTT: Time = Time::ns(100);
}

/// Homa (Montazeri et al., SIGCOMM 2018). Level 0 is the highest priority; a level is a traffic class.
#[derive(Clone, PartialEq, Debug)]
pub struct Homa {
    /// Bytes of a message that go unasked, at least 1; as many are under way of one that is granted.
    pub unscheduled: u64,
    /// Priorities, 1 to 8. Flows have the lowest as their class, which packets without one of their own have.
    pub levels: u8,
    /// Messages that a host grants at a time; `None`: one a priority that unscheduled packets do not use.
    pub overcommit: Option<u32>,
    /// Unscheduled packets of messages of up to so many bytes have priority 0, 1, ...; those of others the next.
    /// Rising; fewer than there are levels. `None`: they have priority 0.
    pub cutoffs: Option<Vec<u64>>,
}

impl Homa {
    /// Levels that a program or a transport can give to packets.
    pub const MOST_LEVELS: u8 = 8;

    fn cutoffs(&self) -> &[u64] {
        self.cutoffs.as_deref().unwrap_or_default()
    }

    /// Priority of unscheduled packets of a message of `size` bytes.
    pub fn level_of(&self, size: u64) -> u8 {
        self.cutoffs().partition_point(|cutoff| *cutoff < size) as u8
    }

    /// The first priority of granted packets: the one after those of unscheduled packets, as far as there is one.
    fn first_scheduled(&self) -> usize {
        (self.cutoffs().len() + 1).min(self.levels as usize - 1)
    }

    /// Messages that a host grants at a time.
    pub fn overcommit(&self) -> usize {
        self.overcommit.map_or(self.levels as usize - self.first_scheduled(), |n| n as usize)
    }

    /// Priority of granted packets of the message number `rank` of `active` that are granted: the lowest levels are
    /// used, so that a newcomer has a higher one.
    pub fn level_of_rank(&self, rank: usize, active: usize) -> u8 {
        (self.levels as usize).saturating_sub(active - rank).max(self.first_scheduled()) as u8
    }

    /// Cutoffs by the sizes of messages: as many levels of all as unscheduled bytes have of the bytes, at least one and
    /// at least one less than there are, each with the same unscheduled bytes.
    pub fn derive(&self, mut sizes: Vec<u64>) -> Vec<u64> {
        sizes.sort_unstable();
        let unasked = |size: u64| size.min(self.unscheduled) as u128;
        let bytes: u128 = sizes.iter().map(|size| *size as u128).sum();
        let all: u128 = sizes.iter().map(|size| unasked(*size)).sum();
        let levels = self.levels as u128;
        // half is rounded up
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

/// ExpressPass (Cho et al., "Credit-scheduled delay-bounded congestion control for datacenters", SIGCOMM 2017). Its
/// credits have class 0 and all else class 1, which is what its flows and the ports on their way have.
#[derive(Clone, PartialEq, Debug)]
pub struct ExpressPass {
    /// IP bytes of a credit: each draws one between these, both included.
    pub credit: (u32, u32),
    /// Share of the greatest credit rate at which a receiver begins, above 0 and at most 1.
    pub alpha: f64,
    /// A request for fewer packets than this begins so much slower.
    pub ramp: u32,
    /// How the rate follows the losses of credits.
    pub feedback: Feedback,
    /// Losses of credits that are aimed at: [`Feedback::Code`], this times the share of the greatest rate that is not
    /// used; [`Feedback::Paper`], this.
    pub target_loss: f64,
    /// Weight of an increase at first, and at least.
    pub weight: f64,
    /// See `weight`.
    pub min_weight: f64,
    /// The time to the next credit is off by up to this share of it.
    pub jitter: f64,
    /// A sender asks for no more once a round trip has brought as many credits as it has packets left.
    pub early_stop: bool,
}

impl ExpressPass {
    /// IP bytes of a credit on average.
    pub fn mean_credit(&self) -> u32 {
        (self.credit.0 + self.credit.1) / 2
    }
}

/// How a receiver's credit rate follows the losses of credits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Feedback {
    /// As in the authors' simulator (kaist-ina/ns2-xpass f4e38bc).
    Code,
    /// As printed, at second hand.
    Paper,
}

/// pHost (Gao et al., CoNEXT 2015). Requests, tokens and acknowledgements have class 0, data 1, that of large messages
/// 2. Times are in those of a full packet on the host's link.
#[derive(Clone, PartialEq, Debug)]
pub struct PHost {
    /// Which messages have tokens from the start.
    pub free: Free,
    /// How many at most.
    pub free_packets: u32,
    /// Time from one token of a host to its next, above 0.
    pub gap: f64,
    /// A sender may use a token for so long, above 0.
    pub expiry: f64,
    /// Tokens of a message that are unanswered at most, at least 1.
    pub window: u32,
    /// With as many unanswered a message has no token until so long after its last, above 0.
    pub skip: f64,
    /// So long after its last token those for what is missing go again, above 0.
    pub reissue: f64,
    /// Data of messages above so many bytes has class 2; `None`: none has.
    pub large: Option<u64>,
}

impl PHost {
    /// Packets at most that go unasked, or whose time a time is.
    pub const MOST_PACKETS: u32 = 65_535;

    /// Tokens that a message of so many packets has from the start.
    pub fn free_of(&self, packets: u32) -> u32 {
        match self.free {
            Free::Short if packets > self.free_packets => 0,
            _ => packets.min(self.free_packets),
        }
    }

    /// Class of the data of a message of `size` bytes.
    pub fn class_of(&self, size: u64) -> u8 {
        if self.large.is_some_and(|large| size > large) { 2 } else { 1 }
    }

    /// The lowest class of its packets.
    pub fn lowest_class(&self) -> u8 {
        if self.large.is_some() { 2 } else { 1 }
    }
}

/// Which messages of pHost have tokens from the start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Free {
    /// Those that need no others, as in the authors' simulator (NetSys/simulator 179b64e).
    Short,
    /// All, for their first packets, as in the paper at second hand.
    All,
}

/// How a sender of UET chooses entropies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spread {
    /// All in turn.
    Oblivious,
    /// All in turn; those with marks, cuts or losses are passed over for a time.
    Bitmap,
    /// Recycled entropies: a ring of those that came back without a mark, each used once.
    Reps,
    /// Those that came back without a mark, each once, in their order; without any as `Bitmap`.
    Mixed,
}

/// How an endpoint goes through its paths.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Walk {
    /// All of them in a random order, a packet each; then in another order.
    Permute,
    /// One at random for every packet.
    Random,
}
