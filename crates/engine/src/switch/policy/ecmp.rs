//! ECMP: a hash of (flow, direction), salted by seed and switch, so that a flow keeps its path.

use crate::event::packet::Packet;
use crate::hash;
use crate::map::paths::Hops;
use crate::switch::rule::{Ctx, Rule};

/// ECMP.
#[derive(Clone, Debug)]
pub struct Ecmp;

impl Rule for Ecmp {
    const PURE: bool = true;

    #[inline(always)]
    fn next(&mut self, ctx: &Ctx, packet: &Packet, hops: Hops) -> u32 {
        hash::pick(hash::ecmp_salted(ctx.map.ecmp_salt, packet.flow, packet.is_reverse(), ctx.node), hops.len())
    }
}
