//! Agenda of a cell: its future events, in order.

use incast_cc::Time;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Kinds of events, in the order in which they happen at one instant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The last bit of a frame leaves its station.
    End,
    /// The last bit of frame `of` reaches a station that the frame may concern.
    Heard,
    /// A clear channel assessment ends.
    Assessed,
    /// The first bit of a frame leaves its station.
    Begin,
    /// An acknowledgement has not arrived in time.
    Timeout,
    /// A station forwards frame `of`, one of those waiting to be forwarded.
    Forward,
    /// Neighbour discovery continues: `of` is [`Step::number`](super::neighbours::Step::number).
    Discover,
}

/// An event of the agenda.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Time of the event.
    pub time: Time,
    /// Kind, tie rank of the station at one instant, and station, in this order from the highest bit down.
    rank: u64,
    /// The frame, or the state of the station that it belongs to ([`Station::epoch`](super::station::Station::epoch)).
    pub of: u64,
}

impl Entry {
    /// An event of `kind` at a station, about a frame or a state. `tie` orders stations at one instant.
    pub fn new(time: Time, kind: Kind, tie: u32, station: u16, of: u64) -> Entry {
        Entry { time, rank: (kind as u64) << 48 | (tie as u64) << 16 | station as u64, of }
    }

    /// Kind of the event.
    #[inline]
    pub fn kind(&self) -> Kind {
        match self.rank >> 48 {
            0 => Kind::End,
            1 => Kind::Heard,
            2 => Kind::Assessed,
            3 => Kind::Begin,
            4 => Kind::Timeout,
            5 => Kind::Forward,
            _ => Kind::Discover,
        }
    }

    /// Station of the event.
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

    // used by the search for an entry's place
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

/// Number of entries kept in order.
const SOON: usize = 16;

/// The agenda. A small cell has few entries at a time, for which a sorted list takes less work than a heap.
#[derive(Clone, Debug)]
pub struct Agenda {
    /// The first entries in order, the very first at the end. Empty only if there are no entries at all.
    soon: [Entry; SOON],
    /// Number of entries in `soon`.
    len: usize,
    /// Entries after all of these.
    later: BinaryHeap<Reverse<Entry>>,
}

impl Default for Agenda {
    fn default() -> Agenda {
        Agenda { soon: [Entry { time: Time::NEVER, rank: 0, of: 0 }; SOON], len: 0, later: BinaryHeap::new() }
    }
}

impl Agenda {
    /// Adds an entry.
    #[inline]
    pub fn add(&mut self, entry: Entry) {
        if self.len == SOON || !self.later.is_empty() {
            return self.add_to_many(entry);
        }
        self.insert(entry);
    }

    /// Adds an entry where not all entries are in `soon`.
    #[inline(never)]
    fn add_to_many(&mut self, entry: Entry) {
        if self.len > 0 && self.soon[0] <= entry {
            return self.later.push(Reverse(entry));
        }
        if self.len == SOON {
            self.later.push(Reverse(self.soon[0]));
            self.take_last();
        }
        self.insert(entry);
    }

    /// Inserts an entry into `soon`, which must have room.
    #[inline]
    fn insert(&mut self, entry: Entry) {
        let mut place = self.len % SOON;
        self.len = place + 1;
        while place > 0 && self.soon[place - 1] <= entry {
            self.soon[place] = self.soon[place - 1];
            place -= 1;
        }
        self.soon[place] = entry;
    }

    /// Time of the first entry.
    #[inline]
    pub fn next(&self) -> Time {
        if self.len == 0 { Time::NEVER } else { self.soon[(self.len - 1) % SOON].time }
    }

    /// Takes the first entry, if it is due by `now`.
    #[inline]
    pub fn due(&mut self, now: Time) -> Option<Entry> {
        if self.len == 0 {
            return None;
        }
        let first = self.soon[(self.len - 1) % SOON];
        if first.time > now {
            return None;
        }
        self.len -= 1;
        if self.len == 0 && !self.later.is_empty() {
            self.refill();
        }
        Some(first)
    }

    /// Removes the last entry of all, if it is of this kind at this station.
    #[inline]
    pub fn withdraw_last(&mut self, kind: Kind, station: u16) {
        let last = self.soon[0];
        if self.len > 0 && self.later.is_empty() && last.kind() == kind && last.station() == station {
            self.take_last();
        }
    }

    /// Removes the last entry of `soon`.
    fn take_last(&mut self) {
        self.soon.copy_within(1..self.len, 0);
        self.len -= 1;
    }

    #[cold]
    fn refill(&mut self) {
        while self.len < SOON / 2
            && let Some(Reverse(entry)) = self.later.pop()
        {
            self.soon[self.len] = entry;
            self.len += 1;
        }
        self.soon[..self.len].reverse();
    }
}

#[cfg(test)]
mod tests {
    use super::{Agenda, Entry, Kind, SOON};
    use crate::hash::bits;
    use incast_cc::Time;

    #[test]
    fn an_entry_is_of_the_kind_that_it_was_made_of() {
        use Kind::*;
        for kind in [End, Heard, Assessed, Begin, Timeout, Forward, Discover] {
            let entry = Entry::new(Time::ZERO, kind, u32::MAX, u16::MAX, 0);
            assert_eq!((entry.kind(), entry.station()), (kind, u16::MAX));
        }
    }

    #[test]
    fn only_the_last_entry_is_withdrawn() {
        let mut agenda = Agenda::default();
        for (time, kind, station) in [(3, Kind::Timeout, 7), (1, Kind::Begin, 7), (2, Kind::Timeout, 8)] {
            agenda.add(Entry::new(Time(time), kind, 0, station, 0));
        }
        agenda.withdraw_last(Kind::Timeout, 8);
        agenda.withdraw_last(Kind::Begin, 7);
        assert_eq!(agenda.len, 3);
        agenda.withdraw_last(Kind::Timeout, 7);
        let left: Vec<u64> = std::iter::from_fn(|| agenda.due(Time(9))).map(|entry| entry.time.0).collect();
        assert_eq!(left, [1, 2]);
        agenda.withdraw_last(Kind::Timeout, 7);
        assert_eq!(agenda.next(), Time::NEVER);
    }

    #[test]
    fn entries_are_taken_in_order_however_many_there_are() {
        let mut agenda = Agenda::default();
        let mut waiting: Vec<(Time, u64)> = Vec::new();
        let mut max = 0;
        for i in 0..40_000_u64 {
            // first more are added than taken, then fewer; some at one instant, some late
            let (draw, now) = (bits(1, 0, 0, i), i / 4);
            if draw % 16 < if i < 20_000 { 9 } else { 6 } {
                let time = Time(now + draw / 16 % if draw / 1024 % 8 == 0 { 10_000 } else { 100 });
                agenda.add(Entry::new(time, Kind::Assessed, 0, 0, i));
                waiting.push((time, i));
                max = max.max(waiting.len());
            }
            let first = waiting.iter().copied().min();
            assert_eq!(agenda.next(), first.map_or(Time::NEVER, |(time, _)| time));
            if draw % 16 >= 8 {
                let taken = agenda.due(Time(now + 50)).map(|entry| (entry.time, entry.of));
                assert_eq!(taken, first.filter(|(time, _)| time.0 <= now + 50));
                waiting.retain(|entry| Some(*entry) != taken);
            }
        }
        assert!(max > 16 * SOON, "{max}");
    }
}
