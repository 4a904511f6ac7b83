//! Messages of ExpressPass, and the packets that carry them.

use crate::event::packet::{Kind, Packet, Words};
use crate::transport::packet::message::{Encoded, sent_at, stamp};
use incast_cc::Time;

/// Message of a receiver. `next` is the first missing packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ToSender {
    /// One packet may go, for the request of `session`.
    Credit { next: u32, session: u32, credit: Credit },
    /// All before `next` has arrived. `sent_at`: send time of the last packet, if it was sent once.
    Ack { next: u32, sent_at: Option<Time> },
    /// Packet `next` is missing.
    Nack { next: u32 },
}

impl ToSender {
    /// Message as a packet.
    pub fn encode(self) -> Encoded {
        let (kind, words) = match self {
            ToSender::Credit { next, session, credit } => (
                Kind::Pull,
                Words { ack: [next, credit.number], wnd: session, stamp: credit.sent_at.0, ..Words::default() },
            ),
            ToSender::Ack { next, sent_at } => {
                (Kind::Ack, Words { ack: [next, 0], stamp: stamp(sent_at), ..Words::default() })
            }
            ToSender::Nack { next } => (Kind::Nack, Words { ack: [next, 0], ..Words::default() }),
        };
        Encoded { kind, flags: 0, words }
    }

    /// Message of a packet.
    pub fn decode(p: &Packet) -> Option<ToSender> {
        let Words { ack: [next, number], wnd: session, stamp, .. } = p.words();
        match p.kind() {
            Kind::Pull => Some(ToSender::Credit { next, session, credit: Credit { number, sent_at: Time(stamp) } }),
            Kind::Ack => Some(ToSender::Ack { next, sent_at: sent_at(stamp) }),
            Kind::Nack => Some(ToSender::Nack { next }),
            _ => None,
        }
    }

    /// First missing packet.
    pub fn next(&self) -> u32 {
        match self {
            ToSender::Credit { next, .. } | ToSender::Ack { next, .. } | ToSender::Nack { next } => *next,
        }
    }
}

/// Credit, and the one that a data packet uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Credit {
    /// Number among the credits of the receiver.
    pub number: u32,
    /// Time at which it was sent.
    pub sent_at: Time,
}

impl Credit {
    /// Writes the credit to the data packet that uses it.
    pub fn write(self, packet: &mut Packet) {
        (packet.wnd, packet.ack) = (self.number, self.sent_at.0);
    }

    /// Credit of a data packet.
    pub fn read(p: &Packet) -> Credit {
        Credit { number: p.wnd, sent_at: Time(p.ack) }
    }
}

/// Request for credit for a number of packets; 0 to stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// Number of the request among those of the flow that are not repetitions.
    pub session: u32,
    /// Packets to be sent.
    pub packets: u32,
}

impl Request {
    /// Writes the request to its packet.
    pub fn write(self, packet: &mut Packet) {
        packet.ack = (self.session as u64) << 32 | self.packets as u64;
    }

    /// Request of a packet.
    pub fn read(p: &Packet) -> Request {
        Request { session: (p.ack >> 32) as u32, packets: p.ack as u32 }
    }
}
