//! Counters of a station of a radio cell: in the engine during a run, and in a record over the measured interval.

/// Declares every counter once, and their difference.
macro_rules! counts {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Counters of a station's MAC.
        #[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
        pub struct RadioCounts {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl RadioCounts {
            /// Counts since `before`.
            pub fn since(&self, before: &RadioCounts) -> RadioCounts {
                RadioCounts { $($name: self.$name - before.$name,)* }
            }
        }
    };
}

counts! {
    /// Frames finished: acknowledged, or sent without asking for an acknowledgement.
    delivered,
    /// Frames dropped because the channel was busy too often.
    access_failures,
    /// Frames dropped because no acknowledgement arrived.
    unacknowledged,
    /// Transmissions of frames.
    tries,
    /// Transmissions of acknowledgements.
    acks,
    /// Accesses to the channel, with any outcome.
    accesses,
    /// Clear channel assessments.
    assessments,
    /// Clear channel assessments that found the channel busy.
    busy_assessments,
    /// Acknowledgements of others' frames that ended a wait.
    foreign_acks,
    /// Frames received, addressed to this station or to all.
    received,
    /// Unicast frames to this station that it did not hear at all: deaf, sending, receiving another frame, out of
    /// range.
    missed,
    /// Unicast frames to this station whose reception began but was destroyed by other signals.
    collided,
    /// Frames recognised as already received.
    repeated,
    /// Packets that arrived again.
    duplicates,
    /// Datagrams given up because fragments were missing at the reassembly timeout.
    incomplete,
    /// Datagrams sent by this station and lost in the cell.
    lost,
    /// Neighbour discovery messages sent.
    discovery,
    /// Time from the head of the queue to reception, summed over acknowledged frames.
    service_ps,
    /// Time spent transmitting.
    transmitting_ps,
}
