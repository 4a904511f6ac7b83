//! Requests of packets to switches, and the switches' answers.

use incast_cc::{Rate, Time};

/// Request of a packet to the switches on its path, with their answers so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Signal {
    /// A rate.
    Rate(RateGrant),
    /// A change of the window.
    Window(WindowGrant),
    /// Permission for another packet.
    Bolt(BoltSignal),
}

/// A rate that switches grant (RCP).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RateGrant {
    /// Rate granted by the switches so far, in bits per second on their links; infinite before the first.
    pub rate: f64,
    /// Smoothed RTT of the sender; zero where unknown.
    pub rtt: Time,
    /// Requested rate, in bits per second on links; infinite for as much as possible.
    pub wants: f64,
}

/// A change of window granted by switches (XCP).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WindowGrant {
    /// Smoothed RTT of the sender; zero where unknown.
    pub rtt: Time,
    /// Congestion window of the sender, in bytes on links.
    pub cwnd: f64,
    /// Change of rate that the switches have left so far, in bytes per second on links.
    pub change: f64,
}

/// Permission to send another packet (Bolt). On the way back: that of all packets covered by one acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoltSignal {
    /// FIRST: no packet of the flow has been acknowledged.
    pub first: bool,
    /// LAST: the flow ends within this window, so its acknowledgement releases no other packet.
    pub last: bool,
    /// INC: window increase requested, unless a port has refused it. On the way back: number of packets granted.
    pub increase: u32,
    /// DEC: a port on the path is congested.
    pub congested: bool,
    /// A congested port has notified the sender by a packet of its own.
    pub notified: bool,
    /// Queue length in bytes at the congested port. Of several unreported ports: the one that takes longest to drain.
    pub queue: u32,
    /// Link rate of that port.
    pub rate: Rate,
}

impl BoltSignal {
    /// The signal of data that leaves its sender. No increase is requested before the first acknowledgement of the flow
    /// or in its last window.
    pub fn new(first: bool, last: bool) -> BoltSignal {
        let increase = u32::from(!first && !last);
        BoltSignal { first, last, increase, congested: false, notified: false, queue: 0, rate: Rate::INFINITE }
    }

    /// Records a congested port with this rate and `queue` bytes.
    pub fn note_congested(&mut self, queue: u32, rate: Rate) {
        let takes = |queue: u32, rate: Rate| queue as u128 * rate.0 as u128;
        if !self.congested || takes(queue, self.rate) > takes(self.queue, rate) {
            (self.queue, self.rate) = (queue, rate);
        }
        (self.congested, self.increase) = (true, 0);
    }
}

impl Signal {
    /// True if an answer must be delivered only once: applied twice it would count twice.
    pub fn counts_once(&self) -> bool {
        !matches!(self, Signal::Rate(_))
    }

    /// Merges the answers to two packets into one acknowledgement.
    pub fn join(&mut self, before: Signal) {
        match (self, before) {
            (Signal::Window(now), Signal::Window(before)) => now.change += before.change,
            (Signal::Bolt(now), Signal::Bolt(before)) => {
                let increase = now.increase + before.increase;
                if before.congested && !before.notified {
                    (now.congested, now.notified) = (now.congested && !now.notified, false);
                    now.note_congested(before.queue, before.rate);
                }
                now.increase = increase;
            }
            _ => {}
        }
    }
}

/// Request of a packet to switches, and the answers to the packet that it acknowledges.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Signals {
    /// The request; `None` without one.
    pub asks: Option<Signal>,
    /// The echoed answers; `None` without any.
    pub echoed: Option<Signal>,
}
