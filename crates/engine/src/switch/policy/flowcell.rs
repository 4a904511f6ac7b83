//! Flowcells (Presto): a flow moves to its next path after every cell of bytes, starting at a random path. Packets
//! without data count as the flow's first bytes.

use super::round_robin_source::numbered;
use crate::event::packet::{Kind, Packet};
use crate::hash;
use crate::ids::{LinkId, NodeId};
use crate::map::paths::Hops;
use crate::spec::Spec;
use crate::switch::rule::{Ctx, Rule};

/// Flowcells.
#[derive(Clone, Debug)]
pub struct Flowcell {
    /// Size of a flowcell, in bytes.
    cell: u64,
}

impl Flowcell {
    /// Flowcells of `cell` bytes.
    pub fn new(cell: &u64, _: &Spec, _: &[LinkId]) -> Flowcell {
        Flowcell { cell: *cell }
    }
}

impl Rule for Flowcell {
    const PURE: bool = true;

    fn next(&mut self, ctx: &Ctx, packet: &Packet, hops: Hops) -> u32 {
        let spec = ctx.map.spec;
        let reverse = packet.is_reverse();
        let first = match () {
            () if reverse || packet.len == 0 => 0,
            // packet-numbered transport
            () if packet.is(Kind::Numbered) => {
                packet.seq() * spec.transports[ctx.map.flow(packet.flow).transport as usize].sizes.mss as u64
            }
            () => packet.seq(),
        };
        let start = hash::ecmp(spec.seed, packet.flow, reverse, NodeId(u32::MAX)) >> 40;
        numbered(ctx, packet, hops, start + first / self.cell)
    }
}
