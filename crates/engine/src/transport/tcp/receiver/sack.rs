//! Contents of ACKs beyond their number: SACK blocks (RFC 2018), and duplicate SACKs (RFC 2883).

use crate::event::packet::{Blocks, Ext};
use crate::spec::{LossRules, TransportSpec};
use crate::transport::ranges::Ranges;

/// Size of the options after a TCP header, and of a time-stamp option without padding, in bytes.
const OPTIONS: u32 = 40;
const TIMESTAMPS: u32 = 10;

/// Report of the next ACK on the out-of-order segments `ooo` beyond `next`.
#[derive(Clone, Default, Debug)]
pub struct SackBlocks {
    /// Latest segments, newest first (RFC 2018's order of blocks).
    recent: [u64; 4],
    /// Bytes received again; empty if none were.
    pub duplicate: (u64, u64),
}

impl SackBlocks {
    /// Moves the block of `seq`, which arrived beyond a hole, to the front, where it counts once (RFC 2018 section 4).
    pub fn remember(&mut self, ooo: &Ranges, next: u64, seq: u64) {
        let (start, end) = ooo.find(seq).unwrap_or((seq, seq + 1));
        let same = |at: u64| (start..end).contains(&at) || at < next;
        let gone = self.recent.iter().position(|at| same(*at)).unwrap_or(self.recent.len() - 1);
        self.recent.copy_within(0..gone, 1);
        self.recent[0] = seq;
        for at in &mut self.recent[1..] {
            // a second block that grew into this one
            *at = if (start..end).contains(at) { 0 } else { *at };
        }
    }

    /// Reports in the next ACK that these bytes arrived again (RFC 2883).
    pub fn note_duplicate(&mut self, loss: &LossRules, start: u64, end: u64) {
        if loss.dsack && loss.sack {
            self.duplicate = (start, end);
        }
    }

    /// Returns whether there are repeated bytes to report.
    #[inline]
    pub fn has_duplicate(&self) -> bool {
        self.duplicate.0 < self.duplicate.1
    }

    /// SACK blocks, the newest first, after the repeated bytes.
    pub fn blocks(&self, ooo: &Ranges, next: u64) -> [(u64, u64); 4] {
        let mut blocks = [(0, 0); 4];
        let first = usize::from(self.has_duplicate());
        if self.has_duplicate() {
            blocks[0] = self.duplicate;
        }
        let mut n = first;
        for at in self.recent[..4 - first].iter().copied() {
            if let Some(block) = ooo.find(at).filter(|_| at >= next)
                && !blocks[first..n].contains(&block)
            {
                blocks[n] = block;
                n += 1;
            }
        }
        blocks
    }

    /// Encodes the blocks for a packet.
    pub fn report(&self, ooo: &Ranges, next: u64) -> Ext {
        Ext { sack: Blocks::of(&self.blocks(ooo, next)), ..Ext::default() }
    }
}

/// Drops the blocks for which an ACK's options have no room; returns the bytes of the others.
#[cold]
pub fn lay_out(ext: &mut Ext, t: &TransportSpec) -> u32 {
    let room = (OPTIONS - 2 - if t.timing.timestamps { TIMESTAMPS } else { 0 }) / 8;
    ext.sack.truncate(room as usize);
    ext.sack.len() as u32 * t.loss.sack_block
}
