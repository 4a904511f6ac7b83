//! What programs read and write beside the headers of packets: what these ask of switches, a traffic class, and that
//! they leave a prescribed path. And a packet that they make: news of a queue, straight back to a sender.

use crate::event::aside::{Aside, Claim, Demand, Granted, Signal};
use crate::event::packet::{Answer, Ext, Kind, Packet, flag};
use crate::ids::NodeId;
use incast_cc::Rate;

/// IP bytes of a packet that tells of a queue: with what Ethernet adds, its smallest frame.
pub const BACKLOG_PACKET: u16 = 46;

impl Packet {
    /// Another way than its prescribed path, if it has one, is its way from here on.
    pub fn leave_path(&mut self) {
        self.flags &= !flag::PATH;
    }

    /// A packet to the source `src` of `of`, data which has met so many bytes at a port whose link has this rate.
    pub fn backlog(of: &Packet, src: NodeId, queue: u32, rate: Rate) -> Packet {
        let (next, number) = (of.seq() as u32, (of.seq() >> 32) as u32);
        let answer = Answer { next, number, map: rate.0, count: queue, echo: of.sent_at().0 };
        let mut packet = Packet::answer(Kind::Backlog, of.flow, src, &answer);
        packet.flags |= of.flags & (flag::DUPLEX | flag::SLOW_PATH);
        (packet.size, packet.id) = (BACKLOG_PACKET, of.id);
        packet.set_entropy(of.entropy());
        packet
    }

    /// Bytes that wait at the port that tells of them, and the rate of its link.
    pub fn queue_told(&self) -> (u32, Rate) {
        debug_assert!(self.is(Kind::Backlog));
        let answer = self.answered();
        (answer.count, Rate(answer.map))
    }

    /// Highest traffic class that a program can give it.
    pub const MOST_CLASS: u8 = 6;

    /// Traffic class that a program has given it.
    #[inline]
    pub fn own_class(&self) -> Option<u8> {
        ((self.flags >> 13) as u8).checked_sub(1)
    }

    /// A program gives it a traffic class, at most [`Packet::MOST_CLASS`].
    pub fn set_class(&mut self, class: u8) {
        debug_assert!(class <= Packet::MOST_CLASS);
        self.flags = self.flags & !flag::CLASS | (class as u16 + 1) << 13;
    }
}

impl Ext {
    /// What its packet asks of switches, if anything.
    #[inline]
    pub fn asks(&mut self) -> Option<&mut Signal> {
        match self.aside.as_deref_mut() {
            Some(Aside::Signals(signals)) => signals.asks.as_mut(),
            _ => None,
        }
    }

    /// The rate that its packet asks for, if it does.
    pub fn rate(&mut self) -> Option<&mut Granted> {
        match self.asks() {
            Some(Signal::Rate(granted)) => Some(granted),
            _ => None,
        }
    }

    /// The change of window that its packet asks for, if it does.
    pub fn demand(&mut self) -> Option<&mut Demand> {
        match self.asks() {
            Some(Signal::Window(demand)) => Some(demand),
            _ => None,
        }
    }

    /// The room that its packet claims, if it does.
    pub fn claim(&mut self) -> Option<&mut Claim> {
        match self.asks() {
            Some(Signal::Room(claim)) => Some(claim),
            _ => None,
        }
    }
}
