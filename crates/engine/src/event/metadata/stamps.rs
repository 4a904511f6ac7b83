//! In-band telemetry: the stamps that ports leave on packets.

use crate::ids::LinkId;
use incast_cc::Time;

/// Maximum number of stamps on a packet: the NIC and the switches of a three-level fat tree. A flow with a longer path
/// is refused.
pub const STAMPS: usize = 6;

/// Stamp of a port on a packet ([`incast_cc::Hop`]).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PortStamp {
    /// Time of the stamp.
    pub time: Time,
    /// Bytes transmitted since the run began.
    pub sent: u64,
    /// Queue in front of the packet, in bytes.
    pub queue: u32,
    /// Link of the port.
    pub link: LinkId,
}

/// In-band telemetry of a packet, or of the packet that it acknowledges.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Telemetry {
    /// Number of stamps on the packet.
    pub count: u8,
    /// Stamps, in the order of the path.
    pub stamps: [PortStamp; STAMPS],
}

impl Telemetry {
    /// Adds the stamp of a port.
    pub fn push(&mut self, stamp: PortStamp) {
        if let Some(free) = self.stamps.get_mut(self.count as usize) {
            *free = stamp;
            self.count += 1;
        }
    }

    /// Stamps of the packet, in the order of its path.
    pub fn stamps(&self) -> &[PortStamp] {
        &self.stamps[..self.count as usize]
    }
}
