//! Messages and receives of one rank that wait for each other: first in, first out for each (source, tag); of receives
//! from any source or with any tag the earliest posted.

use crate::graph::ANY;
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

/// Source and tag.
pub type Key = (u32, u32);

/// Hash of one or two numbers, which are not chosen by an opponent.
#[derive(Clone, Copy, Default, Debug)]
pub struct QuickHasher(u64);

/// Hashes of keys of a run.
pub type Quick = BuildHasherDefault<QuickHasher>;

impl Hasher for QuickHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u32((*byte).into()));
    }
    fn write_u32(&mut self, number: u32) {
        self.0 = (self.0.rotate_left(32) ^ u64::from(number)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 29
    }
}

/// End of a list of entries.
const NONE: u32 = u32::MAX;

/// Entry of a queue, linked to the next one.
#[derive(Clone, Copy, Debug)]
struct Entry<T> {
    order: u64,
    item: T,
    next: u32,
}

/// Queues by key. A key has one while something waits for it.
#[derive(Debug)]
struct Queues<T> {
    /// First and last entry.
    ends: HashMap<Key, (u32, u32), Quick>,
    entries: Vec<Entry<T>>,
    free: u32,
}

impl<T: Copy> Queues<T> {
    fn new() -> Queues<T> {
        Queues { ends: HashMap::default(), entries: Vec::new(), free: NONE }
    }

    fn push(&mut self, key: Key, order: u64, item: T) {
        let entry = Entry { order, item, next: NONE };
        let at = match self.entries.get_mut(self.free as usize) {
            Some(free) => {
                let at = self.free;
                self.free = free.next;
                *free = entry;
                at
            }
            None => {
                self.entries.push(entry);
                self.entries.len() as u32 - 1
            }
        };
        let ends = self.ends.entry(key).or_insert((at, NONE));
        if let Some(last) = self.entries.get_mut(ends.1 as usize) {
            last.next = at;
        }
        ends.1 = at;
    }

    fn first(&self, key: Key) -> Option<u64> {
        self.ends.get(&key).map(|(first, _)| self.entries[*first as usize].order)
    }

    fn pop(&mut self, key: Key) -> Option<(u64, T)> {
        let ends = self.ends.get_mut(&key)?;
        let at = ends.0;
        let entry = self.entries[at as usize];
        if entry.next == NONE {
            self.ends.remove(&key);
        } else {
            ends.0 = entry.next;
        }
        self.entries[at as usize].next = self.free;
        self.free = at;
        Some((entry.order, entry.item))
    }

    fn all(&self) -> Vec<(u64, T)> {
        let mut found = Vec::new();
        for (first, _) in self.ends.values() {
            let mut at = *first;
            while let Some(entry) = self.entries.get(at as usize) {
                found.push((entry.order, entry.item));
                at = entry.next;
            }
        }
        found.sort_by_key(|(order, _)| *order);
        found
    }
}

/// Messages that have arrived at a rank, and receives that it has posted.
#[derive(Debug)]
pub struct Mailbox<T> {
    posted: Queues<T>,
    arrived: Queues<T>,
    order: u64,
    /// With a receive from any: messages stand in four queues each.
    wild: bool,
    /// Keys of these messages that are not taken.
    waiting: BTreeMap<u64, Key>,
}

impl<T: Copy> Mailbox<T> {
    /// An empty mailbox; `wild` where a receive may take any source or any tag.
    pub fn new(wild: bool) -> Mailbox<T> {
        Mailbox { posted: Queues::new(), arrived: Queues::new(), order: 0, wild, waiting: BTreeMap::new() }
    }

    /// Keys under which a message is looked for.
    fn keys(&self, (source, tag): Key) -> impl Iterator<Item = Key> + use<T> {
        let all = [(source, tag), (source, ANY), (ANY, tag), (ANY, ANY)];
        all.into_iter().take(if self.wild { 4 } else { 1 })
    }

    /// Drops the messages at the heads of the queues of a key that were taken from another of its queues.
    fn forget(&mut self, key: Key) {
        for one in self.keys(key) {
            while self.arrived.first(one).is_some_and(|order| !self.waiting.contains_key(&order)) {
                self.arrived.pop(one);
            }
        }
    }

    /// Posts a receive; returns the message that it takes, or keeps it.
    pub fn post(&mut self, key: Key, receive: T) -> Option<T> {
        self.order += 1;
        if let Some((order, message)) = self.arrived.pop(key) {
            if let Some(of) = self.waiting.remove(&order) {
                self.forget(of);
            }
            return Some(message);
        }
        self.posted.push(key, self.order, receive);
        None
    }

    /// Lets a message arrive; returns the receive that it meets, or keeps it.
    pub fn arrive(&mut self, key: Key, message: T) -> Option<T> {
        if let Some(receive) = self.take_posted(key) {
            return Some(receive);
        }
        self.order += 1;
        if self.wild {
            self.waiting.insert(self.order, key);
        }
        for one in self.keys(key) {
            self.arrived.push(one, self.order, message);
        }
        None
    }

    /// Takes the earliest posted receive for a message.
    pub fn take_posted(&mut self, key: Key) -> Option<T> {
        if !self.wild {
            return self.posted.pop(key).map(|(_, receive)| receive);
        }
        let best = self.keys(key).min_by_key(|one| self.posted.first(*one).unwrap_or(u64::MAX))?;
        self.posted.pop(best).map(|(_, receive)| receive)
    }

    /// Posts a receive behind all others, without a look at what has arrived.
    pub fn post_last(&mut self, key: Key, receive: T) {
        self.order += 1;
        self.posted.push(key, self.order, receive);
    }

    /// Receives that wait, and messages that wait.
    pub fn left(&self) -> (Vec<T>, Vec<T>) {
        let items = |all: Vec<(u64, T)>| all.into_iter().map(|(_, item)| item).collect();
        let mut arrived = self.arrived.all();
        arrived.retain(|(order, _)| !self.wild || self.waiting.contains_key(order));
        arrived.dedup_by_key(|(order, _)| *order);
        (items(self.posted.all()), items(arrived))
    }
}
