//! What messages ask for.

use super::application::{Application, Start};
use incast_cc::Time;

/// One flow of a two-way connection: writes what a [`QuerySpec`](crate::spec::QuerySpec) tells it to.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Messages;

/// Bytes that messages have asked for.
#[derive(Clone, Debug)]
pub struct State(u64);

impl Application for State {
    type Parameters = Messages;

    fn new(_: Messages, _: Start) -> State {
        State(0)
    }

    fn on_message(&mut self, bytes: u64) {
        self.0 += bytes;
    }

    fn wanted_by(&mut self, _: Time) -> u64 {
        self.0
    }
}
