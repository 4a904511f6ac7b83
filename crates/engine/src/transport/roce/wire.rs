//! Messages of RoCE, and the packets that carry them.

use crate::event::packet::{Kind, Packet};
use crate::transport::packet::message::{Encoded, sent_at, stamp};
use incast_cc::Time;

/// Message of a receiver: all before the first missing packet has arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ToSender {
    /// Answer to a packet that asks for it. Its send time, if it was sent once.
    Ack(Option<Time>),
    /// A packet has arrived before the first missing one: PSN sequence error.
    Nack,
}

impl ToSender {
    /// Message as a packet.
    pub fn encode(self) -> Encoded {
        match self {
            ToSender::Ack(sent_at) => Encoded { stamp: stamp(sent_at), ..Encoded::of(Kind::Ack) },
            ToSender::Nack => Encoded::of(Kind::Nack),
        }
    }

    /// Message of a packet.
    pub fn decode(p: &Packet) -> Option<ToSender> {
        let m = Encoded::read(p);
        match m.kind {
            Kind::Ack => Some(ToSender::Ack(sent_at(m.stamp))),
            Kind::Nack => Some(ToSender::Nack),
            _ => None,
        }
    }
}
