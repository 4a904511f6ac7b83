//! Adaptive ECMP (htsim's `ecmp_host_ar`): [ECMP](super::ecmp), but with some probability a packet whose port is in the
//! highest occupied band of its next hops takes a random port in the lowest band.

use super::ecmp::Ecmp;
use crate::event::packet::Packet;
use crate::ids::LinkId;
use crate::map::paths::Hops;
use crate::spec::{self, Spec};
use crate::switch::port_load::PortLoad;
use crate::switch::rule::{Ctx, Rule, chance};

/// Adaptive ECMP.
#[derive(Clone, Debug)]
pub struct EcmpAdaptive {
    probability: f64,
    load: PortLoad,
}

impl EcmpAdaptive {
    /// Policy of a switch whose ports feed `links`.
    pub fn new(rule: &spec::Adaptive, probability: &f64, spec: &Spec, links: &[LinkId]) -> EcmpAdaptive {
        EcmpAdaptive { probability: *probability, load: PortLoad::new(rule, spec, links) }
    }
}

impl Rule for EcmpAdaptive {
    const PURE: bool = false;

    fn next(&mut self, ctx: &Ctx, packet: &Packet, hops: Hops) -> u32 {
        let hashed = Ecmp.next(ctx, packet, hops);
        if !chance(ctx.draw(packet), self.probability) {
            return hashed;
        }
        let best = self.load.lowest(ctx, packet, hops);
        let worst = hops.iter().map(|port| self.load.band(port)).max();
        if worst == Some(self.load.band(hops.get(hashed))) { best } else { hashed }
    }
}
