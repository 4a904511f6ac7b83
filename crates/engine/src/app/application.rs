//! The trait of applications, and the parameters of a flow that they are given at its start.

use crate::ids::FlowId;
use incast_cc::Time;
use std::collections::VecDeque;

/// Parameters of a flow that its application is given at the start.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// Start time of the flow.
    pub at: Time,
    /// Stop time: nothing is written at or after it.
    pub stop: Time,
    /// Bytes written beyond the application's own size.
    pub extra: u64,
    /// Seed of the run.
    pub seed: u64,
    /// Flow of the application. Random numbers are drawn for it, with
    /// [`purpose::APPLICATION`](crate::hash::purpose::APPLICATION).
    pub flow: FlowId,
}

impl Start {
    /// An application without a stop time, of flow 0.
    pub const ENDLESS: Start = Start { at: Time::ZERO, stop: Time::NEVER, extra: 0, seed: 0, flow: FlowId(0) };
}

/// An application and its progress.
pub trait Application {
    /// Parameters of the application in a specification.
    type Parameters;

    /// State before the connection opens.
    fn new(parameters: Self::Parameters, start: Start) -> Self;

    /// Upper bound of the application's rate, in bits per second, with segments of `mss` bytes.
    fn rate(&self, _mss: u32) -> f64 {
        f64::INFINITY
    }

    /// Called when the connection opens.
    fn open(&mut self, _now: Time) {}

    /// Called when a message of `bytes` is to be sent.
    fn on_message(&mut self, _bytes: u64) {}

    /// Total bytes of all writes due up to `now`.
    fn wanted_by(&mut self, _now: Time) -> u64 {
        0
    }

    /// Attempts every write due up to `now`, with `space` bytes free in the send buffer and `written` bytes accepted
    /// before. Returns the number of bytes accepted.
    fn catch_up(&mut self, now: Time, written: u64, space: u64) -> u64 {
        self.wanted_by(now).saturating_sub(written).min(space)
    }

    /// Time of the next write into a buffer with `space` bytes free. `None` if the application writes on demand of the
    /// transport, waits for more space, or is done.
    fn next_at(&self, _space: u64) -> Option<Time> {
        None
    }

    /// Bytes after which the application ends by itself; `None` if it does not.
    fn end(&self) -> Option<u64> {
        None
    }

    /// The oldest write, if everything below `una` completes it. `stopped`: no write follows it.
    fn on_acked(&mut self, _una: u64, _now: Time, _stopped: bool) -> Option<Write> {
        None
    }

    /// The oldest unacknowledged work, or the next to come; `None` where nothing has an end.
    fn work(&self) -> Option<Work> {
        self.end().map(|end| Work { number: 0, begun: None, end })
    }

    /// Writes still to be completed by acknowledgements; `None` for applications without such writes.
    fn under_way(&self) -> Option<&VecDeque<Write>> {
        None
    }
}

/// Work to be sent, as far as the application knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Work {
    /// Number of the work, from 0, where the application counts.
    pub number: u64,
    /// Start time, where the application knows it.
    pub begun: Option<Time>,
    /// Byte after the last one.
    pub end: u64,
}

/// A write that an acknowledgement completes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Write {
    /// Number of the write, from 0.
    pub number: u64,
    /// Due time of the write.
    pub begun: Time,
    /// Byte after the last one.
    pub end: u64,
}

impl Write {
    /// Bytes of the write. All writes of a flow have the same size.
    pub fn bytes(&self) -> u64 {
        self.end / (self.number + 1)
    }
}
