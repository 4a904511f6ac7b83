//! What ACKs report beyond their number: SACK blocks (RFC 2018), and what came again (RFC 2883).

use super::*;

/// Bytes of options after a TCP header, and of a time-stamp option without its padding.
const OPTIONS: u32 = 40;
const TIMESTAMPS: u32 = 10;

/// Keeps the blocks of an ACK that its options have room for; returns the bytes they add.
#[cold]
pub(super) fn lay_out(ext: &mut Ext, t: &TransportSpec) -> u32 {
    let room = (OPTIONS - 2 - if t.timestamps { TIMESTAMPS } else { 0 }) / 8;
    let mut count = 0;
    for (i, block) in ext.sack.iter_mut().enumerate() {
        if i as u32 >= room {
            *block = (0, 0);
        }
        count += u32::from(block.0 < block.1);
    }
    count * t.sack_block
}

impl Receiver {
    /// `seq` arrived beyond a hole: its block comes first now, and counts once (RFC 2018 section 4).
    pub(super) fn remember(&mut self, seq: u64) {
        let (start, end) = self.ooo.find(seq).unwrap_or((seq, seq + 1));
        let same = |at: u64| (start..end).contains(&at) || at < self.next;
        let gone = self.recent.iter().position(|at| same(*at)).unwrap_or(self.recent.len() - 1);
        self.recent.copy_within(0..gone, 1);
        self.recent[0] = seq;
        for at in &mut self.recent[1..] {
            // a second block that grew into this one
            *at = if (start..end).contains(at) { 0 } else { *at };
        }
    }

    /// The next ACK is to report that these bytes came again (RFC 2883).
    pub(super) fn came_again(&mut self, t: &TransportSpec, start: u64, end: u64) {
        if t.dsack && t.sack {
            self.again = (start, end);
        }
    }

    /// SACK blocks, the newest first, after what came again.
    pub(super) fn blocks(&self) -> Ext {
        let mut ext = Ext::default();
        let mut n = 0;
        let mut recent = &self.recent[..];
        if self.again.0 < self.again.1 {
            ext.sack[0] = self.again;
            n = 1;
            recent = &recent[..3];
        }
        for at in recent.iter().copied() {
            if let Some(block) = self.ooo.find(at).filter(|_| at >= self.next)
                && !ext.sack[usize::from(self.again.0 < self.again.1)..n].contains(&block)
            {
                ext.sack[n] = block;
                n += 1;
            }
        }
        ext
    }
}
