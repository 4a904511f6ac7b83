//! The egress side of a link: queue and transmitter.
//!
//! A FIFO port at a constant rate decides everything at enqueue: the ring of departure times
//! tells what is still queued *now*, so drop, mark, departure and arrival at the far end follow
//! in one step, exactly, without a "transmission finished" event. Departures at the instant of
//! an arrival have left. The port keeps its own account: utilisation, drops, marks, time-mean
//! queue (the sum of times in the queue over the interval, which is the time integral of its
//! length), and the queue length sampled at a stated interval. What needs a packet to be there
//! later is the work of [`explicit`] queues.

pub mod buffer;
mod class_queue;
pub mod discipline;
pub mod explicit;
pub mod faults;
pub mod overflow;
pub mod pause;
mod scheduler;

use crate::event::hash;
use crate::event::interval::Interval;
use crate::event::packet::{Ext, Packet, PortStamp, flag, turn};
use crate::port::discipline::{Arrival, RedState, Rule, Verdict, decide};
use crate::port::overflow::{FarQueue, Pool};
use crate::spec::{LinkSpec, Loss, QueueSpec, Ties};
use explicit::Explicit;
use faults::Faults;
use incast_cc::Rate;
use incast_record::PortRecord;
use std::sync::Arc;

/// What a port did with a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sent {
    /// On its way.
    Arrives {
        /// At the far end, ps.
        time: u64,
        /// The queue set CE.
        marked: bool,
    },
    /// Transmitted, and lost on the wire or to a failure.
    Lost {
        /// When that is known, ps: now, or at the end of its transmission.
        at: u64,
    },
    /// Refused by the queue.
    Dropped,
}

#[derive(Clone, Copy, Default, Debug)]
struct Slot {
    departure: u64,
    /// Bytes accepted up to and including this packet.
    bytes_to: u64,
}

/// Departure times of what is queued, oldest first; capacity a power of two.
#[derive(Clone, Default, Debug)]
struct Ring {
    slots: Box<[Slot]>,
    head: u32,
    len: u32,
}

impl Ring {
    #[inline]
    fn at(&self, i: u32) -> &Slot {
        let mask = self.slots.len() - 1;
        &self.slots[(self.head.wrapping_add(i)) as usize & mask]
    }
    #[inline]
    fn push(&mut self, slot: Slot) {
        if self.len as usize == self.slots.len() {
            self.grow();
        }
        let mask = self.slots.len() - 1;
        let at = (self.head.wrapping_add(self.len)) as usize & mask;
        self.slots[at] = slot;
        self.len += 1;
    }
    #[cold]
    fn grow(&mut self) {
        self.resize((self.slots.len() * 2).max(8));
    }

    /// A ring walks through all of its slots whatever it holds: after a burst it is made small
    /// again, or every step would touch memory that has gone far.
    fn shrink(&mut self) {
        if self.slots.len() > 64 && self.len as usize * 4 < self.slots.len() {
            self.resize((self.len as usize * 2).next_power_of_two().max(8));
        }
    }

    fn resize(&mut self, capacity: usize) {
        let held = (0..self.len).map(|i| *self.at(i));
        let slots: Vec<Slot> = held.chain(std::iter::repeat(Slot::default())).take(capacity).collect();
        self.slots = slots.into_boxed_slice();
        self.head = 0;
    }
}

/// What ports of one kind have in common; they share one copy, which stays near.
#[derive(Clone, PartialEq, Debug)]
pub struct Class {
    /// Picoseconds a byte where that is an integer, else 0 and `rate` decides.
    ps_per_byte: u64,
    delay: u64,
    /// Time that a full token bucket is worth, ps; 0 for a transmitter.
    bucket: u64,
    /// Overhead that the queue counts.
    framing: u32,
    /// Overhead that it does not count.
    overhead: u32,
    /// Packets below the discipline: in service, and the device queue. None
    /// below a token bucket.
    below: u32,
    rule: Rule,
    lossy: bool,
    /// [`Ties::Scheduled`].
    scheduled: bool,
    rate: Rate,
    loss: Loss,
}

impl Class {
    /// The class of a link with this queue.
    pub fn new(link: &LinkSpec, queue: &QueueSpec, ties: Ties) -> Class {
        let rate = link.rate;
        let exact = rate != Rate::INFINITE && 8_000_000_000_000 % rate.0 == 0;
        Class {
            ps_per_byte: if exact { 8_000_000_000_000 / rate.0 } else { 0 },
            delay: link.delay.0,
            bucket: rate.serialize(link.bucket as u64).0,
            framing: if queue.count_overhead { link.overhead } else { 0 },
            overhead: if queue.count_overhead { 0 } else { link.overhead },
            below: match link.bucket {
                0 => queue.device + u32::from(queue.device > 0 || !queue.count_in_service),
                _ => 0,
            },
            rule: Rule::new(queue),
            lossy: link.loss != Loss::None,
            scheduled: ties == Ties::Scheduled,
            rate,
            loss: link.loss.clone(),
        }
    }

    /// Time on the wire of a packet of `size` bytes as the queue counts it, ps.
    #[inline]
    fn serialization(&self, size: u64) -> u64 {
        let bytes = size + self.overhead as u64;
        if self.ps_per_byte != 0 { bytes * self.ps_per_byte } else { self.odd_serialization(bytes) }
    }

    /// At a rate that gives no whole number of picoseconds a byte: to the nearest picosecond for
    /// each packet.
    fn odd_serialization(&self, bytes: u64) -> u64 {
        if self.rate == Rate::INFINITE { 0 } else { (bytes * 8_000_000_000_000 + self.rate.0 / 2) / self.rate.0 }
    }

    /// Whether link number `link` loses its packet number `index`, of `bytes` on the wire.
    fn loses(&self, seed: u64, link: u32, index: u64, bytes: u64) -> bool {
        let draw = || hash::uniform(seed, hash::purpose::LOSS, link as u64, index);
        match &self.loss {
            Loss::None => false,
            Loss::Packet(p) => draw() < *p,
            Loss::Byte(p) => draw() >= libm::pow(1.0 - p, bytes as f64),
            Loss::List(list) => list.binary_search(&index).is_ok(),
        }
    }
}

/// What is counted for every packet, from the start of the run.
#[derive(Clone, Copy, Default, Debug)]
struct Counters {
    packets: u64,
    /// Sum of times in the queue of what was accepted so far, ps.
    packet_time: u64,
    /// The same weighted by size, byte ps.
    byte_time: u128,
    max_bytes: u64,
    max_packets: u32,
    marks: u32,
}

/// What is counted when it happens.
#[derive(Clone, Copy, Default, Debug)]
struct Events {
    drops: u64,
    losses: u64,
    /// Time on the wire at rates without a whole number of picoseconds a byte.
    odd_busy: u64,
    /// Bytes on the wire that were accepted and then cut off.
    cut_bytes: u64,
}

/// Packets that failures of the link took, each counted at the end of its transmission: a FIFO port knows of it at the
/// arrival, an explicit queue when it ends.
#[derive(Clone, Copy, Default, Debug)]
struct Taken {
    total: u64,
    /// Inside the measured interval.
    measured: u64,
}

/// One egress port. What every packet touches comes first, in two cache lines; the rest lies in
/// [`Rare`].
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Port {
    /// When the transmitter has sent everything accepted, or the token bucket is full again.
    free_at: u64,
    /// The next instant at which the port has to look after its account: a queue sample, or
    /// an end of the measured interval.
    next_look: u64,
    ring: Ring,
    /// Bytes accepted, and bytes departed.
    bytes_in: u64,
    bytes_out: u64,
    class: Arc<Class>,
    count: Counters,
    /// Link this port feeds.
    pub link: u32,
    /// Bits of [`unusual`].
    unusual: u8,
    far_waits: bool,
    rare: Box<Rare>,
}

/// What sets a port apart from a FIFO port that nobody watches; one test of a byte on the way of
/// every packet.
mod unusual {
    /// Its queue becomes a time series.
    pub const PROBED: u8 = 1;
    /// Its queue is explicit.
    pub const EXPLICIT: u8 = 2;
    /// What it sends is told apart at equal times.
    pub const SCHEDULED: u8 = 4;
    /// Its link has failures.
    pub const FAILS: u8 = 8;
}

#[derive(Clone, Debug)]
struct Rare {
    seed: u64,
    explicit: Option<Box<Explicit>>,
    /// Number of the shared buffer that its queues are in, in its domain.
    pool: Option<u32>,
    red: Option<RedState>,
    faults: Option<Box<Faults>>,
    taken_by_failures: Taken,
    /// When the discipline's queue last became empty.
    empty_since: u64,
    events: Events,
    far: FarQueue,
    next_sample: u64,
    /// Samples by queue length in packets.
    lengths: Vec<u64>,
    samples: u64,
    /// Time series: next instant, last value reported.
    probe_next: u64,
    probe_last: u64,
    at_from: Option<Snapshot>,
    at_to: Option<Snapshot>,
    /// Under [`Ties::Scheduled`]: whether the latest arrival found the transmitter busy, and the turn of the
    /// packet accepted last.
    busy: bool,
    turn: u16,
    taken: u64,
}

/// The account at one instant.
#[derive(Clone, Copy, Default, Debug)]
struct Snapshot {
    count: Counters,
    events: Events,
    bytes_in: u64,
    /// Transmitting time still owed to what was accepted.
    owed: u64,
}

impl Port {
    /// The port of `spec`, link number `link`.
    pub fn new(spec: &LinkSpec, queue: &QueueSpec, link: u32, seed: u64, interval: &Interval) -> Port {
        Port::of_class(Arc::new(Class::new(spec, queue, Ties::Hash)), queue, link, seed, interval)
    }

    /// A port of a class that others share.
    pub fn of_class(class: Arc<Class>, queue: &QueueSpec, link: u32, seed: u64, interval: &Interval) -> Port {
        Port {
            free_at: 0,
            next_look: interval.from,
            ring: Ring::default(),
            bytes_in: 0,
            bytes_out: 0,
            count: Counters::default(),
            link,
            unusual: if queue.is_explicit() { unusual::EXPLICIT } else { 0 }
                | if class.scheduled { unusual::SCHEDULED } else { 0 },
            far_waits: false,
            rare: Box::new(Rare {
                seed,
                pool: None,
                explicit: Explicit::of(queue, class.rate, link, seed),
                // explicit queues keep their own
                red: RedState::for_queue(queue, class.rate, link as u64, seed).filter(|_| !queue.is_explicit()),
                faults: None,
                taken_by_failures: Taken::default(),
                empty_since: 0,
                events: Events::default(),
                far: FarQueue::default(),
                next_sample: interval.from,
                lengths: Vec::new(),
                samples: 0,
                probe_next: 0,
                probe_last: 0,
                at_from: None,
                at_to: None,
                busy: false,
                turn: 0,
                taken: 0,
            }),
            class,
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

    /// Packets wait in an explicit queue.
    pub fn is_explicit(&self) -> bool {
        self.unusual & unusual::EXPLICIT != 0
    }

    /// It has a queue for each of several traffic classes.
    pub fn has_classes(&self) -> bool {
        self.rare.explicit.as_ref().is_some_and(|q| q.has_classes())
    }

    /// Puts its explicit queues into shared buffer `pool` of its domain.
    pub fn share(&mut self, pool: u32) {
        self.rare.pool = Some(pool);
    }

    /// Shared buffer of its domain that its queues are in.
    pub fn pool(&self) -> Option<u32> {
        self.rare.pool
    }

    /// Packets that wait in an explicit queue and will arrive.
    pub fn waiting(&self) -> impl Iterator<Item = &Packet> {
        self.rare.explicit.iter().flat_map(|q| q.waiting())
    }

    /// Packets that left for far windows and wait here, oldest first.
    pub fn far(&self) -> impl Iterator<Item = &Packet> {
        self.rare.far.iter()
    }

    /// Whether there are any.
    #[inline]
    pub fn far_waits(&self) -> bool {
        self.far_waits
    }

    /// Adds a copy of `packet` and returns it, to be stamped.
    #[inline]
    pub fn push_far(&mut self, packet: &Packet, ext: Option<&mut Ext>, pool: &mut Pool) -> &mut Packet {
        self.far_waits = true;
        self.rare.far.push(packet, ext, pool)
    }

    /// Takes those that arrive before `time`, in order.
    pub fn take_far(&mut self, time: u64, pool: &mut Pool, take: impl FnMut(&Packet, Option<&mut Ext>)) {
        self.rare.far.take_before(time, pool, take);
        self.far_waits = !self.rare.far.is_empty();
    }

    /// Brings near what the next packet will touch beyond the port itself.
    #[inline]
    pub fn prefetch_queue(&self) {
        if let Some(slot) = self.ring.slots.get(self.ring.head as usize & self.ring.slots.len().wrapping_sub(1)) {
            crate::event::prefetch::lines(slot, 1);
        }
    }

    /// Time on the wire of a packet of `size` IP bytes, ps.
    pub fn serialization(&self, size: u64) -> u64 {
        self.class.serialization(size + self.class.framing as u64)
    }

    /// What the port stamps on a packet that comes to it at `now`: what it has transmitted by then, to the part of a
    /// packet, and what it has still to transmit.
    #[cold]
    pub fn stamp(&self, now: u64) -> PortStamp {
        let class = &*self.class;
        let accepted = self.bytes_in + self.count.packets * class.overhead as u64 - self.rare.events.cut_bytes;
        let owed = self.owed(now).saturating_sub(class.bucket);
        let queue = match class.ps_per_byte {
            // at a rate that changes: by whole packets
            _ if self.fails() => self.filling(now).1,
            0 if class.rate == Rate::INFINITE => 0,
            0 => (owed as u128 * class.rate.0 as u128 / 8_000_000_000_000) as u64,
            ps => owed / ps,
        };
        let queue = queue.min(accepted);
        PortStamp { time: now, sent: accepted - queue, queue: queue.min(u32::MAX as u64) as u32, link: self.link }
    }

    /// Packets and bytes in the port at `now`, the one in transmission and those below the discipline included,
    /// without a change of the account.
    #[inline]
    pub fn filling(&self, now: u64) -> (u32, u64) {
        if self.is_explicit() {
            return self.rare.explicit.as_ref().map_or((0, 0), |q| q.filling());
        }
        if self.free_at <= now {
            return (0, 0);
        }
        let (mut gone, mut out) = (0, self.bytes_out);
        while gone < self.ring.len && self.ring.at(gone).departure <= now {
            out = self.ring.at(gone).bytes_to;
            gone += 1;
        }
        (self.ring.len - gone, self.bytes_in - out)
    }

    /// Whether the port holds at least `packets` (more than 0) at `now`, as [`Port::filling`] counts them.
    #[inline]
    pub fn holds(&self, packets: u32, now: u64) -> bool {
        if self.is_explicit() {
            return self.filling(now).0 >= packets;
        }
        self.ring.len >= packets && self.ring.at(self.ring.len - packets).departure > now
    }

    /// Bytes transmitted by `now`, to the part of a packet.
    pub fn sent(&self, now: u64) -> u64 {
        self.stamp(now).sent
    }

    /// Packets the discipline counts with `n` in the port.
    #[inline]
    fn counted(&self, n: u32) -> u32 {
        n.saturating_sub(self.class.below)
    }

    /// Packets the discipline counts now, by the account.
    fn length_now(&self) -> u32 {
        match &self.rare.explicit {
            Some(explicit) => explicit.counted(self.class.below),
            None => self.counted(self.ring.len),
        }
    }

    /// Bytes the discipline counts.
    #[inline]
    fn counted_bytes(&self) -> u64 {
        let (n, below) = (self.ring.len, self.class.below);
        if n <= below {
            0
        } else if below == 0 {
            self.bytes_in - self.bytes_out
        } else {
            self.bytes_in - self.ring.at(below - 1).bytes_to
        }
    }

    /// Lets everything leave that departs at or before `now`.
    #[inline]
    fn drain(&mut self, now: u64) {
        while self.ring.len > 0 {
            let slot = *self.ring.at(0);
            if slot.departure > now {
                return;
            }
            self.bytes_out = slot.bytes_to;
            self.ring.head = self.ring.head.wrapping_add(1);
            self.ring.len -= 1;
        }
        // an empty ring starts over: its first slots stay in the cache
        self.ring.head = 0;
    }

    /// Lets leave what an arrival of `size` bytes at `now` finds gone under [`Ties::Scheduled`], if it
    /// came over a link like this one: of two events at one instant the one that was planned
    /// first comes first, a departure when its transmission began, an arrival when its own did.
    fn drain_scheduled(&mut self, now: u64, size: u64) {
        self.drain(now.saturating_sub(1));
        if self.ring.len > 0 {
            let head = self.ring.at(0);
            let wire = self.class.serialization(head.bytes_to - self.bytes_out);
            if head.departure == now && wire >= self.class.delay + self.class.serialization(size) {
                self.drain(now);
            }
        }
        self.rare.busy = self.ring.len > 0;
    }

    /// [`Packet::turn`] of `packet`, accepted last; arrivals are taken to have come over a link like this one.
    pub fn turn(&mut self, packet: &Packet) -> u16 {
        if self.class.bucket > 0 || self.class.serialization(1) == 0 {
            return turn::NONE;
        }
        let wire = |size: u16| self.class.serialization(size as u64 + self.class.framing as u64);
        let taken = wire(packet.size);
        self.rare.turn = if self.rare.busy {
            turn::next(self.rare.turn, self.rare.taken, taken)
        } else {
            let lag = match if packet.hop == 0 { packet.turn } else { packet.size } {
                u16::MAX => u64::MAX,
                cause => self.class.delay + wire(cause),
            };
            turn::first(lag, taken, self.rare.taken)
        };
        self.rare.taken = taken;
        self.rare.turn
    }

    /// Brings the account up to `at`.
    fn advance(&mut self, at: u64) {
        if self.is_explicit() {
            self.settle(at);
        } else {
            self.drain(at);
        }
    }

    /// Looks after the account: everything due up to `now`, before what arrives at `now`.
    #[cold]
    fn look(&mut self, now: u64, interval: &Interval) {
        while self.next_look <= now {
            let at = self.next_look;
            self.advance(at);
            self.ring.shrink();
            if let Some(explicit) = &mut self.rare.explicit {
                explicit.shrink();
            }
            if at >= interval.from && self.rare.at_from.is_none() {
                let snapshot = self.snapshot(at);
                self.count.max_packets = self.length_now();
                self.count.max_bytes =
                    self.rare.explicit.as_ref().map_or_else(|| self.counted_bytes(), |q| q.counted_bytes());
                self.rare.at_from = Some(snapshot);
                if let Some(explicit) = &mut self.rare.explicit {
                    explicit.snapshot(true, self.class.below);
                }
            }
            if at >= interval.to {
                let snapshot = self.snapshot(at);
                self.rare.at_to = Some(snapshot);
                if let Some(explicit) = &mut self.rare.explicit {
                    explicit.snapshot(false, self.class.below);
                }
                self.next_look = u64::MAX;
                return;
            }
            let length = self.length_now() as usize;
            let rare = &mut self.rare;
            if rare.next_sample == at {
                // nothing arrives before `now`, so an empty queue stays empty
                let until = now.min(interval.to);
                let count = if length == 0 { (until - at).div_ceil(interval.every).max(1) } else { 1 };
                if rare.lengths.len() <= length {
                    rare.lengths.resize(length + 1, 0);
                }
                rare.lengths[length] += count;
                rare.samples += count;
                rare.next_sample += count * interval.every;
            }
            self.next_look = rare.next_sample.min(interval.to);
        }
    }

    /// The account at `at`, nothing having arrived since the last packet: what is accepted but
    /// not yet over is taken out again.
    fn snapshot(&self, at: u64) -> Snapshot {
        let mut count = self.count;
        let mut before = self.bytes_out;
        for i in 0..self.ring.len {
            let slot = self.ring.at(i);
            let size = slot.bytes_to - before;
            before = slot.bytes_to;
            let leaves = match i.checked_sub(self.class.below) {
                None => at,
                Some(_) if self.class.below == 0 => slot.departure,
                Some(j) => self.ring.at(j).departure,
            };
            let rest = leaves.saturating_sub(at);
            count.packet_time -= rest;
            count.byte_time -= rest as u128 * size as u128;
        }
        Snapshot { count, events: self.rare.events, bytes_in: self.bytes_in, owed: self.owed(at) }
    }

    /// Time at `at` until what was accepted by then is transmitted, or the bucket is full.
    fn owed(&self, at: u64) -> u64 {
        self.rare.explicit.as_ref().map_or(self.free_at.saturating_sub(at), |q| q.owed(at))
    }

    /// Packets the discipline counts now (for time series).
    pub fn length(&mut self, now: u64, interval: &Interval) -> u64 {
        if now >= self.next_look {
            self.look(now, interval);
        }
        self.advance(now);
        self.length_now() as u64
    }

    /// When the first packet left that the account still has, if that is by `now`.
    fn departed_by(&self, now: u64) -> Option<u64> {
        match &self.rare.explicit {
            Some(explicit) => explicit.left_by(now),
            None if self.ring.len > 0 => Some(self.ring.at(0).departure).filter(|d| *d <= now),
            None => None,
        }
    }

    /// Reports the queue length since the last call, up to `now`: every change (`every` `None`),
    /// or at multiples of `every`.
    pub fn observe(&mut self, now: u64, interval: &Interval, every: Option<u64>, emit: &mut dyn FnMut(u64, u64)) {
        match every {
            Some(every) => {
                while self.rare.probe_next < now {
                    let at = self.rare.probe_next;
                    let length = self.length(at, interval);
                    emit(at, length);
                    self.rare.probe_next += every.max(1);
                }
            }
            None => {
                while let Some(departure) = self.departed_by(now) {
                    let before = self.length_now();
                    self.length(departure, interval);
                    if self.length_now() != before {
                        self.rare.probe_last = self.length_now() as u64;
                        emit(departure, self.rare.probe_last);
                    }
                }
                let length = self.length_now() as u64;
                if length != self.rare.probe_last {
                    self.rare.probe_last = length;
                    emit(now, length);
                }
            }
        }
    }

    /// What the discipline says to an arrival.
    #[inline(always)]
    fn admit(&mut self, arrival: &Arrival) -> Verdict {
        match &self.class.rule {
            Rule::Red { .. } | Rule::RandomDrop { .. } => self.random_verdict(arrival),
            rule => rule.admit(arrival),
        }
    }

    /// ... where that takes a random number.
    #[cold]
    fn random_verdict(&mut self, arrival: &Arrival) -> Verdict {
        let rare = &mut *self.rare;
        let arrivals = self.count.packets + rare.events.drops;
        let draw = || hash::uniform(rare.seed, hash::purpose::RANDOM_DROP, self.link as u64, arrivals);
        decide(&self.class.rule, rare.red.as_mut(), rare.empty_since, arrival, draw)
    }

    /// Whether the wire loses the packet accepted last, of `size` IP bytes; counts it.
    fn loses_latest(&mut self, size: u64) -> bool {
        let index = self.count.packets - 1;
        let lost = self.class.loses(self.rare.seed, self.link, index, size + self.class.overhead as u64);
        self.rare.events.losses += lost as u64;
        lost
    }

    /// Offers `packet` to the port, which has no explicit queue and no failures, at `now`.
    #[inline(always)]
    pub fn enqueue(&mut self, now: u64, packet: &Packet, interval: &Interval) -> Sent {
        self.accept::<false>(now, packet, interval)
    }

    /// ... to a port whose link has failures.
    #[cold]
    pub fn enqueue_failing(&mut self, now: u64, packet: &Packet, interval: &Interval) -> Sent {
        self.accept::<true>(now, packet, interval)
    }

    #[inline(always)]
    fn accept<const FAILS: bool>(&mut self, now: u64, packet: &Packet, interval: &Interval) -> Sent {
        if now >= self.next_look {
            self.look(now, interval);
        }
        let size = (packet.size as u32 + self.class.framing) as u64;
        if self.class.scheduled {
            self.drain_scheduled(now, size);
        } else {
            self.drain(now);
        }
        let before = self.counted(self.ring.len);
        let bytes_before = self.counted_bytes();
        let arrival = Arrival { now, packets: before as u64, bytes: bytes_before, size, ect: packet.has(flag::ECT) };
        let verdict = self.admit(&arrival);
        let class = &*self.class;
        match verdict {
            Verdict::Accept => {}
            Verdict::Mark => self.count.marks += 1,
            Verdict::Drop => {
                self.rare.events.drops += 1;
                self.count.marks += u32::from(self.class.rule.counts_as_marked(&arrival));
                return Sent::Dropped;
            }
        }
        let last = self.free_at;
        let wire = if FAILS { self.wire_from(last.max(now), size) } else { class.serialization(size) };
        if class.ps_per_byte == 0 {
            self.rare.events.odd_busy += wire;
        }
        // a bucket is full again when a transmitter would be free; what it holds is time ahead
        let free_at = last.max(now) + wire;
        self.free_at = free_at;
        let departure = free_at.saturating_sub(class.bucket).max(now);
        self.bytes_in += size;
        self.count.packets += 1;
        let ahead = self.ring.len;
        // the discipline's queue holds the packet until the one `below` places ahead has left
        let leaves = match class.below {
            0 => departure,
            below if ahead < below => now,
            1 => last,
            below => self.ring.at(ahead - below).departure,
        };
        if departure > now {
            self.ring.push(Slot { departure, bytes_to: self.bytes_in });
        } else {
            self.bytes_out = self.bytes_in;
        }
        if leaves > now {
            let wait = leaves - now;
            self.count.packet_time += wait;
            self.count.byte_time += wait as u128 * size as u128;
            self.count.max_packets = self.count.max_packets.max(before + 1);
            self.count.max_bytes = self.count.max_bytes.max(bytes_before + size);
        }
        if let Rule::Red { .. } = class.rule {
            self.rare.empty_since = leaves;
        }
        let (delay, lossy) = (class.delay, class.lossy);
        if lossy && self.loses_latest(size) {
            return Sent::Lost { at: now };
        }
        if FAILS {
            // what leaves a token bucket takes no time to do so
            let start = if self.class.bucket > 0 { departure } else { departure - wire };
            return match self.arrival_of(start, departure, self.count.packets - 1) {
                Some(time) => Sent::Arrives { time, marked: verdict == Verdict::Mark },
                None => {
                    self.dooms(packet, now, departure, interval);
                    Sent::Lost { at: departure }
                }
            };
        }
        Sent::Arrives { time: departure + delay, marked: verdict == Verdict::Mark }
    }

    /// Adds the time `[from, to)` that a packet of `size` bytes waited in a queue kept elsewhere
    /// (a fair NIC) before it came to this port.
    pub fn add_wait(&mut self, from: u64, to: u64, size: u64, interval: &Interval) {
        if to >= self.next_look {
            self.look(to, interval);
        }
        let waited = interval.overlap(from, to);
        self.count.packet_time += waited;
        self.count.byte_time += waited as u128 * size as u128;
    }

    /// The account of the measured interval, at the end of the run.
    pub fn record(&mut self, name: &str, end: u64, interval: &Interval) -> PortRecord {
        self.look(end, interval);
        if self.rare.at_to.is_none() {
            self.advance(end);
        }
        let class = &*self.class;
        let to = self.rare.at_to.unwrap_or_else(|| self.snapshot(end));
        let from = self.rare.at_from.unwrap_or(to);
        let (a, b) = (&from.count, &to.count);
        let (was, is) = (&from.events, &to.events);
        let span = (interval.to - interval.from) as f64;
        let mean = |integral: f64| if span > 0.0 { integral / span } else { 0.0 };
        let packets = b.packets - a.packets;
        let bytes = to.bytes_in - from.bytes_in + packets * class.overhead as u64;
        // what is cut off may have been accepted before
        let bytes = bytes.wrapping_sub(is.cut_bytes - was.cut_bytes);
        // time on the wire of what was accepted, plus what was owed before, less what still is
        let odd = is.odd_busy.wrapping_sub(was.odd_busy);
        let busy =
            bytes.wrapping_mul(class.ps_per_byte).wrapping_add(odd).wrapping_add(from.owed).wrapping_sub(to.owed);
        let (total, taken) = (&self.rare.events, &self.rare.taken_by_failures);
        PortRecord {
            name: name.to_string(),
            rate_bps: if class.rate == Rate::INFINITE { 0 } else { class.rate.0 },
            packets,
            bytes: if (bytes as i64) < 0 { 0 } else { bytes },
            trimmed: self.rare.explicit.as_ref().map_or(0, |q| q.cuts()),
            busy_ps: busy,
            drops: is.drops - was.drops,
            losses: is.losses - was.losses + taken.measured,
            marks: (b.marks - a.marks) as u64 + self.rare.explicit.as_ref().map_or(0, |q| q.marks()),
            queue_mean_packets: mean((b.packet_time - a.packet_time) as f64),
            queue_p99_packets: percentile(&self.rare.lengths, self.rare.samples, 99),
            queue_max_packets: b.max_packets as u64,
            queue_mean_bytes: mean((b.byte_time - a.byte_time) as f64),
            queue_max_bytes: b.max_bytes,
            packets_total: self.count.packets,
            lost_total: total.drops + total.losses + taken.total,
            classes: self.rare.explicit.as_ref().map_or(Vec::new(), |q| q.records(span, end, interval)),
            pauses: self.rare.explicit.as_ref().map_or(0, |q| q.pausing.pauses),
            paused_ps: self.rare.explicit.as_ref().map_or(0, |q| q.pausing.time_to(end, interval)),
            deadlocked_ps: None,
        }
    }
}

/// Nearest rank: the smallest length that at least `percent` of the samples do not exceed.
fn percentile(lengths: &[u64], samples: u64, percent: u64) -> Option<f64> {
    let rank = (samples * percent).div_ceil(100);
    let mut seen = 0;
    for (length, count) in lengths.iter().enumerate() {
        seen += *count;
        if seen >= rank && seen > 0 {
            return Some(length as f64);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::Port;

    #[test]
    fn what_every_packet_touches_is_small() {
        assert!(size_of::<Port>() <= 128, "{} bytes", size_of::<Port>());
    }
}
