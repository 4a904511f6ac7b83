//! Messages in ASTRA-sim's analytical networks (astra-sim/astra-network-analytical 599a047).
//!
//! A message of S bytes over h links of B GB/s, with 1 GB = 2^30 B, and a latency of L ns a link:
//!
//! ```text
//! unaware of congestion     floor(h L + S/B)
//! aware                     h floor(L + S/B): a chunk is received whole before it goes on, links are FIFO
//! ```
//!
//! Times are whole nanoseconds, rounded down link by link. The all-gather is that of the aware example: every NPU of a
//! ring sends its chunk to each other one by the shorter way, clockwise if both are equal, all at time 0.

use crate::declaration::{Model, Parameters, evaluate};
use crate::paths::is_positive;
use crate::{Figures, Invalid};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Most NPUs of the all-gather, whose chunks are followed one by one.
const MOST_NPUS: f64 = 128.0;

parameters! {
    /// A message, and an all-gather of chunks of its size.
    Astra gives Times {
        /// Message, or chunk of an NPU.
        size_bytes as "size": Size "" = 1_048_576.0, "congestion_aware/example.cpp", "a size above 0" => is_positive;
        /// Bandwidth of a link, in units of 2^30 B/s.
        bandwidth as "bandwidth": Number "GB/s" = 50.0, "input/Ring.yml", "a number above 0" => is_positive;
        /// Latency of a link.
        latency_s as "latency": Time "" = 500e-9, "input/Ring.yml", "a time of at least 0" =>
            |l| l >= 0.0 && l.is_finite();
        /// Links between the two NPUs on the ring.
        hops as "hops": Number "links" = 3.0, "from NPU 1 to NPU 4", "a whole number of at least 1" =>
            |h| h >= 1.0 && h.fract() == 0.0 && h.is_finite();
        /// NPUs of the all-gather.
        npus as "npus": Number "" = 16.0, "input/Ring.yml", "a whole number from 2 to 128" =>
            |n| (2.0..=MOST_NPUS).contains(&n) && n.fract() == 0.0;
    }
}

figures! {
    /// Times by network.
    Times {
        /// Message on a ring, unaware of congestion.
        ring_s: "s";
        /// Message through a switch, over two links.
        switch_s: "s";
        /// Message between neighbours of a full mesh.
        full_mesh_s: "s";
        /// Message on a ring, aware of congestion.
        aware_ring_s: "s";
        /// Message through a switch.
        aware_switch_s: "s";
        /// Message between neighbours of a full mesh.
        aware_full_mesh_s: "s";
        /// All-gather of a ring in both directions, chunk by chunk.
        aware_all_gather_s: "s";
    }
}

/// Description printed by `describe`.
pub static MODEL: Model = Model {
    name: "astra",
    title: "Messages in ASTRA-sim's analytical networks",
    source: "astra-sim/astra-network-analytical, commit 599a047",
    what: "Times of a message and of an all-gather, as that program prints them.",
    assumptions: &[
        "Nothing else is under way, except in the all-gather.",
        "No packets, headers, acknowledgements or congestion control; a GB is 2^30 bytes.",
        "Unaware of congestion, links have any capacity, and a message is stored nowhere on its way.",
    ],
    fails: &[
        "Large messages over several links: aware of congestion, each link adds the time of the whole message.",
        "Shared links: unaware of congestion, they cost nothing.",
    ],
    parameters: Astra::PARAMETERS,
    figures: Times::FIGURES,
    evaluate: evaluate::<Astra>,
};

/// Event of the all-gather at a directed link.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A chunk arrives behind the link with so many links left.
    Arrives(usize, usize),
    /// The link has sent a chunk.
    Free(usize),
}

/// Links of a ring, `2 i` clockwise from NPU i and `2 i + 1` the other way, and chunks that wait for them.
struct Ring {
    npus: usize,
    sending_ns: u64,
    crossing_ns: u64,
    busy: Vec<bool>,
    waiting: Vec<VecDeque<usize>>,
    /// Events by time and order of their scheduling.
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    scheduled: u64,
}

impl Ring {
    fn at(&mut self, time: u64, event: Event) {
        self.events.push(Reverse((time, self.scheduled, event)));
        self.scheduled += 1;
    }

    fn send(&mut self, now: u64, link: usize, left: usize) {
        if self.busy[link] {
            self.waiting[link].push_back(left);
            return;
        }
        self.busy[link] = true;
        self.at(now.saturating_add(self.crossing_ns), Event::Arrives(link, left - 1));
        self.at(now.saturating_add(self.sending_ns), Event::Free(link));
    }

    /// Link of the same direction from the NPU behind this link.
    fn next(&self, link: usize) -> usize {
        let (npu, way) = (link / 2, link % 2);
        let to = if way == 0 { npu + 1 } else { npu + self.npus - 1 };
        2 * (to % self.npus) + way
    }

    fn all_gather(mut self) -> u64 {
        for from in 0..self.npus {
            for to in (0..self.npus).filter(|to| *to != from) {
                let clockwise = (to + self.npus - from) % self.npus;
                let other = self.npus - clockwise;
                let (way, hops) = if other < clockwise { (1, other) } else { (0, clockwise) };
                self.send(0, 2 * from + way, hops);
            }
        }
        let mut end = 0;
        while let Some(Reverse((now, _, event))) = self.events.pop() {
            end = now;
            match event {
                Event::Arrives(_, 0) => {}
                Event::Arrives(link, left) => self.send(now, self.next(link), left),
                Event::Free(link) => {
                    self.busy[link] = false;
                    if let Some(left) = self.waiting[link].pop_front() {
                        self.send(now, link, left);
                    }
                }
            }
        }
        end
    }
}

impl Astra {
    fn work_out(&self) -> Result<Times, Invalid> {
        let latency = self.latency_s * 1e9;
        // a decimal number of seconds is no whole number of nanoseconds in binary
        let latency = if (latency - latency.round()).abs() < 1e-6 { latency.round() } else { latency };
        let sending = self.size_bytes / (self.bandwidth * f64::from(1 << 30) / 1e9);
        let seconds = |ns: f64| ns * 1e-9;
        let unaware = |hops: f64| seconds((hops * latency + sending).floor());
        let aware = |hops: f64| seconds(hops * (latency + sending).floor());
        let npus = self.npus as usize;
        let ring = Ring {
            npus,
            sending_ns: sending as u64,
            crossing_ns: (latency + sending) as u64,
            busy: vec![false; 2 * npus],
            waiting: vec![VecDeque::new(); 2 * npus],
            events: BinaryHeap::new(),
            scheduled: 0,
        };
        Ok(Times {
            ring_s: unaware(self.hops),
            switch_s: unaware(2.0),
            full_mesh_s: unaware(1.0),
            aware_ring_s: aware(self.hops),
            aware_switch_s: aware(2.0),
            aware_full_mesh_s: aware(1.0),
            aware_all_gather_s: seconds(ring.all_gather() as f64),
        })
    }
}
