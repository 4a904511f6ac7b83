//! Round-trip time estimator and retransmission timeout (RFC 6298).

use crate::spec::TransportSpec;

/// srtt, rttvar and the timeout they give, in picoseconds.
#[derive(Clone, Copy, Debug)]
pub struct RttEstimator {
    /// Smoothed RTT; 0 before the first sample.
    pub srtt: u64,
    /// Mean deviation.
    pub rttvar: u64,
    /// Latest sample; 0 before the first.
    pub latest: u64,
    /// Smallest sample.
    pub min: Option<u64>,
    min_rto: u64,
    max_rto: u64,
    initial: u64,
    granularity: u64,
    backoff: u32,
}

impl RttEstimator {
    /// Before any sample.
    pub fn new(spec: &TransportSpec) -> RttEstimator {
        RttEstimator {
            srtt: 0,
            rttvar: 0,
            latest: 0,
            min: None,
            min_rto: spec.rto_min.0,
            max_rto: spec.rto_max.0,
            initial: spec.rto_initial.0,
            granularity: spec.rto_granularity.0,
            backoff: 0,
        }
    }

    /// Takes a sample: gains 1/8 and 1/4, the variance first.
    pub fn sample(&mut self, rtt: u64) {
        self.latest = rtt;
        if self.min.is_none() {
            self.srtt = rtt;
            self.rttvar = rtt / 2;
        } else {
            self.rttvar = (3 * self.rttvar + self.srtt.abs_diff(rtt)) / 4;
            self.srtt = (7 * self.srtt + rtt) / 8;
        }
        self.min = Some(self.min.map_or(rtt, |m| m.min(rtt)));
    }

    /// The timeout now, back-off included.
    pub fn rto(&self) -> u64 {
        let base = if self.min.is_none() { self.initial } else { self.srtt + self.granularity.max(4 * self.rttvar) };
        let base = base.max(self.min_rto);
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
