//! The trait of applications, and the circumstances that they are told.

use crate::ids::FlowId;
use incast_cc::Time;
use std::collections::VecDeque;

/// Circumstances of an application, which it is told at its beginning.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// The flow starts then.
    pub at: Time,
    /// Nothing is written at or after it.
    pub stop: Time,
    /// Bytes that are written after a size.
    pub extra: u64,
    /// Seed of the run.
    pub seed: u64,
    /// Its flow: random numbers are drawn for it, with [`purpose::APPLICATION`](crate::hash::purpose::APPLICATION).
    pub flow: FlowId,
}

impl Start {
    /// An application that nothing stops, of flow 0.
    pub const ENDLESS: Start = Start { at: Time::ZERO, stop: Time::NEVER, extra: 0, seed: 0, flow: FlowId(0) };
}

/// An application and how far it has come.
pub trait Application {
    /// Its parameters in a specification.
    type Parameters;

    /// Before the connection opens.
    fn new(parameters: Self::Parameters, start: Start) -> Self;

    /// Rate that it asks for at most, in segments of `mss` bytes; bits per second.
    fn rate(&self, _mss: u32) -> f64 {
        f64::INFINITY
    }

    /// The connection is open: it starts.
    fn open(&mut self, _now: Time) {}

    /// A message of `bytes` is to be sent.
    fn on_message(&mut self, _bytes: u64) {}

    /// Bytes that all writes up to `now` ask for.
    fn wanted_by(&mut self, _now: Time) -> u64 {
        0
    }

    /// Lets everything that was to be written up to `now` try to enter the `space` free in the send buffer, after
    /// `written` bytes; how many do.
    fn catch_up(&mut self, now: Time, written: u64, space: u64) -> u64 {
        self.wanted_by(now).saturating_sub(written).min(space)
    }

    /// When it writes next, into a buffer with `space` bytes free; `None` if it does so when the transport wants, when
    /// there is more room, or never.
    fn next_at(&self, _space: u64) -> Option<Time> {
        None
    }

    /// Bytes after which it is done by itself, if it ever is.
    fn end(&self) -> Option<u64> {
        None
    }

    /// The oldest write, if everything below `una` completes it. `stopped`: none comes after it.
    fn on_acked(&mut self, _una: u64, _now: Time, _stopped: bool) -> Option<Write> {
        None
    }

    /// The oldest thing that is not acknowledged, or the next to come; `None` where nothing has an end.
    fn work(&self) -> Option<Work> {
        self.end().map(|end| Work { number: 0, begun: None, end })
    }

    /// Writes that acknowledgements are to complete; `None` if they complete none.
    fn under_way(&self) -> Option<&VecDeque<Write>> {
        None
    }
}

/// What is to be sent now, as far as the application knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Work {
    /// Its number, from 0, where the application counts.
    pub number: u64,
    /// When it began, where the application knows.
    pub begun: Option<Time>,
    /// Byte after its last.
    pub end: u64,
}

/// A write that an acknowledgement completes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Write {
    /// Number of the write, from 0.
    pub number: u64,
    /// When it was due.
    pub begun: Time,
    /// Byte after its last.
    pub end: u64,
}

impl Write {
    /// Its bytes: all writes of a flow have as many.
    pub fn bytes(&self) -> u64 {
        self.end / (self.number + 1)
    }
}
