//! Round robin over the next hops of a set at each switch, in an order that is redrawn after a number of rounds (htsim:
//! 5).

use crate::event::packet::Packet;
use crate::hash::{self, purpose};
use crate::ids::LinkId;
use crate::map::paths::{Hops, set_at};
use crate::spec::Spec;
use crate::switch::rule::{Ctx, Rule};

/// Round robin.
#[derive(Clone, Debug)]
pub struct RoundRobin {
    /// Rounds after which the order is redrawn; 0: never.
    rounds: u32,
    /// State by set of next hops.
    rotations: Vec<Rotation>,
}

#[derive(Clone, Debug, Default)]
struct Rotation {
    /// Number of packets so far.
    packets: u64,
    /// Current order of the next hops; empty before the first packet.
    order: Vec<u32>,
}

impl RoundRobin {
    /// State before the first packet.
    pub fn new(rounds: &u32, _: &Spec, _: &[LinkId]) -> RoundRobin {
        RoundRobin { rounds: *rounds, rotations: Vec::new() }
    }
}

impl Rule for RoundRobin {
    const PURE: bool = false;

    fn next(&mut self, ctx: &Ctx, packet: &Packet, hops: Hops) -> u32 {
        let set = set_at(ctx.router, packet.dst, packet.time) as usize;
        let n = hops.len();
        if self.rotations.len() <= set {
            self.rotations.resize(set + 1, Rotation::default());
        }
        let rotation = &mut self.rotations[set];
        let again = self.rounds as u64 * n as u64;
        if rotation.order.is_empty() || (again > 0 && rotation.packets % again == 0) {
            rotation.order = (0..n).collect();
            let entity = (ctx.node.0 as u64) << 32 | set as u64;
            for i in (1..n).rev() {
                let counter = (rotation.packets << 16) + i as u64;
                let j = hash::pick(hash::bits(ctx.map.spec.seed, purpose::ROUND_ROBIN, entity, counter), i + 1);
                rotation.order.swap(i as usize, j as usize);
            }
        }
        let i = rotation.order[(rotation.packets % n as u64) as usize];
        rotation.packets += 1;
        i
    }
}
