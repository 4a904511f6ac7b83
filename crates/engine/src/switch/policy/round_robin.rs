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
    turns: Vec<Turn>,
}

#[derive(Clone, Debug, Default)]
struct Turn {
    /// Number of packets so far.
    packets: u64,
    /// Current order of the next hops; empty before the first packet.
    order: Vec<u32>,
}

impl RoundRobin {
    /// State before the first packet.
    pub fn new(rounds: &u32, _: &Spec, _: &[LinkId]) -> RoundRobin {
        RoundRobin { rounds: *rounds, turns: Vec::new() }
    }
}

impl Rule for RoundRobin {
    const PURE: bool = false;

    fn next(&mut self, ctx: &Ctx, packet: &Packet, hops: Hops) -> u32 {
        let set = set_at(ctx.router, packet.dst, packet.time) as usize;
        let n = hops.len();
        if self.turns.len() <= set {
            self.turns.resize(set + 1, Turn::default());
        }
        let turn = &mut self.turns[set];
        let again = self.rounds as u64 * n as u64;
        if turn.order.is_empty() || (again > 0 && turn.packets % again == 0) {
            turn.order = (0..n).collect();
            let entity = (ctx.node.0 as u64) << 32 | set as u64;
            for i in (1..n).rev() {
                let counter = (turn.packets << 16) + i as u64;
                let j = hash::pick(hash::bits(ctx.map.spec.seed, purpose::ROUND_ROBIN, entity, counter), i + 1);
                turn.order.swap(i as usize, j as usize);
            }
        }
        let i = turn.order[(turn.packets % n as u64) as usize];
        turn.packets += 1;
        i
    }
}
