//! Routing policies: which of several equally short next hops a packet takes.
//!
//! A policy is one file here: its rule, its state at one switch, its parameters from the specification. A pure one
//! chooses by the packet and the fabric map alone, so the choice is made when the window looks ahead. The rest needs
//! the switch as it is when the packet arrives: whose turn it is, or how full the ports are. That is state of one
//! switch, changed in the order of that switch's events, so it is the same under any partition.

mod adaptive;
mod ecmp;
mod ecmp_adaptive;
pub mod entropy;
mod first_path;
mod flowlet;
mod power_of_two;
mod round_robin;
mod round_robin_source;
mod spray;
mod spray_source;

use crate::event::packet::Packet;
use crate::ids::LinkId;
use crate::map::paths::Hops;
use crate::spec::{PathChoice, Spec};
use crate::switch::rule::{Ctx, Rule};

macro_rules! policies {
    (($spec:ident, $links:ident) $($name:ident($rule:ty): $choice:pat => $new:expr;)*) => {
        /// The policy of one switch, with its state.
        #[derive(Clone, Debug)]
        pub enum Policy {
            $($name(Box<$rule>),)*
        }

        impl Policy {
            /// The policy of a switch whose ports feed `links`, in order.
            pub fn new($spec: &Spec, $links: &[LinkId]) -> Policy {
                match &$spec.choice {
                    $($choice => Policy::$name(Box::new($new)),)*
                }
            }

            /// See [`Rule::PURE`].
            pub fn is_pure(&self) -> bool {
                match self {
                    $(Policy::$name(_) => <$rule>::PURE,)*
                }
            }

            /// Which of at least two next hops a packet takes that arrives now.
            #[inline(never)]
            pub fn next(&mut self, ctx: &Ctx, packet: &Packet, hops: Hops) -> u32 {
                match self {
                    $(Policy::$name(rule) => rule.next(ctx, packet, hops),)*
                }
            }
        }
    };
}

policies! { (spec, links)
    Ecmp(ecmp::Ecmp): PathChoice::Ecmp => ecmp::Ecmp;
    FirstPath(first_path::FirstPath): PathChoice::First => first_path::FirstPath;
    Spray(spray::Spray): PathChoice::Spray => spray::Spray;
    SpraySource(spray_source::SpraySource): PathChoice::SpraySource => spray_source::SpraySource;
    RoundRobinSource(round_robin_source::RoundRobinSource):
        PathChoice::RoundRobinSource => round_robin_source::RoundRobinSource;
    RoundRobin(round_robin::RoundRobin):
        PathChoice::RoundRobin { rounds } => round_robin::RoundRobin::new(*rounds);
    Adaptive(adaptive::Adaptive): PathChoice::Adaptive(rule) => adaptive::Adaptive::new(rule, spec, links);
    PowerOfTwo(power_of_two::PowerOfTwo): PathChoice::PowerOfTwo => power_of_two::PowerOfTwo;
    Flowlet(flowlet::Flowlet): PathChoice::Flowlet(rule) => flowlet::Flowlet::new(rule, spec, links);
    EcmpAdaptive(ecmp_adaptive::EcmpAdaptive): PathChoice::EcmpAdaptive(rule, probability) =>
        ecmp_adaptive::EcmpAdaptive::new(rule, *probability, spec, links);
    Entropy(entropy::Entropy): PathChoice::Entropy(_) => entropy::Entropy;
}

impl Policy {
    /// [`Policy::next`], where it is known before the packet arrives. ACKs may be told to go by [`ecmp`], whatever data
    /// does.
    #[inline(always)]
    pub fn ahead(&mut self, ctx: &Ctx, packet: &Packet, hops: Hops) -> Option<u32> {
        if let Policy::Ecmp(rule) = self {
            return Some(rule.next(ctx, packet, hops));
        }
        match self {
            Policy::FirstPath(rule) => Some(rule.next(ctx, packet, hops)),
            Policy::Spray(rule) if !(ctx.map.spec.acks_by_flow && packet.is_reverse()) => {
                Some(rule.next(ctx, packet, hops))
            }
            // by value: so that of most packets nothing of it is written to memory
            _ => self.others_ahead(*ctx, packet, hops),
        }
    }

    #[inline(never)]
    fn others_ahead(&mut self, ctx: Ctx, packet: &Packet, hops: Hops) -> Option<u32> {
        if ctx.map.spec.acks_by_flow && packet.is_reverse() {
            return Some(ecmp::Ecmp.next(&ctx, packet, hops));
        }
        self.is_pure().then(|| self.next(&ctx, packet, hops))
    }
}
