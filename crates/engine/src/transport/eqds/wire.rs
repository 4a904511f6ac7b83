//! Messages of EQDS, and the packets that carry them.

use crate::event::packet::{Kind, Packet, Words, flag};
use crate::transport::packet::message::Encoded;

/// Message of a receiver. `next` is the first missing packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ToSender {
    /// Packets have arrived: those before `next`, and those of a bitmap that begins with packet `from`. `marked`: the
    /// answered packet had a mark.
    Ack { next: u32, from: u32, map: u64, marked: bool },
    /// Packet `number` has arrived trimmed.
    Nack { next: u32, number: u32 },
    /// Quanta of credit given so far.
    Pull { next: u32, credit: u32 },
}

impl ToSender {
    /// Message as a packet.
    pub fn encode(self) -> Encoded {
        let encoded = |kind, flags, ack, map, credit| Encoded {
            kind,
            flags,
            words: Words { ack, number: map, wnd: credit, ..Words::default() },
        };
        match self {
            ToSender::Ack { next, from, map, marked } => {
                encoded(Kind::Ack, if marked { flag::ECE } else { 0 }, [next, from], map, 0)
            }
            ToSender::Nack { next, number } => encoded(Kind::Nack, 0, [next, number], 0, 0),
            ToSender::Pull { next, credit } => encoded(Kind::Pull, 0, [next, 0], 0, credit),
        }
    }

    /// Message of a packet.
    pub fn decode(p: &Packet) -> Option<ToSender> {
        let Words { ack: [next, number], number: map, wnd: credit, .. } = p.words();
        match p.kind() {
            Kind::Ack => Some(ToSender::Ack { next, from: number, map, marked: p.has(flag::ECE) }),
            Kind::Nack => Some(ToSender::Nack { next, number }),
            Kind::Pull => Some(ToSender::Pull { next, credit }),
            _ => None,
        }
    }

    /// First missing packet.
    pub fn next(&self) -> u32 {
        match self {
            ToSender::Ack { next, .. } | ToSender::Nack { next, .. } | ToSender::Pull { next, .. } => *next,
        }
    }
}
