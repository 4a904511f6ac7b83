//! Queue of an explicit port: discipline, packets, account.

use crate::event::interval::Interval;
use crate::event::packet::{Ext, Packet, flag};
use crate::ids::LinkId;
use crate::port::discipline::{ActiveDiscipline, Arrival, Departure, Place, Verdict};
use crate::spec::{Aggregate, QueueSpec};
use incast_cc::{Rate, Time};
use incast_record::ClassRecord;
use std::collections::VecDeque;

/// Waiting packet.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    pub packet: Packet,
    /// Extension, boxed because few packets have one.
    pub ext: Option<Box<Ext>>,
    /// Size as the queue counts it, in bytes.
    pub size: u64,
    /// Transmission time.
    pub wire: Time,
    pub lost: bool,
    /// Arrival time.
    pub since: Time,
    /// Number among accepted packets.
    pub index: u64,
    /// PFC account in a shared buffer; `None`: it counts for its queue.
    pub account: Option<u32>,
    /// Rank, if the scheduler needs it.
    pub rank: u32,
}

const _: () = assert!(size_of::<Waiting>() == 128);

impl Waiting {
    /// Departure at `now` from a queue of this length, including the packet.
    pub(super) fn departure(&self, now: Time, queue: (u32, u64)) -> Departure {
        let (packets, bytes, ect) = (queue.0 as u64, queue.1, self.packet.has(flag::ECT));
        Departure { now, since: self.since, packets, bytes, size: self.size, ect }
    }
}

/// Packet that waited and was dropped or returned.
#[derive(Clone, Debug)]
pub struct Dropped {
    /// Last state of the packet.
    pub packet: Packet,
    /// True if the packet returns to its sender.
    pub returns: bool,
    /// True if the wire would have lost it, which is already counted.
    pub lost: bool,
    /// Space in a shared buffer to be released, if any.
    pub place: Option<Taken>,
}

/// Space of a packet in a shared buffer.
#[derive(Clone, Copy, Debug)]
pub struct Taken {
    /// PFC account; `None`: it counts for its queue.
    pub account: Option<u32>,
    /// Bytes in its queue without the packet.
    pub held: u64,
    /// Size, in bytes.
    pub size: u64,
}

/// Counters from the start of the run.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Counts {
    packets: u64,
    bytes: u64,
    pub drops: u64,
    marks: u64,
    pub max_packets: u32,
    pub max_bytes: u64,
    packet_time: u128,
    byte_time: u128,
}

/// Pause state of a queue, or of a port with some paused queue ([`pfc`](crate::map::pfc)).
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Pausing {
    /// Start of the current pause.
    pub since: Option<Time>,
    /// Time at which the neighbour requested it.
    pub asked: Time,
    /// Additional interval without transmissions: after a repair of the link, the neighbour's pause frames arrive
    /// first.
    pub silence: (Time, Time),
    /// Number of pauses that began in the measured interval.
    pub pauses: u64,
    /// Total time of finished pauses in the measured interval.
    time: Time,
}

impl Pausing {
    /// True if no transmission may begin at `now`.
    pub(super) fn holds(&self, now: Time) -> bool {
        self.since.is_some() || (self.silence.0 <= now && now < self.silence.1)
    }

    /// Starts a pause, if none holds.
    pub(super) fn begin(&mut self, now: Time, asked: Time, interval: &Interval) {
        self.asked = asked;
        if self.since.is_none() {
            self.since = Some(now);
            self.pauses += interval.holds(now) as u64;
        }
    }

    /// Ends the pause.
    pub(super) fn end(&mut self, now: Time, interval: &Interval) {
        self.time = self.time_to(now, interval);
        self.since = None;
    }

    /// Paused time up to `now` in the measured interval.
    pub(super) fn time_to(&self, now: Time, interval: &Interval) -> Time {
        self.time + self.since.map_or(Time::ZERO, |since| interval.overlap(since, now))
    }
}

/// Treatment of an arrival at an idle queue of a port with [lazy service](super::lazy_service).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum IdleAdmission {
    /// Accept unmarked, without asking the discipline.
    Takes,
    /// Accept in the same way if there are tokens for it.
    TakesTokens,
    /// Ask the discipline.
    Asks,
}

/// Queue of one class.
#[derive(Clone, Debug)]
pub(super) struct ClassQueue {
    discipline: ActiveDiscipline,
    place: Place,
    pub queue: VecDeque<Waiting>,
    /// Waiting packets and bytes.
    pub queued: (u32, u64),
    /// Departed packets and bytes not yet in the account.
    pub gone: (u32, u64),
    pub count: Counts,
    /// Time up to which the account is complete.
    pub known_to: Time,
    pub when_idle: IdleAdmission,
    /// Set if the discipline decides as transmissions begin.
    pub decides_at_starts: bool,
    /// Marks at departure in the measured interval.
    pub departing_marks: u64,
    pub pausing: Pausing,
    pub at_from: Option<Counts>,
    pub at_to: Option<Counts>,
}

impl ClassQueue {
    /// True if everything about a packet is decided at its arrival.
    pub(super) fn decides_at_arrivals(&self) -> bool {
        self.discipline.decides_at_arrivals()
    }

    /// True if everything about a packet is decided by the beginning of its transmission. No packet is dropped then.
    pub(super) fn decides_by_starts(&self) -> bool {
        match &self.discipline {
            ActiveDiscipline::EcnRamp(ramp) => ramp.marks_at_start(),
            discipline => discipline.decides_at_arrivals(),
        }
    }

    /// True if its discipline has a state.
    pub(super) fn has_state(&self) -> bool {
        self.discipline.has_state()
    }

    /// True if both its discipline and the aggregate limit accept any packet into an empty queue, unmarked.
    pub(super) fn takes_into_empty(&self, aggregate: &Aggregate) -> bool {
        let longest = Arrival::LONGEST_INTO_EMPTY;
        self.discipline.takes_into_empty() && !longest.exceeds(aggregate.limit) && !longest.finds(aggregate.mark)
    }

    /// Queue `class` of the port of link `link`.
    pub(super) fn new(spec: &QueueSpec, class: u32, rate: Rate, link: LinkId, seed: u64) -> ClassQueue {
        let entity = (class as u64) << 32 | link.0 as u64;
        let discipline = ActiveDiscipline::new(spec);
        ClassQueue {
            decides_at_starts: !discipline.decides_at_arrivals(),
            discipline,
            place: Place { rate, seed, entity },
            queue: VecDeque::new(),
            queued: (0, 0),
            gone: (0, 0),
            count: Counts::default(),
            known_to: Time::ZERO,
            when_idle: IdleAdmission::Asks,
            departing_marks: 0,
            pausing: Pausing::default(),
            at_from: None,
            at_to: None,
        }
    }

    /// Decides about an arrival by the discipline.
    #[inline(always)]
    pub(super) fn admit(&mut self, arrival: &Arrival) -> Verdict {
        match self.discipline.decide(arrival) {
            Some(verdict) => verdict,
            None => self.ask(*arrival),
        }
    }

    /// Decides by a discipline with a state.
    #[inline(never)]
    fn ask(&mut self, arrival: Arrival) -> Verdict {
        self.discipline.at_work().admit(&arrival, &self.place)
    }

    /// Refuses an arrival for which the shared buffer has no space.
    #[cold]
    pub(super) fn refuse(&mut self) -> Verdict {
        self.discipline.at_work().refused();
        Verdict::Drop
    }

    /// Decides by the discipline about the packet at the head, whose transmission may begin.
    pub(super) fn at_head(&mut self, head: &Departure) -> Verdict {
        self.discipline.at_work().at_head(head)
    }

    /// Notifies the discipline that the queue, as it counts it, is empty.
    pub(super) fn empty(&mut self, now: Time) {
        if self.discipline.has_state() {
            self.discipline.at_work().empty(now);
        }
    }

    /// Counts a refused arrival. Returns whether it counts as marked.
    pub(super) fn drop(&mut self, arrival: &Arrival) -> bool {
        let marked = self.discipline.at_work().counts_as_marked(arrival);
        self.count.drops += 1;
        self.count.marks += marked as u64;
        marked
    }

    /// Counts an accepted arrival of `size` bytes.
    pub(super) fn accept(&mut self, size: u64, marked: bool) {
        self.count.packets += 1;
        self.count.bytes += size;
        self.count.marks += marked as u64;
    }

    /// Appends a waiting packet.
    #[inline(always)]
    pub(super) fn push(&mut self, waiting: Waiting) {
        self.queued.0 += 1;
        self.queued.1 += waiting.size;
        self.queue.push_back(waiting);
    }

    /// Counts a packet of `size` bytes that no longer waits.
    #[inline(always)]
    pub(super) fn leave(&mut self, size: u64) {
        self.queued.0 -= 1;
        self.queued.1 -= size;
    }

    /// Removes the packet at position `i`.
    pub(super) fn take_out(&mut self, i: usize) -> Option<Waiting> {
        let taken = self.queue.remove(i)?;
        self.leave(taken.size);
        Some(taken)
    }

    /// Updates the maximum queue with the current length as the discipline counts it.
    pub(super) fn holds(&mut self, packets: u32, bytes: u64) {
        self.count.max_packets = self.count.max_packets.max(packets);
        self.count.max_bytes = self.count.max_bytes.max(bytes);
    }

    /// Adds the time up to `until` to the account, with the queue since the last call as the discipline counts it.
    #[inline(always)]
    pub(super) fn pass(&mut self, until: Time, (packets, bytes): (u32, u64)) {
        let span = until - self.known_to;
        self.known_to = until;
        self.count.packet_time += packets as u128 * span.0 as u128;
        self.count.byte_time += bytes as u128 * span.0 as u128;
    }

    /// Returns whether a departing packet is marked.
    pub(super) fn marks_departure(&mut self, departure: &Departure, measured: bool) -> bool {
        let marked = self.discipline.at_work().at_departure(departure);
        self.departing_marks += (marked && measured) as u64;
        marked
    }

    /// Account of the measured interval, of `span` ps.
    pub(super) fn record(&self, span: f64, end: Time, interval: &Interval) -> ClassRecord {
        let to = self.at_to.unwrap_or(self.count);
        let from = self.at_from.unwrap_or(to);
        let mean = |integral: u128| if span > 0.0 { integral as f64 / span } else { 0.0 };
        ClassRecord {
            packets: to.packets - from.packets,
            bytes: to.bytes - from.bytes,
            drops: to.drops - from.drops,
            marks: to.marks - from.marks + self.departing_marks,
            queue_mean_packets: mean(to.packet_time - from.packet_time),
            queue_max_packets: to.max_packets as u64,
            queue_mean_bytes: mean(to.byte_time - from.byte_time),
            queue_max_bytes: to.max_bytes,
            pauses: self.pausing.pauses,
            paused_ps: self.pausing.time_to(end, interval).0,
        }
    }
}
