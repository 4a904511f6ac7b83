//! Round-trip time estimator and retransmission timeout (RFC 6298).

use crate::spec::{RtoLimits, RtoRule, TransportSpec};
use incast_cc::Time;

/// Tick of Linux' TCP time stamps.
pub const STAMP: Time = Time::ms(1);

/// RTT estimator: srtt, rttvar and the timeout from them.
#[derive(Clone, Debug)]
pub struct RttEstimator {
    /// Smoothed RTT; 0 before the first sample.
    pub srtt: Time,
    /// Mean deviation.
    pub rttvar: Time,
    /// Latest sample; 0 before the first.
    pub latest: Time,
    /// Smallest sample; [`Time::NEVER`] before the first.
    min: Time,
    /// State of Linux' rule.
    linux: Option<Box<Deviations>>,
    backoff: u32,
}

/// Linux' rule: four times the largest deviation of the current and of recent round trips.
#[derive(Clone, Default, Debug)]
struct Deviations {
    peak: Time,
    held: Time,
    round_end: u64,
}

impl RttEstimator {
    /// Estimator without samples.
    pub fn new(t: &TransportSpec) -> RttEstimator {
        RttEstimator {
            srtt: Time::ZERO,
            rttvar: Time::ZERO,
            latest: Time::ZERO,
            min: Time::NEVER,
            linux: (t.timing.rto_rule == RtoRule::Linux).then(Box::default),
            backoff: 0,
        }
    }

    /// Smallest sample.
    #[inline]
    pub fn min(&self) -> Option<Time> {
        (self.min != Time::NEVER).then_some(self.min)
    }

    /// Takes a sample: gains 1/8 and 1/4, the variance first. `una` and `nxt` tell round trips apart.
    #[inline]
    pub fn sample(&mut self, rto: &RtoLimits, rtt: Time, una: u64, nxt: u64) {
        self.latest = rtt;
        if self.min == Time::NEVER {
            (self.srtt, self.rttvar) = (rtt, rtt / 2);
            if let Some(linux) = &mut self.linux {
                let peak = (self.rttvar * 4).max(rto.rto_min);
                **linux = Deviations { peak, held: peak, round_end: nxt };
            }
        } else if self.linux.is_some() {
            self.sample_linux(rto, rtt, una, nxt);
        } else {
            self.rttvar = (self.rttvar * 3 + self.srtt.abs_diff(rtt)) / 4;
            self.srtt = (self.srtt * 7 + rtt) / 8;
        }
        self.lower(rtt);
    }

    /// Adds a sample as the kernel does: a falling RTT raises the deviation an eighth as fast. The largest deviation of
    /// a round trip counts, and decays by a quarter of the difference per round trip.
    #[inline(never)]
    fn sample_linux(&mut self, rto: &RtoLimits, rtt: Time, una: u64, nxt: u64) {
        let error = self.srtt.abs_diff(rtt);
        if error > self.rttvar {
            let rise = (error - self.rttvar) / 4;
            self.rttvar += if rtt < self.srtt { rise / 8 } else { rise };
        } else {
            self.rttvar -= (self.rttvar - error) / 4;
        }
        self.srtt = (self.srtt * 7 + rtt) / 8;
        let Some(linux) = &mut self.linux else { return };
        linux.peak = linux.peak.max(self.rttvar * 4);
        linux.held = linux.held.max(linux.peak);
        if una > linux.round_end {
            linux.held -= (linux.held - linux.peak) / 4;
            linux.round_end = nxt;
            linux.peak = rto.rto_min;
        }
    }

    /// Lowers the smallest sample to the round trip of the last segment that an ACK covers, which may be shorter than
    /// the sample.
    #[inline]
    pub fn lower(&mut self, rtt: Time) {
        self.min = self.min.min(rtt);
    }

    /// Current timeout with back-off. Linux' rule doubles whole ticks.
    #[inline]
    pub fn rto(&self, t: &TransportSpec) -> Time {
        let base = match &self.linux {
            _ if self.min == Time::NEVER => t.rto.rto_initial,
            None => self.srtt + t.rto.rto_granularity.max(self.rttvar * 4),
            Some(linux) => self.srtt + linux.held,
        };
        let base = base.max(t.rto.rto_min);
        let ticks = self.linux.is_some() && t.timing.timer_tick > Time::ps(1);
        let base = if ticks { base.next_multiple_of(t.timing.timer_tick) } else { base };
        base.saturating_mul(1 << self.backoff.min(20)).min(t.rto.rto_max.max(t.rto.rto_min))
    }

    /// Doubles the timeout.
    pub fn back_off(&mut self) {
        self.backoff += 1;
    }

    /// Resets the back-off on new acknowledged data.
    pub fn reset_backoff(&mut self) {
        self.backoff = 0;
    }
}
