//! The queues of an explicit port: which packets lie where, what is in transmission, what the account knows.

use super::account::Counters;
use super::buffer::Room;
use super::class_queue::{ClassQueue, Dropped, Pausing, Waiting};
use super::scheduler::Scheduler;
use super::settings::Settings;
use super::tokens::Beside;
use crate::event::interval::Interval;
use crate::event::packet::{Packet, flag};
use crate::ids::LinkId;
use crate::port::discipline::trimming::Trim;
use crate::port::discipline::{Arrival, Verdict};
use crate::spec::{Discipline, EcnRamp, QueueSpec, Whole};
use incast_cc::Time;
use incast_record::ClassRecord;
use std::collections::VecDeque;

/// A packet that left while the account does not know it yet.
#[derive(Clone, Copy, Debug)]
struct Gone {
    began: Time,
    left: Time,
    size: u64,
    class: usize,
}

/// A transmission.
#[derive(Clone, Copy, Debug)]
pub(super) struct Service {
    /// The size of its packet as the queue counts it, bytes.
    pub size: u64,
    pub class: usize,
    pub began: Time,
    pub ends: Time,
    /// When it arrives, where that is not the link's delay after its end; `None`: a failure of the link has it.
    pub arrives: Option<Time>,
}

/// The decision about an arrival.
pub(super) struct Admission {
    /// The queue that it comes to.
    pub class: usize,
    /// As the queue counts it, bytes.
    pub size: u64,
    pub arrival: Arrival,
    pub verdict: Verdict,
    /// It is cut to its header.
    pub cut: Option<u16>,
}

/// The queues. Packets that left stay in the account until it next moves, as in the ring of a FIFO port.
#[derive(Clone, Debug)]
pub(super) struct Queues {
    pub classes: Vec<ClassQueue>,
    pub scheduler: Scheduler,
    /// What holds for all queues together, where there are several and something does.
    pub whole: Option<Whole>,
    pub trim: Option<Trim>,
    /// The transmission under way, and its packet, which a port that [serves itself](super::self_service) has sent.
    pub service: Option<Service>,
    pub served: Option<Waiting>,
    /// It serves itself, and is to be visited at the end of the window of this time, as something waits then;
    /// [`Time::NEVER`]: it is not.
    pub listed: Time,
    /// Pause frames that wait for the transmitter, and the one that it has.
    pub frames: VecDeque<Packet>,
    pub beside: Beside,
    /// Some class is paused.
    pub pausing: Pausing,
    /// Packets that waited and were dropped, not yet reported.
    pub dropped: Vec<Dropped>,
    gone: VecDeque<Gone>,
    gone_bytes: u64,
    /// Bytes of the account below the discipline, which are of the first packets.
    pub bytes_below: u64,
    /// Packets and bytes that wait, not in transmission.
    pub queued: (u32, u64),
    /// Time on the wire of what waits.
    pub work: Time,
    /// The account covers the time up to here.
    pub known_to: Time,
}

impl Queues {
    /// The queues that `spec` asks for at the port of link `link`, if it asks for any.
    pub(super) fn of(spec: &QueueSpec, settings: &Settings, link: LinkId, seed: u64) -> Option<Box<Queues>> {
        let (mut trim, mut whole) = (None, None);
        let (queues, scheduler) = match &spec.discipline {
            Discipline::Classes { scheduler, classes, whole: all } => {
                whole = (*all != Whole::NONE).then_some(*all);
                (classes.clone(), Scheduler::new(scheduler, settings))
            }
            Discipline::Trimming(t) => {
                trim = Some(Trim::new(t, link, seed));
                let queue = |limit| QueueSpec { discipline: Discipline::DropTail, limit, ..spec.clone() };
                let per_data = t.headers_per_data;
                let mut data = queue(spec.limit);
                if let Some(ramp) = &t.ecn {
                    data.discipline = Discipline::EcnRamp(EcnRamp { key: (seed, link.0 as u64), ..ramp.clone() });
                }
                (vec![queue(t.header_limit), data], Scheduler::Headers { per_data, served: 0 })
            }
            Discipline::Pfabric => (vec![spec.clone()], Scheduler::LeastRank),
            _ => (vec![spec.clone()], Scheduler::Strict),
        };
        let class = |(i, queue): (u32, &QueueSpec)| ClassQueue::new(queue, i, settings.rate, link, seed);
        spec.is_explicit().then(|| {
            Box::new(Queues {
                classes: (0..).zip(&queues).map(class).collect(),
                scheduler,
                whole,
                trim,
                service: None,
                served: None,
                listed: Time::NEVER,
                frames: VecDeque::new(),
                beside: Beside::Nothing,
                pausing: Pausing::default(),
                dropped: Vec::new(),
                gone: VecDeque::new(),
                gone_bytes: 0,
                bytes_below: 0,
                queued: (0, 0),
                work: Time::ZERO,
                known_to: Time::ZERO,
            })
        })
    }

    /// Packets and bytes that have not left.
    #[inline(always)]
    pub(super) fn filling(&self) -> (u32, u64) {
        let (packets, bytes) = self.queued;
        self.service.as_ref().map_or((packets, bytes), |s| (packets + 1, bytes + s.size))
    }

    /// Transmissions that are not over at `at`. That of a radio `station` is under way until its cell is done with it,
    /// whatever it takes on a wire.
    pub(super) fn services(&self, at: Time, station: bool) -> impl Iterator<Item = Service> {
        let over = |g: &Gone| Service { size: g.size, class: g.class, began: g.began, ends: g.left, arrives: None };
        let gone = self.gone.iter().map(over).filter(move |s| s.ends > at);
        gone.chain(self.service.filter(|s| station || s.ends > at))
    }

    /// Packets and bytes of `class` that have not left.
    #[inline(always)]
    pub(super) fn here_of(&self, class: usize) -> (u32, u64) {
        let (packets, bytes) = self.classes[class].queued;
        match &self.service {
            Some(s) if s.class == class => (packets + 1, bytes + s.size),
            _ => (packets, bytes),
        }
    }

    /// Packets that the discipline counts, by the account, where it does not see the first `below`.
    pub(super) fn counted(&self, below: u32) -> u32 {
        // what is below several classes is the packet in transmission
        let unseen = if self.classes.len() == 1 {
            self.places_below(below)
        } else {
            below.min((!self.gone.is_empty() || self.service.is_some()) as u32)
        };
        (self.filling().0 + self.gone.len() as u32).saturating_sub(unseen)
    }

    /// Places below the discipline of a port with one queue, by the account: that of the packet in transmission is none
    /// while a pause, or a pause frame, keeps what is here from being sent.
    pub(super) fn places_below(&self, below: u32) -> u32 {
        if self.gone.is_empty() && self.service.is_none() { below.saturating_sub(1) } else { below }
    }

    /// Bytes the discipline counts, by the account.
    pub(super) fn counted_bytes(&self) -> u64 {
        self.filling().1 + self.gone_bytes - self.bytes_below
    }

    /// Marks at departures inside the measured interval.
    pub(super) fn marks(&self) -> u64 {
        self.classes.iter().map(|l| l.departing_marks).sum()
    }

    /// When the first packet left that the account still has, if that is by `now`.
    pub(super) fn left_by(&self, now: Time) -> Option<Time> {
        self.gone.front().map(|g| g.left).filter(|left| *left <= now)
    }

    /// When the first packet left that the account still has; [`Time::NEVER`] where it has none.
    pub(super) fn left_first(&self) -> Time {
        self.gone.front().map_or(Time::NEVER, |g| g.left)
    }

    /// Transmitting time owed at `at` to what is here, nothing having come since.
    pub(super) fn owed(&self, at: Time) -> Time {
        self.owed_before(at) + self.service.as_ref().map_or(Time::ZERO, |s| s.ends.saturating_sub(s.began.max(at)))
    }

    /// The same for the account of busy time, modulo 2^64 ps. The service of a radio `station` lasts as long as the
    /// cell takes, more or less than the packet on a wire: until it ends it owes the wire's time less what it took.
    pub(super) fn unpaid(&self, at: Time, station: bool) -> Time {
        match &self.service {
            Some(s) if station => {
                let rest = s.ends.0.wrapping_sub(s.began.max(at).0);
                Time(self.owed_before(at).0.wrapping_add(rest))
            }
            _ => self.owed(at),
        }
    }

    /// When the transmission under way began, and how long it takes on a wire.
    pub(super) fn served(&self) -> Option<(Time, Time)> {
        Some((self.service.as_ref()?.began, self.served.as_ref()?.wire))
    }

    /// What is owed without the transmission under way.
    fn owed_before(&self, at: Time) -> Time {
        self.gone.iter().fold(self.work, |sum, g| sum + g.left.saturating_sub(g.began.max(at)))
    }

    /// Packets that wait and will arrive.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &Packet> {
        let waiting = self.classes.iter().flat_map(|l| &l.queue);
        self.served.iter().chain(waiting).filter(|w| !w.lost).map(|w| &w.packet)
    }

    /// The queue that `packet` joins: a port with one queue has it for all, one that trims has one for headers and one
    /// for data, others ask for its `class`.
    #[inline(always)]
    pub(super) fn queue_of(&self, packet: &Packet, class: impl FnOnce() -> u8) -> usize {
        match &self.trim {
            Some(trim) => trim.queue_of(packet),
            None if self.classes.len() == 1 => 0,
            None => (class() as usize).min(self.classes.len() - 1),
        }
    }

    /// There are several queues, and a packet's class says which is its own.
    pub(super) fn has_classes(&self) -> bool {
        self.classes.len() > 1 && self.trim.is_none()
    }

    /// Packets cut inside the measured interval, and headers that have gone back to their senders.
    pub(super) fn cuts(&self) -> (u64, u64) {
        self.trim.as_ref().map_or((0, 0), Trim::counts)
    }

    /// Size of the packet at place `i` of the account, those first that left and the one in transmission; what
    /// comes after it is known where there is one queue.
    fn size_at(&self, i: usize) -> Option<u64> {
        let Some(i) = i.checked_sub(self.gone.len()) else { return self.gone.get(i).map(|g| g.size) };
        let Some(i) = i.checked_sub(self.service.is_some() as usize) else {
            return self.service.as_ref().map(|s| s.size);
        };
        let [queue] = &self.classes[..] else { return None };
        queue.queue.get(i).map(|w| w.size)
    }

    /// Packets and bytes that the discipline of `class` counts, the account being up to date.
    #[inline]
    pub(super) fn counted_of(&self, class: usize, below: u32) -> (u32, u64) {
        if self.classes.len() == 1 {
            let (packets, bytes) = self.here_of(class);
            return (packets.saturating_sub(self.places_below(below)), bytes - self.bytes_below);
        }
        if below > 0 { self.classes[class].queued } else { self.here_of(class) }
    }

    /// Queue `class` decides about `packet`, which arrives at `now`, by its discipline and by the shared buffer that it
    /// needs `room` in, if it is in one.
    #[inline(always)]
    pub(super) fn admit(
        &mut self,
        class: usize,
        packet: &Packet,
        now: Time,
        settings: &Settings,
        room: Option<&Room>,
    ) -> Admission {
        let size = packet.size as u64 + settings.framing as u64;
        let (packets, bytes) = self.counted_of(class, settings.below);
        let arrival = Arrival { now, packets: packets as u64, bytes, size, ect: packet.has(flag::ECT) };
        let full = room.is_some_and(|room| !room.takes(packet, self.here_of(class).1, size));
        let queue = &mut self.classes[class];
        let verdict = match &self.whole {
            Some(_) => self.admit_to_all(class, &arrival, full, settings.below),
            None if full => queue.refuse(),
            None => queue.admit(&arrival),
        };
        Admission { class, size, arrival, verdict, cut: None }
    }

    /// Queue `class`, or the shared buffer where it is `full`, decides about an arrival, and what holds for all queues
    /// together.
    #[inline(always)]
    fn admit_to_all(&mut self, class: usize, arrival: &Arrival, full: bool, below: u32) -> Verdict {
        let whole = self.whole.unwrap_or(Whole::NONE);
        let (packets, bytes) = if below > 0 { self.queued } else { self.filling() };
        let all = match self.classes.len() {
            1 => *arrival,
            _ => Arrival { packets: packets as u64, bytes, ..*arrival },
        };
        let queue = &mut self.classes[class];
        match if full || all.exceeds(whole.limit) { queue.refuse() } else { queue.admit(arrival) } {
            Verdict::Accept if all.ect && all.finds(whole.mark) => Verdict::Mark,
            verdict => verdict,
        }
    }

    /// A packet waits in queue `class`.
    pub(super) fn push(&mut self, class: usize, waiting: Waiting, below: u32) {
        if self.classes.len() == 1 {
            let places = self.places_below(below);
            let here = self.filling().0;
            if here < places {
                // it passes straight through the discipline
                self.classes[0].empty(waiting.since);
            }
            if here + (self.gone.len() as u32) < places {
                self.bytes_below += waiting.size;
            }
        }
        self.work += waiting.wire;
        self.queued.0 += 1;
        self.queued.1 += waiting.size;
        self.classes[class].push(waiting);
    }

    /// Takes out what waits at place `i` of queue `class`.
    pub(super) fn take_out(&mut self, class: usize, i: usize) -> Option<Waiting> {
        let taken = self.classes[class].take_out(i)?;
        self.work -= taken.wire;
        self.queued.0 -= 1;
        self.queued.1 -= taken.size;
        Some(taken)
    }

    /// Whether packets are served by their ranks.
    pub(super) fn goes_by_rank(&self) -> bool {
        matches!(self.scheduler, Scheduler::LeastRank)
    }

    /// The discipline decides about the packet whose transmission begins at `now`; the packet is marked if it says so.
    pub(super) fn at_head(&mut self, now: Time, measured: bool) -> Verdict {
        let Some(class) = self.service.as_ref().map(|s| s.class) else { return Verdict::Accept };
        let here = self.here_of(class);
        let Some(waiting) = &mut self.served else { return Verdict::Accept };
        let queue = &mut self.classes[class];
        let verdict = queue.at_head(&waiting.departure(now, here));
        if verdict == Verdict::Mark {
            waiting.packet.flags |= flag::CE;
            queue.departing_marks += measured as u64;
        }
        verdict
    }

    /// Whether the packet whose transmission ends at `now` is marked as it leaves.
    pub(super) fn marks_departure(&mut self, now: Time, measured: bool) -> bool {
        let (Some(service), Some(waiting)) = (&self.service, &self.served) else { return false };
        let departure = waiting.departure(now, self.here_of(service.class));
        self.classes[service.class].marks_departure(&departure, measured)
    }

    /// The transmission under way ends at `now`.
    pub(super) fn end(&mut self, now: Time, below: u32) -> Option<(Service, Waiting)> {
        let (service, waiting) = (self.service.take()?, self.served.take()?);
        let (class, size) = (service.class, service.size);
        let queue = &mut self.classes[class];
        queue.gone.0 += 1;
        queue.gone.1 += size;
        self.gone_bytes += size;
        self.gone.push_back(Gone { began: service.began, left: now, size, class });
        // the last that the discipline held has left; with one queue it may be below it, and moved there as it began
        if self.classes[class].queued.0 == 0 && (below == 0 || self.classes.len() > 1) {
            self.classes[class].empty(now);
        }
        Some((service, waiting))
    }

    /// Brings the account up to `at`: what left by then, and the time that passed; `count` is the port's.
    pub(super) fn advance(&mut self, at: Time, below: u32, count: &mut Counters) {
        while let Some(left) = self.left_by(at) {
            self.spend(left, below, count);
            self.pass(left, below);
            self.forget(below);
        }
        self.spend(at, below, count);
        self.pass(at, below);
    }

    /// Adds the time up to `until`, in which nothing leaves, to the account.
    #[inline]
    fn spend(&mut self, until: Time, below: u32, count: &mut Counters) {
        let span = until - self.known_to;
        if span == Time::ZERO {
            return;
        }
        self.known_to = until;
        count.add_queue(span, self.counted(below), self.counted_bytes());
    }

    /// Takes the first packet, which left, out of the account.
    fn forget(&mut self, below: u32) {
        let Some(gone) = self.gone.pop_front() else { return };
        self.gone_bytes -= gone.size;
        let class = &mut self.classes[gone.class];
        class.gone.0 -= 1;
        class.gone.1 -= gone.size;
        if below > 0 {
            // the first that the discipline holds moves below it, if anything is sent
            if self.classes.len() > 1 || self.places_below(below) == below {
                self.bytes_below += self.size_at(below as usize - 1).unwrap_or(0);
            }
            self.bytes_below -= gone.size;
        }
    }

    /// The packet of the account that is below several classes, if one is: its class, and its size.
    fn unseen(&self, below: u32) -> Option<(usize, u64)> {
        let first = self.gone.front().map(|g| (g.class, g.size));
        first.or(self.service.as_ref().map(|s| (s.class, s.size))).filter(|_| below > 0)
    }

    /// Adds the time up to `until`, in which nothing changes, to the accounts of the classes.
    fn pass(&mut self, until: Time, below: u32) {
        if self.classes.len() == 1 {
            return;
        }
        for class in 0..self.classes.len() {
            let seen = self.accounted_of(class, below);
            self.classes[class].pass(until, seen);
        }
    }

    /// Packets and bytes that the discipline of `class`, of several, counts by the account.
    fn accounted_of(&self, class: usize, below: u32) -> (u32, u64) {
        let (here, gone) = (self.here_of(class), self.classes[class].gone);
        let unseen = self.unseen(below).filter(|first| first.0 == class).map_or((0, 0), |first| (1, first.1));
        (here.0 + gone.0 - unseen.0, here.1 + gone.1 - unseen.1)
    }

    /// Begins a transmission at `now`, if something may go; when it ends.
    pub(super) fn begin(&mut self, now: Time, below: u32) -> Option<Time> {
        let Queues { classes, scheduler, .. } = self;
        let class = scheduler.next(classes, now)?;
        let Some(queue) = classes.get_mut(class) else { return self.await_tokens() };
        let waiting = queue.queue.pop_front()?;
        queue.leave(waiting.size);
        self.work -= waiting.wire;
        self.queued.0 -= 1;
        self.queued.1 -= waiting.size;
        if self.classes.len() > 1 && below > 0 && self.gone.is_empty() {
            self.bytes_below = waiting.size;
        }
        let ends = now + waiting.wire;
        self.service = Some(Service { size: waiting.size, class, began: now, ends, arrives: None });
        self.served = Some(waiting);
        if self.classes.len() == 1 && below > 0 && self.gone.is_empty() {
            // there is a place more below the discipline than while nothing was sent
            self.bytes_below += self.size_at(below as usize - 1).unwrap_or(0);
        }
        // with one queue, what moves below the discipline is not what goes onto the wire
        let unseen = if self.classes.len() == 1 { below } else { 1 };
        if below > 0 && self.classes[class].queued.0 + 1 == unseen {
            self.classes[class].empty(now);
        }
        Some(ends)
    }

    /// Gives back memory after a burst.
    pub(super) fn shrink(&mut self) {
        for class in &mut self.classes {
            if class.queue.capacity() > 64 && class.queue.len() * 4 < class.queue.capacity() {
                class.queue.shrink_to(class.queue.len() * 2);
            }
        }
    }

    /// The measured interval begins, or ends.
    pub(super) fn snapshot(&mut self, begins: bool, below: u32) {
        for i in 0..self.classes.len() {
            let seen = self.accounted_of(i, below);
            let class = &mut self.classes[i];
            // the greatest queue is one of the interval's own
            if begins {
                (class.count.max_packets, class.count.max_bytes) = seen;
            }
            let at = if begins { &mut class.at_from } else { &mut class.at_to };
            *at = Some(class.count);
        }
    }

    /// Nothing is being transmitted.
    pub(super) fn is_idle(&self) -> bool {
        self.service.is_none() && !self.beside.is_frame()
    }

    /// Nothing is here, and what comes to queue `i` may go at once.
    pub(super) fn lets_pass(&self, i: usize, now: Time) -> bool {
        self.filling().0 == 0 && !self.beside.is_frame() && !self.classes[i].pausing.holds(now)
    }

    /// A packet here that is on this account of a shared buffer, if one is.
    pub(super) fn packet_on(&self, account: u32) -> Option<&Packet> {
        let waiting = self.classes.iter().flat_map(|l| &l.queue);
        let all = self.served.iter().chain(waiting);
        { all }.find(|w| w.account == Some(account)).map(|w| &w.packet)
    }

    /// The packet in transmission is of this account of a shared buffer, if of one.
    pub(super) fn account_in_service(&self) -> Option<u32> {
        self.served.as_ref()?.account
    }

    /// The accounts of the classes over an interval of `span` ps in a run that ends at `end`; none where there is one
    /// queue for all.
    pub(super) fn records(&self, span: f64, end: Time, interval: &Interval) -> Vec<ClassRecord> {
        if self.classes.len() == 1 {
            return Vec::new();
        }
        self.classes.iter().map(|l| l.record(span, end, interval)).collect()
    }
}
