//! Counters of a port: packets, drops, marks, time-mean queue, samples of its length.

use crate::event::interval::Interval;
use incast_cc::Time;
use std::ops::{Add, AddAssign};

/// Binary exponent of a packet's weight in [`Counters::both_times`]. A queue holds fewer than 2^`PACKET` bytes on
/// average, and fewer than 2^28 packets.
const PACKET: u32 = 36;

/// Counters of every packet, from the start of the run.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub(super) struct Counters {
    pub packets: u64,
    /// Sum of times in the queue of all accepted packets, in ps modulo 2^64; a long queue exceeds this range.
    low_time: u64,
    /// Sum of times weighted by size, in byte ps, plus 2^[`PACKET`] times the sum per packet. Additions need no carry,
    /// and the full sum of times can be recovered.
    both_times: u128,
    pub max_bytes: u64,
    pub max_packets: u32,
    pub marks: u32,
}

impl Counters {
    /// Adds a packet of `size` bytes that spends `wait` in the queue.
    #[inline]
    pub(super) fn add_wait(&mut self, wait: Time, size: u64) {
        self.low_time = self.low_time.wrapping_add(wait.0);
        self.both_times += wait.0 as u128 * (size + (1 << PACKET)) as u128;
    }

    /// Removes the last `rest` of a packet's time in the queue.
    pub(super) fn take_wait(&mut self, rest: Time, size: u64) {
        self.low_time = self.low_time.wrapping_sub(rest.0);
        self.both_times -= rest.0 as u128 * (size + (1 << PACKET)) as u128;
    }

    /// Adds a queue of `packets` and `bytes` over `span`.
    #[inline]
    pub(super) fn add_queue(&mut self, span: Time, packets: u32, bytes: u64) {
        self.low_time = self.low_time.wrapping_add(span.0.wrapping_mul(packets as u64));
        self.both_times += span.0 as u128 * (((packets as u64) << PACKET) + bytes) as u128;
    }

    /// Sum of times in the queue, in ps, and the same weighted by size, in byte ps.
    pub(super) fn times(&self) -> (u128, u128) {
        let rest = self.both_times - ((self.low_time as u128) << PACKET);
        let carry = rest >> (64 + PACKET);
        (self.low_time as u128 | carry << 64, rest - (carry << (64 + PACKET)))
    }

    /// Updates the maximum queue with the current length as the discipline counts it.
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
    /// Transmission times, in ps modulo 2^64, at rates without a whole number of picoseconds per byte.
    pub odd_busy: u64,
    /// Bytes on the wire that were accepted and then trimmed or dropped.
    pub cut_bytes: u64,
    /// Packets that were accepted, and then dropped or returned.
    pub withdrawn: u64,
}

/// Parts per byte: a link of 1 bit/s carries one part per picosecond.
pub(super) const PARTS: u128 = 8_000_000_000_000;

/// Accepted, unsent packets and bytes.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub(super) struct Held {
    pub packets: u64,
    /// Bytes not yet transmitted, in [`PARTS`].
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

/// Packets that wait in front of a port.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub struct Ahead {
    /// Packets.
    pub packets: u32,
    /// Bytes as the port's queue counts them.
    pub bytes: u64,
    /// Time of the last change.
    pub since: Time,
    /// Bytes of the packet that the port takes next; 0: not requested.
    pub next: u64,
    /// True if the port takes that packet now.
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

/// Account at one instant.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub(super) struct Snapshot {
    pub count: Counters,
    pub events: Events,
    pub bytes_in: u64,
    /// Remaining transmission time of accepted packets.
    pub owed: Time,
    pub held: Held,
    /// Packets and bytes that wait in front of the port.
    pub ahead: (u32, u64),
}

impl Snapshot {
    /// Bytes on the wire of packets that wait in front of the port.
    pub(super) fn ahead_bytes(&self, overhead: u32) -> u64 {
        self.ahead.1 + self.ahead.0 as u64 * overhead as u64
    }
}

/// Samples of the queue length at a fixed interval.
#[derive(Clone, Default, Debug)]
pub(super) struct Samples {
    /// Time of the next sample.
    pub next: Time,
    count: u64,
    /// Number of samples of an empty queue, the most frequent case, which touches no further memory.
    empty: u64,
    /// Number of samples by queue length in packets minus one.
    lengths: Vec<u64>,
}

impl Samples {
    /// Samples from `next` on.
    pub(super) fn from(next: Time) -> Samples {
        Samples { next, count: 0, empty: 0, lengths: Vec::new() }
    }

    /// Takes all samples before `until`, of a queue of `length` packets.
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
