//! Where packets in flight lie: by value in append-only buckets, one a near window.

use crate::event::order::{Key, Order, Timer};
use crate::event::outbox::Instant;
use crate::event::packet::{Ext, Packet, flag};
use crate::event::prefetch;
use crate::ids::{DomainId, LinkId};
use crate::map::fabric::Place;
use crate::spec::Ties;
use incast_cc::Time;
use std::collections::BTreeMap;
use std::mem::{swap, take};
use std::sync::Arc;

/// Near windows: as many as a word has bits. Few, so that the packets in them stay in the near caches.
pub const NEAR: u64 = u32::BITS as u64;
const MASK: u64 = NEAR - 1;
/// Windows of a block. Near are those of the open window's block and of the next.
pub const BLOCK: u64 = NEAR / 2;

/// The part of a packet by which a window deals it out and orders it, before it looks at the packet.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    /// Where it arrives.
    pub to: Place,
    /// When, after the beginning of the window; no window is as long as a word counts.
    pub offset: u32,
    /// On which link.
    pub link: LinkId,
}

/// Packets that arrive in a window, in the order of sending.
#[derive(Default)]
pub struct Bucket {
    /// The beginning of the window, once it is open.
    pub start: Time,
    pub packets: Vec<Packet>,
    /// The head of each.
    pub heads: Vec<Head>,
    pub exts: Vec<Ext>,
}

impl Bucket {
    /// An empty one with room for so many packets, which costs nothing before they come; to make room later would
    /// copy them.
    fn with_room(room: usize) -> Bucket {
        Bucket { packets: Vec::with_capacity(room), heads: Vec::with_capacity(room), ..Bucket::default() }
    }

    /// Appends a copy of `packet`, to be stamped, under its `head`; first, its place.
    #[inline(always)]
    fn push(&mut self, head: Head, packet: &Packet, ext: Option<&mut Ext>) -> (usize, &mut Packet) {
        self.heads.push(head);
        // copy first and stamp the copy: reading back what was just written in parts stalls
        let index = self.packets.len();
        // many buckets are written to in turn: the processor does not see that each goes on in order
        prefetch::item(&self.packets, index + 2);
        self.packets.push(*packet);
        let copy = &mut self.packets[index];
        if let Some(ext) = ext {
            copy.set_ext(self.exts.len());
            self.exts.push(take(ext));
        }
        (index, copy)
    }

    /// Tie key of the packet at `place`, which is far away in memory: it is asked only where its head does not tell.
    #[inline]
    pub fn tie(&self, place: usize, order: Order) -> u32 {
        let head = &self.heads[place];
        match order.ties {
            Ties::Hash => order.tie_on(head.link, self.start + Time(head.offset as u64)),
            _ => order.tie_of(&self.packets[place]),
        }
    }

    /// Appends what `parcel` holds for this window, and takes its messages.
    pub fn unpack(&mut self, parcel: &mut Parcel, mut message: impl FnMut(Post)) {
        let (from, exts) = (self.packets.len(), self.exts.len());
        let bucket = &mut parcel.bucket;
        self.packets.append(&mut bucket.packets);
        self.heads.append(&mut bucket.heads);
        if !bucket.exts.is_empty() {
            self.exts.append(&mut bucket.exts);
            for packet in &mut self.packets[from..] {
                if let Some(ext) = packet.ext() {
                    packet.set_ext(exts + ext as usize);
                }
            }
        }
        parcel.posts.drain(..).for_each(&mut message);
    }

    fn clear(&mut self) {
        self.packets.clear();
        self.heads.clear();
        self.exts.clear();
    }
}

/// When a packet arrives: so many windows from the open one, and how long after that window's beginning.
#[derive(Clone, Copy, Debug)]
pub struct Due {
    /// Windows from the open one.
    pub ahead: u64,
    /// Time in that window, ps.
    pub offset: u32,
}

/// Where the packets and messages of a thread's domains go: its own domains, or those of another thread.
#[derive(Clone, Debug, Default)]
pub struct Lanes {
    /// This thread.
    pub me: usize,
    /// The thread that has each domain; empty where one has all.
    pub of: Arc<[u8]>,
}

impl Lanes {
    /// The thread that has `domain`.
    #[inline(always)]
    fn lane(&self, domain: DomainId) -> usize {
        if self.of.is_empty() { 0 } else { self.of[domain] as usize }
    }
}

/// The packets and messages that one thread hands to another when a window opens.
#[derive(Default)]
pub struct Parcel {
    bucket: Bucket,
    posts: Vec<Post>,
}

/// How far the domain at work may go by itself: where a domain has radio cells.
#[derive(Clone, Copy, Default)]
pub struct Alone {
    /// No packet comes to it before, and the open window lasts as long.
    pub until: Time,
    /// Where it is the only domain, the end of the run: before it one window may follow the other at once.
    pub end: Time,
    /// So many more windows may follow before anything else is looked at.
    pub windows: u64,
    /// The timer of a cell may lie beside the queue of the domain.
    pub holds: bool,
    /// That timer, and when it fires.
    pub aside: Option<(Instant, Timer)>,
}

/// A timer of a domain that another has set.
pub type Post = (DomainId, Key, Timer);

/// Buckets of the near windows, and who has work when.
pub struct Buckets {
    pub order: Order,
    pub length: Time,
    /// The near windows together, from the open one on.
    reach: Time,
    /// ceil(2^64 / length): exact floor division for offsets below NEAR * length.
    inverse: u64,
    /// The open window and its start.
    pub window: u64,
    pub start: Time,
    lanes: Lanes,
    /// Of window w at w % NEAR, for one thread after the other.
    pub near: Vec<Bucket>,
    /// Bit w % NEAR: something arrives in window w.
    occupied: u32,
    /// Packets that a new one has room for.
    room: usize,
    /// Empty ones with room in them, the one used last on top: its memory is near. Those for other threads are smaller.
    spare: [Vec<Bucket>; 2],
    /// What arrives beyond the near windows, by block, and empty buckets for it. It is written and read in one go: a
    /// queue of 250 packets at each of many ports does not stay in the caches.
    far: BTreeMap<u64, Bucket>,
    spare_far: Vec<Bucket>,
    /// Links whose ports are due when the next window opens ([`crate::port::departure_marks`]).
    pub due: Vec<LinkId>,
    /// Links whose ports [serve themselves](crate::port::self_service), by the window at whose end they are visited.
    visits: BTreeMap<u64, Vec<LinkId>>,
    spare_visits: Vec<Vec<LinkId>>,
    /// Timers of other domains, which they get when the window closes, by thread.
    posts: Vec<Vec<Post>>,
    /// How far the domain at work may go by itself.
    pub alone: Alone,
}

impl Buckets {
    /// Empty buckets of windows of `length`, for packets to the domains of `threads`.
    pub fn new(order: Order, length: Time, lanes: Lanes, threads: usize, room: usize) -> Buckets {
        Buckets {
            order,
            length,
            reach: length * NEAR,
            inverse: (u64::MAX / length.0) + 1,
            window: 0,
            start: Time::ZERO,
            lanes,
            near: (0..NEAR * threads as u64).map(|_| Bucket::default()).collect(),
            occupied: 0,
            room,
            spare: [const { Vec::new() }; 2],
            far: BTreeMap::new(),
            spare_far: Vec::new(),
            due: Vec::new(),
            visits: BTreeMap::new(),
            spare_visits: Vec::new(),
            posts: (0..threads).map(|_| Vec::new()).collect(),
            alone: Alone::default(),
        }
    }

    /// `window` is the open one from now on.
    fn move_to(&mut self, window: u64) {
        self.window = window;
        self.start = self.length * window;
        self.reach = self.length * (NEAR - window % BLOCK);
    }

    /// Goes to `window`. What has come near lies in its bucket; `placed` is told where.
    pub fn go_to(&mut self, window: u64, mut placed: impl FnMut(&Packet, usize)) {
        self.move_to(window);
        while let Some(block) = self.far.first_entry().filter(|block| *block.key() <= window / BLOCK + 1) {
            let mut bucket = block.remove();
            for (packet, head) in bucket.packets.iter().zip(&bucket.heads) {
                let Some(due) = self.due(packet.time) else { unreachable!("a block beyond the near windows") };
                let mut ext = packet.ext().map(|i| take(&mut bucket.exts[i as usize]));
                placed(packet, self.push(head.to, due, head.link, packet, ext.as_mut()).0);
            }
            bucket.clear();
            self.spare_far.push(bucket);
        }
    }

    /// Opens the window that it went to and takes what arrives in it in this thread's domains.
    pub fn open(&mut self) -> Bucket {
        let slot = self.window & MASK;
        self.occupied &= !(1 << slot);
        Bucket { start: self.start, ..take(self.slot(self.lanes.me, slot)) }
    }

    /// Nothing comes to the domain at work from outside before this.
    pub fn undisturbed(&self) -> Time {
        let Alone { until, end, windows, .. } = self.alone;
        if end == Time::ZERO || windows == 0 || !self.due.is_empty() || self.posts.iter().any(|posts| !posts.is_empty())
        {
            return until;
        }
        self.first().map_or(end, |first| end.min(self.length * first))
    }

    /// The domain at work, undisturbed, goes on at `time`, whose window is the open one from now on.
    pub fn go_on(&mut self, time: Time) {
        if time >= self.alone.until {
            self.move_to(self.due(time).map_or_else(|| time.0 / self.length.0, |due| self.window + due.ahead));
            self.alone.until = (self.start + self.length).min(self.alone.end);
            self.alone.windows = self.alone.windows.saturating_sub(1);
        }
    }

    #[inline(always)]
    fn slot(&mut self, lane: usize, slot: u64) -> &mut Bucket {
        &mut self.near[lane * NEAR as usize + slot as usize]
    }

    /// Puts what arrives in the open window in the domains of thread `to`, and all messages for them, into `parcel`,
    /// which is empty. Whether there is any.
    pub fn pack(&mut self, to: usize, parcel: &mut Parcel) -> bool {
        self.keep(take(&mut parcel.bucket), true);
        swap(self.slot(to, self.window & MASK), &mut parcel.bucket);
        swap(&mut self.posts[to], &mut parcel.posts);
        !parcel.bucket.packets.is_empty() || !parcel.posts.is_empty()
    }

    /// Timers that domains of this thread have set in its others.
    pub fn take_posts(&mut self) -> Vec<Post> {
        take(&mut self.posts[self.lanes.me])
    }

    /// The earliest timer set in a domain of another thread.
    pub fn first_post(&self) -> Time {
        self.posts.iter().flatten().map(|(_, key, _)| key.time).min().unwrap_or(Time::NEVER)
    }

    /// Keeps the room of a bucket for another one of this thread, or for `others`.
    pub fn keep(&mut self, mut bucket: Bucket, others: bool) {
        bucket.clear();
        if bucket.packets.capacity() > 0 {
            self.spare[others as usize].push(bucket);
        }
    }

    /// A copy of `packet` that arrives at `to` over `link` when it is `due`, to be stamped; first, its place.
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
        let bucket = &mut self.near[self.lanes.lane(to.domain) * NEAR as usize + slot as usize];
        if bucket.packets.is_empty() {
            self.occupied |= 1 << slot;
            let others = self.lanes.lane(to.domain) != self.lanes.me;
            *bucket = self.spare[others as usize].pop().unwrap_or_else(|| Bucket::with_room(self.room));
        }
        bucket.push(Head { to, offset: due.offset, link }, packet, ext)
    }

    /// A copy of `packet` that arrives at `to` over `link` at `time`, beyond the near windows, to be stamped. On one
    /// link none comes before one that was sent earlier: blocks come near whole, before anything is put there directly.
    pub fn push_far(
        &mut self,
        to: Place,
        time: Time,
        link: LinkId,
        packet: &Packet,
        ext: Option<&mut Ext>,
    ) -> &mut Packet {
        let block = time.0 / (self.length.0 * BLOCK);
        let bucket = self.far.entry(block).or_insert_with(|| self.spare_far.pop().unwrap_or_default());
        bucket.push(Head { to, offset: 0, link }, packet, ext).1
    }

    /// Everything that is on its way.
    pub fn packets(&self) -> impl Iterator<Item = &Packet> {
        self.near.iter().chain(self.far.values()).flat_map(|bucket| &bucket.packets)
    }

    /// Marks the packet at `place` among those of the window of `time`, when it arrives over `link` in `domain`.
    pub fn mark(&mut self, link: LinkId, domain: DomainId, time: Time, place: usize) {
        let slot = self.due(time).map_or(self.window, |due| self.window + due.ahead) & MASK;
        let packet = &mut self.slot(self.lanes.lane(domain), slot).packets[place];
        assert!(packet.link == link && packet.time == time, "a packet is not where it was put");
        packet.flags |= flag::CE;
    }

    /// A timer of a domain of any thread.
    pub fn post(&mut self, domain: DomainId, key: Key, timer: Timer) {
        let lane = self.lanes.lane(domain);
        self.posts[lane].push((domain, key, timer));
    }

    /// The port of `link` is to be visited at the end of the window of `time`, none before window number `from`.
    pub fn visit(&mut self, link: LinkId, time: Time, from: u64) {
        let window = self.due(time).map_or_else(|| time.0 / self.length.0, |due| self.window + due.ahead);
        let links = self.visits.entry(window.max(from)).or_insert_with(|| self.spare_visits.pop().unwrap_or_default());
        links.push(link);
    }

    /// The first window at whose end ports are to be visited.
    #[inline]
    pub fn first_visit(&self) -> Option<u64> {
        self.visits.first_key_value().map(|(window, _)| *window)
    }

    /// Links whose ports are to be visited at the end of the open window.
    pub fn take_visits(&mut self) -> Option<Vec<LinkId>> {
        self.visits.first_entry().filter(|first| *first.key() <= self.window).map(|first| first.remove())
    }

    /// Keeps the room of a list of links.
    pub fn keep_visits(&mut self, mut links: Vec<LinkId>) {
        links.clear();
        self.spare_visits.push(links);
    }

    /// The next near window with arrivals, or the one with which a block with arrivals comes near.
    pub fn first(&self) -> Option<u64> {
        let from_now = self.occupied.rotate_right((self.window & MASK) as u32);
        let near = (from_now != 0).then(|| self.window + from_now.trailing_zeros() as u64);
        let far = self.far.first_key_value().map(|(block, _)| (block - 1) * BLOCK);
        near.into_iter().chain(far).min()
    }

    /// The window of `time`, if it is near.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::packet::Kind;
    use crate::ids::{FlowId, HostIx, NodeId, NodeIx};

    #[test]
    fn packets_of_a_link_keep_the_order_of_sending_whatever_waits_far_ahead() {
        let (length, order) = (Time(1000), Order { seed: 1, ties: Ties::Hash });
        let mut buckets = Buckets::new(order, length, Lanes::default(), 1, 4);
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
        let sent: Vec<_> = buckets.open().packets.iter().map(|packet| (packet.seq(), packet.ext())).collect();
        assert_eq!(sent, [(0, Some(0)), (1, Some(1)), (2, Some(2)), (3, None)]);
    }
}
