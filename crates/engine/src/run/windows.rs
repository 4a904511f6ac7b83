//! The engine of windows.
//!
//! Simulated time advances in engine windows of length L, the smallest latency between domains:
//! what one domain does inside a window reaches another in a later one, so within a window every
//! domain runs by itself, in any order. There is no global event queue. In-flight packets lie by
//! value in append-only buckets, one a near window. When a window opens they are dealt out to their
//! domains by counting: a domain writes to one place what it sends, and gathers what it gets, since
//! reads from many places can be asked for ahead and writes to many cannot. Each domain with work
//! orders its packets and walks them, merging the events of its own small queue (timers, and arrivals
//! over links inside the domain that fall into the open window). Packets that will arrive beyond the
//! near windows wait at the port they left (in order, since a port is FIFO) and move in when near.
//! Windows without work are skipped.
//!
//! The result does not depend on the order in which domains are visited, nor on how nodes are
//! grouped: the order of events at a node is given by [`crate::event::order`] alone.

use crate::domain::Domain;
use crate::domain::build::{LONGEST_WITHOUT_DELAY_PS, World};
use crate::event::order::{Key, Order, Timer, TimerKind};
use crate::event::outbox::{Instant, Outbox, Stamp};
use crate::event::packet::{Ext, NO_EXT, Packet};
use crate::event::prefetch;
use crate::map::fabric::FabricMap;
use crate::node::io::Reach;
use crate::port::Port;
use crate::port::overflow::Pool;
use crate::switch::route::Planned;
use crate::{Progress, RunError};
use incast_cc::Time;
use incast_record::{Collector, Outcome};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::mem::take;

/// Near windows: as many as a word has bits. Few, so that the packets in them stay in the near caches; what queues
/// longer waits in order at its port.
const NEAR: u64 = u32::BITS as u64;
const MASK: u64 = NEAR - 1;
/// Longest window, ps: offsets within the near windows then fit the exact division below.
const LONGEST: u64 = 1 << 28;
/// Bits of a sort key that hold the index of a packet's plan.
const INDEX_BITS: u32 = 32;
const INDEX_MASK: u64 = (1 << INDEX_BITS) - 1;
/// How many packets before its turn one is fetched.
const AHEAD: usize = 16;
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

/// What arrives in a window, in the order of sending.
#[derive(Default)]
struct Bucket {
    packets: Vec<Packet>,
    /// The domain of each.
    domains: Vec<u32>,
    exts: Vec<Ext>,
}

impl Bucket {
    fn clear(&mut self) {
        self.packets.clear();
        self.domains.clear();
        self.exts.clear();
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
    /// Of window w at w % NEAR.
    near: Vec<Bucket>,
    /// Bit w % NEAR: something arrives in window w.
    occupied: u32,
    /// Empty ones with room in them, the one used last on top: its memory is near.
    spare: Vec<Bucket>,
    pool: Pool,
    /// Timers of other domains, which they get when the window closes.
    elsewhere: Vec<(u32, Key, u8)>,
}

impl Buckets {
    #[inline(always)]
    fn push(&mut self, domain: u32, ahead: u64, packet: &Packet, ext: Option<&mut Ext>) -> &mut Packet {
        let slot = (self.window + ahead) & MASK;
        let bucket = &mut self.near[slot as usize];
        if bucket.packets.is_empty() {
            self.occupied |= 1 << slot;
            if let Some(spare) = self.spare.pop() {
                *bucket = spare;
            }
        }
        let mut at = NO_EXT;
        if let Some(ext) = ext {
            at = bucket.exts.len() as u32;
            bucket.exts.push(take(ext));
        }
        bucket.domains.push(domain);
        // copy first and stamp the copy: reading back what was just written in parts stalls
        let index = bucket.packets.len();
        bucket.packets.push(*packet);
        let copy = &mut bucket.packets[index];
        copy.ext = at;
        copy
    }

    /// The next near window with arrivals.
    fn first(&self) -> Option<u64> {
        let from_now = self.occupied.rotate_right((self.window & MASK) as u32);
        (from_now != 0).then(|| self.window + from_now.trailing_zeros() as u64)
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
    net: &'a FabricMap<'n>,
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
        near: (0..NEAR).map(|_| Bucket::default()).collect(),
        occupied: 0,
        spare: Vec::new(),
        pool: Pool::new(),
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

    let mut deal = Deal { runs: vec![(0, 0); count], ..Deal::default() };
    let mut order: Vec<u64> = Vec::new();
    let mut plans: Vec<Plan> = Vec::new();
    // what arrives within the last window, but after the end of the run
    let mut under_way: Vec<Packet> = Vec::new();
    let mut todo: Vec<u32> = Vec::new();
    let mut queued = vec![u64::MAX; count];
    let mut hops_reported = 0;
    let mut windows = 0u64;
    let idle = loop {
        // the next window with work
        let next_wake = wakes.peek().map_or(u64::MAX, |Reverse((t, _))| *t);
        let mut window = buckets.first().unwrap_or(u64::MAX);
        if next_wake < end {
            window = window.min(next_wake / length);
        }
        if window == u64::MAX {
            break under_way.is_empty() && !locals.iter().any(Local::keeps_going);
        }
        let start = window * length;
        if start >= end {
            break false;
        }
        let stop = (start + length).min(end);
        buckets.window = window;
        buckets.start = start;

        todo.clear();
        let mut bucket = take(&mut buckets.near[(window & MASK) as usize]);
        buckets.occupied &= !(1 << (window & MASK));
        deal.out(&bucket.domains, &mut todo);
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
            Visit::Shuffled => todo.sort_by_key(|d| crate::event::hash::tie(window, *d as u64, 0)),
        }

        let packets = bucket.packets.as_slice();
        for (i, d) in todo.iter().enumerate() {
            if let Some(later) = todo.get(i + 2) {
                prefetch::lines(&locals[*later as usize], 1);
                prefetch::lines(&world.domains[*later as usize], 3);
            }
            if let Some(following) = todo.get(i + 1) {
                let first = deal.of(*following).iter().take(AHEAD);
                first.for_each(|at| prefetch::lines(&packets[*at as usize], 1));
                prefetch::lines(locals[*following as usize].heap.as_slice(), 1);
                world.domains[*following as usize].prefetch();
            }
            let mine = deal.of(*d);
            let domain = &mut world.domains[*d as usize];
            plans.clear();
            order.clear();
            for (i, at) in (0u64..).zip(mine) {
                if let Some(ahead) = mine.get(i as usize + AHEAD) {
                    prefetch::lines(&packets[*ahead as usize], 1);
                }
                if let Some(soon) = mine.get(i as usize + AHEAD / 2) {
                    prefetch::lines(&world.net.links[packets[*soon as usize].link as usize], 1);
                }
                let packet = &packets[*at as usize];
                if let Some(ext) = bucket.exts.get(packet.ext as usize) {
                    prefetch::lines(ext, 2);
                }
                plans.push(Plan { packet: *at, route: domain.plan(packet, &world.net) });
                order.push((packet.time - start) << INDEX_BITS | i);
            }
            plans.iter().for_each(|plan| domain.look_further(&packets[plan.packet as usize], plan.route, &world.net));
            sort(packets, &plans, buckets.order, &mut order);
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
                let plan = order.get(at).map_or(Plan::default(), |o| plans[(o & INDEX_MASK) as usize]);
                if near < own || (near == own && out.precedes(&packets[plan.packet as usize])) {
                    at += 1;
                    near = time_of(order.get(at));
                    let packet = &packets[plan.packet as usize];
                    let mut ext = (packet.ext != NO_EXT).then(|| take(&mut bucket.exts[packet.ext as usize]));
                    let instant = Instant { time: packet.time, generation: 0 };
                    let reach = Reach { net, out: &mut out, rec: &mut collector };
                    domain.arrival(instant, packet, ext.as_mut(), plan.route, reach);
                } else {
                    own_event(domain, &mut out, &mut collector)?;
                }
            }
            under_way.extend(order[at..].iter().map(|o| packets[plans[(o & INDEX_MASK) as usize].packet as usize]));
            register(&mut locals[*d as usize], *d, &mut wakes);
        }
        deal.clear(&todo);
        bucket.clear();
        if bucket.packets.capacity() > 0 {
            buckets.spare.push(bucket);
        }
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
    let local = locals.iter().flat_map(|l| {
        l.heap.iter().filter_map(|Reverse((_, what))| match what {
            TimerSlot::Arrival(i) => Some(l.arrivals[*i as usize].0),
            TimerSlot::Timer(_) => None,
        })
    });
    under_way.extend(buckets.near.iter().flat_map(|b| &b.packets).copied().chain(local));
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
    TimerKind::Transition,
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

/// The packets of an open window by domain.
#[derive(Default)]
struct Deal {
    /// Where in `index` those of each domain lie, from and to; empty for all between windows.
    runs: Vec<(u32, u32)>,
    /// Their places in the bucket, in the order of sending.
    index: Vec<u32>,
}

impl Deal {
    /// Deals packets out to `domains`, and adds those that get some to `todo`.
    fn out(&mut self, domains: &[u32], todo: &mut Vec<u32>) {
        for d in domains {
            let run = &mut self.runs[*d as usize];
            if run.1 == 0 {
                todo.push(*d);
            }
            run.1 += 1;
        }
        let mut sum = 0;
        for d in todo.iter() {
            let run = &mut self.runs[*d as usize];
            let count = run.1;
            *run = (sum, sum);
            sum += count;
        }
        self.index.resize(domains.len(), 0);
        for (i, d) in (0u32..).zip(domains) {
            let end = &mut self.runs[*d as usize].1;
            self.index[*end as usize] = i;
            *end += 1;
        }
    }

    /// Places of the packets of `domain`.
    fn of(&self, domain: u32) -> &[u32] {
        let (from, to) = self.runs[domain as usize];
        &self.index[from as usize..to as usize]
    }

    fn clear(&mut self, todo: &[u32]) {
        todo.iter().for_each(|d| self.runs[*d as usize] = (0, 0));
    }
}

/// What a domain that opens its window knows of a packet.
#[derive(Clone, Copy, Default, Debug)]
struct Plan {
    /// Its place among the packets of the window.
    packet: u32,
    /// What [`Domain::plan`] said.
    route: Planned,
}

/// Orders a domain's packets by (time, tie key, link, order of sending on the link). An entry is the
/// offset into the window above the index of the packet's plan, in one word; they come in the order of sending.
#[inline]
fn sort(packets: &[Packet], plans: &[Plan], rule: Order, order: &mut [u64]) {
    order.sort_unstable();
    // equal times on different links: by tie key
    let mut i = 1;
    while i < order.len() {
        if order[i] >> INDEX_BITS == order[i - 1] >> INDEX_BITS {
            i += order_ties(packets, plans, rule, &mut order[i - 1..]);
        } else {
            i += 1;
        }
    }
}

/// Orders the run of equal offsets at the head of `order`; its length.
#[cold]
fn order_ties(packets: &[Packet], plans: &[Plan], rule: Order, order: &mut [u64]) -> usize {
    let offset = order[0] >> INDEX_BITS;
    let run = order.partition_point(|o| o >> INDEX_BITS == offset);
    let order = &mut order[..run];
    let packet = |o: u64| &packets[plans[(o & INDEX_MASK) as usize].packet as usize];
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
