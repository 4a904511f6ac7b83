//! The loop: windows as long as the smallest latency; their packets are distributed to domains and sorted.

use crate::fabric::Fabric;
use crate::packet::{Address, Kind, Packet, mix};
use crate::port::{DELAY, Port};
use std::mem::take;

/// Packets in flight per host; about the load of Swift's permutation (a third of the links' rate).
const WINDOW: u32 = 16;
/// IP bytes of a data packet and of its answer.
const DATA: u16 = 4000;
const ACK: u16 = 40;
/// Packets distributed in a window arrive less than a link's latency after its start.
const LENGTH: u64 = DELAY;
/// Bits of an offset into a window.
const OFFSET_BITS: u32 = 20;
/// Number of windows ahead that have a bucket; a full queue lasts 41 of them.
const NEAR: u64 = 64;
/// Prefetch distance, in packets.
const AHEAD: usize = 16;

const _: () = assert!(LENGTH < 1 << OFFSET_BITS);

/// Packets that arrive in a window, in the order of sending, and the domain of each.
struct Bucket<A> {
    packets: Vec<Packet<A>>,
    domains: Vec<u32>,
}

impl<A> Default for Bucket<A> {
    fn default() -> Bucket<A> {
        Bucket { packets: Vec::new(), domains: Vec::new() }
    }
}

/// Counters of a run.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Counts {
    /// Packets that passed a port.
    pub hops: u64,
    /// Packets sent by hosts, arrived at hosts, and refused by full queues.
    pub sent: u64,
    /// See `sent`.
    pub delivered: u64,
    /// See `sent`.
    pub dropped: u64,
}

/// State of the loop.
pub struct Loop<A> {
    fabric: Fabric,
    ports: Vec<Port>,
    /// Destination of each flow and direction.
    to: Vec<Address>,
    near: Vec<Bucket<A>>,
    /// Empty buckets with capacity, the last used on top.
    spare: Vec<Bucket<A>>,
    /// Range of the packets of each domain in `index`.
    runs: Vec<(u32, u32)>,
    index: Vec<u32>,
    todo: Vec<u32>,
    window: u64,
    /// Counters so far.
    pub counts: Counts,
}

/// Packets of the current domain, each a word: the offset into the window above its index among them.
struct Scratch {
    order: Vec<u64>,
    sorted: Vec<u64>,
    starts: Vec<u32>,
    /// By index: the packet's place in the bucket, and its next port.
    plans: Vec<(u32, u32)>,
}

impl<A: Copy> Loop<A> {
    /// A fat tree of switches with `k` ports whose hosts send to each other along a permutation.
    pub fn new(k: u32) -> Loop<A> {
        let fabric = Fabric::new(k);
        let hosts = fabric.hosts();
        let partner = permutation(hosts);
        let to = (0..hosts).flat_map(|h| [fabric.address(partner[h as usize]), fabric.address(h)]).collect();
        let mut all = Loop {
            ports: fabric.ports(),
            to,
            near: (0..NEAR).map(|_| Bucket::default()).collect(),
            spare: Vec::new(),
            runs: vec![(0, 0); fabric.domains()],
            index: Vec::new(),
            todo: Vec::new(),
            window: 0,
            counts: Counts::default(),
            fabric,
        };
        for host in 0..hosts {
            for _ in 0..WINDOW {
                let packet = Packet::new(2 * host, all.to[2 * host as usize], DATA, 0);
                let nic = all.fabric.nic(all.fabric.address(host));
                all.counts.sent += 1;
                all.send(nic, &packet);
            }
        }
        all
    }

    /// Runs for `hops` more hops, to the end of a window.
    pub fn run(&mut self, hops: u64) {
        let mut scratch = Scratch { order: Vec::new(), sorted: Vec::new(), starts: Vec::new(), plans: Vec::new() };
        let end = self.counts.hops + hops;
        while self.counts.hops < end {
            self.window += 1;
            let mut bucket = take(&mut self.near[(self.window % NEAR) as usize]);
            self.scatter(&bucket.domains);
            for i in 0..self.todo.len() {
                self.walk(i, &bucket.packets, &mut scratch);
            }
            self.todo.iter().for_each(|d| self.runs[*d as usize] = (0, 0));
            self.todo.clear();
            bucket.packets.clear();
            bucket.domains.clear();
            self.spare.push(bucket);
        }
    }

    /// Passes `packet` to `port`, and puts it into the window of its arrival.
    #[inline(always)]
    fn send(&mut self, port: u32, packet: &Packet<A>) {
        let sender = &mut self.ports[port as usize];
        let Some(time) = sender.enqueue(packet.time, packet.size) else {
            self.counts.dropped += 1;
            return;
        };
        self.counts.hops += 1;
        let slot = (time / LENGTH % NEAR) as usize;
        debug_assert!(time / LENGTH > self.window && time / LENGTH - self.window < NEAR);
        let bucket = &mut self.near[slot];
        if bucket.packets.is_empty() {
            if let Some(spare) = self.spare.pop() {
                *bucket = spare;
            }
        }
        bucket.domains.push(sender.domain);
        bucket.packets.push(Packet { time, link: port, at: sender.to, ..*packet });
    }

    /// Distributes the packets of a window to their domains.
    fn scatter(&mut self, domains: &[u32]) {
        for d in domains {
            let run = &mut self.runs[*d as usize];
            if run.1 == 0 {
                self.todo.push(*d);
            }
            run.1 += 1;
        }
        let mut sum = 0;
        for d in &self.todo {
            let run = &mut self.runs[*d as usize];
            let count = run.1;
            *run = (sum, sum);
            sum += count;
        }
        self.index.resize(domains.len(), 0);
        for (i, d) in (0u32..).zip(domains) {
            let end = &mut self.runs[*d as usize].1;
            self.index[*end as usize] = i;
            *end += 1;
        }
    }

    /// Forwards the packets of the `i`th domain with work.
    #[inline(always)]
    fn walk(&mut self, i: usize, packets: &[Packet<A>], scratch: &mut Scratch) {
        let start = self.window * LENGTH;
        if let Some(following) = self.todo.get(i + 1) {
            let (from, to) = self.runs[*following as usize];
            let first = self.index[from as usize..to as usize].iter().take(AHEAD);
            first.for_each(|at| prefetch(&packets[*at as usize]));
        }
        let domain = self.todo[i];
        let (from, to) = self.runs[domain as usize];
        let mine = &self.index[from as usize..to as usize];
        let Scratch { order, plans, .. } = scratch;
        order.clear();
        plans.clear();
        for (i, at) in (0u64..).zip(mine) {
            if let Some(ahead) = mine.get(i as usize + AHEAD) {
                prefetch(&packets[*ahead as usize]);
            }
            let packet = &packets[*at as usize];
            let port = self.fabric.next(domain, packet);
            prefetch(&self.ports[port as usize]);
            plans.push((*at, port));
            order.push((packet.time - start) << 32 | i);
        }
        scratch.sort();
        scratch.break_ties(packets);
        for o in &scratch.sorted {
            let (at, port) = scratch.plans[*o as u32 as usize];
            let packet = &packets[at as usize];
            if packet.at == Kind::Host {
                self.answer(port, packet);
            } else {
                self.send(port, packet);
            }
        }
    }

    /// Answers data as a host does, or sends new data after an answer.
    #[inline(always)]
    fn answer(&mut self, port: u32, packet: &Packet<A>) {
        self.counts.delivered += 1;
        self.counts.sent += 1;
        let flow = packet.flow ^ 1;
        let size = if flow & 1 == 0 { DATA } else { ACK };
        let answer = Packet::new(flow, self.to[flow as usize], size, packet.time);
        self.send(port, &answer);
    }
}

impl Scratch {
    /// Sorts the packets of a domain by time, those of equal time by index: by counting, then by insertion.
    #[inline(always)]
    fn sort(&mut self) {
        let Scratch { order, sorted, starts, .. } = self;
        sorted.clear();
        if order.len() <= 24 {
            sorted.extend_from_slice(order);
        } else {
            let bits = order.len().ilog2().min(OFFSET_BITS);
            let slot = |o: u64| (o >> (32 + OFFSET_BITS - bits)) as usize;
            starts.clear();
            starts.resize((1 << bits) + 1, 0);
            order.iter().for_each(|o| starts[slot(*o) + 1] += 1);
            for i in 1..starts.len() {
                starts[i] += starts[i - 1];
            }
            sorted.resize(order.len(), 0);
            for o in order.iter() {
                let place = &mut starts[slot(*o)];
                sorted[*place as usize] = *o;
                *place += 1;
            }
        }
        for i in 1..sorted.len() {
            let one = sorted[i];
            let mut at = i;
            while at > 0 && sorted[at - 1] > one {
                sorted[at] = sorted[at - 1];
                at -= 1;
            }
            sorted[at] = one;
        }
    }

    /// Sorts packets of equal time by a hash of link and time, then by link; packets of a link keep their order.
    #[inline(always)]
    fn break_ties<A>(&mut self, packets: &[Packet<A>]) {
        let mut i = 1;
        while i < self.sorted.len() {
            if self.sorted[i] >> 32 == self.sorted[i - 1] >> 32 {
                i += self.order_ties(i - 1, packets);
            } else {
                i += 1;
            }
        }
    }

    #[inline(never)]
    fn order_ties<A>(&mut self, from: usize, packets: &[Packet<A>]) -> usize {
        let offset = self.sorted[from] >> 32;
        let plans = &self.plans;
        let tied = &mut self.sorted[from..];
        let len = tied.iter().take_while(|o| **o >> 32 == offset).count();
        let tied = &mut tied[..len];
        let link = |o: u64| &packets[plans[o as u32 as usize].0 as usize];
        for o in tied.iter_mut() {
            let packet = link(*o);
            *o = mix(mix(packet.link as u64) ^ packet.time) >> 32 << 32 | *o & u32::MAX as u64;
        }
        tied.sort_unstable_by_key(|o| (*o >> 32, link(*o).link, *o as u32));
        tied.iter_mut().for_each(|o| *o = offset << 32 | *o & u32::MAX as u64);
        len
    }
}

/// Partner of every host; no host is its own.
fn permutation(hosts: u32) -> Vec<u32> {
    let mut order: Vec<u32> = (0..hosts).collect();
    order.sort_unstable_by_key(|h| mix(*h as u64 ^ 0x5045_524d));
    let mut partner = vec![0; hosts as usize];
    // one cycle through all hosts
    for (i, host) in order.iter().enumerate() {
        partner[*host as usize] = order[(i + 1) % order.len()];
    }
    partner
}

/// Prefetches the first cache line of `value`.
#[inline(always)]
fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing and cannot fault, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>((value as *const T).cast::<i8>()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{HalfLine, Line};

    impl<A> Loop<A> {
        /// Packets on links and in queues.
        fn under_way(&self) -> u64 {
            self.near.iter().map(|bucket| bucket.packets.len() as u64).sum()
        }
    }

    /// Checks that sent packets have arrived, were refused or are in flight, and that every host has its window.
    fn conserved<A: Copy>(run: &Loop<A>) {
        let Counts { hops, sent, delivered, dropped } = run.counts;
        assert_eq!(sent, delivered + dropped + run.under_way());
        assert_eq!(run.under_way() + dropped, (run.fabric.hosts() * WINDOW) as u64);
        // the longest path has six ports, and a packet in flight has passed one
        assert!(hops <= 6 * sent && hops >= sent - dropped);
    }

    #[test]
    fn packets_are_neither_made_nor_lost() {
        for k in [4, 8] {
            let mut run = Loop::<HalfLine>::new(k);
            for _ in 0..20 {
                run.run(10_000);
                conserved(&run);
            }
            assert!(run.counts.delivered > 10_000);
        }
    }

    #[test]
    fn the_size_of_a_packet_changes_nothing() {
        let (mut small, mut large) = (Loop::<HalfLine>::new(4), Loop::<Line>::new(4));
        small.run(100_000);
        large.run(100_000);
        assert_eq!(small.counts, large.counts);
    }

    #[test]
    fn nobody_is_his_own_partner() {
        let partner = permutation(54);
        let mut seen = partner.clone();
        seen.sort_unstable();
        assert_eq!(seen, (0..54).collect::<Vec<u32>>());
        assert!((0..54).zip(&partner).all(|(host, partner)| host != *partner));
    }

    #[test]
    fn a_window_is_in_order_of_time_and_place() {
        for count in [1u64, 7, 24, 25, 300] {
            let order: Vec<u64> = (0..count).map(|i| (mix(i) % LENGTH / 1000 * 1000) << 32 | i).collect();
            let mut expected = order.clone();
            expected.sort_unstable();
            let mut scratch = Scratch { order, sorted: Vec::new(), starts: Vec::new(), plans: Vec::new() };
            scratch.sort();
            assert_eq!(scratch.sorted, expected);
        }
    }
}
