//! Packet trimming: data that does not fit is trimmed to its header, which waits in a separate queue (NDP, SIGCOMM
//! 2017; htsim's `CompositeQueue`).

use crate::event::interval::Interval;
use crate::event::packet::{Kind, Packet};
use crate::hash;
use crate::ids::LinkId;
use crate::spec::Trimming;
use incast_cc::Time;

/// Index of the header queue.
pub const HEADERS: usize = 0;
/// Index of the data queue.
pub const DATA: usize = 1;

/// Trimming at one port.
#[derive(Clone, Debug)]
pub struct Trim {
    /// Size of a trimmed packet, in bytes.
    header: u16,
    link: u64,
    seed: u64,
    /// Number of draws so far, if draws are configured.
    draws: Option<u64>,
    /// Packets trimmed in the measured interval, and returned headers.
    cuts: u64,
    returned: u64,
    returns: bool,
    drops: bool,
}

impl Trim {
    /// Trimming by `spec` at the port of link `link`.
    pub fn new(spec: &Trimming, link: LinkId, seed: u64) -> Trim {
        let draws = spec.draws.then_some(0);
        let Trimming { header, returns, drops, .. } = *spec;
        Trim { header, link: link.0 as u64, seed, draws, cuts: 0, returned: 0, returns, drops }
    }

    /// Size of a trimmed packet, in bytes.
    pub fn header(&self) -> u16 {
        self.header
    }

    /// Queue that `packet` joins. Packets with no more payload than a header's size join the headers, except probes at
    /// a port that drops instead of trimming: these must find the data queue.
    pub fn queue_of(&self, packet: &Packet) -> usize {
        let data = packet.len > self.header && !packet.is_trimmed() || self.drops && packet.is(Kind::Probe);
        if data { DATA } else { HEADERS }
    }

    /// Packets trimmed in the measured interval, and returned headers.
    pub fn counts(&self) -> (u64, u64) {
        (self.cuts, self.returned)
    }

    /// True if packets are dropped instead of trimmed.
    pub fn drops(&self) -> bool {
        self.drops
    }

    /// True if headers that do not fit return to senders that accept them.
    pub fn returns(&self) -> bool {
        self.returns
    }

    /// Returns whether `packet`, which does not fit into the header queue at `now`, returns to its sender; counts it.
    pub fn sends_back(&mut self, packet: &Packet, now: Time, interval: &Interval) -> bool {
        let back = self.returns && packet.may_return();
        self.returned += (back && interval.holds(now)) as u64;
        back
    }

    /// Counts a packet trimmed at `now`. Returns whether the last queued packet is trimmed instead of the arrival, by a
    /// draw if configured.
    pub fn draw(&mut self, now: Time, interval: &Interval) -> bool {
        self.cuts += (!self.drops && interval.holds(now)) as u64;
        let Some(draws) = &mut self.draws else { return false };
        *draws += 1;
        hash::uniform(self.seed, hash::purpose::TRIM, self.link, *draws) < 0.5
    }
}
