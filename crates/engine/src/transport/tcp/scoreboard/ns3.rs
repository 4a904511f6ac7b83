//! Scoreboard with the rules of ns-3.

use super::{Hole, Scoreboard, Segment};

impl Scoreboard {
    /// Scoreboard with ns-3's rules, for full segments of `mss`: a retransmission counts once, and as in flight until
    /// it is acknowledged, whatever SACK reports.
    pub fn of_ns3(mss: u32) -> Scoreboard {
        Scoreboard { ns3: mss, ..Scoreboard::default() }
    }

    /// Returns whether ns-3 sees a retransmission in `s`, acknowledged from `start` to `una`: it checks whole segments,
    /// counted back from the end.
    #[cold]
    pub(super) fn tells_ns3(&self, s: &Segment, start: u64, una: u64) -> bool {
        let (behind, mss) = (una - s.end(), self.ns3 as u64);
        !s.sacked && behind % mss == 0 && behind / mss < (una - start) / mss
    }

    /// Moves the loss frontier by ns-3's count: a segment is lost when at least `dupthresh` SACKed segments of any size
    /// lie above it.
    pub fn update_lost_by_segments(&mut self, dupthresh: u32) -> bool {
        let frontier = self.frontier_by_segments(dupthresh);
        self.lose_below(frontier)
    }

    /// Sequence number from which at least `dupthresh` SACKed segments begin; 0 if there are fewer.
    pub(super) fn frontier_by_segments(&self, dupthresh: u32) -> u64 {
        let mut above = 0;
        for (a, b) in self.sacked.as_slice().iter().rev() {
            let (first, end) = (self.index_of(*a), self.index_of(*b));
            let missing = (dupthresh as usize - above).max(1);
            if end - first >= missing {
                return self.segments[end - missing].seq;
            }
            above += end - first;
        }
        0
    }

    /// Fills `hole` up to `mss` bytes from the next segment, if that is lost too and not retransmitted either: ns-3
    /// segments retransmissions anew.
    pub fn gather(&mut self, hole: Hole, mss: u32) -> Hole {
        let i = self.index_of(hole.seq);
        let (Some(first), Some(next)) = (self.segments.get(i), self.segments.get(i + 1)) else { return hole };
        if hole.len >= mss || first.lost != next.lost || next.sacked {
            return hole;
        }
        let taken = next.len.min((mss - hole.len) as u16);
        if first.retransmitted != next.retransmitted {
            self.forget_retransmission(i);
            self.forget_retransmission(i + 1);
        }
        self.segments[i].len += taken;
        if taken < self.segments[i + 1].len {
            let next = &mut self.segments[i + 1];
            next.seq += taken as u64;
            next.len -= taken;
        } else {
            let next = &self.segments[i + 1];
            self.pending -= u32::from(next.lost && !next.retransmitted);
            self.retransmissions -= u32::from(next.retransmitted);
            self.segments.remove(i + 1);
        }
        Hole { len: hole.len + taken as u32, ..hole }
    }

    /// Clears the retransmission of segment `i`, if there was one.
    pub(super) fn forget_retransmission(&mut self, i: usize) {
        if let Some(s) = self.segments.get_mut(i)
            && s.retransmitted
        {
            s.retransmitted = false;
            self.retransmissions -= 1;
            let gone = s.copies.min(1);
            s.copies -= gone;
            self.pipe -= s.len as u64 * gone as u64;
            if s.lost && !s.sacked {
                self.pending += 1;
                self.retransmit_from = self.retransmit_from.min(s.seq);
            }
        }
    }

    /// Returns whether an unacknowledged retransmission ends at `end`.
    pub fn retransmitted_to(&self, end: u64) -> bool {
        let s = self.index_of(end).checked_sub(1).and_then(|i| self.segments.get(i));
        s.is_some_and(|s| s.end() == end && s.retransmitted && !s.sacked)
    }

    /// Returns whether `seq` lies below the highest SACKed segment, or nothing is SACKed.
    pub fn is_below_sacked(&self, seq: u64) -> bool {
        self.sacked.as_slice().last().is_none_or(|(_, end)| seq < *end)
    }
}
