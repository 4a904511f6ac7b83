//! Spreading modes of UET: choice of the entropy of a packet.

use crate::ids::FlowId;
use crate::spec::{Recycled, Spread};
use crate::switch::policy::entropy::Source;
use crate::transport::packet::entropies::Entropies;
use incast_cc::Time;
use std::collections::VecDeque;

/// Fate of a packet on its path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Feedback {
    /// Arrived.
    Good,
    /// Arrived with a mark.
    Marked,
    /// Trimmed before the last hop.
    Cut,
    /// Lost.
    Lost,
}

/// Penalties of a path in the bitmap, and their upper bound.
const MARKED: u8 = 1;
const CUT: u8 = 4;
const MAX: u8 = 15;

/// REPS: ring size, packets that explore after a freeze, duration of a freeze.
const RING: u32 = 8;
const EXPLORE: u32 = 16;
const FREEZE: Time = Time::ms(10);

/// Spreading mode with its state.
#[derive(Debug)]
pub enum Spreading {
    /// All entropies in turn.
    Oblivious(Entropies),
    /// All in turn, except penalised ones.
    Bitmap(Entropies),
    /// Entropies with good feedback, from a small ring.
    Reps(Box<Source>),
    /// Entropies with good feedback, each once; else as the bitmap.
    Mixed(VecDeque<u16>, Entropies),
}

impl Spreading {
    /// Spreading of `flow` over `count` entropies.
    pub fn new(mode: Spread, seed: u64, flow: FlowId, count: u32) -> Spreading {
        let bitmap = || Entropies::new(seed, flow, count, MAX, true);
        match mode {
            Spread::Oblivious => Spreading::Oblivious(bitmap()),
            Spread::Bitmap => Spreading::Bitmap(bitmap()),
            Spread::Reps => {
                let rule = Recycled { ring: RING, values: count, explore: EXPLORE, freeze: FREEZE };
                Spreading::Reps(Box::new(Source::recycled(seed, flow, rule)))
            }
            Spread::Mixed => Spreading::Mixed(VecDeque::new(), bitmap()),
        }
    }

    /// Entropy of the next packet.
    pub fn take(&mut self) -> u16 {
        match self {
            Spreading::Oblivious(walk) | Spreading::Bitmap(walk) => walk.take(),
            Spreading::Reps(source) => source.take(true),
            Spreading::Mixed(good, walk) => good.pop_front().unwrap_or_else(|| walk.take()),
        }
    }

    /// Takes in the feedback for a packet with this entropy.
    pub fn note(&mut self, now: Time, entropy: u16, what: Feedback) {
        let penalty = match what {
            Feedback::Good => 0,
            Feedback::Marked => MARKED,
            Feedback::Cut => CUT,
            Feedback::Lost => MAX,
        };
        match self {
            Spreading::Oblivious(_) => {}
            Spreading::Bitmap(walk) => walk.penalise(entropy, penalty),
            Spreading::Reps(source) => {
                if what == Feedback::Lost {
                    source.timed_out(now);
                }
                source.on_ack(now, entropy, what != Feedback::Good);
            }
            Spreading::Mixed(good, walk) => {
                walk.penalise(entropy, penalty);
                if what == Feedback::Good {
                    good.push_back(entropy);
                }
            }
        }
    }
}
