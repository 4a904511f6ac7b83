//! ExpressPass (Cho et al., "Credit-scheduled delay-bounded congestion control for datacenters", SIGCOMM 2017).
//!
//! A data packet is sent only for a credit of its receiver. Every port lets credits through at the rate at which their
//! data fills the opposite link, and drops the rest ([`CreditShaping`](crate::spec::CreditShaping)). A receiver adapts
//! its rate of credits to the share that was dropped, known from the credit numbers on arriving data.
//!
//! Rules are those of the authors' simulator (kaist-ina/ns2-xpass f4e38bc, `xpass.cc`); the paper's form of the
//! feedback is known at second hand. Additions, because packets can be lost here: credits acknowledge received data,
//! requests carry a session number, and an unanswered request or stop is repeated.

mod feedback;
mod receiver;
mod sender;

pub use receiver::Receiver;
pub use sender::Sender;

use crate::event::packet::Packet;
use incast_cc::Time;

/// Traffic class of credits.
const CREDITS: u8 = 0;

/// Request for credit for a number of packets; 0 to stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Request {
    /// Number of the request among those of the flow that are not repetitions.
    session: u32,
    packets: u32,
}

impl Request {
    fn encode(self, packet: &mut Packet) {
        packet.ack = (self.session as u64) << 32 | self.packets as u64;
    }

    fn read(packet: &Packet) -> Request {
        Request { session: (packet.ack >> 32) as u32, packets: packet.ack as u32 }
    }
}

/// Credit that a data packet uses, as carried in the packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Credit {
    number: u32,
    sent_at: Time,
}

impl Credit {
    fn encode(self, packet: &mut Packet) {
        (packet.wnd, packet.ack) = (self.number, self.sent_at.0);
    }

    fn read(packet: &Packet) -> Credit {
        Credit { number: packet.wnd, sent_at: Time(packet.ack) }
    }
}
