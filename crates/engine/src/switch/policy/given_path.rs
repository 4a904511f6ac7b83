//! Paths chosen by endpoints: the path number is the packet's entropy modulo the number of paths.

use crate::event::packet::Packet;
use crate::map::paths::Hops;
use crate::switch::policy::round_robin_source::numbered;
use crate::switch::rule::{Ctx, Rule};

/// Paths by number.
#[derive(Clone, Debug)]
pub struct GivenPath;

impl Rule for GivenPath {
    const PURE: bool = true;

    fn next(&mut self, ctx: &Ctx, packet: &Packet, hops: Hops) -> u32 {
        numbered(ctx, packet, hops, packet.entropy() as u64)
    }
}
