//! Messages of EQDS, and the packets that carry them.

use crate::event::packet::{Kind, Packet, flag};
use crate::transport::packet::message::{Encoded, when};

/// Message of a receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ToSender {
    /// Packets of a bitmap that begins with packet `from` have arrived. `marked`: the answered packet had a mark.
    Ack { from: u32, map: u64, marked: bool },
    /// A packet has arrived trimmed.
    Nack(u32),
    /// Quanta of credit given so far.
    Pull(u32),
}

impl ToSender {
    /// Message as a packet.
    pub fn encode(self) -> Encoded {
        match self {
            ToSender::Ack { from, map, marked } => {
                Encoded { flags: when(marked, flag::ECE), number: from, map, ..Encoded::of(Kind::Ack) }
            }
            ToSender::Nack(number) => Encoded { number, ..Encoded::of(Kind::Nack) },
            ToSender::Pull(credit) => Encoded { count: credit, ..Encoded::of(Kind::Pull) },
        }
    }

    /// Message of a packet.
    pub fn decode(p: &Packet) -> Option<ToSender> {
        let m = Encoded::read(p);
        match m.kind {
            Kind::Ack => Some(ToSender::Ack { from: m.number, map: m.map, marked: m.has(flag::ECE) }),
            Kind::Nack => Some(ToSender::Nack(m.number)),
            Kind::Pull => Some(ToSender::Pull(m.count)),
            _ => None,
        }
    }
}
