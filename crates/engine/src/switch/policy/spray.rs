//! Packet spraying: random next hop for every packet (IP fragment), uniform at each switch. Equal to ns-3's
//! `RandomEcmpRouting`.

use crate::event::packet::Packet;
use crate::hash;
use crate::map::paths::Hops;
use crate::switch::rule::{Ctx, Rule};

/// Packet spraying.
#[derive(Clone, Debug)]
pub struct Spray;

impl Rule for Spray {
    const PURE: bool = true;

    #[inline(always)]
    fn next(&mut self, ctx: &Ctx, packet: &Packet, hops: Hops) -> u32 {
        hash::pick(ctx.draw(packet), hops.len())
    }
}
