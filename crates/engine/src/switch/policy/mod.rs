//! Routing policies: selection among equal-cost next hops.
//!
//! A policy is one file here, with its rule and its state at one switch, and one line in the list of [`PathChoice`],
//! which also generates the enum below. A pure policy chooses by the packet and the fabric map alone, so the choice is
//! made when the engine window looks ahead. Other policies need the state of the switch when the packet arrives, such
//! as the round-robin position or the queue lengths. This state belongs to one switch and changes in the order of its
//! events, so it is the same under any partition.

mod adaptive;
mod ecmp;
mod ecmp_adaptive;
pub mod entropy;
mod first_path;
mod flowcell;
mod flowlet;
mod given_path;
mod power_of_two;
mod round_robin;
mod round_robin_source;
mod spray;
mod spray_source;
mod symmetric;

use crate::event::packet::Packet;
use crate::ids::LinkId;
use crate::map::paths::Hops;
use crate::spec::{PathChoice, Spec, policies};
use crate::switch::rule::{Ctx, Rule};

macro_rules! rules {
    ($($(#[$doc:meta])+ $name:ident $(($($key:ident: $type:ty),+))? => $file:ident::$rule:ident,)+) => {
        /// The policy of one switch, with its state.
        #[derive(Clone, Debug)]
        pub enum Policy {
            $($name(Box<$file::$rule>),)+
        }

        impl Policy {
            /// The policy of a switch whose ports feed `links`, in order.
            pub fn new(spec: &Spec, links: &[LinkId]) -> Policy {
                match &spec.choice {
                    $(PathChoice::$name $(($($key),+))? => {
                        Policy::$name(Box::new($file::$rule $(::new($($key,)+ spec, links))?))
                    })+
                }
            }

            /// See [`Rule::PURE`].
            pub fn is_pure(&self) -> bool {
                match self {
                    $(Policy::$name(_) => <$file::$rule>::PURE,)+
                }
            }

            /// Chooses one of at least two next hops for a packet that arrives now.
            #[inline(never)]
            pub fn next(&mut self, ctx: &Ctx, packet: &Packet, hops: Hops) -> u32 {
                match self {
                    $(Policy::$name(rule) => rule.next(ctx, packet, hops),)+
                }
            }
        }
    };
}
policies!(rules);

impl Policy {
    /// [`Policy::next`], if it is known before the packet arrives. ACKs can be configured to use [`ecmp`], whatever the
    /// policy of data.
    #[inline(always)]
    pub fn ahead(&mut self, ctx: &Ctx, packet: &Packet, hops: Hops) -> Option<u32> {
        if let Policy::Ecmp(rule) = self {
            return Some(rule.next(ctx, packet, hops));
        }
        match self {
            Policy::First(rule) => Some(rule.next(ctx, packet, hops)),
            Policy::Spray(rule) if !(ctx.map.spec.acks_by_flow && packet.is_reverse()) => {
                Some(rule.next(ctx, packet, hops))
            }
            // by value: for most packets nothing of it is written to memory
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
