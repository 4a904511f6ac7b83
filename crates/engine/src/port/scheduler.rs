//! Service order of the queues of a port.
//!
//! Strict priority serves the lowest class with a packet. Weighted queues use deficit round robin (Shreedhar and
//! Varghese, SIGCOMM 1995): at its turn a backlogged class gets its quantum, and sends as long as it lasts. The
//! remainder is kept for its next turn, and is lost when its queue is empty.

use super::class_queue::ClassQueue;
use super::settings::Settings;
use super::tokens::{NOT_YET, Tokens};
use crate::spec;
use incast_cc::Time;

/// Scheduler and its state.
#[derive(Clone, Debug)]
pub(super) enum Scheduler {
    /// Strict priority, the lowest class first.
    Strict,
    /// Deficit round robin.
    Weighted(Weighted),
    /// `per_data` packets of the first queue per packet of the second, while both have packets (htsim's
    /// `CompositeQueue`).
    Headers { per_data: u32, served: u32 },
    /// Single queue, out of order: the flow of the packet with the lowest rank ([`rank`](super::rank)).
    LeastRank,
    /// Strict priority, with tokens for the first queue ([`tokens`](super::tokens)).
    Credits(Tokens),
}

/// Deficit round robin.
#[derive(Clone, Debug)]
pub(super) struct Weighted {
    quanta: Vec<u64>,
    deficits: Vec<u64>,
    current: usize,
    /// True if the current class has received its quantum.
    given: bool,
}

impl Scheduler {
    pub(super) fn new(spec: &spec::Scheduler, settings: &Settings) -> Scheduler {
        match spec {
            spec::Scheduler::Credits(shaping) => Scheduler::Credits(Tokens::new(shaping, settings)),
            spec::Scheduler::Strict => Scheduler::Strict,
            spec::Scheduler::Weighted { quanta } => Scheduler::Weighted(Weighted {
                // a quantum of zero would never send
                quanta: quanta.iter().map(|q| (*q).max(1) as u64).collect(),
                deficits: vec![0; quanta.len()],
                current: 0,
                given: false,
            }),
        }
    }

    /// Queue of `classes` to be served at `now`, whose first packet is sent.
    #[inline(always)]
    pub(super) fn next(&mut self, classes: &mut [ClassQueue], now: Time) -> Option<usize> {
        let has = |class: &ClassQueue| class.queued.0 > 0 && !class.pausing.holds(now);
        let first = classes.iter().position(has);
        match self {
            Scheduler::Strict => {}
            Scheduler::Headers { per_data, served } => {
                if first == Some(0) && has(&classes[1]) {
                    *served = if *served >= *per_data { 0 } else { *served + 1 };
                    return Some((*served == *per_data) as usize);
                }
            }
            Scheduler::LeastRank => classes[first?].bring_forward(),
            Scheduler::Weighted(weighted) => return weighted.next(classes, now, first.is_some()),
            Scheduler::Credits(tokens) => {
                let Some(wire) = classes[0].queue.front().filter(|_| first == Some(0)).map(|w| w.wire) else {
                    return first;
                };
                if !tokens.take(now, wire) {
                    let other = classes.iter().skip(1).position(has);
                    return other.map_or(Some(NOT_YET), |i| Some(i + 1));
                }
            }
        }
        first
    }
}

impl Weighted {
    /// Queue to be served, if `some` may be.
    #[inline(never)]
    fn next(&mut self, classes: &[ClassQueue], now: Time, some: bool) -> Option<usize> {
        if !some {
            // the current class is empty, too; the others lost their deficits at their turns
            self.deficits[self.current] = 0;
            self.given = false;
            return None;
        }
        let n = classes.len();
        let head =
            |i: usize| classes[i].queue.front().filter(|_| !classes[i].pausing.holds(now)).map(|first| first.size);
        loop {
            let i = self.current;
            match head(i) {
                None => self.deficits[i] = 0,
                Some(size) => {
                    self.deficits[i] += if self.given { 0 } else { self.quanta[i] };
                    self.given = true;
                    if self.deficits[i] >= size {
                        self.deficits[i] -= size;
                        return Some(i);
                    }
                }
            }
            (self.current, self.given) = ((i + 1) % n, false);
        }
    }
}
