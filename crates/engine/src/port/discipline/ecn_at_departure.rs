//! Marking at the end of a transmission if the queue including the packet exceeds K: htsim's `ECNQueue`. A plain FIFO
//! port sets such marks without an event ([`late_marking`](crate::port::late_marking)).

use super::rule::{Arrival, Departure, Place, QueueDiscipline, Verdict};
use crate::spec;
use crate::spec::Limit;

/// Threshold marking at departure.
#[derive(Clone, PartialEq, Debug)]
pub struct EcnAtDeparture {
    limit: Limit,
    ecn: spec::EcnAtDeparture,
}

impl EcnAtDeparture {
    pub(super) fn new(ecn: &spec::EcnAtDeparture, limit: Limit) -> EcnAtDeparture {
        EcnAtDeparture { limit, ecn: ecn.clone() }
    }

    /// Threshold K.
    pub fn threshold(&self) -> Limit {
        self.ecn.mark
    }

    #[inline(always)]
    pub(super) fn decide(&self, arrival: &Arrival) -> Verdict {
        if arrival.exceeds(self.limit) { Verdict::Drop } else { Verdict::Accept }
    }
}

impl QueueDiscipline for EcnAtDeparture {
    fn admit(&mut self, arrival: &Arrival, _place: &Place) -> Verdict {
        self.decide(arrival)
    }

    fn at_departure(&mut self, departure: &Departure) -> bool {
        departure.ect
            && match self.ecn.mark {
                Limit::Packets(n) => departure.packets > n,
                Limit::Bytes(n) => departure.bytes > n,
                Limit::None => false,
            }
    }
}
