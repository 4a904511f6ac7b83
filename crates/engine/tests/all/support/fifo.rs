//! A link with a queue, in the plainest form: a list of every packet that it ever accepted, with arrival and departure
//! times. Everything is derived from that list.

use super::*;
use incast_engine::testing::{Interval, Kind, Packet, Port, Sent, flag};
use incast_engine::{FlowId, LinkId, NodeId};
use proptest::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    Accept,
    Mark,
    Drop,
}

/// An arrival of a test: a gap, and a packet of a size that may be ECN-capable.
#[derive(Clone, Copy, Debug)]
pub struct Offer {
    pub gap: u64,
    pub size: u64,
    pub ect: bool,
}

#[derive(Clone, Copy, Debug)]
struct Passed {
    came: u64,
    left: u64,
    /// Time at which the transmitter is free, or the token bucket is full again.
    full: u64,
    /// Size as counted by the queue.
    size: u64,
}

/// The link with its list.
#[derive(Clone, Debug)]
pub struct Fifo {
    rate: Rate,
    delay: u64,
    overhead: u64,
    /// Overhead counted by the queue.
    framing: u64,
    /// Token bucket, if any: its bytes, its level when it was last used, and that time.
    bucket: Option<(u64, u64, u64)>,
    /// Number of packets at the head hidden from the discipline: in service, and in the device queue.
    unseen: usize,
    limit: Limit,
    passed: Vec<Passed>,
    drops: Vec<u64>,
    marks: Vec<u64>,
}

impl Fifo {
    pub fn new(link: &LinkSpec, queue: &QueueSpec) -> Fifo {
        let unseen = match (queue.device, queue.count_in_service) {
            _ if link.bucket > 0 => 0,
            (0, true) => 0,
            (0, false) => 1,
            (n, _) => n as usize + 1,
        };
        Fifo {
            rate: link.rate,
            delay: link.delay.0,
            overhead: link.overhead as u64,
            framing: if queue.count_overhead { link.overhead as u64 } else { 0 },
            bucket: (link.bucket > 0).then(|| {
                let full = wire(link.rate, link.bucket as u64);
                (full, full, 0)
            }),
            unseen,
            limit: queue.limit,
            passed: Vec::new(),
            drops: Vec::new(),
            marks: Vec::new(),
        }
    }

    /// Sizes of the packets held by the discipline at `t`. Departures at `t` have left; arrivals at `t` count if they
    /// are on the list.
    fn held(&self, t: u64) -> Vec<u64> {
        let here = self.passed.iter().filter(|p| p.came <= t && p.left > t);
        here.skip(self.unseen).map(|p| p.size).collect()
    }

    pub fn packets(&self, t: u64) -> u64 {
        self.held(t).len() as u64
    }

    pub fn bytes(&self, t: u64) -> u64 {
        self.held(t).iter().sum()
    }

    /// Last time before `t` at which the discipline's queue became empty. It must be empty at `t`.
    pub fn empty_since(&self, t: u64) -> u64 {
        let mut instants: Vec<u64> = self.passed.iter().flat_map(|p| [p.came, p.left]).filter(|x| *x <= t).collect();
        instants.sort_unstable();
        // the last instant after a time with packets in the queue, or at which a packet passed through
        let busy_before = |x: u64| x > 0 && self.packets(x - 1) > 0;
        let passes = |x: u64| self.passed.iter().any(|p| p.came == x);
        instants.into_iter().rev().find(|x| busy_before(*x) || passes(*x)).unwrap_or(0)
    }

    /// True if an arrival of `size` exceeds the limit.
    pub fn full(&self, t: u64, size: u64) -> bool {
        match self.limit {
            Limit::Packets(n) => self.packets(t) + 1 > n,
            Limit::Bytes(n) => self.bytes(t) + size + self.framing > n,
            Limit::None => false,
        }
    }

    /// The decision on an arrival, given the verdict, in the form of a port's decision.
    pub fn offer(&mut self, t: u64, size: u64, verdict: Verdict) -> Sent {
        if verdict == Verdict::Drop {
            self.drops.push(t);
            return Sent::Dropped;
        }
        if verdict == Verdict::Mark {
            self.marks.push(t);
        }
        let wire = wire(self.rate, size + self.overhead);
        let last = self.passed.last().map_or(0, |p| p.left).max(t);
        let (left, full) = match &mut self.bucket {
            None => (last + wire, last + wire),
            // tokens accumulate as time: the packet goes when there are enough of them
            Some((most, level, since)) => {
                let there = |at: u64| (*level + (at - *since)).min(*most);
                let left = last + wire.saturating_sub(there(last));
                let rest = there(left) - wire.min(there(left));
                (*level, *since) = (rest, left);
                (left, left + *most - rest)
            }
        };
        self.passed.push(Passed { came: t, left, full, size: size + self.framing });
        Sent::Arrives { time: Time(left + self.delay), marked: verdict == Verdict::Mark }
    }

    /// Bytes of the packet on the wire.
    fn on_wire(&self, p: &Passed) -> u64 {
        p.size + self.overhead - self.framing
    }

    /// Bits of a packet not yet on the wire at `t`, times 10^12. Bytes with tokens take no time.
    fn unsent(&self, p: &Passed, t: u64) -> u128 {
        let whole = self.on_wire(p) as u128 * BYTE;
        match p.left.saturating_sub(t) {
            rest if rest > 0 && self.bucket.is_some() => whole,
            rest => whole.min(rest as u128 * self.rate.0 as u128),
        }
    }

    /// Checks packets and bytes sent in the measured interval: packets count at the end of their transmissions, bytes
    /// as they go.
    fn check_sent(&self, record: &PortRecord, i: &Interval) -> Result<(), TestCaseError> {
        let (from, to) = (i.from.0, i.to.0);
        let there = |t: u64| self.passed.iter().filter(move |p| p.came < t && p.left > t);
        let before = |t: u64| self.passed.iter().filter(move |p| p.came < t);
        let sent = |t: u64| (before(t).count() - there(t).count()) as u64;
        prop_assert_eq!(record.packets, sent(to) - sent(from), "packets sent");
        let on_the_way = |t: u64| there(t).map(|p| self.unsent(p, t)).sum::<u128>();
        let whole = |t: u64| before(t).map(|p| self.on_wire(p) as u128 * BYTE).sum::<u128>();
        let bytes = ((whole(to) - on_the_way(to)) - (whole(from) - on_the_way(from))) / BYTE;
        prop_assert_eq!(record.bytes as u128, bytes, "bytes sent");
        if self.rate != Rate::INFINITE {
            // times on the wire are rounded to picoseconds
            let rounded = if BYTE % self.rate.0 as u128 == 0 { 0 } else { record.packets + 1 };
            let most = (to - from + rounded) as u128 * self.rate.0 as u128 / BYTE;
            // a packet larger than the bucket goes when it is full
            let largest = self.passed.iter().map(|p| self.on_wire(p)).max().unwrap_or(0);
            let ahead = self.bucket.map_or(0, |(full, ..)| full as u128 * self.rate.0 as u128 / BYTE + largest as u128);
            prop_assert!(record.bytes as u128 <= most + ahead, "{} of {most} bytes", record.bytes);
        }
        Ok(())
    }

    /// Compares the account of the measured interval with the port's own.
    pub fn check(&self, record: &PortRecord, i: &Interval) -> Result<(), TestCaseError> {
        let (from, to, every) = (i.from.0, i.to.0, i.every.0);
        let inside = |t: u64| t >= from && t < to;
        let count = |list: &[u64]| list.iter().filter(|t| inside(**t)).count() as u64;
        prop_assert_eq!(record.drops, count(&self.drops), "drops");
        prop_assert_eq!(record.marks, count(&self.marks), "marks");
        let accepted: Vec<&Passed> = self.passed.iter().filter(|p| inside(p.came)).collect();
        prop_assert_eq!(record.accepted, accepted.len() as u64, "accepted");
        prop_assert_eq!(record.accepted_bytes, accepted.iter().map(|p| self.on_wire(p)).sum::<u64>(), "accepted bytes");
        self.check_sent(record, i)?;

        // between changes
        let mut at: Vec<u64> = self.passed.iter().flat_map(|p| [p.came, p.left, p.full]).chain([from, to]).collect();
        at.retain(|t| *t >= from && *t <= to);
        at.sort_unstable();
        at.dedup();
        let (mut packet_time, mut byte_time, mut busy, mut most, mut most_bytes) = (0u128, 0u128, 0u64, 0, 0);
        for pair in at.windows(2) {
            let (t, span) = (pair[0], pair[1] - pair[0]);
            packet_time += self.packets(t) as u128 * span as u128;
            byte_time += self.bytes(t) as u128 * span as u128;
            busy += if self.passed.iter().any(|p| p.came <= t && p.full > t) { span } else { 0 };
            most = most.max(self.packets(t));
            most_bytes = most_bytes.max(self.bytes(t));
        }
        let span = (to - from) as f64;
        prop_assert_eq!(record.busy_ps, busy, "busy");
        prop_assert_eq!(record.queue_max_packets, most, "max");
        prop_assert_eq!(record.queue_max_bytes, most_bytes, "max bytes");
        // one division and a conversion to f64 each
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-12 * b.abs();
        prop_assert!(close(record.queue_mean_packets, packet_time as f64 / span), "mean {}", record.queue_mean_packets);
        prop_assert!(close(record.queue_mean_bytes, byte_time as f64 / span), "mean bytes");

        // nearest rank over samples taken before whatever arrives at their instant
        let mut samples = Vec::new();
        let mut t = from;
        while t < to {
            let here = self.passed.iter().filter(|p| p.came < t && p.left > t);
            samples.push(here.skip(self.unseen).count());
            t += every;
        }
        samples.sort_unstable();
        let rank = (samples.len() * 99).div_ceil(100);
        prop_assert_eq!(record.queue_p99_packets, rank.checked_sub(1).map(|r| samples[r] as f64), "p99");
        Ok(())
    }
}

/// Bits of a byte, times 10^12.
const BYTE: u128 = 8_000_000_000_000;

/// Bits / (bits per second) in picoseconds, rounded to the nearest.
fn wire(rate: Rate, bytes: u64) -> u64 {
    let (bits, bps) = ((bytes * 8) as u128, rate.0 as u128);
    if rate == Rate::INFINITE { 0 } else { ((bits * 1_000_000_000_000 * 2 + bps) / (2 * bps)) as u64 }
}

/// An interval in which everything is measured.
pub const ALWAYS: Interval = Interval { from: Time::ZERO, to: Time(1 << 50), every: Time(1 << 40) };

/// A packet of `size` bytes for a port.
pub fn packet(size: u64, ect: bool) -> Packet {
    let mut packet = Packet::forward(Kind::Data, FlowId(0), NodeId(0), 0, 0, Time::ZERO);
    packet.size = size as u16;
    packet.flags = if ect { flag::ECT } else { 0 };
    packet
}

/// Record of a port at the end of a run.
pub fn recorded(port: &mut Port, end: Time, interval: &Interval) -> PortRecord {
    port.close(end, interval);
    port.record(&"a>b".into(), end, interval)
}

/// A link of 1 us by itself.
pub fn link(rate: Rate, overhead: u32) -> LinkSpec {
    LinkSpec { overhead, ..super::link(0, 1, rate, Time::us(1), "a>b".to_string()) }
}

/// Packets that leave a port from its next departure on, in order, without further arrivals.
pub fn drain(port: &mut Port, mut next: Option<Time>, interval: &Interval) -> Vec<Packet> {
    let departed = std::iter::from_fn(|| {
        let departed = port.depart(next?, None, interval).unwrap();
        next = departed.next;
        Some(departed.packet)
    });
    departed.collect()
}

/// Arrivals: bursts at one instant, gaps of about a packet's time, and long pauses, at 10 Gb/s.
pub fn offers(most: usize) -> impl Strategy<Value = Vec<Offer>> {
    let gap = prop_oneof![3 => Just(0u64), 4 => 0u64..2_400_000, 1 => 0u64..40_000_000, 2 => Just(1_200_000u64)];
    let size = prop_oneof![Just(1500u64), Just(40u64), 40u64..1501];
    let offer = (gap, size, any::<bool>()).prop_map(|(gap, size, ect)| Offer { gap, size, ect });
    prop::collection::vec(offer, 1..most)
}

pub fn limits() -> impl Strategy<Value = Limit> {
    prop_oneof![(1u64..30).prop_map(Limit::Packets), (1500u64..40_000).prop_map(Limit::Bytes), Just(Limit::None),]
}

pub fn rates() -> impl Strategy<Value = Rate> {
    prop_oneof![
        4 => Just(Rate::gbps(10)), 2 => Just(Rate::gbps(30)), 1 => Just(Rate::INFINITE), 1 => Just(Rate::mbps(900)),
    ]
}

/// Offers all arrivals to a port and to the list. `decide` is the discipline of the reference.
pub fn same_decisions(
    link: &LinkSpec,
    queue: &QueueSpec,
    seed: u64,
    offers: &[Offer],
    window: (u64, u64, u64),
    mut decide: impl FnMut(&Fifo, u64, &Offer) -> Verdict,
) -> Result<(), TestCaseError> {
    let last: u64 = offers.iter().map(|o| o.gap).sum::<u64>() + 1;
    // the interval is a part of the run, which ends some time after the last arrival; its ends often coincide with
    // arrivals
    let end = last + window.2 % 30_000_000;
    let arrivals: Vec<u64> = offers
        .iter()
        .scan(0, |t, o| {
            *t += o.gap;
            Some(*t)
        })
        .collect();
    let pick = |x: u64, low: u64, high: u64| match x % 3 {
        0 => low,
        1 => arrivals[(x / 3) as usize % arrivals.len()].clamp(low, high),
        _ => low + x % (high - low),
    };
    let from = pick(window.0, 0, end - 1);
    let to = pick(window.1, from + 1, end);
    let interval = Interval { from: Time(from), to: Time(to), every: Time(1 + window.2 % 3_000_000) };
    let mut port = Port::new(link, queue, LinkId(7), seed, &interval);
    let mut fifo = Fifo::new(link, queue);
    let mut now = 0;
    for (i, o) in offers.iter().enumerate() {
        now += o.gap;
        let verdict = decide(&fifo, now, o);
        let expected = fifo.offer(now, o.size, verdict);
        let got = port.enqueue(Time(now), &packet(o.size, o.ect), &interval);
        prop_assert_eq!(got, expected, "arrival {} at {}", i, now);
        prop_assert_eq!(port.length(Time(now), &interval), fifo.packets(now), "queue after arrival {}", i);
    }
    fifo.check(&recorded(&mut port, Time(end), &interval), &interval)
}
