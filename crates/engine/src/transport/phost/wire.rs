//! Messages of pHost, and the packets that carry them.

use crate::event::packet::{Kind, Packet, flag};
use crate::transport::packet::message::{Encoded, sent_at, stamp};
use incast_cc::Time;

/// Message of a receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ToSender {
    /// Packet `number` may go, by token `token` of its message, of which `missing` packets are missing.
    Token { number: u32, token: u32, missing: u32 },
    /// The messages up to the one that ends before packet `end` are known. `sent_at`: send time of the last packet, if
    /// it was sent once.
    Ack { end: u32, sent_at: Option<Time> },
}

impl ToSender {
    /// Message as a packet.
    pub fn encode(self) -> Encoded {
        match self {
            ToSender::Token { number, token, missing } => {
                Encoded { number, map: missing as u64, count: token, ..Encoded::of(Kind::Pull) }
            }
            ToSender::Ack { end, sent_at } => {
                Encoded { flags: flag::ACK, number: end, stamp: stamp(sent_at), ..Encoded::of(Kind::Ack) }
            }
        }
    }

    /// Message of a packet.
    pub fn decode(p: &Packet) -> Option<ToSender> {
        let m = Encoded::read(p);
        match m.kind {
            Kind::Pull => Some(ToSender::Token { number: m.number, token: m.count, missing: m.map as u32 }),
            Kind::Ack => Some(ToSender::Ack { end: m.number, sent_at: sent_at(m.stamp) }),
            _ => None,
        }
    }
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
