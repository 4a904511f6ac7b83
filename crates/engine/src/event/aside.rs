//! Data that only the packets of some controllers carry, beside the packet: stamps of ports, and what packets ask of
//! switches.

use crate::ids::LinkId;
use incast_cc::Time;

/// Ports that stamp a packet at most: the NIC's and the switches' of a three-level fat tree. No flow is built that
/// would want more.
pub const STAMPS: usize = 6;

/// The stamp of a port on a packet ([`incast_cc::Hop`]).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PortStamp {
    /// When.
    pub time: Time,
    /// Bytes transmitted since the run began.
    pub sent: u64,
    /// Bytes to be transmitted before the packet.
    pub queue: u32,
    /// Link of the port.
    pub link: LinkId,
}

/// In-band telemetry of a packet, or of the one that it acknowledges.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Telemetry {
    /// So many ports have stamped the packet.
    pub count: u8,
    /// Their stamps.
    pub stamps: [PortStamp; STAMPS],
}

impl Telemetry {
    /// A port stamps the packet.
    pub fn push(&mut self, stamp: PortStamp) {
        if let Some(free) = self.stamps.get_mut(self.count as usize) {
            *free = stamp;
            self.count += 1;
        }
    }

    /// The stamps, in the packet's order.
    pub fn stamps(&self) -> &[PortStamp] {
        &self.stamps[..self.count as usize]
    }
}

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

/// Data that only the packets of some controllers carry.
#[derive(Clone, Debug, PartialEq)]
pub enum Aside {
    /// Stamps of ports.
    Stamps(Telemetry),
    /// Questions to switches, and their answers.
    Signals(Signals),
}

impl Aside {
    /// What comes back, if anything.
    pub fn echoed(&self) -> Option<Signal> {
        match self {
            Aside::Signals(signals) => signals.echoed,
            Aside::Stamps(_) => None,
        }
    }

    /// Its signals; a packet with stamps gets them in their place.
    pub fn signals(&mut self) -> &mut Signals {
        if let Aside::Stamps(_) = self {
            *self = Aside::Signals(Signals::default());
        }
        match self {
            Aside::Signals(signals) => signals,
            Aside::Stamps(_) => unreachable!("they have just been replaced"),
        }
    }
}
