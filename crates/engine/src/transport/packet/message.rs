//! Messages of receivers, encoded for the packets that carry them. Each message also says which packet is the first
//! missing one.

use crate::event::packet::{Kind, Packet, Words};
use incast_cc::Time;

/// Content of a packet for a sender. The `wire.rs` of a transport gives its fields their meaning.
#[derive(Clone, Copy, Debug)]
pub struct Encoded {
    /// Kind of the packet.
    pub kind: Kind,
    /// Flags of the packet.
    pub flags: u16,
    /// Upper half of the acknowledgement number.
    pub number: u32,
    /// Words of sequence number, window and time stamp.
    pub map: u64,
    /// See `map`.
    pub count: u32,
    /// See `map`.
    pub stamp: u64,
}

impl Encoded {
    /// Content of a packet of this kind that says nothing else.
    pub fn of(kind: Kind) -> Encoded {
        Encoded { kind, flags: 0, number: 0, map: 0, count: 0, stamp: 0 }
    }

    /// Content of a packet.
    pub fn read(p: &Packet) -> Encoded {
        let Words { ack: [_, number], number: map, wnd: count, stamp } = p.words();
        Encoded { kind: p.kind(), flags: p.flags, number, map, count, stamp }
    }

    /// Header words, with the first missing packet.
    pub fn words(self, next: u32) -> Words {
        Words { ack: [next, self.number], number: self.map, wnd: self.count, stamp: self.stamp }
    }

    /// Returns whether a flag is set.
    pub fn has(&self, flag: u16) -> bool {
        self.flags & flag > 0
    }
}

/// First missing packet, which every message of a receiver says.
pub fn first_missing(p: &Packet) -> u32 {
    p.words().ack[0]
}

/// Flag bits, if they are to be set.
pub fn when(set: bool, bits: u16) -> u16 {
    if set { bits } else { 0 }
}

/// Send time of a packet as a header word; 0 if it was retransmitted: it then gives no round-trip time.
pub fn stamp(sent_at: Option<Time>) -> u64 {
    sent_at.map_or(0, |at| at.0)
}

/// Send time of a header word.
pub fn sent_at(stamp: u64) -> Option<Time> {
    (stamp > 0).then_some(Time(stamp))
}
