//! One queue of an explicit port: its discipline, its packets, its account.

use crate::event::interval::Interval;
use crate::event::packet::{Ext, Packet, flag};
use crate::ids::LinkId;
use crate::port::discipline::{ActiveDiscipline, Arrival, Departure, Place, Verdict};
use crate::spec::{QueueSpec, Whole};
use incast_cc::{Rate, Time};
use incast_record::ClassRecord;
use std::collections::VecDeque;

/// A packet that waits.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    pub packet: Packet,
    /// Its extension, aside: few have one.
    pub ext: Option<Box<Ext>>,
    /// As the queue counts it, bytes.
    pub size: u64,
    /// Time on the wire.
    pub wire: Time,
    pub lost: bool,
    /// When it came.
    pub since: Time,
    /// Its number among those accepted.
    pub index: u64,
    /// Its account in a shared buffer, where it is not on that of its queue.
    pub account: Option<u32>,
    /// Its rank, where that is asked for.
    pub rank: u32,
}

const _: () = assert!(size_of::<Waiting>() == 128);

impl Waiting {
    /// It leaves a queue of so much, itself included, at `now`.
    pub(super) fn departure(&self, now: Time, queue: (u32, u64)) -> Departure {
        let (packets, bytes, ect) = (queue.0 as u64, queue.1, self.packet.has(flag::ECT));
        Departure { now, since: self.since, packets, bytes, size: self.size, ect }
    }
}

/// A packet that waited and was dropped, or sent back.
#[derive(Clone, Debug)]
pub struct Dropped {
    /// As it was last.
    pub packet: Packet,
    /// It goes back to its sender.
    pub returns: bool,
    /// The wire would have lost it: that is counted.
    pub lost: bool,
    /// Its place in a shared buffer, to be given back, if it has one.
    pub place: Option<Taken>,
}

/// The place of a packet in a shared buffer.
#[derive(Clone, Copy, Debug)]
pub struct Taken {
    /// Its account, where it is not on that of its queue.
    pub account: Option<u32>,
    /// Bytes that its queue holds without it.
    pub held: u64,
    /// Its size, bytes.
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

/// Whether a queue, or some queue of a port, is paused by the neighbour ([`pfc`](crate::map::pfc)).
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Pausing {
    /// Since when.
    pub since: Option<Time>,
    /// When the neighbour asked for it.
    pub asked: Time,
    /// Nothing of it begins from the first time until the second either: the link is up again, and the neighbour's
    /// frames come first.
    pub silence: (Time, Time),
    /// Pauses that began inside the measured interval.
    pub pauses: u64,
    /// Time of those that are over, inside it.
    time: Time,
}

impl Pausing {
    /// Nothing of it may begin at `now`.
    pub(super) fn holds(&self, now: Time) -> bool {
        self.since.is_some() || (self.silence.0 <= now && now < self.silence.1)
    }

    /// It is paused, if it was not.
    pub(super) fn begin(&mut self, now: Time, asked: Time, interval: &Interval) {
        self.asked = asked;
        if self.since.is_none() {
            self.since = Some(now);
            self.pauses += interval.holds(now) as u64;
        }
    }

    /// It is paused no longer.
    pub(super) fn end(&mut self, now: Time, interval: &Interval) {
        self.time = self.time_to(now, interval);
        self.since = None;
    }

    /// Time paused up to `now`, inside the measured interval.
    pub(super) fn time_to(&self, now: Time, interval: &Interval) -> Time {
        self.time + self.since.map_or(Time::ZERO, |since| interval.overlap(since, now))
    }
}

/// What comes to a queue of a port that [serves itself](super::self_service) and is at rest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum AtRest {
    /// It is taken, unmarked and with no more ado.
    Takes,
    /// So it is if there are tokens for it.
    TakesTokens,
    /// The discipline is asked, as ever.
    Asks,
}

/// A queue.
#[derive(Clone, Debug)]
pub(super) struct ClassQueue {
    discipline: ActiveDiscipline,
    place: Place,
    pub queue: VecDeque<Waiting>,
    /// Packets and bytes that wait.
    pub queued: (u32, u64),
    /// Packets and bytes that left while the account does not know it yet.
    pub gone: (u32, u64),
    pub count: Counts,
    /// The account covers the time up to here.
    pub known_to: Time,
    pub at_rest: AtRest,
    /// Marks at departures inside the measured interval.
    pub departing_marks: u64,
    pub pausing: Pausing,
    pub at_from: Option<Counts>,
    pub at_to: Option<Counts>,
}

impl ClassQueue {
    /// Everything about its packets is decided at their arrivals.
    pub(super) fn decides_at_arrivals(&self) -> bool {
        self.discipline.decides_at_arrivals()
    }

    /// Its discipline has a state.
    pub(super) fn has_state(&self) -> bool {
        self.discipline.has_state()
    }

    /// It accepts into an empty queue, unmarked, whatever comes, and so does what holds for all queues together.
    pub(super) fn takes_into_empty(&self, whole: &Whole) -> bool {
        let longest = Arrival::LONGEST_INTO_EMPTY;
        self.discipline.takes_into_empty() && !longest.exceeds(whole.limit) && !longest.finds(whole.mark)
    }

    /// Queue `class` of the port of link `link`.
    pub(super) fn new(spec: &QueueSpec, class: u32, rate: Rate, link: LinkId, seed: u64) -> ClassQueue {
        let entity = (class as u64) << 32 | link.0 as u64;
        ClassQueue {
            discipline: ActiveDiscipline::new(spec),
            place: Place { rate, seed, entity },
            queue: VecDeque::new(),
            queued: (0, 0),
            gone: (0, 0),
            count: Counts::default(),
            known_to: Time::ZERO,
            at_rest: AtRest::Asks,
            departing_marks: 0,
            pausing: Pausing::default(),
            at_from: None,
            at_to: None,
        }
    }

    /// The discipline decides about an arrival.
    #[inline(always)]
    pub(super) fn admit(&mut self, arrival: &Arrival) -> Verdict {
        match self.discipline.decide(arrival) {
            Some(verdict) => verdict,
            None => self.ask(*arrival),
        }
    }

    /// A discipline with a state decides.
    #[inline(never)]
    fn ask(&mut self, arrival: Arrival) -> Verdict {
        self.discipline.at_work().admit(&arrival, &self.place)
    }

    /// The shared buffer has no room for an arrival.
    #[cold]
    pub(super) fn refuse(&mut self) -> Verdict {
        self.discipline.at_work().refused();
        Verdict::Drop
    }

    /// The discipline decides about the packet at the head, whose transmission may begin.
    pub(super) fn at_head(&mut self, head: &Departure) -> Verdict {
        self.discipline.at_work().at_head(head)
    }

    /// The queue, as the discipline counts it, is empty.
    pub(super) fn empty(&mut self, now: Time) {
        if self.discipline.has_state() {
            self.discipline.at_work().empty(now);
        }
    }

    /// An arrival was refused; whether it counts as marked.
    pub(super) fn drop(&mut self, arrival: &Arrival) -> bool {
        let marked = self.discipline.at_work().counts_as_marked(arrival);
        self.count.drops += 1;
        self.count.marks += marked as u64;
        marked
    }

    /// An arrival of `size` bytes was let in.
    pub(super) fn accept(&mut self, size: u64, marked: bool) {
        self.count.packets += 1;
        self.count.bytes += size;
        self.count.marks += marked as u64;
    }

    /// It waits.
    #[inline(always)]
    pub(super) fn push(&mut self, waiting: Waiting) {
        self.queued.0 += 1;
        self.queued.1 += waiting.size;
        self.queue.push_back(waiting);
    }

    /// A packet of `size` bytes waits no longer.
    #[inline(always)]
    pub(super) fn leave(&mut self, size: u64) {
        self.queued.0 -= 1;
        self.queued.1 -= size;
    }

    /// Takes out what waits at place `i`.
    pub(super) fn take_out(&mut self, i: usize) -> Option<Waiting> {
        let taken = self.queue.remove(i)?;
        self.leave(taken.size);
        Some(taken)
    }

    /// Its discipline counts so much now.
    pub(super) fn holds(&mut self, packets: u32, bytes: u64) {
        self.count.max_packets = self.count.max_packets.max(packets);
        self.count.max_bytes = self.count.max_bytes.max(bytes);
    }

    /// Time passes up to `until`; of what the account has had since it was last told, the discipline counts so much.
    #[inline(always)]
    pub(super) fn pass(&mut self, until: Time, (packets, bytes): (u32, u64)) {
        let span = until - self.known_to;
        self.known_to = until;
        self.count.packet_time += packets as u128 * span.0 as u128;
        self.count.byte_time += bytes as u128 * span.0 as u128;
    }

    /// Whether a packet that leaves is marked.
    pub(super) fn marks_departure(&mut self, departure: &Departure, measured: bool) -> bool {
        let marked = self.discipline.at_work().at_departure(departure);
        self.departing_marks += (marked && measured) as u64;
        marked
    }

    /// Its account of the measured interval, of `span` ps.
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
