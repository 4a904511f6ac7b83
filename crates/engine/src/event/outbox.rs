//! Destination of a node's packets and timers, and the instant of an event.

use crate::event::order::{Key, Timer};
use crate::event::packet::{Ext, Packet};
use crate::ids::{LinkId, NodeId};
use incast_cc::Time;

/// Instant of an event.
#[derive(Clone, Copy, Debug)]
pub struct Instant {
    /// Simulated time.
    pub time: Time,
    /// Generation at that time.
    pub generation: u16,
}

/// The changes of a port to a packet that passes it.
#[derive(Clone, Copy, Debug)]
pub struct Stamp {
    /// Arrival at the far end.
    pub time: Time,
    /// The link it leaves on.
    pub link: LinkId,
    /// Flag bits to set: CE, or none.
    pub ce: u16,
}

impl Stamp {
    /// Writes the stamp to `copy`, a copy of `packet`. Fields just written to the copy are not read back: that would
    /// wait for its cache line.
    #[inline]
    pub fn on(self, copy: &mut Packet, packet: &Packet) {
        copy.time = self.time;
        copy.link = self.link;
        copy.flags = packet.flags | self.ce;
        copy.hop = packet.hop.wrapping_add(1);
    }
}

/// Destination of packets and timers.
pub trait Outbox {
    /// `packet` arrives at `stamp.time` at the far end of `stamp.link`. The stamp is written to the copy that travels.
    /// Returns the packet's place among the arrivals of its window, unless that window is far ahead.
    fn arrive(&mut self, packet: &Packet, stamp: Stamp, ext: Option<&mut Ext>, generation: u16) -> Option<usize>;
    /// `timer` fires at `time` in this domain.
    fn timer(&mut self, time: Time, generation: u16, timer: Timer);
    /// `message` reaches node `to` at `time`, as an event there. `time` is at least the longest latency of a link from
    /// now, so it lies in a later window.
    fn send_message(&mut self, to: NodeId, time: Time, message: Timer);
    /// `message` reaches the host of a connection's receiver as the event of `key`: in this domain if `to` is `None`,
    /// else at node `to`, in a later window.
    fn announce(&mut self, _to: Option<NodeId>, _key: Key, _message: Timer) {}
    /// The port of `link` is to be [settled](crate::port::late_marking) when the next window opens.
    fn settle(&mut self, _link: LinkId) {}
    /// The port of `link` has [lazy service](crate::port::lazy_service) and work at `time`: it is visited at the end
    /// of that window.
    fn serve(&mut self, _link: LinkId, _time: Time) {}
    /// No other event of the domain happens before this time: the current event may go on by itself until then.
    fn undisturbed(&self) -> Time {
        Time::ZERO
    }
    /// The current event goes on at `time`, the instant of everything it sends from here on.
    fn go_on(&mut self, _time: Time) {}
    /// `timer` of a radio cell, the one set most often, fires at `time` in this domain.
    fn cell_timer(&mut self, time: Time, generation: u16, timer: Timer) {
        self.timer(time, generation, timer);
    }
}
