//! Settings shared by ports of one kind: the link's rate, delay and losses, and the queue's way of counting.

use crate::hash;
use crate::ids::LinkId;
use crate::port::discipline::ActiveDiscipline;
use crate::spec::{Limit, LinkSpec, Loss, QueueSpec, Ties, cut};
use incast_cc::{Rate, Time};

/// Bound of an unlimited queue at a link below 1 Mb/s: as many packets of 9,216 B as the link sends in 26 days. So the
/// departure of the last packet is within the clock's range of 213 days, whatever the packet sizes.
const LONGEST_QUEUE: Time = Time(1 << 61);
const SLOW: Rate = Rate(1_000_000);
const LARGE_PACKET: u64 = 9_216;

/// Limit of a queue without one.
fn endless(rate: Rate) -> Limit {
    if rate.0 >= SLOW.0 {
        return Limit::None;
    }
    let bytes = rate.0 as u128 * LONGEST_QUEUE.0 as u128 / 8_000_000_000_000;
    Limit::Packets((bytes as u64 / LARGE_PACKET).max(1))
}

/// Settings of a port. Ports of one kind share one copy, which stays in the cache.
#[derive(Clone, PartialEq, Debug)]
pub struct Settings {
    /// Picoseconds per byte if that is an integer; otherwise 0, and `rate` and `tick` apply.
    pub(super) ps_per_byte: u64,
    pub(super) tick: Time,
    pub(super) delay: Time,
    /// Transmission time of a full token bucket; 0 for a transmitter.
    pub(super) bucket: Time,
    /// Overhead that the queue counts.
    pub(super) framing: u32,
    /// Overhead that the queue does not count.
    pub(super) overhead: u32,
    /// Packets below the discipline: in service, and in the device queue. Zero with a token bucket.
    pub(super) device_queue: u32,
    pub(super) discipline: ActiveDiscipline,
    /// True if an idle transmitter accepts any packet, unmarked, without asking the discipline.
    pub(super) accepts_when_idle: bool,
    pub(super) lossy: bool,
    /// [`Ties::Scheduled`].
    pub(super) scheduled: bool,
    pub(super) rate: Rate,
    pub(super) loss: Loss,
}

impl Settings {
    /// Settings of a link with this queue.
    pub fn new(link: &LinkSpec, queue: &QueueSpec, ties: Ties) -> Settings {
        let rate = link.rate;
        let exact = rate != Rate::INFINITE && 8_000_000_000_000 % rate.0 == 0 && link.tick == Time::ZERO;
        let limit = if queue.limit == Limit::None { endless(rate) } else { queue.limit };
        let discipline = ActiveDiscipline::new(&QueueSpec { limit, ..queue.clone() });
        let lossy = link.loss != Loss::None;
        let scheduled = ties == Ties::Scheduled;
        Settings {
            accepts_when_idle: exact && link.bucket == 0 && !lossy && !scheduled && discipline.takes_into_empty(),
            ps_per_byte: if exact { 8_000_000_000_000 / rate.0 } else { 0 },
            tick: link.tick,
            delay: link.delay,
            bucket: rate.serialize(link.bucket as u64),
            framing: queue.framing(link),
            overhead: link.overhead - queue.framing(link),
            device_queue: match link.bucket {
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

    /// Transmission time of a packet of `size` bytes as the queue counts it.
    #[inline]
    pub(super) fn serialization(&self, size: u64) -> Time {
        let bytes = size + self.overhead as u64;
        if self.ps_per_byte != 0 { Time(bytes * self.ps_per_byte) } else { cut(self.rate.serialize(bytes), self.tick) }
    }

    /// Returns whether link number `link` loses its packet number `index`, of `size` bytes as the queue counts it.
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
