//! Drop-tail: first in, first out; packets that do not fit are dropped.

use super::rule::{Arrival, Place, QueueDiscipline, Verdict};
use crate::spec::Limit;

/// Drop-tail.
#[derive(Clone, PartialEq, Debug)]
pub struct DropTail {
    limit: Limit,
}

impl DropTail {
    pub(super) fn new(limit: Limit) -> DropTail {
        DropTail { limit }
    }

    #[inline(always)]
    pub(super) fn decide(&self, arrival: &Arrival) -> Verdict {
        if arrival.exceeds(self.limit) { Verdict::Drop } else { Verdict::Accept }
    }
}

impl QueueDiscipline for DropTail {
    fn admit(&mut self, arrival: &Arrival, _place: &Place) -> Verdict {
        self.decide(arrival)
    }
}
