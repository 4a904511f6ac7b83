//! Explicit queues: packets wait in the port itself and leave by a Departure event.
//!
//! A FIFO port settles everything at a packet's arrival. What is known only later needs the
//! packet to be still there when its turn comes: marking at the end of its transmission, or
//! classes that overtake one another. Here packets lie in real queues, one for each class
//! ([`lane`]), a scheduler says whose turn it is, one event a packet ends its transmission, and
//! only then is its arrival at the far end known, so the lookahead of such a link is its delay
//! alone. The account is the same as a FIFO port's: wherever both can serve, they give the same
//! bytes, which tests hold them to.

use super::buffer::{Pool, Room};
use super::class_queue::{Lane, Pausing, Waiting};
use super::scheduler::Scheduler;
use super::{Port, unusual};
use crate::event::hash;
use crate::event::interval::Interval;
use crate::event::packet::{Ext, Packet, flag};
use crate::port::discipline::{Arrival, Verdict};
use crate::spec::{Discipline, QueueSpec};
use incast_cc::Rate;
use incast_record::ClassRecord;
use std::collections::VecDeque;
use std::mem::take;

/// What an explicit queue did with an arriving packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Offered {
    /// Refused.
    Dropped,
    /// It waits here.
    Waits {
        /// The transmitter was idle: its transmission ends then, ps.
        ends: Option<u64>,
        /// The queue set CE.
        marked: bool,
        /// The wire will lose it.
        lost: bool,
    },
    /// Transmitted in no time.
    Passed {
        /// The queue set CE.
        marked: bool,
        /// The wire lost it.
        lost: bool,
        /// When it arrives, ps.
        arrives: u64,
    },
}

/// The end of a transmission.
#[derive(Clone, Debug)]
pub struct Departed {
    /// The packet that left, CE set where the queue marked it.
    pub packet: Packet,
    /// Its extension.
    pub ext: Option<Ext>,
    /// It is lost on the wire.
    pub lost: bool,
    /// It was marked as it left.
    pub marked: bool,
    /// When it arrives, ps; `None`: a failure of the link has it.
    pub arrives: Option<u64>,
    /// When the next transmission, which begins now, ends, ps.
    pub next: Option<u64>,
    /// Account of a shared buffer that it leaves, where that is not its queue's.
    pub account: Option<u32>,
}

/// A packet that waited and was cut to its header.
#[derive(Clone, Debug)]
pub struct Cut {
    /// As it is now.
    pub packet: Packet,
    /// There was no room for it among the headers, and the wire would not have lost it.
    pub dropped: bool,
}

#[derive(Clone, Debug)]
struct Trim {
    header: u16,
    /// Packets cut inside the measured interval, and draws.
    cuts: u64,
    draws: u64,
    latest: Option<Cut>,
}

/// A packet that left while the account does not know it yet.
#[derive(Clone, Copy, Debug)]
struct Gone {
    began: u64,
    left: u64,
    size: u64,
    lane: usize,
}

/// The packet being transmitted.
#[derive(Clone, Debug)]
struct Service {
    waiting: Waiting,
    lane: usize,
    began: u64,
    ends: u64,
    /// When it arrives, ps, where that is not the link's delay after its end; `None`: a failure of the link has it.
    arrives: Option<u64>,
}

/// The queues. Packets that left stay in the account until it next moves, as in the ring of a FIFO port.
#[derive(Clone, Debug)]
pub(super) struct Explicit {
    pub(super) lanes: Vec<Lane>,
    scheduler: Scheduler,
    trim: Option<Trim>,
    service: Option<Service>,
    /// Pause frames that wait for the transmitter, and the one that it has, since when, ps.
    pub(super) frames: VecDeque<Packet>,
    pub(super) frame: Option<(Packet, u64)>,
    /// Some class is paused.
    pub(super) pausing: Pausing,
    gone: VecDeque<Gone>,
    /// Packets and bytes in the account, and of those the bytes below the discipline, which are of the first.
    packets: u32,
    bytes: u64,
    bytes_below: u64,
    /// Packets and bytes that have not left.
    here: (u32, u64),
    /// Time on the wire of what waits, ps.
    work: u64,
    /// The account covers the time up to here, ps.
    known_to: u64,
}

impl Explicit {
    /// The queues that `spec` asks for at the port of link `link`, if it asks for any.
    pub(super) fn of(spec: &QueueSpec, rate: Rate, link: u32, seed: u64) -> Option<Box<Explicit>> {
        let mut trim = None;
        let (queues, scheduler) = match &spec.discipline {
            Discipline::Classes { scheduler, classes } => (classes.clone(), Scheduler::new(scheduler)),
            Discipline::Trimming(t) => {
                trim = Some(Trim { header: t.header, cuts: 0, draws: 0, latest: None });
                let queue = |limit| QueueSpec { discipline: Discipline::DropTail, limit, ..spec.clone() };
                let per_data = t.headers_per_data;
                (vec![queue(t.header_limit), queue(spec.limit)], Scheduler::Headers { per_data, served: 0 })
            }
            _ => (vec![spec.clone()], Scheduler::Strict),
        };
        let lane = |(i, queue): (u32, &QueueSpec)| Lane::new(queue, i, rate, link, seed);
        spec.is_explicit().then(|| {
            Box::new(Explicit {
                lanes: (0..).zip(&queues).map(lane).collect(),
                scheduler,
                trim,
                service: None,
                frames: VecDeque::new(),
                frame: None,
                pausing: Pausing::default(),
                gone: VecDeque::new(),
                packets: 0,
                bytes: 0,
                bytes_below: 0,
                here: (0, 0),
                work: 0,
                known_to: 0,
            })
        })
    }

    /// Packets and bytes that have not left.
    pub(super) fn filling(&self) -> (u32, u64) {
        self.here
    }

    /// Packets that the discipline counts, by the account, where it does not see the first `below`.
    pub(super) fn counted(&self, below: u32) -> u32 {
        // what is below several classes is the packet in transmission
        let unseen =
            if self.lanes.len() == 1 { self.places_below(below) } else { below.min(self.size_at(0).is_some() as u32) };
        self.packets.saturating_sub(unseen)
    }

    /// Places below the discipline of a port with one queue, by the account: that of the packet in transmission is none
    /// while a pause, or a pause frame, keeps what is here from being sent.
    fn places_below(&self, below: u32) -> u32 {
        if self.gone.is_empty() && self.service.is_none() { below.saturating_sub(1) } else { below }
    }

    /// Bytes the discipline counts, by the account.
    pub(super) fn counted_bytes(&self) -> u64 {
        self.bytes - self.bytes_below
    }

    /// Marks at departures inside the measured interval.
    pub(super) fn marks(&self) -> u64 {
        self.lanes.iter().map(|l| l.departing_marks).sum()
    }

    /// When the first packet left that the account still has, if that is by `now`.
    pub(super) fn left_by(&self, now: u64) -> Option<u64> {
        self.gone.front().map(|g| g.left).filter(|left| *left <= now)
    }

    /// Transmitting time owed at `at` to what is here, nothing having come since.
    pub(super) fn owed(&self, at: u64) -> u64 {
        let rest = |began: u64, ends: u64| ends.saturating_sub(began.max(at));
        let gone: u64 = self.gone.iter().map(|g| rest(g.began, g.left)).sum();
        gone + self.service.as_ref().map_or(0, |s| rest(s.began, s.ends)) + self.work
    }

    /// Packets that wait and will arrive.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &Packet> {
        let waiting = self.lanes.iter().flat_map(|l| &l.queue);
        self.service.iter().map(|s| &s.waiting).chain(waiting).filter(|w| !w.lost).map(|w| &w.packet)
    }

    /// The queue that `packet` of `class` joins: a port with one queue has it for all, one that trims has one for
    /// headers and one for data.
    fn lane_of(&self, packet: &Packet, class: u8) -> usize {
        match &self.trim {
            Some(trim) => (packet.len > trim.header && !packet.is_trimmed()) as usize,
            None => (class as usize).min(self.lanes.len() - 1),
        }
    }

    /// There are several queues, and a packet's class says which is its own.
    pub(super) fn has_classes(&self) -> bool {
        self.lanes.len() > 1 && self.trim.is_none()
    }

    /// Packets cut inside the measured interval.
    pub(super) fn cuts(&self) -> u64 {
        self.trim.as_ref().map_or(0, |t| t.cuts)
    }

    /// Size of the packet at place `i` of the account, those first that left and the one in transmission; what
    /// comes after it is known where there is one queue.
    fn size_at(&self, i: usize) -> Option<u64> {
        let service = self.service.iter().map(|s| s.waiting.size);
        let rest = self.lanes.iter().take(if self.lanes.len() == 1 { 1 } else { 0 });
        let rest = rest.flat_map(|l| l.queue.iter().map(|w| w.size));
        self.gone.iter().map(|g| g.size).chain(service).chain(rest).nth(i)
    }

    /// Packets and bytes that the discipline of `lane` counts, the account being up to date.
    fn counted_of(&self, lane: usize, below: u32) -> (u32, u64) {
        let (packets, bytes) = self.lanes[lane].here;
        if self.lanes.len() == 1 {
            return (packets.saturating_sub(self.places_below(below)), bytes - self.bytes_below);
        }
        match &self.service {
            Some(s) if s.lane == lane && below > 0 => (packets - 1, bytes - s.waiting.size),
            _ => (packets, bytes),
        }
    }

    /// Takes the first packet, which left, out of the account.
    fn forget(&mut self, below: u32) {
        let Some(gone) = self.gone.pop_front() else { return };
        self.packets -= 1;
        self.bytes -= gone.size;
        let lane = &mut self.lanes[gone.lane];
        lane.accounted.0 -= 1;
        lane.accounted.1 -= gone.size;
        if below > 0 {
            // the first that the discipline holds moves below it, if anything is sent
            if self.lanes.len() > 1 || self.places_below(below) == below {
                self.bytes_below += self.size_at(below as usize - 1).unwrap_or(0);
            }
            self.bytes_below -= gone.size;
        }
    }

    /// The packet of the account that is below several classes, if one is: its class, and its size.
    fn unseen(&self, below: u32) -> Option<(usize, u64)> {
        let first = self.gone.front().map(|g| (g.lane, g.size));
        first.or(self.service.as_ref().map(|s| (s.lane, s.waiting.size))).filter(|_| below > 0)
    }

    /// Adds `span` ps to the account, in which nothing changed.
    fn pass(&mut self, span: u64, below: u32) {
        if self.lanes.len() == 1 {
            return;
        }
        let first = self.unseen(below);
        for (i, lane) in self.lanes.iter_mut().enumerate().filter(|(_, lane)| lane.accounted.0 > 0) {
            let unseen = first.filter(|f| f.0 == i).map_or((0, 0), |f| (1, f.1));
            lane.pass(span, unseen);
        }
    }

    /// Begins a transmission at `now`, if something may go; when it ends.
    fn begin(&mut self, now: u64, below: u32) -> Option<u64> {
        let Explicit { lanes, scheduler, .. } = self;
        let head = |i: usize| lanes[i].queue.front().filter(|_| !lanes[i].pausing.holds(now)).map(|w| w.size);
        let lane = scheduler.next(lanes.len(), head)?;
        let waiting = lanes[lane].queue.pop_front()?;
        self.work -= waiting.wire;
        if self.lanes.len() > 1 && below > 0 && self.gone.is_empty() {
            self.bytes_below = waiting.size;
        }
        let ends = now + waiting.wire;
        self.service = Some(Service { waiting, lane, began: now, ends, arrives: None });
        if self.lanes.len() == 1 && below > 0 && self.gone.is_empty() {
            // there is a place more below the discipline than while nothing was sent
            self.bytes_below += self.size_at(below as usize - 1).unwrap_or(0);
        }
        // with one queue, what moves below the discipline is not what goes onto the wire
        let unseen = if self.lanes.len() == 1 { below } else { 1 };
        if below > 0 && self.lanes[lane].here.0 == unseen {
            self.lanes[lane].empty_since = now;
        }
        Some(ends)
    }

    /// Gives back memory after a burst.
    pub(super) fn shrink(&mut self) {
        for lane in &mut self.lanes {
            if lane.queue.capacity() > 64 && lane.queue.len() * 4 < lane.queue.capacity() {
                lane.queue.shrink_to(lane.queue.len() * 2);
            }
        }
    }

    /// The measured interval begins, or ends.
    pub(super) fn snapshot(&mut self, begins: bool, below: u32) {
        let first = self.unseen(below);
        for (i, lane) in self.lanes.iter_mut().enumerate() {
            // the greatest queue is one of the interval's own
            if begins {
                let unseen = first.filter(|f| f.0 == i).map_or((0, 0), |f| (1, f.1));
                lane.count.max_packets = lane.accounted.0 - unseen.0;
                lane.count.max_bytes = lane.accounted.1 - unseen.1;
            }
            let at = if begins { &mut lane.at_from } else { &mut lane.at_to };
            *at = Some(lane.count);
        }
    }

    /// Nothing is being transmitted.
    pub(super) fn is_idle(&self) -> bool {
        self.service.is_none() && self.frame.is_none()
    }

    /// Nothing is here, and what comes to queue `i` may go at once.
    fn lets_pass(&self, i: usize, now: u64) -> bool {
        self.here.0 == 0 && self.frame.is_none() && !self.lanes[i].pausing.holds(now)
    }

    /// A packet here that is on this account of a shared buffer, if one is.
    pub(super) fn packet_on(&self, account: u32) -> Option<&Packet> {
        let waiting = self.lanes.iter().flat_map(|l| &l.queue);
        let all = self.service.iter().map(|s| &s.waiting).chain(waiting);
        { all }.find(|w| w.account == Some(account)).map(|w| &w.packet)
    }

    /// The packet in transmission is of this account of a shared buffer, if of one.
    pub(super) fn account_in_service(&self) -> Option<u32> {
        self.service.as_ref()?.waiting.account
    }

    /// The accounts of the classes over an interval of `span` ps in a run that ends at `end`; none where there is one
    /// queue for all.
    pub(super) fn records(&self, span: f64, end: u64, interval: &Interval) -> Vec<ClassRecord> {
        if self.lanes.len() == 1 {
            return Vec::new();
        }
        self.lanes.iter().map(|l| l.record(span, end, interval)).collect()
    }
}

impl Port {
    /// Brings the account up to `at`: what left by then, and the time that passed.
    pub(super) fn settle(&mut self, at: u64) {
        let below = self.class.below;
        loop {
            let Some(explicit) = &mut self.rare.explicit else { return };
            let packets = explicit.counted(below) as u64;
            let left = explicit.left_by(at);
            let until = left.unwrap_or(at);
            let span = until - explicit.known_to;
            explicit.known_to = until;
            self.count.packet_time += packets * span;
            self.count.byte_time += explicit.counted_bytes() as u128 * span as u128;
            explicit.pass(span, below);
            if left.is_none() {
                return;
            }
            explicit.forget(below);
        }
    }

    /// Offers `packet`, of traffic class `class`, to the explicit queues at `now`, where it needs `room` in a shared
    /// buffer if they are in one. Where `ends` says so, the caller calls [`Port::depart`] then.
    pub fn offer(
        &mut self,
        now: u64,
        packet: &Packet,
        ext: Option<&mut Ext>,
        class: u8,
        room: Option<Room>,
        interval: &Interval,
    ) -> Offered {
        if now >= self.next_look {
            self.look(now, interval);
        }
        self.settle(now);
        let (size, below) = (packet.size as u64 + self.class.framing as u64, self.class.below);
        let Some(explicit) = &mut self.rare.explicit else { return Offered::Dropped };
        let mut i = explicit.lane_of(packet, class);
        let (packets, bytes) = explicit.counted_of(i, below);
        let arrival = Arrival { now, packets: packets as u64, bytes, size, ect: packet.has(flag::ECT) };
        let lane = &mut explicit.lanes[i];
        let full = room.as_ref().is_some_and(|room| !room.takes(packet, lane.here.1, size));
        let mut verdict = if full { Verdict::Drop } else { lane.admit(&arrival) };
        let mut room = room;
        let (mut packet, mut size, mut arrival) = (*packet, size, arrival);
        if verdict == Verdict::Drop && i == 1 && explicit.trim.is_some() {
            let drawn = self.cuts_newest(&arrival, room.as_mut().map(|room| &mut *room.pool), interval);
            let Some(explicit) = &mut self.rare.explicit else { return Offered::Dropped };
            if drawn {
                verdict = Verdict::Accept;
            } else {
                // the arrival is cut
                packet.size = explicit.trim.as_ref().map_or(packet.size, |t| t.header);
                (i, size) = (0, packet.size as u64 + self.class.framing as u64);
                let (packets, bytes) = explicit.counted_of(0, below);
                arrival = Arrival { packets: packets as u64, bytes, size, ..arrival };
                let full = room.as_ref().is_some_and(|room| !room.takes(&packet, explicit.lanes[0].here.1, size));
                verdict = if full { Verdict::Drop } else { explicit.lanes[0].admit(&arrival) };
            }
        }
        let packet = &packet;
        let Some(explicit) = &mut self.rare.explicit else { return Offered::Dropped };
        let lane = &mut explicit.lanes[i];
        if verdict == Verdict::Drop {
            self.rare.events.drops += 1;
            self.count.marks += lane.drop(&arrival) as u32;
            return Offered::Dropped;
        }
        let mut marked = verdict == Verdict::Mark;
        self.count.marks += marked as u32;
        lane.accept(size, marked);
        let wire = match explicit.here.0 == 0 && self.unusual & unusual::FAILS != 0 {
            true => self.wire_from(now, size),
            false => self.class.serialization(size),
        };
        if self.class.ps_per_byte == 0 {
            self.rare.events.odd_busy += wire;
        }
        self.bytes_in += size;
        self.count.packets += 1;
        let mut lost = self.class.lossy && self.loses_latest(size);
        let index = self.count.packets - 1;
        let mut arrives = now + self.class.delay;
        if wire == 0 && self.fails() && !lost && self.rare.explicit.as_ref().is_some_and(|q| q.lets_pass(i, now)) {
            match self.arrival_of(now, now, index) {
                Some(time) => arrives = time,
                None => lost = self.loses_to_failure(now, interval),
            }
        }
        let Some(explicit) = &mut self.rare.explicit else { return Offered::Dropped };
        let counted = explicit.counted(below);
        let passes = wire == 0 && explicit.lets_pass(i, now);
        let lane = &mut explicit.lanes[i];
        if passes {
            marked |= lane.marks_departure(packet, (1, size), interval.holds(now));
            lane.empty_since = now;
            return Offered::Passed { marked, lost, arrives };
        }
        let packet = Packet { flags: packet.flags | if marked { flag::CE } else { 0 }, ..*packet };
        let account = room.as_ref().and_then(|room| room.account);
        if let Some(room) = &mut room {
            room.take(&packet, lane.here.1, size);
        }
        lane.push(Waiting { packet, ext: ext.map(take), size, wire, lost, index, account });
        let places = explicit.places_below(below);
        if explicit.lanes.len() == 1 && explicit.here.0 < places {
            // it passes straight through the discipline
            explicit.lanes[i].empty_since = now;
        }
        explicit.work += wire;
        explicit.here.0 += 1;
        explicit.here.1 += size;
        if explicit.lanes.len() == 1 && explicit.packets < places {
            explicit.bytes_below += size;
        }
        explicit.packets += 1;
        explicit.bytes += size;
        let ends = if explicit.is_idle() { self.begin(now) } else { None };
        let Some(explicit) = &mut self.rare.explicit else { return Offered::Dropped };
        let after = explicit.counted(below);
        if after > counted {
            self.count.max_packets = self.count.max_packets.max(after);
            self.count.max_bytes = self.count.max_bytes.max(explicit.counted_bytes());
        }
        let (packets, bytes) = explicit.counted_of(i, below);
        explicit.lanes[i].holds(packets, bytes);
        Offered::Waits { ends, marked, lost }
    }

    /// The queue of data has no room for an arrival: whether what came last to it is cut to its header instead of the
    /// arrival, by a draw, where that makes room.
    fn cuts_newest(&mut self, arrival: &Arrival, pool: Option<&mut Pool>, interval: &Interval) -> bool {
        let (seed, framing, below) = (self.rare.seed, self.class.framing as u64, self.class.below);
        let Some(explicit) = &mut self.rare.explicit else { return false };
        let Some(trim) = &mut explicit.trim else { return false };
        trim.draws += 1;
        trim.cuts += interval.holds(arrival.now) as u64;
        trim.latest = None;
        let header = trim.header;
        if hash::uniform(seed, hash::purpose::TRIM, self.link as u64, trim.draws) >= 0.5 {
            return false;
        }
        let lane = &mut explicit.lanes[1];
        let Some(newest) = lane.queue.back() else { return false };
        let without = Arrival { packets: arrival.packets - 1, bytes: arrival.bytes - newest.size, ..*arrival };
        let room = pool.as_deref().is_none_or(|pool| {
            let mut pool = pool.clone();
            pool.give_back(lane.here.1 - newest.size, newest.size);
            pool.takes(lane.here.1 - newest.size, arrival.size)
        });
        if !room || lane.admit(&without) == Verdict::Drop {
            return false;
        }
        let Some(mut cut) = lane.pop_newest() else { return false };
        let mut pool = pool;
        if let Some(pool) = pool.as_deref_mut() {
            pool.give_back(lane.here.1, cut.size);
        }
        explicit.work -= cut.wire;
        explicit.here = (explicit.here.0 - 1, explicit.here.1 - cut.size);
        explicit.packets -= 1;
        explicit.bytes -= cut.size;
        let events = &mut self.rare.events;
        events.odd_busy = events.odd_busy.wrapping_sub(if self.class.ps_per_byte == 0 { cut.wire } else { 0 });
        events.cut_bytes += cut.size;
        cut.packet.size = header;
        cut.size = header as u64 + framing;
        cut.wire = self.class.serialization(cut.size);
        let (packets, bytes) = explicit.counted_of(0, below);
        let header = Arrival { packets: packets as u64, bytes, size: cut.size, ..*arrival };
        let held = explicit.lanes[0].here.1;
        let full = pool.as_deref().is_some_and(|pool| !pool.takes(held, cut.size));
        let lane = &mut explicit.lanes[0];
        let packet = cut.packet;
        let dropped = full || lane.admit(&header) == Verdict::Drop;
        let latest = Some(Cut { packet, dropped: dropped && !cut.lost });
        if dropped {
            lane.drop(&header);
            events.drops += 1;
            events.cut_bytes += self.class.overhead as u64;
        } else {
            // it counts where it came to
            if let Some(pool) = pool {
                pool.take(held, cut.size);
            }
            events.cut_bytes -= cut.size;
            events.odd_busy = events.odd_busy.wrapping_add(if self.class.ps_per_byte == 0 { cut.wire } else { 0 });
            explicit.work += cut.wire;
            explicit.here = (explicit.here.0 + 1, explicit.here.1 + cut.size);
            explicit.packets += 1;
            explicit.bytes += cut.size;
            lane.push(cut);
            let (packets, bytes) = explicit.counted_of(0, below);
            explicit.lanes[0].holds(packets, bytes);
        }
        if let Some(trim) = &mut explicit.trim {
            trim.latest = latest;
        }
        true
    }

    /// What the latest arrival had cut of what waited, if it had.
    pub fn take_cut(&mut self) -> Option<Cut> {
        self.rare.explicit.as_mut()?.trim.as_mut()?.latest.take()
    }

    /// Ends the transmission under way at `now`; `None` if there is none.
    pub fn depart(&mut self, now: u64, pool: Option<&mut Pool>, interval: &Interval) -> Option<Departed> {
        let below = self.class.below;
        let explicit = self.rare.explicit.as_mut()?;
        if let Some((frame, began)) = explicit.frame.take() {
            return Some(self.depart_frame(frame, began, now, interval));
        }
        let Service { waiting, lane: i, began, arrives, .. } = explicit.service.take()?;
        let Waiting { mut packet, ext, size, lost, account, .. } = waiting;
        let lane = &mut explicit.lanes[i];
        let marked = lane.marks_departure(&packet, lane.here, interval.holds(now));
        packet.flags |= if marked { flag::CE } else { 0 };
        lane.here.0 -= 1;
        lane.here.1 -= size;
        match (pool, account) {
            (Some(pool), Some(account)) => pool.leave(account, &packet),
            (Some(pool), None) => pool.give_back(lane.here.1, size),
            (None, _) => {}
        }
        explicit.here.0 -= 1;
        explicit.here.1 -= size;
        explicit.gone.push_back(Gone { began, left: now, size, lane: i });
        // the last that the discipline held has left; with one queue it may be below it, and moved there as it began
        if explicit.lanes[i].here.0 == 0 && (below == 0 || explicit.lanes.len() > 1) {
            explicit.lanes[i].empty_since = now;
        }
        let arrives = if self.fails() { arrives } else { Some(now + self.class.delay) };
        if arrives.is_none() && !lost {
            self.loses_to_failure(now, interval);
        }
        let next = self.begin(now);
        Some(Departed { packet, ext, lost, marked, arrives, next, account })
    }

    /// Begins a transmission at `now`, if something may go; when it ends.
    pub(super) fn begin(&mut self, now: u64) -> Option<u64> {
        let below = self.class.below;
        let explicit = self.rare.explicit.as_mut()?;
        if let Some(frame) = explicit.frames.pop_front() {
            explicit.frame = Some((frame, now));
            return Some(now + self.frame_wire(now));
        }
        let ends = explicit.begin(now, below)?;
        if self.fails() { self.begin_failing(now) } else { Some(ends) }
    }

    /// What failures of the link make of the transmission that begins `now`: when it ends.
    #[cold]
    fn begin_failing(&mut self, now: u64) -> Option<u64> {
        let Waiting { size, wire, index, lost, .. } = self.rare.explicit.as_ref()?.service.as_ref()?.waiting;
        let takes = self.wire_from(now, size);
        // what the wire loses holds nothing back that follows
        let arrives = if lost { None } else { self.arrival_of(now, now + takes, index) };
        if self.class.ps_per_byte == 0 {
            self.rare.events.odd_busy = self.rare.events.odd_busy + takes - wire;
        }
        let service = self.rare.explicit.as_mut()?.service.as_mut()?;
        (service.ends, service.arrives) = (now + takes, arrives);
        Some(now + takes)
    }
}
