//! Adaptive routing of htsim's fat-tree switch: each packet takes a random port in the lowest load band.

use crate::event::packet::Packet;
use crate::ids::LinkId;
use crate::map::paths::Hops;
use crate::spec::{self, Spec};
use crate::switch::port_load::PortLoad;
use crate::switch::rule::{Ctx, Rule};

/// Adaptive routing.
#[derive(Clone, Debug)]
pub struct Adaptive {
    load: PortLoad,
}

impl Adaptive {
    /// Policy of a switch whose ports feed `links`.
    pub fn new(rule: &spec::Adaptive, spec: &Spec, links: &[LinkId]) -> Adaptive {
        Adaptive { load: PortLoad::new(rule, spec, links) }
    }
}

impl Rule for Adaptive {
    const PURE: bool = false;

    #[inline]
    fn next(&mut self, ctx: &Ctx, packet: &Packet, hops: Hops) -> u32 {
        self.load.lowest(ctx, packet, hops)
    }
}
