//! Messages of receivers that give tokens, and the packets that carry them.

use crate::event::packet::Packet;
use crate::transport::packet::message::to_sender;
use incast_cc::Time;

to_sender! {
    /// Packet `number` may go, by token `token` of its message. Missing packets of the message, and priority of the
    /// token at the sender, the lowest first. Time of expiry, if the receiver sets it.
    Token = Pull { number: u32 = number, token: u32 = count, missing_priority: (u32, u32) = map, until: Time = stamp },
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
