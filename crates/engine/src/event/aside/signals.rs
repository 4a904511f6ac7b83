//! What packets ask of switches, and what these answer.

use incast_cc::Time;

/// What a packet asks of the switches on its way, with what they have answered so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Signal {
    /// A rate.
    Rate(Granted),
    /// By how much the window is to change.
    Window(Demand),
}

/// A rate that switches grant (RCP).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Granted {
    /// What the switches of its way have granted so far, bits per second on their links; infinite before the first.
    pub rate: f64,
    /// The sender's smoothed round-trip time; zero where it is not known.
    pub rtt: Time,
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

impl Signal {
    /// It counts once: an answer that came back twice would not be the same as one that came back once.
    pub fn counts_once(&self) -> bool {
        !matches!(self, Signal::Rate(_))
    }

    /// The answers to two packets come back with one acknowledgement.
    pub fn join(&mut self, before: Signal) {
        if let (Signal::Window(now), Signal::Window(before)) = (self, before) {
            now.change += before.change;
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
