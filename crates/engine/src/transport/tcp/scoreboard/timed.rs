//! Send times of the scoreboard's segments: losses by time (RFC 8985), RTT samples of segments, delivery rates.

use super::Scoreboard;
use super::rack::{DeliveryRate, Rack, Reordering, Resent};
use incast_cc::{Delivery, Time};

impl Scoreboard {
    /// Scoreboard that keeps send times, and detects losses by them if `detects_losses`.
    pub fn with_times(detects_losses: bool) -> Scoreboard {
        Scoreboard { rack: Some(Box::new(Rack::new(detects_losses))), ..Scoreboard::default() }
    }

    /// Sets two options: `timed` notes how long overtaken segments are waited for; `adapts` lets the reordering window
    /// follow the reordering seen.
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

    /// Delivery rate shown by the current ACK, at `now`, with `delivered` bytes newly reported.
    pub fn delivery(&mut self, now: Time, delivered: u64, min_rtt: Time) -> Option<Delivery> {
        self.rack.as_mut()?.rate.as_mut()?.sample(now, delivered, min_rtt)
    }

    /// Notes that the application has nothing to send.
    pub fn limited_by_application(&mut self) {
        if let Some(rate) = self.rack.as_mut().and_then(|rack| rack.rate.as_mut()) {
            rate.limit(self.pipe);
        }
    }

    /// Notes the transmission or retransmission of the segment at `seq` at `now`; `clock` is the reading of the clock
    /// that times segments. Delivery rates use the exact time.
    #[inline]
    pub fn stamp(&mut self, seq: u64, clock: Time, now: Time) {
        if let Some(rack) = &mut self.rack
            && let i = self.segments.partition_point(|s| s.seq < seq)
            && let Some(s) = self.segments.get(i)
        {
            if let Some(rate) = &mut rack.rate {
                // as in Linux: nothing else is outstanding, whatever is believed to be in flight
                rate.send(i, now, self.segments.len() == 1);
            }
            match rack.times.get_mut(i) {
                Some(time) => {
                    *time = clock;
                    if rack.detects_losses {
                        rack.resent.push_back(Resent { at: clock, seq, end: s.end() });
                    }
                }
                None => rack.times.push_back(clock),
            }
        }
    }

    /// Begins an ACK at `now`; `min_rtt` is the smallest round trip so far.
    #[inline]
    pub fn begin_ack(&mut self, now: Time, min_rtt: Time) {
        if let Some(rack) = &mut self.rack {
            rack.begin(now, min_rtt, self.sacked.as_slice().last().map_or(0, |run| run.1));
        }
    }

    /// Marks losses by RFC 8985 with a window of `reordering`, if an ACK has reported anything new. Returns whether new
    /// losses were found, of first or later transmissions.
    pub fn update_lost_by_time(&mut self, reordering: Time) -> bool {
        self.rack.as_mut().is_some_and(|rack| rack.advanced()) && self.look_again(None, reordering)
    }

    /// As [`Scoreboard::update_lost_by_time`], without a new report: at `now`, when the reordering wait is over.
    pub fn look_again(&mut self, now: Option<Time>, reordering: Time) -> bool {
        let Some(mut rack) = self.rack.take() else { return false };
        rack.now = now.unwrap_or(rack.now);
        let found = self.give_up_by(&mut rack, reordering);
        self.rack = Some(rack);
        found
    }

    /// Time for which the last overtaken segment that the current ACK leaves may still be in flight. `None` if there is
    /// none, if the ACK reports nothing new, or if there is no timer for it.
    #[inline]
    pub fn reordering_wait(&self) -> Option<Time> {
        self.rack.as_ref()?.wait
    }

    /// Returns whether the current ACK shows the loss of a retransmission.
    pub fn resent_is_lost(&self) -> bool {
        self.rack.as_ref().is_some_and(|rack| rack.lost_again && rack.timed)
    }

    /// Reordering window in quarters of the smallest round trip; 0 if it is `sure` that nothing was reordered, as far
    /// as was seen.
    pub fn reordering_steps(&self, sure: bool) -> u64 {
        match self.rack.as_ref().and_then(|rack| rack.reordering.as_ref()) {
            Some(seen) if seen.seen => seen.steps.into(),
            _ if sure => 0,
            Some(unseen) => unseen.steps.into(),
            None => 1,
        }
    }

    /// Notes that the current ACK reports a duplicate; `una` and `nxt` tell round trips apart.
    pub fn reported_twice(&mut self, una: u64, nxt: u64) {
        if let Some(reordering) = self.rack.as_mut().and_then(|rack| rack.reordering.as_mut()) {
            reordering.widen(una, nxt);
        }
    }

    /// Counts the end of a recovery.
    #[inline]
    pub fn recovered(&mut self) {
        if let Some(reordering) = self.rack.as_mut().and_then(|rack| rack.reordering.as_mut()) {
            reordering.recovered();
        }
    }

    fn give_up_by(&mut self, rack: &mut Rack, reordering: Time) -> bool {
        let mut from = self.index_of(self.lost_below);
        let mut found = false;
        while let (Some(s), Some(sent)) = (self.segments.get(from).copied(), rack.times.get(from)) {
            if !s.retransmitted {
                if !rack.gives_up(*sent, s.end(), reordering) {
                    break;
                }
                if !s.sacked && !s.lost {
                    self.give_up(from);
                    found = true;
                }
            }
            self.lost_below = s.end();
            from += 1;
        }
        while let Some(r) = rack.resent.front().copied() {
            if let Some(i) = self.still_out(rack, &r) {
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

    /// Index of the retransmitted segment, if nothing is known of that copy.
    fn still_out(&self, rack: &Rack, r: &Resent) -> Option<usize> {
        let i = self.index_of(r.seq);
        let s = self.segments.get(i)?;
        (s.seq == r.seq && s.retransmitted && !s.sacked && rack.times[i] == r.at).then_some(i)
    }

    /// Latest send time among the overtaken segments: those from the `from`-th on, and retransmitted ones. Segments
    /// sent once left in order, so that the search ends at the first one that was not overtaken; without reordering, at
    /// the `from`-th.
    fn latest_overtaken(&self, rack: &Rack, from: usize) -> Option<Time> {
        let mut i = from;
        let mut latest = None;
        while let Some(s) = self.segments.get(i) {
            if s.sacked {
                i = self.sacked.find(s.seq).map_or(i, |(_, end)| self.index_of(end)).max(i + 1);
                continue;
            }
            if rack.is_overtaken(rack.times[i], s.end()) {
                if !s.lost && !s.retransmitted {
                    latest = latest.max(Some(rack.times[i]));
                }
            } else if !s.ever {
                break;
            }
            i += 1;
        }
        let overtaken = rack.resent.iter().take_while(|r| rack.is_overtaken(r.at, 0));
        let open = |r: &&Resent| rack.is_overtaken(r.at, r.end) && self.still_out(rack, r).is_some();
        latest.max(overtaken.filter(open).last().map(|r| r.at))
    }

    /// RTT samples of the current ACK, if send times are kept: of the acknowledged segments, and of the SACKed ones;
    /// the longest and the shortest of each.
    pub fn samples(&self) -> [Option<(Time, Time)>; 2] {
        self.rack.as_ref().map_or([None; 2], |rack| rack.samples())
    }

    /// Last send time of the first outstanding segment, if send times are kept.
    pub fn first_sent(&self) -> Option<Time> {
        self.rack.as_ref()?.times.front().copied()
    }
}
