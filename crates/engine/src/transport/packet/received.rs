//! Received packets, by number.

use std::collections::VecDeque;

/// Packets that a receiver has.
#[derive(Clone, Debug, Default)]
pub struct Received {
    next: u32,
    /// Packets beyond `next`: length plus one, or 0 if missing.
    beyond: VecDeque<u32>,
    /// Number of packets received beyond `next`.
    out_of_order: u32,
    /// Bytes before `next`, and bytes received beyond it.
    delivered: u64,
    out_of_order_bytes: u64,
}

impl Received {
    /// Number of the first missing packet.
    pub fn next(&self) -> u32 {
        self.next
    }

    /// Bytes before the first missing packet.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Bytes received out of order.
    pub fn out_of_order_bytes(&self) -> u64 {
        self.out_of_order_bytes
    }

    /// Number after the last received packet.
    pub fn top(&self) -> u32 {
        self.next + self.beyond.len() as u32
    }

    /// Number of packets received out of order.
    pub fn out_of_order(&self) -> u32 {
        self.out_of_order
    }

    /// Returns whether a packet has been received.
    pub fn has(&self, number: u32) -> bool {
        match number.checked_sub(self.next) {
            None => true,
            Some(i) => self.beyond.get(i as usize).is_some_and(|len| *len > 0),
        }
    }

    /// Bitmap of the 64 packets from `from` on that have been received beyond [`Received::next`], the first in the
    /// lowest bit.
    pub fn map(&self, from: u32) -> u64 {
        (0..64).filter(|i| from + i >= self.next && self.has(from + i)).fold(0, |map, i| map | 1 << i)
    }

    /// Adds a packet of `len` bytes. Returns whether it is the first with its number.
    pub fn insert(&mut self, number: u32, len: u16) -> bool {
        if self.has(number) {
            return false;
        }
        let i = (number - self.next) as usize;
        if self.beyond.len() <= i {
            self.beyond.resize(i + 1, 0);
        }
        self.beyond[i] = len as u32 + 1;
        self.out_of_order += 1;
        self.out_of_order_bytes += len as u64;
        while let Some(len) = self.beyond.front().copied().filter(|len| *len > 0) {
            self.beyond.pop_front();
            self.next += 1;
            self.out_of_order -= 1;
            self.out_of_order_bytes -= len as u64 - 1;
            self.delivered += len as u64 - 1;
        }
        true
    }
}
