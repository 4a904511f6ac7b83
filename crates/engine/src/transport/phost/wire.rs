//! Messages of pHost, and the packets that carry them.

use crate::event::packet::Packet;
use crate::transport::packet::message::to_sender;
use incast_cc::Time;

to_sender! {
    /// Packet `number` may go, by token `token` of its message, of which `missing` packets are missing.
    Token = Pull { number: u32 = number, token: u32 = count, missing: u32 = map },
    /// The messages up to the one that ends before packet `end` are known. Send time of the last packet, if it was sent
    /// once.
    Ack = Ack | ACK { end: u32 = number, sent_at: Option<Time> = stamp },
}

/// Number of the token that a data packet uses, among those of its message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UsedToken(pub u32);

impl UsedToken {
    /// Writes the number to the data packet.
    pub fn write(self, packet: &mut Packet) {
        packet.wnd = self.0;
    }

    /// Token of a data packet.
    pub fn read(p: &Packet) -> UsedToken {
        UsedToken(p.wnd)
    }
}
