//! Writes of a closed loop: the next follows a think time after one was acknowledged.

use super::application::{Application, Start, Work, Write};
use incast_cc::Time;
use std::collections::VecDeque;

/// Keeps a number of writes outstanding. The next is written `think` after one was acknowledged.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ClosedLoop {
    /// Bytes a write.
    pub write: u64,
    /// Number of outstanding writes.
    pub outstanding: u32,
    /// Think time, from an acknowledgement to the write it allows.
    pub think: Time,
    /// Number of writes; `None`: endless.
    pub count: Option<u64>,
}

/// State of a closed loop. Boxed, since it is larger than the other applications.
pub type State = Box<Loop>;

/// The writes of a closed loop.
#[derive(Clone, Debug)]
pub struct Loop {
    app: ClosedLoop,
    stop: Time,
    /// Due times of the next writes, in order.
    due: VecDeque<Time>,
    /// Writes sent and not yet acknowledged.
    under_way: VecDeque<Write>,
    /// Writes begun so far.
    begun: u64,
}

impl Application for State {
    type Parameters = ClosedLoop;

    fn new(app: ClosedLoop, start: Start) -> State {
        let (due, under_way) = (VecDeque::new(), VecDeque::new());
        Box::new(Loop { app, stop: start.stop, due, under_way, begun: 0 })
    }

    fn open(&mut self, now: Time) {
        let first = self.app.count.unwrap_or(u64::MAX).min(self.app.outstanding as u64);
        self.due.extend((0..first).map(|_| now));
    }

    fn wanted_by(&mut self, now: Time) -> u64 {
        while let Some(begun) = self.due.front().copied().filter(|at| *at <= now) {
            self.due.pop_front();
            let number = self.begun;
            self.begun += 1;
            self.under_way.push_back(Write { number, begun, end: self.begun.saturating_mul(self.app.write) });
        }
        self.begun.saturating_mul(self.app.write)
    }

    fn next_at(&self, _: u64) -> Option<Time> {
        self.due.front().copied()
    }

    fn end(&self) -> Option<u64> {
        self.app.count.map(|count| count.saturating_mul(self.app.write))
    }

    /// Makes the next write due a think time after the acknowledged one.
    fn on_acked(&mut self, una: u64, now: Time, stopped: bool) -> Option<Write> {
        let write = *self.under_way.front().filter(|w| w.end <= una)?;
        self.under_way.pop_front();
        let planned = self.begun + self.due.len() as u64;
        if !stopped && self.app.count.is_none_or(|count| planned < count) {
            let at = now.saturating_add(self.app.think);
            if at < self.stop {
                self.due.push_back(at);
            }
        }
        Some(write)
    }

    fn work(&self) -> Option<Work> {
        let next = |at: &Time| Work {
            number: self.begun,
            begun: Some(*at),
            end: (self.begun + 1).saturating_mul(self.app.write),
        };
        let oldest = self.under_way.front().map(|w| Work { number: w.number, begun: Some(w.begun), end: w.end });
        oldest.or_else(|| self.due.front().map(next))
    }

    fn under_way(&self) -> Option<&VecDeque<Write>> {
        Some(&self.under_way)
    }
}
