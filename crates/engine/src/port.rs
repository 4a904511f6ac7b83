//! The egress side of a link: queue and transmitter.
//!
//! A FIFO port at a constant rate decides everything at enqueue: the ring of departure times
//! tells what is still queued *now*, so drop, mark, departure and arrival at the far end follow
//! in one step, exactly, without a "transmission finished" event. Departures at the instant of
//! an arrival have left. The port keeps its own account: utilisation, drops, marks, time-mean
//! queue (the sum of times in the queue over the interval, which is the time integral of its
//! length), and the queue length sampled at a stated interval.

use crate::hash;
use crate::packet::{Ext, NO_EXT, Packet, flag};
use crate::queue::{Arrival, Queue, Verdict};
use crate::spec::{LinkSpec, Loss, QueueSpec};
use incast_cc::Rate;
use incast_record::PortRecord;
use std::collections::VecDeque;

/// Measured interval and sampling, common to all ports.
#[derive(Clone, Copy, Debug)]
pub struct Interval {
    /// Start, ps.
    pub from: u64,
    /// End, ps.
    pub to: u64,
    /// Queue sampling interval, ps (at least 1).
    pub every: u64,
}

impl Interval {
    /// Whether `t` belongs to it.
    #[inline]
    pub fn holds(&self, t: u64) -> bool {
        t >= self.from && t < self.to
    }
    /// Length of the part of `[a, b)` inside it.
    #[inline]
    pub fn overlap(&self, a: u64, b: u64) -> u64 {
        b.min(self.to).saturating_sub(a.max(self.from))
    }
}

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
    /// Transmitted, and lost on the wire.
    Lost,
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
        let old: Vec<Slot> = (0..self.len).map(|i| *self.at(i)).collect();
        let mut slots = vec![Slot::default(); (self.slots.len() * 2).max(8)];
        slots[..old.len()].copy_from_slice(&old);
        self.slots = slots.into_boxed_slice();
        self.head = 0;
    }
}

/// Packets whose arrival is too far ahead for the near windows, oldest first, and apart from
/// them the extensions of those that have one.
#[derive(Clone, Debug, Default)]
struct FarQueue {
    packets: VecDeque<Packet>,
    exts: VecDeque<Ext>,
}

/// What is counted for every packet, from the start of the run.
#[derive(Clone, Copy, Default, Debug)]
struct Counters {
    packets: u64,
    /// Time spent transmitting what was accepted so far, ps.
    busy: u64,
    /// Sum of times in the queue of what was accepted so far, ps.
    packet_time: u64,
    drops: u32,
    marks: u32,
    losses: u32,
    max_packets: u32,
    max_bytes: u64,
    /// `packet_time` weighted by size, byte ps.
    byte_time: u128,
}

/// One egress port. What every packet touches lies together, in this order; the rest in [`Rare`].
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Port {
    free_at: u64,
    /// The next instant at which the port has to look after its account: a queue sample, or
    /// an end of the measured interval.
    next_look: u64,
    /// Picoseconds a byte where that is an integer, else 0 and `rate` decides.
    ps_per_byte: u64,
    delay: u64,
    ring: Ring,
    /// Link this port feeds.
    pub link: u32,
    overhead: u32,
    /// Packets below the discipline: in service, and the device queue.
    below: u32,
    lossy: bool,
    /// Its queue becomes a time series.
    pub probed: bool,
    far_waits: bool,
    /// Bytes accepted, and bytes departed.
    bytes_in: u64,
    bytes_out: u64,
    queue: Queue,
    count: Counters,
    rare: Box<Rare>,
}

#[derive(Clone, Debug)]
struct Rare {
    rate: Rate,
    loss: Loss,
    seed: u64,
    /// When the discipline's queue last became empty.
    empty_since: u64,
    far: FarQueue,
    next_sample: u64,
    /// Samples by queue length in packets.
    lengths: Vec<u32>,
    samples: u64,
    /// Time series: next instant, last value reported.
    probe_next: u64,
    probe_last: u64,
    at_from: Option<Snapshot>,
    at_to: Option<Snapshot>,
}

/// The account at one instant.
#[derive(Clone, Copy, Default, Debug)]
struct Snapshot {
    count: Counters,
    bytes_in: u64,
}

impl Port {
    /// The port of `spec`, link number `link`.
    pub fn new(spec: &LinkSpec, queue: &QueueSpec, link: u32, seed: u64, interval: &Interval) -> Port {
        let rate = spec.rate;
        let exact = rate != Rate::INFINITE && 8_000_000_000_000 % rate.0 == 0;
        let below = queue.device + u32::from(queue.device > 0 || !queue.count_in_service);
        Port {
            free_at: 0,
            next_look: interval.from,
            ps_per_byte: if exact { 8_000_000_000_000 / rate.0 } else { 0 },
            delay: spec.delay.0,
            ring: Ring::default(),
            bytes_in: 0,
            bytes_out: 0,
            link,
            overhead: spec.overhead,
            below,
            lossy: spec.loss != Loss::None,
            probed: false,
            far_waits: false,
            queue: Queue::new(queue, spec, link, seed),
            count: Counters::default(),
            rare: Box::new(Rare {
                rate,
                loss: spec.loss.clone(),
                seed,
                empty_since: 0,
                far: FarQueue::default(),
                next_sample: interval.from,
                lengths: Vec::new(),
                samples: 0,
                probe_next: 0,
                probe_last: 0,
                at_from: None,
                at_to: None,
            }),
        }
    }

    /// Packets that left for far windows and wait here, oldest first.
    pub fn far(&self) -> impl Iterator<Item = &Packet> {
        self.rare.far.packets.iter()
    }

    /// Whether there are any.
    #[inline]
    pub fn far_waits(&self) -> bool {
        self.far_waits
    }

    /// Adds one.
    #[inline]
    pub fn push_far(&mut self, mut packet: Packet, ext: Option<&Ext>) {
        self.far_waits = true;
        packet.ext = if ext.is_some() { 0 } else { NO_EXT };
        self.rare.far.packets.push_back(packet);
        self.rare.far.exts.extend(ext);
    }

    /// Takes the first if it arrives before `time`.
    #[inline]
    pub fn pop_far(&mut self, time: u64) -> Option<(Packet, Option<Ext>)> {
        let far = &mut self.rare.far;
        let packet = far.packets.pop_front_if(|p| p.time < time)?;
        self.far_waits = !far.packets.is_empty();
        let ext = if packet.ext == NO_EXT { None } else { far.exts.pop_front() };
        Some((packet, ext))
    }

    /// Brings near what the next packet will touch beyond the port itself.
    #[inline]
    pub fn prefetch_queue(&self) {
        if let Some(slot) = self.ring.slots.get(self.ring.head as usize & self.ring.slots.len().wrapping_sub(1)) {
            crate::prefetch::lines(slot, 1);
        }
    }

    /// Time on the wire of a packet of `size` IP bytes, ps.
    #[inline]
    pub fn serialization(&self, size: u64) -> u64 {
        let bytes = size + self.overhead as u64;
        if self.ps_per_byte != 0 { bytes * self.ps_per_byte } else { self.rare.serialization(bytes) }
    }

    /// Packets the discipline counts with `n` in the port.
    #[inline]
    fn counted(&self, n: u32) -> u32 {
        n.saturating_sub(self.below)
    }

    /// Bytes the discipline counts.
    #[inline]
    fn counted_bytes(&self) -> u64 {
        let n = self.ring.len;
        if n <= self.below {
            0
        } else if self.below == 0 {
            self.bytes_in - self.bytes_out
        } else {
            self.bytes_in - self.ring.at(self.below - 1).bytes_to
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

    /// Looks after the account: everything due up to `now`, before what arrives at `now`.
    #[cold]
    fn look(&mut self, now: u64, interval: &Interval) {
        while self.next_look <= now {
            let at = self.next_look;
            self.drain(at);
            if at >= interval.from && self.rare.at_from.is_none() {
                let snapshot = self.snapshot(at);
                self.count.max_packets = self.counted(self.ring.len);
                self.count.max_bytes = self.counted_bytes();
                self.rare.at_from = Some(snapshot);
            }
            if at >= interval.to {
                let snapshot = self.snapshot(at);
                self.rare.at_to = Some(snapshot);
                self.next_look = u64::MAX;
                return;
            }
            let length = self.counted(self.ring.len) as usize;
            let rare = &mut self.rare;
            if rare.next_sample == at {
                // nothing arrives before `now`, so an empty queue stays empty
                let until = now.min(interval.to);
                let count = if length == 0 { (until - at).div_ceil(interval.every).max(1) } else { 1 };
                if rare.lengths.len() <= length {
                    rare.lengths.resize(length + 1, 0);
                }
                rare.lengths[length] += count as u32;
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
        count.busy -= self.free_at.saturating_sub(at);
        let mut before = self.bytes_out;
        for i in 0..self.ring.len {
            let slot = self.ring.at(i);
            let size = slot.bytes_to - before;
            before = slot.bytes_to;
            let leaves = match i.checked_sub(self.below) {
                None => at,
                Some(_) if self.below == 0 => slot.departure,
                Some(j) => self.ring.at(j).departure,
            };
            let rest = leaves.saturating_sub(at);
            count.packet_time -= rest;
            count.byte_time -= rest as u128 * size as u128;
        }
        Snapshot { count, bytes_in: self.bytes_in }
    }

    /// Packets the discipline counts now (for time series).
    pub fn length(&mut self, now: u64, interval: &Interval) -> u64 {
        if now >= self.next_look {
            self.look(now, interval);
        }
        self.drain(now);
        self.counted(self.ring.len) as u64
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
                while self.ring.len > 0 && self.ring.at(0).departure <= now {
                    let departure = self.ring.at(0).departure;
                    let before = self.counted(self.ring.len);
                    self.length(departure, interval);
                    if self.counted(self.ring.len) != before {
                        self.rare.probe_last = self.counted(self.ring.len) as u64;
                        emit(departure, self.rare.probe_last);
                    }
                }
                let length = self.counted(self.ring.len) as u64;
                if length != self.rare.probe_last {
                    self.rare.probe_last = length;
                    emit(now, length);
                }
            }
        }
    }

    /// Offers `packet` to the port at `now`.
    #[inline(always)]
    pub fn enqueue(&mut self, now: u64, packet: &Packet, interval: &Interval) -> Sent {
        if now >= self.next_look {
            self.look(now, interval);
        }
        self.drain(now);
        let size = packet.size as u64;
        let before = self.counted(self.ring.len);
        let bytes_before = self.counted_bytes();
        let arrival = Arrival { now, packets: before as u64, bytes: bytes_before, size, ect: packet.has(flag::ECT) };
        let mut marked = false;
        match self.queue.admit(&arrival, &self.rare.empty_since) {
            Verdict::Accept => {}
            Verdict::Mark => {
                marked = true;
                self.count.marks += 1;
            }
            Verdict::Drop => {
                self.count.drops += 1;
                return Sent::Dropped;
            }
        }
        let wire = self.serialization(size);
        let departure = self.free_at.max(now) + wire;
        self.free_at = departure;
        self.bytes_in += size;
        self.count.packets += 1;
        self.count.busy += wire;
        let ahead = self.ring.len;
        // the discipline's queue holds the packet until the one `below` places ahead has left
        let leaves = if ahead < self.below {
            now
        } else if self.below == 0 {
            departure
        } else {
            self.ring.at(ahead - self.below).departure
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
        if let Queue::Red { .. } = self.queue {
            self.rare.empty_since = leaves;
        }
        if self.lossy && self.rare.loses(self.link, self.count.packets - 1, size + self.overhead as u64) {
            self.count.losses += 1;
            return Sent::Lost;
        }
        Sent::Arrives { time: departure + self.delay, marked }
    }

    /// Adds the time `[from, to)` that a packet of `size` bytes waited in a queue kept elsewhere
    /// (a fair NIC) before it came to this port.
    pub fn add_wait(&mut self, from: u64, to: u64, size: u64) {
        self.count.packet_time += to - from;
        self.count.byte_time += (to - from) as u128 * size as u128;
    }

    /// The account of the measured interval, at the end of the run.
    pub fn record(&mut self, name: &str, end: u64, interval: &Interval) -> PortRecord {
        self.look(end, interval);
        let total = self.count;
        let to = self.rare.at_to.unwrap_or_else(|| self.snapshot(end));
        let from = self.rare.at_from.unwrap_or(to);
        let (a, b) = (&from.count, &to.count);
        let span = (interval.to - interval.from) as f64;
        let mean = |integral: f64| if span > 0.0 { integral / span } else { 0.0 };
        let packets = b.packets - a.packets;
        PortRecord {
            name: name.to_string(),
            rate_bps: if self.rare.rate == Rate::INFINITE { 0 } else { self.rare.rate.0 },
            packets,
            bytes: to.bytes_in - from.bytes_in + packets * self.overhead as u64,
            busy_ps: b.busy - a.busy,
            drops: (b.drops - a.drops) as u64,
            losses: (b.losses - a.losses) as u64,
            marks: (b.marks - a.marks) as u64,
            queue_mean_packets: mean((b.packet_time - a.packet_time) as f64),
            queue_p99_packets: percentile(&self.rare.lengths, self.rare.samples, 99),
            queue_max_packets: b.max_packets as u64,
            queue_mean_bytes: mean((b.byte_time - a.byte_time) as f64),
            queue_max_bytes: b.max_bytes,
            packets_total: total.packets,
            lost_total: total.drops as u64 + total.losses as u64,
        }
    }
}

impl Rare {
    /// Serialization at a rate that gives no whole number of picoseconds a byte: to the nearest
    /// picosecond for each packet.
    fn serialization(&self, bytes: u64) -> u64 {
        if self.rate == Rate::INFINITE { 0 } else { (bytes * 8_000_000_000_000 + self.rate.0 / 2) / self.rate.0 }
    }

    /// Whether the link loses its packet number `index`, of `bytes` on the wire.
    fn loses(&self, link: u32, index: u64, bytes: u64) -> bool {
        let draw = || hash::uniform(self.seed, hash::purpose::LOSS, link as u64, index);
        match &self.loss {
            Loss::None => false,
            Loss::Packet(p) => draw() < *p,
            Loss::Byte(p) => draw() >= libm::pow(1.0 - p, bytes as f64),
            Loss::List(list) => list.binary_search(&index).is_ok(),
        }
    }
}

/// Nearest rank: the smallest length that at least `percent` of the samples do not exceed.
fn percentile(lengths: &[u32], samples: u64, percent: u64) -> Option<f64> {
    let rank = (samples * percent).div_ceil(100);
    let mut seen = 0;
    for (length, count) in lengths.iter().enumerate() {
        seen += *count as u64;
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
        assert!(size_of::<Port>() <= 256, "{} bytes", size_of::<Port>());
    }
}
