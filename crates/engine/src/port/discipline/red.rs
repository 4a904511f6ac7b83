//! Random early detection with the semantics of ns-3's `RedQueueDisc` (3.43).
//!
//! Source: Floyd and Jacobson 1993, as ns-3 implements it. Per arrival, with q the queue before
//! the arrival and m the number of mean-size packets that could have left while it was empty:
//! 1. avg = (1-w)^(m+1) avg + w q
//! 2. if avg >= min_th and q > 1: forced above max_th (2 max_th with `gentle`); else the first
//!    crossing only starts the count; else early with the probability of 3.
//! 3. p_b rises linearly to 1/l_interm at max_th (then to 1 at 2 max_th with `gentle`);
//!    with `wait` p = 0 while count p_b < 1, p_b / (2 - count p_b) below 2, then 1;
//!    without it p_b / (1 - count p_b) while count p_b < 1, then 1.
//! 4. early: mark if `use_ecn` and the packet is ECN-capable, else drop. Forced: drop if
//!    `use_hard_drop` or it cannot be marked.
//!
//! Deliberate differences: the idle packet rate follows the port's own rate (ns-3 takes a
//! `LinkBandwidth` attribute that defaults to 1.5 Mb/s whatever the link), and random numbers
//! are keyed by (seed, link, arrival).

use super::rule::{Arrival, Place, QueueDiscipline, Verdict};
use crate::hash;
use crate::spec;
use crate::spec::Limit;
use incast_cc::{Rate, Time};

/// RED at one queue.
#[derive(Clone, PartialEq, Debug)]
pub struct Red {
    limit: Limit,
    red: Box<spec::Red>,
    arrivals: u64,
    avg: f64,
    count: u64,
    count_bytes: u64,
    /// True if the previous arrival found avg >= min_th.
    crossed: bool,
    /// Time at which the queue last became empty.
    empty_since: Time,
}

impl Red {
    pub(super) fn new(red: &spec::Red, limit: Limit) -> Red {
        let red = Box::new(red.clone());
        Red { limit, red, arrivals: 0, avg: 0.0, count: 0, count_bytes: 0, crossed: false, empty_since: Time::ZERO }
    }

    /// True if thresholds are in bytes.
    fn by_bytes(&self) -> bool {
        matches!(self.limit, Limit::Bytes(_))
    }

    /// Weight of a new value in the average.
    fn weight(&self, rate: Rate) -> f64 {
        let packets_per_second = rate.as_f64() / (8.0 * self.red.mean_pkt_size as f64);
        if self.red.qw > 0.0 { self.red.qw } else { 1.0 - libm::exp(-1.0 / packets_per_second) }
    }

    /// Decides about an arrival, apart from the hard limit.
    fn early(&mut self, a: &Arrival, place: &Place) -> Verdict {
        self.arrivals += 1;
        let queued = if self.by_bytes() { a.bytes } else { a.packets } as f64;
        // exact number of whole packets that fit into the idle time
        let idle = if a.packets == 0 {
            let byte_times =
                a.now.saturating_sub(self.empty_since).0 as u128 * place.rate.0 as u128 / 8_000_000_000_000;
            (byte_times / self.red.mean_pkt_size.max(1) as u128) as f64
        } else {
            0.0
        };
        let weight = self.weight(place.rate);
        self.avg = self.avg * libm::pow(1.0 - weight, idle + 1.0) + weight * queued;
        self.count += 1;
        self.count_bytes += a.size;
        if self.avg < self.red.min_th || queued <= 1.0 {
            self.crossed = false;
            return Verdict::Accept;
        }
        let upper = if self.red.gentle { 2.0 * self.red.max_th } else { self.red.max_th };
        if self.avg >= upper {
            return if self.red.use_hard_drop || !self.red.use_ecn || !a.ect { Verdict::Drop } else { Verdict::Mark };
        }
        if !self.crossed {
            self.crossed = true;
            self.count = 1;
            self.count_bytes = a.size;
            return Verdict::Accept;
        }
        let p = self.probability(a.size as f64);
        if hash::uniform(place.seed, hash::purpose::RED, place.entity, self.arrivals) > p {
            return Verdict::Accept;
        }
        self.count = 0;
        self.count_bytes = 0;
        if self.red.use_ecn && a.ect { Verdict::Mark } else { Verdict::Drop }
    }

    fn probability(&self, size: f64) -> f64 {
        let r = &self.red;
        let max_p = 1.0 / r.l_interm;
        let mut p = if self.avg >= r.max_th {
            // reached only with gentle
            (1.0 - max_p) / r.max_th * self.avg + (2.0 * max_p - 1.0)
        } else {
            max_p * (self.avg - r.min_th) / (r.max_th - r.min_th)
        };
        p = p.min(1.0);
        // whole mean packets, as ns-3 counts them
        let count = if self.by_bytes() { self.count_bytes / r.mean_pkt_size as u64 } else { self.count } as f64;
        let spread = count * p;
        p = if r.wait {
            if spread < 1.0 {
                0.0
            } else if spread < 2.0 {
                p / (2.0 - spread)
            } else {
                1.0
            }
        } else if spread < 1.0 {
            p / (1.0 - spread)
        } else {
            1.0
        };
        if self.by_bytes() && p < 1.0 {
            p = p * size / r.mean_pkt_size as f64;
        }
        p.min(1.0)
    }
}

impl QueueDiscipline for Red {
    fn admit(&mut self, arrival: &Arrival, place: &Place) -> Verdict {
        let early = self.early(arrival, place);
        if arrival.exceeds(self.limit) { Verdict::Drop } else { early }
    }

    fn empty(&mut self, now: Time) {
        self.empty_since = now;
    }
}
