//! The engine of windows.
//!
//! Simulated time advances in engine windows of length L, the smallest latency between domains:
//! what one domain does inside a window reaches another in a later one, so within a window every
//! domain runs by itself, in any order. There is no global event queue. In-flight packets lie by
//! value in append-only buckets, one per (domain, near window). When a window opens, each domain
//! with work orders its bucket and walks it, merging the events of its own small queue (timers,
//! and arrivals over links inside the domain that fall into the open window). Packets that will
//! arrive beyond the near windows wait at the port they left (in order, since a port is FIFO)
//! and move in when near. Windows without work are skipped.
//!
//! The result does not depend on the order in which domains are visited, nor on how nodes are
//! grouped: the order of events at a node is given by [`crate::order`] alone.

use crate::domain::Domain;
use crate::far::Pool;
use crate::io::{Instant, Outbox, Reach, Stamp};
use crate::net::Net;
use crate::order::{Key, Order, Timer, TimerKind};
use crate::packet::{Ext, NO_EXT, Packet};
use crate::port::Port;
use crate::prefetch;
use crate::world::{LONGEST_WITHOUT_DELAY_PS, World};
use crate::{Progress, RunError};
use incast_cc::Time;
use incast_record::{Collector, Outcome};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::mem::take;

/// Near windows: a power of two. Few, so that buckets and the packets in them stay in the near
/// caches; what queues longer waits in order at its port.
const NEAR: u64 = 32;
const MASK: u64 = NEAR - 1;
/// Longest window, ps: offsets within the near windows then fit the exact division below.
const LONGEST: u64 = 1 << 28;
/// Bits of a sort key that hold a packet's index in its bucket.
const INDEX_BITS: u32 = 32;
const INDEX_MASK: u64 = (1 << INDEX_BITS) - 1;
/// More causes and effects than this at one picosecond are taken for an endless loop.
pub(crate) const GENERATIONS: u16 = 50_000;

/// Order in which domains are visited within a window: makes no difference, which tests prove.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Visit {
    /// As they became active.
    Forward,
    /// The other way round.
    Reverse,
    /// By a hash of (domain, window).
    Shuffled,
}

/// A timer in a domain's queue: keys alone, since most events there are timers.
type Timers = BinaryHeap<Reverse<(Key, TimerSlot)>>;

/// What a heap entry stands for: a timer, or an arrival kept in a slab.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum TimerSlot {
    Timer(u8),
    Arrival(u32),
}

#[derive(Default)]
struct Local {
    heap: Timers,
    arrivals: Vec<(Packet, Option<Ext>)>,
    free: Vec<u32>,
    /// Wake-up registered for this time.
    wake: u64,
    pushes: u32,
}

impl Local {
    #[inline]
    fn next(&self) -> u64 {
        self.heap.peek().map_or(u64::MAX, |Reverse((key, _))| key.time)
    }

    /// Whether something is left to happen.
    fn keeps_going(&self) -> bool {
        self.heap.iter().any(|Reverse((_, what))| match what {
            TimerSlot::Timer(kind) => TIMER_KINDS[*kind as usize].keeps_going(),
            TimerSlot::Arrival(_) => true,
        })
    }
}

/// Buckets of the near windows, and who has work when.
struct Buckets {
    order: Order,
    length: u64,
    /// ceil(2^64 / length): exact floor division for offsets below NEAR * length.
    inverse: u64,
    /// The open window and its start.
    window: u64,
    start: u64,
    /// `slots[domain * NEAR + window % NEAR]`.
    slots: Vec<Vec<Packet>>,
    exts: Vec<Vec<Ext>>,
    /// Domains with a bucket in each near window.
    active: Vec<Vec<u32>>,
    spare: Vec<Vec<Packet>>,
    pool: Pool,
    waiting: u64,
    /// Timers of other domains, which they get when the window closes.
    elsewhere: Vec<(u32, Key, u8)>,
}

impl Buckets {
    #[inline(always)]
    fn push(&mut self, domain: u32, ahead: u64, packet: &Packet, ext: Option<&mut Ext>) -> &mut Packet {
        let slot = (self.window + ahead) & MASK;
        let mut at = NO_EXT;
        if let Some(ext) = ext {
            let exts = &mut self.exts[slot as usize];
            at = exts.len() as u32;
            exts.push(take(ext));
        }
        let bucket = &mut self.slots[(domain as u64 * NEAR + slot) as usize];
        if bucket.is_empty() {
            self.active[slot as usize].push(domain);
            if bucket.capacity() == 0
                && let Some(spare) = self.spare.pop()
            {
                *bucket = spare;
            }
        }
        self.waiting += 1;
        // copy first and stamp the copy: reading back what was just written in parts stalls
        let index = bucket.len();
        bucket.push(*packet);
        let copy = &mut bucket[index];
        copy.ext = at;
        copy
    }

    /// Windows from the open one to that of `time`, if near.
    #[inline]
    fn ahead(&self, time: u64) -> Option<u64> {
        let offset = time - self.start;
        if offset >= NEAR * self.length {
            return None;
        }
        Some(((offset as u128 * self.inverse as u128) >> 64) as u64)
    }
}

/// What the state machines of one domain write to while its window is open.
struct Out<'a, 'n> {
    net: &'a Net<'n>,
    buckets: &'a mut Buckets,
    local: &'a mut Local,
}

impl Out<'_, '_> {
    /// Whether an arrival from the bucket comes before the domain's own next event at the same
    /// time. On one link what waited in the bucket left before what was sent inside the window.
    #[cold]
    fn precedes(&self, packet: &Packet) -> bool {
        let key = Key::arrival(self.buckets.order, packet, 0, 0);
        self.local.heap.peek().is_none_or(|Reverse((own, _))| {
            (key.gen_phase, key.tie, key.entity) <= (own.gen_phase, own.tie, own.entity)
        })
    }

    /// Plans to move the packets that wait for far windows at the port of `link`, the first of
    /// which arrives at `time`: half the near windows before that is due.
    fn wake_far(&mut self, time: u64, link: u32) {
        let wake = time - NEAR / 2 * self.buckets.length;
        self.timer(wake, 0, Timer { kind: TimerKind::Far, entity: link });
    }

    /// An arrival `ahead` windows from the open one that is no business of a near window's bucket: in the
    /// open window itself, or far away.
    #[inline(never)]
    fn arrive_elsewhere(
        &mut self,
        packet: &Packet,
        stamp: Stamp,
        ext: Option<&mut Ext>,
        generation: u16,
        port: &mut Port,
        ahead: Option<u64>,
    ) {
        if ahead == Some(0) {
            let mut packet = *packet;
            stamp.on(&mut packet);
            return self.local_arrival(packet, ext.map(take), generation);
        }
        if !port.far_waits() {
            self.wake_far(stamp.time, stamp.link);
        }
        stamp.on(port.push_far(packet, ext, &mut self.buckets.pool));
    }

    fn local_arrival(&mut self, packet: Packet, ext: Option<Ext>, generation: u16) {
        let key = Key::arrival(self.buckets.order, &packet, generation, self.local.pushes);
        self.local.pushes = self.local.pushes.wrapping_add(1);
        let slot = match self.local.free.pop() {
            Some(i) => {
                self.local.arrivals[i as usize] = (packet, ext);
                i
            }
            None => {
                self.local.arrivals.push((packet, ext));
                self.local.arrivals.len() as u32 - 1
            }
        };
        self.local.heap.push(Reverse((key, TimerSlot::Arrival(slot))));
    }
}

impl Outbox for Out<'_, '_> {
    #[inline(always)]
    fn arrive(&mut self, packet: &Packet, stamp: Stamp, ext: Option<&mut Ext>, generation: u16, port: &mut Port) {
        match self.buckets.ahead(stamp.time) {
            Some(ahead) if ahead > 0 && !port.far_waits() => {
                let domain = self.net.links[stamp.link as usize].domain;
                stamp.on(self.buckets.push(domain, ahead, packet, ext));
            }
            ahead => self.arrive_elsewhere(packet, stamp, ext, generation, port, ahead),
        }
    }

    #[inline]
    fn timer(&mut self, time: u64, generation: u16, timer: Timer) {
        let key = Key::timer(self.buckets.order, time, generation, timer);
        self.local.heap.push(Reverse((key, TimerSlot::Timer(timer.kind as u8))));
    }

    fn timer_in(&mut self, domain: u32, time: u64, timer: Timer) {
        let key = Key::timer(self.buckets.order, time, 0, timer);
        self.buckets.elsewhere.push((domain, key, timer.kind as u8));
    }
}

/// Runs `spec`'s world with domains visited in the given order.
pub fn run(mut world: World, visit: Visit, progress: &mut dyn FnMut(Progress) -> bool) -> Result<Outcome, RunError> {
    let spec = world.net.spec;
    let mut end = spec.duration.0;
    let last = world.last_to_finish();
    let length = window_length(&world);
    let count = world.domains.len();
    let mut buckets = Buckets {
        order: world.net.order,
        length,
        inverse: (u64::MAX / length) + 1,
        window: 0,
        start: 0,
        slots: vec![Vec::new(); count * NEAR as usize],
        exts: vec![Vec::new(); NEAR as usize],
        active: vec![Vec::new(); NEAR as usize],
        spare: Vec::new(),
        pool: Pool::new(),
        waiting: 0,
        elsewhere: Vec::new(),
    };
    let mut locals: Vec<Local> = (0..count).map(|_| Local { wake: u64::MAX, ..Local::default() }).collect();
    let mut wakes: BinaryHeap<Reverse<(u64, u32)>> = BinaryHeap::new();
    let mut collector = Collector::new(spec.groups.len());

    for (domain, time, timer) in world.first_timers() {
        let key = Key::timer(world.net.order, time, 0, timer);
        locals[domain as usize].heap.push(Reverse((key, TimerSlot::Timer(timer.kind as u8))));
    }
    for (d, local) in locals.iter_mut().enumerate() {
        register(local, d as u32, &mut wakes);
    }

    let mut order: Vec<u64> = Vec::new();
    let mut plans: Vec<u32> = Vec::new();
    let mut todo: Vec<u32> = Vec::new();
    let mut queued = vec![u64::MAX; count];
    let mut hops_reported = 0;
    let mut windows = 0u64;
    let idle = loop {
        // the next window with work
        let next_wake = wakes.peek().map_or(u64::MAX, |Reverse((t, _))| *t);
        let mut window = u64::MAX;
        if buckets.waiting > 0 {
            window = (buckets.window..buckets.window + NEAR)
                .find(|w| !buckets.active[(w & MASK) as usize].is_empty())
                .unwrap_or(u64::MAX);
        }
        if next_wake < end {
            window = window.min(next_wake / length);
        }
        if window == u64::MAX {
            break buckets.waiting == 0 && !locals.iter().any(Local::keeps_going);
        }
        let start = window * length;
        if start >= end {
            break false;
        }
        let stop = (start + length).min(end);
        buckets.window = window;
        buckets.start = start;

        todo.clear();
        todo.append(&mut buckets.active[(window & MASK) as usize]);
        for d in &todo {
            queued[*d as usize] = window;
        }
        while let Some(Reverse((t, d))) = wakes.peek().copied() {
            if t >= stop {
                break;
            }
            wakes.pop();
            if locals[d as usize].wake == t {
                locals[d as usize].wake = u64::MAX;
            }
            if queued[d as usize] != window {
                queued[d as usize] = window;
                todo.push(d);
            }
        }
        match visit {
            Visit::Forward => {}
            Visit::Reverse => todo.reverse(),
            Visit::Shuffled => todo.sort_by_key(|d| crate::hash::tie(window, *d as u64, 0)),
        }

        for (i, d) in todo.iter().enumerate() {
            if let Some(following) = todo.get(i + 1) {
                let bucket = &buckets.slots[(*following as u64 * NEAR + (window & MASK)) as usize];
                prefetch::lines(bucket.as_slice(), bucket.len().min(16));
            }
            let slot = (*d as u64 * NEAR + (window & MASK)) as usize;
            let mut bucket = std::mem::take(&mut buckets.slots[slot]);
            buckets.waiting -= bucket.len() as u64;
            let domain = &mut world.domains[*d as usize];
            plans.clear();
            plans.extend(bucket.iter().map(|p| domain.plan(p, &world.net)));
            sort(&bucket, buckets.order, start, &mut order);
            let net = &world.net;
            let mut out = Out { net, buckets: &mut buckets, local: &mut locals[*d as usize] };
            let time_of = |o: Option<&u64>| o.map_or(u64::MAX, |o| start + (o >> INDEX_BITS));
            let mut at = 0;
            let mut near = time_of(order.first());
            loop {
                let own = out.local.next();
                if near.min(own) >= stop {
                    break;
                }
                let index = order.get(at).map_or(0, |o| (o & INDEX_MASK) as usize);
                if near < own || (near == own && out.precedes(&bucket[index])) {
                    at += 1;
                    near = time_of(order.get(at));
                    if let Some(o) = order.get(at + 2)
                        && let Some(port) = domain.ports.get(plans[(o & INDEX_MASK) as usize] as usize)
                    {
                        port.prefetch_queue();
                    }
                    let packet = &bucket[index];
                    let mut ext = (packet.ext != NO_EXT)
                        .then(|| take(&mut out.buckets.exts[(window & MASK) as usize][packet.ext as usize]));
                    let instant = Instant { time: packet.time, generation: 0 };
                    let reach = Reach { net, out: &mut out, rec: &mut collector };
                    domain.arrival(instant, packet, ext.as_mut(), plans[index], reach);
                } else {
                    own_event(domain, &mut out, &mut collector)?;
                }
            }
            // a window cut short by the end of the run leaves its later packets under way
            let left: Vec<Packet> = order[at..].iter().map(|o| bucket[(o & INDEX_MASK) as usize]).collect();
            bucket.clear();
            if left.is_empty() {
                // a domain woken by a timer alone had no bucket to give back
                if bucket.capacity() > 0 {
                    buckets.spare.push(bucket);
                }
            } else {
                buckets.waiting += left.len() as u64;
                buckets.slots[slot] = left;
            }
            register(&mut locals[*d as usize], *d, &mut wakes);
        }
        buckets.exts[(window & MASK) as usize].clear();
        for (d, key, kind) in buckets.elsewhere.drain(..) {
            let local = &mut locals[d as usize];
            local.heap.push(Reverse((key, TimerSlot::Timer(kind))));
            register(local, d, &mut wakes);
        }
        // no window is longer than what is added to the time of the last to finish, so this one lies before the end
        if collector.finished == last {
            end = world.end_after(collector.finished_at);
        }

        windows += 1;
        if windows & 0xff == 0 {
            let hops: u64 = world.domains.iter().map(|d| d.tally.hops).sum();
            if hops - hops_reported > 400_000 || windows & 0xffff == 0 {
                hops_reported = hops;
                if !progress(Progress { now: Time(start), end: spec.duration, hops }) {
                    return Err(RunError::Stopped);
                }
            }
        }
    };
    let under_way: Vec<Packet> = buckets
        .slots
        .iter()
        .flatten()
        .copied()
        .chain(locals.iter().flat_map(|l| {
            l.heap.iter().filter_map(|Reverse((_, what))| match what {
                TimerSlot::Arrival(i) => Some(l.arrivals[*i as usize].0),
                TimerSlot::Timer(_) => None,
            })
        }))
        .collect();
    Ok(world.outcome(collector, under_way.into_iter(), end, idle))
}

/// Takes the domain's own next event: a timer, or an arrival from inside the domain.
#[inline(never)]
fn own_event(domain: &mut Domain, out: &mut Out, collector: &mut Collector) -> Result<(), RunError> {
    let Some(Reverse((key, what))) = out.local.heap.pop() else { return Ok(()) };
    let generation = key.generation();
    if generation > GENERATIONS {
        return Err(endless(key.time));
    }
    let net = out.net;
    let at = Instant { time: key.time, generation };
    match what {
        TimerSlot::Arrival(i) => {
            let (packet, ext) = &mut out.local.arrivals[i as usize];
            let (packet, mut ext) = (*packet, ext.take());
            out.local.free.push(i);
            let planned = domain.plan(&packet, net);
            domain.arrival(at, &packet, ext.as_mut(), planned, Reach { net, out, rec: collector });
        }
        TimerSlot::Timer(kind) if kind == TimerKind::Far as u8 => {
            move_near(&mut domain.ports[net.port_of[key.entity as usize] as usize], out);
        }
        TimerSlot::Timer(kind) => {
            let timer = Timer { kind: TIMER_KINDS[kind as usize], entity: key.entity };
            domain.timer(at, timer, Reach { net, out, rec: collector });
        }
    }
    Ok(())
}

const TIMER_KINDS: [TimerKind; 17] = [
    TimerKind::Departure,
    TimerKind::Start,
    TimerKind::Stop,
    TimerKind::Retransmit,
    TimerKind::Pace,
    TimerKind::Wake,
    TimerKind::App,
    TimerKind::DelayedAck,
    TimerKind::WindowUpdate,
    TimerKind::Query,
    TimerKind::SinkStop,
    TimerKind::Turn,
    TimerKind::Process,
    TimerKind::Activation,
    TimerKind::Opening,
    TimerKind::Edge,
    TimerKind::Far,
];

pub(crate) fn endless(time: u64) -> RunError {
    RunError::Invalid(format!(
        "more than {GENERATIONS} causes and effects at the one instant {}: a loop of links without delay and with \
         infinite rate never lets time pass; give one of them a delay or a rate",
        Time(time)
    ))
}

/// Length of an engine window, ps.
fn window_length(world: &World) -> u64 {
    let links = &world.net.spec.links;
    let shortest = || links.iter().map(|l| l.delay.0).filter(|d| *d > 0).min();
    world.lookahead.or_else(shortest).unwrap_or(LONGEST_WITHOUT_DELAY_PS).clamp(1000, LONGEST)
}

/// Plans the domain's next wake-up, if its queue's head is not covered by one already.
#[inline]
fn register(local: &mut Local, domain: u32, wakes: &mut BinaryHeap<Reverse<(u64, u32)>>) {
    let next = local.next();
    if next < local.wake {
        local.wake = next;
        wakes.push(Reverse((next, domain)));
    }
}

/// Orders a bucket by (time, tie key, link, order of sending on the link). An entry is the
/// offset into the window above the packet's index, in one word.
#[inline]
fn sort(bucket: &[Packet], rule: Order, start: u64, order: &mut Vec<u64>) {
    order.clear();
    order.extend(bucket.iter().enumerate().map(|(i, p)| (p.time - start) << INDEX_BITS | i as u64));
    order.sort_unstable();
    // equal times on different links: by tie key
    let mut i = 1;
    while i < order.len() {
        if order[i] >> INDEX_BITS == order[i - 1] >> INDEX_BITS {
            i += order_ties(bucket, rule, &mut order[i - 1..]);
        } else {
            i += 1;
        }
    }
}

/// Orders the run of equal offsets at the head of `order`; its length.
#[cold]
fn order_ties(bucket: &[Packet], rule: Order, order: &mut [u64]) -> usize {
    let offset = order[0] >> INDEX_BITS;
    let run = order.partition_point(|o| o >> INDEX_BITS == offset);
    let order = &mut order[..run];
    let packet = |o: u64| &bucket[(o & INDEX_MASK) as usize];
    // for the time of this sort the key stands where the offset does: a word tells most packets apart
    for o in order.iter_mut() {
        *o = (rule.tie_of(packet(*o)) as u64) << INDEX_BITS | *o & INDEX_MASK;
    }
    order.sort_unstable_by(|a, b| match (a >> INDEX_BITS).cmp(&(b >> INDEX_BITS)) {
        Ordering::Equal => (packet(*a).link, a).cmp(&(packet(*b).link, b)),
        unequal => unequal,
    });
    for o in order.iter_mut() {
        *o = offset << INDEX_BITS | *o & INDEX_MASK;
    }
    run
}

/// Moves what has come near from a port's far queue into the buckets.
fn move_near(port: &mut Port, out: &mut Out) {
    let horizon = out.buckets.start + NEAR * out.buckets.length;
    let mut pool = std::mem::take(&mut out.buckets.pool);
    port.take_far(horizon, &mut pool, |packet, ext| match out.buckets.ahead(packet.time) {
        Some(ahead) if ahead > 0 => {
            let domain = out.net.links[packet.link as usize].domain;
            out.buckets.push(domain, ahead, packet, ext);
        }
        _ => out.local_arrival(*packet, ext.map(take), 0),
    });
    out.buckets.pool = pool;
    let first = port.far().next().map(|p| p.time);
    if let Some(time) = first {
        out.wake_far(time, port.link);
    }
}
