//! Messages and receives of one rank that wait for each other: first in, first out for each (source, tag); of receives
//! from any source or with any tag the earliest posted.

use crate::graph::ANY;
use std::collections::{BTreeMap, HashMap, VecDeque};

/// Source and tag.
pub type Key = (u32, u32);

type Queues<T> = HashMap<Key, VecDeque<(u64, T)>>;

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
        Mailbox { posted: HashMap::new(), arrived: HashMap::new(), order: 0, wild, waiting: BTreeMap::new() }
    }

    /// Keys under which a message is looked for.
    fn keys(&self, (source, tag): Key) -> impl Iterator<Item = Key> + use<T> {
        let all = [(source, tag), (source, ANY), (ANY, tag), (ANY, ANY)];
        all.into_iter().take(if self.wild { 4 } else { 1 })
    }

    /// Drops the messages at the heads of the queues of a key that were taken from another of its queues.
    fn forget(&mut self, key: Key) {
        for one in self.keys(key) {
            if let Some(queue) = self.arrived.get_mut(&one) {
                while queue.pop_front_if(|(order, _)| !self.waiting.contains_key(order)).is_some() {}
            }
        }
    }

    /// Posts a receive; returns the message that it takes, or keeps it.
    pub fn post(&mut self, key: Key, receive: T) -> Option<T> {
        self.order += 1;
        if let Some((order, message)) = self.arrived.get_mut(&key).and_then(VecDeque::pop_front) {
            if let Some(of) = self.waiting.remove(&order) {
                self.forget(of);
            }
            return Some(message);
        }
        self.posted.entry(key).or_default().push_back((self.order, receive));
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
            self.arrived.entry(one).or_default().push_back((self.order, message));
        }
        None
    }

    /// Takes the earliest posted receive for a message.
    pub fn take_posted(&mut self, key: Key) -> Option<T> {
        let first = |queue: &VecDeque<(u64, T)>| queue.front().map(|(order, _)| *order);
        let earliest = |one: &Key| self.posted.get(one).and_then(first).unwrap_or(u64::MAX);
        let best = self.keys(key).min_by_key(earliest)?;
        self.posted.get_mut(&best)?.pop_front().map(|(_, receive)| receive)
    }

    /// Posts a receive behind all others, without a look at what has arrived.
    pub fn post_last(&mut self, key: Key, receive: T) {
        self.order += 1;
        self.posted.entry(key).or_default().push_back((self.order, receive));
    }

    /// Receives that wait, and messages that wait.
    pub fn left(&self) -> (Vec<T>, Vec<T>) {
        let all = |queues: &Queues<T>, fresh: &dyn Fn(&u64) -> bool| {
            let mut found: Vec<_> = queues.values().flatten().filter(|(order, _)| fresh(order)).copied().collect();
            found.sort_by_key(|(order, _)| *order);
            found.dedup_by_key(|(order, _)| *order);
            found.into_iter().map(|(_, one)| one).collect()
        };
        (all(&self.posted, &|_| true), all(&self.arrived, &|order| !self.wild || self.waiting.contains_key(order)))
    }
}
