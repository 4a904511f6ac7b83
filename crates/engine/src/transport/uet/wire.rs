//! Messages of UET, and the packets that carry them.

use crate::event::packet::{Kind, Packet, flag};
use crate::transport::packet::message::{Encoded, when};

/// Message of a receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ToSender {
    /// Packets have arrived.
    Ack(Ack),
    /// Packet `number` has arrived trimmed, at the last hop or before it. `received`: as in an [`Ack`].
    Nack { number: u32, received: u32, marked: bool, at_last_hop: bool },
    /// Quanta of credit given so far.
    Pull(u32),
}

/// Acknowledgement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ack {
    /// Bitmap of received packets, and the packet of its lowest bit.
    pub map: u64,
    /// See `map`.
    pub from: u32,
    /// First-time bytes received, modulo 2^32.
    pub received: u32,
    /// Number of the answered packet, or probe.
    pub answers: u32,
    /// Packets received out of order.
    pub early: u32,
    /// Set if the answered packet had a mark.
    pub marked: bool,
    /// Set if the answered packet was a retransmission.
    pub of_retransmission: bool,
    /// Set if the answered packet is a probe.
    pub of_probe: bool,
}

impl ToSender {
    /// Message as a packet.
    pub fn encode(self) -> Encoded {
        match self {
            ToSender::Ack(ack) => Encoded {
                flags: when(ack.of_probe, flag::CWR)
                    | when(ack.marked, flag::ECE)
                    | when(ack.of_retransmission, flag::RETX),
                number: ack.from,
                map: ack.map,
                count: ack.received,
                stamp: ack.answers as u64 | (ack.early as u64) << 32,
                ..Encoded::of(Kind::Ack)
            },
            ToSender::Nack { number, received, marked, at_last_hop } => {
                let flags = when(marked, flag::ECE) | when(at_last_hop, flag::PSH);
                Encoded { flags, number, count: received, ..Encoded::of(Kind::Nack) }
            }
            ToSender::Pull(credit) => Encoded { count: credit, ..Encoded::of(Kind::Pull) },
        }
    }

    /// Message of a packet.
    pub fn decode(p: &Packet) -> Option<ToSender> {
        let m = Encoded::read(p);
        let (number, received, marked) = (m.number, m.count, m.has(flag::ECE));
        match m.kind {
            Kind::Ack => Some(ToSender::Ack(Ack {
                map: m.map,
                from: number,
                received,
                answers: m.stamp as u32,
                early: (m.stamp >> 32) as u32,
                marked,
                of_retransmission: m.has(flag::RETX),
                of_probe: m.has(flag::CWR),
            })),
            Kind::Nack => Some(ToSender::Nack { number, received, marked, at_last_hop: m.has(flag::PSH) }),
            Kind::Pull => Some(ToSender::Pull(m.count)),
            _ => None,
        }
    }
}
