//! Messages of ExpressPass, and the packets that carry them.

use crate::event::packet::Packet;
use crate::transport::packet::message::to_sender;
use incast_cc::Time;

to_sender! {
    /// One packet may go, for the request of `session`: the credit's number, and its send time.
    Credit = Pull { session: u32 = count, number: u32 = number, sent_at: Time = stamp },
    /// All before the first missing packet has arrived. Send time of the last packet, if it was sent once.
    Ack = Ack { sent_at: Option<Time> = stamp },
    /// Packets are missing.
    Nack = Nack {},
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
