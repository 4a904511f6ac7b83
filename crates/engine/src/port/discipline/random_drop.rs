//! Drop-tail with random drops close to its limit: htsim's `RandomQueue`.

use super::rule::{Arrival, Place, QueueDiscipline, Verdict};
use crate::hash;
use crate::spec;
use crate::spec::Limit;

/// Random drops close to the limit.
#[derive(Clone, PartialEq, Debug)]
pub struct RandomDrop {
    limit: Limit,
    random: spec::RandomDrop,
    /// Arrivals so far.
    arrivals: u64,
}

impl RandomDrop {
    pub(super) fn new(random: &spec::RandomDrop, limit: Limit) -> RandomDrop {
        RandomDrop { limit, random: random.clone(), arrivals: 0 }
    }
}

impl QueueDiscipline for RandomDrop {
    fn admit(&mut self, arrival: &Arrival, place: &Place) -> Verdict {
        let draw = || hash::uniform(place.seed, hash::purpose::RANDOM_DROP, place.entity, self.arrivals);
        let unlucky = arrival.exceeds(self.random.threshold) && draw() < self.random.probability;
        self.arrivals += 1;
        if unlucky || arrival.exceeds(self.limit) { Verdict::Drop } else { Verdict::Accept }
    }

    fn refused(&mut self) {
        self.arrivals += 1;
    }
}
