//! Late segments: overtaken segments are waited for before they count as lost.

use super::{LateSegments, Overtaken, Scoreboard, Segment};
use incast_cc::Time;
use std::collections::VecDeque;

impl Scoreboard {
    /// Scoreboard that waits for overtaken segments; a run of `trigger` of them is lost.
    pub fn waiting_for_late(trigger: u32) -> Scoreboard {
        let late = LateSegments { trigger, below: 0, waiting: VecDeque::new() };
        Scoreboard { late: Some(Box::new(late)), ..Scoreboard::default() }
    }

    /// Returns whether overtaken segments are waited for.
    #[inline]
    pub fn waits_for_late(&self) -> bool {
        self.late.is_some()
    }

    /// End of the first pending wait.
    pub fn late_until(&self) -> Option<Time> {
        self.late.as_ref()?.waiting.iter().map(|one| one.until).min()
    }

    /// Updates the late segments at `now`. A segment with at least `dupthresh` SACKed segments above it is late: it is
    /// waited for during `wait`, then retransmitted. Returns whether a run of late segments is lost.
    pub fn update_late(&mut self, dupthresh: u32, now: Time, wait: Time) -> bool {
        let frontier = self.frontier_by_segments(dupthresh);
        let Some(mut late) = self.late.take() else { return false };
        let mut lost = false;
        if frontier > late.below {
            let mut i = self.index_of(late.below);
            while let Some(s) = self.segments.get(i).filter(|s| s.seq < frontier) {
                if !s.sacked && !s.lost {
                    late.waiting.push_back(Overtaken { seq: s.seq, until: now + wait });
                }
                i += 1;
            }
            late.below = frontier;
            lost = self.lose_runs(&late);
        }
        late.waiting.retain(|one| {
            let i = self.index_of(one.seq);
            let missing = self.segments.get(i).is_some_and(|s| s.seq == one.seq && !s.sacked && !s.lost);
            if missing && one.until <= now {
                self.give_up(i);
            }
            missing && one.until > now
        });
        self.late = Some(late);
        lost
    }

    /// Marks as lost all missing segments of every run of at least `trigger` consecutive late ones (including those
    /// already lost). Returns whether there was any.
    fn lose_runs(&mut self, late: &LateSegments) -> bool {
        let mut found = false;
        let mut done = 0;
        for one in &late.waiting {
            let i = self.index_of(one.seq);
            if i < done || self.segments.get(i).is_none_or(|s| s.seq != one.seq || s.sacked) {
                continue;
            }
            let missing = |s: &Segment| !s.sacked && s.seq < late.below;
            let before = self.segments.range(..i).rev().take_while(|s| missing(s)).count();
            let behind = self.segments.range(i..).take_while(|s| missing(s)).count();
            done = i + behind;
            if before + behind >= late.trigger as usize {
                for j in i - before..done {
                    if !self.segments[j].lost {
                        self.give_up(j);
                        found = true;
                    }
                }
            }
        }
        found
    }
}
