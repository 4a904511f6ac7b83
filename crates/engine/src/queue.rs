//! Queue disciplines: what a port decides when a packet arrives.
//!
//! Each discipline sees the queue as it counts it (see [`crate::spec::QueueSpec`]): the packets
//! and bytes waiting before the arrival. Marks and drops are decided at the arrival.

mod red;

pub use red::RedState;

use crate::spec::{Discipline, Limit, LinkSpec, QueueSpec};

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
#[derive(Clone, Copy, Debug)]
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
    #[inline]
    fn reached(&self, packets: u64, bytes: u64) -> bool {
        packets >= self.packets || bytes >= self.bytes
    }
}

/// A discipline with its state.
#[derive(Clone, Debug)]
pub enum Queue {
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
    },
    /// Random early detection.
    Red {
        /// Largest queue.
        limit: Bound,
        /// State.
        red: Box<RedState>,
    },
}

impl Queue {
    /// The queue that `spec` asks for at the port of `link` (number `id`).
    pub fn new(spec: &QueueSpec, link: &LinkSpec, id: u32, seed: u64) -> Queue {
        let limit = Bound::new(spec.limit);
        match &spec.discipline {
            Discipline::DropTail | Discipline::FairNic { .. } => Queue::DropTail { limit },
            Discipline::EcnThreshold { mark, drop_not_ect } => {
                Queue::Ecn { limit, mark: Bound::new(*mark), drop_not_ect: *drop_not_ect }
            }
            Discipline::Red(red) => {
                let by_bytes = matches!(spec.limit, Limit::Bytes(_));
                Queue::Red { limit, red: Box::new(RedState::new(red.clone(), by_bytes, link.rate, id, seed)) }
            }
        }
    }

    /// Decides about an arrival. `empty_since` says when the queue last became empty, ps.
    #[inline]
    pub fn admit(&mut self, a: &Arrival, empty_since: &u64) -> Verdict {
        let over = |limit: &Bound| a.packets >= limit.packets || a.bytes.saturating_add(a.size) > limit.bytes;
        match self {
            Queue::DropTail { limit } => {
                if over(limit) {
                    Verdict::Drop
                } else {
                    Verdict::Accept
                }
            }
            Queue::Ecn { limit, mark, drop_not_ect } => {
                if over(limit) {
                    return Verdict::Drop;
                }
                if !mark.reached(a.packets, a.bytes) {
                    return Verdict::Accept;
                }
                match (a.ect, *drop_not_ect) {
                    (true, _) => Verdict::Mark,
                    (false, true) => Verdict::Drop,
                    (false, false) => Verdict::Accept,
                }
            }
            Queue::Red { limit, red } => {
                let verdict = red.admit(a, *empty_since);
                if verdict != Verdict::Drop && over(limit) { Verdict::Drop } else { verdict }
            }
        }
    }
}
