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
}

impl Protocol {
    /// Its name in messages.
    pub fn name(&self) -> &'static str {
        match self {
            Protocol::Tcp => "tcp",
            Protocol::Ndp(_) => "ndp",
            Protocol::Eqds(_) => "eqds",
            Protocol::Uet(_) => "uet",
        }
    }

    /// Of so many turns at a host's wire data has one where control packets wait too (EQDS: 20 to 1; UET: 10 to 1).
    pub fn turns(&self) -> u32 {
        if let Protocol::Uet(_) = self { 11 } else { 21 }
    }

    /// It is not TCP.
    pub fn is_driven(&self) -> bool {
        !matches!(self, Protocol::Tcp)
    }

    /// It learns of losses by the headers of trimmed packets.
    pub fn needs_trimming(&self) -> bool {
        match self {
            Protocol::Tcp => false,
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
    /// Target of NSCC's queueing delay; `None`: three quarters of `rtt`.
    pub target_delay: Option<Time>,
    /// Credit of a host comes at this share of its link's rate, above 0 and at most 1.
    pub pull_rate: f64,
    /// An ACK is due when so many bytes have come since the last.
    pub ack_bytes: u64,
    /// Which entropies packets have.
    pub spread: Spread,
    /// Entropies of a flow, a power of two up to 2^15.
    pub entropies: u32,
    /// UET as uet-htsim has it: cut packets ask for no credit, requests repeat the last target, and flows that have all
    /// they wanted are given credit beyond it.
    pub htsim: bool,
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
