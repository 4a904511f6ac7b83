//! Messages of Homa, and the packets that carry them.

use crate::event::packet::{Kind, Packet, Words};
use crate::transport::packet::message::{Encoded, sent_at, stamp};
use incast_cc::Time;

/// Message of a receiver. `next` is the first missing packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ToSender {
    /// All before `next` has arrived. `sent_at`: send time of the last packet, if it was sent once.
    Ack { next: u32, sent_at: Option<Time> },
    /// Packets before `end` may go, at priority `level`.
    Grant { next: u32, end: u32, level: u8 },
    /// Packets from `from` to before `to` are missing.
    Resend { next: u32, from: u32, to: u32 },
}

impl ToSender {
    /// Message as a packet.
    pub fn encode(self) -> Encoded {
        let (kind, words) = match self {
            ToSender::Ack { next, sent_at } => {
                (Kind::Ack, Words { ack: [next, 0], stamp: stamp(sent_at), ..Words::default() })
            }
            ToSender::Grant { next, end, level } => {
                (Kind::Pull, Words { ack: [next, end], number: level as u64, ..Words::default() })
            }
            ToSender::Resend { next, from, to } => {
                (Kind::Nack, Words { ack: [next, from], wnd: to, ..Words::default() })
            }
        };
        Encoded { kind, flags: 0, words }
    }

    /// Message of a packet.
    pub fn decode(p: &Packet) -> Option<ToSender> {
        let Words { ack: [next, number], number: level, wnd: to, stamp } = p.words();
        match p.kind() {
            Kind::Ack => Some(ToSender::Ack { next, sent_at: sent_at(stamp) }),
            Kind::Pull => Some(ToSender::Grant { next, end: number, level: level as u8 }),
            Kind::Nack => Some(ToSender::Resend { next, from: number, to }),
            _ => None,
        }
    }

    /// First missing packet.
    pub fn next(&self) -> u32 {
        match self {
            ToSender::Ack { next, .. } | ToSender::Grant { next, .. } | ToSender::Resend { next, .. } => *next,
        }
    }
}
