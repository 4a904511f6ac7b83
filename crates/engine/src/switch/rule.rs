//! Interface of a routing policy.

use crate::event::packet::Packet;
use crate::hash;
use crate::ids::NodeId;
use crate::map::fabric::FabricMap;
use crate::map::paths::Hops;
use crate::port::Port;
use crate::spec::Router;

/// Context of a policy at a switch.
#[derive(Clone, Copy)]
pub struct Ctx<'a> {
    /// The fabric map.
    pub map: &'a FabricMap<'a>,
    /// Node number of the switch.
    pub node: NodeId,
    /// Next hops of the switch.
    pub router: &'a Router,
    /// Ports of the switch when the packet arrives; empty for a pure policy.
    pub ports: &'a [Port],
}

impl Ctx<'_> {
    /// Random number of the packet at this switch.
    #[inline]
    pub fn draw(&self, packet: &Packet) -> u64 {
        let (id, part, ts) = packet.identity();
        hash::spray(self.map.spec.seed, packet.flow, packet.is_reverse(), id, part, ts, self.node)
    }
}

/// Routing policy.
pub trait Rule {
    /// True if the next hop depends only on the packet and the fabric map, so that it can be known before the packet
    /// arrives.
    const PURE: bool;

    /// Chooses one of at least two next hops for a packet.
    fn next(&mut self, ctx: &Ctx, packet: &Packet, hops: Hops) -> u32;
}

/// Returns true with this probability, decided by the packet's random number `draw`.
pub fn chance(draw: u64, probability: f64) -> bool {
    (hash::mix(draw ^ 0x434f_494e) >> 11) as f64 * (1.0 / (1u64 << 53) as f64) < probability
}
