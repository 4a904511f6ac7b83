//! What is to happen in a cell, in order.

use incast_cc::Time;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// What happens, in the order in which things of one instant do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
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

impl Kind {
    const ALL: [Kind; 7] =
        [Kind::End, Kind::Heard, Kind::Assessed, Kind::Begin, Kind::Timeout, Kind::Forward, Kind::Discover];
}

/// Something that is to happen.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// When.
    pub time: Time,
    /// What, which of the stations at one instant first, and at which station: in this order from the highest bit on.
    rank: u64,
    /// The frame, or the state of the station that it belongs to: [`Station::epoch`](super::station::Station::epoch).
    pub of: u64,
}

impl Entry {
    /// `kind` at a station, of a frame or a state; `tie` orders stations at one instant.
    pub fn new(time: Time, kind: Kind, tie: u32, station: u16, of: u64) -> Entry {
        Entry { time, rank: (kind as u64) << 48 | (tie as u64) << 16 | station as u64, of }
    }

    /// What.
    pub fn kind(&self) -> Kind {
        Kind::ALL[(self.rank >> 48) as usize]
    }

    /// At which station.
    pub fn station(&self) -> u16 {
        self.rank as u16
    }

    fn place(&self) -> u128 {
        (self.time.0 as u128) << 64 | self.rank as u128
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Entry) -> Ordering {
        self.place().cmp(&other.place()).then(self.of.cmp(&other.of))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Entry) -> Option<Ordering> {
        Some(self.cmp(other))
    }

    // what a heap asks
    fn le(&self, other: &Entry) -> bool {
        self.place() < other.place() || self.place() == other.place() && self.of <= other.of
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Entry) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Entry {}

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
