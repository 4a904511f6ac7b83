//! Where packets in flight lie: by value in append-only buckets, one a near window.

use crate::event::order::{Key, Order, Timer};
use crate::event::outbox::Chunks;
use crate::event::packet::{Ext, Packet};
use crate::ids::DomainId;
use incast_cc::Time;
use std::mem::take;

/// Near windows: as many as a word has bits. Few, so that the packets in them stay in the near caches; what queues
/// longer waits in order at its port.
pub const NEAR: u64 = u32::BITS as u64;
const MASK: u64 = NEAR - 1;

/// Packets that arrive in a window, in the order of sending.
#[derive(Default)]
pub struct Bucket {
    pub packets: Vec<Packet>,
    /// The domain of each.
    pub domains: Vec<DomainId>,
    pub exts: Vec<Ext>,
}

impl Bucket {
    fn clear(&mut self) {
        self.packets.clear();
        self.domains.clear();
        self.exts.clear();
    }
}

/// Buckets of the near windows, and who has work when.
pub struct Buckets {
    pub order: Order,
    pub length: Time,
    /// ceil(2^64 / length): exact floor division for offsets below NEAR * length.
    inverse: u64,
    /// The open window and its start.
    pub window: u64,
    pub start: Time,
    /// Of window w at w % NEAR.
    pub near: Vec<Bucket>,
    /// Bit w % NEAR: something arrives in window w.
    occupied: u32,
    /// Empty ones with room in them, the one used last on top: its memory is near.
    spare: Vec<Bucket>,
    /// Empty chunks of the ports' overflow queues.
    pub chunks: Chunks,
    /// Timers of other domains, which they get when the window closes.
    pub elsewhere: Vec<(DomainId, Key, Timer)>,
}

impl Buckets {
    /// Empty buckets of windows of `length`.
    pub fn new(order: Order, length: Time) -> Buckets {
        Buckets {
            order,
            length,
            inverse: (u64::MAX / length.0) + 1,
            window: 0,
            start: Time::ZERO,
            near: (0..NEAR).map(|_| Bucket::default()).collect(),
            occupied: 0,
            spare: Vec::new(),
            chunks: Chunks::new(),
            elsewhere: Vec::new(),
        }
    }

    /// Opens `window` and takes what arrives in it.
    pub fn open(&mut self, window: u64) -> Bucket {
        self.window = window;
        self.start = self.length * window;
        self.occupied &= !(1 << (window & MASK));
        take(&mut self.near[(window & MASK) as usize])
    }

    /// Keeps the room of a window's bucket for another.
    pub fn close(&mut self, mut bucket: Bucket) {
        bucket.clear();
        if bucket.packets.capacity() > 0 {
            self.spare.push(bucket);
        }
    }

    /// A copy of `packet` that arrives so many windows ahead in `domain`, to be stamped.
    #[inline(always)]
    pub fn push(&mut self, domain: DomainId, ahead: u64, packet: &Packet, ext: Option<&mut Ext>) -> &mut Packet {
        let slot = (self.window + ahead) & MASK;
        let bucket = &mut self.near[slot as usize];
        if bucket.packets.is_empty() {
            self.occupied |= 1 << slot;
            if let Some(spare) = self.spare.pop() {
                *bucket = spare;
            }
        }
        bucket.domains.push(domain);
        // copy first and stamp the copy: reading back what was just written in parts stalls
        let index = bucket.packets.len();
        bucket.packets.push(*packet);
        let copy = &mut bucket.packets[index];
        if let Some(ext) = ext {
            copy.set_ext(bucket.exts.len());
            bucket.exts.push(take(ext));
        }
        copy
    }

    /// The next near window with arrivals.
    pub fn first(&self) -> Option<u64> {
        let from_now = self.occupied.rotate_right((self.window & MASK) as u32);
        (from_now != 0).then(|| self.window + from_now.trailing_zeros() as u64)
    }

    /// Windows from the open one to that of `time`, if near.
    #[inline]
    pub fn ahead(&self, time: Time) -> Option<u64> {
        let offset = time - self.start;
        if offset >= self.length * NEAR {
            return None;
        }
        Some(((offset.0 as u128 * self.inverse as u128) >> 64) as u64)
    }
}
