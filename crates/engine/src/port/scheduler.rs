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
    #[inline]
    pub(super) fn next(&mut self, classes: &mut [ClassQueue], now: Time) -> Option<usize> {
        if let Scheduler::Strict = self {
            return classes.iter().position(|class| !class.queue.is_empty() && !class.pausing.holds(now));
        }
        let n = classes.len();
        let head = |i: usize| classes[i].queue.front().filter(|_| !classes[i].pausing.holds(now)).map(|w| w.size);
        let Some(first) = (0..n).find(|i| head(*i).is_some()) else {
            if let Scheduler::Weighted(w) = self {
                // the class whose turn it is has nothing either; the others lost what they had at their turns
                w.deficits[w.turn] = 0;
                w.given = false;
            }
            return None;
        };
        let w = match self {
            Scheduler::Strict => return Some(first),
            Scheduler::Headers { per_data, served } => {
                if first > 0 || head(1).is_none() {
                    return Some(first);
                }
                *served = if *served >= *per_data { 0 } else { *served + 1 };
                return Some((*served == *per_data) as usize);
            }
            Scheduler::Weighted(w) => w,
            Scheduler::Credits(tokens) => {
                let wire = classes[0].queue.front().filter(|_| first == 0).map(|w| w.wire);
                let taken = wire.is_none_or(|wire| tokens.take(now, wire));
                let other = || (1..n).find(|i| head(*i).is_some());
                return if taken { Some(first) } else { other().or(Some(NOT_YET)) };
            }
            Scheduler::LeastRank => {
                classes[first].bring_forward();
                return Some(first);
            }
        };
        loop {
            let i = w.turn;
            match head(i) {
                None => w.deficits[i] = 0,
                Some(size) => {
                    w.deficits[i] += if w.given { 0 } else { w.quanta[i] };
                    w.given = true;
                    if w.deficits[i] >= size {
                        w.deficits[i] -= size;
                        return Some(i);
                    }
                }
            }
            (w.turn, w.given) = ((i + 1) % n, false);
        }
    }
}
