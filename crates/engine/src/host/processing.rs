//! Processing time of packets in a host: engines between the NIC and the stack, each with a time per packet and a
//! bounded queue.
//!
//! A packet that arrives at the NIC waits for the engine that its flow hashes to; the engine then hands it to the
//! stack. Packets from the stack pass the engines of the other direction. An engine serves one packet at a time, first
//! come, first served, so the packets of a flow stay in order. A packet that finds the queue of its engine full is lost
//! at the host.

use crate::event::interval::Interval;
use crate::event::packet::{Ext, Packet};
use crate::hash::{self, purpose};
use crate::ids::Side;
use crate::spec::ProcessingSpec;
use incast_cc::Time;
use incast_record::EngineRecord;
use std::collections::VecDeque;

/// Error: the queue of the engine is full.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Full;

/// A packet in an engine.
#[derive(Clone, Debug)]
pub struct Held {
    /// The packet.
    pub packet: Packet,
    /// Extension of the packet.
    pub ext: Option<Ext>,
    /// Arrival time at the engine.
    pub since: Time,
}

/// The engines of one side of a host.
#[derive(Clone, Debug)]
pub struct Processing {
    costs: ProcessingSpec,
    engines: Vec<Engine>,
}

#[derive(Clone, Default, Debug)]
struct Engine {
    /// Packets; the first one is in service.
    queue: VecDeque<Held>,
    account: Account,
}

/// Counters of an engine over the measured interval, for its record.
#[derive(Clone, Default, Debug)]
struct Account {
    /// Time up to which the account is complete.
    until: Time,
    next_sample: Time,
    packets: u64,
    drops: u64,
    busy: Time,
    /// Integral of the queue length, in packets times ps.
    packet_time: u128,
    longest: u64,
    wait: u128,
    longest_wait: Time,
    /// Number of samples of each queue length.
    lengths: Vec<u64>,
}

impl Account {
    /// Brings the account up to `now`; the queue has had `length` packets since the last call.
    fn advance(&mut self, now: Time, length: usize, interval: &Interval) {
        let from = self.until.max(interval.from);
        let to = now.min(interval.to);
        self.until = now;
        if from >= to {
            return;
        }
        self.longest = self.longest.max(length as u64);
        self.packet_time += (to - from).0 as u128 * length as u128;
        self.busy += if length > 0 { to - from } else { Time::ZERO };
        let first = self.next_sample.max(interval.from);
        if first < to {
            let count = (to - first).div_ceil(interval.every);
            if self.lengths.len() <= length {
                self.lengths.resize(length + 1, 0);
            }
            self.lengths[length] += count;
            self.next_sample = first + interval.every * count;
        }
    }
}

impl Processing {
    /// Engines with the costs of `costs`.
    pub fn new(costs: &ProcessingSpec) -> Processing {
        Processing { costs: costs.clone(), engines: vec![Engine::default(); costs.engines as usize] }
    }

    /// Engine of a flow's packets: always the same, so that they stay in order.
    pub fn engine_of(&self, seed: u64, packet: &Packet) -> u32 {
        let draw = hash::bits(seed, purpose::ENGINE, packet.flow.0 as u64, packet.is_reverse() as u64);
        hash::pick(draw, self.engines.len() as u32)
    }

    /// Service time of a packet.
    fn service(&self, packet: &Packet) -> Time {
        let own = if packet.len > 0 { self.costs.packet_time } else { self.costs.ack_time };
        own.saturating_add(self.costs.rate.serialize(packet.size as u64))
    }

    /// Hands a packet to an engine. Returns the end of its service if it begins now.
    pub fn offer(&mut self, engine: u32, held: Held, interval: &Interval) -> Result<Option<Time>, Full> {
        let now = held.since;
        let service = self.service(&held.packet);
        let e = &mut self.engines[engine as usize];
        e.account.advance(now, e.queue.len(), interval);
        if self.costs.limit > 0 && e.queue.len() as u64 >= self.costs.limit {
            e.account.drops += u64::from(interval.holds(now));
            return Err(Full);
        }
        e.queue.push_back(held);
        if interval.holds(now) {
            e.account.longest = e.account.longest.max(e.queue.len() as u64);
        }
        Ok((e.queue.len() == 1).then(|| now + service))
    }

    /// Ends a service. Returns the packet, and the end of the next service.
    pub fn finish(&mut self, engine: u32, now: Time, interval: &Interval) -> Option<(Held, Option<Time>)> {
        let e = &mut self.engines[engine as usize];
        e.account.advance(now, e.queue.len(), interval);
        let done = e.queue.pop_front()?;
        if interval.holds(now) {
            let wait = now - done.since;
            e.account.packets += 1;
            e.account.wait += wait.0 as u128;
            e.account.longest_wait = e.account.longest_wait.max(wait);
        }
        let next = e.queue.front().map(|held| held.packet);
        let ends = next.map(|packet| now + self.service(&packet));
        Some((done, ends))
    }

    /// Packets in all engines.
    pub fn waiting(&self) -> impl Iterator<Item = &Packet> {
        self.engines.iter().flat_map(|e| e.queue.iter().map(|held| &held.packet))
    }

    /// Records of the engines at `end`, in their order; `name` is the host's.
    pub fn records(&mut self, name: &str, side: Side, end: Time, interval: &Interval) -> Vec<EngineRecord> {
        let span = (interval.to - interval.from).0 as f64;
        let engines = self.engines.iter_mut().enumerate();
        let record = |(i, e): (usize, &mut Engine)| {
            e.account.advance(end, e.queue.len(), interval);
            let a = &e.account;
            let samples: u64 = a.lengths.iter().sum();
            let rank = (samples * 99).div_ceil(100);
            let mut seen = 0;
            let p99 = a.lengths.iter().position(|count| {
                seen += count;
                seen >= rank && seen > 0
            });
            EngineRecord {
                name: format!("{name}.{}{i}", if side == Side::Send { "tx" } else { "rx" }),
                packets: a.packets,
                drops: a.drops,
                busy_ps: a.busy.0,
                queue_mean_packets: if span > 0.0 { a.packet_time as f64 / span } else { 0.0 },
                queue_p99_packets: p99.map(|length| length as f64),
                queue_max_packets: a.longest,
                wait_sum_ps: u64::try_from(a.wait).unwrap_or(u64::MAX),
                wait_max_ps: a.longest_wait.0,
            }
        };
        engines.map(record).collect()
    }
}
