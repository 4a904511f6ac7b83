//! Writes of a closed loop: the next comes a think time after one was acknowledged.

use incast_cc::Time;
use std::collections::VecDeque;

/// A write of a closed loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Write {
    /// Number of the write, from 0.
    pub number: u64,
    /// When it was due.
    pub begun: Time,
    /// Byte after its last.
    pub end: u64,
}

/// Where a closed loop stands.
#[derive(Clone, Debug)]
pub struct ClosedLoop {
    /// Bytes a write.
    pub write: u64,
    /// Writes under way at a time.
    pub outstanding: u32,
    /// Time between an acknowledgement and the write it allows.
    pub think: Time,
    /// Writes in all; `None` never ends.
    pub count: Option<u64>,
    /// No write comes at or after it.
    pub stop: Time,
    /// When the next ones come, in order.
    pub due: VecDeque<Time>,
    /// Written, not acknowledged.
    pub under_way: VecDeque<Write>,
    /// Begun so far.
    pub begun: u64,
    /// Bytes that writes ask for.
    pub wanted: u64,
}

impl ClosedLoop {
    /// Starts.
    pub fn open(&mut self, now: Time) {
        let first = self.count.unwrap_or(u64::MAX).min(self.outstanding as u64);
        self.due.extend((0..first).map(|_| now));
    }

    /// The oldest write, if everything below `una` completes it; the next one is then due a think time later, unless
    /// the application has `stopped`.
    pub fn on_acked(&mut self, una: u64, now: Time, stopped: bool) -> Option<Write> {
        let write = *self.under_way.front().filter(|w| w.end <= una)?;
        self.under_way.pop_front();
        let planned = self.begun + self.due.len() as u64;
        if !stopped && self.count.is_none_or(|count| planned < count) {
            let at = now.saturating_add(self.think);
            if at < self.stop {
                self.due.push_back(at);
            }
        }
        Some(write)
    }

    /// Begins the writes that are due; bytes that all writes so far ask for.
    pub fn wanted_by(&mut self, now: Time) -> u64 {
        while let Some(begun) = self.due.front().copied().filter(|at| *at <= now) {
            self.due.pop_front();
            self.wanted += self.write;
            self.under_way.push_back(Write { number: self.begun, begun, end: self.wanted });
            self.begun += 1;
        }
        self.wanted
    }
}
