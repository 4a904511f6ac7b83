//! Messages of pHost, and the packets that carry them.

use crate::event::packet::{Kind, Packet, Words, flag};
use crate::transport::packet::message::{Encoded, sent_at, stamp};
use incast_cc::Time;

/// Message of a receiver. `next` is the first missing packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ToSender {
    /// Packet `number` may go, by token `token` of its message, of which `missing` packets are missing.
    Token { next: u32, number: u32, token: u32, missing: u32 },
    /// The messages up to the one that ends before packet `end` are known. `sent_at`: send time of the last packet, if
    /// it was sent once.
    Ack { next: u32, end: u32, sent_at: Option<Time> },
}

impl ToSender {
    /// Message as a packet.
    pub fn encode(self) -> Encoded {
        match self {
            ToSender::Token { next, number, token, missing } => Encoded {
                kind: Kind::Pull,
                flags: 0,
                words: Words { ack: [next, number], number: missing as u64, wnd: token, ..Words::default() },
            },
            ToSender::Ack { next, end, sent_at } => Encoded {
                kind: Kind::Ack,
                flags: flag::ACK,
                words: Words { ack: [next, end], stamp: stamp(sent_at), ..Words::default() },
            },
        }
    }

    /// Message of a packet.
    pub fn decode(p: &Packet) -> Option<ToSender> {
        let Words { ack: [next, number], number: missing, wnd: token, stamp } = p.words();
        match p.kind() {
            Kind::Pull => Some(ToSender::Token { next, number, token, missing: missing as u32 }),
            Kind::Ack => Some(ToSender::Ack { next, end: number, sent_at: sent_at(stamp) }),
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
