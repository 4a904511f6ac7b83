//! Where packets in flight lie: by value in append-only buckets, one a near window.

use crate::event::order::{Key, Order, Timer};
use crate::event::outbox::{Chunks, Instant};
use crate::event::packet::{Ext, Packet, flag};
use crate::ids::{DomainId, LinkId};
use crate::map::fabric::Place;
use crate::spec::Ties;
use incast_cc::Time;
use std::mem::{swap, take};
use std::sync::Arc;

/// Near windows: as many as a word has bits. Few, so that the packets in them stay in the near caches; what queues
/// longer waits in order at its port.
pub const NEAR: u64 = u32::BITS as u64;
const MASK: u64 = NEAR - 1;

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
    /// An empty one with room for so many packets, which costs nothing before they come.
    fn with_room(room: usize) -> Bucket {
        Bucket { packets: Vec::with_capacity(room), heads: Vec::with_capacity(room), ..Bucket::default() }
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
    /// All near windows together.
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
    /// Empty ones with room in them, the one used last on top: its memory is near.
    spare: Vec<Bucket>,
    /// Empty chunks of the ports' overflow queues.
    pub chunks: Chunks,
    /// Links whose ports are due when the next window opens ([`crate::port::departure_marks`]).
    pub due: Vec<LinkId>,
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
            spare: Vec::new(),
            chunks: Chunks::new(),
            due: Vec::new(),
            posts: (0..threads).map(|_| Vec::new()).collect(),
            alone: Alone::default(),
        }
    }

    /// Opens `window` and takes what arrives in it in this thread's domains.
    pub fn open(&mut self, window: u64) -> Bucket {
        self.window = window;
        self.start = self.length * window;
        self.occupied &= !(1 << (window & MASK));
        let start = self.start;
        Bucket { start, ..take(self.slot(self.lanes.me, window & MASK)) }
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
            self.window = self.due(time).map_or_else(|| time.0 / self.length.0, |due| self.window + due.ahead);
            self.start = self.length * self.window;
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

    /// Keeps the room of a window's bucket for another.
    pub fn close(&mut self, mut bucket: Bucket) {
        bucket.clear();
        if bucket.packets.capacity() > 0 {
            self.spare.push(bucket);
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
            // one that came back from another thread has room already
            if bucket.packets.capacity() == 0 {
                *bucket = self.spare.pop().unwrap_or_else(|| Bucket::with_room(self.room));
            }
        }
        bucket.heads.push(Head { to, offset: due.offset, link });
        // copy first and stamp the copy: reading back what was just written in parts stalls
        let index = bucket.packets.len();
        bucket.packets.push(*packet);
        let copy = &mut bucket.packets[index];
        if let Some(ext) = ext {
            copy.set_ext(bucket.exts.len());
            bucket.exts.push(take(ext));
        }
        (index, copy)
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

    /// The next near window with arrivals.
    pub fn first(&self) -> Option<u64> {
        let from_now = self.occupied.rotate_right((self.window & MASK) as u32);
        (from_now != 0).then(|| self.window + from_now.trailing_zeros() as u64)
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
