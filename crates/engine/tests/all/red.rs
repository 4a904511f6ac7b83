//! RED with the semantics of ns-3's `RedQueueDisc` against the same rules in plain form, packet by packet, and the
//! inequalities of ns-3's own unit suite.

use crate::support::fifo::{Fifo, Offer, Verdict, link, packet, recorded, same_decisions};
use crate::support::*;
use incast_engine::LinkId;
use incast_engine::testing::{Interval, Offered, Port, Sent, purpose, uniform};
use proptest::prelude::*;

/// ns-3's defaults.
fn defaults() -> Red {
    Red {
        min_th: 5.0,
        max_th: 15.0,
        qw: 0.002,
        l_interm: 50.0,
        mean_pkt_size: 500,
        gentle: true,
        wait: true,
        use_ecn: false,
        use_hard_drop: true,
    }
}

/// State of the plain version.
struct Plain {
    red: Red,
    seed: u64,
    average: f64,
    /// Arrivals, and their bytes, since the last early drop or mark.
    since: u64,
    bytes_since: u64,
    above_before: bool,
    arrivals: u64,
}

impl Plain {
    fn decide(&mut self, fifo: &Fifo, now: u64, o: &Offer, rate: Rate, limit: Limit) -> Verdict {
        let verdict = self.early_or_forced(fifo, now, o, rate, matches!(limit, Limit::Bytes(_)));
        if fifo.full(now, o.size) { Verdict::Drop } else { verdict }
    }

    fn early_or_forced(&mut self, fifo: &Fifo, now: u64, o: &Offer, rate: Rate, in_bytes: bool) -> Verdict {
        let red = self.red.clone();
        let mean = red.mean_pkt_size as f64;
        let packets_a_second = rate.as_f64() / (8.0 * mean);
        self.arrivals += 1;
        // 1. the average: an idle time counts as arrivals of mean packets at an empty queue
        let queued = if in_bytes { fifo.bytes(now) } else { fifo.packets(now) };
        let idle = if fifo.packets(now) == 0 { now - fifo.empty_since(now) } else { 0 };
        let mean_packet = rate.serialize(red.mean_pkt_size as u64).0;
        let missed = (idle / mean_packet) as f64;
        let w = if red.qw == 0.0 { 1.0 - (-1.0 / packets_a_second).exp() } else { red.qw };
        self.average = self.average * (1.0 - w).powf(missed + 1.0) + w * queued as f64;
        self.since += 1;
        self.bytes_since += o.size;
        // 2. below the lower threshold, or with an (almost) empty queue, nothing happens
        if self.average < red.min_th || queued <= 1 {
            self.above_before = false;
            return Verdict::Accept;
        }
        // 3. forced
        let forced_from = if red.gentle { 2.0 * red.max_th } else { red.max_th };
        if self.average >= forced_from {
            let mark = red.use_ecn && o.ect && !red.use_hard_drop;
            return if mark { Verdict::Mark } else { Verdict::Drop };
        }
        // 4. the first arrival above the threshold starts the count
        if !self.above_before {
            self.above_before = true;
            self.since = 1;
            self.bytes_since = o.size;
            return Verdict::Accept;
        }
        // 5. early
        let max_p = 1.0 / red.l_interm;
        let p = if self.average < red.max_th {
            max_p * (self.average - red.min_th) / (red.max_th - red.min_th)
        } else {
            max_p + (1.0 - max_p) * (self.average - red.max_th) / red.max_th
        };
        let count = if in_bytes { (self.bytes_since / red.mean_pkt_size as u64) as f64 } else { self.since as f64 };
        let spread = match (red.wait, count * p) {
            (true, x) if x < 1.0 => 0.0,
            (true, x) if x < 2.0 => p / (2.0 - x),
            (false, x) if x < 1.0 => p / (1.0 - x),
            _ => 1.0,
        };
        let chance = if in_bytes && spread < 1.0 { spread * o.size as f64 / mean } else { spread };
        if uniform(self.seed, purpose::RED, 7, self.arrivals) > chance {
            return Verdict::Accept;
        }
        self.since = 0;
        self.bytes_since = 0;
        if red.use_ecn && o.ect { Verdict::Mark } else { Verdict::Drop }
    }
}

fn plain(red: &Red, seed: u64) -> Plain {
    Plain { red: red.clone(), seed, average: 0.0, since: 0, bytes_since: 0, above_before: false, arrivals: 0 }
}

fn parameters() -> impl Strategy<Value = Red> {
    let weight = prop_oneof![Just(0.002), Just(0.2), Just(1.0), Just(0.0)];
    let flags = any::<(bool, bool, bool, bool)>();
    (0.0f64..6.0, 0.0f64..12.0, weight, prop_oneof![Just(50.0), Just(2.0)], flags).prop_map(|(min, more, qw, l, f)| {
        Red {
            min_th: min,
            max_th: min + more,
            qw,
            l_interm: l,
            gentle: f.0,
            wait: f.1,
            use_ecn: f.2,
            use_hard_drop: f.3,
            ..defaults()
        }
    })
}

proptest! {
    #![proptest_config(crate::support::cases(400))]

    #[test]
    fn red_in_packets_is_the_plain_version(
        offers in fifo::offers(150), red in parameters(), seed: u64, limit in 2u64..40,
        device in prop_oneof![Just(0u32), 1u32..8], in_service: bool, window in any::<(u64, u64, u64)>(),
    ) {
        let rate = Rate::gbps(10);
        let limit = Limit::Packets(limit);
        let queue = QueueSpec { device, count_in_service: in_service, ..queue(Discipline::Red(red.clone()), limit) };
        let mut plain = plain(&red, seed);
        same_decisions(&link(rate, 0), &queue, seed, &offers, window, |fifo, now, o| {
            plain.decide(fifo, now, o, rate, limit)
        })?;
    }

    #[test]
    fn red_in_bytes_is_the_plain_version(
        offers in fifo::offers(150), red in parameters(), seed: u64, limit in 3000u64..60_000,
        window in any::<(u64, u64, u64)>(),
    ) {
        let rate = Rate::gbps(10);
        let limit = Limit::Bytes(limit);
        let red = Red { min_th: red.min_th * 500.0, max_th: red.max_th * 500.0, ..red };
        let queue = QueueSpec { count_in_service: false, ..queue(Discipline::Red(red.clone()), limit) };
        let mut plain = plain(&red, seed);
        same_decisions(&link(rate, 0), &queue, seed, &offers, window, |fifo, now, o| {
            plain.decide(fifo, now, o, rate, limit)
        })?;
    }
}

proptest! {
    #![proptest_config(crate::support::cases(400))]

    #[test]
    fn explicit_queues_know_when_red_became_idle(
        bursts in prop::collection::vec((0u64..12_000_000, 1usize..20), 2..30), red in parameters(), seed: u64,
        limit in 2u64..40, device in prop_oneof![Just(0u32), 1u32..8], in_service: bool,
    ) {
        let interval = Interval { from: Time::ZERO, to: Time(1 << 62), every: Time(1 << 61) };
        let limit = Limit::Packets(limit);
        let queue = QueueSpec { device, count_in_service: in_service, ..queue(Discipline::Red(red), limit) };
        let port = |queue: &QueueSpec| Port::new(&link(Rate::gbps(10), 0), queue, LinkId(7), seed, &interval);
        let (mut arithmetic, mut explicit) = (port(&queue), port(&QueueSpec { explicit: true, ..queue.clone() }));
        let (mut now, mut ends) = (Time::ZERO, None);
        // bursts of 1 us a packet, after pauses in which the queue may become empty
        let arrivals = bursts.iter().flat_map(|(pause, n)| (0..*n).map(move |i| if i == 0 { *pause } else { 0 }));
        for (i, gap) in arrivals.enumerate() {
            now += Time(gap);
            while let Some(end) = ends.filter(|end| *end <= now) {
                ends = explicit.depart(end, None, &interval).and_then(|d| d.next);
            }
            let packet = packet(1250, i % 2 == 0);
            let expected = match arithmetic.enqueue(now, &packet, &interval) {
                Sent::Arrives { marked, .. } => Some(marked),
                _ => None,
            };
            let got = match explicit.offer(now, &packet, None, 0, None, &interval) {
                Offered::Waits { ends: first, marked, .. } => {
                    ends = ends.or(first);
                    Some(marked)
                }
                _ => None,
            };
            prop_assert_eq!(got, expected, "arrival {} at {}", i, now);
        }
    }
}

/// Drops among 300 packets of 500 B that arrive at a queue from which nothing leaves.
fn drops_of_300(red: Red, seed: u64) -> u64 {
    let interval = Interval { from: Time::ZERO, to: Time(1 << 62), every: Time(1 << 61) };
    let queue = queue(Discipline::Red(red), Limit::Packets(300));
    // 500 B at 1 kb/s take 4 s, and all arrive at once
    let mut port = Port::new(&link(Rate(1000), 0), &queue, LinkId(7), seed, &interval);
    (0..300).filter(|_| port.enqueue(Time::ZERO, &packet(500, false), &interval) == Sent::Dropped).count() as u64
}

#[test]
fn the_inequalities_of_ns3_hold() {
    let base = Red { min_th: 70.0, max_th: 150.0, qw: 0.002, ..defaults() };
    for seed in 1..=20 {
        assert_eq!(drops_of_300(base.clone(), seed), 0, "an average this slow stays below min_th");
        let quick = Red { qw: 0.02, ..base.clone() };
        let drops = drops_of_300(quick.clone(), seed);
        assert!(drops > 0);
        for (what, red) in [
            ("a lower max_th", Red { max_th: 100.0, ..quick.clone() }),
            ("l_interm 5", Red { l_interm: 5.0, ..quick.clone() }),
            ("gentle off", Red { gentle: false, ..quick.clone() }),
            ("wait off", Red { wait: false, ..quick.clone() }),
        ] {
            let more = drops_of_300(red, seed);
            assert!(more > drops, "seed {seed}: {what} drops more than {drops}, not {more}");
        }
    }
}

#[test]
fn red_with_equal_thresholds_is_threshold_marking() {
    // DCTCP from RED: min = max = K, weight 1, gentle off, mark instead of hard drops
    let k = 65.0;
    let red = Red { min_th: k, max_th: k, qw: 1.0, gentle: false, use_ecn: true, use_hard_drop: false, ..defaults() };
    let queue = QueueSpec { count_in_service: false, ..queue(Discipline::Red(red), Limit::Packets(100)) };
    let interval = Interval { from: Time::ZERO, to: Time(1 << 50), every: Time(1 << 49) };
    let mut port = Port::new(&link(Rate::gbps(10), 0), &queue, LinkId(0), 1, &interval);
    for n in 0..=100u64 {
        let got = port.enqueue(Time::ZERO, &packet(1500, true), &interval);
        // the first is in service: packet n finds n - 1 queued
        let marked = n.saturating_sub(1) >= 65;
        assert_eq!(got, Sent::Arrives { time: Time((n + 1) * 1_200_000 + 1_000_000), marked }, "packet {n}");
    }
    assert_eq!(port.enqueue(Time::ZERO, &packet(1500, true), &interval), Sent::Dropped, "100 are queued");
    // packets that cannot be marked are dropped above K, and pass below
    let now = 101 * 1_200_000 - 64 * 1_200_000;
    assert!(matches!(port.enqueue(Time(now), &packet(1500, false), &interval), Sent::Arrives { marked: false, .. }));
    assert!(matches!(port.enqueue(Time(now), &packet(1500, false), &interval), Sent::Arrives { marked: false, .. }));
    assert_eq!(port.enqueue(Time(now), &packet(1500, false), &interval), Sent::Dropped);
}

#[test]
fn without_ecn_even_forced_packets_are_dropped() {
    // hard drops off, but ECN off too: marking is not possible
    let red = Red { min_th: 2.0, max_th: 4.0, qw: 1.0, gentle: false, use_hard_drop: false, ..defaults() };
    let queue = queue(Discipline::Red(red), Limit::Packets(100));
    let interval = Interval { from: Time::ZERO, to: Time(1 << 50), every: Time(1 << 49) };
    let mut port = Port::new(&link(Rate::gbps(10), 0), &queue, LinkId(0), 1, &interval);
    let passed = (0..50).filter(|_| port.enqueue(Time::ZERO, &packet(1500, true), &interval) != Sent::Dropped).count();
    assert_eq!(passed, 4);
    assert_eq!(recorded(&mut port, Time(1), &interval).marks, 0);
}
