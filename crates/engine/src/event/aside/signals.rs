//! What packets ask of switches, and what these answer.

use incast_cc::{Rate, Time};

/// What a packet asks of the switches on its way, with what they have answered so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Signal {
    /// A rate.
    Rate(Granted),
    /// By how much the window is to change.
    Window(Demand),
    /// Room for another packet.
    Room(Claim),
}

/// A rate that switches grant (RCP).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Granted {
    /// What the switches of its way have granted so far, bits per second on their links; infinite before the first.
    pub rate: f64,
    /// The sender's smoothed round-trip time; zero where it is not known.
    pub rtt: Time,
    /// Rate that it asks for, bits per second on links; infinite where it takes what there is.
    pub wants: f64,
}

/// A change of window that switches allow (XCP).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Demand {
    /// The sender's smoothed round-trip time; zero where it is not known.
    pub rtt: Time,
    /// Its window, bytes on links.
    pub cwnd: f64,
    /// By how much its rate is to change, as far as the switches of its way have left it: bytes per second on links.
    pub change: f64,
}

/// Room for another packet (Bolt): of a packet, or on its way back of all that one acknowledgement answers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Claim {
    /// Nothing of its transfer has been acknowledged.
    pub first: bool,
    /// Its transfer ends within the window that begins with it: its acknowledgement lets no other go.
    pub last: bool,
    /// It claims room, as far as the ports of its way have left it that; on its way back: so many have got it.
    pub room: u32,
    /// A port of its way has a queue,
    pub congested: bool,
    /// ... and has told the sender so by a packet of its own.
    pub told: bool,
    /// Bytes that wait there; of several ports that have told nothing, of the one where that takes longest.
    pub queue: u32,
    /// Rate of its link.
    pub rate: Rate,
}

impl Claim {
    /// Of data that leaves its sender. It claims no room before anything of its transfer is acknowledged, and none
    /// where that ends within a window.
    pub fn new(first: bool, last: bool) -> Claim {
        let room = u32::from(!first && !last);
        Claim { first, last, room, congested: false, told: false, queue: 0, rate: Rate::INFINITE }
    }

    /// A port of this rate has so many bytes.
    pub fn meet(&mut self, queue: u32, rate: Rate) {
        let takes = |queue: u32, rate: Rate| queue as u128 * rate.0 as u128;
        if !self.congested || takes(queue, self.rate) > takes(self.queue, rate) {
            (self.queue, self.rate) = (queue, rate);
        }
        (self.congested, self.room) = (true, 0);
    }
}

impl Signal {
    /// It counts once: an answer that came back twice would not be the same as one that came back once.
    pub fn counts_once(&self) -> bool {
        !matches!(self, Signal::Rate(_))
    }

    /// The answers to two packets come back with one acknowledgement.
    pub fn join(&mut self, before: Signal) {
        match (self, before) {
            (Signal::Window(now), Signal::Window(before)) => now.change += before.change,
            (Signal::Room(now), Signal::Room(before)) => {
                let room = now.room + before.room;
                if before.congested && !before.told {
                    (now.congested, now.told) = (now.congested && !now.told, false);
                    now.meet(before.queue, before.rate);
                }
                now.room = room;
            }
            _ => {}
        }
    }
}

/// What a packet asks of switches, and what they have answered the packet that it acknowledges.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Signals {
    /// `None` where it asks for nothing.
    pub asks: Option<Signal>,
    /// `None` where nothing comes back.
    pub echoed: Option<Signal>,
}
