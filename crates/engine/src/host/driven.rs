//! What a host has for transports that receivers drive: the queues in front of its wire, and the pulls that wait for
//! their time. Pure: no event is made here.
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

/// The host's part in all its flows.
#[derive(Clone, Debug, Default)]
pub struct DrivenHost {
    /// Packets in front of the wire.
    pub outlet: Outlet,
    /// Pulls that wait.
    pub pulls: Pulls,
    /// Flows that wait for credit, and its rate where the core is oversubscribed.
    pub credits: Credits,
    /// See `credits`.
    pub core: CoreRate,
    /// Messages that wait for grants.
    pub scheduled: Scheduled,
    /// Messages that wait for tokens.
    pub tokens: Tokens,
    /// Of so many turns at the wire data has one where control packets wait too.
    pub turns: u32,
}

/// Flows take turns in the order of their numbers; each of them first in, first out.
#[derive(Clone, Debug)]
pub struct FairQueue<T> {
    lanes: BTreeMap<FlowId, VecDeque<T>>,
    /// Those with something.
    full: BTreeSet<FlowId>,
    /// The flow whose turn is next, or the one after it; `None`: all have had theirs.
    next: Option<FlowId>,
    waiting: usize,
}

impl<T> Default for FairQueue<T> {
    fn default() -> FairQueue<T> {
        FairQueue { lanes: BTreeMap::new(), full: BTreeSet::new(), next: None, waiting: 0 }
    }
}

impl<T> FairQueue<T> {
    /// So many empty lanes stay, so that the order of turns is remembered.
    const KEPT: usize = 64;

    /// Nothing waits.
    pub fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// Adds to the end of a flow's lane.
    pub fn push(&mut self, flow: FlowId, item: T) {
        if self.lanes.len() > FairQueue::<T>::KEPT && self.lanes.len() > 2 * self.waiting {
            self.lanes.retain(|_, lane| !lane.is_empty());
        }
        let lane = self.lanes.entry(flow).or_default();
        if lane.is_empty() {
            self.full.insert(flow);
        }
        lane.push_back(item);
        self.waiting += 1;
    }

    /// Does what adding to the lane of a flow and taking from it would do, where nothing waits.
    pub fn pass(&mut self, flow: FlowId) {
        debug_assert!(self.is_empty());
        if self.lanes.len() > FairQueue::<T>::KEPT {
            self.lanes.clear();
        }
        let mut from = self.lanes.range(flow..).map(|(flow, _)| *flow);
        let (first, second) = (from.next(), from.next());
        if first == Some(flow) {
            self.next = second;
        } else {
            self.next = first;
            self.lanes.insert(flow, VecDeque::new());
        }
    }

    /// Takes the first of the flow whose turn it is.
    pub fn pop(&mut self) -> Option<T> {
        if self.waiting == 0 {
            return None;
        }
        let from = self.next.map_or(Unbounded, Included);
        let flow = *self.full.range((from, Unbounded)).next().or_else(|| self.full.first())?;
        let mut lanes = self.lanes.range_mut(flow..);
        let lane = lanes.next()?.1;
        // an empty lane has a turn, too, at which somebody may have come
        self.next = lanes.next().map(|(flow, _)| *flow);
        let item = lane.pop_front();
        if lane.is_empty() {
            self.full.remove(&flow);
        }
        self.waiting -= 1;
        item
    }

    /// Forgets a flow. How many waited.
    pub fn flush(&mut self, flow: FlowId) -> usize {
        self.full.remove(&flow);
        let gone = self.lanes.remove(&flow).map_or(0, |lane| lane.len());
        self.waiting -= gone;
        gone
    }

    /// All that wait, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.lanes.values().flatten()
    }
}

/// The class of a packet in front of the wire: the first goes first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// What tells, and asks.
    Control,
    /// What carries.
    Data,
    /// What tells, and asks, where senders take turns at the wire: first in, first out.
    Fifo,
}

/// The queues in front of a host's wire, which has one packet at a time.
#[derive(Clone, Debug, Default)]
pub struct Outlet {
    classes: [FairQueue<Packet>; 2],
    /// Packets without data, and senders that wait for their turns; and how often both waited.
    fifo: VecDeque<Packet>,
    senders: VecDeque<FlowId>,
    both: u32,
    /// Senders of which the one with the fewest bytes to send is next.
    ranked: BTreeSet<(u64, FlowId)>,
    /// The wire is free from then on.
    pub free_at: Time,
    /// That is an event, because somebody waits for it.
    pub awaited: bool,
}

impl Outlet {
    /// A packet waits.
    pub fn push(&mut self, class: Class, packet: &Packet) {
        match class {
            Class::Fifo => self.fifo.push_back(*packet),
            _ => self.classes[class as usize].push(packet.flow, *packet),
        }
    }

    /// A packet comes, and takes the wire if that is free and nothing waits before it. Whether it does; else it waits.
    pub fn passes(&mut self, class: Class, packet: &Packet, now: Time) -> bool {
        let free = self.is_free(now) && self.classes.iter().all(FairQueue::is_empty);
        if free && class != Class::Fifo {
            self.classes[class as usize].pass(packet.flow);
        } else if !free || !self.fifo.is_empty() {
            self.push(class, packet);
            return false;
        }
        true
    }

    /// A sender waits for its turn.
    pub fn push_sender(&mut self, flow: FlowId) {
        self.senders.push_back(flow);
    }

    /// A sender with `left` bytes to send waits for its turn, which comes before those of senders with more.
    pub fn push_ranked(&mut self, left: u64, flow: FlowId) {
        self.ranked.insert((left, flow));
    }

    /// Senders that wait.
    pub fn senders(&self) -> usize {
        self.senders.len() + self.ranked.len()
    }

    /// The next packet, before all senders.
    pub fn next_packet(&mut self) -> Option<Packet> {
        self.classes.iter_mut().find_map(FairQueue::pop).or_else(|| self.fifo.pop_front())
    }

    /// Who is next. Where packets without data and senders wait, the senders have one turn of so many.
    pub fn next(&mut self, turns: u32) -> Option<Next> {
        if let Some(packet) = self.classes.iter_mut().find_map(FairQueue::pop) {
            return Some(Next::Packet(packet));
        }
        let mut data = self.fifo.is_empty();
        if !self.senders.is_empty() && !data {
            self.both = (self.both + 1) % turns.max(1);
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

    /// Nothing waits.
    pub fn is_empty(&self) -> bool {
        self.classes.iter().all(FairQueue::is_empty) && self.fifo.is_empty() && self.senders() == 0
    }

    /// The wire has nothing to send, and none of the events that say so is due.
    pub fn is_free(&self, now: Time) -> bool {
        self.free_at <= now && !self.awaited
    }

    /// Packets that wait.
    pub fn waiting(&self) -> impl Iterator<Item = &Packet> {
        self.classes.iter().flat_map(FairQueue::iter).chain(&self.fifo)
    }
}

/// Who uses the wire next.
#[derive(Clone, Copy, Debug)]
pub enum Next {
    /// A packet.
    Packet(Packet),
    /// A sender, which makes one if it may.
    Sender(FlowId),
}

/// A list of flows that wait for credit. One is served while those before it are empty.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum List {
    /// Packets of theirs are to come again.
    Again,
    /// They could use credit.
    Active,
    /// They have what they asked for, and get some beyond it.
    Idle,
}

/// What a host's pacer is told after a flow has had credit.
#[derive(Clone, Copy, Debug)]
pub struct Granted {
    /// Time until the next.
    pub gap: Time,
    /// List in which the flow goes on waiting.
    pub next: Option<List>,
}

/// Flows of a host that wait for credit, one a gap.
#[derive(Clone, Debug)]
pub struct Credits {
    lists: [VecDeque<FlowId>; 3],
    /// When the next is served; [`Time::NEVER`]: when one comes.
    pub at: Time,
}

impl Default for Credits {
    fn default() -> Credits {
        Credits { lists: Default::default(), at: Time::NEVER }
    }
}

impl Credits {
    /// A flow waits. When the event is due that serves it, if that is new.
    pub fn push(&mut self, now: Time, list: List, flow: FlowId) -> Option<Time> {
        self.lists[list as usize].push_back(flow);
        (self.at == Time::NEVER).then(|| {
            self.at = now;
            now
        })
    }

    /// Takes the flow that is served.
    pub fn pop(&mut self) -> Option<(FlowId, List)> {
        let lists = [List::Again, List::Active, List::Idle];
        { lists }.into_iter().find_map(|list| Some((self.lists[list as usize].pop_front()?, list)))
    }

    /// A flow goes on waiting.
    pub fn push_back(&mut self, list: List, flow: FlowId) {
        self.lists[list as usize].push_back(flow);
    }
}

/// A pull that waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pull {
    /// Its flow.
    pub flow: FlowId,
    /// Packets that the flow has been granted with it.
    pub count: u32,
    /// The path that it takes.
    pub path: u16,
}

/// Pulls of a host: one a gap.
#[derive(Clone, Debug)]
pub struct Pulls {
    queue: FairQueue<Pull>,
    last: Time,
    /// When the next may go, where that is an event.
    pub at: Time,
    gap: Time,
}

impl Default for Pulls {
    fn default() -> Pulls {
        Pulls { queue: FairQueue::default(), last: Time::ZERO, at: Time::NEVER, gap: Time::ZERO }
    }
}

impl Pulls {
    /// Whether a pull may go now with what answers a packet, the next `gap` later. Otherwise it is to be queued.
    pub fn may_go(&mut self, now: Time, gap: Time) -> bool {
        self.gap = gap;
        let free = self.queue.is_empty() && now - self.last >= gap;
        if free {
            self.last = now;
        }
        free
    }

    /// A pull waits. When the event is due that sends one, if that is new.
    pub fn push(&mut self, pull: Pull) -> Option<Time> {
        self.queue.push(pull.flow, pull);
        (self.at == Time::NEVER).then(|| {
            self.at = self.last + self.gap;
            self.at
        })
    }

    /// It is time for the next, and for the event after that if it comes.
    pub fn pop(&mut self, now: Time) -> Option<Pull> {
        self.at = Time::NEVER;
        let pull = self.queue.pop()?;
        self.last = now;
        if !self.queue.is_empty() {
            self.at = now + self.gap;
        }
        Some(pull)
    }

    /// A flow needs no more. How many waited.
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
        // the last turn was flow 3's, after which none follows: whoever comes is first in the next round
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
                passes.pass(flow);
                assert_eq!(waits.pop(), Some(flow));
            } else {
                passes.push(flow, flow);
            }
            assert!(waits.next == passes.next && waits.lanes.keys().eq(passes.lanes.keys()));
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
