//! Recent acknowledgement (RFC 8985): a segment is lost when one that was sent after it has arrived, and
//! its own time is over.
//!
//! Kept beside the scoreboard, and only where asked for: when each outstanding segment was last sent, and
//! which were sent again, in that order. First transmissions leave in order of sequence numbers, so that
//! the scoreboard's frontier serves them.

use std::collections::VecDeque;

/// A segment that was sent again.
#[derive(Clone, Copy, Debug)]
pub struct Resent {
    /// When, ps.
    pub at: u64,
    /// Its first byte.
    pub seq: u64,
    /// Its end.
    pub end: u64,
}

/// Send times, and the latest transmission known to have arrived.
#[derive(Clone, Debug, Default)]
pub struct Rack {
    /// Losses are told by send times; otherwise these only give RTT samples.
    pub tells: bool,
    /// When each outstanding segment was last sent, ps.
    pub times: VecDeque<u64>,
    /// Segments sent again, oldest first.
    pub resent: VecDeque<Resent>,
    /// The transmission that was sent last of those that arrived: when, and its segment's end.
    latest: (u64, u64),
    /// RTT of the transmission that was reported last.
    rtt: u64,
    /// Something was reported since the last look.
    advanced: bool,
    now: u64,
    min_rtt: u64,
    /// When the first and the last segment were sent that the ACK at work newly acknowledges, or newly reports
    /// by SACK, of those that were sent once.
    acked: Option<(u64, u64)>,
    sacked: Option<(u64, u64)>,
    /// It acknowledges some that was sent again.
    again: bool,
}

impl Rack {
    /// Nothing was sent yet.
    pub fn new(tells: bool) -> Rack {
        Rack { tells, ..Rack::default() }
    }

    /// An ACK arrived at `now`.
    pub fn begin(&mut self, now: u64, min_rtt: u64) {
        self.now = now;
        self.min_rtt = min_rtt;
        (self.acked, self.sacked, self.again) = (None, None, false);
    }

    /// A segment sent at `sent` is acknowledged; `again`: it was sent again at some time.
    pub fn acknowledged(&mut self, sent: u64, again: bool, was_sacked: bool) {
        self.again |= again;
        if !again && !was_sacked {
            self.acked = Some((self.acked.map_or(sent, |(first, _)| first), sent));
        }
    }

    /// A segment sent at `sent`, and once, is reported by SACK.
    pub fn reported(&mut self, sent: u64) {
        self.sacked = Some(self.sacked.map_or((sent, sent), |(first, last)| (first.min(sent), last.max(sent))));
    }

    /// RTT samples of the ACK at work: of what it acknowledges, if none of that was sent again, and of what
    /// its SACKs report; of each the longest and the shortest.
    pub fn samples(&self) -> [Option<(u64, u64)>; 2] {
        let rtt = |sent: Option<(u64, u64)>| sent.map(|(first, last)| (self.now - first, self.now - last));
        [rtt(self.acked.filter(|_| !self.again)), rtt(self.sacked)]
    }

    /// A segment that ends at `end` and was last sent at `sent` has arrived. The ACK of a segment sent
    /// again that comes sooner than the quickest round trip is for its first copy.
    pub fn arrived(&mut self, sent: u64, end: u64, retransmitted: bool) {
        let rtt = self.now - sent;
        if retransmitted && rtt < self.min_rtt {
            return;
        }
        self.advanced = true;
        self.rtt = rtt;
        self.latest = self.latest.max((sent, end));
    }

    /// Whether there is news since the last call.
    pub fn advanced(&mut self) -> bool {
        std::mem::take(&mut self.advanced)
    }

    /// Whether a transmission at `sent` of the segment that ends at `end` is lost.
    pub fn gives_up(&self, sent: u64, end: u64, reordering: u64) -> bool {
        (sent, end) < self.latest && self.now - sent >= self.rtt + reordering
    }
}
