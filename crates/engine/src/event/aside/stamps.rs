//! In-band telemetry: the stamps that ports leave on packets.

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
