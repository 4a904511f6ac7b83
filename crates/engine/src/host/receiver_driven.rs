//! Host state of receiver-driven transports: the NIC queues, and the paced pulls. Pure: creates no events.
//!
//! Sources: htsim's `FairPriorityQueue`, `FairPullQueue` and `NdpPullPacer` (Broadcom/csg-htsim 841d9e7).

use crate::event::packet::Packet;
use crate::host::core_rate::CoreRate;
use crate::host::scheduled::Scheduled;
use crate::host::tokens::Tokens;
use crate::ids::FlowId;
use incast_cc::Time;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Bound::{Included, Unbounded};

/// Host state shared by all its receiver-driven flows.
#[derive(Clone, Debug, Default)]
pub struct HostState {
    /// Packets waiting at the NIC.
    pub nic_queue: NicQueue,
    /// Pulls that wait for their pacing time.
    pub pulls: Pulls,
    /// Flows that wait for credit, and the credit rate where the core is oversubscribed.
    pub credits: Credits,
    /// See `credits`.
    pub core: CoreRate,
    /// Messages that wait for grants.
    pub scheduled: Scheduled,
    /// Messages that wait for tokens.
    pub tokens: Tokens,
    /// Data gets one of this many transmissions while control packets wait too.
    pub data_slot_period: u32,
}

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
    fifo: VecDeque<Packet>,
    senders: VecDeque<FlowId>,
    both: u32,
    /// Waiting senders by remaining bytes: the fewest first.
    ranked: BTreeSet<(u64, FlowId)>,
    /// Time from which the NIC is free.
    pub free_at: Time,
    /// Set if an event is scheduled at `free_at`, because a packet or a sender waits.
    pub event_pending: bool,
}

impl NicQueue {
    /// Queues a packet.
    pub fn push(&mut self, class: Class, packet: &Packet) {
        match class {
            Class::Fifo => self.fifo.push_back(*packet),
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

    /// Queues a sender.
    pub fn push_sender(&mut self, flow: FlowId) {
        self.senders.push_back(flow);
    }

    /// Queues a sender with `left` bytes to send, before senders with more.
    pub fn push_ranked(&mut self, left: u64, flow: FlowId) {
        self.ranked.insert((left, flow));
    }

    /// Number of waiting senders.
    pub fn senders(&self) -> usize {
        self.senders.len() + self.ranked.len()
    }

    /// Takes the next packet. Packets go before all senders.
    pub fn next_packet(&mut self) -> Option<Packet> {
        self.classes.iter_mut().find_map(FairQueue::pop).or_else(|| self.fifo.pop_front())
    }

    /// Takes the next packet or sender. While control packets and senders both wait, one of `data_slot_period`
    /// transmissions is a sender's.
    pub fn next(&mut self, data_slot_period: u32) -> Option<Next> {
        if let Some(packet) = self.classes.iter_mut().find_map(FairQueue::pop) {
            return Some(Next::Packet(packet));
        }
        let mut data = self.fifo.is_empty();
        if !self.senders.is_empty() && !data {
            self.both = (self.both + 1) % data_slot_period.max(1);
            data = self.both == 0;
        }
        match data {
            true => {
                let shortest = self.senders.pop_front().or_else(|| Some(self.ranked.pop_first()?.1));
                shortest.map(Next::Sender)
            }
            false => self.fifo.pop_front().map(Next::Packet),
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
        self.classes.iter().flat_map(FairQueue::iter).chain(&self.fifo)
    }
}

/// Next user of the NIC.
#[derive(Clone, Copy, Debug)]
pub enum Next {
    /// A packet.
    Packet(Packet),
    /// A sender, which makes a packet if it may.
    Sender(FlowId),
}

/// List of flows that wait for credit. A list is served while those before it are empty.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum List {
    /// Flows with packets to retransmit.
    Retransmit,
    /// Flows that can use more credit.
    Active,
    /// Flows whose demand is met. They receive extra credit.
    Idle,
}

/// Result of giving credit to a flow, for the host's pacer.
#[derive(Clone, Copy, Debug)]
pub struct CreditGrant {
    /// Time until the next credit.
    pub gap: Time,
    /// List in which the flow continues to wait.
    pub next: Option<List>,
}

/// Flows of a host that wait for credit, given once per gap.
#[derive(Clone, Debug)]
pub struct Credits {
    lists: [VecDeque<FlowId>; 3],
    /// Time of the next credit; [`Time::NEVER`]: when a flow begins to wait.
    pub at: Time,
}

impl Default for Credits {
    fn default() -> Credits {
        Credits { lists: Default::default(), at: Time::NEVER }
    }
}

impl Credits {
    /// Adds a flow to a list. Returns the time at which to schedule the pacer, unless it is scheduled already.
    pub fn push(&mut self, now: Time, list: List, flow: FlowId) -> Option<Time> {
        self.lists[list as usize].push_back(flow);
        (self.at == Time::NEVER).then(|| {
            self.at = now;
            now
        })
    }

    /// Takes the next flow to give credit to.
    pub fn pop(&mut self) -> Option<(FlowId, List)> {
        let lists = [List::Retransmit, List::Active, List::Idle];
        { lists }.into_iter().find_map(|list| Some((self.lists[list as usize].pop_front()?, list)))
    }

    /// Keeps a flow waiting.
    pub fn push_back(&mut self, list: List, flow: FlowId) {
        self.lists[list as usize].push_back(flow);
    }
}

/// A waiting pull.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pull {
    /// Flow that is pulled.
    pub flow: FlowId,
    /// Packets granted to the flow, up to this pull.
    pub count: u32,
    /// Path of the pull.
    pub path: u16,
}

/// Pulls of a host, sent once per gap.
#[derive(Clone, Debug)]
pub struct Pulls {
    queue: FairQueue<Pull>,
    last: Time,
    /// Time of the next pull, if an event is scheduled.
    pub at: Time,
    gap: Time,
}

impl Default for Pulls {
    fn default() -> Pulls {
        Pulls { queue: FairQueue::default(), last: Time::ZERO, at: Time::NEVER, gap: Time::ZERO }
    }
}

impl Pulls {
    /// Returns true if a pull may go now, together with the response to a packet; the next one may go `gap` later. If
    /// false, the pull must be queued.
    pub fn may_go(&mut self, now: Time, gap: Time) -> bool {
        self.gap = gap;
        let free = self.queue.is_empty() && now - self.last >= gap;
        if free {
            self.last = now;
        }
        free
    }

    /// Queues a pull. Returns the time at which to schedule the pacer, unless it is scheduled already.
    pub fn push(&mut self, pull: Pull) -> Option<Time> {
        self.queue.push(pull.flow, pull);
        (self.at == Time::NEVER).then(|| {
            self.at = self.last + self.gap;
            self.at
        })
    }

    /// Takes the pull that is due and sets the time of the next one.
    pub fn pop(&mut self, now: Time) -> Option<Pull> {
        self.at = Time::NEVER;
        let pull = self.queue.pop()?;
        self.last = now;
        if !self.queue.is_empty() {
            self.at = now + self.gap;
        }
        Some(pull)
    }

    /// Removes the pulls of a flow that needs no more. Returns their number.
    pub fn release(&mut self, flow: FlowId) -> usize {
        self.queue.flush(flow)
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
    fn pulls_keep_their_distance() {
        let mut pulls = Pulls::default();
        let (gap, pull) = (Time::ns(10), |count| Pull { flow: FlowId(0), count, path: 0 });
        assert!(pulls.may_go(Time::ns(100), gap), "none has gone for long");
        assert!(!pulls.may_go(Time::ns(109), gap));
        assert_eq!((pulls.push(pull(2)), pulls.push(pull(3))), (Some(Time::ns(110)), None));
        assert!(!pulls.may_go(Time::ns(110), gap), "others wait");
        assert_eq!((pulls.pop(Time::ns(110)), pulls.at), (Some(pull(2)), Time::ns(120)));
        assert_eq!((pulls.release(FlowId(0)), pulls.pop(Time::ns(120)), pulls.at), (1, None, Time::NEVER));
        assert!(pulls.may_go(Time::ns(120), gap));
    }
}
