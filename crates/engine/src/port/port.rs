//! One egress port: what it is made of.

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

/// One egress port. What every packet touches comes first, in two cache lines; the rest lies in
/// [`Rare`].
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Port {
    /// When the transmitter has sent everything accepted, or the token bucket is full again.
    pub(super) free_at: Time,
    /// The next instant at which the account is to be rolled: a queue sample, or an end of the measured interval.
    pub(super) next_roll: Time,
    pub(super) ring: Ring,
    /// Bytes accepted, and bytes departed.
    pub(super) bytes_in: u64,
    pub(super) bytes_out: u64,
    pub(super) settings: Arc<Settings>,
    pub(super) count: Counters,
    /// Link this port feeds.
    pub link: LinkId,
    /// Bits of [`unusual`].
    pub(super) unusual: u8,
    /// The account at the beginning of the measured interval is taken; and a FIFO queue has dropped something.
    pub(super) begun: bool,
    pub(super) dropped: bool,
    /// Something waits in front of it, as it has been told ([`Rare::ahead`]).
    pub(super) has_ahead: bool,
    pub(super) rare: Box<Rare>,
}

/// The differences of a port from a FIFO port that nobody watches; one test of a byte on the way of every packet.
pub(super) mod unusual {
    /// Its queue becomes a time series.
    pub const PROBED: u8 = 1;
    /// Its queue is explicit.
    pub const EXPLICIT: u8 = 2;
    /// Packets that it sends are told apart at equal times.
    pub const SCHEDULED: u8 = 4;
    /// Its link has failures.
    pub const FAILS: u8 = 8;
    /// Marks at departures are set later, and some are to be when the next window opens.
    pub const MARKS_LATER: u8 = 16;
    pub const DUE: u8 = 32;
    /// Its node runs programs.
    pub const PROGRAMMED: u8 = 64;
    /// Its explicit queues serve themselves.
    pub const SERVES_ITSELF: u8 = 128;
}

/// State that few packets touch. What the end of a frame touches comes first, then what a roll of the account does.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Rare {
    pub events: Events,
    /// The account by frames, where there is a timeline.
    pub frames: Option<Box<Frames>>,
    pub queues: Option<Box<Queues>>,
    pub samples: Samples,
    pub seed: u64,
    /// Number of the shared buffer that its queues are in, in its domain.
    pool: Option<PoolIx>,
    /// The radio cell that it sends in, and its station there.
    station: Option<(CellId, u16)>,
    /// The discipline of a FIFO port with its state, from when it is first asked for ([`Rare::discipline`]).
    discipline: Option<Box<ActiveDiscipline>>,
    pub faults: Option<Box<Faults>>,
    pub pending_marks: Option<Box<PendingMarks>>,
    pub ahead: Option<Box<Ahead>>,
    /// Time series: next instant, last value reported.
    pub probe_next: Time,
    pub probe_last: u64,
    /// The account at the ends of the measured interval, where it is taken and not empty.
    pub at_from: Option<Box<Snapshot>>,
    pub at_to: Option<Box<Snapshot>>,
    pub tie_rank: TieRank,
}

impl Rare {
    /// The discipline of a FIFO port with its state.
    pub fn discipline(&mut self, settings: &Settings) -> &mut dyn QueueDiscipline {
        self.discipline.get_or_insert_with(|| Box::new(settings.discipline.clone())).at_work()
    }
}

impl Port {
    /// The port of `spec`, link number `link`.
    pub fn new(spec: &LinkSpec, queue: &QueueSpec, link: LinkId, seed: u64, interval: &Interval) -> Port {
        Port::with(Arc::new(Settings::new(spec, queue, Ties::Hash)), queue, link, seed, interval)
    }

    /// A port with settings that others share.
    pub fn with(settings: Arc<Settings>, queue: &QueueSpec, link: LinkId, seed: u64, interval: &Interval) -> Port {
        Port {
            free_at: Time::ZERO,
            next_roll: interval.from,
            ring: Ring::default(),
            bytes_in: 0,
            bytes_out: 0,
            count: Counters::default(),
            link,
            unusual: if queue.is_explicit() { unusual::EXPLICIT } else { 0 }
                | if settings.scheduled { unusual::SCHEDULED } else { 0 },
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

    /// Its queue becomes a time series, or is explicit, or equal times depend on what it sent.
    #[inline]
    pub fn is_unusual(&self) -> bool {
        self.unusual != 0
    }

    /// Its queue becomes a time series.
    pub fn is_probed(&self) -> bool {
        self.unusual & unusual::PROBED != 0
    }

    /// Makes its queue a time series.
    pub fn probe(&mut self) {
        self.unusual |= unusual::PROBED;
    }

    /// Its node runs programs, which see what comes to it.
    pub fn pass_programs(&mut self) {
        self.unusual |= unusual::PROGRAMMED;
    }

    /// Its node runs programs.
    #[inline]
    pub fn is_programmed(&self) -> bool {
        self.unusual & unusual::PROGRAMMED != 0
    }

    /// Nothing else is unusual about it.
    #[inline]
    pub fn is_plain_but_programmed(&self) -> bool {
        self.unusual == unusual::PROGRAMMED
    }

    /// Bytes that its link adds to a packet.
    pub fn framing(&self) -> u32 {
        self.settings.framing
    }

    /// Packets that it has marked at their arrival.
    pub fn marks(&self) -> u32 {
        self.count.marks
    }

    /// A program has marked a packet that the queue has taken.
    pub fn count_mark(&mut self) {
        self.count.marks += 1;
    }

    /// Rate of its link.
    pub fn rate(&self) -> Rate {
        self.settings.rate
    }

    /// Packets wait in an explicit queue.
    pub fn is_explicit(&self) -> bool {
        self.unusual & unusual::EXPLICIT != 0
    }

    /// Its link leads to the channel of a radio cell: it is that of this station.
    pub fn join(&mut self, cell: CellId, station: u16) {
        self.rare.station = Some((cell, station));
    }

    /// The radio cell that it sends in, and its station there.
    #[inline]
    pub fn station(&self) -> Option<(CellId, u16)> {
        self.rare.station
    }

    /// Puts its explicit queues into shared buffer `pool` of its domain.
    pub fn share(&mut self, pool: PoolIx) {
        self.rare.pool = Some(pool);
    }

    /// Shared buffer of its domain that its queues are in.
    pub fn pool(&self) -> Option<PoolIx> {
        self.rare.pool
    }

    /// Its link has failures.
    pub fn fail(&mut self, faults: Faults) {
        self.unusual |= unusual::FAILS;
        if faults.changes_rate() {
            // its time on the wire is counted packet by packet
            self.settings = Arc::new(Settings { ps_per_byte: 0, ..(*self.settings).clone() });
        }
        self.rare.faults = Some(Box::new(faults));
    }

    /// Its link has failures.
    #[inline]
    pub fn fails(&self) -> bool {
        self.unusual & unusual::FAILS != 0
    }

    /// When the transmitter has sent everything accepted.
    pub fn free_at(&self) -> Time {
        self.free_at
    }

    /// Brings near what the next packet will touch beyond the port itself.
    #[inline]
    pub fn prefetch_queue(&self) {
        if self.ring.len > 1 {
            self.ring.prefetch();
        }
    }

    /// Time on the wire of a packet of `size` IP bytes.
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
