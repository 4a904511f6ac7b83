//! Walk over entropies that skips some for a time (EQDS; UET's oblivious and bitmap modes). Entropies are `i XOR x` for
//! a counter `i` and a number `x` drawn for each round; their upper bits stay.

use crate::hash::{self, purpose};
use crate::ids::FlowId;

/// A walk over entropies.
#[derive(Clone, Debug)]
pub struct Entropies {
    seed: u64,
    entity: u64,
    draws: u64,
    upper: u16,
    mask: u16,
    i: u16,
    x: u16,
    /// Remaining skips of each entropy, at most `max`.
    skips: Vec<u8>,
    max: u8,
    /// If set, only the first penalised entropy that a packet meets counts down, and after a whole round one is taken
    /// anyway. Else each one counts down.
    first_only: bool,
}

impl Entropies {
    /// Entropies of the sender of `flow`: `count` of them, a power of two.
    pub fn new(seed: u64, flow: FlowId, count: u32, max: u8, first_only: bool) -> Entropies {
        let skips = vec![0; count as usize];
        let mask = (count - 1) as u16;
        let mut own =
            Entropies { seed, entity: flow.0 as u64, draws: 0, upper: 0, mask, i: 0, x: 0, skips, max, first_only };
        own.upper = own.draw() & !mask;
        own.x = own.draw() & mask;
        own
    }

    /// Sixteen random bits.
    pub fn draw(&mut self) -> u16 {
        self.draws += 1;
        hash::bits(self.seed, purpose::ENTROPY, self.entity, self.draws) as u16
    }

    fn step(&mut self) {
        if self.i == self.mask {
            self.i = 0;
            self.x = self.draw() & self.mask;
        } else {
            self.i += 1;
        }
    }

    /// Next entropy.
    pub fn take(&mut self) -> u16 {
        let mut met = 0;
        loop {
            let value = (self.i ^ self.x) & self.mask;
            let skips = &mut self.skips[value as usize];
            let passes = *skips > 0 && !(self.first_only && met > self.mask as u32);
            if passes && (!self.first_only || met == 0) {
                *skips -= 1;
            }
            met += passes as u32;
            self.step();
            if !passes {
                return value | self.upper;
            }
        }
    }

    /// Skips an entropy `times` times more.
    pub fn penalise(&mut self, value: u16, times: u8) {
        let skips = &mut self.skips[(value & self.mask) as usize];
        *skips = skips.saturating_add(times).min(self.max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_penalised_entropy_is_passed_over_as_often_as_it_says() {
        let mut walk = Entropies::new(1, FlowId(0), 8, 1, false);
        let round: Vec<u16> = (0..8).map(|_| walk.take() & 7).collect();
        let mut sorted = round.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, [0, 1, 2, 3, 4, 5, 6, 7]);
        walk.penalise(3, 1);
        walk.penalise(3, 1);
        let seen: Vec<u16> = (0..7).map(|_| walk.take() & 7).collect();
        assert!(!seen.contains(&3), "{seen:?}");
        let seen: Vec<u16> = (0..8).map(|_| walk.take() & 7).collect();
        assert!(seen.contains(&3), "once was enough: {seen:?}");
    }
}
