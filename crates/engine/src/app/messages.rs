//! Bytes requested by messages.

use super::application::{Application, Start, Work};
use incast_cc::Time;

/// One flow of a two-way connection. Writes the messages of its [`QuerySpec`](crate::spec::QuerySpec).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Messages;

/// Bytes requested by messages, and whether more messages may come.
#[derive(Clone, Debug)]
pub struct State {
    asked: u64,
    closed: bool,
}

impl Application for State {
    type Parameters = Messages;

    fn new(_: Messages, _: Start) -> State {
        State { asked: 0, closed: false }
    }

    fn on_message(&mut self, bytes: u64) {
        self.asked += bytes;
    }

    fn wanted_by(&mut self, _: Time) -> u64 {
        self.asked
    }

    fn end(&self) -> Option<u64> {
        self.closed.then_some(self.asked)
    }

    /// The latest message. A message follows only after the previous one has arrived.
    fn work(&self) -> Option<Work> {
        (self.asked > 0).then_some(Work { number: 0, begun: None, end: self.asked })
    }
}

impl State {
    /// Called when no further message will come.
    pub fn close(&mut self) {
        self.closed = true;
    }
}
