//! Packet metadata that programs read and write: requests to switches, the traffic class, and leaving a prescribed
//! path. Also the packet that notifies a sender of a queue.

use crate::event::metadata::{BoltSignal, Metadata, RateGrant, Signal, WindowGrant};
use crate::event::packet::{Ext, Kind, Packet, Words, flag};
use crate::ids::NodeId;
use incast_cc::Rate;

/// IP bytes of a queue notification: a minimum Ethernet frame with its overhead.
pub const BACKLOG_PACKET: u16 = 46;

impl Packet {
    /// Takes the packet off its prescribed path, if it has one.
    pub fn leave_path(&mut self) {
        self.flags &= !flag::PATH;
    }

    /// Queue notification to the source `src` of data packet `of`, which met `queue` bytes at a port with link rate
    /// `rate`.
    pub fn backlog(of: &Packet, src: NodeId, queue: u32, rate: Rate) -> Packet {
        let ack = [of.seq() as u32, (of.seq() >> 32) as u32];
        let words = Words { ack, number: rate.0, wnd: queue, stamp: of.sent_at().0 };
        let mut packet = Packet::answer(Kind::Backlog, of.flow, src, words);
        packet.flags |= of.flags & (flag::DUPLEX | flag::SLOW_PATH);
        (packet.size, packet.id) = (BACKLOG_PACKET, of.id);
        packet.set_entropy(of.entropy());
        packet
    }

    /// Queue length in bytes and link rate of the reporting port.
    pub fn reported_queue(&self) -> (u32, Rate) {
        debug_assert!(self.is(Kind::Backlog));
        let words = self.words();
        (words.wnd, Rate(words.number))
    }

    /// Highest traffic class that a program can set.
    pub const MAX_CLASS: u8 = 6;

    /// Traffic class set by a program.
    #[inline]
    pub fn own_class(&self) -> Option<u8> {
        ((self.flags >> 13) as u8).checked_sub(1)
    }

    /// Sets the traffic class, at most [`Packet::MAX_CLASS`].
    pub fn set_class(&mut self, class: u8) {
        debug_assert!(class <= Packet::MAX_CLASS);
        self.flags = self.flags & !flag::CLASS | (class as u16 + 1) << 13;
    }
}

impl Ext {
    /// Request of the packet to switches, if any.
    #[inline]
    pub fn asks(&mut self) -> Option<&mut Signal> {
        match self.metadata.as_deref_mut() {
            Some(Metadata::Signals(signals)) => signals.asks.as_mut(),
            _ => None,
        }
    }

    /// Rate request of the packet, if any.
    pub fn rate(&mut self) -> Option<&mut RateGrant> {
        match self.asks() {
            Some(Signal::Rate(granted)) => Some(granted),
            _ => None,
        }
    }

    /// Window change request of the packet, if any.
    pub fn demand(&mut self) -> Option<&mut WindowGrant> {
        match self.asks() {
            Some(Signal::Window(demand)) => Some(demand),
            _ => None,
        }
    }

    /// Bolt signal of the packet, if any.
    pub fn bolt_signal(&mut self) -> Option<&mut BoltSignal> {
        match self.asks() {
            Some(Signal::Bolt(bolt)) => Some(bolt),
            _ => None,
        }
    }
}
