//! Messages of a host that wait for its grants (Homa): fewest missing bytes first, one message per sender. Pure.

use crate::ids::FlowId;
use incast_cc::Time;
use std::collections::BTreeMap;
use std::mem::take;

/// Position of a message in the order of grants.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Rank {
    /// Bytes that have not arrived.
    pub left: u64,
    /// Arrival time of the first packet.
    pub since: Time,
    /// Flow of the message.
    pub flow: FlowId,
}

/// A waiting message.
#[derive(Clone, Copy, Debug)]
pub struct Message {
    /// Position in the order.
    pub rank: Rank,
    /// Node number of its sender.
    pub src: u32,
}

/// Waiting messages.
#[derive(Clone, Debug)]
pub struct Scheduled {
    waiting: BTreeMap<FlowId, Rank>,
    order: BTreeMap<Rank, u32>,
    /// Scratch lists, kept for their allocation.
    senders: Vec<u32>,
    flows: Vec<FlowId>,
    /// Time of the event that gives grants.
    pub at: Time,
}

impl Default for Scheduled {
    fn default() -> Scheduled {
        let (senders, flows) = (Vec::new(), Vec::new());
        Scheduled { waiting: BTreeMap::new(), order: BTreeMap::new(), senders, flows, at: Time::NEVER }
    }
}

impl Scheduled {
    /// Adds, moves or removes the message of a flow. Returns whether grants may be due.
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

    /// First message of all.
    pub fn first(&self) -> Option<FlowId> {
        Some(self.order.first_key_value()?.0.flow)
    }

    /// First `max` messages that may be granted, in a list to hand back to [`Scheduled::keep`].
    pub fn active(&mut self, max: usize) -> Vec<FlowId> {
        let mut flows = take(&mut self.flows);
        flows.clear();
        self.senders.clear();
        for (rank, src) in &self.order {
            if flows.len() == max {
                break;
            }
            if !self.senders.contains(src) {
                self.senders.push(*src);
                flows.push(rank.flow);
            }
        }
        flows
    }

    /// Keeps a list's allocation.
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
        // a second message of the same sender waits for the first
        assert_eq!(set(4, 4_000, 8), [3, 2]);
        assert_eq!(scheduled.first(), Some(FlowId(3)));
        assert!(scheduled.set(FlowId(3), None));
        assert_eq!(scheduled.active(2), [FlowId(4), FlowId(2)]);
    }
}
