//! Flowcells (Presto): each so many bytes of a flow take the next of its paths, from one drawn for the flow on. Packets
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
    /// Bytes of one.
    cell: u64,
}

impl Flowcell {
    /// Of so many bytes.
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
            // its packets have numbers
            () if packet.is(Kind::Numbered) => {
                packet.seq() * spec.transports[ctx.map.flow(packet.flow).transport as usize].mss as u64
            }
            () => packet.seq(),
        };
        let start = hash::ecmp(spec.seed, packet.flow, reverse, NodeId(u32::MAX)) >> 40;
        numbered(ctx, packet, hops, start + first / self.cell)
    }
}
