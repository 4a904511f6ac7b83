//! Settings that ports of one kind share: the link's rate, delay and losses, and how the queue counts.

use crate::hash;
use crate::ids::LinkId;
use crate::port::discipline::ActiveDiscipline;
use crate::spec::{Limit, LinkSpec, Loss, QueueSpec, Ties};
use incast_cc::{Rate, Time};

/// A queue without a limit, before a link below 1 Mb/s, holds as many packets of 9,216 B as the link sends in 26 days.
/// So the end of its last packet has a time, whatever the packets' sizes: the clock has 213 days.
const LONGEST_QUEUE: Time = Time(1 << 61);
const SLOW: Rate = Rate(1_000_000);
const LARGE_PACKET: u64 = 9_216;

/// The limit of a queue that asks for none.
fn endless(rate: Rate) -> Limit {
    if rate.0 >= SLOW.0 {
        return Limit::None;
    }
    let bytes = rate.0 as u128 * LONGEST_QUEUE.0 as u128 / 8_000_000_000_000;
    Limit::Packets((bytes as u64 / LARGE_PACKET).max(1))
}

/// Settings of a port. Ports of one kind share one copy, which stays near.
#[derive(Clone, PartialEq, Debug)]
pub struct Settings {
    /// Picoseconds a byte where that is an integer, else 0 and `rate` decides.
    pub(super) ps_per_byte: u64,
    pub(super) delay: Time,
    /// Time that a full token bucket is worth; 0 for a transmitter.
    pub(super) bucket: Time,
    /// Overhead that the queue counts.
    pub(super) framing: u32,
    /// Overhead that it does not count.
    pub(super) overhead: u32,
    /// Packets below the discipline: in service, and the device queue. None
    /// below a token bucket.
    pub(super) below: u32,
    pub(super) discipline: ActiveDiscipline,
    /// Whether a transmitter takes what comes while it holds nothing, unmarked and with no more ado.
    pub(super) takes_at_rest: bool,
    pub(super) lossy: bool,
    /// [`Ties::Scheduled`].
    pub(super) scheduled: bool,
    pub(super) rate: Rate,
    pub(super) loss: Loss,
}

impl Settings {
    /// Those of a link with this queue.
    pub fn new(link: &LinkSpec, queue: &QueueSpec, ties: Ties) -> Settings {
        let rate = link.rate;
        let exact = rate != Rate::INFINITE && 8_000_000_000_000 % rate.0 == 0;
        let limit = if queue.limit == Limit::None { endless(rate) } else { queue.limit };
        let discipline = ActiveDiscipline::new(&QueueSpec { limit, ..queue.clone() });
        let lossy = link.loss != Loss::None;
        let scheduled = ties == Ties::Scheduled;
        Settings {
            takes_at_rest: exact && link.bucket == 0 && !lossy && !scheduled && discipline.takes_into_empty(),
            ps_per_byte: if exact { 8_000_000_000_000 / rate.0 } else { 0 },
            delay: link.delay,
            bucket: rate.serialize(link.bucket as u64),
            framing: queue.framing(link),
            overhead: link.overhead - queue.framing(link),
            below: match link.bucket {
                0 => queue.device.saturating_add(u32::from(queue.device > 0 || !queue.count_in_service)),
                _ => 0,
            },
            discipline,
            lossy,
            scheduled,
            rate,
            loss: link.loss.clone(),
        }
    }

    /// Time on the wire of a packet of `size` bytes as the queue counts it.
    #[inline]
    pub(super) fn serialization(&self, size: u64) -> Time {
        let bytes = size + self.overhead as u64;
        if self.ps_per_byte != 0 { Time(bytes * self.ps_per_byte) } else { self.rate.serialize(bytes) }
    }

    /// Whether link number `link` loses its packet number `index`, of `size` bytes as the queue counts it.
    pub(super) fn loses(&self, seed: u64, link: LinkId, index: u64, size: u64) -> bool {
        let draw = || hash::uniform(seed, hash::purpose::LOSS, link.0 as u64, index);
        match &self.loss {
            Loss::None => false,
            Loss::Packet(p) => draw() < *p,
            Loss::Byte(p) => draw() >= libm::pow(1.0 - p, (size + self.overhead as u64) as f64),
            Loss::List(list) => list.binary_search(&index).is_ok(),
        }
    }
}
