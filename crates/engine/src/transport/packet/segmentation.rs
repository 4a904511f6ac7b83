//! Division of a message into unscheduled and granted packets, its encoding in packets, and the order of messages.

use crate::event::packet::Packet;
use crate::ids::FlowId;
use incast_cc::Time;

/// Message, as described in each of its packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MessageRange {
    /// Number of the first packet.
    pub first: u32,
    /// Size in bytes.
    pub size: u32,
}

impl MessageRange {
    /// Writes the message to a packet of the sender.
    pub fn write(self, packet: &mut Packet) {
        packet.ack = (self.first as u64) << 32 | self.size as u64;
    }

    /// Message of a packet.
    pub fn read(p: &Packet) -> MessageRange {
        MessageRange { first: (p.ack >> 32) as u32, size: p.ack as u32 }
    }

    /// Number of packets within the first `bytes` bytes. The `unscheduled` bytes are in packets of their own.
    fn packets(self, bytes: u64, unscheduled: u64, mss: u32) -> u32 {
        let size = self.size as u64;
        let unscheduled_part = unscheduled.min(size);
        let granted = bytes.min(size).saturating_sub(unscheduled_part);
        let packets = if bytes >= size { granted.div_ceil(mss as u64) } else { granted / mss as u64 };
        (unscheduled_part.div_ceil(mss as u64) + packets) as u32
    }

    /// Packet after those that may go once `bytes` are granted.
    pub fn granted_end(self, bytes: u64, unscheduled: u64, mss: u32) -> u32 {
        self.first + self.packets(bytes, unscheduled, mss)
    }

    /// Packet after the last.
    pub fn end(self, unscheduled: u64, mss: u32) -> u32 {
        self.granted_end(self.size as u64, unscheduled, mss)
    }
}

/// Position of a message among those of its receiver's host: the one that lacks least comes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Rank {
    /// Bytes, or packets, that have not arrived.
    pub left: u64,
    /// Time at which the receiver learnt of it.
    pub since: Time,
    /// Flow of the message.
    pub flow: FlowId,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::packet::Kind;
    use crate::ids::NodeId;

    #[test]
    fn a_message_is_cut_where_grants_begin() {
        let range = MessageRange { first: 7, size: 30_000 };
        let mut packet = Packet::forward(Kind::Rts, FlowId(0), NodeId(0), 0, 0, Time::ZERO);
        range.write(&mut packet);
        assert_eq!(MessageRange::read(&packet), range);
        // six packets of 1472 bytes and one of 496 unscheduled; 14 of 1472 and one of 64 granted
        assert_eq!((range.granted_end(0, 9328, 1472) - 7, range.end(9328, 1472) - 7), (7, 22));
        assert_eq!(
            [10_799, 10_800, 29_999, 30_000].map(|bytes| range.granted_end(bytes, 9328, 1472) - 7),
            [7, 8, 21, 22]
        );
        // more unscheduled bytes than the message has
        let short = MessageRange { first: 0, size: 100 };
        assert_eq!((short.granted_end(0, 9328, 1472), short.end(9328, 1472)), (1, 1));
    }
}
