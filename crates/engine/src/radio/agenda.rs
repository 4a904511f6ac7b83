//! What is to happen in a cell, in order.

use incast_cc::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What happens, in the order in which things of one instant do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// The last bit of a frame leaves its station.
    End,
    /// The last bit of frame `of` reaches a station that it may concern.
    Heard,
    /// A clear channel assessment ends.
    Assessed,
    /// The first bit of a frame leaves its station.
    Begin,
    /// An acknowledgement has not come.
    Timeout,
    /// A station forwards frame `of` of those that wait for that.
    Forward,
    /// Neighbour discovery goes on: `of` is [`Step::number`](super::neighbours::Step::number).
    Discover,
}

/// Something that is to happen.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Entry {
    /// When.
    pub time: Time,
    /// What.
    pub kind: Kind,
    /// Orders stations at one instant.
    pub tie: u32,
    /// At which station.
    pub station: u16,
    /// The frame, or the state of the station that it belongs to: [`Station::epoch`](super::station::Station::epoch).
    pub of: u64,
}

/// The agenda.
#[derive(Clone, Debug, Default)]
pub struct Agenda(BinaryHeap<Reverse<Entry>>);

impl Agenda {
    /// Adds an entry.
    pub fn add(&mut self, entry: Entry) {
        self.0.push(Reverse(entry));
    }

    /// When the first entry is due.
    pub fn next(&self) -> Time {
        self.0.peek().map_or(Time::NEVER, |Reverse(entry)| entry.time)
    }

    /// Takes the first entry, if it is due by `now`.
    pub fn due(&mut self, now: Time) -> Option<Entry> {
        if self.next() > now {
            return None;
        }
        self.0.pop().map(|Reverse(entry)| entry)
    }
}
