//! Messages of UET, and the packets that carry them.

use crate::event::packet::{Kind, Packet, Words, flag};
use crate::transport::packet::message::Encoded;

/// Message of a receiver. `next` is the first missing packet, `received` the first-time bytes received so far, modulo
/// 2^32.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ToSender {
    /// Packets have arrived.
    Ack(Ack),
    /// Packet `number` has arrived trimmed, at the last hop or before it.
    Nack { next: u32, number: u32, received: u32, marked: bool, at_last_hop: bool },
    /// Quanta of credit given so far.
    Pull { next: u32, credit: u32 },
}

/// Acknowledgement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ack {
    /// First missing packet.
    pub next: u32,
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

fn when(set: bool, bits: u16) -> u16 {
    if set { bits } else { 0 }
}

impl ToSender {
    /// Message as a packet.
    pub fn encode(self) -> Encoded {
        match self {
            ToSender::Ack(ack) => Encoded {
                kind: Kind::Ack,
                flags: when(ack.of_probe, flag::CWR)
                    | when(ack.marked, flag::ECE)
                    | when(ack.of_retransmission, flag::RETX),
                words: Words {
                    ack: [ack.next, ack.from],
                    number: ack.map,
                    wnd: ack.received,
                    stamp: ack.answers as u64 | (ack.early as u64) << 32,
                },
            },
            ToSender::Nack { next, number, received, marked, at_last_hop } => Encoded {
                kind: Kind::Nack,
                flags: when(marked, flag::ECE) | when(at_last_hop, flag::PSH),
                words: Words { ack: [next, number], wnd: received, ..Words::default() },
            },
            ToSender::Pull { next, credit } => {
                Encoded { kind: Kind::Pull, flags: 0, words: Words { ack: [next, 0], wnd: credit, ..Words::default() } }
            }
        }
    }

    /// Message of a packet.
    pub fn decode(p: &Packet) -> Option<ToSender> {
        let Words { ack: [next, number], number: map, wnd, stamp } = p.words();
        let marked = p.has(flag::ECE);
        match p.kind() {
            Kind::Ack => Some(ToSender::Ack(Ack {
                next,
                map,
                from: number,
                received: wnd,
                answers: stamp as u32,
                early: (stamp >> 32) as u32,
                marked,
                of_retransmission: p.has(flag::RETX),
                of_probe: p.has(flag::CWR),
            })),
            Kind::Nack => Some(ToSender::Nack { next, number, received: wnd, marked, at_last_hop: p.has(flag::PSH) }),
            Kind::Pull => Some(ToSender::Pull { next, credit: wnd }),
            _ => None,
        }
    }
}
