//! Whose turn it is among the queues of a port.
//!
//! Strict priority serves the lowest class that has something. Weighted queues are deficit round robin
//! (Shreedhar and Varghese, SIGCOMM 1995): a class at whose turn something waits gets its quantum, and sends as
//! long as that lasts; what is left stays for its next turn, and is lost when its queue is empty.

use super::class_queue::ClassQueue;
use super::settings::Settings;
use super::tokens::{NOT_YET, Tokens};
use crate::spec;
use incast_cc::Time;

/// The order of service, and where it stands.
#[derive(Clone, Debug)]
pub(super) enum Scheduler {
    /// The lowest first.
    Strict,
    /// In turn, by bytes.
    Weighted(Weighted),
    /// So many of the first queue for one of the second, where both have something (htsim's `CompositeQueue`).
    Headers { per_data: u32, served: u32 },
    /// The only queue, out of order: the flow with the packet of least rank ([`rank`](super::rank)).
    LeastRank,
    /// The lowest first, but the first queue only as tokens come ([`tokens`](super::tokens)).
    Credits(Tokens),
}

/// Deficit round robin.
#[derive(Clone, Debug)]
pub(super) struct Weighted {
    quanta: Vec<u64>,
    deficits: Vec<u64>,
    turn: usize,
    /// The class whose turn it is has had its quantum.
    given: bool,
}

impl Scheduler {
    pub(super) fn new(spec: &spec::Scheduler, settings: &Settings) -> Scheduler {
        match spec {
            spec::Scheduler::Credits(shaping) => Scheduler::Credits(Tokens::new(shaping, settings)),
            spec::Scheduler::Strict => Scheduler::Strict,
            spec::Scheduler::Weighted { quanta } => Scheduler::Weighted(Weighted {
                // a quantum of nothing would never send
                quanta: quanta.iter().map(|q| (*q).max(1) as u64).collect(),
                deficits: vec![0; quanta.len()],
                turn: 0,
                given: false,
            }),
        }
    }

    /// The queue of `classes` to be served at `now`, its first packet being the one to go.
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
    /// The queue to be served, if `some` may be.
    #[inline(never)]
    fn next(&mut self, classes: &[ClassQueue], now: Time, some: bool) -> Option<usize> {
        if !some {
            // the class whose turn it is has nothing either; the others lost what they had at their turns
            self.deficits[self.turn] = 0;
            self.given = false;
            return None;
        }
        let n = classes.len();
        let head =
            |i: usize| classes[i].queue.front().filter(|_| !classes[i].pausing.holds(now)).map(|first| first.size);
        loop {
            let i = self.turn;
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
            (self.turn, self.given) = ((i + 1) % n, false);
        }
    }
}
