//! Counts of a port: packets, drops, marks, the time-mean queue, samples of its length.

use crate::event::interval::Interval;
use incast_cc::Time;
use std::ops::{Add, AddAssign};

/// A packet beside the bytes of a queue: it counts as so many. A queue holds fewer bytes on average, and fewer than
/// 2^28 packets.
const PACKET: u32 = 36;

/// Counters of every packet, from the start of the run.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub(super) struct Counters {
    pub packets: u64,
    /// Sum of times in the queue of what was accepted so far, ps modulo 2^64: those of a long queue add up to more.
    low_time: u64,
    /// The same weighted by size, byte ps, and by 2^[`PACKET`] a packet. So the whole of the sum is here, too, and an
    /// addition has no carry.
    both_times: u128,
    pub max_bytes: u64,
    pub max_packets: u32,
    pub marks: u32,
}

impl Counters {
    /// A packet of `size` bytes is `wait` in the queue.
    #[inline]
    pub(super) fn add_wait(&mut self, wait: Time, size: u64) {
        self.low_time = self.low_time.wrapping_add(wait.0);
        self.both_times += wait.0 as u128 * (size + (1 << PACKET)) as u128;
    }

    /// ... no longer for the last `rest` of that.
    pub(super) fn take_wait(&mut self, rest: Time, size: u64) {
        self.low_time = self.low_time.wrapping_sub(rest.0);
        self.both_times -= rest.0 as u128 * (size + (1 << PACKET)) as u128;
    }

    /// So many packets and bytes are in the queue for `span`.
    #[inline]
    pub(super) fn add_queue(&mut self, span: Time, packets: u32, bytes: u64) {
        self.low_time = self.low_time.wrapping_add(span.0.wrapping_mul(packets as u64));
        self.both_times += span.0 as u128 * (((packets as u64) << PACKET) + bytes) as u128;
    }

    /// Sum of times in the queue, ps, and the same weighted by size, byte ps.
    pub(super) fn times(&self) -> (u128, u128) {
        let rest = self.both_times - ((self.low_time as u128) << PACKET);
        let carry = rest >> (64 + PACKET);
        (self.low_time as u128 | carry << 64, rest - (carry << (64 + PACKET)))
    }

    /// The discipline counts so much now.
    #[inline]
    pub(super) fn holds(&mut self, packets: u32, bytes: u64) {
        self.max_packets = self.max_packets.max(packets);
        self.max_bytes = self.max_bytes.max(bytes);
    }
}

/// Counters of drops, losses and other events.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub(super) struct Events {
    pub drops: u64,
    pub losses: u64,
    /// Time on the wire, ps modulo 2^64, at rates without a whole number of picoseconds a byte.
    pub odd_busy: u64,
    /// Bytes on the wire that were accepted and then cut off.
    pub cut_bytes: u64,
    /// Packets that were accepted, and then dropped or sent back.
    pub withdrawn: u64,
}

/// Parts of a byte: a link of 1 bit/s carries one in a picosecond.
pub(super) const PARTS: u128 = 8_000_000_000_000;

/// What is accepted and not sent.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub(super) struct Held {
    pub packets: u64,
    /// Bytes that have not gone onto the wire, in [`PARTS`].
    pub unsent: u128,
}

impl Add for Held {
    type Output = Held;

    fn add(self, other: Held) -> Held {
        Held { packets: self.packets + other.packets, unsent: self.unsent + other.unsent }
    }
}

impl AddAssign for Held {
    fn add_assign(&mut self, other: Held) {
        *self = *self + other;
    }
}

/// What waits in front of a port.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub struct Ahead {
    /// Packets.
    pub packets: u32,
    /// Their bytes as the port's queue counts them.
    pub bytes: u64,
    /// Since when there are so many.
    pub since: Time,
    /// Bytes of the packet that comes to the port next; 0: not asked for.
    pub next: u64,
    /// The port takes that packet now.
    pub moves: bool,
}

impl Ahead {
    /// Adds the time up to `at` to an account.
    #[inline]
    pub(super) fn pass(&self, at: Time, count: &mut Counters) {
        let span = at.saturating_sub(self.since);
        count.add_queue(span, self.packets, self.bytes);
    }
}

/// The account at one instant.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub(super) struct Snapshot {
    pub count: Counters,
    pub events: Events,
    pub bytes_in: u64,
    /// Transmitting time still owed to what was accepted.
    pub owed: Time,
    pub held: Held,
    /// Packets and bytes that wait ahead of it.
    pub ahead: (u32, u64),
}

impl Snapshot {
    /// Bytes on the wire of what waits ahead of it.
    pub(super) fn ahead_bytes(&self, overhead: u32) -> u64 {
        self.ahead.1 + self.ahead.0 as u64 * overhead as u64
    }
}

/// The queue length, sampled at the interval that is asked for.
#[derive(Clone, Default, Debug)]
pub(super) struct Samples {
    /// When the next one is due.
    pub next: Time,
    count: u64,
    /// Samples of an empty queue: most are, and they touch no further memory.
    empty: u64,
    /// Samples by queue length in packets, less one.
    lengths: Vec<u64>,
}

impl Samples {
    /// The first is due at `next`.
    pub(super) fn from(next: Time) -> Samples {
        Samples { next, count: 0, empty: 0, lengths: Vec::new() }
    }

    /// The queue is `length` packets long at the instant of the next sample, and stays so before `until`.
    pub(super) fn take(&mut self, length: usize, until: Time, interval: &Interval) {
        let count = until.min(interval.to).saturating_sub(self.next).div_ceil(interval.every).max(1);
        match length.checked_sub(1) {
            None => self.empty += count,
            Some(i) => {
                if self.lengths.len() <= i {
                    self.lengths.resize(length, 0);
                }
                self.lengths[i] += count;
            }
        }
        self.count += count;
        self.next += interval.every * count;
    }

    /// Nearest rank: the smallest length that at least `percent` of the samples do not exceed.
    pub(super) fn percentile(&self, percent: u64) -> Option<f64> {
        let rank = (self.count * percent).div_ceil(100);
        let mut seen = 0;
        for (length, count) in std::iter::once(&self.empty).chain(&self.lengths).enumerate() {
            seen += *count;
            if seen >= rank && seen > 0 {
                return Some(length as f64);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{Counters, Time};

    #[test]
    fn sums_of_times_are_whole_beyond_64_bits() {
        let (hour, packets) = (Time::s(3600), 1 << 14);
        let [mut one_by_one, mut at_once] = [Counters::default(); 2];
        (0..packets).for_each(|_| one_by_one.add_wait(hour, 1500));
        at_once.add_queue(hour, packets, 1500 * packets as u64);
        let sum = hour.0 as u128 * packets as u128;
        assert!(sum > u64::MAX as u128);
        assert_eq!([one_by_one, at_once].map(|count| count.times()), [(sum, 1500 * sum); 2]);
        one_by_one.take_wait(hour, 1500);
        let left = sum - hour.0 as u128;
        assert_eq!(one_by_one.times(), (left, 1500 * left));
    }
}
