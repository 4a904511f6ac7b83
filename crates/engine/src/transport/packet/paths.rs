//! Paths of an endpoint's packets.

use crate::hash::{self, purpose};
use crate::ids::FlowId;
use crate::spec::Walk;

/// A walk over paths.
#[derive(Clone, Debug)]
pub struct Paths {
    seed: u64,
    entity: u64,
    draws: u64,
    walk: Walk,
    /// Paths, if there are several, in the order of the walk.
    order: Vec<u16>,
    at: usize,
}

impl Paths {
    /// Walk of one end of `flow` over `count` paths.
    pub fn new(seed: u64, flow: FlowId, receiver: bool, count: u32, walk: Walk) -> Paths {
        let count = count.min(u16::MAX as u32) as u16;
        let order: Vec<u16> = if count > 1 { (0..count).collect() } else { Vec::new() };
        Paths { seed, entity: (flow.0 as u64) << 1 | receiver as u64, draws: 0, walk, at: order.len(), order }
    }

    fn draw(&mut self, n: usize) -> usize {
        self.draws += 1;
        hash::pick(hash::bits(self.seed, purpose::PATH, self.entity, self.draws), n as u32) as usize
    }

    /// Path of the next packet.
    pub fn take(&mut self) -> u16 {
        let n = self.order.len();
        if n == 0 {
            return 0;
        }
        if self.walk == Walk::Random {
            let i = self.draw(n);
            return self.order[i];
        }
        if self.at == n {
            self.at = 0;
            for i in (1..n).rev() {
                let other = self.draw(i + 1);
                self.order.swap(i, other);
            }
        }
        self.at += 1;
        self.order[self.at - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_takes_every_path_once_before_any_twice() {
        let mut paths = Paths::new(1, FlowId(7), false, 16, Walk::Permute);
        let mut rounds: Vec<Vec<u16>> = (0..4).map(|_| (0..16).map(|_| paths.take()).collect()).collect();
        assert_ne!(rounds[0], rounds[1]);
        rounds.iter_mut().for_each(|round| round.sort_unstable());
        assert!(rounds.iter().all(|round| round.iter().copied().eq(0..16)));
    }
}
