//! Which entropy a packet takes: UET's modes.

use crate::ids::FlowId;
use crate::spec::{Recycled, Spread};
use crate::switch::policy::entropy::Source;
use crate::transport::driven::entropies::Entropies;
use incast_cc::Time;
use std::collections::VecDeque;

/// What became of a packet on a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Feedback {
    /// It arrived.
    Good,
    /// It was marked.
    Marked,
    /// It was cut before the last hop.
    Cut,
    /// It was lost.
    Lost,
}

/// Penalties of a path in the bitmap, and the most of it.
const MARKED: u8 = 1;
const CUT: u8 = 4;
const MOST: u8 = 15;

/// REPS: values of the ring, packets that explore after a freeze, its length.
const RING: u32 = 8;
const EXPLORE: u32 = 16;
const FREEZE: Time = Time::ms(10);

/// A mode, and where it stands.
#[derive(Debug)]
pub enum Spreading {
    /// All in turn.
    Oblivious(Entropies),
    /// All in turn, but for those with a penalty.
    Bitmap(Entropies),
    /// Those that came back well, from a ring of a few.
    Reps(Box<Source>),
    /// Those that came back well, each once, else as the bitmap.
    Mixed(VecDeque<u16>, Entropies),
}

impl Spreading {
    /// That of `flow`, over `count` entropies.
    pub fn new(mode: Spread, seed: u64, flow: FlowId, count: u32) -> Spreading {
        let bitmap = || Entropies::new(seed, flow, count, MOST, true);
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

    /// The entropy of the next packet.
    pub fn take(&mut self) -> u16 {
        match self {
            Spreading::Oblivious(walk) | Spreading::Bitmap(walk) => walk.take(),
            Spreading::Reps(source) => source.take(true),
            Spreading::Mixed(good, walk) => good.pop_front().unwrap_or_else(|| walk.take()),
        }
    }

    /// What became of a packet with this entropy.
    pub fn note(&mut self, now: Time, entropy: u16, what: Feedback) {
        let penalty = match what {
            Feedback::Good => 0,
            Feedback::Marked => MARKED,
            Feedback::Cut => CUT,
            Feedback::Lost => MOST,
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
