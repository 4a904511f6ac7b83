//! Packet spraying by the source: every packet takes one of the shortest paths at random, uniform among the paths. In a
//! regular tree that is what switches do that draw by themselves.

use crate::event::packet::Packet;
use crate::hash;
use crate::map::paths::{Hops, Numbered};
use crate::switch::rule::{Ctx, Rule};

/// Packet spraying by the source.
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
