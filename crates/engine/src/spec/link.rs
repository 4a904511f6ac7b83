//! Links, their losses and their failures.

use incast_cc::{Rate, Time};
use incast_record::Name;

/// Temporary failure of one directed link.
#[derive(Clone, PartialEq, Debug)]
pub struct Failure {
    /// Link number.
    pub link: u32,
    /// First instant of the failure.
    pub from: Time,
    /// End of the failure; [`Time::NEVER`]: permanent.
    pub until: Time,
    /// Effect on the link.
    pub effect: Effect,
}

impl Failure {
    /// Rate of the link during the failure, if it differs.
    pub fn rate(&self) -> Option<Rate> {
        match self.effect {
            Effect::Degraded { rate, .. } => rate,
            Effect::Down { .. } => None,
        }
    }

    /// Interval in which switches know of the failure and route around the link; `None`: the failure ends before
    /// detection or does not affect routing.
    pub fn known(&self) -> Option<(Time, Time)> {
        let Effect::Down { detection } = self.effect else { return None };
        let seen = self.from.saturating_add(detection);
        (seen < self.until).then(|| (seen, self.until.saturating_add(detection)))
    }
}

/// Kinds of failures.
#[derive(Clone, PartialEq, Debug)]
pub enum Effect {
    /// No packet gets through: a packet is lost if the failure overlaps the time from the start of its transmission to
    /// its arrival. The port keeps sending, so its queue drains into the dead link.
    Down {
        /// Detection delay: switches route around the link this long after it fails, and over it again this long after
        /// its repair. A shorter failure is never noticed.
        detection: Time,
    },
    /// The link works with other parameters.
    Degraded {
        /// Rate for transmissions during the failure, down to the part of a packet.
        rate: Option<Rate>,
        /// Delay of packets whose transmission ends during the failure. Packets are not reordered.
        delay: Option<Time>,
        /// Loss probability of packets whose transmission begins during the failure.
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
    /// Transmission times are cut to multiples of it (ns-3's clock: 1 ns); 0: exact to the picosecond.
    pub tick: Time,
    /// Overhead per packet on the wire, in bytes (2 PPP, 38 Ethernet with preamble and gap, 0).
    pub overhead: u32,
    /// Size of the token bucket in bytes, as in Linux `tbf`: a packet leaves the queue as soon as the bucket holds its
    /// bytes (overhead included), and takes no further time. 0: a transmitter, which a packet leaves after its
    /// transmission time.
    pub bucket: u32,
    /// Index into [`Spec::queues`](super::Spec::queues).
    pub queue: u32,
    /// Losses on the wire.
    pub loss: Loss,
    /// Cell whose channel the link leads to, an index into [`Spec::cells`](super::Spec::cells); `None`: a wired link.
    pub cell: Option<u32>,
    /// Name in reports: `"edge3>h6"`.
    pub name: Name,
}

/// `time` cut to a multiple of `tick`, if there is one.
pub(crate) fn cut(time: Time, tick: Time) -> Time {
    if tick == Time::ZERO { time } else { time - time % tick }
}

impl LinkSpec {
    /// Transmission time of `bytes` bytes, its overhead included.
    pub fn serialize(&self, bytes: u64) -> Time {
        cut(self.rate.serialize(bytes), self.tick)
    }

    /// Latency of a packet of `size` IP bytes that waits for no other packet.
    pub fn crossing(&self, size: u64) -> Time {
        let wire = self.serialize(size + self.overhead as u64);
        wire.saturating_sub(self.rate.serialize(self.bucket as u64)).saturating_add(self.delay)
    }
}

/// Loss model of a link, applied after transmission.
#[derive(Clone, PartialEq, Debug)]
pub enum Loss {
    /// No losses.
    None,
    /// Independent loss of each packet with this probability.
    Packet(f64),
    /// Loss of each byte with this probability: a packet of n wire bytes survives with (1-p)^n.
    Byte(f64),
    /// Loss of the packets with these indices (0-based count of packets put on the link), sorted.
    List(Vec<u64>),
}
