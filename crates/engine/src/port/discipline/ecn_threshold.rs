//! Marking at an instantaneous threshold K: DCTCP's switch.

use super::rule::{Arrival, Place, QueueDiscipline, Verdict};
use crate::spec;
use crate::spec::Limit;

/// Threshold marking at arrival.
#[derive(Clone, PartialEq, Debug)]
pub struct EcnThreshold {
    limit: Limit,
    ecn: spec::EcnThreshold,
}

impl EcnThreshold {
    pub(super) fn new(ecn: &spec::EcnThreshold, limit: Limit) -> EcnThreshold {
        EcnThreshold { limit, ecn: ecn.clone() }
    }

    #[inline(always)]
    pub(super) fn decide(&self, arrival: &Arrival) -> Verdict {
        if arrival.exceeds(self.limit) {
            return Verdict::Drop;
        }
        match (arrival.finds(self.ecn.mark), arrival.ect) {
            (true, true) => Verdict::Mark,
            (true, false) if self.ecn.drop_not_ect => Verdict::Drop,
            _ => Verdict::Accept,
        }
    }
}

impl QueueDiscipline for EcnThreshold {
    fn admit(&mut self, arrival: &Arrival, _place: &Place) -> Verdict {
        self.decide(arrival)
    }

    fn counts_as_marked(&self, arrival: &Arrival) -> bool {
        self.ecn.count_dropped && arrival.ect && arrival.finds(self.ecn.mark)
    }
}
