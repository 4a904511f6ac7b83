//! Round-trip time estimator and retransmission timeout (RFC 6298).

use crate::spec::{RtoRule, TransportSpec};
use incast_cc::Time;

/// The tick of Linux' TCP time stamps.
pub const STAMP: Time = Time::ms(1);

/// srtt, rttvar and the timeout they give.
#[derive(Clone, Copy, Default, Debug)]
pub struct RttEstimator {
    /// Smoothed RTT; 0 before the first sample.
    pub srtt: Time,
    /// Mean deviation.
    pub rttvar: Time,
    /// Latest sample; 0 before the first.
    pub latest: Time,
    /// Smallest sample.
    pub min: Option<Time>,
    min_rto: Time,
    max_rto: Time,
    initial: Time,
    granularity: Time,
    backoff: u32,
    rule: RtoRule,
    /// Tick of the timers under Linux' rule, which doubles whole ticks; 1 elsewhere.
    tick: Time,
    /// Linux' rule: four times the largest deviation of this round trip, and of the last ones.
    peak: Time,
    held: Time,
    round_end: u64,
}

impl RttEstimator {
    /// Before any sample.
    pub fn new(spec: &TransportSpec) -> RttEstimator {
        RttEstimator {
            min_rto: spec.rto_min,
            max_rto: spec.rto_max,
            initial: spec.rto_initial,
            granularity: spec.rto_granularity,
            rule: spec.rto_rule,
            tick: if spec.rto_rule == RtoRule::Linux { spec.timer_tick.max(Time::ps(1)) } else { Time::ps(1) },
            ..RttEstimator::default()
        }
    }

    /// Takes a sample: gains 1/8 and 1/4, the variance first. `una` and `nxt` tell round trips apart.
    pub fn sample(&mut self, rtt: Time, una: u64, nxt: u64) {
        self.latest = rtt;
        if self.min.is_none() {
            (self.srtt, self.rttvar) = (rtt, rtt / 2);
            self.peak = (self.rttvar * 4).max(self.min_rto);
            (self.held, self.round_end) = (self.peak, nxt);
        } else if self.rule == RtoRule::Linux {
            self.sample_linux(rtt, una, nxt);
        } else {
            self.rttvar = (self.rttvar * 3 + self.srtt.abs_diff(rtt)) / 4;
            self.srtt = (self.srtt * 7 + rtt) / 8;
        }
        self.lower(rtt);
    }

    /// As the kernel does it: a falling RTT raises the deviation an eighth as fast, the largest deviation of
    /// a round trip counts, and it falls by a quarter of the difference a round trip.
    #[inline(never)]
    fn sample_linux(&mut self, rtt: Time, una: u64, nxt: u64) {
        let error = self.srtt.abs_diff(rtt);
        if error > self.rttvar {
            let rise = (error - self.rttvar) / 4;
            self.rttvar += if rtt < self.srtt { rise / 8 } else { rise };
        } else {
            self.rttvar -= (self.rttvar - error) / 4;
        }
        self.srtt = (self.srtt * 7 + rtt) / 8;
        self.peak = self.peak.max(self.rttvar * 4);
        self.held = self.held.max(self.peak);
        if una > self.round_end {
            self.held -= (self.held - self.peak) / 4;
            self.round_end = nxt;
            self.peak = self.min_rto;
        }
    }

    /// The quickest round trip may have been quicker than the sample: that of the last segment an ACK covers.
    pub fn lower(&mut self, rtt: Time) {
        self.min = Some(self.min.map_or(rtt, |min| min.min(rtt)));
    }

    /// The timeout now, back-off included.
    pub fn rto(&self) -> Time {
        let base = match self.rule {
            _ if self.min.is_none() => self.initial,
            RtoRule::Rfc6298 => self.srtt + self.granularity.max(self.rttvar * 4),
            RtoRule::Linux => self.srtt + self.held,
        };
        let base = base.max(self.min_rto);
        let base = if self.tick > Time::ps(1) { base.next_multiple_of(self.tick) } else { base };
        base.saturating_mul(1 << self.backoff.min(20)).min(self.max_rto.max(self.min_rto))
    }

    /// The timer fired: double.
    pub fn back_off(&mut self) {
        self.backoff += 1;
    }

    /// New data was acknowledged.
    pub fn reset_backoff(&mut self) {
        self.backoff = 0;
    }
}
