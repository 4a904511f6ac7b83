//! ExpressPass (Cho et al., "Credit-scheduled delay-bounded congestion control for datacenters", SIGCOMM 2017).
//!
//! A packet of data goes for a credit of its receiver, and for nothing else. Every port on the way lets credits through
//! at the rate at which the data that they let go fills the link back, and drops the rest
//! ([`CreditShaping`](crate::spec::CreditShaping)). A receiver sends credits at a rate that follows from how many of
//! them were dropped, which the numbers of credits on arriving data tell.
//!
//! Rules are those of the authors' simulator (kaist-ina/ns2-xpass f4e38bc, `xpass.cc`); the printed form of the
//! feedback is known at second hand. Beyond that credits acknowledge what has come, requests have the number of
//! their session, and a request or a stop that nobody answers goes again: the simulator loses neither.

mod feedback;
mod receiver;
mod sender;

pub use receiver::Receiver;
pub use sender::Sender;

use crate::event::packet::Packet;
use crate::spec::{ExpressPass, Protocol, TransportSpec};
use incast_cc::Time;

/// The class of credits.
const CREDITS: u8 = 0;

/// The parameters of a transport that is ExpressPass.
fn parameters(t: &TransportSpec) -> &ExpressPass {
    match &t.protocol {
        Protocol::ExpressPass(own) => own,
        _ => unreachable!("endpoints of ExpressPass are made for transports that are ExpressPass"),
    }
}

/// What a sender asks for: credit for so many packets, none where it needs no more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Request {
    /// Counts the requests of a flow that begin anew.
    session: u32,
    packets: u32,
}

impl Request {
    fn tell(self, packet: &mut Packet) {
        packet.ack = (self.session as u64) << 32 | self.packets as u64;
    }

    fn read(packet: &Packet) -> Request {
        Request { session: (packet.ack >> 32) as u32, packets: packet.ack as u32 }
    }
}

/// The credit for which a packet of data goes, as the packet says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Credit {
    number: u32,
    sent_at: Time,
}

impl Credit {
    fn tell(self, packet: &mut Packet) {
        (packet.wnd, packet.ack) = (self.number, self.sent_at.0);
    }

    fn read(packet: &Packet) -> Credit {
        Credit { number: packet.wnd, sent_at: Time(packet.ack) }
    }
}
