//! Packet trimming: data that has no room is cut to its header, which waits in a queue of its own (NDP, SIGCOMM 2017;
//! htsim's `CompositeQueue`).

use crate::event::interval::Interval;
use crate::event::packet::{Kind, Packet};
use crate::hash;
use crate::ids::LinkId;
use crate::spec::Trimming;
use incast_cc::Time;

/// The queue of headers, and that of data.
pub const HEADERS: usize = 0;
/// See [`HEADERS`].
pub const DATA: usize = 1;

/// Trimming at one port.
#[derive(Clone, Debug)]
pub struct Trim {
    /// Bytes that are left of a packet.
    header: u16,
    link: u64,
    seed: u64,
    /// Draws so far, where there are any.
    draws: Option<u64>,
    /// Packets cut inside the measured interval, and headers that have gone back.
    cuts: u64,
    returned: u64,
    returns: bool,
    drops: bool,
}

impl Trim {
    /// Trimming as `spec` asks for at the port of link `link`.
    pub fn new(spec: &Trimming, link: LinkId, seed: u64) -> Trim {
        let draws = spec.draws.then_some(0);
        let Trimming { header, returns, drops, .. } = *spec;
        Trim { header, link: link.0 as u64, seed, draws, cuts: 0, returned: 0, returns, drops }
    }

    /// Bytes that are left of a packet.
    pub fn header(&self) -> u16 {
        self.header
    }

    /// The queue that `packet` joins: what carries no more than a header goes with the headers, but for a probe where
    /// nothing is cut, which is to find the queue of data.
    pub fn queue_of(&self, packet: &Packet) -> usize {
        let data = packet.len > self.header && !packet.is_trimmed() || self.drops && packet.is(Kind::Probe);
        if data { DATA } else { HEADERS }
    }

    /// Packets cut inside the measured interval, and headers that have gone back.
    pub fn counts(&self) -> (u64, u64) {
        (self.cuts, self.returned)
    }

    /// What would be cut is dropped.
    pub fn drops(&self) -> bool {
        self.drops
    }

    /// What has no room goes back to its sender where that takes it.
    pub fn returns(&self) -> bool {
        self.returns
    }

    /// There is no room for `packet` among the headers at `now`: whether it goes back to its sender.
    pub fn sends_back(&mut self, packet: &Packet, now: Time, interval: &Interval) -> bool {
        let back = self.returns && packet.may_return();
        self.returned += (back && interval.holds(now)) as u64;
        back
    }

    /// A packet is to be cut at `now`: whether it is what came last before the arrival, by a draw if there is one.
    pub fn draw(&mut self, now: Time, interval: &Interval) -> bool {
        self.cuts += (!self.drops && interval.holds(now)) as u64;
        let Some(draws) = &mut self.draws else { return false };
        *draws += 1;
        hash::uniform(self.seed, hash::purpose::TRIM, self.link, *draws) < 0.5
    }
}
