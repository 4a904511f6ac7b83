//! Egress port and its state.

use super::account::{Ahead, Counters, Events, Samples, Snapshot};
use super::faults::Faults;
use super::frames::Frames;
use super::pending_marks::PendingMarks;
use super::queues::Queues;
use super::ring::Ring;
use super::settings::Settings;
use super::tie_rank::TieRank;
use crate::event::interval::Interval;
use crate::ids::{CellId, LinkId, PoolIx};
use crate::port::discipline::{ActiveDiscipline, QueueDiscipline};
use crate::spec::{LinkSpec, QueueSpec, Ties};
use incast_cc::{Rate, Time};
use std::sync::Arc;

/// Egress port. Fields used by every packet come first, in two cache lines; the others are in [`Rare`].
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Port {
    /// Time at which everything accepted is transmitted, or the token bucket is full again.
    pub(super) free_at: Time,
    /// Time of the next advance of the account: a queue sample, or an end of the measured interval.
    pub(super) next_advance: Time,
    pub(super) ring: Ring,
    /// Accepted bytes, and departed bytes.
    pub(super) bytes_in: u64,
    pub(super) bytes_out: u64,
    pub(super) settings: Arc<Settings>,
    pub(super) count: Counters,
    /// Link this port feeds.
    pub link: LinkId,
    /// Bits of [`feature`].
    pub(super) features: u8,
    /// `begun`: the snapshot at the start of the measured interval is taken. `dropped`: a FIFO queue has dropped a
    /// packet.
    pub(super) begun: bool,
    pub(super) dropped: bool,
    /// True if packets wait in front of the port ([`Rare::ahead`]).
    pub(super) has_ahead: bool,
    pub(super) rare: Box<Rare>,
}

/// Features of a port beyond a plain FIFO port; every packet tests one byte.
pub(super) mod feature {
    /// Time series of its queue.
    pub const PROBED: u8 = 1;
    /// Explicit queues.
    pub const EXPLICIT: u8 = 2;
    /// Tie ranks of sent packets.
    pub const SCHEDULED: u8 = 4;
    /// Failures of its link.
    pub const FAILS: u8 = 8;
    /// `MARKS_LATE`: marks at departure are set later. `DUE`: some may be due when the next engine window opens.
    pub const MARKS_LATE: u8 = 16;
    pub const DUE: u8 = 32;
    /// Programs at its node.
    pub const PROGRAMMED: u8 = 64;
    /// Explicit queues that have lazy service.
    pub const LAZY: u8 = 128;
    /// Explicit queues whose packets are sent on early: ports that mark later have none, which leaves `DUE` for this.
    pub const EARLY: u8 = EXPLICIT | DUE;
}

/// State used by few packets. Fields used at the end of a frame come first, then those used by an advance of the
/// account.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Rare {
    pub events: Events,
    /// Account by frames, with a timeline.
    pub frames: Option<Box<Frames>>,
    pub queues: Option<Box<Queues>>,
    pub samples: Samples,
    pub seed: u64,
    /// Shared buffer of its queues, by number in its domain.
    pool: Option<PoolIx>,
    /// Radio cell and station.
    station: Option<(CellId, u16)>,
    /// Discipline of a FIFO port with its state, created on first use ([`Rare::discipline`]).
    discipline: Option<Box<ActiveDiscipline>>,
    pub faults: Option<Box<Faults>>,
    pub pending_marks: Option<Box<PendingMarks>>,
    pub ahead: Option<Box<Ahead>>,
    /// Time series: next instant, last reported value.
    pub probe_next: Time,
    pub probe_last: u64,
    /// Account at the ends of the measured interval, if taken and not empty.
    pub at_from: Option<Box<Snapshot>>,
    pub at_to: Option<Box<Snapshot>>,
    pub tie_rank: TieRank,
}

impl Rare {
    /// Discipline of a FIFO port with its state.
    pub fn discipline(&mut self, settings: &Settings) -> &mut dyn QueueDiscipline {
        self.discipline.get_or_insert_with(|| Box::new(settings.discipline.clone())).at_work()
    }
}

impl Port {
    /// Port of `spec`, link number `link`.
    pub fn new(spec: &LinkSpec, queue: &QueueSpec, link: LinkId, seed: u64, interval: &Interval) -> Port {
        Port::with(Arc::new(Settings::new(spec, queue, Ties::Hash)), queue, link, seed, interval)
    }

    /// Port with shared settings.
    pub fn with(settings: Arc<Settings>, queue: &QueueSpec, link: LinkId, seed: u64, interval: &Interval) -> Port {
        Port {
            free_at: Time::ZERO,
            next_advance: interval.from,
            ring: Ring::default(),
            bytes_in: 0,
            bytes_out: 0,
            count: Counters::default(),
            link,
            features: if queue.is_explicit() { feature::EXPLICIT } else { 0 }
                | if settings.scheduled { feature::SCHEDULED } else { 0 },
            begun: false,
            dropped: false,
            has_ahead: false,
            rare: Box::new(Rare {
                seed,
                pool: None,
                station: None,
                queues: Queues::of(queue, &settings, link, seed),
                discipline: None,
                faults: None,
                pending_marks: None,
                ahead: None,
                events: Events::default(),
                samples: Samples::from(interval.from),
                probe_next: Time::ZERO,
                probe_last: 0,
                at_from: None,
                at_to: None,
                tie_rank: TieRank::default(),
                frames: None,
            }),
            settings,
        }
    }

    /// True if it has any feature beyond a plain FIFO port.
    #[inline]
    pub fn has_features(&self) -> bool {
        self.features != 0
    }

    /// True if its queue is recorded as a time series.
    pub fn is_probed(&self) -> bool {
        self.features & feature::PROBED != 0
    }

    /// Records its queue as a time series.
    pub fn probe(&mut self) {
        self.features |= feature::PROBED;
    }

    /// Passes arrivals through the programs of its node.
    pub fn pass_programs(&mut self) {
        self.features |= feature::PROGRAMMED;
    }

    /// True if its node runs programs.
    #[inline]
    pub fn is_programmed(&self) -> bool {
        self.features & feature::PROGRAMMED != 0
    }

    /// True if programs are its only feature beyond a plain FIFO port.
    #[inline]
    pub fn is_plain_but_programmed(&self) -> bool {
        self.features == feature::PROGRAMMED
    }

    /// Link overhead per packet that the queue counts, in bytes.
    pub fn framing(&self) -> u32 {
        self.settings.framing
    }

    /// Number of packets marked at arrival.
    pub fn marks(&self) -> u32 {
        self.count.marks
    }

    /// Counts a mark that a program set on an accepted packet.
    pub fn count_mark(&mut self) {
        self.count.marks += 1;
    }

    /// Rate of its link.
    pub fn rate(&self) -> Rate {
        self.settings.rate
    }

    /// True if packets wait in explicit queues.
    pub fn is_explicit(&self) -> bool {
        self.features & feature::EXPLICIT != 0
    }

    /// Makes it the port of a station in a radio cell.
    pub fn join(&mut self, cell: CellId, station: u16) {
        self.rare.station = Some((cell, station));
    }

    /// Radio cell and station, if any.
    #[inline]
    pub fn station(&self) -> Option<(CellId, u16)> {
        self.rare.station
    }

    /// Assigns its explicit queues to shared buffer `pool` of its domain.
    pub fn share(&mut self, pool: PoolIx) {
        self.rare.pool = Some(pool);
    }

    /// Shared buffer of its queues, by number in its domain.
    pub fn pool(&self) -> Option<PoolIx> {
        self.rare.pool
    }

    /// Adds failures of its link.
    pub fn fail(&mut self, faults: Faults) {
        self.features |= feature::FAILS;
        if faults.changes_rate() {
            // transmission times are counted packet by packet
            self.settings = Arc::new(Settings { ps_per_byte: 0, ..(*self.settings).clone() });
        }
        self.rare.faults = Some(Box::new(faults));
    }

    /// True if its link has failures.
    #[inline]
    pub fn fails(&self) -> bool {
        self.features & feature::FAILS != 0
    }

    /// Time at which everything accepted is transmitted.
    pub fn free_at(&self) -> Time {
        self.free_at
    }

    /// Prefetches the memory that the next packet uses outside the port itself.
    #[inline]
    pub fn prefetch_queue(&self) {
        if self.ring.len > 1 {
            self.ring.prefetch();
        }
    }

    /// Transmission time of a packet of `size` IP bytes.
    pub fn serialization(&self, size: u64) -> Time {
        self.settings.serialization(size + self.settings.framing as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::Port;

    #[test]
    fn what_every_packet_touches_is_small() {
        assert!(size_of::<Port>() <= 128, "{} bytes", size_of::<Port>());
    }
}
