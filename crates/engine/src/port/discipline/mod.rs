//! Queue disciplines: what a queue decides about its packets.
//!
//! Each is a file: it answers the questions of [`QueueDiscipline`], from its parameters and a state of its own. Marks
//! and drops are decided at the arrival; what is decided later needs explicit queues ([`crate::port::explicit`]).

mod drop_tail;
mod ecn_at_departure;
mod ecn_ramp;
mod ecn_threshold;
mod random_drop;
mod red;
mod rule;
pub mod trimming;

use crate::spec::{Discipline, QueueSpec};
use drop_tail::DropTail;
use ecn_at_departure::EcnAtDeparture;
use ecn_ramp::EcnRamp;
use ecn_threshold::EcnThreshold;
use random_drop::RandomDrop;
use red::Red;
pub use rule::{Arrival, Departure, Place, QueueDiscipline, Verdict};

/// The list of disciplines: each is named as its parameters are in [`Discipline`].
macro_rules! disciplines {
    ($($name:ident,)*) => {
        /// The discipline of one queue, with its state.
        // with a tag of its own: one comparison tells what every packet asks
        #[derive(Clone, PartialEq, Debug)]
        #[repr(u8)]
        pub enum ActiveDiscipline {
            /// First in, first out; where a port has several queues, that of the whole.
            DropTail(DropTail),
            $(#[doc = concat!("[`Discipline::", stringify!($name), "`].")] $name($name),)*
        }

        impl ActiveDiscipline {
            /// The discipline that `queue` asks for.
            pub fn new(queue: &QueueSpec) -> ActiveDiscipline {
                match &queue.discipline {
                    $(Discipline::$name(parameters) => ActiveDiscipline::$name($name::new(parameters, queue.limit)),)*
                    _ => ActiveDiscipline::DropTail(DropTail::new(queue.limit)),
                }
            }

            /// The discipline at work.
            pub fn at_work(&mut self) -> &mut dyn QueueDiscipline {
                match self {
                    ActiveDiscipline::DropTail(discipline) => discipline,
                    $(ActiveDiscipline::$name(discipline) => discipline,)*
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
    EcnRamp,
}

impl ActiveDiscipline {
    /// The decision of the quickest disciplines, which have no state, about an arrival; `None`: another is to be asked.
    #[inline(always)]
    pub fn decide(&self, arrival: &Arrival) -> Option<Verdict> {
        match self {
            ActiveDiscipline::DropTail(discipline) => Some(discipline.decide(arrival)),
            ActiveDiscipline::EcnThreshold(discipline) => Some(discipline.decide(arrival)),
            ActiveDiscipline::EcnAtDeparture(discipline) => Some(discipline.decide(arrival)),
            _ => None,
        }
    }

    /// Whether it has a state: one of those that [`ActiveDiscipline::decide`] leaves to another question.
    #[inline(always)]
    pub fn has_state(&self) -> bool {
        !matches!(
            self,
            ActiveDiscipline::DropTail(_) | ActiveDiscipline::EcnThreshold(_) | ActiveDiscipline::EcnAtDeparture(_)
        )
    }

    /// Whether it decides everything about a packet at its arrival.
    pub fn decides_at_arrivals(&self) -> bool {
        match self {
            ActiveDiscipline::DropTail(_) | ActiveDiscipline::EcnThreshold(_) => true,
            ActiveDiscipline::RandomDrop(_) | ActiveDiscipline::Red(_) => true,
            // they mark what leaves
            ActiveDiscipline::EcnAtDeparture(_) | ActiveDiscipline::EcnRamp(_) => false,
        }
    }

    /// Whether it has no state and accepts into an empty queue, unmarked, whatever comes.
    pub fn takes_into_empty(&self) -> bool {
        let longest = Arrival::LONGEST_INTO_EMPTY;
        [true, false].iter().all(|ect| self.decide(&Arrival { ect: *ect, ..longest }) == Some(Verdict::Accept))
    }
}
