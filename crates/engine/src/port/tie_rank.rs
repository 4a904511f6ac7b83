//! The tie ranks of what a port sends, where equal times ask for them ([`Ties::Scheduled`](crate::spec::Ties)).

use super::settings::Settings;
use crate::event::packet::{Packet, turn};

/// What a port knows of the packets before.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct TieRank {
    /// The latest arrival found the transmitter busy.
    pub busy: bool,
    /// Rank of the packet accepted last, and its time on the wire, ps.
    rank: u16,
    wire: u64,
}

impl TieRank {
    /// The rank of `packet`, accepted last; arrivals are taken to have come over a link like this one.
    pub(super) fn next(&mut self, packet: &Packet, settings: &Settings) -> u16 {
        if settings.bucket > 0 || settings.serialization(1) == 0 {
            return turn::NONE;
        }
        let wire = |size: u16| settings.serialization(size as u64 + settings.framing as u64);
        let own = wire(packet.size);
        self.rank = if self.busy {
            turn::next(self.rank, self.wire, own)
        } else {
            let lag = match if packet.hop == 0 { packet.turn } else { packet.size } {
                u16::MAX => u64::MAX,
                cause => settings.delay + wire(cause),
            };
            turn::first(lag, own, self.wire)
        };
        self.wire = own;
        self.rank
    }
}
