//! Power of two choices: each switch draws two next hops for a packet and takes the one whose port holds fewer bytes.

use crate::event::packet::Packet;
use crate::hash;
use crate::map::paths::Hops;
use crate::switch::rule::{Ctx, Rule};

/// Power of two choices.
#[derive(Clone, Debug)]
pub struct PowerOfTwo;

impl Rule for PowerOfTwo {
    const PURE: bool = false;

    fn next(&mut self, ctx: &Ctx, packet: &Packet, hops: Hops) -> u32 {
        let (n, draw) = (hops.len(), ctx.draw(packet));
        let a = hash::pick(draw, n);
        let b = (a + 1 + hash::pick(hash::mix(draw), n - 1)) % n;
        let bytes = |i: u32| ctx.ports[hops.get(i) as usize].filling(packet.time).1;
        if bytes(b) < bytes(a) { b } else { a }
    }
}
