//! Messages of a host that wait for grants of it (Homa): those that lack the fewest bytes first, one a sender. Pure.

use crate::ids::FlowId;
use incast_cc::Time;
use std::collections::BTreeMap;
use std::mem::take;

/// Where a message stands in the order of grants.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Rank {
    /// Bytes that have not come.
    pub left: u64,
    /// When its first packet came.
    pub since: Time,
    /// Its flow.
    pub flow: FlowId,
}

/// A message that waits.
#[derive(Clone, Copy, Debug)]
pub struct Message {
    /// Where it stands.
    pub rank: Rank,
    /// Node number of its sender.
    pub src: u32,
}

/// Messages that wait.
#[derive(Clone, Debug)]
pub struct Scheduled {
    waiting: BTreeMap<FlowId, Rank>,
    order: BTreeMap<Rank, u32>,
    /// Room for those that are looked through.
    senders: Vec<u32>,
    flows: Vec<FlowId>,
    /// When the event comes that gives grants.
    pub at: Time,
}

impl Default for Scheduled {
    fn default() -> Scheduled {
        let (senders, flows) = (Vec::new(), Vec::new());
        Scheduled { waiting: BTreeMap::new(), order: BTreeMap::new(), senders, flows, at: Time::NEVER }
    }
}

impl Scheduled {
    /// The message of a flow waits, or none of it does. Whether grants may be due.
    pub fn set(&mut self, flow: FlowId, message: Option<Message>) -> bool {
        let before = match message {
            Some(message) => self.waiting.insert(flow, message.rank),
            None => self.waiting.remove(&flow),
        };
        if let Some(rank) = before {
            self.order.remove(&rank);
        }
        if let Some(message) = message {
            self.order.insert(message.rank, message.src);
        }
        !self.order.is_empty()
    }

    /// The first of all.
    pub fn first(&self) -> Option<FlowId> {
        Some(self.order.first_key_value()?.0.flow)
    }

    /// The first `most` that may be granted, in a list that is to be [kept](Scheduled::keep).
    pub fn active(&mut self, most: usize) -> Vec<FlowId> {
        let mut flows = take(&mut self.flows);
        flows.clear();
        self.senders.clear();
        for (rank, src) in &self.order {
            if flows.len() == most {
                break;
            }
            if !self.senders.contains(src) {
                self.senders.push(*src);
                flows.push(rank.flow);
            }
        }
        flows
    }

    /// Keeps the room of a list.
    pub fn keep(&mut self, flows: Vec<FlowId>) {
        self.flows = flows;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_lack_least_are_granted_one_a_sender() {
        let mut scheduled = Scheduled::default();
        let mut set = |flow, left, src| {
            let rank = Rank { left, since: Time::ZERO, flow: FlowId(flow) };
            scheduled.set(FlowId(flow), Some(Message { rank, src }));
            scheduled.active(2).iter().map(|flow| flow.0).collect::<Vec<_>>()
        };
        assert_eq!(set(0, 10_000, 5), [0]);
        assert_eq!(set(1, 20_000, 6), [0, 1]);
        assert_eq!(set(2, 5_000, 7), [2, 0]);
        assert_eq!(set(3, 3_000, 8), [3, 2]);
        // a second of the same sender waits for the first
        assert_eq!(set(4, 4_000, 8), [3, 2]);
        assert_eq!(scheduled.first(), Some(FlowId(3)));
        assert!(scheduled.set(FlowId(3), None));
        assert_eq!(scheduled.active(2), [FlowId(4), FlowId(2)]);
    }
}
