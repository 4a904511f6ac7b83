//! Messages of ExpressPass, and the packets that carry them.

use crate::event::packet::{Kind, Packet};
use crate::transport::packet::message::{Encoded, sent_at, stamp};
use incast_cc::Time;

/// Message of a receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ToSender {
    /// One packet may go, for the request of `session`.
    Credit { session: u32, credit: Credit },
    /// All before the first missing packet has arrived. Send time of the last packet, if it was sent once.
    Ack(Option<Time>),
    /// Packets are missing.
    Nack,
}

impl ToSender {
    /// Message as a packet.
    pub fn encode(self) -> Encoded {
        match self {
            ToSender::Credit { session, credit: Credit { number, sent_at } } => {
                Encoded { number, count: session, stamp: sent_at.0, ..Encoded::of(Kind::Pull) }
            }
            ToSender::Ack(sent_at) => Encoded { stamp: stamp(sent_at), ..Encoded::of(Kind::Ack) },
            ToSender::Nack => Encoded::of(Kind::Nack),
        }
    }

    /// Message of a packet.
    pub fn decode(p: &Packet) -> Option<ToSender> {
        let m = Encoded::read(p);
        match m.kind {
            Kind::Pull => {
                let credit = Credit { number: m.number, sent_at: Time(m.stamp) };
                Some(ToSender::Credit { session: m.count, credit })
            }
            Kind::Ack => Some(ToSender::Ack(sent_at(m.stamp))),
            Kind::Nack => Some(ToSender::Nack),
            _ => None,
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
