//! Queue disciplines: what a queue decides about its packets.
//!
//! Each is a file: it answers the questions of [`QueueDiscipline`], from its parameters and a state of its own. Marks
//! and drops are decided at the arrival; what is decided later needs explicit queues ([`crate::port::explicit`]).

mod drop_tail;
mod ecn_at_departure;
mod ecn_threshold;
mod random_drop;
mod red;
mod rule;
pub mod trimming;

use crate::spec::{Discipline, QueueSpec};
use drop_tail::DropTail;
use ecn_at_departure::EcnAtDeparture;
use ecn_threshold::EcnThreshold;
use random_drop::RandomDrop;
use red::Red;
pub use rule::{Arrival, Departure, Place, QueueDiscipline, Verdict};

/// The list of disciplines: each is named as its parameters are in [`Discipline`].
macro_rules! disciplines {
    ($($name:ident,)*) => {
        /// The discipline of one queue.
        // with a tag of its own: one comparison tells what every packet asks
        #[derive(Clone, PartialEq, Debug)]
        #[repr(u8)]
        pub enum Rule {
            /// First in, first out; where a port has several queues, that of the whole.
            DropTail(DropTail),
            $(#[doc = concat!("[`Discipline::", stringify!($name), "`].")] $name($name),)*
        }

        impl Rule {
            /// The discipline that `queue` asks for.
            pub fn new(queue: &QueueSpec) -> Rule {
                match &queue.discipline {
                    $(Discipline::$name(parameters) => Rule::$name($name::new(parameters, queue.limit)),)*
                    _ => Rule::DropTail(DropTail::new(queue.limit)),
                }
            }

            /// The discipline at work.
            pub fn at_work(&mut self) -> &mut dyn QueueDiscipline {
                match self {
                    Rule::DropTail(rule) => rule,
                    $(Rule::$name(rule) => rule,)*
                }
            }
        }
    };
}

disciplines! {
    EcnThreshold,
    EcnAtDeparture,
    RandomDrop,
    Red,
}

impl Rule {
    /// The decision of the quickest disciplines, which have no state, about an arrival; `None`: another is to be asked.
    #[inline(always)]
    pub fn decide(&self, arrival: &Arrival) -> Option<Verdict> {
        match self {
            Rule::DropTail(rule) => Some(rule.decide(arrival)),
            Rule::EcnThreshold(rule) => Some(rule.decide(arrival)),
            _ => None,
        }
    }
}
