//! Symmetric ECMP: data follows the ECMP hash, and reverse packets use the same cables in the other direction
//! (`map/mirror.rs`).

use crate::event::packet::Packet;
use crate::map::paths::Hops;
use crate::switch::policy::ecmp::Ecmp;
use crate::switch::rule::{Ctx, Rule};

/// Symmetric ECMP.
#[derive(Clone, Debug)]
pub struct Symmetric;

impl Rule for Symmetric {
    const PURE: bool = true;

    fn next(&mut self, ctx: &Ctx, packet: &Packet, hops: Hops) -> u32 {
        let Some(mirror) = &ctx.map.mirror else { return Ecmp.next(ctx, packet, hops) };
        mirror.choose(ctx.map.spec, ctx.node, (packet.flow, packet.is_reverse()), hops, Some(packet.time))
    }
}
