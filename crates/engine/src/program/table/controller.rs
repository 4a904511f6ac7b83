//! Channel of a node to its controller, and the packets that wait for answers.

use super::key::Key;
use crate::event::packet::{Ext, Packet};
use crate::spec::table;
use incast_cc::Time;
use std::collections::VecDeque;

/// Packet that waits for an answer.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// Arrival time of the answer.
    pub due: Time,
    /// Packet.
    pub packet: Packet,
    /// Extension of the packet.
    pub ext: Option<Ext>,
    /// Local ingress and egress port.
    pub way: (Option<usize>, Option<usize>),
    /// Table without an entry for it.
    pub stage: usize,
    /// Match key of the packet.
    pub key: Key,
}

/// Channel of one node.
#[derive(Clone, Debug)]
pub struct Channel {
    rule: table::Controller,
    /// One-way latency.
    latency: Time,
    /// Waiting packets in the order of their answers.
    waiting: VecDeque<Waiting>,
    /// Time at which the controller has processed all packets of the node.
    free_at: Time,
}

impl Channel {
    /// Channel without waiting packets.
    pub fn new(rule: &table::Controller) -> Channel {
        Channel { rule: rule.clone(), latency: rule.latency, waiting: VecDeque::new(), free_at: Time::ZERO }
    }

    /// Sets the latency for this node.
    pub fn place(&mut self, node: u32) {
        let way = self.rule.ways.binary_search_by_key(&node, |(at, _)| *at);
        self.latency = self.rule.latency + way.map_or(Time::ZERO, |i| self.rule.ways[i].1);
    }

    /// Parameters of the controller.
    pub fn rule(&self) -> &table::Controller {
        &self.rule
    }

    /// Returns whether another packet may wait.
    pub fn has_room(&self) -> bool {
        self.rule.buffer.is_none_or(|max| self.waiting.len() < max as usize)
    }

    /// Sends a packet to the controller and lets it wait; sets its `due`.
    pub fn ask(&mut self, now: Time, waiting: Waiting) {
        let arrives = now.saturating_add(self.latency);
        self.free_at = self.free_at.max(arrives).saturating_add(self.rule.processing);
        self.waiting.push_back(Waiting { due: self.free_at.saturating_add(self.latency), ..waiting });
    }

    /// Arrival time of the next answer.
    pub fn due(&self) -> Time {
        self.waiting.front().map_or(Time::NEVER, |first| first.due)
    }

    /// Next packet whose answer has arrived.
    pub fn answered(&mut self, now: Time) -> Option<Waiting> {
        (self.due() <= now).then(|| self.waiting.pop_front()).flatten()
    }

    /// Waiting packets.
    pub fn waiting(&self) -> impl Iterator<Item = &Packet> {
        self.waiting.iter().map(|waiting| &waiting.packet)
    }
}
