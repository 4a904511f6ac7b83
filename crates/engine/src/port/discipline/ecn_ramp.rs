//! Marking at the end of a transmission by the remaining queue, at random between two thresholds: htsim's
//! `CompositeQueue`. Data queue of a trimming port.

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
}

impl QueueDiscipline for EcnRamp {
    fn admit(&mut self, arrival: &Arrival, _place: &Place) -> Verdict {
        if arrival.exceeds(self.limit) { Verdict::Drop } else { Verdict::Accept }
    }

    fn at_departure(&mut self, departure: &Departure) -> bool {
        let spec::EcnRamp { min, max, key } = self.ramp;
        let left = departure.bytes - departure.size;
        if !departure.ect || left <= min {
            return false;
        }
        if left > max {
            return true;
        }
        self.draws += 1;
        hash::uniform(key.0, hash::purpose::MARK, key.1, self.draws) < (left - min) as f64 / (max - min) as f64
    }
}
