//! Meters: token buckets for packets.

use crate::spec::table;
use incast_cc::Time;

/// Meter of one node.
#[derive(Clone, Debug)]
pub struct Meter {
    rule: table::Meter,
    /// Time at which the bucket is full again.
    full_at: Time,
}

impl Meter {
    /// Meter with a full bucket.
    pub fn new(rule: &table::Meter) -> Meter {
        Meter { rule: rule.clone(), full_at: Time::ZERO }
    }

    /// Treatment of packets above the meter.
    pub fn above(&self) -> table::Above {
        self.rule.above
    }

    /// Takes the bytes of a packet from the bucket and returns true, if there are enough.
    pub fn takes(&mut self, now: Time, size: u64) -> bool {
        let full_at = self.full_at.max(now).saturating_add(self.rule.rate.serialize(size));
        let takes = full_at.saturating_sub(now) <= self.rule.rate.serialize(self.rule.burst);
        if takes {
            self.full_at = full_at;
        }
        takes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use incast_cc::Rate;

    #[test]
    fn a_bucket_lets_its_burst_through_at_once_and_then_its_rate() {
        let rule = table::Meter { rate: Rate::mbps(8), burst: 3_000, above: table::Above::Drop };
        let mut meter = Meter::new(&rule);
        let mut takes = |us: u64| meter.takes(Time::us(us), 1_000);
        assert!(takes(0) && takes(0) && takes(0) && !takes(0));
        // one byte per microsecond; refused packets take nothing
        assert!(!takes(999) && takes(1_000) && !takes(1_999) && takes(2_000));
        assert!(takes(9_000) && takes(9_000) && takes(9_000) && !takes(9_000), "it holds no more than its burst");
    }
}
