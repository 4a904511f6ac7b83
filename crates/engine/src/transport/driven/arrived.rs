//! Packets that have arrived, by their numbers.

use std::collections::VecDeque;

/// What a receiver has.
#[derive(Clone, Debug, Default)]
pub struct Arrived {
    next: u32,
    /// Beyond `next`: bytes of each and one more, or 0 where it has not come.
    beyond: VecDeque<u32>,
    /// Packets there that have come.
    early: u32,
    /// Bytes before `next`, and there.
    delivered: u64,
    kept: u64,
}

impl Arrived {
    /// All before this number have come.
    pub fn next(&self) -> u32 {
        self.next
    }

    /// Their bytes.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Bytes that have come out of order.
    pub fn kept(&self) -> u64 {
        self.kept
    }

    /// After the last packet that has come.
    pub fn top(&self) -> u32 {
        self.next + self.beyond.len() as u32
    }

    /// Packets that have come out of order.
    pub fn early(&self) -> u32 {
        self.early
    }

    /// Whether a packet is here.
    pub fn has(&self, number: u32) -> bool {
        match number.checked_sub(self.next) {
            None => true,
            Some(i) => self.beyond.get(i as usize).is_some_and(|len| *len > 0),
        }
    }

    /// Which of 64 packets from `from` on have come beyond [`Arrived::next`], the first in the lowest bit.
    pub fn map(&self, from: u32) -> u64 {
        (0..64).filter(|i| from + i >= self.next && self.has(from + i)).fold(0, |map, i| map | 1 << i)
    }

    /// A packet of `len` bytes comes. Whether it is the first of its number.
    pub fn insert(&mut self, number: u32, len: u16) -> bool {
        if self.has(number) {
            return false;
        }
        let i = (number - self.next) as usize;
        if self.beyond.len() <= i {
            self.beyond.resize(i + 1, 0);
        }
        self.beyond[i] = len as u32 + 1;
        self.early += 1;
        self.kept += len as u64;
        while let Some(len) = self.beyond.front().copied().filter(|len| *len > 0) {
            self.beyond.pop_front();
            self.next += 1;
            self.early -= 1;
            self.kept -= len as u64 - 1;
            self.delivered += len as u64 - 1;
        }
        true
    }
}
