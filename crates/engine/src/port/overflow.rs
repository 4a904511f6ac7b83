//! Packets whose arrival is too far ahead for the near windows: a FIFO in small chunks.
//!
//! Empty chunks are shared by all ports and used again, last in, first out, so that a queue of 250
//! packets occupies what it holds and not what it ever held, and fresh packets are written to
//! memory that is still near.

use crate::event::outbox::Chunks;
use crate::event::packet::{Ext, Packet};
use incast_cc::Time;
use std::collections::VecDeque;
use std::mem::take;

/// Packets a chunk: 1 KiB.
const CHUNK: usize = 16;

/// Packets of one port, oldest first; apart from them the extensions of those that have one.
#[derive(Clone, Debug, Default)]
pub struct OverflowQueue {
    chunks: VecDeque<Vec<Packet>>,
    /// Packets of the first chunk already taken.
    taken: usize,
    #[allow(clippy::box_collection)] // few queues have any, and all would be 24 bytes larger
    exts: Option<Box<VecDeque<Ext>>>,
}

impl OverflowQueue {
    /// Nothing waits.
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Adds a copy of `packet` and returns it, to be stamped.
    pub fn push(&mut self, packet: &Packet, ext: Option<&mut Ext>, chunks: &mut Chunks) -> &mut Packet {
        if self.chunks.back().is_none_or(|c| c.len() == CHUNK) {
            self.chunks.push_back(chunks.pop().unwrap_or_else(|| Vec::with_capacity(CHUNK)));
        }
        let last = self.chunks.len() - 1;
        let chunk = &mut self.chunks[last];
        let at = chunk.len();
        chunk.push(*packet);
        if let Some(ext) = ext {
            chunk[at].set_ext(0);
            self.exts.get_or_insert_default().push_back(take(ext));
        }
        &mut chunk[at]
    }

    /// Takes every packet that arrives before `time`, in order.
    pub fn take_before(
        &mut self,
        time: Time,
        chunks: &mut Chunks,
        mut take_packet: impl FnMut(&Packet, Option<&mut Ext>),
    ) {
        while let Some(chunk) = self.chunks.front_mut() {
            while let Some(packet) = chunk.get(self.taken) {
                if packet.time >= time {
                    return;
                }
                let mut ext = packet.ext().and_then(|_| self.exts.as_mut()?.pop_front());
                take_packet(packet, ext.as_mut());
                self.taken += 1;
            }
            // exhausted: a chunk that may still grow is the last one, and then the queue is empty
            chunk.clear();
            self.taken = 0;
            chunks.extend(self.chunks.pop_front());
        }
    }

    /// The packets, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Packet> {
        self.chunks.iter().flatten().skip(self.taken)
    }
}
