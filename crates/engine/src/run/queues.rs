//! Queues of domains: timers, and arrivals over links inside a domain that fall into the open window.

use crate::event::order::{Key, Timer};
use crate::event::packet::{Ext, Packet};
use crate::event::prefetch;
use crate::ids::DomainId;
use crate::run::buckets::NodeMessage;
use incast_cc::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::mem::take;

/// Event of a heap entry: a timer, or an arrival kept in a slab. The heap has only keys of arrivals, since most of its
/// events are timers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Slot {
    /// A timer.
    Timer(Timer),
    /// Index of an arrival in the slab.
    Arrival(u32),
}

const _: () = assert!(size_of::<(Key, Slot)>() == 32);

/// The queue of one domain.
pub struct Queue {
    /// Time of the first event. Read at every arrival.
    first: Time,
    /// Events, the earliest on top.
    heap: BinaryHeap<Reverse<(Key, Slot)>>,
    /// True if the top of the heap has been taken.
    hole: bool,
    arrivals: Vec<(Packet, Option<Ext>)>,
    free: Vec<u32>,
    /// Time of the registered wake-up.
    wake: Time,
    pushes: u32,
}

impl Queue {
    /// An empty queue.
    fn new() -> Queue {
        let (arrivals, free) = (Vec::new(), Vec::new());
        Queue { first: Time::NEVER, heap: BinaryHeap::new(), hole: false, arrivals, free, wake: Time::NEVER, pushes: 0 }
    }

    /// Time of the next event.
    #[inline(always)]
    pub fn next(&self) -> Time {
        self.first
    }

    /// Key of the next event.
    pub fn peek(&self) -> Option<&Key> {
        debug_assert!(!self.hole, "the queue is settled");
        self.heap.peek().map(|Reverse((key, _))| key)
    }

    /// Takes the next event. Its place stays open for the first event that it causes, until [`Queue::settle`]: to
    /// replace the top of a heap takes half the work of a removal and an insertion.
    #[inline]
    pub fn pop(&mut self) -> Option<(Key, Slot)> {
        debug_assert!(!self.hole, "the queue is settled");
        let Reverse(next) = *self.heap.peek()?;
        self.hole = true;
        Some(next)
    }

    /// Closes the open place of the event taken last.
    #[inline(always)]
    pub fn settle(&mut self) {
        if take(&mut self.hole) {
            self.heap.pop();
            self.first = self.peek().map_or(Time::NEVER, |key| key.time);
        }
    }

    #[inline]
    fn push(&mut self, key: Key, what: Slot) {
        let event = Reverse((key, what));
        if take(&mut self.hole) {
            if let Some(mut top) = self.heap.peek_mut() {
                *top = event;
            }
            self.first = self.peek().map_or(Time::NEVER, |key| key.time);
        } else {
            self.first = self.first.min(key.time);
            self.heap.push(event);
        }
    }

    /// Prefetches the next event.
    #[inline(always)]
    pub fn prefetch(&self) {
        prefetch::lines(self.heap.as_slice(), 1);
    }

    /// Adds a timer.
    #[inline]
    pub fn timer(&mut self, key: Key, timer: Timer) {
        self.push(key, Slot::Timer(timer));
    }

    /// Adds an arrival. `key` returns its key, given its number among the arrivals here.
    pub fn arrival(&mut self, packet: Packet, ext: Option<Ext>, key: impl Fn(&Packet, u32) -> Key) {
        let key = key(&packet, self.pushes);
        self.pushes = self.pushes.wrapping_add(1);
        let slot = match self.free.pop() {
            Some(i) => {
                self.arrivals[i as usize] = (packet, ext);
                i
            }
            None => {
                self.arrivals.push((packet, ext));
                self.arrivals.len() as u32 - 1
            }
        };
        self.push(key, Slot::Arrival(slot));
    }

    /// Takes out an arrival.
    pub fn take(&mut self, slot: u32) -> (Packet, Option<Ext>) {
        self.free.push(slot);
        let (packet, ext) = &mut self.arrivals[slot as usize];
        (*packet, ext.take())
    }

    /// True if something is left to happen.
    pub fn keeps_going(&self) -> bool {
        self.heap.iter().any(|Reverse((_, what))| match what {
            Slot::Timer(timer) => timer.keeps_going(),
            Slot::Arrival(_) => true,
        })
    }

    /// Packets in the queue.
    pub fn waiting(&self) -> impl Iterator<Item = Packet> {
        self.heap.iter().filter_map(|Reverse((_, what))| match what {
            Slot::Arrival(i) => Some(self.arrivals[*i as usize].0),
            Slot::Timer(_) => None,
        })
    }
}

/// Queues of the domains of one thread, and their wake-ups.
pub struct Queues {
    /// Number of the first domain.
    pub first: u32,
    /// Queues, from that of the first domain on.
    pub list: Vec<Queue>,
    wakes: BinaryHeap<Reverse<(Time, DomainId)>>,
}

impl Queues {
    /// Empty queues for `count` domains.
    pub fn new(first: u32, count: usize) -> Queues {
        let list = (0..count).map(|_| Queue::new()).collect();
        Queues { first, list, wakes: BinaryHeap::new() }
    }

    /// Plans wake-ups for queues taken over from other threads.
    pub fn plan_wakes(&mut self) {
        self.forget_wakes();
        (self.first..).zip(0..self.list.len()).for_each(|(domain, _)| self.register(DomainId(domain)));
    }

    /// Index of the domain's queue in `list`.
    #[inline(always)]
    pub fn place(&self, domain: DomainId) -> usize {
        (domain.0 - self.first) as usize
    }

    /// Plans the domain's next wake-up, unless an earlier plan covers its first event.
    #[inline]
    pub fn register(&mut self, domain: DomainId) {
        let place = self.place(domain);
        let queue = &mut self.list[place];
        let next = queue.next();
        if next < queue.wake {
            queue.wake = next;
            self.wakes.push(Reverse((next, domain)));
        }
    }

    /// Clears planned wake-ups that a single domain has passed.
    pub fn forget_wakes(&mut self) {
        self.wakes.clear();
        self.list.iter_mut().for_each(|queue| queue.wake = Time::NEVER);
    }

    /// Adds a message: a timer that another domain has set.
    pub fn push_message(&mut self, (domain, key, timer): NodeMessage) {
        let place = self.place(domain);
        self.list[place].timer(key, timer);
        self.register(domain);
    }

    /// Time of the first wake-up.
    #[inline]
    pub fn first_wake(&self) -> Time {
        self.wakes.peek().map_or(Time::NEVER, |Reverse((time, _))| *time)
    }

    /// Takes out a domain that is due before `stop`. The same domain may follow again.
    #[inline]
    pub fn due(&mut self, stop: Time) -> Option<DomainId> {
        let Reverse((time, domain)) = *self.wakes.peek().filter(|Reverse((time, _))| *time < stop)?;
        self.wakes.pop();
        let place = self.place(domain);
        let queue = &mut self.list[place];
        if queue.wake == time {
            queue.wake = Time::NEVER;
        }
        Some(domain)
    }
}
