//! The channel of a node to its controller, and the packets that wait for answers.

use super::key::Key;
use crate::event::packet::{Ext, Packet};
use crate::spec::table;
use incast_cc::Time;
use std::collections::VecDeque;

/// A packet that waits for an answer.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// When the answer comes.
    pub due: Time,
    /// The packet.
    pub packet: Packet,
    /// Its extension.
    pub ext: Option<Ext>,
    /// Local ports in and out.
    pub way: (Option<usize>, Option<usize>),
    /// The table that had no entry for it.
    pub stage: usize,
    /// What entries match of it.
    pub key: Key,
}

/// The channel of one node.
#[derive(Clone, Debug)]
pub struct Channel {
    rule: table::Controller,
    /// Each way.
    latency: Time,
    /// In the order of the answers.
    waiting: VecDeque<Waiting>,
    /// When the controller is done with all that it has.
    free_at: Time,
}

impl Channel {
    /// Nothing waits.
    pub fn new(rule: &table::Controller) -> Channel {
        Channel { rule: rule.clone(), latency: rule.latency, waiting: VecDeque::new(), free_at: Time::ZERO }
    }

    /// It is that of this node.
    pub fn place(&mut self, node: u32) {
        let way = self.rule.ways.binary_search_by_key(&node, |(at, _)| *at);
        self.latency = self.rule.latency + way.map_or(Time::ZERO, |i| self.rule.ways[i].1);
    }

    /// What it does.
    pub fn rule(&self) -> &table::Controller {
        &self.rule
    }

    /// Whether another packet may wait.
    pub fn has_room(&self) -> bool {
        self.rule.buffer.is_none_or(|most| self.waiting.len() < most as usize)
    }

    /// A packet asks `now`, and waits; its `due` is set here.
    pub fn ask(&mut self, now: Time, waiting: Waiting) {
        let arrives = now.saturating_add(self.latency);
        self.free_at = self.free_at.max(arrives).saturating_add(self.rule.processing);
        self.waiting.push_back(Waiting { due: self.free_at.saturating_add(self.latency), ..waiting });
    }

    /// When the next answer comes.
    pub fn due(&self) -> Time {
        self.waiting.front().map_or(Time::NEVER, |first| first.due)
    }

    /// A packet whose answer has come.
    pub fn answered(&mut self, now: Time) -> Option<Waiting> {
        (self.due() <= now).then(|| self.waiting.pop_front()).flatten()
    }

    /// The packets that wait.
    pub fn waiting(&self) -> impl Iterator<Item = &Packet> {
        self.waiting.iter().map(|waiting| &waiting.packet)
    }
}
