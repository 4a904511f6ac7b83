//! The order of events: (time, generation, phase, tie key, entity, sequence).
//!
//! *Generation* makes causes precede effects at one instant: an event caused by another at the same picosecond (over a
//! link without latency) has its cause's generation plus one. *Phase* puts departures before arrivals before timers.
//! The *tie key* is a hash of (seed, entity, time), so that no link or flow is favoured for long. With a fixed order it
//! is 0, or ranks packets by the age of the transmission that caused them. Remaining ties (one link, one flow) are
//! ordered by sequence: a link is always FIFO. No part of the key depends on insertion order between links or on the
//! grouping of nodes into domains.

use crate::event::packet::{Ext, NO_TIE_RANK, Packet};
use crate::hash;
use crate::ids::{CellId, EngineId, FlowId, LinkId, NodeId, OpeningId, QueryId, RankId, StreamId, TaskId, TriggerId};
use crate::spec::Ties;
use incast_cc::Time;

/// Phases within a generation.
pub mod phase {
    /// A transmission ends.
    pub const DEPARTURE: u8 = 0;
    /// A packet arrives.
    pub const ARRIVAL: u8 = 1;
    /// A timer fires.
    pub const TIMER: u8 = 2;
}

/// Position of an event in the order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Key {
    /// Time of the event.
    pub time: Time,
    /// Generation in the upper bits, phase in the low byte.
    pub gen_phase: u32,
    /// Hash of (seed, entity, time).
    pub tie: u32,
    /// Link, or flow.
    pub entity: u32,
    /// Sequence on a link; kind of timer.
    pub seq: u32,
}

impl Key {
    /// Key of an arrival.
    #[inline]
    pub fn arrival(order: Order, packet: &Packet, generation: u16, seq: u32) -> Key {
        let gen_phase = (generation as u32) << 8 | phase::ARRIVAL as u32;
        Key { time: packet.time, gen_phase, tie: order.tie_of(packet), entity: packet.link.0, seq }
    }

    /// Key of a timer or departure.
    #[inline]
    pub fn timer(order: Order, time: Time, generation: u16, timer: Timer) -> Key {
        let phase =
            if matches!(timer, Timer::Departure(_) | Timer::NicSlot(_)) { phase::DEPARTURE } else { phase::TIMER };
        let (seq, entity) = timer.numbers();
        let tie = match order.ties {
            Ties::Hash => hash::tie(order.seed, entity as u64 | 1 << 40, time),
            Ties::Link | Ties::Scheduled => 0,
        };
        Key { time, gen_phase: (generation as u32) << 8 | phase as u32, tie, entity, seq }
    }

    /// Key of a message to the host of a connection's receiver, the `number`th of the connection.
    pub fn message(time: Time, flow: FlowId, number: u32) -> Key {
        Key { time, gen_phase: phase::TIMER as u32, tie: 0, entity: flow.0, seq: number }
    }

    /// Generation of the event.
    #[inline]
    pub fn generation(&self) -> u16 {
        (self.gen_phase >> 8) as u16
    }
}

/// Tie-breaking between simultaneous events.
#[derive(Clone, Copy, Debug)]
pub struct Order {
    /// Seed of the run.
    pub seed: u64,
    /// Rule.
    pub ties: Ties,
}

impl Order {
    /// Tie key of an arrival over `link` at `time`, by hash.
    #[inline]
    pub fn tie_on(self, link: LinkId, time: Time) -> u32 {
        hash::tie(self.seed, link.0 as u64, time)
    }

    /// Tie key of an arrival.
    #[inline]
    pub fn tie_of(self, packet: &Packet) -> u32 {
        match self.ties {
            Ties::Hash => self.tie_on(packet.link, packet.time),
            Ties::Link => 0,
            Ties::Scheduled if packet.tie_rank() == NO_TIE_RANK => 0,
            Ties::Scheduled => ((u16::MAX - packet.size) as u32) << 16 | packet.tie_rank() as u32,
        }
    }
}

/// List of timers: place among those that tie, purpose, type of the entity. Those with one place are of two transports.
macro_rules! timers {
    ($($(#[$doc:meta])* $place:literal $kind:ident($of:ty),)*) => {
        /// The purpose of a pending timer.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub enum Timer {
            $($(#[$doc])* $kind($of),)*
        }

        impl Timer {
            /// Place of the kind, and number of the entity: the order of timers that tie in everything else.
            #[inline]
            fn numbers(self) -> (u32, u32) {
                match self {
                    $(Timer::$kind(of) => ($place, of.into()),)*
                }
            }
        }
    };
}

timers! {
    /// The explicit queue of a port, or a fair NIC, finished a transmission.
    0 Departure(LinkId),
    /// The NIC of a host is free for the next packet or sender that waits for it.
    1 NicSlot(NodeId),
    /// A flow opens.
    2 Start(FlowId),
    /// The application stops.
    3 Stop(FlowId),
    /// Retransmission, SYN or persist timer.
    4 Retransmit(FlowId),
    /// Pacing allows the next packet.
    5 Pace(FlowId),
    /// A timer of its own that a sender has set.
    5 Sender(FlowId),
    /// A timer of the controller.
    6 Wake(FlowId),
    /// The application writes.
    7 App(FlowId),
    /// Delayed ACK.
    8 DelayedAck(FlowId),
    /// A timer of its own that a receiver has set.
    8 Receiver(FlowId),
    /// The receiving application has freed buffer space.
    9 WindowUpdate(FlowId),
    /// A query begins.
    10 Query(QueryId),
    /// The receiving application closes.
    11 SinkStop(FlowId),
    /// The run queue of a sender's host is empty: timers, then processes.
    12 RunQueue(FlowId),
    /// An engine of a host has finished a packet.
    13 Process(EngineId),
    /// A trigger is activated.
    14 Activation(TriggerId),
    /// Flows of a host open together, on a trigger.
    15 Opening(OpeningId),
    /// A pacer of a host is due: it lets a receiver ask for data.
    16 Pacer(NodeId),
    /// The timer of a node's programs.
    17 Program(NodeId),
    /// An event of a radio cell is due.
    18 Cell(CellId),
    /// A SYN-ACK has not been answered.
    19 SynAck(FlowId),
    /// A link fails or recovers, or its port has been silent since ([`pfc`](crate::node::pfc)). No effect by itself.
    20 Transition(LinkId),
    /// A job begins at a rank, or messages of a rank leave a plane that fails.
    21 Rank(RankId),
    /// A calculation of a rank ends.
    22 Calculation(StreamId),
    /// A message to a rank is coming: that of a task of another.
    23 Message(TaskId),
    /// A message inside a server has left its sender.
    24 ScaleUpSent(TaskId),
    /// A message inside a server has arrived.
    25 ScaleUpArrived(TaskId),
    /// A message to a rank is coming again, over another plane.
    26 Again(TaskId),
    /// All messages of a job's connection are acknowledged.
    27 Closing(FlowId),
    /// The receiver of a job's connection is gone.
    28 Closed(FlowId),
}

impl Timer {
    /// True if the simulation must go on while this timer is pending.
    pub fn keeps_going(self) -> bool {
        !matches!(self, Timer::Transition(_) | Timer::Closing(_) | Timer::Closed(_))
    }
}

/// An event in a domain's own queue.
#[derive(Clone, Debug)]
pub enum Event {
    /// A timer.
    Timer(Timer),
    /// A packet that arrives inside the open window.
    Arrival(Packet, Option<Ext>),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::packet::Kind;

    #[test]
    fn packets_of_links_without_ranks_are_not_told_apart() {
        let order = Order { seed: 1, ties: Ties::Scheduled };
        let tie = |size, rank| {
            let mut packet = Packet::forward(Kind::Data, FlowId(0), NodeId(0), 0, 0, Time::ZERO);
            packet.size = size;
            packet.set_tie_rank(rank);
            order.tie_of(&packet)
        };
        // several packets of a bucket may leave at one instant: a longer one must not overtake
        assert_eq!(tie(1500, NO_TIE_RANK), tie(52, NO_TIE_RANK));
        assert!(tie(1500, 0) < tie(52, 0));
    }
}
