//! Where the events of a node put their effects, and when an event happens.

use crate::event::order::Timer;
use crate::event::packet::{Ext, Packet};
use crate::ids::{LinkId, NodeId};
use incast_cc::Time;

/// When an event happens.
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
    /// Puts it on a `copy` of `packet`. What has just been written to the copy is not read: that would wait until its
    /// line has come near.
    #[inline]
    pub fn on(self, copy: &mut Packet, packet: &Packet) {
        copy.time = self.time;
        copy.link = self.link;
        copy.flags = packet.flags | self.ce;
        copy.hop = packet.hop.wrapping_add(1);
    }
}

/// Where packets and timers go.
pub trait Outbox {
    /// `packet` will arrive at `stamp.time` at the far end of `stamp.link`. The stamp is put on the copy that travels.
    /// Its place among those that arrive in its window, if it waits near.
    fn arrive(&mut self, packet: &Packet, stamp: Stamp, ext: Option<&mut Ext>, generation: u16) -> Option<usize>;
    /// `timer` fires at `time` in this domain.
    fn timer(&mut self, time: Time, generation: u16, timer: Timer);
    /// `message` reaches node `to` at `time`, as an event there: the longest latency of a link from now, so in a later
    /// window, or later.
    fn post(&mut self, to: NodeId, time: Time, message: Timer);
    /// The port of `link` is to be [settled](crate::port::departure_marks) when the next window opens.
    fn settle(&mut self, _link: LinkId) {}
    /// The port of `link` [serves itself](crate::port::self_service), and has something to do at `time`: it is visited
    /// at the end of that window.
    fn serve(&mut self, _link: LinkId, _time: Time) {}
    /// Nothing but the event at work happens in its domain before this: so long it may go on by itself.
    fn undisturbed(&self) -> Time {
        Time::ZERO
    }
    /// The event at work goes on at `time`, when what follows is sent.
    fn go_on(&mut self, _time: Time) {}
    /// `timer` of a radio cell fires at `time` in this domain: the one that is set most often.
    fn cell_timer(&mut self, time: Time, generation: u16, timer: Timer) {
        self.timer(time, generation, timer);
    }
}
