//! What a station of a radio cell counts: the engine while it runs, and a record over the measured interval.

/// The counts, each declared once, and their differences.
macro_rules! counts {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Counts of a station's MAC.
        #[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
        pub struct RadioCounts {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl RadioCounts {
            /// What has been counted since it had counted `before`.
            pub fn since(&self, before: &RadioCounts) -> RadioCounts {
                RadioCounts { $($name: self.$name - before.$name,)* }
            }
        }
    };
}

counts! {
    /// Frames finished: acknowledged, or sent where no acknowledgement is asked for.
    delivered,
    /// Frames dropped as the channel was busy too often.
    access_failures,
    /// Frames dropped as no acknowledgement came.
    unacknowledged,
    /// Transmissions of frames.
    tries,
    /// Transmissions of acknowledgements.
    acks,
    /// Accesses to the channel, with any outcome.
    accesses,
    /// Clear channel assessments.
    assessments,
    /// Those that found it busy.
    busy_assessments,
    /// Acknowledgements of others' frames that ended a wait.
    foreign_acks,
    /// Frames for it, or for all, that it received.
    received,
    /// Frames for it alone that it did not hear at all: deaf, sending, following another, out of range.
    missed,
    /// Frames for it alone that it followed, and that others destroyed.
    collided,
    /// Frames that it had already received, and knew it.
    repeated,
    /// Packets that arrived again.
    duplicates,
    /// Datagrams of which fragments were left when the time for the others was over.
    incomplete,
    /// Datagrams that it sent and that were lost in the cell.
    lost,
    /// Messages of neighbour discovery that it sent.
    discovery,
    /// Time that frames that were acknowledged spent at the head of the queue until they were received, summed.
    service_ps,
    /// Time in which it transmitted.
    transmitting_ps,
}
