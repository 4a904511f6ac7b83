//! Round-trip time: samples, estimator and retransmission timeout (RFC 6298).

use crate::node::context::{Effects, NodeCtx};
use crate::spec::{RtoLimits, RtoRule, TransportSpec};
use incast_cc::Time;
use incast_record::Recorder;
use std::mem::offset_of;

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

/// RTT samples: their count, and the ACKs that give them.
#[derive(Debug)]
#[repr(C)]
pub struct Samples {
    /// Measured ones.
    pub counted: RttCount,
    /// Set if samples are taken per segment (Linux).
    pub of_segments: bool,
    /// Number up to which ACKs give no samples: a timeout declared the data lost.
    pub not_below: u64,
    /// Segment timed for Karn's rule: its end and its send time.
    pub timed: Option<(u64, Time)>,
}

impl Samples {
    /// Bytes that every sample touches, from the first on.
    pub const HOT: usize = offset_of!(Samples, of_segments);

    /// No samples so far. `group`: that of the flow; `of_segments`: samples are taken per segment.
    pub fn new(group: u32, of_segments: bool) -> Samples {
        Samples { counted: RttCount { count: 0, sum: Time::ZERO, group }, of_segments, not_below: 0, timed: None }
    }
}

/// Number and sum of measured RTT samples of a flow of `group`.
#[derive(Debug)]
pub struct RttCount {
    /// Number.
    pub count: u64,
    /// Sum.
    pub sum: Time,
    group: u32,
}

impl RttCount {
    /// Counts a sample, if it is measured.
    #[inline]
    pub fn add(&mut self, ctx: &mut NodeCtx<impl Effects>, rtt: Time) {
        if ctx.measured() {
            self.count += 1;
            self.sum += rtt;
            ctx.rec.rtt(self.group, rtt.0);
        }
    }
}
