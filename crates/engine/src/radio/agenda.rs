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

    // what a search for its place asks
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

/// So many entries are kept in order.
const SOON: usize = 16;

/// The agenda. A small cell has a few entries at a time, which a list in order takes less work for than a heap.
#[derive(Clone, Debug, Default)]
pub struct Agenda {
    /// The first entries in order, the very first at the end. None are here only where there are none at all.
    soon: Vec<Entry>,
    /// Those that follow all of these.
    later: BinaryHeap<Reverse<Entry>>,
}

impl Agenda {
    /// Adds an entry.
    #[inline]
    pub fn add(&mut self, entry: Entry) {
        if self.soon.len() == SOON || !self.later.is_empty() {
            return self.add_to_many(entry);
        }
        self.insert(entry);
    }

    /// Adds an entry where not all are in order.
    fn add_to_many(&mut self, entry: Entry) {
        if self.soon.first().is_some_and(|last| *last <= entry) {
            return self.later.push(Reverse(entry));
        }
        if self.soon.len() == SOON {
            self.later.push(Reverse(self.soon.remove(0)));
        }
        self.insert(entry);
    }

    /// Puts an entry in its place among the first.
    #[inline]
    fn insert(&mut self, entry: Entry) {
        let mut place = self.soon.len();
        self.soon.push(entry);
        while place > 0 && self.soon[place - 1] <= entry {
            self.soon[place] = self.soon[place - 1];
            place -= 1;
        }
        self.soon[place] = entry;
    }

    /// When the first entry is due.
    #[inline]
    pub fn next(&self) -> Time {
        self.soon.last().map_or(Time::NEVER, |entry| entry.time)
    }

    /// Takes the first entry, if it is due by `now`.
    #[inline]
    pub fn due(&mut self, now: Time) -> Option<Entry> {
        let first = self.soon.pop_if(|entry| entry.time <= now)?;
        if self.soon.is_empty() && !self.later.is_empty() {
            self.refill();
        }
        Some(first)
    }

    #[cold]
    fn refill(&mut self) {
        self.soon.extend((0..SOON / 2).map_while(|_| self.later.pop()).map(|Reverse(entry)| entry));
        self.soon.reverse();
    }
}

#[cfg(test)]
mod tests {
    use super::{Agenda, Entry, Kind, SOON};
    use crate::hash::bits;
    use incast_cc::Time;

    #[test]
    fn entries_are_taken_in_order_however_many_there_are() {
        let mut agenda = Agenda::default();
        let mut waiting: Vec<(Time, u64)> = Vec::new();
        let mut most = 0;
        for i in 0..40_000_u64 {
            // more are added than taken, and then fewer; some at one instant, some late
            let (draw, now) = (bits(1, 0, 0, i), i / 4);
            if draw % 16 < if i < 20_000 { 9 } else { 6 } {
                let time = Time(now + draw / 16 % if draw / 1024 % 8 == 0 { 10_000 } else { 100 });
                agenda.add(Entry::new(time, Kind::Assessed, 0, 0, i));
                waiting.push((time, i));
                most = most.max(waiting.len());
            }
            let first = waiting.iter().copied().min();
            assert_eq!(agenda.next(), first.map_or(Time::NEVER, |(time, _)| time));
            if draw % 16 >= 8 {
                let taken = agenda.due(Time(now + 50)).map(|entry| (entry.time, entry.of));
                assert_eq!(taken, first.filter(|(time, _)| time.0 <= now + 50));
                waiting.retain(|entry| Some(*entry) != taken);
            }
        }
        assert!(most > 16 * SOON, "{most}");
    }
}
