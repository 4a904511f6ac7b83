//! Messages of Homa, and the packets that carry them.

use crate::event::packet::{Kind, Packet};
use crate::transport::packet::message::{Encoded, sent_at, stamp};
use incast_cc::Time;

/// Message of a receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ToSender {
    /// All before the first missing packet has arrived. Send time of the last packet, if it was sent once.
    Ack(Option<Time>),
    /// Packets before `end` may go, at priority `level`.
    Grant { end: u32, level: u8 },
    /// Packets from `from` to before `to` are missing.
    Resend { from: u32, to: u32 },
}

impl ToSender {
    /// Message as a packet.
    pub fn encode(self) -> Encoded {
        match self {
            ToSender::Ack(sent_at) => Encoded { stamp: stamp(sent_at), ..Encoded::of(Kind::Ack) },
            ToSender::Grant { end, level } => Encoded { number: end, map: level as u64, ..Encoded::of(Kind::Pull) },
            ToSender::Resend { from, to } => Encoded { number: from, count: to, ..Encoded::of(Kind::Nack) },
        }
    }

    /// Message of a packet.
    pub fn decode(p: &Packet) -> Option<ToSender> {
        let m = Encoded::read(p);
        match m.kind {
            Kind::Ack => Some(ToSender::Ack(sent_at(m.stamp))),
            Kind::Pull => Some(ToSender::Grant { end: m.number, level: m.map as u8 }),
            Kind::Nack => Some(ToSender::Resend { from: m.number, to: m.count }),
            _ => None,
        }
    }
}
