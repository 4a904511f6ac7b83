//! Queue disciplines: accept, mark or drop.
//!
//! Each discipline is one file that implements [`QueueDiscipline`] with its parameters and state. Marks and drops are
//! decided at arrival; later decisions need explicit queues ([`crate::port::explicit`]).

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

/// List of disciplines, named as their parameters in [`Discipline`].
macro_rules! disciplines {
    ($($name:ident,)*) => {
        /// Discipline of one queue, with its state.
        // with its own tag: one comparison answers what every packet needs
        #[derive(Clone, PartialEq, Debug)]
        #[repr(u8)]
        pub enum ActiveDiscipline {
            /// First in, first out; for a port with several queues, the discipline of the whole port.
            DropTail(DropTail),
            $(#[doc = concat!("[`Discipline::", stringify!($name), "`].")] $name($name),)*
        }

        impl ActiveDiscipline {
            /// Discipline of `queue`.
            pub fn new(queue: &QueueSpec) -> ActiveDiscipline {
                match &queue.discipline {
                    $(Discipline::$name(parameters) => ActiveDiscipline::$name($name::new(parameters, queue.limit)),)*
                    _ => ActiveDiscipline::DropTail(DropTail::new(queue.limit)),
                }
            }

            /// Discipline as a trait object.
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
    /// Decision of the fast, stateless disciplines about an arrival; `None`: ask [`ActiveDiscipline::at_work`].
    #[inline(always)]
    pub fn decide(&self, arrival: &Arrival) -> Option<Verdict> {
        match self {
            ActiveDiscipline::DropTail(discipline) => Some(discipline.decide(arrival)),
            ActiveDiscipline::EcnThreshold(discipline) => Some(discipline.decide(arrival)),
            ActiveDiscipline::EcnAtDeparture(discipline) => Some(discipline.decide(arrival)),
            ActiveDiscipline::EcnRamp(discipline) => Some(discipline.decide(arrival)),
            _ => None,
        }
    }

    /// Returns whether arrivals have a state, so that [`ActiveDiscipline::decide`] returns `None`.
    #[inline(always)]
    pub fn has_state(&self) -> bool {
        matches!(self, ActiveDiscipline::RandomDrop(_) | ActiveDiscipline::Red(_))
    }

    /// Returns whether it decides everything about a packet at its arrival.
    pub fn decides_at_arrivals(&self) -> bool {
        match self {
            ActiveDiscipline::DropTail(_) | ActiveDiscipline::EcnThreshold(_) => true,
            ActiveDiscipline::RandomDrop(_) | ActiveDiscipline::Red(_) => true,
            // they mark at departure
            ActiveDiscipline::EcnAtDeparture(_) | ActiveDiscipline::EcnRamp(_) => false,
        }
    }

    /// Returns whether it has no state and accepts any packet into an empty queue, unmarked.
    pub fn takes_into_empty(&self) -> bool {
        let longest = Arrival::LONGEST_INTO_EMPTY;
        [true, false].iter().all(|ect| self.decide(&Arrival { ect: *ect, ..longest }) == Some(Verdict::Accept))
    }
}
