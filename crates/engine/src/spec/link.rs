//! Links, their losses and their failures.

use incast_cc::{Rate, Time};
use incast_record::Name;

/// A failure of one directed link for some time.
#[derive(Clone, PartialEq, Debug)]
pub struct Failure {
    /// Link.
    pub link: u32,
    /// Its first instant.
    pub from: Time,
    /// When it is over; [`Time::NEVER`]: it lasts.
    pub until: Time,
    /// Its effect.
    pub effect: Effect,
}

impl Failure {
    /// The rate that the link has meanwhile, where that is another.
    pub fn rate(&self) -> Option<Rate> {
        match self.effect {
            Effect::Degraded { rate, .. } => rate,
            Effect::Down { .. } => None,
        }
    }

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
    /// Index into [`Spec::queues`](super::Spec::queues).
    pub queue: u32,
    /// Losses on the wire.
    pub loss: Loss,
    /// The cell whose channel it leads to, an index into [`Spec::cells`](super::Spec::cells); `None`: a wire.
    pub cell: Option<u32>,
    /// Which link of the tree it is, for reports: `"edge3>h6"`.
    pub name: Name,
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
