//! Messages of receivers, encoded for the packets that carry them.

use crate::event::packet::{Kind, Words};
use incast_cc::Time;

/// Content of a packet for a sender. The `wire.rs` of a transport gives its fields their meaning.
#[derive(Clone, Copy, Debug)]
pub struct Encoded {
    /// Kind of the packet.
    pub kind: Kind,
    /// Flags of the packet.
    pub flags: u16,
    /// Header words.
    pub words: Words,
}

/// Send time of a packet as a header word; 0 if it was retransmitted: it then gives no round-trip time.
pub fn stamp(sent_at: Option<Time>) -> u64 {
    sent_at.map_or(0, |at| at.0)
}

/// Send time of a header word.
pub fn sent_at(stamp: u64) -> Option<Time> {
    (stamp > 0).then_some(Time(stamp))
}
