//! Late segments: what others have overtaken is waited for before it is lost.

use super::*;

impl Scoreboard {
    /// A scoreboard that waits for segments that others have overtaken; `trigger` consecutive ones are lost.
    pub fn waiting_for_late(trigger: u32) -> Scoreboard {
        let late = LateSegments { trigger, below: 0, waiting: VecDeque::new() };
        Scoreboard { late: Some(Box::new(late)), ..Scoreboard::default() }
    }

    /// Segments that others have overtaken are waited for.
    #[inline]
    pub fn waits_for_late(&self) -> bool {
        self.late.is_some()
    }

    /// When the first wait ends that is not over yet.
    pub fn late_until(&self) -> Option<Time> {
        self.late.as_ref()?.waiting.iter().map(|one| one.until).min()
    }

    /// Brings the late segments up to date at `now`. A segment with at least `dupthresh` SACKed ones above it is late;
    /// it is waited for as long as `wait` says at that time, and then to be sent again. Returns whether a run of them
    /// is lost.
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

    /// Loses what is not lost yet of every run of at least `trigger` consecutive segments that are late or were before
    /// they were lost. Returns whether there was any.
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
