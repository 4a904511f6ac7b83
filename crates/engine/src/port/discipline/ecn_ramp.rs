//! Marking at departure by the remaining queue, at random between two thresholds: htsim's `CompositeQueue`, whose data
//! queue marks at the end of a transmission, and the switches of RDMA's simulators, which mark at its beginning.

use super::rule::{Arrival, Departure, Place, QueueDiscipline, Verdict};
use crate::hash;
use crate::spec;
use crate::spec::Limit;

/// Marking at departure between two thresholds.
#[derive(Clone, PartialEq, Debug)]
pub struct EcnRamp {
    limit: Limit,
    ramp: spec::EcnRamp,
    draws: u64,
}

impl EcnRamp {
    pub(super) fn new(ramp: &spec::EcnRamp, limit: Limit) -> EcnRamp {
        EcnRamp { limit, ramp: ramp.clone(), draws: 0 }
    }

    /// Decides about an arrival, which depends on no state.
    #[inline(always)]
    pub fn decide(&self, arrival: &Arrival) -> Verdict {
        if arrival.exceeds(self.limit) { Verdict::Drop } else { Verdict::Accept }
    }

    /// Returns whether it marks as a transmission begins.
    pub fn marks_at_start(&self) -> bool {
        self.ramp.at_start
    }
}

impl QueueDiscipline for EcnRamp {
    fn admit(&mut self, arrival: &Arrival, _place: &Place) -> Verdict {
        self.decide(arrival)
    }

    fn at_head(&mut self, head: &Departure) -> Verdict {
        if self.ramp.at_start && self.marks(head) { Verdict::Mark } else { Verdict::Accept }
    }

    fn at_departure(&mut self, departure: &Departure) -> bool {
        !self.ramp.at_start && self.marks(departure)
    }
}

impl EcnRamp {
    fn marks(&mut self, departure: &Departure) -> bool {
        let spec::EcnRamp { min, max, probability, key, .. } = self.ramp;
        let left = departure.bytes - departure.size;
        if !departure.ect || left <= min {
            return false;
        }
        if left > max {
            return true;
        }
        self.draws += 1;
        let share = (left - min) as f64 / (max - min) as f64;
        hash::uniform(key.0, hash::purpose::MARK, key.1, self.draws) < probability * share
    }
}
