//! What the sender has sent and not yet seen acknowledged: one entry a segment, in order.
//!
//! RFC 6675: a segment is lost when at least `dupthresh` separate SACKed runs, or more than
//! `dupthresh - 1` full segments of SACKed bytes, lie above it. That is monotone (what is below a
//! lost segment is lost or SACKed), so one frontier says it all, and every segment is visited once
//! when the frontier passes it. `pipe` counts the copies believed to be in the network.

use super::rack::{DeliveryRate, Rack, Reordering, Resent};
use crate::event::prefetch;
use crate::transport::ranges::Ranges;
use incast_cc::Delivery;
use std::collections::VecDeque;

#[derive(Clone, Copy, Debug)]
struct Segment {
    seq: u64,
    len: u16,
    sacked: bool,
    lost: bool,
    /// Sent again since it was last given up.
    retransmitted: bool,
    /// Sent again at any time.
    ever: bool,
    /// Copies counted in `pipe`.
    copies: u8,
}

/// A segment to send again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hole {
    /// First byte.
    pub seq: u64,
    /// Payload bytes.
    pub len: u32,
}

/// A segment that others have overtaken.
#[derive(Clone, Copy, Debug)]
struct Overtaken {
    seq: u64,
    /// It is sent again then, ps.
    until: u64,
}

/// The late segments of [`incast_cc::Late`]. The frontier below which they are moves like that of losses, so that
/// they come to be late in the order of their sequence numbers.
#[derive(Clone, Debug)]
struct LateSegments {
    trigger: u32,
    /// What is neither acknowledged nor SACKed below it is late or lost.
    below: u64,
    /// Late and not yet lost; some may have arrived since.
    waiting: VecDeque<Overtaken>,
}

/// Outstanding segments.
#[derive(Clone, Debug, Default)]
pub struct Scoreboard {
    segments: VecDeque<Segment>,
    sacked: Ranges,
    pipe: u64,
    /// Found to be lost since [`take_found_lost`](Scoreboard::take_found_lost), bytes.
    found_lost: u64,
    /// Unsacked segments below it are lost.
    lost_below: u64,
    /// Lost segments below it have been sent again.
    retransmit_from: u64,
    /// Nothing below it is left for rule 3 of NextSeg.
    unproven_from: u64,
    /// Lost, unsacked, not sent again.
    pending: u32,
    /// Sent again since they were last given up, SACKed or not.
    again: u32,
    /// Send times, where losses are told by them.
    rack: Option<Box<Rack>>,
    /// Segments that others have overtaken, where they are waited for.
    late: Option<Box<LateSegments>>,
    /// Full segment of a scoreboard as ns-3 keeps it; 0 elsewhere.
    ns3: u32,
    /// Whether a segment that ends here or below arrives in its first copy is of interest.
    watch: u64,
    /// ... and one has.
    original: bool,
    /// The latest acknowledgement covered a segment that was sent again at some time.
    acked_again: bool,
}

impl Scoreboard {
    /// Brings near its first segment.
    #[inline]
    pub fn prefetch(&self) {
        if let Some(first) = self.segments.front() {
            prefetch::lines(first, 1);
        }
    }

    /// A scoreboard that keeps send times, and tells losses by them if `tells`.
    pub fn with_times(tells: bool) -> Scoreboard {
        Scoreboard { rack: Some(Box::new(Rack::new(tells))), ..Scoreboard::default() }
    }

    /// Notes for how long what was overtaken is to be waited for, if `timed`; and, if `adapts`, reordering: the
    /// reordering window follows it.
    pub fn reordering(mut self, timed: bool, adapts: bool) -> Scoreboard {
        if let Some(rack) = &mut self.rack {
            rack.timed = timed;
            rack.reordering = adapts.then(Reordering::default);
        }
        self
    }

    /// Samples delivery rates from now on.
    pub fn sampling(mut self) -> Scoreboard {
        let rack = self.rack.get_or_insert_with(|| Box::new(Rack::new(false)));
        rack.rate = Some(DeliveryRate::default());
        self
    }

    /// The delivery rate that the ACK at work shows, at `now`, with `delivered` bytes newly reported.
    pub fn delivery(&mut self, now: u64, delivered: u64, min_rtt: u64) -> Option<Delivery> {
        self.rack.as_mut()?.rate.as_mut()?.sample(now, delivered, min_rtt)
    }

    /// The application has nothing to send.
    pub fn limited_by_application(&mut self) {
        let pipe = self.pipe;
        if let Some(rate) = self.rack.as_mut().and_then(|rack| rack.rate.as_mut()) {
            rate.limit(pipe);
        }
    }

    /// A scoreboard that waits for segments that others have overtaken; `trigger` consecutive ones are lost.
    pub fn waiting_for_late(trigger: u32) -> Scoreboard {
        let late = LateSegments { trigger, below: 0, waiting: VecDeque::new() };
        Scoreboard { late: Some(Box::new(late)), ..Scoreboard::default() }
    }

    /// A scoreboard as ns-3 keeps it, for full segments of `mss`: a retransmission counts once, and as in flight
    /// until it is acknowledged, whatever SACK says of it.
    pub fn of_ns3(mss: u32) -> Scoreboard {
        Scoreboard { ns3: mss, ..Scoreboard::default() }
    }

    /// The segment at `seq` was sent, for the first time or again, at `now`; `clock` is what the clock that times
    /// segments says then. Delivery rates go by the exact time.
    #[inline]
    pub fn stamp(&mut self, seq: u64, clock: u64, now: u64) {
        if self.rack.is_some() {
            self.note_time(seq, clock, now);
        }
    }

    fn note_time(&mut self, seq: u64, clock: u64, now: u64) {
        let i = self.index_of(seq);
        if let (Some(rack), Some(s)) = (&mut self.rack, self.segments.get(i)) {
            if let Some(rate) = &mut rack.rate {
                // as Linux asks: nothing else is outstanding, whatever is believed to be in flight
                rate.send(i, now, self.segments.len() == 1);
            }
            match rack.times.get_mut(i) {
                Some(time) => {
                    *time = clock;
                    if rack.tells {
                        rack.resent.push_back(Resent { at: clock, seq, end: seq + s.len as u64 });
                    }
                }
                None => rack.times.push_back(clock),
            }
        }
    }

    /// An ACK arrives at `now`; `min_rtt` is the quickest round trip so far.
    #[inline]
    pub fn begin_ack(&mut self, now: u64, min_rtt: u64) {
        if let Some(rack) = &mut self.rack {
            rack.begin(now, min_rtt, self.sacked.as_slice().last().map_or(0, |run| run.1));
        }
    }

    /// Marks what RFC 8985 takes for lost, with so much time for reordering. Returns whether new losses
    /// were found, of first or later transmissions.
    pub fn update_lost_by_time(&mut self, reordering: u64) -> bool {
        let Some(mut rack) = self.rack.take() else { return false };
        let found = rack.advanced() && self.give_up_by(&mut rack, reordering);
        self.rack = Some(rack);
        found
    }

    /// The same at `now`, when the wait for what may be reordered is over.
    pub fn look_again(&mut self, now: u64, reordering: u64) -> bool {
        let Some(mut rack) = self.rack.take() else { return false };
        rack.now = now;
        let found = self.give_up_by(&mut rack, reordering);
        self.rack = Some(rack);
        found
    }

    /// How long the last of what was overtaken, and is not lost by the ACK at work, may still be under way; `None` if
    /// nothing is, the ACK tells nothing new, or it is not waited for.
    #[inline]
    pub fn reordering_wait(&self) -> Option<u64> {
        self.rack.as_ref()?.wait
    }

    /// Whether the ACK at work shows that something that was sent again is lost again.
    pub fn resent_is_lost(&self) -> bool {
        self.rack.as_ref().is_some_and(|rack| rack.lost_again && rack.timed)
    }

    /// Quarters of the shortest round trip that are left for reordering, where it is `sure` that nothing is reordered
    /// as far as was seen: none then.
    pub fn reordering_steps(&self, sure: bool) -> u64 {
        match self.rack.as_ref().and_then(|rack| rack.reordering.as_ref()) {
            Some(seen) if seen.seen => seen.steps.into(),
            _ if sure => 0,
            Some(unseen) => unseen.steps.into(),
            None => 1,
        }
    }

    /// The ACK at work reports something that came twice; `una` and `nxt` tell round trips apart.
    pub fn reported_twice(&mut self, una: u64, nxt: u64) {
        if let Some(reordering) = self.rack.as_mut().and_then(|rack| rack.reordering.as_mut()) {
            reordering.widen(una, nxt);
        }
    }

    /// Losses are repaired.
    #[inline]
    pub fn recovered(&mut self) {
        if let Some(reordering) = self.rack.as_mut().and_then(|rack| rack.reordering.as_mut()) {
            reordering.recovered();
        }
    }

    /// The last segment goes again as a probe: as what RTT samples and RACK go by, but it is in flight once.
    pub fn probed(&mut self, seq: u64) {
        let i = self.index_of(seq);
        if let Some(s) = self.segments.get_mut(i) {
            s.ever = true;
        }
    }

    /// The last outstanding segment.
    pub fn last(&self) -> Option<Hole> {
        self.segments.back().map(|s| Hole { seq: s.seq, len: s.len as u32 })
    }

    /// Whether anything is SACKed, lost, or under way for the second time.
    pub fn is_disordered(&self) -> bool {
        debug_assert_eq!(self.again as usize, self.segments.iter().filter(|s| s.retransmitted).count());
        self.has_sacked() || self.pending > 0 || self.again > 0 || self.segments.front().is_some_and(|s| s.ever)
    }

    /// Whether at least `n` segments are SACKed.
    pub fn has_sacked_segments(&self, n: u32) -> bool {
        let mut found = 0;
        self.sacked.as_slice().iter().rev().any(|(a, b)| {
            found += self.index_of(*b) - self.index_of(*a);
            found >= n as usize
        })
    }

    fn give_up_by(&mut self, rack: &mut Rack, reordering: u64) -> bool {
        let mut from = self.index_of(self.lost_below);
        let mut found = false;
        while let (Some(s), Some(sent)) = (self.segments.get(from).copied(), rack.times.get(from)) {
            let end = s.seq + s.len as u64;
            if !s.retransmitted {
                if !rack.gives_up(*sent, end, reordering) {
                    break;
                }
                if !s.sacked && !s.lost {
                    self.give_up(from);
                    found = true;
                }
            }
            self.lost_below = end;
            from += 1;
        }
        while let Some(r) = rack.resent.front().copied() {
            let i = self.index_of(r.seq);
            let open = self.segments.get(i).is_some_and(|s| s.seq == r.seq && s.retransmitted && !s.sacked);
            if open && rack.times[i] == r.at {
                if !rack.gives_up(r.at, r.end, reordering) {
                    break;
                }
                self.give_up(i);
                found = true;
                rack.lost_again = true;
            }
            rack.resent.pop_front();
        }
        if rack.timed {
            rack.wait = self.latest_overtaken(rack, from).map(|sent| rack.left(sent, reordering));
        }
        found
    }

    /// When the last was sent of what something sent later has overtaken, from the `from`-th segment on or for the
    /// second time. What was sent once left in order, so that the look ends at the first of it that nothing has
    /// overtaken: in order, at the `from`-th.
    fn latest_overtaken(&self, rack: &Rack, from: usize) -> Option<u64> {
        let mut i = from;
        let mut latest = None;
        while let Some(s) = self.segments.get(i) {
            if s.sacked {
                i = self.sacked.find(s.seq).map_or(i, |(_, end)| self.index_of(end)).max(i + 1);
                continue;
            }
            if rack.is_overtaken(rack.times[i], s.seq + s.len as u64) {
                if !s.lost && !s.retransmitted {
                    latest = latest.max(Some(rack.times[i]));
                }
            } else if !s.ever {
                break;
            }
            i += 1;
        }
        let open = |r: &&Resent| {
            let s = self.segments.get(self.index_of(r.seq));
            s.is_some_and(|s| s.seq == r.seq && s.retransmitted && !s.sacked)
                && rack.times[self.index_of(r.seq)] == r.at
                && rack.is_overtaken(r.at, r.end)
        };
        let overtaken = rack.resent.iter().take_while(|r| rack.is_overtaken(r.at, 0));
        latest.max(overtaken.filter(open).last().map(|r| r.at))
    }

    /// Segment `i` is lost, in its latest copy too, and has to go again.
    fn give_up(&mut self, i: usize) {
        let s = &mut self.segments[i];
        s.lost = true;
        self.found_lost += s.len as u64;
        self.again -= u32::from(s.retransmitted);
        s.retransmitted = false;
        self.pipe -= s.len as u64 * s.copies as u64;
        s.copies = 0;
        self.pending += 1;
        self.retransmit_from = self.retransmit_from.min(s.seq);
    }

    /// RTT samples of the ACK at work, where send times are kept: of what it acknowledges, and of what its
    /// SACKs report; of each the longest and the shortest.
    pub fn samples(&self) -> [Option<(u64, u64)>; 2] {
        self.rack.as_ref().map_or([None; 2], |rack| rack.samples())
    }

    /// When the first outstanding segment was last sent, where send times are kept.
    pub fn first_sent(&self) -> Option<u64> {
        self.rack.as_ref()?.times.front().copied()
    }

    /// Outstanding segments.
    pub fn len(&self) -> u32 {
        self.segments.len() as u32
    }

    /// Lost ones among them where nothing is SACKed: they are the first.
    pub fn lost_at_front(&self) -> u32 {
        self.segments.partition_point(|s| s.lost) as u32
    }

    /// Bytes believed to be in the network.
    #[inline]
    pub fn pipe(&self) -> u64 {
        self.pipe
    }

    /// Nothing is outstanding.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// A new segment was sent.
    #[inline]
    pub fn sent(&mut self, seq: u64, len: u32) {
        self.segments.push_back(Segment {
            seq,
            len: len as u16,
            sacked: false,
            lost: false,
            retransmitted: false,
            ever: false,
            copies: 1,
        });
        self.pipe += len as u64;
    }

    /// Everything below `una` was acknowledged. Returns the bytes which SACK had not reported
    /// before, and whether any of the acknowledged segments had been sent again.
    #[inline]
    pub fn acked(&mut self, una: u64) -> (u64, bool) {
        let mut delivered = 0;
        let mut retransmitted = false;
        let start = self.segments.front().map_or(una, |s| s.seq);
        self.acked_again = false;
        while let Some(s) = self.segments.front() {
            if s.seq + s.len as u64 > una {
                break;
            }
            self.acked_again |= s.ever;
            self.again -= u32::from(s.retransmitted);
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
                    let again = if rack.timed { s.ever } else { s.retransmitted };
                    rack.arrived(sent, s.seq, s.len, again, true);
                }
            }
            if !s.sacked {
                delivered += s.len as u64;
                self.original |= !s.ever && s.seq + s.len as u64 <= self.watch;
            }
            if s.lost && !s.sacked && !s.retransmitted {
                self.pending -= 1;
            }
            retransmitted |= s.retransmitted && (self.ns3 == 0 || self.tells_ns3(s, start, una));
            self.segments.pop_front();
        }
        // the ACK of a segment that has since been gathered into a longer one
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
        // the deque walks through all of its memory: give back what a past window needed
        if self.segments.capacity() > 32 && self.segments.len() * 4 < self.segments.capacity() {
            self.segments.shrink_to(self.segments.len() * 2);
        }
        (delivered, retransmitted)
    }

    /// Whether ns-3 sees a retransmission in `s`, acknowledged from `start` to `una`: it looks at whole segments
    /// back from the end.
    #[cold]
    fn tells_ns3(&self, s: &Segment, start: u64, una: u64) -> bool {
        let (behind, mss) = (una - s.seq - s.len as u64, self.ns3 as u64);
        !s.sacked && behind % mss == 0 && behind / mss < (una - start) / mss
    }

    /// Whether a retransmission that nothing acknowledged ends at `end`.
    pub fn retransmitted_to(&self, end: u64) -> bool {
        let s = self.index_of(end).checked_sub(1).and_then(|i| self.segments.get(i));
        s.is_some_and(|s| s.seq + s.len as u64 == end && s.retransmitted && !s.sacked)
    }

    fn index_of(&self, seq: u64) -> usize {
        self.segments.partition_point(|s| s.seq < seq)
    }

    /// A SACK block above `una`. Returns the bytes it newly reports.
    pub fn sack(&mut self, start: u64, end: u64, una: u64) -> u64 {
        let start = start.max(una);
        if start >= end {
            return 0;
        }
        let mut fresh = [(0u64, 0u64); 8];
        let mut count = 0;
        let mut newly = 0;
        let Scoreboard { segments, sacked, pipe, pending, rack, ns3, watch, original, .. } = self;
        let mut mark = |a: u64, b: u64| {
            let mut i = segments.partition_point(|s| s.seq < a);
            while let Some(s) = segments.get_mut(i) {
                if s.seq + s.len as u64 > b {
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
                    *original |= !s.ever && s.seq + s.len as u64 <= *watch;
                    newly += s.len as u64;
                    let stays = s.copies.min(u8::from(*ns3 > 0 && s.retransmitted));
                    *pipe -= s.len as u64 * (s.copies - stays) as u64;
                    s.copies = stays;
                    if s.lost && !s.retransmitted {
                        *pending -= 1;
                    }
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

    /// Whether SACK has reported anything above the cumulative acknowledgement.
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

    /// The same by ns-3's count: a segment is lost when at least `dupthresh` SACKed segments,
    /// whatever their size, lie above it.
    pub fn update_lost_by_segments(&mut self, dupthresh: u32) -> bool {
        let frontier = self.frontier_by_segments(dupthresh);
        self.lose_below(frontier)
    }

    /// Where at least `dupthresh` SACKed segments begin; 0 where there are fewer.
    fn frontier_by_segments(&self, dupthresh: u32) -> u64 {
        let mut above = 0;
        for (a, b) in self.sacked.as_slice().iter().rev() {
            let first = self.index_of(*a);
            let mut i = self.index_of(*b);
            while i > first {
                i -= 1;
                above += 1;
                if above >= dupthresh {
                    return self.segments[i].seq;
                }
            }
        }
        0
    }

    /// Segments that others have overtaken are waited for.
    #[inline]
    pub fn waits_for_late(&self) -> bool {
        self.late.is_some()
    }

    /// When the first wait ends that is not over yet, ps.
    pub fn late_until(&self) -> Option<u64> {
        self.late.as_ref()?.waiting.iter().map(|one| one.until).min()
    }

    /// Brings the late segments up to date at `now`. A segment with at least `dupthresh` SACKed ones above it is late;
    /// it is waited for as long as `wait` says at that time, and then to be sent again. Returns whether a run of them
    /// is lost.
    pub fn update_late(&mut self, dupthresh: u32, now: u64, wait: u64) -> bool {
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

    /// Moves the loss frontier up to `frontier`.
    fn lose_below(&mut self, frontier: u64) -> bool {
        if frontier <= self.lost_below {
            return false;
        }
        let mut i = self.index_of(self.lost_below);
        self.lost_below = frontier;
        let mut found = false;
        while let Some(s) = self.segments.get_mut(i) {
            if s.seq >= frontier {
                break;
            }
            if !s.sacked && !s.lost {
                s.lost = true;
                self.found_lost += s.len as u64;
                // a copy that was sent again on suspicion is still under way
                let under_way = s.copies.min(s.retransmitted as u8);
                self.pipe -= s.len as u64 * (s.copies - under_way) as u64;
                s.copies = under_way;
                if !s.retransmitted {
                    self.pending += 1;
                    self.retransmit_from = self.retransmit_from.min(s.seq);
                    found = true;
                }
            }
            i += 1;
        }
        found
    }

    /// After a timeout everything that is not SACKed is lost and may be sent again. What SACK
    /// reported is kept, as Linux and ns-3 do (RFC 2018 section 8 would forget it).
    pub fn timed_out(&mut self, una: u64, nxt: u64) {
        self.pipe = 0;
        self.pending = 0;
        self.again = 0;
        for s in &mut self.segments {
            s.copies = 0;
            s.retransmitted = false;
            if !s.sacked {
                s.lost = true;
                self.pending += 1;
            }
        }
        self.lost_below = nxt;
        self.retransmit_from = una;
        self.unproven_from = una;
        if let Some(late) = &mut self.late {
            late.below = nxt;
            late.waiting.clear();
        }
    }

    /// Bytes found to be lost since the last call, other than by a timeout.
    #[inline]
    pub fn take_found_lost(&mut self) -> u64 {
        std::mem::take(&mut self.found_lost)
    }

    /// From now on it is of interest whether a segment that ends at `edge` or below arrives in its first
    /// copy; 0 ends that.
    pub fn watch_below(&mut self, edge: u64) {
        self.watch = edge;
        self.original = false;
    }

    /// Whether one has since the last call.
    #[inline]
    pub fn original_arrived(&mut self) -> bool {
        std::mem::take(&mut self.original)
    }

    /// Whether the latest acknowledgement covered a segment that was sent again at some time.
    pub fn acked_again(&self) -> bool {
        self.acked_again
    }

    /// Nothing is lost after all: every segment that is not SACKed is in flight, in all its copies.
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
        self.lost_below = una;
        self.retransmit_from = una;
        self.unproven_from = una;
        if let Some(late) = &mut self.late {
            late.below = una;
        }
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

    /// A copy of the segment at `seq` was cut to its header: it is lost. `None` if it is no longer outstanding.
    pub fn trimmed(&mut self, seq: u64) -> Option<Hole> {
        let i = self.index_of(seq);
        let s = self.segments.get(i).copied().filter(|s| s.seq == seq && !s.sacked)?;
        if !s.lost || s.retransmitted {
            self.give_up(i);
        }
        Some(Hole { seq, len: s.len as u32 })
    }

    /// The next lost segment not yet sent again.
    pub fn next_hole(&mut self) -> Option<Hole> {
        if self.pending == 0 {
            return None;
        }
        let mut i = self.index_of(self.retransmit_from);
        while let Some(s) = self.segments.get(i) {
            if s.lost && !s.sacked && !s.retransmitted {
                self.retransmit_from = s.seq;
                return Some(Hole { seq: s.seq, len: s.len as u32 });
            }
            i += 1;
        }
        None
    }

    /// The first segment that SACK neither reports nor proves lost, below the highest SACKed
    /// byte, and not yet sent again (RFC 6675 NextSeg rule 3).
    pub fn next_unproven(&mut self) -> Option<Hole> {
        let highest = self.sacked.as_slice().last()?.0;
        let mut i = self.index_of(self.lost_below.max(self.unproven_from));
        while let Some(s) = self.segments.get(i) {
            self.unproven_from = s.seq;
            if s.seq >= highest {
                break;
            }
            if !s.sacked && !s.retransmitted {
                return Some(Hole { seq: s.seq, len: s.len as u32 });
            }
            i += 1;
        }
        None
    }

    /// Whether the first outstanding segment is lost (then, and only then, any is).
    pub fn first_is_lost(&self) -> bool {
        self.segments.front().is_some_and(|s| s.lost)
    }

    /// Whether `seq` lies below the highest SACKed segment, or nothing is SACKed.
    pub fn is_below_sacked(&self, seq: u64) -> bool {
        self.sacked.as_slice().last().is_none_or(|(_, end)| seq < *end)
    }

    /// The first outstanding segment.
    pub fn first(&self) -> Option<Hole> {
        self.segments.front().map(|s| Hole { seq: s.seq, len: s.len as u32 })
    }

    /// The last outstanding segment, if it is neither SACKed nor sent again (RFC 6675 rescue).
    pub fn last_unsacked(&self) -> Option<Hole> {
        self.segments.back().filter(|s| !s.sacked && !s.retransmitted).map(|s| Hole { seq: s.seq, len: s.len as u32 })
    }

    /// Fills `hole` up to `mss` bytes from the segment behind it, if that is as lost and has not
    /// been sent again either: ns-3 cuts what it sends again anew.
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
            self.again -= u32::from(next.retransmitted);
            self.segments.remove(i + 1);
        }
        Hole { len: hole.len + taken as u32, ..hole }
    }

    /// Segment `i` counts as not sent again, if it was.
    fn forget_retransmission(&mut self, i: usize) {
        if let Some(s) = self.segments.get_mut(i)
            && s.retransmitted
        {
            s.retransmitted = false;
            self.again -= 1;
            let gone = s.copies.min(1);
            s.copies -= gone;
            self.pipe -= s.len as u64 * gone as u64;
            if s.lost && !s.sacked {
                self.pending += 1;
                self.retransmit_from = self.retransmit_from.min(s.seq);
            }
        }
    }

    /// A segment was sent again; it counts in `pipe` unless `replaces` says that the lost copy
    /// was never taken out (recovery without SACK).
    pub fn retransmitted(&mut self, seq: u64, replaces: bool) {
        let i = self.index_of(seq);
        if let Some(s) = self.segments.get_mut(i) {
            if s.lost && !s.retransmitted && !s.sacked {
                self.pending -= 1;
            }
            let counted = self.ns3 > 0 && s.retransmitted;
            self.again += u32::from(!s.retransmitted);
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
