//! A FIFO port in one cache line: departures are decided as packets arrive.

use crate::packet::Kind;

/// Latency of every link, ps.
pub const DELAY: u64 = 1_000_000;
/// Time of a byte on a wire of 100 Gb/s, ps.
const PS_PER_BYTE: u64 = 80;
/// Packets that may be queued or in service.
const LIMIT: u32 = 128;
/// Departures stored inline with the port's other state.
const INLINE: u32 = 8;

/// One port, the node at the end of its link, and the ring of future departures.
#[repr(align(64))]
pub struct Port {
    /// Time at which everything accepted has been sent, ps.
    free_at: u64,
    /// Lower words of departure times, once more than `INLINE` have waited.
    ring: Option<Box<[u32; LIMIT as usize]>>,
    head: u32,
    len: u16,
    /// Kind of the node at the end of its link.
    pub to: Kind,
    /// Domain of that node.
    pub domain: u32,
    near: [u32; INLINE as usize],
}

const _: () = assert!(size_of::<Port>() == 64);

impl Port {
    /// An idle port whose link leads to a node `to` of `domain`.
    pub fn new(to: Kind, domain: u32) -> Port {
        Port { free_at: 0, ring: None, head: 0, len: 0, to, domain, near: [0; INLINE as usize] }
    }

    /// Accepts a packet of `size` bytes and returns its arrival at the far end. `None`: the queue is full.
    #[inline(always)]
    pub fn enqueue(&mut self, now: u64, size: u16) -> Option<u64> {
        if self.free_at <= now {
            self.len = 0;
        } else {
            self.drain(now);
        }
        if self.len as u32 == LIMIT {
            return None;
        }
        let departure = self.free_at.max(now) + size as u64 * PS_PER_BYTE;
        self.free_at = departure;
        if self.len as u32 == INLINE && self.ring.is_none() {
            self.grow();
        }
        let tail = self.head.wrapping_add(self.len as u32);
        match &mut self.ring {
            None => self.near[(tail % INLINE) as usize] = departure as u32,
            Some(ring) => ring[(tail % LIMIT) as usize] = departure as u32,
        }
        self.len += 1;
        Some(departure + DELAY)
    }

    /// Removes departures until `now`. No queue lasts as long as half the range of a word.
    #[inline(always)]
    fn drain(&mut self, now: u64) {
        while self.len > 0 {
            let departure = match &self.ring {
                None => self.near[(self.head % INLINE) as usize],
                Some(ring) => ring[(self.head % LIMIT) as usize],
            };
            if (departure.wrapping_sub(now as u32) as i32) > 0 {
                break;
            }
            self.head = self.head.wrapping_add(1);
            self.len -= 1;
        }
    }

    #[cold]
    fn grow(&mut self) {
        let mut ring = Box::new([0; LIMIT as usize]);
        for i in (0..self.len as u32).map(|i| self.head.wrapping_add(i)) {
            ring[(i % LIMIT) as usize] = self.near[(i % INLINE) as usize];
        }
        self.ring = Some(ring);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_leave_one_after_another_and_the_queue_has_a_limit() {
        let mut port = Port::new(Kind::Core, 0);
        for i in 1..=LIMIT as u64 {
            assert_eq!(port.enqueue(0, 4000), Some(i * 320_000 + DELAY));
        }
        assert_eq!(port.enqueue(0, 4000), None);
        // a departure at the instant of an arrival comes first
        assert_eq!(port.enqueue(320_000, 40), Some(LIMIT as u64 * 320_000 + 3_200 + DELAY));
        assert_eq!(port.enqueue(1 << 40, 40), Some((1 << 40) + 3_200 + DELAY));
    }
}
