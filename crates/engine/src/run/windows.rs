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
use crate::domain::build::{LONGEST_WITHOUT_DELAY, Simulation};
use crate::event::order::{Key, Timer};
use crate::event::outbox::{Instant, Outbox, Overflow, Stamp};
use crate::event::packet::{Ext, Packet};
use crate::event::prefetch;
use crate::hash;
use crate::ids::{DomainId, LinkId, NodeId};
use crate::map::fabric::FabricMap;
use crate::node::context::Env;
use crate::port::Port;
use crate::run::buckets::{Bucket, Buckets, NEAR};
use crate::run::deal::{Deal, INDEX_BITS, INDEX_MASK, Plan, sort};
use crate::run::ending::{self, Ending};
use crate::{Progress, RunError};
use incast_cc::Time;
use incast_record::{Collector, Outcome};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::mem::take;

/// Longest window: offsets within the near windows then fit the exact division below.
const LONGEST: Time = Time(1 << 28);
/// How many packets before its turn one is fetched.
const AHEAD: usize = 16;

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

/// The event of a heap entry: a timer, or an arrival kept in a slab.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum TimerSlot {
    Timer(Timer),
    Arrival(u32),
}

const _: () = assert!(size_of::<(Key, TimerSlot)>() == 32);

#[derive(Default)]
struct Local {
    heap: Timers,
    arrivals: Vec<(Packet, Option<Ext>)>,
    free: Vec<u32>,
    /// Wake-up registered for this time.
    wake: Time,
    pushes: u32,
}

impl Local {
    #[inline]
    fn next(&self) -> Time {
        self.heap.peek().map_or(Time::NEVER, |Reverse((key, _))| key.time)
    }

    /// Whether something is left to happen.
    fn keeps_going(&self) -> bool {
        self.heap.iter().any(|Reverse((_, what))| match what {
            TimerSlot::Timer(timer) => timer.keeps_going(),
            TimerSlot::Arrival(_) => true,
        })
    }
}

/// The outbox of one domain while its window is open.
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

    /// Plans to move the packets in the overflow queue of the port of `link`, the first of
    /// which arrives at `time`: half the near windows before that is due.
    fn wake_overflow(&mut self, time: Time, link: LinkId) {
        let wake = time - self.buckets.length * (NEAR / 2);
        self.timer(wake, 0, Timer::Overflow(link));
    }

    /// An arrival `ahead` windows from the open one that is no business of a near window's bucket: in the
    /// open window itself, or beyond the near windows.
    #[inline(never)]
    fn arrive_elsewhere(
        &mut self,
        packet: &Packet,
        stamp: Stamp,
        ext: Option<&mut Ext>,
        generation: u16,
        port: &mut impl Overflow,
        ahead: Option<u64>,
    ) {
        if ahead == Some(0) {
            let mut packet = *packet;
            stamp.on(&mut packet);
            return self.local_arrival(packet, ext.map(take), generation);
        }
        if !port.overflows() {
            self.wake_overflow(stamp.time, stamp.link);
        }
        stamp.on(port.push_overflow(packet, ext, &mut self.buckets.chunks));
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
    fn arrive(
        &mut self,
        packet: &Packet,
        stamp: Stamp,
        ext: Option<&mut Ext>,
        generation: u16,
        port: &mut impl Overflow,
    ) {
        match self.buckets.ahead(stamp.time) {
            Some(ahead) if ahead > 0 && !port.overflows() => {
                let domain = self.net.links[stamp.link].domain;
                stamp.on(self.buckets.push(domain, ahead, packet, ext));
            }
            ahead => self.arrive_elsewhere(packet, stamp, ext, generation, port, ahead),
        }
    }

    #[inline]
    fn timer(&mut self, time: Time, generation: u16, timer: Timer) {
        let key = Key::timer(self.buckets.order, time, generation, timer);
        self.local.heap.push(Reverse((key, TimerSlot::Timer(timer))));
    }

    fn post(&mut self, to: NodeId, time: Time, message: Timer) {
        let key = Key::timer(self.buckets.order, time, 0, message);
        self.buckets.elsewhere.push((self.net.place[to].domain, key, message));
    }
}

/// Everything that moves while a run goes on.
struct Engine<'a> {
    simulation: Simulation<'a>,
    collector: Collector,
    ending: Ending,
    visit: Visit,
    buckets: Buckets,
    locals: Vec<Local>,
    /// When domains have events of their own.
    wakes: BinaryHeap<Reverse<(Time, DomainId)>>,
    deal: Deal,
    /// Domains with work in the open window, and by domain the last window that it had work in.
    todo: Vec<DomainId>,
    queued: Vec<u64>,
    /// Packets that arrive within the last window, but after the end of the run.
    under_way: Vec<Packet>,
}

/// Runs a simulation with domains visited in the given order.
pub fn run(
    simulation: Simulation,
    visit: Visit,
    progress: &mut dyn FnMut(Progress) -> bool,
) -> Result<Outcome, RunError> {
    let mut engine = Engine::new(simulation, visit);
    let (mut plans, mut order) = (Vec::new(), Vec::new());
    let (mut hops_reported, mut windows) = (0, 0u64);
    let idle = loop {
        let Some(window) = engine.next_window() else { break engine.is_idle() };
        let start = engine.buckets.length * window;
        if start >= engine.ending.at {
            break false;
        }
        let stop = (start + engine.buckets.length).min(engine.ending.at);
        let mut bucket = engine.open(window, stop);
        for i in 0..engine.todo.len() {
            engine.walk(i, stop, &mut bucket, &mut plans, &mut order)?;
        }
        engine.close(bucket);
        windows += 1;
        if windows & 0xff == 0 {
            let hops: u64 = engine.simulation.domains.iter().map(|d| d.nodes.counts.hops).sum();
            if hops - hops_reported > 400_000 || windows & 0xffff == 0 {
                hops_reported = hops;
                let end = engine.simulation.net.spec.duration;
                if !progress(Progress { now: start, end, hops }) {
                    return Err(RunError::Stopped);
                }
            }
        }
    };
    Ok(engine.outcome(idle))
}

impl<'a> Engine<'a> {
    fn new(simulation: Simulation<'a>, visit: Visit) -> Engine<'a> {
        let count = simulation.domains.len();
        let mut engine = Engine {
            collector: Collector::new(simulation.net.spec.groups.len()),
            ending: Ending::new(&simulation),
            visit,
            buckets: Buckets::new(simulation.net.order, window_length(&simulation)),
            locals: (0..count).map(|_| Local { wake: Time::NEVER, ..Local::default() }).collect(),
            wakes: BinaryHeap::new(),
            deal: Deal::new(count),
            todo: Vec::new(),
            queued: vec![u64::MAX; count],
            under_way: Vec::new(),
            simulation,
        };
        for (domain, time, timer) in engine.simulation.first_timers() {
            let key = Key::timer(engine.buckets.order, time, 0, timer);
            engine.locals[domain].heap.push(Reverse((key, TimerSlot::Timer(timer))));
        }
        for (d, local) in (0..).map(DomainId).zip(&mut engine.locals) {
            register(local, d, &mut engine.wakes);
        }
        engine
    }

    /// The next window with work.
    fn next_window(&self) -> Option<u64> {
        let wake = self.wakes.peek().map(|Reverse((t, _))| *t).filter(|wake| *wake < self.ending.at);
        let own = wake.map(|wake| wake / self.buckets.length);
        self.buckets.first().into_iter().chain(own).min()
    }

    /// Whether nothing is left to happen.
    fn is_idle(&self) -> bool {
        self.under_way.is_empty() && !self.locals.iter().any(Local::keeps_going)
    }

    /// Opens a window, which ends at `stop`: what arrives in it is dealt out to the domains, and those with work are
    /// put in order.
    fn open(&mut self, window: u64, stop: Time) -> Bucket {
        let bucket = self.buckets.open(window);
        self.todo.clear();
        self.deal.out(&bucket.domains, &mut self.todo);
        for d in &self.todo {
            self.queued[*d] = window;
        }
        while let Some(Reverse((t, d))) = self.wakes.peek().copied() {
            if t >= stop {
                break;
            }
            self.wakes.pop();
            if self.locals[d].wake == t {
                self.locals[d].wake = Time::NEVER;
            }
            if self.queued[d] != window {
                self.queued[d] = window;
                self.todo.push(d);
            }
        }
        match self.visit {
            Visit::Forward => {}
            Visit::Reverse => self.todo.reverse(),
            Visit::Shuffled => self.todo.sort_by_key(|d| hash::tie(window, d.0 as u64, Time::ZERO)),
        }
        bucket
    }

    /// Brings near what the domains after the `i`th with work will touch.
    #[inline(always)]
    fn look_ahead(&self, i: usize, packets: &[Packet]) {
        if let Some(later) = self.todo.get(i + 2) {
            prefetch::lines(&self.locals[*later], 1);
            prefetch::lines(&self.simulation.domains[*later], 3);
        }
        if let Some(following) = self.todo.get(i + 1) {
            let first = self.deal.of(*following).iter().take(AHEAD);
            first.for_each(|at| prefetch::lines(&packets[*at as usize], 1));
            prefetch::lines(self.locals[*following].heap.as_slice(), 1);
            self.simulation.domains[*following].prefetch();
        }
    }

    /// Walks through the events of the `i`th domain with work before `stop`: plans what its packets will do, orders
    /// them, and merges them with its own events.
    #[inline(always)]
    fn walk(
        &mut self,
        i: usize,
        stop: Time,
        bucket: &mut Bucket,
        plans: &mut Vec<Plan>,
        order: &mut Vec<u64>,
    ) -> Result<(), RunError> {
        let (packets, exts) = (bucket.packets.as_slice(), &mut bucket.exts);
        self.look_ahead(i, packets);
        let d = self.todo[i];
        let (net, start) = (&self.simulation.net, self.buckets.start);
        let domain = &mut self.simulation.domains[d];
        let mine = self.deal.of(d);
        plans.clear();
        order.clear();
        for (i, at) in (0u64..).zip(mine) {
            if let Some(ahead) = mine.get(i as usize + AHEAD) {
                prefetch::lines(&packets[*ahead as usize], 1);
            }
            if let Some(soon) = mine.get(i as usize + AHEAD / 2) {
                prefetch::lines(&net.links[packets[*soon as usize].link], 1);
            }
            let packet = &packets[*at as usize];
            if let Some(ext) = packet.ext() {
                prefetch::lines(&exts[ext as usize], 2);
            }
            plans.push(Plan { packet: *at, route: domain.plan(packet, net) });
            order.push((packet.time - start).0 << INDEX_BITS | i);
        }
        plans.iter().for_each(|plan| domain.prefetch_further(&packets[plan.packet as usize], plan.route, net));
        sort(packets, plans, self.buckets.order, order);
        let (plans, order) = (plans.as_slice(), order.as_slice());
        let mut out = Out { net, buckets: &mut self.buckets, local: &mut self.locals[d] };
        let time_of = |o: Option<&u64>| o.map_or(Time::NEVER, |o| start + Time(o >> INDEX_BITS));
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
                let mut ext = packet.ext().map(|i| take(&mut exts[i as usize]));
                let instant = Instant { time: packet.time, generation: 0 };
                let env = Env::new(net, &mut out, &mut self.collector);
                domain.arrival(instant, packet, ext.as_mut(), plan.route, env);
            } else {
                own_event(domain, &mut out, &mut self.collector)?;
            }
        }
        let left = order[at..].iter().map(|o| packets[plans[(o & INDEX_MASK) as usize].packet as usize]);
        self.under_way.extend(left);
        register(&mut self.locals[d], d, &mut self.wakes);
        Ok(())
    }

    /// Closes the window: domains get what others sent them beside packets, and the run may have found its end.
    fn close(&mut self, bucket: Bucket) {
        self.deal.clear(&self.todo);
        self.buckets.close(bucket);
        for (d, key, timer) in self.buckets.elsewhere.drain(..) {
            let local = &mut self.locals[d];
            local.heap.push(Reverse((key, TimerSlot::Timer(timer))));
            register(local, d, &mut self.wakes);
        }
        self.ending.update(&self.simulation, &self.collector);
    }

    fn outcome(self, idle: bool) -> Outcome {
        let local = self.locals.iter().flat_map(|l| {
            l.heap.iter().filter_map(|Reverse((_, what))| match what {
                TimerSlot::Arrival(i) => Some(l.arrivals[*i as usize].0),
                TimerSlot::Timer(_) => None,
            })
        });
        let near = self.buckets.near.iter().flat_map(|b| &b.packets).copied();
        let under_way = self.under_way.iter().copied().chain(near).chain(local);
        self.simulation.outcome(self.collector, under_way, self.ending.at, idle)
    }
}

/// Takes the domain's own next event: a timer, or an arrival from inside the domain.
#[inline(never)]
fn own_event(domain: &mut Domain, out: &mut Out, collector: &mut Collector) -> Result<(), RunError> {
    let Some(Reverse((key, what))) = out.local.heap.pop() else { return Ok(()) };
    ending::check(&key)?;
    let net = out.net;
    let at = Instant { time: key.time, generation: key.generation() };
    match what {
        TimerSlot::Arrival(i) => {
            let (packet, ext) = &mut out.local.arrivals[i as usize];
            let (packet, mut ext) = (*packet, ext.take());
            out.local.free.push(i);
            let planned = domain.plan(&packet, net);
            domain.arrival(at, &packet, ext.as_mut(), planned, Env::new(net, out, collector));
        }
        TimerSlot::Timer(Timer::Overflow(link)) => {
            move_near(&mut domain.nodes.ports[net.port_of[link]], out);
        }
        TimerSlot::Timer(timer) => domain.timer(at, timer, Env::new(net, out, collector)),
    }
    Ok(())
}

/// Length of an engine window.
fn window_length(simulation: &Simulation) -> Time {
    let links = &simulation.net.spec.links;
    let shortest = || links.iter().map(|l| l.delay).filter(|d| *d > Time::ZERO).min();
    simulation.lookahead.or_else(shortest).unwrap_or(LONGEST_WITHOUT_DELAY).clamp(Time::ns(1), LONGEST)
}

/// Plans the domain's next wake-up, if its queue's head is not covered by one already.
#[inline]
fn register(local: &mut Local, domain: DomainId, wakes: &mut BinaryHeap<Reverse<(Time, DomainId)>>) {
    let next = local.next();
    if next < local.wake {
        local.wake = next;
        wakes.push(Reverse((next, domain)));
    }
}

/// Moves what has come near from a port's overflow queue into the buckets.
fn move_near(port: &mut Port, out: &mut Out) {
    let horizon = out.buckets.start + out.buckets.length * NEAR;
    let mut chunks = take(&mut out.buckets.chunks);
    port.take_overflow(horizon, &mut chunks, |packet, ext| match out.buckets.ahead(packet.time) {
        Some(ahead) if ahead > 0 => {
            let domain = out.net.links[packet.link].domain;
            out.buckets.push(domain, ahead, packet, ext);
        }
        _ => out.local_arrival(*packet, ext.map(take), 0),
    });
    out.buckets.chunks = chunks;
    let first = port.overflow().next().map(|p| p.time);
    if let Some(time) = first {
        out.wake_overflow(time, port.link);
    }
}
