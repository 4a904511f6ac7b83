//! NIC queues of hosts whose transports number packets. Pure: creates no events.
//!
//! Source: htsim's `FairPriorityQueue` (Broadcom/csg-htsim 841d9e7).

use crate::event::packet::{Ext, Packet};
use crate::ids::FlowId;
use incast_cc::Time;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Bound::{Included, Unbounded};

/// Round-robin queue over flows, in the order of flow numbers; first in, first out within a flow.
#[derive(Clone, Debug)]
pub struct FairQueue<T> {
    queues: BTreeMap<FlowId, VecDeque<T>>,
    /// Flows with waiting items.
    backlogged: BTreeSet<FlowId>,
    /// Smallest flow number to be served next; `None`: a new round begins.
    next: Option<FlowId>,
    waiting: usize,
}

impl<T> Default for FairQueue<T> {
    fn default() -> FairQueue<T> {
        FairQueue { queues: BTreeMap::new(), backlogged: BTreeSet::new(), next: None, waiting: 0 }
    }
}

impl<T> FairQueue<T> {
    /// Number of empty per-flow queues that are kept, so that the round-robin order is remembered.
    const KEPT: usize = 64;

    /// Returns whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// Appends an item to a flow's queue.
    pub fn push(&mut self, flow: FlowId, item: T) {
        if self.queues.len() > FairQueue::<T>::KEPT && self.queues.len() > 2 * self.waiting {
            self.queues.retain(|_, queue| !queue.is_empty());
        }
        let queue = self.queues.entry(flow).or_default();
        if queue.is_empty() {
            self.backlogged.insert(flow);
        }
        queue.push_back(item);
        self.waiting += 1;
    }

    /// Changes the round-robin order as a push and a pop of `flow` would. The queue must be empty.
    pub fn push_pop(&mut self, flow: FlowId) {
        debug_assert!(self.is_empty());
        if self.queues.len() > FairQueue::<T>::KEPT {
            self.queues.clear();
        }
        let mut from = self.queues.range(flow..).map(|(flow, _)| *flow);
        let (first, second) = (from.next(), from.next());
        if first == Some(flow) {
            self.next = second;
        } else {
            self.next = first;
            self.queues.insert(flow, VecDeque::new());
        }
    }

    /// Takes the first item of the flow to be served.
    pub fn pop(&mut self) -> Option<T> {
        if self.waiting == 0 {
            return None;
        }
        let from = self.next.map_or(Unbounded, Included);
        let flow = *self.backlogged.range((from, Unbounded)).next().or_else(|| self.backlogged.first())?;
        let mut queues = self.queues.range_mut(flow..);
        let queue = queues.next()?.1;
        // an empty queue has a turn, too: an item may have arrived by then
        self.next = queues.next().map(|(flow, _)| *flow);
        let item = queue.pop_front();
        if queue.is_empty() {
            self.backlogged.remove(&flow);
        }
        self.waiting -= 1;
        item
    }

    /// Removes a flow. Returns the number of its items.
    pub fn flush(&mut self, flow: FlowId) -> usize {
        self.backlogged.remove(&flow);
        let gone = self.queues.remove(&flow).map_or(0, |queue| queue.len());
        self.waiting -= gone;
        gone
    }

    /// All waiting items, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.queues.values().flatten()
    }
}

/// NIC queue of a packet, by priority: the first goes first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// Acknowledgements, grants and requests.
    Control,
    /// Data.
    Data,
    /// Control packets of transports whose senders wait for the NIC: one FIFO for all flows.
    Fifo,
}

/// NIC queues of a host. The NIC sends one packet at a time.
#[derive(Clone, Debug, Default)]
pub struct NicQueue {
    classes: [FairQueue<Packet>; 2],
    /// Control packets and senders that wait for the NIC, and the number of times both waited.
    fifo: VecDeque<(Packet, Option<Box<Ext>>)>,
    senders: VecDeque<FlowId>,
    both: u32,
    /// Waiting senders by remaining bytes: the fewest first.
    ranked: BTreeSet<(u64, FlowId)>,
    /// Time from which the NIC is free.
    pub free_at: Time,
    /// Set if an event is scheduled at `free_at`, because a packet or a sender waits.
    pub event_pending: bool,
    /// Data gets one of this many transmissions while control packets wait too.
    data_slot_period: u32,
    /// Traffic classes whose packets and senders wait for the end of a pause.
    paused: Vec<u8>,
}

impl NicQueue {
    /// Empty queues. Data gets one of `data_slot_period` transmissions while control packets wait too.
    pub fn new(data_slot_period: u32) -> NicQueue {
        NicQueue { data_slot_period, ..NicQueue::default() }
    }

    /// Queues a packet.
    pub fn push(&mut self, class: Class, packet: &Packet) {
        match class {
            Class::Fifo => self.push_control(packet, None),
            _ => self.classes[class as usize].push(packet.flow, *packet),
        }
    }

    /// Returns true if a packet goes at once, as the NIC is free and nothing waits before it; else queues the packet.
    pub fn sends_at_once(&mut self, class: Class, packet: &Packet, now: Time) -> bool {
        let free = self.is_free(now) && self.classes.iter().all(FairQueue::is_empty);
        if free && class != Class::Fifo {
            self.classes[class as usize].push_pop(packet.flow);
        } else if !free || !self.fifo.is_empty() {
            self.push(class, packet);
            return false;
        }
        true
    }

    /// Queues a control packet with its extension.
    pub fn push_control(&mut self, packet: &Packet, ext: Option<Box<Ext>>) {
        self.fifo.push_back((*packet, ext));
    }

    /// Pauses or resumes a class.
    pub fn pause(&mut self, class: u8, pauses: bool) {
        self.paused.retain(|paused| *paused != class);
        if pauses {
            self.paused.push(class);
        }
    }

    /// Resumes all classes.
    pub fn resume_all(&mut self) {
        self.paused.clear();
    }

    /// Returns whether some class is paused.
    pub fn is_held(&self) -> bool {
        !self.paused.is_empty()
    }

    /// Returns whether a class is paused.
    pub fn is_paused(&self, class: u8) -> bool {
        self.paused.contains(&class)
    }

    /// Takes the next packet or sender of a class that is not paused: control packets first. `class_of` gives the class
    /// of a flow's data, or of its control packets. Fair queues and ranked senders belong to transports whose packets
    /// wait at the port.
    pub fn next_unpaused(&mut self, class_of: impl Fn(FlowId, bool) -> u8) -> Option<Next> {
        if let Some(packet) = self.classes.iter_mut().find_map(FairQueue::pop) {
            return Some(Next::Packet(packet, None));
        }
        let goes = |flow, control| !self.is_paused(class_of(flow, control));
        if let Some(i) = self.fifo.iter().position(|(packet, _)| goes(packet.flow, true)) {
            return self.fifo.remove(i).map(Next::of);
        }
        let waiting = self.senders.iter().position(|flow| goes(*flow, false));
        let sender = waiting.and_then(|i| self.senders.remove(i));
        sender.or_else(|| Some(self.ranked.pop_first()?.1)).map(Next::Sender)
    }

    /// Queues a sender; one with `left` bytes to send before those with more.
    pub fn push_sender(&mut self, flow: FlowId, left: Option<u64>) {
        match left {
            Some(left) => {
                self.ranked.insert((left, flow));
            }
            None => self.senders.push_back(flow),
        }
    }

    /// Number of waiting senders.
    pub fn senders(&self) -> usize {
        self.senders.len() + self.ranked.len()
    }

    /// Takes the next packet. Packets go before all senders.
    pub fn next_packet(&mut self) -> Option<(Packet, Option<Box<Ext>>)> {
        let fair = self.classes.iter_mut().find_map(FairQueue::pop);
        fair.map(|packet| (packet, None)).or_else(|| self.fifo.pop_front())
    }

    /// Takes the next packet or sender. While control packets and senders both wait, one of
    /// `data_slot_period` transmissions is a sender's.
    pub fn next(&mut self) -> Option<Next> {
        if let Some(packet) = self.classes.iter_mut().find_map(FairQueue::pop) {
            return Some(Next::Packet(packet, None));
        }
        let mut data = self.fifo.is_empty();
        if !self.senders.is_empty() && !data {
            self.both = (self.both + 1) % self.data_slot_period.max(1);
            data = self.both == 0;
        }
        match data {
            true => {
                let shortest = self.senders.pop_front().or_else(|| Some(self.ranked.pop_first()?.1));
                shortest.map(Next::Sender)
            }
            false => self.fifo.pop_front().map(Next::of),
        }
    }

    /// Returns whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.classes.iter().all(FairQueue::is_empty) && self.fifo.is_empty() && self.senders() == 0
    }

    /// Returns whether the NIC is idle and no event of its becoming free is pending.
    pub fn is_free(&self, now: Time) -> bool {
        self.free_at <= now && !self.event_pending
    }

    /// Waiting packets.
    pub fn waiting(&self) -> impl Iterator<Item = &Packet> {
        self.classes.iter().flat_map(FairQueue::iter).chain(self.fifo.iter().map(|(packet, _)| packet))
    }
}

/// Next user of the NIC.
#[derive(Clone, Debug)]
pub enum Next {
    /// A packet, with its extension.
    Packet(Packet, Option<Box<Ext>>),
    /// A sender, which makes a packet if it may.
    Sender(FlowId),
}

impl Next {
    fn of((packet, ext): (Packet, Option<Box<Ext>>)) -> Next {
        Next::Packet(packet, ext)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_take_turns_by_their_numbers() {
        let mut queue = FairQueue::default();
        for (flow, item) in [(3, 'a'), (3, 'b'), (1, 'c'), (3, 'd'), (2, 'e')] {
            queue.push(FlowId(flow), item);
        }
        let first: String = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(first, "ceabd");
        // the last turn was flow 3's and no flow follows: the lowest flow number is first in the next round
        queue.push(FlowId(4), 'f');
        queue.push(FlowId(1), 'g');
        assert_eq!((queue.pop(), queue.pop()), (Some('g'), Some('f')));
        queue.push(FlowId(4), 'h');
        assert_eq!((queue.flush(FlowId(4)), queue.pop()), (1, None));
    }

    #[test]
    fn a_flow_that_passes_leaves_the_turns_as_if_it_had_waited() {
        let (mut waits, mut passes) = (FairQueue::default(), FairQueue::default());
        let mut random = 1_u64;
        for _ in 0..2000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let flow = FlowId((random >> 33) as u32 % 100);
            waits.push(flow, flow);
            if passes.is_empty() && random >> 63 == 0 {
                passes.push_pop(flow);
                assert_eq!(waits.pop(), Some(flow));
            } else {
                passes.push(flow, flow);
            }
            assert!(waits.next == passes.next && waits.queues.keys().eq(passes.queues.keys()));
            if waits.waiting > 3 {
                (0..4).for_each(|_| assert_eq!(waits.pop(), passes.pop()));
            }
        }
    }

    #[test]
    fn a_paused_class_waits_and_others_go() {
        let mut queue = NicQueue::new(u32::MAX);
        (0..3).for_each(|flow| queue.push_sender(FlowId(flow), None));
        queue.push_sender(FlowId(9), Some(1));
        // classes have numbers up to 255
        let class_of = |flow: FlowId, _| if flow == FlowId(0) { 255 } else { 0 };
        queue.pause(255, true);
        queue.pause(255, true);
        let flows = |queue: &mut NicQueue| match queue.next_unpaused(class_of) {
            Some(Next::Sender(flow)) => Some(flow.0),
            _ => None,
        };
        assert_eq!([(); 4].map(|()| flows(&mut queue)), [Some(1), Some(2), Some(9), None]);
        assert!(queue.is_held() && queue.is_paused(255));
        queue.pause(255, false);
        assert!(!queue.is_held());
        assert_eq!(flows(&mut queue), Some(0));
    }
}
