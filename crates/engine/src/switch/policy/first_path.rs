//! First path: always the first next hop, as in ns-3's global routing.

use crate::event::packet::Packet;
use crate::map::paths::Hops;
use crate::switch::rule::{Ctx, Rule};

/// First path.
#[derive(Clone, Debug)]
pub struct FirstPath;

impl Rule for FirstPath {
    const PURE: bool = true;

    #[inline(always)]
    fn next(&mut self, _: &Ctx, _: &Packet, _: Hops) -> u32 {
        0
    }
}
