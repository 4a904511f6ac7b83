//! What every domain may read and none may write: the map of the network.

use crate::event::interval::Interval;
use crate::event::order::Order;
use crate::event::packet::{Packet, flag};
use crate::event::prefetch;
use crate::host::messages::Join;
use crate::map::paths::{Hops, Timetable, hops, hops_at};
use crate::map::pfc::Pfc;
use crate::map::triggers::Triggers;
use crate::port::Port;
use crate::spec::{FlowSpec, PathChoice, Router, Spec, TransportSpec};
use crate::switch::routing::Chooser;
use incast_cc::Env;

/// Bit of [`Hop::node`] that says the node is a host.
pub const HOST: u32 = 1 << 31;

/// The far end of a link.
#[derive(Clone, Copy, Debug)]
pub struct Hop {
    /// Domain of the receiving node.
    pub domain: u32,
    /// The node's index in its domain's list of switches, or of hosts with [`HOST`] set.
    pub node: u32,
}

/// Where the two ends of a flow live.
#[derive(Clone, Copy, Debug)]
pub struct Ends {
    /// Domain of the sender.
    pub sender_domain: u32,
    /// Index in that domain.
    pub sender: u32,
    /// Domain of the receiver.
    pub receiver_domain: u32,
    /// Index in that domain.
    pub receiver: u32,
}

/// The map.
pub struct Net<'a> {
    /// What was asked for.
    pub spec: &'a Spec,
    /// Tie-breaking.
    pub order: Order,
    /// Measured interval.
    pub interval: Interval,
    /// Where every node lives.
    pub place: Vec<Hop>,
    /// Far end of every link.
    pub links: Vec<Hop>,
    /// Node that every link leaves, as in [`Hop::node`].
    pub origins: Vec<u32>,
    /// Domain-local port number of every link.
    pub port_of: Vec<u32>,
    /// Ends of every flow.
    pub ends: Vec<Ends>,
    /// Controller environment of every flow.
    pub envs: Vec<Env>,
    /// Part of every flow in a two-way connection; empty where there is none.
    pub joins: Vec<Option<Join>>,
    /// Hosts cost their packets something.
    pub hosts_cost: bool,
    /// Packets have entropies.
    pub entropy: bool,
    /// Priority flow control, if switches have it.
    pub pfc: Option<Pfc>,
    /// What opens flows that wait.
    pub triggers: Triggers,
    /// Longest latency of a link, ps: what other hosts do is heard of after it. No engine window is longer, whatever
    /// the domains.
    pub relay: u64,
    /// Index of every query in its root's domain.
    pub queries: Vec<u32>,
    /// Numbers of paths, where the policy asks for them and no arithmetic gives them.
    pub paths: Option<Timetable>,
}

/// No port: the packet is for a host, or has no route.
pub const UNPLANNED: u32 = u32::MAX;
/// No port yet: the switch chooses one when the packet arrives.
pub const CHOICE: u32 = u32::MAX - 1;

impl Net<'_> {
    /// Transport settings `i`.
    #[inline]
    pub fn transport(&self, i: u32) -> &TransportSpec {
        &self.spec.transports[i as usize]
    }

    /// The part of flow `i` in a two-way connection.
    #[inline]
    pub fn join(&self, i: u32) -> Option<Join> {
        self.joins.get(i as usize).copied().flatten()
    }

    /// Traffic class of a packet.
    #[inline]
    pub fn class(&self, packet: &Packet) -> u8 {
        let flow = self.flow(packet.flow);
        if packet.has(flag::REVERSE) { flow.ack_class } else { flow.class }
    }

    /// Flow `i` as asked for.
    #[inline]
    pub fn flow(&self, i: u32) -> &FlowSpec {
        &self.spec.flows[i as usize]
    }
}

/// A switch's forwarding state.
#[derive(Clone, Debug)]
pub struct Switch {
    /// Node number.
    pub node: u32,
    /// Domain-local number of its local port 0.
    pub first_port: u32,
    router: Router,
    /// By what a round robin at the source divides here ([`crate::map::paths::divisors`]).
    divisor: u32,
    chooser: Option<Box<Chooser>>,
}

impl Switch {
    /// Switch `node`.
    pub fn new(node: u32, first_port: u32, router: Router, divisor: u32, chooser: Option<Box<Chooser>>) -> Switch {
        Switch { node, first_port, router, divisor, chooser }
    }

    /// Domain-local port for a packet; [`UNPLANNED`] if its destination is unreachable, [`CHOICE`] if that is
    /// known at its arrival only.
    #[inline(always)]
    pub fn route(&self, net: &Net, packet: &Packet, reverse: bool) -> u32 {
        let pick = |n: u32| self.which(net, packet, reverse, n);
        let local = match &self.router {
            Router::Tree { first, span, stride, down, up, ups } => {
                let below = packet.dst.wrapping_sub(*first);
                if below < *span {
                    down + if *stride == 1 { below } else { below / stride }
                } else if *ups == 0 {
                    return UNPLANNED;
                } else {
                    let i = pick(*ups);
                    if i == CHOICE {
                        return CHOICE;
                    }
                    up + i
                }
            }
            Router::Table { set, sets } => {
                let ports = &sets[set[packet.dst as usize] as usize];
                if ports.is_empty() {
                    return UNPLANNED;
                }
                let i = pick(ports.len() as u32);
                if i == CHOICE {
                    return CHOICE;
                }
                ports[i as usize]
            }
            Router::Rerouted(_) => return self.detour(net, packet, reverse),
        };
        self.first_port + local
    }

    /// [`Switch::route`] by a router that knows ways around failures.
    #[inline(never)]
    fn detour(&self, net: &Net, packet: &Packet, reverse: bool) -> u32 {
        let hops = hops_at(&self.router, packet.dst, packet.time);
        if hops.is_empty() {
            return UNPLANNED;
        }
        match self.which(net, packet, reverse, hops.len()) {
            CHOICE => CHOICE,
            i => self.first_port + hops.get(i),
        }
    }

    /// Which of `n` next hops a packet takes, or [`CHOICE`].
    #[inline(always)]
    fn which(&self, net: &Net, packet: &Packet, reverse: bool, n: u32) -> u32 {
        match net.spec.choice {
            _ if n == 1 => 0,
            PathChoice::First => 0,
            PathChoice::Ecmp => {
                crate::event::hash::pick(crate::event::hash::ecmp(net.spec.seed, packet.flow, reverse, self.node), n)
            }
            PathChoice::Spray if !net.spec.acks_by_flow || !reverse => {
                crate::event::hash::pick(draw(net, packet, self.node), n)
            }
            _ => self.pick(net, packet, n),
        }
    }

    /// Which of `n` (at least 2) next hops a packet takes under the policies that are neither per flow nor uniform.
    #[inline(never)]
    fn pick(&self, net: &Net, packet: &Packet, n: u32) -> u32 {
        let (spec, reverse) = (net.spec, packet.has(flag::REVERSE));
        let ecmp = |node: u32| crate::event::hash::ecmp(spec.seed, packet.flow, reverse, node);
        if spec.acks_by_flow && reverse {
            return crate::event::hash::pick(ecmp(self.node), n);
        }
        match &spec.choice {
            PathChoice::SpraySource => {
                let draw = draw(net, packet, self.node);
                let Some(paths) = &net.paths else { return crate::event::hash::pick(draw, n) };
                let paths = paths.at(packet.time);
                let path = crate::event::hash::pick(draw, paths.count(self.node, packet.dst));
                paths.step(self.node, packet.dst, hops_at(&self.router, packet.dst, packet.time), path).0
            }
            PathChoice::RoundRobinSource => {
                let index = (ecmp(u32::MAX) >> 40) + packet.id as u64;
                let Some(paths) = &net.paths else {
                    return ((index / self.divisor as u64) % n as u64) as u32;
                };
                let flow = net.flow(packet.flow);
                let src = if reverse { flow.dst } else { flow.src };
                paths.at(packet.time).follow(spec, self.node, src, packet.dst, index)
            }
            PathChoice::Entropy(_) => crate::event::hash::pick(
                crate::event::hash::entropy(spec.seed, packet.flow, reverse, packet.entropy(), self.node),
                n,
            ),
            _ => CHOICE,
        }
    }

    /// Brings near what [`Switch::choose`] will touch.
    #[inline]
    pub fn prefetch(&self, ports: &[Port], dst: u32) {
        if let Hops::Run(first, n) = hops(&self.router, dst) {
            let first = (self.first_port + first) as usize;
            ports[first..first + n as usize].iter().for_each(|p| prefetch::lines(p, 1));
        }
    }

    /// Domain-local port for a packet that arrives `now`, where [`Switch::route`] left the choice open; `ports`
    /// are those of the domain.
    pub fn choose(&mut self, net: &Net, ports: &[Port], packet: &Packet, now: u64) -> u32 {
        let Switch { node, first_port, router, chooser, .. } = self;
        let router: &Router = router;
        let Some(chooser) = chooser else { return UNPLANNED };
        let own = |router: &Router| match router {
            Router::Table { set, .. } => set[packet.dst as usize],
            _ => 0,
        };
        let set = match router {
            // sets of detours after those of the base
            Router::Rerouted(rerouted) => {
                let sets = if let Router::Table { sets, .. } = &rerouted.base { sets.len() as u32 } else { 1 };
                rerouted.set(packet.dst, now).map_or(own(&rerouted.base), |set| sets + set)
            }
            router => own(router),
        };
        let hops = hops_at(router, packet.dst, now);
        let flow = (packet.flow, packet.has(flag::REVERSE));
        let draw = || draw(net, packet, *node);
        let i = chooser.choose(net.spec, flow, set, hops, draw, &ports[*first_port as usize..], now);
        *first_port + hops.get(i)
    }
}

/// A packet's random number at switch `node`.
#[inline]
fn draw(net: &Net, packet: &Packet, node: u32) -> u64 {
    let reverse = packet.has(flag::REVERSE);
    crate::event::hash::spray(net.spec.seed, packet.flow, reverse, packet.id, packet.aux, packet.ts, node)
}
