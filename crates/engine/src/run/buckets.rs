//! Packets in flight, in append-only buckets, one for each near window.

use crate::event::order::{Key, Order, Timer};
use crate::event::outbox::Instant;
use crate::event::packet::{Ext, Packet, flag};
use crate::ids::{DomainId, LinkId};
use crate::map::fabric::Place;
use crate::run::pages::{Head, Pages, Spare};
use crate::spec::Ties;
use incast_cc::Time;
use std::collections::BTreeMap;
use std::mem::{swap, take};
use std::sync::Arc;

/// Number of near windows: the bits of a word. Few, so that their packets stay in the near caches.
pub const NEAR: u64 = u32::BITS as u64;
const MASK: u64 = NEAR - 1;
/// Windows of a block. The near windows are those of the open window's block and of the next one.
pub const BLOCK: u64 = NEAR / 2;

/// Packets that arrive in a window, in order of sending.
#[derive(Default)]
pub struct Bucket {
    /// Start of the window, once it is open.
    pub start: Time,
    pub packets: Pages,
    pub exts: Vec<Ext>,
}

impl Bucket {
    /// Appends a copy of `packet`, still to be stamped, to a page with room. Returns its place and the copy.
    #[inline(always)]
    fn push(&mut self, head: Head, packet: &Packet, ext: Option<&mut Ext>) -> (usize, &mut Packet) {
        let (place, copy) = self.packets.push(head, packet);
        if let Some(ext) = ext {
            copy.set_ext(self.exts.len());
            self.exts.push(take(ext));
        }
        (place, copy)
    }

    /// Tie key of the packet at `place`. The packet is far away in memory: it is read only if its head is not enough.
    #[inline]
    pub fn tie(&self, place: usize, order: Order) -> u32 {
        let head = self.packets.head(place);
        match order.ties {
            Ties::Hash => order.tie_on(head.link, self.start + Time(head.offset as u64)),
            _ => order.tie_of(&self.packets[place]),
        }
    }

    /// Passes the packets to `take`, in order of sending.
    pub fn each(&mut self, mut take: impl FnMut(&Head, &Packet, Option<&mut Ext>)) {
        for (packet, head) in self.packets.iter().flat_map(|(_, heads, packets)| packets.iter().zip(heads)) {
            let mut ext = packet.ext().map(|i| std::mem::take(&mut self.exts[i as usize]));
            take(head, packet, ext.as_mut());
        }
    }

    fn clear(&mut self, spare: &mut Spare) {
        self.packets.clear(spare);
        self.exts.clear();
    }
}

/// Arrival of a packet: number of windows from the open one, and offset from the start of that window.
#[derive(Clone, Copy, Debug)]
pub struct Due {
    /// Windows from the open one.
    pub ahead: u64,
    /// Time in that window, ps.
    pub offset: u32,
}

/// Shards that the packets and messages of a thread's domains go to: its own, or that of another thread.
#[derive(Clone, Debug, Default)]
pub struct Shards {
    /// Index of this thread.
    pub me: usize,
    /// Thread of each domain. Empty if one thread has all.
    pub of: Arc<[u8]>,
}

impl Shards {
    /// Thread of `domain`.
    #[inline(always)]
    fn shard(&self, domain: DomainId) -> usize {
        if self.of.is_empty() { 0 } else { self.of[domain] as usize }
    }
}

/// Batch of packets and messages that one thread passes to another when a window opens.
#[derive(Default)]
pub struct Batch {
    bucket: Bucket,
    messages: Vec<NodeMessage>,
}

/// Span in which a domain with radio cells may run by itself.
#[derive(Clone, Copy, Default)]
pub struct SoloSpan {
    /// No packet reaches the domain before this, and the open window lasts as long.
    pub until: Time,
    /// With a single domain: the end of the run. Before it, windows may follow one another at once.
    pub end: Time,
    /// Number of further windows that may follow before anything else is checked.
    pub windows: u64,
    /// True if the timer of a cell may be kept outside the queue of the domain.
    pub holds: bool,
    /// The timer kept outside the queue, with its instant.
    pub deferred: Option<(Instant, Timer)>,
}

/// A message: a timer of a domain, set by another one.
pub type NodeMessage = (DomainId, Key, Timer);

/// Buckets of the near windows, and the windows with work.
pub struct Buckets {
    pub order: Order,
    pub length: Time,
    /// Total length of the near windows, from the open one on.
    reach: Time,
    /// ceil(2^64 / length): exact floor division for offsets below NEAR * length.
    inverse: u64,
    /// The open window and its start.
    pub window: u64,
    pub start: Time,
    shards: Shards,
    /// Buckets of window w at w % NEAR, for each thread in turn.
    pub near: Vec<Bucket>,
    /// Bit w % NEAR: packets arrive in window w.
    occupied: u32,
    /// Spare pages and lists of pages.
    spare: Spare,
    empty: Vec<Bucket>,
    /// Arrivals beyond the near windows, by block, and empty buckets for them. Each is written and read sequentially: a
    /// queue of 250 packets at each of many ports does not stay in the caches.
    far: BTreeMap<u64, Bucket>,
    /// Links whose ports are due when the next window opens ([`crate::port::late_marking`]).
    pub due: Vec<LinkId>,
    /// Links whose ports have [lazy service](crate::port::lazy_service), by the window at whose end they are visited.
    visits: BTreeMap<u64, Vec<LinkId>>,
    spare_visits: Vec<Vec<LinkId>>,
    /// Messages to domains, by thread. Delivered when the window closes.
    pub(super) messages: Vec<Vec<NodeMessage>>,
    /// Span in which the current domain may run by itself.
    pub solo: SoloSpan,
}

impl Buckets {
    /// Empty buckets of windows of `length`, for packets to the domains of `threads`.
    pub fn new(order: Order, length: Time, shards: Shards, threads: usize) -> Buckets {
        Buckets {
            order,
            length,
            reach: length * NEAR,
            inverse: (u64::MAX / length.0) + 1,
            window: 0,
            start: Time::ZERO,
            shards,
            near: (0..NEAR * threads as u64).map(|_| Bucket::default()).collect(),
            occupied: 0,
            spare: Spare::default(),
            empty: Vec::new(),
            far: BTreeMap::new(),
            due: Vec::new(),
            visits: BTreeMap::new(),
            spare_visits: Vec::new(),
            messages: (0..threads).map(|_| Vec::new()).collect(),
            solo: SoloSpan::default(),
        }
    }

    /// Makes `window` the open one.
    pub fn move_to(&mut self, window: u64) {
        self.window = window;
        self.start = self.length * window;
        self.reach = self.length * (NEAR - window % BLOCK);
    }

    /// Moves to `window`. Packets that come near go into its buckets; reports the place of each to `placed`.
    pub fn go_to(&mut self, window: u64, mut placed: impl FnMut(&Packet, usize)) {
        self.move_to(window);
        while let Some(block) = self.far.first_entry().filter(|block| *block.key() <= window / BLOCK + 1) {
            let mut bucket = block.remove();
            bucket.each(|head, packet, ext| {
                let Some(place) = self.take_in(head, packet, ext) else { unreachable!("beyond the near windows") };
                placed(packet, place);
            });
            self.keep(bucket);
        }
    }

    /// Copies a packet from another bucket. Returns its place, if it is near.
    #[inline]
    pub fn take_in(&mut self, head: &Head, packet: &Packet, ext: Option<&mut Ext>) -> Option<usize> {
        let Some(due) = self.due(packet.time) else {
            self.push_far(head.to, packet.time, head.link, packet, ext);
            return None;
        };
        Some(self.push(head.to, due, head.link, packet, ext).0)
    }

    /// Empty buckets at the same open window, for another share of the domains.
    pub fn empty_copy(&self, shards: Shards, threads: usize) -> Buckets {
        let mut buckets = Buckets::new(self.order, self.length, shards, threads);
        buckets.move_to(self.window);
        buckets
    }

    /// Takes all buckets with packets, in the order of windows.
    pub fn take_all(&mut self) -> Vec<Bucket> {
        self.occupied = 0;
        let shards = self.near.len() as u64 / NEAR;
        let slots =
            (self.window..self.window + NEAR).flat_map(|w| (0..shards).map(move |shard| shard * NEAR + (w & MASK)));
        let near = slots.map(|slot| take(&mut self.near[slot as usize]));
        near.chain(take(&mut self.far).into_values()).filter(|bucket| !bucket.packets.is_empty()).collect()
    }

    /// Takes the links whose ports are to be visited, by window.
    pub fn take_all_visits(&mut self) -> BTreeMap<u64, Vec<LinkId>> {
        take(&mut self.visits)
    }

    /// Takes all messages that domains of this thread have sent.
    pub fn take_all_messages(&mut self) -> Vec<NodeMessage> {
        self.messages.iter_mut().flat_map(take).collect()
    }

    /// Plans a visit to the port of `link` at the end of `window`.
    pub fn visit_after(&mut self, link: LinkId, window: u64) {
        self.visits.entry(window).or_insert_with(|| self.spare_visits.pop().unwrap_or_default()).push(link);
    }

    /// Opens the current window and takes its arrivals in this thread's domains.
    pub fn open(&mut self) -> Bucket {
        let slot = self.window & MASK;
        self.occupied &= !(1 << slot);
        Bucket { start: self.start, ..take(self.slot(self.shards.me, slot)) }
    }

    /// Time before which nothing from outside reaches the current domain.
    pub fn undisturbed(&self) -> Time {
        let SoloSpan { until, end, windows, .. } = self.solo;
        if end == Time::ZERO
            || windows == 0
            || !self.due.is_empty()
            || self.messages.iter().any(|messages| !messages.is_empty())
        {
            return until;
        }
        self.first().map_or(end, |first| end.min(self.length * first))
    }

    /// Lets the current domain, undisturbed, go on at `time`. The window of `time` becomes the open one.
    pub fn go_on(&mut self, time: Time) {
        if time >= self.solo.until {
            self.move_to(self.due(time).map_or_else(|| time.0 / self.length.0, |due| self.window + due.ahead));
            self.solo.until = (self.start + self.length).min(self.solo.end);
            self.solo.windows = self.solo.windows.saturating_sub(1);
        }
    }

    #[inline(always)]
    fn slot(&mut self, shard: usize, slot: u64) -> &mut Bucket {
        &mut self.near[shard * NEAR as usize + slot as usize]
    }

    /// Puts the open window's arrivals in the domains of thread `to`, and all messages to them, into `batch`, an empty
    /// batch. Returns whether there are any.
    pub fn pack(&mut self, to: usize, batch: &mut Batch) -> bool {
        self.keep(take(&mut batch.bucket));
        swap(self.slot(to, self.window & MASK), &mut batch.bucket);
        swap(&mut self.messages[to], &mut batch.messages);
        !batch.bucket.packets.is_empty() || !batch.messages.is_empty()
    }

    /// Moves the arrivals of a batch into `bucket`, that of the open window, and delivers its messages.
    pub fn unpack(&mut self, bucket: &mut Bucket, batch: &mut Batch, message: impl FnMut(NodeMessage)) {
        let (exts, sent) = (bucket.exts.len(), &mut batch.bucket);
        let places = bucket.packets.append(&mut sent.packets, &mut self.spare);
        if !sent.exts.is_empty() {
            bucket.exts.append(&mut sent.exts);
            for place in places {
                let packet = &mut bucket.packets[place];
                if let Some(ext) = packet.ext() {
                    packet.set_ext(exts + ext as usize);
                }
            }
        }
        batch.messages.drain(..).for_each(message);
    }

    /// Takes the messages that domains of this thread have sent to one another.
    pub fn take_messages(&mut self) -> Vec<NodeMessage> {
        take(&mut self.messages[self.shards.me])
    }

    /// Time of the earliest message to a domain of another thread.
    pub fn first_message(&self) -> Time {
        self.messages.iter().flatten().map(|(_, key, _)| key.time).min().unwrap_or(Time::NEVER)
    }

    /// Keeps the memory of a bucket for others.
    pub fn keep(&mut self, mut bucket: Bucket) {
        bucket.clear(&mut self.spare);
        if bucket.packets.is_used() {
            self.empty.push(bucket);
        }
    }

    /// Appends a copy of `packet`, to be stamped, that arrives at `to` over `link` when `due`. Returns place and copy.
    #[inline(always)]
    pub fn push(
        &mut self,
        to: Place,
        due: Due,
        link: LinkId,
        packet: &Packet,
        ext: Option<&mut Ext>,
    ) -> (usize, &mut Packet) {
        let slot = (self.window + due.ahead) & MASK;
        let bucket = &mut self.near[self.shards.shard(to.domain) * NEAR as usize + slot as usize];
        if bucket.packets.is_full() {
            self.occupied |= 1 << slot;
            make_room(bucket, &mut self.spare, &mut self.empty);
        }
        bucket.push(Head { to, offset: due.offset, link }, packet, ext)
    }

    /// Appends a copy of `packet`, still to be stamped, that arrives at `to` over `link` at `time`, beyond the near
    /// windows. A link stays FIFO: blocks come near as a whole, before packets are put there directly.
    pub fn push_far(
        &mut self,
        to: Place,
        time: Time,
        link: LinkId,
        packet: &Packet,
        ext: Option<&mut Ext>,
    ) -> &mut Packet {
        let block = time.0 / (self.length.0 * BLOCK);
        let bucket = self.far.entry(block).or_default();
        if bucket.packets.is_full() {
            make_room(bucket, &mut self.spare, &mut self.empty);
        }
        bucket.push(Head { to, offset: 0, link }, packet, ext).1
    }

    /// All packets in flight.
    pub fn packets(&self) -> impl Iterator<Item = &Packet> {
        let buckets = self.near.iter().chain(self.far.values());
        buckets.flat_map(|bucket| bucket.packets.iter()).flat_map(|(_, _, packets)| packets)
    }

    /// Marks the packet at `place` in the window of `time`, which arrives over `link` in `domain`.
    pub fn mark(&mut self, link: LinkId, domain: DomainId, time: Time, place: usize) {
        let slot = self.due(time).map_or(self.window, |due| self.window + due.ahead) & MASK;
        let packet = &mut self.slot(self.shards.shard(domain), slot).packets[place];
        assert!(packet.link == link && packet.time == time, "a packet is not where it was put");
        packet.flags |= flag::CE;
    }

    /// Sends a message to a domain of any thread.
    pub fn push_message(&mut self, domain: DomainId, key: Key, timer: Timer) {
        let shard = self.shards.shard(domain);
        self.messages[shard].push((domain, key, timer));
    }

    /// Plans a visit to the port of `link` at the end of the window of `time`, at the earliest of window `from`.
    pub fn visit(&mut self, link: LinkId, time: Time, from: u64) {
        let window = self.due(time).map_or_else(|| time.0 / self.length.0, |due| self.window + due.ahead);
        self.visit_after(link, window.max(from));
    }

    /// The first window at whose end ports are to be visited.
    #[inline]
    pub fn first_visit(&self) -> Option<u64> {
        self.visits.first_key_value().map(|(window, _)| *window)
    }

    /// Takes the links whose ports are to be visited at the end of the open window.
    pub fn take_visits(&mut self) -> Option<Vec<LinkId>> {
        self.visits.first_entry().filter(|first| *first.key() <= self.window).map(|first| first.remove())
    }

    /// Keeps the memory of a list of links.
    pub fn keep_visits(&mut self, mut links: Vec<LinkId>) {
        links.clear();
        self.spare_visits.push(links);
    }

    /// The next near window with arrivals, or the one at which a block with arrivals comes near.
    pub fn first(&self) -> Option<u64> {
        let from_now = self.occupied.rotate_right((self.window & MASK) as u32);
        let near = (from_now != 0).then(|| self.window + from_now.trailing_zeros() as u64);
        let far = self.far.first_key_value().map(|(block, _)| (block - 1) * BLOCK);
        near.into_iter().chain(far).min()
    }

    /// Window and offset of `time`, if it is near.
    #[inline(always)]
    pub fn due(&self, time: Time) -> Option<Due> {
        let offset = time - self.start;
        if offset >= self.reach {
            return None;
        }
        let ahead = ((offset.0 as u128 * self.inverse as u128) >> 64) as u64;
        Some(Due { ahead, offset: (offset - self.length * ahead).0 as u32 })
    }
}

/// Gives the next packet of `bucket` a page. A bucket from `empty` has memory for its list of pages.
#[cold]
#[inline(never)]
fn make_room(bucket: &mut Bucket, spare: &mut Spare, empty: &mut Vec<Bucket>) {
    if bucket.packets.is_empty() {
        *bucket = empty.pop().unwrap_or_default();
    }
    bucket.packets.make_room(spare);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::packet::Kind;
    use crate::ids::{FlowId, HostIx, NodeId, NodeIx};
    use crate::run::pages::PAGE;

    #[test]
    fn packets_of_a_link_keep_the_order_of_sending_whatever_waits_far_ahead() {
        let (length, order) = (Time(1000), Order { seed: 1, ties: Ties::Hash });
        let mut buckets = Buckets::new(order, length, Shards::default(), 1);
        let send = |buckets: &mut Buckets, number, time: Time| {
            let to = Place { domain: DomainId(0), node: NodeIx::host(HostIx(0)) };
            let packet = Packet::forward(Kind::Data, FlowId(0), NodeId(0), number, 0, Time::ZERO);
            match buckets.due(time) {
                Some(due) => buckets.push(to, due, LinkId(3), &packet, None).1.time = time,
                None => buckets.push_far(to, time, LinkId(3), &packet, Some(&mut Ext::default())).time = time,
            }
        };
        let time = length * (3 * BLOCK + 5);
        (0..2).for_each(|number| send(&mut buckets, number, time));
        assert_eq!(buckets.first(), Some(2 * BLOCK));
        buckets.go_to(2 * BLOCK - 1, |_, _| unreachable!("nothing comes near"));
        send(&mut buckets, 2, time);
        let mut places = Vec::new();
        buckets.go_to(2 * BLOCK, |packet, place| places.push((packet.seq(), place)));
        assert_eq!((places, buckets.first()), (vec![(0, 0), (1, 1), (2, 2)], Some(3 * BLOCK + 5)));
        send(&mut buckets, 3, time);
        buckets.go_to(3 * BLOCK + 5, |_, _| unreachable!("it is near"));
        let open = buckets.open();
        let packets = open.packets.iter().flat_map(|(_, _, packets)| packets);
        let sent: Vec<_> = packets.map(|packet| (packet.seq(), packet.ext())).collect();
        assert_eq!(sent, [(0, Some(0)), (1, Some(1)), (2, Some(2)), (3, None)]);
    }

    /// A thread that only sends to another gets its pages back: neither has more than are in flight at once.
    #[test]
    fn pages_that_another_thread_has_emptied_come_back() {
        let (length, order) = (Time(1000), Order { seed: 1, ties: Ties::Hash });
        let threads = |me| Buckets::new(order, length, Shards { me, of: Arc::from([0, 1]) }, 2);
        let (mut one, mut other, mut batch) = (threads(0), threads(1), Batch::default());
        let to = Place { domain: DomainId(1), node: NodeIx::host(HostIx(0)) };
        let per_window = 3 * PAGE as u64 / 2;
        let mut sent = 0;
        for window in 1..200 {
            for number in sent..sent + per_window {
                let packet = Packet::forward(Kind::Data, FlowId(0), NodeId(0), number, 0, Time::ZERO);
                let mut ext = (number % 2 == 0).then(Ext::default);
                one.push(to, Due { ahead: 1, offset: number as u32 }, LinkId(0), &packet, ext.as_mut());
            }
            // packets of its own domains precede those of the other thread, in a page of their own
            let own = Packet::forward(Kind::Data, FlowId(0), NodeId(0), u64::MAX, 0, Time::ZERO);
            other.push(to, Due { ahead: 1, offset: 0 }, LinkId(1), &own, Some(&mut Ext::default()));
            one.go_to(window, |_, _| unreachable!("all is near"));
            other.go_to(window, |_, _| unreachable!("all is near"));
            let (emptied, mut bucket) = (one.open(), other.open());
            assert!(one.pack(1, &mut batch));
            other.unpack(&mut bucket, &mut batch, |_| unreachable!("no message"));
            let all: Vec<_> = bucket.packets.iter().flat_map(|(first, _, packets)| (first..).zip(packets)).collect();
            assert_eq!(bucket.packets.len(), 1 + per_window as usize);
            let numbers: Vec<_> = all.iter().map(|(_, packet)| packet.seq()).collect();
            assert_eq!(numbers, std::iter::once(u64::MAX).chain(sent..sent + per_window).collect::<Vec<_>>());
            let (mut exts, own) = (Vec::new(), bucket.packets.head(0).link);
            for (place, packet) in all {
                let (at, link) = (&bucket.packets[place], bucket.packets.head(place).link);
                assert_eq!((at.seq(), link == own), (packet.seq(), place == 0));
                exts.extend(packet.ext());
            }
            assert_eq!(exts, (0..bucket.exts.len() as u32).collect::<Vec<_>>());
            sent += per_window;
            one.keep(emptied);
            other.keep(bucket);
        }
        // two pages being written, two in flight, two emptied, and one with the other thread's own packets
        let pages = one.spare.count() + other.spare.count() + batch.bucket.packets.pages();
        assert!(pages <= 7, "{pages} pages");
    }
}
