//! Scoreboard: sent segments that are not yet acknowledged, one entry each, in order.
//!
//! RFC 6675: a segment is lost when at least `dupthresh` separate SACKed runs, or more than `dupthresh - 1` full
//! segments of SACKed bytes, lie above it. The rule is monotone (everything below a lost segment is lost or SACKed), so
//! one frontier suffices, and every segment is visited once, when the frontier passes it. `pipe` counts the copies
//! believed to be in the network.

mod late;
mod ns3;
pub mod rack;
mod timed;

use crate::event::prefetch;
use crate::transport::ranges::Ranges;
use incast_cc::Time;
use rack::Rack;
use std::collections::VecDeque;
use std::mem::offset_of;

#[derive(Clone, Copy, Default, Debug)]
struct Segment {
    seq: u64,
    len: u16,
    sacked: bool,
    lost: bool,
    /// Retransmitted since it was last marked lost.
    retransmitted: bool,
    /// Retransmitted at any time.
    ever: bool,
    /// Copies counted in `pipe`.
    copies: u8,
}

impl Segment {
    fn end(&self) -> u64 {
        self.seq + self.len as u64
    }

    fn hole(&self) -> Hole {
        Hole { seq: self.seq, len: self.len as u32 }
    }

    /// Returns whether the segment is to be retransmitted.
    fn is_pending(&self) -> bool {
        self.lost && !self.sacked && !self.retransmitted
    }
}

/// Segment that others have overtaken.
#[derive(Clone, Copy, Debug)]
struct Overtaken {
    seq: u64,
    /// Time of its retransmission.
    until: Time,
}

/// Late segments of [`incast_cc::Late`]. Their frontier moves like that of losses, so that segments become late in the
/// order of their sequence numbers.
#[derive(Clone, Debug)]
struct LateSegments {
    trigger: u32,
    /// Frontier: a segment below it that is neither acknowledged nor SACKed is late or lost.
    below: u64,
    /// Late segments, not yet lost; some may have arrived since.
    waiting: VecDeque<Overtaken>,
}

/// Segment to retransmit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hole {
    /// First byte.
    pub seq: u64,
    /// Payload bytes.
    pub len: u32,
}

/// Outstanding segments. Fields for an in-order ACK come last, next to the controller in a sender.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct Scoreboard {
    sacked: Ranges,
    /// Bytes found lost since the last [`take_found_lost`](Scoreboard::take_found_lost).
    found_lost: u64,
    /// Frontier of losses: unsacked segments below it are lost.
    lost_below: u64,
    /// Frontier of retransmissions: lost segments below it have been retransmitted.
    retransmit_from: u64,
    /// Frontier of NextSeg's rule 3: no candidate is left below it.
    unproven_from: u64,
    /// Send times, if kept.
    rack: Option<Box<Rack>>,
    /// Overtaken segments, if they are waited for.
    late: Option<Box<LateSegments>>,
    /// Upper end of the segments whose first copy is watched for its arrival.
    watch: u64,
    /// Number of lost, unsacked segments to be retransmitted.
    pending: u32,
    /// Number of segments retransmitted since they were last marked lost, SACKed or not.
    retransmissions: u32,
    /// Full segment size of ns-3's scoreboard; 0 elsewhere.
    ns3: u32,
    /// Set if a segment below [`watch`](Scoreboard::watch) has arrived in its first copy.
    original: bool,
    /// Set if the latest acknowledgement covered a segment that was ever retransmitted.
    acked_retransmission: bool,
    pipe: u64,
    segments: VecDeque<Segment>,
}

impl Scoreboard {
    /// Offset of the fields for an in-order ACK.
    pub const HOT: usize = offset_of!(Scoreboard, pipe);

    /// Prefetches the first segment.
    #[inline]
    pub fn prefetch(&self) {
        if let Some(first) = self.segments.front() {
            prefetch::lines(first, 1);
        }
    }

    /// Notes a tail loss probe of the last segment: a retransmission for RTT samples and RACK, but counted in flight
    /// once.
    pub fn probed(&mut self, seq: u64) {
        let i = self.index_of(seq);
        self.segments[i].ever = true;
    }

    /// Last outstanding segment.
    pub fn last(&self) -> Option<Hole> {
        self.segments.back().map(Segment::hole)
    }

    /// Returns whether anything is SACKed, lost, or retransmitted.
    pub fn is_disordered(&self) -> bool {
        debug_assert_eq!(self.retransmissions as usize, self.segments.iter().filter(|s| s.retransmitted).count());
        self.has_sacked()
            || self.pending > 0
            || self.retransmissions > 0
            || self.segments.front().is_some_and(|s| s.ever)
    }

    /// Returns whether at least `n` segments are SACKed.
    pub fn has_sacked_segments(&self, n: u32) -> bool {
        let runs = self.sacked.as_slice().iter().rev().map(|(a, b)| self.index_of(*b) - self.index_of(*a));
        runs.scan(0, |sum, run| {
            *sum += run;
            Some(*sum)
        })
        .any(|sum| sum >= n as usize)
    }

    /// Marks segment `i` lost, its latest copy included, and queues it for retransmission.
    fn give_up(&mut self, i: usize) {
        self.found_lost += self.segments[i].len as u64;
        self.queue_retransmission(i);
    }

    /// Queues segment `i` for retransmission: none of its copies is in the network.
    fn queue_retransmission(&mut self, i: usize) {
        let s = &mut self.segments[i];
        s.lost = true;
        self.retransmissions -= u32::from(s.retransmitted);
        s.retransmitted = false;
        self.pipe -= s.len as u64 * s.copies as u64;
        s.copies = 0;
        self.pending += 1;
        self.retransmit_from = self.retransmit_from.min(s.seq);
    }

    /// Number of outstanding segments.
    pub fn len(&self) -> u32 {
        self.segments.len() as u32
    }

    /// Number of lost segments if nothing is SACKed: they are the first ones.
    pub fn lost_at_front(&self) -> u32 {
        self.segments.partition_point(|s| s.lost) as u32
    }

    /// Bytes believed to be in the network.
    #[inline]
    pub fn pipe(&self) -> u64 {
        self.pipe
    }

    /// Returns whether nothing is outstanding.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Adds a new segment.
    #[inline]
    pub fn sent(&mut self, seq: u64, len: u32) {
        self.segments.push_back(Segment { seq, len: len as u16, copies: 1, ..Segment::default() });
        self.pipe += len as u64;
    }

    /// Returns whether losses are detected by SACK alone, and nothing else is kept of a segment.
    pub fn is_plain(&self) -> bool {
        self.rack.is_none() && self.late.is_none() && self.ns3 == 0
    }

    /// Returns whether nothing is SACKed, lost, or retransmitted and unacknowledged, and every loss was reported.
    #[inline(always)]
    pub fn is_in_order(&self) -> bool {
        self.pending == 0 && self.retransmissions == 0 && self.found_lost == 0 && self.sacked.is_empty()
    }

    /// Acknowledges everything below `una` on a [plain](Scoreboard::is_plain) scoreboard [in
    /// order](Scoreboard::is_in_order), while no original is watched for.
    #[inline(always)]
    pub fn acked_in_order(&mut self, una: u64) {
        while let Some(s) = self.segments.front_mut() {
            if s.end() > una {
                if s.seq < una {
                    let covered = (una - s.seq) as u16;
                    self.pipe -= covered as u64 * s.copies as u64;
                    (s.seq, s.len) = (una, s.len - covered);
                }
                break;
            }
            self.pipe -= s.len as u64 * s.copies as u64;
            self.segments.pop_front();
        }
        self.shrink();
    }

    /// Gives back the memory of a past larger window, since the deque walks through all of its memory.
    #[inline(always)]
    fn shrink(&mut self) {
        if self.segments.capacity() > 32 && self.segments.len() * 4 < self.segments.capacity() {
            self.segments.shrink_to(self.segments.len() * 2);
        }
    }

    /// Acknowledges everything below `una`. Returns the bytes that SACK had not reported before, and whether any of the
    /// segments had been retransmitted.
    #[inline]
    pub fn acked(&mut self, una: u64) -> (u64, bool) {
        let (mut delivered, mut retransmitted) = (0, false);
        let start = self.segments.front().map_or(una, |s| s.seq);
        self.acked_retransmission = false;
        while let Some(s) = self.segments.front() {
            if s.end() > una {
                break;
            }
            self.acked_retransmission |= s.ever;
            self.retransmissions -= u32::from(s.retransmitted);
            self.pipe -= s.len as u64 * s.copies as u64;
            if let Some(rack) = &mut self.rack
                && let Some(sent) = rack.times.pop_front()
            {
                rack.acknowledged(sent, s.ever, s.sacked);
                if let Some(rate) = &mut rack.rate
                    && let Some(departed) = rate.departed.pop_front()
                    && !s.sacked
                {
                    rate.report(departed);
                }
                if !s.sacked {
                    let ever_retransmitted = if rack.timed { s.ever } else { s.retransmitted };
                    rack.arrived(sent, s.seq, s.len, ever_retransmitted, true);
                }
            }
            if !s.sacked {
                delivered += s.len as u64;
                self.original |= !s.ever && s.end() <= self.watch;
            }
            if s.is_pending() {
                self.pending -= 1;
            }
            retransmitted |= s.retransmitted && (self.ns3 == 0 || self.tells_ns3(s, start, una));
            self.segments.pop_front();
        }
        // ACK of a segment that has since been gathered into a longer one
        if let Some(s) = self.segments.front_mut()
            && s.seq < una
        {
            let covered = (una - s.seq) as u32;
            self.pipe -= covered as u64 * s.copies as u64;
            delivered += if s.sacked { 0 } else { covered as u64 };
            s.seq = una;
            s.len -= covered as u16;
        }
        if !self.sacked.is_empty() {
            self.sacked.cut_below(una);
        }
        self.shrink();
        (delivered, retransmitted)
    }

    fn index_of(&self, seq: u64) -> usize {
        self.segments.partition_point(|s| s.seq < seq)
    }

    /// Adds a SACK block above `una`. Returns the newly reported bytes.
    pub fn sack(&mut self, start: u64, end: u64, una: u64) -> u64 {
        let start = start.max(una);
        if start >= end {
            return 0;
        }
        let (mut fresh, mut count, mut newly) = ([(0u64, 0u64); 8], 0, 0);
        let Scoreboard { segments, sacked, pipe, pending, rack, ns3, watch, original, .. } = self;
        let mut mark = |a: u64, b: u64| {
            let mut i = segments.partition_point(|s| s.seq < a);
            while let Some(s) = segments.get_mut(i) {
                if s.end() > b {
                    break;
                }
                if !s.sacked {
                    if let Some(rack) = rack
                        && let Some(sent) = rack.times.get(i)
                    {
                        let sent = *sent;
                        rack.arrived(sent, s.seq, s.len, if rack.timed { s.ever } else { s.retransmitted }, false);
                        if !s.ever {
                            rack.reported(sent);
                        }
                        if let Some(rate) = &mut rack.rate
                            && let Some(departed) = rate.departed.get(i).copied()
                        {
                            rate.report(departed);
                        }
                    }
                    s.sacked = true;
                    *original |= !s.ever && s.end() <= *watch;
                    newly += s.len as u64;
                    let stays = s.copies.min(u8::from(*ns3 > 0 && s.retransmitted));
                    *pipe -= s.len as u64 * (s.copies - stays) as u64;
                    s.copies = stays;
                    *pending -= u32::from(s.lost && !s.retransmitted);
                }
                i += 1;
            }
        };
        sacked.add(start, end, |a, b| {
            if count < fresh.len() {
                fresh[count] = (a, b);
                count += 1;
            } else {
                // more holes filled at once than a block usually fills: extend the last part
                fresh[count - 1].1 = b;
            }
        });
        for (a, b) in &fresh[..count] {
            mark(*a, *b);
        }
        newly
    }

    /// Returns whether SACK has reported anything above the cumulative acknowledgement.
    pub fn has_sacked(&self) -> bool {
        !self.sacked.is_empty()
    }

    /// Bytes SACKed above the cumulative acknowledgement.
    pub fn sacked_bytes(&self) -> u64 {
        self.sacked.bytes()
    }

    /// Moves the loss frontier (RFC 6675 IsLost) and marks what it passes. Returns whether new
    /// losses were found.
    pub fn update_lost(&mut self, dupthresh: u32, mss: u32) -> bool {
        let mut above = 0u64;
        let mut frontier = 0;
        for (runs, (a, b)) in self.sacked.as_slice().iter().rev().enumerate() {
            above += b - a;
            if runs as u32 + 1 >= dupthresh || above > (dupthresh as u64 - 1) * mss as u64 {
                frontier = *a;
                break;
            }
        }
        self.lose_below(frontier)
    }

    /// Moves the loss frontier up to `frontier`.
    fn lose_below(&mut self, frontier: u64) -> bool {
        if frontier <= self.lost_below {
            return false;
        }
        let from = self.index_of(self.lost_below);
        self.lost_below = frontier;
        let mut found = false;
        for s in self.segments.range_mut(from..).take_while(|s| s.seq < frontier) {
            if !s.sacked && !s.lost {
                s.lost = true;
                self.found_lost += s.len as u64;
                // a copy that was retransmitted on suspicion is still in flight
                let under_way = s.copies.min(s.retransmitted as u8);
                self.pipe -= s.len as u64 * (s.copies - under_way) as u64;
                s.copies = under_way;
                if !s.retransmitted {
                    self.pending += 1;
                    self.retransmit_from = self.retransmit_from.min(s.seq);
                    found = true;
                }
            }
        }
        found
    }

    /// Marks everything that is not SACKed lost after a timeout. SACK information is kept, as Linux and ns-3 do (RFC
    /// 2018 section 8 would drop it).
    pub fn timed_out(&mut self, una: u64, nxt: u64) {
        self.pipe = 0;
        self.pending = 0;
        self.retransmissions = 0;
        for s in &mut self.segments {
            (s.copies, s.retransmitted) = (0, false);
            s.lost |= !s.sacked;
            self.pending += u32::from(!s.sacked);
        }
        self.restart_repairs(una, nxt);
        if let Some(late) = &mut self.late {
            late.waiting.clear();
        }
    }

    /// Restarts the repairs at `una`; unsacked segments below `lost_below` are lost.
    fn restart_repairs(&mut self, una: u64, lost_below: u64) {
        (self.lost_below, self.retransmit_from, self.unproven_from) = (lost_below, una, una);
        if let Some(late) = &mut self.late {
            late.below = lost_below;
        }
    }

    /// Counts the latest copy of the first outstanding segment as lost (recovery without SACK). A segment that waits
    /// for retransmission has been counted before.
    pub fn first_is_taken_for_lost(&mut self) {
        let lost = self.segments.front().filter(|s| !s.is_pending());
        self.found_lost += lost.map_or(0, |s| s.len as u64);
    }

    /// Bytes found lost since the last call, except by a timeout or by trimming.
    #[inline]
    pub fn take_found_lost(&mut self) -> u64 {
        std::mem::take(&mut self.found_lost)
    }

    /// Watches whether a segment that ends at `edge` or below arrives in its first copy; 0 stops that.
    pub fn watch_below(&mut self, edge: u64) {
        self.watch = edge;
        self.original = false;
    }

    /// Returns whether a watched segment has arrived in its first copy since the last call.
    #[inline]
    pub fn original_arrived(&mut self) -> bool {
        std::mem::take(&mut self.original)
    }

    /// Returns whether the latest acknowledgement covered a segment that was ever retransmitted.
    pub fn acked_retransmission(&self) -> bool {
        self.acked_retransmission
    }

    /// Undoes all losses: every segment that is not SACKed is in flight, in all its copies.
    pub fn nothing_is_lost(&mut self, una: u64) {
        self.pipe = 0;
        self.pending = 0;
        for s in &mut self.segments {
            if !s.sacked {
                s.lost = false;
                s.copies = 1 + s.retransmitted as u8;
                self.pipe += s.len as u64 * s.copies as u64;
            }
        }
        self.restart_repairs(una, una);
    }

    /// Marks the first outstanding segment lost (fast retransmit by duplicate ACKs).
    pub fn mark_first_lost(&mut self) {
        if self.ns3 > 0 {
            self.forget_retransmission(0);
        }
        if let Some(s) = self.segments.front().copied().filter(|s| !s.lost && !s.sacked && !s.retransmitted) {
            self.give_up(0);
            self.lost_below = self.lost_below.max(s.seq + 1);
        }
    }

    /// Queues the segment at `seq` for retransmission, as a copy of it was trimmed; this is no loss. `None` if it is no
    /// longer outstanding.
    pub fn trimmed(&mut self, seq: u64) -> Option<Hole> {
        let i = self.index_of(seq);
        let s = self.segments.get(i).copied().filter(|s| s.seq == seq && !s.sacked)?;
        if !s.lost || s.retransmitted {
            self.queue_retransmission(i);
        }
        Some(s.hole())
    }

    /// Next lost segment to be retransmitted.
    #[inline]
    pub fn next_hole(&mut self) -> Option<Hole> {
        if self.pending > 0 { self.next_pending() } else { None }
    }

    fn next_pending(&mut self) -> Option<Hole> {
        let from = self.index_of(self.retransmit_from);
        let hole = self.segments.range(from..).find(|s| s.is_pending())?.hole();
        self.retransmit_from = hole.seq;
        Some(hole)
    }

    /// First segment below the highest SACKed byte that is neither SACKed, nor lost, nor retransmitted (RFC 6675
    /// NextSeg rule 3).
    pub fn next_unproven(&mut self) -> Option<Hole> {
        let highest = self.sacked.as_slice().last()?.0;
        let from = self.index_of(self.lost_below.max(self.unproven_from));
        for s in self.segments.range(from..) {
            self.unproven_from = s.seq;
            if s.seq >= highest || !s.sacked && !s.retransmitted {
                return (s.seq < highest).then(|| s.hole());
            }
        }
        None
    }

    /// Returns whether the first outstanding segment is lost (then, and only then, any is).
    pub fn first_is_lost(&self) -> bool {
        self.segments.front().is_some_and(|s| s.lost)
    }

    /// First outstanding segment.
    pub fn first(&self) -> Option<Hole> {
        self.segments.front().map(Segment::hole)
    }

    /// Last outstanding segment, if it is neither SACKed nor retransmitted (RFC 6675 rescue).
    pub fn last_unsacked(&self) -> Option<Hole> {
        self.segments.back().filter(|s| !s.sacked && !s.retransmitted).map(Segment::hole)
    }

    /// Notes a retransmission. It counts in `pipe` unless it `replaces` a lost copy that was never taken out (recovery
    /// without SACK).
    pub fn retransmitted(&mut self, seq: u64, replaces: bool) {
        let i = self.index_of(seq);
        if let Some(s) = self.segments.get_mut(i) {
            self.pending -= u32::from(s.is_pending());
            let counted = self.ns3 > 0 && s.retransmitted;
            self.retransmissions += u32::from(!s.retransmitted);
            s.retransmitted = true;
            s.ever = true;
            if !replaces && !counted {
                s.copies += 1;
                self.pipe += s.len as u64;
            }
            if seq == self.retransmit_from {
                self.retransmit_from = seq + 1;
            }
        }
    }
}
