//! Queues of an explicit port: waiting packets, current transmission, and account.

use super::account::Counters;
use super::buffer::SharedBuffer;
use super::class_queue::{ClassQueue, Dropped, Pausing, Taken, Waiting};
use super::scheduler::Scheduler;
use super::settings::Settings;
use super::tokens::TransmitterTask;
use crate::event::interval::Interval;
use crate::event::packet::{Ext, Kind, Packet, flag};
use crate::ids::{FlowId, LinkId, NodeId};
use crate::port::discipline::trimming::Trim;
use crate::port::discipline::{Arrival, Verdict};
use crate::spec::{Aggregate, Discipline, EcnRamp, QueueSpec};
use incast_cc::Time;
use incast_record::ClassRecord;
use std::collections::VecDeque;
use std::mem::take;

/// Departed packet not yet in the account.
#[derive(Clone, Copy, Debug)]
struct Gone {
    began: Time,
    left: Time,
    size: u64,
    class: usize,
}

/// Transmission.
#[derive(Clone, Copy, Debug)]
pub(super) struct Service {
    /// Size of its packet as the queue counts it, in bytes.
    pub size: u64,
    pub class: usize,
    pub began: Time,
    pub ends: Time,
    /// Arrival time on a link with failures; `None`: lost to a failure of the link.
    pub arrives: Option<Time>,
}

/// Decision about an arrival.
pub(super) struct Admission {
    /// Queue of the packet.
    pub class: usize,
    /// Size as the queue counts it, in bytes.
    pub size: u64,
    pub arrival: Arrival,
    pub verdict: Verdict,
    /// Header size, if the packet is trimmed.
    pub cut: Option<u16>,
}

/// Queues of a port. Departed packets stay in the account until it next advances, as in the ring of a FIFO port.
#[derive(Clone, Debug)]
pub(super) struct Queues {
    pub classes: Vec<ClassQueue>,
    pub scheduler: Scheduler,
    /// Aggregate limit and threshold over all queues, if any.
    pub aggregate: Option<Aggregate>,
    pub trim: Option<Trim>,
    /// Current transmission, and its packet, which a port with [lazy service](super::lazy_service) has already sent.
    pub service: Option<Service>,
    pub served: Option<Waiting>,
    /// For a port with lazy service: time whose engine window ends with a visit to this port, because packets wait;
    /// [`Time::NEVER`]: none.
    pub listed: Time,
    /// Set if the end of the current transmission is an event; a port that [sends early](super::early_sending) has none
    /// for an end that nobody waits for, unless `ends_are_events`.
    pub end_is_event: bool,
    pub ends_are_events: bool,
    /// Pause frames that wait for the transmitter.
    pub frames: VecDeque<Packet>,
    pub task: TransmitterTask,
    /// Set if departing packets are stamped.
    pub stamps: bool,
    /// Set if a packet leaves its shared buffer when its transmission begins.
    pub frees_early: bool,
    /// Pause state of the port: paused while some class is.
    pub pausing: Pausing,
    /// Packets that waited and were dropped, not yet reported.
    pub dropped: Vec<Dropped>,
    /// Space that the packet whose transmission has just begun gives back, not yet reported.
    pub freed: Option<Taken>,
    /// Packet that was the last to leave an account whose neighbour is paused, at a port that sends early.
    pub left: Packet,
    /// Memory of extensions that have left.
    #[allow(clippy::vec_box)] // the boxes are kept, not their contents
    spare: Vec<Box<Ext>>,
    gone: VecDeque<Gone>,
    gone_bytes: u64,
    /// Bytes of the account below the discipline, of the first packets.
    pub device_bytes: u64,
    /// Waiting packets and bytes, without the packet in transmission.
    pub queued: (u32, u64),
    /// Transmission time of all waiting packets.
    pub work: Time,
    /// Time up to which the account is complete.
    pub known_to: Time,
}

/// A queue with the key of its random numbers.
fn keyed(spec: &QueueSpec, key: (u64, u64)) -> QueueSpec {
    let mut queue = spec.clone();
    if let Discipline::EcnRamp(ramp) = &mut queue.discipline {
        ramp.key = key;
    }
    queue
}

impl Queues {
    /// Queues of `spec` at the port of link `link`, if it is explicit.
    pub(super) fn of(spec: &QueueSpec, settings: &Settings, link: LinkId, seed: u64) -> Option<Box<Queues>> {
        let (mut trim, mut aggregate) = (None, None);
        let (queues, scheduler) = match &spec.discipline {
            Discipline::Classes { scheduler, classes, aggregate: all } => {
                aggregate = (*all != Aggregate::NONE).then_some(*all);
                let keyed =
                    (0u64..).zip(classes).map(|(class, queue)| keyed(queue, (seed, class << 32 | link.0 as u64)));
                (keyed.collect(), Scheduler::new(scheduler, settings))
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
            _ => (vec![keyed(spec, (seed, link.0 as u64))], Scheduler::Strict),
        };
        let class = |(i, queue): (u32, &QueueSpec)| ClassQueue::new(queue, i, settings.rate, link, seed);
        spec.is_explicit().then(|| {
            Box::new(Queues {
                classes: (0..).zip(&queues).map(class).collect(),
                scheduler,
                aggregate,
                trim,
                service: None,
                served: None,
                listed: Time::NEVER,
                end_is_event: false,
                ends_are_events: false,
                frames: VecDeque::new(),
                task: TransmitterTask::Nothing,
                stamps: false,
                frees_early: false,
                pausing: Pausing::default(),
                dropped: Vec::new(),
                freed: None,
                left: Packet::forward(Kind::Data, FlowId(0), NodeId(0), 0, 0, Time::ZERO),
                spare: Vec::new(),
                gone: VecDeque::new(),
                gone_bytes: 0,
                device_bytes: 0,
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

    /// Transmissions that are not finished at `at`. A transmission of a radio `station` lasts until its cell is done
    /// with it, whatever its transmission time on a wire.
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

    /// Packets that the discipline counts, by the account, without the first `below`.
    pub(super) fn counted(&self, device_queue: u32) -> u32 {
        // below several classes there is only the packet in transmission
        let unseen = if self.classes.len() == 1 {
            self.device_places(device_queue)
        } else {
            device_queue.min((!self.gone.is_empty() || self.service.is_some()) as u32)
        };
        (self.filling().0 + self.gone.len() as u32).saturating_sub(unseen)
    }

    /// Slots below the discipline of a port with one queue, by the account. The slot of the packet in transmission does
    /// not count while a pause or a pause frame keeps packets from being sent.
    pub(super) fn device_places(&self, device_queue: u32) -> u32 {
        if self.gone.is_empty() && self.service.is_none() { device_queue.saturating_sub(1) } else { device_queue }
    }

    /// Bytes the discipline counts, by the account.
    pub(super) fn counted_bytes(&self) -> u64 {
        self.filling().1 + self.gone_bytes - self.device_bytes
    }

    /// Marks at departure in the measured interval.
    pub(super) fn marks(&self) -> u64 {
        self.classes.iter().map(|l| l.departing_marks).sum()
    }

    /// Departure time of the first departed packet still in the account, if not after `now`.
    pub(super) fn left_by(&self, now: Time) -> Option<Time> {
        self.gone.front().map(|g| g.left).filter(|left| *left <= now)
    }

    /// Departure time of the first departed packet still in the account; [`Time::NEVER`] without one.
    pub(super) fn left_first(&self) -> Time {
        self.gone.front().map_or(Time::NEVER, |g| g.left)
    }

    /// Remaining transmission time at `at` of all packets, without later arrivals.
    pub(super) fn owed(&self, at: Time) -> Time {
        self.owed_before(at) + self.service.as_ref().map_or(Time::ZERO, |s| s.ends.saturating_sub(s.began.max(at)))
    }

    /// [`Queues::owed`] for the account of busy time, in ps modulo 2^64. A transmission of a radio `station` takes as
    /// long as the cell needs, more or less than on a wire: until it ends, its remainder is the time on a wire minus
    /// the time it took so far.
    pub(super) fn unpaid(&self, at: Time, station: bool) -> Time {
        match &self.service {
            Some(s) if station => {
                let rest = s.ends.0.wrapping_sub(s.began.max(at).0);
                Time(self.owed_before(at).0.wrapping_add(rest))
            }
            _ => self.owed(at),
        }
    }

    /// Start of the current transmission, and its time on a wire.
    pub(super) fn served(&self) -> Option<(Time, Time)> {
        Some((self.service.as_ref()?.began, self.served.as_ref()?.wire))
    }

    /// Remaining transmission time without the current transmission.
    fn owed_before(&self, at: Time) -> Time {
        self.gone.iter().fold(self.work, |sum, g| sum + g.left.saturating_sub(g.began.max(at)))
    }

    /// Packets in the queues that will arrive.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &Packet> {
        let waiting = self.classes.iter().flat_map(|l| &l.queue);
        self.served.iter().chain(waiting).filter(|w| !w.lost).map(|w| &w.packet)
    }

    /// Queue that `packet` joins: the only queue, the header or data queue of a trimming port, or the queue of its
    /// `class`.
    #[inline(always)]
    pub(super) fn queue_of(&self, packet: &Packet, class: impl FnOnce() -> u8) -> usize {
        match &self.trim {
            Some(trim) => trim.queue_of(packet),
            None if self.classes.len() == 1 => 0,
            None => (class() as usize).min(self.classes.len() - 1),
        }
    }

    /// True if there are several queues, chosen by a packet's class.
    pub(super) fn has_classes(&self) -> bool {
        self.classes.len() > 1 && self.trim.is_none()
    }

    /// Packets trimmed in the measured interval, and returned headers.
    pub(super) fn cuts(&self) -> (u64, u64) {
        self.trim.as_ref().map_or((0, 0), Trim::counts)
    }

    /// Size of the packet at position `i` of the account: departed packets, then the one in transmission, then, with a
    /// single queue, the waiting ones.
    fn size_at(&self, i: usize) -> Option<u64> {
        let Some(i) = i.checked_sub(self.gone.len()) else { return self.gone.get(i).map(|g| g.size) };
        let Some(i) = i.checked_sub(self.service.is_some() as usize) else {
            return self.service.as_ref().map(|s| s.size);
        };
        let [queue] = &self.classes[..] else { return None };
        queue.queue.get(i).map(|w| w.size)
    }

    /// Packets and bytes that the discipline of `class` counts, with an up-to-date account.
    #[inline(always)]
    pub(super) fn counted_of(&self, class: usize, device_queue: u32) -> (u32, u64) {
        if self.classes.len() == 1 {
            let (packets, bytes) = self.here_of(class);
            return (packets.saturating_sub(self.device_places(device_queue)), bytes - self.device_bytes);
        }
        if device_queue > 0 { self.classes[class].queued } else { self.here_of(class) }
    }

    /// Decides about `packet`, which arrives at queue `class` at `now`, by the discipline and by its `buffer` in a
    /// shared buffer, if any.
    #[inline(always)]
    pub(super) fn admit(
        &mut self,
        class: usize,
        packet: &Packet,
        now: Time,
        settings: &Settings,
        buffer: Option<&SharedBuffer>,
    ) -> Admission {
        let size = packet.size as u64 + settings.framing as u64;
        let full = buffer.is_some_and(|buffer| !buffer.takes(packet, self.here_of(class).1, size));
        self.admit_unless(full, class, packet, now, settings)
    }

    /// Decides about `packet` as [`Queues::admit`] does, where the shared buffer may be `full`.
    #[inline(always)]
    pub(super) fn admit_unless(
        &mut self,
        full: bool,
        class: usize,
        packet: &Packet,
        now: Time,
        settings: &Settings,
    ) -> Admission {
        let size = packet.size as u64 + settings.framing as u64;
        let (packets, bytes) = self.counted_of(class, settings.device_queue);
        let arrival = Arrival { now, packets: packets as u64, bytes, size, ect: packet.has(flag::ECT) };
        let queue = &mut self.classes[class];
        let verdict = match &self.aggregate {
            Some(_) => self.admit_to_all(class, &arrival, full, settings.device_queue),
            None if full => queue.refuse(),
            None => queue.admit(&arrival),
        };
        Admission { class, size, arrival, verdict, cut: None }
    }

    /// Decides about an arrival by queue `class` or the `full` shared buffer, and by the aggregate limit and threshold.
    #[inline(always)]
    fn admit_to_all(&mut self, class: usize, arrival: &Arrival, full: bool, device_queue: u32) -> Verdict {
        let aggregate = self.aggregate.unwrap_or(Aggregate::NONE);
        let (packets, bytes) = if device_queue > 0 { self.queued } else { self.filling() };
        let all = match self.classes.len() {
            1 => *arrival,
            _ => Arrival { packets: packets as u64, bytes, ..*arrival },
        };
        let queue = &mut self.classes[class];
        match if full || all.exceeds(aggregate.limit) { queue.refuse() } else { queue.admit(arrival) } {
            Verdict::Accept if all.ect && all.finds(aggregate.mark) => Verdict::Mark,
            verdict => verdict,
        }
    }

    /// Appends a waiting packet to queue `class`.
    pub(super) fn push(&mut self, class: usize, waiting: Waiting, device_queue: u32) {
        if self.classes.len() == 1 {
            let places = self.device_places(device_queue);
            let here = self.filling().0;
            if here < places {
                // it passes through the discipline at once
                self.classes[0].empty(waiting.since);
            }
            if here + (self.gone.len() as u32) < places {
                self.device_bytes += waiting.size;
            }
        }
        self.work += waiting.wire;
        self.queued.0 += 1;
        self.queued.1 += waiting.size;
        self.classes[class].push(waiting);
    }

    /// Keeps the extension of a packet that waits.
    #[inline(always)]
    pub(super) fn keep(&mut self, ext: &mut Ext) -> Box<Ext> {
        let mut kept = self.spare.pop().unwrap_or_default();
        *kept = take(ext);
        kept
    }

    /// Returns the extension of a packet that leaves.
    #[inline(always)]
    pub(super) fn give(&mut self, mut kept: Box<Ext>) -> Ext {
        let ext = take(&mut *kept);
        self.spare.push(kept);
        ext
    }

    /// Keeps the memory of an extension that has left.
    #[inline(always)]
    pub(super) fn spare(&mut self, ext: Box<Ext>) {
        self.spare.push(ext);
    }

    /// Removes the packet at position `i` of queue `class`.
    pub(super) fn take_out(&mut self, class: usize, i: usize) -> Option<Waiting> {
        let taken = self.classes[class].take_out(i)?;
        self.work -= taken.wire;
        self.queued.0 -= 1;
        self.queued.1 -= taken.size;
        Some(taken)
    }

    /// Returns whether packets are served by rank.
    pub(super) fn goes_by_rank(&self) -> bool {
        matches!(self.scheduler, Scheduler::LeastRank)
    }

    /// Returns whether an arrival may trim or replace other packets, or packets may wait for tokens.
    pub(super) fn makes_room(&self) -> bool {
        self.trim.is_some() || matches!(self.scheduler, Scheduler::LeastRank | Scheduler::Credits(_))
    }

    /// Decides by the discipline about the packet whose transmission begins at `now`, and marks it if required.
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

    /// Returns whether the packet whose transmission ends at `now` is marked at departure.
    pub(super) fn marks_departure(&mut self, now: Time, measured: bool) -> bool {
        let (Some(service), Some(waiting)) = (&self.service, &self.served) else { return false };
        let departure = waiting.departure(now, self.here_of(service.class));
        self.classes[service.class].marks_departure(&departure, measured)
    }

    /// Ends the current transmission at `now`.
    pub(super) fn end(&mut self, now: Time, device_queue: u32) -> Option<(Service, Waiting)> {
        let (service, waiting) = (self.service.take()?, self.served.take()?);
        let (class, size) = (service.class, service.size);
        let queue = &mut self.classes[class];
        queue.gone.0 += 1;
        queue.gone.1 += size;
        self.gone_bytes += size;
        self.gone.push_back(Gone { began: service.began, left: now, size, class });
        // the last packet of the discipline has left; with one queue it may have moved below it when its transmission
        // began
        if self.classes[class].queued.0 == 0 && (device_queue == 0 || self.classes.len() > 1) {
            self.classes[class].empty(now);
        }
        Some((service, waiting))
    }

    /// Advances the account to `at`: departures until then, and the time that passed. `count` is the port's.
    pub(super) fn advance(&mut self, at: Time, device_queue: u32, count: &mut Counters) {
        while let Some(left) = self.left_by(at) {
            self.spend(left, device_queue, count);
            self.pass(left, device_queue);
            self.forget(device_queue);
        }
        self.spend(at, device_queue, count);
        self.pass(at, device_queue);
    }

    /// Adds the time up to `until`, in which nothing leaves, to the account.
    #[inline]
    fn spend(&mut self, until: Time, device_queue: u32, count: &mut Counters) {
        let span = until - self.known_to;
        if span == Time::ZERO {
            return;
        }
        self.known_to = until;
        count.add_queue(span, self.counted(device_queue), self.counted_bytes());
    }

    /// Removes the first departed packet from the account.
    fn forget(&mut self, device_queue: u32) {
        let Some(gone) = self.gone.pop_front() else { return };
        self.gone_bytes -= gone.size;
        let class = &mut self.classes[gone.class];
        class.gone.0 -= 1;
        class.gone.1 -= gone.size;
        if device_queue > 0 {
            // the first packet of the discipline moves below it, if anything is sent
            if self.classes.len() > 1 || self.device_places(device_queue) == device_queue {
                self.device_bytes += self.size_at(device_queue as usize - 1).unwrap_or(0);
            }
            self.device_bytes -= gone.size;
        }
    }

    /// Class and size of the packet below several classes, if any, by the account.
    fn unseen(&self, device_queue: u32) -> Option<(usize, u64)> {
        let first = self.gone.front().map(|g| (g.class, g.size));
        first.or(self.service.as_ref().map(|s| (s.class, s.size))).filter(|_| device_queue > 0)
    }

    /// Adds the time up to `until`, in which nothing changes, to the accounts of the classes.
    fn pass(&mut self, until: Time, device_queue: u32) {
        if self.classes.len() == 1 {
            return;
        }
        for class in 0..self.classes.len() {
            let seen = self.accounted_of(class, device_queue);
            self.classes[class].pass(until, seen);
        }
    }

    /// Packets and bytes that the discipline of `class`, one of several, counts by the account.
    fn accounted_of(&self, class: usize, device_queue: u32) -> (u32, u64) {
        let (here, gone) = (self.here_of(class), self.classes[class].gone);
        let unseen = self.unseen(device_queue).filter(|first| first.0 == class).map_or((0, 0), |first| (1, first.1));
        (here.0 + gone.0 - unseen.0, here.1 + gone.1 - unseen.1)
    }

    /// Begins a transmission at `now`, if possible. Returns its end.
    pub(super) fn begin(&mut self, now: Time, device_queue: u32) -> Option<Time> {
        let Queues { classes, scheduler, .. } = self;
        let class = scheduler.next(classes, now)?;
        let Some(queue) = classes.get_mut(class) else { return self.await_tokens() };
        let waiting = queue.queue.pop_front()?;
        queue.leave(waiting.size);
        self.work -= waiting.wire;
        self.queued.0 -= 1;
        self.queued.1 -= waiting.size;
        if self.classes.len() > 1 && device_queue > 0 && self.gone.is_empty() {
            self.device_bytes = waiting.size;
        }
        let ends = now + waiting.wire;
        self.service = Some(Service { size: waiting.size, class, began: now, ends, arrives: None });
        self.served = Some(waiting);
        if self.classes.len() == 1 && device_queue > 0 && self.gone.is_empty() {
            // one more slot is below the discipline than while nothing was sent
            self.device_bytes += self.size_at(device_queue as usize - 1).unwrap_or(0);
        }
        // with one queue, the packet that moves below the discipline is not the one put on the wire
        let unseen = if self.classes.len() == 1 { device_queue } else { 1 };
        if device_queue > 0 && self.classes[class].queued.0 + 1 == unseen {
            self.classes[class].empty(now);
        }
        Some(ends)
    }

    /// Releases memory after a burst.
    pub(super) fn shrink(&mut self) {
        self.spare = Vec::new();
        for class in &mut self.classes {
            if class.queue.capacity() > 64 && class.queue.len() * 4 < class.queue.capacity() {
                class.queue.shrink_to(class.queue.len() * 2);
            }
        }
    }

    /// Takes a snapshot at the start (`begins`) or end of the measured interval.
    pub(super) fn snapshot(&mut self, begins: bool, device_queue: u32) {
        for i in 0..self.classes.len() {
            let seen = self.accounted_of(i, device_queue);
            let class = &mut self.classes[i];
            // the maximum queue is taken within the interval only
            if begins {
                (class.count.max_packets, class.count.max_bytes) = seen;
            }
            let at = if begins { &mut class.at_from } else { &mut class.at_to };
            *at = Some(class.count);
        }
    }

    /// True if nothing is being transmitted.
    pub(super) fn is_idle(&self) -> bool {
        self.service.is_none() && !self.task.is_frame()
    }

    /// True if the port is empty and an arrival at queue `i` may be sent at once.
    pub(super) fn lets_pass(&self, i: usize, now: Time) -> bool {
        self.filling().0 == 0 && !self.task.is_frame() && !self.classes[i].pausing.holds(now)
    }

    /// Packet on this account of a shared buffer, if any.
    pub(super) fn packet_on(&self, account: u32) -> Option<&Packet> {
        let waiting = self.classes.iter().flat_map(|l| &l.queue);
        let all = self.served.iter().chain(waiting);
        { all }.find(|w| w.account == Some(account)).map(|w| &w.packet)
    }

    /// Bytes and number of the packets of a PFC account.
    pub(super) fn held_on(&self, account: u32) -> (u64, u64) {
        let waiting = self.classes.iter().flat_map(|l| &l.queue);
        let own = self.served.iter().chain(waiting).filter(|w| w.account == Some(account));
        own.fold((0, 0), |(bytes, packets), w| (bytes + u64::from(w.packet.size), packets + 1))
    }

    /// PFC account of the packet in transmission, if any.
    pub(super) fn account_in_service(&self) -> Option<u32> {
        self.served.as_ref()?.account
    }

    /// Accounts of the classes over an interval of `span` ps in a run that ends at `end`; empty for a single queue.
    pub(super) fn records(&self, span: f64, end: Time, interval: &Interval) -> Vec<ClassRecord> {
        if self.classes.len() == 1 {
            return Vec::new();
        }
        self.classes.iter().map(|l| l.record(span, end, interval)).collect()
    }
}
