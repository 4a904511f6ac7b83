//! Messages of a host that wait for its grants (Homa): fewest missing bytes first, one message per sender.

use crate::ids::{FlowId, HostIx};
use crate::node::context::{Effects, NodeCtx};
use crate::transport::packet::segmentation::Rank;
use incast_cc::Time;
use std::collections::BTreeMap;
use std::mem::take;

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
    at: Time,
}

impl Default for Scheduled {
    fn default() -> Scheduled {
        let (senders, flows) = (Vec::new(), Vec::new());
        Scheduled { waiting: BTreeMap::new(), order: BTreeMap::new(), senders, flows, at: Time::NEVER }
    }
}

impl Scheduled {
    /// Sets the message of a flow that waits for grants of `host`, if any, and reconsiders all messages that may be
    /// granted.
    pub fn wait(&mut self, ctx: &mut NodeCtx<impl Effects>, host: HostIx, flow: FlowId, message: Option<Message>) {
        if self.set(flow, message) && self.at == Time::NEVER {
            self.at = ctx.now;
            ctx.pacer_timer(host, self.at);
        }
    }

    /// Returns whether grants are due now, and notes that they are given.
    pub fn is_due(&mut self, now: Time) -> bool {
        let is_due = self.at == now;
        if is_due {
            self.at = Time::NEVER;
        }
        is_due
    }

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
        assert!(scheduled.set(FlowId(3), None));
        assert_eq!(scheduled.active(2), [FlowId(4), FlowId(2)]);
    }
}
