//! Source-based packet spraying: random path for every packet, uniform among the shortest paths. In a regular tree this
//! equals uniform draws at each switch.

use crate::event::packet::Packet;
use crate::hash;
use crate::map::paths::{Hops, Numbered};
use crate::switch::rule::{Ctx, Rule};

/// Source-based packet spraying.
#[derive(Clone, Debug)]
pub struct SpraySource;

impl Rule for SpraySource {
    const PURE: bool = true;

    fn next(&mut self, ctx: &Ctx, packet: &Packet, hops: Hops) -> u32 {
        let draw = ctx.draw(packet);
        let Numbered::Counted(paths) = &ctx.map.paths else { return hash::pick(draw, hops.len()) };
        let paths = paths.at(packet.time);
        let path = hash::pick(draw, paths.count(ctx.node, packet.dst));
        paths.step(ctx.node, packet.dst, hops, path).0
    }
}
