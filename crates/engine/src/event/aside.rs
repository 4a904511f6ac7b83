//! Data that only the packets of some controllers carry, beside the packet: stamps of ports, and explicit rates.

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

/// Explicit rates: what a packet asks of the switches on its way, what its sender tells them, and what comes back.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rates {
    /// What the switches of its way have granted so far, bits per second on their links; infinite before the first.
    /// `None` where the packet asks for none.
    pub granted: Option<f64>,
    /// The sender's smoothed round-trip time, of a packet that asks; zero where it is not known.
    pub rtt: Time,
    /// What was granted to the packet that it acknowledges.
    pub echoed: Option<f64>,
}

/// Data that only the packets of some controllers carry.
#[derive(Clone, Debug, PartialEq)]
pub enum Aside {
    /// Stamps of ports.
    Stamps(Telemetry),
    /// Explicit rates.
    Rates(Rates),
}

impl Aside {
    /// Its explicit rates; a packet with stamps gets them in their place.
    pub fn rates(&mut self) -> &mut Rates {
        if let Aside::Stamps(_) = self {
            *self = Aside::Rates(Rates::default());
        }
        match self {
            Aside::Rates(rates) => rates,
            Aside::Stamps(_) => unreachable!("they have just been replaced"),
        }
    }
}
