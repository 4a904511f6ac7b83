//! Source-based round robin over the paths of a flow and direction, starting at a random path. Packet number
//! [`Packet::id`] takes path `start + id`. If 65,536 is not a multiple of the number of paths, the order breaks once in
//! 65,536 packets.

use crate::event::packet::Packet;
use crate::hash;
use crate::ids::NodeId;
use crate::map::paths::{Hops, Numbered};
use crate::switch::rule::{Ctx, Rule};

/// Source-based round robin.
#[derive(Clone, Debug)]
pub struct RoundRobinSource;

impl Rule for RoundRobinSource {
    const PURE: bool = true;

    fn next(&mut self, ctx: &Ctx, packet: &Packet, hops: Hops) -> u32 {
        let (spec, reverse) = (ctx.map.spec, packet.is_reverse());
        let number = (hash::ecmp(spec.seed, packet.flow, reverse, NodeId(u32::MAX)) >> 40) + packet.id as u64;
        numbered(ctx, packet, hops, number)
    }
}

/// Next hop on path `index` modulo the number of paths.
pub(super) fn numbered(ctx: &Ctx, packet: &Packet, hops: Hops, index: u64) -> u32 {
    let (spec, reverse) = (ctx.map.spec, packet.is_reverse());
    match &ctx.map.paths {
        Numbered::Regular(divisors, _) => {
            let divisor = divisors[(ctx.node.0 - spec.hosts) as usize];
            ((index / divisor as u64) % hops.len() as u64) as u32
        }
        Numbered::Counted(paths) => {
            let flow = ctx.map.flow(packet.flow);
            let src = NodeId(if reverse { flow.dst } else { flow.src });
            paths.at(packet.time).follow(spec, ctx.node, src, packet.dst, index)
        }
        Numbered::Not => 0,
    }
}
