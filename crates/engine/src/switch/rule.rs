//! What a routing policy is, and what it sees.

use crate::event::packet::Packet;
use crate::hash;
use crate::ids::NodeId;
use crate::map::fabric::FabricMap;
use crate::map::paths::Hops;
use crate::port::Port;
use crate::spec::Router;

/// What a policy sees at a switch.
#[derive(Clone, Copy)]
pub struct Ctx<'a> {
    /// The fabric map.
    pub map: &'a FabricMap<'a>,
    /// Node number of the switch.
    pub node: NodeId,
    /// Its next hops.
    pub router: &'a Router,
    /// Its ports, as they are when the packet arrives; none for a pure policy.
    pub ports: &'a [Port],
}

impl Ctx<'_> {
    /// The packet's own random number here.
    #[inline]
    pub fn draw(&self, packet: &Packet) -> u64 {
        let (id, part, ts) = packet.identity();
        hash::spray(self.map.spec.seed, packet.flow, packet.is_reverse(), id, part, ts, self.node)
    }
}

/// A routing policy.
pub trait Rule {
    /// The next hop follows from the packet and the fabric map: it may be known before the packet arrives.
    const PURE: bool;

    /// Which of at least two next hops a packet takes.
    fn next(&mut self, ctx: &Ctx, packet: &Packet, hops: Hops) -> u32;
}

/// Whether what has this probability happens to the packet of random number `draw`.
pub fn chance(draw: u64, probability: f64) -> bool {
    (hash::mix(draw ^ 0x434f_494e) >> 11) as f64 * (1.0 / (1u64 << 53) as f64) < probability
}
