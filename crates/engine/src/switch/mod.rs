//! Switch: next hops and the routing policy that chooses among them.

pub mod policy;
mod port_load;
pub mod route;
mod rule;

use crate::event::packet::Packet;
use crate::event::prefetch;
use crate::ids::{LinkId, NodeId, PortIx};
use crate::map::fabric::FabricMap;
use crate::map::paths::{Hops, hops, hops_at};
use crate::port::Port;
use crate::spec::{Router, Spec};
use policy::Policy;
use route::Planned;
use rule::Ctx;

/// A switch.
#[derive(Clone, Debug)]
pub struct Switch {
    /// Node number.
    node: NodeId,
    /// Number of its local port 0.
    first_port: PortIx,
    router: Router,
    policy: Policy,
}

impl Switch {
    /// Switch `node`, whose ports feed `links`, in order.
    pub fn new(spec: &Spec, node: NodeId, first_port: PortIx, links: &[LinkId]) -> Switch {
        let router = spec.routers[(node.0 - spec.hosts) as usize].clone();
        Switch { node, first_port, router, policy: Policy::new(spec, links) }
    }

    /// Egress port of a packet, if it is known before the packet arrives.
    #[inline(always)]
    pub fn plan(&mut self, map: &FabricMap, packet: &Packet) -> Planned {
        let Switch { node, first_port, router, policy } = self;
        let router: &Router = router;
        let ctx = Ctx { map, node: *node, router, ports: &[] };
        match router {
            Router::Tree { first, span, stride, down, up, ups } => {
                let below = packet.dst.0.wrapping_sub(*first);
                if below < *span {
                    let below = if *stride == 1 { below } else { below / stride };
                    return Planned::port(first_port.plus(down + below));
                }
                plan(policy, &ctx, packet, Hops::Run(*up, *ups), *first_port)
            }
            Router::Table { set, sets } => {
                plan(policy, &ctx, packet, Hops::List(&sets[set[packet.dst] as usize]), *first_port)
            }
            Router::Rerouted(_) => plan_rerouted(policy, ctx, packet, *first_port),
        }
    }

    /// True if the policy does not read port state.
    pub fn is_pure(&self) -> bool {
        self.policy.is_pure()
    }

    /// Prefetches the memory that [`Switch::choose`] will read.
    #[inline]
    pub fn prefetch(&self, ports: &[Port], dst: NodeId) {
        if let Hops::Run(first, n) = hops(&self.router, dst) {
            let first = self.first_port.plus(first).ix();
            ports[first..first + n as usize].iter().for_each(|p| prefetch::lines(p, 1));
        }
    }

    /// Egress port of a packet that arrives now, for which [`Switch::plan`] returned [`Planned::CHOOSE`]. `ports` are
    /// those of the domain.
    pub fn choose(&mut self, map: &FabricMap, ports: &[Port], packet: &Packet) -> PortIx {
        let Switch { node, first_port, router, policy } = self;
        let hops = hops_at(router, packet.dst, packet.time);
        let ctx = Ctx { map, node: *node, router, ports: &ports[first_port.ix()..] };
        first_port.plus(hops.get(policy.next(&ctx, packet, hops)))
    }
}

#[inline(always)]
fn plan(policy: &mut Policy, ctx: &Ctx, packet: &Packet, hops: Hops, first_port: PortIx) -> Planned {
    let next = match hops.len() {
        0 => return Planned::NONE,
        1 => Some(0),
        _ => policy.ahead(ctx, packet, hops),
    };
    next.map_or(Planned::CHOOSE, |i| Planned::port(first_port.plus(hops.get(i))))
}

/// [`plan`] at a switch with detours around failures.
#[inline(never)]
fn plan_rerouted(policy: &mut Policy, ctx: Ctx, packet: &Packet, first_port: PortIx) -> Planned {
    plan(policy, &ctx, packet, hops_at(ctx.router, packet.dst, packet.time), first_port)
}
