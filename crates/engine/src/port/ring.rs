//! Departure times of the packets in a FIFO port, oldest first, without the latest packet, which the port itself
//! stores. So a port that holds one packet at a time touches no further memory.

use crate::event::prefetch;
use incast_cc::Time;

/// Packet that has not left.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Slot {
    /// Departure time.
    pub departure: Time,
    /// Bytes accepted up to and including this packet.
    pub bytes_to: u64,
}

/// Ring buffer; its capacity is a power of two.
#[derive(Clone, Default, Debug)]
pub(super) struct Ring {
    slots: Box<[Slot]>,
    head: u32,
    /// Number of packets in the port: those in the ring plus the latest.
    pub len: u32,
}

impl Ring {
    /// The `i`th packet, which must not be the latest.
    #[inline]
    pub(super) fn at(&self, i: u32) -> Slot {
        debug_assert!(i + 1 < self.len);
        let mask = self.slots.len() - 1;
        self.slots[(self.head.wrapping_add(i)) as usize & mask]
    }

    /// Adds a packet after `latest`, the latest so far, if any.
    #[inline]
    pub(super) fn push(&mut self, latest: Slot) {
        self.len += 1;
        if self.len == 1 {
            return;
        }
        let stored = self.len - 2;
        if stored as usize == self.slots.len() {
            self.grow();
        }
        let mask = self.slots.len() - 1;
        let at = (self.head.wrapping_add(stored)) as usize & mask;
        self.slots[at] = latest;
    }

    /// Removes all packets.
    #[inline(always)]
    pub(super) fn clear(&mut self) {
        // an empty ring starts over: its first slots stay in the cache
        (self.head, self.len) = (0, 0);
    }

    /// Removes departures up to and including `now`, except the latest packet, and counts them in `bytes_out`.
    #[inline(always)]
    pub(super) fn drain(&mut self, now: Time, bytes_out: &mut u64) {
        while self.len > 1 {
            let slot = self.at(0);
            if slot.departure > now {
                return;
            }
            *bytes_out = slot.bytes_to;
            self.head = self.head.wrapping_add(1);
            self.len -= 1;
        }
        self.head = 0;
    }

    /// Prefetches the oldest slot and the next to be written.
    #[inline]
    pub(super) fn prefetch(&self) {
        let mask = self.slots.len().wrapping_sub(1);
        prefetch::item(&self.slots, self.head as usize & mask);
        prefetch::item(&self.slots, self.head.wrapping_add(self.len - 1) as usize & mask);
    }

    #[cold]
    fn grow(&mut self) {
        self.resize((self.slots.len() * 2).max(8), self.slots.len() as u32);
    }

    /// Shrinks the ring after a burst. A ring cycles through all of its slots whatever it holds, so each step of a
    /// large one would miss the cache.
    pub(super) fn shrink(&mut self) {
        if self.slots.len() > 64 && self.len as usize * 4 < self.slots.len() {
            self.resize((self.len as usize * 2).next_power_of_two().max(8), self.len.saturating_sub(1));
        }
    }

    /// Resizes to `capacity` slots, of which `stored` are in use.
    fn resize(&mut self, capacity: usize, stored: u32) {
        let old = |i: u32| self.slots[(self.head.wrapping_add(i)) as usize & (self.slots.len() - 1)];
        let held = (0..stored).map(old);
        let slots: Vec<Slot> = held.chain(std::iter::repeat(Slot::default())).take(capacity).collect();
        self.slots = slots.into_boxed_slice();
        self.head = 0;
    }
}
