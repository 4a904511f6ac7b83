//! RACK (RFC 8985): a segment is lost when one that was sent after it has arrived, and its own time is over.
//!
//! State beside the scoreboard, if configured: the last send time of each outstanding segment, and the retransmissions
//! in order. First transmissions leave in order of sequence numbers, so that the scoreboard's frontier serves them.

use incast_cc::{Bytes, Delivery, Time};
use std::collections::VecDeque;

/// Retransmitted segment.
#[derive(Clone, Copy, Debug)]
pub struct Resent {
    /// Time of the retransmission.
    pub at: Time,
    /// First byte.
    pub seq: u64,
    /// Byte after the last.
    pub end: u64,
}

/// State at the sending of a segment, for samples of the delivery rate.
#[derive(Clone, Copy, Debug)]
pub struct Departed {
    /// Time of the last transmission.
    sent: Time,
    /// Bytes delivered by then, and the time of the latest delivery.
    delivered: u64,
    delivered_at: Time,
    /// Send time of the first segment of its interval.
    first_sent: Time,
    app_limited: bool,
}

/// Delivery rates as Linux samples them (net/ipv4/tcp_rate.c).
#[derive(Clone, Debug, Default)]
pub struct DeliveryRate {
    /// Entries of the outstanding segments.
    pub departed: VecDeque<Departed>,
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    /// Delivered bytes up to which samples count as limited by the application.
    limited_to: u64,
    /// Segment reported by the current ACK at whose transmission the most had been delivered.
    reported: Option<Departed>,
}

impl DeliveryRate {
    /// Notes the transmission of the `i`-th outstanding segment at `now`; `idle` if nothing else is in flight.
    pub fn send(&mut self, i: usize, now: Time, idle: bool) {
        if idle {
            (self.first_sent, self.delivered_at) = (now, now);
        }
        let departed = Departed {
            sent: now,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            app_limited: self.limited_to > 0,
        };
        match self.departed.get_mut(i) {
            Some(entry) => *entry = departed,
            None => self.departed.push_back(departed),
        }
    }

    /// Notes a segment that the current ACK reports.
    pub fn report(&mut self, one: Departed) {
        if self.reported.is_none_or(|best| {
            one.delivered > best.delivered || one.delivered == best.delivered && one.sent > best.sent
        }) {
            self.reported = Some(one);
        }
    }

    /// Notes that the application has nothing to send, with `in_flight` bytes in flight.
    pub fn limit(&mut self, in_flight: u64) {
        self.limited_to = (self.delivered + in_flight).max(1);
    }

    /// Sample of an ACK at `now` that newly reports `delivered` bytes.
    pub fn sample(&mut self, now: Time, delivered: u64, min_rtt: Time) -> Option<Delivery> {
        let one = self.reported.take()?;
        self.delivered += delivered;
        self.delivered_at = now;
        if self.delivered > self.limited_to {
            self.limited_to = 0;
        }
        let sending = one.sent - one.first_sent;
        self.first_sent = self.first_sent.max(one.sent);
        let interval = sending.max(now - one.delivered_at);
        Some(Delivery {
            delivered: Bytes(self.delivered - one.delivered),
            // shorter than the smallest round trip: unreliable
            interval: if interval < min_rtt { Time::ZERO } else { interval },
            prior: one.delivered,
            total: self.delivered,
            app_limited: one.app_limited,
        })
    }
}

/// Reordering state, and the window for it (RFC 8985 section 6.2, steps 3 and 4).
#[derive(Clone, Debug)]
pub struct Reordering {
    /// Set if a segment that was sent once arrived after a later one.
    pub seen: bool,
    /// Reordering window, in quarters of the smallest round trip.
    pub steps: u8,
    /// Recoveries without a duplicate SACK until the window is one quarter again.
    persists: u8,
    /// End of the round of the latest step: duplicate SACKs before its acknowledgement belong to that step.
    round_end: u64,
}

/// Recoveries for which a widened window stays (RFC 8985 section 6.2, step 4; Linux, TCP_RACK_RECOVERY_THRESH).
const RECOVERIES: u8 = 16;

impl Default for Reordering {
    fn default() -> Reordering {
        Reordering { seen: false, steps: 1, persists: 0, round_end: 0 }
    }
}

impl Reordering {
    /// Widens the window on a duplicate SACK, since the retransmitted segment had not been lost: once per round trip,
    /// if reordering can be the cause.
    pub fn widen(&mut self, una: u64, nxt: u64) {
        if self.seen && una >= self.round_end {
            self.steps = self.steps.saturating_add(1);
            self.persists = RECOVERIES;
            self.round_end = nxt;
        }
    }

    /// Counts the end of a recovery.
    pub fn recovered(&mut self) {
        self.persists = self.persists.saturating_sub(1);
        if self.persists == 0 {
            self.steps = 1;
        }
    }
}

/// Send times, and the latest transmission that is known to have arrived.
#[derive(Clone, Debug, Default)]
pub struct Rack {
    /// Set if losses are detected by send times; otherwise these only give RTT samples.
    pub detects_losses: bool,
    /// Last send time of each outstanding segment.
    pub times: VecDeque<Time>,
    /// Retransmissions, oldest first.
    pub resent: VecDeque<Resent>,
    /// Latest transmission among those that arrived: send time, and end of the segment.
    latest: (Time, u64),
    /// RTT of the last reported transmission, or of the last one that the current ACK acknowledges.
    rtt: Time,
    by_ack: bool,
    /// Set if anything was reported since the last check.
    advanced: bool,
    /// Current time.
    pub now: Time,
    min_rtt: Time,
    /// Time until all overtaken segments are lost, if the current ACK leaves some that are not. Only if `timed`.
    pub wait: Option<Time>,
    /// Set if a timer waits for `wait`.
    pub timed: bool,
    /// Set if the current ACK shows the loss of a retransmission.
    pub lost_again: bool,
    /// Reordering state, if the window adapts to it.
    pub reordering: Option<Reordering>,
    /// End of the data that SACK had reported before the current ACK.
    sacked_to: u64,
    /// First and last send time of the segments that the current ACK newly acknowledges, and of those that it newly
    /// reports by SACK; only segments sent once.
    acked: Option<(Time, Time)>,
    sacked: Option<(Time, Time)>,
    /// Set if the current ACK acknowledges a retransmitted segment.
    retransmitted: bool,
    /// Delivery-rate samples, if configured.
    pub rate: Option<DeliveryRate>,
}

impl Rack {
    /// State before the first transmission.
    pub fn new(detects_losses: bool) -> Rack {
        Rack { detects_losses, ..Rack::default() }
    }

    /// Begins an ACK at `now`; SACK has reported segments up to `sacked_to`.
    pub fn begin(&mut self, now: Time, min_rtt: Time, sacked_to: u64) {
        self.now = now;
        self.min_rtt = min_rtt;
        self.sacked_to = sacked_to;
        (self.wait, self.lost_again, self.by_ack) = (None, false, false);
        (self.acked, self.sacked, self.retransmitted) = (None, None, false);
    }

    /// Notes the acknowledgement of a segment sent at `sent`; `retransmitted`: it was ever retransmitted.
    pub fn acknowledged(&mut self, sent: Time, retransmitted: bool, was_sacked: bool) {
        self.retransmitted |= retransmitted;
        if !retransmitted && !was_sacked {
            self.acked = Some((self.acked.map_or(sent, |(first, _)| first), sent));
        }
    }

    /// Notes the SACK of a segment sent at `sent`, and once.
    pub fn reported(&mut self, sent: Time) {
        self.sacked = Some(self.sacked.map_or((sent, sent), |(first, last)| (first.min(sent), last.max(sent))));
    }

    /// RTT samples of the current ACK: of the acknowledged segments, if none was retransmitted, and of the SACKed ones;
    /// the longest and the shortest of each.
    pub fn samples(&self) -> [Option<(Time, Time)>; 2] {
        let rtt = |sent: Option<(Time, Time)>| sent.map(|(first, last)| (self.now - first, self.now - last));
        [rtt(self.acked.filter(|_| !self.retransmitted)), rtt(self.sacked)]
    }

    /// Notes the arrival of the segment of `len` bytes at `seq`, last sent at `sent`: `acked` or SACKed. An ACK of a
    /// retransmission that arrives sooner than the smallest round trip is for an earlier copy.
    #[inline]
    pub fn arrived(&mut self, sent: Time, seq: u64, len: u16, retransmitted: bool, acked: bool) {
        if !self.detects_losses {
            return;
        }
        let rtt = self.now - sent;
        if let Some(reordering) = self.reordering.as_mut().filter(|_| !retransmitted) {
            reordering.seen |= seq < self.sacked_to;
        }
        if retransmitted && rtt < self.min_rtt {
            return;
        }
        self.advanced = true;
        // Linux processes SACKs first
        if acked || !self.by_ack || !self.timed {
            self.rtt = rtt;
        }
        self.by_ack |= acked;
        self.latest = self.latest.max((sent, seq + len as u64));
    }

    /// Returns whether anything was reported since the last call.
    pub fn advanced(&mut self) -> bool {
        std::mem::take(&mut self.advanced)
    }

    /// Returns whether a transmission at `sent` of the segment that ends at `end` is lost.
    pub fn gives_up(&self, sent: Time, end: u64, reordering: Time) -> bool {
        self.is_overtaken(sent, end) && self.now - sent >= self.rtt + reordering
    }

    /// Returns whether a later transmission than the one at `sent`, of the segment that ends at `end`, has arrived.
    pub fn is_overtaken(&self, sent: Time, end: u64) -> bool {
        (sent, end) < self.latest
    }

    /// Time for which a transmission at `sent` may still be in flight.
    pub fn left(&self, sent: Time, reordering: Time) -> Time {
        (sent + self.rtt + reordering).saturating_sub(self.now)
    }
}
