//! Recent acknowledgement (RFC 8985): a segment is lost when one that was sent after it has arrived, and
//! its own time is over.
//!
//! Kept beside the scoreboard, and only where asked for: when each outstanding segment was last sent, and
//! which were sent again, in that order. First transmissions leave in order of sequence numbers, so that
//! the scoreboard's frontier serves them.

use incast_cc::{Bytes, Delivery, Time};
use std::collections::VecDeque;

/// A segment that was sent again.
#[derive(Clone, Copy, Debug)]
pub struct Resent {
    /// When.
    pub at: Time,
    /// Its first byte.
    pub seq: u64,
    /// Its end.
    pub end: u64,
}

/// State at the sending of a segment, for samples of the delivery rate.
#[derive(Clone, Copy, Debug)]
pub struct Departed {
    /// When it was sent last.
    sent: Time,
    /// Bytes that had been delivered, and when the last of them was.
    delivered: u64,
    delivered_at: Time,
    /// When the first segment of its interval was sent.
    first_sent: Time,
    app_limited: bool,
}

/// Delivery rates as Linux samples them (net/ipv4/tcp_rate.c).
#[derive(Clone, Debug, Default)]
pub struct DeliveryRate {
    /// One an outstanding segment.
    pub departed: VecDeque<Departed>,
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    /// Samples are limited by the application until so much has been delivered.
    limited_to: u64,
    /// The segment that the ACK at work reports at whose sending the most had been delivered.
    reported: Option<Departed>,
}

impl DeliveryRate {
    /// A segment is sent at `now`, the `i`-th outstanding one; `idle` if nothing else is in flight.
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
            Some(again) => *again = departed,
            None => self.departed.push_back(departed),
        }
    }

    /// The ACK at work reports a segment.
    pub fn report(&mut self, one: Departed) {
        if self.reported.is_none_or(|best| {
            one.delivered > best.delivered || one.delivered == best.delivered && one.sent > best.sent
        }) {
            self.reported = Some(one);
        }
    }

    /// The application has nothing to send, with so much in flight.
    pub fn limit(&mut self, in_flight: u64) {
        self.limited_to = (self.delivered + in_flight).max(1);
    }

    /// The sample of an ACK at `now` that newly reports `delivered` bytes.
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
            // quicker than the quickest round trip: not to be trusted
            interval: if interval < min_rtt { Time::ZERO } else { interval },
            prior: one.delivered,
            total: self.delivered,
            app_limited: one.app_limited,
        })
    }
}

/// Reordering, and what is left for it (RFC 8985 section 6.2, steps 3 and 4).
#[derive(Clone, Debug)]
pub struct Reordering {
    /// A segment that was sent once arrived after one behind it.
    pub seen: bool,
    /// Quarters of the shortest round trip that are left for it.
    pub steps: u8,
    /// Recoveries without a duplicate SACK until it is one again.
    persists: u8,
    /// Duplicate SACKs before this is acknowledged belong to the latest step.
    round_end: u64,
}

/// Recoveries for which a wider window stays (RFC 8985 section 6.2, step 4; Linux, TCP_RACK_RECOVERY_THRESH).
const RECOVERIES: u8 = 16;

impl Default for Reordering {
    fn default() -> Reordering {
        Reordering { seen: false, steps: 1, persists: 0, round_end: 0 }
    }
}

impl Reordering {
    /// A duplicate SACK: what went again had not been lost. Once a round trip the window grows, if reordering can
    /// be why.
    pub fn widen(&mut self, una: u64, nxt: u64) {
        if self.seen && una >= self.round_end {
            self.steps = self.steps.saturating_add(1);
            self.persists = RECOVERIES;
            self.round_end = nxt;
        }
    }

    /// A recovery is over.
    pub fn recovered(&mut self) {
        self.persists = self.persists.saturating_sub(1);
        if self.persists == 0 {
            self.steps = 1;
        }
    }
}

/// Send times, and the latest transmission known to have arrived.
#[derive(Clone, Debug, Default)]
pub struct Rack {
    /// Losses are told by send times; otherwise these only give RTT samples.
    pub tells: bool,
    /// When each outstanding segment was last sent.
    pub times: VecDeque<Time>,
    /// Segments sent again, oldest first.
    pub resent: VecDeque<Resent>,
    /// The transmission that was sent last of those that arrived: when, and its segment's end.
    latest: (Time, u64),
    /// RTT of the transmission that was reported last, or of the last that the ACK at work acknowledges.
    rtt: Time,
    by_ack: bool,
    /// Something was reported since the last look.
    advanced: bool,
    /// Now.
    pub now: Time,
    min_rtt: Time,
    /// The ACK at work leaves something overtaken that is not lost yet: how long until all of it is. Only if
    /// `timed`.
    pub wait: Option<Time>,
    /// A timer waits for it.
    pub timed: bool,
    /// The ACK at work shows a loss of what was sent again.
    pub lost_again: bool,
    /// Where the window for reordering follows it.
    pub reordering: Option<Reordering>,
    /// End of what SACK had reported before the ACK at work.
    sacked_to: u64,
    /// When the first and the last segment were sent that the ACK at work newly acknowledges, or newly reports
    /// by SACK, of those that were sent once.
    acked: Option<(Time, Time)>,
    sacked: Option<(Time, Time)>,
    /// It acknowledges some that was sent again.
    again: bool,
    /// Samples of the delivery rate, where they are asked for.
    pub rate: Option<DeliveryRate>,
}

impl Rack {
    /// Nothing was sent yet.
    pub fn new(tells: bool) -> Rack {
        Rack { tells, ..Rack::default() }
    }

    /// An ACK arrived at `now`; SACK has reported segments up to `sacked_to`.
    pub fn begin(&mut self, now: Time, min_rtt: Time, sacked_to: u64) {
        self.now = now;
        self.min_rtt = min_rtt;
        self.sacked_to = sacked_to;
        (self.wait, self.lost_again, self.by_ack) = (None, false, false);
        (self.acked, self.sacked, self.again) = (None, None, false);
    }

    /// A segment sent at `sent` is acknowledged; `again`: it was sent again at some time.
    pub fn acknowledged(&mut self, sent: Time, again: bool, was_sacked: bool) {
        self.again |= again;
        if !again && !was_sacked {
            self.acked = Some((self.acked.map_or(sent, |(first, _)| first), sent));
        }
    }

    /// A segment sent at `sent`, and once, is reported by SACK.
    pub fn reported(&mut self, sent: Time) {
        self.sacked = Some(self.sacked.map_or((sent, sent), |(first, last)| (first.min(sent), last.max(sent))));
    }

    /// RTT samples of the ACK at work: of what it acknowledges, if none of that was sent again, and of what
    /// its SACKs report; of each the longest and the shortest.
    pub fn samples(&self) -> [Option<(Time, Time)>; 2] {
        let rtt = |sent: Option<(Time, Time)>| sent.map(|(first, last)| (self.now - first, self.now - last));
        [rtt(self.acked.filter(|_| !self.again)), rtt(self.sacked)]
    }

    /// The segment of `len` bytes at `seq`, last sent at `sent`, has arrived: it is `acked`, or SACKed. The ACK of a
    /// segment sent again that comes sooner than the quickest round trip is for an earlier copy.
    #[inline]
    pub fn arrived(&mut self, sent: Time, seq: u64, len: u16, again: bool, acked: bool) {
        if !self.tells {
            return;
        }
        let rtt = self.now - sent;
        if let Some(reordering) = self.reordering.as_mut().filter(|_| !again) {
            reordering.seen |= seq < self.sacked_to;
        }
        if again && rtt < self.min_rtt {
            return;
        }
        self.advanced = true;
        // Linux looks at SACKs first
        if acked || !self.by_ack || !self.timed {
            self.rtt = rtt;
        }
        self.by_ack |= acked;
        self.latest = self.latest.max((sent, seq + len as u64));
    }

    /// Whether there is news since the last call.
    pub fn advanced(&mut self) -> bool {
        std::mem::take(&mut self.advanced)
    }

    /// Whether a transmission at `sent` of the segment that ends at `end` is lost.
    pub fn gives_up(&self, sent: Time, end: u64, reordering: Time) -> bool {
        self.is_overtaken(sent, end) && self.now - sent >= self.rtt + reordering
    }

    /// Whether something that was sent after a transmission at `sent` of the segment that ends at `end` has arrived.
    pub fn is_overtaken(&self, sent: Time, end: u64) -> bool {
        (sent, end) < self.latest
    }

    /// How long a transmission at `sent` may still be under way.
    pub fn left(&self, sent: Time, reordering: Time) -> Time {
        (sent + self.rtt + reordering).saturating_sub(self.now)
    }
}
