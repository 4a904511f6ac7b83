//! Queue disciplines: what a port decides when a packet arrives.
//!
//! Each discipline sees the queue as it counts it (see [`crate::spec::QueueSpec`]): the packets
//! and bytes waiting before the arrival. Marks and drops are decided at the arrival, but for marks
//! at departures, for which the port keeps an explicit queue ([`crate::port::explicit`]).

mod red;
pub mod trimming;

pub use red::RedState;

use crate::spec::{Discipline, Limit, QueueSpec};

/// What happens to an arriving packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Queued.
    Accept,
    /// Queued with CE set.
    Mark,
    /// Refused.
    Drop,
}

/// Facts of an arrival which a discipline may use.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Now, ps.
    pub now: u64,
    /// Packets queued before it.
    pub packets: u64,
    /// Bytes queued before it.
    pub bytes: u64,
    /// Its size, bytes.
    pub size: u64,
    /// It is ECN-capable.
    pub ect: bool,
}

/// A limit as two numbers, so that one comparison each decides.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bound {
    packets: u64,
    bytes: u64,
}

impl Bound {
    fn new(limit: Limit) -> Bound {
        match limit {
            Limit::Packets(n) => Bound { packets: n, bytes: u64::MAX },
            Limit::Bytes(n) => Bound { packets: u64::MAX, bytes: n },
            Limit::None => Bound { packets: u64::MAX, bytes: u64::MAX },
        }
    }

    /// The threshold of a discipline that marks at departures.
    pub fn at_departure(spec: &QueueSpec) -> Option<Bound> {
        match &spec.discipline {
            Discipline::EcnAtDeparture { mark } => Some(Bound::new(*mark)),
            _ => None,
        }
    }

    /// A queue of so much exceeds it.
    #[inline]
    pub fn exceeded(&self, packets: u64, bytes: u64) -> bool {
        packets > self.packets || bytes > self.bytes
    }

    /// The queue before the arrival has reached it.
    #[inline]
    fn reached_at(&self, a: &Arrival) -> bool {
        a.packets >= self.packets || a.bytes >= self.bytes
    }

    /// The queue with the arrival would exceed it.
    #[inline]
    pub fn exceeded_by(&self, a: &Arrival) -> bool {
        a.packets >= self.packets || a.bytes.saturating_add(a.size) > self.bytes
    }
}

/// What a discipline says to an arrival: by its rule, by the state that RED keeps and when the queue last became
/// empty, and by `draw`, the arrival's random number from 0 to 1.
pub fn decide(
    rule: &Rule,
    red: Option<&mut RedState>,
    empty_since: u64,
    a: &Arrival,
    draw: impl FnOnce() -> f64,
) -> Verdict {
    match rule {
        Rule::Red { limit } => {
            let early = red.map_or(Verdict::Accept, |red| red.admit(a, empty_since));
            if early != Verdict::Drop && limit.exceeded_by(a) { Verdict::Drop } else { early }
        }
        Rule::RandomDrop { threshold, probability, .. } if threshold.exceeded_by(a) && draw() < *probability => {
            Verdict::Drop
        }
        rule => rule.admit(a),
    }
}

/// A discipline's rule; those with a state of their own keep it at the port.
#[derive(Clone, PartialEq, Debug)]
pub enum Rule {
    /// Drop-tail.
    DropTail {
        /// Largest queue.
        limit: Bound,
    },
    /// Instantaneous threshold marking.
    Ecn {
        /// Largest queue.
        limit: Bound,
        /// Threshold K.
        mark: Bound,
        /// Non-ECT arrivals above K are dropped.
        drop_not_ect: bool,
        /// Dropped ECT arrivals count as marked.
        count_dropped: bool,
    },
    /// Random drops of arrivals close to the limit.
    RandomDrop {
        /// Largest queue.
        limit: Bound,
        /// Queue, with the arrival, above which an arrival may be dropped.
        threshold: Bound,
        /// Probability that it is.
        probability: f64,
    },
    /// Random early detection: [`RedState`] decides, and this limit.
    Red {
        /// Largest queue.
        limit: Bound,
    },
}

impl Rule {
    /// The rule that `spec` asks for.
    pub fn new(spec: &QueueSpec) -> Rule {
        let limit = Bound::new(spec.limit);
        match &spec.discipline {
            Discipline::DropTail
            | Discipline::FairNic { .. }
            | Discipline::EcnAtDeparture { .. }
            | Discipline::Trimming(_)
            | Discipline::Classes { .. } => Rule::DropTail { limit },
            Discipline::EcnThreshold { mark, drop_not_ect, count_dropped } => {
                Rule::Ecn { limit, mark: Bound::new(*mark), drop_not_ect: *drop_not_ect, count_dropped: *count_dropped }
            }
            Discipline::RandomDrop { threshold, probability } => {
                Rule::RandomDrop { limit, threshold: Bound::new(*threshold), probability: *probability }
            }
            Discipline::Red(_) => Rule::Red { limit },
        }
    }

    /// Decides about an arrival, as far as the rule alone can.
    #[inline]
    pub fn admit(&self, a: &Arrival) -> Verdict {
        use Rule::{DropTail, Ecn, RandomDrop, Red};
        let (DropTail { limit } | Ecn { limit, .. } | RandomDrop { limit, .. } | Red { limit }) = self;
        if limit.exceeded_by(a) {
            return Verdict::Drop;
        }
        match self {
            Rule::Ecn { mark, drop_not_ect, .. } if mark.reached_at(a) => match (a.ect, *drop_not_ect) {
                (true, _) => Verdict::Mark,
                (false, true) => Verdict::Drop,
                (false, false) => Verdict::Accept,
            },
            _ => Verdict::Accept,
        }
    }

    /// Whether an arrival that was dropped counts as marked.
    #[cold]
    pub fn counts_as_marked(&self, a: &Arrival) -> bool {
        matches!(self, Rule::Ecn { mark, count_dropped: true, .. } if a.ect && mark.reached_at(a))
    }
}
